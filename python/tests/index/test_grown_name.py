"""New shards change the default name of an index: the one that a part of the shards has is used."""

import os
import warnings

import numpy as np
import pytest
import recmap
from conftest import write

N = recmap.FixedLen((), "int64")


def add(folder, name, first, count=2):
    """Writes a shard. It has the time `first`, in seconds."""
    write(folder, [{"id": f"id-{first + n}", "x": first + n} for n in range(count)], name=name)
    os.utime(folder / name, (first, first))


def annotated(source, time, **choice):
    """The path of the annotated index of the shards. It has the time."""
    with recmap.open(source, id="id", lift=["x"], **choice) as ds:
        ds.annotate({"score": np.arange(float(len(ds)))})
    os.utime(ds.index_path, (time, time))
    return ds.index_path


def indexes(folder):
    return sorted(path.name for path in folder.glob("**/*.rmx"))


def numbers(ds):
    return ds.parse(range(len(ds)), {"x": N})["x"].tolist()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["m.tfrecord"], "b.tfrecord"),
        (["part-m", "part-n"], "extra.tfrecord"),
        (["2024-01-02"], "2024-01-01"),
        (["train-2.tfrecord"], "train-1.tfrecord"),
        (["m.x.tfrecord"], "m.y.tfrecord"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* follow those of all other shards")
def test_the_index_of_the_shards_of_before_is_extended(tmp_path, old, new):
    folder = tmp_path / "O"
    folder.mkdir()
    for i, name in enumerate(old):
        add(folder, name, 10 * (i + 1))
    path = annotated(folder, 100)
    with recmap.open(folder) as ds:
        before = numbers(ds)
        loader = recmap.Loader(ds, 2, features={"x": N}, shuffle=True, epochs=1)
        next(iter(loader))
        state = loader.state_dict()
    add(folder, new, 200)
    with recmap.open(folder) as ds:
        assert ds.index_path == path and numbers(ds) == [*before, 200, 201]
        assert ds.columns["x"].tolist() == numbers(ds) and ds.find("id-201") == len(before) + 1
        assert ds.columns["score"].tolist() == [*map(float, range(len(before))), None, None]
        loader = recmap.Loader(ds, 2, features={"x": N}, shuffle=True, epochs=1)
        loader.load_state_dict(state, grown="finish")
    with pytest.raises(recmap.FeatureError, match="'score'"):
        recmap.index(folder)
    assert recmap.open(folder).index_path == path
    assert indexes(folder) == [os.path.basename(path)]


def not_used(folder, match, path, choice=None):
    """Opening the folder builds a new index beside the one at the path, with a warning."""
    with open(path, "rb") as stream:
        before = stream.read()
    with pytest.warns(UserWarning, match=match) as caught:
        ds = recmap.open(folder, **(choice or {}))
    # The index of one set or shard is not to become the index of all: a copy of it may.
    warning = str(caught[0].message)
    copies = "recmap.merge(" in warning and f'["{path}"]' in warning
    assert copies or f"recmap.open(..., index={path!r})" in warning
    assert str(caught[0].message).startswith(f"{path}: ") and caught[0].filename == __file__
    assert ds.index_path != path and "score" not in ds.columns
    with open(path, "rb") as stream:
        assert stream.read() == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(folder, **(choice or {}))
    return ds


def test_an_index_of_one_named_shard_is_not_that_of_the_folder(tmp_path):
    add(tmp_path, "m.tfrecord", 10)
    add(tmp_path, "b.tfrecord", 20)
    path = annotated(tmp_path / "m.tfrecord", 100)
    ds = not_used(
        tmp_path,
        r"is the index of 1 of these 2 shards and is not used, .* newer than the index",
        path,
    )
    assert numbers(ds) == [20, 21, 10, 11]
    with recmap.open(tmp_path / "m.tfrecord") as one:
        assert one.index_path == path and len(one) == 2
    # The call of the warning.
    with pytest.warns(UserWarning, match="follow those of all other shards"):
        ds = recmap.open(tmp_path, index=path)
    assert numbers(ds) == [10, 11, 20, 21] and "score" in ds.columns


@pytest.mark.filterwarnings("error")
def test_an_index_of_the_folder_is_not_that_of_one_named_shard(tmp_path):
    for name, time in (("part-m", 10), ("part-n", 20), ("extra.tfrecord", 30)):
        add(tmp_path, name, time)
    whole = annotated(tmp_path, 5)
    for source in "part-*", "part-m", "extra*":
        with recmap.open(tmp_path / source) as ds:
            assert ds.index_path != whole and "score" not in ds.columns
    assert len(recmap.open(tmp_path)) == 6


def test_sets_are_not_taken_for_each_other(tmp_path):
    folder = tmp_path / "O"
    folder.mkdir()
    for name, time in (("train-1.tfrecord", 10), ("test-1.tfrecord", 200)):
        add(folder, name, time)
    path = annotated(folder, 100, split="train")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numbers(recmap.open(folder, split="test")) == [200, 201]
    os.unlink(folder / "test-1.rmx")
    ds = not_used(folder, "because these shards are several sets", path, {"sets": "all"})
    assert len(ds) == 4
    add(folder, "train-2.tfrecord", 300)
    with recmap.open(folder, split="train") as ds:
        assert ds.index_path == path and numbers(ds) == [10, 11, 300, 301]


def test_a_shard_of_a_set_is_not_the_set(tmp_path):
    for i in range(3):
        add(tmp_path, f"x-{i:05}-of-00003.tfrecord", 10 * (i + 1))
    path = annotated(tmp_path / "x-00000-of-00003.tfrecord", 5)
    not_used(tmp_path / "x@3.tfrecord", "its name is that of one shard of a set", path)
    assert indexes(tmp_path) == ["x-00000-of-00003.rmx", "x.rmx"]


def test_several_indexes_are_not_used(tmp_path):
    for name in "abc":
        add(tmp_path, f"{name}.tfrecord", 200)
    paths = [annotated(tmp_path / f"{name}.tfrecord", 100) for name in "ab"]
    with pytest.warns(UserWarning, match="because there are several") as caught:
        ds = recmap.open(tmp_path)
    assert [str(w.message).partition(":")[0] for w in caught] == paths and len(ds) == 6


def test_an_index_with_shards_that_are_gone_is_not_used(tmp_path):
    for i, name in enumerate("mno"):
        add(tmp_path, f"part-{name}", 10 * (i + 1))
    path = annotated(tmp_path, 100)
    os.unlink(tmp_path / "part-o")
    add(tmp_path, "extra.tfrecord", 200)
    not_used(tmp_path, "index of 2 of these 3 shards .* because it also has other shards", path)


@pytest.mark.filterwarnings("error")
def test_other_indexes_are_left_alone(tmp_path):
    """Indexes with other names or other shards, and files that are not indexes."""
    for name, time in (("m.tfrecord", 10), ("b.tfrecord", 200)):
        add(tmp_path, name, time)
    for index in "chosen.rmx", ".m.rmx":
        recmap.open(tmp_path / "m.tfrecord", index=tmp_path / index)
        os.utime(tmp_path / index, (100, 100))
    (tmp_path / "sub").mkdir()
    add(tmp_path / "sub", "m.tfrecord", 10)
    recmap.open(tmp_path / "sub" / "m.tfrecord", index=tmp_path / "m.rmx")
    (tmp_path / "noise.rmx").write_bytes(b"noise")
    with recmap.open(tmp_path) as ds:
        assert ds.index_path == str(tmp_path / f"{tmp_path.name}.rmx")


@pytest.mark.filterwarnings("error")
def test_a_named_index_needs_no_search(tmp_path):
    add(tmp_path, "m.tfrecord", 10)
    add(tmp_path, "b.tfrecord", 20)
    annotated(tmp_path / "m.tfrecord", 100)
    assert len(recmap.open(tmp_path, index=tmp_path / "chosen.rmx")) == 4
    recmap.index(tmp_path, tmp_path / "other.rmx")
