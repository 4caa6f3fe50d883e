#!/usr/bin/env python3
"""Trains a small network on pictures, with random crops and noise. Can be killed at any time.

    python3 train_images.py [--epochs 4] [--checkpoint images.pt] [SHARDS]
    python3 train_images.py --image image --label label --size 64 --flip 0.5 'train-*.tfrecord'

SHARDS are records with a picture (JPEG, PNG or WebP) and the number of its class, from 0, by
default in `image/encoded` and `image/class/label`; without SHARDS, the handwritten digits are
written as PNG first. When started again, it resumes in the middle of an epoch. Crops, flips and
noise depend on the seed, the epoch and the record, so the final weights are the same to the bit as
without a kill.
"""

import argparse
import struct
import zlib
from pathlib import Path

import numpy as np
import recmap
from train_torch import DIGITS, save

import torch
from torch import nn

SEED = 7


def features(options, **image):
    """The columns of a batch; `image` are arguments of recmap.Image."""
    return {
        "image": recmap.Image(options.size, key=options.image, **image),
        "label": recmap.FixedLen((), "int64", key=options.label),
    }


def png(pixels):
    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write_digits(path):
    """The digits as pictures of 32 x 32 pixels."""
    raw = {"image": recmap.FixedLen((8, 8), "uint8", raw=True), "label": recmap.FixedLen((), int)}
    with recmap.open(DIGITS, index=path.with_suffix(".digits.rmx")) as ds:
        digits = ds.parse(range(len(ds)), raw)
        with recmap.Writer(path) as writer:
            for pixels, label in zip(digits["image"], digits["label"]):
                picture = png(np.kron(pixels * 15, np.ones((4, 4), np.uint8)))
                writer.write({"image/encoded": picture, "image/class/label": label})


def add_noise(batch):
    """Augmentation of one's own: the same for a record and an epoch in every run."""
    noisy = batch["image"].astype(np.int16)
    for pixels, seed in zip(noisy, batch.seeds("noise")):
        pixels += np.random.default_rng(seed).integers(-16, 17, pixels.shape, np.int16)
    images = torch.from_numpy(noisy.clip(0, 255).astype(np.uint8))
    return {"image": images, "label": torch.from_numpy(batch["label"])}


def inputs(images):
    return images.permute(0, 3, 1, 2).float() / 255


def make_model(options):
    half = options.size // 2
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * half * half, options.classes),
    )


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards", nargs="?")
    parser.add_argument("--checkpoint", type=Path, default="images.pt")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    parser.add_argument("--image", default="image/encoded", help="the feature with the picture")
    parser.add_argument("--label", default="image/class/label", help="the feature with the class")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--size", type=int, default=24, help="pixels on a side")
    parser.add_argument("--flip", type=float, default=0, help="the share that is mirrored")
    return parser.parse_args()


def measure(model, part, options):
    model.eval()
    centre = features(options, crop=recmap.CenterCrop(resize=options.size * 9 // 8))
    loader = recmap.torch.Loader(part, 256, features=centre)
    right = sum((model(inputs(b["image"])).argmax(1) == b["label"]).sum() for b in loader)
    print(f"{right / len(part):.1%} of {len(part)} test pictures classified correctly")


def open_pictures(options):
    shards = options.shards
    if shards is None:
        shards = options.checkpoint.with_suffix(".tfrecord")
        if not shards.exists():
            write_digits(shards)
    return recmap.open(shards, index=options.checkpoint.with_suffix(".rmx"))


def main():
    options = parse_arguments()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = make_model(options)
    optimizer = torch.optim.Adam(model.parameters(), 0.003)
    parts = open_pictures(options).split({"train": 0.8, "test": 0.2})
    random = features(options, crop=recmap.RandomResizedCrop(scale=(0.6, 1)), flip=options.flip)
    loader = recmap.Loader(
        parts["train"], 32, shuffle=True, seed=SEED, features=random, transform=add_noise,
        epochs=options.epochs,
    )  # fmt: skip
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
    measure(model, parts["test"], options)


if __name__ == "__main__":
    main()
