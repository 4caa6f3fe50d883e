"""Checks of a loader's transform."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .._numbers import natural
from .._warn import warn_caller

__all__ = ["thread_count", "warn_of_none"]

_THREADS_MAX = 1024


def thread_count(transform_threads: int | None) -> int:
    if not transform_threads:
        return min(8, len(os.sched_getaffinity(0)))
    if natural("transform_threads", transform_threads) > _THREADS_MAX:
        raise ValueError(
            f"transform_threads must be at most {_THREADS_MAX}, not {transform_threads}"
        )
    return transform_threads


def warn_of_none(transform: Callable[[Any], Any]) -> None:
    """In a thread of the pipeline, where a warning cannot name the caller's line."""
    code = getattr(transform, "__code__", None)
    place = "" if code is None else f" in {code.co_filename}:{code.co_firstlineno}"
    name = getattr(transform, "__qualname__", repr(transform))
    warn_caller(f"the transform {name}{place} returned None: is its `return` missing?")
