"""Lifted columns with nulls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["NullColumn"]


class NullColumn(np.ma.MaskedArray):
    """A masked array with which some functions of NumPy work that otherwise use the values under
    the mask.

    `numpy.isin` is False for nulls, as ``in`` is in an expression. `numpy.sort` and `argsort` put
    them last, and `numpy.unique` has one null, also last. `numpy.concatenate`, `where`, `insert`
    and `delete` keep them, and `median` and `average` leave them out. Functions that would count
    nulls as some value, such as `bincount`, refuse columns in which a value is null.
    """

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _REFUSED:
            return _of_values(function, args, kwargs)
        own = _FUNCTIONS.get(function)
        if own is None and self.ndim == 1:
            own = _OF_COLUMNS.get(function)
        if own is None and function is np.unique:
            return _of_values(function, args, kwargs)
        return own(*args, **kwargs) if own else self._call(function, types, args, kwargs)

    def _call(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return super().__array_function__(function, types, args, kwargs)


def _of_values(function: Any, args: Any, kwargs: Any) -> Any:
    """The function of columns that have no nulls."""
    if any(map(_has_nulls, (*args, *kwargs.values()))):
        raise TypeError(
            f"numpy.{function.__name__} would count nulls as values: pass "
            "column.compressed(), which leaves them out, or column.filled(value)"
        )
    plain = {name: _unmasked(value) for name, value in kwargs.items()}
    return function(*map(_unmasked, args), **plain)


def _has_nulls(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_nulls, value))
    return isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)


def _unmasked(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_unmasked(item) for item in value]
    return np.ma.getdata(value, subok=True) if isinstance(value, NullColumn) else value


def _isin(element: Any, test_elements: Any, *args: Any, **options: Any) -> Any:
    if isinstance(test_elements, np.ma.MaskedArray):
        test_elements = test_elements.compressed()
    found = np.isin(np.ma.getdata(element, subok=True), test_elements, *args, **options)
    return found & ~np.ma.getmaskarray(element)


def _split(column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The values without nulls, their places, and the places of the nulls."""
    mask = np.ma.getmaskarray(column).ravel()
    data = _plain(column).ravel()
    known = np.flatnonzero(~mask)
    return data[known], known, np.flatnonzero(mask)


def _with_nulls(values: npt.NDArray[Any], count: int, like: Any) -> Any:
    """A column like another one, with these values and then so many nulls."""
    data = np.empty(len(values) + count, values.dtype)
    data[: len(values)] = values
    data[len(values) :] = b"" if data.dtype == object else 0
    return _column(data, np.arange(len(data)) >= len(values), like)


def _column(data: npt.NDArray[Any], mask: npt.NDArray[np.bool_], like: Any) -> Any:
    """A column of these values. If it has the type of the column `like`, its texts compare and its
    nulls are filled as there."""
    if data.dtype != like.dtype:
        return NullColumn(data, mask)
    column = NullColumn(data.view(type(np.ma.getdata(like, subok=True))), mask)
    column.fill_value = like.fill_value
    return column


def _plain(values: Any) -> npt.NDArray[Any]:
    return np.asarray(np.ma.getdata(values))


def _first_column(values: Any) -> Any:
    return next((value for value in values if isinstance(value, NullColumn)), None)


def _concatenate(arrays: Any, axis: Any = 0, out: Any = None, **options: Any) -> Any:
    if out is not None:
        raise TypeError("numpy.concatenate of columns with nulls takes no out=")
    arrays = list(arrays)
    data = np.concatenate([_plain(one) for one in arrays], axis, **options)
    mask = np.concatenate([np.ma.getmaskarray(one) for one in arrays], axis)
    like = _first_column(arrays)
    return np.ma.MaskedArray(data, mask) if like is None else _column(data, mask, like)


def _where(condition: Any, *choices: Any) -> Any:
    masked_where: Callable[..., Any] = np.ma.where
    result = masked_where(condition, *choices)
    like = _first_column(choices)
    if like is None:
        return result
    return _column(_plain(result), np.ma.getmaskarray(result), like)


def _places(obj: Any) -> Any:
    """Where to insert or delete."""
    if np.ma.is_masked(obj):
        raise TypeError("places must not be null: `.filled(False)` makes nulls of a mask False")
    return np.ma.getdata(obj) if isinstance(obj, NullColumn) else obj


def _with_masked_items(values: Any) -> Any:
    """A list in which items are `numpy.ma.masked` as an array: NumPy would make them NaN."""
    if not isinstance(values, (list, tuple)):
        return values
    is_masked = [item is np.ma.masked for item in values]
    if not any(is_masked):
        return values
    known = [item for item in values if item is not np.ma.masked]
    filler = known[0] if known else 0
    return np.ma.MaskedArray(
        [filler if item is np.ma.masked else item for item in values], is_masked
    )


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    obj, values = _places(obj), _with_masked_items(values)
    data = np.insert(_plain(arr), obj, _plain(values), axis)
    mask = np.insert(np.ma.getmaskarray(arr), obj, np.ma.getmaskarray(values), axis)
    like = _first_column((arr, values))
    return NullColumn(data, mask) if like is None else _column(data, mask, like)


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    obj = _places(obj)
    if not isinstance(arr, NullColumn):
        return np.delete(arr, obj, axis)
    return _column(
        np.delete(_plain(arr), obj, axis), np.delete(np.ma.getmaskarray(arr), obj, axis), arr
    )


def _count_nonzero(a: Any, axis: Any = None, **options: Any) -> Any:
    is_counted = _plain(a).astype(bool) & ~np.ma.getmaskarray(a)
    return np.count_nonzero(is_counted, axis, **options)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Returns true if nulls are at the same places, and the other values are equal."""
    mask1, mask2 = np.ma.getmaskarray(a1), np.ma.getmaskarray(a2)
    if not np.array_equal(mask1, mask2):
        return False
    known1 = np.ma.getdata(a1, subok=True)[~mask1]
    known2 = np.ma.getdata(a2, subok=True)[~mask2]
    return bool(np.array_equal(known1, known2, equal_nan=equal_nan))


def _sort(a: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
    values, _, nulls = _split(a)
    return _with_nulls(np.sort(values, -1, kind, **options), len(nulls), a)


def _argsort(a: Any, axis: Any = -1, kind: Any = None, **options: Any) -> npt.NDArray[np.intp]:
    values, places, nulls = _split(a)
    return np.concatenate([places[np.argsort(values, -1, kind, **options)], nulls])


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **options: Any,
) -> Any:
    known, places, nulls = _split(ar)
    values, first, inverse, counts = np.unique(known, True, True, True, **options)
    whole = np.full(len(known) + len(nulls), len(values))
    whole[places] = inverse
    results = [_with_nulls(values, min(1, len(nulls)), ar)]
    if return_index:
        results.append(np.concatenate([places[first], nulls[:1]]))
    if return_inverse:
        results.append(whole)
    if return_counts:
        results.append(np.concatenate([counts, [len(nulls)] if len(nulls) else counts[:0]]))
    return tuple(results) if len(results) > 1 else results[0]


_REFUSED = (
    np.allclose,
    np.argpartition,
    np.array_equiv,
    np.bincount,
    np.block,
    np.convolve,
    np.corrcoef,
    np.correlate,
    np.cov,
    np.digitize,
    np.histogram,
    np.histogram2d,
    np.histogram_bin_edges,
    np.histogramdd,
    np.interp,
    np.intersect1d,
    np.lexsort,
    np.nanpercentile,
    np.nanquantile,
    np.pad,
    np.partition,
    np.percentile,
    np.piecewise,
    np.polyfit,
    np.quantile,
    np.searchsorted,
    np.select,
    np.setdiff1d,
    np.setxor1d,
    np.unwrap,
    *(getattr(np, name) for name in ("cumulative_prod", "cumulative_sum") if hasattr(np, name)),
)
_OF_COLUMNS: dict[Any, Callable[..., Any]] = {  # of one dimension
    np.sort: _sort,
    np.argsort: _argsort,
    np.unique: _unique,
}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.isin: _isin,
    np.concatenate: _concatenate,
    np.where: _where,
    np.insert: _insert,
    np.delete: _delete,
    np.median: np.ma.median,
    np.average: np.ma.average,
    np.ptp: np.ma.ptp,
    np.count_nonzero: _count_nonzero,
    np.array_equal: _array_equal,
}
