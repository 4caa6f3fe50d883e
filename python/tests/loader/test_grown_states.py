"""Finishing an epoch over the records that a data set had, and continuing with all of them."""

import itertools
import json
import pickle

import numpy as np
import pytest
import recmap

OLD, ALL = 100, 160


def write(path, numbers, mode):
    with recmap.Writer(str(path) + ".part") as writer:
        for n in numbers:
            writer.write({"n": n})
    data = path.with_name(path.name + ".part")
    with open(path, mode) as stream:
        stream.write(data.read_bytes())
    data.unlink()


@pytest.fixture(params=["shard", "part"])
def grown(request, tmp_path):
    """The data set of 100 records, and a function that lets it grow and opens it again."""
    write(tmp_path / "a-0.tfrecord", range(OLD), "wb")
    ds = recmap.open(str(tmp_path / "*.tfrecord"), index=tmp_path / "a.rmx")

    def grow():
        name = "a-1.tfrecord" if request.param == "shard" else "a-0.tfrecord"
        write(tmp_path / name, range(OLD, ALL), "ab")
        return recmap.open(str(tmp_path / "*.tfrecord"), index=tmp_path / "a.rmx")

    return ds, grow


ORDERS = {
    "shuffled": lambda ds: recmap.Shuffled(len(ds), 7),
    "sequential": lambda ds: recmap.Sequential(len(ds)),
    "windowed": lambda ds: recmap.Windowed(len(ds), 4, 3, 5),
    "replacement": lambda ds: recmap.WithReplacement(len(ds), 3),
    "weighted": lambda ds: recmap.Weighted(np.arange(1, len(ds) + 1), 3),
    "grouped": lambda ds: recmap.Grouped(np.arange(len(ds)) % 3, 10, 2),
}


def batches(loader, count):
    return [batch.numbers.tolist() for batch in itertools.islice(loader, count)]


def loader_of(ds, name, **options):
    order = ORDERS[name](ds)
    size = None if order.batch_count else 10
    return recmap.Loader(ds, size, order=order, **options)


def test_the_last_part_of_a_concatenation_may_grow(grown, tmp_path):
    """The other parts must be the same."""
    ds, grow = grown
    write(tmp_path / "first.records", range(1000, 1030), "wb")
    first = recmap.open(tmp_path / "first.records", index=tmp_path / "first.rmx")
    loader = loader_of(recmap.concat([first, ds]), "shuffled")
    began = batches(iter(loader), 3)
    state = loader.state_dict()
    whole = recmap.concat([first, grow()])
    loader = loader_of(whole, "shuffled")
    loader.load_state_dict(state, grown="finish")
    assert sorted(sum(began + batches(loader, None), [])) == list(range(30 + OLD))
    assert sorted(sum(batches(loader, None), [])) == list(range(len(whole)))
    other = loader_of(recmap.concat([ds, whole]), "shuffled")
    with pytest.raises(recmap.StateMismatchError):
        other.load_state_dict(state, grown="finish")


@pytest.mark.parametrize("name", ORDERS)
def test_the_epoch_is_finished_and_all_records_follow(grown, name):
    ds, grow = grown
    loader = loader_of(ds, name)
    uninterrupted = [batch.numbers.tolist() for batch in loader]
    loader.seek(0)
    taken = batches(loader, 4)
    state = loader.state_dict()
    bigger = grow()
    resumed = loader_of(bigger, name)
    with pytest.raises(
        recmap.StateMismatchError, match="has grown from 100 to 160 records"
    ) as caught:
        resumed.load_state_dict(state)
    assert 'grown="finish"' in caught.value.advice
    resumed.load_state_dict(state, grown="finish")
    assert resumed.state_dict() == state
    assert resumed.steps_left == len(uninterrupted) - 4
    assert taken + [batch.numbers.tolist() for batch in resumed] == uninterrupted
    assert (resumed.epoch, resumed.position) == (1, 0)
    after = [batch.numbers.tolist() for batch in resumed]
    whole = loader_of(bigger, name)
    whole.seek(1)
    assert after == [batch.numbers.tolist() for batch in whole]
    assert sum(map(len, after)) == len(whole.order)


def test_states_of_the_old_records_resume_again(grown):
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True, seed=1)
    uninterrupted = [batch.numbers.tolist() for batch in loader]
    loader.seek(0)
    batches(loader, 2)
    state = loader.state_dict()
    bigger = grow()
    resumed = recmap.Loader(bigger, 10, shuffle=True, seed=1)
    resumed.load_state_dict(state, grown="finish")
    batches(resumed, 3)
    again = json.loads(json.dumps(resumed.state_dict()))
    assert again["record_count"] == OLD and again["position"] == 50
    other = recmap.Loader(bigger, 10, shuffle=True, seed=1)
    other.load_state_dict(again, grown="finish")
    assert batches(other, 99) == uninterrupted[5:]
    copy = pickle.loads(pickle.dumps(resumed))
    assert batches(copy, 99) == uninterrupted[5:]
    assert copy.state_dict()["record_count"] == ALL
    # The state was of 100 records, so the data set of then resumes too.
    loader.load_state_dict(again)
    assert batches(loader, 99) == uninterrupted[5:]
    resumed.load_state_dict(copy.state_dict())
    assert (resumed.epoch, resumed.state_dict()["record_count"]) == (1, ALL)
    resumed.seek(0, 0)
    assert resumed.steps_left == 16


@pytest.mark.parametrize("world_size", [1, 3])
def test_ranks_finish_the_old_epoch_together(grown, world_size):
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True, seed=1)
    whole = np.concatenate([batch.numbers for batch in loader])
    state = loader.state_dict()
    loader.seek(0)
    batches(loader, 3)
    state = loader.state_dict()
    bigger, rest, following = grow(), [], []
    for rank in range(world_size):
        resumed = recmap.Loader(
            bigger, 8, shuffle=True, seed=1, rank=rank, world_size=world_size, epochs=2
        )
        resumed.load_state_dict(state, grown="finish")
        for batch in resumed:
            (following if resumed.state_dict()["record_count"] == ALL else rest).extend(
                batch.numbers.tolist()
            )
    # The state after an epoch's last step is the next epoch's.
    assert sorted(rest + following) == sorted(whole[30:].tolist() + list(range(ALL)))


def test_an_epoch_that_was_not_begun_is_over_all_records(grown):
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True, epochs=3)
    batches(loader, 10)
    state = loader.state_dict()
    assert (state["epoch"], state["position"]) == (1, 0)
    resumed = recmap.Loader(grow(), 10, shuffle=True)
    resumed.load_state_dict(state, grown="finish")
    assert resumed.state_dict()["record_count"] == ALL
    assert sorted(sum(batches(resumed, 99), [])) == list(range(ALL))


def test_a_data_set_that_did_not_grow(grown):
    ds, _ = grown
    loader = recmap.Loader(ds, 10, shuffle=True)
    batches(loader, 2)
    again = recmap.Loader(ds, 10, shuffle=True)
    again.load_state_dict(loader.state_dict(), grown="finish")
    assert again.state_dict() == loader.state_dict()


def test_other_records_are_refused(grown, tmp_path):
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True)
    batches(loader, 2)
    write(tmp_path / "other.tfrecord", range(5, 200), "wb")
    other = recmap.Loader(recmap.open(tmp_path / "other.tfrecord"), 10, shuffle=True)
    batches(other, 1)
    with pytest.raises(recmap.StateMismatchError, match="another data set"):
        other.load_state_dict(loader.state_dict(), grown="finish")
    assert other.position == 10
    bigger = recmap.Loader(grow(), 10, shuffle=True, seed=5)
    with pytest.raises(recmap.StateMismatchError, match="seed"):
        bigger.load_state_dict(loader.state_dict(), grown="finish")
    with pytest.raises(ValueError, match="grown must be None or 'finish'"):
        bigger.load_state_dict(loader.state_dict(), grown="continue")


MALFORMED = [
    ("record_count", None),
    ("record_count", "100"),
    ("record_count", -1),
    ("record_count", 2**64),
    ("fingerprint", None),
    ("fingerprint", "no digits"),
    ("fingerprint", "00"),
    ("fingerprint", 7),
    ("epoch", None),
    ("epoch", "first"),
    ("epoch", [0]),
    ("position", None),
    ("position", "20"),
]


def malformed(state, name, value):
    """The state with another value of a member, or without it for None."""
    state = {**state, name: value}
    return {key: value for key, value in state.items() if value is not None}


@pytest.mark.parametrize(("name", "value"), MALFORMED)
def test_a_state_with_a_malformed_member(grown, name, value):
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True)
    batches(loader, 2)
    state = malformed(loader.state_dict(), name, value)
    bigger = recmap.Loader(grow(), 10, shuffle=True)
    bigger.seek(3, 30)
    with pytest.raises(recmap.CorruptStateError):
        bigger.load_state_dict(state, grown="finish")
    with pytest.raises(recmap.UnsupportedError, match="format version 9"):
        bigger.load_state_dict({**state, "format_version": 9}, grown="finish")
    assert (bigger.epoch, bigger.position) == (3, 30)


def test_changed_is_not_combined_with_grown(grown):
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True)
    batches(loader, 2)
    bigger = recmap.Loader(grow(), 10, shuffle=True)
    with pytest.raises(ValueError, match='pass grown="finish" or changed=True, not both: with'):
        bigger.load_state_dict(loader.state_dict(), grown="finish", changed=True)
    assert bigger.position == 0


def test_changed_is_not_combined_with_grown_for_torch(grown):
    pytest.importorskip("torch")
    ds, grow = grown
    loader = recmap.Loader(ds, 10, shuffle=True)
    batches(loader, 2)
    bigger = grow()
    sampler = recmap.torch.Sampler(recmap.Shuffled(ALL), 10)
    for each in sampler, recmap.torch.IterableDataset(recmap.Loader(bigger, 10, shuffle=True)):
        before = each.state_dict()
        with pytest.raises(ValueError, match='pass grown="finish" or changed=True, not both'):
            each.load_state_dict(loader.state_dict(), grown="finish", changed=True)
        assert each.state_dict() == before


def test_a_view_by_values(grown):
    ds, grow = grown
    view = ds[::3]
    loader = recmap.Loader(view, 10, shuffle=True)
    uninterrupted = [batch.numbers.tolist() for batch in loader]
    loader.seek(0)
    batches(loader, 2)
    resumed = recmap.Loader(grow()[::3], 10, shuffle=True)
    resumed.load_state_dict(loader.state_dict(), grown="finish")
    assert batches(resumed, 99) == uninterrupted[2:]
    assert len(resumed) == 6


def test_an_order_that_does_not_follow_is_given(grown):
    ds, grow = grown

    def mixture(count):
        return recmap.Mixture([recmap.Shuffled(count // 2, 1)] * 2, [1, 1])

    loader = recmap.Loader(ds, 10, order=mixture(OLD))
    uninterrupted = [batch.numbers.tolist() for batch in loader]
    loader.seek(0)
    batches(loader, 4)
    bigger = grow()
    resumed = recmap.Loader(bigger, 10, order=mixture(ALL))
    with pytest.raises(recmap.UnsupportedError, match="does not follow from") as caught:
        resumed.load_state_dict(loader.state_dict(), grown="finish")
    assert 'order=order, grown="finish"' in caught.value.advice
    resumed.load_state_dict(loader.state_dict(), mixture(OLD), grown="finish")
    assert batches(resumed, 99) == uninterrupted[4:]
    assert len(resumed.order) == ALL


def test_a_transform_and_columns(grown):
    ds, grow = grown
    features = {"n": recmap.FixedLen((), "int64")}
    loader = recmap.Loader(ds, 10, shuffle=True)
    uninterrupted = [batch.numbers.tolist() for batch in loader]
    loader.seek(0)
    batches(loader, 4)
    resumed = recmap.Loader(
        grow(), 10, shuffle=True, features=features, transform=lambda batch: batch["n"].tolist()
    )
    resumed.load_state_dict(loader.state_dict(), grown="finish")
    assert list(resumed) == uninterrupted[4:]
    assert sorted(sum(resumed, [])) == list(range(ALL))


# ---- PyTorch.


def test_torch_loader_at_the_end_of_the_epoch(grown):
    torch = pytest.importorskip("torch")
    ds, grow = grown
    features = {"n": recmap.FixedLen((), "int64")}
    loader = recmap.torch.Loader(ds, 10, shuffle=True, features=features)
    states = [loader.state_dict() for _ in loader]
    resumed = recmap.torch.Loader(grow(), 10, shuffle=True, features=features)
    resumed.load_state_dict(states[-1], grown="finish")
    assert resumed.state_dict() == states[-1]
    assert list(resumed) == []
    assert sorted(torch.cat([batch["n"] for batch in resumed]).tolist()) == list(range(ALL))
    resumed.load_state_dict(states[-2], grown="finish")
    (last,) = resumed
    assert len(last["n"]) == 10
    for _ in resumed:
        pass
    assert resumed.state_dict()["record_count"] == ALL


@pytest.mark.parametrize("batch_size", [None, 10])
def test_a_sampler_finishes_the_old_epoch(grown, batch_size):
    torch = pytest.importorskip("torch")
    ds, grow = grown
    order = recmap.Shuffled(OLD, 1)
    sampler = recmap.torch.Sampler(order, batch_size)
    uninterrupted = list(sampler)
    sampler.set_epoch(0)
    steps = 30 if batch_size is None else 3
    sampler = recmap.torch.Sampler(order, batch_size)
    taken = list(itertools.islice(sampler, steps))
    state = sampler.state_after(steps)
    bigger = grow()
    resumed = recmap.torch.Sampler(recmap.Shuffled(ALL, 1), batch_size)
    with pytest.raises(recmap.StateMismatchError):
        resumed.load_state_dict(state)
    resumed.load_state_dict(state, grown="finish")
    assert resumed.state_dict() == state
    assert taken + list(resumed) == uninterrupted
    assert (resumed.epoch, resumed.position) == (1, 0)
    whole = recmap.torch.Sampler(recmap.Shuffled(ALL, 1), batch_size)
    whole.set_epoch(1)
    assert list(resumed) == list(whole)
    samples = recmap.torch.MapDataset(bigger)
    state = recmap.torch.MapDataset(ds).state_dict()
    with pytest.raises(recmap.StateMismatchError):
        samples.load_state_dict(state)
    samples.load_state_dict(state, grown="finish")
    state["fingerprint"] = "00" * 16
    with pytest.raises(recmap.StateMismatchError):
        samples.load_state_dict(state, grown="finish")
    assert torch is not None


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("view", [False, True])
def test_iterable_data_set(grown, workers, view):
    torch = pytest.importorskip("torch")
    ds, grow = grown
    features = {"n": recmap.FixedLen((), "int64")}

    def made(ds):
        ds = ds[::2] if view else ds
        return recmap.torch.IterableDataset(
            recmap.Loader(ds, 4, shuffle=True, seed=2, features=features)
        )

    def run(dataset):
        loaded = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
        return [batch["n"].tolist() for batch in loaded]

    uninterrupted = run(made(ds))
    first = made(ds)
    iterator = iter(torch.utils.data.DataLoader(first, batch_size=None, num_workers=0))
    taken = [next(iterator)["n"].tolist() for _ in range(5)]
    state = first.state_dict()
    bigger = grow()
    resumed = made(bigger)
    resumed.load_state_dict(state, grown="finish")
    assert resumed.state_dict() == state
    assert taken + run(resumed) == uninterrupted
    expected = made(bigger)
    expected._loader.seek(1)
    assert run(resumed) == [batch["n"].tolist() for batch in expected]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_iterable_data_set_of_a_stateful_data_loader(grown):
    pytest.importorskip("torch")
    stateful = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    ds, grow = grown
    features = {"n": recmap.FixedLen((), "int64")}

    def made(ds):
        loader = recmap.Loader(ds, 4, shuffle=True, seed=2, features=features)
        return recmap.torch.IterableDataset(loader)

    def run(loaded):
        return [batch["n"].tolist() for batch in loaded]

    options = {"batch_size": None, "num_workers": 2}
    uninterrupted = run(stateful(made(ds), **options))
    loaded = stateful(made(ds), **options)
    iterator = iter(loaded)
    taken = [next(iterator)["n"].tolist() for _ in range(7)]
    state = loaded.state_dict()
    del iterator
    resumed = made(grow())
    with pytest.raises(recmap.StateMismatchError):
        resumed.load_state_dict(state)
    resumed.load_state_dict(state, grown="finish")
    again = stateful(resumed, **options)
    assert taken + run(again) == uninterrupted
    assert sorted(sum(run(again), [])) == list(range(ALL))
