"""One random record: data_set[i] of recmap against bagz and py-lmdb, in one run.

usage: get.py FOLDER_OR_INDEX [--records N] [--lookups N] [--rounds N]

Copies of the records are made for the peers in a temporary folder. All three read the same numbers
in the same order, from memory (every file is read through once before), one after the other in each
round; the fastest round counts. What each does besides finding the record:

  recmap    checks the CRC-32C of the record; hands out a view, no copy
  bagz      checks nothing; hands out a copy as bytes
  py-lmdb   checks nothing; with buffers=True hands out a view, valid in its transaction; else a copy
"""

import argparse
import os
import random
import struct
import tempfile
import time

import bagz
import lmdb
import recmap


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--lookups", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def copy_to_bagz(data_set, path):
    with bagz.Writer(path) as writer:
        for record in data_set:
            writer.write(bytes(record))
    return bagz.Reader(path)


def copy_to_lmdb(data_set, path):
    environment = lmdb.open(path, map_size=1 << 36, subdir=False)
    with environment.begin(write=True) as transaction:
        for i, record in enumerate(data_set):
            transaction.put(struct.pack(">Q", i), bytes(record), append=True)
    return environment


def take(source, keys):
    for key in keys:
        source[key]


def take_lmdb(get, keys):
    for key in keys:
        get(key)


def time_of(function, source, keys):
    begun = time.perf_counter_ns()
    function(source, keys)
    return (time.perf_counter_ns() - begun) / len(keys)


def main():
    options = arguments()
    data_set = recmap.open(options.data)[: options.records]
    numbers = random.Random(1).choices(range(len(data_set)), k=options.lookups)
    keys = [struct.pack(">Q", number) for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        reader = copy_to_bagz(data_set, os.path.join(folder, "data.bag"))
        environment = copy_to_lmdb(data_set, os.path.join(folder, "data.lmdb"))
        views = environment.begin(buffers=True)
        copies = environment.begin()
        rows = {
            "recmap": (take, data_set, numbers),
            "bagz": (take, reader, numbers),
            "py-lmdb, views": (take_lmdb, views.get, keys),
            "py-lmdb, copies": (take_lmdb, copies.get, keys),
        }
        best = dict.fromkeys(rows, float("inf"))
        for _ in range(options.rounds):
            for name, row in rows.items():
                best[name] = min(best[name], time_of(*row))
        size = sum(len(data_set[i]) for i in numbers[:1000]) // 1000
        print(f"{len(data_set)} records of {size} bytes, {len(numbers)} random lookups")
        for name, taken in best.items():
            print(f"{name:16} {taken:8.0f} ns   {taken / best['recmap']:6.2f}")


if __name__ == "__main__":
    main()
