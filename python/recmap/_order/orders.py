"""Orders: which record is at which position of an epoch, as pure functions.

docs/formats/order.md specifies every order with test vectors. The same seed always gives the same
order.
"""

from __future__ import annotations

import json
import operator
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, Literal, NoReturn, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from .._base.errors import OutOfRangeError
from .._base.names import suggest_arguments
from .._base.numbers import (
    Int64s,
    UInt64s,
    as_integers,
    as_mask_or_items,
    check_pandas_index,
    is_integer,
    out_of_range,
    seed_of,
    uint64_of,
    without_nulls,
)
from .._base.plural import counted
from .._base.warn import warn_caller
from .._display.text import joined
from .._recmap import Order as _Order

__all__ = [
    "Bucketed",
    "Grouped",
    "Mixture",
    "Order",
    "Sequential",
    "Shuffled",
    "Stratified",
    "Weighted",
    "Windowed",
    "WithReplacement",
]


def pieces_of(order: _Order, epoch: int, positions: UInt64s) -> tuple[Int64s, Int64s]:
    """The pieces of rows, as `Order.pieces` returns those of many positions."""
    items, ends = order.pieces(epoch, positions)
    splits = np.zeros(len(positions) + 1, np.int64)
    splits[1:] = np.frombuffer(ends, np.int64)
    return np.frombuffer(items, np.int64).reshape(-1, 5)[:, :4], splits


def _is_one(number: Any) -> bool:
    """Returns true for an int, or an integer of NumPy that is not an array."""
    return is_integer(number) and not getattr(number, "ndim", 0)


def _as_uint64(positions: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Integers as the extension takes them, without a copy if possible.

    Negative ones become numbers beyond any order.
    """
    if positions.dtype == np.int64 and positions.flags.c_contiguous:
        return positions.view(np.uint64)
    return np.ascontiguousarray(positions, dtype=np.uint64)


class Order:
    """The base class of all orders.

    Orders are immutable, can be pickled, and are safe to use from many threads and after a fork.
    ``len(order)`` is the number of positions of an epoch, which is the same in every epoch.
    """

    _order: _Order
    _arguments: tuple[Any, ...]

    def _set(self, order: _Order, *arguments: Any) -> None:
        self._order = order
        self._arguments = arguments

    def __len__(self) -> int:
        return self._order.count()

    def _of_first(self, n: int) -> Order | None:
        """The order with the same parameters over the first n records. None if the parameters do
        not determine it."""
        first, *others = self._arguments
        made: Any = type(self)
        if isinstance(first, np.ndarray):
            found: Order = made(first[:n], *others)
            return found
        return made(n, *others) if hasattr(first, "__index__") else None

    @overload
    def at(self, epoch: int, positions: int | np.integer[Any]) -> int: ...
    @overload
    def at(
        self, epoch: int, positions: Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]] | slice
    ) -> Int64s: ...
    def at(self, epoch: int, positions: Any) -> Any:
        """The record numbers at positions of an epoch.

        Costs 3 to 10 ns per position in arrays, for most orders.

        Args:
            epoch: the epoch, starting at 0.
            positions: positions from 0 to ``len(order) - 1``. One position gives an int; a list,
                range, slice or integer array gives an int64 array.

        Raises:
            IndexError: a position is out of range.

        >>> order = Sequential(10)
        >>> order.at(0, 3), order.at(5, [9, 0])
        (3, array([9, 0]))
        """
        if _is_one(positions):
            return int(self._at(epoch, as_integers([positions], "positions"))[0])
        if isinstance(positions, slice):
            positions = range(*positions.indices(len(self)))
        if isinstance(positions, range) and positions.step == 1 and len(positions):
            return self._run(epoch, positions.start, len(positions))
        return self._at(epoch, as_integers(positions, "positions"))

    def _run(self, epoch: int, first: int, count: int) -> Int64s:
        if first < 0 or first + count > len(self):
            raise out_of_range(first if first < 0 else first + count - 1, len(self), "position")
        numbers = np.empty(count, np.int64)
        self._order.run(numbers, uint64_of("epoch", epoch), first)
        return numbers

    def _at(self, epoch: int, positions: npt.NDArray[Any]) -> Int64s:
        numbers = np.empty(positions.size, np.int64)
        epoch = uint64_of("epoch", epoch)
        try:
            self._order.at(numbers, epoch, _as_uint64(positions))
        except ValueError:
            self._check_range(positions)
            raise
        return numbers

    def _check_range(self, positions: npt.NDArray[Any]) -> None:
        if positions.size:
            low, high = int(positions.min()), int(positions.max())
            if low < 0 or high >= len(self):
                raise out_of_range(low if low < 0 else high, len(self), "position")

    def _checked(self, positions: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """Positions as the extension takes them."""
        self._check_range(positions)
        return _as_uint64(positions)

    @overload
    def position_of(self, epoch: int, number: int | np.integer[Any]) -> int: ...
    @overload
    def position_of(
        self, epoch: int, number: Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]]
    ) -> Int64s: ...
    def position_of(self, epoch: int, number: Any) -> Any:
        """The positions of records in an epoch: the inverse of `at`.

        One record number gives an int, several give an int64 array.

        Raises:
            IndexError: the order has no record with this number.
            KeyError: a record is not in the epoch.
            ValueError: a record is in the epoch more than once, or the order draws with
                replacement.

        >>> order = Shuffled(1000, seed=7)
        >>> order.position_of(3, order.at(3, 123))
        123
        """
        if _is_one(number):
            return int(self.position_of(epoch, [number])[0])
        numbers = as_integers(number, "numbers of records")
        if numbers.size and int(numbers.min()) < 0:
            raise OutOfRangeError(f"record {int(numbers.min())} is out of range: it is negative")
        limit = self._order.number_limit()
        if numbers.size and int(numbers.max()) >= limit:
            raise OutOfRangeError(
                f"record {int(numbers.max())} is out of range: the order has only numbers below "
                f"{limit}"
            )
        positions = np.empty(numbers.size, np.int64)
        epoch = uint64_of("epoch", epoch)
        self._order.position_of(positions, epoch, np.ascontiguousarray(numbers, dtype=np.uint64))
        return positions

    @overload
    def pieces(self, epoch: int, positions: int | np.integer[Any]) -> Int64s: ...
    @overload
    def pieces(
        self, epoch: int, positions: Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]] | slice
    ) -> tuple[Int64s, Int64s]: ...
    def pieces(self, epoch: int, positions: Any) -> Any:
        """The pieces of records that the rows at positions of an epoch consist of.

        Args:
            epoch: from 0 on.
            positions: one, or many as for `at`.

        Returns:
            For one position an array of int64 with a line for each piece: record number, first
            element, element count. For many positions (pieces, splits): row i has the lines
            splits[i] to splits[i + 1], and a fourth column says where in the row a piece begins.

        Raises:
            ValueError: this order is over records. Rows come from `Chunked`, `Packed` and
                `Windows`, and from mixtures and selections of these.
            IndexError: a position is out of range.

        Cost: about 2 microseconds a row, once the order has prepared the epoch.
        """
        if _is_one(positions):
            return self._pieces(epoch, as_integers([positions], "positions"))[0][:, :3]
        if isinstance(positions, slice):
            positions = range(*positions.indices(len(self)))
        return self._pieces(epoch, as_integers(positions, "positions"))

    def _pieces(self, epoch: int, positions: npt.NDArray[Any]) -> tuple[Int64s, Int64s]:
        return pieces_of(self._order, uint64_of("epoch", epoch), self._checked(positions))

    @property
    def row_width(self) -> int:
        """The largest number of elements of a row; 0 for an order over records."""
        return self._order.row_width()

    def prepare(self, epoch: int) -> None:
        """Makes what the order needs for an epoch, so that its first row does not wait for it.

        Call it for the next epoch from another thread. Does nothing for orders that need nothing.
        """
        self._order.prepare(uint64_of("epoch", epoch))

    def select(self, numbers: Iterable[SupportsIndex] | npt.NDArray[Any] | slice) -> Order:
        """The same order over other records: it gives numbers[i] instead of i.

        Args:
            numbers: record numbers, or a mask over records: at least as many as this order covers.
                A range takes no memory.
        """
        return _View(self, numbers)

    def __getitem__(self, index: object) -> NoReturn:
        # `for number in order`, list(order) and DataLoader(sampler=order) also call this.
        raise TypeError(
            "an order has many epochs: write order.at(epoch, positions), such as "
            "order.at(0, range(len(order))); for a DataLoader, recmap.torch.Sampler(order)"
        )

    @property
    def batch_count(self) -> int:
        """The number of batches per epoch if the order makes its own batches, else 0."""
        return self._order.batch_count()

    def batch(self, epoch: int, index: int) -> range:
        """The positions of a batch, if the order makes its own batches."""
        epoch, index = uint64_of("epoch", epoch), uint64_of("index", index)
        first, count = self._order.batch(epoch, index)
        return range(first, first + count)

    def describe(self) -> str:
        """The canonical description, a JSON object: orders are equal if their descriptions are."""
        return self._order.describe()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(self.describe())

    def _repr_html_(self) -> str:
        from .._display.tables import facts_html
        from .order_plot import order_plot

        has_rows, limit = self.row_width > 0, self._order.record_limit()
        facts = {"rows" if has_rows else "positions": len(self), **facts_of(self)}
        picture = order_plot(self._first_records, len(self), limit, has_rows)
        return facts_html(f"recmap.{self._name()}", facts, picture)

    def _first_records(self, positions: Int64s) -> Int64s:
        """The record at each position of epoch 0, or with which its row begins. A row of only
        padding gets the record of the next row."""
        if not self.row_width:
            return self.at(0, positions)
        pieces, splits = self.pieces(0, positions)
        if not len(pieces):
            return np.zeros(len(positions), np.int64)
        numbers: Int64s = pieces[np.minimum(splits[:-1], len(pieces) - 1), 0]
        return numbers

    def _name(self) -> str:
        return "Order" if isinstance(self, _View) else type(self).__name__

    def __repr__(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in facts_of(self).items())
        length = counted(len(self), "row" if self.row_width else "position")
        return f"<recmap.{self._name()} of {length}{': ' if facts else ''}{facts}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


def _count(n: Any) -> int:
    if not is_integer(n):
        hint = ": write len(data_set)" if hasattr(n, "__len__") else ""
        raise TypeError(f"n must be the number of records, an integer, not {n!r}{hint}")
    return uint64_of("n", n)


class Sequential(Order):
    """Record i at position i.

    >>> Sequential(5).at(0, range(5))
    array([0, 1, 2, 3, 4])
    """

    @suggest_arguments
    def __init__(self, n: int) -> None:
        self._set(_Order.sequential(_count(n)), n)


class Shuffled(Order):
    """A different permutation of all n records in each epoch. Takes no memory.

    >>> sorted(Shuffled(5, seed=1).at(0, range(5)).tolist())
    [0, 1, 2, 3, 4]
    """

    @suggest_arguments
    def __init__(self, n: int, seed: int = 0) -> None:
        self._set(_Order.shuffled(_count(n), seed_of(seed)), n, seed)


class Windowed(Order):
    """Shuffles blocks of `block` records, then the records of each window of `window` blocks.

    Reads are nearly sequential, which suits disks: a reader is always within one window.
    """

    @suggest_arguments
    def __init__(self, n: int, block: int, window: int, seed: int = 0) -> None:
        sizes = uint64_of("block", block), uint64_of("window", window)
        self._set(_Order.windowed(_count(n), *sizes, seed_of(seed)), n, block, window, seed)


def _size(size: int | None) -> int:
    if size is None:
        return 0
    if uint64_of("size", size) < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    return size


class WithReplacement(Order):
    """Draws `size` records per epoch (None: n), each with equal probability."""

    @suggest_arguments
    def __init__(self, n: int, seed: int = 0, size: int | None = None) -> None:
        self._set(_Order.with_replacement(_count(n), seed_of(seed), _size(size)), n, seed, size)


class Weighted(Order):
    """Draws `size` records per epoch (None: as many as weights), in proportion to their weights.

    Args:
        weights: the weight of each record, not negative. Records with weight 0 are never drawn.
    """

    @suggest_arguments
    def __init__(self, weights: npt.ArrayLike, seed: int = 0, size: int | None = None) -> None:
        array = _vector(weights, np.float64, "weights")
        self._set(_Order.weighted(array, seed_of(seed), _size(size)), array, seed, size)


def _vector(values: npt.ArrayLike, dtype: Any, what: str) -> npt.NDArray[Any]:
    check_pandas_index(values, f"the {what}")
    values = without_nulls(values, what)
    given: npt.NDArray[Any] = np.empty(0)
    array = None
    try:
        given = np.asarray(values)
        array = given.astype(dtype) if _are_numbers(given) else None
    except OverflowError:
        raise ValueError(f"{what} do not fit 64 bits") from None
    except (TypeError, ValueError):
        pass  # reported below
    if array is None:
        noun = "integers" if dtype is np.int64 else "numbers"
        raise TypeError(f"{what} must be a list or array of {noun}, not {reprlib.repr(values)}")
    if dtype is np.int64 and (array != given).any():
        if given.dtype.kind != "f":
            raise ValueError(f"{what} do not fit 64 bits")
        raise TypeError(f"{what} must be integers, not {given[array != given][0]}")
    array = np.array(array, order="C", ndmin=1)  # a copy: the caller may change `values`
    if array.ndim != 1:
        raise ValueError(f"{what} must have one dimension, not {array.ndim}")
    return array


def _are_numbers(array: npt.NDArray[Any]) -> bool:
    """Returns true unless NumPy would convert texts, dates or complex numbers to numbers."""
    if array.dtype.kind == "O":
        return all(isinstance(item, Number) for item in array.flat) and not any(
            isinstance(item, complex) for item in array.flat
        )
    return array.dtype.kind not in "USmMc"


def _labels(groups: npt.ArrayLike, what: str) -> Int64s:
    """Labels as integers. Strings and bytes are replaced by their rank among all labels."""
    check_pandas_index(groups, f"the {what}")
    array = np.asarray(without_nulls(groups, what))
    if array.ndim == 1 and array.dtype.kind in "USO" and array.size:
        array = np.unique(array, return_inverse=True)[1]
    if array.size and array.dtype.kind not in "iub":
        raise TypeError(f"{what} must be integers, strings or bytes, not {array.dtype}")
    return _vector(array, np.int64, what)


class Grouped(Order):
    """Shuffled batches of up to `batch_size` records of the same group. Uses each record once.

    Args:
        groups: a label for each record. Records with equal labels form a group.
    """

    @suggest_arguments
    def __init__(self, groups: npt.ArrayLike, batch_size: int, seed: int = 0) -> None:
        labels = _labels(groups, "groups")
        size = uint64_of("batch_size", batch_size)
        self._set(_Order.grouped(labels, size, seed_of(seed)), labels, batch_size, seed)


class Bucketed(Order):
    """Batches of records with similar lengths. Uses each record once.

    Pass either `batch_size` or `token_budget`.

    Args:
        lengths: the length of each record.
        bounds: ascending upper limits: bucket i has the lengths below bounds[i], and a last bucket
            has the rest.
        batch_size: the number of records in a batch.
        token_budget: the number of tokens in a batch, where each record counts as many tokens as
            the longest record in its bucket.
    """

    @suggest_arguments
    def __init__(
        self,
        lengths: npt.ArrayLike,
        bounds: Sequence[int],
        batch_size: int | None = None,
        token_budget: int | None = None,
        seed: int = 0,
    ) -> None:
        array, edges = _labels(lengths, "lengths"), _vector(bounds, np.int64, "bounds")
        size = uint64_of("batch_size", batch_size or 0)
        budget = uint64_of("token_budget", token_budget or 0)
        order = _Order.bucketed(array, edges, size, budget, seed_of(seed))
        self._set(order, array, edges, batch_size, token_budget, seed)


class Stratified(Order):
    """Batches of `batch_size` records that contain each label in proportion to all records."""

    @suggest_arguments
    def __init__(self, groups: npt.ArrayLike, batch_size: int, seed: int = 0) -> None:
        labels = _labels(groups, "groups")
        size = uint64_of("batch_size", batch_size)
        self._set(_Order.stratified(labels, size, seed_of(seed)), labels, batch_size, seed)


Weights: TypeAlias = "npt.ArrayLike | Mapping[int, npt.ArrayLike]"


class Mixture(Order):
    """Interleaves orders in proportion to their weights.

    The sources' records are numbered consecutively: source 1's follow source 0's.
    Mixing is deterministic: the first t positions contain each source's exact share, rounded up or
    down. The sources have their own seeds.

    Args:
        weights: a weight per order; or weights that change, as {position of the run: weights}. The
            first position is 0. Positions of a run are counted over all epochs. Every source
            continues where it was, and the shares are exact from each change on. A weight of 0
            leaves the source out, until the next change if there is one. Not all are 0.
        stop: an epoch ends when the "first" or the "last" source is exhausted, or after this many
            positions.

    >>> order = Mixture([Sequential(6), Sequential(6)], {0: [1, 0], 4: [1, 3]})
    >>> order.at(0, range(10))
    array([0, 1, 2, 3, 4, 6, 7, 8, 5, 9])
    """

    @suggest_arguments
    def __init__(
        self,
        orders: Sequence[Order],
        weights: Weights,
        stop: Literal["first", "last"] | int = "first",
    ) -> None:
        length = 0 if isinstance(stop, str) or not _is_one(stop) else operator.index(stop)
        if stop not in ("first", "last") and length <= 0:
            raise ValueError(f'stop must be "first", "last" or a number of positions, not {stop!r}')
        self._changes = _changes_of(weights)
        positions = np.array(list(self._changes), np.uint64)
        sources = [order_of(order) for order in orders]
        for array in self._changes.values():
            if len(array) != len(sources):
                raise ValueError(
                    f"{counted(len(array), 'weight')} for {counted(len(sources), 'order')}"
                )
        table = np.concatenate([np.empty(0), *self._changes.values()])
        order = _Order.mixture(sources, positions, table, stop == "last", length)
        self._set(order, list(orders), self._changes, stop)
        self._warn_of_small_weights()

    def _warn_of_small_weights(self) -> None:
        """A period has at most 2^20 positions, and each source has at least one of them."""
        least = 2.0**-20
        for weights in self._changes.values():
            scaled = weights / weights.max()
            asked = scaled / scaled.sum()
            small = np.flatnonzero((asked > 0) & (asked < least / 1.5))
            if len(small):
                warn_caller(
                    f"source {small[0]} has {asked[small[0]]:.2g} of the weights, but a mixture "
                    f"gives a source at least {least:.2g} of the positions: give it a larger "
                    "weight, or 0 to leave it out"
                )
                return

    @suggest_arguments
    def continued(
        self,
        epoch: int,
        position: int,
        weights: Weights,
        add: Sequence[Order] = (),
    ) -> Mixture:
        """The mixture that continues a run of this one with other weights, or more sources.

        All positions before (epoch, position) keep their records, and the sources continue where
        they were. An epoch has as many positions as before. ``loader.load_state_dict(state,
        order=continued)`` continues the run.

        Args:
            epoch, position: where the weights change: the epoch and position of a state.
            weights: as for the mixture, for the old sources and then the added ones; positions of
                the run in a mapping are not before this one. They replace changes that the mixture
                has planned from there on.
            add: more orders. Their records are numbered after those of the old sources.

        Raises:
            ValueError: the position is not in the epoch, or the weights do not fit.

        >>> order = Mixture([Sequential(100), Sequential(100)], [1, 1])
        >>> later = order.continued(0, 4, [1, 1, 2], add=[Sequential(50)])
        >>> later.at(0, range(8)), len(later) == len(order)
        (array([  0, 100,   1, 101,   2, 200, 102, 201]), True)
        """
        if epoch < 0 or not 0 <= position <= len(self):
            raise ValueError(
                f"epoch {epoch}, position {position} does not exist: an epoch has {len(self)}"
            )
        start = operator.index(epoch) * len(self) + operator.index(position)
        later = _changes_of(weights, start)
        if min(later, default=start) < start:
            raise ValueError(
                f"weights cannot change at position {min(later)} of the run: it is before "
                f"epoch {epoch}, position {position}, which is position {start} of the run"
            )
        none = np.zeros(len(add))
        changes: dict[int, npt.ArrayLike] = {
            old: np.concatenate([array, none])
            for old, array in self._changes.items()
            if old < start or not old  # the first weights hold up to the first change
        }
        return Mixture([*self._arguments[0], *add], {**changes, **later}, stop=len(self))


def _changes_of(weights: Weights, start: int = 0) -> dict[int, npt.NDArray[np.float64]]:
    """Weights by the position of the run from which on they hold, ascending."""
    if not isinstance(weights, Mapping):
        return {start: _vector(weights, np.float64, "weights")}
    for position in weights:
        if not _is_one(position) or position < 0:
            raise ValueError(f"positions of weights must be integers from 0 on, not {position!r}")
    return {
        uint64_of("a position of weights", position): _vector(
            weights[position], np.float64, "weights"
        )
        for position in sorted(weights)
    }


class _View(Order):
    """The result of `Order.select`."""

    def __init__(self, base: Order, numbers: Any) -> None:
        if isinstance(numbers, slice):
            numbers = range(*numbers.indices(base._order.record_limit()))
        if isinstance(numbers, range) and (len(numbers) == 0 or min(numbers[0], numbers[-1]) >= 0):
            first = numbers.start if len(numbers) else 0
            order = base._order.view_range(first, len(numbers), numbers.step)
        else:
            numbers = as_integers_or_mask(numbers)
            order = base._order.view_list(numbers)
        self._set(order, base, numbers)


def _is_plain(value: object) -> bool:
    """Returns true if it is a number or a word; a digest is a str of 32 digits."""
    return isinstance(value, int) or (isinstance(value, str) and len(value) != 32)


def facts_of(order: Order) -> dict[str, Any]:
    """What an order's description says in words and numbers; digests are left out."""
    facts: dict[str, Any] = {}
    for key, value in json.loads(order.describe()).items():
        if key == "sources":
            facts[key] = joined((source["kind"] for source in value), len(value), 4)
        elif key == "of":
            facts["base"] = value["kind"]
        elif key not in ("kind", "rows") and _is_plain(value):
            facts["records" if key == "n" else key.replace("_", " ")] = value
    if facts.get("records") == len(order):
        del facts["records"]
    return facts


def order_of(given: Any) -> _Order:
    """The extension's object of an order."""
    if hasattr(given, "columns"):  # a data set
        raise TypeError(
            "an order must be a recmap.Shuffled, Weighted, ..., not a data set: write "
            "recmap.Shuffled(len(dataset))"
        )
    if not isinstance(given, Order):
        raise TypeError(
            "an order must be a recmap.Shuffled, Weighted, ..., not "
            f"{reprlib.repr(given)}; for a list of record numbers, load a view: ds.select(numbers)"
        )
    return given._order


def check_rows_fit(order: Order, count: int) -> None:
    """Raises ValueError unless the rows of an order are cut from a data set of `count` records."""
    limit = order._order.record_limit()
    if limit != count and (limit > count or not _selects(order)):
        raise ValueError(
            f"the order was made from the counts of {counted(limit, 'record')}, but the data set "
            f"has {count}"
        )


def check_fits(order: Order, count: int) -> None:
    """Raises ValueError unless the order covers a data set of `count` records.

    An order may only cover fewer records if they were selected: `Order.select` says which.
    """
    if order_of(order).row_width():
        raise ValueError("the order gives rows, not records: see order.pieces(epoch, position)")
    limit = order_of(order).number_limit()
    if limit > count or (limit < count and not _selects(order)):
        advice = (
            ""
            if limit > count
            else (f"; to load a part, use a view (ds[:{limit}]) or order.select(range({limit}))")
        )
        raise ValueError(
            f"the order covers {counted(limit, 'record')}, but the data set has {count}{advice}"
        )


def _selects(order: Order) -> bool:
    """Returns true if the records of an order, or of a source of a mixture, were selected."""
    if isinstance(order, Mixture):
        return any(map(_selects, order._arguments[0]))
    return isinstance(order, _View)


def as_integers_or_mask(values: object) -> npt.NDArray[np.uint64]:
    """The record numbers of a selection. Negative ones are errors: no length is known here."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.dtype == np.bool_:
        check_pandas_index(values, "the values of the mask")
        return as_mask_or_items(array, array.size)
    array = as_integers(values, "numbers of records")
    if array.size and int(array.min()) < 0:
        raise OutOfRangeError(f"record {int(array.min())} is out of range: it is negative")
    return np.array(array, dtype=np.uint64, order="C")  # the caller may change `values`
