"""Pinned memory: what the GPU copies from while the CPU continues."""

from __future__ import annotations

import copy
import warnings
from collections.abc import MutableMapping
from typing import Any

import torch

from .. import _recmap


class PinnedBlocks:
    """Blocks of PyTorch's pinned memory, into which a loader decodes columns.

    A copy to the device that does not block reads a block after the tensor is gone. Only PyTorch's
    allocator knows when such a copy has ended, and only for tensors over its own storage. So a
    column's tensor is made of the block's, and a block that was delivered is not decoded into
    again: PyTorch gets it back with the last tensor, and gives another one.
    """

    def __init__(self) -> None:
        self.pool = _recmap.BlockPool()
        self._is_short = False

    def adopt(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor of a column over the storage of its block; unchanged if it has none."""
        if not tensor.nbytes:
            return tensor
        block = self.pool.deliver(tensor.data_ptr())
        if block is None:
            return tensor
        flat = block[: tensor.nbytes].view(tensor.dtype)
        return flat.as_strided(tensor.shape, tensor.stride())

    def refill(self) -> None:
        """Allocates the blocks that the loader's threads lacked, and those for what was delivered.

        Not in these threads, because that needs the GIL.
        """
        for size in self.pool.wanted():
            if not self._is_short:
                self._add(size)

    def _add(self, size: int) -> None:
        try:
            block = _allocate(size)
        except RuntimeError as error:  # of CUDA: a limit of the machine or the container
            self._is_short = True
            warnings.warn(
                f"no more columns are decoded into pinned memory, but copied there: {error}",
                stacklevel=2,
            )
        else:
            self.pool.add(block, block.data_ptr(), size)


def _allocate(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, pin_memory=True)


class Pinning:
    """A transform whose results are in pinned memory."""

    def __init__(self, transform: Any) -> None:
        if transform is not None and not callable(transform):
            raise TypeError(f"transform must be a callable, not {transform!r}")
        self._transform = transform

    def __call__(self, batch: Any) -> Any:
        return _pinned(batch if self._transform is None else self._transform(batch))


def _pinned(batch: Any) -> Any:
    """The batch with its tensors copied into pinned memory: those that can be and are not in it."""
    if isinstance(batch, torch.Tensor):
        is_dense = batch.layout == torch.strided and batch.device.type == "cpu"
        return batch.pin_memory() if is_dense and not batch.is_pinned() else batch
    if isinstance(batch, MutableMapping):
        made = copy.copy(batch)
        made.update((name, _pinned(value)) for name, value in batch.items())
        return made
    if isinstance(batch, tuple):
        parts = map(_pinned, batch)
        return type(batch)(*parts) if hasattr(batch, "_fields") else tuple(parts)
    if type(batch) is list and batch and not isinstance(batch[0], bytes):
        return [_pinned(value) for value in batch]
    return batch
