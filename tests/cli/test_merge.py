"""recmap merge: merged parts equal the index of one build."""

import os
import resource
import unittest

from support import (
    EXAMPLES,
    CliTest,
    example,
    no_records,
    tfrecord,
)


class Merging(CliTest):
    words = ["--id", "id", "--lift", "label"]

    def setUp(self):
        super().setUp()
        for i, records in enumerate([EXAMPLES[:2], [], EXAMPLES[2:3], EXAMPLES[3:]]):
            self.write(f"d/s-{i}", tfrecord(records))
        self.shards = [f"d/s-{i}" for i in range(4)]

    def parts(self, *words, err="", lost=""):
        names = []
        for i, shard in enumerate(self.shards):
            names.append(f"part-{i}.rmx")
            note = err if i != 1 else no_records(names[-1])
            self.index("-o", names[-1], *words, shard, err=note, lost=lost)
        return names

    def test_the_bytes_are_those_of_one_build(self):
        for words in ([], self.words, ["--on-bad-record", "skip"], ["--lift", "absent=7"]):
            note = "recmap: no record has the lifted feature 'absent': all have its default\n"
            note = note if "absent=7" in words else ""
            lost = "--id id --lift label" if "--on-bad-record" in words else ""
            self.index("-o", "all.rmx", *words, *self.shards, err=note, lost=lost)
            parts = self.parts(*words, err=note, lost=lost)
            self.check("merge", "-o", "m.rmx", *parts, err="recmap: m.rmx: 5 records in 4 shards\n")
            self.assertEqual(self.read("m.rmx"), self.read("all.rmx"))
            # A part can be the result of a merge.
            self.check(
                "merge",
                "-o",
                "half.rmx",
                *parts[:2],
                err="recmap: half.rmx: 2 records in 2 shards\n",
            )
            self.check(
                "merge",
                "-o",
                "m.rmx",
                "half.rmx",
                *parts[2:],
                err="recmap: m.rmx: 5 records in 4 shards\n",
            )
            self.assertEqual(self.read("m.rmx"), self.read("all.rmx"))

    def test_damage_is_carried_over(self):
        whole = self.read("d/s-3")
        self.write("d/s-3", whole[:20] + bytes([whole[20] ^ 1]) + whole[21:])
        self.index(
            "-o",
            "all.rmx",
            "--on-bad-record",
            "skip",
            *self.shards,
            err=(
                f"recmap: 1 damaged place skipped, {len(tfrecord(EXAMPLES[3:4]))} bytes; "
                "'recmap info all.rmx' lists them\n"
            ),
        )
        # Only the part with the damage is built with skip.
        for i in range(3):
            note = no_records("part-1.rmx") if i == 1 else ""
            self.index("-o", f"part-{i}.rmx", self.shards[i], err=note)
        self.run_recmap("index", "--on-bad-record", "skip", "-o", "part-3.rmx", "d/s-3")
        self.run_recmap("merge", "-o", "m.rmx", *[f"part-{i}.rmx" for i in range(4)])
        self.assertEqual(self.read("m.rmx"), self.read("all.rmx"))

    def test_more_parts_than_descriptors(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))

        count = 60
        for i in range(count):
            self.write(f"e/s-{i}", tfrecord([b"%d" % i]))
            self.index("-o", f"e-{i}.rmx", f"e/s-{i}")
        self.check(
            "merge",
            "-o",
            "m.rmx",
            *[f"e-{i}.rmx" for i in range(count)],
            err=f"recmap: m.rmx: {count} records in {count} shards\n",
            preexec_fn=limit,
        )
        self.assertEqual(self.payloads("m.rmx"), [b"%d" % i for i in range(count)])

    def test_no_shard_is_read(self):
        parts = self.parts(*self.words)
        os.rename(self.path("d/s-0"), self.path("gone"))
        self.run_recmap("merge", "-o", "m.rmx", *parts)
        os.rename(self.path("gone"), self.path("d/s-0"))
        self.assertEqual(self.payloads("m.rmx"), EXAMPLES)

    def test_parts_with_other_columns(self):
        parts = self.parts(*self.words)
        self.index("-o", "other.rmx", "--id", "id", "d/s-1", err=no_records("other.rmx"))
        before = self.files()
        result = self.run_recmap("merge", "-o", "m.rmx", parts[0], "other.rmx")
        self.assertEqual(result.status, 3)
        self.assertIn(
            b"other.rmx: the index was built with other ids, columns or counts", result.err
        )
        self.assertEqual(self.files(), before)

    def test_a_column_of_another_type(self):
        self.write("t-0", tfrecord([example(label=1)]))
        self.write("t-1", tfrecord([example(label="one")]))
        for i in range(2):
            self.index("-o", f"t-{i}.rmx", "--lift", "label", f"t-{i}")
        before = self.files()
        result = self.run_recmap("merge", "-o", "m.rmx", "t-0.rmx", "t-1.rmx")
        self.assertEqual((result.status, result.out), (3, b""), result)
        self.assertIn(b"label", result.err)
        self.assertEqual(self.files(), before)

    def test_a_shard_twice(self):
        parts = self.parts()
        result = self.run_recmap("merge", "-o", "m.rmx", parts[0], parts[0])
        self.assertEqual(result.status, 2)
        self.assertIn(b"the shard is named twice", result.err)

    def test_the_target_is_a_part(self):
        parts = self.parts()
        before = self.read(parts[0])
        self.check(
            "merge",
            "-o",
            parts[0],
            *parts,
            status=2,
            err=(
                "recmap: part-0.rmx: is one of the parts and would be overwritten\n"
                "  name another file with -o\n"
            ),
        )
        self.assertEqual(self.read(parts[0]), before)

    def test_the_name_of_a_selection(self):
        parts = self.parts()
        before = self.files()
        self.check(
            *("merge", "-o", "m.rmv", *parts),
            status=2,
            err="recmap: m.rmv: is the name of a selection, not of an index\n"
            "  end the name of the index in .rmx\n",
        )
        self.assertEqual(self.files(), before)

    def test_wrong_usage_is_explained(self):
        self.check_wrong("merge", "a.rmx", what="no output given (-o NAME.rmx)")
        self.check_wrong("merge", "-o", "a.rmx", what="no parts given")
        self.check_wrong("merge", "-o", "", "a.rmx", what="-o needs a file name")

    def test_a_part_that_is_not_an_index(self):
        before = self.files()
        result = self.run_recmap("merge", "-o", "m.rmx", "d/s-0")
        self.assertEqual((result.status, self.files()), (3, before))


if __name__ == "__main__":
    unittest.main()
