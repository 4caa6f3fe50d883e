"""The options --cache and --cache-size."""

import json
import os
import shutil
import unittest

from store import needs_cache_space, start_store
from support import DIGITS, CliTest, example, tfrecord


@needs_cache_space
class Cache(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(DIGITS, self.path("served/train"))
        self.server = server = start_store(self)
        self.storage = ["--storage", f"endpoint={server.url}", "--storage", "anonymous=true"]
        result = self.run_recmap(
            "index", "s3://train/*", "-o", "a.rmx", "--id", "id", *self.storage
        )
        if b"reads local files only" in result.err:
            self.skipTest("this build has no support for URLs")
        server.requests.clear()

    def cached(self, *arguments):
        result = self.run_recmap(*arguments, *self.storage, "--cache", "kept")
        self.assertEqual(result.status, 0, result.err)
        return result.out

    def test_an_empty_name_is_not_the_current_folder(self):
        result = self.run_recmap("get", "a.rmx", "7", *self.storage, "--cache", "")
        self.assertNotEqual(result.status, 0)
        self.assertIn(b"the folder of the cache has no name", result.err)
        self.assertFalse(os.path.exists(self.path("usage")))

    def test_commands_read_through_the_cache(self):
        whole = self.cached("cat", "a.rmx", "--cache-size", "64MiB", "--format", "raw")
        self.assertEqual(
            whole, self.run_recmap("cat", "a.rmx", "--format", "raw", "--shards", DIGITS).out
        )
        self.server.requests.clear()
        self.assertEqual(self.cached("cat", "a.rmx", "--format", "raw"), whole)
        self.cached("get", "a.rmx", "7")
        self.cached("schema", "a.rmx")
        self.assertIn(b"digit-00000", self.cached("report", "a.rmx"))
        self.assertEqual(self.cached("find", "a.rmx", "digit-00007"), b"digit-00007\t7\n")
        self.assertEqual(self.server.requests, [])

    def test_annotate_reads_repeated_ids_through_the_cache(self):
        self.write(
            "served/train/twice-0.tfrecord", tfrecord([example(id=f"{i % 9}") for i in range(18)])
        )
        self.run_recmap("index", "s3://train/twice-*", "-o", "b.rmx", "--id", "id", *self.storage)
        self.write("s.csv", "".join(["id,s\n", *(f"{i},{i}\n" for i in range(9))]).encode())
        self.cached("cat", "b.rmx", "--format", "raw")
        self.server.requests.clear()
        self.cached("annotate", "b.rmx", "--column", "s=s.csv", "--access", "read")
        self.assertEqual(self.server.requests, [])
        self.check("select", "b.rmx", "--where", "s == 4", out="4\n13\n")

    def test_local_compressed_shards_are_inflated_into_the_cache(self):
        self.run_recmap("cat", "a.rmx", "--shards", DIGITS, "-o", "packed@3.tfrecord.gz")
        options = ["--cache", "inflated", "--cache-size", "64MiB"]
        whole = self.run_recmap("cat", "packed.rmx", "--format", "raw").out
        for access in ("map", "read"):
            words = ["cat", "packed.rmx", "--format", "raw", "--access", access]
            self.check(*words, *options, out=whole)
        files = [name for name in os.listdir(self.path("inflated")) if name.endswith(".rmcache")]
        self.assertEqual(len(files), 3)
        for name in files:
            path = self.path(f"inflated/{name}")
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                file.write(b"damaged")
        self.check("cat", "packed.rmx", "--format", "raw", *options, out=whole)
        self.assertEqual(self.server.requests, [])

    def test_info_counts_requests(self):
        """The digits are small, so a batch makes a request for each shard."""
        found = json.loads(self.run_recmap("info", "--json", "a.rmx", "--batch-size", "100").out)
        rows = {row["order"]: row for row in found["requests"]}
        self.assertEqual(list(rows), ["shuffled", "windowed", "sequential"])
        self.assertEqual(rows["shuffled"]["requests"], 18 * 4)
        self.assertEqual(rows["sequential"]["requests"], 18 + 3)
        self.assertEqual((rows["windowed"]["block"], rows["windowed"]["window"]), (100, 1))
        self.assertEqual(rows["sequential"]["used_bytes"], found["bytes"])
        self.assertTrue(rows["shuffled"]["exact"])
        out = self.run_recmap("info", "a.rmx").out.decode()
        self.assertIn("requests     of an epoch, in batches of 256 records, without a cache:", out)
        self.assertIn("windowed: recmap.Windowed(n, block=256, window=1)", out)
        self.assertEqual(self.server.requests, [])
        for wrong in ("0", "x", "-1"):
            self.assertEqual(self.run_recmap("info", "a.rmx", "--batch-size", wrong).status, 2)

    def test_info_counts_no_requests_of_local_shards(self):
        self.run_recmap("index", self.path("served/train"), "-o", "local.rmx")
        self.assertIsNone(
            json.loads(self.run_recmap("info", "--json", "local.rmx").out)["requests"]
        )
        self.assertNotIn(b"requests", self.run_recmap("info", "local.rmx").out)

    def test_an_index_in_the_store_is_read_through_the_cache(self):
        os.rename(self.path("a.rmx"), self.path("served/train/a.rmx"))
        whole = self.cached("cat", "s3://train/a.rmx", "--format", "raw")
        self.server.requests.clear()
        self.assertEqual(self.cached("cat", "s3://train/a.rmx", "--format", "raw"), whole)
        self.assertEqual([path for path, _ in self.server.requests], ["/train/a.rmx"])
        result = self.run_recmap("merge", "-o", "b.rmx", "s3://train/a.rmx")
        self.assertNotEqual(result.status, 0)

    def test_commands_that_read_no_shard_open_an_index_in_the_store(self):
        os.rename(self.path("a.rmx"), self.path("served/train/a.rmx"))
        index = "s3://train/a.rmx"
        self.assertIn(b"\nrecords      1797\n", self.cached("info", index))
        self.assertEqual(self.cached("order", index, "--count", "2"), b"0\n1\n")
        numbers = self.cached("select", "--where", "length > 0", index)
        self.assertEqual(numbers.count(b"\n"), 1797)
        self.assertEqual({path for path, _ in self.server.requests}, {"/train/a.rmx"})

    def test_impossible_sizes_are_refused(self):
        for size in ("0", "1.5GB", "GB", "1 XB", "-1", "99999999999TB"):
            self.check(
                "get",
                "a.rmx",
                "0",
                "--cache",
                "kept",
                f"--cache-size={size}",
                status=2,
                err=f"recmap: get: --cache-size must be a size such as 200GB or 64MiB, not "
                f"'{size}'\n  try 'recmap get --help'\n",
            )
        self.run_recmap("select", "a.rmx", "--where", "length > 0", "-o", "a.rmv")
        for name in ("a.rmx", "a.rmv"):
            self.check_wrong(
                "get", name, "0", "--cache-size", "1GB", what="--cache-size needs --cache"
            )


if __name__ == "__main__":
    unittest.main()
