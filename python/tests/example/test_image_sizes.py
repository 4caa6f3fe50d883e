"""Images without a size: each picture keeps its own."""

import pickle
import sys

import numpy as np
import pytest
import recmap
from conftest import ROOT

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "turned-6.jpg", "rgb.png", "lossless.webp", "gray.jpg"]
IMAGE = recmap.Image(key="image", flip=0.5)

pytestmark = pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here")


def picture(number):
    return (PICTURES / NAMES[number % len(NAMES)]).read_bytes()


def write(folder, pictures):
    with recmap.Writer(folder / "x.tfrecord", index=folder / "x.rmx") as writer:
        for number, data in enumerate(pictures):
            writer.write({"image": data, "label": number})
    return recmap.open(folder / "x.rmx")


@pytest.fixture
def photos(tmp_path):
    return write(tmp_path, map(picture, range(30)))


def expected(number, **options):
    return recmap.decode_image(picture(number), flip=0.5, seed=5, epoch=0, number=number, **options)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "bfloat16"])
def test_each_picture_keeps_its_size(photos, dtype, threads):
    image = recmap.Image(key="image", flip=0.5, dtype=dtype)
    batch = photos.parse(range(30), {"image": image}, seed=5, epoch=0, threads=threads)
    column = batch["image"]
    assert isinstance(column, recmap.ImageColumn) and len(column) == 30
    assert column.shapes[:2].tolist() == [[64, 96, 3], [24, 16, 3]]
    for number in range(30):
        alone = expected(number, dtype=dtype)
        assert column[number].shape == alone.shape == tuple(column.shapes[number])
        assert (column[number] == alone).all() and column[number].dtype == alone.dtype
        assert np.shares_memory(column[number], column.values)


def test_without_ml_dtypes_bfloat16_has_its_bits(photos, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    image = recmap.Image(key="image", flip=0.5, dtype="bfloat16")
    column = photos.parse(range(5), {"image": image}, seed=5, epoch=0)["image"]
    alone = expected(3, dtype="bfloat16")
    assert alone.dtype == np.uint16 and (column[3] == alone).all()


def test_the_column_is_a_sequence(photos):
    column = photos.parse(range(5), {"image": IMAGE}, seed=5, epoch=0)["image"]
    assert (column[-1] == column[4]).all() and len(column[1:3]) == 2 and len(list(column)) == 5
    assert [array.shape for array in column.tolist()] == list(map(tuple, column.shapes.tolist()))
    assert np.asarray(column).shape == (5,) and np.asarray(column[:0]).shape == (0,)
    with pytest.raises(recmap.OutOfRangeError, match="row 5 is out of range"):
        column[5]
    copy = pickle.loads(pickle.dumps(column))
    assert all((a == b).all() for a, b in zip(copy, column, strict=True))
    assert repr(column) == "<recmap.ImageColumn of 5 pictures of uint8>"


def test_loaders_give_the_same_pictures(photos):
    features = {"image": IMAGE, "label": recmap.FixedLen((), "int64")}
    loader = recmap.Loader(photos, 7, shuffle=True, seed=5, features=features, threads=3)
    for batch in loader:
        assert "image (pictures of uint8)" in repr(batch) and batch._repr_html_()
        for label, pixels in zip(batch["label"], batch["image"], strict=True):
            assert (pixels == expected(int(label))).all()


def test_bad_pictures_have_no_pixels(tmp_path):
    damaged = picture(0)[:300]
    photos = write(tmp_path, [picture(0), damaged, picture(1), b"", picture(2)])
    features = {"image": recmap.Image(key="image")}
    with pytest.raises(recmap.FeatureError, match="the JPEG ends at row"):
        photos.parse([1], features)
    batch = photos.parse(range(5), features, on_bad_record="collect")
    assert [row for row, _ in batch.failures] == [1, 3]
    assert batch["image"].shapes[[1, 3]].tolist() == [[0, 0, 0]] * 2
    assert batch["image"][1].shape == (0, 0, 0)
    for row, number in ((0, 0), (2, 1), (4, 2)):
        assert (batch["image"][row] == recmap.decode_image(picture(number))).all()
    loader = recmap.Loader(photos, 2, features=features, on_bad_record="skip")
    with pytest.warns(UserWarning, match="skipped a bad record"):
        assert sum(len(batch["image"]) for batch in loader) == 3


def test_many_pixels_are_refused(photos):
    with pytest.raises(recmap.FeatureError, match=r"64 x 96 pixels, more than the limit of 100"):
        photos.parse([0], {"image": recmap.Image(key="image", max_pixels=100)})


def test_what_needs_a_size_is_refused(photos):
    for options, message in [
        ({"crop": recmap.RandomResizedCrop()}, "a crop needs the size"),
        ({"default": 0}, "without a size cannot have a default"),
        ({"layout": "CHW"}, "without a size must have the layout HWC"),
    ]:
        with pytest.raises(recmap.InvalidError, match=message):
            photos.parse([0], {"image": recmap.Image(None, key="image", **options)})


def test_torch_gets_a_list(photos):
    torch = pytest.importorskip("torch")
    batch = photos.parse(range(5), {"image": IMAGE}, seed=5, epoch=0)
    tensors = recmap.torch.tensors(batch)["image"]
    assert isinstance(tensors, list)
    assert tensors[0].data_ptr() == batch["image"].values.__array_interface__["data"][0]
    for tensor, pixels in zip(tensors, batch["image"], strict=True):
        assert torch.equal(tensor, torch.from_numpy(pixels))
    loader = recmap.torch.Loader(photos, 5, features={"image": IMAGE}, seed=5)
    assert [pixels.shape for pixels in next(iter(loader))["image"]] == [t.shape for t in tensors]


def test_arrow_gets_lists_of_values(photos):
    pa = pytest.importorskip("pyarrow")
    batch = photos.parse(range(3), {"image": IMAGE}, seed=5, epoch=0)
    rows = pa.record_batch(batch)["image"].to_pylist()
    assert rows == [pixels.ravel().tolist() for pixels in batch["image"]]


def test_grain_gets_elements(photos):
    pytest.importorskip("grain")
    source = recmap.grain.DataSource(photos, {"image": recmap.Image(key="image")})
    assert source.element_spec["image"].shape == (None, None, 3)
    assert (source[1]["image"] == recmap.decode_image(picture(1))).all()


def test_tensorflow_has_no_such_tensors(photos):
    pytest.importorskip("tensorflow")
    loader = recmap.Loader(photos, 5, features={"image": recmap.Image(key="image")})
    with pytest.raises(TypeError, match="give it a size"):
        recmap.tensorflow.dataset(loader)
