"""Pixels compared with Pillow and torchvision, and rectangles with those that torchvision draws.

Pillow and torchvision are not in every environment. RECMAP_TEST_LONG=1 compares 300 pictures and
200,000 rectangles, else fewer. OpenCV, if it is there, writes samplings that Pillow does not.
"""

import importlib.util
import io
import math
import os

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images
from image_helpers import load_model, png

HAS_OPENCV = importlib.util.find_spec("cv2") is not None
IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
SAMPLINGS = ["4:4:4", "4:2:2", "4:2:0", "440", "411", "gray"]
SIDES = [(1, 1), (1, 1000), (1000, 1), (2, 3), (7, 8), (9, 16), (17, 33), (31, 5)]

pytestmark = needs_images


# ---- Pictures.


def scene(number):
    """A picture with gradients, edges and noise. Every third one has one of the odd sizes."""
    rng = np.random.default_rng(number)
    high, wide = rng.integers(1, 300, 2) if number % 3 else SIDES[number // 3 % len(SIDES)]
    y, x = np.mgrid[:high, :wide]
    waves = [np.sin(x / a + y / b) for a, b in rng.uniform(2, 40, (3, 2))]
    base = 128 + 70 * np.stack(waves, 2) + 60 * ((x // 11 + y // 7) % 2)[..., None]
    return (base + rng.normal(0, 12, (high, wide, 3))).clip(0, 255).astype(np.uint8)


def encoded_by_opencv(number, sampling):
    """Pillow does not write these samplings."""
    cv2 = pytest.importorskip("cv2")
    options = {
        "SAMPLING_FACTOR": getattr(cv2, f"IMWRITE_JPEG_SAMPLING_FACTOR_{sampling}"),
        "QUALITY": 60 + number % 36,
        "PROGRESSIVE": number % 7 in (1, 4),
        "RST_INTERVAL": number % 4 if number % 5 == 2 else 0,
    }
    flags = []
    for name, value in options.items():
        flags += [getattr(cv2, f"IMWRITE_JPEG_{name}"), int(value)]
    return cv2.imencode(".jpg", scene(number), flags)[1].tobytes()


def encoded(number):
    """A JPEG of each sampling in turn: baseline or progressive, some with restart intervals."""
    image = pytest.importorskip("PIL.Image")
    sampling = SAMPLINGS[number % len(SAMPLINGS)]
    if sampling in ("440", "411") and HAS_OPENCV:
        return encoded_by_opencv(number, sampling)
    options = {"quality": 60 + number % 36, "progressive": number % 7 in (1, 4)}
    if number % 5 == 2:
        options["restart_marker_blocks"] = 1 + number % 4
    picture = image.fromarray(scene(number))
    if sampling == "gray":
        picture = picture.convert("L")
    elif sampling.startswith("4:"):
        options["subsampling"] = sampling
    stream = io.BytesIO()
    picture.save(stream, "JPEG", **options)
    return stream.getvalue()


def sizes_of(number, pixels):
    """Sizes to scale to: both smaller, both larger, and one of each."""
    rng = np.random.default_rng([number, 1])
    high, wide = pixels.shape[:2]
    down = [max(1, int(n / rng.uniform(1, 12))) for n in (high, wide)]
    up = [int(n * rng.uniform(1, 3)) + 1 for n in (high, wide)]
    return [(down[0], down[1]), (min(up[0], 700), min(up[1], 700)), (down[0], min(up[1], 700))]


def worst(a, b):
    return int(abs(a.astype(int) - b).max())


def pictures():
    for number in range(300 if IS_LONG else 48):
        yield number, encoded(number)


def test_pixels_are_pillows_to_within_one_level():
    image = pytest.importorskip("PIL.Image")
    for number, data in pictures():
        decoded = image.open(io.BytesIO(data)).convert("RGB")
        pixels = np.asarray(decoded)
        assert worst(recmap.decode_image(data), pixels) <= 1, number
        for high, wide in sizes_of(number, pixels):
            wanted = np.asarray(decoded.resize((wide, high), image.Resampling.BILINEAR))
            assert worst(recmap.decode_image(data, (high, wide)), wanted) <= 1, number


def test_unusual_samplings_are_pillows():
    """Among them factors of 3 and 4, and arithmetic coding, that no encoder here writes."""
    image = pytest.importorskip("PIL.Image")
    folder = ROOT / "tests" / "fuzz" / "corpus" / "image"
    paths = sorted(folder.glob("*.jpg"))
    assert len(paths) > 8 or not folder.exists()
    for path in paths:
        with image.open(path) as picture:
            wanted = np.asarray(picture.convert("RGB"))
        assert worst(recmap.decode_image(path.read_bytes()), wanted) <= 1, path.name


def test_bicubic_pixels_are_pillows_unless_edges_overshoot():
    """Pillow cuts what overshoots 0 to 255 after each of its passes, recmap once at the end. Levels
    from 64 to 191 do not overshoot so far."""
    image = pytest.importorskip("PIL.Image")
    for number in range(300 if IS_LONG else 48):
        pixels = 64 + scene(number) // 2
        for high, wide in sizes_of(number, pixels):
            wanted = image.fromarray(pixels).resize((wide, high), image.Resampling.BICUBIC)
            scaled = recmap.decode_image(png(pixels), (high, wide), interpolation="bicubic")
            assert worst(scaled, np.asarray(wanted)) <= 1, number


def is_between(size, count):
    """True for each pixel of the result whose centre lies between two pixels."""
    return (2 * np.arange(count) + 1) * size % (2 * count) == 0


def test_nearest_pixels_are_pillows_unless_a_centre_lies_between_two():
    image = pytest.importorskip("PIL.Image")
    for number, data in pictures():
        decoded = image.open(io.BytesIO(data)).convert("RGB")
        whole = np.asarray(decoded)
        for high, wide in sizes_of(number, whole):
            wanted = np.asarray(decoded.resize((wide, high), image.Resampling.NEAREST))
            pixels = recmap.decode_image(data, (high, wide), interpolation="nearest")
            rows = ~is_between(whole.shape[0], high)
            columns = ~is_between(whole.shape[1], wide)
            same = np.ix_(rows, columns)
            assert not pixels[same].size or worst(pixels[same], wanted[same]) <= 1, number


def test_crops_are_pillows_to_within_one_level():
    """Cut from what Pillow decodes, and then scaled: nothing is missed at the edges."""
    image = pytest.importorskip("PIL.Image")
    model, crop = load_model(), recmap.RandomResizedCrop()
    for number, data in pictures():
        decoded = image.open(io.BytesIO(data)).convert("RGB")
        state = model.draw_state(3, 1, number, None, "")
        x, y, w, h = model.random_resized(state, *decoded.size, crop.scale, crop.ratio)
        cut = decoded.crop((x, y, x + w, y + h)).resize((60, 50), image.Resampling.BILINEAR)
        pixels = recmap.decode_image(data, (50, 60), crop=crop, seed=3, epoch=1, number=number)
        assert worst(pixels, np.asarray(cut)) <= 1, number


@pytest.mark.parametrize("short", [32, 77, 300])
def test_center_crops_are_torchvisions(short):
    pytest.importorskip("torchvision")
    image = pytest.importorskip("PIL.Image")
    from torchvision.transforms.v2 import functional

    size = (30, 28)
    for number, data in pictures():
        decoded = image.open(io.BytesIO(data)).convert("RGB")
        if max(decoded.size) > 20 * min(decoded.size):
            continue  # thousands of pixels wide
        scaled = functional.resize(decoded, [short])
        wanted = np.asarray(functional.center_crop(scaled, list(size)))
        pixels = recmap.decode_image(data, size, crop=recmap.CenterCrop(short))
        assert worst(pixels, wanted) <= 1, number


# ---- Rectangles.

COUNT = 200_000 if IS_LONG else 20_000
HEIGHT, WIDTH = 64, 84
GRID = 33  # at least three edges of a grid this fine lie in any rectangle
KEYS = ("ymin", "xmin", "ymax", "xmax")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """(top, left, height, width, is flipped) of many draws "a" and "b", found from boxes.

    Each record has the edges of a grid as boxes without an area. Two that lie in the rectangle say
    how it was scaled, and so where it is."""
    folder = tmp_path_factory.mktemp("drawn")
    edges = np.linspace(0, 1, GRID, dtype=np.float32)
    picture = png(np.zeros((HEIGHT, WIDTH, 1), np.uint8))
    with recmap.Writer(folder / "x.tfrecord", index=folder / "x.rmx") as writer:
        for _ in range(1000):
            writer.write({"image": picture, **dict.fromkeys(KEYS, edges)})
    crop, features = recmap.RandomResizedCrop(), {}
    for name in "ab":
        image = recmap.Image(1, mode="L", key="image", crop=crop, flip=0.5, draw=name)
        features |= {f"image {name}": image, name: recmap.Boxes(f"image {name}", keys=KEYS)}
    ds = recmap.open(folder / "x.rmx")
    found = {"a": [], "b": []}
    for epoch in range(COUNT // 1000):
        batch = ds.parse(range(1000), features, seed=8, epoch=epoch, threads=2)
        for name, rectangles in found.items():
            places = batch[name].values.astype(float).reshape(1000, GRID, 4)
            rectangles.append(rectangles_of(places, edges.astype(float)))
    return {name: np.concatenate(rectangles, 1) for name, rectangles in found.items()}


def ends_of(places, edges, side):
    """The first pixel and the size of ranges, and which ones are mirrored."""
    inside = (places > 0) & (places < 1)
    first, last = inside.argmax(1), GRID - 1 - inside[:, ::-1].argmax(1)
    assert (last > first).all()
    rows = np.arange(len(places))
    slope = (places[rows, last] - places[rows, first]) / (edges[last] - edges[first])
    is_mirrored = slope < 0
    start = np.where(is_mirrored, 1 - places[rows, first], places[rows, first])
    size = side / abs(slope)
    return edges[first] * side - start * size, size, is_mirrored


def rectangles_of(places, edges):
    top, height, _ = ends_of(places[..., 0], edges, HEIGHT)
    left, width, is_flipped = ends_of(places[..., 1], edges, WIDTH)
    pixels = np.stack([top, left, height, width])
    assert abs(pixels - np.rint(pixels)).max() < 0.01
    return np.concatenate([np.rint(pixels).astype(int), [is_flipped]])


def fallback():
    """The whole picture, unless its aspect is not allowed."""
    assert 3 / 4 <= WIDTH / HEIGHT <= 4 / 3
    return np.array([[0], [0], [HEIGHT], [WIDTH]])


def rectangles_of_numpy(count):
    """The algorithm of torchvision's RandomResizedCrop.get_params, for many pictures at once."""
    rng = np.random.default_rng(5)
    result = np.repeat(fallback(), count, 1)
    left = np.arange(count)
    for _ in range(10):
        area = HEIGHT * WIDTH * rng.uniform(0.08, 1, len(left))
        aspect = np.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3), len(left)))
        w, h = np.rint(np.sqrt(area * aspect)), np.rint(np.sqrt(area / aspect))
        fits = (w > 0) & (w <= WIDTH) & (h > 0) & (h <= HEIGHT)
        w, h = w[fits].astype(int), h[fits].astype(int)
        y, x = rng.integers(0, HEIGHT - h + 1), rng.integers(0, WIDTH - w + 1)
        result[:, left[fits]] = y, x, h, w
        left = left[~fits]
    return result


def rectangles_of_torchvision(count):
    torch = pytest.importorskip("torch")
    transforms = pytest.importorskip("torchvision.transforms")
    torch.manual_seed(5)
    picture = torch.zeros(1, HEIGHT, WIDTH)
    draw = transforms.RandomResizedCrop.get_params
    return np.array([draw(picture, [0.08, 1], [3 / 4, 4 / 3]) for _ in range(count)]).T


def p_value(a, b):
    """Of the two-sample Kolmogorov-Smirnov test."""
    values = np.sort(np.concatenate([a, b]))
    shares = [np.searchsorted(np.sort(side), values, "right") / len(side) for side in (a, b)]
    distance = abs(shares[0] - shares[1]).max()
    scaled = distance * math.sqrt(len(a) * len(b) / (len(a) + len(b)))
    terms = [(-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101)]
    return min(1, 2 * sum(terms)) if scaled > 0.2 else 1


@pytest.mark.parametrize("source", [rectangles_of_numpy, rectangles_of_torchvision])
def test_rectangles_are_distributed_as_torchvisions(drawn, source):
    reference = source(COUNT).astype(float)
    for rectangles in drawn.values():
        top, left, height, width = rectangles[:4].astype(float)
        y, x, h, w = reference
        assert p_value(height * width, h * w) > 0.001
        assert p_value(width / height, w / h) > 0.001
        assert p_value(left, x) > 0.001 and p_value(top, y) > 0.001
        wrong = height * width + HEIGHT * WIDTH / 50
        assert p_value(wrong, h * w) < 0.001


def test_half_of_the_rectangles_are_flipped(drawn):
    for rectangles in drawn.values():
        assert abs(rectangles[4].sum() - COUNT / 2) < 4 * math.sqrt(COUNT / 4)


def test_draws_of_two_names_are_not_correlated(drawn):
    """Neither are a draw's own flip, place and area, as far as the area leaves the place free."""
    a, b = (np.stack([*r, r[2] * r[3], r[3] / r[2]]) for r in drawn.values())
    limit = 4 / math.sqrt(COUNT)
    across = np.corrcoef(a.astype(float), b.astype(float))[:7, 7:]
    assert abs(across).max() < limit
    for rectangles in (a, b):
        assert abs(np.corrcoef(rectangles[4], rectangles[5])[0, 1]) < limit
        later = np.corrcoef(rectangles[:, :-1000], rectangles[:, 1000:])[:7, 7:]
        assert abs(later).max() < limit  # the same record in the next epoch
