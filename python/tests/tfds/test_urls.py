"""Data sets that TFDS prepared, in remote stores."""

import os
import shutil

import pytest
import recmap
from prepared_set import prepare
from test_open_prepared import FEATURES, ids, records

SPLITS = {"train": [records(0, 5), records(5, 9)], "test": [records(9, 12)]}


@pytest.fixture
def bucket(server, tmp_path, monkeypatch):
    """A server with two versions of a data set. Indexes are built in the current folder."""
    monkeypatch.chdir(tmp_path)
    made = prepare(server.folder / "train" / "made" / "1.10.0", FEATURES, SPLITS)
    (made / "label.labels.txt").write_text("cat\ndog\nowl\n")
    prepare(server.folder / "train" / "made" / "1.9.0", FEATURES, {"train": [records(0, 2)]})
    return server


def opened(server, url, split="train", **more):
    return recmap.tfds.open(url, split, storage=recmap.Storage(options=server.options()), **more)


@pytest.mark.parametrize("url", ["s3://train/made/1.10.0", "s3://train/made", "s3://train/made/"])
def test_a_url(bucket, url):
    ds = opened(bucket, url)
    assert ids(ds) == [*range(9)] and ids(opened(bucket, url, "train[5:]+test")) == [*range(5, 12)]
    assert ds.labels == {"label": ["cat", "dog", "owl"]}
    assert sorted(name for name in os.listdir() if name.endswith(".rmx")) == [
        "made-test.rmx",
        "made-train.rmx",
    ]


def test_an_index_is_used_again(bucket):
    opened(bucket, "s3://train/made/1.10.0")
    bucket.requests.clear()
    opened(bucket, "s3://train/made/1.10.0")
    assert not any("tfrecord" in path for path, _ in bucket.requests if "prefix" not in path)


def test_the_url_of_a_web_server(bucket):
    url = f"{bucket.url}/train/made/1.10.0"
    assert ids(recmap.tfds.open(url, "test")) == [9, 10, 11]


def test_a_data_set_must_be_named(bucket):
    other = bucket.folder / "train" / "other" / "1.0.0"
    shutil.copytree(bucket.folder / "train" / "made" / "1.9.0", other)
    with pytest.raises(recmap.InvalidError, match="2 data sets or configurations: 'made', 'other'"):
        opened(bucket, "s3://train")
    with pytest.raises(recmap.FileMissingError, match=r"there is no dataset_info"):
        opened(bucket, "s3://train/nothing")


def test_missing_shards(bucket):
    (bucket.folder / "train/made/1.10.0/made-train.tfrecord-00000-of-00002").unlink()
    with pytest.raises(recmap.InvalidError, match="1 shard of 2 of split 'train' is missing"):
        opened(bucket, "s3://train/made")
    with pytest.warns(UserWarning, match="1 shard of 2 of split 'train' is missing"):
        ds = opened(bucket, "s3://train/made", metadata="warn")
    assert ids(ds) == [5, 6, 7, 8]


def test_huge_metadata_is_not_downloaded(bucket):
    with open(bucket.folder / "train/made/1.10.0/features.json", "ab") as file:
        file.truncate(65 << 20)
    with pytest.raises(recmap.InvalidError, match="at most 67108864"):
        opened(bucket, "s3://train/made")


def test_a_filesystem(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.chdir(tmp_path)
    fs = fsspec.filesystem("memory")
    made = prepare(tmp_path / "made" / "1.0.0", FEATURES, SPLITS)
    for path in made.iterdir():
        fs.pipe(f"/sets/made/1.0.0/{path.name}", path.read_bytes())
    storage = recmap.Storage(fs=fs)
    try:
        for i, name in enumerate(("memory://sets/made", "/sets/made/1.0.0")):
            ds = recmap.tfds.open(name, "test", storage=storage, index=f"{i}.rmx")
            assert ids(ds) == [9, 10, 11]
    finally:
        fs.rm("/sets", recursive=True)
