"""Loaders of joined data sets: batches of the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from .._base.context import Closing
from .._base.errors import UnsupportedError
from .._base.names import SuggestsMethods, suggest_arguments
from .._base.numbers import Int64s
from .._base.plural import counted
from .._dataset.dataset import Dataset
from .._dataset.join import Joined, check_joined, features_of_sides, warn_of_bytes
from .._example.features import Features
from .._example.images import has_random_images
from .companions import Companions
from .grown import (
    Grown,
    check_grown,
    check_mapping,
    check_state,
    is_well_formed,
    old_rows,
    old_side,
    plain_state,
)
from .launcher import share_of
from .loader import Loader
from .options import ON_BAD_RECORD, LoaderOptions, OnBadRecord, one_of
from .why import Why, say_on

__all__ = ["JoinedLoader", "check_loader"]

Place: TypeAlias = tuple[int, int]  # epoch and position

# Options of both classes; the loaders check the others.
_OPTIONS = {*LoaderOptions.__annotations__, "feature_lists", "numbers", "pin_memory"}


class JoinedLoader(SuggestsMethods, Closing):
    """Batches of a join's rows: {name: batch}, with one `Loader` for each data set.

    The loaders always stay at the same position. Random images (`Image`) and `RecordBatch.seeds` of
    all data sets depend on the number of the record in the first one, so a picture and its mask get
    the same crop. If one of the loaders fails, all return to the position before that step, so that
    none gets ahead of the others.

    Args:
        joined: what `recmap.join` returned. Each of its rows must have a record of every data set.
        batch_size: rows in a batch.
        features: {name: features} of the data sets whose records are parsed; {name: None} gives
            the records of that one as bytes. Warns of a data set that is left out.
        transform: a callable that converts one batch, {name: batch}. It runs ahead in threads, as
            in `Loader`, and its results are delivered in order.
        on_bad_record: for rows with a record that fails its check, in any of the data sets:
            "error" raises, "skip" leaves the row out in all of them, and "substitute" replaces it
            by the next row of the epoch whose records are all good, with the images and seeds of
            that row. `skipped` lists them. Warns of the first one.
        options: as for `Loader`, the same for all, except ``on_bad_record``.

    Raises:
        ValueError: a row lacks a record; or an option of `Loader` is invalid.

    >>> ds = digits()
    >>> joined = recmap.join({"all": ds, "threes": ds.where("label == 3")})
    >>> wanted = {"all": None, "threes": {"label": recmap.FixedLen((), "int64")}}
    >>> for batch in JoinedLoader(joined, 100, features=wanted, shuffle=True, seed=7):
    ...     len(batch["all"]), set(batch["threes"]["label"].tolist())
    (100, {3})
    (83, {3})
    """

    _module = "recmap"
    _meant = Loader._meant

    @suggest_arguments(options=_OPTIONS)
    def __init__(
        self,
        joined: Joined,
        batch_size: int,
        *,
        features: Mapping[str, Features | None] | None = None,
        transform: Callable[[dict[str, Any]], Any] | None = None,
        on_bad_record: OnBadRecord = "error",
        **options: Any,
    ) -> None:
        check_joined(joined)
        wanted = features_of_sides(joined, features)
        warn_of_bytes(joined, features)
        policy = one_of("on_bad_record", on_bad_record, ON_BAD_RECORD)
        self._is_random = has_random_images(*wanted.values())
        self._share = share_of(options.pop("rank", None), options.pop("world_size", None))
        options["rank"], options["world_size"] = self._share[:2]
        if policy:
            options["on_bad_record"] = "skip"
        views = joined.views
        lead = next(iter(views))
        is_led = transform is not None or policy > 0
        of_lead = {"transform": transform or _as_it_is} if is_led else {}
        threads = {"transform_threads": options.pop("transform_threads", None)}
        self.loaders: dict[str, Loader[Any]] = {}
        for name, view in views.items():
            self.loaders[name] = self._loader_of(
                self.loaders.get(lead),
                view,
                batch_size,
                features=wanted.get(name),
                **(of_lead | threads if name == lead else {}),
                **options,
            )
        self._first = self.loaders[lead]
        self._transform = transform
        self._companions: Companions | None = None
        if is_led:
            self._lead(policy)

    def _lead(self, policy: int) -> None:
        """Lets the pipeline of the first loader take the steps of the others; see `Companions`."""
        if policy and self._first.order.row_width:
            raise ValueError("on_bad_record must be 'error' with an order that gives rows")
        self._companions = Companions(self.loaders, policy == ON_BAD_RECORD["substitute"])
        self._first._join = self._companions

    def _loader_of(
        self, lead: Loader[Any] | None, view: Dataset, batch_size: int, **options: Any
    ) -> Loader[Any]:
        """The loader of one data set, which draws as the first one; adapters have their own."""
        return Loader._drawing_as(lead, view, batch_size, **options)

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

    def numbers_at(self, step: int) -> dict[str, Int64s | tuple[Int64s, Int64s]]:
        """{name: the record numbers that this rank reads in a step}; see `Loader.numbers_at`."""
        share = self._first._share_of(step)
        return {
            name: share.numbers(loader._inner_of(share.epoch))
            for name, loader in self.loaders.items()
        }

    def __getitem__(self, index: object) -> NoReturn:
        # DataLoader(loader) comes here, because a loader has a length.
        raise TypeError(
            "a JoinedLoader is iterated, not indexed: `for batch in loader`. It needs no DataLoader"
        )

    def __iter__(self) -> Iterator[Any]:
        if self._companions is not None:
            self._share.check()
            return iter(self._first)
        return self._iterate(lambda batch, place: batch)

    def _iterate(self, finish: Callable[[Any, Place], Any]) -> Iterator[Any]:
        """Yields what `finish` returns for each batch and the place after it.

        If `finish` fails, the step is not delivered: the next iteration begins with it.
        """
        self._share.check()
        if self._companions is not None:
            return self._first._iterate(
                lambda batch, step: finish(batch, (step.epoch, step.position))
            )
        return self._steps({name: iter(loader) for name, loader in self.loaders.items()}, finish)

    def _steps(
        self, iterators: dict[str, Iterator[Any]], finish: Callable[[Any, Place], Any]
    ) -> Iterator[Any]:
        """All loaders have the same order, so they end together."""
        while True:
            epoch, position = self._place()
            try:
                batch = {
                    name: found for name, steps in iterators.items() for found in _next_of(steps)
                }
                element = finish(batch, self._place()) if batch else None
            except BaseException:
                self._go_to(epoch, position)
                raise
            if not batch:
                return
            yield element

    def peek(self) -> Any:
        """The next batch, without consuming it; None if no batch follows. See `Loader.peek`."""
        if self._companions is not None:
            return self._first.peek()
        self._place()
        batch = {name: loader.peek() for name, loader in self.loaders.items()}
        return None if None in batch.values() else batch

    def ready(self, timeout: float = 0.0) -> bool:
        """Returns true if the next batch is in memory; see `Loader.ready`."""
        if self._companions is not None:
            return self._first.ready(timeout)
        end = time.monotonic() + timeout
        return all(
            loader.ready(max(0.0, end - time.monotonic()) if timeout > 0 else timeout)
            for loader in self.loaders.values()
        )

    def why(self) -> Why:
        """What the loader waits for; see `Loader.why`."""
        found = [loader.why() for loader in self._moved().values()]
        return next((why for why in found if why["cause"] not in ("caller", "nothing")), found[0])

    def why_on(self, signum: int) -> None:
        """Prints what `why` says at each signal; see `Loader.why_on`."""
        say_on(self, signum)

    def _place(self) -> tuple[int, int]:
        """Returns the place of all loaders.

        Raises RuntimeError if they are at different positions, after an interrupted `seek` or one
        of a single loader. A batch would then join rows that do not belong together.
        """
        places = {(loader.epoch, loader.position) for loader in self._moved().values()}
        if len(places) > 1:
            raise RuntimeError("the loaders of the join are at different positions: call seek()")
        return places.pop()

    def _moved(self) -> dict[str, Loader[Any]]:
        """The loaders that have the position: the first, if it takes the steps of the others."""
        return (
            self.loaders if self._companions is None else dict([next(iter(self.loaders.items()))])
        )

    def seek(self, epoch: int = 0, position: int = 0) -> None:
        """Moves to a position of an epoch; see `Loader.seek`."""
        for loader in self._moved().values():
            loader.seek(epoch, position)

    def _go_to(self, epoch: int, position: int) -> None:
        """As `seek`, also while a `for` of an adapter is ahead."""
        for loader in self._moved().values():
            loader._go_to(epoch, position)

    def state_dict(self) -> dict[str, Any]:
        """The position, to be saved with a checkpoint: {name: state}.

        Raises:
            RuntimeError: the loaders are at different positions.
        """
        self._place()
        state = self._first.state_dict()
        return self._state_at((state["epoch"], state["position"]))

    def _state_at(self, place: Place) -> dict[str, Any]:
        return {name: loader._state_at(*place) for name, loader in self.loaders.items()}

    @suggest_arguments
    def load_state_dict(self, state: Mapping[str, Any], *, grown: Grown | None = None) -> None:
        """Continues from a saved position, with any number of ranks.

        Args:
            grown: "finish" also accepts the state of data sets of which some have grown since. The
                loader finishes the epoch over the rows that the join had, and continues with all
                of its rows. See `Loader.load_state_dict`.

        Raises:
            ValueError: the state is of one loader or of other data sets, or its parts are of
                different positions.
            StateMismatchError: a data set or the order has changed; see `Loader.load_state_dict`.
            CorruptStateError: the state of a data set was changed, or is not a state.
            UnsupportedError: with `grown`, what the order was does not follow from its parameters,
                as for a mixture or rows.
        """
        check_grown(grown)
        self._first._refuse_own_transform()
        states = self._checked(state)
        views = {name: loader.dataset for name, loader in self.loaders.items()}
        rows = None if grown is None else old_rows(views, states)
        if rows is not None and self._is_random:
            raise UnsupportedError(
                "the data sets have grown, and random images of old rows are not known: load the "
                "state with the data sets as they were, until the epoch ends"
            )
        place = self.epoch, self.position
        former = {
            name: (loader._state_at(*place), loader._old, loader._loader.was_moved())
            for name, loader in self.loaders.items()
        }
        former_sides = None if self._companions is None else self._companions.old_sides
        try:
            self._load_sides(states, rows)
        except BaseException:
            if self._companions is not None:
                self._companions.old_sides = former_sides
            for name, loader in self.loaders.items():
                loader._return_to(*former[name])
            raise

    def _checked(self, state: object) -> dict[str, dict[str, Any]]:
        """Returns the states of the data sets as plain JSON values.

        Raises before any of them is loaded if they cannot be the states of this join.
        """
        state = check_mapping(state)
        if set(state) != set(self.loaders):
            here = f"this join is of {', '.join(self.loaders)}"
            if "format_version" in state:
                raise ValueError(
                    f"this is the state of one loader, {here}: pass the {{name: state}} that "
                    "JoinedLoader.state_dict() returned"
                )
            raise ValueError(f"the state is of a join of {', '.join(state)}, {here}")
        for of_side in state.values():
            check_state(of_side)
        states = {name: plain_state(of_side) for name, of_side in state.items()}
        for name, of_side in states.items():
            if not is_well_formed(of_side):
                self.loaders[name].load_state_dict(of_side)  # raises what is wrong with it
        if len({(of_side["epoch"], of_side["position"]) for of_side in states.values()}) > 1:
            raise ValueError("the states of the data sets are of different positions")
        return states

    def _load_sides(self, states: Mapping[str, dict[str, Any]], rows: Int64s | None) -> None:
        """Loads the state of each loader. `rows`: those that the join had, if it has grown.

        If the rows change, the threads that take steps end first: a step that they took in between
        would join an old row of one data set with a new row of another.
        """
        companions = self._companions
        if companions is not None and (rows is not None or companions.old_sides is not None):
            self._first._stop_transform()
        for name, loader in self.loaders.items():
            if rows is None:
                loader.load_state_dict(states[name])
            else:
                old = old_side(loader.dataset, loader.order, states[name], rows)
                loader._load_old(states[name], old)
        if companions is not None:
            companions.use_old(self.loaders)

    @property
    def skipped(self) -> list[dict[str, Any]]:
        """The first 1,024 records that failed their check, because of ``on_bad_record``.

        Each is a dict with "epoch", "position", the "name" of the data set, the record's "number"
        there, and the position of its row's "substitute", or None. Batches that were read ahead
        count.
        """
        return [] if self._companions is None else list(self._companions.skipped)

    def close(self) -> None:
        """Ends the iteration and all threads. A later `for` starts them again."""
        for loader in self.loaders.values():
            loader.close()

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.loaders))
        return (
            f"<{self._module}.JoinedLoader of {names}: {counted(len(self._first.order), 'row')}, "
            f"epoch {self.epoch}, position {self.position}>"
        )


def _as_it_is(batch: dict[str, Any]) -> dict[str, Any]:
    """Returns the batch. A leading loader needs a transform; this is the default."""
    return batch


def _next_of(steps: Iterator[Any]) -> list[Any]:
    """The next batch, or nothing at the end."""
    for batch in steps:
        return [batch]
    return []


def check_loader(loader: object) -> None:
    """Raises TypeError if `loader` is not the loader of one data set."""
    if isinstance(loader, JoinedLoader):
        raise TypeError(
            "a JoinedLoader has a loader for each data set: iterate over it without an adapter, or "
            "pass one of them, such as "
            f"loader.loaders[{next(iter(loader.loaders))!r}]"
        )
    if not isinstance(loader, Loader):
        raise TypeError(f"loader must be a recmap.Loader, not {loader!r}")
