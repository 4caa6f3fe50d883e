"""Columns that are added to an index: rows of keys and values in the forms that people have."""

from __future__ import annotations

import csv
import json
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._numbers import null_error
from .._options.options import default_text
from .._plural import counted
from .._values import Items, Rounding, floats_of, known, typed
from .._warn import warn_caller

__all__ = ["Key", "Unmatched", "changes_of", "ignores_unmatched", "key_of"]

Key: TypeAlias = Literal["id", "number"]
Unmatched: TypeAlias = Literal["error", "ignore"]

_KEYS = {None: 0, "id": 1, "number": 2}
_TYPES = {"int64": 1, "float": 2, "bytes": 3, "float64": 4}
_Change: TypeAlias = "tuple[Any, ...]"


def key_of(by: Key | None, on: Key | None) -> Key | None:
    """The key that `by` or its other name `on` gives."""
    if by is not None and on is not None:
        raise TypeError("by and on are the same: pass by")
    if by is not None and by not in _KEYS:
        raise ValueError(f'by must be "id" or "number", not {by!r}')
    return on if by is None else by


def ignores_unmatched(unmatched: Unmatched) -> bool:
    if unmatched not in ("error", "ignore"):
        raise ValueError(f'unmatched must be "error" or "ignore", not {unmatched!r}')
    return unmatched == "ignore"


def _fields_of(path: str) -> list[str]:
    """The fields of a file of rows, from its first line, without those that name records."""
    extension = os.path.splitext(path)[1]
    if extension not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise ValueError(
            f"{path}: only CSV, TSV and JSON lines have names of columns: name the column of "
            'another file, as in {"score": path}'
        )
    with open(path, encoding="utf-8-sig", newline="") as file:
        if extension in (".csv", ".tsv"):
            names = next(csv.reader(file, delimiter="," if extension == ".csv" else "\t"), [])
        else:
            first = json.loads(file.readline() or "{}")
            names = list(first) if isinstance(first, dict) else []
    fields = [name for name in names if name not in ("id", "number")]
    if not fields:
        raise ValueError(f"{path}: the first line names no column: name them, as in {{name: path}}")
    return fields


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
        raise ValueError(f'by must be "id" or "number", not {on!r}')
    if isinstance(drop, str):
        raise TypeError("drop must be a list of names, not a str")
    for option, names in (("default", default), ("rename", rename)):
        if not isinstance(names, Mapping):
            example = "{name: value}" if option == "default" else "{old name: new name}"
            raise TypeError(f"{option} must be a dict, {example}, not {names!r}")
    if isinstance(columns, (str, os.PathLike)):
        path = os.fspath(columns)
        columns = dict.fromkeys(_fields_of(path), path)
    keys, named = _split(columns, on)
    for option, value in (("by", on), ("missing", missing)):
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
            hint = f'; if it has the keys, pass by="{name}"' if name in ("id", "number") else ""
            raise ValueError(
                f"column {name!r} has {counted(len(values), 'value')}, but the data set has "
                f"{counted(count, 'record')}{hint}"
            )
    key = "number" if on is None else on
    key_items = _numbers(keys) if key == "number" else _ids(keys)
    if count and default is None and not len(key_items):
        raise ValueError(
            f"column {name!r} has no values: give some or a default, or leave the column out"
        )
    kind, items, kept = _values(name, values)
    if len(key_items) != kept.size:
        found = counted(kept.size, "value")
        raise ValueError(f"column {name!r} has {found} for {counted(len(key_items), 'key')}")
    keys, missing = _chosen(key_items, kept), _chosen(key_items, ~kept)
    return ("rows", name, default, _KEYS[key], _TYPES[kind], keys, items, missing)


def _chosen(items: Items, chosen: npt.NDArray[np.bool_]) -> Items:
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


def _known(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The values that are not missing, and which ones are not, in one dimension."""
    if not isinstance(values, Sequence) and not hasattr(values, "__array__"):
        values = list(values)
    array, kept = known(values)
    shape = array.shape if kept is None else kept.shape
    if len(shape) != 1:
        raise TypeError(f"keys and values must have one dimension, not {len(shape)}")
    return array, np.ones(shape, bool) if kept is None else kept


def _keys(keys: Any, what: str) -> npt.NDArray[Any]:
    array, kept = _known(keys)
    if not kept.all():
        raise null_error(what)
    return array


def _numbers(keys: Any) -> npt.NDArray[np.int64]:
    array = _keys(keys, "record numbers")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError('record numbers must be integers; if the keys are ids, pass by="id"')
    return np.asarray(typed(array)[1]) if array.size else np.empty(0, np.int64)


def _ids(keys: Any) -> list[Any]:
    return list(keys) if isinstance(keys, list) else list(_keys(keys, "ids").tolist())


def _values(name: str, values: Any) -> tuple[str, Items, npt.NDArray[np.bool_]]:
    """The type, the values without those that are missing, and which ones are not missing."""
    array, kept = _known(values)
    try:
        kind, items, rounding = _typed(array)
    except (TypeError, ValueError) as error:
        kind_of_error = ValueError if isinstance(error, ValueError) else TypeError
        raise kind_of_error(f"column {name!r}: {error}") from error
    if rounding is not None:
        _warn_of_rounding(name, rounding)
    return kind, items, kept


def _typed(array: npt.NDArray[Any]) -> tuple[str, Items, Rounding | None]:
    """Like `typed`, but an index holds float64, which a feature of a tf.Example cannot."""
    if array.dtype.kind != "f":
        return typed(array)
    floats, rounding = floats_of(array)
    return "float" if floats.dtype == np.float32 else "float64", floats, rounding


def _warn_of_rounding(name: str, rounding: Rounding) -> None:
    """Warns of the first value that changed. It is usually a timestamp or an id, of which a
    fraction in a list, or pandas for a missing value, made a float."""
    before, after = rounding
    warn_caller(
        f"column {name!r}: {before} is rounded to {after}, because another value makes the column "
        "one of float64. Give only integers, with None for missing ones (in pandas "
        'astype("Int64")), or texts'
    )
