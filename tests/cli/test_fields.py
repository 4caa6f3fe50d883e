"""The field reader of CSV against the csv module of Python, over random tables."""

import csv
import io
import os
import random
import re
import struct
import subprocess
import unittest

PRINT_FIELDS = os.environ.get("RECMAP_PRINT_FIELDS")
COUNT = 4_000
PIECES = [
    '"',
    '"',
    '""',
    '"x"',
    ",",
    ",",
    ";",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "",
    " ",
    "a",
    "é",
    "'",
    "\\",
]
# What the csv module says of a table that it refuses, and what the field reader says.
REFUSALS = {
    "unexpected end of data": "a quote is not closed",
    "expected after": "a closing quote is followed by other characters",
}


def read_all(tables):
    """The rows of each table, and its error or None."""
    packed = b"".join(
        separator.encode() + struct.pack("<I", len(text.encode())) + text.encode()
        for text, separator in tables
    )
    printed = subprocess.run([PRINT_FIELDS], input=packed, capture_output=True, check=True).stdout
    rows = []
    for line in printed.decode().splitlines():
        if line == "." or line.startswith("line "):
            yield rows, None if line == "." else line
            rows = []
        else:
            fields = [field.rstrip('"') for field in line.split("=")[1:]]
            rows.append([bytes.fromhex(field).decode() for field in fields])


def read_with_python(text, separator):
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True):
            if row:  # not of a blank line
                rows.append(row)
    except csv.Error as error:
        return rows, next(ours for words, ours in REFUSALS.items() if words in str(error))
    return rows, None


@unittest.skipUnless(PRINT_FIELDS, "RECMAP_PRINT_FIELDS is not set")
class Fields(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(7)

    def text_of_pieces(self, limit):
        return "".join(self.random.choices(PIECES, k=self.random.randrange(limit)))

    def test_tables_that_python_writes(self):
        """What is in quotes may also have line ends of any kind."""
        tables, expected = [], []
        for _ in range(COUNT // 4):
            separator, line_end = self.random.choice(",;\t|"), self.random.choice(["\n", "\r\n"])
            quoting = self.random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
            # Python leaves a CR without quotes if its lines end in LF.
            is_quoted = quoting == csv.QUOTE_ALL or line_end == "\r\n"
            ends = ["", "", "\r"] if is_quoted else [""]
            width = self.random.randrange(1, 6)
            rows = [
                [self.text_of_pieces(6) + self.random.choice(ends) for _ in range(width)]
                for _ in range(self.random.randrange(8))
            ]
            out = io.StringIO(newline="")
            csv.writer(
                out, delimiter=separator, lineterminator=line_end, quoting=quoting
            ).writerows(rows)
            text = out.getvalue()
            if rows and self.random.random() < 0.5:
                text = text[: -len(line_end)]
            tables.append((text, separator))
            expected.append((rows, None))
        for table, found, rows in zip(tables, read_all(tables), expected):
            self.assertEqual(found, rows, table)

    def test_any_text_is_read_as_by_python(self):
        tables = [(self.text_of_pieces(40), self.random.choice(",;\t")) for _ in range(COUNT)]
        refused = 0
        for table, (rows, error) in zip(tables, read_all(tables)):
            text, separator = table
            expected_rows, refusal = read_with_python(text, separator)
            if refusal is None:
                self.assertEqual((rows, error), (expected_rows, None), table)
                continue
            self.assertEqual(rows[: len(expected_rows)], expected_rows, table)
            place = re.fullmatch(rf"line (\d+), byte (\d+): {refusal}", error)
            self.assertIsNotNone(place, (table, error))
            lines = text.encode().split(b"\n")
            line, byte = map(int, place.groups())
            self.assertEqual(lines[line - 1][byte : byte + 1], b'"', (table, error))
            before = b"\n".join([*lines[: line - 1], lines[line - 1][:byte]]).decode()
            inside = refusal != REFUSALS["unexpected end of data"]
            self.assertEqual(read_with_python(before, separator)[1] is not None, inside, table)
            refused += 1
        self.assertTrue(COUNT // 10 < refused < COUNT * 9 // 10, refused)


if __name__ == "__main__":
    unittest.main()
