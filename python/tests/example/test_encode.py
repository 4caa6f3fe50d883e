"""Encoding plain values as tf.Example and tf.SequenceExample."""

import warnings

import numpy as np
import pytest
import recmap
from conftest import write

FEATURES = {
    "int": (7, "int64", 1),
    "negative": (-7, "int64", 1),
    "bool": (True, "int64", 1),
    "float": (0.5, "float", 1),
    "mixed": ([1, 0.5], "float", 2),
    "text": ("ä", "bytes", 1),
    "bytes": (b"\xff", "bytes", 1),
    "list": ([1, 2, 3], "int64", 3),
    "tuple": ((b"a", "b"), "bytes", 2),
    "array": (np.arange(6, dtype=np.int16).reshape(2, 3), "int64", 6),
    "uint8": (np.arange(6, dtype=np.uint8), "int64", 6),
    "float64": (np.ones(3), "float", 3),
    "half": (np.ones(3, np.float16), "float", 3),
    "texts": (np.array(["a", "b"]), "bytes", 2),
    "scalar": (np.float32(1.5), "float", 1),
    "largest": ([3.4028234e38, float("inf"), -np.inf, np.nan, 1e-60], "float", 5),
    "empty array": (np.zeros(0, np.int64), "int64", 0),
    "strided": (np.arange(10)[::3], "int64", 4),
}


@pytest.mark.parametrize("name", FEATURES)
def test_kind_of_list_follows_from_the_value(tmp_path, name):
    value, kind, count = FEATURES[name]
    write(tmp_path, [{name: value}])
    found = recmap.open(tmp_path / "made-0.tfrecord").schema()[name]
    assert (found["kind"], found["min_length"]) == (kind, count)


def test_features_without_a_kind():
    assert recmap.encode_example({"a": None}) == recmap.encode_example({"a": []})


NO_FEATURES = [
    2**63,
    [2**63, -1],
    (np.uint64(2**63), -1),
    [[2**63, -1], [1, 2]],
    1e39,
    [0.5, -1e39],
    np.array([1e39]),
    np.float64(-3.5e38),
    [1, b"x"],
    [b"x", 1],
    [[1], [2, 3]],
    np.array([2**63], np.uint64),
    np.array([b"x", 1], object),
    memoryview(b"1234")[::2],
    object(),
    1j,
    {},
    "\ud800",
]


@pytest.mark.parametrize("value", NO_FEATURES, ids=range(len(NO_FEATURES)))
def test_values_that_cannot_be_encoded_raise(value):
    with pytest.raises((TypeError, ValueError), match="feature 'x': "):
        recmap.encode_example({"a": 1, "x": value})
    with pytest.raises((TypeError, ValueError), match="feature list 'f', step 1: "):
        recmap.encode_sequence_example({}, {"f": [1, value]})


@pytest.mark.parametrize("name", [1, b"x", None])
def test_names_that_are_not_texts_raise(name):
    with pytest.raises(TypeError, match=f"the name of a feature must be a str, not {name!r}"):
        recmap.encode_example({name: 1})
    with pytest.raises(TypeError, match=f"the name of a feature list must be a str, not {name!r}"):
        recmap.encode_sequence_example({}, {name: [1]})


@pytest.mark.parametrize("value", [3, [1], "text", None])
def test_arguments_that_are_not_dicts_raise(value):
    with pytest.raises(TypeError, match="features must be a dict"):
        recmap.encode_example(value)
    if not isinstance(value, list):
        with pytest.raises(TypeError, match=r"feature list 'f': .* is not a list of steps"):
            recmap.encode_sequence_example({}, {"f": value})
    with pytest.raises(TypeError, match="feature lists must be a dict"):
        recmap.encode_sequence_example({}, value)


def test_long_values_are_shortened_in_messages():
    with pytest.raises(TypeError) as raised:
        recmap.encode_example({"x": [1, b"x", *range(10**5)]})
    assert len(str(raised.value)) < 200


def test_sequence_examples_are_encoded():
    encoded = recmap.encode_sequence_example({"id": 3}, {"frames": [[0.5, 1.5], [], b"x"]})
    assert b"frames" in encoded and b"id" in encoded


@pytest.mark.parametrize("dtype", ["S1", "U1", object])
def test_empty_arrays_of_strings_become_empty_bytes_lists(tmp_path, dtype):
    write(tmp_path, [{"b": np.array([], dtype)}])
    found = recmap.open(tmp_path / "made-0.tfrecord").schema()["b"]
    assert (found["kind"], found["max_length"]) == ("bytes", 0)


# Lists of plain numbers have a path of their own. Arrays of objects take the one of all values.
EDGES = {
    "int64": [2**63 - 1, -(2**63), 0],
    "bools": [True, False, 7],
    "zeros": [0.0, -0.0],
    "floats": [2.0**24, -(2.0**24), 0.1, 1e-45, 2.0**-149, -1e-45],
    "infinite": [float("inf"), -float("inf"), float("nan")],
    "rounded": [0.5, 16777217.0],
    "zeroed": [0.5, 1e-60],
    "just zeroed": [0.5, 2.0**-150],
    "not just zeroed": [0.5, 2.0**-150 * 1.001],
    "large": [0.5, 1e38],
    "ints first": [1, 0.5],
    "floats first": [0.5, 1, 2**60],
    "beyond int64": [1, 2**63],
    "beyond floats": [0.5, 1e39],
    "text": [1, "a"],
    "text first": ["a", 1],
    "null": [1, None],
    "null first": [None, 0.5],
    "nested": [[1, 2], [3, 4]],
    "nested later": [1, [2]],
    "complex": [1, 1j],
}


def outcome(value):
    """The encoded feature, or the type of the error, and whether there was a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = recmap.encode_example({"x": value})
        except (TypeError, ValueError) as error:
            return type(error), bool(caught)
    return record, bool(caught)


class OtherList(list):
    """A list that the path of plain lists leaves to the one of all values."""


@pytest.mark.parametrize("name", EDGES)
def test_plain_lists_are_encoded_as_all_others(name):
    values = EDGES[name]
    expected = outcome(OtherList(values))
    assert outcome(list(values)) == expected
    assert outcome(tuple(values)) == expected


NUMBERS = [value for values in EDGES.values() for value in values if value is not None]


@pytest.mark.parametrize("value", NUMBERS, ids=str)
def test_plain_numbers_are_encoded_as_in_a_list(value):
    assert outcome(value) == outcome(OtherList([value]))


@pytest.mark.parametrize("name", ["floats", "infinite", "rounded", "zeroed", "large"])
def test_arrays_of_doubles_are_encoded_as_lists(name):
    array = np.array(EDGES[name])
    expected = outcome(OtherList(EDGES[name]))
    assert outcome(array) == expected
    assert outcome(array.astype(">f8")) == expected
    assert outcome(array.astype(np.longdouble)) == expected
    assert outcome(np.repeat(array, 2)[::2]) == expected


@pytest.mark.parametrize("name", ["zeroed", "just zeroed", "rounded"])
def test_rounding_of_plain_numbers_warns(name):
    assert outcome(EDGES[name])[1]
    assert outcome(EDGES[name][1])[1]
    assert outcome(np.array(EDGES[name]))[1]
    assert not outcome(EDGES["floats"])[1]
