"""An index file as a store of values by key: the seal, LMDB's pages, and the values' hashes."""

import mmap
import os
import struct

from . import check
from .xxh3 import xxh3_64, xxh3_128

SEAL, PREFIX = 64, 16
DATABASES = ("manifest", "shards", "offsets", "ids", "columns", "damage", "points", "counts")
PAGE_HEAD, NODE_HEAD, LARGE = 16, 8, 1
RECORD = struct.Struct("<6xH32xQ")  # of a database: levels of its tree, and the root


def map_file(path, size):
    """The bytes of a file, which must have at least this size."""
    with open(path, "rb") as file:
        check(os.stat(file.fileno()).st_size >= size, f"{os.fsdecode(path)} is too short")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def key_of(chunk, series=0):
    return struct.pack(">QI", chunk, series)


def value_hash(database, key, payload):
    """The hash of a value, which depends on its place."""
    seed = struct.pack("<I12sQ", database, key, len(payload))
    return xxh3_64(payload, xxh3_64(seed))


def read_seal(seal, file_size):
    """Page size, number of pages and hash of the content."""
    check(seal[:8] == b"RMXseal\n", "is not a recmap index: it has no seal")
    *kind, page_size, order, number_size, zero, pages, size, digest, own = struct.unpack(
        "<8xIIIBBHQQ16sQ", seal
    )
    check(own == xxh3_64(seal[:56]), "the hash of the seal is wrong")
    known = (*kind, order, number_size, zero) == (1, 1, 1, 8, 0)
    check(known, f"unsupported: version {kind}, byte order {order} or page numbers {number_size}")
    check(size == file_size == pages * page_size + SEAL, "the seal has another size than the file")
    return page_size, pages, digest


class Store:
    """`tables[name]` is {key: (begin, end) of the value in the file} of each database.

    The pages are trusted, because their hash was checked."""

    def __init__(self, path):
        self.data = map_file(path, SEAL)
        self.page_size, _, digest = read_seal(self.data[-SEAL:], len(self.data))
        with memoryview(self.data) as view, view[:-SEAL] as content:
            check(xxh3_128(content) == digest, "the hash of the file is wrong")
        metas = [self.data[PAGE_HEAD + page * self.page_size :][:136] for page in (0, 1)]
        newest = max(metas, key=lambda meta: struct.unpack_from("<Q", meta, 128))
        self.tables = {
            name.decode(): self._entries(self.data[begin:end])
            for name, (begin, end) in self._entries(newest[72:120]).items()
        }
        check(set(self.tables) == set(DATABASES), "does not have the databases of an index")

    def _entries(self, record):
        """{key: (begin, end) of the value} of a database, in the order of the keys."""
        levels, root = RECORD.unpack(record)
        pages, entries = [root] * min(levels, 1), {}
        for _ in range(levels - 1):
            nodes = [node for page in pages for node in self._nodes(page)]
            pages = [low | high << 32 for low, high, *_ in nodes]
        for page in pages:
            for size, flags, key, begin in self._nodes(page):
                if flags & LARGE:
                    (number,) = struct.unpack_from("<Q", self.data, begin)
                    begin = number * self.page_size + PAGE_HEAD
                entries[key] = begin, begin + size
        return entries

    def _nodes(self, page):
        """Yields size, flags, key and the place of the value of each node of a page. In branches,
        the size and the flags are the low and the high bits of the child's number."""
        begin = page * self.page_size
        (end,) = struct.unpack_from("<H", self.data, begin + 12)
        for (place,) in struct.iter_unpack("<H", self.data[begin + PAGE_HEAD : begin + end]):
            size, flags, key_size = struct.unpack_from("<IHH", self.data, begin + place)
            key = begin + place + NODE_HEAD
            yield size, flags, self.data[key : key + key_size], key + key_size

    def payload(self, database, chunk, series=0):
        """A value's payload, after checking its hash."""
        key = key_of(chunk, series)
        check(key in self.tables[database], f"{database}: value {chunk}, {series} is missing")
        begin, end = self.tables[database][key]
        payload, own = self.data[begin + PREFIX : end], self.data[begin : begin + PREFIX]
        digest = value_hash(DATABASES.index(database), key, payload)
        right = own == struct.pack("<QQ", digest, len(payload))
        check(right, f"{database}: the hash of value {chunk}, {series} is wrong")
        return payload
