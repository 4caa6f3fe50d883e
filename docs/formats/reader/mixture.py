"""Mixtures: several orders in given shares, which may change at given slots."""

from bisect import bisect_left, bisect_right
from itertools import accumulate

import numpy as np

from . import check
from .orders import Order, integers_of

PERIOD_MAX, SLOTS = 1 << 20, 1 << 63


def shares_of(weights):
    """The share of each weight in a period, which is the sum of all."""
    positive = iter(integers_of([weight for weight in weights if weight]))
    integers = [next(positive) if weight else 0 for weight in weights]
    total = sum(integers)
    for period in range(1, PERIOD_MAX + 1):
        if all(_is_near_whole(integer * period, total) for integer in integers):
            return [(2 * integer * period + total) // (2 * total) for integer in integers]
    return _rounded(integers, total)


def _is_near_whole(product, total):
    """Returns true if a quotient is 0, or nearly a positive whole number."""
    rest = product % total
    return product == 0 or (min(rest, total - rest) <= total >> 26 and 2 * product > total)


def _rounded(integers, total):
    """The shares in the largest period."""
    parts = [divmod(integer * PERIOD_MAX, total) for integer in integers]
    shares = [share or int(integer > 0) for integer, (share, _) in zip(integers, parts)]
    rests = [rest if share else 0 for share, rest in parts]
    missing = PERIOD_MAX - sum(shares)
    for i in sorted(range(len(rests)), key=lambda i: -rests[i])[: max(0, missing)]:
        shares[i] += 1
    for _ in range(missing, 0):
        shares[shares.index(max(shares))] -= 1
    return shares


def schedule_of(shares):
    """The source of each slot of a period.

    `slack[d]` is the number of slots below d, from this one on, less the turns to come that have
    deadlines up to d. The first d without slack bounds the deadline of the turn that is taken."""
    period = sum(shares)
    slack = np.arange(period + 1)
    for share in filter(None, shares):
        deadlines = -(-np.arange(1, share + 1) * period // share)
        slack -= np.cumsum(np.bincount(deadlines, minlength=period + 1))
    turns, schedule = [0] * len(shares), []
    for slot in range(period):
        limit = _first_zero(slack, slot + 1)
        for source, share in enumerate(shares):
            turn = turns[source]
            if turn < share and turn * period // share <= slot:
                deadline = -(-(turn + 1) * period // share)
                if deadline <= limit:
                    break
        turns[source] += 1
        schedule.append(source)
        slack[slot + 1 : deadline] -= 1
    return np.array(schedule)


def _first_zero(slack, begin):
    size = 16
    while not (zeros := np.flatnonzero(slack[begin : begin + size] == 0)).size:
        begin, size = begin + size, 2 * size
    return begin + int(zeros[0])


class Change:
    """The shares of a mixture from a slot on."""

    def __init__(self, position, shares, previous=None):
        self.position, self.shares, self.period = position, shares, sum(shares)
        self.schedule, sources = schedule_of(shares), range(len(shares))
        self.slots = [np.flatnonzero(self.schedule == source) for source in sources]
        # How many slots each source has before `position`.
        self.before = [previous.drawn(j, position) if previous else 0 for j in sources]

    def drawn(self, source, slot):
        """The slots of a source that precede a slot."""
        periods, rest = divmod(slot - self.position, self.period)
        here = periods * self.shares[source] + bisect_left(self.slots[source], rest)
        return self.before[source] + here


class Mixture(Order):
    """`changes` are the shares from later positions on; `stop` is "first", "last" or the length."""

    def __init__(self, sources, shares, stop, changes=()):
        self.sources, self.changes = sources, [Change(0, shares)]
        for change in changes:
            later = Change(change["position"], change["shares"], self.changes[-1])
            self.changes.append(later)
        self.firsts = [0, *accumulate(source.limit for source in sources)]
        count = stop if isinstance(stop, int) else self._count(stop == "first")
        super().__init__(count, self.firsts[-1])
        self.width = sources[0].width
        self.record_firsts = [0, *accumulate(source.record_limit for source in sources)]
        self.record_limit = self.record_firsts[-1]

    def _count(self, is_first):
        used = (j for j in range(len(self.sources)) if any(c.shares[j] for c in self.changes))
        lengths = [length for j in used if (length := self._length(j, is_first))]
        return min(lengths) if is_first else max(lengths)

    def _length(self, source, is_first):
        """The length that a source implies, if any."""
        count = self.sources[source].count
        k = max(k for k, c in enumerate(self.changes) if c.before[source] < count + is_first)
        change, share = self.changes[k], self.changes[k].shares[source]
        if is_first and not share:
            return None
        check(share, "mixture: a source is never completed")
        slots = (count - change.before[source]) * change.period
        if is_first:
            return change.position + slots // share
        length = change.position - (-slots // share)
        return min([length, *(c.position for c in self.changes[k + 1 : k + 2])])

    def _draw(self, epoch, position):
        """The source of a position, and epoch and position in it."""
        check(epoch < SLOTS // self.count, "mixture: the epoch is beyond the last slot")
        slot = epoch * self.count + position
        change = self.changes[bisect_right([c.position for c in self.changes], slot) - 1]
        source = int(change.schedule[(slot - change.position) % change.period])
        return source, *divmod(change.drawn(source, slot), self.sources[source].count)

    def at(self, epoch, position):
        source, *place = self._draw(epoch, position)
        return self.firsts[source] + self.sources[source].at(*place)

    def pieces(self, epoch, position):
        source, *place = self._draw(epoch, position)
        first = self.record_firsts[source]
        return [(first + record, *rest) for record, *rest in self.sources[source].pieces(*place)]
