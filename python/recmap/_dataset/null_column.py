"""Lifted columns with nulls."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["NullColumn"]


class NullColumn(np.ma.MaskedArray):
    """A masked array for which `numpy.isin` is False for nulls, as ``in`` is in an expression.

    NumPy would compare what is under the mask, and would not let a `TextColumn` encode str.
    """

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.isin:
            return _isin(*args, **kwargs)
        return super().__array_function__(function, types, args, kwargs)


def _isin(element: Any, test_elements: Any, *args: Any, **options: Any) -> Any:
    if isinstance(test_elements, np.ma.MaskedArray):
        test_elements = test_elements.compressed()
    found = np.isin(np.ma.getdata(element, subok=True), test_elements, *args, **options)
    return found & ~np.ma.getmaskarray(element)
