"""Views by an expression, random samples, and splits by shares."""

import operator

import numpy as np
import pytest
import recmap
from conftest import write

ROWS = [
    {"label": i % 5, "score": i / 8, "lang": ("de", "fr", "日本")[i % 3], "a/b": 2 * (i % 5)}
    for i in range(40)
]


@pytest.fixture
def labelled(tmp_path):
    write(tmp_path, [recmap.encode_example(row) for row in ROWS])
    lift = ["label", "score", "lang", "a/b"]
    with recmap.open(tmp_path / "made-0.tfrecord", lift=lift) as ds:
        yield ds


CONDITIONS = {
    "label == 3": lambda row: row["label"] == 3,
    "3 != label": lambda row: row["label"] != 3,
    "label<2 or label >= 4": lambda row: row["label"] < 2 or row["label"] >= 4,
    "not label == 3 and score > 1.5": lambda row: row["label"] != 3 and row["score"] > 1.5,
    "0 < label <= 3": lambda row: 0 < row["label"] <= 3,
    "lang == 'de'": lambda row: row["lang"] == "de",
    "lang == b'de'": lambda row: row["lang"] == "de",
    "lang in ('fr', '日本')": lambda row: row["lang"] in ("fr", "日本"),
    "lang not in ['fr']": lambda row: row["lang"] != "fr",
    "lang > 'dz'": lambda row: row["lang"] > "dz",
    "label in {1, 2.0, -7}": lambda row: row["label"] in (1, 2),
    "label in ()": lambda row: False,
    "label > -1": lambda row: True,
    "columns['a/b'] == label": lambda row: row["label"] == 0,
    " length > 0 ": lambda row: True,
    "columns['@length'] == 0": lambda row: False,
    "(label == 1 or label == 2) and not (score < 2 or lang == 'de')": lambda row: (
        row["label"] in (1, 2) and row["score"] >= 2 and row["lang"] != "de"
    ),
}


@pytest.mark.parametrize("expression", CONDITIONS)
def test_conditions_select_as_in_python(labelled, expression):
    holds = CONDITIONS[expression]
    expected = [i for i, row in enumerate(ROWS) if holds(row)]
    assert labelled.where(expression).numbers.tolist() == expected


def test_conditions_on_views(labelled):
    view = labelled[30:3:-2]
    expected = [i for i in range(30, 3, -2) if ROWS[i]["label"] == 1]
    assert view.where("label == 1").numbers.tolist() == expected


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "label",
        "label =",
        "label = 3",
        "not label",
        "True",
        "1 == 1",
        "label is 3",
        "label == None",
        "label == 3j",
        "label + 1 == 3",
        "label == -'a'",
        "label in 3",
        "label in lang",
        "label in range(3)",
        "label in [score]",
        "3 in (3, 4)",
        "label == 'three'",
        "lang == 3",
        "lang in ('de', 3)",
        "lang == label",
        "open('x')",
        "label.sum() == 3",
        "__import__('os').system('true') == 0",
        "label == (x := 3)",
        "label == f'{3}'",
        "label[0] == 3",
        "columns[label] == 3",
        "columns[3] == 3",
        "[label == i for i in (1, 2)]",
        "(lambda: label == 3)()",
        "label == 3 if label == 3 else label == 4",
        "label == 3; label == 4",
        "label == \x00",
        "(" * 5000 + "label == 3" + ")" * 5000,
        "not " * 20_000 + "label == 3",
        "label == " + "9" * 5000,
    ],
)
def test_invalid_expressions_are_explained(labelled, expression):
    with pytest.raises(recmap.InvalidError) as caught:
        labelled.where(expression)
    words = {"True": "write `COLUMN == 1`", "label == None": "use `COLUMN is null`"}
    assert words.get(expression, "columns['a/b']") in caught.value.advice
    assert len(str(caught.value)) < 500


def test_expressions_that_are_too_long(labelled):
    with pytest.raises(recmap.InvalidError, match="has more than 100000 bytes") as caught:
        labelled.where("label == 3 or " * 10_000 + "label == 3")
    assert "with `ds.annotate`, and compare that column" in caught.value.advice
    assert len(labelled.where("label == 3 or " * 5000 + "label == 3")) == len(
        labelled.where("label == 3")
    )


def test_errors_name_the_character(labelled):
    with pytest.raises(ValueError, match="character 16: `lang`: text and numbers cannot") as caught:
        labelled.where("label == 3 and lang == 3")
    assert caught.value.path == labelled.index_path
    with pytest.raises(ValueError, match="character 12: unexpected character") as caught:
        labelled.where("label == 3 && lang == 'de'")
    assert caught.value.advice == "combine comparisons with the words `and`, `or` and `not`"
    with pytest.raises(ValueError, match="character 15: unexpected character") as caught:
        labelled.where("label == 3 or @length > 5")
    assert "@length is written `length`" in caught.value.advice


def test_an_unknown_column(labelled):
    with pytest.raises(KeyError, match="no column 'colour'") as caught:
        labelled.where("colour == 'red'")
    assert 'if the records have it, `ds.lift(["colour"])` adds it' in caught.value.advice
    assert "`ds.annotate` adds other values" in caught.value.advice
    assert "rebuild" not in caught.value.advice
    with pytest.raises(KeyError, match="no column '@colour'") as caught:
        labelled.where("columns['@colour'] == 'red'")
    assert "lift" not in caught.value.advice


def test_expressions_are_text(labelled):
    with pytest.raises(TypeError, match="must be a str, not ndarray"):
        labelled.where(labelled.columns["label"] == 3)


def test_large_integers_are_exact(tmp_path):
    write(tmp_path, [recmap.encode_example({"n": 2**53 + i}) for i in range(3)])
    ds = recmap.open(tmp_path / "made-0.tfrecord", lift=["n"])
    assert ds.where(f"n == {2**53 + 1}").numbers.tolist() == [1]
    assert ds.where(f"n in ({2**53 + 1}, {2**70})").numbers.tolist() == [1]
    assert ds.where(f"n < {2**70}").numbers.tolist() == [0, 1, 2]


def test_samples_depend_on_the_seed_alone(labelled):
    numbers = labelled.sample(10, seed=7).numbers
    assert len(set(numbers.tolist())) == 10
    assert (np.diff(numbers) > 0).all()
    assert labelled.sample(10, seed=7).numbers.tolist() == numbers.tolist()
    assert labelled.sample(10, seed=8).numbers.tolist() != numbers.tolist()
    assert labelled.sample(40).numbers.tolist() == list(range(40))
    assert len(labelled.sample(0)) == 0
    assert set(labelled[5:9].sample(3).numbers.tolist()) < {5, 6, 7, 8}


@pytest.mark.parametrize("n", [-1, 41])
def test_samples_that_are_too_large(labelled, n):
    with pytest.raises(ValueError, match=f"cannot sample {n} records: there are 40"):
        labelled.sample(n)


def test_split_by_shares_is_a_partition(digits):
    shares = {"train": 0.9, "validation": 0.1}
    parts, expected = digits.split(shares, seed=3), digits.split(shares, seed=3)
    assert list(parts) == list(shares)
    for name in shares:
        assert parts[name].numbers.tolist() == expected[name].numbers.tolist()


RELATIONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LIMITS = [-(2**63), -(2**63) + 1, 0, 2**63 - 2, 2**63 - 1]
FLOATS = [2.0**53, 2.0**53 + 2, -(2.0**53), 0.5, -1.5, -0.0, 2.0**63, -(2.0**63), 1e300, -1e300]
NEAR = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53), -(2**53) - 1, 0, 1, -1, -2, 2**63 - 1]
BEYOND = [2**63, -(2**63) - 1, 2**63 + 512, 10**30, -(10**30)]


@pytest.mark.parametrize("relation", RELATIONS)
def test_integers_beyond_int64(tmp_path, relation):
    """They compare as the numbers that they are, although their doubles are rounded."""
    write(tmp_path, [recmap.encode_example({"id": id}) for id in LIMITS])
    holds = RELATIONS[relation]
    with recmap.open(tmp_path / "made-0.tfrecord", lift=["id"]) as ds:
        for value in BEYOND + LIMITS:
            expected = [i for i, id in enumerate(LIMITS) if holds(id, value)]
            assert ds.where(f"id {relation} {value}").numbers.tolist() == expected
            expected = [i for i, id in enumerate(LIMITS) if id == value]
            assert ds.where(f"id in ({value},)").numbers.tolist() == expected


@pytest.mark.parametrize("relation", RELATIONS)
def test_integers_and_floats_compare_exactly(tmp_path, relation):
    integers = [*NEAR, *LIMITS]
    write(tmp_path, [recmap.encode_example({"id": id}) for id in integers])
    holds = RELATIONS[relation]
    with recmap.open(tmp_path / "made-0.tfrecord", lift=["id"]) as ds:
        for value in FLOATS:
            expected = [i for i, id in enumerate(integers) if holds(id, value)]
            assert ds.where(f"id {relation} {value!r}").numbers.tolist() == expected
            expected = [i for i, id in enumerate(integers) if id == value]
            assert ds.where(f"id in ({value!r},)").numbers.tolist() == expected


@pytest.mark.parametrize(
    "expression",
    ["label in (1, 2) == 3", "label in (1, 2) in (3,)", "0 < label not in (1,) < 3"],
)
def test_nothing_follows_a_list_in_a_chain(labelled, expression):
    with pytest.raises(recmap.InvalidError, match="a list cannot be compared"):
        labelled.where(expression)


def test_a_list_ends_a_chain(labelled):
    expected = [i for i, row in enumerate(ROWS) if row["label"] in (1, 2)]
    assert labelled.where("0 < label in (0, 1, 2)").numbers.tolist() == expected


@pytest.mark.parametrize(
    ("expression", "shown"), [("lang == 'a\\é'", "`\\é`"), ("lang == '\\", "`\\`")]
)
def test_unknown_escapes_are_shown_whole(labelled, expression, shown):
    with pytest.raises(recmap.InvalidError) as raised:
        labelled.where(expression)
    assert f"{shown}: unknown escape" in str(raised.value)


def test_a_list_of_a_column_without_a_type(tmp_path):
    write(tmp_path, [])
    with recmap.open(tmp_path / "made-0.tfrecord", lift=["label"]) as ds:
        assert len(ds.where("label in ('a', 5) or label not in (5, 'a')")) == 0
