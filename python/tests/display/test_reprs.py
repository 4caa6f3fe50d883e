"""What the objects of the package say that they are: one short line of plain text."""

import numpy as np
import pytest
import recmap
from recmap._display.text import bytes_text, printable, size_text

FEATURES = {"id": recmap.FixedLen((), "bytes"), "label": recmap.FixedLen((), "int32")}


def parse(folder, features, *records):
    with recmap.Writer(folder / "made.tfrecord") as writer:
        for record in records:
            writer.write(record)
    return recmap.open(folder / "made.tfrecord").parse(slice(None), features)


def test_batches_show_their_size(digits):
    assert repr(digits.gather([1, 2])) == "<recmap.RecordBatch of 2 records, 240 bytes>"
    batch = digits.parse([5, 1], FEATURES)
    assert repr(batch) == "<recmap.ColumnBatch of 2 rows: id (bytes), label (int32)>"
    ids = "<recmap.BytesColumn of shape (2,): digit-00005, digit-00001>"
    assert repr(batch["id"]) == ids and repr(batch["id"][:0]).endswith("shape (0,)>")
    assert repr(digits.parse([5], {})) == "<recmap.ColumnBatch of 1 row>"


def test_columns_of_many_values(tmp_path):
    features = {
        "sparse": recmap.Sparse(["at"], "value", "float32", [9]),
        "tokens": recmap.VarLen("int64"),
        "words": recmap.FixedLen((4,), "bytes"),
    }
    record = {"at": [2], "value": [0.5], "tokens": [1, 2, 3], "words": ["a", "b", "c", "d"]}
    batch = parse(tmp_path, features, record, {**record, "tokens": [4]})
    assert repr(batch) == (
        "<recmap.ColumnBatch of 2 rows: sparse (sparse float32), tokens (ragged int64), "
        "words (bytes [4])>"
    )
    assert repr(batch["tokens"]) == "<recmap.RaggedColumn of 2 rows: 4 values of int64>"
    assert repr(batch["sparse"]) == "<recmap.SparseColumn of shape (2, 9): 2 values of float32>"
    assert repr(batch["words"]) == "<recmap.BytesColumn of shape (2, 4): a, b, c, 5 more>"


def test_nested_rows_are_shown_cut():
    inner = recmap.RaggedColumn(np.arange(6), np.array([0, 1, 3, 6]))
    nested = recmap.RaggedColumn(inner, np.array([0, 2, 3]))
    assert repr(nested).endswith("of 2 rows: 3 inner rows, 6 values of int64>")
    assert repr(nested[1]) == "<recmap.RaggedColumn of 1 row: 3 values of int64>"


def test_batches_of_rows(tmp_path):
    features = {"tokens": recmap.Sliced((), "int64")}
    with recmap.Writer(tmp_path / "made.tfrecord") as writer:
        writer.write({"tokens": [1, 2, 3, 4]})
    ds = recmap.open(tmp_path / "made.tfrecord", count=["tokens"])
    order = recmap.Chunked(ds.counts["tokens"], 2)
    assert repr(order) == "<recmap.Chunked of 2 rows: records 1, seed 0, size 2>"
    batch = next(iter(recmap.Loader(ds, 2, order=order, features=features)))
    assert repr(batch).startswith("<recmap.RowBatch of 2 rows: tokens (int64 [2])")


def test_orders_show_their_parameters():
    shuffled = recmap.Shuffled(10, seed=7)
    assert repr(shuffled) == "<recmap.Shuffled of 10 positions: seed 7>"
    assert repr(recmap.Sequential(3)) == "<recmap.Sequential of 3 positions>"
    view = "<recmap.Order of 2 positions: count 2, base shuffled>"
    assert repr(recmap.Shuffled(2).select([4, 3])) == view
    mixture = recmap.Mixture([shuffled, recmap.Sequential(10)], [1, 1])
    assert (
        repr(mixture)
        == "<recmap.Mixture of 20 positions: sources shuffled, sequential, stop first>"
    )
    many = recmap.Mixture([shuffled] * 100, [1] * 100)
    assert "96 more" in repr(many) and len(repr(many)) < 200
    assert "labels" not in repr(recmap.Grouped([1, 2, 1], 2))  # a digest


def test_loaders_and_their_iterators(digits):
    loader = recmap.Loader(digits, 256)
    place = "epoch 0, position 256"
    steps = iter(loader)
    next(steps)
    assert repr(loader) == f"<recmap.Loader of 1797 positions, {place}, rank 0 of 1>"
    assert repr(steps) == f"<recmap iterator of a loader: {place}>"
    iter(loader)
    assert repr(steps) == "<recmap iterator of a loader, ended>"


def test_writers_show_their_progress(tmp_path):
    with recmap.Writer(tmp_path / "{shard}.tfrecord", shards=9) as writer:
        writer.write(b"x")
        assert repr(writer).endswith("1.tfrecord', 7 more: 1 record>")
    assert repr(writer).endswith("1 record, closed>")


def test_objects_for_torch(digits):
    pytest.importorskip("torch")
    sampler = recmap.torch.Sampler(recmap.Sequential(10), 2, rank=1, world_size=2)
    assert repr(sampler) == (
        "<recmap.torch.Sampler of <recmap.Sequential of 10 positions>, epoch 0, position 0, "
        "rank 1 of 2>"
    )
    loader = recmap.torch.Loader(digits, 8, features=FEATURES)
    assert repr(loader).startswith("<recmap.torch.Loader of 1797 positions")
    assert repr(recmap.torch.MapDataset(digits, FEATURES)).endswith("1797 records>: id, label>")
    assert repr(recmap.torch.MapDataset(digits)).endswith("1797 records>: bytes>")


def test_untrusted_text_stays_text(tmp_path):
    name = "a\x1b[31m\n\u202e"
    batch = parse(tmp_path, {name: recmap.FixedLen((), "bytes")}, {name: b"\x1b]0;owned\x07"})
    for text in repr(batch), repr(batch[name]):
        assert text.isprintable() and "\x1b" not in text
    assert r"a\x1b[31m\n\u202e" in repr(batch)


def test_values_are_cut():
    assert printable("x" * 1000, 20) == "x" * 17 + "..."
    assert bytes_text("\u00e4".encode() * 1000, 20) == "\u00e4" * 17 + "..."
    assert bytes_text(b"\xff" * 20_000, 12) == r"b'\xff\xff\xff'... (20.0 kB)"
    assert bytes_text(b"\xff\x01") == r"b'\xff\x01' (2 bytes)"
    assert bytes_text(b"") == ""
    assert [size_text(n) for n in (1, 9999, 244_392, 10**16)] == [
        "1 byte",
        "9999 bytes",
        "244.4 kB",
        "10000.0 TB",
    ]
