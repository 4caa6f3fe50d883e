"""recmap.torch.Loader: tensors, states and ranks."""

import itertools
import pickle

import numpy as np
import pytest
import recmap

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")

FEATURES = {
    "image": recmap.FixedLen(64, "uint8", raw=True),
    "label": recmap.FixedLen((), "int64"),
    "id": recmap.FixedLen((), bytes),
}
LABEL = {"label": recmap.FixedLen((), "int64")}


def loader_of(dataset, size=100, **more):
    arguments = {"shuffle": True, "seed": 7, "features": LABEL, "numbers": "n", **more}
    return recmap.torch.Loader(dataset, size, **arguments)


def of(batches):
    return [batch["n"].tolist() for batch in batches]


def test_batches_equal_those_of_a_loader(digits):
    arguments = {"shuffle": True, "seed": 7, "features": FEATURES}
    expected = recmap.Loader(digits, 100, **arguments)
    for batch, columns in zip(recmap.torch.Loader(digits, 100, **arguments), expected, strict=True):
        assert list(batch) == list(FEATURES)
        assert np.array_equal(batch["image"].numpy(), columns["image"])
        assert batch["label"].tolist() == columns["label"].tolist()
        assert batch["id"] == columns["id"].tolist()


def test_a_loader_is_not_a_data_set(digits):
    loader = torch.utils.data.DataLoader(loader_of(digits), batch_size=None)
    with pytest.raises(TypeError, match="write `for batch in loader`, without a DataLoader"):
        next(iter(loader))


def test_tensors_share_the_memory_of_columns(digits, monkeypatch):
    seen = []

    convert = recmap.torch._loader.convert

    def spy(batch, extras):
        seen.append(batch)
        return convert(batch, extras)

    monkeypatch.setattr("recmap.torch._loader.convert", spy)
    batch = next(iter(loader_of(digits)))
    assert batch["label"].data_ptr() == seen[0]["label"].ctypes.data


def test_batches_without_features_and_of_sequences(digits, tmp_path):
    assert next(iter(recmap.torch.Loader(digits, 3))) == [bytes(record) for record in digits[:3]]
    with recmap.Writer(tmp_path / "x.tfrecord") as writer:
        for i in range(3):
            writer.write(recmap.encode_sequence_example({"id": i}, {"step": [[1]] * i}))
    ds = recmap.open(tmp_path / "x.tfrecord")
    lists = {"step": recmap.FixedLenSequence((), "int64")}
    context, steps = next(
        iter(
            recmap.torch.Loader(
                ds, 3, features={"id": recmap.FixedLen((), "int64")}, feature_lists=lists
            )
        )
    )
    assert context["id"].tolist() == [0, 1, 2]
    assert steps["step/length"].tolist() == [0, 1, 2]


def test_transform_gets_tensors(digits):
    loader = loader_of(digits, transform=lambda batch: batch["label"] * 2)
    expected = loader_of(digits)
    assert all(
        torch.equal(doubled, batch["label"] * 2)
        for doubled, batch in zip(loader, expected, strict=True)
    )


@pytest.mark.parametrize("transform", [None, dict])
@pytest.mark.parametrize("steps", [0, 7, 17, 18])
def test_resuming_follows_torchdata(digits, steps, transform):
    loader = loader_of(digits, transform=transform)
    expected = of(loader_of(digits, epochs=3))
    iterator = iter(loader)
    taken = of(itertools.islice(iterator, steps))
    state = loader.state_dict()
    for again in loader_of(digits, transform=transform), pickle.loads(pickle.dumps(loader)):
        again.load_state_dict(state)
        rest = of(again)
        assert (rest == []) == (steps == 18)
        assert taken + rest == expected[:18]
        assert of(again) == expected[18:36]
    assert of(iterator) == expected[steps:18]
    after = loader_of(digits)
    after.load_state_dict(loader.state_dict())  # after the `for`: the next epoch
    assert of(after) == expected[18:36]


DEFAULT_END = {recmap.Loader: "next", recmap.torch.Loader: "end"}


@pytest.mark.parametrize("create", DEFAULT_END)
@pytest.mark.parametrize("epoch_end", ["next", "end", None])
@pytest.mark.parametrize("epochs", [None, 3, "forever"])
def test_the_state_after_the_last_batch(digits, create, epoch_end, epochs):
    """Both kinds are loaded by both classes; only in one `for` for several epochs is there none."""
    given = {} if epoch_end is None else {"epoch_end": epoch_end}
    arguments = {"shuffle": True, "seed": 7, "features": LABEL}
    loader = create(digits, 1000, epochs=epochs, **arguments, **given)
    iterator = iter(loader)
    next(iterator), next(iterator)
    state = loader.state_dict()
    is_end = (epoch_end or DEFAULT_END[create]) == "end" and epochs is None
    assert (state["epoch"], state["position"]) == ((0, 1797) if is_end else (1, 0))
    copy = pickle.loads(pickle.dumps(loader))
    assert copy.state_dict() == state
    if epochs is None:
        assert list(iterator) == []
        state_after = loader.state_dict()
        assert (state_after["epoch"], state_after["position"]) == (1, 0)
        for other in DEFAULT_END:
            again = other(digits, 1000, **arguments)
            again.load_state_dict(state)
            assert [len(list(again)) for _ in range(2)] == ([0, 2] if is_end else [2, 2])


@pytest.mark.parametrize("create", [recmap.torch.Loader, recmap.Loader])
def test_numbers_do_not_replace_a_feature(digits, create):
    options = {"numbers": "label"} if create is recmap.torch.Loader else {}
    batches = create(digits, 3, features=FEATURES, **options)
    if not options:
        batches = recmap.torch.IterableDataset(batches, numbers="label")
    with pytest.raises(ValueError, match="numbers='label' is already the name of an item"):
        next(iter(batches))


def test_seeds_for_augmentation_of_ones_own(digits):
    """`seeds=` gives the numbers of `batch.seeds`, also to `transform`, under new names."""
    options = {"shuffle": True, "seed": 7, "features": FEATURES}
    plain = next(iter(recmap.Loader(digits, 50, **options)))
    expected = plain.seeds("noise").view(np.int64)
    loader = recmap.torch.Loader(
        digits, 50, seeds=("noise", ""), transform=lambda batch: batch["noise"], **options
    )
    assert (next(iter(loader)).numpy() == expected).all()
    with pytest.raises(ValueError, match="seeds='label' is already the name of an item"):
        next(iter(recmap.torch.Loader(digits, 50, seeds=["label"], **options)))
    with pytest.raises(TypeError, match="seeds must be names of items"):
        recmap.torch.Loader(digits, 50, seeds="noise", **options)


@pytest.mark.parametrize("epochs", [2, "forever"])
def test_the_state_between_epochs_of_one_for(digits, epochs):
    """It belongs to the next epoch, so that `peek`, which looks there, does not change it."""
    loader = loader_of(digits, epochs=epochs)
    for batch in itertools.islice(loader, 18):
        last = batch
    state = loader.state_dict()
    assert (state["epoch"], state["position"]) == (1, 0)
    following = loader.peek()["n"]
    assert loader.state_dict() == state and not torch.equal(following, last["n"])
    again = loader_of(digits, epochs=epochs)
    again.load_state_dict(state)
    assert torch.equal(next(iter(again))["n"], following)


def test_states_are_those_of_the_other_classes(digits):
    loader = loader_of(digits)
    next(iter(loader))
    plain = recmap.Loader(digits, 30, shuffle=True, seed=7, features=LABEL)
    plain.load_state_dict(loader.state_dict())
    assert plain.position == 100
    ranks = [loader_of(digits, 50, rank=rank, world_size=2) for rank in range(2)]
    for rank in ranks:
        rank.load_state_dict(plain.state_dict())
    numbers = sorted(sum((sum(of(rank), []) for rank in ranks), []))
    assert len(numbers) == len(set(numbers)) == 1697


def test_auto_rank_asks_torch_distributed_first(digits, monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert "rank 0 of 2" in repr(loader_of(digits, rank="auto"))
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 2)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 5)
    assert "rank 2 of 5" in repr(loader_of(digits, rank="auto"))
    assert "rank 0 of 1" in repr(loader_of(digits, rank=0, world_size=1))


def test_pinning_without_cuda_says_so(digits, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="no CUDA device") as caught:
        loader = loader_of(digits, pin_memory=True)
    assert caught[0].filename == __file__
    assert of(loader) == of(loader_of(digits))


# ---- Mistakes.


def test_a_data_set_of_pytorch_needs_the_other_loader(digits):
    with pytest.raises(TypeError, match=r"pass a recmap\.Loader"):
        recmap.torch.IterableDataset(loader_of(digits))
    with pytest.raises(TypeError, match="shufle"):
        loader_of(digits, shufle=True)


@pytest.mark.parametrize("numbers", [3, True])
def test_numbers_are_the_name_of_an_item(digits, numbers):
    message = f'numbers must be the name of an item of the batch, such as "number", not {numbers}'
    with pytest.raises(TypeError, match=message):
        loader_of(digits, numbers=numbers)
    with pytest.raises(TypeError, match=message):
        recmap.torch.IterableDataset(recmap.Loader(digits, 4), numbers=numbers)
