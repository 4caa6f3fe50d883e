#!/usr/bin/env python3
"""Trains a small policy on windows of robot episodes. Can be killed at any time.

    python3 train_robot.py [--epochs 4] [--checkpoint robot.pt] [FOLDER]

FOLDER is what TFDS prepared in RLDS's form, with steps/action and steps/observation/image; without
one, a small one is written first. When started again, it resumes in the middle of an epoch. Windows
and crops depend on the seed, the epoch and the record, so the final weights are the same to the bit
as without a kill.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import recmap
from train_images import png
from train_torch import save

import torch
from torch import nn

SIZE, WINDOW, SEED, EPISODES = 12, 8, 7, 95
IMAGE, ACTION = "steps/observation/image", "steps/action"


def tensor(dtype, *shape):
    return {"tensor": {"dtype": dtype, "shape": {"dimensions": list(map(str, shape))}}}


def group(**features):
    return {"featuresDict": {"features": features}}


def write_metadata(folder, length):
    image = {"image": {"dtype": "uint8", "shape": {"dimensions": ["16", "16", "1"]}}}
    step = group(action=tensor("float32", 2), observation=group(image=image))
    steps = {"pythonClassName": "Dataset", "sequence": {"feature": step}}
    split = {"name": "train", "shardLengths": [str(length)]}
    info = {"name": "robot", "version": "1.0.0", "fileFormat": "tfrecord", "splits": [split]}
    (folder / "features.json").write_text(json.dumps(group(steps=steps)))
    (folder / "dataset_info.json").write_text(json.dumps(info))


def write_episodes(folder):
    """A dot that walks; the action is where it goes next."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    with recmap.Writer(folder / "robot-train.tfrecord-00000-of-00001", index=None) as writer:
        for _ in range(EPISODES):
            moves = random.integers(-1, 2, (int(random.integers(4, 30)), 2))
            places = (8 + np.cumsum(moves, axis=0)) % 16
            frames = np.zeros((len(moves), 16, 16), np.uint8)
            frames[np.arange(len(moves)), places[:, 0], places[:, 1]] = 255
            writer.write({ACTION: moves.astype(np.float32).ravel(), IMAGE: list(map(png, frames))})
    write_metadata(folder, EPISODES)  # last: without it, a killed run writes the folder again


class Policy(nn.Module):
    """The action of a window's last step, from all its frames."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(WINDOW * SIZE * SIZE, 32), nn.ReLU(), nn.Linear(32, 2)
        )

    def forward(self, frames):
        return self.layers(frames.float() / 255)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--checkpoint", type=Path, default="robot.pt")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    return parser.parse_args()


def folder_of(options):
    folder = options.folder
    if folder is None:
        folder = options.checkpoint.with_suffix(".folder")
        if not (folder / "dataset_info.json").exists():
            write_episodes(folder)
    return folder


def windows_of(folder, split, crop, **options):
    """A loader of windows, whose frames are cut by `crop`."""
    episodes = recmap.tfds.open(folder, split)
    order, features = recmap.tfds.windows(episodes, WINDOW, pad=(WINDOW - 1, 0), seed=SEED)
    features[IMAGE] = recmap.Sliced((), recmap.Image(SIZE, mode="L", crop=crop), pad="edge")
    return recmap.Loader(episodes, 32, order=order, features=features, seed=SEED, **options)


def loss_of(policy, batch):
    frames, actions = torch.from_numpy(batch[IMAGE]), torch.from_numpy(batch[ACTION])
    return nn.functional.mse_loss(policy(frames), actions[:, -1])


def measure(policy, folder):
    policy.eval()
    test = windows_of(folder, "train[90%:]", recmap.CenterCrop(resize=16), epochs=1)
    with torch.no_grad():
        losses = [float(loss_of(policy, batch)) for batch in test]
    print(f"test loss {np.mean(losses):.4f} in {len(losses)} batches")


def main():
    options = parse_arguments()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    folder = folder_of(options)
    crop = recmap.RandomResizedCrop(scale=(0.6, 1))
    loader = windows_of(folder, "train[:90%]", crop, epochs=options.epochs)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), 0.003)

    step = 0
    if options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        policy.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["rng"])
        loader.load_state_dict(saved["data"])
        step = saved["step"]
        print(f"resuming at epoch {loader.epoch}, window {loader.position}", flush=True)

    def checkpoint():
        save(
            options.checkpoint,
            model=policy.state_dict(),
            optimizer=optimizer.state_dict(),
            rng=torch.get_rng_state(),
            data=loader.state_dict(),
            step=step,
        )

    for batch in loader:
        loss = loss_of(policy, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % options.every == 0:
            checkpoint()
            print(f"step {step}: loss {loss:.3f}", flush=True)
    checkpoint()
    measure(policy, folder)


if __name__ == "__main__":
    main()
