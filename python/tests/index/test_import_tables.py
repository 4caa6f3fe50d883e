"""recmap import of CSV and Parquet: the records, compared with csv and pyarrow."""

import csv
import decimal
import gzip
import math
import os
import random
import subprocess
import sys

import pytest
import recmap

COMMAND = [sys.executable, "-m", "recmap"]


def run(*arguments, cwd):
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def records_of(index):
    with recmap.open(index) as ds:
        return [
            {k: v.tolist() if hasattr(v, "tolist") else v for k, v in decoded.items()}
            for decoded in (recmap.decode_example(record) for record in ds)
        ]


def test_columns_have_the_type_of_all_their_values(tmp_path):
    header = ["n", "x", "t", "zip", "empty"]
    rows = [
        ["1", "2", "a", "007", ""],
        ["-5", "2.5", 'say "b"\nc', "8", ""],
        ["", "1e3", "7", "9", ""],
    ]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    assert run("import", "t.csv", "-o", "out@2.tfrecord", cwd=tmp_path)[::2] == (
        0,
        "recmap: out@2.tfrecord: 3 records\n",
    )
    expected = [
        {"n": [1], "x": [2.0], "t": [b"a"], "zip": [b"007"]},
        {"x": [1000.0], "t": [b"7"], "zip": [b"9"]},
        {"n": [-5], "x": [2.5], "t": [b'say "b"\nc'], "zip": [b"8"]},
    ]
    assert records_of(tmp_path / "out.rmx") == expected  # shard by shard
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "out-00000-of-00002.tfrecord",
        "out-00001-of-00002.tfrecord",
        "out.rmx",
        "t.csv",
    ]


def test_random_tables(tmp_path):
    made = random.Random(6)
    texts = ["x", 'a"b', "c,d", "e\nf"]
    rows = [[str(made.randrange(10**6)), made.choice(texts)] for _ in range(9000)]
    with gzip.open(tmp_path / "t.tsv.gz", "wt", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([["n", "t"], *rows])
    assert run("import", "t.tsv.gz", "-o", "out.tfrecord", cwd=tmp_path)[0] == 0
    assert records_of(tmp_path / "out.rmx") == [{"n": [int(n)], "t": [t.encode()]} for n, t in rows]


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table(
        {
            "n": arrow.array([1, None, 3], arrow.int32()),
            "x": [0.5, 1.5, None],
            "t": ["a", "é", None],
            "b": arrow.array([b"\0", b"", b"\xff"], arrow.binary()),
            "flag": [True, False, None],
            "list": [[1, 2], [], None],
            "time": arrow.array([1, 2, None], arrow.timestamp("ms")),
            "kind": arrow.array(["u", "v", "u"]).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    assert run("import", "t.parquet", "-o", "out@1", cwd=tmp_path)[0] == 0
    first, second, third = records_of(tmp_path / "out.rmx")
    numbers = {"n": [1], "x": [0.5], "flag": [1], "list": [1, 2], "time": [1]}
    assert first == numbers | {"t": [b"a"], "b": [b"\0"], "kind": [b"u"]}
    assert second["t"] == ["é".encode()] and second["b"] == [b""] and "n" not in second
    assert third == {"n": [3], "b": [b"\xff"], "kind": [b"u"]}


def test_types_of_parquet(tmp_path):
    """Those that docs/guide/tables.md lists."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    price, count = arrow.decimal128(10, 2), arrow.decimal128(20, 0)
    table = arrow.table(
        {
            "price": arrow.array([decimal.Decimal("12.50"), None], price),
            "count": arrow.array([decimal.Decimal(2**62), decimal.Decimal(-3)], count),
            "prices": arrow.array([[decimal.Decimal("0.25")], []], arrow.list_(price)),
            "wide": arrow.array([0.1, None], arrow.float64()),
            "day": arrow.array([19000, None], arrow.date32()),
            "stamp": arrow.array([10**15, None], arrow.timestamp("us")),
            "took": arrow.array([1500, None], arrow.duration("ms")),
            "pair": arrow.array([[1, 2], None], arrow.list_(arrow.int16(), 2)),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    assert run("import", "t.parquet", "-o", "out@1", cwd=tmp_path)[0] == 0
    first, second = records_of(tmp_path / "out.rmx")
    assert first.pop("wide") == pytest.approx([0.1], rel=1e-7)
    assert first == {
        "price": [12.5], "count": [2**62], "prices": [0.25], "day": [19000],
        "stamp": [10**15], "took": [1500], "pair": [1, 2],
    }  # fmt: skip
    assert second["count"] == [-3] and set(second) <= {"count", "prices"}


def test_views_of_arrow(tmp_path):
    """Types that a Parquet file names with the schema of Arrow, as Polars and pyarrow write it. A
    date64 is days in Parquet."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "t": arrow.array(["é", None], arrow.string_view()),
        "b": arrow.array([b"\0", b""], arrow.binary_view()),
        "ts": arrow.array([["a", "b"], []], arrow.list_(arrow.string_view())),
        "ns": arrow.array([[1, 2], None], arrow.list_view(arrow.int64())),
        "day": arrow.array([19000 * 86400000, None], arrow.date64()),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    assert run("import", "t.parquet", "-o", "out@1", cwd=tmp_path)[0] == 0
    first, second = records_of(tmp_path / "out.rmx")
    assert first == {
        "t": ["é".encode()], "b": [b"\0"], "ts": [b"a", b"b"], "ns": [1, 2], "day": [19000],
    }  # fmt: skip
    assert second["b"] == [b""] and "t" not in second


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([0, 2**64 - 1], "uint64", "t.parquet: row 1: "),
        ([0.5, 1e300], "float64", "t.parquet: row 1: "),
        ([[1], [1, None]], "list", "t.parquet: the column 'v' has lists with nulls in them"),
    ],
)
def test_values_that_no_example_can_hold(tmp_path, values, kind, message):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    of_kind = arrow.list_(arrow.int64()) if kind == "list" else getattr(arrow, kind)()
    parquet.write_table(arrow.table({"v": arrow.array(values, of_kind)}), tmp_path / "t.parquet")
    status, _, err = run("import", "t.parquet", "-o", "out", cwd=tmp_path)
    assert status != 0 and message in err and "'v'" in err and "leave" in err
    assert os.listdir(tmp_path) == ["t.parquet"]


def test_parquet_that_no_example_can_hold(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"s": [{"a": 1}]}), tmp_path / "t.parquet")
    status, _, err = run("import", "t.parquet", "-o", "out", cwd=tmp_path)
    assert status != 0 and "the column 's' is of type struct" in err and "leave it out" in err
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no")
    status, _, err = run("import", "t.parquet", "-o", "out", cwd=tmp_path)
    assert status != 0 and "is not a Parquet file, or is damaged" in err
    assert os.listdir(tmp_path) == ["t.parquet"]


def test_errors_name_the_file_and_leave_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n")
    status, _, err = run("import", "t.csv", "-o", "out@2", cwd=tmp_path)
    assert status == 3 and "t.csv: record 1" in err and "1 field, but the header has 2" in err
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    status, _, err = run("import", "t.csv", "-o", "out", cwd=tmp_path)
    assert status != 0 and "two fields 'a'" in err
    assert run("import", "none.csv", "-o", "out", cwd=tmp_path)[0] != 0
    assert run("import", "t.csv", cwd=tmp_path)[0] == 2
    assert os.listdir(tmp_path) == ["t.csv"]


@pytest.mark.parametrize(
    ("number", "shown"), [("-1e400", "-1e400"), ("9" * 5000, f"{'9' * 40}...")], ids=["e", "digits"]
)
def test_numbers_beyond_doubles_are_errors(tmp_path, number, shown):
    (tmp_path / "t.csv").write_text(f"a,b\n1.5,x\n{number},y\n")
    status, _, err = run("import", "t.csv", "-o", "out", cwd=tmp_path)
    assert status == 2 and f"t.csv: row 1: {shown} is beyond a float of 32 bits" in err
    assert os.listdir(tmp_path) == ["t.csv"]
    (tmp_path / "t.csv").write_text("a\n-inf\nINF\n")
    assert run("import", "t.csv", "-o", "out.tfrecord", cwd=tmp_path)[0] == 0
    assert records_of(tmp_path / "out.rmx") == [{"a": [-math.inf]}, {"a": [math.inf]}]


def test_json_lines_are_for_the_program(tmp_path):
    from recmap._index.importing import import_tables

    assert import_tables(["import", "x.jsonl", "-o", "out"]) is None
    assert import_tables(["cat", "x.csv"]) is None
