"""recmap: random access, true shuffle and exact resume for TFRecord files.

    import recmap

    ds = recmap.open("train-*.tfrecord")            # indexed on first use
    record = ds[12345]                              # a memoryview into the mapped shard: no copy
    loader = recmap.Loader(ds, batch_size=256, shuffle=True, seed=7)
    for batch in loader:                            # one epoch, in a true random order
        state = loader.state_dict()                 # resume anywhere: loader.load_state_dict(state)

Threads: everything here is safe to use from many threads at once. Free-threaded builds of CPython
are not supported, because they lack the stable ABI.

Processes: data sets can be used in a child after a fork. Loaders cannot: pickle them instead. Only
one interpreter of a process can import the package.

Interrupts: Ctrl-C stops indexing, `verify`, `schema`, `gather`, `parse`, `Order.at` and waiting for
a batch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported on first use: see __getattr__
    from ._build import index, merge
    from ._columns import BytesColumn, ColumnBatch, RaggedColumn, RowBatch, SparseColumn
    from ._concat import concat
    from ._dataset import Dataset
    from ._decode import decode_example
    from ._encode import encode_example, encode_sequence_example
    from ._errors import (
        CancelledError,
        CorruptIndexError,
        CorruptRecordError,
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
    from ._features import (
        FixedLen,
        FixedLenSequence,
        Ragged,
        Sliced,
        Sparse,
        VarLen,
    )
    from ._join import Joined, join
    from ._lifted import Columns
    from ._loader import Loader
    from ._open import open
    from ._orders import (
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
    from ._partitions import (
        RowLengths,
        RowLimits,
        RowSplits,
        RowStarts,
        UniformRowLength,
        ValueRowIds,
    )
    from ._recmap import version as __version__
    from ._record_batch import RecordBatch
    from ._row_orders import Chunked, Packed, Windows
    from ._writer import Writer

__all__ = [
    "Bucketed",
    "BytesColumn",
    "CancelledError",
    "Chunked",
    "ColumnBatch",
    "Columns",
    "CorruptIndexError",
    "CorruptRecordError",
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
    "Loader",
    "Mixture",
    "Order",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Packed",
    "Ragged",
    "RaggedColumn",
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
    "_build": ("index", "merge"),
    "_columns": ("BytesColumn", "ColumnBatch", "RaggedColumn", "RowBatch", "SparseColumn"),
    "_concat": ("concat",),
    "_dataset": ("Dataset",),
    "_decode": ("decode_example",),
    "_encode": ("encode_example", "encode_sequence_example"),
    "_errors": (
        "CancelledError",
        "CorruptIndexError",
        "CorruptRecordError",
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
    "_features": ("FixedLen", "FixedLenSequence", "Ragged", "Sliced", "Sparse", "VarLen"),
    "_join": ("Joined", "join"),
    "_lifted": ("Columns",),
    "_loader": ("Loader",),
    "_open": ("open",),
    "_orders": (
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
    "_partitions": (
        "RowLengths",
        "RowLimits",
        "RowSplits",
        "RowStarts",
        "UniformRowLength",
        "ValueRowIds",
    ),
    "_record_batch": ("RecordBatch",),
    "_row_orders": ("Chunked", "Packed", "Windows"),
    "_writer": ("Writer",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

# Modules for frameworks and other formats: the frameworks are optional.
_FRAMEWORKS = {
    "arrow",
    "grain",
    "huggingface",
    "metrics",
    "ray",
    "tensorflow",
    "torch",
    "webdataset",
}


def __getattr__(name: str) -> Any:
    if name in _FRAMEWORKS:
        return importlib.import_module(f".{name}", __name__)
    if name in _MODULES:
        value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    elif name == "__version__":
        value = importlib.import_module("._recmap", __name__).version
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted({*__all__, *_FRAMEWORKS})
