"""Schemas of CSV and JSON lines, compared with Python's csv and json."""

import csv
import io
import json
import math
import random
import re
from itertools import pairwise

import numpy as np
import pytest
import recmap

INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)", re.ASCII)
CODE = re.compile(r"[+-]?0[0-9]+", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.I)


def opened(folder, text, framing, **options):
    (folder / "t.txt").write_bytes(text.encode())
    return recmap.open(folder / "t.txt", framing=framing, index=folder / "t.rmx", **options)


def is_int64(number):
    return -(1 << 63) <= number < 1 << 63


def kind_of_field(text):
    text = text.strip(" \t\n\v\f\r")
    if INTEGER.fullmatch(text) and is_int64(int(text)):
        return "int64", int(text)
    if NUMBER.fullmatch(text) and not CODE.fullmatch(text):
        return "float", float(text)
    return "bytes", None


def add_ranges(entry, kind, values, sizes):
    """The members about the values of a feature: [(kind, value)] and the sizes of texts."""
    if kind == "int64":
        numbers = [value for _, value in values]
        entry |= {"min": min(numbers), "max": max(numbers)}
    if kind == "float":
        with np.errstate(over="ignore"):
            floats = [float(np.float32(value)) for _, value in values]
        numbers = [value for value in floats if not math.isnan(value)]
        if numbers:
            entry |= {"min": min(numbers), "max": max(numbers)}
        entry["nan_count"] = len(floats) - len(numbers)
    if kind == "bytes":
        entry |= {"min_size": min(sizes), "max_size": max(sizes)}


def row_entry(texts):
    filled = [text for text in texts if text]
    values = [kind_of_field(text) for text in filled]
    kinds = {kind for kind, _ in values}
    kind = next((kind for kind in ("bytes", "float", "int64") if kind in kinds), "unset")
    share = len(filled) / len(texts)
    entry = {"kind": kind, "share": share, "unset_share": 1 - share, "missing_share": 0}
    entry |= {"min_length": int(share > 0), "max_length": int(share > 0)}
    entry["shape"] = [] if share == 1 else None
    add_ranges(entry, kind, values, [len(text.encode()) for text in filled])
    return entry


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, entry in expected.items():
        assert found[name].keys() == entry.keys(), name
        for member, value in entry.items():
            shown = found[name][member]
            if isinstance(value, float):
                value, shown = (pytest.approx(value), shown)
                if isinstance(shown, str):  # JSON has no infinity
                    shown = float(shown)
            assert shown == value, (name, member)


FIELDS = {
    "integers": lambda made: str(made.choice([0, 7, -3, 1 << 62, -(1 << 63)])),
    "large": lambda made: str(made.choice([1, 1 << 63, -(1 << 70)])),
    "numbers": lambda made: made.choice(["1", "-2.5", ".5", "3.", "1e3", "-1E-2", " 4 ", "+5"]),
    "nan": lambda made: made.choice(["1", "nan", "2.5", "NaN"]),
    "codes": lambda made: made.choice(["007", "1", "10", "00"]),
    "decimals": lambda made: made.choice(["007.5", "01e1", "1"]),
    "texts": lambda made: made.choice(['a,"b', "1", "é\nü", "", "x y", "true"]),
    "holes": lambda made: made.choice(["", "1", "2.5"]),
    "nothing": lambda made: "",
    "words": lambda made: made.choice(["1_000", "0x1", "1e", "-", "1.2.3", "٣", "5"]),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("framing", "separator"), [("csv", ","), ("csv:tab", "\t")])
def test_rows_have_the_kinds_of_their_values(tmp_path, seed, framing, separator):
    made = random.Random(seed)
    count = made.choice([1, 2, 300])
    columns = {name: [field(made) for _ in range(count)] for name, field in FIELDS.items()}
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    with opened(tmp_path, out.getvalue(), framing) as ds:
        assert_same(ds.schema(None), {name: row_entry(texts) for name, texts in columns.items()})


def test_fields_without_a_name_have_their_position(tmp_path):
    with opened(tmp_path, "1,a\n2,b\n", "csv,noheader") as ds:
        assert {name: entry["kind"] for name, entry in ds.schema().items()} == {
            "#0": "int64",
            "#1": "bytes",
        }
    with opened(tmp_path, "x,x,y\n1,2.5,a\n3,,b\n", "csv", rebuild=True) as ds:
        schema = ds.schema()
        assert [*schema] == ["#1", "x", "y"] and schema["x"]["shape"] == []
        assert schema["#1"]["kind"] == "float" and schema["#1"]["share"] == 0.5


def test_rows_of_another_length_are_not_counted(tmp_path):
    with (
        opened(tmp_path, "x,y\n1,2\n3\n4,5,6\n", "csv") as ds,
        pytest.warns(UserWarning, match="2 of 3 records are neither a row"),
    ):
        schema = ds.schema()
    assert schema["x"]["max"] == 1 and schema["x"]["missing_share"] == pytest.approx(2 / 3)


def flattened(value, path, depth, out):
    """Adds the values of a path: out[path] = [(value, depth)]."""
    if isinstance(value, dict):
        for name, member in value.items():
            flattened(member, f"{path}.{name}" if path else name, depth, out)
    elif isinstance(value, list):
        if not value:
            out.setdefault(path, []).append(([], depth + 1))
        for item in value:
            flattened(item, path, depth + 1, out)
    else:
        out.setdefault(path, []).append((value, depth))


def kind_of_json(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "bytes"
    return "int64" if isinstance(value, int) and is_int64(value) else "float"


def json_entry(records, path):
    """The entry of a path, of [the flattened record]."""
    parts = [record[path] for record in records if path in record]
    values = [value for part in parts for value, _ in part if value not in ([], None)]
    lengths = [
        sum(value not in ([], None) for value, _ in part)
        for part in parts
        if any(value is not None for value, _ in part)
    ]
    depths = {depth for part in parts for value, depth in part if value is not None}
    kinds = {kind_of_json(value) for value in values}
    if {"int64", "float"} <= kinds:
        kinds.discard("int64")
    kind = "nested" if depths and max(depths) > 1 else "unset" if not kinds else "mixed"
    if kind == "mixed" and len(kinds) == 1 and len(depths) == 1:
        kind = kinds.pop()
    count = len(records)
    entry = {
        "kind": kind,
        "share": len(lengths) / count,
        "unset_share": (len(parts) - len(lengths)) / count,
        "missing_share": 1 - len(parts) / count,
        "min_length": min(lengths, default=0),
        "max_length": max(lengths, default=0),
    }
    is_one = len({*lengths}) == 1 and len(lengths) == count and kind in "int64 float bytes bool"
    length, is_array = entry["min_length"], bool(depths) and max(depths) > 0
    entry["shape"] = None
    if is_one and length > int(is_array):
        entry["shape"] = [length] if is_array or length > 1 else []
    sizes = [len(value.encode()) for value in values if isinstance(value, str)]
    add_ranges(entry, kind, [(kind, value) for value in values], sizes)
    return entry


def random_value(made, depth=0):
    choices = [1, -5, 2.5, 1 << 63, True, False, None, "", "é\t\U0001f600", "plain", 1e300]
    choice = made.randrange(14)
    if choice < 11 or depth > 3:
        return choices[choice % 11]
    if choice == 11:
        return [random_value(made, depth + 1) for _ in range(made.randrange(4))]
    if choice == 12:
        kind = made.choice([int, float, str])
        return [kind(made.randrange(100)) for _ in range(made.randrange(4))]
    return {name: random_value(made, depth + 1) for name in made.sample("abcd", 2)}


def random_record(made):
    fixed = {"n": made.randrange(9), "x": made.random(), "s": "t" * made.randrange(3)}
    fixed["pair"] = [made.randrange(9), made.randrange(9)]
    fixed["in"] = {"deep": {"er": made.random() < 0.5}, "items": [{"k": 1}, {"k": 2}]}
    return fixed | {name: random_value(made) for name in made.sample("ABCDEFGH", 4)}


@pytest.mark.parametrize("seed", range(12))
def test_objects_have_the_kinds_of_their_values(tmp_path, seed):
    made = random.Random(seed)
    records = [random_record(made) for _ in range(made.choice([1, 3, 200]))]
    lines = [json.dumps(record, ensure_ascii=made.random() < 0.5) for record in records]
    flat = []
    for line in lines:
        out = {}
        flattened(json.loads(line), "", 0, out)
        flat.append(out)
    with opened(tmp_path, "\n".join(lines) + "\n", "lines") as ds:
        found = ds.schema(None)
    paths = sorted({path for record in flat for path in record}, key=str.encode)
    assert all(a.encode() < b.encode() for a, b in pairwise(found))
    assert_same(found, {path: json_entry(flat, path) for path in paths})


def test_features_of_objects(tmp_path):
    lines = [{"a": {"b": 1}, "at": [1.5, 2], "ok": True, "s": "x", "m": 1}, {}]
    lines[1] = {"a": {"b": 2}, "at": [1, 2], "ok": False, "s": "y", "m": "1"}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    with (
        opened(tmp_path, text, "lines") as ds,
        pytest.warns(UserWarning, match="several kinds.*'m'"),
    ):
        features = ds.features()
        assert isinstance(features, recmap.JsonLines)
        batch = ds.parse([0, 1], features)
    assert batch["a.b"].tolist() == [1, 2] and batch["at"].tolist() == [[1.5, 2], [1, 2]]
    assert batch["ok"].tolist() == [True, False] and batch["s"].tolist() == [b"x", b"y"]


def test_lines_that_are_not_objects(tmp_path):
    text = 'text\n[1]\n{"a": }\n{"a": 1}\n{"half": "\\ud800", "b": 2}\n'
    with (
        opened(tmp_path, text, "lines") as ds,
        pytest.warns(UserWarning, match="3 of 5 records are neither a row"),
    ):
        schema = ds.schema(None)
    assert [*schema] == ["a", "b"] and schema["a"]["share"] == 0.2


def test_long_paths_are_left_out(tmp_path):
    deep = '{"a":' * 900 + "1" + "}" * 900
    long = json.dumps({"x" * 1001: 1, "y" * 1000: 2, "z": 3})
    with opened(tmp_path, f"{deep}\n{long}\n", "lines") as ds:
        assert {*ds.schema()} == {"y" * 1000, "z"}
