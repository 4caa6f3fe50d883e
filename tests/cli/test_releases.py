"""Index files and selections that released versions wrote: every later version reads them.

Each folder of releases/ has those of one version with their shards, written by releases/make. What
they contain is worked out here.
"""

import os
import shutil

from support import ROOT, CliTest, example, parse_tfrecord, repeated_ids, tfrecord

RELEASES = os.path.join(ROOT, "tests", "cli", "releases")
LIFTS = ("--id", "id", "--lift", "label", "--lift", "score", "--lift", "lang")
INDEXES = {
    "plain": (*LIFTS, "--count", "tokens", "plain-0.tfrecord", "plain-1.tfrecord"),
    "nulls": (*LIFTS, "--missing-values", "null", "nulls.tfrecord"),
    "annotated": ("--id", "id", "plain-0.tfrecord"),
    "zipped": ("--framing", "lines", "zipped.gz"),
    "damaged": ("--on-bad-record", "skip", "damaged.tfrecord"),
    "lines": ("--framing", "lines", "lines.txt"),
    "fixed": ("--framing", "fixed:4,4,0", "fixed.bin"),
    "samples": ("--framing", "tar", "samples.tar"),
}
SELECTIONS = {"set": range(3, 600, 10), "list": (599, 0, 7, 7, 300)}  # of "plain"
MARKS = b"number,mark\n" + b"".join(b"%d,mark %d\n" % (i, i % 5) for i in range(0, 500, 2))


def records(has_gaps=False):
    """600 records. With gaps, every third one lacks its score and every second one its language."""
    found = []
    for i in range(600):
        features = {"id": f"id-{i}", "label": i % 10 - 5, "tokens": list(range(i % 7))}
        if not has_gaps or i % 3:
            features["score"] = i / 4
        if not has_gaps or i % 2:
            features["lang"] = "de" if i % 4 == 1 else "fr"
        found.append(example(**features))
    return found


def long_lines():
    """Enough bytes for two seek points."""
    return [b"%d " % i * 500_000 for i in range(10)]


class Releases(CliTest):
    def setUp(self):
        super().setUp()
        self.versions = sorted(
            name for name in os.listdir(RELEASES) if os.path.isdir(os.path.join(RELEASES, name))
        )
        self.assertIn("0.2.0", self.versions)

    def each(self, index):
        """Steps through the versions, with copies of their files in the test's folder.
        The shards have other times than when they were indexed, as in a checkout."""
        for version in self.versions:
            with self.subTest(version):
                files = os.path.join(RELEASES, version)
                shutil.copytree(
                    files, self.folder, copy_function=shutil.copyfile, dirs_exist_ok=True
                )
                yield f"{index}.rmx"

    def check_records(self, index, due, damage=""):
        """Reads all records in order, some by number, and verifies them."""
        self.assertEqual(self.payloads(index), due)
        some = [len(due) - 1, 0, len(due) // 2]
        got = self.run_recmap("get", index, *map(str, some), "--format", "tfrecord")
        self.assertEqual(parse_tfrecord(got.out), [due[i] for i in some], got)
        good = f"{index}: {len(due)} of {len(due)} records are good{damage}\n"
        self.check("verify", index, out=good)

    def where(self, index, expression, expected):
        lines = "".join(f"{number}\n" for number in expected)
        self.check("select", index, "--where", expression, out=lines)

    def test_records_ids_columns_and_counts(self):
        for index in self.each("plain"):
            self.check_records(index, records())
            self.check("find", index, "id-599", "id-0", out="id-599\t599\nid-0\t0\n")
            label = [i for i in range(600) if i % 10 - 5 == -2 and i / 4 > 100]
            self.where(index, "label == -2 and score > 100", label)
            self.where(index, "lang == 'de'", range(1, 600, 4))
            pieces = self.run_recmap("order", "--chunked", "10", "--tail", "drop", index).out
            elements = [piece.split(":") for piece in pieces.decode().split()]
            total = sum(i % 7 for i in range(600))
            self.assertEqual(sum(int(count) for _, _, count in elements), total // 10 * 10)

    def test_nulls_of_old_indexes_are_read(self):
        for index in self.each("nulls"):
            self.check_records(index, records(has_gaps=True))
            self.where(index, "score is null", range(0, 600, 3))
            self.where(index, "lang == 'fr'", range(3, 600, 4))

    def test_annotations_of_old_indexes_are_read(self):
        for index in self.each("annotated"):
            self.check_records(index, records()[:500])
            self.where(index, "mark == 'mark 3'", [i for i in range(0, 500, 2) if i % 5 == 3])
            self.where(index, "mark is null", range(1, 500, 2))

    def test_old_indexes_of_compressed_shards_are_read(self):
        for index in self.each("zipped"):
            due = long_lines()
            written = self.run_recmap("cat", "--format", "raw", index).out
            self.assertTrue(written == b"".join(due))
            last = self.run_recmap("get", "--format", "raw", index, "9").out
            self.assertTrue(last == due[9])
            self.check("verify", index, out=f"{index}: 10 of 10 records are good\n")

    def test_selections_are_read(self):
        due = records()
        for _ in self.each("plain"):
            for name, numbers in SELECTIONS.items():
                self.assertEqual(self.payloads(f"{name}.rmv"), [due[i] for i in numbers])

    def test_damage_of_old_indexes_is_read(self):
        for index in self.each("damaged"):
            self.check_records(index, records()[1:], "; 1 damaged place in the index")

    def test_framings_of_old_indexes_are_read(self):
        for index in self.each("lines"):
            self.check_records(index, [b"line %d" % i for i in range(100)])
            self.check_records("fixed.rmx", [b"%03d." % i for i in range(100)])
            archive = self.read("samples.tar")  # a sample has two files of at most a block
            samples = [archive[i * 2048 : i * 2048 + 2048] for i in range(20)]
            self.assertIn(b"text 19", samples[19])
            self.check_records("samples.rmx", samples)

    def test_shards_can_be_appended(self):
        for index in self.each("plain"):
            self.write("plain-2.tfrecord", tfrecord(records()))
            self.write("new.rmx", self.read(index))
            self.index("--append", "-o", "new.rmx", "plain-2.tfrecord", err=repeated_ids(600))
            self.check_records("new.rmx", records() * 2)
