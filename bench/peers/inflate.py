"""Epochs over GZIP shards: recmap's loader against a sequential pass of tf.data, one thread each.

usage: inflate.py BENCH_GZIP FOLDER SET [REPEATS]

BENCH_GZIP is the program bench_gzip; FOLDER/SET holds compressed shards, which bench/run makes.
They run in turns, over the same files of the page cache. Times are CPU times of the process, all
threads together. tf.data reads the shards one after another in file order and makes batches of 256;
nothing of Python is in the time. Both check the CRCs of each record; zlib checks the checksum of
GZIP besides, which recmap does when it indexes. Prints rows for bench/run.
"""

import glob
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

BATCH = 256

# How recmap iterates, and how many times as fast that shall be.
EPOCHS = {"windowed": 1, "shuffled": None}


def make_pass(paths):
    """A function that reads all records and returns how many there are."""
    records = tf.data.TFRecordDataset(paths, compression_type="GZIP").batch(BATCH)
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.autotune.enabled = False
    records = records.with_options(options)

    @tf.function
    def run():
        return records.reduce(
            tf.constant(0, tf.int64), lambda n, batch: n + tf.size(batch, tf.int64)
        )

    return run


def time_pass(run):
    """ns a record."""
    begun = time.process_time_ns()
    count = int(run())
    return (time.process_time_ns() - begun) / count


def time_ours(command, epoch):
    """The row's question and ns a record."""
    printed = subprocess.run(
        [*command, "1", epoch], check=True, capture_output=True, text=True
    ).stdout
    cells = printed.split("\t")
    return cells[0], float(cells[3])


def print_row(question, unit, values, goal=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    cells += [str(len(values))]
    cells += [f">= {goal:g}", "met" if middle >= goal else "missed"] if goal else ["", ""]
    print("\t".join(cells), flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program, folder, name = sys.argv[1:4]
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    run = make_pass(sorted(glob.glob(os.path.join(folder, name, "*"))))
    run()
    theirs, ratios, titles = [], {epoch: [] for epoch in EPOCHS}, {}
    for _ in range(repeats):
        taken = time_pass(run)
        theirs.append(taken)
        for epoch in EPOCHS:
            titles[epoch], ours = time_ours([program, folder, name], epoch)
            ratios[epoch].append(taken / ours)
    print_row(f"{name}: tf.data, a sequential pass", "ns a record", theirs)
    for epoch, goal in EPOCHS.items():
        print_row(
            f"{titles[epoch]}, against tf.data in file order", "x as fast", ratios[epoch], goal
        )


if __name__ == "__main__":
    main()
