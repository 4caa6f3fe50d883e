"""Encoding rows of columns, as recmap.spark does, without Spark."""

import numpy as np
import pytest
import recmap
from recmap import _recmap

EXAMPLE, SEQUENCE_EXAMPLE = 1, 2


def int64s(*numbers):
    return np.array(numbers, np.int64)


def valid(count):
    return np.ones(count, bool)


def encode(*columns, message=EXAMPLE, count=2):
    return _recmap.ExampleBuilder().encode_rows(message, list(columns), count)


GOOD = {
    "numbers": ("x", "i", valid(2), None, int64s(1, 2), None),
    "floats": ("x", "f", valid(2), (int64s(0, 2, 3),), np.ones(3, np.float32), None),
    "bytes": ("x", "b", valid(2), None, b"abc", int64s(0, 1, 3)),
    "lists": ("x", "i", valid(2), (int64s(0, 2, 3), int64s(0, 1, 1, 2)), int64s(1, 2), None),
}


def changed(good, /, **parts):
    """A good column with other parts."""
    names = ("name", "kind", "valid", "lists", "values", "ends")
    return tuple({**dict(zip(names, GOOD[good], strict=True)), **parts}.values())


def test_rows_are_encoded_as_values_are():
    rows = [{"i": [1], "f": [1.0, 1.0], "b": [b"a"]}, {"i": [2], "f": [1.0], "b": [b"bc"]}]
    columns = [changed("numbers", name="i"), changed("floats", name="f")]
    records = encode(*columns, changed("bytes", name="b"))
    for record, row in zip(records, rows, strict=True):
        found = recmap.decode_example(record)
        assert {name: list(found[name]) for name in row} == row
    assert len(encode(GOOD["lists"], message=SEQUENCE_EXAMPLE)) == 2
    assert encode(changed("numbers", valid=valid(0), values=int64s()), count=0) == []


@pytest.mark.parametrize(
    "column",
    [
        changed("numbers", values=int64s(1)),
        changed("numbers", values=int64s(1, 2, 3)),
        changed("numbers", valid=valid(1)),
        changed("floats", lists=(int64s(0, 2),)),
        changed("floats", lists=(int64s(0, 2, 4),)),
        changed("floats", lists=(int64s(0, 3, 2),)),
        changed("floats", lists=(int64s(-1, 2, 3),)),
        changed("floats", lists=(int64s(),)),
        changed("bytes", ends=int64s(0, 1)),
        changed("bytes", ends=int64s(0, 1, 4)),
        changed("bytes", ends=int64s(0, 2, 1)),
        changed("bytes", ends=int64s(-1, 1, 3)),
        changed("bytes", ends=int64s()),
        changed("lists", lists=(int64s(0, 2, 4), int64s(0, 1, 1, 2))),
        changed("lists", lists=(int64s(0, 2, 3), int64s(0, 1, 1, 3))),
        changed("lists", lists=(int64s(0, 2, 3), int64s(0, 1, 0, 2))),
        changed("lists", lists=(int64s(0, 2, 3), int64s())),
    ],
)
def test_offsets_that_lead_out_of_an_array_are_refused(column):
    with pytest.raises(ValueError, match="column 'x': wrong offsets"):
        encode(column, message=SEQUENCE_EXAMPLE)


@pytest.mark.parametrize("kind", ["x", "I", "\0", "\U0001f600"])
@pytest.mark.parametrize("name", GOOD)
def test_unknown_kinds_are_refused(name, kind):
    with pytest.raises(ValueError, match="column 'x': the kind must be i, f or b"):
        encode(changed(name, kind=kind))


@pytest.mark.parametrize(
    "column",
    [
        changed("numbers", values=np.ones(2)),
        changed("numbers", values=np.ones(2, np.uint64)),
        changed("numbers", values=np.ones(2, np.int32)),
        changed("numbers", values=int64s(1, 2).astype(">i8")),
        changed("floats", values=np.ones(3, np.int32)),
        changed("floats", values=np.ones(3)),
        changed("floats", lists=(np.array([0.0, 2.0, 3.0]),)),
        changed("bytes", ends=np.array([0.0, 1.0, 3.0])),
        changed("bytes", ends=None),
        changed("numbers", values=None),
        changed("lists", lists=(int64s(0, 2, 3), np.zeros(4))),
    ],
)
def test_arrays_of_other_types_are_refused(column):
    with pytest.raises(TypeError):
        encode(column)


def test_invalid_messages_and_numbers_of_rows_are_refused():
    for message in (0, 3, 7, -1):
        with pytest.raises(ValueError, match=f"invalid message: {message}"):
            encode(GOOD["numbers"], message=message)
    for count in (-1, -(2**63)):
        with pytest.raises(ValueError, match=f"invalid number of rows: {count}"):
            encode(count=count)
