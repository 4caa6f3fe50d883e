"""The rank of this process, and the number of ranks."""

from __future__ import annotations

from typing import TypedDict

from .._loader.launcher import known_ranks


class Ranks(TypedDict):
    """Arguments of `Loader` and `Sampler`."""

    rank: int
    world_size: int


def ranks() -> Ranks:
    """{"rank": ..., "world_size": ...} of this process, as ``rank="auto"`` finds them.

    From ``torch.distributed`` if it is initialized; else from JAX, if it is distributed; else from
    the environment variables that torchrun, Horovod, Open MPI, MVAPICH, MPICH (``PMI_RANK``),
    jsrun or Slurm set; else rank 0 of 1.

    Raises:
        ValueError: a launcher's variables have only the rank, as ``PALS_RANKID`` and ``PMIX_RANK``,
            or contradict each other.

    Integers that are passed to a loader are not checked again when it starts, as "auto" is: call
    this after the processes have joined.

    >>> recmap.torch.ranks()
    {'rank': 0, 'world_size': 1}
    """
    rank, world_size = known_ranks()
    return {"rank": rank, "world_size": world_size}
