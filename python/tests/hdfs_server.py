"""A small HDFS for tests: a NameNode and a DataNode that answer WebHDFS requests on the loopback
interface as Hadoop's documentation says.

It serves the files of a folder. The NameNode redirects OPEN to the DataNode, whose replies have
neither ranges nor ETags. With `token`, requests to the NameNode need this delegation token, and the
NameNode writes another one into the redirect. `faults` and `requests` are as in object_server.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from object_server import QuietServer, is_answered_by_fault

PREFIX = "/webhdfs/v1"
BLOCK_TOKEN = "token-of-the-block"

STATUS_OF_EXCEPTION = {
    "FileNotFoundException": 404,
    "IllegalArgumentException": 400,
    "AccessControlException": 403,
    "InvalidToken": 403,
    "IOException": 403,
}


class Node(QuietServer):
    """A NameNode, or the DataNode that it redirects to."""

    def __init__(self, handler, folder):
        super().__init__(("127.0.0.1", 0), handler)
        self.folder = Path(folder)
        self.lock = threading.Lock()
        self.requests = []
        self.faults = []
        self.datanode = None
        self.token = None
        self.redirects = True  # HttpFS does not redirect
        self.scheme = "http"  # of redirects


class HdfsServer:
    def __init__(self, folder):
        self.datanode = Node(DataNodeHandler, folder)
        self.namenode = Node(NameNodeHandler, folder)
        self.namenode.datanode = self.datanode

    def __enter__(self):
        for node in (self.namenode, self.datanode):
            threading.Thread(target=node.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        for node in (self.namenode, self.datanode):
            node.shutdown()
            node.server_close()

    @property
    def url(self):
        return f"webhdfs://127.0.0.1:{self.namenode.server_port}"


def signed_name(file):
    return [byte - 256 if byte > 127 else byte for byte in file.name.encode()]


class NodeHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status, value):
        self.answer(status, json.dumps(value).encode(), Content_Type="application/json")

    def fail(self, exception):
        value = {
            "exception": exception,
            "javaClassName": f"org.apache.hadoop.{exception}",
            "message": "a message",
        }
        self.answer_json(STATUS_OF_EXCEPTION[exception], {"RemoteException": value})

    def do_GET(self):
        parts = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.name = unquote(parts.path).removeprefix(PREFIX).strip("/")
        self.file = self.server.folder / self.name
        with self.server.lock:
            self.server.requests.append((self.path, self.headers))
        if is_answered_by_fault(self):
            return
        if not parts.path.startswith(PREFIX + "/"):
            self.answer(404, b"<html>Not Found</html>")
        else:
            self.serve()

    def send_range(self):
        data = self.file.read_bytes()
        offset = int(self.query.get("offset", 0))
        if offset > len(data):
            self.fail("IOException")
            return
        size = min(int(self.query.get("length", len(data))), len(data) - offset)
        self.answer(200, data[offset : offset + size], Content_Type="application/octet-stream")


class DataNodeHandler(NodeHandler):
    def serve(self):
        self.send_range()


class NameNodeHandler(NodeHandler):
    def serve(self):
        token = self.server.token
        if token is not None and self.query.get("delegation") != token:
            self.fail("InvalidToken")
        elif not self.file.exists():
            self.fail("FileNotFoundException")
        elif self.query["op"] == "GETFILESTATUS":
            self.answer_json(200, {"FileStatus": self.status_of(self.file, "")})
        elif self.query["op"] == "LISTSTATUS":
            self.answer_json(200, self.statuses_of(self.find_files()))
        elif self.query["op"] != "OPEN" or not self.file.is_file():
            self.fail("IllegalArgumentException")
        elif self.server.redirects:
            self.redirect()
        else:
            self.send_range()

    def status_of(self, file, name):
        stat = file.stat()
        return {
            "accessTime": 1320171722771,
            "blockSize": 33554432,
            "childrenNum": 0,
            "fileId": stat.st_ino,
            "group": "supergroup",
            "length": 0 if file.is_dir() else stat.st_size,
            "modificationTime": stat.st_mtime_ns // 1_000_000,
            "owner": "webuser",
            "pathSuffix": name,
            "permission": "644",
            "replication": 1,
            "storagePolicy": 0,
            "type": "DIRECTORY" if file.is_dir() else "FILE",
        }

    def find_files(self):
        """In the order of HDFS: by bytes, which are signed there."""
        files = self.file.iterdir() if self.file.is_dir() else [self.file]
        return sorted(files, key=signed_name)

    def statuses_of(self, files):
        is_folder = self.file.is_dir()
        found = [self.status_of(file, file.name if is_folder else "") for file in files]
        return {"FileStatuses": {"FileStatus": found}}

    def redirect(self):
        query = {
            name: self.query[name]
            for name in ("op", "offset", "length", "user.name")
            if name in self.query
        }
        if self.server.token is not None:
            query["delegation"] = BLOCK_TOKEN
        query["namenoderpcaddress"] = "localhost:8020"
        text = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        host = f"{self.server.scheme}://localhost:{self.server.datanode.server_port}"
        self.answer(307, Location=f"{host}{PREFIX}/{quote(self.name)}?{text}")
