"""Metrics of loaders for Prometheus, TensorBoard and the like.

recmap.metrics.prometheus(loader)                       # needs prometheus-client
report = recmap.metrics.scalars(loader, writer.add_scalar)
report(step)                                            # now and then
with recmap.metrics.live(loader):                       # a picture in a notebook
    for batch in loader: ...
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, cast

from ._base.context import Closing
from ._base.errors import Error
from ._base.names import suggest_arguments
from ._base.warn import warn_caller
from ._display.live import LiveDisplay, sparkline_html
from ._display.tables import facts_html
from ._loader.joined import JoinedLoader, check_loader
from ._loader.loader import Loader
from ._loader.stages import WARMED, Statistics
from ._loader.why import cause_times

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["live", "prometheus", "scalars"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


# name: (key of the statistics, factor, help)
_COUNTERS = {
    "batches": ("batches", 1, "Batches delivered"),
    "records": ("records", 1, "Records delivered"),
    "bytes": ("bytes", 1, "Bytes of records delivered"),
    "skipped_records": ("skipped", 1, "Records skipped or replaced"),
    "caller_wait_seconds": ("caller_wait_ns", 1e-9, "Time that batches were waited for"),
    "worker_wait_seconds": ("worker_wait_ns", 1e-9, "Time that reading threads waited for room"),
    "fill_seconds": ("fill_ns", 1e-9, "Time that threads read, checked and parsed records"),
    "parse_seconds": ("parse_ns", 1e-9, "Time that threads parsed records"),
    "decode_seconds": ("decode_ns", 1e-9, "Time that threads decoded pictures"),
    "decoded_pictures": ("decoded_count", 1, "Pictures decoded"),
    "decode_failures": ("decode_failed_count", 1, "Pictures that could not be decoded"),
    "decode_warnings": ("decode_warning_count", 1, "Pictures decoded in spite of faults"),
    "cache_hits": ("cache_hits", 1, "Reads of remote shards that the cache answered"),
    "cache_misses": ("cache_misses", 1, "Reads of remote shards that were requested"),
    "requests": ("requests", 1, "Requests sent to remote stores"),
    "request_retries": ("retries", 1, "Requests that repeated a failed one"),
    "request_hedges": ("hedges", 1, "Requests sent because a first one was slow"),
    "requested_bytes": ("requested_bytes", 1, "Bytes asked for from remote stores"),
    "used_bytes": ("used_bytes", 1, "Bytes asked for from remote stores that were needed"),
    "warmed_bytes": ("warmed_bytes", 1, "Bytes that were read to warm the shards"),
    "warm_bytes": ("warm_bytes", 1, "Bytes to warm that were there already"),
    "transform_seconds": ("transform_ns", 1e-9, "Time in the transform, in all threads"),
    "transform_wait_seconds": ("transform_wait_ns", 1e-9, "Time that the transform was waited for"),
}
_GAUGES = {"batches_ready": "Batches that are ready now", "threads": "Threads that read"}
_QUANTILES = {"0.5": "latency_p50_ns", "0.99": "latency_p99_ns"}
_STAGES = ("none", "reading", "decoding", "transform", "caller")

_collectors: weakref.WeakKeyDictionary[Any, _Collector] = weakref.WeakKeyDictionary()


@suggest_arguments
def prometheus(
    loader: Loader[Any] | JoinedLoader,
    registry: CollectorRegistry | None = None,
    *,
    name: str = "loader",
) -> None:
    """Exports the statistics of a loader through prometheus-client, as long as the loader exists.

    The metrics are ``recmap_loader_batches_total``, ``_records_total``, ``_bytes_total``,
    ``_skipped_records_total``, ``_caller_wait_seconds_total``, ``_worker_wait_seconds_total``,
    ``_fill_seconds_total``, ``_parse_seconds_total``, ``_decode_seconds_total``,
    ``_decoded_pictures_total``, ``_decode_failures_total``, ``_decode_warnings_total``,
    ``_cache_hits_total``, ``_cache_misses_total``, ``_requests_total``, ``_request_retries_total``,
    ``_request_hedges_total``, ``_requested_bytes_total``, ``_used_bytes_total``,
    ``_warmed_bytes_total``, ``_warm_bytes_total``, ``_transform_seconds_total``,
    ``_transform_wait_seconds_total``, ``_cause_seconds_total`` by "cause", ``_stalls_total``,
    ``_request_latency_seconds`` with a label ``quantile`` (0.5 and 0.99), ``_batches_ready``,
    ``_threads``, ``_epoch``, ``_position``, ``_limiting_stage``, which is 1 for the stage that
    limits, and ``_warmed``, which is 1 for the present state of warming. They are read when the
    registry is scraped and cost the loader nothing in between.

    Args:
        registry: where to register; None: prometheus-client's default registry.
        name: the value of the label ``loader``; each loader of a `JoinedLoader` has NAME/DATASET. A
            loader replaces an earlier one of the same name, also one of a join.

    Raises:
        ImportError: prometheus-client is not installed.
    """
    try:
        from prometheus_client import REGISTRY
    except ImportError as error:
        raise ImportError(
            "recmap.metrics.prometheus needs prometheus-client: pip install prometheus-client"
        ) from error
    named = _named_loaders(loader, name)
    chosen = REGISTRY if registry is None else registry
    collector = _collectors.get(chosen)
    if collector is None:
        collector = _Collector()
        chosen.register(cast(Any, collector))  # its class needs no prometheus-client
        _collectors[chosen] = collector
    collector.add(name, named)


def _named_loaders(loader: object, name: str) -> dict[str, Loader[Any]]:
    if isinstance(loader, JoinedLoader):
        return {f"{name}/{part}": one for part, one in loader.loaders.items()}
    check_loader(loader)
    return {name: cast("Loader[Any]", loader)}


class _Collector:
    """The loaders of a registry.

    Several threads may scrape it at the same time, so a scrape changes nothing.
    """

    def __init__(self) -> None:
        # {name: {label: loader}}: several loaders have the same name if they belong to a join.
        self._loaders: dict[str, dict[str, weakref.ref[Loader[Any]]]] = {}

    def add(self, name: str, loaders: Mapping[str, Loader[Any]]) -> None:
        """Replaces loaders of the same name, and forgets loaders that are gone."""
        self._loaders[name] = {label: weakref.ref(one) for label, one in loaders.items()}
        for other, references in list(self._loaders.items()):
            if all(reference() is None for reference in references.values()):
                self._loaders.pop(other, None)

    def _existing(self) -> dict[str, Loader[Any]]:
        """{label: loader}; of equal labels, one loader is left."""
        found = {}
        for references in list(self._loaders.values()):
            for label, reference in references.items():
                loader = reference()
                if loader is not None:
                    found[label] = loader
        return found

    def collect(self) -> Iterable[Any]:
        """What prometheus-client asks for at each scrape."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        found = list(self._read())
        for name, (key, factor, help_) in _COUNTERS.items():
            counter = CounterMetricFamily(f"recmap_loader_{name}", help_, labels=["loader"])
            for label, _, statistics in found:
                counter.add_metric([label], _value(statistics, key) * factor)
            yield counter
        yield from self._causes()
        for name, help_ in _GAUGES.items():
            gauge = GaugeMetricFamily(f"recmap_loader_{name}", help_, labels=["loader"])
            for label, _, statistics in found:
                gauge.add_metric([label], _value(statistics, name))
            yield gauge
        yield _latencies(found)
        yield from _places(found)

    def _causes(self) -> Iterable[Any]:
        from prometheus_client.core import CounterMetricFamily

        times = CounterMetricFamily(
            "recmap_loader_cause_seconds",
            "Time of the reading threads, by what it was spent on",
            labels=["loader", "cause"],
        )
        stalls = CounterMetricFamily(
            "recmap_loader_stalls", "Waits as long as `stall` seconds", labels=["loader"]
        )
        for label, loader in self._existing().items():
            try:
                causes = cause_times(loader._loader)
            except Error:  # in a child process
                continue
            for cause, ns in causes.items():
                times.add_metric([label, cause], ns / 1e9)
            stalls.add_metric([label], 0 if loader._stall is None else loader._stall.count)
        yield from (times, stalls)

    def _read(self) -> Iterable[tuple[str, tuple[int, int], Statistics]]:
        for label, loader in self._existing().items():
            try:
                yield label, loader._loader.tell(), loader.statistics
            except Error:  # in a child process, a loader of the parent has no statistics
                continue


def _value(statistics: Statistics, key: str) -> float:
    values: dict[str, Any] = {**statistics}
    return float(values[key])


def _latencies(found: list[tuple[str, tuple[int, int], Statistics]]) -> Any:
    from prometheus_client.core import GaugeMetricFamily

    latency = GaugeMetricFamily(
        "recmap_loader_request_latency_seconds",
        "Time to the first byte of recent replies of remote stores",
        labels=["loader", "quantile"],
    )
    for label, _, statistics in found:
        for quantile, key in _QUANTILES.items():
            latency.add_metric([label, quantile], _value(statistics, key) * 1e-9)
    return latency


def _places(found: list[tuple[str, tuple[int, int], Statistics]]) -> Iterable[Any]:
    from prometheus_client.core import GaugeMetricFamily

    epoch = GaugeMetricFamily("recmap_loader_epoch", "Epoch of the next step", labels=["loader"])
    position = GaugeMetricFamily(
        "recmap_loader_position", "Positions of the epoch used", labels=["loader"]
    )
    stage = GaugeMetricFamily(
        "recmap_loader_limiting_stage", "1 for the stage that limits", labels=["loader", "stage"]
    )
    warmed = GaugeMetricFamily(
        "recmap_loader_warmed", "1 for the state of warming", labels=["loader", "state"]
    )
    for label, place, statistics in found:
        epoch.add_metric([label], place[0])
        position.add_metric([label], place[1])
        for name in _STAGES:
            stage.add_metric([label, name], float(statistics["limiting_stage"] == name))
        for state in WARMED:
            warmed.add_metric([label, state], float(statistics["warmed"] == state))
    yield from (epoch, position, stage, warmed)


@suggest_arguments
def scalars(
    loader: Loader[Any], add_scalar: Callable[[str, float, int], object], prefix: str = "loader/"
) -> Callable[[int], None]:
    """A callable that reports the rates of a loader: ``report(step)``.

    Each call passes these scalars to `add_scalar`, as (tag, value, step): "batches_per_second",
    "records_per_second", "bytes_per_second" and "wait_share", the share of the time that the caller
    waited for batches, all since the call before; and "batches_ready".

    Args:
        add_scalar: ``SummaryWriter(...).add_scalar`` of TensorBoard, or a function like it.
        prefix: what the tags start with.

    >>> loader = recmap.Loader(digits(), 256)
    >>> report = recmap.metrics.scalars(loader, lambda tag, value, step: print(tag, step))
    >>> batch = next(iter(loader))
    >>> report(1)
    loader/batches_per_second 1
    loader/records_per_second 1
    loader/bytes_per_second 1
    loader/wait_share 1
    loader/batches_ready 1
    """
    check_loader(loader)
    before, before_ns = loader.statistics, time.monotonic_ns()

    def report(step: int) -> None:
        nonlocal before, before_ns
        now, now_ns = loader.statistics, time.monotonic_ns()
        for name, value in _rates(before, now, max(now_ns - before_ns, 1) / 1e9).items():
            add_scalar(prefix + name, value, step)
        before, before_ns = now, now_ns

    return report


def _rates(before: Statistics, now: Statistics, seconds: float) -> dict[str, float]:
    has_transform = now["transform_ns"] > 0
    waited = now["transform_wait_ns"] - before["transform_wait_ns"]
    if not has_transform:
        waited = now["caller_wait_ns"] - before["caller_wait_ns"]
    return {
        "batches_per_second": (now["batches"] - before["batches"]) / seconds,
        "records_per_second": (now["records"] - before["records"]) / seconds,
        "bytes_per_second": (now["bytes"] - before["bytes"]) / seconds,
        "wait_share": min(waited / 1e9 / seconds, 1.0),
        "batches_ready": float(now["batches_ready"]),
    }


class _Live(Closing):
    """What `live` returns. A thread draws; entering starts it, leaving ends it."""

    def __init__(self, loader: Loader[Any], every: float) -> None:
        self._loader = loader
        self._every = every
        self._display = LiveDisplay()
        self._rates: deque[float] = deque(maxlen=120)  # records per second
        self._stopped = threading.Event()
        self._failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, name="recmap live", daemon=True)
        self._before, self._before_ns = loader.statistics, time.monotonic_ns()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Ends the thread, which draws once more, and warns if a drawing failed."""
        self._stopped.set()
        self._thread.join()
        self._display.close()
        failures, self._failures = self._failures, []
        if failures:
            drawings = "1 drawing" if len(failures) == 1 else f"{len(failures)} drawings"
            warn_caller(f"the live picture lacks {drawings}: {failures[0]!r}")

    def _run(self) -> None:
        while not self._stopped.wait(self._every):
            self._try_to_draw()
        self._try_to_draw()

    def _try_to_draw(self) -> None:
        """A failure, such as a front end that went away, must not end the thread: the next drawing
        may succeed."""
        try:
            self._draw()
        except BaseException as error:
            self._failures.append(error)

    def _draw(self) -> None:
        found, now_ns = self._loader.statistics, time.monotonic_ns()
        rates = _rates(self._before, found, max(now_ns - self._before_ns, 1) / 1e9)
        self._before, self._before_ns = found, now_ns
        self._rates.append(rates["records_per_second"])
        facts = _facts(self._loader, found, rates)
        picture = sparkline_html(self._rates, "records per second over time")
        line = ", ".join(f"{name} {value}" for name, value in facts.items())
        self._display.draw(facts_html("recmap.Loader", facts, f"<br>{picture}"), line[:150])


def _facts(loader: Loader[Any], found: Statistics, rates: Mapping[str, float]) -> dict[str, object]:
    epoch, position = loader._loader.tell()
    return {
        "epoch": epoch,
        "position": f"{position} of {len(loader.order)}",
        "records/s": f"{rates['records_per_second']:,.0f}",
        "MB/s": f"{rates['bytes_per_second'] / 1e6:,.1f}",
        "waiting": f"{rates['wait_share']:.0%}",
        "ready": found["batches_ready"],
        "limit": found["limiting_stage"],
    }


@suggest_arguments
def live(loader: Loader[Any], every: float = 1.0) -> _Live:
    """Shows what a loader does while a block runs: ``with recmap.metrics.live(loader):``.

    In a notebook, this is a table with a picture of the rate, and on a terminal a line on standard
    error; elsewhere nothing is shown. A thread draws it again every `every` seconds, and once more
    at the end. If a drawing fails, the next one is tried, and the end of the block warns.

    Args:
        every: seconds between two drawings.

    Raises:
        ValueError: `every` is not positive, or longer than a thread can wait.

    >>> loader = recmap.Loader(digits(), 256)
    >>> with recmap.metrics.live(loader):
    ...     sum(len(batch) for batch in loader)
    1797
    """
    check_loader(loader)
    if not 0 < every <= threading.TIMEOUT_MAX:
        raise ValueError(f"every must be more than 0 seconds, and finite, not {every}")
    return _Live(loader, every)
