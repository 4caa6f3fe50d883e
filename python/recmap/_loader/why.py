"""What a loader waits for, by name, and saying so after a while without a batch."""

from __future__ import annotations

import contextlib
import numbers
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from .. import _recmap

__all__ = [
    "CAUSES",
    "Cause",
    "StallWatch",
    "Why",
    "cause_times",
    "line_of",
    "say_on",
    "why_of",
]

Cause: TypeAlias = Literal[
    "disk", "store", "inflating", "parsing", "images", "transform", "caller", "nothing"
]

# In the order of the library's `recmap_cause`.
CAUSES: tuple[Cause, ...] = (
    "nothing",
    "caller",
    "disk",
    "store",
    "inflating",
    "parsing",
    "images",
)

_FINISHED = (1, 2)  # of a step: READY and FAILED in `pipeline`, which is imported on first use
_AGAIN_S = 60.0  # between two lines about the same wait
_PAUSE_MIN_S = 0.05  # between two looks of the thread that waits for a stall


class Pending(TypedDict):
    """A request to a store that is not answered."""

    shard: str
    url: str
    first_byte: int
    last_byte: int
    attempt: int
    seconds: float
    last_error: str


class _Facts(TypedDict):
    cause: Cause
    rank: int
    epoch: int
    position: int
    step: int | None
    stage: Literal["reading", "transform", "caller", "none"]
    seconds: float
    queues: dict[str, int]


class Why(_Facts, total=False):
    """What `Loader.why` returns; see there."""

    pending: Pending


def _pending(found: tuple[str, int, int, int, int, str]) -> Pending:
    name, first, last, attempt, ns, error = found
    return {
        "shard": os.path.basename(name),
        "url": name,
        "first_byte": first,
        "last_byte": last,
        "attempt": attempt,
        "seconds": ns / 1e9,
        "last_error": error,
    }


def _work_of(facts: tuple[Any, ...]) -> Cause:
    """What the time of the batch that a loader reads next is spent on."""
    work: int
    times: Sequence[int]
    _, work, _, _, _, _, ready, times, _ = facts
    if work:
        return CAUSES[work]
    return "nothing" if ready > 0 or not any(times) else CAUSES[times.index(max(times))]


def _cause_of(step: _recmap.Step | None, facts: tuple[Any, ...], transforms: bool) -> Cause:
    """The cause of a moment. `step`: the first one ahead."""
    waited_ns, ready = facts[2], facts[6]
    is_ready = ready > 0 if step is None else not transforms or step.status in _FINISHED
    if not waited_ns:
        return "caller" if is_ready else "nothing"
    if step is None:
        return _work_of(facts)
    return "nothing" if is_ready else "transform"


def why_of(loader: Any) -> Why:
    """Takes no lock that is held while something is waited for."""
    facts, first = loader._loader.why(), loader._loader.first()
    waited_ns, step = facts[2:4]
    companion = None if loader._join is None or first is None else loader._join.waited_for(first)
    if companion is None or not waited_ns:
        cause = _cause_of(first, facts, loader._transform is not None)
    else:  # reading means the companion's threads
        facts = companion._loader.why()
        cause = _work_of(facts)
    threads, begun, ready, _, pending = facts[4:]
    epoch, position = loader._loader.tell()
    found: Why = {
        "cause": cause,
        "rank": loader._rank,
        "epoch": epoch,
        "position": position,
        "step": step,
        "stage": _stage_of(cause),
        "seconds": waited_ns / 1e9,
        "queues": {
            "threads": threads,
            "batches_begun": begun,
            "batches_ready": ready,
            "steps_ahead": loader._loader.ahead()[0],
        },
    }
    if pending is not None:
        found["pending"] = _pending(pending)
    return found


def _stage_of(cause: Cause) -> Literal["reading", "transform", "caller", "none"]:
    if cause == "transform" or cause == "caller":
        return cause
    return "none" if cause == "nothing" else "reading"


def cause_times(loader: _recmap.Loader) -> dict[str, int]:
    """Nanoseconds of all reading threads, by what they were spent on."""
    times = loader.why()[7]
    return dict(zip(CAUSES[2:], times[2:], strict=True))


def line_of(why: Why) -> str:
    """One line with all facts."""
    queues, step = why["queues"], why["step"]
    text = (
        f"recmap: rank {why['rank']}: {why['cause']}: waited {why['seconds']:.1f} s for a batch, "
        f"stage {why['stage']}, epoch {why['epoch']}, position {why['position']}, "
        f"step {'unknown' if step is None else step}; {queues['batches_begun']} batches begun, "
        f"{queues['batches_ready']} ready, {queues['steps_ahead']} steps ahead"
    )
    pending = why.get("pending")
    if pending is None:
        return text
    error = f", last error: {pending['last_error']}" if pending["last_error"] else ""
    return (
        f"{text}; pending: {pending['url']}, bytes {pending['first_byte']} to "
        f"{pending['last_byte']}, attempt {pending['attempt']}, {pending['seconds']:.1f} s{error}"
    )


def _say(loader: Any) -> None:
    """Prints the line of a loader if it can. An error would be raised in whatever was interrupted,
    or end the thread that waits for stalls."""
    with contextlib.suppress(Exception):
        _print(line_of(loader.why()) + "\n")


def _print(line: str) -> None:
    """On standard error, without its buffer: a signal may have interrupted one who writes there."""
    stream = sys.stderr
    if stream is None:  # then descriptor 2 may be any file
        return
    if stream is sys.__stderr__:
        os.write(2, line.encode("utf-8", "backslashreplace"))
    else:
        stream.write(line)
        stream.flush()


def say_on(loader: Any, signum: int) -> None:
    """Installs a handler that prints the line of a loader, as long as the loader exists.

    Processes that are forked inherit the handler, but have no loader: it does nothing there.
    """
    reference, owner = weakref.ref(loader), os.getpid()

    def handler(signum: int, frame: Any) -> None:
        alive = reference()
        if alive is not None and os.getpid() == owner:
            _say(alive)

    signal.signal(signum, handler)


def _seconds_of(stall: Any) -> float | None:
    if stall is None:
        return None
    is_number = isinstance(stall, numbers.Real) and not isinstance(stall, bool)
    with contextlib.suppress(OverflowError):  # an integer may be too large for a float
        if is_number and 0 < float(stall) <= threading.TIMEOUT_MAX:
            return float(stall)
    raise ValueError(f"stall must be None, or a number of seconds above 0, not {stall!r}")


class StallWatch:
    """A thread that prints why there was no batch for some time, and again each minute.

    It refers to the loader only while it looks at it, so it ends with the loader.
    """

    def __init__(self, loader: Any, seconds: float) -> None:
        self._loader, self._seconds = weakref.ref(loader, self._end), seconds
        self._ended = threading.Event()
        self.count = 0  # waits that took so long
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, loader: Any, stall: Any) -> StallWatch | None:
        """What `stall=` asks for. Raises ValueError."""
        seconds = _seconds_of(stall)
        return None if seconds is None else cls(loader, seconds)

    def begin(self) -> None:
        """Starts the thread, unless it runs in this process."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="recmap-stall", daemon=True)
                self._thread.start()

    def _end(self, _: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        said_s: float | None = None  # when the latest line about the present wait was printed
        pause = self._seconds
        while not self._ended.wait(max(pause, _PAUSE_MIN_S)):
            loader = self._loader()
            if loader is None:
                return
            waited_s, now = loader._loader.why()[2] / 1e9, time.monotonic()
            if said_s is not None and now - waited_s > said_s:
                said_s = None  # another wait, which began later
            left = self._seconds - waited_s if said_s is None else said_s + _AGAIN_S - now
            if left <= 0:
                self.count += said_s is None
                said_s = now
                _say(loader)
            pause = min(left, self._seconds) if left > 0 else self._seconds
            del loader
