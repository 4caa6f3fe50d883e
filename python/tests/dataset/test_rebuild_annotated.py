"""Annotated columns, which are not in the records, and the building of an index."""

import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import recmap
from annotate_helpers import COUNT, SCORES, column, labelled
from conftest import write
from object_server import ObjectServer


@pytest.fixture
def ds(tmp_path):
    with labelled(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("default", [{}, {"score": 0, "lang": "de"}])
def test_rebuild_keeps_annotated_columns_from_being_lost(ds, tmp_path, default):
    columns = {"score": SCORES, "lang": ["fr"] * COUNT}
    before = ds.annotate(columns, default=default).fingerprint
    with pytest.raises(recmap.FeatureError, match="columns 'score', 'lang'") as caught:
        recmap.open(tmp_path, lift=["label"], index=ds.index_path, rebuild=True)
    assert caught.value.path == ds.index_path
    assert "ds.annotate(drop=['score', 'lang'])" in caught.value.advice
    assert column(ds) == SCORES.tolist() and ds.fingerprint == before
    ds.annotate(drop=["score"])
    with recmap.open(tmp_path, lift={"lang": "?"}, index=ds.index_path, rebuild=True) as again:
        assert set(again.columns) == {"@length", "label", "lang"}  # an option replaces a column
        assert set(again.columns["lang"]) == {b"?"}


def test_rebuild_keeps_annotated_columns_with_nulls_from_being_lost(ds, tmp_path):
    """Nulls are also what a lifted column has for records without its feature."""
    ds.annotate({"score": {3: 0.5}, "lang": {5: "de"}}, by="number")
    with pytest.raises(recmap.FeatureError, match="columns 'score', 'lang'"):
        recmap.open(tmp_path, index=ds.index_path, rebuild=True)
    assert ds.where("score == 0.5").numbers.tolist() == [3]


def test_rebuild_keeps_an_annotated_column_with_the_name_of_a_feature(ds, tmp_path):
    ds.annotate({"digest": [f"{i}" for i in range(COUNT)]}, default={"digest": "?"})
    ds.annotate(drop=["label"])
    ds.annotate({"label": np.arange(COUNT) + 100})
    with pytest.raises(recmap.FeatureError, match="columns 'digest', 'label'"):
        recmap.open(tmp_path, index=ds.index_path, rebuild=True)
    assert ds.columns["label"].tolist() == list(range(100, 100 + COUNT))


def test_rebuild_keeps_annotated_columns_if_all_shards_changed(ds, tmp_path):
    ds.annotate({"score": SCORES}, default={"score": 0})
    for path in tmp_path.glob("*.tfrecord"):
        path.unlink()
    write(tmp_path, [recmap.encode_example({"id": "x", "label": 1})] * 3)
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(tmp_path, index=ds.index_path, rebuild=True)


@pytest.fixture
def unmarked(monkeypatch):
    """Indexes do not tell which columns were annotated, like those of older versions."""
    monkeypatch.setattr(recmap.Dataset, "_annotated_columns", lambda self: [])


@pytest.mark.parametrize("default", [{}, {"label": 0}])
def test_rebuild_keeps_annotated_columns_that_are_not_marked(ds, tmp_path, unmarked, default):
    """A few records tell, and those of the shards that are still there suffice."""
    ds.annotate(drop=["label"])
    ds.annotate({"label": np.arange(COUNT) + 100}, default=default)
    shard = str(tmp_path / "made-0.tfrecord")
    (tmp_path / "more").mkdir()
    more = write(tmp_path / "more", [bytes(ds[0])])
    for shards in ([shard], [*more, shard]):
        with pytest.raises(recmap.FeatureError, match="column 'label'"):
            recmap.open(shards, index=ds.index_path, rebuild=True)


@pytest.mark.parametrize("default", [{}, {"score": 0}])
def test_the_memory_of_a_rebuild_does_not_grow_with_the_records(tmp_path, unmarked, default):
    """Reading a whole column to choose a few records took 10 bytes a record."""
    count = 400_000
    shards = write(tmp_path, [b""] * count, shards=2)
    with recmap.open(shards) as ds:
        ds.annotate({"score": np.arange(count)}, default=default)
        path = ds.index_path
    tracemalloc.start()
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(shards, index=path, rebuild=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 << 20


def test_the_few_records_that_tell_are_found(tmp_path, unmarked):
    """One of them is enough, also if its value is the only one that is not the default."""
    count = 200_000
    shards = write(tmp_path, [b""] * count, shards=3)
    with recmap.open(shards) as ds:
        ds.annotate({"score": {150_001: 7}}, by="number", default={"score": 0})
        path = ds.index_path
        first = ds.shards[0]["records"] + ds.shards[1]["records"]
    assert first < 150_001
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(shards, index=path, rebuild=True)
    with pytest.warns(UserWarning, match="no record has the feature 'score'"):
        recmap.open(shards[:2], index=path, rebuild=True)


def test_records_that_cannot_be_read_do_not_hide_those_that_tell(tmp_path, unmarked):
    shards = write(tmp_path, [{"n": i} for i in range(40)], shards=2)
    with recmap.open(shards) as ds:
        path = ds.annotate({"score": np.arange(40) + 1}, default={"score": 0}).index_path
    with open(shards[0], "ab") as file:
        file.write(Path(shards[0]).read_bytes())
    with pytest.raises(recmap.FeatureError, match="column 'score'"):
        recmap.open(shards, index=path, rebuild=True)


@pytest.mark.parametrize("default", [{}, {"score": 0}])
def test_columns_that_are_not_marked_are_lifted_if_no_shard_is_named_again(
    ds, tmp_path, unmarked, default
):
    """No record may be read that tells. Then only columns whose records lack the feature are safe,
    unless they have a default: docs/guide/label.md says so."""
    ds.annotate({"score": SCORES + 1}, default=default)
    before = Path(ds.index_path).read_bytes()
    (tmp_path / "moved").mkdir()
    (shard,) = tmp_path.glob("*.tfrecord")
    moved = shard.rename(tmp_path / "moved" / shard.name)
    if default:
        with pytest.warns(UserWarning, match="no record has the feature 'score'"):
            again = recmap.open(moved, index=ds.index_path, rebuild=True)
        assert set(again.columns["score"]) == {0}
        return
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        recmap.open(moved, index=ds.index_path, rebuild=True)
    assert Path(ds.index_path).read_bytes() == before


@pytest.mark.parametrize("lift", [["y"], {"y": -1}])
def test_rebuild_reads_no_shard_that_only_the_old_index_names(tmp_path, lift):
    ours, theirs = tmp_path / "ours", tmp_path / "srv" / "b"
    ours.mkdir()
    theirs.mkdir(parents=True)
    (shard,) = write(ours, [{"y": i} for i in range(5)])
    shutil.copy(shard, theirs / "other.tfrecord")
    path = tmp_path / "a.rmx"
    with ObjectServer(tmp_path / "srv") as server:
        recmap.index(f"{server.url}/b/other.tfrecord", path, lift=lift, progress=None)
        server.requests.clear()
        with recmap.open(shard, index=path, rebuild=True) as again:
            assert again.columns["y"].tolist() == list(range(5))
        assert not server.requests


def test_index_keeps_annotated_columns(ds, tmp_path):
    ds.annotate({"score": SCORES})
    for change in ({"rename": {"score": "points"}}, {"columns": {"n": np.arange(COUNT)}}):
        ds.annotate(**change)
    with pytest.raises(recmap.FeatureError, match="annotated columns 'points', 'n'") as caught:
        recmap.index(tmp_path, ds.index_path)
    assert ").annotate(drop=['points', 'n'])" in caught.value.advice
    merged = tmp_path / "merged.rmx"
    recmap.merge(merged, [ds.index_path])
    with pytest.raises(recmap.FeatureError, match="annotated columns 'points', 'n'"):
        recmap.index(tmp_path, merged)
    recmap.merge(merged, [ds.index_path])  # the part has the columns
    part = recmap.index(tmp_path, tmp_path / "part.rmx")
    with pytest.raises(recmap.FeatureError, match="annotated columns 'points', 'n'"):
        recmap.merge(merged, [part])
    assert set(recmap.open(merged).columns) >= {"points", "n"}
    ds.annotate(drop=["points", "n"])
    recmap.index(tmp_path, ds.index_path)
    assert set(recmap.open(ds.index_path).columns) == {"@length"}


def test_rebuild_builds_columns_whose_features_are_rare(tmp_path):
    records = [recmap.encode_example({"rare": 7} if i == 70 else {"x": i}) for i in range(COUNT)]
    write(tmp_path, records)
    defaults = {"rare": 3, "never": 0.5, "nan": float("nan"), "text": "none"}
    for _ in range(2):
        with recmap.open(tmp_path, lift=defaults, rebuild=True) as opened:
            assert opened.columns["rare"].sum() == 3 * (COUNT - 1) + 7
    with recmap.open(tmp_path, rebuild=True) as opened:
        assert set(opened.columns) == {"@length", *defaults}
