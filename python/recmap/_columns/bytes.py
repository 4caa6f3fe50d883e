"""Columns of bytes values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from .._base.numbers import Int64s
from .._display.text import bytes_text, joined
from .export import Exported, Source
from .row_index import row_of

if TYPE_CHECKING:
    from .. import _recmap

__all__ = ["BytesColumn", "CopiedBytes"]


class CopiedBytes:
    """Bytes values in one buffer: value i is ``data[offsets[i]:offsets[i + 1]]``."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: npt.NDArray[np.uint8], offsets: Int64s) -> None:
        self.data: npt.NDArray[np.uint8] = data
        self.offsets: Int64s = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> memoryview:
        first, end = self.offsets[index], self.offsets[index + 1]
        return self.data[first:end].data.toreadonly()

    def part(self, first: int, count: int) -> CopiedBytes:
        return CopiedBytes(self.data, self.offsets[first : first + count + 1])

    def tolist(self) -> list[bytes]:
        return [bytes(self[i]) for i in range(len(self))]


class BytesColumn(Exported, Sequence[Any]):
    """Bytes values: a sequence of read-only memoryviews into the records.

    ``shape`` is (rows,), or (rows, ...) if a record has several values. An item is then a
    BytesColumn of that record's values.
    """

    __slots__ = ("_views", "shape")
    _views: _recmap.Views | CopiedBytes

    def __init__(
        self,
        views: _recmap.Views | CopiedBytes,
        shape: tuple[int, ...],
        source: Source | None = None,
    ) -> None:
        self._views = views
        self.shape: tuple[int, ...] = shape
        self._source = source

    def __len__(self) -> int:
        return self.shape[0]

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> BytesColumn: ...
    def __getitem__(self, index: Any) -> Any:
        size = math.prod(self.shape[1:])
        if isinstance(index, slice):
            first, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError(
                    "a BytesColumn can only be sliced with step 1; to_numpy() accepts any step"
                )
            rows = max(stop - first, 0)
            return BytesColumn(self._views.part(first * size, rows * size), (rows, *self.shape[1:]))
        row = row_of(index, len(self))
        if len(self.shape) == 1:
            return self._views[row]
        return BytesColumn(self._views.part(row * size, size), self.shape[1:])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """Returns an object array of bytes, in the column's shape. Copies the bytes."""
        values = np.empty(len(self._views), object)
        values[:] = self._views.tolist()
        return values.reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("an array of bytes objects cannot be created without a copy")
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype)

    def tolist(self) -> list[Any]:
        """Returns lists of bytes, nested as the shape is. Copies the bytes."""
        values: list[Any] = self.to_numpy().tolist()
        return values

    @property
    def copied(self) -> tuple[npt.NDArray[np.uint8], Int64s] | None:
        """(data, offsets) of a feature with ``copy=True``, else None.

        All bytes are in one buffer: value i is ``data[offsets[i]:offsets[i + 1]]``.
        """
        views = self._views
        return (views.data, views.offsets) if isinstance(views, CopiedBytes) else None

    def __repr__(self) -> str:
        count = len(self._views)
        values = joined((bytes_text(self._views[i], 24) for i in range(count)), count, 3)
        return f"<recmap.BytesColumn of shape {self.shape}{': ' if count else ''}{values}>"
