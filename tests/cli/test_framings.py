"""Records of other framings than TFRecord: kinds, damage and plugins.

What is due is worked out here, from what the formats are; nothing of recmap is asked.
"""

import gzip
import json
import os
import random
import re
import resource
import struct
import subprocess
import unittest
import zlib

from support import (
    COMMAND,
    IS_SANITIZED,
    STEP,
    CliTest,
    make_payloads,
    no_records,
    tfrecord,
)

CUT = "; the file may still be written, or its writer was not closed"


def ofrecord(payloads):
    return b"".join(struct.pack("<q", len(payload)) + payload for payload in payloads)


class FramingTest(CliTest):
    def check_records(self, framing, due, *files, options=(), err="", verify_err=""):
        """Checks the records with index, cat, get, shuffle, resume and verify. `err` is what
        indexing says, and `verify_err` what verifying says."""
        for threads in ("1", "3"):
            chosen = ["--framing", framing, "--threads", threads, "-o", "x.rmx", *options]
            self.index(*chosen, *files, err=err)
            everything = self.run_recmap("cat", "--format", "tfrecord", "x.rmx")
            self.assertEqual(everything.out, tfrecord(due))
        some = random.Random(1).sample(range(len(due)), min(len(due), 7))
        got = self.run_recmap("get", "x.rmx", *map(str, some), "--format", "tfrecord")
        self.assertEqual(got.out, tfrecord([due[i] for i in some]))
        read = self.run_recmap(
            "get", "x.rmx", *map(str, some), "--format", "tfrecord", "--access", "read"
        )
        self.assertEqual(read.out, got.out)
        order = self.run_recmap("order", "--shuffle", "--seed", "5", "x.rmx").out.split()
        self.assertEqual(sorted(map(int, order)), list(range(len(due))))
        half = str(len(due) // 2)
        shuffled = [
            self.run_recmap(
                "cat", "--shuffle", "--seed", "5", "--format", "tfrecord", *part, "x.rmx"
            ).out
            for part in (["--count", half], ["--from", half])
        ]
        self.assertEqual(b"".join(shuffled), tfrecord([due[int(i)] for i in order]))
        self.check(
            "verify",
            "x.rmx",
            out=f"x.rmx: {len(due)} of {len(due)} record"
            f"{' is' if len(due) == 1 else 's are'} good\n",
            err=verify_err,
        )
        info = json.loads(self.run_recmap("info", "--json", "--shards", "x.rmx").out)
        self.assertEqual({shard["framing"] for shard in info["shard_table"]}, {framing})


class Kinds(FramingTest):
    def test_ofrecords_are_read(self):
        due = make_payloads(1, 5000)
        due[17] = b""
        self.write("d/part-2", ofrecord(due[:1000]))
        self.write("d/part-10", ofrecord(due[1000:]))
        self.write("d/part-00011", b"")
        empty = "1 of 3 shards is empty (0 bytes), which leaves nothing to verify; the first is "
        self.check_records(
            "ofrecord", due, "d", verify_err=f"recmap: {empty}d/part-00011\n".encode()
        )

    def test_lines_are_read(self):
        lines = [b"", b"one", b"\xff\x00binary\xfe", "\u00fcber".encode(), b"a\rb", b"x " * 9999]
        for end in (b"\n", b"\r\n"):
            for tail in (b"", b"last without one"):
                data = b"".join(line + end for line in lines)
                self.write("a.txt", data + tail)
                notice = (
                    f"recmap: a.txt: record {len(lines)} at byte {len(data)}: no line feed after "
                    f"the last record{CUT}\n"
                )
                all_lines = lines + ([tail] if tail else [])
                self.check_records("lines", all_lines, "a.txt", err=notice if tail else "")
        self.write("a.txt", b"\n\r\n\r\r\n")
        self.check_records("lines", [b"", b"", b"\r"], "a.txt")

    def test_rows_are_read(self):
        rows = ["1,a", '2,"b\nc"', '"3","d""\n"', ",", 'x"y,z']
        text = "n,t\r\n" + "\n".join(rows) + "\n"
        due = [row.encode() for row in rows]
        self.write("t.csv", text.encode())
        self.check_records("csv", due, "t.csv")
        self.write("t.csv.gz", gzip.compress(text.encode()))
        self.check_records("csv", due, "t.csv.gz")
        self.write("u.csv", ("n|t\n" + "\n".join(rows) + "\n").encode())
        self.check_records("csv:pipe,noquotes", "\n".join(rows).encode().split(b"\n"), "u.csv")

    def test_rows_and_objects_as_json(self):
        self.write("t.csv", b'id,"a ""b"""\nx,1\n"y\nz",\n3\n')
        self.index("--framing", "csv", "-o", "t.rmx", "t.csv")
        out = self.run_recmap("cat", "--format", "json", "t.rmx").out.decode().splitlines()
        self.assertEqual(
            [json.loads(line) for line in out],
            [
                {"id": "x", 'a "b"': "1"},
                {"id": "y\nz", 'a "b"': ""},
                {"number": 2, "base64": "Mw=="},
            ],
        )
        self.write("u.csv", b"1\t\xe9\n")
        self.index("--framing", "csv:tab,noheader", "-o", "u.rmx", "u.csv")
        out = self.run_recmap("get", "--format", "json", "u.rmx", "0").out
        self.assertEqual(json.loads(out), ["1", "\ufffd"])
        self.write("t.jsonl", b'{"a": [1, 2]}\n[1]\n{"a":\n')
        self.index("--framing", "lines", "-o", "l.rmx", "t.jsonl")
        out = self.run_recmap("cat", "--format", "json", "l.rmx").out.splitlines()
        self.assertEqual(out[0], b'{"a": [1, 2]}')
        self.assertIn(b"base64", out[1])
        self.assertIn(b"base64", out[2])

    def test_ids_and_columns_of_rows(self):
        self.write("t.csv", b'id,n,x\n007,1,2\n"a ""b""",3,4.5\n')
        self.index("--framing", "csv", "--id", "id", "--lift", "n", "--lift", "x", "t.csv")
        self.check("find", "t.csv.rmx", "007", out="007\t0\n")
        self.check("find", "t.csv.rmx", 'a "b"', out='a "b"\t1\n')
        self.check("cat", "t.csv.rmx", "--where", "x > 4", "--format", "number", out="1\n")
        self.write("t.jsonl", b'{"id": "caf\\u00e9", "n": 2}\n')
        self.index("--framing", "lines", "--id", "id", "--lift", "n", "t.jsonl")
        self.check("find", "t.jsonl.rmx", "caf\u00e9", out="caf\u00e9\t0\n")

    def test_schema_of_rows(self):
        self.write("t.csv", b"id,n,x\nx,1,\ny,-2,0.5\n")
        self.index("--framing", "csv", "t.csv")
        self.check(
            "schema",
            "t.csv.rmx",
            out="kind       share        values  range   feature\n"
            "bytes   100.00 %             1  1 byte  id\n"
            "int64   100.00 %             1  -2..1   n\n"
            "float    50.00 %             1  0.5     x\n",
        )
        self.check(
            "schema",
            "--features=python",
            "t.csv.rmx",
            out="# The features of 2 records.\n"
            "features = recmap.Csv({\n"
            '    "id": recmap.FixedLen((), "bytes"),\n'
            '    "n": recmap.FixedLen((), "int64"),\n'
            '    "x": recmap.VarLen("float32"),  # in 50.00 %\n'
            "})\n",
        )
        self.write("t.tsv", b"1\t2\n3\n")
        self.index("--framing", "csv:tab,noquotes,noheader", "-o", "t.tsv.rmx", "t.tsv")
        done = self.run_recmap("schema", "--features=python", "t.tsv.rmx")
        self.assertIn(b'}, delimiter="\\t", quote=None)\n', done.out)
        done = self.run_recmap("schema", "--features=tf", "t.csv.rmx")
        self.assertEqual(done.status, 2)
        self.assertIn(b"--features tf is for tf.Examples, not for tables", done.err)

    def test_schema_of_objects(self):
        self.write(
            "t.jsonl", b'{"a": {"b": [1, 2]}, "ok": true}\n{"a": {"b": []}, "ok": null}\nx\n'
        )
        self.index("--framing", "lines", "t.jsonl")
        self.check(
            "schema",
            "t.jsonl.rmx",
            out="kind       share        values  range  feature\n"
            "int64    66.67 %      0..2      1..2   a.b\n"
            "bool     33.33 %             1         ok\n",
            err="recmap: 1 of 3 records are not a JSON object\n",
        )

    def test_an_open_quote_is_damage(self):
        self.write("t.csv", b'a,b\n1,2\n3,"4\n5,6\n')
        done = self.run_recmap("index", "--framing", "csv", "t.csv")
        self.assertEqual(done.status, 3)
        self.assertIn(b"t.csv: record 1 at byte 8: the quote at byte 2 of the row", done.err)

    def test_an_open_line_that_grew(self):
        """Its rest cannot be added to a record of the index."""
        self.write("a.txt", b"one\ntwo\nthr")
        notice = f": record 2 at byte 8: no line feed after the last record{CUT}"
        options = ["--framing", "lines", "-o", "a.rmx"]
        self.index(*options, "a.txt", err=f"recmap: a.txt{notice}\n")
        self.write("a.txt", b"one\ntwo\nthree\nfour\n")
        result = self.run_recmap("index", "--append", *options, "a.txt")
        self.assertEqual(
            result.err.decode(),
            "recmap: a.txt: record 2 at byte 8: the shard changed since it was indexed: it has "
            "19 bytes, it had 11, and its last record is longer: it was indexed before it was "
            "complete\n  write new records to new shards; or restore the indexed file, or build "
            "the index again with `recmap index --framing lines -o a.rmx a.txt`\n",
        )
        self.index(*options, "a.txt")
        self.assertEqual(self.payloads("a.rmx"), [b"one", b"two", b"three", b"four"])
        # A line that was complete may be followed by others.
        self.write("a.txt", b"one\ntwo\nthree\nfour\nfive")
        at = f"recmap: a.txt: record 4 at byte 19: no line feed after the last record{CUT}\n"
        self.index("--append", *options, "a.txt", err=at)
        self.assertEqual(self.payloads("a.rmx")[4:], [b"five"])

    def test_open_shards_are_counted(self):
        for name in ("a.txt", "b.txt", "c.txt"):
            self.write(name, b"x\ny")
        more = (
            f"record 1 at byte 2: no line feed after the last record{CUT} (and 2 more such shards)"
        )
        files = ["a.txt", "b.txt", "c.txt"]
        self.index("--framing", "lines", "-o", "a.rmx", *files, err=f"recmap: a.txt: {more}\n")

    def test_long_and_many_lines(self):
        draw = random.Random(3)
        lines = [
            draw.randbytes(draw.choice([3, 30, 300])).replace(b"\n", b"n").rstrip(b"\r")
            for _ in range(20000)
        ]
        lines[7] = b"z" * 3_000_000
        self.write("a.txt", b"\n".join(lines) + b"\n")
        self.check_records("lines", lines, "a.txt")

    def test_fixed_records_are_read(self):
        for header, size, footer in ((0, 1, 0), (0, 100, 0), (8, 128, 0), (5, 7, 3), (0, 7, 900)):
            due = [os.urandom(size) for _ in range(1000)]
            name = f"{header}-{size}-{footer}.bin"
            self.write(name, b"h" * header + b"".join(due) + b"f" * footer)
            self.check_records(f"fixed:{header},{size},{footer}", due, name)
        self.write("none.bin", b"h" * 5 + b"f" * 3)
        note = no_records("none.rmx", what="without records")
        self.index("--framing", "fixed:5,7,3", "-o", "none.rmx", "none.bin", err=note)
        self.check("verify", "none.rmx", out="none.rmx: 0 of 0 records are good\n")

    def test_compressed_shards_are_read(self):
        due = make_payloads(4, 3000)
        kinds = {"gz": gzip.compress(ofrecord(due)), "z": zlib.compress(ofrecord(due))}
        self.write("a.gz", kinds["gz"])
        self.check_records("ofrecord", due, "a.gz")
        self.write("a.z", kinds["z"])
        self.check_records("ofrecord", due, "a.z", options=("--compression", "zlib"))
        lines = [b"line %d" % i * (i % 50) for i in range(6000)]
        self.write("l.gz", gzip.compress(b"\r\n".join(lines)))
        at = sum(len(line) + 2 for line in lines[:-1])
        notice = f"record 5999 at byte {at}: no line feed after the last record{CUT}\n"
        self.check_records("lines", lines, "l.gz", err=f"recmap: l.gz: {notice}")
        self.write("f.gz", gzip.compress(b"headbodybodyfo"))
        self.check_records("fixed:4,4,2", [b"body", b"body"], "f.gz")

    @unittest.skipIf(IS_SANITIZED, "skipped: sanitizers take memory of their own")
    def test_compressed_with_ends_takes_little_memory(self):
        part, deflater = bytes(1 << 20), zlib.compressobj(1, wbits=31)
        self.write(
            "f.gz",
            b"".join(
                [
                    deflater.compress(b"head"),
                    *(deflater.compress(part) for _ in range(400)),
                    deflater.compress(b"footer"),
                    deflater.flush(),
                ]
            ),
        )
        limits = (150 << 20, 150 << 20)
        done = subprocess.run(
            [COMMAND, "index", "--framing", "fixed:4,4096,6", "f.gz", "-o", "f.rmx"],
            cwd=self.path("."),
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limits),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        info = json.loads(self.run_recmap("info", "--json", "f.rmx").out)
        self.assertEqual(info["records"], 400 << 8)
        self.assertEqual(self.run_recmap("get", "f.rmx", "102399").out, bytes(4096))

    def test_compressed_is_what_it_inflates_to(self):
        lines = b"".join(b"%d" % i * (i % 90) + b"\n" for i in range(20000))
        for framing, data in {
            "lines": lines,
            "ofrecord": ofrecord(make_payloads(7, 5000)),
            "fixed:3,1000,21": lines[:2_000_024],
        }.items():
            fingerprints = set()
            for name, content in {
                "a": data,
                "b": gzip.compress(data, 1),
                "c": gzip.compress(data[:999]) + gzip.compress(data[999:]),
            }.items():
                self.write(name, content)
                self.index("--framing", framing, "-o", f"{name}.rmx", name)
                info = json.loads(self.run_recmap("info", "--json", f"{name}.rmx").out)
                fingerprints.add(info["fingerprint"])
                # A changed modification time makes readers compare samples.
                os.utime(self.path(name), (1, 1))
                self.assertEqual(self.run_recmap("get", f"{name}.rmx", "1").status, 0)
            self.assertEqual(len(fingerprints), 1)

    def test_damage_in_a_compressed_shard(self):
        parts = [
            b"".join(b"%d %d %s\n" % (p, i, os.urandom(40).hex().encode()) for i in range(6000))
            for p in range(3)
        ]
        half = len(parts[1]) // 2
        broken = zlib.compressobj(wbits=31)
        self.write(
            "a.gz",
            gzip.compress(parts[0])
            + broken.compress(parts[1][:half])
            + broken.flush(zlib.Z_FULL_FLUSH)
            + b"\x07"
            + gzip.compress(parts[2]),
        )
        self.assertEqual(self.run_recmap("index", "--framing", "lines", "a.gz").status, 3)
        skip = ("--on-bad-record", "skip", "-o", "a.rmx")
        self.run_recmap("index", *skip, "--framing", "lines", "a.gz")
        found = self.payloads("a.rmx")
        # Lines have no checks: the damaged member and everything after it is lost.
        self.assertEqual(found, parts[0].split(b"\n")[:-1])
        self.run_recmap("index", *skip, "--framing", "fixed:0,10,0", "a.gz")
        found = self.payloads("a.rmx")
        self.assertTrue(parts[0].startswith(b"".join(found)))
        self.assertEqual(len(found), len(parts[0]) // 10)
        self.assertEqual(self.run_recmap("verify", "a.rmx").status, 0)

    def test_what_looks_compressed_is_not_always(self):
        # The first two bytes look like a ZLIB stream.
        lines = [b"x\x9c and more", b"h\x43"]
        self.write("a.txt", b"\n".join(lines) + b"\n")
        self.check_records("lines", lines, "a.txt")
        due = [b"\x1f\x8b\x08\x00", b"abcd"]
        self.write("f.bin", b"".join(due))
        self.check_records("fixed:0,4,0", due, "f.bin", options=("--compression", "none"))

    def test_other_framings_side_by_side(self):
        self.write("a.txt", b"one\ntwo\n")
        self.write("b.bin", b"abcdef")
        self.write("c.tfrecord", tfrecord([b"three"]))
        self.index("--framing", "lines", "-o", "all.rmx", "a.txt")
        self.index("--framing", "fixed:0,3,0", "--append", "-o", "all.rmx", "b.bin")
        self.index("--framing", "tfrecord", "--append", "-o", "all.rmx", "c.tfrecord")
        due = [b"one", b"two", b"abc", b"def", b"three"]
        self.assertEqual(self.payloads("all.rmx"), due)
        self.check("verify", "all.rmx", out="all.rmx: 5 of 5 records are good\n")
        self.write("d.txt", b"four\n")
        self.index("--framing", "lines", "-o", "d.rmx", "d.txt")
        self.run_recmap("merge", "-o", "m.rmx", "all.rmx", "d.rmx")
        self.assertEqual(self.payloads("m.rmx"), due + [b"four"])
        # Without --framing, appended shards have the framing of the last shard.
        self.write("e.txt", b"five\n")
        self.index("--append", "-o", "m.rmx", "e.txt")
        self.assertEqual(self.payloads("m.rmx"), due + [b"four", b"five"])

    def test_merged_is_as_built_at_once(self):
        for i in range(3):
            self.write(f"l-{i}", b"".join(b"%d %d\r\n" % (i, j) for j in range(300)) + b"end\n")
            self.index("--framing", "lines", "-o", f"l-{i}.rmx", f"l-{i}")
        self.run_recmap("merge", "-o", "merged.rmx", *(f"l-{i}.rmx" for i in range(3)))
        self.index("--framing", "lines", "-o", "once.rmx", *(f"l-{i}" for i in range(3)))
        self.assertEqual(self.read("merged.rmx"), self.read("once.rmx"))


class Damage(FramingTest):
    def test_ofrecord_is_lost_from_a_bad_size_on(self):
        due = make_payloads(5, 100)
        data = bytearray(ofrecord(due))
        at = len(ofrecord(due[:40]))
        data[at + 7] = 0x7F
        self.write("part-0", bytes(data))
        size = struct.unpack_from("<q", data, at)[0]
        reason = f"the record's size is {size}, but {len(data) - at - 8} bytes follow{CUT}"
        self.check(
            "index",
            "--framing",
            "ofrecord",
            "part-0",
            status=3,
            err=f"recmap: part-0: record 40 at byte {at}: {reason}\n  restore the file, or "
            "index with `--on-bad-record skip` to number the good records and list the damage\n",
        )
        for threads in ("1", "3"):
            self.index(
                "--framing",
                "ofrecord",
                "--on-bad-record",
                "skip",
                "--threads",
                threads,
                "part-0",
                err=f"recmap: 1 damaged place skipped, {len(data) - at} bytes; "
                "'recmap info part-0.rmx' lists them\n",
            )
            self.assertEqual(self.payloads("part-0.rmx"), due[:40])
        self.assertEqual(self.run_recmap("verify", "part-0.rmx").status, 0)

    def test_fixed_must_come_out_even(self):
        self.write("a.bin", b"hh" + b"abc" * 5 + b"x" + b"f")
        reason = "1 byte is left, too few for a record of 3" + CUT
        result = self.run_recmap("index", "--framing", "fixed:2,3,1", "a.bin")
        self.assertEqual(result.status, 3)
        self.assertIn(f"recmap: a.bin: record 5 at byte 17: {reason}\n".encode(), result.err)
        self.index(
            "--framing",
            "fixed:2,3,1",
            "--on-bad-record",
            "skip",
            "a.bin",
            "-o",
            "a.rmx",
            err="recmap: 1 damaged place skipped, 1 byte; 'recmap info a.rmx' lists them\n",
        )
        self.assertEqual(self.payloads("a.rmx"), [b"abc"] * 5)
        self.write("b.bin", b"hh")
        result = self.run_recmap("index", "--framing", "fixed:2,3,1", "b.bin")
        self.assertIn(
            b"the file has 2 bytes, less than its header of 2 and its footer of 1", result.err
        )
        self.assertEqual(result.status, 3)

    def test_a_changed_sample_is_stale(self):
        self.write("a.txt", b"one\ntwo\n")
        self.index("--framing", "lines", "a.txt", "-o", "a.rmx")
        self.write("a.txt", b"one\ntwi\n")
        result = self.run_recmap("get", "a.rmx", "0")
        self.assertEqual(result.status, 3)
        self.assertIn(b"the shard changed since it was indexed", result.err)

    def test_advice_names_the_framing(self):
        self.write("part-0", ofrecord(make_payloads(6, 9)))
        self.check(
            "index",
            "part-0",
            status=3,
            err="recmap: part-0: byte 0: is not a TFRecord file: it is an OFRecord file of "
            "OneFlow\n  index it with `--framing ofrecord`\n",
        )
        self.write("a.txt", b"a line\n" * 20)
        result = self.run_recmap("index", "a.txt")
        self.assertIn(b"index it with `--framing lines`", result.err)

    def test_impossible_framings_are_refused(self):
        self.write("a", b"abc")
        for name in (
            "no",
            "fixed",
            "fixed:",
            "fixed:1,2",
            "fixed:0,0,0",
            "fixed:0,1,0,0",
            "fixed:00,1,0",
            "fixed:-1,1,0",
            "fixed:0,1,99999999999999999999",
            "lines:",
            "",
        ):
            result = self.run_recmap("index", "--framing", name, "a")
            self.assertEqual(result.status, 2, name)
            self.assertIn(b'there is no framing "%s"' % name.encode(), result.err)
        self.check_wrong(
            "index",
            "--compression",
            "lz4",
            "a",
            what="invalid --compression 'lz4': use auto, none, gzip or zlib",
        )


class ChangesTest(FramingTest):
    """Changed shards of each framing, as `recmap verify` reports them."""

    SEVERAL, SAMPLED = 100, 10  # the index has a hash of each record of a small shard only

    def changed(self, data, plugin=()):
        """Returns the status, the findings and how many records are said to be good."""
        self.write("a", data)
        result = self.run_recmap("verify", *plugin, "a.rmx")
        *findings, summary = result.out.decode().splitlines()
        self.assertIn(result.status, (0, 1), result)
        self.assertEqual(result.status, 1 if findings else 0)
        return findings, int(summary.split(": ")[1].split(" of ")[0])

    def check_changes(
        self,
        framing,
        frames,
        header=b"",
        footer=b"",
        padding=b"",
        has_checks=False,
        shared=0,
        plugin=(),
    ):
        """`frames` are the bytes of the records, with all that belongs to them. A footer is what
        the last bytes of a file are taken for. Damage in a record may be of the `shared` records
        before it, too."""
        records = header + b"".join(frames)
        data = records + footer + padding
        begins = [len(header) + sum(map(len, frames[:i])) for i in range(len(frames) + 1)]
        self.write("a", data)
        self.index("--framing", framing, "a", "-o", "a.rmx")
        self.assertEqual(self.changed(data, plugin), ([], len(frames)))
        knows_all = has_checks or len(frames) <= self.SAMPLED
        step = max(1, STEP * (begins[-1] - begins[-4]) // 16)

        places = {*range(begins[-4], len(data), step), *begins[-4:], *(b - 1 for b in begins[-3:])}
        for size in sorted(places - {len(data)}):
            whole = sum(end + len(footer) <= size for end in begins[1:])
            findings, good = self.changed(data[:size], plugin)
            self.assertIn(f"a: the shard has {size} bytes; when it was indexed", findings[0])
            if whole < len(frames):
                place = re.search(r"^a: record (\d+) at byte (\d+): ", "\n".join(findings), re.M)
                self.assertIn(int(place[1]), range(whole - shared, whole + 1), findings)
                self.assertEqual(int(place[2]), begins[int(place[1])])
                whole = int(place[1])
            lacks_line_end = framing == "lines" and data[:size] == records.rstrip(b"\r\n")
            is_same = whole == len(frames) or lacks_line_end
            self.assertEqual(good, whole if knows_all or is_same else 0, (framing, size))

        for size in sorted({*range(begins[-4], begins[-1], step), *begins[-4:-1]}):
            record = max(i for i, begin in enumerate(begins) if begin <= size)
            for other in (
                data[:size] + bytes([data[size] ^ 3]) + data[size + 1 :],
                data[:size] + b"xyz" + data[size:],
                data[:size] + b"\n" + data[size:],
            ):
                findings, good = self.changed(other, plugin)
                self.assertTrue(findings, (framing, size))
                whole = len(frames) - (not other.startswith(records))
                self.assertLessEqual(good, whole, (framing, size))
                self.assertGreaterEqual(good, record - shared if knows_all else 0, (framing, size))

    def check_framing(self, framing, frame, **options):
        for count in (self.SAMPLED, self.SEVERAL):
            self.check_changes(framing, [frame(i) for i in range(count)], **options)


class Changes(ChangesTest):
    def test_changed_lines_are_found(self):
        self.check_framing("lines", lambda i: b"%d" % i * 3 + b"\n")
        self.check_framing("lines", lambda i: b"%d" % i * 3 + b"\r\n")

    def test_changed_fixed_records_are_found(self):
        self.check_framing("fixed:3,5,0", lambda i: b"%05d" % i, header=b"abc")
        self.check_framing("fixed:0,5,2", lambda i: b"%05d" % i, footer=b"yz")

    def test_changed_ofrecords_are_found(self):
        self.check_framing("ofrecord", lambda i: ofrecord([b"%d" % i * 3]))

    def test_changed_tfrecords_are_found(self):
        self.check_framing("tfrecord", lambda i: tfrecord([b"%d" % i * 3]), has_checks=True)

    def test_a_changed_line_ending(self):
        for count in (self.SAMPLED, self.SEVERAL):
            data = b"".join(b"line %02d\n" % i for i in range(count))
            self.write("a", data)
            self.index("--framing", "lines", "a", "-o", "a.rmx")
            findings, good = self.changed(data.replace(b"05\n", b"05x"))
            self.assertEqual(good, count - 2 if count == self.SAMPLED else 0)
            self.assertEqual(
                findings[-1],
                "a: record 5 at byte 40: the indexed records are missing or have other lengths",
            )
            self.assertEqual(self.changed(data + b"more\n")[1], count)
            findings, good = self.changed(data.replace(b"05", b"50") + b"more\n")
            self.assertEqual(good, count - 1 if count == self.SAMPLED else 0)

    def test_one_changed_byte(self):
        """It is named if the index has the hash of the record."""
        data = b"".join(b"line %02d\n" % i for i in range(self.SEVERAL))
        self.write("a", data)
        self.index("--framing", "lines", "a", "-o", "a.rmx")
        self.assertEqual(
            self.changed(data.replace(b"51", b"15")),
            (
                [
                    "a: the shard is whole, but its records are not those that were indexed; "
                    "100 records are in place, but may have changed"
                ],
                0,
            ),
        )
        self.assertEqual(
            self.changed(data.replace(b"52", b"25")),
            (
                [
                    "a: the shard is not the one that was indexed; 99 records are in place, but "
                    "may have changed",
                    "a: record 52 at byte 416: its content is not what was indexed",
                ],
                0,
            ),
        )


@unittest.skipUnless("RECMAP_PLUGIN" in os.environ, "skipped: no plugin was built")
class Plugin(ChangesTest):
    """docs/examples/framing.c: each record follows its size, a big-endian 32-bit integer."""

    def setUp(self):
        super().setUp()
        self.plugin = os.environ["RECMAP_PLUGIN"]
        self.due = [b"one", b"", b"three" * 1000, b"\x00\x00\x00\x01"]
        self.data = b"".join(struct.pack(">I", len(payload)) + payload for payload in self.due)
        self.write("a.bin", self.data)

    def test_every_command_takes_it(self):
        own = ("--framing", self.plugin)
        self.index(*own, "a.bin", "-o", "a.rmx")
        self.assertEqual(
            self.run_recmap("cat", *own, "--format", "tfrecord", "a.rmx").out, tfrecord(self.due)
        )
        self.assertEqual(self.run_recmap("get", *own, "a.rmx", "0").out, b"one")
        self.check("verify", *own, "a.rmx", out="a.rmx: 4 of 4 records are good\n")
        self.check("order", *own, "a.rmx", out="0\n1\n2\n3\n")
        info = json.loads(self.run_recmap("info", *own, "--json", "--shards", "a.rmx").out)
        self.assertEqual(info["shard_table"][0]["framing"], "size32be")
        self.write("b.bin", gzip.compress(self.data))
        self.index(*own, "--append", "-o", "a.rmx", "b.bin")
        self.run_recmap("merge", *own, "-o", "m.rmx", "a.rmx")
        self.assertEqual(
            self.run_recmap("cat", *own, "--format", "tfrecord", "m.rmx").out,
            tfrecord(self.due * 2),
        )

    def test_changed_custom_records_are_found(self):
        self.check_framing(
            self.plugin,
            lambda i: struct.pack(">I", len(b"%d" % i * 3)) + b"%d" % i * 3,
            plugin=("--framing", self.plugin),
        )

    def test_without_it_nothing_is_read(self):
        self.index("--framing", self.plugin, "a.bin", "-o", "a.rmx")
        for command in (
            ("cat", "a.rmx"),
            ("get", "a.rmx", "0"),
            ("verify", "a.rmx"),
            ("info", "a.rmx"),
            ("merge", "-o", "m.rmx", "a.rmx"),
        ):
            self.check(
                *command,
                status=3,
                err='recmap: a.rmx: shard a.bin has the framing "size32be", which this '
                "recmap cannot read\n  load a custom framing with "
                "`--framing ./PLUGIN.so` or recmap_framing_load; otherwise use a newer "
                "recmap\n",
            )
        self.write("b", b"text\n")
        self.index("--framing", "lines", "b")
        before = self.read("a.rmx")
        for command in (
            ("index", "--framing", "lines", "-o", "a.rmx", "b"),
            (*("merge", "-o", "a.rmx", "b.rmx"),),
        ):
            self.check(
                *command,
                status=3,
                err="recmap: a.rmx: the index to be replaced cannot be read: shard a.bin has the "
                'framing "size32be", which this recmap cannot read\n  it may have annotated '
                "columns, which would be lost: `recmap info` says what can read it; remove it, "
                "or give the new index another name\n",
            )
        self.assertEqual(self.read("a.rmx"), before)
        self.check_wrong(
            "get",
            "--framing",
            "lines",
            "a.rmx",
            "0",
            what="--framing must be the path of a custom framing (./mine.so), not "
            "'lines'; the index names the others",
        )
        result = self.run_recmap("get", "--framing", "./none.so", "a.rmx", "0")
        self.assertEqual(result.status, 4)
        self.assertTrue(result.err.startswith(b"recmap: ./none.so: cannot load the shared object"))

    def test_damage_of_custom_records_is_named(self):
        at = len(self.data)
        self.write("a.bin", self.data + b"\x00\x00\x00\x09four")
        result = self.run_recmap("index", "--framing", self.plugin, "a.bin")
        self.assertEqual(result.status, 3)
        self.assertIn(
            f"recmap: a.bin: record 4 at byte {at}: a record of 9 bytes does not fit "
            "into the remaining 8\n".encode(),
            result.err,
        )
        self.index(
            "--framing",
            self.plugin,
            "--on-bad-record",
            "skip",
            "a.bin",
            "-o",
            "a.rmx",
            err="recmap: 1 damaged place skipped, 8 bytes; 'recmap info a.rmx' lists them\n",
        )
        self.assertEqual(
            self.run_recmap("cat", "--framing", self.plugin, "--format", "tfrecord", "a.rmx").out,
            tfrecord(self.due),
        )


if __name__ == "__main__":
    unittest.main()
