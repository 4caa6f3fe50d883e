"""JsonLines: JSON objects as columns, compared with Python's json module."""

import json
import random

import numpy as np
import pytest
import recmap
from recmap import FixedLen, JsonLines, VarLen

SEED = 20260103


def opened(folder, lines, **options):
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (folder / "t.jsonl").write_text(text)
    (folder / "t.rmx").unlink(missing_ok=True)
    options = {"framing": "lines", "index": folder / "t.rmx", **options}
    return recmap.open(folder / "t.jsonl", **options)


def parsed(folder, lines, features, **options):
    with opened(folder, lines) as ds:
        return ds.parse(range(len(ds)), JsonLines(features), **options)


def random_text(made):
    return "".join(made.choice('ab"\\/\n\t\0é\u2028😀 ') for _ in range(made.randrange(12)))


def random_object(made):
    members = [
        ("n", made.randrange(-(2**63), 2**63)),
        ("x", made.uniform(-1e9, 1e9)),
        ("s", random_text(made)),
        ("list", [made.randrange(100) for _ in range(made.randrange(4))]),
        ("m", [[made.random() for _ in range(3)] for _ in range(2)]),
        ("in", {"s": random_text(made), "deep": {"flag": made.random() < 0.5, "other": None}}),
        ("unused", {"a": [{"b": [1, 2, {"c": "]}"}]}], "n": None}),
    ]
    made.shuffle(members)
    return dict(members)


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("indent", [None, " "])
def test_values_are_those_of_the_json_module(tmp_path, ascii, indent):
    made = random.Random(SEED)
    objects = [random_object(made) for _ in range(800)]
    separators = (", ", ": ") if indent else (",", ":")
    lines = [json.dumps(o, ensure_ascii=ascii, separators=separators) for o in objects]
    features = {
        "n": FixedLen((), "int64"),
        "x": FixedLen((), "float64"),
        "s": FixedLen((), bytes),
        "list": VarLen("int8"),
        "m": FixedLen((2, 3), "float64"),
        "inner": FixedLen((), bytes, key="in.s"),
        "flag": FixedLen((), "bool", key="in.deep.flag"),
    }
    batch = parsed(tmp_path, lines, features, threads=3)
    assert batch["n"].tolist() == [o["n"] for o in objects]
    assert batch["x"].tolist() == [o["x"] for o in objects]
    assert [v.decode() for v in batch["s"].tolist()] == [o["s"] for o in objects]
    assert [list(v) for v in batch["list"]] == [o["list"] for o in objects]
    assert batch["m"].tolist() == [o["m"] for o in objects]
    assert [v.decode() for v in batch["inner"].tolist()] == [o["in"]["s"] for o in objects]
    assert batch["flag"].tolist() == [o["in"]["deep"]["flag"] for o in objects]


def test_last_of_equal_names_counts(tmp_path):
    lines = [
        '{"a": 1, "a": 2}',
        '{"a": 1, "a": null}',
        '{"b": {"c": 5}, "b": {"c": 6}, "a": 7}',
        '{"b": {"c": 5}, "b": {}}',
        '{"b": {"c": 5}, "b": null}',
        '{"b": 3, "b": {"c": 5}}',
        '{"b": [{"c": 3}], "b": {"c": 5}}',
        '{"b": {"c": 1, "c": 2}, "\\u0061": 8}',
    ]
    features = {
        "a": FixedLen((), "int64", default=-1),
        "c": FixedLen((), "int64", key="b.c", default=-1),
    }
    batch = parsed(tmp_path, lines, features)
    expected = [json.loads(line) for line in lines]

    def c_of(o):
        inner = o.get("b")
        return inner.get("c", -1) if isinstance(inner, dict) else -1

    assert batch["a"].tolist() == [-1 if o.get("a") is None else o["a"] for o in expected]
    assert batch["c"].tolist() == [c_of(o) for o in expected]
    only_a = parsed(tmp_path, lines, {"a": features["a"]})
    assert only_a["a"].tolist() == batch["a"].tolist()


def test_name_with_a_dot(tmp_path):
    batch = parsed(tmp_path, ['{"a.b": 1}', '{"a": {"b": 2}}'], {"a.b": FixedLen((), "int64")})
    assert batch["a.b"].tolist() == [1, 2]


def gathered(value, path):
    """What the path leads to: of an array, the array of what it leads to in each element."""
    if isinstance(value, list):
        return [gathered(element, path) for element in value]
    first, _, rest = path.partition(".")
    return gathered(value[first], rest) if rest else value[first]


def random_boxes(made):
    def box():
        return {"label": made.choice(["cat", 'd"og', "é"]), "at": [made.random(), made.random()]}

    boxes = [box() for _ in range(made.randrange(4))]
    tracks = [{"states": [{"x": made.randrange(99)} for _ in range(3)]} for _ in range(2)]
    return {"image": {"boxes": boxes}, "tracks": tracks, "one": [{"x": made.randrange(9)}]}


@pytest.mark.parametrize("ascii", [True, False])
def test_path_through_an_array_gives_a_value_for_each_element(tmp_path, ascii):
    made = random.Random(SEED)
    objects = [random_boxes(made) for _ in range(300)]
    features = {
        "label": VarLen(bytes, key="image.boxes.label"),
        "x": FixedLen((2, 3), "int32", key="tracks.states.x"),
        "one": FixedLen((), "int8", key="one.x"),
        "as_list": VarLen("int64", key="one.x"),
    }
    lines = [json.dumps(o, ensure_ascii=ascii) for o in objects]
    batch = parsed(tmp_path, lines, features, threads=2)
    labels = [[bytes(v).decode() for v in row] for row in batch["label"]]
    assert labels == [gathered(o, "image.boxes.label") for o in objects]
    assert batch["x"].tolist() == [gathered(o, "tracks.states.x") for o in objects]
    assert [[v] for v in batch["one"].tolist()] == [gathered(o, "one.x") for o in objects]
    assert [list(row) for row in batch["as_list"]] == [gathered(o, "one.x") for o in objects]


@pytest.mark.parametrize(
    ("line", "message", "offset"),
    [
        ('{"a": 5}', "a value on the path is not an object: `5}`", 6),
        ('{"a": [{"b": 1}, 5]}', "is not an object: `5]}`", 17),
        ('{"a": [[{"b": 1}]]}', "is not an object", 7),
        ('{"a": [{"b": 1}, null]}', "is not an object", 17),
        ('{"a": [{"b": 1}, {"c": 2}]}', 'has no such member: `{"c": 2}]}`', 17),
        ('{"a": [{"b": null}]}', "has no such member", 7),
        ('{"a": [{"b": 1}, {"b": 2}]}', r"has 2 values, but its shape is \[\]", 6),
        ('{"a": []}', r"has 0 values, but its shape is \[\]", 6),
        ('{"a": [{"b": [1]}]}', "not of type int64", 6),
    ],
)
def test_other_paths_through_arrays_are_errors(tmp_path, line, message, offset):
    with opened(tmp_path, [line]) as ds:
        feature = FixedLen((), "int64", key="a.b", default=-1)
        with pytest.raises(recmap.FeatureError, match=message) as caught:
            ds.parse([0], JsonLines({"x": feature}))
        assert caught.value.record == 0 and caught.value.offset == offset
        assert "feature 'a.b'" in str(caught.value)
    with pytest.raises(recmap.FeatureError, match="leads through a value that is not an object"):
        opened(tmp_path, [line], lift={"a.b": JsonLines({"x": feature})["x"]})


def test_arrays_on_a_path_must_have_the_shape(tmp_path):
    line = '{"a": [{"b": [1, 2]}, {"b": [3, 4]}]}'
    for shape in [(3, 2), (2, 3), (4, 1)]:
        with pytest.raises(recmap.FeatureError, match="is not an array of the shape"):
            parsed(tmp_path, [line], {"x": FixedLen(shape, "int64", key="a.b")})
    for feature in (FixedLen((2,), "int64", key="a.b"), VarLen("int64", key="a.b")):
        with pytest.raises(recmap.FeatureError, match=r"not of type int64: `\[1, 2\]`"):
            parsed(tmp_path, [line], {"x": feature})


def test_one_member_as_two_features(tmp_path):
    features = {"i": FixedLen((), "int64", key="v"), "x": FixedLen((), "float32", key="v")}
    batch = parsed(tmp_path, [{"v": 3}], features)
    assert batch["i"].tolist() == [3] and batch["x"].tolist() == [3.0]


@pytest.mark.parametrize(
    "text",
    ["1.5", '"1"', "true", "[1]", "{}", "1e400", "9223372036854775808", "Infinity", "-Infinity"],
)
def test_what_is_no_integer(tmp_path, text):
    with pytest.raises(recmap.FeatureError, match="feature 'a'") as caught:
        parsed(tmp_path, [f'{{"a": {text}}}'], {"a": FixedLen((), "int64")})
    assert caught.value.record == 0 and caught.value.offset == 6


def test_unsigned_integers(tmp_path):
    texts = ["18446744073709551615", "9223372036854775808", "1.8446744073709551615e19", "0", "-0.0"]
    features = {"a": FixedLen((), "uint64"), "b": VarLen("uint64")}
    lines = [f'{{"a": {text}, "b": [{text}, 7]}}' for text in texts]
    batch = parsed(tmp_path, lines, features)
    expected = [2**64 - 1, 2**63, 2**64 - 1, 0, 0]
    assert batch["a"].tolist() == expected
    assert [list(row) for row in batch["b"]] == [[value, 7] for value in expected]
    for text in ["18446744073709551616", "-1", "1.5"]:
        with pytest.raises(recmap.FeatureError, match="uint64"):
            parsed(tmp_path, [f'{{"a": {text}}}'], {"a": FixedLen((), "uint64")})


def test_types(tmp_path):
    lines = ['{"a": 2.0}', '{"a": 1e3}', '{"a": -0}']
    assert parsed(tmp_path, lines, {"a": FixedLen((), "int64")})["a"].tolist() == [2, 1000, 0]
    lines = ['{"a": NaN}', '{"a": -Infinity}', '{"a": 7}']
    floats = parsed(tmp_path, lines, {"a": FixedLen((), "float32")})["a"]
    np.testing.assert_array_equal(floats, np.array([np.nan, -np.inf, 7], np.float32))
    for text in ('"1"', "true", '"nan"'):
        with pytest.raises(recmap.FeatureError, match="not of type float32"):
            parsed(tmp_path, [f'{{"a": {text}}}'], {"a": FixedLen((), "float32")})
    with pytest.raises(recmap.FeatureError, match="not of type bytes: `1`"):
        parsed(tmp_path, ['{"a": 1}'], {"a": FixedLen((), bytes)})
    with pytest.raises(recmap.FeatureError, match="float32 cannot hold `1e99`"):
        parsed(tmp_path, ['{"a": 1e99}'], {"a": FixedLen((), "float32")})


@pytest.mark.parametrize(
    "text", ["[1, 2]", "[[1, 2], [3]]", "[[1, 2, 3], [4]]", "[[1, 2], [3, 4], [5, 6]]", "1", "[]"]
)
def test_arrays_must_have_the_shape(tmp_path, text):
    with pytest.raises(recmap.FeatureError, match=r"feature 'a' is not an array of the shape"):
        parsed(tmp_path, [f'{{"a": {text}}}'], {"a": FixedLen((2, 2), "int64")})


@pytest.mark.parametrize("text", ["0", "1", "1.0", '"true"', "[true]"])
def test_values_that_are_not_bool(tmp_path, text):
    with pytest.raises(recmap.FeatureError, match=r"not of type bool: "):
        parsed(tmp_path, [f'{{"a": {text}}}'], {"a": FixedLen((), "bool")})


def test_byte_order_mark_is_skipped(tmp_path):
    lines = ['\ufeff{"a": "x", "id": "u"}', '{"a": "y", "id": "v"}']
    with opened(tmp_path, lines, id="id") as ds:
        batch = ds.parse([ds.find("u"), ds.find("v")], JsonLines({"a": FixedLen((), bytes)}))
    assert batch["a"].tolist() == [b"x", b"y"]


@pytest.mark.parametrize("string", [b'"\\ud83d"', b'"\xe9"', b'"\\udc00\\ud83d"'])
def test_strings_that_are_not_unicode(tmp_path, string):
    (tmp_path / "t.jsonl").write_bytes(b'{"a": ' + string + b"}\n")
    options = {"framing": "lines", "index": tmp_path / "t.rmx"}
    message = "has half of a surrogate pair"
    with recmap.open(tmp_path / "t.jsonl", **options) as ds:
        with pytest.raises(recmap.FeatureError, match=f"'a': the string {message}") as caught:
            ds.parse([0], JsonLines({"a": FixedLen((), bytes)}))
        assert caught.value.record == 0 and caught.value.offset == 6
    (tmp_path / "t.rmx").unlink()
    with pytest.raises(recmap.FeatureError, match=message):
        recmap.open(tmp_path / "t.jsonl", id="a", **options)


def test_absent_members(tmp_path):
    lines = ["{}", '{"a": null, "b": null}', '{"a": 1, "b": []}']
    features = {"a": FixedLen((), "int64", default=9), "b": VarLen("int64")}
    batch = parsed(tmp_path, lines, features)
    assert batch["a"].tolist() == [9, 9, 1] and [list(row) for row in batch["b"]] == [[], [], []]
    with pytest.raises(recmap.FeatureError, match="'a' is missing and has no default"):
        parsed(tmp_path, lines, {"a": FixedLen((), "int64")})


@pytest.mark.parametrize(
    ("line", "message", "offset"),
    [
        ("", "the line is empty", 0),
        ("[1]", "is not a JSON object", 0),
        ('{"a": 1} x', "followed by other text", 9),
        ('{"a": 1', "ends early", 7),
        ('{"a": 01}', "is not JSON", 7),
        ('{"a": 1,}', "is not JSON", 8),
        ("{" + '"b":{' * 2000, "nested more deeply than 1024 arrays and objects", None),
        ('{"b":' + "[" * 2000, "nested more deeply than 1024 arrays and objects", None),
        ('{"b": {"]": "\\"[["} [', "is not JSON", 20),
    ],
)
def test_malformed_lines(tmp_path, line, message, offset):
    with opened(tmp_path, [line or "\r"]) as ds:
        with pytest.raises(recmap.CorruptRecordError, match=message) as caught:
            ds.parse([0], JsonLines({"a": FixedLen((), "int64")}))
        assert caught.value.record == 0
        assert offset is None or caught.value.offset == offset
        loader = recmap.Loader(
            ds, 1, features=JsonLines({"a": FixedLen((), "int64")}), on_bad_record="skip"
        )
        with pytest.warns(UserWarning, match="skipped a bad record"):
            assert [len(batch["a"]) for batch in loader] == [0]


def test_every_cut_of_an_object_is_an_error_or_the_object(tmp_path):
    line = '{"a": {"b": [1, {"c": "x\\u00e9"}], "d": -1.5e3}, "n": 12}'
    cuts = [line[:i] for i in range(1, len(line))]
    with opened(tmp_path, cuts) as ds:
        features = JsonLines({"d": FixedLen((), "float64", key="a.d"), "n": FixedLen((), "int64")})
        batch = ds.parse(range(len(ds)), features, on_bad_record="collect")
        assert len(batch.failures) == len(cuts)


def test_ids_and_columns(tmp_path):
    lines = ['{"id": "caf\\u00e9", "n": 1, "t": "x"}', '{"id": "b", "n": 2.5, "t": "y"}']
    ds = opened(tmp_path, lines, id="id", lift=["n", "t"])
    assert ds.find("café") == 0 and ds.find("b") == 1
    assert ds.columns["n"].tolist() == [1.0, 2.5]
    fields = JsonLines({"id": FixedLen((), bytes), "n": FixedLen((), "float32")})
    ds = opened(tmp_path, lines, id=fields["id"], lift={"n": fields["n"]})
    assert ds.columns["n"].dtype == np.float32
    ds = opened(tmp_path, ['{"id": 7}', '{"id": 8}'], id="id")
    assert ds.find(8) == 1
    with pytest.raises(recmap.FeatureError, match='"n" is `"1"`, which is not an integer'):
        opened(tmp_path, ['{"n": 1}'] * 5000 + ['{"n": "1"}'], lift=["n"])


def test_members_have_names(tmp_path):
    with pytest.raises(TypeError, match="key is the name of a member, not 0"):
        JsonLines({"a": FixedLen((), "int64", key=0)})
