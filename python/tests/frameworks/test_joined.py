"""Joined rows in the frameworks: each has records of one id, in the order of the loader."""

import json
import pickle

import numpy as np
import pytest
import recmap
from conftest import write

COUNT = 100
FEATURES = {name: {name: recmap.FixedLen((), "int64")} for name in ("image", "caption")}
ORDER = recmap.Shuffled(COUNT, seed=3).at(0, range(COUNT)).tolist()


def make(folder, name, numbers):
    payloads = [recmap.encode_example({"id": f"id-{i}", name: i}) for i in numbers]
    write(folder, payloads, name=f"{name}.tfrecord")
    return recmap.open(folder / f"{name}.tfrecord", id="id")


@pytest.fixture
def joined(tmp_path):
    images = make(tmp_path, "image", range(COUNT))
    captions = make(tmp_path, "caption", np.random.default_rng(1).permutation(COUNT).tolist())
    return recmap.join({"image": images, "caption": captions})


def rows_of(batches):
    found = []
    for batch in batches:
        sides = [np.asarray(batch[name][name]).tolist() for name in ("image", "caption")]
        assert sides[0] == sides[1]
        found += sides[0]
    return found


def test_a_join_in_a_data_loader(joined):
    data = pytest.importorskip("torch.utils.data")
    with pytest.raises(TypeError, match=r"write `for batch in recmap\.torch\.JoinedLoader\(joined"):
        next(iter(data.DataLoader(joined, batch_size=8)))
    # A function of the user's own parses records.
    batches = list(data.DataLoader(joined, batch_size=64, collate_fn=list))
    assert list(map(len, batches)) == [64, 36]
    assert sum(batches, []) == [{name: bytes(row[name]) for name in row} for row in joined]


def test_rows_without_a_record(tmp_path):
    images, captions = make(tmp_path, "image", range(9)), make(tmp_path, "caption", range(0, 9, 2))
    joined = recmap.join({"image": images, "caption": captions}, missing="null")
    rows = joined.__getitems__([3, -1, 3, 0])
    assert [row["image"] for row in rows] == [bytes(images[i]) for i in (3, 8, 3, 0)]
    assert [row["caption"] for row in rows] == [None, captions[4], None, captions[0]]
    with pytest.raises(IndexError, match="9"):
        joined.__getitems__([9])


def test_torch_tensors_as_the_transform(joined):
    """Each side becomes tensors, whether it is parsed or not."""
    torch = pytest.importorskip("torch")
    features = {"image": FEATURES["image"], "caption": None}
    for wanted in (FEATURES, features):
        loader = recmap.JoinedLoader(joined, 8, features=wanted, transform=recmap.torch.tensors)
        batch = next(iter(loader))
        assert batch["image"]["image"].equal(torch.arange(8))
        assert isinstance(batch["caption"], dict if wanted is FEATURES else list)


def test_torch_loads_joins(joined):
    torch = pytest.importorskip("torch")
    options = {"features": FEATURES, "shuffle": True, "seed": 3}
    with recmap.torch.JoinedLoader(joined, 8, **options) as loader:
        steps = iter(loader)
        batches = [next(steps) for _ in range(5)]
        assert all(isinstance(batch["image"]["image"], torch.Tensor) for batch in batches)
        seen, state = rows_of(batches), json.loads(json.dumps(loader.state_dict()))
        assert repr(loader).startswith("<recmap.torch.JoinedLoader of 'image', 'caption': 100 rows")
    with recmap.torch.JoinedLoader(joined, 8, **options) as again:
        again.load_state_dict(state)
        assert seen + rows_of(again) == ORDER
    with pytest.raises(TypeError, match=r"see recmap\.JoinedLoader"):
        recmap.torch.Loader(joined, 8)


def test_the_end_of_an_epoch_in_torch(joined):
    """Inside the loop, the state after the last batch gives an empty loop, then the next epoch."""
    pytest.importorskip("torch")
    with recmap.torch.JoinedLoader(joined, 50, features=FEATURES) as loader:
        states = [loader.state_dict() for _ in loader]
        loader.load_state_dict(states[-1])
        assert rows_of(loader) == []
        assert rows_of(loader) == list(range(COUNT))


def test_tensorflow_loads_joins(joined):
    pytest.importorskip("tensorflow")
    options = {"features": FEATURES, "shuffle": True, "seed": 3}
    with recmap.JoinedLoader(joined, 8, **options) as loader:
        dataset = recmap.tensorflow.dataset(loader).prefetch(2)
        assert rows_of(dataset) == ORDER
        assert sorted(rows_of(dataset)) == list(range(COUNT))  # the next epoch
        with pytest.raises(ValueError, match="results of a transform, but there is none"):
            recmap.tensorflow.dataset(loader, output_signature=0)


@pytest.mark.parametrize("stop", [1, 5, 13])
def test_resuming_in_tensorflow(joined, stop):
    """The state of the last batch that was used is exact, though tf.data reads ahead."""
    pytest.importorskip("tensorflow")
    options = {"features": FEATURES, "shuffle": True, "seed": 3}
    loader = recmap.JoinedLoader(joined, 8, **options)
    found = list(recmap.tensorflow.dataset(loader, state=True).prefetch(4).take(stop))
    again = recmap.JoinedLoader(joined, 8, **options)
    again.load_state_dict(json.loads(found[-1][1].numpy()))
    rest = rows_of(again) if stop < 13 else []
    assert rows_of(batch for batch, _ in found) + rest == ORDER


@pytest.mark.parametrize("name", ["image", "caption"])
def test_tensorflow_after_an_error_of_one_side(joined, name, monkeypatch):
    """The rows still match when the data set is iterated again."""
    tensorflow = pytest.importorskip("tensorflow")
    options = {"features": FEATURES, "shuffle": True, "seed": 3}
    with recmap.JoinedLoader(joined, 8, **options) as loader:
        dataset = recmap.tensorflow.dataset(loader)
        failing, calls = loader.loaders[name], []
        columns = failing._first_batch.check

        def fail_once(batch):
            calls.append(batch)
            if len(calls) == 3:
                raise OSError("the store is away")
            columns(batch)

        monkeypatch.setattr(failing._first_batch, "check", fail_once)
        found = []
        with pytest.raises(tensorflow.errors.OpError, match="the store is away"):
            for batch in dataset:
                found += rows_of([batch])
        assert found + rows_of(dataset) == ORDER


def test_records_without_features_in_tensorflow(joined):
    pytest.importorskip("tensorflow")
    features = {"image": None, "caption": FEATURES["caption"]}
    for batch in recmap.tensorflow.dataset(recmap.JoinedLoader(joined, 30, features=features)):
        ids = [recmap.decode_example(record)["id"][0] for record in batch["image"].numpy()]
        assert ids == [f"id-{i}".encode() for i in batch["caption"]["caption"].numpy()]


def differences(batch):
    """A transform that checks that the rows belong together."""
    (rows,) = {tuple(np.asarray(batch[name][name]).tolist()) for name in ("image", "caption")}
    return {"n": np.array(rows)}


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_transforms_in_torch(joined, policy):
    torch = pytest.importorskip("torch")

    def transform(batch):
        assert all(isinstance(batch[name][name], torch.Tensor) for name in batch)
        return differences(batch)["n"].tolist()

    options = {"features": FEATURES, "shuffle": True, "seed": 3, "on_bad_record": policy}
    with recmap.torch.JoinedLoader(joined, 50, transform=transform, **options) as loader:
        states = [loader.state_dict() for _ in loader]
        loader.load_state_dict(states[0])
        assert sum(loader, []) == ORDER[50:]
        loader.load_state_dict(states[-1])  # inside the loop, the end of the epoch
        assert list(loader) == []
        assert sorted(sum(loader, [])) == list(range(COUNT))


@pytest.mark.parametrize("stop", [1, 5, 13])
def test_transforms_in_tensorflow(joined, stop):
    tensorflow = pytest.importorskip("tensorflow")
    signature = {"n": tensorflow.TensorSpec((None,), tensorflow.int64)}
    options = {"features": FEATURES, "shuffle": True, "seed": 3, "transform": differences}
    loader = recmap.JoinedLoader(joined, 8, **options)
    with pytest.raises(ValueError, match="output_signature= is required"):
        recmap.tensorflow.dataset(loader)
    rows = recmap.tensorflow.dataset(loader, state=True, output_signature=signature)
    found = list(rows.prefetch(4).take(stop))
    seen = [int(n) for batch, _ in found for n in batch["n"].numpy()]
    again = recmap.JoinedLoader(joined, 8, **options)
    again.load_state_dict(json.loads(found[-1][1].numpy()))
    rest = [int(n) for batch in again for n in batch["n"]] if stop < 13 else []
    assert seen + rest == ORDER


def test_bad_rows_in_tensorflow(tmp_path, joined):
    pytest.importorskip("tensorflow")
    path = tmp_path / "caption.tfrecord"
    path.write_bytes(path.read_bytes().replace(b"id-20", b"id-x0"))
    options = {"features": FEATURES, "on_bad_record": "skip", "last": "pad"}
    with recmap.JoinedLoader(joined, 8, **options) as loader:
        seen = rows_of(recmap.tensorflow.dataset(loader))
    assert seen == [n for n in [*range(COUNT), *range(4)] if n != 20]


def test_grain_loads_joins(joined):
    grain = pytest.importorskip("grain")
    source = recmap.grain.JoinedSource(joined, FEATURES)
    assert len(source) == COUNT
    assert source[7] == {"image": {"image": 7}, "caption": {"caption": 7}}
    assert source.__getitems__([7, 3]) == [source[7], source[3]]
    assert pickle.loads(pickle.dumps(source))[7] == source[7]
    assert repr(source).startswith("recmap.grain.JoinedSource({'image': recmap.grain.DataSource(")
    assert source.element_spec["image"]["image"].dtype == np.int64
    order = recmap.Shuffled(COUNT, seed=3)
    rows = recmap.grain.Ordered(grain.MapDataset.source(source), order)
    assert rows_of(rows.batch(8)) == ORDER
    loader = grain.DataLoader(
        data_source=source,
        sampler=recmap.grain.Sampler(order, 1),
        shard_options=grain.sharding.NoSharding(),
    )
    assert [row["caption"]["caption"] for row in loader] == ORDER


def test_misuse_in_grain(joined):
    pytest.importorskip("grain")
    with pytest.warns(UserWarning, match="features lacks 'image', so its records are given as byt"):
        recmap.grain.JoinedSource(joined, {"caption": FEATURES["caption"]})
    with pytest.raises(TypeError, match=r"joined must be what recmap\.join returned"):
        recmap.grain.JoinedSource(joined.views)
    with pytest.raises(ValueError, match="features has 'text', but the join has image, caption"):
        recmap.grain.JoinedSource(joined, {"text": {}})
    message = r"dataset must be a recmap.Dataset, not {}; see recmap\.{}$"
    order = recmap.Shuffled(len(joined))
    for other, shown, name in [
        (joined, "<recmap.Joined of 'image', 'caption': 100 rows>", r"grain\.JoinedSource"),
        ("a.rmx", "'a.rmx'", "open"),
    ]:
        with pytest.raises(TypeError, match=message.format(shown, name)):
            recmap.grain.DataSource(other)
        with pytest.raises(TypeError, match=message.format(shown, name)):
            recmap.grain.Batches(other, order, 4)
