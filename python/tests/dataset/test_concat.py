"""Concatenations: records, ids, columns, damage, loaders and states of several data sets."""

import json
import multiprocessing
import pickle

import numpy as np
import pytest
import recmap
from conftest import flip, write


def example(number, name="n"):
    return recmap.encode_example({"id": f"id-{number % 40}", name: [number]})


def make(folder, first, count, lift=("n",), shards=2, **more):
    """A data set of the records from `first` on, in a folder of its own."""
    folder.mkdir()
    paths = []
    for i in range(shards):
        begin, end = first + i * count // shards, first + (i + 1) * count // shards
        paths += write(folder, map(example, range(begin, end)), name=f"made-{i}.tfrecord")
    return recmap.open(paths, id="id", lift=list(lift), **more)


@pytest.fixture
def parts(tmp_path):
    """Three data sets with records 0 to 99, one of them without records."""
    return [
        make(tmp_path / "a", 0, 30),
        make(tmp_path / "none", 0, 0),
        make(tmp_path / "b", 30, 50, lift=("n", "id"), shards=3),
        make(tmp_path / "c", 80, 20),
    ]


def test_records_and_views(parts):
    ds = recmap.concat(parts)
    expected = [example(n) for n in range(100)]
    assert len(ds) == 100 and [bytes(record) for record in ds] == expected
    order = np.random.default_rng(1).permutation(100)
    assert [bytes(r) for r in ds.gather(order)] == [expected[n] for n in order]
    assert bytes(ds[-1]) == expected[99]
    assert [bytes(r) for r in ds[25:85:7]] == expected[25:85:7]
    column = ds.parse(order, {"n": recmap.FixedLen((), "int64")})["n"]
    assert (column == order).all()
    many = np.tile(order, 30)  # by several threads
    assert (ds.parse(many, {"n": recmap.FixedLen((), "int64")}, threads=4)["n"] == many).all()
    for wrong in 100, -101:
        with pytest.raises(IndexError):
            ds[wrong]
    assert "100 records" in repr(ds) and repr(ds).count(".rmx") == 4
    assert [bytes(r) for r in recmap.concat([ds, parts[0]])] == expected + expected[:30]
    both = recmap.concat([parts[0][5:8], parts[2], parts[2][[3, 1]]])
    assert [bytes(r) for r in both] == [expected[n] for n in [5, 6, 7, *range(30, 80), 33, 31]]


def test_ids_and_columns(parts):
    ds = recmap.concat(parts)
    for number in range(100):
        name = f"id-{number % 40}"
        assert ds.find(name) == number % 40
        assert ds.find_all(name) == [n for n in range(100) if n % 40 == number % 40]
    assert ds.find_many(["id-3", "no", "id-39"]).tolist() == [3, -1, 39]
    assert ds[50:].find("id-3") == 83 - 50
    with pytest.raises(KeyError, match="no record has the id"):
        ds.find("no")
    assert (ds.columns["n"] == np.arange(100)).all()
    assert set(ds.columns) == {"@length", "n"}  # "id" is lifted in one of them only
    assert (ds.columns["@length"] == [len(r) for r in ds]).all()
    assert len(ds.where("n >= 95")) == 5
    names = ds.split({"x": 0.5, "y": 0.5})
    for name in names.values():
        assert all(len(set(name.find_all(f"id-{n}"))) in (0, 2, 3) for n in range(40))
    whole = recmap.concat([parts[0], parts[2]])
    assert whole.schema().keys() == {"id", "n"}


def test_ids_of_several_features(tmp_path):
    a = make(tmp_path / "a", 0, 5)
    (tmp_path / "b").mkdir()
    path = write(tmp_path / "b", [recmap.encode_example({"key": b"k"})])
    b = recmap.open(path, id="key")
    ds = recmap.concat([a, b])
    assert (ds.find("id-3"), ds.find("k")) == (3, 5)
    assert ds.find_many(["k", "id-0", "id-9"]).tolist() == [5, 0, -1]
    for joined in ({"both": ds, "a": a}, {"a": a, "both": ds[:3]}):
        with pytest.raises(ValueError, match="the parts of 'both' do not all have ids of one feat"):
            recmap.join(joined, by="id")
    with pytest.raises(ValueError, match="the parts do not all have ids of one feature") as caught:
        ds.duplicates(by="id")
    assert "with the same id feature" in str(caught.value)
    assert len(ds.duplicates(by="content")) == 0
    (tmp_path / "c").mkdir()
    without = recmap.open(write(tmp_path / "c", [b"x"]))
    with pytest.raises(ValueError, match="the index has no ids"):
        recmap.concat([a, without]).find("k")


def test_info_adds_up_the_parts(parts):
    ds = recmap.concat(parts)
    info = ds.info
    assert info["records"] == 100 and info["shards"] == sum(p.info["shards"] for p in parts)
    assert info["bytes"] == sum(p.info["bytes"] for p in parts)
    firsts = [shard["first_record"] for shard in ds.shards]
    assert firsts == sorted(firsts) and len(firsts) == info["shards"]
    assert info["ids"] == {
        "name": "id",
        "count": 100,
        "records_without": 0,
        "distinct": 90,
        "repeat": False,
    }
    assert ds.verify(progress=None)["records_good"] == 100
    assert recmap.concat(parts[:1]).fingerprint == parts[0].fingerprint
    assert ds.fingerprint == recmap.concat([recmap.concat(parts[:2]), *parts[2:]]).fingerprint
    assert ds.fingerprint != recmap.concat([*parts[:2], parts[3], parts[2]]).fingerprint


def test_damage_names_the_shard(parts, tmp_path):
    shard = sorted((tmp_path / "b").glob("*.tfrecord"))[1]
    ds = recmap.concat(parts)
    number = next(
        s["first_record"] for s in ds.shards if s["path"] == shard.name and s["first_record"] > 30
    )
    flip(shard, 20)
    with pytest.raises(recmap.CorruptRecordError) as raised:
        ds[number]
    assert raised.value.path.endswith(shard.name) and raised.value.record == number
    assert str(tmp_path / "b") in raised.value.advice
    (damage,) = ds.verify(progress=None)["damage"]
    assert damage["record"] == number and damage["path"] == str(shard)
    loader = recmap.Loader(ds, 10, on_bad_record="skip")
    assert sum(len(batch) for batch in loader) == 99
    assert [one["number"] for one in loader.skipped] == [number]


def numbers_in_process(ds, queue):
    queue.put([bytes(ds[i]) for i in (0, 99)])


def test_pickling_closing_and_forking(parts):
    ds = recmap.concat(parts)
    for given in ds, ds[10:20], recmap.concat([parts[0][[1, 2]], parts[3]]):
        again = pickle.loads(pickle.dumps(given))
        assert [bytes(r) for r in again] == [bytes(r) for r in given]
        assert again.fingerprint == given.fingerprint
    view = ds[99]
    for part in parts:
        part.close()
    assert bytes(ds[0]) == example(0)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=numbers_in_process, args=(ds, queue))
    child.start()
    assert queue.get(timeout=60) == [example(0), example(99)]
    child.join()
    ds.close()
    assert bytes(view) == example(99)
    with pytest.raises(ValueError, match="closed"):
        recmap.concat([ds])


def test_wrong_parts_are_refused(parts):
    with pytest.raises(ValueError, match="no data sets to concatenate"):
        recmap.concat([])
    for wrong in [parts[0], "path"], parts[0]:
        with pytest.raises(TypeError, match="concat needs data sets"):
            recmap.concat(wrong)


@pytest.mark.parametrize("access", ["map", "read", "direct"])
def test_mixed_access_and_compression(tmp_path, access):
    a = make(tmp_path / "a", 0, 300, access=access)
    (tmp_path / "z").mkdir()
    (path,) = write(tmp_path / "z", [example(n) for n in range(300, 500)])
    import gzip

    with open(path, "rb") as file:
        data = file.read()
    with gzip.open(str(path) + ".gz", "wb") as file:
        file.write(data)
    z = recmap.open(str(path) + ".gz", id="id", access=recmap.Reading(shard_limit=1))
    ds = recmap.concat([a, z, a])
    features = {"n": recmap.FixedLen((), "int64")}
    for _ in range(2):
        loader = recmap.Loader(ds, 64, shuffle=True, seed=3, features=features)
        numbers = np.concatenate([batch["n"] for batch in loader])
        expected = recmap.Shuffled(800, 3).at(0, range(800))
        assert (numbers == np.where(expected < 500, expected, expected - 500)).all()
    assert ds.info["compressed"]["shards"] == 1


# ---- Runs.


def test_a_run_continues_with_another_data_set(parts):
    a, _, b, c = parts
    two = recmap.concat([a, b])
    order = recmap.Mixture([recmap.Shuffled(30, 1), recmap.Shuffled(50, 2)], [1, 1])
    loader = recmap.Loader(two, 5, order=order)
    for _ in zip(range(4), loader, strict=False):
        pass
    state = json.loads(json.dumps(loader.state_dict()))
    three = recmap.concat([a, b, c])
    later = order.continued(state["epoch"], state["position"], [1, 1, 2], [recmap.Sequential(20)])
    rest = recmap.Loader(three, 4, order=later)
    with pytest.raises(recmap.StateMismatchError, match="has grown from 80 to 100 records; the f"):
        rest.load_state_dict(state)
    rest.load_state_dict(state, order=later)
    batch = next(iter(rest))
    assert batch.numbers.tolist() == later.at(0, range(20, 24)).tolist()
    assert sorted(batch.numbers)[-2:] == [80, 81]  # the new source
    assert [bytes(r) for r in batch] == [example(n) for n in batch.numbers]
    for other in recmap.concat([b, a, c]), recmap.concat([a, c, b]):
        wrong = recmap.Loader(other, 4, order=later)
        with pytest.raises(recmap.StateMismatchError, match="fingerprint"):
            wrong.load_state_dict(state, order=later)


def test_rows_of_a_concatenation(parts):
    ds = recmap.concat(parts)
    rows = recmap.Chunked(np.arange(100) % 7, 16, seed=1)
    records = np.concatenate([rows.pieces(0, i)[:, 0] for i in range(len(rows))])
    assert (ds.parse(records, {"n": recmap.FixedLen((), "int64")})["n"] == records).all()
