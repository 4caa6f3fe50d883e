"""Objects that many threads use at once. Free-threaded builds of CPython run them in parallel."""

import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import recmap
from conftest import write

THREADS = 8
NUMBER = {"n": recmap.FixedLen((), "int64")}


def in_threads(*functions):
    """Calls all functions at the same time, and raises what they raise."""
    start = threading.Barrier(len(functions))

    def call(function):
        start.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result() for future in [pool.submit(call, f) for f in functions]]


@pytest.fixture
def numbered(tmp_path):
    write(tmp_path, [recmap.encode_example({"n": n}) for n in range(4000)], name="n.tfrecord")
    with recmap.open(tmp_path / "n.tfrecord") as ds:
        yield ds


def test_importing_leaves_the_gil_disabled():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this is not a free-threaded build")
    import recmap._recmap  # noqa: F401

    assert not sys._is_gil_enabled()


def test_threads_gather_parse_and_export_at_once(numbered):
    def use(seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            numbers = random.integers(len(numbered), size=50)
            batch = numbered.parse(numbers, NUMBER)
            assert (np.from_dlpack(batch["n"]) == numbers).all()
            records = numbered.gather(numbers)
            assert records[7] == numbered[int(numbers[7])]

    in_threads(*[lambda seed=seed: use(seed) for seed in range(THREADS)])


def test_threads_reuse_the_memory_of_batches(numbered):
    def use(seed):
        expected = bytes(numbered[seed])
        for _ in range(10000):
            assert numbered.gather([seed])[0] == expected

    in_threads(*[lambda seed=seed: use(seed) for seed in range(THREADS)])


def test_threads_share_a_batch(numbered):
    for first in range(0, 2000, 100):
        shared = numbered.parse(range(first, first + 100), NUMBER)
        arrays = in_threads(*[lambda b=shared: np.from_dlpack(b["n"])] * THREADS)
        del shared
        for array in arrays:
            assert (array == np.arange(first, first + 100)).all()


def test_closing_while_threads_read(tmp_path, numbered):
    path = tmp_path / "n.tfrecord"
    expected = bytes(numbered[17])

    def read(ds):
        try:
            while True:
                assert ds[17] == expected
                assert len(ds.gather([17, 3])) == 2
        except ValueError as error:
            assert "closed" in str(error)

    for _ in range(20):
        ds = recmap.open(path)
        in_threads(*[lambda ds=ds: read(ds)] * (THREADS - 1), ds.close)


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_threads_share_an_iterator(numbered, transform):
    loader = recmap.Loader(
        numbered, 2, shuffle=True, seed=3, features=NUMBER, transform=transform, threads=2
    )
    iterator = iter(loader)

    def take():
        return [n for batch in iterator for n in batch["n"].tolist()]

    taken = in_threads(*[take] * THREADS)
    assert sorted(sum(taken, [])) == list(range(len(numbered)))


def test_threads_move_a_loader_that_others_iterate_over(numbered):
    loader = recmap.Loader(numbered, 10, features=NUMBER, transform=lambda b: b["n"].tolist())
    is_over = threading.Event()

    def iterate():
        while not is_over.is_set():
            for numbers in loader:
                assert numbers == list(range(numbers[0], numbers[0] + 10))

    def move(seed):
        random = np.random.default_rng(seed)
        try:
            for _ in range(40):
                state = loader.state_dict()
                loader.seek(0, int(random.integers(400)) * 10)
                loader.load_state_dict(state)
                assert loader.position % 10 == 0
        finally:
            is_over.set()

    in_threads(iterate, iterate, lambda: move(1), lambda: move(2))
    loader.close()


def test_threads_write_one_shard(tmp_path):
    with recmap.Writer(str(tmp_path / "w.tfrecord")) as writer:

        def add(first):
            for n in range(first, first + 300):
                writer.write(b"%d" % n * 40)

        in_threads(*[lambda first=first: add(first) for first in range(0, 2400, 300)])
    with recmap.open(tmp_path / "w.tfrecord") as ds:
        assert sorted(map(bytes, ds)) == sorted(b"%d" % n * 40 for n in range(2400))
