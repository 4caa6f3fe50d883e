"""The loader: order, epochs, ranks, states, transforms and errors."""

import contextvars
import gc
import json
import math
import os
import pickle
import signal
import threading
import time
import weakref

import numpy as np
import pytest
import recmap
from conftest import DIGITS, flip, write
from recmap._loader import pipeline, stages


def numbers_of(batches):
    return [batch.numbers.tolist() for batch in batches]


def flat(batches):
    return [number for batch in batches for number in batch]


@pytest.fixture
def small(made):
    return made[:103]


def test_batches_follow_the_shuffled_order(small):
    loader = recmap.Loader(small, 10, shuffle=True, seed=7)
    order = recmap.Shuffled(len(small), seed=7)
    for epoch in range(3):
        batches = numbers_of(loader)
        assert [len(batch) for batch in batches] == [10] * 10 + [3]
        assert flat(batches) == order.at(epoch, range(103)).tolist()
    assert (loader.epoch, loader.position) == (3, 0)


def test_records_equal_those_of_the_data_set(made, payloads):
    for batch in recmap.Loader(made, 64, shuffle=True):
        for record, number in zip(batch, batch.numbers, strict=True):
            assert bytes(record) == payloads[number]


@pytest.mark.parametrize("access", ["map", "read", "direct", "auto"])
def test_access_modes_give_equal_batches(tmp_path, payloads, access):
    paths = write(tmp_path, payloads, shards=5)
    ds = recmap.open(paths, access=access)
    kept = list(recmap.Loader(ds, 100, shuffle=True, seed=4))
    whole = [bytes(record) for record in recmap.open(paths)]
    for batch in kept:
        assert [bytes(r) for r in batch] == [whole[n] for n in batch.numbers]


def test_epochs_in_one_for(small):
    assert len(flat(numbers_of(recmap.Loader(small, 10, epochs=3)))) == 309
    loader = recmap.Loader(small, 10, epochs=3)
    loader.seek(epoch=2, position=100)
    assert flat(numbers_of(loader)) == [100, 101, 102]
    assert numbers_of(loader) == []
    for forever in "forever", math.inf:
        endless = iter(recmap.Loader(small, 10, epochs=forever))
        assert len(flat(numbers_of(next(endless) for _ in range(40)))) > 309
    assert numbers_of(recmap.Loader(small, 10, epochs=0)) == []


@pytest.fixture
def sequences(tmp_path):
    """Record i has the id i and i steps of two floats."""
    steps = [[[t, t + 0.5] for t in range(i)] for i in range(20)]
    write(
        tmp_path,
        [recmap.encode_sequence_example({"id": i}, {"steps": s}) for i, s in enumerate(steps)],
    )
    return recmap.open(tmp_path / "made-0.tfrecord")


def test_batches_of_sequence_examples(sequences):
    context, lists = (
        {"id": recmap.FixedLen((), "int64")},
        {"steps": recmap.FixedLenSequence(2, float)},
    )
    loader = recmap.Loader(
        sequences, 6, shuffle=True, seed=3, features=context, feature_lists=lists
    )
    ids = recmap.Shuffled(20, seed=3).at(0, range(20)).tolist()
    resumed = pickle.loads(pickle.dumps(loader))
    for iterable in loader, resumed:
        seen = []
        for batch, steps in iterable:
            expected = sequences.parse_sequence(batch.numbers, context, lists)
            assert batch["id"].tolist() == expected[0]["id"].tolist()
            assert steps["steps"].tolist() == expected[1]["steps"].tolist()
            assert steps.lengths["steps"].tolist() == batch["id"].tolist()
            assert list(batch) == ["id"] and list(steps) == ["steps"]
            seen += batch["id"].tolist()
        assert seen == ids
    alone = recmap.Loader(sequences, 6, feature_lists=lists)
    assert [list(batch) for batch, _ in alone] == [[]] * 4
    doubled = recmap.Loader(
        sequences, 20, features=context, feature_lists=lists, transform=lambda b: b[0]["id"] * 2
    )
    assert next(iter(doubled)).tolist() == [2 * i for i in range(20)]


def test_next_for_continues_after_a_break(small):
    loader = recmap.Loader(small, 10)
    for i, _ in enumerate(loader):
        if i == 3:
            break
    assert loader.position == 40 and loader.steps_left == 7 and len(loader) == 11
    assert flat(numbers_of(loader)) == list(range(40, 103))
    assert flat(numbers_of(loader)) == list(range(103))


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_break_at_the_last_step_completes_the_epoch(small, transform):
    loader = recmap.Loader(small, 10, transform=transform)
    for epoch in range(3):
        iterator = iter(loader)
        for _ in range(len(loader)):
            next(iterator)
        assert (loader.epoch, loader.position, loader.steps_left) == (epoch + 1, 0, 11)
    assert list(iterator) == [] and loader.epoch == 3
    assert flat(numbers_of(loader)) == list(range(103))
    for _ in range(len(loader)):
        next(iterator := iter(loader))
    loader.seek(1)
    assert flat(numbers_of(loader)) == list(range(103))


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


def test_new_iterator_ends_the_previous_one(small):
    loader = recmap.Loader(small, 10)
    first = iter(loader)
    assert next(first).numbers[0] == 0
    second = iter(loader)
    assert next(second).numbers[0] == 10
    assert list(first) == []
    assert next(second).numbers[0] == 20


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
@pytest.mark.parametrize("epochs", [None, 2])
def test_state_at_every_step(small, transform, epochs):
    def make():
        return recmap.Loader(
            small, 9, shuffle=True, seed=3, epochs=epochs, transform=transform, transform_threads=3
        )

    loader = make()
    states, batches = [loader.state_dict()], []
    for batch in loader:
        batches.append(batch.numbers.tolist())
        states.append(loader.state_dict())
    for step in range(0, len(states), 3):
        state = json.loads(json.dumps(states[step]))
        other = make()
        other.load_state_dict(state)
        assert other.state_dict() == states[step]
        if step < len(batches):
            assert numbers_of(other) == batches[step:]
    assert len(json.dumps(states[5])) < 300


def test_loading_a_state_twice_changes_nothing(small):
    loader = recmap.Loader(small, 10, shuffle=True, transform=lambda b: b)
    next(iter(loader))
    state = loader.state_dict()
    for _ in range(3):
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        next(iter(loader))
        loader.load_state_dict(loader.state_dict())


def test_ranks_share_steps_and_resume_on_other_ranks(small):
    def run(world, batch, state, steps):
        loaders = [
            recmap.Loader(small, batch, shuffle=True, rank=r, world_size=world)
            for r in range(world)
        ]
        for loader in loaders:
            if state:
                loader.load_state_dict(state)
        iterators = [iter(loader) for loader in loaders]
        taken = []
        for _ in range(steps):
            for iterator in iterators:
                taken += next(iterator).numbers.tolist()
        states = [loader.state_dict() for loader in loaders]
        assert all(other == states[0] for other in states)
        return taken, states[0]

    order = recmap.Shuffled(103).at(0, range(103)).tolist()
    first, state = run(4, 5, None, 2)
    second, state = run(3, 7, state, 2)
    third, state = run(1, 30, state, 1)
    assert first + second + third == order[: 40 + 42 + 21]
    assert state["epoch"] == 1 and state["position"] == 0


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
def test_last_decides_about_incomplete_steps(small, last):
    loaders = [recmap.Loader(small, 10, last=last, rank=r, world_size=4) for r in range(4)]
    taken = [numbers_of(loader) for loader in loaders]
    assert len({len(batches) for batches in taken}) == 1
    count = sum(len(flat(batches)) for batches in taken)
    assert count == {"keep": 103, "drop": 80, "pad": 120}[last]
    assert all(loader.epoch == 1 for loader in loaders)


def test_state_of_another_data_set_raises(small, made):
    state = recmap.Loader(small, 10, shuffle=True).state_dict()
    for other in (
        recmap.Loader(small, 10, shuffle=True, seed=1),
        recmap.Loader(small, 10),
        recmap.Loader(made, 10, shuffle=True),
    ):
        with pytest.raises(recmap.StateMismatchError) as caught:
            other.load_state_dict(state)
        assert isinstance(caught.value, ValueError)
        assert other.position == 0
    for broken in ({}, {**state, "position": state["position"] + 1}):
        with pytest.raises(ValueError):
            recmap.Loader(small, 10, shuffle=True).load_state_dict(broken)


def test_views_and_orders_compose(digits):
    labels = digits.columns["label"]
    view = digits.select(labels < 5)
    order = recmap.Grouped(view.columns["label"], 16, seed=1)
    with pytest.warns(UserWarning, match="batch_size=16 has no effect: the order makes its own"):
        loader = recmap.Loader(view, 16, order=order)
    seen = []
    for batch in loader:
        assert len(set(labels[batch.numbers])) == 1
        seen += batch.numbers.tolist()
    assert sorted(seen) == view.numbers.tolist()
    backwards = recmap.Loader(digits[::-1], 1000)
    assert next(iter(backwards)).numbers[0] == len(digits) - 1


def test_orders_with_own_batches(digits):
    order = recmap.Stratified(digits.columns["label"], 100)
    loader = recmap.Loader(digits, order=order)
    assert len(loader) == order.batch_count == 18
    assert [len(batch) for batch in loader] == [100] * 17 + [97]


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"batch_size": 0},
        {"batch_size": 5, "rank": 1},
        {"batch_size": 5, "rank": -1},
        {"batch_size": 5, "last": "none"},
        {"batch_size": 5, "on_bad_record": "ignore"},
        {"batch_size": 5, "epochs": 1.5},
        {"batch_size": 5, "epochs": -1},
        {"batch_size": 5, "epochs": math.nan},
        {"batch_size": 5, "order": recmap.Sequential(10**6)},
        {"batch_size": 5, "order": recmap.Sequential(10), "shuffle": True},
    ],
)
def test_wrong_arguments(small, wish):
    with pytest.raises(ValueError):
        recmap.Loader(small, **wish)


def test_seek(small):
    loader = recmap.Loader(small, 10, shuffle=True)
    loader.seek(epoch=5, position=50)
    assert flat(numbers_of(loader)) == recmap.Shuffled(103).at(5, range(50, 103)).tolist()
    loader.seek(epoch=1, position=103)
    assert numbers_of(loader) == []
    for wrong in ({"position": 104}, {"position": -1}, {"epoch": -1}):
        with pytest.raises(ValueError):
            loader.seek(**wrong)


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


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_bad_records(tmp_path, transform):
    payloads = [f"record {i:04}".encode() for i in range(100)]
    (path,) = write(tmp_path, payloads)
    ds = recmap.open(path)
    flip(path, 27 * 50 + 15)
    loader = recmap.Loader(ds, 10, transform=transform)
    seen = []
    for _ in range(2):
        with pytest.raises(recmap.CorruptRecordError) as caught:
            for batch in loader:
                seen += batch.numbers.tolist()
        assert caught.value.record == 50 and seen == list(range(50)) and loader.position == 50
    skipping = recmap.Loader(ds, 10, on_bad_record="skip", transform=transform)
    assert flat(numbers_of(skipping)) == [i for i in range(100) if i != 50]
    assert [row["number"] for row in skipping.skipped] == [50]
    other = recmap.Loader(ds, 10, on_bad_record="substitute", transform=transform)
    assert flat(numbers_of(other)) == [51 if i == 50 else i for i in range(100)]
    assert other.statistics["skipped"] == 1


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


def test_statistics(small):
    loader = recmap.Loader(small, 10)
    list(loader)
    found = loader.statistics
    assert found["batches"] == 11 and found["records"] == 103
    assert found["bytes"] == sum(len(record) for record in small)


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


def test_no_records(tmp_path):
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    ds = recmap.open(tmp_path / "empty.tfrecord")
    assert list(recmap.Loader(ds, 10)) == []
    with pytest.raises(ValueError):
        list(recmap.Loader(ds, 10, epochs="forever"))


@pytest.mark.filterwarnings("ignore:there are no steps")
def test_endless_epochs_without_a_full_step_are_an_error(small):
    with pytest.raises(ValueError, match="no steps"):
        next(iter(recmap.Loader(small, 200, last="drop", epochs="forever")))
    assert list(recmap.Loader(small, 200, last="drop", epochs=3)) == []


def test_ctrl_c_while_waiting_for_transform(small):
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


# ---- Threads of a transform.


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
def test_invalid_transform_threads(small, threads, error, message):
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


def test_orders_of_another_length_raise(digits):
    few = digits[:7]
    for order in recmap.Shuffled(3), recmap.Mixture([recmap.Sequential(3)] * 2, [1, 1]):
        with pytest.raises(ValueError, match=r"covers [36] records, but the data set has 7.*ds\[:"):
            recmap.Loader(few, 2, order=order)
    with pytest.raises(ValueError, match="covers 8 records, but the data set has 7"):
        recmap.Loader(few, 2, order=recmap.Shuffled(8))
    for order in recmap.Shuffled(3).select(range(3)), recmap.Shuffled(3).select([6, 0, 2]):
        assert len(recmap.Loader(few, 2, order=order)) == 2
    part = recmap.Sequential(2).select([5, 6])
    mixture = recmap.Mixture([part, recmap.Sequential(2).select([0, 1])], [1, 1])
    assert len(recmap.Loader(few[:9], 2, order=recmap.WithReplacement(7, size=3))) == 2
    assert "<recmap.Order of" in repr(part) and "_View" not in repr(mixture)


def test_arguments_that_are_not_data_sets_raise():
    with pytest.raises(TypeError, match=r"dataset must be a recmap.Dataset, not 'x'"):
        recmap.Loader("x", 4)


def test_indexing_a_loader_says_what_to_write(digits):
    loader = recmap.Loader(digits, 100)
    with pytest.raises(TypeError, match=r"DataLoader\(recmap.torch.IterableDataset\(loader\)"):
        loader[0]


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


def test_the_error_of_another_order_shows_where_they_differ(digits):
    def loader_of(seed):
        parts = [recmap.Shuffled(200, seed=i) for i in range(8)] + [recmap.Shuffled(197, seed=seed)]
        return recmap.Loader(digits, 32, order=recmap.Mixture(parts, weights=[1] * 9))

    with pytest.raises(recmap.StateMismatchError, match=r"\.\.\..*77.*loader \.\.\..*99"):
        loader_of(99).load_state_dict(loader_of(77).state_dict())


def test_a_state_inside_another_dict(small):
    loader = recmap.Loader(small, 30)
    next(iter(loader))
    state = loader.state_dict()
    with pytest.raises(recmap.CorruptStateError, match="its keys are 'model', 'loader'") as caught:
        loader.load_state_dict({"model": {}, "loader": state})
    assert "not the one it was saved in" in caught.value.advice
    loader.load_state_dict({**state, "position": np.int64(state["position"])})
    assert loader.position == 30


def test_a_world_of_no_ranks(small):
    with pytest.raises(ValueError, match="world_size must be at least 1, not 0"):
        recmap.Loader(small, 30, rank=0, world_size=0)
