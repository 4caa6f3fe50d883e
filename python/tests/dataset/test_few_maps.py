"""A process that has nearly used up its maps (vm.max_map_count) reads a set of many shards."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import recmap

IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
SHARDS = 10_000 if IS_LONG else 2_500
RECORDS = 2  # in each

# Maps of pages merge unless neighbours differ, so every second page may be read.
PROGRAM = """
    import ctypes, sys
    from pathlib import Path
    import recmap

    recmap.open, recmap.Loader, recmap.Storage  # loads the libraries, which takes maps
    limit, left, records = map(int, sys.argv[2:])
    PAGE, NONE, READ, PRIVATE_ANONYMOUS = 4096, 0, 1, 0x22
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def count():
        return Path("/proc/self/maps").read_text().count("\\n")

    def use_up_maps():
        pages = limit - left - count()
        first = libc.mmap(None, pages * PAGE, NONE, PRIVATE_ANONYMOUS, -1, 0)
        for i in range(0, pages, 2):
            assert not libc.mprotect(first + i * PAGE, PAGE, READ), ctypes.get_errno()
        assert limit - 2 * left < count() < limit

    def check(batch):
        for number, record in zip(batch.numbers.tolist(), batch):
            assert bytes(record) == b"record %d" % number, number
        return len(batch)

    def open_set():
        return recmap.open(sys.argv[1], storage=recmap.Storage(cache=sys.argv[1] + "-cache"))

    if records < 0:  # the maps were used up afterwards
        ds, records = open_set(), -records
        use_up_maps()
    else:
        use_up_maps()
        ds = open_set()
    numbers = range(records)
    assert all(bytes(ds[i]) == b"record %d" % i for i in numbers)
    assert check(ds.gather(numbers)) == records  # one batch has records of all shards
    loader = recmap.Loader(ds, 256, shuffle=True, seed=1, threads=2)
    assert sum(check(batch) for batch in loader) == records
    assert count() < max(limit - limit // 16, limit - left) + 200  # others' are some
"""


@pytest.fixture(scope="module", params=["tfrecord", "tfrecord.gz"][: 1 + IS_LONG])
def path(tmp_path_factory, request):
    """Of compressed shards, also the file of inflated spans in the cache is mapped."""
    folder = tmp_path_factory.mktemp("shards")
    with recmap.Writer(folder / f"a@{SHARDS}.{request.param}") as writer:
        for i in range(SHARDS * RECORDS):  # to the shards in turn
            writer.write(b"record %d" % (i % SHARDS * RECORDS + i // SHARDS))
    recmap.index(str(folder), folder / "a.rmx", progress=None)
    return folder / "a.rmx"


# With 6,000, some shards are mapped before too few maps are left.
@pytest.mark.parametrize("left", [100, 6000])
@pytest.mark.parametrize("is_open", [False, True])
def test_many_shards_are_read_with_few_maps(path, left, is_open):
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    if limit > 70_000:
        pytest.skip("needs the usual vm.max_map_count, 65530")
    records = SHARDS * RECORDS
    arguments = path, limit, left, -records if is_open else records
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "shards are read instead" not in done.stderr
