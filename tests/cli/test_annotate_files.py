"""annotate: columns from CSV, TSV and JSON lines, and their types."""

import json
import shutil

from annotate_helpers import COUNT, DONE, LANGUAGES, RECORDS, Annotated
from support import example, repeated_ids, tfrecord


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
        for options, advice in (
            (["--id", "text"], "ids and counts cannot be added to an index: build one of another"),
            (["--count", "text"], "ids and counts cannot be added to an index: build one of ano"),
            (["--lift", "text"], "`recmap index --lift text a.rmx` adds the column and keeps all"),
            (["--id", "id", "--count", "label"], "the same command with --append, and without --"),
        ):
            refused = self.run_recmap("index", "-o", "a.rmx", *options, *shards)
            self.assertEqual((refused.status, self.read("a.rmx")), (2, before))
            self.assertIn(f"\n  {advice}", refused.err.decode())
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

    def test_csv_adds_a_column_by_id(self):
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

    def test_quoted_fields_of_tsv_have_quotes_and_lines(self):
        rows = "".join(
            f'{i}\t"{LANGUAGES[i % 3]}"\t"a ""note""\n in two lines"\n' for i in range(COUNT)
        )
        self.write("s.tsv", ("\ufeffnumber\tlang\tnote\n\n" + rows).encode())
        self.annotate("--column", "lang=s.tsv", "--column", "note=s.tsv", added=2)
        self.where("lang == '日本'", range(2, COUNT, 3))
        self.where("note == 'a \"note\"\\n in two lines'", range(COUNT))

    def test_json_lines_add_columns_of_each_type(self):
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

    def test_members_of_json_lines_that_are_not_needed_are_skipped(self):
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

    def test_long_names_in_json_lines_are_compared_to_their_end(self):
        name = "日本" * 40
        for is_ascii in (False, True):
            row = {name + "x": 1, name: 7, "number": 3}
            self.write("s.jsonl", json.dumps(row, ensure_ascii=is_ascii))
            self.annotate("--column", f"{name}=s.jsonl", "--default", f"{name}=0")
            self.where(f'columns["{name}"] == 7', [3])
            self.annotate("--drop", name, added=0, dropped=1)

    def test_a_column_of_csv_has_the_type_of_all_its_values(self):
        def values(*texts):
            rows = "".join(f"{i},{texts[i % len(texts)]}\n" for i in range(COUNT))
            self.write("s.csv", f"number,s\n{rows}")
            self.annotate("--column", "s=s.csv", "--default", "s=7")
            columns = self.columns()["s"]
            self.annotate("--drop", "s", added=0, dropped=1)
            return columns

        self.assertEqual(values("1", "-2", "+3", "0", "-0", "-07", ""), "int64")
        self.assertEqual(values("0", "0.5", "-0.25", "0e1"), "float")
        for text in ("007", "01.5", "00", '"01234"'):
            self.assertEqual(values("1", "2", text), "bytes")
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
        self.assertEqual(warnings_of(["01234", *numbers[1:]]), "")
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

    def test_numbers_that_a_float_does_not_hold_as_written_are_float64(self):
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

    def test_filters_compare_values_of_float64(self):
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

    def test_numbers_that_a_float_holds_as_written_stay_float(self):
        for kind, values in (
            ("int64", ["1700000001", "", "16777217"]),
            ("bytes", ["1700000001", "0.5", "x", "y", "z"]),
            ("float", ["16777216", "0.5", "-9223372036854775808", "1.25", "16777216.00"]),
            ("float", ["1e30", "9.9e-9", "20000000001234567890e-20", "123456.78", "-.0000000"][:2]),
            ("float", ["0.1", "0.33333334", "nan", "-inf", "", "-0.123456"]),
        ):
            rows = "".join(f"{i},{value}\n" for i, value in enumerate(values))
            self.assertEqual(self.warnings_of("s.csv", f"number,ts\n{rows}"), ("", kind))

    def test_texts_like_numbers_beyond_all_types_stay_texts(self):
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

    def test_numbers_with_a_leading_zero_are_texts(self):
        """They are zip codes or phone numbers, and keep their zeros; as keys they are numbers."""
        self.write("s.csv", "number,zip\n007,01234\n8,94110\n")
        self.annotate("--column", "zip=s.csv", "--default", "zip=none")
        self.where("zip == '01234'", [7])
        self.where("zip == '94110'", [8])

    def test_a_field_named_like_the_id_feature_has_the_ids(self):
        self.write("b.tfrecord", tfrecord([example(uid=f"u{i}") for i in range(9)]))
        self.index("--id", "uid", "-o", "b.rmx", "b.tfrecord")
        self.write("s.csv", "uid,s,id\n" + "".join(f"u{8 - i},{8 - i},x\n" for i in range(9)))
        columns = ("--column", "id=s.csv", "--default", "id=none")
        self.check("annotate", "b.rmx", *columns, err=(
            "recmap: b.rmx: columns: 1 added, 0 dropped, 0 renamed\n"
        ))  # fmt: skip
        self.check("annotate", "b.rmx", "--column", "s=s.csv", status=2, err=(
            'recmap: s.csv: line 1: "id" and "uid" are both fields of ids\n'
            "  rename or remove one of them\n"
        ))  # fmt: skip
        self.write("s.csv", "uid,s\n" + "".join(f"u{8 - i},{8 - i}\n" for i in range(9)))
        self.check("annotate", "b.rmx", "--column", "s=s.csv", err=(
            "recmap: b.rmx: columns: 1 added, 0 dropped, 0 renamed\n"
        ))  # fmt: skip
        self.check("select", "b.rmx", "--where", "s > 6 and id == 'x'", out="7\n8\n")

    def test_ids_can_be_integers(self):
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

    def test_all_records_with_an_id_get_its_value(self):
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
