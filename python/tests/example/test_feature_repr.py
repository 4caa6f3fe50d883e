"""Features are shown as the calls that make them."""

import numpy as np
import pytest
import recmap

FEATURES = [
    (recmap.FixedLen((), "int64"), "FixedLen((), 'int64')"),
    (recmap.FixedLen((8, 8), "uint8", raw=True), "FixedLen((8, 8), 'uint8', raw=True)"),
    (recmap.FixedLen((), "float32", 0.5, key="x"), "FixedLen((), 'float32', default=0.5, key='x')"),
    (recmap.FixedLen((), "int64", False), "FixedLen((), 'int64', default=False)"),
    (recmap.VarLen("bytes", copy=True), "VarLen('bytes', copy=True)"),
    (
        recmap.FixedLenSequence((3,), "int64", max_length=8, pad_to=4),
        "FixedLenSequence((3,), 'int64', max_length=8, pad_to=4)",
    ),
    (
        recmap.Ragged("int64", [recmap.RowSplits("rows")]),
        "Ragged('int64', [RowSplits(key='rows')])",
    ),
    (recmap.Sparse("at", "x", "float32", 10), "Sparse('at', 'x', 'float32', 10)"),
    (recmap.Sliced((), "uint16", append=[1]), "Sliced((), 'uint16', append=[1])"),
]


@pytest.mark.parametrize(("feature", "text"), FEATURES)
def test_features_are_shown_as_calls(feature, text):
    assert repr(feature) == text
    assert eval(text, vars(recmap)) == feature


def test_default_array_is_shown():
    feature = recmap.FixedLen((2,), "int64", np.array([1, 2]))
    assert repr(feature) == "FixedLen((2,), 'int64', default=array([1, 2]))"


def test_features_of_a_schema_are_shown(digits):
    assert repr(digits.features()) == (
        "{'id': FixedLen((), 'bytes'), 'image': FixedLen((), 'bytes'), "
        "'label': FixedLen((), 'int64')}"
    )
