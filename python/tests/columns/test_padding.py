"""Sequences that are truncated and padded to given lengths."""

import numpy as np
import pytest
import recmap
from conftest import write

LENGTHS = [3, 0, 7, 1, 12, 5, 4, 4, 9, 2] * 40


def values(number):
    return [100 * number + i for i in range(LENGTHS[number])]


@pytest.fixture
def ds(tmp_path):
    def record(number):
        steps = values(number)
        return recmap.encode_sequence_example(
            {
                "x": steps,
                "pairs": [float(v) for step in steps for v in (step, -step)],
                "raw": np.array(steps, "<u2").tobytes(),
                "text": [str(step).encode() for step in steps],
            },
            {"steps": [[step, step + 1] for step in steps]},
        )

    return recmap.open(write(tmp_path, map(record, range(len(LENGTHS)))))


def padded(rows, length, limit, fill=0):
    out = np.full((len(rows), length), fill)
    for row, steps in zip(out, rows, strict=True):
        kept = steps[:limit]
        row[: len(kept)] = kept
    return out


def parse(ds, rows, threads=1, lists=None, **features):
    return ds.parse_sequence(rows, features, lists or {}, threads=threads)


CASES = [(None, None), (4, None), (None, 5), (4, 4), (6, 4), (100, 16), (1, 1), (4, 3)]


@pytest.mark.parametrize(("limit", "unit"), CASES)
def test_shapes_and_values(ds, limit, unit):
    more = {"max_length": limit, "pad_to": unit}
    for rows, threads in ([0, 1, 2], 1), ([1, 1], 1), ([0, 3, 0, 3], 1), (range(400), 3):
        steps = [values(row) for row in rows]
        kept = [min(len(row), limit or 99) for row in steps]
        unit_or_one = unit or 1
        length = -(-max(kept) // unit_or_one) * unit_or_one
        length = max(length, unit or 0)
        context, lists = parse(
            ds,
            rows,
            threads,
            {"steps": recmap.FixedLenSequence((2,), "int64", **more)},
            x=recmap.FixedLenSequence((), "int32", default=-1, **more),
            other=recmap.FixedLenSequence((), "int32", key="x"),
            pairs=recmap.FixedLenSequence((2,), "float32", **more),
            raw=recmap.FixedLenSequence((), "uint16", raw=True, **more),
            text=recmap.FixedLenSequence((), bytes, **more),
        )
        assert (context["x"] == padded(steps, length, limit, -1)).all()
        assert context["x"].shape == (len(rows), length)
        assert context["other"].shape[1] == max(map(len, steps))
        expected = padded(steps, length, limit)
        assert (context["pairs"] == np.stack([expected, -expected], axis=2)).all()
        assert (context["raw"] == expected.astype("uint16")).all()
        texts = np.asarray(context["text"])
        assert texts.shape == expected.shape
        assert all(
            texts[i, j] == (str(steps[i][j]).encode() if j < kept[i] else b"")
            for i in range(len(rows))
            for j in range(length)
        )
        ends = np.where(np.arange(length) < np.array(kept)[:, None], expected + 1, 0)
        assert (lists["steps"] == np.stack([expected, ends], axis=2)).all()


def test_ragged_and_arrow(ds):
    feature = recmap.FixedLenSequence((), "int64", ragged=True, max_length=4)
    context, _ = parse(ds, range(10), x=feature)
    assert [row.tolist() for row in context["x"]] == [values(row)[:4] for row in range(10)]
    pyarrow = pytest.importorskip("pyarrow")
    padded_column = recmap.FixedLenSequence((), "int64", max_length=4, pad_to=8)
    context, _ = parse(ds, range(10), x=padded_column)
    table = pyarrow.record_batch(context)
    found = [row or [] for row in table["x"].to_pylist()]  # null without values
    assert found == [values(row)[:4] for row in range(10)]


def test_every_batch_of_a_loader_has_one_shape(ds):
    feature = recmap.FixedLenSequence((), "int64", max_length=6, pad_to=6)
    loader = recmap.Loader(ds, 8, shuffle=True, features={"x": feature}, feature_lists={})
    assert {context["x"].shape for context, _ in loader} == {(8, 6)}


def test_lengths_out_of_range_are_refused(ds):
    for wrong in 0, -1:
        with pytest.raises(ValueError, match=r"max_length must (be at least 1|not be negative)"):
            parse(ds, [0], x=recmap.FixedLenSequence((), "int64", max_length=wrong))
        with pytest.raises(ValueError, match=r"pad_to must (be at least 1|not be negative)"):
            parse(ds, [0], x=recmap.FixedLenSequence((), "int64", pad_to=wrong))
    with pytest.raises(ValueError, match="an unpadded sequence cannot have pad_to"):
        parse(ds, [0], x=recmap.FixedLenSequence((), "int64", ragged=True, pad_to=2))
    with pytest.raises(ValueError, match="more than 2\\^31 elements"):
        parse(ds, [0], x=recmap.FixedLenSequence((), "int64", pad_to=2**40))
