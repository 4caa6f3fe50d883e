"""The names that features have in the records of a data set."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import _recmap
from .._base.errors import CorruptRecordError, FileMissingError, StaleIndexError
from .._base.numbers import UInt64s
from .sample import sample_of

__all__ = ["NO_NAMES", "FeatureNames", "Names"]

Schema: TypeAlias = Mapping[str, Mapping[str, Any]]  # as ``recmap schema --json`` prints it

_SAMPLE_COUNTS = 100, 900  # records read; the second sample only if a name is not in the first
_SAMPLE_SIZE = 256 << 20  # bytes of a sample, at most, but at least _COUNT_MIN records
_COUNT_MIN = 10


class Names(NamedTuple):
    """Names of features of the context, and of feature lists."""

    context: frozenset[str]
    lists: frozenset[str]

    def of(self, is_list: bool) -> frozenset[str]:
        return self.lists if is_list else self.context

    def with_names(self, other: Names) -> Names:
        return Names(self.context | other.context, self.lists | other.lists)


NO_NAMES = Names(frozenset(), frozenset())


def _names_of(schema: Schema) -> Names:
    context = frozenset(name for name, members in schema.items() if "kind" in members)
    return Names(context, frozenset(name for name, members in schema.items() if "list" in members))


def _names_in(dataset: _recmap.Dataset, numbers: UInt64s) -> Names:
    """The names in these records, except damaged ones and those in missing or changed shards."""
    try:
        text, _ = dataset._schema(numbers)
    except (CorruptRecordError, FileMissingError, StaleIndexError):
        if len(numbers) == 1:
            return NO_NAMES
        first, second = np.array_split(numbers, 2)
        return _names_in(dataset, first).with_names(_names_in(dataset, second))
    return _names_of(json.loads(text))


def _fitting_count(dataset: _recmap.Dataset, numbers: UInt64s) -> int:
    """How many records of the mean size of these fit in a sample."""
    sizes = np.empty(len(numbers), np.int64)
    for i, number in enumerate(numbers.tolist()):
        dataset._read_numbers(0, number, sizes[i : i + 1])
    fitting = _SAMPLE_SIZE * len(sizes) // max(int(sizes.sum()), 1)
    return min(len(sizes), max(fitting, _COUNT_MIN))


class FeatureNames:
    """What is known about the names of features in the records of a data set; all views share it.

    Methods take the data set or a view, to read records. Safe to use from many threads.
    """

    def __init__(self) -> None:
        self.warned: set[tuple[str, bool]] = set()  # by parse: (name, whether it is a list)
        self.read_count = 0  # records of the largest sample that was read
        self._known = NO_NAMES
        self._sampled_count = 0  # of the largest sample that was read
        self._lock = threading.Lock()

    def learn(self, schema: Schema, count: int) -> None:
        """Adds the names in the schema of `count` records."""
        self._add(_names_of(schema), 0, count)

    def _add(self, names: Names, sampled_count: int, read_count: int) -> None:
        with self._lock:
            self._known = self._known.with_names(names)
            self.read_count = max(self.read_count, read_count)
            self._sampled_count = max(self._sampled_count, sampled_count)

    def has(self, dataset: _recmap.Dataset, name: str, is_list: bool) -> bool:
        """Returns true if some record is known to have this feature. May read a sample."""
        for count in _SAMPLE_COUNTS:
            if name in self._known.of(is_list):
                return True
            self._read_sample(dataset, count)
        return name in self._known.of(is_list)

    def sampled(self, dataset: _recmap.Dataset) -> Names:
        """The names that are known, which come at least from a small sample."""
        self._read_sample(dataset, _SAMPLE_COUNTS[0])
        return self._known

    def _read_sample(self, dataset: _recmap.Dataset, count: int) -> None:
        total = dataset._record_count()
        if self._sampled_count < min(count, total):
            fitting = _fitting_count(dataset, sample_of(total, count))
            self._add(_names_in(dataset, sample_of(total, fitting)), count, fitting)
