"""Lifted columns."""

import numpy as np
import pytest
import recmap


def test_columns(digits):
    columns = digits.columns
    assert set(columns) == {"@length", "label"} and len(columns) == 2
    assert columns["label"].dtype == np.int64
    assert columns["@length"].tolist() == [len(r) for r in digits]
    assert not columns["label"].flags.writeable
    view = digits[5:50:3]
    assert (view.columns["label"] == columns["label"][5:50:3]).all()
    with pytest.raises(KeyError, match="weight"):
        columns["weight"]


def test_columns_with_all_types(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for i in range(10):
            writer.write({"f": i / 4, "b": f"name {i}", **({"i": -i} if i % 2 else {})})
    ds = recmap.open(tmp_path / "a.tfrecord", lift={"f": None, "b": None, "i": -7})
    assert ds.columns["f"].dtype == np.float32
    assert ds.columns["f"].tolist() == [i / 4 for i in range(10)]
    assert ds.columns["b"].tolist() == [f"name {i}".encode() for i in range(10)]
    assert ds.columns["i"].tolist() == [-i if i % 2 else -7 for i in range(10)]
