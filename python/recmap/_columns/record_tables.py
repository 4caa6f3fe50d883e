"""Tables of the records of a data set or of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._base.errors import CorruptRecordError, Error
from .._base.plural import counted
from .._display.tables import Cell, Table, cell_of
from .._display.text import class_name, printable, size_text
from .._example.decode import decoded_features
from . import ColumnBatch, RowBatch, SparseColumn

if TYPE_CHECKING:
    from .record_batch import RecordBatch

__all__ = ["batch_table", "column_table", "record_table"]

_DECODED_SIZE = 1 << 26  # bytes of a record whose features are shown
_COLUMNS = 12


def record_table(
    title: str, numbers: Iterable[int], read: Callable[[int], memoryview], total: int
) -> Table:
    """Records with their features; `read` gives item i, and `numbers` are their record numbers.

    A record that cannot be read has its error in place of its values.
    """
    rows = [(number, *_values_of(read, item)) for item, number in enumerate(numbers)]
    names = list(dict.fromkeys(name for _, _, values in rows for name in values))
    note = [f"{total - len(rows)} more records"] if len(rows) < total else []
    if len(names) > _COLUMNS:
        note.append(f"{len(names) - _COLUMNS} more features")
    shown = names[:_COLUMNS]
    cells = [
        [Cell(str(number)), Cell(size), *(values.get(name, Cell("")) for name in shown)]
        for number, size, values in rows
    ]
    return Table(title, ["number", "size", *shown], cells, ", ".join(note))


def _values_of(read: Callable[[int], memoryview], item: int) -> tuple[str, dict[str, Cell]]:
    """The size of a record and the cells of its features by name."""
    try:
        record = read(item)
    except (Error, OSError, ValueError) as error:
        return "", {"error": Cell(printable(str(error), 200))}
    size = size_text(len(record))
    if len(record) > _DECODED_SIZE:
        return size, {"record": cell_of(record)}
    try:
        context, lists = decoded_features(record)
    except CorruptRecordError:  # not a tf.Example
        return size, {"record": cell_of(record)}
    cells = {name: cell_of(value) for name, value in context.items()}
    for name, steps in (lists or {}).items():  # a feature of the context may have the same name
        cells[f"{name} (list)" if name in cells else name] = Cell(f"{counted(len(steps), 'step')}")
    return size, cells


def column_table(batch: ColumnBatch, limit: int) -> Table:
    """The first rows of the columns of a batch."""
    count = min(limit, batch.row_count)
    names = list(batch)[:_COLUMNS]
    columns = {name: [_cell_at(batch[name], row) for row in range(count)] for name in names}
    if not isinstance(batch, RowBatch):  # whose rows are not records
        numbers = [Cell(str(number)) for number in batch.numbers[:count]]
        columns = {"number": numbers, **columns} if "number" not in columns else columns
    note = [f"{batch.row_count - count} more rows"] if count < batch.row_count else []
    if len(batch) > len(names):
        note.append(f"{len(batch) - len(names)} more columns")
    title = f"{class_name(batch)} of {counted(batch.row_count, 'row')}"
    return Table(title, list(columns), list(zip(*columns.values(), strict=True)), ", ".join(note))


def _cell_at(column: Any, row: int) -> Cell:
    if isinstance(column, SparseColumn):
        return cell_of(column.values[int(column.offsets[row]) : int(column.offsets[row + 1])])
    return cell_of(column[row])


def batch_table(batch: RecordBatch, limit: int) -> Table:
    """The first records of a batch."""
    title = f"{class_name(batch)} of {counted(len(batch), 'record')}, {size_text(batch.nbytes)}"
    numbers = batch.numbers[:limit].tolist()
    return record_table(title, numbers, batch.__getitem__, len(batch))
