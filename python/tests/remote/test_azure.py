"""Blobs of Azure with a shared access signature, from a server that answers as Azure does."""

import random
from urllib.parse import parse_qs, urlsplit

import pytest
import recmap
from fault_proxy import FaultProxy, check_message
from object_server import gathered, records_of
from test_network_schedules import CALLS, PASSING, schedule

URL = "az://train/digits-*.tfrecord"
SIGNATURE = "sv=2021-08-06&sp=rl&sig=HIDDEN%2Fa%3D"


@pytest.fixture
def azure(server):
    """A server whose objects and lists need the signature."""
    server.signature = SIGNATURE
    return server


def opened(endpoint, folder):
    options = {"endpoint": endpoint, "sas": SIGNATURE, "timeout": 20}
    path = folder / "blobs.rmx"
    return recmap.open(URL, id="id", index=path, storage=recmap.Storage(options=options))


def test_everything_reads_as_from_files(azure, local, tmp_path):
    with opened(azure.url, tmp_path) as ds:
        assert records_of(ds) == records_of(local)
        assert gathered(ds, [1700, 5, 900]) == gathered(local, [1700, 5, 900])
        assert ds.find("digit-01234") == 1234
        assert ds.verify()["damage"] == []
        assert next(iter(ds.shards))["path"] == "az://train/digits-00000-of-00004.tfrecord"
        assert "HIDDEN" not in repr(ds) + repr(ds._options)
    assert b"HIDDEN" not in (tmp_path / "blobs.rmx").read_bytes()
    assert all(headers["x-ms-version"] for _, headers in azure.requests)
    assert all(headers["Authorization"] is None for _, headers in azure.requests)


def test_a_list_of_several_pages(azure, tmp_path):
    opened(azure.url, tmp_path).close()
    lists = [parse_qs(urlsplit(path).query) for path, _ in azure.requests if "comp=list" in path]
    assert len(lists) == 2
    assert all(query["restype"] == ["container"] for query in lists)
    assert all(query["prefix"] == ["digits-"] and query["delimiter"] == ["/"] for query in lists)
    assert "marker" not in lists[0] and lists[1]["marker"]


def test_a_wrong_signature_is_never_shown(azure, tmp_path):
    opened(azure.url, tmp_path).close()
    for url in (URL, tmp_path / "blobs.rmx"):
        wrong = {"endpoint": azure.url, "sas": "sig=WRONG-HIDDEN", "timeout": 20}
        with pytest.raises(PermissionError, match="HTTP 403 AccessDenied") as caught:
            recmap.open(url, index=None, storage=recmap.Storage(options=wrong, allow_urls=True))[0]
        check_message(caught.value)


def test_a_callable_provides_the_signature(azure, local, tmp_path):
    opened(azure.url, tmp_path).close()
    options, count = {"endpoint": azure.url, "timeout": 20}, []

    def provide():
        count.append(1)
        return {"sas": SIGNATURE}

    with recmap.open(
        tmp_path / "blobs.rmx",
        storage=recmap.Storage(allow_urls=True, options=options, credentials=provide),
    ) as ds:
        assert bytes(ds[700]) == bytes(local[700])
    assert count


@pytest.mark.parametrize("seed", range(2))
def test_faults_before_azure(azure, local, tmp_path, scratch, seed):
    source = random.Random(seed)
    opened(azure.url, tmp_path).close()
    with FaultProxy(azure.url) as proxy:
        schedule(proxy, random.Random(-1 - seed), PASSING, 0.3)
        options = {"endpoint": proxy.url, "sas": SIGNATURE, "timeout": 100}
        index = tmp_path / "blobs.rmx"
        with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
            for _ in range(6):
                call, own = source.choice(CALLS), source.randrange(1 << 30)
                assert call(ds, random.Random(own)) == call(local, random.Random(own)), call
