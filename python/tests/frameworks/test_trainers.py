"""The training programs of the pages, killed and resumed, give the weights of a whole run.

The programs save at the end of an epoch too, and are killed after that. A resumed run must do fewer
steps: one that started again at the beginning would have the same weights in the end.
"""

import os
import random
import re
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
    shutil.copytree(DIGITS, tmp_path / "data" / "digits")
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


LINE = re.compile(r"^steps (\d+) weights (\w{64})$", re.MULTILINE)


def results_of(process):
    """(training steps of the run, hash of the final weights) of each rank."""
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    found = LINE.findall(said)
    assert found, said
    return [(int(steps), weights) for steps, weights in found]


def result_of(process):
    (result,) = results_of(process)
    return result


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
    steps, whole = result_of(start(page, function, "whole", 0))
    check_killed(page, function, "broken", first_kill)
    check_killed(page, function, "broken", 6)  # resumed at the start of an epoch, saved in it
    check_killed(page, function, "broken", last_kill)
    steps_left, weights = result_of(start(page, function, "broken", 0))
    assert weights == whole
    assert 0 < steps_left <= steps - 7  # Orbax may not have finished saving the later steps


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def start_pair(function, checkpoints, kill_step):
    port = free_port()
    return [start("jax", function, checkpoints, kill_step, rank, 2, port) for rank in range(2)]


@pytest.mark.parametrize("function", ["train", "train_with_grain"])
def test_two_processes_of_jax(folder, function):
    needs("jax", "orbax", "grain")
    first, second = map(result_of, start_pair(function, "whole", 0))
    assert first == second
    steps, whole = first
    killed = start_pair(function, "broken", 16)
    for process in killed:
        process.communicate(timeout=300)
        assert process.returncode < 0  # killed, or ended by JAX because the other one died
    resumed = [result_of(process) for process in start_pair(function, "broken", 0)]
    assert resumed[0] == resumed[1]
    assert resumed[0] in [(steps - saved, whole) for saved in (7, 14)]


def start_ranks(count, *arguments):
    """The same program as `count` ranks of torchrun."""
    run = [sys.executable, "-m", "torch.distributed.run", "--rdzv-backend", "c10d"]
    run += ["--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
    run += ["--nproc-per-node", str(count), str(PROGRAM), *map(str, arguments)]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    return subprocess.Popen(
        run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=quiet
    )


RANKED = {name: program for name, program in PROGRAMS.items() if "torch" in program[2]}


@pytest.mark.parametrize("name", RANKED)
def test_two_ranks_end_with_the_same_weights(name, folder):
    """Both have the same weights in the end, and each does half of the steps."""
    page, function, packages, _ = RANKED[name]
    needs(*packages)
    one, two = results_of(start_ranks(2, page, function, "whole", 0))
    assert one == two
    assert one[0] == (14 if name == "dcp-grain" else 16)
    died, _ = (process := start_ranks(2, page, function, "broken", 6)).communicate(timeout=300)
    assert process.returncode, died
    resumed = results_of(start_ranks(2, page, function, "broken", 0))
    assert resumed == [(one[0] - 5, one[1])] * 2


def test_a_checkpoint_of_two_ranks_is_loaded_by_one(folder):
    needs("torch")
    process = start_ranks(2, "torch-distributed", "train", "broken", 6)
    died, _ = process.communicate(timeout=300)
    assert process.returncode, died
    # 5 of 8 steps of an epoch, of 240 records, were saved: 597 records are left, then an epoch.
    assert result_of(start("torch-distributed", "train", "broken", 0))[0] == 5 + 15


def test_a_checkpoint_of_one_rank_is_loaded_by_two_and_continued(folder):
    """Two ranks have fewer steps in an epoch, and still their checkpoints are newer ones."""
    needs("torch")
    check_killed("torch-distributed", "train", "broken", 17)  # step 15, an epoch's end, was saved
    process = start_ranks(2, "torch-distributed", "train", "broken", 6)
    died, _ = process.communicate(timeout=300)
    assert process.returncode, died
    resumed = results_of(start_ranks(2, "torch-distributed", "train", "broken", 0))
    assert [steps for steps, _ in resumed] == [8 - 5] * 2


def test_workers_of_ray_train(folder):
    needs("ray", "torch", "pydantic")
    _, whole = result_of(start("ray-train", "train", "whole", 0))
    steps_of_whole = len((folder / "steps-0-of-2").read_text().split())
    (folder / "steps-0-of-2").unlink()
    _, weights = result_of(start("ray-train", "train", "broken", 10))
    assert weights == whole
    assert list(folder.glob("killed-*"))
    steps = len((folder / "steps-0-of-2").read_text().split())
    assert steps_of_whole < steps < 10 + steps_of_whole


def test_ray_train_continues_with_fewer_workers(folder, monkeypatch):
    needs("ray", "torch", "pydantic")
    monkeypatch.setenv("RECMAP_TEST_DRIVER", "1")
    check_killed("ray-train", "train", "broken", 15)
    monkeypatch.setenv("RECMAP_TEST_WORKERS", "1")
    result_of(start("ray-train", "train", "broken", 0))
    # 12 of 16 steps were saved, 4 of the second epoch, of 200 records: 997 records are left. If
    # the driver died before it stored that checkpoint, the one before: the end of the first epoch.
    # Workers of the dead driver may still write to logs of their own.
    assert len((folder / "steps-0-of-1").read_text().split()) in (9, 17)
