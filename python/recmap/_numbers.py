"""Numbers of records as users give them: lists, ranges, arrays and masks into arrays of uint64."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import OutOfRangeError

Numbers: TypeAlias = "Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]] | slice"
UInt64s: TypeAlias = npt.NDArray[np.uint64]
Int64s: TypeAlias = npt.NDArray[np.int64]


def as_integers(values: object, what: str) -> npt.NDArray[Any]:
    """One dimension of integers; TypeError for anything else, OutOfRangeError beyond 64 bits."""
    if isinstance(values, np.ndarray):
        array = values
    else:
        items = list(values)  # type: ignore[call-overload]
        try:
            array = np.asarray(items)
            if array.dtype.kind not in "iu" or array.dtype.kind == "b":
                array = np.asarray([operator.index(item) for item in items])
        except ValueError:
            raise TypeError(f"{what} are integers, in one dimension") from None
    if array.ndim != 1:
        raise TypeError(f"{what} come in one dimension, not {array.ndim}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        if array.dtype.kind == "O":
            raise OutOfRangeError(f"{what} do not fit 64 bits")
        raise TypeError(f"{what} are integers, not {array.dtype}")
    return array


def as_items(values: object, count: int) -> UInt64s:
    """Indices of items of a sequence of `count`, negative ones counted from its end."""
    array = as_integers(values, "numbers of records")
    if array.dtype.kind == "i" and array.size and int(array.min()) < 0:
        array = np.where(array < 0, array + count, array)
        if int(array.min()) < 0:
            raise OutOfRangeError(f"record {int(array.min()) - count} of {count}")
    if array.size and int(array.max()) >= count:
        raise OutOfRangeError(f"record {int(array.max())} of {count}")
    return np.ascontiguousarray(array, dtype=np.uint64)


def as_mask_or_items(values: object, count: int) -> UInt64s:
    """The same, or the places of what is true in a mask as long as the sequence."""
    array = np.asarray(values) if not isinstance(values, np.ndarray) else values
    if array.dtype == np.bool_:
        if array.shape != (count,):
            raise OutOfRangeError(f"a mask of shape {array.shape} for {count} records")
        return np.flatnonzero(array).astype(np.uint64)
    return as_items(values, count)


def cuts_of(count: int, parts: int) -> list[int]:
    """Where parts of `count` things begin, and the last ends: the first ones have one more."""
    if parts < 1:
        raise ValueError(f"{parts} parts")
    size, more = divmod(count, parts)
    return [part * size + min(part, more) for part in range(parts + 1)]
