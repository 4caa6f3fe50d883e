"""Whole epochs: recmap's loader against one peer, in pairs, in one process.

usage: epochs.py FOLDER COPIES SET PEER [REPEATS] | --peers     the latter names the PEERs

An epoch of recmap is a true shuffle of the whole set, every CRC checked, by a thread a core. Where
a peer parses, recmap does: into NumPy columns of all features, bytes as views of the mapped shards.
With "copied" they are copied into one buffer, with "objects" made bytes objects in an array, which
is what TensorFlow's NumPy iterator hands out. Ours iterates over the whole set; peers whose rate is
the same everywhere read a part of it: the first shards, or a few seconds.
"""

import importlib
import itertools
import os
import struct
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import recmap
from pairs import measure, report, report_absent, says
from sets import BATCH, Set

BUFFER = 10_000
THREADS = len(os.sched_getaffinity(0))
ENOUGH_S = 1.5  # slow ones read a part of an epoch

PARSED = "a shuffled epoch to NumPy columns"
RAW = "a shuffled epoch of records"
SEQUENTIAL = "records in file order"


# ---- Ours: functions that iterate over an epoch and return how many records it had.


class Ours:
    def __init__(self, data):
        self.data = data
        self.data_set = data.open()

    def loader(self, features=None, shuffle=True):
        # One loader for all epochs: its threads live on, as in a training run.
        return recmap.Loader(
            self.data_set, BATCH, shuffle=shuffle, seed=7, features=features, threads=THREADS
        )

    def records(self, shuffle=True):
        loader = self.loader(shuffle=shuffle)

        def iterate():
            return sum(len(batch) for batch in loader)

        return iterate

    def columns(self, how="viewed"):
        loader = self.loader(self.data.recmap_features(copy=how == "copied"))
        strings = [name for name, (kind, _) in self.data.features.items() if kind == "bytes"]

        def iterate():
            count = 0
            for batch in loader:
                columns = batch.values()
                count += batch.row_count
                if how == "objects":
                    columns = [batch[name].to_numpy() for name in strings]
                del columns
            return count

        return iterate


# ---- Theirs.


def some(batches, size=len, limit_s=ENOUGH_S):
    """How many records came until the time was up."""
    count, end = 0, time.perf_counter() + limit_s
    for batch in batches:
        count += size(batch)
        if time.perf_counter() > end:
            break
    return count


def part_of(data):
    """Shards enough for a peer that reads them one after the other, at the same rate anywhere."""
    return data.shards if data.name == "large" else data.shards[:2]


def tensorflow_features(data):
    import tensorflow as tf

    types = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}
    return {
        name: tf.io.RaggedFeature(types[kind])
        if shape is None
        else tf.io.FixedLenFeature(shape, types[kind])
        for name, (kind, shape) in data.features.items()
    }


def tensorflow_sequential(data):
    import tensorflow as tf

    pipeline = tf.data.TFRecordDataset(part_of(data)).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    return lambda: sum(len(batch) for batch in pipeline.as_numpy_iterator())


def tensorflow_shuffled(data):
    import tensorflow as tf

    features = tensorflow_features(data)
    files = tf.data.Dataset.from_tensor_slices(part_of(data)).shuffle(len(data.shards), seed=7)
    records = files.interleave(
        tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False
    )
    pipeline = (
        records.shuffle(BUFFER, seed=7)
        .batch(BATCH)
        .map(lambda batch: tf.io.parse_example(batch, features), tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )
    return lambda: sum(len(batch["label"]) for batch in pipeline.as_numpy_iterator())


def dali(data):
    import nvidia.dali.fn as fn
    import nvidia.dali.tfrecord as tfrecord
    from nvidia.dali import pipeline_def

    types = {"int64": tfrecord.int64, "float32": tfrecord.float32, "bytes": tfrecord.string}
    empty = {"int64": 0, "float32": 0.0, "bytes": ""}

    def feature(kind, shape):
        if shape is None:
            return tfrecord.VarLenFeature(types[kind], empty[kind])
        return tfrecord.FixedLenFeature(list(shape), types[kind], empty[kind])

    features = {name: feature(*it) for name, it in data.features.items()}

    @pipeline_def(batch_size=BATCH, num_threads=THREADS, device_id=None)
    def shuffled():
        read = fn.readers.tfrecord(
            path=data.shards,
            index_path=data.paths(".idx"),
            features=features,
            random_shuffle=True,
            initial_fill=BUFFER,
            seed=7,
        )
        return tuple(read[name] for name in features)

    pipeline = shuffled()
    steps = len(data.open()) * len(part_of(data)) // len(data.shards) // BATCH
    fixed = [
        i
        for i, (kind, shape) in enumerate(data.features.values())
        if kind != "bytes" and shape is not None
    ]

    def iterate():
        for _ in range(steps):
            columns = pipeline.run()
            for i in fixed:
                columns[i].as_array()
        return steps * BATCH

    return iterate


def lance(data):
    import lance
    import numpy

    path = data.path("data.lance")
    data.warm(path)
    table = lance.dataset(path)
    numbers = numpy.random.default_rng(7).permutation(table.count_rows())

    def batches():
        for i in range(0, len(numbers), BATCH):
            taken = table.take(numbers[i : i + BATCH])
            for column in taken.columns:
                column.to_numpy()
            yield taken

    return lambda: some(batches())


def hugging_face(data):
    import datasets

    path = data.path("data.arrow")
    data.warm(path)
    table = datasets.Dataset.from_file(path).shuffle(seed=7).with_format("numpy")
    return lambda: some(table.iter(batch_size=BATCH), lambda batch: len(batch["label"]))


def tfrecord_package(data):
    from tfrecord.torch.dataset import TFRecordDataset

    names = {"int64": "int", "float32": "float", "bytes": "byte"}
    description = {name: names[kind] for name, (kind, _) in data.features.items()}
    buffer = BUFFER if data.name == "small" else BUFFER // 10

    def iterate():
        records = TFRecordDataset(data.shards[0], None, description, shuffle_queue_size=buffer)
        return buffer + some(records, lambda record: 1)

    return iterate


class Bagz:
    """Opened where it is used: in the worker."""

    package = "bagz"

    def __init__(self, data):
        self.path = data.path("data.bag")
        self.count = len(data.open())
        self.reader = None
        data.warm(self.path)

    def open(self):
        import bagz

        return bagz.Reader(self.path)

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return self.__getitems__([number])[0]

    def __getitems__(self, numbers):
        if self.reader is None:
            self.reader = self.open()
        return self.read(numbers)

    def read(self, numbers):
        reader = self.reader  # one after the other: read_indices is slower in memory
        return [reader[number] for number in numbers]


class Lmdb(Bagz):
    package = "lmdb"

    def __init__(self, data):
        super().__init__(data)
        self.path = data.path("data.lmdb")
        data.warm(self.path)

    def open(self):
        import lmdb

        return lmdb.open(self.path, subdir=False, readonly=True, lock=False).begin()

    def read(self, numbers):
        get = self.reader.get
        return [get(struct.pack(">Q", number)) for number in numbers]


class ArrayRecord(Bagz):
    package = "array_record.python.array_record_data_source"

    def __init__(self, data):
        super().__init__(data)
        self.path = data.path("data.array_record")
        data.warm(self.path)

    def open(self):
        from array_record.python import array_record_data_source

        return array_record_data_source.ArrayRecordDataSource([self.path])

    def read(self, numbers):
        return self.reader.__getitems__(numbers)


def as_is(batch):
    return batch


def data_loader(kind, workers):
    def make(data):
        from torch.utils.data import DataLoader

        source = kind(data)
        # Says at once what is not there; opening it here would leave workers half of its threads.
        importlib.import_module(source.package)
        loader = DataLoader(source, BATCH, shuffle=True, num_workers=workers, collate_fn=as_is)
        return lambda: some(loader)

    return make


def grain(data):
    from array_record.python import array_record_data_source

    import grain

    path = data.path("data.array_record")
    data.warm(path)
    source = array_record_data_source.ArrayRecordDataSource([path])
    read = grain.ReadOptions(num_threads=THREADS, prefetch_buffer_size=THREADS)
    pipeline = grain.MapDataset.source(source).shuffle(seed=7).batch(BATCH, batch_fn=list)
    return lambda: some(pipeline.to_iter_dataset(read))


def records_of(samples):
    """A batch as StreamingDataLoader can count it. Of a list, it counts the fields of a record."""
    return {"record": [sample["record"] for sample in samples]}


def mosaic_loader(data):
    from streaming import StreamingDataLoader, StreamingDataset

    source = StreamingDataset(
        local=data.path("data.mds"), shuffle=True, shuffle_seed=7, batch_size=BATCH
    )
    return StreamingDataLoader(source, batch_size=BATCH, collate_fn=records_of)


def begun(loader):
    """Epoch after epoch. The first has begun, as its order may take as long as a part of it."""
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    next(batches)
    return batches


def finish_reading_ahead(source):
    """Streaming's threads also read ahead between rounds. That is their time, not recmap's."""
    epoch = source._iterator
    while epoch.ready_index < min(epoch.yield_index + source.predownload + 1, epoch.total):
        time.sleep(0.001)


def mosaic(data):
    data.warm(data.path("data.mds"))
    loader = mosaic_loader(data)
    batches = begun(loader)

    def iterate():
        count = some(batches, lambda batch: len(batch["record"]))
        finish_reading_ahead(loader.dataset)
        return count

    return iterate


def litdata_loader(data):
    import litdata

    source = litdata.StreamingDataset(data.path("data.litdata"), shuffle=True, seed=7)
    return litdata.StreamingDataLoader(source, batch_size=BATCH, collate_fn=as_is)


def litdata(data):
    data.warm(data.path("data.litdata"))
    batches = begun(litdata_loader(data))
    return lambda: some(batches)


def webdataset(data):
    import webdataset

    path, count = data.path("data.tar"), data.part()
    data.warm(path)
    records = webdataset.WebDataset(path, shardshuffle=False, seed=7).to_tuple("record")
    pipeline = records.shuffle(BUFFER, initial=BUFFER).listed(BATCH)
    return lambda: min(BUFFER + some(pipeline), count)  # those in the buffer were read as well


def spdl(data):
    """SPDL has no format: its threads call a function, here one that reads a batch from bagz."""
    import numpy
    from spdl.pipeline import PipelineBuilder

    source = Bagz(data)
    source.reader = source.open()
    numbers = numpy.random.default_rng(7).permutation(len(source)).tolist()
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]

    def iterate():
        builder = PipelineBuilder().add_source(batches)
        builder = builder.pipe(source.read, concurrency=THREADS).add_sink(THREADS)
        pipeline = builder.build(num_threads=THREADS)
        with pipeline.auto_stop():
            return some(pipeline)

    return iterate


# ---- The questions: of each peer what it is, how it is made, what ours does, and the goals.


TF_SAYS = ("both of each record", "bytes objects", "yes")
PEERS = {
    "tf-sequential": (
        says("tf.data, in file order", "both of each record", "bytes objects", "no"),
        tensorflow_sequential,
        SEQUENTIAL,
        {"records, in order": None},
    ),
    "tf-shuffled": (
        says("tf.data, shuffle(10k) + parse", *TF_SAYS),
        tensorflow_shuffled,
        PARSED,
        {"viewed": 10, "copied": None, "objects": None},
    ),
    "dali": (
        says("DALI, CPU, buffer of 10k", "no", "tensors", "yes"),
        dali,
        PARSED,
        {"viewed": 5, "copied": 2.5},
    ),
    "lance": (
        says("Lance, take(256)", "no", "columns", "no: stored in columns"),
        lance,
        PARSED,
        {"viewed": None},
    ),
    "datasets": (
        says("Hugging Face datasets", "no", "columns", "no: stored in columns"),
        hugging_face,
        PARSED,
        {"viewed": None},
    ),
    "tfrecord": (
        says("tfrecord, queue of 10k", "no", "an array a value", "yes"),
        tfrecord_package,
        PARSED,
        {"viewed": None},
    ),
}
RAW_PEERS = {
    "grain": (grain, "Grain over ArrayRecord", "its blocks", "bytes, unpacked"),
    "streaming": (mosaic, "MosaicML Streaming", "no", "bytes"),
    "litdata": (litdata, "LitData, windows of 256", "no", "bytes"),
    "webdataset": (webdataset, "WebDataset, buffer of 10k", "no", "bytes"),
    "spdl": (spdl, "SPDL, threads, over bagz", "no", "bytes"),
}
for kind, title in ((Bagz, "bagz"), (Lmdb, "py-lmdb"), (ArrayRecord, "ArrayRecord")):
    for workers in (0, 2):
        said = f"DataLoader, {workers} workers, over {title}"
        checks = "its blocks" if kind is ArrayRecord else "no"
        RAW_PEERS[f"torch-{title}-{workers}"] = data_loader(kind, workers), said, checks, "bytes"
for name, (make, *said) in RAW_PEERS.items():
    PEERS[name] = says(*said, "no"), make, RAW, {"records": None}


def way_of(ours, how):
    if how.startswith("records"):
        return ours.records(shuffle=how == "records")
    return ours.columns(how)


def main():
    if sys.argv[1:] == ["--peers"]:
        print(*PEERS)
        return
    if len(sys.argv) < 5 or sys.argv[4] not in PEERS:
        sys.exit(__doc__)
    data = Set(*sys.argv[1:4])
    said, make, question, goals = PEERS[sys.argv[4]]
    repeats = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    data.warm()
    try:
        theirs = make(data)
    except (ImportError, FileNotFoundError) as error:
        report_absent(question, said, error)
        return
    ours = Ours(data)
    for how, goal in goals.items():
        if how == "copied" and sys.argv[4] == "dali" and data.name != "large":
            continue  # the goal is of images
        asked = question if how.startswith(("records", "viewed")) else f"{question}, {how}"
        report(asked, data.name, said, measure(way_of(ours, how), theirs, repeats), goal)


if __name__ == "__main__":
    main()
