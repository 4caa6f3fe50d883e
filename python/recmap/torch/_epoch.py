"""The epoch that a data set of PyTorch reads, in all its processes."""

from __future__ import annotations

from typing import Any

import torch


class SharedEpoch:
    """An epoch in shared memory: worker processes see a change, also those that run already."""

    def __init__(self, cell: torch.Tensor | None = None) -> None:
        made: Any = torch.full((1,), -1, dtype=torch.int64) if cell is None else cell
        self._cell = made.share_memory_()

    def get(self) -> int | None:
        """The epoch, or None if none was set."""
        epoch = int(self._cell[0])
        return None if epoch < 0 else epoch

    def set(self, epoch: int) -> None:
        self._cell[0] = epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedEpoch, (self._cell,)
