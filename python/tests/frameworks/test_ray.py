"""Ray on a local cluster: read tasks, shuffled epochs, resuming, and building indexes."""

import gzip
import inspect
import os
import pickle

import numpy as np
import pytest
import recmap
from conftest import KEPT, flip, kept_of, text_index, write
from recmap._index.build import IndexArguments

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data", exc_type=ImportError)

FEATURES = {
    "label": recmap.FixedLen((), "int64"),
    "id": recmap.FixedLen((), bytes),
    "image": recmap.FixedLen((8, 8), "uint8", raw=True),
    "ids": recmap.VarLen(bytes, key="id"),
}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    folder = os.path.dirname(recmap.__path__[0])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
        object_store_memory=200 << 20,
        runtime_env={"env_vars": {"PYTHONPATH": folder}},
    )
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    yield
    ray.shutdown()


def read(source, blocks=5):
    return ray.data.read_datasource(source, override_num_blocks=blocks)


def test_rows_are_the_records_in_order(made, payloads):
    rows = read(recmap.ray.Datasource(made)).take_all()
    assert [row["bytes"] for row in rows] == payloads


def test_ray_reads_columns(digits):
    rows = read(recmap.ray.Datasource(digits[10:60], FEATURES, numbers=True)).take_all()
    expected = digits.parse(range(10, 60), FEATURES)
    assert [row["label"] for row in rows] == expected["label"].tolist()
    assert [row["id"] for row in rows] == expected["id"].tolist()
    assert [list(row["ids"]) for row in rows] == expected["ids"].tolist()
    assert np.array_equal(np.stack([row["image"] for row in rows]), expected["image"])
    assert [row["number"] for row in rows] == list(range(10, 60))


def test_batches_are_arrays(digits):
    source = recmap.ray.Datasource(digits, FEATURES)
    batch = next(iter(read(source).iter_batches(batch_size=100)))
    assert batch["image"].shape == (100, 8, 8) and batch["image"].dtype == np.uint8


@pytest.mark.parametrize("parallelism", [1, 3, 7, 10_000])
def test_task_metadata_comes_from_the_index(made, payloads, parallelism, monkeypatch):
    order = recmap.Shuffled(len(made), seed=3)
    for arguments in [{}, {"order": order, "epoch": 2, "position": 100}]:
        source = recmap.ray.Datasource(made, **arguments)
        with monkeypatch.context() as patched:
            patched.setattr(recmap.Dataset, "gather", None)  # nothing is read
            tasks = source.get_read_tasks(parallelism)
        count = len(made) - arguments.get("position", 0)
        assert len(tasks) == min(parallelism, count)
        rows = [task.metadata.num_rows for task in tasks]
        assert sum(rows) == count and max(rows) - min(rows) <= 1
        if not arguments:
            assert rows == [len(part) for part in made.split(len(tasks))]
        sizes = [task.metadata.size_bytes for task in tasks]
        assert sum(sizes) == source.estimate_inmemory_data_size()
        for task in tasks[:10] + tasks[-10:]:
            got = [record for block in task() for record in block["bytes"].to_pylist()]
            assert (len(got), sum(map(len, got))) == (
                task.metadata.num_rows,
                task.metadata.size_bytes,
            )


def test_tasks_are_small(made):
    order = recmap.Shuffled(len(made), seed=3)
    for source in (recmap.ray.Datasource(made), recmap.ray.Datasource(made, order=order)):
        for task in source.get_read_tasks(4):
            assert len(pickle.dumps(task.read_fn)) < 1500
    chosen = made.select(np.arange(len(made)) % 2 == 0)
    tasks = recmap.ray.Datasource(chosen).get_read_tasks(100)
    assert sum(len(pickle.dumps(task.read_fn)) for task in tasks) < 100 * 1500 + 16 * len(chosen)
    got = [r for task in tasks for block in task() for r in block["bytes"].to_pylist()]
    assert got == [bytes(record) for record in chosen]


def test_span_keep_size_applies_in_tasks(packed):
    for task in recmap.ray.Datasource(packed).get_read_tasks(2):
        assert kept_of(pickle.loads(pickle.dumps(task.read_fn)).args[0]) == KEPT


def test_shuffled_epoch_equals_the_order(made):
    order = recmap.Shuffled(len(made), seed=3)
    for epoch in range(2):
        source = recmap.ray.Datasource(made, order=order, epoch=epoch, numbers=True)
        rows = read(source).take_all()
        assert [row["number"] for row in rows] == order.at(epoch, range(len(made))).tolist()


def test_resumes_from_a_position(made, payloads):
    order = recmap.Shuffled(len(made), seed=3)
    whole = read(recmap.ray.Datasource(made, order=order))
    taken = 0
    for batch in whole.iter_batches(batch_size=100):
        taken += len(batch["bytes"])
        if taken >= 1200:
            break
    source = recmap.ray.Datasource(made, order=order, position=taken)
    rest = [row["bytes"] for row in read(source, blocks=3).take_all()]
    assert rest == [payloads[n] for n in order.at(0, range(taken, len(made)))]


def test_counting_rows_reads_no_shard(tmp_path, payloads):
    paths = write(tmp_path, payloads)
    source = recmap.ray.Datasource(recmap.open(tmp_path))
    paths[0].unlink()
    assert read(source).count() == len(payloads)


def test_plan_has_no_shuffle_stage(made):
    order = recmap.Shuffled(len(made), seed=3)
    epoch = read(recmap.ray.Datasource(made, order=order)).materialize()
    assert "Shuffle" not in epoch.stats() and "Readrecmap" in epoch.stats().replace(" ", "")


def test_views_and_big_blocks(made, monkeypatch):
    monkeypatch.setattr("recmap.ray._BLOCK_SIZE", 1000)
    view = made[::-3]
    source = recmap.ray.Datasource(view, numbers=True)
    (task,) = source.get_read_tasks(1)
    blocks = list(task())
    assert len(blocks) > 20
    got = [number for block in blocks for number in block["number"].to_pylist()]
    assert got == view.numbers.tolist()


def test_wrong_arguments_are_refused(made):
    with pytest.raises(ValueError, match="3211"):
        recmap.ray.Datasource(made, order=recmap.Shuffled(3211))
    with pytest.raises(IndexError):
        recmap.ray.Datasource(made, position=3211)
    with pytest.raises(TypeError):
        recmap.ray.Datasource(made, {"x": 3})
    with pytest.raises(ValueError, match='"number", but that is the name of a feature too'):
        recmap.ray.Datasource(made, {"number": recmap.FixedLen((), "int64")}, numbers=True)
    assert recmap.ray.Datasource(made, position=3210).get_read_tasks(4) == []


def test_index_equals_the_local_one(copied_digits, tmp_path_factory):
    paths = sorted(copied_digits.glob("*.tfrecord"))
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "x.rmx"
    for at in (copied_digits / "digits.rmx", elsewhere):
        contents = {"id": "id", "lift": ["label"], "count": {"image": "uint8"}}
        recmap.index(paths, at, **contents, progress=None)
        local = at.read_bytes()
        at.unlink()
        assert recmap.ray.index(copied_digits, at, **contents) == str(at)
        assert at.read_bytes() == local
        assert [path.name for path in at.parent.iterdir() if "parts" in path.name] == []
    with recmap.open(copied_digits) as ds:
        assert len(ds) == 1797 and ds.find("digit-00042") == 42


def test_index_warns_as_the_local_one(copied_digits):
    """The tasks warn on other machines, but what they find is told here, once."""
    path = copied_digits / "x.rmx"
    with pytest.warns(UserWarning, match="no record has the feature 'lable'") as caught:
        recmap.ray.index(copied_digits, path, lift={"lable": 0})
    assert len(caught) == 1 and caught[0].filename == __file__


def test_index_of_one_of_several_sets(tmp_path):
    for split, shards in ("train", 2), ("test", 1):
        write(tmp_path, [{"x": i} for i in range(10)], shards, f"m-{split}@{shards}.tfrecord")
    with pytest.raises(recmap.InvalidError, match="the folder has 2 sets of shards"):
        recmap.ray.index(tmp_path)
    path = recmap.ray.index(tmp_path, split="train")
    assert os.path.basename(path) == "m-train.rmx"
    source = recmap.ray.Datasource(recmap.open(tmp_path, split="train"))
    assert read(source, 2).count() == 10
    both = recmap.ray.index(tmp_path, sets="all")
    with recmap.open(both) as ds:
        assert len(ds) == 20


def test_index_gives_nulls(tmp_path):
    write(tmp_path, [{"y": 1}, {"x": 1}], shards=2)
    path = tmp_path / "x.rmx"
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "x"'):
        recmap.ray.index(tmp_path, path, lift=["x"])
    assert recmap.ray.index(tmp_path, path, lift=["x"], missing_values="null") == str(path)
    data = path.read_bytes()
    recmap.index(tmp_path, path, lift=["x"], missing_values="null", progress=None)
    assert path.read_bytes() == data
    with recmap.open(path) as ds:
        assert ds.columns["x"].tolist() == [None, 1]


def test_index_reads_with_a_filesystem(copied_digits):
    fs = pytest.importorskip("fsspec").filesystem("file")
    source, path = f"file://{copied_digits}/*.tfrecord", copied_digits / "x.rmx"
    recmap.index(source, path, id="id", storage=recmap.Storage(fs=fs), progress=None)
    local = path.read_bytes()
    path.unlink()
    assert recmap.ray.index(source, path, id="id", storage=recmap.Storage(fs=fs)) == str(path)
    assert path.read_bytes() == local
    with recmap.open(path, storage=recmap.Storage(fs=fs, allow_urls=True)) as ds:
        assert len(ds) == 1797 and ds.find("digit-00042") == 42


def test_index_needs_a_filesystem_that_can_be_pickled(copied_digits):
    class Unpicklable(type(pytest.importorskip("fsspec").filesystem("file"))):
        def __reduce__(self):
            raise TypeError("cannot be pickled")

    with pytest.raises(TypeError, match="cannot be pickled"):
        recmap.ray.index(
            f"{copied_digits}/*.tfrecord",
            copied_digits / "x.rmx",
            storage=recmap.Storage(fs=Unpicklable()),
        )
    assert [path for path in copied_digits.iterdir() if path.suffix != ".tfrecord"] == []


def test_index_names_the_bad_shard(copied_digits):
    flip(copied_digits / "digits-00002-of-00004.tfrecord", 5000)
    with pytest.raises(recmap.CorruptRecordError, match="digits-00002") as caught:
        recmap.ray.index(copied_digits, id="id")
    assert type(caught.value) is recmap.CorruptRecordError  # not wrapped in one of Ray's
    assert caught.value.path.endswith("digits-00002-of-00004.tfrecord")
    assert caught.value.record is not None
    assert list(copied_digits.glob("*.rmx")) + list(copied_digits.glob(".*")) == []
    recmap.index(copied_digits, on_bad_record="skip", progress=None)
    local = (copied_digits / "digits.rmx").read_bytes()
    recmap.ray.index(copied_digits, on_bad_record="skip")
    assert (copied_digits / "digits.rmx").read_bytes() == local
    assert recmap.open(copied_digits, on_bad_record="skip").info["records"] == 1796


def lines_of(folder, payloads, plugin):
    for i in range(3):
        text = b"".join(payload.hex().encode() + b"\n" for payload in payloads[i::3])
        (folder / f"lines-{i}.txt.gz").write_bytes(gzip.compress(text))
    return {"framing": "lines", "compression": "gzip", "guard": True}


def own_framing_of(folder, payloads, plugin):
    for i in range(3):
        parts = [len(payload).to_bytes(4, "big") + payload for payload in payloads[i::3]]
        (folder / f"own-{i}.bin").write_bytes(b"".join(parts))
    return {"framing": plugin}


def text_indexes_of(folder, payloads, plugin):
    idx = folder / "idx"
    idx.mkdir()
    for path in write(folder, payloads, shards=3):
        (idx / f"{path.name}.idx").write_text(text_index(path))
    return {"from_idx": idx, "id": None, "lift": ()}


@pytest.mark.parametrize("kind", [lines_of, own_framing_of, text_indexes_of])
def test_index_supports_framings_and_text_indexes(kind, tmp_path, payloads, plugin, monkeypatch):
    wish = kind(tmp_path, payloads, plugin)
    monkeypatch.chdir(tmp_path)
    for key, value in wish.items():  # paths may be relative to the driver's folder
        if isinstance(value, os.PathLike):
            wish[key] = os.path.join(".", os.path.relpath(value))
    names = sorted(path for path in tmp_path.glob("*-*") if path.suffix != ".idx")
    recmap.index(names, "x.rmx", progress=None, **wish)
    local = (tmp_path / "x.rmx").read_bytes()
    (tmp_path / "x.rmx").unlink()
    assert recmap.ray.index(names, "x.rmx", **wish) == str(tmp_path / "x.rmx")
    assert (tmp_path / "x.rmx").read_bytes() == local
    assert len(recmap.open("x.rmx")) == len(payloads)


def test_index_has_all_arguments_of_the_local_one():
    local, own = (inspect.signature(index).parameters for index in (recmap.index, recmap.ray.index))
    passed = set(IndexArguments.__annotations__)
    assert set(own) - {"arguments"} | passed == set(local) | {"options"}


def test_index_of_many_shards(tmp_path, payloads):
    write(tmp_path, payloads, shards=11)
    path = tmp_path / "made.rmx"
    recmap.index(tmp_path, path, progress=None)
    local = path.read_bytes()
    path.unlink()
    recmap.ray.index(tmp_path, path)
    assert path.read_bytes() == local


def test_index_submits_no_more_tasks_after_a_failure(tmp_path, payloads, monkeypatch):
    """And cancels none, which can make Ray abort the process."""
    paths = write(tmp_path, payloads, shards=40)
    flip(paths[3], 100)
    submitted = []
    run = recmap.ray._run

    def counted(submit, parts):
        return run(lambda part: submitted.append(submit(part)) or submitted[-1], parts)

    monkeypatch.setattr(recmap.ray, "_run", counted)
    monkeypatch.setattr(recmap.ray, "_SUBMITTED_MAX", 4)
    monkeypatch.setattr(ray, "cancel", None)
    with pytest.raises(recmap.CorruptRecordError, match=paths[3].name):
        recmap.ray.index(tmp_path)
    assert len(submitted) <= 8
    ray.get(submitted)  # raises nothing, so Ray prints nothing
    assert list(tmp_path.glob(".*")) + list(tmp_path.glob("*.rmx")) == []


def test_sizes_of_many_records_are_estimated(made, monkeypatch):
    order = recmap.Shuffled(len(made), seed=3)
    source = recmap.ray.Datasource(made, order=order, position=10)
    exact = [task.metadata.size_bytes for task in source.get_read_tasks(3)]
    monkeypatch.setattr("recmap.ray._EXACT_COUNT_MAX", 1000)
    source = recmap.ray.Datasource(made, order=order, position=10)
    close = [task.metadata.size_bytes for task in source.get_read_tasks(3)]
    assert close != exact and all(abs(a / b - 1) < 0.2 for a, b in zip(close, exact, strict=True))
    assert sum(close) == source.estimate_inmemory_data_size()
