"""The words with which a state of another run is refused."""

import pytest
import recmap


def write(folder, name, first, count):
    with recmap.Writer(folder / f"{name}.tfrecord") as writer:
        for n in range(first, first + count):
            writer.write({"n": n})


@pytest.fixture
def grown(tmp_path):
    """The state of a shuffle of 100 records, and the data set after a shard was added."""
    write(tmp_path, "a", 0, 100)
    ds = recmap.open(tmp_path)
    state = recmap.Loader(ds, 10, shuffle=True, seed=7).state_dict()
    write(tmp_path, "b", 100, 100)
    return state, recmap.open(tmp_path)


def refused(ds, state, **options):
    loader = recmap.Loader(ds, 10, **options)
    with pytest.raises(recmap.StateMismatchError) as raised:
        loader.load_state_dict(state)
    assert loader.position == 0
    return raised.value


def refusal(ds, state, **options):
    return refused(ds, state, **options).message


def test_a_data_set_that_has_grown_is_named(grown):
    state, ds = grown
    growth = "the data set has grown from 100 to 200 records; the first 100 are those of the state"
    assert refusal(ds, state, shuffle=True, seed=7) == growth
    seeds = "another seed: the state has 7, the loader 8"
    assert refusal(ds, state, shuffle=True, seed=8) == f"{growth}; {seeds}"


def test_other_first_records_are_another_data_set(grown, tmp_path):
    state, _ = grown
    write(tmp_path, "a", 1, 100)
    ds = recmap.open(tmp_path, rebuild=True)
    message = refusal(ds, state, shuffle=True, seed=7)
    assert message.startswith("another data set: the state has 100 records and the finger")
    assert f"the loader 200 and {ds.fingerprint}" in message


def test_views_are_named(digits):
    whole = recmap.Loader(digits, 10, shuffle=True, seed=7).state_dict()
    some = recmap.Loader(digits[:100], 10, shuffle=True, seed=7).state_dict()
    shuffle = {"shuffle": True, "seed": 7}
    expected = "the state is of a view of this data set, the loader reads all of it"
    assert refusal(digits, some, **shuffle) == expected
    expected = "the state is of all of this data set, the loader reads a view of it"
    assert refusal(digits[:100], whole, **shuffle) == expected
    expected = "the state is of another view of this data set"
    for view in digits[:99], digits[100:200], digits.where("label == 3"):
        assert refusal(view, some, **shuffle) == expected


def test_other_orders_are_named(digits):
    state = recmap.Loader(digits, 10, shuffle=True, seed=7).state_dict()
    seeds = "another seed: the state has 7, the loader 8"
    assert refusal(digits, state, shuffle=True, seed=8) == seeds
    advice = "create the loader, or its order, with seed=7"
    assert refused(digits, state, shuffle=True, seed=8).advice == advice
    assert refused(digits[:9], state, shuffle=True, seed=8).advice != advice
    kinds = 'another kind of order: the state has "shuffled", the loader "sequential"'
    assert refusal(digits, state) == kinds
