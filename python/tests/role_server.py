"""A server that issues credentials as the services of Amazon do, or as a test says."""

import json
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import recmap
from object_server import DIGITS_URL, unused_port


class RoleServer(ThreadingHTTPServer):
    """Issues credentials like STS, the portal of IAM Identity Center, a container's endpoint and
    the metadata service at once."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", unused_port()), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.seconds = 3600.0
        self.requests = []  # (method, path, headers, body)
        self.answers = {}  # path: (status, body) that replaces the usual one
        self.failures = {}  # path: how many requests fail before others do not
        self.count = 0

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # the client refused the rest of a reply

    def issue(self):
        self.count += 1
        expires = datetime.now(UTC) + timedelta(seconds=self.seconds)
        return {
            "Code": "Success",
            "AccessKeyId": f"ROLE{self.count}",
            "SecretAccessKey": "HIDDEN/secret+1",
            "Token": "HIDDEN-token==",
            "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "More": {"nested": [1, "}"]},
        }

    def paths(self):
        return [f"{method} {path}" for method, path, _, _ in self.requests]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "application/json")
        self.send_header("Metadata-Flavor", "Google")
        self.end_headers()
        self.wfile.write(data)

    def handle_request(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        server = self.server
        server.requests.append((self.command, self.path, self.headers, body))
        bare = self.path.partition("?")[0]
        status, text = server.answers.get(self.path) or server.answers.get(bare, (0, ""))
        if server.failures.get(self.path, 0):
            server.failures[self.path] -= 1
            self.answer(500, "")
        elif status:
            self.answer(status, text)
        elif self.path == "/":
            self.answer(200, sts_reply(server.issue(), parse_qs(body)["Action"][0]))
        elif self.path == "/container":
            self.answer(200, json.dumps(server.issue()))
        elif self.path.startswith("/federation/credentials?"):
            self.answer(200, portal_reply(server.issue()))
        else:
            self.answer_machine()

    do_GET = do_PUT = do_POST = handle_request

    def answer_machine(self):
        folder = "/latest/meta-data/iam/security-credentials/"
        if self.command == "PUT" and self.path == "/latest/api/token":
            self.answer(200, "IMDS-TOKEN==")
        elif self.headers["X-aws-ec2-metadata-token"] != "IMDS-TOKEN==":
            self.answer(401, "")
        elif self.path == folder:
            self.answer(200, "trainer-role")
        elif self.path == folder + "trainer-role":
            self.answer(200, json.dumps(self.server.issue()))
        else:
            self.answer(404, "")


def sts_reply(issued, action):
    names = {"AccessKeyId", "SecretAccessKey", "Expiration"}
    values = {name: value for name, value in issued.items() if name in names}
    values["SessionToken"] = issued["Token"]
    items = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return (
        f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result>'
        "<AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/reader/recmap</Arn></AssumedRoleUser>"
        f"<Credentials>{items}</Credentials></{action}Result></{action}Response>"
    )


def portal_reply(issued):
    """The time is a number of milliseconds."""
    expires = datetime.fromisoformat(issued["Expiration"]).timestamp()
    values = {
        "accessKeyId": issued["AccessKeyId"],
        "secretAccessKey": issued["SecretAccessKey"],
        "sessionToken": issued["Token"],
        "expiration": int(expires * 1000),
    }
    return json.dumps({"roleCredentials": values})


def opened(server, tmp_path, **more):
    options = {"endpoint": server.url, "timeout": 20, **more}
    return recmap.open(
        DIGITS_URL, index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)
    )


def keys_of(server):
    """The access keys of all requests, in order."""
    found = []
    for _, headers in server.requests:
        authorization = headers["Authorization"]
        found.append(authorization and authorization.partition("Credential=")[2].partition("/")[0])
    return found
