"""Pictures made from arrays, EXIF added to pictures, and the model of docs/formats/images.md."""

import importlib.machinery
import importlib.util
import struct
import sys
import types
import zlib

import numpy as np
import pytest
from conftest import ROOT

# ---- PNG.

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6  # types of colour
PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2)]
PASSES.append((1, 0, 2, 1))  # Adam7: first row, first column, and the steps of both


def chunk(kind, data):
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check


def packed_row(row, depth):
    if depth == 16:
        return row.astype(">u2").tobytes()
    bits = (row.reshape(-1, 1) >> np.arange(depth)[::-1]) & 1
    return np.packbits(bits.astype(np.uint8)).tobytes()


def png(samples, *, colour=None, depth=8, extra=b"", is_interlaced=False):
    """A PNG of [height, width, channels]; `extra` are chunks before the pixels."""
    samples = np.atleast_3d(samples)
    height, width, channels = samples.shape
    colour = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGBA}[channels] if colour is None else colour
    parts = [samples]
    if is_interlaced:
        parts = [samples[y::down, x::right] for y, x, down, right in PASSES]
    rows = [b"\0" + packed_row(row, depth) for part in parts if part.size for row in part]
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, is_interlaced)
    body = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(b"".join(rows)))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


# ---- EXIF.


def exif_block(orientation, is_little=False):
    """The TIFF file that EXIF is, with one entry."""
    order = "<" if is_little else ">"
    entry = struct.pack(order + "HHIHH", 0x112, 3, 1, orientation, 0)
    start = b"II" if is_little else b"MM"
    return start + struct.pack(order + "HIH", 42, 8, 1) + entry + bytes(4)


def jpeg_segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data


def riff_chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def extended_webp(data, flags, size, more):
    """A WebP of one chunk of pixels as an extended file (VP8X) with another chunk."""
    header = bytes([flags, 0, 0, 0]) + b"".join((n - 1).to_bytes(3, "little") for n in size)
    body = b"WEBP" + riff_chunk(b"VP8X", header) + data[12:] + more
    return b"RIFF" + struct.pack("<I", len(body)) + body


def with_exif(data, orientation, is_little=False, *, size=None):
    """The picture with EXIF; a WebP needs its (width, height), and pixels without alpha."""
    block = exif_block(orientation, is_little)
    if data[:2] == b"\xff\xd8":
        return data[:2] + jpeg_segment(0xE1, b"Exif\0\0" + block) + data[2:]
    if data[:4] == b"RIFF":
        return extended_webp(data, 0x08, size, riff_chunk(b"EXIF", block))
    header_end = 8 + 12 + 13
    return data[:header_end] + chunk(b"eXIf", block) + data[header_end:]


def upright(stored, orientation):
    """The upright picture, after the table of docs/formats/images.md, pixel by pixel."""
    high, wide = stored.shape[:2]
    y, x = np.mgrid[: wide if orientation > 4 else high, : high if orientation > 4 else wide]
    right, bottom = wide - 1, high - 1
    columns = [x, right - x, right - x, x, y, y, right - y, right - y][orientation - 1]
    rows = [y, y, bottom - y, bottom - y, x, bottom - x, bottom - x, x][orientation - 1]
    return stored[rows, columns]


# ---- The model.


def load_model():
    """The script of the test vectors, which shares no code with recmap."""
    pytest.importorskip("xxhash")
    path = ROOT / "docs" / "formats" / "vectors" / "images-make-vectors"
    if not path.exists():
        pytest.skip("the script of the test vectors is not here")
    loader = importlib.machinery.SourceFileLoader("images_make_vectors", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setitem(sys.modules, "PIL", types.SimpleNamespace(Image=None))  # it decodes nothing
        loader.exec_module(module)
    return module
