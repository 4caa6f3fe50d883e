"""Batches whose records were all skipped: without a word, a loop would train on nothing."""

from __future__ import annotations

from collections.abc import Callable

from .. import _recmap
from .._warn import warn_caller

__all__ = ["warning_of_empty_steps"]

Take = Callable[[], "_recmap.Step | None"]


def warning_of_empty_steps(take: Take) -> Take:
    """As `take`, but warns of the first step of each epoch of which every record was skipped.

    A step without records is not enough: with last="keep", a rank may have none of an epoch's last
    ones.
    """
    warned: set[int] = set()

    def take_or_warn() -> _recmap.Step | None:
        step = take()
        if step is None or step.is_end:
            return step
        epoch = step.epoch if step.position else step.epoch - 1  # an epoch's last step leads out
        if step.skipped_count and not len(step.batch) and epoch not in warned:
            warned.add(epoch)
            warn_caller(
                f"all {step.skipped_count} records of a step were skipped, so its batch is empty: "
                'loader.skipped lists them, and on_error="raise" says what is wrong with the first'
            )
        return step

    return take_or_warn
