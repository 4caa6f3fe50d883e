"""The element counts of a feature, packed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.plural import counted
from .._recmap import Counts as _Packed

__all__ = ["ElementCounts"]


class ElementCounts(np.lib.mixins.NDArrayOperatorsMixin):
    """Element counts that stay packed until they are used as an array.

    They behave like a read-only int64 array of one dimension. Row orders take the packed form,
    which has about 1.8 bytes per record instead of 8.
    """

    dtype = np.dtype(np.int64)
    ndim = 1

    def __init__(self, packed: _Packed) -> None:
        self._packed_counts = packed
        self._array: npt.NDArray[np.int64] | None = None

    def _expand(self) -> npt.NDArray[np.int64]:
        if self._array is None:
            array = np.empty(len(self), np.int64)
            self._packed_counts.run(array, 0)
            array.flags.writeable = False
            self._array = array
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self._expand().astype(dtype or np.int64, copy=False)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [x._expand() if isinstance(x, ElementCounts) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._expand(), name)

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def size(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return self._packed_counts.record_count()

    def __getitem__(self, key: Any) -> Any:
        return self._expand()[key]

    def __iter__(self) -> Iterator[np.int64]:
        return iter(self._expand())

    def __reduce__(self) -> tuple[Any, ...]:
        return _repack, (self._expand().astype(np.min_scalar_type(self._packed_counts.longest())),)

    def __repr__(self) -> str:
        return f"<recmap element counts of {counted(len(self), 'record')}>"


def _repack(array: npt.NDArray[Any]) -> ElementCounts:
    return ElementCounts(_Packed.make(array))
