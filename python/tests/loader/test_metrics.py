"""Statistics of loaders: the limiting stage in words, Prometheus, and scalars."""

import asyncio
import gc
import gzip
import math
import sys
import threading
import time
import types

import pytest
import recmap
from recmap._loader.stages import TransformTimes, statistics_of


@pytest.fixture
def small(digits):
    return digits[:100]


NOTHING = dict.fromkeys(recmap._loader.stages.Statistics.__annotations__, 0)


def limit_of(ran=0, idle=0, waited=0, **counts):
    times = TransformTimes()
    times.ran_ns, times.idle_ns, times.waited_ns, times.thread_count = ran, idle, waited, 2
    found = statistics_of({**NOTHING, "threads": 4, **counts}, times, {})
    return found["limiting_stage"], found["explanation"]


def test_the_explanation_names_what_the_time_was_spent_on():
    causes = {"disk": 5, "store": 870, "inflating": 0, "parsing": 125}
    found = statistics_of({**NOTHING, "batches": 1, "caller_wait_ns": 9}, TransformTimes(), causes)
    assert found["explanation"].endswith("; the reading threads' time: store 87%, parsing 12%")


def test_the_limiting_stage():
    assert limit_of() == ("none", "no batch was delivered yet")
    assert limit_of(batches=1, caller_wait_ns=1_500_000_000, worker_wait_ns=4_000_000) == (
        "reading",
        "the caller waited 1.5 s for records to be read and parsed, each reading thread 0.001 s "
        "for room",
    )
    assert limit_of(batches=1, caller_wait_ns=1_000_000, worker_wait_ns=8_000_000_000) == (
        "caller",
        "batches were ready: the caller waited 0.001 s, each reading thread 2 s for room",
    )


def test_decoding_limits_if_it_is_most_of_the_reading():
    counts = {"batches": 1, "caller_wait_ns": 2_000_000_000, "fill_ns": 4_000_000_000}
    pictures = {"decoded_count": 1500, "decode_failed_count": 500}
    assert limit_of(**counts, **pictures, decode_ns=3_000_000_000) == (
        "decoding",
        "the caller waited 2 s for pictures to be decoded, each reading thread 0 s for room; "
        "decoding is 75% of the reading threads' work, 0.0015 s for each picture",
    )
    assert limit_of(**counts, **pictures, decode_ns=2_000_000_000)[0] == "reading"


def test_the_limiting_stage_with_a_transform():
    reading = limit_of(1, 8_000, 9_000, batches=1, caller_wait_ns=5_000, worker_wait_ns=16_000)
    assert reading[0] == "reading" and reading[1].startswith("the transform waited 5e-06 s")
    assert limit_of(1, 8_000_000_000, 5_000_000_000, batches=1, worker_wait_ns=4) == (
        "transform",
        "the caller waited 5 s for the transform, each thread of the transform 4 s for work",
    )
    caller = limit_of(1, 8_000_000_000, 3_000_000_000, batches=1, worker_wait_ns=4)
    assert caller[0] == "caller" and "the caller waited 3 s" in caller[1]


SECOND = 1_000_000_000


def test_a_short_epoch_in_which_nothing_waits_for_room():
    """Reading for a moment, before the first batch, is not what limits it."""
    read = {"batches": 10, "caller_wait_ns": 7_000_000}
    assert limit_of(**read, run_ns=2 * SECOND)[0] == "caller"
    assert limit_of(**read, run_ns=SECOND // 10)[0] == "reading"
    assert limit_of(3 * SECOND, waited=3 * SECOND, **read, run_ns=3 * SECOND)[0] == "transform"
    assert limit_of(waited=3 * SECOND, **read)[0] == "transform"  # the first batch
    assert limit_of(10_000, 7_000_000, 8_000_000, **read, run_ns=2 * SECOND)[0] == "caller"
    assert limit_of(10_000, 7_000_000, 8_000_000, **read, run_ns=SECOND // 10)[0] == "reading"


def test_a_slow_transform_limits_a_short_epoch(small):
    def slow(batch):
        threading.Event().wait(0.05)
        return len(batch)

    loader = recmap.Loader(small, 10, transform=slow, transform_threads=1)
    assert sum(loader) == len(small)
    assert loader.statistics["limiting_stage"] == "transform"


def test_the_time_of_a_run_includes_the_caller(small):
    """A sleep is never shorter than it should be."""
    loader = recmap.Loader(small, 20)
    assert loader._loader.statistics()["run_ns"] == 0
    for _ in loader:
        time.sleep(0.01)
    assert loader._loader.statistics()["run_ns"] >= 5 * SECOND // 100


def test_statistics_of_a_loader(digits):
    loader = recmap.Loader(digits, 256, transform=len, transform_threads=2)
    assert loader.statistics["limiting_stage"] == "none"
    assert loader.statistics["transform_ns"] == 0
    assert sum(loader) == len(digits)
    found = loader.statistics
    assert found["transform_ns"] > 0 and found["batches"] == 8
    assert found["limiting_stage"] in ("reading", "transform", "caller")
    assert "limiting stage" in loader._repr_html_()


def test_parsing_is_a_part_of_the_work(digits):
    loader = recmap.Loader(digits, 256)
    assert sum(len(batch) for batch in loader) == len(digits)
    found = loader.statistics
    assert found["fill_ns"] > 0 == found["parse_ns"]
    assert found["cache_hits"] == found["cache_misses"] == 0
    loader = recmap.Loader(digits, 256, features={"label": recmap.FixedLen((), "int64")})
    assert "not used" in loader._repr_html_()
    assert sum(len(batch["label"]) for batch in loader) == len(digits)
    found = loader.statistics
    assert 0 < found["parse_ns"] < found["fill_ns"]
    assert "of the reading threads&#x27; work" in loader._repr_html_()


def test_spans_of_compressed_shards(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for i in range(100):
            writer.write(b"%d" % i)
    data = (tmp_path / "a.tfrecord").read_bytes()
    (tmp_path / "a.tfrecord.gz").write_bytes(gzip.compress(data))
    ds = recmap.open(tmp_path / "a.tfrecord.gz", index=tmp_path / "a.rmx")
    loader = recmap.Loader(ds, 10, threads=1)
    assert sum(len(batch) for batch in loader) == 100
    found = loader.statistics
    assert found["spans_inflated"] == 1 and found["span_hits"] > 0


def notebook(monkeypatch):
    drawn = []

    class Handle:
        def update(self, drawing):
            drawn.append(("update", drawing))

    def display(drawing, display_id):
        assert display_id
        drawn.append(("display", drawing))
        return Handle()

    module = types.SimpleNamespace(
        get_ipython=lambda: type("ZMQInteractiveShell", (), {})(),
        display=types.SimpleNamespace(display=display),
    )
    monkeypatch.setitem(sys.modules, "IPython", module)
    return drawn


def test_a_live_picture_in_a_notebook(digits, monkeypatch):
    drawn = notebook(monkeypatch)
    loader = recmap.Loader(digits, 256)
    with recmap.metrics.live(loader, every=0.001):
        for _ in loader:
            wait_for_more(drawn, len(drawn))
    kinds = [kind for kind, _ in drawn]
    assert kinds[0] == "display" and set(kinds[1:]) == {"update"}
    last = drawn[-1][1]
    html = last._repr_html_()
    assert "<polyline" in html and "records/s" in html and "caller" in html
    assert f"position 0 of {len(digits)}" in repr(last) or "epoch 0" in repr(last)
    count = len(drawn)
    threading.Event().wait(0.01)
    assert len(drawn) == count  # its thread has ended


def wait_for_more(drawn, count):
    for _ in range(30_000):
        if len(drawn) != count:
            return
        threading.Event().wait(0.001)
    raise AssertionError(f"nothing was drawn after {count} lines")


def test_a_live_line_on_a_terminal(digits, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with recmap.metrics.live(recmap.Loader(digits, 256)) as live:
        assert live is not None
    err = capsys.readouterr().err
    assert err.startswith("\repoch 0, position 0 of 1797, ") and err.endswith("\n")


@pytest.mark.parametrize("failure", [OSError, SystemExit, asyncio.CancelledError])
def test_a_live_picture_survives_an_error(digits, monkeypatch, failure):
    """Two drawings fail; the later ones are shown, and the end of the block says what failed."""
    drawn = notebook(monkeypatch)
    display, attempts = sys.modules["IPython"].display.display, []

    def fail_twice(*arguments, **options):
        attempts.append(1)
        if len(attempts) <= 2:
            raise failure(f"the front end is gone ({len(attempts)})")
        return display(*arguments, **options)

    sys.modules["IPython"].display.display = fail_twice
    first = rf"lacks 2 drawings: {failure.__name__}\('the front end is gone \(1\)"
    with (
        pytest.warns(UserWarning, match=first),
        recmap.metrics.live(recmap.Loader(digits, 256), every=0.001),
    ):
        wait_for_more(drawn, 0)
    assert drawn[0][0] == "display"


def test_a_live_picture_elsewhere_shows_nothing(digits, capsys):
    with recmap.metrics.live(recmap.Loader(digits, 256)):
        pass
    assert capsys.readouterr() == ("", "")


def test_misuse_of_live(digits):
    with pytest.raises(TypeError, match=r"loader must be a recmap\.Loader"):
        recmap.metrics.live(digits)
    for every in (0, math.nan, math.inf, 1e300):
        with pytest.raises(ValueError, match="every must be more than 0 seconds, and finite"):
            recmap.metrics.live(recmap.Loader(digits, 256), every=every)


def test_a_transform_that_waits_for_the_caller_is_idle(digits):
    times = TransformTimes()
    times.end(times.begin())
    assert times.idle_ns == 0  # the first batch of a thread
    threading.Event().wait(0.001)
    times.end(times.begin())
    assert times.idle_ns > 0


def samples_of(registry):
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in registry.collect()
        for sample in family.samples
    }


def test_prometheus_collects_a_loader(digits):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    loader = recmap.Loader(digits, 256, epochs=2)
    recmap.metrics.prometheus(loader, registry, name="train")
    steps = iter(loader)
    next(steps)
    found = samples_of(registry)
    assert found["recmap_loader_records_total", "train"] == 256
    assert found["recmap_loader_batches_total", "train"] == 1
    assert found["recmap_loader_bytes_total", "train"] == loader.statistics["bytes"]
    assert found["recmap_loader_position", "train"] == 256
    assert found["recmap_loader_epoch", "train"] == 0
    stages = [value for key, value in found.items() if key[0] == "recmap_loader_limiting_stage"]
    assert sorted(stages) == [0, 0, 0, 0, 1]
    assert found["recmap_loader_warmed", "train", "off"] == 1
    assert found["recmap_loader_warmed", "train", "running"] == 0
    text = client.generate_latest(registry).decode()
    assert 'recmap_loader_batches_total{loader="train"} 1.0' in text


def test_prometheus_has_the_state_of_warming(made):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    loader = recmap.Loader(made, 37, shuffle=True, warm="on")
    recmap.metrics.prometheus(loader, registry)
    assert sum(len(batch) for batch in loader) == len(made)
    while loader.statistics["warmed"] == "running":
        time.sleep(0.01)
    found, statistics = samples_of(registry), loader.statistics
    states = {key[2]: value for key, value in found.items() if key[0] == "recmap_loader_warmed"}
    assert [state for state, value in states.items() if value] == [statistics["warmed"]]
    assert sorted(states.values()) == [0] * 9 + [1]
    assert found["recmap_loader_warmed_bytes_total", "loader"] == statistics["warmed_bytes"]
    assert found["recmap_loader_warm_bytes_total", "loader"] == statistics["warm_bytes"]


def test_prometheus_with_several_loaders(digits):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry(auto_describe=True)
    first, second = recmap.Loader(digits, 256), recmap.Loader(digits, 100)
    recmap.metrics.prometheus(first, registry)
    recmap.metrics.prometheus(second, registry, name="validation")
    list(second)
    found = samples_of(registry)
    assert found["recmap_loader_records_total", "loader"] == 0
    assert found["recmap_loader_records_total", "validation"] == 1797
    recmap.metrics.prometheus(second, registry)  # replaces the first
    assert samples_of(registry)["recmap_loader_records_total", "loader"] == 1797
    del second
    gc.collect()
    assert not any(key[0] == "recmap_loader_records_total" for key in samples_of(registry))


def test_prometheus_of_joined_loaders(digits):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    joined = recmap.join({"all": digits, "last": digits[1000:]})
    loader = recmap.JoinedLoader(joined, 100)
    recmap.metrics.prometheus(loader, registry, name="train")
    next(iter(loader))
    found = samples_of(registry)
    for name in "train/all", "train/last":
        assert found["recmap_loader_records_total", name] == 100
    for call in recmap.metrics.live, lambda one: recmap.metrics.scalars(one, print):
        with pytest.raises(TypeError, match=r"pass one of them, such as loader\.loaders\['all'\]"):
            call(loader)


def test_prometheus_replaces_the_loaders_of_a_join(digits):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    parts = {"all": digits, "last": digits[1000:]}
    before, loader = recmap.JoinedLoader(recmap.join(parts), 100), recmap.Loader(digits, 256)
    recmap.metrics.prometheus(before, registry, name="train")
    recmap.metrics.prometheus(loader, registry, name="train")
    key = "recmap_loader_records_total"
    assert [label for name, label, *_ in samples_of(registry) if name == key] == ["train"]


def test_prometheus_is_scraped_by_several_threads(digits):
    """Both scrapes meet a loader that is gone."""
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    first, second = recmap.Loader(digits, 256), recmap.Loader(digits, 100)
    recmap.metrics.prometheus(first, registry, name="first")
    recmap.metrics.prometheus(second, registry, name="second")
    collector = recmap.metrics._collectors[registry]
    del second
    gc.collect()
    scrapes = [collector._read(), collector._read()]
    assert [next(iter(scrape))[0] for scrape in scrapes] == ["first", "first"]
    assert [list(scrape) for scrape in scrapes] == [[], []]


def test_prometheus_registers_in_the_default_registry(digits):
    client = pytest.importorskip("prometheus_client")
    loader = recmap.Loader(digits, 256)
    recmap.metrics.prometheus(loader, name="default")
    assert ("recmap_loader_threads", "default") in samples_of(client.REGISTRY)
    with pytest.raises(TypeError, match=r"must be a recmap\.Loader"):
        recmap.metrics.prometheus(digits)


def test_scalars_are_written_by_name(digits):
    said = []
    loader = recmap.Loader(digits, 256, transform=len)
    report = recmap.metrics.scalars(loader, lambda *scalar: said.append(scalar), "train/")
    list(loader)
    report(8)
    names = ["batches_per_second", "records_per_second", "bytes_per_second", "wait_share"]
    assert [scalar[0] for scalar in said] == [f"train/{name}" for name in [*names, "batches_ready"]]
    assert all(step == 8 for _, _, step in said)
    values = {tag: value for tag, value, _ in said}
    assert values["train/records_per_second"] > 0 and 0 <= values["train/wait_share"] <= 1
    said.clear()
    report(9)
    assert said[0][:2] == ("train/batches_per_second", 0)
