"""Warnings that name the caller's line."""

from __future__ import annotations

import os
import sys
import warnings

from ._errors import escaped

__all__ = ["warn_caller"]

_PACKAGE = os.path.dirname(__file__) + os.sep


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called into this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(escaped(message), category, stacklevel=level)
