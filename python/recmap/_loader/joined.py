"""Loaders of joined data sets: batches of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from .._context import Closing
from .._dataset.dataset import Dataset
from .._dataset.join import Joined, check_joined, features_of_sides
from .._example.features import Features
from .launcher import share_of
from .loader import Loader

__all__ = ["JoinedLoader", "check_loader"]

_REFUSED = {
    "on_error": "a loader would skip records that the others read",
    "transform": "transform the batches in the loop",
    "transform_threads": "transform the batches in the loop",
}


class JoinedLoader(Closing):
    """Batches of a join's rows: {name: batch}, with one `Loader` for each data set.

    The loaders always stay at the same position. If one of them fails, all return to the position
    before that step, so that none gets ahead of the others.

    Args:
        joined: what `recmap.join` returned. Each of its rows must have a record of every data set.
        batch_size: rows in a batch.
        features: {name: features} of the data sets whose records are parsed.
        options: those of `Loader`, the same for all, except ``on_error``, which would make loaders
            skip records that the others read, and ``transform``.

    Raises:
        ValueError: a row lacks a record; or an option of `Loader` is invalid.

    >>> ds = digits()
    >>> joined = recmap.join({"all": ds, "threes": ds.where("label == 3")})
    >>> wanted = {"threes": {"label": recmap.FixedLen()}}
    >>> for batch in JoinedLoader(joined, 100, features=wanted, shuffle=True, seed=7):
    ...     len(batch["all"]), set(batch["threes"]["label"].tolist())
    (100, {3})
    (83, {3})
    """

    _module = "recmap"

    def __init__(
        self,
        joined: Joined,
        batch_size: int,
        *,
        features: Mapping[str, Features] | None = None,
        **options: Any,
    ) -> None:
        check_joined(joined)
        for name, reason in _REFUSED.items():
            if name in options:
                raise TypeError(f"a JoinedLoader takes no {name}=: {reason}")
        wanted = features_of_sides(joined, features)
        self._share = share_of(options.pop("rank", None), options.pop("world_size", None))
        options["rank"], options["world_size"] = self._share[:2]
        self.loaders: dict[str, Loader[Any]] = {
            name: self._loader_of(view, batch_size, features=wanted.get(name), **options)
            for name, view in joined.views.items()
        }
        self._first = next(iter(self.loaders.values()))

    def _loader_of(self, view: Dataset, batch_size: int, **options: Any) -> Loader[Any]:
        """The loader of one data set; adapters have their own."""
        return Loader(view, batch_size, **options)

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self._first.epoch

    @property
    def position(self) -> int:
        """How many positions of the epoch were used, of all ranks together."""
        return self._first.position

    def __len__(self) -> int:
        """The number of batches in an epoch of this rank."""
        return len(self._first)

    def __getitem__(self, index: object) -> NoReturn:
        # DataLoader(loader) comes here, because a loader has a length.
        raise TypeError(
            "a JoinedLoader is iterated, not indexed: `for batch in loader`. It needs no DataLoader"
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._iterate(lambda batch: batch)

    def _iterate(self, finish: Callable[[dict[str, Any]], Any]) -> Iterator[Any]:
        """Steps as `finish` makes them of a batch. If it fails, the step is not delivered."""
        self._share.check()
        return self._steps({name: iter(loader) for name, loader in self.loaders.items()}, finish)

    def _steps(
        self, iterators: dict[str, Iterator[Any]], finish: Callable[[dict[str, Any]], Any]
    ) -> Iterator[Any]:
        """All loaders have the same order, so they end together."""
        while True:
            epoch, position = self._place()
            try:
                batch = {
                    name: found for name, steps in iterators.items() for found in _next_of(steps)
                }
                element = finish(batch) if batch else None
            except BaseException:
                self._go_to(epoch, position)
                raise
            if not batch:
                return
            yield element

    def peek(self) -> dict[str, Any] | None:
        """The next batch, without consuming it; None if no batch follows. See `Loader.peek`."""
        self._place()
        batch = {name: loader.peek() for name, loader in self.loaders.items()}
        return None if None in batch.values() else batch

    def _place(self) -> tuple[int, int]:
        """Where all loaders are. An interrupted `seek`, or one of a single loader, leaves them at
        different positions, where a batch would join rows that do not belong together."""
        places = {(loader.epoch, loader.position) for loader in self.loaders.values()}
        if len(places) > 1:
            raise RuntimeError("the loaders of the join are at different positions: call seek()")
        return places.pop()

    def seek(self, epoch: int = 0, position: int = 0) -> None:
        """Moves to a position of an epoch; see `Loader.seek`."""
        for loader in self.loaders.values():
            loader.seek(epoch, position)

    def _go_to(self, epoch: int, position: int) -> None:
        """As `seek`, also while a `for` of an adapter is ahead."""
        for loader in self.loaders.values():
            loader._go_to(epoch, position)

    def state_dict(self) -> dict[str, Any]:
        """The position, to be saved with a checkpoint: {name: state}.

        Raises:
            RuntimeError: the loaders are at different positions.
        """
        self._place()
        return {name: loader.state_dict() for name, loader in self.loaders.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a saved position, with any number of ranks.

        Raises:
            ValueError: the state is of other data sets, or its parts are of different positions.
            StateMismatchError: a data set or the order has changed; see `Loader.load_state_dict`.
        """
        if set(state) != set(self.loaders):
            raise ValueError(
                f"the state is of a join of {', '.join(state)}, this join is of "
                f"{', '.join(self.loaders)}"
            )
        epoch, position = self.epoch, self.position
        try:
            for name, loader in self.loaders.items():
                loader.load_state_dict(state[name])
            places = {(loader.epoch, loader.position) for loader in self.loaders.values()}
            if len(places) > 1:
                raise ValueError("the states of the data sets are of different positions")
        except BaseException:
            self._go_to(epoch, position)
            raise

    def close(self) -> None:
        """Ends the iteration and all threads. A later `for` starts them again."""
        for loader in self.loaders.values():
            loader.close()

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.loaders))
        return (
            f"<{self._module}.JoinedLoader of {names}: {len(self._first.order)} rows, "
            f"epoch {self.epoch}, position {self.position}>"
        )


def _next_of(steps: Iterator[Any]) -> list[Any]:
    """The next batch, or nothing at the end."""
    for batch in steps:
        return [batch]
    return []


def check_loader(loader: object) -> None:
    """Refuses what is not the loader of one data set."""
    if isinstance(loader, JoinedLoader):
        raise TypeError(
            "a JoinedLoader has a loader for each data set: iterate over it without an adapter, or "
            "pass one of them, such as "
            f"loader.loaders[{next(iter(loader.loaders))!r}]"
        )
    if not isinstance(loader, Loader):
        raise TypeError(f"loader must be a recmap.Loader, not {loader!r}")
