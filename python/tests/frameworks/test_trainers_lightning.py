"""Lightning resumed from a checkpoint of an epoch's last step, as docs/frameworks/lightning.md
says."""

import os
import subprocess
import sys

import pytest
import recmap
from conftest import DIGITS

pytestmark = pytest.mark.skipif(
    "RECMAP_TEST_LONG" not in os.environ, reason="RECMAP_TEST_LONG is not set"
)
FEATURES = {"label": recmap.FixedLen((), "int64")}
STEPS, EPOCHS = 3, 3


@pytest.fixture(autouse=True)
def lightning():
    return pytest.importorskip("lightning")


def plain_loader(ds):
    return recmap.Loader(
        ds, 4, shuffle=True, seed=7, features=FEATURES, transform=recmap.torch.tensors
    )


def torch_loader(ds):
    return recmap.torch.Loader(ds, 4, shuffle=True, seed=7, features=FEATURES)


def create_model():
    """It notes the labels of each step, with the epoch, and of each validation."""
    import lightning

    import torch

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.steps, self.validations = [], []

        def training_step(self, batch, _):
            self.steps.append((self.current_epoch, batch["label"].tolist()))
            return self.layer(batch["label"].float()[:, None]).sum()

        def on_validation_start(self):
            self.validations.append([])

        def validation_step(self, batch, _):
            self.validations[-1] += batch["label"].tolist()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.0)

    return Model()


def fit(loaders, checkpoint=None, **options):
    import lightning

    model = create_model()
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )
    trainer.fit(model, *loaders, ckpt_path=checkpoint)
    return model


def trained(loader, folder, checkpoint=None):
    """(epoch, labels) of each step of a run, which saves a checkpoint every few steps."""
    import lightning

    saving = lightning.pytorch.callbacks.ModelCheckpoint(
        folder, filename="{step}", every_n_train_steps=STEPS, save_top_k=-1
    )
    return fit([loader], checkpoint, max_epochs=EPOCHS, callbacks=[saving]).steps


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("create", [plain_loader, torch_loader])
def test_the_last_step_of_an_epoch(digits, tmp_path, create):
    """Lightning starts the next epoch, but `recmap.torch.Loader` ends the previous one first."""
    ds = digits[: 4 * STEPS]
    whole = trained(create(ds), tmp_path / "whole")
    assert [epoch for epoch, _ in whole] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    resumed = trained(create(ds), tmp_path / "again", tmp_path / "whole" / f"step={STEPS}.ckpt")
    if create is plain_loader:
        assert resumed == whole[STEPS:]
    else:  # epoch 1 is empty, and epoch 2 has its records: the page says so
        assert resumed == [(epoch + 1, labels) for epoch, labels in whole[STEPS : 2 * STEPS]]


@pytest.mark.filterwarnings("ignore")
def test_the_middle_of_an_epoch(digits, tmp_path):
    """Both loaders resume there without a loss."""
    ds = digits[: 4 * STEPS + 8]  # two more steps: checkpoints fall into the middle of epochs
    for create in (plain_loader, torch_loader):
        folder = tmp_path / create.__name__
        whole = trained(create(ds), folder)
        assert trained(create(ds), folder / "again", folder / f"step={STEPS}.ckpt") == whole[STEPS:]


def validated(loader, ds):
    """The labels that each validation reads. The first one is Lightning's check of two batches."""
    loaders = [plain_loader(ds[: 4 * STEPS]), loader]
    return fit(loaders, max_epochs=2, limit_val_batches=3, enable_checkpointing=False).validations


@pytest.mark.filterwarnings("ignore")
def test_validations_read_the_same_records(digits):
    """With a DataLoader. A loader of recmap continues, as the page says."""
    import torch

    ds = digits[:20]
    labels = ds.parse(range(20), FEATURES)["label"].tolist()
    samples = torch.utils.data.DataLoader(
        recmap.torch.MapDataset(ds, FEATURES), batch_size=4, collate_fn=recmap.torch.collate
    )
    assert validated(samples, ds) == [labels[:8], labels[:12], labels[:12]]
    loader = recmap.torch.Loader(ds, 4, features=FEATURES)
    assert validated(loader, ds)[:2] == [labels[:8], labels[8:20]]


def run(program, digits, folder, *arguments):
    """Runs a program on the digits, in processes that it starts itself."""
    (folder / "program.py").write_text(program)
    words = [DIGITS, digits.index_path, *arguments]
    return subprocess.run(
        [sys.executable, "program.py", *map(str, words)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )


TRAINING = """
import sys

import lightning, recmap, torch


class Labels(lightning.LightningDataModule):
    def train_dataloader(self):
        ds = recmap.open(sys.argv[1], index=sys.argv[2])
        return recmap.Loader(
            ds, 120, shuffle=True, seed=7, features={"label": recmap.FixedLen((), "int64")},
            transform=recmap.torch.tensors, **recmap.torch.ranks(),
        )


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, _):
        with open(f"labels-{self.global_rank}", "a") as log:
            print(*batch["label"].tolist(), file=log)
        return self.layer(batch["label"].float()[:, None]).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.0)


devices, steps = map(int, sys.argv[3:])
trainer = lightning.Trainer(
    max_epochs=-1, max_steps=steps, devices=devices, accelerator="cpu", logger=False,
    strategy="ddp" if devices > 1 else "auto", enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[lightning.pytorch.callbacks.ModelCheckpoint(
        "checkpoints", every_n_train_steps=1, save_last=True
    )],
)
trainer.fit(Model(), datamodule=Labels(), ckpt_path="last")
"""


def labels_of(digits, folder, devices, steps):
    """The labels of each rank's batches, in a run up to this step."""
    for log in folder.glob("labels-*"):
        log.unlink()
    done = run(TRAINING, digits, folder, devices, steps)
    assert done.returncode == 0, done.stdout
    logs = [(folder / f"labels-{rank}").read_text() for rank in range(devices)]
    return [[list(map(int, line.split())) for line in log.splitlines()] for log in logs]


@pytest.mark.parametrize(("before", "after", "steps"), [(2, 1, 5 + 15), (1, 2, 5 + 8)])
def test_the_number_of_ranks_changes(digits, tmp_path, before, after, steps):
    """Five steps with one number of ranks; then the rest of the epoch and the next one."""
    epochs = [
        batch["label"].tolist()
        for batch in recmap.Loader(digits, 1797, shuffle=True, seed=7, epochs=2, features=FEATURES)
    ]
    labels_of(digits, tmp_path, before, 5)
    resumed = labels_of(digits, tmp_path, after, 5 + steps)
    read = [labels for step in zip(*resumed, strict=True) for labels in step]
    assert sum(read, []) == epochs[0][5 * 120 * before :] + epochs[1]


EARLY = """
import sys

import lightning, recmap, torch


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, _):
        return self.layer(batch["label"].float()[:, None]).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.0)


ds = recmap.open(sys.argv[1], index=sys.argv[2])
ranks = {"rank": "auto"} if sys.argv[3] == "auto" else {}
loader = recmap.torch.Loader(ds, 100, features={"label": recmap.FixedLen((), "int64")}, **ranks)
trainer = lightning.Trainer(
    max_steps=2, devices=2, strategy="ddp", accelerator="cpu", logger=False,
    enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
)
trainer.fit(Model(), loader)
"""


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ("auto", "create the loader or sampler after the processes have joined"),
        ("missing", "process 1 of 2 by torch.distributed, but rank and world_size are missing"),
    ],
)
def test_a_loader_that_was_created_before_its_ranks_were_known(digits, tmp_path, ranks, said):
    done = run(EARLY, digits, tmp_path, ranks)
    assert said in done.stdout, done.stdout
    assert (done.returncode == 0) == (ranks == "missing"), done.stdout
