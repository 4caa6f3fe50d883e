"""The reader of docs/formats/reader reads every test vector but those of pictures."""

import itertools
import zlib

import numpy as np
import pytest
from reader import chunks, index, shard, store
from reader.batches import Bucketed, Grouped, Stratified
from reader.crc32c import masked
from reader.description import order_of
from reader.inflate import InflatedImage
from reader.mixture import Mixture, shares_of
from reader.orders import Shuffled, Weighted, Windowed, WithReplacement, list_of, range_of
from reader.permutation import below, permutation
from reader.ranks import deal
from reader.rows import Chunked, Packed, Windows
from reader.state import read_state, read_state_bytes
from reader.xxh3 import digest_of, xxh3_128
from reader_helpers import bytes_of, numbers_of, read_cases

EPOCHS = (0, 1, 5)


def cases(*names):
    """The cases of files as parameters of a test."""
    found = [(f"{name}-{c}", x) for name in names for c, x in read_cases(name).items()]
    return pytest.mark.parametrize("case", [pytest.param(f, id=name) for name, f in found])


def numbers(case, key):
    return numbers_of(case[key])


@cases("tfrecord")
def test_tfrecord(case):
    payload, frame = bytes_of(case["payload"]), bytes_of(case["frame"])
    assert shard.read_payload("tfrecord", frame) == payload
    assert frame[-4:] == masked(payload).to_bytes(4, "little")


@cases("seal")
def test_seal(case):
    page_size, count = int(case["page_size"]), int(case["page_count"])
    seal = store.read_seal(bytes_of(case["seal"]), page_size * count + 64)
    assert seal == (page_size, count, bytes_of(case["content_hash"]))
    assert xxh3_128(bytes_of(case["content"])) == seal[2]


@cases("values")
def test_values(case):
    key = store.key_of(int(case["chunk"]), int(case["series"]))
    payload, head = bytes_of(case["payload"]), bytes_of(case["head"])
    assert key == bytes_of(case["key"])
    assert store.value_hash(int(case["table"]), key, payload) == int.from_bytes(head[:8], "little")
    assert int.from_bytes(head[8:], "little") == len(payload)


@cases("offsets")
def test_offsets(case):
    packed, offsets = bytes_of(case["packed"]), numbers(case, "offsets")
    assert chunks.read_blocks(packed, len(offsets), chunks.OFFSETS).tolist() == offsets


@cases("counts")
def test_counts(case):
    counts = numbers(case, "counts")
    packed = bytes_of(case["packed"])
    assert chunks.read_blocks(packed, len(counts), chunks.COUNTS).tolist() == counts


@cases("ids")
def test_ids(case):
    if "hash" in case:
        is_integer = case["kind"] == "int64"
        value = int(case["value"]) if is_integer else bytes_of(case["value"])
        assert index.id_hash(value) == int(case["hash"])
        return
    pairs, records = numbers(case, "pairs"), int(case["record_count"])
    hashes, found = chunks.read_pairs(bytes_of(case["packed"]), records)
    assert (hashes.tolist(), found.tolist()) == (pairs[::2], pairs[1::2])
    assert chunks.number_size(records) == int(case["number_size"])


def column_values(case):
    texts = case["values"].split()
    if case["kind"] == "bytes":
        return [b"" if text == "-" else bytes_of(text) for text in texts]
    words = [int(text) for text in texts]
    sizes = {"float": ("u4", "f4"), "float64": ("u8", "f8")}
    if case["kind"] in sizes:
        stored_as, kind = sizes[case["kind"]]
        return np.array(words, stored_as).view(kind).tolist()
    return words


@cases("columns")
def test_columns(case):
    values = chunks.read_column(bytes_of(case["packed"]), int(case["count"]), default="none")
    nulls = numbers(case, "nulls") if "nulls" in case else []
    assert [i for i, value in enumerate(values) if value is None] == nulls
    if case["kind"] == "none":
        assert set(values) == {"none"}
        return
    expected = column_values(case)
    same = [i for i in range(len(values)) if i not in nulls]
    assert repr([values[i] for i in same]) == repr([expected[i] for i in same])


@cases("identity")
def test_identity(case):
    if "hashes" in case:
        hashes = bytes_of(case["hashes"])
        assert xxh3_128(hashes)[::-1].hex() == case["fingerprint"]
        return
    offsets = itertools.accumulate((size + 16 for size in numbers(case, "sizes")), initial=0)
    frames = list(zip(offsets, numbers(case, "sizes"), numbers(case, "checks")))  # noqa: B905
    digest, samples, step = shard.identity(frames, int(case["shard_size"]))
    assert digest[::-1].hex() == case["hash"]
    assert (samples, step) == (numbers(case, "samples"), int(case["sample_step"]))


@cases("framings")
def test_framings(case):
    """Payloads of the frames, and the shard's hash and samples."""
    image, offsets = bytes_of(case["image"]), numbers(case, "offsets")
    damage, kind = numbers(case, "damage")[::2], shard.kind_of(case["framing"])
    ends = sorted([*offsets, *damage, len(image) - int(case["tail"])])
    payloads, frames = [], []
    for offset in offsets:
        frame = image[offset : next(end for end in ends if end > offset)]
        payloads.append(shard.read_payload(kind, frame))
        check = shard.check_of(kind, frame, payloads[-1])
        frames.append((offset, len(payloads[-1]), check))
    assert list(map(len, payloads)) == numbers(case, "sizes")
    assert b"".join(payloads) == bytes_of(case["payloads"])
    digest, samples, _ = shard.identity(frames, len(image))
    assert (digest[::-1].hex(), samples) == (case["hash"], numbers(case, "samples"))


@cases("points")
def test_points(case):
    """From each point, the rest of the file is what zlib inflates."""
    file, size = bytes_of(case["file"]), int(case["image_size"])
    image = InflatedImage(file, int(case["compression"]), [bytes_of(case["value"])], size)
    assert image.bits == numbers(case, "bits")
    assert image.offsets == [0, *numbers(case, "offsets"), size]
    windows = [window and zlib.decompress(window, -15) for window in image.windows]
    assert list(map(len, windows)) == numbers(case, "window_sizes")
    assert list(itertools.chain(*image.checks)) == numbers(case, "checks")
    whole = image[0:size]
    assert zlib.crc32(whole) == int(case["image_crc32"])
    for begin in range(0, size, max(1, size // 50)):
        assert image[begin:size] == whole[begin:]


class VectorStore:
    """The values of a whole index, in place of those in an index file."""

    def __init__(self, found):
        values = [case for name, case in found.items() if name.startswith("value-")]
        self.values = {
            (store.DATABASES[int(x["table"])], int(x["chunk"]), int(x["series"])): x for x in values
        }
        self.tables = {
            name: [key for key in self.values if key[0] == name] for name in store.DATABASES
        }

    def payload(self, database, chunk, series=0):
        return bytes_of(self.values[database, chunk, series]["payload"])


@pytest.fixture(params=["dataset", "grown"])
def found(request):
    return read_cases(request.param)


@pytest.fixture
def reader(found, tmp_path, monkeypatch):
    """An index whose values are vectors, and its shards."""
    for case in found.values():
        if "path" in case:  # of a file that grew, the later bytes follow
            file = tmp_path / case["path"]
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(bytes_of(case["bytes"]))
    monkeypatch.setattr(index, "Store", lambda path: VectorStore(found))
    return index.Index(tmp_path / "made.rmx")


def test_records_of_data_sets(found, reader):
    assert reader.manifest.fingerprint[::-1].hex() == found["manifest"]["fingerprint"]
    records = [found[f"record-{number}"] for number in range(len(reader))]
    assert len(records) == int(found["manifest"]["records"])
    assert list(map(reader.record, range(len(reader)))) == [bytes_of(x["payload"]) for x in records]
    places = [(int(x["shard"]), int(x["offset"])) for x in records]
    assert [reader.shards[i].origin + offset for i, offset in places] == list(reader.offsets(0))
    for number in range(len(reader.shards)):
        reader.check_shard(number)
    damages = [[x.shard, x.offset, x.length, x.reason] for s in reader.shards for x in s.damages]
    expected = [case for name, case in found.items() if name.startswith("damage-")]
    assert [[*map(str, damage)] for damage in damages] == [[*x.values()] for x in expected]


def test_ids_and_values_of_data_sets(found, reader):
    for name, case in found.items():
        if name.startswith("find-"):
            assert reader.candidates(bytes_of(case["id"])) == numbers(case, "numbers")
    for column in reader.manifest.columns:
        assert len(reader.column(column.name)) == len(reader)
    for feature in reader.manifest.counted_features:
        assert len(reader.counts(feature.name)) == len(reader)


@cases("order-permutation")
def test_permutations(case):
    n, stream = int(case["n"]), int(case["stream"])
    kind, i = stream >> 56, stream & (1 << 56) - 1
    p = permutation(n, int(case["seed"]), int(case["epoch"]), kind, i)
    assert [p(x) for x in numbers(case, "positions")] == numbers(case, "numbers")
    assert [p.inverse(x) for x in numbers(case, "numbers")] == numbers(case, "positions")


@cases("order-below")
def test_below(case):
    n = int(case["n"])
    assert [below(word, n) for word in numbers(case, "words")] == numbers(case, "numbers")


@cases("order-shares")
def test_shares(case):
    assert shares_of([float(text) for text in case["weights"].split()]) == numbers(case, "shares")


@cases("order-deal")
def test_ranks(case):
    keys = ("n", "position", "batch", "world")
    steps = list(deal(*(int(case[key]) for key in keys), case["last"]))
    assert len(steps) == int(case["steps"])
    for i, step in enumerate(steps):
        flat = [number for share in step for number in [len(share), *share]]
        assert flat == numbers(case, f"step-{i}")


def mixture_of(case):
    counts, seed = numbers(case, "counts"), int(case["seed"])
    sources = [Shuffled(n, seed + j) for j, n in enumerate(counts)]
    weights = [float(text) for text in case["weights"].split()]
    positions = numbers(case, "positions") if "positions" in case else [0]
    lists = [weights[i : i + len(counts)] for i in range(0, len(weights), len(counts))]
    shares = list(map(shares_of, lists))
    assert list(itertools.chain(*shares)) == numbers(case, "shares")
    changes = [{"position": at, "shares": each} for at, each in zip(positions, shares, strict=True)]
    stop = case["stop"] if case["stop"] in ("first", "last") else int(case["stop"])
    return Mixture(sources, shares[0], stop, changes[1:])


def order_of_case(case):
    number = {key: int(text) for key, text in case.items() if text.isdecimal()}
    kind, seed = case["kind"], number["seed"]
    if kind in ("grouped", "stratified"):
        made = {"grouped": Grouped, "stratified": Stratified}[kind]
        return made(numbers(case, "labels"), number["batch_size"], seed)
    if kind == "bucketed":
        sizes = {key: number[key] for key in ("batch_size", "token_budget") if key in number}
        return Bucketed(numbers(case, "lengths"), numbers(case, "bounds"), seed, **sizes)
    if kind == "weighted":
        weights = [float(text) for text in case["weights"].split()]
        order = Weighted(weights, seed, number["size"])
        assert order.areas == numbers(case, "areas")
        return order
    if kind == "list":
        return list_of(numbers(case, "list"), Shuffled(6, seed))
    if kind == "range":
        step = number["step"] - (number["step"] >> 63 << 64)
        return range_of(number["first"], number["count"], step, Shuffled(6, seed))
    return {
        "shuffled": lambda: Shuffled(number["n"], seed),
        "windowed": lambda: Windowed(number["n"], number["block"], number["window"], seed),
        "with_replacement": lambda: WithReplacement(number["n"], seed, number["size"]),
        "mixture": lambda: mixture_of(case),
    }[kind]()


@cases("order-kinds", "order-blends")
def test_orders(case):
    order = order_of_case(case)
    for epoch in EPOCHS:
        found = [order.at(epoch, position) for position in range(order.count)]
        assert found == numbers(case, f"epoch-{epoch}")
        if f"sizes-{epoch}" in case:
            assert list(map(len, order.batches(epoch))) == numbers(case, f"sizes-{epoch}")
    if "digest" in case:
        names = [name for name in ("labels", "lengths", "list") if name in case]
        items = numbers(case, names[0]) if names else order.areas
        assert digest_of(items) == case["digest"]
    if "description" in case:
        described = order_of(case["description"])
        assert [described.at(1, i) for i in range(order.count)] == numbers(case, "epoch-1")


@cases("rows")
def test_rows(case):
    kinds = {"chunked": Chunked, "packed": Packed, "windows": Windows}
    left_out = ("kind", "counts", "rows", "describe", "positions")
    options = {
        key: int(text) if text.isdecimal() else text
        for key, text in case.items()
        if key not in left_out and "-" not in key
    }
    order = kinds[case["kind"]](counts=numbers(case, "counts"), **options)
    assert order.count == int(case["rows"])
    positions = numbers(case, "positions")
    described = order_of(case["describe"], [numbers(case, "counts")])
    assert [described.at(1, i) for i in positions] == numbers(case, "numbers-1")
    for epoch in EPOCHS:
        assert [order.at(epoch, i) for i in positions] == numbers(case, f"numbers-{epoch}")
        rows = [order.pieces(epoch, i) for i in positions]
        flat = [x for pieces in rows for x in [len(pieces), *itertools.chain(*pieces)]]
        assert flat == numbers(case, f"pieces-{epoch}")


@cases("states")
def test_states(case):
    state = read_state(case["json"])
    assert read_state_bytes(bytes_of(case["bytes"])) == state
