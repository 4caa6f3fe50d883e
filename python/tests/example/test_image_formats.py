"""Kinds of pictures, made here from arrays: samples of PNG, inks of JPEG, orientations of EXIF."""

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images
from image_helpers import GRAY, PALETTE, chunk, png, upright, with_exif

PICTURES = ROOT / "tests" / "images"
SIZES = [(1, 1), (3, 5), (8, 8), (13, 9), (2, 17)]

pytestmark = [
    needs_images,
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
]


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["plain", "interlaced"])
def kind(request):
    return {"is_interlaced": request.param}


def samples(size, channels, depth):
    rng = np.random.default_rng([*size, channels, depth])
    return rng.integers(0, 1 << depth, (*size, channels))


def equal(pixels, expected):
    return np.array_equal(pixels, np.broadcast_to(expected, pixels.shape))


# ---- PNG.


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_gray(size, kind, depth):
    gray = samples(size, 1, depth)
    levels = gray * 255 // ((1 << depth) - 1)
    plain = png(gray, depth=depth, **kind)
    clear = int(gray[0, 0, 0])
    transparent = png(gray, depth=depth, extra=chunk(b"tRNS", bytes([0, clear])), **kind)
    for data in (plain, transparent):
        assert equal(recmap.decode_image(data), levels)
        assert equal(recmap.decode_image(data, mode="L"), levels)
    pixels = recmap.decode_image(transparent, mode="RGBA")
    assert equal(pixels[..., :3], levels)
    assert equal(pixels[..., 3:], np.where(gray == clear, 0, 255))
    assert equal(recmap.decode_image(plain, mode="RGBA")[..., 3], 255)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_palettes(size, kind, depth):
    index = samples(size, 1, depth)
    colours = samples((1 << depth, 1), 4, 8)[:, 0]
    table = chunk(b"PLTE", colours[:, :3].astype(np.uint8).tobytes())
    alphas = chunk(b"tRNS", colours[:-1, 3].astype(np.uint8).tobytes())  # the last one is opaque
    colours[-1, 3] = 255
    chosen = colours[index[..., 0]]
    plain = png(index, colour=PALETTE, depth=depth, extra=table, **kind)
    transparent = png(index, colour=PALETTE, depth=depth, extra=table + alphas, **kind)
    assert equal(recmap.decode_image(plain), chosen[..., :3])
    assert equal(recmap.decode_image(transparent), chosen[..., :3])
    assert equal(recmap.decode_image(transparent, mode="RGBA"), chosen)


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize("channels", [2, 3, 4])
def test_colour_and_alpha(size, kind, depth, channels):
    stored = samples(size, channels, depth)
    colour = np.repeat(stored[..., :1], 3, 2) if channels == 2 else stored[..., :3]
    alpha = stored[..., -1:] if channels != 3 else np.full((*size, 1), (1 << depth) - 1)
    wanted = np.concatenate([colour, alpha], 2)
    data = png(stored, depth=depth, **kind)
    deep = wanted if depth == 16 else wanted * 257
    assert equal(recmap.decode_image(data, mode="RGBA", dtype="uint16"), deep)
    assert equal(recmap.decode_image(data, dtype="uint16"), deep[..., :3])
    if channels == 2 and depth == 16:
        with pytest.raises(recmap.FeatureError, match="16 bits"):
            recmap.decode_image(data)
        return
    levels = wanted if depth == 8 else (wanted + 128) // 257
    assert equal(recmap.decode_image(data, mode="RGBA"), levels)
    assert equal(recmap.decode_image(data), levels[..., :3])


def test_a_transparent_colour(size, kind):
    stored = samples(size, 3, 8)
    stored[::2] = stored[0, 0]
    clear = stored[0, 0].astype(">u2").tobytes()
    data = png(stored, extra=chunk(b"tRNS", clear), **kind)
    pixels = recmap.decode_image(data, mode="RGBA")
    assert equal(pixels[..., :3], stored)
    assert equal(pixels[..., 3], np.where((stored == stored[0, 0]).all(2), 0, 255))
    assert equal(recmap.decode_image(data), stored)


def test_gray_of_16_bits(size, kind):
    stored = samples(size, 1, 16)
    data = png(stored, colour=GRAY, depth=16, **kind)
    assert equal(recmap.decode_image(data, mode="L", dtype="uint16"), stored)
    with pytest.raises(recmap.FeatureError, match="16 bits"):
        recmap.decode_image(data)


INFOS = {
    "gray-2.png": ("L", 2),
    "gray-4.png": ("L", 4),
    "gray-16.png": ("L", 16),
    "gray-alpha.png": ("LA", 8),
    "interlaced.png": ("RGB", 8),
    "palette-2.png": ("P", 2),
    "rgb-16.png": ("RGB", 16),
    "transparent-gray.png": ("L", 4),
    "transparent-rgb.png": ("RGB", 8),
}


@pytest.mark.parametrize("name", INFOS)
def test_files_of_tests_images(name):
    """Pillow wrote or checked them, see tests/images/make-images; the vectors have their pixels."""
    data = (PICTURES / name).read_bytes()
    info = recmap.image_info(data)
    assert (info.format, info.mode, info.bits) == ("png", *INFOS[name])
    assert data[28] == (name == "interlaced.png")
    pixels = recmap.decode_image(data, mode="RGBA", dtype="uint16")
    assert (pixels[..., 3] < 65535).any() == name.startswith(("transparent", "gray-alpha"))


# ---- Inks of JPEG.

# The samples that inks.jpg stores, one colour for each block of 16 x 16 pixels, and at quality 100:
# a decoder gives them back to within two levels.
INKS = np.array([[(200, 30, 90, 250), (10, 220, 128, 200)], [(255, 255, 0, 120), (60, 60, 60, 60)]])


def inks():
    data = (PICTURES / "inks.jpg").read_bytes()
    begin = data.index(b"\xff\xee")
    end = begin + 2 + int.from_bytes(data[begin + 2 : begin + 4], "big")
    assert data[begin + 4 : begin + 9] == b"Adobe" and data[end - 1] == 0  # CMYK
    return data, begin, end


def near(data, expected):
    pixels = recmap.decode_image(data).astype(int)
    return abs(pixels - np.kron(expected, np.ones((16, 16, 1), int))).max() <= 3


def test_cmyk_with_adobes_marker_has_inverted_inks():
    assert near(inks()[0], INKS[..., :3] * INKS[..., 3:] // 255)


def test_cmyk_without_adobes_marker():
    data, begin, end = inks()
    plain = 255 - INKS
    assert near(data[:begin] + data[end:], plain[..., :3] * plain[..., 3:] // 255)


def test_ycck():
    """The same samples, as YCbCr of what the inks leave."""
    data, _, end = inks()
    y, blue, red = np.moveaxis(INKS[..., :3] - [0, 128, 128], 2, 0)
    rgb = [y + 1.402 * red, y - 0.344136 * blue - 0.714136 * red, y + 1.772 * blue]
    left = 255 - np.rint(np.stack(rgb, 2)).clip(0, 255)
    assert near(data[: end - 1] + b"\2" + data[end:], left * INKS[..., 3:] // 255)


# ---- Orientations.


@pytest.mark.parametrize("is_little", [False, True], ids=["big", "little"])
@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    ("name", "options"),
    [("plain-420.jpg", {}), ("interlaced.png", {}), ("lossy.webp", {"size": (96, 64)})],
)
def test_orientations(name, options, orientation, is_little):
    data = (PICTURES / name).read_bytes()
    turned = with_exif(data, orientation, is_little, **options)
    stored = recmap.decode_image(data)
    assert recmap.image_info(turned).orientation == orientation
    assert equal(recmap.decode_image(turned), upright(stored, orientation))
    assert equal(recmap.decode_image(turned, exif=False), stored)


@pytest.mark.parametrize("orientation", [0, 9, 256])
def test_other_orientations_count_as_1(orientation):
    data = (PICTURES / "plain-420.jpg").read_bytes()
    for is_little in (False, True):
        turned = with_exif(data, orientation, is_little)
        assert recmap.image_info(turned).orientation == 1
        assert equal(recmap.decode_image(turned), recmap.decode_image(data))
