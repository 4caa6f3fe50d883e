"""Writing TFRecord files, and tf.Example out of plain values."""

import contextlib
import os

import numpy as np
import pytest
import recmap
from conftest import write


def test_records_go_round(tmp_path):
    payloads = [str(i).encode() * i for i in range(20)]
    paths = write(tmp_path, payloads, shards=3)
    assert [path.name for path in paths] == [f"made-{i}.tfrecord" for i in range(3)]
    for i, path in enumerate(paths):
        assert [bytes(r) for r in recmap.open(path)] == payloads[i::3]


def test_names(tmp_path):
    writer = recmap.Writer(str(tmp_path / "out-{shard:05d}-of-{shards:05d}.tfrecord"), shards=4)
    writer.write(b"x")
    assert len(writer) == 1
    assert not list(tmp_path.glob("*.tfrecord"))
    writer.close()
    writer.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"out-{i:05d}-of-00004.tfrecord" for i in range(4)
    ]
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"x")
    for wrong in ({"shards": 2}, {"shards": 0}, {"id": "x"}):
        with pytest.raises(ValueError):
            recmap.Writer(tmp_path / "one.tfrecord", **wrong)


def test_what_failed_vanishes(tmp_path):
    with pytest.raises(ZeroDivisionError), recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write(b"x")
        raise ZeroDivisionError
    with pytest.raises(FileNotFoundError):
        recmap.Writer(tmp_path / "no" / "a.tfrecord")
    assert list(tmp_path.iterdir()) == []


def test_index_with_no_second_pass(tmp_path):
    pattern = str(tmp_path / "a-{shard}.tfrecord")
    index = tmp_path / "a.rmx"
    with recmap.Writer(pattern, 3, index=index, id="name", lift={"label": -1}) as writer:
        for i in range(100):
            writer.write({"name": f"n{i}", **({"label": i} if i % 2 else {})})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a-0.tfrecord",
        "a-1.tfrecord",
        "a-2.tfrecord",
        "a.rmx",
    ]
    ds = recmap.open(tmp_path / "a-*.tfrecord", id="name", lift={"label": -1}, index=index)
    written = index.read_bytes()
    recmap.open(tmp_path / "a-*.tfrecord", id="name", lift={"label": -1}, index=index, rebuild=True)
    assert index.read_bytes() == written
    assert len(ds) == 100 and ds.find("n42") == 14


def test_kinds_of_records(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for record in (b"x", bytearray(b"y"), memoryview(b"z"), np.frombuffer(b"w", np.uint8)):
            writer.write(record)
        for wrong in ("text", 3, None):
            with pytest.raises(TypeError):
                writer.write(wrong)
    assert b"".join(recmap.open(tmp_path / "a.tfrecord")) == b"xyzw"


FEATURES = {
    "int": (7, "int64", 1),
    "negative": (-7, "int64", 1),
    "bool": (True, "int64", 1),
    "float": (0.5, "float", 1),
    "mixed": ([1, 0.5], "float", 2),
    "text": ("ä", "bytes", 1),
    "bytes": (b"\xff", "bytes", 1),
    "list": ([1, 2, 3], "int64", 3),
    "tuple": ((b"a", "b"), "bytes", 2),
    "array": (np.arange(6, dtype=np.int16).reshape(2, 3), "int64", 6),
    "uint8": (np.arange(6, dtype=np.uint8), "int64", 6),
    "float64": (np.ones(3), "float", 3),
    "half": (np.ones(3, np.float16), "float", 3),
    "texts": (np.array(["a", "b"]), "bytes", 2),
    "scalar": (np.float32(1.5), "float", 1),
    "empty array": (np.zeros(0, np.int64), "int64", 0),
    "strided": (np.arange(10)[::3], "int64", 4),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(tmp_path, name):
    value, kind, count = FEATURES[name]
    write(tmp_path, [{name: value}])
    found = recmap.open(tmp_path / "made-0.tfrecord").schema()[name]
    assert (found["kind"], found["min_length"]) == (kind, count)


def test_features_without_a_kind():
    assert recmap.encode_example({"a": None}) == recmap.encode_example({"a": []})


NO_FEATURES = [
    2**63,
    [1, b"x"],
    [b"x", 1],
    [[1], [2, 3]],
    np.array([2**63], np.uint64),
    np.array([b"x", 1], object),
    memoryview(b"1234")[::2],
    object(),
    1j,
    {},
    "\ud800",
]


@pytest.mark.parametrize("value", NO_FEATURES, ids=range(len(NO_FEATURES)))
def test_no_features(value):
    with pytest.raises((TypeError, ValueError), match="feature 'x': "):
        recmap.encode_example({"a": 1, "x": value})
    with pytest.raises((TypeError, ValueError), match="feature list 'f', step 1: "):
        recmap.encode_sequence_example({}, {"f": [1, value]})


@pytest.mark.parametrize("value", [3, [1], "text", None])
def test_no_dict_of_features(value):
    with pytest.raises(TypeError, match="features are a dict"):
        recmap.encode_example(value)
    if not isinstance(value, list):
        with pytest.raises(TypeError, match="feature list 'f': .* is no list of steps"):
            recmap.encode_sequence_example({}, {"f": value})
    with pytest.raises(TypeError, match="feature lists are a dict"):
        recmap.encode_sequence_example({}, value)


def test_names_of_features_are_texts():
    with pytest.raises(TypeError, match="feature 1: "):
        recmap.encode_example({1: 2})


def test_a_long_value_makes_a_short_message():
    with pytest.raises(TypeError) as raised:
        recmap.encode_example({"x": [1, b"x", *range(10**5)]})
    assert len(str(raised.value)) < 200


def test_the_writer_goes_on_behind_a_value_that_cannot_be(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write({"x": 1})
        with pytest.raises(TypeError):
            writer.write({"x": object()})
        with pytest.raises(TypeError):
            writer.write(3)
        writer.write({"x": 2})
        assert len(writer) == 2
    assert len(recmap.open(tmp_path / "a.tfrecord")) == 2


def test_bytes_in_pieces_are_no_record(tmp_path):
    with recmap.Writer(tmp_path / "a-{shard}.tfrecord", shards=2) as writer:
        writer.write(b"one")
        with pytest.raises(ValueError, match="side by side"):
            writer.write(memoryview(b"1234")[::2])
        writer.write(b"two")
        assert len(writer) == 2
    for shard, record in enumerate([b"one", b"two"]):
        assert list(recmap.open(tmp_path / f"a-{shard}.tfrecord")) == [record]


def test_a_pattern_of_bytes(tmp_path):
    with recmap.Writer(os.fsencode(tmp_path) + b"/\xfc-{shard}.tfrecord") as writer:
        writer.write(b"x")
    assert list(recmap.open(os.fsencode(tmp_path) + b"/\xfc-0.tfrecord")) == [b"x"]


def test_closing_while_a_record_is_made(tmp_path):
    writer = recmap.Writer(tmp_path / "a.tfrecord")

    class Closing(dict):
        def items(self):
            writer.close()
            return super().items()

    with pytest.raises(ValueError, match="closed"):
        writer.write(Closing(x=1))


@pytest.mark.parametrize("leave", ["close", "abandon"])
def test_a_child_leaves_the_parents_file_alone(tmp_path, leave):
    with recmap.Writer(tmp_path / "a.tfrecord", index=tmp_path / "a.rmx") as writer:
        writer.write(b"one")
        if not (child := os.fork()):
            with contextlib.suppress(ValueError):
                getattr(writer, leave)()
            os._exit(0)
        os.waitpid(child, 0)
        writer.write(b"two")
    assert list(recmap.open(tmp_path / "a.rmx")) == [b"one", b"two"]


def test_sequence_example():
    encoded = recmap.encode_sequence_example({"id": 3}, {"frames": [[0.5, 1.5], [], b"x"]})
    assert b"frames" in encoded and b"id" in encoded
