"""Fixtures: the digits in data/, generated records, and helpers to write and damage files."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import recmap
from disk_space import NO_CACHE_SPACE, has_cache_space
from fault_proxy import FaultProxy
from object_server import DIGITS_URL, ObjectServer
from recmap._base.imports import is_installed
from recmap._options import clouds

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs/formats"))  # the reader that tests compare the library with


def decodes_pictures():
    """Returns true unless recmap was built with RECMAP_WITH_IMAGES=OFF."""
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0"
    try:
        recmap.decode_image(header)
    except recmap.UnsupportedError:
        return False
    except recmap.FeatureError:  # the pixels are missing
        return True
    raise AssertionError("a picture without pixels was decoded")


needs_images = pytest.mark.skipif(
    not decodes_pictures(), reason="this build does not decode pictures: RECMAP_WITH_IMAGES=OFF"
)

needs_cache_space = pytest.mark.skipif(not has_cache_space(), reason=NO_CACHE_SPACE)

# A shell ignores SIGINT for background jobs, and Python then installs no handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
DIGITS = ROOT / "data" / "digits"


@pytest.fixture(scope="session")
def digits_index(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits.rmx"
    recmap.open(DIGITS, id="id", lift=["label"], index=path)
    return path


@pytest.fixture
def digits(digits_index):
    with recmap.open(DIGITS, index=digits_index) as ds:
        yield ds


@pytest.fixture(scope="session")
def payloads():
    """3,210 records of 0 to 123 bytes."""
    made = random.Random(7)
    return [made.randbytes(made.randrange(124)) for _ in range(3210)]


def write(folder, payloads, shards=1, name="made-{shard}.tfrecord", **more):
    with recmap.Writer(str(Path(folder) / name), shards, **more) as writer:
        for payload in payloads:
            writer.write(payload)
    return [Path(path) for path in writer.paths]


@pytest.fixture
def made(tmp_path, payloads):
    """The payloads in one shard."""
    write(tmp_path, payloads)
    with recmap.open(tmp_path / "made-*.tfrecord") as ds:
        yield ds


KEPT = 3 << 20


@pytest.fixture
def packed(tmp_path, payloads):
    """The payloads in a compressed shard, opened with a small span_keep_size."""
    (plain,) = write(tmp_path, payloads)
    path = tmp_path / "packed.tfrecord.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    with recmap.open(path, access=recmap.Reading(span_keep_size=KEPT)) as ds:
        yield ds


def kept_of(ds):
    """The configured limit for inflated bytes that a data set keeps."""
    return ds.info["compressed"]["kept_bytes"]


@pytest.fixture
def copied_digits(tmp_path):
    """The shards of the digits in a writable folder."""
    for shard in sorted(DIGITS.glob("*.tfrecord")):
        shutil.copy(shard, tmp_path / shard.name)
    return tmp_path


def shards(folder):
    return sorted(str(path) for path in folder.glob("*.tfrecord"))


def flip(path, at, bits=0x40):
    """Damages one byte of a file."""
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ bits]))


def later(path):
    """Sets the modification time of a file far into the future."""
    os.utime(path, (2**31, 2**31))


def text_index(shard):
    """The text index of a shard as DALI's tfrecord2idx writes it: `OFFSET SIZE` per frame."""
    data, at, lines = shard.read_bytes(), 0, []
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little") + 16
        lines.append(f"{at} {size}\n")
        at += size
    return "".join(lines)


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    """The framing of docs/examples as a shared object: sizes have four bytes, big-endian."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("plugin") / "framing.so"
    source, include = ROOT / "docs/examples/framing.c", f"-I{ROOT / 'include'}"
    subprocess.run([compiler, "-shared", "-fPIC", include, source, "-o", path], check=True)
    return path


# ---- Shards in an object store.


@pytest.fixture
def no_environment(monkeypatch):
    """Hides the credentials and endpoints of this machine from a test."""
    for name in list(os.environ):
        if name.startswith(
            ("AWS_", "AZURE_", "HADOOP_", "GCE_", "GOOGLE_")
        ) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/does/not/exist")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/does/not/exist")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv("RECMAP_CREDENTIAL_PROCESS", raising=False)


@pytest.fixture(autouse=True)
def no_library_of_clouds(monkeypatch):
    """Only tests of the libraries ask them for credentials: others may depend on whether they are
    installed."""
    monkeypatch.setattr(clouds, "is_installed", lambda name: False)


@pytest.fixture
def libraries(monkeypatch, no_library_of_clouds):
    """They are asked, as they are without the tests' settings."""
    monkeypatch.setattr(clouds, "is_installed", is_installed)


@pytest.fixture
def server(tmp_path, no_environment):
    """Serves a copy of the digits in the bucket `train`."""
    bucket = tmp_path / "served" / "train"
    shutil.copytree(DIGITS, bucket)
    with ObjectServer(tmp_path / "served") as server:
        try:
            recmap.open(f"{server.url}/train/x", index=tmp_path / "x.rmx")
        except recmap.UnsupportedError:
            pytest.skip("this build of recmap has no support for URLs")
        except recmap.Error:
            server.requests.clear()
        yield server


@pytest.fixture
def remote(server, tmp_path):
    options = server.options()
    index = tmp_path / "remote.rmx"
    with recmap.open(
        DIGITS_URL, index=index, id="id", storage=recmap.Storage(options=options)
    ) as ds:
        server.requests.clear()
        yield ds


@pytest.fixture
def local(digits_index):
    with recmap.open(digits_index, shards=DIGITS) as ds:
        yield ds


@pytest.fixture
def proxy(server):
    """Makes requests to the server fail."""
    with FaultProxy(server.url) as proxy:
        yield proxy


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder for temporary files. It must be empty after the test."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def watchdog():
    """Makes a hang an error. The time is far longer than any time limit in the tests."""
    seconds = 240

    def ring(number, frame):
        raise TimeoutError(f"the test did not end within {seconds} s")

    former = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)
