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

    def payloads_of(self, source):
        self.index("-o", "p.rmx", source)
        return self.payloads("p.rmx")

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
        warned, summary = result.err.split(b"\n  to keep them, copy the index with ")
        self.assertEqual(
            warned,
            b"recmap: d/x-train.rmx: is the index of 1 of these 2 shards and is not used, because "
            b"these shards are several sets: d/x.rmx numbers the records anew and has its ids "
            b"and columns only if they are named again",
        )
        advice = b"`recmap merge -o d/x.rmx d/x-train.rmx`, and index the shards again: "
        self.assertTrue(summary.startswith(advice), summary)
        self.assertEqual(self.payloads("d/x.rmx")[0], b"test.tfrecord-00000-of-00001")
        self.run_recmap("merge", "-o", "d/x.rmx", "d/x-train.rmx")
        self.index("--append", "--sets", "all", "d")
        self.assertEqual(self.payloads("d/x.rmx")[0], b"train.tfrecord-00000-of-00001")
        self.assertEqual(len(self.payloads("d/x.rmx")), 2)
        self.assertEqual(len(self.payloads("d/x-train.rmx")), 1)
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

    def test_copies_of_a_set_are_joined_with_an_index_only_if_asked(self):
        """By an append and by a merge, as in a list of names."""
        for name in "x.recordio", "s-00000-of-00002", "s-00001-of-00002", "s-00000-of-00001":
            self.write(name, shard(name))
        self.write("x.recordio.gz", gzip.compress(self.read("x.recordio")))
        for old, new, both in (
            ("x.recordio", "x.recordio.gz", b"x.recordio and x.recordio.gz"),
            ("s@2", "s@1", b"s@2 and s@1"),
        ):
            count = len(self.payloads_of(old))
            self.index("-o", "a.rmx", old)
            self.index("-o", "b.rmx", new)
            before = self.read("a.rmx")
            for words in (
                ("index", "--append", "-o", "a.rmx", new),
                ("merge", "-o", "m.rmx", "a.rmx", "b.rmx"),
            ):
                result = self.run_recmap(*words)
                self.assertEqual(result.status, 2)
                self.assertIn(b"there are two copies of one set: " + both, result.err)
                self.assertIn(b"`--sets all` joins them", result.err)
            self.assertEqual(self.read("a.rmx"), before)
            self.run_recmap("merge", "--sets", "all", "-o", "m.rmx", "a.rmx", "b.rmx")
            self.index("--append", "--sets", "all", "-o", "a.rmx", new)
            self.assertEqual(len(self.payloads("a.rmx")), count + 1)
            self.assertEqual(self.read("a.rmx"), self.read("m.rmx"))
            # What the index has already is not added as a copy.
            self.index("--append", "-o", "a.rmx", old)

    def test_a_copy_that_a_program_left_is_told(self):
        self.write("c/a.tfrecord", shard("a"))
        self.write("c/a.tfrecord.bak", shard("a"))
        self.index(
            "-o",
            "b.rmx",
            "c",
            err="recmap: skipped 1 file that is not a shard: c/a.tfrecord.bak\n",
        )
        self.assertEqual(self.payloads("b.rmx"), [b"a"])
        self.write("c/a (1).tfrecord", shard("a"))
        self.check(
            "index",
            "c",
            status=2,
            err="recmap: c: the folder has 2 sets of shards: a (1).tfrecord (1 shard), a.tfrecord "
            "(1 shard)\n  if their contents are equal, remove the copies, such as "
            "'a (1).tfrecord', else rename them; to read one, name it: 'c/a.tfrecord'; `--sets "
            "all` joins them\n",
        )
        warned = self.run_recmap("index", "-o", "c.rmx", "c/*.tfrecord")
        self.assertEqual(warned.status, 0)
        self.assertIn(b"are joined: a (1).tfrecord (1 shard), a.tfrecord (1 shard)", warned.err)
        self.index("-o", "a.rmx", "c/a.tfrecord")
        refused = self.run_recmap("index", "--append", "-o", "a.rmx", "c/a (1).tfrecord")
        self.assertEqual(refused.status, 2)
        self.assertIn(b"two copies of one set: a.tfrecord and a (1).tfrecord", refused.err)
        self.index("--append", "--sets", "all", "-o", "a.rmx", "c/a (1).tfrecord")
        self.assertEqual(self.payloads("a.rmx"), [b"a", b"a"])

    def test_equal_shards_of_two_folders_are_told(self):
        for folder, name in ("a", "x"), ("b", "y"), ("c", "x"):
            self.write(f"{folder}/1.tfrecord", shard(name * 5000))
            self.write(f"{folder}/2.tfrecord", shard(folder * 5000))
        self.index("-o", "ab.rmx", "a", "b")
        result = self.run_recmap("index", "-o", "abc.rmx", "a", "b", "c")
        self.assertEqual(result.status, 0)
        self.assertIn(b"c/1.tfrecord: seems to be a copy of ", result.err)
        self.assertIn(b"a/1.tfrecord (same name, size and sampled bytes), so its ", result.err)
        self.assertEqual(result.err.count(b"seems to be a copy of"), 1)
        self.assertEqual(len(self.payloads("abc.rmx")), 6)
        self.index("--sets", "all", "-o", "abc.rmx", "a", "b", "c")

    def test_equal_shards_without_records_are_not_copies(self):
        for folder in "a", "b":
            self.write(f"{folder}/0.tfrecord.gz", gzip.compress(b"", mtime=0))
            self.write(f"{folder}/1.tfrecord.gz", gzip.compress(shard(folder)))
        result = self.run_recmap("index", "-o", "e.rmx", "a", "b")
        self.assertEqual(result.status, 0)
        self.assertNotIn(b"seems to be a copy of", result.err)

    def test_the_index_of_more_sets_is_not_used_for_some(self):
        for name in "a-0-of-1", "b-0-of-1", "c-0-of-1":
            self.write(f"e/{name}", shard(name))
        self.write("list", b"e/a-0-of-1\ne/b-0-of-1\n")
        self.index("--sets", "all", "e")
        result = self.run_recmap("schema", "@list")
        self.assertIn(b"only 2 were given: it is also of ", result.err)
        self.assertIn(b"build an index of these alone", result.err)
        self.assertNotIn(b"restore", result.err)

    def test_wrong_choices_are_refused(self):
        for wrong in ("--sets", "both"), ("--split", ""), ("--split", "a/b"):
            self.assertEqual(self.run_recmap("index", *wrong, "d").status, 2)
