"""Features and their columns: shapes, kinds, errors and lifetimes."""

import gc
import json
import math
import types

import numpy as np
import pytest
import recmap
from conftest import write

ROWS = 50


def record(i):
    """An example with features of all kinds; the number of values depends on i."""
    return {
        "label": i,
        "pair": [i, -i],
        "ratio": i / 8,
        "name": f"name {i}",
        "two": [b"a%d" % i, b""],
        "words": list(range(i % 5)) or np.zeros(0, np.int64),
        "steps": np.arange(2 * (i % 3), dtype=np.float32),
        "flag": i % 2,
        "image": np.arange(12, dtype=np.uint8).tobytes(),
        "splits": [0, i % 5, i % 5],
        "ix": [1, 0],
        "iy": [2, 2],
        "iv": [0.5, i],
        **({"rare": i} if i % 4 == 0 else {}),
    }


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    write(folder, [record(i) for i in range(ROWS)])
    return recmap.open(folder / "made-0.tfrecord")


def one(ds, feature, rows=range(ROWS), name="x"):
    return ds.parse(rows, {name: feature})[name]


@pytest.mark.parametrize(
    "dtype",
    ["int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", np.int32, int],
)
def test_scalars_have_their_dtype(ds, dtype):
    column = one(ds, recmap.FixedLen((), dtype, key="label"))
    assert column.dtype == np.dtype(dtype) and column.tolist() == list(range(ROWS))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", np.float32, float])
def test_floats_are_rounded_to_their_dtype(ds, dtype):
    column = one(ds, recmap.FixedLen((), dtype, key="ratio"))
    assert column.dtype == np.dtype("float32" if dtype is float else dtype)
    assert column.tolist() == [i / 8 for i in range(ROWS)]


def test_bool_and_bfloat16(ds):
    flags = one(ds, recmap.FixedLen((), bool, key="flag"))
    assert flags.dtype == bool and flags.tolist() == [bool(i % 2) for i in range(ROWS)]
    bits = one(ds, recmap.FixedLen((), "bfloat16", key="ratio"))
    if bits.dtype == np.uint16:
        assert (bits.astype(np.uint32) << 16).view(np.float32)[8] == 1.0


def test_fixed_lengths_have_their_shape(ds):
    assert one(ds, recmap.FixedLen(2, "int64", key="pair")).shape == (ROWS, 2)
    assert one(ds, recmap.FixedLen((2, 1), "int64", key="pair"))[3].tolist() == [[3], [-3]]
    raw = one(ds, recmap.FixedLen((3, 4), "uint8", key="image", raw=True))
    assert raw.shape == (ROWS, 3, 4) and raw[0].ravel().tolist() == list(range(12))


def test_rows_are_in_the_order_asked_for(ds):
    numbers = [7, 0, 7, -1]
    batch = ds.parse(numbers, {"label": recmap.FixedLen((), "int64")})
    assert batch["label"].tolist() == [7, 0, 7, ROWS - 1] == batch.numbers.tolist()
    view = ds[10:20].parse([0, -1], {"label": recmap.FixedLen((), "int64")})
    assert view["label"].tolist() == [10, 19]
    assert ds.parse([], {"label": recmap.FixedLen(3, "int64")})["label"].shape == (0, 3)


@pytest.mark.parametrize("copy", [False, True])
def test_bytes_are_views_or_copies(ds, copy):
    column = one(ds, recmap.FixedLen((), bytes, key="name", copy=copy))
    assert len(column) == ROWS and column.shape == (ROWS,)
    assert isinstance(column[3], memoryview) and column[3].readonly
    assert bytes(column[-1]) == b"name 49" and column.tolist()[:2] == [b"name 0", b"name 1"]
    assert column.to_numpy().dtype == object
    assert [bytes(value) for value in column[5:7]] == [b"name 5", b"name 6"]
    pairs = one(ds, recmap.FixedLen(2, bytes, key="two", copy=copy))
    assert pairs.shape == (ROWS, 2) and [bytes(v) for v in pairs[4]] == [b"a4", b""]
    assert pairs[4:6].tolist() == [[b"a4", b""], [b"a5", b""]]
    assert (column.copied is not None) == copy
    with pytest.raises(IndexError):
        column[ROWS]
    for wrong in ("0", 1.0, None):
        with pytest.raises(TypeError):
            column[wrong]


def test_variable_lengths_become_ragged_columns(ds):
    column = one(ds, recmap.VarLen(int, key="words"))
    assert column.tolist() == [list(range(i % 5)) for i in range(ROWS)]
    assert column.offsets.dtype == np.int64 and len(column.offsets) == ROWS + 1
    assert column.lengths.tolist() == [i % 5 for i in range(ROWS)]
    assert column[4].tolist() == [0, 1, 2, 3] and column[-1].tolist() == [0, 1, 2, 3]
    raw = one(ds, recmap.VarLen("uint8", key="image", raw=True))
    assert raw[3].tolist() == list(range(12))
    copied = one(ds, recmap.VarLen(bytes, key="two", copy=True))
    assert copied.values.copied is not None and copied.tolist()[3] == [b"a3", b""]
    names = one(ds, recmap.VarLen(bytes, key="two"))
    assert names.tolist()[3] == [b"a3", b""]
    with pytest.raises(TypeError):
        names["0"]


def test_sequences_are_padded(ds):
    feature = recmap.FixedLenSequence(2, "float32", default=-1.0, key="steps")
    batch = ds.parse(range(6), {"x": feature})
    assert batch["x"].shape == (6, 2, 2)
    assert batch["x"][1].tolist() == [[0, 1], [-1, -1]]
    assert batch.lengths["x"].tolist() == [0, 1, 2, 0, 1, 2]
    ragged = one(ds, recmap.FixedLenSequence(2, "float32", ragged=True, key="steps"), range(6))
    assert ragged.tolist() == [[], [[0, 1]], [[0, 1], [2, 3]]] * 2


def test_nested_partitions_become_nested_columns(ds):
    feature = recmap.Ragged("int64", [recmap.RowSplits("splits")], key="words")
    column = one(ds, feature)
    assert column.tolist()[7] == [[0, 1], []] and isinstance(column.values, recmap.RaggedColumn)
    assert column[7].tolist() == [[0, 1], []]


def test_sparse_features_become_coordinates(ds):
    column = one(ds, recmap.Sparse(["ix", "iy"], "iv", float, [3, 4]), range(3))
    assert column.dense_shape == (3, 3, 4) and len(column) == 3
    assert column.indices.tolist() == [[r, x, 2] for r in range(3) for x in (0, 1)]
    assert column.values.tolist() == [0, 0.5, 1, 0.5, 2, 0.5]
    assert column.offsets.tolist() == [0, 2, 4, 6]


def test_defaults_and_validity(ds):
    features = {
        "rare": recmap.FixedLen((), "int64", default=-1),
        "pair": recmap.FixedLen(2, "int64", default=[5, 6], key="none"),
        "text": recmap.FixedLen((), bytes, default="?", key="none"),
        "words": recmap.VarLen(int, key="rare"),
    }
    batch = ds.parse(range(5), features)
    assert batch["rare"].tolist() == [0, -1, -1, -1, 4]
    assert batch["pair"].tolist() == [[5, 6]] * 5
    assert batch["text"].tolist() == [b"?"] * 5
    assert batch.is_valid("words").tolist() == [True, False, False, False, True]
    assert batch.is_valid("rare").all()


@pytest.mark.parametrize(
    "feature, word",
    [
        (recmap.FixedLen((), "int64", key="rare"), "missing"),
        (recmap.FixedLen(3, "int64", key="pair"), "2"),
        (recmap.FixedLen((), float, key="label"), "int64"),
        (recmap.FixedLen((), "int8", key="big"), "big"),
    ],
)
def test_errors_name_feature_and_record(tmp_path, feature, word):
    write(tmp_path, [{**record(i), "big": i * 100} for i in range(4)])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    with pytest.raises(recmap.FeatureError) as caught:
        ds.parse([0, 2, 3], {"x": feature})
    assert feature.key in str(caught.value) or word in str(caught.value)
    assert caught.value.record == 2 or feature.key != "rare"
    assert isinstance(caught.value, ValueError)


def test_errors_can_be_collected(tmp_path):
    write(tmp_path, [{"a": 1}, {"b": 1}, {"a": 3}, b"\xff\xff"])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    batch = ds.parse(range(4), {"a": recmap.FixedLen((), "int64")}, on_bad_record="collect")
    assert batch.is_valid("a").tolist() == [True, False, True, False]
    rows = dict(batch.failures)
    assert isinstance(rows[1], recmap.FeatureError) and rows[1].record == 1
    assert isinstance(rows[3], recmap.CorruptRecordError)


@pytest.mark.parametrize(
    "features",
    [
        {"x": recmap.FixedLen(0, "int64")},
        {"x": recmap.FixedLen(2, "int64", default=[1, 2, 3])},
        {"x": recmap.Ragged(int, [])},
        {"x": recmap.Ragged(int, ["splits"])},
        {"x": "int64"},
        ["x"],
        {"": recmap.FixedLen((), "int64")},
    ],
)
def test_invalid_features_raise(ds, features):
    with pytest.raises((ValueError, TypeError)):
        ds.parse([0], features)


@pytest.mark.parametrize(("dtype", "default"), [(bytes, 3), ("int64", math.inf)])
def test_invalid_defaults_raise_at_once(dtype, default):
    with pytest.raises((ValueError, TypeError)):
        recmap.FixedLen((), dtype, default=default)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("FixedLen", ((), "int46"), "'int46' is unknown: did you mean 'int64'?"),
        ("FixedLen", ((), "complex64"), "'complex64' is unknown: it must be one of bool"),
        ("VarLen", ("flaot32",), "did you mean 'float32'?"),
        ("Ragged", ("int46", [recmap.RowSplits("a")]), "did you mean 'int64'?"),
        ("Sparse", ("a", "b", "int46", 3), "did you mean 'int64'?"),
        ("FixedLen", ("float32", (4,)), "did you mean FixedLen((4,), 'float32')?"),
        ("FixedLen", ("float32",), "did you mean FixedLen((), 'float32')?"),
        ("FixedLen", (np.dtype("int8"), 4), "did you mean FixedLen(4, dtype('int8'))?"),
        ("FixedLenSequence", (bytes, 2), "did you mean FixedLenSequence(2, <class 'bytes'>)?"),
        ("Sliced", ("uint16",), "did you mean Sliced((), 'uint16')?"),
        ("VarLen", ((), "int64"), "did you mean VarLen('int64')?"),
        ("VarLen", (4,), 'did you mean VarLen("int64")?'),
    ],
)
def test_invalid_features_are_refused_where_they_are_made(kind, arguments, message):
    with pytest.raises(ValueError) as caught:
        getattr(recmap, kind)(*arguments)
    assert message in str(caught.value)


def test_tensorflow_features_are_recognised_by_name(ds):
    """The classes of tf.io are recognised by name and attributes, so these can replace them."""

    def made(name, **attributes):
        return type(name, (), attributes)()

    def dtype(name):
        return types.SimpleNamespace(name=name)

    int64, string, float32 = dtype("int64"), dtype("string"), dtype("float32")
    splits = made("RowSplits", key="splits")
    features = {
        "label": made("FixedLenFeature", shape=[], dtype=int64, default_value=None),
        "rare": made("FixedLenFeature", shape=[], dtype=int64, default_value=-1),
        "name": made("FixedLenFeature", shape=[], dtype=string, default_value=""),
        "words": made("VarLenFeature", dtype=int64),
        "steps": made(
            "FixedLenSequenceFeature",
            shape=[2],
            dtype=float32,
            allow_missing=True,
            default_value=None,
        ),
        "r": made("RaggedFeature", dtype=int64, value_key="words", partitions=[splits]),
        "v": made("RaggedFeature", dtype=int64, value_key="words", partitions=()),
        "s": made(
            "SparseFeature",
            index_key=["ix", "iy"],
            value_key="iv",
            dtype=float32,
            size=[3, 4],
            already_sorted=False,
        ),
    }
    ours = {
        "label": recmap.FixedLen((), "int64"),
        "rare": recmap.FixedLen((), "int64", default=-1),
        "name": recmap.FixedLen((), bytes, default=""),
        "words": recmap.VarLen("int64"),
        "steps": recmap.FixedLenSequence(2, float),
        "r": recmap.Ragged(int, [recmap.RowSplits("splits")], key="words"),
        "v": recmap.VarLen("int64", key="words"),
        "s": recmap.Sparse(["ix", "iy"], "iv", float, [3, 4]),
    }
    theirs, same = ds.parse(range(9), features), ds.parse(range(9), ours)
    for name in features:
        if name == "s":
            assert (theirs[name].indices == same[name].indices).all()
        else:
            assert theirs[name].tolist() == same[name].tolist(), name


def test_sequence_examples_are_parsed(tmp_path):
    write(
        tmp_path,
        [
            recmap.encode_sequence_example(
                {"id": i}, {"frames": [[t, t + 0.5] for t in range(i)], "words": [[1] * i] * 2}
            )
            for i in range(4)
        ],
    )
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    context, lists = ds.parse_sequence(
        range(4),
        {"id": recmap.FixedLen((), "int64")},
        {"frames": recmap.FixedLenSequence(2, float), "words": recmap.VarLen(int)},
    )
    assert context["id"].tolist() == [0, 1, 2, 3]
    assert lists["frames"].shape == (4, 3, 2) and lists.lengths["frames"].tolist() == [0, 1, 2, 3]
    assert lists["frames"][2].tolist() == [[0, 0.5], [1, 1.5], [0, 0]]
    assert lists["words"].tolist() == [[[1] * i] * 2 for i in range(4)]
    assert list(context) == ["id"] and list(lists) == ["frames", "words"]


def test_batch_reads_like_a_dict(ds):
    batch = ds.parse(
        range(3), {"label": recmap.FixedLen((), "int64"), "ratio": recmap.FixedLen((), float)}
    )
    assert list(batch) == list(batch.keys()) == ["label", "ratio"] and len(batch) == 2
    assert "label" in batch and "x" not in batch and batch.get("x") is None
    assert dict(batch)["label"] is batch["label"]
    assert [name for name, _ in batch.items()] == ["label", "ratio"] and len(batch.values()) == 2
    with pytest.raises(KeyError):
        batch["x"]
    assert batch.row_count == 3 and "label" in repr(batch)


def test_columns_outlive_batch_and_data_set(ds, tmp_path):
    write(tmp_path, [record(i) for i in range(ROWS)])
    own = recmap.open(tmp_path / "made-0.tfrecord")
    features = {"pair": recmap.FixedLen(2, "int64"), "name": recmap.FixedLen((), bytes)}
    batch = own.parse(range(ROWS), features)
    pair, name = batch["pair"], batch["name"][7]
    del batch
    own.close()
    del own
    gc.collect()
    for _ in range(20):
        ds.parse(range(ROWS), features)
    assert pair.tolist() == [[i, -i] for i in range(ROWS)] and bytes(name) == b"name 7"


def test_a_loader_parses_in_its_threads(ds):
    features = {"label": recmap.FixedLen((), "int64"), "words": recmap.VarLen(int)}
    loader = recmap.Loader(ds, 7, shuffle=True, seed=1, features=features, threads=2)
    kept = list(loader)
    order = recmap.Shuffled(ROWS, 1).at(0, range(ROWS))
    assert np.concatenate([batch["label"] for batch in kept]).tolist() == order.tolist()
    for batch in kept:
        assert batch["words"].tolist() == [list(range(n % 5)) for n in batch.numbers]
    state = loader.state_dict()
    doubled = recmap.Loader(
        ds, 7, shuffle=True, seed=1, features=features, transform=lambda b: b["label"] * 2
    )
    doubled.load_state_dict(json.loads(json.dumps(state)))
    expected = recmap.Shuffled(ROWS, 1).at(1, range(ROWS)) * 2
    assert np.concatenate(list(doubled)).tolist() == expected.tolist()


def test_loader_skips_unparsable_records(tmp_path):
    write(tmp_path, [{"a": i} if i != 5 else {"b": 1} for i in range(20)])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    features = {"a": recmap.FixedLen((), "int64")}
    with pytest.raises(recmap.FeatureError) as caught:
        list(recmap.Loader(ds, 4, features=features))
    assert caught.value.record == 5
    loader = recmap.Loader(ds, 4, features=features, on_bad_record="skip")
    assert np.concatenate([b["a"] for b in loader]).tolist() == [i for i in range(20) if i != 5]


def test_columns_are_exported_by_dlpack(ds):
    batch = ds.parse(range(5), {"pair": recmap.FixedLen(2, "int64"), "words": recmap.VarLen(int)})
    assert np.from_dlpack(batch["pair"]).tolist() == [[i, -i] for i in range(5)]
    tensor, offsets = batch.tensor("pair"), batch.tensor("words", "offsets")
    taken, cuts = np.from_dlpack(tensor), np.from_dlpack(offsets)
    assert tensor.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(tensor.__dlpack__())  # never taken: ends with its capsule
    assert '"dltensor_versioned"' in repr(tensor.__dlpack__(max_version=(1, 0)))
    del batch, tensor, offsets
    gc.collect()
    assert taken.tolist() == [[i, -i] for i in range(5)] and cuts.tolist() == [0, 0, 1, 3, 6, 10]
    with pytest.raises(ValueError):
        ds.parse([0], {"name": recmap.FixedLen((), bytes)}).tensor("name").__dlpack__()


def test_columns_are_exported_to_arrow(ds, tmp_path):
    pa = pytest.importorskip("pyarrow")
    write(tmp_path, [record(i) for i in range(ROWS)])
    own = recmap.open(tmp_path / "made-0.tfrecord")
    features = {
        "label": recmap.FixedLen((), "int64"),
        "name": recmap.FixedLen((), bytes),
        "words": recmap.VarLen(int),
        "rare": recmap.VarLen(int),
    }
    batch = own.parse(range(ROWS), features)
    taken, table = pa.record_batch(batch), pa.table(batch)
    column, records = pa.array(batch["words"]), pa.array(own.gather([3, 1]))
    del batch
    own.close()
    del own
    gc.collect()
    for _ in range(5):
        ds.parse(range(ROWS), features)
    taken.validate(full=True)
    assert taken.column("label").to_pylist() == list(range(ROWS))
    assert taken.column("name").to_pylist() == [b"name %d" % i for i in range(ROWS)]
    assert column.to_pylist() == [list(range(i % 5)) for i in range(ROWS)]
    assert table.column("rare").to_pylist() == [[i] if i % 4 == 0 else None for i in range(ROWS)]
    assert [len(value) for value in records.to_pylist()] == [len(r) for r in ds.gather([3, 1])]


def test_unused_arrow_capsules_are_freed(ds):
    batch = ds.parse(range(5), {"name": recmap.FixedLen((), bytes)})
    for _ in range(3):
        batch.__arrow_c_array__()
        batch.__arrow_c_stream__()
        batch["name"].__arrow_c_array__()
        ds.gather([0]).__arrow_c_array__()
        ds.gather([0]).__arrow_c_stream__()
    capsules = batch.__arrow_c_array__()
    del batch
    gc.collect()
    del capsules


def test_polars_and_pandas(ds):
    batch = ds.parse(range(5), {"label": recmap.FixedLen((), "int64"), "words": recmap.VarLen(int)})
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(batch)["words"].to_list() == [list(range(i)) for i in range(5)]
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame.from_arrow(batch)
    assert frame["label"].tolist() == list(range(5))


def test_equal_features_share_their_memory(ds):
    def address(features):
        column = ds.parse(range(ROWS), features)["x"]
        return column.ctypes.data

    same = {"x": recmap.FixedLen((), "int64", key="label")}
    first = address(same)
    for features in (same, {"x": recmap.FixedLen((), "int64", key="label")}):
        assert address(features) == first


def test_features_that_differ_slightly_are_not_mistaken(ds):
    def default(value, dtype="float32", key="absent"):
        return one(ds, recmap.FixedLen((), dtype, default=value, key=key), [0])[0]

    for value in 0.0, -0.0, 0.0, 1.0, True, 1:
        assert math.copysign(1, default(value)) == math.copysign(1, value)
        assert default(value) == value
    assert [default(1, dtype) for dtype in ("int64", "int8")] == [1, 1]
    with pytest.raises(ValueError, match=r"1\.5"):
        default(1.5, "int64")
    fill = [1, 2]
    features = {"x": recmap.FixedLen((2,), "int64", default=fill, key="absent")}
    assert ds.parse([0], features)["x"].tolist() == [[1, 2]]
    fill[0] = 7
    assert ds.parse([0], features)["x"].tolist() == [[7, 2]]
    features["y"] = recmap.FixedLen((), "int64", key="label")
    assert ds.parse([3], features)["y"].tolist() == [3]
    features["y"] = recmap.VarLen("int64", key="words")
    assert ds.parse([3], features)["y"][0].tolist() == [0, 1, 2]
    for i in range(200):  # more than are kept
        column = one(ds, recmap.FixedLen((), "int64", default=i, key="absent"), [0])
        assert column.tolist() == [i]


def test_parsing_does_not_leak(ds):
    features = {"name": recmap.FixedLen((), bytes), "words": recmap.VarLen(int)}

    def use():
        batch = ds.parse(range(ROWS), features)
        batch["name"][3], batch["words"][4]
        batch.__arrow_c_array__()
        np.from_dlpack(batch.tensor("words"))

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    for _ in range(200):
        use()
    before = resident()
    for _ in range(3000):
        use()
    assert resident() - before < 300  # pages


@pytest.mark.parametrize("count", [1, 2])
def test_bytes_become_object_arrays(tmp_path, count):
    """Values of equal length must not become a two-dimensional array of numbers."""
    values = [[b"ab", b"cd"][:count], [b"ef", b"g\0"][:count]]
    write(tmp_path, [{"b": value} for value in values])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    for copy in False, True:
        feature = recmap.FixedLen((count,), bytes, copy=copy)
        column = ds.parse([0, 1], {"b": feature})["b"]
        array = np.asarray(column)
        assert array.dtype == object and array.tolist() == values
        assert np.asarray(column, dtype="S2").dtype == "S2"
        assert np.array(column, copy=True).tolist() == values
        with pytest.raises(ValueError, match="copy"):
            np.asarray(column, copy=False)
    ragged = ds.parse([0, 1], {"b": recmap.VarLen(bytes)})["b"]
    assert np.asarray(ragged.values).tolist() == sum(values, [])


@pytest.mark.parametrize(
    "dtype, default",
    [
        ("int64", 1.7),
        ("int64", -0.5),
        ("int64", "3"),
        ("int64", b"3"),
        ("int64", 2**63),
        ("int64", float("nan")),
        ("int8", 128),
        ("uint8", 1.5),
        ("uint8", -1),
        ("uint64", 2**63),
        ("bool", 0.5),
        ("bool", 2),
        ("float32", 1e39),
        ("float32", "1"),
        ("float16", 1e5),
        ("bfloat16", 3.4e38),
        ("float16", 1e-9),
        ("float16", 2.0**-25),
        ("bfloat16", -1e-41),
        ("float32", 1e-46),
        (bytes, 3),
    ],
)
def test_defaults_that_the_dtype_cannot_hold_raise(dtype, default):
    with pytest.raises((ValueError, TypeError), match=r"^the default ") as caught:
        recmap.FixedLen((), dtype, default=default)
    assert "the id" not in str(caught.value)


@pytest.mark.parametrize(
    "dtype, default",
    [
        ("int64", -(2**63)),
        ("uint8", 255.0),
        ("bool", True),
        ("float32", 3.4e38),
        ("float32", 1.4e-45),
        ("float16", 0.1),
        ("float16", 6e-8),
        ("float16", -0.0),
    ],
)
def test_defaults_at_the_limits(digits, dtype, default):
    column = digits.parse([0], {"x": recmap.FixedLen((), dtype, default=default)})["x"]
    assert column[0] == np.array(default).astype(dtype)


def test_tensorflow_sequences_that_behave_differently_raise(digits):
    class FixedLenSequenceFeature:
        shape, dtype = (), "int64"

        def __init__(self, allow_missing, default_value):
            self.allow_missing, self.default_value = allow_missing, default_value

    digits.parse([0], {"x": FixedLenSequenceFeature(True, 7)})
    with pytest.raises(ValueError, match="allow_missing=True"):
        digits.parse([0], {"x": FixedLenSequenceFeature(False, None)})
    with pytest.raises(ValueError, match="default_value"):
        digits.parse([0], {"x": FixedLenSequenceFeature(True, [])})


def test_raw_byte_order(tmp_path):
    values = np.array([[1, -2, 300], [4, 5, -(2**30)]], "i4")
    records = [{"big": v.astype(">i4").tobytes(), "little": v.tobytes()} for v in values]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    kinds = {
        "fixed": lambda **more: recmap.FixedLen((3,), "int32", raw=True, **more),
        "steps": lambda **more: recmap.FixedLenSequence((), "int32", raw=True, **more),
        "rows": lambda **more: recmap.VarLen("int32", raw=True, **more),
    }
    for kind in kinds.values():
        features = {"big": kind(key="big", little_endian=False), "little": kind(key="little")}
        batch = ds.parse([0, 1], features)
        for name in features:
            column = batch[name]
            array = column.values.reshape(2, 3) if hasattr(column, "values") else column
            assert (np.asarray(array) == values).all()
    both = {name: recmap.VarLen("int32", "big", True, little_endian=name == "a") for name in "ab"}
    batch = ds.parse([0, 1], both)
    assert (batch["a"].values.byteswap() == batch["b"].values).all()
    with pytest.raises(ValueError, match="raw=True"):
        ds.parse([0], {"x": recmap.FixedLen((), "int64", little_endian=False)})


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float64"])
@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("unknown", [b"", b"\x12\x00"])  # a field that the fast path leaves alone
def test_raw_fixed_length(tmp_path, dtype, little_endian, unknown):
    """As tf.io.decode_raw: truncated, or padded with zero bytes, also within an element."""
    order = np.dtype(dtype).newbyteorder("<" if little_endian else ">")
    size = 5 * order.itemsize
    texts = [bytes(range(1, 1 + length)) for length in range(3 * size)]
    write(tmp_path, [unknown + recmap.encode_example({"x": text}) for text in texts])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    feature = recmap.FixedLen(5, dtype, raw=True, little_endian=little_endian, fixed_length=size)
    column = ds.parse(range(len(ds)), {"x": feature})["x"]
    for row, text in zip(column, texts, strict=True):
        assert (
            row.tobytes()
            == np.frombuffer(text[:size].ljust(size, b"\0"), order).astype(dtype).tobytes()
        )
    with pytest.raises(recmap.FeatureError):
        ds.parse(range(len(ds)), {"x": recmap.FixedLen(5, dtype, raw=True)})
    with pytest.raises(ValueError, match=f"must be {size}"):
        ds.parse([0], {"x": recmap.FixedLen(5, dtype, raw=True, fixed_length=size + 1)})
