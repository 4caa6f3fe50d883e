"""Certificates of servers that are not valid."""

from __future__ import annotations

import shutil
import ssl

import pytest
import recmap
from fault_proxy import (
    FaultProxy,
    check_message,
)
from network_helpers import certificate_of

pytestmark = pytest.mark.usefixtures("watchdog")


@pytest.fixture
def index(remote):
    """Built without faults."""
    return remote.index_path


CERTIFICATES = {
    "expired": ("IP:127.0.0.1", -1, True),
    "of another host": ("IP:127.0.0.2", 2, True),
    "of an unknown authority": ("IP:127.0.0.1", 2, False),
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_certificates_that_are_not_valid_are_refused(server, index, tmp_path, monkeypatch, name):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    host, days, is_known = CERTIFICATES[name]
    key, path = certificate_of(tmp_path, host, days)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    with FaultProxy(server.url, context=context) as proxy:
        more = {"ca_bundle": path} if is_known else {}
        options = proxy.options(timeout=1, **more)
        ds = recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options))
        with ds, pytest.raises(recmap.StorageError, match=r"(?i)certificate|SSL") as caught:
            ds[3]
        assert proxy.requests == []
        check_message(caught.value)
