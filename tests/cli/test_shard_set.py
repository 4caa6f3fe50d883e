"""recmap cat -o NAME@N: a copy of records in order, in several shards with an index."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import unittest
import zlib

from store import start_store
from support import (
    COMMAND,
    DIGITS,
    IN_ACCESS,
    IN_CREATE,
    CliTest,
    count_listings,
    example,
    parse_tfrecord,
    signals_as_usual,
    tfrecord,
    watch_folder,
)


def names_of(count, stem="out", end=""):
    return [f"{stem}-{i:05}-of-{count:05}{end}" for i in range(count)]


class ShardSets(CliTest):
    def test_files_that_appear_while_a_set_is_written(self):
        """As if another command had written the same set."""
        self.write("served/a.tfrecord", tfrecord([b"one", b"two", b"three"]))
        server = start_store(self)
        result = self.run_recmap("index", f"{server.url}/a.tfrecord", "-o", "a.rmx")
        if b"reads local files only" in result.err:
            self.skipTest("this build has no support for URLs")
        self.assertEqual(result.status, 0, result.err)
        for name in ("out-00000-of-00002", "out-00001-of-00002", "out.rmx"):

            def appear(handler, name=name):
                self.write(name, b"another's")
                return False

            server.faults[:] = [appear]
            advice = "  remove it, or name another set with -o\n"
            err = f"recmap: {name}: exists already\n{advice}"
            self.check("cat", "a.rmx", "-o", "out@2", status=2, err=err)
            self.assertEqual(self.files(), sorted(["a.rmx", name, "served"]))
            self.assertEqual(self.read(name), b"another's")
            os.remove(self.path(name))

    def count_listings(self, *arguments):
        """How often the command lists the folder `new`, which is created first."""
        os.mkdir(self.path("new"))
        watch = watch_folder(self.path("new"), IN_ACCESS | IN_CREATE)
        self.assertEqual(self.run_recmap(*arguments).status, 0)
        count = count_listings(watch)
        os.close(watch)
        shutil.rmtree(self.path("new"))
        return count

    def test_the_folder_is_listed_as_often_for_many_files(self):
        """It is listed for what killed writers left, which takes as long as it has files."""
        self.digits("-o", "all@20")
        few = self.count_listings("cat", "d.rmx", "-o", "new/out@2")
        self.assertGreater(few, 0)
        self.assertEqual(self.count_listings("cat", "d.rmx", "-o", "new/out@20"), few)
        few = self.count_listings("export", "d.rmx", "--to", "idx", "-o", "new")
        many = self.count_listings("export", "all.rmx", "--to", "idx", "-o", "new")
        self.assertEqual(many, few)

    def test_what_killed_writers_left_is_removed(self):
        digits = "0123456789abcdef"
        self.digits()
        for name in ["out-00001-of-00002", "out.rmx", "other", "out-00002-of-00002"]:
            self.write(f"{name}.tmp-{digits}", b"left")
        self.check("cat", "d.rmx", "-o", "out@2", err="recmap: out.rmx: 1797 records in 2 shards\n")
        left = [name for name in self.files() if ".tmp-" in name]
        self.assertEqual(left, [f"{name}.tmp-{digits}" for name in ["other", "out-00002-of-00002"]])

    def records_of(self, *names):
        return [parse_tfrecord(self.read(name)) for name in names]

    def digits(self, *options):
        self.index("-o", "d.rmx", "--id", "id", "--lift", "label", "--count", "image:uint8", DIGITS)
        return self.run_recmap("cat", "d.rmx", *options)

    def test_a_shuffled_copy(self):
        self.digits()
        order = ["--shuffle", "--seed", "7"]
        self.check(
            "cat", "d.rmx", *order, "-o", "out@4", err="recmap: out.rmx: 1797 records in 4 shards\n"
        )
        shards = self.records_of(*names_of(4))
        self.assertEqual([len(shard) for shard in shards], [450, 449, 449, 449])
        joined = b"".join(record for shard in shards for record in shard)
        self.check("cat", "d.rmx", *order, out=joined)
        self.check("cat", "out.rmx", out=joined)  # the index has the same order

    def info(self, index):
        return json.loads(self.run_recmap("info", "--json", index).out)

    def test_the_index_has_the_ids_columns_and_counts_of_the_source(self):
        self.digits("--shuffle", "-o", "out@2.tfrecord")
        info = [self.info(index) for index in ("d.rmx", "out.rmx")]
        for key in "records", "counts", "ids", "columns":
            self.assertEqual(info[1][key], info[0][key])
        self.assertEqual(info[1]["shards"], 2)
        self.assertEqual(self.files(), ["d.rmx", *names_of(2, end=".tfrecord"), "out.rmx"])
        self.assertEqual(self.run_recmap("verify", "out.rmx").status, 0)
        threes = [
            self.run_recmap("cat", index, "--where", "label == 3", "--format", "json").out
            for index in ("d.rmx", "out.rmx")
        ]
        self.assertEqual(*(sorted(text.splitlines()) for text in threes))

    def test_decompressed_shards_keep_numbers_ids_and_columns(self):
        self.digits("-o", "packed@3.tfrecord.gz")
        err = "recmap: plain.rmx: 1797 records in 2 shards\n"
        self.check("cat", "packed.rmx", "--decompress", "-o", "plain@2", err=err)
        info = [self.info(index) for index in ("packed.rmx", "plain.rmx")]
        self.assertIsNotNone(info[0]["compressed"])
        self.assertIsNone(info[1]["compressed"])
        for key in "records", "counts", "ids", "columns":
            self.assertEqual(info[1][key], info[0][key])
        whole = self.run_recmap("cat", "packed.rmx", "--format", "raw").out
        self.check("cat", "plain.rmx", "--format", "raw", out=whole)
        self.check("find", "plain.rmx", "digit-00007", out="digit-00007\t7\n")

    def test_what_cannot_be_decompressed(self):
        self.digits()
        needs = "--decompress needs -o NAME@N, the shards that it writes"
        for words in ([], ["-o", "a.bin"], ["-o", "a.tfrecord", "--format", "tfrecord"]):
            self.check_wrong("cat", "--decompress", *words, "d.rmx", what=needs)
        compressed = "--decompress writes plain shards, but -o 'a@2.gz' names compressed ones"
        self.check_wrong("cat", "--decompress", "-o", "a@2.gz", "d.rmx", what=compressed)
        order = "--decompress writes all records in their order: leave out "
        for words, which in (
            (["--shuffle"], "the options of an order"),
            (["--from", "7"], "the options of an order"),
            (["--where", "label == 3"], "--where"),
        ):
            words = [*words, "--decompress", "-o", "a@2", "d.rmx"]
            self.check_wrong("cat", *words, what=order + which)

    def annotated(self):
        """Ten records of a letter. The columns are not in them. "time" is one of float64."""
        self.write("a.tfrecord", tfrecord([b"%c" % (97 + i) for i in range(10)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        lines = [
            {
                "number": i,
                "score": i / 4,
                "word": f"w{i % 3}",
                "rank": 9 - i,
                "time": i + 1e9 + 1e-5,
            }
            for i in range(10)
            if i != 7
        ]
        self.write("new.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
        columns = [f"--column={name}=new.jsonl" for name in ("score", "word", "rank", "time")]
        defaults = ["--default=score=-1", "--default=word=none", "--default=rank=-7"]
        defaults.append("--default=time=1e300")
        self.assertEqual(self.run_recmap("annotate", "a.rmx", *columns, *defaults).status, 0)

    def where(self, index, expression):
        return self.run_recmap("cat", index, "--where", expression, "--format", "raw").out

    def test_annotated_columns_are_carried_over(self):
        self.annotated()
        self.check(
            "cat",
            "a.rmx",
            "--shuffle",
            "-o",
            "out@3",
            err="recmap: out.rmx: 10 records in 3 shards\n",
        )
        self.assertEqual(self.info("out.rmx")["columns"], self.info("a.rmx")["columns"])
        texts = ["score > 1", "word == 'w1'", "rank == -7", "score == -1", "rank < 3"]
        for expression in [*texts, "time == 1000000003.00001", "time == 1e300"]:
            found = self.where("out.rmx", expression)
            self.assertTrue(found)
            self.assertEqual(sorted(found), sorted(self.where("a.rmx", expression)))

    def lifted_and_annotated(self):
        """Records with the feature "n", which is lifted; "score" is only in the index."""
        records = [example(id=f"id-{i}", n=i * i) for i in range(10)]
        self.write("a.tfrecord", tfrecord(records[:6] + [example(id="none")] + records[6:]))
        self.index("-o", "a.rmx", "--id", "id", "--lift", "n=-1", "a.tfrecord")
        rows = "".join(f"{i},{i / 4}\n" for i in range(11))
        self.write("s.csv", f"number,score\n{rows}".encode())
        self.assertEqual(self.run_recmap("annotate", "a.rmx", "--column=score=s.csv").status, 0)

    def where_records(self, index, expression):
        words = ["--where", expression, "--format", "tfrecord"]
        return parse_tfrecord(self.run_recmap("cat", index, *words).out)

    def check_only_annotated_is_kept(self, index, *shards):
        """A build is refused for the annotated column "score", and not for the lifted "n"."""
        result = self.run_recmap("index", "-o", index, "--id", "id", *shards)
        self.assertEqual(result.status, 2)
        self.assertIn(b'lose its annotated column "score"\n', result.err)
        self.assertEqual(self.run_recmap("annotate", index, "--drop", "score").status, 0)
        self.assertEqual(self.run_recmap("index", "-o", index, *shards).status, 0)

    def test_a_copy_marks_only_annotated_columns(self):
        self.lifted_and_annotated()
        commands = {
            "cat": ["--shuffle", "--seed=3"],
            "get": ["6", "1:4", "9"],
            "sample": ["5", "--seed=1"],
        }
        for name, words in commands.items():
            shard, index = f"{name}.tfrecord", f"{name}.rmx"
            command = self.run_recmap(name, "a.rmx", *words, "-o", shard)
            self.assertEqual(command.status, 0)
            columns = [self.info(path)["columns"] for path in ("a.rmx", index)]
            self.assertEqual(*columns)
            for expression in "n > 8", "n == -1", "score > 1", "score <= 1 and n <= 9":
                kept = set(self.records_of(shard)[0])
                found = self.where_records(index, expression)
                source = self.where_records("a.rmx", expression)
                self.assertTrue(source)
                self.assertEqual(sorted(found), sorted(kept.intersection(source)))
            self.check_only_annotated_is_kept(index, shard)

    def test_a_copy_of_lifted_columns_can_be_indexed_again(self):
        self.write("a.tfrecord", tfrecord([example(id=f"id-{i}", n=i) for i in range(10)]))
        self.index("-o", "a.rmx", "--id", "id", "--lift", "n", "a.tfrecord")
        self.assertEqual(self.run_recmap("sample", "a.rmx", "4", "-o", "s.tfrecord").status, 0)
        self.index("-o", "s.rmx", "s.tfrecord", lost="--id id --lift n")
        self.assertEqual([column["name"] for column in self.info("s.rmx")["columns"]], ["@length"])

    def test_one_output_file_keeps_the_columns(self):
        self.annotated()
        message = "recmap: b.rmx: 3 records in 1 shard\n"
        self.check("cat", "a.rmx", "--where", "rank > 6", "-o", "b.tfrecord", err=message)
        self.assertEqual(self.records_of("b.tfrecord"), [[b"a", b"b", b"c"]])
        self.assertEqual(self.where("b.rmx", "word == 'w2'"), b"c")
        self.check(
            "cat",
            "a.rmx",
            "-o",
            "b.tfrecord",
            status=2,
            err=(
                "recmap: b.tfrecord: exists already and has records\n"
                "  remove it, or name another file with -o\n"
            ),
        )
        os.remove(self.path("b.tfrecord"))
        self.check(
            "cat",
            "a.rmx",
            "-o",
            "b.tfrecord",
            status=2,
            err="recmap: b.rmx: exists already\n  remove it, or name another set with -o\n",
        )
        # With --format, only the file is written.
        self.check("cat", "a.rmx", "--count=1", "--format", "tfrecord", "-o", "b.tfrecord")
        self.assertEqual(self.records_of("b.tfrecord"), [[b"a"]])
        self.check("cat", "a.rmx", "--count=2", "--format", "raw", "-o", "raw.tfrecord")
        self.assertEqual(self.read("raw.tfrecord"), b"ab")
        self.assertNotIn("raw.rmx", self.files())

    def test_get_writes_sets(self):
        self.annotated()
        names = [["7", "2:4"], ["2"], ["9", "0"], ["5:5"]]
        expected = [[b"h", b"c", b"d"], [b"c"], [b"j", b"a"], []]
        for i, (words, records) in enumerate(zip(names, expected)):
            noun = "record" if len(records) == 1 else "records"
            message = f"recmap: g{i}.rmx: {len(records)} {noun} in 1 shard\n"
            self.check("get", "a.rmx", *words, "-o", f"g{i}.tfrecord", err=message)
            self.assertEqual(self.records_of(f"g{i}.tfrecord"), [records])
        self.assertEqual(self.where("g0.rmx", "rank == -7"), b"h")
        self.check(
            "get", "a.rmx", "8", "1", "-o", "set@2", err="recmap: set.rmx: 2 records in 2 shards\n"
        )
        self.assertEqual(self.records_of(*names_of(2, stem="set")), [[b"i"], [b"b"]])
        self.check_wrong(
            "get",
            "a.rmx",
            "1",
            "-o",
            "out@2",
            "--format=json",
            what="-o NAME@N writes TFRecord files: use --format tfrecord, or none",
        )

    def test_sample_writes_sets(self):
        self.annotated()
        self.run_recmap("sample", "a.rmx", "4", "--seed=1", "-o", "s.rmv")
        expected = self.run_recmap("cat", "s.rmv").out
        self.check(
            "sample",
            "a.rmx",
            "4",
            "--seed=1",
            "-o",
            "s@2.tfrecord",
            err="recmap: s.rmx: 4 records in 2 shards\n",
        )
        self.check("cat", "s.rmx", out=expected)
        self.check_wrong(
            "sample",
            "a.rmx",
            "1",
            "-o",
            "out@2",
            "--format=raw",
            what="-o NAME@N writes TFRecord files: use --format tfrecord, or none",
        )

    def test_parts_of_an_epoch(self):
        payloads = [b"%d" % i for i in range(10)]
        self.write("a.tfrecord", tfrecord(payloads))
        self.index("-o", "a.rmx", "a.tfrecord")
        words = ["--from", "2", "--count", "5", "-o", "out@3", "--format", "tfrecord"]
        self.check("cat", "a.rmx", *words, err="recmap: out.rmx: 5 records in 3 shards\n")
        self.assertEqual(self.records_of(*names_of(3)), [[b"2", b"3"], [b"4", b"5"], [b"6"]])

    def test_more_shards_than_records(self):
        self.write("a.tfrecord", tfrecord([b"x", b"y"]))
        self.index("-o", "a.rmx", "a.tfrecord")
        self.check("cat", "a.rmx", "-o", "out@4", err="recmap: out.rmx: 2 records in 4 shards\n")
        self.assertEqual(self.records_of(*names_of(4)), [[b"x"], [b"y"], [], []])
        self.check("cat", "out.rmx", out=b"xy")
        self.check(
            "cat",
            "a.rmx",
            "--count=0",
            "-o",
            "none@2",
            err="recmap: none.rmx: 0 records in 2 shards\n",
        )

    def test_nothing_is_replaced(self):
        self.write("a.tfrecord", tfrecord([b"x", b"y"]))
        self.index("-o", "a.rmx", "a.tfrecord")
        for name in "out.rmx", "out-00001-of-00002":
            self.write(name, b"old")
            before = self.files()
            self.check(
                "cat",
                "a.rmx",
                "-o",
                "out@2",
                status=2,
                err=f"recmap: {name}: exists already\n  remove it, or name another set with -o\n",
            )
            self.assertEqual(self.files(), before)
            os.remove(self.path(name))

    def test_only_tfrecord_files(self):
        for form in "raw", "json", "number":
            self.check_wrong(
                "cat",
                "a.rmx",
                "-o",
                "out@2",
                "--format",
                form,
                what="-o NAME@N writes TFRecord files: use --format tfrecord, or none",
            )

    def test_errors_leave_no_files(self):
        self.write("a.tfrecord", tfrecord([b"%d" % i for i in range(100)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        with open(self.path("a.tfrecord"), "r+b") as file:
            file.seek(-5, os.SEEK_END)
            file.write(b"#")
        before = self.files()
        self.assertEqual(self.run_recmap("cat", "a.rmx", "-o", "out@5").status, 3)
        self.assertEqual(self.files(), before)
        self.assertNotEqual(self.run_recmap("cat", "a.rmx", "-o", "missing/out@5").status, 0)

    def test_a_signal_leaves_no_files(self):
        self.write("a.tfrecord", tfrecord([b"%d" % i for i in range(200_000)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        process = subprocess.Popen(
            [COMMAND, "cat", "a.rmx", "--shuffle", "-o", "out@1000"],
            cwd=self.folder,
            preexec_fn=signals_as_usual,
            stderr=subprocess.PIPE,
        )
        while len(self.files()) < 10 and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        process.communicate()
        if "out.rmx" not in self.files():  # else it was too fast
            self.assertEqual(self.files(), ["a.rmx", "a.tfrecord"])
            self.assertEqual(process.returncode, -signal.SIGINT)

    def test_compressed_sets_are_written(self):
        self.digits()
        order = ["--shuffle", "--seed", "7"]
        due = self.run_recmap("cat", "d.rmx", *order).out
        for name, module in (
            ("a@4.gz", gzip),
            ("b@2.tfrecord.gz", gzip),
            ("c@3.zlib", zlib),
            ("e@2.Gz", gzip),
        ):
            self.assertEqual(self.run_recmap("cat", "d.rmx", *order, "-o", name).status, 0)
            stem, count, end = re.fullmatch(r"(.)@(.)(.*)", name).groups()
            shards = [self.read(shard) for shard in names_of(int(count), stem, end)]
            records = [parse_tfrecord(module.decompress(shard)) for shard in shards]
            self.assertEqual(b"".join(sum(records, [])), due)
            self.check("cat", f"{stem}.rmx", out=due)
            self.assertEqual(self.run_recmap("verify", f"{stem}.rmx").status, 0)

    def test_one_compressed_file(self):
        self.annotated()
        for stem, end in ("b", ".tfrecord.gz"), ("c", ".TFRecord.GZ"):
            message = f"recmap: {stem}.rmx: 2 records in 1 shard\n"
            self.check("cat", "a.rmx", "--where", "rank > 7", "-o", stem + end, err=message)
            packed = self.read(stem + end)
            self.assertEqual(parse_tfrecord(gzip.decompress(packed)), [b"a", b"b"])
            self.check("cat", f"{stem}.rmx", "--where", "rank == 8", "--format", "raw", out=b"b")

    def test_a_name_that_says_compressed(self):
        self.annotated()
        advice = (
            "  `recmap cat` without --format writes compressed TFRecord files to NAME.tfrecord.gz "
            "or NAME@N.gz; otherwise pipe the output into a compressor\n"
        )
        for name, form in ("x.gz", None), ("x.tfrecord.gz", "tfrecord"), ("x.ZST", "json"):
            end = name[name.rindex(".") :]
            self.check(
                "cat",
                "a.rmx",
                "-o",
                name,
                *([] if form is None else ["--format", form]),
                status=2,
                err=f"recmap: {name}: the name ends in {end}, but the file would not be "
                f"compressed\n{advice}",
            )
        refused = self.run_recmap("cat", "a.rmx", "-o", "x@2.bz2")
        self.assertEqual(refused.status, 2)
        self.assertIn(b"x-00000-of-00002.bz2: the name ends in .bz2, but", refused.err)
        self.assertEqual(self.files(), ["a.rmx", "a.tfrecord", "new.jsonl"])
        self.check("cat", "a.rmx", "--count=1", "--format", "raw", "-o", "x.gz")  # may be GZIP
        self.assertEqual(self.read("x.gz"), b"a")

    def test_a_name_that_is_not_a_set(self):
        self.write("a.tfrecord", tfrecord([b"x"]))
        self.index("-o", "a.rmx", "a.tfrecord")
        for name in "out@", "@2", "out@02", "out@x", "out@0x", "a@2/out":
            os.makedirs(self.path("a@2"), exist_ok=True)
            self.check("cat", "a.rmx", "-o", name)
            self.assertEqual(self.read(name), b"x")

    def test_numbers_of_shards(self):
        self.write("a.tfrecord", tfrecord([b"x"]))
        self.index("-o", "a.rmx", "a.tfrecord")
        for name in "out@0", "out@00", "out@0.tfrecord", "out@1000001", "out@99999999999.gz":
            for command in (["cat", "a.rmx"], ["sample", "a.rmx", "1"], ["get", "a.rmx", "0"]):
                what = f"invalid -o '{name}': -o NAME@N writes N files, from 1 to 1000000"
                self.check_wrong(*command, "-o", name, what=what)
        self.assertEqual(self.files(), ["a.rmx", "a.tfrecord"])


if __name__ == "__main__":
    unittest.main()
