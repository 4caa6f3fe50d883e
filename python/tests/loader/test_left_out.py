"""Loaders and adapters say what they would leave out: all records of a step, or all features."""

import importlib.util
import re
import warnings

import numpy as np
import pytest
import recmap
from conftest import flip, write

X = {"x": recmap.FixedLen((), "int64")}


def damaged(folder, bad):
    """Forty records with `x`, of which those in `bad` are damaged."""
    (path,) = write(folder, [{"x": i} for i in range(40)])
    ds = recmap.open(path)
    size = path.stat().st_size // 40
    for number in bad:
        flip(path, size * number + 14)
    return ds


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
@pytest.mark.parametrize("features", [None, X])
def test_a_step_without_a_good_record_warns_once_an_epoch(tmp_path, features, transform):
    ds = damaged(tmp_path, range(40))
    loader = recmap.Loader(ds, 15, features=features, transform=transform, on_bad_record="skip")
    for epoch in range(2):
        with pytest.warns(UserWarning, match="all 15 records of a step were skipped") as caught:
            batches = list(loader)
        found = [str(warning.message) for warning in caught]
        assert len([text for text in found if "were skipped" in text]) == 1
        assert caught[0].filename == __file__
        assert [len(getattr(batch, "records", batch)) for batch in batches] == [0, 0, 0]
        assert len(loader.skipped) == 40 * (epoch + 1)


def test_records_of_another_kind_are_skipped_with_a_warning(tmp_path):
    write(tmp_path, [b"\x09" + bytes(8) + b"\x10\x03"] * 20)  # events of TensorBoard
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        loader = recmap.Loader(ds, 10, features={"x": recmap.VarLen("int64")}, on_bad_record="skip")
        with pytest.warns(UserWarning, match="all 10 records of a step were skipped"):
            assert [batch.row_count for batch in loader] == [0, 0]


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
@pytest.mark.parametrize("features", [None, X])
@pytest.mark.parametrize(("policy", "word"), [("skip", "skipped"), ("substitute", "replaced")])
def test_the_first_bad_record_is_named_once(tmp_path, features, transform, policy, word):
    """Also in a view, whose positions are others. Later ones are only counted."""
    ds = damaged(tmp_path, [7, 9, 35])
    for source in ds, ds[5:40]:
        loader = recmap.Loader(
            source, 10, features=features, transform=transform, on_bad_record=policy
        )
        with pytest.warns(UserWarning) as caught:
            for _ in range(2):
                list(loader)
        path = tmp_path / "made-0.tfrecord"
        place = re.escape(f"{path}: record 7 at byte {7 * (path.stat().st_size // 40)}: ")
        counted = re.escape("""loader.statistics["skipped"] counts all of them, and loader.""")
        (text,) = [str(warning.message) for warning in caught]
        assert re.fullmatch(rf"{word} a bad record: {place}.+\. {counted}skipped lists them", text)
        assert caught[0].filename == __file__
        assert loader.statistics["skipped"] == 6


def test_adapters_name_the_first_bad_record(tmp_path):
    ds, options = damaged(tmp_path, [7, 9]), {"features": X, "on_bad_record": "skip"}
    rows = {"features": {"x": recmap.Sliced((), "int64")}, "on_bad_record": "skip"}
    chunked = recmap.Chunked(np.ones(40, np.int64), 4)
    makers = [("Loader", lambda: recmap.Loader(ds, 5, order=chunked, **rows))]
    makers += [("torch", lambda: recmap.torch.Loader(ds, 10, **options))]
    makers += [("torch", lambda: recmap.torch.IterableDataset(recmap.Loader(ds, 10, **options)))]
    for name, make in makers:
        if name != "Loader" and importlib.util.find_spec(name) is None:
            continue
        with pytest.warns(UserWarning, match="^skipped a bad record: .*: record [79] at") as caught:
            list(make())
        assert len(caught) == 1 and caught[0].filename == __file__


KINDS = {
    "fixed": recmap.FixedLen((3,), "float32"),
    "any": recmap.VarLen("int64"),
    "text": recmap.VarLen(bytes),
    "steps": recmap.FixedLenSequence((2,), "int64"),
    "ragged": recmap.Ragged("int64", partitions=[recmap.RowLengths("lengths")]),
    "sparse": recmap.Sparse("index", "any", "int64", 9),
}


def record_of_all_kinds(random, number):
    """One in three is bad, each in one of several ways that are noticed after other features."""
    any_count, lengths = int(random.integers(0, 5)), random.integers(0, 4, 3)
    record = {
        "any": random.integers(0, 99, any_count),
        "fixed": random.random(3, np.float32),
        "index": np.sort(random.choice(9, any_count, replace=False)),
        "lengths": lengths,
        "ragged": random.integers(0, 99, lengths.sum()),
        "steps": random.integers(0, 99, 2 * int(random.integers(0, 3))),
        "text": [b"t%d" % number] * int(random.integers(0, 3)),
    }
    bad = random.integers(0, 12)
    if bad == 0:
        del record["fixed"]
    elif bad == 1:
        record["steps"] = [1, 2, 3]
    elif bad == 2:
        record["lengths"] = [*lengths, 1]
    elif bad == 3:
        record["index"] = [9] * any_count if any_count else [1]
    return record


@pytest.mark.parametrize("policy", ["skip", "substitute"])
@pytest.mark.filterwarnings("ignore:.*bad record", "ignore:the only record of a step was skipped")
def test_columns_around_bad_records_are_those_of_their_records(tmp_path, policy):
    pyarrow = pytest.importorskip("pyarrow")
    random = np.random.default_rng(4)
    write(tmp_path, [record_of_all_kinds(random, number) for number in range(300)])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        flip(tmp_path / "made-0.tfrecord", 14)
        for size in 1, 8, 300:
            loader = recmap.Loader(
                ds, size, shuffle=True, seed=1, features=KINDS, on_bad_record=policy, epochs=1
            )
            seen = 0
            for batch in loader:
                seen += batch.row_count
                again = ds.parse(batch.records.numbers, KINDS)
                assert pyarrow.record_batch(batch).equals(pyarrow.record_batch(again))
            skipped = loader.statistics["skipped"]
            assert 50 < skipped < 150 and seen == 300 - (policy == "skip") * skipped


def test_steps_without_a_bad_record_do_not_warn(tmp_path):
    ds = damaged(tmp_path, [*range(9), 35])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The last step of the last rank has no record.
        loader = recmap.Loader(ds[9:14], 4, features=X, on_bad_record="skip", rank=2, world_size=3)
        assert sum(batch.row_count for batch in loader) <= 2


def test_rows_without_a_good_record(tmp_path):
    ds = damaged(tmp_path, range(40))
    order = recmap.Chunked(np.ones(40, np.int64), 4)
    rows = {"x": recmap.Sliced((), "int64")}
    loader = recmap.Loader(ds, 5, order=order, features=rows, on_bad_record="skip")
    with pytest.warns(UserWarning, match="all 5 records of a step were skipped"):
        list(loader)


def adapters(ds):
    order = recmap.Sequential(len(ds))
    yield "Loader", lambda: recmap.Loader(ds, 5, features={})
    yield "Loader", lambda: recmap.Loader(ds, 5, features={}, feature_lists={})
    yield "torch", lambda: recmap.torch.Loader(ds, 5, features={})
    yield "torch", lambda: recmap.torch.MapDataset(ds, {})
    yield "grain", lambda: recmap.grain.DataSource(ds, {})
    yield "grain", lambda: recmap.grain.Batches(ds, order, 5, {})
    yield "ray", lambda: recmap.ray.Datasource(ds, {})
    yield "huggingface", lambda: recmap.huggingface.dataset(ds, {})


@pytest.mark.parametrize("index", range(8))
def test_features_that_are_empty_are_refused(digits, index):
    name, call = list(adapters(digits))[index]
    if name != "Loader":
        pytest.importorskip({"huggingface": "datasets"}.get(name, name))
    with pytest.raises(ValueError, match="empty, so batches would have no columns"):
        call()
