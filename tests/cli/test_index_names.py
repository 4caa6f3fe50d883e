"""recmap index: arguments, and the default path of the index."""

import gzip
import json
import os
import shutil
import unittest

from support import (
    EXAMPLES,
    CliTest,
    example,
    no_records,
    tfrecord,
)

CHECK_PATH = "  check the path; relative paths start at the current folder\n"


def shard(*payloads):
    return tfrecord([p.encode() for p in payloads])


class Naming(CliTest):
    def test_read_only_folder(self):
        """In /sys not even root may create files."""
        self.write("a", tfrecord(EXAMPLES))
        result = self.run_recmap("index", "-o", "/sys/a.rmx", "a")
        self.assertEqual((result.out, result.status), (b"", 4))
        self.assertRegex(
            result.err.decode(),
            r"^recmap: /sys/a\.rmx: cannot create a file in this folder: [^\n]*\n"
            r"  write to another folder \(-o NAME\.rmx\)\n$",
        )

    def test_the_default_name(self):
        for name, files in {
            "a.rmx": ["a.tfrecord"],
            "b.gz.rmx": ["b.tfrecord.gz"],
            ".c.x.rmx": [".c.x"],
            "v1.0.rmx": ["v1.0.tfrecord"],
            "fold2.rmx": ["fold2-00000-of-00002.tfrecord", "fold2-00001-of-00002.tfrecord"],
            "train.rmx": [f"train-{i:05}-of-00003.tfrecord" for i in range(3)],
            "d/e.rmx": ["d/e_1", "d/e_2"],
            "f/f.rmx": ["f/1", "f/2"],
        }.items():
            for file in files:
                self.write(file, shard(file))
            what = self.index(*files)
            self.assertEqual(what.split(": ")[0], name)
            self.assertEqual(self.payloads(name), [file.encode() for file in files])

    def test_a_glob_is_in_natural_order(self):
        for i in (10, 9, 1):
            self.write(f"part-{i}", shard(str(i)))
        self.index("part-*")
        self.assertEqual(self.payloads("part.rmx"), [b"1", b"9", b"10"])
        # The index now also matches the pattern.
        self.index("part*")
        self.assertEqual(self.payloads("part.rmx"), [b"1", b"9", b"10"])

    def test_a_recursive_glob_searches_subfolders(self):
        for name in ("d/a/10", "d/a/b/1", "d/a/9", "d/0"):
            self.write(f"{name}.tfrecord", shard(name))
        self.index("d/**/*.tfrecord", "-o", "d.rmx")
        self.assertEqual(self.payloads("d.rmx"), [b"d/0", b"d/a/9", b"d/a/10", b"d/a/b/1"])

    def test_a_folder_has_companions(self):
        for name in ("2", "10", "x.tfrecord"):
            self.write(f"d/{name}", shard(name))
        for name in (
            ".hidden",
            "_SUCCESS",
            "a.json",
            "a.idx",
            "a.crc",
            "b.rmx",
            "b.rmx.tmp-1",
            "b.rmx.lock",
            "b.rmv",
            "b.rmv.tmp-1",
            "c.tmp",
            "c~",
        ):
            self.write(f"d/{name}", b"no shard")
        self.write("d/inner/y", b"no shard")
        os.mkfifo(self.path("d/fifo"))
        self.index(
            "d",
            "-o",
            "d.rmx",
            err="recmap: skipped 7 files that are not shards: "
            "d/.hidden, d/_SUCCESS, d/a.crc, ...\n",
        )
        self.assertEqual(self.payloads("d.rmx"), [b"2", b"10", b"x.tfrecord"])
        self.write("e/a", shard("a"))
        self.write("e/_SUCCESS", b"")
        self.index(
            "e", "-o", "e.rmx", err="recmap: skipped 1 file that is not a shard: e/_SUCCESS\n"
        )
        self.write("e/a", shard("a") + b"?")
        result = self.run_recmap("index", "e", "-o", "f.rmx")
        self.assertIn(" 1 trailing byte, too few for ", result.err.decode())
        self.write("e/a", shard("a")[:13])
        result = self.run_recmap("index", "e", "-o", "f.rmx")
        self.assertIn(": 1 byte follows its header, not 1 + 4", result.err.decode())
        result = self.run_recmap("index", "nothing@1", "-o", "f.rmx")
        self.assertIn("nothing@1 means the only shard of a set", result.err.decode())

    def test_what_spark_wrote(self):
        for i in range(12):
            self.write(f"out/part-r-{i:05}.tfrecord.gz", gzip.compress(shard(str(i))))
        self.write("out/_SUCCESS", b"")
        self.write("out/.part-r-00000.tfrecord.gz.crc", b"crc")
        os.mkdir(self.path("out/_temporary"))
        self.index(
            "out",
            "-o",
            "out.rmx",
            err="recmap: skipped 2 files that are not shards: "
            "out/.part-r-00000.tfrecord.gz.crc, out/_SUCCESS\n",
        )
        self.assertEqual(self.payloads("out.rmx"), [b"%d" % i for i in range(12)])

    def test_shards_that_are_missing(self):
        """Their names say how many there are. A part of a download may have failed, for example."""
        for i in (1, 3):
            self.write(f"d/train-{i:05}-of-00005.gz", gzip.compress(shard(str(i))))
        note = "recmap: d/a.rmx: 3 shards are missing, the first is train-00000-of-00005.gz; "
        note += "restore them and index again\n"
        self.index("d", "-o", "d/a.rmx", err=note)
        self.write("d/train-00000-of-00005.gz", gzip.compress(shard("0")))
        self.write("d/train-00002-of-00005.gz", gzip.compress(shard("2")))
        note = (
            "recmap: {}: the shard train-0000{}-of-00005.gz is missing; restore it and index "
            "again\n"
        )
        self.index("--append", "-o", "d/a.rmx", "d/*-0000[02]-*", err=note.format("d/a.rmx", 4))
        self.write("d/train-00004-of-00005.gz", gzip.compress(shard("4")))
        self.index("d/train-00004-of-00005.gz", "-o", "d/b.rmx")  # one that is named itself
        note_of_four = "recmap: d/b.rmx: 4 shards are missing, the first is "
        note_of_four += "train-00000-of-00005.gz; restore them and index again\n"
        self.index("d/*-0000[4]-*", "-o", "d/b.rmx", err=note_of_four)
        self.index("d/*-00004-*", "-o", "d/b.rmx")  # by its number
        summary = "recmap: d/c.rmx: 5 records in 5 shards\n"
        self.check("merge", "d/b.rmx", "d/a.rmx", "-o", "d/c.rmx", err=summary)
        os.remove(self.path("d/train-00001-of-00005.gz"))
        self.index("d", "-o", "d/a.rmx", err=note.format("d/a.rmx", 1))
        self.check(
            "merge",
            "d/a.rmx",
            "-o",
            "d/c.rmx",
            err=summary.replace("5", "4") + note.format("d/c.rmx", 1),
        )

    def test_a_set_of_shards(self):
        for i in range(64):
            self.write(f"train-{i:05}-of-00064", shard(str(i)))
        for i in range(3):
            self.write(f"d@2/data_tfrecord-{i:05}-of-00003.gz", gzip.compress(shard(str(i))))
        self.assertEqual(self.index("train@64").split(": ")[0], "train.rmx")
        self.assertEqual(self.payloads("train.rmx"), [b"%d" % i for i in range(64)])
        self.index("-o", "d.rmx", "d@2/data_tfrecord@3.gz")
        self.assertEqual(self.payloads("d.rmx"), [b"0", b"1", b"2"])
        self.write("list", b"train@64\n")
        self.index("-o", "l.rmx", "@list")
        self.assertEqual(self.read("l.rmx"), self.read("train.rmx"))
        os.remove(self.path("train-00009-of-00064"))
        for name, missing, last in (
            ("train@64", "train-00009-of-00064", "train-00063-of-00064"),
            ("no@2", "no-00000-of-00002", "no-00001-of-00002"),
            (
                "d@2/data_tfrecord@3",
                "d@2/data_tfrecord-00000-of-00003",
                "d@2/data_tfrecord-00002-of-00003",
            ),
        ):
            count = name.rpartition("@")[2]
            self.check(
                "index",
                name,
                status=2,
                err=f"recmap: {missing}: there is no such file\n  {name} means all "
                f"{count} shards of a set, up to {last}; write what follows in their names after "
                f"the number, such as {name}.tfrecord\n",
            )
        self.check(
            "index",
            "no@2.tfrecord",
            status=2,
            err="recmap: no-00000-of-00002.tfrecord: there is no such file\n  no@2.tfrecord means "
            "all 2 shards of a set, up to no-00001-of-00002.tfrecord; restore the file, or correct "
            "the number\n",
        )
        number = (
            "  NAME@N means all shards of a set, with N from 1 to 1000000 without leading "
            "zeros; otherwise" + CHECK_PATH[1:]
        )
        form = CHECK_PATH.replace(";", ", or name all N shards of a set as NAME@N;")
        for name, advice in {
            "train@0": number,
            "train@00": number,
            "train@064": number,
            "train@1000001": number,
            "train@99999999999": number,
            "train@0.gz": number,
            "train@": form,
            "train@x": form,
            "train@64/x": CHECK_PATH,
            "a/@2": CHECK_PATH,
        }.items():
            self.check(
                "index",
                name,
                status=2,
                err=f"recmap: {name}: there is no such file or folder\n{advice}",
            )

    def test_a_list_file(self):
        for name in ("d/b", "d/a", "d/c-2", "d/c-10", "e"):
            self.write(name, shard(name))
        self.write("d/list", b"# shards\r\n\n \t\nb\na\r\nc-*\n" + self.path("e").encode())
        self.index("-o", "l.rmx", "@d/list")
        self.assertEqual(self.payloads("l.rmx"), [b"d/b", b"d/a", b"d/c-2", b"d/c-10", b"e"])

    def test_strange_names_are_indexed(self):
        names = ["[ab]*", "@list", "a b", "new\nline", "\N{LATIN SMALL LETTER E WITH ACUTE}"]
        for name in names:
            self.write(f"d/{name}", shard(name))
        with open(os.fsencode(self.path("d")) + b"/\xff\xfe", "wb") as file:
            file.write(shard("ff"))
        self.index("d", "-o", "d/all.rmx")
        found = [p.decode() for p in self.payloads("d/all.rmx")]
        self.assertEqual(sorted(found), sorted([*names, "ff"]))
        for name in names:
            self.index(f"./d/{name}", "-o", "one.rmx")
            self.assertEqual(self.payloads("one.rmx"), [name.encode()])
        os.chdir(self.path("d"))
        self.addCleanup(os.chdir, "/")
        result = self.run_recmap("info", "d/all.rmx", "--shards")
        self.assertEqual(len(result.out.splitlines()), 9 + 2 + 6, result)
        self.assertIn(rb"new\nline", result.out)
        result = self.run_recmap("info", "--json", "--shards", "d/all.rmx")
        paths = [shard["path"] for shard in json.loads(result.out)["shard_table"]]
        self.assertCountEqual(map(os.fsencode, paths), [*map(os.fsencode, names), b"\xff\xfe"])
        self.run_recmap(
            "select", "d/all.rmx", "--where", "columns['@length'] > 0", "-o", "d/all.rmv"
        )
        with open(os.fsencode(self.path("d")) + b"/\xff\xfe", "r+b") as file:
            file.seek(12)
            file.write(b"F")
        for name in "d/all.rmx", "d/all.rmv":
            result = self.run_recmap("verify", "--json", name)
            (found,) = json.loads(result.out)["damage"]
            self.assertEqual(os.fsencode(found["path"])[-2:], b"\xff\xfe")

    def test_what_is_not_there(self):
        self.write("list", b"nothing\n")
        os.mkdir(self.path("empty"))
        self.check(
            "index", "x", status=2, err=f"recmap: x: there is no such file or folder\n{CHECK_PATH}"
        )
        self.check(
            "index",
            "x*",
            status=2,
            err="recmap: x*: no file matches\n" + CHECK_PATH.replace("path;", "pattern;"),
        )
        os.mkdir(self.path("x[1]"))
        self.write("x[1]/a.tfrecord", tfrecord([b"1"]))
        result = self.run_recmap("index", "x[1]/*.tfrecord")
        self.assertIn(b"; write [[] for a [ that is part of a name\n", result.err)
        self.index("x[[]1]/*.tfrecord", "-o", "x.rmx")
        os.remove(self.path("x.rmx"))
        shutil.rmtree(self.path("x[1]"))
        self.check(
            "index",
            "@list",
            status=2,
            err="recmap: list: line 1: nothing: there is no such file or folder\n"
            "  check the path; relative names start at the list file's folder\n",
        )
        self.check(
            "index",
            "@none",
            status=4,
            err="recmap: none: cannot open the file: No such file or directory\n" + CHECK_PATH,
        )
        self.check(
            "index",
            "empty",
            status=2,
            err="recmap: empty: the folder contains no shards\n"
            "  hidden files, _*, indexes, documents, metadata, temporary files and subfolders are "
            "ignored; 'empty/**' names the files of all subfolders\n",
        )
        self.write("empty/_SUCCESS", b"")
        self.check(
            "index",
            "empty",
            status=2,
            err="recmap: empty: the folder contains no shards: the names of its 1 file, such as "
            "_SUCCESS, are not names of shards\n"
            "  hidden files, _*, indexes, documents, metadata, temporary files and subfolders are "
            "ignored; 'empty/*' takes all but indexes, selections and temporary files, 'empty/**' "
            "also those of subfolders\n",
        )
        self.assertEqual(self.files(), ["empty", "list"])

    def test_a_lifted_feature_that_is_not_there(self):
        self.write("a", tfrecord([example(n=1), example(n=2)]))
        note = "recmap: no record has the lifted feature 'm': all have its default\n"
        self.index("--lift", "m=0", "--lift", "n=0", "-o", "a.rmx", "a", err=note)

    def test_an_index_without_records(self):
        """A download that failed leaves an empty file."""
        self.write("d/a", b"")
        self.index("d", "-o", "d/x.rmx", err=no_records("d/x.rmx"))
        self.index("d/a", "-o", "d/x.rmx", err=no_records("d/x.rmx"))
        self.write("d/b", b"")
        self.index("d", "-o", "d/x.rmx", err=no_records("d/x.rmx", 2))
        self.write("d/b", shard("b"))
        self.index("d", "-o", "d/x.rmx")

    def test_shards_that_are_surplus(self):
        for i in range(4):
            self.write(f"d/a-{i}-of-2", shard(str(i)))
        note = "recmap: d/a.rmx: 2 shards are surplus by their names, the first is a-2-of-2; "
        note += "remove them if they are of another run, and index again\n"
        self.index("d", "-o", "d/a.rmx", err=note)
        os.remove(self.path("d/a-3-of-2"))
        note = "recmap: d/a.rmx: the shard a-2-of-2 is surplus by its name; remove it if it is of "
        note += "another run, and index again\n"
        self.index("d", "-o", "d/a.rmx", err=note)
        os.remove(self.path("d/a-0-of-2"))  # they count from 1
        self.index("d", "-o", "d/a.rmx")

    def test_shards_that_are_links(self):
        """They have the names of the links, and the index beside them is opened by its name."""
        for k in range(2):
            self.write(f"blobs/{k}", shard(str(k)))
            name = self.path(f"hub/s-0000{k}-of-00003.tfrecord")
            os.makedirs(os.path.dirname(name), exist_ok=True)
            os.symlink(f"../blobs/{k}", name)
        note = "the shard s-00002-of-00003.tfrecord is missing; restore it and index again"
        self.index("hub", err=f"recmap: hub/s.rmx: {note}\n")
        self.index("blobs", "-o", "plain.rmx")
        self.assertEqual(self.run_recmap("verify", "hub/s.rmx").status, 0)
        self.assertEqual(
            self.run_recmap("cat", "hub/s.rmx").out, self.run_recmap("cat", "plain.rmx").out
        )
        self.write("blobs/1", b"")
        result = self.run_recmap("verify", "hub/s.rmx")
        self.assertIn(b"hub/s-00001-of-00003.tfrecord: ", result.err + result.out)

    def test_the_name_of_a_selection(self):
        """Every command would open such a file as a selection."""
        self.write("a", shard("a"))
        self.index("a")
        self.run_recmap("select", "a.rmx", "--where", "length > 0", "-o", "old.rmv")
        before = self.read("old.rmv")
        error = "is the name of a selection, not of an index\n  end the name of the index in .rmx\n"
        self.check("index", "-o", "new.rmv", "a", status=2, err=f"recmap: new.rmv: {error}")
        result = self.run_recmap("index", "-o", "old.rmv", "a")
        self.assertEqual(result.status, 2, result)
        self.assertEqual(self.read("old.rmv"), before)
        self.assertEqual(self.files(), ["a", "a.rmx", "old.rmv"])

    def test_a_shard_is_never_replaced(self):
        self.write("a.rmx", shard("a"))
        self.write("b", shard("b"))
        os.link(self.path("b"), self.path("c"))
        error = "is one of the shards and would be overwritten\n  name the index with -o\n"
        self.check("index", "a.rmx", status=2, err=f"recmap: a.rmx: {error}")
        self.check("index", "b", "-o", "c", status=2, err=f"recmap: c: {error}")
        os.mkdir(self.path("d"))
        self.check(
            "index",
            "b",
            "-o",
            "d",
            status=2,
            err="recmap: d: is a folder\n  name the index with -o\n",
        )
        self.assertEqual(self.read("a.rmx"), shard("a"))
        self.assertEqual(self.read("c"), shard("b"))


if __name__ == "__main__":
    unittest.main()
