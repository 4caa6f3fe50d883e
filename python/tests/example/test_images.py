"""Images: pixels that depend on (seed, epoch, record), in loaders, parses and one by one."""

import dataclasses
import pathlib
import pickle
import time
import warnings

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "progressive.jpg", "rgb.png", "lossy.webp", "gray.jpg"]
CROP = recmap.RandomResizedCrop(scale=(0.2, 1))
SPEC = {"crop": CROP, "flip": 0.5}

pytestmark = [
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
    needs_images,
]


def picture(name):
    return (PICTURES / name).read_bytes()


def write(folder, pictures, name="x.tfrecord"):
    with recmap.Writer(folder / name, index=folder / f"{name}.rmx") as writer:
        for number, data in enumerate(pictures):
            writer.write({"image/encoded": data, "label": number})
    return recmap.open(folder / f"{name}.rmx")


@pytest.fixture
def photos(tmp_path):
    return write(tmp_path, [picture(NAMES[i % len(NAMES)]) for i in range(60)])


def test_features_of_records_with_pictures(photos, tmp_path):
    """Bytes that are one picture in each record are an image, which keeps its size."""
    assert repr(photos.features()["image/encoded"]) == "Image()"
    assert photos.schema()["image/encoded"]["image_share"] == 1
    depths = write(tmp_path, [picture("gray-16.png")] * 3, "depths")
    assert depths.features()["image/encoded"] == recmap.Image(mode="L", dtype="uint16")
    mixed = write(tmp_path, [picture("rgb.png"), b"text"], "mixed")
    assert mixed.features()["image/encoded"] == recmap.FixedLen((), "bytes")


def features(**options):
    image = recmap.Image((24, 32), key="image/encoded", **{**SPEC, **options})
    return {"image": image, "label": recmap.FixedLen((), "int64")}


def pixels_by_record(loader, epochs=2):
    """{(epoch, record): pixels}"""
    seen = {}
    for epoch in range(epochs):
        for batch in loader:
            for label, pixels in zip(batch["label"], batch["image"], strict=True):
                seen[epoch, int(label)] = pixels.tobytes()
    return seen


def test_pixels_depend_on_seed_epoch_and_record_only(photos):
    def load(**options):
        return recmap.Loader(photos, shuffle=True, seed=7, features=features(), **options)

    seen = pixels_by_record(load(batch_size=7))
    assert len(seen) == 120
    for options in ({"batch_size": 1}, {"batch_size": 60, "threads": 3}, {"batch_size": 16}):
        assert pixels_by_record(load(**options)) == seen
    ranks = {}
    for rank in range(3):
        ranks.update(pixels_by_record(load(batch_size=4, rank=rank, world_size=3)))
    assert ranks == seen
    for (epoch, number), pixels in seen.items():
        data = picture(NAMES[number % len(NAMES)])
        alone = recmap.decode_image(data, (24, 32), **SPEC, seed=7, epoch=epoch, number=number)
        assert alone.tobytes() == pixels
    assert seen[0, 0] != seen[1, 0] and seen[0, 0] != seen[0, 6]  # the same picture


def test_another_seed_gives_other_pixels(photos):
    first, second = (
        pixels_by_record(recmap.Loader(photos, 20, seed=seed, features=features()), 1)
        for seed in (1, 2)
    )
    assert all(first[key] != second[key] for key in first)


def test_a_resumed_loader_gives_the_same_pixels(photos):
    def load(size):
        return recmap.Loader(photos, size, shuffle=True, seed=3, features=features())

    seen = pixels_by_record(load(5), 1)
    loader = load(5)
    steps = iter(loader)
    for _ in range(4):
        next(steps)
    again = load(8)
    again.load_state_dict(pickle.loads(pickle.dumps(loader.state_dict())))
    rest = pixels_by_record(again, 1)
    assert len(rest) == 40 and all(seen[key] == pixels for key, pixels in rest.items())


def test_the_state_knows_the_seed_of_random_images(photos):
    def load(seed, **options):
        order = recmap.Sequential(60)
        return recmap.Loader(photos, 8, order=order, seed=seed, features=features(**options))

    state = load(7).state_dict()
    assert state["draws"] == {"seed": 7}
    load(7).load_state_dict(state)
    with pytest.raises(recmap.StateMismatchError, match=r"state has 7, the loader 8\n.*seed=7"):
        load(8).load_state_dict(state)
    certain = {"crop": None, "flip": 0.0}
    plain = load(0, **certain).state_dict()
    assert "draws" not in plain
    load(0, **certain).load_state_dict(state)  # the seed has no effect there
    load(8).load_state_dict(plain)
    with pytest.raises(recmap.CorruptStateError):
        load(7).load_state_dict({**state, "draws": {"seed": 9}})


def test_a_parse_gives_what_a_run_saw(photos):
    seen = pixels_by_record(recmap.Loader(photos, 9, seed=5, features=features()))
    for threads in (1, 2):
        batch = photos.parse(range(60), features(), seed=5, epoch=1, threads=threads)
        for number in range(60):
            assert batch["image"][number].tobytes() == seen[1, number]
    view = photos[10:20].parse([0], features(), seed=5, epoch=1)
    assert view["image"][0].tobytes() == seen[1, 10]  # the number is the record's


def test_random_images_need_an_epoch(photos):
    with pytest.raises(recmap.InvalidError, match=r"'image/encoded' is random.*epoch is"):
        photos.parse([0], features())
    with pytest.raises(ValueError, match="seed and epoch belong together"):
        photos.parse([0], features(), seed=1)
    with pytest.raises(recmap.InvalidError, match="random"):
        recmap.decode_image(picture("rgb.png"), 8, flip=0.5)
    with pytest.raises(ValueError, match="belong together"):
        recmap.decode_image(picture("rgb.png"), 8, flip=0.5, seed=1)
    for certain in ({"crop": None, "flip": 0.0}, {"crop": None, "flip": 1.0}):
        assert photos.parse([0], features(**certain))["image"].shape == (1, 24, 32, 3)


def test_repeated_records_have_crops_of_their_own(photos):
    order = recmap.WithReplacement(60, seed=3)
    crops = {}
    for batch in recmap.Loader(photos, 10, order=order, seed=9, features=features()):
        for label, pixels in zip(batch["label"], batch["image"], strict=True):
            crops.setdefault(int(label), []).append(pixels.tobytes())
    assert max(map(len, crops.values())) > 2
    assert all(len(set(pixels)) == len(pixels) for pixels in crops.values())
    positions = np.arange(60)
    numbers = order.at(0, positions)
    again = photos.parse(numbers, features(), seed=9, epoch=0, positions=positions)
    for number, pixels in zip(numbers, again["image"], strict=True):
        assert pixels.tobytes() in crops[int(number)]


def test_the_seed_of_random_images_has_an_effect(photos):
    order = recmap.Sequential(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Loader(photos, 10, order=order, seed=9, features=features())
    with pytest.warns(UserWarning, match="seed=9 has no effect"):
        recmap.Loader(photos, 10, order=order, seed=9, features=features(crop=None, flip=0))


def test_the_state_knows_a_seed_that_only_seeds_use(photos):
    def load(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return recmap.Loader(photos, 8, order=recmap.Sequential(60), seed=seed)

    state = load(7).state_dict()
    assert state["draws"] == {"seed": 7}
    load(7).load_state_dict(state)
    with pytest.raises(recmap.StateMismatchError, match="state has 7, the loader 8"):
        load(8).load_state_dict(state)
    assert "draws" not in load(0).state_dict()
    shuffled = recmap.Loader(photos, 8, shuffle=True, seed=7).state_dict()
    assert "draws" not in shuffled and '"seed":7' in shuffled["order"]
    with pytest.warns(UserWarning, match=r"no effect on the order: .*\. Only batch.seeds\(\) uses"):
        recmap.Loader(photos, 8, seed=7)


def test_images_share_their_draws_unless_they_name_others(photos):
    image = recmap.Image((24, 32), key="image/encoded", **SPEC)
    gray, other = dataclasses.replace(image, mode="L"), dataclasses.replace(image, draw="c")
    batch = photos.parse(range(60), {"a": image, "b": gray, "c": other}, seed=1, epoch=0)
    alike = photos.parse(range(60), {"b": gray}, seed=1, epoch=0)
    assert (batch["b"] == alike["b"]).all()
    difference = batch["a"].mean(-1, keepdims=True) - batch["b"]
    assert np.median(np.abs(difference)) < 12  # the same rectangles
    assert not any((a == c).all() for a, c in zip(batch["a"], batch["c"], strict=True))


SAME = {
    "image": {"max_pixels": 1 << 20},
    "size": {"size": (24, 32)},
    "crop": {"crop": recmap.RandomResizedCrop((0.2, 1.0), (0.75, 4 / 3))},
}
OTHERS = {
    "draw": {"draw": "b"},
    "key": {"key": "other"},
    "size": {"size": (24, 33)},
    "mode": {"mode": "L"},
    "crop": {"crop": recmap.RandomResizedCrop((0.3, 1.0))},
    "no crop": {"crop": None},
    "exact": {"crop": "exact"},
    "padding": {"crop": recmap.RandomCrop()},
    "centre": {"crop": recmap.CenterCrop(40)},
    "flip": {"flip": 0.25},
    "interpolation": {"interpolation": "nearest"},
    "antialias": {"antialias": False},
    "dtype": {"dtype": "float32"},
    "layout": {"layout": "CHW"},
    "exif": {"exif": False},
    "default": {"default": 3},
}


@pytest.mark.parametrize("given", SAME.values(), ids=SAME)
def test_two_columns_that_would_be_equal_are_refused(photos, given):
    image = recmap.Image((24, 32), key="image/encoded", **SPEC)
    specs = {"a": image, "b": dataclasses.replace(image, **given)}
    for read in (
        lambda: photos.parse([0], specs, seed=1, epoch=0),
        lambda: recmap.Loader(photos, 4, features=specs),
    ):
        with pytest.raises(recmap.InvalidError, match="'a' and 'b' would have the same") as raised:
            read()
        assert "name their draws differently with `draw=`" in str(raised.value)


@pytest.mark.parametrize("given", OTHERS.values(), ids=OTHERS)
def test_columns_that_differ_in_anything_are_accepted(photos, given):
    image = recmap.Image((24, 32), key="image/encoded", **SPEC)
    recmap.Loader(photos, 4, features={"a": image, "b": dataclasses.replace(image, **given)})


def test_what_cannot_change_pixels_does_not_make_a_difference(photos):
    """A filter without scaling, and the width of a filter that has none."""
    cut = recmap.Image((24, 32), key="image/encoded", crop=recmap.RandomCrop(fill=1))
    nearest = recmap.Image((24, 32), key="image/encoded", interpolation="nearest")
    exact = recmap.Image((24, 32), key="image/encoded", crop="exact")
    whole = recmap.Image(key="image/encoded")
    floats = recmap.Image((24, 32), key="image/encoded", dtype="float32", mean=0.5, std=[1, 1, 1])
    for image, given in (
        (cut, {"interpolation": "bicubic"}),
        (nearest, {"antialias": False}),
        (exact, {"interpolation": "bicubic", "antialias": False}),
        (whole, {"interpolation": "nearest", "antialias": False}),
        (floats, {"mean": [0.5] * 3, "std": None}),
    ):
        with pytest.raises(recmap.InvalidError, match="would have the same pixels"):
            recmap.Loader(
                photos, 4, features={"a": image, "b": dataclasses.replace(image, **given)}
            )
    other_fill = dataclasses.replace(cut, crop=recmap.RandomCrop(fill=2))
    other_mean = dataclasses.replace(floats, mean=0.25)
    recmap.Loader(photos, 4, features={"a": cut, "b": other_fill, "c": floats, "d": other_mean})


def test_equal_lists_of_pictures_are_refused(photos):
    image = recmap.Image((24, 32))
    lists = {
        "fixed": recmap.FixedLen(1, image, key="image/encoded"),
        "longer": recmap.FixedLen(2, image, key="image/encoded"),
        "any": recmap.VarLen(image, key="image/encoded"),
        "padded": recmap.FixedLenSequence((), image, key="image/encoded"),
        "single": recmap.Image((24, 32), key="image/encoded"),
    }
    recmap.Loader(photos, 4, features=lists)
    for name, feature in lists.items():
        with pytest.raises(recmap.InvalidError, match=f"'{name}' and 'again' would have the same"):
            recmap.Loader(photos, 4, features={**lists, "again": feature})


def test_a_damaged_picture_is_a_bad_record(tmp_path):
    pictures = [picture("plain-444.jpg")] * 10
    pictures[5] = pictures[5][: len(pictures[5]) // 3]
    ds = write(tmp_path, pictures)
    spec = {"image": recmap.Image(16, key="image/encoded"), "label": recmap.FixedLen((), "int64")}
    with pytest.raises(recmap.FeatureError, match=r"record 5 at byte \d+: .*ends at row \d+ of 64"):
        ds.parse(range(10), spec)
    batch = ds.parse(range(10), spec, on_bad_record="collect")
    assert [row for row, _ in batch.failures] == [5] and not batch["image"][5].any()
    assert batch["image"][4].any() and batch["image"][6].any()
    for policy, labels in (("skip", [0, 1, 2, 3, 4, 6, 7, 8, 9]), ("substitute", 10)):
        loader = recmap.Loader(ds, 4, features=spec, on_bad_record=policy)
        with pytest.warns(UserWarning, match=r"(skipped|replaced) a bad record"):
            seen = [int(label) for batch in loader for label in batch["label"]]
        assert seen == labels if policy == "skip" else len(seen) == labels and 5 not in seen


def with_needless_bytes(data):
    """A JPEG with bytes between two segments, of which libjpeg warns."""
    end = 4 + int.from_bytes(data[4:6], "big")  # of the first segment
    return data[:end] + b"\0\0\0" + data[end:]


def test_statistics_count_pictures(tmp_path):
    pictures = [picture("plain-444.jpg")] * 10
    pictures[3] = pictures[3][:300]
    pictures[6] = with_needless_bytes(pictures[6])
    ds = write(tmp_path, pictures)
    loader = recmap.Loader(ds, 1, features=features(), on_bad_record="skip", epochs=1)
    assert loader.statistics["decoded_count"] == 0 == loader.statistics["decode_ns"]
    with pytest.warns(UserWarning, match="skipped a bad record"):
        assert sum(len(batch["label"]) for batch in loader) == 9
    found = loader.statistics
    assert found["decoded_count"] == 9 and found["decode_warning_count"] == 1
    assert found["decode_failed_count"] >= 1
    assert 0 < found["decode_ns"] < found["parse_ns"] <= found["fill_ns"]
    assert "decoding" in loader._repr_html_()


def damage(ds, number):
    """Changes a byte in the middle of a record, in place, so that its checksum is wrong."""
    record, path = bytes(ds[number]), pathlib.Path(ds.index_path).with_suffix("")
    place = path.read_bytes().index(record) + len(record) // 2
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([record[len(record) // 2] ^ 1]))


@pytest.mark.parametrize("damaged", [None, 8])
@pytest.mark.parametrize("access", ["map", "direct"])
def test_each_picture_is_decoded_once_around_bad_records(tmp_path, damaged, access):
    pictures = [picture(NAMES[i % len(NAMES)]) for i in range(40)]
    for number in (5, 12, 13, 30):
        pictures[number] = pictures[number][:300]
    ds = write(tmp_path, pictures)
    bad = {5, 12, 13, 30}
    if damaged is not None:
        damage(ds, damaged)
        bad |= {damaged}
    ds = recmap.open(ds.index_path, access=access)
    good = [number for number in range(40) if number not in bad]
    plain = ds.parse(good, features(), seed=2, epoch=0)["image"]
    expected = {number: pixels.tobytes() for number, pixels in zip(good, plain, strict=True)}
    for policy in ("skip", "substitute"):
        options = {"features": features(), "on_bad_record": policy, "epochs": 1, "seed": 2}
        loader = recmap.Loader(ds, 16, **options)
        with pytest.warns(UserWarning, match="a bad record"):
            batches = list(loader)
        labels = [int(label) for batch in batches for label in batch["label"]]
        followers = {5: 6, 8: 9, 12: 14, 13: 14, 30: 31}
        if policy == "skip":
            assert labels == good
        else:
            assert labels == [followers[i] if i in bad else i for i in range(40)]
        for batch in batches:
            numbers = batch.records.numbers
            assert numbers.tolist() == batch["label"].tolist()
            assert [bytes(record) for record in batch.records] == [
                bytes(record) for record in ds.gather(numbers)
            ]
            for number, pixels in zip(numbers, batch["image"], strict=True):
                assert pixels.tobytes() == expected[int(number)]
        substitutes = {found["number"]: found["substitute"] for found in loader.skipped}
        if policy == "skip":
            assert substitutes == dict.fromkeys(sorted(bad))
        else:
            assert substitutes == {number: followers[number] for number in sorted(bad)}
        found = loader.statistics
        assert found["decoded_count"] == len(labels)
        # Record 13 is the first substitute that is tried for record 12.
        assert found["decode_failed_count"] == (4 if policy == "skip" else 5)


def test_positions_stay_with_their_records_around_bad_ones(photos):
    ds = write_bad(photos)
    order = recmap.WithReplacement(10, seed=1, size=40)
    options = {"order": order, "seed": 9, "features": features(), "on_bad_record": "skip"}
    loader = recmap.Loader(ds, 40, **options)
    with pytest.warns(UserWarning, match="a bad record"):
        batch = next(iter(loader))
    assert 20 < len(batch["label"]) < 40
    again = ds.parse(batch.records.numbers, features(), seed=9, epoch=0, positions=batch.positions)
    assert (again["image"] == batch["image"]).all()


def test_substitutes_are_drawn_at_their_own_positions(photos):
    """So a parse of the batch's numbers and positions gives its pixels."""
    ds = write_bad(photos)
    order = recmap.WithReplacement(10, seed=1, size=40)
    options = {"order": order, "seed": 9, "features": features(), "on_bad_record": "substitute"}
    for size, threads in ((40, 1), (40, 3), (7, 2)):
        loader = recmap.Loader(ds, size, threads=threads, epochs=1, **options)
        with pytest.warns(UserWarning, match="a bad record"):
            batches = list(loader)
        assert sum(len(batch["label"]) for batch in batches) == 40 and loader.skipped
        for batch in batches:
            assert (order.at(0, batch.positions) == batch.numbers).all()
            place = {"seed": 9, "epoch": 0, "positions": batch.positions}
            again = ds.parse(batch.numbers, features(), **place)
            assert (again["image"] == batch["image"]).all()
            assert (again.seeds() == batch.seeds()).all()


def test_without_a_good_substitute_the_first_error_is_raised(tmp_path):
    ds = write(tmp_path, [picture(name)[:300] for name in NAMES[:3]])
    loader = recmap.Loader(ds, 2, features=features(), on_bad_record="substitute")
    with pytest.raises(recmap.FeatureError, match=r"record 0 at byte \d+: .*the JPEG ends at"):
        next(iter(loader))
    loader.close()
    for number in range(3):
        damage(ds, number)
    loader = recmap.Loader(ds, 2, features=features(), on_bad_record="substitute")
    with pytest.raises(
        recmap.CorruptRecordError, match=r"tfrecord: record 0 at byte \d+: data CRC"
    ):
        next(iter(loader))


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 3, "batches_ahead": 20}])
def test_pixels_ahead_are_limited(photos, options):
    """A batch has 20.7 MB of pixels, so 64 MiB hold three."""
    image = recmap.Image((830, 830), key="image/encoded")
    loader = recmap.Loader(photos, 10, features={"image": image}, **options)
    batches = iter(loader)
    for taken in (1, 2, 3):
        next(batches)
        while loader.statistics["decoded_count"] < (taken + 3) * 10:
            time.sleep(0.001)
        assert loader.statistics["decoded_count"] == (taken + 3) * 10
    loader.close()


def test_records_without_the_feature_take_the_default(photos):
    levels = {"mean": (0.5, 0.25, 0), "std": 0.5, "dtype": "float32"}
    image = recmap.Image(4, key="none", default=(255, 0, 51), **levels)
    batch = photos.parse([0], {"image": image}, missing="ignore")
    assert np.allclose(batch["image"][0], [1.0, -0.5, 0.4])
    with pytest.raises(recmap.FeatureError, match="'none' is missing"):
        photos.parse([0], {"image": recmap.Image(4, key="none")}, missing="ignore")


def test_elements_are_the_levels(photos):
    plain = recmap.decode_image(picture("rgb.png"))
    floats = recmap.decode_image(picture("rgb.png"), dtype="float32", mean=[0.1, 0.2, 0.3], std=0.5)
    expected = (plain / 255.0 - [0.1, 0.2, 0.3]) / 0.5
    assert (floats == expected.astype(np.float32)).all()
    halves = recmap.decode_image(picture("rgb.png"), dtype="float16")
    assert (halves == (plain / 255.0).astype(np.float32).astype(np.float16)).all()
    deep = recmap.decode_image(picture("gray-16.png"), mode="L", dtype="uint16")
    assert (deep.ravel() == np.arange(64 * 96) * 10).all()
    with pytest.raises(recmap.FeatureError, match="16 bits"):
        recmap.decode_image(picture("gray-16.png"), mode="L")


def test_the_header_of_a_picture():
    assert recmap.image_info(picture("plain-420.jpg")) == ("jpeg", 64, 96, "RGB", 8, 1)
    assert recmap.image_info(picture("gray-16.png"))[3:5] == ("L", 16)
    assert recmap.image_info(picture("lossless.webp"))[:4] == ("webp", 32, 48, "RGBA")
    assert recmap.image_info(picture("turned-6.jpg")) == ("jpeg", 24, 16, "RGB", 8, 6)
    with pytest.raises(recmap.UnsupportedError, match="GIF"):
        recmap.image_info(b"GIF89a" + bytes(20))


def test_pictures_are_turned_upright():
    plain = recmap.decode_image(picture("turned-1.jpg"))
    turned = recmap.decode_image(picture("turned-8.jpg"))
    assert (turned == np.rot90(plain)).all()
    assert (recmap.decode_image(picture("turned-8.jpg"), exif=False) == plain).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size must be at least 1"),
        ({"size": (1, 2, 3)}, r"size is \(height, width\)"),
        ({"size": 8, "mode": "BGR"}, "mode must be one of"),
        ({"size": 8, "max_pixels": 0}, "max_pixels must be at least 1"),
        ({"size": 8, "interpolation": "cubic"}, "interpolation must be one of"),
        ({"size": 8, "dtype": "int64"}, "dtype of an image"),
        ({"size": 8, "mean": [1, 2]}, "for each of 3 channels"),
        ({"size": 8, "crop": recmap.RandomResizedCrop(scale=(1, 0.1))}, "scale is two numbers"),
    ],
)
def test_wrong_arguments_are_refused_where_they_are_given(arguments, message):
    with pytest.raises(ValueError, match=message):
        recmap.Image(**arguments)


@pytest.mark.parametrize("name", ["antialias", "exif"])
def test_words_are_not_true_or_false(name):
    with pytest.raises(TypeError, match=f"{name} must be True or False, not 'no'"):
        recmap.Image(8, **{name: "no"})


@pytest.mark.parametrize("draw", [3, b"mask", None])
def test_the_name_of_draws_is_a_text(draw):
    with pytest.raises(TypeError, match="draw must be a str, not "):
        recmap.Image(8, draw=draw)


def test_a_loader_with_images_is_pickled(photos):
    loader = recmap.Loader(photos, 10, shuffle=True, seed=4, features=features())
    copy = pickle.loads(pickle.dumps(loader))
    assert pixels_by_record(copy) == pixels_by_record(loader)
    assert repr(recmap.Image(8, flip=0.5)) == "Image(8, flip=0.5)"


def write_joined(folder):
    """Pictures with the keys 0 to 39, and masks with some of the keys, in another order."""
    with recmap.Writer(folder / "a.tfrecord") as writer:
        for number in range(40):
            writer.write({"image/encoded": picture(NAMES[number % 3]), "label": number})
    keys = [key for key in range(39, -1, -1) if key % 4]
    with recmap.Writer(folder / "b.tfrecord") as writer:
        for key in keys:
            writer.write({"image/encoded": picture(NAMES[key % 3]), "label": key})
    sides = {
        name: recmap.open(folder / f"{name}.tfrecord", id="label", index=folder / f"{name}.rmx")
        for name in "ab"
    }
    return recmap.join(sides)


def test_images_of_joined_data_sets_have_the_same_draws(tmp_path):
    joined = write_joined(tmp_path)
    wanted = {"a": features(), "b": features()}
    seen = {}
    whole, parts = ({"batch_size": 30, "threads": count} for count in (1, 3))
    for options in ({}, {"transform": dict}, whole, parts):
        options = {"batch_size": 7, "shuffle": True, "seed": 3, **options}
        with recmap.JoinedLoader(joined, features=wanted, epochs=2, **options) as loader:
            for batch in loader:
                image, mask = batch["a"], batch["b"]
                assert (image["label"] == mask["label"]).all()
                assert (image["image"] == mask["image"]).all()
                assert (image.seeds("x") == mask.seeds("x")).all()
                for label, pixels in zip(image["label"], image["image"], strict=True):
                    key = image.epoch, int(label)
                    assert seen.setdefault(key, pixels.tobytes()) == pixels.tobytes()
    for (epoch, number), pixels in seen.items():
        data = picture(NAMES[number % 3])
        alone = recmap.decode_image(data, (24, 32), **SPEC, seed=3, epoch=epoch, number=number)
        assert alone.tobytes() == pixels


def test_a_join_with_random_images_resumes(tmp_path):
    joined = write_joined(tmp_path)
    wanted = {"a": features(), "b": features()}

    def pixels_of(loader):
        return [batch["b"]["image"].tobytes() for batch in loader]

    def load():
        return recmap.JoinedLoader(joined, 5, features=wanted, shuffle=True, seed=3)

    loader = load()
    steps = iter(loader)
    for _ in range(3):
        next(steps)
    again = load()
    again.load_state_dict(loader.state_dict())
    assert pixels_of(again) == pixels_of(load())[3:]


def batch_of(batch):
    return getattr(batch, "records", batch)


def test_seeds_depend_on_seed_epoch_record_and_name(photos):
    def seeds_by_record(size, name="", **options):
        options = {"shuffle": True, "seed": 7, "features": features(), **options}
        seen = {}
        for batch in recmap.Loader(photos, size, **options):
            assert batch.epoch == 0
            for number, seed in zip(batch_of(batch).numbers, batch.seeds(name), strict=True):
                seen[int(number)] = int(seed)
        return seen

    seen = seeds_by_record(7)
    assert len(set(seen.values())) == 60
    assert seeds_by_record(60) == seen == seeds_by_record(9, features=None)
    assert not set(seeds_by_record(7, "other").values()) & set(seen.values())
    assert not set(seeds_by_record(7, seed=8).values()) & set(seen.values())


def test_positions_of_a_loaders_batch(photos):
    order = recmap.Shuffled(60, 3)
    loader = recmap.Loader(photos, 8, order=order, rank=1, world_size=2)
    for batch in loader:
        assert (order.at(0, batch.positions) == batch.numbers).all()
    with pytest.raises(ValueError, match="not of a loader"):
        photos.gather([1, 2]).seeds()
    bad = write_bad(photos)
    loader = recmap.Loader(bad, 5, shuffle=True, features=features(), on_bad_record="skip")
    with pytest.warns(UserWarning, match=r"record 3 at byte \d+: .*the JPEG ends at"):
        for batch in loader:
            places = loader.order.at(0, batch.positions)
            assert (places == batch.records.numbers).all()


def write_bad(photos):
    """The first ten records, of which record 3 is damaged."""
    folder = pathlib.Path(photos.index_path).parent
    pictures = [picture(NAMES[0])] * 10
    pictures[3] = pictures[3][:300]
    return write(folder, pictures, "bad.tfrecord")


def test_draws_in_concatenations_and_mixtures(photos):
    """A data set at the end changes no draw; one in front does. Positions of a mixture count."""
    parts = [photos[:20], photos[20:50], photos[50:]]
    two, three = recmap.concat(parts[:2]), recmap.concat(parts)
    draws = {"seed": 4, "epoch": 1}

    def pixels_of(ds, numbers, **options):
        return ds.parse(numbers, features(), **draws, **options)["image"]

    assert (pixels_of(three, range(50)) == pixels_of(two, range(50))).all()
    alone, after = pixels_of(recmap.concat(parts[1:]), range(30)), pixels_of(three, range(20, 50))
    assert not any((a == b).all() for a, b in zip(alone, after, strict=True))

    def load(ds, order):
        return recmap.Loader(ds, 10, order=order, seed=4, features=features())

    order = recmap.Mixture([recmap.Shuffled(20, seed=1), recmap.Shuffled(30, seed=2)], [1, 1])
    later = order.continued(0, 20, [1, 1, 1], add=[recmap.Shuffled(10, seed=3)])
    batches, continued = list(load(two, order)), list(load(three, later))
    for batch, other in zip(batches[:2], continued[:2], strict=True):
        assert (batch["image"] == other["image"]).all()
    assert not (batches[2]["image"] == continued[2]["image"]).all()
    for batch in continued:
        items = later.at(0, batch.positions)
        again = three.parse(items, features(), seed=4, epoch=0, positions=batch.positions)
        assert (again["image"] == batch["image"]).all()
