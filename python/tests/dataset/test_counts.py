"""Element counts: they are what Python counts, through every way to build an index."""

from __future__ import annotations

import pickle
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
import recmap


def make_records(count, seed=1):
    """Random examples with int64 tokens, raw uint16 tokens, floats and frames; some lack them."""
    source = random.Random(seed)
    records, expected = [], {"tokens": [], "raw": [], "weights": [], "frames": []}
    for _ in range(count):
        features = {"other": 1}
        for name in expected:
            size = source.choice([0, 1, 7, 300])
            present = source.random() < 0.8
            expected[name].append(size if present else 0)
            if present and name == "tokens":
                features[name] = np.array([source.getrandbits(60) for _ in range(size)], np.int64)
            elif present and name == "raw":
                features[name] = bytes(2 * size)
            elif present and name == "weights":
                features[name] = np.zeros(size, np.float32)
            elif present:
                features[name] = [bytes(source.randrange(9)) for _ in range(size)]
        records.append(recmap.encode_example(features))
    return records, {name: np.array(values) for name, values in expected.items()}


COUNT = {"tokens": None, "raw": "uint16", "weights": None, "frames": None}


def write(path, records):
    with recmap.Writer(path) as writer:
        for record in records:
            writer.write(record)


@pytest.fixture
def shards(tmp_path):
    records, expected = make_records(600)
    write(tmp_path / "a-0.tfrecord", records[:250])
    write(tmp_path / "a-1.tfrecord", records[250:])
    return tmp_path, records, expected


def check(ds, expected):
    assert list(ds.counts) == list(expected)
    for name, values in expected.items():
        counts = ds.counts[name]
        assert counts.dtype == np.int64 and counts.shape == (len(ds),)
        np.testing.assert_array_equal(counts, values)


def test_counts_equal_those_of_python(shards):
    folder, _, expected = shards
    ds = recmap.open(folder, count=COUNT)
    check(ds, expected)
    assert ds.info["counts"][:2] == [{"name": "tokens"}, {"name": "raw", "dtype": "uint16"}]
    assert len(recmap.open(folder)) == 600
    check(recmap.open(folder, count={"raw": np.uint16}), expected)


def test_append_merge_index_writer_and_rebuild_give_the_same_index(shards):
    folder, records, expected = shards
    paths = [folder / "a-0.tfrecord", folder / "a-1.tfrecord"]
    whole = recmap.index(paths, folder / "whole.rmx", count=COUNT)
    recmap.open(paths[:1], count=COUNT, index=folder / "b.rmx")
    check(recmap.open(paths, index=folder / "b.rmx"), expected)
    parts = [recmap.index(p, folder / f"part{i}.rmx", count=COUNT) for i, p in enumerate(paths)]
    counts = recmap.merge(folder / "merged.rmx", parts)
    assert set(counts) == {"records", "shards", "bytes", "ids", "damage", "damaged_bytes"}
    for name in "b.rmx", "merged.rmx":
        assert (folder / name).read_bytes() == Path(whole).read_bytes()
    check(recmap.open(paths, index=whole, id="other", rebuild=True), expected)
    with recmap.Writer(folder / "w.tf", index=folder / "w.rmx", count=COUNT) as writer:
        for record in records:
            writer.write(record)
    check(recmap.open(folder / "w.rmx"), expected)


def test_parts_with_other_counts_do_not_merge(shards):
    folder, _, _ = shards
    first = recmap.index(folder / "a-0.tfrecord", folder / "1.rmx", count=["raw"])
    for count in ({"raw": "uint16"}, [], ["raw", "tokens"]):
        other = recmap.index(folder / "a-1.tfrecord", folder / "2.rmx", count=count)
        with pytest.raises(recmap.StateMismatchError, match="other ids, columns or counts"):
            recmap.merge(folder / "m.rmx", [first, other])


def test_an_index_without_the_counts_is_stale(shards):
    folder, _, expected = shards
    recmap.open(folder, count={"raw": "uint16"})
    with pytest.raises(recmap.StaleIndexError, match="no element counts of 'tokens'"):
        recmap.open(folder, count=["tokens"])
    with pytest.raises(recmap.StaleIndexError, match="counts uint16 of 'raw', but values are"):
        recmap.open(folder, count=["raw"])
    with pytest.raises(recmap.StaleIndexError, match="counts uint16 of 'raw', but int8 are"):
        recmap.open(folder, count={"raw": "int8"})
    ds = recmap.open(folder, count=["tokens"], rebuild=True)
    assert list(ds.counts) == ["raw", "tokens"]
    np.testing.assert_array_equal(ds.counts["raw"], expected["raw"])


def test_a_missing_count_names_those_that_exist(shards):
    folder, _, _ = shards
    ds = recmap.open(folder, count=["tokens", "frames"])
    with pytest.raises(KeyError) as error:
        ds.counts["token"]
    assert "It has the counts of tokens, frames" in str(error.value)
    assert "count=['token'] and rebuild=True" in str(error.value)
    with pytest.raises(recmap.ColumnNotFoundError, match="It has none"):
        recmap.open(folder, index=folder / "none.rmx").counts["x"]


def test_row_orders_take_the_packed_form(shards):
    folder, _, expected = shards
    counts = recmap.open(folder, count=COUNT).counts["tokens"]
    order = recmap.Chunked(counts, 64, seed=3)
    assert counts._array is None  # nothing was expanded
    other = recmap.Chunked(expected["tokens"], 64, seed=3)
    assert order.describe() == other.describe()
    assert order.pieces(1, 5).tolist() == other.pieces(1, 5).tolist()
    assert pickle.loads(pickle.dumps(order)).describe() == order.describe()


def test_counts_behave_like_an_array(shards):
    folder, _, expected = shards
    counts, values = recmap.open(folder, count=COUNT).counts["frames"], expected["frames"]
    assert counts.sum() == values.sum() and counts.max() == 300 and len(counts) == 600
    assert counts[7] == values[7] and counts[-3:].tolist() == values[-3:].tolist()
    assert list(counts) == values.tolist() and (counts > 5).sum() == (values > 5).sum()
    assert np.mean(counts) == values.mean() and (counts + counts).tolist() == (2 * values).tolist()
    assert np.asarray(counts).dtype == np.int64 and np.array(counts, np.int32).dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(counts)[0] = 1
    assert np.array_equal(pickle.loads(pickle.dumps(counts)), values)


def test_views_have_the_counts_of_their_records(shards):
    folder, _, expected = shards
    ds = recmap.open(folder, count=COUNT)
    values = expected["tokens"]
    np.testing.assert_array_equal(ds[10:500:3].counts["tokens"], values[10:500:3])
    np.testing.assert_array_equal(ds[[5, 2, 599]].counts["tokens"], values[[5, 2, 599]])
    np.testing.assert_array_equal(ds.select(ds.counts["tokens"] == 300).counts["tokens"], 300)


def test_a_concatenation_has_the_counts_of_all_its_parts(shards):
    folder, _, expected = shards
    first = recmap.open(folder / "a-0.tfrecord", count=COUNT)
    counted = {"frames": None, "raw": "uint8", "tokens": None}
    second = recmap.open(folder / "a-1.tfrecord", count=counted)
    both = recmap.concat([first, second, first[:7]])
    assert list(both.counts) == ["tokens", "frames"]
    for name in both.counts:
        values = expected[name]
        np.testing.assert_array_equal(both.counts[name], [*values, *values[:7]])
    with pytest.raises(KeyError, match="no element counts of 'raw'"):
        both.counts["raw"]


def test_feature_lists_count_steps(tmp_path):
    sizes = [3, 0, 1, 12]
    with recmap.Writer(tmp_path / "s.tfrecord") as writer:
        for size in sizes:
            lists = {"steps": [[1, 2]] * size}
            writer.write(recmap.encode_sequence_example({"context": [1] * 5}, lists))
        writer.write(recmap.encode_sequence_example({"context": [1] * 5}, {}))
    ds = recmap.open(tmp_path / "s.tfrecord", count=["steps", "context"])
    assert ds.counts["steps"].tolist() == [*sizes, 0]
    assert ds.counts["context"].tolist() == [5] * 5


def test_bytes_that_are_not_whole_numbers_name_the_record(tmp_path):
    write(tmp_path / "a.tfrecord", [recmap.encode_example({"raw": bytes(n)}) for n in (4, 2, 3)])
    with pytest.raises(recmap.FeatureError) as error:
        recmap.open(tmp_path / "a.tfrecord", count={"raw": "uint16"})
    assert error.value.record == 2 and "3 bytes" in error.value.message
    assert 'count={"raw": DTYPE}' in error.value.advice
    with pytest.raises(recmap.FeatureError, match="is a list of int64"):
        write(tmp_path / "b.tfrecord", [recmap.encode_example({"raw": [1, 2]})])
        recmap.open(tmp_path / "b.tfrecord", count={"raw": "uint16"})


def test_a_feature_that_no_record_has_warns(shards):
    folder, _, _ = shards
    with pytest.warns(UserWarning, match="no record has elements of the feature 'token'"):
        recmap.open(folder, count=["token", "tokens"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(folder, count=["tokens"], index=folder / "b.rmx")


@pytest.mark.parametrize("count", ["tokens", {"raw": "bytes"}, {"raw": "uint17"}, ["a", "a"], [""]])
def test_invalid_counts_are_refused(shards, count):
    folder, _, _ = shards
    with pytest.raises((TypeError, ValueError)):
        recmap.open(folder, count=count)


def test_an_empty_data_set(tmp_path):
    write(tmp_path / "a.tfrecord", [])
    ds = recmap.open(tmp_path / "a.tfrecord", count=["tokens"])
    assert ds.counts["tokens"].tolist() == [] and len(recmap.Packed(ds.counts["tokens"], 8)) == 0


def test_documents_take_few_bytes(tmp_path):
    """At most 2.5 bytes a record for lengths of documents, 0.25 if all are equal."""
    source = np.random.default_rng(5)
    lengths = np.minimum(source.lognormal(6.1, 1.1, 20000), 20000).astype(int)
    records = {
        "even": [recmap.encode_example({"t": bytes(64)})] * 20000,
        "varied": [recmap.encode_example({"t": bytes(n)}) for n in lengths],
    }
    for name, limit in ("even", 0.25), ("varied", 2.5):
        write(tmp_path / f"{name}.tfrecord", records[name])
        plain = recmap.index(tmp_path / f"{name}.tfrecord", tmp_path / "plain.rmx")
        counted = recmap.index(
            tmp_path / f"{name}.tfrecord", tmp_path / "counted.rmx", count={"t": "uint8"}
        )
        sizes = [recmap.open(path).info["index_bytes"] for path in (plain, counted)]
        assert sizes[1] - sizes[0] <= limit * 20000 + 3 * 4096


def test_counts_that_are_hardly_meant_are_warned_of(tmp_path):
    write(tmp_path / "made-0.tfrecord", [{"image": b"pixels", "tokens": [1, 2], "one": 1}] * 3)
    path = tmp_path / "made.rmx"
    with pytest.warns(UserWarning, match=r"no count of 'image' exceeds 1.*\{'image': \"uint8\"\}"):
        recmap.index(tmp_path / "made-0.tfrecord", path, count=["image"])
    with pytest.warns(UserWarning, match="all counts are 0.*Did you mean 'tokens'"):
        recmap.index(tmp_path / "made-0.tfrecord", path, count=["image", "tokns"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, count in {"a": {"image": "uint8"}, "b": ["tokens", "one"]}.items():
            recmap.index(tmp_path / "made-0.tfrecord", tmp_path / f"{name}.rmx", count=count)
