"""Files of HDFS, by WebHDFS. The oracle is the same data set, read locally."""

import os
import pickle
import shutil
import socket
import threading
from urllib.parse import parse_qs

import numpy as np
import pytest
import recmap
from conftest import DIGITS
from hdfs_server import BLOCK_TOKEN, HdfsServer, fail_with
from object_server import gathered, only_if, records_of, reset

TOKEN = "HAAEYWxpY2U+/secret"


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


@pytest.fixture
def hdfs(tmp_path):
    folder = tmp_path / "hdfs"
    shutil.copytree(DIGITS, folder / "data" / "train")
    with HdfsServer(folder) as server:
        skip_without_urls(server)
        yield server


def skip_without_urls(server):
    try:
        recmap.open(f"{server.url}/none/*", index="/does/not/exist.rmx", progress=None)
    except recmap.UnsupportedError:
        pytest.skip("this build of recmap has no support for URLs")
    except FileNotFoundError:
        server.namenode.requests.clear()


@pytest.fixture
def on_hdfs(hdfs, tmp_path):
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    options = {"id": "id", "index": tmp_path / "hdfs.rmx", "progress": None}
    with recmap.open(source, **options) as ds:
        hdfs.namenode.requests.clear()
        hdfs.datanode.requests.clear()
        yield ds


def reset_connection(handler):
    reset(handler)
    return True


def paths_of(node):
    return [path for path, _ in node.requests]


def test_everything_reads_as_from_files(on_hdfs, digits, hdfs):
    assert on_hdfs.fingerprint == digits.fingerprint
    assert records_of(on_hdfs) == records_of(digits)
    numbers = np.random.default_rng(1).permutation(len(digits))[:500]
    assert gathered(on_hdfs, numbers) == gathered(digits, numbers)
    assert on_hdfs.find("digit-01234") == 1234
    assert on_hdfs.verify()["damage"] == []
    shard = next(iter(on_hdfs.shards))
    assert shard["path"] == f"{hdfs.url}/data/train/digits-00000-of-00004.tfrecord"


def test_a_loader_gives_the_batches_of_the_local_one(on_hdfs, digits):
    def batches(ds):
        with recmap.Loader(ds, 64, shuffle=True, seed=3, epochs=1, threads=2) as loader:
            return [[bytes(record) for record in batch] for batch in loader]

    assert batches(on_hdfs) == batches(digits)


def test_a_record_is_read_from_the_datanode(on_hdfs, digits, hdfs):
    again = pickle.loads(pickle.dumps(on_hdfs))
    assert hdfs.namenode.requests == []
    assert bytes(again[1000]) == bytes(digits[1000])
    size = len(digits[1000]) + 16
    (read,) = paths_of(hdfs.datanode)
    assert f"length={size}&" in read and "namenoderpcaddress" in read
    operations = [path.partition("op=")[2].partition("&")[0] for path in paths_of(hdfs.namenode)]
    assert operations == ["GETFILESTATUS", "OPEN"]
    bytes(again[1001])
    assert len(hdfs.namenode.requests) == 3  # the status is asked for once


def test_httpfs_answers_without_a_redirect(on_hdfs, digits, hdfs):
    hdfs.namenode.redirects = False
    assert gathered(on_hdfs, [5, 1700, 900]) == gathered(digits, [5, 1700, 900])
    assert hdfs.datanode.requests == []


# ---- Folders and patterns.


def find_names(pattern, hdfs, tmp_path):
    with recmap.open(f"{hdfs.url}{pattern}", index=tmp_path / "found.rmx", progress=None) as ds:
        found = [shard["path"].removeprefix(hdfs.url) for shard in ds.shards]
    (tmp_path / "found.rmx").unlink()
    return found


def listings_of(node):
    """The folder, the operation and the start of each request for a list."""
    found = []
    for path in paths_of(node):
        folder, _, query = path.removeprefix("/webhdfs/v1").partition("?")
        values = {name: value[0] for name, value in parse_qs(query).items()}
        if values["op"].startswith("LISTSTATUS"):
            found.append((folder, values["op"], values.get("startAfter")))
    return found


@pytest.mark.parametrize("page_size", [1, 2, 1000, None])
def test_folders_and_patterns(hdfs, tmp_path, page_size):
    hdfs.namenode.page_size = page_size
    root = hdfs.namenode.folder
    shard = DIGITS / "digits-00000-of-00004.tfrecord"
    for name in (
        "data/a/x.tfrecord",
        "data/b/x.tfrecord",
        "data/b/deep/er/x.tfrecord",
        "data/b/.hidden.tfrecord",
        "other/x.tfrecord",
        "a b+c=d%25&ä/x#1?.tfrecord",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shard, root / name)
    (root / "data/b/_SUCCESS").touch()
    assert find_names("/data/b/", hdfs, tmp_path) == ["/data/b/x.tfrecord"]
    assert find_names("/data/b/*", hdfs, tmp_path)[-1] == "/data/b/x.tfrecord"
    assert find_names("/data/[ab]/x*", hdfs, tmp_path) == [
        "/data/a/x.tfrecord",
        "/data/b/x.tfrecord",
    ]
    assert find_names("/data/**/x.tfrecord", hdfs, tmp_path) == [
        "/data/a/x.tfrecord",
        "/data/b/deep/er/x.tfrecord",
        "/data/b/x.tfrecord",
    ]
    assert find_names("/*/x.tfrecord", hdfs, tmp_path) == ["/other/x.tfrecord"]
    assert find_names("/a b+c=d%25&ä/*", hdfs, tmp_path) == ["/a b+c=d%25&ä/x#1?.tfrecord"]
    assert len(find_names("/data/train/digits@4.tfrecord", hdfs, tmp_path)) == 4
    with pytest.raises(FileNotFoundError, match="no object matches"):
        find_names("/data/a/none*", hdfs, tmp_path)


def test_only_folders_that_can_match_are_listed(hdfs, tmp_path):
    for name in ("a/1/x", "b/2/x", "b/3/deep"):
        (hdfs.namenode.folder / "data" / name).mkdir(parents=True)
    with pytest.raises(FileNotFoundError):
        find_names("/data/b/*/x*.tfrecord", hdfs, tmp_path)
    listed = [path.partition("?")[0] for path in paths_of(hdfs.namenode)]
    assert listed == [f"/webhdfs/v1/data/b{rest}" for rest in ("/", "/2/", "/3/")]


def test_a_folder_of_many_files(hdfs, tmp_path):
    """Pages begin after the last name of the preceding one, whatever is in it."""
    folder = hdfs.namenode.folder / "many"
    folder.mkdir()
    for number in range(2990):
        (folder / f"{number:04d} &?=%ä").touch()
    shard = DIGITS / "digits-00000-of-00004.tfrecord"
    for name in ("0500.tfrecord", "1000.tfrecord", "ä.tfrecord"):
        shutil.copy(shard, folder / name)
    names = [f"/many/{name}.tfrecord" for name in ("0500", "1000", "ä")]
    assert find_names("/many/*.tfrecord", hdfs, tmp_path) == names
    listings = listings_of(hdfs.namenode)
    assert [operation for _, operation, _ in listings] == ["LISTSTATUS_BATCH"] * 3
    assert listings[0][2] is None and listings[2][2].endswith(" &?=%ä")


@pytest.mark.parametrize("answer", ["IllegalArgumentException", "UnsupportedOperationException"])
def test_old_servers_are_asked_for_pages_once(answer, hdfs, tmp_path):
    hdfs.namenode.page_size = None
    hdfs.namenode.unknown = answer
    shard = DIGITS / "digits-00000-of-00004.tfrecord"
    for name in ("a", "b"):
        (hdfs.namenode.folder / "data" / name).mkdir()
        shutil.copy(shard, hdfs.namenode.folder / "data" / name / "x.tfrecord")
    assert len(find_names("/data/*/x.tfrecord", hdfs, tmp_path)) == 2
    assert [listing[:2] for listing in listings_of(hdfs.namenode)] == [
        ("/data/", "LISTSTATUS_BATCH"),
        ("/data/", "LISTSTATUS"),
        ("/data/a/", "LISTSTATUS"),
        ("/data/b/", "LISTSTATUS"),
        ("/data/train/", "LISTSTATUS"),
    ]


def on_later_page(fault):
    """The fault, only for pages of lists after the first."""

    def is_later(handler):
        return handler.query["op"] == "LISTSTATUS_BATCH" and "startAfter" in handler.query

    return only_if(is_later, fault)


@pytest.mark.parametrize("fault", [fail_with("RetriableException"), reset_connection])
def test_faults_between_pages_that_pass(fault, hdfs, tmp_path):
    hdfs.namenode.page_size = 2
    hdfs.namenode.faults = [on_later_page(fault)]
    assert len(find_names("/data/train/digits-*.tfrecord", hdfs, tmp_path)) == 4
    assert hdfs.namenode.faults == []


def test_a_list_is_not_completed_by_another_operation(hdfs, tmp_path):
    """A server that knows pages, and then refuses one, has no complete list."""
    hdfs.namenode.page_size = 2
    hdfs.namenode.faults = [on_later_page(fail_with("IllegalArgumentException"))] * 9
    with pytest.raises(recmap.StorageError, match="HTTP 400 IllegalArgumentException"):
        find_names("/data/train/digits-*.tfrecord", hdfs, tmp_path)
    assert {operation for _, operation, _ in listings_of(hdfs.namenode)} == {"LISTSTATUS_BATCH"}


def same_page(handler):
    """A fault: the first page, whichever is requested."""
    handler.query.pop("startAfter", None)
    handler.list_page()
    return True


def empty_page(handler):
    listing = {"partialListing": {"FileStatuses": {"FileStatus": []}}, "remainingEntries": 2}
    handler.answer_json(200, {"DirectoryListing": listing})
    return True


@pytest.mark.parametrize("fault", [same_page, empty_page])
def test_pages_without_end_are_errors(fault, hdfs, tmp_path):
    hdfs.namenode.page_size = 2
    hdfs.namenode.faults = [on_later_page(fault)] * 50
    with pytest.raises(recmap.StorageError, match="cannot be understood"):
        find_names("/data/train/digits-*.tfrecord", hdfs, tmp_path)
    assert len(listings_of(hdfs.namenode)) == 2


# ---- Users and tokens.


def test_a_token_reaches_the_namenode_only(hdfs, digits, tmp_path):
    hdfs.namenode.token = TOKEN
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    options = {"delegation": TOKEN, "user": "alice"}
    ds = recmap.open(source, index=tmp_path / "a.rmx", storage_options=options, progress=None)
    assert bytes(ds[700]) == bytes(digits[700])
    assert all("HAAEYWxpY2U%2B%2Fsecret" in path for path in paths_of(hdfs.namenode))
    assert not any("user.name" in path for path in paths_of(hdfs.namenode))
    assert all(f"delegation={BLOCK_TOKEN}" in path for path in paths_of(hdfs.datanode))
    assert b"secret" not in (tmp_path / "a.rmx").read_bytes()
    assert "secret" not in repr(ds)


def test_a_wrong_token_is_not_quoted(hdfs, tmp_path):
    hdfs.namenode.token = "another"
    options = {"delegation": TOKEN}
    source = f"{hdfs.url}/data/train/digits-00000-of-00004.tfrecord"
    with pytest.raises(PermissionError, match=r"HTTP 403 InvalidToken") as error:
        recmap.open(source, index=tmp_path / "a.rmx", storage_options=options, progress=None)
    assert "options user and delegation" in str(error.value) and "secret" not in str(error.value)


def test_the_token_of_another_store_is_not_sent(hdfs, digits, tmp_path):
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    options = {"token": TOKEN, "key": "of-amazon", "secret": "of-amazon", "user": "alice"}
    ds = recmap.open(source, index=tmp_path / "a.rmx", storage_options=options, progress=None)
    assert bytes(ds[700]) == bytes(digits[700])
    requests = hdfs.namenode.requests + hdfs.datanode.requests
    assert all("secret" not in path and "of-amazon" not in path for path, _ in requests)
    assert all("delegation" not in path and "user.name=alice" in path for path, _ in requests)
    assert all(headers["Authorization"] is None for _, headers in requests)


def test_a_callable_provides_the_token(hdfs, digits, tmp_path):
    hdfs.namenode.token = TOKEN
    options = {"credentials": lambda: {"delegation": TOKEN}, "progress": None}
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    ds = recmap.open(source, index=tmp_path / "a.rmx", **options)
    assert bytes(ds[700]) == bytes(digits[700])


def test_the_environment_names_user_and_token(hdfs, tmp_path, monkeypatch):
    source = f"{hdfs.url}/data/train/"
    monkeypatch.setenv("HADOOP_USER_NAME", "bob the builder")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-amazon")
    recmap.open(source, index=tmp_path / "a.rmx", progress=None)
    assert all("user.name=bob%20the%20builder" in path for path in paths_of(hdfs.namenode))
    hdfs.namenode.token = TOKEN
    monkeypatch.setenv("HADOOP_TOKEN", TOKEN)
    recmap.open(source, index=tmp_path / "b.rmx", progress=None)
    assert not any("of-amazon" in path for path in paths_of(hdfs.namenode))
    monkeypatch.setenv("HADOOP_TOKEN", "two words")
    with pytest.raises(recmap.InvalidError, match="HADOOP_TOKEN must be"):
        recmap.open(source, index=tmp_path / "c.rmx", progress=None)


def test_a_token_in_the_url_is_refused(hdfs, tmp_path):
    with pytest.raises(recmap.InvalidError, match="it has a query") as error:
        recmap.open(f"{hdfs.url}/a?op=OPEN&delegation=secret", index=tmp_path / "a.rmx")
    assert "secret" not in str(error.value)


# ---- Changes and faults.


def test_a_changed_file_is_stale(on_hdfs, hdfs):
    shard = hdfs.namenode.folder / "data/train/digits-00002-of-00004.tfrecord"
    data = shard.read_bytes()
    shard.write_bytes(data[: len(data) // 2])
    with pytest.raises(recmap.StaleIndexError, match="the shard changed since it was indexed"):
        bytes(on_hdfs[1000])
    shard.write_bytes(data[::-1])
    os.utime(shard, (1, 1))
    with pytest.raises(recmap.CorruptRecordError, match="restore the whole file"):
        bytes(on_hdfs[1000])


def test_a_copy_with_another_time_is_accepted(on_hdfs, digits, hdfs):
    for shard in (hdfs.namenode.folder / "data/train").iterdir():
        os.utime(shard, (1, 1))
    assert gathered(on_hdfs, [0, 900, 1796]) == gathered(digits, [0, 900, 1796])


def test_an_index_moves_to_and_from_hdfs(on_hdfs, digits, hdfs):
    assert records_of(recmap.open(on_hdfs.index_path, shards=DIGITS)) == records_of(digits)
    moved = recmap.open(digits.index_path, shards=f"{hdfs.url}/data/train")
    assert records_of(moved) == records_of(digits)


def test_an_index_may_be_on_hdfs(on_hdfs, digits, hdfs):
    shutil.copy(on_hdfs.index_path, hdfs.namenode.folder / "data" / "train" / "digits.rmx")
    ds = recmap.open(f"{hdfs.url}/data/train/digits.rmx")
    assert bytes(ds[99]) == bytes(digits[99])


def test_the_cache_keeps_what_was_read(on_hdfs, digits, hdfs, tmp_path):
    def read():
        with recmap.open(on_hdfs.index_path, allow_urls=True, cache=tmp_path / "cache") as ds:
            assert gathered(ds, range(300)) == gathered(digits, range(300))

    read()
    hdfs.datanode.requests.clear()
    read()
    assert hdfs.datanode.requests == []


def send_all(handler):
    """A fault: ignores the range."""
    handler.answer(200, handler.file.read_bytes())
    return True


def send_too_much_in_chunks(handler):
    data = handler.file.read_bytes()
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data))
    return True


def cut_body(handler):
    data = handler.file.read_bytes()
    offset, size = int(handler.query["offset"]), int(handler.query["length"])
    handler.send_response(200)
    handler.send_header("Content-Length", str(size))
    handler.end_headers()
    handler.wfile.write(data[offset : offset + size // 2])
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True
    return True


def flip_bit(handler):
    data = bytearray(handler.file.read_bytes())
    offset, size = int(handler.query["offset"]), int(handler.query["length"])
    data[offset + 20] ^= 1
    handler.answer(200, bytes(data[offset : offset + size]))
    return True


@pytest.mark.parametrize(
    "fault",
    [
        cut_body,
        flip_bit,
        reset_connection,
        fail_with("BlockMissingException"),
        fail_with("RetriableException"),
    ],
)
def test_faults_of_a_datanode_that_pass(fault, on_hdfs, digits, hdfs):
    hdfs.datanode.faults = [fault]
    assert bytes(on_hdfs[500]) == bytes(digits[500])
    assert hdfs.datanode.faults == []


@pytest.mark.parametrize("fault", [send_all, send_too_much_in_chunks])
def test_a_server_that_ignores_ranges_is_refused(fault, on_hdfs, digits, hdfs):
    """Unless it does so once."""
    hdfs.datanode.faults = [fault]
    assert bytes(on_hdfs[500]) == bytes(digits[500])
    options = {"allow_urls": True, "storage_options": {"timeout": 1}}
    with recmap.open(on_hdfs.index_path, **options) as ds:
        hdfs.datanode.faults = [fault] * 1000
        with pytest.raises(OSError, match=r"has another size|more bytes than it announced"):
            bytes(ds[500])


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"[]", b""])
def test_a_page_instead_of_a_listing_is_requested_again(body, hdfs, tmp_path):
    hdfs.namenode.faults = [lambda handler: handler.answer(200, body) or True] * 2
    names = find_names("/data/train/digits-*.tfrecord", hdfs, tmp_path)
    assert len(names) == 4 and hdfs.namenode.faults == []


def test_a_namenode_that_fails_for_a_moment(on_hdfs, digits, hdfs):
    hdfs.namenode.faults = [fail_with("RetriableException"), reset_connection]
    assert bytes(on_hdfs[500]) == bytes(digits[500])


@pytest.mark.parametrize(
    ("exception", "kind", "message"),
    [
        ("StandbyException", OSError, "name all NameNodes"),
        ("AccessControlException", PermissionError, "access was denied .HTTP 403 AccessControl"),
        ("IOException", OSError, "the server refuses the request .HTTP 403 IOException"),
        ("FileNotFoundException", FileNotFoundError, "there is no such object"),
    ],
)
def test_exceptions_of_hdfs(exception, kind, message, hdfs, tmp_path):
    hdfs.namenode.faults = [fail_with(exception)]
    with pytest.raises(kind, match=message):
        recmap.open(f"{hdfs.url}/data/train/x.tfrecord", index=tmp_path / "a.rmx", progress=None)


# ---- Several NameNodes.


@pytest.fixture
def pair(hdfs):
    """Two NameNodes of the same files; the second one is on standby."""
    with HdfsServer(hdfs.namenode.folder) as second:
        second.namenode.is_standby = True
        yield hdfs.namenode, second.namenode


def switch(pair):
    for node in pair:
        node.is_standby = not node.is_standby


def opened_pair(pair, tmp_path, source="webhdfs://cluster/data/train/digits-*.tfrecord", **more):
    nodes = ",".join(f"127.0.0.1:{node.server_port}" for node in pair)
    options = {"namenodes": nodes, "timeout": 20, **more}
    index = tmp_path / "pair.rmx"
    return recmap.open(source, index=index, storage_options=options, progress=None)


def test_the_active_one_of_several_namenodes_is_found(pair, digits, tmp_path):
    switch(pair)
    with opened_pair(pair, tmp_path) as ds:
        assert gathered(ds, range(0, 1700, 50)) == gathered(digits, range(0, 1700, 50))
        assert next(iter(ds.shards))["path"].startswith("webhdfs://cluster/data/train/")
        count = len(pair[0].requests)
        assert gathered(ds, range(20)) == gathered(digits, range(20))
        assert len(pair[0].requests) == count  # the one on standby is not asked again


def test_a_namenode_that_cannot_be_reached(pair, digits, tmp_path):
    switch(pair)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # it does not listen: connections are refused
        nodes = f"127.0.0.1:{probe.getsockname()[1]},127.0.0.1:{pair[1].server_port}"
        with opened_pair(pair, tmp_path, namenodes=nodes) as ds:
            assert bytes(ds[1500]) == bytes(digits[1500])


def test_failover_while_records_are_read(pair, digits, tmp_path):
    with opened_pair(pair, tmp_path) as ds:
        for round in range(4):
            numbers = range(round, 1700, 50)
            assert gathered(ds, numbers) == gathered(digits, numbers)
            switch(pair)
        for node in pair:
            node.is_standby = True
        timer = threading.Timer(0.5, lambda: setattr(pair[1], "is_standby", False))
        timer.start()
        assert bytes(ds[1500]) == bytes(digits[1500])
        timer.join()


def test_a_namenode_that_dies(pair, digits, tmp_path):
    with opened_pair(pair, tmp_path) as ds:
        assert bytes(ds[0]) == bytes(digits[0])
        switch(pair)
        pair[0].faults = [reset_connection] * 99
        assert gathered(ds, range(0, 1700, 50)) == gathered(digits, range(0, 1700, 50))


def test_failover_between_pages(pair, tmp_path):
    """The other NameNode continues the list."""

    def fail_over(handler):
        switch(pair)
        handler.fail("StandbyException")
        return True

    for node in pair:
        node.page_size = 1
    pair[0].faults = [on_later_page(fail_over)]
    with opened_pair(pair, tmp_path) as ds:
        assert len(list(ds.shards)) == 4
    assert all(listings_of(node) for node in pair)


def test_the_token_is_sent_to_the_namenodes_of_the_option(pair, digits, tmp_path):
    switch(pair)
    for node in pair:
        node.token = TOKEN
    with opened_pair(pair, tmp_path, delegation=TOKEN) as ds:
        assert bytes(ds[700]) == bytes(digits[700])


def test_all_namenodes_are_on_standby(pair, tmp_path):
    pair[0].is_standby = True
    with pytest.raises(
        OSError, match=r"all NameNodes are on standby .* StandbyException"
    ) as caught:
        opened_pair(pair, tmp_path, timeout=1)
    assert "check which NameNode is active" in caught.value.advice


@pytest.mark.parametrize(
    "nodes",
    ["", ",", "a:1,", "a:1,,b:1", "http://a:1", "a b:1", "a/b:1", "u@b:1", "a" * 300 + ":1", "a"],
)
def test_values_of_namenodes(nodes, pair, tmp_path):
    with pytest.raises(recmap.InvalidError, match="namenodes must be HOST:PORT"):
        opened_pair(pair, tmp_path, namenodes=nodes)


def test_link_local_namenodes_are_refused(pair, tmp_path):
    with pytest.raises(PermissionError, match="link-local"):
        opened_pair(pair, tmp_path, namenodes="169.254.169.254:80,127.0.0.1:1")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"<html>\n",
        b'{"FileStatus":{"type":"FILE"}}',
        b'{"FileStatus":{"length":-1,"type":"FILE"}}',
    ],
)
def test_a_server_that_is_not_hdfs(body, hdfs, tmp_path):
    hdfs.namenode.faults = [lambda handler: handler.answer(200, body) or True] * 50
    options = {"timeout": 1}
    with pytest.raises(OSError, match=r"cannot be understood|ended early") as error:
        recmap.open(f"{hdfs.url}/x.tfrecord", index=tmp_path / "a.rmx", storage_options=options)
    assert "9870" in str(error.value) or "ended early" in str(error.value)
    if body == b"<html>\n":
        assert '/webhdfs/v1/x.tfrecord?... sent "<html>\\n"' in str(error.value)


def test_a_folder_is_not_a_file(hdfs, tmp_path):
    with pytest.raises(OSError, match="it is not a file"):
        recmap.open(f"{hdfs.url}/data/train", index=tmp_path / "a.rmx", progress=None)


def test_redirects_do_not_lead_to_link_local_addresses(on_hdfs, hdfs):
    def redirect(handler):
        handler.answer(307, Location="http://169.254.169.254/latest/meta-data?op=OPEN")
        return handler.query["op"] == "OPEN"

    bytes(on_hdfs[0])
    hdfs.namenode.faults = [redirect]
    with pytest.raises(PermissionError, match="redirects to an address that is not read"):
        bytes(on_hdfs[500])
