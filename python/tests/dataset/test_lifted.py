"""Lifted columns."""

import numpy as np
import pytest
import recmap
from conftest import DIGITS, write


def test_lifted_columns_have_their_values(digits):
    columns = digits.columns
    assert set(columns) == {"@length", "label"} and len(columns) == 2
    assert columns["label"].dtype == np.int64
    assert columns["@length"].tolist() == [len(r) for r in digits]
    assert not columns["label"].flags.writeable
    view = digits[5:50:3]
    assert (view.columns["label"] == columns["label"][5:50:3]).all()
    for missing in (
        lambda: columns["weight"],
        lambda: digits.where("weight > 3"),
        lambda: digits.annotate(drop=["weight"]),
    ):
        with pytest.raises(recmap.ColumnNotFoundError, match="weight") as caught:
            missing()
        assert isinstance(caught.value, KeyError)  # but not about an id
        assert not isinstance(caught.value, recmap.IdNotFoundError)


def test_columns_with_all_types(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for i in range(10):
            writer.write({"f": i / 4, "b": f"name {i}", **({"i": -i} if i % 2 else {})})
    ds = recmap.open(tmp_path / "a.tfrecord", lift={"f": None, "b": None, "i": -7})
    assert ds.columns["f"].dtype == np.float32
    assert ds.columns["f"].tolist() == [i / 4 for i in range(10)]
    assert ds.columns["b"].tolist() == [f"name {i}".encode() for i in range(10)]
    assert ds.columns["i"].tolist() == [-i if i % 2 else -7 for i in range(10)]


@pytest.mark.parametrize(
    ("present", "default", "value"),
    [
        (b"de", b"none", b"none"),
        (b"de", "日本".encode(), "日本".encode()),
        (b"de", np.bytes_(b"none"), b"none"),
        (b"de", "none", b"none"),
        (3, True, 1),
        (3, np.False_, 0),
        (3, np.int64(-4), -4),
        (0.5, np.float32(0.25), 0.25),
        (0.5, 2, 2.0),
    ],
)
def test_defaults_replace_missing_values(tmp_path, present, default, value):
    write(tmp_path, [{"x": present}, {"y": 1}])
    ds = recmap.open(tmp_path, lift={"x": default})
    assert ds.columns["x"].tolist() == [present, value]
    recmap.open(tmp_path, lift={"x": default}).close()  # the index has this default
    with recmap.Writer(tmp_path / "b", index=tmp_path / "b.rmx", lift={"x": default}) as writer:
        writer.write({"x": present})
        writer.write({"y": 1})
    assert recmap.open(tmp_path / "b.rmx").columns["x"].tolist() == [present, value]


@pytest.mark.parametrize(
    ("default", "kind", "message"),
    [
        ([1], TypeError, r"'x' must be int, float, str or bytes, not \[1\]"),
        (np.int64, TypeError, "'x' must be int, float, str or bytes, not <class"),
        (b"\xff", ValueError, "'x' must be UTF-8, not b"),
    ],
)
def test_impossible_defaults_are_refused(digits, tmp_path, default, kind, message):
    with pytest.raises(kind, match=message):
        recmap.open(DIGITS, lift={"x": default}, index=tmp_path / "a.rmx")
    with pytest.raises(kind, match=message):
        digits.annotate({"x": {0: 1}}, by="number", default={"x": default})


def test_ranges_of_views_read_no_other_values(digits):
    label, reads = digits.columns["label"], []
    for view in (digits[100:900], digits[::3], digits.select([5, 3, 9, 1])):
        assert view.columns._range("label", 1, 4).tolist() == view.columns["label"][1:4].tolist()
    columns = digits[100:900].columns
    columns._read = lambda *place: reads.append(place) or label[:0]
    columns._range("label", 10, 20)
    (place,) = reads
    assert place[-2:] == (110, 10)
