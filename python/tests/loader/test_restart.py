"""Loaders whose `for` always begins at the start."""

import copy
import itertools
import pickle
import sys
import threading

import pytest
import recmap
from loader_helpers import numbers_of

KINDS = {
    "records": {},
    "transform": {"transform": lambda batch: batch},
    "epochs": {"epochs": 2},
}


@pytest.fixture
def small(made):
    return made[:100]


def some(loader, count):
    return numbers_of(itertools.islice(iter(loader), count))


@pytest.mark.parametrize("kind", KINDS)
def test_each_for_begins_at_the_start(small, kind):
    loader = recmap.Loader(small, 30, shuffle=True, seed=3, restart=True, **KINDS[kind])
    expected = numbers_of(recmap.Loader(small, 30, shuffle=True, seed=3, **KINDS[kind]))
    assert some(loader, 2) == expected[:2]
    assert some(loader, 1) == expected[:1]
    assert numbers_of(loader) == expected
    assert numbers_of(loader) == expected
    assert some(loader, 4) == expected[:4]  # left after the last step of an epoch
    assert numbers_of(loader) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_for_after_a_move_begins_there(small, kind):
    loader = recmap.Loader(small, 30, restart=True, **KINDS[kind])
    expected = numbers_of(loader)
    some(loader, 1)
    state = loader.state_dict()
    loader.load_state_dict(state)
    assert numbers_of(loader) == expected[1:]
    assert numbers_of(loader) == expected
    loader.seek(0, 60)
    assert numbers_of(loader) == expected[2:]
    assert some(loader, 1) == expected[:1]


def test_a_copy_begins_where_the_loader_would(small):
    loader = recmap.Loader(small, 30, restart=True)
    expected = numbers_of(loader)
    some(loader, 2)
    assert numbers_of(pickle.loads(pickle.dumps(loader))) == expected
    loader.seek(0, 60)
    assert numbers_of(copy.copy(loader)) == expected[2:]


@pytest.mark.parametrize("kind", KINDS)
def test_peek_shows_the_batch_that_the_for_gives(small, kind):
    loader = recmap.Loader(small, 30, restart=True, **KINDS[kind])
    expected = numbers_of(loader)
    assert loader.peek().numbers.tolist() == expected[0]
    iterator = iter(loader)
    next(iterator)
    assert loader.peek().numbers.tolist() == expected[1]
    assert numbers_of(iterator) == expected[1:]


def test_a_closed_loader_restarts(small):
    loader = recmap.Loader(small, 30, restart=True)
    expected = numbers_of(loader)
    some(loader, 2)
    loader.close()
    assert numbers_of(loader) == expected


@pytest.mark.parametrize("options", [{}, {"transform": lambda batch: batch}])
def test_joined_loaders_restart_together(digits, options):
    joined = recmap.join({"all": digits[:100], "some": digits[20:90]})
    loader = recmap.JoinedLoader(joined, 30, restart=True, **options)

    def rows(batches):
        return [[part.numbers.tolist() for part in batch.values()] for batch in batches]

    expected = rows(loader)
    assert len(expected) == 3
    for count in (2, 1, 3, 2):
        assert rows(itertools.islice(iter(loader), count)) == expected[:count]
    state = loader.state_dict()
    rows(loader)
    loader.load_state_dict(state)
    assert rows(loader) == expected[2:]
    assert rows(loader) == expected


def test_a_refused_state_leaves_the_next_for_as_it_was(digits):
    joined = recmap.join({"all": digits[:100], "some": digits[20:90]})
    loader = recmap.JoinedLoader(joined, 30, restart=True)
    other = recmap.JoinedLoader(joined, 30, shuffle=True, seed=4)
    next(iter(other))
    expected = len(list(loader))
    next(iter(loader))
    with pytest.raises(recmap.StateMismatchError):
        loader.load_state_dict(other.state_dict())
    assert len(list(loader)) == expected


def test_restart_is_true_or_false(small):
    with pytest.raises(TypeError, match="restart must be True or False, not 'yes'"):
        recmap.Loader(small, 30, restart="yes")


def assert_rounds_are_whole(loader, begin, expected):
    """While other threads ask whether a batch is ready, and look at the next one."""
    has_ended = threading.Event()

    def ask(question):
        while not has_ended.is_set():
            question()

    questions = loader.ready, loader.ready, loader.peek
    threads = [threading.Thread(target=ask, args=[question]) for question in questions]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(400):
            begin()
            assert numbers_of(loader) == expected
    finally:
        sys.setswitchinterval(interval)
        has_ended.set()
        for thread in threads:
            thread.join()


def test_other_threads_do_not_move_a_running_for(small):
    loader = recmap.Loader(small, 10, restart=True)
    expected = numbers_of(loader)
    assert_rounds_are_whole(loader, lambda: None, expected)
    assert_rounds_are_whole(loader, lambda: loader.seek(0, 60), expected[6:])


def test_a_new_for_ends_the_former_one_before_it_restarts(small):
    loader = recmap.Loader(small, 30, restart=True)
    expected = numbers_of(loader)
    former = iter(loader)
    next(former)
    assert some(loader, 1) == expected[:1]
    assert list(former) == []


def in_two_threads(function):
    """The results of both, which run at once and switch often."""
    barrier, results = threading.Barrier(2), []

    def run():
        barrier.wait()
        results.append(function())

    threads = [threading.Thread(target=run) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return results


def test_of_two_threads_the_later_one_ends_the_for_of_the_other(small):
    """None of them begins in the middle."""
    loader = recmap.Loader(small, 5, restart=True)
    expected = numbers_of(loader)
    for _ in range(200):
        found = in_two_threads(lambda: numbers_of(loader))
        assert expected in found
        assert all(numbers == expected[: len(numbers)] for numbers in found)


@pytest.mark.parametrize("epochs", [None, 1, 2])
@pytest.mark.parametrize("has_ended", [True, False])
def test_the_state_of_a_finished_for_is_the_start(small, epochs, has_ended):
    def loader_of():
        return recmap.Loader(small, 30, shuffle=True, seed=3, restart=True, epochs=epochs)

    loader = loader_of()
    iterator = iter(loader)
    expected = numbers_of(itertools.islice(iterator, 4 * (epochs or 1)))
    if has_ended:
        assert list(iterator) == []
    resumed = loader_of()
    resumed.load_state_dict(loader.state_dict())
    copied = pickle.loads(pickle.dumps(resumed))
    assert resumed.peek().numbers.tolist() == expected[0]
    assert numbers_of(resumed) == expected == numbers_of(copied)


def test_a_state_between_the_epochs_of_a_for_continues(small):
    loader = recmap.Loader(small, 30, shuffle=True, seed=3, restart=True, epochs=2)
    expected = numbers_of(loader)
    some(loader, 4)
    resumed = recmap.Loader(small, 30, shuffle=True, seed=3, restart=True, epochs=2)
    resumed.load_state_dict(loader.state_dict())
    assert numbers_of(resumed) == expected[4:]
    assert numbers_of(resumed) == expected


def test_the_state_of_a_finished_for_over_joined_sets_is_the_start(digits):
    joined = recmap.join({"all": digits[:100], "some": digits[20:90]})
    for options in ({}, {"transform": lambda batch: batch}):
        loader = recmap.JoinedLoader(joined, 30, restart=True, epochs=1, **options)
        count = len(list(loader))
        resumed = recmap.JoinedLoader(joined, 30, restart=True, epochs=1, **options)
        resumed.load_state_dict(loader.state_dict())
        assert len(list(resumed)) == count == 3
