"""Positions of many ids, in data sets and views."""

import os
import signal
import threading

import numpy as np
import pytest
import recmap
from conftest import write


@pytest.fixture
def repeated(tmp_path):
    """30 records with the ids 0 to 9, three times."""
    write(tmp_path, [recmap.encode_example({"id": i % 10, "n": i}) for i in range(30)])
    with recmap.open(tmp_path / "made-0.tfrecord", id="id") as ds:
        yield ds


def expected(ds, ids):
    found = []
    for id in ids:
        try:
            found.append(ds.find(id))
        except KeyError:
            found.append(-1)
    return found


def test_positions_equal_those_of_find(digits):
    ids = [f"digit-{i:05}" for i in range(1700, 1900)] + ["", "x", b"digit-00003"]
    found = digits.find_many(ids)
    assert found.dtype == np.int64
    assert found.tolist() == expected(digits, ids)


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object])
def test_arrays_of_ids(digits, kind):
    ids = np.array(["digit-00007", "digit-00005", "nothing"], kind)
    assert digits.find_many(ids).tolist() == [7, 5, -1]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.uint64, ">i8"])
def test_arrays_of_integers(repeated, kind):
    assert repeated.find_many(np.array([9, 0, 77], kind)).tolist() == [9, 0, -1]


def test_an_array_with_steps(repeated):
    ids = np.arange(40)[::-3]
    assert repeated.find_many(ids).tolist() == expected(repeated, ids.tolist())


def test_many_ids_are_found_by_several_threads(repeated):
    ids = np.random.default_rng(0).integers(-3, 13, 50_000)
    first = np.where((ids >= 0) & (ids < 10), ids, -1)
    assert np.array_equal(repeated.find_many(ids), first)
    assert np.array_equal(repeated.find_many(ids.tolist()), first)
    last_first = np.where(first >= 0, 9 - first, -1)  # record 29 has the id 9
    assert np.array_equal(repeated[::-1].find_many(ids), last_first)


def test_ids_of_another_type_are_absent(repeated, digits):
    assert repeated.find_many(["3", b"3", 3]).tolist() == [-1, -1, 3]
    assert digits.find_many([3]).tolist() == [-1]


VIEWS = {
    "range": slice(4, 21),
    "step": slice(3, 30, 7),
    "backwards": slice(None, None, -1),
    "numbers": [25, 3, 13, 3, 8],
    "mask": np.arange(30) % 4 == 3,
    "empty": slice(0, 0),
    "empty numbers": [],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_give_positions(repeated, name):
    view = repeated.select(VIEWS[name]) if name == "mask" else repeated[VIEWS[name]]
    ids = [*range(-1, 12), 5]
    assert view.find_many(ids).tolist() == expected(view, ids)
    nested = view[1:]
    assert nested.find_many(ids).tolist() == expected(nested, ids)


def test_an_id_of_many_records(tmp_path):
    write(tmp_path, [recmap.encode_example({"id": "same"})] * 100)
    ds = recmap.open(tmp_path / "made-0.tfrecord", id="id")
    assert ds.find_many(["same"] * 3).tolist() == [0, 0, 0]
    assert ds[::-1].find_many(["same"]).tolist() == [0]
    assert ds[[99, 98]].find_many(["same", "other"]).tolist() == [0, -1]


def test_no_ids_give_no_numbers(repeated):
    assert repeated.find_many([]).shape == (0,)
    assert repeated.find_many(iter([4])).tolist() == [4]


@pytest.mark.parametrize("ids", ["digit-00003", b"x", [1.5], [None], np.array([0.5]), 3])
def test_ids_of_wrong_types_are_refused(digits, ids):
    with pytest.raises(TypeError):
        digits.find_many(ids)


def test_an_index_without_ids(made):
    with pytest.raises(ValueError, match="the index has no ids"):
        made.find_many(["x"])


def test_ids_that_do_not_fit(repeated):
    signed = r"the id 18446744073709551611 is above 2\^63 - 1: ids are signed, look for -5"
    for ids in ([2**64 - 5], np.array([2**64 - 5], np.uint64)):
        with pytest.raises(ValueError, match=signed):
            repeated.find_many(ids)
    with pytest.raises(ValueError, match=signed):
        repeated.find(2**64 - 5)
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match=f"the id {number} is beyond int64"):
            repeated.find_many([number])


def test_an_id_that_closes_the_data_set(repeated):
    class Closing:
        def __index__(self):
            repeated.close()
            return 3

    assert repeated.find_many([Closing(), 4]).tolist() == [3, 4]
    with pytest.raises(ValueError, match="closed"):
        repeated.find_many([3])


def test_ctrl_c_stops_find_many(digits):
    ids = ["digit-00042"] * 20_000_000
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        digits.find_many(ids)
    timer.join()
