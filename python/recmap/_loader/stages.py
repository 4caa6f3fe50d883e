"""The stages of a loader: which of them the others wait for.

A stage is reading (with checks and parsing), the transform, or the caller's own loop. Reading is
called decoding if most of its work is to decode pictures. Each passes
batches to the next one, and waits if the next one is slower or the previous one is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict, get_args

__all__ = ["WARMED", "Stage", "Statistics", "TransformTimes", "Warmed", "statistics_of"]

Stage: TypeAlias = Literal["none", "reading", "decoding", "transform", "caller"]
# In the order of the library's `recmap_warm_state`.
Warmed: TypeAlias = Literal[
    "off",
    "stopped",
    "running",
    "complete",
    "memory",
    "cache",
    "failed",
    "unsuitable",
    "other",
    "sequential",
]

WARMED: tuple[Warmed, ...] = get_args(Warmed)
_NEEDS_NOTHING: tuple[Warmed, ...] = ("running", "complete", "sequential")


class Statistics(TypedDict):
    """What `Loader.statistics` returns; see there."""

    batches: int
    records: int
    bytes: int
    skipped: int
    caller_wait_ns: int
    worker_wait_ns: int
    fill_ns: int
    parse_ns: int
    decode_ns: int
    decoded_count: int
    decode_failed_count: int
    decode_warning_count: int
    cache_hits: int
    cache_misses: int
    requests: int
    retries: int
    hedges: int
    requested_bytes: int
    used_bytes: int
    latency_p50_ns: int
    latency_p99_ns: int
    gap: int
    span_hits: int
    spans_inflated: int
    readahead: int
    readahead_records: int
    threads: int
    batches_ready: int
    transform_ns: int
    transform_wait_ns: int
    transform_idle_ns: int
    warmed: Warmed
    warmed_bytes: int
    warm_bytes: int
    limiting_stage: Stage
    explanation: str


class TransformTimes:
    """How long a transform ran, its threads had nothing to do, and the caller waited for it.

    The threads of the pool change it under a lock. The thread that iterates takes no lock, because
    a signal may interrupt it: it only adds to `waited_ns`.
    """

    def __init__(self) -> None:
        self.ran_ns = self.idle_ns = self.waited_ns = 0
        self.thread_count = 1
        self._lock = threading.Lock()
        self._latest = threading.local()  # .end_ns: when this thread finished a batch

    def has_begun(self) -> bool:
        """Returns true if the transform ran, or was waited for."""
        return self.ran_ns > 0 or self.waited_ns > 0

    def begin(self) -> int:
        """A batch begins in this thread. Returns the time."""
        now = time.monotonic_ns()
        end_ns = getattr(self._latest, "end_ns", now)
        with self._lock:
            self.idle_ns += now - end_ns
        return now

    def end(self, started_ns: int) -> None:
        """The batch that began at `started_ns` ends."""
        now = self._latest.end_ns = time.monotonic_ns()
        with self._lock:
            self.ran_ns += now - started_ns


def statistics_of(
    counts: dict[str, int], times: TransformTimes, causes: Mapping[str, int]
) -> Statistics:
    """The counts of the library and the times of a transform, with the limiting stage.

    `causes`: what the reading threads spent their time on.
    """
    found: Any = {
        **counts,
        "transform_ns": times.ran_ns,
        "transform_wait_ns": times.waited_ns,
        "transform_idle_ns": times.idle_ns,
    }
    found["warmed"] = WARMED[found.pop("warm_state", 0)]
    run_ns = found.pop("run_ns", 0)
    found["limiting_stage"], found["explanation"] = _limit(found, times, run_ns)
    if found["limiting_stage"] in ("reading", "decoding") and any(causes.values()):
        found["explanation"] += f"; the reading threads' time: {_shares(causes)}"
        found["explanation"] += _advice(causes, found["warmed"])
    statistics: Statistics = found
    return statistics


def _limit(found: Statistics, times: TransformTimes, run_ns: int) -> tuple[Stage, str]:
    """A stage limits if others waited longer for it than it waited for room.

    In short epochs nothing waits for room, so it does not limit either if the caller waited for
    less than a hundredth of the run; nor does reading if most of that wait was for the transform.
    """
    room_ns = found["worker_wait_ns"] // max(found["threads"], 1)
    if not found["batches"]:
        return "none", "no batch was delivered yet"
    has_transform = times.has_begun()
    reading_ns = found["caller_wait_ns"]
    waited_ns = times.waited_ns if has_transform else reading_ns
    has_waited = waited_ns > 0 and 100 * waited_ns >= run_ns
    if has_waited and reading_ns > room_ns and 2 * reading_ns > waited_ns:
        who = "the transform" if has_transform else "the caller"
        return _limiting_read(found, f"{who} waited {_seconds(reading_ns)}", room_ns)
    idle_ns = times.idle_ns // times.thread_count
    if has_waited and has_transform and waited_ns > idle_ns:
        return "transform", (
            f"the caller waited {_seconds(waited_ns)} for the transform, each thread of the "
            f"transform {_seconds(idle_ns)} for work"
        )
    return "caller", (
        f"batches were ready: the caller waited {_seconds(waited_ns)}, each reading thread "
        f"{_seconds(room_ns)} for room"
    )


def _limiting_read(found: Statistics, wait: str, room_ns: int) -> tuple[Stage, str]:
    room = f"each reading thread {_seconds(room_ns)} for room"
    if 2 * found["decode_ns"] <= found["fill_ns"] or not found["decode_ns"]:
        return "reading", f"{wait} for records to be read and parsed, {room}"
    share = found["decode_ns"] / found["fill_ns"]
    count = found["decoded_count"] + found["decode_failed_count"]
    each_ns = found["decode_ns"] // max(count, 1)
    return "decoding", (
        f"{wait} for pictures to be decoded, {room}; decoding is {share:.0%} of the reading "
        f"threads' work, {_seconds(each_ns)} for each picture"
    )


def _advice(causes: Mapping[str, int], warmed: Warmed) -> str:
    """What helps if most of the time is spent on reading from a disk."""
    if 2 * causes.get("disk", 0) <= sum(causes.values()) or warmed in _NEEDS_NOTHING:
        return ""
    if warmed == "memory":
        return "; memory has no room to warm the shards: use Windowed"
    return '; warm="on", `recmap warm` or Windowed would help'


def _shares(causes: Mapping[str, int]) -> str:
    """The causes with at least a hundredth of the time, the largest first."""
    whole = sum(causes.values())
    largest = sorted(causes.items(), key=lambda item: -item[1])
    return ", ".join(f"{cause} {ns / whole:.0%}" for cause, ns in largest if 100 * ns >= whole)


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.3g} s"
