"""Columns of pictures that keep their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.numbers import Int64s
from .._base.plural import counted
from .row_index import row_of

__all__ = ["ImageColumn"]


class ImageColumn(Sequence[Any]):
    """Pictures of any size: row i is an array [height, width, channels], a view of `values`.

    Attributes:
        values: the pixels of all rows, one after the other: an array of one dimension.
        offsets: int64 array with one more item than there are rows: where each row begins in
            `values`, and the end.
        shapes: int64 array [rows, 3], the height, width and channels of each row. A row that could
            not be read has zeros.
    """

    __slots__ = ("offsets", "shapes", "values")

    def __init__(self, values: npt.NDArray[Any], offsets: Int64s, shapes: Int64s) -> None:
        self.values: npt.NDArray[Any] = values
        self.offsets: Int64s = offsets
        self.shapes: Int64s = shapes

    @property
    def dtype(self) -> Any:
        """The dtype of the pixels."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = row_of(index, len(self))
        return self.values[self.offsets[row] : self.offsets[row + 1]].reshape(self.shapes[row])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """An array of objects, because the rows differ in shape."""
        rows = np.empty(len(self), object)
        rows[:] = [*self, None][:-1]
        return rows

    def tolist(self) -> list[npt.NDArray[Any]]:
        """The pictures as a list of arrays, which are views."""
        return list(self)

    def __repr__(self) -> str:
        return f"<recmap.ImageColumn of {counted(len(self), 'picture')} of {self.dtype}>"
