"""Rows from the feature lists of SequenceExamples, against a model in NumPy; hostile records."""

import functools
import itertools

import numpy as np
import pytest
import recmap
from conftest import write
from test_sliced import field, varint

EPISODES = 120
STEPS = np.random.default_rng(4).integers(0, 40, EPISODES)
STEPS[7] = 9000  # a list of more than 64 KiB, whose marks are kept
PAD = -9
ORDERS = {
    "chunked": recmap.Chunked(STEPS, 24, overlap=1, last="pad", seed=5),
    "packed": recmap.Packed(STEPS, 32, group=50, seed=5),
    "windows": recmap.Windows(STEPS, 6, stride=3, pad=(2, 3), seed=5),
}
CONTEXT = {"name": recmap.FixedLen((), bytes)}
LISTS = {
    "reward": recmap.Sliced((), "int64", pad=PAD),
    "action": recmap.Sliced((2, 3), "float32", pad=PAD),
    "joint": recmap.Sliced((3,), "int16", pad=PAD),
    "frame": recmap.Sliced((), bytes),
    "depth": recmap.Sliced((4,), "uint16", raw=True),
}


@functools.cache
def reward(episode):
    values = np.random.default_rng(episode).integers(-(2**63), 2**63 - 1, STEPS[episode])
    return values >> (values & 63)


@functools.cache
def action(episode):
    count = STEPS[episode]
    return (np.arange(count * 6, dtype=np.float32) + episode).reshape(count, 2, 3)


@functools.cache
def joint(episode):
    return (np.arange(STEPS[episode] * 3).reshape(-1, 3) * 7 + episode) % 30000


@functools.cache
def frame(episode):
    return [b"%d/%d" % (episode, i) + bytes(i % 9) for i in range(STEPS[episode])]


@functools.cache
def depth(episode):
    return ((np.arange(STEPS[episode] * 4).reshape(-1, 4) + episode) % 65536).astype("<u2")


def ints(values):
    return field(3, field(1, b"".join(varint(int(value)) for value in values)))


def single_ints(values):
    return field(3, b"".join(varint(1 << 3) + varint(int(value)) for value in values))


def entry(name, steps, pieces=1):
    """A list, which may be stored in several pieces."""
    encoded = [field(1, step) for step in steps]
    cuts = [len(encoded) * i // pieces for i in range(pieces + 1)]
    lists = (field(2, b"".join(encoded[a:b])) for a, b in itertools.pairwise(cuts))
    return field(1, field(1, name.encode()) + b"".join(lists))


def lists_of(episode, kind=0):
    """The lists: as writers encode them, or in ways that are valid but unusual."""
    pieces = 3 if kind == 1 else 1
    encode = single_ints if kind == 2 else ints
    entries = [
        entry("reward", [encode([value]) for value in reward(episode)], pieces),
        entry("action", [field(2, field(1, row.tobytes())) for row in action(episode)]),
        entry("joint", [encode(row) for row in joint(episode)]),
        entry("frame", [field(1, field(1, one)) for one in frame(episode)], pieces),
        entry("depth", [field(1, field(1, row.tobytes())) for row in depth(episode)]),
        entry("other", [b"\xff\xff"] if kind == 3 else [ints([1])]),
    ]
    if kind == 4:  # an entry that a later one replaces
        entries.insert(0, entry("reward", [ints([1])]))
    if not STEPS[episode]:
        entries = entries[-1:]
    return b"".join(entries)


def context_of(episode):
    return field(1, field(1, b"name") + field(2, field(1, field(1, b"episode %d" % episode))))


def record_of(episode):
    kind = episode % 5 if episode != 7 else 0
    context, lists = field(1, context_of(episode)), field(2, lists_of(episode, kind % 5))
    if kind == 3:  # lists come first; what is in a list that nobody asks for does not matter
        return lists + context
    return context + lists


@pytest.fixture(scope="module")
def episodes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("episodes")
    write(folder, map(record_of, range(EPISODES)))
    return folder / "made-0.tfrecord"


def element_of(name, episode):
    return {"reward": reward, "action": action, "joint": joint, "depth": depth}[name](episode)


def rows_of(name, order, positions, shape, dtype, pad):
    out = np.full((len(positions), order.row_width, *shape), pad, dtype)
    items, splits = order.pieces(0, positions)
    for row in range(len(positions)):
        for record, first, count, place in items[splits[row] : splits[row + 1]]:
            out[row, place : place + count] = element_of(name, record)[first : first + count]
    return out


def frames_of(order, positions):
    out = []
    items, splits = order.pieces(0, positions)
    for row in range(len(positions)):
        out.append([b""] * order.row_width)
        for record, first, count, place in items[splits[row] : splits[row + 1]]:
            out[-1][place : place + count] = frame(record)[first : first + count]
    return out


def test_the_index_counts_steps(episodes):
    ds = recmap.open(episodes, count=["frame"])
    assert (ds.counts["frame"] == STEPS).all()


@pytest.mark.parametrize("access", ["map", "read"])
@pytest.mark.parametrize("kind", ORDERS)
def test_rows_are_those_of_the_model(episodes, kind, access):
    order = ORDERS[kind]
    ds = recmap.open(episodes, access=access, count=["frame"])
    context = CONTEXT if kind == "windows" else {}
    loader = recmap.Loader(ds, 16, order=order, features=context, feature_lists=LISTS, threads=2)
    done = 0
    for context, lists in loader:
        positions = range(done, done + len(lists["reward"]))
        for name in ("reward", "action", "joint", "depth"):
            feature = LISTS[name]
            pad = 0 if name == "depth" else PAD
            due = rows_of(name, order, positions, feature.shape, feature.dtype, pad)
            assert lists[name].dtype == due.dtype and (lists[name] == due).all()
        assert lists["frame"].to_numpy().tolist() == frames_of(order, positions)
        if kind == "windows":
            records = order.pieces(0, positions)[0][:, 0]
            assert [bytes(one) for one in context["name"]] == [b"episode %d" % r for r in records]
        done += len(positions)
    assert done == len(order)


# ---- Hostile records.

GOOD = {"reward": [ints([5])] * 4, "frame": [field(1, field(1, b"x"))] * 4}


def read_one(tmp_path, lists, count=4, name="reward", size=2):
    """Rows of a record with these lists, which is said to have `count` steps."""
    body = b"".join(entry(key, steps) for key, steps in lists.items())
    write(tmp_path, [field(2, body)])
    ds = recmap.open(tmp_path / "made-0.tfrecord", rebuild=True)
    order = recmap.Chunked([count], size, documents="stored", last="pad")
    feature_lists = {name: LISTS[name]}
    loader = recmap.Loader(ds, 8, order=order, feature_lists=feature_lists, missing="ignore")
    (batch,) = loader
    return batch[1][name]


def test_one_good_record(tmp_path):
    rows = read_one(tmp_path, GOOD)
    assert rows.tolist() == [[5, 5], [5, 5]]


@pytest.mark.parametrize(
    "step, message",
    [
        (ints([5, 6]), "feature list 'reward', step 1: 2 values"),
        (ints([]), "feature list 'reward', step 1: 0 values"),
        (b"", "feature list 'reward', step 1: no values"),
        (field(2, field(1, b"\0\0\0\0")), "feature list 'reward', step 1 holds float"),
    ],
)
def test_a_step_with_other_values(tmp_path, step, message):
    steps = [ints([5]), step, ints([5]), ints([5])]
    with pytest.raises(recmap.FeatureError, match=message) as raised:
        read_one(tmp_path, {**GOOD, "reward": steps})
    assert raised.value.record == 0 and raised.value.offset is not None


@pytest.mark.parametrize("step", [b"\x1a\xff", b"\x1a\x05\x0a\x01\x80\xff\xff", b"\xff" * 12])
def test_a_malformed_step(tmp_path, step):
    with pytest.raises(recmap.CorruptRecordError, match=r"not a tf\.SequenceExample"):
        read_one(tmp_path, {"reward": [ints([5]), step, ints([5]), ints([5])]})


def test_lists_that_disagree_with_the_counts(tmp_path):
    for count, size in ((3, 2), (5, 2), (3, 3), (2**31, 2**20)):
        with pytest.raises(recmap.FeatureError, match="has 4 elements, but the counts"):
            read_one(tmp_path, GOOD, count=count, size=size)
    with pytest.raises(recmap.FeatureError, match="'reward' is missing, but the counts"):
        read_one(tmp_path, {"frame": GOOD["frame"]})
    with pytest.raises(recmap.FeatureError, match=r"(?s)'joint' is missing, but .*feature_lists"):
        read_one(tmp_path, GOOD, name="joint")
    with pytest.raises(recmap.FeatureError, match="has 0 elements, but the counts"):
        read_one(tmp_path, {"reward": []})
