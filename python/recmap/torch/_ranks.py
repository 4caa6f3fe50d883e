"""The rank of this process, and the number of ranks."""

from __future__ import annotations

import os

from torch import distributed


def ranks() -> dict[str, int]:
    """{"rank": ..., "world_size": ...} of this process, for `Loader` and `Sampler`.

    From ``torch.distributed`` if it is initialized, otherwise from the environment variables of
    torchrun, otherwise rank 0 of 1.

    >>> recmap.torch.ranks()
    {'rank': 0, 'world_size': 1}
    """
    if distributed.is_available() and distributed.is_initialized():
        return {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
    names = {"rank": "RANK", "world_size": "WORLD_SIZE"}
    if all(name in os.environ for name in names.values()):
        return {key: int(os.environ[name]) for key, name in names.items()}
    return {"rank": 0, "world_size": 1}
