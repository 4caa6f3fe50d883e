"""Pictures in records, for tables, pages and notebooks.

A picture of any size is recognised by its header. It is drawn only if it is small, because pages
contain it, and because its bytes are untrusted: a small file may claim many gigabytes of pixels.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

__all__ = ["Picture", "picture_of"]

_DRAWN_BYTES = 1 << 16
_DRAWN_PIXELS = 1 << 24
_SEGMENTS = 1 << 10  # of a JPEG before its size: a profile and a preview take up to 300
_JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class Picture(NamedTuple):
    """A picture in the value of a feature."""

    format: str  # png, jpeg, gif or webp
    width: int
    height: int
    data: bytes | None  # None: it is too large to be drawn

    def url(self) -> str:
        """A data: URL. Contains no characters that HTML interprets."""
        assert self.data is not None
        return f"data:image/{self.format};base64,{base64.b64encode(self.data).decode()}"


def picture_of(value: Any) -> Picture | None:
    """The picture in a value of bytes; None if it is not one."""
    if len(value) < 16:
        return None
    data = memoryview(value)
    for format_, size_of in _FORMATS.items():
        size = size_of(data)
        if size is not None and min(size) > 0:
            is_drawn = len(data) <= _DRAWN_BYTES and size[0] * size[1] <= _DRAWN_PIXELS
            return Picture(format_, *size, bytes(data) if is_drawn else None)
    return None


def _big(data: memoryview, first: int, size: int) -> int:
    return int.from_bytes(data[first : first + size], "big")


def _little(data: memoryview, first: int, size: int) -> int:
    return int.from_bytes(data[first : first + size], "little")


def _png_size(data: memoryview) -> tuple[int, int] | None:
    if bytes(data[:8]) != b"\x89PNG\r\n\x1a\n" or bytes(data[12:16]) != b"IHDR":
        return None
    return _big(data, 16, 4), _big(data, 20, 4)


def _gif_size(data: memoryview) -> tuple[int, int] | None:
    if bytes(data[:6]) not in (b"GIF87a", b"GIF89a"):
        return None
    return _little(data, 6, 2), _little(data, 8, 2)


def _jpeg_size(data: memoryview) -> tuple[int, int] | None:
    """The size in the first frame header, which follows other segments."""
    if bytes(data[:3]) != b"\xff\xd8\xff":
        return None
    place = 2
    for _ in range(_SEGMENTS):
        if place + 9 > len(data) or data[place] != 0xFF:
            return None
        marker = data[place + 1]
        if marker in _JPEG_FRAMES:
            return _big(data, place + 7, 2), _big(data, place + 5, 2)
        place += 1 if marker == 0xFF else 2 + _big(data, place + 2, 2)  # 0xFF: a fill byte
    return None


def _webp_size(data: memoryview) -> tuple[int, int] | None:
    if bytes(data[:4]) != b"RIFF" or bytes(data[8:12]) != b"WEBP" or len(data) < 30:
        return None
    kind = bytes(data[12:16])
    if kind == b"VP8X":
        return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = _little(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and bytes(data[23:26]) == b"\x9d\x01\x2a":
        return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    return None


_FORMATS = {"png": _png_size, "jpeg": _jpeg_size, "gif": _gif_size, "webp": _webp_size}
