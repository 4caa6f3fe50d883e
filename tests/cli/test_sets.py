"""Several sets of shards in a folder, a pattern or a list, and the names of their indexes."""

import gzip

from support import CliTest, tfrecord


def shard(name):
    """A shard with one record."""
    return tfrecord([name.encode()])


class Sets(CliTest):
    def setUp(self):
        super().setUp()
        for name in ("test.tfrecord-00000-of-00001", "train.tfrecord-00000-of-00001"):
            self.write(f"d/x-{name}", shard(name))

    def test_a_folder_of_several_sets_is_an_error(self):
        self.check(
            "index",
            "d",
            status=2,
            err="recmap: d: the folder has 2 sets of shards: x-test.tfrecord@1 (1 shard), "
            "x-train.tfrecord@1 (1 shard)\n  to read one, pass `--split train`, "
            "or name it: 'd/x-train.tfrecord@1'; `--sets all` joins them\n",
        )
        self.assertEqual(self.index("--split", "train", "d").split(": ")[0], "d/x-train.rmx")
        self.assertEqual(self.payloads("d/x-train.rmx"), [b"train.tfrecord-00000-of-00001"])
        result = self.run_recmap("index", "--sets", "all", "d")
        warned, summary = result.err.split(b"\n  to use it and add what it lacks, ")
        self.assertEqual(
            warned,
            b"recmap: d/x-train.rmx: is the index of 1 of these 2 shards and is not used, because "
            b"these shards are several sets: d/x.rmx numbers the records anew and lacks its ids "
            b"and columns",
        )
        advice = b"`recmap index --append -o d/x-train.rmx SHARDS`\nrecmap: d/x.rmx: "
        self.assertTrue(summary.startswith(advice), summary)
        self.assertEqual(len(self.payloads("d/x.rmx")), 2)
        result = self.run_recmap("index", "--split", "val", "d")
        self.assertIn(b"recmap: d: no set has the split 'val': there is x-test", result.err)

    def test_a_pattern_of_several_sets_is_a_message(self):
        result = self.run_recmap("index", "d/x-*")
        self.assertEqual(result.status, 0)
        self.assertTrue(
            result.err.startswith(b"recmap: d/x-*: the pattern matches 2 sets of shards, which "),
            result,
        )
        self.index("--sets", "all", "d/x-*")

    def test_an_index_of_an_older_name_is_found(self):
        """Version 0.2.0 called it d/x-t.rmx, and a.rmx."""
        self.index("--sets", "all", "-o", "d/x-t.rmx", "d")
        self.assertEqual(self.index("--sets", "all", "d").split(": ")[0], "d/x-t.rmx")
        for i in range(1, 4):
            self.write(f"a-{i}.gz", gzip.compress(shard(str(i))))
        self.index("-o", "a.rmx", "a-1.gz")
        what = self.index("--append", "a-2.gz", "a-3.gz")
        self.assertTrue(what.startswith("a.rmx: 3 records in 3 shards"), what)

    def test_wrong_choices_are_refused(self):
        for wrong in ("--sets", "both"), ("--split", ""), ("--split", "a/b"):
            self.assertEqual(self.run_recmap("index", *wrong, "d").status, 2)
