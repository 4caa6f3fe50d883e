"""Data sets that are closed, collected, pickled, forked, interrupted and shared by threads."""

import gc
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import time

import numpy as np
import pytest
import recmap
from conftest import DIGITS, write


def test_views_outlive_the_data_set(made, payloads):
    first, batch = made[5], made.gather([1, 2])
    second = batch[1]
    array = np.frombuffer(made[6], np.uint8)
    made.close()
    del batch
    gc.collect()
    assert bytes(first) == payloads[5]
    assert bytes(second) == payloads[2]
    assert array.tobytes() == payloads[6]
    for use in (lambda: made[0], lambda: made.gather([0]), lambda: made.info, lambda: made[0:1]):
        with pytest.raises(ValueError, match="closed"):
            use()
    made.close()
    assert made.closed and len(made) == len(payloads)


@pytest.mark.parametrize("access", ["map", "read", "direct", "auto"])
def test_records_outlive_evicted_shards(tmp_path, access):
    payloads = [f"{i}".encode() * 50 for i in range(200)]
    paths = write(tmp_path, payloads, shards=20)
    ds = recmap.open(paths, access=recmap.Reading(access, shard_limit=2))
    kept = [ds[i] for i in range(len(ds))]
    expected = [payloads[i] for shard in range(20) for i in range(shard, 200, 20)]
    ds.close()
    assert [bytes(record) for record in kept] == expected


def test_only_records_export_memory(made):
    for exporter in (made[0].obj, made.gather([0]), made._handle):
        with pytest.raises(BufferError):
            memoryview(exporter)


@pytest.mark.parametrize(
    "question",
    [
        lambda ds: ds._annotated_columns(),
        lambda ds: ds._column_table(),
        lambda ds: ds._counted_table(),
        lambda ds: ds._fingerprint(),
        lambda ds: ds._id_name(),
        lambda ds: ds._info_json(True),
        lambda ds: ds._record_count(),
        lambda ds: ds._schema(np.arange(3, dtype=np.uint64)),
        lambda ds: ds._shard_table(),
        lambda ds: ds.verify(),
    ],
)
def test_questions_do_not_keep_the_data_set_open(made, question):
    handle = made._handle
    before = sys.getrefcount(handle)
    question(made)
    assert sys.getrefcount(handle) == before


def test_with_closes_the_data_set(tmp_path, payloads):
    write(tmp_path, payloads)

    def maps():
        with open("/proc/self/maps") as file:
            return sum(str(tmp_path) in line for line in file)

    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        ds[0]
        assert maps() >= 1
    assert maps() == 0


def test_pickling_data_sets_and_views(made):
    for ds in (made, made[5:100:7], made[::-1], made.select([5, 3, 3])):
        again = pickle.loads(pickle.dumps(ds))
        assert again.numbers.tolist() == ds.numbers.tolist()
        assert [bytes(r) for r in again[:20]] == [bytes(r) for r in ds[:20]]


def test_unpickling_a_changed_data_set_raises(tmp_path):
    write(tmp_path, [b"a", b"b"])
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    pickled = pickle.dumps(ds)
    write(tmp_path, [b"a", b"c"])
    recmap.open(tmp_path / "made-0.tfrecord", rebuild=True)
    with pytest.raises(recmap.StaleIndexError):
        pickle.loads(pickled)


def test_unpickling_what_another_version_pickled_raises(digits):
    rebuild, parts = digits.__reduce__()
    for others in (
        parts[1:],  # before pickles named a version
        parts[1:3],
        ("0.0.9", *parts[1:]),
        ("9.1.0", *parts[1:], "more"),
    ):
        with pytest.raises(recmap.UnsupportedError, match=r"was pickled by recmap|by another") as e:
            rebuild(*others)
        assert recmap.__version__ in str(e.value) and "one version in all processes" in str(e.value)
    same, _, _ = recmap.__version__.rpartition(".")
    assert len(rebuild(f"{same}.99", *parts[1:])) == len(digits)


def test_unpickling_an_index_of_other_shards_raises(tmp_path):
    """Also if they have the same records, and the index has the same fingerprint."""
    folders = [tmp_path / name for name in ("ours", "others", "index")]
    for folder in folders:
        folder.mkdir()
    (shard,) = write(folders[0], [b"a", b"b"])
    path = folders[2] / "a.rmx"
    ds = recmap.open(shard, index=path)
    pickled = [pickle.dumps(given) for given in (ds, ds[1:], recmap.concat([ds, ds[[0, 0]]]))]
    counts = [len(pickle.loads(given)) for given in pickled]
    assert counts == [2, 1, 4]
    ds.annotate({"score": [1, 2]})
    assert [len(pickle.loads(given)) for given in pickled] == counts
    (other,) = write(folders[1], [b"a", b"b"])
    recmap.index(other, folders[2] / "b.rmx")
    os.rename(folders[2] / "b.rmx", path)
    assert (
        recmap.open(path, access=recmap.Reading(allow_absolute_paths=True)).fingerprint
        == ds.fingerprint
    )
    for given in pickled:
        with pytest.raises(recmap.StaleIndexError, match="index has other shards now") as caught:
            pickle.loads(given)
        assert str(path) in caught.value.path


def _sum(part):
    return sum(len(record) for record in part)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read_pickled_parts(digits, method):
    expected = sum(len(record) for record in digits)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert sum(pool.map(_sum, digits.split(4))) == expected


def test_child_uses_a_data_set_opened_before_the_fork(digits):
    digits[0]
    read, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write_end, bytes(digits[1796])[:20])
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 20) == bytes(digits[1796])[:20]
    os.close(read)
    os.close(write_end)


def test_many_threads_read(made, payloads):
    failures = []

    def read(seed):
        rng = random.Random(seed)
        for _ in range(2000):
            i = rng.randrange(len(payloads))
            if bytes(made[i]) != payloads[i]:
                failures.append(i)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_closing_while_other_threads_read(tmp_path, payloads):
    write(tmp_path, payloads)
    for _ in range(20):
        ds = recmap.open(tmp_path / "made-0.tfrecord")

        def read(ds=ds):
            with pytest.raises(ValueError):
                while True:
                    ds[100]

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        ds.close()
        for thread in threads:
            thread.join()


class Closing:
    """An argument whose conversion closes the data set."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __index__(self):
        self._dataset.close()
        return 1

    def __bool__(self):
        self._dataset.close()
        return False


@pytest.mark.parametrize(
    "use",
    [
        lambda ds, closing: ds[closing],
        lambda ds, closing: ds.gather([closing]),
        lambda ds, closing: ds.find(closing),
        lambda ds, closing: ds.find_all(closing),
        lambda ds, closing: ds.verify(index_only=closing, progress=None),
        lambda ds, closing: ds.verify(threads=closing, progress=None),
    ],
)
def test_arguments_whose_methods_close_the_data_set(tmp_path, payloads, use):
    write(tmp_path, payloads)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    with pytest.raises(ValueError, match="closed"):
        use(ds, Closing(ds))


def test_garbage_collection_inside_getitem(made, payloads):
    """A finaliser that runs during data_set[i] reads records itself."""
    seen = []

    class Node:
        def __init__(self):
            self.self = self

        def __del__(self):
            seen.append(bytes(made[7]) == payloads[7])

    threshold = gc.get_threshold()
    gc.set_threshold(3, 1, 1)
    try:
        for i in range(3000):
            Node()
            assert bytes(made[i]) == payloads[i]
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(seen) > 100 and all(seen)


def test_reading_does_not_leak(made):
    def use():
        for i in range(200):
            made[i]
        made.gather(range(100))[5]
        assert len(made[5:10].numbers) == 5
        with pytest.raises(IndexError):
            made[10**9]

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    for _ in range(50):
        use()
    before = resident()
    for _ in range(500):
        use()
    assert resident() - before < 300  # pages


def test_ctrl_c_stops_indexing(tmp_path):
    with pytest.raises(KeyboardInterrupt):

        def progress(*_):
            signal.raise_signal(signal.SIGINT)

        recmap.index(DIGITS, tmp_path / "x.rmx", progress=progress)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_schema(digits):
    """A schema of this many records takes many seconds unless it is interrupted."""
    many = np.zeros(30_000_000, np.uint64)
    start = time.monotonic()
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        digits._schema(many)
    assert time.monotonic() - start < 10
