"""File systems that refuse to map files, in processes whose calls of mmap fail for some files."""

import errno
import os
import shutil
import subprocess
import sys
import textwrap

import pytest
import recmap

# Mapping a file whose path contains REFUSE_PATH fails, after REFUSE_AFTER maps.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static atomic_int maps;
static int is_refused(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = fd < 0 ? -1 : readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return strstr(path, getenv("REFUSE_PATH")) && maps++ >= atoi(getenv("REFUSE_AFTER"));
}
void *mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    void *(*map)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap64");
    if (!is_refused(fd)) return map(at, size, access, flags, fd, offset);
    errno = atoi(getenv("REFUSE_ERRNO"));
    return MAP_FAILED;
}
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    return mmap64(at, size, access, flags, fd, offset);
}
int map_count(void) { return maps; }
"""


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, for a library that refuses to map files")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", folder / "shim.c", "-o", folder / "shim.so", "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


@pytest.fixture
def shards(tmp_path):
    for i in range(5):
        with recmap.Writer(tmp_path / f"a-{i}.tfrecord") as writer:
            for n in range(10):
                writer.write({"n": 10 * i + n})
    with recmap.Writer(tmp_path / "b.tfrecord.gz", compression="gzip") as writer:
        for n in range(50, 60):
            writer.write({"n": n})
    recmap.index(str(tmp_path), tmp_path / "x.rmx", progress=None)
    return tmp_path


def run(shim, folder, code, *, refuse=".tfrecord", after=0, number=errno.EPERM):
    """Runs code in `folder`. Returns the texts of the warnings."""
    variables = {
        "LD_PRELOAD": str(shim),
        "REFUSE_PATH": refuse,
        "REFUSE_AFTER": str(after),
        "REFUSE_ERRNO": str(number),
    }
    start = """
        import recmap, sys, warnings
        caught = []
        warnings.showwarning = lambda message, *rest: caught.append(str(message))
        warnings.simplefilter("always")
    """
    end = 'print("\\n".join(caught))'
    program = "\n".join(map(textwrap.dedent, (start, code, end)))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


READ = """
ds = recmap.open("x.rmx", access=ACCESS)
loader = recmap.Loader(ds, 8, features={"n": recmap.FixedLen((), "int64")}, shuffle=True)
assert sorted(n for batch in loader for n in batch["n"].tolist()) == list(range(60))
assert len(ds[33]) > 0 and len(ds.gather([50, 1, 59])) == 3
"""
VERIFY = """
report = recmap.open("x.rmx", access=ACCESS).verify(progress=None)
assert report["records_good"] == 60 and report["damage"] == [], report
"""
INDEX = """
ds = recmap.open(".", index="new.rmx", access=ACCESS)
assert len(ds) == 60
del ds
"""
ERRORS = errno.EPERM, errno.ENODEV, errno.EACCES, errno.EAGAIN, errno.ENOMEM


@pytest.mark.parametrize(
    ("code", "number", "after"),
    [
        *((READ, number, 0) for number in ERRORS),
        *((code, errno.EPERM, 0) for code in (VERIFY, INDEX)),
        *((code, errno.EPERM, 2) for code in (READ, VERIFY, INDEX)),
    ],
    ids=lambda value: {READ: "read", VERIFY: "verify", INDEX: "index"}.get(value),
)
def test_shards_are_read_with_a_warning(shim, shards, code, number, after):
    options = {"after": after, "number": number}
    caught = run(shim, shards, code.replace("ACCESS", '"map"'), **options)
    assert caught
    for text in caught:
        assert "cannot map the file" in text and 'access="read"' in text
        assert "permissions" not in text
    assert len(caught) == 1  # also if several scans and data sets read shards
    new = shards / "new.rmx"
    assert code is not INDEX or new.read_bytes() == (shards / "x.rmx").read_bytes()


@pytest.mark.parametrize("access", ["read", "direct"])
@pytest.mark.parametrize("code", [READ, VERIFY, INDEX], ids=["read", "verify", "index"])
def test_reading_never_maps(shim, shards, code, access):
    assert run(shim, shards, code.replace("ACCESS", repr(access))) == []


@pytest.mark.parametrize(("refuse", "count"), [(".tfrecord", 1), (".rmx", 1), ("/", 2)])
def test_one_warning_for_a_process(shim, shards, refuse, count):
    """Of shards, and of indexes, however many data sets there are."""
    code = READ.replace("ACCESS", '"map"')
    assert len(run(shim, shards, code * 3, refuse=refuse)) == count


def test_no_shard_is_mapped_if_the_first_one_is_refused(shim, shards):
    count = "import ctypes; assert ctypes.CDLL(None).map_count() == 1"
    assert run(shim, shards, READ.replace("ACCESS", '"map"') + count)


PEAK = """
import pathlib

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10

build, before = recmap.index, peak()
build("large.tfrecord", "large.rmx", progress=None)
assert peak() - before < 32 << 20, peak() - before
"""


def test_indexing_reads_a_refused_shard_piece_by_piece(shim, tmp_path):
    with recmap.Writer(tmp_path / "large.tfrecord") as writer:
        for _ in range(64):
            writer.write(bytes(1 << 20))
    (text,) = run(shim, tmp_path, PEAK)
    assert "cannot map the file" in text


def test_damage_is_found_without_mapping(shim, shards):
    path = shards / "a-2.tfrecord"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    code = """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ds = recmap.open(".", index="new.rmx", on_bad_record="skip", access="read")
    (found,) = ds.info["damage"]
    assert len(ds) == 59 and found["path"] == "a-2.tfrecord", (len(ds), found)
    """
    assert run(shim, shards, code) == []
    recmap.index(str(shards), shards / "y.rmx", on_bad_record="skip", progress=None)
    assert (shards / "new.rmx").read_bytes() == (shards / "y.rmx").read_bytes()


def test_an_index_is_read_into_memory(shim, shards):
    code = READ.replace("ACCESS", '"map"')
    (text,) = run(shim, shards, code, refuse=".rmx", number=errno.ENODEV)
    assert "the index is read into memory" in text and "x.rmx" in text


WRITE = """
recmap.index("a-0.tfrecord", "i.rmx", id="n", progress=None)
recmap.open(["a-0.tfrecord", "a-1.tfrecord"], index="i.rmx", id="n").close()
recmap.merge("m.rmx", ["i.rmx"], progress=None)
recmap.open("m.rmx").annotate({"score": list(range(20))})
with recmap.Writer("w.tfrecord", index="w.rmx", id="n") as writer:
    writer.write({"n": 1})
"""


@pytest.mark.parametrize("number", ERRORS)
def test_indexes_are_written_where_they_cannot_be_mapped(shim, shards, number):
    (text,) = run(shim, shards, WRITE, refuse=".rmx", number=number)
    assert "the index is read into memory" in text
    assert recmap.open(shards / "w.rmx").verify(progress=None)["records_good"] == 1
    indexes = [shards / "i.rmx", shards / "m.rmx"]
    written = [path.read_bytes() for path in indexes]
    for path in [*indexes, shards / "w.rmx", shards / "w.tfrecord"]:
        path.unlink()
    assert run(shim, shards, WRITE, after=1000) == []
    assert [path.read_bytes() for path in indexes] == written


def test_a_temporary_folder_that_cannot_be_mapped(shim, shards):
    code = """
    try:
        recmap.index("a-0.tfrecord", "i.rmx", progress=None)
        raise SystemExit("it was written")
    except OSError as error:
        assert "set TMPDIR to a folder on a local disk" in str(error), error
    """
    assert run(shim, shards, code, refuse="/") == []


def test_text_indexes_are_read_without_mapping(shim, shards):
    (shards / "idx").mkdir()
    lines, at = [], 0
    for size in [len(record) + 16 for record in recmap.open(shards / "x.rmx")[:10]]:
        lines.append(f"{at} {size}\n")
        at += size
    (shards / "idx/a-0.idx").write_text("".join(lines))
    code = """
    recmap.index("a-0.tfrecord", "t.rmx", from_idx="idx", access="read", progress=None)
    ds = recmap.open("t.rmx", access="read")
    assert len(ds) == 10
    """
    assert run(shim, shards, code) == []


def test_annotations_from_a_file(shim, shards):
    rows = "".join(f"{n},{n}\n" for n in range(60))
    (shards / "scores.csv").write_text(f"number,score\n{rows}")
    command = shutil.which("recmap") or os.environ.get("RECMAP_COMMAND")
    if command is None:
        pytest.skip("needs the command: set RECMAP_COMMAND")
    environment = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "REFUSE_PATH": ".csv",
        "REFUSE_AFTER": "0",
        "REFUSE_ERRNO": str(errno.ENODEV),
    }
    subprocess.run(
        [command, "annotate", "x.rmx", "--column", "score=scores.csv"],
        cwd=shards,
        env=environment,
        check=True,
    )
    assert recmap.open(shards / "x.rmx").columns["score"].tolist() == list(range(60))
