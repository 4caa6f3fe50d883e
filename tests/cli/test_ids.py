"""recmap index: ids, lifted columns and counted features."""

import gzip
import json
import os
import unittest

from support import EXAMPLES, CliTest, example, frame, tfrecord


class Ids(CliTest):
    def test_ids_and_columns(self):
        self.write("a", tfrecord([*EXAMPLES, example(x=1), example(id="id-3", label=9)]))
        self.index("a", "--id", "id", "--lift", "label=-1", err="recmap: 1 record without an id\n")
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        self.assertEqual(info["records"], 7)
        self.check(
            "find", "a.rmx", "id-4", "id-3", "id-4", out="id-4\t4\nid-3\t3\nid-3\t6\nid-4\t4\n"
        )

    def test_copies_of_records_that_lack_the_id_are_written(self):
        self.write("a", tfrecord([*EXAMPLES, example(x=1), example(x=2)]))
        self.run_recmap("index", "a", "--id", "id")
        count = len(EXAMPLES)
        got = self.run_recmap("get", "a.rmx", str(count), "-o", "one.tfrecord")
        cut = self.run_recmap("cat", "a.rmx", "--from", str(count), "-o", "s@2.tfrecord")
        self.assertEqual((got.status, cut.status), (0, 0), (got.err, cut.err))
        for index, records in ("one.rmx", 1), ("s.rmx", 2):
            info = json.loads(self.run_recmap("info", "--json", index).out)
            self.assertEqual((info["records"], info["ids"]["name"]), (records, "id"))

    def test_integer_ids_are_found(self):
        ids = [-5, 0, 7, 2**63 - 1, -(2**63), 7]
        self.write("a", tfrecord([example(key=i) for i in ids]))
        self.index("a", "--id", "key")
        self.check("find", "a.rmx", "7", "0", out="7\t2\n7\t5\n0\t1\n")
        self.check(
            "find",
            "a.rmx",
            "--",
            "-5",
            str(2**63 - 1),
            str(-(2**63)),
            out=f"-5\t0\n{2**63 - 1}\t3\n{-(2**63)}\t4\n",
        )
        # An id that is too large for int64 does not affect the next one.
        result = self.run_recmap("find", "a.rmx", str(2**63), "0")
        self.assertEqual((result.out, result.status), (b"0\t1\n", 1))
        self.check(
            "find",
            "a.rmx",
            str(2**64 - 5),
            status=1,
            err=f"recmap: a.rmx: no record has the id '{2**64 - 5}'\n  the ids are int64: look for "
            "-5, which has the same 64 bits\n",
        )
        for text in (str(2**64), "07x", "0x7", " 7", "+7", ""):
            self.check(
                "find",
                "a.rmx",
                "--",
                text,
                status=1,
                err=f"recmap: a.rmx: no record has the id '{text}'\n  the ids are int64: "
                "write a whole number; 'recmap info' shows which feature they are from\n",
            )
        self.check(
            "find",
            "a.rmx",
            "8",
            status=1,
            err="recmap: a.rmx: no record has the id '8'\n  'recmap info' shows which "
            "feature the ids are from\n",
        )

    def test_an_id_that_no_record_has(self):
        self.write("a", tfrecord([example(key=1, label=2), example(key=7)]))
        for name, advice in {
            "keys": 'did you mean "key"?',
            "colour": 'the first record\'s features: "key", "label"',
        }.items():
            result = self.run_recmap("index", "a", "--id", name)
            message = f'no record has the feature "{name}", which should be the id; no index was'
            self.assertEqual(result.status, 3)
            self.assertIn(f"a.rmx: {message} written\n  {advice}\n", result.err.decode())
            self.assertEqual(self.files(), ["a"])

    def test_compressed_records_have_no_id(self):
        self.write("a", tfrecord([gzip.compress(example(key=1))]))
        result = self.run_recmap("index", "a", "--id", "key")
        self.assertEqual(result.status, 3)
        self.assertIn("is not a tf.Example, but a gzip stream\n", result.err.decode())

    def test_a_part_may_lack_the_id(self):
        """Only a part is named. One of the parts must have the id."""
        self.write("a", tfrecord([example(key=1)]))
        self.write("b", tfrecord([example(label=2)]))
        for id, near in ("key", ""), ("keys", "a"):
            for shard in "ab":
                lacks = shard == "b" or near
                note = f"no record has an id; 'recmap schema {shard}.rmx' lists the features that "
                note = f"recmap: {note}--id can name\n" if lacks else ""
                self.index(shard, "-o", f"{shard}.rmx", "--id", id, err=note)
            result = self.run_recmap("merge", "-o", "all.rmx", "a.rmx", "b.rmx")
            self.assertEqual(result.status, 3 if near else 0)
        error = 'all.rmx: no record has the feature "keys", which should be the id; no index was'
        self.assertEqual(
            result.err.decode(),
            f"recmap: {error} written\n  did you mean 'key'? index the parts again with that "
            "--id\n",
        )
        self.check("find", "all.rmx", "1", out="1\t0\n")
        os.unlink(os.path.join(self.folder, "a"))
        result = self.run_recmap("merge", "-o", "all.rmx", "a.rmx", "b.rmx")
        self.assertIn(b"choose a feature that has values: `recmap schema` lists them", result.err)

    def test_an_empty_file_needs_no_ids(self):
        self.write("a", b"")
        self.assertEqual(self.run_recmap("index", "a", "--id", "kye").status, 0)

    def test_integer_ids_that_the_first_record_lacks(self):
        self.write("a", tfrecord([example(x=1), example(key=7)]))
        self.index("a", "--id", "key", err="recmap: 1 record without an id\n")
        result = self.run_recmap("find", "a.rmx", "8")
        self.assertNotIn(b"byte for byte", result.err)

    def test_bytes_go_before_integers(self):
        self.write("a", tfrecord([example(key=7), example(key="7")]))
        self.index("a", "--id", "key")
        self.check("find", "a.rmx", "7", out="7\t1\n")

    def test_what_is_not_found(self):
        self.write("a", tfrecord(EXAMPLES))
        self.index("a", "--id", "id")
        self.check(
            "find",
            "a.rmx",
            "id-1",
            "no\x1b",
            "id-2",
            out="id-1\t1\nid-2\t2\n",
            status=1,
            err="recmap: a.rmx: no record has the id 'no\\x1b'\n  ids are compared byte for "
            "byte; 'recmap info' shows which feature they are from\n",
        )

    def test_an_index_without_ids(self):
        self.write("a", tfrecord(EXAMPLES))
        self.index("a")
        result = self.run_recmap("find", "a.rmx", "id-1")
        self.assertEqual((result.out, result.status), (b"", 2))
        self.assertRegex(result.err.decode(), r"^recmap: a\.rmx: [^\n]*\n  [^\n]*--id[^\n]*\n$")

    def test_many_of_one_id(self):
        self.write("a", tfrecord([example(id="x")] * 500))
        self.index(
            *("a", "--id", "id"),
            err="recmap: a.rmx: the ids of 'id' repeat: 1 different one in 500 records; "
            "name a feature that tells records apart with --id\n",
        )
        self.check("find", "a.rmx", "x", out="".join(f"x\t{i}\n" for i in range(500)))

    def test_a_missing_lifted_feature(self):
        self.write("a", tfrecord([example(x=1), example(y=1)]))
        start = len(frame(example(x=1)))
        self.check(
            "index",
            "a",
            "--lift",
            "x",
            status=3,
            err=(
                f'recmap: a: record 1 at byte {start}: has no value of lifted feature "x"'
                "\n  build the index with a default for such records: `--lift x=DEFAULT`, or with "
                "`--missing-values null`\n"
            ),
        )
        self.assertEqual(self.files(), ["a"])

    def check_advice(self, record, name, advice):
        self.write("a", tfrecord([record, example(weights=1)]))
        self.check(
            "index",
            "a",
            "--lift",
            "score=0",
            "--lift",
            name,
            status=3,
            err=(
                f'recmap: a: record 0 at byte 0: has no value of lifted feature "{name}"\n'
                f"  {advice}\n"
            ),
        )

    def test_a_misspelt_lifted_feature(self):
        record = example(id="a", label=1, image=b"x", weight=1.0, Labels=2)
        everything = '"Labels", "id", "image", "label", "weight"'
        for name, listed in {
            "lable": '"label", "Labels", "id", "image", "weight"',
            "labels": '"Labels", "label", "id", "image", "weight"',
            "wieght": '"weight", "Labels", "id", "image", "label"',
        }.items():
            near = listed.partition(",")[0]
            self.check_advice(record, name, f"did you mean {near}? the record's features: {listed}")
        # Nothing is near: the feature may be optional.
        for listed, given in {everything: record, "none": b""}.items():
            self.check_advice(
                given,
                "quality",
                f"the record's features: {listed}; if other records "
                'have "quality", build the index with a default: '
                "`--lift quality=DEFAULT`",
            )
        self.check_advice(
            record,
            "label,weight",
            f"the record's features: {everything}; to lift several features, name each separately",
        )

    def test_a_lifted_feature_of_a_record_with_many(self):
        names = [f"feature-{i:02}" for i in range(12)]
        listed = ", ".join(f'"{name}"' for name in names[:8])
        record = example(**dict.fromkeys(names, 1))
        self.check_advice(
            record,
            "y",
            f"the record's features: {listed} and 4 more; if other "
            'records have "y", build the index with a default: `--lift y=DEFAULT`',
        )
        # Long names would hide the rest of the advice.
        self.check_advice(
            example(**{"x" * 5000: 1}),
            "y",
            "the record's features: 1 more; if "
            'other records have "y", build the index with a default: '
            "`--lift y=DEFAULT`",
        )

    def test_a_lifted_feature_without_a_value(self):
        self.check_advice(
            example(label=[]),
            "label",
            "build the index with a default for such records: `--lift label=DEFAULT`, or with "
            "`--missing-values null`",
        )


class Counting(CliTest):
    RECORDS = [example(tokens=[1, 2, 3], raw=b"abcd", **{"a:b": 1}), example(x=1), example(raw=b"")]

    def test_counts_of_values_and_of_raw_numbers(self):
        self.write("a", tfrecord(self.RECORDS))
        self.index("a", "--count", "tokens", "--count", "raw:uint16", "--count", "a:b:")
        lines = self.run_recmap("info", "a.rmx").out.decode().splitlines()
        self.assertEqual(
            [line for line in lines if "element" in line],
            [
                "counts       tokens, 3 elements, at most 3 per record",
                "             raw, uint16, 2 elements, at most 2 per record",
                "             a:b, 1 element, at most 1 per record",
            ],
        )
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        self.assertEqual(
            info["counts"],
            [{"name": "tokens"}, {"name": "raw", "dtype": "uint16"}, {"name": "a:b"}],
        )
        self.check("verify", "a.rmx", out="a.rmx: 3 of 3 records are good\n")

    def test_a_feature_that_no_record_has(self):
        self.write("a", tfrecord(self.RECORDS))
        self.index(
            "a",
            "--count",
            "token",
            "--count",
            "tokens",
            err="recmap: no record has elements of the counted feature 'token'\n",
        )

    def test_values_of_bytes_that_count_once(self):
        self.write("a", tfrecord([example(raw=b"abcd", x=1), example(raw=b"efgh", x=2)]))
        self.index(
            *("a", "--count", "raw", "--count", "x"),
            err="recmap: no count of 'raw' exceeds 1: its values are bytes, and each counts once; "
            "to count the numbers in them, give their type, as in --count raw:uint8\n",
        )
        self.index("a", "--count", "raw:uint8", "-o", "b.rmx", err="")
        self.write("c", tfrecord([example(raw=[b"abcd", b"ef"])]))
        self.index("c", "--count", "raw", err="")

    def test_bytes_that_are_not_whole_numbers(self):
        self.write("a", tfrecord([example(x=1), example(raw=b"abc")]))
        start = len(frame(example(x=1)))
        self.check(
            "index",
            "a",
            "--count",
            "raw:int16",
            status=3,
            err=(
                f'recmap: a: record 1 at byte {start}: feature "raw" has 3 bytes, which is not a '
                "multiple of 2, the size of int16\n"
                "  name the element type that its bytes consist of: `--count raw:DTYPE`\n"
            ),
        )
        self.assertEqual(self.files(), ["a"])

    def test_a_type_that_is_not_one_of_numbers(self):
        self.write("a", tfrecord(self.RECORDS))
        for name in "uint17", "bytes":
            result = self.run_recmap("index", "a", "--count", f"raw:{name}")
            self.assertEqual(result.status, 2)
            self.assertIn(
                f"'{name}' is not a type of numbers, such as uint16; if it is part of "
                "the name, add a ':' at the end".encode(),
                result.err,
            )
        self.assertEqual(self.run_recmap("index", "a", "--count", ":uint8").status, 2)

    def test_appending_counts_too(self):
        self.write("s-0", tfrecord(self.RECORDS[:1]))
        self.write("s-1", tfrecord(self.RECORDS[1:]))
        words = ["--count", "tokens", "--count", "raw:uint8"]
        self.index("-o", "all.rmx", *words, "s-0", "s-1")
        self.index("-o", "x.rmx", *words, "s-0")
        self.index("--append", "-o", "x.rmx", "s-1")
        self.assertEqual(self.read("x.rmx"), self.read("all.rmx"))
        self.run_recmap("index", "-o", "y.rmx", *words, "s-1")
        self.index("-o", "z.rmx", *words, "s-0")
        self.run_recmap("merge", "-o", "m.rmx", "z.rmx", "y.rmx")
        self.assertEqual(self.read("m.rmx"), self.read("all.rmx"))


if __name__ == "__main__":
    unittest.main()
