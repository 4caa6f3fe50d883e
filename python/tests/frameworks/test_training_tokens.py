"""Training on rows of tokens, killed at random, resumes on other numbers of ranks to the bit.
RECMAP_TEST_LONG=1 kills it eight times, with two orders and on longer texts."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")

EXAMPLE = ROOT / "docs" / "examples" / "train_tokens.py"
IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
WORLDS = [1, 3, 2, 1, 2, 3, 1, 3, 2] if IS_LONG else [3, 2]
STEPS = 20 if IS_LONG else 8  # before a kill, at most
PAGES = "[gp]*/*.md" if IS_LONG else "guide/[rsw]*.md"
long_only = pytest.mark.skipif(not IS_LONG, reason="RECMAP_TEST_LONG is not set")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Starts the ranks of a run as torchrun does, but imports the packages once for all of them.
LAUNCHER = """
import os, runpy, sys, torch, recmap.torch

program, world_size, *arguments = sys.argv[1:]
sys.argv = [program, *arguments]
os.environ["WORLD_SIZE"] = world_size
ranks = []
for rank in range(int(world_size)):
    process = os.fork()
    if process == 0:
        os.environ["RANK"] = str(rank)
        runpy.run_path(program, run_name="__main__")
        sys.exit()
    ranks.append(process)
sys.exit(any(os.waitpid(process, 0)[1] for process in ranks))
"""


class Run:
    """A run on several ranks, in a process group of its own. Rank 0 prints."""

    def __init__(self, texts, order, checkpoint, every, world_size):
        command = [sys.executable, "-c", LAUNCHER, EXAMPLE, world_size, texts, "--order", order]
        command += ["--checkpoint", checkpoint, "--every", every, "--epochs", 2]
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        places = {**os.environ, **address, "GLOO_SOCKET_IFNAME": "lo"}
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            text=True,
            env=places,
            start_new_session=True,
        )

    def finish(self):
        said, _ = self.process.communicate(timeout=600)
        assert self.process.returncode == 0
        return said

    def kill(self, chance):
        """After some steps, and then at any moment: while it trains, saves or renames."""
        first = self.process.stdout.readline()
        for _ in range(chance.randrange(STEPS)):
            self.process.stdout.readline()
        time.sleep(chance.random() / 20)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=60)
        assert self.process.returncode == -signal.SIGKILL
        return first


def kept(path):
    """All that a checkpoint has, to the bit."""
    saved = torch.load(path)
    tensors = dict(saved["model"])
    for i, state in saved["optimizer"]["state"].items():
        tensors.update({f"{i}.{name}": value for name, value in state.items()})
    bits = {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}
    return {**bits, "data": saved["data"], "step": saved["step"]}


def copied_pages(folder):
    folder.mkdir()
    for page in (ROOT / "docs").glob(PAGES):
        shutil.copy(page, folder / f"{page.parent.name}-{page.name}")
    return folder


@pytest.mark.parametrize("order", [pytest.param("chunked", marks=long_only), "packed"])
def test_killed_training_on_other_ranks_gives_the_same_weights(order, tmp_path):
    seed = random.SystemRandom().randrange(1000)
    print("seed", seed)
    chance = random.Random(seed)
    whole, broken = tmp_path / "whole.pt", tmp_path / "broken.pt"
    texts = copied_pages(tmp_path / "texts")
    said = Run(texts, order, whole, every=1000, world_size=1).finish()
    assert "resuming" not in said
    shutil.copy(whole.with_suffix(".tfrecord"), broken.with_suffix(".tfrecord"))
    for i, world_size in enumerate(WORLDS[:-1]):
        first = Run(texts, order, broken, every=1, world_size=world_size).kill(chance)
        assert first.startswith("resuming at epoch" if i else "step 1:")
    last = Run(texts, order, broken, every=1, world_size=WORLDS[-1]).finish()
    assert last.startswith("resuming at epoch") and last.splitlines()[-1] == said.splitlines()[-1]
    assert kept(whole) == kept(broken)
