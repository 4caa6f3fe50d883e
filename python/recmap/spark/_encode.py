"""Encoding: batches of Arrow as records."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from .. import _recmap
from .._base.values import BeyondFloatError, Rounding, float32_of
from ._types import Column

__all__ = ["encoded"]

pc: Any = pyarrow.compute  # its functions are made at run time

_CHUNK_SIZE = 4 << 20  # bytes of a batch that are records at the same time
Warn: TypeAlias = Callable[[str, Rounding], object]

_MESSAGES = {"Example": 1, "SequenceExample": 2}


def _fail_null(column: Column, row: int) -> NoReturn:
    raise ValueError(
        f"column {column.name!r}, row {row} of the batch: an array contains null, which a TFRecord "
        "cannot store: remove it with array_compact"
    )


def _valid(array: Any) -> npt.NDArray[np.bool_]:
    return np.ascontiguousarray(array.is_valid().to_numpy(zero_copy_only=False))


def _flat(array: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """The elements of lists, and where each list begins and the last one ends."""
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return array.flatten(), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _integers(array: Any) -> npt.NDArray[np.int64]:
    values = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values, np.int64)


def _floats(array: Any) -> npt.NDArray[Any]:
    """The values as floats of at least their width. Decimals beyond the integers of a double become
    floats of 80 bits, which are closer."""
    doubles = array.cast(pa.float64()) if pa.types.is_decimal(array.type) else array
    values: npt.NDArray[Any] = doubles.to_numpy(zero_copy_only=False)
    if doubles is not array and np.abs(values).max(initial=0) > 2.0**53:
        values = np.array([np.longdouble(str(value)) for value in array.to_pylist()])
    return values


def _bytes(array: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """The bytes of all values after each other, and where each begins and the last one ends."""
    array = array.cast(pa.large_binary())
    _, ends, data = array.buffers()
    count = len(array) + 1
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + count] if ends else None
    return data or b"", np.zeros(count, np.int64) if offsets is None else offsets


def _values_of(array: Any, column: Column, warn: Warn) -> tuple[str, Any, Any]:
    """The kind, the values and the ends of values as `encode_rows` takes them."""
    if array.null_count:
        array = array.fill_null(_zero_of(array.type))
    if column.kind == "bytes":
        return "b", *_bytes(array)
    if column.kind == "int64":
        return "i", _integers(array), None
    values, rounding = float32_of(_floats(array))
    if rounding is not None:
        warn(f"column {column.name!r}", rounding)
    return "f", values, None


def _row_column(array: Any, column: Column, first_row: int, warn: Warn) -> tuple[Any, ...]:
    """A column as `encode_rows` takes it."""
    valid, lists = _valid(array), []
    for _ in range(column.depth):
        array, starts = _flat(array)
        lists.append(starts)
        _check_elements(array, lists, column, first_row)
    try:
        kind, values, ends = _values_of(array, column, warn)
    except BeyondFloatError as error:
        row = first_row + _row_of(error.index, lists)
        raise ValueError(
            f"column {column.name!r}, row {row} of the batch: {error}: store it as a string"
        ) from None
    return column.name, kind, valid, tuple(lists) or None, values, ends


def _row_of(place: int, lists: list[npt.NDArray[np.int64]]) -> int:
    """The row of an element, found through the lists that contain it."""
    for starts in reversed(lists):
        place = int(np.searchsorted(starts, place, side="right")) - 1
    return place


def _check_elements(
    flat: Any, lists: list[npt.NDArray[np.int64]], column: Column, first_row: int
) -> None:
    if not flat.null_count:
        return
    place = int(np.argmax(flat.is_null().to_numpy(zero_copy_only=False)))
    _fail_null(column, first_row + _row_of(place, lists))


def _zero_of(kind: Any) -> Any:
    if pa.types.is_decimal(kind):  # which need not have room for the digits of an integer
        return pa.scalar(decimal.Decimal(0), kind)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return b""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ""
    return pa.scalar(0, pa.int8()).cast(kind)


def _chunks(batch: Any) -> Iterator[tuple[int, Any]]:
    """Parts of a batch, and where they begin, so that few records are in memory at once."""
    rows = max(1, batch.num_rows * _CHUNK_SIZE // max(1, batch.nbytes))
    for first in range(0, batch.num_rows, rows):
        yield first, batch.slice(first, rows)


def encoded(batch: Any, columns: Sequence[Column], record_type: str, warn: Warn) -> Iterator[Any]:
    """The records of a batch. Calls `warn` with the name of each column in which rounding changes
    values that a float of 32 bits does not hold closely."""
    if record_type == "ByteArray":
        if batch.column(0).null_count:
            raise ValueError(f"column {columns[0].name!r} contains null: a record must have bytes")
        yield from batch.column(0).to_pylist()
        return
    builder, message = _recmap.ExampleBuilder(), _MESSAGES[record_type]
    for first, chunk in _chunks(batch):
        arrays = [
            _row_column(chunk.column(i), column, first, warn) for i, column in enumerate(columns)
        ]
        yield from builder.encode_rows(message, arrays, chunk.num_rows)
