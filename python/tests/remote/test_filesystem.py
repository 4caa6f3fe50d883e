"""Shards that a filesystem of fsspec or a store of obstore reads. The oracle is the same data set,
read from local files."""

import asyncio
import gc
import math
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid

import numpy as np
import pytest
import recmap
from conftest import DIGITS, flip, needs_cache_space

fsspec = pytest.importorskip("fsspec")


def shards_of():
    return sorted(DIGITS.glob("*.tfrecord"))


class Setting:
    """A filesystem with the digits in it."""

    def __init__(self, fs, prefix, write):
        self.fs, self.prefix, self.write = fs, prefix, write
        for shard in shards_of():
            write(f"{prefix}{shard.name}", shard.read_bytes())

    @property
    def pattern(self):
        return f"{self.prefix}*.tfrecord"


def memory_setting(tmp_path):
    folder = f"digits-{uuid.uuid4().hex}"
    fs = fsspec.filesystem("memory")
    return Setting(fs, f"memory://{folder}/", lambda name, data: fs.pipe(name, data))


def local_setting(tmp_path):
    fs = fsspec.filesystem("file")
    (tmp_path / "data").mkdir()
    return Setting(fs, f"file://{tmp_path}/data/", lambda name, data: fs.pipe(name, data))


def plain_setting(tmp_path):
    fs = fsspec.filesystem("file")
    (tmp_path / "data").mkdir()
    return Setting(fs, f"{tmp_path}/data/", lambda name, data: fs.pipe(name, data))


def folder_setting(tmp_path):
    from fsspec.implementations.dirfs import DirFileSystem

    (tmp_path / "data" / "part").mkdir(parents=True)
    fs = DirFileSystem(str(tmp_path / "data"), fs=fsspec.filesystem("file"))
    return Setting(fs, "part/", lambda name, data: fs.pipe(name, data))


def obstore_memory_setting(tmp_path):
    store = pytest.importorskip("obstore.store").MemoryStore()
    return Setting(store, "digits/", lambda name, data: store.put(name, data))


def obstore_local_setting(tmp_path):
    local = pytest.importorskip("obstore.store").LocalStore
    (tmp_path / "data").mkdir()
    store = local(str(tmp_path / "data"))
    return Setting(store, "digits/", lambda name, data: store.put(name, data))


SETTINGS = [
    memory_setting,
    local_setting,
    plain_setting,
    folder_setting,
    obstore_memory_setting,
    obstore_local_setting,
]


@pytest.fixture(params=SETTINGS, ids=lambda setting: setting.__name__.removesuffix("_setting"))
def setting(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture
def memory(tmp_path):
    return memory_setting(tmp_path)


def opened(setting, tmp_path, on_bad_record="error", **more):
    """More fields of Storage are passed on."""
    contents = {"id": "id", "lift": ["label"], "index": tmp_path / "digits.rmx"}
    contents["on_bad_record"] = on_bad_record
    return recmap.open(setting.pattern, **contents, storage=recmap.Storage(fs=setting.fs, **more))


def test_reads_what_local_files_have(setting, tmp_path, digits):
    with opened(setting, tmp_path) as ds:
        assert [bytes(record) for record in ds] == [bytes(record) for record in digits]
        assert bytes(ds[1234]) == bytes(digits[1234])
        numbers = np.random.default_rng(3).permutation(len(ds))[:300]
        assert [bytes(r) for r in ds.gather(numbers)] == [bytes(digits[int(n)]) for n in numbers]
        id = recmap.decode_example(digits[7])["id"][0]
        assert ds.find(id) == digits.find(id) == 7
        assert (ds.columns["label"][:] == digits.columns["label"][:]).all()
        ds.verify()


def test_index_is_that_of_local_files_but_for_names(setting, tmp_path, digits):
    with opened(setting, tmp_path) as ds:
        assert ds.fingerprint == digits.fingerprint
        assert len(ds) == len(digits)


def test_merge_needs_the_filesystem(setting, tmp_path):
    parts = [tmp_path / f"{i}.rmx" for i in range(2)]
    for i, part in enumerate(parts):
        source = f"{setting.prefix}digits-0000{i}-of-00004.tfrecord"
        recmap.index(source, part, id="id", storage=recmap.Storage(fs=setting.fs), progress=None)
    counts = recmap.merge(tmp_path / "both.rmx", parts, storage=recmap.Storage(fs=setting.fs))
    assert counts["shards"] == 2
    with recmap.open(
        tmp_path / "both.rmx", storage=recmap.Storage(fs=setting.fs, allow_urls=True)
    ) as ds:
        assert ds.find("digit-00042") == 42 and len(ds) == counts["records"]
        assert recmap.decode_example(ds[len(ds) - 1])["id"] == [f"digit-{len(ds) - 1:05d}".encode()]


def test_opening_again_uses_the_index(setting, tmp_path):
    opened(setting, tmp_path).close()
    before = (tmp_path / "digits.rmx").stat().st_mtime_ns
    with opened(setting, tmp_path) as ds:
        assert len(bytes(ds[0]))
    assert (tmp_path / "digits.rmx").stat().st_mtime_ns == before


def test_parse_and_loader_with_threads(setting, tmp_path, digits):
    features = {"label": recmap.FixedLen((), "int64")}
    with opened(setting, tmp_path) as ds:
        ours = recmap.Loader(ds, 64, features=features, shuffle=True, seed=5, threads=3)
        theirs = recmap.Loader(digits, 64, features=features, shuffle=True, seed=5)
        for a, b in zip(ours, theirs, strict=True):
            assert (a["label"] == b["label"]).all()


def test_folders_are_names_that_end_with_a_slash(memory, tmp_path, digits):
    folder = memory.prefix.removeprefix("memory:/")
    for number, name in enumerate((folder, memory.prefix, f"memory://{folder.strip('/')}/")):
        with recmap.open(
            name, index=tmp_path / f"{number}.rmx", storage=recmap.Storage(fs=memory.fs)
        ) as ds:
            assert len(ds) == len(digits)
    with pytest.raises(recmap.Error, match="end its name with a slash"):
        recmap.open(
            f"fs:///{folder.strip('/')}",
            index=tmp_path / "none.rmx",
            storage=recmap.Storage(fs=memory.fs),
        )


def test_the_root_of_a_filesystem_is_a_folder(tmp_path, digits):
    fs = fsspec.filesystem("memory", skip_instance_cache=True)
    name = tmp_path.name
    for shard in shards_of():
        fs.pipe(f"/{name}/{shard.name}", shard.read_bytes())
    with recmap.open(
        f"memory://{name}", index=tmp_path / "a.rmx", storage=recmap.Storage(fs=fs)
    ) as ds:
        assert len(ds) == len(digits)


def test_the_names_in_an_index_need_allow_urls(memory, tmp_path):
    opened(memory, tmp_path).close()
    with pytest.raises(recmap.InvalidError, match="in a remote store"):
        recmap.open(tmp_path / "digits.rmx", storage=recmap.Storage(fs=memory.fs))
    with recmap.open(
        tmp_path / "digits.rmx", storage=recmap.Storage(fs=memory.fs, allow_urls=True)
    ) as ds:
        assert len(bytes(ds[5]))
    with pytest.raises(recmap.InvalidError, match="scheme"):
        recmap.open(tmp_path / "digits.rmx", storage=recmap.Storage(allow_urls=True))


def test_shards_may_be_moved_to_a_filesystem(memory, digits_index, digits):
    with recmap.open(
        digits_index, shards=memory.prefix, storage=recmap.Storage(fs=memory.fs)
    ) as ds:
        assert bytes(ds[77]) == bytes(digits[77])


@needs_cache_space
def test_a_cache_keeps_what_was_read(memory, tmp_path, digits):
    opened(memory, tmp_path).close()
    for _ in range(2):
        with opened(memory, tmp_path, cache=tmp_path / "cache") as ds:
            assert bytes(ds[77]) == bytes(digits[77])
    assert list((tmp_path / "cache").glob("*.rmcache"))


def test_damage_names_record_and_file(memory, tmp_path):
    opened(memory, tmp_path).close()
    name = f"{memory.prefix}{shards_of()[0].name}"
    data = bytearray(memory.fs.cat_file(name))
    data[40] ^= 1
    memory.write(name, bytes(data))
    with opened(memory, tmp_path) as ds, pytest.raises(recmap.Error, match=shards_of()[0].name):
        ds.gather(range(20))


def test_a_file_of_another_size_is_stale(setting, tmp_path):
    opened(setting, tmp_path).close()
    shard = shards_of()[0]
    setting.write(f"{setting.prefix}{shard.name}", shard.read_bytes()[:-100])
    with opened(setting, tmp_path) as ds, pytest.raises(recmap.StaleIndexError, match=shard.name):
        ds[0]


def test_a_missing_file_is_named(setting, tmp_path):
    with pytest.raises(recmap.Error, match=r"none\.tfrecord"):
        recmap.open(
            f"{setting.prefix}none.tfrecord",
            index=tmp_path / "x.rmx",
            storage=recmap.Storage(fs=setting.fs),
        )
    with pytest.raises(FileNotFoundError):
        recmap.open(
            f"{setting.prefix}none-*",
            index=tmp_path / "x.rmx",
            storage=recmap.Storage(fs=setting.fs),
        )


class Wrapped:
    """A filesystem whose reads a test changes."""

    def __init__(self, fs, change):
        self._fs, self._change = fs, change

    def __getattr__(self, name):
        return getattr(self._fs, name)

    def cat_file(self, path, start=None, end=None):
        return self._change(self._fs.cat_file(path, start=start, end=end))

    def cat_ranges(self, paths, starts, ends, on_error="return"):
        return [self._change(data) for data in self._fs.cat_ranges(paths, starts, ends)]


def with_changed_reads(memory, tmp_path, change):
    opened(memory, tmp_path).close()
    return recmap.open(
        memory.pattern,
        index=tmp_path / "digits.rmx",
        storage=recmap.Storage(fs=Wrapped(memory.fs, change)),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], r"returned \d+ bytes instead of"),
        (lambda data: data + b"x", r"returned \d+ bytes instead of"),
        (lambda data: None, "TypeError"),
        (lambda data: OSError("the disk is gone"), "OSError: the disk is gone"),
    ],
    ids=["short", "long", "none", "exception"],
)
def test_wrong_replies_are_errors_with_a_place(memory, tmp_path, change, message):
    with (
        with_changed_reads(memory, tmp_path, change) as ds,
        pytest.raises(recmap.StorageError, match=message) as caught,
    ):
        ds.gather(range(300))
    assert caught.value.path.startswith("memory://")
    assert caught.value.offset is not None
    assert "fs=" in caught.value.advice or "cut" in caught.value.advice


def raise_error(error):
    raise error


@pytest.mark.parametrize("count", [1, 300])
def test_exceptions_of_a_filesystem_are_errors_with_a_place(memory, tmp_path, count):
    change = lambda data: raise_error(PermissionError("not yours"))  # noqa: E731
    with (
        with_changed_reads(memory, tmp_path, change) as ds,
        pytest.raises(recmap.FilePermissionError, match="PermissionError: not yours"),
    ):
        ds.gather(range(count))


def test_a_wrong_number_of_replies_is_an_error(memory, tmp_path):
    opened(memory, tmp_path).close()

    class Fewer(Wrapped):
        def cat_ranges(self, *arguments, **more):
            return super().cat_ranges(*arguments, **more)[:-1]

    fs = Fewer(memory.fs, lambda data: data)
    with (
        recmap.open(
            memory.pattern, index=tmp_path / "digits.rmx", storage=recmap.Storage(fs=fs)
        ) as ds,
        pytest.raises(recmap.StorageError, match="one result for each range"),
    ):
        ds.gather(range(0, 1797, 100))


def test_an_interrupt_in_a_read_is_raised(memory, tmp_path):
    change = lambda data: raise_error(KeyboardInterrupt)  # noqa: E731
    with with_changed_reads(memory, tmp_path, change) as ds:
        with pytest.raises(KeyboardInterrupt):
            ds[3]
        with pytest.raises(KeyboardInterrupt):
            ds.gather(range(10))


def test_a_signal_ends_a_read(memory, tmp_path):
    def wait(data):
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
            time.sleep(0)
        return data

    with with_changed_reads(memory, tmp_path, wait) as ds, pytest.raises(KeyboardInterrupt):
        ds.gather(range(300))


def test_an_interrupt_while_indexing_is_raised(memory, tmp_path):
    fs = Wrapped(memory.fs, lambda data: raise_error(KeyboardInterrupt))
    with pytest.raises((KeyboardInterrupt, recmap.StorageError)):
        recmap.index(memory.pattern, tmp_path / "x.rmx", storage=recmap.Storage(fs=fs), threads=1)
    assert not (tmp_path / "x.rmx").exists()


def test_options_of_recmaps_own_requests_are_refused(memory, tmp_path):
    with pytest.raises(ValueError, match="leave out options"):
        opened(memory, tmp_path, options={"region": "x"})
    with pytest.raises(ValueError, match="leave out options"):
        opened(memory, tmp_path, credentials=dict)
    with pytest.raises(TypeError, match="fs must be a filesystem"):
        recmap.open("memory://x", index=tmp_path / "x.rmx", storage=recmap.Storage(fs=object()))


def test_a_url_of_another_filesystem_is_refused(memory, tmp_path):
    with pytest.raises(recmap.StorageError, match="reads memory://"):
        recmap.open(
            "s3://bucket/x.tfrecord", index=tmp_path / "x.rmx", storage=recmap.Storage(fs=memory.fs)
        )


def test_urls_with_credentials_or_dots_are_refused(memory, tmp_path):
    for url, message in [
        ("memory://user:password@host/x", "user name or password"),
        ("memory://a/../x", "is . or .."),
    ]:
        with pytest.raises(recmap.InvalidError, match=message) as caught:
            recmap.open(url, index=tmp_path / "x.rmx", storage=recmap.Storage(fs=memory.fs))
        assert "password@" not in str(caught.value)


def test_a_pickled_data_set_has_the_filesystem(tmp_path, digits):
    setting = local_setting(tmp_path)
    with opened(setting, tmp_path) as ds:
        with pickle.loads(pickle.dumps(ds)) as copy:
            assert bytes(copy[9]) == bytes(digits[9])
        assert "LocalFileSystem" not in repr(ds)


def test_a_store_that_cannot_be_pickled_says_so(tmp_path):
    setting = obstore_memory_setting(tmp_path)
    with opened(setting, tmp_path) as ds, pytest.raises(TypeError, match="MemoryStore"):
        pickle.dumps(ds)


def in_child(function):
    """Runs a function in a forked process. Returns what it returned, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(function())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def test_a_forked_process_reads_with_a_copy(tmp_path, digits):
    setting = local_setting(tmp_path)
    with opened(setting, tmp_path) as ds:
        assert len(bytes(ds[0]))
        assert in_child(lambda: bytes(ds[1500]) == bytes(digits[1500])) == "True"


def test_a_store_of_obstore_refuses_a_forked_process(tmp_path):
    setting = obstore_local_setting(tmp_path)
    with opened(setting, tmp_path) as ds:
        assert len(bytes(ds[0]))
        assert "start processes with spawn" in in_child(lambda: bytes(ds[1500]))


def test_obstore_reads_nothing_between_distant_records(server, tmp_path):
    store = pytest.importorskip("obstore.store").HTTPStore
    with recmap.Writer(server.folder / "train" / "large.tfrecord") as writer:
        for number in range(5):
            writer.write(bytes([number]) * 300_000)
    fs = store.from_url(f"{server.url}/train", client_options={"allow_http": True})
    storage = recmap.Storage(fs=fs)
    with recmap.open("large.tfrecord", index=tmp_path / "a.rmx", storage=storage) as ds:
        server.requests.clear()
        assert [bytes(record[:1]) for record in ds.gather([0, 2, 4])] == [b"\0", b"\2", b"\4"]
    ranges = [
        headers["Range"].removeprefix("bytes=")
        for _, headers in server.requests
        if headers["Range"]
    ]
    assert sorted(ranges) == ["0-300015", "1200064-1500079", "600032-900047"]


def test_the_filesystem_is_released(memory, tmp_path):
    import weakref

    fs = Wrapped(memory.fs, lambda data: data)
    released = weakref.ref(fs)
    with recmap.open(memory.pattern, index=tmp_path / "x.rmx", storage=recmap.Storage(fs=fs)) as ds:
        assert len(bytes(ds[0]))
    del fs, ds
    gc.collect()
    assert released() is None


def test_a_program_exits_while_loaders_read(tmp_path):
    """Threads of the library that wait for the GIL while the interpreter exits must not hang."""
    program = textwrap.dedent(
        f"""
        import time
        import fsspec, recmap

        class Slow:
            def __init__(self, fs):
                self.fs = fs
            def __getattr__(self, name):
                return getattr(self.fs, name)
            def cat_ranges(self, *arguments, **more):
                time.sleep(0.05)
                return self.fs.cat_ranges(*arguments, **more)

        fs = Slow(fsspec.filesystem("file"))
        storage = recmap.Storage(fs=fs)
        shards, index = {str(DIGITS)!r} + "/*.tfrecord", {str(tmp_path / "x.rmx")!r}
        ds = recmap.open(shards, index=index, storage=storage)
        loader = recmap.Loader(ds, 16, shuffle=True, seed=1, threads=3)
        batches = iter(loader)
        next(batches)
        print("done")
        """
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


def test_flipped_bits_in_transit_are_read_again(memory, tmp_path, digits):
    """A read that was damaged once is repeated."""
    damaged = []

    def damage_once(data):
        if damaged or len(data) < 1000:
            return data
        damaged.append(True)
        return data[:500] + bytes([data[500] ^ 1]) + data[501:]

    with with_changed_reads(memory, tmp_path, damage_once) as ds:
        assert [bytes(r) for r in ds.gather(range(300))] == [bytes(digits[i]) for i in range(300)]
    assert damaged


@pytest.mark.parametrize("time", [math.nan, math.inf, None], ids=str)
def test_a_time_that_is_not_known(memory, tmp_path, digits, time):
    class Timeless(Wrapped):
        def info(self, path, **options):
            return {**self._fs.info(path, **options), "mtime": time, "created": time}

    index = tmp_path / "a.rmx"
    fs = Timeless(memory.fs, lambda data: data)
    with recmap.open(memory.pattern, index=index, storage=recmap.Storage(fs=fs)) as ds:
        assert bytes(ds[77]) == bytes(digits[77])


@pytest.mark.parametrize("failure", [asyncio.CancelledError, GeneratorExit, SystemExit])
def test_a_failure_in_a_thread_of_a_loader_is_reported(memory, tmp_path, failure):
    """Whatever type it has; the next reads succeed."""
    fails = []

    def change(data):
        if fails:
            fails.clear()
            raise failure("no more")
        return data

    with with_changed_reads(memory, tmp_path, change) as ds:
        loader = recmap.Loader(ds, 256, threads=2)
        fails.append(1)
        with pytest.raises(recmap.StorageError, match=f"{failure.__name__}: no more"):
            for _ in loader:
                pass
        assert sum(len(batch) for batch in recmap.Loader(ds, 256, threads=2)) == len(ds)


def test_compressed_shards_are_read(memory, tmp_path, payloads):
    import gzip

    from conftest import write

    (plain,) = write(tmp_path, payloads)
    memory.write(f"{memory.prefix}packed.gz", gzip.compress(plain.read_bytes()))
    with recmap.open(
        f"{memory.prefix}packed.gz", index=tmp_path / "p.rmx", storage=recmap.Storage(fs=memory.fs)
    ) as ds:
        assert [bytes(record) for record in ds] == payloads


def test_damage_is_listed_with_skip(tmp_path):
    setting = local_setting(tmp_path)
    flip(tmp_path / "data" / shards_of()[0].name, 400)
    with pytest.warns(UserWarning, match="skipped damage"):
        ds = opened(setting, tmp_path, on_bad_record="skip")
    with ds:
        assert ds.info["damage"][0]["path"].startswith("file://")


def test_an_index_in_a_filesystem(memory, tmp_path, digits_index, digits):
    url = f"{memory.prefix}digits.rmx"
    memory.write(url, digits_index.read_bytes())
    with recmap.open(url, shards=memory.prefix, storage=recmap.Storage(fs=memory.fs)) as ds:
        assert bytes(ds[77]) == bytes(digits[77])


def test_a_url_with_a_query_is_refused(memory, tmp_path):
    with pytest.raises(ValueError, match="a URL with a query"):
        recmap.open(
            "https://host/x?signature=1",
            index=tmp_path / "x.rmx",
            storage=recmap.Storage(fs=memory.fs),
        )


class Sizes:
    """A filesystem whose files have this size, according to it."""

    def __init__(self, fs, size, mtime=None):
        self.fs, self.size, self.mtime = fs, size, mtime

    def __getattr__(self, name):
        return getattr(self.fs, name)

    def info(self, path):
        info = {**self.fs.info(path), "mtime": self.mtime}
        return {**info, "size": self.size(info["size"])}


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (lambda size: 2**70, r"must be below 2\*\*63, but is 1180591620717411303424"),
        (lambda size: 2**64 + size, r"must be below 2\*\*63"),
        (lambda size: 2**63, r"must be below 2\*\*63"),
        (lambda size: -1, "must not be negative, but is -1"),
        (lambda size: True, "must be an integer, not True"),
        (float, r"must be an integer, not \d+\.0"),
        (lambda size: math.nan, "must be an integer, not nan"),
        (str, "must be an integer, not '"),
        (lambda size: np.array([size, size]), "must be an integer, not array"),
    ],
)
def test_sizes_that_are_not_sizes_are_refused(memory, tmp_path, size, message):
    memory.fs = Sizes(memory.fs, size)
    with pytest.raises(OSError, match=f"failed: .*Error: the size that Sizes returned {message}"):
        opened(memory, tmp_path)
    assert not (tmp_path / "digits.rmx").exists()


@pytest.mark.parametrize("mtime", [math.nan, math.inf, 1e300, -1e300, True, "2020-01-01", None])
def test_sizes_of_numpy_and_any_times_are_taken(memory, tmp_path, mtime):
    memory.fs = Sizes(memory.fs, np.int64, mtime)
    with opened(memory, tmp_path) as ds:
        assert len(ds) == 1797
