"""Boxes, compared with a model of torchvision v2's rules: crop, resize, flip, clamp, in pixels."""

import numpy as np
import pytest
import recmap
from conftest import ROOT
from image_helpers import load_model, png

PICTURES = ROOT / "tests" / "images"
NAMES = [*(f"turned-{i}.jpg" for i in range(1, 9)), "plain-420.jpg", "rgb.png", "lossy.webp"]
KEYS = ("bbox/ymin", "bbox/xmin", "bbox/ymax", "bbox/xmax")

pytestmark = pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here")


@pytest.fixture(scope="module")
def draws():
    return load_model()


def boxes_of(number):
    """The boxes of a record: any number of them, some over the edge."""
    rng = np.random.default_rng(number)
    corners = np.sort(rng.uniform(-0.1, 1.1, (number % 5, 2, 2)), axis=1)
    return np.float32(corners.reshape(-1, 4))


@pytest.fixture
def photos(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for number in range(44):
            boxes = boxes_of(number)
            features = {key: boxes[:, i] for i, key in enumerate(KEYS)} | {"packed": boxes.ravel()}
            picture = (PICTURES / NAMES[number % len(NAMES)]).read_bytes()
            writer.write({"image": picture, "labels": np.arange(len(boxes)), **features})
    return recmap.open(tmp_path / "x.rmx")


def flipped(boxes, width):
    return boxes[:, [0, 3, 2, 1]] * [1, -1, 1, -1] + [0, width, 0, width]


def upside_down(boxes, height):
    return boxes[:, [2, 1, 0, 3]] * [-1, 1, -1, 1] + [height, 0, height, 0]


def upright(boxes, height, width, orientation):
    """Boxes in pixels, of a picture of this size once it is upright."""
    boxes = boxes * ([width, height] * 2 if orientation > 4 else [height, width] * 2)
    if orientation > 4:
        boxes = boxes[:, [1, 0, 3, 2]]
    if orientation in (2, 3, 6, 7):
        boxes = flipped(boxes, width)
    if orientation in (3, 4, 7, 8):
        boxes = upside_down(boxes, height)
    return boxes


def areas(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def rectangle_of(draws, image, state, height, width):
    """(top, left, height, width), scaled to the size of the image."""
    size = image.size
    if image.crop is None:
        return 0, 0, height, width
    if isinstance(image.crop, recmap.RandomResizedCrop):
        x, y, w, h = draws.random_resized(state, width, height, image.crop.scale, image.crop.ratio)
        return y, x, h, w
    padding = image.crop.padding
    left, top = (
        draws.below(draws.word(state, i), side + 2 * padding - out + 1) - padding
        for i, side, out in ((1, width, size[1]), (2, height, size[0]))
    )
    return top, left, *size


def expected(draws, image, number, seed):
    info = recmap.image_info((PICTURES / NAMES[number % len(NAMES)]).read_bytes())
    orientation = info.orientation if image.exif else 1
    height, width = info.height, info.width
    if not image.exif and info.orientation > 4:
        height, width = width, height
    state = draws.draw_state(seed, 2, number, None, "")
    top, left, h, w = rectangle_of(draws, image, state, height, width)
    out_height, out_width = image.size
    boxes = upright(boxes_of(number).astype(float), height, width, orientation)
    boxes = (boxes - [top, left] * 2) * ([out_height / h, out_width / w] * 2)
    return boxes, out_height, out_width, draws.unit(draws.word(state, 0)) < image.flip


@pytest.mark.parametrize(
    "image",
    [
        recmap.Image((24, 20)),
        recmap.Image((24, 20), flip=0.5, exif=False),
        recmap.Image((12, 20), crop=recmap.RandomResizedCrop(), flip=0.5),
        recmap.Image((12, 14), crop=recmap.RandomCrop(padding=4), flip=0.5),
    ],
    ids=["whole", "as stored", "resized crop", "crop"],
)
def test_boxes_are_torchvisions(photos, draws, image):
    features = {"image": image, "boxes": recmap.Boxes("image", keys=KEYS)}
    batch = photos.parse(range(44), features, seed=11, epoch=2)
    assert list(batch) == ["image", "boxes", "boxes/visible"]
    seen = 0
    for number in range(44):
        boxes, height, width, is_flipped = expected(draws, image, number, 11)
        boxes = flipped(boxes, width) if is_flipped else boxes
        clamped = boxes.clip(0, [height, width] * 2)
        assert batch["boxes"][number].shape == (number % 5, 4)
        assert np.allclose(batch["boxes"][number], clamped / ([height, width] * 2), atol=1e-6)
        visible = areas(clamped) / areas(boxes)
        assert np.allclose(batch["boxes/visible"][number], visible, atol=1e-5)
        seen += ((visible > 0) & (visible < 1)).sum()
    assert seen > 20


def test_boxes_in_one_feature(photos):
    both = {**SPEC, "packed": recmap.Boxes("image", keys=("packed",))}
    batch = photos.parse(range(44), both, seed=11, epoch=2)
    for end in ("", "/visible"):
        packed, separate = batch[f"packed{end}"], batch[f"boxes{end}"]
        assert (packed.offsets == separate.offsets).all()
        assert (packed.values == separate.values).all()
    wrong = {**SPEC, "boxes": recmap.Boxes("image", keys=("bbox/ymin",))}
    with pytest.raises(recmap.FeatureError, match=r"1 value where steps of .4. need a multiple of"):
        photos.parse([1], wrong, seed=1, epoch=0)


def test_boxes_frame_the_same_pixels(tmp_path):
    """The centre crop of a picture with one white rectangle, which the box surrounds."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[12:20, 30:40] = 255
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        edges = dict(zip(KEYS, np.float32([[12 / 40], [0.5], [0.5], [40 / 60]]), strict=True))
        writer.write({"image": png(pixels), **edges})
    image = recmap.Image((30, 30), crop=recmap.CenterCrop(resize=40), flip=1.0)
    features = {"image": image, "boxes": recmap.Boxes("image", keys=KEYS)}
    batch = recmap.open(tmp_path / "x.rmx").parse([0], features)
    y0, x0, y1, x1 = np.rint(batch["boxes"][0][0] * 30).astype(int)
    assert (batch["image"][0][y0:y1, x0:x1] == 255).all() and (y1 - y0, x1 - x0) == (8, 10)
    assert batch["image"][0].sum() == 8 * 10 * 3 * 255
    assert batch["boxes/visible"][0] == [1]


SPEC = {
    "image": recmap.Image((12, 20), crop=recmap.RandomResizedCrop(), flip=0.5),
    "boxes": recmap.Boxes("image", keys=KEYS),
    "labels": recmap.VarLen("int64"),
}


def test_loaders_and_threads_give_the_same_boxes(photos):
    whole = photos.parse(range(44), SPEC, seed=3, epoch=0)
    for threads in (1, 3):
        loader = recmap.Loader(photos, 7, features=SPEC, seed=3, threads=threads)
        for batch in loader:
            for row, number in enumerate(batch.numbers):
                for name in ("boxes", "boxes/visible"):
                    assert (batch[name][row] == whole[name][int(number)]).all()
                assert len(batch["boxes"][row]) == len(batch["labels"][row])
    parted = photos.parse(range(44), SPEC, seed=3, epoch=0, threads=2)
    assert (parted["boxes"].values == whole["boxes"].values).all()
    assert (parted["boxes"].offsets == whole["boxes"].offsets).all()


def test_a_feature_that_no_record_has_is_reported(photos):
    wrong = {**SPEC, "boxes": recmap.Boxes("image", keys=("ymin", *KEYS[1:]))}
    with pytest.raises(recmap.FeatureError, match="'bbox/xmin' has 1 value, but 'ymin' has 0"):
        photos.parse([1], wrong, seed=1, epoch=0)
    none = {**SPEC, "boxes": recmap.Boxes("image", keys=("a", "b", "c", "d"))}
    with pytest.raises(recmap.FeatureError, match="no record of the batch has the feature 'a'"):
        photos.parse([0, 1], none, seed=1, epoch=0, missing="error")
    batch = photos.parse([0, 1], none, seed=1, epoch=0, missing="ignore")
    assert len(batch["boxes"].values) == 0 and not batch.is_valid("boxes").any()


def test_wrong_boxes_are_refused(photos):
    wrong = {**SPEC, "boxes": recmap.Boxes("photo", keys=KEYS)}
    missing = "'boxes' has boxes in the image 'photo', which is not among the features"
    with pytest.raises(recmap.InvalidError, match=missing) as raised:
        photos.parse([0], wrong, seed=1, epoch=0)
    assert "request an image of this name with the boxes" in raised.value.advice
    wrong["photo"] = recmap.VarLen(bytes, key="image/encoded")
    with pytest.raises(recmap.InvalidError, match="has boxes in 'photo', which is not an image"):
        photos.parse([0], wrong, seed=1, epoch=0)
    for keys in ("abcd", KEYS[:3], (1, 2, 3, 4), None):
        with pytest.raises(ValueError, match="names of four features"):
            recmap.Boxes("image", keys=keys)
    assert repr(SPEC["boxes"]).startswith("Boxes('image', ('bbox/ymin'")


def test_boxes_in_frameworks(photos):
    batch = photos.parse(range(10), SPEC, seed=1, epoch=0)
    pa = pytest.importorskip("pyarrow")
    assert pa.record_batch(batch)["boxes"].to_pylist() == [row.tolist() for row in batch["boxes"]]
    torch = pytest.importorskip("torch")
    tensors = recmap.torch.tensors(batch)
    assert torch.equal(tensors["boxes"].row(4), torch.from_numpy(batch["boxes"][4]))
    assert tensors["boxes/visible"].values.shape == (len(batch["labels"].values),)


def test_boxes_in_tensorflow(photos):
    tf = pytest.importorskip("tensorflow")
    loader = recmap.Loader(photos, 10, features=SPEC, seed=1)
    made = next(iter(recmap.tensorflow.dataset(loader)))
    batch = photos.parse(range(10), SPEC, seed=1, epoch=0)
    assert (made["boxes"][4].numpy() == batch["boxes"][4]).all()
    assert isinstance(made["boxes/visible"], tf.RaggedTensor)


def test_boxes_far_outside_are_not_visible(tmp_path):
    """Any finite number is a coordinate: also of boxes in pixels, of which nothing is left."""
    edges = [[-3e38, 0, 200], [-5, 0, 100], [3e38, 1, 300], [5, 1, 400]]
    bad = [[0.0], [0.0], [1.0], [np.nan]], [[0.0], [-np.inf], [1.0], [1.0]]
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for corners in (edges, *bad):
            features = {key: np.float32(corners[i]) for i, key in enumerate(KEYS)}
            writer.write({"image": (PICTURES / "rgb.png").read_bytes(), **features})
    features = {"image": recmap.Image(8), "boxes": recmap.Boxes("image", keys=KEYS)}
    ds = recmap.open(tmp_path / "x.rmx")
    batch = ds.parse([0], features)
    assert batch["boxes"][0].tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    assert np.allclose(batch["boxes/visible"][0], [0, 1, 0])
    for number, message in (
        (1, "record 1 .*'bbox/xmax': the coordinate of box 0 is NaN"),
        (2, "record 2 .*'bbox/xmin': the coordinate of box 0 is infinite"),
    ):
        with pytest.raises(recmap.FeatureError, match=message):
            ds.parse([number], features)
