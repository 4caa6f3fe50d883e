"""Data sets that TFDS prepared: opening, and windows of episodes with pictures, against TFDS.

usage: tfds.py [REPEATS]      with a Python that has recmap, tensorflow and tensorflow-datasets

Prints rows as calls.py does. Each repeat runs both sides one after the other, in an order that
alternates. Times are CPU times of all threads, but for opening. The sets are written first, in a
temporary folder.

- recmap.tfds.open of 1,024 shards that are indexed, as a multiple of opening the index itself.
- Windows of 16 steps with a frame of 256 x 256 (JPEG), an action and an instruction: every record
  of 24 episodes of 64 steps gives batches of 8 windows. First windows that do not overlap, with
  `batch(16)` in tf.data; then windows that overlap by half. In file order, which is all that
  tf.data has without a buffer of windows.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import recmap
import tensorflow_datasets as tfds
from calls import print_row

import tensorflow as tf

SHARDS, EPISODES, STEPS, SIDE, WINDOW, BATCH = 1024, 24, 64, 256, 16, 8
CORE = "tensorflow_datasets.core.features"


def tensor(dtype, *shape):
    content = {"dtype": dtype, "shape": {"dimensions": [str(side) for side in shape]}}
    return {"pythonClassName": f"{CORE}.tensor_feature.Tensor", "tensor": content}


def group(**features):
    name = f"{CORE}.features_dict.FeaturesDict"
    return {"pythonClassName": name, "featuresDict": {"features": features}}


def write_metadata(folder, name, features, lengths):
    split = {"name": "train", "shardLengths": [str(length) for length in lengths]}
    split["filepathTemplate"] = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
    info = {"name": name, "version": "1.0.0", "fileFormat": "tfrecord", "splits": [split]}
    (folder / "dataset_info.json").write_text(json.dumps(info))
    (folder / "features.json").write_text(json.dumps(features))
    return folder


def write_many_shards(folder):
    """As many shards as a large set has, of 10 records each."""
    folder.mkdir(parents=True)
    pattern = folder / ("many-train.tfrecord-{shard:05d}-of-{shards:05d}")
    with recmap.Writer(pattern, shards=SHARDS, index=None) as writer:
        for number in range(10 * SHARDS):
            writer.write({"label": number % 7})
    features = group(label=tensor("int64"))
    return write_metadata(folder, "many", features, [10] * SHARDS)


def photos(random):
    """Frames that compress about as photos do: smooth, with noise."""
    smooth = tf.image.resize(random.integers(0, 256, (STEPS, 9, 9, 3)), (SIDE, SIDE)).numpy()
    noisy = smooth + random.normal(0, 6, smooth.shape)
    return noisy.clip(0, 255).astype(np.uint8)


def write_episodes(folder):
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    with recmap.Writer(folder / "arm-train.tfrecord-00000-of-00001", index=None) as writer:
        for number in range(EPISODES):
            frames = [tf.io.encode_jpeg(frame, quality=90).numpy() for frame in photos(random)]
            writer.write(
                {
                    "steps/observation/image": frames,
                    "steps/action": random.normal(size=STEPS * 7).astype(np.float32),
                    "language_instruction": f"task {number}",
                }
            )
    content = {"dtype": "uint8", "shape": {"dimensions": [str(SIDE), str(SIDE), "3"]}}
    image = {
        "pythonClassName": f"{CORE}.image_feature.Image",
        "image": {**content, "encodingFormat": "jpeg"},
    }
    step = group(action=tensor("float32", 7), observation=group(image=image))
    steps = {"pythonClassName": f"{CORE}.dataset_feature.Dataset"}
    steps["sequence"] = {"feature": step, "length": "-1"}
    text = {"pythonClassName": f"{CORE}.text_feature.Text", "text": {}}
    features = group(steps=steps, language_instruction=text)
    return write_metadata(folder, "arm", features, [EPISODES])


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
    print_row(f"{what}: TFDS with tf.data", "ratio", [our / their for our, their in rates], 1.5)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as root:
        opening_row(Path(root), repeats * 5)
        folder = write_episodes(Path(root) / "arm" / "1.0.0")
        for stride in (WINDOW, WINDOW // 2):
            window_row(folder, stride, repeats)


if __name__ == "__main__":
    main()
