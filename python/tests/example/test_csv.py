"""Csv: rows as columns, compared with Python's csv module and its conversions."""

import csv
import io
import math
import pickle
import random

import numpy as np
import pytest
import recmap
from recmap import Csv, FixedLen, VarLen

SEED = 20260102
NUMBERS = {
    "int64": [0, -1, 2**63 - 1, -(2**63)],
    "int32": [2**31 - 1, -(2**31)],
    "int16": [-5, 32767],
    "int8": [-128, 127],
    "uint64": [0, 2**63 - 1, 2**63, 2**64 - 1],
    "uint32": [2**32 - 1],
    "uint16": [65535],
    "uint8": [255],
}


def opened(folder, text, **options):
    (folder / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "t.rmx").unlink(missing_ok=True)
    options = {"framing": "csv", "index": folder / "t.rmx", **options}
    return recmap.open(folder / "t.csv", **options)


def table(header, rows, **dialect):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n", **dialect)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def parsed(folder, text, features, numbers=None, format=None, **options):
    with opened(folder, text, **options) as ds:
        wanted = range(len(ds)) if numbers is None else numbers
        return ds.parse(wanted, Csv(features, **(format or {})))


def random_field(made):
    return "".join(made.choice('a,"\n \t;|é0') for _ in range(made.randrange(1, 9)))


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("threads", [1, 3])
def test_fields_are_those_of_the_csv_module(tmp_path, quoting, threads):
    made = random.Random(SEED)
    names = ["a", "b,c", 'd"e', "f\ng"]
    rows = [[random_field(made) for _ in names] for _ in range(3000)]
    text = table(names, rows, quoting=quoting)
    features = Csv({name: FixedLen((), bytes) for name in names})
    with opened(tmp_path, text) as ds:
        batch = ds.parse(range(len(ds)), features, threads=threads)
        copied = ds.parse(
            range(len(ds)), Csv({n: FixedLen((), bytes, copy=True) for n in names}), threads=threads
        )
    for i, name in enumerate(names):
        expected = [row[i].encode() for row in rows]
        assert batch[name].tolist() == expected and copied[name].tolist() == expected


def test_texts_with_quotes_outlive_the_next_batch(tmp_path):
    rows = [[f'say "{i}"'] for i in range(500)]
    with opened(tmp_path, table(["a"], rows)) as ds:
        loader = recmap.Loader(ds, 16, features=Csv({"a": FixedLen((), bytes)}), threads=2)
        batches = [batch["a"] for batch in loader]
    assert [v.decode() for batch in batches for v in batch.tolist()] == [row[0] for row in rows]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_integers(tmp_path, dtype):
    values = NUMBERS[dtype]
    text = "x\n" + "".join(f" {v}\t\n" for v in values)
    assert parsed(tmp_path, text, {"x": FixedLen((), dtype)})["x"].tolist() == values
    below = 0 if dtype.startswith("u") else -(2 ** (int(dtype[3:]) - 1))
    for bad in [max(values) + 1, below - 1]:
        with pytest.raises(recmap.FeatureError, match=f"{dtype} cannot hold `{bad}`"):
            parsed(tmp_path, f"x\n{bad}\n", {"x": FixedLen((), dtype)})
    for bad in ["1.0", "1e3", "", "x", "--1", "0x1"]:
        with pytest.raises(recmap.FeatureError, match="feature 'x'"):
            parsed(tmp_path, f'x\n"{bad}"\n', {"x": FixedLen((), dtype)})


def random_number(made):
    digits = made.choice([1, 3, 7, 9, 16, 17, 19, 25])
    text = "".join(made.choice("0123456789") for _ in range(digits))
    point = made.randrange(len(text) + 1)
    text = text[:point] + made.choice(["", "."]) + text[point:]
    exponent = made.choice(["", "", f"e{made.randrange(-30, 30)}", f"E+{made.randrange(40)}"])
    return made.choice(["", "-", "+"]) + text + exponent


def test_floats_are_the_nearest(tmp_path):
    made = random.Random(SEED)
    texts = [random_number(made) for _ in range(5000)]
    texts += [repr(made.random()) for _ in range(2000)] + ["5e-324", "1e-400", "1.", ".5", "0e9"]
    texts += ["inf", "-Infinity", "NaN", "1e308", "2.2250738585072011e-308", "9007199254740993"]
    text = "x\n" + "\n".join(texts) + "\n"
    wide = parsed(tmp_path, text, {"x": FixedLen((), "float64")})["x"]
    np.testing.assert_array_equal(wide, np.array([float(t) for t in texts]))
    narrow = [t for t in texts if not math.isfinite(float(t)) or abs(float(t)) < 3e38]
    text = "x\n" + "\n".join(narrow) + "\n"
    floats = parsed(tmp_path, text, {"x": FixedLen((), "float32")})["x"]
    np.testing.assert_array_equal(floats, np.array([np.float32(t) for t in narrow], np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_float_that_is_too_large_is_an_error(tmp_path, dtype):
    column = parsed(tmp_path, "x\n1.5\n", {"x": FixedLen((), dtype)})["x"]
    assert column.tolist() == [0x3FC0 if column.dtype == np.uint16 else 1.5]  # or the bits
    with pytest.raises(recmap.FeatureError, match=f"{dtype} cannot hold `1e999`"):
        parsed(tmp_path, "x\n1e999\n", {"x": FixedLen((), dtype)})


def test_bool(tmp_path):
    text = "x\n1\n0\nTrue\nfalse\n"
    assert parsed(tmp_path, text, {"x": FixedLen((), "bool")})["x"].tolist() == [1, 0, 1, 0]
    with pytest.raises(recmap.FeatureError, match="bool cannot hold `2`"):
        parsed(tmp_path, "x\n2\n", {"x": FixedLen((), "bool")})


def test_missing_fields_take_the_default(tmp_path):
    text = 'x,y\n,NA\n"","NA"\n3,z\n'
    features = {"x": FixedLen((), "int64", default=-1), "y": FixedLen((), bytes, default=b"none")}
    batch = parsed(tmp_path, text, features, format={"na": "NA"})
    assert batch["x"].tolist() == [-1, -1, 3]
    assert batch["y"].tolist() == [b"none", b"none", b"z"]
    with pytest.raises(recmap.FeatureError, match="'x' is missing and has no default") as caught:
        parsed(tmp_path, text, {"x": FixedLen((), "int64")})
    assert caught.value.record == 0 and caught.value.offset is not None


def test_fields_with_several_values(tmp_path):
    text = 'x,y\n1  2 3 ,"a;b"\n4 5 6,\n'
    features = {"x": FixedLen((3,), "int32"), "y": VarLen(bytes)}
    batch = parsed(tmp_path, text, {"x": features["x"]})
    assert batch["x"].tolist() == [[1, 2, 3], [4, 5, 6]]
    batch = parsed(tmp_path, text, {"y": features["y"]}, format={"separator": ";"})
    assert [list(row) for row in batch["y"]] == [[b"a", b"b"], []]
    with pytest.raises(recmap.FeatureError, match=r"has 3 values, but its shape is \[2\]"):
        parsed(tmp_path, text, {"x": FixedLen((2,), "int32")})
    with pytest.raises(recmap.FeatureError, match="not of type int32: `2;`"):
        parsed(tmp_path, "x\n1 2;\n", {"x": VarLen("int32")})


@pytest.mark.parametrize(
    ("row", "message", "offset"),
    [
        ('x"y,2', "a quote is within a field that is not in quotes", 1),
        (' "x",2', "a quote is within a field", 1),
        ('1,2"', "a quote is within a field", 3),
        ('"a,b",x"', "a quote is within a field", 7),
        ("x\ry,2", "a carriage return is within a field", 1),
        ("x\r,2", "a carriage return is within a field", 1),
        ("1,2\r3,4\r", "a carriage return is within a field", 3),
        ('"x"y,2', "a closing quote is followed by other characters", 2),
    ],
)
def test_stray_quotes_and_carriage_returns_are_errors(tmp_path, row, message, offset):
    text = f"a,b\n1,2\n{row}\n3,4\n"
    with opened(tmp_path, text) as ds:
        with pytest.raises(recmap.CorruptRecordError, match=message) as caught:
            ds.parse([1], Csv({"b": FixedLen((), bytes)}))
        assert caught.value.record == 1 and caught.value.offset - 8 == offset
        assert ds.parse([0, 2], Csv({"b": FixedLen((), bytes)}))["b"].tolist() == [b"2", b"4"]


def test_quotes_and_carriage_returns_that_are_values(tmp_path):
    text = 'a,b\r\n"x\ry","say ""hi"""\r\n'
    features = {"a": FixedLen((), bytes), "b": FixedLen((), bytes)}
    batch = parsed(tmp_path, text, features)
    assert batch["a"].tolist() == [b"x\ry"] and batch["b"].tolist() == [b'say "hi"']
    batch = parsed(
        tmp_path, 'a,b\nx"y, "z"\n', features, framing="csv,noquotes", format={"quote": None}
    )
    assert batch["a"].tolist() == [b'x"y'] and batch["b"].tolist() == [b' "z"']
    with pytest.raises(recmap.CorruptRecordError, match="a carriage return is within"):
        parsed(tmp_path, "a,b\nx\ry,2\n", features, framing="csv,noquotes", format={"quote": None})


def test_fields_by_position(tmp_path):
    features = {"a": FixedLen((), "int64", key=1), "b": FixedLen((), bytes, key=0)}
    options = {"framing": "csv:tab,noheader"}
    batch = parsed(tmp_path, "x\t1\ny\t2\tz\n", features, format={"delimiter": "\t"}, **options)
    assert batch["a"].tolist() == [1, 2] and batch["b"].tolist() == [b"x", b"y"]
    with pytest.raises(recmap.FeatureError, match="there is no field 2: the header has 2"):
        parsed(tmp_path, "x,y\n1,2\n", {"a": FixedLen((), "int64", key=2)})
    with pytest.raises(recmap.FeatureError, match=r'no field "a".*no header') as caught:
        parsed(tmp_path, "1,2\n", {"a": FixedLen((), "int64")}, framing="csv,noheader")
    assert "key=0" in caught.value.advice
    with pytest.raises(recmap.CorruptRecordError, match="has 1 field, but field 3 is requested"):
        parsed(tmp_path, "1\n", {"a": FixedLen((), "int64", key=3)}, framing="csv,noheader")


def test_misspelt_field_is_advised(tmp_path):
    with pytest.raises(recmap.FeatureError, match='no field "lable"') as caught:
        parsed(tmp_path, "label,x\n1,2\n", {"lable": FixedLen((), "int64")})
    assert 'did you mean "label"' in caught.value.advice
    with pytest.raises(recmap.FeatureError, match='two fields "x"'):
        parsed(tmp_path, "x,x\n1,2\n", {"x": FixedLen((), "int64")})


@pytest.mark.parametrize(
    ("header", "name", "message", "offset"),
    [
        ("a,b", "c", 'no field "c"', None),
        ("a,b", 7, "there is no field 7", None),
        ("a,bb,a", "a", 'two fields "a"', 5),
        ('a,"b"c', "a", "not a row of CSV: a closing quote is followed by", 4),
        ("a,b\0", "a", "not a row of CSV: a byte is NUL", 3),
    ],
)
def test_errors_about_the_header_name_the_file(tmp_path, header, name, message, offset):
    wanted = Csv({"x": FixedLen((), bytes, key=name)})

    def fails(call):
        with pytest.raises((recmap.FeatureError, recmap.InvalidError), match=message) as caught:
            call()
        assert caught.value.path.endswith("t.csv") and caught.value.offset == offset

    with opened(tmp_path, header + "\n1,2,3\n") as ds:
        fails(lambda: ds.parse([0], wanted))
        fails(lambda: recmap.Loader(ds, 1, features=wanted))
        if isinstance(name, str):
            fails(lambda: ds.lift([name]))
            fails(lambda: opened(tmp_path, header + "\n1,2,3\n", id=name, rebuild=True))


def test_wrong_number_of_fields_is_an_error_of_the_record(tmp_path):
    text = "x,y\n1,2\n3\n4,5,6\n7,8\n"
    with opened(tmp_path, text) as ds:
        rows = Csv({"x": FixedLen((), "int64")})
        with pytest.raises(recmap.CorruptRecordError, match="1 field, but the header has 2") as e:
            ds.parse(range(4), rows)
        assert e.value.record == 1
        batch = ds.parse(range(4), rows, on_bad_record="collect")
        assert [row for row, _ in batch.failures] == [1, 2]
        loader = recmap.Loader(ds, 4, features=rows, on_bad_record="skip")
        assert [batch["x"].tolist() for batch in loader] == [[1, 7]]


def test_quote_none_leaves_quotes(tmp_path):
    text = 'x,y\n"a,b"\n'
    batch = parsed(
        tmp_path,
        text,
        {"x": FixedLen((), bytes), "y": FixedLen((), bytes)},
        format={"quote": None},
        framing="csv,noquotes",
    )
    assert batch["x"].tolist() == [b'"a'] and batch["y"].tolist() == [b'b"']


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b'"a"b,1', "a closing quote is followed by other characters"),
        (b"a\0,1", "a byte is NUL"),
    ],
)
def test_malformed_rows(tmp_path, record, message):
    with pytest.raises(recmap.CorruptRecordError, match=message) as caught:
        parsed(tmp_path, b"x,y\n" + record + b"\n", {"x": FixedLen((), bytes)})
    assert caught.value.record == 0 and caught.value.offset is not None


def test_ids_are_texts_and_columns_have_the_type_of_their_values(tmp_path):
    text = 'id,n,x,name\n007,1,1,a\n"8 ""b""",2,2.5,7\n'
    ds = opened(tmp_path, text, id="id", lift=["n", "x", "name"])
    assert ds.find("007") == 0 and ds.find('8 "b"') == 1
    assert ds.columns["n"].dtype == np.int64 and ds.columns["x"].tolist() == [1.0, 2.5]
    assert list(ds.columns["name"]) in ([b"a", b"7"], ["a", "7"])
    with recmap.open(tmp_path / "t.rmx") as again:
        assert again.find('8 "b"') == 1


def test_ids_and_columns_of_features(tmp_path):
    rows = Csv({"id": FixedLen((), bytes), "x": FixedLen((), "float32", default=-1.0)})
    text = "id,x\na,1\nb,\n"
    ds = opened(tmp_path, text, id=rows["id"], lift={"x": rows["x"]})
    assert ds.columns["x"].dtype == np.float32 and ds.columns["x"].tolist() == [1, -1]
    assert ds.select(ds.columns["x"] > 0).parse([0], rows)["id"].tolist() == [b"a"]
    ds = opened(tmp_path, text, lift=[rows["id"]])
    assert list(ds.columns["id"]) in ([b"a", b"b"], ["a", "b"])
    with pytest.raises(TypeError, match="id must be a name, or a FixedLen"):
        opened(tmp_path, text, id=Csv({"id": VarLen(bytes)})["id"])


def test_columns_of_appended_files_keep_their_types(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1.5\n")
    options = {"framing": "csv", "index": tmp_path / "i.rmx"}
    recmap.open(tmp_path, lift=["x"], **options).close()
    (tmp_path / "b.csv").write_text("x\n2\n")
    ds = recmap.open(tmp_path, **options)
    assert ds.columns["x"].tolist() == [1.5, 2.0]


def test_column_whose_type_changes_is_an_error(tmp_path):
    text = "x\n" + "1\n" * 40000 + "1.5\n"
    with pytest.raises(recmap.FeatureError, match=r"`1\.5`, which is not an integer") as caught:
        opened(tmp_path, text, lift=["x"])
    assert caught.value.record == 40000
    wide = Csv({"x": FixedLen((), "float64")})
    assert opened(tmp_path, text, lift={"x": wide["x"]}).columns["x"][-1] == 1.5


def test_arguments(tmp_path):
    x = {"x": FixedLen((), "int64")}
    for wrong in ("", ",,", '"', "é", "\n"):
        with pytest.raises(ValueError, match="delimiter must be one ASCII character"):
            Csv(x, delimiter=wrong)
    with pytest.raises(ValueError, match="quote must be"):
        Csv(x, quote="'")
    with pytest.raises(TypeError, match="takes FixedLen and VarLen"):
        Csv({"x": recmap.Ragged("int64", [recmap.RowLengths("n")])})
    with pytest.raises(TypeError, match=r"cut only from tf\.Examples: read whole records"):
        Csv({"x": recmap.Sliced((), "int64")})
    with pytest.raises(ValueError, match=r'"uint64_bits" is for tf\.Example: write "uint64"'):
        Csv({"x": FixedLen((), "uint64_bits")})
    with pytest.raises(recmap.CorruptRecordError, match=r"rows of CSV with `recmap\.Csv`"):
        opened(tmp_path, "x\n1\n").parse([0], {"x": FixedLen((), "int64")})
    with pytest.raises(TypeError, match="Csv cannot read feature lists"):
        opened(tmp_path, "x\n1\n").parse_sequence([0], Csv(x), {})
    with pytest.raises(ValueError, match=r"raw=True is for tf\.Example"):
        Csv({"x": FixedLen((2,), "uint8", raw=True)})
    with pytest.raises(TypeError, match=r"it is for recmap\.Csv"):
        opened(tmp_path, "x\n1\n").parse([0], {"x": FixedLen((), "int64", key=0)})
    rows = Csv({"x": FixedLen((), "int64"), "y": VarLen(bytes)}, na="-")
    assert repr(pickle.loads(pickle.dumps(rows))) == repr(rows)
    assert repr(rows).startswith("Csv({'x': FixedLen((), 'int64', key='x')")


def test_features_of_a_file(tmp_path):
    text = 'n;"x y";t;zip\n1;2;a;007\n;2.5;"b;c";8\n'
    with opened(tmp_path, text, framing="csv:semicolon") as ds:
        features = ds.features()
        assert [features[name].dtype for name in features] == ["int64", "float64", "bytes", "bytes"]
        batch = ds.parse([0, 1], features)
        assert batch["n"].tolist() == [1, 0] and batch["x y"].tolist() == [2, 2.5]
        assert batch["t"].tolist() == [b"a", b"b;c"] and batch["zip"].tolist() == [b"007", b"8"]
        assert [len(b["n"]) for b in recmap.Loader(ds, 2, features=features)] == [2]


def test_malformed_rows_are_skipped_while_indexing(tmp_path):
    text = "id,x\na,1\nb\nc,2\nd,2,3\r\ne,3\nf"
    rows = text.split("\n")
    with pytest.raises(recmap.FeatureError, match="1 field, but the header has 2") as caught:
        opened(tmp_path, text, id="id")
    assert caught.value.record == 1 and 'on_bad_record="skip"' in caught.value.advice
    ds = opened(tmp_path, text, id="id", lift=["x"], on_bad_record="skip")
    assert [bytes(record) for record in ds] == [b"a,1", b"c,2", b"e,3"]
    assert [ds.find(name) for name in ("a", "c", "e")] == [0, 1, 2]
    assert ds.columns["x"].tolist() == [1, 2, 3]
    damage = ds.info["damage"]
    assert [place["offset"] for place in damage] == [text.index(rows[i]) for i in (2, 4, 6)]
    assert [place["length"] for place in damage] == [2, 7, 1]
    report = ds.verify()
    assert report["damage"] == [] and report["records"] == 3


def test_rows_whose_values_are_of_another_type_are_skipped(tmp_path):
    text = "x\n" + "1\n" * 40000 + "1.5\n2\n"
    ds = opened(tmp_path, text, lift=["x"], on_bad_record="skip", framing="csv")
    assert len(ds) == 40001 and ds.columns["x"][-1] == 2


def test_elements_of_text_are_not_counted(tmp_path):
    for framing in "csv", "lines":
        with pytest.raises(recmap.InvalidError, match="not in CSV or JSON lines") as caught:
            opened(tmp_path, "x\n1\n", count=["x"], framing=framing)
        assert "count=" in caught.value.advice
