"""Presigned URLs as shards, and --storage urls=@FILE."""

import shutil
import unittest

from store import start_store
from support import DIGITS, CliTest

SIGNATURE = "X-Amz-Signature=HIDDEN"


class SignedUrls(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(DIGITS, self.path("served/train"))
        self.server = server = start_store(self)
        server.signature = SIGNATURE
        folder = f"{server.url}/train"
        self.urls = [f"{folder}/digits-0000{i}-of-00004.tfrecord?{SIGNATURE}" for i in range(4)]
        result = self.run_recmap("index", *self.urls, "-o", "a.rmx")
        if b"reads local files only" in result.err:
            self.skipTest("this build has no support for URLs")
        self.assertEqual(result.status, 0, result.err)
        self.assertNotIn(b"HIDDEN", result.out + result.err + self.read("a.rmx"))

    def test_a_file_of_urls_is_an_option(self):
        self.write("urls", "\n".join(["# signed", *self.urls, ""]).encode())
        expected = self.run_recmap("get", "a.rmx", "7", "--format", "raw", "--shards", DIGITS)
        read = self.run_recmap("get", "a.rmx", "7", "--format", "raw", "--storage", "urls=@urls")
        self.assertEqual((read.status, read.out), (0, expected.out), read.err)
        refused = self.run_recmap("get", "a.rmx", "7")
        self.assertEqual(refused.status, 4)
        self.assertIn(b"pass a newly signed URL as the storage option urls", refused.err)

    def test_wrong_files_of_urls(self):
        self.write("urls", b"https://host/x\n")
        refused = self.run_recmap("get", "a.rmx", "7", "--storage", "urls=@urls")
        self.assertEqual(refused.status, 2)
        self.assertIn(b"recmap: urls: the signed URL cannot be used", refused.err)
        missing = self.run_recmap("get", "a.rmx", "7", "--storage", "urls=@none")
        self.assertEqual(missing.status, 4)
        self.assertIn(b"recmap: none: ", missing.err)


if __name__ == "__main__":
    unittest.main()
