"""Reads an index's tables and seek points as docs/formats/index-format.md describes, and inflates
from them with struct and zlib alone.

Written from the specification, not from the library, so that each can be tested against the other.
"""

import struct
import zlib

_PAGE_HEAD, _BIG, _TREE = 16, 1, 2


def _tree(record):
    """LMDB's record of a database: depth and root."""
    return struct.unpack_from("<H", record, 6)[0], struct.unpack_from("<Q", record, 40)[0]


def _entries(file, page_size, depth, root):
    """(key, flags, value) of a tree of LMDB's pages."""
    if not depth:
        return
    page = file[root * page_size : (root + 1) * page_size]
    (lower,) = struct.unpack_from("<H", page, 12)
    for (at,) in struct.iter_unpack("<H", page[_PAGE_HEAD:lower]):
        low, high, flags, key_size = struct.unpack_from("<4H", page, at)
        key = page[at + 8 : at + 8 + key_size]
        if depth > 1:
            yield from _entries(file, page_size, depth - 1, low | high << 16 | flags << 32)
            continue
        begin, size = at + 8 + key_size, low | high << 16
        if flags & _BIG:
            begin = struct.unpack_from("<Q", page, begin)[0] * page_size + _PAGE_HEAD
            yield key, flags, file[begin : begin + size]
        else:
            yield key, flags, page[begin : begin + size]


def read_index(file):
    """{table: {key: payload}} of an index; nothing is checked but that this is one."""
    seal = file[-64:]
    assert seal[:8] == b"RMXseal\n" and seal[20] == 1
    (page_size,) = struct.unpack_from("<I", seal, 16)
    metas = [file[i * page_size + _PAGE_HEAD :][:136] for i in (0, 1)]
    newer = max(metas, key=lambda meta: struct.unpack_from("<Q", meta, 128)[0])
    tables = {}
    for name, flags, record in _entries(file, page_size, *_tree(newer[72:120])):
        assert flags == _TREE
        entries = _entries(file, page_size, *_tree(record))
        tables[name.decode()] = {key: value[16:] for key, _, value in entries}
    return tables


def read_points(value):
    """(bit, offset, window) of each point of a value."""
    count, check_count = struct.unpack_from("<II", value)
    points, begin, windows = [], 0, value[8 + 24 * count + 4 * check_count :]
    for i in range(count):
        bit, offset, size, end = struct.unpack_from("<QQII", value, 8 + 24 * i)
        window = zlib.decompress(windows[begin:end], -15) if size else b""
        assert len(window) == size <= 32768 and (size or begin == end)
        points.append((bit, offset, window))
        begin = end
    assert begin == len(windows)
    return points


def read_checks(value):
    """The checks of the spans that start at the points of a value."""
    count, check_count = struct.unpack_from("<II", value)
    return list(struct.unpack_from(f"<{check_count}I", value, 8 + 24 * count))


def _bits(*pairs):
    value = count = 0
    for number, width in pairs:
        value |= number << count
        count += width
    return value, count


_FIXED = _bits((0, 1), (1, 2), (0, 7))
# Its code lengths: of 19, symbols 1 and 18 have a bit each; 138 + 118 zeros, the end's 1, a 1.
_DYNAMIC = _bits((0, 1), (2, 2), (0, 5), (0, 5), (15, 4), (0, 6), (1, 3), (0, 42), (1, 3), (0, 3),
                 (1, 1), (127, 7), (1, 1), (107, 7), (0, 1), (0, 1), (0, 1))  # fmt: skip


def lead_in(odd):
    """Blocks of nothing that end at bit `odd` of a byte, so that zlib, which begins at bytes, comes
    to the point as the file has it: 10 bits are a block of fixed codes, 93 one of its own codes."""
    value = count = 0
    for block, width in ([_DYNAMIC] if odd % 2 else []) + [_FIXED] * 4:
        if count % 8 == odd:
            break
        value |= block << count
        count += width
    assert count % 8 == odd
    return value, count


def resume(file, bit, window):
    """What comes from a point on, up to the end of its member."""
    value, count = lead_in(bit % 8)
    begin = bytearray(value.to_bytes(count // 8 + 1, "little"))
    begin[-1] |= file[bit // 8] >> bit % 8 << bit % 8
    inflater = zlib.decompressobj(-15, zdict=window)
    return inflater.decompress(bytes(begin) + file[bit // 8 + 1 :])
