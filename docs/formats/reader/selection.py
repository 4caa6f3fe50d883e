"""Selections: see selection-format.md, and the specification of Roaring bitmaps for sets."""

import io
import struct

import numpy as np

from . import check
from .chunks import number_size, unpack_bits, unpack_numbers
from .index import fingerprint_of
from .xxh3 import xxh3_128

SET, LIST = 1, 2
RUNS, NO_RUNS = 12347, 12346  # cookies
LIST_MAX, OFFSETS_MIN = 4096, 4


class Selection:
    """`numbers` are the record numbers, of the index at `path`."""

    def __init__(self, data):
        check(data[:8] == b"RMXview\n", "is not a selection")
        check(xxh3_128(data[:-16]) == data[-16:], "the hash of the selection is wrong")
        version, kind, self.record_count, self.shard_count, fingerprint, count, size = (
            struct.unpack_from("<8xIIQQ16sQI", data)
        )
        check(version == 1 and kind in (SET, LIST), f"unsupported: version {version}, kind {kind}")
        self.fingerprint = fingerprint[::-1]
        self.path, items = data[64 : 64 + size], data[64 + size : -16]
        if kind == SET:
            self.numbers = read_set(io.BytesIO(items))
            right = (self.numbers[:-1] < self.numbers[1:]).all()
            check(right, "the record numbers of a set do not ascend")
        else:
            self.numbers = unpack_numbers(items, number_size(self.record_count))
        check(len(self.numbers) == count, f"{len(self.numbers)} record numbers, not {count}")

    def check_index(self, index):
        """The selection must be of the index's first shards."""
        shards = index.shards[: self.shard_count]
        found = len(shards), sum(shard.record_count for shard in shards), fingerprint_of(shards)
        right = found == (self.shard_count, self.record_count, self.fingerprint)
        check(right, "the selection is of other data than the index")


def _read(file, count, kind="<u2"):
    """Numbers of 16 bits, or of another kind."""
    kind = np.dtype(kind)
    return np.frombuffer(file.read(count * kind.itemsize), kind)


def read_set(file):
    """The numbers of buckets of bitmaps."""
    pieces = [np.zeros(0, np.uint64)]
    for _ in range(int(_read(file, 1, "<u8")[0])):
        high = int(_read(file, 1, "<u4")[0]) << 32
        pieces += [numbers.astype(np.uint64) + (high | key << 16) for key, numbers in _bitmap(file)]
    return np.concatenate(pieces)


def _bitmap(file):
    """Yields the upper 16 bits of the numbers in each container, and their lower 16 bits."""
    kind, high = _read(file, 2).tolist()
    if kind == RUNS:
        count = high + 1
        has_runs = unpack_bits(file.read(-(-count // 8)), count)
    else:
        check(kind == NO_RUNS, "unsupported: a bitmap of another kind")
        count = int(_read(file, 1, "<u4")[0])
        has_runs = [0] * count
    keys = _read(file, 2 * count).reshape(-1, 2).tolist()
    if kind == NO_RUNS or count >= OFFSETS_MIN:
        file.read(4 * count)  # offsets of the containers, which follow each other
    for (key, last), is_runs in zip(keys, has_runs):
        yield key, _container(file, last + 1, is_runs)


def _container(file, count, is_runs):
    if is_runs:
        runs = _read(file, 2 * int(_read(file, 1)[0])).astype(int).reshape(-1, 2)
        return np.concatenate([np.arange(first, first + more + 1) for first, more in runs])
    if count <= LIST_MAX:
        return _read(file, count)
    return np.flatnonzero(unpack_bits(file.read(8192), 1 << 16))
