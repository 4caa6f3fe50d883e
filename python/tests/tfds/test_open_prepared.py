"""Opening what TFDS prepared: versions, splits, features, labels, and files that differ."""

import json
import pickle
import shutil

import numpy as np
import pytest
import recmap
from prepared_set import group, label, prepare, sequence, tensor

FEATURES = group(
    id=tensor("int64"),
    label=label(3),
    points=sequence(tensor("float32", (2,))),
    nested=group(name=tensor("string")),
)


def record(i):
    points = np.arange(2 * (i % 3), dtype=np.float32)
    features = {"id": i, "label": i % 3, "points": points, "nested/name": f"n{i}"}
    return recmap.encode_example(features)


def records(first, end):
    return [record(i) for i in range(first, end)]


@pytest.fixture
def folder(tmp_path):
    splits = {"train": [records(0, 5), records(5, 9)], "test": [records(9, 12)]}
    made = prepare(tmp_path / "made" / "1.0.0", FEATURES, splits)
    (made / "label.labels.txt").write_text("cat\ndog\n\nowl\n")
    return made


def ids(ds):
    return ds.parse(range(len(ds)), {"id": recmap.FixedLen((), "int64")})["id"].tolist()


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", range(9)),
        ("test", range(9, 12)),
        ("train[2:-2]", range(2, 7)),
        ("train[1shard:]", range(5, 9)),
        ("test+train[:2]", [9, 10, 11, 0, 1]),
        ("all", range(12)),
        ("train[4:4]", []),
        (recmap.tfds.even_splits("train", 2)[1], range(5, 9)),
    ],
)
def test_a_split(folder, split, expected):
    ds = recmap.tfds.open(folder, split)
    assert ids(ds) == list(expected)
    assert ds.labels == {"label": ["cat", "dog", "owl"]}
    assert list(ds.features()) == ["id", "label", "points", "nested/name"]


def test_what_metadata_says_stays_with_views_and_pickles(folder):
    ds = recmap.tfds.open(folder, "train+test")
    for other in (ds[2:], ds.select([3, 1]), pickle.loads(pickle.dumps(ds[4:]))):
        assert other.labels == ds.labels
        assert other.features() == ds.features()
    part = recmap.tfds.open(folder, "train[:50%]")
    assert pickle.loads(pickle.dumps(part)).labels == ds.labels
    assert recmap.concat([ds, part]).labels == ds.labels
    plain = recmap.open(folder, split="train")
    assert plain.labels == {}
    assert recmap.concat([ds, plain]).labels == {}


def test_batches_are_nested(folder):
    ds = recmap.tfds.open(folder, "train")
    batch = next(iter(recmap.Loader(ds, 4, features=ds.features())))
    nested = recmap.tfds.nest(batch)
    assert set(nested) == {"id", "label", "points", "nested"}
    assert nested["nested"]["name"].tolist() == [b"n0", b"n1", b"n2", b"n3"]
    assert [row.tolist() for row in nested["points"]] == [[], [[0, 1]], [[0, 1], [2, 3]], []]
    assert recmap.tfds.nest({"a/b": 1, "a/c": 2}) == {"a": {"b": 1, "c": 2}}


def test_one_index_for_each_split(folder):
    recmap.tfds.open(folder, "train[:10%]")
    recmap.tfds.open(folder, "train[20%:]")
    assert [path.name for path in folder.glob("*.rmx")] == ["made-train.rmx"]
    assert len(recmap.open(folder, split="train")) == 9  # which uses the same index
    assert [path.name for path in folder.glob("*.rmx")] == ["made-train.rmx"]


def test_the_only_split_need_not_be_named(tmp_path):
    folder = prepare(tmp_path, FEATURES, {"eval": [records(0, 2)]})
    assert ids(recmap.tfds.open(folder)) == [0, 1]


def test_a_split_must_be_named(folder):
    with pytest.raises(ValueError, match=r"name a split, .*there are 'train', 'test'"):
        recmap.tfds.open(folder)


def test_the_newest_version(folder):
    for version, count in (("1.9.0", 2), ("1.10.0", 3), ("0.99.0", 4)):
        prepare(folder.parent / version, FEATURES, {"train": [records(0, count)]})
    (folder.parent / "downloads").mkdir()
    assert len(recmap.tfds.open(folder.parent, "train")) == 3


def test_configurations_must_be_named(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "other" / "tiny" / "1.0.0")
    assert len(recmap.tfds.open(tmp_path / "other", "train")) == 9
    shutil.copytree(folder, tmp_path / "other" / "huge" / "1.0.0")
    with pytest.raises(recmap.InvalidError, match=r"2 data sets or configurations: 'huge', 'tiny'"):
        recmap.tfds.open(tmp_path / "other", "train")


def test_a_folder_without_metadata(tmp_path):
    with pytest.raises(recmap.FileMissingError, match=r"no dataset_info.json, and no folder"):
        recmap.tfds.open(tmp_path, "train")
    with pytest.raises(FileNotFoundError):
        recmap.tfds.open(tmp_path / "missing", "train")


def test_features_are_missing(folder):
    (folder / "features.json").unlink()
    with pytest.raises(recmap.FileMissingError, match=r"metadata of TFDS is missing"):
        recmap.tfds.open(folder, "train")


# ---- Files that differ from the metadata.


def test_a_missing_shard(folder):
    (folder / "made-train.tfrecord-00000-of-00002").unlink()
    with pytest.raises(recmap.InvalidError, match=r"1 shard of 2 of split 'train' is missing") as e:
        recmap.tfds.open(folder, "train")
    assert e.value.path.endswith("made-train.tfrecord-00000-of-00002")
    assert "metadata=" in e.value.advice
    with pytest.warns(UserWarning, match=r"1 shard of 2 of split 'train' is missing"):
        ds = recmap.tfds.open(folder, "train[:50%]", metadata="warn")
    assert ids(ds) == [5, 6]  # of the four records that are there
    assert len(recmap.tfds.open(folder, "test")) == 3


def test_a_shard_that_is_removed_from_an_indexed_set(folder):
    recmap.tfds.open(folder, "train").close()
    (folder / "made-train.tfrecord-00000-of-00002").unlink()
    ds = recmap.tfds.open(folder, "train")
    assert ids(ds[5:]) == [5, 6, 7, 8]
    with pytest.raises(recmap.FileMissingError, match="made-train"):
        ds[0]


def test_no_shards(folder):
    for path in folder.glob("*-test*"):
        path.unlink()
    with (
        pytest.warns(UserWarning, match=r"missing"),
        pytest.raises(recmap.FileMissingError, match=r"split 'test' has no shards"),
    ):
        recmap.tfds.open(folder, "test", metadata="warn")


class FirstFive:
    """A split object as tensorflow_datasets has them: it looks up the splits that it is made of."""

    splitname, from_, to = "train", None, 5

    def to_absolute(self, splits):
        assert splits[self.splitname].num_examples == 9
        return [self]


def test_only_the_splits_of_an_object_are_opened(folder):
    for path in folder.glob("*-test*"):
        path.unlink()
    for metadata in ("error", "warn"):
        assert ids(recmap.tfds.open(folder, FirstFive(), metadata=metadata)) == [*range(5)]
    assert [path.name for path in folder.glob("*.rmx")] == ["made-train.rmx"]


def test_a_shard_of_another_length(folder):
    with recmap.Writer(folder / "made-train.tfrecord-00001-of-00002", index=None) as writer:
        for payload in records(5, 8):
            writer.write(payload)
    with pytest.raises(recmap.InvalidError, match=r"has 3 records, but the metadata says 4") as e:
        recmap.tfds.open(folder, "train")
    assert e.value.path.endswith("made-train.tfrecord-00001-of-00002")
    with pytest.warns(UserWarning, match=r"has 3 records, but the metadata says 4"):
        assert len(recmap.tfds.open(folder, "train[4:]", metadata="warn")) == 4


def test_a_difference_is_found_with_an_index_too(folder):
    recmap.tfds.open(folder, "train")
    info = json.loads((folder / "dataset_info.json").read_text())
    info["splits"][0]["shardLengths"] = ["5", "5"]
    (folder / "dataset_info.json").write_text(json.dumps(info))
    with pytest.raises(recmap.InvalidError, match=r"has 4 records, but the metadata says 5"):
        recmap.tfds.open(folder, "train")


def test_names_by_a_template(tmp_path):
    folder = prepare(tmp_path, FEATURES, {"train": [records(0, 2), records(2, 5)]})
    info = json.loads((folder / "dataset_info.json").read_text())
    info["splits"][0]["filepathTemplate"] = "{SPLIT}/data.{FILEFORMAT}-{SHARD_INDEX}"
    (folder / "dataset_info.json").write_text(json.dumps(info))
    (folder / "train").mkdir()
    for i in range(2):
        old = folder / f"made-train.tfrecord-0000{i}-of-00002"
        old.rename(folder / "train" / f"data.tfrecord-0000{i}")
    assert ids(recmap.tfds.open(folder, "train")) == [0, 1, 2, 3, 4]


def test_arguments_of_open(folder):
    ds = recmap.tfds.open(folder, "train", id="id", lift=["label"], index=folder / "own.rmx")
    assert ds.find(7) == 7 and ds.columns["label"].tolist() == [i % 3 for i in range(9)]
    with pytest.raises(ValueError, match=r"metadata must be one of 'error', 'warn'"):
        recmap.tfds.open(folder, "train", metadata="ignore")
    with pytest.raises(TypeError, match=r"medatata.*metadata"):
        recmap.tfds.open(folder, "train", medatata="warn")
