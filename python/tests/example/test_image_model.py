"""Columns of pictures in batches that threads divide, compared with docs/formats/images.md: the
model decodes nothing, since the pictures are PNGs of known samples."""

import numpy as np
import pytest
import recmap
from conftest import needs_images
from image_helpers import load_model, png, upright, with_exif

COUNT, SEED, EPOCH = 40, 11, 2  # a batch of 40 is divided into three parts
SIZE = (20, 14)
RESIZED = recmap.RandomResizedCrop(scale=(0.1, 0.9))
CROPS = {
    "whole": None,
    "resized": RESIZED,
    "center": recmap.CenterCrop(24),
    "random": recmap.RandomCrop(padding=5, fill=77),
}
KEYS = ("ymin", "xmin", "ymax", "xmax")
ORIENTATIONS = [1, 6, 3, 8, 5, 2, 7, 4]

pytestmark = needs_images


@pytest.fixture(scope="module")
def draws():
    return load_model()


def samples(number, levels=256):
    """The stored samples of a picture of any shape: gradients with noise."""
    rng = np.random.default_rng(number)
    high, wide = rng.integers(26, 70, 2)
    y, x = np.mgrid[:high, :wide]
    base = np.stack([y * 3 + x, x * 4, (y - x) * 2 + 90], 2) % 256 * (levels // 256)
    return (base + rng.integers(0, levels // 8, (high, wide, 3))).clip(0, levels - 1)


def orientation_of(number):
    return ORIENTATIONS[number % 8]


def picture(number, depth=8):
    data = png(samples(number, 1 << depth), depth=depth, is_interlaced=number % 5 == 0)
    return with_exif(data, orientation_of(number), is_little=number % 3 == 0)


def boxes_of(number):
    rng = np.random.default_rng(1000 + number)
    return np.float32(np.sort(rng.uniform(-0.1, 1.1, (number % 4, 2, 2)), axis=1).reshape(-1, 4))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    with recmap.Writer(folder / "x.tfrecord", index=folder / "x.rmx") as writer:
        for number in range(COUNT):
            boxes = {key: boxes_of(number)[:, i] for i, key in enumerate(KEYS)}
            pair = [picture(number), picture(number + 7)]
            deep = picture(number, 16)
            writer.write({"image": pair[0], "pair": pair, "deep": deep, "n": number, **boxes})
    return recmap.open(folder / "x.rmx")


# ---- The model.


def scaled_to(pixels, sides, draws, cut=None, depth=8):
    """`draws.resize`, which is made for 8 bits, for both depths."""
    if depth == 8:
        return draws.resize(pixels, *sides, cut=cut)
    rows = pixels.astype(np.int64)
    y, x, h, w = cut or (0, 0, *sides)
    rows = draws.scaled(rows, 0, len(pixels), (h, sides[0]), y, "bilinear", True, 8)
    result = draws.scaled(rows, 1, pixels.shape[1], (w, sides[1]), x, "bilinear", True, 20)
    return result.clip(0, 65535)


def center_of(height, width, resize):
    """The size of the whole picture once it is scaled, and where the result lies in it."""
    if width <= height:
        tall, wide = resize * height // width, resize
    else:
        tall, wide = resize, resize * width // height
    top, left = (round((side - out) / 2) for side, out in ((tall, SIZE[0]), (wide, SIZE[1])))
    return (tall, wide), (top, left, *SIZE)


def rectangle_of(draws, crop, state, height, width):
    """(top, left, height, width), in the upright picture."""
    if crop is None:
        return 0, 0, height, width
    if isinstance(crop, recmap.RandomResizedCrop):
        x, y, w, h = draws.random_resized(state, width, height, crop.scale, crop.ratio)
        return y, x, h, w
    left, top = (
        draws.below(draws.word(state, i), side + 2 * crop.padding - out + 1) - crop.padding
        for i, side, out in ((1, width, SIZE[1]), (2, height, SIZE[0]))
    )
    return top, left, *SIZE


def turned_back(pixels, orientation):
    """What is upright in the order in which it is stored, where the filter works."""
    return upright(pixels, {6: 8, 8: 6}.get(orientation, orientation))


def scale_upright(pixels, orientation, sides, draws, depth, cut=None):
    """Scales upright pixels along the stored rows and columns, then cuts the upright result."""
    stored = turned_back(pixels, orientation)
    stored_sides = sides[::-1] if orientation > 4 else sides
    whole = upright(scaled_to(stored, stored_sides, draws, depth=depth), orientation)
    y, x, h, w = cut or (0, 0, *sides)
    return whole[y : y + h, x : x + w]


def expected(draws, crop, flip, data_number, number, depth=8, *, exif=True, position=None):
    orientation = orientation_of(data_number) if exif else 1
    pixels = upright(samples(data_number, 1 << depth), orientation)
    height, width = pixels.shape[:2]
    state = draws.draw_state(SEED, EPOCH, number, position, "")
    if isinstance(crop, recmap.CenterCrop):
        sides, cut = center_of(height, width, crop.resize)
        result = scale_upright(pixels, orientation, sides, draws, depth, cut)
    elif isinstance(crop, recmap.RandomCrop):
        top, left, h, w = rectangle_of(draws, crop, state, height, width)
        pad = crop.padding
        fill = crop.fill * (257 if depth == 16 else 1)
        padded = np.pad(pixels, ((pad, pad), (pad, pad), (0, 0)), constant_values=fill)
        result = padded[top + pad : top + pad + h, left + pad : left + pad + w]
    else:
        y, x, h, w = rectangle_of(draws, crop, state, height, width)
        cut = pixels[y : y + h, x : x + w]
        result = scale_upright(cut, orientation, SIZE, draws, depth)
    return result[:, ::-1] if draws.unit(draws.word(state, 0)) < flip else result


def batches(photos, features):
    """The batch of all records, read in the ways that divide it."""
    for threads in (2, 3):
        yield photos.parse(range(COUNT), features, seed=SEED, epoch=EPOCH, threads=threads)
    order = recmap.Sequential(COUNT)
    options = {"order": order, "seed": SEED, "threads": 3, "features": features}
    loader = recmap.Loader(photos, COUNT, **options)
    loader.seek(EPOCH, 0)
    batch = next(iter(loader))
    assert batch.numbers.tolist() == list(range(COUNT))
    yield batch
    loader.close()


# ---- Comparisons.


@pytest.mark.parametrize("name", CROPS)
@pytest.mark.parametrize("exif", [True, False])
def test_turns_with_crops_flips_and_scaling(photos, draws, name, exif):
    crop = CROPS[name]
    features = {"image": recmap.Image(SIZE, crop=crop, flip=0.5, exif=exif)}
    wanted = [expected(draws, crop, 0.5, i, i, exif=exif) for i in range(COUNT)]
    for batch in batches(photos, features):
        assert np.array_equal(batch["image"], wanted)


@pytest.mark.parametrize("name", CROPS)
def test_16_bits(photos, draws, name):
    crop = CROPS[name]
    features = {"deep": recmap.Image(SIZE, crop=crop, flip=0.5, dtype="uint16")}
    wanted = [expected(draws, crop, 0.5, i, i, depth=16) for i in range(COUNT)]
    for batch in batches(photos, features):
        assert batch["deep"].dtype == np.uint16
        assert np.array_equal(batch["deep"], wanted)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_floating_point_with_mean_and_std(photos, draws, dtype, layout):
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    options = {"dtype": dtype, "layout": layout, "mean": mean, "std": std}
    features = {"image": recmap.Image(SIZE, crop=RESIZED, flip=0.5, **options)}
    levels = np.array([expected(draws, RESIZED, 0.5, i, i) for i in range(COUNT)])
    wanted = ((levels / 255 - mean) / std).astype(np.float32).astype(dtype)
    wanted = wanted.transpose(0, 3, 1, 2) if layout == "CHW" else wanted
    for batch in batches(photos, features):
        assert batch["image"].dtype == dtype and np.array_equal(batch["image"], wanted)


def test_channels_first(photos, draws):
    features = {"image": recmap.Image(SIZE, crop=RESIZED, flip=0.5, layout="CHW")}
    wanted = [expected(draws, RESIZED, 0.5, i, i).transpose(2, 0, 1) for i in range(COUNT)]
    for batch in batches(photos, features):
        assert np.array_equal(batch["image"], wanted)


@pytest.mark.parametrize("name", CROPS)
def test_lists_of_pictures(photos, draws, name):
    crop = CROPS[name]
    frame = recmap.Image(SIZE, crop=crop, flip=0.5)
    features = {"pair": recmap.FixedLen(2, frame), "any": recmap.VarLen(frame, key="pair")}
    wanted = [
        [expected(draws, crop, 0.5, number, i) for number in (i, i + 7)] for i in range(COUNT)
    ]
    for batch in batches(photos, features):
        assert np.array_equal(batch["pair"], wanted)
        assert batch["any"].lengths.tolist() == [2] * COUNT
        assert np.array_equal(batch["any"].values.reshape(batch["pair"].shape), wanted)


def test_positions_count(photos, draws):
    features = {"image": recmap.Image(SIZE, crop=RESIZED, flip=0.5)}
    order = recmap.WithReplacement(COUNT, seed=1)
    loader = recmap.Loader(photos, COUNT, order=order, seed=SEED, threads=3, features=features)
    loader.seek(EPOCH, 0)
    batch = next(iter(loader))
    for place, number in enumerate(batch.numbers.tolist()):
        wanted = expected(draws, RESIZED, 0.5, number, number, position=place)
        assert np.array_equal(batch["image"][place], wanted)


# ---- Boxes.


def turned(boxes, orientation):
    """Shares of the stored sides become shares of the upright ones: corners are points."""
    corners = boxes.astype(float).reshape(-1, 2, 2)[..., ::-1]  # x, y
    x, y = corners[..., 0], corners[..., 1]
    points = [(x, y), (1 - x, y), (1 - x, 1 - y), (x, 1 - y)]
    points += [(y, x), (1 - y, x), (1 - y, 1 - x), (y, 1 - x)]
    x, y = points[orientation - 1]
    return np.stack([y.min(1), x.min(1), y.max(1), x.max(1)], 1)


def moved(draws, crop, flip, number):
    """Boxes in shares of the result, not yet cut."""
    orientation = orientation_of(number)
    boxes = turned(boxes_of(number), orientation)
    height, width = upright(samples(number), orientation).shape[:2]
    state = draws.draw_state(SEED, EPOCH, number, None, "")
    if isinstance(crop, recmap.CenterCrop):
        (tall, wide), (top, left, *_) = center_of(height, width, crop.resize)
        boxes = (boxes * ([tall, wide] * 2) - [top, left] * 2) / (SIZE * 2)
    else:
        top, left, h, w = rectangle_of(draws, crop, state, height, width)
        boxes = (boxes * ([height, width] * 2) - [top, left] * 2) / ([h, w] * 2)
    is_flipped = draws.unit(draws.word(state, 0)) < flip
    return boxes[:, [0, 3, 2, 1]] * [1, -1, 1, -1] + [0, 1, 0, 1] if is_flipped else boxes


def areas(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


@pytest.mark.parametrize("name", CROPS)
def test_boxes(photos, draws, name):
    crop = CROPS[name]
    image = recmap.Image(SIZE, crop=crop, flip=0.5)
    features = {"image": image, "boxes": recmap.Boxes("image", keys=KEYS)}
    for batch in batches(photos, features):
        assert batch["boxes"].lengths.tolist() == [number % 4 for number in range(COUNT)]
        for number in range(COUNT):
            boxes = moved(draws, crop, 0.5, number)
            cut = boxes.clip(0, 1)
            assert np.allclose(batch["boxes"][number], cut, atol=1e-6)
            visible = areas(cut) / areas(boxes)
            assert np.allclose(batch["boxes/visible"][number], visible, atol=1e-5)
