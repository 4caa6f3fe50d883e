"""Features that no record has: errors, warnings, and what they say."""

import pickle
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import recmap
from conftest import write
from object_server import ObjectServer, on_object


@pytest.fixture
def records(tmp_path):
    """Records with "label" and an empty "tags"; only the last one of 20 has "rare"."""
    empty = np.array([], "int64")
    examples = [{"label": i, "image/encoded": b"x", "tags": empty} for i in range(20)]
    examples[-1]["rare"] = 1
    write(tmp_path, examples)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        yield ds


COUNT, RARE = 5000, 4  # of the records of `many`, and the only one with "rare" and "weight"


@pytest.fixture
def many(tmp_path):
    """Records with "label", one of which has rare features that no sample has."""
    examples = [{"label": i} for i in range(COUNT)]
    examples[RARE] |= {"rare": 1, "weight": 1}
    write(tmp_path, examples)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        with pytest.raises(recmap.FeatureError):
            ds.parse([0], {"rare": recmap.VarLen("int64")}, missing="error")
        yield ds


@pytest.fixture
def sequences(tmp_path):
    write(tmp_path, [recmap.encode_sequence_example({"id": 1}, {"frames": [[1], [2]]})] * 3)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        yield ds


KINDS = {
    "VarLen": recmap.VarLen("int64"),
    "padded": recmap.FixedLenSequence((), "int64"),
    "ragged": recmap.FixedLenSequence((), "int64", ragged=True),
    "Ragged": recmap.Ragged("int64", [recmap.RowSplits("splits")], key="lable"),
    "Sparse": recmap.Sparse("index", "lable", "int64", 4),
    "bytes": recmap.VarLen(bytes),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_misspelt_name_is_an_error_with_the_near_name(records, kind):
    for _ in range(2):  # each call
        with pytest.raises(recmap.FeatureError, match="the feature 'lable'") as caught:
            records.parse(range(5), {"lable": KINDS[kind]}, missing="error")
        assert caught.value.path == records.index_path
        expected = """Did you mean 'label'? If the name is right, pass missing="ignore"."""
        assert caught.value.advice == expected


@pytest.mark.parametrize("kind", KINDS)
def test_missing_warn_warns_once_with_the_near_name(records, kind):
    features = {"lable": KINDS[kind]}
    with pytest.warns(UserWarning, match="no record .* 'lable'. Did you mean 'label'") as caught:
        records.parse(range(5), features)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records[:10].parse(range(5), features)  # once per data set, whichever view
        records.parse(range(5), features, missing="ignore")


@pytest.mark.parametrize("threads", [1, 2])
def test_features_that_are_present_pass(records, threads):
    features = {
        "label": recmap.FixedLen((), "int64"),
        "tags": recmap.VarLen("int64"),  # present, but without values
        "more": recmap.FixedLen((), "int64", default=5, key="label"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for missing in ("error", "warn"):
            records.parse(range(20), features, missing=missing, threads=threads)
            list(recmap.Loader(records, 5, features=features, missing=missing))
        records.parse([], {"lable": recmap.VarLen("int64")}, missing="error")


@pytest.mark.parametrize("missing", ["error", "warn"])
def test_a_rare_feature_is_not_a_mistake(records, missing):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not len(
            records.parse([0, 1], {"rare": recmap.VarLen("int64")}, missing=missing)["rare"][0]
        )
        default = {"rare": recmap.FixedLen((), "int64", default=0)}
        assert records.parse([0], default, missing=missing)["rare"].tolist() == [0]
        loader = recmap.Loader(
            records, 5, features={"rare": recmap.VarLen("int64")}, missing=missing
        )
        assert [batch["rare"].lengths.sum() for batch in loader] == [0, 0, 0, 1]


def test_damaged_records_do_not_hide_a_rare_feature(tmp_path):
    (path,) = write(tmp_path, [{"label": 1}, {"damaged": 1}, {"damaged": 1}, {"rare": 1}])
    recmap.open(path).close()
    path.write_bytes(path.read_bytes().replace(b"damaged", b"DAMAGED"))
    with recmap.open(tmp_path / "made-0.rmx") as ds:
        with pytest.raises(recmap.CorruptRecordError):
            ds.schema()
        assert not len(ds.parse([0], {"rare": recmap.VarLen("int64")}, missing="error")["rare"][0])
        with pytest.raises(recmap.FeatureError, match="Did you mean 'rare'"):
            ds.parse([0], {"rar": recmap.VarLen("int64")}, missing="error")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("LABEL", "Did you mean 'label'"),
        ("image", "Did you mean 'image/encoded'"),
        ("zzz", "The records have 'image/encoded', 'label', 'rare', 'tags'"),
    ],
)
def test_the_error_names_similar_features(records, name, advice):
    with pytest.raises(recmap.FeatureError) as caught:
        records.parse([0], {name: recmap.VarLen("int64")}, missing="error")
    assert caught.value.advice.startswith(advice)


def test_a_sample_says_how_many_records_it_has(tmp_path):
    rows = [{"a": 1}] * 1500
    rows[777] = {"b": 1}
    write(tmp_path, rows)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        part = "A sample of 100 of the 1500 records has 'a'; ds.schema(sample=None) reads all."
        with pytest.raises(recmap.FeatureError) as caught:
            ds.parse([0], {"zzz": recmap.FixedLen((), "int64")})
        assert caught.value.advice == f"{part} If the name is right, give a default."
        ds.schema(sample=None)
        with pytest.raises(recmap.FeatureError) as caught:
            ds.parse([0], {"zzz": recmap.VarLen("int64")}, missing="error")
        assert caught.value.advice.startswith("The records have 'a', 'b'. ")


def test_records_that_failed_say_nothing(tmp_path):
    write(tmp_path, [b"no example", b"nor this"])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for feature in (recmap.VarLen("int64"), recmap.FixedLen((), "int64", default=0)):
            ds.parse([0, 1], {"x": feature}, on_bad_record="collect", missing="error")


def test_missing_feature_lists_warn(sequences):
    steps = {"frame": recmap.VarLen("int64")}
    with pytest.warns(UserWarning, match="feature list 'frame'. Did you mean 'frames'"):
        sequences.parse_sequence([0], {}, steps)
    with pytest.raises(
        recmap.FeatureError, match="It is not a feature list: request it in features"
    ):
        sequences.parse_sequence([0], {}, {"id": recmap.VarLen("int64")}, missing="error")
    with pytest.raises(recmap.FeatureError, match="feature_lists of parse_sequence"):
        sequences.parse_sequence([0], {"frames": recmap.VarLen("int64")}, {}, missing="error")
    with pytest.raises(recmap.FeatureError, match="'frame'"):
        next(iter(recmap.Loader(sequences, 2, feature_lists=steps)))


TRANSFORMS = {"columns": None, "transform": lambda batch: batch}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_loader_warns_once(records, transform):
    arguments = {"features": {"lable": recmap.VarLen("int64")}, "transform": TRANSFORMS[transform]}
    for _ in range(2):  # each loader
        with recmap.Loader(records, 5, missing="warn", **arguments) as loader:
            with pytest.warns(UserWarning, match="'lable'. Did you mean 'label'"):
                assert len(list(loader)) == 4
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert len(list(loader)) == 4


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_loader_that_refuses_delivers_nothing(records, transform):
    arguments = {"features": {"lable": recmap.VarLen("int64")}, "transform": TRANSFORMS[transform]}
    with recmap.Loader(records, 5, **arguments) as loader:
        for _ in range(2):
            with pytest.raises(recmap.FeatureError, match="'lable'"):
                next(iter(loader))
        assert loader.position == 0


def test_a_loader_checks_its_first_batch_only(many):
    features = {"rare": recmap.VarLen("int64")}
    with recmap.Loader(many, COUNT // 2, features=features) as loader:
        assert [batch["rare"].lengths.sum() for batch in loader] == [1, 0]
    loader = recmap.Loader(many[::-1], COUNT // 2, features=features)
    with pytest.raises(recmap.FeatureError, match="'rare'"):
        next(iter(loader))


def test_batches_of_a_transform_are_checked_in_order(many, monkeypatch):
    """The first batch has the rare feature, but its check takes longer than that of the second."""
    delays = [0.3]
    check = recmap._dataset.missing._Check.check

    def late(self, batch):
        if delays:
            time.sleep(delays.pop())
        return check(self, batch)

    monkeypatch.setattr(recmap._dataset.missing._Check, "check", late)
    features = {"rare": recmap.VarLen("int64")}
    loader = recmap.Loader(many[:50], 5, features=features, transform=lambda batch: batch)
    with loader:
        assert [batch["rare"].lengths.sum() for batch in loader] == [1, *[0] * 9]


@pytest.mark.parametrize("move", ["load_state_dict", "seek"])
def test_a_run_that_continues_is_only_warned(many, move):
    arguments = {"batch_size": 100, "features": {"rare": recmap.VarLen("int64")}}
    with recmap.Loader(many, **arguments) as loader, recmap.Loader(many, **arguments) as again:
        next(iter(loader))
        if move == "seek":
            again.seek(loader.epoch, loader.position)
        else:
            again.load_state_dict(loader.state_dict())
        with pytest.warns(UserWarning, match="'rare'"):
            assert len(list(again)) == COUNT // 100 - 1


def test_other_ranks_are_only_warned(records):
    arguments = {"features": {"lable": recmap.VarLen("int64")}, "world_size": 2}
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        next(iter(recmap.Loader(records, 5, rank=0, **arguments)))
    with pytest.warns(UserWarning, match="'lable'"):
        next(iter(recmap.Loader(records, 5, rank=1, **arguments)))


def test_all_wrong_names_are_reported(records):
    features = {
        "lable": recmap.FixedLenSequence((), "int64"),
        "tag": recmap.VarLen("int64"),
        "label": recmap.FixedLen((), "int64"),
    }
    with pytest.raises(recmap.FeatureError) as caught:
        next(iter(recmap.Loader(records, 5, features=features)))
    assert "has the feature 'lable' or the feature 'tag'" in caught.value.message
    expected = "'lable': Did you mean 'label'? 'tag': Did you mean 'tags'? If the name"
    assert caught.value.advice.startswith(expected)


DROPPED = {  # every record fails, because something it needs has another name
    "fixed": {"lable": recmap.FixedLen((), "int64")},
    "index": {"x": recmap.Sparse("lable", "number", "int64", 20)},
    "partition": {"x": recmap.Ragged("int64", [recmap.RowLengths("lable")], key="number")},
}


@pytest.mark.parametrize("kind", DROPPED)
def test_a_wrong_name_does_not_drop_all_records(tmp_path, kind):
    write(tmp_path, [{"label": 1, "number": i} for i in range(20)])
    features = DROPPED[kind]
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        loader = recmap.Loader(ds, 5, features=features, on_bad_record="skip")
        for act in (
            lambda: next(iter(loader)),
            lambda: ds.parse([0, 1], features, on_bad_record="collect", missing="error"),
            lambda: ds.parse([0, 1], features),
        ):
            with pytest.raises(recmap.FeatureError) as caught:
                act()
            assert "Did you mean 'label'?" in caught.value.advice
        with pytest.warns(UserWarning, match="'lable'"):
            assert len(ds.parse([0, 1], features, on_bad_record="collect").failures) == 2


def test_damaged_first_records_do_not_hide_that_a_feature_is_rare(tmp_path):
    (path,) = write(tmp_path, [{"damaged": 1}] * 5 + [{"label": 1}] * 3000)
    recmap.open(path).close()
    path.write_bytes(path.read_bytes().replace(b"damaged", b"DAMAGED"))
    features = {
        "rare": recmap.VarLen("int64"),
        "weight": recmap.FixedLen((), "int64", default=0),
        "label": recmap.FixedLen((), "int64"),
    }
    with recmap.open(tmp_path / "made-0.rmx") as ds:
        loader = recmap.Loader(ds, 5, features=features, on_bad_record="skip")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "all 5 records of a step were skipped|skipped a bad")
            assert not len(next(iter(loader))["label"])
            wrong = {
                "label": recmap.FixedLen((2,), "int64"),
                "weight": recmap.FixedLen((), "int64", default=1),
            }
            assert ds.parse([5], wrong, on_bad_record="collect").failures


def test_parse_ignores_that_other_shards_cannot_be_read(tmp_path):
    write(tmp_path, [{"label": 1}] * 10)
    write(tmp_path, [{"label": 1, "rare": 1}] * 10, name="other.tfrecord")
    with recmap.open(tmp_path) as ds:
        index = ds.index_path
    (tmp_path / "other.tfrecord").write_bytes(b"")
    with recmap.open(index) as ds, pytest.warns(UserWarning, match="'rare'"):
        ds.parse([0], {"rare": recmap.VarLen("int64")})


def test_a_sample_of_large_records_is_small(tmp_path, monkeypatch):
    write(tmp_path, [{"image": bytes(1000)}] * 500)
    monkeypatch.setattr("recmap._dataset.feature_names._SAMPLE_SIZE", 30_000)
    read = []
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        schema = recmap.Dataset._schema
        monkeypatch.setattr(
            recmap.Dataset,
            "_schema",
            lambda self, numbers: read.append(numbers) or schema(self, numbers),
        )
        with pytest.warns(UserWarning, match="'rare'"):
            ds.parse([0], {"rare": recmap.VarLen("int64")})
    assert [len(numbers) for numbers in read] == [29, 29]


def test_threads_lose_no_names(many):
    names = many._feature_names

    def learn(thread):
        for i in range(200):
            names.learn({f"{thread}-{i}": {"kind": "int64"}}, 1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(learn, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert len(names._known.context) == 801


def test_a_sliced_feature_has_similar_names(records):
    order = recmap.Windows(np.ones(20, np.int64), 1)
    loader = recmap.Loader(records, 5, order=order, features={"lable": recmap.Sliced((), "int64")})
    with pytest.raises(recmap.FeatureError, match="but the counts") as caught:
        next(iter(loader))
    assert caught.value.advice == "Did you mean 'label'?"


def test_a_feature_with_a_default_may_be_missing(records):
    """A default says what a record without the feature has, so that none needs to have it."""
    features = {"lable": recmap.FixedLen((), "int64", default=7)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for missing in ("error", "warn"):
            assert records.parse([0], features, missing=missing)["lable"].tolist() == [7]
            loader = recmap.Loader(records, 5, features=features, missing=missing)
            assert [batch["lable"].tolist() for batch in loader] == [[7] * 5] * 4


def test_a_feature_of_the_last_record_is_not_a_mistake(tmp_path):
    write(tmp_path, [{"label": 0}] * 20000)
    write(tmp_path, [{"label": 0, "reward": 1}], name="z.tfrecord")
    with recmap.open(tmp_path) as ds:
        batch = ds.parse([0], {"reward": recmap.VarLen("int64")}, missing="error")
        assert not batch["reward"].lengths.sum()


def test_a_sample_finds_what_is_regular(tmp_path):
    write(tmp_path, [{"label": 0, **({"tenth": 1} if i % 10 == 5 else {})} for i in range(10000)])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        batch = ds.parse([0], {"tenth": recmap.VarLen("int64")}, missing="error")
        assert not batch["tenth"].lengths.sum()


def test_what_the_schema_found_is_known(many):
    features = many[:10].features()
    for view in (many[:10][::-1], many[::-1], many):
        with recmap.Loader(view, 3, features=features) as loader:
            assert not next(iter(loader))["rare"].lengths.sum()


def test_a_store_that_fails_is_not_a_missing_feature(tmp_path):
    examples = [{"image": bytes(20000)}] * 200
    (tmp_path / "bucket").mkdir()
    write(tmp_path / "bucket", [*examples, {"rare": 1}])
    requests = []

    def fail_after_the_first(handler):
        requests.append(handler)
        if len(requests) == 1:
            return False
        return handler.fail(403, "AccessDenied")

    with ObjectServer(tmp_path) as server:
        options, url = server.options(), "s3://bucket/made-0.tfrecord"
        ds = recmap.open(url, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
        server.faults.append(on_object(fail_after_the_first))
        with pytest.raises(recmap.StorageError, match="403"):
            ds.parse([0], {"rare": recmap.VarLen("int64")}, missing="error")
        assert len(requests) > 1
        server.faults.clear()
        batch = ds.parse([0], {"rare": recmap.VarLen("int64")}, missing="error")
        assert not batch["rare"].lengths.sum()


def test_invalid_choices_are_refused(records):
    for call in (
        lambda: records.parse([0], {}, missing="no"),
        lambda: records.parse_sequence([0], {}, {}, missing="no"),
        lambda: recmap.Loader(records, 5, missing="no"),
    ):
        with pytest.raises(ValueError, match='"error", "warn" or "ignore"'):
            call()


# ---- Adapters.


def test_torch_checks_missing_features(records):
    pytest.importorskip("torch")
    import recmap.torch

    from torch.utils.data import DataLoader

    features = {"lable": recmap.VarLen("int64")}
    with pytest.warns(UserWarning, match="'lable'"):
        recmap.torch.MapDataset(records, features, missing="warn")[0]
    samples = recmap.torch.MapDataset(records, features)
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        pickle.loads(pickle.dumps(samples))[0]
    rare = recmap.torch.MapDataset(records, {"rare": recmap.VarLen("int64")})
    assert not len(rare[0]["rare"])  # one sample says little about a feature
    batches = recmap.torch.IterableDataset(recmap.Loader(records, 5, features=features))
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        next(iter(DataLoader(batches, batch_size=None, num_workers=1)))


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_samples_in_workers_of_torch(many, workers):
    """The first worker checks what it reads first."""
    pytest.importorskip("torch")
    import recmap.torch

    from torch.utils.data import DataLoader

    samples = recmap.torch.MapDataset(many, {"rare": recmap.VarLen("int64")})
    batches = DataLoader(samples, 500, num_workers=workers, collate_fn=recmap.torch.collate)
    assert sum(len(batch["rare"].values) for batch in batches) == 1


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_later_epochs_of_torch(many, workers):
    """Worker processes start again in each epoch."""
    pytest.importorskip("torch")
    import recmap.torch

    from torch.utils.data import DataLoader

    features = {"rare": recmap.VarLen("int64")}
    order = recmap.Shuffled(COUNT, seed=0)
    half = COUNT // 2
    first = [order.position_of(epoch, RARE) < half for epoch in range(4)]
    assert first[0] and not all(first)
    loader = recmap.Loader(many, half, order=order, features=features)
    batches = DataLoader(recmap.torch.IterableDataset(loader), batch_size=None, num_workers=workers)
    for _ in first:
        assert sum(len(batch["rare"].values) for batch in batches) == 1


def test_grain_checks_missing_features(records):
    pytest.importorskip("grain")
    import recmap.grain

    features = {"lable": recmap.VarLen("int64")}
    order = recmap.Sequential(20)
    with pytest.warns(UserWarning, match="'lable'"):
        recmap.grain.DataSource(records, features, missing="warn")[0]
    source = recmap.grain.DataSource(records, features)
    batches = recmap.grain.Batches(records, order, 5, features)
    rows = {"label": recmap.Sliced((), "int64"), "lable": recmap.VarLen("int64")}
    windows = recmap.Windows(np.ones(20, np.int64), 1)
    windowed = recmap.grain.Batches(records, windows, 5, rows)
    for made in (source, batches, windowed):
        with pytest.raises(recmap.FeatureError, match="'lable'"):
            pickle.loads(pickle.dumps(made))[0]


def test_grain_batches_check_the_first_batch_of_a_run(many):
    pytest.importorskip("grain")
    import recmap.grain

    batches = recmap.grain.Batches(
        many, recmap.Sequential(COUNT), 100, {"rare": recmap.VarLen("int64")}
    )
    for _ in range(5):
        assert sum(1 for _ in pickle.loads(pickle.dumps(batches)).to_iter_dataset()) == 50
    with pytest.warns(UserWarning, match="'rare'"):
        pickle.loads(pickle.dumps(batches))[2]
    other = recmap.grain.Batches(
        many[::-1], recmap.Sequential(COUNT), 100, {"rare": recmap.VarLen("int64")}
    )
    with pytest.raises(recmap.FeatureError, match="'rare'"):
        other[0]


def test_huggingface_checks_missing_features(records):
    pytest.importorskip("datasets")
    import recmap.huggingface

    rows = recmap.huggingface.dataset(records, {"lable": recmap.VarLen("int64")})
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        next(iter(rows))


def test_huggingface_checks_the_first_rows(many):
    pytest.importorskip("datasets")
    import recmap.huggingface

    rows = recmap.huggingface.dataset(many, {"rare": recmap.VarLen("int64")}, shards=2)
    with pytest.warns(UserWarning, match="'rare'"):
        assert sum(len(row["rare"] or ()) for row in rows) == 1
    with pytest.raises(ValueError, match='"error", "warn" or "ignore"'):
        recmap.huggingface.dataset(many, {"rare": recmap.VarLen("int64")}, missing="no")


def test_ray_checks_the_first_rows(many, monkeypatch):
    pytest.importorskip("ray")
    import recmap.ray

    monkeypatch.setattr("recmap.ray._BLOCK_SIZE", 2000)
    source = recmap.ray.Datasource(many, {"rare": recmap.VarLen("int64")})
    assert sum(table.num_rows for read in source.get_read_tasks(8) for table in read()) == COUNT
    rest = recmap.ray.Datasource(many, {"rare": recmap.VarLen("int64")}, position=1000)
    with pytest.warns(UserWarning, match="'rare'") as caught:
        assert (
            sum(len(table) for read in rest.get_read_tasks(8) for table in read()) == COUNT - 1000
        )
    assert len(caught) == 1
    later = recmap.ray.Datasource(many[10:], {"lable": recmap.VarLen("int64")}, epoch=1)
    with pytest.warns(UserWarning, match="'lable'"):
        next(later.get_read_tasks(1)[0]())
    with pytest.raises(ValueError, match='"error", "warn" or "ignore"'):
        recmap.ray.Datasource(many, missing="no")


def test_ray_checks_missing_features(records):
    pytest.importorskip("ray")
    import recmap.ray

    source = recmap.ray.Datasource(records, {"lable": recmap.VarLen("int64")})
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        list(source.get_read_tasks(1)[0]())


def test_tensorflow_checks_missing_features(records):
    pytest.importorskip("tensorflow")
    import recmap.tensorflow

    loader = recmap.Loader(records, 5, features={"lable": recmap.VarLen("int64")})
    with pytest.raises(Exception, match="'lable'"):
        next(iter(recmap.tensorflow.dataset(loader)))


@pytest.mark.parametrize("transform", [None, len])
def test_a_loader_without_default_names_similar_features(records, transform):
    features = {"labl": recmap.FixedLen((), "int64")}
    loader = recmap.Loader(records, 5, features=features, transform=transform)
    for take in (lambda: next(iter(loader)), loader.peek):
        with pytest.raises(recmap.FeatureError, match="'labl' is missing") as caught:
            take()
        expected = "Did you mean 'label'? If the name is right, give a default."
        assert caught.value.advice == expected


def test_a_missing_feature_without_default_names_similar_ones(records):
    with pytest.raises(recmap.FeatureError, match="'labl' is missing") as caught:
        records.parse([0], {"labl": recmap.FixedLen((), "int64")})
    assert caught.value.advice == "Did you mean 'label'? If the name is right, give a default."
    with pytest.raises(recmap.FeatureError, match="'rare' is missing") as caught:
        records.parse([0], {"rare": recmap.FixedLen((), "int64")})
    expected = "`ds.features()` looks at 1,000 records, `ds.features(sample=None)` at all"
    assert caught.value.advice == f"check the name ({expected}), or give a default"
    with pytest.raises(recmap.FeatureError) as caught:
        records.parse([0], {"label": recmap.FixedLen((3,), "int64")})
    assert "default" not in caught.value.advice
