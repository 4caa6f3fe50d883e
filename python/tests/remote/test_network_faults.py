"""Every fault of a network and a server that docs/reference/reliability.md lists, one row each.

A proxy injects the fault. The oracle is the same data set, read locally: the same records and the
same index, or the error that the row names. No message contains a credential, no file is left, and
the data set reads on as soon as the fault is gone. RECMAP_TEST_LONG=1 adds the rows that wait for a
time limit of recmap.
"""

from __future__ import annotations

import gzip
import os
import random
import threading
from dataclasses import dataclass

import numpy as np
import pytest
import recmap
from fault_proxy import (
    FOREVER,
    Client,
    Fault,
    FaultProxy,
    Request,
    adding,
    check_message,
    chunked,
    cut_slowly,
    dripping,
    ending,
    ending_in_head,
    failing,
    flipping,
    followed_by,
    late,
    preceded_by,
    raw,
    redirecting,
    resizing,
    setting,
    stalling,
    unsized,
)
from network_helpers import SHARD
from object_server import DIGITS_URL, unused_port

IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))


pytestmark = pytest.mark.usefixtures("watchdog")


@pytest.fixture
def index(remote):
    """Built without faults."""
    return remote.index_path


# ---- Faults that pass: the results are the same as without them.

PASSING = {
    # delays
    "the reply comes late": late(0.1),
    "the reply arrives in many pieces": dripping(20, 0.001),
    # connections that end
    "reset before the reply": ending(Client.reset),
    "reset in the head": ending_in_head(Client.reset),
    "reset in the body": ending(Client.reset, 0.5),
    "closed before the reply": ending(Client.close),
    "closed in the head": ending_in_head(Client.close),
    "closed after the head": ending(Client.close, 0),
    "closed in the body": ending(Client.close, 0.7),
    "closed before the last byte": ending(Client.close, 1),
    "a body without length is cut": unsized(lambda body: body[: len(body) // 2]),
    "a body in chunks is cut": chunked(is_complete=False),
    # replies of a server that is busy
    "408": failing(408, "RequestTimeout"),
    "429": failing(429, "TooManyRequests"),
    "429 with Retry-After": failing(429, "TooManyRequests", Retry_After="1"),
    "500": failing(500, "InternalError"),
    "502": failing(502),
    "503": failing(503, "SlowDown"),
    "503 with a date in Retry-After": failing(503, Retry_After="Fri, 31 Dec 1999 23:59:59 GMT"),
    "503 with garbage in Retry-After": failing(503, Retry_After="-1e9, soon"),
    "503 without a body": failing(503) | resizing(lambda body: b""),
    "504": failing(504, "GatewayTimeout"),
    # unusual replies that are right
    "a good reply in chunks": chunked(),
    "a good reply without length": unsized(),
    "the connection ends after the reply": setting("Connection", "close"),
    "bytes follow the reply": followed_by(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"),
    "headers in another order": Fault(lambda request, reply: reply.headers.reverse()),
    "headers in lower case": Fault(
        lambda request, reply: reply.headers.__setitem__(
            slice(None), [(name.lower(), value) for name, value in reply.headers]
        )
    ),
    "many more headers": adding(*[(f"X-{i}", "x" * 100) for i in range(100)]),
    "a header with bytes that are not text": adding(("X-Bytes", "\x01\x80\xff")),
    "interim replies": preceded_by(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nETag: x\r\nLink: </x>\r\n\r\n"
    ),
    "a flipped bit in a payload": flipping(-6),
    "a flipped bit in a length": flipping(3),
    "headers twice": Fault(lambda request, reply: reply.headers.extend(list(reply.headers))),
}


BUSY_REPLIES = [name for name in PASSING if name[0] in "45"]


def read_both_ways(ds, plan):
    """What two calls return, each of which meets the fault that `plan` plans."""
    numbers = np.random.default_rng(6).permutation(len(ds))[:60]
    plan()
    found = [bytes(record) for record in ds.gather(numbers)]
    plan()
    order = recmap.Shuffled(len(ds), seed=3)
    with recmap.Loader(ds, order=order, batch_size=512, epochs=1, threads=1) as loader:
        found += [[bytes(record) for record in batch] for batch in loader]
        found.append(loader.state_dict())
    return found


@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_passes_changes_nothing(proxy, index, local, scratch, name):
    def plan():
        if "Retry-After" not in name or not proxy.plans:  # one pause is enough
            proxy.plan(PASSING[name], 2)

    options = proxy.options()
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        assert read_both_ways(ds, plan) == read_both_ways(local, lambda: None)
    assert proxy.used() == 2 * len(proxy.plans)


def labels_of(ds):
    spec = {"label": recmap.FixedLen([], "int64")}
    return np.asarray(ds.parse([3, 200], spec)["label"]).tolist()


def batches_of(ds):
    with recmap.Loader(ds, 100, epochs=1, shuffle=True, seed=3) as loader:
        return [[bytes(record) for record in batch] for batch in loader]


READERS = {
    "ds[i]": lambda ds: bytes(ds[200]),
    "gather": lambda ds: [bytes(record) for record in ds.gather([3, 200, 201])],
    "gather on threads": lambda ds: [bytes(r) for r in ds.gather(range(len(ds)), threads=4)],
    "parse": labels_of,
    "Loader": batches_of,
}


@pytest.mark.parametrize("name", READERS)
def test_a_bit_that_flips_in_a_compressed_shard_is_requested_again(
    proxy, server, tmp_path, scratch, name
):
    shard = server.folder / "train" / SHARD
    shard.with_name(f"{SHARD}.gz").write_bytes(gzip.compress(shard.read_bytes()))
    index = recmap.index(
        f"s3://train/{SHARD}.gz",
        tmp_path / "a.rmx",
        storage=recmap.Storage(options=server.options()),
    )
    with recmap.open(
        index, storage=recmap.Storage(allow_urls=True, options=server.options())
    ) as ds:
        expected = READERS[name](ds)
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=proxy.options())) as ds:
        proxy.plan(flipping(5000))
        assert READERS[name](ds) == expected
    assert proxy.used() == 1


def test_a_store_that_refuses_a_compressed_shard_is_not_asked_again_at_once(
    proxy, server, tmp_path, scratch
):
    """A batch asks once for a span, and once more to find out which record is the first bad one."""
    shard = server.folder / "train" / SHARD
    shard.with_name(f"{SHARD}.gz").write_bytes(gzip.compress(shard.read_bytes()))
    index = recmap.index(
        f"s3://train/{SHARD}.gz",
        tmp_path / "a.rmx",
        storage=recmap.Storage(options=server.options()),
    )
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=proxy.options())) as ds:
        proxy.plan(failing(403, "AccessDenied"), 4)
        with pytest.raises(recmap.StorageError):
            ds.gather([5])
    assert proxy.used() == 2


def test_delays_with_a_tail_change_nothing(proxy, index, local):
    """Most replies are a little late, and some very much."""
    source = random.Random(5)
    proxy.choose = lambda request: late(0.4 if source.random() < 0.03 else 0.005)
    options = proxy.options()
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        assert read_both_ways(ds, lambda: None) == read_both_ways(local, lambda: None)


@pytest.mark.parametrize(
    "name", [name for name in PASSING if name not in BUSY_REPLIES[1:] and "flipped" not in name]
)
def test_a_fault_that_passes_does_not_change_the_index(proxy, index, tmp_path, scratch, name):
    proxy.plan(PASSING[name], where=follows_the_first)
    proxy.plan(PASSING[name], where=Request.is_listing)
    recmap.index(
        DIGITS_URL,
        tmp_path / "b.rmx",
        id="id",
        storage=recmap.Storage(options=proxy.options()),
        progress=None,
    )
    assert proxy.used() == 2
    with open(index, "rb") as one, open(tmp_path / "b.rmx", "rb") as other:
        assert one.read() == other.read()


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_bit_that_flips_during_indexing_is_requested_again(
    proxy, server, tmp_path, scratch, threads, is_packed
):
    """The index is that of a run without the fault. Only a compressed shard is copied."""
    name = SHARD
    if is_packed:
        name += ".gz"
        data = (server.folder / "train" / SHARD).read_bytes()
        (server.folder / "train" / name).write_bytes(gzip.compress(data))
    options = {"storage": recmap.Storage(options=proxy.options()), "threads": threads}
    recmap.index(f"s3://train/{name}", tmp_path / "a.rmx", **options)
    proxy.plan(flipping(-6), where=follows_the_first)
    recmap.index(f"s3://train/{name}", tmp_path / "b.rmx", **options)
    assert proxy.used() == 1
    assert (tmp_path / "a.rmx").read_bytes() == (tmp_path / "b.rmx").read_bytes()


def test_a_bit_that_flips_every_time_is_damage(proxy, tmp_path, scratch):
    proxy.plan(flipping(-6), 3, where=follows_the_first)
    with pytest.raises(recmap.CorruptRecordError, match="data CRC is"):
        recmap.index(
            f"s3://train/{SHARD}",
            tmp_path / "b.rmx",
            storage=recmap.Storage(options=proxy.options()),
        )
    assert list(tmp_path.glob("b.rmx*")) == []


def test_sound_shards_are_indexed_without_a_copy(server, tmp_path, monkeypatch):
    """A folder for temporary files that does not exist: nothing is written to it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    name = SHARD.replace(".tfrecord", ".tfrecord.gz")
    data = (server.folder / "train" / SHARD).read_bytes()
    (server.folder / "train" / name).write_bytes(gzip.compress(data))
    for shard in (SHARD, name):
        index = recmap.index(
            f"s3://train/{shard}",
            tmp_path / "a.rmx",
            storage=recmap.Storage(options=server.options()),
        )
        with recmap.open(
            index, storage=recmap.Storage(allow_urls=True, options=server.options())
        ) as ds:
            assert ds.verify()["damage"] == []
    (server.folder / "train" / SHARD).write_bytes(data[:100] + b"x" + data[101:])
    with pytest.raises(OSError, match="none"):
        recmap.index(
            f"s3://train/{SHARD}",
            tmp_path / "b.rmx",
            storage=recmap.Storage(options=server.options()),
        )


@pytest.mark.parametrize("removed", [[], ["ETag", "Last-Modified"]])
def test_the_time_of_a_healthy_transfer_does_not_count(proxy, tmp_path, scratch, removed):
    """A reply is cut after longer than `timeout`, also one of which no byte is kept."""
    kept, cuts = Fault(), []
    for header in removed:
        kept |= setting(header, None)

    def choose(request):
        return kept | (cuts.pop() if cuts and follows_the_first(request) else Fault())

    def build(name):
        options = {"storage": recmap.Storage(options=proxy.options(timeout=1))}
        recmap.index(f"s3://train/{SHARD}", tmp_path / name, **options)
        return (tmp_path / name).read_bytes()

    proxy.choose = choose
    expected = build("a.rmx")
    cuts.append(cut_slowly(1.5))
    assert build("b.rmx") == expected
    assert cuts == []


def follows_the_first(request):
    """All requests of indexing after those that find out size and compression."""
    return request.is_object() and int(request.headers["Range"].split("-")[1]) > 15


# ---- Faults that last: errors.


@dataclass(frozen=True)
class Row:
    fault: Fault
    error: type
    message: str
    timeout: int = 20
    is_odd: bool = False


def other_range(change):
    """Shifts the first or last byte in Content-Range."""

    def edit(value):
        span, total = value.removeprefix("bytes ").split("/")
        first, last = map(int, span.split("-"))
        first, last = change(first, last)
        return f"bytes {first}-{last}/{total}"

    return setting("Content-Range", edit)


def whole_object(request, reply):
    reply.status, reply.reason = 200, "OK"
    reply.remove("Content-Range")
    reply.body *= 3
    reply.replace("Content-Length", str(len(reply.body)))


NO_CONTENT = failing(204) | resizing(lambda _: b"")


UNUSABLE = recmap.StorageError


STALE = recmap.StaleIndexError


BUSY = "the server is busy or has failed"


# Replies that do not answer the request: name: (fault, message if it lasts).
ODD = {
    # wrong ranges and lengths
    "another range": (
        other_range(lambda first, last: (first + 1, last + 1)),
        "another range than the requested one",
    ),
    "a shorter range": (
        other_range(lambda first, last: (first, last - 1)),
        "another range than the requested one",
    ),
    "a longer range": (
        other_range(lambda first, last: (first, last + 1)),
        "another range than the requested one",
    ),
    "the whole object": (Fault(whole_object), "the server ignores ranges"),
    "a range with the status of a whole object": (
        Fault(lambda request, reply: setattr(reply, "status", 200)),
        "sends a range as if it were the object",
    ),
    "no Content-Range": (setting("Content-Range", None), "does not say which range it sends"),
    "several ranges": (
        setting("Content-Range", None)
        | setting("Content-Type", "multipart/byteranges; boundary=x")
        | resizing(lambda body: b"--x\r\n\r\n" + body + b"\r\n--x--\r\n"),
        "does not say which range it sends",
    ),
    "a Content-Range that is not a range": (
        setting("Content-Range", "bytes 9-3/1"),
        "headers cannot be understood",
    ),
    "a Content-Range of 20 digits": (
        setting("Content-Range", "bytes 0-9/99999999999999999999"),
        "headers cannot be understood",
    ),
    "a longer body": (resizing(lambda body: body + b"x"), "length does not match its range"),
    "a shorter body": (resizing(lambda body: body[:-1]), "length does not match its range"),
    "a longer body without length": (
        unsized(lambda body: body + b"x"),
        "sends more bytes than it announced",
    ),
    # headers that contradict each other
    "two ranges": (adding(("Content-Range", "bytes 0-9/100")), "headers cannot be understood"),
    "two lengths": (adding(("Content-Length", "3")), "."),
    "two ETags": (adding(("ETag", '"another"')), "headers cannot be understood"),
    "no ETag": (setting("ETag", None), r"(?s)no longer sends an ETag.*let the server send ETags"),
    "204": (NO_CONTENT, r"(?s)neither what was requested nor an error.*check the URL"),
    "a page for people": (
        setting("Content-Range", None)
        | setting("ETag", None)
        | setting("Content-Type", "text/html")
        | Fault(lambda request, reply: setattr(reply, "status", 200))
        | resizing(lambda body: b"<html><body>Please sign in</body></html>"),
        "the server ignores ranges",
    ),
}


LASTING = {
    **{name: Row(fault, UNUSABLE, message, 1, True) for name, (fault, message) in ODD.items()},
    "a content encoding": Row(
        setting("Content-Encoding", "gzip"), UNUSABLE, "stored with a content encoding"
    ),
    # another object
    "another ETag": Row(setting("ETag", '"another"'), STALE, "the object has changed"),
    "a weak ETag": Row(setting("ETag", lambda tag: f"W/{tag}"), STALE, "the object has changed"),
    "another size": Row(
        setting("Content-Range", lambda value: value + "0"), STALE, "the object has changed"
    ),
    "412": Row(failing(412, "PreconditionFailed"), STALE, "the object has changed"),
    "416": Row(failing(416, "InvalidRange"), STALE, "the object is shorter"),
    # refusals
    "400": Row(failing(400, "BadRequest"), UNUSABLE, r"refuses the request \(HTTP 400 BadRequest"),
    "401": Row(failing(401), PermissionError, r"access was denied \(HTTP 401"),
    "403": Row(failing(403, "AccessDenied"), PermissionError, r"denied \(HTTP 403 AccessDenied"),
    "a wrong signature": Row(
        failing(403, "SignatureDoesNotMatch"), PermissionError, "SignatureDoesNotMatch"
    ),
    "an expired token": Row(failing(400, "ExpiredToken"), UNUSABLE, "renew the credentials"),
    "a clock that is wrong": Row(
        failing(403, "RequestTimeTooSkewed"), PermissionError, "set this machine's clock"
    ),
    "404": Row(failing(404, "NoSuchKey"), FileNotFoundError, r"no such object \(HTTP 404 NoSuch"),
    "410": Row(failing(410), FileNotFoundError, r"no such object \(HTTP 410"),
    "another region": Row(
        failing(301, "PermanentRedirect", X_Amz_Bucket_Region="eu-north-1"),
        UNUSABLE,
        "region=eu-north-1",
    ),
    "a redirect of a signed request": Row(
        redirecting("http://127.0.0.1:1/?X-Amz-Signature=HIDDEN", 307),
        UNUSABLE,
        "(?s)the server redirects the request.*the object may have moved",
    ),
    # garbage
    "bytes that are not HTTP": Row(raw(b"SSH-2.0-OpenSSH_9.2\r\n" + bytes(100)), UNUSABLE, "."),
    "a reply of HTTP/0.9": Row(raw(b"<html>hello</html>\n"), UNUSABLE, "."),
    "a reply of HTTP/2": Row(raw(b"\0\0\x12\4\0\0\0\0\0" + bytes(18)), UNUSABLE, "."),
    "headers without end": Row(adding(("X-Long", "x" * 400_000)), UNUSABLE, ".", 1),
    # nothing but damage
    "a flipped bit in a payload": Row(flipping(-6), recmap.CorruptRecordError, "data CRC is"),
    "a flipped bit in a length": Row(flipping(3), recmap.CorruptRecordError, "."),
    # a server that does not recover
    "always 503": Row(failing(503, "SlowDown"), UNUSABLE, f"{BUSY}.*after .* attempts", 1),
    "always reset": Row(ending(Client.reset), UNUSABLE, "after .* attempts", 1),
    "always cut": Row(ending(Client.close, 0), UNUSABLE, "after .* attempts", 1),
    "a pause of a minute": Row(failing(503, Retry_After="60"), UNUSABLE, f"{BUSY} .HTTP 503.", 2),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_reply_that_passes_changes_nothing(proxy, index, local, scratch, name):
    options = proxy.options()
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        found = read_both_ways(ds, lambda: proxy.plan(ODD[name][0], 2))
        assert found == read_both_ways(local, lambda: None)
    assert proxy.used() == 2 * len(proxy.plans)


# The first request asks for the ETag: without one, its reply is like any other.
ODD_WHILE_INDEXING = [(name, follows_the_first) for name in ODD] + [
    (name, Request.is_object) for name in ODD if "ETag" not in name
]


@pytest.mark.parametrize(("name", "where"), ODD_WHILE_INDEXING)
def test_an_odd_reply_that_passes_does_not_change_the_index(
    proxy, index, tmp_path, scratch, name, where
):
    proxy.plan(ODD[name][0], 2, where=where)
    recmap.index(
        DIGITS_URL,
        tmp_path / "b.rmx",
        id="id",
        storage=recmap.Storage(options=proxy.options()),
        progress=None,
    )
    with open(index, "rb") as one, open(tmp_path / "b.rmx", "rb") as other:
        assert one.read() == other.read()


def empty_reply(request, reply):
    whole_object(request, reply)
    reply.body = b""
    reply.replace("Content-Length", "0")


def test_an_empty_reply_does_not_make_an_empty_shard(proxy, server, index, tmp_path, scratch):
    """Only if it is said twice: there are empty shards too."""
    proxy.plan(Fault(empty_reply), 1)
    options = {"storage": recmap.Storage(options=proxy.options())}
    recmap.index(DIGITS_URL, tmp_path / "b.rmx", id="id", **options)
    with open(index, "rb") as one, open(tmp_path / "b.rmx", "rb") as other:
        assert one.read() == other.read()
    proxy.plan(Fault(empty_reply), FOREVER)
    with recmap.open(f"s3://train/{SHARD}", index=tmp_path / "c.rmx", **options) as ds:
        assert len(ds) == 0


# Nobody waits for `timeout` to learn that a server cannot be used: these tests would take an hour.


@pytest.mark.parametrize("name", [name for name in ODD if "ETag" not in name])
def test_a_server_that_never_served_is_given_up_early(proxy, tmp_path, scratch, name):
    proxy.plan(ODD[name][0], FOREVER)
    options = proxy.options(timeout=3600)
    with pytest.raises(recmap.StorageError, match="after 3 attempts"):
        recmap.open(
            f"s3://train/{SHARD}", index=tmp_path / "c.rmx", storage=recmap.Storage(options=options)
        )
    assert len(proxy.requests) == 3


def test_a_store_that_lists_but_has_no_ranges_is_given_up_early(proxy, tmp_path, scratch):
    proxy.plan(Fault(whole_object), FOREVER)
    options = proxy.options(timeout=3600)
    with pytest.raises(recmap.StorageError, match=r"ignores ranges.*, after 3 attempts"):
        recmap.index(
            DIGITS_URL, tmp_path / "c.rmx", storage=recmap.Storage(options=options), threads=1
        )
    assert any(request.is_listing() for request in proxy.requests)


def check_failure(caught, row, shard="s3://train/digits-0000"):
    check_message(caught.value)
    assert shard in str(caught.value)


@pytest.mark.parametrize("name", LASTING)
def test_a_fault_that_lasts_is_an_error(proxy, index, local, scratch, name):
    row = LASTING[name]
    options = proxy.options(timeout=row.timeout)
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        proxy.plan(row.fault, FOREVER)
        with pytest.raises(row.error, match=row.message) as caught:
            ds.gather([1500])
        check_failure(caught, row)
        assert caught.value.record == 1500
        if row.timeout > 2:
            with recmap.Loader(ds, 8, threads=1) as loader, pytest.raises(row.error):
                next(iter(loader))
        proxy.clear()
        assert bytes(ds[1500]) == bytes(local[1500])


# All of the shard is one range: with the status of a whole object, the reply is right.
LASTING_WHILE_INDEXING = [
    name
    for name, row in LASTING.items()
    if (row.timeout != 1 or row.is_odd) and name != "a range with the status of a whole object"
]


@pytest.mark.parametrize("name", LASTING_WHILE_INDEXING)
def test_a_fault_that_lasts_leaves_no_index(proxy, server, tmp_path, scratch, name):
    row = LASTING[name]
    proxy.plan(row.fault, FOREVER, where=follows_the_first)
    with pytest.raises(recmap.Error) as caught:
        recmap.index(
            f"s3://train/{SHARD}",
            tmp_path / "b.rmx",
            storage=recmap.Storage(options=proxy.options(timeout=row.timeout)),
            progress=None,
        )
    check_failure(caught, row, SHARD)
    assert list(tmp_path.glob("b.rmx*")) == []


def test_a_read_that_fails_is_not_repeated(proxy, index, local):
    """The error is that of the first request, even if a second one would succeed."""
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=proxy.options())) as ds:
        proxy.plan(failing(404, "NoSuchKey"))
        with pytest.raises(FileNotFoundError, match="record 3 "):
            ds[3]
        assert len(proxy.requests) == 1
        assert bytes(ds[3]) == bytes(local[3])


# ---- A server that ends.


def test_a_server_that_ends_and_comes_back(server, index, local):
    with FaultProxy(server.url) as proxy:
        ds = recmap.open(
            index, storage=recmap.Storage(allow_urls=True, options=proxy.options(timeout=100))
        )
        assert bytes(ds[3]) == bytes(local[3])
    successor = []

    def start():
        successor.append(FaultProxy(server.url, port=proxy.server_address[1]).__enter__())

    timer = threading.Timer(5 if IS_LONG else 0.5, start)
    timer.start()
    try:
        numbers = range(0, len(ds), 100)
        expected = [bytes(record) for record in local.gather(numbers)]
        assert [bytes(record) for record in ds.gather(numbers)] == expected
    finally:
        timer.join()
        ds.close()
        for proxy in successor:
            proxy.__exit__()


def test_a_closed_port_is_given_up_early(tmp_path):
    url = f"http://127.0.0.1:{unused_port()}/{SHARD}"
    with pytest.raises(recmap.StorageError, match="after 5 attempts") as caught:
        recmap.open(
            url, index=tmp_path / "a.rmx", storage=recmap.Storage(options={"timeout": 3600})
        )
    assert caught.value.path == url and "check the host and the port" in caught.value.advice


def test_a_server_that_ends_is_tried_until_timeout(server, index):
    """Five attempts would take 1.5 seconds at most."""
    with FaultProxy(server.url) as proxy:
        ds = recmap.open(
            index, storage=recmap.Storage(allow_urls=True, options=proxy.options(timeout=2))
        )
        ds[3]
    with ds, pytest.raises(recmap.StorageError) as caught:
        ds[1500]
    assert "the storage option timeout" in caught.value.advice


# ---- Time limits of recmap: 10 s without bytes.

STALLS = {
    "before the reply": stalling(),
    "in the head": ending_in_head(lambda client: client.wait_until_closed(100)),
    "in the body": stalling(0.5),
    "a few bytes a second": dripping(100, 1),
}


@pytest.mark.skipif(not IS_LONG, reason="RECMAP_TEST_LONG is not set")
@pytest.mark.parametrize("name", STALLS)
def test_a_reply_that_stalls_is_requested_again(proxy, index, local, name):
    options = proxy.options(timeout=15)
    with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        proxy.plan(STALLS[name])
        assert bytes(ds[3]) == bytes(local[3])
        proxy.plan(STALLS[name], FOREVER)
        with pytest.raises(recmap.StorageError, match=r"after .* attempts") as caught:
            ds[3]
        check_message(caught.value)
