"""A proxy for tests: it forwards requests to any HTTP server and makes its replies fail.

Requests are forwarded as they are, with their header Host, so that signatures stay valid. The
server's whole reply is read, and then sent as a fault says: changed, late, in pieces, or not at
all. `proxy.plan(FAULT, times)` makes the next requests fail; `proxy.choose` may be replaced by any
function that finds the fault of a request. Faults are combined with `|`.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

FOREVER = 1 << 30
CREDENTIALS = {"key": "KEY-HIDDEN", "secret": "SECRET-HIDDEN", "token": "TOKEN-HIDDEN"}


@dataclass
class Request:
    """The head of a request."""

    method: str
    path: str
    headers: http.client.HTTPMessage

    def is_listing(self):
        return "list-type=2" in self.path

    def is_object(self):
        return not self.is_listing()


@dataclass
class Reply:
    """What the server answered, for faults to change."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes

    def get(self, name):
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return found[0] if found else None

    def remove(self, *names):
        lower = {name.lower() for name in names}
        self.headers = [header for header in self.headers if header[0].lower() not in lower]

    def replace(self, name, value):
        self.remove(name)
        self.headers.append((name, value))

    def head(self):
        lines = [f"HTTP/1.1 {self.status} {self.reason}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


class Client:
    """The connection to the program under test."""

    def __init__(self, connection):
        self.connection = connection
        self.is_open = True

    def send(self, data):
        try:
            self.connection.sendall(data)
        except OSError:
            self.is_open = False

    def close(self):
        """Ends the connection in order, after what was sent."""
        self.is_open = False
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    def reset(self):
        """Ends the connection with RST. What was sent may be lost."""
        self.is_open = False
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def wait_until_closed(self, seconds):
        """Sends nothing until the other side closes the connection."""
        self.is_open = False
        self.connection.settimeout(seconds)
        with contextlib.suppress(OSError):
            while self.connection.recv(4096):
                pass


def send_whole(client, reply):
    client.send(reply.head() + reply.body)


@dataclass(frozen=True)
class Fault:
    """How a reply is changed, and how it is sent."""

    change: Callable[[Request, Reply], None] | None = None
    send: Callable[[Client, Reply], None] | None = None

    def __or__(self, other):
        """Both changes, in order, sent as the second fault says, if it says so."""
        changes = [fault.change for fault in (self, other) if fault.change]

        def change(request, reply):
            for each in changes:
                each(request, reply)

        return Fault(change, other.send or self.send)


@dataclass
class Plan:
    """The fault of the next `times` requests that `where` accepts."""

    fault: Fault
    times: int
    where: Callable[[Request], bool]
    used: int = field(default=0)


class FaultProxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, target, *, context=None, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        parts = urlsplit(target)
        self.target = (parts.hostname, parts.port)
        self.context = context
        self.requests = []
        self.plans = []
        self.connections = set()
        self.lock = threading.Lock()
        self.choose = self.next_planned
        self.server_port = self.server_address[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        """Ends all connections, as the end of the server's process would."""
        self.shutdown()
        self.server_close()
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, client_address):
        pass  # the program under test may close its connections at any time

    def options(self, **more):
        """Storage options to reach the server through the proxy as S3, with credentials."""
        return {"endpoint": self.url, "timeout": 20, **CREDENTIALS, **more}

    def plan(self, fault, times=1, where=Request.is_object):
        self.plans.append(Plan(fault, times, where))

    def used(self):
        """How many requests failed as planned."""
        return sum(plan.used for plan in self.plans)

    def clear(self):
        with self.lock:
            self.plans = []
            self.requests = []
        self.choose = self.next_planned

    def next_planned(self, request):
        with self.lock:
            for plan in self.plans:
                if plan.used < plan.times and plan.where(request):
                    plan.used += 1
                    return plan.fault
        return None

    def ask(self, request):
        """The server's reply."""
        upstream = http.client.HTTPConnection(*self.target, timeout=60)
        try:
            upstream.putrequest(
                request.method, request.path, skip_host=True, skip_accept_encoding=True
            )
            for name, value in request.headers.items():
                if name.lower() != "connection":
                    upstream.putheader(name, value)
            upstream.endheaders()
            answer = upstream.getresponse()
            body = answer.read()
            reply = Reply(answer.status, answer.reason, answer.getheaders(), body)
        finally:
            upstream.close()
        reply.remove("Transfer-Encoding", "Connection")
        reply.replace("Content-Length", str(len(body)))
        return reply


class Handler(socketserver.BaseRequestHandler):
    """One connection: any number of requests."""

    def setup(self):
        with self.server.lock:
            self.server.connections.add(self.request)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.server.context:
            self.request.settimeout(60)
            self.request = self.server.context.wrap_socket(self.request, server_side=True)

    def finish(self):
        with self.server.lock:
            self.server.connections.discard(self.request)

    def handle(self):
        client = Client(self.request)
        stream = self.request.makefile("rb")
        while client.is_open:
            line = stream.readline(65537).decode("latin-1").split()
            if len(line) != 3:
                return
            request = Request(line[0], line[1], http.client.parse_headers(stream))
            with self.server.lock:
                self.server.requests.append(request)
            fault = self.server.choose(request) or Fault()
            reply = self.server.ask(request)
            if fault.change:
                fault.change(request, reply)
            (fault.send or send_whole)(client, reply)


def check_message(error):
    """No message contains a credential or a signature."""
    text = f"{error} {error!r}"
    assert "HIDDEN" not in text and "Signature=" not in text and "Credential=" not in text


# ---- Faults of the connection.


def part_of(body, share):
    """The first bytes of a body: not all, and at least one if it has two."""
    return body[: min(max(1, int(len(body) * share)), max(0, len(body) - 1))]


def ending(end, share=None):
    """Sends a part of the body, or (None) nothing at all, and ends the connection."""

    def send(client, reply):
        if share is not None:
            client.send(reply.head() + part_of(reply.body, share))
        end(client)

    return Fault(send=send)


def ending_in_head(end):
    def send(client, reply):
        client.send(reply.head()[:30])
        end(client)

    return Fault(send=send)


def stalling(share=None, seconds=100):
    """Sends a part of the reply, and then nothing more until the client gives up."""
    return ending(lambda client: client.wait_until_closed(seconds), share)


def late(seconds):
    def send(client, reply):
        time.sleep(seconds)
        send_whole(client, reply)

    return Fault(send=send)


def dripping(pieces, pause):
    """Sends head and body in many pieces."""

    def send(client, reply):
        data = reply.head() + reply.body
        size = len(data) // pieces + 1
        for begin in range(0, len(data), size):
            if not client.is_open:
                return
            client.send(data[begin : begin + size])
            time.sleep(pause)

    return Fault(send=send)


def cut_slowly(seconds, pieces=10):
    """Sends half of the body in pieces, for this time, and ends the connection."""

    def send(client, reply):
        body = part_of(reply.body, 0.5)
        client.send(reply.head())
        for i in range(pieces):
            client.send(body[len(body) * i // pieces : len(body) * (i + 1) // pieces])
            time.sleep(seconds / pieces)
        client.close()

    return Fault(send=send)


def chunked(*, is_complete=True, sizes=(1, 7, 4096)):
    """Sends the body in chunks, with an extension and a trailer."""

    def send(client, reply):
        reply.remove("Content-Length")
        reply.replace("Transfer-Encoding", "chunked")
        data, begin, step, chunks = reply.body, 0, 0, []
        while begin < len(data):
            piece = data[begin : begin + sizes[step % len(sizes)]]
            chunks.append(b"%x;name=value\r\n%s\r\n" % (len(piece), piece))
            begin, step = begin + len(piece), step + 1
        if is_complete:
            client.send(reply.head() + b"".join(chunks) + b"0\r\nX-Trailer: x\r\n\r\n")
        else:
            client.send(reply.head() + b"".join(chunks[: len(chunks) // 2]) + b"zz\r\n")
            client.close()

    return Fault(send=send)


def unsized(edit=lambda body: body):
    """Sends the body without its length: it ends with the connection."""

    def send(client, reply):
        reply.remove("Content-Length")
        reply.replace("Connection", "close")
        client.send(reply.head() + edit(reply.body))
        client.close()

    return Fault(send=send)


def raw(data):
    """Sends these bytes instead of a reply."""

    def send(client, reply):
        client.send(data)
        client.close()

    return Fault(send=send)


def preceded_by(data):
    return Fault(send=lambda client, reply: client.send(data + reply.head() + reply.body))


def followed_by(data):
    return Fault(send=lambda client, reply: client.send(reply.head() + reply.body + data))


# ---- Faults of the reply.


def failing(status, code="", **headers):
    """An error as S3 sends it. The body repeats the credentials of the request, as some servers'
    do."""

    def change(request, reply):
        echo = str(request.headers["Authorization"]) + str(request.headers["X-Amz-Security-Token"])
        body = f"<Error><Code>{code}</Code><StringToSign>{echo}</StringToSign></Error>"
        reply.status, reply.reason, reply.body = status, "Error", body.encode()
        reply.headers = [(name.replace("_", "-"), value) for name, value in headers.items()]
        reply.replace("Content-Length", str(len(reply.body)))

    return Fault(change)


def redirecting(location, status=302, **headers):
    return failing(status, Location=location, **headers)


def flipping(offset):
    """Flips a bit of the body."""

    def change(request, reply):
        body = bytearray(reply.body)
        body[offset % len(body)] ^= 4
        reply.body = bytes(body)

    return Fault(change)


def setting(name, value):
    """Replaces a header; with None, removes it. A function finds the value from the old one."""

    def change(request, reply):
        new = value(reply.get(name)) if callable(value) else value
        reply.remove(name)
        if new is not None:
            reply.headers.append((name, new))

    return Fault(change)


def adding(*headers):
    return Fault(lambda request, reply: reply.headers.extend(headers))


def resizing(edit):
    """Replaces the body, with a Content-Length that is right."""

    def change(request, reply):
        reply.body = edit(reply.body)
        reply.replace("Content-Length", str(len(reply.body)))

    return Fault(change)
