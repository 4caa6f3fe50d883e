"""recmap: random access, true shuffle and exact resume for TFRecord files.

    import recmap

    ds = recmap.open("train-*.tfrecord")            # indexed on first use
    record = ds[12345]                              # a memoryview into the mapped shard: no copy
    loader = recmap.Loader(ds, batch_size=256, shuffle=True, seed=7)
    for batch in loader:                            # one epoch, in a true random order
        state = loader.state_dict()                 # resume anywhere: loader.load_state_dict(state)

Threads: everything here is safe to use from many threads at once, also without the GIL. Each
version of free-threaded CPython needs a build of its own, because it lacks the stable ABI.

Processes: data sets can be used in a child after a fork. Loaders cannot: pickle them instead. Only
one interpreter of a process can import the package.

Interrupts: Ctrl-C stops indexing, `verify`, `schema`, `gather`, `parse`, `Order.at` and waiting for
a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base.imports import import_framework as _framework
from ._base.imports import import_module as _module

if TYPE_CHECKING:  # imported on first use: see __getattr__
    from . import arrow as arrow
    from . import grain as grain
    from . import huggingface as huggingface
    from . import metrics as metrics
    from . import ray as ray
    from . import spark as spark
    from . import storage as storage
    from . import tensorflow as tensorflow
    from . import torch as torch
    from . import webdataset as webdataset
    from ._base.errors import (
        CancelledError,
        ColumnNotFoundError,
        CorruptIndexError,
        CorruptRecordError,
        CorruptStateError,
        Error,
        FeatureError,
        FileMissingError,
        FilePermissionError,
        IdNotFoundError,
        InvalidError,
        OutOfMemoryError,
        OutOfRangeError,
        StaleIndexError,
        StateMismatchError,
        StorageError,
        UnsupportedError,
    )
    from ._columns import BytesColumn, ColumnBatch, RaggedColumn, RowBatch, SparseColumn
    from ._columns.record_batch import RecordBatch
    from ._dataset.concat import concat
    from ._dataset.dataset import Dataset
    from ._dataset.join import Joined, join
    from ._dataset.lifted import Columns
    from ._example.decode import decode_example
    from ._example.encode import encode_example, encode_sequence_example
    from ._example.features import (
        FixedLen,
        FixedLenSequence,
        Ragged,
        Sliced,
        Sparse,
        VarLen,
    )
    from ._example.partitions import (
        RowLengths,
        RowLimits,
        RowSplits,
        RowStarts,
        UniformRowLength,
        ValueRowIds,
    )
    from ._index.build import index, merge
    from ._index.open import open
    from ._index.writer import Writer
    from ._loader.joined import JoinedLoader
    from ._loader.loader import Loader
    from ._options.reading import Reading
    from ._options.storage import Storage
    from ._order.orders import (
        Bucketed,
        Grouped,
        Mixture,
        Order,
        Sequential,
        Shuffled,
        Stratified,
        Weighted,
        Windowed,
        WithReplacement,
    )
    from ._order.row_orders import Chunked, Packed, Windows
    from ._recmap import version as __version__

__all__ = [
    "Bucketed",
    "BytesColumn",
    "CancelledError",
    "Chunked",
    "ColumnBatch",
    "ColumnNotFoundError",
    "Columns",
    "CorruptIndexError",
    "CorruptRecordError",
    "CorruptStateError",
    "Dataset",
    "Error",
    "FeatureError",
    "FileMissingError",
    "FilePermissionError",
    "FixedLen",
    "FixedLenSequence",
    "Grouped",
    "IdNotFoundError",
    "InvalidError",
    "Joined",
    "JoinedLoader",
    "Loader",
    "Mixture",
    "Order",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Packed",
    "Ragged",
    "RaggedColumn",
    "Reading",
    "RecordBatch",
    "RowBatch",
    "RowLengths",
    "RowLimits",
    "RowSplits",
    "RowStarts",
    "Sequential",
    "Shuffled",
    "Sliced",
    "Sparse",
    "SparseColumn",
    "StaleIndexError",
    "StateMismatchError",
    "Storage",
    "StorageError",
    "Stratified",
    "UniformRowLength",
    "UnsupportedError",
    "ValueRowIds",
    "VarLen",
    "Weighted",
    "Windowed",
    "Windows",
    "WithReplacement",
    "Writer",
    "__version__",
    "concat",
    "decode_example",
    "encode_example",
    "encode_sequence_example",
    "index",
    "join",
    "merge",
    "open",
]

# The public names of each module, which is imported when one of them is first used. Most of the
# time goes into NumPy, which these modules import.
_NAMES = {
    "_columns": ("BytesColumn", "ColumnBatch", "RaggedColumn", "RowBatch", "SparseColumn"),
    "_columns.record_batch": ("RecordBatch",),
    "_dataset.concat": ("concat",),
    "_dataset.dataset": ("Dataset",),
    "_dataset.join": ("Joined", "join"),
    "_dataset.lifted": ("Columns",),
    "_base.errors": (
        "CancelledError",
        "ColumnNotFoundError",
        "CorruptIndexError",
        "CorruptRecordError",
        "CorruptStateError",
        "Error",
        "FeatureError",
        "FileMissingError",
        "FilePermissionError",
        "IdNotFoundError",
        "InvalidError",
        "OutOfMemoryError",
        "OutOfRangeError",
        "StaleIndexError",
        "StateMismatchError",
        "StorageError",
        "UnsupportedError",
    ),
    "_example.decode": ("decode_example",),
    "_example.encode": ("encode_example", "encode_sequence_example"),
    "_example.features": ("FixedLen", "FixedLenSequence", "Ragged", "Sliced", "Sparse", "VarLen"),
    "_example.partitions": (
        "RowLengths",
        "RowLimits",
        "RowSplits",
        "RowStarts",
        "UniformRowLength",
        "ValueRowIds",
    ),
    "_index.build": ("index", "merge"),
    "_index.open": ("open",),
    "_index.writer": ("Writer",),
    "_loader.joined": ("JoinedLoader",),
    "_loader.loader": ("Loader",),
    "_options.reading": ("Reading",),
    "_options.storage": ("Storage",),
    "_order.orders": (
        "Bucketed",
        "Grouped",
        "Mixture",
        "Order",
        "Sequential",
        "Shuffled",
        "Stratified",
        "Weighted",
        "Windowed",
        "WithReplacement",
    ),
    "_order.row_orders": ("Chunked", "Packed", "Windows"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

# Modules for frameworks and other formats: the frameworks are optional.
_FRAMEWORKS = {
    "arrow",
    "grain",
    "huggingface",
    "metrics",
    "ray",
    "spark",
    "storage",
    "tensorflow",
    "torch",
    "webdataset",
}


if not TYPE_CHECKING:  # type checkers would take any name for a known one

    def __getattr__(name: str) -> Any:
        if name in _FRAMEWORKS:
            return _framework(name)
        if name in _MODULES:
            value = getattr(_module(_MODULES[name]), name)
        elif name == "__version__":
            value = _module("_recmap").version
        else:
            ours = name.removesuffix("Feature")  # of tf.io: FixedLenFeature
            advice = f": write recmap.{ours}, or pass tf.io.{name}" if ours in _MODULES else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
        globals()[name] = value  # the next access does not come here
        return value


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted({*__all__, *_FRAMEWORKS})
