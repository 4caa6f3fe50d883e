"""A data set that grows while a loader reads it. The oracle is the run that nothing disturbed."""

import gzip
import json
import threading

import pytest
import recmap

OLD, ALL = 600, 900


def write(path, numbers, mode="wb", compresses=False):
    part = path.with_name("part")
    with recmap.Writer(part) as writer:
        for n in numbers:
            writer.write({"n": n})
    data = part.read_bytes()
    part.unlink()
    with open(path, mode) as file:
        file.write(gzip.compress(data) if compresses else data)


def open_set(folder):
    return recmap.open(f"{folder}/a-*", index=folder / "a.rmx")


def append(folder):
    write(folder / "a-0.tfrecord", range(OLD, ALL), "ab")


def add_shard(folder):
    write(folder / "a-1.tfrecord", range(OLD, ALL))


def add_compressed(folder):
    write(folder / "a-1.tfrecord.gz", range(OLD, ALL), compresses=True)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "a-0.tfrecord", range(OLD))
    open_set(tmp_path).close()
    return tmp_path


def epochs_of(ds, disturb=lambda step: None, **more):
    """Batches and states of two epochs."""
    found = []
    options = {"shuffle": True, "seed": 2, "epochs": 2, "batches_ahead": 2, **more}
    with recmap.Loader(ds, 20, **options) as loader:
        for batch in loader:
            found.append(([bytes(record) for record in batch], json.dumps(loader.state_dict())))
            disturb(len(found))
    return found


@pytest.mark.parametrize("grow", [append, add_shard, add_compressed])
@pytest.mark.parametrize("access", ["map", "read"])
def test_an_open_set_does_not_change(folder, grow, access):
    """Neither when the files grow, nor when another user takes the records up in the index."""
    with open_set(folder) as ds:
        expected = epochs_of(ds)
    taken_up = []

    def disturb(step):
        if step == 10:
            grow(folder)
        elif step == 20:
            with open_set(folder) as bigger:
                taken_up.append(len(bigger))

    index = folder / "a.rmx"
    with recmap.open(index, shards=folder, access=access) as ds:
        assert epochs_of(ds, disturb) == expected
    assert taken_up == [ALL]


def test_it_grows_in_another_thread_all_the_time(folder):
    with open_set(folder) as ds:
        expected = epochs_of(ds)
        ended = threading.Event()

        def grow():
            for number in range(1, 40):
                if ended.is_set():
                    return
                write(folder / f"a-{number}.tfrecord", range(OLD, OLD + 5))
                open_set(folder).close()

        thread = threading.Thread(target=grow)
        thread.start()
        try:
            assert epochs_of(ds) == expected
        finally:
            ended.set()
            thread.join()


@pytest.mark.parametrize("grow", [append, add_shard, add_compressed])
def test_the_state_of_the_epoch_is_finished(folder, grow):
    """The run ends after the growth, and the next one finishes the epoch over the old records."""
    with open_set(folder) as ds:
        expected = [records for records, _ in epochs_of(ds, epochs=1)]
        states, found = [], []
        with recmap.Loader(ds, 20, shuffle=True, seed=2) as loader:
            for batch in loader:
                found.append([bytes(record) for record in batch])
                if len(found) == 5:
                    grow(folder)
                if len(found) == 12:
                    states.append(loader.state_dict())
                    break
    with (
        open_set(folder) as bigger,
        recmap.Loader(bigger, 20, shuffle=True, seed=2) as loader,
    ):
        with pytest.raises(recmap.StateMismatchError, match=f"the first {OLD} are those of the"):
            loader.load_state_dict(states[0])
        loader.load_state_dict(states[0], grown="finish")
        found += [[bytes(record) for record in batch] for batch in loader]
        assert found == expected
        assert sum(len(batch) for batch in loader) == ALL
