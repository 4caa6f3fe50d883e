"""The sampler: the record numbers of one rank."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Literal

import numpy as np

from torch.utils import data

from .. import _recmap
from .._base.errors import UnsupportedError
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.plural import counted
from .._loader.grown import Grown, check_grown, old_order
from .._loader.launcher import share_of
from .._loader.options import LAST, Last, one_of
from .._order.orders import Order, order_of
from ._callers import (
    Batching,
    Requests,
    StateWatch,
    batching_of,
    check_count,
    check_records,
    refuse_distributed_sampler,
    refuse_division,
    refuse_requests_ahead,
    warn_of_left_workers,
    warn_of_requests_ahead,
)


def _check_records(order: Order) -> None:
    order_of(order)
    if order.row_width:
        raise ValueError(
            "the order gives rows, not records: read them with recmap.torch.Loader or "
            "IterableDataset"
        )


class Sampler(data.Sampler[Any]):
    """The record numbers of one rank in the order of an epoch, with a state, for any DataLoader.

        DataLoader(MapDataset(ds), sampler=Sampler(order, rank=r, world_size=w), batch_size=32)
        DataLoader(MapDataset(ds), batch_sampler=Sampler(order, 32, rank=r, world_size=w))

    It replaces DistributedSampler, but uses each record once. Its state describes the progress of
    all ranks together and can be loaded with any number of ranks. A ``for`` iterates from the
    current position to the end of the epoch, and the next ``for`` over the next epoch. After a
    ``for`` that was left early, the next one continues, as with `Loader`. With worker processes,
    which do not tell what was delivered, it starts the next epoch, with a warning.

    A step is what the ``for`` gives: a batch of a DataLoader, or a list or number of the sampler
    itself. In a StatefulDataLoader, the state is exact at every step. A plain DataLoader with
    workers requests numbers ahead: use `state_after` with the number of delivered batches.

    The convention of torchdata: a state saved inside the ``for``, after its last item, is at the
    epoch's end, and gives an empty ``for`` when it is loaded, then the next epoch. So a run that
    counts its epochs by loops makes as many with a resume as without.

    Args:
        order: an order of as many records as the data set has; a DataLoader with a data set of
            another length is an error. Orders of rows, such as `Chunked`, are for `Loader` and
            `IterableDataset`.
        batch_size: the number of record numbers in a list; None: single numbers, which the ranks
            take in turn. Orders that make their own batches need None and give lists.
        rank, world_size: as for `recmap.Loader`: ``rank="auto"`` finds both.
        last: what to do with records that do not fill a step on every rank: "keep" divides them
            evenly (lists can be empty; single numbers: some ranks have one more), "drop" leaves
            them out, "pad" adds records from the start of the epoch.

    >>> sampler = recmap.torch.Sampler(recmap.Sequential(10), 2, rank=1, world_size=2)
    >>> list(sampler), sampler.epoch
    ([[2, 3], [6, 7], [9]], 1)
    """

    @suggest_arguments
    def __init__(
        self,
        order: Order,
        batch_size: int | None = None,
        rank: int | Literal["auto"] | None = None,
        world_size: int | None = None,
        last: Last = "keep",
    ) -> None:
        if batch_size is not None and natural("batch_size", batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        _check_records(order)
        self._given_share = share_of(rank, world_size)
        self.order: Order = order
        self._old: tuple[int, Order] | None = None  # the last epoch over fewer records, their order
        self._given_size = batch_size
        self._is_batched = batch_size is not None or order.batch_count > 0
        self._rank, world_size, _ = self._given_share
        self._deal = world_size, batch_size or 1, one_of("last", last, LAST)
        self._has_warned = False  # of a `for` over workers that was left early
        self._set(0, 0)
        self._share(0, 0, 0)  # raises if arguments are wrong

    def _set(self, epoch: int, position: int) -> None:
        self._begin = epoch, position  # where the iteration started
        self._taken = 0  # items given since
        self._batching = Batching()  # what makes steps of the items
        self._has_ended = False  # whether the iteration said that it has no items left
        self._run = object()  # the iteration; another one after a move
        self._moved_run: object = None  # the iteration that a loaded state moved
        self._is_over = False  # whether it reached the end of the epoch
        self._requests: Requests | None = None  # of the DataLoader, which may have taken more items

    def _share(self, epoch: int, position: int, step: int) -> tuple[int, int, int]:
        """(steps left in the epoch, first position of this step, number of its positions)."""
        order = self._order_of(epoch)._order
        return order.share(epoch, position, *self._deal, step, self._rank)

    def _order_of(self, epoch: int) -> Order:
        """The order of an epoch."""
        if self._old is not None and epoch <= self._old[0]:
            return self._old[1]
        return self.order

    # ---- Iteration.

    def __iter__(self) -> Iterator[Any]:
        return _Iteration(self, StateWatch(sys._getframe(1)))

    def _start(self, caller: FrameType) -> Iterator[Any]:
        """Starts an iteration, and returns its items."""
        self._given_share.check()
        refuse_division(caller, self._deal[0])
        check_records(caller, self.order)
        epoch, position = self._next_start()
        self._set(epoch, position)
        self._requests = Requests(caller)
        self._batching = batching_of(caller)
        return self._items(epoch, position)

    def _next_start(self) -> tuple[int, int]:
        """Where the next iteration starts."""
        if self._is_over or self._is_at_end():
            return self._begin[0] + 1, 0
        if self._requests is not None and self._requests.are_ahead and self._taken:
            if not self._has_warned:
                warn_of_left_workers()
            self._has_warned = True
            return self._begin[0] + 1, 0
        return self._after(self._steps_taken())

    def _end(self) -> None:
        """Is called each time that the iteration is asked for an item and has none left.

        A BatchSampler asks while it fills its last batch, if that is a smaller one. This batch is
        still to be delivered, so the epoch is over when it asks again.
        """
        size, drops_rest, asks_again = self._batching
        is_in_batch = asks_again and not drops_rest and self._taken % size > 0
        self._is_over = self._has_ended or not is_in_batch
        self._has_ended = True

    def _items(self, epoch: int, position: int) -> Iterator[Any]:
        steps = self._share(epoch, position, 0)[0]
        if not self._is_batched:
            yield from self._one_by_one(epoch, position, steps)
            return
        for step in range(steps):
            _, first, count = self._share(epoch, position, step)
            yield self._at(epoch, first, count)

    def _at(self, epoch: int, first: int, count: int) -> list[int]:
        order = self._order_of(epoch)
        length = len(order)
        if first + count <= length:
            numbers = order.at(epoch, range(first, first + count))
        else:
            numbers = order.at(epoch, np.arange(first, first + count) % length)
        return list(numbers.tolist())

    def _one_by_one(self, epoch: int, position: int, steps: int) -> Iterator[int]:
        world_size = self._deal[0]
        order = self._order_of(epoch)
        whole = (len(order) - position) // world_size
        for step in range(0, whole, 1024):
            places = np.arange(step, min(step + 1024, whole)) * world_size
            yield from order.at(epoch, places + (position + self._rank)).tolist()
        if steps > whole:
            _, first, count = self._share(epoch, position, whole)
            yield from self._at(epoch, first, count)

    def __len__(self) -> int:
        """The number of items in a whole epoch of this rank."""
        refuse_distributed_sampler(sys._getframe(1))
        epoch = 0 if self._old is None else self._stand()[0]
        steps = self._share(epoch, 0, 0)[0]
        if self._is_batched or not steps:
            return steps
        return steps - 1 + self._share(epoch, 0, steps - 1)[2]

    # ---- State.

    def _stand(self) -> tuple[int, int]:
        return (self._begin[0] + 1, 0) if self._is_over else self._after(self._steps_taken())

    def _steps_taken(self) -> int:
        return -(-self._taken // self._batching.size)

    def _step_count(self) -> int:
        """The steps of the iteration, on the rank that has most."""
        return -(-self._share(*self._begin, 0)[0] // self._batching.size)

    def _after(self, steps: int) -> tuple[int, int]:
        """The position after `steps` steps of the iteration."""
        if not steps:
            return self._begin
        if steps >= self._step_count():
            return self._begin[0], len(self._order_of(self._begin[0]))
        items = steps * self._batching.size
        return self._order_of(self._begin[0])._order.state_after(*self._begin, *self._deal, items)

    def _is_at_end(self) -> bool:
        """Returns true if the iteration gave its last item, but was broken off before its end."""
        return 0 < self._steps_taken() >= self._step_count()

    @property
    def epoch(self) -> int:
        """The epoch of the latest ``for``, or the next one if it has ended; the first one is 0."""
        return self._stand()[0]

    @property
    def position(self) -> int:
        """The number of positions of the epoch that all ranks together have used."""
        return self._stand()[1]

    def set_epoch(self, epoch: int) -> None:
        """Moves to the start of an epoch, as for DistributedSampler. Not needed: epochs advance.

        Does nothing if the sampler is already in this epoch, so a loaded state stays.
        """
        if epoch != self.epoch:
            self._set(epoch, 0)

    def state_dict(self) -> dict[str, Any]:
        """The current state as plain JSON values; the same on every rank after a step.

        With ``last="keep"`` and single numbers, some ranks can have one step less than others. The
        state after their last step is not at the epoch's end, because a step of the others follows.
        """
        if self._has_requests():
            warn_of_requests_ahead("after records that were not delivered")
        return self._state(self._stand())

    def _has_requests(self) -> bool:
        """Returns true if a DataLoader has asked for more items than it has delivered."""
        requests = self._requests
        if requests is None:
            return False
        return requests.are_left() or (
            requests.are_untold and self._taken > 0 and not self._is_over
        )

    def state_after(self, steps: int) -> dict[str, Any]:
        """The state after `steps` steps of the latest ``for`` were delivered.

        The DataLoader must deliver them in order: with ``in_order=False``, records would be
        repeated and lost.
        """
        check_count("steps", steps, self._step_count())
        return self._state(self._after(steps))

    def _state(self, stand: tuple[int, int]) -> dict[str, Any]:
        chosen = self._order_of(stand[0])
        order = {"order": chosen.describe(), "position_count": len(chosen)}
        return {"format_version": 1, **order, "epoch": stand[0], "position": stand[1]}

    @suggest_arguments
    def load_state_dict(
        self,
        state: Mapping[str, Any],
        order: Order | None = None,
        *,
        changed: bool = False,
        grown: Grown | None = None,
    ) -> None:
        """Resumes from a state of any rank of any world size, a `Loader` or a StatefulDataLoader.

        Args:
            order, changed, grown: as for `Loader.load_state_dict`. A sampler knows its order alone:
                that the data set only grew, `MapDataset.load_state_dict` checks.

        Raises:
            StateMismatchError: the state belongs to another order.
        """
        check_grown(grown, changed)
        if self._requests is not None and self._requests.are_running():
            refuse_requests_ahead()
        here, state = self._state((0, 0)), _state_in(state)
        if not here.keys() <= state.keys():
            raise ValueError("this is not the state of a sampler")
        if state["format_version"] != here["format_version"]:
            raise UnsupportedError(
                f"a later version of recmap wrote the state: its format is "
                f"{state['format_version']}, this version reads {here['format_version']}"
            )
        count = state["position_count"]
        is_old = grown is not None and count < len(self.order)
        chosen = self.order if order is None else order
        if is_old:
            chosen = old_order(self.order, count, order)
        _check_records(chosen)
        epoch, position = operator.index(state["epoch"]), operator.index(state["position"])
        if not changed:
            theirs = state["order"], state["position_count"], epoch, position
            is_continued = order is not None and not is_old
            _recmap.order_check(chosen.describe(), len(chosen), *theirs, is_continued)
        if not (epoch >= 0 and 0 <= position <= len(chosen)):
            raise ValueError(f"invalid state: epoch {epoch}, position {position}")
        self._old = (epoch, chosen) if is_old and position else None
        if order is not None and not is_old:
            self.order = order
            self._is_batched = self._given_size is not None or order.batch_count > 0
        run, batching = self._run, self._batching
        self._set(epoch, position)
        self._moved_run, self._batching = run, batching

    def __repr__(self) -> str:
        epoch, position = self._stand()
        return (
            f"<recmap.torch.Sampler of {self.order!r}, epoch {epoch}, position {position}, "
            f"rank {self._rank} of {self._deal[0]}>"
        )


def _state_in(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The sampler's state in the state of a StatefulDataLoader; any other state as it is."""
    main = state["_snapshot"]["_main_snapshot"] if "_snapshot" in state else state
    if "_sampler_iter_state" not in main:
        return state
    of_batches = main["_sampler_iter_state"] or {}
    found: Mapping[str, Any] = main["_index_sampler_state"] or of_batches.get("sampler_state", {})
    if "epoch" not in found or main is state:
        return found
    if state["_iterator_finished"]:
        return {**found, "epoch": found["epoch"] + 1, "position": 0}
    more = state["_steps_since_snapshot"]
    if more:
        raise ValueError(
            f"the StatefulDataLoader saved this state {counted(more, 'step')} after its latest "
            "snapshot, and does not say where that is: load it into a StatefulDataLoader, or save "
            "with snapshot_every_n_steps=1"
        )
    return found


class _Iteration(Iterator[Any]):
    """The iterator of a ``for`` over a sampler. Like a generator, it starts with its first item.

    It continues at a state that is loaded. It no longer counts for the sampler after another one
    began, after `set_epoch`, or after an error.
    """

    def __init__(self, sampler: Sampler, watch: StateWatch) -> None:
        self._sampler, self._watch = sampler, watch
        self._items: Iterator[Any] | None = None
        self._run: object = None

    def __next__(self) -> Any:
        sampler = self._sampler
        self._watch.check()
        if self._items is None:
            self._items = sampler._start(sys._getframe(1))
            self._run = sampler._run
        elif self._run is sampler._moved_run:
            self._items = sampler._items(*sampler._begin)
            self._run, sampler._moved_run = sampler._run, None
        try:
            item = next(self._items)
        except StopIteration:
            if self._run is sampler._run:
                sampler._end()
            raise
        except BaseException:
            self._run = object()  # none of the sampler's runs
            raise
        if self._run is sampler._run:
            sampler._taken += 1
        return item
