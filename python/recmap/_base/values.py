"""Values that callers give, in the forms that people have: numbers, texts, lists, and the arrays
and series of NumPy, Arrow, pandas, polars and frameworks. `known` finds their nulls, and `typed`
makes one of the three types of a feature of them: int64, floats of 32 bits, or texts and bytes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _recmap

__all__ = [
    "BeyondFloatError",
    "Items",
    "Rounding",
    "beyond_int64",
    "float32_of",
    "floats_of",
    "known",
    "typed",
]

Items: TypeAlias = "npt.NDArray[Any] | list[Any]"
Rounding: TypeAlias = "tuple[str, str]"

_TEXTS = (str, bytes, bytearray, memoryview)
_PLAIN_TEXTS = set(_TEXTS)
_NUMBERS = {int, float, bool}
_FLOATS = {float}  # which need no look at integers
_NOT_PARTS = (*_TEXTS, type(None), type(np.ma.masked))  # the other items of a list of these
_FLOAT64 = np.dtype(np.float64)
_EXACT_MAX = 2.0**24  # the integers that a float of 32 bits holds, and the last of its fractions
_INTEGER_MAX = 2.0**64  # beyond integers of 64 bits, numbers are not ids


def beyond_int64(value: int) -> str:
    """The message for an integer that a feature cannot hold."""
    bits = ""
    if 1 << 63 <= value < 1 << 64:
        bits = f', or as the int64 with the same bits, {value - (1 << 64)} (array.view("int64"))'
    return (
        "a value is beyond int64 (-2^63 to 2^63 - 1), the integers of records and of columns: "
        f"give {value} as a text{bits}"
    )


def known(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """The values that are not null, as an array, and which of all values these are, in the shape of
    the values. The latter is None if no value is null: the array then has that shape.

    An array of objects has texts, or what `typed` refuses.
    """
    if type(values) is np.ndarray and values.dtype.kind in "iufb":  # most arrays
        return values, None
    array, kept = _unmasked(_array(values))
    if array.dtype.kind not in "OT":
        return array, kept
    items, shape = array.ravel().tolist(), array.shape
    is_known: list[bool] | None
    if array.dtype.kind == "T":
        missing = getattr(array.dtype, "na_object", None)
        is_known = [item is not missing for item in items]
    else:
        # In objects, pandas marks what is missing with NaN, which elsewhere is a number.
        came_as_objects = getattr(getattr(values, "dtype", None), "kind", None) == "O"
        is_known = _known_objects(items, with_nan=came_as_objects)
    if is_known is not None and not all(is_known):
        items = [item for item, is_in in zip(items, is_known, strict=True) if is_in]
        kept = np.ones(shape, bool) if kept is None else kept
        kept[kept] = is_known
        shape = (len(items),)
    if not items and shape == array.shape:
        return array, kept
    if array.dtype.kind == "T" or any(isinstance(item, _TEXTS) for item in items):
        return _objects(items).reshape(shape), kept
    return _numbers_of(items).reshape(shape), kept


def _unmasked(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    if not isinstance(array, np.ma.MaskedArray):
        return array, None
    if not np.ma.is_masked(array):
        return array.data, None
    return array.compressed(), ~np.ma.getmaskarray(array)


def _known_objects(items: list[Any], with_nan: bool) -> list[bool] | None:
    """Which items are not null. None if all of them are texts."""
    kinds = set(map(type, items))
    if kinds <= _PLAIN_TEXTS:
        return None
    with_nan = with_nan or any(issubclass(kind, _TEXTS) for kind in kinds)
    return [not _is_null(item, with_nan) for item in items]


def _is_null(item: Any, with_nan: bool) -> bool:
    """None, a masked value, pandas's NA, and NaN among texts or objects."""
    if item is None or item is np.ma.masked or type(item).__name__ == "NAType":
        return True
    return with_nan and isinstance(item, float) and item != item


def _array(values: Any) -> npt.NDArray[Any]:
    """The values as an array, which is one of objects if there are nulls or texts.

    The arrays that Arrow, pandas and polars make of their own have NaN for nulls, and floats for
    the integers next to them."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, np.generic):
        return np.asarray(values)
    if isinstance(values, (list, tuple)):
        return _of_items(values)
    if hasattr(values, "as_py"):  # a scalar of Arrow
        return _array(values.as_py())
    if hasattr(values, "to_pylist"):
        return _of_arrow(values)
    if callable(getattr(values, "null_count", None)):
        return _of_polars(values)
    if hasattr(getattr(values, "dtype", None), "na_value") and hasattr(values, "isna"):
        return _of_pandas(values)
    if isinstance(values, Sequence) and not hasattr(values, "__array__"):
        return np.asarray(values) if isinstance(values, (range, *_TEXTS)) else _of_items(values)
    return np.asarray(values)


def _of_arrow(values: Any) -> npt.NDArray[Any]:
    is_primitive = sys.modules["pyarrow"].types.is_primitive
    if hasattr(values, "schema"):  # a table
        return _of_items([_array(column) for column in values.columns]).T
    if is_primitive(values.type) and not values.null_count:
        return np.asarray(values)
    return _of_items(values.to_pylist())


def _of_polars(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "get_columns"):  # a table
        return _of_items([_array(column) for column in values.get_columns()]).T
    is_plain = values.dtype.is_numeric() and not values.null_count()
    return np.asarray(values) if is_plain else _of_items(values.to_list())


def _of_pandas(values: Any) -> npt.NDArray[Any]:
    is_null = np.asarray(values.isna(), bool)
    if not is_null.any():
        return np.asarray(values)
    known_values = np.asarray(values[~is_null])
    array = np.zeros(is_null.shape, known_values.dtype)
    array[~is_null] = known_values
    return np.ma.MaskedArray(array, is_null)


def _objects(items: Sequence[Any]) -> npt.NDArray[Any]:
    return np.fromiter(items, object, len(items))  # others would take memoryviews for arrays


def _of_items(items: Sequence[Any]) -> npt.NDArray[Any]:
    """The array of a list. Lists within it are dimensions.

    The types of the items show what needs a closer look, since most lists have plain numbers."""
    kinds = set(map(type, items))
    if kinds == _FLOATS:
        return np.asarray(items)
    if all(kind in _NUMBERS or issubclass(kind, np.generic) for kind in kinds):
        return _numbers_of(items)
    if any(issubclass(kind, _NOT_PARTS) for kind in kinds):
        return _objects(items)
    parts = [_part(item) for item in items]
    try:
        array = np.asarray(parts)
    except ValueError as error:  # lists of several lengths, or such as NumPy makes of nulls
        raise _nesting_error(items) from error
    return np.asarray(parts, object) if array.dtype.kind in "SU" else array


def _nesting_error(items: Sequence[Any]) -> ValueError:
    """What is wrong with lists in a list of which no array can be made."""
    lists = [_listed(item) for item in items]
    if any(_is_null(item, False) for part in lists for item in part):
        return ValueError(
            "it has a null (a missing value) in a list: leave it out, or give a value"
        )
    lengths = sorted({len(part) for part in lists})
    if len(lengths) < 2:
        return ValueError("its lists have several depths: give all values in one list")
    return ValueError(
        f"its lists have several lengths, such as {lengths[0]} and {lengths[-1]}: give all values "
        "in one list, or in one feature for each list"
    )


def _listed(item: Any) -> list[Any]:
    if not hasattr(item, "__len__"):
        return [item]
    values = item.to_pylist() if hasattr(item, "to_pylist") else item
    return list(values)


def _part(item: Any) -> Any:
    """An item as NumPy takes it in a list, without dropping nulls."""
    if not hasattr(item, "__len__"):
        return item.as_py() if hasattr(item, "as_py") else item
    array = _array(item)
    return array.tolist() if np.ma.is_masked(array) else array


def _numbers_of(items: Sequence[Any]) -> npt.NDArray[Any]:
    """The items as NumPy takes them. Of integers that do not fit 64 bits, it would make floats, or
    an array of objects, and of integers next to floats doubles."""
    array = np.asarray(items)
    if not array.size or array.dtype.kind not in "fO":
        return array
    is_integer = {kind: issubclass(kind, (int, np.integer)) for kind in set(map(type, items))}
    if all(is_integer.values()):
        raise ValueError(beyond_int64(next(int(item) for item in items if not _is_int64(item))))
    if array.dtype.kind == "f" and any(is_integer.values()):
        integers = (item for item in items if is_integer[type(item)])
        if any(not -(1 << 53) <= item <= 1 << 53 for item in integers):
            return np.asarray(items, np.longdouble)  # so that `float32_of` sees what it rounds
    return array


def _is_int64(item: Any) -> bool:
    return -(1 << 63) <= int(item) < 1 << 63


def typed(array: npt.NDArray[Any]) -> tuple[str, Items, Rounding | None]:
    """The type of values that `known` returned, "int64", "float" or "bytes", the values in it, in C
    order, and what rounding changed, as `float32_of` says it.

    Raises:
        TypeError, ValueError: the values are of another type, or beyond the range of theirs.
    """
    kind = array.dtype.kind
    if kind in "iub":
        return "int64", _int64_of(array), None
    if kind == "f" or array.dtype.name == "bfloat16":
        return "float", *float32_of(array)
    if kind in "OSUT":
        return "bytes", _texts_of(array.ravel().tolist()), None
    raise TypeError(f"values of type {array.dtype} cannot be stored")


def _int64_of(array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size:
        largest = int(array.max())
        if largest >= 1 << 63:
            raise ValueError(beyond_int64(largest))
    return np.ascontiguousarray(array, np.int64)


def _texts_of(items: list[Any]) -> list[Any]:
    for item in items:
        if not isinstance(item, _TEXTS):
            other = next((text for text in items if isinstance(text, _TEXTS)), None)
            place = "" if other is None else " next to texts"
            raise TypeError(f"values of type {type(item).__name__} cannot be stored{place}")
    return items


class BeyondFloatError(ValueError):
    """A finite value, or the text of one, that would become infinite, at this index in C order."""

    def __init__(self, value: Any, index: int) -> None:
        shown = value if isinstance(value, str) else _shown(value)
        super().__init__(f"{shown} is beyond a float of 32 bits, which end at 3.4e38")
        self.index = index


def float32_of(array: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], Rounding | None]:
    """The values as floats of 32 bits, and the first one that these do not hold closely, before and
    after, if there is one: beyond 2^24, where a float has no fractions and not every integer, or
    one that becomes 0. Such a value is usually a timestamp or an id.

    Raises:
        BeyondFloatError: a finite value would become infinite.
    """
    if array.dtype.itemsize <= 4:
        return np.ascontiguousarray(array, np.float32), None
    array = np.ascontiguousarray(array)
    narrow = np.empty(array.shape, np.float32)
    if array.dtype == _FLOAT64 and _recmap.narrow_floats(narrow, array):
        return narrow, None
    size = np.abs(array)
    with np.errstate(over="ignore", under="ignore"):
        narrow[...] = array
    is_beyond = np.isinf(narrow) & (size < np.inf)
    if is_beyond.any():
        index = int(is_beyond.argmax())
        raise BeyondFloatError(array.flat[index], index)
    is_far = ((size > _EXACT_MAX) & (size < _INTEGER_MAX)) | (narrow == 0)
    is_far &= array != narrow
    if not is_far.any():
        return narrow, None
    first = int(is_far.argmax())
    return narrow, (_shown(array.flat[first]), _shown(narrow.flat[first]))


def floats_of(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Rounding | None]:
    """The values as float32, if that changes none of them, or else as float64; and the first
    integer that float64 does not hold exactly, before and after, if there is one."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = np.ascontiguousarray(array, np.float32)
        is_kept = (narrow == array) | np.isnan(narrow)
    if array.dtype.itemsize <= 4 or is_kept.all():
        return narrow, None
    wide = np.ascontiguousarray(array, np.float64)
    is_changed = (wide != array) & (np.abs(array) < _INTEGER_MAX) & (array == np.rint(array))
    if array.dtype == wide.dtype or not is_changed.any():
        return wide, None
    first = int(is_changed.argmax())
    return wide, (_shown(array.flat[first]), _shown(wide.flat[first]))


def _shown(value: Any) -> str:
    return str(int(value)) if abs(value) < 1e21 and value == int(value) else repr(float(value))
