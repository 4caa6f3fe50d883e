"""What worker processes and the main one know of each other."""

from __future__ import annotations

import contextlib
import errno
import secrets
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Place:
    """Where a worker stands: it gives every `workers`-th step of the rank's, beginning at
    (worker - offset) modulo workers, and gave `steps` of them since (epoch, position)."""

    epoch: int
    position: int
    offset: int = 0  # steps of epochs that this walk left behind, modulo workers
    steps: int = 0

    def first(self, worker: int, workers: int) -> int:
        return (worker - self.offset) % workers


@contextlib.contextmanager
def _turn(name: str) -> Iterator[None]:
    """One process at a time, wherever it was forked, spawned or unpickled: the name of an abstract
    socket can be bound once, and is free again when its process ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as taken:
        while True:
            try:
                taken.bind(name)
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            time.sleep(0.0002)
        yield


class Board:
    """Memory that the main process shares with its workers: where the next walk begins.

    It begins where the main process said, or, when all workers have ended the walk from there, at
    the epoch that they came to. Each worker writes cells of its own, and workers take turns: those
    that are kept from walk to walk begin the next one at the same time.

    Cells: where the main process's loader stood (epoch, position), where the walk began, how many
    workers there are, and of each worker the walk that it ended and the epoch that it came to.
    """

    _WORKERS = 1024

    def __init__(self, cells: torch.Tensor | None = None, name: str | None = None) -> None:
        if cells is None:
            cells = torch.full((5 + 3 * self._WORKERS,), -1, dtype=torch.int64)
        memory: Any = cells
        self.cells = memory.share_memory_()
        self._array = memory.numpy()
        self._name = name or f"\0recmap-{secrets.token_hex(16)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Board, (self.cells, self._name)

    def walk(self, stand: tuple[int, int]) -> tuple[int, int]:
        """Where the newest walk began, of a loader that stands at `stand` in the main process."""
        if tuple(self._array[:2].tolist()) != stand:
            return stand  # it was moved since
        return int(self._array[2]), int(self._array[3])

    def next(self, stand: tuple[int, int]) -> tuple[int, int]:
        """Where the next walk begins."""
        with _turn(self._name):
            return self._next(stand)

    def _next(self, stand: tuple[int, int]) -> tuple[int, int]:
        walk = self.walk(stand)
        ended = self._array[5 : 5 + 3 * max(int(self._array[4]), 0)].reshape(-1, 3)
        if len(ended) and (ended[:, :2] == walk).all():
            return int(ended[:, 2].min()), 0
        return walk

    def begin(self, stand: tuple[int, int], worker: int, workers: int) -> tuple[int, int]:
        """One of so many workers begins the next walk: says where."""
        with _turn(self._name):
            begin = self._next(stand)
            self._join(stand, begin, worker, workers)
        return begin

    def set(self, stand: tuple[int, int]) -> None:
        """The main process stands there."""
        self._array[4:] = -1
        self._array[2:4] = stand
        self._array[:2] = stand

    def resume(
        self, stand: tuple[int, int], walk: tuple[int, int], worker: int, workers: int
    ) -> None:
        """A worker goes on with a walk that began there."""
        with _turn(self._name):
            self._join(stand, walk, worker, workers)

    def _join(
        self, stand: tuple[int, int], walk: tuple[int, int], worker: int, workers: int
    ) -> None:
        if workers > self._WORKERS:
            raise ValueError(f"{workers} workers, {self._WORKERS} at most")
        self._array[2:4] = walk
        self._array[:2] = stand
        self._array[5 + 3 * worker : 8 + 3 * worker] = -1
        self._array[4] = workers

    def end(self, worker: int, walk: tuple[int, int], epoch: int) -> None:
        with _turn(self._name):
            self._array[5 + 3 * worker : 8 + 3 * worker] = (*walk, epoch)
