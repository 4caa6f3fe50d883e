"""recmap in Grain: a random access source, recmap's orders as samplers, whole batches at once.

    source = recmap.grain.DataSource(ds, features)
    order = recmap.Shuffled(len(ds), seed=7)
    dataset = recmap.grain.Ordered(grain.MapDataset.source(source), order)

Needs the package grain (``pip install recmap[grain]``).
"""

from __future__ import annotations

import hashlib
import operator
import sys
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

import grain

from . import _recmap
from ._columns import columns_of
from ._dataset import Dataset
from ._errors import OutOfRangeError
from ._features import Features, parser_of
from ._orders import Order, check_fits
from ._rows import plain, rows_of

__all__ = ["Batches", "DataSource", "Ordered", "Sampler"]

_RUN = 256  # positions of an order that are computed at once: a microsecond or two


class DataSource:
    """Records of a data set or view by number: Grain's ``RandomAccessDataSource``.

    An element is the record's bytes; with `features` a dict {name: NumPy value}. Elements are
    copies, or arrays of their own, so that they can be sent from worker processes.

    Safe among threads; pickles as the data set does: by its path. Its `repr` tells the records, not
    where they lie: it is what Grain compares checkpoints by.

    Args:
        dataset: a data set or a view.
        features: {name: FixedLen(...), ...}, or of tf.io's.

    >>> source = recmap.grain.DataSource(digits(), {"label": recmap.FixedLen()})
    >>> len(source), source[5]["label"]
    (1797, np.int64(5))
    """

    def __init__(self, dataset: Dataset, features: Features | None = None) -> None:
        self._dataset = dataset
        self._features = None if features is None else dict(features)
        self._parser = None if features is None else parser_of(features)
        self._repr: str | None = None

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: SupportsIndex) -> Any:
        if self._parser is None:
            return bytes(self._dataset[index])
        return self.__getitems__([operator.index(index)])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Many elements at once: several times less work than one by one."""
        if self._parser is None:
            return [bytes(record) for record in self._dataset.gather(indices)]
        return rows_of(columns_of(self._dataset._parsed(indices, self._parser, "raise")))

    _getitems = __getitems__  # the name that Grain's own pipelines look for

    def __repr__(self) -> str:
        if self._repr is None:
            self._repr = (
                f"recmap.grain.DataSource(records={len(self)}, "
                f"fingerprint={self._dataset.fingerprint!r}, items={_items(self._dataset)}, "
                f"features={self._features!r})"
            )
        return self._repr

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._dataset, self._features)


def _items(dataset: Dataset) -> str:
    """Which records of the whole a view has: equal texts mean equal records."""
    first, count, step, numbers = dataset._range
    if numbers is None:
        return repr(range(first, first + count * step, step))
    little = np.ascontiguousarray(numbers, dtype="<u8")
    return f"<{len(numbers)} numbers, SHA-256 {hashlib.sha256(little.data).hexdigest()}>"


class _Run:
    """Numbers by global position, epoch after epoch; a run of positions is computed at once."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._length = len(order)
        self._cached: tuple[int, int, list[int]] = (-1, -1, [])  # set as one: safe among threads

    def __getitem__(self, position: int) -> int:
        epoch, place = divmod(position, self._length)
        run, at = divmod(place, _RUN)
        cached = self._cached
        if cached[:2] != (epoch, run):
            end = min((run + 1) * _RUN, self._length)
            numbers = self.order.at(epoch, range(run * _RUN, end)).tolist()
            cached = self._cached = epoch, run, numbers
        return cached[2][at]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.order,)


class Sampler:
    """An order as the sampler of ``grain.DataLoader``.

    Give the loader the shard options: shard s of S takes the positions s, s + S, s + 2 S, ... of
    the one order, so that all shards together read each record of an epoch once.

    Args:
        order: of as many records as the source has.
        num_epochs: walked one after the other; None: endless.
        seed: of each element's ``rng``, for random transformations; None: elements have none.

    >>> sampler = recmap.grain.Sampler(recmap.Shuffled(10, seed=7), num_epochs=2)
    >>> len(sampler), sorted(sampler[i].record_key for i in range(10, 20))
    (20, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    def __init__(
        self, order: Order, num_epochs: int | None = None, seed: int | None = None
    ) -> None:
        if num_epochs is not None and num_epochs < 1:
            raise ValueError(f"num_epochs is {num_epochs}")
        if not len(order):
            raise ValueError("an order of no positions")
        self._run = _Run(order)
        self._num_epochs = num_epochs
        self._seed = seed
        self._length = sys.maxsize if num_epochs is None else num_epochs * len(order)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < self._length:
            raise OutOfRangeError(f"position {index} of {self._length}")
        rng = None
        if self._seed is not None:
            rng = np.random.Generator(np.random.Philox(key=self._seed + index))
        return grain.RecordMetadata(index=index, record_key=self._run[index], rng=rng)

    def __repr__(self) -> str:
        return (
            f"recmap.grain.Sampler(order={self._run.order.describe()}, "
            f"num_epochs={self._num_epochs}, seed={self._seed})"
        )


class Ordered(grain.MapDataset):
    """A MapDataset in an order of recmap's: element i is ``parent[order.at(epoch, position)]``.

    ``len(order)`` elements an epoch; behind them, as ``repeat()`` asks for them, those of the next
    epoch. Slices deal it out: ``dataset[rank::world_size]``.

    >>> import grain
    >>> numbers = grain.MapDataset.range(5)
    >>> ordered = recmap.grain.Ordered(numbers, recmap.Shuffled(5, seed=1))
    >>> sorted(ordered), list(ordered) == recmap.Shuffled(5, seed=1).at(0, range(5)).tolist()
    ([0, 1, 2, 3, 4], True)
    """

    def __init__(self, parent: Any, order: Order) -> None:
        super().__init__(parent)
        check_fits(order, len(parent))
        self._run = _Run(order)
        self._length = len(order)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.slice(index)
        return self._parent[self._run[index]]

    def _getitems(self, indices: Sequence[int]) -> Any:
        return self._parent._getitems([self._run[index] for index in indices])

    def __str__(self) -> str:
        return f"recmap.grain.Ordered({self._run.order.describe()})"


class Batches(grain.MapDataset):
    """A MapDataset of whole batches: element i is batch i of the order, read and parsed in C.

    Much faster than elements that Grain batches: an element costs Python, a batch does not. It is a
    dict {name: column} (arrays; bytes as arrays of objects; `recmap.RaggedColumn`), or without
    features a list of bytes. The last batch of an epoch is short, unless `drop_remainder`.

    >>> order = recmap.Shuffled(1797, seed=7)
    >>> batches = recmap.grain.Batches(digits(), order, 256, {"label": recmap.FixedLen()})
    >>> len(batches), batches[0]["label"].shape, batches[7]["label"].shape
    (8, (256,), (5,))
    """

    def __init__(
        self,
        dataset: Dataset,
        order: Order,
        batch_size: int,
        features: Features | None = None,
        *,
        drop_remainder: bool = False,
    ) -> None:
        super().__init__()
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}")
        check_fits(order, len(dataset))
        self._dataset, self._order, self._batch_size = dataset, order, batch_size
        self._features = None if features is None else dict(features)
        self._parser: _recmap.Parser | None = None
        if features is not None:
            self._parser = parser_of(features)
        whole, more = divmod(len(order), batch_size)
        self._length = whole + (more > 0 and not drop_remainder)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.slice(index)
        epoch, batch = divmod(index, self._length)
        first = batch * self._batch_size
        end = min(first + self._batch_size, len(self._order))
        numbers = self._order.at(epoch, range(first, end))
        if self._parser is None:
            return [bytes(record) for record in self._dataset.gather(numbers)]
        columns = columns_of(self._dataset._parsed(numbers, self._parser, "raise"))
        return {name: plain(columns[name]) for name in columns}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parser": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        if self._features is not None:
            self._parser = parser_of(self._features)

    def __str__(self) -> str:
        return f"recmap.grain.Batches({self._order.describe()}, {self._batch_size})"
