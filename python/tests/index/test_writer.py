"""Writing TFRecord files."""

import contextlib
import gc
import gzip
import os
import pathlib
import signal
import subprocess
import sys
import threading
import warnings
import zlib

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


def test_names_have_shard_numbers(tmp_path):
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
    for name in "out@", "@2", "out@02", "out@x", "out@0x":
        assert names_of(name) == [name]
    with pytest.raises(ValueError, match="means 2 shards, but shards is 3"):
        recmap.Writer(tmp_path / "out@2", 3)
    for name in "out@0", "out@00.gz", "out@2000000":
        with pytest.raises(ValueError, match="a set has 1 to 1000000 shards"):
            recmap.Writer(tmp_path / name)
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


def test_an_index_with_annotated_columns_is_not_replaced(tmp_path):
    options = {"index": tmp_path / "a.rmx", "lift": ["label"]}
    with recmap.Writer(tmp_path / "a", **options) as writer:
        writer.write({"label": 1})
    recmap.open(tmp_path / "a.rmx").annotate({"score": [0.5]})
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(recmap.FeatureError, match="lose its annotated column 'score'"):
        recmap.Writer(tmp_path / "a", **options)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    recmap.open(tmp_path / "a.rmx").annotate(drop=["score"])
    with recmap.Writer(tmp_path / "a", **options) as writer:
        writer.write({"label": 2})


def test_the_index_is_not_a_file_of_records(tmp_path):
    for pattern, shards in (("a.rmx", None), ("b-{shard}.rmx", 3)):
        name = pattern.format(shard=1)
        with pytest.raises(ValueError, match="the index would replace the file"):
            recmap.Writer(tmp_path / pattern, shards, index=tmp_path / name)
    assert not list(tmp_path.iterdir())
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(ValueError, match="the index would replace the file"):
        recmap.Writer(tmp_path / "real" / "a.rmx", index=tmp_path / "link" / "a.rmx")
    (tmp_path / "b.rmx").symlink_to("b.tfrecord")  # is replaced, not followed
    with recmap.Writer(tmp_path / "b.tfrecord", index=tmp_path / "b.rmx") as writer:
        writer.write(b"a record")
    assert bytes(recmap.open(tmp_path / "b.rmx")[0]) == b"a record"


def test_the_path_of_the_index_is_checked_before_records_are_written(tmp_path):
    (tmp_path / "folder.rmx").mkdir()
    with pytest.raises(ValueError, match="must be the path of a file"):
        recmap.Writer(tmp_path / "a", index=tmp_path / "folder.rmx")
    with pytest.raises(FileNotFoundError, match="the folder of the index does not exist"):
        recmap.Writer(tmp_path / "a", index=tmp_path / "none" / "a.rmx")
    with pytest.raises(FileNotFoundError) as raised:
        recmap.Writer(tmp_path / "none" / "a", index=None)
    assert str(raised.value).splitlines() == [
        f"{tmp_path}/none: cannot resolve the path: No such file or directory",
        "  create the folder first, or check the path",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["folder.rmx"]


@pytest.mark.parametrize("pattern", ["a.tfrecord", "a@2.tfrecord.gz"])
def test_the_index_does_not_replace_another_file(tmp_path, pattern):
    (tmp_path / "notes.txt").write_text("keep me")
    with pytest.raises(recmap.InvalidError, match="already exists and is not a recmap index"):
        recmap.Writer(tmp_path / pattern, index=tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    (tmp_path / "reserved").touch()  # nothing is lost with an empty file, or with an index
    for _ in range(2):
        with recmap.Writer(tmp_path / pattern, index=tmp_path / "reserved") as writer:
            writer.write(b"a record")
    assert (tmp_path / "notes.txt").read_text() == "keep me"


@pytest.mark.parametrize("name", ["{x}", "{", "{}", "}", "{shard.x}", "{shard:q}"])
def test_braces_that_are_not_a_pattern(tmp_path, name):
    with pytest.raises(ValueError, match=r"is not a pattern: braces are for \{shard\}"):
        recmap.Writer(tmp_path / name)
    with recmap.Writer(tmp_path / "{{x}}") as writer:
        writer.write(b"a")
    assert (tmp_path / "{x}").exists()


def nulls_of(path, records, shards, **options):
    with recmap.Writer(path, shards, index=path.parent / "a.rmx", **options) as writer:
        for record in records:
            writer.write(record)
    return recmap.open(path.parent / "a.rmx")


RECORDS = [
    {"score": 0.5, "lang": "de", "n": 1},
    {"score": None, "lang": None, "n": None},
    {"score": [], "n": []},
    {"lang": "fr", "n": -(2**63)},
    {"other": None},
]


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_missing_values_are_nulls(tmp_path, shards):
    names = ["score", "lang", "n", "no"]
    pattern = tmp_path / "a-{shard}.tfrecord"
    ds = nulls_of(pattern, RECORDS, shards, lift=names, missing_values="null")
    order = [i for first in range(shards) for i in range(first, len(RECORDS), shards)]
    found = {name: ds.columns[name].tolist() for name in names}
    assert found == {
        "score": [[0.5, None, None, None, None][i] for i in order],
        "lang": [[b"de", None, None, b"fr", None][i] for i in order],
        "n": [[1, None, None, -(2**63), None][i] for i in order],
        "no": [None] * 5,
    }
    with pytest.warns(UserWarning, match="no record has the feature 'no': all have null"):
        index = recmap.index(
            sorted(tmp_path.glob("*.tfrecord")),
            tmp_path / "again.rmx",
            lift=names,
            missing_values="null",
            progress=None,
        )
    assert pathlib.Path(index).read_bytes() == (tmp_path / "a.rmx").read_bytes()


def test_a_default_precedes_nulls(tmp_path):
    lift = {"n": 7, "score": None}
    ds = nulls_of(tmp_path / "a.tfrecord", RECORDS, 1, lift=lift, missing_values="null")
    assert ds.columns["n"].tolist() == [1, 7, 7, -(2**63), 7]
    assert ds.columns["score"].tolist() == [0.5, None, None, None, None]


@pytest.mark.parametrize("options", [{}, {"missing": "error"}])
def test_missing_values_are_errors(tmp_path, options):
    with (
        pytest.raises(recmap.FeatureError, match='no value of lifted feature "n"') as caught,
        recmap.Writer(
            tmp_path / "a.tfrecord", index=tmp_path / "a.rmx", lift=["n"], **options
        ) as w,
    ):
        w.write({"n": 1})
        w.write({"n": None})
    assert 'missing_values="null"' in caught.value.advice
    assert list(tmp_path.iterdir()) == []


def test_missing_must_be_a_choice(tmp_path):
    with pytest.raises(
        ValueError, match="missing_values must be one of 'error', 'null', not 'drop'"
    ):
        recmap.Writer(tmp_path / "a.tfrecord", missing="drop")
    assert list(tmp_path.iterdir()) == []


def test_nulls_need_lifted_columns(tmp_path):
    needs = 'missing_values is "null", which is about lifted columns: name some with lift'
    for options in {}, {"index": tmp_path / "a.rmx", "id": "id"}:
        with pytest.raises(ValueError, match=needs):
            recmap.Writer(tmp_path / "a.tfrecord", missing_values="null", **options)
    assert list(tmp_path.iterdir()) == []


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


def test_records_are_written_again_after_a_failure(tmp_path):
    writer = recmap.Writer(tmp_path / "a.tfrecord", index=tmp_path / "a.rmx", id="id")
    with pytest.raises(recmap.FeatureError, match=r"is not a tf.Example"):
        writer.write(b"x")
    for call in (lambda: writer.write({"id": 1}), writer.close):
        with pytest.raises(recmap.InvalidError, match=r"(?s)not kept.*write all records again"):
            call()
    assert not list(tmp_path.iterdir())


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


def leave_with(writer):
    with contextlib.suppress(KeyError), writer:
        raise KeyError


def delete(writer):
    writer.__dict__.clear()


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda writer: writer.write(b"child"), "belongs to the process that forked this one"),
        (recmap.Writer.close, "belongs to the process that forked this one"),
        (recmap.Writer.abandon, ""),
        (leave_with, ""),
        (delete, ""),
    ],
    ids=["write", "close", "abandon", "with", "delete"],
)
def test_child_that_is_forked_while_another_thread_writes(tmp_path, use, message):
    """The child has a copy of a lock that no thread of it will ever release."""
    writer = recmap.Writer(tmp_path / "a.tfrecord.gz", index=tmp_path / "a.rmx", threads=2)
    record, stops = np.random.default_rng(1).bytes(1000), threading.Event()

    def write_all():
        while not stops.is_set():
            writer.write(record)

    thread = threading.Thread(target=write_all)
    thread.start()
    try:
        statuses = [child_status(lambda: use(writer), message) for _ in range(5)]
    finally:
        stops.set()
        thread.join()
    writer.close()
    assert statuses == [0] * 5
    with recmap.open(tmp_path / "a.rmx") as ds:
        assert len(ds) == len(writer)
        assert ds.verify()["records_good"] == len(writer)


def child_status(use, message):
    """Forks a child that must raise an InvalidError with the message, or nothing if it is ""."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    signal.alarm(5)  # ends a child that hangs
    found = ""
    try:
        use()
    except recmap.InvalidError as error:
        found = error.message
    finally:
        os._exit(not (message in found and bool(message) == bool(found)))


def test_a_name_that_says_otherwise_is_refused(tmp_path):
    for name, compression in (
        ("x.bz2", "auto"),
        ("x.gz", "none"),
        ("x.zlib", "gzip"),
        ("x.GZ", "none"),
        ("x.Lz4", "gzip"),
    ):
        with pytest.raises(recmap.InvalidError, match="but the compression is") as caught:
            recmap.Writer(tmp_path / f"{{shard}}-{name}", shards=2, compression=compression)
        assert ".gz for GZIP" in caught.value.advice
    with pytest.raises(ValueError, match="compression must be"):
        recmap.Writer(tmp_path / "x", compression="zstd")
    with pytest.raises(ValueError, match="threads must not be negative, but is -1"):
        recmap.Writer(tmp_path / "x.gz", threads=-1)
    assert not list(tmp_path.iterdir())


def documents(count):
    """Records of some text, some noise and some zeros: about 1.5 kB each."""
    random = np.random.default_rng(3)
    words = [b"%d" % word for word in range(3000)]
    for i in range(count):
        text = b" ".join(words[word] for word in random.integers(0, 3000, 200))
        yield {"id": f"document {i}", "text": text + random.bytes(i % 500) + bytes(i % 300)}


def write_documents(folder, name, **options):
    folder.mkdir(exist_ok=True)
    options.setdefault("index", folder / "out.rmx")
    with recmap.Writer(folder / name, id="id", **options) as writer:
        for document in documents(5000):
            writer.write(document)
    return [pathlib.Path(path) for path in writer.paths]


@pytest.mark.parametrize(
    "name, module", [("a@2.gz", gzip), ("a@2.zlib", zlib), ("a@2.GZ", gzip), ("a.gz@2", gzip)]
)
def test_compressed_files_are_those_of_a_plain_writer(tmp_path, name, module):
    plain = write_documents(tmp_path / "plain", "a@2")
    packed = write_documents(tmp_path / "packed", name)
    for one, other in zip(plain, packed, strict=True):
        assert module.decompress(other.read_bytes()) == one.read_bytes()
        assert other.stat().st_size < one.stat().st_size * 0.8
    a, b = recmap.open(tmp_path / "plain" / "out.rmx"), recmap.open(tmp_path / "packed" / "out.rmx")
    assert [shard["compression"] for shard in b.shards] == [module.__name__] * 2
    numbers = np.random.default_rng(1).permutation(5000)
    assert [bytes(r) for r in a.gather(numbers)] == [bytes(r) for r in b.gather(numbers)]
    assert b.find("document 4998") == a.find("document 4998")
    assert b.verify()["records_good"] == 5000


def test_threads_do_not_change_compressed_files_nor_their_index(tmp_path):
    paths = [
        write_documents(tmp_path / str(threads), "a@3.tfrecord.gz", threads=threads)
        for threads in (1, 2, 5)
    ]
    for shards in zip(*paths, strict=True):
        assert len({shard.read_bytes() for shard in shards}) == 1
    folder = tmp_path / "2"
    recmap.index(folder / "a@3.tfrecord.gz", folder / "scanned.rmx", id="id", progress=None)
    assert (folder / "scanned.rmx").read_bytes() == (folder / "out.rmx").read_bytes()


def test_other_threads_run_while_a_record_is_compressed(tmp_path):
    """A small record may fill the buffer, so none is written with the GIL held."""
    with recmap.Writer(tmp_path / "a.gz", threads=1) as writer:
        pieces = [np.random.default_rng(i).bytes(1000) for i in range(4)]
        threads = [
            threading.Thread(target=lambda piece=piece: [writer.write(piece) for _ in range(3000)])
            for piece in pieces
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(recmap.open(tmp_path / "a.gz")) == 12000


PEAK = """
import random, sys
import recmap

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

record = random.Random(1).randbytes(1 << 20)
before = peak()
with recmap.Writer(sys.argv[1], threads=4) as writer:
    for _ in range(8 * 12):
        writer.write(record)
print(peak() - before)
"""


def test_memory_of_compressing(tmp_path):
    """At most 4 MiB for each thread and shard."""
    command = [sys.executable, "-c", PEAK, str(tmp_path / "a@8.gz")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert 8 * 4 * 2 < int(done.stdout) / 1024 <= 8 * 4 * 4


@pytest.mark.parametrize("compression, name", [("GZIP", "a.gz"), ("ZLIB", "a.zlib")])
def test_tensorflow_reads_compressed_files(tmp_path, compression, name):
    tensorflow = pytest.importorskip("tensorflow")
    (path,) = write_documents(tmp_path, name)
    read = tensorflow.data.TFRecordDataset(str(path), compression_type=compression)
    expected = [bytes(record) for record in recmap.open(tmp_path / "out.rmx")]
    assert [record.numpy() for record in read] == expected


def test_gzip_tests_compressed_files(tmp_path):
    (path,) = write_documents(tmp_path, "a.gz")
    subprocess.run(["gzip", "--test", path], check=True)


def test_a_writer_that_is_not_closed_says_what_is_lost(tmp_path):
    writer = recmap.Writer(tmp_path / "a@3.tfrecord", index=tmp_path / "a.rmx")
    writer.write(b"x")
    message = r"a-00000-of-00003.tfrecord' and 2 more was not closed: 1 record is lost"
    with pytest.warns(RuntimeWarning, match=message):
        del writer
        gc.collect()
    assert not list(tmp_path.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Writer(tmp_path / "b").abandon()
        recmap.Writer(tmp_path / "b").close()
        with pytest.raises(TypeError):
            recmap.Writer(tmp_path / "b-{shard}", 2, threads="x")
        gc.collect()


def test_shards_of_an_older_set_are_named(tmp_path):
    def write(pattern, shards, **options):
        with recmap.Writer(tmp_path / pattern, shards, **options) as writer:
            for i in range(12):
                writer.write({"id": f"r{i}"})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write("d-{shard}.tfrecord", 4)
        write("d-{shard}.tfrecord", 4)
        write("d-{shard:05d}-of-{shards}.x", 4)
        for other in ("d-x.tfrecord", "e-3.tfrecord", "d-9.tfrecord.gz", "{shard}"):
            (tmp_path / other).touch()
        write("plain.tfrecord", 1)
    index = tmp_path / "d.rmx"
    message = r"2 files of this pattern are not of this set of 2: d-2.tfrecord, d-3.tfrecord\. Rem"
    with pytest.warns(UserWarning, match=message) as caught:
        write("d-{shard}.tfrecord", 2, index=index, id="id")
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="1 file of this pattern is not .*: d-00003-of-4.x"):
        (tmp_path / "d-00000-of-4.x").unlink()
        (tmp_path / "d-00001-of-4.x").unlink()
        (tmp_path / "d-00002-of-4.x").unlink()
        write("d-{shard:05d}-of-{shards}.x", 3)
    (tmp_path / "d-x.tfrecord").unlink()
    message = r"d\.rmx: 6 appended records have the id \('id'\) of a record that the index had"
    with pytest.warns(UserWarning, match=message):
        recmap.open(str(tmp_path / "d-*.tfrecord"), index=index, id="id").close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(str(tmp_path / "d-*.tfrecord"), index=index, id="id").close()
        # Ids that repeat only among the new records, or that records of the old index repeat.
        write("n.tfrecord", 1)
        paths = [tmp_path / "n.tfrecord", tmp_path / "o.tfrecord"]
        with recmap.Writer(paths[1]) as writer:
            for name in ("s0", "s0", "s1"):
                writer.write({"id": name})
        recmap.open(paths[0], index=tmp_path / "n.rmx", id="id").close()
        recmap.open(paths, index=tmp_path / "n.rmx").close()


def test_another_copy_of_the_set_is_named(tmp_path):
    def write(name, **options):
        with recmap.Writer(tmp_path / name, **options) as writer:
            writer.write(b"x")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in "s@4.tfrecord", "fold1@2.tfrecord", "fold2@2.tfrecord", "s-train@2.tfrecord":
            write(name)
        write("s@4.tfrecord")  # replaces the same files
        write("x.tfrecord")
    message = "two copies of one set: .*s@{}.* and .*s@{}.*Remove the older one"
    with pytest.warns(UserWarning, match=message.format(2, 4)) as caught:
        write("s@2.tfrecord")
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="two copies of one set"):
        write("x.tfrecord.gz")
    with pytest.raises(recmap.InvalidError, match="sets of shards"):
        recmap.open(tmp_path)


@pytest.mark.parametrize("pattern", ["a.tfrecord", "out@2.tfrecord"])
def test_replacing_shards_that_have_an_index_warns(tmp_path, pattern):
    with recmap.Writer(tmp_path / pattern) as writer:
        writer.write(b"first")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with recmap.Writer(tmp_path / pattern) as writer:
            writer.write(b"second")
    index = recmap.open(tmp_path / pattern).index_path
    with pytest.warns(UserWarning, match="has the index .*the index does not fit"):
        writer = recmap.Writer(tmp_path / pattern)
    writer.abandon()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.Writer(tmp_path / pattern, index=index).abandon()
    assert len(recmap.open(tmp_path / pattern)) == 1
