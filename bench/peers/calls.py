"""Calls of the Python package against the same calls of its peers, in pairs, in one process.

usage: calls.py FOLDER [REPEATS]      FOLDER: the sets that bench_make_sets wrote

Prints rows with the columns of the other benchmarks: question, unit, minimum, median, maximum,
repeats, goal, and whether the goal is met. Each repeat runs recmap and the peer one after the
other, in an order that alternates; a ratio above 1 means that recmap is faster. Goals are for the
time by the clock, because several threads work on one call. The CPU time is less affected by other
work on the machine. A peer that cannot be imported loses its rows.

- ds.parse of 1,024 random records, with CRC, on all cores, against tf.io.parse_example of as many
  records that are in memory, on all cores.
- The same calls with 256 records of short features: threads=0 (the default) against threads=1.
- ds[i] of random short records, with CRC, against bagz and py-lmdb, which check nothing.
- Shuffled(n).at(0, positions) of random positions against TensorFlow's index_shuffle.
"""

import importlib
import os
import random
import statistics
import struct
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import recmap

BATCH = 1024
SMALL_BATCH = 256
ROUND_NS = 50_000_000  # a round of one side takes at least this long
LOOKUPS = 200_000
POSITIONS = 1_000_000

INTEGERS = ["label", "user", "item", "hour", "day", "city", "age", "pos"]


def load(module):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        print(f"calls: {module} is missing: {error}", file=sys.stderr)
        return None


def print_row(question, unit, values, goal=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    cells += [str(len(values))]
    cells += [f">= {goal:g}", "met" if middle >= goal else "missed"] if goal else ["", ""]
    print("\t".join(cells), flush=True)


class Times:
    """Nanoseconds per unit, by the clock and on all cores."""

    def __init__(self, function, units):
        clock, cpu, rounds = time.perf_counter_ns(), time.process_time_ns(), 0
        while not rounds or time.perf_counter_ns() - clock < ROUND_NS:
            function()
            rounds += 1
        self.clock = (time.perf_counter_ns() - clock) / rounds / units
        self.cpu = (time.process_time_ns() - cpu) / rounds / units


def measure(ours, theirs, units, repeats):
    """Pairs (ours, theirs), after one of each that is not counted."""
    ours(), theirs()
    pairs = []
    for repeat in range(repeats):
        if repeat % 2:
            second = Times(theirs, units)
            pairs.append((Times(ours, units), second))
        else:
            pairs.append((Times(ours, units), Times(theirs, units)))
    return pairs


def report(question, pairs, goal=None, with_cpu=False):
    median = statistics.median
    ours, theirs = (median(pair[i].clock for pair in pairs) for i in (0, 1))
    title = f"{question} ({theirs:.4g} ns against {ours:.4g} ns)"
    print_row(title, "x by the clock", [b.clock / a.clock for a, b in pairs], goal)
    if with_cpu:
        print_row(question, "x CPU time", [b.cpu / a.cpu for a, b in pairs])


# ---- Parsing.


def small_features():
    features = {name: recmap.FixedLen((), "int64") for name in INTEGERS}
    features |= {name: recmap.FixedLen((), "float32") for name in ("price", "ctr")}
    features |= {name: recmap.FixedLen((), "bytes") for name in ("id", "cat", "brand")}
    return features | {"hist": recmap.FixedLen((4,), "int64")}


def image_features(copy):
    return {"image/encoded": recmap.FixedLen((), "bytes", copy=copy)}


def peer_features(tf, features):
    kinds = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}
    return {
        name: tf.io.FixedLenFeature(feature.shape, kinds[str(feature.dtype)])
        for name, feature in features.items()
    }


def parse_row(tf, folder, question, repeats):
    name, what, features, goal = question
    data = recmap.open(os.path.join(folder, name, "*.tfrecord"))
    numbers = np.array(random.Random(1).sample(range(len(data)), min(BATCH, len(data))))
    records = tf.constant([bytes(record) for record in data.gather(numbers)])
    theirs = peer_features(tf, features)
    pairs = measure(
        lambda: data.parse(numbers, features),
        lambda: tf.io.parse_example(records, theirs),
        len(numbers),
        repeats,
    )
    report(f"parse {len(numbers)} records: {what}: TensorFlow", pairs, goal, with_cpu=True)


def parse_rows(tf, folder, repeats):
    tokens = {"tokens": recmap.FixedLen((1024,), "int64")}
    questions = [
        ("small", "14 short features", small_features(), 6),
        ("tokens", "1,024 token ids", tokens, 4),
        ("large", "50 KB of image, viewed", image_features(copy=False), 2.5),
        ("large", "50 KB of image, copied", image_features(copy=True), 2.5),
    ]
    for question in questions:
        parse_row(tf, folder, question, repeats)


def small_call_rows(folder, repeats):
    data = recmap.open(os.path.join(folder, "small", "*.tfrecord"))
    numbers = np.array(random.Random(1).sample(range(len(data)), SMALL_BATCH))
    features = small_features()
    pairs = measure(
        lambda: data.parse(numbers, features),
        lambda: data.parse(numbers, features, threads=1),
        len(numbers),
        repeats,
    )
    report(f"parse {len(numbers)} records: threads=1", pairs, 0.97)


# ---- Single records.


def take(source, keys):
    for key in keys:
        source[key]


def take_lmdb(get, keys):
    for key in keys:
        get(key)


def copy_to_bagz(bagz, data, path):
    with bagz.Writer(path) as writer:
        for record in data:
            writer.write(bytes(record))
    return bagz.Reader(path)


def copy_to_lmdb(lmdb, data, path):
    environment = lmdb.open(path, map_size=1 << 36, subdir=False)
    with environment.begin(write=True) as transaction:
        for number, record in enumerate(data):
            transaction.put(struct.pack(">Q", number), bytes(record), append=True)
    return environment


def record_rows(folder, repeats):
    data = recmap.open(os.path.join(folder, "small", "*.tfrecord"))
    numbers = random.Random(1).choices(range(len(data)), k=LOOKUPS)

    def ours():
        take(data, numbers)

    with tempfile.TemporaryDirectory(dir=folder) as copies:
        if bagz := load("bagz"):
            reader = copy_to_bagz(bagz, data, os.path.join(copies, "data.bag"))
            pairs = measure(ours, lambda: take(reader, numbers), LOOKUPS, repeats)
            report("ds[i], 240 bytes: bagz", pairs, 1.5, with_cpu=True)
        if lmdb := load("lmdb"):
            environment = copy_to_lmdb(lmdb, data, os.path.join(copies, "data.lmdb"))
            keys = [struct.pack(">Q", number) for number in numbers]
            with environment.begin(buffers=True) as transaction:
                pairs = measure(ours, lambda: take_lmdb(transaction.get, keys), LOOKUPS, repeats)
            report("ds[i], 240 bytes: py-lmdb, views", pairs, 3, with_cpu=True)
            environment.close()


# ---- Orders.


def order_rows(tf, repeats):
    positions = np.random.default_rng(1).integers(0, POSITIONS, POSITIONS)
    tensor = tf.constant(positions)
    seed = tf.constant([42, 3], tf.uint32)
    last = tf.constant(POSITIONS - 1, tf.int64)
    order = recmap.Shuffled(POSITIONS, seed=42)
    pairs = measure(
        lambda: order.at(0, positions),
        lambda: tf.random.experimental.index_shuffle(tensor, seed, last),
        POSITIONS,
        repeats,
    )
    report("Shuffled(10**6).at, random positions: index_shuffle", pairs, 8, with_cpu=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    record_rows(folder, repeats)
    small_call_rows(folder, repeats)
    if tf := load("tensorflow"):
        parse_rows(tf, folder, repeats)
        order_rows(tf, repeats)


if __name__ == "__main__":
    main()
