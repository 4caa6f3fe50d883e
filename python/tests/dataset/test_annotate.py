"""Columns that are added to an index, from Python's values."""

import numpy as np
import pytest
import recmap
from annotate_helpers import COUNT, IDS, SCORES, column, labelled
from conftest import write


@pytest.fixture
def ds(tmp_path):
    with labelled(tmp_path) as opened:
        yield opened


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
def test_arrays_and_lists_have_a_value_for_each_record(ds, values, kind):
    assert ds.annotate({"score": values}, by="number") is ds
    assert ds.columns["score"].dtype == kind
    assert column(ds) == [float(value) for value in values]
    assert column(ds, "label") == [i % 5 for i in range(COUNT)]
    assert ds.find("r7") == 7 and bytes(ds[7]) == recmap.encode_example({"label": 2, "id": "r7"})


def test_texts_are_found_by_a_filter(ds):
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
def test_values_are_found_by_the_ids_of_records(ds, values):
    ds.annotate({"score": values}, by="id")
    assert column(ds) == SCORES.tolist()


def test_a_column_id_or_number_has_the_keys_of_the_others(ds):
    ds.annotate({"id": IDS[::-1], "score": SCORES[::-1], "rank": np.arange(COUNT)}, by="id")
    assert column(ds) == SCORES.tolist() and column(ds, "rank") == list(range(COUNT))[::-1]
    ds.annotate({"number": [3, 1], "x": [30, 10]}, by="number", default={"x": -1})
    assert column(ds, "x")[:4] == [-1, 10, -1, 30]


def test_records_without_a_value_get_null_or_the_default(ds):
    values = [None if i == 3 else i for i in range(COUNT)]
    ds.annotate({"score": values})
    assert column(ds)[2:5] == [2, None, 4]
    ds.annotate({"score": values}, default={"score": -5}, drop=["score"])
    assert column(ds)[2:5] == [2, -5, 4]
    ds.annotate({"f": {3: float("nan")}}, default={"f": 0.5})
    assert np.isnan(ds.columns["f"][3]) and ds.columns["f"][4] == 0.5


@pytest.mark.parametrize("on", ["id", "number"])
def test_all_or_no_values_of_a_column_can_be_missing(ds, on):
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
def test_values_without_an_order_are_refused(ds, values):
    message = "the values of column 'x' must be a list or an array, with one for each record, not"
    with pytest.raises(TypeError, match=message):
        ds.annotate({"x": values})


def test_an_iterator_has_a_value_for_each_record(ds):
    ds.annotate({"x": (i * i for i in range(COUNT))})
    assert column(ds, "x") == [i * i for i in range(COUNT)]
    with pytest.raises(ValueError, match=f"has 3 values, but the data set has {COUNT} records"):
        ds.annotate({"y": iter(range(3))})


def test_a_name_that_is_not_a_text_is_refused(ds):
    with pytest.raises(TypeError, match="the name of a column must be a str, not 5"):
        ds.annotate({5: SCORES})


@pytest.mark.parametrize("values", [[2**63, -1], [2**63, -1, None], [2**64], [-(2**63) - 1, None]])
def test_integers_beyond_64_bits_are_refused(ds, values):
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


def test_arrays_that_are_read_only_or_of_another_byte_order_are_accepted(ds):
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


needs_string_dtype = pytest.mark.skipif(
    not hasattr(getattr(np, "dtypes", None), "StringDType"), reason="StringDType needs NumPy 2"
)


@needs_string_dtype
@pytest.mark.parametrize("missing", [None, float("nan"), "?"], ids=["None", "nan", "text"])
def test_the_na_object_of_string_dtype_is_a_missing_value(ds, missing):
    dtype = np.dtypes.StringDType(na_object=missing)
    texts = [("de", "日本", missing, "")[i % 4] for i in range(COUNT)]
    ds.annotate({"lang": np.array(texts, dtype)})
    assert column(ds, "lang") == [b"de", "日本".encode(), None, b""] * (COUNT // 4)
    ds.annotate({"none": np.full(COUNT, missing, dtype)}, default={"none": "x"})
    assert column(ds, "none") == [b"x"] * COUNT


@needs_string_dtype
def test_arrays_of_string_dtype_are_texts_and_ids(ds):
    dtype = np.dtypes.StringDType()
    masked = np.ma.MaskedArray(np.array(IDS, dtype), np.arange(COUNT) == 3)
    ds.annotate({"name": (np.array(IDS[::-1], dtype), np.array(IDS, dtype))}, by="id")
    ds.annotate({"masked": masked})
    names = [name.encode() for name in IDS]
    assert column(ds, "name") == names[::-1]
    assert column(ds, "masked") == [*names[:3], None, *names[4:]]


def test_columns_are_dropped_and_renamed(ds):
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


def test_an_index_that_was_replaced_is_not_annotated(ds, tmp_path):
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
def test_columns_that_are_refused_leave_the_index_unchanged(ds, tmp_path, columns, on, message):
    before = (tmp_path / "a.rmx").read_bytes()
    with pytest.raises(ValueError, match=message):
        ds.annotate(columns, on=on, default={name: "0" for name in columns if name == "s"})
    assert (tmp_path / "a.rmx").read_bytes() == before
    assert not list(tmp_path.glob("*.tmp-*")) and not list(tmp_path.glob("*.lock"))


def test_values_and_defaults_of_wrong_types_are_refused(ds):
    for values in ([1, "x"] * 50, [object()] * COUNT, np.zeros((COUNT, 2)), [[1]] * COUNT):
        with pytest.raises((TypeError, ValueError)):
            ds.annotate({"s": values})
    with pytest.raises(ValueError, match="default names 't'"):
        ds.annotate({"s": SCORES}, default={"t": 1})
    with pytest.raises(ValueError, match="not of type float"):
        ds.annotate({"s": SCORES}, default={"s": "x"})


def test_more_than_a_chunk_of_records_is_annotated_in_any_order(tmp_path):
    """More than one chunk of a column, and more than fits one buffer of the sort."""
    count = 1_200_000
    write(tmp_path, [b""] * count)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        order = np.random.default_rng(0).permutation(count)
        ds.annotate({"number": order, "s": order * 3}, by="number")
        assert np.array_equal(ds.columns["s"], np.arange(count) * 3)
        ds.annotate({"t": {count - 1: "x"}}, default={"t": ""})
        assert ds.where("t == 'x'").numbers.tolist() == [count - 1]


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


def test_keys_that_are_texts_need_by_id(ds):
    with pytest.raises(TypeError, match='if the keys are ids, pass by="id"'):
        ds.annotate({"score": {"x": 1}}, by="number")


@pytest.mark.parametrize("option", ["default", "rename"])
def test_options_that_are_not_dicts_are_refused(ds, option):
    with pytest.raises(TypeError, match=rf"{option} must be a dict, \{{.*\}}, not \['a'\]"):
        ds.annotate({"a": SCORES}, **{option: ["a"]})


@pytest.mark.parametrize("by", ["id", "number"])
def test_unmatched_keys_are_an_error_with_their_number_or_ignored(ds, by):
    keys = ["x", *IDS[:2], "y"] if by == "id" else [-1, 0, 1, COUNT]
    first = 'the id "x"' if by == "id" else "the number -1"
    message = f"no record has {first} .and 1 more row has a key that no record has"
    with pytest.raises(ValueError, match=message):
        ds.annotate({"score": (keys, [1, 2, 3, 4])}, by=by)
    assert "score" not in ds.columns
    with pytest.warns(UserWarning, match="^2 values ignored: no record has the key$") as caught:
        ds.annotate({"score": (keys, [1, 2, 3, 4])}, by=by, unmatched="ignore")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert column(ds)[:3] == [2, 3, None]
    unmatched = [keys[0], keys[3]]
    message = f"no record has {first}, nor the key of any of the other 1 row"
    with pytest.raises(ValueError, match=message):
        ds.annotate({"other": (unmatched, [1, None])}, by=by, unmatched="ignore")
    with pytest.raises(ValueError, match='unmatched must be "error" or "ignore"'):
        ds.annotate({"other": (keys, [1, 2, 3, 4])}, by=by, unmatched="skip")
    with pytest.raises(TypeError, match="on is the old name of by"):
        ds.annotate({"other": (keys, [1, 2, 3, 4])}, on=by, by=by)
