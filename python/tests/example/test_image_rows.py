"""Pictures in rows: windows of episodes, and documents in chunks and packs."""

import numpy as np
import pytest
import recmap
from conftest import ROOT

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "rgb.png", "gray.jpg", "progressive.jpg"]  # of one size
SIZE = (12, 16)
PLAIN = recmap.Image(SIZE)
RANDOM = recmap.Image(SIZE, crop=recmap.RandomResizedCrop(), flip=0.5)
LENGTHS = [7, 0, 12, 5, 9, 1, 8, 3]  # frames of the episodes

pytestmark = pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here")


def picture(number):
    return (PICTURES / NAMES[number % len(NAMES)]).read_bytes()


def frame(episode, step):
    """The bytes of a frame. One has none, as a camera that was off."""
    return b"" if (episode, step) == (2, 4) else picture(episode * 3 + step)


def frames_of(episode):
    return [frame(episode, step) for step in range(LENGTHS[episode])]


def pixels(episode, step, spec=PLAIN, **draw):
    data = frame(episode, step)
    if not data:
        return np.zeros((*SIZE, 3), np.uint8)
    return recmap.decode_image(data, SIZE, crop=spec.crop, flip=spec.flip, **draw)


def write_examples(folder, frames=frames_of):
    with recmap.Writer(folder / "x.tfrecord", index=folder / "x.rmx", id="id") as writer:
        for episode, length in enumerate(LENGTHS):
            values = {"frames": frames(episode), "still": picture(episode), "id": f"e{episode}"}
            writer.write({**values, "step": list(range(length))} if length else {"id": "empty"})
    return recmap.open(folder / "x.rmx")


@pytest.fixture
def episodes(tmp_path):
    return write_examples(tmp_path)


@pytest.fixture
def sequences(tmp_path):
    with recmap.Writer(tmp_path / "s.tfrecord", index=tmp_path / "s.rmx") as writer:
        for episode in range(len(LENGTHS)):
            lists = {"frames": frames_of(episode)}
            writer.write(recmap.encode_sequence_example({"id": episode}, lists))
    return recmap.open(tmp_path / "s.rmx")


def windows(**options):
    return recmap.Windows(LENGTHS, 4, pad=(2, 1), seed=3, **options)


def model(order, epoch, positions, pad=0, spec=PLAIN, seed=None):
    """The pixels of rows, each picture decoded by itself."""
    rows = np.zeros((len(positions), order.row_width, *SIZE, 3), np.uint8)
    items, splits = order.pieces(epoch, positions)
    numbers = order.at(epoch, positions)
    for row in range(len(positions)):
        draw = {} if seed is None else {"seed": seed, "epoch": epoch, "number": int(numbers[row])}
        filled = np.zeros(order.row_width, bool)
        for record, first, count, place in items[splits[row] : splits[row + 1]]:
            for i in range(count):
                rows[row, place + i] = pixels(record, first + i, spec, **draw)
            filled[place : place + count] = True
        if pad == "edge":
            places = np.flatnonzero(filled)
            for place in np.flatnonzero(~filled):
                rows[row, place] = rows[row, places[np.abs(places - place).argmin()]]
    return rows


def rows_of(ds, order, features, **options):
    """All batches of an epoch, with the positions of their rows."""
    loader = recmap.Loader(ds, 6, order=order, features=features, **options)
    position = 0
    for batch in loader:
        yield batch, range(position, position + batch.row_count)
        position += batch.row_count


ORDERS = {
    "windows": windows(),
    "chunked": recmap.Chunked(LENGTHS, 5, overlap=1, last="pad", seed=5),
    "packed": recmap.Packed(LENGTHS, 10, group=50, seed=5),
    "mixture": recmap.Mixture(
        [recmap.Chunked(LENGTHS[:4], 6, seed=1), recmap.Packed(LENGTHS[4:], 6, seed=2)], [0.5, 0.5]
    ),
}


@pytest.mark.parametrize("pad", [0, "edge"])
@pytest.mark.parametrize("kind", ORDERS)
def test_rows_have_the_pixels_of_their_pictures(episodes, kind, pad):
    order = ORDERS[kind]
    features = {"frames": recmap.Sliced((), PLAIN, pad=pad), "step": recmap.Sliced((), "int64")}
    count = 0
    for batch, positions in rows_of(episodes, order, features):
        assert batch["frames"].shape == (batch.row_count, order.row_width, *SIZE, 3)
        assert (batch["frames"] == model(order, 0, positions, pad)).all()
        count += batch.row_count
    assert count == len(order)


def test_pictures_of_records_in_an_unusual_encoding(tmp_path):
    """Values in two entries of one name are read as a whole record."""
    record = b""
    for part in ({"frames": frames_of(0)[:3]}, {"frames": frames_of(0)}):
        record += recmap.encode_example(part)  # the later entry counts
    with recmap.Writer(tmp_path / "u.tfrecord", index=tmp_path / "u.rmx") as writer:
        writer.write(record)
    order = recmap.Windows(LENGTHS[:1], 4, pad=(2, 1), seed=3)
    features = {"frames": recmap.Sliced((), PLAIN)}
    for batch, positions in rows_of(recmap.open(tmp_path / "u.rmx"), order, features):
        assert (batch["frames"] == model(order, 0, positions)).all()


def test_windows_of_sequence_examples(sequences):
    order = windows()
    lists = {"frames": recmap.Sliced((), RANDOM), "bytes": recmap.Sliced((), bytes, key="frames")}
    context = {"id": recmap.FixedLen((), "int64")}
    loader = recmap.Loader(sequences, 6, order=order, features=context, feature_lists=lists, seed=9)
    position = 0
    for _, steps in loader:
        positions = range(position, position + steps.row_count)
        position += steps.row_count
        assert (steps["frames"] == model(order, 0, positions, spec=RANDOM, seed=9)).all()
    assert position == len(order)


def test_elements_of_several_pictures(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        writer.write({"pair": [picture(i) for i in range(12)]})  # two cameras, six steps
    features = {"pair": recmap.Sliced(2, PLAIN)}
    order = recmap.Windows([6], 3, stride=3, seed=1)
    batch = next(
        iter(recmap.Loader(recmap.open(tmp_path / "x.rmx"), 2, order=order, features=features))
    )
    assert batch["pair"].shape == (2, 3, 2, *SIZE, 3)
    for row, (_, first, *_) in enumerate(batch.pieces[0]):
        for i in range(6):
            wanted = recmap.decode_image(picture(2 * first + i), SIZE)
            assert (batch["pair"][row, i // 2, i % 2] == wanted).all()


def distinct(order, positions):
    """The frames with bytes that some rows have."""
    items, _ = order.pieces(0, list(positions))
    frames = {(int(r), int(f) + i) for r, f, c, _ in items for i in range(c)}
    return {each for each in frames if frame(*each)}


def test_a_frame_that_rows_share_is_decoded_once(episodes):
    order = windows()
    for pad in (0, "edge"):
        features = {"frames": recmap.Sliced((), PLAIN, pad=pad)}
        loader = recmap.Loader(episodes, 30, order=order, features=features, epochs=1)
        wanted, position = 0, 0
        for batch in loader:
            wanted += len(distinct(order, range(position, position + batch.row_count)))
            position += batch.row_count
        assert loader.statistics["decoded_count"] == wanted < 2 * sum(LENGTHS)


def test_random_rows_share_only_with_themselves(episodes):
    """An epoch of 4 windows fills a step of 8: each of them is there twice."""
    order = recmap.Windows(LENGTHS[:1], 4, seed=3)
    features = {"frames": recmap.Sliced((), RANDOM)}
    loader = recmap.Loader(
        episodes[:1], 8, order=order, features=features, seed=9, last="pad", epochs=1
    )
    (batch,) = loader
    assert batch["frames"].shape == (8, 4, *SIZE, 3)
    assert loader.statistics["decoded_count"] == 4 * 4
    for row in range(8):
        assert (batch["frames"][row] == batch["frames"][row % 4]).all()
    assert len({batch["frames"][row].tobytes() for row in range(4)}) == 4


def test_padding_at_an_edge_is_decoded_once_with_a_random_draw(episodes):
    order = windows()
    features = {"frames": recmap.Sliced((), RANDOM, pad="edge")}
    loader = recmap.Loader(episodes, 6, order=order, features=features, seed=9, epochs=1)
    for batch, positions in zip(
        loader, ([*range(i, min(i + 6, len(order)))] for i in range(0, len(order), 6)), strict=True
    ):
        wanted = model(order, 0, positions, "edge", RANDOM, 9)
        assert (batch["frames"] == wanted).all()
    items, _ = order.pieces(0, list(range(len(order))))
    count = sum(bool(frame(r, f + i)) for r, f, c, _ in items.tolist() for i in range(c))
    assert loader.statistics["decoded_count"] == count


def test_only_frames_of_windows_are_decoded(tmp_path):
    """Frames that are in no window may be damaged, and are not counted."""
    order = recmap.Windows(LENGTHS, 4, stride=8, seed=3)
    used = distinct(order, range(len(order)))

    def damaged(episode):
        frames = frames_of(episode)
        return [f if (episode, i) in used else b"no picture" for i, f in enumerate(frames)]

    ds = write_examples(tmp_path, damaged)
    features = {"frames": recmap.Sliced((), PLAIN)}
    loader = recmap.Loader(ds, 3, order=order, features=features, epochs=1)
    for step, batch in enumerate(loader):
        positions = range(3 * step, 3 * step + batch.row_count)
        assert (batch["frames"] == model(order, 0, positions)).all()
    assert loader.statistics["decoded_count"] == len(used) < sum(LENGTHS)
    assert loader.statistics["decode_failed_count"] == 0
    with pytest.raises(recmap.FeatureError, match="not a JPEG, PNG or WebP picture"):
        list(recmap.Loader(ds, 3, order=windows(), features=features, epochs=1))


# ---- Draws.


def test_all_pictures_of_a_row_have_its_draw(episodes):
    """The draw of a row is that of its number, and another one in another epoch."""
    order = windows()
    features = {
        "frames": recmap.Sliced((), RANDOM),
        "still": recmap.Image(SIZE, crop=RANDOM.crop, flip=0.5),
    }
    loader = recmap.Loader(episodes, 6, order=order, features=features, seed=9, epochs=2)
    seen = []
    for index, batch in enumerate(loader):
        epoch, step = divmod(index, len(loader))
        positions = range(step * 6, step * 6 + batch.row_count)
        assert (batch["frames"] == model(order, epoch, positions, spec=RANDOM, seed=9)).all()
        numbers = order.at(epoch, positions)
        for row, record in enumerate(batch.numbers):
            wanted = recmap.decode_image(
                picture(int(record)),
                SIZE,
                crop=RANDOM.crop,
                flip=0.5,
                seed=9,
                epoch=epoch,
                number=int(numbers[row]),
            )
            assert (batch["still"][row] == wanted).all()
        seen += zip(numbers.tolist(), map(bytes, batch["still"]), strict=True)
    assert len(set(seen)) > 1.5 * len(order)


def test_positions_count_in_an_order_that_repeats(episodes):
    halves = [recmap.Windows(half, 4, pad=(2, 1), seed=3) for half in (LENGTHS[:4], LENGTHS[4:])]
    order = recmap.Mixture(halves, [0.5, 0.5])
    features = {"frames": recmap.Sliced((), RANDOM)}
    loader = recmap.Loader(episodes, 6, order=order, features=features, seed=9)
    batch = next(iter(loader))
    items, splits = order.pieces(0, range(6))
    for row, number in enumerate(order.at(0, range(6)).tolist()):
        for record, first, count, place in items[splits[row] : splits[row + 1]]:
            draw = {"seed": 9, "epoch": 0, "number": number, "position": row}
            for i in range(count):
                wanted = pixels(record, first + i, RANDOM, **draw)
                assert (batch["frames"][row, place + i] == wanted).all()


def hashes(loader):
    """The pixels of each row by its pieces, from all batches of an epoch."""
    found = {}
    for batch in loader:
        items, splits = batch.pieces
        for row in range(batch.row_count):
            found[items[splits[row] : splits[row + 1]].tobytes()] = bytes(batch["frames"][row])
    return found


@pytest.mark.parametrize("access", ["map", "read", "direct"])
def test_pixels_do_not_depend_on_batches_threads_ranks_or_resuming(episodes, access):
    ds = recmap.open(episodes.index_path, access=access)
    order, features = windows(), {"frames": recmap.Sliced((), RANDOM, pad="edge")}

    def loader(batch_size, **options):
        return recmap.Loader(ds, batch_size, order=order, features=features, seed=4, **options)

    wanted = hashes(loader(len(order), threads=1))
    assert len(wanted) == len(order)
    for batch_size, threads in ((1, 3), (7, 2), (100, 5)):
        assert hashes(loader(batch_size, threads=threads)) == wanted
    for world_size in (2, 4):
        ranks = [hashes(loader(3, rank=i, world_size=world_size)) for i in range(world_size)]
        assert {key: value for part in ranks for key, value in part.items()} == wanted
    first = loader(5)
    batch = next(iter(first))
    found = hashes([batch])
    second = loader(3, threads=2)
    second.load_state_dict(first.state_dict())
    assert {**found, **hashes(second)} == wanted
    with pytest.raises(recmap.StateMismatchError):
        recmap.Loader(ds, 3, order=order, features=features, seed=5).load_state_dict(
            first.state_dict()
        )


def test_a_view_keeps_the_numbers_of_rows(episodes):
    view = episodes[[6, 2, 0]]
    order = recmap.Windows([LENGTHS[i] for i in (6, 2, 0)], 4, seed=3)
    loader = recmap.Loader(view, 50, order=order, features={"frames": recmap.Sliced((), RANDOM)})
    batch = next(iter(loader))
    numbers = order.at(0, range(len(order)))
    # The list does not ascend, so that positions count.
    for row, (record, first, count, _) in enumerate(batch.pieces[0].tolist()):
        draw = {"seed": 0, "epoch": 0, "number": int(numbers[row]), "position": row}
        for i in range(count):
            wanted = pixels(record, first + i, RANDOM, **draw)
            assert (batch["frames"][row, i] == wanted).all()


# ---- Bad pictures.

BAD = (2, 6)


def with_a_bad_frame(episode):
    return [
        data[:300] if (episode, step) == BAD else data
        for step, data in enumerate(frames_of(episode))
    ]


def is_bad(order, position):
    items, _ = order.pieces(0, [position])
    return any(r == BAD[0] and f <= BAD[1] < f + c for r, f, c, _ in items.tolist())


@pytest.mark.parametrize("access", ["map", "read"])
def test_a_bad_picture_is_named(tmp_path, access):
    ds = write_examples(tmp_path, with_a_bad_frame)
    ds = recmap.open(ds.index_path, access=access)
    order = windows()
    features = {"frames": recmap.Sliced((), PLAIN, pad="edge")}
    loader = recmap.Loader(ds, len(order), order=order, features=features)
    with pytest.raises(recmap.FeatureError) as caught:
        next(iter(loader))
    text = str(caught.value)
    assert "x.tfrecord: record 2 at byte " in text and "'frames': the PNG ends at row" in text
    assert "(picture 6, counted from 0)" in text and "skip, replace or collect bad records" in text
    whole = (tmp_path / "x.tfrecord").read_bytes()
    offset = int(text.split("at byte ")[1].split(":")[0])
    data = frame(*BAD)[:300]
    assert whole[offset : offset + 300] == data


@pytest.mark.parametrize("spec", [PLAIN, RANDOM])
def test_rows_with_a_bad_picture_are_skipped_or_substituted(tmp_path, spec):
    ds = write_examples(tmp_path, with_a_bad_frame)
    order, features = windows(), {"frames": recmap.Sliced((), spec)}
    seed = 9 if spec is RANDOM else None
    options = {"order": order, "features": features, "epochs": 1}
    options |= {} if seed is None else {"seed": seed}
    bad = [i for i in range(len(order)) if is_bad(order, i)]
    good = [i for i in range(len(order)) if not is_bad(order, i)]
    loader = recmap.Loader(ds, len(order), on_bad_record="skip", **options)
    with pytest.warns(
        UserWarning, match=r"'frames': the PNG ends .* [(]picture 6, counted from 0[)]"
    ):
        (batch,) = loader
    assert (batch["frames"] == model(order, 0, good, spec=spec, seed=seed)).all()
    assert [each["position"] for each in loader.skipped] == bad

    loader = recmap.Loader(ds, len(order), on_bad_record="substitute", **options)
    with pytest.warns(UserWarning, match="[(]picture 6, counted from 0[)]"):
        (batch,) = loader
    following = [
        next(j % len(order) for j in range(i, 2 * len(order)) if j % len(order) in good)
        for i in range(len(order))
    ]
    assert (batch["frames"] == model(order, 0, following, spec=spec, seed=seed)).all()


def test_long_records_are_read_in_part(tmp_path):
    """Frames of a record of more than 128 KiB, of which only the bytes of the window are read."""
    large = np.random.default_rng(1).integers(0, 256, (40, 3), np.uint8)
    frames = [picture(i) + large.tobytes() * 40 for i in range(60)]
    frames[50] = frames[50][:200]
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        writer.write({"frames": frames})
    ds = recmap.open(tmp_path / "x.rmx", access="read")
    order = recmap.Windows([60], 4, stride=4, seed=1)
    features = {"frames": recmap.Sliced((), PLAIN)}
    loader = recmap.Loader(ds, 1, order=order, features=features, threads=1, batches_ahead=1)
    for _ in range(3):
        for position in range(len(order)):
            ((_, first, _),) = order.pieces(0, position).tolist()
            loader.seek(0, position)
            if first == 48:
                with pytest.raises(recmap.FeatureError, match="picture 50,"):
                    next(iter(loader))
                continue
            batch = next(iter(loader))
            for i in range(4):
                wanted = recmap.decode_image(frames[first + i], SIZE)
                assert (batch["frames"][0, i] == wanted).all()


# ---- Other pictures of an episode, and what is refused.


def test_lists_and_boxes_of_an_episode_in_windows(tmp_path):
    edges = {"ymin": [0.0, 0.5], "xmin": [0.0, 0.5], "ymax": [0.5, 1.0], "xmax": [0.5, 1.0]}
    with recmap.Writer(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx") as writer:
        for episode in (0, 2):
            still = {"still": picture(episode), "pair": [picture(0), picture(1)], **edges}
            writer.write({"frames": frames_of(episode), **still})
    still = recmap.Image(SIZE, crop=RANDOM.crop, flip=0.5)
    features = {
        "frames": recmap.Sliced((), RANDOM),
        "still": still,
        "pair": recmap.FixedLen(2, RANDOM),
        "boxes": recmap.Boxes("still", keys=tuple(edges)),
        "sized": recmap.Image(key="still"),
    }
    order = recmap.Windows([7, 12], 4, seed=3)
    ds = recmap.open(tmp_path / "x.rmx")
    batch = next(iter(recmap.Loader(ds, 8, order=order, features=features, seed=2)))
    assert batch["boxes"].values.shape == (16, 4) and len(batch["sized"]) == 8
    for row, number in enumerate(order.at(0, range(8)).tolist()):
        draw = {"crop": RANDOM.crop, "flip": 0.5, "seed": 2, "epoch": 0, "number": number}
        for i in range(2):
            assert (batch["pair"][row, i] == recmap.decode_image(picture(i), SIZE, **draw)).all()


def test_impossible_pictures_of_rows_are_refused(episodes):
    with pytest.raises(ValueError, match="padded with zeros"):
        recmap.Sliced((), PLAIN, pad=7)
    with pytest.raises(ValueError, match="cannot be prepended or appended"):
        recmap.Sliced((), PLAIN, prepend=[0])
    with pytest.raises(ValueError, match="give key= to the Sliced"):
        recmap.Sliced((), recmap.Image(8, key="frames"))
    with pytest.raises(recmap.InvalidError, match="needs their height and width"):
        recmap.Loader(
            episodes, 2, order=windows(), features={"frames": recmap.Sliced((), recmap.Image())}
        )
    features = {"frames": recmap.Sliced((), PLAIN)}
    added = recmap.Packed(LENGTHS, 10, add=1)
    with pytest.raises(recmap.InvalidError, match=r"(?s)adds 1.*add=0"):
        next(iter(recmap.Loader(episodes, 2, order=added, features=features)))
    packed = recmap.Packed(LENGTHS, 10)
    with pytest.raises(recmap.InvalidError, match="'still' is not sliced"):
        features = {**features, "still": recmap.Image(8)}
        next(iter(recmap.Loader(episodes, 2, order=packed, features=features)))
    with pytest.raises(recmap.InvalidError, match="is sliced"):
        episodes.parse([0], {"frames": recmap.Sliced((), PLAIN)})
    huge = recmap.Image((4096, 4096), max_pixels=1 << 26)
    order = recmap.Windows(LENGTHS, 60, pad=(59, 59))
    with pytest.raises(recmap.InvalidError, match=r"2\^31 values or more"):
        features = {"frames": recmap.Sliced((), huge)}
        next(iter(recmap.Loader(episodes, 2, order=order, features=features)))


# ---- Frameworks.


def test_a_joined_loader_draws_alike(tmp_path):
    features = {"frames": recmap.Sliced((), RANDOM)}
    for name in "ab":
        (tmp_path / name).mkdir()
    sides = {name: write_examples(tmp_path / name) for name in "ab"}
    joined = recmap.join(sides)
    wanted = {"a": features, "b": features}
    order = windows()
    batch = next(iter(recmap.JoinedLoader(joined, 6, features=wanted, order=order, seed=9)))
    assert (batch["a"]["frames"] == batch["b"]["frames"]).all()
    assert (batch["b"]["frames"] == model(order, 0, range(6), spec=RANDOM, seed=9)).all()


def test_torch(episodes):
    torch = pytest.importorskip("torch")
    order = windows()
    features = {"frames": recmap.Sliced((), RANDOM)}
    loader = recmap.torch.Loader(episodes, 6, order=order, features=features, seed=9)
    batch = next(iter(loader))
    wanted = model(order, 0, range(6), spec=RANDOM, seed=9)
    assert torch.equal(batch["frames"], torch.from_numpy(wanted))
    assert batch["mask"].shape == (6, 4)


def test_arrow(episodes):
    pa = pytest.importorskip("pyarrow")
    order = windows()
    loader = recmap.Loader(
        episodes, 6, order=order, features={"frames": recmap.Sliced((), RANDOM)}, seed=9
    )
    reader = recmap.arrow.reader(loader)
    table = pa.Table.from_batches([next(reader)])
    wanted = model(order, 0, range(6), spec=RANDOM, seed=9)
    assert (table["frames"].chunk(0).to_numpy_ndarray() == wanted).all()


def test_tensorflow(episodes):
    pytest.importorskip("tensorflow")
    order = windows()
    features = {"frames": recmap.Sliced((), RANDOM)}
    loader = recmap.Loader(episodes, 6, order=order, features=features, seed=9)
    made = next(iter(recmap.tensorflow.dataset(loader)))
    assert (made["frames"].numpy() == model(order, 0, range(6), spec=RANDOM, seed=9)).all()


def test_grain(episodes):
    pytest.importorskip("grain")
    order = windows()
    features = {"frames": recmap.Sliced((), RANDOM)}
    batches = recmap.grain.Batches(episodes, order, 6, features, seed=9)
    wanted = model(order, 0, range(6), spec=RANDOM, seed=9)
    assert (batches[0]["frames"] == wanted).all()
