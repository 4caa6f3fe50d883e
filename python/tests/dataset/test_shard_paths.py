"""Errors and findings name a shard by a path that leads to it."""

import os
import shutil

import pytest
import recmap

ACCESSES = "map", "read", "direct"
READS = lambda ds: ds[399], lambda ds: ds.gather(range(100, 400)), list


def remove(path):
    path.unlink()


def grow(path):
    with open(path, "ab") as stream:
        stream.write(bytes(16))


def replace(path):
    """Other bytes of the same length, at another time."""
    data = bytearray(path.read_bytes())
    data[12::7] = bytes(len(data[12::7]))
    path.write_bytes(data)
    os.utime(path, (1, 1))


def damage(path):
    """Damage that leaves size and time alone, so that it is found when records are read."""
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def name_it_a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("harm", [remove, grow, replace, damage, name_it_a_folder])
def test_errors_of_shards(tmp_path, monkeypatch, harm, compression):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    payloads = [recmap.encode_example({"n": [i], "text": [os.urandom(40)]}) for i in range(400)]
    suffix = ".gz" if compression == "gzip" else ""
    shards = [f"made-{i}.tfrecord{suffix}" for i in range(2)]
    for i, name in enumerate(shards):
        with recmap.Writer(f"data/{name}", compression=compression) as writer:
            for payload in payloads[i::2]:
                writer.write(payload)
    recmap.index([f"data/{name}" for name in shards], "data/all.rmx", progress=None)
    shutil.copytree("data", "moved")
    for folder in "data", "moved":
        harm(tmp_path / folder / shards[1])
    plans = [
        (None, str(tmp_path / "data" / shards[1])),
        ("moved", str(tmp_path / "moved" / shards[1])),
    ]
    for folder, expected in plans:
        for access in ACCESSES:
            ds = recmap.open("data/all.rmx", shards=folder, access=access)
            for read in READS:
                with pytest.raises((recmap.Error, OSError)) as caught:
                    read(ds)
                assert caught.value.path == expected, access
        found = ds.verify(progress=None)["damage"]
        assert found and {one["path"] for one in found} == {expected}
