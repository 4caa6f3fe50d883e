"""Files of HDFS, which fsspec reads by WebHDFS. The oracle is the same data set, read locally."""

import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import recmap
from conftest import DIGITS, needs_cache_space
from hdfs_server import BLOCK_TOKEN, HdfsServer
from object_server import gathered

pytest.importorskip("fsspec")
pytest.importorskip("requests")

TOKEN = "HAAEYWxpY2U+/secret"


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


@pytest.fixture
def hdfs(tmp_path):
    folder = tmp_path / "hdfs"
    shutil.copytree(DIGITS, folder / "data" / "train")
    with HdfsServer(folder) as server:
        yield server


@pytest.fixture
def on_hdfs(hdfs, tmp_path):
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    options = {"id": "id", "index": tmp_path / "hdfs.rmx", "progress": None}
    with recmap.open(source, **options) as ds:
        hdfs.namenode.requests.clear()
        hdfs.datanode.requests.clear()
        yield ds


def paths_of(node):
    return [path for path, _ in node.requests]


def test_everything_reads_as_from_files(on_hdfs, digits, hdfs):
    assert on_hdfs.fingerprint == digits.fingerprint
    numbers = np.random.default_rng(1).permutation(len(digits))[:500]
    assert gathered(on_hdfs, numbers) == gathered(digits, numbers)
    assert on_hdfs.find("digit-01234") == 1234
    assert on_hdfs.verify()["damage"] == []
    shard = next(iter(on_hdfs.shards))
    assert shard["path"] == f"{hdfs.url}/data/train/digits-00000-of-00004.tfrecord"


def test_a_loader_gives_the_batches_of_the_local_one(on_hdfs, digits):
    def batches(ds):
        with recmap.Loader(ds, 64, shuffle=True, seed=3, epochs=1, threads=2) as loader:
            return [[bytes(record) for record in batch] for batch in loader]

    assert batches(on_hdfs) == batches(digits)


def test_a_pickled_copy_requests_the_bytes_of_a_record_only(on_hdfs, digits, hdfs):
    again = pickle.loads(pickle.dumps(on_hdfs))
    assert hdfs.namenode.requests == []
    assert bytes(again[1000]) == bytes(digits[1000])
    (read,) = paths_of(hdfs.datanode)
    size = int(read.partition("length=")[2].partition("&")[0])
    assert len(digits[1000]) <= size < len(digits[1000]) + 100


def test_httpfs_answers_without_a_redirect(on_hdfs, digits, hdfs):
    hdfs.namenode.redirects = False
    assert gathered(on_hdfs, [5, 1700, 900]) == gathered(digits, [5, 1700, 900])
    assert hdfs.datanode.requests == []


def test_index_writes_what_open_writes(on_hdfs, hdfs, tmp_path):
    recmap.index(f"{hdfs.url}/data/train/", tmp_path / "b.rmx", id="id", progress=None)
    assert (tmp_path / "b.rmx").read_bytes() == (tmp_path / "hdfs.rmx").read_bytes()
    counts = recmap.merge(tmp_path / "c.rmx", [tmp_path / "b.rmx"], progress=None)
    assert counts["records"] == len(on_hdfs)


def test_an_index_of_urls_is_opened_by_its_path(on_hdfs, digits, hdfs):
    """As one of an older version of recmap, whose C library read HDFS."""
    hdfs.namenode.token = TOKEN
    options = {"delegation": TOKEN}
    trusted = recmap.Storage(options=options, allow_urls=True)
    with recmap.open(on_hdfs.index_path, storage=trusted) as ds:
        assert gathered(ds, [0, 900, 1796]) == gathered(digits, [0, 900, 1796])
    with pytest.raises(recmap.InvalidError, match="names this shard in a remote store"):
        recmap.open(on_hdfs.index_path, storage=recmap.Storage(options=options))


def test_the_c_library_refuses_an_index_of_urls_in_words(on_hdfs):
    with pytest.raises(recmap.InvalidError, match="webhdfs:// in Python only") as error:
        recmap._recmap.Handle(on_hdfs.index_path, allow_urls=True)
    assert "with storage=recmap.Storage(fs=...)" in error.value.advice


# ---- Folders, patterns and lists.


def find_names(source, hdfs, tmp_path):
    with recmap.open(source, index=tmp_path / "found.rmx") as ds:
        found = [shard["path"].removeprefix(hdfs.url) for shard in ds.shards]
    (tmp_path / "found.rmx").unlink()
    return found


def test_folders_and_patterns(hdfs, tmp_path):
    root = hdfs.namenode.folder
    shard = DIGITS / "digits-00000-of-00004.tfrecord"
    for name in (
        "data/a/x.tfrecord",
        "data/b/x.tfrecord",
        "data/b/deep/er/x.tfrecord",
        "data/b/.hidden.tfrecord",
        "a b+c=d%25&ä/x#1?.tfrecord",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shard, root / name)

    def found(pattern):
        return find_names(f"{hdfs.url}{pattern}", hdfs, tmp_path)

    assert found("/data/b/") == ["/data/b/x.tfrecord"]
    assert found("/data/[ab]/x*") == ["/data/a/x.tfrecord", "/data/b/x.tfrecord"]
    assert found("/data/**/x.tfrecord") == [
        "/data/a/x.tfrecord",
        "/data/b/deep/er/x.tfrecord",
        "/data/b/x.tfrecord",
    ]
    assert found("/a b+c=d%25&ä/*") == ["/a b+c=d%25&ä/x#1?.tfrecord"]
    assert len(found("/data/train/digits@4.tfrecord")) == 4
    with pytest.raises(FileNotFoundError, match="no object matches"):
        found("/data/a/none*")


def test_a_list_of_urls(hdfs, tmp_path):
    (tmp_path / "list.txt").write_text(f"# all\n{hdfs.url}/data/train/*.tfrecord\n")
    assert len(find_names(f"@{tmp_path}/list.txt", hdfs, tmp_path)) == 4


@pytest.mark.filterwarnings("ignore:.*shards are missing")
def test_two_clusters_are_one_data_set(hdfs, digits, tmp_path):
    names = [f"/data/train/digits-0000{i}-of-00004.tfrecord" for i in range(4)]
    with HdfsServer(hdfs.namenode.folder) as second:
        urls = [f"{(hdfs, second)[i % 2].url}{name}" for i, name in enumerate(names)]
        with recmap.open(urls, index=tmp_path / "two.rmx") as ds:
            assert gathered(ds, range(0, 1797, 9)) == gathered(digits, range(0, 1797, 9))
        assert second.datanode.requests
    with pytest.raises(recmap.Error, match="cannot be read together with those of another store"):
        recmap.open([urls[0], "s3://bucket/x"], index=tmp_path / "mixed.rmx")


# ---- Users and tokens.


@pytest.mark.parametrize("name", ["token", "delegation"])
def test_a_token_reaches_the_namenode_only(name, hdfs, digits, tmp_path):
    hdfs.namenode.token = TOKEN
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    options = {"storage": recmap.Storage(options={name: TOKEN})}
    ds = recmap.open(source, index=tmp_path / "a.rmx", **options)
    assert bytes(ds[700]) == bytes(digits[700])
    assert all("HAAEYWxpY2U%2B%2Fsecret" in path for path in paths_of(hdfs.namenode))
    assert all(f"delegation={BLOCK_TOKEN}" in path for path in paths_of(hdfs.datanode))
    assert b"secret" not in (tmp_path / "a.rmx").read_bytes()
    assert "secret" not in repr(ds)


def test_a_wrong_token_is_an_error(hdfs, tmp_path):
    hdfs.namenode.token = "another"
    source = f"{hdfs.url}/data/train/digits-*.tfrecord"
    options = {"storage": recmap.Storage(options={"token": TOKEN})}
    with pytest.raises(recmap.StorageError) as error:
        recmap.open(source, index=tmp_path / "a.rmx", **options)
    assert "secret" not in str(error.value)


def test_the_environment_names_user_and_token(hdfs, tmp_path, monkeypatch):
    source = f"{hdfs.url}/data/train/"
    monkeypatch.setenv("HADOOP_USER_NAME", "bob")
    recmap.open(source, index=tmp_path / "a.rmx")
    assert all("user.name=bob" in path for path in paths_of(hdfs.namenode))
    hdfs.namenode.requests.clear()
    options = {"storage": recmap.Storage(options={"user": "alice"})}
    recmap.open(source, index=tmp_path / "b.rmx", **options)
    assert all("user.name=alice" in path for path in paths_of(hdfs.namenode))
    hdfs.namenode.token = TOKEN
    monkeypatch.setenv("HADOOP_TOKEN", TOKEN)
    recmap.open(source, index=tmp_path / "c.rmx")


def test_credentials_are_those_of_fsspec(hdfs, tmp_path):
    with pytest.raises(ValueError, match=r"takes no credentials: pass its own options"):
        recmap.open(
            f"{hdfs.url}/data/train/", storage=recmap.Storage(credentials=lambda: {"token": TOKEN})
        )


@pytest.mark.parametrize("missing, package", [("fsspec", "requests"), ("requests", "fsspec")])
def test_without_the_packages_the_error_names_them(missing, package, tmp_path, monkeypatch):
    script = (
        f"import sys; sys.modules[{missing!r}] = None; import recmap; "
        "recmap.open('webhdfs://host:9870/a/')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "ImportError: recmap reads webhdfs:// with fsspec, and" in done.stderr
    assert "pip install fsspec requests" in done.stderr


# ---- Changes and faults.


def test_a_changed_file_is_stale(on_hdfs, hdfs):
    shard = hdfs.namenode.folder / "data/train/digits-00002-of-00004.tfrecord"
    data = shard.read_bytes()
    shard.write_bytes(data[: len(data) // 2])
    with pytest.raises(recmap.StaleIndexError, match="the shard changed since it was indexed"):
        bytes(on_hdfs[1000])
    shard.write_bytes(data[::-1])
    os.utime(shard, (1, 1))
    with pytest.raises(recmap.CorruptRecordError, match="none of the sampled records"):
        bytes(on_hdfs[1000])


def test_an_index_moves_to_and_from_hdfs(on_hdfs, digits, hdfs):
    numbers = range(0, len(digits), 20)
    here = recmap.open(on_hdfs.index_path, shards=DIGITS)
    assert gathered(here, numbers) == gathered(digits, numbers)
    moved = recmap.open(digits.index_path, shards=f"{hdfs.url}/data/train")
    assert gathered(moved, numbers) == gathered(digits, numbers)


def test_an_index_may_be_on_hdfs(on_hdfs, digits, hdfs):
    shutil.copy(on_hdfs.index_path, hdfs.namenode.folder / "data" / "train" / "digits.rmx")
    ds = recmap.open(f"{hdfs.url}/data/train/digits.rmx")
    assert bytes(ds[99]) == bytes(digits[99])


@needs_cache_space
def test_the_cache_keeps_what_was_read(on_hdfs, digits, hdfs, tmp_path):
    def read():
        with recmap.open(
            on_hdfs.index_path, storage=recmap.Storage(allow_urls=True, cache=tmp_path / "cache")
        ) as ds:
            assert gathered(ds, range(300)) == gathered(digits, range(300))

    read()
    hdfs.datanode.requests.clear()
    read()
    assert hdfs.datanode.requests == []


def test_a_server_that_does_not_answer_is_an_error(hdfs, tmp_path):
    hdfs.namenode.faults = [lambda handler: handler.answer(503, b"") or True] * 50
    options = {"storage": recmap.Storage(options={"token": TOKEN})}
    for name in ("digits-*.tfrecord", "", "digits-00000-of-00004.tfrecord"):
        with pytest.raises(recmap.StorageError, match="503") as error:
            recmap.open(f"{hdfs.url}/data/train/{name}", index=tmp_path / "a.rmx", **options)
        assert "/data/train" in str(error.value) and "secret" not in str(error.value)


def test_a_folder_is_not_a_file(hdfs, tmp_path):
    with pytest.raises(OSError, match="it is a folder"):
        recmap.open(f"{hdfs.url}/data/train", index=tmp_path / "a.rmx")
