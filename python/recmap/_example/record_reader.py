"""Features of records that are not tf.Examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from .row import Row

__all__ = ["Header", "RecordReader", "refuse_bits"]

Header: TypeAlias = tuple[bytes, bytes]
"""The first row of the data set's CSV files, and the path of the file that has it."""


class RecordReader(Mapping[str, Any]):
    """Features of records of another kind, which know how such records are read.

    Names that no record has are not reported for them: their classes check the names, if they can.
    """

    def _reader(self, header: Header | None) -> Any:
        """How records are read, as the extension expects it. `header` is the header line of CSV
        files, and the file that has it."""
        raise NotImplementedError

    def _rows(self) -> tuple[Row, ...]:
        """The features as the extension expects them."""
        raise NotImplementedError


def refuse_bits(name: str, dtype: Any) -> None:
    """Refuses the dtype of unsigned numbers in tf.Examples, which have only signed ones."""
    if isinstance(dtype, str) and dtype == "uint64_bits":
        raise ValueError(f'feature {name!r}: "uint64_bits" is for tf.Example: write "uint64"')
