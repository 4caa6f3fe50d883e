"""4,096 ranks: their steps have each record of an epoch once, and a rank costs as much as one."""

import itertools
import os
import pickle
import threading

import numpy as np
import pytest
import recmap

RANKS, BATCH = 4096, 2


@pytest.fixture
def ds(digits):
    return recmap.concat([digits] * 13)  # 3 steps: the last one has records for some ranks


def loader_of(ds, rank, world_size=RANKS, **options):
    return recmap.Loader(
        ds, BATCH, shuffle=True, seed=7, rank=rank, world_size=world_size, threads=1, **options
    )


def epoch_of(loaders):
    """The numbers of all ranks, step by step and rank by rank."""
    steps = range(len(loaders[0]))
    return [loader.numbers_at(step).tolist() for step in steps for loader in loaders]


def test_the_ranks_of_an_epoch_have_each_record_once(ds):
    loaders = [loader_of(ds, rank) for rank in range(RANKS)]
    numbers = [number for share in epoch_of(loaders) for number in share]
    assert len(loaders[0]) == -(-len(ds) // (RANKS * BATCH)) == 3
    assert sorted(numbers) == list(range(len(ds)))
    # The records of a step do not depend on the number of ranks.
    alone = recmap.Loader(ds, RANKS * BATCH, shuffle=True, seed=7)
    steps = [alone.numbers_at(step).tolist() for step in range(3)]
    for step, expected in enumerate(steps):
        found = itertools.chain(*(loader.numbers_at(step).tolist() for loader in loaders))
        assert sorted(found) == sorted(expected)


def test_no_step_of_any_rank_is_shorter_if_the_rest_is_dropped(ds):
    loaders = [loader_of(ds, rank, last="drop") for rank in range(RANKS)]
    shares = epoch_of(loaders)
    assert {len(share) for share in shares} == {BATCH}
    numbers = list(itertools.chain(*shares))
    assert len(set(numbers)) == len(numbers) == 2 * RANKS * BATCH


@pytest.mark.parametrize("rank", [0, 1, 2047, 4095])
def test_batches_of_a_rank_are_its_steps(ds, rank):
    with loader_of(ds, rank) as loader:
        for step, batch in enumerate(loader):
            numbers = loader.numbers_at(step)
            assert batch.numbers.tolist() == numbers.tolist()
            records = ds.gather(numbers)
            assert [bytes(record) for record in batch] == [bytes(record) for record in records]


def test_any_rank_saves_the_state_of_all(ds):
    """It names no rank, has the size of a state of one rank, and continues with any number."""
    states = []
    for rank, world_size in [(0, RANKS), (1234, RANKS), (RANKS - 1, RANKS), (0, 1)]:
        with loader_of(ds, rank, world_size) as loader:
            loader.seek(0, RANKS * BATCH)
            states.append(loader.state_dict())
    assert len(set(map(pickle.dumps, states))) == 1
    resumed = []
    for world_size in (1, 64, RANKS):
        loaders = [loader_of(ds, rank, world_size) for rank in range(world_size)]
        for loader in loaders:
            loader.load_state_dict(states[0])
        steps = -(-(len(ds) - RANKS * BATCH) // (world_size * BATCH))
        shares = [loader.numbers_at(step) for step in range(steps) for loader in loaders]
        resumed.append(np.sort(np.concatenate(shares)).tolist())
    assert resumed[0] == resumed[1] == resumed[2]
    assert len(set(resumed[0])) == len(ds) - RANKS * BATCH


def test_ranks_need_no_threads_or_descriptors_until_they_read(ds):
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    tasks = len(os.listdir("/proc/self/task"))
    loaders = [loader_of(ds, rank) for rank in range(RANKS)]
    assert all(len(loader) == 3 for loader in loaders)
    assert (threads, files) == (threading.active_count(), len(os.listdir("/proc/self/fd")))
    assert tasks == len(os.listdir("/proc/self/task"))
