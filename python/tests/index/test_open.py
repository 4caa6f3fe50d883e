"""Opening: when an index is built, reused, extended or rejected."""

import gzip
import os
import pathlib
import pickle
import shutil
import warnings
from pathlib import Path

import pytest
import recmap
from conftest import DIGITS, flip, later, shards, write
from object_server import ObjectServer


def test_index_is_stored_next_to_the_first_shard(copied_digits):
    ds = recmap.open(copied_digits / "digits-*.tfrecord")
    assert ds.index_path == str(copied_digits / "digits.rmx")
    assert len(ds) == 1797


def test_glob_list_folder_and_index_open_the_same_data_set(copied_digits):
    first = recmap.open(str(copied_digits / "digits-*.tfrecord"))
    before = os.stat(first.index_path).st_ino
    for source in (shards(copied_digits), copied_digits, first.index_path, bytes(copied_digits)):
        assert recmap.open(source).fingerprint == first.fingerprint
    assert os.stat(first.index_path).st_ino == before


def test_recursive_globs_search_subfolders(copied_digits):
    (copied_digits / "a" / "b").mkdir(parents=True)
    for i, folder in enumerate(["", "a", "a", "a/b"]):
        name = f"digits-0000{i}-of-00004.tfrecord"
        (copied_digits / name).rename(copied_digits / folder / name)
    index = copied_digits / "all.rmx"
    ds = recmap.open(copied_digits / "**" / "*.tfrecord", id="id", index=index)
    assert len(ds) == 1797
    assert recmap.open(f"{copied_digits}/**/d*", index=index).fingerprint == ds.fingerprint


def test_more_shards_are_appended(copied_digits):
    paths = shards(copied_digits)
    path = copied_digits / "some.rmx"
    first = recmap.open(paths[:2], id="id", lift=["label"], index=path)
    records = [bytes(r) for r in first]
    ds = recmap.open(paths, index=path)
    assert len(ds) == 1797 and [bytes(r) for r in ds[: len(records)]] == records
    assert ds.find("digit-01796") == 1796 and len(ds.columns["label"]) == 1797
    whole = recmap.open(paths, id="id", lift=["label"], index=copied_digits / "whole.rmx")
    assert path.read_bytes() == (copied_digits / "whole.rmx").read_bytes()
    assert whole.fingerprint == ds.fingerprint


def test_links_of_equal_paths_are_not_followed(copied_digits, monkeypatch):
    """Only folders are, each once."""
    recmap.open(copied_digits).close()
    followed, realpath = [], os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path: followed.append(path) or realpath(path))
    (copied_digits / "link").symlink_to(copied_digits)
    monkeypatch.chdir(copied_digits.parent)
    for folder in copied_digits, Path(copied_digits.name), copied_digits / "link":
        followed.clear()
        recmap.open(folder / "*.tfrecord").close()
        assert len(followed) <= 3  # the index, its folder, and the folder of the shards
        assert not any(os.fspath(path).endswith(".tfrecord") for path in followed)


def test_missing_and_reordered_shards_are_stale(copied_digits):
    paths = shards(copied_digits)
    path = copied_digits / "x.rmx"
    recmap.open(paths[:3], index=path)
    for others in (paths[:2], paths[1:], paths[::-1], [paths[0], paths[2], paths[1]]):
        with pytest.raises(recmap.StaleIndexError, match="rebuild=True"):
            recmap.open(others, index=path)
        assert len(recmap.open(others, index=path, rebuild=True)) > 0
        recmap.open(paths[:3], index=path, rebuild=True)


def test_a_missing_shard_is_named(copied_digits):
    recmap.open(copied_digits).close()
    os.remove(shards(copied_digits)[1])
    message = "only 3 were given; the first that is missing is digits-00001-of-00004.tfrecord\n"
    with pytest.raises(recmap.StaleIndexError, match=message + r"  Restore it, or name it too"):
        recmap.open(copied_digits)


def test_shard_with_another_size_is_stale(copied_digits):
    ds = recmap.open(copied_digits)
    shutil.copy(shards(copied_digits)[0], shards(copied_digits)[3])
    os.utime(shards(copied_digits)[3], (0, 0))
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(copied_digits)
    assert caught.value.path.endswith("digits-00003-of-00004.tfrecord")
    assert "but had 61200 when it was indexed" in str(caught.value)
    assert recmap.open(copied_digits, rebuild=True).fingerprint != ds.fingerprint


def test_rewritten_shard_is_stale(tmp_path):
    (path,) = write(tmp_path, [b"one", b"two"])
    recmap.open(path)
    write(tmp_path, [b"six", b"ten"])
    later(path)
    with pytest.raises(recmap.StaleIndexError):
        recmap.open(path)
    assert bytes(recmap.open(path, rebuild=True)[1]) == b"ten"


def test_touched_shard_is_not_stale(tmp_path):
    (path,) = write(tmp_path, [b"one", b"two"])
    recmap.open(path)
    later(path)
    assert bytes(recmap.open(path)[1]) == b"two"


def test_missing_ids_and_columns_are_stale(copied_digits):
    recmap.open(copied_digits, lift=["label"])
    assert len(recmap.open(copied_digits)) == 1797
    for wish in ({"id": "id"}, {"lift": ["id"]}, {"lift": {"label": -1}}):
        with pytest.raises(recmap.StaleIndexError):
            recmap.open(copied_digits, **wish)
    index = recmap.open(copied_digits).index_path
    assert len(recmap.open(index, lift=["label"])) == 1797
    for wish in ({"id": "id"}, {"lift": ["id"]}):
        with pytest.raises(recmap.StaleIndexError):
            recmap.open(index, **wish)
    ds = recmap.open(copied_digits, id="id", rebuild=True)
    assert ds.find("digit-00000") == 0


def test_damage_raises_or_is_skipped(copied_digits):
    flip(shards(copied_digits)[1], 5000)
    with pytest.raises(recmap.CorruptRecordError) as caught:
        recmap.open(copied_digits)
    assert caught.value.path.endswith("00001-of-00004.tfrecord")
    ds = recmap.open(copied_digits, on_bad_record="skip")
    assert len(ds) == 1796 and len(ds.info["damage"]) == 1


def test_shard_without_any_good_record_raises(tmp_path, copied_digits):
    """The error is about the shard, not the index."""
    packed = gzip.compress(pathlib.Path(shards(copied_digits)[0]).read_bytes())
    cut = tmp_path / "cut.tfrecord.gz"
    cut.write_bytes(packed[: len(packed) // 2])
    text = tmp_path / "text.tfrecord"
    text.write_text("a line and another\n" * 9)
    for path in cut, text:
        with pytest.raises(recmap.CorruptRecordError) as raised:
            recmap.open(path)
        assert raised.value.path == str(path) and raised.value.offset is not None


def test_shards_outside_the_folder_need_permission(tmp_path, copied_digits):
    """The error is not about damage, but about a missing option."""
    (tmp_path / "elsewhere").mkdir()
    path = recmap.index(copied_digits, tmp_path / "elsewhere" / "digits.rmx")
    assert len(recmap.open(path, access=recmap.Reading(allow_absolute_paths=True))[0]) > 0
    with pytest.raises(recmap.InvalidError, match="allow_absolute_paths") as caught:
        recmap.open(path)
    assert "shards" in caught.value.advice


def test_shards_folder_replaces_that_of_the_index(tmp_path, copied_digits):
    """Both for an index with relative names and for one with absolute names."""
    payloads = [bytes(record) for record in recmap.open(copied_digits)]
    beside = tmp_path / "digits.rmx"
    other = tmp_path / "other"
    (other / "nested").mkdir(parents=True)
    absolute = pathlib.Path(recmap.index(copied_digits, other / "nested" / "absolute.rmx"))
    moved = tmp_path / "moved"
    moved.mkdir()
    for shard in shards(copied_digits):
        os.rename(shard, moved / pathlib.Path(shard).name)
    for path in beside, absolute:
        for access in "map", "read", "direct":
            ds = recmap.open(path, shards=moved, access=access)
            assert [bytes(record) for record in ds] == payloads
            assert ds.verify(progress=None)["damage"] == []
            again = pickle.loads(pickle.dumps(ds))
            assert bytes(again[7]) == payloads[7]
    with pytest.raises(FileNotFoundError, match='shards="FOLDER"'):
        recmap.open(beside)
    with pytest.raises(FileNotFoundError) as caught:
        recmap.open(absolute, shards=other)
    assert f"expected at {other}/{pathlib.Path(shards(moved)[0]).name}." in caught.value.advice
    with pytest.raises(FileNotFoundError, match="no-such"):
        recmap.open(beside, shards=tmp_path / "no-such")
    with pytest.raises(ValueError, match="shards="):
        recmap.open(moved, shards=moved)


def test_index_copied_away_from_its_shards(tmp_path, copied_digits):
    """Opening fails, and says which shard was expected where."""
    recmap.open(copied_digits, lift=["label"]).close()
    (tmp_path / "copy").mkdir()
    copy = shutil.copy(tmp_path / "digits.rmx", tmp_path / "copy")
    with pytest.raises(FileNotFoundError, match='shards="FOLDER"') as caught:
        recmap.open(copy)
    assert caught.value.path == str(tmp_path / "copy" / "digits-00000-of-00004.tfrecord")
    assert str(tmp_path / "copy") in caught.value.advice
    ds = recmap.open(copy, access=recmap.Reading(allow_missing_shards=True))
    assert len(ds) == 1797 and ds.columns["label"][5] == 5
    with pytest.raises(FileNotFoundError, match='shards="FOLDER"'):
        ds[0]
    ds = recmap.open(copy, shards=tmp_path)
    assert bytes(ds[3]) == bytes(recmap.open(copied_digits)[3])


def test_shards_folder_keeps_subfolders(tmp_path):
    """Only the path that all absolute names have in common is replaced."""
    for name in "a/x", "b/x":
        (tmp_path / "data" / name).mkdir(parents=True)
        write(tmp_path / "data" / name, [name.encode()])
    (tmp_path / "index").mkdir()
    sources = [tmp_path / f"data/{name}/made-0.tfrecord" for name in ("a/x", "b/x")]
    path = recmap.index(sources, tmp_path / "index" / "all.rmx")
    os.rename(tmp_path / "data", tmp_path / "moved")
    assert list(recmap.open(path, shards=tmp_path / "moved")) == [b"a/x", b"b/x"]


def test_index_with_skipped_damage_needs_permission(copied_digits):
    """An index built with "skip" does not change what on_bad_record="error" reports."""
    flip(shards(copied_digits)[1], 5000)
    with pytest.raises(recmap.CorruptRecordError) as first:
        recmap.open(copied_digits)
    path = recmap.open(copied_digits, on_bad_record="skip").index_path
    before = os.stat(path).st_ino
    for wish in {}, {"on_bad_record": "error"}:
        with pytest.raises(recmap.CorruptRecordError, match="skip") as caught:
            recmap.open(copied_digits, **wish)
        assert caught.value.offset == first.value.offset
        assert caught.value.path == os.path.basename(first.value.path)  # relative to the index
    with pytest.raises(recmap.CorruptRecordError):
        recmap.open(copied_digits, rebuild=True)
    for source in path, copied_digits:
        assert len(recmap.open(source, on_bad_record="skip")) == 1796
    assert len(recmap.open(path)) == 1796  # the .rmx is opened by name
    assert os.stat(path).st_ino == before
    more = copied_digits / "digits-more.tfrecord"
    shutil.copy(shards(copied_digits)[0], more)
    assert (
        len(recmap.open([*shards(copied_digits)[:4], more], index=path, on_bad_record="skip"))
        > 1796
    )


def test_damaged_index_raises_and_can_be_rebuilt(copied_digits):
    path = recmap.open(copied_digits).index_path
    flip(path, os.path.getsize(path) - 5)
    with pytest.raises(recmap.CorruptIndexError):
        recmap.open(copied_digits)
    assert len(recmap.open(copied_digits, rebuild=True)) == 1797


def test_missing_files_are_named(tmp_path):
    (tmp_path / "list").write_text("no-such.tfrecord\n")
    for name in "no-such.tfrecord", "no-such-*.tfrecord", "no-such@3", "@list", "@no-such":
        named = name.replace(name.lstrip("@"), str(tmp_path / name.lstrip("@")))
        with pytest.raises(FileNotFoundError, match="no-such") as caught:
            recmap.open(named)
        assert caught.value.errno == 2 and caught.value.path and caught.value.advice
    with pytest.raises(FileNotFoundError, match="no-such"):
        recmap.open(tmp_path / "no-such.rmx")
    with pytest.raises(ValueError):
        recmap.open([])
    ds = recmap.open(write(tmp_path, [b"x"]))
    os.rename(tmp_path / "made-0.tfrecord", tmp_path / "gone")
    with pytest.raises(FileNotFoundError) as caught:
        ds[0]
    assert caught.value.path.endswith("made-0.tfrecord") and caught.value.errno == 2


def test_files_with_zero_and_one_bytes(tmp_path):
    empty = tmp_path / "empty.tfrecord"
    empty.write_bytes(b"")
    assert len(recmap.open(empty)) == 0 and list(recmap.open(empty)) == []
    one = tmp_path / "one.tfrecord"
    one.write_bytes(b"x")
    with pytest.raises(recmap.Error):
        recmap.open(one)


@pytest.mark.parametrize(
    "wish",
    [
        {"from_idx": ""},
        {"from_idx": 3},
        {"on_bad_record": "ignore"},
        {"access": "fast"},
        {"check": "none"},
        {"progress": 3},
        {"lift": "label"},
        {"threads": -1},
    ],
)
@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
def test_wrong_options_are_refused(tmp_path, wish):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        recmap.open(DIGITS, index=tmp_path / "x.rmx", **wish)


def test_two_indexes_of_the_same_shards_differ(copied_digits, tmp_path_factory):
    ours, theirs = copied_digits / "a.rmx", tmp_path_factory.mktemp("other") / "b.rmx"
    recmap.index(copied_digits, ours)
    recmap.index(DIGITS, theirs)
    with pytest.raises(ValueError, match=r"an \.rmx is an index itself"):
        recmap.open(ours, index=theirs)


def test_names_that_are_not_text(tmp_path):
    folder = os.fsencode(tmp_path)
    shard = folder + b"/\xff\xfe.tfrecord"
    with recmap.Writer(shard) as writer:
        for id in "ab":
            writer.write({"id": id})
    for source in (shard, os.fsdecode(shard), folder, folder + b"/*.tfrecord", [shard]):
        with recmap.open(source, id="id") as ds, pickle.loads(pickle.dumps(ds)) as again:
            assert ds.find("b") == 1 and bytes(again[1]) == bytes(ds[1])
            assert os.path.samefile(folder + b"/" + os.fsencode(ds._shard_table()[0][0]), shard)
            assert repr(ds) and ds._repr_html_() and len(ds.shards) == 1
    with recmap.open(shard) as ds:
        flip(shard, 14)
        with pytest.raises(recmap.CorruptRecordError) as caught:
            ds[0]
    assert os.path.samefile(caught.value.path, shard)


@pytest.mark.parametrize("source", [".", "made-*", "made-9.tfrecord"])
def test_dangling_symlink_is_named(tmp_path, source):
    write(tmp_path, [b"a"])
    (tmp_path / "made-9.tfrecord").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match=r"made-9\.tfrecord"):
        recmap.open(tmp_path / source)


@pytest.mark.parametrize("options", [{"id": "x"}, {"lift": ["z"]}, {"framing": "lines"}])
def test_an_index_of_other_shards_is_neither_read_nor_advised(tmp_path, options):
    ours, theirs = tmp_path / "ours", tmp_path / "srv" / "b"
    ours.mkdir()
    theirs.mkdir(parents=True)
    (shard,) = write(ours, [{"y": 1}])
    write(theirs, [{"y": 1}])
    path = tmp_path / "a.rmx"
    with ObjectServer(tmp_path / "srv") as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recmap.index(f"{server.url}/b/made-0.tfrecord", path, id="y", progress=None)
        server.requests.clear()
        with pytest.raises(recmap.StaleIndexError, match="index has the shard http") as caught:
            recmap.open(shard, index=path, **options)
        assert "allow_urls" not in str(caught.value)
        assert not server.requests


def test_rebuild_keeps_ids_columns_and_framing(copied_digits, tmp_path):
    """A rebuild only adds to what the index has; recmap.index starts from nothing."""
    recmap.open(copied_digits, id="id", lift={"label": -1})
    ds = recmap.open(copied_digits, lift={"image": "x"}, rebuild=True)
    assert ds.find("digit-00042") == 42
    assert set(ds.columns) == {"@length", "label", "image"}
    assert dict(ds._lifts())["label"] == "-1"
    ds = recmap.open(copied_digits, lift={"label": -2}, rebuild=True)
    assert dict(ds._lifts())["label"] == "-2"
    flip(ds.index_path, os.path.getsize(ds.index_path) - 5)
    assert "label" not in recmap.open(copied_digits, rebuild=True).columns
    recmap.open(copied_digits, id="id", rebuild=True)
    recmap.index(copied_digits)
    assert recmap.open(copied_digits).info["ids"] is None
    text = tmp_path / "text.txt"
    text.write_text("one\ntwo\n")
    recmap.open(text, framing="lines")
    assert bytes(recmap.open(text, rebuild=True)[1]) == b"two"
