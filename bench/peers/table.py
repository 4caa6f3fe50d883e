"""Rows of JSON as tables in Markdown, one a question.

usage: table.py ROWS | --versions     the latter prints the first row: what was measured, and where
"""

import importlib.metadata
import json
import os
import platform
import sys

PACKAGES = [
    "recmap",
    "numpy",
    "bagz",
    "lmdb",
    "array_record",
    "grain",
    "tensorflow",
    "torch",
    "torchdata",
    "pyarrow",
    "pylance",
    "datasets",
    "tfrecord",
    "nvidia-dali-cuda120",
    "mosaicml-streaming",
    "litdata",
    "webdataset",
    "spdl",
]
HEAD = (
    "set",
    "peer",
    "it checks",
    "it copies",
    "it parses",
    "recmap",
    "peer takes",
    "on cores",
    "least to most",
    "by the clock",
    "wanted",
    "",
)
SIZES = {"small": "240 B", "medium": "2.6 KB", "large": "50 KB"}


def versions():
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "?")
    kernel = ".".join(platform.release().split(".")[:2])
    machine = f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {kernel}"
    load = f"{os.getloadavg()[0]:.1f}"
    return {"versions": found, "machine": machine, "load": load}


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def verdict(row):
    if row["goal"] is None:
        return "", ""
    by_cpu, by_clock = row["cpu"] >= row["goal"], row["clock"] >= row["goal"]
    words = {(True, True): "met", (True, False): "met on cores", (False, True): "met by the clock"}
    return f">= {row['goal']:g}", words.get((by_cpu, by_clock), "missed")


def cells(row):
    size = SIZES[row["set"]]
    spread = f"{row['cpu_min']:.3g} to {row['cpu_max']:.3g}"
    took = duration(row["ours_cpu"]), duration(row["theirs_cpu"])
    ratios = f"{row['cpu']:.3g} x", spread, f"{row['clock']:.3g} x"
    said = row["name"], row["checks"], row["copies"], row["parses"]
    return (size, *said, *took, *ratios, *verdict(row))


def table(rows):
    lines = [HEAD, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    for line in lines:
        print("| " + " | ".join(map(str.ljust, line, widths)) + " |")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--versions":
        print(json.dumps(versions()))
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        first, *rows = [json.loads(line) for line in file]
    questions = dict.fromkeys(row["question"] for row in rows if "absent" not in row)
    for question in questions:
        print(f"\n**{question[0].upper()}{question[1:]}**\n")
        table([row for row in rows if row["question"] == question and "absent" not in row])
    for row in rows:
        if "absent" in row:
            print(f"\n{row['name']} was not there ({row['question']}): {row['absent']}")
    print(f"\nMachine: {first['machine']}; load when it began: {first['load']}.")
    found = ", ".join(f"{name} {its}" for name, its in first["versions"].items())
    print(f"Versions: {found}.")


if __name__ == "__main__":
    main()
