"""Columns with nulls: annotated, lifted, appended, merged, selected and shown."""

import json

from support import CliTest, example, tfrecord

COUNT = 10
DONE = "recmap: a.rmx: columns: 1 added, 0 dropped, 0 renamed\n"


def records(first, count):
    """Every third record lacks the score, and every second one the language."""
    found = []
    for i in range(first, first + count):
        features = {"id": f"id-{i}"}
        if i % 3:
            features["score"] = i / 4
        if i % 2:
            features["lang"] = "de" if i % 4 == 1 else "fr"
        found.append(example(**features))
    return found


class Nulls(CliTest):
    def write(self, name, data):
        super().write(name, data.encode() if isinstance(data, str) else data)

    def setUp(self):
        super().setUp()
        self.write("a-0.tfrecord", tfrecord(records(0, COUNT)))
        self.write("a-1.tfrecord", tfrecord(records(COUNT, COUNT)))

    def lifted(self, *words):
        lifts = ("--lift", "score", "--lift", "lang", "--missing-values", "null")
        self.index("--id", "id", *lifts, *words)

    def where(self, expression, expected, path="a.rmx"):
        lines = "".join(f"{number}\n" for number in expected)
        self.check("select", path, "--where", expression, out=lines)

    def columns(self, path="a.rmx"):
        found = json.loads(self.run_recmap("info", "--json", path).out)["columns"]
        return {column["name"]: (column["type"], column.get("nulls")) for column in found[1:]}


class Lifted(Nulls):
    def test_missing_features_are_an_error_or_null(self):
        result = self.run_recmap("index", "--lift", "lang", "-o", "a.rmx", "a-0.tfrecord")
        self.assertEqual(result.status, 3)
        self.assertIn(b'record 0 at byte 0: has no value of lifted feature "lang"', result.err)
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        self.assertEqual(self.columns(), {"score": ("float", 4), "lang": ("bytes", 5)})
        self.where("score is null", [0, 3, 6, 9])
        self.where("lang is not null", [1, 3, 5, 7, 9])
        self.where("lang in ('de',)", [1, 5, 9])
        self.check("verify", "a.rmx", out="a.rmx: 10 of 10 records are good\n")

    def test_replacing_an_index_names_the_option_that_allows_nulls(self):
        lost = "--lift score --lift lang --missing-values null"
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        self.index("--id", "id", "-o", "a.rmx", "a-0.tfrecord", lost=lost)
        self.index("-o", "a.rmx", *lost.split(), "a-0.tfrecord", lost="--id id")
        self.assertEqual(self.columns(), {"score": ("float", 4), "lang": ("bytes", 5)})

    def test_advice_about_damage_is_a_command_that_keeps_nulls(self):
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        data = bytearray(self.read("a-0.tfrecord"))
        data[20] ^= 1
        self.write("a-0.tfrecord", bytes(data))
        command = (
            "--on-bad-record skip --id id --lift score --lift lang --missing-values null -o a.rmx"
        )
        self.assertIn(command.encode(), self.run_recmap("get", "a.rmx", "0").err)

    def test_info_counts_nulls(self):
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        lines = self.run_recmap("info", "a.rmx").out.decode().splitlines()
        self.assertIn("             score, float, 4 null", lines)

    def test_relations_with_a_null_are_false(self):
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        self.where("score < 100", [1, 2, 4, 5, 7, 8])
        self.where("score != 1", [1, 2, 5, 7, 8])
        self.where("not (score == 1)", [0, 1, 2, 3, 5, 6, 7, 8, 9])
        self.where("lang not in ('de',)", [3, 7])
        self.where("not lang in ('de',)", [0, 2, 3, 4, 6, 7, 8])
        self.where("score == score", [1, 2, 4, 5, 7, 8])
        self.where("score is null and lang is null", [0, 6])
        self.where("length is null", [])
        self.where("length is not null", range(COUNT))

    def test_errors_of_expressions(self):
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        for expression, message in [
            ("score is 3", "character 10: `3`: only `null` can be after `is`: use `==` to compare"),
            ("score is None", "only `null` can be after `is`: use `==` to compare"),
            ("3 is null", "character 1: `3`: this is not a column"),
            ("score is null == 3", "null cannot be compared: join conditions with `and`"),
            ("score == null", "the index has no column 'null'"),
        ]:
            result = self.run_recmap("select", "a.rmx", "--where", expression)
            self.assertEqual(result.status, 2 if "no column" not in message else result.status)
            self.assertIn(message.encode(), result.err, expression)
        self.assertIn(b"to find records without a value, use `COLUMN is null`", result.err)

    def test_words_of_other_languages(self):
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        is_null, lower = "to find records without a value, use `COLUMN is null`", "in lower case"
        numbers, none = "true and false are the numbers 1 and 0", "there is no such operator"
        for expression, advice in (
            ("score is None", is_null),
            ("score == None", is_null),
            ("score is NULL", is_null),
            ("score == True", numbers),
            ("score is False", numbers),
            ("score > 1 AND score < 3", lower),
            ("NOT score > 1", lower),
            ("score LIKE 'a'", none),
            ("score between 1 and 3", none),
        ):
            result = self.run_recmap("select", "a.rmx", "--where", expression)
            self.assertIn(result.status, (2, 4))
            self.assertIn(advice, result.err.decode(), expression)

    def test_appending_and_merging_give_the_index_of_one_build(self):
        self.lifted("-o", "all.rmx", "a-0.tfrecord", "a-1.tfrecord")
        self.lifted("-o", "a.rmx", "a-0.tfrecord")
        self.index("--append", "-o", "a.rmx", "a-1.tfrecord")
        self.assertEqual(self.read("a.rmx"), self.read("all.rmx"))
        for part in ("0", "1"):
            self.lifted("-o", f"{part}.rmx", f"a-{part}.tfrecord")
        self.assertEqual(self.run_recmap("merge", "-o", "merged.rmx", "0.rmx", "1.rmx").status, 0)
        self.assertEqual(self.read("merged.rmx"), self.read("all.rmx"))

    def test_lifting_into_an_index(self):
        self.lifted("-o", "all.rmx", "a-0.tfrecord")
        self.index("--id", "id", "-o", "a.rmx", "a-0.tfrecord")
        result = self.run_recmap("index", "--lift", "score", "a.rmx")
        self.assertEqual(result.status, 3)
        lifts = ("--lift", "score", "--lift", "lang", "--missing-values", "null")
        self.check("index", *lifts, "a.rmx", err="recmap: a.rmx: columns: 2 added\n")
        self.assertEqual(self.read("a.rmx"), self.read("all.rmx"))

    def test_missing_without_lifted_columns_is_refused(self):
        self.index("-o", "a.rmx", "a-0.tfrecord")
        before = self.read("a.rmx")
        first = "--missing-values null needs --lift: it is about records without a lifted feature"
        second = (
            "--missing-values null needs lifted columns, and the index that is appended to has none"
        )
        for what, *arguments in (
            (first, "-o", "a.rmx", "a-0.tfrecord"),
            (first, "a.rmx"),
            (second, "--append", "-o", "a.rmx", "a-1.tfrecord"),
        ):
            self.check_wrong("index", "--missing-values", "null", *arguments, what=what)
        self.assertEqual(self.read("a.rmx"), before)
        self.index("--missing-values", "error", "-o", "a.rmx", "a-0.tfrecord")

    def test_a_feature_of_no_record(self):
        result = self.run_recmap(
            "index", "--lift", "other", "--missing-values", "null", "-o", "a.rmx", "a-0.tfrecord"
        )
        self.assertEqual(result.status, 0)
        self.assertIn(b"no record has the lifted feature 'other': all have null", result.err)
        self.assertEqual(self.columns(), {"other": ("none", COUNT)})
        self.where("other is null", range(COUNT))
        self.where("other == 3 or other == 'x' or other in (1,) or other == length", [])
        self.check("verify", "a.rmx", out="a.rmx: 10 of 10 records are good\n")
        self.write("b.tfrecord", tfrecord([example(other=3)]))
        self.index("--append", "-o", "a.rmx", "b.tfrecord")
        self.assertEqual(self.columns(), {"other": ("int64", COUNT)})
        self.where("other == 3", [COUNT])

    def test_an_index_without_nulls_is_that_of_before(self):
        self.write("b.tfrecord", tfrecord([example(label=i) for i in range(5)]))
        self.index("--lift", "label", "-o", "b.rmx", "b.tfrecord")
        self.index("--lift", "label", "--missing-values", "null", "-o", "c.rmx", "b.tfrecord")
        self.assertEqual(self.read("b.rmx"), self.read("c.rmx"))

    def test_a_shuffled_copy_carries_nulls(self):
        self.lifted("-o", "a.rmx", "a-0.tfrecord", "a-1.tfrecord")
        self.write("s.csv", "number,note\n3,seen\n7,\n")
        self.assertEqual(self.run_recmap("annotate", "a.rmx", "--column", "note=s.csv").status, 0)
        result = self.run_recmap(
            "cat", "a.rmx", "--where", "lang is not null", "--format", "tfrecord", "-o", "copy@2"
        )
        self.assertEqual(result.status, 0, result)
        self.where("score is null", [1, 4, 7], "copy.rmx")
        self.where("note is not null", [1], "copy.rmx")
        self.assertEqual(self.columns("copy.rmx")["note"], ("bytes", 9))


class Annotated(Nulls):
    def setUp(self):
        super().setUp()
        self.index("--id", "id", "-o", "a.rmx", "a-0.tfrecord")

    def annotate(self, name, data, nulls, *words):
        self.write(f"s.{name}", data)
        note = f"recmap: column 's' is null for {nulls} of 10 records\n" if nulls else ""
        self.check("annotate", "a.rmx", "--column", f"s=s.{name}", *words, err=DONE + note)

    def test_empty_fields_of_csv_are_nulls(self):
        self.annotate("csv", "id,s\nid-1,3\nid-2,\nid-5,-7\n", 8)
        self.where("s is not null", [1, 5])
        self.where("s <= 3", [1, 5])
        self.assertEqual(self.columns(), {"s": ("int64", 8)})

    def test_nulls_of_json_are_nulls(self):
        self.annotate("jsonl", '{"id": "id-1", "s": "x"}\n{"id": "id-2", "s": null}\n', 9)
        self.where("s is null", [0, *range(2, COUNT)])

    def test_keys_of_missing_values_are_checked(self):
        for first, second in (("i", ""), ("", "i"), ("", "")):
            self.write("s.csv", f"id,s\nid-1,i\nid-0,{first}\nid-2,i\nid-0,{second}\n")
            for default in ((), ("--default", "s=x")):
                self.check(
                    "annotate",
                    "a.rmx",
                    "--column",
                    "s=s.csv",
                    *default,
                    status=2,
                    err="recmap: s.csv: line 5: duplicate id, first used in line 3\n"
                    "  give each record one value\n",
                )

    def test_a_quoted_empty_field_is_a_value(self):
        self.annotate("csv", 'number,s\n0,""\n1,x\n2,\n', 8)
        self.where("s == ''", [0])

    def test_a_default_replaces_nulls(self):
        self.annotate("csv", "number,s\n0,1\n", 0, "--default", "s=-1")
        self.where("s == -1", range(1, COUNT))
        self.assertEqual(self.columns(), {"s": ("int64", None)})

    def test_dropping_and_renaming(self):
        before = self.read("a.rmx")
        self.annotate("csv", "number,s\n0,1\n", 9)
        self.check(
            "annotate", "a.rmx", "--rename", "s=t",
            err="recmap: a.rmx: columns: 0 added, 0 dropped, 1 renamed\n",
        )  # fmt: skip
        self.where("t is not null", [0])
        self.check(
            "annotate", "a.rmx", "--drop", "t",
            err="recmap: a.rmx: columns: 0 added, 1 dropped, 0 renamed\n",
        )  # fmt: skip
        self.assertEqual(self.read("a.rmx"), before)

    def test_selections_and_report(self):
        self.annotate("csv", "number,s\n0,1\n5,2\n", 8)
        self.assertEqual(
            self.run_recmap("select", "a.rmx", "--where", "s is null", "-o", "n.rmv").status, 0
        )
        self.where("s is null and length > 0", [1, 2, 3, 4, 6, 7, 8, 9], "n.rmv")
        self.assertEqual(self.run_recmap("report", "a.rmx", "-o", "r.html").status, 0)
        self.assertIn(b"<code>s</code> (8 null)", self.read("r.html"))


if __name__ == "__main__":
    import unittest

    unittest.main()
