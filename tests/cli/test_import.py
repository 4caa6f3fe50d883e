"""recmap import: JSON lines to a TFRecord file, and round trips through cat and import."""

import ast
import base64
import glob
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import (
    COMMAND,
    DIGITS,
    EXAMPLES,
    ROOT,
    CliTest,
    example,
    parse_tfrecord,
    signals_as_usual,
    tfrecord,
)

SHARED = os.environ.get("RECMAP_TEST_DATA") or os.path.join(ROOT, "..", "shared", "data")
SEQUENCE = bytes.fromhex(  # a context, a list of steps of two kinds, an empty list
    "0a0d0a0b0a02696412050a030a017212310a040a0012000a0e0a016112090a070a050a000a01710a190a017412140a"
    "061a040a0201020a000a0812060a0400000040"
)


class ImportTest(CliTest):
    def run_import(self, text, *arguments):
        done = subprocess.run(
            [COMMAND, "import", *arguments],
            cwd=self.folder,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def check_import(self, text, records, *arguments):
        status, out, err = self.run_import(text, *arguments)
        self.assertEqual((status, err), (0, b""))
        self.assertEqual(parse_tfrecord(out), records)

    def cat_json(self, index):
        result = self.run_recmap("cat", index, "--format", "json")
        self.assertEqual((result.err, result.status), (b"", 0))
        return result.out


class RoundTrip(ImportTest):
    def test_of_the_digits(self):
        self.index("-o", "digits.rmx", DIGITS)
        lines = self.cat_json("digits.rmx")
        status, out, err = self.run_import(lines, "--format", "json", "-o", "b.tfrecord")
        self.assertEqual((status, out, err), (0, b"", b"recmap: b.tfrecord: 1797 records\n"))
        self.assertEqual(parse_tfrecord(self.read("b.tfrecord")), self.payloads("digits.rmx"))
        self.index("b.tfrecord")
        self.assertEqual(self.cat_json("b.rmx"), lines)

    def test_of_all_that_a_record_may_be(self):
        records = [
            *EXAMPLES,
            b"",
            b"\xff no example",
            SEQUENCE,
            example(n=[1, -2], s=[]),
            b"\x0a\x00\x12\x00",
            b"\x12\x00",
            b"\x0a\x00",
            b"\x0a" + bytes([len(EXAMPLES[0])]) + EXAMPLES[0],  # a list of Examples (ELWC)
        ]
        self.write("a", tfrecord(records))
        self.index("a")
        lines = self.cat_json("a.rmx")
        self.assertEqual(
            [next(iter(json.loads(line)), None) for line in lines.splitlines()],
            ["features"] * 5
            + [None, "number", "context", "features", "context", "featureLists", "features"]
            + ["number"],
        )
        status, out, err = self.run_import(lines)
        self.assertEqual((status, parse_tfrecord(out)), (0, records))
        self.assertEqual(
            err.decode(),
            "recmap: standard input: line 8: feature list 't' has steps of kind int64 and of kind "
            "float\n  parsing needs one kind: write 3 as 3.0 if others are 3.5\n",
        )

    def test_of_real_files(self):
        paths = [
            path
            for path in glob.glob(os.path.join(SHARED, "tfrecord", "**"), recursive=True)
            if os.path.isfile(path) and not path.endswith((".tsv", ".json"))
        ]
        if not paths:
            self.skipTest("no test data beside the checkout")
        count = 0
        for path in sorted(paths):
            result = self.run_recmap("index", "-o", "a.rmx", path)
            if result.status:
                continue
            lines = self.cat_json("a.rmx")
            status, out, err = self.run_import(lines)
            self.assertEqual((status, err), (0, b""), path)
            self.write("b.tfrecord", out)
            self.index("-o", "b.rmx", "b.tfrecord")
            self.assertEqual(self.cat_json("b.rmx"), lines, path)
            count += lines.count(b"\n")
        self.assertGreater(count, 10000)


class Input(ImportTest):
    def test_tables_are_for_the_python_package(self):
        for name in ("a b.csv", "t.TSV", "t.parquet", "t.parquet.gz"):
            status, _, err = self.run_import(b"", name, "-o", "out@4")
            self.assertEqual(status, 2)
            word = f"'{name}'" if " " in name else name
            self.assertIn(f"run `python3 -m recmap import {word} -o out@4`;".encode(), err)
        status, _, err = self.run_import(b"", "bad`name.csv", "-o", "out@4")
        self.assertIn(b"run `python3 -m recmap import`;", err)

    def test_from_files_and_standard_input(self):
        self.write("a.json", b'{"base64":"YQ=="}\n{"base64":"YmM="}\n')
        self.write("b.json", b'{"base64":"ZA=="}')
        self.check_import(b"", [b"a", b"bc", b"d"], "a.json", "b.json")
        self.check_import(b'{"base64":"eA"}\n', [b"d", b"x", b"a", b"bc"], "b.json", "-", "a.json")
        self.check_import(b'{"base64":"eA"}\n', [b"x"])
        self.check_import(b"", [])
        self.check("import", "-o", "out", "a.json", "b.json", err="recmap: out: 3 records\n")
        self.assertEqual(parse_tfrecord(self.read("out")), [b"a", b"bc", b"d"])

    def test_to_standard_output(self):
        self.write("a.json", b'{"base64":"YQ=="}\n')
        self.check_import(b"", [b"a"], "-o", "-", "a.json")
        self.check_import(b"{}\n", [b""], "--output=-")
        self.assertEqual(self.files(), ["a.json"])

    def test_blank_lines_are_passed_over(self):
        self.check_import(b'\n \t\r\n{}\r\n\n{"base64":"eA=="}\n\n', [b"", b"x"])

    def test_spellings_of_json_are_read(self):
        text = (
            b'{"features":{"feature":{"f":{"float_list":{"value":["0.5",1e0]}},'
            b'"i":{"int64List":{"value":[1,"-2",3.0]}},"b":{"bytesList":{"value":["-_-_"]}}}}}'
        )
        self.check_import(text, [example(f=[0.5, 1.0], i=[1, -2, 3], b=[b"\xfb\xff\xbf"])])

    def test_values_and_kinds_that_change_are_named(self):
        def line(**features):
            features = {
                name: {kind: {"value": values}} for name, (kind, values) in features.items()
            }
            return json.dumps({"features": {"feature": features}}) + "\n"

        exact = [1234568000, "1.234568e9", 16777216, 0.1, 1e30, "NaN", -0.0, 1e-40]
        text = (
            line(x=("int64List", [3]), t=("floatList", exact))
            + line(x=("floatList", [3.5]), t=("floatList", [1700000000.125, 1700000001]))
            + line(
                x=("floatList", [4.5]), t=("floatList", [1700000001]), u=("floatList", ["1e-60"])
            )
        )
        self.write("in.json", text.encode())
        at = [text.index(number) for number in ("1700000000.125", '"1e-60"')]
        advice = "write integers in int64List (of a time, milliseconds), or a text in bytesList"
        self.check(
            "import",
            "-o",
            "out",
            "in.json",
            err=f"recmap: in.json: byte {at[0]}: line 2: feature 't': 1700000000.125 is rounded to "
            f"1700000000, because floats have 32 bits\n  {advice}\n"
            "recmap: in.json: line 2: feature 'x' has the kind float, but int64 in record 0\n"
            "  parsing needs one kind: write 3 as 3.0 if others are 3.5\n"
            f"recmap: in.json: byte {at[1]}: line 3: feature 'u': 1e-60 is rounded to 0, because "
            f"floats have 32 bits\n  {advice}\n"
            "recmap: out: 3 records\n",
        )

    def test_a_long_line(self):
        payload = os.urandom(3 << 20)
        line = json.dumps({"base64": base64.b64encode(payload).decode()}).encode()
        self.check_import(line + b"\n{}", [payload, b""])


class Errors(ImportTest):
    def check_bad(self, text, what, *before):
        """The error names file, byte and line. No output is left, and an old one is unchanged."""
        self.write("in.json", text)
        self.write("old", b"old")
        for output in ("new", "old"):
            result = self.check(
                "import", "-o", output, "in.json", status=3, err=f"recmap: in.json: {what}\n"
            )
            self.assertEqual(self.files(), ["in.json", "old"])
            self.assertEqual(self.read("old"), b"old")
            self.assertEqual(result.out, b"")

    def test_name_file_line_and_byte(self):
        self.check_bad(b"x", "byte 0: line 1: expected '{'")
        self.check_bad(
            b'{}\n\n{}\n{"features":{"feature":{"k":{"int64List":{"value":[1x]}}}}}\n{}\n',
            "byte 59: line 4: feature 'k': expected ',' or ']'",
        )
        for number, advice in (
            (2**64 - 5, "text in bytesList, or as -5, the int64 with the same bits"),
            (2**64, "text in bytesList"),
            (-(2**63) - 1, "text in bytesList"),
        ):
            self.check_bad(
                b'{"features":{"feature":{"k":{"int64List":{"value":[1,"%d"]}}}}}\n' % number,
                f"byte 53: line 1: feature 'k': {number} is beyond int64 (-2^63 to 2^63 - 1)\n"
                f"  write it as a {advice}",
            )
        self.check_bad(b'{}\n{"feature":{}}\n', "byte 4: line 2: unknown field 'feature'")
        self.check_bad(b'{}\n{"features":\n{}}\n', "byte 15: line 2: expected '{'")
        self.check_bad(b"{} {}\n", "byte 3: line 1: unexpected text after the object")
        self.check_bad(b'{"\xff":1}\n', "byte 2: line 1: the string is incomplete or not UTF-8")
        status, out, err = self.run_import(b"{}\n[]\n", "-o", "new")
        self.assertEqual((status, out), (3, b""))
        self.assertEqual(err, b"recmap: standard input: byte 3: line 2: expected '{'\n")

    def test_unreadable_files_are_reported(self):
        result = self.run_recmap("import", "-o", "out", "nothing.json")
        self.assertEqual(result.status, 4)
        self.assertTrue(result.err.startswith(b"recmap: nothing.json: cannot open the file: "))
        os.mkdir(self.path("folder"))
        result = self.run_recmap("import", "-o", "out", "folder")
        self.assertEqual(result.status, 4)
        self.assertTrue(result.err.startswith(b"recmap: folder: cannot read: "))
        self.assertEqual(self.files(), ["folder"])

    def test_wrong_usage_is_explained(self):
        self.write("a.json", b"{}\n")
        self.check_wrong(
            "import", "--format", "xml", "a.json", what="invalid --format 'xml': use json"
        )
        self.check_wrong("import", "-o", what="option '-o' needs an argument")
        self.check_wrong("import", "--output=", what="-o needs a file name")
        os.symlink("a.json", self.path("link"))
        for output in ("a.json", "./a.json", "link"):
            self.check(
                "import",
                "-o",
                output,
                "a.json",
                status=2,
                err=f"recmap: {output}: is one of the inputs and would be "
                "overwritten\n  name another file with -o\n",
            )
        self.assertEqual(self.read("a.json"), b"{}\n")

    def test_an_index_or_a_selection_is_not_overwritten(self):
        self.write("a.json", b"{}\n")
        self.write("a", tfrecord(EXAMPLES))
        self.index("a")
        self.run_recmap("select", "a.rmx", "--where", "length > 0", "-o", "a.rmv")
        before = self.read("a.rmx"), self.read("a.rmv")
        for output, kind, advice in (
            ("a.rmx", "an index", "end the name differently; `recmap index` makes indexes"),
            (
                "a.rmv",
                "a selection",
                "end the name differently, or write a selection with `recmap select` or "
                "`recmap sample`",
            ),
        ):
            for name in (output, f"new-{output}"):
                self.check(
                    "import",
                    "-o",
                    name,
                    "a.json",
                    status=2,
                    err=f"recmap: {name}: is the name of {kind}, but this command writes records\n"
                    f"  {advice}\n",
                )
        self.assertEqual((self.read("a.rmx"), self.read("a.rmv")), before)
        self.assertEqual(self.files(), ["a", "a.json", "a.rmv", "a.rmx"])

    def test_a_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.write("a.json", b"{}\n" * 100000)
        with open("/dev/full", "wb") as full:
            result = self.run_recmap("import", "a.json", stdout=full)
        self.assertEqual(result.status, 4)
        self.assertIn(b"No space left on device", result.err)

    def test_an_interrupt_leaves_nothing(self):
        process = subprocess.Popen(
            [COMMAND, "import", "-o", "out"],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=signals_as_usual,
        )
        with process:
            process.stdin.write(b"{}\n" * 10000)
            process.stdin.flush()
            for _ in range(600):
                if self.files():
                    break
                time.sleep(0.05)
            self.assertEqual(len(self.files()), 1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), -signal.SIGINT)
        self.assertEqual(self.files(), [])


class Schema(ImportTest):
    def setUp(self):
        super().setUp()
        self.write(
            "a",
            tfrecord(
                [
                    SEQUENCE,
                    SEQUENCE,
                    example(id="xyz", n=[1, 2], w=[0.5]),
                    example(id="z", n=[-3, 9], w=[float("nan"), -1.5]),
                ]
            ),
        )
        self.index("a")

    def test_the_schema_is_a_table(self):
        self.check(
            "schema",
            "a.rmx",
            out=(
                "kind       share        values  range           feature\n"
                "bytes   100.00 %             1  1..3 bytes      id\n"
                "int64    50.00 %             2  -3..9           n\n"
                "float    50.00 %      1..2      -1.5..0.5, NaN  w\n"
                "\n"
                "kind       share         steps        values  range       feature list\n"
                "unset    50.00 %             0             0              \n"
                "bytes    50.00 %             1             2  0..1 bytes  a\n"
                "mixed    50.00 %             3      1..2                  t\n"
            ),
        )

    def test_features_of_c(self):
        self.check(
            "schema",
            "a.rmx",
            "--features",
            "c",
            out=(
                "/* The features of 4 records. */\n"
                "static const recmap_feature features[] = {\n"
                '    {.name = "id", .kind = RECMAP_FEATURE_FIXED_LEN, '
                ".element = RECMAP_ELEMENT_BYTES},\n"
                '    {.name = "n", .kind = RECMAP_FEATURE_VAR_LEN, '
                ".element = RECMAP_ELEMENT_INT64}, "
                "/* in 50.00 % */\n"
                '    {.name = "w", .kind = RECMAP_FEATURE_VAR_LEN, '
                ".element = RECMAP_ELEMENT_FLOAT32}, "
                "/* in 50.00 % */\n"
                "};\n"
                "static const recmap_feature feature_lists[] = {\n"
                '    /* "" has no values */\n'
                '    {.name = "a", .kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE, '
                ".element = RECMAP_ELEMENT_BYTES, .shape = (const uint64_t[]){2}, "
                ".dimension_count = 1}, /* in 50.00 % */\n"
                '    /* "t" is of several kinds */\n'
                "};\n"
            ),
        )
        self.check_wrong(
            "schema",
            "a.rmx",
            "--features",
            "java",
            what="invalid --features 'java': use python, c or tf",
        )
        self.check_wrong(
            "schema",
            "a.rmx",
            "--features",
            "c",
            "--json",
            what="--json and --features cannot be combined",
        )

    def test_features_of_python(self):
        self.check(
            "schema",
            "a.rmx",
            "--features",
            "python",
            out=(
                "# The features of 4 records.\n"
                "features = {\n"
                '    "id": recmap.FixedLen((), "bytes"),\n'
                '    "n": recmap.VarLen("int64"),  # in 50.00 %\n'
                '    "w": recmap.VarLen("float32"),  # in 50.00 %\n'
                "}\n"
                "feature_lists = {\n"
                '    # "" has no values\n'
                '    "a": recmap.FixedLenSequence((2,), "bytes"),  # in 50.00 %\n'
                '    # "t" is of several kinds\n'
                "}\n"
            ),
        )

    def test_features_of_tensorflow(self):
        self.check(
            "schema",
            "a.rmx",
            "--features",
            "tf",
            out=(
                "# The features of 4 records.\n"
                "features = {\n"
                '    "id": tf.io.FixedLenFeature([], tf.string),\n'
                '    "n": tf.io.VarLenFeature(tf.int64),  # in 50.00 %\n'
                '    "w": tf.io.VarLenFeature(tf.float32),  # in 50.00 %\n'
                "}\n"
                "feature_lists = {\n"
                '    # "" has no values\n'
                '    "a": tf.io.FixedLenSequenceFeature([2], tf.string),  # in 50.00 %\n'
                '    # "t" is of several kinds\n'
                "}\n"
            ),
        )

    def test_names_in_features_of_python(self):
        names = [
            'quote"',
            "back\\slash",
            "tab\t1",
            "\x1b[31m",
            "é",
            "日",
            "😀",
            "new\nline",
            "plain",
        ]
        self.write("b", tfrecord([example(**{name: [1, 2, 3] for name in names})]))
        self.index("b")
        source = self.run_recmap("schema", "b.rmx", "--features", "tf").out.decode("ascii")
        tree = ast.parse(source)
        keys = [key.value for key in tree.body[0].value.keys]
        self.assertEqual(sorted(keys), sorted(names))

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_features_of_c_compile(self):
        names = ['quote"', "back\\slash", "*/ comment", "tab\t1", "é", "??/", "n\0ul", "plain"]
        self.write(
            "b",
            tfrecord(
                [
                    example(**{name: [1, 2, 3] for name in names}),
                    example(**dict.fromkeys(names[:4], 1)),
                ]
            ),
        )
        self.index("b")
        for index in ("a.rmx", "b.rmx"):
            source = self.run_recmap("schema", index, "--features", "c").out
            source = b"#include <recmap/recmap.h>\n#include <recmap/feature.h>\n" + source
            done = subprocess.run(
                [
                    "cc",
                    "-std=c11",
                    "-fsyntax-only",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-Wno-unused-const-variable",
                    "-Wno-unused-variable",
                    "-I",
                    os.path.join(ROOT, "include"),
                    "-xc",
                    "-",
                ],
                input=source,
                stderr=subprocess.PIPE,
                check=False,
            )
            self.assertEqual((done.stderr, done.returncode), (b"", 0), source)

    def test_the_schema_is_json(self):
        document = json.loads(self.run_recmap("schema", "a.rmx", "--json").out)
        self.assertEqual(list(document), ["", "a", "id", "n", "t", "w"])
        self.assertEqual(
            document["a"],
            {
                "list": {
                    "kind": "bytes",
                    "share": 0.5,
                    "min_steps": 1,
                    "max_steps": 1,
                    "min_length": 2,
                    "max_length": 2,
                    "unset_share": 0,
                    "missing_share": 0.5,
                    "shape": [2],
                    "min_size": 0,
                    "max_size": 1,
                }
            },
        )
        self.assertEqual(
            document["w"],
            {
                "kind": "float",
                "share": 0.5,
                "min_length": 1,
                "max_length": 2,
                "unset_share": 0,
                "missing_share": 0.5,
                "shape": None,
                "min": -1.5,
                "max": 0.5,
                "nan_count": 1,
            },
        )


if __name__ == "__main__":
    unittest.main()
