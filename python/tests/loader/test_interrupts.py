"""Signal handlers that raise, as Ctrl-C does: a loop that is begun again loses no record.

200 interrupts for each kind of loop; 2,000 with RECMAP_TEST_LONG=1.
"""

import contextlib
import fcntl
import json
import math
import os
import random
import signal
import sys
import time

import numpy as np
import pytest
import recmap
from conftest import DIGITS

COUNT = 2000 if os.environ.get("RECMAP_TEST_LONG") else 200
SEEN_MAX = 2000
FEATURES = {
    "label": recmap.FixedLen((), "int64"),
    "image": recmap.FixedLen((64,), "uint8", raw=True),
    "id": recmap.FixedLen((), "bytes"),
}


class Interrupt(BaseException):
    pass


class Alarm:
    """Raises Interrupt in the main thread, at a random time after `arm`; and again each second
    until `disarm`, as Python ignores what is raised while it collects garbage.

    Pytest would keep the ignored ones until the end of a test, with the frames that they were
    raised in, and so all batches that these had seen."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._is_armed = False
        self.count = 0

    def __enter__(self):
        self._former = signal.signal(signal.SIGALRM, self._ring)
        self._former_hook, sys.unraisablehook = sys.unraisablehook, self._report
        return self

    def __exit__(self, *error):
        self.disarm()
        sys.unraisablehook = self._former_hook
        signal.signal(signal.SIGALRM, self._former)

    def _report(self, ignored):
        if ignored.exc_type is not Interrupt:
            self._former_hook(ignored)

    def _ring(self, number, frame):
        if self._is_armed:
            self.count += 1
            raise Interrupt

    def arm(self):
        self._is_armed = True
        signal.setitimer(signal.ITIMER_REAL, 10 ** self._random.uniform(-5, -2.3), 1)

    def disarm(self):
        self._is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def iterate(alarm, iterable, seen):
    """One `for`, to its end or to the alarm.

    CPython 3.13 and 3.14 jump back to the start of a loop outside its function's `try`, so that it
    does not see what a signal handler raises there: the loop has a function of its own."""
    try:
        loop(alarm, iterable, seen)
    except Interrupt:
        alarm.disarm()


def loop(alarm, iterable, seen):
    """A loop over many epochs also ends if the alarm was ignored, as the batches of a second would
    take much memory."""
    alarm.arm()
    for item in iterable:
        seen.append(item)
        if len(seen) == SEEN_MAX:
            break
    alarm.disarm()


class Epochs:
    """The numbers that loops should deliver, epoch after epoch."""

    def __init__(self, expected):
        self._expected = expected
        self.epoch, self._rest = 0, list(expected(0))
        self._length = len(self._rest)

    def take(self, numbers):
        """Compares delivered numbers with the next ones."""
        for number in numbers:
            assert number == self._rest.pop(0)
            if not self._rest:
                self.epoch, self._rest = self.epoch + 1, list(self._expected(self.epoch + 1))

    def check_state(self, state):
        """An epoch's end may be told as such, or as the start of the next one."""
        epoch, position = state["epoch"], state["position"]
        if position == self._length:
            epoch, position = epoch + 1, 0
        assert (epoch, position) == (self.epoch, self.position)

    @property
    def position(self):
        return self._length - len(self._rest)

    def is_within(self):
        return self.position > 0


def check_interrupted(make, numbers_of, expected, seed, count=COUNT):
    """Loops over what `make` makes, interrupted and begun again; `expected(epoch)` are the numbers
    of an epoch. The delivered records and the position must equal those of loops that nothing
    interrupts."""
    loader, iterable = make()
    epochs, within = Epochs(expected), 0
    with Alarm(seed) as alarm:
        while alarm.count < count:
            seen, rung = [], alarm.count
            iterate(alarm, iterable, seen)
            epochs.take(number for item in seen for number in numbers_of(item))
            epochs.check_state(loader.state_dict())
            within += alarm.count > rung and epochs.is_within()
    # Interrupts fell into epochs, not only between two loops.
    assert within > count / 8


def make_loader(digits, **more):
    loader = recmap.Loader(digits, 32, shuffle=True, seed=3, **more)
    return loader, loader


def expected_of(digits):
    order = recmap.Shuffled(len(digits), seed=3)
    return lambda epoch: order.at(epoch, range(len(digits))).tolist()


def test_a_loader_of_records(digits):
    check_interrupted(
        lambda: make_loader(digits), lambda batch: batch.numbers.tolist(), expected_of(digits), 1
    )


@pytest.mark.parametrize("epochs", [None, 10**9])
def test_a_loader_of_columns(digits, epochs):
    check_interrupted(
        lambda: make_loader(digits, features=FEATURES, epochs=epochs),
        lambda batch: batch.numbers.tolist(),
        expected_of(digits),
        2,
    )


@pytest.mark.parametrize("features", [None, FEATURES])
def test_a_loader_with_a_transform(digits, features):
    check_interrupted(
        lambda: make_loader(
            digits,
            features=features,
            transform=lambda batch: batch.numbers.tolist(),
            transform_threads=3,
        ),
        lambda numbers: numbers,
        expected_of(digits),
        3,
    )


def test_tensors_of_torch(digits):
    pytest.importorskip("torch")
    import recmap.torch

    def make():
        loader, _ = make_loader(digits, features=FEATURES)
        return loader, recmap.torch.IterableDataset(loader, numbers="number")

    check_interrupted(make, lambda batch: batch["number"].tolist(), expected_of(digits), 4)


def test_batches_of_the_loader_of_torch(digits):
    pytest.importorskip("torch")
    import recmap.torch

    def make():
        loader = recmap.torch.Loader(
            digits, 32, shuffle=True, seed=3, features=FEATURES, numbers="number"
        )
        return loader, loader

    check_interrupted(make, lambda batch: batch["number"].tolist(), expected_of(digits), 8)


@pytest.mark.parametrize("batch_size", [32, None])
def test_numbers_of_a_sampler(digits, batch_size):
    """A `for` over the same sampler would start again at its beginning, so each loop resumes a new
    sampler from the state of the interrupted one."""
    pytest.importorskip("torch")
    import recmap.torch

    order = recmap.Shuffled(len(digits), seed=3)
    epochs, within = Epochs(expected_of(digits)), 0
    sampler = recmap.torch.Sampler(order, batch_size)
    with Alarm(9) as alarm:
        while alarm.count < COUNT:
            seen, rung = [], alarm.count
            iterate(alarm, sampler, seen)
            epochs.take(seen if batch_size is None else sum(seen, []))
            state = sampler.state_dict()
            epochs.check_state(state)
            within += alarm.count > rung and epochs.is_within()
            sampler = recmap.torch.Sampler(order, batch_size)
            sampler.load_state_dict(state)
    assert within > COUNT / 4


def test_a_sampler_in_a_data_loader(digits):
    """PyTorch's loader takes numbers before it delivers their batch, so the state is that after the
    delivered batches. No interrupt is injected with worker processes: it ends PyTorch's iterator
    with what that has requested, wherever it falls, and the loop resumes from the same state."""
    torch = pytest.importorskip("torch")
    import recmap.torch

    order = recmap.Shuffled(len(digits), seed=3)
    records = recmap.torch.MapDataset(digits, {"label": recmap.FixedLen((), "int64")})
    labels, epochs, within = digits.columns["label"], Epochs(expected_of(digits)), 0
    state = recmap.torch.Sampler(order, 32).state_dict()
    with Alarm(10) as alarm:
        while alarm.count < COUNT:
            sampler = recmap.torch.Sampler(order, 32)
            sampler.load_state_dict(state)
            seen, rung = [], alarm.count
            with contextlib.suppress(Interrupt):
                for batch in torch.utils.data.DataLoader(records, batch_sampler=sampler):
                    seen.append(batch)
                    if len(seen) == 1:  # creating the iterator takes longer than all batches
                        alarm.arm()
                alarm.disarm()  # before the end of `with`, where nothing suppresses an interrupt
            alarm.disarm()
            state = sampler.state_after(len(seen)) if seen else sampler.state_dict()
            start, length = epochs.epoch, sum(len(batch["label"]) for batch in seen)
            numbers = order.at(start, np.arange(length) + epochs.position).tolist()
            assert [int(label) for batch in seen for label in batch["label"]] == labels[
                numbers
            ].tolist()
            epochs.take(numbers)
            epochs.check_state(state)
            within += alarm.count > rung and epochs.is_within()
    assert within > COUNT / 4


@pytest.mark.parametrize("is_of_torch", [False, True])
def test_columns_that_fail(digits, monkeypatch, is_of_torch):
    """An error out of the conversion of a batch to columns loses no batch."""
    import recmap._loader.step_source as module

    if is_of_torch:
        pytest.importorskip("torch")
        import recmap.torch
    chance, columns_of, failures = random.Random(11), module.columns_of, []

    def fail_now_and_then(batch):
        if chance.random() < 0.1:
            failures.append(1)
            raise MemoryError
        return columns_of(batch)

    monkeypatch.setattr(module, "columns_of", fail_now_and_then)
    if is_of_torch:
        loader = recmap.torch.Loader(
            digits, 32, shuffle=True, seed=3, features=FEATURES, numbers="number"
        )
    else:
        loader, _ = make_loader(digits, features=FEATURES)
    epochs = Epochs(expected_of(digits))
    while len(failures) < COUNT:
        with contextlib.suppress(MemoryError):
            for batch in loader:
                numbers = batch["number"] if is_of_torch else batch.numbers
                epochs.take(numbers.tolist())
        epochs.check_state(loader.state_dict())
    assert epochs.epoch > 0


def test_elements_of_grain(digits):
    """What an interrupt leaves in the adapter's caches is right: an element asked for again is the
    same. Positions are kept by the loop here, and by Grain's iterators in a pipeline."""
    grain = pytest.importorskip("grain")
    import recmap.grain

    order, labels = recmap.Shuffled(len(digits), seed=3), digits.columns["label"]
    source = recmap.grain.DataSource(digits, {"label": recmap.FixedLen((), "int64")})
    ordered = recmap.grain.Ordered(grain.MapDataset.source(source), order).repeat()
    batches = recmap.grain.Batches(digits, order, 32, FEATURES).repeat()
    epochs = 20
    numbers = np.concatenate([order.at(epoch, range(len(digits))) for epoch in range(epochs)])
    expected = labels[numbers].tolist()
    for dataset, of in (
        (ordered, lambda element: [int(element["label"])]),
        (batches, lambda element: element["label"].tolist()),
    ):
        given, at = [], 0
        with Alarm(6) as alarm:
            while alarm.count < COUNT:
                seen = []
                iterate(alarm, (dataset[i] for i in range(at, at + 200)), seen)
                at += len(seen)
                given += [label for element in seen for label in of(element)]
                if len(given) > len(expected) - 200 * 32:
                    assert given == expected[: len(given)]
                    given, at = [], 0
        assert given == expected[: len(given)]


def test_elements_of_tensorflow(digits, monkeypatch):
    """TensorFlow asks for elements in threads of its own, which see no signals, but a conversion
    can fail. The loop continues from its last state, as tf.data reads ahead."""
    tensorflow = pytest.importorskip("recmap.tensorflow")
    chance, numpy, failures = random.Random(5), tensorflow._numpy, []

    def fail_now_and_then(values):
        if chance.random() < 0.05:
            failures.append(1)
            raise MemoryError
        return numpy(values)

    monkeypatch.setattr(tensorflow, "_numpy", fail_now_and_then)
    loader, _ = make_loader(digits, features=FEATURES)
    dataset = tensorflow.dataset(loader, state=True)
    labels, order = digits.columns["label"], recmap.Shuffled(len(digits), seed=3)
    state, epoch, rest = loader.state_dict(), 0, []
    while len(failures) < COUNT // 10:
        loader.load_state_dict(state)
        seen = []
        with contextlib.suppress(tensorflow.tf.errors.OpError):
            for element in dataset:
                seen.append(element)
        for batch, text in seen:
            if not rest:
                rest, epoch = labels[order.at(epoch, range(len(digits)))].tolist(), epoch + 1
            delivered = batch["label"].numpy().tolist()
            assert delivered == rest[: len(delivered)]
            del rest[: len(delivered)]
            state = json.loads(text.numpy())
    assert epoch > 0


def check_ends_early(call, whole, reached):
    """A call that is interrupted does not do all of its work: `reached` tells, from what it wrote,
    how much of `whole` was done."""
    with Alarm(7) as alarm:
        with pytest.raises(Interrupt):
            alarm.arm()
            call()
            alarm.disarm()
        alarm.disarm()
    assert reached() < whole


@pytest.mark.parametrize("method", ["at", "run"])
def test_numbers_of_an_order_end_early(method):
    count = 1 << 24
    out = np.full(count, -1, np.int64).view(np.uint64)
    order = recmap.Shuffled(count, seed=1)._order
    positions = np.arange(count, dtype=np.uint64)
    calls = {
        "at": lambda: order.at(out, 0, positions),
        "run": lambda: order.run(out, 0, 0),
    }
    check_ends_early(calls[method], count, lambda: int((out.view(np.int64) >= 0).sum()))


@pytest.mark.parametrize("features", [None, FEATURES])
@pytest.mark.parametrize("access", ["map", "read"])
@pytest.mark.parametrize("threads", [1, 3])
def test_signals_are_answered_during_a_gather(digits_index, threads, access, features):
    """A handler is called several times in one long call, and what it raises ends the call. Signals
    that are answered only at the end of a call reach the handler once."""
    ds = recmap.open(DIGITS, index=digits_index, access=access)
    parser = recmap._example.features.parser_of(features) if features else None
    rings, limit = [], [math.inf]

    def ring(number, frame):
        rings.append(number)
        if len(rings) == limit[0]:  # once, so that nothing is raised after the call
            raise Interrupt

    def rings_during(count, ring_limit=math.inf):
        numbers = np.random.default_rng(1).integers(0, len(ds), count, np.uint64)
        rings.clear()
        limit[0] = ring_limit
        if parser is None:
            ds._gather(numbers, threads)
        else:
            ds._parse(parser, numbers, False, threads)
        return len(rings)

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
    try:
        count = 200_000
        while rings_during(count) < 4:
            count *= 2
            assert count < 10_000_000
        with pytest.raises(Interrupt):
            rings_during(4 * count, 2)  # so that a faster second call is also long enough
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert ds.gather([3]).numbers.tolist() == [3]


INTERVAL = 0.03  # seconds of processor time between two signals


def check_answered(make_call):
    """A long call answers signals while it works, at least each fourth of those that are sent: it
    does not work longer than four intervals without answering. They follow the processor time, so
    that a busy machine makes no difference. `make_call(count)` prepares a call."""
    rings = []
    former = signal.signal(signal.SIGPROF, lambda number, frame: rings.append(number))
    try:
        count, sent = 200_000, 0
        while sent < 12:
            assert count < 100_000_000
            call = make_call(count)
            rings.clear()
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
            call()
            signal.setitimer(signal.ITIMER_PROF, 0)
            sent = (time.process_time() - start) / INTERVAL
            count *= 2
        assert len(rings) >= sent / 4
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def test_signals_are_answered_while_batches_are_placed():
    """The first call for an epoch of a grouped order places all its batches."""

    def make_call(count):
        order = recmap.Grouped(np.arange(count), 1, seed=2)._order
        return lambda: order.at(np.zeros(1, np.uint64), 0, np.zeros(1, np.uint64))

    check_answered(make_call)


@pytest.mark.parametrize("kind", ["Grouped", "Stratified"])
def test_signals_are_answered_while_an_order_is_created(kind):
    """Both sort their labels first; stratified orders then assign a group to each position."""

    def make_call(count):
        labels = np.random.default_rng(1).integers(0, 1 << 60, count)
        return lambda: getattr(recmap, kind)(labels, 8)

    check_answered(make_call)


@pytest.mark.parametrize("features", [None, FEATURES])
def test_signals_are_answered_throughout_a_gather(digits, features):
    parser = recmap._example.features.parser_of(features) if features else None

    def make_call(count):
        numbers = np.random.default_rng(1).integers(0, len(digits), count, np.uint64)
        if parser is None:
            return lambda: digits._gather(numbers, 1)
        return lambda: digits._parse(parser, numbers, False, 1)

    check_answered(make_call)


def _interrupt(number, frame):
    raise Interrupt


def test_waiting_for_another_append(copied_digits, tmp_path):
    index, lock = tmp_path / "x.rmx", tmp_path / "x.rmx.lock"
    recmap.index(copied_digits, index)
    files = sorted(os.listdir(tmp_path))
    former = signal.signal(signal.SIGALRM, _interrupt)
    with open(lock, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Interrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            recmap.merge(index, [index], progress=None)
        assert sorted(os.listdir(tmp_path)) == sorted([*files, lock.name])
    signal.signal(signal.SIGALRM, former)
    recmap.merge(index, [index], progress=None)
    assert sorted(os.listdir(tmp_path)) == files
