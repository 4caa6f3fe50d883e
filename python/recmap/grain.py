"""recmap with Grain: a random access source, samplers, ordered data sets, and whole batches.

    source = recmap.grain.DataSource(ds, features)
    order = recmap.Shuffled(len(ds), seed=7)
    dataset = recmap.grain.Ordered(grain.MapDataset.source(source), order)

Needs the package grain (``pip install recmap[grain]``).
"""

from __future__ import annotations

import functools
import hashlib
import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, cast

import numpy as np

import grain

from ._base.bfloat16 import numpy_type_of
from ._base.names import suggest_arguments
from ._base.numbers import UInt64s, natural, out_of_range
from ._columns import ColumnBatch, RowForm, columns_of, name_of_lengths, rows_of_batch
from ._columns.record_batch import RecordBatch
from ._columns.rows import plain, rows_of
from ._dataset.dataset import Dataset, check_dataset
from ._dataset.join import Joined, check_joined, features_of_sides, warn_of_bytes
from ._dataset.missing import FirstBatchCheck, Missing
from ._example.boxes import Boxes
from ._example.draws import SourceDraws
from ._example.elements import element_of
from ._example.features import (
    Features,
    FixedLen,
    FixedLenSequence,
    Sliced,
    VarLen,
    feature_of,
    kept_features,
    parser_of_batches,
    value_shape_of,
)
from ._example.images import Image, has_random_images
from ._loader.ordered_records import OrderedRecords
from ._loader.view_order import order_over
from ._order.orders import Order, check_fits, order_of
from ._order.row_orders import warn_if_empty

__all__ = ["Batches", "DataSource", "JoinedSource", "Ordered", "Sampler"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


_RUN_LENGTH = 256  # positions computed at once, which takes one or two microseconds


@dataclass(frozen=True)
class Spec:
    """The shape and dtype of an array in an element, as Grain's ``get_element_spec`` returns it."""

    shape: tuple[int | None, ...]
    dtype: Any


def _spec_of(
    name: str, given: Any, rows: tuple[int | None, ...], *, is_batch: bool, width: int = 0
) -> Spec:
    feature = feature_of(given)
    if isinstance(feature, Boxes):
        raise NotImplementedError(f"boxes {name!r} are ragged, so they have no element_spec")
    element = element_of(feature.dtype)
    dtype = np.dtype(object if element == "bytes" else numpy_type_of(element))
    if isinstance(feature, FixedLen):
        return Spec((*rows, *value_shape_of(feature)), dtype)
    if isinstance(feature, Image) and (feature.size is not None or not is_batch):
        return Spec((*rows, *feature._row_shape()), dtype)
    if isinstance(feature, Sliced) and width:
        return Spec((*rows, width, *value_shape_of(feature)), dtype)
    if isinstance(feature, FixedLenSequence) and not (feature.ragged and is_batch):
        return Spec((*rows, None, *value_shape_of(feature)), dtype)
    if isinstance(feature, VarLen) and not is_batch:
        return Spec((None, *value_shape_of(feature)), dtype)
    raise NotImplementedError(f"feature {name!r} is not an array, so it has no element_spec")


_ADVICE = (
    "give the source epoch=, and make a new one for each epoch; or read it with "
    "recmap.grain.Ordered, or use recmap.grain.Batches, which know the epoch"
)


@dataclass(frozen=True)
class _Where:
    """What `Ordered` knows about elements, for random images."""

    epoch: int | None = None
    positions: Any = None  # in the epoch, if the order may hold a record twice


class DataSource:
    """The records of a data set or view by number: a ``RandomAccessDataSource`` of Grain.

    An element is the record's bytes, or a dict {name: NumPy value} with `features`. Elements are
    copies or separate arrays, so that worker processes can send them.

    Safe to use from many threads. Pickled by path, like the data set. Grain compares checkpoints by
    the `repr`, which describes the records and features, but not their paths.

    Random crops and flips of `recmap.Image` need the epoch. `Ordered` knows it: directly over the
    source, it gives the pixels that a `recmap.Loader` with the same seed and order gives in each
    epoch. With other pipelines, give `epoch`, and make a new source for each epoch.

    Args:
        dataset: a data set or a view.
        features: {name: FixedLen(...), ...}, or features of tf.io.
        missing: what to do about a feature that no record has, as in `recmap.Dataset.parse`. The
            first elements read are checked.
        epoch: the epoch of all random images of the source; None: the one that `Ordered` is in.
        seed: of random images, as of a loader.

    >>> source = recmap.grain.DataSource(digits(), {"label": recmap.FixedLen((), "int64")})
    >>> len(source), source[5]["label"]
    (1797, np.int64(5))
    """

    @suggest_arguments
    def __init__(
        self,
        dataset: Dataset,
        features: Features | None = None,
        missing: Missing = "error",
        *,
        epoch: int | None = None,
        seed: int = 0,
    ) -> None:
        check_dataset(dataset, "grain.JoinedSource")
        self._draws = SourceDraws.of(seed, epoch, _ADVICE, features)
        self._draws.warn_of_seed()
        self._dataset = dataset
        self._missing: Missing = missing
        self._parser = parser_of_batches(features, None, dataset._header())
        self._first_batch = FirstBatchCheck(dataset, features, None, missing)
        self._features = kept_features(features)
        self._repr: str | None = None

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: SupportsIndex) -> Any:
        if self._parser is None:
            return bytes(self._dataset[index])
        return self.__getitems__([operator.index(index)])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Many elements at once, several times faster than one by one."""
        return self._elements(indices, _Where())

    _getitems = __getitems__  # the name that Grain's pipelines use

    def _elements(self, indices: Sequence[int], where: _Where, numbers: Any = None) -> list[Any]:
        """`numbers`: what random images depend on instead of the numbers of the records."""
        if self._parser is None:
            return [bytes(record) for record in self._dataset.gather(indices)]
        draws = self._draws.at(where.epoch, positions=where.positions, numbers=numbers)
        with self._dataset._advised(self._features or {}):
            batch = self._dataset._parsed(indices, self._parser, "error", 1, draws)
        self._first_batch.check(batch)
        return rows_of(columns_of(batch))

    def _needs_epoch(self) -> bool:
        return self._draws.feature is not None and self._draws.epoch is None

    def _repeats(self, order: Order) -> bool:
        """Returns true if random images depend on the position in this order."""
        return order_over(self._dataset, order).repeats()

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of an element, with ``None`` for sizes that differ.

        Raises:
            NotImplementedError: a feature is nested or sparse, so that its values are not arrays.
        """
        if self._features is None:
            return Spec((), np.dtype(object))
        return {
            name: _spec_of(name, feature, (), is_batch=False)
            for name, feature in self._features.items()
        }

    def __repr__(self) -> str:
        if self._repr is None:
            fingerprint = self._dataset._fingerprint().hex()
            self._repr = (
                f"recmap.grain.DataSource(records={len(self)}, "
                f"fingerprint={fingerprint!r}, items={_items(self._dataset)}, "
                f"features={self._features!r}{self._draws_text()})"
            )
        return self._repr

    def _draws_text(self) -> str:
        draws = self._draws
        return "" if draws.feature is None else f", epoch={draws.epoch}, seed={draws.seed}"

    def __reduce__(self) -> tuple[Any, ...]:
        made = functools.partial(type(self), epoch=self._draws.epoch, seed=self._draws.seed)
        return made, (self._dataset, self._features, self._missing)


class JoinedSource:
    """The rows of a join by number: a ``RandomAccessDataSource`` of Grain.

    An element is {name: element}, with the elements that a `DataSource` of each data set has.

    Args:
        joined: what `recmap.join` returned. Each of its rows must have a record of every data set.
        features: {name: features} of the data sets whose records are parsed; {name: None} gives
            the records of that one as bytes. Warns of a data set that is left out.
        missing, epoch, seed: as for `DataSource`. Random images of all data sets depend on the
            record of the first one, as in a `recmap.JoinedLoader`.

    >>> ds = digits()
    >>> joined = recmap.join({"all": ds, "threes": ds.where("label == 3")})
    >>> wanted = {"all": None, "threes": {"label": recmap.FixedLen((), "int64")}}
    >>> source = recmap.grain.JoinedSource(joined, wanted)
    >>> len(source), source[5]["threes"]["label"]
    (183, np.int64(3))
    """

    @suggest_arguments
    def __init__(
        self,
        joined: Joined,
        features: Mapping[str, Features | None] | None = None,
        missing: Missing = "error",
        *,
        epoch: int | None = None,
        seed: int = 0,
    ) -> None:
        check_joined(joined)
        wanted = features_of_sides(joined, features)
        warn_of_bytes(joined, features)
        SourceDraws.of(seed, epoch, _ADVICE, *wanted.values()).warn_of_seed()
        self._sources = {}
        for name, view in joined.views.items():
            of_side = wanted.get(name)
            used = seed if has_random_images(of_side) else 0  # which warns of nothing
            self._sources[name] = DataSource(view, of_side, missing, epoch=epoch, seed=used)
        self._first = next(iter(self._sources.values()))
        self._length = len(joined)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]:
        return self.__getitems__([operator.index(index)])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Many elements at once, several times faster than one by one."""
        return self._elements(indices, _Where())

    _getitems = __getitems__  # the name that Grain's pipelines use

    def _elements(self, indices: Sequence[int], where: _Where) -> list[dict[str, Any]]:
        numbers = None
        if any(source._draws.feature is not None for source in self._sources.values()):
            numbers = self._first._dataset._record_numbers(indices)
        sides = [source._elements(indices, where, numbers) for source in self._sources.values()]
        return [dict(zip(self._sources, row, strict=True)) for row in zip(*sides, strict=True)]

    def _needs_epoch(self) -> bool:
        return any(source._needs_epoch() for source in self._sources.values())

    def _repeats(self, order: Order) -> bool:
        return self._first._repeats(order)

    @property
    def element_spec(self) -> Any:
        """{name: the ``element_spec`` of its `DataSource`}."""
        return {name: source.element_spec for name, source in self._sources.items()}

    def __repr__(self) -> str:
        return f"recmap.grain.JoinedSource({self._sources!r})"


def _items(dataset: Dataset) -> str:
    """Describes which records a view has. Equal descriptions mean equal records."""
    first, count, step, numbers = dataset._selection
    if numbers is None:
        return repr(range(first, first + count * step, step))
    little_endian = np.ascontiguousarray(numbers, dtype="<u8")
    return f"<{len(numbers)} numbers, SHA-256 {hashlib.sha256(little_endian.data).hexdigest()}>"


class _Run:
    """Record numbers by global position, over all epochs. Computes a run of positions at once."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._length = len(order)
        self._cached: tuple[int, int, list[int]] = (
            -1,
            -1,
            [],
        )  # (epoch, run, numbers); replaced atomically

    def __getitem__(self, position: int) -> int:
        epoch, offset = divmod(position, self._length)
        run, index = divmod(offset, _RUN_LENGTH)
        cached = self._cached
        if cached[:2] != (epoch, run):
            end = min((run + 1) * _RUN_LENGTH, self._length)
            numbers = self.order.at(epoch, range(run * _RUN_LENGTH, end)).tolist()
            cached = self._cached = epoch, run, numbers
        return cached[2][index]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.order,)


def _check_records(order: Order) -> None:
    order_of(order)
    if order.row_width:
        raise ValueError("the order gives rows, not records: read them with recmap.grain.Batches")


class Sampler:
    """An order as the sampler of ``grain.DataLoader``.

    Pass the shard options to the DataLoader: shard s of S takes positions s, s + S, s + 2 S, ... of
    the order, so that all shards together read each record of an epoch once.

    Args:
        order: an order of as many records as the source has.
        num_epochs: the number of epochs; None: unlimited.
        seed: for the ``rng`` of each element, which random transformations use; None: no ``rng``.

    >>> sampler = recmap.grain.Sampler(recmap.Shuffled(10, seed=7), num_epochs=2)
    >>> len(sampler), sorted(sampler[i].record_key for i in range(10, 20))
    (20, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    @suggest_arguments
    def __init__(
        self, order: Order, num_epochs: int | None = None, seed: int | None = None
    ) -> None:
        if num_epochs is not None and natural("num_epochs", num_epochs) < 1:
            raise ValueError(f"num_epochs must be at least 1, not {num_epochs}")
        if not len(order):
            raise ValueError("the order is empty")
        _check_records(order)
        self._run = _Run(order)
        self._num_epochs = num_epochs
        self._seed = None if seed is None else natural("seed", seed)
        self._length = sys.maxsize if num_epochs is None else num_epochs * len(order)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < self._length:
            raise out_of_range(index, self._length, "position")
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
    """A MapDataset in an order of recmap: element i is ``parent[order.at(epoch, position)]``.

    An epoch has ``len(order)`` elements. Later indices, as used by ``repeat()``, are in the next
    epochs. To divide it over ranks, use slices: ``dataset[rank::world_size]``. Directly over a
    `DataSource` or `JoinedSource`, random crops and flips are those of the epoch.

    >>> import grain
    >>> numbers = grain.MapDataset.range(5)
    >>> ordered = recmap.grain.Ordered(numbers, recmap.Shuffled(5, seed=1))
    >>> sorted(ordered), list(ordered) == recmap.Shuffled(5, seed=1).at(0, range(5)).tolist()
    ([0, 1, 2, 3, 4], True)
    """

    @suggest_arguments
    def __init__(self, parent: Any, order: Order) -> None:
        super().__init__(parent)
        _check_records(order)
        check_fits(order, len(parent))
        self._run = _Run(order)
        self._length = len(order)
        source = self._source_below()
        self._needs_epoch = source is not None and source._needs_epoch()
        self._repeats = source is not None and self._needs_epoch and source._repeats(order)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.slice(index)
        if self._needs_epoch:
            return self._getitems([index])[0]
        return self._parent[self._run[index]]

    def _source_below(self) -> DataSource | JoinedSource | None:
        """The source of recmap whose elements these are, unless something changes them."""
        source = getattr(self._parent, "_source", None)
        return source if isinstance(source, (DataSource, JoinedSource)) else None

    @property
    def _element_spec(self) -> Any:
        source = self._source_below()
        return self._parent._element_spec if source is None else source.element_spec

    def _getitems(self, indices: Sequence[int]) -> Any:
        if not self._needs_epoch:
            return self._parent._getitems([self._run[index] for index in indices])
        rows: dict[int, list[int]] = {}
        for row, index in enumerate(indices):
            rows.setdefault(index // self._length, []).append(row)
        elements: list[Any] = [None] * len(indices)
        for epoch, of_epoch in rows.items():
            found = self._elements_in(epoch, [indices[row] for row in of_epoch])
            for row, element in zip(of_epoch, found, strict=True):
                elements[row] = element
        return elements

    def _elements_in(self, epoch: int, indices: list[int]) -> list[Any]:
        """The elements of one epoch. Grain would ask the source without the epoch."""
        places = np.array(indices, np.uint64) % np.uint64(self._length) if self._repeats else None
        source = self._source_below()
        assert source is not None
        return source._elements([self._run[i] for i in indices], _Where(epoch, places))

    def __str__(self) -> str:
        return f"recmap.grain.Ordered({self._run.order.describe()})"


def _with_lengths(batch: ColumnBatch) -> dict[str, Any]:
    """The columns, and the lengths of padded sequences."""
    lengths = {name_of_lengths(name, batch): of for name, of in batch.lengths.items()}
    return {name: plain(batch[name]) for name in batch} | lengths


class Batches(grain.MapDataset):
    """A MapDataset of whole batches: element i is batch i of the order, read and parsed in C.

    Much faster than batching in Grain, because Python runs once per batch instead of per element. A
    batch is a dict {name: column} with arrays, object arrays for bytes, or `recmap.RaggedColumn`;
    without features it is a list of bytes. A padded sequence has an additional item ``name +
    "/length"`` with the number of steps of each row. The last batch of an epoch can be smaller,
    unless `drop_remainder`. `missing` is as in `recmap.Dataset.parse`, for the first batch read.

    Random crops and flips of `recmap.Image` are those that a `recmap.Loader` with this `seed` and
    order gives in the same epoch.

    With `recmap.Chunked`, `Packed` or `Windows`, a batch consists of rows, and has the additional
    arrays "segment_ids", "positions" and "mask", or only "mask" for windows. "positions" are those
    in pieces.

    >>> order = recmap.Shuffled(1797, seed=7)
    >>> label = recmap.FixedLen((), "int64")
    >>> batches = recmap.grain.Batches(digits(), order, 256, {"label": label})
    >>> len(batches), batches[0]["label"].shape, batches[7]["label"].shape
    (8, (256,), (5,))
    """

    @suggest_arguments
    def __init__(
        self,
        dataset: Dataset,
        order: Order,
        batch_size: int,
        features: Features | None = None,
        *,
        drop_remainder: bool = False,
        missing: Missing = "error",
        seed: int = 0,
    ) -> None:
        super().__init__()
        check_dataset(dataset, "grain.JoinedSource")
        draws = SourceDraws.of(seed, None, "", features)
        draws.warn_of_seed()
        self._seed = draws.seed
        if natural("batch_size", batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        self._order_over = order_over(dataset, order)
        warn_if_empty(order)
        self._dataset, self._order, self._batch_size = dataset, order, batch_size
        self._parser = parser_of_batches(features, None, dataset._header())
        self._features = kept_features(features)
        self._missing: Missing = missing
        self._first_batch, self._later_batch = self._checks()
        self._drops = drop_remainder
        whole, rest = divmod(len(order), batch_size)
        self._length = whole + (rest > 0 and not drop_remainder)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.slice(index)
        epoch, batch = divmod(index, self._length)
        first = batch * self._batch_size
        end = min(first + self._batch_size, len(self._order))
        with self._dataset._advised(self._features or {}):
            batch = self._read(epoch, np.arange(first, end, dtype=np.uint64))
        if self._parser is None:
            return [bytes(record) for record in batch]
        self._check_batch(index, batch)
        if not self._order.row_width:
            return _with_lengths(columns_of(batch))
        columns = rows_of_batch(batch, RowForm.of(self._order_over))
        return _with_lengths(columns) | columns.layout

    def _read(self, epoch: int, positions: UInt64s) -> RecordBatch:
        if self._order.row_width and self._parser is None:
            raise ValueError("the order gives rows: features are missing, with a recmap.Sliced")
        rest = self._order_over, self._parser, self._seed
        records = OrderedRecords(self._dataset, self._order, *rest)
        return cast(RecordBatch, records.read(epoch, positions))

    def _check_batch(self, index: int, batch: RecordBatch) -> None:
        """The first batch of a run decides. Another may be the first that is read, and warns."""
        check = self._later_batch if index else self._first_batch
        check.check(batch)

    @property
    def _element_spec(self) -> Any:
        if self._features is None:
            raise NotImplementedError("batches of records are lists, which have no element_spec")
        is_full = len(self._order) % self._batch_size == 0 or self._drops
        rows = self._batch_size if is_full else None
        width = self._order.row_width
        specs = {
            name: _spec_of(name, feature, (rows,), is_batch=True, width=width)
            for name, feature in self._features.items()
        }
        for name, given in self._features.items():
            feature = feature_of(given)
            if isinstance(feature, FixedLenSequence) and not feature.ragged:
                specs[name_of_lengths(name, self._features)] = Spec((rows,), np.dtype(np.int64))
        if width:
            for name in RowForm.of(self._order_over).names:
                dtype = np.dtype(np.bool_ if name == "mask" else np.int32)
                specs.setdefault(name, Spec((rows, width), dtype))
        return specs

    def __getstate__(self) -> dict[str, Any]:
        rebuilt = dict.fromkeys(("_parser", "_first_batch", "_later_batch", "_order_over"))
        return {**self.__dict__, **rebuilt}

    def _checks(self) -> tuple[FirstBatchCheck, FirstBatchCheck]:
        first, later = (
            FirstBatchCheck(self._dataset, self._features, None, self._missing) for _ in range(2)
        )
        later.warn_only()
        return first, later

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._first_batch, self._later_batch = self._checks()
        self._order_over = order_over(self._dataset, self._order)
        self._parser = parser_of_batches(self._features, None, self._dataset._header())

    def __str__(self) -> str:
        return f"recmap.grain.Batches({self._order.describe()}, {self._batch_size})"
