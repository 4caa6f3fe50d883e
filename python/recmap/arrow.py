"""recmap in Arrow, pandas, Polars and DuckDB: tables without views, streams of a loader.

A batch is a table already: ``pyarrow.table(batch)``, ``polars.DataFrame(batch)`` copy nothing, and
their bytes are views into the mapped shards (Arrow's ``binary_view``). What is here copies bytes,
for those who cannot take views, or who keep little of much:

    pandas = recmap.arrow.table(ds.parse(range(1000), features)).to_pandas()
    for batch in recmap.arrow.reader(loader): ...           # to the epoch's end

Needs the package pyarrow (``pip install recmap[arrow]``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ._columns import ColumnBatch
from ._dataset import RecordBatch
from ._loader import Loader

__all__ = ["lists", "reader", "table"]


def table(batch: RecordBatch | ColumnBatch, *, tensor: Callable[[Any], Any] | None = None) -> Any:
    """A ``pyarrow.Table``: of records the column "bytes", of columns each by its name.

    Numbers are not copied; bytes are, into ``large_binary``.

    Args:
        tensor: makes the Arrow array of a column whose values have a shape of two dimensions or
            more, out of its NumPy array: `lists`, or a framework's own; None: Arrow's
            ``fixed_shape_tensor``. Values of one dimension are lists of fixed size then, and
            sequences are lists always.

    >>> recmap.arrow.table(digits().gather([5, 1])).schema
    bytes: large_binary
    """
    if not isinstance(batch, ColumnBatch):
        return pa.table({"bytes": _without_views(pa.array(batch))})
    exported, sequences = pa.record_batch(batch), batch.lengths
    columns = {}
    for name in batch:
        column = batch[name] if tensor is not None and name not in sequences else None
        if tensor is not None and isinstance(column, np.ndarray) and column.ndim > 1:
            columns[name] = tensor(column)
        else:
            columns[name] = _without_views(exported[name])
    return pa.table(columns)


def lists(array: Any) -> Any:
    """Lists of fixed size, nested as the dimensions of a NumPy array are."""
    column = pa.array(array.reshape(-1))
    for size in reversed(array.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


def reader(loader: Loader, *, views: bool = False) -> Any:
    """A ``pyarrow.RecordBatchReader`` of a loader's batches, to the end of the epoch.

    Whatever takes Arrow streams takes it: ``polars.DataFrame``, ``duckdb.from_arrow``, dataset
    writers. One iterator of a loader at a time; its `state_dict` tells what was taken out.

    Args:
        views: bytes are views into the shards, not copies.

    >>> loader = recmap.Loader(digits(), 500, features={"label": recmap.FixedLen()})
    >>> [batch.num_rows for batch in recmap.arrow.reader(loader)]
    [500, 500, 500, 297]
    """
    if loader._arguments["transform"] is not None:
        raise ValueError("what a transform makes is no batch of columns")
    if loader._arguments["feature_lists"] is not None:
        raise ValueError("batches of SequenceExample are two tables: table(batch[0]) and so on")
    features = loader._arguments["features"]
    nothing = loader.dataset.gather([]) if features is None else loader.dataset.parse([], features)

    def exported(batch: Any) -> Any:
        if not views:
            return table(batch)
        if isinstance(batch, ColumnBatch):
            return pa.table(batch)
        return pa.table({"bytes": pa.array(batch)})

    schema = exported(nothing).schema

    def batches() -> Iterator[Any]:
        for batch in loader:
            yield from exported(batch).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _without_views(array: Any) -> Any:
    """The array with binary views, which point into shards, copied to binary of its own."""
    kind = _own(array.type)
    return array if kind == array.type else array.cast(kind)


def _own(kind: Any) -> Any:
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_own(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_own(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_own(kind.value_type)), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_own(field.type)) for field in kind])
    return kind
