"""Numbers with their nouns, in messages."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun: 1 record, 2 records."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
