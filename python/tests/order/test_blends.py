"""Mixtures whose weights change, and runs that continue with them."""

import json
import pickle
import signal
import warnings

import numpy as np
import pytest
import recmap
from recmap import _recmap


def sources(counts=(400, 300)):
    return [recmap.Shuffled(n, seed=i) for i, n in enumerate(counts)]


def run_of(order, end):
    """The records of the first `end` positions of the run."""
    epochs = [order.at(e, range(len(order))) for e in range(-(-end // len(order)))]
    return np.concatenate(epochs)[:end]


def test_weights_change_at_positions_of_the_run():
    order = recmap.Mixture(sources(), {0: [3, 1], 100: [1, 4]})
    first = order.at(0, range(len(order))) < 400
    assert first[:100].sum() == 75 and first[100:200].sum() == 20
    plain = recmap.Mixture(sources(), [3, 1])
    assert (order.at(0, range(100)) == plain.at(0, range(100))).all()
    again = pickle.loads(pickle.dumps(order))
    assert again == order and again != plain
    changes = json.loads(order.describe())["changes"]
    assert changes == [{"position": 100, "shares": [1, 4]}]
    assert recmap.Mixture(sources(), {0: [3, 1]}) == plain


def test_only_orders_are_mixed():
    positions, weights = np.zeros(1, "uint64"), np.ones(2)
    for wrong in 1, None, recmap.Shuffled(3):
        with pytest.raises(TypeError, match="source 1 of the mixture is not an order"):
            _recmap.Order.mixture(
                [_recmap.Order.sequential(3), wrong], positions, weights, False, 0
            )


def test_epochs_of_a_given_length():
    order = recmap.Mixture(sources(), [1, 1], stop=250)
    assert len(order) == 250
    longer = recmap.Mixture(sources(), [1, 1])
    assert (run_of(order, 600) == run_of(longer, 600)).all()


def test_a_source_is_left_out():
    order = recmap.Mixture(sources(), {0: [1, 0], 50: [0, 1], 60: [1, 1]})
    assert (order.at(0, range(50)) < 400).all() and (order.at(0, range(50, 60)) >= 400).all()


@pytest.mark.parametrize("stop", ["first", "last", 250])
@pytest.mark.parametrize("weights", [[0, 1], {0: [0, 1]}, {0: [0, 1], 5: [0, 3]}])
def test_a_source_is_never_used(weights, stop):
    order = recmap.Mixture(sources(), weights, stop)
    assert len(order) == (300 if isinstance(stop, str) else stop)
    numbers = order.at(0, range(len(order)))
    assert (numbers == sources()[1].at(0, range(len(order))) + 400).all()
    with pytest.raises(KeyError):
        order.position_of(0, 3)


@pytest.mark.parametrize("place", [(0, 1), (0, 7), (0, 600), (3, 599)])
def test_continued_keeps_what_was_and_adds_sources(place):
    order = recmap.Mixture(sources(), {0: [1, 1], 7: [1, 2], 100_000: [5, 1]}, stop=600)
    later = order.continued(*place, [0, 1, 1], add=[recmap.Sequential(1000)])
    start = place[0] * 600 + place[1]
    assert len(later) == 600
    old, new = run_of(order, start + 600), run_of(later, start + 600)
    assert (old[:start] == new[:start]).all()
    rest = new[start:]
    assert (rest >= 700).sum() == 300 and (rest < 400).sum() == 0
    assert (rest[rest >= 700] == 700 + np.arange(300)).all()  # the new source begins
    of_second = old[(old >= 400) & (old < 700)], new[(new >= 400) & (new < 700)]
    count = min(map(len, of_second))
    assert (of_second[0][:count] == of_second[1][:count]).all()  # the old one continues
    further = later.continued(5, 0, {3000: [1, 1, 1], 4000: [1, 0, 0]})
    assert (run_of(further, 3000) == run_of(later, 3000)).all()
    assert (run_of(further, 4600)[4000:] < 400).all()


def test_continued_from_the_start():
    """The weights that were hold up to the first change, also if nothing was read yet."""
    order = recmap.Mixture(sources(), {0: [1, 0]}, stop=600)
    later = order.continued(0, 0, {5: [0, 1]})
    assert (run_of(later, 5) == run_of(order, 5)).all()
    assert (run_of(later, 600)[5:] >= 400).all()
    assert (run_of(order.continued(0, 0, [0, 1]), 600) >= 400).all()


def test_continued_with_another_kind_of_rows(tmp_path):
    """The batches have the arrays of the new order's rows."""
    with recmap.Writer(tmp_path / "tokens.tfrecord") as writer:
        for i in range(40):
            writer.write({"t": np.arange(1 + i % 7)})
    ds = recmap.open(tmp_path / "tokens.tfrecord", count=["t"])
    counts = np.asarray(ds.counts["t"])
    windows, packed = recmap.Windows(counts, 4), recmap.Packed(counts, 4)
    features = {"t": recmap.Sliced((), "int64")}
    for old, new in (windows, packed), (packed, windows):
        loader = recmap.Loader(ds, 2, order=old, features=features)
        loader.load_state_dict(loader.state_dict(), order=new, changed=True)
        expected = next(iter(recmap.Loader(ds, 2, order=new, features=features)))
        assert next(iter(loader)).layout_names == expected.layout_names


def test_a_copy_of_a_loader_with_another_order(halves):
    ds, order = halves
    loader = recmap.Loader(ds, 10, shuffle=True, seed=7)
    loader.load_state_dict(loader.state_dict(), order=order, changed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(loader)).order == order


def test_a_long_search_for_a_position_can_be_interrupted():
    """A source that never occurs in an inner mixture is looked for in each of its epochs."""
    inner = recmap.Mixture([recmap.Sequential(3), recmap.Sequential(3)], [1, 0])
    order = recmap.Mixture([inner, recmap.Sequential(10)], [1, 1], stop=10**11)  # hours

    def ring(*_):
        raise TimeoutError

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            order.position_of(0, 4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def test_continued_row_orders():
    counts = np.arange(1, 300) % 70
    order = recmap.Mixture([recmap.Chunked(counts, 64, seed=s) for s in (1, 2)], [1, 1])
    later = order.continued(0, 40, [1, 1, 2], add=[recmap.Chunked(counts, 64, seed=3)])
    for position in range(40):
        assert (order.pieces(0, position) == later.pieces(0, position)).all()
    records = [later.pieces(0, position)[0, 0] for position in range(40, 80)]
    assert sum(record >= 2 * len(counts) for record in records) == 20


def test_impossible_weights_are_refused():
    order = recmap.Mixture(sources(), [1, 1])
    for make, message in (
        (lambda: recmap.Mixture(sources(), {5: [1, 1]}), "must be at position 0"),
        (lambda: recmap.Mixture(sources(), {}), "must be at position 0"),
        (lambda: recmap.Mixture(sources(), {0: [1, 1], -5: [1, 1]}), "from 0 on, not -5"),
        (lambda: recmap.Mixture(sources(), {0: [1, 1], 0.5: [1, 1]}), "from 0 on, not 0.5"),
        (lambda: recmap.Mixture(sources(), {0: [1, 1], 5: [1]}), "1 weight for 2 orders"),
        (lambda: recmap.Mixture(sources(), {0: [1, 1], 5: [0, 0]}), "all weights are 0"),
        (lambda: recmap.Mixture(sources(), [0, 0]), "all weights are 0"),
        (
            lambda: recmap.Mixture(sources(), {0: [1, 1], 2: [0, 1]}, "last"),
            "source 0 of .* weight 0 from position 2 on",
        ),
        (lambda: recmap.Mixture(sources(), [1, 1], stop=0), "stop must be"),
        (lambda: order.continued(0, len(order) + 1, [1, 1]), "does not exist"),
        (lambda: order.continued(-1, 0, [1, 1]), "does not exist"),
        (lambda: order.continued(1, 0, {5: [1, 1]}), "position 5 of the run: it is before"),
        (lambda: order.continued(0, 5, [1, 1, 1]), "3 weights for 2 orders|2 weights for 3"),
        (lambda: order.continued(0, 5, [1, 1], add=sources()), "weights for 4 orders"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


# ---- Loaders.


@pytest.fixture
def halves(made):
    """A mixture of the halves of a data set of 600 records."""
    assert len(made) >= 600
    return made[:600], recmap.Mixture([recmap.Shuffled(400, 1), recmap.Shuffled(200, 2)], [1, 1])


def numbers(loader, count):
    taken = []
    for batch in loader:
        taken += batch.numbers.tolist()
        if len(taken) >= count:
            break
    return taken


@pytest.mark.parametrize("given", ["the loader's", "another"])
@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_a_state_is_loaded_into_the_continued_order(halves, given, transform):
    ds, order = halves
    loader = recmap.Loader(ds, 10, order=order, transform=transform)
    before = numbers(loader, 50)
    state = loader.state_dict()
    later = order.continued(state["epoch"], state["position"], [1, 9])
    with pytest.raises(recmap.StateMismatchError, match="other changes: the state") as raised:
        recmap.Loader(ds, 10, order=later).load_state_dict(state)
    assert raised.value.advice.endswith("weights or sources of a mixture, see `Mixture.continued`")
    other = recmap.Loader(
        ds, 20, order=later if given == "the loader's" else order, transform=transform
    )
    if given == "another":
        numbers(other, 20)  # its `for` is not over
    other.load_state_dict(state, order=later)
    assert (other.epoch, other.position, other.order) == (0, 50, later)
    after = numbers(other, 100)
    assert before + after == later.at(0, range(150)).tolist()
    again = pickle.loads(pickle.dumps(other)) if transform is None else other
    assert again.order == later and again.position == 150
    again.load_state_dict(again.state_dict())


def test_other_orders_only_as_changed(halves):
    ds, order = halves
    loader = recmap.Loader(ds, 10, order=order)
    numbers(loader, 50)
    state = loader.state_dict()
    shuffled = recmap.Shuffled(len(ds), seed=4)
    early = order.continued(0, 49, [1, 9])
    for wrong in shuffled, early:
        loader = recmap.Loader(ds, 10, order=order)
        with pytest.raises(recmap.StateMismatchError):
            loader.load_state_dict(state, order=wrong)
        assert (loader.order, loader.position) == (order, 0)
        loader.load_state_dict(state, order=wrong, changed=True)
        assert (loader.order, loader.position) == (wrong, 50)
        assert numbers(loader, 10) == wrong.at(0, range(50, 60)).tolist()
    recmap.Loader(ds[:599], 10).load_state_dict(state, changed=True)
    with pytest.raises(ValueError, match="position 50 is out of range"):
        recmap.Loader(ds[:49], 10).load_state_dict(state, changed=True)
    with pytest.raises(recmap.CorruptStateError, match="checksum"):
        loader.load_state_dict({**state, "position": 51}, changed=True)


def test_torch_states_continue_a_blend(halves):
    torch = pytest.importorskip("recmap.torch")
    ds, order = halves
    later = order.continued(0, 50, [1, 9])
    expected = later.at(0, range(50, 70)).tolist()

    sampler = torch.Sampler(order, 10)
    for _ in zip(range(5), sampler, strict=False):
        pass
    state = sampler.state_after(5)
    for rest in torch.Sampler(order, 10), torch.Sampler(later, 10):
        if rest.order is later:
            with pytest.raises(recmap.StateMismatchError, match=r"see `Mixture\.continued`"):
                rest.load_state_dict(state)
        with pytest.raises(recmap.StateMismatchError) as raised:
            rest.load_state_dict(state, order=recmap.Shuffled(len(ds)))
        assert "Mixture" not in raised.value.advice
        rest.load_state_dict(state, order=later)
        steps = iter(rest)
        assert next(steps) + next(steps) == expected
    rest.load_state_dict(state, order=recmap.Sequential(60), changed=True)
    assert next(iter(rest)) == list(range(50, 60))

    def loader():
        return recmap.Loader(ds, 10, order=order, transform=lambda batch: {"n": batch.numbers})

    first = loader()
    for _ in zip(range(5), torch.IterableDataset(first), strict=False):
        pass
    rest = torch.IterableDataset(loader())
    rest.load_state_dict(first.state_dict(), order=later)
    steps = iter(rest)
    assert next(steps)["n"].tolist() + next(steps)["n"].tolist() == expected
    assert rest.order == later
