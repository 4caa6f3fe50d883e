"""Types: which feature a column of Spark is, and its type in Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pyspark.sql import types

from .._dataset.dataset import Dataset

__all__ = ["Column", "columns_of", "inferred_schema"]

_KINDS: dict[type[types.DataType], tuple[str, Any]] = {
    types.LongType: ("int64", pa.int64()),
    types.IntegerType: ("int64", pa.int32()),
    types.ShortType: ("int64", pa.int16()),
    types.ByteType: ("int64", pa.int8()),
    types.BooleanType: ("int64", pa.bool_()),
    types.FloatType: ("float32", pa.float32()),
    types.DoubleType: ("float32", pa.float64()),
    types.StringType: ("bytes", pa.string()),
    types.BinaryType: ("bytes", pa.binary()),
}
_INFERRED = {"int64": types.LongType, "float": types.FloatType, "bytes": types.BinaryType}


@dataclass(frozen=True)
class Column:
    """A column: a value, a list of values, or, in a feature list, a list of lists of values."""

    name: str
    kind: str  # of the feature: "int64", "float32" or "bytes"
    element: Any  # the type of a value in Arrow
    depth: int


def column_of(field: types.StructField) -> Column:
    depth, kind = 0, field.dataType
    while isinstance(kind, types.ArrayType):
        depth, kind = depth + 1, kind.elementType
    if isinstance(kind, types.DecimalType):
        return Column(field.name, "float32", pa.decimal128(kind.precision, kind.scale), depth)
    if type(kind) not in _KINDS or depth > 2:
        raise TypeError(
            f"column {field.name!r}: {field.dataType.simpleString()} has no counterpart in a "
            f"TFRecord: cast it to a number, a string, binary, or an array of these"
        )
    return Column(field.name, *_KINDS[type(kind)], depth)


def columns_of(schema: types.StructType, record_type: str) -> list[Column]:
    columns = [column_of(field) for field in schema.fields]
    if record_type == "ByteArray":
        if [(column.kind, column.depth) for column in columns] != [("bytes", 0)]:
            raise TypeError("recordType ByteArray has one column, of type binary")
    elif record_type == "Example":
        for column in columns:
            if column.depth == 2:
                raise TypeError(
                    f"column {column.name!r}: arrays of arrays are feature lists: use the option "
                    "recordType=SequenceExample"
                )
    return columns


def inferred_schema(dataset: Dataset, sample: int | None, record_type: str) -> types.StructType:
    """The schema that a sample of the records suggests. All columns may be null."""
    if record_type == "ByteArray":
        return types.StructType([types.StructField("byteArray", types.BinaryType())])
    fields = []
    for name, members in dataset.schema(sample).items():
        lists = members.get("list", {}) if record_type == "SequenceExample" else {}
        for entry, is_list in ((members, False), (lists, True)):
            if entry.get("kind") not in _INFERRED:
                continue
            kind: types.DataType = _INFERRED[entry["kind"]]()
            if is_list or entry["max_length"] > 1:
                kind = types.ArrayType(kind)
            fields.append(types.StructField(name, types.ArrayType(kind) if is_list else kind))
    return types.StructType(fields)
