"""All columns of a batch."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, KeysView, ValuesView
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._base.bfloat16 import viewed_as
from .._base.errors import Error, exception_of_status
from .._base.numbers import Int64s, UInt64s
from .._base.plural import counted
from .._display.text import class_name, joined, printable
from .bytes import BytesColumn, CopiedBytes
from .images import ImageColumn
from .ragged import RaggedColumn
from .record_batch import RecordBatch
from .sparse import SparseColumn
from .tensor import Part, Tensor

__all__ = [
    "Column",
    "ColumnBatch",
    "columns_of",
    "descriptions_of",
    "name_of_lengths",
    "sequence_columns_of",
]

Column: TypeAlias = "npt.NDArray[Any] | BytesColumn | RaggedColumn | SparseColumn | ImageColumn"
_SHOWN_COLUMNS = 20  # in a repr
_FIXED_LEN, _SPARSE, _SLICED, _IMAGE = 1, 5, 6, 7  # values of recmap_feature_kind


class _Description(NamedTuple):
    """A column as the extension describes it; see describe() in columns.c."""

    name: str
    kind: int
    element: str
    row_count: int
    shape: tuple[int, ...]
    values: Any
    bytes_offsets: Any
    offsets: list[Any]  # one array per level, from the outermost
    lengths: Any
    indices: Any
    dense_shape: tuple[int, ...]
    validity: Any
    picture_shapes: Any  # [rows, 3] of images without a size


class ColumnBatch:
    """The columns of a batch by name; reads like a dict, and like a table for Arrow.

    It is not a `Mapping`, so that pyarrow and polars use its Arrow form. ``dict(batch)`` gives a
    dict where one is needed, for example for JAX's trees.

    ``pyarrow.table(batch)``, ``polars.DataFrame(batch)`` and ``pyarrow.record_batch(batch)`` copy
    nothing that has the same layout in Arrow.

    Attributes:
        records: the RecordBatch that was parsed.
    """

    __slots__ = ("_columns", "_descriptions", "records")

    def __init__(
        self, records: RecordBatch, descriptions: dict[str, tuple[int, _Description]]
    ) -> None:
        self.records: RecordBatch = records
        self._descriptions = descriptions  # {name: (index in the batch, description)}
        self._columns: dict[str, Any] = {}  # the columns used so far

    @property
    def epoch(self) -> int:
        """See `RecordBatch.epoch`."""
        return self.records.epoch

    @property
    def step(self) -> int:
        """See `RecordBatch.step`."""
        return self.records.step

    @property
    def positions(self) -> UInt64s:
        """See `RecordBatch.positions`."""
        return self.records.positions

    def seeds(self, name: str = "") -> UInt64s:
        """See `RecordBatch.seeds`."""
        return self.records.seeds(name)

    def __getitem__(self, name: str) -> Any:
        column = self._columns.get(name)
        if column is None:
            if name not in self._descriptions:
                raise KeyError(f"no feature {name!r}: the batch has {', '.join(map(repr, self))}")
            index, description = self._descriptions[name]
            column = self._columns[name] = _column(self.records, index, description)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._descriptions)

    def __len__(self) -> int:
        return len(self._descriptions)

    def __contains__(self, name: object) -> bool:
        return name in self._descriptions

    def keys(self) -> KeysView[str]:
        """The names of the columns, in the order of the features."""
        return self._descriptions.keys()

    def values(self) -> ValuesView[Any]:
        """The columns."""
        return self._all().values()

    def items(self) -> ItemsView[str, Any]:
        """Names and columns."""
        return self._all().items()

    def _all(self) -> dict[str, Any]:
        return {name: self[name] for name in self}

    def get(self, name: str, default: Any = None) -> Any:
        """The column of that name, or `default`."""
        return self[name] if name in self._descriptions else default

    @property
    def lengths(self) -> dict[str, Int64s]:
        """{name: int64 array, the number of steps of each row} for padded sequences."""
        return {
            name: np.asarray(description.lengths)
            for name, (_, description) in self._descriptions.items()
            if description.lengths is not None
        }

    def tensor(self, name: str, what: Part = "values", level: int = 0) -> Tensor:
        """Memory of a column for ``from_dlpack``: ``torch.from_dlpack(batch.tensor("tokens"))``.

        Works for all element types, including bfloat16. `level` selects the offsets of one level of
        nesting; 0 is the outermost.
        """
        return Tensor((self.records, self._descriptions[name][0]), what, level)

    @property
    def numbers(self) -> Int64s:
        """The record number of each row in the whole data set: int64 array."""
        return self.records.numbers

    @property
    def row_count(self) -> int:
        """The number of rows in every column."""
        return len(self.records)

    def is_valid(self, name: str) -> npt.NDArray[np.bool_]:
        """A bool array: true for rows whose record has the feature, false for a default or null."""
        validity = self._descriptions[name][1].validity
        if validity is None:
            return np.ones(self.row_count, bool)
        return np.unpackbits(np.asarray(validity), bitorder="little")[: self.row_count].astype(bool)

    @property
    def failures(self) -> list[tuple[int, Error]]:
        """Rows that could not be read (``on_bad_record="collect"``), with their exceptions."""
        return [
            (row, exception_of_status(status, message, None, number, offset, "", 0))
            for row, number, offset, status, message in self.records._failures()
        ]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """Exports all columns as a struct array through the Arrow PyCapsule interface."""
        return self.records._arrow_array(-1)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Exports a stream of this one batch through the Arrow PyCapsule interface."""
        return self.records._arrow_stream()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "a ColumnBatch cannot be copied or pickled, because its columns are views of it: copy "
            "its columns, with np.array(column)"
        )

    def _repr_html_(self) -> str:
        from .column_table import column_table

        title = f"{class_name(self)} of {counted(self.row_count, 'row')}"
        numbers = self._numbers_shown()
        table = column_table(title, list(self), self.__getitem__, self.row_count, numbers)
        return table._repr_html_()

    def _numbers_shown(self) -> Int64s | None:
        """The record number of each row; None if the rows are not records."""
        return self.numbers

    def __repr__(self) -> str:
        columns = joined(map(self._describe_column, self), len(self), _SHOWN_COLUMNS)
        rows = counted(self.row_count, "row")
        return f"<{class_name(self)} of {rows}{': ' if columns else ''}{columns}>"

    def _describe_column(self, name: str) -> str:
        """The name and type of a column, with the shape of a row."""
        column = values = self[name]
        while isinstance(values, (RaggedColumn, SparseColumn)):
            values = values.values
        kind = str(getattr(values, "dtype", "bytes"))
        if isinstance(column, SparseColumn):
            kind = f"sparse {kind}"
        elif isinstance(column, RaggedColumn):
            kind = f"ragged {kind}"
        elif isinstance(column, ImageColumn):
            kind = f"pictures of {kind}"
        elif len(column.shape) > 1:
            kind += f" {list(column.shape[1:])}"
        return f"{printable(name)} ({kind})"


def _array(buffer: Any, element: str = "") -> npt.NDArray[Any]:
    return viewed_as(element, np.asarray(buffer))


def _column(batch: RecordBatch, index: int, description: _Description) -> Column:
    if description.picture_shapes is not None:
        pixels = _array(description.values, description.element)
        shapes = np.asarray(description.picture_shapes)
        return ImageColumn(pixels, np.asarray(description.offsets[0]), shapes)
    if description.kind in (_FIXED_LEN, _SLICED, _IMAGE) and description.element != "bytes":
        return _array(description.values, description.element)
    source = batch, index
    levels = [np.asarray(offsets) for offsets in description.offsets]
    values = _values(description, None if levels else source)
    if description.kind == _SPARSE:
        indices = np.asarray(description.indices).reshape(-1, len(description.dense_shape))
        return SparseColumn(values, indices, description.dense_shape, levels[0], source)
    column: Column = values
    for depth, offsets in enumerate(reversed(levels), 1):
        column = RaggedColumn(column, offsets, source if depth == len(levels) else None)
    return column


def _values(
    description: _Description, source: tuple[RecordBatch, int] | None
) -> npt.NDArray[Any] | BytesColumn:
    if description.element != "bytes":
        return _array(description.values, description.element)
    views = description.values
    if description.bytes_offsets is not None:
        views = CopiedBytes(np.asarray(views), np.asarray(description.bytes_offsets))
    return BytesColumn(views, description.shape, source)


def descriptions_of(
    batch: RecordBatch, first: int = 0, end: int | None = None
) -> dict[str, tuple[int, _Description]]:
    """The columns of a parsed batch as `ColumnBatch` takes them."""
    described = enumerate(_Description(*fields) for fields in batch._columns())
    chosen = islice(described, first, end)
    return {column.name: (index, column) for index, column in chosen}


def columns_of(batch: RecordBatch, first: int = 0, end: int | None = None) -> ColumnBatch:
    """The columns of a parsed batch: all of them, or those from `first` to `end`."""
    return ColumnBatch(batch, descriptions_of(batch, first, end))


def name_of_lengths(name: str, names: Collection[str]) -> str:
    """The name of the item that an adapter adds for the lengths of a padded sequence.

    Raises:
        ValueError: it is the name of a feature.
    """
    made = f"{name}/length"
    if made in names:
        raise ValueError(
            f"the lengths of the padded sequence {name!r} are the item {made!r}, but that is the "
            f'name of a feature too: give the feature another name, such as {{"count": '
            f"FixedLen(key={made!r})}}"
        )
    return made


def sequence_columns_of(batch: RecordBatch, context: int) -> tuple[ColumnBatch, ColumnBatch]:
    """The first `context` columns, and the columns of the feature lists."""
    return columns_of(batch, 0, context), columns_of(batch, context)
