"""The loader: batches of one rank, in order, which the library's threads read ahead."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    Self,
    TypeVar,
    Unpack,
    overload,
)

from .. import _recmap
from .._base.context import Closing
from .._base.flags import true_or_false
from .._base.names import SuggestsMethods, suggest_arguments
from .._base.numbers import Int64s, natural, seed_of
from .._base.plural import counted
from .._columns import ColumnBatch, Positions, RowForm
from .._columns.record_batch import RecordBatch
from .._dataset.dataset import Dataset, check_dataset
from .._dataset.missing import FirstBatchCheck, Missing
from .._display.text import class_name
from .._example.features import Features, parser_of_batches
from .._example.images import draw_seed_of, state_seed_of
from .._order.orders import Order
from .grown import Grown, check_grown, check_state, old_records
from .inflating import warn_of_inflating
from .launcher import share_of, warn_in_worker
from .moves import Moves
from .options import (
    EPOCH_END,
    LAST,
    ON_BAD_RECORD,
    READAHEAD,
    WARM,
    EpochEnd,
    Epochs,
    Last,
    LoaderOptions,
    OnBadRecord,
    Readahead,
    Warm,
    epochs_of,
    one_of,
)
from .resumable import CHANGED, CONTINUED, SAME
from .running_pipeline import RunningPipeline
from .skipped import SkippedRecords
from .stages import Statistics, statistics_of
from .step_source import StepSource
from .view_order import order_over
from .why import StallWatch, Why, cause_times, say_on, why_of

__all__ = ["Loader"]

Batch = TypeVar("Batch")


class Loader(SuggestsMethods, Closing, StepSource[Batch]):
    """Batches of a data set, epoch by epoch, that can be stopped and resumed at any step.

    ``for batch in loader`` continues at the current position. With ``epochs=None`` it ends with the
    epoch, and the next ``for`` continues with the next epoch. With ``epochs=3`` it ends before
    epoch 3 of the run, also when resumed; with ``"forever"`` it never ends. A batch is a
    `RecordBatch`, a `ColumnBatch` with `features`, or the result of `transform`.

    A second ``next(iter(loader))`` therefore gives the second batch, not the first one again, as it
    would for a list; `peek` looks at the next batch without consuming it. With ``restart=True``,
    each ``for`` begins at the start.

    The state covers what was delivered, not what was read ahead: `state_dict` after step s resumes
    with step s + 1, with any number of ranks and any batch size. `epoch_end` sets the state after
    the last step of an epoch.

    Safe to use from many threads: each step is delivered once. A loader has one iterator at a time:
    a new one ends the previous one. A loader cannot be used in a child process after a fork. It is
    pickled as its arguments and its state.

    Args:
        dataset: a data set or a view.
        batch_size: the number of records per step and rank; None for orders that make their own
            batches.
        shuffle: use ``Shuffled(len(dataset), seed)``; otherwise from first to last.
        seed: the seed of the shuffle, of random images (`Image`), and of `RecordBatch.seeds`. The
            state has it. Warns if it is given without a shuffle and without random images, because
            only `RecordBatch.seeds` uses it then.
        order: an order of ``len(dataset)`` records, instead of shuffle and seed. To load a part of
            the records, use a view, or an order's `select`. With `Chunked`, `Packed` or `Windows`,
            batches consist of rows: `features` needs a `Sliced` one, and a batch is a `RowBatch`.
        features: {name: FixedLen(...), ...}, or features of tf.io: batches are then `ColumnBatch`,
            parsed in the library's threads.
        feature_lists: the records are tf.SequenceExample: `features` describe the context, and a
            batch is a pair of `ColumnBatch`, as from `Dataset.parse_sequence`.
        row_positions: what ``batch["positions"]`` has for rows: the place of each element in its
            "piece", or in its "document".
        rank, world_size: the share of each step that belongs to this process; 0 of 1 if not given.
            ``rank="auto"`` gets both from ``torch.distributed`` if it is initialized, else from JAX
            if it is distributed, else from the variables that torchrun (RANK, WORLD_SIZE),
            Horovod, Open MPI, MVAPICH, MPICH (PMI_RANK, PMI_SIZE), jsrun or Slurm set, and is 0
            of 1 without them. It is an error if a launcher gives only the rank, like those that
            set PALS_RANKID or PMIX_RANK, and if a framework knows others when the iteration starts.
            Warns if neither argument is given to one of several processes, because every process
            then reads all records.
        epochs: see above.
        epoch_end: the state after an epoch's last batch, while its ``for`` has not ended: "next" is
            the start of the next epoch; "end" is the end of this one, which gives an empty ``for``
            when it is loaded, and then the next epoch, as a loop needs that counts epochs by its
            rounds. After the ``for``, and with `epochs`, it is always the start of the next epoch.
        restart: each ``for`` begins at the start of epoch 0, also after one that was left early, as
            an evaluation needs that always looks at the same batches. Only a ``for`` after
            `load_state_dict` or `seek` begins at the place to which the loader was moved. A state
            after the last batch of a ``for`` (at the start of epoch `epochs`, 1 without it, or of a
            later one) is loaded as the start, because nothing of that ``for`` is left. Of two
            threads that begin a ``for``, the later one ends the other's.
        last: what to do with records that do not fill a step: "keep" divides them evenly over the
            ranks, "drop" leaves them out, "pad" adds records from the start of the epoch. All ranks
            have the same number of steps.
        threads: the number of threads that read, check and parse; 0: one per core.
        batches_ahead: the maximum number of batches to read ahead; 0: a default. In any case,
            no more batches of images (`Image`) are decoded ahead than have 64 MiB of pixels, but
            always two: the records of the others are only read. With `epochs`, nothing is read
            after the last batch.
        on_bad_record: for records that fail their check: "error" raises, "skip" leaves the record
            out, and "substitute" takes the next good one of the epoch. `skipped` lists them. Warns
            of the first one, and if no record of a step is good.
        missing: what to do about a feature that no record of the first batch has, as in
            `Dataset.parse`: "error", "warn" or "ignore". Instead of an error, ranks above 0 warn,
            and so does a loader that was moved, with `load_state_dict` for example.
        readahead: "auto", "on" or "off": whether to ask the kernel to read records ahead.
        transform: a callable that converts one batch. It runs ahead in threads, and its results are
            delivered in order. Views of a RecordBatch stay valid as long as they exist. Warns if it
            returns None.
        transform_threads: the number of these threads; None: one per core, at most 8.
        warm: "on": threads of low priority read what the rest of the epoch needs in the order of
            the shards, ahead of the batches, into the page cache or, for remote and compressed
            shards, into ``Storage(cache=)``, as ``recmap warm`` does. For a shuffle of small
            records from a cold disk. They end when memory or the cache is full, and with the
            loader; an error ends only them. "auto": they begin only after the loader has waited for
            the disk for a second with random reads, if the shards are not compressed and on a disk
            of this machine, if the rest of the epoch fits into memory, and in one process of the
            machine at a time. "off": never.
        stall: after so many seconds without a batch, a line on standard error says why, as `why`
            does, and again each minute; None: never.

    Raises (during iteration; the next call then tries the step again):
        CorruptRecordError: a record is damaged, or `features` are given and it is not a tf.Example.
        FeatureError: a record's features do not match, or are missing.
        Exception: an exception of `transform`.

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

    _meant: ClassVar[Mapping[str, str]] = {
        "set_epoch": "epochs follow each other by themselves; to go to one, call seek(epoch)"
    }
    _memory: _recmap.BlockPool | None = None  # of the columns, set by recmap.torch

    if TYPE_CHECKING:  # the type of the batches

        @overload
        def __init__(
            self: Loader[RecordBatch],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: None = None,
            feature_lists: None = None,
            transform: None = None,
            **options: Unpack[LoaderOptions],
        ) -> None: ...
        @overload
        def __init__(
            self: Loader[ColumnBatch],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: Features,
            feature_lists: None = None,
            transform: None = None,
            **options: Unpack[LoaderOptions],
        ) -> None: ...
        @overload
        def __init__(
            self: Loader[tuple[ColumnBatch, ColumnBatch]],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: Features | None = None,
            feature_lists: Features,
            transform: None = None,
            **options: Unpack[LoaderOptions],
        ) -> None: ...
        @overload
        def __init__(
            self: Loader[Batch],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: Features | None = None,
            feature_lists: Features | None = None,
            transform: Callable[[Any], Batch] | None,
            **options: Unpack[LoaderOptions],
        ) -> None: ...

    @suggest_arguments
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
        row_positions: Positions = "piece",
        rank: int | Literal["auto"] | None = None,
        world_size: int | None = None,
        epochs: Epochs = None,
        epoch_end: EpochEnd = "next",
        restart: bool = False,
        last: Last = "keep",
        threads: int = 0,
        batches_ahead: int = 0,
        on_bad_record: OnBadRecord = "error",
        missing: Missing = "error",
        readahead: Readahead = "auto",
        transform: Callable[[Any], Any] | None = None,
        transform_threads: int | None = None,
        stall: float | None = None,
        warm: Warm = "off",
    ) -> None:
        self._share = share_of(rank, world_size)
        self._rank, self._world_size = rank, world_size = self._share[:2]
        epochs = epochs_of(epochs)
        self._arguments = {key: value for key, value in locals().items() if key != "self"}
        check_dataset(dataset, "JoinedLoader")
        self.dataset = dataset
        self._draw_seed = draw_seed_of(seed, features, feature_lists)
        self._seed = seed_of(seed)  # of `RecordBatch.seeds`
        self._state_seed = state_seed_of(self._draw_seed, seed, shuffle)
        self._set_order(order, shuffle, seed, batch_size)
        self._epochs = epochs
        self._last = one_of("last", last, LAST)
        self._saves_end = bool(one_of("epoch_end", epoch_end, EPOCH_END)) and epochs is None
        self._stall = StallWatch.of(self, stall)
        self._restarts = true_or_false("restart", restart)
        self._warm = one_of("warm", warm, WARM)
        self._parser = parser_of_batches(features, feature_lists, dataset._header())
        self._is_sequence = feature_lists is not None
        self._form = RowForm.of(self._order, row_positions)
        self._first_batch = FirstBatchCheck(dataset, features, feature_lists, missing)
        if self._rank:  # ranks must agree, so the first one decides
            self._first_batch.warn_only()
        self._skipped = SkippedRecords(on_bad_record)
        self._moves = Moves()
        self._old = None
        self._reading = (
            natural("threads", threads),
            natural("batches_ahead", batches_ahead),
            one_of("on_bad_record", on_bad_record, ON_BAD_RECORD),
            one_of("readahead", readahead, READAHEAD),
            self._parser,
        )
        self._loader = self._create(self._order, self._batch_size)
        warn_of_inflating(dataset, self.order, self._batch_size, self._world_size)
        self._warn_of_no_steps(last)
        self._identity = dataset._fingerprint(), dataset._record_count()
        self._set_transform(transform, transform_threads)

    def _create(self, order: _recmap.Order, batch_size: int) -> _recmap.Loader:
        share = self._rank, self._world_size, self._last
        limits = self._epoch_limit() or 0, self._seed, self._warm
        rest: tuple[Any, ...] = (*share, *self._reading, *limits, self._memory, self._draw_order)
        return _recmap.Loader(self.dataset._handle, order, batch_size, *rest)

    @classmethod
    def _drawing_as(cls, lead: Loader[Any] | None, *arguments: Any, **options: Any) -> Self:
        """A loader whose random images and seeds depend on the record that `lead` has at a
        position."""
        loader = cls.__new__(cls)
        if lead is not None and not lead.order.row_width:
            loader._draw_order = lead._order
        loader.__init__(*arguments, **options)  # type: ignore[misc]
        return loader

    # ---- Iterating.

    def __iter__(self) -> Iterator[Batch]:
        warn_in_worker(self._world_size)
        return self._iterate(None)

    def peek(self) -> Batch | None:
        """Returns the next batch without consuming it.

        The position, the state and the next ``for`` are unchanged. The ``for`` will give the same
        batch, with the same memory. Copy a column before you change it: ``numpy.array(column)``, or
        ``tensor.clone()``. Returns None if no batch follows: after the last batch of an epoch,
        until its ``for`` has ended, and after the last of `epochs`.

        With ``restart=True``, it is the next batch of the latest ``for``, and once that has ended,
        the first one of the next.

        >>> loader = recmap.Loader(digits(), 256)
        >>> loader.peek().numbers[:2].tolist(), loader.position
        ([0, 1], 0)
        """
        self._refuse_own_transform()
        self._restart(ends_iterator=False)
        return self._while_asked(self._peek)

    def ready(self, timeout: float = 0.0) -> bool:
        """Returns true if the next batch is in memory, so that the ``for`` would not wait for it.

        Waits for it for at most about `timeout` seconds, and starts reading if nothing was read
        yet. A barrier between hosts can ask all of them before a collective operation begins. It is
        true as well if the ``for`` would end or raise at once. Several threads may ask.

        Raises:
            ValueError: `timeout` is negative.

        >>> loader = recmap.Loader(digits(), 256)
        >>> loader.ready(timeout=60), loader.position
        (True, 0)
        """
        self._refuse_own_transform()
        if not timeout >= 0:
            raise ValueError(f"timeout must be a number of seconds from 0 on, not {timeout}")
        self._restart(ends_iterator=False)
        if not timeout:
            return self._is_ready(0.0)
        return self._while_asked(lambda: self._is_ready_within(timeout))

    # ---- The position.

    @property
    def epoch(self) -> int:
        """The epoch of the next step; the first one is 0."""
        return self._loader.tell()[0]

    @property
    def position(self) -> int:
        """The number of positions of the epoch that all ranks together have used."""
        return self._loader.tell()[1]

    def __len__(self) -> int:
        """The number of steps in a whole epoch; the same on every rank."""
        return self._step_count()

    @property
    def steps_left(self) -> int:
        """The number of steps left in the epoch."""
        return self._steps_from(*self._loader.tell())

    def numbers_at(self, step: int) -> Int64s | tuple[Int64s, Int64s]:
        """The record numbers that this rank reads in a step of the present run: int64 array.

        Steps are counted from 0 over all epochs, as ``batch.step`` counts them. The run begins at
        the start of epoch 0, or where `load_state_dict` or `seek` has moved the loader: a state
        holds no step. Numbers are those of the whole data set, as in ``batch.numbers``. Nothing is
        read, so bad records are among them, whatever `on_bad_record` does about them.

        Returns:
            For orders that give rows, (pieces, splits), as `Order.pieces` returns them.

        Raises:
            ValueError: an epoch has no steps.

        >>> loader = recmap.Loader(digits(), 256, shuffle=True, seed=7)
        >>> batch = list(loader)[3]
        >>> batch.step, loader.numbers_at(3).tolist() == batch.numbers.tolist()
        (3, True)
        """
        share = self._share_of(step)
        return share.numbers(self._inner_of(share.epoch))

    def __getitem__(self, index: object) -> NoReturn:
        # DataLoader(loader) comes here, because a loader has a length.
        raise TypeError(
            "a Loader is iterated, not indexed: `for batch in loader`. For PyTorch, write "
            "`for batch in recmap.torch.IterableDataset(loader)`, or "
            "DataLoader(recmap.torch.IterableDataset(loader), batch_size=None). For "
            "transformers.Trainer, return the loader from get_train_dataloader"
        )

    def state_dict(self) -> dict[str, Any]:
        """The current state as plain JSON values; the same on every rank after a step.

        It has a few hundred bytes, whatever the number of records.
        """
        epoch, position = self._loader.tell()
        if self._saves_end and self._is_at_end():
            return self._state_at(epoch - 1, len(self._order_of_epoch(epoch - 1)))
        return self._state_at(epoch, position)

    @suggest_arguments
    def load_state_dict(
        self,
        state: dict[str, Any],
        order: Order | None = None,
        *,
        changed: bool = False,
        grown: Grown | None = None,
    ) -> None:
        """Resumes from a state. Rank, world size and batch size may differ from those when saved.

        Args:
            order: continue with this order. It is accepted if it is the order of the state, or a
                mixture that continues it: see `Mixture.continued`.
            changed: accept any order and data set, and take nothing but the epoch and the position
                from the state. Records may then occur twice or never.
            grown: "finish" also accepts the state of a data set that has grown since. The loader
                finishes the epoch over the records of the state, and continues with all of them.
                Until then its states are of the old records. The old order has the parameters of
                the loader's, and as many records as the state; where these do not say what it was,
                as for a mixture or rows, pass it as `order`. Not with `changed`.

        Raises:
            StateMismatchError: the state belongs to another data set or order.
            CorruptStateError: the state was changed, or is not a state.
            ValueError: the order has no such position, or `changed` and `grown` are both given.
        """
        check_state(state)
        self._refuse_own_transform()
        self._moves.check()
        check_grown(grown, changed)
        rule = CHANGED if changed else SAME if order is None else CONTINUED
        text = json.dumps(state, default=operator.index)  # integers of NumPy
        old = old_records(self.dataset, self.order, json.loads(text), order) if grown else None
        if old is not None:
            self._load_old(state, old)
            return
        if order is None or order == self.order:
            self._loader.load(text, rule, None)
            self._old = None
            self._note_load()
            return
        inner = order_over(self.dataset, order)
        size = self._size_of(self._arguments["batch_size"], inner)
        loader = self._create(inner, size)
        loader.load(text, rule, None)
        self.close()
        self._old = None
        self.order, self._order, self._batch_size, self._loader = order, inner, size, loader
        self._running = RunningPipeline()
        self._form = RowForm.of(inner, self._arguments["row_positions"])
        seed = self._draw_seed or 0  # without images, the warning of a seed without effect
        self._arguments = {**self._arguments, "order": order, "shuffle": False, "seed": seed}
        self._note_load()

    def seek(self, epoch: int = 0, position: int = 0) -> None:
        """Moves to a position of an epoch, 0 to ``len(order)``, in constant time.

        Raises:
            ValueError: the position does not exist.
        """
        self._refuse_own_transform()
        self._moves.check()
        self._loader.seek(natural("epoch", epoch), natural("position", position))
        self._note_move()

    # ---- Information and lifecycle.

    @property
    def statistics(self) -> Statistics:
        """Counts since the loader was created, and which stage limits.

        "batches", "records" and "bytes": delivered so far. "skipped": records skipped or replaced.
        "caller_wait_ns": time that `for` waited for batches. "worker_wait_ns": time that threads
        waited for room, in total. "readahead": records that the kernel was asked to read ahead.
        "readahead_records": the current distance of that. "threads": their number.
        "batches_ready": batches that are ready now.

        With ``warm="on"``, "warmed": "off" before it is needed, "running", "complete" (the
        epoch needs nothing more), "memory" or "cache" (which has no room for more), "failed"
        (something could not be read, or remote shards have no cache), or "stopped" with the loader.
        With ``warm="auto"``, also "unsuitable" (shards are compressed, or not on a disk of this
        machine), "other" (another process of this machine warms the same shards) and "sequential"
        (records are read in their order, so warming would not help, and none was done).
        "warmed_bytes": bytes that were read or inflated for this. "warm_bytes": bytes that were
        there already, each time they were needed.

        "fill_ns": time in which threads read, checked and parsed records, in total. "parse_ns": the
        part of it that parsing into features took; 0 for rows, which are decoded while they are
        read. "decode_ns": the part of that which decoding pictures took. "decoded_count" and
        "decode_failed_count": pictures that were decoded, and that could not be, in batches read
        ahead too. "decode_warning_count": of the decoded ones, those in which libjpeg or libpng
        found faults that leave no pixels out.

        Of the data set, with all its loaders: "cache_hits" and "cache_misses", the reads of remote
        and compressed shards that the cache answered, and that it did not; "span_hits" and
        "spans_inflated", how often a span of a compressed shard was in memory, and was inflated.

        Of the data set's storage, if shards are remote: "requests" that were sent; "retries" and
        "hedges", those of them that repeated a failed request, or were sent because a first one was
        slow; "requested_bytes" of objects, and "used_bytes", the part of them that was needed, not
        between records that share a request; "latency_p50_ns" and "latency_p99_ns", the median and
        the 99th percentile of the time to the first byte of a reply, of the last few thousand
        requests (0 with ``Storage(fs=)``); "gap", the present `recmap.Storage.gap`.

        With a transform, "caller_wait_ns" is the time that the transform waited for batches.
        "transform_ns" is the time in the transform, and "transform_idle_ns" the time that its
        threads waited, both in total; "transform_wait_ns" that `for` waited for the transform.

        "limiting_stage": the stage that the others wait for: "reading" (with checking and parsing),
        "decoding" (the same, if most of its work is to decode pictures), "transform" or "caller";
        "none" before the first batch. "explanation" says in words why.
        `recmap.metrics` exports all this.

        >>> recmap.Loader(digits(), 256).statistics["explanation"]
        'no batch was delivered yet'
        """
        counts, causes = self._loader.statistics(), cause_times(self._loader)
        return statistics_of(counts, self._times, causes)

    def why(self) -> Why:
        """What the loader waits for at this moment. Call it from another thread, or see `why_on`.

        It waits for no read, however long that takes. A dict with

        - "cause": while the ``for`` waits for a batch, what the time of this batch was spent on:
          "disk", "store", "inflating" (spans of compressed shards), "parsing" (with checking, and
          with waiting for a CPU), "images" (decoding them) or "transform". Otherwise "caller", if a
          batch is ready, or "nothing".
        - "stage": "reading", "transform", "caller" or "none"; "seconds": how long the ``for`` has
          waited.
        - "rank", "epoch", "position" and "step" of the next batch. The step is None after the
          loader has returned to an earlier place, until a batch is delivered.
        - "queues": "threads" that read, "batches_begun" and "batches_ready" of them, and
          "steps_ahead" that a transform got.
        - "pending", if a store has not answered a request, or a thread sleeps until a file is
          read: of the oldest one, the "shard", the "url" without secrets or the path, "first_byte"
          and "last_byte", "attempt" from 1, "seconds", and "last_error" of the attempt before. Of
          mapped shards, the bytes are the record's, and the seconds those since its thread began
          to read a batch. Pages of the index and files of the disk cache have none.

        >>> recmap.Loader(digits(), 256).why()["cause"]
        'nothing'
        """
        return why_of(self)

    def why_on(self, signum: int) -> None:
        """Prints what `why` says as a line on standard error at each signal: `signal.SIGUSR1`.

        Call it in the main thread. It replaces the signal's handler.
        """
        say_on(self, signum)

    @property
    def skipped(self) -> list[dict[str, int | None]]:
        """The first 1,024 records that were skipped or replaced because of ``on_bad_record``.

        Each is a dict with "epoch", "position", the record's "number", and the number of its
        "substitute", or None.
        """
        names = "epoch", "position", "number", "substitute"
        return [dict(zip(names, row, strict=True)) for row in self._loader.skipped()]

    def estimate_requests(self) -> dict[str, int]:
        """How many requests this rank makes to a remote store in the whole current epoch.

        Runs the order and merges the records of each batch as reading does. No shard is read.
        "requests" and "bytes": what is requested without a cache. "used_bytes": of that, the
        records with their framing. "exact": whether every batch was counted; if not, the figures
        are estimated from some of them. All are 0 for local shards; records of compressed shards
        are left out. Records share requests by the present `recmap.Storage.gap`, which reading may
        change.

        >>> recmap.Loader(digits(), 256).estimate_requests()["requests"]
        0

        Raises:
            ValueError: the order gives rows.
        """
        return self._loader.estimate_requests()

    def close(self) -> None:
        """Ends the iteration and all threads. A later `for` starts them again."""
        pipeline = self._running.get()
        if pipeline is not None:
            pipeline.stop()
        self._loader.close()
        if pipeline is not None:
            pipeline.join()

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.state_dict()
        old = self._old_of(state["epoch"])
        arguments = type(self), self._arguments, state, old and old.order, self._loader.was_moved()
        return _rebuild, arguments

    def _repr_html_(self) -> str:
        from .._display.tables import facts_html

        epoch, position = self._loader.tell()
        found, length = self.statistics, len(self._order_of_epoch(epoch))
        bar = f' <progress value="{position}" max="{max(length, 1)}"></progress>'
        facts = {
            "data set": repr(self.dataset),
            "order": repr(self.order),
            "epoch": epoch,
            "position": f"{position} of {length}",
            "rank": f"{self._rank} of {self._world_size}",
            "steps left": self.steps_left,
            "parsing": _share(found["parse_ns"], found["fill_ns"], "of the reading threads' work"),
            "decoding": _share(found["decode_ns"], found["fill_ns"], "of the same"),
            "cache": _share(
                found["cache_hits"], found["cache_hits"] + found["cache_misses"], "of the reads"
            ),
            "limiting stage": f"{found['limiting_stage']} ({found['explanation']})",
        }
        return facts_html(class_name(self), facts, bar)

    def __repr__(self) -> str:
        epoch, position = self._loader.tell()
        return (
            f"<{class_name(self)} of {counted(len(self._order_of_epoch(epoch)), 'position')}, "
            f"epoch {epoch}, "
            f"position {position}, rank {self._rank} of {self._world_size}>"
        )


def _share(part: int, whole: int, noun: str) -> str:
    return f"{part / whole:.0%} {noun}" if whole else "not used"


def _rebuild(
    kind: type[Loader[Any]],
    arguments: dict[str, Any],
    state: dict[str, Any],
    old_order: Order | None,
    was_moved: bool,
) -> Loader[Any]:
    loader = kind(**arguments)
    loader.load_state_dict(state, old_order, grown=None if old_order is None else "finish")
    loader._loader.set_moved(was_moved)
    return loader
