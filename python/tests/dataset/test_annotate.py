"""Columns that are added to an index, from Python's values, tables and files."""

import shutil
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import recmap
from conftest import write
from object_server import ObjectServer

COUNT = 100


@pytest.fixture
def ds(tmp_path):
    records = [recmap.encode_example({"label": i % 5, "id": f"r{i}"}) for i in range(COUNT)]
    write(tmp_path, records)
    with recmap.open(tmp_path, lift=["label"], id="id", index=tmp_path / "a.rmx") as opened:
        yield opened


SCORES = np.arange(COUNT) / 8
IDS = [f"r{i}" for i in range(COUNT)]


def column(ds, name="score"):
    """The column, as this data set and one that is opened now have it."""
    values = ds.columns[name]
    with recmap.open(ds.index_path) as again:
        assert np.array_equal(again.columns[name], values)
    return values.tolist()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (SCORES, np.float32),
        (SCORES.tolist(), np.float32),
        (np.arange(COUNT, dtype=np.uint8), np.int64),
        (list(range(COUNT)), np.int64),
        ([i % 2 == 0 for i in range(COUNT)], np.int64),
        (range(COUNT), np.int64),
        (np.arange(COUNT)[::-1], np.int64),
    ],
    ids=["float64", "floats", "uint8", "ints", "bools", "range", "reversed"],
)
def test_one_value_for_each_record(ds, values, kind):
    assert ds.annotate({"score": values}, by="number") is ds
    assert ds.columns["score"].dtype == kind
    assert column(ds) == [float(value) for value in values]
    assert column(ds, "label") == [i % 5 for i in range(COUNT)]
    assert ds.find("r7") == 7 and bytes(ds[7]) == recmap.encode_example({"label": 2, "id": "r7"})


def test_texts(ds):
    texts = [("de", "日本", b"fr", "")[i % 4] for i in range(COUNT)]
    ds.annotate({"lang": texts, "numpy": np.array(texts[:2] * 50), "s": np.array([b"x"] * COUNT)})
    assert len(ds.where("lang == '日本' and numpy == '日本' and s == 'x'")) == 25
    assert (ds.columns["lang"] == "").sum() == 25


@pytest.mark.parametrize(
    "values",
    [
        dict(zip(IDS, SCORES.tolist(), strict=True)),
        (IDS, SCORES),
        (np.array(IDS)[::-1], SCORES[::-1]),
        ([name.encode() for name in IDS], SCORES.tolist()),
    ],
    ids=["dict", "tuple", "arrays", "bytes"],
)
def test_values_by_id(ds, values):
    ds.annotate({"score": values}, by="id")
    assert column(ds) == SCORES.tolist()


def test_keys_as_a_column(ds):
    ds.annotate({"id": IDS[::-1], "score": SCORES[::-1], "rank": np.arange(COUNT)}, by="id")
    assert column(ds) == SCORES.tolist() and column(ds, "rank") == list(range(COUNT))[::-1]
    ds.annotate({"number": [3, 1], "x": [30, 10]}, by="number", default={"x": -1})
    assert column(ds, "x")[:4] == [-1, 10, -1, 30]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables(ds, library):
    tables = pytest.importorskip(library)
    make = tables.table if library == "pyarrow" else tables.DataFrame
    table = make({"id": IDS[:50], "score": SCORES[:50], "lang": ["de", None] * 25})
    default = {"score": 0, "lang": "?"}
    ds.annotate(table, by="id", default=default)
    expected = [*SCORES[:50].tolist(), *[0] * 50]
    assert column(ds) == expected
    assert column(ds, "lang") == [b"de" if i < 50 and i % 2 == 0 else b"?" for i in range(COUNT)]
    ds.annotate({"score": table}, by="id", default={"score": 0}, drop=["score"])
    assert column(ds) == expected


def test_a_series_with_ids_as_its_index(ds):
    pandas = pytest.importorskip("pandas")
    ds.annotate({"score": pandas.Series(SCORES[::-1], index=IDS[::-1])}, by="id")
    assert column(ds) == SCORES.tolist()


def test_files(ds, tmp_path):
    rows = "".join(f"r{i},{i}\n" for i in range(COUNT))
    (tmp_path / "s.csv").write_text(f"id,score\n{rows}")
    np.save(tmp_path / "t.npy", SCORES)
    ds.annotate({"score": tmp_path / "s.csv", "t": str(tmp_path / "t.npy")})
    assert column(ds) == list(range(COUNT)) and column(ds, "t") == SCORES.tolist()


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (np.arange(COUNT, dtype="<i4"), np.int64, list(range(COUNT))),
        (np.arange(COUNT, dtype=">i2"), np.int64, list(range(COUNT))),
        (np.arange(COUNT, dtype="u1"), np.int64, list(range(COUNT))),
        (np.arange(COUNT) % 2 == 0, np.int64, [1, 0] * 50),
        (np.array([0.5, 2.0**63, -np.inf, 2.0**24] * 25), np.float32, None),
        (np.array([1.5, -1700000001, 1e300, 0] * 25), np.float64, None),
        (np.array([0.1, -1700000001] * 50, np.float32), np.float32, None),
        (np.array([b"t", b"t\0u", b"long", b""] * 25), None, [b"t", b"t\0u", b"long", b""] * 25),
        (np.array(["t", "日本"] * 50), None, [b"t", "日本".encode()] * 50),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, np.ndarray) else "",
)
def test_a_numpy_file_has_a_value_for_each_record(ds, tmp_path, values, kind, expected):
    """In their order, also if other columns of the call have keys."""
    np.save(tmp_path / "S.NPY.npy", values)
    (tmp_path / "S.NPY.npy").rename(tmp_path / "S.NPY")
    ds.annotate({"id": IDS[::-1], "score": tmp_path / "S.NPY", "x": SCORES})
    assert column(ds) == (values.tolist() if expected is None else expected)
    assert column(ds, "x") == SCORES[::-1].tolist()
    assert kind is None or ds.columns["score"].dtype == kind


def test_a_numpy_file_for_no_records(tmp_path):
    write(tmp_path, [])
    with pytest.warns(UserWarning, match="no records"):
        ds = recmap.open(tmp_path / "made-0.tfrecord")
    np.save(tmp_path / "s.npy", np.zeros(0, np.int32))
    with ds:
        ds.annotate({"s": tmp_path / "s.npy"}, default={"s": 1})
        assert ds.columns["s"].tolist() == []


def test_numpy_files_that_are_refused(ds, tmp_path):
    """The error names the file, and the index is unchanged. Pickles are not read."""
    path, before = tmp_path / "s.npy", ds.fingerprint
    np.save(path, np.arange(COUNT))
    cut = path.read_bytes()[:-1]
    with open(tmp_path / "zipped", "wb") as file:
        np.savez(file, a=SCORES)
    for data, message in (
        (b"", r"s\.npy: .*expected"),
        (b"id,score\n", "magic string is not correct"),
        ((tmp_path / "zipped").read_bytes(), "magic string is not correct"),
        (cut, "s.npy: mmap length is greater"),
        (np.array([{}] * COUNT), "Python objects"),
        (np.zeros((COUNT, 1)), "the array has 2 dimensions, not one"),
        (np.float32(1), "the array has 0 dimensions, not one"),
        (SCORES[1:], "s.npy: column 'score' has 99 values, but the data set has 100 records"),
        (np.full(COUNT, 2**63, np.uint64), "s.npy: column 'score': a value is beyond int64"),
        (np.zeros(COUNT, "c8"), "s.npy: column 'score': values of type complex64"),
    ):
        if isinstance(data, bytes):
            path.write_bytes(data)
        else:
            np.save(path, data)
        with pytest.raises(ValueError, match=message):
            ds.annotate({"score": path})
    np.save(path, SCORES)
    with pytest.raises(ValueError, match=r"s\.npy: column 'score' has no ids"):
        ds.annotate({"score": path}, by="id")
    with pytest.raises(FileNotFoundError):
        ds.annotate({"score": tmp_path / "absent.npy"})
    assert ds.fingerprint == before and "score" not in ds.columns


def test_a_text_among_numbers_of_a_file_is_named(ds, tmp_path):
    path = tmp_path / "s.csv"

    def write_scores(typo):
        rows = "".join(f"r{i},{typo if i == 7 else i / 8}\n" for i in range(COUNT))
        path.write_text(f"id,score\n{rows}")

    write_scores("o.5")
    message = r's\.csv: line 9: "o\.5" makes column "score" one of texts, although 99 of its 100'
    with pytest.warns(UserWarning, match=message) as caught:
        ds.annotate({"score": path})
    assert len(caught) == 1 and caught[0].filename == __file__
    assert column(ds)[6:9] == [b"0.75", b"o.5", b"1.0"]
    write_scores("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.annotate({"score": path}, drop=["score"])
    assert ds.columns["score"].dtype == np.float32


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


def test_float64_with_missing_values(ds):
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
def test_series_of_doubles(ds, module):
    library = pytest.importorskip(module)
    of = library.array if module == "pyarrow" else library.Series
    ds.annotate({"same": of([0.5] * COUNT), "other": of([0.1] * COUNT)})
    assert ds.columns["same"].dtype == np.float32 and ds.columns["other"].dtype == np.float64
    assert (ds.columns["other"] == 0.1).all()


def test_integers_of_which_pandas_made_floats(ds):
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


def test_files_of_float64(ds, tmp_path):
    np.save(tmp_path / "ts.npy", np.array(stamps(0.5)))
    (tmp_path / "t.csv").write_text("number,t\n0,1732752000.123456\n1,0.1\n", "utf-8")
    ds.annotate({"ts": tmp_path / "ts.npy", "t": tmp_path / "t.csv"})
    assert ds.columns["ts"].tolist() == stamps(0.5)
    assert ds.columns["t"][:3].tolist() == [1732752000.123456, 0.1, None]


def test_what_reads_a_column_of_float64(ds):
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


def test_records_appended_to_a_column_of_float64(ds, tmp_path):
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


def test_missing_values(ds):
    values = [None if i == 3 else i for i in range(COUNT)]
    ds.annotate({"score": values})
    assert column(ds)[2:5] == [2, None, 4]
    ds.annotate({"score": values}, default={"score": -5}, drop=["score"])
    assert column(ds)[2:5] == [2, -5, 4]
    ds.annotate({"f": {3: float("nan")}}, default={"f": 0.5})
    assert np.isnan(ds.columns["f"][3]) and ds.columns["f"][4] == 0.5


@pytest.mark.parametrize("on", ["id", "number"])
def test_all_or_no_values_missing(ds, on):
    keys = IDS if on == "id" else np.arange(COUNT)
    keys_before = list(keys)
    ds.annotate({"all": (keys, [None] * COUNT), "none": (keys, SCORES)}, on=on)
    assert ds.columns["all"].tolist() == [None] * COUNT and column(ds, "none") == SCORES.tolist()
    with pytest.raises(ValueError, match='two rows of column "x" are for record 0'):
        ds.annotate({"x": (keys[:1] * 2 if on == "id" else [0, 0], [None, None])}, on=on)
    with pytest.raises(ValueError, match=f"no record has the {on}"):
        ds.annotate({"x": (["none"] if on == "id" else [COUNT], [None])}, on=on)
    assert list(keys) == keys_before


@pytest.mark.parametrize("values", [5, None, 0.5, b"text", {1, 2}, frozenset(range(COUNT))])
def test_values_that_have_no_order(ds, values):
    message = "the values of column 'x' must be a list or an array, with one for each record, not"
    with pytest.raises(TypeError, match=message):
        ds.annotate({"x": values})


def test_values_of_an_iterator(ds):
    ds.annotate({"x": (i * i for i in range(COUNT))})
    assert column(ds, "x") == [i * i for i in range(COUNT)]
    with pytest.raises(ValueError, match=f"has 3 values, but the data set has {COUNT} records"):
        ds.annotate({"y": iter(range(3))})


def test_names_that_are_not_texts(ds):
    with pytest.raises(TypeError, match="the name of a column must be a str, not 5"):
        ds.annotate({5: SCORES})


@pytest.mark.parametrize("values", [[2**63, -1], [2**63, -1, None], [2**64], [-(2**63) - 1, None]])
def test_integers_beyond_64_bits(ds, values):
    """NumPy makes floats of the first list."""
    before = ds.fingerprint
    for keys in range(len(values)), [f"r{i}" for i in range(len(values))]:
        on = "number" if isinstance(keys, range) else "id"
        with pytest.raises(ValueError, match="a value is beyond int64"):
            ds.annotate({"x": (keys, values)}, on=on)
    with pytest.raises(ValueError, match="a value is beyond int64"):
        ds.annotate({"x": ([2**63, -1], [1, 2])}, by="number")
    assert ds.fingerprint == before
    ds.annotate({"x": ([0, 1], [2**63 - 1, -(2**63)])}, by="number")
    assert column(ds, "x")[:2] == [2**63 - 1, -(2**63)]


def test_arrays_that_cannot_be_written(ds):
    numbers, scores = np.arange(COUNT)[::-1].copy(), SCORES[::-1].astype(np.float32)
    for array in (numbers, scores):
        array.flags.writeable = False
    ds.annotate({"score": (numbers, scores)}, by="number")
    assert column(ds) == SCORES.tolist()
    ds.annotate({"big": (numbers.astype(">i8"), scores.astype(">f4"))}, by="number")
    assert column(ds, "big") == SCORES.tolist()


def test_masked_values_are_missing(ds):
    values = np.ma.MaskedArray(np.arange(COUNT), np.arange(COUNT) == 3)
    ds.annotate({"score": values})
    assert column(ds)[2:5] == [2, None, 4] and ds.columns["score"].dtype == np.int64
    ds.annotate({"score": values}, default={"score": -5}, drop=["score"])
    assert column(ds)[2:5] == [2, -5, 4]


def test_nulls_of_polars_are_missing(ds):
    polars = pytest.importorskip("polars")
    values = polars.Series([None if i == 3 else i for i in range(COUNT)])
    assert values.dtype == polars.Int64
    ds.annotate({"score": values})
    assert column(ds)[2:5] == [2, None, 4] and ds.columns["score"].dtype == np.int64
    ds.annotate({"score": values}, default={"score": -5}, drop=["score"])
    assert ds.columns["score"].dtype == np.int64
    assert column(ds)[2:5] == [2, -5, 4]


@pytest.mark.parametrize("chunked", [False, True], ids=["array", "chunked"])
def test_arrays_of_arrow_without_nulls(ds, chunked):
    """Those that cannot become arrays of NumPy without a copy, as values and as ids."""
    pyarrow = pytest.importorskip("pyarrow")

    def make(values):
        array = pyarrow.array(values)
        return pyarrow.chunked_array([array[:7], array[7:]]) if chunked else array

    texts = [("de", "日本")[i % 2] for i in range(COUNT)]
    values = {
        "id": make(IDS[::-1]),
        "lang": make(texts),
        "raw": make([text.encode() for text in texts]),
        "even": make([i % 2 == 0 for i in range(COUNT)]),
        "dictionary": make(texts).dictionary_encode(),
        "n": make(range(COUNT)),
    }
    ds.annotate(values, by="id")
    ds.annotate({"m": (values["n"], values["n"])}, by="number")
    backwards = [text.encode() for text in texts[::-1]]
    assert column(ds, "lang") == column(ds, "raw") == column(ds, "dictionary") == backwards
    assert column(ds, "even") == [i % 2 for i in range(COUNT)]
    assert column(ds, "n") == column(ds, "m")[::-1] == list(range(COUNT))[::-1]


needs_string_dtype = pytest.mark.skipif(
    not hasattr(getattr(np, "dtypes", None), "StringDType"), reason="StringDType needs NumPy 2"
)


@needs_string_dtype
@pytest.mark.parametrize("missing", [None, float("nan"), "?"], ids=["None", "nan", "text"])
def test_missing_values_of_string_dtype(ds, missing):
    dtype = np.dtypes.StringDType(na_object=missing)
    texts = [("de", "日本", missing, "")[i % 4] for i in range(COUNT)]
    ds.annotate({"lang": np.array(texts, dtype)})
    assert column(ds, "lang") == [b"de", "日本".encode(), None, b""] * (COUNT // 4)
    ds.annotate({"none": np.full(COUNT, missing, dtype)}, default={"none": "x"})
    assert column(ds, "none") == [b"x"] * COUNT


@needs_string_dtype
def test_texts_and_ids_of_string_dtype(ds):
    dtype = np.dtypes.StringDType()
    masked = np.ma.MaskedArray(np.array(IDS, dtype), np.arange(COUNT) == 3)
    ds.annotate({"name": (np.array(IDS[::-1], dtype), np.array(IDS, dtype))}, by="id")
    ds.annotate({"masked": masked})
    names = [name.encode() for name in IDS]
    assert column(ds, "name") == names[::-1]
    assert column(ds, "masked") == [*names[:3], None, *names[4:]]


def test_drop_and_rename(ds):
    ds.annotate({"label": [7] * COUNT}, rename={"label": "old"})
    ds.annotate(drop=["label"], rename={"old": "older"})
    assert list(ds.columns) == ["@length", "older"]
    with pytest.raises(KeyError, match='no column "x"'):
        ds.annotate(drop=["x"])


def test_views_and_other_data_sets_keep_their_columns(ds):
    view = ds[:10]
    ds.annotate({"score": SCORES})
    assert "score" not in view.columns and "score" in ds[:10].columns
    assert bytes(view[3]) == bytes(ds[3])
    with pytest.raises(ValueError, match="annotate the whole data set"):
        view.annotate({"x": SCORES[:10]})
    with pytest.raises(ValueError, match="a concatenation has no index"):
        recmap.concat([ds, ds]).annotate({"x": [1] * 2 * COUNT})


def test_a_replaced_index(ds, tmp_path):
    with recmap.open(ds.index_path) as other:
        write(tmp_path, [recmap.encode_example({"label": 1, "id": "new"})], name="more.tfrecord")
        files = [*sorted(tmp_path.glob("made-*")), tmp_path / "more.tfrecord"]
        recmap.open(files, index=ds.index_path, lift=["label"], id="id").close()
        with pytest.raises(recmap.StaleIndexError, match="open the data set again"):
            other.annotate({"score": SCORES})


@pytest.mark.parametrize(
    ("columns", "on", "message"),
    [
        ({"s": {"r0": 1, "x": 2}}, "id", 'column "s": no record has the id "x"'),
        ({"s": (["r0", "r0"], [1, 2])}, "id", 'two rows of column "s" are for record 0'),
        ({"s": {-1: 1}}, "number", 'column "s": no record has the number -1'),
        ({"s": {COUNT: 1}}, "number", f"no record has the number {COUNT}"),
        ({"s": SCORES}, "id", "has no ids"),
        ({"s": SCORES[1:]}, "number", "has 99 values, but the data set has 100 records"),
        ({"s": (["r0"], [1, 2])}, "id", "has 2 values for 1 key"),
        ({"s": ["x"] * 7 + ["x" * 256] * 93}, None, 'record 7: a text of 256 bytes for column "s"'),
        ({"s": {"r8": "x" * 257}}, "id", 'id "r8": a text of 257 bytes for column "s" is longer'),
        ({"s": np.array([2**63] * COUNT, np.uint64)}, None, "beyond int64"),
        ({"label": SCORES}, None, 'already has a column "label"'),
        ({"@s": SCORES}, None, '"@s" cannot be the name of a column'),
        ({"s": SCORES}, "name", 'by must be "id" or "number"'),
    ],
)
def test_errors(ds, tmp_path, columns, on, message):
    before = (tmp_path / "a.rmx").read_bytes()
    with pytest.raises(ValueError, match=message):
        ds.annotate(columns, on=on, default={name: "0" for name in columns if name == "s"})
    assert (tmp_path / "a.rmx").read_bytes() == before
    assert not list(tmp_path.glob("*.tmp-*")) and not list(tmp_path.glob("*.lock"))


def test_wrong_types(ds):
    for values in ([1, "x"] * 50, [object()] * COUNT, np.zeros((COUNT, 2)), [[1]] * COUNT):
        with pytest.raises((TypeError, ValueError)):
            ds.annotate({"s": values})
    with pytest.raises(ValueError, match="default names 't'"):
        ds.annotate({"s": SCORES}, default={"t": 1})
    with pytest.raises(ValueError, match="not of type float"):
        ds.annotate({"s": SCORES}, default={"s": "x"})


def test_many_records_in_any_order(tmp_path):
    """More than one chunk of a column, and more than fits one buffer of the sort."""
    count = 1_200_000
    write(tmp_path, [b""] * count)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        order = np.random.default_rng(0).permutation(count)
        ds.annotate({"number": order, "s": order * 3}, by="number")
        assert np.array_equal(ds.columns["s"], np.arange(count) * 3)
        ds.annotate({"t": {count - 1: "x"}}, default={"t": ""})
        assert ds.where("t == 'x'").numbers.tolist() == [count - 1]


@pytest.mark.parametrize("default", [{}, {"score": 0, "lang": "de"}])
def test_rebuild_keeps_annotated_columns_from_being_lost(ds, tmp_path, default):
    columns = {"score": SCORES, "lang": ["fr"] * COUNT}
    before = ds.annotate(columns, default=default).fingerprint
    with pytest.raises(recmap.FeatureError, match="columns 'score', 'lang'") as caught:
        recmap.open(tmp_path, lift=["label"], index=ds.index_path, rebuild=True)
    assert caught.value.path == ds.index_path
    assert "ds.annotate(drop=['score', 'lang'])" in caught.value.advice
    assert column(ds) == SCORES.tolist() and ds.fingerprint == before
    ds.annotate(drop=["score"])
    with recmap.open(tmp_path, lift={"lang": "?"}, index=ds.index_path, rebuild=True) as again:
        assert set(again.columns) == {"@length", "label", "lang"}  # an option replaces a column
        assert set(again.columns["lang"]) == {b"?"}


def test_advice_for_a_missing_column_keeps_annotated_columns(ds):
    """A rebuild would be refused."""
    ds.annotate({"score": SCORES})
    with pytest.raises(recmap.ColumnNotFoundError) as caught:
        ds.where("digest > ''")
    assert '`ds.lift(["digest"])` adds it' in caught.value.advice


@pytest.mark.parametrize(
    "option", [{"missing_values": "error"}, {"missing_values": "null"}, {"by": "number"}]
)
def test_options_of_columns_need_columns(ds, option):
    before = ds.fingerprint
    (pair,) = option.items()
    message = "{}={!r} is about new columns, but there are none".format(*pair)
    with pytest.raises(ValueError, match=message):
        ds.annotate(drop=["label"], **option)
    with pytest.raises(ValueError, match="is about new columns, but there are none"):
        ds.annotate({"number": [1, 2]}, **{"by": "number", **option})
    assert ds.fingerprint == before
    ds.annotate(drop=["label"])


TABLES = ["dict", "pandas", "polars", "pyarrow", "csv"]


def table_of(kind, columns, folder):
    """A table, or the path of a file."""
    if kind == "csv":
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        (folder / "table.csv").write_text("\n".join(lines) + "\n")
        return folder / "table.csv"
    if kind == "dict":
        return columns
    tables = pytest.importorskip(kind)
    return (tables.table if kind == "pyarrow" else tables.DataFrame)(columns)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("count", [3, COUNT])
def test_a_column_of_keys_is_one_without_by(ds, tmp_path, kind, count):
    ids, numbers = IDS[:count][::-1], list(range(count))
    ds.annotate(table_of(kind, {"id": ids, "score": numbers}, tmp_path))
    assert column(ds)[:count] == numbers[::-1] and "id" not in ds.columns
    ds.annotate(table_of(kind, {"number": numbers[::-1], "x": numbers}, tmp_path))
    assert column(ds, "x") == column(ds) and "number" not in ds.columns
    both = table_of(kind, {"number": numbers, "id": ids, "y": numbers}, tmp_path)
    ds.annotate(both)
    assert column(ds, "y") == column(ds) and not {"id", "number"} & set(ds.columns)
    ds.annotate(both, by="number", drop=["y"])
    assert column(ds, "y")[:count] == numbers


@pytest.mark.parametrize("kind", TABLES)
def test_ids_of_a_data_set_without_ids_are_refused(tmp_path, kind):
    write(tmp_path, [b"a", b"b"])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        table = table_of(kind, {"id": ["r1", "r0"], "score": [1, 2]}, tmp_path)
        with pytest.raises(ValueError, match="the index has no ids"):
            ds.annotate(table)
        ds.annotate({"id": ["r1", "r0"]}, by="number")
        assert ds.columns["id"].tolist() == [b"r1", b"r0"]


def test_a_table_of_keys_alone_is_refused(ds):
    for key in ("id", "number"):
        with pytest.raises(ValueError, match=f"column '{key}' has .* there is no other column"):
            ds.annotate({key: np.arange(COUNT)})
    with pytest.raises(TypeError, match="column 'x' is a mapping, but another column has the keys"):
        ds.annotate({"id": IDS[:2], "x": {"r0": 1, "r1": 2}})


def test_the_index_of_pandas_is_not_ignored(ds):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"score": SCORES})
    reordered, by_id = frame[::-1], frame.set_index(pandas.Index(IDS))[::-1]
    for table in (reordered, by_id, frame[:50].iloc[::-1]):
        for values in (table, {"score": table["score"]}):
            with pytest.raises(ValueError, match=r"not 0 to .*reset_index.*to_numpy.*by=\"id\""):
                ds.annotate(values)
    ds.annotate(reordered, by="number")
    assert column(ds) == SCORES.tolist()
    ds.annotate(by_id, by="id", drop=["score"])
    assert column(ds) == SCORES.tolist()
    ds.annotate(reordered.reset_index(drop=True), drop=["score"])
    assert column(ds) == SCORES[::-1].tolist()
    with pytest.raises(ValueError, match="another pandas index than its keys"):
        ds.annotate({"number": pandas.Series(range(COUNT)), "x": reordered["score"]})


def test_ids_without_on(ds):
    with pytest.raises(TypeError, match='if the keys are ids, pass by="id"'):
        ds.annotate({"score": {"x": 1}}, by="number")


def test_rebuild_keeps_annotated_columns_with_nulls_from_being_lost(ds, tmp_path):
    """Nulls are also what a lifted column has for records without its feature."""
    ds.annotate({"score": {3: 0.5}, "lang": {5: "de"}}, by="number")
    with pytest.raises(recmap.FeatureError, match="columns 'score', 'lang'"):
        recmap.open(tmp_path, index=ds.index_path, rebuild=True)
    assert ds.where("score == 0.5").numbers.tolist() == [3]


def test_rebuild_keeps_an_annotated_column_with_the_name_of_a_feature(ds, tmp_path):
    ds.annotate({"digest": [f"{i}" for i in range(COUNT)]}, default={"digest": "?"})
    ds.annotate(drop=["label"])
    ds.annotate({"label": np.arange(COUNT) + 100})
    with pytest.raises(recmap.FeatureError, match="columns 'digest', 'label'"):
        recmap.open(tmp_path, index=ds.index_path, rebuild=True)
    assert ds.columns["label"].tolist() == list(range(100, 100 + COUNT))


def test_rebuild_keeps_annotated_columns_if_all_shards_changed(ds, tmp_path):
    ds.annotate({"score": SCORES}, default={"score": 0})
    for path in tmp_path.glob("*.tfrecord"):
        path.unlink()
    write(tmp_path, [recmap.encode_example({"id": "x", "label": 1})] * 3)
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(tmp_path, index=ds.index_path, rebuild=True)


@pytest.fixture
def unmarked(monkeypatch):
    """Indexes do not tell which columns were annotated, like those of older versions."""
    monkeypatch.setattr(recmap.Dataset, "_annotated_columns", lambda self: [])


@pytest.mark.parametrize("default", [{}, {"label": 0}])
def test_rebuild_keeps_annotated_columns_that_are_not_marked(ds, tmp_path, unmarked, default):
    """A few records tell, and those of the shards that are still there suffice."""
    ds.annotate(drop=["label"])
    ds.annotate({"label": np.arange(COUNT) + 100}, default=default)
    shard = str(tmp_path / "made-0.tfrecord")
    (tmp_path / "more").mkdir()
    more = write(tmp_path / "more", [bytes(ds[0])])
    for shards in ([shard], [*more, shard]):
        with pytest.raises(recmap.FeatureError, match="column 'label'"):
            recmap.open(shards, index=ds.index_path, rebuild=True)


@pytest.mark.parametrize("default", [{}, {"score": 0}])
def test_the_memory_of_a_rebuild_does_not_grow_with_the_records(tmp_path, unmarked, default):
    """Reading a whole column to choose a few records took 10 bytes a record."""
    count = 400_000
    shards = write(tmp_path, [b""] * count, shards=2)
    with recmap.open(shards) as ds:
        ds.annotate({"score": np.arange(count)}, default=default)
        path = ds.index_path
    tracemalloc.start()
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(shards, index=path, rebuild=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 << 20


def test_the_few_records_that_tell_are_found(tmp_path, unmarked):
    """One of them is enough, also if its value is the only one that is not the default."""
    count = 200_000
    shards = write(tmp_path, [b""] * count, shards=3)
    with recmap.open(shards) as ds:
        ds.annotate({"score": {150_001: 7}}, by="number", default={"score": 0})
        path = ds.index_path
        first = ds.shards[0]["records"] + ds.shards[1]["records"]
    assert first < 150_001
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(shards, index=path, rebuild=True)
    with pytest.warns(UserWarning, match="no record has the feature 'score'"):
        recmap.open(shards[:2], index=path, rebuild=True)


def test_records_that_cannot_be_read_do_not_hide_those_that_tell(tmp_path, unmarked):
    shards = write(tmp_path, [{"n": i} for i in range(40)], shards=2)
    with recmap.open(shards) as ds:
        path = ds.annotate({"score": np.arange(40) + 1}, default={"score": 0}).index_path
    with open(shards[0], "ab") as file:
        file.write(Path(shards[0]).read_bytes())
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(shards, index=path, rebuild=True)


@pytest.mark.parametrize("default", [{}, {"score": 0}])
def test_columns_that_are_not_marked_are_lifted_if_no_shard_is_named_again(
    ds, tmp_path, unmarked, default
):
    """No record may be read that tells. Then only columns whose records lack the feature are safe,
    unless they have a default: docs/guide/label.md says so."""
    ds.annotate({"score": SCORES + 1}, default=default)
    before = Path(ds.index_path).read_bytes()
    (tmp_path / "moved").mkdir()
    (shard,) = tmp_path.glob("*.tfrecord")
    moved = shard.rename(tmp_path / "moved" / shard.name)
    if default:
        with pytest.warns(UserWarning, match="no record has the feature 'score'"):
            again = recmap.open(moved, index=ds.index_path, rebuild=True)
        assert set(again.columns["score"]) == {0}
        return
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        recmap.open(moved, index=ds.index_path, rebuild=True)
    assert Path(ds.index_path).read_bytes() == before


@pytest.mark.parametrize("lift", [["y"], {"y": -1}])
def test_rebuild_reads_no_shard_that_only_the_old_index_names(tmp_path, lift):
    ours, theirs = tmp_path / "ours", tmp_path / "srv" / "b"
    ours.mkdir()
    theirs.mkdir(parents=True)
    (shard,) = write(ours, [{"y": i} for i in range(5)])
    shutil.copy(shard, theirs / "other.tfrecord")
    path = tmp_path / "a.rmx"
    with ObjectServer(tmp_path / "srv") as server:
        recmap.index(f"{server.url}/b/other.tfrecord", path, lift=lift, progress=None)
        server.requests.clear()
        with recmap.open(shard, index=path, rebuild=True) as again:
            assert again.columns["y"].tolist() == list(range(5))
        assert not server.requests


def test_index_keeps_annotated_columns(ds, tmp_path):
    ds.annotate({"score": SCORES})
    for change in ({"rename": {"score": "points"}}, {"columns": {"n": np.arange(COUNT)}}):
        ds.annotate(**change)
    with pytest.raises(recmap.FeatureError, match="annotated columns 'points', 'n'") as caught:
        recmap.index(tmp_path, ds.index_path)
    assert ").annotate(drop=['points', 'n'])" in caught.value.advice
    merged = tmp_path / "merged.rmx"
    recmap.merge(merged, [ds.index_path])
    with pytest.raises(recmap.FeatureError, match="annotated columns 'points', 'n'"):
        recmap.index(tmp_path, merged)
    recmap.merge(merged, [ds.index_path])  # the part has the columns
    part = recmap.index(tmp_path, tmp_path / "part.rmx")
    with pytest.raises(recmap.FeatureError, match="annotated columns 'points', 'n'"):
        recmap.merge(merged, [part])
    assert set(recmap.open(merged).columns) >= {"points", "n"}
    ds.annotate(drop=["points", "n"])
    recmap.index(tmp_path, ds.index_path)
    assert set(recmap.open(ds.index_path).columns) == {"@length"}


def test_rebuild_builds_columns_whose_features_are_rare(tmp_path):
    records = [recmap.encode_example({"rare": 7} if i == 70 else {"x": i}) for i in range(COUNT)]
    write(tmp_path, records)
    defaults = {"rare": 3, "never": 0.5, "nan": float("nan"), "text": "none"}
    for _ in range(2):
        with recmap.open(tmp_path, lift=defaults, rebuild=True) as opened:
            assert opened.columns["rare"].sum() == 3 * (COUNT - 1) + 7
    with recmap.open(tmp_path, rebuild=True) as opened:
        assert set(opened.columns) == {"@length", *defaults}


def rich_records():
    for i in range(COUNT):
        features = {"id": f"r{i}", "label": i % 5, "tokens": list(range(i % 7)), "weight": i / 8}
        yield recmap.encode_example(features if i % 10 else {**features, "lang": "de"})


def test_lift_equals_building_with_the_column(tmp_path):
    write(tmp_path, list(rich_records()), shards=3)
    both = {"id": "id", "count": ["tokens"]}
    with recmap.open(tmp_path, **both, lift=["label"], index=tmp_path / "a.rmx") as ds:
        assert ds.lift({"lang": "none", "weight": None}, progress=None) is ds
        assert set(ds.columns) == {"@length", "label", "lang", "weight"}
        assert len(ds.where("lang == 'de' and weight > 1")) == 9
        assert b"r42" in bytes(ds[ds.find("r42")])
        assert ds.counts["tokens"].sum() == sum(i % 7 for i in range(COUNT))
    lift = {"label": None, "lang": "none", "weight": None}
    recmap.open(tmp_path, **both, lift=lift, index=tmp_path / "b.rmx").close()
    assert (tmp_path / "a.rmx").read_bytes() == (tmp_path / "b.rmx").read_bytes()


def test_lift_keeps_annotated_columns(ds):
    ds.annotate({"score": SCORES}).lift(["id"])
    assert ds.where("id == 'r7'").numbers.tolist() == [7] and column(ds) == SCORES.tolist()
    assert ds._annotated_columns() == ["score"]


def test_lift_that_fails_leaves_the_index(ds):
    before = Path(ds.index_path).read_bytes()
    with pytest.raises(recmap.FeatureError) as caught:
        ds.lift(["none"])
    assert caught.value.record == 0 and caught.value.path.endswith(".tfrecord")
    with pytest.raises(ValueError):
        ds.lift(["label"])
    with pytest.raises(TypeError, match="lift"):
        ds.lift("label")
    with pytest.raises(ValueError, match="a view has no index of its own"):
        ds[:3].lift(["id"])
    assert Path(ds.index_path).read_bytes() == before
    assert list(ds.columns) == ["@length", "label"]


def test_the_advice_for_an_absent_column_adds_it(tmp_path):
    write(tmp_path, list(rich_records()))
    with recmap.open(tmp_path, id="id", index=tmp_path / "a.rmx") as ds:
        with pytest.raises(KeyError) as caught:
            ds.columns["label"]
        assert caught.value.advice.endswith("ds.lift(['label']) adds it.")
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(tmp_path, lift=["label"], index=tmp_path / "a.rmx")
    eval(caught.value.advice.partition(": ")[2], {"recmap": recmap}).close()
    with recmap.open(tmp_path, lift=["label"], index=tmp_path / "a.rmx") as ds:
        assert ds.find("r9") == 9 and ds.columns["label"][9] == 4


@pytest.mark.parametrize("option", ["default", "rename"])
def test_options_that_are_dicts(ds, option):
    with pytest.raises(TypeError, match=rf"{option} must be a dict, \{{.*\}}, not \['a'\]"):
        ds.annotate({"a": SCORES}, **{option: ["a"]})


@pytest.mark.parametrize("by", ["id", "number"])
def test_unmatched_keys_are_an_error_with_their_number_or_ignored(ds, by):
    keys = ["x", *IDS[:2], "y"] if by == "id" else [-1, 0, 1, COUNT]
    first = 'the id "x"' if by == "id" else "the number -1"
    message = f"no record has {first} .and 1 more rows have a key that no record has"
    with pytest.raises(ValueError, match=message):
        ds.annotate({"score": (keys, [1, 2, 3, 4])}, by=by)
    assert "score" not in ds.columns
    with pytest.warns(UserWarning, match="^2 values ignored: no record has the key$") as caught:
        ds.annotate({"score": (keys, [1, 2, 3, 4])}, by=by, unmatched="ignore")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert column(ds)[:3] == [2, 3, None]
    unmatched = [keys[0], keys[3]]
    message = f"no record has {first}, nor the key of any of the other 1 rows"
    with pytest.raises(ValueError, match=message):
        ds.annotate({"other": (unmatched, [1, None])}, by=by, unmatched="ignore")
    with pytest.raises(ValueError, match='unmatched must be "error" or "ignore"'):
        ds.annotate({"other": (keys, [1, 2, 3, 4])}, by=by, unmatched="skip")
    with pytest.raises(TypeError, match="on is the old name of by"):
        ds.annotate({"other": (keys, [1, 2, 3, 4])}, on=by, by=by)


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".jsonl"])
def test_a_file_adds_all_its_columns(ds, tmp_path, extension):
    path = tmp_path / f"scores{extension}"
    if extension == ".jsonl":
        path.write_text("".join(f'{{"id": "r{i}", "a": {i}, "b c": "t{i}"}}\n' for i in range(9)))
    else:
        mark = "," if extension == ".csv" else "\t"
        rows = [["id", "a", '"b c"'], *([f"r{i}", f"{i}", f"t{i}"] for i in range(9))]
        path.write_text("\ufeff" + "".join(mark.join(row) + "\n" for row in rows))
    ds.annotate(path)
    assert column(ds, "a")[:10] == [*range(9), None]
    assert ds.columns["b c"][8] == b"t8"
    ds.annotate(str(path), drop=["a", "b c"], default={"a": -1})
    assert column(ds, "a")[9] == -1


def test_files_without_columns_are_refused(ds, tmp_path):
    for name, text in (("a.npy", ""), ("a.csv", "id\n"), ("a.csv", ""), ("a.jsonl", "[1]\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=r"name the column|names no column"):
            ds.annotate(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        ds.annotate("missing.csv")
