"""Lists of pictures: fixed, of any number, padded, and in the feature lists of SequenceExample."""

import numpy as np
import pytest
import recmap
from conftest import ROOT

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "rgb.png", "gray.jpg", "progressive.jpg"]  # of one size
FRAME = recmap.Image((12, 16), crop=recmap.RandomResizedCrop(), flip=0.5)

pytestmark = pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here")


def picture(number):
    return (PICTURES / NAMES[number % len(NAMES)]).read_bytes()


def frames_of(number):
    return [picture(number + i) for i in range(number % 4)]


def expected(data, number, **options):
    spec = {"crop": FRAME.crop, "flip": 0.5, "seed": 5, "epoch": 0, "number": number, **options}
    return recmap.decode_image(data, (12, 16), **spec)


@pytest.fixture
def clips(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for number in range(20):
            pair = [picture(number), picture(number + 1)]
            writer.write({"frames": frames_of(number), "pair": pair})
    return recmap.open(tmp_path / "x.rmx")


def parse(clips, features, **options):
    return clips.parse(range(20), features, seed=5, epoch=0, **options)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fixed_number_of_pictures(clips, threads):
    pair = parse(clips, {"pair": recmap.FixedLen(2, FRAME)}, threads=threads)["pair"]
    assert pair.shape == (20, 2, 12, 16, 3) and pair.dtype == np.uint8
    for number in range(20):
        for i in range(2):
            assert (pair[number, i] == expected(picture(number + i), number)).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_pictures(clips, threads):
    frames = parse(clips, {"frames": recmap.VarLen(FRAME)}, threads=threads)["frames"]
    assert frames.values.shape == (sum(i % 4 for i in range(20)), 12, 16, 3)
    for number in range(20):
        wanted = [expected(data, number) for data in frames_of(number)]
        assert len(frames[number]) == len(wanted)
        assert all((a == b).all() for a, b in zip(frames[number], wanted, strict=True))


def test_padded_pictures(clips):
    features = {
        "padded": recmap.FixedLenSequence((), FRAME, key="frames"),
        "first": recmap.FixedLenSequence((), FRAME, key="frames", max_length=1),
        "ragged": recmap.FixedLenSequence((), FRAME, key="frames", ragged=True),
        "floats": recmap.FixedLenSequence(
            (), recmap.Image((12, 16), crop=FRAME.crop, flip=0.5, dtype="float32"), key="frames"
        ),
    }
    batch = parse(clips, features)
    ragged = parse(clips, {"frames": recmap.VarLen(FRAME)})["frames"]
    assert batch["padded"].shape == (20, 3, 12, 16, 3)
    assert batch["first"].shape == (20, 1, 12, 16, 3)
    assert batch.lengths["padded"].tolist() == [i % 4 for i in range(20)]
    for number, row in enumerate(ragged):
        assert (batch["padded"][number, : number % 4] == row).all()
        assert not batch["padded"][number, number % 4 :].any()
        assert (batch["first"][number, : number % 4] == row[:1]).all()
        assert (batch["ragged"][number] == row).all()
        levels = (row / 255.0).astype(np.float32)
        assert (batch["floats"][number, : number % 4] == levels).all()


def test_steps_of_a_sequence_example(tmp_path):
    with recmap.Writer(tmp_path / "s.tfrecord", index=tmp_path / "s.rmx") as writer:
        for number in range(8):
            writer.write(
                recmap.encode_sequence_example({"id": number}, {"frames": frames_of(number)})
            )
    episodes = recmap.open(tmp_path / "s.rmx")
    lists = {"frames": recmap.FixedLenSequence((), FRAME)}
    loader = recmap.Loader(episodes, 8, features={}, feature_lists=lists, seed=5)
    _, steps = next(iter(loader))
    assert steps["frames"].shape == (8, 3, 12, 16, 3)
    assert steps.lengths["frames"].tolist() == [i % 4 for i in range(8)]
    for number in range(8):
        for i, data in enumerate(frames_of(number)):
            assert (steps["frames"][number, i] == expected(data, number)).all()


def test_pictures_of_a_row_share_their_draw(clips):
    frames = parse(clips, {"frames": recmap.VarLen(FRAME), "pair": recmap.FixedLen(2, FRAME)})
    for number in range(1, 20):
        if number % 4:
            assert (frames["frames"][number][0] == frames["pair"][number, 0]).all()
    with pytest.raises(recmap.InvalidError, match="is random"):
        clips.parse([0], {"pair": recmap.FixedLen(2, FRAME)})


def test_too_many_pixels_are_refused_before_there_is_room(clips):
    small = recmap.Image((1000, 1000), max_pixels=2_000_000)
    with pytest.raises(recmap.FeatureError, match="has 3 pictures of 1000000 pixels, together"):
        clips.parse([3], {"frames": recmap.VarLen(small)})
    batch = clips.parse([3], {"frames": recmap.FixedLenSequence((), small, max_length=2)})
    assert batch["frames"].shape == (1, 2, 1000, 1000, 3)


def test_a_damaged_picture_is_a_bad_record(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for number in range(5):
            writer.write({"frames": [picture(0), picture(1)[: 300 if number == 2 else None], b""]})
    clips = recmap.open(tmp_path / "x.rmx")
    features = {"frames": recmap.VarLen(recmap.Image((12, 16)))}
    with pytest.raises(recmap.FeatureError, match=r"'frames': .*ends at row"):
        clips.parse(range(5), features)
    batch = clips.parse(range(5), features, on_bad_record="collect")
    assert batch["frames"].lengths.tolist() == [3, 3, 0, 3, 3]
    assert not batch["frames"][3][2].any() and batch["frames"][3][1].any()


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (recmap.VarLen(recmap.Image()), "needs their height and width"),
        (recmap.VarLen(recmap.Image(8, layout="CHW")), "must have the layout HWC"),
        (recmap.FixedLen(2, recmap.Image(8), raw=True), "cannot be raw"),
        (recmap.FixedLen(2, recmap.Image(8), default=0), "or have a default"),
    ],
)
def test_impossible_lists_are_refused(clips, feature, message):
    with pytest.raises(recmap.InvalidError, match=message):
        clips.parse([0], {"frames": feature})


def test_a_key_belongs_to_the_list():
    with pytest.raises(ValueError, match="give key= to the VarLen"):
        recmap.VarLen(recmap.Image(8, key="frames"))
    assert repr(recmap.VarLen(recmap.Image(8), key="a")) == "VarLen(Image(8), key='a')"


def test_frameworks(clips):
    features = {"frames": recmap.VarLen(FRAME), "pair": recmap.FixedLen(2, FRAME)}
    batch = parse(clips, features)
    pa = pytest.importorskip("pyarrow")
    table = pa.record_batch(batch)
    assert table["pair"].to_numpy_ndarray().tolist() == batch["pair"].tolist()
    assert table["frames"][3].as_py() == batch["frames"][3].tolist()
    torch = pytest.importorskip("torch")
    tensors = recmap.torch.tensors(batch)
    assert torch.equal(tensors["pair"], torch.from_numpy(batch["pair"]))
    assert torch.equal(tensors["frames"].row(3), torch.from_numpy(batch["frames"][3]))


def test_tensorflow(clips):
    tf = pytest.importorskip("tensorflow")
    features = {"frames": recmap.VarLen(FRAME), "pair": recmap.FixedLen(2, FRAME)}
    loader = recmap.Loader(clips, 10, features=features, seed=5, last="drop")
    made = next(iter(recmap.tensorflow.dataset(loader)))
    assert made["pair"].shape == (10, 2, 12, 16, 3) and isinstance(made["frames"], tf.RaggedTensor)
    batch = parse(clips, features)
    assert (made["frames"][3].numpy() == batch["frames"][3]).all()
