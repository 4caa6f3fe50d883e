"""Rank and world size of this process, as its framework or its launcher knows them."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal, NamedTuple

from .._warn import warn_caller

__all__ = ["known_ranks", "rank_and_world_size"]

# torchrun and most others, Horovod, Open MPI, MVAPICH, MPICH and others with PMI, Slurm. The order
# matters: horovodrun may start mpirun, which gives each of its processes both pairs, and
# mpirun may start its helpers with srun, and their variables of Slurm count nodes, not processes.
_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)


class _Ranks(NamedTuple):
    rank: int
    world_size: int
    source: str  # what knows them


def rank_and_world_size(
    rank: int | Literal["auto"] | None, world_size: int | None
) -> tuple[int, int]:
    """The arguments of a loader or sampler, with missing ones filled in.

    Warns if neither was given, but this process is one of several.
    """
    if rank == "auto":
        if world_size is not None:
            raise ValueError('rank="auto" reads the world size too: leave out world_size')
        return known_ranks()
    if isinstance(rank, str):
        raise ValueError(f'rank must be an integer or "auto", not {rank!r}')
    if rank is None and world_size is None:
        _warn_if_several()
        return 0, 1
    if rank is None or world_size is None:
        given, missing = ("world_size", "rank") if rank is None else ("rank", "world_size")
        raise ValueError(
            f'{given} was given without {missing}: give both, or rank="auto" to get both from '
            "torch.distributed, JAX or the launcher"
        )
    return rank, world_size


def known_ranks() -> tuple[int, int]:
    """Rank and world size of this process; 0 of 1 if nothing knows them."""
    found = _found()
    return (0, 1) if found is None else (found.rank, found.world_size)


def _found() -> _Ranks | None:
    return _from_torch() or _from_jax() or _from_environment()


def _from_torch() -> _Ranks | None:
    """Of the default process group, if there is one: then torch.distributed was imported."""
    group: Any = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return _Ranks(group.get_rank(), group.get_world_size(), "torch.distributed")


def _from_jax() -> _Ranks | None:
    """Of JAX, if it is distributed: asking it otherwise would start its backends."""
    jax: Any = sys.modules.get("jax")
    is_initialized = getattr(getattr(jax, "distributed", None), "is_initialized", None)
    if is_initialized is None or not is_initialized():
        return None
    return _Ranks(jax.process_index(), jax.process_count(), "JAX")


def _from_environment() -> _Ranks | None:
    """Of the launcher that started this process, by the variables that it set."""
    for names in _VARIABLES:
        if all(name in os.environ for name in names) and not _is_batch_script(names):
            rank, world_size = (_number(name) for name in names)
            if rank >= world_size:
                raise ValueError(
                    f"the environment has {names[0]}={rank}, but {names[1]}={world_size}: give "
                    "rank and world_size"
                )
            return _Ranks(rank, world_size, f"{names[0]} and {names[1]}")
    return None


def _is_batch_script(names: tuple[str, str]) -> bool:
    """Whether Slurm set the variables for a batch script, which runs once, outside srun.

    Such a script has SLURM_PROCID=0 and the number of tasks that its job may start. Only processes
    that srun started have the id of a step.
    """
    if names[0] != "SLURM_PROCID" or "SLURM_JOB_ID" not in os.environ:
        return False
    return "SLURM_STEP_ID" not in os.environ and "SLURM_STEPID" not in os.environ


def _number(name: str) -> int:
    text = os.environ[name]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(f"the environment variable {name} must be a number, not {text!r}")
    return int(text)


def _warn_if_several() -> None:
    try:
        found = _found()
    except ValueError:
        return  # not set by a launcher
    if found is not None and found.world_size > 1:
        warn_caller(
            f"this is process {found.rank} of {found.world_size} by {found.source}, but rank and "
            'world_size are missing: every process reads all records. Give rank="auto" to share '
            "them, or rank=0, world_size=1 if that is intended"
        )
