"""Batches whose records were all skipped: without a word, a loop would train on nothing."""

from __future__ import annotations

from collections.abc import Callable

from .. import _recmap
from .._warn import warn_caller

__all__ = ["EmptySteps"]


class EmptySteps:
    """Warns of the first step of each epoch of which every record was skipped."""

    def __init__(self, option: str) -> None:
        self._option = option  # that says what is wrong instead
        self._warned: set[int] = set()  # epochs

    def note(self, epoch: int, skipped_count: int) -> None:
        """Called for a step without records, of which so many were skipped.

        There may be none: with last="keep", a rank may get none of an epoch's last records.
        """
        if not skipped_count or epoch in self._warned:
            return
        self._warned.add(epoch)
        warn_caller(
            f"all {skipped_count} records of a step were skipped, so its batch is empty: "
            f"loader.skipped lists them, and {self._option} says what is wrong with the first"
        )

    def noting(self, take: Callable[[], _recmap.Step | None]) -> Callable[[], _recmap.Step | None]:
        """As `take`, which gives the first step ahead, but notes steps without records."""

        def take_and_note() -> _recmap.Step | None:
            step = take()
            if step is not None and not step.is_end and not len(step.batch):
                self.note(step.start_epoch, step.skipped_count)
            return step

        return take_and_note
