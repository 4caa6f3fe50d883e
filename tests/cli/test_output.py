"""cat and get: the formats of their output, and the files that they write."""

import base64
import gzip
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from support import (
    COMMAND,
    EXAMPLES,
    IS_SANITIZED,
    CliTest,
    example,
    frame,
    signals_as_usual,
    tfrecord,
)


class Formats(CliTest):
    def setUp(self):
        super().setUp()
        self.records = [*EXAMPLES, b"", b"\xff\x00 no example", example(n=[1, -2], s=[])]
        self.write("a", tfrecord(self.records))
        self.index("a")

    def test_copies_of_records_are_as_private_as_their_shards(self):
        for name, mode in ("a", 0o644), ("b", 0o640):
            self.write(f"p/{name}.tfrecord", tfrecord([b"secret"]))
            os.chmod(self.path(f"p/{name}.tfrecord"), mode)
        self.index("-o", "private.rmx", "p/a.tfrecord", "p/b.tfrecord")
        self.write("replaced", b"")
        os.chmod(self.path("replaced"), 0o644)
        for command in ["cat"], ["get", "0"], ["cat", "--format", "tfrecord"]:
            for output in "new", "replaced":
                result = self.run_recmap(command[0], "private.rmx", *command[1:], "-o", output)
                self.assertEqual(result.status, 0, result)
                self.assertEqual(os.stat(self.path(output)).st_mode & 0o007, 0, command)
            os.unlink(self.path("new"))

    def test_json_has_numbers_and_features(self):
        lines = self.run_recmap("cat", "a.rmx", "--format", "json").out.decode().splitlines()
        documents = [json.loads(line) for line in lines]
        self.assertEqual(len(documents), 8)
        self.assertEqual(
            documents[1],
            {
                "features": {
                    "feature": {
                        "id": {"bytesList": {"value": [base64.b64encode(b"id-1").decode()]}},
                        "image": {
                            "bytesList": {
                                "value": [base64.b64encode(bytes([1, 255]) * 30).decode()]
                            }
                        },
                        "label": {"int64List": {"value": ["1"]}},
                        "weights": {"floatList": {"value": [0.5, 1]}},
                    }
                }
            },
        )
        self.assertEqual(documents[5], {})
        self.assertEqual(
            documents[6], {"number": 6, "base64": base64.b64encode(self.records[6]).decode()}
        )
        self.assertEqual(
            documents[7]["features"]["feature"]["n"], {"int64List": {"value": ["1", "-2"]}}
        )

    def test_tfrecord_can_be_indexed_again(self):
        self.check("cat", "a.rmx", "--format", "tfrecord", out=self.read("a"))
        self.check("cat", "a.rmx", "--format", "tfrecord", "-o", "b.tfrecord")
        self.assertEqual(self.read("b.tfrecord"), self.read("a"))
        self.index("b.tfrecord")
        self.assertEqual(self.payloads("b.rmx"), self.records)
        self.check(
            "get",
            "a.rmx",
            "3",
            "1",
            "--format",
            "tfrecord",
            out=tfrecord([self.records[3], self.records[1]]),
        )

    def test_only_local_files_are_written(self):
        advice = "No such file or directory\n  a URL cannot be used here: name a local file\n"
        for folder, words in (
            ("s3://b", "index -o s3://b/x.rmx a"),
            ("s3://b", "merge -o s3://b/x.rmx a.rmx"),
            ("s3://b", "select a.rmx --where length>0 -o s3://b/x.rmv"),
            ("s3://b", "cat a.rmx -o s3://b/x@2"),
        ):
            err = f"recmap: {folder}: cannot resolve the path: {advice}"
            self.check(*words.split(), status=4, err=err)
        err = f"recmap: s3://b/x: cannot create the file: {advice}"
        self.check("cat", "a.rmx", "-o", "s3://b/x", status=4, err=err)
        self.check("report", "a.rmx", "-o", "s3://b/x", status=4, err=err)
        err = (
            "recmap: d/s3://x: cannot create the file: No such file or directory\n"
            "  check the path; relative paths start at the current folder\n"
        )
        self.check("cat", "a.rmx", "-o", "d/s3://x", status=4, err=err)

    def test_a_schema_of_other_records(self):
        result = self.run_recmap("schema", "a.rmx", "--json")
        self.assertEqual(
            result.err,
            b"recmap: 1 of 8 records are not a single tf.Example or tf.SequenceExample\n",
        )
        self.assertEqual(
            json.loads(result.out)["weights"],
            {
                "kind": "float",
                "share": 5 / 8,
                "min_length": 2,
                "max_length": 2,
                "unset_share": 0,
                "missing_share": 3 / 8,
                "shape": None,
                "min": 0,
                "max": 4,
                "nan_count": 0,
            },
        )

    def test_a_schema_is_aligned(self):
        self.write("b", tfrecord([example(**{"a\tb\x1b": 1, "n": [1] * 1234567}), example(n=[1])]))
        self.index("b")
        self.check(
            "schema",
            "b.rmx",
            out=(
                "kind       share          values  range  feature\n"
                "int64    50.00 %               1  1      a\\tb\\x1b\n"
                "int64   100.00 %      1..1234567  1      n\n"
            ),
        )

    def test_a_sample_is_spread_evenly(self):
        for count, sample in ((10, 4), (10, 3), (10, 10), (7, 5), (300, 299)):
            self.write("many", tfrecord([example(**{f"n{i}": i}) for i in range(count)]))
            self.index("many")
            result = self.run_recmap("schema", "many.rmx", "--json", f"--sample={sample}")
            numbers = sorted(int(name[1:]) for name in json.loads(result.out))
            self.assertEqual(len(numbers), sample)
            self.assertEqual((numbers[0], numbers[-1]), (0, count - 1))
            for part, number in enumerate(numbers):
                self.assertTrue(part * count // sample <= number < -(-(part + 1) * count // sample))

    def test_a_sample_is_that_of_python(self):
        """python/tests/dataset/test_sample.py has the same numbers."""
        self.write("many", tfrecord([example(**{f"n{i}": i}) for i in range(1000)]))
        self.index("many")
        result = self.run_recmap("schema", "many.rmx", "--json", "--sample=12")
        numbers = sorted(int(name[1:]) for name in json.loads(result.out))
        self.assertEqual(numbers, [0, 157, 210, 289, 361, 480, 519, 601, 743, 765, 854, 999])

    def test_a_sample_finds_what_is_regular(self):
        records = [example(n=1, **({"tenth": 1} if i % 10 == 5 else {})) for i in range(10000)]
        self.write("regular", tfrecord(records))
        self.index("regular")
        result = self.run_recmap("schema", "regular.rmx", "--json")
        self.assertAlmostEqual(json.loads(result.out)["tenth"]["share"], 0.1, delta=0.04)

    @unittest.skipIf(IS_SANITIZED, "sanitizers need address space without limit")
    def test_little_address_space(self):
        payload = b"\0" * (1 << 20)
        self.write("big", tfrecord([payload]) * 96)
        self.index("big")

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (80 << 20, 80 << 20))

        mapping = b"cannot map the file: Cannot allocate memory"
        for access, warning in (("map", mapping), ("read", b"")):
            result = self.run_recmap("cat", "big.rmx", "--access", access, preexec_fn=limit)
            self.assertEqual((result.err.count(b"\n"), result.status), (2 if warning else 0, 0))
            self.assertIn(warning, result.err)
            self.assertTrue(result.out == payload * 96)

    def test_pread_maps_nothing(self):
        self.write("big", tfrecord([b"x" * 100000]) * 50)
        self.index("big")
        for access, is_mapped in (("map", True), ("read", False)):
            process = subprocess.Popen(
                [COMMAND, "cat", "big.rmx", "--access", access],
                cwd=self.folder,
                stdout=subprocess.PIPE,
            )
            # The output is larger than a pipe, so the command is still running.
            begin = process.stdout.read(1)
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                mapped = [line.split()[-1] for line in maps]
            with process.stdout:
                rest = process.stdout.read()
            self.assertEqual(self.path("big") in mapped, is_mapped)
            self.assertEqual((len(begin + rest), process.wait(timeout=60)), (5000000, 0))


class OutputFiles(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a", tfrecord(EXAMPLES))
        self.index("a")

    def test_every_format_goes_to_a_file_or_a_pipe(self):
        for form in ("raw", "tfrecord", "json", "number"):
            for words in (["cat", "a.rmx"], ["get", "a.rmx", "1", "0"]):
                expected = self.run_recmap(*words, "--format", form).out
                self.check(*words, "--format", form, "-o", "out")
                self.assertEqual(self.read("out"), expected)
                self.assertEqual(self.files(), ["a", "a.rmx", "out"])
                os.remove(self.path("out"))

    def test_new_files_have_the_usual_rights(self):
        self.check("cat", "a.rmx", "-o", "new", umask=0o027)
        self.assertEqual(os.stat(self.path("new")).st_mode & 0o777, 0o640)
        os.chmod(self.path("new"), 0o600)
        self.check("cat", "a.rmx", "-o", "new", umask=0)
        self.assertEqual(os.stat(self.path("new")).st_mode & 0o777, 0o600)

    def test_rights_of_private_records(self):
        """Nobody can read the copies who cannot read the source; not the index either."""
        os.mkdir(self.path("out"))
        for mode in (0o600, 0o640, 0o644):
            for private in ("a", "a.rmx"):
                os.chmod(self.path("a"), 0o644)
                os.chmod(self.path("a.rmx"), 0o644)
                os.chmod(self.path(private), mode)
                for words in (["s@2"], ["t.tfrecord"], ["u", "--format", "tfrecord"]):
                    result = self.run_recmap("cat", "a.rmx", "-o", f"out/{words[0]}", *words[1:])
                    self.assertEqual(result.status, 0, result.err)
                for name in os.listdir(self.path("out")):
                    self.assertEqual(os.stat(self.path(f"out/{name}")).st_mode & 0o777, mode, name)
                    os.remove(self.path(f"out/{name}"))

    def test_rights_of_imported_records(self):
        self.write("b.json", self.run_recmap("cat", "a.rmx", "--format", "json").out)
        self.write("c.json", self.read("b.json"))
        for modes, due in (((0o600, 0o644), 0o600), ((0o644, 0o640), 0o640), ((0o644,), 0o644)):
            names = ["b.json", "c.json"][: len(modes)]
            for name, mode in zip(names, modes):
                os.chmod(self.path(name), mode)
            result = self.run_recmap("import", *names, "-o", "new.tfrecord")
            self.assertEqual(result.status, 0, result.err)
            self.assertEqual(os.stat(self.path("new.tfrecord")).st_mode & 0o777, due)
            os.remove(self.path("new.tfrecord"))

    def test_links_and_devices(self):
        self.write("old", b"old")
        os.symlink("old", self.path("link"))
        self.check("cat", "a.rmx", "-o", "link", "--format", "number")
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.read("old"), b"0\n1\n2\n3\n4\n")
        before = os.stat("/dev/null")
        self.check("cat", "a.rmx", "-o", "/dev/null")
        self.assertEqual(os.stat("/dev/null").st_ino, before.st_ino)
        self.check("cat", "a.rmx", "-o", "/dev/stdout", "--format", "number", out="0\n1\n2\n3\n4\n")

    def test_neither_the_index_nor_a_shard_is_replaced(self):
        os.mkdir(self.path("in"))
        os.mkdir(self.path("far"))
        os.rename(self.path("a"), self.path("in/b"))
        self.write("in/c", tfrecord(EXAMPLES))
        self.index("-o", "a.rmx", "in/b", "in/c")
        self.index("-o", "far/a.rmx", "in/b")
        os.symlink("in/c", self.path("link"))
        os.link(self.path("in/b"), self.path("hard"))
        self.write("other", b"")
        for index, name, what in (
            ("a.rmx", "a.rmx", "is the index itself"),
            ("a.rmx", "./in/../a.rmx", "is the index itself"),
            ("a.rmx", "in/b", "is one of the shards"),
            ("a.rmx", "link", "is one of the shards"),
            ("a.rmx", "hard", "is one of the shards"),
            (self.path("a.rmx"), "in/c", "is one of the shards"),
            ("far/a.rmx", "in/b", "is one of the shards"),
        ):
            for words in (["cat"], ["get", "0"]):
                self.check(
                    *words[:1],
                    index,
                    *words[1:],
                    "-o",
                    name,
                    status=2,
                    err=(
                        f"recmap: {name}: {what} and would be overwritten\n"
                        "  name another file with -o\n"
                    ),
                )
        self.assertEqual(self.read("in/b"), tfrecord(EXAMPLES))
        os.mkdir(self.path("links"))
        os.symlink("../far/a.rmx", self.path("links/a.rmx"))
        os.symlink("../a.rmx", self.path("links/b.rmx"))
        self.write("copy/in/b", tfrecord(EXAMPLES))
        for index, name, *options in (
            ("links/a.rmx", "in/b"),
            ("links/b.rmx", "in/c"),
            ("a.rmx", "copy/in/b", "--shards", "copy"),
        ):
            advice = "\n  name another file with -o\n"
            what = "is one of the shards and would be overwritten"
            err = f"recmap: {name}: {what}{advice}"
            self.check("get", index, "0", *options, "-o", name, status=2, err=err)
        self.check("cat", "a.rmx", "-o", "other")

    def test_other_files_of_records_are_not_replaced(self):
        files = {
            "part-00000": tfrecord([b"x", b""]),
            "b.tfrecord": tfrecord([b"x"])[:-1],
            "b.tfrecord.gz": gzip.compress(tfrecord([b"x"])),
        }
        for name, data in files.items():
            self.write(name, data)
            for words in (
                ["cat", "a.rmx", "--format", "tfrecord"],
                ["cat", "a.rmx", "--format", "json"],
                ["get", "a.rmx", "0"],
                ["sample", "a.rmx", "1", "--format", "number"],
                ["report", "a.rmx"],
            ):
                result = self.run_recmap(*words, "-o", name)
                self.assertEqual(result.status, 2, words)
                self.assertEqual(self.read(name), data)
                self.assertIn(b": exists already and has records\n", result.err)

    def test_files_without_records_are_replaced(self):
        empty = "empty.tfrecord"
        short = frame(b"x")[:11]
        for name, data in ((empty, b""), ("short", short), ("long", b"\xff" * 40)):
            self.write(name, data)
            self.check("cat", "a.rmx", "--format", "tfrecord", "-o", name)
            self.assertEqual(self.read(name), self.read("a"))

    def test_a_killed_run_is_cleaned_up_by_the_next(self):
        self.write("big", tfrecord([b"x" * 8000]) * 20000)
        self.index("big")
        self.write("out.tmp-keep", b"")
        files = self.files()

        def begin():
            before = self.files()
            process = subprocess.Popen(
                [COMMAND, "cat", "big.rmx", "--format", "json", "-o", "out"],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            # A stopped process must not outlive the test.
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            while process.poll() is None:
                new = set(self.files()) - set(before)
                if any(os.path.getsize(self.path(name)) for name in new):
                    break
                time.sleep(0.001)
            return process

        killed = begin()
        killed.kill()
        self.assertEqual(killed.wait(timeout=60), -signal.SIGKILL)
        self.assertEqual(len(self.files()), len(files) + 1)
        # The file of a running process is kept.
        stopped = begin()
        stopped.send_signal(signal.SIGSTOP)
        self.assertEqual(len(self.files()), len(files) + 1)
        self.check("cat", "a.rmx", "-o", "out")
        self.assertEqual(len(self.files()), len(files) + 2)
        stopped.send_signal(signal.SIGCONT)
        self.assertEqual(stopped.wait(timeout=120), 0)
        self.assertEqual(self.files(), sorted([*files, "out"]))

    def test_failures_are_explained(self):
        advice = "  check the path; relative paths start at the current folder\n"
        self.check(
            "cat",
            "a.rmx",
            "-o",
            "no/out",
            status=4,
            err=f"recmap: no/out: cannot create the file: No such file or directory\n{advice}",
        )
        os.mkdir(self.path("d"))
        self.check(
            "cat",
            "a.rmx",
            "-o",
            "d",
            status=4,
            err="recmap: d: cannot open the file: Is a directory\n"
            "  check the path, its permissions and the state of the device\n",
        )
        self.assertEqual(self.files(), ["a", "a.rmx", "d"])

    def test_a_failed_read_leaves_the_old_file(self):
        self.write("out", b"old")
        data = bytearray(self.read("a"))
        data[-10] ^= 1
        self.write("a", bytes(data))
        for words in (["cat", "a.rmx"], ["get", "a.rmx", "0", "4"]):
            self.assertEqual(self.run_recmap(*words, "-o", "out").status, 3)
            self.assertEqual(self.read("out"), b"old")
            self.assertEqual(self.files(), ["a", "a.rmx", "out"])

    def test_a_signal_leaves_no_files(self):
        self.write("big", tfrecord([b"x" * 8000]) * 20000)
        self.index("big")
        files = self.files()
        for words in (["cat", "big.rmx"], ["get", "big.rmx", *map(str, range(20000))]):
            process = subprocess.Popen(
                [COMMAND, *words, "--format", "json", "-o", "out"],
                cwd=self.folder,
                stderr=subprocess.PIPE,
                preexec_fn=signals_as_usual,
            )
            while self.files() == files and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (-signal.SIGINT, b"recmap: cancelled\n"))
            self.assertEqual(self.files(), files)


if __name__ == "__main__":
    unittest.main()
