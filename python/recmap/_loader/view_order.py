"""Orders of views, in terms of the whole data set."""

from __future__ import annotations

from .. import _recmap
from .._dataset.dataset import Dataset
from .._order.orders import Order, check_fits, check_rows_fit, order_of

__all__ = ["order_over"]


def order_over(dataset: Dataset, order: Order) -> _recmap.Order:
    """The order of the records of a view, by their numbers in the whole data set."""
    check = check_rows_fit if order_of(order).row_width() else check_fits
    check(order, len(dataset))
    if dataset._is_whole():
        return order._order
    first, length, step, numbers = dataset._selection
    if numbers is not None:
        return order._order.view_list(numbers)
    return order._order.view_range(first, length, step)
