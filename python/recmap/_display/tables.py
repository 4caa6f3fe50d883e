"""Tables of records and of facts, as plain text for terminals and as HTML for notebooks.

Everything in them that comes from records is escaped and cut, so a table is small and stays text
whatever the records contain.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._base.errors import Error
from .pictures import Picture, picture_of, url_of
from .text import bytes_text, printable, size_text

__all__ = ["Cell", "Table", "cell_of", "facts_html", "show_table"]

_TEXT_WIDTH = 30  # characters of a cell in a terminal
_LISTED = 3  # values of a list
_PICTURES_SIZE = 1 << 20  # bytes of all pictures of a table
_LEFT = ' style="text-align:left"'
_PICTURE_STYLE = "max-width:12em;max-height:8em;image-rendering:auto"


class Cell(NamedTuple):
    """What a table shows of one value."""

    text: str
    picture: Picture | None = None


class Table:
    """Rows of cells. Prints as plain text; notebooks display its HTML."""

    def __init__(
        self, title: str, names: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = ""
    ) -> None:
        self._title, self._note = title, note
        self._names = [printable(name) for name in names]
        self._rows = rows

    def __repr__(self) -> str:
        lines = [self._names, *([cell.text for cell in row] for row in self._rows)]
        cut = [[printable(text, _TEXT_WIDTH) for text in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
        body = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cut]
        return "\n".join([self._title, *body, *([self._note] if self._note else [])])

    def _repr_html_(self) -> str:
        names = "".join(f"<th{_LEFT}>{html.escape(name)}</th>" for name in self._names)
        room, rows = _Room(_PICTURES_SIZE), []
        for row in self._rows:
            rows.append(f"<tr>{''.join(_cell_html(cell, room) for cell in row)}</tr>")
        return (
            f"<div><b>{html.escape(self._title)}</b>"
            f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            f"{html.escape(self._note)}</div>"
        )


class _Room:
    """How many bytes of pictures a table may still have."""

    def __init__(self, size: int) -> None:
        self._left = size

    def url_of(self, picture: Picture) -> str | None:
        """The picture as a URL, or None if the bytes are used up or it cannot be decoded."""
        if self._left <= 0:
            return None
        try:
            format_, data = picture.file()
        except Error:
            return None
        self._left -= len(data)
        return url_of(format_, data) if self._left >= 0 else None


def _cell_html(cell: Cell, room: _Room) -> str:
    text = html.escape(cell.text)
    url = None if cell.picture is None else room.url_of(cell.picture)
    if url is None:
        return f"<td{_LEFT}>{text}</td>"
    return f'<td{_LEFT}><img src="{url}" alt="{text}" title="{text}" style="{_PICTURE_STYLE}"></td>'


def cell_of(value: Any) -> Cell:
    """What a table shows of a value of a feature: bytes, a number, an array, or a list of values.

    Columns are sequences of values.
    """
    if value is None:
        return Cell("")
    if isinstance(value, (bytes, memoryview)):
        return _bytes_cell(value)
    if isinstance(value, np.ndarray):
        return Cell(_array_text(value))
    if isinstance(value, (np.generic, int, float)):
        return Cell(_number_text(value))
    if len(value) == 1:
        return cell_of(value[0])
    texts = [cell_of(value[i]).text for i in range(min(len(value), _LISTED))]
    return Cell(_listed(texts, len(value)))


def _bytes_cell(value: bytes | memoryview) -> Cell:
    picture = picture_of(value)
    if picture is None:
        return Cell(bytes_text(value))
    size = f"{picture.width}x{picture.height}, {size_text(len(value))}"
    return Cell(f"{picture.format.upper()} {size}", picture)


def _array_text(array: np.ndarray[Any, Any]) -> str:
    if array.dtype == object or array.ndim == 0:
        return cell_of(array.tolist()).text
    if array.size == 1:
        return _number_text(array.reshape(-1)[0])
    texts = [_number_text(number) for number in array.reshape(-1)[:_LISTED]]
    nan_count = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0
    return _listed(texts, array.size, f" ({nan_count} NaN)" if nan_count else "")


def _number_text(number: Any) -> str:
    if isinstance(number, (bool, int, np.integer, np.bool_)):
        return str(number)
    return "NaN" if np.isnan(float(number)) else f"{float(number):.6g}"


def _listed(texts: list[str], total: int, note: str = "") -> str:
    text = ", ".join(texts)
    return f"{total} values{note}: {text}, ..." if len(texts) < total else f"[{text}]"


def facts_html(title: str, facts: Mapping[str, object], extra: str = "") -> str:
    """Names and values as HTML. `extra` is HTML, which follows the title."""
    rows: Iterable[str] = (
        f"<tr><th{_LEFT}>{html.escape(printable(str(name)))}</th>"
        f"<td{_LEFT}>{html.escape(printable(str(value), 200))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<div><b>{html.escape(title)}</b>{extra}<table>{''.join(rows)}</table></div>"


def show_table(table: Table) -> None:
    """Displays a table in a notebook, and prints it elsewhere."""
    interactive = sys.modules.get("IPython")
    if interactive is not None and interactive.get_ipython() is not None:
        interactive.display.display(table)
        return
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(repr(table).encode(encoding, "backslashreplace").decode(encoding))
