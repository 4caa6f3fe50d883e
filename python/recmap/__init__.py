"""recmap: any record of TFRecord files by number or by id, where they lie.

    import recmap

    ds = recmap.open("train-*.tfrecord")            # indexed when it is used for the first time
    record = ds[12345]                              # a memoryview into the mapped shard: no copy
    loader = recmap.Loader(ds, batch_size=256, shuffle=True, seed=7)
    for batch in loader:                            # one epoch, in a true random order
        state = loader.state_dict()                 # resume anywhere: loader.load_state_dict(state)

Threads: everything here may be used from many threads at once. Free-threaded builds of CPython have
no stable ABI: it cannot be built for them. Processes: data sets may be used in a child after fork;
loaders may not, and are pickled instead. One interpreter of a process can import it. Ctrl-C ends
indexing, `verify`, `schema` and waiting for a batch; `gather`, `parse` and `Order.at` end first.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._columns import BytesColumn, ColumnBatch, RaggedColumn, SparseColumn
from ._dataset import Columns, Dataset, RecordBatch
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
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    Sparse,
    UniformRowLength,
    ValueRowIds,
    VarLen,
)
from ._loader import Loader
from ._open import index, merge, open
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
from ._recmap import version as __version__
from ._writer import Writer, encode_example, encode_sequence_example

__all__ = [
    "Bucketed",
    "BytesColumn",
    "CancelledError",
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
    "Loader",
    "Mixture",
    "Order",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Ragged",
    "RaggedColumn",
    "RecordBatch",
    "RowLengths",
    "RowLimits",
    "RowSplits",
    "RowStarts",
    "Sequential",
    "Shuffled",
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
    "WithReplacement",
    "Writer",
    "__version__",
    "encode_example",
    "encode_sequence_example",
    "index",
    "merge",
    "open",
]

# Modules over frameworks: imported when they are used, so that none of those is needed.
_FRAMEWORKS = {"arrow", "grain", "huggingface", "ray", "tensorflow", "torch"}


def __getattr__(name: str) -> Any:
    if name in _FRAMEWORKS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
