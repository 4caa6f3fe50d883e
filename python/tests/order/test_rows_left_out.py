"""Elements that no row has: counted exactly, and told if there are many."""

import pickle
import warnings

import numpy as np
import pytest
import recmap

COUNTS = np.random.default_rng(5).integers(0, 60, 300)
COUNTS[7] = 700


def lacking(order, add=0):
    """The elements that no piece of an epoch has, counted one by one."""
    lengths = COUNTS + np.where(COUNTS > 0, add, 0)
    seen = [np.zeros(length, bool) for length in lengths]
    for position in range(len(order)):
        for record, first, count in order.pieces(3, position).tolist():
            seen[record][first : first + count] = True
    return sum(int((~of_record).sum()) for of_record in seen)


def quiet(kind, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(COUNTS, *arguments, **options)


@pytest.mark.parametrize("add", [0, 2])
@pytest.mark.parametrize("overlap", [0, 1, 30])
@pytest.mark.parametrize("last", ["drop", "pad"])
def test_the_tail_of_a_stream(last, overlap, add):
    for size in 31, 128, 5000:
        order = quiet(recmap.Chunked, size, overlap=overlap, add=add, last=last)
        assert order.left_out == lacking(order, add)
        assert last == "drop" or order.left_out == 0


@pytest.mark.parametrize("add", [0, 2])
@pytest.mark.parametrize("long", ["split", "truncate", "drop"])
def test_long_documents_are_left_out_as_asked(long, add):
    for size in 16, 40, 1000:
        order = quiet(recmap.Packed, size, add=add, long=long, group=64)
        assert order.left_out == lacking(order, add)
        assert (order.left_out == 0) == (long == "split" or size == 1000)


@pytest.mark.parametrize("pad", [(0, 0), (3, 0), (0, 4), (7, 7)])
def test_steps_that_no_window_reaches(pad):
    for size in 8, 50:
        for stride in 1, 3, 8, 13, 70:
            order = quiet(recmap.Windows, size, stride=stride, pad=pad)
            assert order.left_out == lacking(order)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: recmap.Packed([1008, 8], 16, long="truncate"),
            r'the rows leave out 992 of 1016 elements \(98%\): long="truncate" does so with doc',
        ),
        (lambda: recmap.Packed([9, 1], 4, long="drop"), r'leave out 9 of 10 .*"split" keeps all'),
        (lambda: recmap.Chunked([19], 10), r'leave out 9 of 19 .* \(47%\): last="pad" gives the'),
        (lambda: recmap.Windows([3, 9, 3], 4), r"leave out 6 of 15 .*: records shorter than a win"),
    ],
)
def test_more_than_a_tenth_is_warned_of(make, message):
    with pytest.warns(UserWarning, match=message) as caught:
        order = make()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(order)).left_out == order.left_out


def test_a_little_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recmap.Chunked([109], 10).left_out == 9
        assert recmap.Packed([90, 11], 90, long="drop").left_out == 0
        assert recmap.Windows([90] * 9 + [1], 90).left_out == 1
        assert recmap.Windows([100], 10, stride=40).left_out == 70  # asked for
        assert recmap.Chunked([5], 10).left_out == 5  # a loader says that there are no rows
