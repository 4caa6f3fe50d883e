"""Annotated columns of float64: when a column is one, and what reads it."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import recmap
from annotate_helpers import COUNT, column, labelled
from conftest import write


@pytest.fixture
def ds(tmp_path):
    with labelled(tmp_path) as opened:
        yield opened


STAMP = 1_700_000_001


def stamps(*others, count=COUNT):
    return [*(STAMP + i for i in range(count - len(others))), *others]


@pytest.mark.parametrize(
    "values",
    [
        stamps(0.5),
        np.array(stamps(0.5)),
        np.array([0.5, 2.0**63, 2.0**24, *stamps(0.5, count=COUNT - 3)]),
        np.full(COUNT, STAMP - 0.875),
        np.array([0.0, 1e-60, -0.0, 5e-324] * (COUNT // 4)),
        np.array([1e300, -1e300, np.inf, -np.inf, np.nan] * (COUNT // 5)),
        [1732752000.123456 + i / 1e6 for i in range(COUNT)],
        [2**24, -(2**63), float("nan"), 0.1, -0.0] * 20,
    ],
    ids=["list", "array", "later", "time", "tiny", "huge", "fraction", "mixed"],
)
def test_values_that_float32_changes_are_float64(ds, values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.annotate({"ts": values})
    found = ds.columns["ts"]
    assert found.dtype == np.float64
    assert found.tobytes() == np.array(values, np.float64).tobytes()
    assert [c["type"] for c in ds.info["columns"] if c["name"] == "ts"] == ["float64"]


def test_a_column_of_float64_has_missing_values(ds):
    ds.annotate({"ts": stamps(None, 0.5)})
    assert ds.columns["ts"].dtype == np.float64 and column(ds, "ts") == stamps(None, 0.5)
    masked = np.ma.MaskedArray([7.0, *stamps(0.1, count=COUNT - 1)], [True] + [False] * (COUNT - 1))
    ds.annotate({"m": masked}, default={"m": 0.1})
    assert ds.columns["m"].dtype == np.float64
    assert ds.columns["m"][[0, -1]].tolist() == [0.1, 0.1]


@pytest.mark.parametrize(
    ("values", "number"),
    [
        ([2**53 + 1, *stamps(0.5, count=COUNT - 1)], 2**53 + 1),
        ([np.int64(-(2**60) - 1), None, *stamps(0.5, count=COUNT - 2)], -(2**60) - 1),
    ],
    ids=["list", "numpy"],
)
def test_integers_that_float64_rounds_are_named(ds, values, number):
    with pytest.warns(UserWarning) as caught:
        ds.annotate({"ts": values}, default={"ts": 0})
    assert len(caught) == 1 and caught[0].filename == __file__
    message = f"column 'ts': {number} is rounded to {int(float(number))}, because another value"
    assert str(caught[0].message).startswith(message)
    assert ds.columns["ts"].dtype == np.float64


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_doubles_of_other_libraries_are_float64_only_if_float32_changes_them(ds, module):
    library = pytest.importorskip(module)
    of = library.array if module == "pyarrow" else library.Series
    ds.annotate({"same": of([0.5] * COUNT), "other": of([0.1] * COUNT)})
    assert ds.columns["same"].dtype == np.float32 and ds.columns["other"].dtype == np.float64
    assert (ds.columns["other"] == 0.1).all()


def test_integers_of_which_pandas_made_floats_keep_their_values(ds):
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(stamps(None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.annotate({"ts": series, "exact": series.astype("Int64")})
    assert ds.columns["ts"][:-1].tolist() == stamps(None)[:-1]
    assert column(ds, "exact") == stamps(None)


@pytest.mark.parametrize(
    "values",
    [
        np.array(stamps(np.nan), np.float32),
        np.full(COUNT, 2.0**70),
        np.array([2.0**24, -(2.0**63), np.inf, 0.5, 2**23 - 0.5] * 20),
        [2**24, -(2**63), float("nan"), 0.25, -0.0] * 20,
        [1 << 62, 0.5] * 50,
        np.full(COUNT, 0.1, np.float32),
        np.full(COUNT, 0.1, np.float16),
    ],
)
def test_values_that_float32_holds_stay_float32(ds, values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.annotate({"x": values})
    assert ds.columns["x"].dtype == np.float32


def test_numbers_of_files_are_float64_if_float32_changes_them(ds, tmp_path):
    np.save(tmp_path / "ts.npy", np.array(stamps(0.5)))
    (tmp_path / "t.csv").write_text("number,t\n0,1732752000.123456\n1,0.1\n", "utf-8")
    ds.annotate({"ts": tmp_path / "ts.npy", "t": tmp_path / "t.csv"})
    assert ds.columns["ts"].tolist() == stamps(0.5)
    assert ds.columns["t"][:3].tolist() == [1732752000.123456, 0.1, None]


def test_filters_orders_and_views_read_a_column_of_float64(ds):
    """Conditions, weights, shares, views, concatenations and other columns."""
    values = np.arange(COUNT) / 10 + 1732752000.123456
    ds.annotate({"ts": values, "float": np.float32(values), "weight": np.arange(COUNT) / 1e9})
    assert ds.where("ts == 1732752000.223456").numbers.tolist() == [1]
    assert ds.where("ts in [1732752000.223456, 5]").numbers.tolist() == [1]
    found = ds.where("ts > float").numbers
    assert found.tolist() == np.flatnonzero(values > np.float32(values).astype(float)).tolist()
    assert (
        ds.where("weight < label").numbers.tolist()
        == np.flatnonzero(np.arange(COUNT) / 1e9 < ds.columns["label"]).tolist()
    )
    assert ds[5:8].columns["ts"].tolist() == values[5:8].tolist()
    order = recmap.Weighted(ds.columns["weight"], seed=1)
    expected = recmap.Weighted(np.arange(COUNT) / 1e9, seed=1)
    assert order.at(0, range(50)).tolist() == expected.at(0, range(50)).tolist()
    assert recmap.concat([ds, ds]).columns["ts"].tolist() == [*values, *values]


def manifest_has_version(path, version):
    """Returns true if a manifest begins with this format version and the number of records."""
    return bytes([8, version, 16, COUNT]) in Path(path).read_bytes()


def test_only_an_index_with_float64_is_of_format_4(ds):
    """Older versions of the library read the others, and refuse this one with its version."""
    path = Path(ds.index_path)
    before = path.read_bytes()
    assert manifest_has_version(path, 1)
    ds.annotate({"x": np.full(COUNT, 0.1)})
    assert manifest_has_version(path, 4) and not manifest_has_version(path, 1)
    assert b"\x0a\x01x\x10\x02\x30\x01\x40\x01" in path.read_bytes()  # type float, and a flag
    ds.annotate({"y": np.full(COUNT, 0.5)})
    assert manifest_has_version(path, 4)
    ds.annotate(drop=["x", "y"])
    assert path.read_bytes() == before


def test_appended_records_get_their_feature_in_a_column_of_float64(ds, tmp_path):
    """They get the value of their feature, whose floats have 32 bits, or null."""
    ds.annotate({"x": np.full(COUNT, 0.1)})
    more = [{"label": 1, "id": "a", "x": np.float32(0.1)}, {"label": 2, "id": "b"}]
    write(tmp_path, map(recmap.encode_example, more), name="more.tfrecord")
    files = [tmp_path / "made-0.tfrecord", tmp_path / "more.tfrecord"]
    with recmap.open(files, index=ds.index_path, id="id", lift=["label"]) as grown:
        found = grown.columns["x"]
        assert found.dtype == np.float64 and grown.verify()
        assert found.tolist() == [0.1] * COUNT + [float(np.float32(0.1)), None]


def test_concatenations_and_merged_indexes_widen_floats(tmp_path):
    paths = []
    for i, values in enumerate(([0.5, 0.25], [0.1, None], [1.5, 2.5])):
        records = [recmap.encode_example({"n": k}) for k in (1, 2)]
        write(tmp_path, records, name=f"{i}.tfrecord")
        part = recmap.open(tmp_path / f"{i}.tfrecord", index=tmp_path / f"{i}.rmx")
        part.annotate({"x": np.ma.masked_invalid(np.array(values, float))})
        paths.append(part)
    assert [part.columns["x"].dtype for part in paths] == [np.float32, np.float64, np.float32]
    expected = [0.5, 0.25, 0.1, None, 1.5, 2.5]
    joined = recmap.concat(paths)
    assert joined.columns["x"].dtype == np.float64 and joined.columns["x"].tolist() == expected
    assert joined.where("x == 0.1 or x == 2.5").numbers.tolist() == [2, 5]
    indexes = [tmp_path / f"{i}.rmx" for i in range(3)]
    recmap.merge(tmp_path / "all.rmx", indexes, progress=None)
    with recmap.open(tmp_path / "all.rmx") as merged:
        assert merged.columns["x"].dtype == np.float64 and column(merged, "x") == expected
        assert merged.verify()
