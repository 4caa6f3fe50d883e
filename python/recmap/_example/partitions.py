"""Partitions: how values are divided into rows, for `Ragged`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._base.names import suggest_arguments

__all__ = [
    "RowLengths",
    "RowLimits",
    "RowSplits",
    "RowStarts",
    "UniformRowLength",
    "ValueRowIds",
    "partition_row",
]


@suggest_arguments
@dataclass(frozen=True)
class _Partition:
    key: str


class RowSplits(_Partition):
    """An int64 feature has where rows start and end: from 0 to the number of values."""


class RowLengths(_Partition):
    """An int64 feature has the length of each row."""


class RowStarts(_Partition):
    """An int64 feature has the position of the first value of each row."""


class RowLimits(_Partition):
    """An int64 feature has the position after the last value of each row."""


class ValueRowIds(_Partition):
    """An int64 feature has the row of each value."""


@suggest_arguments
@dataclass(frozen=True)
class UniformRowLength:
    """Every row has this length."""

    length: int


_KINDS = {
    "RowSplits": 1,
    "RowLengths": 2,
    "RowStarts": 3,
    "RowLimits": 4,
    "ValueRowIds": 5,
    "UniformRowLength": 6,
}


def partition_row(partition: Any) -> tuple[int, str | None, int]:
    """(kind, key, length) as the extension expects them. Accepts the partitions of tf.io too."""
    kind = _KINDS.get(type(partition).__name__)
    if kind is None:
        raise TypeError(f"a partition must be one of {', '.join(_KINDS)}, not {partition!r}")
    return kind, getattr(partition, "key", None), int(getattr(partition, "length", 0))
