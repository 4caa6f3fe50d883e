"""Which step a batch is, what a step reads, and whether the next batch is ready."""

import itertools
import pickle
import threading

import numpy as np
import pytest
import recmap

LABEL = {"label": recmap.FixedLen((), "int64")}

KINDS = {
    "records": {},
    "columns": {"features": LABEL},
    "transform": {"transform": lambda batch: batch},
    "ranks": {"rank": 1, "world_size": 3},
    "drop": {"rank": 2, "world_size": 3, "last": "drop"},
    "pad": {"rank": 2, "world_size": 3, "last": "pad"},
}


def records_of(batch):
    return batch if isinstance(batch, recmap.RecordBatch) else batch.records


def check_steps(loader, batches, first=0):
    """Each batch is the next step, and has the numbers that the loader tells."""
    count = 0
    for step, batch in enumerate(batches, first):
        assert batch.step == step
        assert loader.numbers_at(step).tolist() == records_of(batch).numbers.tolist()
        count += 1
    return first + count


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_counted_over_the_epochs(digits, kind):
    loader = recmap.Loader(digits, 100, shuffle=True, seed=7, **KINDS[kind])
    step = check_steps(loader, loader)
    step = check_steps(loader, itertools.islice(iter(loader), 3), step)
    loader.close()  # batches that were read ahead are read again
    step = check_steps(loader, loader, step)
    assert step == 2 * len(loader)


def test_steps_of_one_for_over_several_epochs(digits):
    loader = recmap.Loader(digits, 500, shuffle=True, seed=7, epochs=3)
    assert check_steps(loader, loader) == 12


def test_a_state_holds_no_step(digits):
    loader = recmap.Loader(digits, 100, shuffle=True, seed=7)
    check_steps(loader, itertools.islice(iter(loader), 5))
    resumed = recmap.Loader(digits, 50, shuffle=True, seed=7)
    resumed.load_state_dict(loader.state_dict())
    assert resumed.numbers_at(0).tolist() == loader.numbers_at(5).tolist()[:50]
    assert check_steps(resumed, resumed) == 26
    resumed.seek(4, 900)
    check_steps(resumed, itertools.chain(resumed, resumed))
    assert next(iter(pickle.loads(pickle.dumps(resumed)))).step == 0


def test_restarted_loaders_count_from_0(digits):
    loader = recmap.Loader(digits, 100, restart=True)
    for _ in range(2):
        check_steps(loader, itertools.islice(iter(loader), 3))


def test_numbers_are_those_of_the_whole_data_set(digits):
    for view in (digits[100:900:3], digits.where("label == 3")):
        loader = recmap.Loader(view, 20, shuffle=True, seed=1)
        check_steps(loader, loader)


def test_mixtures_and_orders_with_their_own_batches(digits):
    both = recmap.concat([digits, digits])
    mixture = recmap.Mixture([recmap.Shuffled(1797, 1), recmap.Shuffled(1797, 2)], [3, 1])
    check_steps(*[recmap.Loader(both, 100, order=mixture)] * 2)
    grouped = recmap.Grouped(digits.columns["label"], 64, seed=3)
    loader = recmap.Loader(digits, order=grouped, rank=1, world_size=2)
    check_steps(loader, itertools.chain(loader, loader))


def test_rows_give_their_pieces(digits):
    order = recmap.Chunked(np.full(len(digits), 64), 48, seed=2)
    features = {"image": recmap.Sliced((), "uint8", raw=True)}
    loader = recmap.Loader(digits, 8, order=order, features=features)
    for step, batch in enumerate(itertools.islice(iter(loader), 5)):
        for found, expected in zip(loader.numbers_at(step), batch.pieces, strict=True):
            assert found.tolist() == expected.tolist()
        assert batch.step == step


def test_the_epoch_of_a_grown_data_set(tmp_path):
    """Its steps are over the records of the state, later ones over all."""

    def add(count):
        with recmap.Writer(tmp_path / f"{count}.tfrecord") as writer:
            for number in range(count):
                writer.write(b"%d of %d" % (number, count))

    add(300)
    small = recmap.open(tmp_path / "300.tfrecord")
    old = recmap.Loader(small, 40, shuffle=True, seed=4)
    check_steps(old, itertools.islice(iter(old), 3))
    add(200)
    large = recmap.open([tmp_path / "300.tfrecord", tmp_path / "200.tfrecord"])
    loader = recmap.Loader(large, 40, shuffle=True, seed=4)
    loader.load_state_dict(old.state_dict(), grown="finish")
    step = check_steps(loader, loader)
    assert step == 5 and check_steps(loader, loader, step) == 5 + 13


def test_transforms_know_the_step(digits):
    loader = recmap.Loader(digits, 100, transform=lambda batch: batch.step)
    assert list(loader) == list(range(18)) and next(iter(loader)) == 18


def test_a_failed_step_keeps_its_number(digits):
    failures = {3, 5}

    def fail(batch):
        if batch.step in failures:
            failures.discard(batch.step)
            raise ValueError(batch.step)
        return batch.step

    loader = recmap.Loader(digits, 100, transform=fail)
    seen = []
    while len(seen) < 18:
        try:
            for step in loader:
                seen.append(step)
        except ValueError as error:
            assert error.args == (len(seen),)
    assert seen == list(range(18))


def test_other_batches_have_no_step(digits):
    for batch in (digits.gather([1, 2]), digits.parse([1], LABEL, epoch=0, seed=0)):
        with pytest.raises(ValueError, match="the batch has no step"):
            _ = batch.step


@pytest.mark.parametrize("options", [{}, {"transform": lambda batch: batch}])
def test_all_batches_of_a_join_have_the_same_step(digits, options):
    joined = recmap.join({"all": digits, "some": digits.where("label < 7")})
    loader = recmap.JoinedLoader(joined, 100, shuffle=True, seed=3, **options)
    steps = 0
    for part in (2, 30):
        for batch in itertools.islice(iter(loader), part):
            expected = loader.numbers_at(steps)
            for name, side in batch.items():
                assert side.step == steps
                assert side.numbers.tolist() == expected[name].tolist()
            steps += 1
        loader.close()
    assert steps == len(loader)


def test_wrong_steps_are_refused(digits):
    loader = recmap.Loader(digits, 1000)
    with pytest.raises(ValueError, match="must not be negative"):
        loader.numbers_at(-1)
    with pytest.raises(TypeError):
        loader.numbers_at(0.5)


# ---- loader.ready()


@pytest.mark.parametrize("kind", ["records", "columns", "transform"])
def test_a_batch_is_ready_after_a_while(digits, kind):
    loader = recmap.Loader(digits, 1000, **KINDS[kind])
    assert loader.ready(60) and loader.position == 0
    assert [len(records_of(batch)) for batch in loader] == [1000, 797]
    assert loader.ready(60)  # of the next epoch
    iterator = iter(loader)
    next(iterator)
    assert loader.ready(60)
    assert next(iterator).step == 3
    assert loader.ready(60)  # the `for` would end


def test_a_batch_is_not_ready_while_its_transform_runs(digits):
    may_end = threading.Event()

    def wait(batch):
        assert may_end.wait(60)
        return batch.step

    loader = recmap.Loader(digits, 1000, transform=wait)
    assert not loader.ready() and not loader.ready(0.3)
    may_end.set()
    assert loader.ready(60)
    assert list(loader) == [0, 1]


@pytest.mark.parametrize("transform", [None, lambda batch: batch])
def test_an_error_is_ready(tmp_path, transform):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        for _ in range(10):
            writer.write(b"x" * 100)
    bad = recmap.open(tmp_path / "a.tfrecord")
    with open(tmp_path / "a.tfrecord", "r+b") as file:
        file.seek(50)
        file.write(b"y")
    loader = recmap.Loader(bad, 10, transform=transform)
    assert loader.ready(60)
    with pytest.raises(recmap.CorruptRecordError):
        next(iter(loader))


def test_joined_loaders_are_ready_together(digits):
    joined = recmap.join({"all": digits, "some": digits.where("label < 7")})
    for options in ({}, {"transform": lambda batch: batch}):
        loader = recmap.JoinedLoader(joined, 100, **options)
        assert loader.ready(60)
        assert next(iter(loader))["all"].step == 0


def test_a_finished_run_is_ready(digits):
    loader = recmap.Loader(digits, 1000, epochs=1)
    assert len(list(loader)) == 2 and loader.ready()


def test_negative_timeouts_are_refused(digits):
    with pytest.raises(ValueError, match="timeout must be"):
        recmap.Loader(digits, 100).ready(-1)
