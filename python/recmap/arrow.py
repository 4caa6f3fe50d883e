"""recmap with Arrow, pandas, Polars and DuckDB: tables without views, and streams of batches.

A batch can be used as a table directly: ``pyarrow.table(batch)`` and ``polars.DataFrame(batch)``
copy nothing, and their bytes are views into the mapped shards (Arrow's ``binary_view``). The
functions of this module copy bytes, for libraries that do not support views, and for tables that
live long:

    pandas = recmap.arrow.table(ds.parse(range(1000), features)).to_pandas()
    for batch in recmap.arrow.reader(loader): ...           # to the epoch's end

Needs the package pyarrow (``pip install recmap[arrow]``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ._base.names import suggest_arguments
from ._columns import ColumnBatch, RowBatch, rows_of_batch
from ._columns.record_batch import RecordBatch
from ._example.draws import Draws
from ._loader.joined import check_loader
from ._loader.loader import Loader

__all__ = ["lists", "reader", "table"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


@suggest_arguments
def table(batch: RecordBatch | ColumnBatch, *, tensor: Callable[[Any], Any] | None = None) -> Any:
    """A ``pyarrow.Table`` of a batch: a column "bytes" for records, else the columns by name. Of
    rows, with the additional "segment_ids", "positions" and "mask", or only "mask" for windows.

    Copies bytes into ``large_binary``, but not numbers.

    Args:
        tensor: converts the NumPy array of a column with two or more dimensions to an Arrow array:
            `lists`, or a function of a framework. None: Arrow's ``fixed_shape_tensor``, and lists
            of fixed size for values with one dimension. Sequences always become lists.

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
    return _with_layout(pa.table(columns), batch, tensor or _fixed_lists)


def _with_layout(made: Any, batch: ColumnBatch, tensor: Callable[[Any], Any]) -> Any:
    """The table, with what tells pieces and padding of rows apart."""
    layout = batch.layout if isinstance(batch, RowBatch) else {}
    for name, array in layout.items():
        made = made.append_column(name, tensor(array))
    return made


def _fixed_lists(array: Any) -> Any:
    """As the library exports values with one dimension; bits are packed, as Arrow has them."""
    return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])


def lists(array: Any) -> Any:
    """Lists of fixed size, nested like the dimensions of a NumPy array."""
    column = pa.array(array.reshape(-1))
    for size in reversed(array.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


@suggest_arguments
def reader(loader: Loader[Any], *, views: bool = False) -> Any:
    """A ``pyarrow.RecordBatchReader`` with a loader's batches up to the end of the epoch.

    Anything that reads Arrow streams accepts it: ``polars.DataFrame``, ``duckdb.from_arrow``,
    dataset writers. A loader has one iterator at a time. Its `state_dict` is the state after the
    batches read so far.

    Args:
        views: give bytes as views into the shards instead of copies.

    >>> loader = recmap.Loader(digits(), 500, features={"label": recmap.FixedLen((), "int64")})
    >>> [batch.num_rows for batch in recmap.arrow.reader(loader)]
    [500, 500, 500, 297]
    """
    check_loader(loader)
    if loader._arguments["transform"] is not None:
        raise ValueError("the loader has a transform, whose results are not batches of columns")
    if loader._arguments["feature_lists"] is not None:
        raise ValueError(
            "batches of SequenceExample are pairs: use table(batch[0]), table(batch[1])"
        )

    def exported(batch: Any) -> Any:
        if not views:
            return table(batch)
        if isinstance(batch, ColumnBatch):
            return _with_layout(pa.table(batch), batch, _fixed_lists)
        return pa.table({"bytes": pa.array(batch)})

    schema = exported(_empty(loader)).schema

    def batches() -> Iterator[Any]:
        for batch in loader:
            yield from exported(batch).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _empty(loader: Loader[Any]) -> RecordBatch | ColumnBatch:
    """A batch of no records or rows, with the schema of the loader's batches."""
    features = loader._arguments["features"]
    if features is None:
        return loader.dataset.gather([])
    if not loader.order.row_width:
        return loader.dataset._parse_columns([], features, Draws(0, 0))
    assert loader._parser is not None
    none = np.empty(0, np.uint64)
    rows = loader.dataset._rows(loader._parser, loader._order, 0, none, loader._seed)
    return rows_of_batch(cast(RecordBatch, rows), loader._form)


def _without_views(array: Any) -> Any:
    """The array with binary views, which point into shards, replaced by copies."""
    kind = _type_without_views(array.type)
    return array if kind == array.type else array.cast(kind)


def _type_without_views(kind: Any) -> Any:
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_type_without_views(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_type_without_views(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(
            kind.value_field.with_type(_type_without_views(kind.value_type)), kind.list_size
        )
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_type_without_views(field.type)) for field in kind])
    return kind
