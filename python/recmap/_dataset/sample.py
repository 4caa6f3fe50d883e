"""Which records are read to learn what a data set contains."""

from __future__ import annotations

import numpy as np

from .._base.numbers import UInt64s

__all__ = ["sample_of"]


def _mixed(values: UInt64s) -> UInt64s:
    """Hashes. The command's src/base/words/sample.c has the same ones, to read the same records."""
    values = (values + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ values >> np.uint64(32)) * np.uint64(0xBF58476D1CE4E5B9)
    return values ^ values >> np.uint64(32)


def sample_of(count: int, wanted: int) -> UInt64s:
    """Ascending items: the first, the last, and a random one of each of equal parts between them.

    All of them if at least as many are wanted; otherwise `wanted` is below 2^32. Evenly spaced ones
    could all lack what every tenth record has.
    """
    if wanted >= count:
        return np.arange(count, dtype=np.uint64)
    if not wanted:
        return np.empty(0, np.uint64)
    index = np.arange(wanted + 1, dtype=np.uint64)
    size, part, rest = np.uint64(wanted), np.uint64(count // wanted), np.uint64(count % wanted)
    starts = index * part + index * rest // size
    items = starts[:-1] + _mixed(index[:-1]) % np.diff(starts)
    items[-1:], items[:1] = count - 1, 0
    return items
