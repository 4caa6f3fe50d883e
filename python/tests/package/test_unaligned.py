"""Arrays whose numbers are not at multiples of their size, as in the middle of a file. To read them
in place is undefined; builds with a sanitizer of undefined behaviour report it."""

import numpy as np
import pytest
import recmap
from conftest import write

COUNT = 300


def unaligned(values, dtype=None):
    array = np.asarray(values, dtype)
    moved = np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1)
    assert array.dtype.itemsize == 1 or not moved.flags.aligned
    return moved


@pytest.fixture
def ds(tmp_path):
    records = [{"id": i * 7, "n": [i] * (i % 4), "f": i / 8} for i in range(COUNT)]
    write(tmp_path, records, index=tmp_path / "a.rmx", id="id", count=["n"])
    with recmap.open(tmp_path / "a.rmx") as opened:
        yield opened


NUMBERS = [5, 3, 299, 0, 5]


def test_numbers_and_ids_of_records(ds, tmp_path):
    for dtype in (np.int64, np.uint64, np.int32):
        numbers = unaligned(NUMBERS, dtype)
        assert ds.gather(numbers).numbers.tolist() == NUMBERS
        view = ds.select(numbers)
        assert view.numbers.tolist() == NUMBERS and view[1:3].numbers.tolist() == [3, 299]
        view.save(tmp_path / "a.rmv")
        assert recmap.open(tmp_path / "a.rmv").numbers.tolist() == NUMBERS
        columns = ds.parse(numbers, {"f": recmap.FixedLen((), "float32")})
        assert columns["f"].tolist() == [number / 8 for number in NUMBERS]
        ids = unaligned([number * 7 for number in NUMBERS], dtype)
        assert ds.find_many(ids).tolist() == NUMBERS
        assert ds.columns["@length"][numbers].tolist() == [len(ds[n]) for n in NUMBERS]


def test_orders_take_unaligned_arrays(ds):
    order = recmap.Shuffled(COUNT, seed=3)
    positions = np.arange(9)[::-1].copy()
    assert order.at(1, unaligned(positions)).tolist() == order.at(1, positions).tolist()
    numbers = order.at(1, positions)
    assert order.position_of(1, unaligned(numbers)).tolist() == positions.tolist()
    labels, weights = np.arange(COUNT) % 5, np.linspace(0, 1, COUNT)
    for make in (
        lambda moved: recmap.Weighted(moved(weights), seed=3),
        lambda moved: recmap.Grouped(moved(labels), 4, seed=3),
        lambda moved: recmap.Stratified(moved(labels), 10, seed=3),
        lambda moved: recmap.Bucketed(moved(labels), moved([2, 4]), batch_size=4, seed=3),
        lambda moved: order.select(moved(np.arange(COUNT)[::-1])),
        lambda moved: recmap.Mixture([order, recmap.Sequential(9)], moved([0.5, 0.25])),
    ):
        moved, exact = make(unaligned), make(np.asarray)
        assert moved.at(0, [0, 1, 2]).tolist() == exact.at(0, [0, 1, 2]).tolist()


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "u8"])
def test_counts_and_pieces_of_rows(dtype):
    counts = np.arange(COUNT) % 100
    rows = recmap.Packed(unaligned(counts, dtype), 128, seed=3)
    plain = recmap.Packed(counts, 128, seed=3)
    some = np.array([5, 1, 0])
    for moved, exact in zip(rows.pieces(0, unaligned(some)), plain.pieces(0, some), strict=True):
        assert np.array_equal(moved, exact)


@pytest.mark.parametrize("on", ["id", "number"])
def test_annotations_take_unaligned_arrays(ds, on):
    keys = np.arange(COUNT) * (7 if on == "id" else 1)
    for dtype in (np.int64, np.float32, np.float64, np.int16):
        values = np.arange(COUNT, dtype=dtype)[::-1].copy()
        ds.annotate({"x": (unaligned(keys), unaligned(values))}, on=on)
        assert np.array_equal(ds.columns["x"], values)
        ds.annotate({"y": unaligned(values)}, drop=["x"])
        assert np.array_equal(ds.columns["y"], values)
        ds.annotate(drop=["y"])


@pytest.mark.parametrize("dtype", ["i8", "u8", "f4", "f8", "f2", "i4", ">i8", ">f4"])
def test_values_of_features(dtype):
    values = np.arange(5).astype(dtype)
    encoded = recmap.encode_example({"x": values})
    assert recmap.encode_example({"x": unaligned(values)}) == encoded
    table = np.frombuffer(b"\0" * 90, np.dtype([("a", "i1"), ("x", dtype), ("b", "i1")]), count=5)
    assert recmap.encode_example({"x": table["x"]}) == recmap.encode_example({"x": 0 * values})
    steps = recmap.encode_sequence_example({}, {"x": [values]})
    assert recmap.encode_sequence_example({}, {"x": [unaligned(values)]}) == steps


def test_rows_of_columns():
    kinds = {"i": unaligned([1, 2, 3], np.int64), "f": unaligned([1, 2, 3], np.float32)}
    for kind, values in kinds.items():
        starts, valid = unaligned([0, 1, 3], np.int64), np.ones(2, bool)
        columns = [("x", kind, valid, (starts,), values, None)]
        aligned = [("x", kind, valid, (starts.copy(),), values.copy(), None)]
        builder = recmap._recmap.ExampleBuilder()
        assert builder.encode_rows(1, columns, 2) == builder.encode_rows(1, aligned, 2)


def test_arrays_that_are_written_to_must_be_aligned(ds):
    target = np.frombuffer(bytearray(25), np.int64, offset=1)
    with pytest.raises(BufferError, match="not aligned"):
        ds._read_numbers(0, 0, target)
