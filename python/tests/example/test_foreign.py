"""Records that are not tf.Example: every call says so, and says what they are."""

import gzip
import struct
import zlib

import numpy as np
import pytest
import recmap
from conftest import write


def held(number, body):
    """A field with bytes."""
    assert len(body) < 128
    return bytes([number << 3 | 2, len(body)]) + body


def event(step):
    summary = held(5, held(1, b"\x0a\x04loss\x15" + struct.pack("<f", step)))
    return b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + bytes([step]) + summary


def tensor(array):
    """What tf.io.serialize_tensor writes for float32."""
    shape = b"".join(held(2, b"\x08" + bytes([size])) for size in array.shape)
    return b"\x08\x01" + held(2, shape) + held(4, array.tobytes())


EXAMPLE = recmap.encode_example({"x": 3, "raw": b"\xff\xfe"})
KINDS = {
    "an event of TensorBoard": event(3),
    "an ExampleListWithContext (ELWC)": held(1, EXAMPLE) * 2 + held(2, EXAMPLE),
    "a tensor that tf.io.serialize_tensor wrote": tensor(np.ones((2, 3), np.float32)),
    "a gzip stream": gzip.compress(EXAMPLE),
    "a message of another type, which has no features": held(7, b"name") + b"\x18\x01",
}
FEATURES = {
    "fixed": recmap.FixedLen((), "int64"),
    "var": recmap.VarLen("int64"),
    "default": recmap.FixedLen((), "int64", default=0),
    "sequence": recmap.FixedLenSequence((), "float32"),
}


@pytest.fixture(params=KINDS)
def foreign(request, tmp_path):
    write(tmp_path, [KINDS[request.param]] * 4)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        yield request.param, ds


@pytest.mark.parametrize("feature", FEATURES)
def test_parsing_says_what_the_records_are(foreign, feature):
    kind, ds = foreign
    features = {"x": FEATURES[feature]}
    calls = [
        lambda: ds.parse([0], features, missing="ignore"),
        lambda: ds.parse_sequence([0], features, {}),
        lambda: next(iter(recmap.Loader(ds, 2, features=features))),
    ]
    for call in calls:
        with pytest.raises(recmap.CorruptRecordError) as caught:
            call()
        assert caught.value.record == 0
        assert f", but {kind}" in caught.value.message
        assert caught.value.advice
    failures = ds.parse([0, 1], features, on_bad_record="collect").failures
    assert [row for row, _ in failures] == [0, 1]


def test_decoding_and_the_schema_say_so(foreign):
    kind, ds = foreign
    with pytest.raises(recmap.CorruptRecordError, match=r"is not a tf\.Example, but") as caught:
        recmap.decode_example(ds[0])
    assert caught.value.message.endswith(kind) and caught.value.advice
    with pytest.warns(UserWarning, match=r"4 of 4 records are neither a tf\.Example"):
        assert ds.schema() == {}


@pytest.mark.parametrize(
    "contents", [{"id": "x"}, {"lift": ["x"]}, {"lift": {"x": 0}}, {"count": ["x"]}]
)
def test_indexing_says_so(foreign, contents, tmp_path):
    kind, ds = foreign
    with pytest.raises(recmap.FeatureError, match=r"is not a tf\.Example") as caught:
        recmap.open(tmp_path / "made-0.tfrecord", index=tmp_path / "new.rmx", **contents)
    assert caught.value.record == 0 and caught.value.message.endswith(kind)
    if "lift" in contents:
        with pytest.raises(recmap.FeatureError, match=r"is not a tf\.Example") as caught:
            ds.lift(contents["lift"])
        assert caught.value.message.endswith(kind)


def test_tables_show_the_bytes(foreign, capsys):
    _, ds = foreign
    ds.show()
    assert capsys.readouterr().out.splitlines()[1].split() == ["number", "size", "record"]


def test_records_without_features_are_examples(tmp_path):
    context = held(1, b"")
    write(tmp_path, [b"", context, held(2, b""), context + held(2, b""), EXAMPLE + b"\x18\x01"])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        column = ds.parse(range(5), {"x": recmap.VarLen("int64")})["x"]
        assert column.lengths.tolist() == [0, 0, 0, 0, 1]
        assert [bool(recmap.decode_example(record)) for record in ds] == [False] * 4 + [True]


def test_an_empty_list_of_another_kind_is_empty(tmp_path):
    empty = [held(1, held(1, held(1, b"x") + held(2, held(kind, b"")))) for kind in (1, 2, 3)]
    write(tmp_path, [*empty, EXAMPLE])
    features = {"x": recmap.VarLen("int64"), "y": recmap.FixedLenSequence((), "int8", key="x")}
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        batch = ds.parse(range(4), features)
        assert batch["x"].tolist() == [[], [], [], [3]]
        assert batch["y"].tolist() == [[0], [0], [0], [3]]
        assert batch.is_valid("x").all()  # empty, not missing
        with pytest.raises(recmap.FeatureError, match=r"0 values where \[\] needs 1"):
            ds.parse([1], {"x": recmap.FixedLen((), "int64", default=7)})


def test_an_empty_list_of_another_kind_counts_as_no_elements(tmp_path):
    write(tmp_path, [held(1, held(1, held(1, b"x") + held(2, held(2, b""))))])
    with pytest.warns(UserWarning, match="all counts are 0"):
        made = recmap.open(tmp_path / "made-0.tfrecord", count={"x": "uint8"})
    assert made.counts["x"].tolist() == [0]


@pytest.mark.parametrize("outer", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("inner", [gzip.compress, zlib.compress])
def test_shards_that_are_compressed_twice(tmp_path, outer, inner):
    write(tmp_path, [EXAMPLE] * 20)
    made = tmp_path / "made-0.tfrecord"
    made.write_bytes(outer(inner(made.read_bytes())))
    with pytest.raises(recmap.CorruptRecordError, match="compressed twice") as caught:
        recmap.open(made)
    assert "decompress it once" in caught.value.advice
