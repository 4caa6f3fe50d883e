"""Looking at the next batch, and ranks of frameworks and launchers."""

import importlib.util
import itertools
import math
import os
import pickle
import socket
import subprocess
import sys
import types
import warnings

import pytest
import recmap
from conftest import DIGITS

VARIABLES = [
    ("RANK", "WORLD_SIZE"),
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("SLURM_PROCID", "SLURM_NPROCS"),
]


def first_number(batch):
    return int(batch.numbers[0])


KINDS = {
    "records": {},
    "columns": {"features": {"label": recmap.FixedLen((), "int64")}},
    "transform": {"transform": first_number},
}


def value_of(batch):
    if isinstance(batch, recmap.ColumnBatch):
        return batch["label"].tolist()
    return batch if isinstance(batch, int) else batch.numbers.tolist()


STEP = ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEPID")
LONE_RANKS = ("PALS_RANKID", "PMIX_RANK")
RANKS = dict.fromkeys((*LONE_RANKS, *(rank for rank, _ in VARIABLES[1:])))


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for name in STEP + LONE_RANKS:
        monkeypatch.delenv(name, raising=False)
    for names in VARIABLES:
        for name in names:
            monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epochs", [None, 2, math.inf])
def test_peek_is_the_next_batch(digits, kind, epochs):
    options = {"shuffle": True, "seed": 7, "epochs": epochs, **KINDS[kind]}
    with recmap.Loader(digits[:100], 30, **options) as loader:
        expected = iter(recmap.Loader(digits[:100], 30, **options))
        state = loader.state_dict()
        peeked = value_of(loader.peek())
        assert value_of(loader.peek()) == peeked
        assert loader.state_dict() == state
        for step, batch in enumerate(loader):
            assert value_of(batch) == peeked == value_of(next(expected))
            if step == (3 if epochs is None else 7):
                break
            state = loader.state_dict()
            peeked = value_of(loader.peek())
            assert loader.state_dict() == state


@pytest.mark.parametrize("kind", KINDS)
def test_peek_at_the_ends_of_epochs(digits, kind):
    with recmap.Loader(digits[:60], 30, **KINDS[kind]) as loader:
        batches = []
        for batch in loader:
            batches.append(value_of(batch))
            if len(batches) == 2:
                assert loader.peek() is None
        assert len(batches) == 2  # peek did not start the next epoch
        assert value_of(loader.peek()) == batches[0]
        assert [value_of(batch) for batch in loader] == batches


@pytest.mark.parametrize("kind", KINDS)
def test_peek_after_the_last_epoch(digits, kind):
    with recmap.Loader(digits[:60], 30, epochs=2, **KINDS[kind]) as loader:
        assert len(list(loader)) == 4
        assert loader.peek() is None


@pytest.mark.parametrize("epochs", [None, 3, math.inf])
def test_peek_without_batches(digits, epochs):
    assert recmap.Loader(digits[:0], 30, epochs=epochs).peek() is None
    assert recmap.Loader(digits[:5], 30, epochs=epochs, last="drop").peek() is None


def test_peek_after_a_state_is_loaded(digits):
    loader = recmap.Loader(digits, 30)
    loader.peek()
    loader.seek(0, 90)
    assert first_number(loader.peek()) == 90


def test_peek_raises_what_the_transform_raises(digits):
    def fail(batch):
        raise ArithmeticError("no")

    with recmap.Loader(digits, 30, transform=fail) as loader:
        for _ in range(2):
            with pytest.raises(ArithmeticError):
                loader.peek()
        assert loader.position == 0


@pytest.mark.parametrize("names", VARIABLES)
def test_auto_rank_reads_the_environment(digits, monkeypatch, names):
    for name, value in zip(names, ("1", "3"), strict=True):
        monkeypatch.setenv(name, value)
    loader = recmap.Loader(digits, 30, rank="auto")
    assert "rank 1 of 3" in repr(loader)
    expected = recmap.Loader(digits, 30, rank=1, world_size=3)
    assert value_of(next(iter(loader))) == value_of(next(iter(expected)))
    monkeypatch.delenv(names[0])
    assert "rank 1 of 3" in repr(pickle.loads(pickle.dumps(loader)))


@pytest.mark.parametrize(("inner", "outer"), itertools.combinations(VARIABLES, 2))
def test_the_innermost_launcher_knows_the_rank(digits, monkeypatch, inner, outer):
    """mpirun starts its helpers with srun, and torchrun may be started by either."""
    if inner[0] == outer[0]:
        pytest.skip("the same launcher")
    for names, values in (inner, ("1", "4")), (outer, ("0", "2")):
        for name, value in zip(names, values, strict=True):
            monkeypatch.setenv(name, value)
    assert "rank 1 of 4" in repr(recmap.Loader(digits, 30, rank="auto"))


def module_of(name, **functions):
    made = types.ModuleType(name)
    for key, value in functions.items():
        setattr(made, key, value if not isinstance(value, int) else lambda value=value: value)
    return made


def torch_of(rank, world_size, *, is_initialized=True):
    functions = {"is_available": True, "is_initialized": is_initialized}
    return module_of("torch.distributed", get_rank=rank, get_world_size=world_size, **functions)


def jax_of(rank, world_size, *, is_initialized=True):
    distributed = module_of("jax.distributed", is_initialized=is_initialized)
    return module_of("jax", distributed=distributed, process_index=rank, process_count=world_size)


@pytest.mark.parametrize(
    ("torch", "jax", "expected"),
    [
        (torch_of(1, 5), jax_of(2, 6), "1 of 5 by torch.distributed"),
        (torch_of(1, 5, is_initialized=False), jax_of(2, 6), "2 of 6 by JAX"),
        (None, jax_of(2, 6), "2 of 6 by JAX"),
        (None, jax_of(2, 6, is_initialized=False), "3 of 7 by RANK and WORLD_SIZE"),
        (None, None, "3 of 7 by RANK and WORLD_SIZE"),
        (None, module_of("jax"), "3 of 7 by RANK and WORLD_SIZE"),  # an old version
    ],
)
def test_frameworks_know_the_rank_before_launchers(digits, monkeypatch, torch, jax, expected):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "7")
    for name, module in ("torch.distributed", torch), ("jax", jax):
        monkeypatch.setitem(sys.modules, name, module)
    assert f"rank {expected.split(' by ')[0]}" in repr(recmap.Loader(digits, 30, rank="auto"))
    with pytest.warns(UserWarning, match=f"process {expected}, but rank and"):
        assert "rank 0 of 1" in repr(recmap.Loader(digits, 30))


JAX_PROCESS = """
import sys
import jax, recmap

rank, port = int(sys.argv[1]), sys.argv[2]
ds = recmap.open(sys.argv[3], index=sys.argv[4])
alone = recmap.Loader(ds, 30, rank="auto")
jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
loader = recmap.Loader(ds, 30, rank="auto")
print([(l._rank, l._world_size) for l in (alone, loader)])
try:
    next(iter(alone))
except ValueError as error:
    print(error)
print(next(iter(loader)).numbers[0])
"""


def test_auto_rank_in_two_processes_of_jax(digits):
    if not importlib.util.find_spec("jax"):
        pytest.skip("no jax here")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    arguments = [str(port), str(DIGITS), digits.index_path]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", JAX_PROCESS, str(rank), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120)[0].splitlines() for process in processes]
    for rank, (ranks, error, first) in enumerate(said):
        assert ranks == f"[(0, 1), ({rank}, 2)]"
        assert f"rank 0 of 1, but now JAX says that this is process {rank} of 2: create" in error
        assert first == str(30 * rank)


def test_auto_rank_without_a_launcher(digits, monkeypatch):
    assert "rank 0 of 1" in repr(recmap.Loader(digits, 30, rank="auto"))
    monkeypatch.setenv("RANK", "")
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ValueError, match="WORLD_SIZE=3, but no RANK: create the loader"):
        recmap.Loader(digits, 30, rank="auto")
    recmap.Loader(digits, 30)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="RANK=0, but no WORLD_SIZE"):
        recmap.Loader(digits, 30, rank="auto")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")  # what another launcher says is complete
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    assert "rank 2 of 4" in repr(recmap.Loader(digits, 30, rank="auto"))


@pytest.mark.parametrize("name", RANKS)
def test_a_rank_without_a_world_size(digits, monkeypatch, name):
    monkeypatch.setenv(name, "3")
    with pytest.raises(ValueError, match=f"{name}=3, but not the number of processes: give rank"):
        recmap.Loader(digits, 30, rank="auto")
    with pytest.warns(UserWarning, match=f"process 3 by {name}, .*Give both to share them"):
        recmap.Loader(digits, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Loader(digits, 30, rank=3, world_size=4)
        monkeypatch.setenv(name, "0")  # it may be the only process
        recmap.Loader(digits, 30)
        monkeypatch.setenv("RANK", "3")  # another launcher's are complete
        monkeypatch.setenv("WORLD_SIZE", "4")
        assert "rank 3 of 4" in repr(recmap.Loader(digits, 30, rank="auto"))


def test_a_launcher_whose_helpers_slurm_started(digits, monkeypatch):
    """The variables of Slurm then count nodes. srun itself gives both the same rank."""
    monkeypatch.setenv("SLURM_PROCID", "0")
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
    monkeypatch.setenv("PMIX_RANK", "0")
    assert "rank 0 of 2" in repr(recmap.Loader(digits, 30, rank="auto"))
    monkeypatch.setenv("PMIX_RANK", "1")
    with pytest.raises(ValueError, match="PMIX_RANK=1, but not the number of processes"):
        recmap.Loader(digits, 30, rank="auto")


@pytest.mark.parametrize("name", ["torch.distributed", "jax"])
@pytest.mark.parametrize("kind", ["Loader", "JoinedLoader"])
def test_processes_that_join_after_a_loader_was_created(digits, monkeypatch, name, kind):
    """As with a trainer that starts its processes in `fit`."""

    def loader_of(**ranks):
        if kind == "Loader":
            return recmap.Loader(digits, 30, **ranks)
        return recmap.JoinedLoader(recmap.join({"a": digits, "b": digits[5:]}), 30, **ranks)

    automatic, missing = loader_of(rank="auto"), loader_of()
    given, one = (
        loader_of(rank=0, world_size=1),
        pickle.loads(pickle.dumps(recmap.Loader(digits, 9))),
    )
    monkeypatch.setitem(
        sys.modules, name, {"jax": jax_of, "torch.distributed": torch_of}[name](1, 2)
    )
    with pytest.raises(
        ValueError, match=r"rank 0 of 1, but now .* says that this is process 1 of 2"
    ):
        next(iter(automatic))
    with pytest.warns(UserWarning, match=r"process 1 of 2 by .* every process reads all") as caught:
        next(iter(missing))
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for loader in given, one, loader_of(rank="auto"):
            next(iter(loader))
    monkeypatch.delitem(sys.modules, name)  # as in a worker process: the ranks are not known there
    next(iter(loader_of(rank="auto")))


def test_a_missing_rank_is_told_once(digits, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    for create in (
        lambda: recmap.Loader(digits, 30),
        lambda: recmap.JoinedLoader(recmap.join({"a": digits, "b": digits[5:]}), 30),
    ):
        with monkeypatch.context() as patch, pytest.warns(UserWarning, match="all records") as told:
            loader = create()
            patch.setitem(sys.modules, "torch.distributed", torch_of(1, 2))
            next(iter(loader))
        assert len(told) == 1


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 30, "\u0663"])
def test_environment_that_is_invalid(digits, monkeypatch, value):
    monkeypatch.setenv("RANK", value)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="variable RANK must be a number"):
        recmap.Loader(digits, 30, rank="auto")


def test_rank_beyond_the_world_size(digits, monkeypatch):
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="RANK=2, but WORLD_SIZE=2"):
        recmap.Loader(digits, 30, rank="auto")


def test_invalid_ranks_are_refused(digits):
    with pytest.raises(ValueError, match="leave out world_size"):
        recmap.Loader(digits, 30, rank="auto", world_size=2)
    with pytest.raises(ValueError, match='an integer or "auto"'):
        recmap.Loader(digits, 30, rank="first")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rank": 0}, "rank was given without world_size: give both, or rank="),
        ({"rank": 3}, "rank was given without world_size: give both, or rank="),
        ({"world_size": 1}, "world_size was given without rank: give both, or rank="),
        ({"world_size": 3}, "world_size was given without rank: give both, or rank="),
    ],
)
def test_half_of_the_ranks(digits, given, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        recmap.Loader(digits, 30, **given)


@pytest.mark.parametrize("names", VARIABLES)
def test_a_missing_rank_warns(digits, monkeypatch, names):
    for name, value in zip(names, ("1", "3"), strict=True):
        monkeypatch.setenv(name, value)
    with pytest.warns(UserWarning, match="process 1 of 3 .* every process reads all") as caught:
        loader = recmap.Loader(digits, 30)
    assert caught[0].filename == __file__
    assert "rank 0 of 1" in repr(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(loader))
        recmap.Loader(digits, 30, rank=0, world_size=1)
        monkeypatch.setenv(names[1], "1")
        monkeypatch.setenv(names[0], "0")
        recmap.Loader(digits, 30)


def test_a_step_of_slurm_with_fewer_tasks_than_its_job(digits, monkeypatch):
    for name, value in {"PROCID": "1", "STEP_NUM_TASKS": "2", "NTASKS": "8"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert "rank 1 of 2" in repr(recmap.Loader(digits, 30, rank="auto"))


@pytest.mark.parametrize("step", ["SLURM_STEP_ID", "SLURM_STEPID"])
def test_a_batch_script_of_slurm_is_one_process(digits, monkeypatch, step):
    for name, value in {"JOB_ID": "7", "PROCID": "0", "NTASKS": "3"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Loader(digits, 30)
    assert "rank 0 of 1" in repr(recmap.Loader(digits, 30, rank="auto"))
    monkeypatch.setenv(step, "0")  # a process of srun
    assert "rank 0 of 3" in repr(recmap.Loader(digits, 30, rank="auto"))
    with pytest.warns(UserWarning, match="process 0 of 3"):
        recmap.Loader(digits, 30)
    monkeypatch.setenv(step, "4294967290")  # the shell of salloc, with use_interactive_step
    assert "rank 0 of 1" in repr(recmap.Loader(digits, 30, rank="auto"))
    monkeypatch.setenv(step, "0")
    monkeypatch.delenv("SLURM_PROCID")  # the shell of salloc, without it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Loader(digits, 30)
