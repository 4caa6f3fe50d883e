"""Pictures whose markers, chunks or limits lie."""

import struct
import zlib

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images

pytestmark = needs_images
PLAIN = ROOT / "tests" / "images" / "plain-444.jpg"


def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data


def hidden_scans(side, count):
    """A progressive JPEG with scans in a segment whose marker does not exist: a reader of segments
    skips it, and libjpeg looks for markers in it."""
    table = segment(0xC4, b"\0" + bytes([1]) + bytes(15) + b"\0")
    frame = segment(0xC2, struct.pack(">BHHB", 8, side, side, 1) + b"\x01\x11\x00")
    start = segment(0xDB, b"\0" + bytes([1]) * 64) + frame + table
    scan = segment(0xDA, b"\x01\x01\x00\x00\x00\x00")
    restarts = segment(0xDD, struct.pack(">H", 1))
    return b"\xff\xd8" + start + restarts + scan + segment(0x02, scan * count) + b"\xff\xd9"


def test_hidden_scans_are_not_read():
    with pytest.raises(recmap.Error, match=r"more scans than its markers show"):
        recmap.decode_image(hidden_scans(64, 1000), 16, mode="L")


def exif(orientation):
    entry = struct.pack(">HHIHH", 0x112, 3, 1, orientation, 0)
    return b"Exif\0\0MM\0\x2a\0\0\0\x08" + struct.pack(">H", 1) + entry + bytes(4)


@pytest.mark.skipif(not PLAIN.exists(), reason="the pictures are not here")
def test_the_first_segment_of_exif_counts():
    data = PLAIN.read_bytes()
    for others in ([], [segment(0xE1, b"Exif\0\0more")], [segment(0xE1, exif(3))]):
        turned = data[:2] + segment(0xE1, exif(6)) + b"".join(others) + data[2:]
        assert recmap.image_info(turned).orientation == 6
        height, width = recmap.decode_image(data).shape[:2]
        assert recmap.decode_image(turned).shape[:2] == (width, height)


@pytest.mark.skipif(not PLAIN.exists(), reason="the pictures are not here")
@pytest.mark.parametrize("bits", range(26, 64))
def test_limits_of_any_size(bits):
    data = PLAIN.read_bytes()
    expected = recmap.decode_image(data)
    pixels = recmap.decode_image(data, max_pixels=(1 << bits) - (bits == 63))
    assert np.array_equal(pixels, expected)


def chunk(kind, data, *, damage=0):
    check = zlib.crc32(kind + data) ^ damage
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def with_transparency(damage):
    header = struct.pack(">IIBBBBB", 2, 1, 8, 3, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0])),
            chunk(b"tRNS", bytes([7, 9]), damage=damage),
            chunk(b"IDAT", zlib.compress(bytes([0, 0, 1]))),
            chunk(b"IEND", b""),
        ]
    )


def test_damaged_transparency_is_refused():
    pixels = recmap.decode_image(with_transparency(0), mode="RGBA")
    assert pixels.tolist() == [[[255, 0, 0, 7], [0, 255, 0, 9]]]
    with pytest.raises(recmap.Error, match=r"tRNS: CRC error"):
        recmap.decode_image(with_transparency(1), mode="RGBA")
