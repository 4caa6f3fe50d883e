"""Epochs, positions and seeds of batches: a loader's, parsed ones, and batches of rows."""

import itertools
import pathlib

import numpy as np
import pytest
import recmap
from conftest import write

COUNT, SEED = 40, 7
LABEL = {"label": recmap.FixedLen((), "int64")}
pytestmark = pytest.mark.filterwarnings("ignore:seed=7 has no effect on the order")

LENGTHS = [5, 0, 9, 3, 7, 4]
TOKENS = {"tokens": recmap.Sliced((), "int64")}

ORDERS = {
    "shuffled": recmap.Shuffled(COUNT, seed=3),
    "replacement": recmap.WithReplacement(COUNT, seed=3, size=60),
    "mixture": recmap.Mixture([recmap.Shuffled(10, seed=1), recmap.Shuffled(30, seed=2)], [1, 2]),
}
ROWS = {
    "windows": recmap.Windows(LENGTHS, 4, pad=(2, 1), seed=3),
    "chunked": recmap.Chunked(LENGTHS, 5, last="pad", seed=5),
    "packed": recmap.Packed(LENGTHS, 10, group=50, seed=5),
    "mixture": recmap.Mixture(
        [recmap.Chunked(part, 6, last="pad", seed=1) for part in (LENGTHS[:3], LENGTHS[3:])], [1, 1]
    ),
}


@pytest.fixture
def ds(tmp_path):
    write(tmp_path, [recmap.encode_example({"label": i}) for i in range(COUNT)], name="x.tfrecord")
    return recmap.open(tmp_path / "x.tfrecord")


@pytest.fixture
def documents(tmp_path):
    payloads = [recmap.encode_example({"tokens": list(range(length))}) for length in LENGTHS]
    write(tmp_path, payloads, name="d.tfrecord")
    return recmap.open(tmp_path / "d.tfrecord")


def damage(ds, number):
    path = pathlib.Path(ds.index_path).with_suffix(".tfrecord")
    data = bytearray(path.read_bytes())
    data[data.index(bytes(ds[number])) + 2] ^= 1
    path.write_bytes(data)


def repeats(order):
    return isinstance(order, (recmap.WithReplacement, recmap.Mixture))


def place_of(order, batch):
    """The arguments of a parse that gives the batch of a loader again."""
    positions = batch.positions if repeats(order) else None
    return {"seed": SEED, "epoch": batch.epoch, "positions": positions}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("options", [{}, {"threads": 4}, {"on_bad_record": "collect"}])
def test_a_parse_has_the_seeds_of_the_loaders_batch(ds, order, options):
    loader = recmap.Loader(ds, 11, order=order, seed=SEED, features=LABEL)
    for epoch in range(2):
        for batch in loader:
            assert (order.at(epoch, batch.positions) == batch.numbers).all()
            again = ds.parse(batch.numbers, LABEL, **place_of(order, batch), **options)
            assert again.epoch == batch.epoch == epoch
            for name in ("", "a"):
                assert (again.seeds(name) == batch.seeds(name)).all()
            if repeats(order):
                assert (again.positions == batch.positions).all()
            else:
                with pytest.raises(ValueError, match="positions of the records are not known"):
                    _ = again.positions


def test_seeds_of_a_parse_do_not_need_the_arguments_any_more(ds):
    positions = np.arange(5, dtype=np.uint64)
    batch = ds.parse(range(5), LABEL, seed=1, epoch=2, positions=positions)
    seeds = batch.seeds().tolist()
    positions[:] = 30
    assert batch.positions.tolist() == [0, 1, 2, 3, 4] and batch.seeds().tolist() == seeds
    other = ds.parse(range(5), LABEL, seed=1, epoch=2, positions=positions)
    assert not set(other.seeds().tolist()) & set(seeds)


def test_batches_without_an_epoch(ds):
    for batch in (ds.gather([1, 2]), ds.parse([1, 2], LABEL)):
        for read in (lambda b: b.epoch, lambda b: b.positions, lambda b: b.seeds()):
            with pytest.raises(ValueError, match=r"not of a loader.*epoch=\.\.\., seed=\.\.\."):
                read(batch)
    nothing = ds.parse([], LABEL, seed=1, epoch=2, positions=[])
    assert nothing.epoch == 2 and not len(nothing.positions) and not len(nothing.seeds())


def test_collected_failures_have_seeds(ds):
    """Also a record that is damaged, and one that cannot be parsed."""
    damage(ds, 3)
    good = ds.parse([2, 4], LABEL, seed=1, epoch=2).seeds()
    batch = ds.parse([2, 3, 4], LABEL, seed=1, epoch=2, on_bad_record="collect")
    assert [row for row, _ in batch.failures] == [1]
    assert len(batch.seeds()) == 3 and batch.seeds()[[0, 2]].tolist() == good.tolist()


def test_a_parse_of_sequences_has_seeds(tmp_path):
    payloads = [recmap.encode_sequence_example({"label": i}, {}) for i in range(8)]
    write(tmp_path, payloads, name="s.tfrecord")
    clips = recmap.open(tmp_path / "s.tfrecord")
    loader = recmap.Loader(clips, 8, shuffle=True, seed=SEED, features=LABEL, feature_lists={})
    batch, _ = next(iter(loader))
    for again in clips.parse_sequence(batch.numbers, LABEL, {}, seed=SEED, epoch=0):
        assert again.epoch == 0 and (again.seeds("a") == batch.seeds("a")).all()


# ---- Rows.


@pytest.fixture
def numbered(tmp_path):
    """More records than there are rows: seeds depend on numbers only."""
    write(tmp_path, [recmap.encode_example({})] * 100, name="n.tfrecord")
    return recmap.open(tmp_path / "n.tfrecord")


@pytest.mark.parametrize("order", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("rank", [0, 1])
def test_rows_have_the_seeds_of_their_numbers(documents, numbered, order, rank):
    share = {"rank": rank, "world_size": 2}
    loader = recmap.Loader(documents, 3, order=order, features=TOKENS, seed=SEED, **share)
    for epoch in range(2):
        for batch in loader:
            assert batch.epoch == epoch and len(batch.positions) == batch.row_count
            items, splits = order.pieces(epoch, batch.positions)
            assert (batch.pieces[0] == items).all() and (batch.pieces[1] == splits).all()
            numbers = order.at(epoch, batch.positions)
            wanted = numbered.parse(numbers, {}, **place_of(order, batch))
            assert (batch.seeds("a") == wanted.seeds("a")).all()


def test_seeds_of_rows_in_a_transform(documents):
    order = ROWS["windows"]
    options = {"order": order, "features": TOKENS, "seed": SEED}
    plain = [batch.seeds("a").tolist() for batch in recmap.Loader(documents, 4, **options)]
    seeds = recmap.Loader(documents, 4, transform=lambda b: b.seeds("a").tolist(), **options)
    assert list(seeds) == plain


@pytest.mark.parametrize("policy", ["skip", "substitute"])
def test_seeds_of_rows_around_bad_ones(documents, numbered, policy):
    """A row that takes the place of a bad one has its own position, and so its own seed."""
    damage(documents, 3)
    order = ROWS["windows"]
    loader = recmap.Loader(
        documents, 6, order=order, features=TOKENS, seed=SEED, on_bad_record=policy, epochs=1
    )
    items, splits = order.pieces(0, range(len(order)))
    bad_count = sum(3 in items[first:end, 0] for first, end in itertools.pairwise(splits))
    count = 0
    with pytest.warns(UserWarning, match="a bad record"):
        for batch in loader:
            items, _ = order.pieces(0, batch.positions)
            assert (batch.pieces[0] == items).all() and 3 not in items[:, 0]
            wanted = numbered.parse(order.at(0, batch.positions), {}, seed=SEED, epoch=0)
            assert (batch.seeds() == wanted.seeds()).all()
            count += batch.row_count
    assert bad_count and len(loader.skipped) == bad_count
    assert count == len(order) - (bad_count if policy == "skip" else 0)
