"""Orders of rows, which are made of pieces of records: see rows.md.

`at(epoch, position)` is a row's number, and `pieces(epoch, position)` lists (record, first element,
count, place in the row).
"""

from bisect import bisect_left, bisect_right
from itertools import accumulate

from .errors import check
from .orders import Order
from .permutation import LIMIT, permutation
from .xxh3 import digest_of

DOCUMENTS, ROWS, PACKED, GROUPS, GROUP_ROWS, WINDOWS = range(9, 15)
SIZE_MAX, GROUP_MAX = 1 << 40, 1 << 16


def _check_sizes(kind, counts, size, *sizes):
    right = 1 <= size <= SIZE_MAX and all(0 <= other <= SIZE_MAX for other in sizes)
    check(right and sum(counts) <= LIMIT, f"{kind}: a size is out of range")


def _described(members, defaults, counts, rows):
    """The members without those that have their default."""
    kept = {name: x for name, x in members.items() if name not in defaults or x != defaults[name]}
    return {**kept, "counts": digest_of(counts), "rows": rows}


class Rows(Order):
    def __init__(self, kind, counts, rows, width, seed, members, defaults):
        described = _described(members, defaults, counts, rows)
        super().__init__(kind, rows, rows, n=len(counts), seed=seed, **described)
        self.counts, self.width, self.seed = counts, width, seed
        self.record_limit, self._table = len(counts), (None, None)  # of the last epoch


class Chunked(Rows):
    def __init__(
        self, counts, size, seed, overlap=0, add=0, documents="shuffled", last="drop", **_
    ):
        _check_sizes("chunked", counts, size, overlap, add)
        check(overlap < size, "chunked: the overlap is not below the size")
        check(documents in ("shuffled", "stored") and last in ("drop", "pad"), "chunked: options")
        self.lengths = [count + add if count else 0 for count in counts]
        self.total = sum(self.lengths)
        check(self.total <= LIMIT, "chunked: too many elements")
        self.size, self.overlap, self.is_shuffled = size, overlap, documents == "shuffled"
        rows = max(0, self.total - overlap) // size
        if last == "pad":
            rows = max(self.total > 0, -(-(self.total - overlap) // size))
        members = {"size": size, "overlap": overlap, "add": add}
        members |= {"documents": documents, "last": last}
        defaults = {"overlap": 0, "add": 0, "documents": "shuffled", "last": "drop"}
        super().__init__("chunked", counts, int(rows), size + overlap, seed, members, defaults)

    def at(self, epoch, position):
        return permutation(self.count, self.seed, epoch, ROWS)(position)

    def _document(self, epoch, j):
        if not self.is_shuffled:
            return j
        return permutation(len(self.counts), self.seed, epoch, DOCUMENTS)(j)

    def _ends(self, epoch):
        """Where each document of the stream ends."""
        if self._table[0] != epoch:
            lengths = (self.lengths[self._document(epoch, j)] for j in range(len(self.counts)))
            self._table = epoch, list(accumulate(lengths))
        return self._table[1]

    def pieces(self, epoch, position):
        first = self.at(epoch, position) * self.size
        end = min(first + self.size + self.overlap, self.total)
        ends, begin, pieces = self._ends(epoch), first, []
        j = bisect_right(ends, begin)
        while begin < end:
            record, stop = self._document(epoch, j), min(ends[j], end)
            if stop > begin:
                element = begin - ends[j] + self.lengths[record]
                pieces.append((record, element, stop - begin, begin - first))
            begin, j = stop, j + 1
        return pieces


class Packed(Rows):
    def __init__(self, counts, size, seed, add=0, long="split", group=4096, **_):
        _check_sizes("packed", counts, size, add)
        check(1 <= group <= GROUP_MAX and long in ("split", "truncate", "drop"), "packed: options")
        self.lengths = [count + add if count else 0 for count in counts]
        check(sum(self.lengths) <= LIMIT, "packed: too many elements")
        self.size, self.long, self.groups = size, long, []
        for begin in range(0, len(counts), group):
            p = permutation(len(counts), seed, 0, PACKED)
            documents = [p(j) for j in range(begin, min(begin + group, len(counts)))]
            self.groups.append(self._pack(documents))
        self.firsts = list(accumulate(map(len, self.groups), initial=0))
        members = {"size": size, "add": add, "long": long, "group": group}
        defaults = {"add": 0, "long": "split", "group": 4096}
        super().__init__("packed", counts, self.firsts[-1], size, seed, members, defaults)

    def _parts(self, length):
        """(first, count) of the parts of a document."""
        if length <= self.size or self.long == "split":
            return [(i, min(self.size, length - i)) for i in range(0, length, self.size)]
        return [(0, self.size)] if self.long == "truncate" else []

    def _pack(self, documents):
        """The rows of a group, by best fit."""
        parts = [
            (j, record, first, count)
            for j, record in enumerate(documents)
            for first, count in self._parts(self.lengths[record])
        ]
        rows = [[part] for part in parts if part[3] == self.size]
        spaces, stacks = [], {}  # free spaces in ascending order, and the rows of each
        rest = [part for part in parts if part[3] < self.size]
        for part in sorted(rest, key=lambda part: (-part[3], part[0])):
            i = bisect_left(spaces, part[3])
            if i == len(spaces):
                space, row = self.size, []
                rows.append(row)
            else:
                space = spaces[i]
                row = stacks[space].pop()
                if not stacks[space]:
                    del stacks[space], spaces[i]
            row.append(part)
            left = space - part[3]
            if left not in stacks:
                stacks[left] = []
                spaces.insert(bisect_left(spaces, left), left)
            stacks[left].append(row)
        return [self._pieces_of(sorted(row)) for row in rows]

    def _pieces_of(self, parts):
        places = accumulate((count for *_, count in parts), initial=0)
        return [(record, first, n, place) for (_, record, first, n), place in zip(parts, places)]

    def at(self, epoch, position):
        """Groups are permuted, and the rows within each."""
        order, count = permutation(len(self.groups), self.seed, epoch, GROUPS), len(self.groups)
        if self._table[0] != epoch:
            sizes = (len(self.groups[order(i)]) for i in range(count))
            self._table = epoch, list(accumulate(sizes, initial=0))
        i = bisect_right(self._table[1], position) - 1
        g = order(i)
        p = permutation(len(self.groups[g]), self.seed, epoch, GROUP_ROWS, g)
        return self.firsts[g] + p(position - self._table[1][i])

    def pieces(self, epoch, position):
        row = self.at(epoch, position)
        g = bisect_right(self.firsts, row) - 1
        return self.groups[g][row - self.firsts[g]]


class Windows(Rows):
    def __init__(self, counts, size, seed, stride=1, before=0, after=0, **_):
        _check_sizes("windows", counts, size, stride, before, after)
        check(stride and max(before, after) < size, "windows: a stride of 0, or too much padding")
        self.size, self.stride, self.before = size, stride, before
        spaces = [before + count + after - size if count else -1 for count in counts]
        windows = (space // stride + 1 if space >= 0 else 0 for space in spaces)
        self.firsts = list(accumulate(windows, initial=0))
        check(self.firsts[-1] <= LIMIT, "windows: too many rows")
        members = {"size": size, "stride": stride, "before": before, "after": after}
        defaults = {"stride": 1, "before": 0, "after": 0}
        super().__init__("windows", counts, self.firsts[-1], size, seed, members, defaults)

    def at(self, epoch, position):
        return permutation(self.count, self.seed, epoch, WINDOWS)(position)

    def pieces(self, epoch, position):
        row = self.at(epoch, position)
        record = bisect_right(self.firsts, row) - 1
        begin = (row - self.firsts[record]) * self.stride - self.before
        first, end = max(0, begin), min(begin + self.size, self.counts[record])
        return [(record, first, end - first, first - begin)]
