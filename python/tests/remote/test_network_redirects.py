"""Redirects of web servers, whose requests have no signature."""

from __future__ import annotations

import shutil
import ssl

import pytest
import recmap
from fault_proxy import (
    CREDENTIALS,
    FOREVER,
    FaultProxy,
    check_message,
    redirecting,
)
from network_helpers import SHARD, certificate_of

pytestmark = pytest.mark.usefixtures("watchdog")


def web_record(proxy, folder, **more):
    url = f"{proxy.url}/train/{SHARD}"
    options = {**CREDENTIALS, "timeout": 1, **more}
    with recmap.open(url, index=folder / "web.rmx", storage=recmap.Storage(options=options)) as ds:
        return bytes(ds[100])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_web_redirects_are_followed_without_credentials(proxy, server, local, tmp_path, status):
    proxy.plan(redirecting(f"{server.url}/train/{SHARD}", status), FOREVER)
    server.requests.clear()
    assert web_record(proxy, tmp_path, timeout=20) == bytes(local[100])
    assert proxy.requests and server.requests
    for headers in [request.headers for request in proxy.requests] + [
        headers for _, headers in server.requests
    ]:
        text = str(headers)
        assert "Authorization" not in text and "HIDDEN" not in text


SECRET_QUERY = "?X-Amz-Signature=HIDDEN&Credential=HIDDEN"


REDIRECTS = {
    "in a loop": ("{proxy}/train/x" + SECRET_QUERY, recmap.StorageError, "redirects"),
    "to another protocol": ("ftp://127.0.0.1/x" + SECRET_QUERY, recmap.StorageError, "."),
    "to a file": ("file:///etc/passwd" + SECRET_QUERY, recmap.StorageError, "."),
    "to a service for credentials": (
        "http://169.254.169.254/latest" + SECRET_QUERY,
        PermissionError,
        "link-local",
    ),
    "to a closed port": ("http://me:HIDDEN@127.0.0.1:1/" + SECRET_QUERY, recmap.StorageError, "."),
    "to a bad URL": ("http://[HIDDEN/" + SECRET_QUERY, recmap.StorageError, "."),
    "to nothing": ("", recmap.StorageError, "."),
}


@pytest.mark.parametrize("name", REDIRECTS)
def test_redirects_that_are_not_followed(proxy, tmp_path, name):
    location, error, message = REDIRECTS[name]
    proxy.plan(redirecting(location.format(proxy=proxy.url)), FOREVER)
    with pytest.raises(error, match=message) as caught:
        web_record(proxy, tmp_path)
    check_message(caught.value)
    assert caught.value.path == f"{proxy.url}/train/{SHARD}" and caught.value.advice
    assert not (tmp_path / "web.rmx").exists()


@pytest.mark.parametrize("leads_to", ["http", "https"])
def test_redirects_of_encrypted_requests_stay_encrypted(
    server, local, tmp_path, monkeypatch, leads_to
):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    key, path = certificate_of(tmp_path, "IP:127.0.0.1", 2)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    with (
        FaultProxy(server.url, context=context) as first,
        FaultProxy(server.url, context=context if leads_to == "https" else None) as second,
    ):
        first.plan(redirecting(f"{second.url}/train/{SHARD}"), FOREVER)
        if leads_to == "https":
            assert web_record(first, tmp_path, ca_bundle=path, timeout=20) == bytes(local[100])
            assert second.requests
        else:
            with pytest.raises(recmap.StorageError, match=r"[Pp]rotocol"):
                web_record(first, tmp_path, ca_bundle=path)
            assert first.requests and not second.requests
