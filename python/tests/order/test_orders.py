"""Orders: arrays in and out, numbers out of range, pickling."""

import contextlib
import json
import pickle
import threading
from array import array as array_of
from pathlib import Path

import numpy as np
import pytest
import recmap
from recmap import _recmap

LABELS = np.arange(1000) % 7


def each():
    n = 1000
    return [
        recmap.Sequential(n),
        recmap.Shuffled(n, seed=5),
        recmap.Windowed(n, 10, 5, seed=5),
        recmap.WithReplacement(n, seed=5, size=300),
        recmap.Weighted(np.arange(n) + 1.0, seed=5),
        recmap.Grouped(LABELS, 32, seed=5),
        recmap.Bucketed(LABELS, [2, 5], token_budget=100, seed=5),
        recmap.Stratified(LABELS, 32, seed=5),
        recmap.Mixture([recmap.Shuffled(600, 1), recmap.Shuffled(400, 2)], [0.75, 0.25]),
        recmap.Shuffled(100, seed=5).select(range(900, 700, -2)),
        recmap.Shuffled(3, seed=5).select([5, 900, 7]),
    ]


@pytest.mark.parametrize("order", each(), ids=lambda order: type(order).__name__)
def test_single_positions_equal_arrays(order):
    whole = order.at(3, range(len(order)))
    assert whole.dtype == np.int64 and len(whole) == len(order)
    some = [5, 0, len(order) - 1, 5] if len(order) > 5 else [2, 0, 2]
    for given in (some, tuple(some), np.array(some), np.array(some, np.uint64), iter(some)):
        assert (order.at(3, given) == whole[some]).all()
    assert order.at(3, some[0]) == whole[some[0]] and type(order.at(3, some[0])) is int
    assert order.at(3, np.int64(some[0])) == whole[some[0]]
    assert (order.at(3, slice(1, None, 2)) == whole[1::2]).all()
    again = pickle.loads(pickle.dumps(order))
    assert again == order and hash(again) == hash(order) and repr(again) == repr(order)
    assert (again.at(3, range(len(order))) == whole).all()


@pytest.mark.parametrize("order", each(), ids=lambda order: type(order).__name__)
@pytest.mark.parametrize("position", [-1, 10**6, 2**64])
def test_positions_out_of_range(order, position):
    for given in (position, [0, position]):
        with pytest.raises((IndexError, OverflowError)):
            order.at(0, given)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "int8", "uint16"])
def test_errors_name_the_position(dtype):
    order = recmap.Shuffled(100, seed=5)
    positions = np.zeros(5000, dtype)
    assert (order.at(0, positions) == order.at(0, 0)).all()
    positions[-1] = 101
    with pytest.raises(
        IndexError, match="position 101 is out of range: there are positions 0 to 99"
    ):
        order.at(0, positions)
    if np.issubdtype(dtype, np.signedinteger):
        positions[-2] = -3
        with pytest.raises(IndexError, match="position -3 is out of range"):
            order.at(0, positions)
    assert (order.at(0, positions[:-2:2]) == order.at(0, 0)).all()


def test_positions_changed_by_another_thread():
    positions, order, stop = np.zeros(1 << 18, np.int64), recmap.Shuffled(200), threading.Event()

    def change():
        while not stop.is_set():
            positions[::3] = 1 << 62
            positions[::3] = 0

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(100):
            with contextlib.suppress(IndexError, ValueError):
                assert order.at(0, positions).max() < 200
    finally:
        stop.set()
        thread.join()


def test_position_of_is_the_inverse():
    for order in (recmap.Shuffled(1000, 3), recmap.Windowed(1000, 7, 3), recmap.Grouped(LABELS, 9)):
        numbers = order.at(2, range(1000))
        assert (order.position_of(2, numbers) == np.arange(1000)).all()
        assert order.position_of(2, int(numbers[7])) == 7
        for wrong in (1000, [3, 1000]):
            with pytest.raises(IndexError, match=r"record 1000 is out of range: .* below 1000"):
                order.position_of(2, wrong)
    with pytest.raises(ValueError):
        recmap.WithReplacement(10).position_of(0, 3)
    with pytest.raises(IndexError):
        recmap.Shuffled(10).position_of(0, -1)


def test_epochs_are_permutations_and_differ():
    order = recmap.Shuffled(400, seed=42)
    first, second = order.at(0, range(400)), order.at(1, range(400))
    assert sorted(first) == sorted(second) == list(range(400))
    assert (first != second).any()
    assert (first == recmap.Shuffled(400, seed=42).at(0, range(400))).all()
    assert (first != recmap.Shuffled(400, seed=43).at(0, range(400))).any()


def test_seeds_are_64_bits():
    assert recmap.Shuffled(10, seed=2**64 - 1).at(0, 0) in range(10)
    for seed in (-1, 2**64, 2**64 + 1):
        with pytest.raises(ValueError):
            recmap.Shuffled(10, seed=seed)
    with pytest.raises(TypeError):
        recmap.Shuffled(10, seed=1.5)


def test_vectors_of_the_specification():
    """docs/formats/vectors/order-kinds.txt, for the kind that is used most."""
    top = Path(__file__).resolve().parents[3]
    text = (top / "docs/formats/vectors/order-kinds.txt").read_text()
    lines = text.split("case shuffled\n")[1].split("\n\n")[0].splitlines()
    epochs = {0: [], 1: []}
    for line in lines:
        name, *words = line.split()
        if name.startswith("epoch-") and int(name[6:]) in epochs:
            epochs[int(name[6:])] += map(int, words)
    order = recmap.Shuffled(300, seed=7)
    for epoch, numbers in epochs.items():
        assert order.at(epoch, range(300)).tolist() == numbers


def test_batches_of_an_order():
    order = recmap.Grouped(LABELS, 32, seed=1)
    batches = [order.batch(0, i) for i in range(order.batch_count)]
    assert [position for batch in batches for position in batch] == list(range(1000))
    for batch in batches:
        assert len(set(LABELS[order.at(0, batch)])) == 1
    assert recmap.Sequential(5).batch_count == 0


def test_labels_can_be_strings():
    words = np.array(["b", "a", "b", "c"] * 10)
    assert recmap.Grouped(words, 4) == recmap.Grouped([1, 0, 1, 2] * 10, 4)
    with pytest.raises(TypeError):
        recmap.Grouped([0.5, 1.5], 2)


def test_mixtures_refuse_impossible_shares():
    parts = [recmap.Sequential(5), recmap.Sequential(5)]
    for weights in ([0, 0], [-1, 1], [1], []):
        with pytest.raises(ValueError):
            recmap.Mixture(parts, weights)
    with pytest.raises(ValueError):
        recmap.Mixture(parts, [1, 1], stop="never")
    order = recmap.Mixture([recmap.Shuffled(10**6, 1), recmap.Shuffled(10**6, 2)], [0.29, 0.71])
    taken = order.at(0, range(10**6)) < 10**6
    assert abs(int(taken.sum()) - 290_000) <= 1


def test_description_is_json():
    assert json.loads(recmap.Shuffled(10, 3).describe())["seed"] in (3, "3")


def test_labels_and_bounds_beyond_64_bits():
    with pytest.raises(ValueError, match="bounds do not fit 64 bits"):
        recmap.Bucketed([1, 2, 3], [2**63], batch_size=2)
    with pytest.raises(ValueError, match="weights do not fit"):
        recmap.Weighted([10**400, 1])


def test_orders_do_not_see_later_changes_of_arrays():
    """A worker process gets the order that was created, not one of what the array has become."""
    floats, integers = np.arange(1, 41, dtype=np.float64), np.arange(40)

    class Owner:
        """As the arrays of other libraries."""

        def __array__(self, *_, **__):
            return floats

    numbers, weights, bounds = np.arange(40, dtype=np.uint64), np.ones(2), np.array([5, 20])
    parts = [recmap.Sequential(40), recmap.Sequential(40)]
    orders = [
        recmap.Weighted(floats, seed=1),
        recmap.Weighted(Owner(), seed=1),
        recmap.Grouped(integers, 4, seed=1),
        recmap.Bucketed(integers, bounds, batch_size=4, seed=1),
        recmap.Stratified(integers, 4, seed=1),
        recmap.Sequential(40).select(numbers),
        recmap.Mixture(parts, weights),
        recmap.Mixture(parts, {0: weights, 10: floats[:2]}),
    ]
    before = [order.describe() for order in orders]
    for array in (floats, integers, numbers, weights, bounds):
        assert array.flags.writeable
        array[:] = array[::-1] // 2 + 1
    weights[0] = 9
    assert [pickle.loads(pickle.dumps(order)).describe() for order in orders] == before
    later = orders[-2].continued(0, 8, [1, 1])  # the past keeps its weights
    assert later.at(0, range(8)).tolist() == orders[-2].at(0, range(8)).tolist()
    assert [order.describe() for order in orders] == before


def test_arrays_are_released_if_a_later_argument_is_wrong():
    array = array_of("Q", range(10))
    order = _recmap.Order.sequential(10)
    calls = [
        lambda: order.at(array, "wrong", array),
        lambda: order.at(array, 1, "wrong"),
        lambda: order.position_of(array, 1, "wrong"),
        lambda: _recmap.Order.weighted(array, 1, "wrong"),
        lambda: _recmap.Order.grouped(array, 1, "wrong"),
        lambda: _recmap.Order.bucketed(array, array, 1, 2, "wrong"),
        lambda: _recmap.Order.mixture([order], array, array, 0, "wrong"),
        lambda: _recmap.Order.mixture([order], array, "wrong", 0, 0),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
        array.append(0)  # refused while a buffer of it is exported
