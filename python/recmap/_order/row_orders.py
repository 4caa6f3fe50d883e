"""Row orders: fixed-length rows of tokens and windows of episodes, as pure functions.

docs/formats/rows.md specifies each kind, with test vectors.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._base.names import suggest_arguments
from .._base.numbers import check_pandas_index, uint64_of, without_nulls
from .._base.plural import counted
from .._base.warn import warn_caller
from .._recmap import Counts as _Counts
from .._recmap import Order as _Order
from .orders import Order

__all__ = ["Chunked", "Packed", "RowOrder", "Windows", "warn_if_empty"]

CountsLike: TypeAlias = "npt.ArrayLike | _KeptCounts"


class _KeptCounts:
    """Packed element counts, which pickle as an array of the smallest type that holds them."""

    @suggest_arguments
    def __init__(self, counts: _Counts) -> None:
        self.counts = counts

    def __reduce__(self) -> tuple[Any, ...]:
        values = np.empty(self.counts.record_count(), np.uint64)
        self.counts.run(values, 0)
        return _keep_counts, (values.astype(np.min_scalar_type(self.counts.longest())),)


def _keep_counts(given: Any) -> _KeptCounts:
    """Counts as users give them: packed ones of a data set, or an array of integers."""
    if isinstance(given, _KeptCounts):
        return given
    packed = getattr(given, "_packed_counts", None)
    if packed is not None:
        return _KeptCounts(packed)
    if hasattr(given, "counts"):
        raise TypeError("counts must be an array, not a data set: pass ds.counts[FEATURE]")
    check_pandas_index(given, "the counts")
    array = np.asarray(without_nulls(given, "counts"))
    if array.ndim != 1:
        raise ValueError(f"counts must have one dimension, not {array.ndim}")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"counts are integers, not {array.dtype}")
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        record = int(np.argmax(array < 0))
        raise ValueError(f"the count of record {record} is {array[record]}: it is below 0")
    unsigned = np.dtype(f"u{array.itemsize}") if array.size else np.dtype(np.uint8)
    return _KeptCounts(_Counts.make(np.ascontiguousarray(array.astype(unsigned, copy=False))))


# True while an order is unpickled, which warns of nothing again.
_is_remade: ContextVar[bool] = ContextVar("_is_remade", default=False)


def _remake(kind: type[RowOrder], arguments: dict[str, Any]) -> RowOrder:
    token = _is_remade.set(True)
    try:
        return kind(**arguments)
    finally:
        _is_remade.reset(token)


def _check_numbers(**numbers: Any) -> None:
    for name, value in numbers.items():
        uint64_of(name, value)


class RowOrder(Order):
    """What row orders can do besides what all orders can.

    ``order.at(epoch, position)`` is the number of a row; ``order.pieces`` says what is in it.
    """

    _options: dict[str, Any]

    def _of_first(self, n: int) -> Order | None:
        """None: the order does not keep how many elements each record has."""
        return None

    def _set_rows(self, order: _Order, advice: str, **options: Any) -> None:
        self._order = order
        self._options = options
        total, lacking = order.elements()
        if advice and len(self) and lacking > total // 10 and not _is_remade.get():
            share = f"{counted(total, 'element')} ({lacking / total:.0%})"
            warn_caller(f"the rows leave out {lacking} of {share}: {advice}")

    @property
    def left_out(self) -> int:
        """How many elements of all records no row of an epoch has: those that `long` drops or
        truncates, the end that fills no row, and steps that no window reaches."""
        return self._order.elements()[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self), self._options)


def warn_if_empty(order: Order) -> None:
    """Warns of an order without records or rows, which trains on nothing."""
    if len(order):
        return
    if not order.row_width:
        warn_caller(
            "there are no steps: the order has no records. Check the data set, the selection of "
            "its records, and the arguments of the order"
        )
        return
    reason = f"a row has {counted(order.row_width, 'element')}"
    if isinstance(order, RowOrder):
        longest = order._options["counts"].counts.longest()
        if longest:
            reason += f", and the longest record has {longest}"
        else:
            reason = "no record has elements"
    warn_caller(f"the order has no rows: {reason}")


class Chunked(RowOrder):
    """The documents of an epoch joined into a stream, which is cut into rows of `size` elements.

    Every element occurs once per epoch, apart from the overlap and a tail shorter than a row. Rows
    are shuffled. `left_out` counts the elements of the tail; more than a tenth of all warns.

    Args:
        counts: the number of elements of each record: ``ds.counts["input_ids"]``, or an array of
            integers.
        size: elements from the start of a row to the start of the next one.
        overlap: elements of the next row that a row also has: 1 for inputs and shifted targets.
        add: elements that are added to each document that has any, such as BOS and EOS.
        documents: "shuffled" in every epoch, or as they are "stored".
        last: what happens to the elements at the end that do not fill a row: "drop" leaves them
            out, "pad" gives one shorter row.
        seed: of the shuffling: the same seed gives the same rows.

    Shuffled documents need a table of 1/16 byte a document for each of two epochs. It is made when
    an epoch is first asked for, in about 10 ns a document and core, or by ``order.prepare(epoch)``.

    >>> order = Chunked([5, 0, 3, 6], 4, overlap=1, add=1, seed=7)
    >>> len(order), order.pieces(0, 1).tolist()
    (4, [[3, 6, 1], [2, 0, 4]])
    """

    @suggest_arguments
    def __init__(
        self,
        counts: CountsLike,
        size: int,
        *,
        overlap: int = 0,
        add: int = 0,
        documents: Literal["shuffled", "stored"] = "shuffled",
        last: Literal["drop", "pad"] = "drop",
        seed: int = 0,
    ) -> None:
        kept = _keep_counts(counts)
        stored = _choose(documents, ("shuffled", "stored"), "documents")
        padded = _choose(last, ("drop", "pad"), "last")
        _check_numbers(size=size, overlap=overlap, add=add, seed=seed)
        self._set_rows(
            _Order.chunked(kept.counts, size, overlap, add, stored, padded, seed),
            'last="pad" gives the end as a shorter row',
            counts=kept,
            size=size,
            overlap=overlap,
            add=add,
            documents=documents,
            last=last,
            seed=seed,
        )


class Packed(RowOrder):
    """Documents packed into rows of at most `size` elements: whole ones, and pieces of longer ones.

    Documents are taken in shuffled order, in groups of `group`, and each group is packed best-fit
    decreasing. The rows are the same in every epoch; their order is another one. `left_out` counts
    the elements that `long` truncates or drops; more than a tenth of all warns.

    Args:
        counts: as for `Chunked`.
        size: the largest number of elements of a row.
        add: elements that are added to each document that has any, such as BOS and EOS.
        long: what happens to documents longer than a row: "split" into rows and a rest, "truncate"
            to the first `size` elements, or "drop".
        group: documents that are packed together, at most 65,536. Larger groups fill rows better.
        seed: as for `Chunked`.

    Making one packs all documents once, in about 20 ns a document and core.

    >>> order = Packed([5, 0, 3, 6, 2], 8, seed=7)
    >>> len(order), order.fill
    (2, 1.0)
    """

    @suggest_arguments
    def __init__(
        self,
        counts: CountsLike,
        size: int,
        *,
        add: int = 0,
        long: Literal["split", "truncate", "drop"] = "split",
        group: int = 4096,
        seed: int = 0,
    ) -> None:
        kept = _keep_counts(counts)
        rule = _choose(long, ("split", "truncate", "drop"), "long")
        _check_numbers(size=size, add=add, group=group, seed=seed)
        self._set_rows(
            _Order.packed(kept.counts, size, add, rule, group, seed),
            f'long="{long}" does so with documents longer than a row: "split" keeps all of them',
            counts=kept,
            size=size,
            add=add,
            long=long,
            group=group,
            seed=seed,
        )

    @property
    def fill(self) -> float:
        """The share of the places in all rows that hold elements; 0 without rows."""
        return self._order.fill()


class Windows(RowOrder):
    """Every stretch of `size` consecutive elements of each record, `stride` apart, all shuffled.

    Args:
        counts: the number of steps of each record, as for `Chunked`.
        size: the number of steps of a window.
        stride: steps from the start of a window to the start of the next one.
        pad: how far windows reach past the start and the end of a record, (before, after); both
            below `size`. ``pieces`` has only the steps that exist.
        seed: as for `Chunked`.

    >>> order = Windows([3, 1], 2, seed=7)
    >>> sorted(order.pieces(0, position).tolist() for position in range(len(order)))
    [[[0, 0, 2]], [[0, 1, 2]]]
    """

    @suggest_arguments
    def __init__(
        self,
        counts: CountsLike,
        size: int,
        *,
        stride: int = 1,
        pad: tuple[int, int] = (0, 0),
        seed: int = 0,
    ) -> None:
        kept = _keep_counts(counts)
        try:
            before, after = pad
        except (TypeError, ValueError):
            raise TypeError(f"pad must be two numbers, (before, after), not {pad!r}") from None
        _check_numbers(size=size, stride=stride, seed=seed)
        before, after = (uint64_of("pad", value) for value in (before, after))
        self._set_rows(
            _Order.windows(kept.counts, size, stride, before, after, seed),
            ""
            if stride > size
            else "records shorter than a window have none: use a smaller size, or pad=",
            counts=kept,
            size=size,
            stride=stride,
            pad=(before, after),
            seed=seed,
        )


def _choose(given: str, names: tuple[str, ...], what: str) -> int:
    if given not in names:
        listed = " or ".join(f'"{name}"' for name in names)
        raise ValueError(f"{what} is {listed}, not {given!r}")
    return names.index(given)
