"""The steps of a loader: taken from the library, transformed, and converted to batches.

A step is delivered by the iterator, which is C, when nothing can fail any more; all that happens
before may be interrupted and is then done again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import _recmap
from .._base.errors import Error, FeatureError
from .._base.imports import import_framework
from .._columns import (
    RowForm,
    columns_of,
    rows_of_batch,
    sequence_columns_of,
    sequence_rows_of_batch,
)
from .._dataset.missing import advise_names
from .launcher import Share
from .ordered_records import OrderedRecords
from .resumable import Resumable
from .running_pipeline import RunningPipeline
from .skipped import SkippedRecords
from .stages import TransformTimes
from .transforms import StepJoin, check_of_step, thread_count, value_of_step
from .why import StallWatch

if TYPE_CHECKING:  # imported on first use: see `_pipelines`
    from .pipeline import Pipeline

__all__ = ["StepSource"]

Batch = TypeVar("Batch")
Value = TypeVar("Value")

_POLL = 0.2  # seconds: signals are looked at this often


class StepSource(Resumable, Generic[Batch]):
    """The part of a loader that takes steps and makes batches of them."""

    _arguments: dict[str, Any]
    _draw_order: _recmap.Order | None = None  # of another data set's loader, in a join
    _form: RowForm
    _is_sequence: bool
    _join: StepJoin | None = None  # that this loader leads
    _parser: _recmap.Parser | None
    _seed: int
    _share: Share
    _skipped: SkippedRecords
    _stall: StallWatch | None

    def _set_transform(
        self, transform: Callable[[Any], Any] | None, transform_threads: int | None
    ) -> None:
        if transform is not None and not callable(transform):
            raise TypeError(f"transform must be a callable, not {transform!r}")
        if transform is not None:
            # Here, because a signal may interrupt an iteration, but must not interrupt an import.
            self._pipelines = import_framework("_loader.pipeline")
        self._transform = transform
        self._worker_count = thread_count(transform_threads)
        self._running = RunningPipeline()
        self._times = TransformTimes()

    def _iterate(self, finish: Callable[[Any, _recmap.Step], Any] | None) -> Iterator[Any]:
        """Yields what `finish` makes of each batch. Adapters for frameworks convert batches here,
        so that a batch is not lost if its conversion fails or is interrupted."""
        self._refuse_own_transform()
        self._share.check()
        if self._epochs is not None and self._epochs > 0 and not len(self.order):
            raise ValueError("the order is empty, so the iteration would never end")
        if self._epochs == math.inf and not self._step_count():
            raise ValueError("an epoch has no steps, so the iteration would never end")
        former = self._restart(ends_iterator=True)
        if self._epochs is None:
            self._skip_end()
        source, convert = self._first_source(), self._converter(finish)
        iterator = _recmap.Iterator(self._loader, source, convert, self._epoch_limit(), former)
        if self._stall is not None:
            self._stall.begin()
        return iterator

    def _restart(self, *, ends_iterator: bool) -> int | None:
        """Moves to the start if the next ``for`` begins there.

        Returns the number of the iteration before the one that begins there.
        """
        if not self._restarts:
            return None
        has_moved, iteration = self._loader.restart(ends_iterator)
        if has_moved:
            self._note_move()
        return iteration

    def _while_asked(self, function: Callable[[], Value]) -> Value:
        """Returns what the function returns, which waits for a batch as a ``for`` does."""
        if self._stall is not None:
            self._stall.begin()
        return self._loader.while_asked(function)

    def _peek(self) -> Batch | None:
        limit = self._epoch_limit()
        while limit is None or self._loader.tell()[0] < limit:
            step = self._peek_step()
            if step is None:
                continue
            if not step.is_end:
                convert = self._converter(None)
                if convert is None:
                    convert = _batch_of if self._transform is None else _value_of
                batch: Batch = convert(step)
                return batch
            if limit is None or not self._step_count():
                break
            self._loader.deliver(step)
        return None

    def _is_ready_within(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if self._is_ready(max(0.0, min(left, _POLL))):
                return True
            if left <= 0:
                return False

    def _is_ready(self, seconds: float) -> bool:
        limit = self._epoch_limit()
        count, _, is_idle, _ = self._loader.ahead()
        if limit is not None and self._loader.tell()[0] >= limit:
            return True
        if self._transform is None:
            return self._loader.wait(int(seconds * 1e9))
        if not count and is_idle:
            # Without a `for`, the threads of the transform take no steps: take one for them.
            if not self._loader.wait(int(seconds * 1e9)):
                return False
            try:
                step = self._loader.first_or_take()
            except Error:
                return True  # the `for` tries again, and raises it
            if step is not None:
                self._pipelines.submit_later(step)
        return self._running.get_or_create(self._create_pipeline).is_ready(seconds)

    def _peek_step(self) -> _recmap.Step | None:
        """Returns the first step that is not delivered; None if the caller has to ask again."""
        count, _, is_idle, _ = self._loader.ahead()
        if self._transform is not None and not count and is_idle:
            # Without a `for`, the threads of the transform take no steps: take one for them.
            step = self._loader.first_or_take()
            if step is not None:
                self._pipelines.submit_later(step)
        return self._first_source()()

    def _skip_end(self) -> None:
        """Delivers the end of an epoch if the previous iterator was left after its last step."""
        while self._loader.is_end_next():
            step = self._first_source()()
            if step is not None and step.is_end:
                self._loader.deliver(step)

    def _first_source(self) -> Callable[[], _recmap.Step | None]:
        """Returns a function that returns the first step which is not delivered.

        The function holds the loader if there is a transform, because it starts the transform's
        threads.
        """
        take = self._loader.first_or_take if self._transform is None else self._first_transformed
        if self._join is not None:
            take = self._join.skipped_records.noting(take, None)
        elif self._arguments["on_bad_record"] != "error":
            take = self._skipped.noting(take, self._fault())
        if self._parser is None:
            return take
        dataset, given = self.dataset, self._arguments
        features, feature_lists = given["features"] or {}, given["feature_lists"]

        def take_or_advise() -> _recmap.Step | None:
            try:
                return take()
            except FeatureError as error:
                advise_names(error, dataset, features, feature_lists)
                raise

        return take_or_advise

    def _first_transformed(self) -> _recmap.Step | None:
        return self._running.get_or_create(self._create_pipeline).first()

    def _create_pipeline(self) -> Pipeline:
        assert self._transform is not None
        transform, columns_of_step = self._transform, self._columns_of_step()
        check = None if self._parser is None else self._first_batch.check
        if self._join is not None:
            columns_of_step = self._join.columns_of_step
        given = self._arguments["transform"]  # not what an adapter made of it
        made: Pipeline = self._pipelines.Pipeline(
            self._loader,
            check_of_step(check, self._join),
            value_of_step(transform, columns_of_step, given),
            self._worker_count,
            self._epoch_limit(),
            self._times,
        )
        return made

    def _columns_of_step(self) -> Callable[[_recmap.Step], Any]:
        """Returns a function that makes the batch of a step. It has no reference to the loader."""
        if self._parser is None:
            return _batch_of
        form = self._form
        count = self._parser.context_count() if self._is_sequence else None
        has_rows = bool(self._order.row_width())

        def columns_of_step(step: _recmap.Step) -> Any:
            if count is None:
                return rows_of_batch(step.batch, form) if has_rows else columns_of(step.batch)
            if has_rows:
                return sequence_rows_of_batch(step.batch, form, count)
            return sequence_columns_of(step.batch, count)

        return columns_of_step

    def _checked_columns(self) -> Callable[[_recmap.Step], Any]:
        """Returns a function as `_columns_of_step` does, which also checks the first batch."""
        columns_of_step, check = self._columns_of_step(), self._first_batch.check
        if self._parser is None:
            return columns_of_step

        def checked_columns(step: _recmap.Step) -> Any:
            check(step.batch)
            return columns_of_step(step)

        return checked_columns

    def _converter(
        self, finish: Callable[[Any, _recmap.Step], Any] | None
    ) -> Callable[[_recmap.Step], Any] | None:
        """Returns a function that converts a step for the iterator.

        Returns None if the iterator yields the step's value or batch as it is.
        """
        batch_of = self._checked_columns() if self._transform is None else _value_of
        if finish is not None:
            return lambda step: finish(batch_of(step), step)
        return None if batch_of in (_batch_of, _value_of) else batch_of

    def _fault(self) -> Callable[[], str]:
        """Returns a function that says what is wrong with the first bad record.

        It has no reference to the loader.
        """
        source, records, old = self._loader, self._records(), self._old_records()
        last_old = -1 if self._old is None else self._old.last_epoch

        def fault() -> str:
            epoch, position, *_ = source.skipped()[0]
            used = records if old is None or epoch > last_old else old
            return used.fault_at(epoch, position)

        return fault

    def _records(self) -> OrderedRecords:
        """What the loader reads, without a reference to it."""
        rest = self._parser, self._seed, self._draw_order
        return OrderedRecords(self.dataset, self.order, self._order, *rest)

    def _old_records(self) -> OrderedRecords | None:
        """The same in the epochs over the records that the data set had before it grew."""
        old = self._old
        if old is None:
            return None
        return OrderedRecords(old.dataset, old.order, old.inner, self._parser, self._seed)

    def _stop_transform(self) -> None:
        """Ends the transform's threads, and waits for those that run. The next step starts others.

        The loader must be moved before that step, because steps that were read ahead stay without
        a result.
        """
        pipeline = self._running.get()
        if pipeline is not None:
            pipeline.stop()
            pipeline.join()

    def _refuse_own_transform(self) -> None:
        """Raises in the loader's own transform, which would wait for its own result."""
        pipeline = self._running.get()
        if pipeline is not None and pipeline.is_in_worker():
            raise RuntimeError(
                "a loader cannot be iterated or moved by its own transform: do that in the loop"
            )


def _batch_of(step: _recmap.Step) -> Any:
    return step.batch


def _value_of(step: _recmap.Step) -> Any:
    return step.value
