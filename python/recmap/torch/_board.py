"""The progress that the main process and its worker processes share."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

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


Cell: TypeAlias = tuple[int, int]  # an epoch and a position, or what tells an iteration from others


class Board:
    """Memory that the main process shares with its workers: where the next iteration starts.

    It starts where the main process says. If all workers have finished the iteration that started
    there, it starts at the epoch that they reached. If they began it but did not finish, the `for`
    was left early: nobody knows what was delivered, so the next one starts at the next epoch. Each
    worker writes its own cells, under a lock, because persistent workers start the next iteration
    at the same time. `key` tells iterations apart: it is the same in all workers of one.

    Cells: the position of the main process's loader (epoch, position), the start of the iteration
    (epoch, position), its key, the number of workers, how often the main process set the position,
    whether a `for` that was left was warned of, and for each worker the iteration that it finished
    (epoch, position), the epoch that it reached, and its process.
    """

    _WORKERS = 1024
    _MAIN, _START, _KEY = slice(0, 2), slice(2, 4), slice(4, 6)
    _COUNT, _MOVES, _WARNED, _FIRST, _CELLS = 6, 7, 8, 9, 4

    def __init__(self, cells: torch.Tensor | None = None, name: str | None = None) -> None:
        if cells is None:
            cells = torch.full((self._FIRST + self._CELLS * self._WORKERS,), -1, dtype=torch.int64)
        memory: Any = cells
        self.cells = memory.share_memory_()
        self._array = memory.numpy()
        self._name = name or f"\0recmap-{secrets.token_hex(16)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Board, (self.cells, self._name)

    def _rows(self) -> Any:
        """The cells of the workers of the latest iteration."""
        count = max(int(self._array[self._COUNT]), 0)
        return self._array[self._FIRST :][: self._CELLS * count].reshape(-1, self._CELLS)

    def _pair(self, cells: slice) -> Cell:
        first, second = self._array[cells]
        return int(first), int(second)

    def is_current(self, main: Cell) -> bool:
        """Returns true if the main process's loader, which is at `main`, was not moved since."""
        return self.main_position() == main

    def main_position(self) -> Cell:
        """The latest position of the main process's loader that was set."""
        return self._pair(self._MAIN)

    @property
    def moves(self) -> int:
        """How often the main process set its position."""
        return int(self._array[self._MOVES])

    def processes(self) -> set[int]:
        """The processes of the workers that began the latest iteration since the last move."""
        with _turn(self._name):
            return {int(process) for process in self._rows()[:, 3] if process > 0}

    def latest_start(self, main: Cell) -> Cell:
        """The start of the latest iteration. `main`: the position of the main process's loader."""
        return self._pair(self._START) if self.is_current(main) else main

    def _is_finished(self) -> bool:
        ended = self._rows()
        return len(ended) > 0 and bool((ended[:, :2] == self._array[self._START]).all())

    def is_in_workers(self, main: Cell) -> bool:
        """Returns true if workers began an iteration that not all of them have finished."""
        with _turn(self._name):
            return self.is_current(main) and len(self._rows()) > 0 and not self._is_finished()

    def next(self, main: Cell) -> Cell:
        """The start of the next iteration, unless the latest is left before its end."""
        with _turn(self._name):
            return self._next(main)

    def _next(self, main: Cell) -> Cell:
        if self.is_current(main) and self._is_finished():
            return int(self._rows()[:, 2].min()), 0
        return self.latest_start(main)

    def _next_or_left(self, main: Cell) -> tuple[Cell, bool]:
        """The start of a new iteration, and whether the latest was left before its end."""
        is_left = self.is_current(main) and len(self._rows()) > 0 and not self._is_finished()
        return (self._pair(self._START)[0] + 1, 0) if is_left else self._next(main), is_left

    def settle(self, main: Cell) -> tuple[Cell, bool]:
        """Starts an iteration of the main process: its start, and whether to warn that workers'
        latest one was left."""
        with _turn(self._name):
            start, is_left = self._next_or_left(main)
            self._set(start)
            return start, is_left and self._warn_once()

    def begin(self, main: Cell, worker: int, workers: int, key: Cell) -> tuple[Cell, bool]:
        """Starts an iteration of one of `workers` workers: its start, and whether to warn that the
        previous one was left. The first worker of the iteration decides where it starts.

        A persistent worker may be slow and begin an iteration that its `for` has left, after
        others began the next one. What it reads is thrown away, so it changes nothing here."""
        with _turn(self._name):
            if self.is_current(main) and self._is_over(key):
                return self._pair(self._START), False
            is_joined = self.is_current(main) and self._pair(self._KEY) == key
            start, is_left = (self._next(main), False) if is_joined else self._next_or_left(main)
            self._join(main, start, worker, workers, key)
            return start, is_left and self._warn_once()

    def _is_over(self, key: Cell) -> bool:
        """Returns true if the same workers have begun a later iteration than this one."""
        seed, count = self._pair(self._KEY)
        return seed == key[0] and count > key[1]

    def _warn_once(self) -> bool:
        is_first = int(self._array[self._WARNED]) < 0
        self._array[self._WARNED] = 1
        return is_first

    def set(self, main: Cell) -> None:
        """Sets the position of the main process's loader."""
        with _turn(self._name):
            self._set(main)

    def _set(self, main: Cell) -> None:
        self._array[self._FIRST :] = -1
        self._array[self._KEY] = self._array[self._COUNT] = -1
        self._array[self._START] = self._array[self._MAIN] = main
        self._array[self._MOVES] += 1

    def resume(self, main: Cell, start: Cell, worker: int, workers: int, key: Cell) -> None:
        """Continues an iteration of a worker that started at `start`."""
        with _turn(self._name):
            self._join(main, start, worker, workers, key)

    def _join(self, main: Cell, start: Cell, worker: int, workers: int, key: Cell) -> None:
        if workers > self._WORKERS:
            raise ValueError(f"{workers} workers, {self._WORKERS} at most")
        if self._pair(self._KEY) != key:
            self._array[self._FIRST :] = -1
        self._array[self._MAIN], self._array[self._START] = main, start
        self._array[self._KEY], self._array[self._COUNT] = key, workers
        self._write(worker, -1, -1, -1, os.getpid())

    def end(self, worker: int, start: Cell, epoch: int) -> None:
        with _turn(self._name):
            self._write(worker, *start, epoch, os.getpid())

    def _write(self, worker: int, *cells: int) -> None:
        first = self._FIRST + self._CELLS * worker
        self._array[first : first + self._CELLS] = cells
