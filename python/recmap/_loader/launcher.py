"""Rank and world size from the environment variables that launchers set."""

from __future__ import annotations

import os
from typing import Literal

from .._warn import warn_caller

__all__ = ["rank_and_world_size"]

# torchrun and most others, Slurm, Open MPI: in the order in which they are looked up.
_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
)


def rank_and_world_size(
    rank: int | Literal["auto"] | None, world_size: int | None
) -> tuple[int, int]:
    """The arguments of a loader, with the missing ones filled in.

    Warns if neither was given, but a launcher started several processes.
    """
    if rank == "auto":
        if world_size is not None:
            raise ValueError('rank="auto" reads the world size too: leave out world_size')
        return _from_environment() or (0, 1)
    if isinstance(rank, str):
        raise ValueError(f'rank must be an integer or "auto", not {rank!r}')
    if rank is None and world_size is None:
        _warn_if_launched()
    return 0 if rank is None else rank, 1 if world_size is None else world_size


def _from_environment() -> tuple[int, int] | None:
    """Rank and world size; None if no launcher set them."""
    for names in _VARIABLES:
        if all(name in os.environ for name in names) and not _is_batch_script(names):
            rank, world_size = (_number(name) for name in names)
            if rank >= world_size:
                raise ValueError(
                    f"the environment has {names[0]}={rank}, but {names[1]}={world_size}: give "
                    "rank and world_size"
                )
            return rank, world_size
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


def _warn_if_launched() -> None:
    try:
        found = _from_environment()
    except ValueError:
        return  # not set by a launcher
    if found is not None and found[1] > 1:
        warn_caller(
            f"this is process {found[0]} of {found[1]} by its environment, but the loader has no "
            "rank and world_size: every process reads all records. Give "
            'rank="auto" to share them, or rank=0, world_size=1 if that is intended'
        )
