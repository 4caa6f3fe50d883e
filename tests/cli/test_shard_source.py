"""Commands that are given shards instead of an index: they open, extend or build it."""

import os
import shutil
import signal
import subprocess
import unittest

from store import start_store
from support import COMMAND, DIGITS, EXAMPLES, CliTest, make_payloads, tfrecord

NAMES = [f"digits-{i:05}-of-00004.tfrecord" for i in range(4)]
INDEXED = "recmap: {}: indexed {} records\n"


class ShardSources(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("d"))
        for name in NAMES:
            shutil.copy(os.path.join(DIGITS, name), self.path("d"))

    def numbers(self, source, *words, err=""):
        """The numbers of the last record and of how many there are."""
        result = self.run_recmap("cat", source, "--format", "number", *words)
        self.assertEqual((result.status, result.err.decode()), (0, err))
        return len(result.out.splitlines())

    def test_shards_are_named_in_all_forms(self):
        for source in ("d", "d/", "d/*.tfrecord", "d/digits@4.tfrecord", "@list"):
            self.write("list", "".join(f"d/{name}\n" for name in NAMES).encode())
            with self.subTest(source):
                err = INDEXED.format("d/digits.rmx", 1797)
                self.assertEqual(self.numbers(source, err=err), 1797)
                self.assertEqual(self.numbers(source), 1797)  # the index is used
                os.remove(self.path("d/digits.rmx"))
        one = f"d/{NAMES[0]}"
        index = one.replace(".tfrecord", ".rmx")
        self.assertEqual(self.numbers(one, err=INDEXED.format(index, 449)), 449)
        self.assertEqual(self.numbers(one), 449)

    def test_the_index_is_that_of_the_command_index(self):
        self.run_recmap("schema", "d")
        built = self.read("d/digits.rmx")
        self.index("-o", "d/other.rmx", "d")
        self.assertEqual(built, self.read("d/other.rmx"))

    def test_an_index_with_ids_and_columns_is_used(self):
        self.index("--id", "id", "--lift", "label", "d")
        self.check("find", "d", "digit-00042", out="digit-00042\t42\n")
        self.assertLess(self.numbers("d", "--where", "label == 3"), 1797)

    def test_commands_take_shards_for_an_index(self):
        index = "d/digits.rmx"
        for words in (
            ["schema"],
            ["schema", "--sample", "0"],
            ["info"],
            ["get", "1796"],
            ["cat", "--count", "3"],
            ["verify"],
            ["order", "--shuffle", "--count", "3"],
            ["report", "-o", "r.html"],
            ["select", "--where", "length > 3", "-o", "s.rmv"],
            ["duplicates"],
            ["sample", "3", "--format", "number"],
            ["export", "--to", "idx", "-o", "idx"],
            ["split", "-o", "parts", "a=0.5", "b=0.5"],
        ):
            with self.subTest(words):
                shutil.rmtree(self.path("parts"), ignore_errors=True)
                for name in ("r.html", "s.rmv"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
                result = self.run_recmap(words[0], "d", *words[1:])
                self.assertEqual(result.status, 0, result)
                self.assertIn(INDEXED.format(index, 1797), result.err.decode())
                os.remove(self.path(index))

    def test_a_shard_that_grew_is_appended(self):
        self.write("d/a.tfrecord", tfrecord(EXAMPLES))
        self.index("--id", "id", "-o", "d/a.rmx", "d/a.tfrecord")
        with open(self.path("d/a.tfrecord"), "ab") as file:
            file.write(tfrecord(EXAMPLES[:2]))
        count = len(EXAMPLES) + 2
        err = INDEXED.format("d/a.rmx", count)
        self.assertEqual(self.numbers("d/a.tfrecord", err=err), count)
        self.assertEqual(self.numbers("d/a.tfrecord"), count)
        self.assertIn(b"ids          id", self.run_recmap("info", "d/a.rmx").out)

    def test_new_shards_are_appended(self):
        for i in range(2):
            self.write(f"d/x/part-{i}", tfrecord([b"a", b"b"]))
        self.assertEqual(self.numbers("d/x", err=INDEXED.format("d/x/part.rmx", 4)), 4)
        self.write("d/x/part-2", tfrecord([b"c"]))
        self.assertEqual(self.numbers("d/x", err=INDEXED.format("d/x/part.rmx", 5)), 5)

    def set_time(self, name, time):
        os.utime(self.path(name), (time, time))

    def test_new_shards_that_change_the_default_name(self):
        """All commands extend the index of the earlier shards."""
        self.write("o/2024-01-02", tfrecord(EXAMPLES))
        self.index("--id", "id", "o")
        self.set_time("o/2024-01-02.rmx", 100)
        self.write("o/2024-01-01", tfrecord(EXAMPLES[:1]))
        index, count = "o/2024-01-02.rmx", len(EXAMPLES) + 1
        note = (
            f"recmap: {index}: the records of o/2024-01-01 follow those of all other shards, "
            "because the index had shards after it\n"
        )
        self.assertEqual(self.numbers("o", err=INDEXED.format(index, count) + note), count)
        self.assertIn(b"ids          id", self.run_recmap("info", "o").out)
        self.write("o/x", tfrecord(EXAMPLES[:1]))
        self.assertEqual(self.run_recmap("index", "--append", "o").status, 0)
        self.assertEqual(self.numbers("o"), count + 1)
        self.assertEqual(self.run_recmap("index", "--id", "id", "o").status, 0)
        self.assertEqual(
            sorted(os.listdir(self.path("o")))[-3:], ["2024-01-02", "2024-01-02.rmx", "x"]
        )

    def test_an_index_of_one_named_shard_is_not_that_of_the_folder(self):
        for name in "bm":
            self.write(f"o/{name}", tfrecord([name.encode()]))
        self.assertEqual(self.numbers("o/m", err="recmap: o/m.rmx: indexed 1 record\n"), 1)
        before = self.read("o/m.rmx")
        err = (
            "recmap: o/m.rmx: is the index of 1 of these 2 shards and is not used, because not all "
            "others are newer than the index: o/o.rmx numbers the records anew and has its ids "
            "and columns only if they are named again\n  to use it and add what it lacks, "
            "`recmap index --append -o o/m.rmx SHARDS`\n"
        )
        self.assertEqual(self.numbers("o", err=err + INDEXED.format("o/o.rmx", 2)), 2)
        self.assertEqual(self.numbers("o"), 2)
        self.assertEqual((self.read("o/m.rmx"), self.numbers("o/m")), (before, 1))

    def test_some_shards_grow_and_others_follow(self):
        """A shard that grew is several entries of the index, which follow those of other shards."""
        shards = [[b"a"], [b"b"], [b"c"]]
        for i in range(3):
            self.write(f"x/part-{i}", tfrecord(shards[i]))
        self.numbers("x", err=INDEXED.format("x/part.rmx", 3))
        order = [b"a", b"b", b"c"]
        for grown in ([0], [1, 2], [0, 2], [3, 1]):
            for i in sorted(grown):
                new = [b"%d" % len(order)]
                if i == len(shards):
                    shards.append([])
                shards[i] += new
                order += new
                self.write(f"x/part-{i}", tfrecord(shards[i]))
            err = INDEXED.format("x/part.rmx", len(order))
            self.check("cat", "x", out=b"".join(order), err=err)
            self.check("cat", "x", out=b"".join(order))

    def test_a_shard_in_the_middle(self):
        """Its records follow all others. A list is an order that its author chose."""
        for name in "ac":
            self.write(f"x/{name}", tfrecord([name.encode()]))
        self.numbers("x", err=INDEXED.format("x/x.rmx", 2))
        self.write("x/b", tfrecord([b"b"]))
        self.write("list", b"x/a\nx/b\nx/c\n")
        shutil.copy(self.path("x/x.rmx"), self.path("x/old.rmx"))
        refused = self.run_recmap("cat", "@list")
        self.assertEqual(refused.status, 3)
        self.assertIn(b"another order than the index, of which the next shard is", refused.err)
        self.assertIn(b"list new shards last", refused.err)
        note = (
            "recmap: x/x.rmx: the records of x/b follow those of all other shards, because the "
            "index had shards after it\n"
        )
        self.check("cat", "x", out=b"acb", err=INDEXED.format("x/x.rmx", 3) + note)
        self.check("cat", "x", out=b"acb")
        os.replace(self.path("x/old.rmx"), self.path("x/x.rmx"))
        self.write("list", b"x/a\nx/c\nx/b\n")
        self.check("cat", "@list", out=b"acb", err=INDEXED.format("x/x.rmx", 3))

    def test_several_names_of_one_file(self):
        """Each is a shard, whichever the index has."""
        for link, folder in ((os.link, "hard"), (os.symlink, "soft")):
            for name in "ac":
                self.write(f"blobs/{name}", tfrecord([name.encode()]))
            os.mkdir(self.path(folder))
            for name in "abc":
                link(self.path(f"blobs/{name.replace('b', 'c')}"), self.path(f"{folder}/{name}"))
            path = f"{folder}/{folder}.rmx"
            self.index("-o", path, f"{folder}/a", f"{folder}/c")
            warning = (
                f"recmap: {self.folder}/{folder}/c: is the same file as {self.folder}/{folder}/b, "
                "so its records occur twice\n  if that is not meant, remove one of the two names "
                "and build the index again\n"
            )
            note = (
                f"recmap: {path}: the records of {folder}/b follow those of all other shards, "
                "because the index had shards after it\n"
            )
            err = warning + INDEXED.format(path, 3) + note
            self.check("cat", folder, out=b"acc", err=err)
            self.check("cat", folder, out=b"acc")
            listed = self.run_recmap("info", "--shards", path).out.decode()
            self.assertRegex(listed, r"(?s)\ba\b.*\bc\b.*\bb\b")

    def test_an_index_that_names_what_links_lead_to(self):
        for name in "abc":
            self.write(f"blobs/{name}", tfrecord([name.encode()]))
        os.mkdir(self.path("x"))
        for name in "abc":
            os.symlink(f"../blobs/{name}", self.path(f"x/{name}"))
        self.index("-o", "x/x.rmx", "blobs/a", "blobs/c")
        self.assertEqual(self.run_recmap("cat", "x").out, b"acb")
        with open(self.path("blobs/a"), "ab") as file:
            file.write(tfrecord([b"A"]))
        self.check("cat", "x", out=b"acbA", err=INDEXED.format("x/x.rmx", 4))
        os.remove(self.path("x/b"))
        self.index("-o", "x/x.rmx", "blobs/a", "x/c")
        os.symlink("../blobs/c", self.path("x/b"))
        self.assertEqual(self.run_recmap("cat", "x").out, b"aAcc")
        self.check("cat", "x", out=b"aAcc")

    def test_a_shard_that_is_listed_twice(self):
        self.write("x/a", tfrecord([b"a"]))
        self.write("list", b"x/a\n")
        self.run_recmap("info", "@list")
        for other in ("x/a", "x/./a"):
            self.write("list", f"x/a\n{other}\n".encode())
            shutil.copy(self.path("x/a.rmx"), self.path("x/x.rmx"))
            result = self.run_recmap("cat", "@list")
            self.assertEqual(result.status, 2, result.err)
            self.assertIn(b"the shard is named twice", result.err)

    def test_a_rewritten_shard_beside_a_new_one(self):
        """The index would be newer than the rewritten shard."""
        for name in "ac":
            self.write(f"x/{name}", tfrecord([name.encode()]))
        self.numbers("x", err=INDEXED.format("x/x.rmx", 2))
        before = self.read("x/x.rmx")
        self.write("x/c", tfrecord([b"d"]))
        self.write("x/b", tfrecord([b"b"]))
        result = self.run_recmap("cat", "x")
        self.assertEqual((result.out, result.status), (b"", 3))
        self.assertIn(b"x/c: record 1 at byte 0: the shard changed since it was", result.err)
        self.assertEqual(self.read("x/x.rmx"), before)

    def test_a_missing_shard(self):
        self.numbers("d", err=INDEXED.format("d/digits.rmx", 1797))
        shutil.move(self.path(f"d/{NAMES[1]}"), self.path("elsewhere"))
        self.check(
            *("cat", "d"),
            status=3,
            err=(
                "recmap: d/digits.rmx: the index has 4 shards, but only 3 were given; the first "
                f"that is missing is d/{NAMES[1]}\n"
                "  restore it, or name it too. To continue without its records, build another "
                "index with `recmap index -o NAME.rmx`, and name that\n"
            ),
        )

    def test_an_empty_shard_is_not_appended_again(self):
        self.write("x/a", b"")
        self.write("x/b", tfrecord([b"b", b"c"]))
        self.assertEqual(self.numbers("x", err=INDEXED.format("x/x.rmx", 2)), 2)
        self.assertEqual(self.numbers("x"), 2)

    def test_the_framing_of_an_index_is_kept(self):
        self.write("x/part-0", b"a\nb\n")
        self.write("x/part-1", b"c\n")
        self.index("--framing", "lines", "x")
        self.write("x/part-2", b"d\n")
        self.check("cat", "x", out=b"abcd", err=INDEXED.format("x/part.rmx", 4))

    def test_a_custom_framing(self):
        payloads = make_payloads(3, 20)
        self.write("x/a", b"".join(len(p).to_bytes(4, "big") + p for p in payloads))
        words = ["cat", "x", "--framing", os.environ["RECMAP_PLUGIN"]]
        self.check(*words, out=b"".join(payloads), err=INDEXED.format("x/a.rmx", 20))

    def test_urls_name_shards(self):
        """Also presigned ones. The index is in the current folder, and has no secrets."""
        shutil.move(self.path("d"), self.path("served/train"))
        server = start_store(self)
        urls = [f"{server.url}/train/{name}" for name in NAMES]
        result = self.run_recmap("info", urls[0])
        if b"reads local files only" in result.err:
            self.skipTest("this build has no support for URLs")
        index = NAMES[0].replace(".tfrecord", ".rmx")
        self.assertEqual((result.status, result.err.decode()), (0, INDEXED.format(index, 449)))
        self.assertEqual(self.numbers(urls[0]), 449)
        self.assertEqual(self.run_recmap("index", "--append", "-o", index, *urls[:2]).status, 0)
        before = self.read(index)
        self.assertEqual(self.run_recmap("index", "--append", "-o", index, *urls[:2]).status, 0)
        self.assertEqual(self.read(index), before)
        shutil.copy(self.path(f"served/train/{NAMES[1]}"), self.path("kept"))
        for other in NAMES[2], NAMES[3]:
            shutil.copy(self.path(f"served/train/{other}"), self.path(f"served/train/{NAMES[1]}"))
            changed = self.run_recmap("index", "--append", "-o", index, *urls[:2])
            self.assertEqual(changed.status, 3)
            self.assertIn(b"it is another version of the object", changed.err)
        self.assertEqual(self.read(index), before)
        shutil.move(self.path("kept"), self.path(f"served/train/{NAMES[1]}"))
        os.remove(self.path(index))
        server.signature = "X-Amz-Signature=HIDDEN"
        self.write("list", "".join(f"{url}?{server.signature}\n" for url in urls).encode())
        due = self.run_recmap("get", "served/train", "1790").out
        self.check("get", "@list", "1790", out=due, err=INDEXED.format("digits.rmx", 1797))
        self.check("get", "@list", "1790", out=due)
        self.assertNotIn(b"HIDDEN", self.read("digits.rmx"))

    def test_several_sets_are_refused(self):
        """The advice names no option that the command lacks."""
        for name in ("train", "test"):
            shutil.copy(self.path(f"d/{NAMES[0]}"), self.path(f"d/{name}-0.tfrecord"))
        self.check(
            "info",
            "d",
            status=2,
            err=(
                "recmap: d: the folder has 3 sets of shards: digits@4.tfrecord (4 shards), "
                "test-0.tfrecord (1 shard), train-0.tfrecord (1 shard)\n"
                "  name the shards of one; or choose them by `recmap index` with --split or --sets "
                "and -o NAME.rmx, and name that index\n"
            ),
        )

    def test_missing_shards_are_reported(self):
        os.remove(self.path(f"d/{NAMES[1]}"))
        result = self.run_recmap("info", "d")
        self.assertRegex(
            result.err.decode(),
            rf"indexed 1348 records\nrecmap: d/digits.rmx: the shard {NAMES[1]} is missing; ",
        )
        self.numbers(f"d/{NAMES[0]}", err=INDEXED.format(f"d/{NAMES[0][:-9]}.rmx", 449))

    def test_text_indexes_are_exported_for_shards(self):
        self.run_recmap("export", "--to", "idx", "d")
        self.assertEqual(len(self.read(f"d/{NAMES[3]}.idx").splitlines()), 450)
        self.check("info", "d", out=self.run_recmap("info", "d/digits.rmx").out)  # no shards
        self.check(
            "select",
            "d",
            "--where",
            "length > 3",
            "-o",
            "v.rmv",
            err="recmap: v.rmv: 1797 of 1797 records\n",
        )
        self.assertEqual(self.run_recmap("export", "--to", "idx", "v.rmv").status, 2)

    def test_what_changes_an_index_needs_it(self):
        for name in (f"d/{NAMES[0]}", "d", "d/*"):
            result = self.run_recmap("annotate", name, "--drop", "x")
            self.assertIn(result.status, (3, 4))
        self.assertEqual(sorted(os.listdir(self.path("d"))), NAMES)

    def test_processes_that_append_at_once(self):
        shutil.move(self.path(f"d/{NAMES[3]}"), self.path("later"))
        self.run_recmap("info", "d")
        shutil.move(self.path("later"), self.path(f"d/{NAMES[3]}"))
        words = [COMMAND, "get", "d", "1796", "--format", "number"]
        running = [
            subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(8)
        ]
        for process in running:
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, out), (0, b"1796\n"), err)

    def test_a_signal_after_indexing(self):
        """It ends the command, whose output nobody reads."""
        for i in range(1000):
            self.write(f"x/{'x' * 200}-{i}", tfrecord([b"a"]))
        words = [COMMAND, "info", "--shards", "x"]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, cwd=self.folder, stdout=pipe, stderr=pipe) as process:
            self.assertIn(b"indexed 1000 records", process.stderr.readline())
            self.assertTrue(process.stdout.read(1))
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=120), -signal.SIGINT)

    def test_other_shards_are_refused(self):
        shutil.copy(self.path(f"d/{NAMES[0]}"), self.path("other"))
        self.index("-o", "d/digits.rmx", "other")
        result = self.run_recmap("info", "d")
        self.assertEqual((result.out, result.status), (b"", 3))
        self.assertRegex(
            result.err.decode(), r"^recmap: d/digits\.rmx: the index is of other shards"
        )
        self.assertIn("other", result.err.decode())
        self.index("-o", "d/digits.rmx", "d")
        os.remove(self.path(f"d/{NAMES[3]}"))
        self.assertEqual(self.run_recmap("info", "d/*.tfrecord").status, 3)

    def test_what_cannot_be_indexed(self):
        self.write("text", b"hello\n" * 1000)
        os.mkdir(self.path("none"))
        for source, status, what in (
            ("text", 3, "is not a TFRecord file"),
            ("none", 2, "none: "),
            ("x*", 2, "no file matches"),
            ("missing", 4, "missing: cannot open the file"),
            ("x@2", 2, "x"),
        ):
            result = self.run_recmap("schema", source)
            self.assertEqual((result.out, result.status), (b"", status), source)
            self.assertIn(what, result.err.decode())
        self.assertEqual([name for name in self.files() if name.endswith(".rmx")], [])
        self.check_wrong(
            "cat", "d", "--shards", "x", what="--shards is for an index (NAME.rmx), not for shards"
        )

    def test_an_index_with_another_name_stays_an_index(self):
        self.index("-o", "index", "d")
        self.assertEqual(self.numbers("index"), 1797)


if __name__ == "__main__":
    unittest.main()
