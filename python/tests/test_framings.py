"""Shards that are no TFRecord files, and compressed ones: open and index say how they lie."""

import gzip
import pickle
import subprocess
import sys
import zlib

import pytest
import recmap
from conftest import flip

LINES = [b"one,1", b"", b"caf\xc3\xa9", b"last,3"]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines-0.txt"
    path.write_bytes(b"\n".join(LINES))
    return path


def records(ds):
    return [bytes(record) for record in ds]


def test_lines(lines):
    with pytest.raises(recmap.Error, match="text"):
        recmap.open(lines)
    with recmap.open(lines, framing="lines") as ds:
        assert records(ds) == LINES
    for again in recmap.open(lines), recmap.open(lines.with_suffix(".rmx")):
        assert records(again) == LINES
        assert records(pickle.loads(pickle.dumps(again))) == LINES


def test_what_is_appended_lies_as_the_last_shard(lines):
    recmap.open(lines, framing="lines", index=lines.with_name("x.rmx"))
    more = lines.with_name("lines-1.txt")
    more.write_bytes(b"more\n")
    ds = recmap.open([lines, more], index=lines.with_name("x.rmx"))
    assert records(ds) == [*LINES, b"more"]


def test_records_of_fixed_length(tmp_path):
    path = tmp_path / "fixed.bin"
    path.write_bytes(b"HD" + b"aaabbbccc" + b"F")
    assert records(recmap.open(path, framing="fixed:2,3,1")) == [b"aaa", b"bbb", b"ccc"]
    assert recmap.index(path, framing="fixed:2,9,1").endswith("fixed.rmx")
    assert records(recmap.open(path)) == [b"aaabbbccc"]


def test_another_framing_is_stale(lines):
    recmap.open(lines, framing="lines")
    for wish in {"framing": "fixed:0,1,0"}, {"compression": "gzip"}:
        with pytest.raises(recmap.StaleIndexError, match="asked for is"):
            recmap.open(lines, **wish)
    ones = recmap.open(lines, framing="fixed:0,1,0", rebuild=True)
    assert len(ones) == lines.stat().st_size


def test_compression_is_recognised_or_said(lines):
    packed = lines.with_name("packed.bin")
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    assert records(recmap.open(packed, framing="lines")) == LINES
    ones = recmap.open(packed, framing="fixed:0,1,0", compression="none", rebuild=True)
    assert len(ones) == packed.stat().st_size
    packed.write_bytes(zlib.compress(lines.read_bytes()))
    assert records(recmap.open(packed, framing="lines", compression="zlib", rebuild=True)) == LINES
    recmap.open(packed, framing="lines", compression="zlib")


def test_a_framing_of_ones_own(tmp_path, plugin):
    path = tmp_path / "own.bin"
    path.write_bytes(b"".join(len(line).to_bytes(4, "big") + line for line in LINES))
    ds = recmap.open(path, framing=plugin)
    assert records(ds) == LINES
    assert records(recmap.open(ds.index_path, framing=plugin)) == LINES
    assert records(recmap.open(path, framing="size32be")) == LINES


def test_a_framing_of_ones_own_goes_with_the_pickle(tmp_path, plugin):
    path = tmp_path / "own.bin"
    path.write_bytes(b"\0\0\0\3abc")
    code = "import pickle, sys; print(bytes(pickle.load(sys.stdin.buffer)[0]).decode())"
    pickled = pickle.dumps(recmap.open(path, framing=plugin))
    run = subprocess.run(
        [sys.executable, "-c", code], input=pickled, capture_output=True, check=True
    )
    assert run.stdout == b"abc\n"


@pytest.mark.parametrize(
    ("wish", "kind"),
    [
        ({"framing": "csv"}, ValueError),
        ({"framing": "fixed:1"}, ValueError),
        ({"framing": ""}, ValueError),
        ({"framing": "./no-such.so"}, OSError),
        ({"framing": 3}, TypeError),
        ({"compression": "brotli"}, ValueError),
    ],
)
def test_wrong_framings(lines, wish, kind):
    with pytest.raises(kind):
        recmap.open(lines, **wish)
    with pytest.raises(kind):
        recmap.index(lines, **wish)
    assert not lines.with_suffix(".rmx").exists()


def test_an_index_knows_its_framings(lines):
    path = recmap.index(lines, framing="lines")
    for wish in {"framing": "lines"}, {"compression": "none"}:
        with pytest.raises(ValueError, match="name the shards"):
            recmap.open(path, **wish)


def test_a_line_that_changed(lines):
    ds = recmap.open(lines, framing="lines")
    flip(lines, 0)
    assert len(ds.verify(progress=None)["damage"]) == 1
