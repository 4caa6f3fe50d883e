"""Columns that are added to an index, from tables and files."""

import warnings

import numpy as np
import pytest
import recmap
from annotate_helpers import COUNT, IDS, SCORES, column, labelled
from conftest import write


@pytest.fixture
def ds(tmp_path):
    with labelled(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_adds_its_columns_with_defaults(ds, library):
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


def test_the_index_of_a_series_has_the_ids(ds):
    pandas = pytest.importorskip("pandas")
    ds.annotate({"score": pandas.Series(SCORES[::-1], index=IDS[::-1])}, by="id")
    assert column(ds) == SCORES.tolist()


def test_a_column_is_read_from_a_file(ds, tmp_path):
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


def test_an_empty_numpy_file_annotates_no_records(tmp_path):
    write(tmp_path, [])
    with pytest.warns(UserWarning, match="no records"):
        ds = recmap.open(tmp_path / "made-0.tfrecord")
    np.save(tmp_path / "s.npy", np.zeros(0, np.int32))
    with ds:
        ds.annotate({"s": tmp_path / "s.npy"}, default={"s": 1})
        assert ds.columns["s"].tolist() == []


def test_numpy_files_without_a_value_for_each_record_are_refused(ds, tmp_path):
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
def test_arrays_of_arrow_are_values_and_keys(ds, chunked):
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


@pytest.fixture
def uids(tmp_path):
    """A data set whose ids are of feature "uid"."""
    write(tmp_path, [recmap.encode_example({"uid": f"r{i}"}) for i in range(COUNT)])
    with recmap.open(tmp_path, id="uid", index=tmp_path / "uids.rmx") as opened:
        yield opened


@pytest.mark.parametrize("kind", [*TABLES, "jsonl"])
def test_a_column_named_like_the_id_feature_has_the_keys(uids, tmp_path, kind):
    ids, numbers = IDS[::-1], list(range(COUNT))[::-1]
    table = tmp_path / "table.jsonl"
    if kind == "jsonl":
        rows = zip(ids, numbers, strict=True)
        table.write_text("".join(f'{{"score": {n}, "uid": "{key}"}}\n' for key, n in rows))
    else:
        table = table_of(kind, {"uid": ids, "score": numbers}, tmp_path)
    for by in (None, "id"):
        uids.annotate(table, by=by)
        assert column(uids) == list(range(COUNT)) and "uid" not in uids.columns
        uids.annotate({"score": table if kind != "dict" else (ids, numbers)}, "id", drop=["score"])
        assert column(uids) == list(range(COUNT))
        uids.annotate(drop=["score"])


@pytest.mark.parametrize("kind", [*TABLES, "jsonl"])
def test_two_columns_of_ids_are_refused(uids, tmp_path, kind):
    table = tmp_path / "table.jsonl"
    if kind == "jsonl":
        table.write_text('{"id": "r1", "uid": "r2", "score": 1}\n')
    else:
        table = table_of(kind, {"id": ["r1"], "uid": ["r2"], "score": [1]}, tmp_path)
    for by in (None, "id"):
        with pytest.raises(ValueError, match=r"(?s)[\"']id.*uid.* of them"):
            uids.annotate(table, by=by)


def test_rows_that_pandas_counted_are_not_ids(tmp_path):
    pandas = pytest.importorskip("pandas")
    write(tmp_path, [recmap.encode_example({"k": k}) for k in (2, 1, 0)])
    ds = recmap.open(tmp_path, id="k")
    table = pandas.DataFrame({"key": [1, 0, 2], "v": [10, 0, 20]})
    for columns in (table, {"v": table["v"]}, {"v": table}):
        with pytest.raises(ValueError, match=r"has no ids.* 'k', or .*table\.set_index\('k'\)"):
            ds.annotate(columns, by="id")
    ds.annotate(table.set_index("key"), by="id")
    assert column(ds, "v") == [20, 10, 0]
    ds.annotate(table.rename(columns={"key": "k"}), by="id", drop=["v"])
    assert column(ds, "v") == [20, 10, 0]


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
