"""The iterable data set: the batches of a loader."""

from __future__ import annotations

import itertools
import json
import operator
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from torch.utils import data

from .. import _recmap
from .._base.errors import StateMismatchError
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._columns import ColumnBatch
from .._columns.record_batch import RecordBatch
from .._example.images import draw_seed_of, state_seed_of
from .._loader.grown import Grown, OldRecords, check_grown, old_records
from .._loader.joined import check_loader
from .._loader.launcher import Share
from .._loader.loader import Loader
from .._loader.options import LAST
from .._loader.view_order import order_over
from .._order.orders import Order
from ._board import Board, Place
from ._callers import (
    StateWatch,
    check_count,
    refuse_collation,
    refuse_distributed_sampler,
    refuse_division,
    refuse_requests_ahead,
    running_iterators,
    warn_of_left_workers,
    warn_of_requests_ahead,
)
from ._loader import Loader as TensorLoader
from ._tensors import Tensors, check_name_of_numbers, tensors

Batch = TypeVar("Batch")
DROP = LAST["drop"]
_MADE = ("_loader", "_share", "order", "_order")  # of the arguments, in each copy
Deal: TypeAlias = tuple[int, int, int]  # world size, batch size, value of `last`


Item_co = TypeVar("Item_co", covariant=True)  # what a data set yields


class IterableDataset(data.IterableDataset[Item_co]):
    """The batches of a loader as tensors, for a plain ``for`` or a DataLoader.

        for batch in IterableDataset(loader): ...                          # the library's threads
        for batch in DataLoader(IterableDataset(loader), batch_size=None, num_workers=4): ...

    Batches are converted by `tensors`, in the loader's order, and are the same for any number of
    workers: worker k of W yields every W-th step. A plain ``for`` without worker processes is by
    far the fastest, unless each record needs much Python code.

    State: in a plain ``for``, use `state_dict`. A StatefulDataLoader saves and loads the state by
    itself, with any number of workers; to resume with another number of workers or ranks, or with
    another batch size, pass what it saved to `load_state_dict` of this object before you create the
    DataLoader. A plain DataLoader with workers does not tell what it delivered: use `state_after`.
    A `for` over workers that is left early ends its epoch, with a warning; without workers, the
    next ``for`` continues. A state cannot be loaded while worker processes read ahead for a ``for``
    that still runs.

    Args:
        loader: the loader, with its rank and world size. Its `epochs` also limits one ``for``.
        numbers: the name of an additional item with the records' numbers, as for `tensors`.

    >>> features = {"label": recmap.FixedLen((), "int64")}
    >>> loader = recmap.Loader(digits(), 600, features=features)
    >>> [batch["label"].shape for batch in recmap.torch.IterableDataset(loader)]
    [torch.Size([600]), torch.Size([600]), torch.Size([597])]
    """

    _loader: Loader[Any] | None
    _old: OldRecords | None  # if the data set grew since an epoch was begun
    _seen: tuple[int, int]
    _share: Share | None  # None in a copy, whose rank and world size are given

    if TYPE_CHECKING:  # what `tensors` makes of the loader's batches

        @overload
        def __init__(
            self: IterableDataset[list[bytes]],
            loader: Loader[RecordBatch],
            numbers: str | None = None,
        ) -> None: ...
        @overload
        def __init__(
            self: IterableDataset[Tensors],
            loader: Loader[ColumnBatch],
            numbers: str | None = None,
        ) -> None: ...
        @overload
        def __init__(
            self: IterableDataset[tuple[Tensors, Tensors]],
            loader: Loader[tuple[ColumnBatch, ColumnBatch]],
            numbers: str | None = None,
        ) -> None: ...
        @overload
        def __init__(
            self: IterableDataset[Batch],
            loader: Loader[Batch],
            numbers: str | None = None,
        ) -> None: ...

    @suggest_arguments
    def __init__(self, loader: Loader[Any], numbers: str | None = None) -> None:
        if isinstance(loader, TensorLoader):
            raise TypeError(
                "a recmap.torch.Loader gives tensors without a data set of PyTorch: write "
                "`for batch in loader`, or pass a recmap.Loader to use worker processes"
            )
        check_loader(loader)
        check_name_of_numbers(numbers)
        if loader._restarts:
            raise ValueError(
                "an IterableDataset cannot restart its loader, which worker processes do not "
                "share: leave out restart=True and call loader.seek() before each `for`, or "
                "iterate over the loader itself"
            )
        self._set_up(dict(loader._arguments), numbers, loader._identity, Board())
        self._loader, self._share, self._old = loader, loader._share, loader._old
        loader._moves.add(self)

    def _set_up(
        self, arguments: dict[str, Any], numbers: str | None, identity: Any, board: Board
    ) -> None:
        self._arguments = arguments
        self._numbers = numbers
        self._identity = identity
        self._board = board
        self._loader = None
        self._share = None
        self._old = None
        self._seen = 0, 0  # the loader's position when this object was pickled
        names = "dataset", "order", "shuffle", "seed"
        dataset, order, shuffle, seed = (arguments[name] for name in names)
        given = arguments["features"], arguments["feature_lists"]
        self._draw_seed = draw_seed_of(seed, *given)
        self._state_seed = state_seed_of(self._draw_seed, seed, shuffle)
        has_draws = self._draw_seed is not None
        self.order: Order = Loader._order_of(dataset, order, shuffle, seed, has_draws)
        self._order = order_over(dataset, self.order)
        size = 1 if self._order.batch_count() else arguments["batch_size"]
        self._deal: Deal = arguments["world_size"], size, LAST[arguments["last"]]
        self._worker: tuple[int, int] | None = None  # which of how many
        self._place: Place | None = None  # in a worker
        self._iterations = 0  # of this process's workers
        self._moves = board.moves  # of the main process, as far as this process knows
        self._given = Place(0, 0)  # the worker's position after the last batch that it yielded
        self._start = 0, 0
        self._begun: tuple[tuple[int, int], int] | None = None  # without workers: see `_here`
        self._is_loaded = False
        self._has_read = False  # the first worker has read a batch and checked its features

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, also of subclasses, except what a copy makes from the arguments."""
        kept = {name: value for name, value in vars(self).items() if name not in _MADE}
        return {**kept, "_seen": self._main_position()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_up(self._arguments, self._numbers, self._identity, self._board)
        self._seen, self._moves = state["_seen"], state["_moves"]
        self._old = state["_old"]

    def _main_position(self) -> tuple[int, int]:
        """The position of the main process's loader, now or when this process started."""
        if self._loader is None:
            return self._seen
        return self._loader._loader.tell()

    def _position_in_worker(self) -> tuple[int, int]:
        """As `_main_position`; what a worker saw when it was started may be outdated."""
        is_outdated = self._place is not None or self._board.moves != self._moves
        return self._board.main_position() if is_outdated else self._main_position()

    def _advance(self, epoch: int, position: int, steps: int, deal: Deal) -> tuple[int, int]:
        """The position after `steps` steps of all ranks; after an epoch's last step, its end."""
        while steps > 0:
            order = self._inner_of(epoch)
            left = order.share(epoch, position, *deal, 0, 0)[0]
            if steps < left:
                return order.state_after(epoch, position, *deal, steps)
            if steps == left:
                return epoch, order.count()
            if left == 0 and position == 0:
                return epoch, position
            epoch, position, steps = epoch + 1, 0, steps - left
        return epoch, position

    def _old_of(self, epoch: int) -> OldRecords | None:
        """What the epoch is over, if that is not all records."""
        old = self._old
        return old if old is not None and epoch <= old.last_epoch else None

    def _inner_of(self, epoch: int) -> _recmap.Order:
        old = self._old_of(epoch)
        return self._order if old is None else old.inner

    # ---- Iteration.

    def __iter__(self) -> Iterator[Item_co]:
        caller = sys._getframe(1)
        refuse_collation(caller)
        refuse_division(caller, self._arguments["world_size"])
        info = data.get_worker_info()
        if self._share is not None:
            self._share.check(in_worker=info is not None)
        if info is None:
            return StateWatch(caller).watched(self._here())
        self._begin(info)
        self._leave_epochs()
        return self._in_worker()

    def _begin(self, info: Any) -> None:
        """Finds where this iteration starts, together with the other workers."""
        self._worker = info.id, info.num_workers
        self._iterations += 1
        if not self._is_loaded:
            main, key = self._position_in_worker(), self._key(info)
            self._start, is_left = self._board.begin(main, *self._worker, key)
            self._place = self._given = Place(*self._start)
            if is_left:
                warn_of_left_workers()
        self._is_loaded = False

    def _key(self, info: Any, more: int = 0) -> tuple[int, int]:
        """Of an iteration: the same in all its workers, and another one in the next iteration."""
        return info.seed - info.id, self._iterations + more

    def _here(self) -> Iterator[Any]:
        """The loader's own iterator, which counts a batch as delivered once it is converted."""
        loader = self._settled()
        self._begun = self._main_position(), loader._moves.count
        return loader._iterate(lambda batch, step: tensors(batch, self._numbers))

    def _settled(self) -> Loader[Any]:
        """The loader of this process, at the end of the last iteration of any process."""
        start, is_left = self._board.settle(self._main_position())
        if is_left:
            warn_of_left_workers()
        loader = self._own_loader()
        if start != self._main_position():
            loader._go_to(*start)
        self._moves = self._board.moves
        return loader

    def _own_loader(self) -> Loader[Any]:
        """The loader of this process; a copy has none until it needs one."""
        if self._loader is None:
            self._loader = Loader(**self._arguments)
            self._loader._moves.add(self)
            if self._old is not None:
                self._loader._adopt_old(self._old)
        return self._loader

    def _in_worker(self) -> Iterator[Any]:
        assert self._place is not None and self._worker is not None
        while not self._is_over(self._place.epoch):
            place = self._place
            for steps, batch in enumerate(self._steps(place), place.steps + 1):
                self._place = self._given = replace(place, steps=steps)
                self._has_read = True
                yield tensors(batch, self._numbers)
            if self._leave_epochs():
                return

    def _is_over(self, epoch: int) -> bool:
        epochs = self._arguments["epochs"]
        if epochs is None:
            return self._start[0] != epoch
        return bool(epoch >= epochs)

    def _own_steps(self, place: Place) -> tuple[int, int]:
        """Steps from the position to the end of the epoch: (of the rank, of the worker)."""
        assert self._worker is not None
        worker, workers = self._worker
        order = self._inner_of(place.epoch)
        total = order.share(place.epoch, place.position, *self._deal, 0, 0)[0]
        return total, max(0, -((place.first(worker, workers) - total) // workers))

    def _leave_epochs(self) -> bool:
        """Advances over ends of epochs to the next step. Returns true if there is none."""
        assert self._place is not None and self._worker is not None
        worker, workers = self._worker
        while not self._is_over(self._place.epoch):
            total, own = self._own_steps(self._place)
            if self._place.steps < own:
                return False
            is_empty = not total and not self._place.position
            if is_empty and self._arguments["epochs"] is not None:
                raise ValueError("an epoch has no steps, so the iteration would never end")
            if self._arguments["epochs"] is None:
                self._board.end(worker, self._start, self._place.epoch + 1)
                return True
            offset = (self._place.offset + total) % workers
            self._place = Place(self._place.epoch + 1, 0, offset)
        self._board.end(worker, self._start, self._place.epoch)
        return True

    def _steps(self, place: Place) -> Iterator[Any]:
        """The worker's batches up to the end of the epoch.

        As long as all workers of all ranks have a full step, each worker uses a loader as if it
        were a separate rank. The remaining steps are read one by one.
        """
        assert self._worker is not None
        worker, workers = self._worker
        order, deal, rank = self._inner_of(place.epoch), self._deal, self._arguments["rank"]
        world_size, size, _ = deal
        start, first = (place.epoch, place.position), place.first(worker, workers)
        whole = order.share(*start, workers * world_size, size, DROP, 0, 0)[0]
        if place.steps < whole:
            dealt = {"rank": first * world_size + rank, "world_size": workers * world_size}
            with self._loader_like(place.epoch, **dealt, last="drop") as loader:
                loader.seek(*order.state_after(*start, *deal, place.steps * workers))
                yield from itertools.islice(loader._iterate(None), whole - place.steps)
        _, own = self._own_steps(place)
        for step in range(max(whole, place.steps), own):
            with self._loader_like(place.epoch, threads=1, batches_ahead=1) as loader:
                loader.seek(*order.state_after(*start, *deal, first + step * workers))
                yield from itertools.islice(loader._iterate(None), 1)

    def _loader_like(self, epoch: int, **changes: Any) -> Loader[Any]:
        """A loader that reads nothing after the epoch."""
        assert self._worker is not None
        arguments = {**self._arguments, "epochs": epoch + 1}
        old = self._old_of(epoch)
        if old is not None:
            arguments.update(dataset=old.dataset, order=old.order, shuffle=False, seed=0)
        if self._has_read or self._worker[0]:
            arguments["missing"] = "ignore"
        if not arguments["threads"]:
            cores = len(os.sched_getaffinity(0))
            arguments["threads"] = max(1, cores // self._worker[1])
        loader = Loader(**{**arguments, **changes})
        loader._loader.hide_steps()  # it counts only those of this worker
        return loader

    def __len__(self) -> int:
        """The number of steps in an epoch, if one ``for`` iterates over one epoch."""
        refuse_distributed_sampler(sys._getframe(1))
        if self._arguments["epochs"] is not None:
            raise TypeError("no length: with epochs=, one `for` iterates over several epochs")
        epoch = 0 if self._old is None else self._main_position()[0]
        return self._inner_of(epoch).share(epoch, 0, *self._deal, 0, 0)[0]

    # ---- State.

    def state_dict(self) -> dict[str, Any]:
        """Where the ``for`` is; with workers under a plain DataLoader: where it began, or the next
        epoch once the workers have read this one to its end. Use `state_after` there.

        Inside a ``for``, after an epoch's last batch, that is the epoch's end: as torchdata has it,
        the state gives an empty ``for`` when it is loaded, and then the next epoch. After the
        ``for``, and if the loader has `epochs`, it is the next epoch's start.
        """
        if self._place is not None and self._worker is not None:
            return {
                "worker": list(self._worker),
                "start": list(self._start),
                "deal": list(self._deal),
                "place": asdict(self._place),
                "given": asdict(self._given),
                "state": self._state(self._place.epoch, self._place.position),
            }
        if self._board.is_in_workers(self._main_position()):
            warn_of_requests_ahead("where the iteration began")
        place = self._board.next(self._main_position())
        if (
            self._loader is not None
            and self._arguments["epochs"] is None
            and self._loader._is_at_end()
            and place == self._main_position()
        ):
            place = place[0] - 1, self._inner_of(place[0] - 1).count()
        return self._state(*place)

    def state_after(self, steps: int) -> dict[str, Any]:
        """The state after a plain DataLoader delivered `steps` batches of the latest ``for``.

        After all batches, it is the state inside the ``for``; see `state_dict`. The DataLoader must
        deliver them in order: with ``in_order=False``, records would be repeated and lost.
        """
        start = self._latest_start()
        left = self._inner_of(start[0]).share(*start, *self._deal, 0, 0)[0]
        is_one_epoch = self._arguments["epochs"] is None
        if is_one_epoch:
            check_count("steps", steps, left)
        epoch, position = self._advance(*start, natural("steps", steps), self._deal)
        if not is_one_epoch and position == self._inner_of(epoch).count():
            epoch, position = epoch + 1, 0
        return self._state(epoch, position)

    def _latest_start(self) -> tuple[int, int]:
        """Where the latest ``for`` began."""
        main = self._main_position()
        if self._begun is not None and not self._board.is_current(main):
            start, moves = self._begun
            if self._loader is not None and self._loader._moves.count == moves:
                return start
        return self._board.latest_start(main)

    def _state(self, epoch: int, position: int) -> dict[str, Any]:
        old, order = self._old_of(epoch), self._inner_of(epoch)
        fingerprint, records = self._identity if old is None else old.identity
        text = _recmap.state_create(
            fingerprint,
            records,
            order.count(),
            epoch,
            position,
            order.describe(),
            self._state_seed,
        )
        state: dict[str, Any] = json.loads(text)
        return state

    @suggest_arguments
    def load_state_dict(
        self,
        state: Mapping[str, Any],
        order: Order | None = None,
        *,
        changed: bool = False,
        grown: Grown | None = None,
    ) -> None:
        """Resumes from a state of this class, a `Loader` or a StatefulDataLoader.

        Ranks, world size, workers and batch size may differ from those when it was saved.

        Args:
            order, changed, grown: as for `Loader.load_state_dict`.

        Raises:
            StateMismatchError: the state belongs to another data set or order.
        """
        if not isinstance(state, Mapping):
            kind = type(state).__name__
            raise TypeError(f"state must be a dict, as state_dict() returns, not {kind}")
        if "worker" in state:
            self._load_in_worker(state)
            return
        check_grown(grown, changed)
        former, self._old = self._old, None
        try:
            if grown is not None:
                dataset = self._arguments["dataset"]
                self._old = old_records(dataset, self.order, _state_in(state), order)
            whole, share = self._whole_state(state), self._share
            loader = self._own_loader()
            loader.load_state_dict(whole, order, changed=changed, grown=grown)
        except BaseException:
            self._old = former
            raise
        if self.order != loader.order:
            self._set_up(dict(loader._arguments), self._numbers, self._identity, self._board)
            self._loader, self._share = loader, share
        self._old = loader._old

    def refuse_move(self) -> None:
        """Raises while worker processes have read ahead for a `for` that still runs."""
        if running_iterators(self._board.processes()):
            refuse_requests_ahead()

    def note_move(self) -> None:
        """Workers that have not begun yet start here."""
        self._board.set(self._main_position())
        self._moves = self._board.moves

    def _load_in_worker(self, state: Mapping[str, Any]) -> None:
        info = data.get_worker_info()
        here = None if info is None else [info.id, info.num_workers]
        deal = list(self._deal)
        if state["worker"] != here or list(state["deal"]) != deal:
            raise StateMismatchError(
                f"the state belongs to worker {state['worker']} with (world, batch, last) "
                f"{state['deal']}; this is worker {here} with {deal}",
                advice="Load the whole state of the StatefulDataLoader with "
                "IterableDataset.load_state_dict.",
            )
        self._check(state["state"])
        assert info is not None
        main = self._position_in_worker()
        self._worker = info.id, info.num_workers
        self._place, self._given = Place(**state["place"]), Place(**state["given"])
        self._start = state["start"][0], state["start"][1]
        self._board.resume(main, self._start, *self._worker, self._key(info, 1))
        self._is_loaded = True

    def _check(self, state: Mapping[str, Any]) -> None:
        arguments: dict[str, Any] = {**self._arguments, "threads": 1, "batches_ahead": 1}
        with Loader(**arguments) as loader:
            if self._old is None:
                loader.load_state_dict(dict(state))
            else:
                loader.load_state_dict(dict(state), self._old.order, grown="finish")

    def _whole_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The state of all workers together, from what a StatefulDataLoader saved."""
        main = state["_snapshot"]["_main_snapshot"] if "_snapshot" in state else state
        if main.get("_index_sampler_state") or main.get("_sampler_iter_state"):
            raise ValueError(
                "a StatefulDataLoader over a Sampler saved this state: load it with "
                "recmap.torch.Sampler.load_state_dict"
            )
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
        """The state `more` steps after the state of the worker that yielded the last step.

        `is_over`: the ``for`` has ended.
        """

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
        if is_over and position == self._inner_of(epoch).count():
            epoch, position = epoch + 1, 0
        return self._state(epoch, position)

    def __repr__(self) -> str:
        return f"<recmap.torch.IterableDataset of {self._loader!r}>"


def _state_in(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state of a loader, of the last epoch, in what a StatefulDataLoader or this class saved."""
    if "_snapshot" in state:
        snapshots = state["_snapshot"]["_worker_snapshots"].values()
        states = [snapshot["dataset_state"]["state"] for snapshot in snapshots]
        last: Mapping[str, Any] = max(states, key=operator.itemgetter("epoch"))
        return last
    whole: Mapping[str, Any] = state.get("dataset_state", state)
    return whole
