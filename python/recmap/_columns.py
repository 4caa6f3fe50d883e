"""Columns: what features make of a batch of records.

Numbers are NumPy arrays over the library's memory, bytes are views into the mapped shards: nothing is
copied. Columns are made when they are asked for, and keep the batch that they are of.
"""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterator, KeysView, Sequence, ValuesView
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from ._errors import Error, OutOfRangeError, exception_of_status
from ._numbers import Int64s

if TYPE_CHECKING:
    from . import _recmap
    from ._dataset import RecordBatch

__all__ = ["BytesColumn", "ColumnBatch", "RaggedColumn", "SparseColumn"]

Column: TypeAlias = "npt.NDArray[Any] | BytesColumn | RaggedColumn | SparseColumn"
_FIXED_LEN, _SPARSE = 1, 5  # recmap_feature_kind


class _Exported:
    """A column that Arrow takes: by pyarrow.array(column), polars.Series(column), ..."""

    __slots__ = ("_place",)
    _place: tuple[RecordBatch, int] | None

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """The whole column by the Arrow PyCapsule interface, without a copy."""
        if self._place is None:
            raise TypeError("a part of a column is not exported: export the column and slice it")
        batch, index = self._place
        return batch._arrow_array(index)


class BytesColumn(_Exported, Sequence[Any]):
    """Values of bytes: a sequence of read-only memoryviews into the records.

    ``shape`` is (rows,), or (rows, ...) where a record has several values: an item is then a
    BytesColumn of its values.
    """

    __slots__ = ("_views", "shape")
    _views: _recmap.Views | _Copied

    def __init__(
        self,
        views: _recmap.Views | _Copied,
        shape: tuple[int, ...],
        place: tuple[RecordBatch, int] | None = None,
    ) -> None:
        self._views = views
        self.shape = shape
        self._place = place

    def __len__(self) -> int:
        return self.shape[0]

    def _size(self) -> int:
        size = 1
        for dimension in self.shape[1:]:
            size *= dimension
        return size

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> BytesColumn: ...
    def __getitem__(self, index: Any) -> Any:
        size = self._size()
        if isinstance(index, slice):
            first, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError("slices of bytes have step 1; to_numpy() takes any")
            rows = max(stop - first, 0)
            return BytesColumn(self._views.part(first * size, rows * size), (rows, *self.shape[1:]))
        row = operator.index(index)
        if not -len(self) <= row < len(self):
            raise OutOfRangeError(f"row {row} of {len(self)}")
        row %= len(self)
        if len(self.shape) == 1:
            return self._views[row]
        return BytesColumn(self._views.part(row * size, size), self.shape[1:])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """An array of objects, bytes, of the column's shape: copies."""
        values = np.empty(len(self._views), object)
        values[:] = self._views.tolist()
        return values.reshape(self.shape)

    def tolist(self) -> list[Any]:
        """Lists of bytes, nested as the shape is: copies."""
        values: list[Any] = self.to_numpy().tolist()
        return values

    @property
    def copied(self) -> tuple[npt.NDArray[np.uint8], Int64s] | None:
        """Where ``copy=True`` was asked for: one buffer of all bytes, and one more offset than
        values, which cut it; else None."""
        views = self._views
        return (views.data, views.offsets) if isinstance(views, _Copied) else None

    def __repr__(self) -> str:
        return f"<recmap.BytesColumn of shape {self.shape}>"


class _Copied:
    """Values of bytes in one buffer."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: npt.NDArray[np.uint8], offsets: Int64s) -> None:
        self.data = data
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> memoryview:
        first, end = self.offsets[index], self.offsets[index + 1]
        return self.data[first:end].data.toreadonly()

    def part(self, first: int, count: int) -> _Copied:
        return _Copied(self.data, self.offsets[first : first + count + 1])

    def tolist(self) -> list[bytes]:
        return [bytes(self[i]) for i in range(len(self))]


class RaggedColumn(_Exported, Sequence[Any]):
    """Rows of any length: row i is ``values[offsets[i]:offsets[i + 1]]``.

    Attributes:
        values: of all rows, one behind the other: an array, a BytesColumn, or a RaggedColumn where
            rows are nested.
        offsets: array of int64, one more than rows, from 0 on: Arrow's layout.
    """

    __slots__ = ("offsets", "values")

    def __init__(
        self, values: Any, offsets: Int64s, place: tuple[RecordBatch, int] | None = None
    ) -> None:
        self.values = values
        self.offsets = offsets
        self._place = place

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = operator.index(index)
        if not -len(self) <= row < len(self):
            raise OutOfRangeError(f"row {row} of {len(self)}")
        row %= len(self)
        first, end = int(self.offsets[row]), int(self.offsets[row + 1])
        if isinstance(self.values, RaggedColumn):
            return RaggedColumn(self.values.values, self.values.offsets[first : end + 1])
        return self.values[first:end]

    @property
    def lengths(self) -> Int64s:
        """The length of each row: array of int64."""
        return np.diff(self.offsets)

    def tolist(self) -> list[Any]:
        """Nested lists: copies."""
        return [row.tolist() for row in self]

    def __repr__(self) -> str:
        return f"<recmap.RaggedColumn of {len(self)} rows>"


class SparseColumn(_Exported):
    """Values at coordinates.

    Attributes:
        values: array [n], or a BytesColumn.
        indices: array of int64 [n, dimensions]: the row, then the coordinates in it; sorted.
        dense_shape: (rows, sizes...).
        offsets: array of int64, one more than rows: where each row's values begin.
    """

    __slots__ = ("dense_shape", "indices", "offsets", "values")

    def __init__(
        self,
        values: Any,
        indices: Int64s,
        dense_shape: tuple[int, ...],
        offsets: Int64s,
        place: tuple[RecordBatch, int] | None,
    ) -> None:
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape
        self.offsets = offsets
        self._place = place

    def __len__(self) -> int:
        return self.dense_shape[0]

    def __repr__(self) -> str:
        return f"<recmap.SparseColumn of shape {self.dense_shape}, {len(self.values)} values>"


class Tensor:
    """Memory of a column for any framework's ``from_dlpack``; shared, not copied.

    It keeps the column's memory, and needs neither the batch nor the data set.
    """

    __slots__ = ("_place", "_what")

    def __init__(self, batch: RecordBatch, index: int, what: int, level: int) -> None:
        self._place = batch, index
        self._what = what, level

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != (1, 0)):
            raise BufferError("the tensor is on the CPU, and is shared, not copied")
        batch, index = self._place
        versioned = max_version is not None and max_version[0] >= 1
        return batch._dlpack(index, *self._what, versioned)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


_TENSORS = {"values": 1, "offsets": 2, "lengths": 3, "indices": 4, "bytes_offsets": 5}


class ColumnBatch:
    """The columns of a batch by name: as a dict is read, and as a table for Arrow.

    It is no `Mapping`, so that pyarrow and polars ask it for its Arrow form; ``dict(batch)`` is a
    dict, for those who ask for one, such as JAX's trees.

    ``pyarrow.table(batch)``, ``polars.DataFrame(batch)`` and ``pyarrow.record_batch(batch)`` copy
    nothing that Arrow has in the same layout.

    Attributes:
        records: the RecordBatch that was parsed.
    """

    __slots__ = ("_columns", "_parts", "records")

    def __init__(self, records: RecordBatch, parts: dict[str, tuple[int, tuple[Any, ...]]]) -> None:
        self.records = records
        self._parts = parts  # {name: (index, what the extension says of the column)}
        self._columns: dict[str, Any] = {}  # those that were asked for

    def __getitem__(self, name: str) -> Any:
        column = self._columns.get(name)
        if column is None:
            index, parts = self._parts[name]
            column = self._columns[name] = _column(self.records, index, parts)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def keys(self) -> KeysView[str]:
        """The columns' names, in the order of the features."""
        return self._parts.keys()

    def values(self) -> ValuesView[Any]:
        """The columns."""
        return self._all().values()

    def items(self) -> ItemsView[str, Any]:
        """Names and columns."""
        return self._all().items()

    def _all(self) -> dict[str, Any]:
        return {name: self[name] for name in self._parts}

    def get(self, name: str, default: Any = None) -> Any:
        """The column of that name, or `default`."""
        return self[name] if name in self._parts else default

    @property
    def lengths(self) -> dict[str, Int64s]:
        """{name: array of int64, the steps of each row}, of padded sequences."""
        return {
            name: np.asarray(parts[8])
            for name, (_, parts) in self._parts.items()
            if parts[8] is not None
        }

    def tensor(
        self,
        name: str,
        what: Literal["values", "offsets", "lengths", "indices", "bytes_offsets"] = "values",
        level: int = 0,
    ) -> Tensor:
        """Memory of a column for ``from_dlpack``: ``torch.from_dlpack(batch.tensor("tokens"))``.

        For all elements, bfloat16 too. `level` is that of offsets, from the outermost.
        """
        return Tensor(self.records, self._parts[name][0], _TENSORS[what], level)

    @property
    def numbers(self) -> Int64s:
        """The records' numbers in the data set: array of int64, one a row."""
        return self.records.numbers

    @property
    def row_count(self) -> int:
        """Rows of every column."""
        return len(self.records)

    def is_valid(self, name: str) -> npt.NDArray[np.bool_]:
        """Of each row whether it has a value of its own: array of bool."""
        _, parts = self._parts[name]
        if parts[11] is None:
            return np.ones(self.row_count, bool)
        return _bits(parts[11], self.row_count)

    @property
    def failures(self) -> list[tuple[int, Error]]:
        """Rows that could not be read (``on_error="collect"``), with their exceptions."""
        return [
            (row, exception_of_status(status, message, None, number, offset, "", 0))
            for row, number, offset, status, message in self.records._failures()
        ]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """All columns as a struct array, by the Arrow PyCapsule interface."""
        return self.records._arrow_array(-1)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A stream of this one batch, by the Arrow PyCapsule interface."""
        return self.records._arrow_stream()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("columns are views of their batch; pickle copies of them: np.array(column)")

    def __repr__(self) -> str:
        return f"<recmap.ColumnBatch {self._all()!r}>"


def _array(buffer: Any, element: str = "") -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = np.asarray(buffer)
    if element == "bfloat16":
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            return array  # the bits
        return array.view(bfloat16)
    return array


def _bits(buffer: Any, count: int) -> npt.NDArray[np.bool_]:
    return np.unpackbits(np.asarray(buffer), bitorder="little")[:count].astype(bool)


def _column(batch: RecordBatch, index: int, parts: tuple[Any, ...]) -> Any:
    """The column that parts make (columns.c says which parts there are)."""
    _, kind, element, _, shape, values, cuts, offsets, _, indices, dense_shape, _ = parts
    if kind == _FIXED_LEN and element != "bytes":
        return _array(values, element)
    place = batch, index
    levels = [np.asarray(level) for level in offsets]
    column: Any
    if element == "bytes":
        views = values if cuts is None else _Copied(np.asarray(values), np.asarray(cuts))
        column = BytesColumn(views, shape, None if levels else place)
    else:
        column = _array(values, element)
    if kind == _SPARSE:
        at = np.asarray(indices).reshape(-1, len(dense_shape))
        return SparseColumn(column, at, dense_shape, levels[0], place)
    for level in reversed(levels):
        column = RaggedColumn(column, level)
    if levels:
        column._place = place
    return column


def columns_of(batch: RecordBatch, first: int = 0, end: int | None = None) -> ColumnBatch:
    """The columns of a parsed batch: all, or those from `first` to `end`."""
    described = enumerate(batch._columns())
    chosen = islice(described, first, end)
    return ColumnBatch(batch, {parts[0]: (index, parts) for index, parts in chosen})


def sequence_columns_of(batch: RecordBatch, context: int) -> tuple[ColumnBatch, ColumnBatch]:
    """The columns of the context, which are the first so many, and of the feature lists."""
    return columns_of(batch, 0, context), columns_of(batch, context)
