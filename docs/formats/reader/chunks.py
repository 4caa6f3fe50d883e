"""The packed values of an index: chunks of offsets, ids, lifted columns and element counts."""

import struct

import numpy as np

from .errors import check

BLOCK = 128
NONE, INT64, FLOAT, BYTES, FLOAT64 = range(5)
NULLS, DICTIONARY = 1, 2
WORDS = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}


def _block(bits, place, width, count):
    """The residuals of a block, from a place of the chunk's bits that is in units of 8 bytes."""
    check(width <= 56 or width == 64, f"a width of {width} bits")
    size = -(-count * width // 64) * 8
    begin = 8 * place
    check(begin + size <= len(bits) - 8, "a block lies outside its chunk")
    whole, mask = int.from_bytes(bits[begin : begin + size], "little"), (1 << width) - 1
    return [whole >> i * width & mask for i in range(count)]


def _blocks(payload, count, entry_size):
    """(directory entry, number of records) of each block, and the bits of all."""
    end = entry_size * -(-count // BLOCK)
    check(len(payload) >= end + 8, "a chunk is too short")
    for block in range(-(-count // BLOCK)):
        entry = payload[entry_size * block : entry_size * (block + 1)]
        yield entry, min(BLOCK, count - BLOCK * block), payload[end:]


def read_offsets(payload, count):
    """The offsets of a chunk's records in the concatenation, and the first shard of each block."""
    offsets, shards = [], []
    for entry, records, bits in _blocks(payload, count, 24):
        base, packed, place, shard = struct.unpack("<QQII", entry)
        width, slope = packed & 0xFF, packed >> 8
        residuals = _block(bits, place, width, records)
        offsets += [base + slope * i + rest & (1 << 64) - 1 for i, rest in enumerate(residuals)]
        shards.append(shard)
    return offsets, shards


def read_counts(payload, count):
    counts = []
    for entry, records, bits in _blocks(payload, count, 16):
        smallest, place, width = struct.unpack("<QII", entry)
        check(width < 256, "an entry of counts has nonzero bytes where it must not")
        counts += [smallest + rest for rest in _block(bits, place, width, records)]
    check(max(counts, default=0) <= 1 << 62, "an element count is above 2^62")
    return counts


def number_size(record_count):
    """Bytes of a record number in pairs and lists."""
    return max(1, (max(record_count, 1) - 1).bit_length() + 7 >> 3)


def read_pairs(payload, count, record_count):
    """(hash, record number) of a chunk of ids."""
    size = 6 + number_size(record_count)
    check(len(payload) == count * size + 8, "a chunk of ids has a wrong size")
    cuts = range(0, count * size, size)
    numbers = [int.from_bytes(payload[at + 6 : at + size], "little") for at in cuts]
    check(max(numbers, default=0) < record_count, "an id is of a record that does not exist")
    return [(int.from_bytes(payload[at : at + 6], "little"), n) for at, n in zip(cuts, numbers)]


def _valid(payload, at, count):
    """Which records have a value, and where the words begin."""
    size = -(-count // 64) * 8
    check(at + size <= len(payload), "a chunk of a column is too short")
    bits = np.unpackbits(np.frombuffer(payload, "u1", size, at), bitorder="little").astype(bool)
    check(not bits[count:].any(), "valid bits after the last record")
    check(0 < bits.sum() < count, "valid bits are all equal")
    return bits[:count], at + size


def _texts(ends, texts):
    """The texts that end at these positions."""
    begins = [0, *map(int, ends)]
    check(begins == sorted(begins) and begins[-1] == len(texts), "ends of texts are wrong")
    return [texts[begin:end] for begin, end in zip(begins, begins[1:])]


def _look_up(words, base, rest):
    """The values of codes, and of the dictionary after them."""
    check(0 < base <= len(words) and 4 * base <= len(rest), "a dictionary of a wrong size")
    texts = _texts(np.frombuffer(rest, "<u4", base), rest[4 * base :])
    check(int(words.max()) < base, "a code without a text")
    return [texts[code] for code in words]


def _values(kind, base, words, rest):
    if kind == BYTES:
        return _texts(words, rest)
    check(not rest, "a chunk of a column has bytes after its words")
    if kind == INT64:
        values = [base + int(word) for word in words]
        check(max(values, default=0) < 1 << 63, "a value is not an int64")
        return values
    return words.view("<f4" if kind == FLOAT else "<f8").tolist()


def read_column(payload, count, default=None):
    """The values of a chunk of a lifted column: None for nulls, and its type."""
    check(len(payload) >= 16, "a chunk of a column is too short")
    kind, width, flags, zero, records, base = struct.unpack_from("<BBBBIq", payload)
    check(records == count and zero == 0 and kind <= FLOAT64, "a wrong header of a column's chunk")
    has_texts = bool(flags & DICTIONARY)
    check(flags <= 3 and (kind == BYTES or not has_texts), "unexpected flags of a column's chunk")
    if kind == NONE:
        check(width == 0 and len(payload) == 16, "a chunk without values has values")
        check(flags & NULLS or default is not None, "a chunk without values, nulls or a default")
        return [None if flags & NULLS else default] * count, kind
    widths = {FLOAT: [4], FLOAT64: [8], BYTES: [0, 1, 2] if has_texts else [4]}
    check(width in widths.get(kind, [0, 1, 2, 4, 8]), f"words of {width} bytes")
    check(base == 0 or kind == INT64 or has_texts, "a base of a type without one")
    valid, at = _valid(payload, 16, count) if flags & NULLS else (None, 16)
    end = at + width * count
    check(end <= len(payload), "a chunk of a column is too short")
    words = np.zeros(count, "<u1") if not width else np.frombuffer(payload[at:end], WORDS[width])
    read = _look_up(words, base, payload[end:]) if has_texts else None
    values = read if has_texts else _values(kind, base, words, payload[end:])
    if valid is not None:
        values = [value if is_valid else None for value, is_valid in zip(values, valid)]
    return values, kind
