"""The reader of docs/formats/reader finds in random indexes what the library finds."""

import contextlib
import gzip
import io
import random
import tarfile
import warnings
import zlib

import numpy as np
import pytest
import recmap
from reader import FormatError
from reader.crc32c import masked
from reader.index import Index
from reader.selection import Selection
from reader_helpers import FORMATS, rounds

RELEASES = FORMATS.parents[1] / "tests" / "cli" / "releases"

PACKERS = {"none": bytes, "gzip": gzip.compress, "zlib": zlib.compress}
COUNTED = {"tokens": None, "raw": "uint16"}


@contextlib.contextmanager
def quiet():
    """Without the warnings about damage and files without a last line feed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def compare(ds, reader, ids=()):
    """All that an index says."""
    assert len(reader) == len(ds)
    assert reader.manifest.fingerprint[::-1].hex() == ds.fingerprint
    assert [reader.record(number) for number in range(len(ds))] == list(map(bytes, ds))
    names = [column.name for column in reader.manifest.columns]
    assert names == [name for name in ds.columns if name != "@length"]
    for name in names:
        assert repr(reader.column(name)) == repr(ds.columns[name].tolist())
    features = [feature.name for feature in reader.manifest.counted_features]
    assert features == list(ds.counts or ())
    for name in features:
        assert reader.counts(name) == ds.counts[name].tolist()
    for value in ids:
        found = reader.candidates(value.encode() if isinstance(value, str) else value)
        assert found == [number for number in ds.find_many([value]) if number >= 0]
    for shard in range(len(reader.shards)):
        reader.check_shard(shard)


def make_examples(made, count, first=0):
    """Records in which features are missing now and then."""
    values = {
        "label": lambda: made.choice([made.getrandbits(8), -made.getrandbits(63)]),
        "weight": made.random,
        "split": lambda: made.choice(["train", "test", "", "x" * made.randrange(200)]),
        "raw": lambda: made.randbytes(2 * made.randrange(9)),
        "tokens": lambda: np.arange(made.choice([0, 1, 9, 300])),
    }
    for i in range(first, first + count):
        features = {name: make() for name, make in values.items() if made.random() < 0.8}
        yield recmap.encode_example({"id": f"id-{i}", **features})


def frame(payload):
    size = len(payload).to_bytes(8, "little")
    return b"".join(x + masked(x).to_bytes(4, "little") for x in (size, payload))


def make_options(made):
    """What an index of examples contains: ids, lifted columns with and without defaults, counts."""
    options = {"id": "id"} if made.random() < 0.7 else {}
    lift = {"label": made.choice([None, -5]), "weight": None, "split": "none", "never": 1.5}
    kept = {name: default for name, default in lift.items() if made.random() < 0.7}
    counted = {name: element for name, element in COUNTED.items() if made.random() < 0.7}
    return {**options, "lift": kept, "missing_values": "null", "count": counted}


def annotate(made, ds):
    """Columns of each type, with and without nulls, of which some repeat their texts."""
    count = len(ds)
    texts = [made.choice(["de", "fr", "é" * made.randrange(3)]) for _ in range(count)]
    doubles = [made.random() * 10 ** made.randrange(-300, 300) for _ in range(count)]
    some = {i: made.getrandbits(40) for i in range(count) if made.random() < 0.5}
    columns = {"texts": texts, "doubles": np.array(doubles), "some": some or {0: 1}}
    ds.annotate(columns, by="number", missing_values="null")


@pytest.mark.parametrize("seed", range(rounds(12)))
def test_indexes_of_examples(tmp_path, seed):
    """Plain and compressed shards, some of which are damaged, with all that an index can have."""
    made = random.Random(seed)
    kind, path, first = made.choice(list(PACKERS)), tmp_path / "made.rmx", 0
    for shard in range(made.randrange(1, 4)):
        frames = [frame(x) for x in make_examples(made, made.randrange(150), first)]
        first += len(frames)
        data = bytearray(b"".join(frames))
        if data and made.random() < 0.4:
            data[made.randrange(len(data))] ^= 64
        (tmp_path / f"made-{shard}.tfrecord").write_bytes(PACKERS[kind](bytes(data)))
    with quiet():
        source, options = tmp_path / "made-*.tfrecord", make_options(made)
        recmap.index(source, path, compression=kind, on_bad_record="skip", **options)
        with recmap.open(path) as ds:
            if len(ds) and made.random() < 0.7:
                annotate(made, ds)
            ids = [f"id-{i}" for i in range(0, first + 9, 7)] if "id" in options else ()
            compare(ds, Index(path), ids)


def make_tar(made, count):
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            for i in range(count):
                member = tarfile.TarInfo(f"set/{i}.bin")
                member.size = made.randrange(700)
                archive.addfile(member, io.BytesIO(made.randbytes(member.size)))
        return file.getvalue()


def make_csv(made, count):
    cells = ["", "a", '"x,y"', '"li\nne"', '"do""uble"', "é"]
    rows = [",".join(made.choice(cells) for _ in range(3)) for _ in range(count)]
    return "".join(row + made.choice(["\n", "\r\n"]) for row in ["a,b,c", *rows]).encode()


def make_lines(made, count):
    return b"".join(
        made.randbytes(made.randrange(30)) + b"\r\n"[made.randrange(2) :] for _ in range(count)
    )


MAKERS = {
    "lines": make_lines,
    "ofrecord": lambda made, count: b"".join(
        size.to_bytes(8, "little") + made.randbytes(size)
        for size in made.choices(range(90), k=count)
    ),
    "fixed:3,7,2": lambda made, count: made.randbytes(5 + 7 * count),
    "tar": make_tar,
    "csv": make_csv,
    "csv:pipe,noquotes,noheader": make_csv,
    "csv:tab,noquotes,noheader": lambda made, count: b"\xef\xbb\xbf" + make_csv(made, count),
    "csv,noheader": lambda made, count: b"\xef\xbb\xbf" + make_csv(made, count),
}


@pytest.mark.parametrize("framing", MAKERS)
@pytest.mark.parametrize("kind", PACKERS)
def test_framings(tmp_path, framing, kind):
    made = random.Random(f"{framing} {kind}")
    for shard in range(2):
        data = MAKERS[framing](made, made.randrange(1, 60))
        (tmp_path / f"made-{shard}.bin").write_bytes(PACKERS[kind](data))
    path = tmp_path / "made.rmx"
    with quiet():
        recmap.index(tmp_path / "made-*.bin", path, framing=framing, compression=kind)
    with recmap.open(path) as ds:
        compare(ds, Index(path))


@pytest.mark.parametrize("seed", range(rounds(3)))
def test_parts_of_files_that_grew(tmp_path, seed):
    made, path, shard = random.Random(seed), tmp_path / "made.rmx", tmp_path / "made-0.tfrecord"
    first = 0
    for _ in range(3):
        frames = [frame(x) for x in make_examples(made, made.randrange(1, 40), first)]
        first += len(frames)
        with open(shard, "ab") as file:
            file.write(b"".join(frames))
        with recmap.open(shard, index=path, id="id") as ds:
            compare(ds, Index(path), [f"id-{i}" for i in range(first + 2)])
    assert len(Index(path).shards) == 3


def test_links_and_paths(tmp_path):
    """Shards are found next to a link or the index, and elsewhere only if that is allowed."""
    for name in ("data", "links", "more"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/made.txt").write_text("one\ntwo\n")
    path = tmp_path / "data/made.rmx"
    recmap.index(tmp_path / "data/made.txt", path, framing="lines")
    (tmp_path / "links/made.rmx").symlink_to(path)
    assert Index(tmp_path / "links/made.rmx").record(1) == b"two"
    (tmp_path / "links/made.txt").write_text("1.1\n2.2\n")
    assert Index(tmp_path / "links/made.rmx").record(1) == b"2.2"
    recmap.index(tmp_path / "data/made.txt", tmp_path / "more/far.rmx", framing="lines")
    with pytest.raises(FormatError, match="absolute"):
        Index(tmp_path / "more/far.rmx").record(1)
    assert Index(tmp_path / "more/far.rmx", allow_absolute=True).record(1) == b"two"


def test_integer_ids_and_several_chunks(tmp_path):
    """More records than a chunk of columns, counts and ids has, of which few are compared."""
    count, path = 140_000, tmp_path / "made.rmx"
    lines = "".join(f'{{"n": {i * 7}, "s": "{i % 300}"}}\n' for i in range(count))
    (tmp_path / "made.jsonl").write_text(lines)
    recmap.index(tmp_path / "made.jsonl", path, framing="lines", id="n", lift=["n", "s"])
    reader = Index(path)
    with recmap.open(path) as ds:
        for name in ("n", "s"):
            assert reader.column(name) == ds.columns[name].tolist()
        for number in (0, 65535, 65536, 131071, 131072, count - 1):
            assert reader.record(number) == bytes(ds[number])
            assert reader.candidates(7 * number) == [number]


@pytest.mark.parametrize("kind", ["gzip", "zlib"])
def test_seek_points(tmp_path, kind):
    """Records of each span, and across the points between them; one GZIP member is short."""
    size, path = 1 << 16, tmp_path / "made.rmx"
    data = np.random.default_rng(7).integers(0, 4, 99 * size, np.uint8).tobytes()
    packed = PACKERS[kind](data, 1)
    packed += gzip.compress(data[: 3 * size], 1) if kind == "gzip" else b""
    (tmp_path / "made.bin").write_bytes(packed)
    recmap.index(tmp_path / "made.bin", path, framing=f"fixed:0,{size},0", compression=kind)
    reader = Index(path)
    points = reader.image(0)
    assert len(points.bits) > 1 and len({bit % 2 for bit in points.bits}) == 2
    for offset in points.offsets[:-1]:
        number = offset // size
        assert reader.record(number) == (data + data[: 3 * size])[number * size :][:size]


def files_of_releases(ending):
    paths = sorted(RELEASES.glob(f"*/*{ending}"))
    return pytest.mark.parametrize(
        "path", paths, ids=lambda path: f"{path.parent.name}-{path.name}"
    )


@files_of_releases(".rmx")
def test_indexes_of_releases(path):
    with quiet(), recmap.open(path) as ds:
        compare(ds, Index(path))


@files_of_releases(".rmv")
def test_selections_of_releases(path):
    selection = Selection(path.read_bytes())
    selection.check_index(Index(path.with_name("plain.rmx")))
    with recmap.open(path) as ds:
        assert selection.numbers.tolist() == ds.numbers.tolist()


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 1])
def test_selections(tmp_path, share):
    """Sets in lists and maps, and lists."""
    made, path = random.Random(share), tmp_path / "made.rmv"
    (tmp_path / "made.txt").write_text("\n" * 140_000)
    recmap.index(tmp_path / "made.txt", tmp_path / "made.rmx", framing="lines")
    reader = Index(tmp_path / "made.rmx")
    with recmap.open(tmp_path / "made.rmx") as ds:
        numbers = [i for i in range(len(ds)) if made.random() < share]
        # As many numbers as a list of a set has, and the least that are bits.
        limits = [range(0, 3 * count, 3) for count in (4096, 4097)]
        for chosen in (numbers, numbers[::-1], *map(list, limits)):
            ds.select(chosen).save(path)
            selection = Selection(path.read_bytes())
            assert selection.numbers.tolist() == chosen and selection.path == b"made.rmx"
            selection.check_index(reader)
