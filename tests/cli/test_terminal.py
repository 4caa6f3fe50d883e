"""Output on a terminal: previews, colour, progress."""

import gzip
import os
import pty
import re
import subprocess
import unittest

from support import COMMAND, CliTest, example, frame, sequence_example, tfrecord


def setUpModule():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        raise unittest.SkipTest(f"there are no terminals here: {error}") from error


class Terminal(CliTest):
    def on_terminal(self, *arguments, stdout=True, stderr=True, **environment):
        """Runs the command with stdout, stderr or both on a terminal. Returns its output."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.folder,
            stdin=theirs,
            stdout=theirs if stdout else subprocess.DEVNULL,
            stderr=theirs if stderr else subprocess.DEVNULL,
            env={**os.environ, **environment},
        )
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # how Linux says that the other side is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0, shown)
        return shown.replace(b"\r\n", b"\n").decode()

    def setUp(self):
        super().setUp()
        self.write(
            "a",
            tfrecord(
                [
                    example(
                        id="id\t7",
                        label=-7,
                        image=b"\x89PNG\r\n\x1a\n" + bytes(100),
                        long="x" * 100,
                        many=list(range(20)),
                        some=[0.5, 2.0],
                        words=["a", "b"] * 3,
                    ),
                    bytes(range(80)),
                    b"",
                ]
            ),
        )
        self.index("a")

    def test_a_terminal_gets_a_preview(self):
        self.assertEqual(
            self.on_terminal("get", "a.rmx", "0", NO_COLOR="1"),
            (
                f"record 0, {self.size(0)} bytes, tf.Example\n"
                '  id                    bytes  "id\\t7"\n'
                "  image                 bytes  89504e470d0a1a0a0000000000000000... (108 bytes)\n"
                "  label                 int64  -7\n"
                f'  long                  bytes  "{"x" * 48}"... (100 bytes)\n'
                "  many                  int64  0, 1, 2, 3, 4, 5, 6, 7, ... (20 values)\n"
                "  some                  float  0.5, 2\n"
                '  words                 bytes  "a", "b", "a", ... (6 values)\n'
            ),
        )

    def size(self, number):
        return len(self.run_recmap("get", "a.rmx", str(number)).out)

    def test_a_preview_of_a_sequence(self):
        record = sequence_example(
            {"id": "clip"},
            {"frame": [[i, 9] for i in range(5)], "none": [], "words": ['{a"]', "b"]},
        )
        self.write("s", tfrecord([record, sequence_example({}, {"only": [1]})]))
        self.index("s")
        self.assertEqual(
            self.on_terminal("cat", "s.rmx", NO_COLOR="1"),
            (
                f"record 0, {len(record)} bytes, tf.SequenceExample\n"
                '  id                    bytes  "clip"\n'
                "  frame[0]              int64  0, 9\n"
                "  frame[1]              int64  1, 9\n"
                "  frame[2]              int64  2, 9\n"
                "  frame                 ... (5 steps)\n"
                "  none                  0 steps\n"
                '  words[0]              bytes  "{a"]"\n'
                '  words[1]              bytes  "b"\n'
                "record 1, 21 bytes, tf.SequenceExample\n"
                "  only[0]               int64  1\n"
            ),
        )

    def test_a_preview_of_text(self):
        self.write("c.csv", b"city,size\nRome,3.5\nbad\n")
        self.index("c.csv", "--framing", "csv", "-o", "c.rmx")
        self.assertEqual(
            self.on_terminal("cat", "c.rmx", NO_COLOR="1"),
            (
                "record 0, 8 bytes, row of CSV\n"
                '  city                  bytes  "Rome"\n'
                "  size                  float  3.5\n"
                "record 1, 3 bytes\n"
                f"  0000  62 61 64{' ' * 41}bad\n"
            ),
        )
        self.write("j.jsonl", b'{"n":null,"t":"x\\ny"}\n')
        self.index("j.jsonl", "--framing", "lines", "-o", "j.rmx")
        self.assertEqual(
            self.on_terminal("get", "j.rmx", "0", NO_COLOR="1"),
            (
                "record 0, 21 bytes, JSON object\n"
                "  n                     unset\n"
                '  t                     bytes  "x\\ny"\n'
            ),
        )
        self.assertEqual(self.on_terminal("get", "j.rmx", "0", "--feature", "t"), "x\\ny\n")

    def test_a_preview_of_other_bytes(self):
        self.assertEqual(
            self.on_terminal("cat", "a.rmx", "--from", "1", NO_COLOR="1"),
            (
                "record 1, 80 bytes\n"
                "  0000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................\n"
                "  0010  10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f  ................\n"
                "  0020  20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f   !\"#$%&'()*+,-./\n"
                "  0030  30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?\n"
                "  ...\n"
                "record 2, 0 bytes\n"
            ),
        )

    def test_a_preview_says_what_is_not_an_example(self):
        self.write("z", tfrecord([gzip.compress(example(x=1), mtime=0)]))
        self.index("z")
        shown = self.on_terminal("get", "z.rmx", "0", NO_COLOR="1").splitlines()
        self.assertTrue(shown[0].startswith("record 0, "))
        self.assertEqual(shown[1], "  the record is not a tf.Example, but a gzip stream")
        self.assertTrue(shown[2].startswith("  0000  1f 8b"))

    def test_colour_depends_on_the_terminal(self):
        coloured = self.on_terminal("get", "a.rmx", "0", NO_COLOR="")
        plain = self.on_terminal("get", "a.rmx", "0", NO_COLOR="1")
        self.assertIn("\x1b[1mrecord 0\x1b[0m,", coloured)
        self.assertNotIn("\x1b", plain)
        self.assertEqual(re.sub(r"\x1b\[\d*m", "", coloured), plain)

    def test_a_named_format_is_kept(self):
        self.assertEqual(self.on_terminal("get", "a.rmx", "1", "--format", "number"), "1\n")

    def test_ids_are_printable(self):
        self.write("b", tfrecord([example(id="id\t7\x1b[1m")]))
        self.index("b", "--id", "id")
        self.assertEqual(self.on_terminal("find", "b.rmx", "id\t7\x1b[1m"), "id\\t7\\x1b[1m\t0\n")
        self.check("find", "b.rmx", "id\t7\x1b[1m", out="id\t7\x1b[1m\t0\n")

    def test_two_byte_control_characters_reach_no_terminal(self):
        """U+009B begins a command as ESC [ does."""
        self.write("b", tfrecord([example(id="é\x9b1m\x85", **{"n\x9b": "v\x9b"})]))
        self.index("b", "--id", "id")
        commands = [
            (("find", "b.rmx", "é\x9b1m\x85"), "é\\x9b1m\\x85\t0"),
            (("get", "b.rmx", "0", "--feature", "n\x9b"), "v\\x9b"),
            (("schema", "b.rmx"), "n\\x9b"),
            (("get", "b.rmx", "0"), "n\\x9b"),
            (("cat", "b.rmx"), "n\\x9b"),
        ]
        for command, expected in commands:
            shown = self.on_terminal(*command)
            self.assertIn(expected, shown)
            self.assertNotRegex(shown, "[\x7f-\x9f]")
        for arguments in (["find", "b.rmx", "no\x9b\x7fé"], ["info", "a\x9b.rmx"], ["a\x9bé"]):
            done = self.run_recmap(*arguments)
            self.assertNotRegex(done.err.decode(), "[\x7f-\x9f]")
            self.assertIn(r"\x9b", done.err.decode())
        os.rename(self.path("b.rmx"), self.path("b\x9b.rmx"))
        self.assertIn(r"b\x9b.rmx: ", self.run_recmap("verify", "b\x9b.rmx").out.decode())
        self.assertIn(r"b\x9b.rmx", self.run_recmap("info", "b\x9b.rmx").out.decode())

    def test_texts_look_like_what_they_are(self):
        """Characters that are invisible or change the direction of text are shown as escapes."""
        hidden = "\u202e\u2066\u200b\u200d\ufeff\u00ad\u2028\U000e0041\u061c\u115f\u3164\ufe0f"
        shown = "\\u202e\\u2066\\u200b\\u200d\\ufeff\\xad\\u2028\\U000e0041\\u061c"
        shown += "\\u115f\\u3164\\ufe0f"
        as_json = shown.replace("\\xad", "\\u00ad").replace("\\U000e0041", "\\udb40\\udc41")
        kept = "é\u0645\U0001f600\u3042"  # letters of any direction, pictures
        self.write(f"b{hidden}", tfrecord([example(id=f"i{hidden}{kept}", **{f"n{hidden}": "v"})]))
        self.index(f"b{hidden}", "-o", "b.rmx", "--id", "id", "--lift", f"n{hidden}")
        for command, expected in (
            (("find", "b.rmx", f"i{hidden}{kept}"), f"i{shown}{kept}"),
            (("get", "b.rmx", "0", "--feature", "id"), f"i{shown}{kept}"),
            (("schema", "b.rmx"), f"n{shown}"),
            (("info", "b.rmx"), f"n{shown}"),
            (("get", "b.rmx", "0"), f"n{shown}"),
            (("cat", "b.rmx", "--format", "json"), f"n{as_json}"),
            (("verify", "b.rmx"), "b.rmx"),
        ):
            out = self.on_terminal(*command)
            self.assertIn(expected, out, command)
            self.assertFalse(set(hidden) & set(out), command)
        error = self.run_recmap("find", "b.rmx", f"no{hidden}").err.decode()
        self.assertIn(f"no record has the id 'no{shown}'", error)
        os.remove(self.path(f"b{hidden}"))
        for words in (["get", "b.rmx", "0"], ["index", f"b{hidden}"], [f"no{hidden}"]):
            done = self.run_recmap(*words)
            self.assertIn(shown, done.err.decode(), words)
            self.assertFalse(set(hidden) & set((done.out + done.err).decode()), words)

    def test_progress_is_shown_on_terminals(self):
        record = frame(example(id="x", label=1))
        self.write("big", record * (64 * 1024 * 1024 // len(record)))
        bar = r"\[#*-*\] +\d+ %  [\d.]+ \w?B of [\d.]+ \w?B  [\d.]+ \w?B/s  [\d.?]+( \w+)? left"
        for label, words in (
            ("indexing", ["index", "big", "--threads", "1"]),
            ("verifying", ["verify", "big.rmx", "--threads", "1"]),
            ("writing", ["cat", "big.rmx", "-o", "out", "--format", "json"]),
        ):
            shown = self.on_terminal(*words)
            steps = re.findall(rf"\r{label} {bar}\x1b\[K", shown)
            self.assertGreaterEqual(len(steps), 1, shown[:2000])
            # The bar is erased at the end; only a summary may follow.
            self.assertNotIn(label, shown.split("\r\x1b[K")[-1])
            self.assertIn("\r\x1b[K", shown)


if __name__ == "__main__":
    unittest.main()
