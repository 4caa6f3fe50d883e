"""Values that change when they are written, in the forms of all libraries: nulls, integers beyond
int64, numbers that 32 bits do not hold, and kinds that differ between records."""

import warnings

import numpy as np
import pytest
import recmap

BIG = 2**53 + 1
STAMP = 1_700_000_000.123


def encoded(value):
    return recmap.decode_example(recmap.encode_example({"x": value}))["x"]


def of_arrow(values, kind=None):
    return pytest.importorskip("pyarrow").array(values, kind)


def of_pandas(values, dtype=None):
    return pytest.importorskip("pandas").Series(values, dtype=dtype)


def of_polars(values, dtype=None):
    return pytest.importorskip("polars").Series(values, dtype=dtype)


def categories(values):
    return pytest.importorskip("pandas").Categorical(values)


def nested_polars():
    polars = pytest.importorskip("polars")
    return polars.Series([[BIG, None], [3, 4]], dtype=polars.Array(polars.Int64, 2))


NULLS = {
    "arrow": lambda: of_arrow([BIG, None]),
    "arrow chunks": lambda: pytest.importorskip("pyarrow").chunked_array([[BIG], [None]]),
    "arrow floats": lambda: of_arrow([1.5, None]),
    "arrow texts": lambda: of_arrow(["a", None]),
    "arrow dictionary": lambda: of_arrow(["a", None]).dictionary_encode(),
    "arrow dictionary with a null": lambda: pytest.importorskip(
        "pyarrow"
    ).DictionaryArray.from_arrays([0, 1], of_arrow([BIG, None])),
    "arrow scalar": lambda: of_arrow([None], "int64")[0],
    "arrow table": lambda: pytest.importorskip("pyarrow").table({"a": [BIG, None]}),
    "pandas": lambda: of_pandas([BIG, None], "Int64"),
    "pandas array": lambda: of_pandas([BIG, None], "Int64").array,
    "pandas booleans": lambda: of_pandas([True, None], "boolean"),
    "pandas arrow": lambda: of_pandas([BIG, None], "int64[pyarrow]"),
    "pandas texts": lambda: of_pandas(["a", None]),
    "pandas objects": lambda: of_pandas(["a", np.nan], object),
    "pandas categories": lambda: of_pandas(categories([BIG, 2, None])),
    "pandas NA": lambda: [1, pytest.importorskip("pandas").NA],
    "polars": lambda: of_polars([BIG, None]),
    "polars texts": lambda: of_polars(["a", None]),
    "polars table": lambda: pytest.importorskip("polars").DataFrame({"a": [BIG, None]}),
    "polars arrays": nested_polars,
    "masked": lambda: np.ma.MaskedArray([BIG, 2], [True, False]),
    "list": lambda: [BIG, None],
    "list of lists": lambda: [[BIG, None], [1, 2]],
    "list of arrays": lambda: [of_arrow([BIG, None]), of_arrow([1, 2])],
    "list of polars": lambda: [of_polars([BIG, None]), of_polars([1, 2])],
    "texts": lambda: ["a", None],
    "texts and NaN": lambda: ["a", np.nan],
}


@pytest.mark.parametrize("name", NULLS)
def test_nulls_are_refused(name):
    with pytest.raises(ValueError, match=r"feature 'x': it has a null .*None"):
        recmap.encode_example({"x": NULLS[name]()})
    with pytest.raises(ValueError, match=r"feature list 'f', step 1: it has a null"):
        recmap.encode_sequence_example({}, {"f": [[1], NULLS[name]()]})


WHOLE = {
    "arrow": lambda: of_arrow([BIG, -1]),
    "arrow dictionary": lambda: of_arrow([BIG, -1]).dictionary_encode(),
    "arrow table": lambda: pytest.importorskip("pyarrow").table({"a": [BIG, -1]}),
    "pandas": lambda: of_pandas([BIG, -1], "Int64"),
    "pandas index": lambda: pytest.importorskip("pandas").Index([BIG, -1]),
    "pandas categories": lambda: of_pandas(categories([BIG, -1])),
    "polars": lambda: of_polars([BIG, -1]),
    "polars list": lambda: of_polars([[BIG, -1]]),
    "objects": lambda: np.array([BIG, -1], object),
    "scalars": lambda: list(of_arrow([BIG, -1])),
    "big endian": lambda: np.array([BIG, -1], ">i8"),
    "range": lambda: range(BIG, -BIG, -BIG - 1),
}


@pytest.mark.parametrize("name", WHOLE)
def test_integers_stay_exact(name):
    assert encoded(WHOLE[name]()).tolist() == [BIG, -1]


TEXTS = {
    "arrow": lambda: of_arrow(["ä", "b\0"]),
    "arrow binary": lambda: of_arrow(["ä".encode(), b"b\0"]),
    "arrow view": lambda: of_arrow(["ä", "b\0"], "string_view"),
    "arrow dictionary": lambda: of_arrow(["ä", "b\0"]).dictionary_encode(),
    "pandas": lambda: of_pandas(["ä", "b\0"]),
    "pandas string": lambda: of_pandas(["ä", "b\0"], "string"),
    "pandas objects": lambda: of_pandas(["ä", "b\0"], object),
    "pandas categories": lambda: of_pandas(categories(["ä", "b\0"])),
    "polars": lambda: of_polars(["ä", "b\0"]),
    "numpy": lambda: np.array(["ä", "b\0"], np.dtypes.StringDType()),
    "views": lambda: [memoryview("ä".encode()), bytearray(b"b\0")],
    "nested": lambda: [["ä"], ["b\0"]],
}


@pytest.mark.parametrize("name", TEXTS)
def test_arrays_of_texts_are_stored(name):
    assert encoded(TEXTS[name]()) == ["ä".encode(), b"b\0"]


def test_scalars_of_arrow():
    assert encoded(of_arrow([BIG])[0]) == BIG
    assert encoded(of_arrow(["a"])[0]) == [b"a"]


BEYOND = {
    "int": lambda: 2**64 - 5,
    "list": lambda: [1, 2**64 - 5],
    "next to negatives": lambda: [-1, 2**64 - 5],
    "numpy": lambda: np.uint64(2**64 - 5),
    "array": lambda: np.array([1, 2**64 - 5], np.uint64),
    "objects": lambda: np.array([1, 2**64 - 5], object),
    "arrow": lambda: of_arrow([1, 2**64 - 5], "uint64"),
    "pandas": lambda: of_pandas([1, 2**64 - 5], "UInt64"),
    "polars": lambda: of_polars([1, 2**64 - 5]),
}


@pytest.mark.parametrize("name", BEYOND)
def test_integers_beyond_int64_are_refused_with_advice(name):
    message = rf"feature 'x': a value is beyond int64 .* give {2**64 - 5} as a text, or .*, -5 \("
    with pytest.raises(ValueError, match=message):
        recmap.encode_example({"x": BEYOND[name]()})


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, [2**70, -1]])
def test_integers_beyond_64_bits_can_only_be_texts(value):
    with pytest.raises(ValueError, match=r"beyond int64 .* give -?\d+ as a text$"):
        recmap.encode_example({"x": value})


ROUNDED = {
    "time": STAMP,
    "list": [0.5, STAMP],
    "array": np.array([np.nan, np.inf, STAMP]),
    "integers": [0.5, BIG],
    "zero": np.array([0.0, 1e-60]),
    "objects": np.array([STAMP, 1], object),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_numbers_that_float32_does_not_hold_are_named(tmp_path, name):
    place, why = "feature 'x': ", "because floats have 32 bits"
    with pytest.warns(UserWarning, match=f"^{place}a value is rounded, {why}") as caught:
        recmap.encode_example({"x": ROUNDED[name]})
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(UserWarning, match="^feature list 'f': a value is rounded") as caught:
        recmap.encode_sequence_example({"n": 1}, {"f": [1.5, ROUNDED[name], ROUNDED[name]]})
    assert len(caught) == 1
    number = "1e-60 is rounded to 0" if name == "zero" else r"\d+(\.123)? is rounded to \d+"
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write({"x": 0.5})
        with pytest.warns(UserWarning, match=f"^record 1: {place}{number}, {why}") as caught:
            writer.write({"x": ROUNDED[name]})
            writer.write({"x": ROUNDED[name]})
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, 1e30, 2.0**40, [1, 0.5], [1 << 62, 0.5], np.float32(STAMP), -0.0, [float("nan")]),
        *(np.full(3, STAMP, np.float32), np.array([np.inf, -np.inf, 2.0**63]), 16_777_215.4),
    ],
)
def test_numbers_that_float32_holds_closely(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.encode_example({"x": value})


def written(tmp_path, records, **options):
    """The warnings of writing these records."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with recmap.Writer(tmp_path / "a.tfrecord", **options) as writer:
            for record in records:
                writer.write(record)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ([3, 3.5, 4.5], "float, but int64"),
        (["a", float("nan")], "float, but bytes"),
        ([None, b"x", [], 5], "int64, but bytes"),
        ([np.zeros(0), [1], [2.5]], "float, but int64"),
    ],
)
def test_a_kind_that_changes_is_named_once(tmp_path, values, kinds):
    first = next(i for i, value in enumerate(values) if value is not None and np.size(value))
    at = len(values) - 1 if values[1] != 3.5 else 1
    expected = f"record {at}: feature 'x' has the kind {kinds} in record {first}: parsing needs one"
    for records in (
        [{"x": value, "y": 1} for value in values],
        [recmap.encode_example({"a": 1, "x": value}) for value in values],
        [recmap.encode_sequence_example({"x": value}, {"x": ["b"]}) for value in values],
    ):
        (message,) = written(tmp_path, [*records, *records])
        assert message.startswith(expected)
    lists = [recmap.encode_sequence_example({"x": 1}, {"x": [value]}) for value in values]
    (message,) = written(tmp_path, lists)
    assert message.startswith(expected.replace("feature", "feature list"))


@pytest.mark.parametrize("value", [3, "a", 0.5], ids=["int64", "bytes", "float"])
def test_an_empty_array_has_no_kind(tmp_path, value):
    empty = [np.array([]), np.array([], np.int64), np.array([], "S1"), []]
    empty.append(pytest.importorskip("torch").tensor([]))
    values = [*empty, [value], *empty, [value, value]]
    lists = [recmap.encode_sequence_example({"y": 1}, {"l": values})] * 2
    assert written(tmp_path, [*lists, *({"x": value} for value in values)]) == []
    assert written(tmp_path, [{"x": value} for value in values]) == []
    with recmap.open(tmp_path / "a.tfrecord", index=tmp_path / "a.rmx") as ds:
        kind = ds.schema()["x"]["kind"]
        assert ds.features()["x"].dtype == {"float": "float32"}.get(kind, kind)
        assert sum(map(len, ds.parse(range(len(ds)), ds.features())["x"])) == 3


LISTS = [[1, None], [3]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LISTS, r"a null \(a missing value\) in a list"),
        (lambda: pytest.importorskip("pyarrow").array(LISTS), r"a null .* in a list"),
        (lambda: pytest.importorskip("polars").Series(LISTS), r"a null .* in a list"),
        (lambda: [1, None], "a null .*: leave it out, or give another value, or give None for"),
        (lambda: [[1, None], [3, 4]], "a null .*: leave it out"),
        (lambda: pytest.importorskip("polars").Series([1, None]), r"a null .*fill_null\(value\)"),
        (lambda: [[1], [2, 3]], "lists have several lengths, such as 1 and 2: give"),
        (lambda: pytest.importorskip("pyarrow").array([[1], [2, 3]]), "several lengths, such as"),
        (lambda: [1, [2]], "lists have several depths"),
    ],
)
def test_nested_values_that_make_no_array_are_explained(make, message):
    with pytest.raises(ValueError, match=rf"^feature 'a': it.*{message}") as caught:
        recmap.encode_example({"a": make()})
    assert "inhomogeneous" not in str(caught.value)


def test_kinds_are_compared_over_all_shards(tmp_path):
    with recmap.Writer(tmp_path / "a@2.tfrecord") as writer:
        writer.write({"x": 3})
        with pytest.warns(UserWarning, match="record 1: feature 'x' has the kind float"):
            writer.write({"x": 3.5})


def test_steps_of_two_kinds_are_named(tmp_path):
    message = "feature list 'f' has steps of kind int64 and of kind float"
    with pytest.warns(UserWarning, match=f"^{message}"):
        record = recmap.encode_sequence_example({"x": 1}, {"f": [[1], None, [2.5]]})
    assert [text[: len(message) + 10] for text in written(tmp_path, [record])] == [
        f"record 0: {message}"
    ]


def test_records_that_are_not_examples_have_no_kinds(tmp_path):
    example = recmap.encode_example({"x": 3})
    other = recmap.encode_example({"x": 3.5})
    records = [example, b"", b"\x0a\xff\xff", other[:-1], other + b"\x28\x01", b"text", example]
    assert written(tmp_path, records) == []
