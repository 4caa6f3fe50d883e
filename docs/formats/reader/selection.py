"""Selections: see selection-format.md, and the specification of Roaring bitmaps for sets."""

import struct

import numpy as np

from .chunks import number_size
from .errors import check
from .xxh3 import stored, xxh3_128

SET, LIST = 1, 2
RUNS, NO_RUNS = 12347, 12346  # cookies
LIST_MAX, OFFSETS_MIN = 4096, 4


class Selection:
    """`arrays()` yields the record numbers piece by piece, `numbers()` returns all."""

    def __init__(self, data):
        check(len(data) >= 80 and data[:8] == b"RMXview\n", "is not a selection")
        check(stored(xxh3_128(data[:-16])) == data[-16:], "the hash of the selection is wrong")
        version, self.kind, self.record_count, self.shard_count, self.fingerprint, self.count, \
            size, zero = struct.unpack_from("<8xIIQQ16sQII", data)  # fmt: skip
        check(version == 1, f"unsupported: version {version} of selections")
        right = self.kind in (SET, LIST) and 1 <= size <= 4095 and zero == 0
        check(right and 80 + size <= len(data), "the header of the selection is wrong")
        self.path, self._items = data[64 : 64 + size], data[64 + size : -16]
        check(self.path.endswith(b".rmx") and b"\0" not in self.path, "the path is wrong")
        check(self.record_count <= 1 << 62, "too many records")
        count = 0
        for numbers in self.arrays():
            right = not numbers.size or numbers.max() < self.record_count
            check(right, "the number of a record that does not exist")
            count += len(numbers)
        check(count == self.count, f"{count} record numbers instead of {self.count}")

    def check_index(self, index):
        """The selection must be of the index's first shards."""
        shards = index.shards[: self.shard_count]
        hashes = b"".join(stored(shard.hash) for shard in shards)
        right = len(shards) == self.shard_count and xxh3_128(hashes) == self.fingerprint
        right = right and sum(shard.record_count for shard in shards) == self.record_count
        check(right, "the selection is of other data than the index")

    def numbers(self):
        return np.concatenate([np.zeros(0, np.uint64), *self.arrays()])

    def arrays(self):
        if self.kind == SET:
            return read_set(self._items)
        return self._read_list()

    def _read_list(self):
        size = number_size(self.record_count)
        check(len(self._items) == size * self.count, "a list of a wrong size")
        data = np.frombuffer(self._items, "u1").reshape(self.count, size)
        words = np.zeros((self.count, 8), "u1")
        words[:, :size] = data
        yield words.view("<u8").ravel()


def read_set(data):
    """Yields ascending record numbers of buckets of bitmaps."""
    check(len(data) >= 8, "a set is cut off")
    (count,), at, previous = struct.unpack_from("<Q", data), 8, -1
    for _ in range(count):
        check(at + 4 <= len(data), "a set is cut off")
        (high,) = struct.unpack_from("<I", data, at)
        check(previous < high, "buckets do not ascend")
        at = yield from _read_bitmap(data, at + 4, high << 32)
        previous = high
    check(at == len(data), "a set has bytes after its last bitmap")


def _unpack(data, at, count):
    """Numbers of 16 bits, and where they end."""
    check(at + 2 * count <= len(data), "a bitmap is cut off")
    return np.frombuffer(data, "<u2", count, at).astype(np.int64), at + 2 * count


def _read_bitmap(data, begin, base):
    cookie, at = _unpack(data, begin, 2)
    if cookie[0] == RUNS:
        count, at = int(cookie[1]) + 1, at + -(-(int(cookie[1]) + 1) // 8)
        has_runs = np.unpackbits(np.frombuffer(data[begin + 4 : at], "u1"), bitorder="little")
    else:
        check(cookie[0] == NO_RUNS and not cookie[1], "a bitmap has another cookie")
        (low, high), at = _unpack(data, at, 2)
        count, has_runs = int(low | high << 16), None
    header, at = _unpack(data, at, 2 * count)
    check(len(header) == 2 * count and (np.diff(header[::2]) > 0).all(), "keys do not ascend")
    offsets = None
    if has_runs is None or count >= OFFSETS_MIN:
        words, at = _unpack(data, at, 2 * count)
        offsets = words[::2] | words[1::2] << 16
    for i, (key, size) in enumerate(header.reshape(-1, 2).tolist()):
        check(offsets is None or begin + offsets[i] == at, "an offset is not a container's place")
        is_runs = has_runs is not None and has_runs[i]
        numbers, at = _read_container(data, at, size + 1, is_runs)
        yield numbers.astype(np.uint64) + (base + (key << 16))
    return at


def _read_container(data, at, size, is_runs):
    """The 16 lower bits of ascending numbers, and where they end."""
    if is_runs:
        (count,), at = _unpack(data, at, 1)
        runs, at = _unpack(data, at, 2 * int(count))
        starts, ends = runs[::2], runs[::2] + runs[1::2]
        right = (starts[1:] > ends[:-1]).all() and (ends < 1 << 16).all()
        check(right and (ends - starts + 1).sum() == size, "runs are wrong")
        return np.concatenate([np.arange(a, b + 1) for a, b in zip(starts, ends)]), at
    if size <= LIST_MAX:
        numbers, at = _unpack(data, at, size)
        check((np.diff(numbers) > 0).all(), "numbers do not ascend")
        return numbers, at
    check(at + 8192 <= len(data), "a bitmap is cut off")
    bits = np.unpackbits(np.frombuffer(data, "u1", 8192, at), bitorder="little")
    check(bits.sum() == size, "a map has another number of records than it claims")
    return np.flatnonzero(bits), at + 8192
