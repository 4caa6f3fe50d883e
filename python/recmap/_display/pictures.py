"""Pictures in records, for tables, pages and notebooks.

The library describes and decodes them, as it does for a loader. A small file is shown as it is, and
any other as a PNG of few pixels.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

from .. import _recmap
from .._base.errors import Error

__all__ = ["Picture", "picture_of", "url_of"]

_FILE_SIZE = 1 << 15  # bytes of a file that is shown as it is,
_FILE_PIXELS = 1 << 22  # and its pixels
_SIDE = 192  # pixels of any other


class Picture(NamedTuple):
    """A picture in the value of a feature."""

    format: str  # "jpeg", "png" or "webp"
    width: int  # upright
    height: int
    is_wide_gray: bool  # 16 bits, of which browsers show the high ones
    value: bytes | memoryview

    def file(self) -> tuple[str, bytes]:
        """The format and the bytes of a picture to show.

        Raises:
            Error: the picture is damaged, or too large to be decoded.
        """
        has_few = self.width * self.height <= _FILE_PIXELS and not self.is_wide_gray
        if has_few and len(self.value) <= _FILE_SIZE:
            return self.format, bytes(self.value)
        return "png", _recmap.image_thumbnail(self.value, _SIDE)


def url_of(format_: str, data: bytes) -> str:
    """A data: URL. Contains no characters that HTML interprets."""
    return f"data:image/{format_};base64,{base64.b64encode(data).decode()}"


def picture_of(value: bytes | memoryview) -> Picture | None:
    """The picture in a value of bytes; None if it is not one, or its header is damaged."""
    try:
        format_, height, width, mode, depth, _ = _recmap.image_info(value)
    except Error:
        return None
    return Picture(format_, width, height, mode.startswith("L") and depth == 16, value)
