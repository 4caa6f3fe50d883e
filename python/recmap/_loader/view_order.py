"""Orders of views, in terms of the whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import _recmap
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._order.orders import Mixture, Order, check_fits, check_rows_fit, order_of

__all__ = ["order_over", "warn_of_sources"]


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


def warn_of_sources(order: Order, part_lengths: Sequence[int]) -> None:
    """Warns of a mixture whose sources have the lengths of a concatenation's parts, in another
    order, so that each source reads records of another part."""
    if not isinstance(order, Mixture) or not part_lengths:
        return
    lengths = [order_of(source).number_limit() for source in order._arguments[0]]
    if lengths != list(part_lengths) and sorted(lengths) == sorted(part_lengths):
        warn_caller(
            f"the sources of the mixture cover {_listed(lengths)} records, but the parts of the "
            f"concatenation have {_listed(part_lengths)}: give both in the same order, because "
            "source 0 reads the first records"
        )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
