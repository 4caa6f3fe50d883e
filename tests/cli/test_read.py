"""info, schema, get, cat: on the digits, and on small files."""

import base64
import gzip
import json
import os
import shutil
import unittest

from support import (
    DIGITS,
    EXAMPLES,
    CliTest,
    example,
    parse_tfrecord,
    sequence_example,
    tfrecord,
)


class Digits(CliTest):
    def setUp(self):
        super().setUp()
        self.names = [f"digits-{i:05}-of-00004.tfrecord" for i in range(4)]
        self.records = []
        for name in self.names:
            shutil.copy(os.path.join(DIGITS, name), self.folder)
            self.records += parse_tfrecord(self.read(name))
        what = self.index("--id", "id", "--lift", "label", "digits-*.tfrecord")
        self.assertEqual(what, "digits.rmx: 1797 records in 4 shards, 244 kB")

    def test_cat_prints_all_records(self):
        self.assertEqual(self.payloads("digits.rmx"), self.records)
        self.check("cat", "digits.rmx", out=b"".join(self.records))
        for access in ("map", "read", "direct", "auto"):
            self.check("cat", "digits.rmx", "--access", access, out=b"".join(self.records))
        self.check("cat", "digits.rmx", "--check", "header", out=b"".join(self.records))

    def test_get_prints_some_records(self):
        self.check(
            "get",
            "digits.rmx",
            "5:8",
            "3",
            "1797:1797",
            "0:1",
            out=b"".join(self.records[n] for n in (5, 6, 7, 3, 0)),
        )
        self.check(
            "get",
            "digits.rmx",
            "1796",
            "0",
            "1000",
            "0",
            out=b"".join(self.records[i] for i in (1796, 0, 1000, 0)),
        )

    def test_shards_in_another_folder(self):
        os.mkdir(self.path("moved"))
        for name in self.names:
            os.rename(self.path(name), self.path(os.path.join("moved", name)))
        lost = self.run_recmap("get", "digits.rmx", "7")
        self.assertEqual(lost.status, 4)
        self.assertIn(b"pass `--shards FOLDER`", lost.err)
        at = ["--shards", "moved"]
        self.check("cat", "digits.rmx", *at, out=b"".join(self.records))
        self.check("get", "digits.rmx", "7", *at, out=self.records[7])
        self.check("find", "digits.rmx", "digit-00042", *at, out="digit-00042\t42\n")
        self.assertEqual(self.run_recmap("verify", "digits.rmx", *at).status, 0)
        self.assertEqual(self.run_recmap("schema", "digits.rmx", *at).status, 0)

    def test_index_copied_away_from_its_shards(self):
        """Each command that reads records says where it expects them. The others need none."""
        os.mkdir(self.path("copy"))
        shutil.copy(self.path("digits.rmx"), self.path("copy"))
        index = "copy/digits.rmx"
        for command in (
            ["cat", index],
            ["cat", "--shuffle", "-o", "out", index],
            ["get", index, "7"],
            ["get", index, "1797:1797", "5"],
            ["find", index, "digit-00042"],
            ["schema", index],
            ["duplicates", "--by", "content", index],
        ):
            with self.subTest(command=command):
                result = self.run_recmap(*command)
                self.assertEqual((result.out, result.status), (b"", 4))
                self.assertRegex(result.err, rb"^recmap: copy/digits-0000\d-of-00004.tfrecord: ")
                self.assertIn(b"is expected at " + self.path("copy").encode(), result.err)
                self.assertIn(b"pass `--shards FOLDER`", result.err)
                self.assertFalse(os.path.exists(self.path("out")))
        for command in ["info"], ["order"], ["export", "--to", "idx", "-o", "text"]:
            self.assertEqual(self.run_recmap(*command, index).status, 0, command)

    def test_find_prints_ids_and_numbers(self):
        self.check(
            "find",
            "digits.rmx",
            "digit-01796",
            "digit-00000",
            out="digit-01796\t1796\ndigit-00000\t0\n",
        )

    def test_info_as_json(self):
        document = json.loads(self.run_recmap("info", "--json", "digits.rmx").out)
        sizes = [os.path.getsize(self.path(name)) for name in self.names]
        self.assertEqual(document["records"], 1797)
        self.assertEqual(document["shards"], 4)
        self.assertEqual(document["bytes"], sum(sizes))
        self.assertEqual(document["index_bytes"], os.path.getsize(self.path("digits.rmx")))
        self.assertRegex(document["fingerprint"], r"^[0-9a-f]{32}$")
        self.assertEqual(document["damage"], [])
        document = json.loads(self.run_recmap("info", "--json", "--shards", "digits.rmx").out)
        self.assertEqual([shard["path"] for shard in document["shard_table"]], self.names)

    def test_info_describes_the_index(self):
        document = json.loads(self.run_recmap("info", "--json", "digits.rmx").out)
        size = document["index_bytes"]
        bar = "   shard  first record       records           bytes  path\n"
        first = [sum(1 for _ in parse_tfrecord(self.read(n))) for n in self.names]
        starts = [sum(first[:i]) for i in range(4)]
        rows = "".join(
            f"{i:8}  {starts[i]:12}  {first[i]:12}  {os.path.getsize(self.path(n)):14}  {n}\n"
            for i, n in enumerate(self.names)
        )
        text = (
            f"index        digits.rmx\nrecords      1797\nshards       4\n"
            f"bytes        {document['bytes']} (244 kB)\n"
            f"index bytes  {size} ({size / 1000:.1f} kB, {size / 1797:.2f} per record)\n"
            f"fingerprint  {document['fingerprint']}\n"
            "ids          id, 1797 records\ncolumns      @length, int64\n"
            "             label, int64\ndamage       none\n"
        )
        self.check("info", "digits.rmx", out=text)
        self.check("info", "digits.rmx", "--shards", out=text + "\n" + bar + rows)

    def test_schema_describes_the_features(self):
        one = {
            "share": 1,
            "min_length": 1,
            "max_length": 1,
            "unset_share": 0,
            "missing_share": 0,
            "shape": [],
        }
        expected = {
            "id": {"kind": "bytes", **one, "min_size": 11, "max_size": 11},
            "image": {"kind": "bytes", **one, "min_size": 64, "max_size": 64},
            "label": {"kind": "int64", **one, "min": 0, "max": 9},
        }
        sampled = "recmap: sampled 1000 of 1797 records from all parts; --sample 0 reads all\n"
        for words, err in (
            (["--sample", "0"], ""),
            (["--sample", "1797"], ""),
            (["--sample", "9999"], ""),
            ([], sampled),
            (["--sample", "1"], sampled.replace("1000", "1")),
        ):
            result = self.run_recmap("schema", "--json", "digits.rmx", *words)
            self.assertEqual((result.err.decode(), result.status), (err, 0))
            document = json.loads(result.out)
            if "1" in words:
                self.assertEqual(document["label"].pop("max"), document["label"]["min"])
                document["label"].update(min=0, max=9)
            self.assertEqual(document, expected)
        self.check(
            "schema",
            "digits.rmx",
            "--sample=0",
            out=(
                "kind       share        values  range     feature\n"
                "bytes   100.00 %             1  11 bytes  id\n"
                "bytes   100.00 %             1  64 bytes  image\n"
                "int64   100.00 %             1  0..9      label\n"
            ),
        )

    def test_json_has_one_line_a_record(self):
        out = self.run_recmap("cat", "digits.rmx", "--format", "json").out
        lines = out.decode().split("\n")
        self.assertEqual(lines.pop(), "")
        self.assertEqual(len(lines), 1797)
        for number in (0, 1, 1796):
            features = json.loads(lines[number])["features"]["feature"]
            self.assertEqual(list(features), ["id", "image", "label"])
            made = example(
                id=base64.b64decode(features["id"]["bytesList"]["value"][0]),
                image=base64.b64decode(features["image"]["bytesList"]["value"][0]),
                label=int(features["label"]["int64List"]["value"][0]),
            )
            self.assertEqual(len(made), len(self.records[number]))
            self.assertEqual(
                base64.b64decode(features["id"]["bytesList"]["value"][0]).decode(),
                f"digit-{number:05}",
            )


class Ranges(CliTest):
    def setUp(self):
        super().setUp()
        self.records = [bytes([i % 256]) * (i % 7) for i in range(1000)]
        self.write("a-0", tfrecord(self.records[:600]))
        self.write("a-1", tfrecord(self.records[600:]))
        self.index("a-0", "a-1")

    def test_from_and_count(self):
        for first, count in (
            (0, 1),
            (0, 0),
            (590, 20),
            (999, 1),
            (999, 5),
            (1000, 1),
            (5, 2**64 - 1),
        ):
            self.check(
                "cat",
                "a.rmx",
                f"--from={first}",
                f"--count={count}",
                out=b"".join(self.records[first : first + count]),
            )
        self.check("cat", "a.rmx", "--from", "998", "--format", "number", out="998\n999\n")

    def test_numbers_need_no_shards(self):
        os.remove(self.path("a-0"))
        self.check("cat", "a.rmx", "--count", "2", "--format", "number", out="0\n1\n")
        self.check("get", "a.rmx", "7", "3", "--format", "number", out="7\n3\n")

    def test_out_of_range_writes_nothing(self):
        for words in ([], ["-o", "out"], ["--format", "number"]):
            result = self.run_recmap("get", "a.rmx", "0", "1000", *words)
            self.assertEqual((result.out, result.status), (b"", 2))
            self.assertRegex(result.err.decode(), r"^recmap: a\.rmx: [^\n]*1000[^\n]*\n  [^\n]*\n$")
        self.assertNotIn("out", self.files())

    def test_slices_are_cut(self):
        """As in Python: what there is, with a note."""
        note = "a.rmx: the slice {} ends beyond the last record: the data set has 1000 records"
        for words, records, what in (
            (["990:1001"], self.records[990:], note.format("990:1001")),
            (["1000:1001"], [], note.format("1000:1001")),
            (["5000:6000"], [], note.format("5000:6000")),
            (
                ["0:2", "998:2000", "3"],
                [*self.records[:2], *self.records[998:], self.records[3]],
                note.format("998:2000"),
            ),
            (
                ["999:1001", "5:1005"],
                [*self.records[999:], *self.records[5:]],
                "a.rmx: the slice 999:1001 and others end beyond the last record: the data "
                "set has 1000 records",
            ),
            ([f"999:{2**64 - 1}"], self.records[999:], note.format(f"999:{2**64 - 1}")),
        ):
            err = f"recmap: {what}\n"
            self.check("get", "a.rmx", *words, out=b"".join(records), err=err)
        self.check("get", "a.rmx", "999:1000", "1000:1000", out=self.records[999])
        self.write("lines", b"998:1005\n")
        self.check(
            "get",
            "a.rmx",
            "--from",
            "lines",
            "--format",
            "number",
            out="998\n999\n",
            err=f"recmap: {note.format('998:1005')}\n",
        )
        self.write("wrong", b"1000\n")
        self.assertEqual(self.run_recmap("get", "a.rmx", "--from", "wrong").status, 2)
        self.run_recmap("get", "a.rmx", "997:1003", "-o", "x.tfrecord")
        self.assertEqual(self.payloads("x.rmx"), self.records[997:])


class Named(CliTest):
    """Records that ids or the lines of a file name, and single features."""

    def setUp(self):
        super().setUp()
        self.write("a.tfrecord", tfrecord(EXAMPLES))
        self.index("a.tfrecord", "--id", "id")

    def test_lines_of_a_file(self):
        self.write("numbers", b"3\n\n0:2\r\n4")
        self.check(
            "get", "a.rmx", "1", "--from", "numbers", "--format", "number", out="1\n3\n0\n1\n4\n"
        )
        self.check(
            "get", "a.rmx", "--from", "-", "--format", "number", out="2\n2\n", input=b"2\n2\n"
        )
        self.write("empty", b"")
        self.check("get", "a.rmx", "--from", "empty")

    def test_wrong_lines_are_named(self):
        advice = (
            "  write one record number, or one range such as 5:20, on each line; lines of ids "
            "need --by id\n"
        )
        for line in ("x", "1 ", "-1", "3:1", "1:", ":1", "1:2:3", str(2**64), "id-1"):
            self.check(
                "get",
                "a.rmx",
                "--from",
                "-",
                input=b"1\n" + line.encode(),
                status=2,
                err=(
                    "recmap: standard input: line 2 is neither a record number nor a range: "
                    f"'{line}'\n" + advice
                ),
            )
        self.write("numbers", b"5\n")
        for words in (["--by", "number"], ["--by", "id"]):
            self.check(
                "get",
                "a.rmx",
                "--from",
                "-",
                *words,
                input=b"\n1\0 2\n",
                status=2,
                err=(
                    "recmap: standard input: line 2 contains a NUL byte\n"
                    "  write one record on each line, as text without NUL bytes\n"
                ),
            )
        result = self.run_recmap("get", "a.rmx", "--from", "numbers", "-o", "out")
        self.assertIn(b"record 5", result.err)
        self.assertEqual((result.status, os.path.exists(self.path("out"))), (2, False))
        self.check(
            "get",
            "a.rmx",
            "--from",
            "none",
            status=4,
            err="recmap: none: cannot open the file: No such file or directory\n"
            "  check the path; relative paths start at the current folder\n",
        )

    def test_ids_name_records(self):
        self.check("get", "a.rmx", "--by", "id", "id-3", "id-0", out=EXAMPLES[3] + EXAMPLES[0])
        self.check(
            "get",
            "a.rmx",
            "--by=id",
            "--from=-",
            "id-3",
            "--format=number",
            input=b"id-1\nid-4\n",
            out="3\n1\n4\n",
        )
        self.check(
            "get",
            "a.rmx",
            "--by",
            "id",
            "id-3",
            "id-5",
            status=1,
            err=(
                "recmap: a.rmx: no record has the id 'id-5'\n"
                "  ids are compared byte for byte; "
                "'recmap info' shows which feature they are from\n"
            ),
        )
        self.write("b.tfrecord", tfrecord([example(n=n) for n in (7, -8, 7)]))
        self.index("b.tfrecord", "--id", "n")
        self.check("get", "b.rmx", "--by=id", "--format=number", "7", "--", "-8", out="0\n2\n1\n")

    def test_a_feature_is_printed_raw(self):
        self.check("get", "a.rmx", "3", "--feature", "image", out=bytes([3, 255]) * 30)
        self.check("get", "a.rmx", "0:3", "--feature", "label", out="0\n1\n2\n")
        self.check(
            "get",
            "a.rmx",
            "4",
            "1",
            "--feature",
            "weights",
            "--format",
            "raw",
            out="0.5 4\n0.5 1\n",
        )
        self.check("get", "a.rmx", "4", "--feature", "image", "-o", "image")
        self.assertEqual(self.read("image"), bytes([4, 255]) * 30)
        self.write(
            "b.tfrecord",
            tfrecord(
                [
                    sequence_example(
                        {"n": 1}, {"words": [["to", "be"], ["or"]], "t": [[1, 2], [3]]}
                    ),
                    example(x=[0.1, 1e-30, 16777217.0, float("inf")], n=[]),
                ]
            ),
        )
        self.index("b.tfrecord")
        self.check("get", "b.rmx", "0", "--feature", "words", out="tobeor")
        self.check("get", "b.rmx", "0", "--feature", "t", out="1 2 3\n")
        self.check("get", "b.rmx", "1", "--feature", "x", out="0.1 1e-30 16777216 inf\n")

    def test_a_field_of_text_is_a_line(self):
        self.write("c.csv", b'city,size,code\n"Rome, ""IT""\nItaly",3.5,007\nOslo,,2\nbad\n')
        self.index("c.csv", "--framing", "csv", "-o", "c.rmx")
        for name, out in (
            ("city", b'Rome, "IT"\nItaly\nOslo\n'),
            ("size", b"3.5\n\n"),
            ("code", b"007\n2\n"),
        ):
            self.check("get", "c.rmx", "0:2", "--feature", name, out=out)
        self.write("q.csv", b"city,size\nRome,3\nOslo,1\n")
        for framing, out in (
            ("csv,noquotes", b"Rome\nOslo\n"),
            ("csv,noheader", b"city\nRome\n"),
        ):
            self.index("q.csv", "--framing", framing, "-o", "q.rmx")
            name = "city" if framing == "csv,noquotes" else "#0"
            self.check("get", "q.rmx", "0:2", "--feature", name, out=out)
        self.write(
            "j.jsonl", b'{"n":1,"list":[1,2.5],"o":{"x":"y"},"t":"\\u00e9"}\n{"n":null}\nx\n'
        )
        self.index("j.jsonl", "--framing", "lines", "-o", "j.rmx")
        for name, out in (
            ("n", "1\n"),
            ("list", "1 2.5\n"),
            ("o", '{"x":"y"}\n'),
            ("t", "é\n"),
        ):
            self.check("get", "j.rmx", "0", "--feature", name, out=out.encode())
        self.check("get", "j.rmx", "1", "--feature", "n", out=b"\n")

    def test_fields_of_text_that_are_missing(self):
        self.write("c.csv", b"city,size\nRome,3\nbad\n")
        self.index("c.csv", "--framing", "csv", "-o", "c.rmx")
        self.check(
            "get",
            "c.rmx",
            "0",
            "--feature",
            "siez",
            status=2,
            err="recmap: c.rmx: record 0: the record has no feature 'siez'\n  did you mean 'size'? "
            "'recmap schema --sample 0' lists the features of all records\n",
        )
        self.write("j.jsonl", b"{}\nbad\n")
        self.index("j.jsonl", "--framing", "lines", "-o", "j.rmx")
        result = self.run_recmap("get", "j.rmx", "0", "--feature", "x")
        self.assertIn(b"record 0: the record has no feature 'x'", result.err)
        for name, offset, kind in (
            ("c.csv", 17, "row of CSV with the fields of the header"),
            ("j.jsonl", 3, "JSON object"),
        ):
            self.check(
                "get",
                f"{name[0]}.rmx",
                "1",
                "--feature",
                "x",
                status=3,
                err=f"recmap: {name}: record 1 at byte {offset}: the record is not a {kind}\n"
                "  leave out --feature to write it as it is\n",
            )

    def test_missing_features_are_explained(self):
        def err(name, advice):
            return (
                f"recmap: a.rmx: record 2: the record has no feature '{name}'\n  {advice}"
                "'recmap schema --sample 0' lists the features of all records\n"
            )

        self.check(
            "get",
            "a.rmx",
            "2",
            "--feature",
            "imgae",
            status=2,
            err=err("imgae", "did you mean 'image'? "),
        )
        self.check("get", "a.rmx", "2", "--feature", "x", status=2, err=err("x", ""))
        self.write("b.tfrecord", tfrecord([b"\xff\xff"]))
        self.index("b.tfrecord")
        result = self.run_recmap("get", "b.rmx", "0", "--feature", "x")
        self.assertEqual((result.out, result.status), (b"", 3), result)
        self.assertIn(b"record 0", result.err)
        self.write("c.tfrecord", tfrecord([b"12345678", gzip.compress(example(x=1)), b"\x08"]))
        self.index("c.tfrecord")
        not_example = "the record is not a tf.Example"
        for number, offset, message in (
            (1, 24, f"{not_example}, but a gzip stream\n"),
            (2, -17, f"{not_example}: varint runs past the end at byte 1 of its data\n"),
        ):
            offset %= len(self.read("c.tfrecord"))
            result = self.run_recmap("get", "c.rmx", str(number), "--feature", "x")
            self.assertEqual((result.out, result.status), (b"", 3), result)
            place = f"recmap: c.tfrecord: record {number} at byte {offset}: "
            self.assertTrue(result.err.decode().startswith(place + message), result.err)
        result = self.run_recmap("duplicates", "c.rmx", "--by", "x")
        self.assertEqual((result.out, result.status), (b"", 3), result)
        self.assertIn("c.tfrecord: record 0 at byte ", result.err.decode())


class BadIndexes(CliTest):
    def test_files_that_are_not_indexes(self):
        self.write("a.rmx", tfrecord(EXAMPLES))
        self.write("text", b"hello\n" * 1000)
        self.write("empty.rmx", b"")
        os.mkdir(self.path("d"))
        for name, status in (("a.rmx", 3), ("text", 3), ("empty.rmx", 3), ("d", 2), ("none", 4)):
            for words in (["info"], ["schema"], ["get", "0"], ["find", "x"], ["cat"], ["verify"]):
                result = self.run_recmap(words[0], name, *words[1:])
                self.assertEqual((result.out, result.status), (b"", status), (name, result))
                self.assertRegex(result.err.decode(), rf"^recmap: {name}: [^\n]*\n  [^\n]*\n$")

    def test_a_damaged_index(self):
        self.write("a", tfrecord([b"x" * (i % 9) for i in range(500)]))
        self.index("a")
        whole = self.read("a.rmx")
        for at in range(0, len(whole), 997):
            damaged = bytearray(whole)
            damaged[at] ^= 0x10
            self.write("a.rmx", bytes(damaged))
            for words in (["verify"], ["verify", "--index-only"], ["verify", "--json"]):
                result = self.run_recmap(words[0], "a.rmx", *words[1:])
                self.assertEqual((result.out, result.status), (b"", 3), (at, result))
                self.assertRegex(result.err.decode(), r"^recmap: a\.rmx: [^\n]*\n  [^\n]*\n$")
        for size in (0, 1, 4096, len(whole) // 2, len(whole) - 1):
            self.write("a.rmx", whole[:size])
            self.assertEqual(self.run_recmap("info", "a.rmx").status, 3)


if __name__ == "__main__":
    unittest.main()
