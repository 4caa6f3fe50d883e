"""Shards, indexes and selections that were moved or copied."""

import os
import shutil

import numpy as np
import pytest
import recmap
from object_server import ObjectServer


def write(folder, names, count=3):
    """Records n = 0, 1, 2, ... in shards of `count` records."""
    n = 0
    for name in names:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with recmap.Writer(path) as writer:
            for _ in range(count):
                writer.write({"n": n})
                n += 1


def values(ds):
    return ds.parse(range(len(ds)), {"n": recmap.FixedLen((), "int64")})["n"].tolist()


def flat_copy(source, target):
    os.mkdir(target)
    for folder, _, names in os.walk(source):
        for name in names:
            if name.endswith(".tfrecord"):
                shutil.copy(os.path.join(folder, name), target)


NAMES = [f"sub/x-{i:05d}-of-00004.tfrecord" for i in range(4)]


@pytest.fixture
def above(tmp_path):
    """An index above its shards."""
    write(tmp_path / "data", NAMES)
    index = recmap.index(str(tmp_path / "data/sub"), tmp_path / "data/all.rmx", progress=None)
    flat_copy(tmp_path / "data", tmp_path / "copy")
    return index


def test_a_flat_copy_is_found_by_names_alone(above, tmp_path):
    shutil.rmtree(tmp_path / "data/sub")
    for access in "map", "read", "direct":
        ds = recmap.open(above, shards=tmp_path / "copy", access=access)
        assert values(ds) == list(range(12))
        assert ds.verify(progress=None)["damage"] == []
    (tmp_path / "copy/x-00001-of-00004.tfrecord").unlink()
    with pytest.raises(recmap.FileMissingError) as caught:
        recmap.open(above, shards=tmp_path / "copy")[3]
    assert caught.value.path == str(tmp_path / "copy/x-00001-of-00004.tfrecord")


def test_the_first_shard_of_a_flat_copy_may_be_missing(above, tmp_path):
    (tmp_path / "copy/x-00000-of-00004.tfrecord").unlink()
    ds = recmap.open(above, shards=tmp_path / "copy")
    assert len(ds[3]) > 0


def test_the_longer_path_is_preferred(above, tmp_path):
    shutil.copytree(tmp_path / "data/sub", tmp_path / "copy/sub")
    for shard in (tmp_path / "copy").glob("*.tfrecord"):
        shard.write_bytes(b"others")
    assert values(recmap.open(above, shards=tmp_path / "copy")) == list(range(12))


def test_absolute_names_of_a_flat_copy(tmp_path):
    write(tmp_path / "data", ["a/x.tfrecord", "b/y.tfrecord"])
    shards = [tmp_path / "data/a/x.tfrecord", tmp_path / "data/b/y.tfrecord"]
    (tmp_path / "index").mkdir()
    index = recmap.index(shards, tmp_path / "index/all.rmx", progress=None)
    flat_copy(tmp_path / "data", tmp_path / "copy")
    assert values(recmap.open(index, shards=tmp_path / "copy")) == list(range(6))


def test_ambiguous_names_are_not_guessed(tmp_path):
    write(tmp_path / "data", ["a/x.tfrecord", "b/x.tfrecord"])
    index = recmap.index(str(tmp_path / "data/**"), tmp_path / "data/all.rmx", progress=None)
    flat_copy(tmp_path / "data", tmp_path / "copy")
    with pytest.raises(recmap.FileMissingError, match=r"copy/a/x\.tfrecord"):
        recmap.open(index, shards=tmp_path / "copy")


def test_a_flat_copy_in_a_remote_store(above, tmp_path):
    with ObjectServer(tmp_path) as server:
        for folder in "copy", "data":
            ds = recmap.open(above, shards=f"{server.url}/{folder}")
            assert values(ds) == list(range(12)), folder


# ---- Selections.


def select(index, path, **options):
    recmap.open(index, **options).select([1, 5, 7]).save(path)


def test_a_moved_selection_says_what_its_path_is_relative_to(above, tmp_path):
    select(above, tmp_path / "data/some.rmv")
    (tmp_path / "other").mkdir()
    moved = shutil.move(tmp_path / "data/some.rmv", tmp_path / "other/some.rmv")
    with pytest.raises(recmap.FileMissingError) as caught:
        recmap.open(moved)
    assert caught.value.path == str(tmp_path / "other/all.rmx")
    assert "starts at the selection's own folder" in caught.value.advice
    assert 'index="NAME.rmx"' in caught.value.advice and 'shards="FOLDER"' in caught.value.advice
    assert "current folder" not in str(caught.value)
    assert values(recmap.open(moved, index=above)) == [1, 5, 7]


def test_a_moved_selection_takes_index_and_shards(above, tmp_path):
    select(above, tmp_path / "data/some.rmv")
    (tmp_path / "other").mkdir()
    moved = shutil.copy(tmp_path / "data/some.rmv", tmp_path / "other/some.rmv")
    index = shutil.copy(above, tmp_path / "other/renamed.rmx")
    view = recmap.open(moved, index=index, shards=tmp_path / "copy")
    assert values(view) == [1, 5, 7]
    with pytest.raises(recmap.FileMissingError, match="shard is expected"):
        recmap.open(moved, index=index)


def test_a_missing_index_that_the_caller_named_is_the_callers(above, tmp_path):
    select(above, tmp_path / "data/some.rmv")
    with pytest.raises(recmap.FileMissingError) as caught:
        recmap.open(tmp_path / "data/some.rmv", index=tmp_path / "none.rmx")
    assert "selection" not in caught.value.advice


def test_a_selection_with_an_absolute_path_is_told_of_index(above, tmp_path):
    (tmp_path / "other").mkdir()
    select(above, tmp_path / "other/some.rmv")
    with pytest.raises(recmap.InvalidError, match="index=") as caught:
        recmap.open(tmp_path / "other/some.rmv")
    assert "allow_absolute_paths=True" in caught.value.advice
    assert len(recmap.open(tmp_path / "other/some.rmv", index=above)) == 3


# ---- Copies and annotated indexes.


@pytest.fixture
def annotated(above):
    recmap.open(above).annotate({"score": np.arange(12)})
    return above


def test_a_copy_is_advised_shards(above, tmp_path):
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(str(tmp_path / "copy"), index=above)
    assert f"recmap.open({above!r}, shards={str(tmp_path / 'copy')!r})" in caught.value.advice


def test_a_copy_of_an_annotated_set_is_never_advised_to_rebuild(annotated, tmp_path):
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(str(tmp_path / "copy"), index=annotated)
    assert "rebuild" not in caught.value.advice
    call = caught.value.advice.removeprefix("If these are copies of the shards: ")
    ds = eval(call.split(". ")[0], {"recmap": recmap})
    assert ds.columns["score"].tolist() == list(range(12))


@pytest.mark.parametrize(
    "change",
    [
        lambda shards: {"source": shards[:3]},
        lambda shards: {"source": shards[::-1]},
        lambda shards: {"source": shards, "id": "n"},
        lambda shards: {"source": shards, "count": ["n"]},
        lambda shards: {"source": shards, "framing": "lines"},
        lambda shards: {"source": shards, "compression": "gzip"},
    ],
)
def test_no_difference_of_an_annotated_index_is_advised_to_rebuild(annotated, tmp_path, change):
    shards = [str(tmp_path / "data" / name) for name in NAMES]
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(index=annotated, **change(shards))
    assert "rebuild" not in caught.value.advice


def test_shards_that_were_moved_away_from_an_annotated_index(annotated, tmp_path):
    shutil.rmtree(tmp_path / "data/sub")
    with pytest.raises(recmap.FileMissingError) as caught:
        recmap.open(annotated)
    assert 'shards="FOLDER"' in caught.value.advice and "recmap.index" not in caught.value.advice


def test_a_changed_shard_of_an_annotated_index(annotated, tmp_path):
    shard = tmp_path / "data" / NAMES[1]
    shard.write_bytes(shard.read_bytes()[:-5])
    with pytest.raises(recmap.StaleIndexError, match="annotated columns are only in the index"):
        recmap.open(annotated)[3]
