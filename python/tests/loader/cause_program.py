"""Runs a loader while something is slow, and says which causes `why()` named meanwhile.

Reads a case from each line of standard input, as JSON, and writes what was found as a line of JSON.
It is a program of its own because slow_disk.c must be preloaded.
"""

import collections
import contextlib
import ctypes
import gzip
import json
import os
import random
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import recmap
from object_server import Handler, ObjectServer

sys.path.append(str(Path(__file__).resolve().parents[1] / "example"))
from image_helpers import png

BATCH = 8
MIN_S, MAX_S = 0.005, 0.05  # of a batch, for the delays that are multiples of it
REQUEST_MAX_S = 3  # no answer takes so long that the library stops waiting
SAMPLE_S = 0.002  # between two looks
SECONDS, BATCHES_MIN = 0.7, 10  # for which batches are taken, and how many of them
FIELDS = 200  # of a record that takes long to parse


def write_shards(folder):
    """The records: texts, pictures, and records with many fields."""
    made = random.Random(5)
    words = [made.randbytes(7).hex().encode() for _ in range(500)]
    with recmap.Writer(folder / "plain.tfrecord") as writer:
        for _ in range(3000):
            writer.write(b"".join(made.choices(words, k=240)))
    pixels = np.arange(240 * 240 * 3, dtype=np.uint32) * 2654435761 >> 18 & 63
    picture = png(pixels.astype(np.uint8).reshape(240, 240, 3))
    with recmap.Writer(folder / "images.tfrecord") as writer:
        for number in range(400):
            writer.write({"image": picture, "n": number})
    with recmap.Writer(folder / "fields.tfrecord") as writer:
        for number in range(200):
            field = list(range(number, number + 400))
            writer.write({f"f{i}": field for i in range(FIELDS)})


def features_of(name):
    if "images" in name:
        return {"image": recmap.Image((200, 200))}
    if "fields" in name:
        return {f"f{i}": recmap.VarLen("int64") for i in range(FIELDS)}
    return None


class Data:
    """Data sets by name: NAME, NAME.gz, NAME.zlib, and the same in the store as s3:NAME."""

    def __init__(self, folder):
        self.bucket = folder / "served" / "train"
        self.bucket.mkdir(parents=True)
        self.folder = folder
        write_shards(self.bucket)
        for path in sorted(self.bucket.glob("*.tfrecord")):
            data = path.read_bytes()
            path.with_suffix(".tfrecord.gz").write_bytes(gzip.compress(data, 1))
            path.with_suffix(".tfrecord.zlib").write_bytes(zlib.compress(data, 1))
        self.server = ObjectServer(folder / "served")

    def open(self, name, access="map", cache=None):
        """`name` may be of several data sets, joined by `+`."""
        parts = [self._open(part, access, cache) for part in name.split("+")]
        return parts[0] if len(parts) == 1 else recmap.concat(parts)

    def _open(self, name, access, cache):
        where, _, base = name.rpartition(":")
        stem, _, suffix = base.partition(".")
        file = f"{stem}.tfrecord" + (f".{suffix}" if suffix else "")
        place = "s3://train" if where else self.bucket
        storage = recmap.Storage(
            options=self.server.options() if where else None,
            allow_urls=bool(where),
            cache=cache and self.folder / cache,
        )
        index = self.folder / f"{where}{base}.rmx"
        reading = recmap.Reading(access, span_keep_size=1)
        return recmap.open(f"{place}/{file}", index=index, access=reading, storage=storage)


class Watch:
    """Another thread, which looks at what a loader waits for."""

    def __init__(self, loader):
        self.waits, self.others = collections.Counter(), collections.Counter()
        self.pending = set()  # shards that were read or requested
        self._loader, self._ended = loader, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._ended.wait(SAMPLE_S):
            why = self._loader.why()
            self.pending.update([why["pending"]["shard"]] if "pending" in why else [])
            if why["seconds"] == 0:
                self.others[why["cause"]] += 1
            elif why["cause"] != "nothing":
                self.waits[why["cause"]] += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._thread.join()

    def found(self):
        """The cause that was named most often, of the waits if it waited for the most part."""
        waited, other = sum(self.waits.values()), sum(self.others.values())
        counts = self.waits if waited > other else self.others
        return counts.most_common(1)[0][0]


def first_share(explanation):
    """The cause on which the reading threads spent the most time."""
    return explanation.partition("the reading threads' time: ")[2].partition(" ")[0]


def make_loader(ds, case, transform=None):
    options = {"shuffle": True, "seed": 1, "threads": 1, "batches_ahead": 2}
    if transform is not None:
        options["transform_threads"] = 1
    options.update(case.get("options", {}))
    return recmap.Loader(
        ds, BATCH, features=features_of(case["data"]), transform=transform, **options
    )


def batch_seconds(data, case):
    """How long a batch takes if nothing is slow but the work itself."""
    one = {**case, "options": {"threads": 1}}
    with data.open(case["data"], case.get("access", "map")) as ds, make_loader(ds, one) as loader:
        batches = iter(loader)
        next(batches)
        started = time.monotonic()
        for _ in range(3):
            next(batches)
        return (time.monotonic() - started) / 3


class Delays:
    """What is slow: multiples of the time of a batch, by cause."""

    def __init__(self, disk, data, case):
        self._disk, self._slow = disk, case.get("slow", {})
        unit = min(max(batch_seconds(data, case), MIN_S), MAX_S)
        limit = REQUEST_MAX_S / max(self._slow.get("store", 0), 1)
        self._unit = min(unit * case.get("times", 1), limit)
        self._file = case.get("slow_file", ".tfrecord")
        self._pages = case.get("pages", 2 * BATCH)  # of a batch
        self.store = 0.0

    def of(self, cause):
        return self._slow.get(cause, 0) * self._unit

    def prepare(self):
        """Before the data set is opened: its mappings will be slow."""
        if "disk" in self._slow:
            self._disk.slow_down(self._file.encode(), ctypes.c_long(0))

    def begin(self):
        if "disk" in self._slow:
            page_us = int(1e6 * self.of("disk") / self._pages)
            self._disk.slow_down(self._file.encode(), ctypes.c_long(page_us))
        self.store = self.of("store")

    def end(self):
        self._disk.slow_down(b"", ctypes.c_long(0))
        self.store = 0.0

    def transform(self, batch):
        time.sleep(self.of("transform"))
        return batch


LOCK = """
import fcntl, os, struct, sys
file = open(sys.argv[1], "r+b")
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
print(flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def locked(folder):
    """Another process has locked the files of the cache for a while, as if it filled them."""
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", LOCK, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for file in folder.glob("*.rmcache")
    ]
    assert holders and all(holder.stdout.readline() for holder in holders)
    ending = threading.Timer(SECONDS, lambda: [holder.stdin.close() for holder in holders])
    ending.start()
    try:
        yield
    finally:
        ending.join()
        for holder in holders:
            holder.wait()
            holder.stdout.close()


HOG = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


@contextlib.contextmanager
def starved(loader):
    """The loader's thread shares a CPU with other processes."""
    usual = os.sched_getaffinity(0)
    cpu = min(usual)
    hogs = [subprocess.Popen([sys.executable, "-c", HOG, str(cpu)]) for _ in range(4)]
    os.sched_setaffinity(0, {cpu})
    loader.ready(0)  # starts the thread, which inherits the CPU
    os.sched_setaffinity(0, usual)
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


@contextlib.contextmanager
def disturbed(case, data, ds, loader):
    with contextlib.ExitStack() as stack:
        if case.get("locked"):
            for shard in ds.shards:
                bytes(ds[shard["first_record"]])  # creates its file
            stack.enter_context(locked(data.folder / case["cache"]))
        if case.get("starved"):
            stack.enter_context(starved(loader))
        yield


def take(loader, delays, seconds):
    """Takes batches for a while, but some, so that the first one has no weight."""
    started = time.monotonic()
    for count, _ in enumerate(loader, 1):
        if count >= BATCHES_MIN and time.monotonic() - started > seconds:
            break
        time.sleep(delays.of("caller"))


def be_idle(loader, kind):
    """No batch is asked for: not yet, or no longer."""
    if kind == "closed":
        next(iter(loader))
        loader.close()
    elif kind == "ended":
        for _ in loader:
            pass


def use(loader, case, delays):
    if "idle" in case:
        be_idle(loader, case["idle"])
    with Watch(loader) as watch:
        if "idle" in case:
            time.sleep(0.1)
        else:
            take(loader, delays, SECONDS)
    return watch


def run(data, disk, case):
    is_mapped = case.get("access", "map") == "map"
    if is_mapped and "disk" in case["slow"] and not disk.slow_pages():
        return {"skipped": "needs userfaultfd"}
    delays = Delays(disk, data, case)
    delays.prepare()
    data.server.latency = lambda: delays.store
    with data.open(case["data"], case.get("access", "map"), case.get("cache")) as ds:
        if case.get("filled"):
            ds.gather(range(len(ds)))
        loader = make_loader(ds, case, delays.transform if "transform" in case["slow"] else None)
        with disturbed(case, data, ds, loader):
            delays.begin()
            watch = use(loader, case, delays)
            delays.end()
        found = loader.statistics
        loader.close()
    return {
        "found": watch.found(),
        "limiting": found["limiting_stage"],
        "share": first_share(found["explanation"]),
        "explanation": found["explanation"],
        "waits": watch.waits,
        "others": watch.others,
        "pending": sorted(watch.pending),
    }


def main():
    disk = ctypes.CDLL(os.environ["LD_PRELOAD"])
    data = Data(Path(sys.argv[1]))
    send_object = Handler.send_object

    def send_late(handler, **more):
        time.sleep(handler.server.latency())
        send_object(handler, **more)

    Handler.send_object = send_late
    data.server.latency = lambda: 0
    with data.server:
        for line in sys.stdin:
            print(json.dumps(run(data, disk, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
