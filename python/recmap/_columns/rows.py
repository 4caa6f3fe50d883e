"""Columns row by row, or in a form that can be pickled, for frameworks of Python objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .batch import ColumnBatch
from .bytes import BytesColumn
from .images import ImageColumn
from .ragged import RaggedColumn
from .sparse import SparseColumn

__all__ = ["plain", "rows_of"]


def rows_of(columns: ColumnBatch) -> list[dict[str, Any]]:
    """A dict for each row: {name: value}. A row does not depend on the others in its batch.

    Numbers are NumPy scalars and arrays over the batch's memory; bytes are copies. Rows of padded
    sequences are cut to their own length. Nested rows are lists. Values at coordinates are
    (indices [n, dimensions], values [n]).
    """
    lengths = columns.lengths
    values = [_values(columns[name], lengths.get(name)) for name in columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _values(column: Any, lengths: Any) -> Iterator[Any]:
    if lengths is not None:
        array = plain(column)
        return (row[:length] for row, length in zip(array, lengths, strict=True))
    if isinstance(column, SparseColumn):
        return _coordinates(column)
    if isinstance(column, RaggedColumn):
        ragged = RaggedColumn(plain(column.values), column.offsets)
        return (_nested(row) for row in ragged)
    return iter(plain(column))


def _nested(row: Any) -> Any:
    return [_nested(part) for part in row] if isinstance(row, RaggedColumn) else row


def _coordinates(column: SparseColumn) -> Iterator[Any]:
    values, coordinates = plain(column.values), column.indices[:, 1:]
    for first, end in zip(column.offsets[:-1], column.offsets[1:], strict=True):
        yield coordinates[first:end], values[first:end]


def plain(column: Any) -> Any:
    """The column without views into shards: bytes become object arrays, others stay as they are."""
    if isinstance(column, BytesColumn):
        return column.to_numpy()
    if isinstance(column, RaggedColumn):
        return RaggedColumn(plain(column.values), column.offsets)
    if isinstance(column, SparseColumn):
        values = plain(column.values)
        return SparseColumn(values, column.indices, column.dense_shape, column.offsets, None)
    if isinstance(column, ImageColumn):
        return column
    return np.asarray(column)
