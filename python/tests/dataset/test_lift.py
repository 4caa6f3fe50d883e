"""Columns that are lifted into an index that exists."""

from pathlib import Path

import pytest
import recmap
from annotate_helpers import COUNT, SCORES, column, labelled
from conftest import write


@pytest.fixture
def ds(tmp_path):
    with labelled(tmp_path) as opened:
        yield opened


def test_advice_for_a_missing_column_keeps_annotated_columns(ds):
    """A rebuild would be refused."""
    ds.annotate({"score": SCORES})
    with pytest.raises(recmap.ColumnNotFoundError) as caught:
        ds.where("digest > ''")
    assert '`ds.lift(["digest"])` adds it' in caught.value.advice


def rich_records():
    for i in range(COUNT):
        features = {"id": f"r{i}", "label": i % 5, "tokens": list(range(i % 7)), "weight": i / 8}
        yield recmap.encode_example(features if i % 10 else {**features, "lang": "de"})


def test_lift_equals_building_with_the_column(tmp_path):
    write(tmp_path, list(rich_records()), shards=3)
    both = {"id": "id", "count": ["tokens"]}
    with recmap.open(tmp_path, **both, lift=["label"], index=tmp_path / "a.rmx") as ds:
        assert ds.lift({"lang": "none", "weight": None}, progress=None) is ds
        assert set(ds.columns) == {"@length", "label", "lang", "weight"}
        assert len(ds.where("lang == 'de' and weight > 1")) == 9
        assert b"r42" in bytes(ds[ds.find("r42")])
        assert ds.counts["tokens"].sum() == sum(i % 7 for i in range(COUNT))
    lift = {"label": None, "lang": "none", "weight": None}
    recmap.open(tmp_path, **both, lift=lift, index=tmp_path / "b.rmx").close()
    assert (tmp_path / "a.rmx").read_bytes() == (tmp_path / "b.rmx").read_bytes()


def test_lift_keeps_annotated_columns(ds):
    ds.annotate({"score": SCORES}).lift(["id"])
    assert ds.where("id == 'r7'").numbers.tolist() == [7] and column(ds) == SCORES.tolist()
    assert ds._annotated_columns() == ["score"]


def test_lift_that_fails_leaves_the_index(ds):
    before = Path(ds.index_path).read_bytes()
    with pytest.raises(recmap.FeatureError) as caught:
        ds.lift(["none"])
    assert caught.value.record == 0 and caught.value.path.endswith(".tfrecord")
    with pytest.raises(ValueError):
        ds.lift(["label"])
    with pytest.raises(TypeError, match="lift"):
        ds.lift("label")
    with pytest.raises(ValueError, match="a view has no index of its own"):
        ds[:3].lift(["id"])
    assert Path(ds.index_path).read_bytes() == before
    assert list(ds.columns) == ["@length", "label"]


def test_the_advice_for_an_absent_column_adds_it(tmp_path):
    write(tmp_path, list(rich_records()))
    with recmap.open(tmp_path, id="id", index=tmp_path / "a.rmx") as ds:
        with pytest.raises(KeyError) as caught:
            ds.columns["label"]
        assert caught.value.advice.endswith("ds.lift(['label']) adds it.")
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(tmp_path, lift=["label"], index=tmp_path / "a.rmx")
    eval(caught.value.advice.partition(": ")[2], {"recmap": recmap}).close()
    with recmap.open(tmp_path, lift=["label"], index=tmp_path / "a.rmx") as ds:
        assert ds.find("r9") == 9 and ds.columns["label"][9] == 4
