"""Windows of episodes with pictures, against LeRobot's reader, over the same frames.

usage: lerobot_windows.py [REPEATS]      with a Python that has recmap, lerobot and Pillow,
                                          and the libraries of FFmpeg (Debian: ffmpeg)

Prints rows as calls.py does: windows per second of CPU time of all threads. Each repeat runs all
sides one after the other, in an order that alternates. The frames are those of tfds.py: recmap
reads them as JPEG from one TFRecord file, LeRobot as PNG from Parquet files (`use_videos=False`)
and as frames of videos (AV1, its default). Batches of 8 windows of 16 steps, in random order:
first windows that do not overlap, then windows that overlap by half.
"""

import io
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

import numpy as np
import recmap
from calls import print_row
from episodes import EPISODES, STEPS, write_episodes
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from PIL import Image

import torch

WINDOW, BATCH, FPS, CAMERA = 16, 8, 10, "observation.images.front"


def write_lerobot(root, folder, kind):
    """The frames and actions of the episodes in `folder`, as LeRobot writes them."""
    features = {
        CAMERA: {"dtype": kind, "shape": (256, 256, 3), "names": ["height", "width", "channels"]},
        "action": {"dtype": "float32", "shape": (7,), "names": None},
    }
    made = LeRobotDataset.create(
        f"made-up/{kind}", FPS, features, root=root / kind, use_videos=kind == "video"
    )
    episodes = recmap.open(folder / "arm-train.tfrecord-00000-of-00001", index=root / "arm.rmx")
    wanted = {
        "steps/observation/image": recmap.FixedLen((STEPS,), bytes),
        "steps/action": recmap.FixedLen((STEPS, 7), "float32"),
    }
    for number in range(EPISODES):
        episode = episodes.parse([number], wanted)
        pictures = episode["steps/observation/image"][0]
        for picture, action in zip(pictures, episode["steps/action"][0]):
            pixels = np.asarray(Image.open(io.BytesIO(bytes(picture))))
            made.add_frame({CAMERA: pixels, "action": action, "task": f"task {number}"})
        made.save_episode()
    made.finalize()
    times = [step / FPS for step in range(WINDOW)]
    return LeRobotDataset(
        made.repo_id, root=made.root, delta_timestamps={CAMERA: times, "action": times}
    )


def lerobot_windows(dataset, stride):
    starts = range(0, STEPS - WINDOW + 1, stride)
    numbers = [episode * STEPS + start for episode in range(EPISODES) for start in starts]
    windows = torch.utils.data.Subset(dataset, numbers)
    loader = torch.utils.data.DataLoader(windows, BATCH, shuffle=True)

    def run():
        count = 0
        for batch in loader:
            assert batch[CAMERA].shape[1:] == (WINDOW, 3, 256, 256)
            count += len(batch["action"])
        return count

    return run


def our_windows(folder, stride):
    episodes = recmap.tfds.open(folder, "train")
    order, features = recmap.tfds.windows(episodes, WINDOW, stride=stride)

    def run():
        loader = recmap.torch.Loader(episodes, BATCH, order=order, features=features, epochs=1)
        count = 0
        for batch in loader:
            assert batch["steps/observation/image"].shape[1:] == (WINDOW, 256, 256, 3)
            count += len(batch["steps/action"])
        return count

    return run


def rate(run):
    """Windows per second of CPU time."""
    start = time.process_time_ns()
    count = run()
    return count / (time.process_time_ns() - start) * 1e9


def window_rows(sides, stride, repeats):
    counts = [run() for run in sides.values()]  # not timed
    assert len(set(counts)) == 1
    rates = []
    for repeat in range(repeats):
        names = list(sides) if repeat % 2 else list(reversed(sides))
        rates.append({name: rate(sides[name]) for name in names})
    for name in sides:
        what = f"windows of {WINDOW} steps, every {stride}: {name}"
        print_row(what, "windows/s", [measured[name] for measured in rates])
        if name != "recmap":
            ratios = [measured["recmap"] / measured[name] for measured in rates]
            print_row(f"{what}: recmap is", "times as fast", ratios)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        folder = write_episodes(Path(root) / "arm" / "1.0.0")
        theirs = {kind: write_lerobot(Path(root), folder, kind) for kind in ("image", "video")}
        for stride in (WINDOW, WINDOW // 2):
            sides = {"recmap": our_windows(folder, stride)}
            for kind, dataset in theirs.items():
                sides[f"LeRobot, {kind}s"] = lerobot_windows(dataset, stride)
            window_rows(sides, stride, repeats)


if __name__ == "__main__":
    main()
