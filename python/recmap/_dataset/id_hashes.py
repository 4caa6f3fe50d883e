"""Matching records by the hashes of their ids, which the indexes have."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._base.numbers import UInt64s
from .selectable import Dataset as Selectable

__all__ = ["HashMatch"]

_NO_ID = np.uint64(2**64 - 1)


def _hashes_of(dataset: Selectable) -> UInt64s:
    hashes = np.empty(dataset._record_count(), np.uint64)
    dataset._read_id_hashes(hashes)
    return hashes


class HashMatch:
    """Finds the matches of records whose ids cannot be compared, because a record is damaged."""

    def __init__(self, dataset: Selectable, source: Selectable) -> None:
        self._dataset, self._source = dataset, source

    @cached_property
    def _hashes(self) -> UInt64s:
        return _hashes_of(self._dataset)

    @cached_property
    def _hashes_of_source(self) -> UInt64s:
        return _hashes_of(self._source)

    def position_of(self, number: int) -> int:
        """The first position of a record with the same hash as that record of the source, or -1."""
        id_hash = self._hashes_of_source[number]
        if id_hash == _NO_ID:
            return -1
        numbers = np.flatnonzero(self._hashes == id_hash)
        return min(self._dataset._selection.positions_of(numbers.tolist()), default=-1)
