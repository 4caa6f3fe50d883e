"""Loaders of joined data sets."""

import numpy as np
import pytest
import recmap
from conftest import write

COUNT = 100
FEATURES = {name: {name: recmap.FixedLen()} for name in ("image", "caption")}


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
        assert batch["image"]["image"].tolist() == batch["caption"]["caption"].tolist()
        found += batch["image"]["image"].tolist()
    return found


def test_epochs(joined):
    loader = recmap.JoinedLoader(joined, 8, features=FEATURES, shuffle=True, seed=3)
    order = recmap.Shuffled(COUNT, seed=3)
    assert len(loader) == 13
    for epoch in range(3):
        assert loader.epoch == epoch
        assert rows_of(loader) == order.at(epoch, range(COUNT)).tolist()
    assert repr(loader) == (
        "<recmap.JoinedLoader of 'image', 'caption': 100 rows, epoch 3, position 0>"
    )


def test_records_that_are_not_parsed(joined):
    features = {"caption": FEATURES["caption"]}
    for batch in recmap.JoinedLoader(joined, 30, features=features):
        ids = [recmap.decode_example(record)["id"][0] for record in batch["image"]]
        assert ids == [f"id-{i}".encode() for i in batch["caption"]["caption"].tolist()]


@pytest.mark.parametrize("stop", [1, 5, 12])
def test_resuming_with_other_ranks(joined, stop):
    with recmap.JoinedLoader(joined, 8, features=FEATURES, shuffle=True, seed=3) as loader:
        steps = iter(loader)
        seen = rows_of(next(steps) for _ in range(stop))
        state = loader.state_dict()
        assert loader.position == 8 * stop
    for rank in range(2):
        options = {"shuffle": True, "seed": 3, "rank": rank, "world_size": 2}
        with recmap.JoinedLoader(joined, 5, features=FEATURES, **options) as again:
            again.load_state_dict(state)
            seen += rows_of(again)
    assert sorted(seen) == list(range(COUNT))


def test_an_error_leaves_all_loaders_at_the_same_position(tmp_path, joined):
    path = tmp_path / "caption.tfrecord"
    data = bytearray(path.read_bytes())
    place = data.index(b"id-20")
    data[place] ^= 1
    path.write_bytes(data)
    loader = recmap.JoinedLoader(joined, 8, features=FEATURES)
    seen, steps = [], iter(loader)
    with pytest.raises(recmap.CorruptRecordError):
        while True:
            seen += rows_of([next(steps)])
    assert seen == list(range(16))
    assert {(each.epoch, each.position) for each in loader.loaders.values()} == {(0, 16)}
    loader.seek(0, 24)
    assert rows_of(loader) == list(range(24, COUNT))


def test_states_that_do_not_fit(joined):
    loader = recmap.JoinedLoader(joined, 8, shuffle=True)
    loader.seek(0, 16)
    state = loader.state_dict()
    loader.seek(0, 24)
    mixed = {"image": state["image"], "caption": loader.state_dict()["caption"]}
    loader.seek(1, 0)
    with pytest.raises(ValueError, match="of different positions"):
        loader.load_state_dict(mixed)
    with pytest.raises(ValueError, match="of a join of image, this join is of image, caption"):
        loader.load_state_dict({"image": state["image"]})
    with pytest.raises(recmap.Error):
        loader.load_state_dict({"image": state["image"], "caption": {}})
    places = {(each.epoch, each.position) for each in loader.loaders.values()}
    assert places == {(1, 0)}
    loader.load_state_dict(state)
    assert (loader.epoch, loader.position) == (0, 16)


def test_misuse(joined):
    with pytest.raises(TypeError, match=r"joined must be what recmap\.join returned"):
        recmap.JoinedLoader(joined.views, 8)
    for name in "on_error", "transform":
        with pytest.raises(TypeError, match=f"takes no {name}="):
            recmap.JoinedLoader(joined, 8, **{name: None})
    with pytest.raises(ValueError, match="features has 'text', but the join has image, caption"):
        recmap.JoinedLoader(joined, 8, features={"text": {}})


def test_batches_of_different_positions_are_not_joined(joined):
    loader = recmap.JoinedLoader(joined, 8, features=FEATURES)
    next(iter(loader))
    loader.loaders["caption"].seek(0, 24)
    with pytest.raises(RuntimeError, match=r"at different positions: call seek"):
        next(iter(loader))
    with pytest.raises(RuntimeError, match=r"at different positions: call seek"):
        loader.state_dict()  # which could not be loaded
    loader.seek(0, 8)
    assert rows_of(loader) == list(range(8, COUNT))


def test_peek_does_not_consume(joined):
    loader = recmap.JoinedLoader(joined, 30, shuffle=True, seed=7)
    peeked = loader.peek()
    assert loader.position == 0
    for batch in loader:
        for name in peeked:
            assert batch[name].numbers.tolist() == peeked[name].numbers.tolist()
        peeked = loader.peek()
        assert (peeked is None) == (loader.position == 0)
    with pytest.raises(TypeError, match="a JoinedLoader is iterated, not indexed"):
        loader[0]
