"""Selections that are saved and opened again, and the same choices as of the command."""

import pickle
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
import recmap
from conftest import write
from recmap import _recmap

COMMAND = Path(_recmap.__file__).parents[2] / "tools" / "recmap"  # in a build tree


@pytest.fixture
def labelled(tmp_path):
    write(tmp_path, [recmap.encode_example({"label": i % 5, "id": f"r{i}"}) for i in range(40)])
    with recmap.open(tmp_path / "made-0.tfrecord", lift=["label"], id="id") as ds:
        yield ds


@pytest.mark.parametrize(
    "numbers", [[], [3], [1, 2, 39], list(range(40)), [5, 4, 4, 39, 0]], ids=str
)
def test_a_saved_view(labelled, tmp_path, numbers):
    view, path = labelled.select(numbers), tmp_path / "view.rmv"
    view.save(path)
    again = recmap.open(path)
    assert again.numbers.tolist() == numbers
    assert [bytes(record) for record in again] == [bytes(record) for record in view]
    assert pickle.loads(pickle.dumps(again)).numbers.tolist() == numbers
    again[::-1].save(path)
    assert recmap.open(path).numbers.tolist() == numbers[::-1]


def test_a_saved_view_of_a_range(labelled, tmp_path):
    labelled[30:3:-4].save(tmp_path / "view.rmv")
    assert recmap.open(tmp_path / "view.rmv").numbers.tolist() == list(range(30, 3, -4))


def test_large_selections_survive_a_round_trip(tmp_path):
    """Lists, maps and several containers."""
    write(tmp_path, [b""] * 200_000)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    random = np.random.default_rng(0)
    for share in (0.0001, 0.02, 0.5, 1):
        numbers = np.flatnonzero(random.random(len(ds)) < share)
        ds.select(numbers).save(tmp_path / "view.rmv")
        assert np.array_equal(recmap.open(tmp_path / "view.rmv").numbers, numbers)
        order = random.permutation(numbers)
        ds.select(order).save(tmp_path / "view.rmv")
        assert np.array_equal(recmap.open(tmp_path / "view.rmv").numbers, order)


def test_a_selection_survives_appending(labelled, tmp_path):
    view = labelled.where("label == 3")
    view.save(tmp_path / "threes.rmv")
    write(tmp_path, [recmap.encode_example({"label": 3, "id": "x"})], name="more.tfrecord")
    shards = [tmp_path / "made-0.tfrecord", tmp_path / "more.tfrecord"]
    recmap.open(shards, lift=["label"], id="id", index=labelled.index_path)
    again = recmap.open(tmp_path / "threes.rmv")
    assert again.numbers.tolist() == view.numbers.tolist()
    recmap.open(shards[::-1], lift=["label"], id="id", index=labelled.index_path, rebuild=True)
    with pytest.raises(recmap.StaleIndexError, match="not only extended"):
        recmap.open(tmp_path / "threes.rmv")


def test_an_index_elsewhere(labelled, tmp_path):
    path = tmp_path / "below" / "view.rmv"
    path.parent.mkdir()
    labelled[:3].save(path)
    with pytest.raises(recmap.InvalidError, match="outside its own folder"):
        recmap.open(path)
    assert len(recmap.open(path, access=recmap.Reading(allow_absolute_paths=True))) == 3
    assert len(recmap.open(path, index=labelled.index_path)) == 3


def test_an_index_of_any_name(tmp_path):
    write(tmp_path, [b"0", b"1", b"2"])
    with recmap.open(tmp_path / "made-0.tfrecord", index=tmp_path / "made.idx") as ds:
        ds[1:].save(tmp_path / "view.rmv")
    with recmap.open(tmp_path / "view.rmv") as view:
        assert list(map(bytes, view)) == [b"1", b"2"]
        assert list(map(bytes, pickle.loads(pickle.dumps(view)))) == [b"1", b"2"]
    (tmp_path / "made.idx").rename(tmp_path / "moved")
    assert len(recmap.open(tmp_path / "view.rmv", index=tmp_path / "moved")) == 2


def test_a_folder_that_does_not_exist(labelled, tmp_path):
    with pytest.raises(recmap.FileMissingError) as raised:
        labelled[:3].save(tmp_path / "parts" / "view.rmv")
    assert raised.value.advice == "create the folder first, or check the path"


def test_views_that_have_no_index(labelled, tmp_path):
    with pytest.raises(recmap.InvalidError, match="several indexes"):
        recmap.concat([labelled, labelled]).save(tmp_path / "view.rmv")


@pytest.mark.parametrize("name", ["made-0.tfrecord", "new", "new.rmx", "new.rmv.txt"])
def test_names_that_readers_would_not_recognise(labelled, tmp_path, name):
    with pytest.raises(recmap.InvalidError, match=r"must end in \.rmv"):
        labelled.save(tmp_path / name)


def selection_naming(name):
    """The bytes of a valid selection of no records whose index is ``name``."""
    xxhash = pytest.importorskip("xxhash")
    path = name.encode()
    data = b"RMXview\n" + struct.pack("<IIQQ16sQII", 1, 2, 0, 0, b"", 0, len(path), 0) + path
    digest = xxhash.xxh3_128_digest(data)
    return data + digest[:7:-1] + digest[7::-1]


@pytest.mark.parametrize("name", ["made-0.tfrecord", "*.tfrecord", "@list", "folder.rmx", "x.rmv"])
def test_only_an_index_is_opened(tmp_path, name):
    """What a selection from elsewhere names is never indexed, nor opened as another selection."""
    write(tmp_path, [b"record"])
    (tmp_path / "list").write_text("made-0.tfrecord\n")
    (tmp_path / "folder.rmx").mkdir()
    write(tmp_path / "folder.rmx", [b"record"])
    (tmp_path / "x.rmv").write_bytes(selection_naming(name))
    before = sorted(tmp_path.rglob("*"))
    for options in ({}, {"index": tmp_path / name}):
        with pytest.raises(
            recmap.Error, match=r"not a recmap index|not an index|No such file|is a folder"
        ) as raised:
            recmap.open(tmp_path / "x.rmv", **options)
        assert raised.value.path == str(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_selection_allows_no_shards_elsewhere(labelled, tmp_path):
    path = tmp_path / "below" / "outside.rmx"
    path.parent.mkdir()
    with recmap.open(tmp_path / "made-0.tfrecord", index=path) as ds:
        ds[:3].save(path.with_name("view.rmv"))
    with pytest.raises(recmap.InvalidError, match="outside"):
        recmap.open(path.with_name("view.rmv"))
    assert (
        len(
            recmap.open(
                path.with_name("view.rmv"), access=recmap.Reading(allow_absolute_paths=True)
            )
        )
        == 3
    )


def test_hostile_files_are_refused_or_read_safely(labelled, tmp_path):
    """A file with a correct hash but other contents is refused, or gives records of the index."""
    xxhash = pytest.importorskip("xxhash")
    path = tmp_path / "view.rmv"
    labelled.where("label == 3").save(path)
    good = path.read_bytes()[:-16]
    random = np.random.default_rng(0)
    outcomes = set()
    for round in range(3000):
        data = bytearray(good)
        data[round % len(good)] ^= int(random.integers(1, 256))
        digest = xxhash.xxh3_128_digest(bytes(data))
        path.write_bytes(bytes(data) + digest[:7:-1] + digest[7::-1])
        try:
            numbers = recmap.open(path).numbers
        except (recmap.Error, OSError, ValueError) as error:
            outcomes.add(type(error).__name__)
        else:
            assert ((numbers >= 0) & (numbers < 40)).all()
    assert "CorruptIndexError" in outcomes or "CorruptRecordError" in outcomes


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not here")
@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.3, 0.3, 0.4), (1.0, 0.0), (1e-300, 1.0)])
def test_the_command_chooses_the_same(labelled, tmp_path, shares):
    def run(*words):
        return subprocess.run([COMMAND, *words], check=True, cwd=tmp_path, capture_output=True)

    index = labelled.index_path
    lines = run("sample", index, "9", "--seed", "5", "--format", "number").stdout.split()
    assert [int(line) for line in lines] == labelled.sample(9, seed=5).numbers.tolist()
    named = {f"part{i}": share for i, share in enumerate(shares)}
    run("split", index, "--seed", "5", *(f"{name}={share!r}" for name, share in named.items()))
    for name, part in labelled.split(named, seed=5).items():
        opened = recmap.open(tmp_path / f"{name}.rmv")
        assert opened.numbers.tolist() == part.numbers.tolist()


def test_info_and_fingerprint_of_views(labelled, tmp_path):
    view = labelled[10:20]
    assert view.info["records"] == 10 and view.info["total_records"] == 40
    assert view.info["ordered"] is False and view[::-1].info["ordered"] is True
    assert view.info["fingerprint"] == view.fingerprint != labelled.fingerprint
    assert view.fingerprint == labelled.select(list(range(10, 20))).fingerprint
    assert len({v.fingerprint for v in (labelled, view, view[::-1], view[1:], labelled[:0])}) == 5
    assert labelled[:].fingerprint == labelled.fingerprint
    view.save(tmp_path / "view.rmv")
    assert recmap.open(tmp_path / "view.rmv").fingerprint == view.fingerprint
    assert pickle.loads(pickle.dumps(view)).fingerprint == view.fingerprint


def test_views_do_not_see_later_changes_of_arrays(labelled):
    order = np.random.default_rng(1).permutation(40).astype(np.uint64)
    views = [
        labelled.select(order),
        labelled[order],
        labelled.select(order[:20]),
        labelled[order[20:]],
    ]
    before = [view.numbers.tolist() for view in views]
    order[:] = order[::-1].copy()  # the caller's array stays writable
    assert [view.numbers.tolist() for view in views] == before


def test_verify_of_views(labelled, tmp_path):
    report = {"records": 10, "records_good": 10, "damage": []}
    calls = []
    assert labelled[10:20].verify(progress=lambda *call: calls.append(call)) == report
    assert calls[-1][2] == 10
    shard = tmp_path / "made-0.tfrecord"
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1  # in one of the records in the middle
    shard.write_bytes(data)
    (damage,) = labelled[5:35].verify(progress=None)["damage"]
    assert damage["path"].endswith("made-0.tfrecord") and 15 < damage["record"] < 25
    number = damage["record"]
    assert labelled[:number].verify(progress=None)["damage"] == []
    found = labelled.select([1, number, 2]).verify(progress=None)
    assert found["records_good"] == 2 and found["damage"] == [damage]


def test_verify_of_the_index_counts_no_good_records(labelled):
    report = {"records": len(labelled), "records_good": None, "damage": []}
    assert labelled.verify(index_only=True, progress=None) == report
    assert labelled[10:20].verify(index_only=True, progress=None) == report
    both = recmap.concat([labelled, labelled])
    assert both.verify(index_only=True, progress=None) == {**report, "records": 2 * len(labelled)}


def test_text_columns_compare_with_str(tmp_path):
    words = ["de", "fr", "日本", "de", ""]
    write(tmp_path, [recmap.encode_example({"lang": word, "other": word}) for word in words])
    ds = recmap.open(tmp_path / "made-0.tfrecord", lift=["lang", "other"])
    lang = ds.columns["lang"]
    assert (lang == "de").tolist() == [True, False, False, True, False]
    assert (lang == b"de").tolist() == (lang == "de").tolist()
    assert (lang != "日本").tolist() == [True, True, False, True, True]
    assert (lang < "e").tolist() == [True, False, False, True, True]
    assert (lang == np.array(words)).all() and (lang == words).all()
    assert (lang == np.array(words, object)).all() and (lang == ds.columns["other"]).all()
    assert np.isin(lang, ["fr", "日本"]).tolist() == [False, True, True, False, False]
    assert np.isin(lang, np.array(["fr"])).tolist() == [False, True, False, False, False]
    assert type(lang == "de") is np.ndarray
    for chosen in (
        np.concatenate([lang, lang]),
        np.append(lang, [b"de"]),
        np.where(lang == "de", lang, b"fr"),
        np.repeat(lang, 2),
        np.tile(lang, 2),
        np.insert(lang, 0, b"de"),
        np.stack([lang, lang]),
        np.hstack([lang, [b""]]),
        np.unique(lang, return_counts=True)[0],
    ):
        expected = sum(word == b"de" for word in chosen.ravel().tolist())
        assert (chosen == "de").sum() == expected > 0
    assert np.array_equal(lang, words) and np.array_equiv(lang, np.array(words))
    assert not np.array_equal(lang, words[::-1])
    assert (
        np.isin(lang, ["de"], kind="sort").sum() == 2 == np.isin(lang, ["de"], invert=False).sum()
    )
    assert np.setdiff1d(lang, ["de", ""]).tolist() == [b"fr", "日本".encode()]
    assert np.intersect1d(lang, ["de", "x"]).tolist() == [b"de"]
    assert (np.union1d(lang, ["x"]) == "x").sum() == 1
    assert len(np.intersect1d(lang, lang, return_indices=True)) == 3
    assert lang[1] == b"fr" and lang[1:].tolist() == [word.encode() for word in words[1:]]
    assert ds[::2].columns["lang"].tolist() == [word.encode() for word in words[::2]]
    assert len(ds.select(ds.columns["lang"] == "de")) == 2


def test_the_index_of_a_mask_is_not_ignored(labelled):
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series(labelled.columns["label"])
    mask = labels == 3
    assert labelled.select(mask).numbers.tolist() == list(range(3, 40, 5))
    for given in mask[::-1], mask.set_axis([f"r{i}" for i in range(40)]):
        with pytest.raises(ValueError, match="mask have an index of pandas that is not 0 to 39"):
            labelled.select(given)
        assert len(labelled.select(given.to_numpy())) == 8
    assert labelled.select(labels.index.to_series()[mask]).numbers[1] == 8  # numbers, not a mask
