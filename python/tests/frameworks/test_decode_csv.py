"""Csv gives what tf.io.decode_csv gives for the same rows."""

import csv
import io
import os
import random

import numpy as np
import pytest
import recmap

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")

SEED = 20260104
DTYPES = ["int32", "int64", "float32", "float64", bytes]


def random_text(made, dtype):
    """A field, without its quotes."""
    if dtype is bytes:
        return "".join(made.choice('ab, "\n1.é') for _ in range(made.randrange(1, 7)))
    if dtype.startswith("int"):
        number = str(made.randrange(-(2**31), 2**31))
    else:
        number = made.choice([f"{made.uniform(-1e6, 1e6)!r}", f"{made.random():.3e}", "7", "inf"])
    return made.choice(["", " "]) + number + made.choice(["", " "])


def write_row(made, fields, delimiter):
    out = io.StringIO(newline="")
    quoting = made.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerow(fields)
    return out.getvalue()[:-1]


def parsed(folder, rows, features, framing, **form):
    (folder / "t.csv").write_text("".join(row + "\n" for row in rows), newline="")
    (folder / "t.rmx").unlink(missing_ok=True)
    ds = recmap.open(folder / "t.csv", framing=framing, index=folder / "t.rmx")
    return ds.parse(range(len(ds)), recmap.Csv(features, **form))


@pytest.mark.parametrize(
    ("delimiter", "kind"), [(",", "csv"), ("\t", "csv:tab"), (";", "csv:semicolon")]
)
@pytest.mark.parametrize("has_defaults", [False, True])
def test_values_are_those_of_decode_csv(tmp_path, delimiter, kind, has_defaults):
    made = random.Random(SEED)
    rows = []
    for _ in range(1500):
        fields = [random_text(made, dtype) for dtype in DTYPES]
        if has_defaults and made.random() < 0.5:
            fields[made.randrange(len(fields))] = made.choice(["", "NA"])
        rows.append(write_row(made, fields, delimiter))
    defaults = [-1, -2, -0.5, 0.25, b"none"]
    features, record_defaults = {}, []
    for i, (dtype, default) in enumerate(zip(DTYPES, defaults, strict=True)):
        features[f"f{i}"] = recmap.FixedLen(
            (), dtype, key=i, default=default if has_defaults else None
        )
        tensor = tf.string if dtype is bytes else dtype
        record_defaults.append(tf.constant([default] if has_defaults else [], tensor))
    na = "NA" if has_defaults else ""
    due = tf.io.decode_csv(rows, record_defaults, field_delim=delimiter, na_value=na)
    batch = parsed(tmp_path, rows, features, f"{kind},noheader", delimiter=delimiter, na=na)
    for i, dtype in enumerate(DTYPES):
        if dtype is bytes:
            assert batch[f"f{i}"].tolist() == due[i].numpy().tolist()
        else:
            np.testing.assert_array_equal(batch[f"f{i}"], due[i].numpy())


def test_without_quotes_and_with_selected_columns(tmp_path):
    rows = ['a,"b,3', '"c",d",4']
    due = tf.io.decode_csv(rows, [[""], [0]], use_quote_delim=False, select_cols=[1, 2])
    features = {
        "t": recmap.FixedLen((), bytes, key=1),
        "n": recmap.FixedLen((), "int32", key=2),
    }
    batch = parsed(tmp_path, rows, features, "csv,noquotes,noheader", quote=None)
    assert batch["t"].tolist() == due[0].numpy().tolist()
    assert batch["n"].tolist() == due[1].numpy().tolist()


@pytest.mark.parametrize(
    ("row", "dtype"),
    [("x", "int32"), ("1.0", "int32"), ("2147483648", "int32"), ("", "int32"), ("1x", "float32"),
     ("", bytes), ('"a"b', bytes), ('"a', bytes), ("1,2", "int32"), ('x"y', bytes),
     (' "x"', bytes), ("x\ry", bytes)],
)  # fmt: skip
def test_what_decode_csv_refuses_is_an_error(tmp_path, row, dtype):
    tensor = tf.string if dtype is bytes else dtype
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_csv([row], [tf.constant([], tensor)])
    (tmp_path / "t.csv").write_text(f"h\n{row}\n")
    with pytest.raises((recmap.FeatureError, recmap.CorruptRecordError)):
        ds = recmap.open(tmp_path / "t.csv", framing="csv")
        ds.parse([0], recmap.Csv({"h": recmap.FixedLen((), dtype)}))
