"""PyTorch: states that are loaded beside a running `for`, and what follows a `for` left early."""

import itertools
import json
import multiprocessing
import subprocess
import sys

import pytest
import recmap
from torch_helpers import LABEL, flat, of, stateful

torch = pytest.importorskip("torch")

from recmap.torch._board import Board  # noqa: E402

from torch.utils.data import DataLoader  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]

ORDER = recmap.Shuffled(1797, seed=3)
READ_AHEAD = "worker processes have read ahead for a `for` over a DataLoader that still runs"


def iterable(ds):
    asked = {"shuffle": True, "seed": 3, "features": LABEL}
    return recmap.torch.IterableDataset(recmap.Loader(ds, 50, **asked), numbers="n")


class Numbered(torch.utils.data.Dataset):
    """Samples that are their own numbers."""

    def __len__(self):
        return 1797

    def __getitem__(self, index):
        return index


def collate(numbers):
    return {"n": torch.tensor(numbers)}


def pair(kind, make, ds, workers=0, **more):
    """(what states are loaded into, the batches of a DataLoader over it)."""
    more["num_workers"] = workers
    if kind == "iterable":
        source = iterable(ds)
        return source, make(source, batch_size=None, **more)
    if kind == "batch_sampler":
        source = recmap.torch.Sampler(ORDER, 50)
        return source, make(Numbered(), batch_sampler=source, collate_fn=collate, **more)
    source = recmap.torch.Sampler(ORDER)
    return source, make(Numbered(), 50, sampler=source, collate_fn=collate, **more)


def state_at(ds, epoch, position):
    with recmap.Loader(ds, 100, shuffle=True, seed=3) as other:
        other.seek(epoch, position)
        return other.state_dict()


KINDS = pytest.mark.parametrize("kind", ["iterable", "batch_sampler", "sampler"])
MAKERS = pytest.mark.parametrize("make", [DataLoader, stateful], ids=["plain", "stateful"])
PERSISTENT = pytest.mark.parametrize("persistent", [False, True])


# ---- States.


@KINDS
@MAKERS
@pytest.mark.parametrize("taken", [0, 3])
def test_a_state_takes_effect_in_the_running_for(digits, kind, make, taken):
    source, batches = pair(kind, make, digits)
    steps = iter(batches)
    assert flat(of(itertools.islice(steps, taken))) == ORDER.at(0, range(50 * taken)).tolist()
    source.load_state_dict(state_at(digits, 2, 500))
    assert flat(of(steps)) == ORDER.at(2, range(500, 1797)).tolist()
    assert flat(of(batches)) == ORDER.at(3, range(1797)).tolist()


@pytest.mark.parametrize("size", [None, 50])
def test_a_state_moves_only_the_latest_for_of_a_sampler(digits, size):
    sampler = recmap.torch.Sampler(ORDER, size)
    first, second = iter(sampler), iter(sampler)
    next(first)
    next(second)
    sampler.load_state_dict(state_at(digits, 2, 500))
    rest = list(second)
    rest = rest if size is None else flat(rest)
    assert rest == ORDER.at(2, range(500, 1797)).tolist()
    assert len(list(first)) == len(sampler) - 1  # the rest of what it began
    assert sampler.state_dict()["epoch"] == 3


@KINDS
@MAKERS
@PERSISTENT
def test_a_state_beside_workers_that_read_ahead_is_an_error(digits, kind, make, persistent):
    source, batches = pair(kind, make, digits, 2, persistent_workers=persistent)
    steps = iter(batches)
    if kind == "iterable":
        next(steps)  # all workers have begun
    with pytest.raises(recmap.InvalidError, match=READ_AHEAD) as raised:
        source.load_state_dict(state_at(digits, 2, 500))
    assert "before iter(dataloader)" in raised.value.advice
    if kind == "iterable":
        with pytest.raises(recmap.InvalidError, match=READ_AHEAD):
            source._loader.seek(2, 500)
    first = 50 if kind == "iterable" else 0
    assert flat(of(steps)) == ORDER.at(0, range(first, 1797)).tolist()
    assert source.state_after(2)["position"] == 100
    source.load_state_dict(state_at(digits, 2, 500))
    assert flat(of(batches)) == ORDER.at(2, range(500, 1797)).tolist()


@KINDS
@PERSISTENT
def test_a_state_is_loaded_after_a_for_over_workers_was_left(digits, kind, persistent):
    source, batches = pair(kind, DataLoader, digits, 2, persistent_workers=persistent)
    for _ in batches:
        break
    source.load_state_dict(state_at(digits, 2, 500))
    assert flat(of(batches)) == ORDER.at(2, range(500, 1797)).tolist()
    assert source.state_after(1)["position"] == 550
    assert flat(of(batches)) == ORDER.at(3, range(1797)).tolist()


def test_a_state_beside_workers_that_have_read_everything_is_an_error(digits):
    source = recmap.torch.IterableDataset(recmap.Loader(digits[:100], 50, features=LABEL))
    for persistent in False, True:
        batches = DataLoader(source, None, num_workers=2, persistent_workers=persistent)
        steps = iter(batches)
        assert len(next(steps)["label"]) == 50
        with pytest.raises(recmap.InvalidError, match=READ_AHEAD):
            source.load_state_dict(source.state_after(0))
        assert len(list(steps)) == 1
        source.load_state_dict(source.state_after(0))


@PERSISTENT
def test_workers_that_begin_after_a_state_was_loaded_begin_there(digits, persistent):
    begin = multiprocessing.get_context("fork").Event()
    source, batches = pair(
        "iterable",
        DataLoader,
        digits,
        2,
        persistent_workers=persistent,
        worker_init_fn=lambda worker: begin.wait(60),
    )
    steps = iter(batches)
    source.load_state_dict(state_at(digits, 2, 500))
    begin.set()
    assert next(steps)["n"].tolist() == ORDER.at(2, range(500, 550)).tolist()
    assert source.state_after(1)["position"] == 550
    assert flat(of(steps)) == ORDER.at(2, range(550, 1797)).tolist()
    assert flat(of(batches)) == ORDER.at(3, range(1797)).tolist()


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
@pytest.mark.parametrize("kind", [recmap.Loader, recmap.torch.Loader])
def test_a_state_takes_effect_in_the_running_for_of_a_loader(digits, kind, transform):
    loader = kind(digits, 50, shuffle=True, seed=3, features=LABEL, transform=transform)
    labels = digits.columns["label"]
    for taken in 0, 3:
        loader.seek()
        steps = iter(loader)
        assert len(list(itertools.islice(steps, taken))) == taken
        loader.load_state_dict(state_at(digits, 2, 500))
        expected = labels[ORDER.at(2, range(500, 1797))].tolist()
        assert [int(label) for batch in steps for label in batch["label"]] == expected


def test_a_state_takes_effect_in_the_running_for_of_a_joined_loader(digits):
    joined = recmap.join({"a": digits, "b": digits})
    loader = recmap.JoinedLoader(joined, 50, shuffle=True, seed=3)
    loader.seek(2, 500)
    state = loader.state_dict()
    loader.seek()
    steps = iter(loader)
    next(steps)
    loader.load_state_dict(state)
    seen = [number for batch in steps for number in batch["a"].numbers.tolist()]
    assert seen == ORDER.at(2, range(500, 1797)).tolist()


# ---- Loops that are left early.


@KINDS
@MAKERS
def test_without_workers_the_next_for_continues(digits, kind, make):
    _, batches = pair(kind, make, digits)
    seen = []
    for _ in range(12):
        seen += flat(of(itertools.islice(batches, 3)))
    assert seen == ORDER.at(0, range(1797)).tolist()[: len(seen)]
    assert flat(of(batches)) == ORDER.at(1, range(1797)).tolist()


def test_the_next_for_over_a_sampler_continues():
    sampler = recmap.torch.Sampler(ORDER)
    seen = list(itertools.islice(sampler, 700))
    assert sampler.position == 700
    assert seen + list(sampler) == ORDER.at(0, range(1797)).tolist()
    assert list(sampler) == ORDER.at(1, range(1797)).tolist()


@KINDS
@MAKERS
@PERSISTENT
def test_with_workers_the_next_for_is_the_next_epoch(digits, kind, make, persistent, recwarn):
    source, batches = pair(kind, make, digits, 2, persistent_workers=persistent)
    for epoch in range(3):
        steps = iter(batches)
        assert next(steps)["n"].tolist() == ORDER.at(epoch, range(50)).tolist()
        assert source.state_after(1)["position"] == 50
        del steps
    assert flat(of(batches)) == ORDER.at(3, range(1797)).tolist()
    assert flat(of(batches)) == ORDER.at(4, range(1797)).tolist()
    said = [str(warning.message) for warning in recwarn if "left early" in str(warning.message)]
    assert len(said) == (kind != "iterable")  # whose workers say it


def test_a_slow_worker_does_not_move_the_iteration_that_others_began():
    board = Board()
    main, first, second = (0, 0), (7, 1), (7, 2)
    assert board.begin(main, 0, 2, first) == ((0, 0), False)
    assert board.begin(main, 0, 2, second) == ((1, 0), True)
    board.begin(main, 1, 2, first)  # only now
    assert board.begin(main, 1, 2, second) == ((1, 0), False)
    assert board.begin(main, 0, 2, (7, 3)) == ((2, 0), False)


def test_what_was_delivered_is_continued_from_its_state(digits):
    for kind in "iterable", "batch_sampler", "sampler":
        source, batches = pair(kind, DataLoader, digits, 2)
        seen = flat(of(itertools.islice(batches, 3)))
        source.load_state_dict(source.state_after(3))
        assert seen + flat(of(batches)) == ORDER.at(0, range(1797)).tolist()


SCRIPT = """
import recmap, recmap.torch
from torch.utils.data import DataLoader
ds = recmap.open({path!r}, index={index!r})
batches = recmap.torch.IterableDataset(recmap.Loader(ds, 50))
loader = DataLoader(batches, batch_size=None, num_workers=2)
for _ in range(3):
    for _ in loader:
        break
"""


def test_a_worker_warns_once_of_a_for_that_was_left(tmp_path):
    from conftest import DIGITS

    script = SCRIPT.format(path=str(DIGITS), index=str(tmp_path / "digits.rmx"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore:'set_vital'", "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("was left early") == 1
    assert "starts the next epoch" in done.stderr


# ---- What a StatefulDataLoader saved, in the sampler alone.


def state_of_three_batches(kind, ds, workers):
    _, batches = pair(kind, stateful, ds, workers)
    steps = iter(batches)
    for _ in range(3):
        next(steps)
    return batches.state_dict()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["iterable", "batch_sampler", "sampler"])
def test_a_running_for_over_a_stateful_data_loader_does_not_ignore_a_state(digits, kind, workers):
    if kind == "iterable" and workers:
        pytest.skip("nothing of recmap runs in the main process, and torchdata tells nobody")
    state = state_of_three_batches(kind, digits, workers)
    _, batches = pair(kind, stateful, digits, workers)
    steps = iter(batches)
    next(steps)
    batches.load_state_dict(state)
    with pytest.raises(recmap.InvalidError, match="which would ignore the state") as raised:
        next(steps)
    assert "Load the state first" in raised.value.advice
    del steps, raised
    expected = ORDER.at(0, range(len(digits))).tolist()
    assert flat(of(batches)) == expected[150:]
    assert len(of(batches)) == 36


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["batch_sampler", "sampler"])
def test_a_sampler_loads_the_state_of_a_stateful_data_loader(digits, kind, workers):
    _, batches = pair(kind, stateful, digits, workers)
    steps = iter(batches)
    taken = flat(of(itertools.islice(steps, 3)))
    state = json.loads(json.dumps(batches.state_dict()))
    ranks = [recmap.torch.Sampler(ORDER, 20, rank=rank, world_size=3) for rank in range(3)]
    for sampler in ranks:
        sampler.load_state_dict(state)
    rest = [number for sampler in ranks for number in flat(sampler)]
    assert sorted(taken + rest) == list(range(1797))
    flat(of(steps))
    sampler = recmap.torch.Sampler(ORDER, 20)
    sampler.load_state_dict(json.loads(json.dumps(batches.state_dict())))
    assert flat(sampler) == ORDER.at(1, range(1797)).tolist()
    with pytest.raises(recmap.StateMismatchError, match="another seed: the state has 3"):
        recmap.torch.Sampler(recmap.Shuffled(1797, seed=4)).load_state_dict(state)


def test_states_of_stateful_data_loaders_that_do_not_fit(digits):
    _, batches = pair("sampler", stateful, digits, 2, snapshot_every_n_steps=4)
    steps = iter(batches)
    of(itertools.islice(steps, 6))
    state = batches.state_dict()
    with pytest.raises(ValueError, match="saved this state 2 steps after its latest snapshot"):
        recmap.torch.Sampler(ORDER).load_state_dict(state)
    for workers in 0, 2:
        _, of_sampler = pair("sampler", stateful, digits, workers)
        _, of_dataset = pair("iterable", stateful, digits, workers)
        with pytest.raises(ValueError, match=r"load it with recmap\.torch\.Sampler\.load_state"):
            iterable(digits).load_state_dict(of_sampler.state_dict())
        with pytest.raises(ValueError, match="not the state of a sampler"):
            recmap.torch.Sampler(ORDER).load_state_dict(of_dataset.state_dict())
