"""The training programs of the pages, killed and resumed, give the weights of a whole run.

The programs save at the end of an epoch too, and are killed after that.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import DIGITS

PROGRAM = Path(__file__).with_name("train_page.py")

pytestmark = pytest.mark.skipif(
    "RECMAP_TEST_LONG" not in os.environ, reason="RECMAP_TEST_LONG is not set"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needs(*packages):
    for package in packages:
        if not find_spec(package):
            pytest.skip(f"no {package} here")


def start(*arguments):
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    quiet["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"] = "1"
    return subprocess.Popen(
        [sys.executable, *map(str, (PROGRAM, *arguments))],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=quiet,
    )


def weights_of(process):
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    (line,) = [line for line in said.splitlines() if line.startswith("weights ")]
    return line


def check_killed(*arguments):
    said, _ = (process := start(*arguments)).communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, said


PROGRAMS = {  # page, function, packages, step to die after: an epoch's end was saved before
    "lightning": ("lightning", "train", ["torch", "lightning"], 17),
    "trainer": ("transformers", "train", ["torch", "transformers", "accelerate"], 17),
    "accelerate": ("transformers", "fit", ["torch", "transformers", "accelerate"], 17),
    "dcp": ("torch-distributed", "train", ["torch", "grain"], 17),
    "dcp-grain": ("torch-distributed", "train_with_grain", ["torch", "grain"], 17),
    "orbax": ("jax", "train", ["jax", "orbax", "grain"], 16),
    "orbax-grain": ("jax", "train_with_grain", ["jax", "orbax", "grain"], 16),
    "keras": ("keras", "train", ["keras", "jax"], 16),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_killed_and_resumed(name, folder):
    page, function, packages, first_kill = PROGRAMS[name]
    needs(*packages)
    last_kill = random.SystemRandom().randrange(1, 8)
    print("last kill", last_kill)
    whole = weights_of(start(page, function, "whole", 0))
    check_killed(page, function, "broken", first_kill)
    check_killed(page, function, "broken", 6)  # resumed at the start of an epoch, saved in it
    check_killed(page, function, "broken", last_kill)
    assert weights_of(start(page, function, "broken", 0)) == whole


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def start_pair(checkpoints, kill_step):
    port = free_port()
    return [start("jax", "train", checkpoints, kill_step, rank, 2, port) for rank in range(2)]


def test_two_processes_of_jax(folder):
    needs("jax", "orbax", "grain")
    first, second = map(weights_of, start_pair("whole", 0))
    assert first == second
    killed = start_pair("broken", 16)
    for process in killed:
        process.communicate(timeout=300)
        assert process.returncode < 0  # killed, or ended by JAX because the other one died
    resumed = [weights_of(process) for process in start_pair("broken", 0)]
    assert resumed == [first, first]


def test_workers_of_ray_train(folder):
    needs("ray", "torch", "pydantic")
    whole = weights_of(start("ray-train", "train", "whole", 0))
    assert weights_of(start("ray-train", "train", "broken", 10)) == whole
    assert list(folder.glob("killed-*"))
