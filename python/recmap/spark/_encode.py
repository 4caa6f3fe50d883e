"""Encoding: batches of Arrow as records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from .. import _recmap
from ._types import Column

__all__ = ["encoded"]

pc: Any = pyarrow.compute  # its functions are made at run time


def _fail_null(column: Column, row: int) -> NoReturn:
    raise ValueError(
        f"column {column.name!r}, row {row} of the batch: an array contains null, which a TFRecord "
        "cannot store: remove it with array_compact"
    )


def _flat(array: Any) -> tuple[Any, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The elements of lists, where each list begins and the last one ends, and which are valid."""
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return array.flatten(), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), valid


def _values_of(array: Any, column: Column) -> Any:
    """Values without nulls, as the builder takes slices of them."""
    if column.kind == "bytes":
        return array.to_pylist()
    dtype, kind = (np.int64, pa.int64()) if column.kind == "int64" else (np.float32, pa.float32())
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    # Doubles are rounded to floats, as every TFRecord stores them.
    return array.cast(kind, safe=False).to_numpy(zero_copy_only=False).astype(dtype, copy=False)


def _adder_of_values(column: Column) -> Callable[[Any, str | None, Any], None]:
    kind = {"int64": "add_int64", "float32": "add_float", "bytes": "add_bytes"}[column.kind]

    def add(builder: Any, name: str | None, values: Any) -> None:
        getattr(builder, kind)(name, values)

    return add


def _add_column(array: Any, column: Column) -> Callable[[Any, int], None]:
    """A function that adds the value of a row to a builder, unless it is null."""
    add, name = _adder_of_values(column), column.name
    if column.depth == 0:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        filled = array if not array.null_count else array.fill_null(_zero_of(array.type))
        values = _values_of(filled, column)
        return lambda builder, row: (
            add(builder, name, values[row : row + 1]) if valid[row] else None
        )
    flat, starts, valid = _flat(array)
    if column.depth == 1:
        _check_elements(flat, starts, column)
        values = _values_of(flat, column)
        return lambda builder, row: (
            add(builder, name, values[starts[row] : starts[row + 1]]) if valid[row] else None
        )
    _check_elements(flat, starts, column)
    inner, steps, _ = _flat(flat)
    _check_elements(inner, starts[:0], column)
    values = _values_of(inner, column)

    def add_list(builder: Any, row: int) -> None:
        if not valid[row]:
            return
        builder.begin_list(name)
        for step in range(starts[row], starts[row + 1]):
            add(builder, None, values[steps[step] : steps[step + 1]])
        builder.end_list()

    return add_list


def _check_elements(flat: Any, starts: npt.NDArray[np.int64], column: Column) -> None:
    if not flat.null_count:
        return
    place = int(np.argmax(flat.is_null().to_numpy(zero_copy_only=False)))
    _fail_null(column, max(0, int(np.searchsorted(starts, place, side="right")) - 1))


def _zero_of(kind: Any) -> Any:
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return b""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ""
    return pa.scalar(0, pa.int8()).cast(kind)


def encoded(batch: Any, columns: Sequence[Column], record_type: str) -> Iterator[Any]:
    """The records of a batch."""
    if record_type == "ByteArray":
        if batch.column(0).null_count:
            raise ValueError(f"column {columns[0].name!r} contains null: a record must have bytes")
        yield from batch.column(0).to_pylist()
        return
    ordered = sorted(range(len(columns)), key=lambda i: columns[i].depth == 2)  # the context first
    adders = [_add_column(batch.column(i), columns[i]) for i in ordered]
    is_sequence = record_type == "SequenceExample"
    builder = _recmap.ExampleBuilder()
    for row in range(batch.num_rows):
        builder.begin(is_sequence)
        for add in adders:
            add(builder, row)
        yield builder.finish()
