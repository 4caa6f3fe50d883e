"""Spark's tables as indexed shards against Parquet, written and read by the same Spark in turns.

usage: spark.py FOLDER [ROWS] [REPEATS]      FOLDER: where the tables are written, 1 GB; on a disk

Needs pyspark, pyarrow and Java. Runs a local Spark of one and of two cores, one after the other. A
row of the table is a tf.Example of an id, a label, two numbers, a text and 16 values: about 230
bytes.

Figures are CPU time of the whole tree of processes: this one, the Java machine with its compiler
and its garbage collection, and Python's workers. Both sides alternate, after one round that is not
counted. Times by the clock are also given, because CPU time does not show how tasks share cores.

- Writing: both sides read the same rows from the same Parquet table, and write them, recmap as
  records with an index of ids and a lifted column. The CPU time of only reading that table, which
  is the same for both, is subtracted for the rows "without reading".
- Reading: all columns into Spark's sink without effect, "noop".
- recmap's writer alone: one process reads the table with pyarrow and writes the same records.
- Scaling: four tasks on two cores against one core.

Prints rows with the columns of the other benchmarks: question, unit, minimum, median, maximum,
repeats, goal, and whether the goal is met.
"""

import os
import shutil
import statistics
import sys
import time
from pathlib import Path

import pyarrow.parquet as parquet
import recmap
import recmap.spark
from recmap.spark import _encode, _types

from pyspark.sql import SparkSession, functions

PARTS = 4
SCHEMA = "user_id string, label int, age bigint, score float, name string, history array<float>"
LIFTED = {"id": "user_id", "lift": "label"}


def print_row(question, unit, values, maximum=None, minimum=None):
    middle = statistics.median(values)
    cells = [question, unit, f"{min(values):.4g}", f"{middle:.4g}", f"{max(values):.4g}"]
    cells += [str(len(values))]
    if maximum is not None:
        cells += [f"<= {maximum:g}", "met" if middle <= maximum else "missed"]
    elif minimum is not None:
        cells += [f">= {minimum:g}", "met" if middle >= minimum else "missed"]
    else:
        cells += ["", ""]
    print("\t".join(cells), flush=True)


# ---- Time.


def cpu_of_tree():
    """Seconds of this process and of all its descendants, those included that have ended."""
    parents, times = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(fields[1])
        times[int(folder.name)] = sum(map(int, fields[11:15]))
    return sum(times[pid] for pid in times if is_ours(pid, parents)) / os.sysconf("SC_CLK_TCK")


def is_ours(pid, parents):
    while pid in parents and pid != os.getpid():
        pid = parents[pid]
    return pid == os.getpid()


def time_of(work):
    """Seconds of CPU time and by the clock."""
    cpu, clock = cpu_of_tree(), time.perf_counter()
    work()
    return cpu_of_tree() - cpu, time.perf_counter() - clock


def alternate(works, repeats):
    """For each work, its times; the order changes with each round."""
    times = [[] for _ in works]
    for round_ in range(repeats + 1):
        numbers = range(len(works)) if round_ % 2 else reversed(range(len(works)))
        for number in numbers:
            measured = time_of(works[number])
            if round_:
                times[number].append(measured)
    return times


# ---- Spark.


def session_of(cores, folder):
    path = os.pathsep.join([os.path.dirname(recmap.__path__[0]), os.environ.get("PYTHONPATH", "")])
    os.environ["PYTHONPATH"], os.environ["PYSPARK_PYTHON"] = path, sys.executable
    session = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.files.maxPartitionBytes", "1g")  # a task for each file
        .config("spark.sql.files.openCostInBytes", "1g")
        .config("spark.sql.warehouse.dir", os.path.join(folder, "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    session.dataSource.register(recmap.spark.TFRecord)
    return session


def make_table(spark, path, rows):
    number = functions.col("id")
    hashed = functions.xxhash64(number)
    values = [((functions.shiftright(hashed, i * 3) % 1000) / 7).cast("float") for i in range(16)]
    frame = spark.range(rows, numPartitions=PARTS).select(
        functions.format_string("user-%09d", number).alias("user_id"),
        functions.pmod(hashed, functions.lit(100)).cast("int").alias("label"),
        functions.pmod(hashed, functions.lit(1 << 40)).alias("age"),
        (number / 4).cast("float").alias("score"),
        functions.hex(hashed).alias("name"),
        functions.array(*values).alias("history"),
    )
    frame.write.parquet(path)


class Tables:
    """The works that are measured."""

    def __init__(self, spark, folder):
        self.spark = spark
        self.source = os.path.join(folder, "source")
        self.parquet = os.path.join(folder, "parquet")
        self.shards = os.path.join(folder, "shards")
        self.alone = os.path.join(folder, "alone")

    def table(self):
        return self.spark.read.parquet(self.source)

    def only_read(self):
        self.table().write.format("noop").mode("overwrite").save()

    def write_parquet(self):
        self.table().write.mode("overwrite").parquet(self.parquet)

    def write_shards(self):
        writer = self.table().write.format("recmap").mode("overwrite")
        writer.options(**LIFTED).save(self.shards)

    def write_alone(self):
        """The same records by one process, without Spark."""
        columns = _types.columns_of(self.table().schema, "Example")
        shutil.rmtree(self.alone, ignore_errors=True)
        os.mkdir(self.alone)
        options = {"index": f"{self.alone}/a.rmx", "id": "user_id", "lift": ["label"]}
        with recmap.Writer(f"{self.alone}/a.tfrecord", **options) as writer:
            for file in sorted(Path(self.source).glob("*.parquet")):
                for batch in parquet.ParquetFile(file).iter_batches(10_000):
                    for record in _encode.encoded(batch, columns, "Example"):
                        writer.write(record)

    def read_parquet(self):
        self.spark.read.parquet(self.parquet).write.format("noop").mode("overwrite").save()

    def read_shards(self):
        reader = self.spark.read.format("recmap").option("partitions", str(PARTS))
        reader.schema(SCHEMA).load(self.shards).write.format("noop").mode("overwrite").save()


def per_row(times, rows, which=0):
    return [time[which] / rows * 1e6 for time in times]


def report_ratio(question, ours, theirs, maximum=None):
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print_row(question, "x Parquet's", ratios, maximum)


def measure_against_parquet(tables, rows, repeats):
    works = [tables.write_shards, tables.write_parquet, tables.only_read, tables.write_alone]
    ours, theirs, reading, alone = alternate(works, repeats)
    cpus = [per_row(times, rows) for times in (ours, theirs, reading, alone)]
    names = "recmap writes", "Parquet writes", "only reading", "recmap's writer alone"
    for name, cpu in zip(names, cpus, strict=True):
        print_row(f"{name}, CPU time", "us/row", cpu)
    report_ratio("writing", cpus[0], cpus[1], 1.5)
    base = statistics.median(cpus[2])
    report_ratio("writing, without reading", *([c - base for c in cpu] for cpu in cpus[:2]))
    ratios = [a / b for a, b in zip(cpus[0], cpus[3], strict=True)]
    print_row("recmap writes, against its writer alone, CPU time", "x", ratios)
    ours, theirs = alternate([tables.read_shards, tables.read_parquet], repeats)
    cpus = [per_row(times, rows) for times in (ours, theirs)]
    print_row("recmap is read, CPU time", "us/row", cpus[0])
    print_row("Parquet is read, CPU time", "us/row", cpus[1])
    report_ratio("reading", *cpus)


def measure_clock(cores, tables, repeats):
    writing, reading = alternate([tables.write_shards, tables.read_shards], repeats)
    seconds = {"writes": [t[1] for t in writing], "is read": [t[1] for t in reading]}
    for name, values in seconds.items():
        print_row(f"recmap {name} by {cores} cores, by the clock", "s", values)
    return seconds


def main(folder, rows="1000000", repeats="5"):
    os.makedirs(folder, exist_ok=True)
    clocks = {}
    for cores in (1, 2):
        spark = session_of(cores, folder)
        tables = Tables(spark, folder)
        if not os.path.exists(f"{tables.source}/_SUCCESS"):
            make_table(spark, tables.source, int(rows))
        if cores == 1:
            measure_against_parquet(tables, spark.read.parquet(tables.source).count(), int(repeats))
        clocks[cores] = measure_clock(cores, tables, int(repeats))
        spark.stop()
    for name, values in clocks[1].items():
        ratios = [one / two for one, two in zip(values, clocks[2][name], strict=True)]
        print_row(f"recmap {name}: two cores against one, by the clock", "x as fast", ratios)


if __name__ == "__main__":
    main(*sys.argv[1:])
