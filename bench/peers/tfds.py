"""Data sets that TFDS prepared: opening, and windows of episodes with pictures, against TFDS.

usage: tfds.py [REPEATS]      with a Python that has recmap, tensorflow and tensorflow-datasets

Prints rows as calls.py does. Each repeat runs both sides one after the other, in an order that
alternates. Times are CPU times of all threads, but for opening. The sets are written first, in a
temporary folder.

- recmap.tfds.open of 1,024 shards that are indexed, as a multiple of opening the index itself.
- Windows of 16 steps with a frame of 256 x 256 (JPEG), an action and an instruction: every record
  of 24 episodes of 64 steps gives batches of 8 windows. First windows that do not overlap, with
  `batch(16)` in tf.data; then windows that overlap by half, of which tf.data decodes each frame
  once. recmap gives them in a true shuffle, tf.data in file order: without a buffer of windows, it
  has no other.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import recmap
import tensorflow_datasets as tfds
from calls import print_row
from episodes import group, tensor, write_episodes, write_metadata

import tensorflow as tf

SHARDS, WINDOW, BATCH = 1024, 16, 8


def write_many_shards(folder):
    """As many shards as a large set has, of 10 records each."""
    folder.mkdir(parents=True)
    pattern = folder / ("many-train.tfrecord-{shard:05d}-of-{shards:05d}")
    with recmap.Writer(pattern, shards=SHARDS, index=None) as writer:
        for number in range(10 * SHARDS):
            writer.write({"label": number % 7})
    features = group(label=tensor("int64"))
    return write_metadata(folder, "many", features, [10] * SHARDS)


def opening_row(root, repeats):
    folder = write_many_shards(root / "many" / "1.0.0")
    recmap.tfds.open(folder, "train").close()
    index = folder / "many-train.rmx"
    ratios = []
    for _ in range(repeats):
        times = []
        for call in (lambda: recmap.tfds.open(folder, "train"), lambda: recmap.open(index)):
            start = time.perf_counter_ns()
            call().close()
            times.append(time.perf_counter_ns() - start)
        ratios.append(times[0] / times[1])
    middle = statistics.median(ratios)
    cells = [f"recmap.tfds.open, {SHARDS} shards: recmap.open of the index, times as long", "ratio"]
    cells += [f"{value:.4g}" for value in (min(ratios), middle, max(ratios))]
    print("\t".join([*cells, str(repeats), "<= 3", "met" if middle <= 3 else "missed"]), flush=True)


def our_windows(folder, stride):
    episodes = recmap.tfds.open(folder, "train")
    order, features = recmap.tfds.windows(episodes, WINDOW, stride=stride)

    def run():
        loader = recmap.Loader(episodes, BATCH, order=order, features=features, epochs=1)
        return sum(len(batch["steps/action"]) for batch in loader)

    return run


def their_windows(folder, stride):
    builder = tfds.builder_from_directory(str(folder))

    def windows(episode):
        text = episode["language_instruction"]
        rows = episode["steps"].batch(WINDOW, drop_remainder=True)
        if stride != WINDOW:
            window = episode["steps"].window(WINDOW, shift=stride, drop_remainder=True)
            rows = window.flat_map(lambda parts: tf.data.Dataset.zip(parts).batch(WINDOW))
        return rows.map(lambda row: {**row, "language_instruction": text})

    def run():
        data = builder.as_dataset(split="train").flat_map(windows).batch(BATCH).prefetch(2)
        return sum(len(batch["action"]) for batch in tfds.as_numpy(data))

    return run


def rate(run):
    """Windows per second of CPU time."""
    start = time.process_time_ns()
    count = run()
    return count / (time.process_time_ns() - start) * 1e9, count


def window_row(folder, stride, repeats):
    ours, theirs = our_windows(folder, stride), their_windows(folder, stride)
    assert ours() == theirs()  # not counted
    rates = []
    for repeat in range(repeats):
        sides = [ours, theirs] if repeat % 2 else [theirs, ours]
        measured = {run: rate(run)[0] for run in sides}
        rates.append((measured[ours], measured[theirs]))
    what = f"windows of {WINDOW} steps, every {stride}"
    print_row(f"{what}: recmap", "windows/s", [our for our, _ in rates])
    print_row(f"{what}: TFDS with tf.data", "windows/s", [their for _, their in rates])
    print_row(f"{what}: TFDS with tf.data", "ratio", [our / their for our, their in rates])


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as root:
        opening_row(Path(root), repeats * 5)
        folder = write_episodes(Path(root) / "arm" / "1.0.0")
        for stride in (WINDOW, WINDOW // 2):
            window_row(folder, stride, repeats)


if __name__ == "__main__":
    main()
