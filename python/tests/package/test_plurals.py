"""Messages and representations with the number 1 have a noun in the singular."""

import re

import numpy as np
import pytest
import recmap

WRONG = re.compile(r"(?<![\d.,-])1 (?!is\b|was\b|has\b|of\b)\w+s\b")


@pytest.fixture
def one(tmp_path):
    """A data set of one record, of one element."""
    with recmap.Writer(tmp_path / "one.tfrecord") as writer:
        writer.write({"id": b"a", "x": [1]})
    return recmap.open(tmp_path / "one.tfrecord", id="id", count=["x"])


def test_representations_count_one_in_the_singular(one):
    batch = one.parse([0], {"x": recmap.VarLen("int64")})
    order = recmap.Shuffled(1)
    rows = recmap.Chunked([1], 1)
    join = recmap.join({"a": one, "b": one})
    some = one, one.gather([0]), batch, batch["x"], one.counts["x"], order, rows, join
    for value in (*some, recmap.Loader(one, 1), recmap.JoinedLoader(join, 1)):
        assert "1 " in repr(value)
        assert not WRONG.search(repr(value)), repr(value)


CALLS = {
    "weights": lambda one: recmap.Mixture([recmap.Sequential(3)] * 2, [1]),
    "orders": lambda one: recmap.Mixture([recmap.Sequential(3)], [1, 2]),
    "order": lambda one: recmap.Loader(one, 2, order=recmap.Shuffled(9)),
    "counts": lambda one: recmap.Loader(one, 2, order=recmap.Chunked([1, 2], 2)),
    "position": lambda one: recmap.Shuffled(1).at(0, 4),
    "list": lambda one: one.gather([4]),
    "row": lambda one: one.parse([0], {"x": recmap.VarLen("int64")})["x"][3],
    "sample": lambda one: one[:0].sample(1),
    "mask": lambda one: one.select(np.ones(3, bool)),
    "values": lambda one: one.annotate({"y": np.arange(3)}),
    "key": lambda one: one.annotate({"y": ([b"a"], [1, 2])}, by="id"),
    "shape": lambda one: one.parse([0], {"x": recmap.FixedLen((2,), "int64")}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_errors_count_one_in_the_singular(one, call):
    with pytest.raises((ValueError, IndexError, recmap.Error)) as raised:
        call(one)
    assert not WRONG.search(str(raised.value)), str(raised.value)
