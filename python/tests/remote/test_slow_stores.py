"""Requests to slow stores: which records share one, which are sent twice, and the figures of all of
them. The oracle is the undisturbed local run."""

import threading
import time

import pytest
import recmap
from conftest import needs_cache_space
from object_server import Handler, on_object, only_if

RECORDS, SIZE = 600, 1000
FRAME = SIZE + 16
NAMES = {
    "requests",
    "retries",
    "hedges",
    "requested_bytes",
    "used_bytes",
    "latency_p50_ns",
    "latency_p99_ns",
    "gap",
}


@pytest.fixture(autouse=True)
def no_credentials(no_environment):
    """See no_environment."""


@pytest.fixture
def shard(server):
    """A shard of equal records in the store."""
    path = server.folder / "train" / "equal.shard"
    with recmap.Writer(path) as writer:
        for number in range(RECORDS):
            writer.write(number.to_bytes(4, "little") + bytes(SIZE - 4))
    return path


@pytest.fixture
def opened(shard, server, tmp_path):
    """Opens the shard in the store; fields of Storage are passed on."""

    def opened(**more):
        storage = recmap.Storage(options=server.options(), allow_urls=True, **more)
        index = tmp_path / "equal.rmx"
        if not index.exists():
            recmap.open("s3://train/equal.shard", index=index, storage=storage).close()
        server.requests.clear()
        return recmap.open(index, storage=storage)

    return opened


def figures_of(ds):
    found = recmap.Loader(ds, 1).statistics
    return {name: found[name] for name in NAMES}


def sizes_of(server):
    ranges = (r.removeprefix("bytes=").split("-") for r in server.ranges())
    return [int(last) - int(first) + 1 for first, last in ranges]


# ---- The gap.


@pytest.mark.parametrize(
    ("gap", "sizes"),
    [
        (None, [FRAME * 100]),
        (0, [FRAME * 2, FRAME, FRAME]),
        (FRAME, [FRAME * 4, FRAME]),
        ("16KiB", [FRAME * 4, FRAME]),
        (FRAME * 95, [FRAME * 100]),
    ],
)
def test_records_share_a_request_if_the_gap_is_small_enough(gap, sizes, opened, server):
    with opened(gap=gap) as ds:
        numbers = [0, 1, 3, 99]
        assert [bytes(r)[:2] for r in ds.gather(numbers)] == [bytes([n, 0]) for n in numbers]
        assert sorted(sizes_of(server), reverse=True) == sizes
        found = figures_of(ds)
    assert found["requested_bytes"] == sum(sizes)
    assert found["used_bytes"] == 4 * FRAME
    assert found["requests"] == len(sizes) and found["retries"] == found["hedges"] == 0
    assert found["gap"] == (256 << 10 if gap is None else 16384 if gap == "16KiB" else gap)


@pytest.mark.parametrize("gap", [0, "16KiB"])
def test_requests_are_estimated_with_the_gap(gap, opened, server):
    with opened(gap=gap) as ds, recmap.Loader(ds, 15, shuffle=True, seed=5, epochs=1) as loader:
        estimate = loader.estimate_requests()["requests"]
        assert sum(len(batch) for batch in loader) == RECORDS
    assert estimate == len(set(server.ranges()))  # a slow one may be requested twice


def test_wrong_gaps_are_refused():
    for wrong in (-1, (8 << 20) + 1, "9MiB", "a lot"):
        with pytest.raises(ValueError, match=r"gap|size"):
            recmap.Storage(gap=wrong)
    with pytest.raises(ValueError, match="given twice"):
        recmap.Storage(gap=1, options={"gap": 2})
    with pytest.raises(
        recmap.InvalidError, match="gap must be a number of bytes from 0 to 8388608"
    ):
        recmap.open("s3://train/x", storage=recmap.Storage(options={"gap": "1k"}))


def test_the_gap_is_that_of_a_filesystem_too(shard, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    index = tmp_path / "files.rmx"
    storage = recmap.Storage(fs=fsspec.filesystem("file"), gap=0, allow_urls=True)
    recmap.open(str(shard), index=index, storage=storage).close()
    with recmap.open(index, storage=storage) as ds:
        ds.gather([0, 1, 3, 99])
        found = figures_of(ds)
    assert found["gap"] == 0
    assert found["used_bytes"] == found["requested_bytes"] >= 4 * FRAME
    assert found["latency_p99_ns"] == 0


@needs_cache_space
def test_bytes_of_a_cache_are_counted_in_blocks(opened, tmp_path):
    with opened(cache=tmp_path / "cache") as ds:
        ds.gather([0])
        found = figures_of(ds)
        assert found["requested_bytes"] == 4096 and found["used_bytes"] == FRAME
        ds.gather([0])
        assert figures_of(ds)["requests"] == found["requests"]


def test_local_data_sets_have_no_figures(digits):
    assert set(figures_of(digits).values()) == {0}


def test_data_sets_of_a_concatenation_are_added(opened):
    parts = [opened(gap=0), opened(gap=100)]
    both = recmap.concat(parts)
    both.gather([0, RECORDS + 1])
    found = figures_of(both)
    assert found["requests"] == 2 and found["used_bytes"] == 2 * FRAME and found["gap"] == 100
    assert found["latency_p99_ns"] >= found["latency_p50_ns"] > 0


def test_prometheus_has_the_figures(opened):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    with opened(gap=0) as ds:
        loader = recmap.Loader(ds, 4, epochs=1)
        recmap.metrics.prometheus(loader, registry)
        count = sum(1 for _ in loader)
        labels = {"loader": "loader"}
        values = {
            name: registry.get_sample_value(f"recmap_loader_{name}", labels)
            for name in (
                "requests_total",
                "request_retries_total",
                "requested_bytes_total",
                "used_bytes_total",
            )
        }
        median = registry.get_sample_value(
            "recmap_loader_request_latency_seconds", {**labels, "quantile": "0.5"}
        )
    assert values["requests_total"] >= count and values["request_retries_total"] == 0
    assert values["used_bytes_total"] == values["requested_bytes_total"] == RECORDS * FRAME
    assert median > 0


# ---- Slow answers.


def epoch_of(ds):
    with recmap.Loader(ds, 8, shuffle=True, seed=3, epochs=1, threads=2) as loader:
        return [[bytes(record) for record in batch] for batch in loader]


def local_run(shard, tmp_path):
    with recmap.open(shard, index=tmp_path / "local.rmx") as ds:
        return epoch_of(ds)


def warm_up(ds):
    """Makes enough requests that slow ones are noticed, and one may be sent twice."""
    found = figures_of(ds)
    while found["requests"] < max(300, 50 * (found["hedges"] + 2)):
        for number in range(100):
            ds.gather([number])
        found = figures_of(ds)


def test_a_first_answer_that_arrives_late_changes_nothing(opened, shard, server, tmp_path):
    """The server holds the first request until the second one for the same bytes came, and answers
    both."""
    expected = local_run(shard, tmp_path)
    came, held = threading.Event(), []

    def hold_first(handler):
        held.append(handler.headers["Range"])
        assert came.wait(30)
        handler.send_object()

    def note_second(handler):
        came.set()
        handler.send_object()

    with opened(gap=0) as ds:
        warm_up(ds)
        hedged = figures_of(ds)["hedges"]
        server.faults.append(
            only_if(lambda handler: held and handler.headers["Range"] == held[0], note_second)
        )
        server.faults.append(on_object(hold_first))
        assert epoch_of(ds) == expected
        assert came.is_set() and figures_of(ds)["hedges"] > hedged


def slow_down(monkeypatch, seconds):
    """All answers take as long as `seconds` returns."""
    send_object = Handler.send_object

    def send_late(handler, **more):
        time.sleep(seconds())
        send_object(handler, **more)

    monkeypatch.setattr(Handler, "send_object", send_late)


def test_a_store_that_becomes_a_hundred_times_slower(opened, shard, server, tmp_path, monkeypatch):
    """In the middle of an epoch, which is interrupted and resumed a little later."""
    expected = local_run(shard, tmp_path)
    found = []
    slow_down(monkeypatch, lambda: 0.1 if len(found) > 20 else 0.001)
    options = {"shuffle": True, "seed": 3, "epochs": 1, "threads": 2}
    with opened() as ds:
        with recmap.Loader(ds, 8, **options) as loader:
            for batch in loader:
                found.append([bytes(record) for record in batch])
                if len(found) == 40:
                    break
            state = loader.state_dict()
        with recmap.Loader(ds, 8, **options) as loader:
            loader.load_state_dict(state)
            found += [[bytes(record) for record in batch] for batch in loader]
        figures = figures_of(ds)
    assert found == expected
    assert figures["retries"] == 0
    assert figures["hedges"] <= figures["requests"] / 50


def test_the_median_follows_the_store(opened, server, monkeypatch):
    """With answers of 20 ms, the median is at least that."""
    with opened() as ds:
        slow_down(monkeypatch, lambda: 0.02)
        for number in range(10):
            ds.gather([number])
        assert figures_of(ds)["latency_p50_ns"] >= 20_000_000
