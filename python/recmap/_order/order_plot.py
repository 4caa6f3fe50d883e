"""A picture of an order, for notebooks: which record is read at which position of an epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.numbers import Int64s

__all__ = ["order_plot"]

_POINTS_MAX = 400
# Rows need a table of the epoch, computed from all records, which must not delay the display.
_ROWS_MAX, _RECORDS_MAX = 1 << 21, 1 << 23
_WIDTH, _HEIGHT = 400, 120


def order_plot(
    numbers_at: Callable[[Int64s], Int64s], count: int, limit: int, has_rows: bool
) -> str:
    """SVG with a point for each of up to 400 evenly spaced positions of epoch 0.

    Empty if there is nothing to show, or if preparing rows would take long.

    Args:
        numbers_at: gives the record that each position reads, or with which its row begins.
        count: the number of positions.
        limit: no record has this number or a higher one.
    """
    if not count or (has_rows and (count > _ROWS_MAX or limit > _RECORDS_MAX)):
        return ""
    positions = _spaced(count)
    what = "row begins with" if has_rows else "position reads"
    label = f"which record each {what} in epoch 0, of {limit} records and {count} positions"
    x, y = positions / max(count - 1, 1), numbers_at(positions) / max(limit - 1, 1)
    return f"<div>{_svg(x, y, label)}</div>"


def _spaced(count: int) -> Int64s:
    points = min(count, _POINTS_MAX)
    return np.array([i * (count - 1) // max(points - 1, 1) for i in range(points)], np.int64)


def _svg(x: npt.NDArray[Any], y: npt.NDArray[Any], label: str) -> str:
    """Points whose coordinates are between 0 and 1, from the lower left corner."""
    path = "".join(
        f"M{a:.0f} {b:.0f}h2"
        for a, b in zip(x * (_WIDTH - 2), 1 + (1 - y) * (_HEIGHT - 2), strict=True)
    )
    return (
        f'<svg role="img" aria-label="{label}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" style="max-width:100%">'
        f'<path d="{path}" stroke="currentColor" stroke-width="2" fill="none"/></svg>'
    )
