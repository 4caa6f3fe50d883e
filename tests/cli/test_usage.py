"""Help, version, wrong usage. The parser, help, manual and completion have the same options."""

import os
import pty
import re
import shutil
import signal
import subprocess
import unittest

from support import COMMAND, ROOT, CliTest, tfrecord

COMMANDS = [
    "index",
    "info",
    "report",
    "view",
    "schema",
    "get",
    "find",
    "cat",
    "order",
    "select",
    "sample",
    "split",
    "duplicates",
    "annotate",
    "verify",
    "doctor",
    "warm",
    "merge",
    "import",
    "export",
]
READERS = [
    "report", "view", "schema", "get", "find", "cat", "sample", "duplicates", "annotate", "doctor",
]  # fmt: skip


def manual(name):
    """A manual page, as the build made it."""
    with open(os.path.join(os.environ["RECMAP_MANUAL"], name + ".1"), encoding="ascii") as file:
        return file.read()


def entries_of_help(text):
    """The options as lists of letter, name, argument and text, and headings as texts."""
    entries = []
    for line in text.split("\n\n", 2)[2].split("\n"):
        if found := re.fullmatch(r"  (?:-(\w), |    )--([a-z-]+)(?: (\S+))?(?:  +(.*))?", line):
            entries.append([part or "" for part in found.groups()])
        elif line.startswith(" "):
            entries[-1][3] += " " + line.strip()
        elif line.endswith(":"):
            entries.append(line)
    return [[*entry[:3], entry[3].strip()] if len(entry) == 4 else entry for entry in entries]


def entries_of_manual(page):
    section = re.search(r"(?ms)^\.SH OPTIONS\n(.*?)^\.SH ", page)[1]
    section = re.sub(r"\\f.|\\&|\\(?=-)", "", section.replace("\n.br\n", " "))
    section = section.replace(r"\(aq", "'").replace(r"\(dq", '"')
    entries = []
    for heading, head, text in re.findall(r"\.(?:PP\n(.*)|TP\n(.*)\n(.*))\n", section):
        found = re.fullmatch(r"(?:-(\w), )?--([a-z-]+)(?: (\S+))?", head)
        entries.append(heading or [*(part or "" for part in found.groups()), text])
    return entries


class Completion(CliTest):
    """The scripts in tools/completion ask the command what there is."""

    def complete(self, *words):
        """What bash offers for the last of the words."""
        script = os.path.join(ROOT, "tools", "completion", "recmap.bash")
        code = (
            f"complete() {{ :; }}; recmap() {{ '{COMMAND}' \"$@\"; }}; . '{script}'; "
            'COMP_WORDS=(recmap "$@"); COMP_CWORD=$#; _recmap; printf \'%s\\n\' "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", code, "bash", *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout.decode().split()

    def test_commands_are_completed(self):
        self.assertEqual(self.complete(""), COMMANDS + ["--help", "--version"])
        self.assertEqual(self.complete("in"), ["index", "info"])

    def test_options_are_completed(self):
        for command in COMMANDS:
            told = [f"--{name}" for name in self.options(command)]
            self.assertEqual(self.complete(command, "--"), told, command)

    def test_arguments_are_completed(self):
        """Choices and folders; for all others bash offers files."""
        self.write("a/file", b"")
        tried = set()
        for command in COMMANDS:
            for option in self.options(command).items() - tried:
                name, argument = option
                words = [word for word in argument.split("|") if word and word == word.lower()]
                expected = ["a"] if argument == "FOLDER" else words
                self.assertEqual(self.complete(command, f"--{name}", ""), expected, (command, name))
                tried.add(option)
        self.assertEqual(self.complete("cat", "--format", "=", "t"), ["tfrecord"])
        self.assertEqual(self.complete("cat", "--last", "="), ["keep", "drop", "pad"])
        self.assertEqual(self.complete("cat", "/", "--no\\", "x"), [])

    def test_operands_are_files(self):
        self.assertEqual(self.complete("get", "a"), [])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class CompletionInZsh(CliTest):
    """zsh in a terminal, with its completion system."""

    # Ctrl-X prints what was offered, and the line as it was completed: zsh itself leaves out its
    # list if more keys wait. The quotes keep the echo of these lines from looking like the output.
    SETUP = r"""
unset zle_bracketed_paste
recmap() { $COMMAND "$@" }
fpath=($SCRIPTS $fpath); autoload -Uz compinit && compinit -D -u
compadd() { local -a found; builtin compadd -A found "$@"; offered+=($found); builtin compadd "$@" }
show() { zle -I; print -r -- "OFFERED""[$offered]LINE[$BUFFER]"; offered=(); BUFFER= }
zle -N show; bindkey '^X' show; bindkey '^I' complete-word; print READ""Y
"""

    def setUp(self):
        super().setUp()
        scripts = os.path.join(ROOT, "tools", "completion")
        self.unread = ""
        process, self.terminal = pty.fork()
        if not process:
            os.chdir(self.folder)
            names = {"COMMAND": COMMAND, "SCRIPTS": scripts, "HOME": self.folder, "TERM": "dumb"}
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, **names})
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.kill, process, signal.SIGKILL)
        self.addCleanup(os.close, self.terminal)
        for line in self.SETUP.strip().splitlines():
            os.write(self.terminal, line.encode() + b"\n")
        self.read_until("READY\r\n")

    def read_until(self, end):
        while end not in self.unread:
            self.unread += os.read(self.terminal, 65536).decode()
        text, self.unread = self.unread.split(end, 1)
        return text

    def complete(self, line):
        """What is offered for the line, and the line as it was completed."""
        os.write(self.terminal, line.encode() + b"\t\x18")
        self.read_until("OFFERED[")
        return self.read_until("]LINE[").split(), self.read_until("]")

    def test_commands_options_and_files(self):
        words, _ = self.complete("recmap ")
        self.assertEqual(set(words), {*COMMANDS, "--help", "--version"})
        self.assertEqual(self.complete("recmap in"), (["index", "info"], "recmap in"))
        told = {f"--{name}" for name in self.options("split")}
        self.assertEqual(set(self.complete("recmap split --")[0]), told)
        self.assertEqual(self.complete("recmap index --li")[1], "recmap index --lift ")
        self.write("data/a.rmx", b"")
        self.assertEqual(self.complete("recmap get d")[1], "recmap get data/")
        self.assertEqual(self.complete("recmap get data/")[1], "recmap get data/a.rmx ")

    def test_arguments_are_completed(self):
        self.write("data/a", b"")
        self.write("date", b"")
        self.assertEqual(self.complete("recmap get --shards d")[1], "recmap get --shards data/")
        self.assertEqual(self.complete("recmap get --shards=d")[1], "recmap get --shards=data/")
        self.assertEqual(self.complete("recmap get --from=date")[1], "recmap get --from=date ")
        self.assertEqual(self.complete("recmap get --format t")[1], "recmap get --format tfrecord ")
        self.assertEqual(set(self.complete("recmap cat --check=")[0]), {"data", "header"})


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class CompletionInFish(CliTest):
    def complete(self, line):
        script = os.path.join(ROOT, "tools", "completion", "recmap.fish")
        code = f"function recmap; '{COMMAND}' $argv; end; source '{script}'; complete -C '{line}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", code],
            check=True,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            env={**os.environ, "HOME": self.folder},
        )
        return [line.split("\t")[0] for line in done.stdout.decode().splitlines()]

    def test_commands_options_and_files(self):
        offered = set(self.complete("recmap "))
        self.assertEqual(offered, {*COMMANDS, "--help", "--version"})
        told = {f"--{name}" for name in self.options("split")}
        self.assertEqual(set(self.complete("recmap split --")), told)
        self.write("a.rmx", b"")
        self.write("apart/b", b"")
        self.assertEqual(self.complete("recmap get a"), ["a.rmx", "apart/"])
        self.assertEqual(self.complete("recmap get --from=a."), ["--from=a.rmx"])
        self.assertEqual(self.complete("recmap get --shards a"), ["apart/"])
        self.assertEqual(self.complete("recmap get --shards=a"), ["--shards=apart/"])
        self.assertEqual(set(self.complete("recmap get --check ")), {"data", "header"})
        self.assertEqual(self.complete("recmap get --format=t"), ["--format=tfrecord"])


class Help(CliTest):
    def test_the_tool_and_the_manual_list_the_commands(self):
        result = self.run_recmap("--help")
        self.assertEqual((result.err, result.status), (b"", 0))
        listed = re.search(r"commands:\n(.*?)\n\n", result.out.decode(), re.S)[1]
        self.assertEqual([line.split()[0] for line in listed.split("\n")], COMMANDS)
        self.assertTrue(result.out.startswith(b"usage: recmap COMMAND "))
        commands = re.findall(
            r"\.BR recmap\\-(\w+) \(1\)\n(.*)", manual("recmap").split(".SH CONV")[0]
        )
        self.assertEqual([f"  {name:10} {text}" for name, text in commands], listed.split("\n"))
        for name, text in commands:
            self.assertIn(f"\nrecmap\\-{name} \\- {text}\n", manual(f"recmap-{name}"))

    def test_every_command_has_help(self):
        for command in COMMANDS:
            for words in ([command, "--help"], [command, "-h"], [command, "x", "--help", "--no"]):
                result = self.run_recmap(*words)
                self.assertEqual((result.err, result.status), (b"", 0), command)
                self.assertTrue(result.out.startswith(f"usage: recmap {command} ".encode()))
                self.assertLessEqual(max(map(len, result.out.splitlines())), 95)

    def test_the_version_matches_the_header(self):
        with open(os.path.join(ROOT, "include", "recmap", "status.h"), encoding="ascii") as file:
            header = file.read()
        version = re.search(r'RECMAP_VERSION "([^"]+)"', header)[1]
        numbers = re.findall(r"RECMAP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.assertEqual(".".join(numbers), version)
        self.check("--version", out=f"recmap {version}\n")
        for name in ["recmap", *(f"recmap-{command}" for command in COMMANDS)]:
            self.assertIn(f'"recmap {version}"', manual(name))

    def test_options_of_the_parser_the_help_and_the_manual(self):
        for command in COMMANDS:
            told = entries_of_help(self.run_recmap(command, "--help").out.decode())
            self.assertEqual(entries_of_manual(manual(f"recmap-{command}")), told, command)
            options = [entry for entry in told if isinstance(entry, list)]
            self.assertTrue(all(text for *_, text in options), command)
            first = {name: argument for _, name, argument, _ in reversed(options)}
            self.assertEqual(self.options(command), first, command)
            self.assertEqual({"access", "check"} <= set(first), command in READERS, command)

    def test_every_option_is_taken(self):
        for command in COMMANDS:
            for name, argument in self.options(command).items():
                result = self.run_recmap(command, f"--{name}" + "=" * (not argument))
                error = "takes no argument" if not argument else "needs an argument"
                self.assertIn(f"option '--{name}", result.err.decode(), (command, name))
                self.assertIn(error, result.err.decode(), (command, name))

    def test_words_that_are_choices(self):
        for command in COMMANDS:
            for name, argument in self.options(command).items():
                if not argument or argument != argument.lower():
                    continue
                for word in argument.split("|"):
                    result = self.run_recmap(command, f"--{name}={word}", "--help")
                    self.assertEqual((result.err, result.status), (b"", 0), (command, name))
                choices = " or ".join(argument.replace("|", ", ").rsplit(", ", 1))
                self.check_wrong(
                    command, f"--{name}", "x", what=f"invalid --{name} 'x': use {choices}"
                )

    def test_the_manual_explains_options_that_commands_share(self):
        section = re.search(
            r"(?ms)^\.SS Options that commands share\n(.*?)^\.SH", manual("recmap")
        )[1]
        explained = re.findall(
            r"--([a-z-]+)", " ".join(re.findall(r"\.TP\n(.*)", section.replace("\\", "")))
        )
        commands = [set(self.options(command)) for command in COMMANDS]
        for name in explained:
            self.assertGreater(sum(name in options for options in commands), 4, name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not here")
    def test_manual_pages_render_without_warnings(self):
        for name in ["recmap", *(f"recmap-{command}" for command in COMMANDS)]:
            page = os.path.join(os.environ["RECMAP_MANUAL"], name + ".1")
            done = subprocess.run(
                ["groff", "-ww", "-man", "-Tascii", page],
                check=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self.assertEqual(done.stderr, b"", name)
            self.assertIn(b"EXIT STATUS", re.sub(rb"\x1b\[[0-9;]*m|.\x08", b"", done.stdout))


class WrongUsage(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.tfrecord", tfrecord([b"x"]))
        self.index("a.tfrecord")

    def test_of_the_tool(self):
        advice = "  try 'recmap --help'\n"
        self.check(err=f"recmap: no command given\n{advice}", status=2)
        self.check("help", out=self.run_recmap("--help").out)
        self.check("help", "get", out=self.run_recmap("get", "--help").out)
        self.check("help", "walk", err=f"recmap: unknown command 'walk'\n{advice}", status=2)
        self.check("walk", err=f"recmap: unknown command 'walk'\n{advice}", status=2)
        self.check("--json", err=f"recmap: unknown option '--json'\n{advice}", status=2)
        near = "  did you mean 'recmap verify'?\n"
        self.check("verfiy", err=f"recmap: unknown command 'verfiy'\n{near}", status=2)
        near = "  did you mean 'recmap --version'?\n"
        self.check("--verison", err=f"recmap: unknown option '--verison'\n{near}", status=2)
        near = "  did you mean 'recmap view'?\n"
        self.check("veiw", err=f"recmap: unknown command 'veiw'\n{near}", status=2)
        near = "  did you mean '--json'? 'recmap info --help' lists the options\n"
        self.check("info", "--jsno", err=f"recmap: info: unknown option '--jsno'\n{near}", status=2)
        near = "  did you mean '--seed'? 'recmap order --help' lists the options\n"
        self.check(
            "order", "--sed=3", err=f"recmap: order: unknown option '--sed=3'\n{near}", status=2
        )
        self.check("a\n\x1b[1m", err=f"recmap: unknown command 'a\\n\\x1b[1m'\n{advice}", status=2)

    def test_unknown_options_are_refused(self):
        for command in COMMANDS:
            self.check_wrong(command, "a.rmx", "--nonsense", what="unknown option '--nonsense'")
            self.check_wrong(command, "-x", what="unknown option '-x'")
            self.check_wrong(command, "--help=3", what="option '--help' takes no argument")
        for command in COMMANDS:
            kinds = {"FOLDER": "folder", "FILE": "file", "NAME.rmv": "file", "NAME.rmx": "file"}
            if argument := self.options(command).get("output"):
                self.check_wrong(command, "-o", what="option '-o' needs an argument")
                what = f"-o needs a {kinds[argument]} name"
                self.check_wrong(command, "a.rmx", "--output=", what=what)
        for command in ("get", "cat"):
            self.check_wrong(command, "--format", what="option '--format' needs an argument")
        self.check_wrong("info", "--json=1", "a.rmx", what="option '--json' takes no argument")
        self.check_wrong("cat", "--f", "raw", "a.rmx", what="option '--f' is ambiguous")
        for word in ("-7", "-500", "-5x"):
            self.check_wrong(
                "find",
                "a.rmx",
                word,
                what=(f"unknown option '{word}' (write -- before operands that begin with a dash)"),
            )

    def test_wrong_numbers_of_operands_are_refused(self):
        for command in (*READERS, "info", "select", "split", "annotate", "verify"):
            self.check_wrong(command, what="no index given")
        for command in (
            "info",
            "report",
            "view",
            "schema",
            "cat",
            "select",
            "duplicates",
            "verify",
        ):
            self.check_wrong(command, "a.rmx", "b", what="only one index can be given")
        files = "files of columns follow --column, as in --column score=scores.csv"
        self.check_wrong("annotate", "a.rmx", "b", what=f"only one index can be given: {files}")
        self.check_wrong("get", "a.rmx", what="no record number given")
        self.check_wrong("get", "a.rmx", "--by", "id", what="no id given")
        self.check_wrong("get", "a.rmx", "0", "--feature=", what="--feature needs a name")
        self.check_wrong(
            "get",
            "a.rmx",
            "0",
            "--feature=x",
            "--format",
            "json",
            what="--feature writes values: it can only have --format raw",
        )
        self.check_wrong("find", "a.rmx", what="no id given")
        self.check_wrong("index", what="no shards given")

    def test_of_an_index_to_index(self):
        advice = (
            "name its shards to build it again; of all options, only --lift can add to an index"
        )
        for words in (
            ("a.rmx",),
            ("a.rmx", "--count", "x"),
            ("-o", "b.rmx", "a.tfrecord", "a.rmx"),
        ):
            self.check(
                "index",
                *words,
                status=2,
                err=f"recmap: a.rmx: is an index, not a shard\n  {advice}\n",
            )
        os.rename(self.path("a.rmx"), self.path("a.index"))
        self.check(
            "index",
            "a.index",
            status=3,
            err=(
                "recmap: a.index: byte 0: is not a TFRecord file: it is a recmap index or another "
                "LMDB file\n  name TFRecord files; use a pattern (*.tfrecord) to leave out others, "
                "and a name that ends in .rmx for an index that you want to open\n"
            ),
        )

    def test_of_standard_output(self):
        for command in (["get", "a.rmx", "0"], ["cat", "a.rmx"], ["sample", "a.rmx", "1"]):
            expected = self.run_recmap(*command).out
            self.check(*command, "-o", "-", out=expected)
        report = self.run_recmap("report", "a.rmx", "-o", "-")
        self.assertEqual((report.status, report.err), (0, b""))
        self.assertIn(b"</html>", report.out)
        self.check(
            "index",
            "a.tfrecord",
            "-o",
            "-",
            status=2,
            err=(
                "recmap: an index cannot be written to standard output\n  name the index with -o\n"
            ),
        )
        self.assertEqual(self.files(), ["a.rmx", "a.tfrecord"])

    def test_malformed_numbers_are_refused(self):
        self.check_wrong("get", "a.rmx", "", what="NUMBER must be a whole number, not ''")
        for text in ("x", "1x", " 1", "+1", "1.0", "0x1", "1,000", "-", "--1"):
            self.check(
                "get",
                "a.rmx",
                "--",
                text,
                status=2,
                err=(
                    f"recmap: get: NUMBER must be a whole number, not '{text}'\n"
                    "  if it is an id, add `--by id`; try 'recmap get --help'\n"
                ),
            )
        self.check(
            "get",
            "0",
            "a.rmx",
            status=2,
            err=(
                "recmap: get: NUMBER must be a whole number, not 'a.rmx'\n"
                "  the index comes before the numbers; try 'recmap get --help'\n"
            ),
        )
        for text in ("", "x", "1x", " 1", "+1", "1.0", "0x1", "1,000"):
            self.check_wrong(
                "cat",
                "a.rmx",
                "--from",
                text,
                what=f"--from must be a whole number, not '{text}'",
            )
        for number in (2**64, 10**30):
            self.check_wrong(
                "get",
                "a.rmx",
                str(number),
                what=f"NUMBER must be at most {2**64 - 1}, not {number}",
            )
        self.check_wrong(
            "get", "a.rmx", "3:", what="END of FIRST:END must be a whole number, not ''"
        )
        self.check_wrong(
            "get", "a.rmx", ":3", what="FIRST of FIRST:END must be a whole number, not ''"
        )
        self.check_wrong(
            "get", "a.rmx", "3:1", what="FIRST:END must not end before it starts, as 3:1 does"
        )
        self.check_wrong(
            "cat", "a.rmx", "--count", "-1", what="--count must not be negative, but is -1"
        )
        self.check(
            "get",
            "a.rmx",
            "--",
            "-12",
            status=2,
            err=(
                "recmap: get: NUMBER must not be negative, but is -12\n"
                "  if it is an id, add `--by id`; try 'recmap get --help'\n"
            ),
        )
        self.check_wrong(
            "schema",
            "a.rmx",
            "--sample",
            "all",
            what="--sample must be a whole number, not 'all'",
        )
        self.check_wrong(
            "verify", "a.rmx", "--threads", "4097", what="--threads must be at most 4096, not 4097"
        )
        self.check_wrong(
            "cat",
            "a.rmx",
            "--from",
            "2",
            what="--from must be at most 1, the number of records, not 2",
        )

    def test_of_index_options(self):
        self.check_wrong("index", "a.tfrecord", "--id", "", what="--id needs a feature name")
        self.check_wrong("index", "a.tfrecord", "--lift", "=3", what="--lift needs a feature name")
        self.check_wrong(
            "index",
            "a.tfrecord",
            "--threads",
            "many",
            what="--threads must be a whole number, not 'many'",
        )

    def test_options_may_follow_operands(self):
        for words in (
            ["--format", "number", "a.rmx", "0"],
            ["a.rmx", "--format", "number", "0"],
            ["a.rmx", "0", "--format=number"],
            ["--form=number", "--", "a.rmx", "0"],
        ):
            self.check("get", *words, out="0\n")


class Streams(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.tfrecord", tfrecord([b"x" * 100] * 2000))
        self.index("a.tfrecord")

    @unittest.skipUnless(os.path.exists("/dev/full"), "/dev/full is not here")
    def test_a_full_device_is_an_error(self):
        error = (
            b"recmap: standard output: cannot write: No space left on device\n"
            b"  free some space on that file system, or write elsewhere with -o\n"
        )
        for words in (
            ["--help"],
            ["--version"],
            ["get", "--help"],
            ["info", "a.rmx"],
            ["info", "--json", "a.rmx"],
            ["cat", "a.rmx"],
            ["get", "a.rmx", "0"],
            ["cat", "a.rmx", "--count", "1"],
        ):
            with open("/dev/full", "wb") as full:
                self.check(*words, stdout=full, err=error, status=4)

    def test_a_reader_that_stops_ends_it_quietly(self):
        for ignored in (False, True):
            read_end, write_end = os.pipe()
            os.close(read_end)
            with os.fdopen(write_end, "wb") as closed:
                # Python ignores SIGPIPE, and may restore the default for child processes.
                result = self.run_recmap("cat", "a.rmx", stdout=closed, restore_signals=not ignored)
            if ignored:
                self.assertEqual(result.status, 4)
                self.assertEqual(
                    result.err,
                    b"recmap: standard output: cannot write: Broken pipe\n"
                    b"  the reader of the output has exited\n",
                )
            else:
                self.assertEqual((result.status, result.err), (-13, b""))

    def test_closed_streams_do_no_harm(self):
        def close():
            for fd in range(3):
                os.close(fd)

        def run(*words):
            return subprocess.run(
                [COMMAND, *words], cwd=self.folder, preexec_fn=close, check=False
            ).returncode

        self.assertEqual(run("index", "a.tfrecord", "-o", "b.rmx"), 0)
        self.assertEqual(self.payloads("b.rmx"), [b"x" * 100] * 2000)
        self.assertEqual(run("cat", "a.rmx", "-o", "out"), 0)
        self.assertEqual(self.read("out"), b"x" * 200000)
        before = self.read("a.tfrecord")
        self.assertEqual(run("cat", "a.rmx"), 4)
        self.assertEqual(run("find", "a.rmx", "x"), 2)
        self.assertEqual(self.read("a.tfrecord"), before)

    def test_no_colour_and_no_bar_into_a_pipe(self):
        for words in (
            ["index", "a.tfrecord"],
            ["info", "a.rmx"],
            ["get", "a.rmx", "0"],
            ["verify", "a.rmx"],
            ["schema", "a.rmx"],
        ):
            result = self.run_recmap(*words)
            self.assertNotIn(b"\x1b", result.out + result.err)
            self.assertNotIn(b"\r", result.out + result.err)


if __name__ == "__main__":
    unittest.main()
