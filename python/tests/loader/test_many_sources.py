"""Mixtures of many sources: what grows with their number is memory for what is read, not threads,
descriptors, maps or system calls."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import recmap

# Counts the calls that name or examine files.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
static atomic_int calls;
int call_count(void) { return calls; }
#define NEXT(name) (calls++, (__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    return NEXT(name)(path, flags, mode); }
OPEN(open)
OPEN(open64)
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    return NEXT(name)(folder, path, flags, mode); }
OPENAT(openat)
OPENAT(openat64)
#define STAT(name, type) int name(const char *path, struct type *found) { \
    return NEXT(name)(path, found); }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
#define FSTAT(name, type) int name(int fd, struct type *found) { return NEXT(name)(fd, found); }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)
#define FSTATAT(name, type) int name(int folder, const char *path, struct type *found, \
                                     int flags) { return NEXT(name)(folder, path, found, flags); }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)
int statx(int folder, const char *path, int flags, unsigned mask, struct statx *found) {
    return NEXT(statx)(folder, path, flags, mask, found); }
int access(const char *path, int mode) { return NEXT(access)(path, mode); }
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, for a library that counts system calls")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", folder / "shim.c", "-o", folder / "shim.so", "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


def write_source(folder, shards, records=1):
    folder.mkdir(parents=True)
    with recmap.Writer(folder / f"a@{shards}.tfrecord") as writer:
        for number in range(shards * records):
            writer.write({"n": number})
    recmap.index(str(folder), folder / "a.rmx", progress=None)
    return folder / "a.rmx"


def run(code, *arguments, **variables):
    """The numbers that the code prints."""
    program = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


OPEN = """
    import ctypes, sys
    import recmap
    recmap.open(sys.argv[1]).close()  # what is done once in a process
    count = ctypes.CDLL(None).call_count
    before = count()
    parts = [recmap.open(path) for path in sys.argv[1:]]
    ds = recmap.concat(parts)
    print(count() - before)
"""


def test_opening_examines_no_more_files_if_there_are_more_shards(shim, tmp_path):
    few = [write_source(tmp_path / f"few-{i}", 8) for i in range(4)]
    many = [write_source(tmp_path / f"many-{i}", 200) for i in range(4)]
    (one,), (other,) = (run(OPEN, *paths, LD_PRELOAD=str(shim)) for paths in (few, many))
    assert 0 < other <= one
    (double,) = run(OPEN, *many, *few, LD_PRELOAD=str(shim))
    assert double <= 2 * one


MIX = """
    import os, sys
    import recmap
    parts = [recmap.open(path) for path in sys.argv[1:]]
    orders = [recmap.Shuffled(len(part), seed=i) for i, part in enumerate(parts)]
    mixture = recmap.Mixture(orders, [1.0] * len(parts))
    loader = recmap.Loader(recmap.concat(parts), 16, order=mixture, threads=3)
    batches = iter(loader)
    total = len(next(batches))
    print(len(os.listdir("/proc/self/task")))  # a shard may be open for a moment
    total += sum(len(batch) for batch in batches)
    print(len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")))
    assert total == sum(map(len, parts)), total
"""


def test_threads_and_descriptors_do_not_grow_with_the_sources(tmp_path):
    paths = [write_source(tmp_path / f"source-{i}", 5, 4) for i in range(40)]
    assert run(MIX, *paths) == run(MIX, *paths[:4])


MAPS = """
    import sys
    from pathlib import Path
    import recmap

    def count():
        return Path("/proc/self/maps").read_text().count("\\n")

    before, parts = count(), []
    for _ in range(int(sys.argv[2])):
        part = recmap.open(sys.argv[1])
        assert len(part.gather(range(len(part)))) == len(part)
        parts.append(part)
    print(count() - before)
    ds = recmap.concat(parts)
    assert bytes(ds[len(ds) - 1]) == bytes(parts[0][-1])
    for part in [ds, *parts]:
        part.close()
    del ds, part, parts
    part = recmap.open(sys.argv[1])  # what was given back is there again
    assert len(part.gather(range(len(part)))) == len(part)
    print(count() - before)
"""


def test_data_sets_use_half_of_the_maps_together(tmp_path):
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    if limit > 70_000:
        pytest.skip("needs the usual vm.max_map_count, 65530")
    shards, count = 200, limit // 200
    path = write_source(tmp_path / "source", shards)
    held, later = run(MAPS, path, count)
    # Each data set has a map of its index, and may map at least 4 shards.
    assert limit // 2 <= held < limit // 2 + 8 * count
    assert shards <= later < 2 * shards + 100


def test_the_shim_counts(shim, tmp_path):
    code = """
        import ctypes, os
        count = ctypes.CDLL(None).call_count
        before = count()
        os.stat("/")
        os.close(os.open("/", 0))
        print(count() - before)
    """
    assert run(code, LD_PRELOAD=str(shim)) == [2]
