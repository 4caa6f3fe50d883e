"""Inflated spans of compressed shards in a cache on the local disk. The oracle is the records of
the same shards before they were compressed."""

import fcntl
import gzip
import os
import pickle
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import warnings
import zlib

import numpy as np
import pytest
import recmap
from conftest import needs_cache_space

pytestmark = needs_cache_space

RECORDS, SIZE, BLOCK = 6000, 1500, 4096


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two shards of several spans each."""
    folder = tmp_path_factory.mktemp("packed")
    made = random.Random(11)
    words = [made.randbytes(7).hex().encode() for _ in range(500)]
    with recmap.Writer(str(folder / "plain-{shard}.tfrecord"), 2) as writer:
        for _ in range(RECORDS):
            writer.write(b"".join(made.choices(words, k=SIZE // 14)))
    for path, kind in zip(sorted(folder.glob("*.tfrecord")), ("gz", "zlib"), strict=True):
        compress = {"gz": gzip.compress, "zlib": zlib.compress}[kind]
        (folder / f"{path.stem}.tfrecord.{kind}").write_bytes(compress(path.read_bytes()))
    with recmap.open(str(folder / "plain-*.tfrecord"), index=folder / "plain.rmx") as ds:
        lines = b"\n".join(bytes(record) for record in ds)
    (folder / "lines.txt.gz").write_bytes(gzip.compress(lines + b"\n"))
    recmap.index(str(folder / "plain-*.tfrecord.*"), folder / "packed.rmx")
    recmap.index(str(folder / "lines.txt.gz"), folder / "lines.rmx", framing="lines")
    return folder


@pytest.fixture(scope="module")
def records(folder):
    with recmap.open(folder / "plain.rmx") as ds:
        return [bytes(record) for record in ds]


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def cached(folder, cache):
    """Opens the shards with a cache, and with little that is kept in memory."""

    def opened(name="packed", access="map", check="data", **more):
        reading = recmap.Reading(access, span_keep_size=1)
        storage = recmap.Storage(**{"cache": cache, **more})
        return recmap.open(folder / f"{name}.rmx", access=reading, check=check, storage=storage)

    return opened


def span_count(ds):
    return ds.info["compressed"]["spans"]


def epoch(ds, seed=0, batch=16):
    """An epoch in a true shuffle: records by number, and the loader's statistics."""
    numbers, got = [], []
    with recmap.Loader(ds, batch, shuffle=True, seed=seed) as loader:
        for records in loader:
            numbers += records.numbers.tolist()
            got += [bytes(record) for record in records]
        found = loader.statistics
    return dict(zip(numbers, got, strict=True)), found


def assert_right(ds, records, seed=0):
    got, found = epoch(ds, seed)
    assert [got[i] for i in range(RECORDS)] == records
    return found


def files_of(cache):
    return sorted(cache.glob("*.rmcache"))


def used_by(cache):
    return sum(os.stat(file).st_blocks * 512 for file in files_of(cache))


@pytest.mark.parametrize("access", ["map", "read", "direct"])
@pytest.mark.parametrize("check", ["data", "header"])
def test_each_span_is_inflated_once(cached, records, access, check):
    with cached(access=access, check=check) as ds:
        first = assert_right(ds, records, 1)
        assert first["spans_inflated"] == first["cache_misses"] == span_count(ds) >= 4
        second = assert_right(ds, records, 2)
        assert second["spans_inflated"] == first["spans_inflated"]
        assert second["cache_hits"] - first["cache_hits"] >= RECORDS  # some are in two spans
    with cached(access=access, check=check) as ds:  # another run
        assert [bytes(ds[i]) for i in range(0, RECORDS, 77)] == records[::77]
        found = assert_right(ds, records, 3)
        assert found["spans_inflated"] == found["cache_misses"] == 0


def test_without_a_cache_spans_are_inflated_again(folder, records):
    """The test above can fail."""
    with recmap.open(folder / "packed.rmx", access=recmap.Reading(span_keep_size=1)) as ds:
        with pytest.warns(UserWarning, match="cache="):
            found = assert_right(ds, records)
        assert found["spans_inflated"] > 10 * span_count(ds)


def test_other_framings_and_rows(cached, records):
    with cached("lines") as ds:
        for seed in range(2):
            found = assert_right(ds, records, seed)
        assert found["spans_inflated"] == span_count(ds)
        assert ds.gather([7, 8, 7])[2] == records[7]


def test_a_copy_of_the_shards_uses_the_same_files(cached, folder, cache, records, tmp_path):
    with cached() as ds:
        assert_right(ds, records)
    shutil.copytree(folder, tmp_path / "copy")
    storage = recmap.Storage(cache=cache)
    with recmap.open(tmp_path / "copy" / "packed.rmx", storage=storage) as ds:
        assert assert_right(ds, records)["spans_inflated"] == 0
    assert len(files_of(cache)) == 2


def test_other_contents_get_files_of_their_own(cached, folder, cache, records, tmp_path):
    with cached() as ds:
        assert_right(ds, records)
    before = files_of(cache)
    plain = min(folder.glob("plain-*.tfrecord")).read_bytes()
    (tmp_path / "a.tfrecord.gz").write_bytes(gzip.compress(plain, 1))
    storage = recmap.Storage(cache=cache)
    with recmap.open(tmp_path / "a.tfrecord.gz", index=tmp_path / "a.rmx", storage=storage) as ds:
        assert [bytes(record) for record in ds] == records[: len(ds)]
    assert len(files_of(cache)) == 3 and set(before) < set(files_of(cache))


def truncate(data):
    return data[: len(data) // 2]


def cut_header(data):
    return data[:100]


def zero_blocks(data):
    begin = len(data) // 2
    return data[:begin] + bytes(len(data) - begin)


def flip_bits(data):
    changed = bytearray(data)
    for i in range(0, len(data), 9973):
        changed[i] ^= 4
    return bytes(changed)


def flip_table(data):
    """All numbers of the table: what is missing seems to be there."""
    return data[:8192] + bytes(byte ^ 1 for byte in data[8192:12288]) + data[12288:]


def other_header(data):
    return b"recmap object 2\n" + data[16:]


def empty(data):
    return b""


DAMAGES = [truncate, cut_header, zero_blocks, flip_bits, flip_table, other_header, empty]


def damage_files(cache, damage):
    for file in files_of(cache):
        file.write_bytes(damage(file.read_bytes()))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    ("name", "access", "check"),
    [
        ("packed", "map", "data"),
        ("packed", "read", "data"),
        ("packed", "map", "header"),
        ("lines", "map", "data"),
    ],
)
def test_damaged_files_are_inflated_again(cached, records, cache, damage, name, access, check):
    with cached(name, access, check) as ds:
        assert_right(ds, records)
        damage_files(cache, damage)
        assert_right(ds, records, 1)  # damaged while it is open
        assert [bytes(ds[i]) for i in range(0, RECORDS, 501)] == records[::501]
    damage_files(cache, damage)
    with cached(name, access, check) as ds:
        assert_right(ds, records, 2)
    with cached(name, access, check) as ds:
        assert assert_right(ds, records, 3)["spans_inflated"] == 0


def test_flipped_bits_cost_one_span_each(cached, records, cache):
    with cached() as ds:
        assert_right(ds, records)
        changed = bytearray(files_of(cache)[0].read_bytes())
        changed[len(changed) // 2] ^= 1
        with open(files_of(cache)[0], "r+b") as file:
            file.write(changed)
        before = assert_right(ds, records, 1)["spans_inflated"]
        assert before == span_count(ds) + 1
        assert assert_right(ds, records, 2)["spans_inflated"] == 0 + before


def test_a_full_cache_keeps_what_it_has(cached, records, cache):
    limit = 6_000_000  # of 9,000,000; a span has up to 4,300,000
    with cached(cache_size=limit) as ds:
        assert_right(ds, records)
        assert limit // 2 < used_by(cache) <= limit
        before = [file.read_bytes() for file in files_of(cache)]
        counts = [assert_right(ds, records, seed) for seed in (1, 2)]
        assert [file.read_bytes() for file in files_of(cache)] == before
    assert 0 < counts[1]["cache_hits"] - counts[0]["cache_hits"] < RECORDS
    with cached(cache_size=10_000) as ds:  # not even one span
        assert_right(ds, records, 3)


def test_files_that_no_run_uses_make_room(cached, records, cache):
    with cached() as ds:
        assert_right(ds, records)
    size = used_by(cache) + 1_000_000
    with cached("lines", cache_size=size) as ds:
        assert_right(ds, records)
        assert assert_right(ds, records, 1)["spans_inflated"] == span_count(ds)
    assert used_by(cache) <= size * 1.1
    with cached("lines") as running:
        assert_right(running, records)
        old = files_of(cache)
        with cached(cache_size=BLOCK) as ds:
            assert_right(ds, records)
        assert set(old) <= set(files_of(cache))


def test_the_folder_may_be_deleted_while_in_use(cached, records, cache):
    with cached() as ds:
        for number in range(0, RECORDS, 1000):  # opens both shards
            assert bytes(ds[number]) == records[number]
        shutil.rmtree(cache)
        with warnings.catch_warnings(record=True) as caught:
            assert_right(ds, records)
            assert_right(ds, records, 1)
    assert len(caught) <= 1
    with cached() as ds:
        assert_right(ds, records)
        assert assert_right(ds, records, 1)["spans_inflated"] == span_count(ds)


def test_a_full_disk_is_one_warning(cached, records):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with cached() as ds:
            assert bytes(ds[0]) == records[0]
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
            with pytest.warns(UserWarning, match="nothing more is added to the cache") as caught:
                assert_right(ds, records, 1)
                assert_right(ds, records, 2)
            assert len(caught) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    with cached() as ds:
        assert_right(ds, records, 3)
        assert assert_right(ds, records, 4)["spans_inflated"] > 0


def test_an_unusable_folder_is_an_error(cached, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for unusable in (tmp_path / "file", tmp_path / "missing" / "cache"):
        with pytest.raises(recmap.StorageError, match="local disk") as caught:
            cached(cache=unusable)
        assert str(unusable) in str(caught.value)


READER = textwrap.dedent("""
    import sys, recmap
    folder, cache, seed = sys.argv[1:]
    plain = recmap.open(folder + "/plain.rmx")
    ds = recmap.open(folder + "/packed.rmx", storage=recmap.Storage(cache=cache),
                     access=recmap.Reading(span_keep_size=1))
    print("open", flush=True)
    sys.stdin.readline()
    with recmap.Loader(ds, 16, shuffle=True, seed=int(seed), threads=2) as loader:
        for batch in loader:
            for number, record in zip(batch.numbers, batch):
                assert bytes(record) == bytes(plain[number])
        print(loader.statistics["spans_inflated"], flush=True)
""")


def start_readers(folder, cache, count):
    arguments = [sys.executable, "-c", READER, str(folder), str(cache)]
    readers = [
        subprocess.Popen(
            [*arguments, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for seed in range(count)
    ]
    for reader in readers:
        assert reader.stdout.readline() == "open\n"
    for reader in readers:
        reader.stdin.write("\n")
        reader.stdin.flush()
    return readers


def end(readers):
    for reader in readers:
        reader.wait(120)
        reader.stdin.close()
        reader.stdout.close()


def test_processes_inflate_a_span_once_together(folder, cache, cached, records):
    readers = start_readers(folder, cache, 8)
    counts = [int(reader.stdout.readline()) for reader in readers]
    end(readers)
    assert [reader.returncode for reader in readers] == [0] * 8
    with cached() as ds:
        assert sum(counts) <= 1.3 * span_count(ds)
        assert assert_right(ds, records)["spans_inflated"] == 0


def test_killed_processes_block_nobody(folder, cache, cached, records):
    readers = start_readers(folder, cache, 4)
    for reader in readers[:3]:
        reader.kill()
    assert int(readers[3].stdout.readline()) >= 0
    end(readers)
    assert readers[3].returncode == 0
    with cached() as ds:
        assert_right(ds, records)
        assert assert_right(ds, records, 1)["spans_inflated"] <= span_count(ds)


def test_a_process_that_never_ends_filling_blocks_nobody(cached, cache, records):
    """The whole file is locked, as if its spans were being filled by processes that stopped."""
    with cached("lines") as ds:
        assert bytes(ds[0]) == records[0]
        with open(files_of(cache)[0], "r+b") as file:
            # struct flock: type, whence, start, length (0: to the end), pid
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
            assert bytes(ds[RECORDS - 1]) == records[-1]  # in another span
        assert bytes(ds[RECORDS - 1]) == records[-1]


def test_forked_children_and_pickles(cached, records):
    with cached() as ds:
        child = os.fork()
        if not child:
            good = all(bytes(ds[i]) == records[i] for i in range(0, RECORDS, 99))
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert_right(pickle.loads(pickle.dumps(ds)), records)
        assert assert_right(ds, records)["spans_inflated"] == 0


def test_more_shards_than_may_be_open(folder, tmp_path, cache, records):
    for i in range(20):
        part = tmp_path / f"part-{i:05d}-of-00020.tfrecord.gz"
        with recmap.Writer(part) as writer:
            for record in records[i * 50 : i * 50 + 50]:
                writer.write(record)
    reading = recmap.Reading(shard_limit=3)
    storage = recmap.Storage(cache=cache)
    with recmap.open(
        tmp_path / "part-*", index=tmp_path / "a.rmx", access=reading, storage=storage
    ) as ds:
        for seed in range(3):
            numbers = np.random.default_rng(seed).permutation(1000)
            got = ds.gather(numbers)
            assert [bytes(record) for record in got] == [records[i] for i in numbers]
    assert len(files_of(cache)) == 20


def test_plain_shards_are_not_stored(folder, cache):
    with recmap.open(folder / "plain.rmx", storage=recmap.Storage(cache=cache)) as ds:
        assert len(bytes(ds[0])) > 0
    assert not cache.exists()


def test_a_changed_shard_is_stale(tmp_path, cache, records):
    """Also if the cache has what was indexed."""
    with recmap.Writer(tmp_path / "a.tfrecord.gz") as writer:
        for record in records[:50]:
            writer.write(record)
    with recmap.Writer(tmp_path / "b.tfrecord.gz") as writer:
        for record in records[50:100]:
            writer.write(record)
    storage = recmap.Storage(cache=cache)
    with recmap.open(tmp_path / "a.tfrecord.gz", index=tmp_path / "a.rmx", storage=storage) as ds:
        assert [bytes(record) for record in ds] == records[:50]
    (tmp_path / "b.tfrecord.gz").rename(tmp_path / "a.tfrecord.gz")
    with (
        recmap.open(tmp_path / "a.rmx", storage=storage) as ds,
        pytest.raises(recmap.StaleIndexError),
    ):
        bytes(ds[0])
