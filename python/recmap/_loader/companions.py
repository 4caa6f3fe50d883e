"""Takes the batches of the other data sets of a join for each step of the first one's loader.

The loader of the first data set leads: it has the position, and its pipeline runs the transform.
The feeder of the pipeline takes the same step from the other loaders, which are only sources. After
a move of the leading loader, or an error, another loader is not where the step begins, and is moved
there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import _recmap
from .._base.errors import CorruptRecordError, FeatureError
from .._base.numbers import UInt64s
from .loader import Loader
from .ordered_records import OrderedRecords
from .skipped import SkippedRecords

__all__ = ["Companions"]

_TRIES = 1024  # bad rows one after another, after which the data is unusable
_SKIPPED_MAX = 1024  # as many as a loader lists


@dataclass(frozen=True)
class _Side:
    """What is needed to make the batches of a data set. It has no reference to its loader."""

    records: OrderedRecords
    columns_of_step: Callable[[Any], Any]

    def is_good(self, epoch: int, positions: UInt64s) -> bool:
        try:
            self.records.read(epoch, positions)
        except (CorruptRecordError, FeatureError):
            return False
        return True


class Companions:
    """Joins the steps of several loaders of the same order.

    Args:
        loaders: {name: loader}; the first one leads. They skip bad records, unless those are
            errors.
        substitutes: whether a row with a bad record is replaced by the next good one.
    """

    def __init__(self, loaders: Mapping[str, Loader[Any]], substitutes: bool) -> None:
        self._lead, *others = loaders
        self._others = {name: loaders[name] for name in others}
        self._sides = {name: self._side_of(loader) for name, loader in loaders.items()}
        self.old_sides: tuple[int, dict[str, _Side]] | None = None  # up to an epoch
        lead = loaders[self._lead]
        self._deal = lead._world_size, lead._batch_size, lead._last
        self._rank = lead._rank
        self._substitutes = substitutes
        self._taking: tuple[_recmap.Step, Loader[Any]] | None = None  # whose step, and from where
        self.skipped_records = SkippedRecords("substitute" if substitutes else "skip")
        self.skipped: list[dict[str, Any]] = []

    @staticmethod
    def _side_of(loader: Loader[Any]) -> _Side:
        return _Side(loader._records(), loader._columns_of_step())

    def use_old(self, loaders: Mapping[str, Loader[Any]]) -> None:
        """Uses the rows that the join had before it grew, up to the epoch that has them."""
        old = loaders[self._lead]._old
        if old is None:
            self.old_sides = None
        else:
            sides = {name: self._old_side_of(loader) for name, loader in loaders.items()}
            self.old_sides = old.last_epoch, sides

    @staticmethod
    def _old_side_of(loader: Loader[Any]) -> _Side:
        old = loader._old_records()
        assert old is not None
        return _Side(old, loader._columns_of_step())

    def _sides_in(self, epoch: int) -> dict[str, _Side]:
        """Returns what is needed to make the batches of an epoch."""
        old = self.old_sides
        return self._sides if old is None or epoch > old[0] else old[1]

    def take(self, step: _recmap.Step) -> None:
        """Takes the same step from the other loaders, and keeps their steps in `step.value`.

        `columns_of_step` uses them there, before the result of the transform replaces them. Called
        by the feeder for one step after another, and again after a failure.
        """
        if step.value is None:
            step.value = {name: self._take_from(each, step) for name, each in self._others.items()}
        for name, loader in self._others.items():
            if loader._parser is not None:
                loader._first_batch.check(step.value[name].batch)

    def _take_from(self, loader: Loader[Any], step: _recmap.Step) -> _recmap.Step:
        self._taking = step, loader
        try:
            return _step_at(loader, step)
        finally:
            self._taking = None

    def waited_for(self, step: _recmap.Step) -> Loader[Any] | None:
        """The loader from which the same step is taken now; None if it is not being joined."""
        taking = self._taking  # read once: the feeder replaces it
        return taking[1] if taking is not None and taking[0] is step else None

    def columns_of_step(self, step: _recmap.Step) -> dict[str, Any]:
        """{name: batch} of a step. Called by a thread of the pool."""
        steps = {self._lead: step, **step.value}
        epoch, first = step.start_epoch, step.start_position
        sides = self._sides_in(epoch)
        order = sides[self._lead].records.records
        _, first, count = order.share(epoch, first, *self._deal, 0, self._rank)
        number = step.batch._step()
        if any(len(each.batch) != count for each in steps.values()):
            positions = np.arange(first, first + count, dtype=np.uint64) % order.count()
            steps = self._repaired(epoch, positions, steps)
        for each in steps.values():
            each.batch._set_step(number)
        return {name: side.columns_of_step(steps[name]) for name, side in sides.items()}

    def _repaired(self, epoch: int, positions: UInt64s, steps: Mapping[str, Any]) -> dict[str, Any]:
        """Reads the rows of a step with bad records again, without those rows or with substitutes.

        A row is bad if a data set's batch lacks the number of its record. Rows that share a record
        are all good or all bad, so the numbers suffice.
        """
        sides = self._sides_in(epoch)
        numbers = {name: side.records.numbers_at(epoch, positions) for name, side in sides.items()}
        are_there = {
            name: np.isin(numbers[name], np.asarray(steps[name].batch.numbers, np.uint64))
            for name in sides
        }
        is_good = np.logical_and.reduce(list(are_there.values()))
        kept = positions.copy()
        for row in np.flatnonzero(~is_good):
            substitute = self._substitute(epoch, positions[row : row + 1])
            bad = [name for name, rows in are_there.items() if not rows[row]]
            self._note(epoch, int(positions[row]), bad, numbers, int(row), substitute)
            if substitute is not None:
                kept[row] = substitute
        rows = kept if self._substitutes else kept[is_good]
        if not len(rows):
            self.skipped_records.note_empty(epoch, len(positions))
        return {
            name: SimpleNamespace(batch=side.records.read(epoch, rows))
            for name, side in sides.items()
        }

    def _fault(self, name: str, epoch: int, position: int) -> str:
        return self._sides_in(epoch)[name].records.fault_at(epoch, position)

    def _substitute(self, epoch: int, position: UInt64s) -> int | None:
        """Returns the next position whose records are all good, or None without substitutes.

        The search continues at the start of the epoch. If it fails, what is wrong with the row at
        `position` is raised.
        """
        if not self._substitutes:
            return None
        sides = self._sides_in(epoch)
        count = sides[self._lead].records.records.count()
        for distance in range(1, min(count, _TRIES + 1)):
            candidate = (position + np.uint64(distance)) % np.uint64(count)
            if all(side.is_good(epoch, candidate) for side in sides.values()):
                return int(candidate[0])
        for side in sides.values():  # raises what is wrong with the row
            side.records.read(epoch, position)
        return None

    def _note(
        self,
        epoch: int,
        position: int,
        bad: list[str],
        numbers: Mapping[str, UInt64s],
        row: int,
        substitute: int | None,
    ) -> None:
        fault = functools.partial(self._fault, bad[0], epoch, position)
        self.skipped_records.note_first(fault, "loader.skipped lists them")
        for name in bad:
            found = {
                "epoch": epoch,
                "position": position,
                "name": name,
                "number": int(numbers[name][row]),
                "substitute": substitute,
            }
            if len(self.skipped) < _SKIPPED_MAX and found not in self.skipped:
                self.skipped.append(found)


def _step_at(loader: Loader[Any], lead: _recmap.Step) -> _recmap.Step:
    """Takes steps from `loader` until one starts at the lead's start.

    Moves the loader there first if needed.
    """
    source, start = loader._loader, (lead.start_epoch, lead.start_position)
    while True:
        if source.tell() != start:
            source.seek(*start)
        step = source.take()
        if step is None:
            continue
        source.deliver(step)
        if not step.is_end and (step.start_epoch, step.start_position) == start:
            return step
