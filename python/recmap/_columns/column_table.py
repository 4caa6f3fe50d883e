"""A table of the first rows of the columns of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.numbers import Int64s
from .._base.plural import counted
from .._display.tables import Cell, Table, cell_of
from .sparse import SparseColumn

__all__ = ["column_table"]

_ROWS, _COLUMNS = 20, 12


def column_table(
    title: str,
    names: list[str],
    column_of: Callable[[str], Any],
    row_count: int,
    numbers: Int64s | None,
) -> Table:
    """`numbers`: the record number of each row; None if the rows are not records."""
    columns = {name: column_of(name) for name in names[:_COLUMNS]}
    count = min(_ROWS, row_count)
    cells = {
        name: [_cell_at(column, row) for row in range(count)] for name, column in columns.items()
    }
    if numbers is not None and "number" not in cells:
        cells = {"number": [Cell(str(number)) for number in numbers[:count]], **cells}
    note = [counted(row_count - count, "more row")] if count < row_count else []
    if len(names) > len(columns):
        note.append(counted(len(names) - len(columns), "more column"))
    return Table(title, list(cells), list(zip(*cells.values(), strict=True)), ", ".join(note))


def _cell_at(column: Any, row: int) -> Cell:
    if isinstance(column, SparseColumn):
        return cell_of(column.values[int(column.offsets[row]) : int(column.offsets[row + 1])])
    return cell_of(column[row])
