"""image.py: how fast JPEG is decoded, cropped, scaled and mirrored, beside the libraries in use.

All ways take turns in one process, several rounds; the best round of each counts, in images per
second of CPU time, of all threads. Then the loader, against the decoder alone.
"""

import argparse
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import recmap
from photos import LARGE, SMALL, photos
from ways import Job, Part, ways

TOP = Path(__file__).resolve().parents[2]
SEED = 7


def vectors():
    """The script that makes the test vectors: it draws rectangles as recmap does."""
    path = str(TOP / "docs" / "formats" / "vectors" / "images-make-vectors")
    loader = importlib.machinery.SourceFileLoader("vectors", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("vectors", loader))
    loader.exec_module(module)
    return module


def parts_of(images: list[bytes]) -> list[Part]:
    module, parts = vectors(), []
    for number, data in enumerate(images):
        state = module.draw_state(SEED, 0, number, None, "")
        info = recmap.image_info(data)
        box = module.random_resized(state, info.width, info.height, (0.08, 1), (3 / 4, 4 / 3))
        parts.append(Part(*box, module.unit(module.word(state, 0)) < 0.5))
    return parts


def cpu_seconds(run: Callable[[], None]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(job: Job, chosen: dict, rounds: int) -> dict[str, float]:
    """Images per second of CPU time, by way."""
    runs = {}
    for name, way in chosen.items():
        try:
            runs[name] = way(job)
            runs[name]()
        except (ImportError, OSError) as error:
            print(f"image: no {name}: {error}", file=sys.stderr)
            runs.pop(name, None)
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], cpu_seconds(run))
    return {name: len(job.photos) / seconds for name, seconds in best.items()}


def print_table(title: str, speeds: dict[str, float]) -> None:
    print(f"\n| {title} | images/s of CPU | recmap is |\n| --- | --- | --- |")
    for name, speed in speeds.items():
        print(f"| {name} | {speed:.0f} | {speeds['recmap'] / speed:.2f} |")


def measure_loader(images: list[bytes], size: int, rounds: int) -> None:
    """The loader against the decoder alone, by the clock and by CPU time, by turns."""
    features = {
        "image": recmap.Image(size, crop=recmap.RandomResizedCrop(), flip=0.5),
    }
    copies = images * 5
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "photos.tfrecord")
        with recmap.Writer(path) as writer:
            for data in copies:
                writer.write({"image": data})
        with recmap.open(path) as ds:
            decoder = ways(None)["recmap"](Job(copies, [], size, SEED))
            print("\n| loader, threads | images/s | of the decoder's speed times threads | CPU |")
            print("| --- | --- | --- | --- |")
            for threads in range(1, (os.cpu_count() or 1) + 1):
                print_loader(ds, decoder, features, threads, rounds)


def print_loader(ds, decoder, features: dict, threads: int, rounds: int) -> None:
    loader = recmap.Loader(ds, 64, shuffle=True, seed=SEED, features=features, threads=threads)

    def epoch() -> None:
        for batch in loader:
            assert isinstance(batch["image"], np.ndarray)

    wall, cpu, alone = [], [], []
    for _ in range(rounds):
        alone.append(cpu_seconds(decoder))
        epoch()  # what was prepared meanwhile does not count
        start, start_cpu = time.perf_counter(), time.process_time()
        epoch()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    loader.close()
    speed = len(ds) / min(wall)
    share = min(alone) / min(wall) / threads
    print(f"| {threads} | {speed:.0f} | {share:.2f} | {min(alone) / min(cpu):.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--huffman", type=Path, help="the library of huffman.c")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few photos: that it runs, not speed")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, recmap {recmap.__version__}")
    chosen = ways(options.huffman)
    for title, sizes, size in (
        ("500 x 375 to 224", SMALL, 224),
        ("500 x 375 to 128", SMALL, 128),
        ("large to 224", LARGE, 224),
    ):
        if options.quick:
            sizes = dict.fromkeys(sizes, 4)
        images = photos(sizes)
        print(f"{len(images)} photos, {sum(map(len, images)) / len(images) / 1000:.0f} kB each")
        print_table(
            title, measure(Job(images, parts_of(images), size, SEED), chosen, options.rounds)
        )
    measure_loader(photos({(375, 500): 4 if options.quick else 200}), 224, options.rounds)


if __name__ == "__main__":
    main()
