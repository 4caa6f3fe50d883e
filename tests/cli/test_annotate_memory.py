"""annotate: the memory does not grow with the number of rows. The campaign has ten million rows of
each kind, the short form two million."""

import os
import resource
import subprocess
import unittest

from support import COMMAND, IS_SANITIZED, CliTest

IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
COUNT = 10_000_000 if IS_LONG else 2_000_000
# The rows are sorted in a buffer of 32 MiB, and annotating needs 34 to 41 MiB, whatever the number
# of rows. Of two million rows, a list with 8 bytes for each also exceeds the limit. Files are
# mapped, which it does not count.
LIMIT = (72 if IS_LONG else 48) << 20


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


@unittest.skipIf(IS_SANITIZED, "skipped: sanitizers take memory of their own")
class Memory(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.txt", b"a\n" * COUNT)
        self.index("--framing", "lines", "-o", "a.rmx", "a.txt")

    def annotate(self, name, *options, note=""):
        done = subprocess.run(
            [COMMAND, "annotate", "a.rmx", "--column", f"new={name}", *options],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            preexec_fn=limit_memory,
        )
        said = f"recmap: a.rmx: columns: 1 added, 0 dropped, 0 renamed\n{note}"
        self.assertEqual((done.stdout, done.stderr.decode(), done.returncode), (b"", said, 0))

    def rows(self, line):
        """One line for each record, in another order than the records."""
        step = 7_919  # a prime number, which does not divide COUNT
        return (line(i * step % COUNT).encode() for i in range(COUNT))

    def write_lines(self, name, first, line):
        with open(self.path(name), "wb") as file:
            file.write(first)
            file.writelines(self.rows(line))

    def check_last(self, expression):
        """The last record has its value."""
        self.check("select", "a.rmx", "--where", expression, out=f"{COUNT - 1}\n")

    def test_numbers_of_a_table(self):
        self.write_lines("a.csv", b"number,new\n", lambda i: f"{i},{i - 5}\n")
        self.annotate("a.csv", "--by", "number")
        self.check_last(f"new == {COUNT - 6}")

    def test_texts_and_nulls_of_json_lines(self):
        last = '"last"'

        def line(i):
            value = "null" if i % 3 else f'"text {i % 1000}"'
            return f'{{"number": {i}, "new": {value if i < COUNT - 1 else last}}}\n'

        self.write_lines("a.jsonl", b"", line)
        nulls = sum(1 for i in range(COUNT - 1) if i % 3)
        note = f"recmap: column 'new' is null for {nulls} of {COUNT} records\n"
        self.annotate("a.jsonl", "--by", "number", note=note)
        self.check_last("new == 'last'")


if __name__ == "__main__":
    unittest.main()
