"""Tensors with unknown dimensions, which records hold flat: `nest` restores their shape."""

import zlib

import numpy as np
import pytest
import recmap
from prepared_set import group, prepare, sequence, tensor

FEATURES = group(
    plain=tensor("float32", (2, -1)),
    text=tensor("string", (2, -1)),
    wide=tensor("uint64", (1, -1, 2)),
    bytes=tensor("int16", (2, -1), encoding="bytes"),
    zlib=tensor("int16", (3, -1, 2), encoding="zlib"),
    three=sequence(tensor("int64", (-1, 2)), length=3),
    free=tensor("uint8", (-1, -1), encoding="bytes"),
)


def record(n):
    return {
        "plain": np.arange(2 * n, dtype=np.float32),
        "text": [b"%d\0" % i for i in range(2 * n)],
        "wide": np.arange(2 * n),
        "bytes": np.arange(2 * n, dtype=np.int16).tobytes(),
        "zlib": zlib.compress(np.arange(6 * n, dtype=np.int16).tobytes()),
        "three": np.arange(6 * n),
        "free/value": bytes(range(2 * n)),
        "free/shape": [n, 2],
    }


def opened(folder, features, records):
    shard = [recmap.encode_example(record) for record in records]
    return recmap.tfds.open(prepare(folder, features, {"train": [shard]}))


def test_nest_restores_shapes(tmp_path):
    ds = opened(tmp_path, FEATURES, [record(n) for n in (2, 0, 3)])
    nested = recmap.tfds.nest(ds.parse(range(3), ds.features()))
    assert list(nested) == list(FEATURES["featuresDict"]["features"])
    for row, n in enumerate((2, 0, 3)):
        shapes = {name: column[row].shape for name, column in nested.items()}
        assert shapes == {
            "plain": (2, n), "text": (2, n), "wide": (1, n, 2), "bytes": (2, n), "zlib": (3, n, 2),
            "three": (3, n, 2), "free": (n, 2),
        }  # fmt: skip
        for name, column in nested.items():
            values = range(len(column[row].ravel()))
            expected = [b"%d\0" % i for i in values] if name == "text" else [*values]
            assert column[row].ravel().tolist() == expected
    assert nested["wide"][0].dtype == np.uint64


def test_values_that_have_no_such_shape(tmp_path):
    ds = opened(tmp_path, group(a=tensor("float32", (2, -1))), [{"a": [1.0, 2.0, 3.0]}])
    columns = ds.parse([0], ds.features())
    assert columns["a"].tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match=r"values of 'a' do not have their shape.*size 3 into"):
        recmap.tfds.nest(columns)


def test_lists_of_encoded_tensors_stay_bytes(tmp_path):
    features = group(a=sequence(tensor("uint8", (-1, -1), encoding="bytes")))
    with pytest.warns(UserWarning, match=r"'a' is delivered as bytes: .*whose shape is in 'a/sh"):
        ds = opened(tmp_path, features, [{"a/value": [b"xy", b"z"], "a/shape": [1, 2, 1, 1]}])
    nested = recmap.tfds.nest(ds.parse([0], ds.features()))
    assert {name: column.tolist() for name, column in nested.items()} == {"a": [[b"xy", b"z"]]}


def test_tensors_with_a_dimension_of_0_are_empty(tmp_path):
    """As TFDS stores them."""
    features = group(
        plain=tensor("float32", (0, 3)),
        text=tensor("string", (2, 0)),
        bytes=tensor("uint8", (2, 0), encoding="bytes"),
        zlib=tensor("int16", (0,), encoding="zlib"),
        none=sequence(tensor("int64", ()), length=0),
    )
    record = {"plain": [], "text": [], "bytes": b"", "zlib": zlib.compress(b""), "none": []}
    ds = opened(tmp_path, features, [record, record])
    nested = recmap.tfds.nest(ds.parse(range(2), ds.features()))
    shapes = {"plain": (0, 3), "text": (2, 0), "bytes": (2, 0), "zlib": (0,), "none": (0,)}
    for row in range(2):
        assert {name: column[row].shape for name, column in nested.items()} == shapes
    dtypes = [column[0].dtype for column in nested.values()]
    assert dtypes == ["float32", "object", "uint8", "int16", "int64"]
