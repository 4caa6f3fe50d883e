"""gpu.py: how many photos a second arrive as pixels in the memory of a GPU, and on how many cores.

Either recmap's threads decode, crop and scale, and the pixels are copied from pinned memory; or the
JPEG bytes of a batch lie in one pinned buffer, and nvJPEG decodes them on the device. All ways take
turns, several rounds; the best round counts, by the clock.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recmap
from photos import SMALL, photos

import torch

SIZE, ROWS, SEED = 224, 256, 7
Epoch = Callable[[], int]  # runs one epoch until its pixels are on the device; counts the photos


def write_photos(path: Path, images: list[bytes], copies: int) -> None:
    with recmap.Writer(str(path)) as writer:
        for _ in range(copies):
            for data in images:
                writer.write({"image": data})


def loader_of(ds: recmap.Dataset, feature: Any, threads: int, is_pinned: bool) -> Any:
    return recmap.torch.Loader(
        ds, ROWS, shuffle=True, seed=SEED, features={"image": feature},
        threads=threads, pin_memory=is_pinned,
    )  # fmt: skip


def skip_epoch(loader: Any) -> None:
    """Drops the batches that were made ahead while other ways ran."""
    loader.seek(loader.epoch + 1)


def decoded(ds: recmap.Dataset, threads: int, is_pinned: bool) -> Epoch:
    """Pixels are made by recmap's threads, and copied."""
    feature = recmap.Image(SIZE, crop=recmap.RandomResizedCrop(), flip=0.5, layout="CHW")
    loader = loader_of(ds, feature, threads, is_pinned)

    def epoch() -> int:
        count = 0
        skip_epoch(loader)
        for batch in loader:
            count += len(batch["image"].to("cuda", non_blocking=is_pinned))
        torch.cuda.synchronize()
        return count

    return epoch


def encoded(ds: recmap.Dataset, threads: int) -> Epoch:
    """Bytes are copied by recmap's threads into one pinned buffer for each batch; nvJPEG decodes,
    and the device scales each whole photo."""
    from torchvision.io import decode_jpeg
    from torchvision.transforms.v2 import functional

    loader = loader_of(ds, recmap.FixedLen((), bytes, copy=True), threads, True)

    def epoch() -> int:
        count = 0
        skip_epoch(loader)
        for batch in loader:
            values, offsets = batch["image"].values, batch["image"].offsets.tolist()
            files = [values[low:high] for low, high in zip(offsets, offsets[1:])]
            pixels = [
                functional.resize(photo, [SIZE, SIZE], antialias=True)
                for photo in decode_jpeg(files, device="cuda")
            ]
            count += len(torch.stack(pixels))
        torch.cuda.synchronize()
        return count

    return epoch


def copied() -> Epoch:
    """Only the copies, from one pinned batch: the limit of all that decode on the CPU."""
    batch = torch.zeros((ROWS, SIZE, SIZE, 3), dtype=torch.uint8, pin_memory=True)

    def epoch() -> int:
        for _ in range(100):
            batch.to("cuda", non_blocking=True)
        torch.cuda.synchronize()
        return 100 * ROWS

    return epoch


def ways(ds: recmap.Dataset) -> dict[str, Epoch]:
    cores = os.cpu_count() or 1
    counts = sorted({1, cores // 2 or 1, cores})
    made = {f"recmap, {k} threads": decoded(ds, k, True) for k in counts}
    made[f"recmap, {cores} threads, memory not pinned"] = decoded(ds, cores, False)
    try:
        made["bytes in one pinned buffer, nvJPEG"] = encoded(ds, 2)
    except ImportError as error:
        print(f"gpu: no nvJPEG: {error}", file=sys.stderr)
    made["copies of pinned pixels alone"] = copied()
    return made


def measure(chosen: dict[str, Epoch], rounds: int) -> dict[str, tuple[float, float]]:
    """Photos a second by the clock, and cores in use, by way; the first round warms up."""
    best: dict[str, tuple[float, float]] = {}
    for turn in range(rounds + 1):
        for name, epoch in chosen.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            count = epoch()
            seconds = time.perf_counter() - start
            found = count / seconds, (time.process_time() - start_cpu) / seconds
            if turn:
                best[name] = max(best.get(name, found), found)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few photos: that it runs, not speed")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("gpu: skipped, because there is no CUDA device", file=sys.stderr)
        return
    images = photos({(375, 500): 4} if options.quick else SMALL)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "photos.tfrecord"
        write_photos(path, images, 64 if options.quick else 50)
        with recmap.open(str(path)) as ds:
            speeds = measure(ways(ds), 1 if options.quick else 5)
    print(
        f"{torch.cuda.get_device_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"torch {torch.__version__}, recmap {recmap.__version__}\n"
    )
    print(f"| 500 x 375 to {SIZE}, batches of {ROWS} | photos/s | cores in use |")
    print("| --- | --- | --- |")
    for name, (speed, cores) in speeds.items():
        print(f"| {name} | {speed:,.0f} | {cores:.1f} |")


if __name__ == "__main__":
    main()
