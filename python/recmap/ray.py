"""recmap in Ray: read tasks over positions of an order, and indexes built by the cluster.

    source = recmap.ray.Datasource(ds, features, order=recmap.Shuffled(len(ds), seed=7), epoch=0)
    epoch = ray.data.read_datasource(source)           # shuffled, without a shuffle stage

Every node must reach the shards and the index by the same paths: they lie on shared storage, or are
copied to each node. Needs the package ray with its data part (``pip install recmap[ray]``).
"""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import ray
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource as _Datasource
from ray.data.datasource import ReadTask
from ray.exceptions import RayTaskError

from . import _open, _recmap
from ._dataset import Dataset
from ._features import Features, parser_of
from ._numbers import Int64s, cuts_of
from ._orders import Order, check_fits
from ._progress import Progress
from .arrow import table as table_of

__all__ = ["Datasource", "index"]

_BLOCK_SIZE = 32 << 20  # bytes of records that become one block, as nearly as rows allow
_EXACT_COUNT = 1 << 24  # more positions than these have their sizes estimated
_SAMPLE_COUNT = 1 << 12  # of these many records


class Datasource(_Datasource):
    """A data set or view for ``ray.data.read_datasource``.

    Without features a row is {"bytes": record}; with features {name: value}: numbers, tensors where
    a record has a shape, bytes, lists. Read tasks are ``ds.split(n)``: ranges side by side;
    with an order they are ranges of its *positions*, so that together they are its epoch, whichever
    node reads which: a true shuffle over the cluster needs no shuffle stage, and moves no rows
    between nodes. The rows come in the order of the positions where Ray preserves it
    (``ray.data.DataContext.get_current().execution_options.preserve_order = True``).

    Rows and bytes of every task are known from the index: nothing is read before tasks run. (Bytes
    of more than 16 million records are estimated from a sample of the index.)

    Args:
        dataset: a data set or a view.
        features: {name: FixedLen(...), ...}, or of tf.io's.
        order: of as many records; None: from first to last.
        epoch: of the order.
        position: the first position that is read: an epoch is resumed where it was left.
        numbers: a column "number" has the records' numbers in the whole data set.
    """

    def __init__(
        self,
        dataset: Dataset,
        features: Features | None = None,
        *,
        order: Order | None = None,
        epoch: int = 0,
        position: int = 0,
        numbers: bool = False,
    ) -> None:
        super().__init__()
        if order is not None:
            check_fits(order, len(dataset))
        self._count = len(dataset) if order is None else len(order)
        if not 0 <= position <= self._count:
            raise IndexError(f"position {position} of {self._count}")
        if features is not None:
            parser_of(features)  # what is wrong with them is said here, not by every task
        self._dataset = dataset
        self._features = None if features is None else dict(features)
        self._order, self._epoch, self._position = order, epoch, position
        self._numbers = numbers

    def get_name(self) -> str:
        """The name in Ray's plans and logs."""
        return "recmap"

    def estimate_inmemory_data_size(self) -> int:
        """Bytes of the records that are read; columns of what is parsed may have more or less."""
        return self._size_of(self._position, self._count)

    def _items(self, first: int, end: int) -> range | Int64s:
        """Which items of the data set stand at these positions."""
        if self._order is None:
            return range(first, end)
        return self._order.at(self._epoch, range(first, end))

    @functools.cached_property
    def _ends(self) -> Int64s:
        """Bytes of the records from the first position up to each that is looked at."""
        if self._count - self._position > _EXACT_COUNT:
            return np.cumsum(self._sampled_sizes())
        sizes = self._dataset.columns["@length"]
        if self._order is None:
            return np.cumsum(sizes[self._position : self._count], dtype=np.int64)
        return np.cumsum(sizes[self._items(self._position, self._count)], dtype=np.int64)

    def _sampled_sizes(self) -> Int64s:
        """Sizes of records at positions that are spread evenly, for more than fit in memory."""
        at = np.linspace(self._position, self._count - 1, _SAMPLE_COUNT).astype(np.int64)
        items = at if self._order is None else self._order.at(self._epoch, at)
        numbers = self._dataset._numbers_of(items.astype(np.uint64))
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
        if count <= _EXACT_COUNT:
            return int(self._ends[taken - 1])
        return int(self._ends[-1]) * taken // _SAMPLE_COUNT

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,
    ) -> list[Any]:
        """As many tasks as asked for, side by side, of as many records each: at most one apart."""
        count = self._count - self._position
        if not count:
            return []
        cuts = cuts_of(count, max(1, min(parallelism, count)))
        return [
            self._task(self._position + first, self._position + end, per_task_row_limit)
            for first, end in zip(cuts[:-1], cuts[1:], strict=True)
        ]

    def _task(self, first: int, end: int, limit: int | None) -> Any:
        size = self._size_of(first, end)
        metadata = BlockMetadata(
            num_rows=end - first, size_bytes=size, input_files=None, exec_stats=None
        )
        rows = max(1, _BLOCK_SIZE * (end - first) // max(size, 1))
        dataset, positions = self._dataset, range(first, end)
        if self._order is None:  # a part of a view: only its own numbers are sent
            dataset, positions = dataset[first:end], range(end - first)
        read = functools.partial(
            _read,
            dataset,
            self._features,
            self._order,
            self._epoch,
            positions,
            rows,
            self._numbers,
        )
        return ReadTask(read, metadata, per_task_row_limit=limit)


def _read(
    dataset: Dataset,
    features: Features | None,
    order: Order | None,
    epoch: int,
    positions: range,
    rows: int,
    numbers: bool,
) -> Iterator[Any]:
    """What a task does, wherever it runs: blocks of some rows each."""
    for first in range(positions.start, positions.stop, rows):
        part = range(first, min(first + rows, positions.stop))
        items = part if order is None else order.at(epoch, part)
        if features is None:
            batch = dataset.gather(items)
            table, own = table_of(batch), batch.numbers
        else:
            columns = dataset.parse(items, features)
            table, own = table_of(columns, tensor=_tensor), columns.numbers
        yield table.append_column("number", pa.array(own)) if numbers else table


def _tensor(array: Any) -> Any:
    """Ray's own column of arrays: its batches are then arrays again."""
    from ray.data.extensions import ArrowTensorArray

    return ArrowTensorArray.from_numpy(array)


def index(
    source: _open.Source,
    path: _open.Path | None = None,
    *,
    id: str | None = None,
    lift: _open.Lift = (),
    on_corrupt: _open.OnCorrupt = "raise",
    framing: _open.Path = "auto",
    compression: _open.Compression = "auto",
    from_idx: _open.Path | None = None,
    threads: int = 1,
    guard: bool = False,
    progress: Progress = "auto",
    options: dict[str, Any] | None = None,
) -> str:
    """Builds an index by the cluster, a task for each shard, and returns its path.

    Byte for byte the index that `recmap.index` builds. The tasks write their parts beside it, and
    they are merged here; so `path` lies where all nodes can write. A framing of your own and text
    indexes lie where all nodes can read them.

    Args:
        source, path, id, lift, on_corrupt, framing, compression, from_idx, guard: as of
            `recmap.index`.
        threads: that each task uses.
        progress: of the merge.
        options: of the tasks, as ``ray.remote`` takes them: {"num_cpus": 2, ...}.
    """
    name, framing_path = _open._framing_of(framing)  # the merge needs it too
    shards, beside = _recmap.shards_expand(_open._names(source))
    at = os.path.abspath(path if path is not None else beside)
    how = {
        "id": id,
        "lift": dict(_open._lifts(lift)),
        "on_corrupt": on_corrupt,
        "framing": framing_path or name,
        "compression": compression,
        "from_idx": None if from_idx is None else os.path.abspath(from_idx),
        "threads": threads,
        "guard": guard,
        "progress": None,
    }
    folder = tempfile.mkdtemp(prefix=f".{os.path.basename(at)}.parts-", dir=os.path.dirname(at))
    task: Any = ray.remote(_open.index).options(**{"num_cpus": threads, **(options or {})})
    try:
        parts = [
            task.remote(shard, _part(folder, i), **how)
            for i, shard in enumerate(map(os.path.abspath, shards))
        ]
        _open.merge(at, _gathered(parts), progress=progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return at


def _part(folder: str, i: int) -> str:
    return os.path.join(folder, f"{i:08d}.rmx")


def _gathered(parts: Sequence[Any]) -> Iterable[str]:
    """The parts' paths; what went wrong with a shard is raised as it was."""
    try:
        paths: list[str] = ray.get(list(parts))
    except RayTaskError as error:
        for part in parts:
            ray.cancel(part)
        ray.wait(list(parts), num_returns=len(parts), timeout=60)  # none writes a part any more
        raise error.cause from None
    return paths
