"""The programs of docs/examples, killed at random moments, give the weights of a whole run.
RECMAP_TEST_LONG=1 runs all of them and kills them more often."""

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ROOT

EPOCHS = 3  # of 44 or 45 steps
IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
KILLS = 3 if IS_LONG else 2
long_only = pytest.mark.skipif(not IS_LONG, reason="RECMAP_TEST_LONG is not set")


def start(program, checkpoint, every):
    command = [sys.executable, ROOT / "docs" / "examples" / f"train_{program}.py"]
    command += ["--checkpoint", checkpoint, "--epochs", EPOCHS, "--every", every]
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=quiet)


def finish(process):
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0
    return said


def kill(process, chance, steps):
    """After at most so many steps, and then at any moment: while it trains, saves or renames."""
    for _ in range(chance.randrange(1, steps)):
        process.stdout.readline()
    time.sleep(chance.random() / 50)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def kept_by_torch(path):
    import torch

    saved = torch.load(path)
    tensors = dict(saved["model"], rng=saved["rng"])
    for i, state in saved["optimizer"]["state"].items():
        tensors.update({f"{i}.{name}": value for name, value in state.items()})
    kept = {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}
    return {**kept, "data": saved["data"], "step": saved["step"]}


def kept(program, path):
    """All that a checkpoint has, to the bit."""
    if program in ("torch", "images", "robot"):
        return kept_by_torch(path)
    with np.load(path) as saved:
        return {name: saved[name].tobytes() for name in saved}


@pytest.mark.parametrize(
    "program, framework, kills",
    [
        ("torch", "torch", KILLS),
        pytest.param("jax", "jax", KILLS, marks=long_only),
        pytest.param("tensorflow", "tensorflow", KILLS, marks=long_only),
        ("images", "torch", 10 if IS_LONG else KILLS),
        pytest.param("robot", "torch", KILLS, marks=long_only),
    ],
)
def test_killed_and_resumed_training_gives_the_same_weights(program, framework, kills, tmp_path):
    if not importlib.util.find_spec(framework):
        pytest.skip(f"no {framework} here")
    seed = random.SystemRandom().randrange(1000)
    print("seed", seed)
    chance = random.Random(seed)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    said = finish(start(program, whole, every=45))
    assert "step 90" in said and "resuming" not in said
    for i in range(kills):
        process = start(program, broken, every=1)
        if i:
            assert process.stdout.readline().startswith("resuming at epoch")
        kill(process, chance, 90 // kills)
    last = finish(start(program, broken, every=1))
    assert last.startswith("resuming at epoch") and last.splitlines()[-1] == said.splitlines()[-1]
    assert kept(program, whole) == kept(program, broken)
