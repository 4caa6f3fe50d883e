"""The columns of a batch of rows, and what models need to know of the rows."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._base.numbers import Int64s
from .._recmap import Order as _Order
from .batch import ColumnBatch, _Description, descriptions_of
from .record_batch import RecordBatch

__all__ = ["Positions", "RowBatch", "RowForm", "rows_of_batch", "sequence_rows_of_batch"]

Positions: TypeAlias = Literal["piece", "document"]

_SEGMENTS, _MASK = 0, 3  # values of enum layout in batch_rows.c
_POSITIONS = {"piece": 1, "document": 2}
_LAYOUT_NAMES = "segment_ids", "positions", "mask"
_WINDOW_NAMES = ("mask",)


class RowForm(NamedTuple):
    """What batches of rows of an order have besides their features."""

    positions: Positions
    names: tuple[str, ...]

    @classmethod
    def of(cls, order: _Order, positions: Positions = "piece") -> RowForm:
        """The form of the rows of an order: a window has one piece, so a mask says all."""
        if positions not in ("piece", "document"):
            raise ValueError(f'positions must be "piece" or "document", not {positions!r}')
        return cls(positions, _WINDOW_NAMES if order.has_windows() else _LAYOUT_NAMES)


class RowBatch(ColumnBatch):
    """The columns of a batch of rows, from a loader with `Chunked`, `Packed` or `Windows`.

    Besides the features, ``batch[...]`` has these arrays, each [rows, width] and computed on first
    use; a feature of the same name hides it:

    - "segment_ids": int32, 1 for the elements of a row's first piece, 2 for the second; 0 for
      padding. Attention within a document is attention between equal segment ids.
    - "positions": int32, from 0 in each piece, or the element's place in its document (the loader's
      `positions`); 0 for padding.
    - "mask": bool, False for padding.

    ``pyarrow.table(batch)`` has the features only; `recmap.arrow.table` has these arrays as well.

    Attributes:
        records: a RecordBatch: the records that the rows are cut from, each once. Of a record of
            128 KiB or more, often only the bytes of the rows are read (from compressed and remote
            shards, and with ``access="read"`` or ``"direct"``). Its number and size are there, but
            its item raises ValueError: read it with ``ds.gather``.
        layout_names: the names of the arrays in `layout`.
        row_width: the number of elements of each row.
        has_windows: each row has one piece, because `Windows` made it.
    """

    __slots__ = ("_positions", "has_windows", "layout_names", "row_width")

    def __init__(
        self,
        records: RecordBatch,
        descriptions: dict[str, tuple[int, _Description]],
        form: RowForm,
    ) -> None:
        super().__init__(records, descriptions)
        self._positions = form.positions
        self.layout_names: tuple[str, ...] = form.names
        self.row_width: int = records._row_width()
        self.has_windows: bool = form.names == _WINDOW_NAMES

    def __getitem__(self, name: str) -> Any:
        if name in self._descriptions:
            return super().__getitem__(name)
        array = self._columns.get(name)
        if array is None:
            array = self._columns[name] = self._layout_of(name)
        return array

    def _layout_of(self, name: str) -> npt.NDArray[Any]:
        if name == "segment_ids":
            return self._layout(_SEGMENTS, np.int32)
        if name == "positions":
            return self._layout(_POSITIONS[self._positions], np.int32)
        if name == "mask":
            return self._layout(_MASK, np.bool_)
        known = ", ".join(map(repr, (*self, *_LAYOUT_NAMES)))
        raise KeyError(f"no feature {name!r}: the batch has {known}")

    def get(self, name: str, default: Any = None) -> Any:
        """The feature or array of that name, or `default`."""
        is_known = name in self._descriptions or name in _LAYOUT_NAMES
        return self[name] if is_known else default

    def _layout(self, kind: int, dtype: Any) -> npt.NDArray[Any]:
        array = np.empty((self.row_count, self.row_width), dtype)
        self.records._read_layout(array, kind, self.row_width)
        return array

    @property
    def layout(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays that frameworks get with the features: "mask" alone for windows, else all."""
        return {name: self[name] for name in self.layout_names if name not in self._descriptions}

    @property
    def pieces(self) -> tuple[Int64s, Int64s]:
        """What the rows are cut from: as ``order.pieces(epoch, positions)``."""
        items, ends = self.records._pieces()
        splits = np.zeros(len(ends) // 8 + 1, np.int64)
        splits[1:] = np.frombuffer(ends, np.int64)
        return np.frombuffer(items, np.int64).reshape(-1, 5)[:, :4], splits

    def sequences(self, width: int | None = None) -> tuple[npt.NDArray[np.int32], int]:
        """Offsets of sequences that attend only to themselves, and the length of the longest.

        For attention over sequences of various lengths, which sees the first `width` elements of
        all rows as one array: ``tokens[:, :width].reshape(-1)``. Sequence i is
        ``[offsets[i], offsets[i + 1])`` of it: a piece, or the padding of a row. With
        ``overlap=1``, use ``width=batch.row_width - 1`` for the inputs.
        """
        given = self.row_width if width is None else width
        offsets, longest = self.records._sequences(given)
        return np.frombuffer(offsets, np.int32), longest

    @property
    def cu_seqlens(self) -> npt.NDArray[np.int32]:
        """The offsets of `sequences` for whole rows."""
        return self.sequences()[0]

    @property
    def max_seqlen(self) -> int:
        """The length of the longest of the `sequences` of whole rows."""
        return self.sequences()[1]

    @property
    def numbers(self) -> Int64s:
        """The record number of each row's first piece: int64 array."""
        items, splits = self.pieces
        numbers: Int64s = items[splits[:-1], 0]
        return numbers

    def _numbers_shown(self) -> None:
        return None

    @property
    def row_count(self) -> int:
        """The number of rows in every column."""
        return len(self.records._pieces()[1]) // 8


def rows_of_batch(
    batch: RecordBatch, form: RowForm, first: int = 0, end: int | None = None
) -> RowBatch:
    """The columns of a batch of rows: all of them, or those from `first` to `end`."""
    return RowBatch(batch, descriptions_of(batch, first, end), form)


def sequence_rows_of_batch(
    batch: RecordBatch, form: RowForm, context: int
) -> tuple[RowBatch, RowBatch]:
    """The first `context` columns, and the columns of the feature lists."""
    return rows_of_batch(batch, form, 0, context), rows_of_batch(batch, form, context)
