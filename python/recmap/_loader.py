"""The loader: batches of one rank, in order, read ahead by threads of the library."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Literal, TypeAlias

from . import _recmap
from ._columns import columns_of, sequence_columns_of
from ._dataset import Dataset
from ._features import Features, parser_of
from ._orders import Order, Sequential, Shuffled, check_fits
from ._pipeline import Pipeline

__all__ = ["Loader"]

Last: TypeAlias = Literal["keep", "drop", "pad"]
OnError: TypeAlias = Literal["raise", "skip", "substitute"]

_LAST = {"keep": 0, "drop": 1, "pad": 2}
_ON_ERROR = {"raise": 0, "skip": 1, "substitute": 2}
_READAHEAD = {"auto": 0, "off": 1, "on": 2}


def _whole(name: str, value: Any) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if value < 0:
        raise ValueError(f"{name} is {value}")
    return operator.index(value)


def _one_of(name: str, value: Any, table: dict[str, int]) -> int:
    if value not in table:
        raise ValueError(f"{name} is one of {', '.join(map(repr, table))}, not {value!r}")
    return table[value]


class Loader:
    """Batches of a data set, epoch by epoch, that can be stopped and resumed at any step.

    ``for batch in loader`` goes on from where the loader stands: with ``epochs=None`` to the end of
    the epoch (the next ``for`` walks the next one), with ``epochs=3`` until epoch 3 of the run,
    resumed or not, with ``math.inf`` for ever. A batch is a `RecordBatch`, with `features` a
    `ColumnBatch`, or what `transform` makes of it.

    State is what was delivered, never what was read ahead: `state_dict` after step s goes on with
    step s + 1, on any number of ranks and with any batch size. After an epoch's last step, also
    inside the ``for``, it is the start of the next epoch. (`recmap.torch` has torchdata's
    convention instead: inside the ``for`` it is still the end of the epoch.)

    Safe among threads: each step is delivered once. One iterator at a time: beginning another ends
    the one before. Not for use in a child after fork; it pickles as what it was made of and where
    it stands.

    Args:
        dataset: a data set or a view of one.
        batch_size: records a step and rank; orders that make their own batches take None.
        shuffle: walk ``Shuffled(len(dataset), seed)``; else from first to last.
        seed: of the shuffle.
        order: any order of ``len(dataset)`` records, instead of shuffle and seed.
        features: {name: FixedLen(...), ...}, or of tf.io's: batches are then `ColumnBatch`, dicts of
            columns, parsed by the library's threads.
        feature_lists: records are of tf.SequenceExample: `features` are those of the context, these
            of the feature lists, and a batch is a pair of `ColumnBatch`, as of
            `Dataset.parse_sequence`.
        rank, world_size: which share of each step is this process's.
        epochs: see above.
        last: the records that do not fill a step: "keep" deals them evenly, "drop" leaves them
            out, "pad" fills up from the epoch's start. All ranks see the same number of steps.
        threads: that read, check and gather; 0: one a core.
        batches_ahead: most batches that are ready before they are asked for; 0: a default.
        on_error: "raise" a record that fails its check, "skip" it, or "substitute" the next good
            one of the epoch. `skipped` lists them.
        readahead: "auto", "on" or "off": whether the kernel is asked for records ahead.
        transform: a callable of one batch, run ahead in threads; its results are delivered in
            order. It keeps what it needs: a RecordBatch's views are good for as long as they live.
        transform_threads: how many of them; None: one a core, at most 8.

    Raises (while it is walked; the step is then tried again by the next call):
        CorruptRecordError: a record is damaged, or is no tf.Example where features are asked for.
        FeatureError: a record's features are not as asked.
        Exception: what `transform` raised.

    >>> features = {"label": recmap.FixedLen((), "int64")}
    >>> loader = recmap.Loader(digits(), 256, shuffle=True, seed=7, features=features)
    >>> batch = next(iter(loader))
    >>> batch["label"].shape, loader.position, loader.steps_left
    ((256,), 256, 7)
    >>> again = recmap.Loader(digits(), 100, shuffle=True, seed=7, features=features)
    >>> again.load_state_dict(loader.state_dict())
    >>> sum(batch.row_count for batch in again)
    1541
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = None,
        *,
        shuffle: bool = False,
        seed: int = 0,
        order: Order | None = None,
        features: Features | None = None,
        feature_lists: Features | None = None,
        rank: int = 0,
        world_size: int = 1,
        epochs: float | None = None,
        last: Last = "keep",
        threads: int = 0,
        batches_ahead: int = 0,
        on_error: OnError = "raise",
        readahead: Literal["auto", "on", "off"] = "auto",
        transform: Callable[[Any], Any] | None = None,
        transform_threads: int | None = None,
    ) -> None:
        self._arguments = {key: value for key, value in locals().items() if key != "self"}
        if epochs is not None and epochs != math.inf and not epochs >= 0:  # or no number
            raise ValueError(f"epochs is {epochs}")
        if epochs is not None and epochs != math.inf and epochs != int(epochs):
            raise ValueError(f"epochs is None, a whole number or math.inf, not {epochs}")
        self.dataset = dataset
        self.order = self._order_of(dataset, order, shuffle, seed)
        self._order = _over(dataset, self.order)
        self._epochs = epochs
        self._batch_size = self._size_of(batch_size)
        self._last = _one_of("last", last, _LAST)
        self._rank, self._world_size = _whole("rank", rank), _whole("world_size", world_size)
        self._parser = None
        if feature_lists is not None:
            self._parser = parser_of({} if features is None else features, feature_lists)
        elif features is not None:
            self._parser = parser_of(features)
        self._is_sequence = feature_lists is not None
        self._loader = _recmap.Loader(
            dataset._handle,
            self._order,
            self._batch_size,
            self._rank,
            self._world_size,
            self._last,
            _whole("threads", threads),
            _whole("batches_ahead", batches_ahead),
            _one_of("on_error", on_error, _ON_ERROR),
            _one_of("readahead", readahead, _READAHEAD),
            self._parser,
        )
        self._identity = dataset._fingerprint(), dataset._record_count()
        if transform is not None and not callable(transform):
            raise TypeError(f"transform is a callable of a batch, not {transform!r}")
        self._transform = transform
        self._worker_count = transform_threads or min(8, len(os.sched_getaffinity(0)))
        self._pipeline: Pipeline | None = None

    @staticmethod
    def _order_of(dataset: Dataset, order: Order | None, shuffle: bool, seed: int) -> Order:
        if order is None:
            return Shuffled(len(dataset), seed) if shuffle else Sequential(len(dataset))
        if shuffle:
            raise ValueError("an order, or shuffle=True: not both")
        return order

    def _size_of(self, batch_size: int | None) -> int:
        if self._order.batch_count():
            return 1
        if batch_size is None:
            raise ValueError("batch_size is missing: only orders that make their own need none")
        if _whole("batch_size", batch_size) < 1:
            raise ValueError(f"batch_size is {batch_size}")
        return batch_size

    # ---- Iterating. A step is delivered by the iterator, which is C, when nothing can fail any
    # more; all that happens before may be interrupted and is then done again.

    def __iter__(self) -> Iterator[Any]:
        return self._iterate(None)

    def _iterate(self, finish: Callable[[Any, _recmap.Step], Any] | None) -> Iterator[Any]:
        """Steps as `finish` makes them of a batch: what an adapter for a framework does, so that a
        batch whose conversion fails or is interrupted is not lost."""
        if self._epochs is not None and self._epochs > 0 and not len(self.order):
            raise ValueError("epochs of no records have no end")
        if self._epochs is None:
            self._skip_end()
        return _recmap.Iterator(
            self._loader, self._first_source(), self._converter(finish), self._epoch_limit()
        )

    def _skip_end(self) -> None:
        """Delivers the end of an epoch whose last step the iterator before was left at."""
        while self._loader.is_end_next():
            step = self._first_source()()
            if step is not None and step.is_end:
                self._loader.deliver(step)

    def _is_at_end(self) -> bool:
        """Whether the last step of an epoch was delivered, but not the end of its ``for``."""
        return self._loader.is_end_next()

    def _first_source(self) -> Callable[[], _recmap.Step | None]:
        """What gives the first step that is not delivered; it keeps what it needs of the loader."""
        return self._loader.first_or_take if self._transform is None else self._first_transformed

    def _first_transformed(self) -> _recmap.Step | None:
        pipeline = self._pipeline
        if pipeline is None or pipeline.is_stopped:
            assert self._transform is not None
            transform, columns_of_step = self._transform, self._columns_of_step()

            def function(step: _recmap.Step) -> Any:
                return transform(columns_of_step(step))

            pipeline = Pipeline(self._loader, function, self._worker_count, self._epoch_limit())
            self._pipeline = pipeline
        return pipeline.first()

    def _columns_of_step(self) -> Callable[[_recmap.Step], Any]:
        """What makes the batch of a step, without a reference to the loader."""
        if self._parser is None:
            return _batch_of
        if not self._is_sequence:
            return _columns_of
        count = self._parser.context_count()
        return lambda step: sequence_columns_of(step.batch, count)

    def _converter(
        self, finish: Callable[[Any, _recmap.Step], Any] | None
    ) -> Callable[[_recmap.Step], Any] | None:
        """What the iterator makes of a step; None: its value or its batch, as they are."""
        batch_of = self._columns_of_step() if self._transform is None else _value_of
        if finish is not None:
            return lambda step: finish(batch_of(step), step)
        return None if batch_of in (_batch_of, _value_of) else batch_of

    def _epoch_limit(self) -> int | None:
        if self._epochs == math.inf:
            return 2**64 - 1
        return None if self._epochs is None else int(self._epochs)

    # ---- The position.

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to; the first is 0."""
        return self._loader.tell()[0]

    @property
    def position(self) -> int:
        """How much of the epoch all ranks together have consumed: 0 to ``len(order)``."""
        return self._loader.tell()[1]

    def __len__(self) -> int:
        """Steps of a whole epoch, the same on every rank."""
        return self._steps_from(self.epoch, 0)

    @property
    def steps_left(self) -> int:
        """Steps from here to the end of the epoch."""
        return self._steps_from(*self._loader.tell())

    def _steps_from(self, epoch: int, position: int) -> int:
        return self._order.share(
            epoch, position, self._world_size, self._batch_size, self._last, 0, self._rank
        )[0]

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands, as plain JSON values; the same on every rank after a step.

        A few hundred bytes, whatever the number of records.
        """
        return self._state_at(*self._loader.tell())

    def _state_at(self, epoch: int, position: int) -> dict[str, Any]:
        text = _recmap.state_make(
            *self._identity, len(self.order), epoch, position, self._order.describe()
        )
        state: dict[str, Any] = json.loads(text)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a state; ranks, world size and batch size may be others than it was of.

        Raises:
            StateMismatchError: it is the state of another data set or order; says what differs.
            CorruptIndexError, ValueError: it was changed, or is no state.
        """
        self._loader.load(json.dumps(state))

    def seek(self, epoch: int = 0, position: int = 0) -> None:
        """Goes on from a position of an epoch, at once: of 0 to ``len(order)`` positions.

        Raises:
            ValueError: there is no such position.
        """
        self._loader.seek(_whole("epoch", epoch), _whole("position", position))

    # ---- The rest.

    @property
    def statistics(self) -> dict[str, int]:
        """Counts since the loader was made.

        "batches", "records" and "bytes" that were delivered, "skipped" records, "caller_wait_ns" in
        which a `for` waited for a batch, "worker_wait_ns" in which threads waited for room, all
        together; "readahead", records that the kernel was asked for, and "readahead_records", how
        far ahead it is asked now; "threads", and "batches_ready" now.
        """
        return self._loader.statistics()

    @property
    def skipped(self) -> list[dict[str, int | None]]:
        """Records that were left out or replaced (the first 1,024), where ``on_error`` says so.

        A dict each: "epoch", "position", the record's "number", and that of its "substitute" or
        None.
        """
        names = "epoch", "position", "number", "substitute"
        return [dict(zip(names, row, strict=True)) for row in self._loader.skipped()]

    def close(self) -> None:
        """Ends the threads of `transform`; those of the library end with the loader."""
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.stop()
        self._loader.close()
        if pipeline is not None:
            pipeline.join()

    def __enter__(self) -> Loader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._arguments, self.state_dict())

    def __repr__(self) -> str:
        epoch, position = self._loader.tell()
        return (
            f"<recmap.Loader of {len(self.order)} positions, epoch {epoch}, "
            f"position {position}, rank {self._rank} of {self._world_size}>"
        )


def _batch_of(step: _recmap.Step) -> Any:
    return step.batch


def _value_of(step: _recmap.Step) -> Any:
    return step.value


def _columns_of(step: _recmap.Step) -> Any:
    return columns_of(step.batch)


def _rebuild(arguments: dict[str, Any], state: dict[str, Any]) -> Loader:
    loader = Loader(**arguments)
    loader.load_state_dict(state)
    return loader


def _over(dataset: Dataset, order: Order) -> _recmap.Order:
    """The order over the numbers that the items of a view have in the whole data set."""
    check_fits(order, len(dataset))
    made = order._order
    if dataset._is_whole():
        return made
    first, count, step, numbers = dataset._range
    if numbers is not None:
        return made.view_list(numbers)
    return made.view_range(first, count, step)
