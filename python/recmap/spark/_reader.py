"""Reading: ranges of record numbers as batches of Arrow."""

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

from .._dataset.dataset import Dataset
from .._example.features import VarLen
from .._numbers import cuts_of
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
    """The records of a task: those with numbers in a range."""

    first: int
    end: int


def _taken(column: Any, name: str, numbers: npt.NDArray[Any]) -> Any:
    """The only values of lists of at most one value; null for a list without one."""
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
    """Reads ranges of records. It takes no filters: Spark 4.3 keeps the reader of a DataFrame with
    the filters of the query that was planned last, and uses it for its other queries, too."""

    def __init__(self, dataset: Dataset, schema: types.StructType, settings: Settings) -> None:
        self.dataset = dataset
        self.columns = columns_of(schema, settings.record_type)
        self.record_type = settings.record_type
        self.partition_count = settings.partitions
        self.place = settings.place()

    def partitions(self) -> Sequence[sources.InputPartition]:
        """Ranges with equal numbers of records, whatever the sizes of the shards."""
        with spark_errors(self.place):
            count = self.partition_count or max(1, self._size() // _PARTITION_SIZE)
        cuts = cuts_of(len(self.dataset), max(1, min(count, len(self.dataset))))
        return [_Records(first, end) for first, end in pairwise(cuts)]

    def _lengths(self, first: int, end: int) -> npt.NDArray[Any]:
        return self.dataset.columns._range("@length", first, end)

    def _size(self) -> int:
        count, size = len(self.dataset), 0
        for first in range(0, count, _CHUNK_ROWS):
            size += int(self._lengths(first, min(first + _CHUNK_ROWS, count)).sum())
        return size

    def read(self, partition: Any) -> Iterator[Any]:
        first, end = partition.first, partition.end
        if first == end:
            return
        numbers = np.arange(first, end)
        with spark_errors(self.place):
            sizes = np.cumsum(self._lengths(first, end), dtype=np.int64)
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
