"""A feature as the extension expects it."""

from __future__ import annotations

from typing import Any, TypeAlias

from .elements import defaults_of

__all__ = ["Row", "feature_row"]

Row: TypeAlias = tuple[Any, ...]


def feature_row(
    kind: int,
    name: str,
    key: str | None,
    element: str,
    *,
    copy: bool = False,
    shape: tuple[int, ...] = (),
    raw: int = 0,
    raw_resize: bool = False,
    default: Any = None,
    ragged: bool = False,
    partitions: tuple[Any, ...] = (),
    index_keys: tuple[str, ...] = (),
    sizes: tuple[int, ...] = (),
    already_sorted: bool = False,
    prepend: tuple[Any, ...] = (),
    append: tuple[Any, ...] = (),
    pad_edge: bool = False,
    max_length: int = 0,
    pad_to: int = 0,
    image: tuple[Any, ...] | None = None,
    boxes: tuple[Any, ...] | None = None,
) -> Row:
    """A feature as the extension expects it."""
    defaults = defaults_of(default, element if image is None else "uint8")
    values = (name, key, kind, element, copy, shape, raw, defaults, ragged)
    more = (prepend, append, pad_edge, max_length, pad_to, image, boxes)
    return (*values, partitions, index_keys, sizes, already_sorted, raw_resize, *more)
