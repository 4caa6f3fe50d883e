#!/usr/bin/env python3
"""Trains a digit classifier with PyTorch. Can be killed and resumed at any time.

    python3 train_torch.py [--epochs 8] [--checkpoint digits.pt] [SHARDS]

When started again, it resumes from the newest checkpoint, in the middle of an epoch. The final
weights are bit for bit those of an uninterrupted run.
"""

import argparse
import os
from pathlib import Path

import recmap

import torch
from torch import nn

DIGITS = Path(__file__).resolve().parents[2] / "data" / "digits"
FEATURES = {
    "image": recmap.FixedLen((8, 8), "uint8", raw=True),
    "label": recmap.FixedLen((), "int64"),
}


def save(path, **parts):
    """Replaces the checkpoint atomically: a kill leaves either the old or the new one."""
    temporary = f"{path}.new"
    with open(temporary, "wb") as file:
        torch.save(parts, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def inputs(images):
    return images.flatten(1).float() / 16


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards", nargs="?", default=DIGITS)
    parser.add_argument("--checkpoint", type=Path, default="digits.pt")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    return parser.parse_args()


def measure(model, part):
    model.eval()
    test = recmap.torch.tensors(part.parse(range(len(part)), FEATURES))
    accuracy = (model(inputs(test["image"])).argmax(1) == test["label"]).float().mean()
    print(f"{accuracy:.1%} of {len(part)} test digits classified correctly")


def main():
    options = parse_arguments()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Dropout(0.2), nn.Linear(100, 10))
    optimizer = torch.optim.Adam(model.parameters(), 0.003)

    index = options.checkpoint.with_suffix(".rmx")
    ds = recmap.open(options.shards, id="id", index=index)
    parts = ds.split({"train": 0.8, "test": 0.2})
    loader = recmap.Loader(
        parts["train"], 32, shuffle=True, seed=7, features=FEATURES, epochs=options.epochs
    )
    batches = recmap.torch.IterableDataset(loader)

    step = 0
    if options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["rng"])
        batches.load_state_dict(saved["data"])
        step = saved["step"]
        print(f"resuming at epoch {loader.epoch}, record {loader.position}", flush=True)

    def checkpoint():
        save(
            options.checkpoint,
            model=model.state_dict(),
            optimizer=optimizer.state_dict(),
            rng=torch.get_rng_state(),
            data=batches.state_dict(),
            step=step,
        )

    for batch in batches:
        loss = nn.functional.cross_entropy(model(inputs(batch["image"])), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % options.every == 0:
            checkpoint()
            print(f"step {step}: loss {loss:.3f}", flush=True)
    checkpoint()
    measure(model, parts["test"])


if __name__ == "__main__":
    main()
