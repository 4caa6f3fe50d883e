"""PyTorch: tensors, samples and samplers."""

import copy
import doctest
import functools
import importlib
import itertools
import json
import pickle
import re
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import recmap
from conftest import DIGITS, KEPT, ROOT, kept_of, write
from torch_helpers import FEATURES, LABEL, flat, stateful

torch = pytest.importorskip("torch")

from torch.utils.data import ChainDataset, DataLoader, default_collate  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]

# ---- Tensors.


@pytest.mark.parametrize("name", ["ranks", "tensors", "loader", "samples", "sampler", "iterable"])
def test_examples_of_docstrings_run(name, digits_index, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"recmap": recmap, "digits": lambda: recmap.open(DIGITS, index=digits_index)}
    module = importlib.import_module(f"recmap.torch._{name}")
    failed, count = doctest.testmod(module, extraglobs=names)
    assert count and not failed


def test_tensors_share_the_memory_of_columns(digits):
    columns = digits.parse(range(100), FEATURES)
    batch = recmap.torch.tensors(columns, numbers="n")
    assert batch["image"].data_ptr() == columns["image"].__array_interface__["data"][0]
    assert batch["image"].dtype == torch.uint8 and batch["image"].shape == (100, 64)
    assert batch["id"][42] == b"digit-00042" and batch["n"].tolist() == list(range(100))
    kept = batch["image"].clone()
    del columns
    digits.close()
    assert torch.equal(batch["image"], kept)
    assert recmap.torch.tensors("anything") == "anything"


@pytest.fixture
def varied(tmp_path):
    """Ten records: i values, i words, i steps; coordinates."""
    with recmap.Writer(str(tmp_path / "varied.tfrecord")) as writer:
        for i in range(10):
            writer.write(
                {
                    "values": np.arange(i) + i,
                    "words": [b"w%d" % k for k in range(i)],
                    "steps": np.arange(2 * i, dtype=np.float32),
                    "at": np.arange(i),
                    "row": np.array([i // 2, i - i // 2]),
                    "text": b"text %d" % i,
                }
            )
    return recmap.open(tmp_path / "varied.tfrecord")


VARIED = {
    "values": recmap.VarLen("int64"),
    "words": recmap.VarLen(bytes),
    "steps": recmap.FixedLenSequence(2, "float32"),
    "half": recmap.FixedLen((2,), "bfloat16", default=[0.5, 2.0]),
    "sparse": recmap.Sparse("at", "values", "int64", 20),
    "nested": recmap.Ragged("int64", [recmap.RowLengths("row")], key="values"),
    "text": recmap.FixedLen((), bytes, copy=True),
}


def test_lengths_do_not_give_way_to_a_feature_of_their_name(varied):
    features = {"steps": VARIED["steps"], "steps/length": recmap.VarLen("int64", key="values")}
    with pytest.raises(ValueError, match=r"'steps/length', but .* FixedLen\(key='steps/length'\)"):
        recmap.torch.tensors(varied.parse([3], features))


def test_every_kind_of_column(varied):
    batch = recmap.torch.tensors(varied.parse([3, 0, 5], VARIED))
    ragged = batch["values"]
    assert [ragged.row(i).tolist() for i in range(3)] == [[3, 4, 5], [], [5, 6, 7, 8, 9]]
    nested = torch.nested.nested_tensor_from_jagged(*ragged)
    assert [row.tolist() for row in nested.unbind()] == [[3, 4, 5], [], [5, 6, 7, 8, 9]]
    assert batch["words"].row(0) == [b"w0", b"w1", b"w2"] and batch["words"].row(1) == []
    assert batch["steps"].shape == (3, 5, 2) and batch["steps/length"].tolist() == [3, 0, 5]
    assert batch["half"].dtype == torch.bfloat16 and batch["half"][2].tolist() == [0.5, 2.0]
    assert batch["sparse"].to_dense()[2].tolist() == [5, 6, 7, 8, 9] + [0] * 15
    rows = batch["nested"]
    assert [rows.row(2).row(k).tolist() for k in range(2)] == [[5, 6], [7, 8, 9]]
    text = batch["text"]
    assert text.values.dtype == torch.uint8 and bytes(text.row(2).tolist()) == b"text 5"
    with pytest.raises(TypeError, match="sparse"):
        features = {"x": recmap.Sparse("at", "words", bytes, 20)}
        recmap.torch.tensors(varied.parse([1], features))


def test_rows_of_every_kind(varied):
    dataset = recmap.torch.MapDataset(varied, VARIED, missing="ignore")
    for many in (dataset.__getitems__([3, 0, 5]), [dataset[i] for i in (3, 0, 5)]):
        assert len(many) == 3 and [sorted(row) for row in many] == [sorted(VARIED)] * 3
        assert [row["values"].tolist() for row in many] == [[3, 4, 5], [], [5, 6, 7, 8, 9]]
        assert many[0]["words"] == [b"w0", b"w1", b"w2"]
        assert [tuple(row["steps"].shape) for row in many] == [(3, 2), (0, 2), (5, 2)]
        assert many[2]["sparse"].to_dense().tolist() == [5, 6, 7, 8, 9] + [0] * 15
        assert many[2]["nested"].row(1).tolist() == [7, 8, 9]
        assert bytes(many[2]["text"].tolist()) == b"text 5"


def test_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    page = (ROOT / "docs" / "frameworks" / "torch.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    exec("\n".join(blocks), {"__name__": "page"})


# ---- Ranks.

LAUNCHERS = [
    ("RANK", "WORLD_SIZE"),
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("SLURM_PROCID", "SLURM_NPROCS"),
]


@pytest.mark.parametrize("names", LAUNCHERS)
def test_all_classes_find_the_same_ranks(digits, monkeypatch, names):
    for name in itertools.chain(["SLURM_JOB_ID"], *LAUNCHERS):
        monkeypatch.delenv(name, raising=False)
    for name, value in zip(names, ("1", "3"), strict=True):
        monkeypatch.setenv(name, value)
    assert recmap.torch.ranks() == {"rank": 1, "world_size": 3}
    order = recmap.Sequential(len(digits))
    for rank in {"rank": "auto"}, recmap.torch.ranks():
        expected = range(10, 20)
        assert next(iter(recmap.torch.Sampler(order, 10, **rank))) == list(expected)
        loader = recmap.torch.Loader(digits, 10, features=LABEL, numbers="n", **rank)
        assert next(iter(loader))["n"].tolist() == list(expected)
        batches = recmap.torch.IterableDataset(recmap.Loader(digits, 10, **rank))
        assert next(iter(batches)) == [bytes(digits[i]) for i in expected]
    with pytest.warns(UserWarning, match=f"process 1 of 3 by {names[0]} and") as caught:
        sampler = recmap.torch.Sampler(order, 10)
    assert caught[0].filename == __file__ and "rank 0 of 1" in repr(sampler)
    for half in {"rank": 1}, {"world_size": 3}:
        with pytest.raises(ValueError, match="was given without"):
            recmap.torch.Sampler(order, 10, **half)


# ---- Map-style.


def test_samples_are_dicts_of_tensors(digits):
    dataset = recmap.torch.MapDataset(digits, FEATURES)
    assert len(dataset) == 1797
    sample = dataset[7]
    assert sample["label"].shape == () and sample["label"] == digits.columns["label"][7]
    assert sample["image"].shape == (64,) and sample["id"] == b"digit-00007"
    assert dataset[-1]["id"] == b"digit-01796"
    assert recmap.torch.MapDataset(digits)[3] == bytes(digits[3])
    with pytest.raises(IndexError):
        dataset[1797]
    again = pickle.loads(pickle.dumps(dataset))
    assert torch.equal(again[7]["image"], sample["image"])


@pytest.mark.parametrize("features", [FEATURES, None])
def test_lists_of_a_sampler_without_a_batch_sampler(digits, features):
    """As PyTorch describes loading batches at once: ``sampler`` of lists, ``batch_size=None``."""
    dataset, order = recmap.torch.MapDataset(digits, features), recmap.Shuffled(1797, seed=3)
    options = {"collate_fn": list if features is None else recmap.torch.collate}
    found, expected = (
        list(torch.utils.data.DataLoader(dataset, **how, **options))
        for how in (
            {"batch_size": None, "sampler": recmap.torch.Sampler(order, 300)},
            {"batch_sampler": recmap.torch.Sampler(order, 300)},
        )
    )
    assert len(found) == 6
    for one, other in zip(found, expected, strict=True):
        if features is None:
            assert one == other
        else:
            assert torch.equal(one["image"], other["image"]) and one["id"] == other["id"]


def test_collate_keeps_a_batch_together(digits):
    dataset = recmap.torch.MapDataset(digits[100:], FEATURES)
    rows = dataset.__getitems__([5, 1, 5])
    whole = recmap.torch.collate(rows)
    assert whole["id"] == [b"digit-00105", b"digit-00101", b"digit-00105"]
    assert rows[1]["image"].data_ptr() == whole["image"][1].data_ptr()
    usual = torch.utils.data.default_collate(rows)
    assert torch.equal(usual["image"], whole["image"]) and usual["id"] == whole["id"]
    assert recmap.torch.collate(dataset.__getitems__([]))["image"].shape == (0, 64)
    assert recmap.torch.collate([{"x": torch.ones(2)}] * 3)["x"].shape == (3, 2)
    part = torch.utils.data.Subset(dataset, [3, 4])
    assert recmap.torch.collate(part.__getitems__([1, 0]))["id"] == [b"digit-00104", b"digit-00103"]


@pytest.mark.parametrize("method", [None, "fork", "spawn"])
def test_map_dataset_in_a_data_loader(digits, method):
    order = recmap.Shuffled(len(digits), seed=4)
    loader = DataLoader(
        recmap.torch.MapDataset(digits, FEATURES),
        batch_sampler=recmap.torch.Sampler(order, 300),
        collate_fn=recmap.torch.collate,
        num_workers=2 if method else 0,
        multiprocessing_context=method,
    )
    for epoch in range(1 if method == "spawn" else 2):
        found = flat(batch["id"] for batch in loader)
        assert found == [b"digit-%05d" % n for n in order.at(epoch, range(1797))]


def test_records_without_features_in_a_data_loader(digits):
    dataset = recmap.torch.MapDataset(digits)
    batches = list(DataLoader(dataset, batch_size=1000, num_workers=1))
    assert flat(batches) == [bytes(record) for record in digits]


@pytest.mark.parametrize("workers", [0, 1])
def test_data_set_in_a_data_loader(digits, workers):
    view = digits[:250]
    with pytest.raises(TypeError, match=r"write .*recmap\.torch\.Loader\(ds.*MapDataset\(ds"):
        next(iter(DataLoader(view, batch_size=100, num_workers=workers)))
    # A function of the user's own parses records.
    batches = list(DataLoader(view, batch_size=100, num_workers=workers, collate_fn=list))
    assert list(map(len, batches)) == [100, 100, 50]
    assert flat(batches) == [bytes(record) for record in view]


@pytest.mark.parametrize("loader_of", [DataLoader, stateful])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_sampler_of_lists_is_a_batch_sampler(digits, loader_of, workers):
    dataset, order = recmap.torch.MapDataset(digits, LABEL), recmap.Shuffled(len(digits))
    for wrong, message in (
        ({"sampler": recmap.torch.Sampler(order, 8)}, "batch_sampler=sampler"),
        ({"batch_sampler": recmap.torch.Sampler(order)}, r"write Sampler\(order, batch_size\)"),
    ):
        with pytest.raises(ValueError, match=message):
            next(iter(loader_of(dataset, num_workers=workers, **wrong)))


@pytest.mark.parametrize("loader_of", [DataLoader, stateful])
@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_not_batched_again(digits, loader_of, workers):
    batches = recmap.torch.IterableDataset(recmap.Loader(digits, 100))
    with pytest.raises(ValueError, match=r"DataLoader\(dataset, batch_size=None"):
        next(iter(loader_of(batches, batch_size=2, num_workers=workers)))
    for collate in recmap.torch.collate, functools.partial(default_collate):
        with pytest.raises(ValueError, match=r"DataLoader\(dataset, batch_size=None"):
            next(iter(loader_of(batches, batch_size=1, num_workers=workers, collate_fn=collate)))
    with pytest.raises(ValueError, match=r"DataLoader\(dataset, batch_size=None"):
        next(iter(loader_of(ChainDataset([batches]), batch_size=2, num_workers=workers)))
    # A function of the user's own knows what it gets.
    pairs = loader_of(batches, batch_size=2, num_workers=workers, collate_fn=flat)
    assert len(next(iter(pairs))) == 200


class Samples(torch.utils.data.IterableDataset):
    """A data set of the user's, which takes batches of a loader apart."""

    def __init__(self, ds):
        self.ds = ds

    def __iter__(self):
        for batch in recmap.torch.Loader(self.ds, 100, features=LABEL):
            yield from batch["label"]


def test_a_loader_in_worker_processes_warns(digits):
    recorded = []

    def count(workers):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = sum(map(len, DataLoader(Samples(digits), 32, num_workers=workers)))
        recorded.extend(caught)
        return found

    assert count(0) == count(1) == len(digits)
    assert not [str(one.message) for one in recorded if "worker processes" in str(one.message)]
    # The warning is given in the worker processes.
    samples = Samples(digits)
    with pytest.raises(UserWarning, match=r"each of the 2 worker processes .* reads all records"):
        list(DataLoader(samples, 32, num_workers=2, worker_init_fn=fail_at_warnings))


def fail_at_warnings(_):
    warnings.simplefilter("error")


def test_a_loader_in_a_data_loader_says_what_to_write(digits):
    with pytest.raises(TypeError, match="IterableDataset"):
        next(iter(DataLoader(recmap.Loader(digits, 100))))


class HowMuchIsKept(torch.utils.data.Dataset):
    """The limit that a worker's data set reports."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return kept_of(self.dataset)


@pytest.mark.parametrize("method", [None, "fork", "spawn"])
def test_span_keep_size_applies_in_workers(packed, method):
    workers = {"num_workers": 1 if method else 0, "multiprocessing_context": method}
    assert list(DataLoader(HowMuchIsKept(packed), batch_size=None, **workers)) == [KEPT, KEPT]


# ---- The sampler.


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
@pytest.mark.parametrize("world_size", [1, 2, 3, 5])
def test_ranks_of_sampler_and_loader_agree(digits, last, world_size):
    view, order = digits[:103], recmap.Shuffled(103, seed=2)
    for rank in range(world_size):
        dealt = {"rank": rank, "world_size": world_size, "last": last}
        loader = recmap.Loader(view, 10, order=order, **dealt)
        sampler = recmap.torch.Sampler(order, 10, **dealt)
        for _ in range(2):
            assert list(sampler) == [batch.numbers.tolist() for batch in loader]
        assert len(sampler) == len(loader) and (sampler.epoch, sampler.position) == (2, 0)


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
@pytest.mark.parametrize("count", [0, 1, 5, 12, 1100 * 3 + 2])
def test_a_sampler_without_batches_gives_numbers(last, count):
    order, world_size = recmap.Shuffled(count, seed=1), 3
    ranks = [recmap.torch.Sampler(order, None, r, world_size, last) for r in range(world_size)]
    dealt = [list(sampler) for sampler in ranks]
    assert [len(sampler) for sampler in ranks] == [len(numbers) for numbers in dealt]
    turns = itertools.zip_longest(*dealt)
    given = [number for turn in turns for number in turn if number is not None]
    expected = order.at(0, range(count)).tolist()
    more = -count % world_size if last == "pad" else 0
    wanted = {"keep": expected, "drop": expected[: count // 3 * 3]}
    assert given == wanted.get(last, expected + (expected * 2)[: more if count else 0])
    assert all(sampler.epoch == 1 for sampler in ranks)


def test_orders_with_own_batches(digits):
    order = recmap.Stratified(digits.columns["label"], 100)
    samplers = [recmap.torch.Sampler(order, rank=r, world_size=2) for r in range(2)]
    dealt = [list(sampler) for sampler in samplers]
    assert len(dealt[0]) == len(dealt[1]) == len(samplers[0]) == 9
    assert sorted(flat(dealt[0]) + flat(dealt[1])) == list(range(1797))


@pytest.mark.parametrize("batch_size", [None, 7])
def test_sampler_state_at_every_step(batch_size):
    order = recmap.Shuffled(53, seed=9)

    def make(rank=0, world_size=2):
        return recmap.torch.Sampler(order, batch_size, rank, world_size)

    sampler, items, states = make(), [], [make().state_dict()]
    for item in sampler:
        items.append(item)
        states.append(json.loads(json.dumps(sampler.state_dict())))
    assert states == [make().state_after(i) for i in range(len(states))]
    for step, state in enumerate(states):
        other = make()
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert list(other) == items[step:]
        # All ranks of another world continue with exactly what is left.
        rest = []
        for rank in range(3):
            other = make(rank, 3)
            other.load_state_dict(state)
            share = list(other)
            rest += share if batch_size is None else flat(share)
        left = order.at(state["epoch"], range(state["position"], 53)).tolist()
        assert sorted(rest) == sorted(left)


def test_for_that_was_left_early_is_continued():
    order = recmap.Shuffled(50, seed=3)
    sampler = recmap.torch.Sampler(order, 10)
    first = list(itertools.islice(sampler, 2))
    assert flat(first + list(sampler)) == order.at(0, range(50)).tolist()
    assert flat(list(sampler)) == order.at(1, range(50)).tolist()
    sampler.set_epoch(7)
    assert flat(list(sampler)) == order.at(7, range(50)).tolist()
    sampler.load_state_dict(sampler.state_after(2))
    sampler.set_epoch(7)
    assert (sampler.epoch, sampler.position) == (7, 20)


def test_state_of_a_sampler_that_is_read_ahead(digits):
    sampler = recmap.torch.Sampler(recmap.Shuffled(200, seed=3), 20)
    dataset = recmap.torch.MapDataset(digits[:200], LABEL)
    ahead = DataLoader(dataset, batch_sampler=sampler, num_workers=2)
    for epoch in range(2):
        for step, _ in enumerate(ahead, 1):
            state = sampler.state_after(step)
            assert (state["epoch"], state["position"]) == (epoch, step * 20)
        assert sampler.epoch == epoch + 1


class SlowInFirstWorker(torch.utils.data.Dataset):
    """A data set whose first worker process makes each batch later than the second one."""

    def __len__(self):
        return 200

    def __getitem__(self, number):
        if torch.utils.data.get_worker_info().id == 0:
            time.sleep(0.01)
        return number


@pytest.mark.parametrize("is_in_turn", [True, False])
def test_a_state_that_misses_what_is_read_ahead_is_warned_of(digits, is_in_turn):
    """Also near the end, when the sampler has given its last numbers, and a batch waits."""
    sampler = recmap.torch.Sampler(recmap.Shuffled(200, seed=3), 20)
    dataset = recmap.torch.MapDataset(digits[:200], LABEL) if is_in_turn else SlowInFirstWorker()
    for step, _ in enumerate(DataLoader(dataset, batch_sampler=sampler, num_workers=2), 1):
        if step < 10:
            with pytest.warns(UserWarning, match="state_after"):
                sampler.state_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sampler.state_dict()["epoch"] == 1
        copy.deepcopy(sampler)


def test_a_state_of_another_view_is_refused(digits):
    state = recmap.torch.MapDataset(digits[:1000], LABEL).state_dict()
    recmap.torch.MapDataset(digits[:1000], LABEL).load_state_dict(state)
    with pytest.raises(recmap.StateMismatchError, match="fingerprint"):
        recmap.torch.MapDataset(digits[500:1500], LABEL).load_state_dict(state)


def test_sampler_rejects_wrong_arguments(digits):
    order = recmap.Shuffled(100, seed=3)
    state = recmap.torch.Sampler(order, 10).state_dict()
    with pytest.raises(recmap.StateMismatchError, match="another seed: the state has 3"):
        recmap.torch.Sampler(recmap.Shuffled(100, seed=4), 10).load_state_dict(state)
    for broken in ({}, {**state, "position": 101}, {**state, "epoch": -1}):
        with pytest.raises(ValueError):
            recmap.torch.Sampler(order, 10).load_state_dict(broken)
    for wrong in ({"batch_size": 0}, {"rank": 1, "world_size": 1}, {"last": "none"}):
        with pytest.raises(ValueError):
            recmap.torch.Sampler(order, **wrong)
    loader = recmap.Loader(digits, 10, shuffle=True)
    loader.seek(3, 500)
    sampler = recmap.torch.Sampler(recmap.Shuffled(1797), 10)
    sampler.load_state_dict(loader.state_dict())
    assert (sampler.epoch, sampler.position) == (3, 500)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("workers", [0, 2])
def test_sampler_in_a_stateful_data_loader(digits, batched, workers):
    order = recmap.Shuffled(len(digits), seed=5)

    def make(seed=5):
        order = recmap.Shuffled(len(digits), seed=seed)
        sampler = recmap.torch.Sampler(order, 128 if batched else None)
        how = {"batch_sampler": sampler} if batched else {"sampler": sampler, "batch_size": 128}
        dataset = recmap.torch.MapDataset(digits, FEATURES)
        return stateful(dataset, collate_fn=recmap.torch.collate, num_workers=workers, **how)

    def ids(batches):
        return [int(name[-5:]) for batch in batches for name in batch["id"]]

    loader = make()
    taken = ids(itertools.islice(loader, 6))
    state = json.loads(json.dumps(loader.state_dict()))
    assert taken == order.at(0, range(768)).tolist()
    other = make()
    other.load_state_dict(state)
    assert ids(other) == order.at(0, range(768, 1797)).tolist()
    assert ids(other) == order.at(1, range(1797)).tolist()
    state = other.state_dict()
    third = make()
    third.load_state_dict(state)
    assert ids(third) == order.at(2, range(1797)).tolist()
    wrong = make(seed=6)
    wrong.load_state_dict(state)
    with pytest.raises(recmap.StateMismatchError):
        next(iter(wrong))


def test_state_of_another_data_set_raises(digits):
    loader = stateful(recmap.torch.MapDataset(digits, LABEL), batch_size=100)
    next(iter(loader))
    state = loader.state_dict()
    other = stateful(recmap.torch.MapDataset(digits[:500], LABEL), batch_size=100)
    other.load_state_dict(state)
    with pytest.raises(recmap.StateMismatchError, match=r"has 1797 records and .*, this one 500"):
        next(iter(other))


def test_map_dataset_of_sequence_examples(tmp_path):
    records = [
        recmap.encode_sequence_example({"id": i}, {"x": [[j, i] for j in range(i)], "y": [[i]] * i})
        for i in range(20)
    ]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    context = {"id": recmap.FixedLen((), "int64")}
    lists = {"x": recmap.FixedLenSequence((2,), "int64"), "y": recmap.VarLen("int64")}
    dataset = recmap.torch.MapDataset(ds, context, feature_lists=lists)
    for samples in [dataset[i] for i in range(20)], pickle.loads(pickle.dumps(dataset)):
        for i, (features, sequences) in enumerate(samples):
            assert features["id"] == i
            assert sequences["x"].tolist() == [[j, i] for j in range(i)]
            assert sequences["y"].offsets.tolist() == list(range(i + 1))
    loader = DataLoader(dataset, batch_size=5, collate_fn=recmap.torch.collate)
    ids = [features["id"].tolist() for features, _ in loader]
    assert sum(ids, []) == list(range(20))
    assert repr(dataset).endswith(": id, x, y>")
    only = recmap.torch.MapDataset(ds, feature_lists={"y": recmap.VarLen("int64")})
    assert len(only[3]) == 2 and only[3][0] == {}


def test_nested_ragged_rows_can_be_flattened(tmp_path):
    """nested_tensor_from_jagged supports one ragged level only."""
    records = [{"v": list(range(2 * i)), "l": [2] * i} for i in range(6)]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    ragged = recmap.Ragged("int64", [recmap.RowLengths("l")], key="v")
    batch = recmap.torch.tensors(ds.parse(range(6), {"v": ragged, "l": recmap.VarLen("int64")}))
    assert isinstance(batch["v"].values, recmap.torch.Ragged)
    for jagged, size in (batch["v"].flat, 2), (batch["l"].flat, 1):
        nested = torch.nested.nested_tensor_from_jagged(*jagged)
        assert [len(row) for row in nested.unbind()] == [size * i for i in range(6)]
    assert batch["v"].flat.values.tolist() == [j for i in range(6) for j in range(2 * i)]
    assert batch["l"].flat is batch["l"]


def test_a_data_set_of_samples_needs_a_data_set(digits):
    loader = recmap.Loader(digits, 4)
    message = r"dataset must be a recmap\.Dataset, not <recmap\.Loader.* recmap\.torch\.Iterable"
    with pytest.raises(TypeError, match=message):
        recmap.torch.MapDataset(loader)
    with pytest.raises(TypeError, match=r"dataset must be a recmap\.Dataset, not 'x'; see recmap"):
        recmap.torch.MapDataset("x")


def test_mistakes_in_features_name_similar_ones(digits):
    dataset = recmap.torch.MapDataset(digits, {"lable": recmap.FixedLen((), "int64")})
    for read in (lambda: dataset[0], lambda: next(iter(DataLoader(dataset, batch_size=9)))):
        with pytest.raises(recmap.FeatureError, match="lable") as caught:
            read()
        assert "'label'" in caught.value.advice
    with pytest.raises(TypeError, match="features must be a dict"):
        recmap.torch.MapDataset(digits, ["label"])
    with pytest.raises(TypeError, match="batch_size must be an integer, not '32'"):
        recmap.torch.Sampler(recmap.Shuffled(9), "32")


class Pairs(torch.utils.data.Dataset):
    """A data set of the user's that returns records."""

    def __init__(self, ds):
        self.ds = ds

    def __len__(self):
        return len(self.ds)

    def __getitem__(self, index):
        return {"record": self.ds[index], "number": index}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["concat", "subset", "own"])
def test_records_inside_other_data_sets_are_not_collated(digits, kind, workers):
    """PyTorch would make integers of their bytes."""
    data = torch.utils.data
    within = {
        "concat": lambda: data.ConcatDataset([digits, digits[:50]]),
        "subset": lambda: data.Subset(data.ConcatDataset([digits]), [1, 2]),
        "own": lambda: Pairs(digits),
    }[kind]()
    with pytest.raises(TypeError, match=r"PyTorch does not parse records: .*MapDataset"):
        next(iter(DataLoader(within, batch_size=2, num_workers=workers)))
    kept = DataLoader(within, batch_size=2, num_workers=workers, collate_fn=lambda rows: len(rows))
    assert next(iter(kept)) == 2


def test_other_memoryviews_are_collated_as_before():
    views = [memoryview(b"ab"), memoryview(b"cd")]
    batch = torch.utils.data.default_collate(views)
    assert [column.tolist() for column in batch] == [[97, 99], [98, 100]]


@pytest.mark.parametrize("first", ["torch", "recmap"])
def test_records_are_not_collated_if_torch_is_imported_late(digits_index, first):
    script = (
        f"import {first}, sys, recmap\n"
        f"ds = recmap.open({str(DIGITS)!r}, index={str(digits_index)!r})\n"
        "from torch.utils.data import ConcatDataset, DataLoader\n"
        "for batch in DataLoader(ConcatDataset([ds, ds]), 2):\n    break\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "TypeError: PyTorch does not parse records" in done.stderr
