"""Decoding one tf.Example or tf.SequenceExample into plain values."""

import numpy as np
import pytest
import recmap

VALUES = {
    "bytes": [b"\xff", b""],
    "empty bytes": [],
    "empty float": np.zeros(0, np.float32),
    "empty int": np.zeros(0, np.int64),
    "float": np.array([0.5, -0.0, np.inf], np.float32),
    "int": np.array([-(2**63), -1, 0, 2**63 - 1]),
    "ä": np.array([7]),
}


def check_equal(value, expected):
    if isinstance(expected, list):
        assert value == expected
    else:
        assert value.dtype == expected.dtype
        assert value.tolist() == expected.tolist()


def encoded():
    # An empty array of bytes has no type: append the field bytes_list by hand.
    features = {name: value for name, value in VALUES.items() if name != "empty bytes"}
    whole = recmap.encode_example(features)
    entry = b"\x0a\x0bempty bytes\x12\x02\x0a\x00"
    return whole + b"\x0a" + bytes([len(entry) + 2]) + b"\x0a" + bytes([len(entry)]) + entry


def test_values_are_arrays_and_lists_of_bytes():
    decoded = recmap.decode_example(encoded())
    assert list(decoded) == sorted(VALUES)
    for name, expected in VALUES.items():
        check_equal(decoded[name], expected)


def test_arrays_can_be_written_to():
    array = recmap.decode_example(recmap.encode_example({"a": [1, 2]}))["a"]
    array[0] = 5
    assert array.tolist() == [5, 2]


def test_decoding_is_the_inverse_of_encoding():
    features = {"a": [1, 2], "b": None, "c": [0.5], "d": ["text", "more"]}
    record = recmap.encode_example(features)
    assert recmap.decode_example(record)["b"] is None
    assert recmap.encode_example(recmap.decode_example(record)) == record


def test_records_of_a_data_set(digits):
    decoded = recmap.decode_example(digits[42])
    assert decoded["id"] == [b"digit-00042"]
    assert decoded["label"].tolist() == [digits.columns["label"][42]]


def test_a_sequence_example_has_context_and_feature_lists():
    record = recmap.encode_sequence_example({"id": 3}, {"frames": [[0.5, 1.5], [2.5]], "none": []})
    decoded = recmap.decode_example(record)
    assert list(decoded) == ["context", "feature_lists"]
    check_equal(decoded["context"]["id"], np.array([3]))
    frames = decoded["feature_lists"]["frames"]
    check_equal(frames[0], np.array([0.5, 1.5], np.float32))
    check_equal(frames[1], np.array([2.5], np.float32))
    assert decoded["feature_lists"]["none"] == []


def test_an_empty_record_has_no_features():
    assert recmap.decode_example(b"") == {}


def test_steps_of_several_kinds():
    record = recmap.encode_sequence_example({}, {"a": [[1], [b"x"], None]})
    first, second, third = recmap.decode_example(record)["feature_lists"]["a"]
    check_equal(first, np.array([1]))
    assert second == [b"x"]
    assert third is None


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_malformed_records_name_the_byte(cut):
    record = recmap.encode_example({"label": [1, 2, 3]})
    with pytest.raises(recmap.CorruptRecordError, match=r"is not a tf\.Example: ") as caught:
        recmap.decode_example(record[:cut])
    assert 0 <= caught.value.offset <= cut
    assert caught.value.advice


def test_a_malformed_sequence_example():
    record = recmap.encode_sequence_example({}, {"a": [[1, 2, 3]]})
    broken = record[:-6] + b"\xff" * 6
    with pytest.raises(
        recmap.CorruptRecordError, match=r"is not a tf\.SequenceExample: "
    ) as caught:
        recmap.decode_example(broken)
    assert caught.value.offset is not None


@pytest.mark.parametrize("record", ["text", None, 3])
def test_records_are_bytes(record):
    with pytest.raises(TypeError):
        recmap.decode_example(record)


def test_decoding_agrees_with_protobuf():
    tf = pytest.importorskip("tensorflow")
    message = tf.train.Example.FromString(encoded())
    decoded = recmap.decode_example(encoded())
    assert sorted(message.features.feature) == sorted(decoded)
    for name, feature in message.features.feature.items():
        kind = feature.WhichOneof("kind")
        assert list(getattr(feature, kind).value) == list(decoded[name])
