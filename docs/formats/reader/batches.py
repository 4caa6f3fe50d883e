"""Orders that make their own batches: grouped, bucketed and stratified."""

import heapq
from bisect import bisect_right

from .errors import check
from .orders import Order
from .permutation import permutation
from .xxh3 import digest_of

GROUP, GROUP_BATCHES, STRATUM, STRATUM_BATCHES = range(5, 9)


class Batched(Order):
    """An order whose batches are laid out for a whole epoch."""

    def __init__(self, kind, groups, seed, **members):
        n = sum(map(len, groups))
        super().__init__(kind, n, n, n=n, seed=seed, **members)
        self.groups, self.seed, self._epoch = groups, seed, None

    def at(self, epoch, position):
        if self._epoch != epoch:
            self._numbers = [number for batch in self.batches(epoch) for number in batch]
            self._epoch = epoch
        return self._numbers[position]

    def _permuted(self, epoch, kind):
        """The records of each group, permuted."""
        for g, group in enumerate(self.groups):
            p = permutation(len(group), self.seed, epoch, kind, g)
            yield [group[p(i)] for i in range(len(group))]

    def _cut(self, epoch):
        """The batches of all groups, which have a size each."""
        lists = zip(self._permuted(epoch, GROUP), self.sizes)
        found = [items[i : i + size] for items, size in lists for i in range(0, len(items), size)]
        p = permutation(len(found), self.seed, epoch, GROUP_BATCHES)
        return [found[p(i)] for i in range(len(found))]


def _groups(labels):
    groups = {}
    for record, label in enumerate(labels):
        groups.setdefault(label, []).append(record)
    return [groups[label] for label in sorted(groups)]


class Grouped(Batched):
    def __init__(self, labels, batch_size, seed, n=None):
        check(batch_size, "grouped: a batch size of 0")
        members = {"batch_size": batch_size, "labels": digest_of(labels)}
        super().__init__("grouped", _groups(labels), seed, **members)
        self.sizes = [batch_size] * len(self.groups)

    batches = Batched._cut


class Bucketed(Batched):
    """With a batch size or a token budget."""

    def __init__(self, lengths, bounds, seed, n=None, **size):
        right = list(size) in (["batch_size"], ["token_budget"])
        check(right, "bucketed: a batch size or a token budget is needed")
        check(all(map(int.__lt__, bounds, bounds[1:])), "bucketed: bounds do not ascend")
        groups = [[] for _ in range(len(bounds) + 1)]
        for record, length in enumerate(lengths):
            groups[bisect_right(bounds, length)].append(record)
        digests = {"lengths": digest_of(lengths), "bounds": digest_of(bounds)}
        super().__init__("bucketed", groups, seed, **size, **digests)
        longest = [max([1, *(lengths[i] for i in group)]) for group in groups]
        budget = size.get("token_budget")
        self.sizes = [size["batch_size"] if budget is None else budget // x for x in longest]
        check(all(self.sizes), "bucketed: a batch would be empty")

    batches = Batched._cut


class Stratified(Batched):
    def __init__(self, labels, batch_size, seed, n=None):
        check(batch_size, "stratified: a batch size of 0")
        members = {"batch_size": batch_size, "labels": digest_of(labels)}
        super().__init__("stratified", _groups(labels), seed, **members)
        self.size, self.template = batch_size, list(self._make_template())

    def _make_template(self):
        """Yields (group, turn) of each slot: of the groups that may take it, the most urgent."""
        waiting, ready = [(0, g, 0) for g in range(len(self.groups))], []
        for slot in range(self.count):
            while waiting and waiting[0][0] <= slot:
                _, g, turn = heapq.heappop(waiting)
                deadline = -(-(turn + 1) * self.count // len(self.groups[g]))
                heapq.heappush(ready, (deadline, g, turn))
            _, g, turn = heapq.heappop(ready)
            yield g, turn
            if turn + 1 < len(self.groups[g]):
                release = (turn + 1) * self.count // len(self.groups[g])
                heapq.heappush(waiting, (release, g, turn + 1))

    def batches(self, epoch):
        groups = list(self._permuted(epoch, STRATUM))
        records = [groups[g][turn] for g, turn in self.template]
        cut = [records[i : i + self.size] for i in range(0, self.count, self.size)]
        full = self.count // self.size
        p = permutation(full, self.seed, epoch, STRATUM_BATCHES)
        return [cut[p(i)] for i in range(full)] + cut[full:]
