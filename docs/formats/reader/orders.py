"""Orders: which record is at which position of an epoch."""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from . import check
from .permutation import below, permutation, state, word

SHUFFLED, BLOCKS, WINDOW, REPLACEMENT, WEIGHTED = range(5)


class Order:
    """An epoch has `count` positions; `at(epoch, position)` is a number below `limit`.

    If an order makes its own batches, `batches(epoch)` are their positions. If its numbers are
    those of rows, which have at most `width` elements, `pieces(epoch, position)` are a row's
    (record, first element, count, place in the row), with records below `record_limit`.
    """

    batches = width = None
    record_limit = 0

    def __init__(self, count, limit, seed=None):
        self.count, self.limit, self.seed = count, limit, seed
        self.layout = lru_cache(2)(self.layout)  # of the last epochs

    def layout(self, epoch):
        """What is laid out for a whole epoch, if an order does so."""


class Sequential(Order):
    def __init__(self, n):
        super().__init__(n, n)

    def at(self, epoch, position):
        return position


class Shuffled(Order):
    kind = SHUFFLED  # of its random words

    def __init__(self, n, seed):
        super().__init__(n, n, seed)

    def at(self, epoch, position):
        return permutation(self.count, self.seed, epoch, self.kind)(position)


class Windowed(Order):
    def __init__(self, n, block, window, seed):
        super().__init__(n, n, seed)
        self.block, self.window = max(1, min(block, n)), window

    def at(self, epoch, position):
        """Any window but the last has `size` records, unless it has the last block of the records,
        which may be short. Positions after that window are counted as if the block was not."""
        place = permutation(-(-self.count // self.block), self.seed, epoch, BLOCKS)
        size, missing = self.block * self.window, place.n * self.block - self.count
        short = place.inverse(place.n - 1) // self.window
        is_after = position >= (short + 1) * size - missing
        w = (position + missing * is_after) // size
        places = range(w * self.window, min((w + 1) * self.window, place.n))
        starts = [place(i) * self.block for i in places]
        blocks = [range(start, min(start + self.block, self.count)) for start in starts]
        shuffle = permutation(sum(map(len, blocks)), self.seed, epoch, WINDOW, w)
        item = shuffle(position - (w * size - missing * is_after))
        while item >= len(blocks[0]):
            item -= len(blocks.pop(0))
        return blocks[0][item]


class WithReplacement(Order):
    def __init__(self, n, seed, size):
        super().__init__(size or n, n, seed)

    def at(self, epoch, position):
        s = state(self.seed, epoch, REPLACEMENT << 56, self.limit)
        return below(word(s, position), self.limit)


def integers_of(weights):
    """Weights as integers of about 62 bits less the bits of their number."""
    right = all(0 <= weight < math.inf for weight in weights) and any(weights)
    check(right, "weights are not finite, negative, or all 0")
    scale = 62 - len(weights).bit_length() - math.frexp(max(weights))[1]
    exact = [Fraction(weight) * Fraction(2) ** scale + Fraction(1, 2) for weight in weights]
    return [max(1, math.floor(x)) if weight else 0 for x, weight in zip(exact, weights)]


def areas_of(weights):
    """What each index has of the area that positions draw from."""
    sums = list(accumulate(integers_of(weights), initial=0))
    area = len(weights) << 62 - len(weights).bit_length()
    ends = [x * area // sums[-1] for x in sums]
    return [b - a for a, b in zip(ends, ends[1:])]


class Weighted(Order):
    def __init__(self, weights, seed, size, n=None):
        n = len(weights)
        super().__init__(size or n, n, seed)
        self.areas, self.bits = areas_of(weights), 62 - n.bit_length()
        self._make_columns()

    def _make_columns(self):
        """Fills up each low column with what a high one has too much."""
        n, heights, whole = self.limit, list(self.areas), 1 << self.bits
        self.thresholds, self.others = [whole] * n, list(range(n))
        highs = (i for i in range(n) if heights[i] >= whole)  # with the heights of the moment
        lows = (i for i in range(n) if heights[i] < whole)
        high, low = next(highs, n), next(lows, n)
        fill = low
        while high < n and fill < n:
            self.thresholds[fill], self.others[fill] = heights[fill], high
            heights[high] -= whole - heights[fill]
            used, is_low = high, heights[high] < whole
            if is_low:
                high = next(highs, n)
            if is_low and used < low:
                fill = used
            else:
                fill = low = next(lows, n)

    def at(self, epoch, position):
        s = state(self.seed, epoch, WEIGHTED << 56, self.limit)
        column = below(word(s, 2 * position), self.limit)
        height = word(s, 2 * position + 1) >> 64 - self.bits
        return column if height < self.thresholds[column] else self.others[column]


class View(Order):
    """The numbers of a base, or the records in its rows, mapped by `items`: a range or a list."""

    def __init__(self, items, limit, of):
        super().__init__(of.count, limit if of.width is None else of.limit)
        self.items, self.base, self.record_limit = items, of, limit
        self.batches, self.width = of.batches, of.width

    def at(self, epoch, position):
        number = self.base.at(epoch, position)
        return self.items[number] if self.width is None else number

    def pieces(self, epoch, position):
        pieces = self.base.pieces(epoch, position)
        return [(self.items[record], *rest) for record, *rest in pieces]


def range_of(first, count, step, of):
    last = first + (count - 1) * step
    items = range(first, first + count * step, step)
    return View(items, max(first, last) + 1 if count else 0, of)


def list_of(numbers, of, count=None):
    return View(numbers, max(numbers, default=-1) + 1, of)
