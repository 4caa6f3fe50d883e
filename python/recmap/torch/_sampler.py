"""Numbers of records by ranks: the sampler."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch.utils import data

from .._errors import StateMismatchError
from .._loader import _LAST, Last, _one_of
from .._orders import Order


def mismatch(name: str, there: Any, here: Any) -> StateMismatchError:
    return StateMismatchError(
        f"the state is of another run: {name} is {there}, here {here}",
        advice="open the data set and make the order with which the state was saved",
    )


class Sampler(data.Sampler[Any]):
    """Record numbers of one rank in the order of an epoch, with a state: for any DataLoader.

        DataLoader(MapDataset(ds), sampler=Sampler(order, rank=r, world_size=w), batch_size=32)
        DataLoader(MapDataset(ds), batch_sampler=Sampler(order, 32, rank=r, world_size=w))

    Does what DistributedSampler does, but each record comes once, and the state says how far all
    ranks together are: it is good for any number of them. ``for`` walks from where the sampler
    stands to the end of the epoch, the next ``for`` the next epoch. One that was broken off before
    its last item begins again where it began.

    In a StatefulDataLoader its state is right at every step. A plain DataLoader with workers takes
    numbers ahead: there `state_after` tells the state by the batches that were delivered.

    The convention of torchdata: a state saved inside the ``for``, after its last item, is at the
    epoch's end, and gives an empty ``for`` when it is loaded, then the next epoch. So a run that
    counts its epochs by loops makes as many with a resume as without.

    Args:
        order: of as many records as the data set has.
        batch_size: numbers in a list; None: numbers one by one, dealt to the ranks in turn. Orders
            that make their own batches take None and give lists.
        rank, world_size: ``**recmap.torch.ranks()``.
        last: what does not fill a step: "keep" deals it evenly (a list may be empty then; one by
            one, some ranks have one more), "drop" leaves it out, "pad" fills up from the epoch's
            start.

    >>> sampler = recmap.torch.Sampler(recmap.Sequential(10), 2, rank=1, world_size=2)
    >>> list(sampler), sampler.epoch
    ([[2, 3], [6, 7], [9]], 1)
    """

    def __init__(
        self,
        order: Order,
        batch_size: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        last: Last = "keep",
    ) -> None:
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}")
        self.order = order
        self._is_batched = batch_size is not None or order.batch_count > 0
        self._rank = rank
        self._deal = world_size, batch_size or 1, _one_of("last", last, _LAST)
        self._begin = 0, 0  # where the walk began
        self._taken = 0  # what it gave
        self._is_over = False  # whether it came to the epoch's end
        self._share(0, 0, 0)  # wrong arguments raise here

    def _share(self, epoch: int, position: int, step: int) -> tuple[int, int, int]:
        """Of the deal that begins there: its steps; the first position and their number in one."""
        return self.order._order.share(epoch, position, *self._deal, step, self._rank)

    # ---- Walking.

    def __iter__(self) -> Iterator[Any]:
        epoch, position = self._begin
        if self._is_over or self._is_at_end():
            epoch, position = epoch + 1, 0
        self._set(epoch, position)
        for item in self._items(epoch, position):
            self._taken += 1
            yield item
        self._is_over = True

    def _items(self, epoch: int, position: int) -> Iterator[Any]:
        steps = self._share(epoch, position, 0)[0]
        if not self._is_batched:
            yield from self._one_by_one(epoch, position, steps)
            return
        for step in range(steps):
            _, first, count = self._share(epoch, position, step)
            yield self._at(epoch, first, count)

    def _at(self, epoch: int, first: int, count: int) -> list[int]:
        length = len(self.order)
        if first + count <= length:
            numbers = self.order.at(epoch, range(first, first + count))
        else:
            numbers = self.order.at(epoch, np.arange(first, first + count) % length)
        return list(numbers.tolist())

    def _one_by_one(self, epoch: int, position: int, steps: int) -> Iterator[int]:
        world_size = self._deal[0]
        whole = (len(self.order) - position) // world_size
        for step in range(0, whole, 1024):
            places = np.arange(step, min(step + 1024, whole)) * world_size
            yield from self.order.at(epoch, places + (position + self._rank)).tolist()
        if steps > whole:
            _, first, count = self._share(epoch, position, whole)
            yield from self._at(epoch, first, count)

    def __len__(self) -> int:
        """Items of a whole epoch of this rank."""
        steps = self._share(0, 0, 0)[0]
        if self._is_batched or not steps:
            return steps
        return steps - 1 + self._share(0, 0, steps - 1)[2]

    # ---- Where it stands.

    def _set(self, epoch: int, position: int) -> None:
        self._begin, self._taken, self._is_over = (epoch, position), 0, False

    def _stand(self) -> tuple[int, int]:
        return (self._begin[0] + 1, 0) if self._is_over else self._behind(self._taken)

    def _behind(self, items: int) -> tuple[int, int]:
        """Where the sampler stands behind so many items of its walk."""
        if not items:
            return self._begin
        if items >= self._share(*self._begin, 0)[0]:
            return self._begin[0], len(self.order)
        return self.order._order.state_after(*self._begin, *self._deal, items)

    def _is_at_end(self) -> bool:
        """Whether the walk gave its last item, but was broken off before its end."""
        return 0 < self._taken >= self._share(*self._begin, 0)[0]

    @property
    def epoch(self) -> int:
        """The epoch of the newest ``for``, or the next one when that has ended; the first is 0."""
        return self._stand()[0]

    @property
    def position(self) -> int:
        """How much of the epoch all ranks together have taken: 0 to ``len(order)``."""
        return self._stand()[1]

    def set_epoch(self, epoch: int) -> None:
        """As of DistributedSampler, but needless: epochs follow each other.

        Of the epoch where the sampler stands it changes nothing: a state that was loaded stays.
        """
        if epoch != self.epoch:
            self._set(epoch, 0)

    def state_dict(self) -> dict[str, Any]:
        """Where the sampler stands, as plain JSON values; the same on every rank after a step."""
        return self._state(self._stand())

    def state_after(self, items: int) -> dict[str, Any]:
        """The state when `items` items (batches or numbers) of the newest walk were delivered."""
        return self._state(self._behind(items))

    def _state(self, stand: tuple[int, int]) -> dict[str, Any]:
        order = {"order": self.order.describe(), "position_count": len(self.order)}
        return {"format_version": 1, **order, "epoch": stand[0], "position": stand[1]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state of any rank of any world; one of a `Loader` is good, too.

        Raises:
            StateMismatchError: it is the state of another order.
        """
        here = self._state((0, 0))
        if not here.keys() <= state.keys():
            raise ValueError("this is no state of a sampler")
        for name in ("format_version", "order", "position_count"):
            if state[name] != here[name]:
                raise mismatch(name, state[name], here[name])
        epoch, position = operator.index(state["epoch"]), operator.index(state["position"])
        if not (0 <= epoch and 0 <= position <= len(self.order)):
            raise ValueError(f"the state is at epoch {epoch}, position {position}")
        self._set(epoch, position)
