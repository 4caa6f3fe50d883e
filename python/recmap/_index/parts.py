"""Indexes that the tasks of a cluster build in parts, one for each shard."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .. import _recmap
from .._options.options import IndexOptions, absolute
from .build import Plan, build_index, merge

__all__ = ["Part", "build_in_parts"]


@dataclass(frozen=True)
class Part:
    """The index of one shard. It is pickled, and built by a task on any node."""

    path: str
    shard: str
    options: IndexOptions

    def build(self) -> str:
        """Builds the index, and returns its path."""
        if self.options.framing_path is not None:
            _recmap.framing_load(self.options.framing_path)
        build_index(self.path, [self.shard], self.options)
        return self.path


def build_in_parts(plan: Plan, run: Callable[[list[Part]], Iterable[str]]) -> str:
    """Builds an index in the tasks that `run` starts for its parts, and returns its path.

    The parts are in a folder next to the index, which is removed, whatever happens. `run` returns
    the paths of all parts in order, or raises the exception of a task."""
    prefix = f".{os.path.basename(plan.path)}.parts-"
    folder = tempfile.mkdtemp(prefix=prefix, dir=os.path.dirname(plan.path))
    options = replace(plan.options, progress=None)
    parts = [
        Part(os.path.join(folder, f"{i:08d}.rmx"), absolute(shard), options)
        for i, shard in enumerate(plan.shards)
    ]
    try:
        merge(plan.path, run(parts), progress=plan.options.progress, fs=options.fs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return plan.path
