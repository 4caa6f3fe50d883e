"""Parsing into columns: recmap against tf.io.parse_example on one thread, in one run.

usage: parse.py BENCH_PARSE FOLDER [REPEATS]

BENCH_PARSE is the program bench_parse, FOLDER the sets that bench_make_sets wrote. Both parse the
same records, which lie in memory, in batches of 256. Each repeat runs one after the other and
counts the CPU time of the process. Prints rows with the columns of the other benchmarks: question,
unit, minimum, median, maximum, repeats, goal, whether it is met.

What TensorFlow does is one graph of all batches, one parsed after the other: nothing of Python is
in the time. Most of what it takes for images are page faults: glibc gives the memory of each batch
back, and the next one begins with fresh pages. So they are asked again with glibc told to keep it.
"""

import os
import statistics
import struct
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

# What tells glibc to keep memory, and what tells the process that it was told.
KEEPING = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
}
KEPT = "BENCH_PARSE_MEMORY_KEPT"

BATCH = 256
RECORDS_MAX = 16384

INT64 = tf.io.FixedLenFeature([], tf.int64)
FLOAT = tf.io.FixedLenFeature([], tf.float32)
BYTES = tf.io.FixedLenFeature([], tf.string)
SMALL = {
    "id": BYTES,
    "label": INT64,
    "user": INT64,
    "item": INT64,
    "hour": INT64,
    "day": INT64,
    "city": INT64,
    "age": INT64,
    "price": FLOAT,
    "ctr": FLOAT,
    "cat": BYTES,
    "brand": BYTES,
    "pos": INT64,
    "hist": tf.io.FixedLenFeature([4], tf.int64),
}
TOKENS = {"tokens": tf.io.FixedLenFeature([1024], tf.int64)}
IMAGE = {"image/encoded": BYTES}

# Set, shard, features, and the cases of bench_parse with how many times faster each shall be.
QUESTIONS = [
    ("small", 0, SMALL, {"ordered": 12}),
    ("small", 1, SMALL, {"shuffled": 8}),
    ("tokens", 0, TOKENS, {"portable": 3.5, "avx2": 6, "avx512": 10}),
    ("large", 0, IMAGE, {"copied": 7, "viewed": 200}),
]


def read_records(folder, name, shard):
    """As many whole batches as bench_parse takes."""
    records = []
    path = os.path.join(folder, name, f"{name}-{shard:05}-of-00008.tfrecord")
    with open(path, "rb") as file:
        while len(records) < RECORDS_MAX and (header := file.read(12)):
            records.append(file.read(struct.unpack_from("<Q", header)[0]))
            file.read(4)
    whole = len(records) - len(records) % BATCH
    return records[: whole or len(records)]


def first_value(column):
    """A number that is only there when the column is; a parse that nobody looks at is left out."""
    value = tf.reshape(column, [-1])[0]
    return tf.strings.length(value) if value.dtype == tf.string else tf.cast(value, tf.int32)


def make_parse(features):
    """A graph that parses batches, one after the other, and keeps one number of each."""

    @tf.function
    def parse(*batches):
        seen = []
        for batch in batches:
            with tf.control_dependencies(seen[-1:]):
                columns = tf.io.parse_example(batch, features)
            seen.append(first_value(next(iter(columns.values()))))
        return tf.add_n(seen)

    return parse


class Peer:
    """TensorFlow with the records of one question; `size` is how many bytes they are."""

    def __init__(self, records, features):
        self.count = len(records)
        self.rounds = (64 << 20) // sum(map(len, records)) + 1
        self.parse = make_parse(features)
        self.batches = [tf.constant(records[i : i + BATCH]) for i in range(0, self.count, BATCH)]
        self.parse(*self.batches)

    def time(self):
        """ns a record."""
        begun = time.process_time_ns()
        for _ in range(self.rounds):
            self.parse(*self.batches)
        return (time.process_time_ns() - begun) / self.rounds / self.count


def time_ours(program, folder, case):
    """The row's question and ns a record; None where this processor cannot do it."""
    command = [program, folder, "1", case]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if not printed:
        return None
    cells = printed.split("\t")
    return cells[0], float(cells[3])


def print_row(question, unit, values, goal=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    cells += [str(len(values))]
    cells += [f">= {goal:g}", "met" if middle >= goal else "missed"] if goal else ["", ""]
    print("\t".join(cells), flush=True)


def ask(program, folder, question, repeats, other=None):
    """Prints the rows of a question; `other` says what is otherwise than a user has it."""
    name, shard, features, cases = question
    peer_name = "TensorFlow" + (f", {other}" if other else "")
    peer = Peer(read_records(folder, name, shard), features)
    theirs, ratios, titles = [], {case: [] for case in cases}, {}
    for _ in range(repeats):
        taken = peer.time()
        theirs.append(taken)
        for case in cases:
            ours = time_ours(program, folder, case)
            if ours:
                titles[case] = ours[0]
                ratios[case].append(taken / ours[1])
    what = " + ".join(cases)
    print_row(f"parse: {what}: {peer_name}", "ns a record", theirs)
    for case, title in titles.items():
        goal = None if other else cases[case]
        print_row(f"{title}, against {peer_name}", "x as fast", ratios[case], goal)


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: parse.py BENCH_PARSE FOLDER [REPEATS]")
    program, folder = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    if os.environ.get(KEPT):
        ask(program, folder, QUESTIONS[-1], repeats, "memory kept")
        return
    for question in QUESTIONS:
        ask(program, folder, question, repeats)
    command = [sys.executable, __file__, program, folder, str(repeats)]
    subprocess.run(command, check=True, env=os.environ | KEEPING | {KEPT: "1"})
    print(f"parse: TensorFlow {tf.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
