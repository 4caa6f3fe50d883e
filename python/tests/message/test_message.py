"""recmap.Message: columns, ids, loaders, and what is refused."""

import gzip
import json
import pickle

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images, write
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

SOURCE = """
    name: "scenario.proto" package: "demo" syntax: "proto2"
    message_type { name: "State"
        field { name: "x" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
        field { name: "valid" number: 2 type: TYPE_BOOL label: LABEL_OPTIONAL } }
    message_type { name: "Track"
        field { name: "kind" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
        field { name: "states" number: 2 type: TYPE_MESSAGE label: LABEL_REPEATED
                type_name: ".demo.State" } }
    message_type { name: "Scenario"
        field { name: "scenario_id" number: 5 type: TYPE_STRING label: LABEL_OPTIONAL }
        field { name: "times" number: 1 type: TYPE_DOUBLE label: LABEL_REPEATED }
        field { name: "tracks" number: 2 type: TYPE_MESSAGE label: LABEL_REPEATED
                type_name: ".demo.Track" }
        field { name: "difficulty" number: 7 type: TYPE_INT32 label: LABEL_OPTIONAL
                default_value: "1" }
        field { name: "pixels" number: 8 type: TYPE_BYTES label: LABEL_OPTIONAL }
        field { name: "speed" number: 9 type: TYPE_FLOAT label: LABEL_OPTIONAL }
        field { name: "other" number: 10 type: TYPE_MESSAGE label: LABEL_OPTIONAL
                type_name: ".demo.Scenario" } }
    message_type { name: "Other" nested_type { name: "Track" } }
"""
FILE = text_format.Parse(SOURCE, descriptor_pb2.FileDescriptorProto())
SET = descriptor_pb2.FileDescriptorSet(file=[FILE])
POOL = descriptor_pool.DescriptorPool()
POOL.Add(FILE)
Scenario = message_factory.GetMessageClass(POOL.FindMessageTypeByName("demo.Scenario"))


def scenario(number):
    made = Scenario(scenario_id=f"scene-{number:03}", times=[0.1, 0.2, 0.3])
    for kind in range(number % 3):
        track = made.tracks.add(kind=kind)
        for step in range(2):
            track.states.add(x=number + step / 10, valid=step > 0)
    if number % 4 == 0:
        made.difficulty = 3
    made.pixels = bytes([number % 256] * 6)
    made.speed = number / 2
    return made


def message(fields):
    return recmap.Message(SET, "Scenario", fields)


FIELDS = {"id": "scenario_id", "x": "tracks.states.x", "difficulty": "difficulty"}


@pytest.fixture
def shard(tmp_path):
    records = [scenario(number).SerializeToString() for number in range(100)]
    write(tmp_path, records)
    return tmp_path / "made-0.tfrecord"


@pytest.fixture
def ds(shard):
    with recmap.open(shard) as opened:
        yield opened


def test_paths_give_columns_of_the_fields_types(ds):
    fields = message({**FIELDS, "valid": "tracks.states.valid", "speed": "speed", "times": "times"})
    assert fields.type == "demo.Scenario"
    batch = ds.parse([1, 2, 3], fields)
    assert batch["id"].tolist() == [b"scene-001", b"scene-002", b"scene-003"]
    assert batch["x"].tolist() == [[[1.0, 1.1]], [[2.0, 2.1], [2.0, 2.1]], []]
    assert batch["valid"].tolist()[0] == [[False, True]]
    assert batch["speed"].dtype == np.float32
    assert batch["difficulty"].tolist() == [1, 1, 1]
    assert batch["times"].tolist()[2] == [0.1, 0.2, 0.3]


def test_features_choose_dtype_and_shape(ds):
    fields = message(
        {
            "times": recmap.FixedLen((3,), "float16"),
            "x": recmap.FixedLen((1, 2), "float32", key="tracks.states.x"),
            "difficulty": recmap.FixedLen((), "uint8", default=9),
            "given": recmap.VarLen("int64", key="difficulty"),
            "pixels": recmap.FixedLen((2, 3), "uint8", raw=True),
            "padded": recmap.FixedLenSequence((2,), "float64", -1, key="tracks.states.x"),
            "nested": recmap.Ragged("float32", [], key="tracks.states.x"),
            "count": recmap.VarLen("int64", key="tracks.states#"),
        }
    )
    batch = ds.parse([1, 4, 7], fields)
    assert batch["times"].shape == (3, 3) and batch["times"].dtype == np.float16
    assert batch["x"].tolist()[1] == [[4.0, np.float32(4.1)]]
    assert batch["difficulty"].tolist() == [9, 3, 9]
    assert batch["given"].tolist() == [[], [3], []]
    assert batch["pixels"][2].tolist() == [[7] * 3] * 2
    assert batch["padded"].shape == (3, 1, 2)
    assert batch["nested"].tolist()[0] == [[1.0, np.float32(1.1)]]
    assert batch["count"].tolist() == [[2], [2], [2]]


@needs_images
def test_pictures_and_boxes_of_messages(tmp_path):
    made = Scenario(pixels=(ROOT / "tests/images/rgb.png").read_bytes(), times=[0.25, 0.5])
    write(tmp_path, [made.SerializeToString(), Scenario().SerializeToString()])
    fields = message(
        {
            "image": recmap.Image((8, 6), key="pixels", default=7),
            "boxes": recmap.Boxes("image", keys=("times", "times", "times", "times")),
        }
    )
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        batch = ds.parse([0, 1], fields)
    assert batch["image"].shape == (2, 8, 6, 3)
    assert (batch["image"][0] == recmap.decode_image(made.pixels, (8, 6))).all()
    assert (batch["image"][1] == 7).all()
    assert [len(boxes) for boxes in batch["boxes"]] == [2, 0]


def test_shapes_of_other_records_are_errors(ds):
    fields = message({"x": recmap.FixedLen((1, 2), "float64", key="tracks.states.x")})
    with pytest.raises(recmap.FeatureError, match=r"field 'tracks.states.x': more than 2 values"):
        ds.parse([1, 2], fields)
    with pytest.raises(recmap.FeatureError, match=r"0 values where \[1, 2\] needs 2"):
        ds.parse([0], fields)


def test_values_that_do_not_fit_are_errors(ds):
    fields = message({"difficulty": recmap.FixedLen((), "bool")})
    with pytest.raises(
        recmap.FeatureError, match=r"a value is 3, which bool cannot hold"
    ) as raised:
        ds.parse(range(8), fields)
    assert raised.value.record == 0


def test_records_that_are_no_such_message_are_errors(tmp_path):
    write(tmp_path, [scenario(1).SerializeToString()[:-1], gzip.compress(b"x" * 99)])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        with pytest.raises(
            recmap.CorruptRecordError, match=r"not a demo.Scenario: number runs past"
        ):
            ds.parse([0], message(FIELDS | {"speed": "speed"}))
        with pytest.raises(recmap.CorruptRecordError, match=r"not a demo.Scenario, but a gzip"):
            ds.parse([1], message(FIELDS))


def test_messages_read_as_examples_are_called_messages(ds):
    with pytest.raises(recmap.CorruptRecordError, match=r"not a tf.Example"):
        ds.parse([1], {"id": recmap.FixedLen((), bytes)})


@pytest.mark.parametrize("mode", ["skip", "substitute"])
def test_loaders_leave_out_bad_records(tmp_path, mode):
    records = [scenario(number).SerializeToString() for number in range(60)]
    records[7] = b"\xff" * 9
    write(tmp_path, records)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        loader = recmap.Loader(ds, 10, features=message(FIELDS), on_bad_record=mode, threads=2)
        with pytest.warns(UserWarning, match=r"record 7 .*not a demo.Scenario: tag is longer"):
            ids = [value for batch in loader for value in batch["id"].tolist()]
    assert b"scene-006" in ids and b"scene-007" not in ids
    assert len(ids) == (59 if mode == "skip" else 60)


def test_loaders_give_the_same_values_with_any_threads(ds):
    fields = message(FIELDS)
    batches = [
        [batch["x"].tolist() for batch in recmap.Loader(ds, 16, features=fields, threads=threads)]
        for threads in (0, 3)
    ]
    assert batches[0] == batches[1]
    assert sum(map(len, batches[0])) == 100


def test_ids_and_columns_of_an_index(shard):
    fields = message(FIELDS)
    options = {"id": fields["id"], "lift": {"level": fields["difficulty"]}}
    with recmap.open(shard, **options) as ds:
        assert ds.find("scene-042") == 42
        assert ds.where("level == 3").numbers.tolist() == list(range(0, 100, 4))
        assert ds.info["ids"]["name"] == "demo.Scenario:scenario_id"
    with recmap.open(shard, id=fields["id"]) as ds:
        assert ds.find_many(["scene-001", "scene-099"]).tolist() == [1, 99]
        copy = pickle.loads(pickle.dumps(ds))
        assert copy.find("scene-007") == 7
    with recmap.open(shard) as ds, pytest.raises(recmap.InvalidError, match="fields of messages"):
        ds.find("scene-001")
    with pytest.raises(recmap.StaleIndexError, match="are needed"):
        recmap.open(shard, id=message({"id": "difficulty"})["id"])


def test_appended_shards_are_read_with_the_same_fields(tmp_path):
    fields = message(FIELDS)
    options = {"id": fields["id"], "lift": [fields["difficulty"]]}
    records = [scenario(number).SerializeToString() for number in range(20)]
    write(tmp_path, records[:10], name="made-a.tfrecord")
    with recmap.open(tmp_path, index=tmp_path / "made.rmx", **options) as ds:
        assert len(ds) == 10
    write(tmp_path, records[10:], name="made-b.tfrecord")
    with pytest.raises(ValueError, match=r"column 'difficulty': give its field in lift="):
        recmap.open(tmp_path, index=tmp_path / "made.rmx", id=fields["id"])
    with recmap.open(tmp_path, index=tmp_path / "made.rmx", **options) as ds:
        assert ds.find("scene-015") == 15
        assert ds.columns["difficulty"].tolist()[8:13] == [3, 1, 1, 1, 3]


def test_a_malformed_record_stops_the_index(tmp_path):
    write(tmp_path, [scenario(1).SerializeToString(), b"\x2a\x7f"])
    with pytest.raises(recmap.FeatureError, match=r"not a demo.Scenario: length reaches past"):
        recmap.open(tmp_path / "made-0.tfrecord", id=message(FIELDS)["id"])


def test_elements_of_messages_are_not_counted(shard):
    with pytest.raises(recmap.InvalidError, match=r"only in tf.Examples, not in mess") as caught:
        recmap.open(shard, id=message(FIELDS)["id"], count=["times"])
    assert "count=" in caught.value.advice


def test_mixed_ids_are_refused(shard):
    fields = message(FIELDS)
    with pytest.raises(TypeError, match="all be fields of one"):
        recmap.open(shard, id=fields["id"], lift=["label"])
    with pytest.raises(TypeError, match="all be fields of one"):
        recmap.open(shard, id="id", lift={"level": fields["difficulty"]})
    with pytest.raises(ValueError, match="messages of one type"):
        other = recmap.Message(None, None, {"id": recmap.FixedLen((), bytes, key="5")})
        recmap.open(shard, id=other["id"], lift={"level": fields["difficulty"]})
    with pytest.raises(recmap.InvalidError, match="must be one value"):
        recmap.open(shard, id=fields["x"])
    with pytest.raises(recmap.InvalidError, match="floating-point"):
        recmap.open(shard, id=message({"id": "speed"})["id"])


def test_numbers_in_place_of_names(ds, shard):
    fields = recmap.Message(
        None,
        None,
        {
            "id": recmap.FixedLen((), bytes, key="5"),
            "kind": recmap.VarLen("int32", key="2.1"),
            "x": recmap.VarLen("float64", key="2.2.1"),
            "times": recmap.FixedLen((3,), "float32", key="1"),
        },
    )
    assert fields.type is None
    batch = ds.parse([2, 3], fields)
    assert batch["id"].tolist() == [b"scene-002", b"scene-003"]
    assert batch["kind"].tolist() == [[0, 1], []]
    assert batch["x"].tolist() == [[2.0, 2.1, 2.0, 2.1], []]
    assert batch["times"].shape == (2, 3)
    with recmap.open(shard, id=fields["id"], index=shard.with_suffix(".numbers.rmx")) as found:
        assert found.find("scene-008") == 8
    mixed = message({"x": "2.states.1"})
    assert ds.parse([1], mixed)["x"].tolist() == [[[1.0, 1.1]]]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"a": "scenario"}, "'demo.Scenario' has no field 'scenario'"),
        ({"a": "tracks"}, "is a message: name a field of it"),
        ({"a": "times.x"}, "'times' is double and has no field 'x'"),
        ({"a": recmap.FixedLen((), "int64", key="times")}, "double, but int64 was requested"),
        ({"a": recmap.FixedLen((), "float64", key="times")}, "has 1 repeated field"),
        ({"a": recmap.FixedLen((), "uint64_bits")}, 'write "uint64"'),
        (
            {"a": recmap.Sliced((), "float64", key="times")},
            "only from tf.Examples: read whole records",
        ),
        ({"a": recmap.Ragged("int32", [], key="difficulty")}, "has no repeated field"),
        ({3: "times"}, "must be a str"),
        ([], "fields must be a dict"),
    ],
)
def test_fields_that_do_not_fit(fields, text):
    with pytest.raises((recmap.InvalidError, ValueError, TypeError), match=text):
        message(fields)


def test_descriptor_sets_that_do_not_fit(tmp_path):
    with pytest.raises(recmap.InvalidError, match="no message type 'Scenrio'") as raised:
        recmap.Message(SET, "Scenrio", {})
    assert "demo.Scenario" in raised.value.advice
    with pytest.raises(recmap.InvalidError, match=r"'Track' may be 'demo.Other.Track' or"):
        recmap.Message(SET, "Track", {})
    with pytest.raises(recmap.InvalidError, match="not a descriptor set"):
        recmap.Message(b"\xff\xff", "Scenario", {})
    with pytest.raises(recmap.InvalidError, match="belong together"):
        recmap.Message(SET, None, {})
    with pytest.raises(FileNotFoundError):
        recmap.Message(tmp_path / "nothing.desc", "Scenario", {})
    with pytest.raises(ValueError, match=r"needs a dtype: FixedLen\(\(\), bytes, key='5'\)"):
        recmap.Message(None, None, {"id": "5"})
    imports = descriptor_pb2.FileDescriptorSet()
    imports.file.add(name="a.proto", dependency=["b.proto"]).message_type.add(name="A")
    with pytest.raises(
        recmap.InvalidError,
        match=r"imports 'b.proto', which the set|imports 'b.proto', which the descriptor",
    ):
        recmap.Message(imports, "A", {})


def test_files_and_bytes_are_descriptor_sets(tmp_path):
    (tmp_path / "scenario.desc").write_bytes(SET.SerializeToString())
    for given in (SET.SerializeToString(), tmp_path / "scenario.desc", SET):
        assert recmap.Message(given, "demo.Scenario", FIELDS).type == "demo.Scenario"


def test_pickles_and_lists_its_fields(ds):
    fields = pickle.loads(pickle.dumps(message(FIELDS)))
    assert list(fields) == ["id", "x", "difficulty"]
    assert ds.parse([5], fields)["id"].tolist() == [b"scene-005"]
    assert {"path": "tracks.states.x", "kind": "double", "levels": 2} in fields.fields()
    assert json.loads(fields.json(ds[4]))["difficulty"] == 3
    assert json.loads(fields.json(b"\xff", 9)) == {"number": 9, "base64": "/w=="}
    assert "VarLen" not in repr(fields) and "Ragged" in repr(fields)


def test_deep_messages_are_read_without_recursion(tmp_path):
    data = b""
    for _ in range(10_000):
        data = b"\x38\x02" + b"\x52" + recmap_varint(len(data)) + data
    write(tmp_path, [data])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        fields = message({"a": "other.other.difficulty"})
        assert ds.parse([0], fields)["a"].tolist() == [2]
        assert "base64" in fields.json(ds[0])


def recmap_varint(value):
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])
