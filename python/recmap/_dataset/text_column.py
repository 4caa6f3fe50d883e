"""Lifted columns of bytes, which can be compared with str."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .null_column import NullColumn

__all__ = ["TextColumn"]


class TextColumn(np.ndarray):
    """An object array of bytes. In comparisons and `numpy.isin`, a str means its UTF-8.

    Without this, ``column == "de"`` would be False for every record, because a str never equals
    bytes. Arrays that NumPy makes of such columns, as `numpy.concatenate` and `where` do, are also
    of this class.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and any(isinstance(value, NullColumn) for value in inputs):
            result = ufunc(*(np.ma.getdata(value, subok=True) for value in inputs), **options)
            masks = np.broadcast_arrays(result, *map(np.ma.getmaskarray, inputs))[1:]
            return NullColumn(result, np.logical_or.reduce(masks))
        return getattr(ufunc, method)(*(_plain(_encoded(value)) for value in inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(one, NullColumn) for one in types):
            return NotImplemented  # so that NumPy asks that class, which keeps the nulls
        if function not in _COMPARING:
            return _as_texts(super().__array_function__(function, types, args, kwargs))
        compared = [_plain(_encoded(value)) for value in args[:2]]
        named = {
            name: _plain(_encoded(value)) if name in _COMPARED else value
            for name, value in kwargs.items()
        }
        return _as_texts(function(*compared, *args[2:], **named))


# Functions that compare the values of their first two arguments, and the names of these.
_COMPARING = (
    np.isin,
    np.array_equal,
    np.array_equiv,
    np.intersect1d,
    np.setdiff1d,
    np.setxor1d,
    np.union1d,
)
_COMPARED = ("element", "test_elements", "a1", "a2", "ar1", "ar2")


def _as_texts(result: Any) -> Any:
    """Arrays of objects that NumPy made of columns, as columns of texts."""
    if type(result) is tuple:
        return tuple(map(_as_texts, result))
    is_plain = type(result) is np.ndarray and result.dtype == object
    return result.view(TextColumn) if is_plain else result


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, TextColumn) else value


def _encoded(value: Any) -> Any:
    """The value with every str encoded, if it is a str or a sequence of str."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [item.encode() if isinstance(item, str) else item for item in value]
        return _objects(items) if items else value
    if isinstance(value, np.ndarray) and value.dtype.kind in "UT":
        encoded = _objects([item.encode() for item in value.ravel().tolist()])
        return encoded.reshape(value.shape)
    is_objects = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    if is_objects and not isinstance(value, TextColumn):
        return _objects([v.encode() if isinstance(v, str) else v for v in value.tolist()])
    return value


def _objects(items: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(items), object)
    array[:] = items
    return array
