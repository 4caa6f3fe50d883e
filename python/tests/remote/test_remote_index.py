"""Indexes in remote stores: opened by their URLs, with shards in their folder."""

import pickle
import shutil

import pytest
import recmap
from conftest import DIGITS, needs_cache_space
from object_server import DIGITS_URL, etag_of, gathered, on_object, records_of

URL = "s3://train/index.rmx"


@pytest.fixture
def indexed(server, tmp_path):
    """The server, with an index of its shards by their URLs next to them."""
    options = server.options()
    path = recmap.index(
        DIGITS_URL, tmp_path / "built.rmx", id="id", storage=recmap.Storage(options=options)
    )
    shutil.move(path, server.folder / "train" / "index.rmx")
    server.requests.clear()
    return server


def index_requests(server):
    return [headers for path, headers in server.requests if path == "/train/index.rmx"]


def test_an_index_is_opened_by_its_url(indexed, local, scratch):
    with recmap.open(URL, storage=recmap.Storage(options=indexed.options())) as ds:
        assert records_of(ds) == records_of(local)
        assert ds.index_path == URL and URL in repr(ds)
        assert ds.find("digit-00007") == 7 and ds.verify()["damage"] == []
        assert bytes(pickle.loads(pickle.dumps(ds))[7]) == bytes(local[7])


def test_relative_names_start_at_the_folder_of_the_index(server, local, tmp_path, scratch):
    """An index that was built next to local files, and copied to the store with them."""
    shutil.copytree(DIGITS, tmp_path / "built")
    path = recmap.index(tmp_path / "built", id="id")
    (server.folder / "train" / "sub").mkdir()
    for file in [*(tmp_path / "built").glob("*.tfrecord"), tmp_path / path]:
        shutil.copy(file, server.folder / "train" / "sub" / file.name)
    name = path.rpartition("/")[2]
    options = server.options()
    with recmap.open(f"s3://train/sub/{name}", storage=recmap.Storage(options=options)) as ds:
        assert records_of(ds) == records_of(local)
    with recmap.open(f"{server.url}/train/sub/{name}") as ds:
        assert gathered(ds, [5, 900]) == gathered(local, [5, 900])
    with recmap.open(
        f"s3://train/sub/{name}", shards=DIGITS, storage=recmap.Storage(options=options)
    ) as ds:
        assert records_of(ds) == records_of(local)
    shard = server.folder / "train" / "sub" / "digits-00000-of-00004.tfrecord"
    shard.write_bytes(shard.read_bytes()[::-1])
    ds = recmap.open(f"s3://train/sub/{name}", storage=recmap.Storage(options=options))
    with pytest.raises(recmap.CorruptRecordError, match="restore the whole file"):
        ds[0]


@needs_cache_space
def test_a_cache_keeps_the_index_while_it_is_unchanged(indexed, local, tmp_path, scratch):
    options = {"storage": recmap.Storage(options=indexed.options(), cache=tmp_path / "cache")}
    with recmap.open(URL, **options) as ds:
        expected = bytes(ds[7])
    assert len(index_requests(indexed)) > 1
    indexed.requests.clear()
    with recmap.open(URL, **options) as ds:
        assert bytes(ds[7]) == expected == bytes(local[7])
    (probe,) = index_requests(indexed)
    assert probe["Range"] == "bytes=0-0"
    changed = recmap.index(
        DIGITS_URL,
        tmp_path / "other.rmx",
        lift=["label"],
        storage=recmap.Storage(options=indexed.options()),
    )
    shutil.copy(changed, indexed.folder / "train" / "index.rmx")
    with recmap.open(URL, **options) as ds:
        assert "label" in ds.columns and bytes(ds[7]) == expected


def test_urls_elsewhere_need_trust(indexed, tmp_path):
    shutil.copytree(indexed.folder / "train", indexed.folder / "train" / "other")
    url, options = "s3://train/other/index.rmx", indexed.options()
    with pytest.raises(recmap.InvalidError, match="allow_urls"):
        recmap.open(url, storage=recmap.Storage(options=options))
    with recmap.open(url, storage=recmap.Storage(options=options, allow_urls=True)) as ds:
        assert len(bytes(ds[0])) > 0
    with recmap.open(url, storage=recmap.Storage(options=options), shards="s3://train/other") as ds:
        assert len(bytes(ds[0])) > 0
    local = recmap.index(DIGITS, tmp_path / "absolute.rmx")
    shutil.copy(local, indexed.folder / "train" / "absolute.rmx")
    with pytest.raises(recmap.InvalidError, match="outside its own folder"):
        recmap.open("s3://train/absolute.rmx", storage=recmap.Storage(options=options))


def test_what_is_not_an_index_is_refused(indexed, scratch):
    options, path = indexed.options(), indexed.folder / "train" / "index.rmx"
    with pytest.raises(FileNotFoundError, match="no such object"):
        recmap.open("s3://train/none.rmx", storage=recmap.Storage(options=options))
    whole = path.read_bytes()
    for data in (b"", b"x" * 5000, whole[:-100], whole[:5000] + b"!" + whole[5001:]):
        path.write_bytes(data)
        with pytest.raises(recmap.CorruptIndexError) as caught:
            recmap.open(URL, storage=recmap.Storage(options=options))
        assert caught.value.path == URL
    with pytest.raises(recmap.InvalidError, match="the URL names no object"):
        recmap.open("s3://train.rmx", storage=recmap.Storage(options=options))


def test_an_index_that_changes_while_it_is_copied_is_an_error(indexed, scratch):
    def replace(handler):
        if handler.headers["Range"] == "bytes=0-0":
            return False
        handler.send_object(data=b"another", etag=etag_of(b"another"))
        return True

    indexed.faults = [on_object(replace, "*.rmx")]
    with pytest.raises(recmap.StaleIndexError, match=r"index\.rmx"):
        recmap.open(URL, storage=recmap.Storage(options=indexed.options()))


def test_an_index_in_a_store_is_only_read(indexed, tmp_path):
    options = indexed.options()
    with recmap.open(URL, storage=recmap.Storage(options=options)) as ds:
        with pytest.raises(recmap.InvalidError, match="can only be read"):
            ds.annotate({"x": [0] * len(ds)})
        with pytest.raises(recmap.InvalidError, match="can only be read"):
            ds[:5].save(tmp_path / "five.rmv")
    with pytest.raises(ValueError, match="index= must be a local file"):
        recmap.open(DIGITS_URL, index=URL, storage=recmap.Storage(options=options))
    for write in (
        lambda: recmap.index(DIGITS_URL, URL, storage=recmap.Storage(options=options)),
        lambda: recmap.merge(URL, [URL]),
        lambda: recmap.Writer("s3://train/x.tfrecord"),
        lambda: recmap.Writer(tmp_path / "x.tfrecord", index=URL),
    ):
        with pytest.raises(ValueError, match=r"^s3://train/.*: recmap writes only local files"):
            write()


def test_an_index_may_have_a_presigned_url(indexed, local):
    indexed.signature = "sig=HIDDEN"
    url = f"{indexed.url}/train/index.rmx"
    shards = [f"{indexed.url}/train/digits-0000{i}-of-00004.tfrecord?sig=HIDDEN" for i in range(4)]
    with recmap.open(
        f"{url}?sig=HIDDEN",
        shards=f"{indexed.url}/train",
        storage=recmap.Storage(options={"urls": shards}),
    ) as ds:
        assert records_of(ds) == records_of(local)
        assert ds.index_path == url and "HIDDEN" not in repr(ds)
