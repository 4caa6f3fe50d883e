"""The rank of this process, and the number of ranks."""

from __future__ import annotations

import os
from typing import TypedDict

from torch import distributed


class Ranks(TypedDict):
    """Arguments of `Loader` and `Sampler`."""

    rank: int
    world_size: int


def ranks() -> Ranks:
    """{"rank": ..., "world_size": ...} of this process, for `Loader` and `Sampler`.

    From ``torch.distributed`` if it is initialized, otherwise from the environment variables of
    torchrun, otherwise rank 0 of 1.

    >>> recmap.torch.ranks()
    {'rank': 0, 'world_size': 1}
    """
    if distributed.is_available() and distributed.is_initialized():
        return {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return {"rank": int(os.environ["RANK"]), "world_size": int(os.environ["WORLD_SIZE"])}
    return {"rank": 0, "world_size": 1}
