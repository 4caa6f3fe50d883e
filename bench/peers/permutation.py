"""An index of a shuffled order: recmap against TensorFlow's index_shuffle and torch.randperm.

usage: permutation.py LIBRECMAP.SO [REPEATS]

All three run in turns in this process, on one thread, over the same number of indices; times are
CPU times of the process. recmap and index_shuffle get arrays of the same positions; randperm makes
all n numbers, 8 bytes each, which is how it is used. Prints rows for bench/run.
"""

import ctypes
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy

import tensorflow
import torch

BATCH = 65536
INDICES = 1 << 20  # a repeat
RANDPERM_MAX = 1_000_000
SIZES = (257, 1000, 1_000_000, 1_000_000_000, 1_000_000_000_000)


def recmap_order(library, n):
    """A function that takes an array of positions and gives their records."""
    order = ctypes.c_void_p()
    size = ctypes.c_uint64
    if library.recmap_order_shuffled(ctypes.byref(order), size(n), size(42), None):
        sys.exit("recmap_order_shuffled failed")
    at = library.recmap_order_at
    at.argtypes = [ctypes.c_void_p] * 2 + [size, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    numbers = numpy.empty(BATCH, numpy.uint64)

    def run(positions):
        if at(numbers.ctypes.data, order, 3, positions.ctypes.data, len(positions), None):
            sys.exit("recmap_order_at failed")

    return run


def index_shuffle(n):
    seed = tensorflow.constant([42, 3], tensorflow.uint32)
    last = tensorflow.constant(n - 1, tensorflow.int64)

    def run(positions):
        tensorflow.random.experimental.index_shuffle(positions, seed, last)

    return run


def time_batches(run, batches):
    """Nanoseconds an index."""
    begun = time.process_time_ns()
    for batch in batches:
        run(batch)
    return (time.process_time_ns() - begun) / (len(batches) * BATCH)


def time_randperm(n):
    rounds = max(INDICES // n, 1)
    begun = time.process_time_ns()
    for _ in range(rounds):
        torch.randperm(n)
    return (time.process_time_ns() - begun) / (rounds * n)


def print_row(question, unit, values):
    fields = [min(values), statistics.median(values), max(values)]
    print(question, unit, *(f"{value:.4g}" for value in fields), len(values), "", "", sep="\t")


def measure(library, n, repeats):
    positions = [
        (numpy.arange(BATCH, dtype=numpy.uint64) + start) % numpy.uint64(n)
        for start in range(0, INDICES, BATCH)
    ]
    tensors = [tensorflow.constant(batch.astype(numpy.int64)) for batch in positions]
    ways = {
        "recmap": lambda run=recmap_order(library, n): time_batches(run, positions),
        "index_shuffle": lambda run=index_shuffle(n): time_batches(run, tensors),
    }
    if n <= RANDPERM_MAX:
        ways["randperm"] = lambda: time_randperm(n)
    times = {name: [] for name in ways}
    for repeat in range(repeats + 1):
        for name, way in ways.items():
            taken = way()
            if repeat:
                times[name].append(taken)
    ours = times.pop("recmap")
    for name, theirs in times.items():
        question = (
            f"permutation, n = {n}: order, shuffled ({statistics.median(ours):.1f} ns) "
            f"against {name} ({statistics.median(theirs):.1f} ns)"
        )
        print_row(question, "x " + name, [a / b for a, b in zip(ours, theirs)])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    library = ctypes.CDLL(sys.argv[1])
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    torch.set_num_threads(1)
    for n in SIZES:
        measure(library, n, repeats)


main()
