"""recmap order with row orders: the pieces of rows of tokens and of windows of episodes.

The Python documentation has the order and the rows of this data set as examples; the description is
the example of docs/formats/rows.md.
"""

import json
import unittest

from support import CliTest, example, tfrecord

COUNTS = [5, 0, 3, 6]
CHUNKED = ["--chunked=4", "--overlap=1", "--add=1", "--seed=7"]
ROWS = ["3:2:5\n", "3:6:1 2:0:4\n", "0:4:2 3:0:3\n", "0:0:5\n"]
WINDOWS = ["--windows=4", "--stride=2", "--pad=1,0", "--seed=7", "--epoch=1"]
DESCRIPTION = (
    '{"kind":"chunked","n":4,"seed":7,"size":4,"overlap":1,"add":1,'
    '"counts":"d5b53cafee82dc02da2d2ce8d2afab6e","rows":4}\n'
)


class Rows(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a", tfrecord([example(x=list(range(count)), y=[1]) for count in COUNTS]))
        self.index("a", "--count", "x")

    def order(self, *words, **result):
        self.check("order", "a.rmx", *words, **result)

    def test_each_kind_prints_its_rows(self):
        self.order(*CHUNKED, out="".join(ROWS))
        self.order("--packed=8", "--seed=7", "--epoch=1", out="3:0:6\n0:0:5 2:0:3\n")
        self.order(*WINDOWS, out="0:1:4\n0:0:3\n3:1:4\n2:0:3\n3:0:3\n")

    def test_each_option_changes_the_rows(self):
        stored = ["--chunked=6", "--documents=stored", "--seed=1"]
        rows = ["0:0:5 2:0:1\n", "2:1:2 3:0:4\n", "3:4:2\n"]
        for tail, count in (("drop", 2), ("pad", 3)):
            result = self.run_recmap("order", "a.rmx", *stored, "--tail", tail)
            self.assertEqual(sorted(result.out.decode().splitlines(True)), rows[:count])
        for long, row in (
            ("split", {"0:0:4\n", "3:0:4\n", "2:0:3 0:4:1\n", "3:4:2\n"}),
            ("truncate", {"0:0:4\n", "2:0:3\n", "3:0:4\n"}),
            ("drop", {"2:0:3\n"}),
        ):
            result = self.run_recmap("order", "a.rmx", "--packed=4", "--long", long)
            pieces = {" ".join(sorted(line.split())) for line in result.out.decode().splitlines()}
            self.assertEqual(pieces, {" ".join(sorted(line.split())) for line in row})
        result = self.run_recmap("order", "a.rmx", "--packed=8", "--group=1")
        self.assertEqual(len(result.out.splitlines()), 3)

    def test_json_lists_the_pieces(self):
        lines = [
            '{"position": 0, "row": 2, "pieces": [[3, 2, 5, 0]]}\n',
            '{"position": 1, "row": 3, "pieces": [[3, 6, 1, 0], [2, 0, 4, 1]]}\n',
            '{"position": 2, "row": 1, "pieces": [[0, 4, 2, 0], [3, 0, 3, 2]]}\n',
            '{"position": 3, "row": 0, "pieces": [[0, 0, 5, 0]]}\n',
        ]
        self.order(*CHUNKED, "--json", out="".join(lines))
        self.assertEqual(json.loads(lines[1])["pieces"][0], [3, 6, 1, 0])
        result = self.run_recmap("order", "a.rmx", *WINDOWS, "--json", "--from=1", "--count=1")
        self.assertEqual(result.out, b'{"position": 1, "row": 0, "pieces": [[0, 0, 3, 1]]}\n')

    def test_parts_of_the_epoch(self):
        for first in range(5):
            self.order(*CHUNKED, f"--from={first}", out="".join(ROWS[first:]))
            self.order(*CHUNKED, f"--from={first}", "--count=1", out="".join(ROWS[first:][:1]))
        ranks = ["--world-size=2", "--batch-size=1"]
        for rank in (0, 1):
            self.order(*CHUNKED, *ranks, f"--rank={rank}", out="".join(ROWS[rank::2]))
        last = ["--from=1", *ranks, "--rank=1", "--last"]
        self.order(*CHUNKED, *last, "drop", out=ROWS[2])
        self.order(*CHUNKED, *last, "pad", out=ROWS[2] + ROWS[0])

    def test_the_description_is_printed(self):
        self.order(*CHUNKED, "--describe", out=DESCRIPTION)
        self.order("--describe", out='{"kind":"sequential","n":4}\n')
        self.order(
            "--shuffle", "--seed=7", "--describe", out='{"kind":"shuffled","n":4,"seed":7}\n'
        )

    def test_several_counted_features(self):
        self.index("-o", "b.rmx", "--count", "x", "--count", "y", "a")
        self.check(
            "order",
            "b.rmx",
            *CHUNKED,
            status=2,
            err=(
                "recmap: b.rmx: the index counts the elements of 2 features\n"
                "  choose one with --feature; `recmap info` lists them\n"
            ),
        )
        self.check("order", "b.rmx", *CHUNKED, "--feature=x", out="".join(ROWS))
        self.check("order", "b.rmx", "--windows=1", "--feature=y", "--count=0", out="")
        self.check(
            "order",
            "b.rmx",
            *CHUNKED,
            "--feature=z",
            status=2,
            err=(
                'recmap: b.rmx: the index has no element counts of feature "z"\n'
                "  build it with `recmap index --count z --count x --count y -o b.rmx a`\n"
            ),
        )

    def test_an_index_without_counts(self):
        self.index("-o", "c.rmx", "a")
        self.check(
            "order",
            "c.rmx",
            *CHUNKED,
            status=2,
            err=(
                "recmap: c.rmx: the index has no element counts\n"
                "  build it with `recmap index --count FEATURE`\n"
            ),
        )

    def test_orders_without_rows_are_refused(self):
        for kind, size in ("windows", 7), ("chunked", 15):
            message = (
                f"recmap: a.rmx: the order has no rows: the elements fill no row of {size}; "
                "'recmap info' shows how many there are\n"
            )
            self.order(f"--{kind}={size}", out="", err=message)
        self.check_wrong(
            "order",
            "a.rmx",
            "--windows=7",
            "--from=1",
            what="--from must be at most 0, the number of rows, not 1",
        )

    def test_elements_that_the_rows_leave_out(self):
        for options, count in (("--packed=4", "--long=drop"), 11), (("--windows=4",), 3):
            result = self.run_recmap("order", "a.rmx", *options)
            message = f"recmap: a.rmx: the rows leave out {count} of 14 elements\n"
            self.assertEqual((result.status, result.err.decode()), (0, message))
        self.assertEqual(self.run_recmap("order", "a.rmx", "--packed=4").err, b"")


class WrongRows(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a", tfrecord([example(x=[1, 2])]))
        self.index("a", "--count", "x")

    def wrong(self, *words, what):
        self.check_wrong("order", "a.rmx", *words, what=what)

    def test_options_that_require_others(self):
        self.wrong(
            "--chunked=1",
            "--packed=1",
            what="only one of --chunked, --packed and --windows can be given",
        )
        self.wrong("--feature=x", what="--feature requires --chunked, --packed or --windows")
        self.wrong("--add=1", what="--add requires --chunked or --packed")
        for option in ("overlap=1", "documents=stored", "tail=pad"):
            self.wrong(
                "--packed=2", f"--{option}", what=f"--{option.split('=')[0]} requires --chunked"
            )
        for option in ("long=drop", "group=1"):
            self.wrong(
                "--windows=2", f"--{option}", what=f"--{option.split('=')[0]} requires --packed"
            )
        for option in ("stride=1", "pad=0,0"):
            self.wrong(
                "--chunked=2", f"--{option}", what=f"--{option.split('=')[0]} requires --windows"
            )
        self.wrong("--json", what="--json requires --chunked, --packed or --windows")
        self.wrong(
            "--chunked=1", "--shuffle", what="--shuffle is for records: rows are always shuffled"
        )
        self.wrong(
            "--describe", "--position-of=0", what="--describe and --position-of cannot be combined"
        )
        self.wrong(
            "--chunked=1",
            "--position-of=0",
            what=("--position-of can only be combined with --shuffle, --seed and --epoch"),
        )

    def test_impossible_values_are_refused(self):
        self.wrong("--chunked=x", what="--chunked must be a whole number, not 'x'")
        self.wrong("--packed=1", "--group=65537", what="--group must be at most 65536, not 65537")
        self.wrong(
            f"--windows={2**40 + 1}", what=f"--windows must be at most {2**40}, not {2**40 + 1}"
        )
        self.wrong(
            "--chunked=1",
            "--documents=all",
            what="invalid --documents 'all': use shuffled or stored",
        )
        self.wrong("--chunked=1", "--tail=keep", what="invalid --tail 'keep': use drop or pad")
        self.wrong("--packed=1", "--long=", what="invalid --long '': use split, truncate or drop")
        for pad in ("1", "", "1" * 40 + ",2"):
            self.wrong(
                "--windows=2",
                f"--pad={pad}",
                what=f"--pad must be two numbers, as in 2,0, not '{pad}'",
            )
        self.wrong("--windows=2", "--pad=1,x", what="--pad must be a whole number, not 'x'")

    def test_impossible_orders_are_refused(self):
        for words, message in (
            (["--chunked=0"], "size"),
            (["--chunked=2", "--overlap=2"], "overlap"),
            (["--windows=2", "--pad=2,0"], "pad"),
            (["--windows=2", "--stride=0"], "stride"),
            (["--packed=2", "--group=0"], "group"),
        ):
            result = self.run_recmap("order", "a.rmx", *words)
            self.assertEqual((result.status, result.out), (2, b""))
            self.assertIn(message, result.err.decode())


if __name__ == "__main__":
    unittest.main()
