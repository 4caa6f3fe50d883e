"""LMDB's pages, read and checked without LMDB: see index-format.md, "The pages"."""

import struct

from .errors import check

HEAD, NODE = 16, 8
BRANCH, LEAF, OVERFLOW, META = 1, 2, 4, 8
BIG, TABLE = 1, 2
MAGIC, VERSION, NO_PAGE = 0xBEEFC0DE, 1, (1 << 64) - 1
DEPTH_MAX = 8


class Environment:
    """`tables[name]` is {key: (begin, end) of the value in the file} of each database."""

    def __init__(self, data, page_size, page_count):
        self.data, self.page_size, self.page_count = data, page_size, page_count
        self.used, self.counts = {0, 1}, {}
        metas = [self._read_meta(number) for number in (0, 1)]
        _, last, record = max(metas, key=lambda meta: meta[0])
        check(last == page_count - 1, "LMDB's last page is not the last of the file")
        check(record[6:8] == b"\1\0", "the table of tables does not have one level")
        self.tables = {
            bytes(name).decode("latin-1"): self._read_tree(data[begin:end], 0)
            for name, (begin, end) in self._read_tree(record, TABLE).items()
        }

    def _read_meta(self, number):
        """The transaction, the last page and the record of the table of tables."""
        own, flags = struct.unpack_from("<Q2xH", self.data, number * self.page_size)
        check(own == number and flags & META, f"page {number} is not a meta page")
        fields = struct.unpack_from("<II16xI44x48sQQ", self.data, number * self.page_size + HEAD)
        magic, version, page_size, record, last, transaction = fields
        check(magic == MAGIC and version == VERSION, f"page {number} is not of LMDB 0.9")
        check(page_size == self.page_size, f"page {number} has another page size than the seal")
        check(last < self.page_count, f"page {number}: the last page is not in the file")
        return transaction, last, record

    def _read_tree(self, record, flags):
        """The entries of a database, which have these flags, after checking its counts."""
        check(len(record) == 48, "the record of a database does not have 48 bytes")
        own_flags, depth, *counts, root = struct.unpack("<4xHH5Q", record)
        check(own_flags == 0 and depth <= DEPTH_MAX, "unexpected flags or depth of a database")
        check((root == NO_PAGE) == (depth == 0), "a database has a root without pages")
        self.counts = {BRANCH: 0, LEAF: 0, OVERFLOW: 0}
        entries, previous = {}, None
        for key, value in self._walk(root, depth, flags) if depth else ():
            check(previous is None or previous < key, "keys do not ascend")
            entries[key] = value
            previous = key
        check(counts == [*self.counts.values(), len(entries)], "counts of a database are wrong")
        return entries

    def _claim(self, number, count, kind):
        """Takes pages for one place of one tree, and returns where they begin."""
        check(number + count <= self.page_count, f"page {number} is not in the file")
        pages = range(number, number + count)
        check(self.used.isdisjoint(pages), f"page {number} is used twice")
        self.used.update(pages)
        self.counts[kind] += count
        return number * self.page_size

    def _walk(self, number, depth, flags, low=b"", high=None):
        """Yields the entries below a page, whose keys are from `low` on and below `high`."""
        kind = BRANCH if depth > 1 else LEAF
        begin = self._claim(number, 1, kind)
        nodes = self._read_nodes(self.data[begin : begin + self.page_size], number, kind)
        keys = [key for key, *_ in nodes]
        if kind == BRANCH:
            check(keys[0] == b"" and all(keys[1:]), f"page {number}: wrong keys of a branch")
            bounds = [low, *keys[1:], high]
            for i, (_, size, upper_bits, _) in enumerate(nodes):
                child = size | upper_bits << 32
                yield from self._walk(child, depth - 1, flags, bounds[i], bounds[i + 1])
            return
        for key, size, own_flags, place in nodes:
            check(low <= key and (high is None or key < high), "a key is in the wrong branch")
            check(own_flags & ~BIG == flags, "unexpected flags of a node")
            first = begin + place
            if own_flags & BIG:
                first = self._find_large(struct.unpack_from("<Q", self.data, first)[0], size)
            yield key, (first, first + size)

    def _read_nodes(self, page, number, kind):
        """(key, size, flags, where the value begins) of each node; nodes must fill their space."""
        own, own_kind, lower, upper = struct.unpack_from("<Q2xHHH", page)
        check(own == number and own_kind == kind, f"page {number} is not what its tree expects")
        fits = HEAD < lower <= upper <= len(page) and lower % 2 == 0
        check(fits, f"page {number} is empty, or its bounds are wrong")
        nodes, spaces = [], []
        for (place,) in struct.iter_unpack("<H", page[HEAD:lower]):
            check(place % 2 == 0 and place + NODE <= len(page), f"page {number}: a node is outside")
            size, flags, key_size = struct.unpack_from("<IHH", page, place)
            value = place + NODE + key_size
            nodes.append((bytes(page[place + NODE : value]), size, flags, value))
            end = value + (0 if kind == BRANCH else 8 if flags & BIG else size)
            spaces.append((place, end + end % 2))
        begins, ends = zip(*sorted(spaces))
        filled = (*begins, len(page)) == (upper, *ends)
        check(filled, f"page {number}: nodes do not fill their space")
        return nodes

    def _find_large(self, number, size):
        """Where a large value begins, in a run of pages of its own."""
        count = -(-(HEAD + size) // self.page_size)
        begin = self._claim(number, count, OVERFLOW)
        own, kind, own_count = struct.unpack_from("<Q2xHI", self.data, begin)
        right = own == number and kind == OVERFLOW and own_count == count
        check(right, f"page {number} is not the first of a large value")
        return begin + HEAD
