"""What is to be read out of records of tf.Example."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from . import _recmap

__all__ = [
    "FixedLen",
    "FixedLenSequence",
    "Ragged",
    "RowLengths",
    "RowLimits",
    "RowSplits",
    "RowStarts",
    "Sparse",
    "UniformRowLength",
    "ValueRowIds",
    "VarLen",
]

_FLOATS = {"float32", "float16", "bfloat16", "float64"}


def _element(dtype: Any) -> str:
    """The library's name of an element: of a name, a Python type, or a dtype of any framework."""
    plain = {bytes: "bytes", str: "bytes", int: "int64", float: "float32", bool: "bool"}
    if isinstance(dtype, type) and dtype in plain:
        return plain[dtype]
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None and isinstance(dtype, type) and issubclass(dtype, np.generic):
        name = np.dtype(dtype).name
    name = str(dtype) if name is None else name
    name = name.removeprefix("torch.")
    if name in ("string", "object") or name.startswith(("bytes", "str")):
        return "bytes"
    return {"float": "float32", "double": "float64", "half": "float16", "int": "int64"}.get(
        name, name
    )


def _shape(shape: Any) -> tuple[int, ...]:
    """Of an int, a sequence, or a tf.TensorShape."""
    sizes = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    if any(not hasattr(size, "__index__") or size < 0 for size in sizes):
        raise ValueError(f"the shape {shape!r} is not of whole sizes")
    return tuple(map(operator.index, sizes))


def _defaults(default: Any, element: str) -> tuple[Any, ...]:
    if default is None:
        return ()
    if element == "bytes":
        values = [default] if isinstance(default, (bytes, str)) else np.ravel(default).tolist()
        return tuple(value.encode() if isinstance(value, str) else value for value in values)
    values = np.ravel(np.asarray(default)).tolist()
    return tuple(map(float if element in _FLOATS else int, values))


Row: TypeAlias = tuple[Any, ...]


def _row(
    kind: int,
    name: str,
    key: str | None,
    element: str,
    *,
    copy: bool = False,
    shape: tuple[int, ...] = (),
    raw: bool = False,
    default: Any = None,
    ragged: bool = False,
    partitions: tuple[Any, ...] = (),
    index_keys: tuple[str, ...] = (),
    sizes: tuple[int, ...] = (),
    already_sorted: bool = False,
) -> Row:
    """A feature as the extension takes it."""
    defaults = _defaults(default, element)
    head = (name, key, kind, element, copy, shape, raw, defaults, ragged)
    return (*head, partitions, index_keys, sizes, already_sorted)


@dataclass(frozen=True)
class FixedLen:
    """As many values in every record as `shape` says: a NumPy array [rows, *shape].

    Args:
        shape: of a record: () for a scalar, an int, or dimensions.
        dtype: of the array: "int64", "float32", bytes, or narrower ones ("int32", "uint8", "bool",
            "float16", "bfloat16", ...): a value that does not fit is an error. bytes give a
            `BytesColumn`.
        default: for records without the feature: one value, or as many as the shape has. None: such
            a record is an error.
        key: the feature's name in the record, where the column is called otherwise.
        raw: the record has one bytes value that holds the elements, as tf.io.decode_raw reads it.
        copy: bytes are copied into one buffer, instead of viewed.
    """

    shape: Any = ()
    dtype: Any = "int64"
    default: Any = None
    key: str | None = None
    raw: bool = False
    copy: bool = False

    def _row(self, name: str) -> Row:
        element = _element(self.dtype)
        return _row(
            1,
            name,
            self.key,
            element,
            shape=_shape(self.shape),
            default=self.default,
            raw=self.raw,
            copy=self.copy,
        )


@dataclass(frozen=True)
class VarLen:
    """Any number of values a record: a `RaggedColumn`. Arguments as of `FixedLen`."""

    dtype: Any = "int64"
    key: str | None = None
    raw: bool = False
    copy: bool = False

    def _row(self, name: str) -> Row:
        element = _element(self.dtype)
        return _row(2, name, self.key, element, raw=self.raw, copy=self.copy)


@dataclass(frozen=True)
class FixedLenSequence:
    """Any number of steps of `shape` each: an array [rows, longest, *shape], padded with `default`.

    With ``ragged=True`` a `RaggedColumn` of steps. Other arguments as of `FixedLen`.
    """

    shape: Any = ()
    dtype: Any = "int64"
    default: Any = None
    ragged: bool = False
    key: str | None = None
    raw: bool = False
    copy: bool = False

    def _row(self, name: str) -> Row:
        return _row(
            3,
            name,
            self.key,
            _element(self.dtype),
            shape=_shape(self.shape),
            default=self.default,
            ragged=self.ragged,
            raw=self.raw,
            copy=self.copy,
        )


@dataclass(frozen=True)
class _Partition:
    key: str


class RowSplits(_Partition):
    """Rows end and begin at the numbers of an int64 feature, from 0 to the count."""


class RowLengths(_Partition):
    """An int64 feature has the length of each row."""


class RowStarts(_Partition):
    """An int64 feature has the place at which each row begins."""


class RowLimits(_Partition):
    """An int64 feature has the place at which each row ends."""


class ValueRowIds(_Partition):
    """An int64 feature has the row of each value."""


@dataclass(frozen=True)
class UniformRowLength:
    """Every row has this length."""

    length: int


_PARTITIONS = {
    "RowSplits": 1,
    "RowLengths": 2,
    "RowStarts": 3,
    "RowLimits": 4,
    "ValueRowIds": 5,
    "UniformRowLength": 6,
}


def _partition(partition: Any) -> tuple[int, str | None, int]:
    kind = _PARTITIONS.get(type(partition).__name__)
    if kind is None:
        raise TypeError(f"a partition is one of {', '.join(_PARTITIONS)}, not {partition!r}")
    return kind, getattr(partition, "key", None), int(getattr(partition, "length", 0))


@dataclass(frozen=True)
class Ragged:
    """Values cut into nested rows by other features: a `RaggedColumn`, nested.

    Args:
        partitions: `RowSplits`, `RowLengths`, ..., from the outermost to the innermost.
    """

    dtype: Any
    partitions: Sequence[Any]
    key: str | None = None
    copy: bool = False

    def _row(self, name: str) -> Row:
        partitions = tuple(_partition(partition) for partition in self.partitions)
        element = _element(self.dtype)
        return _row(4, name, self.key, element, partitions=partitions, copy=self.copy)


@dataclass(frozen=True)
class Sparse:
    """Values at coordinates that other features give: a `SparseColumn`.

    Args:
        index_key: an int64 feature with the coordinate of each value; a list: one a dimension.
        value_key: the feature with the values.
        size: of the dimension; a list: one a dimension.
        already_sorted: values come in the order of their coordinates; this is trusted.
    """

    index_key: str | Sequence[str]
    value_key: str
    dtype: Any
    size: int | Sequence[int]
    already_sorted: bool = False

    def _row(self, name: str) -> Row:
        keys = (self.index_key,) if isinstance(self.index_key, str) else tuple(self.index_key)
        return _row(
            5,
            name,
            self.value_key,
            _element(self.dtype),
            index_keys=keys,
            sizes=_shape(self.size),
            already_sorted=self.already_sorted,
        )


def _of_tensorflow(feature: Any) -> Any:
    """The same as one of tf.io's, known by its name: TensorFlow is not imported."""
    kind = type(feature).__name__
    if kind == "FixedLenFeature":
        return FixedLen(feature.shape, feature.dtype, feature.default_value)
    if kind == "VarLenFeature":
        return VarLen(feature.dtype)
    if kind == "FixedLenSequenceFeature":
        return FixedLenSequence(feature.shape, feature.dtype, feature.default_value)
    if kind == "RaggedFeature":
        if not feature.partitions:
            return VarLen(feature.dtype, key=feature.value_key)
        return Ragged(feature.dtype, list(feature.partitions), key=feature.value_key)
    if kind == "SparseFeature":
        return Sparse(
            feature.index_key,
            feature.value_key,
            feature.dtype,
            feature.size,
            feature.already_sorted,
        )
    raise TypeError(f"{feature!r} is no feature: FixedLen, VarLen, ... or one of tf.io's")


Feature: TypeAlias = FixedLen | VarLen | FixedLenSequence | Ragged | Sparse
Features: TypeAlias = Mapping[str, Any]


def feature_of(given: Any) -> Feature:
    """A feature as it is, or the same as one of tf.io's."""
    known = isinstance(given, (FixedLen, VarLen, FixedLenSequence, Ragged, Sparse))
    feature: Feature = given if known else _of_tensorflow(given)
    return feature


def _rows(features: Features) -> tuple[Row, ...]:
    rows = []
    for name, feature in features.items():
        if not isinstance(name, str):
            raise TypeError(f"features have names, not {name!r}")
        try:
            rows.append(feature_of(feature)._row(name))
        except (TypeError, ValueError, OverflowError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"feature {name!r}: {error}") from error
    return tuple(rows)


def parser_of(features: Features, lists: Features | None = None) -> _recmap.Parser:
    """Features, compiled once; with `lists` of SequenceExample."""
    for given in (features, {} if lists is None else lists):
        if not isinstance(given, Mapping):
            raise TypeError("features are a dict: {name: recmap.FixedLen(...), ...}")
    return _recmap.Parser(_rows(features), None if lists is None else _rows(lists))
