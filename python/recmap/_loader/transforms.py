"""What a loader's pipeline does with a step, without a reference to the loader."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Protocol

from .. import _recmap
from .._base.numbers import natural
from .._base.warn import warn_caller
from .skipped import SkippedRecords

__all__ = ["StepJoin", "check_of_step", "thread_count", "value_of_step"]

_THREADS_MAX = 1024


class StepJoin(Protocol):
    """Joins the steps of a loader with the steps of other loaders; see `companions`."""

    skipped_records: SkippedRecords

    def take(self, step: _recmap.Step) -> None: ...
    def waited_for(self, step: _recmap.Step) -> Any: ...
    def columns_of_step(self, step: _recmap.Step) -> Any: ...


def thread_count(transform_threads: int | None) -> int:
    if not transform_threads:
        return min(8, len(os.sched_getaffinity(0)))
    if natural("transform_threads", transform_threads) > _THREADS_MAX:
        raise ValueError(
            f"transform_threads must be at most {_THREADS_MAX}, not {transform_threads}"
        )
    return transform_threads


def check_of_step(
    check: Callable[[Any], None] | None, join: StepJoin | None
) -> Callable[[_recmap.Step], None] | None:
    """Returns what the feeder calls with each step. `check` checks a batch."""
    if join is None:
        return None if check is None else lambda step: check(step.batch)

    def check_and_take(step: _recmap.Step) -> None:
        if check is not None:
            check(step.batch)
        join.take(step)

    return check_and_take


def value_of_step(
    transform: Callable[[Any], Any], columns_of_step: Callable[[_recmap.Step], Any], given: Any
) -> Callable[[_recmap.Step], Any]:
    """What the pool calls with each step. `given` is the transform of the caller."""
    warn_once = functools.cache(functools.partial(_warn_of_none, given))

    def function(step: _recmap.Step) -> Any:
        value = transform(columns_of_step(step))
        if value is None:
            warn_once()
        return value

    return function


def _warn_of_none(transform: Callable[[Any], Any]) -> None:
    """In a thread of the pipeline, where a warning cannot name the caller's line."""
    code = getattr(transform, "__code__", None)
    place = "" if code is None else f" in {code.co_filename}:{code.co_firstlineno}"
    name = getattr(transform, "__qualname__", repr(transform))
    warn_caller(f"the transform {name}{place} returned None: is its `return` missing?")
