"""A sampler of single numbers, of which a DataLoader makes the batches."""

import itertools
import json

import pytest
import recmap

torch = pytest.importorskip("torch")
pytest.importorskip("torchdata")
import recmap.torch  # noqa: E402
from torchdata.stateful_dataloader import StatefulDataLoader  # noqa: E402

from torch.utils.data import DataLoader  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]

COUNT = 50


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, number):
        return number


def sampler_of(rank=0, world_size=1, **options):
    order = recmap.Shuffled(COUNT, seed=3)
    return recmap.torch.Sampler(order, rank=rank, world_size=world_size, **options)


def batches_of(loader):
    return [batch.tolist() for batch in loader]


def loaded(sampler, state):
    sampler.load_state_dict(json.loads(json.dumps(state)))
    return sampler


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("batch_size", [7, 10, 60])
@pytest.mark.parametrize("workers", [0, 2])
def test_states_of_a_stateful_loader_at_every_step(batch_size, drop_last, workers):
    """At the last batch, which can be smaller, a state gives an empty `for`."""

    def make():
        options = {"sampler": sampler_of(), "drop_last": drop_last, "num_workers": workers}
        return StatefulDataLoader(Numbers(), batch_size, **options)

    loader, batches, states = make(), [], []
    for batch in loader:
        batches.append(batch.tolist())
        states.append(json.loads(json.dumps(loader.state_dict())))
    following = batches_of(loader)
    assert following != batches or not batches
    for step, state in enumerate(states, 1):
        other = make()
        other.load_state_dict(state)
        assert batches_of(other) == batches[step:]
        assert batches_of(other) == following


@pytest.mark.parametrize("batch_size", [7, 10, 60])
@pytest.mark.parametrize("workers", [0, 2])
def test_state_after_counts_batches(batch_size, workers):
    sampler = sampler_of()
    batches, states = [], []
    for step, batch in enumerate(
        DataLoader(Numbers(), batch_size, sampler=sampler, num_workers=workers), 1
    ):
        batches.append(batch.tolist())
        states.append(sampler.state_after(step))
        if not workers:
            assert sampler.state_dict() == states[-1]
    assert (sampler.epoch, sampler.position) == (1, 0)
    with pytest.raises(ValueError, match=f"steps is {len(batches) + 1}, but the latest `for` has"):
        sampler.state_after(len(batches) + 1)
    for step, state in enumerate(states, 1):
        again = DataLoader(Numbers(), batch_size, sampler=loaded(sampler_of(), state))
        assert batches_of(again) == batches[step:]
        assert sum(map(len, batches_of(again))) == COUNT


@pytest.mark.parametrize("batch_size", [1, 2, 5, 7, 13, 20])
@pytest.mark.parametrize("world_size", [3, 4])
def test_ranks_have_the_same_state_after_each_step(batch_size, world_size):
    """Also where some ranks have one number less, and their last batch is smaller."""
    samplers = [sampler_of(rank, world_size) for rank in range(world_size)]
    loaders = [iter(DataLoader(Numbers(), batch_size, sampler=sampler)) for sampler in samplers]
    given = []
    for batches in itertools.zip_longest(*loaders):
        given += [batch.tolist() for batch in batches if batch is not None]
        states = [
            sampler.state_dict()
            for sampler, batch in zip(samplers, batches, strict=True)
            if batch is not None
        ]
        assert states == states[:1] * len(states)
        rest = [loaded(sampler_of(rank, 2), states[0]) for rank in range(2)]
        assert sorted(sum(given, []) + sum(map(list, rest), [])) == list(range(COUNT))
    assert all((sampler.epoch, sampler.position) == (1, 0) for sampler in samplers)


def test_a_for_that_is_left_at_its_last_batch_is_over():
    for batch_size in 7, 10:
        sampler = sampler_of()
        loader = DataLoader(Numbers(), batch_size, sampler=sampler)
        for step, _ in enumerate(loader, 1):
            if step == len(loader):
                break
        assert sampler.position == COUNT
        expected = recmap.Shuffled(COUNT, seed=3).at(1, range(COUNT)).tolist()
        assert sum(batches_of(loader), []) == expected


def test_an_older_batch_sampler(monkeypatch):
    """It does not ask again after its last batch, so the epoch is over with that."""

    class BatchSampler(torch.utils.data.BatchSampler):
        __module__ = "torch.utils.data.sampler"

        def __iter__(self):
            batch = []
            for number in self.sampler:
                batch.append(number)
                if len(batch) == self.batch_size:
                    yield batch
                    batch = []
            if batch and not self.drop_last:
                yield batch

    monkeypatch.setattr(torch.utils.data.dataloader, "BatchSampler", BatchSampler)
    for batch_size in 7, 10:
        sampler = sampler_of()
        loader = DataLoader(Numbers(), batch_size, sampler=sampler)
        for epoch in range(2):
            batches = batches_of(loader)
            assert sum(batches, []) == sampler.order.at(epoch, range(COUNT)).tolist()
            assert (sampler.epoch, sampler.position) == (epoch + 1, 0)
        assert sampler.state_after(2)["position"] == 2 * batch_size


def test_a_state_that_is_loaded_in_a_for_with_workers_is_refused():
    sampler = sampler_of()
    state = sampler.state_after(5)
    for step, _ in enumerate(DataLoader(Numbers(), 7, sampler=sampler, num_workers=2)):
        if step == 6:  # all numbers were requested
            with pytest.raises(recmap.InvalidError, match="it would ignore the state"):
                sampler.load_state_dict(state)


def test_an_iteration_after_an_error_does_not_end_the_epoch(monkeypatch):
    sampler = sampler_of(batch_size=10)
    batches = iter(sampler)
    next(batches)
    with monkeypatch.context() as patch:
        patch.setattr(sampler, "_at", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            next(batches)
    assert list(batches) == []
    assert (sampler.epoch, sampler.position) == (0, 10)
