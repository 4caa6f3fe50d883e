"""Lifted columns whose values do not come from the records. A rebuild cannot build them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._dataset.dataset import Dataset
from .._errors import Error, FeatureError
from .._example.decode import decoded_features

__all__ = ["check_rebuilt"]


def check_rebuilt(dataset: Dataset, names: Iterable[str]) -> None:
    """Refuses to build these columns again if the records of the data set lack their features."""
    annotated = [name for name in names if _is_annotated(dataset, name)]
    if annotated:
        _refuse(dataset.index_path, annotated)


def _refuse(path: str, names: list[str]) -> None:
    """Raises the error of columns that no record has as features."""
    columns = f"column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
    raise FeatureError(
        f"the index cannot be built again: the records lack the values of its {columns}",
        path,
        advice=f"annotated columns are only in the index: read their values from ds.columns, then "
        f"ds.annotate(drop={names!r}), build again, and annotate again; to add a lifted column "
        f"only, run `recmap index --lift FEATURE NAME.rmx`, which keeps all columns",
    ) from None


def _is_annotated(dataset: Dataset, name: str) -> bool:
    """Whether a record lacks the feature although the column has a value for it. This reads one
    record. A damaged index and unreadable shards tell nothing: False."""
    try:
        numbers = _non_default(dataset.columns[name], dict(dataset._lifts())[name])
        if not len(numbers):
            return False
        record = dataset[int(numbers[0])]
    except Error:
        return False
    try:
        features, _ = decoded_features(record)
    except Error:
        return True  # not an Example: nothing was lifted from it
    return features.get(name) is None


def _non_default(values: npt.NDArray[Any], default: str | None) -> npt.NDArray[np.intp]:
    """The numbers of records whose values differ from the default."""
    if default is None:
        return np.arange(min(len(values), 1))
    if values.dtype == object:
        return np.flatnonzero(np.asarray(values != default))
    number = float(default) if values.dtype.kind == "f" else int(default)
    is_default = values == values.dtype.type(number)
    return np.flatnonzero(~(is_default | (values != values)))  # NaN may be the default
