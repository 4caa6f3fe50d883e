"""Seek points of an index, used without the library: docs/formats/vectors/points_reader.py
finds the table as docs/formats/index-format.md describes it, and zlib inflates from each point.
"""

import gzip
import os
import random
import struct
import sys
import unittest
import zlib

from support import ROOT, CliTest, tfrecord

sys.path.insert(0, os.path.join(ROOT, "docs", "formats", "vectors"))

from points_reader import read_index, read_points, resume


def make_content(seed, size):
    draw = random.Random(seed)
    words = [draw.randbytes(draw.randrange(1, 12)) for _ in range(300)]
    payloads = []
    while sum(map(len, payloads)) < size:
        payloads.append(b" ".join(draw.choices(words, k=draw.randrange(3000))))
    return tfrecord(payloads)


class Points(CliTest):
    def check_points(self, file, image, minimum):
        self.write("a", file)
        self.index("-o", "a.rmx", "a")
        values = read_index(self.read("a.rmx"))["points"]
        points = [point for key in sorted(values) for point in read_points(values[key])]
        self.assertGreaterEqual(len(points), minimum)
        at = 0
        for bit, offset, window in points:
            self.assertGreater(offset, at)
            at = offset
            self.assertEqual(image[offset - len(window) : offset], window)
            found = resume(file, bit, window)
            self.assertGreater(len(found), 0)
            self.assertTrue(image.startswith(found, offset))
        self.assertGreater(len(image), at)

    def test_every_point_leads_on(self):
        image = make_content(1, 10 << 20)
        for level in (1, 6):
            self.check_points(gzip.compress(image, level), image, 2)
        self.check_points(zlib.compress(image, 6), image, 2)
        cuts = [0, 1_500_000, 1_500_001, 3_000_000, len(image)]
        members = [gzip.compress(image[a:b], 4) for a, b in zip(cuts, cuts[1:])]
        self.check_points(gzip.compress(b"").join([b"", *members, b""]), image, 2)
        self.check_points(gzip.compress(image, 0), image, 3)

    def test_values_are_those_that_the_seal_covers(self):
        # The reader finds no points for an uncompressed shard, and all tables are present.
        self.write("a", tfrecord([b"one"]))
        self.index("-o", "a.rmx", "a")
        tables = read_index(self.read("a.rmx"))
        self.assertEqual(
            sorted(tables),
            sorted(
                ["manifest", "shards", "offsets", "ids", "columns", "damage", "points", "counts"]
            ),
        )
        self.assertEqual(tables["points"], {})
        self.assertEqual(list(tables["offsets"]), [struct.pack(">QI", 0, 0)])


if __name__ == "__main__":
    unittest.main()
