"""Which records of a data set a view has, and in which order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._base.numbers import Int64s, UInt64s

__all__ = ["Selection"]


class Selection(NamedTuple):
    """Item i is record ``numbers[i]``, or ``first + i * step`` if `numbers` is None."""

    first: int
    length: int
    step: int
    numbers: UInt64s | None

    def is_whole(self, record_count: int) -> bool:
        """Returns true if item i is record i, for all records."""
        return self.numbers is None and self[:3] == (0, record_count, 1)

    def slice(self, key: slice) -> Selection:
        """The selection of the items ``[key]``."""
        if self.numbers is not None:
            numbers = np.ascontiguousarray(self.numbers[key])
            return Selection(0, len(numbers), 1, numbers)
        items = range(*key.indices(self.length))
        if not items:
            return Selection(0, 0, 1, None)
        first = self.first + items.start * self.step
        return Selection(first, len(items), self.step * items.step, None)

    def records_at(self, items: UInt64s) -> UInt64s:
        """The record number of each of `items`."""
        if self.numbers is not None:
            return self.numbers[items]
        if self.first == 0 and self.step == 1:
            return items
        signed = np.int64(self.first) + items.view(np.int64) * np.int64(self.step)
        return signed.view(np.uint64)

    def records(self) -> Int64s:
        """The record number of every item."""
        if self.numbers is not None:
            return self.numbers.view(np.int64)
        return np.int64(self.first) + np.arange(self.length, dtype=np.int64) * np.int64(self.step)

    def positions_of(self, records: list[int]) -> list[int]:
        """The positions of the items that are one of `records`, ascending."""
        if self.numbers is not None:
            found = np.isin(self.numbers, np.array(records, np.uint64))
            positions: list[int] = np.flatnonzero(found).tolist()
            return positions
        items = range(self.first, self.first + self.length * self.step, self.step)
        return sorted(items.index(record) for record in records if record in items)

    def position_table(self, record_count: int) -> Int64s | None:
        """The first position of each record, -1 if it is not selected. None for a range."""
        if self.numbers is None:
            return None
        table = np.full(record_count, -1, np.int64)
        # Backwards: of repeated numbers, the last assignment remains.
        table[self.numbers[::-1]] = np.arange(len(self.numbers) - 1, -1, -1)
        return table

    def take(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of the items, from an array with a value for every record; read-only."""
        if self.numbers is not None:
            taken = values[self.numbers]
        elif self.step == 1:
            taken = values[self.first : self.first + self.length]
        else:
            taken = values[self.records()]
        taken.flags.writeable = False
        return taken
