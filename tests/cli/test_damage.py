"""Damaged shards: when they are indexed, read and verified."""

import json
import os
import struct
import unittest

from store import fail_with, start_store
from support import CliTest, count, frame, masked, tfrecord


def flipped(data, at):
    data = bytearray(data)
    data[at] ^= 0x40
    return bytes(data)


class InFolder(CliTest):
    def test_errors_name_the_shard_in_the_folder_of_the_index(self):
        """So that the path can be pasted."""
        self.write("d/a", tfrecord([b"first", b"second"]))
        self.index("-o", "d/x.rmx", "d")
        self.write("d/a", flipped(tfrecord([b"first", b"second"]), -5))
        result = self.run_recmap("get", "d/x.rmx", "1")
        self.assertEqual(result.status, 3)
        self.assertTrue(result.err.startswith(b"recmap: d/a: record 1 at byte 21: "), result.err)


class AtIndexTime(CliTest):
    def setUp(self):
        super().setUp()
        self.records = [f"record {i}".encode() * 5 for i in range(10)]
        self.sizes = [len(frame(record)) for record in self.records]
        self.good = tfrecord(self.records)

    def start(self, number):
        return sum(self.sizes[:number])

    def damage(self):
        return json.loads(self.run_recmap("info", "--json", "a.rmx").out)["damage"]

    def check_raises(self, record, offset, reason):
        result = self.run_recmap("index", "a")
        self.assertEqual((result.out, result.status), (b"", 3), result)
        self.assertRegex(
            result.err.decode(),
            rf"^recmap: a: record {record} at byte {offset}: {reason}\n"
            r"  [^\n]*--on-bad-record skip[^\n]*\n$",
        )
        self.assertEqual(self.files(), ["a"])

    def check_skips(self, good, places):
        total = sum(length for _, length in places)
        number = count(len(places), "damaged place")
        self.index(
            "a",
            "--on-bad-record",
            "skip",
            err=f"recmap: {number} skipped, "
            f"{count(total, 'byte')}; 'recmap info a.rmx' lists them\n",
        )
        self.assertEqual(self.payloads("a.rmx"), good)
        damage = self.damage()
        self.assertEqual([(d["offset"], d["length"]) for d in damage], places)
        for place in damage:
            self.assertEqual(sorted(place), ["length", "offset", "path", "reason"])
            self.assertEqual(place["path"], "a")
        lines = self.run_recmap("info", "a.rmx").out.decode().splitlines()
        self.assertIn(f"damage       {count(len(places), 'place')}, {count(total, 'byte')}", lines)
        for place in damage:
            self.assertIn(
                f"  a: {count(place['length'], 'byte')} at byte {place['offset']}: "
                f"{place['reason']}",
                lines,
            )
        result = self.run_recmap("verify", "a.rmx")
        self.assertEqual((result.err, result.status), (b"", 0), result)
        self.assertEqual(
            result.out.decode(),
            f"a.rmx: {len(good)} of {len(good)} records are good; {number} in the index\n",
        )

    def test_a_flipped_payload(self):
        data = flipped(self.good, self.start(3) + 12)
        self.write("a", data)
        end = self.start(4)
        stored = int.from_bytes(data[end - 4 : end], "little")
        expected = int.from_bytes(masked(data[self.start(3) + 12 : end - 4]), "little")
        self.check_raises(
            3, self.start(3), f"data CRC is 0x{stored:08x}, expected 0x{expected:08x}"
        )
        self.check_skips(self.records[:3] + self.records[4:], [(self.start(3), self.sizes[3])])

    def test_a_flipped_length(self):
        self.write("a", flipped(self.good, self.start(5)))
        self.check_raises(5, self.start(5), r"length CRC [^\n]*")
        self.check_skips(self.records[:5] + self.records[6:], [(self.start(5), self.sizes[5])])

    def test_a_cut_file(self):
        for left in (1, 11, 12, self.sizes[9] - 1):
            self.write("a", self.good[: self.start(9) + left])
            self.check_raises(9, self.start(9), r"[^\n]*")
            self.check_skips(self.records[:9], [(self.start(9), left)])
            os.remove(self.path("a.rmx"))

    def test_trailing_bytes_are_damage(self):
        self.write("a", self.good + b"\0" * 5)
        self.check_raises(10, len(self.good), r"[^\n]*")
        self.check_skips(self.records, [(len(self.good), 5)])

    def test_a_giant_length(self):
        for length in (2**64 - 1, 2**63, 2**40, len(self.good)):
            header = struct.pack("<Q", length)
            self.write("a", self.good + header + masked(header))
            self.check_raises(10, len(self.good), r"[^\n]*")
            self.check_skips(self.records, [(len(self.good), 12)])
            os.remove(self.path("a.rmx"))

    def test_files_that_are_not_tfrecords(self):
        pointer = (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:"
            + b"0" * 64
            + b"\nsize 12345\n"
        )
        for data in (pointer, b"<!DOCTYPE html><html></html>\n", b"plain text\n" * 10, b"\x1f\x8b"):
            self.write("a", data)
            result = self.run_recmap("index", "a")
            self.assertEqual((result.out, result.status), (b"", 3), result)
            self.assertRegex(result.err.decode(), r"^recmap: a: [^\n]*\n  [^\n]*\n$")
            self.assertEqual(self.files(), ["a"])

    def test_files_that_are_not_regular(self):
        os.mkfifo(self.path("fifo"))
        for name in ("fifo", "/dev/zero"):
            result = self.run_recmap("index", name, "-o", "x.rmx")
            self.assertEqual((result.out, result.status), (b"", 4), result)
            self.assertRegex(
                result.err.decode(),
                rf"^recmap: {name}: is a [^\n]*, not a regular file\n  [^\n]*\n$",
            )
        self.assertEqual(self.files(), ["fifo"])


class InStore(CliTest):
    def test_a_store_that_refuses_access(self):
        """Nothing is known about the shards: that is an error, not damage."""
        self.write("served/bucket/a", tfrecord([b"first", b"second"]))
        server = start_store(self)
        storage = ["--storage", f"endpoint={server.url}", "--storage", "anonymous=true"]
        result = self.run_recmap("index", "s3://bucket/a", "-o", "a.rmx", *storage)
        if b"reads local files only" in result.err:
            self.skipTest("this build has no support for URLs")
        self.run_recmap("select", "a.rmx", "--where", "length > 5", "-o", "a.rmv", *storage)
        for name in ("a.rmx", "a.rmv"):
            server.faults = [fail_with(403, "AccessDenied")] * 100
            result = self.run_recmap("verify", name, *storage)
            self.assertEqual((result.out, result.status), (b"", 4), result)
            self.assertIn(b"s3://bucket/a: ", result.err)
            self.assertIn(b"access was denied (HTTP 403 AccessDenied)", result.err)
            server.faults = [fail_with(404, "NoSuchKey")] * 100
            result = self.run_recmap("verify", name, *storage)
            self.assertEqual(result.status, 1, result)
            self.assertIn(b"there is no such object", result.out)
        # Damage, and then a failure: no part of a document is printed.
        server.faults = [fail_with(404, "NoSuchKey")] + [fail_with(403, "AccessDenied")] * 100
        self.run_recmap("select", "a.rmx", "--where", "length > 0", "-o", "a.rmv", *storage)
        result = self.run_recmap("verify", "a.rmv", "--json", *storage)
        self.assertEqual((result.out, result.status), (b"", 4), result)


class WhenRead(CliTest):
    def setUp(self):
        super().setUp()
        self.records = [b"%04d" % i * 10 for i in range(100)]
        self.size = len(frame(self.records[0]))
        for part in range(2):
            self.write(f"s-{part}", tfrecord(self.records[part * 50 : part * 50 + 50]))
        self.index("s-0", "s-1")

    def verify(self):
        """Runs verify, checks exit status, damage lines and summary, and that --json agrees."""
        result = self.run_recmap("verify", "s.rmx")
        self.assertEqual(result.err, b"")
        *lines, summary = result.out.decode().splitlines()
        as_json = self.run_recmap("verify", "s.rmx", "--json")
        self.assertEqual((as_json.err, as_json.status), (b"", result.status))
        self.assertEqual(len(json.loads(as_json.out)["damage"]), len(lines))
        self.check(
            "verify", "s.rmx", "--index-only", out="s.rmx: the index is good; no shard was read\n"
        )
        self.check(
            *("verify", "s.rmx", "--index-only", "--json"),
            out='{"records":100,"records_good":null,"damage":[]}\n',
        )
        return result.status, lines, summary

    def test_undamaged_sets_are_good(self):
        self.assertEqual(self.verify(), (0, [], "s.rmx: 100 of 100 records are good"))

    def test_a_flipped_payload(self):
        self.write("s-1", flipped(self.read("s-1"), 7 * self.size + 20))
        for access in ("map", "read"):
            result = self.run_recmap("get", "s.rmx", "57", "--access", access)
            self.assertEqual((result.out, result.status), (b"", 3))
            self.assertRegex(
                result.err.decode(),
                rf"^recmap: s-1: record 57 at byte {7 * self.size}: data CRC is "
                r"0x[0-9a-f]{8}, expected 0x[0-9a-f]{8}\n"
                r"  run `recmap verify s.rmx`[^\n]*\n$",
            )
            self.check(
                "get",
                "s.rmx",
                "56",
                "58",
                "--access",
                access,
                out=self.records[56] + self.records[58],
            )
        result = self.run_recmap("get", "s.rmx", "57", "--check", "header")
        self.assertEqual((result.err, result.status), (b"", 0))
        status, lines, summary = self.verify()
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertRegex(
            lines[0],
            rf"^s-1: record 57 at byte {7 * self.size}: data CRC is "
            r"0x[0-9a-f]{8}, expected 0x[0-9a-f]{8}$",
        )
        self.assertEqual(
            summary, "s.rmx: 99 of 100 records are good; 1 damaged place not in the index"
        )

    def test_advice_is_for_the_command(self):
        """A loader's constant of C is left out, and semicolons in paths end no clause."""
        os.makedirs(self.path("a;b"))
        for file in ("s-0", "s-1"):
            self.write(f"a;b/{file}", self.read(file))
        self.index("-o", "a;b/s.rmx", "a;b/s-0", "a;b/s-1")
        self.write("a;b/s-1", flipped(self.read("a;b/s-1"), 7 * self.size + 20))
        advice = (
            "\n  run `recmap verify 'a;b/s.rmx'` to list all damage; to leave bad records out of "
            "the index, index again with `recmap index --on-bad-record skip -o 'a;b/s.rmx' "
            "'a;b/s-0' 'a;b/s-1'`\n"
        )
        for command in (["get", "a;b/s.rmx", "57"], ["cat", "a;b/s.rmx"]):
            result = self.run_recmap(*command)
            self.assertEqual(result.status, 3)
            self.assertTrue(result.err.decode().endswith(advice), result.err)

    def test_a_missing_shard(self):
        os.remove(self.path("s-0"))
        result = self.run_recmap("get", "s.rmx", "3")
        self.assertEqual((result.out, result.status), (b"", 4))
        self.assertRegex(
            result.err.decode(),
            r"^recmap: s-0: [^\n]*No such file or directory\n"
            r"  [^\n]*\n$",
        )
        self.check("get", "s.rmx", "99", out=self.records[99])
        status, lines, _ = self.verify()
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertRegex(lines[0], r"^s-0: [^\n]*No such file or directory")

    def test_no_shard_is_there(self):
        os.mkdir(self.path("empty"))
        result = self.run_recmap("verify", "s.rmx", "--shards", "empty")
        advice = b"no shard can be read: if they are elsewhere, name their folder with --shards"
        advice = b"recmap: %s\n" % advice
        self.assertEqual((result.status, result.err), (1, advice))
        os.remove(self.path("s-0"))
        self.assertEqual(self.run_recmap("verify", "s.rmx").err, b"")
        os.remove(self.path("s-1"))
        self.assertEqual(self.run_recmap("verify", "s.rmx").err, advice)

    def test_a_shard_of_another_size(self):
        self.write("s-0", self.read("s-0")[: -self.size])
        result = self.run_recmap("get", "s.rmx", "3")
        self.assertEqual((result.out, result.status), (b"", 3))
        self.assertRegex(result.err.decode(), r"^recmap: s-0: [^\n]*\n  [^\n]*\n$")
        status, lines, _ = self.verify()
        self.assertEqual(status, 1)
        self.assertRegex(lines[0], r"^s-0: ")

    def test_a_data_set_can_move(self):
        os.mkdir(self.path("elsewhere"))
        for name in ("s-0", "s-1", "s.rmx"):
            os.rename(self.path(name), self.path("elsewhere", name))
        self.check("cat", "elsewhere/s.rmx", out=b"".join(self.records))


if __name__ == "__main__":
    unittest.main()
