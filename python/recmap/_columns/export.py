"""The Arrow export that all kinds of columns share."""

from __future__ import annotations

from typing import Any, TypeAlias

from .record_batch import RecordBatch

__all__ = ["Exported", "Source"]

Source: TypeAlias = "tuple[RecordBatch, int]"
"""The batch of a column, and the column's index in it."""


class Exported:
    """A column that ``pyarrow.array(column)``, ``polars.Series(column)``, ... accept."""

    __slots__ = ("_source",)
    _source: Source | None  # None: a part of a column

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """Exports the whole column through the Arrow PyCapsule interface, without a copy."""
        if self._source is None:
            raise TypeError(
                "a part of a column cannot be exported: export the column, then slice the result"
            )
        batch, index = self._source
        return batch._arrow_array(index)
