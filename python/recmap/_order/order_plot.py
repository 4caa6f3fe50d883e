"""A picture of an order, for notebooks: which record is read at which position of an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .orders import Order

__all__ = ["order_plot"]

_POINTS_MAX = 400
# Rows need a table of the epoch, computed from all records, which must not delay the display.
_ROWS_MAX, _RECORDS_MAX = 1 << 21, 1 << 23
_WIDTH, _HEIGHT = 400, 120


def order_plot(order: Order) -> str:
    """SVG with a point for each of up to 400 evenly spaced positions of epoch 0.

    A point of rows is the record with which a row begins. Empty if there is nothing to show, or if
    preparing rows would take long.
    """
    count, limit = len(order), order._order.record_limit()
    if not count or (order.row_width and (count > _ROWS_MAX or limit > _RECORDS_MAX)):
        return ""
    positions = _spaced(count)
    numbers = _first_records(order, positions) if order.row_width else order.at(0, positions)
    what = "row begins with" if order.row_width else "position reads"
    label = f"which record each {what} in epoch 0, of {limit} records and {count} positions"
    return f"<div>{_svg(positions / max(count - 1, 1), numbers / max(limit - 1, 1), label)}</div>"


def _spaced(count: int) -> npt.NDArray[np.int64]:
    points = min(count, _POINTS_MAX)
    return np.array([i * (count - 1) // max(points - 1, 1) for i in range(points)], np.int64)


def _first_records(order: Order, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The records with which rows begin; a row of only padding gets the record of the next row."""
    pieces, splits = order.pieces(0, positions)
    if not len(pieces):
        return np.zeros(len(positions), np.int64)
    result: npt.NDArray[np.int64] = pieces[np.minimum(splits[:-1], len(pieces) - 1), 0]
    return result


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
