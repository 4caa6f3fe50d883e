"""What a rank reads in a step of a loader's run, by the order alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _recmap
from .._base.numbers import Int64s
from .._order.orders import pieces_of

__all__ = ["StepShare"]


class StepShare(NamedTuple):
    """The positions of a rank in a step. Those past the end of the epoch continue at its start."""

    epoch: int
    first: int
    size: int

    def numbers(self, order: _recmap.Order) -> Int64s | tuple[Int64s, Int64s]:
        """The numbers of the records at these positions, or the pieces of the rows."""
        past = np.arange(self.first, self.first + self.size, dtype=np.uint64)
        positions = past % np.uint64(max(order.count(), 1))
        if order.row_width():
            return pieces_of(order, self.epoch, positions)
        numbers = np.empty(self.size, np.uint64)
        order.at(numbers, self.epoch, positions)
        return numbers.view(np.int64)
