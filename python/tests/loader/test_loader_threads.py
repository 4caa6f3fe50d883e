"""Loaders in threads and processes: sharing, forks, pickles, and the end of their threads."""

import gc
import os
import pickle
import signal
import threading
import time
import weakref

import pytest
import recmap
from conftest import DIGITS
from loader_helpers import flat, numbers_of
from recmap._loader import pipeline, stages


@pytest.fixture
def small(made):
    return made[:103]


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_loader_is_freed_with_its_last_reference(small, transform):
    loader = recmap.Loader(small, 10, transform=transform)
    next(iter(loader))
    gone = weakref.ref(loader)
    gc.disable()
    try:
        del loader
        assert gone() is None
    finally:
        gc.enable()


def test_batches_outlive_the_loader(made, payloads):
    loader = recmap.Loader(made, 100, shuffle=True)
    batches = list(loader)
    del loader
    made.close()
    for batch in batches:
        for record, number in zip(batch, batch.numbers, strict=True):
            assert bytes(record) == payloads[number]


def test_pickled_loader_continues_at_its_position(small):
    loader = recmap.Loader(small, 10, shuffle=True, seed=9)
    iterator = iter(loader)
    next(iterator)
    again = pickle.loads(pickle.dumps(loader))
    assert again.state_dict() == loader.state_dict()
    assert numbers_of(again) == numbers_of(loader)


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_child_process_needs_its_own_loader(small, transform):
    """After a fork, the parent's loader raises. When pickled, it continues at its position."""
    loader = recmap.Loader(small, 10, transform=transform)
    assert next(iter(loader)).numbers[0] == 0
    read, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            next(iter(loader))
        except ValueError as error:
            own = recmap.Loader(small, 10)
            own.seek(position=10)
            os.write(write_end, f"{next(iter(own)).numbers[0]} {error}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    assert said.startswith("10 ") and "forked" in said
    assert next(iter(loader)).numbers[0] == 10


def test_a_child_process_does_not_wait_for_a_thread_of_its_parent(small):
    """In the parent, another thread is taking a step when the process is forked."""
    loader = recmap.Loader(small, 10)
    next(iter(loader))
    stop = threading.Event()

    def read():
        while not stop.is_set():
            for _ in loader:
                pass

    thread = threading.Thread(target=read)
    thread.start()
    calls = {
        "seek": lambda: loader.seek(0, 0),
        "load": lambda: loader.load_state_dict(state),
        "close": loader.close,
    }
    state = loader.state_dict()
    try:
        for call in list(calls.values()) * 10:
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # ends the child if it waits
                try:
                    call()
                except ValueError as error:
                    os._exit(0 if "forked" in str(error) else 1)
                os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_child_process_can_use_an_unused_loader(small, transform):
    loader = recmap.Loader(small, 10, transform=transform)
    child = os.fork()
    if child == 0:
        os._exit(0 if flat(numbers_of(loader)) == list(range(103)) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert flat(numbers_of(loader)) == list(range(103))


def test_threads_share_a_loader(made):
    loader = recmap.Loader(made, 7, shuffle=True)
    iterator, seen = iter(loader), []

    def take():
        for batch in iterator:
            seen.extend(batch.numbers.tolist())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(len(made)))


def test_threads_that_begin_together_share_one_pipeline(small, monkeypatch):
    """Both find no pipeline at their first `next`, and again after the loader was closed."""
    barrier, begun = threading.Barrier(2), []
    create, begin = recmap.Loader._create_pipeline, pipeline.Pipeline._begin

    def create_together(loader):
        made = create(loader)
        barrier.wait(20)
        return made

    def note(self):
        begun.append(self)
        begin(self)

    monkeypatch.setattr(recmap.Loader, "_create_pipeline", create_together)
    monkeypatch.setattr(pipeline.Pipeline, "_begin", note)
    loader = recmap.Loader(small, 10, transform=lambda batch: batch.numbers.tolist())
    for first in (0, 2):
        assert take_together(iter(loader)) == [
            list(range(10 * step, 10 * step + 10)) for step in (first, first + 1)
        ]
        assert len(set(map(id, begun))) == 1
        begun.clear()
        loader.close()


def take_together(iterator):
    """What two threads take from the iterator, sorted."""
    taken = []
    threads = [threading.Thread(target=lambda: taken.append(next(iterator))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(taken)


def test_a_failure_is_raised_by_one_of_several_threads():
    """The other thread raises it, and the feeder submits the step again, while this one looks at
    it. This thread must not have the step submitted once more."""
    pending, failed, again = pipeline._PENDING, pipeline._FAILED, pipeline._AGAIN

    class Step:
        status, finished = failed, None

        @property
        def error(self):
            if self.is_retried:
                self.status = pending
            return ValueError()

        def replace_status(self, old, new):
            was_old = self.status == old
            self.status = new if was_old else self.status
            return was_old

    class Source:
        def first(self):
            return step

    step = Step()
    shared = pipeline.Pipeline(Source(), None, None, 1, None, stages.TransformTimes())
    shared._owner = os.getpid()  # without a feeder
    step.is_retried = False
    with pytest.raises(ValueError):
        shared.first()
    assert step.status == again
    step.status, step.is_retried = failed, True
    assert shared.first() is None and step.status == pending


@pytest.mark.parametrize("transform", [None, lambda batch: batch.numbers.tolist()])
def test_threads_end_with_the_loader(small, transform):
    def live():  # Python lists a thread that the extension started even after its end
        return {t for t in threading.enumerate() if not isinstance(t, threading._DummyThread)}

    gc.collect()  # earlier tests may leave loaders in reference cycles
    before = live()
    loader = recmap.Loader(small, 10, transform=transform)
    next(iter(loader))
    del loader
    for _ in range(1000):
        if live() <= before:
            return
        time.sleep(0.01)
    raise AssertionError(f"threads left: {threading.enumerate()}")


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError


def thread_count():
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("access", ["map", "direct"])
@pytest.mark.parametrize("transform", [None, lambda batch: batch.numbers.tolist()])
def test_close_ends_all_threads(digits_index, access, transform):
    gc.collect()  # earlier tests may leave loaders in reference cycles
    before = thread_count()
    order = recmap.Shuffled(1797, seed=1)
    ds = recmap.open(DIGITS, index=digits_index, access=access)
    loader = recmap.Loader(ds, 7, order=order, threads=3, transform=transform)
    seen = []
    for _ in range(3):
        for batch in loader:
            seen += batch if transform else batch.numbers.tolist()
            if len(seen) % 70 == 0:
                break
        assert thread_count() > before
        loader.close()
        # Linux lists a thread a little longer, also those of earlier tests that `before` counts.
        wait_until(lambda: thread_count() <= before)
    assert seen == order.at(0, range(210)).tolist()
