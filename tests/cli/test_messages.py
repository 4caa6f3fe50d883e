"""Records that are protobuf messages: --descriptor and --message."""

import json
import os
import unittest

from support import CliTest, _field, _varint, tfrecord

INT32, STRING, MESSAGE = 5, 9, 11
OPTIONAL, REPEATED = 1, 3


def number(field, value):
    return _varint(field << 3) + _varint(value)


def field_of(name, at, kind, label=OPTIONAL, type_name=""):
    data = _field(1, name.encode()) + number(3, at) + number(4, label) + number(5, kind)
    return data + (_field(6, type_name.encode()) if type_name else b"")


def type_of(name, *fields):
    return _field(1, name.encode()) + b"".join(_field(2, field) for field in fields)


SCENE = type_of(
    "Scene",
    field_of("scene_id", 5, STRING),
    field_of("level", 3, INT32),
    field_of("tracks", 2, MESSAGE, REPEATED, ".demo.Track"),
)
TRACK = type_of("Track", field_of("kind", 1, INT32), field_of("more", 2, INT32, REPEATED))
FILE = _field(1, b"demo.proto") + _field(2, b"demo") + _field(4, SCENE) + _field(4, TRACK)
SET = _field(1, FILE + _field(12, b"proto3"))


def scene(at):
    track = _field(2, number(1, at) + number(2, 7) + number(2, 8))
    return _field(5, b"scene-%d" % at) + number(3, at % 3) + track * (at % 2)


class Messages(CliTest):
    def setUp(self):
        super().setUp()
        self.write("demo.desc", SET)
        self.write("a.tfrecord", tfrecord([scene(at) for at in range(8)]))

    def index_ids(self):
        done = self.run_recmap(
            "index", "--descriptor", "demo.desc", "--id", "Scene:scene_id", "--lift", "level",
            "a.tfrecord",
        )  # fmt: skip
        self.assertEqual(done.status, 0, done.err)

    def test_ids_and_columns(self):
        self.index_ids()
        info = json.loads(self.run_recmap("info", "--json", "a.rmx").out)
        self.assertEqual(info["ids"]["name"], "demo.Scene:scene_id")
        self.check("find", "--descriptor", "demo.desc", "a.rmx", "scene-6", out="scene-6\t6\n")
        self.check(
            "get", "--descriptor", "demo.desc", "--by", "id", "--format", "number", "a.rmx",
            "scene-3", out="3\n",
        )  # fmt: skip
        done = self.run_recmap("cat", "--where", "level == 2", "--format", "number", "a.rmx")
        self.assertEqual(done.out, b"2\n5\n")

    def test_a_folder_is_not_a_descriptor(self):
        os.mkdir(self.path("folder"))
        done = self.run_recmap(
            "index", "--descriptor", "folder", "--id", "Scene:scene_id", "a.tfrecord"
        )
        self.assertEqual(done.status, 4)
        self.assertEqual(
            done.err.decode().splitlines()[0], "recmap: folder: cannot read: Is a directory"
        )

    def test_finding_needs_the_descriptor(self):
        self.index_ids()
        done = self.run_recmap("find", "a.rmx", "scene-6")
        self.assertEqual(done.status, 2)
        self.assertIn(b"the ids of this index are fields of messages: 'demo.Scene:", done.err)
        self.assertIn(b"--descriptor FILE", done.err)

    def test_appending_reads_the_same_fields(self):
        self.index_ids()
        self.write("b.tfrecord", tfrecord([scene(at) for at in range(8, 12)]))
        without = self.run_recmap("index", "--append", "-o", "a.rmx", "b.tfrecord")
        self.assertEqual(without.status, 3)
        self.assertIn(b"read by a callback, or from messages", without.err)
        done = self.run_recmap(
            "index", "--append", "--descriptor", "demo.desc", "-o", "a.rmx", "b.tfrecord"
        )
        self.assertEqual(done.status, 0, done.err)
        self.check("find", "--descriptor", "demo.desc", "a.rmx", "scene-11", out="scene-11\t11\n")

    def test_records_as_json(self):
        self.index_ids()
        self.check(
            "get", "--descriptor", "demo.desc", "--format", "json", "a.rmx", "0", "1",
            out='{"sceneId":"scene-0"}\n'
            '{"tracks":[{"kind":1,"more":[7,8]}],"level":1,"sceneId":"scene-1"}\n',
        )  # fmt: skip
        self.index("a.tfrecord", "-o", "plain.rmx")
        done = self.run_recmap(
            "cat", "--descriptor", "demo.desc", "--message", "demo.Track", "--format", "json",
            "--count", "1", "plain.rmx",
        )  # fmt: skip
        self.assertEqual(json.loads(done.out), {})

    def test_fields_of_the_type(self):
        self.index("a.tfrecord")
        options = ("--descriptor", "demo.desc", "--message", "Scene")
        table = self.run_recmap("schema", *options, "a.rmx").out.decode().splitlines()
        self.assertEqual(table[0].split(), ["kind", "levels", "field", "of", "demo.Scene"])
        self.assertEqual(table[1].split(), ["int32", "1", "tracks.kind"])
        listed = json.loads(self.run_recmap("schema", "--json", *options, "a.rmx").out)
        self.assertEqual(
            [field["path"] for field in listed][1:], ["tracks.more", "level", "scene_id"]
        )
        refused = self.run_recmap("schema", "--features", "c", *options, "a.rmx")
        self.assertEqual(refused.status, 2)

    def test_what_is_refused(self):
        self.index("a.tfrecord")
        for options, text in (
            (("get", "--descriptor", "demo.desc", "a.rmx", "0"), b"--descriptor needs --message"),
            (
                ("get", "--descriptor", "no.desc", "--message", "S", "a.rmx", "0"),
                b"no.desc: cannot",
            ),
            (
                ("get", "--descriptor", "demo.desc", "--message", "Scen", "a.rmx", "0"),
                b"demo.Scene",
            ),
            (("index", "--descriptor", "demo.desc", "a.tfrecord"), b"needs --id or --lift"),
            (
                ("index", "--descriptor", "demo.desc", "--id", "Scene:sceneid", "a.tfrecord"),
                b"did you mean 'scene_id'?",
            ),
            (
                ("index", "--descriptor", "demo.desc", "--id", "Scene:tracks", "a.tfrecord"),
                b"is a message",
            ),
            (
                ("index", "--descriptor", "demo.desc", "--lift", "Scene:level=3", "a.tfrecord"),
                b"has its own default",
            ),
        ):
            done = self.run_recmap(*options)
            self.assertNotEqual(done.status, 0, options)
            self.assertIn(text, done.err)


if __name__ == "__main__":
    unittest.main()
