"""Hugging Face datasets: rows, shards and states."""

import json

import numpy as np
import pytest
import recmap

datasets = pytest.importorskip("datasets")
pytest.importorskip("pyarrow")

FEATURES = {
    "label": recmap.FixedLen((), "int64"),
    "id": recmap.FixedLen((), bytes),
    "image": recmap.FixedLen((8, 8), "uint8", raw=True),
    "labels": recmap.VarLen("int64", key="label"),
}


def test_rows_are_records(made, payloads):
    rows = recmap.huggingface.dataset(made)
    assert isinstance(rows, datasets.IterableDataset)
    assert [row["bytes"] for row in rows] == payloads


def test_rows_of_columns_in_an_order(digits):
    order = recmap.Shuffled(len(digits), seed=7)
    rows = recmap.huggingface.dataset(digits, FEATURES, order=order, epoch=3, numbers=True)
    numbers = order.at(3, range(len(digits)))
    expected = digits.parse(numbers, FEATURES)
    got = list(rows)
    assert [row["number"] for row in got] == numbers.tolist()
    assert [row["label"] for row in got] == expected["label"].tolist()
    assert [row["id"] for row in got] == expected["id"].tolist()
    assert [row["labels"] for row in got] == [[label] for label in expected["label"].tolist()]
    assert np.array_equal(np.array([row["image"] for row in got]), expected["image"])


@pytest.mark.parametrize("step", [0, 1, 700, 1796])
def test_resumes_inside_an_epoch(digits, step):
    def made():
        order = recmap.Shuffled(len(digits), seed=7)
        return recmap.huggingface.dataset(digits, {"id": FEATURES["id"]}, order=order, shards=10)

    rows, states = made(), {}
    whole = []
    for at, row in enumerate(rows):
        whole.append(row["id"])
        if at == step:
            states = json.loads(json.dumps(rows.state_dict()))
    again = made()
    again.load_state_dict(states)
    assert [row["id"] for row in again] == whole[step + 1 :]


def test_nodes_share_the_records(made, payloads):
    from datasets.distributed import split_dataset_by_node

    rows = recmap.huggingface.dataset(made, order=recmap.Shuffled(len(made), seed=1), shards=12)
    parts = [split_dataset_by_node(rows, rank, world_size=3) for rank in range(3)]
    got = [[row["bytes"] for row in part] for part in parts]
    assert sorted(sum(got, [])) == sorted(payloads) and min(map(len, got)) > 1000


def test_data_loader_workers_share_the_records(made, payloads):
    data = pytest.importorskip("torch.utils.data")
    rows = recmap.huggingface.dataset(made, shards=5)
    loader = data.DataLoader(rows, batch_size=None, num_workers=2)
    assert sorted(row["bytes"] for row in loader) == sorted(payloads)


def test_small_data_sets_and_wrong_arguments(made):
    assert recmap.huggingface.dataset(made[:3]).num_shards == 3
    assert list(recmap.huggingface.dataset(made[:0])) == []
    with pytest.raises(ValueError, match="3211"):
        recmap.huggingface.dataset(made, order=recmap.Shuffled(3211))
    with pytest.raises(TypeError):
        recmap.huggingface.dataset(made, {"x": 3})
    with pytest.raises(ValueError, match='"number", but that is the name of a feature too'):
        recmap.huggingface.dataset(made, {"number": recmap.FixedLen((), "int64")}, numbers=True)


def test_table_converts_to_an_in_memory_dataset(digits):
    """What the documents say of data that fits."""
    table = recmap.arrow.table(digits.parse(range(100), FEATURES), tensor=recmap.arrow.lists)
    rows = datasets.Dataset(table)
    assert rows[5]["label"] == digits.columns["label"][5] and len(rows) == 100


def test_a_path_is_not_a_data_set():
    message = r"dataset must be a recmap\.Dataset, not 'x'; see recmap\.open"
    with pytest.raises(TypeError, match=message):
        recmap.huggingface.dataset("x")
