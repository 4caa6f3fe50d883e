"""transform.py: how fast a loader is whose transform is plain Python, on one thread and on two.

Run it with two interpreters of the same version, one of them free-threaded: only without the GIL do
two threads finish sooner than one. Each line has the median of ROUNDS epochs, by turns.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import recmap

ROUNDS = 7
RECORDS = 20000
TOKENS = 100
BATCH = 50


def write(folder: Path) -> str:
    random = np.random.default_rng(1)
    path = str(folder / "tokens.tfrecord")
    with recmap.Writer(path) as writer:
        for _ in range(RECORDS):
            tokens = random.integers(50000, size=TOKENS)
            writer.write(recmap.encode_example({"tokens": tokens}))
    return path


def mask(batch: recmap.RecordBatch) -> list[int]:
    """One of the usual loops over tokens: a checksum decides which of them are masked."""
    sums = []
    for row in batch["tokens"].tolist():
        state = kept = 0
        for token in row:
            state = (state * 1103515245 + token) & 0x7FFFFFFF
            kept += token if state % 100 < 85 else 1
        sums.append(kept)
    return sums


def run(ds: recmap.Dataset, threads: int) -> tuple[float, float]:
    """Seconds by the clock and of CPU time for an epoch."""
    features = {"tokens": recmap.FixedLen((TOKENS,), "int64")}
    loader = recmap.Loader(
        ds, BATCH, shuffle=True, seed=1, features=features, transform=mask, threads=1,
        transform_threads=threads,
    )  # fmt: skip
    clock, cpu = time.perf_counter(), time.process_time()
    count = sum(len(sums) for sums in loader)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    assert count == RECORDS
    loader.close()
    return clock, cpu


def main() -> None:
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"CPython {sys.version.split()[0]}, {'with' if gil else 'without'} the GIL")
    with (
        tempfile.TemporaryDirectory() as folder,
        recmap.open(write(Path(folder))) as ds,
    ):
        rounds = [[run(ds, threads) for threads in (1, 2)] for _ in range(ROUNDS)]
    for i, threads in enumerate((1, 2)):
        clock, cpu = (statistics.median(column) for column in zip(*(r[i] for r in rounds)))
        print(
            f"{threads} threads: {RECORDS / clock:7.0f} records/s by the clock, "
            f"{RECORDS / cpu:7.0f} per second of CPU time"
        )


if __name__ == "__main__":
    main()
