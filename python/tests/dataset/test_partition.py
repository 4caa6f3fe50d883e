"""Partitions of a data set by hash."""

import math
import tracemalloc

import numpy as np
import pytest
import recmap
from conftest import write


def test_partition_has_each_record_once(digits):
    parts = digits.split({"train": 0.8, "validation": 0.1, "test": 0.1}, seed=3)
    numbers = np.concatenate([part.numbers for part in parts.values()])
    assert sorted(numbers) == list(range(len(digits)))
    for name, share in {"train": 0.8, "validation": 0.1, "test": 0.1}.items():
        mean = share * len(digits)
        assert abs(len(parts[name]) - mean) < 5 * np.sqrt(mean * (1 - share)), name
    again = digits.split({"train": 0.8, "validation": 0.1, "test": 0.1}, seed=3)
    assert (again["test"].numbers == parts["test"].numbers).all()
    halves = digits.split({"a": np.float32(0.5), "b": np.float64(0.5)})
    assert sum(map(len, halves.values())) == len(digits)
    for wrong in {}, {"a": 0.5}, {"a": math.nan}, {"a": 1.5, "b": -0.5}, {"a": math.inf}:
        with pytest.raises(ValueError, match="shares"):
            digits.split(wrong)
    other = digits.split({"train": 0.8, "validation": 0.1, "test": 0.1}, seed=4)
    assert other["test"].numbers.tolist() != parts["test"].numbers.tolist()


def test_appending_shards_moves_no_record(copied_digits):
    paths = sorted(copied_digits.glob("*.tfrecord"))
    for more in ({"id": "id"}, {}):
        index = copied_digits / f"part-{len(more)}.rmx"
        some = recmap.open(paths[:2], index=index, **more)
        before = some.split({"a": 0.5, "b": 0.5})["a"].numbers
        after = recmap.open(paths, index=index).split({"a": 0.5, "b": 0.5})["a"].numbers
        assert after[after < len(some)].tolist() == before.tolist()


def test_records_with_the_same_id_stay_together(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for i in range(2000):
            writer.write({"patient": i % 100})
    ds = recmap.open(tmp_path / "a.tfrecord", id="patient", lift=["patient"])
    parts = ds.split({"a": 0.5, "b": 0.5})
    seen = [set(part.columns["patient"]) for part in parts.values()]
    assert seen[0].isdisjoint(seen[1]) and len(seen[0] | seen[1]) == 100


def test_partition_of_a_view_equals_the_view_of_the_partition(digits):
    shares = {"a": 0.3, "b": 0.7}
    whole = set(digits.split(shares)["a"].numbers)
    view = digits[100:900:3]
    assert set(view.split(shares)["a"].numbers) == whole & set(view.numbers)


@pytest.mark.parametrize("shares", [{}, {"a": 0.5}, {"a": 0.7, "b": 0.7}, {"a": -1, "b": 2}])
def test_invalid_shares_raise(digits, shares):
    with pytest.raises(ValueError):
        digits.split(shares)


def test_wrong_types_raise(digits):
    for wrong in [0.9, 0.1], "train", None:
        with pytest.raises(TypeError, match="shares"):
            digits.split(wrong)
    for seed in (1.5, "1", np.array([1])):
        with pytest.raises(TypeError):
            digits.split({"a": 1}, seed=seed)


def test_vectors_of_the_specification(tmp_path):
    """docs/reference/partition.md, implemented here with plain integers."""
    mask = 2**64 - 1

    def mix(x):
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
        return x ^ x >> 31

    write(tmp_path, [b"x"] * 1000)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    for seed in (0, 7, 2**64 - 1):
        key = mix(seed + 0x9E3779B97F4A7C15 & mask)
        words = [mix((number | 1 << 63) ^ key) for number in range(1000)]
        first = ds.split({"a": 0.25, "b": 0.75}, seed=seed)["a"].numbers.tolist()
        assert first == [number for number in range(1000) if words[number] < 2**62]


def test_memory_is_that_of_the_views(tmp_path):
    """Hashes are computed for some records at a time."""
    count = 3_000_000
    (tmp_path / "bytes").write_bytes(bytes(count))
    with recmap.open(tmp_path / "bytes", framing="fixed:0,1,0") as ds:
        tracemalloc.start()
        parts = ds.split({"train": 0.9, "validation": 0.1})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert sum(map(len, parts.values())) == count
    assert peak < 30_000_000 + 12 * count
