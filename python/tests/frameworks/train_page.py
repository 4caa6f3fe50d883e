"""Runs the training program of a page.

    train_page.py PAGE FUNCTION FOLDER KILL_STEP [RANK RANKS PORT]

Prints the number of training steps of this run, and the SHA-256 of the final weights. Kills itself
after training step KILL_STEP of this run, if that is above 0. torchrun may start several. Ray Train
starts RECMAP_TEST_WORKERS, which kill themselves, or with RECMAP_TEST_DRIVER the program.
"""

import hashlib
import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
CALLS = re.compile(r"^(train\w*|fit)\(\".*\)\n", re.M)  # pages end with a call


def definitions_of(page):
    """The names of a page's programs, which are not called yet."""
    path = ROOT / "docs" / "frameworks" / f"{page}.md"
    names = {"__name__": "__main__"}
    text = path.read_text()
    for match in re.finditer(r"```python\n(.*?)```", text, re.S):
        lines = "\n" * text[: match.start(1)].count("\n")  # errors name lines of the page
        exec(compile(lines + CALLS.sub("\n", match[1]), path, "exec"), names)
    return names


class Counter:
    """Counts the steps of this run, and ends it after one."""

    def __init__(self, kill_step):
        self.steps, self.kill_step = 0, kill_step

    def __call__(self, *_):
        self.steps += 1
        if self.steps == self.kill_step:
            os.kill(os.getpid(), signal.SIGKILL)


def count_in_jax(names, counter):
    train_step = names["train_step"]

    def counted(*arguments):
        result = train_step(*arguments)
        counter()
        return result

    names["train_step"] = counted


def count_in_keras(names, counter):
    class Counted(names["Checkpoints"]):
        def on_train_batch_end(self, batch, logs=None):
            super().on_train_batch_end(batch, logs)
            counter()

    names["Checkpoints"] = Counted


def count_in_torch(_, counter):
    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(counter)


def count_in_dcp(names, counter):
    """Without the step of no effect with which DCP makes the state of a new optimizer."""
    step = names["Training"].step

    def counted(training, batch):
        step(training, batch)
        counter()

    names["Training"].step = counted


def count_in_ray(names, counter):
    """Each worker dies at most once, in a run that then continues by itself; or the driver dies."""
    train_worker, step, folder = names["train_worker"], counter.kill_step, os.getcwd()
    driver = os.getpid() if "RECMAP_TEST_DRIVER" in os.environ else None

    def counted(options):
        import ray.train
        from torch.optim.optimizer import register_optimizer_step_post_hook

        context = ray.train.get_context()
        rank, workers = context.get_world_rank(), context.get_world_size()
        steps = 0

        def kill_once(*_):
            nonlocal steps
            steps += 1
            with open(f"{folder}/steps-{rank}-of-{workers}", "a") as log:
                log.write(f"{steps}\n")
            marker = f"{folder}/killed-{rank}"
            if steps == step and not os.path.exists(marker):
                open(marker, "w").close()
                os.kill(driver or os.getpid(), signal.SIGKILL)
                time.sleep(600)  # until Ray ends this worker, which could else finish the run

        hook = register_optimizer_step_post_hook(kill_once)
        try:
            train_worker(options)
        finally:
            hook.remove()

    names["train_worker"] = counted


COUNTS = {
    "jax": count_in_jax,
    "keras": count_in_keras,
    "ray-train": count_in_ray,
    "torch-distributed": count_in_dcp,
}


def join(rank, ranks, port):
    """Makes this process one of several of JAX, with one CPU device each."""
    import jax

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", ranks, rank)


def digest(weights):
    if hasattr(weights, "get_weights"):
        arrays = weights.get_weights()
    elif hasattr(weights, "addressable_data"):
        arrays = [np.asarray(weights.addressable_data(0))]
    else:
        state = weights.state_dict() if hasattr(weights, "state_dict") else weights
        arrays = [state[name].numpy() for name in sorted(state)]
    content = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return hashlib.sha256(content).hexdigest()


def options_of(page):
    """What a page's program must be told of several ranks."""
    if page == "ray-train":
        return {"workers": int(os.environ.get("RECMAP_TEST_WORKERS", "2"))}
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if page == "torch-distributed" and ranks > 1:
        import torch

        torch.distributed.init_process_group("gloo")
    return {"devices": ranks} if page == "lightning" else {}


def main(page, function, folder, kill_step, *process):
    if process:
        join(*map(int, process))
    names, options = definitions_of(page), options_of(page)
    counter = Counter(int(kill_step))
    COUNTS.get(page, count_in_torch)(names, counter)
    weights = names[function](folder, **options)
    sys.stdout.write(f"steps {counter.steps} weights {digest(weights)}\n")
    sys.stdout.flush()
    end_group()


def end_group():
    """Ends a process that has a process group of PyTorch, without Python's own end.

    There, the threads of Gloo may abort the process, or wait for the lock of Python (the GIL) while
    the main thread, which holds it, waits for them: in the destructor of DistributedDataParallel.
    """
    group = sys.modules.get("torch.distributed")
    if group is not None and group.is_available() and group.is_initialized():
        group.destroy_process_group()
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
