"""Records of several data sets, matched by their ids."""

import os
import subprocess
import tracemalloc
import warnings

import numpy as np
import pytest
import recmap
from conftest import write
from recmap._dataset import records

PROGRAM = os.environ.get("RECMAP_WRITE_MUTATED")


def make(folder, name, ids, **more):
    payloads = [recmap.encode_example({"id": id, name: i}) for i, id in enumerate(ids)]
    write(folder, payloads, name=f"{name}.tfrecord")
    return recmap.open(folder / f"{name}.tfrecord", id="id", **more)


def pairs(joined):
    return list(zip(*(p.tolist() for p in joined.positions.values()), strict=True))


@pytest.fixture
def sides(tmp_path):
    images = make(tmp_path, "image", ["c", "a", "x", "b", "a"])
    captions = make(tmp_path, "caption", ["a", "b", "y", "c", "b"])
    return {"image": images, "caption": captions}


def test_rows_have_one_record_of_each(sides):
    joined = recmap.join(sides)
    assert pairs(joined) == [(0, 3), (1, 0), (3, 1), (4, 0)]
    for row, (image, caption) in zip(joined, pairs(joined), strict=True):
        assert bytes(row["image"]) == bytes(sides["image"][image])
        assert bytes(row["caption"]) == bytes(sides["caption"][caption])
    assert pairs(joined[1:3]) == [(1, 0), (3, 1)]
    assert pairs(joined[[-1, 0]]) == [(4, 0), (0, 3)]
    assert pairs(joined[np.array([True, False, False, True])]) == [(0, 3), (4, 0)]
    assert repr(joined) == "<recmap.Joined of 'image', 'caption': 4 rows>"


@pytest.mark.parametrize("missing", ["drop", "null", "error"])
def test_complete_joins_keep_record_numbers(sides, missing):
    """Every record of the first data set has a match, so row i has its record i."""
    sides["image"] = sides["image"][[0, 1, 3, 4]]
    joined = recmap.join(sides, missing=missing)
    numbers, rows = sides["image"].numbers, [(0, 3), (1, 0), (2, 1), (3, 0)]
    assert len(joined) == 4
    for row, index in ((0, 0), (3, -1), (1, np.int64(1))):
        assert bytes(joined[index]["image"]) == bytes(sides["image"][row])
        assert bytes(joined[index]["caption"]) == bytes(sides["caption"][rows[row][1]])
    for index in (4, -5):
        with pytest.raises(IndexError):
            joined[index]
    for chosen in (slice(1, 3), slice(None, None, -1), slice(-3, None, 2), slice(3, 1)):
        assert pairs(joined[chosen]) == rows[chosen]
    assert pairs(joined[[-1, 0, 0]]) == [rows[3], rows[0], rows[0]]
    assert pairs(joined[np.array([False, True, True, False])]) == rows[1:3]
    items = np.array([2, 1], np.uint64)
    chosen = joined[items]
    items[:] = 0
    assert pairs(chosen) == [rows[2], rows[1]]
    assert joined.views["image"].numbers.tolist() == numbers.tolist()
    assert pairs(joined) == rows and joined.positions["image"].dtype == np.int64
    assert joined.positions["image"] is joined.positions["image"]
    assert pairs(joined[1:][1:]) == rows[2:]


def test_memory_of_all_rows(sides):
    """The positions of the first data set are made only for those who ask for them."""
    joined = recmap.join(sides, missing="null")
    assert len(joined) == 5 and joined[0]["image"] is not None and len(joined[1:3]) == 2
    assert [name for name, positions in joined._positions.items() if positions is None] == ["image"]


def test_blocks_of_rows(tmp_path, monkeypatch):
    """The rows are matched block by block, so that arrays of all rows are only those returned."""
    count = 40_000
    ds = make(tmp_path, "all", range(count))
    shuffled = ds[np.random.default_rng(1).permutation(count)]
    monkeypatch.setattr(records, "_BLOCK_ROWS", 1000)
    for first in (ds, ds[::-3], shuffled, shuffled[:4999], ds[:0]):
        tracemalloc.start()
        joined = recmap.join({"first": first, "all": ds})
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(joined.positions["all"], first.numbers)
        assert peak < 12 * len(first) + 20_000  # 8 bytes a row are returned


def test_missing_null_keeps_unmatched_rows(sides):
    joined = recmap.join(sides, missing="null")
    assert pairs(joined) == [(0, 3), (1, 0), (2, -1), (3, 1), (4, 0)]
    assert joined[2]["caption"] is None and joined[2]["image"] is not None
    with pytest.raises(ValueError, match=r"joined\.positions"):
        _ = joined.views
    assert len(joined[joined.positions["caption"] >= 0].views["caption"]) == 4
    with pytest.raises(recmap.IdNotFoundError, match="'caption' has no record with the id"):
        recmap.join(sides, missing="error")
    assert len(recmap.join(sides | {"image": sides["image"][:2]}, missing="error")) == 2


def test_parse_and_loaders(sides):
    joined = recmap.join(sides)
    features = {name: {name: recmap.FixedLen((), "int64")} for name in sides}
    batch = joined.parse([2, 0], features)
    assert batch["image"]["image"].tolist() == [3, 0]
    assert batch["caption"]["caption"].tolist() == [1, 3]
    loaders = [
        recmap.Loader(view, 2, shuffle=True, seed=3, features=features[name])
        for name, view in joined.views.items()
    ]
    rows = [
        pair
        for image, caption in zip(*loaders, strict=True)
        for pair in zip(image["image"].tolist(), caption["caption"].tolist(), strict=True)
    ]
    assert sorted(rows) == pairs(joined)


def test_views_integers_and_three_sides(tmp_path):
    even = make(tmp_path, "even", range(0, 60, 2))
    threes = make(tmp_path, "threes", range(0, 60, 3))
    view = make(tmp_path, "all", range(60))[::-1]
    joined = recmap.join({"view": view, "even": even, "threes": threes})
    assert pairs(joined) == [(59 - n, n // 2, n // 3) for n in range(54, -1, -6)]
    text = make(tmp_path, "text", [str(n) for n in range(60)])
    with pytest.warns(UserWarning, match="has ids such as 0; 'text' has ids such as '0'"):
        assert len(recmap.join({"even": even, "text": text})) == 0
    assert len(recmap.join({"none": even[:0], "all": view})) == 0
    assert len(recmap.join({"all": view, "none": even[:0]})) == 0


def test_records_that_a_view_repeats(sides):
    images, captions = sides["image"], sides["caption"]
    joined = recmap.join({"image": images[[1, 1, 4]], "caption": captions[::-1]})
    assert pairs(joined) == [(0, 4), (1, 4), (2, 4)]
    joined = recmap.join({"caption": captions, "image": images[[4, 4, 1, 3]]}, missing="null")
    assert pairs(joined) == [(0, 0), (1, 3), (2, -1), (3, -1), (4, 3)]


@pytest.mark.skipif(not PROGRAM, reason="RECMAP_WRITE_MUTATED names no program")
def test_ids_that_a_callback_read(sides, tmp_path):
    subprocess.run([PROGRAM, "1", "1"], check=True, cwd=tmp_path)
    with recmap.open(tmp_path / "set00.rmx") as unknown:
        for both in ({"a": unknown, "b": sides["image"]}, {"a": sides["image"], "b": unknown}):
            with pytest.raises(recmap.InvalidError, match="read by a callback") as raised:
                recmap.join(both)
            assert raised.value.path == str(tmp_path / "set00.rmx")
            assert 'recmap.index(..., id="FEATURE")' in raised.value.advice


def test_wrong_arguments_are_refused(sides, made):
    for wrong in ([sides], {"image": sides["image"]}, {"image": sides["image"], "caption": 3}):
        with pytest.raises(TypeError):
            recmap.join(wrong)
    with pytest.raises(ValueError, match="'made' has no ids"):
        recmap.join({"image": sides["image"], "made": made})
    with pytest.raises(ValueError, match="missing must be"):
        recmap.join(sides, missing="keep")
    with pytest.raises(ValueError, match="by must be"):
        recmap.join(sides, by="number")


def test_rows_and_features_that_do_not_exist(sides):
    joined = recmap.join(sides, missing="null")
    count = len(joined)
    message = f"row {count} is out of range: there are rows 0 to {count - 1}"
    for rows in joined, joined[::-1]:
        with pytest.raises(recmap.OutOfRangeError, match=message):
            rows[count]
        with pytest.raises(recmap.OutOfRangeError, match=f"row {-count - 1} is out of range"):
            rows[-count - 1]
    assert joined[-1]["image"] == joined[count - 1]["image"]
    with pytest.raises(ValueError, match="features has 'text', but the join has image, caption"):
        joined.parse([0], {"text": {"label": recmap.FixedLen((), "int64")}})


def test_sides_with_nothing_in_common(tmp_path, sides):
    numbers = make(tmp_path, "number", [5, 6])
    message = (
        "no id of 'image' is in 'number', so no row has both; 'image' has ids such as 'c'; "
        "'number' has ids such as 5"
    )
    for missing, count in (("drop", 0), ("null", 5)):
        with pytest.warns(UserWarning) as caught:
            joined = recmap.join({"image": sides["image"], "number": numbers}, missing=missing)
        assert [str(warning.message) for warning in caught] == [message]
        assert caught[0].filename == __file__
        assert len(joined) == count
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not recmap.join({"image": sides["image"][:0], "number": numbers})
        assert not recmap.join({"image": sides["image"], "number": numbers[:0]})
