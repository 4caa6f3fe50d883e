"""The reader of docs/formats/reader reports damage to files by FormatError: it reads what was
written, or nothing."""

import gzip
import random
import struct
import warnings

import numpy as np
import pytest
import recmap
from reader import FormatError
from reader.description import order_of
from reader.index import Index
from reader.selection import Selection
from reader.state import read_state, read_state_bytes
from reader.store import DATABASES, Store
from reader.xxh3 import xxh3_64, xxh3_128
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


def path_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def read_all(path):
    """Everything that an index says."""
    index = Index(path)
    return (
        [index.record(number) for number in range(len(index))],
        [index.column(column.name) for column in index.manifest.columns],
        [index.counts(feature.name) for feature in index.manifest.counted_features],
        [index.candidates(name) for name in (b"0-3", b"1-60", b"none")],
    )


def test_every_flipped_bit_of_an_index(path, tmp_path):
    data, made = bytearray(path_bytes(path)), random.Random(2)
    copy = tmp_path / "copy.rmx"
    for at in [len(data) - 1, len(data) - 64, *made.choices(range(len(data)), k=rounds(30))]:
        data[at] ^= 4
        copy.write_bytes(data)
        with pytest.raises(FormatError):
            Index(copy)
        data[at] ^= 4


def test_an_index_that_was_cut_off(path, tmp_path):
    data, copy = path_bytes(path), tmp_path / "copy.rmx"
    for size in (0, 1, 63, 64, len(data) // 2, len(data) - 1):
        copy.write_bytes(data[:size])
        with pytest.raises(FormatError):
            Index(copy)


@pytest.mark.parametrize("database", DATABASES)
def test_every_value_has_a_hash(path, database):
    """A payload is changed, and the file sealed again."""
    data, store = bytearray(path_bytes(path)), Store(path)
    begin, end = next(iter(store.tables[database].values()))
    data[random.Random(3).randrange(begin + 16, end)] ^= 1
    data[-24:-8] = xxh3_128(bytes(data[:-64]))
    data[-8:] = struct.pack("<Q", xxh3_64(bytes(data[-64:-8])))
    copy = path.replace("made.rmx", "changed.rmx")
    with open(copy, "wb") as file:
        file.write(data)
    with pytest.raises(FormatError, match=f"{database}: the hash of value"):
        read_all(copy)


@pytest.mark.parametrize("name", ["made-0.tfrecord", "made-1.tfrecord", "made-2.tfrecord.gz"])
def test_flipped_bits_of_shards(path, name):
    """Only bits that no record depends on may change: of damage, or of the header of GZIP."""
    made, expected = random.Random(name), read_all(path)
    shard = path.replace("made.rmx", name)
    data, errors = path_bytes(shard), 0
    for _ in range(rounds(18)):
        changed = bytearray(data)
        changed[made.randrange(len(data))] ^= 1 << made.randrange(8)
        with open(shard, "wb") as file:
            file.write(changed)
        try:
            assert read_all(path) == expected
        except FormatError:
            errors += 1
    with open(shard, "wb") as file:
        file.write(data)
    assert errors


def test_changed_bytes_of_compressed_lines(tmp_path):
    """Lines have no CRCs, and stored blocks of deflate hide changes: spans have checks."""
    shard, path = tmp_path / "made.txt.gz", tmp_path / "made.rmx"
    shard.write_bytes(gzip.compress(b"some text\n" * 900, compresslevel=0))
    recmap.index(shard, path, framing="lines")
    assert Index(path).record(500) == b"some text"
    shard.write_bytes(shard.read_bytes().replace(b"text", b"Text", 1))
    with pytest.raises(FormatError, match="a check is wrong"):
        Index(path).record(500)


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
        if mutated != data:
            yield bytes(mutated)


def test_mutated_selections(path, tmp_path):
    with recmap.open(path) as ds:
        made, chosen = random.Random(5), tmp_path / "made.rmv"
        for numbers in ([0, 5, 9, 30], list(range(100)), [9, 3, 3]):
            ds.select(numbers).save(chosen)
            for mutated in mutations(chosen.read_bytes(), made, rounds(90)):
                with pytest.raises(FormatError):
                    Selection(mutated)


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
                Selection(data + xxh3_128(data))
        else:
            assert Selection(data + xxh3_128(data)).numbers.tolist() == numbers


def test_mutated_states():
    """An error, or the same state: a number may be written as -0, or a digit in upper case."""
    made, state = random.Random(6), read_state(STATE["json"])
    errors = 0
    for mutated in mutations(STATE["json"].encode(), made, rounds(300)):
        try:
            assert read_state(mutated) == state
        except FormatError:
            errors += 1
    assert errors > rounds(300) * 0.9
    for mutated in mutations(bytes_of(STATE["bytes"]), made, rounds(300)):
        with pytest.raises(FormatError):
            read_state_bytes(mutated)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"epoch":0', '"epoch":0.0'),
        ('"epoch":0', '"epoch":false'),
        ('"epoch":0', '"epoch":-1'),
        ('"epoch":0', '"epoch":0,"more":0'),
        ('"epoch":0,', ""),
        ('"position":640', '"position":641'),
        ('"checksum":"509f', '"checksum":"409f'),
    ],
)
def test_states_that_are_almost_right(old, new):
    assert old in STATE["json"]
    with pytest.raises(FormatError):
        read_state(STATE["json"].replace(old, new))


def test_descriptions():
    """Of an unknown kind, and of another array."""
    chunked = '{"kind":"chunked","seed":7,"size":4,"counts":"d5b53cafee82dc02da2d2ce8d2afab6e"}'
    order_of(chunked, [[1, 0], [5, 0, 3, 6]])
    for text in ('{"kind":"other"}', chunked):
        with pytest.raises(FormatError):
            order_of(text, [[1, 0], [0.5]])
