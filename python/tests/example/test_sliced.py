"""Rows through the loader: sliced features against a model in NumPy, and bad input."""

import itertools
import json
import pickle

import numpy as np
import pytest
import recmap
from conftest import flip, write

DOCUMENTS = 300
PAD, BOS, EOS = -7, 1, 2


def lengths_of(seed, count=DOCUMENTS, longest=80):
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest, count) * (random.random(count) > 0.1)
    lengths[5] = 700  # longer than any row
    return lengths


LENGTHS = lengths_of(1)


def tokens_of(document):
    """The tokens of a document: varints of one byte to ten."""
    random = np.random.default_rng(document)
    values = random.integers(-(2**63), 2**63 - 1, LENGTHS[document])
    return values >> random.integers(0, 63, LENGTHS[document])


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(**lists):
    """A tf.Example of features that are encoded already."""
    entries = (field(1, field(1, key.encode()) + field(2, body)) for key, body in lists.items())
    return field(1, b"".join(entries))


def packed_ints(values):
    return field(3, field(1, b"".join(map(varint, map(int, values)))))


def ints_in_pieces(values):
    """Single values, a packed run, and an unknown field: all of them count."""
    half = len(values) // 2
    singles = b"".join(varint(1 << 3) + varint(int(value)) for value in values[:half])
    run = field(1, b"".join(varint(int(value)) for value in values[half:]))
    return field(3, singles + field(9, b"unknown") + run)


def frames_of(document):
    return [b"%d/%d" % (document, i) for i in range(LENGTHS[document])]


def record_of(document, ints=packed_ints):
    tokens = tokens_of(document)
    floats = np.repeat(tokens.astype(np.float32), 2)
    raw = (tokens & 0xFFFF).astype("<u2").tobytes()
    frames = b"".join(field(1, frame) for frame in frames_of(document))
    parts = {
        "name": field(1, field(1, b"doc %d" % document)),
        "tokens": ints(tokens),
        "pairs": field(2, field(1, floats.tobytes())),
        "raw": field(1, field(1, raw)),
        "small": packed_ints(tokens & 0x7FFF),
        "frames": field(1, frames),
    }
    if not len(tokens):
        parts = {"name": parts["name"]}
    return example(**parts)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Every third document is encoded in an unusual way."""
    folder = tmp_path_factory.mktemp("documents")
    records = [
        record_of(i, ints_in_pieces if i % 3 == 2 else packed_ints) for i in range(DOCUMENTS)
    ]
    for shard in range(3):
        first = shard * DOCUMENTS // 3
        write(folder, records[first : first + DOCUMENTS // 3], name=f"made-{shard}.tfrecord")
    with recmap.open(folder / "made-*.tfrecord") as ds:
        yield ds


def extended(document, before=(), after=()):
    parts = [np.array(before, np.int64), tokens_of(document), np.array(after, np.int64)]
    return np.concatenate(parts)


def model(order, positions, before=(), after=(), pad=PAD):
    """Rows, segments, positions in pieces and in documents, and masks of an epoch."""
    shape = len(positions), order.row_width
    rows, segments = np.full(shape, pad, np.int64), np.zeros(shape, np.int32)
    inner, outer = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    items, splits = order.pieces(0, positions)
    for row in range(shape[0]):
        for number, (record, first, count, place) in enumerate(
            items[splits[row] : splits[row + 1]], 1
        ):
            where = slice(place, place + count)
            rows[row, where] = extended(record, before, after)[first : first + count]
            segments[row, where] = number
            inner[row, where] = np.arange(count)
            outer[row, where] = np.arange(first, first + count)
    return rows, segments, inner, outer


def orders():
    return {
        "chunked": recmap.Chunked(LENGTHS, 64, overlap=1, last="pad", seed=5),
        "stored": recmap.Chunked(LENGTHS, 50, documents="stored", seed=5),
        "packed": recmap.Packed(LENGTHS, 100, group=50, seed=5),
        "truncated": recmap.Packed(LENGTHS, 60, long="truncate", seed=5),
        "windows": recmap.Windows(LENGTHS, 16, stride=3, pad=(4, 7), seed=5),
        "mixture": recmap.Mixture(
            [recmap.Chunked(LENGTHS[:100], 40, seed=1), recmap.Packed(LENGTHS[100:], 40, seed=2)],
            [0.5, 0.5],
        ),
    }


FEATURES = {
    "tokens": recmap.Sliced((), "int64", pad=PAD),
    "pairs": recmap.Sliced((2,), "float32", pad=PAD),
    "raw": recmap.Sliced((), "uint16", raw=True),
    "small": recmap.Sliced((), "int16", pad=PAD),
    "frames": recmap.Sliced((), bytes),
}


@pytest.mark.parametrize("kind", orders())
def test_rows_are_those_of_the_model(documents, kind):
    order = orders()[kind]
    loader = recmap.Loader(documents, 7, order=order, features=FEATURES, threads=3)
    count = 0
    for batch in loader:
        positions = list(range(count, count + batch.row_count))
        rows, segments, inner, _ = model(order, positions)
        assert (batch["tokens"] == rows).all() and batch["tokens"].dtype == np.int64
        assert (batch["pairs"] == rows.astype(np.float32)[..., None]).all()
        mask = segments > 0
        assert (batch["raw"] == np.where(mask, rows & 0xFFFF, 0)).all()
        assert (batch["small"] == np.where(mask, rows & 0x7FFF, PAD)).all()
        assert (batch["segment_ids"] == segments).all()
        assert (batch["positions"] == inner).all()
        assert (batch["mask"] == mask).all() and batch["mask"].dtype == bool
        frames = batch["frames"].to_numpy()
        items, splits = batch.pieces
        assert (items == order.pieces(0, positions)[0]).all()
        for row in range(batch.row_count):
            expected = [b""] * order.row_width
            for record, first, length, place in items[splits[row] : splits[row + 1]]:
                expected[place : place + length] = frames_of(record)[first : first + length]
            assert frames[row].tolist() == expected
        count += batch.row_count
    assert count == len(order) > 0


@pytest.mark.parametrize("before, after", [([BOS], [EOS]), ([], [EOS, EOS]), ([BOS, 5, 6], [])])
@pytest.mark.parametrize("kind", [recmap.Chunked, recmap.Packed])
def test_added_elements_surround_each_document(documents, kind, before, after):
    order = kind(LENGTHS, 9, add=len(before) + len(after), seed=5)
    features = {
        "tokens": recmap.Sliced((), "int64", pad=PAD, prepend=before, append=after),
        "pairs": recmap.Sliced((2,), "float64", prepend=before, append=after),
    }
    loader = recmap.Loader(documents, 100, order=order, features=features, row_positions="document")
    first = 0
    for batch in loader:
        positions = range(first, first + batch.row_count)
        rows, _, _, outer = model(order, positions, before, after)
        assert (batch["tokens"] == rows).all()
        assert (batch["positions"] == outer).all()
        filled = batch["mask"]
        assert (batch["pairs"][filled] == rows[filled].astype(np.float32)[:, None]).all()
        first += batch.row_count


def test_sequences_have_offsets(documents):
    order = recmap.Packed(LENGTHS, 100, seed=5)
    batch = next(
        iter(
            recmap.Loader(
                documents, 9, order=order, features={"tokens": recmap.Sliced((), "int64")}
            )
        )
    )
    for width in (100, 99, 40, 0):
        offsets, longest = batch.sequences(width)
        assert offsets.dtype == np.int32 and offsets[0] == 0 and offsets[-1] == 9 * width
        starts = np.zeros((9, width), bool)
        segments = batch["segment_ids"][:, :width]
        starts[:, :1] = True
        starts[:, 1:] = segments[:, 1:] != segments[:, :-1]
        assert offsets[:-1].tolist() == np.flatnonzero(starts.reshape(-1)).tolist()
        assert longest == max(np.diff(offsets), default=0)
    assert (batch.cu_seqlens == batch.sequences()[0]).all()
    assert batch.max_seqlen == batch.sequences()[1]
    with pytest.raises(ValueError, match="width is 101"):
        batch.sequences(101)


def test_windows_have_values_of_their_record(documents):
    order = recmap.Windows(LENGTHS, 8, pad=(3, 3), seed=2)
    features = {
        "name": recmap.FixedLen((), bytes),
        "tokens": recmap.Sliced((), "int64", pad="edge"),
    }
    for batch in itertools.islice(recmap.Loader(documents, 5, order=order, features=features), 40):
        for row, record in enumerate(batch.numbers.tolist()):
            assert bytes(batch["name"][row]) == b"doc %d" % record
            ((_, first, count, place),) = batch.pieces[0][batch.pieces[1][row] :][:1]
            edge = np.clip(np.arange(8) - place + first, first, first + count - 1)
            assert (batch["tokens"][row] == tokens_of(record)[edge]).all()


def deliver(documents, order, batch_size, ranks, state=None, steps=None):
    """Rows that all ranks together get, step by step, and the state after that."""
    features = {"tokens": recmap.Sliced((), "int64", pad=PAD)}
    loaders = [
        recmap.Loader(
            documents, batch_size, order=order, features=features, rank=rank, world_size=ranks,
            threads=1,
        )
        for rank in range(ranks)
    ]  # fmt: skip
    for loader in loaders:
        if state:
            loader.load_state_dict(state)
    rows = []
    for batches in itertools.islice(zip(*loaders, strict=True), steps):
        rows += [row.tolist() for batch in batches for row in batch["tokens"]]
    return rows, json.loads(json.dumps(loaders[-1].state_dict()))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["chunked", "packed", "windows", "mixture"])
def test_another_number_of_ranks_continues_the_history(documents, kind, seed):
    order = orders()[kind]
    random = np.random.default_rng(seed)
    whole, _ = deliver(documents, order, int(random.integers(1, 20)), 1)
    assert len(whole) == len(order)
    seen, state = [], None
    for ranks in (1, 3):
        rows, state = deliver(
            documents, order, int(random.integers(1, 4)), ranks, state, int(random.integers(1, 4))
        )
        seen += rows
    assert len(state) and len(json.dumps(state)) < 700
    rows, _ = deliver(documents, order, int(random.integers(1, 9)), 2, state)
    assert seen + rows == whole


def test_pickled_loader_continues(documents):
    order = orders()["chunked"]
    loader = recmap.Loader(
        documents, 4, order=order, features={"tokens": recmap.Sliced((), "int64")}
    )
    first = next(iter(loader))
    again = pickle.loads(pickle.dumps(loader))
    second = next(iter(again))
    assert second.pieces[0].tolist() == order.pieces(0, range(4, 8))[0].tolist()
    assert (np.asarray(next(iter(loader))["tokens"]) == second["tokens"]).all()
    assert first.row_count == 4


def test_rows_of_a_view(documents):
    part = documents[100:200]
    order = recmap.Chunked(LENGTHS[100:200], 30, seed=3)
    batch = next(
        iter(recmap.Loader(part, 6, order=order, features={"tokens": recmap.Sliced((), "int64")}))
    )
    items, _ = order.pieces(0, range(6))
    assert (batch.pieces[0][:, 0] == items[:, 0] + 100).all()
    row = np.concatenate([tokens_of(r + 100)[f : f + c] for r, f, c, _ in items])
    assert (batch["tokens"].reshape(-1) == row).all()


def test_arrays_that_are_not_features(documents):
    loader = recmap.Loader(
        documents, 4, order=orders()["chunked"], features={"tokens": recmap.Sliced((), "int64")}
    )
    batch = next(iter(loader))
    for name in ("mask", "segment_ids", "positions"):
        assert batch.get(name) is batch[name] and name not in batch
    assert batch.get("nothing") is None and batch.get("nothing", 3) == 3
    with pytest.raises(KeyError, match=r"no feature 'nothing': .* 'tokens', 'segment_ids'"):
        batch["nothing"]


@pytest.mark.parametrize(("last", "count"), [("keep", 1), ("drop", 0), ("pad", 4)])
def test_more_ranks_than_rows(documents, last, count):
    order = recmap.Chunked(LENGTHS, 2000, seed=5)
    expected = model(order, range(len(order)))[0].tolist()
    ranks = 2 * len(order)
    seen = []
    for rank in range(ranks):
        loader = recmap.Loader(
            documents,
            2,
            order=order,
            features={"tokens": recmap.Sliced((), "int64")},
            rank=rank,
            world_size=ranks,
            last=last,
        )
        batches = list(loader)
        assert len(batches) == len(loader) == (count > 0)
        for batch in batches:
            rows = batch["tokens"]
            assert rows.shape == batch["segment_ids"].shape == batch["mask"].shape
            assert len(batch.numbers) == batch.row_count == len(rows)
            assert batch.cu_seqlens[-1] == rows.size and len(batch.pieces[1]) == len(rows) + 1
            seen += rows.tolist()
    assert sorted(seen) == sorted(expected * count)


# ---- Bad input.


def load(documents, order, features=None, **more):
    features = {"tokens": recmap.Sliced((), "int64")} if features is None else features
    return list(recmap.Loader(documents, 8, order=order, features=features, **more))


def test_counts_of_other_records(documents):
    wrong = LENGTHS.copy()
    wrong[7] += 1
    order = recmap.Packed(wrong, 100, seed=5)
    with pytest.raises(recmap.FeatureError) as raised:
        load(documents, order)
    text = str(raised.value)
    assert "made-0" in text and "record 7" in text
    assert f"'tokens' has {LENGTHS[7]} elements, but the counts of the order say {wrong[7]}" in text
    assert "recmap.index" in text
    wrong[7] -= 2
    with pytest.raises(recmap.FeatureError, match=f"counts of the order say {wrong[7]}"):
        load(documents, recmap.Chunked(wrong, 10, seed=5))
    with pytest.raises(ValueError, match="counts of 299 records, but the data set has 300"):
        load(documents, recmap.Chunked(LENGTHS[:-1], 10))


@pytest.mark.parametrize("difference", [-1, 1])
@pytest.mark.parametrize("name", FEATURES)
def test_counts_that_are_off_by_one(documents, name, difference):
    """Of lists of every kind, in a row that holds the record as a whole and in one with its end."""
    wrong = LENGTHS.copy()
    wrong[5] += difference
    for size in (1000, 600):
        with pytest.raises(
            recmap.FeatureError, match=f"counts of the order say {wrong[5]}"
        ) as error:
            load(documents, recmap.Packed(wrong, size), {name: FEATURES[name]})
        assert error.value.record == 5


def test_counts_of_records_whose_end_is_not_read(documents):
    """The end of a list of values of various sizes is unknown, and the rows are right without it.

    A record that has fewer elements than a row needs is an error.
    """
    longer, shorter = 3, 9  # encoded as usual
    assert LENGTHS[longer] >= 50 > LENGTHS[shorter] > 0
    wrong = LENGTHS.copy()
    wrong[longer] += 100
    order = recmap.Packed(wrong, 50, long="truncate", seed=5)
    (row,) = (i for i in range(len(order)) if order.pieces(0, i)[0, 0] == longer)
    batches = load(documents, order, {name: FEATURES[name] for name in ("tokens", "frames")})
    batch = batches[row // 8]
    assert (batch["tokens"][row % 8] == tokens_of(longer)[:50]).all()
    assert batch["frames"].to_numpy()[row % 8].tolist() == frames_of(longer)[:50]
    for name in ("pairs", "raw"):
        with pytest.raises(recmap.FeatureError, match=f"counts of the order say {wrong[longer]}"):
            load(documents, order, {name: FEATURES[name]})
    wrong[shorter] = 500
    with pytest.raises(recmap.FeatureError, match="counts of the order say 500") as error:
        load(documents, recmap.Packed(wrong, 50, long="truncate", seed=5))
    assert error.value.record == shorter


def test_absent_features_are_named(documents):
    order = recmap.Chunked(LENGTHS, 32)
    with pytest.raises(recmap.FeatureError, match="'other' is missing, but the counts"):
        load(documents, order, {"other": recmap.Sliced((), "int64")})
    with pytest.raises(recmap.FeatureError, match="'name'"):
        load(documents, order, {"name": recmap.Sliced((), "int64")})


def test_a_feature_that_a_record_has_twice(tmp_path):
    """The last one counts, even if it is unset."""

    def record(*values):
        entries = (field(1, field(1, b"tokens") + field(2, value)) for value in values)
        return field(1, b"".join(entries))

    first, last = packed_ints([1, 2]), packed_ints([3, 4, 5])
    write(tmp_path, [record(first, last), record(last, b"")])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        (batch,) = load(ds, recmap.Packed([3, 0], 3))
        assert batch["tokens"].tolist() == [[3, 4, 5]]
        with pytest.raises(recmap.FeatureError, match="'tokens' is missing") as error:
            load(ds, recmap.Packed([0, 3], 3))
        assert error.value.record == 1


def test_features_that_do_not_fit_the_order(documents):
    order = recmap.Chunked(LENGTHS, 32, add=1)
    with pytest.raises(ValueError, match="prepends and appends 0 elements, but the order adds 1"):
        load(documents, order)
    both = {"tokens": recmap.Sliced((), "int64", append=[EOS]), "name": recmap.FixedLen((), bytes)}
    with pytest.raises(ValueError, match="'name' is not sliced"):
        load(documents, order, both)
    with pytest.raises(ValueError, match="no feature is sliced"):
        recmap.Loader(documents, 8, order=recmap.Windows(LENGTHS, 4))
    with pytest.raises(ValueError, match="no feature is sliced"):
        load(documents, recmap.Windows(LENGTHS, 4), {"name": recmap.FixedLen((), bytes)})
    with pytest.raises(ValueError, match="2\\^31 values"):
        load(documents, recmap.Chunked(LENGTHS, 2**31, last="pad"))
    with pytest.raises(ValueError, match="2\\^31 values"):
        load(documents, recmap.Chunked(LENGTHS, 2**30, last="pad"), {"pairs": FEATURES["pairs"]})
    adds = [recmap.Chunked(LENGTHS[:150], 8, add=n) for n in (0, 1)]
    with pytest.raises(ValueError, match="sources of the mixture add different numbers"):
        load(documents, recmap.Mixture(adds, [1, 1]))
    with pytest.raises(ValueError, match='"piece" or "document"'):
        load(documents, recmap.Chunked(LENGTHS, 32), positions="row")


def test_sliced_features_without_rows(documents):
    features = {"tokens": recmap.Sliced((), "int64")}
    with pytest.raises(ValueError, match="'tokens' is sliced") as raised:
        documents.parse([1, 2], features)
    assert "use a loader with a chunked, packed or windows order" in str(raised.value)
    with pytest.raises(ValueError, match="'tokens' is sliced"):
        list(recmap.Loader(documents, 4, features=features))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"pad": 70000, "dtype": "uint16"}, "out of range"),
        ({"append": [2**31], "dtype": "int32"}, "out of range"),
        ({"append": ["end"]}, "not a number"),
        ({"shape": (0,)}, "a dimension is 0"),
        ({"dtype": "nothing"}, "the dtype 'nothing' is unknown: it must be one of"),
        ({"little_endian": False}, "needs raw=True"),
    ],
)
def test_impossible_sliced_features(documents, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        load(
            documents,
            recmap.Chunked(LENGTHS, 32),
            {"tokens": recmap.Sliced(**{"shape": (), "dtype": "int64", **options})},
        )


def test_values_that_do_not_fit(documents):
    with pytest.raises(recmap.FeatureError, match="int16"):
        load(documents, recmap.Chunked(LENGTHS, 32), {"tokens": recmap.Sliced((), "int16")})
    with pytest.raises(recmap.FeatureError, match="multiple of 3"):
        load(documents, recmap.Packed(LENGTHS, 32), {"tokens": recmap.Sliced((3,), "int64")})


def test_state_of_another_order(documents):
    features = {"tokens": recmap.Sliced((), "int64")}
    state = recmap.Loader(
        documents, 8, order=recmap.Chunked(LENGTHS, 32, seed=1), features=features
    ).state_dict()
    other = recmap.Loader(
        documents, 8, order=recmap.Chunked(LENGTHS, 32, seed=2), features=features
    )
    with pytest.raises(recmap.StateMismatchError):
        other.load_state_dict(state)


def test_orders_without_rows(documents):
    """The message names the longest record."""
    longest = LENGTHS.max()
    for order in (recmap.Windows(LENGTHS, 2000), recmap.Chunked(LENGTHS, 2**30)):
        assert len(order) == 0
        with pytest.warns(UserWarning, match="no rows") as caught:
            assert load(documents, order) == []
        assert str(longest) in str(caught[0].message) and caught[0].filename == __file__
    with pytest.warns(UserWarning, match="no record has elements"):
        assert load(documents, recmap.Chunked(np.zeros(DOCUMENTS, int), 8)) == []


def test_huge_counts_of_a_stale_index(documents):
    """Nothing is allocated for counts that records do not have."""
    wrong = LENGTHS.copy()
    wrong[9] = 2**40
    for order in (
        recmap.Chunked(wrong, 2**20, documents="stored"),
        recmap.Packed(wrong, 2**20),
        recmap.Windows(wrong, 2**10, stride=2**30),
    ):
        with pytest.raises(recmap.FeatureError, match=f"counts of the order say {2**40}"):
            load(documents, order)


@pytest.fixture
def damaged(tmp_path):
    write(tmp_path, [record_of(i) for i in range(DOCUMENTS)])
    path = tmp_path / "made-0.tfrecord"
    with recmap.open(path) as ds:
        flip(path, path.read_bytes().index(b"doc 9") + 20)
        yield ds


def test_bad_records_are_named(damaged):
    order = recmap.Packed(LENGTHS, 100, seed=5)
    with pytest.raises(recmap.CorruptRecordError, match="record 9"):
        load(damaged, order)
    holds = {
        position for position in range(len(order)) if 9 in order.pieces(0, position)[:, 0].tolist()
    }
    kept = load(damaged, order, on_bad_record="skip")
    assert sum(batch.row_count for batch in kept) == len(order) - len(holds)
    loader = recmap.Loader(
        damaged,
        8,
        order=order,
        features={"tokens": recmap.Sliced((), "int64", pad=PAD)},
        on_bad_record="substitute",
    )
    rows = [row.tolist() for batch in loader for row in batch["tokens"]]
    assert len(rows) == len(order)
    skipped = loader.skipped
    assert {entry["position"] for entry in skipped} == holds
    for entry in skipped:
        assert order.at(0, entry["position"]) == entry["number"]
        substitute = order.position_of(0, entry["substitute"])
        assert rows[entry["position"]] == model(order, [substitute])[0][0].tolist()


@pytest.mark.parametrize("access", ["map", "read", "direct"])
def test_long_records_are_read_in_part(tmp_path, access):
    """Rows of one record of millions of tokens have the record's tokens, by every access."""
    random = np.random.default_rng(3)
    tokens = random.integers(0, 2**20, 300_000) >> random.integers(0, 18, 300_000)
    frames = [b"%d" % i * (1 + i % 7) for i in range(20_000)]
    body = b"".join(field(1, frame) for frame in frames)
    records = [
        example(tokens=packed_ints(tokens)),
        example(tokens=packed_ints(tokens[:9])),
        example(frames=field(1, body), tokens=packed_ints(tokens[:20_000])),
    ]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord", access=access)
    counts = [300_000, 9, 20_000]
    order = recmap.Chunked(counts, 1000, documents="stored", seed=1)
    batches = recmap.Loader(ds, 3, order=order, features={"tokens": recmap.Sliced((), "int64")})
    stream = np.concatenate([tokens, tokens[:9], tokens[:20_000]])
    for batch in batches:
        for row, (record, first, _, _) in zip(
            batch["tokens"], batch.pieces[0][batch.pieces[1][:-1]], strict=True
        ):
            start = sum(counts[:record]) + first
            assert (row == stream[start : start + 1000]).all()
    order = recmap.Windows([0, 0, 20_000], 16, stride=100, seed=1)
    for batch in recmap.Loader(ds, 5, order=order, features={"frames": recmap.Sliced((), bytes)}):
        for row, (_, first, _, _) in zip(batch["frames"].to_numpy(), batch.pieces[0], strict=True):
            assert row.tolist() == frames[first : first + 16]


def test_one_element_is_not_plural(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write({"tokens": [7]})
    ds = recmap.open(tmp_path / "a.tfrecord")
    loader = recmap.Loader(
        ds, 1, order=recmap.Packed([4], 4), features={"tokens": recmap.Sliced((), "int64")}
    )
    with pytest.raises(recmap.FeatureError, match="has 1 element, but the counts"):
        next(iter(loader))
