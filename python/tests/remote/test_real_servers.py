"""Shards on real web servers, on the loopback interface: nginx and rclone. Each test
starts its server, and is skipped if that is not installed. The oracle is a local data set."""

import gzip
import os
import shutil
import subprocess

import pytest
import recmap
from conftest import DIGITS
from object_server import gathered, records_of
from real_servers import NAMES, find_program, free_ports, skip_without_urls, started

NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{ application/octet-stream tfrecord; }}
    limit_req_zone $server_name zone=slow:64k rate=200r/s;
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{encrypted} ssl;
        ssl_certificate {folder}/server.crt;
        ssl_certificate_key {folder}/server.key;
        root {folder}/files;
        location /moved/ {{ rewrite ^/moved/(.*)$ /train/$1 redirect; }}
        location /loop/ {{ rewrite ^/loop/(.*)$ /loop/$1 redirect; }}
        location /packed/ {{
            alias {folder}/files/train/;
            gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
        }}
        location /stored/ {{ gzip_static always; }}
        location /whole/ {{ alias {folder}/files/train/; max_ranges 0; }}
        location /weak/ {{ alias {folder}/files/train/; etag off; }}
        location /slow/ {{
            alias {folder}/files/train/;
            limit_req zone=slow burst=5 nodelay;
            limit_req_status 503;
        }}
    }}
}}
"""


@pytest.fixture(autouse=True)
def no_credentials(no_environment, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    """Skips the tests if the build reads no URLs."""
    skip_without_urls(tmp_path_factory.mktemp("urls"))


def make_certificate(folder):
    """An authority, and a certificate for localhost that it signed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    run = {"cwd": folder, "check": True, "capture_output": True}
    request = "openssl req -newkey rsa:2048 -nodes"
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    commands = (
        f"{request} -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.crt",
        f"{request} -subj /CN=localhost -keyout server.key -out server.csr",
        "openssl x509 -req -days 2 -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial"
        " -extfile names -out server.crt",
    )
    for command in commands:
        subprocess.run(command.split(), **run)


@pytest.fixture(scope="module")
def nginx(tmp_path_factory, urls):
    """The addresses of nginx: over HTTP and HTTPS, and the file of its authority."""
    program = find_program("nginx", "apt-get install nginx-light")
    folder = tmp_path_factory.mktemp("nginx")
    folder.chmod(0o755)
    shutil.copytree(DIGITS, folder / "files" / "train")
    (folder / "files" / "stored").mkdir()
    for name in NAMES:
        data = gzip.compress((DIGITS / name).read_bytes())
        (folder / "files" / "stored" / f"{name}.gz").write_bytes(data)
    make_certificate(folder)
    plain, encrypted = free_ports(2)
    user = "user root;\n" if os.getuid() == 0 else ""
    text = user + NGINX.format(folder=folder, plain=plain, encrypted=encrypted)
    (folder / "nginx.conf").write_text(text)
    command = [program, "-p", str(folder), "-e", f"{folder}/log", "-c", f"{folder}/nginx.conf"]
    with started(command, plain, folder / "log"):
        yield (
            f"http://127.0.0.1:{plain}",
            f"https://localhost:{encrypted}",
            folder / "ca.crt",
        )


def opened(base, folder, **options):
    names = [f"{base}/{name}" for name in NAMES]
    return recmap.open(
        names,
        id="id",
        index=folder / "served.rmx",
        storage_options={"timeout": 10, **options},
        progress=None,
    )


def batches(ds):
    with recmap.Loader(ds, 64, shuffle=True, seed=5, epochs=1, threads=2) as loader:
        return [[bytes(record) for record in batch] for batch in loader]


def check_reads(ds, local):
    """Everything that reads gives what the files give."""
    assert records_of(ds) == records_of(local)
    numbers = list(range(1700, 0, -97))
    assert gathered(ds, numbers) == gathered(local, numbers)
    assert ds.find("digit-01234") == 1234
    assert ds.verify()["damage"] == []
    assert batches(ds) == batches(local)


# ---- nginx.


def test_nginx(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/train", tmp_path), local)


def test_nginx_with_an_authority_of_its_own(nginx, local, tmp_path):
    _, address, authority = nginx
    with pytest.raises(recmap.StorageError, match="certificate"):
        opened(f"{address}/train", tmp_path)
    check_reads(opened(f"{address}/train", tmp_path, ca_bundle=authority), local)


def test_redirects_of_nginx(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/moved", tmp_path), local)
    (tmp_path / "loop").mkdir()
    with pytest.raises(recmap.StorageError, match="redirects"):
        opened(f"{nginx[0]}/loop", tmp_path / "loop")


def test_nginx_that_compresses_replies_if_asked_to(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/packed", tmp_path), local)


def test_a_content_encoding_of_nginx_is_refused(nginx, tmp_path):
    with pytest.raises(recmap.StorageError, match="content encoding"):
        opened(f"{nginx[0]}/stored", tmp_path)


def test_nginx_without_ranges_is_refused(nginx, tmp_path):
    with pytest.raises(recmap.StorageError, match=r"the server ignores ranges|does not say its"):
        bytes(opened(f"{nginx[0]}/whole", tmp_path)[0])


def test_nginx_without_etags(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/weak", tmp_path), local)


def test_nginx_that_limits_the_rate(nginx, local, tmp_path):
    with opened(f"{nginx[0]}/slow", tmp_path, timeout=60) as ds:
        numbers = list(range(0, 1797, 60))
        assert gathered(ds, numbers) == gathered(local, numbers)


# ---- rclone.


@pytest.mark.parametrize("protocol", ["http", "webdav"])
def test_rclone(protocol, urls, local, tmp_path):
    program = find_program("rclone", "apt-get install rclone")
    (port,) = free_ports(1)
    command = [program, "serve", protocol, "--config", "/dev/null", "--addr", f"127.0.0.1:{port}"]
    with started([*command, str(DIGITS)], port, tmp_path / "log"):
        check_reads(opened(f"http://127.0.0.1:{port}", tmp_path), local)
