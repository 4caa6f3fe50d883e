"""The packed values of an index: chunks of offsets, ids, lifted columns and element counts."""

import struct
from itertools import pairwise

import numpy as np

BLOCK = 128
NONE, INT64, FLOAT, BYTES, FLOAT64 = range(5)
NULLS, DICTIONARY = 1, 2
# Entries of the directories. The lowest byte of `slope` is the width; counts have a slope of 0.
OFFSETS = np.dtype([("base", "<u8"), ("slope", "<u8"), ("place", "<u4"), ("shard", "<u4")])
COUNTS = np.dtype([("base", "<u8"), ("place", "<u4"), ("slope", "<u4")])


def unpack_bits(data, count, width=1):
    """Numbers of `width` bits."""
    bits = np.unpackbits(np.frombuffer(data, "u1"), count=count * width, bitorder="little")
    return bits.reshape(count, width) @ (np.uint64(1) << np.arange(width, dtype=np.uint64))


def unpack_numbers(data, size):
    """Numbers of `size` bytes, at most 8, as an array."""
    words = np.zeros((len(data) // size, 8), "u1")
    words[:, :size] = np.frombuffer(data, "u1").reshape(-1, size)
    return words.view("<u8").ravel()


def number_size(record_count):
    """Bytes of a record number in pairs and lists."""
    return max(1, (max(record_count, 1) - 1).bit_length() + 7 >> 3)


def read_blocks(payload, count, layout):
    """The offsets or counts of a chunk; `layout` is that of its directory."""
    entries, numbers = np.frombuffer(payload, layout, -(-count // BLOCK)), []
    for i, entry in enumerate(entries):
        base, slope, place = (int(entry[name]) for name in ("base", "slope", "place"))
        width, index = slope & 0xFF, np.arange(min(BLOCK, count - BLOCK * i), dtype=np.uint64)
        begin = entries.nbytes + 8 * place
        bits = payload[begin : begin + -(-len(index) * width // 8)]
        numbers.append(base + (slope >> 8) * index + unpack_bits(bits, len(index), width))
    return np.concatenate(numbers)


def read_pairs(payload, record_count):
    """The hashes and the record numbers of a chunk of ids."""
    size = 6 + number_size(record_count)
    rows = np.frombuffer(payload[:-8], "u1").reshape(-1, size)
    return unpack_numbers(rows[:, :6].tobytes(), 6), unpack_numbers(rows[:, 6:].tobytes(), size - 6)


def _cut(data, ends):
    """The texts that end at these positions."""
    return [data[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


def read_column(payload, count, default=None):
    """The values of a chunk of a lifted column: None for nulls."""
    kind, width, flags, base = struct.unpack_from("<BBB5xq", payload)
    if kind == NONE:
        return [None if flags & NULLS else default] * count
    begin = 16 + (-(-count // 64) * 8 if flags & NULLS else 0)
    words = np.frombuffer(payload, f"<u{width}", count, begin) if width else np.zeros(count, "u1")
    rest = payload[begin + width * count :]
    if flags & DICTIONARY:
        texts = _cut(rest[4 * base :], np.frombuffer(rest, "<u4", base))
        values = [texts[code] for code in words.tolist()]
    elif kind == BYTES:
        values = _cut(rest, words)
    elif kind == INT64:
        values = [base + word for word in words.tolist()]
    else:
        values = words.view(f"<f{width}").tolist()
    if flags & NULLS:
        valid = unpack_bits(payload[16:begin], count)
        values = [value if bit else None for value, bit in zip(values, valid)]
    return values
