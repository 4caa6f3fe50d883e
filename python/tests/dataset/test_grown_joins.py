"""Finishing an epoch over the rows that a join had before its data sets grew."""

import itertools
import time

import numpy as np
import pytest
import recmap
from recmap._loader.companions import Companions

FEATURES = {name: {name: recmap.FixedLen((), "int64")} for name in ("image", "caption")}


def write(folder, part, name, numbers):
    path = folder / f"{name}-{part}.tfrecord"
    with recmap.Writer(path) as writer:
        for n in numbers:
            writer.write({"id": f"id-{n}", name: n})
    return recmap.open(folder / f"{name}-*.tfrecord", index=folder / f"{name}.rmx", id="id")


@pytest.fixture
def before(tmp_path):
    """Captions lack some of the images, and have some whose images follow later."""
    images = write(tmp_path, 0, "image", range(100))
    captions = write(tmp_path, 0, "caption", [*range(110, 10, -1)])
    return recmap.join({"image": images, "caption": captions})


def grow(folder, before, sides):
    """New images match old captions, and new captions match old images, which lacked one."""
    grown = dict(before._datasets)
    if "image" in sides:
        grown["image"] = write(folder, 1, "image", range(100, 150))
    if "caption" in sides:
        grown["caption"] = write(folder, 1, "caption", range(11))
    return recmap.join(grown)


def rows_of(batches, count=None):
    found = []
    for batch in itertools.islice(batches, count):
        assert batch["image"]["image"].tolist() == batch["caption"]["caption"].tolist()
        found += batch["image"]["image"].tolist()
    return found


OPTIONS = {"features": FEATURES, "shuffle": True, "seed": 3}


@pytest.mark.parametrize("policy", ["error", "skip"])
@pytest.mark.parametrize("sides", [["image"], ["caption"], ["image", "caption"]])
def test_the_epoch_is_finished_and_all_rows_follow(tmp_path, before, sides, policy):
    assert len(before) == 89
    uninterrupted = rows_of(recmap.JoinedLoader(before, 8, **OPTIONS))
    loader = recmap.JoinedLoader(before, 8, on_bad_record=policy, **OPTIONS)
    seen = rows_of(loader, 4)
    state = loader.state_dict()
    after = grow(tmp_path, before, sides)
    assert len(after) > 89
    bigger = recmap.JoinedLoader(after, 8, on_bad_record=policy, **OPTIONS)
    bigger.seek(3, 16)
    with pytest.raises(recmap.StateMismatchError):
        bigger.load_state_dict(state)
    assert (bigger.epoch, bigger.position) == (3, 16)
    bigger.load_state_dict(state, grown="finish")
    assert bigger.state_dict() == state
    seen += rows_of(bigger, 2)
    again = recmap.JoinedLoader(after, 8, on_bad_record=policy, **OPTIONS)
    again.load_state_dict(bigger.state_dict(), grown="finish")
    assert seen + rows_of(again) == uninterrupted
    assert seen + rows_of(bigger) == uninterrupted
    whole = recmap.JoinedLoader(after, 8, **OPTIONS)
    whole.seek(1)
    assert rows_of(bigger) == rows_of(whole)
    bigger.load_state_dict(whole.state_dict(), grown="finish")  # of all rows
    assert bigger.epoch == 2


def test_a_row_with_a_bad_record_in_the_epoch_that_is_finished(tmp_path, before):
    """Its substitute is also a row of that epoch."""
    options = {**OPTIONS, "on_bad_record": "substitute"}
    loader = recmap.JoinedLoader(before, 8, **options)
    rows_of(loader, 4)
    state = loader.state_dict()
    after = grow(tmp_path, before, ["image", "caption"])
    order = recmap.Shuffled(89, seed=3).at(0, range(32, 89)) + 11  # images
    bad = int(order[5])
    path = tmp_path / "caption-0.tfrecord"
    data = bytearray(path.read_bytes())
    data[data.index(f"id-{bad}".encode())] ^= 1
    path.write_bytes(data)
    bigger = recmap.JoinedLoader(after, 8, **options)
    bigger.load_state_dict(state, grown="finish")
    expected = order.tolist()
    expected[5] = expected[6]
    assert rows_of(bigger) == expected
    assert [(each["name"], each["position"]) for each in bigger.skipped] == [("caption", 37)]


def test_an_order_that_is_unknown_for_fewer_rows(tmp_path, before):
    order = recmap.Mixture([recmap.Sequential(60), recmap.Sequential(29)], [1, 1], "last")
    loader = recmap.JoinedLoader(before, 8, features=FEATURES, order=order)
    rows_of(loader, 4)
    state = loader.state_dict()
    after = grow(tmp_path, before, ["image"])
    order = recmap.Mixture(
        [recmap.Sequential(60), recmap.Sequential(len(after) - 60)], [1, 1], "last"
    )
    bigger = recmap.JoinedLoader(after, 8, features=FEATURES, order=order)
    bigger.seek(2, 8)
    with pytest.raises(recmap.UnsupportedError) as raised:
        bigger.load_state_dict(state, grown="finish")
    assert raised.value.advice == "Continue with the next epoch instead: loader.seek(1)."
    assert (bigger.epoch, bigger.position) == (2, 8)


def test_a_refused_state_leaves_the_epoch_that_is_finished(tmp_path, before):
    loader = recmap.JoinedLoader(before, 8, **OPTIONS)
    rows_of(loader, 4)
    state = loader.state_dict()
    after = grow(tmp_path, before, ["image"])
    bigger = recmap.JoinedLoader(after, 8, **OPTIONS)
    bigger.load_state_dict(state, grown="finish")
    other = recmap.JoinedLoader(after, 8, **{**OPTIONS, "seed": 4})
    other.seek(0, 32)
    mixed = {"image": bigger.state_dict()["image"], "caption": other.state_dict()["caption"]}
    for refused in (mixed, {**state, "caption": {}}):
        with pytest.raises(recmap.Error):
            bigger.load_state_dict(refused, grown="finish")
        assert bigger.state_dict() == state
    assert np.all(rows_of(bigger) == rows_of(loader))
    with pytest.raises(ValueError, match="grown must be None or 'finish'"):
        bigger.load_state_dict(state, grown=True)


MALFORMED = [
    ("record_count", None),
    ("record_count", "100"),
    ("fingerprint", None),
    ("fingerprint", "no digits"),
    ("epoch", None),
    ("epoch", [0]),
    ("position", "32"),
]


@pytest.mark.parametrize("grown", [None, "finish"])
@pytest.mark.parametrize("side", ["image", "caption"])
@pytest.mark.parametrize(("member", "value"), MALFORMED)
def test_a_state_with_a_malformed_member(tmp_path, before, grown, side, member, value):
    state = states_of(before, 32, 32)
    state[side][member] = value
    if value is None:
        del state[side][member]
    bigger = recmap.JoinedLoader(grow(tmp_path, before, ["image"]), 8, **OPTIONS)
    bigger.seek(3, 16)
    with pytest.raises(recmap.CorruptStateError):
        bigger.load_state_dict(state, grown=grown)
    assert (bigger.epoch, bigger.position) == (3, 16)


def test_a_state_with_integers_of_numpy(tmp_path, before):
    state = states_of(before, 32, 32)
    loaded = {
        name: {key: np.int64(value) if type(value) is int else value for key, value in side.items()}
        for name, side in state.items()
    }
    bigger = recmap.JoinedLoader(grow(tmp_path, before, ["image"]), 8, **OPTIONS)
    bigger.load_state_dict(loaded, grown="finish")
    assert bigger.state_dict() == state


LED = {"error": {"transform": lambda batch: batch}, "skip": {"on_bad_record": "skip"}}


def states_of(before, *positions):
    """States of a join whose parts are of these positions of the first epoch."""
    loader = recmap.JoinedLoader(before, 8, **OPTIONS)
    mixed = {}
    for name, position in zip(loader.loaders, positions, strict=True):
        loader.seek(0, position)
        mixed[name] = loader.state_dict()[name]
    return mixed


@pytest.mark.parametrize("led", [{}, *LED.values()], ids=["plain", "transform", "skip"])
@pytest.mark.parametrize("positions", [(32, 0), (0, 32), (32, 16)])
def test_a_state_of_different_positions_is_refused(tmp_path, before, led, positions):
    mixed = states_of(before, *positions)
    after = grow(tmp_path, before, ["image"])
    bigger = recmap.JoinedLoader(after, 8, **OPTIONS, **led)
    bigger.seek(3, 16)
    with pytest.raises(ValueError, match="the data sets are of different positions"):
        bigger.load_state_dict(mixed, grown="finish")
    assert (bigger.epoch, bigger.position) == (3, 16)
    bigger.seek(0)
    assert len(rows_of(bigger)) == len(after)


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_an_interrupted_load_leaves_the_rows_of_the_epoch(tmp_path, before, monkeypatch, policy):
    """A signal handler may raise after the last call of a load."""
    state = states_of(before, 32, 32)
    after = grow(tmp_path, before, ["image"])
    options = {**OPTIONS, "transform": lambda batch: batch, "on_bad_record": policy}
    bigger = recmap.JoinedLoader(after, 8, **options)
    use_old = Companions.use_old

    def interrupted(*arguments):
        use_old(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Companions, "use_old", interrupted)
        bigger.load_state_dict(state, grown="finish")
    assert (bigger.epoch, bigger.position) == (0, 0)
    assert len(rows_of(bigger)) == len(after)
    assert bigger.skipped == []


def test_no_step_is_taken_while_the_rows_change(tmp_path, before):
    """A step that the transform's threads took meanwhile would have old rows of one side only."""
    uninterrupted = rows_of(recmap.JoinedLoader(before, 8, **OPTIONS))
    state = states_of(before, 32, 32)
    after = grow(tmp_path, before, ["image", "caption"])
    bigger = recmap.JoinedLoader(after, 8, **OPTIONS, **LED["error"])
    steps = iter(bigger)
    next(steps)
    pipeline, caption = bigger._first._running.get(), bigger.loaders["caption"]
    load_old = caption._load_old

    def load_late(*arguments):
        """Loads after the feeder has taken a step of the lead, or has ended."""
        pipeline._wake.put(None)
        while not pipeline._source.ahead()[0] and pipeline._ended.locked():
            time.sleep(0.001)
        load_old(*arguments)

    caption._load_old = load_late
    bigger.load_state_dict(state, grown="finish")
    assert rows_of(steps) == uninterrupted[32:]


def test_the_own_transform_does_not_load_a_state(tmp_path, before):
    state = states_of(before, 32, 32)
    after = grow(tmp_path, before, ["image"])
    is_first = [True]

    def transform(batch):
        if is_first and is_first.pop():
            bigger.load_state_dict(state, grown="finish")
        return batch

    bigger = recmap.JoinedLoader(after, 8, transform=transform, transform_threads=1, **OPTIONS)
    with pytest.raises(RuntimeError, match="iterated or moved by its own transform"):
        next(iter(bigger))
    assert bigger.position == 0
