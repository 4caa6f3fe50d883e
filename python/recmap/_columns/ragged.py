"""Columns whose rows differ in length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.numbers import Int64s
from .._base.plural import counted
from .export import Exported, Source
from .row_index import row_of

__all__ = ["RaggedColumn"]


class RaggedColumn(Exported, Sequence[Any]):
    """Rows of any length: row i is ``values[offsets[i]:offsets[i + 1]]``.

    Attributes:
        values: the values of all rows, concatenated: an array, a BytesColumn, or a RaggedColumn if
            the rows are nested.
        offsets: int64 array with one more item than there are rows, starting at 0, as in Arrow.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: Any, offsets: Int64s, source: Source | None = None) -> None:
        self.values: Any = values
        self.offsets: Int64s = offsets
        self._source = source

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = row_of(index, len(self))
        first, end = int(self.offsets[row]), int(self.offsets[row + 1])
        if isinstance(self.values, RaggedColumn):
            return RaggedColumn(self.values.values, self.values.offsets[first : end + 1])
        return self.values[first:end]

    @property
    def lengths(self) -> Int64s:
        """The length of each row: int64 array."""
        return np.diff(self.offsets)

    def tolist(self) -> list[Any]:
        """Returns nested lists. Copies the values."""
        return [row.tolist() for row in self]

    def __repr__(self) -> str:
        return f"<recmap.RaggedColumn of {counted(len(self), 'row')}: {self._describe_values()}>"

    def _describe_values(self) -> str:
        """How many values of which type, in how many rows if they are nested."""
        count = int(self.offsets[-1] - self.offsets[0]) if len(self.offsets) else 0
        if isinstance(self.values, RaggedColumn):
            # A row of nested rows refers to a part of the values of all.
            inner = self.values.offsets[int(self.offsets[0]) : int(self.offsets[-1]) + 1]
            part = RaggedColumn(self.values.values, inner)
            return f"{counted(count, 'inner row')}, {part._describe_values()}"
        return f"{counted(count, 'value')} of {getattr(self.values, 'dtype', 'bytes')}"
