"""Samples of WebDataset's tar files, compared with tarfile and WebDataset."""

import contextlib
import io
import random
import re
import tarfile
import warnings

import pytest
import recmap
from recmap.webdataset import sample

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


def write(path, files, kind=tarfile.PAX_FORMAT):
    with tarfile.open(path, "w", format=kind) as tar:
        for name, data, *more in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.type = more[0] if more else tarfile.REGTYPE
            tar.addfile(entry, io.BytesIO(data))
    return path


def plain(found):
    return {name: data if name == "__key__" else bytes(data) for name, data in found.items()}


def samples(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of samples in parts
        return [plain(sample(record)) for record in recmap.open(path, framing="tar", rebuild=True)]


def by_tarfile(path):
    """By WebDataset's pattern; None where a sample has a file twice."""
    due = []
    with tarfile.open(path) as tar:
        for entry in tar:
            match = re.match(r"^((?:.*/|)[^.]+)[.]([^/]*)$", entry.name)
            if not entry.isreg() or not match or re.match("__[^/]*__($|/)", entry.name):
                continue
            key, extension = match[1], match[2].lower()
            if not due or due[-1]["__key__"] != key:
                due.append({"__key__": key})
            if extension in due[-1]:
                return None
            due[-1][extension] = tar.extractfile(entry).read()
    return due


def by_webdataset(path):
    iterators = pytest.importorskip("webdataset.tariterators")
    with open(path, "rb") as file:
        files = [{**found, "__url__": ""} for found in iterators.tar_file_iterator(file)]
    try:
        return [{**found} for found in iterators.group_by_keys(files)]
    except ValueError:
        return None


def draw_files(draw):
    """Names of all kinds, most of them in samples."""
    folders = ["", "", "d/", "d.x/", "__m__/", "d/d/", "./", "../", "\u00fc/", "l" * 120 + "/"]
    bases = ["a", "b", "", "k" * 110, "__meta__", "\u00fc"]
    ends = ["", ".jpg", ".JPG", ".seg.png", ".", "..x", ".h"]
    name = "a.x"
    for _ in range(draw.randrange(12)):
        if draw.random() < 0.4:
            name = draw.choice(folders) + (draw.choice(bases) + draw.choice(ends) or "e")
        else:
            name = name.partition(".")[0] + draw.choice([".a", ".b.c", ".D", ".e", ".f"])
        kind = draw.choice([tarfile.REGTYPE] * 6 + [tarfile.DIRTYPE, tarfile.CONTTYPE])
        size = 0 if kind == tarfile.DIRTYPE else draw.choice([0, 1, 511, 512, 513, 3000])
        yield name, draw.randbytes(size), kind


def check_many(folder, theirs):
    draw, seen = random.Random(1), 0
    for i in range(300):
        kind = FORMATS[i % 3]
        files = [f for f in draw_files(draw) if kind != tarfile.USTAR_FORMAT or len(f[0]) < 99]
        path = write(folder / "a.tar", files, kind)
        due = theirs(path) if files else []
        try:
            found = samples(path)
        except recmap.CorruptRecordError as error:
            assert "no member is part of a sample" in str(error)
            found = []
        except ValueError as error:
            assert "two files" in str(error)
            found = None
        assert found == due, files
        seen += len(due or [])
    assert seen > 300


def test_samples_agree_with_tarfile(tmp_path):
    check_many(tmp_path, by_tarfile)


def test_samples_agree_with_webdataset(tmp_path):
    pytest.importorskip("webdataset.tariterators")

    def theirs(path):
        due = by_webdataset(path)
        return due and [{k: v for k, v in found.items() if k != "__url__"} for found in due]

    check_many(tmp_path, lambda path: theirs(path) if theirs(path) is not None else None)


def test_files_are_views(tmp_path):
    path = write(tmp_path / "a.tar", [("a.x", b"one"), ("a.y", b""), ("b.x", b"two")])
    record = recmap.open(path, framing="tar")[0]
    found = sample(record)
    assert found["x"].obj is record.obj and found["x"].readonly
    assert found["x"] == b"one" and found["y"] == b""
    again = sample(bytearray(record))
    again["x"][:] = b"own"
    assert bytes(again["x"]) == b"own"


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([("a.x", b""), ("b.x", b"")], "two samples: 'a' and 'b'"),
        ([("a.x", b""), ("a.X", b"")], "the sample 'a' has two files 'x'"),
        ([("README", b"")], "no file of a sample"),
    ],
)
def test_invalid_samples_raise(tmp_path, files, why):
    with pytest.raises(ValueError, match=why):
        sample(write(tmp_path / "a.tar", files).read_bytes())


def test_hostile_bytes_are_refused_quickly(tmp_path):
    """Any bytes are a sample or a ValueError, and take no time."""
    good = write(tmp_path / "a.tar", [("a" * 200 + ".x", b"1" * 600), ("a" * 200 + ".y", b"2")])
    good, draw = good.read_bytes()[:6144], random.Random(2)
    for _ in range(3000):
        data = bytearray(good[: draw.randrange(len(good)) if draw.random() < 0.3 else None])
        for _ in range(draw.randrange(4)):
            at = draw.choice([124, 156, 512, 514, 1148, 1180, draw.randrange(len(good))])
            if at < len(data):
                data[at] = draw.choice([0, 0x80, 0xFF, 0x20, 0x30, 0x37, draw.randrange(256)])
        with contextlib.suppress(ValueError):
            sample(data)


def test_a_loader_of_samples_resumes(tmp_path):
    paths = [
        write(
            tmp_path / f"{s}.tar", [(f"{s}{i:03}.{e}", b"%d" % i) for i in range(50) for e in "xy"]
        )
        for s in "ab"
    ]
    ds = recmap.open(paths, framing="tar")

    def keys(batch):
        return [sample(record)["__key__"] for record in batch]

    def loader():
        return recmap.Loader(ds, batch_size=8, shuffle=True, seed=3, transform=keys)

    whole = [key for batch in loader() for key in batch]
    assert sorted(whole) == sorted(f"{s}{i:03}" for s in "ab" for i in range(50))
    assert whole != sorted(whole)
    first = loader()
    batches = iter(first)
    read = [key for _ in range(5) for key in next(batches)]
    second = loader()
    second.load_state_dict(first.state_dict())
    assert read + [key for batch in second for key in batch] == whole


def write_names(path, names, compress=False):
    with tarfile.open(path, "w:gz" if compress else "w") as tar:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 3
            tar.addfile(entry, io.BytesIO(b"abc"))


def open_with_notices(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds = recmap.open(path, framing="tar", **options)
    return ds, [str(warning.message) for warning in caught]


def repeats(names):
    """(records, numbers of those whose key was before, numbers of those with a file twice)"""
    keys, files = [], []
    for name in names:
        key, _, extension = name.partition(".")
        if not keys or keys[-1] != key:
            keys.append(key)
            files.append([])
        files[-1].append(extension.lower())
    again = [i for i, key in enumerate(keys) if key in keys[:i]]
    return len(keys), again, [i for i, names in enumerate(files) if len(set(names)) < len(names)]


@pytest.mark.parametrize("compress", [False, True])
def test_keys_that_return_are_noticed(tmp_path, compress):
    draw = random.Random(3)
    for case in range(60):
        names = [
            f"d{draw.randrange(2)}/{draw.randrange(12)}.{draw.choice(['a', 'b', 'A'])}"
            for _ in range(draw.randrange(1, 12))
        ]
        path = tmp_path / f"{case}.tar{'.gz' if compress else ''}"
        write_names(path, names, compress)
        ds, notices = open_with_notices(path)
        count, again, twice = repeats(names)
        assert len(ds) == count
        assert len(notices) == bool(again or twice)
        if not notices:
            continue
        number = min(again + twice)
        first = first_file(names, number)  # each file has a header and a block
        assert f"{path}: record {number} at byte {first * 1024}: " in notices[0]
        assert f'"{names[first].partition(".")[0]}"' in notices[0]
        more = len(again) + len(twice) - 1
        assert (f"and {more} more" in notices[0]) == (more > 0)
        _, notices = open_with_notices(path)
        assert not notices  # only when it is indexed


def first_file(names, number):
    """The first file of a record."""
    keys = [name.partition(".")[0] for name in names]
    return [i for i, key in enumerate(keys) if not i or keys[i - 1] != key][number]


def test_keys_return_in_one_archive_only(tmp_path):
    write_names(tmp_path / "a.tar", ["0.a", "1.a"])
    write_names(tmp_path / "b.tar", ["0.a", "1.a"])
    paths = [tmp_path / "a.tar", tmp_path / "b.tar"]
    _, notices = open_with_notices(paths, index=tmp_path / "x.rmx")
    assert not notices


def test_a_key_returns_far_away(tmp_path):
    """Segments that are scanned by several threads."""
    names = [f"{i:06}.{e}" for i in range(3000) for e in ("a", "b")]
    write_names(tmp_path / "a.tar", [*names, "000007.c"])
    expected = 'record 3000 at byte 6144000: its key "000007" is that of record 7,'
    for threads in 1, 3:
        with pytest.warns(UserWarning, match=expected) as caught:
            recmap.index(tmp_path / "a.tar", framing="tar", threads=threads)
        assert len(caught) == 1


@pytest.mark.parametrize("folder", ["", "train/", "a.b/"])
def test_attributes_of_macos_are_skipped(tmp_path, folder):
    names = [
        f"{folder}{part}{i}.{e}" for i in range(3) for e in ("jpg", "cls") for part in ("._", "")
    ]
    write_names(tmp_path / "a.tar", names)
    ds, notices = open_with_notices(tmp_path / "a.tar")
    assert not notices
    assert [sample(record)["__key__"] for record in ds] == [f"{folder}{i}" for i in range(3)]
    assert all(set(sample(record)) == {"__key__", "jpg", "cls"} for record in ds)
