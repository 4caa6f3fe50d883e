"""Mistakes that are easily made: each is an error or a warning that says what was expected."""

import os
import re
import sys
import warnings

import numpy as np
import pytest
import recmap
from conftest import DIGITS
from recmap._example import elements
from recmap._loader.launcher import share_of

DO_NOT_FIT = "numbers of records do not fit 64 bits"
LABEL = {"label": recmap.FixedLen((), "int64")}


@pytest.fixture
def digits_copy(copied_digits):
    return recmap.open(copied_digits, id="id", count=["image"])


def fails(call, kind, message):
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (42, "the source must be a path or a list of paths, not 42"),
        (None, "the source must be a path or a list of paths, not None"),
        (["a", 42], "the source must be a path or a list of paths, and 42 is not one"),
    ],
)
def test_wrong_sources_are_explained(source, message):
    fails(lambda: recmap.open(source), TypeError, message)
    fails(lambda: recmap.index(source), TypeError, message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id": ["id"]}, "id must be the name of one feature, not ['id']"),
        ({"lift": "label"}, "lift must be a list of names: ['label']"),
        ({"lift": 3}, "lift must be a list of names, not 3"),
        ({"lift": [3]}, "lift must be a list of names, and 3 is not one"),
        ({"count": 3}, "count must be a list of names, not 3"),
        ({"count": {b"x": "int8"}}, "count must be a list of names, and b'x' is not one"),
    ],
)
def test_names_of_features(arguments, message, digits_index):
    fails(lambda: recmap.open(DIGITS, **arguments), TypeError, message)
    fails(lambda: recmap.open(digits_index, **arguments), TypeError, message)


def test_sources_that_are_open(digits):
    message = "the source must be a path or a list of paths, not a data set, which is open"
    fails(lambda: recmap.open(digits), TypeError, message)
    with open(__file__, "rb") as stream:
        message = (
            "the source must be a path or a list of paths, not an open file: pass its name, "
            f"{__file__!r}"
        )
        fails(lambda: recmap.open(stream), TypeError, message)
    message = "concat needs data sets in a list: write recmap.concat([first, second])"
    fails(lambda: recmap.concat(digits), TypeError, message)


def test_items_that_are_bools_or_tensors(digits):
    joined = recmap.join({"a": digits, "b": digits})
    for wrong in (True, False):
        with pytest.raises(TypeError, match="an index must be an integer"):
            digits[wrong]
        with pytest.raises(TypeError, match="an index must be an integer"):
            joined[wrong]
    torch = pytest.importorskip("torch")
    for items in (torch.tensor([1, 2]), torch.arange(len(digits)) < 2):
        assert len(digits[items]) == len(joined[items]) == 2
    assert bytes(digits[torch.tensor(5)]) == bytes(digits[5]) == bytes(joined[torch.tensor(5)]["a"])


@pytest.mark.parametrize(
    ("made", "kind", "message"),
    [
        (
            lambda: recmap.Sliced((), "int64", append=0),
            TypeError,
            "append must be a list of elements, such as [0], not 0",
        ),
        (
            lambda: recmap.Sliced((), "int64", prepend="<s>"),
            TypeError,
            "prepend must be a list of elements, such as [0], not '<s>'",
        ),
        (
            lambda: recmap.Sliced((), "uint8", append=[256]),
            ValueError,
            "the value of append 256 is out of range for uint8: 0 to 255",
        ),
        (
            lambda: recmap.Sliced((), "int64", pad="zeros"),
            TypeError,
            "the value of pad 'zeros' is not a number, but the dtype is int64",
        ),
        (
            lambda: recmap.FixedLen((), "int64", default="a"),
            TypeError,
            "the default 'a' is not a number, but the dtype is int64",
        ),
    ],
)
def test_values_of_features(made, kind, message):
    """They are refused where the feature is made."""
    fails(made, kind, message)


def test_features_that_are_right():
    recmap.Sliced((), "int64", pad="edge", prepend=(1,), append=np.array([2]))
    recmap.Sliced((), bytes, append=[b"x"])
    recmap.Sliced((), bytes, pad=b"-")
    recmap.FixedLen((2,), bytes, default=["a", b"b"])


def test_a_mixture_with_sources_in_another_order(digits):
    both = recmap.concat([digits[:100], digits[:60]])

    def loader(ds, *lengths):
        orders = [recmap.Shuffled(n, 7) for n in lengths]
        return recmap.Loader(ds, 4, order=recmap.Mixture(orders, [1] * len(orders)))

    message = (
        "the sources of the mixture cover 60, 100 records, but the parts of the concatenation have "
        "100, 60: give both in the same order, because source 0 reads the first records"
    )
    warns(lambda: loader(both, 60, 100), message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader(both, 100, 60)
        loader(both, 80, 80)
        loader(both, 50, 50, 60)
        loader(digits, 797, 1000)


def test_numbers_of_records(digits):
    message = "numbers of records must be a list, array or slice, not 0; for one, write [0]"
    fails(lambda: digits.parse(0, LABEL), TypeError, message)
    fails(lambda: digits.gather(0), TypeError, message)


@pytest.mark.parametrize("record", [5, None, "text"])
def test_wrong_records_are_explained(record, tmp_path):
    kind = type(record).__name__
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        message = f"a record must be bytes, or a dict of features, not {kind}"
        fails(lambda: writer.write(record), TypeError, message)
        writer.write(b"good")


def test_a_transform_for_one_record(digits):
    """It gets a batch."""
    loader = recmap.Loader(digits, 4, transform=lambda record: recmap.decode_example(record))
    with pytest.raises(BufferError, match=r"loop over the batch, also in a transform, which gets"):
        next(iter(loader))


@pytest.mark.parametrize("state", [None, 5, "text", [1]])
def test_wrong_states_are_explained(state, digits):
    kind = type(state).__name__
    message = f"state must be a dict, as state_dict() returns, not {kind}"
    fails(lambda: recmap.Loader(digits, 4).load_state_dict(state), TypeError, message)


def test_dtypes_of_counts(digits_copy, copied_digits):
    message = (
        "the dtype 'uint17' of the counted feature 'image' is not a type of numbers, such as uint16"
    )
    for source in (copied_digits, digits_copy.index_path):
        fails(lambda s=source: recmap.open(s, count={"image": "uint17"}), ValueError, message)


def advice_of(call):
    with pytest.raises(recmap.StaleIndexError) as raised:
        call()
    return raised.value.advice


AGAIN = (
    "Open the shards (not the .rmx) with index=PATH to build another index, or with rebuild=True "
    "to build this one again."
)


def test_another_framing_than_that_of_the_index(digits_copy, copied_digits):
    assert advice_of(lambda: recmap.open(copied_digits, framing="lines")) == AGAIN
    assert advice_of(lambda: recmap.open(copied_digits, framing="tfrecrd")) == (
        "Check the name: framings are auto, tfrecord, ofrecord, lines, tar, csv, "
        f"fixed:HEADER,RECORD,FOOTER or the path of a custom one. {AGAIN}"
    )
    assert advice_of(lambda: recmap.open(copied_digits, id="label")) == AGAIN


def warns(call, message):
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$") as caught:
        result = call()
    assert [str(warning.message) for warning in caught] == [message]
    assert caught[0].filename == __file__
    return result


def test_an_id_that_no_record_has(copied_digits):
    before = sorted(copied_digits.iterdir())
    for build in (
        lambda: recmap.open(copied_digits, id="idd"),
        lambda: recmap.open(copied_digits, id="idd", index=copied_digits / "x.rmx"),
        lambda: recmap.index(copied_digits, id="idd", progress=None),
    ):
        with pytest.raises(recmap.FeatureError, match='no record has the feature "idd"') as caught:
            build()
        assert caught.value.advice == 'did you mean "id"?'
        assert sorted(copied_digits.iterdir()) == before
    assert recmap.open(copied_digits, id="id").find("digit-00001") == 1


def test_an_index_that_was_built_for_an_id_that_no_record_has(tmp_path):
    """As 0.2.0 built them, and as a part may be, which only the caller names."""
    shard, index = tmp_path / "x.tfrecord", tmp_path / "x.rmx"
    with recmap.Writer(shard) as writer:
        writer.write({"id": "a"})
    message = "no record has an id: no record has the feature 'idd'. Did you mean 'id'?"
    warns(lambda: recmap.index(shard, index, id="idd", progress=None), message)
    for source in shard, index:
        with pytest.raises(recmap.FeatureError, match='no record has the feature "idd"') as caught:
            recmap.open(source, id="idd")
        assert "Did you mean 'id'?" in caught.value.advice
    with pytest.raises(KeyError, match="but no record has it"):
        recmap.open(shard).find("a")
    assert recmap.open(shard, rebuild=True).info["ids"] is None


def test_parts_of_which_some_lack_the_id(tmp_path):
    parts = []
    for name, record in ("a", {"x": 1}), ("b", {"id": "b", "x": 2}):
        with recmap.Writer(tmp_path / f"{name}.tfrecord") as writer:
            writer.write(record)
        parts.append(tmp_path / f"{name}.rmx")
    all_, shards = tmp_path / "all.rmx", [part.with_suffix(".tfrecord") for part in parts]
    with pytest.warns(UserWarning, match="no record has the feature 'id'") as caught:
        for shard, part in zip(shards, parts, strict=True):
            recmap.index(shard, part, id="id", progress=None)
    assert len(caught) == 1
    assert recmap.merge(all_, parts, progress=None)["ids"] == 1
    assert recmap.open(all_, id="id").find("b") == 1
    with pytest.warns(UserWarning, match="the old index had|no record has the feature 'xx'"):
        for shard, part in zip(shards, parts, strict=True):
            recmap.index(shard, part, id="xx", progress=None)
    before = all_.read_bytes()
    with pytest.raises(recmap.FeatureError, match='no record has the feature "xx"') as error:
        recmap.merge(all_, parts, progress=None)
    assert (error.value.path, error.value.advice) == (str(all_), "Did you mean 'x'?")
    assert all_.read_bytes() == before
    # Records that have the id are appended to an index of a part that lacks it.
    with pytest.warns(UserWarning, match="no record has the feature 'id'"):
        recmap.index(shards[0], tmp_path / "a.rmx", id="id", progress=None)
    assert recmap.open(shards, id="id", index=tmp_path / "a.rmx").find("b") == 1


def test_a_writer_whose_records_all_lack_the_id(tmp_path):
    for shards in 1, 2:
        writer = recmap.Writer(tmp_path / f"x@{shards}", index=tmp_path / "x.rmx", id="idd")
        for i in range(3):
            writer.write({"id": i})
        with pytest.raises(recmap.FeatureError, match='no record has the feature "idd"') as caught:
            writer.close()
        assert caught.value.advice == "Did you mean 'id'?"
        assert sorted(os.listdir(tmp_path)) == sorted(map(os.path.basename, writer.paths))
        assert recmap.open(writer.paths, id="id", index=tmp_path / "x.rmx").find(0) == 0
        for path in [*writer.paths, tmp_path / "x.rmx"]:
            os.unlink(path)


def test_records_added_to_an_empty_data_set_need_the_id(tmp_path):
    """No record lacks the id before there are records."""
    shard = tmp_path / "x.tfrecord"
    shard.touch()
    with pytest.warns(UserWarning, match="no records"):
        recmap.open(shard, id="idd")
    with recmap.Writer(shard) as writer:
        writer.write({"id": "a"})
    with pytest.raises(recmap.FeatureError, match='no record has the feature "idd"'):
        recmap.open(shard, id="idd")
    assert recmap.open(shard, id="id").find("a") == 0


def test_a_lifted_feature_that_no_record_has(copied_digits):
    message = "no record has the feature 'lable': all have its default, '0'"
    lift = {"lable": 0, "label": 7}
    ds = warns(lambda: recmap.open(copied_digits, lift=lift), message)
    assert ds.columns["lable"].max() == 0
    ds.annotate({"zero": np.zeros(len(ds), np.int64)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.open(copied_digits, lift=["label"])) == 1797


def test_a_seed_without_a_shuffle(digits):
    message = (
        "seed=3 has no effect on the order: shuffle=True is missing. "
        "Only batch.seeds() uses this seed"
    )
    warns(lambda: recmap.Loader(digits, 4, seed=3), message)
    message = (
        "seed=3 has no effect on the order: an order has its own seed. "
        "Only batch.seeds() uses this seed"
    )
    order = recmap.Shuffled(len(digits), 7)
    warns(lambda: recmap.Loader(digits, 4, order=order, seed=3), message)


@pytest.mark.parametrize("dtype", ["int46", "complex64", None])
@pytest.mark.parametrize(
    "feature_of",
    [
        lambda dtype: recmap.FixedLen((), dtype, default=0),
        lambda dtype: recmap.VarLen(dtype),
        lambda dtype: recmap.FixedLenSequence((), dtype),
        lambda dtype: recmap.Ragged(dtype, []),
        lambda dtype: recmap.Sparse("at", "x", dtype, 10),
        lambda dtype: recmap.Sliced((), dtype, append=[1]),
    ],
)
def test_an_unknown_dtype(feature_of, dtype):
    guess = "did you mean 'int64'? " if dtype == "int46" else ""
    message = (
        f"the dtype {dtype!r} is unknown: {guess}it must be one of bool, bytes, int8, int16, "
        "int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64"
    )
    fails(lambda: feature_of(dtype), ValueError, message)


def test_all_dtypes_are_known_to_the_library(digits):
    for dtype in elements._ELEMENTS:
        batch = digits.parse([5], {"label": recmap.VarLen(dtype)}, on_bad_record="collect")
        assert len(batch["label"]) == 1


def test_an_order_without_records(digits):
    message = (
        "there are no steps: the order has no records. Check the data set, the selection of its "
        "records, and the arguments of the order"
    )
    empty = digits.where("label == 10")
    loader = warns(lambda: recmap.Loader(empty, 10, shuffle=True), message)
    assert list(loader) == []
    warns(lambda: recmap.Loader(digits, 10, order=recmap.Shuffled(0).select([])), message)


def test_an_epoch_without_steps(digits):
    message = (
        'there are no steps: last="drop" leaves out a step that is not full, and the 1797 '
        "positions of an epoch cannot fill one"
    )
    loader = warns(lambda: recmap.Loader(digits, 1800, last="drop"), message)
    assert list(loader) == []
    warns(lambda: recmap.Loader(digits, 600, last="drop", rank=0, world_size=3), message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.Loader(digits, 1797, last="drop")) == 1


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("lable", "did you mean 'label'? its columns are @length, label."),
        ("", "its columns are @length, label."),
        (
            "score",
            "its columns are @length, label. If the records have it, ds.lift(['score']) adds it.",
        ),
    ],
)
def test_misspelt_columns_are_explained(digits, name, advice):
    with pytest.raises(KeyError) as raised:
        digits.columns[name]
    assert raised.value.advice == advice


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
@pytest.mark.parametrize(("name", "value"), [("threads", 2), ("memory_limit", "64MiB")])
def test_options_of_indexing_with_an_index(digits_index, name, value):
    message = f"{name}= is for indexing: leave it out, because an .rmx is an index"
    fails(lambda: recmap.open(digits_index, **{name: value}), ValueError, message)


@pytest.mark.filterwarnings("ignore:.*until recmap 2.0:DeprecationWarning")
def test_nulls_without_a_lifted_column(copied_digits, digits_copy):
    message = "the index has no lifted columns"
    with pytest.raises(recmap.InvalidError, match=message):
        recmap.open(digits_copy.index_path, missing_values="null")
    message = 'missing_values is "null", which is about lifted columns: name some with lift'
    fails(lambda: digits_copy.lift([], missing_values="null"), ValueError, message)
    digits_copy.lift(["label"])
    recmap.open(digits_copy.index_path, missing_values="null")


def test_numbers_that_are_not_integers(digits):
    message = "numbers of records must be integers, not 0.5"
    fails(lambda: digits.select([1, 0.5]), TypeError, message)
    fails(lambda: digits[["a"]], TypeError, "numbers of records must be integers, not 'a'")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("n", recmap.Shuffled),
        ("n", recmap.Sequential),
        ("seed", lambda value: recmap.Shuffled(5, value)),
        ("size", lambda value: recmap.Packed([5], value)),
        ("overlap", lambda value: recmap.Chunked([5], 4, overlap=value)),
        ("add", lambda value: recmap.Chunked([5], 4, add=value)),
        ("group", lambda value: recmap.Packed([5], 4, group=value)),
        ("stride", lambda value: recmap.Windows([5], 4, stride=value)),
        ("pad", lambda value: recmap.Windows([5], 4, pad=(0, value))),
        ("seed", lambda value: recmap.Windows([5], 4, seed=value)),
        ("block", lambda value: recmap.Windowed(5, value, 2)),
        ("window", lambda value: recmap.Windowed(5, 1, value)),
        ("size", lambda value: recmap.WithReplacement(5, size=value)),
        ("batch_size", lambda value: recmap.Grouped([1], value)),
        ("batch_size", lambda value: recmap.Stratified([1], value)),
        ("batch_size", lambda value: recmap.Bucketed([1], [1], value)),
        ("token_budget", lambda value: recmap.Bucketed([1], [1], token_budget=value)),
        ("epoch", lambda value: recmap.Shuffled(5).at(value, 0)),
        ("epoch", lambda value: recmap.Shuffled(5).at(value, range(5))),
        ("epoch", lambda value: recmap.Shuffled(5).position_of(value, 0)),
        ("epoch", lambda value: recmap.Shuffled(5).prepare(value)),
        ("epoch", lambda value: recmap.Packed([5], 4).pieces(value, 0)),
        ("epoch", lambda value: recmap.Grouped([1], 1).batch(value, 0)),
        ("index", lambda value: recmap.Grouped([1], 1).batch(0, value)),
    ],
)
def test_numbers_out_of_range(name, call):
    fails(lambda: call(-1), ValueError, f"{name} must not be negative, but is -1")
    fails(lambda: call(2**64), ValueError, f"{name} must be below 2**64, but is {2**64}")


def test_negative_numbers_of_threads(digits, tmp_path):
    message = "threads must not be negative, but is -1"
    fails(lambda: digits.verify(threads=-1), ValueError, message)
    fails(lambda: recmap.index(DIGITS, tmp_path / "a.rmx", threads=-1), ValueError, message)
    fails(lambda: digits.gather([0], threads=-1), ValueError, message)
    fails(lambda: digits.parse([0], LABEL, threads=-1), ValueError, message)


@pytest.mark.parametrize("name", ["shard_limit", "span_keep_size"])
def test_negative_options_of_open(name, digits_index):
    message = f"{name} must not be negative, but is -1"
    fails(lambda: recmap.open(digits_index, **{name: -1}), ValueError, message)


@pytest.mark.parametrize("large", [[2**70], [2**64, 0], [2**63, -1]])
def test_numbers_beyond_64_bits(digits, large):
    order = recmap.Shuffled(5)
    fails(lambda: digits.select(large), recmap.OutOfRangeError, DO_NOT_FIT)
    fails(lambda: digits[large], recmap.OutOfRangeError, DO_NOT_FIT)
    message = "positions do not fit 64 bits"
    fails(lambda: order.at(0, large), recmap.OutOfRangeError, message)
    fails(lambda: order.at(0, 2**70), recmap.OutOfRangeError, message)


def test_orders_are_not_sequences():
    order = recmap.Shuffled(5)
    for wrong in (lambda: order[0], lambda: list(order), lambda: np.asarray(order)):
        with pytest.raises(TypeError, match=r"write order\.at\(epoch, positions\)"):
            wrong()
    assert len(order) == 5


class Index:
    def __init__(self, result):
        self.result = result

    def __index__(self):
        return self.result


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (True, TypeError, "must be an integer, not True"),
        (np.True_, TypeError, "must be an integer, not np.True_"),
        (float("nan"), TypeError, "must be an integer, not nan"),
        (np.array([1, 2]), TypeError, r"must be an integer, not array\(\[1, 2\]\)"),
        (Index(1.5), TypeError, "must be an integer, not <"),
        (Index(-3), ValueError, "must not be negative, but is -3"),
        (Index(2**64), ValueError, r"must be below 2\*\*64, but is 18446744073709551616"),
    ],
)
def test_integers_that_are_none_are_named(value, error, message):
    order = recmap.Sequential(5)
    for name, call in (
        ("epoch", lambda: order.prepare(value)),
        ("size", lambda: recmap.WithReplacement(5, size=value)),
    ):
        with pytest.raises(error, match=f"^{name} {message}"):
            call()


@pytest.mark.parametrize("shape", [True, (2, True), 2**70, (2, 2**63), -1, (1.5,)])
def test_shapes_that_are_not_sizes(shape):
    with pytest.raises(ValueError, match=r"the shape .* must consist of non-negative integers"):
        elements.shape_of(shape)


class Group:
    def __init__(self, rank, world_size):
        self.get_rank, self.get_world_size = (lambda: rank), (lambda: world_size)

    def is_available(self):
        return True

    is_initialized = is_available


@pytest.mark.parametrize(
    ("group", "error", "message"),
    [
        (Group(-1, 4), ValueError, "the rank of torch.distributed must not be negative"),
        (Group(0, None), TypeError, "the number of processes of torch.distributed must be an int"),
        (Group(True, 2), TypeError, "the rank of torch.distributed must be an integer, not True"),
        (Group(4, 4), ValueError, "torch.distributed has rank 4 of 4 processes"),
    ],
)
def test_ranks_that_a_group_cannot_have(monkeypatch, group, error, message):
    monkeypatch.setitem(sys.modules, "torch.distributed", group)
    with pytest.raises(error, match=message):
        share_of("auto", None)


FIXED = "the shape of a FixedLen is the same in all records, so it cannot be"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: recmap.FixedLen(None, "int64"),
            ValueError,
            f"{FIXED} None: write VarLen('int64') for any number of values in a record",
        ),
        (lambda: recmap.FixedLen(-1, "int64"), ValueError, f"{FIXED} -1: write VarLen('int64')"),
        (
            lambda: recmap.FixedLen((None, 3), "float32"),
            ValueError,
            f"{FIXED} (None, 3): write FixedLenSequence((3,), 'float32') for any number of steps",
        ),
        (
            lambda: recmap.FixedLenFeature,
            AttributeError,
            "no attribute 'FixedLenFeature': write recmap.FixedLen, or pass tf.io.FixedLenFeature",
        ),
    ],
)
def test_features_of_other_libraries(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_calls_of_parse(digits):
    label = {"label": recmap.FixedLen((), "int64")}
    first = "parse takes the numbers of records first: ds.parse([0, 1], features)"
    fails(lambda: digits.parse(label, [0]), TypeError, first)
    with pytest.raises(TypeError, match="not the bytes of a record: pass its number"):
        digits.parse(digits[0], label)
    for given, message in {
        "int64": "write FixedLen((), 'int64') for one value, or VarLen('int64') for any number",
        recmap.FixedLen: "is not a feature: give it a shape or a dtype, as in FixedLen(...)",
        7: "7 is not a feature: use FixedLen, VarLen, ... or a feature of tf.io",
    }.items():
        with pytest.raises(TypeError, match=re.escape(message)):
            digits.parse([0], {"label": given})


def test_a_misspelt_column_of_an_index(copied_digits):
    recmap.open(copied_digits, lift=["label"])
    advice = advice_of(lambda: recmap.open(copied_digits, lift=["lable"]))
    assert advice.startswith("Did you mean 'label'? If the name is right, to add it, and keep all")
    assert advice_of(lambda: recmap.open(copied_digits, lift=["id"])).startswith("to add it")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("id,score\n1,2\n".encode("utf-16"), "byte 0 is not UTF-8: save the file as UTF-8"),
        (b"id,score\0\n", "byte 8 is 0, so this is not a text file in UTF-8"),
        (
            b'id,"score\n' + b"1,2\n" * 50_000,
            "line 1: the names of columns cannot be read: field larger than field limit (131072): "
            "check that quotes are closed, or name the columns, as in {name: path}",
        ),
        (b"x" * (1 << 20), "line 1 has more than 1048576 bytes: this is not a table"),
    ],
)
def test_tables_without_readable_names_of_columns_are_explained(data, message, digits, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_bytes(data)
    fails(lambda: digits.annotate(str(table)), ValueError, f"{table}: {message}")


def test_names_of_columns_may_end_in_a_cut_character(digits_copy, copied_digits, tmp_path):
    """The first megabyte of a file may end within a character."""
    rows = "".join(f"{number},{'é' * 400}\n" for number in range(1797))
    table = tmp_path / "names.csv"
    table.write_text("number,name\n" + rows + "x", "utf-8")
    assert table.stat().st_size > 1 << 20
    with pytest.raises(recmap.Error, match=r"names.csv: line 1799"):
        recmap.open(copied_digits).annotate(str(table))


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda ds: recmap.open(ds, num_workers=2), ": recmap.Loader takes threads=...: recmap"),
        (lambda ds: recmap.open(ds, workers=2), ": recmap.Loader takes threads=...: recmap"),
        (lambda ds: recmap.open(ds, shufle=True), ": recmap.Loader takes shuffle=..."),
        (lambda ds: recmap.open(ds, mode="r"), "'mode'"),
        (lambda ds: recmap.Writer("x", mode="w"), "'mode'"),
    ],
)
def test_only_names_that_are_near_are_suggested(call, advice, digits):
    with pytest.raises(TypeError) as caught:
        call(digits.index_path)
    text = str(caught.value)
    assert advice in text
    assert "takes numbers" not in text
    assert "takes order" not in text


def test_keys_that_are_not_names_are_refused():
    message = 'key is the name of a feature in the record, not (3,): write VarLen(..., key="name")'
    fails(lambda: recmap.VarLen("float32", (3,)), TypeError, message)


@pytest.mark.parametrize(("code", "name"), [("i8", "int64"), ("<f4", "float32"), ("u1", "uint8")])
def test_codes_of_numpy_are_dtypes(code, name, digits):
    features = {"label": recmap.FixedLen((), code)}
    kind = "float" if "f" in code else "int"
    if kind == "int":
        assert digits.parse([0], features)["label"].dtype == name
    else:
        with pytest.raises(recmap.FeatureError, match="float"):
            digits.parse([0], features)


def test_ids_of_another_type_or_feature_are_named(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    with recmap.Writer(folder / "a.tfrecord") as writer:
        for i in range(3):
            writer.write({"key": i, "uid": str(i)})
    numbered = recmap.open(folder, id="key")
    texts = recmap.open(folder, id="uid", index=tmp_path / "texts.rmx")
    for absent in ("2", b"2"):
        with pytest.raises(KeyError, match=r"has this id as integer: pass 2$"):
            numbered.find(absent)
    with pytest.raises(KeyError, match=r"has this id as text: pass '2'$"):
        texts.find(2)
    with pytest.raises(KeyError, match=r'ids are those of feature "key"$'):
        numbered.find("3")
    with pytest.raises(TypeError, match=r"not str; for an id, ds\[ds\.find\('x'\)\]"):
        texts["x"]
    with pytest.raises(recmap.StaleIndexError, match=r"did you mean id='uid'\?"):
        recmap.open(folder, id="uidd", index=tmp_path / "texts.rmx")


def test_the_advice_about_a_file_in_place_of_an_index_fits_each_call(tmp_path):
    (tmp_path / "notes").write_text("notes")
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write(b"a")
    with pytest.raises(ValueError, match=r'another name .*path="NAME\.rmx"\)'):
        recmap.index(tmp_path / "a.tfrecord", tmp_path / "notes")
