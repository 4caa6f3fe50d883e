"""Data sets: records by number and id, views, and what the index says."""

import os
import pickle
import random
import warnings

import numpy as np
import pytest
import recmap
from conftest import flip, write


def test_records_equal_their_payloads(made, payloads):
    assert len(made) == len(payloads)
    assert [bytes(record) for record in made] == payloads


@pytest.mark.parametrize("i", [0, 3, 5, 7, 101, 2000, 3209, -1, -3210])
def test_an_item_is_a_readonly_view(made, payloads, i):
    record = made[i]
    assert record.readonly and record.format == "B" and record.ndim == 1
    assert bytes(record) == payloads[i]


@pytest.mark.parametrize("i", [3210, -3211, 2**63, -(2**63) - 1, 2**64])
def test_item_out_of_range(made, i):
    for records, place in (made, "there are 3210"), (made.gather(range(3)), "the batch has 3"):
        with pytest.raises(IndexError, match=f"record {i} is out of range: {place} records"):
            records[i]


@pytest.mark.parametrize("key", ["0", 1.0, None, ["1"], (1, 2)])
def test_item_with_wrong_type(made, key):
    with pytest.raises(TypeError):
        made[key]


def test_numpy_integers_are_indices(made, payloads):
    for kind in (np.int8, np.int32, np.int64, np.uint8, np.uint64):
        assert bytes(made[kind(101)]) == payloads[101]


def test_empty_and_binary_records(tmp_path):
    records = [b"aaa", b"", b"ccc", b"dd", b"e", b"\xff\xfe\x00"]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    assert [bytes(record) for record in ds] == records
    assert ds[1].nbytes == 0


def test_ranges_of_records(made, payloads):
    assert [bytes(r) for r in made[10:101]] == payloads[10:101]
    assert list(made[3:2]) == list(made[0:0]) == []
    assert len(made[0 : 10**9]) == len(payloads)


def test_records_of_two_files_in_any_order(tmp_path):
    payloads = [str(i).encode() for i in range(10)]
    first = write(tmp_path, payloads[:4], name="a.tfrecord")
    second = write(tmp_path, payloads[4:], name="b.tfrecord")
    ds = recmap.open(first + second)
    numbers = [3, 0, 5, 9, 2, 1, 4, 7, 8, 6]
    assert [bytes(r) for r in ds.gather(numbers)] == [payloads[i] for i in numbers]
    swapped = recmap.open(second + first, index=tmp_path / "swapped.rmx")
    assert [bytes(r) for r in swapped] == payloads[4:] + payloads[:4]


@pytest.fixture(scope="module")
def twenty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twenty")
    payloads = [b"" if (i + 2) % 4 == 0 else f"record {i}".encode() for i in range(20)]
    write(folder, payloads)
    return recmap.open(folder / "made-0.tfrecord"), payloads


def test_slices_equal_those_of_a_list(twenty):
    ds, payloads = twenty
    ends = [None, *range(-22, 23, 3)]
    for start in ends:
        for stop in ends:
            for step in (None, 1, 2, 3, -1, -2, -3, 50, -50):
                key = slice(start, stop, step)
                assert [bytes(r) for r in ds[key]] == payloads[key], key


def test_slices_of_views_compose(twenty):
    ds, _ = twenty
    rng = random.Random(3)
    for _ in range(300):
        view, model = ds, list(range(20))
        for _ in range(3):
            if rng.random() < 0.3:
                taken = [rng.randrange(len(model)) for _ in range(5)] if model else []
                view, model = view.select(taken), [model[i] for i in taken]
            ends = [rng.choice([None, rng.randrange(-25, 25)]) for _ in range(2)]
            key = slice(*ends, rng.choice([None, 1, 2, -1, -3]))
            view, model = view[key], model[key]
            assert view.numbers.tolist() == model
            assert [bytes(r) for r in view] == [bytes(ds[i]) for i in model]


@pytest.mark.parametrize("kind", [list, tuple, np.int32, np.int64, np.uint64, np.uint8, iter])
def test_gather_accepts_integers_of_any_type(twenty, kind):
    ds, payloads = twenty
    numbers = [3, 3, 3, 19, 0]
    given = np.array(numbers, kind) if kind not in (list, tuple, iter) else kind(numbers)
    batch = ds.gather(given)
    assert [bytes(r) for r in batch] == [payloads[i] for i in numbers]
    assert batch.numbers.tolist() == numbers
    assert batch.sizes.tolist() == [len(payloads[i]) for i in numbers]
    assert batch.nbytes == sum(batch.sizes)


def test_gather_accepts_negative_numbers_and_ranges(twenty):
    ds, payloads = twenty
    assert [bytes(r) for r in ds.gather([-1, -20])] == [payloads[-1], payloads[0]]
    assert ds.gather(range(5, 9)).numbers.tolist() == [5, 6, 7, 8]
    assert ds.gather(slice(15, None)).numbers.tolist() == [15, 16, 17, 18, 19]
    assert len(ds.gather([])) == 0
    assert ds[::-1].gather([0, 1]).numbers.tolist() == [19, 18]


@pytest.mark.parametrize(
    "numbers, error",
    [
        ([20], IndexError),
        ([-21], IndexError),
        ([2**64], IndexError),
        (np.array([2**63], np.uint64), IndexError),
        ([0.5], TypeError),
        (["1"], TypeError),
        ([None], TypeError),
        ([[1, 2]], TypeError),
        (np.zeros((2, 2), int), TypeError),
        (7, TypeError),
    ],
)
def test_gather_refuses_wrong_numbers(twenty, numbers, error):
    with pytest.raises(error):
        twenty[0].gather(numbers)


def test_gather_propagates_exceptions_of_iterators(twenty):
    def numbers():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        twenty[0].gather(numbers())


def test_batch_is_a_sequence(twenty):
    ds, payloads = twenty
    batch = ds.gather([4, 5, 6])
    assert len(batch) == 3 and bytes(batch[-1]) == payloads[6]
    assert [bytes(r) for r in batch[::-1]] == [payloads[6], payloads[5], payloads[4]]
    with pytest.raises(IndexError):
        batch[3]
    with pytest.raises(IndexError):
        batch[-4]
    with pytest.raises(TypeError):
        batch["0"]


def test_select_by_mask_and_numbers(digits):
    labels = digits.columns["label"]
    threes = digits.select(labels == 3)
    assert len(threes) == (labels == 3).sum()
    assert (labels[threes.numbers] == 3).all()
    assert bytes(threes[0]) == bytes(digits[int(threes.numbers[0])])
    assert (threes.columns["label"] == 3).all()
    with pytest.raises(IndexError):
        digits.select(np.ones(5, bool))
    with pytest.raises(IndexError):
        digits.select([len(digits)])
    assert len(digits.select([])) == 0


def test_split_is_even_and_complete(made):
    for n in (1, 2, 3, 7, 100):
        parts = made.split(n)
        sizes = [len(part) for part in parts]
        assert sum(sizes) == len(made) and max(sizes) - min(sizes) <= 1
        assert np.concatenate([part.numbers for part in parts]).tolist() == list(range(len(made)))
    assert [len(part) for part in made[:9].split(3)] == [3, 3, 3]
    assert [len(part) for part in made[:9].split(2)] == [5, 4]
    assert [len(part) for part in made[:8].split(3)] == [3, 3, 2]
    with pytest.raises(ValueError):
        made.split(0)


def test_ids_are_found(digits):
    assert digits.find("digit-00042") == 42
    assert digits.find(b"digit-00042") == 42
    assert digits.find_all("digit-00042") == [42]
    assert digits.find_all("nobody") == []
    with pytest.raises(KeyError, match="nobody"):
        digits.find("nobody")
    with pytest.raises(TypeError):
        digits.find(1.5)
    with pytest.raises(ValueError, match="beyond int64"):
        digits.find(1 << 70)


def test_find_returns_the_first_of_repeated_ids(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for i in range(100):
            writer.write({"key": i % 3})
    ds = recmap.open(tmp_path / "a.tfrecord", id="key")
    assert ds.find(1) == 1
    assert ds.find_all(1) == list(range(1, 100, 3))
    with pytest.raises(KeyError):
        ds.find(3)


def test_find_without_ids(made):
    with pytest.raises(ValueError, match="no ids"):
        made.find("x")


def test_schema_and_info(digits):
    assert digits.schema()["label"]["kind"] == "int64"
    assert digits.schema(sample=None) == digits.schema(sample=10**9)
    with pytest.raises(ValueError):
        digits.schema(-1)
    assert digits.info["records"] == len(digits) == 1797
    assert digits.info["fingerprint"] == digits.fingerprint


def test_verify_reports_damage_and_progress(copied_digits):
    ds = recmap.open(copied_digits)
    calls = []
    assert ds.verify(progress=lambda *call: calls.append(call))["damage"] == []
    flip(copied_digits / "digits-00001-of-00004.tfrecord", 5000)
    assert len(ds.verify(progress=None)["damage"]) == 1


def test_verify_propagates_exceptions_of_progress(digits):
    def progress(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        for _ in range(100):
            digits.verify(progress=progress)


def test_corrupt_record_error_has_its_location(tmp_path, payloads):
    (path,) = write(tmp_path, payloads)
    ds = recmap.open(path)
    flip(path, os.path.getsize(path) - 5)
    last = len(ds) - 1
    for read in (lambda: ds[last], lambda: ds.gather([0, last]), lambda: ds[-1]):
        with pytest.raises(recmap.CorruptRecordError) as caught:
            read()
        assert caught.value.record == last and caught.value.offset > 0
        assert caught.value.path.endswith("made-0.tfrecord")
        assert isinstance(caught.value, ValueError) and "recmap verify" in str(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value) and again.offset == caught.value.offset
    assert bytes(ds[0]) == payloads[0]
    assert bytes(recmap.open(path.with_name("made-0.rmx"), check="header")[last]) != b""


def test_repr_counts_the_records(digits):
    assert "1797 records" in repr(digits)
    assert "5 records of 1797" in repr(digits[:5])
    assert "2 records" in repr(digits.gather([1, 2]))
    digits.close()
    assert "closed" in repr(digits)


def test_find_in_a_view_returns_positions(digits):
    """``view[view.find(id)]`` is the record, whatever the view."""
    chosen = digits.select([70, 42, 30, 42])
    views = [digits[10:100], digits[100:10:-3], chosen, digits[5:].split(3)[0]]
    for view in views:
        for position, number in enumerate(view.numbers.tolist()):
            id = f"digit-{number:05}"
            assert bytes(view[view.find(id)]) == bytes(digits[number])
            assert position in view.find_all(id)
        with pytest.raises(KeyError, match="view does not contain the id 'digit-01796'"):
            view.find("digit-01796")
        assert view.find_all("digit-01796") == []
        with pytest.raises(KeyError, match="nobody"):
            view.find("nobody")
    assert chosen.find_all("digit-00042") == [1, 3]
    assert digits[::-1].find("digit-01796") == 0


def test_find_in_a_view_without_the_first_of_repeated_ids(tmp_path):
    write(tmp_path, [{"key": i % 3} for i in range(100)])
    view = recmap.open(tmp_path / "made-0.tfrecord", id="key")[50:]
    assert view.find(1) == 2 and view.find_all(1) == list(range(2, 50, 3))


def test_lists_and_arrays_of_positions_are_selections(twenty):
    ds, payloads = twenty
    for key in [3, 1, -1], np.array([3, 1, -1]), np.isin(np.arange(20), [3, 1, 19]):
        numbers = np.arange(20)[key].tolist()
        assert ds[key].numbers.tolist() == numbers
        assert [bytes(record) for record in ds[key]] == [payloads[i] for i in numbers]
    with pytest.raises(IndexError):
        ds[[20]]
    assert recmap.concat([ds] * 10)[np.array([3, -1], np.int8)].numbers.tolist() == [3, 199]
    batch = ds.gather(range(10))
    assert [bytes(record) for record in batch[[3, 1, -1]]] == [payloads[i] for i in (3, 1, 9)]
    with pytest.raises(IndexError):
        batch[[10]]
    with pytest.raises(TypeError):
        batch[["1"]]


def test_index_and_count(twenty):
    ds, payloads = twenty
    for sequence in ds, ds.gather(range(20)):
        assert sequence.index(b"record 7") == 7
        assert sequence.index(b"", 3) == payloads.index(b"", 3)
        assert sequence.count(b"") == payloads.count(b"") == 5
        with pytest.raises(ValueError):
            sequence.index(b"record 7", 8)
        assert sequence.count(b"nothing") == 0


def test_features_of_the_schema(tmp_path):
    rows = [{"a": 1, "b": [0.5, 1.5], "c": b"x", "m": 1}, {"a": 2, "b": [0.5, 2], "m": [b"x"]}]
    write(tmp_path, [recmap.encode_example(row) for row in rows])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    with pytest.warns(UserWarning, match="values of several kinds.*: 'm'$") as caught:
        features = ds.features()
    assert caught[0].filename == __file__
    assert features == {
        "a": recmap.FixedLen((), "int64"),
        "b": recmap.FixedLen((2,), "float32"),
        "c": recmap.VarLen("bytes"),
    }
    columns = ds.parse(slice(None), features)
    assert columns["a"].tolist() == [1, 2]
    assert columns["b"].tolist() == [[0.5, 1.5], [0.5, 2]]


def test_features_of_feature_lists(tmp_path):
    lists = {"steps": [[1, 2], [3, 4]], "words": [["a"], ["b", "c"]]}
    write(tmp_path, [recmap.encode_sequence_example({"id": 3}, lists)])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    with pytest.warns(UserWarning, match="feature lists are left out: 'steps', 'words'") as caught:
        context = ds.features()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ds.features(feature_lists=False) == context
        feature_lists = ds.features(feature_lists=True)
    assert context == {"id": recmap.FixedLen((), "int64")}
    assert feature_lists == {
        "steps": recmap.FixedLenSequence((2,), "int64"),
        "words": recmap.VarLen("bytes"),
    }
    columns, steps = ds.parse_sequence([0], context, feature_lists)
    assert columns["id"].tolist() == [3]
    assert steps["steps"].tolist() == [[[1, 2], [3, 4]]]


def test_schema_warns_about_other_records(twenty):
    """Records that are not tf.Example are not silently left out."""
    with pytest.warns(UserWarning, match="15 of 20 records are neither") as caught:
        assert twenty[0].schema() == {}
    assert caught[0].filename == __file__


@pytest.mark.parametrize("threads", [0, 2, 3, 7])
def test_gather_and_parse_give_the_same_with_any_number_of_threads(digits, threads):
    features = {
        "label": recmap.FixedLen((), "int64"),
        "id": recmap.FixedLen((), "bytes"),
        "missing": recmap.VarLen("int64"),
    }
    view = digits[::-1]
    items = np.random.default_rng(7).integers(0, len(view), 1500)
    expected = view.parse(items, features, threads=1)
    columns = view.parse(items, features, threads=threads)
    assert columns["label"].tolist() == expected["label"].tolist()
    assert list(columns["id"]) == list(expected["id"])
    assert columns["missing"].offsets.tolist() == expected["missing"].offsets.tolist()
    assert list(view.gather(items, threads=threads)) == [view[int(i)] for i in items]


def test_errors_are_the_same_with_any_number_of_threads(digits):
    for features in ({"id": recmap.FixedLen((), "int64")}, {"no": recmap.FixedLen((), "int64")}):
        messages = set()
        for threads in (1, 2, 7):
            with pytest.raises(recmap.FeatureError) as caught:
                digits.parse(range(len(digits)), features, threads=threads)
            messages.add(str(caught.value))
        assert len(messages) == 1


def test_a_number_of_threads_must_be_a_number(digits):
    with pytest.raises(TypeError):
        digits.gather([0], threads="2")
    with pytest.raises((ValueError, OverflowError)):
        digits.gather([0], threads=-1)


def test_errors_of_calls_name_the_data_set(digits):
    for call in digits.gather, digits.find, digits.select, digits.where:
        with pytest.raises(TypeError, match=rf"^Dataset\.{call.__name__}\(\) missing"):
            call()


def test_errors_name_shards_in_the_folder_of_their_index(tmp_path, monkeypatch):
    """So that the path can be pasted into a command."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("data")
    (shard,) = write("data", [b"first", b"second"])
    recmap.index(shard, "data/x.rmx", progress=None)
    flip(shard, shard.stat().st_size - 6)
    os.rename("data", "moved")
    os.mkdir("other")
    os.rename("moved/x.rmx", "other/x.rmx")
    for index, shards in ("other/x.rmx", "moved"), ("moved/x.rmx", None):
        with recmap.open(index, shards=shards) as ds:
            with pytest.raises(recmap.CorruptRecordError) as raised:
                ds[1]
            assert raised.value.path == f"{tmp_path}/moved/{shard.name}"
        os.rename(index, "moved/x.rmx")


def test_records_that_were_not_parsed_have_no_columns(digits):
    for batch in (digits.gather([0]), next(iter(recmap.Loader(digits, 5)))):
        with pytest.raises(TypeError, match="pass features to the loader"):
            batch["label"]
