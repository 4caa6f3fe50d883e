"""The lifted columns: values that were copied into the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ColumnNotFoundError
from .._base.names import near_names
from .null_column import NullColumn
from .selectable import Dataset as Selectable
from .text_column import TextColumn

__all__ = ["Columns"]


class Columns(Mapping[str, "npt.NDArray[Any]"]):
    """The lifted columns of an index by name, read when first used: ``columns["label"]``.

    Each is a read-only array with one value per record of the data set or view: int64, float32,
    float64, or object for bytes. Columns of bytes compare with str: ``columns["lang"] == "de"`` is
    a mask, and `numpy.isin` also accepts str. Copies by `numpy.asarray` or pandas compare with
    bytes only. The column "@length" always exists: the size of each record in bytes.

    A column with nulls is a `numpy.ma.MaskedArray`, whose mask is True for them, and
    ``columns["score"].filled(0)`` is a plain array. Of NumPy's functions, `isin` is False for
    nulls, `sort`, `argsort` and `unique` put them last, `concatenate`, `where`, `insert` and
    `delete` keep them, `median` and `average` leave them out, and functions that would count them
    as values, such as `bincount`, `histogram`, `quantile` and `corrcoef`, refuse them.
    A column of only nulls has no type yet ("none"), because values of any type may follow: it is an
    array of float32.
    """

    def __init__(self, dataset: Selectable) -> None:
        self._dataset = dataset
        self._types = {
            name: (index, kind or "none", null_count)
            for index, (name, kind, _, null_count) in enumerate(dataset._column_table())
        }

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._types:
            raise ColumnNotFoundError(
                f"the index has no column {name!r}",
                self._dataset.index_path,
                advice=self._advice(name),
            )
        read = self._dataset._columns_read
        if name not in read:
            read[name] = self._read(*self._types[name])
        return self._dataset._selection.take(read[name])

    def _advice(self, name: object) -> str:
        known = f"its columns are {', '.join(self._types)}."
        if not isinstance(name, str) or not name or name.startswith("@"):
            return known  # no column can have this name
        near = near_names(name, self._types, 1)
        if near:
            return f"did you mean {near[0]!r}? {known}"
        return f"{known} If the records have it, ds.lift([{name!r}]) adds it."

    def _range(self, name: str, first: int, end: int) -> npt.NDArray[Any]:
        """The values of a range of positions. If the records follow each other, no others are
        read."""
        selection = self._dataset._selection
        if selection.numbers is not None or selection.step != 1:
            return self[name][first:end]
        return self._read(*self._types[name], selection.first + first, end - first)

    def _read(
        self, index: int, kind: str, null_count: int, first: int = 0, count: int | None = None
    ) -> npt.NDArray[Any]:
        if count is None:
            count = self._dataset._record_count()
        values: npt.NDArray[Any]
        if kind == "bytes":
            values = np.empty(count, object).view(TextColumn)
            values[:] = self._dataset._read_bytes(index, first, count)
        elif kind == "none":
            values = np.zeros(count, np.float32)
        else:
            values = np.empty(count, kind)
            self._dataset._read_numbers(index, first, values)
        if null_count:
            values = _with_nulls(values, self._read_mask(index, first, count))
        values.flags.writeable = False
        return values

    def _read_mask(self, index: int, first: int, count: int) -> npt.NDArray[np.bool_]:
        mask = np.empty(count, bool)
        self._dataset._read_nulls(index, first, mask)
        return mask

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {kind}" for name, (_, kind, _) in self._types.items())
        return f"<recmap.Columns {{{kinds}}}>"


def _with_nulls(values: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """A read-only column: a change of its mask would change all later uses of the column. The mask
    is not hard: copies would have a hard one, too, and sorting one would lose values."""
    column: np.ma.MaskedArray[Any, Any] = NullColumn(values, mask)
    np.ma.getmask(column).flags.writeable = False
    if values.dtype == object:
        column.fill_value = b""
    elif values.dtype.kind == "f":
        column.fill_value = np.nan
    return column
