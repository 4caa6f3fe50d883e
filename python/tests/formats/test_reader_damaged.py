"""The reader of docs/formats/reader reports bytes that contradict the specification, always by
FormatError, and never reads on for long."""

import contextlib
import json
import random
import struct
import warnings

import numpy as np
import pytest
import recmap
from reader.description import order_of
from reader.errors import FormatError
from reader.index import Index
from reader.selection import Selection
from reader.state import read_state, read_state_bytes
from reader.store import DATABASES, Store, value_hash
from reader.xxh3 import stored, xxh3_64, xxh3_128
from reader_helpers import bytes_of, read_cases, rounds

STATE = read_cases("states")["shuffled"]


def write_index(folder):
    """An index with everything that one can have, of which pages are small."""
    made = random.Random(1)
    for shard in range(3):
        name = f"made-{shard}.tfrecord" + (".gz" if shard == 2 else "")
        with recmap.Writer(folder / name) as writer:
            for i in range(70):
                text = made.choice(["train", "test"])
                features = {"id": f"{shard}-{i}", "split": text, "tokens": np.arange(i % 9)}
                writer.write(recmap.encode_example(features if i else {"label": 1.5}))
    data = bytearray((folder / "made-0.tfrecord").read_bytes())
    data[900] ^= 1
    (folder / "made-0.tfrecord").write_bytes(data)
    options = {"id": "id", "lift": ["split", "label"], "count": ["tokens"]}
    path = recmap.index(
        folder, folder / "made.rmx", missing_values="null", on_bad_record="skip", **options
    )
    with recmap.open(path) as ds:
        ds.annotate({"n": np.arange(len(ds)) ** 2}, by="number")
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with warnings.catch_warnings(action="ignore"):
        return write_index(tmp_path_factory.mktemp("made"))


def read_all(path):
    """Everything that an index says."""
    index = Index(path)
    for shard in range(len(index.shards)):
        index.check_shard(shard)
    for column in index.manifest.columns:
        index.column(column.name)
    for feature in index.manifest.counted_features:
        index.counts(feature.name)
    if index.manifest.has_ids:
        for name in ("0-3", "1-60", "none"):
            index.candidates(name.encode())


def seal_again(data):
    """With hashes as in a forged file."""
    content = bytes(data[:-64])
    seal = bytearray(data[-64:])
    seal[40:56] = stored(xxh3_128(content))
    seal[56:] = struct.pack("<Q", xxh3_64(bytes(seal[:56])))
    return content + seal


def test_every_flipped_bit_is_found(path, tmp_path):
    data, made = bytearray(path_bytes(path)), random.Random(2)
    copy = tmp_path / "copy.rmx"
    for at in [len(data) - 1, len(data) - 64, *made.choices(range(len(data)), k=rounds(30))]:
        data[at] ^= 4
        copy.write_bytes(data)
        with pytest.raises(FormatError):
            Index(copy)
        data[at] ^= 4


def path_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def test_forged_pages(path):
    """Numbers of LMDB's pages are changed, and the file sealed again: an error, or other values."""
    data, made, errors = path_bytes(path), random.Random(3), set()
    copy = path.replace("made.rmx", "forged.rmx")
    used = [i for i in range(0, len(data) - 64, 2) if data[i : i + 2] != b"\0\0"]
    for _ in range(rounds(450)):
        forged = bytearray(data)
        at = made.choice(used)
        value = made.choice([0, 1, 2, 4096, 65535, forged[at] ^ 1 << made.randrange(8)])
        struct.pack_into("<H", forged, at, value)
        with open(copy, "wb") as file:
            file.write(seal_again(forged))
        try:
            read_all(copy)
        except FormatError as error:
            errors.add(str(error))
    assert len(errors) > 5


def forge_values(path, made):
    """A copy with a changed payload whose hash is right."""
    data, store = bytearray(path_bytes(path)), Store(path)
    database = made.choice([name for name in DATABASES if store.tables[name]])
    key = made.choice(list(store.tables[database]))
    begin, end = store.tables[database][key]
    for _ in range(made.randrange(1, 4)):
        at = made.randrange(begin + 16, max(begin + 17, min(end, begin + 300)))
        data[at] = made.choice([0, 1, 127, 255, data[at] ^ 1 << made.randrange(8)])
    digest = value_hash(DATABASES.index(database), key, bytes(data[begin + 16 : end]))
    struct.pack_into("<Q", data, begin, digest)
    return seal_again(data)


def test_forged_values(path):
    made, errors = random.Random(4), set()
    copy = path.replace("made.rmx", "forged.rmx")
    for _ in range(rounds(450)):
        with open(copy, "wb") as file:
            file.write(forge_values(path, made))
        try:
            read_all(copy)
        except (FormatError, FileNotFoundError) as error:  # another path
            errors.add(str(error))
    assert len(errors) > 15


def mutations(data, made, count):
    for _ in range(count):
        mutated = bytearray(data)
        for _ in range(made.randrange(1, 4)):
            at = made.randrange(len(mutated))
            kind = made.randrange(3)
            if kind == 0:
                mutated[at] ^= 1 << made.randrange(8)
            elif kind == 1:
                del mutated[at : at + made.randrange(1, 9)]
            else:
                mutated[at:at] = made.choice([b"\0", b"\xff" * 4, b"9" * 25, b"-", b"[" * 2000])
        yield bytes(mutated)


def test_mutated_selections(path, tmp_path):
    with recmap.open(path) as ds:
        made, chosen = random.Random(5), tmp_path / "made.rmv"
        for numbers in ([0, 5, 9, 30], list(range(100)), [9, 3, 3]):
            ds.select(numbers).save(chosen)
            data = chosen.read_bytes()
            for mutated in mutations(data[:-16], made, rounds(90)):
                with pytest.raises(FormatError):
                    Selection(mutated + data[-16:])
                with contextlib.suppress(FormatError):
                    assert len(Selection(mutated + stored(xxh3_128(mutated))).numbers()) < 1 << 20


def test_sets_with_runs():
    """This library writes none, but must read them, and so must the reader."""
    for runs, numbers in (([(3, 0), (9, 2)], [3, 9, 10, 11]), ([(5, 2), (7, 0)], None)):
        size = sum(length + 1 for _, length in runs)
        items = struct.pack("<QIHHBHHH", 1, 0, 12347, 0, 1, 0, size - 1, len(runs))
        items += b"".join(struct.pack("<HH", *run) for run in runs)
        head = struct.pack("<8sIIQQ16sQII", b"RMXview\n", 1, 1, 99, 1, bytes(16), size, 5, 0)
        data = head + b"a.rmx" + items
        if numbers is None:
            with pytest.raises(FormatError):
                Selection(data + stored(xxh3_128(data)))
        else:
            assert Selection(data + stored(xxh3_128(data))).numbers().tolist() == numbers


def test_mutated_states():
    made, data = random.Random(6), bytes_of(STATE["bytes"])
    for mutated in mutations(STATE["json"].encode(), made, rounds(300)):
        if mutated != STATE["json"].encode():
            with pytest.raises(FormatError):
                read_state(mutated)
    for mutated in mutations(data, made, rounds(300)):
        with pytest.raises(FormatError):
            read_state_bytes(mutated)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"epoch":0', '"epoch":-0'),
        ('"epoch":0', '"epoch":0.0'),
        ('"epoch":0', '"epoch":false'),
        ('"epoch":0', '"epoch":0,"epoch":0'),
        ('"epoch":0', '"epoch":0,"more":0'),
        ('"epoch":0,', ""),
        ('"position":640', '"position":641'),
        ("509fc8", "509FC8"),
    ],
)
def test_states_that_are_almost_right(old, new):
    assert old in STATE["json"]
    with pytest.raises(FormatError):
        read_state(STATE["json"].replace(old, new))


DESCRIPTIONS = [
    {"kind": "windowed", "n": 25, "block": 100, "window": 1, "seed": 9},
    {"kind": "chunked", "seed": 7, "size": 4, "counts": "d5b53cafee82dc02da2d2ce8d2afab6e"},
    {
        "kind": "mixture",
        "sources": [{"kind": "sequential", "n": 5}, {"kind": "shuffled", "n": 5, "seed": 1}],
        "shares": [3, 1],
        "stop": "first",
    },
    {"kind": "range", "first": 20, "count": 6, "step": -4, "of": {"kind": "sequential", "n": 6}},
]


@pytest.mark.parametrize("described", DESCRIPTIONS, ids=lambda described: described["kind"])
def test_mutated_descriptions(described):
    text, made = json.dumps(described, separators=(",", ":")), random.Random(8)
    order_of(text, [[5, 0, 3, 6]])
    for mutated in mutations(text.encode(), made, rounds(300)):
        try:
            order = order_of(mutated.decode("latin-1"), [[5, 0, 3, 6]])
        except FormatError:
            continue
        for position in range(min(order.count, 9)):
            order.at(0, position)
