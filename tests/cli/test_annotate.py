"""annotate: columns that are dropped, renamed, appended to and lifted."""

from annotate_helpers import COUNT, LANGUAGES, Annotated
from support import example, tfrecord


class Columns(Annotated):
    def test_columns_are_dropped_and_renamed(self):
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

    def test_no_value_is_missing_if_all_records_have_one(self):
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

    def test_records_without_the_feature_get_the_default(self):
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

    def test_a_lift_that_fails_leaves_the_index(self):
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

    def test_a_feature_of_another_type_is_an_error(self):
        records = [example(x=1), example(x="1")]
        self.write("b.tfrecord", tfrecord(records))
        self.index("-o", "b.rmx", "b.tfrecord")
        result = self.run_recmap("index", "--lift", "x", "b.rmx")
        self.assertIn(
            b'feature "x" is of type bytes here and of type int64 in earlier records', result.err
        )
