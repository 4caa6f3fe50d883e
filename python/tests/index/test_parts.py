"""Indexes that are built in parts, as by the tasks of a cluster: they equal an index that was built
at once, and warn of the same."""

import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import warnings

import pytest
import recmap
import recmap._index.parts as parts_module
from conftest import flip, write
from recmap._index.build import plan_of
from recmap._index.parts import build_in_parts

DEFAULTS = {
    "storage": None,
    "threads": 1,
    "id": None,
    "lift": (),
    "count": (),
    "framing": "auto",
    "from_idx": None,
    "memory_limit": None,
}


def build_in_tasks(parts):
    """Builds each part as a task does, which gets and returns pickles."""
    for part in parts:
        copy = pickle.loads(pickle.dumps(part))
        yield pickle.loads(pickle.dumps(copy.build()))


def compared(source, folder, **options):
    """Builds an index in parts and at once, compares them, and returns the warnings of both."""
    issued = []
    for is_local in (False, True):
        path = folder / f"{'local' if is_local else 'parts'}.rmx"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if is_local:
                recmap.index(source, path, **options, progress=None)
            else:
                build_in_parts(plan_of(source, path, **{**DEFAULTS, **options}), build_in_tasks)
        issued.append([(warning.category, str(warning.message)) for warning in caught])
        assert not caught or {warning.filename for warning in caught} == {__file__}
    assert (folder / "parts.rmx").read_bytes() == (folder / "local.rmx").read_bytes()
    assert not list(folder.glob(".*"))
    return issued


KILLED = f"""
import os, signal, sys
from recmap._index.build import plan_of
from recmap._index.parts import build_in_parts

DEFAULTS = {DEFAULTS!r}

def run(parts):
    parts[0].build()
    os.kill(os.getpid(), signal.SIGKILL)
    yield

build_in_parts(plan_of(sys.argv[1], sys.argv[2], **DEFAULTS), run)
"""


def test_the_next_build_removes_what_a_killed_one_left(tmp_path):
    path = tmp_path / "a.rmx"
    two_shards(tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, path])
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".a.rmx.parts-*")
    others = tmp_path / ".a.rmx.parts-others"
    shutil.copytree(left, others)
    (others / "lock").write_text("another machine")
    unknown = tmp_path / ".a.rmx.parts-unknown"
    unknown.mkdir()

    def run(parts):
        built = list(build_in_tasks(parts))
        (mine,) = set(tmp_path.glob(".a.rmx.parts-*")) - {others, unknown}
        nested = build_in_parts(plan_of(tmp_path, path, **DEFAULTS), build_in_tasks)
        assert nested == str(path) and mine.exists()  # its process lives
        return built

    build_in_parts(plan_of(tmp_path, path, **DEFAULTS), run)
    assert sorted(tmp_path.glob(".*")) == [others, unknown]


def test_links_keep_their_names(tmp_path):
    (tmp_path / "blobs").mkdir()
    for k, shard in enumerate(write(tmp_path / "blobs", [{"x": 1}, {"x": 2}], shards=2)):
        (tmp_path / f"s-{k:05d}-of-00003.tfrecord").symlink_to(shard)
    issued = compared(tmp_path, tmp_path)
    with recmap.open(tmp_path / "parts.rmx") as ds:
        assert ds.shards[0]["path"] == "s-00000-of-00003.tfrecord"
    for each in issued:
        assert "the shard s-00002-of-00003.tfrecord is missing" in texts_of(each)[0]


def texts_of(issued):
    return [text for _, text in issued]


def two_shards(folder):
    """Shards of which only the second one has the feature "x"."""
    write(folder, [{"id": b"a", "y": 1, "v": 5}, {"id": b"b", "x": 1, "y": 2}], shards=2)
    return folder


def test_a_misspelt_lift_with_a_default_warns_once(copied_digits):
    ours, theirs = compared(copied_digits, copied_digits, lift={"lable": -1, "label": None})
    assert texts_of(ours) == ["no record has the feature 'lable': all have its default, '-1'"]
    assert ours == theirs


def test_a_feature_that_some_shards_lack_does_not_warn(tmp_path):
    ours, theirs = compared(two_shards(tmp_path), tmp_path, id="id", lift={"x": 0}, count=["x"])
    assert ours == theirs == []


def test_an_id_that_only_some_shards_have_is_accepted(tmp_path):
    ours, theirs = compared(two_shards(tmp_path), tmp_path, id="x")
    assert ours == theirs == []


def test_an_id_that_no_record_has_is_an_error(copied_digits):
    before = sorted(copied_digits.iterdir())
    plan = plan_of(copied_digits, copied_digits / "a.rmx", **{**DEFAULTS, "id": "idd"})
    with pytest.raises(recmap.FeatureError, match="no record has the feature") as parts:
        build_in_parts(plan, build_in_tasks)
    with pytest.raises(recmap.FeatureError) as once:
        recmap.index(copied_digits, id="idd", progress=None)
    assert parts.value.message == once.value.message
    assert parts.value.path == str(copied_digits / "a.rmx")
    assert parts.value.advice == "Did you mean 'id'?" and "did you mean" in once.value.advice
    assert sorted(copied_digits.iterdir()) == before


def test_shards_without_records_do_not_count(tmp_path):
    (tmp_path / "made-2.tfrecord").touch()
    ours, theirs = compared(two_shards(tmp_path), tmp_path, lift={"z": 0, "x": 0})
    assert texts_of(ours) == ["no record has the feature 'z': all have its default, '0'"]
    assert ours == theirs
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "made.tfrecord").touch()
    for each in compared(tmp_path / "empty", tmp_path / "empty", lift={"x": 0}):
        (text,) = texts_of(each)
        assert text.endswith("no records: its shard is empty (0 bytes); check that it was written")


@pytest.mark.parametrize("lift", [["x"], ["y", "x", "z", "v"]])
def test_missing_values_are_nulls(tmp_path, lift):
    ours, theirs = compared(two_shards(tmp_path), tmp_path, lift=lift, missing_values="null")
    assert ours == theirs
    with recmap.open(tmp_path / "parts.rmx") as ds:
        assert ds.columns["x"].tolist() == [None, 1]


def test_missing_values_are_errors(tmp_path):
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "x"'):
        compared(two_shards(tmp_path), tmp_path, lift=["x"])
    assert not list(tmp_path.glob("*.rmx")) and not list(tmp_path.glob(".*"))


def test_all_that_one_build_warns_of(copied_digits):
    for i in (1, 2):
        flip(copied_digits / f"digits-0000{i}-of-00004.tfrecord", 5000)
    options = {"lift": {"none": 0}, "count": ["nothing", "image"]}
    ours, theirs = compared(copied_digits, copied_digits, on_bad_record="skip", **options)
    assert sorted(texts_of(ours)) == sorted(texts_of(theirs)) and len(ours) == 4


class ForeignWarning(UserWarning):
    """Of a package that the driver may lack."""


def issue_warnings(monkeypatch, category):
    """Lets each task issue a warning."""
    write_index = parts_module.write_index

    def write_and_warn(*arguments, **named):
        warnings.warn("the token expires soon", category, stacklevel=1)
        return write_index(*arguments, **named)

    monkeypatch.setattr(parts_module, "write_index", write_and_warn)


@pytest.mark.parametrize("category", [RuntimeWarning, ForeignWarning])
def test_other_warnings_of_tasks_are_repeated_once(tmp_path, monkeypatch, category):
    issue_warnings(monkeypatch, category)
    plan = plan_of(two_shards(tmp_path), tmp_path / "a.rmx", **DEFAULTS)
    with pytest.warns() as caught:
        build_in_parts(plan, build_in_tasks)
    expected = RuntimeWarning if category is RuntimeWarning else UserWarning
    assert [(w.category, str(w.message)) for w in caught] == [(expected, "the token expires soon")]


def test_warnings_that_name_shards_are_repeated_for_a_few(tmp_path, monkeypatch):
    """Otherwise there would be one for each of thousands of shards."""
    write_index = parts_module.write_index

    def write_and_warn(path, shards, options, **named):
        for category in (RuntimeWarning, UserWarning):
            for text in (f"{shards[0]} is old", "the token expires soon", f"{shards[0]} is old"):
                warnings.warn(text, category, stacklevel=1)
        return write_index(path, shards, options, **named)

    monkeypatch.setattr(parts_module, "write_index", write_and_warn)
    write(tmp_path, [{"x": i} for i in range(9)], shards=9)
    with pytest.warns() as caught:
        build_in_parts(plan_of(tmp_path, tmp_path / "a.rmx", **DEFAULTS), build_in_tasks)
    shards = [f"{tmp_path / f'made-{i}.tfrecord'} is old" for i in range(4)]
    expected = [shards[0], "the token expires soon", *shards[1:]]
    expected.append("warnings of tasks that are not repeated here: 5")
    for category in (RuntimeWarning, UserWarning):
        assert [str(w.message) for w in caught if w.category is category] == expected
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    "category", [DeprecationWarning, PendingDeprecationWarning, ResourceWarning]
)
def test_warnings_for_developers_of_other_packages_are_not_repeated(
    tmp_path, monkeypatch, category
):
    issue_warnings(monkeypatch, category)
    plan = plan_of(two_shards(tmp_path), tmp_path / "a.rmx", **DEFAULTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_in_parts(plan, build_in_tasks)


def test_a_task_that_outlives_a_failed_build_leaves_no_file(tmp_path, monkeypatch):
    tasks = []
    remove = parts_module.shutil.rmtree

    def fail(parts):
        tasks.extend(parts)
        raise RuntimeError("another task failed")

    def remove_beside_a_task(folder, **options):
        with pytest.raises(FileNotFoundError, match=r"\.parts-"):
            tasks[0].build()
        remove(folder, **options)

    monkeypatch.setattr(parts_module.shutil, "rmtree", remove_beside_a_task)
    plan = plan_of(two_shards(tmp_path), tmp_path / "made.rmx", **DEFAULTS)
    with pytest.raises(RuntimeError, match="another task failed"):
        build_in_parts(plan, fail)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".tfrecord"] * 2


def test_the_error_of_a_task_is_raised_even_if_the_folder_is_gone(tmp_path):
    def fail(parts):
        parts_module.shutil.rmtree(tmp_path / pathlib.Path(parts[0].path).parent)
        raise RuntimeError("a task failed")

    plan = plan_of(two_shards(tmp_path), tmp_path / "made.rmx", **DEFAULTS)
    with pytest.raises(RuntimeError, match="a task failed"):
        build_in_parts(plan, fail)


def test_the_folder_of_parts_is_removed_even_if_it_cannot_be_renamed(tmp_path):
    two_shards(tmp_path)
    path = tmp_path / f"{'x' * 230}.rmx"  # with the suffix of the renamed folder it is too long
    build_in_parts(plan_of(tmp_path, path, **DEFAULTS), build_in_tasks)
    assert len(recmap.open(path)) == 2
    assert not list(tmp_path.glob(".*"))
