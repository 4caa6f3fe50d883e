"""Row orders through Python: counts in, pieces out, pickle, mixtures, and the test vectors."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import recmap

COUNTS = np.random.default_rng(1).integers(0, 60, 500)
VECTORS = Path(__file__).parents[3] / "docs/formats/vectors/rows.txt"


def each():
    return [
        recmap.Chunked(COUNTS, 32, overlap=1, add=2, last="pad", seed=5),
        recmap.Chunked(COUNTS, 32, documents="stored", seed=5),
        recmap.Packed(COUNTS, 64, add=1, group=100, seed=5),
        recmap.Packed(COUNTS, 32, long="truncate", seed=5),
        recmap.Windows(COUNTS, 16, stride=2, pad=(3, 0), seed=5),
        recmap.Mixture([recmap.Chunked(COUNTS, 50, seed=s) for s in (1, 2)], [0.75, 0.25]),
        recmap.Windows(COUNTS, 16).select(range(1000, 0, -2)),
    ]


@pytest.mark.parametrize("order", each(), ids=lambda order: type(order).__name__)
def test_pieces_of_one_and_of_many(order):
    everything, splits = order.pieces(3, slice(None))
    assert everything.dtype == splits.dtype == np.int64
    assert everything.shape == (splits[-1], 4) and len(splits) == len(order) + 1
    for position in (0, 7, len(order) - 1):
        one = order.pieces(3, position)
        assert one.dtype == np.int64 and one.shape[1] == 3 and len(one) > 0
        assert (one == everything[splits[position] : splits[position + 1], :3]).all()
        assert (order.pieces(3, np.int32(position)) == one).all()
    some, ends = order.pieces(3, [9, 2, 9])
    assert (some[: ends[1]] == everything[splits[9] : splits[10]]).all()
    assert (some[ends[1] : ends[2]] == everything[splits[2] : splits[3]]).all()
    none, ends = order.pieces(3, [])
    assert none.shape == (0, 4) and ends.tolist() == [0]


@pytest.mark.parametrize("order", each(), ids=lambda order: type(order).__name__)
def test_pickle_and_describe(order):
    again = pickle.loads(pickle.dumps(order))
    assert again == order and repr(again) == repr(order) and type(again) is type(order)
    assert (again.pieces(2, 11) == order.pieces(2, 11)).all()
    assert (again.at(2, range(20)) == order.at(2, range(20))).all()
    order.prepare(7)


@pytest.mark.parametrize(
    "order",
    [
        recmap.Chunked(np.full(1797, 64), 100, seed=3),
        recmap.Packed(np.full(1797, 64), 150, seed=3),
        recmap.Windows(np.full(1797, 64), 60, seed=3),
    ],
    ids=lambda order: type(order).__name__,
)
def test_states_are_small(digits, order):
    features = {"image": recmap.Sliced((), "uint8", raw=True)}
    with recmap.Loader(digits, 4, order=order, features=features) as loader:
        loader.seek(1, 100)
        state = loader.state_dict()
        assert len(json.dumps(state, separators=(",", ":"))) <= 300
        assert '"rows"' in order.describe() and '"rows"' not in state["order"]


def test_pickles_are_small():
    assert len(pickle.dumps(recmap.Packed(np.full(100_000, 200), 1000))) < 101_000


def test_every_element_once():
    order = recmap.Chunked(COUNTS, 64, last="pad", seed=2)
    pieces, _ = order.pieces(0, slice(None))
    seen = np.concatenate([np.arange(f, f + c) + (r << 32) for r, f, c, _ in pieces])
    expected = np.concatenate([np.arange(c) + (r << 32) for r, c in enumerate(COUNTS)])
    assert (np.sort(seen) == expected).all()
    packed = recmap.Packed(COUNTS, 64, seed=2)
    pieces, _ = packed.pieces(0, slice(None))
    assert pieces[:, 2].sum() == COUNTS.sum() and (pieces[:, 1] == 0).all()
    assert packed.fill == COUNTS.sum() / (len(packed) * 64)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4"]
)
def test_counts_of_any_integer_type(dtype):
    order = recmap.Chunked(COUNTS.astype(dtype), 32, seed=1)
    assert order == recmap.Chunked(COUNTS.tolist(), 32, seed=1)
    assert order == recmap.Chunked(np.repeat(COUNTS, 2).astype(dtype)[::2], 32, seed=1)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ([1, -2, 3], ValueError, "record 1 is -2"),
        ([1.5], TypeError, "counts are integers, not float64"),
        ([True], TypeError, "counts are integers, not bool"),
        ([[1, 2]], ValueError, "one dimension, not 2"),
        ([2**62, 2**62], ValueError, "record 1"),
        (np.array([1, 2**63], np.uint64), ValueError, "record 1"),
    ],
)
def test_impossible_counts_are_refused(counts, error, message):
    for kind in (recmap.Chunked, recmap.Packed, recmap.Windows):
        with pytest.raises(error, match=message):
            kind(counts, 8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: recmap.Chunked(COUNTS, 0), "size of rows: 0"),
        (lambda: recmap.Chunked(COUNTS, -1), "-1|below 0|negative"),
        (lambda: recmap.Chunked(COUNTS, 8, overlap=8), "overlap of 8 is not below 8"),
        (lambda: recmap.Chunked(COUNTS, 8, documents="sorted"), 'documents is "shuffled"'),
        (lambda: recmap.Chunked(COUNTS, 8, last="keep"), 'last is "drop"'),
        (lambda: recmap.Packed(COUNTS, 8, long="cut"), 'long is "split"'),
        (lambda: recmap.Packed(COUNTS, 8, group=0), "group of 0"),
        (lambda: recmap.Windows(COUNTS, 8, stride=0), "stride of rows: 0"),
        (lambda: recmap.Windows(COUNTS, 8, pad=(8, 0)), "pad of 8 is not below 8"),
        (
            lambda: recmap.Mixture([recmap.Windows(COUNTS, 8), recmap.Shuffled(9)], [1, 1]),
            "rows",
        ),
    ],
)
def test_impossible_options_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("pad", [3, (3,), (1, 2, 3)])
def test_pad_that_is_not_a_pair(pad):
    with pytest.raises(TypeError, match=r"pad must be two numbers, \(before, after\)"):
        recmap.Windows(COUNTS, 8, pad=pad)


def test_pad_of_any_sequence():
    counts = np.array([5, 9], np.uint16)
    expected = recmap.Windows(counts, 4, pad=(1, 2)).pieces(0, range(4))
    for pad in [1, 2], np.array([1, 2]):
        found = recmap.Windows(counts, 4, pad=pad).pieces(0, range(4))
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_huge_counts_take_no_memory():
    """Rows are computed from counts, however large: nothing is as long as a document."""
    counts = [2**40, 3, 2**40]
    order = recmap.Chunked(counts, 2**31, documents="stored", seed=1)
    assert len(order) == (2**41 + 3) // 2**31 == 1024
    row = int(order.position_of(0, 512))
    assert order.pieces(0, row).tolist() == [[1, 0, 3], [2, 0, 2**31 - 3]]
    packed = recmap.Packed(counts, 2**40, seed=1)
    assert len(packed) == 3 and sorted(packed.pieces(0, [0, 1, 2])[0][:, 2]) == [3, 2**40, 2**40]
    split = recmap.Packed(counts, 2**20, seed=1)
    assert len(split) == 2**21 + 1
    windows = recmap.Windows(counts, 16, seed=1)
    assert len(windows) == 2 * (2**40 - 15)
    ((record, first, count),) = windows.pieces(5, len(windows) - 1).tolist()
    assert record in (0, 2) and first + count <= 2**40 and count == 16
    with pytest.raises(ValueError, match="size of rows"):
        recmap.Chunked(counts, 2**40 + 1)


def test_rows_of_one_element():
    counts = [2, 0, 1]
    elements = [[[0, 0, 1]], [[0, 1, 1]], [[2, 0, 1]]]
    for order in (
        recmap.Chunked(counts, 1, seed=1),
        recmap.Packed(counts, 1, seed=1),
        recmap.Windows(counts, 1, seed=1),
    ):
        assert sorted(order.pieces(0, i).tolist() for i in range(len(order))) == elements


@pytest.mark.parametrize("counts", [[], [0], [0] * 300])
def test_without_elements_there_are_no_rows(counts):
    for order in (
        recmap.Chunked(counts, 8, add=2, last="pad"),
        recmap.Packed(counts, 8, add=2),
        recmap.Windows(counts, 8, pad=(7, 7)),
    ):
        assert len(order) == 0
        with pytest.raises(IndexError):
            order.at(0, 0)


def test_orders_without_rows_warn_and_load_nothing():
    order = recmap.Windows(COUNTS, 1000)
    assert len(order) == 0 and '"rows":0' in order.describe()
    with pytest.raises(IndexError):
        order.pieces(0, 0)
    assert recmap.Packed([0, 0], 8).fill == 0
    assert len(recmap.Chunked([], 8)) == 0


def test_rows_are_not_records(made):
    ds = made
    rows = recmap.Chunked(np.full(len(ds), 3), 2)
    assert rows.row_width == 2 and recmap.Shuffled(5).row_width == 0
    with pytest.raises(ValueError, match="gives rows"):
        recmap.Loader(ds, order=rows, batch_size=2)
    with pytest.raises(ValueError, match="over records"):
        recmap.Shuffled(5).pieces(0, 0)
    with pytest.raises(IndexError):
        rows.pieces(0, len(rows))
    with pytest.raises(IndexError):
        rows.pieces(0, [-1])


def cases():
    found = {}
    for line in VECTORS.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == "case":
            found[value] = {}
            case = found[value]
        elif key and key != "#":
            case[key] = f"{case[key]} {value}" if key in case else value
    return found


def make(case):
    counts = np.array([int(c) for c in case["counts"].split()], np.int64)
    size, seed = int(case["size"]), int(case["seed"])
    if case["kind"] == "windows":
        pad = (int(case["before"]), int(case["after"]))
        return recmap.Windows(counts, size, stride=int(case["stride"]), pad=pad, seed=seed)
    add = int(case["add"])
    if case["kind"] == "packed":
        group = int(case["group"])
        return recmap.Packed(counts, size, add=add, long=case["long"], group=group, seed=seed)
    overlap, documents, last = int(case["overlap"]), case["documents"], case["last"]
    return recmap.Chunked(
        counts, size, overlap=overlap, add=add, documents=documents, last=last, seed=seed
    )


@pytest.mark.parametrize("title", cases())
def test_row_orders_match_their_vectors(title):
    case = cases()[title]
    order = make(case)
    positions = [int(p) for p in case["positions"].split()]
    assert order.describe() == case["describe"] and len(order) == int(case["rows"])
    for epoch in (0, 1, 5):
        assert order.at(epoch, positions).tolist() == [
            int(n) for n in case[f"numbers-{epoch}"].split()
        ]
        pieces, splits = order.pieces(epoch, positions)
        flat = []
        for i in range(len(positions)):
            row = pieces[splits[i] : splits[i + 1]]
            flat += [len(row), *row.ravel().tolist()]
        assert flat == [int(n) for n in case[f"pieces-{epoch}"].split()]
