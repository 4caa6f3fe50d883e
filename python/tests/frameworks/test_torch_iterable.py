"""PyTorch: iterable data sets, their workers and ranks, and resuming inside epochs."""

import itertools
import json
import os
import subprocess
import sys
import warnings

import pytest
import recmap
from conftest import DIGITS, write
from recmap._loader import launcher
from torch_helpers import FEATURES, LABEL, flat, of, stateful

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]

# ---- Iterable.


def iterable(ds, **more):
    asked = {"batch_size": 50, "shuffle": True, "seed": 3, "features": LABEL, **more}
    return recmap.torch.IterableDataset(recmap.Loader(ds, **asked), numbers="n")


def workers_of(dataset, workers=2, **more):
    return DataLoader(dataset, batch_size=None, num_workers=workers, **more)


def test_each_for_is_one_epoch(digits):
    dataset = iterable(digits)
    labels, order = digits.columns["label"], recmap.Shuffled(1797, seed=3)
    for epoch in range(2):
        taken = []
        for batch in dataset:
            assert batch["label"].tolist() == labels[batch["n"]].tolist()
            taken += batch["n"].tolist()
        assert taken == order.at(epoch, range(1797)).tolist()
    assert len(dataset) == 36


def test_pairs_of_sequence_examples(tmp_path):
    steps = [{"steps": [[t] for t in range(i)]} for i in range(20)]
    write(tmp_path, [recmap.encode_sequence_example({"id": i}, s) for i, s in enumerate(steps)])
    loader = recmap.Loader(
        recmap.open(tmp_path),
        4,
        shuffle=True,
        features={"id": recmap.FixedLen((), "int64")},
        feature_lists={"steps": recmap.FixedLenSequence((1,), "int64")},
    )
    dataset = recmap.torch.IterableDataset(loader)
    seen = []
    for context, lists in DataLoader(dataset, None, num_workers=2):
        assert torch.equal(context["id"], lists["steps/length"])
        assert lists["steps"].shape == (4, int(context["id"].max()), 1)
        seen += context["id"].tolist()
    assert seen == recmap.Shuffled(20).at(0, range(20)).tolist()


def test_results_of_a_transform_are_unchanged(digits):
    def transform(batch):
        made = recmap.torch.tensors(batch)
        return made["label"] * 2

    dataset = iterable(digits, transform=transform)
    expected = digits.columns["label"][recmap.Shuffled(1797, seed=3).at(0, range(1797))] * 2
    assert torch.cat(list(dataset)).tolist() == expected.tolist()
    assert torch.cat(list(workers_of(iterable(digits, transform=transform)))).tolist() == (
        expected.tolist()
    )


def test_state_of_a_plain_for(digits):
    dataset = iterable(digits, rank=0, world_size=2)
    batches, states = [], [dataset.state_dict()]
    for batch in dataset:
        batches.append(batch["n"].tolist())
        states.append(json.loads(json.dumps(dataset.state_dict())))
    for step in (0, 1, 9, 17, 18):
        other = iterable(digits, rank=0, world_size=2)
        other.load_state_dict(states[step])
        assert other.state_dict() == states[step]
        assert of(other) == batches[step:]
        assert iterable(digits, rank=0, world_size=2).state_after(step) == states[step]
    loader = recmap.Loader(digits, 10, shuffle=True, seed=3)
    loader.load_state_dict(states[5])
    assert loader.position == 500


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
@pytest.mark.parametrize("rank", [0, 2])
def test_batches_do_not_depend_on_workers(digits, last, rank):
    """Whatever the number of workers: the same batches in the same order, epoch after epoch."""
    dealt = {"last": last, "rank": rank, "world_size": 3}
    plain = iterable(digits, **dealt)
    epochs = [of(plain), of(plain)]
    for workers in (1, 3):
        dataset = iterable(digits, **dealt)
        loader = workers_of(dataset, workers)
        assert [of(loader), of(loader)] == epochs
        assert dataset.state_dict() == plain.state_dict()


def test_more_workers_than_steps(digits):
    dataset = iterable(digits[:70], batch_size=60)
    loader = workers_of(dataset, 3)
    expected = recmap.Shuffled(70, seed=3)
    for epoch in range(3):
        assert flat(of(loader)) == expected.at(epoch, range(70)).tolist()
    assert of(workers_of(iterable(digits[:5], batch_size=9, last="drop"), 2)) == []


def test_orders_with_own_batches_in_workers(digits):
    order = recmap.Grouped(digits.columns["label"], 64, seed=2)
    changes = {"order": order, "shuffle": False, "seed": 0, "batch_size": None}
    expected = of(iterable(digits, **changes))
    loader = workers_of(iterable(digits, **changes))
    assert of(loader) == expected
    dataset = iterable(digits, **changes)
    dataset.load_state_dict(dataset.state_after(5))
    assert of(workers_of(dataset)) == expected[5:]


@pytest.mark.parametrize("workers", [0, 2])
def test_fewer_records_than_ranks(digits, workers):
    """Every rank makes its step, some with an empty batch."""
    taken = []
    for rank in range(9):
        dealt = {"batch_size": 3, "features": FEATURES, "rank": rank, "world_size": 9}
        (batch,) = workers_of(iterable(digits[:7], **dealt), workers)
        assert batch["image"].shape == (len(batch["n"]), 64)
        taken += batch["n"].tolist()
    assert taken == recmap.Shuffled(7, seed=3).at(0, range(7)).tolist()


@pytest.mark.parametrize("epochs", [None, 3])
def test_persistent_workers_continue_epochs(digits, epochs):
    plain = iterable(digits[:777], epochs=epochs)
    loader = workers_of(iterable(digits[:777], epochs=epochs), persistent_workers=True)
    for _ in range(3):
        assert of(loader) == of(plain)


def _begin_epochs(board, worker, workers, line, begun):
    for count in range(100):
        line.wait()
        start, is_left = board.begin((0, 0), worker, workers, (7, count))
        assert not is_left
        begun.put(start)
        board.end(worker, start, start[0] + 1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_that_start_together_start_the_same_iteration(method):
    context = torch.multiprocessing.get_context(method)
    workers, begun = 3, context.Queue()
    shared = recmap.torch._board.Board(), workers, context.Barrier(workers), begun
    board, *rest = shared
    some = [
        context.Process(target=_begin_epochs, args=(board, worker, *rest))
        for worker in range(workers)
    ]
    for process in some:
        process.start()
    starts = sorted(begun.get(timeout=60) for _ in range(100 * workers))
    for process in some:
        process.join()
    assert starts == [(epoch, 0) for epoch in range(100) for _ in range(workers)]


def test_epochs_continue_in_workers(digits):
    """An epoch has 35 steps, so that the second one starts with the other worker."""
    plain = of(iterable(digits, epochs=3, last="drop"))
    assert len(plain) == 105
    dataset = iterable(digits, epochs=3, last="drop")
    assert of(workers_of(dataset)) == plain
    assert dataset.state_dict()["epoch"] == 3 and of(workers_of(dataset)) == []
    with pytest.raises(ValueError, match="never end"):
        of(workers_of(iterable(digits[:3], epochs=2, last="drop"), 1))


@pytest.mark.parametrize("workers", [0, 2])
def test_epochs_continue_after_the_end_of_one(digits, workers):
    """From a state after an epoch's last batch, or before records that fill no step any more."""
    dataset = iterable(digits[:300], epochs=3)
    plain = of(workers_of(dataset, workers))
    for steps in (6, 12):
        again = iterable(digits[:300], epochs=3)
        again.load_state_dict(dataset.state_after(steps))
        assert of(workers_of(again, workers)) == plain[steps:]
    again.load_state_dict(dataset.state_after(18))
    assert of(workers_of(again, workers)) == []
    larger = iterable(digits[:300], epochs=3, batch_size=80, last="drop")
    larger.load_state_dict(dataset.state_after(5))
    assert len(of(workers_of(larger, workers))) == 2 * 3


@pytest.mark.parametrize("epochs", [1, 3])
def test_states_between_the_epochs_of_one_for(digits, epochs):
    """They belong to the next epoch, with which the `for` continues."""
    dataset, loader = (
        iterable(digits[:200], epochs=epochs),
        recmap.torch.Loader(digits[:200], 50, epochs=epochs, shuffle=True, seed=7, features=LABEL),
    )
    for step, _ in enumerate(zip(dataset, loader, strict=True)):
        state = dataset.state_dict()
        assert state == dataset.state_after(step + 1)
        assert (state["epoch"], state["position"]) == divmod(50 * (step + 1), 200)
        assert loader.state_dict()["position"] == state["position"]
    assert dataset.state_dict() == state
    following = iterable(digits[:200])
    following.load_state_dict(state)
    assert len(of(following)) == 4


@pytest.mark.parametrize("workers", [0, 2])
def test_state_after_counts_delivered_batches(digits, workers):
    """Exact even if the workers have read ahead to the end; and without workers."""
    plain, dataset = iterable(digits[:230]), iterable(digits[:230])
    for epoch in range(2):
        states = [plain.state_dict() for _ in plain]
        for step, _ in enumerate(workers_of(dataset, workers)):
            assert dataset.state_after(step + 1) == states[step]
        assert dataset.state_after(1) == states[0]
        assert dataset.state_dict()["epoch"] == epoch + 1
    dataset.load_state_dict(states[2])
    assert dataset.state_after(0)["position"] == states[2]["position"]
    for step, _ in enumerate(workers_of(dataset, workers)):
        assert dataset.state_after(step + 1) == states[step + 3]


def test_a_state_is_loaded_between_iterations_of_persistent_workers(digits):
    dataset, order = iterable(digits), recmap.Shuffled(1797, seed=3)
    loader = workers_of(dataset, persistent_workers=True)
    assert flat(of(loader)) == order.at(0, range(1797)).tolist()
    for epoch, position in ((3, 200), (1, 500)):
        with recmap.Loader(digits, 100, shuffle=True, seed=3) as other:
            other.seek(epoch, position)
            state = other.state_dict()
        dataset.load_state_dict(state)
        assert flat(of(loader)) == order.at(epoch, range(position, 1797)).tolist()
        assert dataset.state_after(1)["position"] == position + 50
        assert flat(of(loader)) == order.at(epoch + 1, range(1797)).tolist()


def test_state_after_a_for_of_the_other_kind(digits):
    dataset = iterable(digits)
    for epoch, workers in enumerate((0, 2, 0, 0, 2)):
        batches = iter(workers_of(dataset, workers))
        next(batches)
        assert dataset.state_after(1)["epoch"] == epoch
        assert sum(1 for _ in batches) == len(dataset) - 1
        assert dataset.state_after(1)["epoch"] == epoch


def test_workers_and_plain_for_alternate(digits):
    dataset, order = iterable(digits), recmap.Shuffled(1797, seed=3)
    loader = workers_of(dataset)
    for epoch in (0, 1, 2, 3, 4):
        source = loader if epoch in (0, 2, 3) else dataset
        assert flat(of(source)) == order.at(epoch, range(1797)).tolist()
    dataset.load_state_dict(dataset.state_after(10))
    assert flat(of(loader)) == order.at(4, range(500, 1797)).tolist()
    assert flat(of(loader)) == order.at(5, range(1797)).tolist()


def test_seeking_the_loader_moves_the_data_set(digits):
    dataset = iterable(digits)
    dataset._loader.seek(4, 1000)
    assert (
        flat(of(workers_of(dataset))) == recmap.Shuffled(1797, 3).at(4, range(1000, 1797)).tolist()
    )
    assert dataset.state_dict()["epoch"] == 5


def test_error_in_a_worker(tmp_path, payloads):
    from conftest import flip, write

    (path,) = write(tmp_path, payloads[:200])
    ds = recmap.open(path)
    flip(path, 12 + sum(len(payload) + 16 for payload in payloads[:120]))
    loader = workers_of(recmap.torch.IterableDataset(recmap.Loader(ds, 50)))
    with pytest.raises(recmap.CorruptRecordError, match="record 120"):
        list(loader)


HOW = [
    (workers, method, epochs)
    for workers, method in [(0, None), (3, "fork")]
    for epochs in (None, 2)
]


@pytest.mark.parametrize(("workers", "method", "epochs"), [*HOW, (1, "spawn", None)])
def test_stateful_data_loader(digits, workers, method, epochs):
    small = digits[:777]  # 16 steps

    def make():
        return stateful(
            iterable(small, epochs=epochs),
            batch_size=None,
            num_workers=workers,
            multiprocessing_context=method,
        )

    expected = of(iterable(small, epochs=epochs))
    second = recmap.Shuffled(777, seed=3).at(1, range(777)).tolist()
    for step in {None: (7, 0, 1, 15), 2: (14, 17)}[epochs][: 1 if method == "spawn" else 4]:
        loader = make()
        taken = of(itertools.islice(loader, step))
        state = json.loads(json.dumps(loader.state_dict()))
        other = make()
        other.load_state_dict(state)
        assert taken + of(other) == expected
        if epochs is None and method != "spawn":
            assert flat(of(other)) == second
        # The same state, out of its workers: any number of them, of ranks, of batches.
        ranks = [
            iterable(small, epochs=epochs, rank=r, world_size=3, batch_size=20) for r in range(3)
        ]
        for rank in ranks:
            rank.load_state_dict(state)
        assert len({json.dumps(rank.state_dict()) for rank in ranks}) == 1
        assert sorted(flat(taken) + flat(flat(of(rank) for rank in ranks))) == (
            sorted(flat(expected))
        )


@pytest.mark.parametrize("workers", [0, 2])
def test_stateful_data_loader_at_the_end_of_an_epoch(digits, workers):
    def make():
        return stateful(iterable(digits), batch_size=None, num_workers=workers)

    loader, order = make(), recmap.Shuffled(1797, seed=3)
    of(loader)
    other = make()
    other.load_state_dict(loader.state_dict())
    assert flat(of(other)) == order.at(1, range(1797)).tolist()
    assert flat(of(loader)) == order.at(1, range(1797)).tolist()
    assert flat(of(loader)) == order.at(2, range(1797)).tolist()


def epochs_of(kind, digits):
    """A loop with a state and 18 steps per epoch."""
    if kind == "plain for":
        return iterable(digits, batch_size=100)
    if kind == "sampler":
        return recmap.torch.Sampler(recmap.Shuffled(1797, seed=3), 100)
    if kind.startswith("iterable"):
        return stateful(
            iterable(digits, batch_size=100), batch_size=None, num_workers=int(kind[-1])
        )
    sampler = recmap.torch.Sampler(recmap.Shuffled(1797, seed=3), 100)
    dataset = recmap.torch.MapDataset(digits, LABEL)
    return stateful(dataset, batch_sampler=sampler, num_workers=int(kind[-1]))


KINDS = ["plain for", "sampler", "iterable 0", "iterable 2", "batches 0", "batches 2"]


def test_counts_of_other_iterations_are_errors(digits):
    dataset = iterable(digits)
    list(dataset)
    steps = len(dataset)
    for wrong, error, message in (
        (-1, ValueError, "steps must not be negative"),
        (steps + 3, ValueError, rf"steps is {steps + 3}, but the latest `for` has {steps}: count"),
        ("3", TypeError, "steps must be an integer"),
    ):
        with pytest.raises(error, match=message):
            dataset.state_after(wrong)
    sampler = recmap.torch.Sampler(recmap.Shuffled(100), 10)
    for wrong, message in ((-1, "steps must not be negative"), (11, "steps is 11, but .* has 10")):
        with pytest.raises(ValueError, match=message):
            sampler.state_after(wrong)


def test_states_beside_workers_that_read_ahead_warn(digits):
    """A plain DataLoader does not tell what its workers' batches delivered."""
    dataset = recmap.torch.IterableDataset(recmap.Loader(digits, 100))
    batches = iter(DataLoader(dataset, batch_size=None, num_workers=2))
    next(batches)
    with pytest.warns(UserWarning, match=r"is where the iteration began: use state_after\(steps"):
        assert dataset.state_dict()["position"] == 0
    sampler = recmap.torch.Sampler(recmap.Shuffled(len(digits)), 100)
    samples = DataLoader(
        recmap.torch.MapDataset(digits, LABEL),
        batch_sampler=sampler,
        num_workers=2,
        collate_fn=recmap.torch.collate,
    )
    for step, _ in enumerate(samples):
        if step == 3:
            break
    with pytest.warns(UserWarning, match="is after records that were not delivered: use"):
        assert sampler.state_dict()["position"] > 400
    assert sampler.state_after(4)["position"] == 400
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="worker processes")
        del batches, samples
        for kind in DataLoader, stateful:
            fresh = recmap.torch.IterableDataset(recmap.Loader(digits, 100))
            sampler = recmap.torch.Sampler(recmap.Shuffled(len(digits)))
            for _ in range(2):
                next(iter(kind(fresh, batch_size=None)))
                fresh.state_dict()
                next(iter(kind(recmap.torch.MapDataset(digits), sampler=sampler)))
                sampler.state_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_state_after_the_last_batch_gives_an_empty_for(digits, kind):
    """torchdata's convention, in all kinds of loops; and a state after the `for` the next epoch."""
    loop = epochs_of(kind, digits)
    for _ in loop:
        inside = json.loads(json.dumps(loop.state_dict()))
    after = json.loads(json.dumps(loop.state_dict()))
    resumed = epochs_of(kind, digits)
    resumed.load_state_dict(inside)
    assert [sum(1 for _ in resumed) for _ in range(2)] == [0, 18]
    resumed = epochs_of(kind, digits)
    resumed.load_state_dict(after)
    assert sum(1 for _ in resumed) == 18
    if kind.startswith("iterable"):  # out of its DataLoader
        for state, steps in (inside, 0), (after, 18):
            alone = iterable(digits, batch_size=100)
            alone.load_state_dict(state)
            assert len(of(alone)) == steps


def test_state_after_all_steps_gives_an_empty_for(digits):
    dataset, sampler = iterable(digits, batch_size=100), epochs_of("sampler", digits)
    for made, source in (dataset, workers_of(dataset)), (sampler, sampler):
        assert sum(1 for _ in source) == 18
        again = epochs_of("plain for" if made is dataset else "sampler", digits)
        again.load_state_dict(made.state_after(18))
        assert [sum(1 for _ in again) for _ in range(2)] == [0, 18]


def test_stateful_data_loader_that_saves_rarely(digits):
    def make():
        return stateful(iterable(digits), batch_size=None, num_workers=2, snapshot_every_n_steps=4)

    loader = make()
    taken = of(itertools.islice(loader, 10))
    state = loader.state_dict()
    other = make()
    other.load_state_dict(state)
    assert taken + of(other) == of(iterable(digits))
    alone = iterable(digits)
    alone.load_state_dict(state)
    assert taken + of(alone) == of(iterable(digits))


@pytest.mark.parametrize("steps", range(7))
def test_state_of_workers_in_different_epochs(digits, steps):
    """Two steps an epoch, three workers, three epochs: workers move to other epochs early."""

    def make():
        data = iterable(digits[:70], epochs=3)
        return stateful(data, batch_size=None, num_workers=3)

    loader, expected = make(), of(iterable(digits[:70], epochs=3))
    taken = of(itertools.islice(loader, steps))
    state = loader.state_dict()
    again = make()
    again.load_state_dict(state)
    for saved in (state, again.state_dict()):
        alone = iterable(digits[:70], epochs=3)
        alone.load_state_dict(saved)
        assert taken + of(alone) == expected
    assert taken + of(again) == expected


def test_workers_reject_states_of_other_data_sets(digits):
    loader = stateful(iterable(digits), batch_size=None, num_workers=2)
    of(itertools.islice(loader, 3))
    state = loader.state_dict()
    for changes in ({"seed": 4}, {"rank": 0, "world_size": 2}, {"batch_size": 51}):
        other = stateful(iterable(digits, **changes), batch_size=None, num_workers=2)
        other.load_state_dict(state)
        with pytest.raises(recmap.StateMismatchError):
            of(other)
    with pytest.raises(recmap.StateMismatchError):
        iterable(digits, seed=4).load_state_dict(state)


class Doubled(recmap.torch.IterableDataset):
    """A data set of a user's, with an attribute."""

    def __init__(self, loader, factor):
        super().__init__(loader)
        self.factor = factor

    def __iter__(self):
        return ({"label": batch["label"] * self.factor} for batch in super().__iter__())


class DoubledSamples(recmap.torch.MapDataset):
    def __init__(self, dataset, factor):
        super().__init__(dataset, LABEL)
        self.factor = factor

    def __getitems__(self, numbers):
        return [sample["label"] * self.factor for sample in super().__getitems__(numbers)]


@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_subclasses_in_workers(digits, context):
    """Also where each worker gets a pickled copy."""
    labels = (digits.columns["label"][:] * 2).tolist()
    loader = recmap.Loader(digits, 600, features=LABEL)
    batches = workers_of(Doubled(loader, 2), 1, multiprocessing_context=context)
    assert sum((batch["label"].tolist() for batch in batches), []) == labels
    samples = DataLoader(
        DoubledSamples(digits, 2), 600, num_workers=1, multiprocessing_context=context
    )
    assert sum((batch.tolist() for batch in samples), []) == labels


def test_workers_check_their_ranks_also_with_another_order(digits, monkeypatch):
    dataset = iterable(digits, rank="auto")
    dataset.load_state_dict(dataset.state_dict(), order=recmap.Shuffled(1797), changed=True)
    now = launcher._Ranks(1, 2, "torch.distributed")
    monkeypatch.setattr(launcher, "_from_torch", lambda: now)
    workers = workers_of(dataset, 1, multiprocessing_context="fork")
    with pytest.raises(ValueError, match=r"rank 0 of 1, but now .* process 1 of 2"):
        of(workers)


# ---- Ranks.

RANK = """
import json, sys
import recmap, torch, torch.distributed as group

shards, index, state_path, steps, out = sys.argv[1:]
group.init_process_group("gloo")
loader = recmap.Loader(
    recmap.open(shards, index=index), 50, shuffle=True, seed=11,
    features={"label": recmap.FixedLen((), "int64")}, **recmap.torch.ranks(),
)
dataset = recmap.torch.IterableDataset(loader, numbers="n")
if state_path != "-":
    dataset.load_state_dict(json.load(open(state_path)))
taken = []
for batch in dataset:
    taken.append(batch["n"].tolist())
    count = torch.tensor([len(batch["n"])])
    group.all_reduce(count)  # hangs or fails where ranks differ in steps
    if len(taken) == int(steps):
        break
states = [None] * group.get_world_size()
group.all_gather_object(states, dataset.state_dict())
assert all(state == states[0] for state in states)
with open(f"{out}.{group.get_rank()}", "w") as file:
    json.dump({"taken": taken, "state": states[0]}, file)
group.destroy_process_group()
"""


def run_ranks(folder, world_size, *arguments):
    (folder / "rank.py").write_text(RANK)
    # An address, since a bare machine may know no localhost.
    run = [sys.executable, "-m", "torch.distributed.run", "--rdzv-backend", "c10d"]
    run += ["--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
    run += ["--nproc-per-node", str(world_size), "rank.py", DIGITS, *arguments]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    subprocess.run(list(map(str, run)), cwd=folder, env=quiet, check=True, timeout=300)
    outs = [json.loads((folder / f"{arguments[-1]}.{r}").read_text()) for r in range(world_size)]
    # Steps of all ranks, one after another: the global order.
    turns = zip(*(out["taken"] for out in outs), strict=True)
    return flat(flat(turn) for turn in turns), outs[0]["state"]


def test_two_torchrun_ranks_resume_on_three(tmp_path, digits):
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("torch without gloo")
    index = digits.index_path
    first, state = run_ranks(tmp_path, 2, index, "-", 7, "first")
    (tmp_path / "state").write_text(json.dumps(state))
    assert state["position"] == 700
    second, state = run_ranks(tmp_path, 3, index, "state", 1000, "second")
    assert first + second == recmap.Shuffled(1797, seed=11).at(0, range(1797)).tolist()
    assert (state["epoch"], state["position"]) == (1, 0)


def test_a_data_set_is_not_a_loader(digits):
    with pytest.raises(TypeError, match=r"loader must be a recmap\.Loader, not <recmap\.Dataset"):
        recmap.torch.IterableDataset(digits)
