"""Finding, joining and annotating records by id against pandas, and `where` against NumPy.

usage: labels.py FOLDER [SET] [REPEATS]      FOLDER: the sets that bench_make_sets wrote

SET has an id and a label: small (1,000,000 records), the default, or ids. The index is built in a
temporary folder. Times are CPU times of all threads unless a row says "by the clock".

Prints rows with the columns of the other benchmarks: question, unit, minimum, median, maximum,
repeats, goal, and whether the goal is met.
"""

import gc
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import recmap

ROWS = 100_000_000  # of `where`


def print_row(question, unit, values, goal="", is_met=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    verdict = "" if is_met is None else "met" if is_met(middle) else "missed"
    print("\t".join([*cells, str(len(values)), goal, verdict]), flush=True)


def measure(work):
    """Seconds of CPU time and by the clock."""
    gc.collect()
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - clock


def compare(question, ours, theirs, repeats, goal, by_clock=False):
    """Measures both in turns, and prints how many times as long the other side takes. The goal is
    one of CPU time, or of the time by the clock."""
    times = [(measure(ours), measure(theirs)) for _ in range(repeats)]
    print_row(f"{question}: recmap", "s", [ours[0] for ours, _ in times])
    print_row(f"{question}: the other side", "s", [theirs[0] for _, theirs in times])
    for kind, name in enumerate(("", ", by the clock")):
        ratios = [theirs[kind] / ours[kind] for ours, theirs in times]
        verdict = (f">= {goal:g}", lambda ratio: ratio >= goal) if kind == by_clock else ("", None)
        print_row(f"{question}{name}", "x as fast", ratios, *verdict)


def find(ds, ids, repeats):
    times = [measure(lambda: ds.find_many(ids)) for _ in range(repeats)]
    for name, values in zip(("", ", by the clock"), zip(*times, strict=True), strict=True):
        each = [seconds / len(ids) * 1e9 for seconds in values]
        goal = ("<= 150", lambda ns: ns <= 150) if name else ("", None)
        print_row(f"find_many{name}", "ns/id", each, *goal)


def annotate(path, ids, values, order, repeats):
    rows = pd.DataFrame({"id": ids, "score": values})
    records = pd.DataFrame({"id": [ids[i] for i in np.argsort(order)]})
    names = iter(range(repeats))

    def ours():
        with recmap.open(path, access=recmap.Reading(allow_absolute_paths=True)) as ds:
            ds.annotate({"id": ids, f"score{next(names)}": values}, by="id", progress=None)

    compare(
        "annotate by id, against pandas.merge",
        ours,
        lambda: records.merge(rows, by="id", how="left"),
        repeats,
        3,
    )


def join(ds, ids, order, repeats):
    left = pd.DataFrame({"id": ids, "left": order})
    right = pd.DataFrame({"id": [ids[i] for i in np.argsort(order)], "right": np.arange(len(ds))})
    view = ds[order]
    compare(
        "join of shuffled ids, against pandas.merge",
        lambda: recmap.join({"left": view, "right": ds}),
        lambda: left.merge(right, by="id"),
        repeats,
        3,
        by_clock=True,
    )


def where(ds, repeats):
    """Selects from ROWS rows: the data set is concatenated with itself, which opens it once."""
    many = recmap.concat([ds] * max(1, ROWS // len(ds)))
    labels = np.tile(np.asarray(ds.columns["label"][:]), len(many) // len(ds))
    expression = "label == 3 or label > 700"
    found = many.where(expression).numbers
    assert np.array_equal(found, np.flatnonzero((labels == 3) | (labels > 700)))
    print_row("rows of where", "rows", [len(many)])
    compare(
        f"where {expression!r}, against NumPy",
        lambda: many.where(expression),
        lambda: np.flatnonzero((labels == 3) | (labels > 700)),
        repeats,
        0.5,
    )


def main(folder, name="small", repeats="3"):
    rounds = int(repeats)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "labels.rmx")
        shards = os.path.join(folder, name, f"{name}-*.tfrecord")
        options = {"allow_absolute_paths": True, "progress": None}
        ds = recmap.open(shards, index=path, id="id", lift=["label"], **options)
        order = np.random.default_rng(1).permutation(len(ds))
        ids = [f"img-{i:09}" for i in order.tolist()]
        assert np.array_equal(ds.find_many(ids), order)
        print_row(f"records of {name}", "records", [len(ds)])
        find(ds, ids, rounds)
        join(ds, ids, order, rounds)
        where(ds, rounds)
        ds.close()
        annotate(path, ids, order, order, rounds)


if __name__ == "__main__":
    main(*sys.argv[1:])
