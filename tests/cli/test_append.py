"""recmap index --append: what it gives, and how appends wait for each other."""

import fcntl
import gzip
import os
import re
import shlex
import shutil
import signal
import subprocess
import unittest

from support import (
    COMMAND,
    EXAMPLES,
    IN_CREATE,
    CliTest,
    events_of,
    repeated_ids,
    signals_as_usual,
    tfrecord,
    watch_folder,
)


def shard(*payloads):
    return tfrecord([p.encode() for p in payloads])


class Appending(CliTest):
    def setUp(self):
        super().setUp()
        self.write("s-0", tfrecord(EXAMPLES[:2]))
        self.write("s-1", tfrecord(EXAMPLES[2:]))

    def test_appending_gives_what_one_build_gives(self):
        words = ["--id", "id", "--lift", "label"]
        self.index("-o", "all.rmx", *words, "s-0", "s-1")
        self.index("-o", "x.rmx", *words, "s-0")
        # Ids and columns are taken from the index.
        self.assertIn("x.rmx: 5 records in 2 shards", self.index("--append", "-o", "x.rmx", "s-1"))
        self.assertEqual(self.read("x.rmx"), self.read("all.rmx"))

    def test_ids_that_the_index_has_are_counted(self):
        self.index("-o", "x.rmx", "--id", "id", "s-0")
        self.write("s-2", tfrecord([*EXAMPLES[:2], EXAMPLES[2], EXAMPLES[2]]))
        self.index("--append", "-o", "x.rmx", "s-2", err=repeated_ids(2))
        self.write("s-3", self.read("s-2"))
        self.index("--append", "-o", "x.rmx", "s-3")  # they repeat anyway
        self.index("-o", "y.rmx", "--id", "id", "s-0", "s-2")
        self.index("-o", "z.rmx", "s-0")
        self.index("--append", "-o", "z.rmx", "s-2")

    def test_shards_that_the_index_has_under_another_path_are_refused(self):
        """A copy of a set, a set that moved, and the merge of the indexes of both."""
        for name, payloads in (("a-0", ["a"]), ("a-1", ["bc", "d"]), ("empty", [])):
            self.write(f"old/{name}", shard(*payloads))
        self.index("-o", "x.rmx", "old")
        before = self.read("x.rmx")
        shutil.copytree(self.path("old"), self.path("flat"))
        advice = (
            "\n  if the shards were moved, open their index with `--shards FOLDER`, or build it "
            "again; `--sets all` joins copies\n"
        )
        message = f"the index has this shard already, as {self.folder}/old/a-0" + advice
        append = ["index", "--append", "-o", "x.rmx", "flat"]
        self.check(*append, status=2, err=f"recmap: flat/a-0: {message}")
        self.index("-o", "y.rmx", "flat")
        result = self.run_recmap("merge", "-o", "m.rmx", "x.rmx", "y.rmx")
        self.assertEqual(result.status, 2)
        self.assertIn(message.encode(), result.err)
        shutil.move(self.path("old"), self.path("away"))
        self.check(*append, status=2, err=f"recmap: flat/a-0: {message}")
        self.assertEqual(self.read("x.rmx"), before)
        self.index("--append", "--sets", "all", "-o", "x.rmx", "flat")
        self.assertEqual(self.read("x.rmx").count(b"a-1"), 2)

    def test_shards_of_equal_names_and_sizes_are_appended(self):
        """Files of two days may have equal names, sizes and times, and be empty."""
        for day, payload in (("1", "a"), ("2", "b")):
            self.write(f"{day}/s-0", shard(payload))
            self.write(f"{day}/s-1", b"")
            os.utime(self.path(day, "s-0"), (1, 1))
        self.index("-o", "x.rmx", "1")
        self.index("--append", "-o", "x.rmx", "2")
        self.assertEqual(self.payloads("x.rmx"), [b"a", b"b"])

    def test_a_shard_that_grew(self):
        """New records are numbered after all others, and may be in the middle of the shards."""
        self.index("-o", "x.rmx", "--id", "id", "s-0", "s-1")
        with open(self.path("s-0"), "ab") as stream:
            stream.write(tfrecord(EXAMPLES[:1]))
        lines = self.run_recmap("verify", "x.rmx").out.decode().splitlines()
        self.assertRegex(lines[0], "^s-0: the shard has grown from ")
        self.assertEqual(lines[1:], ["x.rmx: 5 of 5 records are good; 1 shard has grown"])
        summary = self.index("--append", "-o", "x.rmx", "s-0", err=repeated_ids(1))
        self.assertIn("x.rmx: 6 records in 2 shards", summary)
        self.check("cat", "x.rmx", out=b"".join([*EXAMPLES, EXAMPLES[0]]))
        self.assertEqual(self.run_recmap("verify", "x.rmx").status, 0)
        listed = self.run_recmap("info", "--shards", "x.rmx").out.decode()
        self.assertEqual(listed.count("s-0"), 2)
        self.assertIn("shards       2\n", listed)
        before = self.read("x.rmx")
        self.index("--append", "-o", "x.rmx", "s-0", "s-1")
        self.assertEqual(self.read("x.rmx"), before)

    def test_a_shard_that_changed_and_grew(self):
        self.index("-o", "x.rmx", "s-0", "s-1")
        self.write("s-0", tfrecord(EXAMPLES[2:]))
        result = self.run_recmap("index", "--append", "-o", "x.rmx", "s-0")
        self.assertEqual(result.status, 3)
        self.assertIn(
            b"s-0: record 0 at byte 0: the shard changed since it was indexed", result.err
        )
        self.assertIn(b"write new records to new shards", result.err)

    def test_a_shard_that_was_rewritten(self):
        """Its size did not change."""
        for end, wrap in (("", bytes), (".gz", lambda data: gzip.compress(data, 0, mtime=0))):
            with self.subTest(end):
                name = f"d/b{end}"
                self.write(f"d/a{end}", wrap(shard("1", "2")))
                self.write(name, wrap(shard("3", "4")))
                self.index("-o", "x.rmx", f"d/a{end}", name)
                before = self.read("x.rmx")
                os.utime(self.path(name), (1, 1))
                self.index("--append", "-o", "x.rmx", f"d/a{end}", name)
                self.assertEqual(self.read("x.rmx"), before)
                self.write(name, wrap(shard("5", "6")))
                for words in ([name], ["s-0", name]):
                    result = self.run_recmap("index", "--append", "-o", "x.rmx", *words)
                    self.assertEqual(result.status, 3)
                    self.assertIn(
                        f"{name}: record 2 at byte 0: the shard changed since it was indexed: its "
                        "content differs",
                        result.err.decode(),
                    )
                    advised = re.search(r"`(.*)`", result.err.decode())[1].split()
                    self.assertEqual(advised[-1], "index" if len(words) > 1 else name)
                self.assertEqual(self.read("x.rmx"), before)

    def test_many_shards_are_appended_at_once(self):
        """The index is written once for all of them."""
        names = [f"t-{i:02}" for i in range(20)]
        for name in names:
            self.write(name, tfrecord(EXAMPLES[:1]))
        self.write("list", "".join(f"{name}\n" for name in names[1:]).encode())
        self.index("-o", "all.rmx", "s-0", *names)
        self.index("-o", "x.rmx", "s-0")
        created = self.count_created("--append", "-o", "x.rmx", names[0], "@list")
        self.assertEqual(self.read("x.rmx"), self.read("all.rmx"))
        self.assertEqual(created, 1)

    def count_created(self, *arguments):
        """How many temporary indexes it creates: each holds a whole index."""
        watch = watch_folder(self.folder, IN_CREATE)
        self.addCleanup(os.close, watch)
        self.index(*arguments)
        return sum(name.startswith(b"x.rmx.tmp-") for _, name in events_of(watch))

    def test_the_old_shards_are_not_read(self):
        self.index("-o", "x.rmx", "s-0")
        os.rename(self.path("s-0"), self.path("gone"))
        self.index("--append", "-o", "x.rmx", "s-1")
        os.rename(self.path("gone"), self.path("s-0"))
        self.assertEqual(self.payloads("x.rmx"), EXAMPLES)

    def test_nothing_to_append_to(self):
        self.check(
            "index",
            "--append",
            "s-1",
            status=2,
            err="recmap: s-1.rmx: no such index to append to\n  name the index with -o\n",
        )

    def test_other_columns_do_not_fit(self):
        self.index("-o", "x.rmx", "--id", "id", "s-0")
        before = self.read("x.rmx")
        result = self.run_recmap("index", "--append", "-o", "x.rmx", "--lift", "label", "s-1")
        self.assertEqual((result.out, result.status), (b"", 3))
        self.assertEqual(self.read("x.rmx"), before)
        self.assertEqual(self.files(), ["s-0", "s-1", "x.rmx"])

    def test_a_shard_that_is_there_already(self):
        self.index("-o", "x.rmx", "s-0")
        before = self.read("x.rmx")
        self.index("--append", "-o", "x.rmx", "s-0")
        self.assertEqual(self.read("x.rmx"), before)
        self.index("--append", "-o", "x.rmx", "s-0", "s-1")
        self.assertEqual(self.payloads("x.rmx"), EXAMPLES)
        self.check(
            *("index", "--append", "-o", "x.rmx", "s-1", "s-1"),
            status=2,
            err="recmap: s-1: the shard is named twice\n  name each shard once\n",
        )


class AnnotatedGrowth(CliTest):
    """Whatever was added to the shards of an index with an annotated column, the commands agree."""

    def setUp(self):
        super().setUp()
        for name in "013":
            self.write(f"d/a-{name}", tfrecord(EXAMPLES[:2]))
        self.write("s.csv", b"number,score\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(6)))
        self.index("d", "--id", "id")
        self.check(
            *("annotate", "--column", "score=s.csv", "d/a.rmx"),
            err="recmap: d/a.rmx: columns: 1 added, 0 dropped, 0 renamed\n",
        )

    def restore(self):
        for name in os.listdir(self.path("d")):
            os.remove(self.path(f"d/{name}"))
        for name in os.listdir(self.path("before")):
            shutil.copy2(self.path(f"before/{name}"), self.path(f"d/{name}"))

    def check_index(self):
        """The new records follow all others, and have no score."""
        self.check("get", "d/a.rmx", "6", out=EXAMPLES[2])
        found = self.run_recmap("select", "d/a.rmx", "--where", "score > -1").out
        self.assertEqual(found.decode().split(), [str(i) for i in range(6)])

    def test_every_growth_is_appended(self):
        shutil.copytree(self.path("d"), self.path("before"))
        for name in ("a-3", "a-0", "a-2", "a-4"):
            with self.subTest(name):
                self.restore()
                with open(self.path(f"d/{name}"), "ab") as shard:
                    shard.write(tfrecord(EXAMPLES[2:3]))
                self.check_growth(name)

    def check_growth(self, name):
        refused = self.run_recmap("index", "d")
        self.assertEqual(refused.status, 2)
        self.assertIn(b"the same command with --append", refused.err)
        extended = self.run_recmap("index", "--append", "d")
        self.assertEqual(extended.status, 0, extended.err)
        self.check_index()
        appended = self.read("d/a.rmx")
        self.assertEqual(self.run_recmap("info", "d").err, b"")
        shutil.copy2(self.path("before/a.rmx"), self.path("d/a.rmx"))
        lines = self.run_recmap("info", "d").err.decode().splitlines()
        due = ["recmap: d/a.rmx: indexed 7 records"]
        if name == "a-2":
            due.append(
                "recmap: d/a.rmx: the records of d/a-2 follow those of all other shards, because "
                "the index had shards after it"
            )
        self.assertEqual(lines, due)
        self.assertEqual(self.read("d/a.rmx"), appended)
        self.assertEqual(self.run_recmap("info", "d").err, b"")
        drop = re.search(rb"`recmap (annotate .*)`", refused.err)[1].decode()
        self.assertEqual(self.run_recmap(*shlex.split(drop)).status, 0)
        self.assertEqual(self.run_recmap("index", "d").status, 0)


class Waiting(CliTest):
    """An append waits for another one, and for nobody else."""

    def setUp(self):
        super().setUp()
        for name in "ab":
            self.write(name, shard(name))
        self.index("a", "-o", "x.rmx")

    def lock(self, name, flags):
        descriptor = os.open(self.path(name), flags, 0o200)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return descriptor

    def wait(self):
        """Starts an append, and returns its process once that has said that it waits."""
        process = subprocess.Popen(
            [COMMAND, "index", "--append", "-o", "x.rmx", "b"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=signals_as_usual,
        )
        self.assertEqual(
            process.stderr.readline(), b"recmap: waiting for another append to x.rmx\n"
        )
        return process

    def test_readers_are_not_awaited(self):
        self.lock("x.rmx", os.O_RDONLY)
        process = subprocess.run(
            [COMMAND, "index", "--append", "-o", "x.rmx", "b"],
            cwd=self.folder,
            capture_output=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.payloads("x.rmx"), [b"a", b"b"])
        self.assertEqual(self.files(), ["a", "b", "x.rmx"])

    def test_the_other_append_ends(self):
        lock = self.lock("x.rmx.lock", os.O_WRONLY | os.O_CREAT)
        process = self.wait()
        fcntl.flock(lock, fcntl.LOCK_UN)
        err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn(b"waiting", err)
        self.assertEqual(self.payloads("x.rmx"), [b"a", b"b"])
        self.assertEqual(self.files(), ["a", "b", "x.rmx"])

    def test_a_signal_ends_the_wait(self):
        self.lock("x.rmx.lock", os.O_WRONLY | os.O_CREAT)
        before = self.read("x.rmx")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.wait()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((out, process.returncode), (b"", -number))
            self.assertEqual(
                err, b"recmap: x.rmx: cancelled while waiting for another append to the index\n"
            )
            self.assertEqual(self.files(), ["a", "b", "x.rmx", "x.rmx.lock"])
        self.assertEqual(self.read("x.rmx"), before)


if __name__ == "__main__":
    unittest.main()
