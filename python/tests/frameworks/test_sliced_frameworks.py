"""Rows in PyTorch, TensorFlow and Grain: the arrays equal a plain loader's."""

import json
import pickle

import numpy as np
import pytest
import recmap
from conftest import write

COUNTS = np.random.default_rng(1).integers(0, 40, 200)
BATCH = 6
FEATURES = {
    "tokens": recmap.Sliced((), "int32", pad=-1),
    "pairs": recmap.Sliced((2,), "float32"),
}
ORDERS = {
    "chunked": recmap.Chunked(COUNTS, 16, overlap=1, last="pad", seed=3),
    "packed": recmap.Packed(COUNTS, 64, seed=3),
    "windows": recmap.Windows(COUNTS, 8, pad=(2, 2), seed=3),
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    records = [
        recmap.encode_example(
            {
                "tokens": np.arange(count) + 1000 * i,
                "pairs": np.arange(2 * count, dtype=np.float32) + i,
            }
            if count
            else {}
        )
        for i, count in enumerate(COUNTS)
    ]
    write(folder, records)
    with recmap.open(folder / "made-0.tfrecord") as ds:
        yield ds


@pytest.fixture(params=ORDERS)
def order(request):
    return ORDERS[request.param]


def expected(documents, order):
    """The batches of an epoch as dicts of arrays."""
    loader = recmap.Loader(documents, BATCH, order=order, features=FEATURES)
    names = ["mask"]
    if not isinstance(order, recmap.Windows):
        names += ["segment_ids", "positions"]
    return [{name: np.array(batch[name]) for name in [*FEATURES, *names]} for batch in loader]


def assert_equal(found, due):
    assert found.keys() == due.keys()
    for name, array in due.items():
        assert np.asarray(found[name]).dtype == array.dtype
        assert (np.asarray(found[name]) == array).all()


def test_torch_loads_rows(documents, order):
    torch = pytest.importorskip("torch")
    due = expected(documents, order)
    loader = recmap.torch.Loader(documents, BATCH, order=order, features=FEATURES)
    for batch, arrays in zip(loader, due, strict=True):
        assert all(isinstance(tensor, torch.Tensor) for tensor in batch.values())
        assert_equal(batch, arrays)


def test_numbers_of_every_piece(documents, order):
    pytest.importorskip("torch")
    options = {"order": order, "features": FEATURES}
    plain = recmap.Loader(documents, BATCH, **options)
    batches = [
        list(recmap.torch.Loader(documents, BATCH, numbers="document", **options)),
        list(recmap.torch.IterableDataset(recmap.Loader(documents, BATCH, **options), "document")),
        [recmap.torch.tensors(batch, "document") for batch in plain],
    ]
    rows = [range(i, min(i + BATCH, len(order))) for i in range(0, len(order), BATCH)]
    for found in batches:
        for batch, positions in zip(found, rows, strict=True):
            items, splits = order.pieces(0, positions)
            if isinstance(order, recmap.Windows):  # one piece in each row
                assert batch["document"].tolist() == items[:, 0].tolist()
                continue
            values, offsets = batch["document"]
            assert values.tolist() == items[:, 0].tolist()
            assert offsets.tolist() == splits.tolist()
            assert batch["document"].row(0).tolist() == items[: splits[1], 0].tolist()


def test_torch_workers_load_rows(documents, order):
    data = pytest.importorskip("torch.utils.data")
    loader = recmap.Loader(documents, BATCH, order=order, features=FEATURES, threads=1)
    dataset = recmap.torch.IterableDataset(loader)
    found = list(data.DataLoader(dataset, batch_size=None, num_workers=2))
    due = expected(documents, order)
    assert len(found) == len(due)
    for batch, arrays in zip(found, due, strict=True):
        assert_equal(batch, arrays)


def test_arrow_exports_rows(documents, order):
    pytest.importorskip("pyarrow")
    due = expected(documents, order)
    for views in (False, True):
        loader = recmap.Loader(documents, BATCH, order=order, features=FEATURES)
        table = recmap.arrow.reader(loader, views=views).read_all()
        assert table.num_rows == len(order)
        for name in FEATURES:
            rows = np.concatenate([arrays[name] for arrays in due])
            assert (np.array(table[name].to_pylist()).reshape(rows.shape) == rows).all()
        assert set(table.column_names) == due[0].keys()
        for name in due[0].keys() - FEATURES.keys():
            rows = np.concatenate([arrays[name] for arrays in due])
            assert (np.array(table[name].to_pylist()) == rows).all()


def test_tensorflow_loads_rows(documents, order):
    pytest.importorskip("tensorflow")
    loader = recmap.Loader(documents, BATCH, order=order, features=FEATURES)
    dataset = recmap.tensorflow.dataset(loader)
    assert dataset.element_spec["pairs"].shape[1:] == (order.row_width, 2)
    for batch, arrays in zip(dataset, expected(documents, order), strict=True):
        assert_equal({name: tensor.numpy() for name, tensor in batch.items()}, arrays)


def test_grain_loads_rows(documents, order):
    pytest.importorskip("grain")
    batches = recmap.grain.Batches(documents, order, BATCH, FEATURES)
    due = expected(documents, order)
    assert len(batches) == len(due)
    for i in (0, 1, len(due) - 1):
        assert_equal(batches[i], due[i])
        for name, spec in batches._element_spec.items():
            assert batches[i][name].shape[1:] == spec.shape[1:]
            assert batches[i][name].dtype == spec.dtype
    again = pickle.loads(pickle.dumps(batches))
    assert_equal(again[1], due[1])
    items, _ = order.pieces(1, [0])
    first = batches[len(due)]["tokens"][0]  # of the next epoch
    record, start = items[0, 0], items[0, 1]
    assert first[items[0, 3]] == 1000 * record + start
    with pytest.raises(ValueError, match="features are missing"):
        recmap.grain.Batches(documents, order, BATCH)[0]


def test_grain_elements_are_not_rows(documents, order):
    grain = pytest.importorskip("grain")
    source = recmap.grain.DataSource(documents)
    for make in (
        lambda: recmap.grain.Ordered(grain.MapDataset.source(source), order),
        lambda: recmap.grain.Sampler(order),
    ):
        with pytest.raises(ValueError, match=r"gives rows, not records: .* recmap\.grain\.Batches"):
            make()
    with pytest.raises(TypeError, match=r"an order must be a recmap\.Shuffled"):
        recmap.grain.Sampler(documents)


def test_grain_warns_of_an_order_without_rows(documents):
    pytest.importorskip("grain")
    order = recmap.Windows(COUNTS, 1000)
    with pytest.warns(UserWarning, match="the order has no rows") as caught:
        assert len(recmap.grain.Batches(documents, order, BATCH, FEATURES)) == 0
    assert caught[0].filename == __file__


def test_torch_samplers_take_no_rows(order):
    """Numbers of rows would be taken for numbers of records."""
    pytest.importorskip("torch")
    message = r"gives rows, not records: .* recmap\.torch\.Loader"
    with pytest.raises(ValueError, match=message):
        recmap.torch.Sampler(order, BATCH)
    with pytest.raises(TypeError, match=r"an order must be a recmap\.Shuffled"):
        recmap.torch.Sampler([3, 1, 2], BATCH)
    sampler = recmap.torch.Sampler(recmap.Shuffled(len(COUNTS)), BATCH)
    with pytest.raises(ValueError, match=message):
        sampler.load_state_dict(sampler.state_dict(), order=order, changed=True)


def test_torch_offsets_of_sequences(documents):
    """They equal those of a batch of columns, for rows and for parts of them."""
    torch = pytest.importorskip("torch")
    order = ORDERS["chunked"]
    given = {"order": order, "features": {"tokens": recmap.Sliced((), "int64")}}
    columns = next(iter(recmap.Loader(documents, BATCH, **given)))
    batch = next(iter(recmap.torch.Loader(documents, BATCH, **given)))
    assert len(np.unique(columns["segment_ids"])) > 2
    for width in (None, 15, 7, 0):
        expected, longest = columns.sequences(width)
        offsets, found = recmap.torch.sequences(batch, width)
        assert offsets.dtype == torch.int32 and offsets.tolist() == expected.tolist()
        assert type(found) is int and found == longest
    for wrong in (columns, {"tokens": batch["tokens"]}):
        with pytest.raises(TypeError, match="takes a batch of rows of tensors"):
            recmap.torch.sequences(wrong)


@pytest.mark.parametrize(
    ("order", "workers"), [*((name, 0) for name in ORDERS), ("packed", 2)], indirect=["order"]
)
def test_grain_ranks_and_resume(documents, order, workers):
    """Each rank's part of two epochs, read in one run, and in two with a state between them."""
    grain = pytest.importorskip("grain")
    absl_flags = pytest.importorskip("absl.flags")
    absl_flags.FLAGS.mark_as_parsed()
    batches = recmap.grain.Batches(documents, order, BATCH, FEATURES, drop_remainder=True)
    due = [batches[i] for i in range(2 * len(batches))]
    assert_equal(due[0], expected(documents, order)[0])
    ranks = range(3) if not workers else [1]
    for rank in ranks:
        mine = batches.repeat(2)[rank::3].to_iter_dataset()
        if workers:
            mine = mine.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers))
        iterator = iter(mine)
        for i in range(2):
            assert_equal(next(iterator), due[rank + 3 * i])
        again = iter(mine)
        again.set_state(json.loads(json.dumps(iterator.get_state())))
        rest = list(again)
        assert len(rest) == len(range(rank, len(due), 3)) - 2
        for i, batch in enumerate(rest, 2):
            assert_equal(batch, due[rank + 3 * i])


def test_torch_resumes_on_other_ranks(documents, order):
    """Three ranks, then two, deliver the rows that one rank would."""
    torch = pytest.importorskip("torch")

    def loaders(ranks):
        return [
            recmap.torch.Loader(
                documents, BATCH, order=order, features=FEATURES, rank=rank, world_size=ranks
            )
            for rank in range(ranks)
        ]

    rows, before, after = [], loaders(3), loaders(2)
    for _, *batches in zip(range(2), *before, strict=False):
        rows += [row for batch in batches for row in batch["tokens"]]
    for loader in after:
        loader.load_state_dict(json.loads(json.dumps(before[0].state_dict())))
    for batches in zip(*after, strict=True):
        rows += [row for batch in batches for row in batch["tokens"]]
    due = np.concatenate([batch["tokens"] for batch in expected(documents, order)])
    assert (torch.stack(rows).numpy() == due).all()


def test_tensorflow_resumes_rows(documents, order):
    pytest.importorskip("tensorflow")
    loader = recmap.Loader(documents, BATCH, order=order, features=FEATURES)
    due = expected(documents, order)
    for _ in zip(range(2), loader, strict=False):
        state = loader.state_dict()
    again = recmap.Loader(documents, BATCH, order=order, features=FEATURES)
    again.load_state_dict(state)
    found = list(recmap.tensorflow.dataset(again))
    assert len(found) == len(due) - 2
    for batch, arrays in zip(found, due[2:], strict=True):
        assert_equal({name: tensor.numpy() for name, tensor in batch.items()}, arrays)
