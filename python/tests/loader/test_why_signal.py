"""SIGUSR1 in each state of a loader. The batches are those of a run without signals."""

import contextlib
import gzip
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import recmap
from conftest import DIGITS
from object_server import on_object

LABEL = {"label": recmap.FixedLen((), "int64")}
OPTIONS = {"shuffle": True, "seed": 6, "epochs": 2, "features": LABEL}


@pytest.fixture(autouse=True)
def former_handler():
    former = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, former)


@contextlib.contextmanager
def signals():
    """Another thread sends signals to the main thread, as long as the block runs."""
    ended = threading.Event()

    def send():
        while not ended.wait(0.003):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def rows_of(loader):
    return [batch["label"].tolist() for batch in loader]


def ask():
    os.kill(os.getpid(), signal.SIGUSR1)


def asked(capfd):
    """The lines of the handler, each with the cause that it names."""
    lines = capfd.readouterr().err.splitlines()
    assert lines and all(line.startswith("recmap: rank 0: ") for line in lines)
    return [line.split(": ")[2] for line in lines]


def run_with_signals(loader, capfd):
    """All batches and the state after each; signals arrive all the time."""
    loader.why_on(signal.SIGUSR1)
    found = []
    with signals():
        ask()
        for batch in loader:
            found.append((batch["label"].tolist(), loader.state_dict()))
    return found, asked(capfd)


def undisturbed(ds, **more):
    loader = recmap.Loader(ds, 100, **{**OPTIONS, **more})
    return [(batch["label"].tolist(), loader.state_dict()) for batch in loader]


def slowly(batch):
    time.sleep(0.01)
    return batch


@pytest.mark.parametrize("more", [{}, {"threads": 1}, {"transform": slowly}])
def test_while_batches_are_taken(digits, capfd, more):
    found, causes = run_with_signals(recmap.Loader(digits, 100, **OPTIONS, **more), capfd)
    assert found == undisturbed(digits)
    assert "transform" not in more or "transform" in causes


@pytest.mark.filterwarnings("ignore:.*inflate")
def test_while_spans_are_inflated(tmp_path, digits, capfd):
    for shard in sorted(DIGITS.glob("*.tfrecord")):
        (tmp_path / f"{shard.name}.gz").write_bytes(gzip.compress(shard.read_bytes()))
    packed = recmap.open(f"{tmp_path}/*.gz", access=recmap.Reading(span_keep_size=1))
    found, _ = run_with_signals(recmap.Loader(packed, 100, **OPTIONS), capfd)
    assert [rows for rows, _ in found] == [rows for rows, _ in undisturbed(digits)]


def test_while_a_store_is_slow(remote, server, local, capfd):
    def wait(handler):
        time.sleep(0.05)
        return False

    server.faults = [on_object(wait)] * 12
    found, causes = run_with_signals(recmap.Loader(remote, 100, **OPTIONS), capfd)
    assert found == undisturbed(local)
    assert "store" in causes


def test_while_a_store_fails(remote, server, local, capfd):
    server.faults = [on_object(lambda handler: handler.fail(503, "SlowDown") or True)] * 5
    found, causes = run_with_signals(recmap.Loader(remote, 100, **OPTIONS), capfd)
    assert found == undisturbed(local)
    assert "store" in causes


STATES = {
    "new": lambda loader: None,
    "begun": lambda loader: next(iter(loader)),
    "ready": lambda loader: next(iter(loader)) and loader.ready(60),
    "ended": lambda loader: list(loader),
    "moved": lambda loader: loader.seek(1, 300),
    "closed": lambda loader: next(iter(loader)) and loader.close(),
}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("transform", [None, slowly])
def test_in_each_state_without_a_wait(digits, capfd, name, transform):
    loader = recmap.Loader(digits, 100, transform=transform, **OPTIONS)
    other = recmap.Loader(digits, 100, transform=transform, **OPTIONS)
    for each in loader, other:
        STATES[name](each)
    loader.why_on(signal.SIGUSR1)
    for _ in range(20):
        ask()
    assert set(asked(capfd)) <= {"caller", "nothing"}
    assert loader.state_dict() == other.state_dict()
    assert rows_of(loader) == rows_of(other)


def test_while_the_transform_raises(digits, capfd):
    """The signal arrives while the error passes; the next `for` continues there."""

    def fail_once(batch):
        if batch.step == 3 and not failed:
            failed.append(batch.step)
            ask()
            raise ValueError("step 3")
        return batch

    failed = []
    loader = recmap.Loader(digits, 100, transform=fail_once, **OPTIONS)
    loader.why_on(signal.SIGUSR1)
    found = []
    with pytest.raises(ValueError, match="step 3"):
        for batch in loader:
            found.append(batch["label"].tolist())
    found += rows_of(loader)
    assert found == [rows for rows, _ in undisturbed(digits)]
    assert asked(capfd)


# ---- Where nothing can be printed.


class Broken:
    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, Broken()])
def test_without_standard_error(digits, monkeypatch, stream):
    loader = recmap.Loader(digits, 100, **OPTIONS)
    loader.why_on(signal.SIGUSR1)
    monkeypatch.setattr(sys, "stderr", stream)
    found = []
    for batch in loader:
        ask()
        found.append(batch["label"].tolist())
    assert found == [rows for rows, _ in undisturbed(digits)]


PROGRAM = """
import os, signal, sys
import recmap
loader = recmap.Loader(recmap.open(sys.argv[1], shards=sys.argv[2]), 100)
loader.why_on(signal.SIGUSR1)
"""
ASK = "for _ in loader: os.kill(os.getpid(), signal.SIGUSR1)"
FORK = """
next(iter(loader))
child = os.fork()
if not child:
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
    except BaseException:
        os._exit(1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def start(digits_index, code):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + code, digits_index, DIGITS], stderr=subprocess.PIPE
    )


def test_standard_error_is_a_closed_pipe(digits_index):
    with start(digits_index, ASK) as process:
        process.stderr.close()
    assert process.returncode == 0


def test_a_forked_process_says_nothing(digits_index):
    with start(digits_index, FORK) as process:
        said = process.stderr.read()
    assert process.returncode == 0 and b"recmap" not in said
