"""Memory of the command: in proportion to what was read for decompression bombs, which are small
files that inflate to a thousand times as many bytes; and little for each of many shards.
"""

import gzip
import json
import os
import re
import resource
import subprocess
import unittest

from support import COMMAND, IS_SANITIZED, CliTest, frame

MIB = 1 << 20
LINE_COST = 20  # bytes that a record takes in the list of records


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
    def test_zeros_are_inflated_within_the_limit(self):
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
            "index", "--on-bad-record", "skip", "-o", "a.rmx", "a.gz"
        )
        self.assertEqual(status, 3, said)
        self.assertEqual(
            said,
            "recmap: a.gz: record 0 at byte 0: a record, or damage, of the gzip "
            f"stream takes over {limit} MiB of memory, the limit for a file of {size} "
            "bytes\n  decompress the file and index the result\n",
        )
        self.assertLess(peak, limit + 64)

    def test_line_feeds_are_refused_above_the_limit(self):
        self.write("a.gz", gzip.compress(b"\n" * 16 * MIB, 9) * 40)
        size = os.path.getsize(self.path("a.gz"))
        status, said, peak = self.run_measured("index", "--framing", "lines", "-o", "a.rmx", "a.gz")
        self.assertEqual(status, 3, said)
        limit = 256 + 256 * size // MIB
        record = (256 * MIB + 256 * size) // LINE_COST + 1
        self.assertEqual(
            said,
            f"recmap: a.gz: record {record} at byte {record}: the list of records "
            f"and damage of the gzip stream takes over {limit} MiB of memory, the "
            f"limit for a file of {size} bytes\n"
            "  decompress the file and index the result\n",
        )
        self.assertLess(peak, limit + 64)

    def test_many_damages_are_refused_above_the_limit(self):
        # A byte after each record of no bytes: a damaged place takes much more than it.
        record = frame(b"")
        self.write("a.gz", gzip.compress((record + b"?") * (50 * MIB // 17), 9))
        size = os.path.getsize(self.path("a.gz"))
        status, said, peak = self.run_measured(
            "index", "--on-bad-record", "skip", "-o", "a.rmx", "a.gz"
        )
        self.assertEqual(status, 3, said)
        limit = 256 + 256 * size // MIB
        self.assertIn(
            f"the list of records and damage of the gzip stream takes over {limit} MiB of memory",
            said,
        )
        self.assertLess(peak, limit + 200)

    def test_a_file_that_is_not_a_list_is_not_read_whole(self):
        self.write("a", b"")
        os.truncate(self.path("a"), 600 * MIB)
        status, said, peak = self.run_measured("index", "-o", "a.rmx", "@a")
        self.assertEqual(status, 2, said)
        self.assertIn("a: is not a list file: it contains NUL bytes\n", said)
        self.assertLess(peak, 64)

    def test_the_memory_limit_is_obeyed(self):
        advice = (
            "  raise the memory limit (`--memory-limit SIZE`), or "
            "decompress the file and index the result\n"
        )
        self.write("lines.gz", gzip.compress(b"a line\n" + b"\n" * 4 * MIB, 9))
        self.write("line.gz", gzip.compress(b"a line\n" + bytes(64 * MIB) + b"\n", 9))
        self.write("plain", b"\n" * 4 * MIB)
        for name, size in (("lines.gz", 128 * MIB), ("line.gz", 192 * MIB), ("plain", MIB)):
            self.index("--framing", "lines", "--memory-limit", str(size), "-o", "a.rmx", name)
        for name in ("lines.gz", "line.gz"):
            self.write("first", b"one\ntwo\n")
            status, said, peak = self.run_measured(
                "index",
                "--framing",
                "lines",
                "--memory-limit",
                "16MiB",
                "-o",
                "b.rmx",
                "first",
                name,
            )
            self.assertEqual(status, 3, said)
            place = re.match(rf"recmap: {name}: record (\d+) at byte (\d+): ", said)
            self.assertIsNotNone(place, said)
            self.assertEqual(
                said[place.end() :],
                "scanning the gzip stream takes more memory than "
                "the limit of 16777216 bytes\n" + advice,
            )
            number, offset = map(int, place.groups())
            if name == "line.gz":
                self.assertEqual((number, offset), (2 + 1, 7))
            else:
                self.assertEqual(offset, 7 + (number - 2 - 1))
                self.assertLess(15 * MIB, number * LINE_COST)
                self.assertLess(number * LINE_COST, 16 * MIB)
            self.assertLess(peak, 16 + 32)
            self.assertFalse(os.path.exists(self.path("b.rmx")))

    def test_memory_limit_of_verify(self):
        self.write("line.gz", gzip.compress(b"a line\n" + bytes(64 * MIB) + b"\n", 9))
        self.index("--framing", "lines", "-o", "a.rmx", "line.gz")
        arguments = "verify", "--memory-limit"
        status, said, peak = self.run_measured(*arguments, "192MiB", "a.rmx")
        self.assertEqual((status, said), (0, ""))
        status, said, peak = self.run_measured(*arguments, "16MiB", "a.rmx")
        self.assertEqual(status, 3, said)
        self.assertIn("scanning the gzip stream takes more memory than the limit of", said)
        self.assertLess(peak, 16 + 32)

    def test_memory_limit_of_the_damage_that_verify_finds(self):
        record, count = frame(b"payload"), 10_000
        self.write("a", record * count)
        self.index("-o", "a.rmx", "a")
        self.write("a", (record[:-1] + b"?") * count)
        status, said, _ = self.run_measured("verify", "--memory-limit", "1MiB", "a.rmx")
        self.assertEqual(status, 3, said)
        self.assertRegex(
            said,
            r"^recmap: .*a: the list of \d+ damaged places takes more memory than the limit of "
            r"1048576 bytes\n  raise the memory limit ",
        )
        status, said, _ = self.run_measured("verify", "--memory-limit", "4MiB", "a.rmx")
        self.assertEqual((status, said), (1, ""))

    def test_sizes_of_the_memory_limit(self):
        self.write("a", b"a line\n")
        self.check(
            "index",
            "--memory-limit",
            "much",
            "a",
            status=2,
            err=(
                "recmap: index: --memory-limit must be a size such as 200GB or 64MiB, not 'much'\n"
                "  try 'recmap index --help'\n"
            ),
        )
        self.check(
            "index",
            "--framing",
            "lines",
            "--memory-limit",
            "1MB",
            "a",
            status=2,
            err=("recmap: the memory limit is 1000000 bytes; the minimum is 1048576\n"),
        )
        self.index("--framing", "lines", "-o", "a.rmx", "a")
        self.check(
            "verify",
            "--memory-limit",
            "1MB",
            "a.rmx",
            status=2,
            err=("recmap: the memory limit is 1000000 bytes; the minimum is 1048576\n"),
        )

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
