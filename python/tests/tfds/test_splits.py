"""Splits by TFDS's grammar, and against TFDS itself where it is installed."""

import importlib.util
import random

import pytest
from recmap import tfds
from recmap._tfds.splits import Split, ranges_of

SPLITS = {
    "train": Split("train", (8, 7, 0, 8)),
    "test": Split("test", (3,)),
    "train_small": Split("train_small", (2, 3)),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("train", [("train", 0, 23)]),
        ("train[:80%]", [("train", 0, 18)]),
        ("train[50%:]", [("train", 12, 23)]),  # 11.5 rounds to the even number
        ("train[-50%:]", [("train", 11, 23)]),
        ("train[4:-4]", [("train", 4, 19)]),
        ("train[:2shard]", [("train", 0, 15)]),
        ("train[1shard:]", [("train", 8, 23)]),
        ("train[-1shard:]", [("train", 15, 23)]),
        ("train[1shard]", [("train", 8, 15)]),
        ("train[5:5]", [("train", 5, 5)]),
        ("train[9:4]", [("train", 9, 9)]),
        ("train+test[1:]", [("train", 0, 23), ("test", 1, 3)]),
        ("test + train_small", [("test", 0, 3), ("train_small", 0, 5)]),
        ("all", [("train", 0, 23), ("test", 0, 3), ("train_small", 0, 5)]),
        ("train[1_0:]", [("train", 10, 23)]),
    ],
)
def test_splits(text, expected):
    assert ranges_of(text, SPLITS) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trian", "there is no split 'trian': the splits are .*Did you mean 'train'"),
        ("validation", "there is no split 'validation'"),
        ("", "is not a split"),
        ("train[", "is not a split"),
        ("train[]", "is not a split"),
        ("train[:]", "is not a split"),
        ("train[1:2:3]", "is not a split"),
        ("train[3]", "only shards have a single number"),
        ("train[10%]", "only shards have a single number"),
        ("train[:24]", "has only 23 records"),
        ("train[-24:]", "has only 23 records"),
        ("train[:101%]", "percentages are -100 to 100"),
        ("train[:1.5]", "'1.5' is not a number of records"),
        ("all[:10%]", "all splits together have no slices"),
    ],
)
def test_wrong_splits(text, message):
    with pytest.raises(ValueError, match=message):
        ranges_of(text, SPLITS)


def test_a_split_of_another_kind():
    with pytest.raises(TypeError, match=r"or a split of tensorflow_datasets; not 3"):
        ranges_of(3, SPLITS)


@pytest.mark.parametrize("drop_remainder", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 30])
def test_even_splits_divide_each_term(n, drop_remainder):
    parts = tfds.even_splits("train[2:]+test", n, drop_remainder=drop_remainder)
    ranges = [ranges_of(part, SPLITS) for part in parts]
    for term, (first, end) in enumerate([(2, 23), (0, 3)]):
        sizes = [part[term].end - part[term].first for part in ranges]
        assert max(sizes) - min(sizes) <= (0 if drop_remainder else 1)
        assert sizes == sorted(sizes, reverse=True)
        starts = [part[term].first for part in ranges]
        assert starts == [first + sum(sizes[:i]) for i in range(n)]
        left = (end - first) % n if drop_remainder else 0
        assert ranges[-1][term].end == end - left


def test_parts_of_parts():
    half = tfds.even_splits("train", 2)[1]
    assert [ranges_of(part, SPLITS) for part in tfds.even_splits(half, 2)] == [
        [("train", 12, 18)],
        [("train", 18, 23)],
    ]


def test_sums_of_parts():
    first, second = tfds.even_splits("train", 2)
    test, halves = [("test", 0, 3)], [("train", 0, 12), ("train", 12, 23)]
    assert ranges_of(first + "test", SPLITS) == halves[:1] + test
    assert ranges_of("test" + first, SPLITS) == test + halves[:1]
    assert ranges_of(first + second + "test", SPLITS) == halves + test
    assert ranges_of(sum([second], start=first), SPLITS) == halves
    part = tfds.even_splits(first + "test", 3)[0]
    assert ranges_of(part, SPLITS) == [("train", 0, 4), ("test", 0, 1)]
    with pytest.raises(TypeError, match="unsupported operand"):
        first + 3
    with pytest.raises(ValueError, match="no split 'tset'"):
        ranges_of(first + "tset", SPLITS)


def _random_text(chance):
    def bound(unit):
        number = chance.randint(-26, 26)
        if unit == "%":
            return chance.choice(["", f"{chance.randint(-100, 100)}%", f"{number / 3:.2f}%"])
        if unit == "shard":
            return chance.choice(["", f"{chance.randint(-5, 5)}shard"])
        return chance.choice(["", str(number)])

    terms = []
    for _ in range(chance.randint(1, 2)):
        name = chance.choice(list(SPLITS))
        unit = chance.choice(["", "%", "shard"])
        slice_ = f"[{bound(unit)}:{bound(unit)}]" if chance.random() < 0.8 else ""
        single = f"[{chance.randint(-4, 3)}shard]"
        terms.append(name + (single if chance.random() < 0.1 else slice_))
    return "+".join(terms)


@pytest.mark.skipif(
    not importlib.util.find_spec("tensorflow_datasets"), reason="no tensorflow_datasets here"
)
def test_splits_are_those_of_tfds():
    from tensorflow_datasets.core.splits import AbstractSplit
    from tensorflow_datasets.core.subsplits_utils import even_splits

    def theirs(split):
        try:
            parts = AbstractSplit.from_spec(split).to_absolute(SPLITS)
        except (ValueError, AssertionError):
            return None
        ranges = []
        for part in parts:
            first = part.from_ or 0
            end = SPLITS[part.splitname].num_examples if part.to is None else part.to
            ranges.append((part.splitname, first, max(first, end)))
        return ranges

    def ours(split):
        try:
            return ranges_of(split, SPLITS)
        except ValueError:
            return None

    seed = random.SystemRandom().randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    counts = {True: 0, False: 0}
    for _ in range(3000):
        text = _random_text(chance)
        assert ours(text) == theirs(text), text
        counts[ours(text) is None] += 1
        if ours(text) is not None and all(end > first for _, first, end in ours(text)):
            n, drops = chance.randint(1, 4), chance.random() < 0.5
            for part, their_part in zip(
                tfds.even_splits(text, n, drop_remainder=drops),
                even_splits(text, n, drop_remainder=drops),
                strict=True,
            ):
                assert ours(part) == theirs(their_part) == ours(their_part), (text, n, drops)
    assert min(counts.values()) > 100
