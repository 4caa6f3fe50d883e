"""Parsing rows of CSV: recmap against tf.io.decode_csv on one thread, in one run.

usage: csv_rows.py BENCH_CSV [REPEATS]

BENCH_CSV is the program bench_csv. Both parse the same rows of 14 fields, which lie in memory, in
batches of 256. Each repeat runs one after the other and counts the CPU time of the process. Prints
rows with the columns of the other benchmarks. Rows with quoted line feeds are given to TensorFlow
as whole records, which its own readers of text cannot give it.
"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

BATCH, ROWS = 256, 16384
TYPES = [tf.string, *[tf.int64] * 7, tf.float32, tf.float32, tf.string, tf.string, tf.int64]
TYPES.append(tf.string)
QUESTION = "parse: 14 small fields of CSV"


def records_of(path):
    """The rows as they are written, by their fields."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[:ROWS]
    text = [
        ",".join(f'"{field}"' if {",", "\n"} & {*field} else field for field in row) for row in rows
    ]
    return [tf.constant(text[i : i + BATCH]) for i in range(0, len(text), BATCH)]


def decoder_of(batches):
    """One graph that decodes all batches, one after the other. They are arguments, because
    constants would be decoded once, when the graph is made."""
    defaults = [tf.constant([], dtype) for dtype in TYPES]

    @tf.function(autograph=False)
    def decode(*given):
        previous, kept = [], []  # what is not returned would not be decoded
        for batch in given:
            with tf.control_dependencies(previous):
                previous = tf.io.decode_csv(batch, defaults)
            kept.append(previous[0])
        return kept

    return lambda: decode(*batches)


def tensorflow_ns(decode):
    start = time.process_time_ns()
    decode()
    return (time.process_time_ns() - start) / ROWS


def own_ns(program):
    out = subprocess.run([program, "1"], capture_output=True, text=True, check=True).stdout
    row = next(line for line in out.splitlines() if line.startswith(QUESTION))
    return float(row.split("\t")[3])


def print_row(question, unit, values, goal=""):
    figures = [min(values), statistics.median(values), max(values)]
    met = "" if goal == "" else "met" if figures[1] >= goal else "missed"
    limit = f"at least {goal}" if goal != "" else ""
    print("\t".join([question, unit, *(f"{v:.4g}" for v in figures), str(len(values)), limit, met]))


def main(program, repeats=8):
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        subprocess.run([program, "write", path], check=True)
        decode = decoder_of(records_of(path))
    decode()
    own, theirs = [], []
    for _ in range(int(repeats)):
        own.append(own_ns(program))
        theirs.append(tensorflow_ns(decode))
    print_row(f"{QUESTION}, TensorFlow", "ns a record", theirs)
    print_row(f"{QUESTION}, recmap", "ns a record", own)
    ratios = [b / a for a, b in zip(own, theirs, strict=True)]
    print_row(f"{QUESTION}, times faster", "ratio", ratios, 5)


if __name__ == "__main__":
    main(*sys.argv[1:])
