"""writer.py FOLDER: how fast shards are written, plain and compressed, per second of CPU time.

The records are lines of words whose frequencies follow Zipf's law, 2.1 kB on average. zlib deflates
the same bytes in one call.
"""

import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import recmap

ROUNDS = 30


def make_records() -> list[bytes]:
    random = np.random.default_rng(1)
    words = [b"%x" % word for word in random.integers(0, 1 << 24, 20000)]
    return [b" ".join(words[i] for i in random.zipf(1.3, 300) % 20000) for _ in range(3000)]


def report(name: str, size: int, compress: Callable[[], int]) -> None:
    start = time.process_time()
    written = compress()
    seconds = time.process_time() - start
    print(f"{name:30} {size / 1e6 / seconds:6.0f} MB/s {written / size:7.3f} of the size")


def write(folder: Path, name: str, records: list[bytes], has_index: bool, threads: int) -> int:
    index = folder / "written.rmx" if has_index else None
    with recmap.Writer(folder / name, index=index, threads=threads) as writer:
        for _ in range(ROUNDS):
            for record in records:
                writer.write(record)
    return sum(Path(path).stat().st_size for path in writer.paths)


def main() -> None:
    folder, records = Path(sys.argv[1]), make_records()
    size = ROUNDS * sum(len(record) + 16 for record in records)
    for name, has_index, threads in (
        ("a.tfrecord", False, 1),
        ("a.tfrecord", True, 1),
        ("a.tfrecord.gz", False, 1),
        ("a.tfrecord.gz", False, 2),
        ("a.tfrecord.gz", True, 1),
    ):
        title = f"{name}, {threads} threads{', index' if has_index else ''}"
        report(title, size, lambda: write(folder, name, records, has_index, threads))  # noqa: B023
    data = b"".join(records)
    for level in 1, 3, 6:
        report(f"zlib, level {level}", len(data), lambda: len(zlib.compress(data, level)))  # noqa: B023


if __name__ == "__main__":
    main()
