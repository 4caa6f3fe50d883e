"""Indexes that the tasks of a cluster build in parts, one for each shard."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from .. import _recmap
from .._base.warn import warn_caller
from .._options.options import IndexOptions, absolute
from .build import Plan, merge, warn_of_empty_lifts, write_index

__all__ = ["BuiltPart", "Part", "build_in_parts"]


# Python shows these only in the code that causes them, which is not the caller's.
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)

_LOCK = "lock"  # in the folder of the parts

_REPEATED_MAX = 5  # warnings of tasks that are repeated, of each category


@dataclass(frozen=True)
class BuiltPart:
    """What a task tells about the part that it built. It is pickled.

    Counts, ids and damage are known from the merged index, but not which values are defaults."""

    record_count: int
    empty_lifts: frozenset[str]  # lifted features that no record of the part has
    warnings: tuple[tuple[type[Warning], str], ...]  # a filesystem's, for example


@dataclass(frozen=True)
class Part:
    """The index of one shard. It is pickled, and built by a task on any node."""

    path: str
    shard: str
    options: IndexOptions

    def build(self) -> BuiltPart:
        """Builds the index."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")  # the caller's filters apply where they are shown
            if self.options.framing_path is not None:
                _recmap.framing_load(self.options.framing_path)
            built = write_index(self.path, [self.shard], self.options)
        issued = dict.fromkeys(
            (_portable(warning.category), str(warning.message))
            for warning in caught
            if not issubclass(warning.category, _FOR_DEVELOPERS)
        )
        return BuiltPart(built.counts["records"], built.empty_lifts, tuple(issued))


def _portable(category: type[Warning]) -> type[Warning]:
    """A category that the calling process also has."""
    return category if category.__module__ == "builtins" else UserWarning


def build_in_parts(plan: Plan, run: Callable[[list[Part]], Iterable[BuiltPart]]) -> str:
    """Builds an index in the tasks that `run` starts for its parts, and returns its path.

    The parts are in a folder next to the index, which is removed, whatever happens: if this process
    is killed, by the next build of the index on this machine. `run` waits
    until all parts are built, or raises the exception of a task. Warns as a single build does, and
    repeats the warnings of tasks: each once, and the first few of a category."""
    prefix = f".{os.path.basename(plan.path)}.parts-"
    _remove_leftovers(os.path.dirname(plan.path), prefix)
    folder = tempfile.mkdtemp(prefix=prefix, dir=os.path.dirname(plan.path))
    lock = _locked(folder)
    options = replace(plan.options, progress=None, may_lack_ids=True)
    parts = [
        Part(os.path.join(folder, f"{i:08d}.rmx"), absolute(shard), options)
        for i, shard in enumerate(plan.shards)
    ]
    try:
        built = list(run(parts))
        paths = [part.path for part in parts]
        merge(
            plan.path,
            paths,
            sets="all",  # the shards were compared when they were listed
            progress=plan.options.progress,
            storage=options.storage,
        )
    finally:
        _remove(folder)
        os.close(lock)
    _warn_of(built, options)
    return plan.path


def _locked(folder: str) -> int:
    """A file in the folder that names this machine, and is locked while this process lives."""
    lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(lock, socket.gethostname().encode())
    with contextlib.suppress(OSError):  # without locks, the folder stays if this process is killed
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def _remove_leftovers(parent: str, prefix: str) -> None:
    """Removes the folders of builds that were killed. Another machine's may still run: not every
    network file system shares locks."""
    with contextlib.suppress(OSError):
        for name in os.listdir(parent):
            if name.startswith(prefix) and _is_left(os.path.join(parent, name)):
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)


def _is_left(folder: str) -> bool:
    try:
        with open(os.path.join(folder, _LOCK), "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock.read() == socket.gethostname()
    except OSError:  # it has no such file, or its process lives
        return False


def _remove(folder: str) -> None:
    """Removes the folder of the parts. Tasks may still run if one failed, or after an interrupt:
    they fail when they create a file, because the folder is renamed before it is emptied."""
    renamed = f"{folder}-removed"
    try:
        os.rename(folder, renamed)
    except OSError:  # it is gone, or the name is too long: the caller's error says more
        renamed = folder
    shutil.rmtree(renamed, ignore_errors=True)


def _warn_of(parts: Sequence[BuiltPart], options: IndexOptions) -> None:
    full = [part.empty_lifts for part in parts if part.record_count]
    if full:
        warn_of_empty_lifts(options, frozenset.intersection(*full))
    texts: dict[type[Warning], dict[str, None]] = {}
    for category, text in (issued for part in parts for issued in part.warnings):
        texts.setdefault(category, {})[text] = None
    for category, distinct in texts.items():
        _repeat(category, list(distinct))


def _repeat(category: type[Warning], texts: list[str]) -> None:
    """Repeats warnings of tasks. Those that name a shard are as many as the shards."""
    for text in texts[:_REPEATED_MAX]:
        warn_caller(text, category)
    more = len(texts) - _REPEATED_MAX
    if more > 0:
        warn_caller(f"warnings of tasks that are not repeated here: {more}", category)
