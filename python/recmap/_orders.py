"""Orders: which record stands at which position of an epoch, as pure functions.

Every order is specified in docs/order.md with test vectors; a seed gives the same for ever.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from ._errors import OutOfRangeError
from ._numbers import Int64s, as_integers, as_mask_or_items
from ._recmap import Order as _Order

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


def _is_one(number: Any) -> bool:
    """An int, or an integer of NumPy's."""
    return hasattr(number, "__index__") and not getattr(number, "ndim", 0)


class Order:
    """What all orders can do. Immutable; safe among threads, over fork, and to pickle.

    ``len(order)`` is the number of positions of an epoch, the same in every epoch.
    """

    _order: _Order
    _arguments: tuple[Any, ...]

    def _set(self, order: _Order, *arguments: Any) -> None:
        self._order = order
        self._arguments = arguments

    def __len__(self) -> int:
        return self._order.count()

    @overload
    def at(self, epoch: int, positions: int | np.integer[Any]) -> int: ...
    @overload
    def at(
        self, epoch: int, positions: Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]] | slice
    ) -> Int64s: ...
    def at(self, epoch: int, positions: Any) -> Any:
        """The records at positions of an epoch.

        Args:
            epoch: from 0 on.
            positions: one (gives an int), or many: a list, a range, a slice, an array of integers
                (gives an array of int64 of that length). From 0 to ``len(order) - 1``.

        Raises:
            IndexError: a position is out of range.

        Cost: 3 to 10 ns a position in arrays, for all orders but few.

        >>> order = Sequential(10)
        >>> order.at(0, 3), order.at(5, [9, 0])
        (3, array([9, 0]))
        """
        if _is_one(positions):
            return int(self._at(epoch, np.array([operator.index(positions)]))[0])
        if isinstance(positions, slice):
            positions = range(*positions.indices(len(self)))
        if isinstance(positions, range) and positions.step == 1 and len(positions):
            return self._run(epoch, positions.start, len(positions))
        return self._at(epoch, as_integers(positions, "positions"))

    def _run(self, epoch: int, first: int, count: int) -> Int64s:
        if first < 0 or first + count > len(self):
            raise OutOfRangeError(f"positions {first} to {first + count - 1} of {len(self)}")
        numbers = np.empty(count, np.int64)
        self._order.run(numbers, epoch, first)
        return numbers

    def _at(self, epoch: int, positions: npt.NDArray[Any]) -> Int64s:
        if positions.size:
            low, high = int(positions.min()), int(positions.max())
            if low < 0 or high >= len(self):
                raise OutOfRangeError(f"position {low if low < 0 else high} of {len(self)}")
        numbers = np.empty(positions.size, np.int64)
        self._order.at(numbers, epoch, np.ascontiguousarray(positions, dtype=np.uint64))
        return numbers

    @overload
    def position_of(self, epoch: int, number: int | np.integer[Any]) -> int: ...
    @overload
    def position_of(
        self, epoch: int, number: Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]]
    ) -> Int64s: ...
    def position_of(self, epoch: int, number: Any) -> Any:
        """Where records come in an epoch: one (gives an int) or many (an array of int64).

        Raises:
            KeyError: a record does not come in the epoch.
            ValueError: a record comes more than once, or the order draws with replacement.

        >>> order = Shuffled(1000, seed=7)
        >>> order.position_of(3, order.at(3, 123))
        123
        """
        if _is_one(number):
            return int(self.position_of(epoch, [number])[0])
        numbers = as_integers(number, "numbers of records")
        if numbers.size and int(numbers.min()) < 0:
            raise OutOfRangeError(f"record {int(numbers.min())}")
        positions = np.empty(numbers.size, np.int64)
        self._order.position_of(positions, epoch, np.ascontiguousarray(numbers, dtype=np.uint64))
        return positions

    def select(self, numbers: Iterable[SupportsIndex] | npt.NDArray[Any] | slice) -> Order:
        """The same order over other records: where this one gives i, the view gives numbers[i].

        Args:
            numbers: records, or a mask over records: as many as the order's own, or more. A range
                costs no memory.
        """
        return _View(self, numbers)

    @property
    def batch_count(self) -> int:
        """Batches an epoch of an order that makes its own; 0: it makes none."""
        return self._order.batch_count()

    def batch(self, epoch: int, index: int) -> range:
        """The positions of a batch of an order that makes its own."""
        first, count = self._order.batch(epoch, index)
        return range(first, first + count)

    def describe(self) -> str:
        """The canonical description, one JSON object: equal texts mean equal orders."""
        return self._order.describe()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(self.describe())

    def __repr__(self) -> str:
        return f"recmap.{type(self).__name__}<{self.describe()}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


class Sequential(Order):
    """Record i at position i.

    >>> Sequential(5).at(0, range(5))
    array([0, 1, 2, 3, 4])
    """

    def __init__(self, n: int) -> None:
        self._set(_Order.sequential(n), n)


class Shuffled(Order):
    """Another permutation of all n records in each epoch; no memory.

    >>> sorted(Shuffled(5, seed=1).at(0, range(5)).tolist())
    [0, 1, 2, 3, 4]
    """

    def __init__(self, n: int, seed: int = 0) -> None:
        self._set(_Order.shuffled(n, seed), n, seed)


class Windowed(Order):
    """Blocks of `block` records, shuffled; in each window of `window` blocks all records shuffled.

    Near sequential reading, for disks: at any time a reader is within one window.
    """

    def __init__(self, n: int, block: int, window: int, seed: int = 0) -> None:
        self._set(_Order.windowed(n, block, window, seed), n, block, window, seed)


def _size(size: int | None) -> int:
    if size is not None and size < 1:
        raise ValueError(f"an epoch of {size} draws")
    return size or 0


class WithReplacement(Order):
    """`size` draws an epoch (None: n), each of any record alike."""

    def __init__(self, n: int, seed: int = 0, size: int | None = None) -> None:
        self._set(_Order.with_replacement(n, seed, _size(size)), n, seed, size)


class Weighted(Order):
    """`size` draws an epoch (None: as many as weights), record i in proportion to weights[i].

    Args:
        weights: array of float64, none negative; a weight of 0 never comes.
    """

    def __init__(self, weights: npt.ArrayLike, seed: int = 0, size: int | None = None) -> None:
        array = _vector(weights, np.float64, "weights")
        self._set(_Order.weighted(array, seed, _size(size)), array, seed, size)


def _vector(values: npt.ArrayLike, dtype: Any, what: str) -> npt.NDArray[Any]:
    try:
        array = np.ascontiguousarray(values, dtype=dtype)
    except OverflowError:
        raise ValueError(f"{what} do not fit 64 bits") from None
    if array.ndim != 1:
        raise ValueError(f"{what} come in one dimension, not {array.ndim}")
    return array


def _labels(groups: npt.ArrayLike, what: str) -> Int64s:
    """Labels as integers; texts and bytes get their rank among all of them."""
    array = np.asarray(groups)
    if array.ndim == 1 and array.dtype.kind in "USO" and array.size:
        array = np.unique(array, return_inverse=True)[1]
    if array.size and array.dtype.kind not in "iub":
        raise TypeError(f"{what} are integers, texts or bytes, not {array.dtype}")
    return _vector(array, np.int64, what)


class Grouped(Order):
    """Batches of up to `batch_size` records of one group, in shuffled order; each record once.

    Args:
        groups: a label for each record; records with equal labels make a group.
    """

    def __init__(self, groups: npt.ArrayLike, batch_size: int, seed: int = 0) -> None:
        labels = _labels(groups, "groups")
        self._set(_Order.grouped(labels, batch_size, seed), labels, batch_size, seed)


class Bucketed(Order):
    """Grouped by length: bucket i holds lengths below bounds[i] (ascending), a last one the rest.

    Args:
        batch_size: records a batch; or
        token_budget: tokens a batch, each record counted as long as the longest of its bucket.
    """

    def __init__(
        self,
        lengths: npt.ArrayLike,
        bounds: Sequence[int],
        batch_size: int | None = None,
        token_budget: int | None = None,
        seed: int = 0,
    ) -> None:
        array, edges = _labels(lengths, "lengths"), _vector(bounds, np.int64, "bounds")
        order = _Order.bucketed(array, edges, batch_size or 0, token_budget or 0, seed)
        self._set(order, array, edges, batch_size, token_budget, seed)


class Stratified(Order):
    """Batches of `batch_size` records that hold each label in its share of all records."""

    def __init__(self, groups: npt.ArrayLike, batch_size: int, seed: int = 0) -> None:
        labels = _labels(groups, "groups")
        self._set(_Order.stratified(labels, batch_size, seed), labels, batch_size, seed)


class Mixture(Order):
    """Orders interleaved in proportion to their weights.

    Numbers run on from source to source. Of the first t positions each source has its exact share,
    rounded up or down; the schedule is fixed, the sources have their own seeds.

    Args:
        stop: an epoch ends when the "first" source is exhausted, or the "last".
    """

    def __init__(
        self,
        orders: Sequence[Order],
        weights: npt.ArrayLike,
        stop: Literal["first", "last"] = "first",
    ) -> None:
        if stop not in ("first", "last"):
            raise ValueError(f'stop is "first" or "last", not {stop!r}')
        array = _vector(weights, np.float64, "weights")
        sources = [order_of(order) for order in orders]
        self._set(_Order.mixture(sources, array, stop == "last"), list(orders), array, stop)


class _View(Order):
    """An order over other numbers."""

    def __init__(self, base: Order, numbers: Any) -> None:
        if isinstance(numbers, slice):
            numbers = range(*numbers.indices(base._order.number_limit()))
        if isinstance(numbers, range) and (len(numbers) == 0 or min(numbers[0], numbers[-1]) >= 0):
            first = numbers.start if len(numbers) else 0
            order = base._order.view_range(first, len(numbers), numbers.step)
        else:
            numbers = as_integers_or_mask(numbers)
            order = base._order.view_list(numbers)
        self._set(order, base, numbers)


def order_of(given: Any) -> _Order:
    """What the extension has of an order."""
    if not isinstance(given, Order):
        raise TypeError(f"an order is a recmap.Shuffled, Weighted, ..., not {given!r}")
    return given._order


def check_fits(order: Order, count: int) -> None:
    """ValueError where an order has numbers that a data set of `count` records has not."""
    limit = order_of(order).number_limit()
    if limit > count:
        raise ValueError(f"the order is of {limit} records, there are {count}")


def as_integers_or_mask(values: object) -> npt.NDArray[np.uint64]:
    """Numbers of a view of an order: no sequence bounds them, so none may be negative."""
    array = np.asarray(values)
    if array.dtype == np.bool_:
        return as_mask_or_items(array, array.size)
    array = as_integers(values, "numbers of records")
    if array.size and int(array.min()) < 0:
        raise OutOfRangeError(f"record {int(array.min())}")
    return np.ascontiguousarray(array, dtype=np.uint64)
