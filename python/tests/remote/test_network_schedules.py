"""Several faults of a network at a time, in random schedules.

Each schedule has a seed, which is the name of its test. The oracle is the same data set, read
locally. RECMAP_TEST_LONG=1 runs many more schedules.
"""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import recmap
from fault_proxy import (
    Client,
    check_message,
    chunked,
    dripping,
    ending,
    ending_in_head,
    failing,
    flipping,
    followed_by,
    late,
    raw,
    setting,
    unsized,
)

pytestmark = pytest.mark.usefixtures("watchdog")

COUNT = 60 if os.environ.get("RECMAP_TEST_LONG") else 2
SPEC = {"label": recmap.FixedLen([], "int64")}
ALLOWED = (recmap.StorageError, recmap.StaleIndexError, recmap.CorruptRecordError)

PASSING = [
    ending(Client.reset),
    ending(Client.reset, 0.4),
    ending(Client.close),
    ending(Client.close, 0.6),
    ending_in_head(Client.close),
    unsized(lambda body: body[: len(body) // 3]),
    chunked(is_complete=False),
    chunked(),
    unsized(),
    followed_by(b"garbage"),
    failing(408),
    failing(429, "TooManyRequests"),
    failing(500, "InternalError"),
    failing(502),
    failing(503, "SlowDown"),
    late(0.02),
    dripping(5, 0.002),
]
REFUSED = [
    failing(403, "AccessDenied"),
    failing(404, "NoSuchKey"),
    failing(412, "PreconditionFailed"),
    failing(400, "ExpiredToken"),
    flipping(5),
    flipping(-7),
    raw(b"\0" * 100),
    setting("ETag", '"another"'),
    setting("Content-Range", "bytes 0-1/2"),
]


@pytest.fixture
def index(remote):
    """Built without faults."""
    return remote.index_path


def schedule(proxy, source, faults, share):
    """Gives a share of all requests one fault, or two, from a list."""

    def choose(request):
        with proxy.lock:
            if source.random() >= share:
                return None
            fault = source.choice(faults)
            return fault | source.choice(faults) if source.random() < 0.3 else fault

    proxy.choose = choose


def gathered(ds, source):
    numbers = [source.randrange(len(ds)) for _ in range(source.choice([1, 20, 300]))]
    return [bytes(record) for record in ds.gather(numbers)]


def read_one(ds, source):
    return bytes(ds[source.randrange(len(ds))])


def parsed(ds, source):
    numbers = np.array([source.randrange(len(ds)) for _ in range(50)])
    return np.asarray(ds.parse(numbers, SPEC)["label"]).tolist()


def found(ds, source):
    number = ds.find(f"digit-{source.randrange(len(ds)):05d}")
    return number, bytes(ds[number])


def verified(ds, source):
    return ds.verify(progress=None)["damage"]


def iterated(ds, source):
    begin = source.randrange(len(ds) - 100)
    return [bytes(record) for record in ds[begin : begin + 100]]


def loaded(ds, source):
    """A loader that is interrupted, and another one that continues from its state."""
    seed, steps = source.randrange(1 << 30), source.randrange(1, 4)
    order, batches = recmap.Shuffled(len(ds), seed=seed), []
    threads = source.choice([1, 2])
    with recmap.Loader(ds, 128, order=order, epochs=1, threads=threads) as loader:
        for _, batch in zip(range(steps), loader, strict=False):
            batches.append([bytes(record) for record in batch])
        state = loader.state_dict()
    with recmap.Loader(ds, 128, order=order, epochs=1, threads=threads) as loader:
        loader.load_state_dict(state)
        for _, batch in zip(range(3), loader, strict=False):
            batches.append([bytes(record) for record in batch])
        return batches, state, loader.state_dict()


CALLS = [gathered, read_one, parsed, found, verified, iterated, loaded]


def opened(index, proxy, seed, folder):
    """Every other seed reads through a cache."""
    cache = folder / "cache" if seed % 2 else None
    options = proxy.options(timeout=100)
    storage = recmap.Storage(allow_urls=True, options=options, cache=cache)
    return recmap.open(index, storage=storage)


def check_cache(folder):
    names = {path.name for path in folder.glob("cache/*")}
    assert all(name.endswith(".rmcache") or name in ("usage", "lock") for name in names), names


@pytest.mark.parametrize("seed", range(COUNT))
def test_faults_that_pass_change_nothing(proxy, index, local, tmp_path, scratch, seed):
    source = random.Random(seed)
    schedule(proxy, random.Random(-1 - seed), PASSING, 0.3)
    calls = [(source.choice(CALLS), source.randrange(1 << 30)) for _ in range(6)]
    with opened(index, proxy, seed, tmp_path) as ds, ThreadPoolExecutor(2) as pool:
        results = [pool.submit(call, ds, random.Random(own)) for call, own in calls]
        for (call, own), result in zip(calls, results, strict=True):
            assert result.result() == call(local, random.Random(own)), call.__name__
    check_cache(tmp_path)


@pytest.mark.parametrize("seed", range(COUNT))
def test_faults_that_last_are_errors(proxy, index, local, tmp_path, scratch, seed):
    """Each call gives the right result or an error, and after the faults everything is right."""
    source = random.Random(1000 + seed)
    with opened(index, proxy, seed, tmp_path) as ds:
        for _ in range(6):
            schedule(proxy, source, PASSING + REFUSED, 0.1)
            call, own = source.choice(CALLS), source.randrange(1 << 30)
            try:
                result = call(ds, random.Random(own))
            except ALLOWED as error:
                check_message(error)
                assert error.path.startswith("s3://train/digits-0000") and error.advice
            else:
                damage = call is verified and result
                assert damage or result == call(local, random.Random(own)), call.__name__
        proxy.clear()
        assert [bytes(record) for record in ds] == [bytes(record) for record in local]
    check_cache(tmp_path)
