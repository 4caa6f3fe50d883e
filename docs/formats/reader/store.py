"""An index file as a store of values by key: the seal, LMDB's pages, and the values' hashes."""

import mmap
import struct

from .errors import check
from .lmdb import Environment
from .xxh3 import stored, xxh3_64, xxh3_128

SEAL, PREFIX, VALUE_MAX = 64, 16, 1 << 30
DATABASES = ("manifest", "shards", "offsets", "ids", "columns", "damage", "points", "counts")


def key_of(chunk, series=0):
    return struct.pack(">QI", chunk, series)


def value_hash(database, key, payload):
    """The hash of a value, which depends on its place."""
    seed = struct.pack("<I12sQ", database, key, len(payload))
    return xxh3_64(payload, xxh3_64(seed))


def read_seal(seal, file_size):
    """Page size, number of pages and hash of the content."""
    check(len(seal) == SEAL and seal[:8] == b"RMXseal\n", "is not a recmap index: it has no seal")
    version, lmdb, page_size, order, number_size, zero, pages, size, digest, own = struct.unpack(
        "<8xIIIBBHQQ16sQ", seal
    )
    check(own == xxh3_64(seal[:56]), "the hash of the seal is wrong")
    known = (version, lmdb, order, number_size) == (1, 1, 1, 8)
    check(known, f"unsupported: seal {version}, LMDB {lmdb}, order {order}, numbers {number_size}")
    check(page_size in (4096, 8192, 16384, 32768) and zero == 0, "the seal has wrong values")
    sizes = size == file_size == pages * page_size + SEAL and pages >= 2
    check(sizes, "the seal has another size than the file")
    return page_size, pages, digest


class Store:
    def __init__(self, path, check_hash=True):
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            check(size > SEAL, "is not a recmap index: it is too short")
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        page_size, page_count, digest = read_seal(self.data[-SEAL:], size)
        if check_hash:
            with memoryview(self.data) as view, view[:-SEAL] as content:
                check(stored(xxh3_128(content)) == digest, "the hash of the file is wrong")
        self.tables = Environment(self.data, page_size, page_count).tables
        check(set(self.tables) == set(DATABASES), "does not have the databases of an index")

    def check_keys(self, database, chunks, series=1, others=()):
        """Keys are dense: of these numbers of chunks and series, and these others after them."""
        found = list(self.tables[database])
        check(len(found) == chunks * series + len(others), f"{database}: a wrong number of keys")
        keys = [(chunk, i) for chunk in range(chunks) for i in range(series)]
        right = found == [key_of(*key) for key in [*keys, *others]]
        check(right, f"{database}: keys are missing")

    def payload(self, database, chunk, series=0):
        """A value's payload, after checking its hash."""
        key = key_of(chunk, series)
        check(key in self.tables[database], f"{database}: value {chunk}, {series} is missing")
        begin, end = self.tables[database][key]
        check(PREFIX <= end - begin <= VALUE_MAX + PREFIX, f"{database}: a value's size is wrong")
        digest, size = struct.unpack_from("<QQ", self.data, begin)
        payload = self.data[begin + PREFIX : end]
        right = size == len(payload) and digest == value_hash(
            DATABASES.index(database), key, payload
        )
        check(right, f"{database}: the hash of value {chunk}, {series} is wrong")
        return payload
