"""The transform of a loader: its order, errors and threads."""

import _thread
import contextvars
import os
import signal
import threading
import time

import numpy as np
import pytest
import recmap
from conftest import flip, write
from loader_helpers import flat, numbers_of
from recmap._loader import pipeline


@pytest.fixture
def small(made):
    return made[:103]


def test_transform_runs_ahead_in_order(small):
    rng = np.random.default_rng(1)
    delays = iter(rng.random(1000) / 200)
    threads = set()

    def slow(batch):
        threads.add(threading.current_thread().name)
        time.sleep(next(delays))
        return batch.numbers.tolist()

    loader = recmap.Loader(small, 10, shuffle=True, transform=slow, transform_threads=4)
    assert flat(loader) == recmap.Shuffled(103).at(0, range(103)).tolist()
    assert flat(loader) == recmap.Shuffled(103).at(1, range(103)).tolist()
    assert len(threads) > 1
    loader.close()
    assert flat(loader) == recmap.Shuffled(103).at(2, range(103)).tolist()


def test_exception_of_transform_is_raised_at_its_step(small):
    failing = {3}

    def transform(batch):
        if batch.numbers[0] // 10 in failing:
            raise ZeroDivisionError
        return batch.numbers.tolist()

    loader = recmap.Loader(small, 10, transform=transform, transform_threads=2)
    seen = []
    with pytest.raises(ZeroDivisionError):
        for batch in loader:
            seen += batch
    assert seen == list(range(30)) and loader.position == 30
    with pytest.raises(ZeroDivisionError):
        next(iter(loader))
    failing.clear()
    assert flat(loader) == list(range(30, 103))


def test_transform_can_return_none(small):
    def nothing(batch):
        pass

    loader = recmap.Loader(small, 10, transform=nothing, transform_threads=1)
    message = rf"transform .*nothing in {__file__}:\d+ returned None: is its `return` missing"
    with pytest.warns(UserWarning, match=message) as caught:
        assert list(loader) == [None] * 11
    assert len(caught) == 1


class SlowStart:
    """`_thread`, except that the first thread begins when it is told to."""

    allocate_lock = staticmethod(_thread.allocate_lock)

    def __init__(self):
        self.held = []

    def start_new_thread(self, function, arguments):
        if self.held:
            _thread.start_new_thread(function, arguments)
        else:
            self.held.append((function, arguments))


def test_a_feeder_that_begins_late_is_the_only_one(tmp_path, monkeypatch):
    """It begins while the iterating thread, which has not seen it, starts another one. With two,
    the other loaders of a join took steps twice."""
    threads, pools = SlowStart(), []
    monkeypatch.setattr(pipeline, "_thread", threads)
    make = pipeline.ThreadPoolExecutor
    monkeypatch.setattr(
        pipeline, "ThreadPoolExecutor", lambda *given: pools.append(0) or make(*given)
    )

    class Source:
        def __init__(self, loader, user):
            self.loader, self.user, self.calls = loader, user, 0

        def __getattr__(self, name):
            return getattr(self.loader, name)

        def check_process(self):
            self.calls += 1
            if self.calls == 2:
                _thread.start_new_thread(*threads.held[0])
                while not self.user._owner:
                    time.sleep(0.001)
            self.loader.check_process()

    init = pipeline.Pipeline.__init__
    monkeypatch.setattr(
        pipeline.Pipeline,
        "__init__",
        lambda self, source, *rest: init(self, Source(source, self), *rest),
    )
    write(tmp_path, [recmap.encode_example({"id": f"{i}"}) for i in range(103)])
    ds = recmap.open(tmp_path, id="id")
    loader = recmap.JoinedLoader(recmap.join({"a": ds, "b": ds}), 10, transform=dict)
    for _ in range(2):
        batches = list(loader)
        for name in "ab":
            assert flat(batch[name].numbers.tolist() for batch in batches) == list(range(103))
    assert len(pools) == 1


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_an_error_is_raised_while_the_feeder_looks_at_it(small, monkeypatch):
    """Another thread takes the error between two looks of the feeder."""
    errors, looks = {}, []

    def look(self):
        found = errors.get(id(self))
        if found is not None and threading.current_thread() is not threading.main_thread():
            looks.append(found)
            if len(looks) == 1:
                errors[id(self)] = None
        return found

    def replace(self, error):
        errors[id(self)] = error

    monkeypatch.setattr(pipeline.Pipeline, "_error", property(look, replace), raising=False)
    tries = []

    class Failing:
        """The first two steps cannot be taken."""

        def __init__(self, loader):
            self.loader = loader

        def __getattr__(self, name):
            return getattr(self.loader, name)

        def take(self):
            tries.append(0)
            if len(tries) < 3:
                raise ValueError("a bad step")
            return self.loader.take()

    make = pipeline.Pipeline.__init__

    def made(self, source, *rest):
        make(self, Failing(source), *rest)

    monkeypatch.setattr(pipeline.Pipeline, "__init__", made)
    loader = recmap.Loader(small, 10, transform=len)
    raised = 0  # one of the two may be the error that the feeder lost
    for _ in range(3):
        try:
            total = sum(loader)
            break
        except ValueError:
            raised += 1
    assert looks and raised and total == len(small)


def test_what_ends_the_feeder_is_raised(small, monkeypatch):
    feed, failures = pipeline.Pipeline.feed, []

    def fail_once(self, pool):
        if not failures:
            failures.append(0)
            raise OSError("cannot go on")
        feed(self, pool)

    monkeypatch.setattr(pipeline.Pipeline, "feed", fail_once)
    loader = recmap.Loader(small, 10, transform=len)
    with pytest.raises(OSError, match="cannot go on"):
        list(loader)
    assert sum(loader) == len(small)


def test_ctrl_c_interrupts_waiting_for_a_transform(small):
    started = threading.Event()
    end = threading.Event()

    def transform(batch):
        started.set()
        end.wait(20)
        return batch

    loader = recmap.Loader(small, 10, transform=transform, transform_threads=1)

    def interrupt():
        started.wait()
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(iter(loader))
    assert time.monotonic() - begun < 5
    thread.join()
    end.set()
    assert loader.position == 0
    assert flat(numbers_of(loader)) == list(range(103))


def test_transform_can_read_the_state(small):
    loader = recmap.Loader(
        small,
        10,
        transform=lambda batch: (batch.numbers.tolist(), loader.state_dict()["position"]),
        transform_threads=2,
    )
    delivered = list(loader)
    assert flat(numbers for numbers, _ in delivered) == list(range(103))
    assert all(position in range(0, 103, 10) for _, position in delivered)


@pytest.mark.parametrize("use", ["iterate", "peek", "seek", "load_state_dict"])
def test_transform_cannot_move_its_loader(small, use):
    """It would wait for its own result."""

    def transform(batch):
        if batch.numbers[0] != 30:
            return batch.numbers
        if use == "iterate":
            return next(iter(loader))
        arguments = {"seek": (0, 0), "load_state_dict": (loader.state_dict(),)}
        return getattr(loader, use)(*arguments.get(use, ()))

    loader = recmap.Loader(small, 30, transform=transform, transform_threads=1)
    with pytest.raises(RuntimeError, match="cannot be iterated or moved by its own transform"):
        list(loader)
    assert loader.position == 30
    loader.close()


def test_transform_runs_in_the_context_of_the_caller(small):
    variable = contextvars.ContextVar("variable", default="none")
    loader = recmap.Loader(small, 30, transform=lambda _: variable.get())

    def values():
        variable.set("some")
        return list(loader)

    assert contextvars.copy_context().run(values) == ["some"] * len(loader)


@pytest.mark.parametrize(
    ("threads", "error", "message"),
    [
        (-2, ValueError, "transform_threads must not be negative, but is -2"),
        ("a", TypeError, "transform_threads must be an integer, not 'a'"),
        (1.5, TypeError, "transform_threads must be an integer"),
        (10**12, ValueError, "transform_threads must be at most 1024"),
    ],
)
def test_invalid_numbers_of_transform_threads_are_refused(small, threads, error, message):
    with pytest.raises(error, match=message):
        recmap.Loader(small, 30, transform=len, transform_threads=threads)


@pytest.mark.parametrize("_", range(200 if os.environ.get("RECMAP_TEST_LONG") else 20))
def test_transform_can_close_the_loader(small, _):
    def transform(batch):
        if batch.numbers[0] == 30 and not closed:
            closed.append(True)
            loader.close()
        return batch.numbers.tolist()

    closed = []
    loader = recmap.Loader(small, 10, transform=transform, transform_threads=2)
    seen = flat(loader)  # ends where it was closed
    assert seen == list(range(len(seen))) and len(seen) <= 30
    assert loader.position == len(seen)
    assert flat(loader) == list(range(len(seen), 103))


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, ZeroDivisionError])
def test_failed_transform_is_tried_again(small, error):
    failures = [error()]

    def transform(batch):
        if batch.numbers[0] == 20 and failures:
            raise failures.pop()
        return batch.numbers.tolist()

    loader = recmap.Loader(small, 10, transform=transform, transform_threads=2)
    seen = []
    with pytest.raises(error):
        for batch in loader:
            seen += batch
    assert seen == list(range(20)) and loader.position == 20
    assert flat(loader) == list(range(20, 103))


def test_stop_iteration_in_a_transform_is_an_error(small):
    def transform(batch):
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        list(recmap.Loader(small, 10, transform=transform))


def test_seek_discards_an_error_that_was_not_reached(tmp_path):
    """The error of a step that was read ahead is discarded with it."""
    payloads = [f"record {i:04}".encode() for i in range(100)]
    (path,) = write(tmp_path, payloads)
    ds = recmap.open(path)
    flip(path, 27 * 30 + 15)
    loader = recmap.Loader(ds, 10, transform=lambda batch: batch.numbers.tolist())
    assert next(iter(loader)) == list(range(10))
    time.sleep(0.1)
    loader.seek(position=50)
    assert flat(loader) == list(range(50, 100))
