"""select, sample, split, duplicates and cat --where, and selections in place of an index."""

import json
import os

from support import CliTest, example, parse_tfrecord, tfrecord

LANGUAGES = ("de", "fr", "日本")
ROWS = [
    {"id": f"id-{i // 2 if i < 6 else i}", "label": i % 5, "score": i / 8, "lang": LANGUAGES[i % 3]}
    for i in range(40)
]
RECORDS = [example(**row) for row in ROWS]


class Selected(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a-0.tfrecord", tfrecord(RECORDS[:25]))
        self.write("a-1.tfrecord", tfrecord(RECORDS[25:]))
        lifts = [word for name in ("label", "score", "lang") for word in ("--lift", name)]
        self.options = ["--id", "id", *lifts, "-o", "a.rmx"]
        self.index(*self.options, "a-0.tfrecord", "a-1.tfrecord")

    def numbers(self, path, *options):
        out = self.run_recmap("cat", path, "--format", "number", *options).out
        return [int(line) for line in out.split()]


class Select(Selected):
    def test_expressions_select_as_in_python(self):
        for expression, holds in (
            ("label == 3", lambda row: row["label"] == 3),
            (
                "lang in ('de', 'fr') and score >= 2",
                lambda row: row["lang"] != "日本" and row["score"] >= 2,
            ),
            (
                "lang == '日本' or not label < 4",
                lambda row: row["lang"] == "日本" or row["label"] == 4,
            ),
            ("length < 1", lambda row: False),
        ):
            expected = [i for i, row in enumerate(ROWS) if holds(row)]
            lines = "".join(f"{number}\n" for number in expected)
            self.check("select", "a.rmx", "--where", expression, out=lines)
            self.check("cat", "a.rmx", "--where", expression, "--format", "number", out=lines)
            self.check(
                "select",
                "a.rmx",
                "--where",
                expression,
                "-o",
                "b.rmv",
                err=f"recmap: b.rmv: {len(expected)} of 40 records\n",
            )
            self.check("cat", "b.rmv", "--format", "number", out=lines)
            self.check("cat", "b.rmv", out=b"".join(RECORDS[i] for i in expected))

    def test_wrong_usage_is_explained(self):
        advice = (
            "  write comparisons of columns with values, such as `label == 3 and lang in ('de', "
            "'fr')`; `columns['a/b']` is a column whose name is not a Python name\n"
        )
        self.check(
            "select",
            "a.rmx",
            "--where",
            "label == '3'",
            status=2,
            err=(
                "recmap: a.rmx: character 1: `label`: text and numbers cannot be compared\n"
                + advice
            ),
        )
        self.check(
            "select",
            "a.rmx",
            "--where",
            "lang == '日本' and label = 3",
            status=2,
            err=("recmap: a.rmx: character 24: `=`: use `==` to compare\n" + advice),
        )
        self.check(
            "cat",
            "a.rmx",
            "--where",
            "label == 3 and lan == 'de'",
            status=2,
            err=(
                "recmap: a.rmx: character 16: the index has no column 'lan'\n"
                "  did you mean 'lang'? the columns are @length, label, score, lang\n"
            ),
        )
        words = "  combine comparisons with the words `and`, `or` and `not`\n"
        for expression in (
            "label == 3 && length > 1",
            "label == 3 || length > 1",
            "!(label == 3)",
            "not !label == 3",
            "(label == 3) & (length > 1)",
            "~(label == 3)",
        ):
            err = self.run_recmap("select", "a.rmx", "--where", expression).err.decode()
            self.assertTrue(err.startswith("recmap: a.rmx: character "), err)
            self.assertTrue(err.endswith(words), err)
        err = self.run_recmap("select", "a.rmx", "--where", "label !== 3").err.decode()
        self.assertTrue(err.endswith(advice), err)
        self.check(
            *("select", "a.rmx", "--where", "label == 3" + " " * 100_000),
            status=2,
            err="recmap: a.rmx: the expression has more than 100000 bytes\n  add a column that "
            "marks the records, with `recmap annotate`, and compare that column\n",
        )
        self.check_wrong("select", "a.rmx", what="no --where EXPRESSION given")
        self.write("note.txt", b"keep me" * 20)
        self.check(
            "select",
            "a.rmx",
            "--where",
            "label == 3",
            "-o",
            "note.txt",
            status=2,
            err=(
                "recmap: select: -o needs a name that ends in .rmv, not 'note.txt'\n"
                "  try 'recmap select --help'\n"
            ),
        )
        self.assertEqual(self.read("note.txt"), b"keep me" * 20)

    def test_a_selection_in_place_of_an_index(self):
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "threes.rmv")
        threes = [i for i in range(40) if i % 5 == 3]
        self.check("get", "threes.rmv", "1", "--feature", "id", out="id-8")
        self.check("get", "threes.rmv", "0:2", "--format", "number", out="3\n8\n")
        self.check(
            "get",
            "threes.rmv",
            "8",
            status=2,
            err=(
                "recmap: item 8 is out of range: the selection has 8\n"
                "  items of a selection are numbered from 0, in its order\n"
            ),
        )
        self.check("find", "threes.rmv", "id-8", "id-1", out="id-8\t1\nid-1\t0\n")
        self.check(
            "find",
            "threes.rmv",
            "id-9",
            status=1,
            err=(
                "recmap: the selection does not contain the id 'id-9': it is the id of record 9\n"
                "  search the index instead of the selection\n"
            ),
        )
        self.check("get", "threes.rmv", "--by", "id", "id-8", out=RECORDS[8])
        shuffled = self.numbers("threes.rmv", "--shuffle", "--seed", "3")
        positions = self.run_recmap("order", "threes.rmv", "--shuffle", "--seed", "3").out.split()
        self.assertEqual(shuffled, [threes[int(position)] for position in positions])
        self.assertEqual(sorted(shuffled), threes)
        lines = self.run_recmap("info", "threes.rmv").out.decode().split("\n")
        self.assertEqual(
            lines[:3],
            [
                "selection    threes.rmv, a set of 8 records",
                "index        a.rmx",
                "records      40",
            ],
        )
        document = self.run_recmap("info", "--json", "threes.rmv").out
        self.assertTrue(document.startswith(b'{"records":8,"ordered":false,"total_records":40,'))
        schema = self.run_recmap("schema", "--json", "threes.rmv").out
        self.assertIn(b'"min":3,"max":3', schema.replace(b" ", b""))
        self.check(
            "select",
            "threes.rmv",
            "--where",
            "score > 3",
            "-o",
            "late.rmv",
            err="recmap: late.rmv: 3 of 8 records\n",
        )
        self.assertEqual(self.numbers("late.rmv"), [28, 33, 38])

    def test_a_selection_is_verified(self):
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "threes.rmv")
        self.check("verify", "threes.rmv", out="threes.rmv: 8 of 8 records are good\n")
        self.check(
            "verify", "threes.rmv", "--json", out='{"damage":[],"records":8,"records_good":8}\n'
        )
        for words in (["--threads", "2"], ["--memory-limit", "1MiB"]):
            self.check_wrong(
                *("verify", "threes.rmv", *words),
                what=f"{words[0]} is for a whole index, not for a selection",
            )
            result = self.run_recmap("verify", "threes.rmv", "--index-only", *words)
            self.assertEqual(result.status, 0, result)
        data = bytearray(self.read("a-0.tfrecord"))
        place = data.index(RECORDS[8])
        for at in (place + 20, data.index(RECORDS[9]) + 20):  # only one of them is selected
            data[at] ^= 1
        self.write("a-0.tfrecord", bytes(data))
        result = self.run_recmap("verify", "threes.rmv")
        damage, summary, _ = result.out.decode().split("\n")
        self.assertEqual((result.status, summary), (1, "threes.rmv: 7 of 8 records are good"))
        self.assertTrue(damage.startswith(f"a-0.tfrecord: record 8 at byte {place - 12}: "), damage)
        report = json.loads(self.run_recmap("verify", "threes.rmv", "--json").out)
        self.assertEqual((report["records"], report["records_good"]), (8, 7))
        self.assertEqual([place["record"] for place in report["damage"]], [8])

    def test_appended_and_changed_data(self):
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "threes.rmv")
        before = self.numbers("threes.rmv")
        self.write("a-2.tfrecord", tfrecord(RECORDS[:5]))
        self.index(*self.options, "a-0.tfrecord", "a-1.tfrecord", "a-2.tfrecord")
        self.assertEqual(self.numbers("threes.rmv"), before)
        for shards in (
            ["a-0.tfrecord"],
            ["a-1.tfrecord", "a-0.tfrecord"],
            ["a-0.tfrecord", "a-2.tfrecord", "a-1.tfrecord"],
        ):
            self.index(*self.options, *shards)
            self.check(
                "cat",
                "threes.rmv",
                status=3,
                err=(
                    "recmap: threes.rmv: the selection is of other records than its index has now: "
                    "the data set was changed, not only extended\n"
                    "  select again from a.rmx\n"
                ),
            )

    def test_a_selection_finds_its_index(self):
        os.mkdir(self.path("below"))
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "below/threes.rmv")
        self.assertEqual(self.numbers("below/threes.rmv"), self.numbers("a.rmx")[3::5])
        self.assertIn(self.path("a.rmx").encode(), self.read("below/threes.rmv"))
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "threes.rmv")
        self.assertNotIn(self.folder.encode(), self.read("threes.rmv"))
        os.rename(self.path("a.rmx"), self.path("b.rmx"))
        result = self.run_recmap("cat", "threes.rmv")
        self.assertEqual((result.status, result.out), (4, b""), result)
        self.assertIn(b"a.rmx", result.err)

    def test_damaged_selections_are_refused(self):
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "threes.rmv")
        good = self.read("threes.rmv")
        advice = "  write the selection again with `recmap select`\n"
        for data, what in (
            (b"", "this is not a recmap selection"),
            (b"RMXview\n", "the selection is truncated"),
            (good[:-1], "the selection is damaged: its hash does not match"),
            (good[:90] + b"x" + good[91:], "the selection is damaged: its hash does not match"),
        ):
            self.write("bad.rmv", data)
            self.check("cat", "bad.rmv", status=3, err=f"recmap: bad.rmv: {what}\n{advice}")


class Outputs(Selected):
    """No command writes to a file that it reads, whatever the spelling of its path."""

    def setUp(self):
        super().setUp()
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "train.rmv")
        os.symlink("train.rmv", self.path("link.rmv"))
        self.selection = self.read("train.rmv")

    def check_refused(self, path, role, *words):
        self.check(
            *words,
            status=2,
            err=(
                f"recmap: {path}: is {role} and would be overwritten\n  name another file with -o\n"
            ),
        )
        self.assertEqual(self.read("train.rmv"), self.selection)

    def test_the_selection_that_is_read(self):
        for words in (
            ["cat", "train.rmv"],
            ["get", "train.rmv", "0"],
            ["sample", "train.rmv", "3"],
            ["select", "train.rmv", "--where", "label == 3"],
            ["duplicates", "train.rmv"],
        ):
            for path in ("train.rmv", "./train.rmv", "link.rmv"):
                self.check_refused(path, "the selection itself", *words, "-o", path)

    def test_parts_of_a_split(self):
        self.check_refused(
            "train.rmv", "the selection itself", "split", "train.rmv", "first=.5", "train=.5"
        )
        self.assertFalse(os.path.exists(self.path("first.rmv")))
        os.symlink("a.rmx", self.path("index.rmv"))
        self.check_refused("index.rmv", "the index itself", "split", "train.rmv", "index=1")

    def test_the_index_and_a_sample(self):
        os.symlink("a.rmx", self.path("index.rmv"))
        for words in (
            ["sample", "a.rmx", "3"],
            ["select", "a.rmx", "--where", "label == 3"],
            ["duplicates", "a.rmx"],
            ["cat", "train.rmv"],
        ):
            self.check_refused("index.rmv", "the index itself", *words, "-o", "index.rmv")

    def test_the_name_of_a_selection_for_records(self):
        for words in (
            ["cat", "a.rmx"],
            ["get", "a.rmx", "0"],
            ["cat", "a.rmx", "--format", "number"],
        ):
            self.check(
                *words,
                "-o",
                "new.rmv",
                status=2,
                err=(
                    "recmap: new.rmv: is the name of a selection, but this command writes records\n"
                    "  end the name differently, or write a selection with `recmap select` or "
                    "`recmap sample`\n"
                ),
            )
            self.assertFalse(os.path.exists(self.path("new.rmv")))

    def test_a_selection_in_place_of_an_index(self):
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "b.rmv")
        self.check(
            "annotate",
            "b.rmv",
            "--drop",
            "score",
            status=3,
            err=(
                "recmap: b.rmv: the file is a selection, not an index\n"
                "  name its index, which `recmap info` prints\n"
            ),
        )

    def test_the_name_of_an_index_for_records(self):
        self.write("b", tfrecord([b"1"]))
        self.index("b", "-o", "b.rmx")
        before = self.read("b.rmx")
        for words in (
            ["cat", "a.rmx"],
            ["get", "a.rmx", "0", "--format", "json"],
            ["sample", "a.rmx", "3"],
        ):
            self.check(
                *words,
                "-o",
                "b.rmx",
                status=2,
                err=(
                    "recmap: b.rmx: is the name of an index, but this command writes records\n"
                    "  end the name differently; `recmap index` makes indexes\n"
                ),
            )
            self.assertEqual(self.read("b.rmx"), before)

    def test_a_list_of_numbers(self):
        self.write("numbers.txt", b"1\n2\n")
        self.check_refused(
            "numbers.txt",
            "the file of --from",
            "get",
            "a.rmx",
            "--from",
            "./numbers.txt",
            "-o",
            "numbers.txt",
        )
        self.assertEqual(self.read("numbers.txt"), b"1\n2\n")
        self.check(
            "get", "a.rmx", "--from", "-", "-o", "numbers.txt", "--format", "number", input=b"3\n"
        )
        self.assertEqual(self.read("numbers.txt"), b"3\n")
        self.check("get", "a.rmx", "--from", "/dev/null", "-o", "/dev/null")


class Sample(Selected):
    def test_samples_depend_on_the_seed_alone(self):
        first = self.run_recmap("sample", "a.rmx", "10", "--seed", "7", "--format", "number").out
        numbers = [int(line) for line in first.split()]
        self.assertEqual(len(set(numbers)), 10)
        self.assertEqual(numbers, sorted(numbers))
        self.check(
            "sample",
            "a.rmx",
            "10",
            "--seed",
            "7",
            out=b"".join(RECORDS[number] for number in numbers),
        )
        self.check(
            "sample",
            "a.rmx",
            "10",
            "--seed",
            "7",
            "-o",
            "s.rmv",
            err="recmap: s.rmv: 10 of 40 records\n",
        )
        self.assertEqual(self.numbers("s.rmv"), numbers)
        other = self.run_recmap("sample", "a.rmx", "10", "--seed", "8", "--format", "number").out
        self.assertNotEqual(other, first)
        self.check("sample", "a.rmx", "40", "--format", "tfrecord", "-o", "all.tfrecord")
        self.assertEqual(parse_tfrecord(self.read("all.tfrecord")), RECORDS)
        for format in "raw", "json", "number", "tfrecord":
            self.check(
                "sample",
                "a.rmx",
                "10",
                "--seed",
                "7",
                "--format",
                format,
                out=self.run_recmap("cat", "s.rmv", "--format", format).out,
            )
        self.check("sample", "a.rmx", "0")
        self.check(
            "sample",
            "a.rmx",
            "8",
            "--where",
            "label == 3",
            "--format",
            "number",
            out="".join(f"{i}\n" for i in range(3, 40, 5)),
        )

    def test_wrong_usage_is_explained(self):
        self.check(
            "sample",
            "a.rmx",
            "41",
            status=2,
            err=(
                "recmap: a.rmx: cannot sample 41 records: there are 40\n  ask for fewer records\n"
            ),
        )
        self.check_wrong("sample", "a.rmx", what="no number of records given")
        self.check_wrong("sample", "a.rmx", "ten", what="N must be a whole number, not 'ten'")
        self.check_wrong(
            "sample",
            "a.rmx",
            "3",
            "--format",
            "number",
            "-o",
            "b.rmv",
            what="-o NAME.rmv writes a selection: leave out --format",
        )


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


class Split(Selected):
    def test_parts_of_records_without_ids(self):
        """As docs/reference/partition.md says."""
        self.index("-o", "b.rmx", "a-0.tfrecord", "a-1.tfrecord")
        key = mix(7 + 0x9E3779B97F4A7C15)
        early = [i for i in range(40) if mix((i | 1 << 63) ^ key) < 3 << 62]
        self.check(
            "split",
            "b.rmx",
            "--seed",
            "7",
            "early=0.75",
            "late=0.25",
            err=(
                f"recmap: early.rmv: {len(early)} of 40 records\n"
                f"recmap: late.rmv: {40 - len(early)} of 40 records\n"
            ),
        )
        self.assertEqual(self.numbers("early.rmv"), early)
        self.assertEqual(self.numbers("late.rmv"), sorted(set(range(40)) - set(early)))

    def test_repeated_ids_stay_together(self):
        result = self.run_recmap("split", "a.rmx", "a=.5", "b=.5", "-o", "parts")
        self.assertEqual(result.status, 0, result)
        a, b = (self.numbers(f"parts/{name}.rmv") for name in "ab")
        self.assertEqual(sorted(a + b), list(range(40)))
        for first in (0, 2, 4):
            self.assertEqual(first in a, first + 1 in a)

    def test_the_folder_of_the_parts(self):
        for folder in "parts", "parts", "new/":
            result = self.run_recmap("split", "a.rmx", "a=1", "-o", folder)
            self.assertEqual(result.status, 0, result)
            self.assertEqual(os.listdir(self.path(folder)), ["a.rmv"])
        self.check(
            "split",
            "a.rmx",
            "a=1",
            "-o",
            "missing/below",
            status=4,
            err=(
                "recmap: missing/below: cannot create the folder: No such file or directory\n"
                "  check the path; relative paths start at the current folder\n"
            ),
        )
        self.check(
            "sample",
            "a.rmx",
            "3",
            "-o",
            "missing/a.rmv",
            status=4,
            err=(
                "recmap: missing: cannot resolve the path: No such file or directory\n"
                "  create the folder first, or check the path\n"
            ),
        )
        self.assertFalse(os.path.exists(self.path("missing")))

    def test_wrong_usage_is_explained(self):
        for words, what in (
            (["a.rmx"], "no parts given, such as train=0.9 validation=0.1"),
            (["a.rmx", "train"], "'train' is not NAME=SHARE"),
            (["a.rmx", "train=much"], "the share of 'train' must be from 0 to 1, not 'much'"),
            (["a.rmx", "train=nan"], "the share of 'train' must be from 0 to 1, not 'nan'"),
            (["a.rmx", "../x=1"], "'../x' cannot be the name of a part"),
            (["a.rmx", "x=.5", "x=.5"], "'x' occurs twice"),
            (["a.rmx", "x=.5", "y=.4"], "the shares must add up to 1"),
        ):
            self.check_wrong("split", *words, what=what)


class Duplicates(CliTest):
    def setUp(self):
        super().setUp()
        self.records = [
            example(id=i, text=t, n=n)
            for i, t, n in (
                ("a", "x", 1),
                ("b", "y", 2),
                ("a", "z", 1),
                ("a", "x", 1),
                ("c", "y", 3),
                ("b", "y", 2),
            )
        ]
        self.records.append(example(n=1))
        self.write("a.tfrecord", tfrecord(self.records))

    def test_contents_ids_and_features(self):
        self.index("a.tfrecord")
        for by, lines in (
            (["--by", "content"], "3\t0\n5\t1\n"),
            ([], "3\t0\n5\t1\n"),
            (["--by", "text"], "3\t0\n4\t1\n5\t1\n"),
            (["--by", "n"], "2\t0\n3\t0\n5\t1\n6\t0\n"),
        ):
            self.check("duplicates", "a.rmx", *by, out=lines)
        self.check("duplicates", "a.rmx", "-o", "b.rmv", err="recmap: b.rmv: 5 of 7 records\n")
        self.check("cat", "b.rmv", "--format", "number", out="0\n1\n2\n4\n6\n")
        self.check("duplicates", "b.rmv", "--by", "text", out="3\t1\n")
        self.check("duplicates", "b.rmv")

    def test_duplicate_ids_are_listed(self):
        self.write("b.tfrecord", tfrecord(self.records[:6]))
        self.index("--id", "id", "b.tfrecord")
        self.check("duplicates", "b.rmx", "--by", "id", out="2\t0\n3\t0\n5\t1\n")
        self.check(
            "duplicates",
            "b.rmx",
            "--by",
            "id",
            "-o",
            "c.rmv",
            err="recmap: c.rmv: 3 of 6 records\n",
        )
        self.check("cat", "c.rmv", "--format", "number", out="0\n1\n4\n")

    def test_wrong_usage_is_explained(self):
        self.index("a.tfrecord")
        self.check(
            "duplicates",
            "a.rmx",
            "--by",
            "id",
            status=2,
            err=(
                "recmap: a.rmx: the index has no ids\n"
                "  compare the records' contents, or a feature\n"
            ),
        )
        self.check(
            "duplicates",
            "a.rmx",
            "--by",
            "colour",
            status=2,
            err=(
                "recmap: a.rmx: no record has the feature 'colour'\n"
                "  `recmap schema` lists the features\n"
            ),
        )
        self.check_wrong("duplicates", "a.rmx", "--by=", what="--by needs id, content or a feature")
        self.check_wrong(
            "duplicates", "a.rmx", "-o", "b", what="-o needs a name that ends in .rmv, not 'b'"
        )


class Moved(Selected):
    """A selection that was moved away from its index, and shards away from their folders."""

    def test_index_and_shards_are_named(self):
        self.run_recmap("select", "a.rmx", "--where", "label == 3", "-o", "b.rmv")
        os.makedirs(self.path("away"))
        os.rename(self.path("b.rmv"), self.path("away/b.rmv"))
        numbers = "".join(f"{i}\n" for i, row in enumerate(ROWS) if row["label"] == 3)
        records = b"".join(RECORDS[i] for i, row in enumerate(ROWS) if row["label"] == 3)
        self.check(
            "cat",
            "away/b.rmv",
            status=4,
            err="recmap: away/a.rmx: cannot open the file: No such file or directory\n"
            "  away/b.rmv expects its index there, by a path that starts at the selection's own "
            "folder unless it is absolute. Pass `--index NAME.rmx` if the index was moved, and "
            "`--shards FOLDER` if its shards were moved.\n",
        )
        self.check("cat", "away/b.rmv", "--index", "a.rmx", "--format", "number", out=numbers)
        os.makedirs(self.path("copy"))
        for name in "a-0.tfrecord", "a-1.tfrecord":
            os.rename(self.path(name), self.path("copy", name))
        moved = ["away/b.rmv", "--index", "a.rmx", "--shards", "copy"]
        self.check("cat", *moved, out=records)
        for command in "info", "order", "schema", "verify", "find", "duplicates":
            options = moved[:3] if command in ("info", "order") else moved
            more = {"find": ["id-8"], "duplicates": ["--by", "id"]}.get(command, [])
            result = self.run_recmap(command, *options, *more)
            self.assertIn(result.status, (0, 1), (command, result))
        self.check_wrong(
            "cat", "a.rmx", "--index", "a.rmx", what="--index is for a selection (NAME.rmv)"
        )

    def test_flat_copy_of_shards(self):
        os.makedirs(self.path("deep/x"))
        for name in "a-0.tfrecord", "a-1.tfrecord":
            os.rename(self.path(name), self.path("deep/x", name))
        self.index("-o", "c.rmx", "deep/x/a-0.tfrecord", "deep/x/a-1.tfrecord")
        os.rename(self.path("deep/x"), self.path("flat"))
        self.check("cat", "c.rmx", "--shards", "flat", out=b"".join(RECORDS))
