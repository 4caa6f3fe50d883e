"""Options of 0.2.0 and their values: each works, and prints a note with its name of today."""

import re
import unittest

from support import CliTest, example, tfrecord

NOTE = "recmap: {} is now {}; the old name works until recmap 2.0\n"


class Renamed(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a", tfrecord([example(id=f"i{n}", label=n) for n in range(8)]))
        self.index("a", "--id", "id")

    def noted(self, *words):
        """Runs a command that has to succeed. Returns its output, and the notes."""
        done = self.run_recmap(*words)
        self.assertEqual(done.status, 0, done.err)
        lines = done.err.decode().splitlines(keepends=True)
        return done.out, [line for line in lines if "old name" in line]

    def test_old_options_still_work(self):
        shares = ["--rank", "1", "--batch-size", "4"]
        for words, old, now in (
            (
                ["index", "a", "-o", "b.rmx", "--on-corrupt", "skip"],
                "--on-corrupt",
                "--on-bad-record",
            ),
            (["index", "a", "-o", "b.rmx", "--on-corrupt=skip"], "--on-corrupt", "--on-bad-record"),
            (["order", "a.rmx", "--world", "2", *shares], "--world", "--world-size"),
            (
                ["order", "a.rmx", "--batch=4", *shares[:2], "--world-size=2"],
                "--batch",
                "--batch-size",
            ),
        ):
            out, notes = self.noted(*words)
            self.assertEqual(notes, [NOTE.format(old, now)])
            again = [re.sub(f"{old}(?=$|=)", now, word) for word in words]
            self.assertEqual((out, []), self.noted(*again))

    def test_old_names_are_not_shown(self):
        for command in ("annotate", "cat", "get", "index", "order"):
            old = {"on-corrupt", "on", "missing", "world", "batch"}
            self.assertEqual(old & set(self.options(command)), set(), command)

    def test_old_values_still_work(self):
        words = ["index", "a", "-o", "b.rmx", "--on-bad-record", "raise"]
        self.assertEqual(self.noted(*words)[1], [NOTE.format("raise", "error")])
        words = ["get", "a.rmx", "0", "--access", "pread"]
        self.assertEqual(self.noted(*words)[1], [NOTE.format("pread", "read")])

    def test_columns_of_old_names_are_kept(self):
        with open(self.path("q.csv"), "w") as file:
            file.write("id,q\ni1,5\n")
        words = ["annotate", "a.rmx", "--column", "q=q.csv", "--on", "id", "--missing", "null"]
        notes = [NOTE.format("--on", "--by"), NOTE.format("--missing", "--missing-values")]
        self.assertEqual(self.noted(*words)[1], notes)

    def test_both_names_of_an_option_are_refused(self):
        for words in (["--world", "2", "--world-size", "4"], ["--world-size=4", "--world=2"]):
            self.check_wrong(
                "order",
                "a.rmx",
                *("--rank", "0", *words),
                what="--world is the old name of --world-size: give --world-size only",
            )

    def test_after_two_dashes_words_are_operands(self):
        done = self.run_recmap("index", "--", "--on-corrupt")
        self.assertNotIn("old name", done.err.decode())


if __name__ == "__main__":
    unittest.main()
