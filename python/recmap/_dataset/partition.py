"""Partitions: how a hash assigns each record to one of several parts
(docs/reference/partition.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._base.numbers import UInt64s, uint64_of
from .selection import Selection

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["masks_of"]

_NO_ID = np.uint64((1 << 64) - 1)  # the stored hash of a record without an id


_CHUNK = 1 << 18  # items at a time, since each takes several temporary words


def masks_of(
    shares: Mapping[str, float], seed: int, selection: Selection, id_hashes: UInt64s | None
) -> dict[str, npt.NDArray[np.bool_]]:
    """For each part, which items of the selection belong to it.

    Args:
        id_hashes: the hash of the id of each record of the data set; None: the index has no ids.
    """
    limits, key = _limits(shares), _key(seed)
    masks = {name: np.empty(selection.length, bool) for name in limits}
    for first in range(0, selection.length, _CHUNK):
        items = np.arange(first, min(first + _CHUNK, selection.length), dtype=np.uint64)
        numbers = selection.records_at(items)
        hashes = _hashes(key, numbers, None if id_hashes is None else id_hashes[numbers])
        earlier = np.zeros(len(hashes), bool)
        for name, limit in limits.items():
            below = np.ones(len(hashes), bool) if limit >> 64 else hashes < np.uint64(limit)
            masks[name][first : first + len(hashes)] = below & ~earlier
            earlier = below
    return masks


def _limits(shares: Mapping[str, float]) -> dict[str, int]:
    """For each part, the upper limit of its hashes (64 bits), exclusive."""
    from fractions import Fraction  # only here: it imports the module decimal

    if not isinstance(shares, Mapping):
        raise TypeError(f"shares must be a dict {{name: share}}, not {shares!r}")
    if not shares or not all(0 <= share <= 2 for share in shares.values()):
        raise ValueError("shares must be numbers from 0 to 1")
    exact = {name: _fraction(share) for name, share in shares.items()}
    total = sum(exact.values(), Fraction(0))
    if abs(total - 1) > Fraction(1, 10**9):
        raise ValueError(f"the shares must add up to 1, not {float(total)}")
    limits, end = {}, Fraction(0)
    for name, share in exact.items():
        end += share
        limits[name] = min(int(end * (1 << 64)), 1 << 64)
    return {**limits, list(limits)[-1]: 1 << 64}


def _fraction(share: float) -> Fraction:
    from fractions import Fraction
    from numbers import Rational

    return Fraction(share if isinstance(share, Rational) else float(share))


def _key(seed: int) -> UInt64s:
    return _mix(np.array([uint64_of("seed", seed)], np.uint64) + np.uint64(0x9E3779B97F4A7C15))


def _hashes(key: UInt64s, numbers: UInt64s, id_hashes: UInt64s | None) -> UInt64s:
    hashes = numbers | np.uint64(1 << 63)
    if id_hashes is not None:
        hashes = np.where(id_hashes == _NO_ID, hashes, id_hashes)
    return _mix(hashes ^ key)


def _mix(values: UInt64s) -> UInt64s:
    """The finaliser of SplitMix64: every input bit affects every output bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
