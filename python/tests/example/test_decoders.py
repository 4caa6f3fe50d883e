"""Decoders of other pictures, from shared objects: the QOI decoder of docs/examples."""

import contextlib
import os
import pickle
import shutil
import struct
import subprocess

import numpy as np
import pytest
import recmap
from conftest import ROOT

RANDOM = {"crop": recmap.RandomResizedCrop(scale=(0.2, 1)), "flip": 0.5}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles C text or a file to a shared object, and returns its path."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("decoder")

    def compile_source(name, source):
        if isinstance(source, str):
            (folder / f"{name}.c").write_text(source)
            source = folder / f"{name}.c"
        path = folder / f"{name}.so"
        include = f"-I{ROOT / 'include'}"
        subprocess.run([compiler, "-shared", "-fPIC", include, source, "-o", path], check=True)
        return str(path)

    return compile_source


@pytest.fixture(scope="module")
def qoi(compiled):
    return compiled("qoi", ROOT / "docs/examples/decoder_qoi.c")


def hash_of(pixel):
    return sum(int(a) * b for a, b in zip(pixel, (3, 5, 7, 11), strict=True)) % 64


def difference(pixel, last):
    """The difference of each channel as a number from -128 to 127."""
    return [(int(a) - int(b) + 128) % 256 - 128 for a, b in zip(pixel, last, strict=True)]


def operation_of(pixel, last, index):
    """The operation for a pixel that differs from the last one, as https://qoiformat.org says."""
    if index.get(hash_of(pixel)) == pixel:
        return bytes([hash_of(pixel)])
    red, green, blue, alpha = difference(pixel, last)
    if alpha:
        return bytes([0xFF, *pixel])
    if all(-2 <= channel <= 1 for channel in (red, green, blue)):
        return bytes([0x40 | (red + 2) << 4 | (green + 2) << 2 | (blue + 2)])
    if -32 <= green <= 31 and -8 <= red - green <= 7 and -8 <= blue - green <= 7:
        return bytes([0x80 | (green + 32), (red - green + 8) << 4 | (blue - green + 8)])
    return bytes([0xFE, *pixel[:3]])


def encode(pixels):
    """QOI bytes of pixels [height, width, 3 or 4]."""
    height, width, channels = pixels.shape
    opaque = np.full((height, width, 1), 255, np.uint8)
    coloured = pixels if channels == 4 else np.concatenate([pixels, opaque], 2)
    data = [b"qoif", struct.pack(">IIBB", width, height, channels, 0)]
    last, index, run = (0, 0, 0, 255), {}, 0
    for pixel in map(tuple, coloured.reshape(-1, 4).tolist()):
        if pixel == last and run < 62:
            run += 1
            continue
        if run:
            data.append(bytes([0xC0 | (run - 1)]))
        run = 1 if pixel == last else 0
        if not run:
            data.append(operation_of(pixel, last, index))
        index[hash_of(pixel)] = last = pixel
    if run:
        data.append(bytes([0xC0 | (run - 1)]))
    return b"".join(data) + bytes(7) + b"\1"


def drawn(seed, channels=3, height=40, width=50):
    """Pixels with runs, small and large differences, and colours that return."""
    random = np.random.default_rng(seed)
    steps = random.choice([0, 0, 0, 1, -2, 20, 130], (height, width, channels))
    pixels = (np.cumsum(steps, axis=1) + random.integers(0, 256, channels)).astype(np.uint8)
    pixels[5:9], pixels[20:25, ::3] = pixels[5, 0], pixels[0, 0]
    return pixels


def test_qoi_pictures_are_decoded(qoi):
    for channels, mode in ((3, "RGB"), (4, "RGBA")):
        pixels = drawn(channels, channels)
        assert (recmap.decode_image(encode(pixels), mode=mode, decoders=[qoi]) == pixels).all()
    centre = recmap.decode_image(
        encode(drawn(1)), 20, crop=recmap.CenterCrop(resize=40), decoders=[qoi]
    )
    assert (centre == drawn(1)[10:30, 15:35]).all()
    halves = recmap.decode_image(encode(drawn(1)), (20, 25), dtype="float32", decoders=[qoi])
    assert halves.shape == (20, 25, 3) and 0 < halves.mean() < 1


def test_without_the_decoder_the_format_is_named(qoi):
    with pytest.raises(recmap.UnsupportedError, match=r"QOI(?s:.*)give the image a decoder"):
        recmap.decode_image(encode(drawn(1)))


def test_damaged_pictures_are_refused(qoi):
    data = encode(drawn(1))
    for size in range(0, len(data) - 8, 97):
        with pytest.raises((recmap.FeatureError, recmap.UnsupportedError)):
            recmap.decode_image(data[:size], decoders=[qoi])
    with pytest.raises(recmap.FeatureError, match=r'by "qoi": it ends at row 21 of 40'):
        recmap.decode_image(data[: len(data) // 2], decoders=[qoi])
    with pytest.raises(recmap.FeatureError, match="40 x 50 pixels"):
        recmap.decode_image(data, max_pixels=1000, decoders=[qoi])
    random = np.random.default_rng(3)
    for _ in range(300):
        mutated = bytearray(data)
        for at in random.integers(0, len(data), 4):
            mutated[at] = random.integers(256)
        with contextlib.suppress(recmap.FeatureError, recmap.UnsupportedError):
            recmap.decode_image(bytes(mutated), 8, decoders=[qoi], max_pixels=1 << 20)


@pytest.fixture
def photos(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for number in range(40):
            writer.write({"image": encode(drawn(number)), "label": number})
    return recmap.open(tmp_path / "x.rmx")


def load(photos, qoi, **options):
    features = {
        "image": recmap.Image((16, 24), **RANDOM, decoders=[qoi]),
        "label": recmap.FixedLen((), "int64"),
    }
    return recmap.Loader(photos, shuffle=True, seed=7, features=features, **options)


def pixels_by_label(loader):
    return {
        int(label): pixels.tobytes()
        for batch in loader
        for label, pixels in zip(batch["label"], batch["image"], strict=True)
    }


def test_loaders_decode_on_several_threads(photos, qoi):
    seen = pixels_by_label(load(photos, qoi, batch_size=7, threads=3))
    assert len(seen) == 40
    for number, pixels in seen.items():
        alone = recmap.decode_image(
            encode(drawn(number)),
            (16, 24),
            **RANDOM,
            decoders=[qoi],
            seed=7,
            epoch=0,
            number=number,
        )
        assert alone.tobytes() == pixels


def test_the_absolute_path_is_pickled(photos, qoi, monkeypatch, tmp_path):
    monkeypatch.chdir(os.path.dirname(qoi))
    image = recmap.Image(8, decoders=["./qoi.so"])
    monkeypatch.chdir(tmp_path)
    copy = pickle.loads(pickle.dumps(image))
    assert copy == image and copy.decoders == (qoi,)
    assert repr(image) == f"Image(8, decoders={(qoi,)!r})"
    loader = load(photos, qoi, batch_size=10)
    again = pickle.loads(pickle.dumps(loader))
    assert pixels_by_label(again) == pixels_by_label(loader)


def test_a_damaged_picture_is_a_bad_record(tmp_path, qoi):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for number in range(4):
            data = encode(drawn(number))
            writer.write({"image": data[:200] if number == 2 else data})
    ds = recmap.open(tmp_path / "x.rmx")
    features = {"image": recmap.Image(8, decoders=[qoi])}
    with pytest.raises(recmap.FeatureError, match=r'record 2 at .*\'image\': .*"qoi": it ends'):
        ds.parse(range(4), features)
    batch = ds.parse(range(4), features, on_bad_record="collect")
    assert [row for row, _ in batch.failures] == [2]


@pytest.mark.parametrize(
    ("decoders", "error", "message"),
    [
        ("./qoi.so", TypeError, "decoders is a list"),
        (7, TypeError, "decoders is a list"),
        (["qoi.so"], ValueError, "needs a slash"),
        ([b"./qoi.so"], ValueError, "needs a slash"),
    ],
)
def test_wrong_paths_are_refused_where_they_are_given(decoders, error, message):
    with pytest.raises(error, match=message):
        recmap.Image(8, decoders=decoders)


def test_shared_objects_that_are_no_decoders_are_refused(compiled, tmp_path):
    def expect(path, message):
        with pytest.raises(recmap.Error, match=message):
            recmap.decode_image(b"qoif", decoders=[path])

    expect(str(tmp_path / "none.so"), r"none.so: cannot load")
    expect(compiled("empty", "int nothing;"), "recmap_image_decoder_main")
    table = "#include <recmap/image_decoder.h>\nconst recmap_image_decoder decoder = %s;"
    main = "const void *recmap_image_decoder_main(void) { return %s; }"
    expect(compiled("null", main % "0"), "the list is NULL")
    lines = (table % '{1, "x"}') + main % "&decoder"
    expect(compiled("unfinished", lines), "unfinished.so: .*no function `recognizes`")
