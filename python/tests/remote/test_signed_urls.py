"""Presigned URLs: their queries are credentials, which only requests contain."""

import logging
import pickle
import time

import pytest
import recmap
from conftest import needs_cache_space
from object_server import records_of

SIGNATURE = "X-Amz-Expires=60&X-Amz-Signature=HIDDEN%2B1"
NAMES = [f"digits-0000{i}-of-00004.tfrecord" for i in range(4)]


@pytest.fixture
def signed(server):
    """The server, which refuses requests for objects without the signature."""
    server.signature = SIGNATURE
    return server


def bare_urls(server):
    return [f"{server.url}/train/{name}" for name in NAMES]


def signed_urls(server):
    return [f"{url}?{server.signature}" for url in bare_urls(server)]


def test_shards_are_read_and_named_without_the_query(signed, tmp_path, local, caplog):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "a.rmx"
    with recmap.open(signed_urls(signed), index=path) as ds:
        assert records_of(ds) == records_of(local)
        assert [shard["path"] for shard in ds.shards] == bare_urls(signed)
        assert ds.verify()["damage"] == []
        assert "HIDDEN" not in repr(ds) + repr(ds._options) + repr(ds.info) + caplog.text
    assert b"HIDDEN" not in path.read_bytes()
    assert all(request.endswith(SIGNATURE) for request, _ in signed.requests)


def test_an_index_is_opened_with_new_urls(signed, tmp_path, local):
    path = recmap.index(signed_urls(signed), tmp_path / "a.rmx")
    signed.signature = "sig=NEW-HIDDEN"
    with (
        recmap.open(path, storage=recmap.Storage(allow_urls=True)) as ds,
        pytest.raises(PermissionError) as caught,
    ):
        ds[0]
    assert "newly signed URL as the storage option urls" in str(caught.value)
    options = {"urls": signed_urls(signed)}
    with recmap.open(path, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        assert records_of(ds) == records_of(local)
    with recmap.open(signed_urls(signed), index=path) as ds:
        assert records_of(pickle.loads(pickle.dumps(ds))) == records_of(local)


def test_a_wrong_signature_is_never_shown(signed, tmp_path):
    urls = [url + "-HIDDEN-WRONG" for url in signed_urls(signed)]
    with pytest.raises(PermissionError) as caught:
        recmap.open(urls, index=tmp_path / "a.rmx")
    assert "HIDDEN" not in str(caught.value) and NAMES[0] in str(caught.value)
    signed.signature = None
    with recmap.open(urls, index=tmp_path / "a.rmx") as ds:
        (signed.folder / "train" / NAMES[0]).write_bytes(b"changed")
        with pytest.raises(recmap.StaleIndexError) as caught:
            ds[0]
    assert "HIDDEN" not in str(caught.value)


def test_a_set_and_a_list_file_may_be_signed(signed, tmp_path, local):
    listed = tmp_path / "urls.txt"
    listed.write_text("# signed\n" + "\n".join(signed_urls(signed)) + "\n")
    folder = f"{signed.url}/train"
    for i, source in enumerate([f"@{listed}", f"{folder}/digits@4.tfrecord?{SIGNATURE}"]):
        with recmap.open(source, index=tmp_path / f"{i}.rmx") as ds:
            assert records_of(ds) == records_of(local)
    with pytest.raises(recmap.InvalidError, match="does not list its files") as caught:
        recmap.open(f"{folder}/*?{SIGNATURE}", index=tmp_path / "b.rmx")
    assert "HIDDEN" not in str(caught.value)
    with pytest.raises(recmap.InvalidError, match="the shard is named twice"):
        recmap.open([f"{folder}/{NAMES[0]}?a=1", f"{folder}/{NAMES[0]}?a=2"], index=tmp_path / "c")


@needs_cache_space
def test_the_cache_does_not_depend_on_the_signature(signed, tmp_path, local):
    path, cache = recmap.index(signed_urls(signed), tmp_path / "a.rmx"), tmp_path / "cache"
    for signature in (SIGNATURE, "sig=other"):
        signed.signature = signature
        with recmap.open(
            signed_urls(signed), index=path, storage=recmap.Storage(cache=cache)
        ) as ds:
            assert records_of(ds) == records_of(local)
    count = len(signed.requests)
    with recmap.open(path, storage=recmap.Storage(allow_urls=True, cache=cache)) as ds:
        assert records_of(ds) == records_of(local)
    assert len(signed.requests) == count
    assert all(b"HIDDEN" not in file.read_bytes() for file in cache.iterdir() if file.is_file())


def test_a_callable_provides_urls(signed, tmp_path, local):
    path = recmap.index(signed_urls(signed), tmp_path / "a.rmx")
    signed.signature = "sig=first"

    def provide():
        return {"urls": signed_urls(signed), "expires": time.time() + 3600}

    with recmap.open(path, storage=recmap.Storage(allow_urls=True, credentials=provide)) as ds:
        assert records_of(ds) == records_of(local)
    for wrong, error in [("x", TypeError), ([7], TypeError), ([], ValueError)]:
        with pytest.raises(error, match="urls"):
            recmap.open(
                path,
                storage=recmap.Storage(
                    allow_urls=True, credentials=lambda wrong=wrong: {"urls": wrong}
                ),
            )


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://host/HIDDEN", "not a web URL with a query"),
        ("s3://bucket/x?a=HIDDEN", "not a web URL with a query"),
        ("https://host/x?a=HID DEN", "must be percent-encoded"),
        ("https://me:HIDDEN@host/x?a=b", "user name or password"),
    ],
)
def test_what_is_not_a_signed_url_is_refused(tmp_path, url, message):
    with pytest.raises(recmap.InvalidError, match=message) as caught:
        recmap.open(
            "s3://bucket/x", index=tmp_path / "a", storage=recmap.Storage(options={"urls": [url]})
        )
    assert "a=HID" not in str(caught.value) and "me:" not in str(caught.value)


class LocalSpark:
    """What `recmap.spark.index` uses of a session, in this process."""

    def range(self, start, end, step, partitions):
        self.numbers = range(start, end, step)
        return self

    def mapInArrow(self, function, schema):
        import pyarrow as pa

        batch = pa.RecordBatch.from_arrays([pa.array(self.numbers)], names=["id"])
        self.rows = [row for part in function([batch]) for row in part.to_pylist()]
        return self

    def collect(self):
        return self.rows


def test_tasks_of_spark_get_the_queries(signed, tmp_path, local):
    pytest.importorskip("pyspark")
    from recmap.spark import _index

    path = _index.index(LocalSpark(), signed_urls(signed), tmp_path / "a.rmx", id="id")
    with recmap.open(
        path, storage=recmap.Storage(allow_urls=True, options={"urls": signed_urls(signed)})
    ) as ds:
        assert records_of(ds) == records_of(local)
