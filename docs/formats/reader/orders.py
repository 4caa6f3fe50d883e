"""Orders without batches of their own: which record is at which position of an epoch.

Every order has `count` positions, `limit` above all its numbers, `described` (the members of its
description) and `at(epoch, position)`.
"""

import math
from fractions import Fraction
from itertools import accumulate

from .errors import check
from .permutation import LIMIT, below, permutation, state, word
from .xxh3 import digest_of

SHUFFLED, BLOCKS, WINDOW, REPLACEMENT, WEIGHTED = range(5)


class Order:
    def __init__(self, kind, count, limit, **members):
        check(0 <= count <= LIMIT and 0 <= limit <= LIMIT, f"{kind}: too many positions or numbers")
        self.count, self.limit, self.described = count, limit, {"kind": kind, **members}

    def numbers(self, epoch):
        return [self.at(epoch, position) for position in range(self.count)]


class Sequential(Order):
    def __init__(self, n):
        super().__init__("sequential", n, n, n=n)

    def at(self, epoch, position):
        return position


class Shuffled(Order):
    def __init__(self, n, seed):
        super().__init__("shuffled", n, n, n=n, seed=seed)
        self.seed = seed

    def at(self, epoch, position):
        return permutation(self.count, self.seed, epoch, SHUFFLED)(position)


class Windowed(Order):
    def __init__(self, n, block, window, seed):
        check(block and window, "windowed: a block or window of 0")
        super().__init__("windowed", n, n, n=n, block=block, window=window, seed=seed)
        self.block, self.window, self.seed = max(1, min(block, n)), window, seed
        self.blocks = -(-n // self.block)
        self.missing = self.blocks * self.block - n  # records that the last block is short of

    def at(self, epoch, position):
        """Positions are first counted as if no block was short."""
        place = permutation(self.blocks, self.seed, epoch, BLOCKS)
        short = place.inverse(self.blocks - 1)
        is_after = position >= (short + 1) * self.block - self.missing
        w = (position + self.missing * is_after) // (self.block * self.window)
        first, end = w * self.window, min((w + 1) * self.window, self.blocks)
        begin = first * self.block - self.missing * (short < first)
        size = (end - first) * self.block - self.missing * (first <= short < end)
        item = permutation(size, self.seed, epoch, WINDOW, w)(position - begin)
        if first <= short < end and item >= (short + 1 - first) * self.block - self.missing:
            item += self.missing
        return place(first + item // self.block) * self.block + item % self.block


class WithReplacement(Order):
    def __init__(self, n, seed, size):
        size = size or n
        check(n or not size, "with_replacement: there are no records")
        super().__init__("with_replacement", size, n, n=n, seed=seed, size=size)
        self.seed = seed

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
        self.areas, n = areas_of(weights), len(weights)
        self.seed, self.bits = seed, 62 - n.bit_length()
        digest, size = digest_of(self.areas), size or n
        super().__init__("weighted", size, n, n=n, seed=seed, size=size, weights=digest)
        self._make_columns()

    def _make_columns(self):
        """Fills up each low column with what a high one has too much."""
        n, heights, whole = self.limit, list(self.areas), 1 << self.bits
        self.thresholds, self.others = [whole] * n, list(range(n))

        def next_of(i, is_high):
            return next((j for j in range(i + 1, n) if (heights[j] >= whole) == is_high), n)

        high, low = next_of(-1, True), next_of(-1, False)
        fill = low
        while high < n and fill < n:
            self.thresholds[fill], self.others[fill] = heights[fill], high
            heights[high] -= whole - heights[fill]
            used = n
            if heights[high] < whole:
                used, high = high, next_of(high, True)
            if used < low:
                fill = used
            else:
                fill = low = next_of(low, False)

    def at(self, epoch, position):
        s = state(self.seed, epoch, WEIGHTED << 56, self.limit)
        column = below(word(s, 2 * position), self.limit)
        height = word(s, 2 * position + 1) >> 64 - self.bits
        return column if height < self.thresholds[column] else self.others[column]


def bounds_of(items):
    """The smallest and largest number of a list or range."""
    if isinstance(items, range) and items:
        return sorted((items[0], items[-1]))
    return min(items, default=0), max(items, default=-1)


class View(Order):
    """The numbers of a base mapped by a range or a list; of rows, the records of their pieces."""

    def __init__(self, kind, items, of, **members):
        smallest, largest = bounds_of(items)
        check(smallest >= 0, f"{kind}: a view of negative numbers")
        is_rows = hasattr(of, "pieces")
        covered = of.record_limit if is_rows else of.limit
        check(covered <= len(items), f"{kind}: a view that is smaller than its base")
        limit = of.limit if is_rows else largest + 1
        super().__init__(kind, of.count, limit)
        self.described = {"kind": kind, **members, "of": of.described}
        self.base, self.items = of, items
        if is_rows:
            self.record_limit, self.width, self.pieces = largest + 1, of.width, self._pieces
        if hasattr(of, "batches"):
            self.batches = self._batches

    def at(self, epoch, position):
        number = self.base.at(epoch, position)
        return number if hasattr(self, "pieces") else self.items[number]

    def _batches(self, epoch):
        return [[self.items[number] for number in batch] for batch in self.base.batches(epoch)]

    def _pieces(self, epoch, position):
        pieces = self.base.pieces(epoch, position)
        return [(self.items[record], *rest) for record, *rest in pieces]


def range_of(first, count, step, of):
    check(0 <= count <= LIMIT and step, "range: a step of 0, or too many numbers")
    items = range(first, first + count * step, step)
    return View("range", items, of, first=first, count=count, step=step)


def list_of(count, numbers, of):
    check(count == len(numbers), "list: a wrong count")
    return View("list", numbers, of, count=count, numbers=digest_of(numbers))
