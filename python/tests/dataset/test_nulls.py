"""Columns with nulls, against a model of plain lists."""

from __future__ import annotations

import random

import numpy as np
import pytest
import recmap
from conftest import write as write_shards

COUNT = 60


def records(start, count):
    return [recmap.encode_example({"id": f"id-{i}", "n": i}) for i in range(start, start + count)]


def write(path, start, count):
    with recmap.Writer(path) as writer:
        for record in records(start, count):
            writer.write(record)


@pytest.fixture
def ds(tmp_path):
    write(tmp_path / "a-0.tfrecord", 0, COUNT)
    return recmap.open(tmp_path / "a-0.tfrecord", index=tmp_path / "a.rmx", id="id")


def listed(column):
    """The values of a column, None for a null, and str for texts."""
    return [v.decode() if isinstance(v, bytes) else v for v in column.tolist()]


def test_a_column_with_nulls_is_a_masked_array(ds):
    ds.annotate({"score": {3: 0.5, 7: -1.0}, "lang": {1: "de"}, "n": {2: 7}}, by="number")
    scores, lang, n = (ds.columns[name] for name in ("score", "lang", "n"))
    assert isinstance(scores, np.ma.MaskedArray) and scores.dtype == np.float32
    assert n.dtype == np.int64 and scores.count() == 2
    assert not isinstance(ds.columns["@length"], np.ma.MaskedArray)
    assert scores.filled(9)[:4].tolist() == [9, 9, 9, 0.5]
    assert listed(lang)[:3] == [None, "de", None]
    with pytest.raises(ValueError):
        scores[3] = 1
    assert ds.info["columns"][1] == {"name": "score", "type": "float", "nulls": COUNT - 2}


@pytest.mark.parametrize(
    "values",
    [
        {i: i for i in range(COUNT) if i != 5},
        [None if i == 5 else i for i in range(COUNT)],
        np.ma.masked_equal(np.arange(COUNT), 5),
        "file",
    ],
)
def test_missing_values_can_be_errors(ds, tmp_path, values):
    if isinstance(values, str):
        values = tmp_path / "s.csv"
        values.write_text("number,n\n" + "".join(f"{i},{i}\n" for i in range(COUNT) if i != 5))
    with pytest.raises(ValueError, match='record 5 has no value for column "n"') as caught:
        ds.annotate({"n": values}, missing="error")
    assert caught.value.advice.endswith(
        """`default={"n": VALUE}`, or use `missing_values="null"`"""
    )
    assert list(ds.columns) == list(recmap.open(ds.index_path).columns) == ["@length"]
    ds.annotate({"n": values}, default={"n": -1}, missing="error")
    assert ds.columns["n"].tolist() == [-1 if i == 5 else i for i in range(COUNT)]
    ds.annotate({"n": values}, drop=["n"], missing_values="null")
    assert ds.columns["n"].tolist() == [None if i == 5 else i for i in range(COUNT)]
    with pytest.raises(
        ValueError, match="missing_values must be one of 'error', 'null', not 'warn'"
    ):
        ds.annotate(drop=["n"], missing="warn")
    assert "n" in ds.columns


def test_columns_without_missing_values(ds):
    """A call without nulls leaves the nulls of other columns alone."""
    ds.annotate({"old": {1: 2}})
    ds.annotate({"n": list(range(COUNT))}, missing="error")
    assert ds.columns["n"].tolist() == list(range(COUNT))
    assert ds.columns["old"].count() == 1


def test_a_masked_comparison_selects_nothing(ds):
    ds.annotate({"score": {3: 0.5, 7: -1.0}, "lang": {1: "de", 2: "fr"}}, by="number")
    assert ds.select(ds.columns["score"] < 1).numbers.tolist() == [3, 7]
    assert ds.select(ds.columns["score"] != 0.5).numbers.tolist() == [7]
    assert ds.select(~(ds.columns["score"] == 0.5)).numbers.tolist() == [7]
    assert ds.select(ds.columns["lang"] == "de").numbers.tolist() == [1]
    assert ds.select(ds.columns["lang"] != "de").numbers.tolist() == [2]
    assert len(ds.select(ds.columns["score"].mask)) == COUNT - 2
    assert ds[ds.columns["score"] < 1].numbers.tolist() == [3, 7]


def test_nulls_are_no_numbers_of_records(ds):
    ds.annotate({"next": {0: 5}}, by="number")
    with pytest.raises(ValueError, match="must not be null"):
        ds.select(ds.columns["next"])


def test_weights_must_not_be_null(ds):
    ds.annotate({"w": {0: 5.0}}, by="number")
    with pytest.raises(ValueError, match="null"):
        recmap.Weighted(ds.columns["w"], 10)
    recmap.Weighted(ds.columns["w"].filled(1), 10)


def test_views_and_concatenations(ds, tmp_path):
    ds.annotate({"score": {3: 0.5, 7: -1.0}}, by="number")
    view = ds[2:8]
    assert listed(view.columns["score"]) == [None, 0.5, None, None, None, -1.0]
    assert view.where("score is not null").numbers.tolist() == [3, 7]
    write(tmp_path / "b.tfrecord", 0, 3)
    other = recmap.open(tmp_path / "b.tfrecord", index=tmp_path / "b.rmx", id="id")
    other.annotate({"score": [1.0, 2.0, 3.0]})
    both = recmap.concat([ds, other])
    assert listed(both.columns["score"])[-4:] == [None, 1, 2, 3]
    assert both.where("score is not null").numbers.tolist() == [3, 7, 60, 61, 62]
    assert recmap.concat([other, other]).columns["score"].tolist() == [1, 2, 3] * 2


def test_the_mask_of_a_column_cannot_be_written(ds):
    ds.annotate({"score": {3: 0.5}, "lang": {1: "de"}, "n": {1: 7}}, by="number")
    for name in ("score", "lang", "n"):
        column = ds.columns[name]
        with pytest.raises(ValueError, match="read-only"):
            column.mask[0] = False
        with pytest.raises(ValueError, match="read-only"):
            column.mask = False
        with pytest.raises(ValueError, match="read-only"):
            ds[:5].columns[name].mask[:] = False
        assert column.count() == ds.columns[name].count() == 1


def test_filled_without_a_value(ds):
    ds.annotate({"score": {3: 0.5}, "lang": {1: "de"}}, by="number")
    assert np.isnan(ds.columns["score"].filled()).sum() == COUNT - 1
    assert ds.columns["lang"].filled().tolist()[:3] == [b"", b"de", b""]
    assert ds[:3].columns["lang"].filled().tolist() == [b"", b"de", b""]


def test_isin_is_false_for_nulls(ds):
    ds.annotate({"score": {3: 0.5, 4: 0.0}, "lang": {1: "de", 2: "fr", 4: ""}}, by="number")
    scores, lang = ds.columns["score"], ds.columns["lang"]

    def found(*args, **options):
        return np.flatnonzero(np.isin(*args, **options)).tolist()

    assert found(lang, ["de", "es"]) == [1]
    assert found(lang, ["de", ""], invert=True) == [2]
    assert found(element=lang, test_elements=[b"fr", ""]) == [2, 4]
    assert found(scores, [0.0]) == [4]
    assert found(scores, [0.0], invert=True) == [3]
    assert found(ds[1::2].columns["lang"], ["de"]) == [0]
    assert found([0.0, 0.25, 0.5], scores) == [0, 2]
    assert found([0.0, 0.25], ds[:4].columns["score"]) == []
    assert found(lang, lang) == [1, 2, 4]
    assert ds.select(np.isin(lang, ["de"])).numbers.tolist() == [1]
    both = recmap.concat([ds, ds]).columns["lang"]
    assert found(both, ["de"]) == [1, COUNT + 1]


def test_nulls_are_not_stored_in_records(ds):
    ds.annotate({"s": {0: 0.5}, "k": {0: 7}, "lang": {0: "de"}}, by="number")
    for name in ("s", "k", "lang"):
        column = ds.columns[name]
        recmap.encode_example({"x": column[0], "all": column[:1]})
        for value in (column[1], column, column[:2], [column[0], column[1]], [column[:2]]):
            with pytest.raises(ValueError, match=r"feature 'x': .* null .*None"):
                recmap.encode_example({"x": value})
    with pytest.raises(ValueError, match=r"list 'x', step 1: .* null"):
        recmap.encode_sequence_example({}, {"x": [ds.columns["k"][0], ds.columns["k"][1]]})
    assert recmap.encode_example({"x": ds.columns["k"][:1]}) == recmap.encode_example({"x": [7]})


def test_null_keys_are_errors(ds, tmp_path):
    ds.annotate({"key": {0: 5}, "text": {0: "id-5"}}, by="number")
    key, text = ds.columns["key"], ds.columns["text"]
    assert ds.find_many(text[:1]).tolist() == [5]
    for ids in (key, text):
        with pytest.raises(ValueError, match="ids must not be null"):
            ds.find_many(ids)
        with pytest.raises(ValueError, match="ids must not be null"):
            ds.annotate({"id": ids, "x": range(COUNT)}, by="id")
    with pytest.raises(ValueError, match="record numbers must not be null"):
        ds.annotate({"number": key, "x": range(COUNT)}, by="number")
    with pytest.raises(TypeError):
        ds.find_many(list(key))
    with pytest.raises(ValueError, match="record numbers must not be null"):
        ds.annotate({"x": (list(key), range(COUNT))}, by="number")
    assert "x" not in ds.columns


def test_columns_can_be_given_back(ds):
    values = {"k": {0: 16777217, 1: 2**62 + 1}, "s": {0: 0.5}, "lang": {0: "de", 3: ""}}
    ds.annotate(values, by="number")
    ids = [f"id-{i}" for i in range(COUNT)]
    for name in values:
        column = ds.columns[name]
        copies = {
            "array": column,
            "list": list(column),
            "objects": np.ma.MaskedArray(column.tolist(), column.mask, dtype=object),
        }
        ds.annotate(copies)
        ds.annotate({"ids": dict(zip(ids, column, strict=True))}, by="id")
        for copy in (*copies, "ids"):
            assert ds.columns[copy].dtype == column.dtype
            assert listed(ds.columns[copy]) == listed(column), copy
        ds.annotate(drop=[*copies, "ids"])


def test_a_column_without_rows_is_refused(ds):
    for values in ({}, ([], [])):
        with pytest.raises(ValueError, match="column 's' has no values"):
            ds.annotate({"s": values}, by="number")
    ds.annotate({"s": {}}, by="id", default={"s": 0})
    assert ds.columns["s"].tolist() == [0] * COUNT


@pytest.mark.parametrize("value", [1, 0.5, "de"])
def test_keys_of_nulls_are_checked(ds, value):
    for keys in ([77, 0], [-1, 0]):
        with pytest.raises(ValueError, match=f"no record has the number {keys[0]}"):
            ds.annotate({"x": (keys, [None, value])}, by="number")
    with pytest.raises(ValueError, match='no record has the id "none"'):
        ds.annotate({"x": {"none": None, "id-0": value}}, by="id")
    for values in ([value, None], [None, value], [None, None]):
        with pytest.raises(ValueError, match='two rows of column "x" are for record 0'):
            ds.annotate({"x": ([0, 0], values)}, by="number")
        with pytest.raises(ValueError, match='two rows of column "x" are for record 1'):
            ds.annotate({"x": (["id-0", "id-1", "id-1"], [None, *values])}, by="id")


def test_arrow_arrays_keep_nulls(ds):
    pa = pytest.importorskip("pyarrow")
    ds.annotate({"score": {3: 0.5}}, by="number")
    scores = ds.columns["score"]
    array = pa.array(scores.data, mask=scores.mask)
    assert array.null_count == COUNT - 1 and array[3].as_py() == 0.5


def test_nullable_types_of_pandas(ds):
    pandas = pytest.importorskip("pandas")
    integers = pandas.Series([None if i % 2 else i for i in range(COUNT)], dtype="Int64")
    frame = pandas.DataFrame(
        {
            "number": range(COUNT),
            "i": integers,
            "f": integers.astype("Float64") / 2,
            "b": pandas.Series([None, True] * (COUNT // 2), dtype="boolean"),
            "s": pandas.Series([None, "x"] * (COUNT // 2), dtype="string"),
            "c": pandas.Series(["y", None] * (COUNT // 2), dtype="category"),
            "o": pandas.Series([3, float("nan")] * (COUNT // 2), dtype=object),
            "nan": pandas.Series([3, float("nan")] * (COUNT // 2)),
        }
    )
    ds.annotate(frame, by="number")
    columns = ds.columns
    assert columns["i"].dtype == np.int64 and listed(columns["i"])[:4] == [0, None, 2, None]
    assert listed(columns["f"])[:4] == [0, None, 1, None]
    assert columns["b"].dtype == np.int64 and listed(columns["b"])[:2] == [None, 1]
    assert listed(columns["s"])[:2] == [None, "x"]
    assert listed(columns["c"])[:2] == ["y", None]
    assert columns["o"].dtype == np.int64 and listed(columns["o"])[:2] == [3, None]
    assert not np.ma.is_masked(columns["nan"]) and np.isnan(columns["nan"][1])


def test_a_nan_of_a_list_or_of_arrow_is_a_value(ds):
    nan = float("nan")
    ds.annotate({"f": [None, nan] * (COUNT // 2)})
    assert np.isnan(ds.columns["f"][1]) and ds.columns["f"][0] is np.ma.masked
    pa = pytest.importorskip("pyarrow")
    ds.annotate({"a": pa.array([None, nan] * (COUNT // 2))})
    assert np.isnan(ds.columns["a"][1]) and ds.columns["a"][0] is np.ma.masked


def test_nothing_but_nulls(ds):
    ds.annotate({"x": [None] * COUNT})
    assert ds.columns["x"].mask.all()
    assert len(ds.where("x is null")) == COUNT and not len(ds.where("x == 1"))


@pytest.mark.parametrize("nulls", range(4))
@pytest.mark.parametrize("kind", ["int", "float", "text"])
def test_a_part_of_nothing_but_nulls(tmp_path, nulls, kind):
    value = {"int": 7, "float": 0.5, "text": "de"}[kind]
    parts = []
    for i in range(3):
        write(tmp_path / f"{i}.tfrecord", 0, 2)
        parts.append(recmap.open(tmp_path / f"{i}.tfrecord", index=tmp_path / f"{i}.rmx"))
        parts[i].annotate({"s": [None if nulls in (i, 3) else value, None]})
    both = recmap.concat(parts)
    expected = [one for part in parts for one in listed(part.columns["s"])]
    assert listed(both.columns["s"]) == expected
    for i, part in enumerate(parts):
        assert listed(both[2 * i : 2 * i + 2].columns["s"]) == listed(part.columns["s"])
    found = [i for i, one in enumerate(expected) if one is not None]
    literal = f"'{value}'" if kind == "text" else value
    assert both.where("s is not null").numbers.tolist() == found
    assert both.where(f"s == {literal}").numbers.tolist() == found
    assert both.where(f"s in ({literal}, {literal})").numbers.tolist() == found
    assert both.where("s == s").numbers.tolist() == found
    assert not len(both.where(f"s != {literal}")) and not len(both.where(f"s < {literal}"))
    assert len(both.where("s is null")) == 6 - len(found)
    both.close()


def test_parts_of_other_types_have_no_common_column(tmp_path):
    parts = []
    for i, value in enumerate([None, 1, "x"]):
        write(tmp_path / f"{i}.tfrecord", 0, 1)
        parts.append(recmap.open(tmp_path / f"{i}.tfrecord", index=tmp_path / f"{i}.rmx"))
        parts[i].annotate({"s": [value]})
    assert list(recmap.concat(parts).columns) == ["@length"]
    assert list(recmap.concat(parts[:2]).columns) == ["@length", "s"]


@pytest.mark.parametrize("empty", range(3))
def test_a_part_without_records_drops_no_column(tmp_path, empty):
    parts = []
    for i in range(3):
        write(tmp_path / f"{i}.tfrecord", 10 * i, 0 if i == empty else 2)
        parts.append(
            recmap.open(tmp_path / f"{i}.tfrecord", index=tmp_path / f"{i}.rmx", lift=["id", "n"])
        )
    both = recmap.concat(parts)
    numbers = [10 * i + j for i in range(3) if i != empty for j in range(2)]
    assert both.columns["n"].tolist() == numbers
    assert listed(both.columns["id"]) == [f"id-{n}" for n in numbers]
    assert both.where(f"id == 'id-{numbers[-1]}'").numbers.tolist() == [3]


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
@pytest.mark.parametrize("lift", [["x"], {"x": 0}, {"x": "none"}])
@pytest.mark.parametrize("absolute", [False, True])
def test_the_advice_to_lift_a_column_works(tmp_path, lift, absolute):
    shard, index = tmp_path / "a" / "a.tfrecord", tmp_path / ("b" if absolute else "a") / "a.rmx"
    shard.parent.mkdir()
    index.parent.mkdir(exist_ok=True)
    with recmap.Writer(shard) as writer:
        writer.write(recmap.encode_example({"n": 1}))
    recmap.open(shard, index=index).close()
    more = {"missing_values": "null"} if lift == ["x"] else {}
    with pytest.raises(recmap.StaleIndexError, match="no column 'x'") as raised:
        recmap.open(shard, index=index, lift=lift, **more)
    code = raised.value.advice.partition("to add it, and keep all else: ")[2]
    assert ("allow_absolute_paths=True" in code) == absolute
    eval(code, {"recmap": recmap}).close()
    with recmap.open(shard, index=index, lift=lift) as lifted:
        assert listed(lifted.columns["x"]) == [None if lift == ["x"] else next(iter(lift.values()))]


def test_a_concatenation_cannot_be_lifted(ds):
    with pytest.raises(recmap.InvalidError) as raised:
        recmap.concat([ds, ds]).lift(["n"])
    assert raised.value.advice == "annotate its parts, or lift columns of its parts"


def test_missing_features_become_nulls(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for i in range(4):
            writer.write(recmap.encode_example({"id": f"{i}", **({"n": i} if i % 2 else {})}))
    paths = {"index": tmp_path / "a.rmx"}
    with pytest.raises(recmap.FeatureError, match="no value of lifted feature"):
        recmap.open(tmp_path / "a.tfrecord", lift=["n"], **paths)
    with pytest.raises(ValueError, match="missing"):
        recmap.index(tmp_path / "a.tfrecord", lift=["n"], missing_values="skip")
    ds = recmap.open(
        recmap.index(tmp_path / "a.tfrecord", paths["index"], lift=["n"], missing_values="null")
    )
    assert listed(ds.columns["n"]) == [None, 1, None, 3]
    again = recmap.open(tmp_path / "a.tfrecord", lift=["n"], rebuild=True, **paths)
    assert listed(again.columns["n"]) == [None, 1, None, 3]
    bare = recmap.open(tmp_path / "a.tfrecord", index=tmp_path / "b.rmx")
    with pytest.raises(recmap.FeatureError, match="no value of lifted feature"):
        bare.lift(["n"])
    with pytest.raises(ValueError, match="missing"):
        bare.lift(["n"], missing="skip")
    assert listed(bare.lift(["n"], missing_values="null").columns["n"]) == [None, 1, None, 3]


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
def test_nulls_need_lifted_columns(tmp_path):
    """Columns of an existing index count, because shards may be appended, or the index rebuilt."""
    shards = write_shards(tmp_path, [{"n": 1}, {"x": 1}, {"n": 3}], shards=3)
    paths = {"source": shards[:1], "missing": "null"}
    first = "missing_values is .null., which is about lifted columns: name some with lift"
    for build in recmap.open, recmap.index:
        with pytest.raises(ValueError, match=first):
            build(**paths)
    assert not list(tmp_path.glob("*.rmx"))
    index = recmap.index(shards[:1], tmp_path / "a.rmx")
    second = "a.rmx: missing_values is .null., but the index has no lifted columns"
    for source in shards[:1], shards[:2]:
        with pytest.raises(recmap.InvalidError, match=second):
            recmap.open(source, index=index, missing_values="null")
    with pytest.raises(ValueError, match=first):
        recmap.open(shards, index=index, missing_values="null", rebuild=True)
    recmap.index(shards[:1], index, lift=["n"])
    with recmap.open(shards[:2], index=index, missing_values="null") as ds:
        assert listed(ds.columns["n"]) == [1, None]
    with recmap.open(shards, index=index, missing_values="null", rebuild=True) as ds:
        assert listed(ds.columns["n"]) == [1, None, 3]


TEXTS = ["", "de", "fr", "a longer text", "ü"]


def random_values(rng, kind, count):
    """Values of one kind, of which a share is None."""
    share = rng.choice([0, 0.1, 0.9, 1])
    make = {
        "int64": lambda: rng.randrange(-(2 ** rng.choice([3, 15, 62])), 2**15),
        "float": lambda: rng.randrange(-1000, 1000) / 8,
        "bytes": lambda: rng.choice(TEXTS),
        "unique": lambda: f"text {rng.random()}",
    }[kind]
    values = [None if rng.random() < share else make() for _ in range(count)]
    if all(value is None for value in values):
        values[rng.randrange(count)] = make()
    return values


def check(ds, model):
    """Columns and conditions of the data set match the model: {name: values}."""
    for name, values in model.items():
        assert listed(ds.columns[name]) == values, name
        nulls = [i for i, value in enumerate(values) if value is None]
        assert ds.where(f"{name} is null").numbers.tolist() == nulls
        present = [value for value in values if value is not None]
        if not present:
            continue
        one = present[len(present) // 2]
        for relation, holds in [
            ("==", lambda a, b: a == b),
            ("!=", lambda a, b: a != b),
            ("<", lambda a, b: a < b),
            (">=", lambda a, b: a >= b),
        ]:
            due = [i for i, v in enumerate(values) if v is not None and holds(v, one)]
            assert ds.where(f"{name} {relation} {one!r}").numbers.tolist() == due
        due = [i for i, v in enumerate(values) if v is None or v != one]
        assert ds.where(f"not ({name} in ({one!r},))").numbers.tolist() == due


@pytest.mark.parametrize("seed", range(12))
def test_random_columns_match_a_plain_model(tmp_path, seed):
    """Columns that are annotated, appended to, merged, viewed and concatenated."""
    rng = random.Random(seed)
    model, datasets = {}, []
    kinds = {f"c{i}": rng.choice(["int64", "float", "bytes", "unique"]) for i in range(4)}
    for part in range(2):
        count = rng.choice([1, 63, 64, 65, 200])
        shard = tmp_path / f"p{part}.tfrecord"
        write(shard, part * 1000, count)
        ds = recmap.open(shard, index=tmp_path / f"p{part}.rmx", id="id")
        columns = {name: random_values(rng, kind, count) for name, kind in kinds.items()}
        ds.annotate(columns)
        check(ds, columns)
        datasets.append(ds)
        model[part] = columns
    both = {name: model[0][name] + model[1][name] for name in kinds}
    check(recmap.concat(datasets), both)
    recmap.merge(tmp_path / "all.rmx", [ds.index_path for ds in datasets])
    check(recmap.open(tmp_path / "all.rmx"), both)
    first = datasets[0]
    more = rng.randrange(1, 80)
    write(tmp_path / "more.tfrecord", 5000, more)
    shards = [tmp_path / "p0.tfrecord", tmp_path / "more.tfrecord"]
    grown = recmap.open(shards, index=first.index_path)
    model = {name: values + [None] * more for name, values in model[0].items()}
    check(grown, model)
    grown.annotate(rename={"c0": "renamed"}, drop=["c1"])
    model["renamed"] = model.pop("c0")
    del model["c1"]
    check(grown, model)
    view = grown[1::2]
    assert {n: listed(view.columns[n]) for n in model} == {n: v[1::2] for n, v in model.items()}


MODELS = {
    "int64": [3, None, -1, 2**63 - 1, None, 3, 0, -(2**63), None],
    "float": [0.5, None, float("inf"), 0.5, None, -2.0, 0.0, None, float("-inf")],
    "text": ["fr", None, "", "de", None, "fr", "\U0001f600", None, None],
    "whole": [2, 1, 3, 1, 0, -5, 7, 7, 2],
}


@pytest.fixture
def model(ds):
    """Columns, and lists with their values, None for nulls."""
    lists = {name: values + values[::-1] * 2 for name, values in MODELS.items()}
    lists = {name: (values * 3)[:COUNT] for name, values in lists.items()}
    ds.annotate(lists)
    return ds, lists


def key_of(value):
    """Orders nulls last, and str as their UTF-8."""
    return (
        value is None,
        b"" if value is None else value.encode() if isinstance(value, str) else value,
    )


@pytest.mark.parametrize("name", [name for name in MODELS if name != "whole"])
def test_sorting_keeps_values_and_puts_nulls_last(model, name):
    ds, lists = model
    column, values = ds.columns[name], lists[name]
    expected = sorted((v for v in values if v is not None), key=key_of)
    expected += [None] * values.count(None)
    assert listed(np.sort(column)) == expected
    assert listed(np.sort(column[::-1], kind="stable")) == expected
    places = np.argsort(column, kind="stable")
    assert places.tolist() == sorted(range(COUNT), key=lambda i: key_of(values[i]))
    assert listed(column) == values
    assert np.sort(column.reshape(2, -1)).shape == (2, COUNT // 2)
    copy = column.copy()
    copy.sort()
    assert sorted(listed(copy), key=key_of) == expected
    assert sorted(listed(np.ma.sort(column)), key=key_of) == expected


@pytest.mark.parametrize("name", [name for name in MODELS if name != "whole"])
def test_distinct_values_and_one_null(model, name):
    ds, lists = model
    column, values = ds.columns[name], lists[name]
    expected = [*sorted({v for v in values if v is not None}, key=key_of), None]
    unique, index, inverse, counts = np.unique(
        column, return_index=True, return_inverse=True, return_counts=True
    )
    assert listed(np.unique(column)) == listed(unique) == expected
    assert index.tolist() == [values.index(value) for value in expected]
    assert counts.tolist() == [values.count(value) for value in expected]
    assert [expected[i] for i in inverse] == values
    known = column[~column.mask]
    assert listed(np.unique(known)) == expected[:-1]
    assert np.unique(known, return_counts=True)[1].tolist() == counts[:-1].tolist()


def test_distinct_texts_compare_with_str(model):
    ds, _ = model
    found = np.unique(ds.columns["text"])
    assert (found == "de").tolist() == [False, True, False, False, None]


@pytest.mark.parametrize("name", ["text", "float"])
def test_joined_columns_are_columns(model, name):
    ds, lists = model
    column, values = ds.columns[name], lists[name]
    empty = b"" if name == "text" else np.nan
    for joined in np.concatenate([column, column]), np.where(np.ones(COUNT, bool), column, column):
        count = len(joined) // COUNT
        assert listed(joined) == values * count
        filled = [empty if v is None else v for v in listed(joined)]
        assert repr(joined.filled().tolist()) == repr(
            [v.encode() if isinstance(v, str) else v for v in filled]
        )
    if name == "text":
        found = np.concatenate([column, column]) == "de"
        assert found.tolist() == [None if v is None else v == "de" for v in values * 2]


def test_columns_of_a_view_without_nulls_are_counted(model):
    ds, lists = model
    column = ds.where("int64 is not null").columns["int64"]
    values = [v for v in lists["int64"] if v is not None]
    assert np.quantile(column, 0.5) == np.quantile(values, 0.5)
    assert np.histogram(column, 3)[0].tolist() == np.histogram(values, 3)[0].tolist()
    assert np.bincount(column % 7).sum() == len(values)
    assert np.lexsort((column,)).tolist() == np.lexsort((values,)).tolist()
    assert np.select([column > 0], [column], -1).tolist() == [v if v > 0 else -1 for v in values]


def test_other_functions_of_numpy_keep_nulls_or_refuse_them(model):
    ds, lists = model
    column, values = ds.columns["int64"], lists["int64"]
    assert np.concatenate([column, column]).tolist() == values * 2
    assert np.where(np.arange(COUNT) < 5, column, -7).tolist() == values[:5] + [-7] * (COUNT - 5)
    for join in np.hstack, np.append, lambda parts: np.concatenate(parts, dtype="int64"):
        parts = (column, column) if join is np.append else ([column, column],)
        assert join(*parts).tolist() == values * 2
    for stack in np.stack, np.vstack:
        assert stack([column, column]).tolist() == [values, values]
    with pytest.raises(TypeError, match="takes no out="):
        np.concatenate([column, column], out=np.empty(2 * COUNT, np.int64))
    floats = [v for v in lists["float"] if v is not None]
    assert np.median(ds.columns["float"]) == np.median(floats)
    for call in (
        lambda: np.bincount(column),
        lambda: np.digitize(column, [1, 2]),
        lambda: np.histogram(column),
        lambda: np.histogram2d(column, column),
        lambda: np.histogram_bin_edges(column),
        lambda: np.corrcoef(column, np.arange(COUNT)),
        lambda: np.cov(column),
        lambda: np.interp([1.5], np.arange(COUNT), column),
        lambda: np.intersect1d(column, [0]),
        lambda: np.pad(column, 1),
        lambda: np.percentile(column, 50),
        lambda: np.searchsorted(np.sort(column), 3),
        lambda: np.searchsorted([1, 2], column),
        lambda: np.setdiff1d([0, 1], column),
        lambda: np.setxor1d(column, [0]),
        lambda: np.unique(column.reshape(-1, 2), axis=0),
        lambda: np.unique(column.reshape(-1, 2)),
        lambda: np.quantile(column, 0.5),
        lambda: np.nanquantile(column, 0.5),
        lambda: np.nanpercentile(column, 50),
        lambda: np.partition(column, 3),
        lambda: np.argpartition(column, 3),
        lambda: np.lexsort((column, np.arange(COUNT))),
        lambda: np.histogramdd([column, column]),
        lambda: np.allclose(column, 0),
        lambda: np.array_equiv(column, [0]),
        lambda: np.block([[column], [np.arange(COUNT)]]),
        lambda: np.select([np.arange(COUNT) < 5], [column], -1),
        lambda: np.piecewise(column, [np.arange(COUNT) < 5], [1, 2]),
        lambda: np.polyfit(np.arange(COUNT), column, 1),
        lambda: np.convolve(column, [1, 2]),
        lambda: np.correlate(column, [1, 2]),
        lambda: np.unwrap(column),
        *([lambda: np.cumulative_sum(column)] if hasattr(np, "cumulative_sum") else []),
    ):
        with pytest.raises(TypeError, match=r"would count nulls as values: .*compressed\(\)"):
            call()
    assert np.quantile(column.compressed(), 0.5) == np.quantile(
        [v for v in values if v is not None], 0.5
    )


@pytest.mark.parametrize("name", ["int64", "float", "text"])
def test_inserting_and_deleting_keeps_nulls(model, name):
    ds, lists = model
    column, values = ds.columns[name], lists[name]
    null = values.index(None)
    for places in (null, [0, null, -1], slice(1, 9, 3), np.arange(COUNT) % 3 == 0):
        rest = np.delete(np.arange(COUNT), places).tolist()
        assert listed(np.delete(column, places)) == [values[i] for i in rest]
    twice = np.insert(column, 2, column)
    assert listed(twice) == [*values[:2], *values, *values[2:]]
    assert repr(twice.fill_value) == repr(column.fill_value)
    assert listed(np.insert(column, [1, 5], column[[null, 0]])) == [
        values[0], None, *values[1:5], values[0], *values[5:]
    ]  # fmt: skip
    assert listed(np.insert(column, null, np.ma.masked))[null : null + 2] == [None, None]
    first = next(value for value in values if value is not None)
    mixed = listed(np.insert(column, [0, 0, 0], [first, np.ma.masked, first]))
    assert mixed == [first, None, first, *values]
    assert listed(np.insert(column, [0], [np.ma.masked])) == [None, *values]
    if name == "text":
        assert (np.delete(column, 0) == "de").tolist() == [
            None if v is None else v == "de" for v in values[1:]
        ]
        return
    pair = column[:2].reshape(1, 2)
    assert np.insert(pair, 1, column[2:4], axis=0).tolist() == [values[:2], values[2:4]]
    assert np.insert(np.zeros(2, column.dtype), 1, column).tolist() == [0, *values, 0]
    with pytest.raises(TypeError, match="places must not be null"):
        np.delete(np.arange(COUNT), column > 0)
    assert len(np.delete(np.arange(COUNT), (column > 0).filled(False))) < COUNT


def test_texts_without_nulls_before_those_with_nulls(ds):
    """NumPy asks the first array how to proceed."""
    words = ["de" if i % 2 else "fr" for i in range(COUNT)]
    ds.annotate({"whole": words, "some": {0: "fr", 1: "de", 2: ""}}, on=None)
    whole, some = ds.columns["whole"], ds.columns["some"]
    plain, known = [word.encode() for word in words], [b"fr", b"de", b"", *[None] * (COUNT - 3)]
    for both in (
        np.concatenate([whole, some]),
        np.append(whole, some),
        np.hstack([whole, some]),
        np.insert(whole, COUNT, some),
        np.stack([whole, some]).ravel(),
    ):
        assert both.tolist() == [*plain, *known]
        assert ds.columns["whole"].tolist() == plain
        assert np.flatnonzero((both == "de").filled(False)).tolist() == [
            i for i, word in enumerate([*plain, *known]) if word == b"de"
        ]
    chosen = np.where(whole == "de", whole, some)
    assert chosen.tolist()[:5] == [b"fr", b"de", b"", b"de", None]
    for mask in whole == some, some == whole:
        assert mask.tolist()[:4] == [True, True, False, None]
    for mask in whole != some, some != whole:
        assert ds.select(mask).numbers.tolist() == [2]
    assert np.isin(whole, some).all() and not np.isin(some, whole)[2:].any()


def test_equal_arrays_have_equal_nulls(ds):
    ds.annotate({"s": {0: 5, 2: 7}, "t": {0: "de", 2: "fr"}}, by="number")
    for name, values in ("s", [5, 0, 7]), ("t", ["de", "", "fr"]):
        column = ds.columns[name][:3]
        assert np.array_equal(column, column) and np.array_equal(column[[0, 2]], values[::2])
        assert not np.array_equal(column, values) and not np.array_equal(values, column)
        assert not np.array_equal(column, column[:2])


def test_counting_leaves_nulls_out(ds):
    ds.annotate({"s": {0: 5, 1: 0, 2: 7}, "t": {0: "de", 2: "fr", 3: ""}}, by="number")
    assert np.count_nonzero(ds.columns["s"]) == 2 == np.count_nonzero(ds.columns["t"])
    assert np.count_nonzero(~(ds.columns["s"] > 6)) == 2 == (~(ds.columns["s"] > 6)).sum()
    pairs = (ds.columns["s"] > 6).reshape(-1, 2)
    assert np.count_nonzero(~pairs, axis=0).tolist() == [1, 1]


def test_averages_leave_nulls_out(ds):
    ds.annotate({"s": {0: 1.0, 1: 4.0}}, by="number")
    assert np.average(ds.columns["s"], weights=np.arange(1, COUNT + 1)) == 3
    assert np.average(ds.columns["s"]) == 2.5
    assert np.ptp(ds.columns["s"]) == 3


def test_columns_without_nulls_are_those_of_numpy(model):
    ds, lists = model
    column = ds.columns["whole"]
    assert type(column) is np.ndarray
    assert np.unique(column).tolist() == sorted(set(lists["whole"]))


def test_copies_can_be_changed(model):
    ds, lists = model
    copy = ds.columns["int64"].copy()
    copy[1], copy[0] = 5, np.ma.masked
    assert listed(copy)[:3] == [None, 5, -1]
    assert listed(ds.columns["int64"]) == lists["int64"]


def test_a_column_of_only_nulls_has_no_type(tmp_path):
    write(tmp_path / "a.tfrecord", 0, COUNT)
    with pytest.warns(UserWarning, match="all have null"):
        ds = recmap.open(recmap.index(tmp_path / "a.tfrecord", lift=["x"], missing_values="null"))
    column = ds.columns["x"]
    assert "x: none" in repr(ds.columns) and ds.info["columns"][1]["type"] == "none"
    assert listed(column) == [None] * COUNT and column.dtype == np.float32
    assert column.filled(0.5).tolist() == [0.5] * COUNT
    assert np.isnan(column.filled()).all()
    for mask in (column == "de", column > 0.5, column == 3):
        assert len(ds.select(mask)) == 0
    assert not np.isin(column, ["de"]).any() and listed(np.unique(column)) == [None]
    assert ds[3:5].columns["x"].tolist() == [None, None]
    with recmap.Writer(tmp_path / "b.tfrecord") as writer:
        writer.write({"x": "de"})
    shards = [tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"]
    with recmap.open(shards, index=ds.index_path) as grown:
        assert "x: bytes" in repr(grown.columns)
        assert listed(grown.columns["x"]) == [None] * COUNT + ["de"]


def test_a_column_without_records_has_no_type(tmp_path):
    write(tmp_path / "a.tfrecord", 0, 0)
    ds = recmap.open(tmp_path / "a.tfrecord", lift=["x"])
    assert "x: none" in repr(ds.columns) and len(ds.columns["x"]) == 0
