"""Arguments of orders and loaders that look like numbers but are not, and weights that are lost."""

import datetime
import decimal
import fractions
import warnings

import numpy as np
import pytest
import recmap

NOT_NUMBERS = {
    "texts": ["1", "2", "3"],
    "bytes": [b"1", b"2", b"3"],
    "dates": np.array(["2024-01-01"] * 3, "datetime64[D]"),
    "spans": np.array([1, 2, 3], "timedelta64[s]"),
    "days": [datetime.date(2024, 1, 1)] * 3,
    "complex": [1j, 2, 3],
    "objects": np.array([1j, 2, 3], object),
    "none": [1, None, 3],
}


@pytest.mark.parametrize("weights", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_weights_that_are_not_numbers_are_refused(weights):
    with pytest.raises(TypeError, match="weights must be a list or array of numbers, not"):
        recmap.Weighted(weights)
    sources = [recmap.Sequential(5)] * 3
    for given in weights, {0: [1, 1, 1], 9: weights}:
        with pytest.raises(TypeError, match="weights must be a list or array of numbers, not"):
            recmap.Mixture(sources, given)
    with pytest.raises(TypeError, match="bounds must be a list or array of integers, not"):
        recmap.Bucketed([1, 2, 3], weights, 2)


def test_weights_of_all_kinds_of_numbers():
    expected = recmap.Weighted([1.0, 0.5, 2.0], seed=3).describe()
    for weights in (
        (1, 0.5, 2),
        np.array([1, 0.5, 2], np.float16),
        [fractions.Fraction(1), fractions.Fraction(1, 2), 2],
        [decimal.Decimal(1), decimal.Decimal("0.5"), decimal.Decimal(2)],
        np.array([1, 0.5, 2], object),
    ):
        assert recmap.Weighted(weights, seed=3).describe() == expected
    assert len(recmap.Weighted(np.array([True, False, True]))) == 3


def test_bounds_are_not_rounded():
    with pytest.raises(TypeError, match=r"bounds must be integers, not 2\.5"):
        recmap.Bucketed([1, 2, 3], [1, 2.5], 2)
    assert len(recmap.Bucketed([1, 2, 3], [1.0, 2.0], 2)) == 3


def test_a_share_below_that_of_one_position_is_warned_of():
    sources = [recmap.Sequential(5)] * 3
    for weights in [1, 1, 1e-9], {0: [1, 1, 0], 9: [1, 1, 1e-9]}:
        with pytest.warns(UserWarning, match=r"source 2 has 5e-10 of the weights, .* 9.5e-07 of"):
            recmap.Mixture(sources, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for third in 0, 3e-6, 1e-3, 1e300:
            recmap.Mixture(sources, [1, 1, third] if third < 2 else [third, third, third])


BOOLS = {
    "seed": lambda ds, yes: recmap.Shuffled(10, seed=yes),
    "seed of a loader": lambda ds, yes: recmap.Loader(ds, 5, shuffle=True, seed=yes),
    "seed of a sample": lambda ds, yes: ds.sample(5, seed=yes),
    "seed of a split": lambda ds, yes: ds.split({"a": 1.0}, seed=yes),
    "n": lambda ds, yes: recmap.Sequential(yes),
    "sample": lambda ds, yes: ds.sample(yes),
    "batch_size": lambda ds, yes: recmap.Loader(ds, yes),
    "batch_size of groups": lambda ds, yes: recmap.Grouped([1, 2], yes),
    "rank": lambda ds, yes: recmap.Loader(ds, 5, rank=yes, world_size=2),
    "world_size": lambda ds, yes: recmap.Loader(ds, 5, rank=0, world_size=yes),
    "epochs": lambda ds, yes: recmap.Loader(ds, 5, epochs=yes),
    "epoch": lambda ds, yes: recmap.Shuffled(10).at(yes, 3),
    "position": lambda ds, yes: recmap.Shuffled(10).at(0, yes),
    "threads": lambda ds, yes: recmap.Loader(ds, 5, threads=yes),
    "seek": lambda ds, yes: recmap.Loader(ds, 5).seek(yes),
    "stop": lambda ds, yes: recmap.Mixture([recmap.Sequential(5)], [1], stop=yes),
}


@pytest.mark.parametrize("call", BOOLS.values(), ids=BOOLS)
@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_bools_are_not_numbers(digits, call, kind):
    with pytest.raises((TypeError, ValueError), match=r"True"):
        call(digits, kind(True))


@pytest.mark.parametrize(
    ("take", "what"),
    [
        (recmap.Weighted, "weights"),
        (lambda given: recmap.Mixture([recmap.Sequential(3)] * 3, given), "weights"),
        (lambda given: recmap.Grouped(given, 2), "groups"),
        (lambda given: recmap.Stratified(given, 2), "groups"),
        (lambda given: recmap.Bucketed(given, [2], 2), "lengths"),
        (lambda given: recmap.Packed(given, 4), "counts"),
        (lambda given: recmap.Sequential(3).select(given > 0), "values of the mask"),
    ],
    ids=["Weighted", "Mixture", "Grouped", "Stratified", "Bucketed", "Packed", "select"],
)
def test_an_index_of_pandas_is_not_ignored(take, what):
    pandas = pytest.importorskip("pandas")
    values = pandas.Series([1, 2, 3])
    assert repr(take(values)) == repr(take(values.to_numpy()))
    for given in values[::-1], values.set_axis(["a", "b", "c"]):
        with pytest.raises(ValueError, match=rf"^the {what} have an index of pandas.*reset_index"):
            take(given)
        take(given.reset_index(drop=True))
