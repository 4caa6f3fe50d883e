"""Calls that wait for a remote store end when a signal handler raises, and loaders when closed."""

import collections
import contextlib
import gc
import gzip
import operator
import os
import signal
import threading
import time

import pytest
import recmap
from conftest import flip
from object_server import (
    flip_bit,
    on_object,
    reset,
)


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


def test_an_interrupt_ends_a_wait(remote, server):
    server.faults = [on_object(lambda handler: time.sleep(5))] * 100
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        remote.gather(range(len(remote)))
    assert time.monotonic() - start < 4


class Interrupt(BaseException):
    pass


@contextlib.contextmanager
def stalled(server, is_stalled):
    """Requests that `is_stalled` chooses are not answered. The first of them sends this process a
    signal, whose handler raises."""
    released, rung = threading.Event(), threading.Event()

    def stall(handler):
        if not is_stalled(handler):
            return False
        if not rung.is_set():
            rung.set()
            os.kill(os.getpid(), signal.SIGUSR1)
        released.wait(100)
        return reset(handler)

    def ring(number, frame):
        raise Interrupt

    former = signal.signal(signal.SIGUSR1, ring)
    server.faults = [stall] * 1000
    try:
        start = time.monotonic()
        with pytest.raises(Interrupt):
            yield
        assert rung.is_set()
        assert time.monotonic() - start < 5  # a request that stalls ends after 10 s
    finally:
        released.set()
        server.faults = []
        signal.signal(signal.SIGUSR1, former)


def any_request(handler):
    return True


def second_range(handler):
    """The request that follows the one for the size of an object."""
    return handler.headers["Range"] not in ("bytes=0-0", "bytes=0-1")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("chosen", [any_request, second_range])
@pytest.mark.parametrize(
    "names", ["s3://train/digits-*", "s3://train/digits-00001-of-00004.tfrecord"]
)
def test_an_interrupt_ends_listing_and_indexing(server, tmp_path, names, chosen, threads):
    if chosen is second_range and "*" in names:
        server.folder.joinpath("train", "digits-00003-of-00004.tfrecord").unlink()
    with stalled(server, chosen):
        recmap.index(
            names,
            tmp_path / "a.rmx",
            storage=recmap.Storage(options=server.options()),
            threads=threads,
            progress=None,
        )
    assert list(tmp_path.glob("a.rmx*")) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda ds: ds[1700],
        lambda ds: ds[::500].schema(),
        lambda ds: ds.gather([3, 1700]),
        lambda ds: ds.parse([3, 1700], {"label": recmap.FixedLen((), "int64")}),
        lambda ds: ds.gather(range(1700), threads=2),
        lambda ds: ds.verify(progress=None),
        lambda ds: list(ds),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_interrupt_ends_a_wait_for_records(server, local, tmp_path, suffix, call):
    bucket, index = server.folder / "train", tmp_path / "a.rmx"
    if suffix:
        for shard in bucket.iterdir():
            shard.with_name(shard.name + suffix).write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    recmap.index(
        f"s3://train/digits-*.tfrecord{suffix}", index, storage=recmap.Storage(options=options)
    )
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        with stalled(server, any_request):
            call(ds)
        assert bytes(ds[1700]) == bytes(local[1700])


def whole_object_again(name, size):
    """The second request for all of an object: the first one comes with the scan, this one with the
    copy of a damaged shard."""
    seen = []  # of requests: the function is called several times for each

    def is_again(handler):
        headers = handler.headers
        if name not in handler.path or headers["Range"] != f"bytes=0-{size - 1}":
            return False
        if not any(headers is other for other in seen):
            seen.append(headers)
        return headers is not seen[0]

    return is_again


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_interrupt_ends_the_copy_of_a_damaged_shard(server, tmp_path, suffix, threads):
    bucket = server.folder / "train"
    for shard in sorted(bucket.iterdir()):
        if suffix:
            shard.with_name(shard.name + suffix).write_bytes(gzip.compress(shard.read_bytes()))
            shard.unlink()
    damaged = sorted(bucket.iterdir())[0]
    size = damaged.stat().st_size
    flip(damaged, size // 2)

    def index():
        names = f"s3://train/digits-*.tfrecord{suffix}"
        options = {"storage": recmap.Storage(options=server.options()), "on_bad_record": "skip"}
        return recmap.index(names, tmp_path / "a.rmx", threads=threads, progress=None, **options)

    with stalled(server, whole_object_again(damaged.name, size)):
        index()
    assert list(tmp_path.glob("a.rmx*")) == []
    index()
    assert recmap.open(
        tmp_path / "a.rmx", storage=recmap.Storage(allow_urls=True, options=server.options())
    ).info["damage"]


def test_a_handler_that_reads_records_leaves_the_interrupt(server, local, remote):
    """The handler of a signal reads from a local data set during a call that waits. The next
    signal still ends that call."""
    rings, has_waited, released = [], [], threading.Event()

    def ring(number, frame):
        rings.append(bytes(local.gather([3])[0]))
        if len(rings) == 2:
            raise Interrupt

    def stall(handler):
        has_waited.append(not released.wait(8))
        return reset(handler)

    former = signal.signal(signal.SIGALRM, ring)
    server.faults = [stall] * 100
    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
    try:
        with pytest.raises(Interrupt):
            remote[1700]
        assert len(rings) == 2
        assert has_waited == []  # the call ended during its first request
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        server.faults = []
        released.set()


def test_an_interrupt_ends_the_second_read_of_a_damaged_record(remote, server):
    count = len(server.requests)
    with stalled(server, lambda handler: len(server.requests) > count + 1):
        server.faults.insert(0, on_object(flip_bit))
        remote[3]


def test_an_interrupt_leaves_the_span_to_other_threads(server, tmp_path):
    """Two threads need one span. The one that requests its bytes is interrupted; the other one then
    requests them itself."""
    shard = server.folder / "train" / "digits-00000-of-00004.tfrecord"
    shard.with_name("a.gz").write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    ds = recmap.open(
        "s3://train/a.gz", index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)
    )
    records = []
    other = threading.Thread(target=lambda: records.append(bytes(ds[3])))

    def is_first(handler):
        if len(server.requests) > count + 1:
            return False
        other.start()
        time.sleep(0.2)  # so that it probably waits for the span
        return True

    count = len(server.requests)
    with stalled(server, is_first):
        ds[3]
    other.join(60)
    assert records == [bytes(ds[3])]


def test_an_interrupt_ends_a_wait_for_a_span_that_another_thread_requests(server, tmp_path):
    shard = server.folder / "train" / "digits-00000-of-00004.tfrecord"
    shard.with_name("a.gz").write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    ds = recmap.open(
        "s3://train/a.gz", index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)
    )
    records, asked, released = [], threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: records.append(bytes(ds[3])))

    def hold(handler):
        asked.set()
        released.wait(8)  # a request that stalls is repeated after 10 s
        return False

    def ring(number, frame):
        raise Interrupt

    server.faults = [hold]
    former = signal.signal(signal.SIGALRM, ring)
    try:
        other.start()
        assert asked.wait(60)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupt):
            ds[4]
        assert not records  # the other thread still waits
    finally:
        signal.signal(signal.SIGALRM, former)
        released.set()
    other.join(60)
    assert records == [bytes(ds[3])]


def test_an_interrupt_ends_an_estimate(remote):
    """A long estimate, not only the first statement of Python after it. No such statement runs
    between the calls, so a signal that no call answers is answered after the last one."""
    order = recmap.Weighted([1.0] * len(remote), size=4_000_000)
    loader = recmap.Loader(remote, 250_000, order=order)
    calls = iter([loader._loader.estimate_requests] * 5)

    def ring(number, frame):
        raise Interrupt

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Interrupt):
            collections.deque(map(operator.call, calls), maxlen=0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert operator.length_hint(calls) > 0


def test_the_end_of_a_loader_does_not_wait_for_the_server(remote, server):
    asked, released = threading.Event(), threading.Event()

    def answer_once(handler):
        if len(server.requests) == 1:
            return False
        asked.set()
        released.wait(100)
        return reset(handler)

    server.faults = [on_object(answer_once)] * 1000
    loader = recmap.Loader(remote, 64, threads=1)
    try:
        assert len(next(iter(loader))) == 64
        assert asked.wait(60)
        loader.close()
        del loader
        gc.collect()
        ranges = server.ranges()
    finally:
        released.set()
    # A loader that waited would have repeated the request.
    assert len(set(ranges)) == len(ranges)
