"""Random images and seeds of joined data sets, around rows with bad records."""

import pytest
import recmap
from conftest import ROOT, needs_images

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "rgb.png"]
COUNT, SEED = 40, 3
IMAGE = recmap.Image(
    (12, 16), key="image/encoded", crop=recmap.RandomResizedCrop(scale=(0.2, 1)), flip=0.5
)
FEATURES = {"image": IMAGE, "label": recmap.FixedLen((), "int64")}
WANTED = {"a": FEATURES, "b": FEATURES}

pytestmark = [
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
    needs_images,
]


def write_side(folder, name, keys, cut, damaged):
    """Pictures of keys. Those of `cut` end after their header, `damaged` ones have a wrong byte."""
    path = folder / f"{name}.tfrecord"
    with recmap.Writer(path) as writer:
        for key in keys:
            data = (PICTURES / NAMES[key % 3]).read_bytes()
            data = data[:300] if key in cut else data
            writer.write({"label": key, "image/encoded": data})
    ds = recmap.open(path, id="label", index=folder / f"{name}.rmx")
    data = bytearray(path.read_bytes())
    for key in damaged:
        record = bytes(ds[ds.find(key)])
        data[data.index(record) + len(record) // 2] ^= 1
    path.write_bytes(data)
    return recmap.open(ds.index_path)


def write_joined(folder, bad=None):
    """Two sides with the keys 0 to 39, in other orders. `bad`: {side: (cut keys, damaged keys)}"""
    folder.mkdir()
    bad = bad or {}
    sides = {
        "a": write_side(folder, "a", range(COUNT), *bad.get("a", ((), ()))),
        "b": write_side(folder, "b", range(COUNT - 1, -1, -1), *bad.get("b", ((), ()))),
    }
    return recmap.join(sides)


BAD = {
    "first": {"a": ((6, 7), (20,))},
    "second": {"b": ((6,), (30, 31))},
    "both": {"a": ((5,), (20,)), "b": ((6, 39), ())},
}
BAD_COUNTS = {"first": 3, "second": 3, "both": 4}
ORDERS = {
    "shuffled": {"shuffle": True},
    "repeated": {"order": recmap.WithReplacement(COUNT, seed=2, size=60)},
}


def place_of(batch):
    """What a row is, for each row."""
    seeds = batch.seeds("x").tolist()
    rows = zip(batch["label"].tolist(), batch["image"], seeds, strict=True)
    places = [(batch.epoch, position) for position in batch.positions.tolist()]
    values = [(label, pixels.tobytes(), seed) for label, pixels, seed in rows]
    return list(zip(places, values, strict=True))


def rows_of(batches):
    """[(place, values of the first side, values of the second)] of each row."""
    rows = []
    for batch in batches:
        assert list(batch) == ["a", "b"]
        for (place, first), (other, second) in zip(*map(place_of, batch.values()), strict=True):
            assert place == other and first[0] == second[0]  # one key
            assert first[1:] == second[1:]  # the same crop of the same picture, and one seed
            rows.append((place, first))
    return rows


def loader_of(joined, order, **options):
    return recmap.JoinedLoader(
        joined, 7, features=WANTED, seed=SEED, epochs=2, **ORDERS[order], **options
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.filterwarnings("ignore:(skipped|replaced) a bad record")
def test_rows_around_bad_ones_are_those_of_a_join_without_bad_records(tmp_path, order, bad):
    with loader_of(write_joined(tmp_path / "good"), order) as loader:
        good = dict(rows_of(loader))
    joined = write_joined(tmp_path / "bad", BAD[bad])
    keys = {key for sides in BAD[bad].values() for group in sides for key in group}
    kept = {place: row for place, row in good.items() if row[0] not in keys}
    assert len(keys) == BAD_COUNTS[bad] and len(good) - len(kept) > 4
    for options in ({}, {"transform": dict}, {"threads": 1}):
        with loader_of(joined, order, on_bad_record="skip", **options) as loader:
            assert dict(rows_of(loader)) == kept
    with loader_of(joined, order, on_bad_record="substitute") as loader:
        rows = rows_of(loader)
        instead = {
            (found["epoch"], found["position"]): found["substitute"] for found in loader.skipped
        }
    assert set(instead) == set(good) - set(kept) and len(rows) == len(good)
    for place, row in zip(good, rows, strict=True):
        epoch, position = place
        wanted = epoch, instead.get(place, position)
        assert row == (wanted, good[wanted])


@pytest.mark.filterwarnings("ignore:skipped a bad record")
def test_a_join_with_bad_records_resumes(tmp_path):
    joined = write_joined(tmp_path / "bad", BAD["both"])
    with loader_of(joined, "shuffled", on_bad_record="skip") as loader:
        states, batches = [loader.state_dict()], []
        for batch in loader:
            batches.append(rows_of([batch]))
            states.append(loader.state_dict())
        for step in (1, 4, 7):
            loader.load_state_dict(states[step])
            assert [rows_of([batch]) for batch in loader] == batches[step:]


@pytest.mark.filterwarnings("ignore:skipped a bad record")
def test_records_that_are_not_parsed_have_seeds(tmp_path):
    wanted = {"a": None, "b": FEATURES}
    joined = write_joined(tmp_path / "bad", BAD["both"])
    with recmap.JoinedLoader(
        joined, 7, features=wanted, seed=SEED, shuffle=True, on_bad_record="skip"
    ) as loader:
        for batch in loader:
            assert (batch["a"].seeds("x") == batch["b"].seeds("x")).all()
            assert (batch["a"].positions == batch["b"].positions).all()
            assert batch["a"].epoch == batch["b"].epoch == 0


def test_a_fault_of_a_picture_is_named(tmp_path):
    joined = write_joined(tmp_path / "bad", {"b": ((6,), ())})
    path = tmp_path / "bad" / "b.tfrecord"
    with (
        loader_of(joined, "shuffled", on_bad_record="skip") as loader,
        pytest.warns(UserWarning, match=rf"skipped a bad record: {path}: record 33 .*ends at"),
    ):
        rows_of(loader)


def test_a_parse_of_a_join_has_the_seeds_of_its_loader(tmp_path):
    joined = write_joined(tmp_path / "good")
    for name, repeats in (("shuffled", False), ("repeated", True)):
        with loader_of(joined, name) as loader:
            batch = next(iter(loader))
            order = loader.loaders["a"].order
        positions = batch["a"].positions
        rows = order.at(0, positions)
        place = {"seed": SEED, "epoch": 0, "positions": positions if repeats else None}
        for side, again in joined.parse(rows, WANTED, **place).items():
            assert (again.seeds("x") == batch[side].seeds("x")).all()
            assert (again["image"] == batch[side]["image"]).all()
