"""Metadata that lies, is damaged, or is huge."""

import json

import pytest
import recmap
from prepared_set import CORE, group, info_of, label, prepare, sequence, steps, tensor
from recmap._tfds.connectors import fields_of
from recmap._tfds.metadata import info_of as parsed_info
from recmap._tfds.specs import specs_of


def fields(features):
    return fields_of(json.dumps(features).encode(), "features.json")


def info(**changes):
    given = {**info_of("made", {"train": [[b""] * 3]}), **changes}
    return parsed_info(json.dumps(given).encode(), "dataset_info.json")


def split(**changes):
    return info(splits=[{"name": "train", "shardLengths": ["3"], **changes}])


def test_info():
    assert info().files("train") == ["made-train.tfrecord-00000-of-00001"]
    assert split(shardLengths=[]).files("train") == []
    assert info(splits=[]).splits == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda: parsed_info(b"{", "x"),
        lambda: parsed_info(b"[]", "x"),
        lambda: parsed_info(b"\xff\xfe", "x"),
        lambda: parsed_info(b"[" * 100_000, "x"),
        lambda: info(name=None),
        lambda: info(name="../up"),
        lambda: info(name="a\0b"),
        lambda: info(splits={}),
        lambda: info(splits=["train"]),
        lambda: info(splits=[{"name": "a/b"}]),
        lambda: info(splits=[{"name": "a"}, {"name": "a"}]),
        lambda: split(name=7),
        lambda: split(shardLengths="3"),
        lambda: split(shardLengths=["-1"]),
        lambda: split(shardLengths=[1.5]),
        lambda: split(shardLengths=["1" * 40]),
        lambda: split(shardLengths=[True]),
        lambda: split(shardLengths=[0] * (1 << 21)),
        lambda: split(filepathTemplate="../{SPLIT}"),
        lambda: split(filepathTemplate="/etc/{SPLIT}"),
        lambda: split(filepathTemplate=7),
        lambda: split(numBytes="many"),
    ],
)
def test_damaged_info(make):
    with pytest.raises(recmap.InvalidError, match=r"metadata of TFDS"):
        make()


def test_other_files_than_tfrecord():
    with pytest.raises(recmap.UnsupportedError, match=r"prepared as 'array_record'"):
        info(fileFormat="array_record")


@pytest.mark.parametrize(
    "features",
    [
        [],
        7,
        {},
        group(x=7),
        group(x=[]),
        {"pythonClassName": f"{CORE}.features_dict.FeaturesDict"},
        {"pythonClassName": "x.FeaturesDict", "featuresDict": {"features": [1]}},
        group(x={"pythonClassName": f"{CORE}.tensor_feature.Tensor", "tensor": [1]}),
        group(x=tensor("int64", ("two",))),
        group(x=tensor("int64", (-5,))),
        group(x=tensor("int64", [1] * 40)),
        group(x=sequence(7)),
        group(x=sequence(tensor("int64"), "many")),
        group(x={"pythonClassName": "x.Image", "image": {"shape": {"dimensions": ["3"]}}}),
        group(x={"pythonClassName": "x.Video", "video": {"shape": {"dimensions": ["3"]}}}),
        group(x={"pythonClassName": "x.Translation", "translation": {}}),
        {"type": f"{CORE}.features_dict.FeaturesDict", "content": "{"},
        group(**{"a/b": tensor("int64"), "a": group(b=tensor("int64"))}),
    ],
)
def test_damaged_features(features):
    with pytest.raises(recmap.InvalidError):
        fields(features)


def test_deep_nesting():
    for depth, message in ((100, "nested more than 64 levels deep"), (100_000, "too deeply")):
        inner = json.dumps(tensor("int64"))
        start, end = json.dumps(sequence("?")).split('"?"')
        text = json.dumps(group(x="?")).replace('"?"', start * depth + inner + end * depth)
        with pytest.raises(recmap.InvalidError, match=message):
            fields_of(text.encode(), "features.json")


def test_unknown_connectors_are_named(tmp_path):
    own = {"pythonClassName": "mine.Sound", "pythonFeature": {"kind": "x"}}
    features = group(x=tensor("int64"), sound=own)
    assert specs_of(fields(features)).omitted == {"sound": "recmap does not know Sound"}
    record = recmap.encode_example({"x": 3, "sound": b"?"})
    folder = prepare(tmp_path, features, {"train": [[record]]})
    with pytest.warns(UserWarning, match=r"'sound' is left out: recmap does not know Sound"):
        ds = recmap.tfds.open(folder)
    assert list(ds.features()) == ["x"]


def test_a_connector_of_ones_own_is_known_by_its_base():
    own = {"pythonClassName": "mine.Angle", "tensor": {"dtype": "float32", "shape": {}}}
    assert specs_of(fields(group(angle=own))).features == {"angle": recmap.FixedLen((), "float32")}


def test_older_files():
    """Before TFDS 4.4: {"type": ..., "content": ...}."""
    old = {
        "type": f"{CORE}.features_dict.FeaturesDict",
        "content": {
            "image": {
                "type": f"{CORE}.image_feature.Image",
                "content": {"shape": [28, 28, 1], "dtype": "uint8", "encoding_format": "png"},
            },
            "label": {
                "type": f"{CORE}.class_label_feature.ClassLabel",
                "content": {"num_classes": 10},
            },
            "words": {
                "type": f"{CORE}.sequence_feature.Sequence",
                "content": {
                    "feature": {"type": f"{CORE}.text_feature.Text", "content": {}},
                    "length": None,
                },
            },
        },
    }
    found = fields(old)
    assert specs_of(found).features == {
        "image": recmap.Image((28, 28), mode="L", crop="exact", exif=False),
        "label": recmap.FixedLen((), "int64"),
        "words": recmap.VarLen(bytes),
    }
    assert [field.leaf.class_count for field in found] == [None, 10, None]


def test_older_files_with_messages():
    """With "proto_cls", the content is a message, or its JSON as a text."""
    message = {"features": {"x": tensor("int64")}}
    for content in (message, json.dumps(message)):
        old = {"type": "tfds.FeaturesDict", "content": content, "proto_cls": "x.FeaturesDict"}
        assert specs_of(fields(old)).features == {"x": recmap.FixedLen((), "int64")}


def test_a_feature_of_an_older_file_may_be_called_features():
    scalar = {"type": "tfds.Scalar", "content": {"dtype": "int64"}}
    for names in (["features"], ["features", "label"], ["type", "features"]):
        old = {"type": "tfds.FeaturesDict", "content": dict.fromkeys(names, scalar)}
        assert list(specs_of(fields(old)).features) == names


def test_groups_without_features():
    empty = {"pythonClassName": f"{CORE}.features_dict.FeaturesDict", "featuresDict": {}}
    assert list(specs_of(fields(group(none=empty, x=tensor("int64")))).features) == ["x"]
    with pytest.raises(recmap.InvalidError, match="names no features"):
        fields(group(none=empty))


def test_names_of_label_files():
    features = group(
        **{"a/b": label(2), "group": group(inner=sequence(label(3)))}, steps=steps(action=label(4))
    )
    names = {field.path: field.label_file for field in fields(features)}
    assert names == {"a/b": "a.b", "group/inner": "group-inner", "steps/action": "steps-action"}
