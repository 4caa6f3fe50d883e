"""Opening: when an index is built, used again, appended to, and refused."""

import gzip
import os
import shutil
import subprocess
import sys
import warnings

import pytest
import recmap
from conftest import DIGITS, flip, later, text_index, write


def shards(folder):
    return sorted(str(path) for path in folder.glob("*.tfrecord"))


def test_index_lies_beside_the_first_shard(copied_digits):
    ds = recmap.open(copied_digits / "digits-*.tfrecord")
    assert ds.index_path == str(copied_digits / "digits.rmx")
    assert len(ds) == 1797


def test_glob_list_folder_and_index_are_one(copied_digits):
    first = recmap.open(str(copied_digits / "digits-*.tfrecord"))
    before = os.stat(first.index_path).st_ino
    for source in (shards(copied_digits), copied_digits, first.index_path, bytes(copied_digits)):
        assert recmap.open(source).fingerprint == first.fingerprint
    assert os.stat(first.index_path).st_ino == before


def test_more_shards_are_appended(copied_digits):
    paths = shards(copied_digits)
    path = copied_digits / "some.rmx"
    first = recmap.open(paths[:2], id="id", lift=["label"], index=path)
    records = [bytes(r) for r in first]
    ds = recmap.open(paths, index=path)
    assert len(ds) == 1797 and [bytes(r) for r in ds[: len(records)]] == records
    assert ds.find("digit-01796") == 1796 and len(ds.columns["label"]) == 1797
    whole = recmap.open(paths, id="id", lift=["label"], index=copied_digits / "whole.rmx")
    assert path.read_bytes() == (copied_digits / "whole.rmx").read_bytes()
    assert whole.fingerprint == ds.fingerprint


def test_anything_else_is_stale(copied_digits):
    paths = shards(copied_digits)
    path = copied_digits / "x.rmx"
    recmap.open(paths[:3], index=path)
    for others in (paths[:2], paths[1:], paths[::-1], [paths[0], paths[2], paths[1]]):
        with pytest.raises(recmap.StaleIndexError, match="rebuild=True"):
            recmap.open(others, index=path)
        assert len(recmap.open(others, index=path, rebuild=True)) > 0
        recmap.open(paths[:3], index=path, rebuild=True)


def test_a_shard_of_another_size_is_stale(copied_digits):
    ds = recmap.open(copied_digits)
    shutil.copy(shards(copied_digits)[0], shards(copied_digits)[3])
    os.utime(shards(copied_digits)[3], (0, 0))
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(copied_digits)
    assert caught.value.path.endswith("digits-00003-of-00004.tfrecord")
    assert "bytes, indexed were" in str(caught.value)
    assert recmap.open(copied_digits, rebuild=True).fingerprint != ds.fingerprint


def test_a_shard_of_other_contents_is_stale(tmp_path):
    (path,) = write(tmp_path, [b"one", b"two"])
    recmap.open(path)
    write(tmp_path, [b"six", b"ten"])
    later(path)
    with pytest.raises(recmap.StaleIndexError):
        recmap.open(path)
    assert bytes(recmap.open(path, rebuild=True)[1]) == b"ten"


def test_a_shard_that_was_only_touched_is_not(tmp_path):
    (path,) = write(tmp_path, [b"one", b"two"])
    recmap.open(path)
    later(path)
    assert bytes(recmap.open(path)[1]) == b"two"


def test_other_ids_and_columns_are_stale(copied_digits):
    recmap.open(copied_digits, lift=["label"])
    assert len(recmap.open(copied_digits)) == 1797
    for wish in ({"id": "id"}, {"lift": ["id"]}, {"lift": {"label": -1}}):
        with pytest.raises(recmap.StaleIndexError):
            recmap.open(copied_digits, **wish)
    index = recmap.open(copied_digits).index_path
    assert len(recmap.open(index, lift=["label"])) == 1797
    for wish in ({"id": "id"}, {"lift": ["id"]}):
        with pytest.raises(recmap.StaleIndexError):
            recmap.open(index, **wish)
    ds = recmap.open(copied_digits, id="id", rebuild=True)
    assert ds.find("digit-00000") == 0


def test_damage_is_raised_or_skipped(copied_digits):
    flip(shards(copied_digits)[1], 5000)
    with pytest.raises(recmap.CorruptRecordError) as caught:
        recmap.open(copied_digits)
    assert caught.value.path.endswith("00001-of-00004.tfrecord")
    ds = recmap.open(copied_digits, on_corrupt="skip")
    assert len(ds) == 1796 and len(ds.info["damage"]) == 1


def test_a_shard_that_is_damaged_as_a_whole(tmp_path, copied_digits):
    """The data are bad, not the index."""
    packed = gzip.compress(open(shards(copied_digits)[0], "rb").read())
    cut = tmp_path / "cut.tfrecord.gz"
    cut.write_bytes(packed[: len(packed) // 2])
    text = tmp_path / "text.tfrecord"
    text.write_text("a line and another\n" * 9)
    for path in cut, text:
        with pytest.raises(recmap.CorruptRecordError) as raised:
            recmap.open(path)
        assert raised.value.path == str(path) and raised.value.offset is not None


def test_shards_outside_the_folder_are_asked_for(tmp_path, copied_digits):
    """Nothing is damaged: an option is missing."""
    (tmp_path / "elsewhere").mkdir()
    path = recmap.index(copied_digits, tmp_path / "elsewhere" / "digits.rmx")
    assert len(recmap.open(path, allow_absolute_paths=True)[0]) > 0
    with pytest.raises(recmap.InvalidError, match="allow_absolute_paths"):
        recmap.open(path)


def test_what_is_passed_over_is_warned_of(copied_digits):
    flip(shards(copied_digits)[1], 5000)
    with pytest.warns(UserWarning, match=r"00001-of-00004.tfrecord at byte .*lists all") as told:
        recmap.open(copied_digits, on_corrupt="skip")
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is there now
        recmap.open(copied_digits, on_corrupt="skip")
    with pytest.warns(UserWarning, match="no record has an id: there is no feature 'typo'") as told:
        recmap.open(shards(copied_digits)[0], id="typo")
    assert len(told) == 1


def test_an_index_that_leaves_damage_out_is_asked_for(copied_digits):
    """What is raised does not depend on whether somebody indexed with "skip" before."""
    flip(shards(copied_digits)[1], 5000)
    with pytest.raises(recmap.CorruptRecordError) as first:
        recmap.open(copied_digits)
    path = recmap.open(copied_digits, on_corrupt="skip").index_path
    before = os.stat(path).st_ino
    for wish in {}, {"on_corrupt": "raise"}:
        with pytest.raises(recmap.CorruptRecordError, match="skip") as caught:
            recmap.open(copied_digits, **wish)
        assert caught.value.offset == first.value.offset
        assert caught.value.path == os.path.basename(first.value.path)  # as the index names it
    with pytest.raises(recmap.CorruptRecordError):
        recmap.open(copied_digits, rebuild=True)
    for source in path, copied_digits:
        assert len(recmap.open(source, on_corrupt="skip")) == 1796
    assert len(recmap.open(path)) == 1796  # it was named itself
    assert os.stat(path).st_ino == before
    more = copied_digits / "digits-more.tfrecord"
    shutil.copy(shards(copied_digits)[0], more)
    assert (
        len(recmap.open([*shards(copied_digits)[:4], more], index=path, on_corrupt="skip")) > 1796
    )


def test_a_damaged_index(copied_digits):
    path = recmap.open(copied_digits).index_path
    flip(path, os.path.getsize(path) - 5)
    with pytest.raises(recmap.CorruptIndexError):
        recmap.open(copied_digits)
    assert len(recmap.open(copied_digits, rebuild=True)) == 1797


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "list").write_text("no-such.tfrecord\n")
    for name in "no-such.tfrecord", "no-such-*.tfrecord", "no-such@3", "@list", "@no-such":
        named = name.replace(name.lstrip("@"), str(tmp_path / name.lstrip("@")))
        with pytest.raises(FileNotFoundError, match="no-such") as caught:
            recmap.open(named)
        assert caught.value.errno == 2 and caught.value.path and caught.value.advice
    with pytest.raises(FileNotFoundError, match="no-such"):
        recmap.open(tmp_path / "no-such.rmx")
    with pytest.raises(ValueError):
        recmap.open([])
    ds = recmap.open(write(tmp_path, [b"x"]))
    os.rename(tmp_path / "made-0.tfrecord", tmp_path / "gone")
    with pytest.raises(FileNotFoundError) as caught:
        ds[0]
    assert caught.value.path.endswith("made-0.tfrecord") and caught.value.errno == 2


def test_files_of_no_and_of_one_byte(tmp_path):
    empty = tmp_path / "empty.tfrecord"
    empty.write_bytes(b"")
    assert len(recmap.open(empty)) == 0 and list(recmap.open(empty)) == []
    one = tmp_path / "one.tfrecord"
    one.write_bytes(b"x")
    with pytest.raises(recmap.Error):
        recmap.open(one)


@pytest.fixture
def text_indexes(copied_digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("idx")
    for shard in copied_digits.glob("*.tfrecord"):
        (folder / f"{shard.name}.idx").write_text(text_index(shard))
    return folder


def test_text_indexes_give_the_same_index(copied_digits, text_indexes, monkeypatch):
    whole = recmap.index(copied_digits, copied_digits / "whole.rmx", id="id", lift=["label"])
    monkeypatch.chdir(text_indexes.parent)
    for folder in text_indexes, text_indexes.name, bytes(text_indexes):
        ds = recmap.open(copied_digits, id="id", lift=["label"], from_idx=folder, rebuild=True)
        with open(whole, "rb") as one, open(ds.index_path, "rb") as other:
            assert one.read() == other.read()
        assert ds.verify(progress=None)["damage"] == []
    assert recmap.index(copied_digits, from_idx=text_indexes) == ds.index_path
    part = copied_digits / "part.rmx"
    recmap.open(shards(copied_digits)[:2], id="id", lift=["label"], index=part)
    recmap.open(shards(copied_digits), index=part, from_idx=text_indexes)  # appends
    with open(whole, "rb") as one:
        assert one.read() == part.read_bytes()


def test_text_indexes_are_used_in_place_of_a_pass(copied_digits, text_indexes):
    """Damaged data are seen when they are read, as nothing looked at them before."""
    flip(shards(copied_digits)[1], 5000)
    ds = recmap.open(copied_digits, from_idx=text_indexes)
    assert len(ds) == 1797
    with pytest.raises(recmap.CorruptRecordError):
        list(ds)


def test_a_text_index_of_another_shard(copied_digits, text_indexes):
    path = text_indexes / "digits-00001-of-00004.tfrecord.idx"
    text = path.read_text()
    path.write_text(text.replace("\n136 ", "\n137 ", 1))
    with pytest.raises(recmap.StateMismatchError, match="begins at byte 136") as caught:
        recmap.open(copied_digits, from_idx=text_indexes)
    assert caught.value.path == str(path)
    path.unlink()
    with pytest.raises(ValueError, match=path.name):
        recmap.index(copied_digits, from_idx=text_indexes)
    assert list(copied_digits.glob("*.rmx")) == []
    path.write_text(text)
    at = recmap.index(copied_digits, from_idx=text_indexes)
    with pytest.raises(ValueError, match="name the shards"):
        recmap.open(at, from_idx=text_indexes)


@pytest.mark.parametrize(
    "wish",
    [
        {"from_idx": ""},
        {"from_idx": 3},
        {"on_corrupt": "ignore"},
        {"access": "fast"},
        {"check": "none"},
        {"progress": 3},
        {"lift": "label"},
        {"threads": -1},
    ],
)
def test_wrong_options(tmp_path, wish):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        recmap.open(DIGITS, index=tmp_path / "x.rmx", **wish)


def test_merge_is_byte_for_byte_one_build(copied_digits):
    paths = shards(copied_digits)
    parts = [copied_digits / f"part-{i}.rmx" for i in range(4)]
    for path, part in zip(paths, parts, strict=True):
        recmap.index(path, part, id="id", lift=["label"], progress=None)
    recmap.merge(copied_digits / "merged.rmx", parts)
    recmap.index(paths, copied_digits / "whole.rmx", id="id", lift=["label"])
    merged = (copied_digits / "merged.rmx").read_bytes()
    assert merged == (copied_digits / "whole.rmx").read_bytes()
    assert recmap.merge(copied_digits / "one.rmx", str(parts[0]))["shards"] == 1
    with pytest.raises(ValueError, match="no files"):
        recmap.merge(copied_digits / "merged.rmx", [])
    recmap.index(paths[0], parts[0])
    with pytest.raises(ValueError):
        recmap.merge(copied_digits / "merged.rmx", parts)


def test_index_of_a_folder_that_cannot_be_written(copied_digits, tmp_path_factory):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    copied_digits.chmod(0o500)
    with pytest.raises(PermissionError):
        recmap.open(copied_digits)
    path = tmp_path_factory.mktemp("elsewhere") / "x.rmx"
    assert len(recmap.open(copied_digits, index=path)) == 1797


def test_progress_is_told(copied_digits):
    calls = []
    recmap.open(copied_digits, progress=lambda *call: calls.append(call))
    for done, total, records, path in calls:
        assert 0 <= done <= total and records <= 1797 and isinstance(path, str)


def test_nothing_is_shown_where_there_is_no_terminal(copied_digits):
    run = subprocess.run(
        [sys.executable, "-c", "import recmap, sys; recmap.open(sys.argv[1])", copied_digits],
        capture_output=True,
        check=True,
    )
    assert run.stdout == run.stderr == b""


def test_bar_on_a_terminal(capsys, monkeypatch):
    from recmap._progress import shown

    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown("auto", "indexing") as call:
        call._drawn -= 1
        call(25, 100, 3, "x")
    assert "indexing [#####..............." in terminal.text and " 25%" in terminal.text
    assert terminal.text.endswith("\r")


def test_bar_in_a_notebook(monkeypatch):
    import types

    from recmap import _progress

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    pytest.importorskip("tqdm")
    with _progress.shown("auto", "indexing") as call:
        assert isinstance(call, _progress._Notebook)
        call(1, 2, 3, "x")


@pytest.mark.parametrize("source", [".", "made-*", "made-9.tfrecord"])
def test_a_link_that_leads_nowhere(tmp_path, source):
    write(tmp_path, [b"a"])
    (tmp_path / "made-9.tfrecord").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match=r"made-9\.tfrecord"):
        recmap.open(tmp_path / source)
