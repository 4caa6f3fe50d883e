"""Used by the tests of annotate: an index of two shards, and what the command says."""

import json

from support import CliTest, example, tfrecord

COUNT = 40
LANGUAGES = ("de", "fr", "日本")
RECORDS = [example(id=f"id-{i}", label=i % 5) for i in range(COUNT)]
DONE = "recmap: a.rmx: columns: {} added, {} dropped, {} renamed\n"


class Annotated(CliTest):
    def write(self, name, data):
        super().write(name, data.encode() if isinstance(data, str) else data)

    def setUp(self):
        super().setUp()
        self.write("a-0.tfrecord", tfrecord(RECORDS[:25]))
        self.write("a-1.tfrecord", tfrecord(RECORDS[25:]))
        self.index(
            "--id",
            "id",
            "--lift",
            "label",
            "--count",
            "label",
            "-o",
            "a.rmx",
            "a-0.tfrecord",
            "a-1.tfrecord",
        )

    def annotate(self, *options, added=1, dropped=0, renamed=0):
        self.check("annotate", "a.rmx", *options, err=DONE.format(added, dropped, renamed))

    def fails(self, *options, err, status=2):
        """The error, after which the index is unchanged and no other file is left."""
        before, files = self.read("a.rmx"), self.files()
        self.check("annotate", "a.rmx", *options, err=f"recmap: {err}\n", status=status)
        self.assertEqual((self.read("a.rmx"), self.files()), (before, files))

    def where(self, expression, expected):
        lines = "".join(f"{number}\n" for number in expected)
        self.check("select", "a.rmx", "--where", expression, out=lines)

    def columns(self):
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        return {column["name"]: column["type"] for column in info["columns"]}
