"""Random images in sources that do not know the epoch: they draw as `recmap.Loader` does."""

import pickle
import warnings

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "rgb.png"]
IMAGE = recmap.Image(
    (12, 16), key="image/encoded", crop=recmap.RandomResizedCrop(scale=(0.2, 1)), flip=0.5
)
FEATURES = {"image": IMAGE, "label": recmap.FixedLen((), "int64")}
COUNT, SEED = 24, 7

pytestmark = [
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
    needs_images,
]


def write(folder, name, numbers):
    with recmap.Writer(folder / f"{name}.tfrecord") as writer:
        for number in numbers:
            data = (PICTURES / NAMES[number % len(NAMES)]).read_bytes()
            writer.write({"image/encoded": data, "label": number})
    return recmap.open(folder / f"{name}.tfrecord", id="label", index=folder / f"{name}.rmx")


@pytest.fixture
def photos(tmp_path):
    return write(tmp_path, "photos", range(COUNT))


@pytest.fixture
def joined(tmp_path):
    """Pictures with the keys 0 to 23, and masks with most of the keys, in another order."""
    keys = [key for key in range(COUNT - 1, -1, -1) if key % 4]
    sides = {"a": write(tmp_path, "a", range(COUNT)), "b": write(tmp_path, "b", keys)}
    return recmap.join(sides)


ORDERS = {
    "shuffled": recmap.Shuffled(COUNT, seed=3),
    "with replacement": recmap.WithReplacement(COUNT, seed=3, size=40),
}


def loaded(photos, order, epochs=2):
    """[(label, pixels) of each position] of each epoch of a loader."""
    loader = recmap.Loader(photos, 5, order=order, seed=SEED, features=FEATURES)
    return [
        [
            (int(label), pixels.tobytes())
            for batch in loader
            for label, pixels in zip(batch["label"], batch["image"], strict=True)
        ]
        for _ in range(epochs)
    ]


def listed(labels, images):
    return [
        (int(label), np.asarray(pixels, np.uint8).tobytes())
        for label, pixels in zip(labels, images, strict=True)
    ]


@pytest.fixture(params=ORDERS)
def order(request):
    return ORDERS[request.param]


# ---- Data sets and joins.


def test_a_parse_of_a_join_draws_as_its_loader(joined):
    wanted = {"a": FEATURES, "b": FEATURES}
    with recmap.JoinedLoader(joined, 6, features=wanted, shuffle=True, seed=SEED) as loader:
        batch = next(iter(loader))
    rows = loader.loaders["a"].order.at(0, batch["a"].positions)
    again = joined.parse(rows, wanted, seed=SEED, epoch=0)
    for name in "ab":
        assert (again[name]["label"] == batch[name]["label"]).all()
        assert (again[name]["image"] == batch[name]["image"]).all()


def test_a_parse_of_sequences_draws(tmp_path):
    data = (PICTURES / NAMES[0]).read_bytes()
    lists = {"frames": [[data], [data]]}
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for _ in range(3):
            writer.write(recmap.encode_sequence_example({}, lists))
    clips = recmap.open(tmp_path / "x.rmx")
    frame = recmap.Image((8, 8), crop=recmap.RandomResizedCrop())
    frames = {"frames": recmap.FixedLenSequence((), frame)}
    with recmap.Loader(clips, 3, features={}, feature_lists=frames, seed=SEED) as loader:
        _, batch = next(iter(loader))
    _, again = clips.parse_sequence(range(3), {}, frames, seed=SEED, epoch=0)
    assert (again["frames"] == batch["frames"]).all()
    with pytest.raises(recmap.InvalidError, match="'frames' is random"):
        clips.parse_sequence(range(3), {}, frames)


def test_a_reader_of_arrow_has_the_schema_of_random_images(photos):
    pytest.importorskip("pyarrow")
    loader = recmap.Loader(photos, 10, features=FEATURES, seed=SEED)
    assert recmap.arrow.reader(loader).read_all().num_rows == COUNT


# ---- PyTorch.


def of_torch(dataset, **options):
    data = pytest.importorskip("torch.utils.data")
    return data.DataLoader(dataset, 5, collate_fn=recmap.torch.collate, **options)


def epoch_of(loader):
    return [pair for batch in loader for pair in listed(batch["label"], batch["image"])]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_workers": 2},
        {"num_workers": 2, "persistent_workers": True},
        {"num_workers": 1, "persistent_workers": True, "multiprocessing_context": "spawn"},
    ],
    ids=["no workers", "workers", "persistent workers", "spawned workers"],
)
def test_samples_draw_in_the_epoch_that_is_set(photos, options):
    pytest.importorskip("torch")
    dataset = recmap.torch.MapDataset(photos, FEATURES, seed=SEED)
    loader = of_torch(dataset, **options)
    for epoch, expected in enumerate(loaded(photos, recmap.Sequential(COUNT))):
        dataset.set_epoch(epoch)
        assert epoch_of(loader) == expected


def test_samples_of_a_given_epoch(photos):
    pytest.importorskip("torch")
    dataset = recmap.torch.MapDataset(photos[2:], FEATURES, epoch=1, seed=SEED)
    again = photos[2:].parse([4], FEATURES, epoch=1, seed=SEED)
    for each in (dataset, pickle.loads(pickle.dumps(dataset))):
        assert (each[4]["image"].numpy() == again["image"][0]).all()
    plain = recmap.torch.MapDataset(photos, FEATURES, epoch=1)  # seed 0, as of a loader
    assert (
        plain[4]["image"].numpy() == photos.parse([4], FEATURES, epoch=1, seed=0)["image"]
    ).all()


def test_samples_without_an_epoch_are_refused(photos):
    pytest.importorskip("torch")
    dataset = recmap.torch.MapDataset(photos, FEATURES, seed=SEED)
    with pytest.raises(recmap.InvalidError, match=r"'image/encoded' is random(.|\n)*set_epoch\("):
        dataset[0]
    with pytest.raises(ValueError, match="epoch"):
        dataset.set_epoch(-1)
    with pytest.warns(UserWarning, match="seed=7 has no effect"):
        recmap.torch.MapDataset(photos, seed=SEED).set_epoch(3)


def test_samples_resume_with_the_seed_of_their_state(photos):
    pytest.importorskip("torch")
    made = {seed: recmap.torch.MapDataset(photos, FEATURES, seed=seed) for seed in (7, 8)}
    state = made[7].state_dict()
    made[7].load_state_dict(state)
    with pytest.raises(recmap.StateMismatchError, match="the state has 7, the data set 8"):
        made[8].load_state_dict(state)
    plain = recmap.torch.MapDataset(photos, {"label": FEATURES["label"]})
    assert "draws" not in plain.state_dict()
    plain.load_state_dict(state)
    made[8].load_state_dict(plain.state_dict())


# ---- Grain.


@pytest.fixture
def grain():
    return pytest.importorskip("grain")


def of_elements(elements):
    return listed(*zip(*((each["label"], each["image"]) for each in elements), strict=True))


def test_elements_in_an_order_draw_in_its_epochs(photos, order, grain):
    source = recmap.grain.DataSource(photos, FEATURES, seed=SEED)
    ordered = recmap.grain.Ordered(grain.MapDataset.source(source), order)
    epochs = loaded(photos, order)
    assert of_elements(ordered[i] for i in range(2 * len(order))) == epochs[0] + epochs[1]
    repeated = pickle.loads(pickle.dumps(ordered)).repeat(2)
    assert of_elements(repeated.to_iter_dataset()) == epochs[0] + epochs[1]
    across = [len(order), 0, len(order) + 1]
    assert of_elements(ordered._getitems(across)) == [*epochs[1][:1], epochs[0][0], epochs[1][1]]


def test_batches_draw_in_their_epochs(photos, order, grain):
    batches = recmap.grain.Batches(photos, order, 7, FEATURES, seed=SEED)
    batches = pickle.loads(pickle.dumps(batches))
    seen = [
        pair
        for i in range(2 * len(batches))
        for pair in listed(batches[i]["label"], batches[i]["image"])
    ]
    assert seen == sum(loaded(photos, order), [])


def test_a_source_of_one_epoch(photos, grain):
    source = recmap.grain.DataSource(photos, FEATURES, epoch=1, seed=SEED)
    expected = loaded(photos, recmap.Sequential(COUNT))[1]
    assert of_elements(pickle.loads(pickle.dumps(source))) == expected
    ordered = recmap.grain.Ordered(grain.MapDataset.source(source), ORDERS["shuffled"])
    assert sorted(of_elements(ordered)) == sorted(expected)
    others = {"epoch": 2, "seed": SEED}, {"epoch": 1, "seed": 8}
    texts = {repr(recmap.grain.DataSource(photos, FEATURES, **other)) for other in others}
    assert len({*texts, repr(source)}) == 3
    plain = recmap.grain.DataSource(photos, {"label": FEATURES["label"]}, epoch=1)
    assert "epoch" not in repr(plain)


def test_elements_without_an_epoch_are_refused(photos, grain):
    source = recmap.grain.DataSource(photos, FEATURES, seed=SEED)
    with pytest.raises(recmap.InvalidError, match=r"'image/encoded' is random(.|\n)*grain.Ordered"):
        source[0]
    with pytest.warns(UserWarning, match="seed=7 has no effect"):
        recmap.grain.Batches(photos, recmap.Sequential(COUNT), 5, seed=SEED)


def test_elements_of_a_join_draw_as_its_loader(joined, grain):
    wanted = {"a": FEATURES, "b": FEATURES}
    order = recmap.Shuffled(len(joined), seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = recmap.grain.JoinedSource(joined, {"a": None, **wanted}, seed=SEED)
    ordered = recmap.grain.Ordered(grain.MapDataset.source(source), order)
    with recmap.JoinedLoader(joined, 5, order=order, features=wanted, seed=SEED) as loader:
        steps = [step for _ in range(2) for step in loader]
    expected = [
        pair for step in steps for pair in zip(step["a"]["image"], step["b"]["image"], strict=True)
    ]
    for i, (image, mask) in enumerate(expected):
        assert (ordered[i]["a"]["image"] == image).all()
        assert (ordered[i]["b"]["image"] == mask).all()
    assert len(expected) == 2 * len(joined)
    only = recmap.grain.JoinedSource(joined, {"a": None, "b": FEATURES}, epoch=0, seed=SEED)
    found = {int(element["b"]["label"]): element["b"]["image"] for element in only}
    first = steps[0]["b"]
    for label, pixels in zip(first["label"], first["image"], strict=True):
        assert (found[int(label)] == pixels).all()


# ---- Ray and Hugging Face, whose sources read one epoch.


def of_ray(photos, **options):
    source = recmap.ray.Datasource(photos, FEATURES, seed=SEED, **options)
    tables = [block for task in source.get_read_tasks(4) for block in task()]
    labels = [label for table in tables for label in table["label"].to_pylist()]
    images = [image for table in tables for image in table["image"].combine_chunks().to_numpy()]
    return listed(labels, images)


def of_huggingface(photos, **options):
    rows = list(recmap.huggingface.dataset(photos, FEATURES, seed=SEED, **options))
    return listed([row["label"] for row in rows], [row["image"] for row in rows])


READERS = {"ray": of_ray, "datasets": of_huggingface}


@pytest.fixture(params=READERS)
def read(request):
    pytest.importorskip(request.param)
    return READERS[request.param]


def test_rows_draw_in_the_given_epoch(photos, order, read):
    for epoch, expected in enumerate(loaded(photos, order)):
        assert read(photos, order=order, epoch=epoch) == expected


def test_rows_of_a_view_by_a_list_draw_by_position(photos, read):
    """In a loader of such a view, positions count, because it may hold a record twice."""
    view = photos.select([5, 3, 5, *range(20)])
    expected = loaded(view, recmap.Sequential(len(view)))
    assert expected[0][0] != expected[0][2]
    assert read(view, epoch=1) == expected[1]


def test_rows_resume_with_the_same_draws(photos):
    pytest.importorskip("ray")
    order = ORDERS["with replacement"]
    assert of_ray(photos, order=order, epoch=1, position=11) == loaded(photos, order)[1][11:]


def test_rows_without_an_epoch_are_refused(photos, read):
    with pytest.raises(recmap.InvalidError, match=r"'image/encoded' is random(.|\n)*give epoch="):
        read(photos, order=ORDERS["shuffled"])
