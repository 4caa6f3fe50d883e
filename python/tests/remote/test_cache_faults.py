"""A cache on a disk that fails, that is deleted and damaged, and that eight processes share, while
loaders read through it. The oracle is the undisturbed local run: equal batches and states."""

import errno
import gzip
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import recmap
from cache_program import epoch
from conftest import DIGITS, needs_cache_space
from object_server import DIGITS_URL

HERE = Path(__file__).resolve().parent
pytestmark = needs_cache_space


@pytest.fixture(scope="session")
def failing_disk(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, for a library that makes calls fail")
    library = tmp_path_factory.mktemp("failing") / "failing_disk.so"
    source = HERE / "failing_disk.c"
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def expected(digits_index):
    """The digests of the epochs of the local shards."""
    with recmap.open(digits_index, shards=DIGITS) as ds:
        return [epoch(ds, seed) for seed in (1, 2, 3)]


@pytest.fixture(params=["remote", "packed"])
def source(request, tmp_path):
    """The index of shards in a store, or of compressed ones, and the options to read them."""
    if request.param == "remote":
        server = request.getfixturevalue("server")
        options = server.options()
        storage = recmap.Storage(options=options)
        recmap.open(DIGITS_URL, index=tmp_path / "set.rmx", storage=storage).close()
        return tmp_path / "set.rmx", options
    for shard in sorted(DIGITS.glob("*.tfrecord")):
        (tmp_path / f"{shard.name}.gz").write_bytes(gzip.compress(shard.read_bytes()))
    recmap.open(f"{tmp_path}/*.gz", index=tmp_path / "set.rmx").close()
    return tmp_path / "set.rmx", None


@pytest.fixture
def opened(source, tmp_path):
    index, options = source
    storage = recmap.Storage(cache=tmp_path / "cache", options=options, allow_urls=bool(options))
    with recmap.open(index, storage=storage, access=recmap.Reading(span_keep_size=1)) as ds:
        yield ds


def start(source, cache, *, library=None, access="map", faults=None):
    index, options = source
    arguments = json.dumps([str(index), str(cache), options, access, faults])
    environment = {**os.environ, **({"LD_PRELOAD": str(library)} if library else {})}
    return subprocess.Popen(
        [sys.executable, HERE / "cache_program.py", arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def end(process):
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return json.loads(said)


DAMAGED = -1  # of failing_disk.c

FAULTS = {
    "reads-fail": (errno.EIO, 0, 1),
    "some-reads-fail": (errno.EIO, 0, 3),
    "full": (0, errno.ENOSPC, 1),
    "writes-fail": (0, errno.EIO, 1),
    "some-writes-fail": (0, errno.EIO, 3),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_disk_that_fails(source, failing_disk, expected, tmp_path, name):
    """Records come from the shards then. That the cache stops growing is told once."""
    faults = FAULTS[name]
    access = "read" if faults[0] else "map"  # reads of mapped files make no calls
    process = start(source, tmp_path / "cache", library=failing_disk, access=access, faults=faults)
    found = end(process)
    assert found["epochs"] == expected
    assert found["failures"] > 0 and len(found["told"]) <= 1
    again = end(start(source, tmp_path / "cache"))
    assert again["epochs"] == expected and again["told"] == []


@pytest.mark.parametrize("period", [1, 3])
def test_a_disk_that_damages_again_and_again(source, failing_disk, expected, tmp_path, period):
    """The shards are right, so they are not to blame."""
    faults = (DAMAGED, 0, period)
    cache = tmp_path / "cache"
    found = end(start(source, cache, library=failing_disk, access="read", faults=faults))
    assert found["epochs"] == expected and found["failures"] > 0


def halfway(ds, seed, disturb):
    """An epoch in which something happens in the middle, and the states after each batch."""
    found = []
    with recmap.Loader(ds, 32, shuffle=True, seed=seed, threads=2, batches_ahead=2) as loader:
        for batch in loader:
            state = loader.state_dict()
            records = [bytes(record) for record in batch]
            found.append((records, state["epoch"], state["position"]))
            if len(found) == len(loader) // 2:
                disturb()
    return found


def damage(cache):
    """Other bytes in all blocks."""
    for path in cache.glob("*.rmcache"):
        data = bytearray(path.read_bytes())
        start = len(data) // 2
        data[start:] = bytes(byte ^ 0x55 for byte in data[start:])
        with open(path, "r+b") as file:
            file.write(data)


def shorten(cache):
    for path in cache.glob("*.rmcache"):
        os.truncate(path, path.stat().st_size // 2)


DISTURB = {"deleted": shutil.rmtree, "damaged": damage, "shortened": shorten}


@pytest.mark.parametrize("name", DISTURB)
@pytest.mark.parametrize("is_filled", [False, True])
def test_a_cache_that_changes_in_the_middle_of_an_epoch(opened, local, tmp_path, name, is_filled):
    undisturbed = halfway(local, 5, lambda: None)
    if is_filled:
        assert len(opened.gather(range(len(opened)))) == len(local)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the cache stops growing
        assert halfway(opened, 5, lambda: DISTURB[name](tmp_path / "cache")) == undisturbed
        assert halfway(opened, 5, lambda: None) == undisturbed


def test_eight_processes_share_a_cache(source, expected, tmp_path):
    """Two of them are killed in the middle."""
    processes = [start(source, tmp_path / "cache") for _ in range(8)]
    while not list((tmp_path / "cache").glob("*.rmcache")):
        assert processes[-1].poll() is None
    for process in processes[:2]:
        process.kill()
    for process in processes[:2]:
        process.communicate()
    for process in processes[2:]:
        assert end(process)["epochs"] == expected
