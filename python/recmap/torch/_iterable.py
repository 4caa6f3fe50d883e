"""Batches of a loader: the iterable data set."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeAlias

import torch
from torch.utils import data

from .. import _recmap
from .._errors import StateMismatchError
from .._loader import _LAST, Loader, _over
from ._board import Board, Place
from ._tensors import tensors

DROP = _LAST["drop"]
Deal: TypeAlias = tuple[int, int, int]  # world size, batch size, what becomes of the rest


class IterableDataset(data.IterableDataset[Any]):
    """The batches of a loader as tensors, for a plain ``for`` or for a DataLoader.

        for batch in IterableDataset(loader): ...                          # threads of the library
        for batch in DataLoader(IterableDataset(loader), batch_size=None, num_workers=4): ...

    Batches come as `tensors` makes them, in the loader's order, and are the same for any number of
    workers: worker k of W gives every W-th step. A plain ``for``, which needs no worker processes,
    is by far the fastest where records cost little Python.

    State: `state_dict` in a plain ``for``; a StatefulDataLoader saves and loads it by itself, with
    any number of workers; to go on with another number of workers, ranks or another batch size,
    give what it saved to `load_state_dict` here, before the DataLoader is made. Under a plain
    DataLoader with workers, which does not tell what it delivered, take `state_after`.

    Seek and load by this object, not by the loader, once it is made.

    Args:
        loader: with its rank and world size; its `epochs` say what one ``for`` walks.
        numbers: a name under which the records' numbers come, too.

    >>> features = {"label": recmap.FixedLen()}
    >>> loader = recmap.Loader(digits(), 600, features=features)
    >>> [batch["label"].shape for batch in recmap.torch.IterableDataset(loader)]
    [torch.Size([600]), torch.Size([600]), torch.Size([597])]
    """

    _loader: Loader | None
    _seen: tuple[int, int]

    def __init__(self, loader: Loader, numbers: str | None = None) -> None:
        self._set_up(dict(loader._arguments), numbers, loader._identity, Board())
        self._loader = loader

    def _set_up(
        self, arguments: dict[str, Any], numbers: str | None, identity: Any, board: Board
    ) -> None:
        self._arguments = arguments
        self._numbers = numbers
        self._identity = identity
        self._board = board
        self._loader = None
        self._seen = 0, 0  # where the loader stood when this was pickled
        names = "dataset", "order", "shuffle", "seed"
        dataset, order, shuffle, seed = (arguments[name] for name in names)
        self.order = Loader._order_of(dataset, order, shuffle, seed)
        self._order = _over(dataset, self.order)
        size = 1 if self._order.batch_count() else arguments["batch_size"]
        self._deal: Deal = arguments["world_size"], size, _LAST[arguments["last"]]
        self._worker: tuple[int, int] | None = None  # which of how many
        self._place: Place | None = None  # in a worker
        self._given = Place(0, 0)  # where the worker stood behind the last batch that it gave
        self._walk = 0, 0
        self._is_loaded = False

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._arguments, self._numbers, self._identity, self._board
        return _reopen, (*parts, self._stood())

    def _stood(self) -> tuple[int, int]:
        """Where the loader of the main process stands, or stood when this process began."""
        if self._loader is None:
            return self._seen
        return self._loader._loader.tell()

    def _advance(self, epoch: int, position: int, steps: int, deal: Deal) -> tuple[int, int]:
        """Where `steps` steps of all ranks lead: with the last of an epoch, to its end."""
        while steps > 0:
            left = self._order.share(epoch, position, *deal, 0, 0)[0]
            if steps < left:
                return self._order.state_after(epoch, position, *deal, steps)
            if steps == left:
                return epoch, len(self.order)
            if left == 0 and position == 0:
                return epoch, position
            epoch, position, steps = epoch + 1, 0, steps - left
        return epoch, position

    # ---- Walking.

    def __iter__(self) -> Iterator[Any]:
        info = data.get_worker_info()
        if info is None:
            return self._here()
        self._worker = info.id, info.num_workers
        if not self._is_loaded:
            self._walk = self._board.begin(self._stood(), *self._worker)
            self._place = self._given = Place(*self._walk)
        self._is_loaded = False
        self._leave_epochs()
        return self._in_worker()

    def _here(self) -> Iterator[Any]:
        """The loader's own iterator, which delivers what is made here or keeps its batch."""
        return self._settled()._iterate(lambda batch, step: tensors(batch, self._numbers))

    def _settled(self) -> Loader:
        """The loader of this process, where the last walk led, whoever walked."""
        begin = self._board.next(self._stood())
        if self._loader is None:
            self._loader = Loader(**self._arguments)
        if begin != self._stood():
            self._loader.seek(*begin)
        self._board.set(begin)
        return self._loader

    def _in_worker(self) -> Iterator[Any]:
        assert self._place is not None and self._worker is not None
        while not self._is_over(self._place.epoch):
            place = self._place
            for steps, batch in enumerate(self._steps(place), place.steps + 1):
                self._place = self._given = replace(place, steps=steps)
                yield tensors(batch, self._numbers)
            if self._leave_epochs():
                return

    def _is_over(self, epoch: int) -> bool:
        epochs = self._arguments["epochs"]
        if epochs is None:
            return self._walk[0] != epoch
        return bool(epoch >= epochs)

    def _own_steps(self, place: Place) -> tuple[int, int]:
        """Steps from the place's position to the end of the epoch: the rank's, the worker's."""
        assert self._worker is not None
        worker, workers = self._worker
        total = self._order.share(place.epoch, place.position, *self._deal, 0, 0)[0]
        return total, max(0, -((place.first(worker, workers) - total) // workers))

    def _leave_epochs(self) -> bool:
        """Goes over ends of epochs to the next step; says on the board when there is none."""
        assert self._place is not None and self._worker is not None
        worker, workers = self._worker
        while not self._is_over(self._place.epoch):
            total, own = self._own_steps(self._place)
            if self._place.steps < own:
                return False
            if not total and self._arguments["epochs"] is not None:
                raise ValueError("epochs of no steps have no end")
            if self._arguments["epochs"] is None:
                self._board.end(worker, self._walk, self._place.epoch + 1)
                return True
            offset = (self._place.offset + total) % workers
            self._place = Place(self._place.epoch + 1, 0, offset)
        self._board.end(worker, self._walk, self._place.epoch)
        return True

    def _steps(self, place: Place) -> Iterator[Any]:
        """The worker's batches to the end of the epoch.

        Where all workers of all ranks have a whole step, they are dealt as to so many ranks. The
        steps behind those are looked up one by one.
        """
        assert self._worker is not None
        worker, workers = self._worker
        order, deal, rank = self._order, self._deal, self._arguments["rank"]
        world_size, size, _ = deal
        start, first = (place.epoch, place.position), place.first(worker, workers)
        whole = order.share(*start, workers * world_size, size, DROP, 0, 0)[0]
        if place.steps < whole:
            dealt = {"rank": first * world_size + rank, "world_size": workers * world_size}
            with self._loader_like(**dealt, last="drop") as loader:
                loader.seek(*order.state_after(*start, *deal, place.steps * workers))
                yield from itertools.islice(loader, whole - place.steps)
        _, own = self._own_steps(place)
        for step in range(max(whole, place.steps), own):
            with self._loader_like(threads=1, batches_ahead=1) as loader:
                loader.seek(*order.state_after(*start, *deal, first + step * workers))
                yield from itertools.islice(loader, 1)

    def _loader_like(self, **changes: Any) -> Loader:
        assert self._worker is not None
        arguments = {**self._arguments, "epochs": None}
        if not arguments["threads"]:
            cores = len(os.sched_getaffinity(0))
            arguments["threads"] = max(1, cores // self._worker[1])
        return Loader(**{**arguments, **changes})

    def __len__(self) -> int:
        """Steps of an epoch, where one ``for`` walks one."""
        if self._arguments["epochs"] is not None:
            raise TypeError("one `for` walks several epochs")
        return self._order.share(0, 0, *self._deal, 0, 0)[0]

    # ---- Where it stands.

    def state_dict(self) -> dict[str, Any]:
        """Where the ``for`` is; with workers under a plain DataLoader: where it began.

        Inside a ``for``, after an epoch's last batch, that is the epoch's end: as torchdata has it,
        the state gives an empty ``for`` when it is loaded, and then the next epoch. After the
        ``for`` it is the next epoch's start.
        """
        if self._place is not None and self._worker is not None:
            return {
                "worker": list(self._worker),
                "walk": list(self._walk),
                "deal": list(self._deal),
                "place": asdict(self._place),
                "given": asdict(self._given),
                "state": self._state(self._place.epoch, self._place.position),
            }
        place = self._board.next(self._stood())
        if self._loader is not None and self._loader._is_at_end() and place == self._stood():
            place = place[0] - 1, len(self.order)
        return self._state(*place)

    def state_after(self, steps: int) -> dict[str, Any]:
        """The state when a plain DataLoader delivered `steps` batches of the walk that began last.

        Of all its batches: the state inside its ``for``, as `state_dict` says.
        """
        begin = self._board.walk(self._stood())
        return self._state(*self._advance(*begin, steps, self._deal))

    def _state(self, epoch: int, position: int) -> dict[str, Any]:
        fingerprint, records = self._identity
        text = _recmap.state_make(
            fingerprint, records, len(self.order), epoch, position, self._order.describe()
        )
        state: dict[str, Any] = json.loads(text)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state: of this class or a `Loader`, or all that a StatefulDataLoader saved.

        Ranks, world size, workers and batch size may be others than it was of.

        Raises:
            StateMismatchError: it is the state of another data set or order.
        """
        if "worker" in state:
            self._load_in_worker(state)
            return
        if self._loader is None:
            self._loader = Loader(**self._arguments)
        self._loader.load_state_dict(self._whole_state(state))
        self._board.set(self._stood())

    def _load_in_worker(self, state: Mapping[str, Any]) -> None:
        info = data.get_worker_info()
        here = None if info is None else [info.id, info.num_workers]
        deal = list(self._deal)
        if state["worker"] != here or list(state["deal"]) != deal:
            raise StateMismatchError(
                f"the state is of worker {state['worker']} and deals {state['deal']}, here {here} "
                f"and {deal}",
                advice="load the StatefulDataLoader's whole state by IterableDataset.load_state_dict",
            )
        self._check(state["state"])
        assert info is not None
        self._worker = info.id, info.num_workers
        self._place, self._given = Place(**state["place"]), Place(**state["given"])
        self._walk = state["walk"][0], state["walk"][1]
        self._board.resume(self._stood(), self._walk, *self._worker)
        self._is_loaded = True

    def _check(self, state: Mapping[str, Any]) -> None:
        with Loader(**{**self._arguments, "threads": 1, "batches_ahead": 1}) as loader:
            loader.load_state_dict(dict(state))

    def _whole_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The state of all workers together, out of what a StatefulDataLoader saved."""
        if "_snapshot" in state:
            snapshots = state["_snapshot"]["_worker_snapshots"].values()
            workers = [snapshot["dataset_state"] for snapshot in snapshots]
            return self._newest(
                workers, state["_steps_since_snapshot"], state["_iterator_finished"]
            )
        if "dataset_state" in state:
            return dict(state["dataset_state"])
        return dict(state)

    def _newest(self, workers: list[Any], more: int, is_over: bool) -> dict[str, Any]:
        """What the worker that gave the last step knows, and `more` steps after it. With `is_over`
        the ``for`` has ended."""

        def reached(saved: Any) -> tuple[int, int]:
            place, (worker, count) = Place(**saved["given"]), saved["worker"]
            steps = place.first(worker, count) + (place.steps - 1) * count + 1
            return place.epoch, steps if place.steps else 0

        newest = max(workers, key=reached)
        self._check(newest["state"])
        place = Place(**newest["given"])
        steps = reached(newest)[1] + more
        world_size, size, last = newest["deal"]
        deal = world_size, size, last
        epoch, position = self._advance(place.epoch, place.position, steps, deal)
        if is_over and position == len(self.order):
            epoch, position = epoch + 1, 0
        return self._state(epoch, position)

    def __repr__(self) -> str:
        return f"<recmap.torch.IterableDataset of {self._loader!r}>"


def _reopen(
    arguments: dict[str, Any],
    numbers: str | None,
    identity: Any,
    board: Board,
    stood: tuple[int, int],
) -> IterableDataset:
    made = IterableDataset.__new__(IterableDataset)
    made._set_up(arguments, numbers, identity, board)
    made._seen = stood
    return made
