"""The pixels of docs/formats/vectors/images.txt, which are the same on every machine and with every
version of the libraries that decode pictures. packaging/test-wheel runs this for its libraries.
"""

import zlib

import pytest
import recmap
from conftest import ROOT, needs_images

PICTURES = ROOT / "tests" / "images"
VECTORS = ROOT / "docs" / "formats" / "vectors" / "images.txt"
CROPS = {
    "center": {"crop": recmap.CenterCrop(64)},
    "resized": {"crop": recmap.RandomResizedCrop(), "flip": 0.5},
    "random": {"crop": recmap.RandomCrop(padding=4, fill=9), "flip": 0.5},
}
pytestmark = [
    needs_images,
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
]


def cases():
    for text in VECTORS.read_text().split("\n\n"):
        title, *lines = text.splitlines()
        if title.startswith("case pixels-"):
            yield title, dict(line.split(" ", 1) for line in lines)


def draw_of(case):
    if case["crop"] not in ("resized", "random"):
        return {}
    return {name: int(case[name]) for name in ("seed", "epoch", "number")}


def pixels_of(case):
    data = (PICTURES / case["file"]).read_bytes()
    return recmap.decode_image(
        data,
        (int(case["height"]), int(case["width"])),
        mode=case["mode"],
        interpolation=case["interpolation"],
        **CROPS.get(case["crop"], {}),
        **draw_of(case),
    )


def test_pixels_are_those_of_the_vectors():
    found = {title: zlib.crc32(pixels_of(case).tobytes()) for title, case in cases()}
    assert len(found) > 100
    assert found == {title: int(case["crc"]) for title, case in cases()}
