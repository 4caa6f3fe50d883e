"""Columns that are added to an index: rows of keys and values in the forms that people have."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._numbers import without_nulls
from .._options.options import default_text
from .._warn import warn_caller

__all__ = ["Key", "changes_of"]

Key: TypeAlias = Literal["id", "number"]

_KEYS = {None: 0, "id": 1, "number": 2}
_TYPES = {"int64": 1, "float": 2, "bytes": 3}
_Items: TypeAlias = "npt.NDArray[Any] | list[Any]"
_Change: TypeAlias = "tuple[Any, ...]"


def changes_of(
    columns: Any,
    on: Key | None,
    missing: str | None,
    default: Mapping[str, object],
    drop: Iterable[str],
    rename: Mapping[str, str],
    count: int,
) -> list[_Change]:
    """The changes in the form of the extension, for a data set of `count` records."""
    if on not in _KEYS:
        raise ValueError(f'on must be "id" or "number", not {on!r}')
    if isinstance(drop, str):
        raise TypeError("drop must be a list of names, not a str")
    for option, names in (("default", default), ("rename", rename)):
        if not isinstance(names, Mapping):
            example = "{name: value}" if option == "default" else "{old name: new name}"
            raise TypeError(f"{option} must be a dict, {example}, not {names!r}")
    keys, named = _split(columns, on)
    for option, value in (("on", on), ("missing", missing)):
        if value is not None and not named:
            raise ValueError(f"{option}={value!r} is about new columns, but there are none")
    unknown = [name for name in default if name not in named]
    if unknown:
        raise ValueError(f"default names {unknown[0]!r}, which is not one of the columns")
    changes: list[_Change] = [("drop", name) for name in drop]
    changes += [("rename", name, new_name) for name, new_name in rename.items()]
    for name, values in named.items():
        text = default_text(name, default.get(name))
        changes.append(_change(name, text, values, on, keys, count))
    return changes


def _split(columns: Any, on: Key | None) -> tuple[Any, dict[str, Any]]:
    """The keys that all columns share, or None, and the columns by name."""
    named = {name: columns[name] for name in _names(columns)}
    keys = named.pop(on, None) if on is not None else None
    return keys, named


def _names(table: Any) -> list[str]:
    """The names of the columns of a mapping, or of a table of pandas, polars or Arrow."""
    if isinstance(table, Mapping):
        for name in table:
            if not isinstance(name, str):
                raise TypeError(f"the name of a column must be a str, not {name!r}")
        return list(table)
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if names is None:
        raise TypeError(f"columns must be a mapping or a table, not {type(table).__name__}")
    return [str(name) for name in names]


def _change(
    name: str, default: str | None, values: Any, on: Key | None, keys: Any, count: int
) -> _Change:
    if isinstance(values, (str, os.PathLike)):
        return ("file", name, default, _KEYS[on], os.fspath(values))
    if keys is None:
        keys, values = _keyed(name, values, on)
    if keys is None and on == "id":
        raise ValueError(
            f"column {name!r} has no ids: give {{id: value}}, or a tuple of ids and values, or the "
            'ids as another column "id"'
        )
    if keys is None:
        keys, values = np.arange(count, dtype=np.int64), _sequence(name, values)
        if len(values) != count:
            hint = f'; if it has the keys, pass on="{name}"' if name in ("id", "number") else ""
            raise ValueError(
                f"column {name!r} has {len(values)} values, but the data set has {count} records"
                f"{hint}"
            )
    key = "number" if on is None else on
    key_items = _numbers(keys) if key == "number" else _ids(keys)
    if count and default is None and not len(key_items):
        raise ValueError(
            f"column {name!r} has no values: give some or a default, or leave the column out"
        )
    kind, items, kept = _values(name, values)
    if len(key_items) != kept.size:
        raise ValueError(f"column {name!r} has {kept.size} values for {len(key_items)} keys")
    keys, missing = _chosen(key_items, kept), _chosen(key_items, ~kept)
    return ("rows", name, default, _KEYS[key], _TYPES[kind], keys, items, missing)


def _chosen(items: _Items, chosen: npt.NDArray[np.bool_]) -> _Items:
    """The items that are chosen. Usually, all or none are, for which no list is made: with millions
    of items, that would take longer than all the rest."""
    if chosen.all():
        return items
    if not chosen.any():
        return items[:0]
    if isinstance(items, list):
        return [item for item, is_chosen in zip(items, chosen, strict=True) if is_chosen]
    return np.ascontiguousarray(items[chosen])


def _sequence(name: str, values: Any) -> Any:
    """The values in an order, with a length."""
    if not isinstance(values, Iterable) or isinstance(values, (bytes, set, frozenset)):
        raise TypeError(
            f"the values of column {name!r} must be a list or an array, with one for each record, "
            f"not {reprlib.repr(values)}"
        )
    return values if hasattr(values, "__len__") else list(values)


def _keyed(name: str, values: Any, on: Key | None) -> tuple[Any, Any]:
    """Keys and values of a mapping, a tuple of two, a table, or a series of pandas."""
    if isinstance(values, Mapping):
        return list(values.keys()), list(values.values())
    if isinstance(values, tuple):
        return (values[0], values[1]) if len(values) == 2 else (None, list(values))
    is_table = hasattr(values, "column_names") or hasattr(values, "columns")
    if is_table and on is not None:
        return values[on], values[name]
    if on == "id" and hasattr(values, "index") and hasattr(values, "iloc"):
        return values.index, values
    return None, values


def _numbers(keys: Any) -> npt.NDArray[np.int64]:
    array = without_nulls(_array(keys), "record numbers")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError('record numbers must be integers; if the keys are ids, pass on="id"')
    return _int64(array)


def _ids(keys: Any) -> list[Any]:
    if isinstance(keys, list):
        return list(keys)
    return list(without_nulls(_array(keys), "ids").tolist())


def _array(values: Any) -> npt.NDArray[Any]:
    """A one-dimensional array of what NumPy, pandas, polars, Arrow or a list has."""
    if hasattr(values, "to_pylist"):  # Arrow
        values = values.to_pylist() if values.null_count else np.asarray(values)
    elif _has_polars_nulls(values):
        values = values.to_list()
    array = values if isinstance(values, np.ndarray) else _array_of(values)
    if array.ndim != 1:
        raise TypeError(f"keys and values must have one dimension, not {array.ndim}")
    return array


def _has_polars_nulls(values: Any) -> bool:
    """Whether a series of polars has nulls, for which its arrays of numbers have NaN."""
    return callable(getattr(values, "null_count", None)) and bool(values.null_count())


def _array_of(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    items = values if isinstance(values, Sequence) else list(values)
    if any(item is np.ma.masked for item in items):  # NumPy would make it NaN, and integers floats
        items = [None if item is np.ma.masked else item for item in items]
    if any(item is None or isinstance(item, (str, bytes)) for item in items):
        array = np.empty(len(items), object)
        array[:] = items
        return array
    return _numbers_of(items)


def _numbers_of(items: Sequence[Any]) -> npt.NDArray[Any]:
    """The items as NumPy takes them. Of integers that do not fit 64 bits, it would make floats, or
    an array of objects."""
    array = np.asarray(items)
    may_be_beyond = array.size > 0 and array.dtype.kind in "fO"
    if may_be_beyond and all(isinstance(item, (int, np.integer)) for item in items):
        raise ValueError("a value is beyond int64")
    if array.dtype.kind == "f" and any(_is_beyond_double(item) for item in items):
        return np.asarray(items, np.longdouble)  # so that `_float32` sees what it rounds
    return array


def _is_beyond_double(item: Any) -> bool:
    """Whether it is an integer that a double may round."""
    return isinstance(item, (int, np.integer)) and not -(1 << 53) <= item <= 1 << 53


def _values(name: str, values: Any) -> tuple[str, _Items, npt.NDArray[np.bool_]]:
    """The type, the values without those that are missing, and which ones are not missing."""
    array, kept = _known(values)
    has_objects = getattr(getattr(values, "dtype", None), "kind", None) == "O"
    kind, items, rest = _typed(name, array, has_objects)
    kept[kept] = rest
    return kind, items, kept


def _typed(
    name: str, array: npt.NDArray[Any], has_objects: bool
) -> tuple[str, _Items, npt.NDArray[np.bool_]]:
    """As `_values`, of an array. `has_objects` if it came as one of objects, not as a list."""
    kept = np.ones(array.size, bool)
    if array.dtype.kind == "O":
        is_text = any(isinstance(item, (str, bytes)) for item in array)
        kept = np.array([not _is_missing(item, is_text or has_objects) for item in array], bool)
        if is_text:
            return "bytes", _texts(name, array[kept].tolist()), kept
        array = _numbers_of(array[kept].tolist())
    if array.dtype.kind == "T":
        items = array.tolist()
        kept = _is_text(array.dtype, items)
        return "bytes", _chosen(items, kept), kept
    if array.dtype.kind in "US":
        return "bytes", _texts(name, array.tolist()), kept
    if array.dtype.kind in "iub":
        return "int64", _int64(array), kept
    if array.dtype.kind == "f":
        return "float", _float32(name, array), kept
    raise TypeError(f"the values of column {name!r} must be int, float, str or bytes")


def _is_text(dtype: np.dtype[Any], items: list[Any]) -> npt.NDArray[np.bool_]:
    """Which items of a StringDType are not its object for a missing value, if it has one."""
    missing = getattr(dtype, "na_object", object())
    return np.array([item is not missing for item in items], bool)


def _known(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The values, without those that are masked or that pandas's own types know to be missing, and
    which ones were kept.

    Arrays of such a type of pandas would have NaN for them, and floats for integers."""
    dtype = getattr(values, "dtype", None)
    if not hasattr(dtype, "na_value") or not hasattr(values, "isna"):
        array = _array(values)
        kept = ~np.ma.getmaskarray(array)
        return (array.compressed() if isinstance(array, np.ma.MaskedArray) else array), kept
    kept = ~np.asarray(values.isna(), bool)
    return _array(values[kept]), kept


def _is_missing(item: Any, with_nan: bool) -> bool:
    """None, pandas's NA, and NaN among texts or objects, with which pandas marks missing ones."""
    if item is None or type(item).__name__ == "NAType":
        return True
    return with_nan and isinstance(item, float) and item != item


def _texts(name: str, items: list[Any]) -> list[Any]:
    for item in items:
        if not isinstance(item, (str, bytes)):
            raise TypeError(
                f"column {name!r} has texts and values of type {type(item).__name__}: it must have "
                "one type"
            )
    return items


def _int64(array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 1 << 63:
        raise ValueError("a value is beyond int64")
    return np.ascontiguousarray(array, np.int64)


def _float32(name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(array, np.float32)
    if (np.isinf(narrow) & np.isfinite(array)).any():
        raise ValueError(f"a value of column {name!r} is beyond a float of 32 bits")
    if array.dtype.itemsize > narrow.itemsize:
        _warn_of_rounding(name, array, narrow)
    return narrow


def _warn_of_rounding(name: str, array: npt.NDArray[Any], narrow: npt.NDArray[np.float32]) -> None:
    """Warns of the first integer of 64 bits that changed. It is usually a timestamp or an id, of
    which a fraction in a list, or pandas for a missing value, made a float."""
    is_integer = (np.abs(array) < 2.0**63) & (array == np.trunc(array))
    is_rounded = is_integer & (array != narrow)
    if is_rounded.any():
        first = int(is_rounded.argmax())
        warn_caller(
            f"column {name!r}: {int(array[first])} is rounded to {int(narrow[first])}, because "
            "floats have 32 bits. Give only integers, with None for missing ones (in pandas "
            'astype("Int64")), or texts'
        )
