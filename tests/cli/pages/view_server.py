"""Starts recmap view and sends requests to it, for the tests of its server and its page."""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import urllib.parse

from support import COMMAND, CliTest, no_records, signals_as_usual, tfrecord

# The policy of everything but the page.
ELSEWHERE = "default-src 'none'; frame-ancestors 'none'; sandbox"


class ViewTest(CliTest):
    def start(self, *arguments, count=1, environment=None, prepare=signals_as_usual):
        """Starts the server. Checks what it prints first."""
        arguments = arguments or ("a.rmx",)
        name = next(word for word in arguments if word.endswith((".rmx", ".rmv")))
        process = subprocess.Popen(
            [COMMAND, "view", "--no-browser", *arguments],
            cwd=self.folder,
            preexec_fn=prepare,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.addCleanup(self.stop, process)
        line = process.stdout.readline().decode()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", line)
        self.assertTrue(match, line)
        noun = "record" if count == 1 else "records"
        self.assertEqual(
            process.stderr.readline().decode(),
            f"recmap: {name}: showing {count} {noun}; {self.how_to_stop(process, prepare)}\n",
        )
        self.port, self.secret, self.url = int(match[1]), match[2], line.strip()
        self.host = f"127.0.0.1:{self.port}"
        return process

    @staticmethod
    def how_to_stop(process, prepare):
        return "Ctrl-C stops" if prepare is signals_as_usual else f"'kill {process.pid}' stops"

    def stop(self, process, number=signal.SIGINT):
        """Returns what is left of stdout and stderr, and the exit status."""
        if process.poll() is None:
            process.send_signal(number)
        if process.stdout.closed:
            return None
        out, err = process.communicate(timeout=60)
        return out, err, process.returncode

    def view(self, *records, options=()):
        self.write("a.tfrecord", tfrecord(records))
        self.index(
            *options, "-o", "a.rmx", "a.tfrecord", err="" if records else no_records("a.rmx")
        )
        return self.start(count=len(records))

    def exchange(self, data):
        """Sends bytes, and returns all bytes of the reply."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            # The reply may be sent before the end of the request.
            with contextlib.suppress(OSError):
                connection.sendall(data)
            chunks = []
            # The server does not read the rest of a request forever.
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(1 << 16):
                    chunks.append(chunk)
        return b"".join(chunks)

    def status(self, data):
        match = re.match(rb"HTTP/1\.1 (\d+) [A-Z]", self.exchange(data))
        self.assertTrue(match, data)
        return int(match[1])

    def get(self, resource, method="GET", secret=None, **headers):
        """Returns status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/{secret or self.secret}/{resource}", headers=headers)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        return reply.status, dict(reply.getheaders()), body

    def ask(self, name, status=200, **fields):
        """The JSON that the page would get."""
        query = urllib.parse.urlencode(fields)
        found, headers, body = self.get(f"api/{name}?{query}")
        self.assertEqual((found, headers["Content-Type"]), (status, "application/json"), body)
        self.assertEqual(headers["Content-Security-Policy"], ELSEWHERE)
        return json.loads(body)
