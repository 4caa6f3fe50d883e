"""Windows of steps: which nested data set, which features, and steps that do not fit."""

import numpy as np
import pytest
import recmap
from prepared_set import group, prepare, sequence, steps, tensor

X, Y = tensor("float32", (2,)), tensor("float32")


def episode(i, **more):
    x = np.arange(12, dtype=np.float32) + 100 * i
    return {"steps/x": x, "other/y": x[:4], "name": f"n{i}", "rag": np.arange(i), **more}


def opened(folder, features, records):
    shard = [recmap.encode_example(record) for record in records]
    return recmap.tfds.open(prepare(folder, features, {"train": [shard]}))


def batch_of(ds, size, **options):
    order, features = recmap.tfds.windows(ds, size, **options)
    return len(order), next(iter(recmap.Loader(ds, len(order), order=order, features=features)))


FEATURES = {"name": tensor("string"), "rag": sequence(tensor("int64"))}


@pytest.mark.parametrize("first", ["steps", "other"])
def test_two_nested_data_sets(tmp_path, first):
    nested = {"steps": steps(x=X), "other": steps(y=Y)}
    members = {first: nested[first], **nested, **FEATURES}
    ds = opened(tmp_path, group(**members), [episode(i) for i in range(3)])
    count, batch = batch_of(ds, 2)
    assert count == 3 * 5 and set(batch) == {"steps/x", "name", "rag"}
    assert batch["steps/x"].shape == (15, 2, 2)
    count, batch = batch_of(ds, 2, steps="other")
    assert count == 3 * 3 and set(batch) == {"other/y", "name", "rag"}
    found = sorted(row[0] for row in batch["other/y"].tolist())
    assert found == [100 * i + y for i in range(3) for y in range(3)]
    with pytest.raises(ValueError, match=r"set 'step', only .* Did you mean 'steps'"):
        recmap.tfds.windows(ds, 2, steps="step")


def test_a_choice_is_needed_without_steps(tmp_path):
    features = group(first=steps(x=X), second=steps(y=Y, free=sequence(Y)))
    records = [{"first/x": [1.0] * 4, "second/y": [1.0] * 3}]
    ds = opened(tmp_path, features, records)
    with pytest.raises(ValueError, match=r"such as steps='first': there are 'first', 'second'"):
        recmap.tfds.windows(ds, 2)
    assert [batch_of(ds, 2, steps=name)[0] for name in ("first", "second")] == [1, 2]


def test_steps_that_cannot_be_counted(tmp_path):
    ds = opened(tmp_path, group(steps=steps(free=sequence(Y)), a=Y), [{"a": 1.0}])
    with pytest.raises(ValueError, match=r"steps of 'steps' cannot be counted"):
        recmap.tfds.windows(ds, 2)
    plain = opened(tmp_path / "plain", group(a=Y), [{"a": 1.0}])
    with pytest.raises(ValueError, match=r"windows needs records with steps"):
        recmap.tfds.windows(plain, 2)


def test_features_of_the_episode_are_in_each_row(tmp_path):
    features = group(
        steps=steps(x=X, wide=tensor("float32", (2, -1))),
        nested=sequence(sequence(tensor("int64"))),
        table=tensor("int64", (2, -1)),
        **FEATURES,
    )
    more = {
        "nested/ragged_flat_values": [7, 8, 9],
        "nested/ragged_row_lengths_0": [1, 2],
        "table": [1, 2, 3, 4],
        "steps/wide": [0.0] * 12,
    }
    ds = opened(tmp_path, features, [episode(i, **more) for i in range(3)])
    _, batch = batch_of(ds, 3, pad=(1, 0))
    nested = recmap.tfds.nest(batch)
    assert set(nested) == {"steps", "nested", "table", "name", "rag"}
    assert nested["nested"].tolist() == [[[7], [8, 9]]] * 15
    assert [table.tolist() for table in nested["table"]] == [[[1, 2], [3, 4]]] * 15
    names = [f"n{len(rag)}".encode() for rag in nested["rag"]]
    assert nested["name"].tolist() == names and set(names) == {b"n0", b"n1", b"n2"}
    assert set(nested["steps"]) == {"x"}


def test_lists_of_one_episode_that_differ_in_length(tmp_path):
    ds = opened(tmp_path, group(steps=steps(x=X, y=Y)), [{"steps/x": [0.0] * 8, "steps/y": [1.0]}])
    with pytest.raises(recmap.FeatureError, match=r"'steps/x' has 4 elements, but .* say 1") as e:
        batch_of(ds, 1)
    assert "lists of one record" in e.value.advice and "ds.doctor()" in e.value.advice
