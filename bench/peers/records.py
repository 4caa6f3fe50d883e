"""Records at random: one, and 256 at once. recmap against each peer, in pairs.

usage: records.py FOLDER COPIES SET [REPEATS]

All read the same random numbers, from memory: every file is read through once before. What each
does besides finding a record is said in its row. recmap checks the CRC of each record and hands out
views.
"""

import random
import struct
import sys

import numpy
from pairs import measure, report, report_absent, says, time_of
from sets import BATCH, Set

LOOKUPS = 200_000
LONG_NS = 150_000_000  # a round is at most about this long


class Peer:
    """How a peer reads; `says` is what it does besides finding a record."""

    def keys(self, numbers):
        return numbers

    def close(self):
        pass


class Bagz(Peer):
    says = says("bagz", "no", "bytes", "no")

    def __init__(self, data):
        import bagz

        self.path = data.path("data.bag")
        self.reader = bagz.Reader(self.path)

    def one(self, keys):
        reader = self.reader
        for key in keys:
            reader[key]

    def batch(self, numbers):
        self.reader.read_indices(numbers)


class BagzEach(Bagz):
    """Its read of many hands each to a thread: one after the other is faster in memory."""

    says = says("bagz, one after the other", "no", "bytes", "no")

    def batch(self, numbers):
        reader = self.reader
        return [reader[number] for number in numbers]


class LmdbViews(Peer):
    says = says("py-lmdb, views", "no", "no", "no")
    buffers = True

    def __init__(self, data):
        import lmdb

        self.path = data.path("data.lmdb")
        self.environment = lmdb.open(self.path, subdir=False, readonly=True, lock=False)
        self.transaction = self.environment.begin(buffers=self.buffers)

    def keys(self, numbers):
        return [struct.pack(">Q", number) for number in numbers]

    def one(self, keys):
        get = self.transaction.get
        for key in keys:
            get(key)

    def batch(self, numbers):
        get = self.transaction.get
        return [get(struct.pack(">Q", number)) for number in numbers]

    def close(self):
        self.transaction.abort()
        self.environment.close()


class LmdbCopies(LmdbViews):
    says = says("py-lmdb, copies", "no", "bytes", "no")
    buffers = False


class ArrayRecord(Peer):
    says = says("ArrayRecord", "its blocks", "bytes, unpacked", "no")

    def __init__(self, data):
        from array_record.python import array_record_data_source

        self.path = data.path("data.array_record")
        self.source = array_record_data_source.ArrayRecordDataSource([self.path])

    def one(self, keys):
        source = self.source
        for key in keys:
            source[key]

    def batch(self, numbers):
        return self.source.__getitems__(numbers)


class Lance(Peer):
    says = says("Lance", "no", "columns", "no: stored in columns")

    def __init__(self, data):
        import lance

        self.path = data.path("data.lance")
        self.table = lance.dataset(self.path)

    def one(self, keys):
        take = self.table.take
        for key in keys:
            take([key])

    def batch(self, numbers):
        return self.table.take(numbers)


class HuggingFace(Peer):
    says = says("Hugging Face datasets", "no", "Python objects", "no: stored in columns")

    def __init__(self, data):
        import datasets

        self.path = data.path("data.arrow")
        self.table = datasets.Dataset.from_file(self.path)

    def one(self, keys):
        table = self.table
        for key in keys:
            table[key]

    def batch(self, numbers):
        return self.table[numbers]


# How many times faster one record and a batch shall be, of a million short records.
PEERS = {
    Bagz: (1.5, 10),
    BagzEach: (None, 10),
    LmdbViews: (3, 3),
    LmdbCopies: (3, 3),
    ArrayRecord: (500, 10),
    Lance: (None, None),
    HuggingFace: (None, None),
}


def rounds(run, units, per_call):
    """How many calls make a round that is long enough to be timed, and not longer."""
    first = time_of(lambda: run(per_call) or 1)
    calls = int(LONG_NS / max(first.clock, 1)) * per_call
    return max(per_call, min(units, calls))


def ask_one(peer, data_set, data, numbers, repeats, goal, question="one random record"):
    keys = peer.keys(numbers)
    count = rounds(lambda n: peer.one(keys[:n]), len(keys), 20)

    def ours():
        for number in numbers:
            data_set[number]
        return len(numbers)

    def theirs():
        peer.one(keys[:count])
        return count

    report(question, data.name, peer.says, measure(ours, theirs, repeats), goal)


def ask_batch(peer, data_set, data, numbers, repeats, goal):
    lists = [numbers[i : i + BATCH] for i in range(0, len(numbers) - BATCH + 1, BATCH)]
    arrays = [numpy.array(batch) for batch in lists]

    def run(count):
        for batch in lists[:count]:
            peer.batch(batch)

    count = rounds(run, len(lists), 1)

    def ours():
        for batch in arrays:
            data_set.gather(batch)
        return len(arrays) * BATCH

    def theirs():
        run(count)
        return count * BATCH

    question = "a batch of 256 random records"
    report(question, data.name, peer.says, measure(ours, theirs, repeats), goal)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    data = Set(*sys.argv[1:4])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    data_set, unchecked = data.open(), data.open(check="header")
    lookups = LOOKUPS if data.name != "large" else LOOKUPS // 10
    numbers = random.Random(1).choices(range(len(data_set)), k=lookups)
    for kind, (one, batch) in PEERS.items():
        try:
            peer = kind(data)
        except (ImportError, FileNotFoundError) as error:
            report_absent("records at random", kind.says, error)
            continue
        data.warm(peer.path)
        if data.name != "small":
            one = batch = None
        if kind is not BagzEach:
            ask_one(peer, data_set, data, numbers, repeats, one)
        ask_batch(peer, data_set, data, numbers, repeats, batch)
        if kind in (Bagz, LmdbViews):
            question = "one random record, its data not checked by recmap either"
            ask_one(peer, unchecked, data, numbers, repeats, None, question)
        peer.close()


if __name__ == "__main__":
    main()
