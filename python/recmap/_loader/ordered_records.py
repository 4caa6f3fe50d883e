"""The records of an order, read without a loader as its loader reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _recmap
from .._base.errors import Error
from .._base.numbers import UInt64s
from .._dataset.dataset import Dataset
from .._example.draws import Draws
from .._order.orders import Order

__all__ = ["OrderedRecords"]


@dataclass(frozen=True)
class OrderedRecords:
    """The records, or the rows, at the positions of an order's epochs."""

    dataset: Dataset
    order: Order
    records: _recmap.Order  # the order in terms of the whole data set
    parser: _recmap.Parser | None
    seed: int  # of the draws
    draw_order: _recmap.Order | None = None  # whose numbers draws depend on; None: those of records

    def numbers_at(self, epoch: int, positions: UInt64s) -> UInt64s:
        return _numbers(self.records, epoch, positions)

    def read(self, epoch: int, positions: UInt64s) -> _recmap.RecordBatch:
        """Reads the records at these positions; a bad one is an error."""
        if self.parser is not None and self.order.row_width:
            return self.dataset._rows(self.parser, self.records, epoch, positions, self.seed)
        draws, numbers = self._draws(epoch, positions), self.numbers_at(epoch, positions)
        if self.parser is None:
            return self.dataset._gather(numbers, 1, draws)
        return self.dataset._parse(self.parser, numbers, False, 1, draws)

    def _draws(self, epoch: int, positions: UInt64s) -> Draws:
        order = self.draw_order
        numbers = None if order is None else _numbers(order, epoch, positions)
        return Draws(self.seed, epoch, positions, numbers, (order or self.records).repeats())

    def fault_at(self, epoch: int, position: int) -> str:
        """What is wrong with the record or row at a position, and its place. It is read again: the
        library only keeps the numbers of bad records."""
        try:
            self.read(epoch, np.array([position], np.uint64))
        except Error as error:
            return str(error).splitlines()[0]
        return f"{self.dataset.index_path}: position {position} of epoch {epoch}"


def _numbers(order: _recmap.Order, epoch: int, positions: UInt64s) -> UInt64s:
    numbers: UInt64s = np.empty(len(positions), np.uint64)
    order.at(numbers, epoch, positions)
    return numbers
