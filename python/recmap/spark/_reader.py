"""Reading: records in file order as batches of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from pyspark.sql import datasource as sources
from pyspark.sql import types

from .._base.numbers import Int64s, cuts_of
from .._dataset.dataset import Dataset
from .._example.features import VarLen
from ..arrow import table as table_of
from ._advice import spark_errors
from ._settings import Settings
from ._types import Column, columns_of

__all__ = ["Reader"]

pc: Any = pyarrow.compute  # its functions are made at run time

_PARTITION_SIZE = 64 << 20  # bytes of records of a task, unless the option "partitions" is given
_BATCH_SIZE = 16 << 20  # bytes of records of an Arrow batch
_BATCH_ROWS = 10_000
_CHUNK_ROWS = 1 << 20  # values of a column that are in memory at the same time


@dataclass
class _Records(sources.InputPartition):
    """The records of a task: ascending positions in the data set."""

    positions: range | Int64s


def _taken(column: Any, name: str, numbers: npt.NDArray[Any]) -> Any:
    """The value of each list, which has at most one; null for an empty list."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    if (lengths > 1).any():
        row = int(np.argmax(lengths > 1))
        raise ValueError(
            f"column {name!r}: record {numbers[row]} has {lengths[row]} values: give the column an "
            f"array type in the schema"
        )
    places = np.cumsum(lengths) - 1
    return column.flatten().take(pa.array(places, mask=lengths == 0))


def _cast(values: Any, column: Column) -> Any:
    try:
        return values.cast(column.element)
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"column {column.name!r}: {error}: use a larger type in the schema, or binary for "
            f"text that is not UTF-8"
        ) from None


def _relisted(column: Any, element: Any, kind: Any) -> Any:
    """The lists, with other elements, and the offsets and the type that Spark expects."""
    offsets = column.offsets.cast(pa.int32())
    if column.null_count:
        offsets = pc.if_else(pa.array([*column.is_valid().to_pylist(), True]), offsets, None)
    return pa.ListArray.from_arrays(offsets, element, type=kind)


def _spark_array(table: Any, column: Column, numbers: npt.NDArray[Any]) -> Any:
    """The column as Spark expects it."""
    array = table[column.name].combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    if column.depth == 0:
        return _cast(_taken(array, column.name, numbers), column)
    if column.depth == 1:
        return _relisted(array, _cast(array.values, column), column.type_in(0))
    inner = array.values
    inner = _relisted(inner, _cast(inner.values, column), column.type_in(1))
    return _relisted(array, inner, column.type_in(0))


def _check_nulls(array: Any, column: Column, numbers: npt.NDArray[Any]) -> None:
    if array.null_count and not column.nullable[0]:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(
            f"column {column.name!r}: record {numbers[row]} has no such feature, but the schema "
            f"says that the column is never null"
        )


class Reader(sources.DataSourceReader):
    """Reads records in file order: all, or those that the option where selects.

    It takes no filters: Spark 4.3 keeps the reader of a DataFrame with the filters of the query
    that was planned last, and also uses it for its other queries.
    """

    def __init__(self, dataset: Dataset, schema: types.StructType, settings: Settings) -> None:
        self.dataset = dataset
        self.columns = columns_of(schema, settings.record_type)
        self.record_type = settings.record_type
        self.partition_count = settings.partitions
        self.where = settings.where
        self.place = settings.place()

    def partitions(self) -> Sequence[sources.InputPartition]:
        """Equal numbers of records for each task, whatever the sizes of the shards."""
        with spark_errors(self.place):
            chosen = self._chosen()
            count = self.partition_count or max(1, self._size(chosen) // _PARTITION_SIZE)
        cuts = cuts_of(len(chosen), max(1, min(count, len(chosen))))
        return [_Records(chosen[first:end]) for first, end in pairwise(cuts)]

    def _chosen(self) -> range | Int64s:
        if self.where is None:
            return range(len(self.dataset))
        return np.flatnonzero(self.dataset._mask_of(self.where))

    def _lengths(self, given: range | Int64s) -> Int64s:
        """The sizes of the records at ascending positions."""
        positions = np.asarray(given)
        lengths = np.empty(len(positions), np.int64)
        begin = 0
        while begin < len(positions):
            first = int(positions[begin])
            end = int(np.searchsorted(positions, first + _CHUNK_ROWS))
            near = self.dataset.columns._range("@length", first, int(positions[end - 1]) + 1)
            lengths[begin:end] = near[positions[begin:end] - first]
            begin = end
        return lengths

    def _size(self, positions: range | Int64s) -> int:
        chunks = range(0, len(positions), _CHUNK_ROWS)
        return sum(int(self._lengths(positions[i : i + _CHUNK_ROWS]).sum()) for i in chunks)

    def read(self, partition: Any) -> Iterator[Any]:
        if not len(partition.positions):
            return
        numbers = np.asarray(partition.positions)
        with spark_errors(self.place):
            sizes = np.cumsum(self._lengths(numbers))
        first = 0
        while first < len(numbers):
            begin = sizes[first - 1] if first else 0
            end = int(np.searchsorted(sizes, begin + _BATCH_SIZE, side="right"))
            end = min(max(end, first + 1), first + _BATCH_ROWS)
            yield self._batch(numbers[first:end])
            first = end

    def _batch(self, numbers: npt.NDArray[np.int64]) -> Any:
        arrays = []
        for column, table in zip(self.columns, self._tables(numbers), strict=True):
            if self.record_type == "ByteArray":
                arrays.append(_cast(table["bytes"].combine_chunks(), column))
            else:
                arrays.append(_spark_array(table, column, numbers))
        for array, column in zip(arrays, self.columns, strict=True):
            _check_nulls(array, column, numbers)
        schema = pa.schema([column.field for column in self.columns])
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _tables(self, numbers: npt.NDArray[np.int64]) -> list[Any]:
        """For each column, the table that it is in."""
        with spark_errors(self.place):
            return self._parsed(numbers)

    def _parsed(self, numbers: npt.NDArray[np.int64]) -> list[Any]:
        if self.record_type == "ByteArray":
            return [table_of(self.dataset.gather(numbers))]
        features = {c.name: VarLen(c.kind) for c in self.columns if c.depth < 2}
        lists = {c.name: VarLen(c.kind) for c in self.columns if c.depth == 2}
        if self.record_type == "Example":
            table = table_of(self.dataset.parse(numbers, features, missing="ignore"))
            return [table] * len(self.columns)
        both = self.dataset.parse_sequence(numbers, features, lists, missing="ignore")
        context, steps = map(table_of, both)
        return [steps if column.depth == 2 else context for column in self.columns]
