"""Writing TFRecord files."""

import contextlib
import os

import numpy as np
import pytest
import recmap
from conftest import write


def test_records_go_to_shards_in_turn(tmp_path):
    payloads = [str(i).encode() * i for i in range(20)]
    paths = write(tmp_path, payloads, shards=3)
    assert [path.name for path in paths] == [f"made-{i}.tfrecord" for i in range(3)]
    for i, path in enumerate(paths):
        assert [bytes(r) for r in recmap.open(path)] == payloads[i::3]


def test_names(tmp_path):
    writer = recmap.Writer(str(tmp_path / "out-{shard:05d}-of-{shards:05d}.tfrecord"), shards=4)
    writer.write(b"x")
    assert len(writer) == 1
    assert not list(tmp_path.glob("*.tfrecord"))
    writer.close()
    writer.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"out-{i:05d}-of-00004.tfrecord" for i in range(4)
    ]
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"x")
    for wrong in ({"shards": 2}, {"shards": 0}, {"id": "x"}):
        with pytest.raises(ValueError):
            recmap.Writer(tmp_path / "one.tfrecord", **wrong)


def test_sets_of_shards(tmp_path):
    payloads = [str(i).encode() * i for i in range(20)]
    with recmap.Writer(tmp_path / "out@3.tfrecord", index=tmp_path / "out.rmx") as writer:
        for payload in payloads:
            writer.write(payload)
    names = [f"out-{i:05}-of-00003.tfrecord" for i in range(3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names, "out.rmx"]
    expected = payloads[0::3] + payloads[1::3] + payloads[2::3]
    assert [bytes(record) for record in recmap.open(tmp_path / "out.rmx")] == expected
    again = recmap.open(tmp_path / "out@3.tfrecord", index=tmp_path / "again.rmx")
    assert [bytes(record) for record in again] == expected


def test_names_of_sets(tmp_path):
    def names_of(name, shards=None):
        writer = recmap.Writer(tmp_path / name, shards)
        writer.abandon()
        return [os.path.basename(path) for path in writer.paths]

    assert names_of("out@2") == ["out-00000-of-00002", "out-00001-of-00002"]
    assert names_of("a@b@1", 1) == ["a@b-00000-of-00001"]
    assert names_of("{x}@1") == ["{x}-00000-of-00001"]
    for name in "out@", "@2", "out@02", "out@x", "out@2000000":
        assert names_of(name) == [name]
    with pytest.raises(ValueError, match="means 2 shards, but shards is 3"):
        recmap.Writer(tmp_path / "out@2", 3)
    assert not list(tmp_path.iterdir())


def write_invalid(folder):
    options = {"index": folder / "out.rmx", "lift": ["label"]}
    with recmap.Writer(folder / "out@3", **options) as writer:
        writer.write({"label": 1})
        writer.write({"other": 1})


def test_failures_leave_no_temporary_files(tmp_path):
    def write(error=None):
        options = {"index": tmp_path / "out.rmx", "id": "id"}
        with recmap.Writer(tmp_path / "out@3", **options) as writer:
            for i in range(10):
                writer.write({"id": str(i)})
            if error is not None:
                raise error

    for error in KeyboardInterrupt, MemoryError:
        with pytest.raises(error):
            write(error)
        assert not list(tmp_path.iterdir())
    with pytest.raises(recmap.FeatureError):  # when the second shard is closed
        write_invalid(tmp_path)
    assert not list(tmp_path.iterdir())
    blocked = tmp_path / "out-00002-of-00003"
    (blocked / "inner").mkdir(parents=True)
    with pytest.raises(OSError):
        write()
    assert list(tmp_path.iterdir()) == [blocked]


def test_an_interrupt_while_closing_leaves_no_files(tmp_path, monkeypatch):
    """Neither does a change of the folder make it remove files of the same names there."""

    class Interrupted:
        def __init__(self, writer):
            self.abandon = writer.abandon

        def close(self):
            assert (tmp_path / "out-00000-of-00003").exists()
            raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    writer = recmap.Writer("out@3", index="out.rmx")
    writer.write(b"x")
    writer._writers[1] = Interrupted(writer._writers[1])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "out-00000-of-00003").write_bytes(b"")
    monkeypatch.chdir(elsewhere)
    with pytest.raises(KeyboardInterrupt):
        writer.close()
    assert list(tmp_path.iterdir()) == [elsewhere]
    assert len(list(elsewhere.iterdir())) == 1


def test_failed_writer_leaves_no_files(tmp_path):
    with pytest.raises(ZeroDivisionError), recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write(b"x")
        raise ZeroDivisionError
    with pytest.raises(FileNotFoundError):
        recmap.Writer(tmp_path / "no" / "a.tfrecord")
    assert list(tmp_path.iterdir()) == []


def test_index_is_built_while_writing(tmp_path):
    pattern = str(tmp_path / "a-{shard}.tfrecord")
    index = tmp_path / "a.rmx"
    with recmap.Writer(pattern, 3, index=index, id="name", lift={"label": -1}) as writer:
        for i in range(100):
            writer.write({"name": f"n{i}", **({"label": i} if i % 2 else {})})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a-0.tfrecord",
        "a-1.tfrecord",
        "a-2.tfrecord",
        "a.rmx",
    ]
    ds = recmap.open(tmp_path / "a-*.tfrecord", id="name", lift={"label": -1}, index=index)
    written = index.read_bytes()
    recmap.open(tmp_path / "a-*.tfrecord", id="name", lift={"label": -1}, index=index, rebuild=True)
    assert index.read_bytes() == written
    assert len(ds) == 100 and ds.find("n42") == 14


def test_types_of_records(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for record in (b"x", bytearray(b"y"), memoryview(b"z"), np.frombuffer(b"w", np.uint8)):
            writer.write(record)
        for wrong in ("text", 3, None):
            with pytest.raises(TypeError):
                writer.write(wrong)
    assert b"".join(recmap.open(tmp_path / "a.tfrecord")) == b"xyzw"


def test_writer_continues_after_an_invalid_value(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write({"x": 1})
        with pytest.raises(TypeError):
            writer.write({"x": object()})
        with pytest.raises(TypeError):
            writer.write(3)
        writer.write({"x": 2})
        assert len(writer) == 2
    assert len(recmap.open(tmp_path / "a.tfrecord")) == 2


def test_non_contiguous_bytes_raise(tmp_path):
    with recmap.Writer(tmp_path / "a-{shard}.tfrecord", shards=2) as writer:
        writer.write(b"one")
        with pytest.raises(ValueError, match="contiguous"):
            writer.write(memoryview(b"1234")[::2])
        writer.write(b"two")
        assert len(writer) == 2
    for shard, record in enumerate([b"one", b"two"]):
        assert list(recmap.open(tmp_path / f"a-{shard}.tfrecord")) == [record]


def test_pattern_can_be_bytes(tmp_path):
    with recmap.Writer(os.fsencode(tmp_path) + b"/\xfc-{shard}.tfrecord") as writer:
        writer.write(b"x")
    assert list(recmap.open(os.fsencode(tmp_path) + b"/\xfc-0.tfrecord")) == [b"x"]


def test_closing_while_a_record_is_encoded(tmp_path):
    writer = recmap.Writer(tmp_path / "a.tfrecord")

    class Closing(dict):
        def items(self):
            writer.close()
            return super().items()

    with pytest.raises(ValueError, match="closed"):
        writer.write(Closing(x=1))


@pytest.mark.parametrize("leave", ["close", "abandon"])
def test_child_process_does_not_touch_the_parents_file(tmp_path, leave):
    with recmap.Writer(tmp_path / "a.tfrecord", index=tmp_path / "a.rmx") as writer:
        writer.write(b"one")
        if not (child := os.fork()):
            with contextlib.suppress(ValueError):
                getattr(writer, leave)()
            os._exit(0)
        os.waitpid(child, 0)
        writer.write(b"two")
    assert list(recmap.open(tmp_path / "a.rmx")) == [b"one", b"two"]


def test_a_name_that_says_compressed_is_refused(tmp_path):
    with pytest.raises(recmap.InvalidError, match="does not compress") as caught:
        recmap.Writer(tmp_path / "x-{shard}.tfrecord.gz", shards=2)
    assert "then compress the file" in caught.value.advice
    assert not list(tmp_path.iterdir())
