"""Shards in object stores and on web servers. The oracle is the same data set, read locally."""

import gzip
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import recmap
from conftest import DIGITS
from hdfs_server import HdfsServer
from object_server import DIGITS_URL, etag_of, flip_bit, gathered, on_object, records_of


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


def test_everything_reads_as_from_files(remote, local):
    assert remote.fingerprint == local.fingerprint
    assert records_of(remote) == records_of(local)
    numbers = np.random.default_rng(1).permutation(len(local))[:500]
    assert gathered(remote, numbers) == gathered(local, numbers)
    assert remote.find("digit-01234") == 1234
    spec = {"label": recmap.FixedLen([], "int64")}
    found = remote.parse(numbers, spec)["label"]
    assert np.array_equal(np.asarray(found), np.asarray(local.parse(numbers, spec)["label"]))
    assert remote.verify()["damage"] == []
    assert next(iter(remote.shards))["path"] == "s3://train/digits-00000-of-00004.tfrecord"


def test_local_data_sets_do_not_load_libcurl(digits_index):
    """Loading it and its libraries takes longer than to open a data set and read a record."""
    program = (
        "import recmap\n"
        f"assert len(recmap.open({str(digits_index)!r}, shards={str(DIGITS)!r})[0])\n"
        "assert 'libcurl' not in open('/proc/self/maps').read()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_loader_gives_the_batches_of_the_local_one(remote, local):
    def batches(ds):
        order = recmap.Shuffled(len(ds), seed=3)
        with recmap.Loader(ds, order=order, batch_size=64, epochs=1, threads=2) as loader:
            return [[bytes(record) for record in batch] for batch in loader]

    assert batches(remote) == batches(local)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_loader_requests_nothing_after_its_last_epoch(remote, server, threads):
    order = recmap.Shuffled(len(remote), seed=3)
    for epoch in (0, 1):
        for first in range(0, len(remote), 64):
            numbers = range(first, min(first + 64, len(remote)))
            remote.gather(order.at(epoch, numbers), threads=1)
    expected = set(server.ranges())
    server.requests.clear()
    with recmap.Loader(remote, 64, order=order, epochs=2, threads=threads) as loader:
        assert sum(len(batch) for batch in loader) == 2 * len(remote)
    assert set(server.ranges()) == expected  # a slow one may be requested twice


@pytest.mark.parametrize("batch_size", [1, 15])
@pytest.mark.parametrize("kind", ["Shuffled", "Windowed", "Sequential"])
def test_estimated_requests_are_those_of_a_loader(kind, batch_size, server, tmp_path):
    random = np.random.default_rng(4)
    for name in ("a", "b"):
        with recmap.Writer(server.folder / "train" / f"{name}.shard") as writer:
            for size in random.integers(1000, 60000, 40):
                writer.write(bytes(int(size)))
    ds = recmap.open(
        "s3://train/*.shard",
        index=tmp_path / "parts.rmx",
        storage=recmap.Storage(options=server.options()),
    )
    order = {
        "Shuffled": lambda: recmap.Shuffled(len(ds), seed=5),
        "Windowed": lambda: recmap.Windowed(len(ds), block=10, window=2, seed=5),
        "Sequential": lambda: recmap.Sequential(len(ds)),
    }[kind]()
    server.requests.clear()
    with recmap.Loader(ds, batch_size, order=order, epochs=1) as loader:
        estimate = loader.estimate_requests()
        assert server.requests == []
        assert sum(len(batch) for batch in loader) == len(ds)
    ranges = [tuple(map(int, r.removeprefix("bytes=").split("-"))) for r in server.ranges()]
    assert estimate == {
        "requests": len(ranges),
        "bytes": sum(last - first + 1 for first, last in ranges),
        "used_bytes": sum(f.stat().st_size for f in server.folder.glob("train/*.shard")),
        "exact": True,
    }


def test_requests_of_many_records_are_estimated_from_some(server, tmp_path):
    path = server.folder / "train" / "many.shard"
    count = 300_000
    with recmap.Writer(path) as writer:
        for _ in range(count):
            writer.write(b"x")
    options = server.options()
    ds = recmap.open(
        "s3://train/many.shard", index=tmp_path / "m.rmx", storage=recmap.Storage(options=options)
    )
    found = recmap.Loader(ds, 1, shuffle=True).estimate_requests()
    size = path.stat().st_size
    assert found == {"requests": count, "bytes": size, "used_bytes": size, "exact": False}


def test_opening_needs_no_request_and_reading_one_record_needs_one(remote, server):
    again = pickle.loads(pickle.dumps(remote))
    assert server.requests == []
    record = bytes(again[1000])
    assert len(server.requests) == 1
    (path, headers), (first, last) = (
        server.requests[0],
        (server.ranges()[0].removeprefix("bytes=").split("-")),
    )
    assert int(last) - int(first) + 1 == len(record) + 16
    data = (server.folder / path.lstrip("/")).read_bytes()
    assert headers["If-Match"] == etag_of(data)


def test_indexing_requests_each_byte_once_in_ranges_of_one_or_two_mib(server, tmp_path):
    """docs/guide/bucket.md names the number of requests, which cost money."""
    shard = tmp_path / "served" / "train" / "large.tfrecord"
    with recmap.Writer(shard) as writer:
        for _ in range(100):
            writer.write(bytes(60_000))
    server.requests.clear()
    recmap.open(f"{server.url}/train/large.tfrecord", index=tmp_path / "a.rmx")
    ranges = [headers["Range"].removeprefix("bytes=") for _, headers in server.requests]
    assert ranges[:2] == ["0-0", "0-15"]
    bounds = sorted(tuple(map(int, each.split("-"))) for each in ranges[2:])
    ends = [end + 1 for _, end in bounds]
    assert [begin for begin, _ in bounds] == [0, *ends[:-1]] and ends[-1] == shard.stat().st_size
    sizes = [end + 1 - begin for begin, end in bounds]
    assert all((1 << 20) - 60_016 < size <= 2 << 20 for size in sizes[:-1])


def test_neighbours_share_a_request(remote, server):
    remote.gather(range(400))
    assert len(server.requests) == 1


LABEL = {"label": recmap.FixedLen([], "int64")}
READS = {
    "gather": lambda ds, numbers, threads: ds.gather(numbers, threads=threads),
    "gather a range": lambda ds, numbers, threads: ds.gather(range(1797), threads=threads),
    "parse": lambda ds, numbers, threads: ds.parse(numbers, LABEL, threads=threads),
}


@pytest.mark.parametrize("kind", READS)
def test_records_of_different_threads_share_requests(kind, remote, server):
    """Ranges are merged before the records are split among threads."""
    numbers = np.random.default_rng(5).permutation(len(remote))
    for threads in (0, 1, 2, 7):
        server.requests.clear()
        READS[kind](remote, numbers, threads)
        assert len(server.requests) == len(remote.shards)


def test_threads_request_damaged_records_again(remote, local, server):
    server.faults += [on_object(flip_bit, "*-0000[12]-*")] * 2
    numbers = range(len(local))
    assert gathered(remote, numbers, threads=3) == gathered(local, numbers)
    assert len(server.requests) == 4 + 2


def test_an_error_of_the_store_is_reported_at_once_with_threads(remote, server):
    path = server.folder / "train" / "digits-00002-of-00004.tfrecord"
    path.unlink()
    with pytest.raises(FileNotFoundError, match="there is no such object"):
        remote.gather(range(len(remote)), threads=3)
    assert len([path for path, _ in server.requests if "00002" in path]) == 1


def test_listings_of_several_pages_are_complete(server, tmp_path):
    for source in (DIGITS_URL, "s3://train/", "s3://train/*", "s3://train/digits@4.tfrecord"):
        ds = recmap.open(
            source, index=tmp_path / "a.rmx", storage=recmap.Storage(options=server.options())
        )
        assert len(ds) == 1797
    with pytest.raises(FileNotFoundError, match="no object matches"):
        recmap.open(
            "s3://train/none*",
            index=tmp_path / "b.rmx",
            storage=recmap.Storage(options=server.options()),
        )


@pytest.mark.parametrize(
    "pattern",
    [
        *("**", "**/", "**/*", "**/x", "**/x/", "**.tfrecord"),
        *("b/**", "b/**/", "*/**", "*/", ".h/**", "**/.h/*"),
    ],
)
def test_patterns_are_those_of_local_files(server, tmp_path, pattern):
    folder = tmp_path / "served" / "train"
    names = ["a.tfrecord", "x", "b/x", "b/c/y", "b/.h/x", ".h/x", ".h/c/z", "b/c/.y", "b/_y"]
    shutil.rmtree(folder)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with recmap.Writer(folder / name) as writer:
            writer.write(name.encode())

    def found(source, **options):
        try:
            with recmap.open(
                f"{source}/{pattern}", index=tmp_path / "a.rmx", rebuild=True, **options
            ) as ds:
                return sorted(map(bytes, ds))
        except FileNotFoundError:
            return []

    local = found(folder)
    assert found("s3://train", storage=recmap.Storage(options=server.options())) == local
    pytest.importorskip("fsspec")
    pytest.importorskip("requests")
    with HdfsServer(tmp_path / "served") as hdfs:
        assert found(f"{hdfs.url}/train") == local


TEMPORARY = ["b/x.tmp-0123456789abcdef", "b/x~", "_temporary/0/x", "b/_SUCCESS", "x.incomplete"]


@pytest.mark.parametrize("pattern", ["**", "b/*", "**/x*", ""])
def test_temporary_objects_are_not_shards(server, tmp_path, pattern):
    """Lists from stores, HDFS and filesystems are sifted like local files."""
    fsspec = pytest.importorskip("fsspec")
    folder = tmp_path / "served" / "train"
    shutil.rmtree(folder)
    for name in ["b/x", "label.labels.txt", "y", *TEMPORARY]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with recmap.Writer(folder / "part") as writer:
            writer.write(name.encode())
        (folder / "part").rename(folder / name)

    def found(source, **options):
        index = tmp_path / "a.rmx"
        index.unlink(missing_ok=True)
        options = {"index": index, "progress": None, **options}
        with recmap.open(f"{source}/{pattern}", **options) as ds:
            return sorted(map(bytes, ds))

    local = found(folder)
    assert local and not {name.encode() for name in TEMPORARY} & set(local)
    assert pattern or local == [b"y"]
    assert found("s3://train", storage=recmap.Storage(options=server.options())) == local
    assert found(folder, storage=recmap.Storage(fs=fsspec.filesystem("file"))) == local
    pytest.importorskip("requests")
    with HdfsServer(tmp_path / "served") as hdfs:
        assert found(f"{hdfs.url}/train") == local


def test_keys_with_special_characters_are_encoded(server, tmp_path):
    folder = server.folder / "train" / "a b+c=d%25&ä"
    folder.mkdir()
    shutil.copy(DIGITS / "digits-00000-of-00004.tfrecord", folder / "x#1?.tfrecord")
    source = "s3://train/a b+c=d%25&ä/*"
    ds = recmap.open(
        source, index=tmp_path / "a.rmx", storage=recmap.Storage(options=server.options())
    )
    assert len(ds) == 449 and len(bytes(ds[448])) > 0


@pytest.mark.parametrize("key", ["a/./b", "a/../b", "a//b", "a/b/.."])
def test_parts_of_keys_that_a_path_would_lose_are_kept(key, server, tmp_path):
    with pytest.raises(recmap.FileMissingError):
        recmap.open(
            f"s3://train/none/{key}",
            index=tmp_path / "a.rmx",
            storage=recmap.Storage(options=server.options()),
        )
    assert {path for path, *_ in server.requests} == {f"/train/none/{key}"}


def test_empty_and_compressed_objects(server, tmp_path):
    bucket = server.folder / "train"
    plain = (bucket / "digits-00001-of-00004.tfrecord").read_bytes()
    (bucket / "packed.tfrecord.gz").write_bytes(gzip.compress(plain))
    (bucket / "empty.tfrecord").write_bytes(b"")
    sources = ["s3://train/empty.tfrecord", "s3://train/packed.tfrecord.gz"]
    options = server.options()
    ds = recmap.open(sources, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
    expected = records_of(recmap.open(bucket / "digits-00001-of-00004.tfrecord"))
    assert records_of(ds) == expected
    assert gathered(ds, [5, 448, 7]) == [expected[i] for i in (5, 448, 7)]
    assert ds.verify()["damage"] == []


@pytest.fixture
def noise(server, tmp_path):
    """4 MB of records that do not compress, in one compressed object, and the same as a file."""
    random = np.random.default_rng(9)
    plain = tmp_path / "noise.tfrecord"
    with recmap.Writer(plain) as writer:
        for _ in range(4000):
            writer.write(random.bytes(1000))
    (server.folder / "train" / "noise.tfrecord.gz").write_bytes(gzip.compress(plain.read_bytes()))
    options = server.options()
    url = "s3://train/noise.tfrecord.gz"
    with recmap.open(
        url, index=tmp_path / "packed.rmx", storage=recmap.Storage(options=options)
    ) as ds:
        server.requests.clear()
        yield ds, recmap.open(plain)


def test_a_compressed_span_is_one_request(noise, server):
    ds, local = noise
    assert bytes(ds[2000]) == bytes(local[2000])
    assert len(server.requests) == 1
    first, last = map(int, server.ranges()[0].removeprefix("bytes=").split("-"))
    assert 1 << 20 <= last - first + 1 < 3 << 20
    for threads in (1, 3):
        again = pickle.loads(pickle.dumps(ds))
        server.requests.clear()
        assert gathered(again, range(4000), threads) == records_of(local)
        ranges = [tuple(map(int, r.removeprefix("bytes=").split("-"))) for r in server.ranges()]
        assert 2 <= len(ranges) <= 4 and len(set(ranges)) == len(ranges)
        # The byte in which a span ends is also the first one of the next span.
        size = (server.folder / "train" / "noise.tfrecord.gz").stat().st_size
        assert sum(last - first + 1 for first, last in ranges) <= size + len(ranges)


def test_a_web_server_needs_names(server, tmp_path, local):
    names = [f"{server.url}/train/digits-0000{i}-of-00004.tfrecord" for i in range(4)]
    ds = recmap.open(names, index=tmp_path / "web.rmx")
    assert records_of(ds) == records_of(local)
    with pytest.raises(recmap.InvalidError, match="does not list its files"):
        recmap.open(f"{server.url}/train/*", index=tmp_path / "b.rmx")


# ---- Which places an index may name for its shards.


def test_an_index_moves_between_stores_and_folders(remote, server, local, tmp_path):
    expected = records_of(local)
    assert records_of(recmap.open(remote.index_path, shards=DIGITS)) == expected
    shutil.copytree(server.folder / "train", server.folder / "copy" / "here")
    options = server.options()
    for index in (remote.index_path, local.index_path):
        moved = recmap.open(
            index, shards="s3://copy/here/", storage=recmap.Storage(options=options)
        )
        assert records_of(moved) == expected
    path = server.folder / "copy" / "here" / "digits-00000-of-00004.tfrecord"
    path.write_bytes(path.read_bytes()[::-1])
    moved = recmap.open(
        remote.index_path, shards="s3://copy/here", storage=recmap.Storage(options=options)
    )
    with pytest.raises(recmap.CorruptRecordError, match="restore the whole file"):
        moved[0]


def test_an_index_must_be_trusted_to_name_urls(remote, server):
    with pytest.raises(recmap.InvalidError, match="allow_urls"):
        recmap.open(remote.index_path, storage=recmap.Storage(options=server.options()))
    with recmap.open(
        remote.index_path, storage=recmap.Storage(options=server.options(), allow_urls=True)
    ) as trusted:
        assert bytes(trusted[5]) == bytes(remote[5])


def test_shards_are_appended_and_merged(server, tmp_path, local):
    options, names = (
        server.options(),
        [f"s3://train/digits-0000{i}-of-00004.tfrecord" for i in range(4)],
    )
    recmap.open(names[:2], index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
    ds = recmap.open(names, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
    assert records_of(ds) == records_of(local)
    for i, name in enumerate(names):
        recmap.index(name, tmp_path / f"part{i}.rmx", storage=recmap.Storage(options=options))
    recmap.merge(tmp_path / "b.rmx", [tmp_path / f"part{i}.rmx" for i in range(4)])
    assert (tmp_path / "a.rmx").read_bytes() == (tmp_path / "b.rmx").read_bytes()


def test_link_local_addresses_are_refused(server, tmp_path):
    with pytest.raises(PermissionError, match="link-local"):
        recmap.open("http://169.254.169.254/latest", index=tmp_path / "a.rmx")


@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166:80"])
def test_a_proxy_is_not_asked_for_link_local_addresses(server, tmp_path, host):
    with pytest.raises(PermissionError, match="link-local"):
        recmap.open(
            f"http://{host}/x.tfrecord",
            index=tmp_path / "a.rmx",
            storage=recmap.Storage(options={"proxy": server.url}),
        )
    assert server.requests == []


@pytest.mark.parametrize("source", ["option", "environment"])
def test_everything_is_requested_through_a_proxy(server, local, tmp_path, monkeypatch, source):
    options = {"proxy": server.url} if source == "option" else {}
    if source == "environment":
        monkeypatch.setenv("http_proxy", server.url)
    url = "http://shards.test/train/digits@4.tfrecord"
    with recmap.open(url, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)) as ds:
        assert bytes(ds[1000]) == bytes(local[1000])
    paths = [path for path, _ in server.requests]
    assert len(paths) > 4 and all(path.startswith("http://shards.test/train/") for path in paths)


def test_credentials_are_never_shown(remote, server, tmp_path):
    secret = "SECRET-VALUE"
    options = {"endpoint": server.url, "key": "name", "secret": secret, "token": secret}
    server.faults = [on_object(lambda handler: handler.fail(403, "InvalidAccessKeyId"))] * 10
    with pytest.raises(PermissionError) as caught:
        recmap.open(DIGITS_URL, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
    assert secret not in str(caught.value)
    server.faults = []
    ds = recmap.open(DIGITS_URL, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
    assert secret not in repr(ds) + repr(ds._options)
    assert secret.encode() not in (tmp_path / "a.rmx").read_bytes()
    with pytest.raises(recmap.InvalidError, match="anonymous must be true or false") as caught:
        recmap.open(DIGITS_URL, storage=recmap.Storage(options={"anonymous": secret}))
    assert secret not in str(caught.value)
    with pytest.raises(recmap.InvalidError, match="did you mean 'endpoint'"):
        recmap.open(DIGITS_URL, storage=recmap.Storage(options={"endpiont": "x"}))


def test_a_forked_child_reads_with_connections_of_its_own(remote, local):
    expected = bytes(local[1000])
    assert bytes(remote[1000]) == expected
    child = os.fork()
    if not child:
        os._exit(0 if bytes(remote[1000]) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert bytes(remote[1000]) == expected


def test_a_forked_child_may_have_all_requests_in_flight(server, tmp_path):
    """Calls that other threads of the parent make meanwhile do not limit the child."""
    limit, bucket, options = 32, server.folder / "small", server.options()
    bucket.mkdir()
    for i in range(limit):
        with recmap.Writer(bucket / f"{i:02}.tfrecord") as writer:
            writer.write(b"record")
    recmap.index(
        "s3://small/*.tfrecord", tmp_path / "a.rmx", storage=recmap.Storage(options=options)
    )
    ds = recmap.open(tmp_path / "a.rmx", storage=recmap.Storage(allow_urls=True, options=options))
    arrived, late, complete = [], [], threading.Event()

    def hold(handler):
        with server.lock:
            arrived.append(handler)
            if len(arrived) == 1 + limit:  # of the parent and of the child
                complete.set()
        if not complete.wait(8):  # a request that stalls is repeated after 10 s
            late.append(handler)
        return False

    server.faults = [on_object(hold)] * (1 + limit)
    parent = threading.Thread(target=lambda: ds[0])
    parent.start()
    while not arrived:
        time.sleep(0.01)
    child = os.fork()
    if child == 0:
        os._exit(len(ds.gather(range(limit))))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == limit
    parent.join()
    assert not late
