"""Reading over HTTPS: certificates are checked, and their authorities can be named."""

import shutil
import ssl
import subprocess

import pytest
import recmap
from conftest import DIGITS
from hdfs_server import HdfsServer
from object_server import ObjectServer


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for localhost that is its own authority, and its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    path = tmp_path_factory.mktemp("certificate") / "localhost.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = [*command.split(), names, "-keyout", path, "-out", f"{path}.crt"]
    subprocess.run(command, check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + path.with_name("localhost.pem.crt").read_bytes())
    return path


@pytest.fixture(autouse=True)
def no_authorities(monkeypatch):
    for variable in ("AWS_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="module", autouse=True)
def urls(tmp_path_factory):
    """Skips the tests if the build reads no URLs."""
    index = tmp_path_factory.mktemp("urls") / "x.rmx"
    try:
        recmap.open(
            "http://127.0.0.1:1/x", index=index, storage=recmap.Storage(options={"timeout": 1})
        )
    except recmap.UnsupportedError:
        pytest.skip("this build of recmap has no support for URLs")
    except recmap.StorageError:
        pass


@pytest.fixture
def server(tmp_path, certificate):
    shutil.copytree(DIGITS, tmp_path / "bucket")
    server = ObjectServer(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.url = server.url.replace("http:", "https:")
    with server:
        yield server


def read(server, folder, **more):
    options = server.options(timeout=2, **more)
    with recmap.open(
        "s3://bucket/digits-00000-of-00004.tfrecord",
        index=folder / "digits.rmx",
        storage=recmap.Storage(options=options),
    ) as ds:
        return len(ds), bytes(ds[0])


def test_certificates_are_checked(server, certificate, tmp_path):
    with pytest.raises(recmap.StorageError, match="certificate") as caught:
        read(server, tmp_path)
    assert "ca_bundle" in str(caught.value)
    count, record = read(server, tmp_path, ca_bundle=certificate)
    assert count > 400 and len(record) > 64


@pytest.mark.parametrize("variable", ["AWS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_environment_names_the_authorities(server, certificate, tmp_path, monkeypatch, variable):
    monkeypatch.setenv(variable, str(certificate))
    assert read(server, tmp_path)[0] > 400


def test_swebhdfs_is_encrypted(certificate, tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    pytest.importorskip("requests")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = HdfsServer(DIGITS)
    server.namenode.scheme = "https"
    for node in (server.namenode, server.datanode):
        node.socket = context.wrap_socket(node.socket, server_side=True)
    source = f"s{server.url}/digits-00000-of-00004.tfrecord"
    options = {"session_verify": str(certificate)}
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # to requests, these matter more
        monkeypatch.delenv(name, raising=False)
    with server:
        ds = recmap.open(source, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options))
        assert len(ds) > 400
    assert server.datanode.requests
