"""Values as short plain text: what a `repr` or a table shows of them.

Records and their names are untrusted: characters that do not print, such as terminal escapes and
marks that change the direction of text, are shown as escapes, and long values are cut.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Any

from .._base.plural import counted

__all__ = ["bytes_text", "class_name", "joined", "printable", "size_text"]

_LIMIT = 60  # characters of a value


def class_name(value: object) -> str:
    """The public name of a value's class: recmap.Loader, recmap.torch.Sampler, ..."""
    kind = type(value)
    module = kind.__module__.partition("._")[0]
    return f"{module}.{kind.__name__}"


def printable(text: str, limit: int = _LIMIT) -> str:
    """The text in one line, with escapes for what does not print, cut at `limit` characters."""
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text[: limit + 1]
    )
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def bytes_text(value: Any, limit: int = _LIMIT) -> str:
    """Bytes as text if they are UTF-8 without control characters, else as a bytes literal."""
    prefix = bytes(memoryview(value)[: 4 * limit])
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(prefix, final=len(prefix) == len(value))
    except UnicodeDecodeError:
        text = "\0"
    if not any(char < " " and char not in "\t\r\n" for char in text):
        return printable(text, limit)
    shown = prefix[: limit // 4]
    return f"{shown!r}{'...' if len(shown) < len(value) else ''} ({size_text(len(value))})"


def size_text(size: int) -> str:
    """A size in bytes, or in larger units: 120 bytes, 244.4 kB."""
    if size < 10_000:
        return counted(size, "byte")
    number = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        number /= 1000
        if number < 1000 or unit == "TB":
            break
    return f"{number:.1f} {unit}"


def joined(parts: Iterable[str], total: int, limit: int) -> str:
    """The first `limit` parts of `total`, separated by commas, and the number of the others."""
    shown = [part for _, part in zip(range(limit), parts, strict=False)]
    others = total - len(shown)
    return ", ".join([*shown, f"{others} more"] if others > 0 else shown)
