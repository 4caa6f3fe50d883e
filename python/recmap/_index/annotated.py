"""Lifted columns whose values do not come from the records. A rebuild cannot build them again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._dataset.dataset import Dataset
from .._errors import Error, FeatureError
from .._example.decode import decoded_features
from .._options.options import IndexOptions
from .._warn import warn_caller
from .contents import open_contents

__all__ = ["check_annotated", "check_rebuilt", "check_replaced", "open_replaced"]

_COMPARED = 16


def open_replaced(path: str, indexing: IndexOptions) -> Dataset | None:
    """The data set of an index that is about to be replaced. None: nothing of it can be kept, as it
    is damaged or of another version."""
    try:
        return open_contents(path, indexing)
    except Error:
        return None


def check_replaced(path: str, indexing: IndexOptions) -> None:
    """Refuses to replace an index with annotated columns, except by lifted ones of their names.

    Warns of the other contents that the new index will lack."""
    dataset = open_replaced(path, indexing)
    if dataset is None:
        return
    with dataset:
        lost, dropped = _lost(dataset, indexing), _dropped(dataset, indexing)
    _refuse_loss(path, lost)
    if dropped:
        warn_caller(
            f"{path}: the index is replaced by one without its {', '.join(dropped)}. To keep them, "
            "ask for them again, use recmap.open(shards, index=PATH, rebuild=True), or give the "
            "new index another path"
        )


def check_annotated(path: str, indexing: IndexOptions) -> None:
    """As `check_replaced`, without the warning, for contents that the caller did not choose."""
    if not os.path.lexists(path):
        return
    dataset = open_replaced(path, indexing)
    if dataset is None:
        return
    with dataset:
        lost = _lost(dataset, indexing)
    _refuse_loss(path, lost)


def _lost(dataset: Dataset, indexing: IndexOptions) -> list[str]:
    """The annotated columns that the index to replace it will lack."""
    lifted = dict(indexing.lifts)
    return [name for name in dataset._annotated_columns() if name not in lifted]


def _refuse_loss(path: str, lost: list[str]) -> None:
    if lost:
        raise FeatureError(
            f"the index would lose its annotated {_columns(lost)}",
            path,
            advice=f"their values are only in the index: keep it with recmap.open(shards), which "
            f"appends, or remove them with ds.annotate(drop={lost!r})",
        )


def _dropped(dataset: Dataset, indexing: IndexOptions) -> list[str]:
    """What an index has that the one to replace it was not asked for."""
    lifted, counted = dict(indexing.lifts), dict(indexing.counted)
    annotated = dataset._annotated_columns()
    dropped = []
    if dataset._id_name() is not None and indexing.id is None:
        dropped.append(f"ids of {dataset._id_name()!r}")
    columns = [name for name, _ in dataset._lifts() if name not in (*lifted, *annotated)]
    if columns:
        dropped.append(_columns(columns))
    counts = [name for name, _ in dataset._counted() if name not in counted]
    if counts:
        dropped.append(f"counts of {', '.join(map(repr, counts))}")
    return dropped


def check_rebuilt(dataset: Dataset, names: Iterable[str], is_given: Sequence[bool]) -> None:
    """Refuses to build these columns again if the records do not have their values.

    `is_given` says for each shard of the index whether the caller named it. Other shards are not
    read: the index, which may be from elsewhere, would decide which files and servers are. If the
    caller named none, columns without a mark (from before 0.2.0) count as lifted."""
    marked = set(dataset._annotated_columns())
    is_readable = np.repeat(np.array(is_given, bool), [row[3] for row in dataset._shard_table()])
    annotated = [
        name for name in names if name in marked or _is_annotated(dataset, name, is_readable)
    ]
    if annotated:
        _refuse(dataset.index_path, annotated)


def _columns(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def _refuse(path: str, names: list[str]) -> None:
    """Raises the error of columns whose values the records lack."""
    raise FeatureError(
        f"the index cannot be built again: the records lack the values of its {_columns(names)}",
        path,
        advice=f"annotated columns are only in the index: read their values from ds.columns, then "
        f"ds.annotate(drop={names!r}), build again, and annotate again; to add a lifted column "
        f"only, run `recmap index --lift FEATURE {shlex.quote(path)}`, which keeps all columns",
    ) from None


def _is_annotated(dataset: Dataset, name: str, is_readable: npt.NDArray[np.bool_]) -> bool:
    """Whether records lack the values of a column that is not marked as annotated, as in indexes of
    older versions. This reads a few records. If none can be read, the values count as lifted."""
    try:
        values = dataset.columns[name]
        is_telling = _is_non_default(values, dict(dataset._lifts())[name])
        numbers = np.flatnonzero(is_readable & is_telling)
        places = np.linspace(0, len(numbers) - 1, min(len(numbers), _COMPARED)).astype(np.intp)
        chosen = numbers[places].tolist()
        return not all(_is_value_of(dataset[i], name, values[i]) for i in chosen)
    except Error:
        return False


def _is_value_of(record: memoryview, name: str, value: Any) -> bool:
    """Whether the feature of a record has this single value. Only Examples have features."""
    try:
        features, _ = decoded_features(record)
    except Error:
        return False
    found = features.get(name)
    if value is np.ma.masked:
        return found is None or len(found) == 0
    if found is None or len(found) != 1:
        return False
    return bool(found[0] == value or (found[0] != found[0] and value != value))  # NaN equals NaN


def _is_non_default(values: npt.NDArray[Any], default: str | None) -> npt.NDArray[np.bool_]:
    """Whether the value of each record differs from the default."""
    if default is None:
        return np.ones(len(values), np.bool_)
    if values.dtype == object:
        return np.asarray(values != default)
    number = float(default) if values.dtype.kind == "f" else int(default)
    is_default = values == values.dtype.type(number)
    return np.asarray(~(is_default | (values != values)))  # NaN may be the default
