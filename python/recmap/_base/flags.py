"""Arguments that are True or False."""

from __future__ import annotations

from typing import Any

__all__ = ["true_or_false"]


def true_or_false(name: str, value: Any) -> bool:
    if value not in (True, False):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)
