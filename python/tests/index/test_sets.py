"""Several sets of shards: what a folder, a pattern, a list or a store with them gives."""

import warnings

import pytest
import recmap
from conftest import write
from object_server import ObjectServer


@pytest.fixture
def mnist(tmp_path):
    """A folder as TFDS writes it."""
    for split, shards in ("train", 4), ("test", 1):
        name = f"mnist-{split}.tfrecord-{{shard:05d}}-of-{{shards:05d}}"
        write(tmp_path, [{"split": split}] * 10, shards, name)
    (tmp_path / "dataset_info.json").write_text("{}")
    return tmp_path


def splits(ds):
    return {bytes(recmap.decode_example(record)["split"][0]).decode() for record in ds}


def indexes(folder):
    return sorted(path.name for path in folder.glob("*.rmx"))


def test_a_folder_of_several_sets_is_an_error_that_lists_them(mnist):
    for call in recmap.open, recmap.index:
        with pytest.raises(recmap.InvalidError) as caught:
            call(mnist)
        assert caught.value.path == str(mnist)
        assert "mnist-test.tfrecord@1 (1 shard), mnist-train.tfrecord@4 (4 shards)" in str(
            caught.value
        )
        assert 'split="train"' in caught.value.advice and 'sets="all"' in caught.value.advice
    assert indexes(mnist) == []


def test_a_split_is_one_set_with_its_own_index(mnist):
    train, test = (recmap.open(mnist, split=split) for split in ("train", "test"))
    assert (len(train), splits(train)) == (10, {"train"})
    assert (len(test), splits(test)) == (10, {"test"})
    assert indexes(mnist) == ["mnist-test.rmx", "mnist-train.rmx"]
    named = recmap.open(mnist / "mnist-train.tfrecord@4")
    assert named.index_path == train.index_path
    assert recmap.index(mnist, split="test") == test.index_path
    with pytest.raises(FileNotFoundError, match="no set has the split 'val'"):
        recmap.open(mnist, split="val")
    with pytest.raises(FileNotFoundError, match="is not of the split 'test'"):
        recmap.open(mnist / "mnist-train.tfrecord@4", split="test")


def test_all_sets_are_joined_if_asked(mnist):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in mnist, mnist / "mnist-*of*":
            assert splits(recmap.open(source, sets="all")) == {"train", "test"}
    assert indexes(mnist) == ["mnist.rmx"]


def test_a_pattern_of_several_sets_warns_at_the_callers_line(mnist):
    with pytest.warns(UserWarning, match='the pattern matches 2 sets.*sets="all"') as caught:
        ds = recmap.open(mnist / "mnist-*of*")
    assert splits(ds) == {"train", "test"}
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="the pattern matches 2 sets"):
        recmap.index(mnist / "mnist-*of*")


def test_a_list_of_sets_is_meant_unless_it_has_copies_of_one(mnist):
    sources = [mnist / "mnist-test.tfrecord@1", mnist / "mnist-train.tfrecord@4"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.open(sources)) == 20
    write(mnist, [{"split": "train"}] * 10, 2, "mnist-train@2.tfrecord")
    copies = [sources[1], mnist / "mnist-train@2.tfrecord"]
    with pytest.raises(recmap.InvalidError, match="two copies of one set"):
        recmap.open(copies)
    assert len(recmap.open(copies, sets="all", index=mnist / "both.rmx")) == 20


@pytest.mark.parametrize("copy", ["s (1).tfrecord", "s - Copy.tfrecord", "Copy of s.tfrecord"])
def test_a_copy_that_a_program_left_is_told(tmp_path, copy):
    write(tmp_path, [{"x": 1}], None, "s.tfrecord")
    assert len(recmap.open(tmp_path)) == 1
    (tmp_path / copy).write_bytes((tmp_path / "s.tfrecord").read_bytes())
    with pytest.raises(recmap.InvalidError, match="the folder has 2 sets") as caught:
        recmap.open(tmp_path)
    assert f"remove the copies, such as '{copy}'" in caught.value.advice
    with pytest.warns(UserWarning, match="If their contents are equal, remove the copies"):
        assert len(recmap.open(tmp_path / "*.tfrecord", index=tmp_path / "p.rmx")) == 2
    assert len(recmap.open(tmp_path, sets="all", index=tmp_path / "all.rmx")) == 2
    (tmp_path / "s.tfrecord").unlink()
    assert len(recmap.open(tmp_path, index=tmp_path / "one.rmx")) == 1


def test_an_index_is_not_extended_by_copies_of_its_sets(tmp_path):
    for shards in 4, 2:
        write(tmp_path, [{"x": i} for i in range(10)], shards, f"s@{shards}.tfrecord")
    both = [tmp_path / "s@4.tfrecord", tmp_path / "s@2.tfrecord"]
    parts = [recmap.index(source, tmp_path / f"{i}.rmx") for i, source in enumerate(both)]
    with pytest.raises(recmap.InvalidError, match="two copies of one set") as caught:
        recmap.merge(tmp_path / "m.rmx", parts)
    assert 'sets="all"' in caught.value.advice
    assert recmap.merge(tmp_path / "m.rmx", parts, sets="all")["records"] == 20
    with pytest.raises(ValueError, match="sets"):
        recmap.merge(tmp_path / "m.rmx", parts, sets="both")
    assert len(recmap.open(both, sets="all", index=tmp_path / "0.rmx")) == 20


def test_the_index_of_more_sets_is_not_used_for_some(mnist):
    write(mnist, [{"split": "val"}] * 10, 1, "mnist-val@1.tfrecord")
    assert len(recmap.open(mnist, sets="all")) == 30
    some = [mnist / "mnist-test.tfrecord@1", mnist / "mnist-train.tfrecord@4"]
    with pytest.raises(recmap.StaleIndexError, match=r"it is also of mnist-val") as caught:
        recmap.open(some)
    assert "index=PATH" in caught.value.advice
    assert "Restore" not in caught.value.advice
    assert len(recmap.open(some, index=mnist / "some.rmx")) == 20
    assert len(recmap.open(mnist, sets="all")) == 30


def test_files_of_several_folders_leave_the_indexes_of_each_alone(tmp_path):
    files = []
    for folder in "aa", "bb":
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, [{"x": 1}] * 5, 1, "x.tfrecord")
        files.append(tmp_path / folder / "x.tfrecord")
    alone = recmap.open(files[0])
    with pytest.warns(UserWarning, match="these shards are in several folders"):
        both = recmap.open(files)
    assert (len(alone), len(both)) == (5, 10)
    assert alone.index_path != both.index_path
    for _ in range(2):
        assert len(recmap.open(files[0])) == 5 and len(recmap.open(files)) == 10


def test_the_second_generation_needs_an_index_of_its_own(tmp_path):
    for shards in 4, 2:
        write(tmp_path, [{"x": i} for i in range(10)], shards, f"s@{shards}.tfrecord")
    assert len(recmap.open(tmp_path / "s@4.tfrecord")) == 10
    with pytest.raises(recmap.StaleIndexError, match="index=PATH") as caught:
        recmap.open(tmp_path / "s@2.tfrecord")
    assert "rebuild" not in caught.value.advice
    assert len(recmap.open(tmp_path / "s@2.tfrecord", index=tmp_path / "s2.rmx")) == 10
    with pytest.raises(recmap.InvalidError, match=r"s@2.tfrecord \(2 shards\), s@4.tfrecord \(4"):
        recmap.open(tmp_path)
    with pytest.raises(recmap.StaleIndexError):  # the index of s@4
        recmap.open(tmp_path / "s@2.tfrecord")


@pytest.mark.parametrize(
    "names",
    [
        ("fold1@2.tfrecord", "fold2@2.tfrecord"),
        ("y2023@2.tfrecord", "y2024@2.tfrecord"),
        ("v1.0.tfrecord", "v1.1.tfrecord"),
        ("train.tfrecord", "train.tfrecord.gz"),
        ("b-foo@2.tfrecord", "b-foo*"),
        ("data.txt", "data.tar"),
        ("fold1-*", "fold2-*"),
    ],
)
def test_different_sets_have_different_indexes(names, tmp_path):
    for name in ("b-foo@2.tfrecord", "b-foo_bar@2.tfrecord", "fold1-a", "fold1-b", "fold2-a"):
        write(tmp_path, [{"x": 1}], 2 if "@" in name else 1, name)
    for name in names:
        if "*" not in name:
            write(tmp_path, [{"x": 1}] * 4, 2 if "@" in name else 1, name)
    opened = [recmap.open(tmp_path / name, sets="all").index_path for name in names]
    assert len({*opened}) == 2
    for name, path in zip(names, opened, strict=True):
        assert recmap.open(tmp_path / name, sets="all").index_path == path


def test_stores_follow_the_same_rules(mnist, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with ObjectServer(mnist.parent) as server:
        options = {"storage": recmap.Storage(options=server.options())}
        folder = f"s3://{mnist.name}"
        with pytest.raises(recmap.InvalidError, match="the folder has 2 sets of shards"):
            recmap.open(f"{folder}/", **options)
        with pytest.warns(UserWarning, match="the pattern matches 2 sets"):
            recmap.open(f"{folder}/mnist-*of*", **options)
        for source in f"{folder}/", f"{folder}/*", folder:
            ds = recmap.open(source, split="train", **options)
            assert splits(ds) == {"train"} and ds.index_path.endswith("/here/mnist-train.rmx")


def test_filesystems_follow_the_same_rules(mnist, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    fs = pytest.importorskip("fsspec").filesystem("local")
    with pytest.raises(recmap.InvalidError, match="the folder has 2 sets of shards"):
        recmap.open(f"{mnist}/", storage=recmap.Storage(fs=fs))
    assert splits(recmap.open(f"{mnist}/", storage=recmap.Storage(fs=fs), split="test")) == {"test"}


def test_wrong_choices_are_refused(mnist):
    path = recmap.index(mnist, split="train")
    for wrong, kind in (
        ({"sets": "both"}, ValueError),
        ({"split": "a/b"}, ValueError),
        ({"split": ""}, ValueError),
        ({"split": 3}, TypeError),
    ):
        with pytest.raises(kind):
            recmap.open(mnist, **wrong)
    for wrong in {"split": "train"}, {"sets": "all"}:
        with pytest.raises(ValueError, match="choose shards"):
            recmap.open(path, **wrong)


def texts(folder, *names):
    for name in names:
        (folder / name).write_text("".join(f"{name} {i}\n" for i in range(4)))


def test_an_unrelated_file_does_not_hide_a_folder_of_text(tmp_path):
    texts(tmp_path, "a.jsonl", "b.jsonl", "c.jsonl", "tokenizer.model", "README.md")
    for call in recmap.open, recmap.index:
        with pytest.warns(UserWarning, match="left out 1 file beside.*: tokenizer.model") as caught:
            call(tmp_path, framing="lines")
        assert [warning.filename for warning in caught] == [__file__]
    (tmp_path / "tokenizer.model").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.open(tmp_path, framing="lines")) == 12


def test_a_folder_in_which_nothing_tells_what_the_shards_are(tmp_path):
    texts(tmp_path, "a.txt", "b.txt", "VERSION")
    with pytest.raises(recmap.InvalidError, match="known to be a shard: VERSION") as caught:
        recmap.open(tmp_path)
    assert 'framing="lines"' in caught.value.advice
    assert indexes(tmp_path) == []


def test_a_pattern_tells_which_matches_are_temporary(tmp_path):
    write(tmp_path, [{"n": [i]} for i in range(10)], 2, "run.tmp-{shard}.tfrecord")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.open(tmp_path / "*.tfrecord")) == 10
    (tmp_path / "c.tfrecord.tmp").touch()
    with pytest.warns(UserWarning, match="with temporary names: c.tfrecord.tmp"):
        assert len(recmap.open(tmp_path / "*.tfrecord*")) == 10


def test_a_folder_tells_which_files_are_backups(tmp_path):
    write(tmp_path, [{"n": [i]} for i in range(10)], 2, "s-{shard}.tfrecord")
    (tmp_path / "s-0.tfrecord.bak").touch()
    with pytest.warns(UserWarning, match="1 file named as backups: s-0.tfrecord.bak"):
        assert len(recmap.open(tmp_path)) == 10


def test_a_pattern_with_the_number_of_a_shard_means_it_alone(tmp_path):
    write(tmp_path, [{"n": [i]} for i in range(8)], 4, "x-{shard:05d}-of-{shards:05d}.tfrecord")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.open(tmp_path / "x-00003*")) == 2
    (tmp_path / "x-00001-of-00004.tfrecord").unlink()
    with pytest.warns(UserWarning, match="the shard .*x-00001-of-00004.tfrecord is missing"):
        recmap.open(tmp_path / "x-*")


def test_folders_of_splits(tmp_path):
    for split in "train", "test":
        (tmp_path / split).mkdir()
        write(tmp_path / split, [{"split": split}] * 4, 2, "data-{shard}.tfrecord")
    assert splits(recmap.open(tmp_path / "**", split="train")) == {"train"}
    assert splits(recmap.open(tmp_path / "*" / "*.tfrecord", split="test")) == {"test"}
    with pytest.warns(UserWarning, match='matches 2 sets.*split="train"'):
        assert splits(recmap.open(tmp_path / "**")) == {"train", "test"}
    # The index of both is in no folder of one split, and names no shard outside its own folder.
    assert indexes(tmp_path / "test") == ["data.rmx"]
    assert indexes(tmp_path) == ["data-all.rmx"]
    assert splits(recmap.open(tmp_path / "data-all.rmx")) == {"train", "test"}


@pytest.mark.parametrize(
    "names, expected",
    [
        (["d/test/1", "d/train/1"], "d/d.rmx"),
        (["d/test/test-1", "d/train/train-1"], "d/d.rmx"),
        (["d/test/x/a-1", "d/train/x/a-1"], "d/a.rmx"),
        (["d/a/x-1-of-1", "d/b/x-1-of-1"], "d/a/x-all.rmx"),  # nothing says what the folder d is
        (["d/test/x-1-of-1", "d/test/y-1-of-1"], "d/test/test.rmx"),
    ],
)
def test_where_the_index_of_several_sets_is(tmp_path, monkeypatch, names, expected):
    monkeypatch.chdir(tmp_path)
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write((tmp_path / name).parent, [{"n": 1}], 1, (tmp_path / name).name)
    for source in "d/**", str(tmp_path / "d/**"):
        path = recmap.open(source, sets="all").index_path
        assert path == str(tmp_path / expected)


def test_a_folder_with_the_name_of_a_set(tmp_path):
    folder = tmp_path / "ix"
    folder.mkdir()
    write(folder, [{"n": [1]}] * 4, 2, "ix-{shard:05d}-of-{shards:05d}.tfrecord")
    for name in "a", "b":
        write(folder, [{"n": [2]}], 1, f"{name}.tfrecord")
    one = recmap.open(folder / "ix@2.tfrecord")
    everything = recmap.open(folder, sets="all")
    assert (len(one), len(everything)) == (4, 6)
    assert indexes(folder) == ["ix-all.rmx", "ix.rmx"]
