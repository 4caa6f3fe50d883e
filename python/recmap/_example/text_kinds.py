"""What the texts of a CSV file read like: names in its header, and numbers in its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["TEXT", "delimiter_of", "header_names", "widest_kind"]

_INTEGER = re.compile(rb"[+-]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf)", re.I)
_LEADING_ZERO = re.compile(rb"[+-]?0[0-9]+")
_DELIMITERS = {"tab": "\t", "semicolon": ";", "pipe": "|"}

TEXT = 2  # the widest kind


def delimiter_of(framing: str) -> str:
    """Between the fields of a framing such as "csv:tab,noheader"."""
    return _DELIMITERS.get(framing.partition(",")[0].partition(":")[2], ",")


def header_names(header: bytes, delimiter: str, *, has_quotes: bool = True) -> list[str]:
    """The names of the fields. Two equal ones are a ValueError."""
    import csv  # on first use: it takes a moment
    import io

    text = io.StringIO(header.decode(errors="surrogateescape"), newline="")
    rows = (
        csv.reader(text, delimiter=delimiter)
        if has_quotes
        else csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    )
    names = next(rows, [])
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ValueError(f"the header has two fields {twice!r}: rename one of them")
    return names


def widest_kind(texts: Iterable[bytes]) -> int:
    """0 if all are integers or empty, 1 if all are numbers, else TEXT."""
    return max(map(_kind_of, texts), default=0)


def _kind_of(text: bytes) -> int:
    text = text.strip()
    if not text or (_INTEGER.fullmatch(text) and _fits_int64(text)):
        return 0
    return 1 if _NUMBER.fullmatch(text) and not _LEADING_ZERO.fullmatch(text) else TEXT


def _fits_int64(text: bytes) -> bool:
    """Python converts no integer of thousands of digits."""
    return len(text) <= len(b"-9223372036854775808") and -(1 << 63) <= int(text) < 1 << 63
