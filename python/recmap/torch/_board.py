"""The progress that the main process and its worker processes share."""

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
    """The position of a worker.

    A worker yields every `workers`-th step of the rank, starting with step (worker - offset) modulo
    workers. It has yielded `steps` of them since (epoch, position).
    """

    epoch: int
    position: int
    offset: int = 0  # steps of the epochs that this iteration completed, modulo workers
    steps: int = 0

    def first(self, worker: int, workers: int) -> int:
        return (worker - self.offset) % workers


@contextlib.contextmanager
def _turn(name: str) -> Iterator[None]:
    """A lock between processes, whether they were forked, spawned or unpickled.

    The name of an abstract socket can only be bound once, and is released when its process ends.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        while True:
            try:
                lock.bind(name)
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            time.sleep(0.0002)
        yield


class Board:
    """Memory that the main process shares with its workers: where the next iteration starts.

    It starts where the main process says. If all workers have finished the iteration that started
    there, it starts at the epoch that they reached. Each worker writes its own cells, under a lock,
    because persistent workers start the next iteration at the same time.

    Cells: the position of the main process's loader (epoch, position), the start of the iteration
    (epoch, position), the number of workers, and for each worker the iteration that it finished
    (epoch, position) and the epoch that it reached.
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

    def is_current(self, main: tuple[int, int]) -> bool:
        """Whether the main process's loader, which is at `main`, was not moved since."""
        return bool((self._array[:2] == main).all())

    def main_position(self) -> tuple[int, int]:
        """The latest position of the main process's loader that was set."""
        return int(self._array[0]), int(self._array[1])

    def latest_start(self, main: tuple[int, int]) -> tuple[int, int]:
        """The start of the latest iteration. `main`: the position of the main process's loader."""
        if not self.is_current(main):
            return main
        return int(self._array[2]), int(self._array[3])

    def is_in_workers(self, main: tuple[int, int]) -> bool:
        """Whether worker processes have begun an iteration that not all of them have finished."""
        with _turn(self._name):
            latest = self.latest_start(main)
            if not self.is_current(main):
                return False
            ended = self._array[5 : 5 + 3 * max(int(self._array[4]), 0)].reshape(-1, 3)
            return len(ended) > 0 and not bool((ended[:, :2] == latest).all())

    def next(self, main: tuple[int, int]) -> tuple[int, int]:
        """The start of the next iteration."""
        with _turn(self._name):
            return self._next(main)

    def _next(self, main: tuple[int, int]) -> tuple[int, int]:
        latest = self.latest_start(main)
        ended = self._array[5 : 5 + 3 * max(int(self._array[4]), 0)].reshape(-1, 3)
        if len(ended) and (ended[:, :2] == latest).all():
            return int(ended[:, 2].min()), 0
        return latest

    def begin(self, main: tuple[int, int], worker: int, workers: int) -> tuple[int, int]:
        """Starts the next iteration of one of `workers` workers. Returns its start."""
        with _turn(self._name):
            start = self._next(main)
            self._join(main, start, worker, workers)
        return start

    def set(self, main: tuple[int, int]) -> None:
        """Sets the position of the main process's loader."""
        self._array[4:] = -1
        self._array[2:4] = main
        self._array[:2] = main

    def resume(
        self, main: tuple[int, int], start: tuple[int, int], worker: int, workers: int
    ) -> None:
        """Continues an iteration of a worker that started at `start`."""
        with _turn(self._name):
            self._join(main, start, worker, workers)

    def _join(
        self, main: tuple[int, int], start: tuple[int, int], worker: int, workers: int
    ) -> None:
        if workers > self._WORKERS:
            raise ValueError(f"{workers} workers, {self._WORKERS} at most")
        self._array[2:4] = start
        self._array[:2] = main
        self._array[5 + 3 * worker : 8 + 3 * worker] = -1
        self._array[4] = workers

    def end(self, worker: int, start: tuple[int, int], epoch: int) -> None:
        with _turn(self._name):
            self._array[5 + 3 * worker : 8 + 3 * worker] = (*start, epoch)
