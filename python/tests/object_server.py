"""A small object server for tests: ranges, ETags, If-Match, listings, and faults on demand.

It serves the files of a folder over HTTP on the loopback interface: `/BUCKET/KEY` is
`FOLDER/BUCKET/KEY`. It understands ListObjectsV2 and Azure's List Blobs too, with two keys a page,
and checks no signatures but `signature`. Each request is noted in `requests`. `faults` holds
callables that are tried in order (`is_answered_by_fault`): one that returns True has answered the
request instead of the server, and is not tried again.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import socket
import sys
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

# The digits, in the bucket that the fixture `server` serves.
DIGITS_URL = "s3://train/digits-*.tfrecord"


ports_used = set()


def unused_port():
    """A free port that this function has not returned before: a process keeps the credentials that
    came from a URL, and another server must not be taken for their source."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        if port not in ports_used:
            ports_used.add(port)
            return port


class QuietServer(ThreadingHTTPServer):
    """Prints no traceback if the program under test closes its connection, which it may at any
    time."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ObjectServer(QuietServer):
    def __init__(self, folder):
        super().__init__(("127.0.0.1", unused_port()), Handler)
        self.folder = Path(folder)
        self.requests = []
        self.faults = []
        self._files = {}  # path: (version, bytes, ETag)
        self.signature = None  # the query that objects and List Blobs need; None: none
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()

    def options(self, **more):
        """Storage options to reach the server as S3."""
        return {"endpoint": self.url, "anonymous": True, "timeout": 20, **more}

    def read_file(self, path):
        """The bytes and the ETag of a file, which is read only when it has changed."""
        now = path.stat()
        version = now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
        if self._files.get(path, (None,))[0] != version:
            data = path.read_bytes()
            self._files[path] = version, data, etag_of(data)
        return self._files[path][1:]

    def ranges(self):
        """The headers Range of all requests for objects."""
        return [headers["Range"] for path, headers in self.requests if headers["Range"]]


def etag_of(data):
    return f'"{hashlib.md5(data).hexdigest()}"'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # the headers and the body of a reply are sent together

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(body)))
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, status, code, **headers):
        self.answer(status, f"<Error><Code>{code}</Code></Error>".encode(), **headers)

    def do_GET(self):
        server, parts = self.server, urlsplit(self.path)
        with server.lock:
            server.requests.append((self.path, self.headers))
        if is_answered_by_fault(self):
            return
        is_blob_list = "comp=list" in parts.query
        if server.signature is not None and not (
            parts.query == server.signature
            or (is_blob_list and parts.query.endswith(f"&{server.signature}"))
        ):
            self.fail(403, "AccessDenied")
        elif "list-type=2" in parts.query or is_blob_list:
            self.list_objects(parts)
        else:
            self.send_object()

    do_HEAD = do_GET

    def read_object(self):
        path = self.server.folder / unquote(urlsplit(self.path).path).lstrip("/")
        return self.server.read_file(path)[0] if path.is_file() else None

    def send_object(self, *, data=None, etag=None):
        if data is None:
            path = self.server.folder / unquote(urlsplit(self.path).path).lstrip("/")
            if not path.is_file():
                self.fail(404, "NoSuchKey")
                return
            data, found = self.server.read_file(path)
            etag = etag or found
        tag = etag or etag_of(data)
        if self.headers["If-Match"] not in (None, tag):
            self.fail(412, "PreconditionFailed")
            return
        if not self.headers["Range"]:
            self.answer(200, data, ETag=tag)
            return
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        if first >= len(data):
            self.fail(416, "InvalidRange", Content_Range=f"bytes */{len(data)}")
            return
        last = min(last, len(data) - 1)
        self.answer(
            206,
            data[first : last + 1],
            ETag=tag,
            Content_Range=f"bytes {first}-{last}/{len(data)}",
            Last_Modified=formatdate(0, usegmt=True),
        )

    def list_objects(self, parts):
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        folder = self.server.folder / parts.path.strip("/")
        keys = sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file())
        prefix = query.get("prefix", "")
        after = query.get("continuation-token", query.get("marker", ""))
        keys = [key for key in keys if key.startswith(prefix) and key > after]
        if "delimiter" in query:
            keys = [key for key in keys if "/" not in key[len(prefix) :]]
        page = keys[:2]
        last = escape(page[-1]) if len(keys) > len(page) else ""
        body = (blob_list if "comp" in query else object_list)([escape(key) for key in page], last)
        self.answer(200, f"<?xml version='1.0'?>{body}".encode())


def object_list(keys, last):
    """A page as S3 sends it."""
    items = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
    token = f"<NextContinuationToken>{last}</NextContinuationToken>" if last else ""
    more = f"<IsTruncated>{'true' if last else 'false'}</IsTruncated>"
    return f"<ListBucketResult>{more}{items}{token}</ListBucketResult>"


def blob_list(keys, last):
    """A page as Azure sends it."""
    items = "".join(f"<Blob><Name>{key}</Name><Properties/></Blob>" for key in keys)
    marker = f"<NextMarker>{last}</NextMarker>" if last else "<NextMarker />"
    return f"<EnumerationResults><Blobs>{items}</Blobs>{marker}</EnumerationResults>"


def is_answered_by_fault(handler):
    """Returns true if one of the faults has answered the request.

    A fault is removed before it answers, because the client may read the answer, and send its next
    request, before the fault returns. One that did not answer is put back. Meanwhile other requests
    miss it, so a fault for some requests only says which they are (`only_if`).
    """
    server = handler.server
    with server.lock:
        faults = server.faults
        wanted = [f for f in faults if not hasattr(f, "wants") or f.wants(handler)]
    for fault in wanted:
        with server.lock:
            if fault not in faults:
                continue
            faults.remove(fault)
        if fault(handler):
            return True
        with server.lock:
            faults.insert(0, fault)
    return False


def only_if(wants, fault):
    """The fault, only for requests for which `wants` is true."""

    def answer(handler):
        return fault(handler) is not False

    answer.wants = wants
    return answer


def on_object(fault, pattern="*"):
    """The fault, only for requests for objects whose path matches."""

    def wants(handler):
        path = urlsplit(handler.path)
        return "list-type" not in path.query and fnmatch.fnmatch(path.path, pattern)

    return only_if(wants, fault)


def reset(handler):
    """A fault: closes the connection without a reply."""
    with contextlib.suppress(OSError):  # the client may have closed it
        handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def flip_bit(handler):
    """A fault: changes one bit of the reply."""
    data = bytearray(handler.read_object())
    first = int(handler.headers["Range"].removeprefix("bytes=").split("-")[0])
    data[first + 20] ^= 1
    handler.send_object(data=bytes(data), etag=etag_of(handler.read_object()))


def fail_with(status, code="SlowDown", **headers):
    """A fault: answers a request for an object with this status."""
    return on_object(lambda handler: handler.fail(status, code, **headers))


# ---- What clients read.


def records_of(ds):
    return [bytes(record) for record in ds]


def gathered(ds, numbers, threads=0):
    return [bytes(record) for record in ds.gather(numbers, threads=threads)]
