"""recmap index: how it is built again, what it builds, signals."""

import gzip
import json
import os
import signal
import struct
import subprocess
import time
import unittest
import zlib

from support import (
    COMMAND,
    EXAMPLES,
    CliTest,
    example,
    frame,
    no_records,
    signals_as_usual,
    tfrecord,
)

CHECK_PATH = "  check the path; relative paths start at the current folder\n"


def shard(*payloads):
    return tfrecord([p.encode() for p in payloads])


class BuildingAgain(CliTest):
    """Errors name the command that builds the index again; it is taken from them and run."""

    def change(self, name):
        """Replaces the first record, so that a read from the index fails."""
        self.write(name, tfrecord([example(id="other", n=7)]) + self.read(name))

    def build_again(self, index, command):
        advice = f"  restore the indexed file, or build the index again with `{command}`\n"
        result = self.run_recmap("get", index, "0")
        self.assertEqual(result.status, 3, result)
        self.assertEqual(result.err.decode().split("\n", 1)[1], advice)
        path = os.path.dirname(COMMAND) + os.pathsep + os.environ["PATH"]
        environment = {**os.environ, "PATH": path}
        subprocess.run(
            command, shell=True, check=True, cwd=self.folder, env=environment, capture_output=True
        )
        self.assertEqual(self.run_recmap("get", index, "0").status, 0)
        info = self.run_recmap("info", "--json", index)
        return json.loads(info.out)

    def test_a_set_with_all_contents(self):
        for i in range(5):
            self.write(f"d/a b-{i:05}-of-00005.tf", tfrecord([example(id=str(i), n=i)]))
        words = ["--id", "id", "--lift", "n=3", "--lift", "id", "--count", "id", "--count", "n"]
        warning = (
            "recmap: no count of 'id' exceeds 1: its values are bytes, and each counts once; to "
            "count the numbers in them, give their type, as in --count id:uint8\n"
        )
        self.index(*words, "--on-bad-record", "skip", "-o", "d/x.rmx", "d/a b@5.tf", err=warning)
        self.change("d/a b-00000-of-00005.tf")
        command = (
            "recmap index --id id --lift n=3 --lift id --count id --count n --on-bad-record skip "
            "-o d/x.rmx 'd/a b@5.tf'"
        )
        info = self.build_again("d/x.rmx", command)
        self.assertEqual((info["records"], info["ids"]["count"]), (6, 6))
        self.assertEqual([column["name"] for column in info["columns"]], ["@length", "n", "id"])
        self.assertEqual([count["name"] for count in info["counts"]], ["id", "n"])

    def test_a_few_shards_with_a_framing(self):
        for name in ("x", "y"):
            self.write(f"d/{name}", b"a\nb\n")
        self.index("--framing", "lines", "-o", "z.rmx", "d/y", "d/x")
        self.write("d/y", b"a longer line\n")
        command = "recmap index --framing lines -o z.rmx d/y d/x"
        self.assertEqual(self.build_again("z.rmx", command)["records"], 3)

    def test_what_cannot_be_written_in_a_command(self):
        for names in (["`x`"], list("abcd"), ["x" * 200, "y" * 200]):
            for name in names:
                self.write(name, tfrecord([example(id="a", n=1)]))
            self.index("-o", "x.rmx", *names)
            self.change(names[0])
            err = self.run_recmap("get", "x.rmx", "0").err.decode()
            self.assertTrue(err.endswith("build the index again with `recmap index`\n"), err)
            self.check(
                "find",
                "x.rmx",
                "a",
                status=2,
                err=(
                    "recmap: x.rmx: the index has no ids\n"
                    "  build it with `recmap index --id FEATURE`\n"
                ),
            )

    def test_names_with_quotes(self):
        for i, name in enumerate(("it's", '"$HOME"', "a b")):
            self.write(f"{name}.tf", tfrecord([example(**{name: 3})]))
            self.index("--lift", f"{name}=1", "-o", f"{name}.rmx", f"{name}.tf")
            self.change(f"{name}.tf")
            word = f"'{name}'" if i else "'it'\\''s'"
            lift, index, shard = (word[:-1] + end + "'" for end in ("=1", ".rmx", ".tf"))
            command = f"recmap index --lift {lift} -o {index} {shard}"
            self.assertEqual(self.build_again(f"{name}.rmx", command)["records"], 2)

    def test_advice_about_options_with_quotes(self):
        self.write("a", tfrecord([example(x=1)]))
        for name, word in (
            ("it's", "'it'\\''s=DEFAULT'"),
            ("a b", "'a b=DEFAULT'"),
            ("a`b", "FEATURE=DEFAULT"),
        ):
            err = self.run_recmap("index", "--lift", name, "a").err.decode()
            self.assertIn(f"`--lift {word}`", err)
        for name, word in (("it's", "'it'\\''s'"), ("a`b", "NAME")):
            self.index("-o", "b.rmx", "a")
            self.write("s.csv", f"number,{name}\n0,1\n".encode())
            self.run_recmap("annotate", "b.rmx", "--column", f"{name}=s.csv")
            err = self.run_recmap("index", "a", "-o", "b.rmx").err.decode()
            self.assertIn(f"`recmap annotate b.rmx --drop {word}`", err)
            self.run_recmap("annotate", "b.rmx", "--drop", name)
        self.write("a", tfrecord([example(**{"it's": 1})]))
        self.index("--lift", "it's=2", "-o", "b.rmx", "a", lost="")
        err = self.run_recmap("index", "a", "-o", "b.rmx").err.decode()
        self.assertIn("had --lift 'it'\\''s=2': give", err)

    def test_shards_that_are_elsewhere(self):
        self.write("a", tfrecord([example(id="a", n=1)]))
        self.index("-o", "a.rmx", "a")
        os.mkdir(self.path("moved"))
        os.rename(self.path("a"), self.path("moved/a"))
        self.change("moved/a")
        err = self.run_recmap("get", "--shards", "moved", "a.rmx", "0").err.decode()
        self.assertTrue(err.endswith("build the index again with `recmap index`\n"), err)

    def test_a_lifted_column_is_indexed(self):
        self.write("a", tfrecord([example(id="a", n=1)]))
        self.index("--lift", "n", "-o", "a.rmx", "a")
        self.check(
            "select",
            "a.rmx",
            "--where",
            "score > 3",
            "-o",
            "b.rmv",
            status=2,
            err=(
                "recmap: a.rmx: character 1: the index has no column 'score'\n"
                "  the columns are @length, n; if the records have it, "
                "`recmap index --lift score a.rmx` adds it; `recmap annotate` adds other values\n"
            ),
        )


class Building(CliTest):
    def test_the_summary_counts_records_and_bytes(self):
        self.write("a", tfrecord(EXAMPLES))
        size = len(tfrecord(EXAMPLES))
        self.assertEqual(self.index("a"), f"a.rmx: 5 records in 1 shard, {size} B")
        self.write("empty", b"")
        summary = self.index("empty", err=no_records("empty.rmx"))
        self.assertEqual(summary, "empty.rmx: 0 records in 1 shard, 0 B")
        self.check("cat", "empty.rmx")

    def test_an_index_is_replaced_at_once(self):
        self.write("a", shard("1", "2"))
        self.write("b", shard("3"))
        self.index("-o", "x.rmx", "a")
        self.index("-o", "x.rmx", "b")
        self.assertEqual(self.payloads("x.rmx"), [b"3"])
        self.assertEqual(self.files(), ["a", "b", "x.rmx"])

    def test_threads_do_not_change_the_index(self):
        self.write("a", shard(*(str(i) * (i % 50) for i in range(3000))))
        images = set()
        for threads in ("1", "2", "3", "8", "0"):
            self.index("a", "--threads", threads)
            images.add(self.read("a.rmx"))
        self.assertEqual(len(images), 1)

    def test_a_failed_build_leaves_the_old_index(self):
        self.write("a", shard("1"))
        self.index("a")
        before = self.read("a.rmx")
        self.write("a", shard("1")[:-1])
        self.assertEqual(self.run_recmap("index", "a").status, 3)
        self.assertEqual(self.read("a.rmx"), before)
        self.assertEqual(self.files(), ["a", "a.rmx"])

    def test_only_temporary_files_of_recmap_are_removed(self):
        self.write("a", shard("1"))
        digits = "0123456789abcdef"
        others = [
            f"a.rmx.tmp-{end}"
            for end in (
                "",
                "keep",
                "part.rmx",
                digits[:15],
                digits + "0",
                digits.upper(),
                digits[:15] + "g",
            )
        ]
        for name in others:
            self.write(name, b"not recmap's")
        os.symlink("a", self.path("a.rmx.tmp-1111111111111111"))
        os.mkfifo(self.path("a.rmx.tmp-2222222222222222"))
        before = self.files()
        self.write(f"a.rmx.tmp-{digits}", b"left by a build that died")
        self.index("a")
        self.assertEqual(self.files(), sorted([*before, "a.rmx"]))

    def test_malformed_urls_are_explained(self):
        written = (
            "  write it as s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/BLOB "
            "or https://HOST/PATH; credentials are storage options\n"
        )
        for name, shown, reason in (
            (
                "ftp://host/a",
                "ftp://host/a",
                "its scheme is not one of s3, gs, az, http and https",
            ),
            ("s3:///a", "s3:///a", "its bucket name is invalid"),
            ("http://me:secret@host/a", "http://host/a", "it contains a user name or password"),
            (
                "http://me:secret@host/a?key=secret",
                "http://host/a",
                "it contains a user name or password",
            ),
        ):
            self.check(
                "index",
                name,
                "-o",
                "x.rmx",
                status=2,
                err=(f"recmap: {shown}: the URL cannot be read: {reason}\n{written}"),
            )

    def test_names_of_hdfs_are_for_python(self):
        for name in ("hdfs://host/a", "webhdfs://host:9870/a*", "swebhdfs://host/a"):
            self.check(
                "index",
                name,
                "-o",
                "x.rmx",
                status=2,
                err=(
                    f"recmap: {name}: the URL cannot be read: recmap reads hdfs:// and webhdfs:// "
                    "in Python only\n  open it in Python, which reads it with fsspec "
                    "(recmap.open(URL), or with fs=); or mount or copy the folder\n"
                ),
            )

    def test_misspelt_storage_options_are_explained(self):
        self.write("a", b"")
        for option, message in (
            ("regoin=x", "there is no storage option \"regoin\"\n  did you mean 'region'?"),
            ("anonymous=secret", "the storage option anonymous must be true or false"),
            ("timeout=0", "the storage option timeout must be a number of seconds from 1 to 86400"),
        ):
            self.check("index", "a", "--storage", option, status=2, err=f"recmap: {message}\n")
        self.check(
            "index",
            "a",
            "--storage",
            "secret",
            status=2,
            err=("recmap: index: --storage needs KEY=VALUE\n  try 'recmap index --help'\n"),
        )

    def mode(self, name):
        return os.stat(self.path(name)).st_mode & 0o7777

    def test_an_index_keeps_its_permissions(self):
        def umask():
            os.umask(0o022)

        for name in "ab":
            self.write(name, shard(name))
        self.run_recmap("index", "a", preexec_fn=umask)
        self.assertEqual(self.mode("a.rmx"), 0o644)
        for mode in (0o600, 0o666, 0o440):
            os.chmod(self.path("a.rmx"), mode)
            self.run_recmap("index", "a", preexec_fn=umask)
            self.assertEqual(self.mode("a.rmx"), mode)
            self.run_recmap("index", "--append", "-o", "a.rmx", "b", preexec_fn=umask)
            self.assertEqual(self.mode("a.rmx"), mode)
            self.assertEqual(self.payloads("a.rmx"), [b"a", b"b"])

    def test_an_index_that_cannot_be_read_is_kept(self):
        """It may have annotated columns. Root can read all, so the test then runs as another."""
        self.write("a", shard("a"))
        self.index("a")
        before = self.read("a.rmx")
        os.chmod(self.folder, 0o777)
        os.chmod(self.path("a.rmx"), 0)
        user = {"user": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        for command in ("index", "a"), ("merge", "-o", "a.rmx", "b.rmx"):
            self.run_recmap("index", "-o", "b.rmx", "a")
            self.check(
                *command,
                status=4,
                err="recmap: a.rmx: the index to be replaced cannot be read: cannot open the file: "
                "Permission denied\n  it may have annotated columns, which would be lost: `recmap "
                "info` says what can read it; remove it, or give the new index another name\n",
                **user,
            )
        os.chmod(self.path("a.rmx"), 0o600)
        self.assertEqual(self.read("a.rmx"), before)

    def test_no_place_for_the_index(self):
        self.write("a", shard("1"))
        self.check(
            "index",
            "a",
            "-o",
            "no/a.rmx",
            status=4,
            err="recmap: no: cannot resolve the path: No such file or directory\n"
            "  create the folder first, or check the path\n",
        )
        err = self.run_recmap("index", "a", "-o", "a/a.rmx").err
        self.assertIn(b"Not a directory", err)
        self.assertNotIn(b"annotated", err)


class Compressed(CliTest):
    def spans(self, member, count):
        self.write("a.gz", member * count)
        self.index("--framing", "fixed:0,1048576,0", "a.gz", "-o", "a.rmx")
        out = self.run_recmap("info", "a.rmx").out.decode()
        return out, json.loads(self.run_recmap("info", "--json", "a.rmx").out)["compressed"]

    def test_info_tells_spans_and_when_a_shuffle_is_slow(self):
        member = gzip.compress(bytes(16 << 20), 6)
        out, found = self.spans(member, 2)
        self.assertIn("compressed   1 shard, inflated 33.6 MB in ", out)
        self.assertNotIn("slow", out)
        self.assertEqual(found["shards"], 1)
        self.assertEqual(found["bytes"], 2 * len(member))
        self.assertEqual(found["inflated_bytes"], 32 << 20)
        self.assertEqual(found["spans"], found["points"] + 1)
        self.assertGreaterEqual(found["spans"], 4)
        self.assertLess(found["largest_span"], 13 << 20)
        self.assertEqual(found["kept_bytes"], 1 << 30)
        out, found = self.spans(member, 65)
        self.assertEqual(found["inflated_bytes"], 65 << 24)
        self.assertIn("a true shuffle is slow", out)
        self.assertIn("--cache FOLDER", out)
        self.assertIn("--decompress -o NAME@N", out)

    def test_info_tells_of_blocks_without_end(self):
        # Fixed codes, lowest bit first: one zero, then many copies of 258 zeros.
        match = "".join(["11000101", "00000"] * 8)
        records, begin = 35000, "1" + "10" + "00110000"
        bits = int.from_bytes(int(match[::-1], 2).to_bytes(13, "little") * records, "little")
        stream = (bits << len(begin) | int(begin[::-1], 2)).to_bytes(13 * records + 3, "little")
        image = zlib.decompress(stream, -15)
        self.assertEqual(image, bytes(1 + 2064 * records))
        self.write(
            "a.gz",
            b"\x1f\x8b\x08" + bytes(7) + stream + struct.pack("<II", zlib.crc32(image), len(image)),
        )
        self.index("--framing", "fixed:1,2064,0", "a.gz", "-o", "a.rmx")
        self.assertIn(
            "in 1 span of 72.2 MB on average, 72.2 MB at most\n             the largest "
            "span is one deflate block: ",
            self.run_recmap("info", "a.rmx").out.decode(),
        )
        for number in ("34999", "0"):
            self.assertEqual(self.run_recmap("get", "a.rmx", number).out, bytes(2064))
        self.check("verify", "a.rmx", out="a.rmx: 35000 of 35000 records are good\n")

    def test_info_of_plain_shards(self):
        self.write("a", tfrecord(EXAMPLES))
        self.index("a")
        self.assertIsNone(json.loads(self.run_recmap("info", "--json", "a.rmx").out)["compressed"])
        self.assertNotIn("compressed", self.run_recmap("info", "a.rmx").out.decode())


class Stopping(CliTest):
    """A long build is stopped by a signal as soon as it has started."""

    def setUp(self):
        super().setUp()
        record = frame(example(id="x", label=1))
        self.write("big", record * (96 * 1024 * 1024 // len(record)))

    def stop(self, number, prepare=signals_as_usual):
        process = subprocess.Popen(
            [COMMAND, "index", "big", "--id", "id", "--threads", "1"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
        )
        deadline = time.monotonic() + 60
        while not any(".tmp-" in name for name in self.files()):
            self.assertIsNone(process.poll(), "the build ended before it was seen")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(out, b"")
        return process.returncode, err

    def test_a_signal_leaves_no_files(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, err = self.stop(number)
            self.assertEqual(status, -number, err)
            self.assertRegex(err.decode(), r"^recmap: [^\n]*cancelled[^\n]*\n(  [^\n]*\n)?$")
            self.assertEqual(self.files(), ["big"])

    def test_an_interrupted_verify(self):
        self.index("big")
        process = subprocess.Popen(
            [COMMAND, "verify", "big.rmx", "--threads", "1"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=signals_as_usual,
        )
        caught = 0
        while not caught & 1 << (signal.SIGINT - 1) and process.poll() is None:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                caught = int(file.read().split("SigCgt:")[1].split()[0], 16)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((out, process.returncode), (b"", -signal.SIGINT))
        self.assertEqual(err, b"recmap: big.rmx: interrupted before everything was checked\n")

    def test_a_signal_that_is_ignored_stays_ignored(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        self.assertEqual(self.stop(signal.SIGHUP, ignore)[0], 0)
        self.assertEqual(self.files(), ["big", "big.rmx"])

    def test_a_killed_build_is_cleaned_up_by_the_next(self):
        self.assertEqual(self.stop(signal.SIGKILL)[0], -signal.SIGKILL)
        self.assertEqual(len(self.files()), 2)
        self.write("big", tfrecord([b"x"]))
        self.index("big")
        self.assertEqual(self.files(), ["big", "big.rmx"])


if __name__ == "__main__":
    unittest.main()
