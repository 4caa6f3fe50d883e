"""The reader of docs/formats/reader computes the orders, rows and states of the library."""

import json
import random
from itertools import product
from types import SimpleNamespace

import pytest
import recmap
from reader import ranks
from reader.description import order_of
from reader.state import encode, read_state
from reader.xxh3 import xxh3_64
from reader_helpers import rounds

EPOCHS = (0, 1, 5, 1 << 62)


class Maker:
    """Random orders of the library, and the arrays that their descriptions have digests of."""

    def __init__(self, seed):
        self.made, self.arrays = random.Random(seed), []

    def number(self, limit):
        return self.made.choice([1, 2, self.made.randrange(1, limit), limit])

    def keep(self, values):
        self.arrays.append(values)
        return values

    def values(self, limit, count=None):
        count = count or self.number(400)
        return self.keep([self.made.randrange(limit) for _ in range(count)])

    def order(self):
        """Of any kind, with one or two levels of views and mixtures."""
        kinds = [self.plain, self.plain, self.batched, self.rows, self.view, self.mixture]
        return self.made.choice(kinds)()

    def plain(self):
        n, seed = self.number(2000), self.made.getrandbits(64)
        return self.made.choice(
            [
                lambda: recmap.Sequential(n),
                lambda: recmap.Shuffled(n, seed),
                lambda: recmap.Windowed(n, self.number(90), self.number(20), seed),
                lambda: recmap.WithReplacement(n, seed, self.made.choice([None, 50])),
                lambda: recmap.Weighted(self.weights(self.number(300)), seed, 90),
            ]
        )()

    def weights(self, count):
        scale = self.made.choice([1, 1e300, 1e-310])
        choices = [lambda: 0, lambda: self.made.random() * scale, lambda: scale]
        weights = [self.made.choice(choices)() for _ in range(count)]
        weights[self.made.randrange(count)] = scale
        return self.keep(weights)

    def shares(self, count):
        """Weights with a short period: a schedule of the longest takes seconds."""
        weights = [self.made.choice([0, 1, 2, 7, 0.25]) for _ in range(count)]
        return weights if any(weights) else [1] * count

    def batched(self):
        seed, size = self.made.getrandbits(64), self.number(40)
        labels = [label - 3 for label in self.values(self.number(9))]
        bounds = sorted({self.made.randrange(60) for _ in range(self.made.randrange(6))})
        kind = self.made.choice(["grouped", "stratified", "batch_size", "token_budget"])
        if kind in ("grouped", "stratified"):
            self.keep(labels)
            made = recmap.Grouped if kind == "grouped" else recmap.Stratified
            return made(labels, size, seed)
        sizes = {kind: size if kind == "batch_size" else 60 + size}
        return recmap.Bucketed(self.values(60), self.keep(bounds), **sizes, seed=seed)

    def rows(self, size=None):
        counts, seed = self.values(self.made.choice([2, 9, 90])), self.made.getrandbits(64)
        size = size or self.number(64)
        add, overlap = self.made.randrange(3), self.made.randrange(size)
        if self.made.random() < 0.3:
            pad = (self.made.randrange(size), self.made.randrange(size))
            return recmap.Windows(counts, size, stride=self.number(9), pad=pad, seed=seed)
        if self.made.random() < 0.5:
            long, group = self.made.choice(["split", "truncate", "drop"]), self.number(50)
            return recmap.Packed(counts, size, add=add, long=long, group=group, seed=seed)
        kinds = {"documents": ["shuffled", "stored"], "last": ["drop", "pad"]}
        options = {name: self.made.choice(values) for name, values in kinds.items()}
        return recmap.Chunked(counts, size, overlap=overlap, add=add, **options, seed=seed)

    def view(self):
        base = self.made.choice([self.plain, self.batched, self.rows, self.mixture])()
        described = json.loads(base.describe())
        covered = described.get("n", 10_000)
        if self.made.random() < 0.5:
            step = self.made.choice([1, 3, -2])
            first = 7 if step > 0 else 7 - step * covered
            return base.select(range(first, first + step * covered, step))
        numbers = [self.made.randrange(9 * covered) for _ in range(covered + 3)]
        return base.select(self.keep(numbers))

    def mixture(self):
        count = self.made.randrange(1, 5)
        is_rows, size = self.made.random() < 0.3, self.number(20)
        sources = [self.rows(size) if is_rows else self.plain() for _ in range(count)]
        weights = {0: self.shares(count)}
        for _ in range(self.made.randrange(3)):
            weights[self.made.randrange(1, 300)] = self.shares(count)
        stop = self.made.choice(["first", "last", self.number(500)])
        return recmap.Mixture(sources, dict(sorted(weights.items())), stop)


def positions_of(made, count):
    """Some positions of an epoch."""
    whole = range(count) if count < 20 else [0, count - 1, *made.choices(range(count), k=12)]
    return list(whole)


def check_order(seed):
    """Compares numbers, batches and pieces, at some positions of several epochs."""
    maker = Maker(seed)
    try:
        order = maker.order()
    except ValueError:  # such as a source that is empty
        return
    reader = order_of(order.describe(), maker.arrays)
    assert reader.count == len(order)
    positions = positions_of(maker.made, reader.count)
    for epoch in EPOCHS:
        try:
            expected = order.at(epoch, positions).tolist()
        except (ValueError, OverflowError, IndexError, recmap.Error):
            continue  # past the last epoch of a mixture
        assert [reader.at(epoch, i) for i in positions] == expected
        if reader.width is not None:
            pieces = [list(piece) for i in positions for piece in reader.pieces(epoch, i)]
            assert pieces == order.pieces(epoch, positions)[0].tolist()
        if reader.batches is not None:
            ranges = [order.batch(epoch, i) for i in range(order.batch_count)]
            assert list(reader.batches(epoch)) == ranges


@pytest.mark.parametrize("first", range(0, 1800, 20))
@pytest.mark.filterwarnings("ignore")
def test_orders(first):
    """Many, because few of them have ties, short groups or changes of shares."""
    for seed in range(first, first + rounds(20)):
        check_order(seed)


@pytest.mark.parametrize("stop", ["first", "last"])
@pytest.mark.parametrize("shares", [*product([1, 2], repeat=3)])
@pytest.mark.filterwarnings("ignore")
def test_mixtures_whose_shares_change_when_a_source_is_complete(shares, stop):
    """Shares change before, at or after the slot that completes a source."""
    for position, longest in product(range(1, 25), range(3)):
        sources = [recmap.Sequential(3 if i == longest else 1) for i in range(3)]
        order = recmap.Mixture(sources, {0: shares, position: [1, 2, 1]}, stop)
        assert order_of(order.describe()).count == len(order), (position, longest)


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    path = tmp_path_factory.mktemp("states") / "made.txt"
    path.write_text("\n" * 500)
    with recmap.open(path, framing="lines") as ds:
        yield ds


@pytest.mark.parametrize("options", [{}, {"seed": 9}])
@pytest.mark.filterwarnings("ignore:seed=9")
def test_states(ds, options):
    """A run that the reader continues where the library stopped, with the seed of its draws."""
    loader = recmap.Loader(ds, order=recmap.Shuffled(len(ds), 7), batch_size=40, **options)
    for _, _batch in zip(range(3), loader):  # noqa: B905
        pass
    state = read_state(json.dumps(loader.state_dict()))
    assert (state.epoch, state.position, state.record_count) == (0, 120, 500)
    assert state.draws == options.get("seed")
    order = order_of(state.order)
    assert state.fingerprint.hex() == ds.fingerprint
    left = [order.at(0, i) for i in range(120, 160)]
    assert next(iter(loader)).numbers.tolist() == left


@pytest.mark.parametrize("seed", [0, 1, 1 << 63])
def test_checksums(ds, seed):
    """The library accepts a state that is written with the reader's checksum."""
    loader = recmap.Loader(ds, shuffle=True, batch_size=40)
    members = {**loader.state_dict(), "epoch": 3, "position": 80, "draws": {"seed": seed}}
    checksum = members.pop("checksum")
    fields = {**members, "fingerprint": bytes.fromhex(members["fingerprint"]), "draws": seed}
    members["checksum"] = f"{xxh3_64(encode(SimpleNamespace(**fields))):016x}"
    loader.load_state_dict(members)
    assert (loader.epoch, loader.position) == (3, 80)
    with pytest.raises(recmap.Error):
        loader.load_state_dict({**members, "checksum": checksum})


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
def test_ranks(ds, last):
    """The records of every rank from a position in the epoch on."""
    order = recmap.Shuffled(len(ds), 5)
    steps = list(ranks.deal(len(ds), 91, 30, 3, last))
    for rank in range(3):
        options = {"rank": rank, "world_size": 3, "last": last, "batch_size": 30}
        loader = recmap.Loader(ds, order=order, **options)
        loader.seek(0, 91)
        taken = [batch.numbers.tolist() for _, batch in zip(steps, loader)]  # noqa: B905
        assert taken == [order.at(0, list(step[rank])).tolist() for step in steps]
