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
                if harm is grow and compression == "none":
                    read(ds)  # the records that were indexed are still there
                    continue
                with pytest.raises((recmap.Error, OSError)) as caught:
                    read(ds)
                assert caught.value.path == expected, access
        found = ds.verify(progress=None)["damage"]
        assert found and {one["path"] for one in found} == {expected}


@pytest.mark.parametrize("name", ["\udcff\udcfe", "a\udcff'\n"])
def test_names_that_are_not_utf8(tmp_path, name):
    shard = tmp_path / f"{name}.tfrecord"
    with recmap.Writer(shard) as writer:
        for number in range(3):
            writer.write({"n": number})
    path = tmp_path / f"{name}.rmx"
    ds = recmap.open(shard, index=path)
    data = bytearray(shard.read_bytes())
    data[20] ^= 1
    shard.write_bytes(data)
    for one in (
        [ds] if "\n" in name else [ds, ds[:2]]
    ):  # an error has escapes for control characters
        (found,) = one.verify()["damage"]
        assert os.path.samefile(found["path"], shard)
    with pytest.warns(UserWarning, match="skipped damage"):
        skipped = recmap.open(shard, index=path, on_bad_record="skip", rebuild=True)
    (found,) = skipped.info["damage"]
    assert found["path"] == shard.name


def test_literals_of_names_that_are_not_utf8(tmp_path):
    shard, path = tmp_path / "a\udcff.tfrecord", tmp_path / "b\udcfe.rmx"
    with recmap.Writer(shard) as writer:
        writer.write({"n": 1})
    ds = recmap.open(shard, index=path)
    with pytest.raises(recmap.Error, match="the index has no ids") as caught:
        ds.find("x")
    call = caught.value.advice.split("`")[1].replace('"FEATURE"', "None")
    assert "\\udcff" in call and "\\udcfe" in call
    assert len(eval(call)) == 1  # finds the files
    shard.unlink()
    with pytest.raises(recmap.Error) as caught:
        ds[0], recmap.open(path)[0]
    assert caught.value.advice.isprintable()
