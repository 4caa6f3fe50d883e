"""The three data sets, their features, and copies of them in each peer's format."""

import contextlib
import glob
import os
import shutil
import struct
import sys
import time

import recmap

# Of each set the features: (type, shape), shape None where each record has another length.
INT64, FLOAT, BYTES = ("int64", ()), ("float32", ()), ("bytes", ())
FEATURES = {
    "small": {
        "id": BYTES,
        "label": INT64,
        "user": INT64,
        "item": INT64,
        "hour": INT64,
        "day": INT64,
        "city": INT64,
        "age": INT64,
        "price": FLOAT,
        "ctr": FLOAT,
        "cat": BYTES,
        "brand": BYTES,
        "pos": INT64,
        "hist": ("int64", (4,)),
    },
    "medium": {"id": BYTES, "label": INT64, "tokens": ("int64", None)},
    "large": {"id": BYTES, "label": INT64, "image/encoded": BYTES},
}
NAMES = {"small": "240 B", "medium": "2.6 KB", "large": "50 KB"}
BATCH = 256


class Set:
    """One data set: its shards, its index, and the folder with copies of it for the peers."""

    def __init__(self, folder, copies, name):
        self.name = name
        self.title = NAMES[name]
        self.features = FEATURES[name]
        self.shards = sorted(glob.glob(os.path.join(folder, name, "*.tfrecord")))
        if not self.shards:
            sys.exit(f"{folder}/{name}: no shards; bench_make_sets writes them")
        self.copies = os.path.join(copies, name)
        os.makedirs(self.copies, exist_ok=True)

    def open(self, **options):
        index = os.path.join(self.copies, "recmap.rmx")
        return recmap.open(self.shards, index=index, **options)

    def recmap_features(self, copy=False):
        def feature(kind, shape):
            kind = bytes if kind == "bytes" else kind
            if shape is None:
                return recmap.VarLen(kind)
            return recmap.FixedLen(shape, kind, copy=copy and kind is bytes)

        return {name: feature(*it) for name, it in self.features.items()}

    def part(self):
        """How many records peers read that do so in order, at one rate: a quarter, if short."""
        count = len(self.open())
        return count if self.name == "large" else count // 4

    def path(self, name):
        return os.path.join(self.copies, name)

    def paths(self, ending):
        """A copy of each shard."""
        return [self.path(os.path.basename(shard) + ending) for shard in self.shards]

    def warm(self, *paths):
        """Reads files once, so that they are in the page cache."""
        for path in [*self.shards, *paths]:
            found = glob.glob(path + "/**", recursive=True) if os.path.isdir(path) else [path]
            for file in filter(os.path.isfile, found):
                with open(file, "rb", 0) as opened:
                    while opened.read(1 << 24):
                        pass


@contextlib.contextmanager
def _made(path):
    """A name to write to, which becomes `path` when all went well."""
    part = path + ".part"
    if os.path.isdir(part):
        shutil.rmtree(part)
    elif os.path.exists(part):
        os.remove(part)
    yield part
    os.replace(part, path)


# ---- Copies.


def to_bagz(data):
    import bagz

    with _made(data.path("data.bag")) as path, bagz.Writer(path) as writer:
        for record in data.open():
            writer.write(bytes(record))


def to_lmdb(data):
    import lmdb

    with _made(data.path("data.lmdb")) as path:
        environment = lmdb.open(path, map_size=1 << 36, subdir=False, lock=False)
        with environment.begin(write=True) as transaction:
            for i, record in enumerate(data.open()):
                transaction.put(struct.pack(">Q", i), bytes(record), append=True)
        environment.close()


def to_array_record(data):
    from array_record.python import array_record_module

    with _made(data.path("data.array_record")) as path:
        writer = array_record_module.ArrayRecordWriter(path, "group_size:1")
        for record in data.open():
            writer.write(bytes(record))
        writer.close()


def to_idx(data):
    """What DALI's tfrecord2idx writes: offset and size of each frame."""
    for shard, path in zip(data.shards, data.paths(".idx"), strict=True):
        with _made(path) as part, open(shard, "rb") as file, open(part, "w") as index:
            at, end = 0, os.path.getsize(shard)
            while at < end:
                file.seek(at)
                size = struct.unpack("<Q", file.read(8))[0] + 16
                index.write(f"{at} {size}\n")
                at += size


def tables(data):
    """Arrow tables of the parsed records."""
    import pyarrow

    records, features = data.open(), data.recmap_features()
    step = 65536 if data.name == "small" else 4096
    for first in range(0, len(records), step):
        numbers = range(first, min(first + step, len(records)))
        table = pyarrow.table(records.parse(numbers, features))
        fields = [
            field.with_type(pyarrow.binary()) if field.type == pyarrow.binary_view() else field
            for field in table.schema
        ]
        yield table.cast(pyarrow.schema(fields))


def to_lance(data):
    import lance

    with _made(data.path("data.lance")) as path:
        for table in _larger(tables(data)):
            lance.write_dataset(table, path, mode="append" if os.path.exists(path) else "create")


def _larger(parts):
    """Some tables as one, so that there are few files: at most about 1 GB each."""
    import pyarrow

    held, size = [], 0
    for part in parts:
        held.append(part)
        size += part.nbytes
        if size > 1 << 30:
            yield pyarrow.concat_tables(held)
            held, size = [], 0
    if held:
        yield pyarrow.concat_tables(held)


def to_arrow(data):
    """A stream of Arrow batches of 1,000 rows, as Hugging Face datasets keeps in its cache."""
    import pyarrow

    writer = None
    with _made(data.path("data.arrow")) as path, open(path, "wb") as file:
        for table in tables(data):
            writer = writer or pyarrow.ipc.new_stream(file, table.schema)
            writer.write_table(table, max_chunksize=1000)
        writer.close()


def to_mds(data):
    """Shards of MosaicML Streaming, with its default of 64 MB each."""
    from streaming import MDSWriter

    with (
        _made(data.path("data.mds")) as path,
        MDSWriter(out=path, columns={"record": "bytes"}) as writer,
    ):
        for record in data.open():
            writer.write({"record": bytes(record)})


def to_litdata(data):
    import litdata

    def records(numbers):
        for record in data.open()[numbers]:
            yield bytes(record)

    with _made(data.path("data.litdata")) as path:
        litdata.optimize(
            records,
            [slice(0, None)],
            path,
            chunk_bytes="64MB",
            num_workers=1,
            start_method="fork",
            verbose=False,
        )


def to_tar(data):
    import webdataset

    records = data.open()
    with (
        _made(data.path("data.tar")) as path,
        webdataset.TarWriter(path, encoder=False) as writer,
    ):
        for i in range(data.part()):
            writer.write({"__key__": f"{i:09}", "record": bytes(records[i])})


FORMATS = {
    "bagz": ("data.bag", to_bagz),
    "lmdb": ("data.lmdb", to_lmdb),
    "array_record": ("data.array_record", to_array_record),
    "idx": (None, to_idx),
    "lance": ("data.lance", to_lance),
    "datasets": ("data.arrow", to_arrow),
    "mds": ("data.mds", to_mds),
    "litdata": ("data.litdata", to_litdata),
    "webdataset": ("data.tar", to_tar),
}


def prepare(data, wanted=FORMATS):
    """Makes the copies that are missing; says why where a library is not there."""
    for name in wanted:
        file, make = FORMATS[name]
        path = data.path(file) if file else data.paths(".idx")[-1]
        if os.path.exists(path):
            continue
        begun = time.monotonic()
        try:
            make(data)
            print(f"{data.name}: {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
        except ImportError as error:
            print(f"{data.name}: {name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: sets.py FOLDER COPIES [SET]...")
    for given in sys.argv[3:] or FEATURES:
        prepare(Set(sys.argv[1], sys.argv[2], given))
