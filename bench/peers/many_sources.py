#!/usr/bin/env python3
"""The first batch of a mixture of many sources.

    bench/peers/many_sources.py [--sources 1000] [--shards 100] [--folder FOLDER] [--read-all]

Each source is a folder with an index and its shards, which are hard links to the shards of the
first one. Two child processes, for a tenth of the sources and for all of them, open the sources,
mix them and take a batch. The table has the time from the first `open` to the first batch, by the
clock and of the CPU, the peak of memory above that of a process that has imported recmap, and the
threads, descriptors and maps after the first batch; with --read-all, also after each shard was
read.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECORDS = 10  # of a shard
BATCH = 256


def write_sources(folder, sources, shards):
    first = folder / "source-0000"
    first.mkdir(parents=True)
    import recmap

    with recmap.Writer(first / f"train@{shards}.tfrecord") as writer:
        for number in range(RECORDS * shards):
            writer.write({"n": number})
    recmap.index(str(first), first / "train.rmx", progress=None)
    names = sorted(path.name for path in first.iterdir())
    for i in range(1, sources):
        source = folder / f"source-{i:04}"
        source.mkdir()
        for name in names:
            os.link(first / name, source / name)


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def figures():
    return {
        "threads": len(os.listdir("/proc/self/task")),
        "descriptors": len(os.listdir("/proc/self/fd")) - 1,  # without the one of listdir
        "maps": Path("/proc/self/maps").read_text().count("\n"),
    }


def measure(folder, sources, reads_all):
    """What a child process prints."""
    import recmap

    before, began, began_cpu = peak_memory(), time.perf_counter(), time.process_time()
    parts = [recmap.open(folder / f"source-{i:04}" / "train.rmx") for i in range(sources)]
    ds = recmap.concat(parts)
    opened = time.perf_counter()
    order = recmap.Mixture(
        [recmap.Shuffled(len(part), seed=i) for i, part in enumerate(parts)], [1.0] * sources
    )
    loader = recmap.Loader(ds, BATCH, order=order)
    batches = iter(loader)
    next(batches)
    found = {
        "open": opened - began,
        "first batch": time.perf_counter() - began,
        "first batch, CPU": time.process_time() - began_cpu,
        "memory": peak_memory() - before,
        **figures(),
    }
    if reads_all:
        for _ in batches:
            pass
        found["memory later"] = peak_memory() - before
        found.update({f"{name} later": count for name, count in figures().items()})
    print(json.dumps(found))


def run(folder, sources, options):
    command = [sys.executable, __file__, "--measure", "--sources", str(sources), "--folder", folder]
    command += options
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def show(columns):
    print(f"| | {' | '.join(f'{sources:,} sources' for sources in columns)} |")
    print(f"| --- |{' ---: |' * len(columns)}")
    for name in next(iter(columns.values())):
        values = [found[name] for found in columns.values()]
        texts = [f"{v:.2f} s" if isinstance(v, float) else f"{v:,}" for v in values]
        if name.startswith("memory"):
            texts = [f"{value / 1e6:.0f} MB" for value in values]
        print(f"| {name} | {' | '.join(texts)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sources", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--read-all", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.folder, args.sources, args.read_all)
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        write_sources(Path(folder) / "sources", args.sources, args.shards)
        counts = sorted({max(args.sources // 10, 1), args.sources})
        options = ["--read-all"] if args.read_all else []
        show({count: run(f"{folder}/sources", count, options) for count in counts})


if __name__ == "__main__":
    main()
