"""The messages, types and pickling of exceptions."""

import errno
import pickle
import re
import sys
import traceback
import unicodedata

import numpy as np
import pytest
import recmap
from conftest import ROOT, flip
from recmap._base.errors import escaped, in_python

ADVICE = {
    "index with `--on-bad-record skip`": 'index with `on_bad_record="skip"`',
    "build it with `recmap index --id FEATURE`": (
        'build it with `recmap.index(..., id="FEATURE")`'
    ),
    "build it with `recmap index --lift a`": 'build it with `recmap.index(..., lift=["a"])`',
    "if the records have it, `recmap index --lift 'a b' c.rmx` adds it": (
        'if the records have it, `ds.lift(["a b"])` adds it'
    ),
    "if the records have it, `recmap index --lift a '/b c/d.rmx'` adds it": (
        'if the records have it, `ds.lift(["a"])` adds it'
    ),
    "build the index again with `recmap index`": "build the index again with `recmap.index`",
    "a default: `--lift a=DEFAULT`": 'a default: `lift={"a": DEFAULT}`',
    "load it with `--framing ./PLUGIN.so` or": 'load it with `framing="./PLUGIN.so"` or',
    "see `recmap info`, name the same with --id and --lift, or not": (
        "see `recmap info`, name the same with id= and lift=, or not"
    ),
    "another name (-o NAME.rmx)": (
        'another name (index="NAME.rmx", of recmap.index path="NAME.rmx")'
    ),
    "again with `recmap index --id id --lift label=3 --lift lang --count ids --count x:uint16 "
    "--on-bad-record skip --framing lines -o 'a b/c.rmx' 'a b/c@4.txt'`": (
        'again with `recmap.open("a b/c@4.txt", index="a b/c.rmx", id="id", '
        'lift={"label": "3", "lang": None}, count={"ids": None, "x": "uint16"}, '
        'on_bad_record="skip", framing="lines", rebuild=True)`'
    ),
    "build it with `recmap index --lift a --count b:c: -o c.rmx x y`": (
        'build it with `recmap.open(["x", "y"], index="c.rmx", lift=["a"], count=["b:c"], '
        "rebuild=True)`"
    ),
    "give a default: `--default a=VALUE`": 'give a default: `default={"a": VALUE}`',
    "a default: `--lift 'it'\\''s \"so\"=DEFAULT'`": (
        'a default: `lift={"it\'s \\"so\\"": DEFAULT}`'
    ),
    "count it without an element type: `--count 'a \"b'`": (
        'count it without an element type: `count=["a \\"b"]`'
    ),
    "by its elements: `--count 'a b:DTYPE'`": 'by its elements: `count={"a b": DTYPE}`',
    "give a default: `--default 'a b=VALUE'`": 'give a default: `default={"a b": VALUE}`',
    "if the records have it, `recmap index --lift 'it'\\''s' c.rmx` adds it": (
        'if the records have it, `ds.lift(["it\'s"])` adds it'
    ),
    "copy the index with `recmap merge -o a.rmx 'b c.rmx'`, and": (
        'copy the index with `recmap.merge("a.rmx", ["b c.rmx"])`, and'
    ),
    "not a command: `it's`": "not a command: `it's`",
    "run `recmap verify a--b.rmx` to list": "run `recmap verify a--b.rmx` to list",
    "": "",
}


@pytest.mark.parametrize("given", ADVICE)
def test_advice_names_keyword_arguments(given):
    assert in_python(given) == ADVICE[given]


def test_advice_never_names_command_line_options():
    if not (ROOT / "src").is_dir():
        pytest.skip("the library's source is not here")
    texts = []
    for source in (ROOT / "src").rglob("*.c"):
        literals = re.finditer(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', source.read_text())
        words = [re.sub(r'"\s*"', "", literal[0])[1:-1] for literal in literals]
        texts += [text for text in words if not re.fullmatch("--[a-z-]+", text)]  # of a command
    named = [text for text in texts if re.search(r"(^|[ `(])--?[a-z]|`recmap index", text)]
    assert len(named) > 20
    for text in named:
        told = re.sub("`(aws|az|gcloud) [^`]*`", "", in_python(text))  # another program's command
        assert not re.search(r"--[a-z]|[( ]-o |`recmap index", told), told


def test_damaged_shard_is_located(copied_digits):
    flip(copied_digits / "digits-00001-of-00004.tfrecord", 300)
    with pytest.raises(recmap.CorruptRecordError) as raised:
        recmap.open(copied_digits)
    assert 'on_bad_record="skip"' in raised.value.advice
    assert len(recmap.open(copied_digits, on_bad_record="skip")) == 1796


def test_the_advice_about_damage_keeps_states(copied_digits):
    ds = recmap.open(copied_digits)
    loader = recmap.Loader(ds, 400)
    next(iter(loader))
    state = loader.state_dict()
    flip(copied_digits / "digits-00001-of-00004.tfrecord", 300)
    loader = recmap.Loader(ds, 400)
    loader.load_state_dict(state)
    with pytest.raises(recmap.CorruptRecordError) as raised:
        list(loader)
    call = raised.value.advice.split("`")[3]
    assert call == 'Loader(on_bad_record="skip")'
    again = recmap.Loader(ds, 400, on_bad_record="skip")
    again.load_state_dict(state)
    with pytest.warns(UserWarning, match="skipped a bad record"):
        assert [len(batch) for batch in again] == [399, 400, 400, 197]


def test_a_shard_that_was_restored_is_indexed_again(copied_digits):
    shard = copied_digits / "digits-00001-of-00004.tfrecord"
    flip(shard, 300)
    with pytest.warns(UserWarning, match="skipped damage"):
        recmap.open(copied_digits, on_bad_record="skip")
    flip(shard, 300)
    with pytest.raises(recmap.CorruptRecordError) as raised:
        recmap.open(copied_digits)
    assert "restored, pass rebuild=True" in raised.value.advice
    assert len(recmap.open(copied_digits, rebuild=True)) == 1797
    assert len(recmap.open(copied_digits)) == 1797


def test_the_advice_about_damage_keeps_ids_and_columns(copied_digits):
    ds = recmap.open(copied_digits, id="id", lift=["label"])
    labels = ds.columns["label"]
    flip(copied_digits / "digits-00001-of-00004.tfrecord", 300)
    with pytest.raises(recmap.CorruptRecordError) as raised:
        ds[451]
    code = raised.value.advice.split("`")[5]
    with pytest.warns(UserWarning, match="skipped damage in 1 place"):
        good = eval(code, {"recmap": recmap})
    assert len(good) == 1796 and good.index_path == ds.index_path
    assert good.find("digit-00452") == 451
    assert good.columns["label"].tolist() == np.delete(labels, 451).tolist()


def test_missing_feature_is_named(copied_digits):
    with pytest.raises(recmap.FeatureError) as raised:
        recmap.open(copied_digits, lift=["weight"])
    assert '`lift={"weight": DEFAULT}`' in str(raised.value)
    with pytest.raises(recmap.FeatureError) as raised:
        recmap.open(copied_digits, lift=["lable"])
    assert raised.value.advice == (
        'did you mean "label"? the record\'s features: "label", "id", "image"'
    )
    opened = recmap.open(copied_digits)
    with pytest.raises(recmap.Error) as raised:
        opened.find("digit-00001")
    assert raised.value.advice == (
        f'build it with `recmap.open("{copied_digits}/digits@4.tfrecord", '
        f'index="{opened.index_path}", id="FEATURE", rebuild=True)`'
    )


INT64 = 'the feature is int64: use `dtype="int64"`, and convert the column if you need another type'
IF_MIXED = "; if `ds.schema(sample=None)` says mixed, other records have another kind: "
IF_MIXED += "write all in one kind"
OR_BYTES = 'raw uint8 values, or `dtype="bytes"`'


@pytest.mark.parametrize(
    ("feature", "value", "advice"),
    [
        (recmap.FixedLen(2, "float32"), [3, 4], INT64 + IF_MIXED),
        (
            recmap.FixedLen((28, 28), "uint8"),
            bytes(784),
            'the feature is bytes: use `FixedLen((28, 28), "uint8", raw=True)` if it holds '
            + OR_BYTES,
        ),
        (
            recmap.FixedLen(784, "int64"),
            bytes(784),
            f'the feature is bytes: use `FixedLen((784,), "uint8", raw=True)` if it holds '
            f"{OR_BYTES}",
        ),
        (
            recmap.FixedLen((), "uint8"),
            b"a",
            f'the feature is bytes: use `FixedLen((), "uint8", raw=True)` if it holds {OR_BYTES}',
        ),
        (
            recmap.VarLen("uint8"),
            b"abc",
            f'the feature is bytes: use `VarLen("uint8", raw=True)` if it holds {OR_BYTES}',
        ),
        (
            recmap.FixedLenSequence(3, "uint8"),
            b"abcdef",
            'the feature is bytes: use `FixedLenSequence((3,), "uint8", raw=True)` if it holds '
            + OR_BYTES,
        ),
        (recmap.FixedLen((8, 8), "uint8"), b"PNG", 'the feature is bytes: use `dtype="bytes"`'),
        (recmap.VarLen("uint8", raw=True), [1], "the feature is int64: omit `raw=True`"),
    ],
)
def test_features_of_another_kind_are_advised(tmp_path, feature, value, advice):
    with recmap.Writer(tmp_path / "x.tfrecord") as writer:
        writer.write(recmap.encode_example({"x": value}))
    ds = recmap.open(tmp_path / "x.tfrecord")
    with pytest.raises(recmap.FeatureError) as raised:
        ds.parse([0], {"x": feature})
    assert raised.value.advice == advice
    # What the advice says works.
    code = re.search(r"`(\w+\(.*?\))`", advice)
    if code:
        ds.parse([0], {"x": eval("recmap." + code[1])})


def test_features_of_two_kinds_are_advised(tmp_path):
    """The advice for one record must not send to the other one, and back."""
    with recmap.Writer(tmp_path / "x.tfrecord") as writer, pytest.warns(UserWarning, match="kind"):
        writer.write({"x": 3})
        writer.write({"x": 3.5})
    ds = recmap.open(tmp_path / "x.tfrecord")
    for dtype in ("int64", "float32"):
        with pytest.raises(recmap.FeatureError) as raised:
            ds.parse([0, 1], {"x": recmap.FixedLen((), dtype)})
        assert raised.value.advice.endswith(IF_MIXED)
    assert ds.schema(sample=None)["x"]["kind"] == "mixed"


def test_sliced_bytes_are_advised(tmp_path):
    with recmap.Writer(tmp_path / "x.tfrecord") as writer:
        writer.write({"x": b"abcd"})
    ds = recmap.open(tmp_path / "x.tfrecord", count={"x": "uint8"})
    order = recmap.Chunked(ds.counts["x"], 4)
    with pytest.raises(recmap.FeatureError) as raised:
        next(iter(recmap.Loader(ds, 1, order=order, features={"x": recmap.Sliced((), "uint8")})))
    assert raised.value.advice == (
        f'the feature is bytes: use `Sliced((), "uint8", raw=True)` if it holds {OR_BYTES}'
    )


def test_exceptions_belong_to_the_package(digits):
    with pytest.raises(recmap.Error) as raised:
        digits.find("no such")
    last = traceback.format_exception_only(raised.value)[0]
    assert last.startswith("recmap.IdNotFoundError: ")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is recmap.IdNotFoundError and str(again) == str(raised.value)


def test_record_out_of_range(digits):
    batch = digits.gather([1, 2])
    order = recmap.Shuffled(5)
    tries = [
        lambda: digits[1797],
        lambda: digits[-1798],
        lambda: digits[1 << 70],
        lambda: digits.gather([1797]),
        lambda: digits.gather([1 << 70]),
        lambda: digits.select([-1798]),
        lambda: digits.select([True]),
        lambda: digits[5:9][4],
        lambda: batch[2],
        lambda: batch[-3],
        lambda: digits.parse([0], {"id": recmap.FixedLen((), bytes)})["id"][1],
        lambda: digits.parse([0], {"id": recmap.VarLen(bytes)})["id"][1],
        lambda: order.at(0, 5),
        lambda: order.at(0, range(6)),
        lambda: order.select([-1]),
        lambda: order.position_of(0, -1),
        lambda: order.position_of(0, 5),
        lambda: order.position_of(0, [1, 1 << 40]),
    ]
    for number, call in enumerate(tries):
        with pytest.raises(IndexError) as raised:
            call()
        assert type(raised.value) is recmap.OutOfRangeError, number


LOADERS = {
    "rank": {"rank": -1},
    "world_size": {"world_size": 1.5},
    "threads": {"threads": -1},
    "batches_ahead": {"batches_ahead": "2"},
    "batch_size": {"batch_size": "a"},
    "transform": {"transform": 3},
    "an order must be": {"order": 3},
    "feature 'b'": {"features": {"a": recmap.FixedLen((), "int64"), "b": 3}},
    "feature 'c'": {"features": {"c": recmap.FixedLen((2,), "int64", default=[1, 2, 3])}},
    "feature 'd'": {"features": {"d": recmap.FixedLen((), bytes, default="\ud800")}},
    "feature 'e'": {"features": {"e": recmap.Ragged("int64", [recmap.FixedLen((), "int64")])}},
    "name of a feature": {"features": {1: recmap.FixedLen((), "int64")}},
    "features must be a dict": {"features": [1]},
}


@pytest.mark.parametrize("what", LOADERS)
def test_wrong_arguments_name_the_argument(digits, what):
    with pytest.raises((TypeError, ValueError), match=what):
        recmap.Loader(digits, **{"batch_size": 8, **LOADERS[what]})


def test_more_wrong_arguments_name_the_argument(digits):
    with pytest.raises(TypeError, match="features must be a dict"):
        digits.parse([0], None)
    with pytest.raises(TypeError, match=r"options must be a dict .* not str"):
        recmap.open("s3://bucket/x", storage=recmap.Storage(options="secret"))
    with pytest.raises(TypeError, match="an order must be"):
        recmap.Mixture([recmap.Shuffled(3), 5], [1, 1])
    with pytest.raises(TypeError, match=r"an order must be .*ds\.select\(numbers\)") as raised:
        recmap.Loader(digits, 8, order=list(range(1797)))
    assert len(str(raised.value)) < 200
    with pytest.raises(recmap.FeatureError) as raised:
        digits.parse([0], {"label": recmap.FixedLen((2,), "int64")})
    assert "if the number varies, use `VarLen`" in raised.value.advice
    with pytest.raises(ValueError, match="position must not be negative, but is -1"):
        recmap.Loader(digits, 8).seek(0, -1)


def test_pickled_missing_file_error_keeps_errno(tmp_path):
    with pytest.raises(recmap.FileMissingError) as raised:
        recmap.open(tmp_path / "no.rmx")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is recmap.FileMissingError and str(again) == str(raised.value)
    assert again.errno == errno.ENOENT and again.filename == again.path == str(tmp_path / "no.rmx")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ds: recmap.Shuffled(len(ds), seed=None), "seed must be an integer, not None"),
        (lambda ds: recmap.Shuffled(ds), "the number of records, .*write len"),
        (
            lambda ds: recmap.Sequential(1.5),
            "the number of records, .*not 1.5$",
        ),
        (
            lambda ds: recmap.Weighted({0: 1}),
            r"a list or array of numbers, not \{0: 1\}",
        ),
        (lambda ds: recmap.Weighted(["a"]), r"a list or array of numbers, not \['a'\]"),
        (lambda ds: recmap.Mixture([ds[:9]], [1]), r"write recmap\.Shuffled\(len\(dataset\)\)"),
        (lambda ds: ds[1, 2], "an index must be an integer, a slice, .*, not tuple"),
        (
            lambda ds: ds.split([0.9, 0.1]),
            r"a dict of shares .*\[0.9, 0.1\]",
        ),
        (lambda ds: ds.sample(0.1), "n must be the number of records to sample, .*not 0.1"),
        (lambda ds: ds.select("label == 3"), r"use ds.where\('label == 3'\)"),
        (lambda ds: "digit-00003" in ds, r"to look for an id, use ds.find\(id\)"),
        (lambda ds: recmap.Loader(ds, 10, shuffle=1000), "must be True or False, not 1000"),
        (lambda ds: recmap.join(ds, ds), r'recmap.join\({"images": images, .*by="id"\)'),
        (lambda ds: recmap.Loader(recmap.join({"a": ds, "b": ds}), 4), r"see recmap\.JoinedLoader"),
    ],
)
def test_arguments_of_another_type_are_named(digits, call, message):
    with pytest.raises(TypeError, match=message):
        call(digits)


def test_a_record_is_in_a_data_set(digits):
    assert bytes(digits[3]) in digits[:5] and bytes(digits[7]) not in digits[:5]


def test_a_feature_that_a_batch_lacks_is_named(digits):
    batch = digits.parse([0], {"label": recmap.FixedLen((), "int64")})
    with pytest.raises(KeyError, match="no feature 'lable': the batch has 'label'"):
        batch["lable"]


def test_control_characters_are_escaped(tmp_path):
    """Names of files are untrusted: they must not control a terminal, and be recognised."""
    name, shown = "a\x1b[1m\t\n\r\x7f\x9b", r"a\x1b[1m\t\n\r\x7f\x9b"
    with pytest.raises(FileNotFoundError) as raised:  # by the library
        recmap.open(tmp_path / f"{name}.rmx")
    assert f"{shown}.rmx: " in str(raised.value)
    with pytest.raises(FileNotFoundError) as raised:  # by the package
        recmap.Writer(tmp_path / "b", index=tmp_path / name / "b.rmx")
    assert f"{shown}/b.rmx: the folder" in str(raised.value)
    assert name in raised.value.path
    with recmap.Writer(tmp_path / f"{name}.tfrecord") as writer:
        writer.write(b"damaged")
    flip(tmp_path / f"{name}.tfrecord", 14)
    with pytest.warns(UserWarning, match="skipped damage") as caught:
        recmap.open(tmp_path / f"{name}.tfrecord", on_bad_record="skip")
    assert f"{shown}.tfrecord at byte 0" in str(caught[0].message)


def hidden_characters():
    """Control and format characters, separators of lines, and what Unicode says is ignored, without
    the few that are visible."""
    ignored = {
        *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0x2065),
        *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9)),
        *range(0xE0000, 0xE1000),
    }
    visible = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(1, sys.maxunicode + 1):
        char = chr(code)
        is_hidden = unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")
        is_visible = code in visible or 0x13430 <= code <= 0x1345F
        if code in ignored or (is_hidden and not is_visible):
            yield char


def test_errors_escape_what_is_hidden(tmp_path):
    """The library and the package escape the same characters, in the same way."""
    hidden = "".join(hidden_characters())
    expected = {char: char.encode("unicode_escape").decode() for char in hidden}
    assert {char: escaped(char) for char in hidden} == expected
    plain = "a é \u0645 \U0001f600 \u3042 \u3000 \\"
    assert escaped(plain) == plain
    for first in range(0, len(hidden), 20):
        name = hidden[first : first + 20].replace("/", "")
        with pytest.raises(FileNotFoundError) as caught:
            recmap.open(f"{tmp_path}/{name}.rmx")
        assert "".join(expected[char] for char in name) in str(caught.value)
        assert not set(name) & set(str(caught.value).replace("\n  ", ""))  # before the advice


def test_texts_of_records_show_what_is_hidden(tmp_path, capsys):
    hidden = "\u202e\u200b\ufeff\U000e0041\x9b"
    path = tmp_path / "a.tfrecord"
    with recmap.Writer(path) as writer:
        writer.write({"id": f"x{hidden}", f"n{hidden}": 7})
    ds = recmap.open(path, id="id")
    with pytest.raises(recmap.IdNotFoundError) as caught:
        ds.find(f"no{hidden}")
    with pytest.raises(recmap.FeatureError) as missing:
        ds.parse([0], {f"m{hidden}": recmap.FixedLen((), "int64")}, missing="error")
    ds.show(1)
    texts = [str(caught.value), str(missing.value), capsys.readouterr().out, repr(ds.schema())]
    for text in texts:
        assert "\\u202e\\u200b\\ufeff" in text
        assert not set(hidden) & set(text)
