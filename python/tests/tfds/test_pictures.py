"""Pictures of TFDS: they have the size that the metadata says, or are refused."""

import pytest
import recmap
from conftest import ROOT, needs_images
from prepared_set import group, picture, prepare, sequence, steps

PICTURES = ROOT / "tests" / "images"

pytestmark = [
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
    needs_images,
]

RIGHT, OTHER = ((PICTURES / name).read_bytes() for name in ("rgb.png", "interlaced.png"))
FEATURES = group(
    one=picture(64, 96),
    any=picture(-1, -1),
    some=sequence(picture(64, 96)),
    two=sequence(picture(64, 96), length=2),
    steps=steps(frame=picture(64, 96)),
)
GOOD = {"one": RIGHT, "any": OTHER, "some": [RIGHT], "two": [RIGHT] * 2, "steps/frame": [RIGHT] * 3}


@pytest.fixture
def opened(tmp_path):
    """Opens a set of a good record, and one with these changes."""

    def open_with(changes):
        shard = [recmap.encode_example(record) for record in (GOOD, {**GOOD, **changes})]
        return recmap.tfds.open(prepare(tmp_path, FEATURES, {"train": [shard]}))

    return open_with


def test_pictures_of_the_right_size(opened):
    ds = opened({})
    columns = ds.parse([0, 1], ds.features())
    pixels = recmap.decode_image(RIGHT).tolist()
    assert columns["one"].tolist() == [pixels] * 2
    assert columns["two"].tolist() == [[pixels] * 2] * 2
    assert [row.tolist() for row in columns["some"]] == [[pixels]] * 2
    assert columns["any"][1].tolist() == recmap.decode_image(OTHER).tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("one", OTHER),
        ("some", [RIGHT, OTHER]),
        ("two", [OTHER, RIGHT]),
        ("steps/frame", [RIGHT, OTHER, RIGHT]),
    ],
)
def test_pictures_of_another_size_are_refused(opened, name, value):
    ds = opened({name: value})
    message = rf"'{name}'.*: the picture has 32 x 48 pixels, not 64 x 96 as described"
    with pytest.raises(recmap.FeatureError, match=message) as raised:
        ds.parse([0, 1], {name: ds.features()[name]})
    assert (raised.value.record, raised.value.offset is None) == (1, False)
    assert "scales pictures" in raised.value.advice
    if name == "steps/frame":
        order, features = recmap.tfds.windows(ds, 2)
        loader = recmap.Loader(ds, 2, order=order, features={name: features[name]})
        with pytest.raises(recmap.FeatureError, match=message):
            list(loader)


def test_the_size_is_that_before_exif_turns(tmp_path):
    turned = (PICTURES / "turned-6.jpg").read_bytes()
    record = recmap.encode_example({"a": turned})
    ds = recmap.tfds.open(prepare(tmp_path, group(a=picture(16, 24)), {"train": [[record]]}))
    assert ds.parse([0], ds.features())["a"].shape == (1, 16, 24, 3)


def test_another_image_scales_pictures(opened):
    ds = opened({"one": OTHER})
    column = ds.parse([0, 1], {"one": recmap.Image((4, 4), exif=False)})["one"]
    assert column.shape == (2, 4, 4, 3)
