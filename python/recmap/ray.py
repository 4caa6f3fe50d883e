"""recmap in Ray: a data source for ray.data, and indexing on a cluster.

    source = recmap.ray.Datasource(ds, features, order=recmap.Shuffled(len(ds), seed=7), epoch=0)
    epoch = ray.data.read_datasource(source)           # shuffled, without a shuffle stage

Every node must reach the shards and the index under the same paths: keep them on shared storage, or
copy them to each node. Needs the package ray with its data part (``pip install recmap[ray]``).
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

import ray
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource as _Datasource
from ray.data.datasource import ReadTask

from ._base.names import suggest_arguments
from ._base.numbers import Int64s, cuts_of
from ._base.plural import counted
from ._dataset.dataset import Dataset, check_dataset
from ._dataset.missing import Missing, softened, validate_missing
from ._example.draws import Draws
from ._example.features import Features, check_column_of_numbers, parser_of_batches
from ._index.build import IndexArguments, plan_of
from ._index.parts import BuiltPart, Part, build_in_parts
from ._loader.epoch_draws import draws_of_epoch
from ._options.options import Source
from ._options.storage import Path
from ._order.orders import Order, check_fits
from .arrow import table as table_of

__all__ = ["Datasource", "index"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


_BLOCK_SIZE = 32 << 20  # the approximate size of the records of a block, in bytes
_EXACT_COUNT_MAX = 1 << 24  # sizes of more positions than this are estimated
_SAMPLE_COUNT = 1 << 12  # from a sample of this many records
_SUBMITTED_MAX = 1 << 10  # indexing tasks that are submitted and whose results are not taken yet


class Datasource(_Datasource):
    """A data set or view for ``ray.data.read_datasource``.

    Without features a row is {"bytes": record}. With features it is {name: value}, with numbers,
    tensors (if a record has a shape), bytes or lists.

    Each read task covers a range of positions. With an order, these are positions of the *order*,
    so that all tasks together read one epoch of it, whichever node runs which task: a true shuffle
    over the cluster needs no shuffle stage, and moves no rows between nodes. Rows come in the order
    of the positions if Ray preserves it
    (``ray.data.DataContext.get_current().execution_options.preserve_order = True``).

    The row count and size of each task are known from the index, so nothing is read before the
    tasks run. (For more than 16 million records, sizes are estimated from a sample of the index.)

    Args:
        dataset: a data set or a view.
        features: {name: FixedLen(...), ...}, or features of tf.io.
        order: an order of as many records; None: from first to last.
        epoch: the epoch of the order, and of random crops and flips of `recmap.Image`, which need
            it; default: 0. Make a new source for each epoch.
        seed: of random images, as of a loader. With the same order and epoch, the pixels are those
            of a `recmap.Loader`.
        position: the first position to read, to resume an epoch.
        numbers: add a column "number" with the records' numbers in the whole data set.
        missing: what to do about a feature that no record of the first block has, as in
            `recmap.Dataset.parse`. Later epochs and positions only warn.
    """

    @suggest_arguments
    def __init__(
        self,
        dataset: Dataset,
        features: Features | None = None,
        *,
        order: Order | None = None,
        epoch: int | None = None,
        position: int = 0,
        numbers: bool = False,
        missing: Missing = "error",
        seed: int = 0,
    ) -> None:
        super().__init__()
        check_dataset(dataset)
        validate_missing(missing)
        if order is not None:
            check_fits(order, len(dataset))
        self._count = len(dataset) if order is None else len(order)
        if not 0 <= position <= self._count:
            raise IndexError(
                f"position {position} is out of range: the order has "
                f"{counted(self._count, 'position')}"
            )
        parser_of_batches(
            features, None, dataset._header()
        )  # wrong features raise here, not in every task
        check_column_of_numbers(numbers, features)
        self._draws = draws_of_epoch(dataset, features, order, epoch, seed)
        self._dataset = dataset
        self._features = None if features is None else dict(features)
        self._order, self._epoch, self._position = order, epoch or 0, position
        self._numbers = numbers
        self._missing: Missing = missing

    def get_name(self) -> str:
        """The name in Ray's plans and logs."""
        return "recmap"

    def estimate_inmemory_data_size(self) -> int:
        """The size of the records to read in bytes; parsed columns may be larger or smaller."""
        return self._size_of(self._position, self._count)

    def _items(self, first: int, end: int) -> range | Int64s:
        """The items of the data set at these positions."""
        if self._order is None:
            return range(first, end)
        return self._order.at(self._epoch, range(first, end))

    @functools.cached_property
    def _ends(self) -> Int64s:
        """The total size of the records up to each position, or each sampled position."""
        if self._count - self._position > _EXACT_COUNT_MAX:
            return np.cumsum(self._sampled_sizes())
        sizes = self._dataset.columns["@length"]
        if self._order is None:
            return np.cumsum(sizes[self._position : self._count], dtype=np.int64)
        return np.cumsum(sizes[self._items(self._position, self._count)], dtype=np.int64)

    def _sampled_sizes(self) -> Int64s:
        """Sizes of records at evenly spaced positions: all sizes would take too much memory."""
        at = np.linspace(self._position, self._count - 1, _SAMPLE_COUNT).astype(np.int64)
        items = at if self._order is None else self._order.at(self._epoch, at)
        numbers = self._dataset._selection.records_at(items.astype(np.uint64))
        sizes = np.empty(_SAMPLE_COUNT, np.int64)
        for i, number in enumerate(numbers.tolist()):
            self._dataset._read_numbers(0, number, sizes[i : i + 1])
        return sizes

    def _size_of(self, first: int, end: int) -> int:
        return self._size_to(end) - self._size_to(first)

    def _size_to(self, position: int) -> int:
        count, taken = self._count - self._position, position - self._position
        if not taken:
            return 0
        if count <= _EXACT_COUNT_MAX:
            return int(self._ends[taken - 1])
        return int(self._ends[-1]) * taken // _SAMPLE_COUNT

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,
    ) -> list[Any]:
        """Consecutive ranges of positions, whose lengths differ by one at most."""
        count = self._count - self._position
        if not count:
            return []
        cuts = cuts_of(count, max(1, min(parallelism, count)))
        return [
            self._task(self._position + first, self._position + end, per_task_row_limit)
            for first, end in pairwise(cuts)
        ]

    def _task(self, first: int, end: int, limit: int | None) -> Any:
        size = self._size_of(first, end)
        metadata = BlockMetadata(
            num_rows=end - first, size_bytes=size, input_files=None, exec_stats=None
        )
        rows = max(1, _BLOCK_SIZE * (end - first) // max(size, 1))
        dataset, skipped = self._dataset, 0
        if self._order is None:  # send only the numbers of this part of a view
            dataset, skipped = dataset[first:end], first
        missing = softened(self._missing, has_begun=self._epoch > 0 or first > 0)
        if first != self._position:  # the first task checks
            missing = "ignore"
        read = functools.partial(
            _read,
            dataset,
            self._features,
            self._order,
            self._epoch,
            self._draws,
            range(first, end),
            skipped,
            rows,
            self._numbers,
            missing,
        )
        return ReadTask(read, metadata, per_task_row_limit=limit)


def _read(
    dataset: Dataset,
    features: Features | None,
    order: Order | None,
    epoch: int,
    draws: Draws | None,
    positions: range,
    skipped: int,
    rows: int,
    numbers: bool,
    missing: Missing,
) -> Iterator[Any]:
    """The work of a task: yields blocks of up to `rows` rows. Without an order, the data set begins
    at position `skipped`."""
    for first in range(positions.start, positions.stop, rows):
        end = min(first + rows, positions.stop)
        items: range | Int64s = range(first - skipped, end - skipped)
        if order is not None:
            items = order.at(epoch, range(first, end))
        if features is None:
            batch = dataset.gather(items)
            table, numbers_read = table_of(batch), batch.numbers
        else:
            checked = missing if first == positions.start else "ignore"
            drawn = None if draws is None else draws.run(first, end)
            columns = dataset._parse_columns(items, features, drawn, missing=checked)
            table, numbers_read = table_of(columns, tensor=_tensor), columns.numbers
        yield table.append_column("number", pa.array(numbers_read)) if numbers else table


def _tensor(array: Any) -> Any:
    """Ray's own column of arrays, which Ray turns back into arrays in its batches."""
    from ray.data.extensions import ArrowTensorArray

    return ArrowTensorArray.from_numpy(array)


@suggest_arguments(options=IndexArguments.__annotations__)
def index(
    source: Source,
    path: Path | None = None,
    *,
    threads: int = 1,
    options: dict[str, Any] | None = None,
    **arguments: Unpack[IndexArguments],
) -> str:
    """Builds an index on the cluster, one task per shard, and returns its path.

    The result equals what `recmap.index` builds, byte for byte. The tasks write partial indexes
    next to it, and this process merges them, so all nodes must be able to write to that folder. A
    custom framing and text indexes must be readable on all nodes.

    Args:
        source, path, arguments: see `recmap.index`. Every task calls the credentials of `storage`
            and reads with a copy of its filesystem, so both must be picklable. `progress` shows the
            merge.
        threads: threads per task.
        options: options for the tasks, as ``ray.remote`` takes them: {"num_cpus": 2, ...}.
    """
    plan = plan_of(source, path, threads=threads, **arguments)
    task: Any = ray.remote(_build).options(**{"num_cpus": threads, **(options or {})})
    return build_in_parts(plan, lambda parts: _run(task.remote, parts))


def _build(part: Part) -> BuiltPart | Exception:
    """The work of a task. Returns an exception instead of raising it, because Ray prints exceptions
    of tasks whose results are not taken."""
    try:
        return part.build()
    except Exception as error:
        return error


def _run(submit: Callable[[Part], Any], parts: Sequence[Part]) -> Iterator[BuiltPart]:
    """What the tasks for the parts return. Raises the exception of the first that failed.

    No task is cancelled then, because Ray 2.60 aborts this process if a task ends while it is
    cancelled ("Tried to complete task that was not pending"). So only a limited number of tasks
    waits. The folder of the parts is removed next, so that these fail when they start."""
    submitted: deque[Any] = deque()
    for part in parts:
        if len(submitted) == _SUBMITTED_MAX:
            yield _result(submitted.popleft())
        submitted.append(submit(part))
    while submitted:
        yield _result(submitted.popleft())


def _result(task: Any) -> BuiltPart:
    result: BuiltPart | Exception = ray.get(task)
    if isinstance(result, Exception):
        raise result
    return result
