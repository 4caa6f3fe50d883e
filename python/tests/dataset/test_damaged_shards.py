"""Shards that are damaged after they were indexed, at random places.

The same records are lost with the old and with a new modification time, compressed or not, under
each policy. A shard that was written anew is stale, never damaged.
"""

import contextlib
import gzip
import os
import random
import zlib

import numpy as np
import pytest
import recmap

KINDS = ["plain", "gzip", "zlib"]
COUNT = 1200


def pack(kind, data, level):
    if kind == "gzip":
        return gzip.compress(data, level, mtime=0)
    return zlib.compress(data, level) if kind == "zlib" else data


def write_shard(path, kind, level=1, seed=0):
    """Records of random bytes, so that spans are as long as in real files."""
    chance = random.Random(seed)
    with recmap.Writer(path.with_suffix(".plain")) as writer:
        for i in range(COUNT):
            writer.write({"id": f"{seed}-{i:05}", "x": i, "p": chance.randbytes(5000)})
    path.write_bytes(pack(kind, path.with_suffix(".plain").read_bytes(), level))
    path.with_suffix(".plain").unlink()


def open_shard(path):
    return recmap.open(path, index=path.with_suffix(".rmx"), id="id", lift=["x"])


def damage(path, chance, new_time):
    stat = path.stat()
    with open(path, "r+b") as file:
        for _ in range(chance.choice([1, 3])):
            place = chance.randrange(30, stat.st_size - 9)
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ chance.randrange(1, 256)]))
    os.utime(path, ns=(0, stat.st_mtime_ns + new_time))


def good_records(ds):
    good = []
    for i in range(len(ds)):
        with contextlib.suppress(recmap.CorruptRecordError):
            assert f"-{i:05}".encode() in bytes(ds[i])
            good.append(i)
    return good


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_damage_is_skipped_whatever_the_time(tmp_path, kind, seed):
    path = tmp_path / "a.tfrecord"
    write_shard(path, kind)
    open_shard(path)
    whole = path.read_bytes()
    time = path.stat().st_mtime_ns
    results = []
    for new_time in 0, 10**9:
        path.write_bytes(whole)
        os.utime(path, ns=(0, time))
        damage(path, random.Random(seed), new_time)
        ds = open_shard(path)
        good = good_records(ds)
        assert ds.verify(progress=None)["records_good"] == len(good) < COUNT
        features = {"x": recmap.FixedLen((), "int64")}
        with recmap.Loader(ds, 100, on_bad_record="skip", features=features, epochs=1) as loader:
            assert sorted(np.concatenate([batch["x"] for batch in loader]).tolist()) == good
        with recmap.Loader(
            ds, 100, on_bad_record="substitute", features=features, epochs=1
        ) as loader:
            substituted = np.concatenate([batch["x"] for batch in loader]).tolist()
            assert len(substituted) == COUNT and set(substituted) == set(good)
        with (
            recmap.Loader(ds, 100, features=features, epochs=1) as loader,
            pytest.raises(recmap.CorruptRecordError, match=r"a\.tfrecord"),
        ):
            list(loader)
        batch = ds.parse(range(COUNT), features, on_bad_record="collect")
        lost = [row for row, _ in batch.failures]
        assert sorted(set(range(COUNT)) - set(lost)) == good
        assert all(isinstance(e, recmap.CorruptRecordError) for _, e in batch.failures)
        assert "a.tfrecord: " in str(batch.failures[0][1])
        assert batch["x"][good].tolist() == good
        assert batch.is_valid("x").nonzero()[0].tolist() == good
        assert bytes(batch.records[lost[0]]) == b""
        assert f"-{good[-1]:05}".encode() in bytes(batch.records[good[-1]])
        results.append(good)
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("new_time", [0, 10**9])
@pytest.mark.parametrize("fill", [bytes, lambda size: random.Random(1).randbytes(size)])
def test_a_shard_none_of_which_can_be_read_is_damaged(tmp_path, kind, new_time, fill):
    paths = [tmp_path / f"{i}.tfrecord" for i in range(4)]
    for i, path in enumerate(paths):
        with recmap.Writer(path.with_suffix(".plain")) as writer:
            for row in range(50):
                writer.write({"x": 50 * i + row})
        path.write_bytes(pack(kind, path.with_suffix(".plain").read_bytes(), 1))
    recmap.open(paths, index=tmp_path / "set.rmx")
    stat = paths[1].stat()
    paths[1].write_bytes(fill(stat.st_size))
    os.utime(paths[1], ns=(0, stat.st_mtime_ns + new_time))
    ds = recmap.open(tmp_path / "set.rmx")
    features = {"x": recmap.FixedLen((), "int64")}
    good = [*range(50), *range(100, 200)]
    with recmap.Loader(ds, 8, on_bad_record="skip", features=features, epochs=1) as loader:
        assert sorted(np.concatenate([batch["x"] for batch in loader]).tolist()) == good
    with recmap.Loader(ds, 8, on_bad_record="substitute", features=features, epochs=1) as loader:
        assert set(np.concatenate([batch["x"] for batch in loader]).tolist()) == set(good)
    with pytest.raises(recmap.CorruptRecordError, match="restore the whole file"):
        ds[60]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("new_time", [0, 10**9])
def test_a_shard_that_was_written_anew_is_stale(tmp_path, kind, new_time):
    """Its records have the same sizes, so that nothing but their content shows it."""
    path = tmp_path / "a.tfrecord"
    write_shard(path, kind, level=0)
    open_shard(path)
    old = path.stat()
    write_shard(path, kind, level=0, seed=1)
    assert path.stat().st_size == old.st_size
    os.utime(path, ns=(0, old.st_mtime_ns + new_time))
    ds = recmap.open(path.with_suffix(".rmx"))
    features = {"x": recmap.FixedLen((), "int64")}
    for call in (
        lambda: ds[1134],
        lambda: ds.find("0-01134"),
        lambda: ds.find_many(["0-01134"]),
        lambda: ds.gather([7, 8]),
        lambda: ds.parse([7, 8], features),
        lambda: list(recmap.Loader(ds, 100, epochs=1, on_bad_record="skip")),
        lambda: list(
            recmap.Loader(ds, 100, epochs=1, on_bad_record="substitute", features=features)
        ),
    ):
        with pytest.raises(recmap.StaleIndexError, match=r"a\.tfrecord.*changed since"):
            call()
