#!/usr/bin/env python3
"""Records from a server whose answers begin 20 ms late, read by recmap and by obstore.

    bench/remote/late.py [--repeats 5] [--bytes 268435456] [--folder FOLDER]

nginx serves shards of records of 1 MiB and of 64 KiB on the loopback interface, through a proxy
that holds each request for 20 ms. Both programs read the same random records, 128 at a time, with
as many requests in flight. They take turns, and a figure is the median of the repeats. CPU times
are the client's, which has one core; the servers have the others. nginx must be installed (Debian),
and obstore beside recmap.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import recmap
from remote import (
    CLIENT,
    free_port,
    gather_all,
    http_of_obstore,
    measure,
    nginx_of,
    ranges_of,
    serve_late,
    served,
    write_set,
)

LATE_SECONDS = 0.02
IN_FLIGHT = 128
SMALL_BATCH = 24
SIZES = (1 << 20, 64 << 10)
SHARDS = 4


async def read_together(store, ranges):
    """Reads ranges with as many requests in flight."""
    parts = await asyncio.gather(
        *(
            store.get_range_async(path[1:], start=first, end=last + 1)
            for path, first, last in ranges
        )
    )
    assert sum(len(part) for part in parts) == sum(last + 1 - first for _, first, last in ranges)


async def read_obstore(store, ranges):
    for begin in range(0, len(ranges), IN_FLIGHT):
        await read_together(store, ranges[begin : begin + IN_FLIGHT])
    return len(ranges)


def load_epoch(ds, batch, threads):
    """A shuffled epoch. A batch keeps at most 32 MiB of its memory for the next one."""
    with recmap.Loader(ds, batch, shuffle=True, seed=3, epochs=1, threads=threads) as loader:
        return sum(len(batch) for batch in loader)


def jobs_of(base, folder, size, args):
    """What each program runs, which returns a number of records."""
    count = args.bytes // size
    shards = write_set(folder, SimpleNamespace(records=count, shards=SHARDS, size=size))
    names = [f"{base}/{folder.name}/{shard.name}" for shard in shards]
    storage = recmap.Storage(gap=0)
    ds = recmap.open(names, index=folder / "set.rmx", storage=storage)
    numbers = random.Random(2).sample(range(count), count)
    ranges = ranges_of(shards, numbers, size + 16)
    ranges = [(f"/{folder.name}{path}", first, last) for path, first, last in ranges]
    store = http_of_obstore(base)
    return {
        "recmap, `gather`": lambda: gather_all(ds, numbers, IN_FLIGHT),
        "recmap, a loader of large batches": lambda: load_epoch(ds, IN_FLIGHT, 1),
        "recmap, a loader of small batches": lambda: load_epoch(ds, SMALL_BATCH, 4),
        "obstore": lambda: asyncio.run(read_obstore(store, ranges)),
    }


def bench(jobs, repeats):
    """{program: (records per second, CPU seconds of a record)}."""
    found = {name: [] for name in jobs}
    for repeat in range(repeats + 1):  # the first one opens connections
        for name, job in jobs.items():
            count, clock, cpu = measure(job)
            if repeat:
                found[name].append((count / clock, cpu / count))
    return {
        name: tuple(map(statistics.median, zip(*pairs, strict=True)))
        for name, pairs in found.items()
    }


def show(size, found):
    for name, (rate, cpu) in found.items():
        share = size / cpu / (1 << 30)
        print(f"| {size >> 10} KiB | {name} | {share:.2f} | {1 / cpu:,.0f} | {rate:,.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=256 << 20, help="of records of each size")
    parser.add_argument("--folder", default=None, help="for the shards; default: /tmp")
    args = parser.parse_args()
    os.sched_setaffinity(0, [CLIENT])
    with tempfile.TemporaryDirectory(dir=args.folder) as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        port, late_port = stack.enter_context(nginx_of(folder)), free_port()
        command = [sys.executable, __file__, "--late", str(late_port), str(port)]
        stack.enter_context(served(command, late_port))
        print(
            "| records | program | GiB a core-second | records a core-second | records a second |"
        )
        print("| --- | --- | --- | --- | --- |")
        for size in SIZES:
            sets = folder / str(size)
            sets.mkdir()
            show(
                size,
                bench(jobs_of(f"http://127.0.0.1:{late_port}", sets, size, args), args.repeats),
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--late"]:
        asyncio.run(serve_late(int(sys.argv[2]), int(sys.argv[3]), LATE_SECONDS))
    else:
        main()
