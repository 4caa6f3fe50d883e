"""Caches of remote shards on the local disk. The oracle is the same data set, read locally."""

import gzip
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import recmap
from conftest import DIGITS, needs_cache_space
from object_server import DIGITS_URL, on_object

BLOCK = 4096
pytestmark = needs_cache_space


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def index(remote):
    return remote.index_path


@pytest.fixture
def cached(server, index, folder):
    """Opens the digits with a cache; more fields of Storage are passed on."""

    def opened(check="data", **more):
        more = {"cache": folder, "options": server.options(), "allow_urls": True, **more}
        return recmap.open(index, check=check, storage=recmap.Storage(**more))

    return opened


def records_of(ds):
    return [bytes(record) for record in ds]


def shuffled(ds, seed):
    numbers = np.random.default_rng(seed).permutation(len(ds))
    parts = [ds.gather(part) for part in np.array_split(numbers, 30)]
    return [bytes(record) for part in parts for record in part]


def files_of(folder):
    return sorted(Path(folder).glob("*.rmcache"))


def used_by(folder):
    return sum(os.stat(file).st_blocks * 512 for file in files_of(folder))


def test_a_second_epoch_requests_nothing(cached, server, local):
    with cached() as ds:
        for seed in (1, 2):
            assert shuffled(ds, seed) == shuffled(local, seed)
        first = len(server.requests)
        assert shuffled(ds, 3) == shuffled(local, 3)
        assert records_of(ds) == records_of(local)
        assert [bytes(ds[i]) for i in range(0, 1797, 99)] == records_of(local)[::99]
    assert first > 3 and len(server.requests) == first
    with cached() as ds:  # another run
        assert records_of(ds) == records_of(local)
    assert len(server.requests) == first


def test_a_loader_counts_the_reads_that_the_cache_answers(cached, local):
    with cached() as ds, recmap.Loader(ds, 100, epochs=2, shuffle=True) as loader:
        epochs = [sum(len(batch) for batch in loader)]
        cold = loader.statistics
        assert cold["cache_misses"] > 0
    with cached() as ds, recmap.Loader(ds, 100, shuffle=True) as loader:
        epochs.append(sum(len(batch) for batch in loader))
        warm = loader.statistics
        assert "100% of the reads" in loader._repr_html_()
    assert epochs == [2 * len(local), len(local)]
    assert warm["cache_misses"] == 0 < warm["cache_hits"]


def test_only_blocks_with_wanted_bytes_are_requested(cached, server):
    with cached() as ds:
        record = bytes(ds[1000])
        assert len(server.requests) == 1
        first, last = map(int, server.ranges()[0].removeprefix("bytes=").split("-"))
        assert first % BLOCK == 0 and (last + 1) % BLOCK == 0
        assert last + 1 - first <= len(record) + 16 + 2 * BLOCK
        assert bytes(ds[1000]) == record
        assert len(server.requests) == 1


def test_loaders_and_pickled_data_sets_use_the_cache(cached, server, local):
    def batches(ds):
        order = recmap.Shuffled(len(ds), seed=3)
        with recmap.Loader(ds, order=order, batch_size=64, epochs=2, threads=2) as loader:
            return [[bytes(record) for record in batch] for batch in loader]

    with cached() as ds:
        expected = batches(local)
        assert batches(pickle.loads(pickle.dumps(ds))) == expected
        first = len(server.requests)
        assert batches(ds) == expected
        assert len(server.requests) == first


def test_filling_in_file_order_makes_one_request_a_batch(server, tmp_path, folder):
    """Although the first records of a batch are in the last block of the batch before."""
    with recmap.Writer(server.folder / "train" / "large.tfrecord") as writer:
        for i in range(3000):
            writer.write(bytes([i % 256]) * 900)
    path = recmap.index(
        "s3://train/large.tfrecord",
        tmp_path / "a.rmx",
        storage=recmap.Storage(options=server.options()),
    )
    options = {"storage": recmap.Storage(options=server.options(), allow_urls=True, cache=folder)}
    with recmap.open(path, **options) as ds:
        server.requests.clear()
        for first in (0, 1500):
            numbers = range(first, first + 1500)
            records = ds.gather(numbers, threads=1)
            assert [bytes(record) for record in records] == [
                bytes([i % 256]) * 900 for i in numbers
            ]
        assert len(server.requests) == 2


def test_a_full_cache_keeps_what_it_has(cached, server, local, folder):
    limit = 150_000  # of 244,000
    expected = records_of(local)
    numbers = list(range(0, 1797, 4))

    def requests_of_epoch(ds, seed):
        before = len(server.requests)
        for i in np.random.default_rng(seed).permutation(numbers):
            assert bytes(ds[int(i)]) == expected[i]
        return len(server.requests) - before

    with cached(cache_size=limit) as ds:
        counts = [requests_of_epoch(ds, seed) for seed in range(3)]
        assert limit // 2 < used_by(folder) <= limit
    twice = counts[1] // 40  # slow requests may be sent twice: at most 2 % of all
    assert counts[0] > counts[1] > 0
    assert abs(counts[1] - counts[2]) <= twice
    with cached(cache_size=limit) as ds:  # another run finds the cache full
        assert abs(requests_of_epoch(ds, 3) - counts[1]) <= twice + 1
        assert used_by(folder) <= limit + BLOCK  # some file systems count blocks late


def test_objects_that_no_run_uses_make_room(cached, server, local, folder, tmp_path):
    with cached() as ds:
        records_of(ds)
    old = files_of(folder)
    shutil.copytree(server.folder / "train", server.folder / "next")
    url, options = "s3://next/digits-*.tfrecord", server.options()
    limit = used_by(folder) + 3 * BLOCK
    more = {"storage": recmap.Storage(options=options, cache=folder, cache_size=limit)}
    with recmap.open(url, index=tmp_path / "next.rmx", **more) as ds:
        assert records_of(ds) == records_of(local)
        requests = len(server.requests)
        assert records_of(ds) == records_of(local)
        assert len(server.requests) - requests <= 1
    assert not set(old) & set(files_of(folder))
    assert used_by(folder) <= limit * 1.1


def test_a_run_keeps_what_another_one_uses(cached, server, folder, tmp_path, local):
    with cached() as running:
        records_of(running)
        old = files_of(folder)
        shutil.copytree(server.folder / "train", server.folder / "next")
        more = {"storage": recmap.Storage(options=server.options(), cache=folder, cache_size=BLOCK)}
        url = "s3://next/digits-*.tfrecord"
        with recmap.open(url, index=tmp_path / "next.rmx", **more) as ds:
            assert records_of(ds) == records_of(local)
        assert set(old) <= set(files_of(folder))


def test_a_changed_object_gets_a_file_of_its_own(cached, server, folder, tmp_path):
    with cached() as ds:
        before = records_of(ds)
    path = server.folder / "train" / "digits-00001-of-00004.tfrecord"
    shutil.copy(path.with_name("digits-00002-of-00004.tfrecord"), path)
    with cached() as ds:  # what the index describes is in the cache
        assert records_of(ds) == before
    more = {"storage": recmap.Storage(options=server.options(), cache=folder)}
    with recmap.open(DIGITS_URL, index=tmp_path / "new.rmx", **more) as ds:
        after = records_of(ds)
    assert after != before and len(files_of(folder)) == 5
    recmap_clear(folder)
    with cached() as ds, pytest.raises(recmap.StaleIndexError, match="digits-00001"):
        records_of(ds)


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


def other_header(data):
    return b"recmap object 2\n" + data[16:]


def empty(data):
    return b""


@pytest.mark.parametrize(
    "damage", [truncate, cut_header, zero_blocks, flip_bits, other_header, empty]
)
@pytest.mark.parametrize("check", ["data", "header"])
def test_damaged_cache_files_are_read_again(cached, server, local, folder, damage, check):
    with cached(check=check) as ds:
        records_of(ds)
        for file in files_of(folder):
            file.write_bytes(damage(file.read_bytes()))
        assert shuffled(ds, 1) == shuffled(local, 1)  # damaged while it is open
    for file in files_of(folder):
        file.write_bytes(damage(file.read_bytes()))
    with cached(check=check) as ds:
        assert shuffled(ds, 1) == shuffled(local, 1)
        before = len(server.requests)
        assert shuffled(ds, 2) == shuffled(local, 2)
        assert shuffled(ds, 3) == shuffled(local, 3)
        before = len(server.requests)
        assert shuffled(ds, 4) == shuffled(local, 4)
        assert len(server.requests) == before


def test_bits_that_flipped_on_the_way_do_not_stay_in_the_cache(cached, server, local):
    def flip(handler):
        data = bytearray(handler.read_object())
        data[len(data) // 2] ^= 1
        handler.send_object(data=bytes(data), etag=handler.headers["If-Match"])

    with cached() as ds:
        server.faults += [on_object(flip)] * 3
        assert records_of(ds) == records_of(local)
        before = len(server.requests)
        assert records_of(ds) == records_of(local)
        assert len(server.requests) == before


def test_compressed_and_unchecked_shards(server, folder, tmp_path, local):
    bucket = server.folder / "train"
    plain = (bucket / "digits-00001-of-00004.tfrecord").read_bytes()
    (bucket / "packed.tfrecord.gz").write_bytes(gzip.compress(plain))
    lines = [b"line %d" % i for i in range(5000)]
    (bucket / "text.txt").write_bytes(b"\n".join(lines) + b"\n")
    more = {"storage": recmap.Storage(options=server.options(), cache=folder, allow_urls=True)}
    for source, framing in (("packed.tfrecord.gz", "tfrecord"), ("text.txt", "lines")):
        index = tmp_path / f"{source}.rmx"
        with recmap.open(f"s3://train/{source}", index=index, framing=framing, **more) as ds:
            expected = records_of(ds)
        assert len(expected) > 400
        for file in files_of(folder):
            file.write_bytes(flip_bits(file.read_bytes()))
        server.requests.clear()
        with recmap.open(index, **more) as ds:
            assert records_of(ds) == expected
        assert server.requests
        server.requests.clear()
        with recmap.open(index, **more) as ds:
            assert records_of(ds) == expected
        assert server.requests == []


@pytest.mark.parametrize("read", [lambda ds: ds[200], lambda ds: ds.gather([200])[0]])
def test_flipped_bits_of_compressed_shards_are_read_again(server, folder, tmp_path, read):
    plain = (DIGITS / "digits-00001-of-00004.tfrecord").read_bytes()
    (server.folder / "train" / "packed.tfrecord.gz").write_bytes(gzip.compress(plain))
    more = {"storage": recmap.Storage(options=server.options(), cache=folder)}
    index = tmp_path / "packed.rmx"
    with recmap.open("s3://train/packed.tfrecord.gz", index=index, **more) as ds:
        expected = records_of(
            recmap.open(DIGITS / "digits-00001-of-00004.tfrecord", index=tmp_path / "plain.rmx")
        )

        def flip(handler):
            data = bytearray(handler.read_object())
            data[len(data) // 2] ^= 1
            handler.send_object(data=bytes(data), etag=handler.headers["If-Match"])

        server.faults.append(on_object(flip))
        assert bytes(read(ds)) == expected[200]
        assert not server.faults
        assert records_of(ds) == expected


READER = textwrap.dedent("""
    import sys, numpy, recmap
    index, cache, url, seed = sys.argv[1:]
    options = {"endpoint": url, "anonymous": True}
    storage = recmap.Storage(options=options, cache=cache, allow_urls=True)
    with recmap.open(index, storage=storage) as ds:
        for epoch in range(3):
            numbers = numpy.random.default_rng([int(seed), epoch]).permutation(len(ds))
            for part in numpy.array_split(numbers, 100):
                for i, record in zip(part, ds.gather(part)):
                    assert b"digit-%05d" % i in bytes(record)
            print("epoch", flush=True)
""")


def start_reader(index, folder, server, seed):
    arguments = [sys.executable, "-c", READER, str(index), str(folder), server.url, str(seed)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE)


def test_processes_share_a_cache_and_may_be_killed(server, index, folder, cached, local):
    for round in range(2):
        readers = [start_reader(index, folder, server, 3 * round + k) for k in range(3)]
        readers[0].stdout.readline()
        readers[0].send_signal(signal.SIGKILL)
        readers[1].send_signal(signal.SIGKILL)
        assert readers[2].wait(60) == 0
        for reader in readers[:2]:
            reader.wait(60)
        for reader in readers:
            reader.stdout.close()
    server.requests.clear()
    with cached() as ds:
        assert records_of(ds) == records_of(local)
        assert len(server.requests) == 0
        usage = int.from_bytes((folder / "usage").read_bytes()[16:24], "little")
        assert (
            abs(usage - used_by(folder)) <= 4 * BLOCK
        )  # what the dead had reserved was counted again


def test_forked_children_use_the_cache(cached, local, server):
    with cached() as ds:
        expected = bytes(ds[0])
        child = os.fork()
        if not child:
            good = records_of(ds) == records_of(local) and bytes(ds[0]) == expected
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        before = len(server.requests)
        assert records_of(ds) == records_of(local)
        assert len(server.requests) == before


def test_a_full_disk_is_no_error(cached, server, local, folder):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with cached() as ds:
        for shard in ds.shards:  # creates the files
            assert bytes(ds[shard["first_record"]]) == bytes(local[shard["first_record"]])
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limits[1]))
            with pytest.warns(UserWarning, match="nothing more is added to the cache") as caught:
                for seed in (1, 2):
                    assert shuffled(ds, seed) == shuffled(local, seed)
            assert len(caught) == 1
            shutil.rmtree(folder)
            with cached() as other, pytest.warns(UserWarning, match="nothing more is added"):
                assert shuffled(other, 1) == shuffled(local, 1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with cached() as ds:
        assert shuffled(ds, 3) == shuffled(local, 3)


def test_an_unusable_folder_is_an_error(cached, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for folder in (tmp_path / "file", tmp_path / "missing" / "cache"):
        with pytest.raises(recmap.StorageError, match="local disk") as caught:
            cached(cache=folder)
        assert str(folder) in str(caught.value)


def test_sizes_are_read_with_units(cached, index):
    from recmap._options.options import size_of

    sizes = {"200GB": 200 * 10**9, "64MiB": 64 << 20, "7": 7, "1 kB": 1000, 5: 5, None: 0}
    assert {text: size_of(text) for text in sizes} == sizes
    for wrong in ("200 G", "-1", "1.5GB", "", 0, -3, "GB"):
        with pytest.raises(ValueError, match="size"):
            cached(cache_size=wrong)
    with pytest.raises(ValueError, match="pass cache=FOLDER"):
        recmap.open(index, storage=recmap.Storage(cache_size="1GB", allow_urls=True))


@pytest.mark.parametrize("empty", ["", b""])
def test_a_cache_needs_a_name(empty):
    """An empty one would be the current folder."""
    with pytest.raises(ValueError, match="cache is empty"):
        recmap.Storage(cache=empty)


def test_plain_local_shards_are_not_cached(digits_index, folder):
    with recmap.open(digits_index, shards=DIGITS, storage=recmap.Storage(cache=folder)) as ds:
        assert len(bytes(ds[0])) > 0
    assert not folder.exists()


def recmap_clear(folder):
    for file in files_of(folder):
        file.unlink()
