"""Orders that make their own batches: grouped, bucketed and stratified."""

from bisect import bisect_right
from itertools import accumulate, chain, pairwise

import numpy as np

from .orders import Order
from .permutation import permutation

GROUP, GROUP_BATCHES, STRATUM, STRATUM_BATCHES = range(5, 9)


class Batched(Order):
    """An order whose batches are laid out for a whole epoch."""

    def __init__(self, groups, sizes, seed):
        n = sum(map(len, groups))
        super().__init__(n, n, seed)
        self.groups, self.sizes = groups, sizes

    def at(self, epoch, position):
        return self.layout(epoch)[1][position]

    def batches(self, epoch):
        return self.layout(epoch)[0]

    def layout(self, epoch):
        """The positions of the batches, and the records of all."""
        batches = self.cut(epoch)
        ends = accumulate(map(len, batches), initial=0)
        return [range(*pair) for pair in pairwise(ends)], list(chain(*batches))

    def cut(self, epoch):
        """The batches of all groups in random order."""
        lists = zip(self.permuted(epoch, GROUP), self.sizes)
        found = [items[i : i + size] for items, size in lists for i in range(0, len(items), size)]
        return [found[i] for i in permutation(len(found), self.seed, epoch, GROUP_BATCHES)]

    def permuted(self, epoch, kind):
        """The records of each group in random order."""
        for g, group in enumerate(self.groups):
            yield [group[i] for i in permutation(len(group), self.seed, epoch, kind, g)]


def groups_of(labels):
    groups = {label: [] for label in sorted(set(labels))}
    for record, label in enumerate(labels):
        groups[label].append(record)
    return list(groups.values())


class Grouped(Batched):
    def __init__(self, labels, batch_size, seed, n=None):
        groups = groups_of(labels)
        super().__init__(groups, [batch_size] * len(groups), seed)


class Bucketed(Batched):
    """With a batch size or a token budget."""

    def __init__(self, lengths, bounds, seed, batch_size=None, token_budget=None, n=None):
        groups = [[] for _ in range(len(bounds) + 1)]
        for record, length in enumerate(lengths):
            groups[bisect_right(bounds, length)].append(record)
        longest = [max([1, *(lengths[i] for i in group)]) for group in groups]
        super().__init__(groups, [batch_size or token_budget // x for x in longest], seed)


class Stratified(Batched):
    def __init__(self, labels, batch_size, seed, n=None):
        super().__init__(groups_of(labels), None, seed)
        self.size, self.template = batch_size, list(self._make_template())

    def _make_template(self):
        """Yields the group of each slot: of the groups that may take it, the most urgent."""
        sizes = np.array(list(map(len, self.groups)))
        turns = np.zeros_like(sizes)
        for slot in range(self.count):
            deadlines = -(-(turns + 1) * self.count // sizes)
            may_take = turns * self.count // sizes <= slot
            group = int(np.where(may_take, deadlines, self.count + 1).argmin())
            turns[group] += 1
            yield group

    def cut(self, epoch):
        """The template's batches in random order, and the rest."""
        groups = list(map(iter, self.permuted(epoch, STRATUM)))
        records = [next(groups[g]) for g in self.template]
        found = [records[i : i + self.size] for i in range(0, self.count, self.size)]
        full = self.count // self.size
        place = permutation(full, self.seed, epoch, STRATUM_BATCHES)
        return [*(found[i] for i in place), *found[full:]]
