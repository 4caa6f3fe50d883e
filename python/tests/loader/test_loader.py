"""The loader: batches, epochs, states, ranks, errors."""

import json
import math
import pickle

import numpy as np
import pytest
import recmap
from conftest import flip, write
from loader_helpers import flat, numbers_of


@pytest.fixture
def small(made):
    return made[:103]


def test_batches_follow_the_shuffled_order(small):
    loader = recmap.Loader(small, 10, shuffle=True, seed=7)
    order = recmap.Shuffled(len(small), seed=7)
    for epoch in range(3):
        batches = numbers_of(loader)
        assert [len(batch) for batch in batches] == [10] * 10 + [3]
        assert flat(batches) == order.at(epoch, range(103)).tolist()
    assert (loader.epoch, loader.position) == (3, 0)


def test_records_equal_those_of_the_data_set(made, payloads):
    for batch in recmap.Loader(made, 64, shuffle=True):
        for record, number in zip(batch, batch.numbers, strict=True):
            assert bytes(record) == payloads[number]


@pytest.mark.parametrize("access", ["map", "read", "direct", "auto"])
def test_access_modes_give_equal_batches(tmp_path, payloads, access):
    paths = write(tmp_path, payloads, shards=5)
    ds = recmap.open(paths, access=access)
    kept = list(recmap.Loader(ds, 100, shuffle=True, seed=4))
    whole = [bytes(record) for record in recmap.open(paths)]
    for batch in kept:
        assert [bytes(r) for r in batch] == [whole[n] for n in batch.numbers]


def test_one_for_iterates_over_several_epochs(small):
    assert len(flat(numbers_of(recmap.Loader(small, 10, epochs=3)))) == 309
    loader = recmap.Loader(small, 10, epochs=3)
    loader.seek(epoch=2, position=100)
    assert flat(numbers_of(loader)) == [100, 101, 102]
    assert numbers_of(loader) == []
    for forever in "forever", math.inf:
        endless = iter(recmap.Loader(small, 10, epochs=forever))
        assert len(flat(numbers_of(next(endless) for _ in range(40)))) > 309
    assert numbers_of(recmap.Loader(small, 10, epochs=0)) == []


@pytest.fixture
def sequences(tmp_path):
    """Record i has the id i and i steps of two floats."""
    steps = [[[t, t + 0.5] for t in range(i)] for i in range(20)]
    write(
        tmp_path,
        [recmap.encode_sequence_example({"id": i}, {"steps": s}) for i, s in enumerate(steps)],
    )
    return recmap.open(tmp_path / "made-0.tfrecord")


def test_batches_of_sequence_examples_are_pairs_of_columns(sequences):
    context, lists = (
        {"id": recmap.FixedLen((), "int64")},
        {"steps": recmap.FixedLenSequence(2, float)},
    )
    loader = recmap.Loader(
        sequences, 6, shuffle=True, seed=3, features=context, feature_lists=lists
    )
    ids = recmap.Shuffled(20, seed=3).at(0, range(20)).tolist()
    resumed = pickle.loads(pickle.dumps(loader))
    for iterable in loader, resumed:
        seen = []
        for batch, steps in iterable:
            expected = sequences.parse_sequence(batch.numbers, context, lists)
            assert batch["id"].tolist() == expected[0]["id"].tolist()
            assert steps["steps"].tolist() == expected[1]["steps"].tolist()
            assert steps.lengths["steps"].tolist() == batch["id"].tolist()
            assert list(batch) == ["id"] and list(steps) == ["steps"]
            seen += batch["id"].tolist()
        assert seen == ids
    alone = recmap.Loader(sequences, 6, feature_lists=lists)
    assert [list(batch) for batch, _ in alone] == [[]] * 4
    doubled = recmap.Loader(
        sequences, 20, features=context, feature_lists=lists, transform=lambda b: b[0]["id"] * 2
    )
    assert next(iter(doubled)).tolist() == [2 * i for i in range(20)]


def test_next_for_continues_after_a_break(small):
    loader = recmap.Loader(small, 10)
    for i, _ in enumerate(loader):
        if i == 3:
            break
    assert loader.position == 40 and loader.steps_left == 7 and len(loader) == 11
    assert flat(numbers_of(loader)) == list(range(40, 103))
    assert flat(numbers_of(loader)) == list(range(103))


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_break_at_the_last_step_completes_the_epoch(small, transform):
    loader = recmap.Loader(small, 10, transform=transform)
    for epoch in range(3):
        iterator = iter(loader)
        for _ in range(len(loader)):
            next(iterator)
        assert (loader.epoch, loader.position, loader.steps_left) == (epoch + 1, 0, 11)
    assert list(iterator) == [] and loader.epoch == 3
    assert flat(numbers_of(loader)) == list(range(103))
    for _ in range(len(loader)):
        next(iterator := iter(loader))
    loader.seek(1)
    assert flat(numbers_of(loader)) == list(range(103))


def test_new_iterator_ends_the_previous_one(small):
    loader = recmap.Loader(small, 10)
    first = iter(loader)
    assert next(first).numbers[0] == 0
    second = iter(loader)
    assert next(second).numbers[0] == 10
    assert list(first) == []
    assert next(second).numbers[0] == 20


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
@pytest.mark.parametrize("epochs", [None, 2])
def test_the_state_after_each_step_resumes_with_the_next(small, transform, epochs):
    def make():
        return recmap.Loader(
            small, 9, shuffle=True, seed=3, epochs=epochs, transform=transform, transform_threads=3
        )

    loader = make()
    states, batches = [loader.state_dict()], []
    for batch in loader:
        batches.append(batch.numbers.tolist())
        states.append(loader.state_dict())
    for step in range(0, len(states), 3):
        state = json.loads(json.dumps(states[step]))
        other = make()
        other.load_state_dict(state)
        assert other.state_dict() == states[step]
        if step < len(batches):
            assert numbers_of(other) == batches[step:]
    assert len(json.dumps(states[5])) < 300


def test_loading_a_state_twice_changes_nothing(small):
    loader = recmap.Loader(small, 10, shuffle=True, transform=lambda b: b)
    next(iter(loader))
    state = loader.state_dict()
    for _ in range(3):
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        next(iter(loader))
        loader.load_state_dict(loader.state_dict())


def test_ranks_share_steps_and_resume_on_other_ranks(small):
    def run(world, batch, state, steps):
        loaders = [
            recmap.Loader(small, batch, shuffle=True, rank=r, world_size=world)
            for r in range(world)
        ]
        for loader in loaders:
            if state:
                loader.load_state_dict(state)
        iterators = [iter(loader) for loader in loaders]
        taken = []
        for _ in range(steps):
            for iterator in iterators:
                taken += next(iterator).numbers.tolist()
        states = [loader.state_dict() for loader in loaders]
        assert all(other == states[0] for other in states)
        return taken, states[0]

    order = recmap.Shuffled(103).at(0, range(103)).tolist()
    first, state = run(4, 5, None, 2)
    second, state = run(3, 7, state, 2)
    third, state = run(1, 30, state, 1)
    assert first + second + third == order[: 40 + 42 + 21]
    assert state["epoch"] == 1 and state["position"] == 0


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
def test_last_decides_about_incomplete_steps(small, last):
    loaders = [recmap.Loader(small, 10, last=last, rank=r, world_size=4) for r in range(4)]
    taken = [numbers_of(loader) for loader in loaders]
    assert len({len(batches) for batches in taken}) == 1
    count = sum(len(flat(batches)) for batches in taken)
    assert count == {"keep": 103, "drop": 80, "pad": 120}[last]
    assert all(loader.epoch == 1 for loader in loaders)


def test_state_of_another_data_set_raises(small, made):
    state = recmap.Loader(small, 10, shuffle=True).state_dict()
    for other in (
        recmap.Loader(small, 10, shuffle=True, seed=1),
        recmap.Loader(small, 10),
        recmap.Loader(made, 10, shuffle=True),
    ):
        with pytest.raises(recmap.StateMismatchError) as caught:
            other.load_state_dict(state)
        assert isinstance(caught.value, ValueError)
        assert other.position == 0
    for broken in ({}, {**state, "position": state["position"] + 1}):
        with pytest.raises(ValueError):
            recmap.Loader(small, 10, shuffle=True).load_state_dict(broken)


def test_views_and_orders_compose(digits):
    labels = digits.columns["label"]
    view = digits.select(labels < 5)
    order = recmap.Grouped(view.columns["label"], 16, seed=1)
    with pytest.warns(UserWarning, match="batch_size=16 has no effect: the order makes its own"):
        loader = recmap.Loader(view, 16, order=order)
    seen = []
    for batch in loader:
        assert len(set(labels[batch.numbers])) == 1
        seen += batch.numbers.tolist()
    assert sorted(seen) == view.numbers.tolist()
    backwards = recmap.Loader(digits[::-1], 1000)
    assert next(iter(backwards)).numbers[0] == len(digits) - 1


def test_orders_make_their_own_batches(digits):
    order = recmap.Stratified(digits.columns["label"], 100)
    loader = recmap.Loader(digits, order=order)
    assert len(loader) == order.batch_count == 18
    assert [len(batch) for batch in loader] == [100] * 17 + [97]


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"batch_size": 0},
        {"batch_size": 5, "rank": 1},
        {"batch_size": 5, "rank": -1},
        {"batch_size": 5, "last": "none"},
        {"batch_size": 5, "on_bad_record": "ignore"},
        {"batch_size": 5, "epochs": 1.5},
        {"batch_size": 5, "epochs": -1},
        {"batch_size": 5, "epochs": math.nan},
        {"batch_size": 5, "order": recmap.Sequential(10**6)},
        {"batch_size": 5, "order": recmap.Sequential(10), "shuffle": True},
    ],
)
def test_wrong_arguments_are_refused(small, wish):
    with pytest.raises(ValueError):
        recmap.Loader(small, **wish)


LOADERS = "recmap.Loader", "recmap.JoinedLoader", "recmap.torch.Loader", "recmap.torch.JoinedLoader"


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"order": recmap.Sequential(1797)}])
@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("seed", ["1", 1.0, None, True, np.array([1, 2])])
def test_a_seed_that_is_not_an_integer_is_refused(digits, name, seed, options):
    module, _, kind = name.rpartition(".")
    loader = getattr(pytest.importorskip(module), kind)
    dataset = recmap.join({"a": digits, "b": digits}) if kind == "JoinedLoader" else digits
    with pytest.raises(TypeError, match="seed must be an integer, not "):
        loader(dataset, 100, seed=seed, **options)


def test_a_seed_may_be_an_integer_of_numpy(digits):
    with pytest.warns(match="seed=3 has no effect on the order"):
        loader = recmap.Loader(digits, 100, seed=np.int64(3))
    assert loader.state_dict()["draws"] == {"seed": 3}


def test_seek_moves_to_a_position_that_exists(small):
    loader = recmap.Loader(small, 10, shuffle=True)
    loader.seek(epoch=5, position=50)
    assert flat(numbers_of(loader)) == recmap.Shuffled(103).at(5, range(50, 103)).tolist()
    loader.seek(epoch=1, position=103)
    assert numbers_of(loader) == []
    for wrong in ({"position": 104}, {"position": -1}, {"epoch": -1}):
        with pytest.raises(ValueError):
            loader.seek(**wrong)


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_bad_records_are_errors_or_left_out_or_replaced(tmp_path, transform):
    payloads = [f"record {i:04}".encode() for i in range(100)]
    (path,) = write(tmp_path, payloads)
    ds = recmap.open(path)
    flip(path, 27 * 50 + 15)
    loader = recmap.Loader(ds, 10, transform=transform)
    seen = []
    for _ in range(2):
        with pytest.raises(recmap.CorruptRecordError) as caught:
            for batch in loader:
                seen += batch.numbers.tolist()
        assert caught.value.record == 50 and seen == list(range(50)) and loader.position == 50
    skipping = recmap.Loader(ds, 10, on_bad_record="skip", transform=transform)
    assert flat(numbers_of(skipping)) == [i for i in range(100) if i != 50]
    assert [row["number"] for row in skipping.skipped] == [50]
    other = recmap.Loader(ds, 10, on_bad_record="substitute", transform=transform)
    assert flat(numbers_of(other)) == [51 if i == 50 else i for i in range(100)]
    assert other.statistics["skipped"] == 1


def test_statistics_count_what_was_delivered(small):
    loader = recmap.Loader(small, 10)
    list(loader)
    found = loader.statistics
    assert found["batches"] == 11 and found["records"] == 103
    assert found["bytes"] == sum(len(record) for record in small)


def test_an_empty_data_set_has_no_batches(tmp_path):
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    ds = recmap.open(tmp_path / "empty.tfrecord")
    assert list(recmap.Loader(ds, 10)) == []
    with pytest.raises(ValueError):
        list(recmap.Loader(ds, 10, epochs="forever"))


@pytest.mark.filterwarnings("ignore:there are no steps")
def test_endless_epochs_without_a_full_step_are_an_error(small):
    with pytest.raises(ValueError, match="no steps"):
        next(iter(recmap.Loader(small, 200, last="drop", epochs="forever")))
    assert list(recmap.Loader(small, 200, last="drop", epochs=3)) == []


def test_orders_of_another_length_raise(digits):
    few = digits[:7]
    for order in recmap.Shuffled(3), recmap.Mixture([recmap.Sequential(3)] * 2, [1, 1]):
        with pytest.raises(ValueError, match=r"covers [36] records, but the data set has 7.*ds\[:"):
            recmap.Loader(few, 2, order=order)
    with pytest.raises(ValueError, match="covers 8 records, but the data set has 7"):
        recmap.Loader(few, 2, order=recmap.Shuffled(8))
    for order in recmap.Shuffled(3).select(range(3)), recmap.Shuffled(3).select([6, 0, 2]):
        assert len(recmap.Loader(few, 2, order=order)) == 2
    part = recmap.Sequential(2).select([5, 6])
    mixture = recmap.Mixture([part, recmap.Sequential(2).select([0, 1])], [1, 1])
    assert len(recmap.Loader(few[:9], 2, order=recmap.WithReplacement(7, size=3))) == 2
    assert "<recmap.Order of" in repr(part) and "_View" not in repr(mixture)


def test_arguments_that_are_not_data_sets_raise():
    with pytest.raises(TypeError, match=r"dataset must be a recmap.Dataset, not 'x'"):
        recmap.Loader("x", 4)


def test_indexing_a_loader_says_what_to_write(digits):
    loader = recmap.Loader(digits, 100)
    with pytest.raises(TypeError, match=r"DataLoader\(recmap.torch.IterableDataset\(loader\)"):
        loader[0]


def test_the_error_of_another_order_shows_where_they_differ(digits):
    def loader_of(seed):
        parts = [recmap.Shuffled(200, seed=i) for i in range(8)] + [recmap.Shuffled(197, seed=seed)]
        return recmap.Loader(digits, 32, order=recmap.Mixture(parts, weights=[1] * 9))

    with pytest.raises(recmap.StateMismatchError, match=r"\.\.\..*77.*loader \.\.\..*99"):
        loader_of(99).load_state_dict(loader_of(77).state_dict())


def test_a_state_inside_another_dict_is_refused(small):
    loader = recmap.Loader(small, 30)
    next(iter(loader))
    state = loader.state_dict()
    with pytest.raises(recmap.CorruptStateError, match="its keys are 'model', 'loader'") as caught:
        loader.load_state_dict({"model": {}, "loader": state})
    assert "not the one it was saved in" in caught.value.advice
    loader.load_state_dict({**state, "position": np.int64(state["position"])})
    assert loader.position == 30


def test_a_world_of_no_ranks_is_refused(small):
    with pytest.raises(ValueError, match="world_size must be at least 1, not 0"):
        recmap.Loader(small, 30, rank=0, world_size=0)
