"""NumPy's name of bfloat16, which only the package ml_dtypes gives it."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

__all__ = ["numpy_type_of", "viewed_as"]


def numpy_type_of(element: str) -> Any:
    """The NumPy type of an element; without ml_dtypes, bfloat16 is "uint16", its bits."""
    if element != "bfloat16":
        return element
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return "uint16"
    return bfloat16


def viewed_as(element: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, whose bfloat16 have a type of 16 bits, with NumPy's type of bfloat16."""
    return array.view(numpy_type_of(element)) if element == "bfloat16" else array
