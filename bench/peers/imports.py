"""The CPU time of `import recmap`, and of a first batch, against `import numpy`, in new processes.

usage: imports.py FOLDER [REPEATS]      FOLDER: the sets that bench_make_sets wrote

Prints rows with the columns of the other benchmarks: question, unit, minimum, median, maximum,
repeats, goal, and whether the goal is met. Goals are upper limits.
"""

import os
import statistics
import subprocess
import sys

MEASURE = "import sys, time; start = time.process_time(); {}; print(time.process_time() - start)"
BATCH = (
    "import recmap; ds = recmap.open(sys.argv[1]); next(iter(recmap.Loader(ds, 32, shuffle=True)))"
)


def milliseconds(statement, *arguments):
    command = [sys.executable, "-c", MEASURE.format(statement), *arguments]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return float(said.stdout) * 1000


def print_row(question, unit, values, goal=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    cells += [str(len(values))]
    cells += [f"<= {goal:g}", "met" if middle <= goal else "missed"] if goal else ["", ""]
    print("\t".join(cells), flush=True)


def main(folder, repeats="9"):
    shards = os.path.join(folder, "small", "small-*.tfrecord")
    milliseconds(BATCH, shards)  # builds the index
    rounds = range(int(repeats))
    numpy, recmap, batch = (
        [milliseconds(statement, shards) for _ in rounds]
        for statement in ("import numpy", "import recmap", BATCH)
    )
    print_row("import numpy, CPU time", "ms", numpy)
    print_row("import recmap, CPU time", "ms", recmap, 60)
    ratios = [a / b for a, b in zip(recmap, numpy, strict=True)]
    print_row("import recmap / import numpy", "ratio", ratios, 1.3)
    print_row("import recmap, open, first batch, CPU time", "ms", batch)


if __name__ == "__main__":
    main(*sys.argv[1:])
