"""The loader: batches of one rank, in order, read ahead by threads of the library."""

from __future__ import annotations

import json
import math
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, TypeAlias

from . import _recmap
from ._columns import columns_of, sequence_columns_of
from ._dataset import Dataset
from ._features import Features, parser_of
from ._orders import Order, Sequential, Shuffled, check_fits

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


@dataclass
class _Step:
    """What was taken from the library and not yet delivered: a batch, an error, or an end."""

    epoch: int  # where the loader stands once it is delivered
    position: int
    batch: Any = None
    is_end: bool = False  # of an epoch
    error: BaseException | None = None
    work: Future[Any] | None = None


class _Iterator(Iterator[Any]):
    """One walk of a `for`; its end, or making another one, ends it."""

    def __init__(self, loader: Loader, walk: int) -> None:
        self._loader, self._walk = loader, walk

    def __next__(self) -> Any:
        return self._loader._next(self._walk)


class Loader:
    """Batches of a data set, epoch by epoch, that can be stopped and resumed at any step.

    ``for batch in loader`` goes on from where the loader stands: with ``epochs=None`` to the end of
    the epoch (the next ``for`` walks the next one), with ``epochs=3`` until epoch 3 of the run,
    resumed or not, with ``math.inf`` for ever. A batch is a `RecordBatch`, with `features` a
    `ColumnBatch`, or what `transform` makes of it.

    State is what was delivered, never what was read ahead: `state_dict` after step s goes on with
    step s + 1, on any number of ranks and with any batch size.

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
        self._epoch, self._position = 0, 0
        self._is_end_next = False  # the epoch's last step was delivered, its end was not yet
        self._walk = 0  # the number of the iterator that may go on: it keeps the loader, not the
        # loader it, so that both go at once
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._ahead: deque[_Step] = deque()
        if transform is not None and not callable(transform):
            raise TypeError(f"transform is a callable of a batch, not {transform!r}")
        self._work = transform
        self._workers = transform_threads or min(8, len(os.sched_getaffinity(0)))
        self._pool: ThreadPoolExecutor | None = None

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

    # ---- Walking.

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            if self._epochs is not None and self._epochs > 0 and not len(self.order):
                raise ValueError("epochs of no records have no end")
            if self._epochs is None and self._is_end_next:
                self._deliver()  # the walk before was left at its last step
            self._walk += 1
            return _Iterator(self, self._walk)

    def _next(self, walk: int) -> Any:
        with self._lock:
            if walk != self._walk:
                raise StopIteration
            while self._epochs is None or self._epoch < self._epochs:
                step = self._deliver()
                if not step.is_end:
                    return step.batch
                if self._epochs is None:
                    break
            self._walk += 1
            raise StopIteration

    def _deliver(self) -> _Step:
        """The next step; the loader then stands behind it. After an error it stands before it."""
        if self._work is None:
            step = self._take()
        else:
            self._fill()
            step = self._ahead[0]
            if step.work is not None:
                step = self._worked(step, step.work)
            self._ahead.popleft()
        if step.error is not None:
            raise step.error
        self._epoch, self._position = step.epoch, step.position
        self._is_end_next = not step.is_end and step.position == 0
        return step

    @staticmethod
    def _worked(step: _Step, work: Future[Any]) -> _Step:
        while not work.done():
            wait([work], 0.2)  # a signal that comes right before a wait does not end it
        try:
            return _Step(step.epoch, step.position, work.result())
        except Exception:
            step.work = None  # the next call tries again
            raise

    def _take(self) -> _Step:
        batch, epoch, position = self._loader.next()
        if batch is None:
            return _Step(epoch, position, is_end=True)
        return _Step(epoch, position, self._columns_of(batch))

    def _columns_of(self, batch: Any) -> Any:
        if self._parser is None:
            return batch
        if self._is_sequence:
            return sequence_columns_of(batch, self._parser.context_count())
        return columns_of(batch)

    def _fill(self) -> None:
        """Takes steps until two for each thread are being worked on, never past an error."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers, "recmap-transform")
            self._owner = os.getpid()
        elif self._owner != os.getpid():
            self._take()  # raises: a fork has none of the threads
        if self._ahead and self._ahead[0].work is None:
            self._begin(self._ahead[0])  # what failed is tried again
        while len(self._ahead) < 2 * self._workers and not self._is_over():
            try:
                step = self._take()
            except Exception as error:
                step = _Step(self._epoch, self._position, error=error)
            self._ahead.append(step)
            self._begin(step)

    def _begin(self, step: _Step) -> None:
        assert self._pool is not None and self._work is not None
        if step.batch is not None:
            step.work = self._pool.submit(self._work, step.batch)

    def _is_over(self) -> bool:
        """Whether nothing behind the last step that was taken is wanted."""
        if not self._ahead:
            return False
        newest = self._ahead[-1]
        if newest.error is not None:
            return True
        return newest.is_end and (self._epochs is None or newest.epoch >= self._epochs)

    # ---- Where it stands.

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to; the first is 0."""
        return self._epoch

    @property
    def position(self) -> int:
        """How much of the epoch all ranks together have consumed: 0 to ``len(order)``."""
        return self._position

    def __len__(self) -> int:
        """Steps of a whole epoch, the same on every rank."""
        return self._steps_from(0)

    @property
    def steps_left(self) -> int:
        """Steps from here to the end of the epoch."""
        return self._steps_from(self._position)

    def _steps_from(self, position: int) -> int:
        return self._order.share(
            self._epoch, position, self._world_size, self._batch_size, self._last, 0, self._rank
        )[0]

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands, as plain JSON values; the same on every rank after a step.

        A few hundred bytes, whatever the number of records.
        """
        with self._lock:
            text = _recmap.state_make(
                *self._identity,
                len(self.order),
                self._epoch,
                self._position,
                self._order.describe(),
            )
        state: dict[str, Any] = json.loads(text)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a state; ranks, world size and batch size may be others than it was of.

        Raises:
            StateMismatchError: it is the state of another data set or order; says what differs.
            CorruptIndexError, ValueError: it was changed, or is no state.
        """
        text = json.dumps(state)
        with self._lock:
            self._loader.load(text)
            self._stand()

    def seek(self, epoch: int = 0, position: int = 0) -> None:
        """Goes on from a position of an epoch, at once: of 0 to ``len(order)`` positions.

        Raises:
            ValueError: there is no such position.
        """
        with self._lock:
            self._loader.seek(_whole("epoch", epoch), _whole("position", position))
            self._stand()

    def _stand(self) -> None:
        for step in self._ahead:
            if step.work is not None:
                step.work.cancel()
        self._ahead.clear()
        self._is_end_next = False
        self._epoch, self._position = self._loader.tell()

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
        with self._lock:
            self._walk += 1
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)
                self._pool = None
            self._loader.seek(self._epoch, self._position)
            self._ahead.clear()
            self._is_end_next = False

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
        return (
            f"<recmap.Loader of {len(self.order)} positions, epoch {self._epoch}, "
            f"position {self._position}, rank {self._rank} of {self._world_size}>"
        )


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
