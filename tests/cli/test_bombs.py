"""Memory of the command: in proportion to what was read for decompression bombs, which are small
files that inflate to a thousand times as many bytes; and little for each of many shards.
"""

import gzip
import json
import os
import resource
import subprocess
import unittest

from support import COMMAND, IS_SANITIZED, CliTest

MIB = 1 << 20


def limit_memory():
    """For preexec_fn: without the limits of the library, the command fails in another way."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


class MemoryTest(CliTest):
    def run_measured(self, *arguments):
        """Runs the command. Returns its status, what it said, and its greatest memory in MiB."""
        process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=limit_memory,
        )
        with process.stderr as stream:
            said = stream.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, said, usage.ru_maxrss >> 10


@unittest.skipIf(IS_SANITIZED, "skipped: sanitizers take memory of their own")
class Bombs(MemoryTest):
    def test_zeros(self):
        # The length of the first record is damaged, so everything after it is searched.
        self.write(
            "a.gz",
            gzip.compress(b"damaged!" + bytes(16 * MIB - 8), 9)
            + gzip.compress(bytes(16 * MIB), 9) * 40,
        )
        size = os.path.getsize(self.path("a.gz"))
        self.assertLess(size, MIB)
        limit = 256 + 64 * size // MIB
        status, said, peak = self.run_measured(
            "index", "--on-corrupt", "skip", "-o", "a.rmx", "a.gz"
        )
        self.assertEqual(status, 3, said)
        self.assertEqual(
            said,
            "recmap: a.gz: the gzip stream has a record, or damage, that takes "
            f"over {limit} MiB of memory, the limit for a file of {size} bytes\n"
            "  decompress the file and index the result\n",
        )
        self.assertLess(peak, limit + 64)

    def test_line_feeds(self):
        self.write("a.gz", gzip.compress(b"\n" * 16 * MIB, 9) * 40)
        size = os.path.getsize(self.path("a.gz"))
        status, said, peak = self.run_measured("index", "--framing", "lines", "-o", "a.rmx", "a.gz")
        self.assertEqual(status, 3, said)
        self.assertIn(f"holds more than {(1 << 23) + 8 * size} records", said)
        self.assertLess(peak, 600)

    def test_many_records_from_few_bytes(self):
        self.write("a.gz", gzip.compress(b"\n" * 2_000_000, 9))
        self.index("--framing", "lines", "-o", "a.rmx", "a.gz")
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        self.assertEqual(info["records"], 2_000_000)


@unittest.skipIf(IS_SANITIZED, "skipped: sanitizers take memory of their own")
class ManyShards(MemoryTest):
    def test_memory_of_a_shard(self):
        peaks = []
        for count in (100, 8000):
            for i in range(count):
                self.write(f"{count}/{i}", b"a line\n")
            status, said, peak = self.run_measured(
                "index", "--framing", "lines", "--threads", "1", "-o", f"{count}.rmx", str(count)
            )
            self.assertEqual(status, 0, said)
            peaks.append(peak)
        # An error in each shard's state would take 44 MiB.
        self.assertLess(peaks[1] - peaks[0], 16)


if __name__ == "__main__":
    unittest.main()
