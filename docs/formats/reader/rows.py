"""Orders of rows, which are made of pieces of records: see rows.md."""

from bisect import bisect_left, bisect_right, insort
from itertools import accumulate

from .orders import Order, Shuffled
from .permutation import permutation

DOCUMENTS, ROWS, PACKED, GROUPS, GROUP_ROWS, WINDOWS = range(9, 15)


def lengths_of(counts, add):
    return [count + add if count else 0 for count in counts]


class Chunked(Shuffled):
    kind = ROWS

    def __init__(
        self, counts, size, seed, overlap=0, add=0, documents="shuffled", last="drop", **_
    ):
        self.lengths = lengths_of(counts, add)
        self.total = sum(self.lengths)
        rows = max(0, self.total - overlap) // size
        if last == "pad":
            rows = max(int(self.total > 0), -(-(self.total - overlap) // size))
        super().__init__(rows, seed)
        self.size, self.width, self.record_limit = size, size + overlap, len(counts)
        self.is_shuffled = documents == "shuffled"

    def layout(self, epoch):
        """The documents of the stream, and where each of them ends."""
        documents = range(self.record_limit)
        if self.is_shuffled:
            documents = list(permutation(self.record_limit, self.seed, epoch, DOCUMENTS))
        return documents, list(accumulate(self.lengths[document] for document in documents))

    def pieces(self, epoch, position):
        first = begin = self.at(epoch, position) * self.size
        end = min(first + self.width, self.total)
        (documents, ends), pieces = self.layout(epoch), []
        j = bisect_right(ends, begin)
        while begin < end:
            record, stop = documents[j], min(ends[j], end)
            if stop > begin:
                element = begin - ends[j] + self.lengths[record]
                pieces.append((record, element, stop - begin, begin - first))
            begin, j = stop, j + 1
        return pieces


class Packed(Order):
    def __init__(self, counts, size, seed, add=0, long="split", group=4096, **_):
        self.lengths, self.size, self.long = lengths_of(counts, add), size, long
        documents = list(permutation(len(counts), seed, 0, PACKED))
        cuts = range(0, len(counts), group)
        self.groups = [self._pack(documents[cut : cut + group]) for cut in cuts]
        self.firsts = list(accumulate(map(len, self.groups), initial=0))
        super().__init__(self.firsts[-1], self.firsts[-1], seed)
        self.width, self.record_limit = size, len(counts)

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
        rest = [part for part in parts if part[3] < self.size]
        spaces = []  # (free space, time of the latest part, negative; row), ascending
        for time, part in enumerate(sorted(rest, key=lambda part: (-part[3], part[0]))):
            i = bisect_left(spaces, (part[3],))
            if i == len(spaces):
                rows.append([])
                spaces.append((self.size, 0, rows[-1]))
            space, _, row = spaces.pop(i)
            row.append(part)
            insort(spaces, (space - part[3], -time, row))
        return [self._pieces_of(sorted(row)) for row in rows]

    def _pieces_of(self, parts):
        places = accumulate((count for *_, count in parts), initial=0)
        return [(record, first, n, place) for (_, record, first, n), place in zip(parts, places)]

    def layout(self, epoch):
        """The order of the groups, and at which position each begins."""
        groups = list(permutation(len(self.groups), self.seed, epoch, GROUPS))
        return groups, list(accumulate((len(self.groups[g]) for g in groups), initial=0))

    def at(self, epoch, position):
        groups, begins = self.layout(epoch)
        i = bisect_right(begins, position) - 1
        place = permutation(len(self.groups[groups[i]]), self.seed, epoch, GROUP_ROWS, groups[i])
        return self.firsts[groups[i]] + place(position - begins[i])

    def pieces(self, epoch, position):
        row = self.at(epoch, position)
        g = bisect_right(self.firsts, row) - 1
        return self.groups[g][row - self.firsts[g]]


class Windows(Shuffled):
    kind = WINDOWS

    def __init__(self, counts, size, seed, stride=1, before=0, after=0, **_):
        spaces = [before + count + after - size if count else -1 for count in counts]
        windows = (space // stride + 1 if space >= 0 else 0 for space in spaces)
        self.firsts = list(accumulate(windows, initial=0))
        super().__init__(self.firsts[-1], seed)
        self.counts, self.stride, self.before = counts, stride, before
        self.width, self.record_limit = size, len(counts)

    def pieces(self, epoch, position):
        row = self.at(epoch, position)
        record = bisect_right(self.firsts, row) - 1
        begin = (row - self.firsts[record]) * self.stride - self.before
        first, end = max(0, begin), min(begin + self.width, self.counts[record])
        return [(record, first, end - first, first - begin)]
