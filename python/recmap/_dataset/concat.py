"""Several data sets as one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .. import _recmap
from .._base.names import suggest_arguments
from .._options.options import ConcatOptions
from .dataset import Dataset
from .feature_names import FeatureNames
from .selection import Selection

__all__ = ["concat"]


@suggest_arguments
def concat(datasets: Iterable[Dataset]) -> Dataset:
    """Several data sets as one, without merging their indexes or reading a shard.

    The records of the second data set follow those of the first, and so on. The result is a data
    set like any other: orders, mixtures, loaders, views and adapters take it. It has the lifted
    columns that all of them have, with the same type or with nothing but nulls, and the element
    counts that all have. `find` gives the first record with an id, and `find_all` all of them, if
    all data sets have ids. If the ids come from features of different names, `info` names none, and
    `recmap.join` and `duplicates` do not accept the result. Data sets may repeat, and may be views
    or concatenations; a view takes 8 bytes of memory per record.

    The result keeps the data sets open, even if they are closed. Its fingerprint is computed from
    theirs.

    Raises:
        ValueError: there are no data sets, or one of them is closed.

    >>> ds = digits()
    >>> both = recmap.concat([ds, ds[:100]])
    >>> len(both), both[1800] == ds[3], both.find_all("digit-00042")
    (1897, True, [42, 1839])
    """
    if isinstance(datasets, Dataset):
        raise TypeError("concat needs data sets in a list: write recmap.concat([first, second])")
    parts = list(datasets)
    for part in parts:
        if not isinstance(part, Dataset):
            raise TypeError(f"concat needs data sets, not {part!r}; see recmap.open")
    handle = _recmap.Handle.concat(tuple(part._handle for part in parts))
    options = ConcatOptions(tuple(one for part in parts for one in part._options.opened()))
    counts = [part._record_count() for part in parts]
    selection = Selection(0, sum(counts), 1, None)
    joined = Dataset._create(handle, options, selection, {}, FeatureNames(), {})
    if not all(part._is_whole() for part in parts):
        starts = np.cumsum([0, *counts[:-1]])
        joined = joined.select(
            np.concatenate(
                [part.numbers + start for part, start in zip(parts, starts, strict=True)]
            )
        )
    joined._part_lengths = tuple(map(len, parts))
    return joined
