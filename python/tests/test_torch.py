"""PyTorch: tensors, samples, samplers, workers, ranks, and resuming inside epochs."""

import doctest
import importlib
import itertools
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import recmap
from conftest import DIGITS, KEPT, ROOT, kept_of, write

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]

FEATURES = {
    "image": recmap.FixedLen(64, "uint8", raw=True),
    "label": recmap.FixedLen(),
    "id": recmap.FixedLen((), bytes),
}
LABEL = {"label": recmap.FixedLen()}


def stateful(*arguments, **more):
    module = pytest.importorskip("torchdata.stateful_dataloader")
    return module.StatefulDataLoader(*arguments, **more)


def of(batches):
    return [batch["n"].tolist() for batch in batches]


def flat(lists):
    return [item for some in lists for item in some]


# ---- Tensors.


@pytest.mark.parametrize("name", ["ranks", "tensors", "loader", "samples", "sampler", "iterable"])
def test_examples(name, digits_index, monkeypatch):
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
    return recmap.open(tmp_path / "varied.tfrecord", progress=None)


VARIED = {
    "values": recmap.VarLen("int64"),
    "words": recmap.VarLen(bytes),
    "steps": recmap.FixedLenSequence(2, "float32"),
    "half": recmap.FixedLen((2,), "bfloat16", default=[0.5, 2.0]),
    "sparse": recmap.Sparse("at", "values", "int64", 20),
    "nested": recmap.Ragged("int64", [recmap.RowLengths("row")], key="values"),
    "text": recmap.FixedLen((), bytes, copy=True),
}


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
    dataset = recmap.torch.MapDataset(varied, VARIED)
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
    page = (ROOT / "docs" / "python" / "torch.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    exec("\n".join(blocks), {"__name__": "page"})


# ---- Map-style.


def test_samples(digits):
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
    batches = list(DataLoader(digits[:250], batch_size=100, num_workers=workers))
    assert list(map(len, batches)) == [100, 100, 50]
    assert flat(batches) == [bytes(record) for record in digits[:250]]


@pytest.mark.parametrize("loader_of", [DataLoader, stateful])
@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_not_batched_again(digits, loader_of, workers):
    batches = recmap.torch.IterableDataset(recmap.Loader(digits, 100))
    with pytest.raises(ValueError, match=r"DataLoader\(dataset, batch_size=None"):
        next(iter(loader_of(batches, batch_size=2, num_workers=workers)))
    # A function of the user's own knows what it gets.
    pairs = loader_of(batches, batch_size=2, num_workers=workers, collate_fn=flat)
    assert len(next(iter(pairs))) == 200


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
def test_single_numbers(last, count):
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
        # All ranks of another world go on with exactly what is left.
        rest = []
        for rank in range(3):
            other = make(rank, 3)
            other.load_state_dict(state)
            walked = list(other)
            rest += walked if batch_size is None else flat(walked)
        left = order.at(state["epoch"], range(state["position"], 53)).tolist()
        assert sorted(rest) == sorted(left)


def test_for_that_was_left_early_starts_again():
    order = recmap.Shuffled(50, seed=3)
    sampler = recmap.torch.Sampler(order, 10)
    first = list(itertools.islice(sampler, 2))
    assert list(sampler)[:2] == first
    assert list(sampler) != first  # the next epoch
    sampler.set_epoch(7)
    assert flat(list(sampler)) == order.at(7, range(50)).tolist()
    sampler.load_state_dict(sampler.state_after(2))
    sampler.set_epoch(7)
    assert (sampler.epoch, sampler.position) == (7, 20)


def test_state_of_a_sampler_that_is_read_ahead(digits):
    sampler = recmap.torch.Sampler(recmap.Shuffled(200, seed=3), 20)
    dataset = recmap.torch.MapDataset(digits, LABEL)
    ahead = DataLoader(dataset, batch_sampler=sampler, num_workers=2)
    for epoch in range(2):
        for step, _ in enumerate(ahead, 1):
            state = sampler.state_after(step)
            assert (state["epoch"], state["position"]) == (epoch, step * 20)
        assert sampler.epoch == epoch + 1


def test_sampler_rejects_wrong_arguments(digits):
    order = recmap.Shuffled(100, seed=3)
    state = recmap.torch.Sampler(order, 10).state_dict()
    with pytest.raises(recmap.StateMismatchError, match="order"):
        recmap.torch.Sampler(recmap.Shuffled(100, seed=4), 10).load_state_dict(state)
    for broken in ({}, {**state, "position": 101}, {**state, "epoch": -1}):
        with pytest.raises(ValueError):
            recmap.torch.Sampler(order, 10).load_state_dict(broken)
    for wrong in ({"batch_size": 0}, {"rank": 1}, {"last": "none"}):
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
    with pytest.raises(recmap.StateMismatchError, match="record_count"):
        next(iter(other))


# ---- Iterable.


def iterable(ds, **more):
    asked = {"batch_size": 50, "shuffle": True, "seed": 3, "features": LABEL, **more}
    return recmap.torch.IterableDataset(recmap.Loader(ds, **asked), numbers="n")


def workers_of(dataset, workers=2, **more):
    return DataLoader(dataset, batch_size=None, num_workers=workers, **more)


def test_plain_for(digits):
    dataset = iterable(digits)
    labels, order = digits.columns["label"], recmap.Shuffled(1797, seed=3)
    for epoch in range(2):
        taken = []
        for batch in dataset:
            assert batch["label"].tolist() == labels[batch["n"]].tolist()
            taken += batch["n"].tolist()
        assert taken == order.at(epoch, range(1797)).tolist()
    assert len(dataset) == 36


def test_pairs_of_sequence_examples(tmp_path):
    steps = [{"steps": [[t] for t in range(i)]} for i in range(20)]
    write(tmp_path, [recmap.encode_sequence_example({"id": i}, s) for i, s in enumerate(steps)])
    loader = recmap.Loader(
        recmap.open(tmp_path),
        4,
        shuffle=True,
        features={"id": recmap.FixedLen()},
        feature_lists={"steps": recmap.FixedLenSequence((1,))},
    )
    dataset = recmap.torch.IterableDataset(loader)
    seen = []
    for context, lists in DataLoader(dataset, None, num_workers=2):
        assert torch.equal(context["id"], lists["steps/length"])
        assert lists["steps"].shape == (4, int(context["id"].max()), 1)
        seen += context["id"].tolist()
    assert seen == recmap.Shuffled(20).at(0, range(20)).tolist()


def test_results_of_a_transform_are_unchanged(digits):
    def transform(batch):
        made = recmap.torch.tensors(batch)
        return made["label"] * 2

    dataset = iterable(digits, transform=transform)
    expected = digits.columns["label"][recmap.Shuffled(1797, seed=3).at(0, range(1797))] * 2
    assert torch.cat(list(dataset)).tolist() == expected.tolist()
    assert torch.cat(list(workers_of(iterable(digits, transform=transform)))).tolist() == (
        expected.tolist()
    )


def test_state_of_a_plain_for(digits):
    dataset = iterable(digits, world_size=2)
    batches, states = [], [dataset.state_dict()]
    for batch in dataset:
        batches.append(batch["n"].tolist())
        states.append(json.loads(json.dumps(dataset.state_dict())))
    for step in (0, 1, 9, 17, 18):
        other = iterable(digits, world_size=2)
        other.load_state_dict(states[step])
        assert other.state_dict() == states[step]
        assert of(other) == batches[step:]
        assert iterable(digits, world_size=2).state_after(step) == states[step]
    loader = recmap.Loader(digits, 10, shuffle=True, seed=3)
    loader.load_state_dict(states[5])
    assert loader.position == 500


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
@pytest.mark.parametrize("rank", [0, 2])
def test_batches_do_not_depend_on_workers(digits, last, rank):
    """Whatever the number of workers: the same batches in the same order, epoch after epoch."""
    dealt = {"last": last, "rank": rank, "world_size": 3}
    plain = iterable(digits, **dealt)
    epochs = [of(plain), of(plain)]
    for workers in (1, 2, 5):
        dataset = iterable(digits, **dealt)
        loader = workers_of(dataset, workers)
        assert [of(loader), of(loader)] == epochs
        assert dataset.state_dict() == plain.state_dict()


def test_more_workers_than_steps(digits):
    dataset = iterable(digits[:70], batch_size=60)
    loader = workers_of(dataset, 3)
    expected = recmap.Shuffled(70, seed=3)
    for epoch in range(3):
        assert flat(of(loader)) == expected.at(epoch, range(70)).tolist()
    assert of(workers_of(iterable(digits[:5], batch_size=9, last="drop"), 2)) == []


def test_orders_with_own_batches_in_workers(digits):
    order = recmap.Grouped(digits.columns["label"], 64, seed=2)
    changes = {"order": order, "shuffle": False, "seed": 0, "batch_size": None}
    expected = of(iterable(digits, **changes))
    loader = workers_of(iterable(digits, **changes))
    assert of(loader) == expected
    dataset = iterable(digits, **changes)
    dataset.load_state_dict(dataset.state_after(5))
    assert of(workers_of(dataset)) == expected[5:]


@pytest.mark.parametrize("workers", [0, 2])
def test_fewer_records_than_ranks(digits, workers):
    """Every rank makes its step, some with an empty batch."""
    taken = []
    for rank in range(9):
        dealt = {"batch_size": 3, "features": FEATURES, "rank": rank, "world_size": 9}
        (batch,) = workers_of(iterable(digits[:7], **dealt), workers)
        assert batch["image"].shape == (len(batch["n"]), 64)
        taken += batch["n"].tolist()
    assert taken == recmap.Shuffled(7, seed=3).at(0, range(7)).tolist()


@pytest.mark.parametrize("epochs", [None, 3])
def test_persistent_workers(digits, epochs):
    plain = iterable(digits[:777], epochs=epochs)
    loader = workers_of(iterable(digits[:777], epochs=epochs), persistent_workers=True)
    for _ in range(3):
        assert of(loader) == of(plain)


def _walk_on(board, worker, workers, line, begun):
    for _ in range(100):
        line.wait()
        walk = board.begin((0, 0), worker, workers)
        begun.put(walk)
        board.end(worker, walk, walk[0] + 1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_that_start_together_start_the_same_iteration(method):
    context = torch.multiprocessing.get_context(method)
    workers, begun = 3, context.Queue()
    shared = recmap.torch._board.Board(), workers, context.Barrier(workers), begun
    board, *rest = shared
    some = [
        context.Process(target=_walk_on, args=(board, worker, *rest)) for worker in range(workers)
    ]
    for process in some:
        process.start()
    walks = sorted(begun.get(timeout=60) for _ in range(100 * workers))
    for process in some:
        process.join()
    assert walks == [(epoch, 0) for epoch in range(100) for _ in range(workers)]


def test_epochs_continue_in_workers(digits):
    """An epoch has 35 steps, so that the second one starts with the other worker."""
    plain = of(iterable(digits, epochs=3, last="drop"))
    assert len(plain) == 105
    dataset = iterable(digits, epochs=3, last="drop")
    assert of(workers_of(dataset)) == plain
    assert dataset.state_dict()["epoch"] == 3 and of(workers_of(dataset)) == []
    with pytest.raises(ValueError, match="never end"):
        of(workers_of(iterable(digits[:3], epochs=2, last="drop"), 1))


def test_state_after_counts_delivered_batches(digits):
    """Exact even if the workers have read ahead to the end."""
    plain, dataset = iterable(digits[:230]), iterable(digits[:230])
    for epoch in range(2):
        states = [plain.state_dict() for _ in plain]
        for step, _ in enumerate(workers_of(dataset)):
            assert dataset.state_after(step + 1) == states[step]
        assert dataset.state_dict()["epoch"] == epoch + 1


def test_workers_and_plain_for_alternate(digits):
    dataset, order = iterable(digits), recmap.Shuffled(1797, seed=3)
    loader = workers_of(dataset)
    for epoch in (0, 1, 2, 3, 4):
        walk = loader if epoch in (0, 2, 3) else dataset
        assert flat(of(walk)) == order.at(epoch, range(1797)).tolist()
    dataset.load_state_dict(dataset.state_after(10))
    assert flat(of(loader)) == order.at(5, range(500, 1797)).tolist()
    assert flat(of(loader)) == order.at(6, range(1797)).tolist()


@pytest.mark.parametrize("persistent", [False, True])
def test_worker_iteration_that_was_left_early_starts_again(digits, persistent):
    loader = workers_of(iterable(digits), persistent_workers=persistent)
    expected = recmap.Shuffled(1797, seed=3)
    assert len(list(itertools.islice(loader, 5))) == 5
    for epoch in range(2):
        assert flat(of(loader)) == expected.at(epoch, range(1797)).tolist()


def test_seeking_the_loader_moves_the_data_set(digits):
    dataset = iterable(digits)
    dataset._loader.seek(4, 1000)
    assert (
        flat(of(workers_of(dataset))) == recmap.Shuffled(1797, 3).at(4, range(1000, 1797)).tolist()
    )
    assert dataset.state_dict()["epoch"] == 5


def test_error_in_a_worker(tmp_path, payloads):
    from conftest import flip, write

    (path,) = write(tmp_path, payloads[:200])
    ds = recmap.open(path)
    flip(path, 12 + sum(len(payload) + 16 for payload in payloads[:120]))
    loader = workers_of(recmap.torch.IterableDataset(recmap.Loader(ds, 50)))
    with pytest.raises(recmap.CorruptRecordError, match="record 120"):
        list(loader)


HOW = [
    (workers, method, epochs)
    for workers, method in [(0, None), (2, "fork"), (3, "fork")]
    for epochs in (None, 2)
]


@pytest.mark.parametrize(("workers", "method", "epochs"), [*HOW, (2, "spawn", None)])
def test_stateful_data_loader(digits, workers, method, epochs):
    small = digits[:777]  # 16 steps

    def make():
        return stateful(
            iterable(small, epochs=epochs),
            batch_size=None,
            num_workers=workers,
            multiprocessing_context=method,
        )

    expected = of(iterable(small, epochs=epochs))
    second = recmap.Shuffled(777, seed=3).at(1, range(777)).tolist()
    for step in {None: (7, 0, 1, 15), 2: (14, 17)}[epochs][: 1 if method == "spawn" else 4]:
        loader = make()
        taken = of(itertools.islice(loader, step))
        state = json.loads(json.dumps(loader.state_dict()))
        other = make()
        other.load_state_dict(state)
        assert taken + of(other) == expected
        if epochs is None and method != "spawn":
            assert flat(of(other)) == second
        # The same state, out of its workers: any number of them, of ranks, of batches.
        ranks = [
            iterable(small, epochs=epochs, rank=r, world_size=3, batch_size=20) for r in range(3)
        ]
        for rank in ranks:
            rank.load_state_dict(state)
        assert len({json.dumps(rank.state_dict()) for rank in ranks}) == 1
        assert sorted(flat(taken) + flat(flat(of(rank) for rank in ranks))) == (
            sorted(flat(expected))
        )


@pytest.mark.parametrize("workers", [0, 2])
def test_stateful_data_loader_at_the_end_of_an_epoch(digits, workers):
    def make():
        return stateful(iterable(digits), batch_size=None, num_workers=workers)

    loader, order = make(), recmap.Shuffled(1797, seed=3)
    of(loader)
    other = make()
    other.load_state_dict(loader.state_dict())
    assert flat(of(other)) == order.at(1, range(1797)).tolist()
    assert flat(of(loader)) == order.at(1, range(1797)).tolist()
    assert flat(of(loader)) == order.at(2, range(1797)).tolist()


def epochs_of(kind, digits):
    """A loop with a state and 18 steps per epoch."""
    if kind == "plain for":
        return iterable(digits, batch_size=100)
    if kind == "sampler":
        return recmap.torch.Sampler(recmap.Shuffled(1797, seed=3), 100)
    if kind.startswith("iterable"):
        return stateful(
            iterable(digits, batch_size=100), batch_size=None, num_workers=int(kind[-1])
        )
    sampler = recmap.torch.Sampler(recmap.Shuffled(1797, seed=3), 100)
    dataset = recmap.torch.MapDataset(digits, LABEL)
    return stateful(dataset, batch_sampler=sampler, num_workers=int(kind[-1]))


KINDS = ["plain for", "sampler", "iterable 0", "iterable 2", "batches 0", "batches 2"]


@pytest.mark.parametrize("kind", KINDS)
def test_state_after_the_last_batch_gives_an_empty_for(digits, kind):
    """torchdata's convention, in all kinds of loops; and a state after the `for` the next epoch."""
    loop = epochs_of(kind, digits)
    for _ in loop:
        inside = json.loads(json.dumps(loop.state_dict()))
    after = json.loads(json.dumps(loop.state_dict()))
    resumed = epochs_of(kind, digits)
    resumed.load_state_dict(inside)
    assert [sum(1 for _ in resumed) for _ in range(2)] == [0, 18]
    resumed = epochs_of(kind, digits)
    resumed.load_state_dict(after)
    assert sum(1 for _ in resumed) == 18
    if kind.startswith("iterable"):  # out of its DataLoader
        for state, steps in (inside, 0), (after, 18):
            alone = iterable(digits, batch_size=100)
            alone.load_state_dict(state)
            assert len(of(alone)) == steps


def test_state_after_all_steps_gives_an_empty_for(digits):
    dataset, sampler = iterable(digits, batch_size=100), epochs_of("sampler", digits)
    for made, walk in (dataset, workers_of(dataset)), (sampler, sampler):
        assert sum(1 for _ in walk) == 18
        again = epochs_of("plain for" if made is dataset else "sampler", digits)
        again.load_state_dict(made.state_after(18))
        assert [sum(1 for _ in again) for _ in range(2)] == [0, 18]


def test_stateful_data_loader_that_saves_rarely(digits):
    def make():
        return stateful(iterable(digits), batch_size=None, num_workers=2, snapshot_every_n_steps=4)

    loader = make()
    taken = of(itertools.islice(loader, 10))
    state = loader.state_dict()
    other = make()
    other.load_state_dict(state)
    assert taken + of(other) == of(iterable(digits))
    alone = iterable(digits)
    alone.load_state_dict(state)
    assert taken + of(alone) == of(iterable(digits))


@pytest.mark.parametrize("steps", range(7))
def test_state_of_workers_in_different_epochs(digits, steps):
    """Two steps an epoch, three workers, three epochs: workers go on to other epochs early."""

    def make():
        data = iterable(digits[:70], epochs=3)
        return stateful(data, batch_size=None, num_workers=3)

    loader, expected = make(), of(iterable(digits[:70], epochs=3))
    taken = of(itertools.islice(loader, steps))
    state = loader.state_dict()
    again = make()
    again.load_state_dict(state)
    for saved in (state, again.state_dict()):
        alone = iterable(digits[:70], epochs=3)
        alone.load_state_dict(saved)
        assert taken + of(alone) == expected
    assert taken + of(again) == expected


def test_workers_reject_states_of_other_data_sets(digits):
    loader = stateful(iterable(digits), batch_size=None, num_workers=2)
    of(itertools.islice(loader, 3))
    state = loader.state_dict()
    for changes in ({"seed": 4}, {"world_size": 2}, {"batch_size": 51}):
        other = stateful(iterable(digits, **changes), batch_size=None, num_workers=2)
        other.load_state_dict(state)
        with pytest.raises(recmap.StateMismatchError):
            of(other)
    with pytest.raises(recmap.StateMismatchError):
        iterable(digits, seed=4).load_state_dict(state)


# ---- Ranks.

RANK = """
import json, sys
import recmap, torch, torch.distributed as group

shards, index, state_path, steps, out = sys.argv[1:]
group.init_process_group("gloo")
loader = recmap.Loader(
    recmap.open(shards, index=index), 50, shuffle=True, seed=11,
    features={"label": recmap.FixedLen()}, **recmap.torch.ranks(),
)
dataset = recmap.torch.IterableDataset(loader, numbers="n")
if state_path != "-":
    dataset.load_state_dict(json.load(open(state_path)))
taken = []
for batch in dataset:
    taken.append(batch["n"].tolist())
    count = torch.tensor([len(batch["n"])])
    group.all_reduce(count)  # hangs or fails where ranks differ in steps
    if len(taken) == int(steps):
        break
states = [None] * group.get_world_size()
group.all_gather_object(states, dataset.state_dict())
assert all(state == states[0] for state in states)
with open(f"{out}.{group.get_rank()}", "w") as file:
    json.dump({"taken": taken, "state": states[0]}, file)
group.destroy_process_group()
"""


def run_ranks(folder, world_size, *arguments):
    (folder / "rank.py").write_text(RANK)
    # An address, since a bare machine may know no localhost.
    run = [sys.executable, "-m", "torch.distributed.run", "--rdzv-backend", "c10d"]
    run += ["--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
    run += ["--nproc-per-node", str(world_size), "rank.py", DIGITS, *arguments]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    subprocess.run(list(map(str, run)), cwd=folder, env=quiet, check=True, timeout=300)
    outs = [json.loads((folder / f"{arguments[-1]}.{r}").read_text()) for r in range(world_size)]
    # Steps of all ranks, one behind another: the global order.
    turns = zip(*(out["taken"] for out in outs), strict=True)
    return flat(flat(turn) for turn in turns), outs[0]["state"]


def test_two_torchrun_ranks_resume_on_three(tmp_path, digits):
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("torch without gloo")
    index = digits.index_path
    first, state = run_ranks(tmp_path, 2, index, "-", 7, "first")
    (tmp_path / "state").write_text(json.dumps(state))
    assert state["position"] == 700
    second, state = run_ranks(tmp_path, 3, index, "state", 1000, "second")
    assert first + second == recmap.Shuffled(1797, seed=11).at(0, range(1797)).tolist()
    assert (state["epoch"], state["position"]) == (1, 0)


def test_map_dataset_of_sequence_examples(tmp_path):
    records = [
        recmap.encode_sequence_example({"id": i}, {"x": [[j, i] for j in range(i)], "y": [[i]] * i})
        for i in range(20)
    ]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    context = {"id": recmap.FixedLen()}
    lists = {"x": recmap.FixedLenSequence((2,)), "y": recmap.VarLen()}
    dataset = recmap.torch.MapDataset(ds, context, feature_lists=lists)
    for samples in [dataset[i] for i in range(20)], pickle.loads(pickle.dumps(dataset)):
        for i, (features, sequences) in enumerate(samples):
            assert features["id"] == i
            assert sequences["x"].tolist() == [[j, i] for j in range(i)]
            assert sequences["y"].offsets.tolist() == list(range(i + 1))
    loader = DataLoader(dataset, batch_size=5, collate_fn=recmap.torch.collate)
    ids = [features["id"].tolist() for features, _ in loader]
    assert sum(ids, []) == list(range(20))
    only = recmap.torch.MapDataset(ds, feature_lists={"y": recmap.VarLen()})
    assert len(only[3]) == 2 and only[3][0] == {}


def test_nested_ragged_rows_can_be_flattened(tmp_path):
    """nested_tensor_from_jagged supports one ragged level only."""
    records = [{"v": list(range(2 * i)), "l": [2] * i} for i in range(6)]
    write(tmp_path, records)
    ds = recmap.open(tmp_path / "made-0.tfrecord")
    ragged = recmap.Ragged("int64", [recmap.RowLengths("l")], key="v")
    batch = recmap.torch.tensors(ds.parse(range(6), {"v": ragged, "l": recmap.VarLen()}))
    assert isinstance(batch["v"].values, recmap.torch.Ragged)
    for flat, size in (batch["v"].flat, 2), (batch["l"].flat, 1):
        nested = torch.nested.nested_tensor_from_jagged(*flat)
        assert [len(row) for row in nested.unbind()] == [size * i for i in range(6)]
    assert batch["v"].flat.values.tolist() == [j for i in range(6) for j in range(2 * i)]
    assert batch["l"].flat is batch["l"]
