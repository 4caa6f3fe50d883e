"""The element counts of an index: how many elements each record has of a feature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np
import numpy.typing as npt

from .._base.errors import ColumnNotFoundError
from .element_counts import ElementCounts
from .selectable import Dataset as Selectable

__all__ = ["Counts"]


class Counts(Mapping[str, "npt.NDArray[np.int64]"]):
    """The element counts of an index by feature, read when first used: ``counts["input_ids"]``.

    Each has one int64 count per record of the data set or view. The counts of a whole data set stay
    packed for `Chunked`, `Packed` and `Windows`.
    """

    def __init__(self, dataset: Selectable) -> None:
        self._dataset = dataset
        self._elements = dict(dataset._counted_table())

    def __getitem__(self, name: str) -> npt.NDArray[np.int64]:
        if name not in self._elements:
            found = (
                f"It has the counts of {', '.join(self._elements)}"
                if self._elements
                else "It has none"
            )
            raise ColumnNotFoundError(
                f"the index has no element counts of {name!r}",
                self._dataset.index_path,
                advice=f"{found}. To add them, open the shards with count=[{name!r}] and "
                "rebuild=True.",
            )
        read = self._dataset._counts_read
        if name not in read:
            read[name] = ElementCounts(self._dataset._read_counts(name))
        whole = cast("npt.NDArray[np.int64]", read[name])
        if self._dataset._is_whole():
            return whole
        return self._dataset._selection.take(np.asarray(whole))

    def __iter__(self) -> Iterator[str]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __repr__(self) -> str:
        return f"<recmap.Counts {{{', '.join(self._elements)}}}>"
