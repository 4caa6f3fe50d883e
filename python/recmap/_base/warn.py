"""Warnings that name the caller's line."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

from .errors import Error, escaped

__all__ = ["warn_caller", "warn_of_error"]

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def warn_of_error(error: Error) -> None:
    """Warns of what the C library found. The extension calls this."""
    warn_caller(". ".join(line.strip() for line in str(error).splitlines()))


def _is_own(frame: FrameType) -> bool:
    """Returns true for code of this package, and for what `dataclass` generates for it."""
    name = frame.f_code.co_filename
    module = str(frame.f_globals.get("__name__"))
    return name.startswith(_PACKAGE) or (name == "<string>" and module.startswith("recmap."))


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called into this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(escaped(message), category, stacklevel=level)
