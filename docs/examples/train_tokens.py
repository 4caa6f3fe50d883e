#!/usr/bin/env python3
"""Trains a small language model on rows of tokens, on any number of ranks.

    python3 train_tokens.py [--order packed] [--epochs 2] [--checkpoint tokens.pt] [FOLDER]
    torchrun --nproc-per-node 3 train_tokens.py ...

The text is the Markdown pages in FOLDER, by default this documentation. Each section is a
document, and each byte a token. The program can be killed at any time. When started again, also on
another number of ranks, it resumes from the newest checkpoint, in the middle of an epoch. The final
weights are bit for bit those of an uninterrupted run.
"""

import argparse
import os
from pathlib import Path

import recmap

import torch
from torch import distributed, nn
from torch.nn import functional

PAGES = Path(__file__).resolve().parents[1]
WIDTH = 96  # tokens of a row that the model reads; one more is the last target
STEP = 12  # rows of a step, on all ranks together
TOKENS, CHANNELS, HEADS = 256, 32, 2  # a token is a byte
END = 0  # the token that ends a document


def sections(folder):
    """The text of each section of each page."""
    for page in sorted(folder.rglob("*.md")):
        for section in page.read_text(encoding="utf-8").split("\n## "):
            yield section.strip().encode()


def write_documents(path, folder):
    with recmap.Writer(path) as writer:
        for section in sections(folder):
            writer.write({"text": section})


def make_order(name, counts):
    if name == "chunked":
        return recmap.Chunked(counts, WIDTH, overlap=1, add=1, seed=7)
    return recmap.Packed(counts, WIDTH + 1, add=1, seed=7)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(CHANNELS), nn.LayerNorm(CHANNELS)
        self.split, self.join = nn.Linear(CHANNELS, 3 * CHANNELS), nn.Linear(CHANNELS, CHANNELS)
        self.mix = nn.Sequential(
            nn.Linear(CHANNELS, 4 * CHANNELS), nn.GELU(), nn.Linear(4 * CHANNELS, CHANNELS)
        )

    def forward(self, x, mask):
        parts = self.split(self.before(x)).unflatten(-1, (3, HEADS, -1))
        queries, keys, values = parts.permute(1, 2, 0, 3)
        found = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        x = x + self.join(found.transpose(0, 1).flatten(1))
        return x + self.mix(self.between(x))


class Model(nn.Module):
    """Reads one row: tokens [n], positions in documents, and which tokens attend to which."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, CHANNELS)
        self.positions = nn.Embedding(WIDTH + 1, CHANNELS)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.last = nn.Linear(CHANNELS, TOKENS)

    def forward(self, tokens, positions, mask):
        x = self.tokens(tokens) + self.positions(positions)
        for block in self.blocks:
            x = block(x, mask)
        return self.last(x)


def loss_of(model, tokens, segments, positions):
    """The sum of the losses in a row, and the number of tokens that it has to predict."""
    inside = segments[1:] == segments[:-1]  # the next token is in the same document
    inside &= segments[1:] > 0  # and is not padding
    segments = segments[:-1]
    mask = (segments[:, None] == segments[None, :]).tril()
    guesses = model(tokens[:-1], positions[:-1], mask)
    losses = functional.cross_entropy(guesses, tokens[1:], reduction="none")
    return (losses * inside).sum(), inside.sum()


def gradient_of(model, *row):
    """All gradients of a row as one vector, followed by its loss and its number of tokens."""
    loss, count = loss_of(model, *row)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    parts = [gradient.flatten() for gradient in gradients]
    return torch.cat([*parts, loss.detach()[None], count[None].float()])


def sum_in_order(rows, world_size):
    """The sum over the rows of all ranks, added in the order of the rows.

    Ranks hold consecutive rows of a step, so the order, and with it each rounding, is the same for
    every number of ranks. Sums of `all_reduce` would depend on it.
    """
    rows = torch.stack(rows)
    gathered = [rows]
    if world_size > 1:
        gathered = [torch.empty_like(rows) for _ in range(world_size)]
        distributed.all_gather(gathered, rows)
    total = torch.zeros_like(rows[0])
    for row in torch.cat(gathered):
        total += row
    return total


def set_gradients(model, vector):
    parameters = list(model.parameters())
    parts = vector.split([parameter.numel() for parameter in parameters])
    for parameter, part in zip(parameters, parts, strict=True):
        parameter.grad = part.view_as(parameter)


def save(path, **parts):
    """Replaces the checkpoint atomically: a kill leaves either the old or the new one."""
    temporary = f"{path}.new"
    with open(temporary, "wb") as file:
        torch.save(parts, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def open_documents(options, rank, world_size):
    """Rank 0 writes and indexes the documents; then all ranks open them."""
    path = options.checkpoint.with_suffix(".tfrecord")
    if rank == 0:
        if not path.exists():
            write_documents(path, options.folder)
        recmap.open(path, count={"text": "uint8"}).close()
    if world_size > 1:
        distributed.barrier()
    return recmap.open(path, count={"text": "uint8"})


def train(options, rank, world_size):
    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), 0.003)
    ds = open_documents(options, rank, world_size)
    loader = recmap.torch.Loader(
        ds,
        STEP // world_size,
        order=make_order(options.order, ds.counts["text"]),
        features={"text": recmap.Sliced((), "uint8", raw=True, append=[END])},
        rank=rank,
        world_size=world_size,
        last="drop",
        epochs=options.epochs,
    )
    step = 0
    if options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["data"])
        step = saved["step"]
        if rank == 0:
            print(f"resuming at epoch {loader.epoch}, row {loader.position}", flush=True)

    def checkpoint():
        weights, moments = model.state_dict(), optimizer.state_dict()
        data = loader.state_dict()
        save(options.checkpoint, model=weights, optimizer=moments, data=data, step=step)

    for batch in loader:
        rows = zip(batch["text"].long(), batch["segment_ids"], batch["positions"], strict=True)
        total = sum_in_order([gradient_of(model, *row) for row in rows], world_size)
        loss, count = total[-2:].tolist()
        set_gradients(model, total[:-2] / count)
        optimizer.step()
        step += 1
        if rank == 0 and step % options.every == 0:
            checkpoint()
            print(f"step {step}: loss {loss / count:.4f}", flush=True)
    if rank == 0:
        checkpoint()
        print(f"trained for {step} steps")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=PAGES)
    parser.add_argument("--checkpoint", type=Path, default="tokens.pt")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    parser.add_argument("--order", choices=["chunked", "packed"], default="packed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    world_size = int(os.environ.get("WORLD_SIZE", 1))  # torchrun sets them
    rank = int(os.environ.get("RANK", 0))
    if STEP % world_size:
        parser.error(f"the {STEP} rows of a step cannot be divided by {world_size} ranks")
    if world_size > 1:
        distributed.init_process_group("gloo")
    train(options, rank, world_size)
    if world_size > 1:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
