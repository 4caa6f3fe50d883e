"""The order of a loader in each epoch, and the place in it."""

from __future__ import annotations

import math

from .. import _recmap
from .._base.numbers import natural
from .._base.plural import counted
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._order.orders import Order, Sequential, Shuffled
from .._order.row_orders import warn_if_empty
from .grown import OldRecords
from .options import Last
from .step_numbers import StepShare
from .view_order import order_over, warn_of_sources

__all__ = ["EpochOrders"]


class EpochOrders:
    """The part of a loader that knows its order in each epoch, and its epoch and position."""

    dataset: Dataset
    _loader: _recmap.Loader
    _draw_seed: int | None
    _epochs: float | None
    _last: int
    _rank: int
    _world_size: int
    _old: OldRecords | None  # if the data set grew since an epoch was begun

    def _set_order(
        self, order: Order | None, shuffle: bool, seed: int, batch_size: int | None
    ) -> None:
        has_draws = self._draw_seed is not None
        self.order: Order = self._order_of(self.dataset, order, shuffle, seed, has_draws)
        self._order = order_over(self.dataset, self.order)
        warn_if_empty(self.order)
        warn_of_sources(self.order, self.dataset._part_lengths)
        if batch_size is not None and self._order.batch_count():
            warn_caller(f"batch_size={batch_size} has no effect: the order makes its own batches")
        self._batch_size = self._size_of(batch_size)

    @staticmethod
    def _order_of(
        dataset: Dataset, order: Order | None, shuffle: bool, seed: int, has_draws: bool
    ) -> Order:
        if seed != 0 and not shuffle and not has_draws:
            why = "shuffle=True is missing" if order is None else "an order has its own seed"
            warn_caller(
                f"seed={seed} has no effect on the order: {why}. Only batch.seeds() uses this seed"
            )
        if shuffle not in (True, False):
            raise TypeError(
                f"shuffle must be True or False, not {shuffle!r}: an epoch is shuffled as a whole, "
                "without a buffer"
            )
        if order is None:
            return Shuffled(len(dataset), seed) if shuffle else Sequential(len(dataset))
        if shuffle:
            raise ValueError("pass either an order or shuffle=True, not both")
        return order

    def _size_of(self, batch_size: int | None, order: _recmap.Order | None = None) -> int:
        if (order or self._order).batch_count():
            return 1
        if batch_size is None:
            raise ValueError(
                "batch_size is missing; it is only optional for orders that make their own batches"
            )
        if natural("batch_size", batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        return batch_size

    def _warn_of_no_steps(self, last: Last) -> None:
        if last == "drop" and len(self.order) and not self._step_count():
            warn_caller(
                f'there are no steps: last="drop" leaves out a step that is not full, and the '
                f"{counted(len(self.order), 'position')} of an epoch cannot fill one"
            )

    def _step_count(self) -> int:
        """The number of steps in a whole epoch."""
        return self._steps_from(self._loader.tell()[0], 0)

    def _share_of(self, step: int) -> StepShare:
        return StepShare(*self._loader.find_step(natural("step", step), self._rank))

    def _steps_from(self, epoch: int, position: int) -> int:
        return self._inner_of(epoch).share(
            epoch, position, self._world_size, self._batch_size, self._last, 0, self._rank
        )[0]

    def _epoch_limit(self) -> int | None:
        if self._epochs == math.inf:
            return 2**64 - 1
        return None if self._epochs is None else int(self._epochs)

    def _old_of(self, epoch: int) -> OldRecords | None:
        """Returns the old records that the epoch is over; None if it is over all records."""
        old = self._old
        return old if old is not None and epoch <= old.last_epoch else None

    def _order_of_epoch(self, epoch: int) -> Order:
        old = self._old_of(epoch)
        return self.order if old is None else old.order

    def _inner_of(self, epoch: int) -> _recmap.Order:
        old = self._old_of(epoch)
        return self._order if old is None else old.inner
