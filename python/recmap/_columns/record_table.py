"""A table of the records of a data set or of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._base.errors import CorruptRecordError, Error, FeatureError
from .._base.plural import counted
from .._display.tables import Cell, Table, cell_of
from .._display.text import printable, size_text
from .._example.decode import decoded_features

__all__ = ["record_table"]

_DECODED_SIZE = 1 << 26  # bytes of a record whose features are shown
_COLUMNS = 12


def record_table(
    title: str,
    numbers: Iterable[int],
    read: Callable[[int], memoryview],
    total: int,
    parse: Callable[[int], Any] | None = None,
) -> Table:
    """Records with their features; `read` gives item i, and `numbers` are their record numbers.
    `parse` gives a batch of item i, whose columns are shown instead.

    A record that cannot be read has its error in place of its values.
    """
    rows = [(number, *_values_of(read, item, parse)) for item, number in enumerate(numbers)]
    names = list(dict.fromkeys(name for _, _, values in rows for name in values))
    note = [counted(total - len(rows), "more record")] if len(rows) < total else []
    if len(names) > _COLUMNS:
        note.append(counted(len(names) - _COLUMNS, "more feature"))
    shown = names[:_COLUMNS]
    cells = [
        [Cell(str(number)), Cell(size), *(values.get(name, Cell("")) for name in shown)]
        for number, size, values in rows
    ]
    return Table(title, ["number", "size", *shown], cells, ", ".join(note))


def _values_of(
    read: Callable[[int], memoryview], item: int, parse: Callable[[int], Any] | None
) -> tuple[str, dict[str, Cell]]:
    """The size of a record and the cells of its features by name."""
    try:
        record = read(item)
    except (Error, OSError, ValueError) as error:
        return "", {"error": Cell(printable(str(error), 200))}
    size = size_text(len(record))
    if parse is not None:
        return size, _columns_of(parse, item)
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


def _columns_of(parse: Callable[[int], Any], item: int) -> dict[str, Cell]:
    try:
        batch = parse(item)
    except (CorruptRecordError, FeatureError) as error:
        return {"error": Cell(printable(error.message, 200))}
    return {name: cell_of(batch[name][0]) for name in batch}
