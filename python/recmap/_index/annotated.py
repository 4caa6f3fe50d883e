"""Lifted columns whose values do not come from the records. A rebuild cannot build them again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import CorruptIndexError, Error, FeatureError, FileMissingError
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._example.decode import decoded_features
from .._options.options import IndexOptions
from .contents import open_contents

__all__ = ["check_annotated", "check_rebuilt", "check_replaced", "open_replaced"]

_COMPARED = 16
_UNREADABLE = (
    "It may have annotated columns, which would be lost: recmap.open(PATH) says what can read it. "
    "Remove it, or give the new index another path."
)
_PIECE = 1 << 16  # records


def open_replaced(path: str, indexing: IndexOptions) -> Dataset | None:
    """The data set of an index that is about to be replaced. None: nothing of it can be kept, as it
    is damaged. One that cannot be read for another reason, such as its version or permissions, is
    refused: it may have annotated columns. So is a folder."""
    if os.path.isdir(path):
        raise ValueError(f"the index must be the path of a file, but {path!r} is a folder")
    try:
        return open_contents(path, indexing)
    except (CorruptIndexError, FileMissingError):
        return None
    except Error as error:
        message = f"the index to be replaced cannot be read: {error.message}"
        raise type(error)(
            message, path, advice=_UNREADABLE, error_number=error._error_number
        ) from None


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
    """The annotated columns that would be lost when the index is replaced."""
    lifted = dict(indexing.lifts)
    return [name for name in dataset._annotated_columns() if name not in lifted]


def _refuse_loss(path: str, lost: list[str]) -> None:
    if lost:
        raise FeatureError(
            f"the index would lose its annotated {_columns(lost)}",
            path,
            advice=f"their values are only in the index: recmap.open(shards, index={path!r}) keeps "
            "it and adds the records that it lacks; to build it again, with other ids or counts, "
            "read their values from ds.columns, to annotate it again, and remove them first, with "
            f"recmap.open({path!r}).annotate(drop={lost!r})",
        )


def _dropped(dataset: Dataset, indexing: IndexOptions) -> list[str]:
    """The contents of an index that its replacement would lack."""
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
    rows = zip(dataset._shard_table(), is_given, strict=True)
    spans = [range(first, first + count) for (_, _, first, count), given in rows if given]
    annotated = [name for name in names if name in marked or _is_annotated(dataset, name, spans)]
    if annotated:
        _refuse(dataset.index_path, annotated)


def _columns(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def _refuse(path: str, names: list[str]) -> None:
    """Raises the error of columns whose values the records lack."""
    raise FeatureError(
        f"the index cannot be built again: the records lack the values of its {_columns(names)}",
        path,
        advice="annotated columns are only in the index: open it without rebuild=True to add the "
        "records that it lacks, and to add a lifted column, run "
        f"`recmap index --lift FEATURE {shlex.quote(path)}`, which keep all columns; or read their "
        f"values from ds.columns, then ds.annotate(drop={names!r}), build again, and annotate "
        "again",
    ) from None


def _is_annotated(dataset: Dataset, name: str, spans: list[range]) -> bool:
    """Returns true if records lack the values of a column that is not marked as annotated, as in
    indexes of older versions. This reads a few records, which lie in `spans`. If none can be read,
    the values count as lifted."""
    try:
        samples = _samples(dataset, name, spans)
    except Error:
        return False
    return any(_lacks_value(dataset, name, number) for number in samples)


def _lacks_value(dataset: Dataset, name: str, number: int) -> bool:
    """Returns true if a record can be read and does not have its value of the column."""
    try:
        value = dataset.columns._range(name, number, number + 1)[0]
        return not _is_value_of(dataset[number], name, value)
    except Error:
        return False


def _samples(dataset: Dataset, name: str, spans: list[range]) -> list[int]:
    """The numbers of a few records in `spans`, whose values are not the column's default.

    Uses the memory of one piece, however many records there are: the first pass over the column
    only counts such values, and the second one reads the pieces that have samples."""
    default = dict(dataset._lifts())[name]
    if default is None:
        pieces, counts = spans, [len(span) for span in spans]
    else:
        pieces = [span[i : i + _PIECE] for span in spans for i in range(0, len(span), _PIECE)]
        counts = [len(_telling(dataset, name, default, piece)) for piece in pieces]
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if counts else 0
    samples = []
    for rank in np.linspace(0, total - 1, min(total, _COMPARED)).astype(np.int64).tolist():
        at = int(np.searchsorted(ends, rank, "right"))
        piece, index = pieces[at], rank - (int(ends[at]) - counts[at])
        chosen = piece if default is None else _telling(dataset, name, default, piece)
        samples.append(int(chosen[index]))
    return samples


def _telling(dataset: Dataset, name: str, default: str, piece: range) -> npt.NDArray[np.int64]:
    """The numbers of the records in `piece` whose values differ from the default."""
    values = dataset.columns._range(name, piece.start, piece.stop)
    return np.flatnonzero(_is_non_default(values, default)) + piece.start


def _is_value_of(record: memoryview, name: str, value: Any) -> bool:
    """Returns true if the feature of a record, which must be an Example, has this single value."""
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


def _is_non_default(values: npt.NDArray[Any], default: str) -> npt.NDArray[np.bool_]:
    """Returns true if each value differs from the default."""
    if values.dtype == object:
        return np.asarray(values != default)
    number = float(default) if values.dtype.kind == "f" else int(default)
    is_default = values == values.dtype.type(number)
    return np.asarray(~(is_default | (values != values)))  # NaN may be the default
