"""Text indexes of shards, as other programs write them: imported, exported, refused."""

import gzip
import os
import shutil
import unittest

from support import CliTest, make_payloads, tfrecord


class TextIndexes(CliTest):
    def make(self, shards=3):
        for i in range(shards):
            payloads = make_payloads(i, 200)
            self.write(f"t-{i}.tfrecord", tfrecord(payloads))
            at, lines = 0, []
            for payload in payloads:
                lines.append(f"{at} {len(payload) + 16}\n")
                at += len(payload) + 16
            self.write(f"due/t-{i}.tfrecord.idx", "".join(lines).encode())
        self.index("-o", "t.rmx", *self.names(shards))

    def names(self, shards=3):
        return [f"t-{i}.tfrecord" for i in range(shards)]

    def test_text_indexes_are_exported(self):
        self.make()
        for _ in "made", "there":
            self.check(
                "export",
                "t.rmx",
                "--to",
                "idx",
                "-o",
                "idx",
                err="recmap: 3 text indexes written to idx\n",
            )
        result = self.run_recmap("export", "t.rmx", "--to", "idx", "-o", "none/idx")
        self.assertEqual(result.status, 4)
        self.assertTrue(
            result.err.startswith(b"recmap: none/idx: cannot create the folder: No such")
        )
        self.check(
            "export",
            "t.rmx",
            "--to",
            "idx",
            err="recmap: 3 text indexes written beside the shards\n",
        )
        for name in self.names():
            due = self.read(f"due/{name}.idx")
            self.assertEqual(self.read(f"idx/{name}.idx"), due)
            self.assertEqual(self.read(f"{name}.idx"), due)

    def test_a_shard_that_grew_has_one_text_index(self):
        """The index has a part for each time that a shard grew, between parts of other shards."""
        shards = [tfrecord(make_payloads(i, 60)) for i in range(2)]
        ends = [[len(tfrecord(make_payloads(i, 60)[:n])) for n in (20, 40, 60)] for i in range(2)]
        names = ["d/a/t.tfrecord", "d/u.tfrecord"]
        for grown in range(3):
            for name, shard, end in zip(names, shards, ends):
                self.write(name, shard[: end[grown]])
            self.index(*["--append"][: grown > 0], "-o", "d/t.rmx", *names)
        self.index("-o", "whole.rmx", *names)
        for folder, index in ("due", "whole.rmx"), ("got", "d/t.rmx"):
            self.check(
                *("export", index, "--to", "idx", "-o", folder),
                err=f"recmap: 2 text indexes written to {folder}\n",
            )
        self.check(
            "export",
            "d/t.rmx",
            "--to",
            "idx",
            err="recmap: 2 text indexes written beside the shards\n",
        )
        for name in names:
            due = self.read(f"due/{os.path.basename(name)}.idx")
            self.assertEqual(due.count(b"\n"), 60)
            self.assertEqual(self.read(f"got/{os.path.basename(name)}.idx"), due)
            self.assertEqual(self.read(f"{name}.idx"), due)

    def test_the_rights_are_those_of_the_shards(self):
        self.make()
        for private in ("t-0.tfrecord", "t.rmx"):
            os.chmod(self.path(private), 0o600)
            self.check(
                *("export", "t.rmx", "--to", "idx"),
                err="recmap: 3 text indexes written beside the shards\n",
            )
            modes = [os.stat(self.path(f"t-{i}.tfrecord.idx")).st_mode & 0o777 for i in range(3)]
            self.assertEqual(modes, [0o600] + [0o600 if private == "t.rmx" else 0o644] * 2)
            for i in range(3):
                os.remove(self.path(f"t-{i}.tfrecord.idx"))

    def check_outside(self, path):
        """Writing beside such a shard is rejected and nothing is written; -o FOLDER works."""
        before = sorted(os.walk(self.folder))
        self.check(
            "export",
            "in/t.rmx",
            "--to",
            "idx",
            status=2,
            err=f"recmap: {path}: the text index would be written outside the folder of "
            "in/t.rmx\n  name a folder with -o\n",
        )
        self.assertEqual(sorted(os.walk(self.folder)), before)
        self.check(
            "export",
            "in/t.rmx",
            "--to",
            "idx",
            "-o",
            "idx",
            err="recmap: 1 text index written to idx\n",
        )
        shutil.rmtree(self.path("idx"))

    def test_nothing_is_written_outside_the_folder(self):
        shard = tfrecord([b"a"])
        folder, text = self.path("in/sub"), self.path("in/sub/a.tfrecord.idx")
        self.write("elsewhere/a.tfrecord", shard)
        self.write("in/sub/a.tfrecord", shard)
        self.index("elsewhere/a.tfrecord", "-o", "in/t.rmx")
        self.check_outside(self.path("elsewhere/a.tfrecord.idx"))
        self.index("in/sub/a.tfrecord", "-o", "in/t.rmx")
        os.rename(folder, self.path("kept"))
        os.symlink(self.path("elsewhere"), folder)
        self.check_outside("in/sub/a.tfrecord.idx")
        os.unlink(folder)
        os.rename(self.path("kept"), folder)
        os.symlink(self.path("elsewhere/victim"), text)
        self.check_outside("in/sub/a.tfrecord.idx")
        os.unlink(text)
        self.check(
            "export",
            "in/t.rmx",
            "--to",
            "idx",
            err="recmap: 1 text index written beside the shards\n",
        )
        self.assertEqual(self.read("in/sub/a.tfrecord.idx"), b"0 17\n")
        self.assertEqual(os.listdir(self.path("elsewhere")), ["a.tfrecord"])

    def test_export_through_a_link(self):
        self.write("in/a.tfrecord", tfrecord([b"a"]))
        self.index("in/a.tfrecord", "-o", "in/t.rmx")
        os.mkdir(self.path("links"))
        os.symlink("../in/t.rmx", self.path("links/t.rmx"))
        self.check(
            "export",
            "links/t.rmx",
            "--to",
            "idx",
            err="recmap: 1 text index written beside the shards\n",
        )
        self.assertEqual(self.read("in/a.tfrecord.idx"), b"0 17\n")
        self.assertEqual(os.listdir(self.path("links")), ["t.rmx"])

    def test_files_without_room_for_the_header(self):
        """The verdict is the same as after a scan, though the text index lists no record."""
        self.write("full", b"header" + b"ab" * 3 + b"end")
        self.write("idx/full.idx", b"6 2\n8 2\n10 2\n")
        framing = ["--framing", "fixed:6,2,3"]
        for size in (0, 1, 6, 8, 9):
            self.write("short", b"x" * size)
            self.write("idx/short.idx", b"")
            found = [
                self.run_recmap("index", *framing, "full", "short", "-o", "t.rmx", *options)
                for options in ([], ["--from-idx", "idx"])
            ]
            statuses = [result.status for result in found]
            self.assertEqual(statuses, [0 if size == 9 else 3] * 2, (size, *found))
            if not statuses[0]:
                self.check("cat", "t.rmx", "--format", "raw", out=b"ababab")

    def test_equal_names_of_shards_that_are_not_neighbours(self):
        for name in ("a/x", "b/w", "b/x"):
            self.write(name + ".tfrecord", tfrecord([name.encode()]))
        self.index("-o", "t.rmx", "a/x.tfrecord", "b/w.tfrecord", "b/x.tfrecord")
        result = self.run_recmap("export", "t.rmx", "--to", "idx", "-o", "idx")
        self.assertEqual(result.status, 2)
        self.assertRegex(
            result.err,
            rb"recmap: [ab]/x\.tfrecord: two shards in different folders "
            rb"have this file name\n  omit -o",
        )
        self.assertFalse(os.path.exists(self.path("idx")))
        self.check(
            "export",
            "t.rmx",
            "--to",
            "idx",
            err="recmap: 3 text indexes written beside the shards\n",
        )

    def test_what_cannot_be_exported(self):
        self.write("a.gz", gzip.compress(tfrecord([b"a"])))
        self.write("a.txt", b"a\n")
        self.index("a.gz", "-o", "gz.rmx")
        self.index("--framing", "lines", "a.txt", "-o", "txt.rmx")
        for name, index in (("a.gz", "gz.rmx"), ("a.txt", "txt.rmx")):
            self.check(
                "export",
                index,
                "--to",
                "idx",
                status=3,
                err=f"recmap: {name}: text indexes require uncompressed TFRecord "
                "files\n  convert the records with 'recmap cat --format tfrecord'\n",
            )
        self.check_wrong("export", "gz.rmx", what="--to idx is required")

    def test_an_index_by_them_is_the_same(self):
        self.make()
        self.index("--from-idx", "due", "-o", "by.rmx", *self.names())
        self.assertEqual(self.read("by.rmx"), self.read("t.rmx"))
        # Named as by users of DALI, with CR LF, without a newline at the end.
        os.remove(self.path("due/t-1.tfrecord.idx"))
        text = self.read("due/t-0.tfrecord.idx")
        self.write("due/t-1.idx", self.read("due/t-0.tfrecord.idx"))
        self.write("t-1.tfrecord", self.read("t-0.tfrecord"))
        self.write("due/t-0.tfrecord.idx", text.replace(b"\n", b"\r\n")[:-2])
        self.index("--from-idx", "due", "-o", "by.rmx", *self.names())
        self.index("-o", "t.rmx", *self.names())
        self.assertEqual(self.read("by.rmx"), self.read("t.rmx"))

    def test_a_mismatch_is_named(self):
        self.make(1)
        lines = self.read("due/t-0.tfrecord.idx").decode().splitlines()
        offset, size = map(int, lines[9].split())
        begin, goes_on = f"in t-0.tfrecord the next one begins at byte {offset}", offset + size
        wrong = {
            f"{offset} {size + 1}": f"the record at byte {offset} of t-0.tfrecord "
            f"has {size} bytes, not {size + 1}",
            f"{offset + 1} {size}": f"it has a record at byte {offset + 1}, but {begin}",
            f"0 {size}": f"it has a record at byte 0, but {begin}",
            f"{offset}": "it is not `OFFSET SIZE` in decimal numbers",
            f"-{offset} {size}": "it is not `OFFSET SIZE` in decimal numbers",
            f"{offset} {size} 7": "it is not `OFFSET SIZE` in decimal numbers",
            f"{offset} 99999999999999999999999": "it is not `OFFSET SIZE` in decimal numbers",
            "": "it is not `OFFSET SIZE` in decimal numbers",
        }
        for line, what in wrong.items():
            self.write("due/t-0.tfrecord.idx", "\n".join([*lines[:9], line, *lines[10:]]).encode())
            self.check_mismatch(10, what)
        self.write("due/t-0.tfrecord.idx", "\n".join(lines[:10]).encode())
        self.check_mismatch(11, f"it is missing: t-0.tfrecord continues at byte {goes_on}")
        data = bytearray(self.read("t-0.tfrecord"))
        end = len(data)
        self.write("due/t-0.tfrecord.idx", "\n".join([*lines, f"{end} 16"]).encode())
        self.check_mismatch(201, f"no record is at byte {end} of t-0.tfrecord: the file ends")
        data[offset] ^= 1
        self.write("t-0.tfrecord", bytes(data))
        result = self.run_recmap("index", "--from-idx", "due", "-o", "by.rmx", "t-0.tfrecord")
        self.assertIn(
            f"line 10: no record is at byte {offset} of t-0.tfrecord: length CRC".encode(),
            result.err,
        )

    def check_mismatch(self, line, what):
        self.check(
            "index",
            "--from-idx",
            "due",
            "-o",
            "by.rmx",
            "t-0.tfrecord",
            status=3,
            err=f"recmap: due/t-0.tfrecord.idx: line {line}: {what}\n  the text index is "
            "damaged or belongs to another file: make it again, or index without --from-idx\n",
        )
        self.assertNotIn("by.rmx", self.files())

    def test_no_text_index_exists(self):
        self.make(1)
        self.check(
            "index",
            "--from-idx",
            ".",
            "-o",
            "by.rmx",
            "t-0.tfrecord",
            status=2,
            err="recmap: t-0.tfrecord: the shard has no text index in the folder .\n  expected "
            "t-0.tfrecord.idx there; to scan the shard instead, omit --from-idx\n",
        )


if __name__ == "__main__":
    unittest.main()
