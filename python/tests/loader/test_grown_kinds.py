"""Finishing an epoch over the old records, for each kind of loader and data set, with the number of
ranks that the run had and with others. The oracle is the run that was not interrupted."""

import gzip
import itertools
import shutil

import pytest
import recmap

OLD, ALL = 120, 200
FEATURES = {"n": recmap.FixedLen((), "int64")}


def write(path, numbers, compresses=False):
    with recmap.Writer(path) as writer:
        for n in numbers:
            writer.write({"id": f"id-{n}", "n": n, "tokens": [n] * (n % 7 + 1)})
    if compresses:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


class Local:
    """Shards in a folder."""

    def __init__(self, folder, compresses=False):
        self._folder, self._compresses = folder, compresses
        folder.mkdir()
        self._add(0, range(OLD))

    def _add(self, number, numbers):
        write(self._folder / f"a-{number}.tfrecord", numbers, self._compresses)

    def grow(self):
        self._add(1, range(OLD, ALL))

    def open(self):
        suffix = ".gz" if self._compresses else ""
        return recmap.open(
            f"{self._folder}/*.tfrecord{suffix}", index=self._folder.with_suffix(".rmx"), id="id"
        )


class Remote:
    """Objects in a store."""

    def __init__(self, server, folder):
        self._server, self._bucket = server, server.folder / "train"
        self._folder = folder
        self._add(0, range(OLD))

    def _add(self, number, numbers):
        write(self._folder / "new.tfrecord", numbers)
        shutil.move(self._folder / "new.tfrecord", self._bucket / f"a-{number}.tfrecord")

    def grow(self):
        self._add(1, range(OLD, ALL))

    def open(self):
        storage = recmap.Storage(options=self._server.options())
        index = self._folder / "remote.rmx"
        return recmap.open("s3://train/a-*.tfrecord", index=index, id="id", storage=storage)


@pytest.fixture(params=["plain", "compressed", "remote"])
def growing(request, tmp_path):
    if request.param == "remote":
        return Remote(request.getfixturevalue("server"), tmp_path)
    return Local(tmp_path / "set", request.param == "compressed")


def numbers_of(batches):
    return [n for batch in batches for n in batch.numbers.tolist()]


def ranks_of(make, world_size, state, count=2):
    """What all ranks take after the state, by epoch. Each rank takes `count` epochs."""
    epochs = [[] for _ in range(count)]
    for rank in range(world_size):
        loader = make(rank, world_size)
        loader.load_state_dict(state, grown="finish")
        for epoch in epochs:
            epoch += [n for batch in loader for n in batch]
    return [sorted(epoch) for epoch in epochs]


def check_ranks(make_old, make_new, growing, world_size):
    """Three batches are taken by one rank; then the set grows, and other ranks take the rest."""
    loader = make_old(0, 1)
    taken = [n for batch in itertools.islice(loader, 3) for n in batch]
    state = loader.state_dict()
    growing.grow()
    rest, following = ranks_of(make_new, world_size, state)
    assert sorted(taken + rest) == list(range(OLD))
    assert following == list(range(ALL))


def numbers(batch):
    return batch.numbers.tolist()


def values(batch):
    return batch["n"].tolist()


def same(batch):
    assert values(batch["left"]) == values(batch["right"])
    return values(batch["left"])


def check_growing(make, growing, world_size):
    """`make` creates a loader of a data set, for a rank."""
    opened = [growing.open()]

    def make_new(rank, world_size):
        if len(opened) == 1:
            opened.append(growing.open())
        return make(opened[-1], rank, world_size)

    check_ranks(lambda *rank: make(opened[0], *rank), make_new, growing, world_size)


@pytest.mark.parametrize("world_size", [1, 4])
def test_loaders(growing, world_size):
    def make(ds, rank, world_size):
        options = {"rank": rank, "world_size": world_size, "last": "keep"}
        return recmap.Loader(ds, 10, shuffle=True, seed=4, transform=numbers, **options)

    check_growing(make, growing, world_size)


@pytest.mark.parametrize("world_size", [1, 3])
def test_torch_loaders(growing, world_size):
    pytest.importorskip("torch")

    def make(ds, rank, world_size):
        options = {"rank": rank, "world_size": world_size, "last": "keep", "features": FEATURES}
        return recmap.torch.Loader(ds, 10, shuffle=True, seed=4, transform=values, **options)

    check_growing(make, growing, world_size)


@pytest.mark.parametrize("world_size", [1, 3])
def test_joined_loaders(growing, tmp_path, world_size):
    """One of the data sets grows; the other has all records from the beginning."""
    write(tmp_path / "other.records", range(ALL - 1, -1, -1))
    other = recmap.open(tmp_path / "other.records", index=tmp_path / "other.rmx", id="id")

    def make(ds, rank, world_size):
        options = {"rank": rank, "world_size": world_size, "last": "keep"}
        features = {"left": FEATURES, "right": FEATURES}
        joined = recmap.join({"left": ds, "right": other})
        return recmap.JoinedLoader(
            joined, 10, features=features, shuffle=True, seed=4, transform=same, **options
        )

    check_growing(make, growing, world_size)


# ---- Orders that do not follow from the number of records.


def mixture(count):
    halves = [recmap.Shuffled(count // 2, 1), recmap.Shuffled(count - count // 2, 2)]
    return recmap.Mixture(halves, [1, 1], "last")


def packed(ds):
    return recmap.Packed([n % 7 + 1 for n in range(len(ds))], 12, seed=3)


def windows(ds):
    return recmap.Windows([n % 7 + 1 for n in range(len(ds))], 2, pad=(1, 1), seed=3)


@pytest.mark.parametrize("world_size", [1, 3])
def test_mixtures(growing, world_size):
    loader = recmap.Loader(growing.open(), 10, order=mixture(OLD), last="keep")
    taken = numbers_of(itertools.islice(loader, 3))
    state = loader.state_dict()
    growing.grow()
    bigger, rest, following = growing.open(), [], []
    for rank in range(world_size):
        resumed = recmap.Loader(
            bigger, 10, order=mixture(ALL), rank=rank, world_size=world_size, last="keep"
        )
        with pytest.raises(recmap.UnsupportedError, match="does not follow from"):
            resumed.load_state_dict(state, grown="finish")
        resumed.load_state_dict(state, mixture(OLD), grown="finish")
        rest += numbers_of(resumed)
        following += numbers_of(resumed)
    assert sorted(taken + rest) == list(range(OLD))
    assert sorted(following) == list(range(ALL))


@pytest.mark.parametrize("make", [packed, windows])
@pytest.mark.parametrize("world_size", [1, 2])
def test_rows(growing, make, world_size):
    """The rows of the old records, then those of all."""
    features = {"tokens": recmap.Sliced((), "int64", pad=-1)}

    def loader_of(ds, **more):
        return recmap.Loader(ds, 4, order=make(ds), features=features, last="keep", **more)

    def rows(loader):
        return [row for batch in loader for row in batch["tokens"].tolist()]

    small = growing.open()
    uninterrupted = rows(loader_of(small))
    loader = loader_of(small)
    taken = rows(itertools.islice(loader, 3))
    state = loader.state_dict()
    old = make(small)
    growing.grow()
    bigger, rest, following = growing.open(), [], []
    for rank in range(world_size):
        resumed = loader_of(bigger, rank=rank, world_size=world_size)
        with pytest.raises(recmap.UnsupportedError, match="does not follow from"):
            resumed.load_state_dict(state, grown="finish")
        resumed.load_state_dict(state, old, grown="finish")
        rest += rows(resumed)
        following += rows(resumed)
    whole = loader_of(bigger)
    whole.seek(1)
    assert sorted(taken + rest) == sorted(uninterrupted)
    assert sorted(following) == sorted(rows(whole))
