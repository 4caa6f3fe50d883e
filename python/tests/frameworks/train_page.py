"""Runs the training program of a page, and prints the SHA-256 of the final weights.

    train_page.py PAGE FUNCTION FOLDER KILL_STEP [RANK RANKS PORT]

Kills itself after training step KILL_STEP of this run, if that is above 0.
"""

import hashlib
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
CALLS = re.compile(r"^(train\w*|fit)\(\".*\)\n", re.M)  # pages end with a call


def definitions_of(page):
    """The names of a page's programs, which are not called yet."""
    path = ROOT / "docs" / "python" / f"{page}.md"
    names = {"__name__": "__main__"}
    text = path.read_text()
    for match in re.finditer(r"```python\n(.*?)```", text, re.S):
        lines = "\n" * text[: match.start(1)].count("\n")  # errors name lines of the page
        exec(compile(lines + CALLS.sub("\n", match[1]), path, "exec"), names)
    return names


class Killer:
    """Counts steps."""

    def __init__(self, step):
        self.left = step

    def __call__(self, *_):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def kill_in_jax(names, killer):
    train_step = names["train_step"]

    def counted(*arguments):
        result = train_step(*arguments)
        killer()
        return result

    names["train_step"] = counted


def kill_in_keras(names, killer):
    class Counted(names["Checkpoints"]):
        def on_train_batch_end(self, batch, logs=None):
            super().on_train_batch_end(batch, logs)
            killer()

    names["Checkpoints"] = Counted


def kill_in_torch(_, killer):
    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(killer)


def kill_in_ray(names, killer):
    """Each of the two workers dies once, in a run that then continues by itself."""
    train_worker, step, folder = names["train_worker"], killer.left, os.getcwd()

    def counted(options):
        import ray.train
        from torch.optim.optimizer import register_optimizer_step_post_hook

        rank = ray.train.get_context().get_world_rank()
        left = step

        def kill_once(*_):
            nonlocal left
            left -= 1
            marker = f"{folder}/killed-{rank}"
            if not left and not os.path.exists(marker):
                open(marker, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)

        hook = register_optimizer_step_post_hook(kill_once)
        try:
            train_worker(options)
        finally:
            hook.remove()

    names["train_worker"] = counted


KILLS = {"jax": kill_in_jax, "keras": kill_in_keras, "ray-train": kill_in_ray}


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


def main(page, function, folder, kill_step, *process):
    if process:
        join(*map(int, process))
    names = definitions_of(page)
    if int(kill_step):
        KILLS.get(page, kill_in_torch)(names, Killer(int(kill_step)))
    print("weights", digest(names[function](folder)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
