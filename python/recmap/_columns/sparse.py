"""Columns of values at coordinates."""

from __future__ import annotations

from typing import Any

from .._base.numbers import Int64s
from .._base.plural import counted
from .export import Exported, Source

__all__ = ["SparseColumn"]


class SparseColumn(Exported):
    """Values at coordinates.

    Attributes:
        values: array [n], or a BytesColumn.
        indices: int64 array [n, dimensions]: the row, then the coordinates in it; sorted.
        dense_shape: (rows, sizes...).
        offsets: int64 array with one more item than there are rows: row i has the values from
            ``offsets[i]`` to ``offsets[i + 1]``.
    """

    __slots__ = ("dense_shape", "indices", "offsets", "values")

    def __init__(
        self,
        values: Any,
        indices: Int64s,
        dense_shape: tuple[int, ...],
        offsets: Int64s,
        source: Source | None,
    ) -> None:
        self.values: Any = values
        self.indices: Int64s = indices
        self.dense_shape: tuple[int, ...] = dense_shape
        self.offsets: Int64s = offsets
        self._source = source

    def __len__(self) -> int:
        return self.dense_shape[0]

    def __repr__(self) -> str:
        kind = getattr(self.values, "dtype", "bytes")
        count = counted(len(self.values), "value")
        return f"<recmap.SparseColumn of shape {self.dense_shape}: {count} of {kind}>"
