"""Rank and world size of this process, as its framework or its launcher knows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from .._base.numbers import natural
from .._base.plural import counted
from .._base.warn import warn_caller

__all__ = ["Share", "known_ranks", "share_of", "warn_in_worker"]

# torchrun and most others, Horovod, Open MPI, MVAPICH, MPICH and others with PMI, jsrun, Slurm. The
# order matters: horovodrun may start mpirun, which gives each of its processes both pairs, and
# mpirun may start its helpers with srun, and their variables of Slurm count nodes, not processes.
# SLURM_NTASKS may count the tasks of the whole job, although this step of it has fewer.
_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("SLURM_PROCID", "SLURM_NPROCS"),
)

# Cray's mpiexec and others with PMIx: they set no variable with the number of processes.
_WITHOUT_WORLD_SIZE = ("PALS_RANKID", "PMIX_RANK")

# Slurm's numbers of steps that srun did not start, such as the shell of an interactive job.
_FIRST_SPECIAL_STEP = 0xFFFFFFF0


class _Ranks(NamedTuple):
    rank: int
    world_size: int | None  # None: its source does not say
    source: str  # what knows them


class Share(NamedTuple):
    """The rank and world size of a loader or sampler."""

    rank: int
    world_size: int
    origin: Literal["given", "auto", "missing"]

    def check(self, *, in_worker: bool = False) -> None:
        """Raises or warns if a framework knows other ranks now than when they were asked for.

        Launchers do not change their variables, and what was given is right. In a forked worker
        process, asking JAX could start its backends there.
        """
        if self.origin == "given":
            return
        found = _from_torch() or (None if in_worker else _from_jax())
        if found is None or found[:2] == self[:2]:
            return
        if self.origin == "auto":
            raise ValueError(
                f'rank="auto" found rank {self.rank} of {self.world_size}, but now {found.source} '
                f"says that this is process {found.rank} of {found.world_size}: create the loader "
                "or sampler after the processes have joined, or give rank and world_size"
            )
        _warn_if_one_of_several(found)


def share_of(rank: int | Literal["auto"] | None, world_size: int | None) -> Share:
    """The arguments of a loader or sampler, with missing ones filled in.

    Warns if neither was given, but this process is one of several.
    """
    if rank == "auto":
        if world_size is not None:
            raise ValueError('rank="auto" reads the world size too: leave out world_size')
        return Share(*known_ranks(), "auto")
    if isinstance(rank, str):
        raise ValueError(f'rank must be an integer or "auto", not {rank!r}')
    if rank is None and world_size is None:
        return Share(0, 1, "given" if _warn_if_several() else "missing")
    if rank is None or world_size is None:
        given, missing = ("world_size", "rank") if rank is None else ("rank", "world_size")
        raise ValueError(
            f'{given} was given without {missing}: give both, or rank="auto" to get both from '
            "torch.distributed, JAX or the launcher"
        )
    if natural("world_size", world_size) < 1:
        raise ValueError(f"world_size must be at least 1, not {world_size}")
    return Share(natural("rank", rank), world_size, "given")


def known_ranks() -> tuple[int, int]:
    """Rank and world size of this process; 0 of 1 if nothing knows them."""
    found = _found()
    if found is None:
        return 0, 1
    if found.world_size is None:
        raise ValueError(
            f"the environment has {found.source}={found.rank}, but not the number of processes: "
            "give rank and world_size"
        )
    return found.rank, found.world_size


def _found() -> _Ranks | None:
    return _from_torch() or _from_jax() or _from_environment()


def _ranks_of(rank: Any, world_size: Any, source: str) -> _Ranks:
    rank = natural(f"the rank of {source}", rank)
    world_size = natural(f"the number of processes of {source}", world_size)
    if rank >= world_size:
        raise ValueError(
            f"{source} has rank {rank} of {counted(world_size, 'process', 'processes')}"
        )
    return _Ranks(rank, world_size, source)


def _from_torch() -> _Ranks | None:
    """Of the default process group, if there is one: then torch.distributed was imported."""
    group: Any = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return _ranks_of(group.get_rank(), group.get_world_size(), "torch.distributed")


def _from_jax() -> _Ranks | None:
    """Of JAX, if it is distributed: asking it otherwise would start its backends."""
    jax: Any = sys.modules.get("jax")
    is_initialized = getattr(getattr(jax, "distributed", None), "is_initialized", None)
    if is_initialized is None or not is_initialized():
        return None
    return _ranks_of(jax.process_index(), jax.process_count(), "JAX")


def _from_environment() -> _Ranks | None:
    """Of the launcher that started this process, by the variables that it set."""
    for names in _VARIABLES:
        if all(os.environ.get(name) for name in names) and not _is_outside_srun(names):
            rank, world_size = (_number(name) for name in names)
            if rank >= world_size:
                raise ValueError(
                    f"the environment has {names[0]}={rank}, but {names[1]}={world_size}: give "
                    "rank and world_size"
                )
            lone = _lone_rank(_WITHOUT_WORLD_SIZE)
            if names[0] == "SLURM_PROCID" and lone is not None and lone.rank != rank:
                return lone  # Slurm started a helper on each node, which started this process
            return _Ranks(rank, world_size, f"{names[0]} and {names[1]}")
    _check_both(*_VARIABLES[0])
    others = [names[0] for names in _VARIABLES if not _is_outside_srun(names)]
    return _lone_rank((*_WITHOUT_WORLD_SIZE, *others))


def _lone_rank(names: Iterable[str]) -> _Ranks | None:
    """Of the first of the variables that is set, without the number of processes."""
    for name in names:
        if os.environ.get(name):
            return _Ranks(_number(name), None, name)
    return None


def _check_both(*names: str) -> None:
    """Raises if only one of the two is set, as in processes that a trainer will set up later."""
    found, missing = sorted(names, key=lambda name: not os.environ.get(name))
    if os.environ.get(found) and not os.environ.get(missing):
        raise ValueError(
            f"the environment has {found}={os.environ[found]}, but no {missing}: create the loader "
            "or sampler after the processes have joined, set both, or give rank and world_size"
        )


def _is_outside_srun(names: tuple[str, str]) -> bool:
    """Returns true if Slurm set the variables for a batch script or a shell, which run once.

    They have SLURM_PROCID=0 and the number of tasks that their job may start. Only processes that
    srun started have the number of an ordinary step.
    """
    if names[0] != "SLURM_PROCID" or "SLURM_JOB_ID" not in os.environ:
        return False
    step = os.environ.get("SLURM_STEP_ID") or os.environ.get("SLURM_STEPID") or ""
    return not step.isdigit() or int(step) >= _FIRST_SPECIAL_STEP


def _number(name: str) -> int:
    text = os.environ[name]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(f"the environment variable {name} must be a number, not {text!r}")
    return int(text)


def _warn_if_several() -> bool:
    try:
        found = _found()
    except ValueError:
        return False  # not set by a launcher
    return found is not None and _warn_if_one_of_several(found)


def _warn_if_one_of_several(found: _Ranks) -> bool:
    if found.world_size is None:
        of_all, both = "", "both"
    else:
        of_all, both = f" of {found.world_size}", 'rank="auto"'
    is_one_of_several = (found.world_size or found.rank + 1) > 1
    if is_one_of_several:
        warn_caller(
            f"this is process {found.rank}{of_all} by {found.source}, but rank and world_size are "
            f"missing: every process reads all records. Give {both} to share them, or rank=0, "
            "world_size=1 if that is intended"
        )
    return is_one_of_several


def warn_in_worker(world_size: int) -> None:
    """Warns if a worker process of a DataLoader iterates over a loader that all workers have."""
    utils: Any = sys.modules.get("torch.utils.data")
    worker = utils.get_worker_info() if utils is not None else None
    if worker is not None and world_size % worker.num_workers:
        warn_caller(
            f"each of the {worker.num_workers} worker processes of the DataLoader reads all "
            "records of this loader: pass recmap.torch.IterableDataset(loader) to the DataLoader, "
            "or num_workers=0"
        )
