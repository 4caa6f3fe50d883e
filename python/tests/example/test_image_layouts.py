"""Images with channels first: the same memory in every framework, copied only where it must be."""

import zlib

import numpy as np
import pytest
import recmap
from conftest import ROOT

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "rgb.png", "lossy.webp", "turned-6.jpg"]

pytestmark = pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here")


@pytest.fixture
def photos(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for number in range(20):
            picture = (PICTURES / NAMES[number % len(NAMES)]).read_bytes()
            writer.write({"image": picture, "label": number})
    return recmap.open(tmp_path / "x.rmx")


def features(**options):
    last = {"crop": recmap.RandomResizedCrop(), "flip": 0.5, "key": "image", **options}
    return {
        "last": recmap.Image((6, 8), **last),
        "first": recmap.Image((6, 8), layout="CHW", **last),
        "label": recmap.FixedLen((), "int64"),
    }


def columns(photos, **options):
    return photos.parse(range(20), features(**options), seed=1, epoch=0)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "bfloat16"])
def test_channels_first_is_a_view_of_the_same_memory(photos, dtype):
    batch = columns(photos, dtype=dtype)
    last, first = batch["last"], batch["first"]
    assert first.shape == (20, 3, 6, 8) and first.dtype == last.dtype
    assert (first == last.transpose(0, 3, 1, 2)).all()
    assert first.strides == last.transpose(0, 3, 1, 2).strides
    assert "first (" + str(first.dtype) + " [3, 6, 8])" in repr(batch)


def test_one_picture_with_channels_first():
    data = (PICTURES / "rgb.png").read_bytes()
    first = recmap.decode_image(data, 8, layout="CHW")
    assert first.shape == (3, 8, 8)
    assert (first == recmap.decode_image(data, 8).transpose(2, 0, 1)).all()
    gray = recmap.decode_image(data, (8, 4), mode="L", layout="CHW")
    assert gray.shape == (1, 8, 4)
    with pytest.raises(ValueError, match="layout must be one of 'HWC', 'CHW', not 'NCHW'"):
        recmap.Image(8, layout="NCHW")


def test_buffers_that_must_be_in_c_order_are_refused(photos):
    buffer = columns(photos)._descriptions["first"][1].values
    assert not memoryview(buffer).c_contiguous
    with pytest.raises(BufferError, match="not in C order"):
        zlib.crc32(buffer)


def test_torch_has_channels_last_without_a_copy(photos):
    torch = pytest.importorskip("torch")
    batch = columns(photos)
    tensors = recmap.torch.tensors(batch)
    first = tensors["first"]
    assert first.shape == (20, 3, 6, 8)
    assert first.is_contiguous(memory_format=torch.channels_last)
    assert first.data_ptr() == batch["first"].__array_interface__["data"][0]
    assert torch.equal(first, tensors["last"].permute(0, 3, 1, 2))


def test_a_pinned_block_keeps_the_strides():
    torch = pytest.importorskip("torch")
    from recmap.torch._pinned import PinnedBlocks

    block = torch.arange(4096, dtype=torch.uint8)
    blocks = PinnedBlocks()
    blocks.pool = type("Pool", (), {"deliver": lambda self, address: block})()
    tensor = torch.zeros(2, 4, 5, 3, dtype=torch.uint8).permute(0, 3, 1, 2)
    adopted = blocks.adopt(tensor)
    assert adopted.stride() == tensor.stride() and adopted.data_ptr() == block.data_ptr()
    assert torch.equal(adopted, block[:120].view(2, 4, 5, 3).permute(0, 3, 1, 2))


def test_arrow_copies_channels_first(photos):
    """Arrow's permuted tensors would need no copy, but pyarrow 26 reads them with wrong strides."""
    pa = pytest.importorskip("pyarrow")
    for rows in (20, 0):
        batch = photos.parse(range(rows), features(), seed=1, epoch=0)
        array = pa.record_batch(batch)["first"]
        assert list(array.type.shape) == [3, 6, 8] and array.type.permutation is None
        assert (array.to_numpy_ndarray() == batch["first"]).all() if rows else len(array) == 0
    wide = pa.record_batch(columns(photos, dtype="float32"))["first"]
    assert (wide.to_numpy_ndarray() == columns(photos, dtype="float32")["first"]).all()
    copied = recmap.arrow.table(columns(photos), tensor=recmap.arrow.lists)["first"]
    assert copied.to_pylist() == columns(photos)["first"].tolist()


def test_tensorflow_and_jax_copy(photos):
    tf = pytest.importorskip("tensorflow")
    jnp = pytest.importorskip("jax.numpy")
    loader = recmap.Loader(photos, 10, features=features(), seed=1, last="drop")
    dataset = recmap.tensorflow.dataset(loader)
    assert dataset.element_spec["first"] == tf.TensorSpec((10, 3, 6, 8), tf.uint8)
    assert dataset.element_spec["last"] == tf.TensorSpec((10, 6, 8, 3), tf.uint8)
    expected = photos.parse(range(10), features(), seed=1, epoch=0)["first"]
    assert (next(iter(dataset))["first"].numpy() == expected).all()
    assert (np.asarray(jnp.asarray(expected)) == expected).all()


def test_grain_knows_the_shape(photos):
    pytest.importorskip("grain")
    certain = features(crop=None, flip=0.0)
    source = recmap.grain.DataSource(photos, certain)
    assert source.element_spec["first"].shape == (3, 6, 8)
    assert source.element_spec["last"].shape == (6, 8, 3) == source[0]["last"].shape
