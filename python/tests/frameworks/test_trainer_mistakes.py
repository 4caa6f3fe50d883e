"""Trainers that prepare a DataLoader again: batches of batches, and shares that are divided twice.

With the real frameworks; each error says what to write.
"""

import os
import subprocess
import sys

import pytest
import recmap
from conftest import DIGITS
from torch_helpers import LABEL, flat, stateful

torch = pytest.importorskip("torch")

from torch.utils.data import BatchSampler, DataLoader, DistributedSampler  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set"),
]
FEATURES = {"labels": recmap.FixedLen((), "int64", key="label")}


def batches_of(ds, rank=0, world_size=1):
    loader = recmap.Loader(ds, 100, features=FEATURES, rank=rank, world_size=world_size)
    return recmap.torch.IterableDataset(loader)


def sampler_of(ds, batch_size, rank=0, world_size=1):
    order = recmap.Shuffled(len(ds), seed=3)
    return recmap.torch.Sampler(order, batch_size, rank=rank, world_size=world_size)


# ---- The Trainer of transformers.


@pytest.fixture
def trained(tmp_path):
    """Trains two steps on a data set. Returns the labels of each step."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.steps = []

        def forward(self, labels):
            self.steps.append(labels.tolist())
            return {"loss": self.layer(labels.float().reshape(-1, 1)).sum()}

    def train(dataset, **more):
        options = transformers.TrainingArguments(
            tmp_path,
            max_steps=2,
            per_device_train_batch_size=4,
            save_strategy="no",
            use_cpu=True,
            report_to="none",
            disable_tqdm=True,
        )
        model = Model()
        transformers.Trainer(model, options, train_dataset=dataset, **more).train()
        return model.steps

    return train


def test_the_trainer_does_not_stack_batches(digits, trained):
    with pytest.raises(ValueError, match=r"override Trainer\.get_train_dataloader .*MapDataset"):
        trained(batches_of(digits))


def test_a_collator_knows_what_it_gets(digits, trained):
    first, _ = trained(batches_of(digits), data_collator=lambda batches: batches[0])
    assert first == digits.columns["label"][:100].tolist()


def test_the_trainer_stacks_samples(digits, trained):
    steps = trained(recmap.torch.MapDataset(digits, FEATURES))
    assert list(map(len, steps)) == [4, 4]


@pytest.mark.parametrize("loader_of", [recmap.Loader, recmap.torch.Loader])
def test_a_loader_is_not_the_data_set_of_a_trainer(digits, trained, loader_of):
    with pytest.raises(TypeError, match=r"return (the|such a) loader from get_train"):
        trained(loader_of(digits, 100, features=FEATURES))


# ---- Shares that are divided twice.


def prepared(loader, num_processes=2):
    data_loader = pytest.importorskip("accelerate.data_loader")
    return data_loader.prepare_data_loader(
        loader, num_processes=num_processes, process_index=1, even_batches=False
    )


ACCELERATE = r"2 ranks, and accelerate's {} would divide .* accelerator\.prepare"


@pytest.mark.parametrize("batch_size", [None, 32])
def test_accelerate_does_not_divide_a_sampler_again(digits, batch_size):
    dataset = recmap.torch.MapDataset(digits, LABEL)
    name = "sampler" if batch_size is None else "batch_sampler"

    def loader_of(**ranks):
        options = {name: sampler_of(digits, batch_size, **ranks)}
        return DataLoader(dataset, collate_fn=recmap.torch.collate, **options)

    again = prepared(loader_of(rank=1, world_size=2))
    with pytest.raises(ValueError, match=ACCELERATE.format("BatchSamplerShard")):
        next(iter(again))
    once = prepared(loader_of())  # accelerate divides, and recmap does not
    assert sum(len(batch["label"]) for batch in once) in (898, 896)
    assert sum(len(batch["label"]) for batch in prepared(loader_of(rank=1, world_size=2), 1)) > 800


@pytest.mark.parametrize("workers", [0, 1])
def test_accelerate_does_not_divide_batches_again(digits, workers):
    pytest.importorskip("accelerate")
    loader = DataLoader(batches_of(digits, 1, 2), collate_fn=flat, num_workers=workers)
    with pytest.raises(ValueError, match=ACCELERATE.format("IterableDatasetShard")):
        next(iter(prepared(loader)))


@pytest.mark.parametrize("sampler_kind", ["torch", "lightning"])
def test_a_distributed_sampler_does_not_divide_again(digits, sampler_kind):
    ours = sampler_of(digits, None, 1, 2)
    if sampler_kind == "lightning":
        module = pytest.importorskip("lightning.fabric.utilities.distributed")
        sampler = module.DistributedSamplerWrapper(ours, num_replicas=2, rank=1)
        message = "2 ranks, and lightning's DistributedSamplerWrapper .*use_distributed_sampler"
    else:

        class OverSampler(DistributedSampler):
            def __iter__(self):
                return iter([list(self.dataset)[i] for i in super().__iter__()])

        sampler = OverSampler(ours, num_replicas=2, rank=1)
        message = "2 ranks, and .* OverSampler .*leave one of them out"
    with pytest.raises(ValueError, match=message):
        list(sampler)


def test_a_distributed_sampler_gives_its_own_numbers(digits):
    """It asks only for the length, and for its own world size, so also of one rank."""
    for ours in sampler_of(digits, None, 1, 2), sampler_of(digits, 100), batches_of(digits):
        with pytest.raises(ValueError, match=r'write Sampler\(order, batch_size, rank="auto"\)'):
            DistributedSampler(ours, num_replicas=2, rank=1)

    class Items:  # a data set of the user's own
        def __len__(self):
            return len(sampler_of(digits, 100))

    assert len(DistributedSampler(Items(), num_replicas=2, rank=1)) == 9


PROGRAM = """
import sys
import accelerate, recmap, torch
from torch.utils.data import DataLoader

accelerator = accelerate.Accelerator(cpu=True)
ds = recmap.open(sys.argv[1], index=sys.argv[2])
features = {"label": recmap.FixedLen((), "int64")}
loader = recmap.Loader(ds, 100, features=features, rank="auto")
assert loader._world_size == accelerator.num_processes == 2
dataset = recmap.torch.IterableDataset(loader)
try:
    next(iter(accelerator.prepare(DataLoader(dataset, batch_size=None))))
except ValueError as error:
    assert "accelerate's DataLoaderDispatcher would divide" in str(error), error
else:
    raise AssertionError("the share was divided")
# What the page says: the loader is not prepared, or passes through unchanged.
assert accelerator.prepare(loader) is loader
labels = torch.cat([torch.as_tensor(batch["label"]) for batch in loader])
count = accelerator.gather(torch.tensor([len(labels)])).sum()
assert count == len(ds), count
accelerator.end_training()  # without it, Gloo's threads can abort the process at its end
"""


def test_accelerate_does_not_dispatch_a_share(digits, tmp_path):
    pytest.importorskip("accelerate")
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("torch without gloo")
    (tmp_path / "ranks.py").write_text(PROGRAM)
    run = [sys.executable, "-m", "torch.distributed.run", "--rdzv-backend", "c10d"]
    run += ["--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
    run += ["--nproc-per-node", "2", "ranks.py", str(DIGITS), digits.index_path]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    subprocess.run(run, cwd=tmp_path, env=quiet, check=True, timeout=120)


# ---- Orders of other data sets.


@pytest.mark.parametrize("loader_of", [DataLoader, stateful])
@pytest.mark.parametrize("kind", ["sampler", "batch_sampler", "BatchSampler"])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_sampler_fits_the_data_set(digits, loader_of, kind, workers):
    dataset = recmap.torch.MapDataset(digits[:50], LABEL)

    def options_of(order):
        if kind == "batch_sampler":
            return {kind: recmap.torch.Sampler(order, 8)}
        sampler = recmap.torch.Sampler(order)
        if kind == "sampler":
            return {kind: sampler, "batch_size": 8}
        return {"batch_sampler": BatchSampler(sampler, 8, False)}

    def read(order):
        batches = loader_of(dataset, num_workers=workers, **options_of(order))
        return sum(len(batch["label"]) for batch in batches)

    assert read(recmap.Shuffled(50)) == 50
    assert read(recmap.Shuffled(20).select(range(20))) == 20
    with pytest.raises(ValueError, match=r"covers 40 .* data set has 50; .*order\.select"):
        read(recmap.Shuffled(40))
    with pytest.raises(ValueError, match="covers 60 records, but the data set has 50"):
        read(recmap.Shuffled(60))
