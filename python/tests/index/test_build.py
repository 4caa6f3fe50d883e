"""Building and merging indexes, from shards or text indexes."""

import errno
import gzip
import os
import warnings

import pytest
import recmap
from conftest import flip, shards, text_index, write


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
        ds = recmap.open(recmap.index(copied_digits, id="id", lift=["label"], from_idx=folder))
        with open(whole, "rb") as one, open(ds.index_path, "rb") as other:
            assert one.read() == other.read()
        assert ds.verify(progress=None)["damage"] == []
    assert recmap.index(copied_digits, from_idx=text_indexes) == ds.index_path
    part = copied_digits / "part.rmx"
    recmap.open(shards(copied_digits)[:2], id="id", lift=["label"], index=part)
    with pytest.deprecated_call():
        recmap.open(shards(copied_digits), index=part, from_idx=text_indexes)  # appends
    with open(whole, "rb") as one:
        assert one.read() == part.read_bytes()


def test_text_indexes_replace_reading_the_data(copied_digits, text_indexes):
    """Damage is found when a record is read, because indexing did not read the data."""
    flip(shards(copied_digits)[1], 5000)
    ds = recmap.open(recmap.index(copied_digits, from_idx=text_indexes))
    assert len(ds) == 1797
    with pytest.raises(recmap.CorruptRecordError):
        list(ds)


def test_text_index_that_does_not_match_raises(copied_digits, text_indexes):
    path = text_indexes / "digits-00001-of-00004.tfrecord.idx"
    text = path.read_text()
    path.write_text(text.replace("\n136 ", "\n137 ", 1))
    with pytest.raises(recmap.StateMismatchError, match="begins at byte 136") as caught:
        recmap.index(copied_digits, from_idx=text_indexes)
    assert caught.value.path == str(path)
    path.unlink()
    with pytest.raises(ValueError, match=path.name):
        recmap.index(copied_digits, from_idx=text_indexes)
    assert list(copied_digits.glob("*.rmx")) == []
    path.write_text(text)
    at = recmap.index(copied_digits, from_idx=text_indexes)
    with pytest.raises(ValueError, match="leave it out"):
        recmap.open(at, from_idx=text_indexes)


def test_merge_equals_one_build(copied_digits):
    paths = shards(copied_digits)
    parts = [copied_digits / f"part-{i}.rmx" for i in range(4)]
    for path, part in zip(paths, parts, strict=True):
        recmap.index(path, part, id="id", lift=["label"], progress=None)
    recmap.merge(copied_digits / "merged.rmx", parts)
    recmap.index(paths, copied_digits / "whole.rmx", id="id", lift=["label"])
    merged = (copied_digits / "merged.rmx").read_bytes()
    assert merged == (copied_digits / "whole.rmx").read_bytes()
    assert recmap.merge(copied_digits / "one.rmx", str(parts[0]))["shards"] == 1
    with pytest.raises(ValueError, match="list of files is empty"):
        recmap.merge(copied_digits / "merged.rmx", [])
    recmap.index(paths[0], parts[0])
    with pytest.raises(ValueError):
        recmap.merge(copied_digits / "merged.rmx", parts)


def test_an_index_must_not_have_the_name_of_a_selection(copied_digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    path, part = folder / "x.rmv", recmap.index(copied_digits, copied_digits / "part.rmx")
    for build in (
        lambda: recmap.index(copied_digits, path),
        lambda: recmap.open(copied_digits, index=path),
        lambda: recmap.merge(path, [part]),
        lambda: recmap.Writer(folder / "a", index=path),
        lambda: recmap.Writer(folder / "a@2", index=path),
    ):
        with pytest.raises(recmap.InvalidError, match="is the name of a selection") as caught:
            build()
        assert caught.value.advice == "end the name of the index in .rmx"
    assert list(folder.iterdir()) == []


def test_read_only_folder_is_advised_of_index_path(copied_digits):
    """In /sys not even root may create files."""
    with pytest.raises(PermissionError, match=r'write to another folder \(index="NAME.rmx", '):
        recmap.open(copied_digits, index="/sys/x.rmx")


@pytest.mark.parametrize("name", ["x.tfrecord", "x@2", "x.rmv"])
def test_read_only_folder_of_other_files_is_not_advised_of_an_index(copied_digits, name):
    def create():
        if name.endswith(".rmv"):
            recmap.open(copied_digits)[5:9].save(f"/sys/{name}")
        else:
            recmap.Writer(f"/sys/{name}")

    with pytest.raises(PermissionError) as caught:
        create()
    assert caught.value.advice == "write to another folder"


def test_read_only_folder_needs_index_path(copied_digits, tmp_path_factory):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    copied_digits.chmod(0o500)
    with pytest.raises(PermissionError):
        recmap.open(copied_digits)
    path = tmp_path_factory.mktemp("elsewhere") / "x.rmx"
    assert len(recmap.open(copied_digits, index=path)) == 1797


def test_skipped_damage_warns(copied_digits):
    flip(shards(copied_digits)[1], 5000)
    with pytest.warns(UserWarning, match=r"00001-of-00004.tfrecord at byte .*lists all") as told:
        recmap.open(copied_digits, on_bad_record="skip")
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the index exists now
        recmap.open(copied_digits, on_bad_record="skip")


def test_shards_that_are_missing_warn(copied_digits):
    """Their names say how many there are. A part of a download may have failed, for example."""
    first, *_, last = sorted(copied_digits.glob("*.tfrecord"))
    first.unlink()
    message = rf"/digits\.rmx: the shard {first.name} is missing; restore it and index again$"
    with pytest.warns(UserWarning, match=message) as told:
        recmap.index(copied_digits)
    assert len(told) == 1 and told[0].filename == __file__
    last.unlink()
    message = rf"/digits\.rmx: 2 shards are missing, the first is {first.name}; restore them "
    with pytest.warns(UserWarning, match=message):
        recmap.open(copied_digits, rebuild=True)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a-0-of-4"], ["3 shards are missing, the first is a-1-of-4"]),
        (["a-00001-of-00002", "a-00002-of-00002"], []),
        ([f"a-{k}-of-12" for k in range(1, 13)], []),
        (["a-1-of-3", "a-3-of-3"], ["the shard a-2-of-3 is missing"]),
        ([f"a-{k}-of-2" for k in range(3)], ["the shard a-2-of-2 is surplus by its name"]),
        (["a-0-of-1", "a-1-of-1", "a-2-of-1"], ["2 shards are surplus by their names, the first"]),
    ],
)
def test_what_names_say_about_other_shards(tmp_path, names, told):
    folder = tmp_path / "d"
    folder.mkdir()
    for name in names:
        write(tmp_path, [name.encode()])[0].rename(folder / name)
    for source in folder, folder / "a*":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            recmap.open(source, index=folder / "i.rmx", rebuild=True)
        texts = [str(warning.message).partition(": ")[2] for warning in caught]
        assert len(texts) == len(told)
        assert all(text.startswith(start) for text, start in zip(texts, told, strict=True))


@pytest.mark.parametrize("framing", ["tfrecord", "lines"])
def test_an_index_without_records_warns(tmp_path, framing):
    """A download that failed leaves an empty file."""
    folder, path = tmp_path / "d", tmp_path / "a.rmx"
    folder.mkdir()
    (folder / "a").touch()
    for source in folder, folder / "a", folder / "*":
        with pytest.warns(UserWarning, match=r"no records: its shard is empty \(0 bytes\)") as told:
            recmap.index(source, path, framing=framing)
        assert len(told) == 1 and told[0].filename == __file__
    (folder / "b").touch()
    with pytest.warns(UserWarning, match=r"no records: its 2 shards are empty \(0 bytes\)"):
        recmap.open(folder, framing=framing)
    (folder / "b").write_bytes(gzip.compress(b""))
    with pytest.warns(UserWarning, match="no records: its 2 shards are without records"):
        recmap.open(folder, framing=framing, rebuild=True)


def test_an_empty_shard_among_others_is_not_told(tmp_path):
    write(tmp_path, [b"a"])
    (tmp_path / "z.tfrecord").touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(tmp_path)


def test_a_shard_that_is_named_itself_may_be_alone(tmp_path):
    (shard,) = write(tmp_path, [b"a"])
    named = shard.rename(tmp_path / "a-00001-of-00004")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(named)
        recmap.index([named], tmp_path / "b.rmx")
    with pytest.warns(UserWarning, match="3 shards are missing"):
        recmap.index(tmp_path / "a-*", tmp_path / "b.rmx")


def test_memory_limit_is_an_error_over_it(tmp_path):
    shard = tmp_path / "a.gz"
    shard.write_bytes(gzip.compress(b"a line\n" + bytes(8 << 20)))
    assert len(recmap.open(recmap.index(shard, framing="lines", memory_limit="64MiB"))) == 2
    with pytest.raises(recmap.UnsupportedError, match="the limit of 2097152 bytes") as caught:
        recmap.index(shard, framing="lines", memory_limit=2 << 20)
    error = caught.value
    assert (error.path, error.record, error.offset) == (str(shard), 1, 7)
    assert error.advice == (
        'raise the memory limit (`memory_limit="SIZE"`), or decompress the file and index the '
        "result"
    )
    ds = recmap.open(shard, framing="lines")
    assert not ds.verify(memory_limit="64MiB")["damage"]
    with pytest.raises(recmap.UnsupportedError, match="the limit of 2097152 bytes"):
        ds.verify(memory_limit=2 << 20)
    for size in ("64 pounds", 0, 1000):
        with pytest.raises(ValueError, match=r"64 pounds|positive|the minimum is 1048576"):
            recmap.index(shard, memory_limit=size)


def test_replacing_an_index_warns_of_what_is_lost(copied_digits):
    path = copied_digits / "made.rmx"
    recmap.index(copied_digits, path, id="id", lift=["label"], count={"image": "uint8"})
    lost = "ids of 'id', column 'label', counts of 'image'"
    with pytest.warns(UserWarning, match=f"replaced by one without its {lost}.*rebuild=True"):
        recmap.index(shards(copied_digits)[:2], path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.index(copied_digits, path, id="id")
        recmap.index(copied_digits, path, id="id", lift=["label"])


@pytest.mark.parametrize(
    "reason",
    [
        recmap.UnsupportedError("the index has format version 9"),
        recmap.FilePermissionError("cannot open the file", error_number=errno.EACCES),
        recmap.OutOfMemoryError("out of memory"),
    ],
)
def test_an_index_that_cannot_be_read_is_not_replaced(tmp_path, monkeypatch, reason):
    """It may have annotated columns, if it is of a newer version, for example."""

    def fail(path, indexing):
        raise reason

    shard, path = tmp_path / "a.tfrecord", tmp_path / "a.rmx"
    with recmap.Writer(shard, index=path) as writer:
        writer.write({"n": 1})
    with recmap.Writer(tmp_path / "b.tfrecord", index=tmp_path / "b.rmx") as writer:
        writer.write({"n": 2})
    before = path.read_bytes()
    monkeypatch.setattr("recmap._index.annotated.open_contents", fail)
    for call in (
        lambda: recmap.index(shard, path),
        lambda: recmap.open(shard, index=path, rebuild=True),
        lambda: recmap.merge(path, [tmp_path / "b.rmx"]),
        lambda: recmap.Writer(tmp_path / "c.tfrecord", index=path),
    ):
        with pytest.raises(type(reason), match=f"cannot be read: {reason.message}") as caught:
            call()
        assert getattr(caught.value, "errno", None) == getattr(reason, "errno", None)
    assert path.read_bytes() == before


def test_a_folder_is_not_replaced(tmp_path):
    shard, path = tmp_path / "a.tfrecord", tmp_path / "a.rmx"
    with recmap.Writer(shard, index=tmp_path / "b.rmx") as writer:
        writer.write({"n": 1})
    path.mkdir()
    for call in (
        lambda: recmap.index(shard, path),
        lambda: recmap.merge(path, [tmp_path / "b.rmx"]),
        lambda: recmap.Writer(tmp_path / "c.tfrecord", index=path),
    ):
        with pytest.raises(ValueError, match="must be the path of a file"):
            call()
