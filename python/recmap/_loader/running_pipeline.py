"""The pipeline that a loader uses now. Of several threads that need one, one makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported on first use: see `Loader._set_transform`
    from .pipeline import Pipeline

__all__ = ["RunningPipeline"]


class RunningPipeline:
    """Holds the pipeline that has not been stopped.

    A thread that iterates may be interrupted by a signal anywhere, and a process may be forked
    anywhere, so no lock may be held. Instead, each pipeline has a slot: a dict, to which one thread
    adds it with `setdefault`, which cannot be divided. Once it is stopped, a slot for its successor
    is added to the same dict in the same way. So two threads never replace one pipeline by two.
    """

    def __init__(self) -> None:
        self._slot: dict[str, Any] = {}

    def get(self) -> Pipeline | None:
        """The latest pipeline, which may be stopped; None before the first one."""
        slot = self._slot
        pipeline: Pipeline | None = slot.get("pipeline")
        while pipeline is not None and "next" in slot:
            slot = slot["next"]
            pipeline = slot.get("pipeline", pipeline)
        return pipeline

    def get_or_create(self, create: Callable[[], Pipeline]) -> Pipeline:
        slot = self._slot
        while True:
            found: Pipeline | None = slot.get("pipeline")
            pipeline: Pipeline = found or slot.setdefault("pipeline", create())
            if not pipeline.is_stopped:
                break
            slot = slot.setdefault("next", {})
        if slot is not self._slot:
            self._slot = slot  # later calls begin there, also if another thread sets an earlier one
        return pipeline
