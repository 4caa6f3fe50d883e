"""recmap warm: what is read into memory or into a cache."""

import os
import re
import shutil
import unittest

from store import needs_cache_space, start_store
from support import DIGITS, CliTest, make_payloads, tfrecord

KB = {"B": 1, "kB": 1e3, "MB": 1e6}


class WarmTest(CliTest):
    def warm(self, *arguments, err=b""):
        """The bytes that were read, and those that were there."""
        result = self.run_recmap("warm", *arguments)
        self.assertEqual((result.status, result.err), (0, err))
        found = re.fullmatch(rb"([\d.]+) (\w+) read, ([\d.]+) (\w+) already there\n", result.out)
        values = [word.decode() for word in found.groups()]
        return float(values[0]) * KB[values[1]], float(values[2]) * KB[values[3]]


class InMemory(WarmTest):
    def setUp(self):
        super().setUp()
        for i in range(3):
            self.write(f"a-{i}.tfrecord", tfrecord(make_payloads(i, 300)))
        self.index(*[f"a-{i}.tfrecord" for i in range(3)])
        names = os.listdir(self.folder)
        self.size = sum(
            os.path.getsize(self.path(name)) for name in names if name.endswith(".tfrecord")
        )
        self.name = next(name for name in names if name.endswith(".rmx"))

    def test_all_shards(self):
        self.assertAlmostEqual(sum(self.warm(self.name)), self.size, delta=self.size / 100)
        self.assertAlmostEqual(sum(self.warm("a-*")), self.size, delta=self.size / 100)

    def test_a_part_of_an_epoch(self):
        one = sum(self.warm(self.name, "--count", "1"))
        self.assertLessEqual(one, 8192)
        self.assertGreater(one, 0)
        part = sum(self.warm(self.name, "--from", "300", "--count", "300"))
        self.assertLess(abs(part - os.path.getsize(self.path("a-1.tfrecord"))), 8200)
        whole = sum(self.warm(self.name, "--seed", "3", "--epoch", "2"))
        self.assertAlmostEqual(whole, self.size, delta=self.size / 100)
        self.assertEqual(sum(self.warm(self.name, "--from", "900")), 0)

    def test_nodes(self):
        options = ["--batch-size", "150", "--world-size", "6"]
        parts = [sum(self.warm(self.name, "--node", f"{k}/3", *options)) for k in range(3)]
        for k, part in enumerate(parts):
            size = os.path.getsize(self.path(f"a-{k}.tfrecord"))
            self.assertLess(abs(part - size), 8200)
        said = b"recmap: --node without --batch-size is for batches of 1 record\n"
        self.warm(self.name, "--node", "1/2", "--seed", "1", err=said)

    def test_a_selection(self):
        self.run_recmap("sample", self.name, "300", "-o", "some.rmv")
        some = sum(self.warm("some.rmv"))
        self.assertTrue(0 < some <= self.size)
        self.assertLessEqual(sum(self.warm("some.rmv", "--count", "1")), 8192)

    def test_wrong_usage(self):
        for words, what in [
            (["--node", "3"], "--node must be K/N, such as 0/4, not '3'"),
            (["--node", "x/3"], "K of --node K/N must be a whole number, not 'x'"),
            (["--node", "1/y"], "N of --node K/N must be a whole number, not 'y'"),
            (["--node", "2/2"], "K of --node K/N must be less than N, not 2/2"),
            (["--batch-size", "2"], "--world-size, --batch-size and --last need --node"),
            (["--node", "0/1", "--batch-size", "0"], "--batch-size must be at least 1"),
            (
                ["--node", "0/2", "--world-size", "3"],
                "--world-size must be a multiple of the 2 nodes of --node, not 3",
            ),
            (["--count", "0"], "--count must be at least 1"),
            (["x.rmx"], "only one index can be given"),
        ]:
            self.check_wrong("warm", self.name, *words, what=what)
        result = self.run_recmap("warm", self.name, "--from", "901")
        self.assertEqual(result.status, 2)
        self.assertIn(b"position 901 is out of range: an epoch has 900 positions", result.err)

    def test_a_missing_shard(self):
        os.remove(self.path("a-1.tfrecord"))
        result = self.run_recmap("warm", self.name)
        self.assertEqual((result.status, result.out), (4, b""))
        self.assertIn(b"a-1.tfrecord", result.err)


@needs_cache_space
class InCache(WarmTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(DIGITS, self.path("served/train"))
        self.server = server = start_store(self)
        self.storage = ["--storage", f"endpoint={server.url}", "--storage", "anonymous=true"]
        result = self.run_recmap("index", "s3://train/*", "-o", "a.rmx", *self.storage)
        if b"reads local files only" in result.err:
            self.skipTest("this build has no support for URLs")
        server.requests.clear()

    def test_remote_shards_are_read_once(self):
        options = [*self.storage, "--cache", "kept"]
        read, present = self.warm("a.rmx", *options)
        self.assertGreater(read, 0)
        self.assertEqual(present, 0)
        whole = self.run_recmap("cat", "a.rmx", "--format", "raw", "--shards", DIGITS).out
        self.server.requests.clear()
        self.assertEqual(self.warm("a.rmx", *options), (0, read))
        self.check("cat", "a.rmx", "--format", "raw", *options, out=whole)
        self.assertEqual(self.server.requests, [])

    def test_a_full_cache_says_so(self):
        said = (
            b"recmap: a.rmx: the cache is full, and the rest was not read; give it more room with "
            b"--cache-size SIZE, or another folder\n"
        )
        options = [*self.storage, "--cache", "kept", "--cache-size", "20KB"]
        self.warm("a.rmx", *options, err=said)

    def test_remote_shards_need_a_cache(self):
        result = self.run_recmap("warm", "a.rmx", *self.storage)
        self.assertEqual((result.status, result.out), (2, b""))
        self.assertIn(b"a remote shard can be warmed only into a cache on the disk", result.err)
        self.assertIn(b"--cache FOLDER", result.err)

    def test_compressed_shards_are_inflated_once(self):
        self.run_recmap("cat", "a.rmx", "--shards", DIGITS, "-o", "packed@3.tfrecord.gz")
        options = ["packed.rmx", "--cache", "inflated"]
        read, present = self.warm(*options)
        self.assertGreater(read, 0)
        self.assertEqual(present, 0)
        self.assertEqual(self.warm(*options), (0, read))
        self.assertEqual(sum(self.warm(*options, "--seed", "1")), read)


if __name__ == "__main__":
    unittest.main()
