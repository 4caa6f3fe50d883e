"""annotate: columns from files, and columns that are dropped and renamed."""

import json
import resource
import shutil

from support import (
    CliTest,
    example,
    repeated_ids,
    tfrecord,
)

COUNT = 40
LANGUAGES = ("de", "fr", "日本")
RECORDS = [example(id=f"id-{i}", label=i % 5) for i in range(COUNT)]
DONE = "recmap: a.rmx: columns: {} added, {} dropped, {} renamed\n"


class Annotated(CliTest):
    def write(self, name, data):
        super().write(name, data.encode() if isinstance(data, str) else data)

    def setUp(self):
        super().setUp()
        self.write("a-0.tfrecord", tfrecord(RECORDS[:25]))
        self.write("a-1.tfrecord", tfrecord(RECORDS[25:]))
        self.index(
            "--id",
            "id",
            "--lift",
            "label",
            "--count",
            "label",
            "-o",
            "a.rmx",
            "a-0.tfrecord",
            "a-1.tfrecord",
        )

    def annotate(self, *options, added=1, dropped=0, renamed=0):
        self.check("annotate", "a.rmx", *options, err=DONE.format(added, dropped, renamed))

    def fails(self, *options, err, status=2):
        """The error, after which the index is unchanged and no other file is left."""
        before, files = self.read("a.rmx"), self.files()
        self.check("annotate", "a.rmx", *options, err=f"recmap: {err}\n", status=status)
        self.assertEqual((self.read("a.rmx"), self.files()), (before, files))

    def where(self, expression, expected):
        lines = "".join(f"{number}\n" for number in expected)
        self.check("select", "a.rmx", "--where", expression, out=lines)

    def columns(self):
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        return {column["name"]: column["type"] for column in info["columns"]}


class Files(Annotated):
    def test_a_build_keeps_annotated_columns(self):
        self.write("s.csv", "number,score\n" + "".join(f"{i},{i}\n" for i in range(COUNT)))
        self.annotate("--column", "score=s.csv", "--default", "score=-1")
        before = self.read("a.rmx")
        shards = ("a-0.tfrecord", "a-1.tfrecord")
        self.check(
            "index",
            "-o",
            "a.rmx",
            *shards,
            err='recmap: a.rmx: the index would lose its annotated column "score"\n'
            "  the same command with --append, and without --id, --lift and --count, adds the "
            "records that the index lacks and keeps all columns; or remove the column first, with "
            "`recmap annotate a.rmx --drop score`\n",
            status=2,
        )
        self.assertEqual(self.read("a.rmx"), before)
        self.write("b.tfrecord", tfrecord(RECORDS[:1]))
        self.index("--append", "-o", "a.rmx", "b.tfrecord", err=repeated_ids(1))
        self.assertEqual(self.run_recmap("index", "-o", "a.rmx", *shards).status, 2)
        self.index("-o", "part.rmx", "--id", "id", *shards)
        before = self.read("a.rmx")
        refused = self.run_recmap("merge", "-o", "a.rmx", "part.rmx")
        self.assertEqual((refused.status, self.read("a.rmx")), (2, before))
        self.assertIn(b'a.rmx: the index would lose its annotated column "score"\n', refused.err)
        shutil.copy(self.path("a.rmx"), self.path("part.rmx"))
        self.assertEqual(self.run_recmap("merge", "-o", "a.rmx", "part.rmx").status, 0)
        self.annotate("--drop", "score", added=0, dropped=1)
        self.index("-o", "a.rmx", *shards, lost="--id id --lift label --count label")

    def test_csv_by_id(self):
        rows = "".join(f"{i % 3},id-{i},{i / 8}\r\n" for i in reversed(range(COUNT)))
        self.write("s.csv", f"part,id,score\r\n{rows}".encode())
        self.annotate("--column", "score=s.csv", "--column", "part=s.csv", added=2)
        self.assertEqual(
            self.columns(),
            {"@length": "int64", "label": "int64", "score": "float", "part": "int64"},
        )
        self.where("score >= 4", [i for i in range(COUNT) if i >= 32])
        self.where("part == 1 and label == 1", [i for i in range(COUNT) if i % 15 == 1])

    def test_the_rest_of_the_index_is_unchanged(self):
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        self.write("s.csv", "number,score\n" + "".join(f"{i},{i}\n" for i in range(COUNT)))
        self.annotate("--column", "score=s.csv")
        after = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        for key in info.keys() - {"columns", "index_bytes"}:
            self.assertEqual(info[key], after[key], key)
        self.check("find", "a.rmx", "id-7", out="id-7\t7\n")
        self.assertEqual(self.run_recmap("verify", "a.rmx").status, 0)
        self.annotate("--drop", "score", added=0, dropped=1)
        before = self.read("a.rmx")
        self.index(
            "--id",
            "id",
            "--lift",
            "label",
            "--count",
            "label",
            "-o",
            "b.rmx",
            "a-0.tfrecord",
            "a-1.tfrecord",
        )
        self.assertEqual(before, self.read("b.rmx"))

    def test_tsv_and_quotes(self):
        rows = "".join(
            f'{i}\t"{LANGUAGES[i % 3]}"\t"a ""note""\n in two lines"\n' for i in range(COUNT)
        )
        self.write("s.tsv", ("\ufeffnumber\tlang\tnote\n\n" + rows).encode())
        self.annotate("--column", "lang=s.tsv", "--column", "note=s.tsv", added=2)
        self.where("lang == '日本'", range(2, COUNT, 3))
        self.where("note == 'a \"note\"\\n in two lines'", range(COUNT))

    def test_json_lines(self):
        rows = [
            {
                "id": f"id-{i}",
                "lang": LANGUAGES[i % 3],
                "ok": i % 2 == 0,
                "other": [{"a": [1]}],
                "x": None if i == 3 else i,
            }
            for i in range(COUNT)
        ]
        text = "\n".join(json.dumps(row, ensure_ascii=i % 2 == 0) for i, row in enumerate(rows))
        self.write("s.jsonl", text.encode())
        self.annotate(
            "--column",
            "lang=s.jsonl",
            "--column",
            "ok=s.jsonl",
            "--column",
            "x=s.jsonl",
            "--default",
            "x=-1",
            added=3,
        )
        self.where("lang == '日本' and ok == 1", range(2, COUNT, 6))
        self.where("x == -1", [3])

    def test_members_of_json_lines_that_are_not_needed(self):
        """All of JSON, and what Python writes besides."""
        values = [
            '"\\u00e9\\ud83d\\n\\""',
            '["\xff", NaN, -Infinity, {"a": [], "b": {}, "c": [[1.5e-3, true], null]}]',
            "[" * 1024 + "]" * 1024,
        ]
        rows = "".join(
            f'{{"x": {value}, "number": {i}, "s": {i}}}\n' for i, value in enumerate(values)
        )
        self.write("s.jsonl", rows.encode("latin-1"))
        self.annotate("--column", "s=s.jsonl", "--default", "s=9")
        self.where("s < 9", range(len(values)))

    def test_long_names_in_json_lines(self):
        name = "日本" * 40
        for is_ascii in (False, True):
            row = {name + "x": 1, name: 7, "number": 3}
            self.write("s.jsonl", json.dumps(row, ensure_ascii=is_ascii))
            self.annotate("--column", f"{name}=s.jsonl", "--default", f"{name}=0")
            self.where(f'columns["{name}"] == 7', [3])
            self.annotate("--drop", name, added=0, dropped=1)

    def test_types_of_csv(self):
        def values(*texts):
            rows = "".join(f"{i},{texts[i % len(texts)]}\n" for i in range(COUNT))
            self.write("s.csv", f"number,s\n{rows}")
            self.annotate("--column", "s=s.csv", "--default", "s=7")
            columns = self.columns()["s"]
            self.annotate("--drop", "s", added=0, dropped=1)
            return columns

        self.assertEqual(values("1", "-2", "+3", "007", ""), "int64")
        self.assertEqual(values("9223372036854775807", "-9223372036854775808"), "int64")
        self.assertEqual(values("1", "2.5", ".5", "1e3", "nan", "-inf"), "float")
        self.assertEqual(values("1", "x"), "bytes")
        self.assertEqual(values("1", "0x1f"), "bytes")
        self.assertEqual(values("1", '""'), "bytes")

    def test_a_text_among_numbers_is_named(self):
        """It makes the column one of texts, most likely by mistake."""
        numbers = ["nan", *(str(i / 8) for i in range(1, COUNT))]

        def warnings_of(values, name="s.csv", separator=","):
            rows = "".join(f"{i}{separator}{value}\n" for i, value in enumerate(values))
            self.write(name, f"number{separator}s\n{rows}")
            options = ("--column", f"s={name}", "--default", "s=0")
            done = self.run_recmap("annotate", "a.rmx", *options)
            self.assertEqual(done.status, 0)
            self.annotate("--drop", "s", added=0, dropped=1)
            return done.err.decode().removesuffix(DONE.format(1, 0, 0))

        def warning(line, text, count, total=COUNT, name="s.csv"):
            return (
                f'recmap: {name}: line {line}: "{text}" makes column "s" one of texts, although '
                f"{count} of its {total} values are numbers\n"
                "  correct the value, or leave the field empty if the value is missing\n"
            )

        self.assertEqual(warnings_of(numbers), "")
        typo = [*numbers[:7], "o.5", *numbers[8:]]
        self.assertEqual(warnings_of(typo), warning(9, "o.5", COUNT - 1))
        self.assertEqual(
            warnings_of(typo, "s.tsv", "\t"), warning(9, "o.5", COUNT - 1, name="s.tsv")
        )
        self.assertEqual(
            warnings_of(['"x\ny"', *numbers[1:30], "7a", *[""] * 9]), warning(2, r"x\ny", 29, 31)
        )
        self.assertEqual(warnings_of(['""', *numbers[1:]]), warning(2, "", COUNT - 1))
        long, shown = "x" + "é" * 40, "x" + "é" * 29
        self.assertEqual(warnings_of([long, *numbers[1:]]), warning(2, shown, COUNT - 1))
        self.assertEqual(warnings_of(["x", "1"] * (COUNT // 2)), "")
        self.assertEqual(warnings_of(["x"] * COUNT), "")

    def test_each_column_with_a_text_among_numbers_has_a_warning(self):
        rows = "".join(f"{i},{i},{i or 'n/a'},{i or '-'}\n" for i in range(COUNT))
        self.write("s.csv", f"number,a,b,c\n{rows}")
        columns = [f"--column={name}=s.csv" for name in "abc"]
        err = self.run_recmap("annotate", "a.rmx", *columns).err.decode()
        self.assertEqual(err.count("one of texts"), 2)
        self.assertIn('line 2: "n/a" makes column "b"', err)
        self.assertIn('line 2: "-" makes column "c"', err)

    def warnings_of(self, name, data):
        """What is said about the column `ts` of a file, and the type of the column."""
        self.write(name, data)
        done = self.run_recmap("annotate", "a.rmx", "--column", f"ts={name}", "--default", "ts=0")
        self.assertEqual(done.status, 0, done)
        kind = self.columns()["ts"]
        self.annotate("--drop", "ts", added=0, dropped=1)
        return done.err.decode().removesuffix(DONE.format(1, 0, 0)), kind

    def test_numbers_that_a_float_does_not_hold_as_written(self):
        """They make the column one of float64, in which neighbouring timestamps differ."""
        for values in (
            ["1700000001", "1700000002", "0.5"],
            ["nan", "", "16777216", "-16777217"],
            ["1700000001.0", "", "1.5"],
            ["+0016777217", "1e3"],
            ["1732752000.123456", "1"],
            ["0.5", "9.9e9"],
            ["0.0", "1.5e-60"],
            ["0.123456789"],
            ["1e300", "-inf"],
            ["4.9e-324"],
            ["123456790", "0.1"],
        ):
            rows = "".join(f"{i},{value}\n" for i, value in enumerate(values))
            self.assertEqual(self.warnings_of("s.csv", f"number,ts\n{rows}"), ("", "float64"))
        rows = '{"number": 3, "ts": 0.5}\n\n{"number": 4, "ts": 1700000001}\n'
        self.assertEqual(self.warnings_of("s.jsonl", rows), ("", "float64"))

    def test_values_of_float64(self):
        texts = ["1732752000.123456", "1732752000.123457", "1e300", "-0.0", "inf", "nan", "", "0.1"]
        rows = "".join(f"{i},{text}\n" for i, text in enumerate(texts))
        self.write("s.csv", f"number,ts\n{rows}")
        self.run_recmap("annotate", "a.rmx", "--column", "ts=s.csv")
        self.where("ts == 1732752000.123456", [0])
        self.where("ts > 1732752000.123456", [1, 2, 4])
        self.where("ts in (1e300, 0.1, 1732752000)", [2, 7])
        self.where("ts == 0", [3])
        self.where("ts is not null and not ts <= 1e300", [4, 5])

    def test_integers_that_float64_rounds_are_named(self):
        def warning(name, line, number, rounded, cause):
            advice = (
                "or all as strings, and null if"
                if name.endswith("jsonl")
                else "and leave the field empty if"
            )
            return (
                f"recmap: {name}: line {line}: {number} is rounded to {rounded}, because "
                f'line {cause} makes column "ts" one of float64\n'
                f"  write all values as integers, {advice} the value is missing\n"
            )

        for values, *expected in (
            (["9007199254740992", "9007199254740993", "0.5"], 3, 2**53 + 1, 2**53, 4),
            (["nan", "-9007199254740993"], 3, -(2**53) - 1, -(2**53), 2),
            (["9223372036854775807.000", "1"], 2, 2**63 - 1, 2**63, 2),
        ):
            rows = "".join(f"{i},{value}\n" for i, value in enumerate(values))
            found = self.warnings_of("s.csv", f"number,ts\n{rows}")
            self.assertEqual(found, (warning("s.csv", *expected), "float64"))
        rows = f'{{"number": 3, "ts": 0.5}}\n\n{{"number": 4, "ts": {2**53 + 1}}}\n'
        found = self.warnings_of("s.jsonl", rows)
        self.assertEqual(found, (warning("s.jsonl", 3, 2**53 + 1, 2**53, 1), "float64"))

    def test_numbers_that_a_float_holds_as_written(self):
        for kind, values in (
            ("int64", ["1700000001", "", "16777217"]),
            ("bytes", ["1700000001", "0.5", "x", "y", "z"]),
            ("float", ["16777216", "0.5", "-9223372036854775808", "1.25", "16777216.00"]),
            ("float", ["1e30", "9.9e-9", "20000000001234567890e-20", "123456.78", "-.0000000"][:2]),
            ("float", ["0.1", "0.33333334", "nan", "-inf", "", "-0.123456"]),
        ):
            rows = "".join(f"{i},{value}\n" for i, value in enumerate(values))
            self.assertEqual(self.warnings_of("s.csv", f"number,ts\n{rows}"), ("", kind))

    def test_texts_like_numbers_beyond_all_types(self):
        """Short hashes, for example: where they occur does not matter."""
        for texts in (["9e999999", "4f", "1e40"], ["4f", "9e999999", "99999999999999999999"]):
            rows = "".join(f"{i},{texts[i % 3]}\n" for i in range(COUNT))
            self.write("s.csv", f"number,s\n{rows}")
            self.run_recmap("annotate", "a.rmx", "--column", "s=s.csv")
            self.where('s == "9e999999"', range(texts.index("9e999999"), COUNT, 3))
            self.annotate("--drop", "s", added=0, dropped=1)
        self.write("s.jsonl", b'{"number": 0, "s": 9e999999}\n{"number": 1, "s": "4f"}\n')
        self.fails(
            "--column",
            "s=s.jsonl",
            err="s.jsonl: line 1: 9e999999 is beyond float64 (1.8e308)\n"
            "  correct the value, or make it null if the value is missing",
        )

    def test_nan_equals_nothing(self):
        self.write(
            "s.csv", "number,s\n" + "".join(f"{i},{'nan' if i else 1}\n" for i in range(COUNT))
        )
        self.annotate("--column", "s=s.csv")
        self.where("s == s", [0])

    def test_integer_ids(self):
        self.write("b.tfrecord", tfrecord([example(id=i - 3) for i in range(9)]))
        self.index("--id", "id", "-o", "b.rmx", "b.tfrecord")
        self.write("s.csv", "id,s\n" + "".join(f"{i - 3},{i}\n" for i in range(9)))
        self.write("s.jsonl", "".join(f'{{"id": {i - 3}, "t": {i}}}\n' for i in range(9)))
        self.check(
            "annotate",
            "b.rmx",
            "--column",
            "s=s.csv",
            "--column",
            "t=s.jsonl",
            err="recmap: b.rmx: columns: 2 added, 0 dropped, 0 renamed\n",
        )
        self.check("select", "b.rmx", "--where", "s == t and s > 6", out="7\n8\n")

    def test_repeated_ids_of_records(self):
        """All records with the id get the value."""
        self.write("b.tfrecord", tfrecord([example(id=f"id-{i // 2}") for i in range(9)]))
        self.index("--id", "id", "-o", "b.rmx", "b.tfrecord")
        self.write("s.csv", "id,s\n" + "".join(f"id-{i},{i}\n" for i in range(5)))
        self.check(
            "annotate",
            "b.rmx",
            "--column",
            "s=s.csv",
            err="recmap: b.rmx: columns: 1 added, 0 dropped, 0 renamed\n",
        )
        self.check("select", "b.rmx", "--where", "s == 3", out="6\n7\n")


class Columns(Annotated):
    def test_drop_and_rename(self):
        self.write("s.csv", "number,label\n" + "".join(f"{i},{i % 7}\n" for i in range(COUNT)))
        self.annotate("--column", "label=s.csv", "--rename", "label=old", renamed=1)
        self.where("label == 6 and old == 3", [13])
        self.annotate(
            "--column",
            "label=s.csv",
            "--drop",
            "label",
            "--rename",
            "old=older",
            dropped=1,
            renamed=1,
        )
        self.assertEqual(self.columns(), {"@length": "int64", "older": "int64", "label": "int64"})

    def test_append_keeps_columns(self):
        self.write("s.csv", "number,score\n" + "".join(f"{i},{i}\n" for i in range(COUNT)))
        self.annotate("--column", "score=s.csv", "--default", "score=-1")
        self.write(
            "a-2.tfrecord",
            tfrecord([example(id="new", label=1), example(id="newer", label=2, score=5)]),
        )
        self.index("--append", "-o", "a.rmx", "a-2.tfrecord")
        self.where("score == -1", [40])
        self.where("score == 5", [5, 41])

    def test_without_a_default_appended_records_have_null(self):
        self.write("s.csv", "number,score\n" + "".join(f"{i},{i}\n" for i in range(COUNT)))
        self.annotate("--column", "score=s.csv")
        self.write(
            "a-2.tfrecord",
            tfrecord([example(id="new", label=1), example(id="x", label=1, score=7)]),
        )
        result = self.run_recmap("index", "--append", "-o", "a.rmx", "a-2.tfrecord")
        self.assertEqual(result.status, 0, result)
        self.where("score is null", [COUNT])
        self.where("score >= 7", [*range(7, COUNT), COUNT + 1])

    ADVICE = (
        "  give records without a value a default: `--default score=VALUE`, or use "
        "`--missing-values null`"
    )

    def test_missing_values_can_be_errors(self):
        self.write("s.csv", "number,score\n" + "".join(f"{i},{i}\n" for i in range(COUNT - 1)))
        column = ("--column", "score=s.csv")
        message = f's.csv: record {COUNT - 1} has no value for column "score"\n{self.ADVICE}'
        self.fails(*column, "--missing-values", "error", err=message)
        self.write("t.csv", "number,score\n" + "".join(f"{i},\n" for i in (3, 4)) + "5,1\n")
        message = f't.csv: record 0 has no value for column "score"\n{self.ADVICE}'
        self.fails("--column", "score=t.csv", "--missing-values=error", err=message)
        self.annotate(*column, "--missing-values", "error", "--default", "score=-1")
        self.where("score < 1", [0, COUNT - 1])
        result = self.run_recmap(
            "annotate", "a.rmx", "--drop", "score", *column, "--missing-values", "null"
        )
        self.assertIn(f"column 'score' is null for 1 of {COUNT} records", result.err.decode())
        self.where("score is null", [COUNT - 1])

    def test_all_records_have_a_value(self):
        self.write("s.csv", "number,score\n" + "".join(f"{i},{i}\n" for i in range(COUNT)))
        self.annotate("--missing-values", "error", "--column", "score=s.csv")
        self.where("score is null", [])

    def test_missing_must_be_a_choice(self):
        message = (
            "annotate: invalid --missing-values 'drop': use error or null\n"
            "  try 'recmap annotate --help'"
        )
        self.fails("--drop", "label", "--missing-values", "drop", err=message)


class Lifts(Annotated):
    """recmap index --lift with an index in place of shards."""

    def test_ids_counts_and_columns_stay(self):
        records = [
            example(id=f"id-{i}", label=i % 5, score=i / 8, lang=LANGUAGES[i % 3])
            for i in range(COUNT)
        ]
        self.write("b.tfrecord", tfrecord(records))
        lifts = [word for name in ("label", "score", "lang") for word in ("--lift", name)]
        self.index("--id", "id", "--count", "label", *lifts, "-o", "b.rmx", "b.tfrecord")
        expected = self.read("b.rmx")
        words = ("--id", "id", "--count", "label", "--lift", "label", "-o", "b.rmx", "b.tfrecord")
        self.index(*words, lost="--lift score --lift lang")
        self.check("index", *lifts[2:], "b.rmx", err="recmap: b.rmx: columns: 2 added\n")
        self.assertEqual(self.read("b.rmx"), expected)

    def test_defaults(self):
        extra = [example(id="x", label=1), example(id="y", label=2, score=5)]
        self.write("a-2.tfrecord", tfrecord(extra))
        self.index("--append", "-o", "a.rmx", "a-2.tfrecord")
        self.check("index", "--lift", "score=-1", "a.rmx", err="recmap: a.rmx: columns: 1 added\n")
        self.where("score == 5", [41])
        self.where("score == -1", range(41))
        self.fails(
            "--drop",
            "score",
            "--column",
            "score=s.txt",
            err=(
                "s.txt: the file's name does not end in .csv, .tsv, .jsonl or .ndjson\n"
                "  the extension selects the format: CSV, TSV or JSON lines"
            ),
        )

    def test_errors(self):
        self.write("a-2.tfrecord", tfrecord([example(id="x", label=1, label2=3)]))
        self.index("--append", "-o", "a.rmx", "a-2.tfrecord")
        before = self.read("a.rmx")
        result = self.run_recmap("index", "--lift", "label2", "a.rmx")
        self.assertIn(
            b'a-0.tfrecord: record 0 at byte 0: has no value of lifted feature "label2"\n',
            result.err,
        )
        self.assertEqual(result.status, 3)
        self.check(
            "index",
            "--lift",
            "label",
            "a.rmx",
            status=2,
            err=(
                'recmap: a.rmx: the index already has a column "label"\n'
                "  drop or rename that column first, or choose another name\n"
            ),
        )
        self.check_wrong(
            "index",
            "--lift",
            "x",
            "--id",
            "id",
            "a.rmx",
            what="only --lift can add to an index: for other options, name its shards",
        )
        self.assertEqual(self.read("a.rmx"), before)

    def test_another_type(self):
        records = [example(x=1), example(x="1")]
        self.write("b.tfrecord", tfrecord(records))
        self.index("-o", "b.rmx", "b.tfrecord")
        result = self.run_recmap("index", "--lift", "x", "b.rmx")
        self.assertIn(
            b'feature "x" is of type bytes here and of type int64 in earlier records', result.err
        )


class Errors(Annotated):
    def csv(self, text):
        self.write("s.csv", text)
        return ["--column", "s=s.csv"]

    def test_a_repeated_key_of_many_records(self):
        """A value for each record and row would be four million, which do not fit the limit."""
        count = 2000
        self.write("b.tfrecord", tfrecord([example(id="one")] * count))
        self.index(
            *("--id", "id", "b.tfrecord"),
            err="recmap: b.rmx: the ids of 'id' repeat: 1 different one in 2000 records; "
            "name a feature that tells records apart with --id\n",
        )
        self.write("s.csv", "id,s\n" + "one,1\n" * count)
        self.check(
            *("annotate", "b.rmx", "--column", "s=s.csv"),
            status=2,
            err="recmap: s.csv: line 3: duplicate id, first used in line 2\n"
            "  give each record one value\n",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
        )

    def test_unmatched_rows_are_left_out(self):
        rows = "".join(f"id-{i},{i}\n" for i in range(COUNT))
        column = self.csv(f"id,s\nx,1\n{rows}id-40,1\n")
        self.check(
            *("annotate", "a.rmx", *column, "--unmatched", "ignore"),
            err="recmap: 2 rows ignored: no record has the key\n" + DONE.format(1, 0, 0),
        )
        self.where("s == 7", [7])
        self.fails(*self.csv(f"id,s\n{rows}id-3,1\n"), "--drop", "s", "--unmatched", "ignore", err=(
            "s.csv: line 42: duplicate id, first used in line 5\n  give each record one value"
        ))  # fmt: skip
        self.write("t.csv", "id,t\nx,1\ny,2\nz,3\n")
        self.fails("--column", "t=t.csv", "--unmatched", "ignore", err=(
            't.csv: line 2: no record has the id "x", nor the key of any of the other 2 rows\n'
            '  check what the keys of column "t" are: ids or numbers, and of these records'
        ))  # fmt: skip
        self.check_wrong(
            *("annotate", "a.rmx", *column, "--unmatched", "x"),
            what="invalid --unmatched 'x': use error or ignore",
        )
        self.check_wrong(
            *("annotate", "a.rmx", "--drop", "s", "--unmatched", "ignore"),
            what="--unmatched needs --column",
        )

    def test_of_keys(self):
        rows = "".join(f"id-{i},{i}\n" for i in range(COUNT))
        self.fails(
            *self.csv(f"id,s\n{rows}id-40,1\n"),
            err=(
                's.csv: line 42: no record has the id "id-40"\n'
                "  remove the rows of other records, or ignore them (`--unmatched ignore`); "
                'ids are those of feature "id"'
            ),
        )
        self.fails(
            *self.csv(f"id,s\nx,1\n{rows}y,1\nz,1\n"),
            err=(
                's.csv: line 2: no record has the id "x" (and 2 more rows have a key that no '
                "record has)\n  remove the rows of other records, or ignore them "
                "(`--unmatched ignore`); "
                'ids are those of feature "id"'
            ),
        )
        self.fails(
            *self.csv(f"id,s\n{rows}id-3,1\n"),
            err=(
                "s.csv: line 42: duplicate id, first used in line 5\n  give each record one value"
            ),
        )
        self.fails(
            *self.csv("id,s\n,1\n"),
            err="s.csv: line 2: the row has no id\n  give the row one, or remove it",
        )
        self.fails(
            *self.csv("number,s\n40,1\n"),
            err=(
                "s.csv: line 2: no record has the number 40\n"
                "  there are 40 records, numbered from 0"
            ),
        )
        self.fails(
            *self.csv("number,s\n-1,1\n"),
            err=(
                "s.csv: line 2: no record has the number -1\n"
                "  there are 40 records, numbered from 0"
            ),
        )
        self.fails(
            *self.csv("number,s\n1.5,1\n"),
            err="s.csv: line 2: 1.5 is not a record's number\n"
            '  records are numbered from 0; a field of ids is named "id"',
        )
        self.index("-o", "a.rmx", "a-0.tfrecord", lost="--id id --lift label --count label")
        self.fails(
            *self.csv("id,s\nid-0,1\n"),
            err=(
                "a.rmx: the index has no ids\n  name records by their numbers, or build the index "
                "with `recmap index --id FEATURE`"
            ),
        )

    def test_of_values(self):
        advice = "\n  correct the value, or leave the field empty if the value is missing"
        self.fails(
            *self.csv(f"number,s\n0,{2**64 - 5}\n"),
            err=f"s.csv: line 2: {2**64 - 5} is beyond int64 (-2^63 to 2^63 - 1)\n  write it as "
            "-5, the int64 with the same bits, or give JSON lines with texts",
        )
        self.fails(
            *self.csv(f"number,s\n0,{-(2**63) - 1}\n"),
            err=f"s.csv: line 2: {-(2**63) - 1} is beyond int64 (-2^63 to 2^63 - 1)\n  correct the "
            "value, or give JSON lines with texts",
        )
        self.write("s.jsonl", b'{"number": 0, "s": 18446744073709551611}\n')
        self.fails(
            "--column",
            "s=s.jsonl",
            err=f"s.jsonl: line 1: {2**64 - 5} is beyond int64 (-2^63 to 2^63 - 1)\n  write it as "
            "-5, the int64 with the same bits, or make all values strings",
        )
        self.fails(
            *self.csv("number,s\n0,1e309\n"),
            err="s.csv: line 2: 1e309 is beyond float64 (1.8e308)" + advice,
        )
        self.fails(
            *self.csv("number,s\n0,1\n1,9e999999\n2,1e40\n3,2.5\n"),
            err="s.csv: line 3: 9e999999 is beyond float64 (1.8e308)" + advice,
        )
        self.fails(
            *self.csv(f"number,s\n0,{'x' * 256}\n"),
            err='s.csv: line 2: a text of 256 bytes for column "s" is longer than the maximum '
            "of 255\n  shorten the text",
        )
        self.fails(
            *self.csv("number,s\n0,\n"),
            err='s.csv: no row has a value of "s"\n'
            "  check the name of the field, or leave the column out",
        )
        self.fails(
            *self.csv("number,s\n0,1\n"),
            "--default",
            "s=x",
            err=(
                's.csv: the default "x" of column "s" is not of type int64\n'
                "  its values are of type int64: give a default of that type"
            ),
        )
        self.write("s.jsonl", b'{"number": 0, "s": 1}\n{"number": 1, "s": "1"}\n')
        self.fails(
            "--column",
            "s=s.jsonl",
            err='s.jsonl: line 2: "s" is of type bytes here and of type int64 in earlier lines\n'
            "  make the values of all lines numbers, or all strings",
        )

    def test_words_of_programs(self):
        """True and False, and what programs write for a missing value. Neither is a key."""
        rows = [(0, "True"), (1, "false"), (2, "NA"), (3, "null"), (4, "None"), (5, '"TRUE"')]
        text = "number,s\n" + "".join(f"{number},{value}\n" for number, value in rows)
        done = DONE.format(1, 0, 0)
        nulls = f"recmap: column 's' is null for {COUNT - 3} of {COUNT} records\n"
        self.check("annotate", "a.rmx", *self.csv(text), err=done + nulls)
        self.where("s == 1", [0, 5])
        self.where("s == 0", [1])
        self.assertEqual(self.columns()["s"], "int64")
        drop = ("--drop", "s")
        self.run_recmap("annotate", "a.rmx", *self.csv(text + "6,0.5\n7,NaN\n"), *drop)
        self.assertEqual(self.columns()["s"], "float")
        self.where("s == 1 or s > 0", [0, 5, 6])
        self.where("s is not null", [0, 1, 5, 6, 7])
        self.run_recmap("annotate", "a.rmx", *self.csv("number,s\n0,de\n1,NA\n2,true\n"), *drop)
        self.where("s in ('de', 'NA', 'true')", [0, 1, 2])
        self.run_recmap("annotate", "a.rmx", *self.csv("number,s\n0,NA\n1,NA\n"), *drop)
        self.where("s == 'NA'", [0, 1])
        for key in ("true", "NA", "1.0"):
            self.fails(*self.csv(f"number,s\n{key},1\n"), *drop, err=(
                f"s.csv: line 2: {key} is not a record's number\n  records are numbered from 0; "
                'a field of ids is named "id"'
            ))  # fmt: skip

    def test_of_files(self):
        header = (
            "\n  the first line names the fields, separated by commas in .csv and by tabs in .tsv: "
            'one is the column\'s name, and one is "id" or "number"'
        )
        none = 's.csv: line 1: the header has no field "{}": it is `{}`' + header
        self.fails(*self.csv(""), err=none.format("s", ""))
        self.fails(*self.csv("id;s\n"), err=none.format("s", "id;s"))
        self.fails(*self.csv("id, s\r\n"), err=(
            's.csv: line 1: the header has no field "s": it is `id, s`\n  did you mean " s"?'
        ))  # fmt: skip
        self.fails(*self.csv("s,x\n"), err=none.format("id", "s,x"))
        self.fails(*self.csv("é" * 99 + "\n"), err=none.format("s", "é" * 50))
        self.fails(
            *self.csv("s,id,s\n"),
            err='s.csv: line 1: the header has two fields "s"\n  rename or remove one of them',
        )
        self.fails(
            *self.csv("id,s\nid-0\n"),
            err="s.csv: line 2: has 1 field, but the header has 2\n  give each line as many fields "
            "as the header has, and put fields that contain the separator in quotes",
        )
        doubled = "quotes inside a quoted field are doubled"
        self.fails(
            *self.csv('id,s\nid-0,"x\n'),
            err=f"s.csv: line 2, byte 5: a quote is not closed\n  close the quote; {doubled}",
        )
        self.fails(
            *self.csv('id,s\nid-0,"x"y\n'),
            err="s.csv: line 2, byte 7: a closing quote is followed by other characters\n"
            f"  end the field after the quote; {doubled}",
        )
        self.fails(
            *self.csv(b"id,s\nid-0,\xff\n"),
            err=("s.csv: line 2: a field is not UTF-8\n  convert the file to UTF-8"),
        )
        self.fails(
            "--column",
            "s=s.txt",
            err=(
                "s.txt: the file's name does not end in .csv, .tsv, .jsonl or .ndjson\n"
                "  the extension selects the format: CSV, TSV or JSON lines"
            ),
        )
        no_object = (
            'is not a JSON object\n  write one object in each line, such as {"id": "a", "score": 1}'
        )
        invalid = (
            "is not valid JSON at byte {} of the line\n"
            "  correct the line; values are nested at most 1024 levels deep"
        )
        for text, what in (
            ("[]", no_object),
            ('{"id": "a"', no_object),
            (
                '{"id": "a"} x',
                "the object is followed by other characters\n"
                "  write each object in a line of its own",
            ),
            (
                '{"id": [1]}',
                '"id" is neither a string nor an integer\n  ids are strings or integers of 64 bits',
            ),
            (
                '{"id": "a", "s": [1]}',
                '"s" is not a string, a number, true, false or null\n'
                "  give it one value, or leave the member out",
            ),
            (
                '{"number": true, "s": 2}',
                '"number" is not an integer\n'
                '  records are numbered from 0; a field of ids is named "id"',
            ),
            (
                '{"s": 2, "id": false}',
                '"id" is neither a string nor an integer\n  ids are strings or integers of 64 bits',
            ),
            ('{"number": 1, "s": 2, "junk": ]}', invalid.format(30)),
            ('{"junk": {"a": 01}, "number": 1, "s": 2}', invalid.format(16)),
            ('{"junk": "\\x", "number": 1, "s": 2}', invalid.format(11)),
            ('{"junk": ' + "[" * 1025 + "]" * 1025 + "}", invalid.format(9 + 1024)),
            (
                '{"id": "a", "id": "a"}',
                'the object has two members "id"\n  rename or remove one of them',
            ),
        ):
            self.write("s.jsonl", text.encode())
            self.fails("--column", "s=s.jsonl", err=f"s.jsonl: line 1: {what}")

    def test_arrays_are_for_python(self):
        self.write("s.npy", b"\x93NUMPY")
        self.fails("--column", "s=s.npy", err=(
            "s.npy: arrays of NumPy are read only in Python\n"
            '  use `ds.annotate({"s": "FILE.npy"})` in Python, or write a CSV file with the fields '
            "number and s"
        ))  # fmt: skip

    def test_misspelt_fields(self):
        """The header, or the first object of JSON lines, has a near name."""
        header = "s.csv: line 1: the header has no field"
        for fields, name, absent, advice in (
            ("id,scores", "s", "s", "the first line names the fields"),
            ("id,scores,Scroes", "score", "score", 'did you mean "scores"?'),
            ("id,sroces,Scroe", "score", "score", 'did you mean "Scroe"?'),
            ('"id","my score"', "my scor", "my scor", 'did you mean "my score"?'),
            ("ID,score", "score", "id", 'rename the field "ID" to "id"'),
        ):
            self.write("s.csv", fields + "\n")
            result = self.run_recmap("annotate", "a.rmx", "--column", f"{name}=s.csv")
            message = f'recmap: {header} "{absent}": it is `{fields}`\n  {advice}'
            self.assertEqual(result.err.decode()[: len(message)], message)
        self.write("s.csv", "score,numbr\n")
        self.fails("--column", "score=s.csv", "--by", "number", err=(
            f'{header} "number": it is `score,numbr`\n  rename the field "numbr" to "number"'
        ))  # fmt: skip
        self.write("s.jsonl", '\n{"id": "id-1", "other": [{}], "score": 1}\n{"id": "id-2"}\n')
        self.fails("--column", "scores=s.jsonl", err=(
            's.jsonl: no row has a value of "scores"\n  did you mean "score"?'
        ))  # fmt: skip
        self.fails("--column", "rank=s.jsonl", err=(
            's.jsonl: no row has a value of "rank"\n'
            "  check the name of the field, or leave the column out"
        ))  # fmt: skip
        for key, by, name in (("ID", [], "number"), ("ids", ["--by", "id"], "id")):
            self.write("s.jsonl", f'{{"{key}": "id-1", "score": 1}}\n')
            self.fails("--column", "score=s.jsonl", *by, err=(
                f's.jsonl: line 1: the row has no {name}\n  rename "{key}": a field "id" or '
                '"number" says which record a row is for'
            ))  # fmt: skip

    def test_nul_in_a_table(self):
        for data, place in (
            ("id,s\nid-1,1\n".encode("utf-16-le"), "line 1, byte 1"),
            (b'id,s,t\nid-1,1,"a\n\0"\n', "line 3, byte 0"),
        ):
            self.fails(*self.csv(data), err=(
                f"s.csv: {place}: a byte is NUL\n"
                "  convert the file to UTF-8; NUL occurs in UTF-16 and in binary files"
            ))  # fmt: skip

    def test_of_names(self):
        self.fails(
            "--drop",
            "x",
            err=('a.rmx: the index has no column "x"\n  see `recmap info` for its columns'),
        )
        self.fails(
            "--drop",
            "labl",
            err=('a.rmx: the index has no column "labl"\n  did you mean "label"?'),
        )
        for words in ("--drop", "@length"), ("--rename", "@length=size"):
            self.fails(
                *words,
                err='a.rmx: the index has no column "@length" that can be changed\n'
                "  see `recmap info` for its columns",
            )
        self.fails(
            "--rename",
            "label=@x",
            err=(
                '"@x" cannot be the name of a column: it is empty, begins with @, or is not UTF-8'
            ),
        )
        self.fails(
            "--column",
            "label=s.csv",
            err=(
                'a.rmx: the index already has a column "label"\n'
                "  drop or rename that column first, or choose another name"
            ),
        )

    def test_of_usage(self):
        for words, what in (
            ([], "no --column, --drop or --rename given"),
            (["--column", "s"], "--column needs NAME=FILE, not 's'"),
            (["--column", "s="], "--column needs NAME=FILE, not 's='"),
            (["--rename", "=s"], "--rename needs OLD=NEW, not '=s'"),
            (["--by", "x"], "invalid --by 'x': use id or number"),
            (["--drop", "label", "--default", "s=1"], "--default s: there is no --column s"),
            (["--drop", "label", "--by", "id"], "--by needs --column"),
            (["--drop", "label", "--missing-values", "null"], "--missing-values needs --column"),
        ):
            self.check_wrong("annotate", "a.rmx", *words, what=what)
