"""An index into the rows of a column, as of a list."""

from __future__ import annotations

import operator
from typing import Any

from .._base.errors import OutOfRangeError
from .._base.plural import counted

__all__ = ["row_of"]


def row_of(index: Any, count: int) -> int:
    """The row that `index` means; negative ones count from the end."""
    row = operator.index(index)
    if not -count <= row < count:
        raise OutOfRangeError(f"row {row} is out of range: the column has {counted(count, 'row')}")
    return row % count
