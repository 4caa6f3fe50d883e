#!/usr/bin/env python3
"""Trains a digit classifier with JAX. Can be killed and resumed at any time.

    python3 train_jax.py [--epochs 8] [--checkpoint digits.npz] [SHARDS]

When started again, it resumes from the newest checkpoint, in the middle of an epoch. The final
weights are bit for bit those of an uninterrupted run.
"""

import argparse
import json
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import recmap

DIGITS = Path(__file__).resolve().parents[2] / "data" / "digits"
FEATURES = {
    "image": recmap.FixedLen(64, "uint8", raw=True),
    "label": recmap.FixedLen((), "int32"),
}


def save(path, data, step, **arrays):
    """Replaces the checkpoint atomically: a kill leaves either the old or the new one."""
    temporary = f"{path}.new"
    with open(temporary, "wb") as file:
        np.savez(file, data=json.dumps(data), step=step, **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def initial_weights(key):
    first, second = jax.random.split(key)
    return {
        "w1": jax.random.normal(first, (64, 100)) * 0.15,
        "b1": jnp.zeros(100),
        "w2": jax.random.normal(second, (100, 10)) * 0.1,
        "b2": jnp.zeros(10),
    }


def scores(weights, images, key=None):
    hidden = jax.nn.relu(images.astype(jnp.float32) / 16 @ weights["w1"] + weights["b1"])
    if key is not None:  # dropout
        hidden = hidden * jax.random.bernoulli(key, 0.8, hidden.shape) / 0.8
    return hidden @ weights["w2"] + weights["b2"]


def loss_of(weights, images, labels, key):
    log_probabilities = jax.nn.log_softmax(scores(weights, images, key))
    return -jnp.take_along_axis(log_probabilities, labels[:, None], 1).mean()


@jax.jit
def train_step(weights, momenta, step, images, labels):
    """One step of gradient descent with momentum. Dropout depends only on the step."""
    key = jax.random.fold_in(jax.random.key(1), step)
    loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels, key)
    momenta = jax.tree.map(lambda momentum, gradient: 0.9 * momentum + gradient, momenta, gradients)
    weights = jax.tree.map(lambda weight, momentum: weight - 0.05 * momentum, weights, momenta)
    return weights, momenta, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards", nargs="?", default=DIGITS)
    parser.add_argument("--checkpoint", type=Path, default="digits.npz")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    options = parser.parse_args()

    weights = initial_weights(jax.random.key(0))
    momenta = jax.tree.map(jnp.zeros_like, weights)

    index = options.checkpoint.with_suffix(".rmx")
    ds = recmap.open(options.shards, id="id", index=index)
    parts = ds.split({"train": 0.8, "test": 0.2})
    loader = recmap.Loader(
        parts["train"],
        32,
        shuffle=True,
        seed=7,
        features=FEATURES,
        epochs=options.epochs,
        last="drop",  # batches of one shape are compiled once
    )

    step = 0
    if options.checkpoint.exists():
        with np.load(options.checkpoint) as saved:
            weights = {name: jnp.array(saved[name]) for name in weights}
            momenta = {name: jnp.array(saved[f"momentum_{name}"]) for name in momenta}
            loader.load_state_dict(json.loads(str(saved["data"])))
            step = int(saved["step"])
        print(f"resuming at epoch {loader.epoch}, record {loader.position}", flush=True)

    def checkpoint():
        arrays = {**weights, **{f"momentum_{name}": momentum for name, momentum in momenta.items()}}
        save(options.checkpoint, loader.state_dict(), step, **arrays)

    for batch in loader:
        weights, momenta, loss = train_step(weights, momenta, step, batch["image"], batch["label"])
        step += 1
        if step % options.every == 0:
            checkpoint()
            print(f"step {step}: loss {loss:.3f}", flush=True)
    checkpoint()

    test = parts["test"].parse(range(len(parts["test"])), FEATURES)
    accuracy = (scores(weights, test["image"]).argmax(1) == test["label"]).mean()
    print(f"{accuracy:.1%} of {len(parts['test'])} test digits classified correctly")


if __name__ == "__main__":
    main()
