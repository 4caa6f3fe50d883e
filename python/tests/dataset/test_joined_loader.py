"""Loaders of joined data sets."""

import contextlib
import re
import threading
import warnings

import numpy as np
import pytest
import recmap
from conftest import write

COUNT = 100
FEATURES = {name: {name: recmap.FixedLen((), "int64")} for name in ("image", "caption")}


def make(folder, name, numbers):
    payloads = [recmap.encode_example({"id": f"id-{i}", name: i}) for i in numbers]
    write(folder, payloads, name=f"{name}.tfrecord")
    return recmap.open(folder / f"{name}.tfrecord", id="id")


@pytest.fixture
def joined(tmp_path):
    images = make(tmp_path, "image", range(COUNT))
    captions = make(tmp_path, "caption", np.random.default_rng(1).permutation(COUNT).tolist())
    return recmap.join({"image": images, "caption": captions})


def rows_of(batches):
    found = []
    for batch in batches:
        assert batch["image"]["image"].tolist() == batch["caption"]["caption"].tolist()
        found += batch["image"]["image"].tolist()
    return found


def test_epochs_have_the_rows_of_the_order(joined):
    loader = recmap.JoinedLoader(joined, 8, features=FEATURES, shuffle=True, seed=3)
    order = recmap.Shuffled(COUNT, seed=3)
    assert len(loader) == 13
    for epoch in range(3):
        assert loader.epoch == epoch
        assert rows_of(loader) == order.at(epoch, range(COUNT)).tolist()
    assert repr(loader) == (
        "<recmap.JoinedLoader of 'image', 'caption': 100 rows, epoch 3, position 0>"
    )


def test_records_that_are_not_parsed(joined):
    features = {"image": None, "caption": FEATURES["caption"]}
    for batch in recmap.JoinedLoader(joined, 30, features=features):
        ids = [recmap.decode_example(record)["id"][0] for record in batch["image"]]
        assert ids == [f"id-{i}".encode() for i in batch["caption"]["caption"].tolist()]


@pytest.mark.parametrize("stop", [1, 5, 12])
def test_resuming_with_other_ranks(joined, stop):
    with recmap.JoinedLoader(joined, 8, features=FEATURES, shuffle=True, seed=3) as loader:
        steps = iter(loader)
        seen = rows_of(next(steps) for _ in range(stop))
        state = loader.state_dict()
        assert loader.position == 8 * stop
    for rank in range(2):
        options = {"shuffle": True, "seed": 3, "rank": rank, "world_size": 2}
        with recmap.JoinedLoader(joined, 5, features=FEATURES, **options) as again:
            again.load_state_dict(state)
            seen += rows_of(again)
    assert sorted(seen) == list(range(COUNT))


def test_an_error_leaves_all_loaders_at_the_same_position(tmp_path, joined):
    path = tmp_path / "caption.tfrecord"
    data = bytearray(path.read_bytes())
    place = data.index(b"id-20")
    data[place] ^= 1
    path.write_bytes(data)
    loader = recmap.JoinedLoader(joined, 8, features=FEATURES)
    seen, steps = [], iter(loader)
    with pytest.raises(recmap.CorruptRecordError):
        while True:
            seen += rows_of([next(steps)])
    assert seen == list(range(16))
    assert {(each.epoch, each.position) for each in loader.loaders.values()} == {(0, 16)}
    loader.seek(0, 24)
    assert rows_of(loader) == list(range(24, COUNT))


def test_states_that_do_not_fit(joined):
    loader = recmap.JoinedLoader(joined, 8, shuffle=True)
    loader.seek(0, 16)
    state = loader.state_dict()
    loader.seek(0, 24)
    mixed = {"image": state["image"], "caption": loader.state_dict()["caption"]}
    loader.seek(1, 0)
    with pytest.raises(ValueError, match="of different positions"):
        loader.load_state_dict(mixed)
    with pytest.raises(ValueError, match="of a join of image, this join is of image, caption"):
        loader.load_state_dict({"image": state["image"]})
    with pytest.raises(ValueError, match="this is the state of one loader, this join is of image"):
        loader.load_state_dict(state["image"])
    with pytest.raises(TypeError, match=r"state must be a dict, .* not NoneType"):
        loader.load_state_dict(None)
    with pytest.raises(recmap.Error):
        loader.load_state_dict({"image": state["image"], "caption": {}})
    places = {(each.epoch, each.position) for each in loader.loaders.values()}
    assert places == {(1, 0)}
    loader.load_state_dict(state)
    assert (loader.epoch, loader.position) == (0, 16)


def test_wrong_arguments_are_refused(joined):
    with pytest.raises(TypeError, match=r"joined must be what recmap\.join returned"):
        recmap.JoinedLoader(joined.views, 8)
    with pytest.raises(ValueError, match=r"on_bad_record must be one of 'error', 'skip', 'subst"):
        recmap.JoinedLoader(joined, 8, on_bad_record="ignore")
    with pytest.raises(TypeError, match="transform must be a callable, not 7"):
        recmap.JoinedLoader(joined, 8, transform=7)
    with pytest.raises(ValueError, match="features has 'text', but the join has image, caption"):
        recmap.JoinedLoader(joined, 8, features={"text": {}})


def test_batches_of_different_positions_are_not_joined(joined):
    loader = recmap.JoinedLoader(joined, 8, features=FEATURES)
    next(iter(loader))
    loader.loaders["caption"].seek(0, 24)
    with pytest.raises(RuntimeError, match=r"at different positions: call seek"):
        next(iter(loader))
    with pytest.raises(RuntimeError, match=r"at different positions: call seek"):
        loader.state_dict()  # which could not be loaded
    loader.seek(0, 8)
    assert rows_of(loader) == list(range(8, COUNT))


def test_peek_does_not_consume(joined):
    loader = recmap.JoinedLoader(joined, 30, shuffle=True, seed=7)
    peeked = loader.peek()
    assert loader.position == 0
    for batch in loader:
        for name in peeked:
            assert batch[name].numbers.tolist() == peeked[name].numbers.tolist()
        peeked = loader.peek()
        assert (peeked is None) == (loader.position == 0)
    with pytest.raises(TypeError, match="a JoinedLoader is iterated, not indexed"):
        loader[0]


# ---- A side without features.


def test_a_side_without_features_is_warned_of(joined):
    some = {"caption": FEATURES["caption"]}
    with pytest.warns(UserWarning, match="features lacks 'image', so its records are given as byt"):
        recmap.JoinedLoader(joined, 8, features=some)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in None, {}, FEATURES, {**some, "image": None}:
            recmap.JoinedLoader(joined, 8, features=given)


# ---- Transforms, and rows with bad records.


@contextlib.contextmanager
def led(joined, **options):
    """A loader whose transform checks that the rows belong together, and gives their numbers."""

    def numbers(batch):
        assert batch["image"]["image"].tolist() == batch["caption"]["caption"].tolist()
        return batch["image"]["image"].tolist()

    with recmap.JoinedLoader(
        joined, 8, features=FEATURES, shuffle=True, seed=3, transform=numbers, **options
    ) as loader:
        yield loader


def flat(batches):
    return [number for batch in batches for number in batch]


ORDER = recmap.Shuffled(COUNT, seed=3)


def test_transforms_run_ahead_and_in_order(joined):
    threads = set()

    def slow(batch):
        threads.add(threading.current_thread().name)
        return batch["image"]["image"] - batch["caption"]["caption"]

    loader = recmap.JoinedLoader(joined, 8, features=FEATURES, transform=slow, transform_threads=2)
    assert all(not difference.any() for difference in loader)
    assert all(name.startswith("recmap-transform") for name in threads)
    assert loader.loaders["image"].statistics["transform_ns"] > 0
    with led(joined) as loader:
        for epoch in range(3):
            assert (loader.epoch, len(loader)) == (epoch, 13)
            assert flat(loader) == ORDER.at(epoch, range(COUNT)).tolist()


def test_states_of_transformed_batches(joined):
    with led(joined) as loader:
        states, seen = [loader.state_dict()], []
        for batch in loader:
            seen.append(batch)
            states.append(loader.state_dict())
        for steps in 0, 1, 5, 12, 13:
            loader.load_state_dict(states[steps])
            assert loader.peek() == (seen[steps] if steps < 13 else ORDER.at(1, range(8)).tolist())
            if steps < 13:
                assert list(loader) == seen[steps:]
        loader.load_state_dict(states[4])
        steps = iter(loader)
        next(steps)
        loader.load_state_dict(states[9])
        assert list(steps) == seen[9:]
        with recmap.JoinedLoader(joined, 8, features=FEATURES, shuffle=True, seed=3) as plain:
            plain.load_state_dict(states[9])
            assert plain.state_dict() == states[9]
            assert rows_of(plain) == flat(seen[9:])


def test_ranks_of_transformed_batches(joined):
    seen = []
    for rank in range(3):
        with led(joined, rank=rank, world_size=3) as loader:
            seen += flat(loader)
    assert sorted(seen) == list(range(COUNT))


def test_an_error_of_a_transform_is_raised_again(joined):
    fails = [True]

    def transform(batch):
        if fails[0] and 40 in batch["image"]["image"]:
            raise ZeroDivisionError
        return batch

    with recmap.JoinedLoader(joined, 8, features=FEATURES, transform=transform) as loader:
        steps = iter(loader)
        assert rows_of(next(steps) for _ in range(5)) == list(range(40))
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                next(steps)
            assert loader.position == 40
        fails[0] = False
        assert rows_of(steps) == list(range(40, COUNT))


def damage(folder, name, *ids):
    path = folder / f"{name}.tfrecord"
    data = bytearray(path.read_bytes())
    for record in ids:
        data[data.index(b"id-%d" % record)] ^= 1
    path.write_bytes(data)


def bad_rows(loader):
    return sorted((bad["name"], bad["number"]) for bad in loader.skipped)


@pytest.mark.parametrize("side", ["image", "caption"])
@pytest.mark.parametrize("parsed", [True, False])
def test_rows_with_bad_records_are_skipped_in_all_data_sets(tmp_path, joined, side, parsed):
    numbers = {"image": joined.views["image"], "caption": joined.views["caption"]}[side].numbers
    damage(tmp_path, side, 20, 37)
    options = {"on_bad_record": "skip", "shuffle": True, "seed": 3}
    order = [n for n in ORDER.at(0, range(COUNT)).tolist() if n not in (20, 37)]
    features = FEATURES if parsed else {"image": FEATURES["image"], "caption": None}
    with recmap.JoinedLoader(joined, 8, features=features, **options) as loader:
        if parsed:
            assert rows_of(loader) == order
        else:
            pairs = [
                (image, recmap.decode_example(record)["caption"][0])
                for batch in loader
                for image, record in zip(
                    batch["image"]["image"].tolist(), batch["caption"], strict=True
                )
            ]
            assert pairs == [(n, n) for n in order]
        assert bad_rows(loader) == sorted((side, int(numbers[n])) for n in (20, 37))
        assert {bad["substitute"] for bad in loader.skipped} == {None}
    with led(joined, on_bad_record="skip") as loader:
        assert flat(loader) == order
    with led(joined) as loader, pytest.raises(recmap.CorruptRecordError):
        flat(loader)


@pytest.mark.parametrize("side", ["image", "caption"])
def test_a_join_of_damaged_records_leaves_them_to_the_loader(tmp_path, joined, side):
    """Their ids cannot be compared, but their hashes are in the indexes."""
    damage(tmp_path, side, 0, 20, 37, 38)
    again = recmap.join(
        {"image": joined._datasets["image"], "caption": joined._datasets["caption"]}
    )
    for name, positions in joined.positions.items():
        assert again.positions[name].tolist() == positions.tolist()
    part = recmap.join(
        {"image": again._datasets["image"], "caption": again.views["caption"][10:50]}
    )
    assert part.positions["image"].tolist() == list(range(10, 50))
    with pytest.raises(recmap.CorruptRecordError):
        rows_of(recmap.JoinedLoader(again, 8, features=FEATURES))
    with recmap.JoinedLoader(again, 8, features=FEATURES, on_bad_record="skip") as loader:
        assert rows_of(loader) == [n for n in range(COUNT) if n not in (0, 20, 37, 38)]
        assert len(loader.skipped) == 4


@pytest.mark.parametrize("side", ["image", "caption"])
def test_a_step_without_a_good_row_warns(tmp_path, joined, side):
    damage(tmp_path, side, *range(16, 32))
    with recmap.JoinedLoader(joined, 8, features=FEATURES, on_bad_record="skip") as loader:
        with pytest.warns(UserWarning, match="all 8 records of a step were skipped") as caught:
            assert rows_of(loader) == [*range(16), *range(32, COUNT)]
        texts = sorted(str(warning.message) for warning in caught)
        assert {warning.filename for warning in caught} == {__file__}
    first = (
        rf"skipped a bad record: {re.escape(str(tmp_path))}/{side}.tfrecord: record \d+ at byte "
    )
    assert len(texts) == 2 and re.match(first + r"\d+: .*\. loader\.skipped lists them$", texts[1])
    with recmap.JoinedLoader(joined, 8, features=FEATURES, on_bad_record="substitute") as loader:
        with pytest.warns(UserWarning, match=first.replace("skipped", "replaced")) as caught:
            assert len(rows_of(loader)) == COUNT
        assert len(caught) == 1


def test_rows_with_bad_records_are_replaced_by_rows_that_are_good_everywhere(tmp_path, joined):
    places = {int(n): place for place, n in enumerate(ORDER.at(0, range(COUNT)))}
    order = ORDER.at(0, range(COUNT)).tolist()
    first = order[30]
    damage(tmp_path, "image", first)
    damage(tmp_path, "caption", order[31])  # the next row is bad in the other data set
    expected = list(order)
    expected[30] = expected[31] = order[32]
    with led(joined, on_bad_record="substitute") as loader:
        assert flat(loader) == expected
        assert len(loader.skipped) == 2
        assert {bad["substitute"] for bad in loader.skipped} == {places[order[32]]}
        assert flat(loader) and loader.epoch == 2


def test_rows_with_nothing_to_replace_them(tmp_path, joined):
    damage(tmp_path, "caption", *range(10, COUNT))
    some = joined[10:20]
    with led(some, on_bad_record="substitute") as loader:
        with pytest.raises(recmap.CorruptRecordError):
            flat(loader)
        assert loader.position == 0
    with led(some, on_bad_record="skip") as loader:
        assert flat(loader) == []


def test_padded_steps_with_bad_records(tmp_path, joined):
    damage(tmp_path, "caption", 20)
    with led(joined, on_bad_record="skip", last="pad") as loader:
        order = ORDER.at(0, range(COUNT)).tolist()
        assert flat(loader) == [n for n in order + order[:4] if n != 20]
