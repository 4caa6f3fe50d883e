"""Values of bytes that hold elements: in several values, compressed; unsigned numbers as bits."""

import zlib

import numpy as np
import pytest
import recmap

DTYPES = ["bool", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"]


def saved(folder, records, **options):
    with recmap.Writer(folder / "x.tfrecord", index=folder / "x.rmx", **options) as writer:
        for record in records:
            writer.write(record)
    return recmap.open(folder / "x.rmx")


def drawn(random, dtype, *shape):
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind == "f":
        return random.normal(size=shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


@pytest.mark.parametrize("raw", [True, "zlib"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_follow_each_other(tmp_path, dtype, raw):
    random = np.random.default_rng(3)
    encode = zlib.compress if raw == "zlib" else bytes
    arrays = [drawn(random, dtype, count, 2, 3) for count in (4, 0, 1, 9)]
    fours = [drawn(random, dtype, 4, 2, 3) for _ in arrays]
    ds = saved(
        tmp_path,
        [
            {
                "steps": [encode(step.tobytes()) for step in array],
                "all": encode(array.tobytes()),
                "four": [encode(step.tobytes()) for step in four],
            }
            for array, four in zip(arrays, fours, strict=True)
        ],
    )
    columns = ds.parse(
        range(4),
        {
            "steps": recmap.FixedLenSequence((2, 3), dtype, ragged=True, raw=raw),
            "all": recmap.FixedLenSequence((2, 3), dtype, ragged=True, raw=raw),
            "flat": recmap.VarLen(dtype, raw=raw, key="steps"),
            "four": recmap.FixedLen((4, 2, 3), dtype, raw=raw),
        },
    )
    for i, array in enumerate(arrays):
        for name in ("steps", "all"):
            assert columns[name][i].dtype == dtype
            np.testing.assert_array_equal(columns[name][i], array)
        np.testing.assert_array_equal(columns["flat"][i], array.ravel())
        np.testing.assert_array_equal(columns["four"][i], fours[i])


@pytest.mark.parametrize("raw", [True, "zlib"])
def test_windows_of_values(tmp_path, raw):
    random = np.random.default_rng(4)
    encode = zlib.compress if raw == "zlib" else bytes
    episodes = [drawn(random, "uint16", count, 2, 3) for count in (5, 1, 8)]
    records = [
        {"depth": [encode(step.tobytes()) for step in episode], "i": np.arange(len(episode))}
        for episode in episodes
    ]
    ds = saved(tmp_path, records, count=["i"])
    order = recmap.Windows(ds.counts["i"], 4, pad=(1, 0), seed=5)
    features = {
        "depth": recmap.Sliced((2, 3), "uint16", raw=raw, pad="edge"),
        "i": recmap.Sliced((), "int64", pad="edge"),
    }
    loader = recmap.Loader(ds, 3, order=order, features=features, epochs=2)
    seen = 0
    for batch in loader:
        items, splits = batch.pieces
        for row, first in enumerate(splits[:-1]):
            episode = episodes[items[first, 0]]
            np.testing.assert_array_equal(batch["depth"][row], episode[batch["i"][row]])
            seen += 1
    assert seen == 2 * len(order)


def refused(ds, feature, message):
    with pytest.raises(recmap.FeatureError, match=message) as raised:
        ds.parse([0], {"x": feature})
    return raised.value


STREAM = zlib.compress(np.arange(6, dtype=np.int32).tobytes())
SIX = recmap.FixedLen(6, "int32", raw="zlib")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"", "not a ZLIB stream: it does not begin as one"),
        (b"no stream", "not a ZLIB stream: it does not begin as one"),
        (STREAM[:-1], "not a ZLIB stream: it is cut off"),
        (STREAM[:-5], "not a ZLIB stream: it is cut off"),
        (STREAM[:-1] + b"\xff", "not a ZLIB stream: its checksum does not match"),
        (STREAM + b"x", "not a ZLIB stream: other bytes follow"),
        (zlib.compress(bytes(20)), "1 bytes value with 5 int32 values each where .6. needs 6"),
        (zlib.compress(bytes(28)), "more values than are wanted"),
        (zlib.compress(bytes(23)), "bytes value 0 has 23 bytes when it is inflated"),
        ([STREAM, STREAM], "more values than are wanted"),
        (3, "holds int64, but bytes was requested"),
    ],
)
def test_bad_streams(tmp_path, value, message):
    refused(saved(tmp_path, [{"x": value}]), SIX, message)


def test_advice_for_values_that_are_not_compressed(tmp_path):
    ds = saved(tmp_path, [{"x": np.arange(6, dtype=np.int32).tobytes()}])
    assert "use `raw=True`" in refused(ds, SIX, "not a ZLIB stream").advice
    assert ds.parse([0], {"x": recmap.FixedLen(6, "int32", raw=True)})["x"].tolist() == [
        [0, 1, 2, 3, 4, 5]
    ]


def test_streams_that_inflate_to_too_much(tmp_path):
    """They are stopped at the limit, and where the shape is known, there."""
    ds = saved(tmp_path, [{"x": zlib.compress(bytes(300 << 20))}])
    refused(ds, SIX, "more values than are wanted")
    refused(ds, recmap.VarLen("uint8", raw="zlib"), "more values than are wanted")


def test_values_of_different_sizes(tmp_path):
    ds = saved(tmp_path, [{"x": [b"abcd", b"ab"]}])
    refused(ds, recmap.VarLen("uint8", raw=True), "bytes value 1 has 2 bytes")


def test_missing_values_have_the_default(tmp_path):
    ds = saved(tmp_path, [{"y": 1}, {"x": STREAM}])
    feature = recmap.FixedLen(6, "int32", raw="zlib", default=7)
    assert ds.parse([0, 1], {"x": feature})["x"].tolist() == [[7] * 6, [0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda **flag: recmap.FixedLen((), bytes, **flag), "copy"),
        (lambda **flag: recmap.FixedLen((), "int32", **flag), "raw"),
        (lambda **flag: recmap.VarLen("int32", raw=True, **flag), "little_endian"),
        (lambda **flag: recmap.FixedLenSequence((), "int64", **flag), "ragged"),
        (lambda **flag: recmap.Ragged("int64", [], **flag), "copy"),
        (lambda **flag: recmap.Sparse("i", "v", "int64", 9, **flag), "already_sorted"),
        (lambda **flag: recmap.Sliced((), bytes, **flag), "copy"),
    ],
)
def test_words_are_not_true_or_false(made, make, name):
    with pytest.raises((TypeError, ValueError), match=f"{name} (must be True or False|is True)"):
        made.parse([0], {"a": make(**{name: "no"})})
    with pytest.raises(TypeError, match=f"{name} must be True or False, not 2"):
        made.parse([0], {"a": make(**{name: 2})})


def test_refused_arguments():
    with pytest.raises(ValueError, match='raw is True, or "zlib"'):
        recmap.FixedLen(6, "int32", raw="gzip")._row("x")
    with pytest.raises(ValueError, match="little_endian=False needs raw=True"):
        recmap.VarLen("int32", raw="zlib", little_endian=False)._row("x")
    with pytest.raises(ValueError, match="fixed_length= needs raw=True"):
        recmap.FixedLen(6, "int32", raw="zlib", fixed_length=24)._row("x")


# ---- Unsigned numbers that are stored as the int64 with their bits.


def test_bits(tmp_path):
    numbers = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    ds = saved(tmp_path, [{"x": numbers.view(np.int64)}])
    for feature in (recmap.FixedLen(5, "uint64_bits"), recmap.VarLen("uint64_bits")):
        column = ds.parse([0], {"x": feature})["x"]
        assert column[0].dtype == np.uint64 and column[0].tolist() == numbers.tolist()
    error = refused(ds, recmap.FixedLen(5, "uint64"), "value 3 is -9223372036854775808")
    assert 'use `dtype="uint64_bits"`' in error.advice


def test_bits_in_rows(tmp_path):
    numbers = np.arange(10, dtype=np.uint64) + np.uint64(2**63)
    ds = saved(tmp_path, [{"x": numbers.view(np.int64)}], count=["x"])
    order = recmap.Windows(ds.counts["x"], 10)
    loader = recmap.Loader(ds, 1, order=order, features={"x": recmap.Sliced((), "uint64_bits")})
    batch = next(iter(loader))
    assert batch["x"].dtype == np.uint64 and batch["x"][0].tolist() == numbers.tolist()
