"""Imports of modules on first use, which a fork waits for.

A child of fork has the locks of the modules that another thread was importing, but not that thread.
It would wait without end when it imports one of them, or NumPy, which they import. So one lock is
held during these imports, and during a fork.
"""

from __future__ import annotations

import importlib
import os
from _thread import RLock, get_ident  # without the rest of `threading`, which takes a moment
from types import ModuleType

__all__ = ["import_framework", "import_library", "import_module", "is_installed"]

# Seconds, after which the lock is not waited for any more: the thread that has it may wait for a
# module that this thread is importing.
_WAIT = 30.0

_lock = RLock()
_forking: dict[int, int] = {}  # threads that fork: how often each has taken the lock for it
_process = os.getpid()


def _before_fork() -> None:
    thread = get_ident()
    if _forking.get(thread) != 0:  # 0: it could not be taken just now
        _forking[thread] = _forking.get(thread, 0) + _lock.acquire(timeout=_WAIT)


def _after_fork() -> None:
    for _ in range(_forking.pop(get_ident(), 0)):
        _lock.release()


def _after_fork_in_child() -> None:
    global _lock, _process
    if _process == os.getpid():
        return
    _process = os.getpid()
    is_held = _forking.get(get_ident(), 0) > 0
    _after_fork()
    _forking.clear()
    if not is_held:  # the thread that may hold it does not exist here
        _lock = RLock()


def _watch_forks() -> None:
    """Registers the lock's handlers, which must run first before a fork: other handlers take locks,
    such as `logging`'s, that a running import may need. The newest handlers run first, so these do,
    unless an import registers more."""
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )


def _import(name: str) -> ModuleType:
    _watch_forks()
    lock = _lock
    is_held = lock.acquire(timeout=_WAIT)
    try:
        return importlib.import_module(name)
    finally:
        if is_held:
            lock.release()


def import_module(name: str) -> ModuleType:
    """Imports `recmap.NAME`."""
    return _import(f"recmap.{name}")


def import_framework(name: str) -> ModuleType:
    """Imports `recmap.NAME`, which imports a framework or thread pools. These import the modules
    below, which register what happens before and after a fork. Of a fork that waits for this, only
    the second half would happen. So these come first: they take a moment."""
    return import_library(f"recmap.{name}")


def import_library(name: str) -> ModuleType:
    """Imports a module that may import thread pools."""
    for early in ("logging", "concurrent.futures.thread"):
        _import(early)
    return _import(name)


def is_installed(name: str) -> bool:
    """Returns true if there is a module of this name. Imports only the package that contains it."""
    import importlib.util  # on first use: it takes a moment

    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
