"""Views without duplicates, and ids that are of no use: misspelt ones, and labels."""

import subprocess
import warnings

import numpy as np
import pytest
import recmap

ROWS = [("a", 1), ("b", 2), ("a", 1), ("c", 2), ("b", 3), ("a", 4)]


@pytest.fixture
def ds(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord") as writer:
        for id, n in ROWS:
            writer.write({"id": id, "n": n})
        writer.write({"other": 1})
        writer.write({"other": 1})
    return recmap.open(tmp_path / "x.tfrecord", id="id", index=tmp_path / "x.rmx")


@pytest.mark.parametrize(
    "by, kept",
    [
        ("content", [0, 1, 3, 4, 5, 6]),
        ("bytes", [0, 1, 3, 4, 5, 6]),
        ("id", [0, 1, 3, 6, 7]),
        ("n", [0, 1, 4, 5, 6, 7]),
    ],
)
def test_the_first_of_equal_records_is_kept(ds, by, kept):
    assert ds.without_duplicates(by).numbers.tolist() == kept
    if by != "bytes":
        assert len(ds.duplicates(by)) == len(ds) - len(kept)
    view = ds[::-1]
    firsts = [len(ds) - 1 - i for i in view.duplicates("content" if by == "bytes" else by)[:, 0]]
    assert sorted(set(range(len(ds))) - set(view.without_duplicates(by).numbers)) == sorted(firsts)


def test_the_default_compares_whole_records(ds, tmp_path):
    view = ds.without_duplicates()
    assert view.numbers.tolist() == [0, 1, 3, 4, 5, 6]
    view.save(tmp_path / "unique.rmv")
    assert len(recmap.open(tmp_path / "unique.rmv")) == 6


def test_annotated_columns_are_compared_by_their_values(ds):
    ds.annotate({"group": ["x", "y", "x", "x", "z", "y", "x", "w"]})
    ds.annotate({"score": np.array([1, 2, np.nan, np.nan, 2, 1, 3, 3])})
    assert ds.without_duplicates("group").numbers.tolist() == [0, 1, 4, 7]
    assert ds.without_duplicates("score").numbers.tolist() == [0, 1, 2, 3, 6]
    assert ds.duplicates("group").tolist() == [[2, 0], [3, 0], [5, 1], [6, 0]]


def test_nulls_of_an_annotated_column_equal_none(ds):
    ds.annotate({"number": [0, 1, 2], "score": [5, 5, 6]}, by="number")
    assert ds.without_duplicates("score").numbers.tolist() == [0, 2, 3, 4, 5, 6, 7]


def test_an_unknown_feature_is_an_error(ds):
    with pytest.raises(recmap.FeatureError):
        ds.without_duplicates("nothing")
    with pytest.raises(TypeError, match="by must be a str"):
        ds.without_duplicates(3)


# ---- Misspelt ids.


def write(path, rows):
    with recmap.Writer(path) as writer:
        for row in rows:
            writer.write(row)


def write_without_ids(folder, rows, index="x.rmx", **options):
    """Writes records and an index for an id that no record has, as 0.2.0 built them."""
    with recmap.Writer(folder / "x.tfrecord") as writer:
        for row in rows:
            writer.write(row)
    with pytest.warns(UserWarning, match="idd"):
        recmap.index(folder / "x.tfrecord", folder / index, id="idd", **options)


def test_a_corrected_id_builds_the_index_again(tmp_path):
    write_without_ids(tmp_path, [{"id": f"{n}", "n": n} for n in range(5)], lift=["n"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = recmap.open(tmp_path / "x.tfrecord", id="id")
    assert ds.find("3") == 3 and ds.columns["n"].tolist() == list(range(5))


def test_ids_that_records_have_are_not_replaced(tmp_path):
    write(tmp_path / "x.tfrecord", [{"id": f"{n}", "n": n} for n in range(5)])
    recmap.open(tmp_path / "x.tfrecord", id="n")
    with pytest.raises(recmap.StaleIndexError, match="ids of the feature 'n'"):
        recmap.open(tmp_path / "x.tfrecord", id="id")


def test_an_index_of_other_shards_is_not_replaced(tmp_path):
    write_without_ids(tmp_path, [{"id": "x"}], "i.rmx")
    write(tmp_path / "y.tfrecord", [{"id": "y"}])
    before = (tmp_path / "i.rmx").read_bytes()
    with pytest.raises(recmap.StaleIndexError):
        recmap.open(tmp_path / "y.tfrecord", id="id", index=tmp_path / "i.rmx")
    assert (tmp_path / "i.rmx").read_bytes() == before


def test_annotated_columns_are_not_lost_to_a_corrected_id(tmp_path):
    write_without_ids(tmp_path, [{"id": f"{n}"} for n in range(5)])
    ds = recmap.open(tmp_path / "x.rmx")
    ds.annotate({"score": np.arange(5)})
    with pytest.raises(recmap.StaleIndexError):
        recmap.open(tmp_path / "x.tfrecord", id="id")
    assert recmap.open(tmp_path / "x.tfrecord").columns["score"].tolist() == list(range(5))


# ---- Ids that repeat.

REPEAT = r"ids of 'label' repeat: 10 different ones in 1000 records"


@pytest.fixture
def labels(tmp_path):
    write(tmp_path / "x.tfrecord", [{"label": n % 10, "id": f"{n}"} for n in range(1000)])
    return tmp_path / "x.tfrecord"


def test_ids_that_are_labels_are_warned_of(labels):
    with pytest.warns(UserWarning, match=REPEAT):
        ds = recmap.open(labels, id="label")
    assert ds.info["ids"]["distinct"] == 10
    with pytest.warns(UserWarning, match=REPEAT):
        recmap.open(labels, id="label")
    with pytest.warns(UserWarning, match=REPEAT):
        recmap.open(ds.index_path, id="label")
    with pytest.warns(UserWarning, match=REPEAT):
        recmap.index(labels, id="label")


def test_ids_that_repeat_a_little_are_not(tmp_path):
    write(tmp_path / "x.tfrecord", [{"video": f"{n // 5}"} for n in range(1000)])
    write(tmp_path / "y.tfrecord", [{"label": n % 3} for n in range(50)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = recmap.open(tmp_path / "x.tfrecord", id="video")
        recmap.open(tmp_path / "y.tfrecord", id="label")
    assert ds.info["ids"]["distinct"] == 200


def test_the_command_warns(labels, tmp_path):
    command = find_command()
    text = b"the ids of 'label' repeat: 10 different ones in 1000 records"
    built = subprocess.run(
        [command, "index", "--id", "label", "-o", "x.rmx", labels],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert text in built.stderr
    shown = subprocess.run(
        [command, "info", "x.rmx"], cwd=tmp_path, capture_output=True, check=True
    )
    assert text in shown.stderr


def find_command():
    import os
    import shutil

    command = os.environ.get("RECMAP_COMMAND") or shutil.which("recmap")
    if command is None:
        pytest.skip("needs the command: set RECMAP_COMMAND")
    return command
