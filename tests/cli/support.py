"""Shared by the command line tests: makes TFRecord files and runs the command on them.

Nothing of recmap is used to make or to check files: the framing, its CRC and tf.Example are written
again below, from their specifications.
"""

import ctypes
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIGITS = os.path.join(ROOT, "data", "digits")
COMMAND = os.environ["RECMAP_COMMAND"]

with open(COMMAND, "rb") as _file:
    _code = _file.read()
IS_SANITIZED = b"__asan_init" in _code or b"__tsan_init" in _code

# Every so many cases of a sweep is run: see tests/support/rounds.h.
STEP = {"1": 3, "2": 9}.get(os.environ.get("RECMAP_TEST_SHORT"), 1)


# A build without decoders still has the commands.
needs_images = unittest.skipIf(
    os.environ.get("RECMAP_WITH_IMAGES") == "OFF", "this build does not decode pictures"
)

# The decoder of docs/examples, and a picture of 3 x 2 pixels for it: a run of 3 black ones, then a
# red, a green and a white one.
DECODER = os.environ.get("RECMAP_DECODER", "")
needs_decoder = unittest.skipUnless(DECODER, "skipped: no decoder was built")
QOI_PIXELS = bytes(9) + b"\xff\0\0" + b"\0\xff\0" + b"\xff\xff\xff"
QOI = (
    b"qoif" + struct.pack(">IIBB", 3, 2, 3, 0) + b"\xc2"
    + b"\xfe\xff\0\0" + b"\xfe\0\xff\0" + b"\xfe\xff\xff\xff" + bytes(7) + b"\1"
)  # fmt: skip


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(payload):
    length = struct.pack("<Q", len(payload))
    return length + masked(length) + payload + masked(payload)


def make_payloads(seed, count):
    draw = random.Random(seed)
    return [b"\x0a" + draw.randbytes(draw.choice([0, 1, 9, 100, 3000])) for _ in range(count)]


def tfrecord(payloads):
    return b"".join(frame(payload) for payload in payloads)


def parse_tfrecord(data):
    """Returns the payloads. Every CRC must be correct and no bytes may follow the last record."""
    payloads, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        assert data[at + 8 : at + 12] == masked(data[at : at + 8]), f"length CRC at {at}"
        payload = data[at + 12 : at + 12 + size]
        assert len(payload) == size, f"cut record at {at}"
        assert data[at + 12 + size : at + 16 + size] == masked(payload), f"data CRC at {at}"
        payloads.append(payload)
        at += 16 + size
    return payloads


def _varint(value):
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _feature(values):
    values = values if isinstance(values, list) else [values]
    if not values or isinstance(values[0], (bytes, str)):
        raw = [v.encode() if isinstance(v, str) else v for v in values]
        return _field(1, b"".join(_field(1, v) for v in raw))
    if isinstance(values[0], int):
        return _field(3, _field(1, b"".join(_varint(v) for v in values)))
    return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))


def _entry(name, message):
    return _field(1, _field(1, name.encode()) + _field(2, message))


def example(**features):
    """A tf.Example of values or lists: bytes and str, int (int64 features) or float."""
    return _field(1, b"".join(_entry(n, _feature(v)) for n, v in sorted(features.items())))


def sequence_example(context, lists):
    """A tf.SequenceExample of context features by name, and lists of steps by name."""
    steps = {n: b"".join(_field(1, _feature(v)) for v in values) for n, values in lists.items()}
    return _field(1, b"".join(_entry(n, _feature(v)) for n, v in context.items())) + _field(
        2, b"".join(_entry(n, message) for n, message in steps.items())
    )


def repeated_ids(number):
    """The notice that appended records have ids of old ones."""
    return (
        f"recmap: {number} appended record{' has' if number == 1 else 's have'} the id of a record "
        "that the index had; if the shards are of an older or newer set of the same records, index "
        "the set again\n"
    )


def count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return f"status {self.status}\nstdout {self.out!r}\nstderr {self.err!r}"


def signals_as_usual():
    """For preexec_fn: a shell may ignore these signals for tests in the background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def no_records(path, shards=1, what="empty (0 bytes)"):
    """The message about an index of shards without records."""
    if shards == 1:
        text = f"its shard is {what}; check that it was written"
    else:
        text = f"its {shards} shards are {what}; check that they were written"
    return f"recmap: {path}: the index has no records: {text}\n"


IN_ACCESS, IN_CREATE, IN_ISDIR = 0x1, 0x100, 0x40000000


def watch_folder(folder, mask):
    """A descriptor of inotify(7), from which events in the folder are read."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    assert watch >= 0, os.strerror(ctypes.get_errno())
    assert libc.inotify_add_watch(watch, folder.encode(), mask) >= 0
    return watch


def events_of(watch):
    """The mask and the name of each event so far."""
    events, at = os.read(watch, 1 << 20), 0
    while at < len(events):
        mask, _, size = struct.unpack_from("III", events, at + 4)
        yield mask, events[at + 16 : at + 16 + size].rstrip(b"\0")
        at += 16 + size


def count_listings(watch):
    """How often the watched folder was listed. Equal events that follow each other are one, so
    events between the listings must also be watched."""
    return sum(mask & IN_ACCESS and mask & IN_ISDIR and not name for mask, name in events_of(watch))


class CliTest(unittest.TestCase):
    """Every test starts in its own empty folder; paths are relative to it."""

    maxDiff = None

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="recmap-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.folder))

    def options(self, command):
        """The options that the command takes, without dashes, and their arguments."""
        lines = self.run_recmap(command, "--list-options").out.decode().splitlines()
        return {name[2:]: argument for name, _, argument in (line.partition(" ") for line in lines)}

    def run_recmap(self, *arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("timeout", 120)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(
            [COMMAND, *arguments], cwd=self.folder, stderr=subprocess.PIPE, check=False, **options
        )
        return Result(done.returncode, done.stdout or b"", done.stderr)

    def check(self, *arguments, out=b"", err=b"", status=0, **options):
        """Runs the command; stdout, stderr and exit status must be exactly these."""
        result = self.run_recmap(*arguments, **options)
        out = out.encode() if isinstance(out, str) else out
        err = err.encode() if isinstance(err, str) else err
        self.assertEqual((result.err, result.out, result.status), (err, out, status), result)
        return result

    def check_wrong(self, command, *arguments, what):
        """Wrong usage must print one line with the error and one that refers to --help."""
        self.check(
            command,
            *arguments,
            status=2,
            err=f"recmap: {command}: {what}\n  try 'recmap {command} --help'\n",
        )

    def index(self, *arguments, err="", lost=""):
        """Builds an index. Checks the form of the summary, and that `err` follows it. Returns the
        first part of the summary: path, records, shards, bytes. `lost` are the options of the index
        that is replaced and that are not given now, which a message before the summary names."""
        result = self.run_recmap("index", *arguments)
        self.assertEqual((result.out, result.status), (b"", 0), result)
        line, rest = result.err.decode().split("\n", 1)
        if lost:
            end = "give these options again to keep what they add"
            self.assertEqual(
                line, f"recmap: {self.replaced(arguments)}: the old index had {lost}: {end}"
            )
            line, rest = rest.split("\n", 1)
        number = r"\d+(\.\d+)?(e[+-]?\d+)?"
        match = re.fullmatch(
            rf"recmap: (?P<what>.*); index {number} k?M?B, {number} bytes per record; "
            rf"{number} s, {number} [kMG]?B/s, {number} records/s",
            line,
        )
        self.assertTrue(match, line)
        self.assertEqual(rest, err)
        return match["what"]

    @staticmethod
    def replaced(arguments):
        """The index that the arguments name."""
        return arguments[arguments.index("-o") + 1]

    def payloads(self, index):
        """All records of an index, read with cat."""
        return parse_tfrecord(self.run_recmap("cat", "--format", "tfrecord", index).out)


EXAMPLES = [
    example(id=f"id-{i}", label=i, weights=[0.5, float(i)], image=bytes([i, 255]) * 30)
    for i in range(5)
]
