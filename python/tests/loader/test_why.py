"""What a loader waits for: each cause is injected, and must be named."""

import collections
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
from fractions import Fraction

import numpy as np
import pytest
import recmap
from conftest import DIGITS
from object_server import DIGITS_URL, on_object
from recmap._loader.why import StallWatch

LABEL = {"label": recmap.FixedLen((), "int64")}


def wait_for(condition):
    """Tests assert no times: this is only how long a broken loader is waited for."""
    for _ in range(6000):
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("the condition never held")


def cause_is(loader, cause):
    return lambda: loader.why()["cause"] == cause and loader.why()


@contextlib.contextmanager
def taking(loader):
    """Another thread takes the next batch. Yields what it took."""
    taken = []

    def take():
        try:
            taken.append(next(iter(loader)))
        except BaseException as error:
            taken.append(error)

    thread = threading.Thread(target=take)
    thread.start()
    yield taken
    thread.join()


def most_common_cause(loader):
    """While another thread takes a batch."""
    causes = collections.Counter()
    with taking(loader) as taken:
        while not taken:
            why = loader.why()
            if why["seconds"] > 0 and why["cause"] != "nothing":
                causes[why["cause"]] += 1
            time.sleep(0.0005)
    assert not isinstance(taken[0], BaseException)
    return causes.most_common(1)[0][0]


# ---- Nothing waits, or the caller.


def test_nothing_waits_before_the_first_for(digits):
    why = recmap.Loader(digits, 100, rank=2, world_size=3).why()
    assert (why["cause"], why["stage"], why["rank"]) == ("nothing", "none", 2)
    assert (why["epoch"], why["position"], why["step"]) == (0, 0, 0)
    assert why["queues"]["threads"] == 0 and "pending" not in why


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_the_caller_is_named_if_a_batch_is_ready(digits, transform):
    loader = recmap.Loader(digits, 100, transform=transform)
    iterator = iter(loader)
    next(iterator)
    assert loader.ready(60)
    why = wait_for(cause_is(loader, "caller"))
    assert (why["stage"], why["position"], why["step"], why["seconds"]) == ("caller", 100, 1, 0)


def test_nothing_waits_after_the_loader_is_closed(digits):
    loader = recmap.Loader(digits, 100)
    next(iter(loader))
    loader.close()
    assert loader.why()["cause"] == "nothing"


# ---- Stages that are slow.


def test_a_slow_transform_is_named(digits):
    may_end = threading.Event()
    loader = recmap.Loader(digits, 100, transform=lambda batch: may_end.wait(60) and batch)
    with taking(loader) as taken:
        try:
            why = wait_for(cause_is(loader, "transform"))
        finally:
            may_end.set()
    assert why["stage"] == "transform" and why["seconds"] > 0 and len(taken[0]) == 100


@pytest.fixture
def gate(server):
    """Requests for objects are answered once it is set; each is counted before."""
    opened = threading.Event()

    def hold(handler):
        assert opened.wait(100)
        return False

    server.faults = [on_object(hold)] * 32
    yield opened
    opened.set()


def remote_set(server, folder, **options):
    storage = recmap.Storage(options=server.options(**options))
    return recmap.open(DIGITS_URL, index=folder / "remote.rmx", storage=storage)


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_a_slow_store_is_named(server, tmp_path, gate, transform):
    gate.set()
    remote = remote_set(server, tmp_path)
    gate.clear()
    loader = recmap.Loader(remote, 100, transform=transform)
    with taking(loader) as taken:
        try:
            why = wait_for(lambda: "pending" in loader.why() and cause_is(loader, "store")())
        finally:
            gate.set()
    pending = why["pending"]
    assert pending["url"] == "s3://train/digits-00000-of-00004.tfrecord"
    assert pending["shard"] == "digits-00000-of-00004.tfrecord"
    assert 0 <= pending["first_byte"] < pending["last_byte"] and pending["attempt"] == 1
    assert pending["last_error"] == "" and pending["seconds"] >= 0
    assert len(taken[0]) == 100
    wait_for(cause_is(loader, "caller"))


def test_a_store_that_fails_is_named_with_its_error(server, tmp_path):
    remote = remote_set(server, tmp_path)
    opened = threading.Event()

    def fail(handler):
        if opened.is_set():
            return False
        handler.fail(503, "SlowDown")
        return True

    server.faults = [on_object(fail)] * 32
    loader = recmap.Loader(remote, 100)
    with taking(loader) as taken:
        try:
            why = wait_for(
                lambda: loader.why().get("pending", {}).get("last_error") and loader.why()
            )
        finally:
            opened.set()
    assert why["cause"] == "store"
    assert why["pending"]["last_error"] == "status 503" and why["pending"]["attempt"] > 1
    assert len(taken[0]) == 100


def test_secrets_of_signed_urls_are_not_shown(server, tmp_path, gate, capfd):
    gate.set()
    server.signature = "X-Signature=SECRET"
    url = f"{server.url}/train/digits-00000-of-00004.tfrecord?{server.signature}"
    remote = recmap.open(url, index=tmp_path / "signed.rmx")
    gate.clear()
    loader = recmap.Loader(remote, 100, stall=0.01)
    with taking(loader):
        try:
            why = wait_for(lambda: "pending" in loader.why() and loader.why())
            wait_for(lambda: loader._stall.count)
        finally:
            gate.set()
    said = capfd.readouterr().err
    assert "SECRET" not in repr(why) + said and "digits-00000" in said


@contextlib.contextmanager
def starved(cpus):
    """Other processes use these CPUs."""
    code = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    others = [
        subprocess.Popen([sys.executable, "-c", code, str(cpu)]) for cpu in cpus for _ in range(4)
    ]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_a_starved_cpu_is_named_parsing(digits):
    """The loader's thread shares one CPU with others. It never sleeps, so no device is slow."""
    usual = os.sched_getaffinity(0)
    cpu = min(usual)
    repeated = recmap.concat([digits] * 20)
    features = {"label": LABEL["label"], "image": recmap.FixedLen(64, "uint8", raw=True)}
    loader = recmap.Loader(repeated, len(repeated), features=features, threads=1)
    with starved([cpu]):
        os.sched_setaffinity(0, {cpu})
        try:
            assert not loader.ready(0)  # starts the thread, which inherits the CPU
        finally:
            os.sched_setaffinity(0, usual)
        assert most_common_cause(loader) == "parsing"


# ---- Devices that do not answer: pages of files are taken away, so that touching them never ends.

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static struct { void *start; size_t size; char path[256]; } maps[64];
static int map_count, faults = -1;
static int find_path(char path[4096], int fd) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = fd < 0 ? -1 : readlink(link, path, 4095);
    if (size <= 0) return 0;
    path[size] = 0;
    return strstr(path, ".tfrecord") || strstr(path, ".rmx");
}
void *mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    void *(*map)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap64");
    char path[4096];
    if (access != PROT_READ || map_count == 64 || !find_path(path, fd))
        return map(at, size, access, flags, fd, offset);
    void *start = map(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return start;
    for (size_t done = 0; done < size;) {
        ssize_t count = pread(fd, (char *)start + done, size - done, offset + done);
        if (count <= 0) break;
        done += count;
    }
    maps[map_count].start = start;
    maps[map_count].size = size;
    snprintf(maps[map_count++].path, 256, "%s", strrchr(path, '/'));
    return start;
}
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    return mmap64(at, size, access, flags, fd, offset);
}
int freeze(const char *name) {
    int frozen = 0;
    if (faults < 0) faults = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api)) return -1;
    for (int i = 0; i < map_count; i++) {
        size_t size = (maps[i].size + 4095) / 4096 * 4096;
        struct uffdio_register range = {{(unsigned long)maps[i].start, size},
                                        UFFDIO_REGISTER_MODE_MISSING, 0};
        if (!strstr(maps[i].path, name) || ioctl(faults, UFFDIO_REGISTER, &range)) continue;
        madvise(maps[i].start, size, MADV_DONTNEED);
        frozen++;
    }
    return frozen;
}
"""


@pytest.fixture(scope="session")
def freezer(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, for a library that takes pages away")
    folder = tmp_path_factory.mktemp("freezer")
    (folder / "shim.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", folder / "shim.c", "-o", folder / "shim.so", "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


def run_frozen(freezer, index, code):
    start = f"""
        import ctypes, os, signal, sys, threading, time
        import recmap
        freeze = ctypes.CDLL({str(freezer)!r}).freeze
        def leave(status, said=""):
            print(said, flush=True)
            os._exit(status)
        def take(loader):
            threading.Thread(target=lambda: next(iter(loader)), daemon=True).start()
        def named(loader, cause):
            while loader.why()["cause"] != cause:
                time.sleep(0.01)
            return loader.why()
        ds = recmap.open({str(index)!r}, shards={str(DIGITS)!r})
        ds.gather(range(0, len(ds), 100))  # maps all shards
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(code)],
        env={**os.environ, "LD_PRELOAD": str(freezer)},
        timeout=120,
        capture_output=True,
        text=True,
    )
    if done.returncode == 77:
        pytest.skip("needs userfaultfd")
    assert done.returncode == 0, done.stderr
    return done


FREEZE = """
if freeze(NAME) <= 0:
    leave(77)
"""


@pytest.mark.parametrize("name", [b".tfrecord", b".rmx"])
@pytest.mark.parametrize("options", ["", ", transform=lambda batch: batch"])
def test_a_page_that_never_comes_is_named_disk(freezer, digits_index, name, options):
    """Also if it is a page of the index: asking why touches none."""
    code = f"""
        loader = recmap.Loader(ds, 100, shuffle=True, threads=2{options})
        len(loader)
        NAME, FOLDER = {name!r}, {str(DIGITS)!r}
        frames = {{}}  # of each shard: the first and last bytes
        for shard in ds.shards:
            found, begin = frames.setdefault(os.path.basename(shard["path"]), set()), 0
            for number in range(shard["first_record"], shard["first_record"] + shard["records"]):
                found.add((begin, begin + len(ds[number]) + 15))
                begin += len(ds[number]) + 16
    """
    rest = """
        take(loader)
        why = named(loader, "disk")
        assert why["stage"] == "reading" and why["seconds"] > 0, why
        if NAME == b".tfrecord":
            pending = why["pending"]
            assert pending["shard"].endswith(NAME.decode()) and pending["attempt"] == 1, why
            assert os.path.samefile(pending["url"], os.path.join(FOLDER, pending["shard"]))
            span = (pending["first_byte"], pending["last_byte"])
            assert span in frames[pending["shard"]], why
            assert 0 <= pending["seconds"] < 1000 and pending["last_error"] == ""
        else:
            assert "pending" not in why, why
        assert (why["position"], why["step"]) == (0, 0)
        leave(0)
    """
    frozen = FREEZE.replace("NAME", repr(name))
    run_frozen(freezer, digits_index, textwrap.dedent(code) + frozen + textwrap.dedent(rest))


def test_a_signal_and_a_stall_say_why(freezer, digits_index):
    code = """
        loader = recmap.Loader(ds, 100, rank=1, world_size=2, threads=1, stall=0.05)
        loader.why_on(signal.SIGUSR1)
    """
    rest = """
        take(loader)
        named(loader, "disk")
        while not loader._stall.count:
            time.sleep(0.01)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.05)
        leave(0)
    """
    frozen = FREEZE.replace("NAME", repr(b".tfrecord"))
    done = run_frozen(freezer, digits_index, textwrap.dedent(code) + frozen + textwrap.dedent(rest))
    stall, asked = done.stderr.splitlines()
    for line in (stall, asked):
        assert line.startswith("recmap: rank 1: disk: waited ")
        assert "epoch 0, position 0, step 0; " in line


# ---- Saying so.


def test_a_stall_is_said_once_and_counted(digits, capfd):
    may_end = threading.Event()

    def hold_second(batch):
        assert batch.step != 1 or may_end.wait(60)
        return batch

    loader = recmap.Loader(digits, 100, transform=hold_second, stall=0.02)
    next(iter(loader))
    wait_for(lambda: loader._loader.first() is not None)
    capfd.readouterr()
    before = loader._stall.count
    with taking(loader):
        try:
            wait_for(lambda: loader._stall.count == before + 1)
            wait_for(lambda: loader.why()["seconds"] > 0.2)
        finally:
            may_end.set()
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith("recmap: rank 0: transform: waited ")


def test_one_of_two_threads_that_waits_on_is_seen(digits, capfd):
    may_end = threading.Event()

    def hold_others(batch):
        assert batch.step == 0 or may_end.wait(60)
        return batch.step

    loader = recmap.Loader(digits, 100, transform=hold_others, stall=0.02)
    iterator, taken = iter(loader), []
    threads = [threading.Thread(target=lambda: taken.append(next(iterator))) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: taken and cause_is(loader, "transform")())
        before = loader.why()["seconds"]
        wait_for(lambda: loader.why()["seconds"] > before + 0.05)
        wait_for(lambda: loader._stall.count)
    finally:
        may_end.set()
        for thread in threads:
            thread.join()
    assert taken == [0, 1]
    assert "recmap: rank 0: transform: waited " in capfd.readouterr().err
    assert loader.why()["seconds"] == 0


@pytest.mark.parametrize(
    "question", [lambda loader: loader.peek(), lambda loader: loader.ready(60)]
)
def test_questions_that_wait_are_seen(digits, capfd, question):
    may_end = threading.Event()
    loader = recmap.Loader(
        digits, 100, transform=lambda batch: may_end.wait(60) and batch, stall=0.02
    )
    asking = threading.Thread(target=question, args=[loader])
    asking.start()
    try:
        wait_for(cause_is(loader, "transform"))
        before = loader.why()["seconds"]
        loader.ready()  # does not wait, and does not end the other's wait
        assert loader.why()["seconds"] > before
        wait_for(lambda: loader._stall.count)
    finally:
        may_end.set()
        asking.join()
    assert "recmap: rank 0: transform: waited " in capfd.readouterr().err
    wait_for(cause_is(loader, "caller"))
    assert loader.why()["seconds"] == 0


def test_stalls_and_causes_are_exported(digits):
    prometheus_client = pytest.importorskip("prometheus_client")
    registry = prometheus_client.CollectorRegistry()
    loader = recmap.Loader(digits, 100, features=LABEL, stall=1000)
    recmap.metrics.prometheus(loader, registry)
    assert len(list(loader)) == 18
    text = prometheus_client.generate_latest(registry).decode()
    assert 'recmap_loader_stalls_total{loader="loader"} 0.0' in text
    for cause in ("disk", "store", "inflating", "parsing", "images"):
        assert f'recmap_loader_cause_seconds_total{{cause="{cause}",loader="loader"}}' in text
    assert registry.get_sample_value(
        "recmap_loader_cause_seconds_total", {"loader": "loader", "cause": "parsing"}
    )


def test_threads_of_a_stall_end_with_the_loader(digits):
    loader = recmap.Loader(digits, 100, stall=1000)
    list(loader)
    thread = loader._stall._thread
    del loader
    wait_for(lambda: not thread.is_alive())


@pytest.mark.parametrize("stall", [3, np.float32(3.0), np.int64(3), Fraction(3)])
def test_stalls_are_any_real_numbers(digits, stall):
    assert recmap.Loader(digits, 100, stall=stall)._stall._seconds == 3


def test_a_tiny_stall_is_not_looked_for_without_rest():
    """Also while a batch is waited for that was not waited for long enough."""
    pauses = []

    class Ended(threading.Event):
        def wait(self, pause):
            pauses.append(pause)
            return len(pauses) > 3

    class Waiting:
        _loader = types.SimpleNamespace(why=lambda: (None, None, 1))  # for a nanosecond

    loader = Waiting()
    watch = StallWatch(loader, 2e-9)
    watch._ended = Ended()
    watch._run()
    assert len(pauses) == 4 and min(pauses) >= 0.05


def test_stalls_are_counted_without_standard_error(digits, monkeypatch):
    """The thread survives what it cannot print."""
    monkeypatch.setattr(sys, "stderr", None)
    may_end = [threading.Event(), threading.Event()]

    def hold(batch):
        assert batch.step > 1 or may_end[batch.step].wait(60)
        return batch

    loader = recmap.Loader(digits, 100, transform=hold, stall=0.01)
    iterator = iter(loader)
    for count, event in enumerate(may_end, 1):
        with taking(iterator):
            try:
                wait_for(lambda count=count: loader._stall.count == count)
            finally:
                event.set()


@pytest.mark.parametrize("stall", [0, -1, float("nan"), 10**400, "10", True])
def test_wrong_stalls_are_refused(digits, stall):
    with pytest.raises(ValueError, match="stall must be None, or a number of seconds above 0"):
        recmap.Loader(digits, 100, stall=stall)


def test_joined_loaders_say_why(digits):
    joined = recmap.join({"all": digits, "some": digits.where("label < 7")})
    may_end = threading.Event()

    def wait(batch):
        assert may_end.wait(60)
        return batch

    loader = recmap.JoinedLoader(joined, 100, transform=wait, stall=1000)
    assert loader.why()["cause"] == "nothing"
    with taking(loader) as taken:
        try:
            wait_for(cause_is(loader, "transform"))
        finally:
            may_end.set()
    assert set(taken[0]) == {"all", "some"}
    plain = recmap.JoinedLoader(joined, 100)
    next(iter(plain))
    wait_for(cause_is(plain, "caller"))


JOINS = [{}, {"transform": lambda batch: batch}, {"on_bad_record": "skip"}]


@pytest.mark.parametrize("options", JOINS, ids=lambda options: "".join(options) or "plain")
def test_the_slow_store_of_a_companion_is_named(remote, local, gate, options):
    """Whichever thread takes its steps."""
    gate.set()
    joined = recmap.join({"here": local, "there": remote})
    gate.clear()
    loader = recmap.JoinedLoader(joined, 100, **options)
    stalled = loader.loaders["here" if options else "there"]  # the one that `stall` looks at
    with taking(loader) as taken:
        try:
            wait_for(lambda: "pending" in loader.why() and cause_is(loader, "store")())
            found = [each.why() for _ in range(50) for each in (loader, stalled)]
        finally:
            gate.set()
    for why in found:
        assert (why["cause"], why["stage"]) == ("store", "reading") and why["seconds"] > 0
        assert why["pending"]["url"].startswith("s3://train/digits-0")
    assert set(taken[0]) == {"here", "there"}


def test_a_signal_prints_the_line(digits, capfd):
    former = signal.getsignal(signal.SIGUSR1)
    try:
        loader = recmap.Loader(digits, 100)
        loader.why_on(signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert capfd.readouterr().err.startswith("recmap: rank 0: nothing: ")
        del loader
        os.kill(os.getpid(), signal.SIGUSR1)
        assert capfd.readouterr().err == ""
    finally:
        signal.signal(signal.SIGUSR1, former)
