"""Types: which feature a column of Spark is, and its type in Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pyspark.sql import types

from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._display.text import joined

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
    nullable: tuple[bool, ...]  # the column, its elements, and theirs

    def type_in(self, level: int) -> Any:
        """The type in Arrow of the column at level 0, of its elements at 1, of theirs at 2."""
        if level == self.depth:
            return self.element
        inner = pa.field("element", self.type_in(level + 1), self.nullable[level + 1])
        return pa.list_(inner)

    @property
    def field(self) -> Any:
        """The column in a schema of Arrow."""
        return pa.field(self.name, self.type_in(0), self.nullable[0])


def column_of(field: types.StructField) -> Column:
    depth, kind, nullable = 0, field.dataType, [field.nullable]
    while isinstance(kind, types.ArrayType):
        nullable.append(kind.containsNull)
        depth, kind = depth + 1, kind.elementType
    if isinstance(kind, types.DecimalType):
        element = pa.decimal128(kind.precision, kind.scale)
        return Column(field.name, "float32", element, depth, tuple(nullable))
    if type(kind) not in _KINDS or depth > 2:
        raise TypeError(
            f"column {field.name!r}: {field.dataType.simpleString()} has no counterpart in a "
            f"TFRecord: cast it to a number, a string, binary, or an array of these"
        )
    return Column(field.name, *_KINDS[type(kind)], depth, tuple(nullable))


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
    """The schema that a sample of the records suggests. All columns may be null.

    Raises:
        ValueError: it would leave out features that have values.
    """
    if record_type == "ByteArray":
        return types.StructType([types.StructField("byteArray", types.BinaryType())])
    schema = dataset.schema(sample)
    _refuse_omissions(schema, record_type)
    fields = []
    for name, members in schema.items():
        lists = members.get("list", {}) if record_type == "SequenceExample" else {}
        for entry, is_list in ((members, False), (lists, True)):
            if entry.get("kind") not in _INFERRED:
                continue
            kind: types.DataType = _INFERRED[entry["kind"]]()
            if is_list or not entry["min_length"] == entry["max_length"] == 1:
                kind = types.ArrayType(kind)
            fields.append(types.StructField(name, types.ArrayType(kind) if is_list else kind))
    if not fields:
        raise ValueError(
            f"{dataset.index_path}: no record has features to infer the schema from: pass a schema "
            f"with .schema(...), or another recordType than {record_type}"
        )
    return types.StructType(fields)


def _refuse_omissions(schema: Mapping[str, Mapping[str, Any]], record_type: str) -> None:
    """Refuses to infer a schema without features that have values, and warns of those without."""
    is_example = record_type == "Example"
    lists = {name: members["list"] for name, members in schema.items() if "list" in members}
    if lists and is_example:
        raise ValueError(
            f"the records have feature lists, {_quoted(lists)}: read them with another recordType "
            "than Example, SequenceExample, or name the columns that you need with .schema(...)"
        )
    entries = [*schema.items(), *lists.items()]
    mixed = [name for name, entry in entries if entry.get("kind") == "mixed"]
    if mixed:
        raise ValueError(
            f"features have values of several kinds, which no column holds: {_quoted(mixed)}: name "
            "the columns that you need with .schema(...), or use recordType=ByteArray"
        )
    unset = [name for name, entry in entries if entry.get("kind") == "unset"]
    if unset:
        warn_caller(
            f"features without a value in the sample are left out of the schema: {_quoted(unset)}. "
            "Name them with .schema(...) to read them"
        )


def _quoted(names: Iterable[str]) -> str:
    listed = list(names)
    return joined(map(repr, listed), len(listed), 20)
