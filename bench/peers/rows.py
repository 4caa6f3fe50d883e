"""Rows of tokens and windows of episodes, against what their users do today, in one process.

usage: rows.py FOLDER [REPEATS]      FOLDER: where the documents and episodes are written

Prints rows with the columns of the other benchmarks: question, unit, minimum, median, maximum,
repeats, goal, and whether the goal is met. Figures are CPU time of the whole process, so of all its
threads. Sides alternate, and a ratio above 1 means that recmap is faster. A peer that cannot be
imported loses its rows.

- Rows of 4,096 tokens that a loader cuts from documents, against whole documents from the same
  loader, in tokens per second: lists of int64, and raw uint16.
- The same rows against Grain's packers, which read through recmap.grain.DataSource: with Grain's
  default number of threads, and without threads, which costs it less CPU time.
- The fill of packed rows, on documents of log-normal lengths and on real ones, against Grain's
  packers and TRL's best-fit decreasing. The real ones are the functions and classes of Python's
  standard library; a token is a word or a sign. All sides get long documents split into rows.
- Windows of 16 steps from episodes of 200 frames, against parsing whole episodes and slicing them
  with NumPy.
- The size of a loader's state, and the time from a state to the first batch, also with 10^8
  documents.
"""

import functools
import itertools
import json
import os
import re
import statistics
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import recmap

DOCUMENTS, MEAN, SIGMA = 30_000, 450, 1.1
SIZE, BATCH, EPOCHS = 4096, 16, 8
GRAIN_ROWS = 500  # of a repeat; recmap cuts EPOCHS epochs
BINS = 64
EPISODES, STEPS, FRAME, WINDOW, WINDOW_BATCH = 50, 200, 12_288, 16, 32


def print_row(question, unit, values, goal=None, maximum=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    cells += [str(len(values))]
    if goal is not None:
        cells += [f">= {goal:.4g}", "met" if middle >= goal else "missed"]
    elif maximum is not None:
        cells += [f"<= {maximum:.4g}", "met" if middle <= maximum else "missed"]
    else:
        cells += ["", ""]
    print("\t".join(cells), flush=True)


def rate(function):
    """Units per second of CPU time; the function returns how many there were."""
    start = time.process_time()
    units = function()
    return units / (time.process_time() - start)


def measure(ours, theirs, repeats):
    """Pairs of rates, after one of each that is not counted."""
    ours(), theirs()
    pairs = []
    for repeat in range(repeats):
        if repeat % 2:
            second = rate(theirs)
            pairs.append((rate(ours), second))
        else:
            pairs.append((rate(ours), rate(theirs)))
    return pairs


def report(question, unit, pairs, goal):
    print_row(question, unit, [ours for ours, _ in pairs])
    print_row(f"{question}: the other side", unit, [theirs for _, theirs in pairs])
    print_row(question, "x as fast", [ours / theirs for ours, theirs in pairs], goal)


# ---- Documents.


def lengths_of_documents(count=DOCUMENTS):
    random = np.random.default_rng(7)
    lengths = random.lognormal(np.log(MEAN) - SIGMA**2 / 2, SIGMA, count)
    return np.clip(lengths, 1, SIZE).astype(int)  # Grain packs nothing longer than a row


def open_documents(folder):
    path = os.path.join(folder, "rows", "documents.tfrecord")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        random = np.random.default_rng(1)
        with recmap.Writer(path) as writer:
            for length in lengths_of_documents():
                tokens = random.integers(0, 32_000, length)
                raw = tokens.astype("<u2").tobytes()
                writer.write({"tokens": tokens, "raw": raw})
    return recmap.open(path, count={"tokens": None, "raw": "uint16"})


class Kind:
    """A feature as whole documents and as a part of rows."""

    def __init__(self, title, name, whole, sliced):
        self.title, self.whole, self.sliced = title, {name: whole}, {name: sliced}


KINDS = [
    Kind("int64 lists", "tokens", recmap.VarLen("int64"), recmap.Sliced((), "int64")),
    Kind(
        "raw uint16",
        "raw",
        recmap.FixedLenSequence((), "uint16", raw=True, ragged=True),
        recmap.Sliced((), "uint16", raw=True),
    ),
]


def drain(loader):
    """Takes all batches of some epochs, and returns how many rows or documents they have."""
    loader.seek(0, 0)
    return sum(batch.row_count for _ in range(EPOCHS) for batch in loader)


def loader_of_rows(ds, order, kind):
    return recmap.Loader(ds, BATCH, order=order, features=kind.sliced, threads=1, batches_ahead=4)


def take_tokens(loader, count):
    drain(loader)
    return EPOCHS * count / 1e6


def loader_rows(ds, repeats):
    counts = ds.counts["tokens"]
    count = int(counts.sum())
    for kind in KINDS:
        whole = recmap.Loader(
            ds,
            BATCH * SIZE // MEAN,
            shuffle=True,
            features=kind.whole,
            threads=1,
            batches_ahead=4,
        )
        for make in (recmap.Chunked, recmap.Packed):
            rows = loader_of_rows(ds, make(counts, SIZE, seed=7), kind)
            pairs = measure(
                lambda rows=rows: take_tokens(rows, count),
                lambda whole=whole: take_tokens(whole, count),
                repeats,
            )
            question = f"{make.__name__} rows of 4,096, {kind.title}: whole documents"
            report(question, "M tokens/s", pairs, 0.7)


# ---- Against Grain.


def grain_packers(grain):
    """By name: the function that packs a data set of {name: tokens} into rows."""
    from grain import experimental

    def concatenate(data, lengths):
        return experimental.ConcatThenSplitIterDataset(data, length_struct=lengths)

    def first_fit(data, lengths):
        return experimental.FirstFitPackIterDataset(
            data, length_struct=lengths, num_packing_bins=BINS
        )

    return {
        "Chunked": ("ConcatThenSplit", concatenate),
        "Packed": ("FirstFitPack", first_fit),
    }


def grain_reads(grain):
    """Grain's default, and what costs it the least CPU time: no threads."""
    return {
        "its default threads": grain.ReadOptions(),
        "no threads": grain.ReadOptions(num_threads=0, prefetch_buffer_size=0),
    }


def compare_with_grain(question, rows, pack, data, repeats):
    def theirs():
        return sum(1 for _ in itertools.islice(pack(data), GRAIN_ROWS))

    report(question, "rows/s", measure(lambda: drain(rows), theirs, repeats), 100)


def grain_rows(grain, ds, repeats):
    counts = ds.counts["tokens"]
    packers, reads = grain_packers(grain), grain_reads(grain)
    for kind, name, how in itertools.product(KINDS, packers, reads):
        source = recmap.grain.DataSource(ds, kind.whole)
        data = grain.MapDataset.source(source).shuffle(seed=7).to_iter_dataset(reads[how])
        lengths = dict.fromkeys(kind.whole, SIZE)
        peer, packer = packers[name]
        rows = loader_of_rows(ds, getattr(recmap, name)(counts, SIZE, seed=7), kind)
        question = f"{name} rows of 4,096, {kind.title}: Grain's {peer}, {how}"
        compare_with_grain(
            question, rows, functools.partial(packer, lengths=lengths), data, repeats
        )


# ---- How full rows are.


def lengths_of_code():
    """The tokens of each function and class of the standard library."""
    lengths = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="replace")
            documents = re.split(r"^(?=(?:async )?(?:def|class) )", text, flags=re.M)
            lengths += [len(re.findall(r"\w+|[^\w\s]", document)) for document in documents]
    return np.array([length for length in lengths if length])


def parts_of(lengths, size):
    """Documents split as `Packed` splits them, in their order."""
    parts = []
    for length in lengths.tolist():
        whole, rest = divmod(length, size)
        parts += [size] * whole + ([rest] if rest else [])
    return parts


def grain_fill(grain, name, parts, size):
    from grain import experimental

    pack = getattr(experimental, name)
    shuffled = np.random.default_rng(7).permutation(parts)
    data = [{"tokens": np.zeros(part, np.uint8)} for part in shuffled]
    source = grain.MapDataset.source(data).to_iter_dataset(
        grain.ReadOptions(num_threads=1, prefetch_buffer_size=64)
    )
    rows = pack(source, length_struct={"tokens": size}, num_packing_bins=BINS)
    return sum(parts) / (sum(1 for _ in rows) * size)


def trl_fill(lengths, size):
    from trl import pack_dataset

    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    tokens = [np.zeros(length, np.uint8) for length in lengths.tolist()]
    packed = pack_dataset(Dataset.from_dict({"input_ids": tokens}), size, strategy="bfd_split")
    return int(lengths.sum()) / (len(packed) * size)


def fill_rows(title, lengths, size, goal=None):
    parts = parts_of(lengths, size)
    fills = {}
    try:
        import grain

        for name in ("FirstFitPackIterDataset", "BestFitPackIterDataset"):
            fills[f"Grain's {name.removesuffix('IterDataset')}"] = grain_fill(
                grain, name, parts, size
            )
    except ImportError as error:
        print(f"rows: Grain is missing: {error}", file=sys.stderr)
    try:
        fills["TRL's bfd_split"] = trl_fill(lengths, size)
    except ImportError as error:
        print(f"rows: TRL is missing: {error}", file=sys.stderr)
    best = max(fills.values(), default=0)
    ours = recmap.Packed(lengths, size, seed=7).fill
    print_row(f"fill of rows of {size:,}, {title}", "of 1", [ours], goal or best - 0.002)
    for peer, fill in fills.items():
        print_row(f"fill of rows of {size:,}, {title}: {peer}", "of 1", [fill])


# ---- Windows.


def open_episodes(folder):
    path = os.path.join(folder, "rows", "episodes.tfrecord")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        random = np.random.default_rng(1)
        with recmap.Writer(path) as writer:
            for _ in range(EPISODES):
                actions = random.normal(size=STEPS * 7).astype(np.float32)
                frames = [random.bytes(FRAME) for _ in range(STEPS)]
                writer.write({"action": actions, "frame": frames})
    return recmap.open(path, count=["frame"])


def window_rows(folder, repeats):
    ds = open_episodes(folder)
    order = recmap.Windows(ds.counts["frame"], WINDOW, seed=7)
    features = {
        "action": recmap.Sliced((7,), "float32"),
        "frame": recmap.Sliced((), "bytes"),
    }
    loader = recmap.Loader(
        ds, WINDOW_BATCH, order=order, features=features, threads=1, batches_ahead=4
    )
    whole = {"action": recmap.VarLen("float32"), "frame": recmap.VarLen("bytes")}
    positions = iter(itertools.cycle(range(len(order))))

    def theirs():
        """A batch of windows: each from its whole episode."""
        actions, frames = [], []
        for position in itertools.islice(positions, WINDOW_BATCH):
            ((record, first, count),) = order.pieces(0, position).tolist()
            episode = ds.parse([record], whole, threads=1)
            steps = np.asarray(episode["action"][0]).reshape(-1, 7)
            actions.append(steps[first : first + count])
            frames.append(episode["frame"][0][first : first + count])
        np.stack(actions)
        return WINDOW_BATCH

    title = f"windows of {WINDOW}, episodes of {STEPS} frames of 12 KB: whole episodes"
    report(title, "windows/s", measure(lambda: drain(loader), theirs, repeats), 10)


# ---- Starting.


def first_batch_ms(ds, order, kind, state):
    begin = time.perf_counter()
    loader = loader_of_rows(ds, order, kind)
    loader.load_state_dict(state)
    next(iter(loader))
    taken = (time.perf_counter() - begin) * 1e3
    loader.close()
    return taken


def start_rows(ds, repeats, documents):
    """The documents are repeated until there are as many as that: 10^8 take no more room."""
    many = recmap.concat([ds] * -(-documents // len(ds)))
    random = np.random.default_rng(3)
    for make in (recmap.Chunked, recmap.Packed):
        order = make(many.counts["tokens"], SIZE, seed=7)
        order.prepare(0)
        times = []
        for _ in range(3 * repeats):
            loader = loader_of_rows(many, order, KINDS[0])
            loader.seek(0, int(random.integers(len(order) - BATCH)))
            state = loader.state_dict()
            loader.close()
            times.append(first_batch_ms(many, order, KINDS[0], state))
        title = f"{make.__name__}, {documents:,} documents"
        size = len(json.dumps(state, separators=(",", ":")))
        print_row(f"{title}: a loader's state as JSON", "bytes", [size], maximum=300)
        question = f"{title}: first batch of {BATCH} rows from a state, by the clock"
        print_row(question, "ms", times, maximum=5)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    ds = open_documents(folder)
    loader_rows(ds, repeats)
    for documents in (DOCUMENTS, 100_000_000):
        start_rows(ds, repeats, documents)
    window_rows(folder, repeats)
    for size, goal in ((2048, 0.999), (8192, 0.997)):
        lengths = lengths_of_documents()
        fill_rows("log-normal lengths", lengths, size, goal)
        fill_rows("functions and classes of Python", lengths_of_code(), size)
    try:
        import grain
    except ImportError as error:
        print(f"rows: Grain is missing: {error}", file=sys.stderr)
    else:
        grain_rows(grain, ds, repeats)


if __name__ == "__main__":
    main()
