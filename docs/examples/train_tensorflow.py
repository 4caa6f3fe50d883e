#!/usr/bin/env python3
"""Trains a digit classifier with TensorFlow. Can be killed and resumed at any time.

    python3 train_tensorflow.py [--epochs 8] [--checkpoint digits.npz] [SHARDS]

When started again, it resumes from the newest checkpoint, in the middle of an epoch. The final
weights are bit for bit those of an uninterrupted run.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import recmap

import tensorflow as tf

DIGITS = Path(__file__).resolve().parents[2] / "data" / "digits"
FEATURES = {
    "image": recmap.FixedLen(64, "uint8", raw=True),
    "label": recmap.FixedLen((), "int64"),
}


def save(path, data, step, **arrays):
    """Replaces the checkpoint atomically: a kill leaves either the old or the new one."""
    temporary = f"{path}.new"
    with open(temporary, "wb") as file:
        np.savez(file, data=json.dumps(data), step=step, **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


class Model(tf.Module):
    """Two layers. `variables` are the weights and the momentum of each."""

    def __init__(self):
        super().__init__()
        shapes = {"w1": (64, 100), "b1": (100,), "w2": (100, 10), "b2": (10,)}
        self.weights = [
            tf.Variable(tf.random.stateless_normal(shape, (0, i), stddev=0.1), name=name)
            for i, (name, shape) in enumerate(shapes.items())
        ]
        self.momenta = [
            tf.Variable(tf.zeros(shape), name=f"momentum_{name}") for name, shape in shapes.items()
        ]

    def checkpointed(self):
        return {variable.name.removesuffix(":0"): variable for variable in self.variables}

    def scores(self, images, seed=None):
        w1, b1, w2, b2 = self.weights
        hidden = tf.nn.relu(tf.cast(images, tf.float32) / 16 @ w1 + b1)
        if seed is not None:
            hidden = tf.nn.experimental.stateless_dropout(hidden, 0.2, seed)
        return hidden @ w2 + b2

    @tf.function(reduce_retracing=True)
    def train_step(self, step, images, labels):
        """One step of gradient descent with momentum. Dropout depends only on the step."""
        with tf.GradientTape() as tape:
            scores = self.scores(images, tf.stack([1, step]))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
        for weight, momentum, gradient in zip(
            self.weights, self.momenta, tape.gradient(loss, self.weights), strict=True
        ):
            weight.assign_sub(0.05 * momentum.assign(0.9 * momentum + gradient))
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards", nargs="?", default=DIGITS)
    parser.add_argument("--checkpoint", type=Path, default="digits.npz")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    options = parser.parse_args()

    tf.config.experimental.enable_op_determinism()
    model = Model()

    index = options.checkpoint.with_suffix(".rmx")
    ds = recmap.open(options.shards, id="id", index=index)
    parts = ds.split({"train": 0.8, "test": 0.2})
    loader = recmap.Loader(
        parts["train"], 32, shuffle=True, seed=7, features=FEATURES, epochs=options.epochs
    )

    step, state = 0, loader.state_dict()
    if options.checkpoint.exists():
        with np.load(options.checkpoint) as saved:
            for name, variable in model.checkpointed().items():
                variable.assign(saved[name])
            state = json.loads(str(saved["data"]))
            step = int(saved["step"])
        loader.load_state_dict(state)
        print(f"resuming at epoch {loader.epoch}, record {loader.position}", flush=True)

    def checkpoint():
        arrays = {name: variable.numpy() for name, variable in model.checkpointed().items()}
        save(options.checkpoint, state, step, **arrays)

    # tf.data reads ahead, so each batch is delivered with the state after it.
    for batch, text in recmap.tensorflow.dataset(loader, state=True):
        loss = model.train_step(tf.constant(step), batch["image"], batch["label"])
        step, state = step + 1, json.loads(text.numpy())
        if step % options.every == 0:
            checkpoint()
            print(f"step {step}: loss {loss:.3f}", flush=True)
    checkpoint()

    test = parts["test"].parse(range(len(parts["test"])), FEATURES)
    accuracy = (model.scores(test["image"]).numpy().argmax(1) == test["label"]).mean()
    print(f"{accuracy:.1%} of {len(parts['test'])} test digits classified correctly")


if __name__ == "__main__":
    main()
