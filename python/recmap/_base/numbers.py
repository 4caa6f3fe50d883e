"""Record numbers: converts lists, ranges, arrays and masks to uint64 arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import OutOfRangeError
from .plural import counted

Numbers: TypeAlias = "Iterable[SupportsIndex] | npt.NDArray[np.integer[Any]] | slice"
UInt64s: TypeAlias = npt.NDArray[np.uint64]
Int64s: TypeAlias = npt.NDArray[np.int64]


def is_integer(value: Any) -> bool:
    """Returns true for an int, or an integer of NumPy; not for a bool, which is a mistake."""
    return hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_))


def natural(name: str, value: Any, bits: int | None = None) -> int:
    """The value of an argument, or of what a caller's object returned, that must be an integer of
    at least 0, and below 2**bits. A bool is not an integer here.

    Args:
        name: names the value in messages, such as "batch_size" or "the size that FS returned".
    """
    try:
        number = operator.index(value) if is_integer(value) else None
    except TypeError:  # also of an array, whose __index__ works for one integer only
        number = None
    if number is None:
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if number < 0:
        raise ValueError(f"{name} must not be negative, but is {number}")
    if bits is not None and number >> bits:
        raise ValueError(f"{name} must be below 2**{bits}, but is {number}")
    return number


def uint64_of(name: str, value: Any) -> int:
    """The value of an argument that must be an integer of at least 0 and below 2**64."""
    return natural(name, value, 64)


def seed_of(seed: Any) -> int:
    """The value of an argument `seed`. Raises TypeError for None as well."""
    if not is_integer(seed):
        raise TypeError(f"seed must be an integer, not {seed!r}: 0 is the default")
    return uint64_of("seed", seed)


def without_nulls(values: Any, what: str) -> Any:
    """The values, as they are unless they are a masked array. NumPy would drop the mask."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if np.ma.is_masked(values):
        raise null_error(what)
    return values.data


def has_other_index(values: Any) -> bool:
    """Returns true if values are a series or table of pandas whose index is not 0 to n - 1."""
    if not hasattr(values, "iloc") or not hasattr(values, "index"):
        return False
    return not np.array_equal(np.asarray(values.index), np.arange(len(values)))


def check_pandas_index(values: Any, what: str, more_advice: str = "") -> None:
    """Refuses a series of pandas for values that are taken in their order, if its index says that
    they may be of other records.

    Raises:
        ValueError: its index is not 0 to n - 1.
    """
    if has_other_index(values):
        raise ValueError(
            f"{what} have an index of pandas that is not 0 to {len(values) - 1}, but are taken in "
            "their order: bring them into the order of the records, then call "
            f".reset_index(drop=True) or pass .to_numpy(){more_advice}"
        )


def null_error(what: str) -> ValueError:
    """The error for nulls among these values."""
    return ValueError(
        f"{what} must not be null: choose their values with `.filled(value)`, or select the "
        'records that have one, as with ds.where("COLUMN is not null")'
    )


def _integer(item: Any, what: str) -> int:
    if not is_integer(item):
        raise TypeError(f"{what} must be integers, not {item!r}")
    return operator.index(item)


def as_integers(values: object, what: str) -> npt.NDArray[Any]:
    """A one-dimensional integer array.

    Other types raise TypeError, and values beyond 64 bits OutOfRangeError.
    """
    if isinstance(values, np.ndarray):
        array: npt.NDArray[Any] = without_nulls(values, what)
    elif not isinstance(values, Iterable):
        advice = f"; for one, write [{values!r}]" if hasattr(values, "__index__") else ""
        raise TypeError(f"{what} must be a list, array or slice, not {values!r}{advice}")
    else:
        items = list(values)
        try:
            array = np.asarray(items)
            if array.dtype.kind not in "iu" or array.dtype.kind == "b":
                array = np.asarray([_integer(item, what) for item in items])
                if array.ndim == 1 and array.size and array.dtype.kind not in "iu":
                    raise OutOfRangeError(f"{what} do not fit 64 bits")
        except ValueError:
            raise TypeError(f"{what} must be integers, in one dimension") from None
    if array.ndim != 1:
        raise TypeError(f"{what} must have one dimension, not {array.ndim}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        if array.dtype.kind == "O":
            raise OutOfRangeError(f"{what} do not fit 64 bits")
        raise TypeError(f"{what} must be integers, not {array.dtype}")
    return array


def ids_to_find(ids: Iterable[Any] | npt.NDArray[Any]) -> list[Any] | Int64s:
    """A list of ids, or an array of int64 if `ids` is an array of integers that fit."""
    ids = without_nulls(ids, "ids")
    if not isinstance(ids, np.ndarray) or ids.ndim != 1:
        return list(ids)
    if ids.dtype.kind in "iu" and ids.dtype.newbyteorder("=") != np.uint64:
        return np.ascontiguousarray(ids, np.int64)
    items: list[Any] = ids.tolist()
    return items


def out_of_range(number: int, count: int, name: str = "record") -> OutOfRangeError:
    """The error for a number that is not in 0 to ``count - 1``."""
    valid = f"there are {name}s 0 to {count - 1}" if count else f"there are no {name}s"
    return OutOfRangeError(f"{name} {number} is out of range: {valid}")


def row_of(index: SupportsIndex, count: int) -> int:
    """The row of an index, which counts from the end if it is negative."""
    if isinstance(index, bool):
        raise TypeError(f"an index must be an integer, not {index!r}")
    number = operator.index(index)
    row = number + count if number < 0 else number
    if not 0 <= row < count:
        raise out_of_range(number, count, "row")
    return row


def as_items(values: object, count: int) -> UInt64s:
    """Positions in a sequence of `count` items; negative ones count from the end."""
    if isinstance(values, (bytes, memoryview)) and memoryview(values).format == "B":
        raise TypeError(
            "numbers of records are needed, not the bytes of a record: pass its number, as in [0]; "
            "recmap.decode_example(record) reads bytes"
        )
    array = as_integers(values, "numbers of records")
    if array.dtype.kind == "i" and array.size and int(array.min()) < 0:
        array = array.astype(np.int64)  # small integers may not hold the sum
        array = np.where(array < 0, array + count, array)
        if int(array.min()) < 0:
            raise out_of_range(int(array.min()) - count, count)
    if array.size and int(array.max()) >= count:
        raise out_of_range(int(array.max()), count)
    return np.ascontiguousarray(array, dtype=np.uint64)


def as_mask_or_items(values: object, count: int) -> UInt64s:
    """The positions that `as_items` returns, or, of a mask as long as the sequence, of its true
    values."""
    array = np.asarray(values) if not isinstance(values, np.ndarray) else values
    if isinstance(array, np.ma.MaskedArray) and array.dtype == np.bool_:
        array = array.filled(False)  # a comparison with a null selects nothing
    if array.dtype == np.bool_:
        check_pandas_index(values, "the values of the mask")
        if array.shape != (count,):
            raise OutOfRangeError(
                f"the mask has the shape {array.shape}, but the data set has "
                f"{counted(count, 'record')}"
            )
        return np.flatnonzero(array).view(np.uint64)
    return as_items(values, count)


def cuts_of(count: int, parts: int) -> list[int]:
    """Divides `count` items into parts: the start of each part, then the end of the last.

    The first parts have one item more if `count` is not a multiple of `parts`.
    """
    if parts < 1:
        raise ValueError(f"the number of parts must be at least 1, not {parts}")
    size, more = divmod(count, parts)
    return [part * size + min(part, more) for part in range(parts + 1)]
