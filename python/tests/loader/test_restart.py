"""Loaders whose `for` always begins at the start."""

import copy
import itertools
import pickle

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
