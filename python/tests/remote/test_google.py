"""Access tokens for gs:// from Google's metadata service."""

import json
import re
import threading

import pytest
import recmap
from object_server import records_of

URL = "gs://train/digits-*.tfrecord"
PATH = "/computeMetadata/v1/instance/service-accounts/default/token"


class Metadata:
    """Makes an object server answer requests for tokens, and check those of objects."""

    def __init__(self, server):
        self.server = server
        self.lifetime = 3599
        self.count = 0
        self.lock = threading.Lock()
        self.answer = None  # (status, body) in place of a token
        server.faults = [self.handle] * 1000

    def handle(self, handler):
        """Answers all requests for tokens, and those for objects that have no valid one."""
        if handler.path == PATH:
            if handler.headers["Metadata-Flavor"] != "Google":
                handler.answer(403, b"")
            else:
                handler.answer(*(self.answer or (200, self.issue())))
        elif not re.fullmatch(r"Bearer HIDDEN\d+", handler.headers["Authorization"] or ""):
            handler.fail(401, "AuthenticationRequired")
        else:
            return False
        return True

    def issue(self):
        with self.lock:
            self.count += 1
        token = {"access_token": f"HIDDEN{self.count}", "expires_in": self.lifetime}
        return json.dumps({**token, "token_type": "Bearer"}).encode()


@pytest.fixture
def metadata(server, monkeypatch):
    monkeypatch.delenv("NO_GCE_CHECK")
    monkeypatch.setenv("GCE_METADATA_HOST", server.url.removeprefix("http://"))
    return Metadata(server)


def opened(server, folder, **more):
    options = {"endpoint": server.url, "timeout": 20, **more}
    return recmap.open(URL, index=folder / "a.rmx", storage=recmap.Storage(options=options))


def test_the_account_of_the_machine(metadata, server, local, tmp_path):
    ds = opened(server, tmp_path)
    metadata.count = 0
    assert records_of(ds) == records_of(local)
    assert metadata.count <= 1  # once for a data set
    assert "HIDDEN" not in repr(ds)
    assert b"HIDDEN" not in (tmp_path / "a.rmx").read_bytes()


def test_a_token_that_expires_is_renewed(metadata, server, local, tmp_path):
    metadata.lifetime = 1
    with opened(server, tmp_path) as ds:
        before = metadata.count
        for number in range(3):
            assert bytes(ds[number]) == bytes(local[number])
            threading.Event().wait(1.1)
    assert metadata.count > before


def test_a_token_is_used_until_it_expires_if_it_cannot_be_renewed(
    metadata, server, local, tmp_path
):
    metadata.lifetime = 8
    with opened(server, tmp_path) as ds:
        assert bytes(ds[0]) == bytes(local[0])
        metadata.answer = (500, b"")
        former = metadata.count
        threading.Event().wait(4.1)
        assert bytes(ds[1]) == bytes(local[1])
        metadata.answer = None
        threading.Event().wait(4.1)  # it expired, sooner than a failed renewal is tried again
        server.requests.clear()
        assert bytes(ds[2]) == bytes(local[2])
        sent = {headers["Authorization"] for _, headers in server.requests}
        assert f"Bearer HIDDEN{metadata.count}" in sent
        assert f"Bearer HIDDEN{former}" not in sent


def test_a_token_that_expired_is_not_sent_if_the_service_is_gone(
    metadata, server, local, tmp_path, monkeypatch
):
    metadata.lifetime = 1
    with opened(server, tmp_path) as ds:
        assert bytes(ds[0]) == bytes(local[0])
        monkeypatch.delenv("GCE_METADATA_HOST")
        monkeypatch.setenv("NO_GCE_CHECK", "true")
        threading.Event().wait(1.1)
        server.requests.clear()
        for number in (1, 2):
            with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
                bytes(ds[number])
        assert server.requests == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://192.0.2.1:9000",
        "http://storage.example.org",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org:80",
        "http://[::1:0]:80",
    ],
)
def test_no_token_is_fetched_for_clear_text(endpoint, metadata, server, tmp_path):
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path, endpoint=endpoint)
    assert metadata.count == 0 and server.requests == []


def test_explicit_credentials_come_first(metadata, server, tmp_path):
    opened(server, tmp_path, token="HIDDEN7")
    assert metadata.count == 0
    authorizations = {headers["Authorization"] for _, headers in server.requests}
    assert authorizations == {"Bearer HIDDEN7"}


def test_a_token_is_for_google_only(metadata, server, tmp_path):
    ds = opened(server, tmp_path)
    bytes(ds[0])
    server.faults.clear()
    server.requests.clear()
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        recmap.open(
            "s3://train/*",
            index=tmp_path / "b.rmx",
            storage=recmap.Storage(options={"endpoint": server.url}),
        )
    names = [f"{server.url}/train/digits-0000{i}-of-00004.tfrecord" for i in range(4)]
    recmap.open(names, index=tmp_path / "c.rmx")
    assert all(headers["Authorization"] is None for _, headers in server.requests)


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ((403, b""), PermissionError, "it answers HTTP 403"),
        ((404, b""), PermissionError, "it answers HTTP 404"),
        ((500, b""), OSError, "it answers HTTP 500"),
        ((200, b"<html>"), OSError, "its reply cannot be understood"),
        ((200, b"x" * 100_000), OSError, "the reply is too long"),
    ],
)
def test_a_service_that_is_named_must_answer(answer, kind, message, metadata, server, tmp_path):
    metadata.answer = answer
    with pytest.raises(kind, match=message) as error:
        opened(server, tmp_path)
    assert "the metadata service of Google Cloud" in str(error.value)


def test_the_environment_is_checked(metadata, server, tmp_path, monkeypatch):
    monkeypatch.setenv("GCE_METADATA_HOST", "host/path?x")
    with pytest.raises(recmap.InvalidError, match="GCE_METADATA_HOST is not a host"):
        opened(server, tmp_path)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/does/not/exist.json")
    with pytest.raises(recmap.InvalidError, match="GOOGLE_APPLICATION_CREDENTIALS names a file"):
        opened(server, tmp_path)


def test_no_service_is_asked_if_that_is_switched_off(server, tmp_path):
    with pytest.raises(recmap.InvalidError, match="no credentials are configured") as error:
        opened(server, tmp_path)
    assert "gcloud" in str(error.value)
