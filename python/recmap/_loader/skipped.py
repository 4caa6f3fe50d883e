"""Warnings of bad records that a loader leaves out or replaces.

Without a warning, nobody would notice that a loop trains on fewer records, or on none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from .. import _recmap
from .._base.warn import warn_caller

__all__ = ["SkippedRecords"]

_COUNTED = 'loader.statistics["skipped"] counts all of them, and loader.skipped lists them'


class SkippedRecords:
    """Warns of a loader's first bad record, and of the first step of each epoch without a good one.

    Any thread may note what to warn of. The thread that takes the steps warns.

    Args:
        policy: what the loader does with bad records.
    """

    def __init__(self, policy: str) -> None:
        self._done = "replaced" if policy == "substitute" else "skipped"
        self._has_warned = False
        self._warned: set[int] = set()  # epochs with an empty step
        self._texts: deque[str] = deque()  # to warn of

    def note_first(self, fault: Callable[[], str], advice: str) -> None:
        """Called for each bad record. `advice` says where all of them are counted."""
        if self._has_warned:
            return
        self._has_warned = True
        self._texts.append(f"{self._done} a bad record: {fault()}. {advice}")

    def note_empty(self, epoch: int, count: int) -> None:
        """Called for a step whose batch is empty because all of its `count` records were skipped.

        Does not warn if `count` is 0: with last="keep", a rank may get none of an epoch's last
        records.
        """
        if not count or epoch in self._warned:
            return
        self._warned.add(epoch)
        who = (
            "the only record of a step was" if count == 1 else f"all {count} records of a step were"
        )
        self._texts.append(
            f"{who} skipped, so its batch is empty: "
            'loader.skipped lists them, and on_bad_record="error" says what is wrong with the first'
        )

    def noting(
        self, take: Callable[[], _recmap.Step | None], fault: Callable[[], str] | None
    ) -> Callable[[], _recmap.Step | None]:
        """Wraps `take`, which returns the first step ahead, to warn of records that were left out.
        `fault` describes the first bad record; None: others note bad records."""

        def take_and_note() -> _recmap.Step | None:
            step = take()
            if step is not None and step.skipped_count and fault is not None:
                self.note_first(fault, _COUNTED)
                if not step.is_end and not len(step.batch):
                    self.note_empty(step.start_epoch, step.skipped_count)
            while self._texts:
                warn_caller(self._texts.popleft())
            return step

        return take_and_note
