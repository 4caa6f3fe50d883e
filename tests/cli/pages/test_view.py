"""recmap view: its server answers the owner of its secret alone."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

from pages.test_report import png
from pages.view_server import ELSEWHERE, ViewTest
from support import COMMAND, example, signals_as_usual, tfrecord

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Server(ViewTest):
    def test_page_and_headers(self):
        self.view(example(label=1))
        types = {
            "": "text/html; charset=utf-8",
            "page.css": "text/css; charset=utf-8",
            "page.js": "text/javascript; charset=utf-8",
        }
        for resource, kind in types.items():
            status, headers, body = self.get(resource)
            self.assertEqual(status, 200)
            self.assertEqual(headers["Content-Type"], kind)
            self.assertEqual(headers["Content-Length"], str(len(body)))
            self.assertEqual(headers["Content-Security-Policy"], ELSEWHERE if resource else POLICY)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertEqual(headers["Cache-Control"], "no-store")
            head, head_headers, nothing = self.get(resource, method="HEAD")
            self.assertEqual((head, head_headers, nothing), (200, headers, b""))
        script = self.get("page.js")[2]
        for word in (b"innerHTML", b"outerHTML", b"insertAdjacent", b"document.write", b"eval("):
            self.assertNotIn(word, script)

    def test_requests_need_the_secret(self):
        self.view(example(label=1))
        wrong = ("0" if self.secret[0] != "0" else "1") + self.secret[1:]
        self.assertEqual(self.get("", secret=wrong)[0], 403)
        self.assertEqual(self.get("api/info", secret=wrong)[0], 403)
        host = f"Host: {self.host}\r\n\r\n".encode()
        for path in ("/", "/favicon.ico", "/api/info", f"/{self.secret}", f"/{self.secret[:31]}/"):
            self.assertEqual(self.status(f"GET {path} HTTP/1.1\r\n".encode() + host), 403, path)
        reply = self.exchange(b"GET / HTTP/1.1\r\n" + host)
        self.assertNotIn(self.secret.encode(), reply)
        self.assertIn(b"The secret of this address is missing or wrong", reply)

    def test_another_run_has_another_secret(self):
        self.view(example(label=1))
        secret = self.secret
        self.start()
        self.assertNotEqual(secret, self.secret)

    def test_host_and_origin(self):
        self.view(example(label=1))
        line = f"GET /{self.secret}/api/info HTTP/1.1\r\n".encode()
        for host in (self.host, f"localhost:{self.port}"):
            self.assertEqual(self.status(line + f"Host: {host}\r\n\r\n".encode()), 200)
            own = f"Host: {host}\r\nOrigin: http://{host}\r\n\r\n"
            self.assertEqual(self.status(line + own.encode()), 200)
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1", "localhost", ""):
            self.assertEqual(self.status(line + f"Host: {host}\r\n\r\n".encode()), 403, host)
        self.assertEqual(self.status(line + b"\r\n"), 400)
        twice = f"Host: {self.host}\r\nHost: {self.host}\r\n\r\n"
        self.assertEqual(self.status(line + twice.encode()), 400)
        for origin in ("http://evil.example", "null", f"https://{self.host}", "http://127.0.0.1"):
            self.assertEqual(self.get("api/info", Origin=origin)[0], 403, origin)

    def test_requests_of_other_sites_are_refused(self):
        self.view(example(label=1))
        page = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        for site in ("same-origin", "none"):
            self.assertEqual(self.get("api/info", Sec_Fetch_Site=site)[0], 200)
        for site in ("cross-site", "same-site"):
            self.assertEqual(self.get("api/info", Sec_Fetch_Site=site)[0], 403)
            self.assertEqual(self.get("page.js", Sec_Fetch_Site=site)[0], 403)
            self.assertEqual(self.get("api/info", Sec_Fetch_Site=site, **page)[0], 403)
            # A link to the page may be in a chat.
            self.assertEqual(self.get("", Sec_Fetch_Site=site, **page)[0], 200)
            frame = {**page, "Sec_Fetch_Dest": "iframe"}
            self.assertEqual(self.get("", Sec_Fetch_Site=site, **frame)[0], 403)

    def test_files_are_not_served(self):
        self.view(example(label=1))
        line = "GET /{}/{} HTTP/1.1\r\nHost: {}\r\n\r\n"
        for path in (
            "a.rmx",
            "a.tfrecord",
            "../a.rmx",
            "../../../../etc/passwd",
            "..%2f..%2fetc/passwd",
            "%2e%2e/page.js",
            "/etc/passwd",
            "page.js/",
            "api",
            "api/",
            "api/info/",
            "api/shards",
        ):
            data = line.format(self.secret, path, self.host).encode()
            self.assertEqual(self.status(data), 404, path)

    def test_methods_and_bodies(self):
        self.view(example(label=1))
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"):
            status, headers, _ = self.get("api/info", method=method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        self.assertEqual(self.get("api/info", Content_Length="5")[0], 413)
        self.assertEqual(self.get("api/info", Transfer_Encoding="chunked")[0], 413)
        self.assertEqual(self.get("api/info", Content_Length="0")[0], 200)

    def test_malformed_requests_are_refused(self):
        process = self.view(example(label=1))
        path = f"/{self.secret}/api/info"
        end = f"\r\nHost: {self.host}\r\n\r\n"
        for first, status in (
            (f"GET {path} HTTP/1.0", 200),
            (f"GET {path} HTTP/2.0", 505),
            (f"GET {path} FTP/1.1", 400),
            (f"GET {path}", 400),
            (f"GET {path}\x01 HTTP/1.1", 404),
            (f"GET http://{self.host}{path} HTTP/1.1", 403),
            (f"GET {path} HTTP/1.1\r\nno colon", 400),
            (f"GET {path} HTTP/1.1\r\nX: a\nb", 400),
            (f"GET {path} HTTP/1.1\r\nHost: evil.example", 400),
            (f"GET {path} HTTP/1.1\r\nContent-Length: x", 400),
            (f"GET {path} HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 0", 400),
            (f"GET {path} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5", 413),
            (f"GET {path} HTTP/1.1" + "\r\nX: y" * 2000, 431),
            (f"GET {path} HTTP/1.1\r\nX: " + "y" * 30_000, 431),
            (f"GET {path}?" + "y" * 100_000 + " HTTP/1.1", 414),
        ):
            reply = self.exchange((first + end).encode())
            self.assertRegex(reply, rb"\AHTTP/1\.1 %d [A-Z]" % status, first[:100])
            self.assertNotIn(self.secret.encode(), reply)
        for first in ("\x16\x03\x01", f"GET {path} x HTTP/1.1", f"GET {path}?" + "&" * 20_000):
            self.assertNotIn(b"200", self.exchange((first + end).encode()), first[:100])
        self.ask("info")
        self.assertEqual(self.stop(process), (b"", b"", -signal.SIGINT))

    def test_a_connection_ends_with_its_first_reply(self):
        self.view(example(label=1))
        request = f"GET /{self.secret}/page.css HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()
        reply = self.exchange(request * 3)
        self.assertEqual(reply.count(b"HTTP/1.1 200 OK"), 1)
        self.assertTrue(reply.endswith(self.get("page.css")[2]))
        for resource in ("page.css", "api/info", "api/nothing"):
            for method in ("GET", "HEAD", "POST"):
                headers = self.get(resource, method=method, Connection="keep-alive")[1]
                self.assertEqual(headers["Connection"], "close", (resource, method))

    def test_malformed_fields_are_refused(self):
        self.view(example(label=1))
        for query, what in (
            ("rows", "the field 'first' must be a number"),
            ("rows?first=-1&count=1", "the field 'first' must be a number"),
            ("rows?first=0&count=501", "the field 'count' must be at most 500"),
            ("rows?first=1e3&count=1", "the field 'first' must be a number"),
            ("rows?first=18446744073709551616&count=1", "the field 'first' must be a number"),
            ("rows?first=100000000000000000000&count=1", "the field 'first' must be a number"),
            ("rows?first=0&count=1&seed=x", "the field 'seed' is malformed"),
            ("rows?first=0&count=1&seed=18446744073709551616", "the field 'seed' is malformed"),
            ("rows?first=0&count=1&epoch=99999999999999999999", "the field 'epoch' is malformed"),
            ("rows?first=0&count=1&filter=%", "the field 'filter' is malformed"),
            ("rows?first=0&count=1&filter=%00", "the field 'filter' is malformed"),
            ("rows?first=0&count=1&filter=" + "y" * 3000, "the field 'filter' is malformed"),
            ("find?id=%zz", "the field 'id' is malformed"),
            ("find", "the field 'number' must be a number"),
            ("record", "the field 'number' must be a number"),
            ("hex?number=0&first=x", "the field 'first' must be a number"),
            ("media?number=0&part=x", "the field 'part' must be a number"),
            (
                "media?number=0&part=18446744073709551615",
                "the field 'part' must be at most 18446744073709551614",
            ),
        ):
            status, _, body = self.get(f"api/{query}")
            self.assertEqual((status, json.loads(body)["error"]), (400, what), query)
        for number in (1, 2**64 - 1):
            for name in ("record", "hex", "media", "find"):
                query = f"{name}?number={number}"
                status, _, body = self.get(f"api/{query}")
                self.assertEqual(status, 400, query)
                self.assertIn(f"record {number} is out of range", json.loads(body)["error"])
        self.assertEqual(self.ask("rows", first=2**64 - 1, count=1)["rows"], [])

    def test_slow_clients_keep_nobody_waiting(self):
        self.view(example(label=1))
        idle = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(100)]
        try:
            slow = idle[-1]
            slow.sendall(f"GET /{self.secret}/api/info HTTP/1.1\r\n".encode())
            self.assertEqual(self.ask("info")["count"], 1)
            # The server closes a connection that does not finish its request.
            slow.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                self.assertEqual(slow.recv(1), b"")
        finally:
            for connection in idle:
                connection.close()
        self.assertEqual(self.ask("info")["count"], 1)

    def test_clients_that_never_finish_keep_nobody_waiting(self):
        """No byte is late, so that only the number of connections ends them."""
        self.view(example(label=1))
        slow = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(100)]
        is_over = threading.Event()

        def trickle():
            while not is_over.wait(0.2):
                for connection in slow:
                    with contextlib.suppress(OSError):
                        connection.send(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            self.assertEqual(self.ask("info")["count"], 1)
        finally:
            is_over.set()
            thread.join()
            for connection in slow:
                connection.close()

    def test_a_client_that_leaves_early(self):
        self.view(example(image=png(10, 10) + bytes(5_000_000)))
        line = f"GET /{self.secret}/api/media?number=0&part=0&value=0 HTTP/1.1\r\n"
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.sendall(f"{line}Host: {self.host}\r\n\r\n".encode())
                connection.recv(100)
        self.assertEqual(self.ask("info")["count"], 1)

    def test_signals_end_the_server(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.view(example(label=1))
            self.assertEqual(self.stop(process, number), (b"", b"", -number))

    def test_a_script_that_ignores_interrupts(self):
        """As a shell script starts `recmap view a.rmx &`: its message names what works."""

        def ignore():
            signals_as_usual()
            signal.signal(signal.SIGINT, signal.SIG_IGN)

        self.write("a.tfrecord", tfrecord([example(label=1)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        process = self.start(prepare=ignore)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.ask("info")["count"], 1)
        self.assertEqual(self.stop(process, signal.SIGTERM), (b"", b"", -signal.SIGTERM))

    def test_a_used_port_is_reported(self):
        self.view(example(label=1))
        self.check(
            "view",
            "--no-browser",
            "--port",
            str(self.port),
            "a.rmx",
            status=4,
            err=(
                f"recmap: {self.host}: cannot listen: Address already in use\n"
                "  try another port, or leave out --port\n"
            ),
        )

    def test_a_missing_library_is_reported(self):
        self.write("a.tfrecord", tfrecord([example(label=1)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        self.write("libmicrohttpd.so.12", b"")
        self.check(
            "view",
            "a.rmx",
            status=3,
            err=(
                "recmap: the page is served with libmicrohttpd, which cannot be loaded: "
                f"{self.path('libmicrohttpd.so.12')}: file too short\n"
                "  install libmicrohttpd 0.9.75 or later (Debian: libmicrohttpd12), or write a "
                "page to a file with 'recmap report'\n"
            ),
            env={**os.environ, "LD_LIBRARY_PATH": self.folder},
        )

    def test_wrong_usage_is_explained(self):
        self.view(example(label=1))
        self.check_wrong("view", what="no index given")
        self.check_wrong("view", "a.rmx", "b.rmx", what="only one index can be given")
        self.check_wrong(
            "view", "--port", "65536", "a.rmx", what="--port must be at most 65535, not 65536"
        )
        self.check_wrong(
            "view", "--port", "x", "a.rmx", what="--port must be a whole number, not 'x'"
        )

    def test_browser_is_started_without_the_secret(self):
        self.write("a.tfrecord", tfrecord([example(label=1)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        # It keeps the name and the content of its file in another.
        script = (
            '#!/bin/sh\n(echo "$*"; stat -c %a "$1"; cat "$1") > opened.new\nmv opened.new opened\n'
        )
        self.write("bin/xdg-open", script.encode())
        os.chmod(self.path("bin", "xdg-open"), 0o755)
        environment = {
            **os.environ,
            "PATH": self.path("bin") + ":" + os.environ["PATH"],
            "DISPLAY": ":1",
            "XDG_RUNTIME_DIR": self.folder,
        }
        process = subprocess.Popen(
            [COMMAND, "view", "a.rmx"],
            cwd=self.folder,
            env=environment,
            preexec_fn=signals_as_usual,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(self.stop, process)
        url = process.stdout.readline().decode().strip()
        while "opened" not in self.files():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        arguments, mode, content = self.read("opened").decode().split("\n", 2)
        self.assertRegex(arguments, re.escape(self.folder) + r"/recmap-view-\w{6}\.html")
        self.assertNotIn(url.split("/")[3], arguments)
        self.assertEqual(mode, "600")
        self.assertEqual(
            content, f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={url}">\n'
        )
        _, err, _ = self.stop(process)
        self.assertEqual(
            err.decode(),
            "recmap: a.rmx: showing 1 record; Ctrl-C stops\n"
            "recmap: if the browser shows an error, open the address above in it\n",
        )
        self.assertFalse([name for name in self.files() if name.startswith("recmap-view-")])

    def test_without_a_display(self):
        self.write("a.tfrecord", tfrecord([example(label=1)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        environment = {k: v for k, v in os.environ.items() if "DISPLAY" not in k}
        process = subprocess.Popen(
            [COMMAND, "view", "a.rmx"],
            cwd=self.folder,
            env=environment,
            preexec_fn=signals_as_usual,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(self.stop, process)
        process.stderr.readline()
        self.assertEqual(
            process.stderr.readline(),
            b"recmap: no browser can be started here: open the address above in one\n",
        )


if __name__ == "__main__":
    unittest.main()
