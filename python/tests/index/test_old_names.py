"""Indexes under the default names of recmap 0.2.0 are found, used, extended and never ignored.

release-0.2.0 has data sets of that version, with annotated indexes and states."""

import json
import pathlib
import shutil

import pytest
import recmap
from conftest import write

RELEASE = pathlib.Path(__file__).parent / "release-0.2.0"


def copied(name, tmp_path):
    """A copy of the data set, and its saved state. The files are newer than the index."""
    folder = tmp_path / name
    shutil.copytree(RELEASE / name, folder, copy_function=shutil.copyfile)
    return folder, json.loads((folder / "state.json").read_text())


def indexes(folder):
    return sorted(path.name for path in folder.glob("*.rmx"))


def check_resumes(ds, saved):
    loader = recmap.Loader(
        ds,
        2,
        order=recmap.Shuffled(len(ds), seed=7),
        features={"x": recmap.FixedLen((), "int64")},
    )
    loader.load_state_dict(saved["state"])
    assert [x for batch in loader for x in batch["x"].tolist()] == saved["rest"]


@pytest.mark.parametrize(
    ("name", "source", "choice"),
    [
        ("loose", "", {}),
        ("loose", "y-*.gz", {}),
        ("tfds", "", {"sets": "all"}),
        ("tfds", "mnist-*", {"sets": "all"}),
    ],
)
def test_an_annotated_index_is_found_and_a_run_over_it_resumes(name, source, choice, tmp_path):
    folder, saved = copied(name, tmp_path)
    with recmap.open(folder / source, **choice) as ds:
        assert ds.index_path == str(folder / saved["index"])
        assert ds.columns["score"].tolist() == [i / 2 for i in range(6)]
        check_resumes(ds, saved)
    assert indexes(folder) == [saved["index"]]


def test_relative_names_and_links_lead_to_it(tmp_path, monkeypatch):
    folder, _ = copied("loose", tmp_path)
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    for source in "loose", "link/y-*", ["loose/y-1.gz", "loose/y-2.gz"]:
        assert "score" in recmap.open(source).columns
    assert indexes(folder) == ["y.rmx"]


def test_a_pattern_warns_and_still_finds_it(tmp_path):
    folder, _ = copied("tfds", tmp_path)
    with pytest.warns(UserWarning, match="the pattern matches 2 sets"):
        ds = recmap.open(folder / "mnist-*")
    assert "score" in ds.columns and indexes(folder) == ["mnist-t.rmx"]


@pytest.mark.filterwarnings("ignore:.* follow those of all other shards")
@pytest.mark.parametrize("name", ["y-0.gz", "y-3.gz"])
def test_shards_are_appended_to_it(tmp_path, name):
    folder, _ = copied("loose", tmp_path)
    write(folder, [{"x": 6}], name=name)
    with recmap.open(folder) as ds:
        assert ds.index_path == str(folder / "y.rmx") and len(ds) == 7
        assert ds.columns["score"].tolist()[:6] == [i / 2 for i in range(6)]
    assert indexes(folder) == ["y.rmx"]


def test_it_is_neither_rebuilt_nor_replaced(tmp_path):
    folder, _ = copied("loose", tmp_path)
    for build in (lambda: recmap.open(folder, rebuild=True), lambda: recmap.index(folder)):
        with pytest.raises(recmap.FeatureError, match="'score'"):
            build()
    assert indexes(folder) == ["y.rmx"]


def test_it_is_used_even_if_it_cannot_be_read(tmp_path):
    folder, _ = copied("loose", tmp_path)
    (folder / "y.rmx").write_bytes(b"damaged" * 10000)
    with pytest.raises(recmap.CorruptIndexError):
        recmap.open(folder)
    assert indexes(folder) == ["y.rmx"]


def test_the_index_of_other_shards_is_left_alone(tmp_path):
    """0.2.0 gave fold1@2 and fold2@2 one name."""
    for name in "fold1", "fold2":
        write(tmp_path, [{"x": 1}], name=f"{name}@2.tfrecord", shards=2)
    old = recmap.open(tmp_path / "fold1@2.tfrecord", index=tmp_path / "fold.rmx")
    assert recmap.open(tmp_path / "fold2@2.tfrecord").index_path == str(tmp_path / "fold2.rmx")
    assert recmap.open(tmp_path / "fold1@2.tfrecord").index_path == old.index_path
    assert indexes(tmp_path) == ["fold.rmx", "fold2.rmx"]


def test_an_index_under_the_new_name_comes_first(tmp_path):
    folder, _ = copied("loose", tmp_path)
    recmap.open(folder, index=folder / "y.gz.rmx")
    assert recmap.open(folder).index_path == str(folder / "y.gz.rmx")


def test_the_index_of_a_set_is_not_extended_by_its_copy(tmp_path):
    write(tmp_path, [{"x": 1}], name="x.recordio")
    write(tmp_path, [{"x": 1}], name="x.recordio.gz")
    first = recmap.open(tmp_path / "x.recordio")
    both = recmap.open(tmp_path, sets="all")
    assert (len(first), len(both)) == (1, 2)
    assert len(recmap.open(tmp_path / "x.recordio")) == 1
    assert indexes(tmp_path) == ["x-all.rmx", "x.rmx"]
