"""Rows of long records, which are checked once and then read in part, by every access."""

import gzip
import os

import numpy as np
import pytest
import recmap
from conftest import write
from object_server import ObjectServer, flip_bit, on_object
from test_sliced import field, packed_ints, varint

COUNT = 150_000
WIDTH = 500
random = np.random.default_rng(3)
TOKENS = random.integers(0, 2**20, COUNT) >> random.integers(0, 18, COUNT)
SHORT = np.arange(9)
FRAMES = [b"%d" % i * (1 + i % 5) for i in range(COUNT // 10)]
FEATURES = {
    "tokens": recmap.Sliced((), "int64"),
    "pairs": recmap.Sliced((2,), "float32"),
    "raw": recmap.Sliced((), "uint16", raw=True),
}
COUNTS = [COUNT, len(SHORT), COUNT]


def entry(name, value):
    return field(1, field(1, name.encode()) + field(2, value))


def record_of(tokens):
    pairs = np.repeat(tokens.astype("<f4"), 2)
    raw = (tokens & 0xFFFF).astype("<u2")
    lists = {
        "raw": field(1, field(1, raw.tobytes())),
        "tokens": packed_ints(tokens),
        "pairs": field(2, field(1, pairs.tobytes())),
    }
    return field(1, b"".join(entry(name, value) for name, value in lists.items()))


def steps_record():
    steps = b"".join(field(1, field(1, field(1, frame))) for frame in FRAMES)
    values = b"".join(field(1, field(3, field(1, varint(i)))) for i in range(len(FRAMES)))
    lists = field(1, field(1, b"frame") + field(2, steps))
    lists += field(1, field(1, b"step") + field(2, values))
    return field(2, lists)


RECORDS = {
    "examples": [record_of(TOKENS), record_of(SHORT), record_of(TOKENS[::-1])],
    "sequences": [steps_record()],
}


def open_remote(server, access="map", cache=None):
    storage = recmap.Storage(options=server.options(), cache=cache)
    index = server.folder / "index.rmx"
    return recmap.open("s3://bucket/*", index=index, access=access, storage=storage)


def write_remote(folder, records):
    (folder / "bucket").mkdir()
    (path,) = write(folder / "bucket", records)
    return path


@pytest.fixture(params=["map", "read", "direct", "gzip"])
def open_long(request, tmp_path):
    """Opens records in a shard that is read in one of these ways."""

    def open_records(name):
        (path,) = write(tmp_path, RECORDS[name])
        access = request.param
        if access == "gzip":
            with open(path, "rb") as shard, gzip.open(f"{path}.gz", "wb", 1) as compressed:
                compressed.write(shard.read())
            path, access = f"{path}.gz", "map"
        return recmap.open(path, access=access)

    return open_records


def assert_rows(ds, order, epochs=2):
    stream = np.concatenate([TOKENS, SHORT, TOKENS[::-1]])
    starts = np.cumsum([0, *COUNTS])
    loader = recmap.Loader(ds, 5, order=order, features=FEATURES, threads=2)
    for _ in range(epochs):
        rows = 0
        for batch in loader:
            items, splits = batch.pieces
            for row, (record, first, _, _) in enumerate(items[splits[:-1]]):
                start = starts[record] + first
                due = stream[start : start + WIDTH]
                assert (batch["tokens"][row] == due).all()
                assert (batch["pairs"][row] == due.astype(np.float32)[:, None]).all()
                assert (batch["raw"][row] == due & 0xFFFF).all()
            rows += len(splits) - 1
        assert rows == len(order)


def test_rows_are_those_of_the_records(open_long):
    order = recmap.Chunked(COUNTS, WIDTH, documents="stored", seed=1)
    assert_rows(open_long("examples"), order)


def test_rows_of_feature_lists(open_long):
    order = recmap.Windows([len(FRAMES)], 8, stride=37, seed=1)
    lists = {"frame": recmap.Sliced((), bytes), "step": recmap.Sliced((), "int64")}
    loader = recmap.Loader(open_long("sequences"), 9, order=order, feature_lists=lists)
    for _ in range(2):
        for _, batch in loader:
            for row, steps in enumerate(batch["step"]):
                assert (steps == np.arange(steps[0], steps[0] + 8)).all()
                assert batch["frame"].to_numpy()[row].tolist() == FRAMES[steps[0] : steps[0] + 8]


def test_added_elements_surround_long_documents(open_long):
    order = recmap.Packed(COUNTS, WIDTH, add=2, seed=1)
    features = {"tokens": recmap.Sliced((), "int64", prepend=[-1], append=[-2])}
    ends = [np.concatenate([[-1], t, [-2]]) for t in (TOKENS, SHORT, TOKENS[::-1])]
    loader = recmap.Loader(open_long("examples"), 7, order=order, features=features)
    for _ in range(2):
        for batch in loader:
            items, splits = batch.pieces
            for row in range(len(splits) - 1):
                for record, first, count, place in items[splits[row] : splits[row + 1]]:
                    found = batch["tokens"][row][place : place + count]
                    assert (found == ends[record][first : first + count]).all()


def test_counts_that_do_not_fit_a_record_that_is_known(open_long):
    """Only the last window shows that the record continues. The loader keeps marks every 4,096
    tokens, and finds that window by two of them, without a token to spare."""
    mark = 20 * 4096
    order = recmap.Windows([mark, 0, 0], 512, stride=512, seed=1)
    last = order.position_of(0, len(order) - 1)
    assert last > 10
    loader = recmap.Loader(
        open_long("examples"), 1, order=order, features={"tokens": FEATURES["tokens"]}, threads=1
    )
    batches = iter(loader)
    for _ in range(last):
        batch = next(batches)
        ((_, first, _, _),) = batch.pieces[0]
        assert (batch["tokens"][0] == TOKENS[first : first + 512]).all()
    with pytest.raises(recmap.FeatureError, match=f"{COUNT} elements, .* say {mark}"):
        next(batches)


def test_batches_have_whole_records_or_none(open_long, request):
    """Of a record that was read in part, the memory of the other bytes was never written."""
    is_mapped = request.node.callspec.params["open_long"] == "map"
    order = recmap.Chunked(COUNTS, WIDTH, documents="stored", seed=1)
    ds = open_long("examples")
    whole, missing = RECORDS["examples"], set()
    for _ in range(2):
        for batch in recmap.Loader(ds, 5, order=order, features=FEATURES, threads=1):
            records = batch.records
            assert records.sizes.tolist() == [len(whole[number]) for number in records.numbers]
            for i, number in enumerate(records.numbers.tolist()):
                try:
                    assert bytes(records[i]) == whole[number]
                except ValueError as error:
                    assert f"record {number} was read only in part" in str(error)
                    assert f"gather([{number}])" in str(error)
                    missing.add(number)
    assert missing == (set() if is_mapped else {0, 2})
    assert [bytes(record) for record in ds.gather([2, 0])] == [whole[2], whole[0]]


# ---- Remote records.

LONG = random.integers(0, 2**16, 2_000_000).astype("<u2")
LONG_ORDER = recmap.Windows([len(LONG)], 4096, stride=50_000, seed=1)
BLOCK = 2**15


@pytest.fixture
def server(tmp_path):
    """An object server with one record of two million tokens."""
    payload = field(1, entry("raw", field(1, field(1, LONG.tobytes()))))
    write_remote(tmp_path, [payload])
    with ObjectServer(tmp_path) as server:
        yield server


def read_windows(ds):
    """Reads an epoch of windows, and checks them."""
    rows = 0
    spec = {"raw": FEATURES["raw"]}
    options = {"features": spec, "threads": 1, "batches_ahead": 4, "epochs": 1}
    with recmap.Loader(ds, 4, order=LONG_ORDER, **options) as loader:
        for batch in loader:
            items, _ = batch.pieces
            for row, (_, first, count, _) in enumerate(items):
                assert (batch["raw"][row] == LONG[first : first + count]).all()
            rows += len(items)
    assert rows == len(LONG_ORDER) == 40


def sizes_of(ranges):
    """The sizes of requested ranges."""
    ends = [value.removeprefix("bytes=").split("-") for value in ranges]
    return [int(last) - int(first) + 1 for first, last in ends]


def test_rows_of_a_remote_record_fetch_what_they_need(server):
    """The record is fetched once. Then each row fetches the blocks that it needs.

    A loader may read ahead into the next epoch.
    """
    with open_remote(server) as ds:
        server.requests.clear()
        read_windows(ds)
        whole, *parts = sizes_of(server.ranges())
        assert whole > LONG.nbytes and 36 <= len(parts) <= 80 and max(parts) <= 2 * BLOCK
        server.requests.clear()
        read_windows(ds)
        parts = sizes_of(server.ranges())
        assert 40 <= len(parts) <= 80 and max(parts) <= 2 * BLOCK


def test_rows_of_a_batch_share_blocks(server):
    order = recmap.Windows([len(LONG)], 30_000, stride=20_000, seed=1)
    spec = {"raw": FEATURES["raw"]}
    with open_remote(server) as ds:
        for _ in range(2):
            server.requests.clear()
            with recmap.Loader(ds, 99, order=order, features=spec, threads=1, epochs=1) as loader:
                (batch,) = loader
                assert len(batch["raw"]) == len(order) == 99
        (size,) = set(sizes_of(server.ranges()))
        assert 0.98 * LONG.nbytes < size < LONG.nbytes


def test_a_range_that_the_network_changed(server):
    """The record is read again as a whole."""
    with open_remote(server) as ds:
        read_windows(ds)
        server.requests.clear()
        server.faults.append(on_object(flip_bit))
        read_windows(ds)
        sizes = sizes_of(server.ranges())
        assert [size > LONG.nbytes for size in sizes].count(True) == 1


def test_a_span_that_the_network_changed(server):
    """Of a compressed shard of which nothing is kept, so that each row requests spans again."""
    (shard,) = (server.folder / "bucket").iterdir()
    shard.with_name(f"{shard.name}.gz").write_bytes(gzip.compress(shard.read_bytes(), 1))
    shard.unlink()
    with open_remote(server, recmap.Reading(span_keep_size=1)) as ds:
        read_windows(ds)
        server.faults.append(on_object(flip_bit))
        read_windows(ds)
        assert not server.faults


EXAMPLE_ORDER = recmap.Windows([COUNT, 9, COUNT], WIDTH, stride=30_000, pad=(499, 0), seed=2)
EXAMPLE_SPEC = {"features": FEATURES}
SEQUENCE_ORDER = recmap.Windows([len(FRAMES)], 8, stride=1999, seed=2)
SEQUENCE_SPEC = {
    "feature_lists": {"frame": recmap.Sliced((), bytes), "step": recmap.Sliced((), "int64")}
}


def batches_of(ds, order, spec):
    """All values of two epochs."""
    found = []
    with recmap.Loader(ds, 5, order=order, threads=2, epochs=2, **spec) as loader:
        for batch in loader:
            columns = batch[1] if isinstance(batch, tuple) else batch
            found.append({name: columns[name].tolist() for name in next(iter(spec.values()))})
    return found


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(
    ("name", "order", "spec"),
    [
        ("examples", EXAMPLE_ORDER, EXAMPLE_SPEC),
        ("sequences", SEQUENCE_ORDER, SEQUENCE_SPEC),
    ],
)
def test_rows_of_remote_records_are_those_of_local_ones(name, order, spec, cached, tmp_path):
    path = write_remote(tmp_path, RECORDS[name])
    cache = tmp_path / "cache" if cached else None
    with ObjectServer(tmp_path) as server, open_remote(server, cache=cache) as remote:
        found = batches_of(remote, order, spec)
    with recmap.open(path, index=tmp_path / "local.rmx") as local:
        assert found == batches_of(local, order, spec)


# ---- A file that changes after its records were checked.


@pytest.fixture
def read_once(tmp_path):
    """A data set of one long record, of which rows have been read; its shard; and the order."""
    (path,) = write(tmp_path, RECORDS["examples"][:1])
    ds = recmap.open(path, access="read")
    order = recmap.Chunked(COUNTS[:1], WIDTH, seed=1)
    assert load(ds, order) == 0
    return ds, path, order


def load(ds, order):
    """Reads an epoch; returns the number of rows that differ from the record."""
    wrong = 0
    for batch in recmap.Loader(ds, 5, order=order, features=FEATURES, threads=1):
        items, _ = batch.pieces
        for row, (_, first, _, _) in enumerate(items):
            wrong += not (batch["tokens"][row] == TOKENS[first : first + WIDTH]).all()
    return wrong


def overwrite_token(path, number, data):
    """Writes `data` over the varints of the tokens from this one on."""
    with open(path, "r+b") as shard:
        sought = b"".join(varint(int(value)) for value in TOKENS[number : number + 20])
        shard.seek(shard.read().index(sought))
        shard.write(data)


def test_bytes_of_other_rows_are_not_read(read_once):
    ds, path, order = read_once
    overwrite_token(path, 70_000, varint(int(TOKENS[70_000]) ^ 1))
    assert load(ds, order) == 1


def test_values_that_no_longer_decode(read_once):
    ds, path, order = read_once
    overwrite_token(path, 70_000, b"\xff" * 4000)
    with pytest.raises(recmap.CorruptRecordError, match="record 0") as raised:
        load(ds, order)
    assert raised.value.advice


def test_a_value_that_does_not_fit(tmp_path):
    """Only the whole record tells which value of a record that is read in part it is."""
    tokens = np.arange(COUNT) % 1000
    tokens[70_000] = 2**20
    write(tmp_path, [record_of(tokens)])
    ds = recmap.open(tmp_path / "made-0.tfrecord", access="read")
    order = recmap.Chunked(COUNTS[:1], WIDTH, seed=1)
    assert order.position_of(0, 70_000 // WIDTH) > 1
    features = {"tokens": recmap.Sliced((), "int16")}
    with pytest.raises(recmap.FeatureError, match=f"value 70000 is {2**20}, which int16 cannot"):
        list(recmap.Loader(ds, 1, order=order, features=features, threads=1))


def test_a_shard_that_is_truncated(read_once):
    ds, path, order = read_once
    os.truncate(path, os.path.getsize(path) // 3)
    with pytest.raises(OSError, match="record 0"):
        load(ds, order)


@pytest.mark.parametrize("name", ["raw", "pairs"])
def test_a_mapped_shard_that_is_truncated(tmp_path, name):
    """Records were checked before, and now the pages past the end of the file are zeros.

    "raw" is the first feature, so that the others are not found. "pairs" is the last one, whose
    last values are zeros.
    """
    (path,) = write(tmp_path, [record_of(TOKENS)])
    order = recmap.Chunked(COUNTS[:1], WIDTH, seed=1)
    features = {name: FEATURES[name]}
    size = COUNT if name == "raw" else os.path.getsize(path) - COUNT
    with recmap.open(path, access=recmap.Reading(guard=True)) as ds:
        for _ in recmap.Loader(ds, 5, order=order, features=features):
            pass
        os.truncate(path, size)
        with pytest.raises(OSError, match=r"record 0.*truncated after it was opened"):
            for _ in recmap.Loader(ds, 5, order=order, features=features):
                pass


def test_one_data_set_with_several_features(read_once):
    """What is known of a record is known for the features that were read."""
    ds, _, order = read_once
    for features in ({"raw": FEATURES["raw"]}, {"tokens": FEATURES["tokens"]}, FEATURES):
        name = next(iter(features))
        for batch in recmap.Loader(ds, 64, order=order, features=features):
            items, _ = batch.pieces
            for row, (_, first, _, _) in enumerate(items):
                due = TOKENS[first : first + WIDTH]
                assert (batch[name][row] == (due & 0xFFFF if name == "raw" else due)).all()
    with pytest.raises(recmap.FeatureError, match="int16"):
        list(recmap.Loader(ds, 64, order=order, features={"tokens": recmap.Sliced((), "int16")}))
    assert load(ds, order) == 0
