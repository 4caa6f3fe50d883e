"""Faults of remote stores: those that pass are repeated, wrong replies are refused."""

import gzip
import socket
import time

import numpy as np
import pytest
import recmap
from object_server import (
    etag_of,
    fail_with,
    flip_bit,
    gathered,
    on_object,
    reset,
    unused_port,
)


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


# ---- Faults. A request that failed in a way that passes is repeated.


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
    "other ETag": (other_etag, recmap.StaleIndexError, "the object has changed"),
    "other size": (other_size, recmap.StaleIndexError, "the object has changed"),
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
    "bucket": (
        lambda handler: handler.fail(404, "NoSuchBucket"),
        FileNotFoundError,
        "cannot read the object: there is no such bucket or container .HTTP 404 NoSuchBucket.",
    ),
    "redirect": (
        lambda handler: handler.fail(301, "PermanentRedirect", x_amz_bucket_region="eu-west-1"),
        recmap.StorageError,
        "pass the storage option region=eu-west-1",
    ),
}


def impatient(remote, server):
    """The same data set, with a limit of a second for requests that are repeated."""
    options = server.options(timeout=1)
    return recmap.open(remote.index_path, storage=recmap.Storage(allow_urls=True, options=options))


@pytest.mark.parametrize("fault", REFUSED)
def test_a_wrong_reply_is_refused_by_name(remote, server, fault):
    answer, error, message = REFUSED[fault]
    server.faults = [on_object(answer)] * 1000
    with impatient(remote, server) as ds:
        with pytest.raises(error, match=message) as caught:
            ds.gather([1500, 3])
        assert "s3://train/digits-0000" in str(caught.value) and caught.value.record in (3, 1500)
        with pytest.raises(error, match=message):
            ds[3]


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


REPLACEMENTS = {
    "other records": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "another framing of the same size": lambda data: b"a line of text\n".ljust(len(data), b"\n"),
    "a compressed file": gzip.compress,
    "fewer records": lambda data: data[: len(data) // 2],
}
READERS = {
    "ds[i]": lambda ds: ds[1000],
    "gather": lambda ds: ds.gather([3, 1000, 1001]),
    "parse": lambda ds: ds.parse([1000], {"label": recmap.FixedLen([], "int64")}),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", REPLACEMENTS)
def test_an_object_that_is_replaced_while_it_is_open_is_named(remote, server, name, reader):
    """The error says what to do, and which record of which object is concerned."""
    path = server.folder / "train" / "digits-00002-of-00004.tfrecord"
    assert len(bytes(remote[1000])) > 0
    path.write_bytes(REPLACEMENTS[name](path.read_bytes()))
    with pytest.raises(recmap.StaleIndexError, match="the object has changed") as caught:
        READERS[reader](remote)
    error = caught.value
    assert (error.path, error.record) == (f"s3://train/{path.name}", 1000) and error.offset > 0
    assert "restore the indexed object, or build the index again" in error.advice
    assert "\n" not in error.advice


UNKNOWN = {
    "403": (fail_with(403, "AccessDenied"), PermissionError, "AccessDenied"),
    "token": (fail_with(400, "ExpiredToken"), recmap.StorageError, "renew the credentials"),
    "ranges": (on_object(whole_object), recmap.StorageError, "the server ignores ranges"),
    "shard": (
        on_object(lambda handler: handler.fail(403, "AccessDenied"), "*-00002-*"),
        PermissionError,
        "digits-00002-of-00004",
    ),
}


@pytest.mark.parametrize("fault", UNKNOWN)
@pytest.mark.parametrize("is_view", [False, True])
def test_verify_raises_what_says_nothing_about_a_shard(remote, server, fault, is_view):
    answer, error, message = UNKNOWN[fault]
    with impatient(remote, server) as whole:
        ds = whole[5:1500] if is_view else whole
        server.faults = [answer] * 1000
        with pytest.raises(error, match=message):
            ds.verify()
        server.faults.clear()
        assert ds.verify() == {"records": len(ds), "records_good": len(ds), "damage": []}


def test_verify_raises_that_a_store_cannot_be_reached(remote, server):
    options = {"endpoint": f"http://127.0.0.1:{unused_port()}", "anonymous": True, "timeout": 1}
    with (
        recmap.open(
            remote.index_path, storage=recmap.Storage(allow_urls=True, options=options)
        ) as ds,
        pytest.raises(recmap.StorageError, match="attempts"),
    ):
        ds.verify()


def test_verify_raises_that_there_are_no_credentials(remote, server):
    options = {"endpoint": server.url}
    with (
        recmap.open(
            remote.index_path, storage=recmap.Storage(allow_urls=True, options=options)
        ) as ds,
        pytest.raises(recmap.InvalidError, match="no credentials are configured"),
    ):
        ds.verify()


def test_verify_lists_missing_objects(remote, server):
    (server.folder / "train" / "digits-00002-of-00004.tfrecord").unlink()
    shards = list(remote.shards)
    report = remote.verify()
    assert report["records_good"] == len(remote) - shards[2]["records"]
    (damage,) = report["damage"]
    assert damage["path"] == shards[2]["path"] and "there is no such object" in damage["reason"]
    assert len(remote[5:1500].verify()["damage"]) == shards[2]["records"]


def test_the_doctor_reads_on_around_a_damaged_record(remote, server):
    """The damaged record is the last. Reading all others one by one would take 1,796 requests."""
    name = "digits-00003-of-00004.tfrecord"

    def damage(handler):
        data = bytearray(handler.read_object())
        data[-20] ^= 1
        handler.send_object(data=bytes(data), etag=etag_of(handler.read_object()))

    server.faults = [on_object(damage, f"*{name}")] * 2000
    diagnosis = remote.doctor(threads=1)
    (finding,) = [f for f in diagnosis["findings"] if f["check"] == "damage"]
    assert finding["shard"].endswith(name)
    assert diagnosis["records_read"] == len(remote) - 1
    assert len(server.requests) < 300


def test_a_shard_that_is_gone_does_not_prevent_examining_a_view_of_others(remote, server):
    gone = on_object(fail_with(404, "NoSuchKey"), "*digits-00003-of-00004.tfrecord")
    server.faults = [gone] * 1000
    view = remote[:400]
    diagnosis = view.doctor()
    assert diagnosis["records_read"] == 400


def test_verify_raises_that_there_is_no_space_for_a_copy(remote, server, tmp_path, monkeypatch):
    """A shard that is damaged is copied; nothing can be written to a folder that does not exist."""
    path = server.folder / "train" / "digits-00002-of-00004.tfrecord"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(OSError, match="none"):
        remote.verify()


def test_a_span_that_could_not_be_read_is_requested_again(server, tmp_path):
    shard = server.folder / "train" / "digits-00000-of-00004.tfrecord"
    shard.with_name("a.gz").write_bytes(gzip.compress(shard.read_bytes()))
    options = server.options()
    ds = recmap.open(
        "s3://train/a.gz", index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)
    )
    server.faults = [on_object(fail_with(404, "NoSuchKey"))] * 2
    with pytest.raises(FileNotFoundError):
        ds.gather([3])
    assert len(bytes(ds[3])) > 0


def test_a_server_that_never_recovers_is_an_error_in_time(server, tmp_path):
    server.faults = [fail_with(503)] * 100000
    start = time.monotonic()
    with pytest.raises(recmap.StorageError, match=r"HTTP 503 SlowDown.*attempts"):
        recmap.open(
            f"{server.url}/train/digits-00000-of-00004.tfrecord",
            index=tmp_path / "a.rmx",
            storage=recmap.Storage(options={"timeout": 1}),
        )
    assert time.monotonic() - start < 60
    assert list(tmp_path.glob("a.rmx*")) == []


@pytest.mark.parametrize(("pause", "timeout"), [(20, 3), (3600, 180), (10**12, 86400)])
def test_a_server_that_asks_for_a_long_pause_is_an_error_at_once(server, tmp_path, pause, timeout):
    """The pause would last longer than `timeout`, so the request is not repeated."""
    server.faults = [fail_with(503, Retry_After=str(pause))]
    with pytest.raises(recmap.StorageError, match="HTTP 503 SlowDown"):
        recmap.open(
            f"{server.url}/train/digits-00000-of-00004.tfrecord",
            index=tmp_path / "a.rmx",
            storage=recmap.Storage(options={"timeout": timeout}),
        )
    assert len(server.requests) == 1
