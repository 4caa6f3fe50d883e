"""Columns that are added to an index: rows of keys and values in the forms that people have."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._base.numbers import check_pandas_index, has_other_index, null_error
from .._base.plural import counted
from .._base.values import Items, Rounding, floats_of, known, typed
from .._base.warn import warn_caller
from .._options.options import default_text

__all__ = ["Key", "Unmatched", "changes_of", "ignores_unmatched"]

Key: TypeAlias = Literal["id", "number"]
Unmatched: TypeAlias = Literal["error", "ignore"]

_KEYS = {None: 0, "id": 1, "number": 2}
_HEADER_LIMIT = 1 << 20  # bytes in which the first line of a table must end
_TYPES = {"int64": 1, "float": 2, "bytes": 3, "float64": 4}
_Change: TypeAlias = "tuple[Any, ...]"


def ignores_unmatched(unmatched: Unmatched) -> bool:
    if unmatched not in ("error", "ignore"):
        raise ValueError(f'unmatched must be "error" or "ignore", not {unmatched!r}')
    return unmatched == "ignore"


def _key_names(id_name: str | None) -> dict[str, Key]:
    """What the columns of these names have. The first one in a table or a file has its keys."""
    return {"id": "id", **({} if id_name is None else {id_name: "id"}), "number": "number"}


def _id_column(key_names: Mapping[str, Key]) -> str:
    """The best name for a column of ids: the name of the feature that has the ids, or "id" if the
    data set has no ids."""
    *_, last = (name for name, key in key_names.items() if key == "id")
    return last


def _fields_of(path: str, key_names: Mapping[str, Key]) -> list[str]:
    """The fields of a file of rows, from its first line, without those that name records."""
    extension = os.path.splitext(path)[1]
    if extension not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise ValueError(
            f"{path}: only CSV, TSV and JSON lines have names of columns: name the column of "
            'another file, as in {"score": path}'
        )
    text = _first_text(path)
    try:
        if extension in (".csv", ".tsv"):
            lines = io.StringIO(text, newline="")
            names = next(csv.reader(lines, delimiter="," if extension == ".csv" else "\t"), [])
        else:
            first = json.loads(text.split("\n", 1)[0] or "{}")
            names = list(first) if isinstance(first, dict) else []
    except (csv.Error, json.JSONDecodeError) as error:
        raise ValueError(
            f"{path}: line 1: the names of columns cannot be read: {error}: check that quotes are "
            "closed, or name the columns, as in {name: path}"
        ) from None
    fields = [name for name in names if name not in key_names]
    if not fields:
        raise ValueError(f"{path}: the first line names no column: name them, as in {{name: path}}")
    return fields


def _first_text(path: str) -> str:
    """The first line of a file, and what follows it in the first megabyte."""
    with open(path, "rb") as file:
        data = file.read(_HEADER_LIMIT)
    end = data.find(b"\n") if b"\n" in data else len(data)
    if end == _HEADER_LIMIT:
        raise ValueError(f"{path}: line 1 has more than {_HEADER_LIMIT} bytes: this is not a table")
    try:
        # The end of the data may cut a character.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(data)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: byte {error.start} is not UTF-8: save the file as UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path}: byte {data.index(0)} is 0, so this is not a text file in UTF-8")
    return text


def changes_of(
    columns: Any,
    on: Key | None,
    missing: str | None,
    default: Mapping[str, object],
    drop: Iterable[str],
    rename: Mapping[str, str],
    count: int,
    id_name: str | None,
) -> list[_Change]:
    """The changes in the form of the extension, for a data set of `count` records with the ids of
    feature `id_name`."""
    key_names = _key_names(id_name)
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
        columns = dict.fromkeys(_fields_of(path, key_names), path)
    key, keys, named = _split(columns, on, key_names)
    for option, value in (("by", on), ("missing_values", missing)):
        if value is not None and not named:
            raise ValueError(f"{option}={value!r} is about new columns, but there are none")
    unknown = [name for name in default if name not in named]
    if unknown:
        raise ValueError(f"default names {unknown[0]!r}, which is not one of the columns")
    changes: list[_Change] = [("drop", name) for name in drop]
    changes += [("rename", name, new_name) for name, new_name in rename.items()]
    for name, values in named.items():
        text = default_text(name, default.get(name))
        if not isinstance(values, (str, os.PathLike)):
            changes.append(_change(name, text, values, key, keys, count, key_names))
        elif os.fspath(values).lower().endswith(".npy"):
            changes.append(_array_change(name, text, os.fspath(values), on, count, key_names))
        else:  # the file has keys of its own
            changes.append(("file", name, text, _KEYS[on], os.fspath(values)))
    return changes


def _array_change(
    name: str,
    default: str | None,
    path: str,
    on: Key | None,
    count: int,
    key_names: Mapping[str, Key],
) -> _Change:
    """The values of a file in NumPy's format, which are in the order of the records. Unlike
    numpy.load, open_memmap takes no other format, and says what is wrong with the file."""
    try:
        array = np.asarray(np.lib.format.open_memmap(path, mode="r"))
        if array.ndim != 1:
            raise ValueError(f"the array has {counted(array.ndim, 'dimension')}, not one")
        return _change(name, default, array, on, None, count, key_names)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def _split(
    columns: Any, on: Key | None, key_names: Mapping[str, Key]
) -> tuple[Key | None, Any, dict[str, Any]]:
    """What a key is, the keys that all columns share, or None, and the columns by name. As in a
    file, a column of ids or else "number" has the keys, and neither of them is added, unless `on`
    says what has the keys."""
    named = {name: columns[name] for name in _names(columns)}
    found = _key_columns([name for name in named if _is_column(named[name])], on, key_names)
    if not found:
        return on, None, named
    all_keys = [named.pop(name) for name in found]
    key = key_names[found[0]]
    if not named and on is None:
        raise ValueError(
            f"the column {found[0]!r} has the keys of records, and there is no other column: to "
            f'add a column of this name, in the order of the records, pass by="number"'
            if key == "id"
            else "the column 'number' has the numbers of records, and there is no other column"
        )
    return key, all_keys[0], named


def _key_columns(names: Sequence[str], on: Key | None, key_names: Mapping[str, Key]) -> list[str]:
    """The names that are of keys, or of the keys that `on` says. The first one has the keys."""
    found = [name for name, key in key_names.items() if name in names and on in (None, key)]
    if [key_names[name] for name in found].count("id") > 1:
        raise ValueError(
            f"the columns {found[0]!r} and {found[1]!r} both have ids: rename or remove one of them"
        )
    return found


def _is_column(values: Any) -> bool:
    """Returns true if these are the values of a column of a table, without keys of their own."""
    has_keys = isinstance(values, Mapping) or (isinstance(values, tuple) and len(values) == 2)
    return values is not None and not has_keys and not isinstance(values, (str, os.PathLike))


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
    name: str,
    default: str | None,
    values: Any,
    on: Key | None,
    keys: Any,
    count: int,
    key_names: Mapping[str, Key],
) -> _Change:
    if keys is None:
        on, keys, values = _keyed(name, values, on, key_names)
    elif isinstance(values, Mapping):
        raise TypeError(
            f"column {name!r} is a mapping, but another column has the keys: give its values as a "
            "list or array, in the order of the keys, or annotate it by itself"
        )
    if keys is None and on == "id":
        id_name = _id_column(key_names)
        raise ValueError(
            f"column {name!r} has no ids: give {{id: value}}, or a tuple of ids and values; in a "
            f"table, rename the column of ids to {id_name!r}, or make it the pandas index, as in "
            f"table.set_index({id_name!r})"
        )
    if keys is None:
        keys, values = _in_order(name, values, count, key_names)
    key = "number" if on is None else on
    _check_same_index(name, keys, values)
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


def _in_order(name: str, values: Any, count: int, key_names: Mapping[str, Key]) -> tuple[Any, Any]:
    """The numbers of all records, and the values, which must be one for each of them."""
    check_pandas_index(
        values, f"the values of column {name!r}", ', or pass by="id" or by="number" if it has these'
    )
    values = _sequence(name, values)
    if len(values) != count:
        key = key_names.get(name)
        hint = f'; if it has the keys, pass by="{key}"' if key is not None else ""
        raise ValueError(
            f"column {name!r} has {counted(len(values), 'value')}, but the data set has "
            f"{counted(count, 'record')}{hint}"
        )
    return np.arange(count, dtype=np.int64), values


def _check_same_index(name: str, keys: Any, values: Any) -> None:
    """Keys and values are pairs in their order, which two series of pandas may have changed."""
    are_series = hasattr(keys, "iloc") and hasattr(values, "iloc")
    if are_series and not keys.index.equals(values.index):
        raise ValueError(
            f"column {name!r} has another pandas index than its keys, which are taken in their "
            "order: take both of one table, or pass .to_numpy() of both if their order is the same"
        )


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


def _keyed(
    name: str, values: Any, on: Key | None, key_names: Mapping[str, Key]
) -> tuple[Key | None, Any, Any]:
    """What a key is, and the keys and values of a mapping, a tuple of two, a table, or a series of
    pandas, whose index has the keys if `on` says what they are. Without keys, values are in the
    order of the records."""
    if isinstance(values, Mapping):
        return on, list(values.keys()), list(values.values())
    if isinstance(values, tuple):
        return (on, *values) if len(values) == 2 else (on, None, list(values))
    if hasattr(values, "column_names") or hasattr(values, "columns"):
        names = _names(values)
        found = _key_columns(names, on, key_names)
        if found:
            return key_names[found[0]], values[found[0]], values[name]
        values = values[name] if name in names else values
    if hasattr(values, "index") and hasattr(values, "iloc"):
        counts_rows = _is_default(values.index) if on == "id" else not has_other_index(values)
        if on is not None and not counts_rows:
            return on, values.index, values
    return on, None, values


def _is_default(index: Any) -> bool:
    """Returns true if this is the index that pandas gives a table without one: 0 to n - 1, as a
    RangeIndex without a name."""
    is_range = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    return is_range and index.name is None


def _known(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The values that are not missing, and a mask of them, in one dimension."""
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
    """The type, the values that are not missing, and a mask of them."""
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
