"""Pictures in records, for pages and notebooks.

A picture is shown only if its signature and its size in pixels are those of a format that browsers
decode safely. The bytes are untrusted: a small file may claim a picture of many gigabytes.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

__all__ = ["Picture", "picture_of"]

_BYTE_LIMIT = 1 << 16
_PIXEL_LIMIT = 1 << 24
_JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class Picture(NamedTuple):
    """A picture that can be shown."""

    format: str  # png, jpeg, gif or webp
    width: int
    height: int
    data: bytes

    def url(self) -> str:
        """A data: URL. Contains no characters that HTML interprets."""
        return f"data:image/{self.format};base64,{base64.b64encode(self.data).decode()}"


def picture_of(value: Any) -> Picture | None:
    """The picture in a value of bytes; None if it is not one, or too large to be shown."""
    if not 16 <= len(value) <= _BYTE_LIMIT:
        return None
    data = bytes(value)
    for format_, size_of in _FORMATS.items():
        size = size_of(data)
        if size is not None and min(size) > 0 and size[0] * size[1] <= _PIXEL_LIMIT:
            return Picture(format_, *size, data)
    return None


def _big(data: bytes, first: int, size: int) -> int:
    return int.from_bytes(data[first : first + size], "big")


def _little(data: bytes, first: int, size: int) -> int:
    return int.from_bytes(data[first : first + size], "little")


def _png_size(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(b"\x89PNG\r\n\x1a\n") or data[12:16] != b"IHDR":
        return None
    return _big(data, 16, 4), _big(data, 20, 4)


def _gif_size(data: bytes) -> tuple[int, int] | None:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    return _little(data, 6, 2), _little(data, 8, 2)


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """The size in the first frame header, which follows other segments."""
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in _JPEG_FRAMES:
            return _big(data, place + 7, 2), _big(data, place + 5, 2)
        place += 1 if marker == 0xFF else 2 + _big(data, place + 2, 2)  # 0xFF: a fill byte
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = _little(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    return None


_FORMATS = {"png": _png_size, "jpeg": _jpeg_size, "gif": _gif_size, "webp": _webp_size}
