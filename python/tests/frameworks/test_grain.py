"""Grain: sources, samplers, ordered data sets, batches, and checkpoints."""

import json
import pickle

import numpy as np
import pytest
import recmap
from conftest import KEPT, kept_of, write

grain = pytest.importorskip("grain")
absl_flags = pytest.importorskip("absl.flags")

# With JAX installed, Grain's worker processes read a flag of absl, which only absl's main function
# parses.
absl_flags.FLAGS.mark_as_parsed()

FEATURES = {"label": recmap.FixedLen((), "int64"), "id": recmap.FixedLen((), bytes)}


def example(i):
    return {
        "number": i,
        "words": [f"w{j}" for j in range(i % 4)],
        "tokens": np.arange(i % 5),
        "at": np.arange(i % 3) * 2,
        "values": np.arange(i % 3, dtype=np.float32),
        "lengths": [1, i % 3] if i % 2 else [],
        "nested": np.arange(1 + i % 3) if i % 2 else np.arange(0),
    }


ALL_KINDS = {
    "number": recmap.FixedLen((), "int64"),
    "words": recmap.VarLen(bytes),
    "tokens": recmap.VarLen("int64"),
    "padded": recmap.FixedLenSequence((), "int64", key="tokens", default=-1),
    "padded words": recmap.FixedLenSequence((), bytes, key="words", default=b"?"),
    "sparse": recmap.Sparse("at", "values", "float32", 6),
    "nested": recmap.Ragged("int64", [recmap.RowLengths("lengths")], key="nested"),
}


@pytest.fixture
def examples(tmp_path):
    write(tmp_path, [recmap.encode_example(example(i)) for i in range(50)])
    with recmap.open(tmp_path) as ds:
        yield ds


def test_source_of_bytes(made, payloads):
    source = recmap.grain.DataSource(made)
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    assert len(source) == len(payloads)
    assert source[5] == payloads[5] and source[np.int64(-1)] == payloads[-1]
    assert source.__getitems__([7, 1, 7]) == [payloads[7], payloads[1], payloads[7]]
    with pytest.raises(IndexError):
        source[len(payloads)]


def test_pickling_and_repr(made, payloads, tmp_path):
    source = recmap.grain.DataSource(made[100:200], FEATURES)
    again = pickle.loads(pickle.dumps(source))
    assert repr(again) == repr(source) and str(tmp_path) not in repr(source)
    texts = {
        repr(recmap.grain.DataSource(*arguments))
        for arguments in [
            (made,),
            (made, FEATURES),
            (made[1:],),
            (made.select([1, 2]),),
            (made.select([2, 1]),),
        ]
    }
    assert len(texts) == 5
    plain = pickle.loads(pickle.dumps(recmap.grain.DataSource(made[100:200])))
    assert plain[3] == payloads[103]


def test_span_keep_size_applies_in_workers(packed, payloads):
    source = pickle.loads(pickle.dumps(recmap.grain.DataSource(packed)))
    assert kept_of(source._dataset) == KEPT and source[3] == payloads[3]


def same(left, right):
    assert type(left) is type(right)
    if isinstance(left, (dict, list, tuple)):
        keys = left if isinstance(left, dict) else range(len(left))
        assert len(left) == len(right)
        for key in keys:
            same(left[key], right[key])
    else:
        assert np.array_equal(left, right)


def test_elements_do_not_depend_on_other_elements(examples):
    source = recmap.grain.DataSource(examples, ALL_KINDS)
    many = source.__getitems__(range(50))
    for i, element in enumerate(many):
        same(element, source[i])
        pickle.loads(pickle.dumps(element))


def test_elements_of_all_kinds(examples):
    for i, element in enumerate(recmap.grain.DataSource(examples, ALL_KINDS)):
        made = example(i)
        assert element["number"] == i
        assert element["words"].tolist() == [word.encode() for word in made["words"]]
        assert element["padded words"].tolist() == element["words"].tolist()
        assert element["padded"].tolist() == element["tokens"].tolist() == list(range(i % 5))
        places, values = element["sparse"]
        assert places.ravel().tolist() == made["at"].tolist()
        assert values.tolist() == made["values"].tolist()
        lengths = [len(part) for part in element["nested"]]
        assert lengths == made["lengths"]


def test_ordered_continues_with_the_next_epoch(made, payloads):
    order = recmap.Shuffled(len(made), seed=7)
    ordered = recmap.grain.Ordered(grain.MapDataset.source(recmap.grain.DataSource(made)), order)
    assert len(ordered) == len(made)
    for epoch in range(2):
        numbers = order.at(epoch, range(len(made)))
        got = [ordered.repeat(2)[epoch * len(made) + i] for i in range(len(made))]
        assert got == [payloads[n] for n in numbers]
    assert ordered._getitems([3, 5000]) == [ordered[3], ordered[5000]]
    with pytest.raises(ValueError, match="3210"):
        recmap.grain.Ordered(grain.MapDataset.range(3), order)


def test_ranks_share_the_records_of_ordered(made):
    order = recmap.Shuffled(len(made), seed=7)
    ordered = recmap.grain.Ordered(grain.MapDataset.range(len(made)), order)
    parts = [list(ordered[rank::3]) for rank in range(3)]
    assert sorted(sum(parts, [])) == list(range(len(made)))
    assert parts[1] == order.at(0, range(1, len(made), 3)).tolist()


@pytest.mark.parametrize("workers", [0, 2])
def test_ordered_resumes_at_every_step(digits, workers):
    order = recmap.Shuffled(len(digits), seed=3)
    source = recmap.grain.DataSource(digits, {"label": recmap.FixedLen((), "int64")})
    ordered = recmap.grain.Ordered(grain.MapDataset.source(source), order)
    batches = ordered.repeat(2).batch(200).to_iter_dataset()
    if workers:
        batches = batches.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers))
    labels = digits.columns["label"]
    numbers = np.concatenate([order.at(epoch, range(len(digits))) for epoch in (0, 1)])
    expected = [labels[numbers[i : i + 200]].tolist() for i in range(0, len(numbers), 200)]
    iterator, states = iter(batches), []
    for step in expected:
        states.append(iterator.get_state())
        assert next(iterator)["label"].tolist() == step
    chosen = range(len(states)) if not workers else [7]
    for step in chosen:
        fresh = iter(batches)
        fresh.set_state(json.loads(json.dumps(states[step])))
        assert [batch["label"].tolist() for batch in fresh] == expected[step:]


def loader_of(digits, order, workers, shard=0, shards=1):
    return grain.DataLoader(
        data_source=recmap.grain.DataSource(digits, {"label": recmap.FixedLen((), "int64")}),
        sampler=recmap.grain.Sampler(order, num_epochs=2, seed=1),
        operations=[grain.transforms.Batch(100)],
        worker_count=workers,
        shard_options=grain.sharding.ShardOptions(shard, shards),
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_data_loader_resumes_inside_an_epoch(digits, workers):
    order = recmap.Shuffled(len(digits), seed=3)
    labels = digits.columns["label"]
    iterator = iter(loader_of(digits, order, workers))
    head = [next(iterator)["label"].tolist() for _ in range(5)]
    if not workers:
        assert sum(head, []) == labels[order.at(0, range(500))].tolist()
    state = iterator.get_state()
    rest = [batch["label"].tolist() for batch in iterator]
    assert len(sum(head + rest, [])) == 2 * len(digits)
    assert np.bincount(sum(head + rest, [])).tolist() == (2 * np.bincount(labels)).tolist()
    fresh = iter(loader_of(digits, order, workers))
    fresh.set_state(state)
    assert [batch["label"].tolist() for batch in fresh] == rest


def test_data_loader_names_the_mismatch(digits):
    state = iter(loader_of(digits, recmap.Shuffled(len(digits), seed=3), 0)).get_state()
    with pytest.raises(ValueError, match=r"recmap\.grain\.Sampler"):
        iter(loader_of(digits, recmap.Shuffled(len(digits), seed=4), 0)).set_state(state)
    with pytest.raises(ValueError, match=digits.fingerprint):
        part = loader_of(digits[:1000], recmap.Shuffled(len(digits), seed=3), 0)
        iter(part).set_state(state)


def test_shards_of_a_data_loader_share_the_records(made, payloads):
    order = recmap.Shuffled(len(made), seed=3)
    got = []
    for shard in range(3):
        loader = grain.DataLoader(
            data_source=recmap.grain.DataSource(made),
            sampler=recmap.grain.Sampler(order, num_epochs=1),
            shard_options=grain.sharding.ShardOptions(shard, 3),
        )
        got += list(loader)
    assert sorted(got) == sorted(payloads)


def test_sampler_has_an_rng_and_an_end():
    sampler = recmap.grain.Sampler(recmap.Shuffled(10), num_epochs=1, seed=5)
    assert sampler[3].rng.random() == sampler[3].rng.random() != sampler[4].rng.random()
    for index in (-1, 10):
        with pytest.raises(IndexError):
            sampler[index]
    assert recmap.grain.Sampler(recmap.Shuffled(10))[10**12].rng is None
    with pytest.raises(ValueError):
        recmap.grain.Sampler(recmap.Shuffled(10), num_epochs=0)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_resume_inside_an_epoch(digits, workers):
    order = recmap.Shuffled(len(digits), seed=3)
    batches = recmap.grain.Batches(digits, order, 256, FEATURES)
    repeated = batches.repeat(2).to_iter_dataset()
    if workers:
        repeated = repeated.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers))
    iterator, expected = iter(repeated), []
    for epoch in (0, 1):
        for first in range(0, len(digits), 256):
            numbers = order.at(epoch, range(first, min(first + 256, len(digits))))
            expected.append(numbers.tolist())
    got = []
    for step, numbers in enumerate(expected):
        if step == 11:
            state = iterator.get_state()
        batch = next(iterator)
        assert batch["id"].tolist() == [f"digit-{n:05d}".encode() for n in numbers]
        assert batch["label"].tolist() == digits.columns["label"][numbers].tolist()
        got.append(batch["label"].tolist())
    fresh = iter(repeated)
    fresh.set_state(state)
    assert [batch["label"].tolist() for batch in fresh] == got[11:]


def test_batches_of_ranks_and_of_bytes(made, payloads):
    order = recmap.Shuffled(len(made), seed=3)
    batches = recmap.grain.Batches(made, order, 100)
    parts = [list(batches[rank::4]) for rank in range(4)]
    assert sorted(r for part in parts for batch in part for r in batch) == sorted(payloads)
    assert len(recmap.grain.Batches(made, order, 100, drop_remainder=True)) == 32


def test_batches_of_all_kinds_pickle(examples):
    batch = recmap.grain.Batches(examples, recmap.Sequential(50), 50, ALL_KINDS)[0]
    again = pickle.loads(pickle.dumps(batch))
    assert again["words"].tolist()[3] == [b"w0", b"w1", b"w2"]
    assert np.array_equal(again["sparse"].indices, batch["sparse"].indices)
    assert again["nested"].tolist()[1] == [[0], [1]]
    assert again["padded/length"].tolist() == [i % 5 for i in range(50)]
    assert batch.keys() - ALL_KINDS.keys() == {"padded/length", "padded words/length"}


def test_element_spec_describes_elements(digits):
    """As grain's get_element_spec of other data sets, without reading a record."""
    features = {
        "label": recmap.FixedLen((), "int32"),
        "image": recmap.FixedLen((8, 8), "uint8", raw=True),
        "id": recmap.FixedLen((), bytes),
        "steps": recmap.FixedLenSequence((), "int64", key="label"),
    }
    order = recmap.Shuffled(len(digits), seed=7)
    source = recmap.grain.DataSource(digits, features)
    ordered = recmap.grain.Ordered(grain.MapDataset.source(source), order)
    batches = recmap.grain.Batches(digits, order, 100, features, drop_remainder=True)
    for dataset, rows in (ordered, ()), (batches, (100,)), (batches.repeat(2), (100,)):
        spec, element = dataset._element_spec, dataset[0]
        assert spec.keys() == element.keys()
        for name, value in element.items():
            shape, dtype = spec[name].shape, spec[name].dtype
            assert shape[: len(rows)] == rows and len(shape) == np.ndim(value)
            assert all(a in (None, b) for a, b in zip(shape, np.shape(value), strict=True))
            assert dtype == (object if isinstance(value, bytes) else value.dtype)
    spec = ordered.batch(10, drop_remainder=True)._element_spec
    assert spec["image"].shape == (10, 8, 8) and spec["image"].dtype == np.uint8
    uneven = recmap.grain.Batches(digits, order, 100, features)
    assert uneven._element_spec["image"].shape == (None, 8, 8)
    ragged = recmap.grain.Batches(digits, order, 100, {"x": recmap.VarLen("int64", key="label")})
    with pytest.raises(NotImplementedError, match="'x'"):
        _ = ragged._element_spec


def test_mistakes_in_features_name_similar_ones(digits):
    wrong, order = {"lable": recmap.FixedLen((), "int64")}, recmap.Shuffled(len(digits))
    for source in (
        recmap.grain.DataSource(digits, wrong),
        recmap.grain.Batches(digits, order, 9, wrong),
    ):
        with pytest.raises(recmap.FeatureError, match="lable") as caught:
            source[0]
        assert "'label'" in caught.value.advice
    for make in (
        lambda: recmap.grain.DataSource(digits, ["label"]),
        lambda: recmap.grain.Batches(digits, order, 9, ["label"]),
    ):
        with pytest.raises(TypeError, match="features must be a dict"):
            make()
    with pytest.raises(TypeError, match="batch_size must be an integer, not '32'"):
        recmap.grain.Batches(digits, order, "32")
