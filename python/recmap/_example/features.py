"""Features: what to parse from records of tf.Example."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from .. import _recmap
from .._base.flags import true_or_false
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.renamed import NO_DTYPE, warn_without_dtype
from .boxes import Boxes
from .call_repr import CallRepr
from .elements import (
    check_key,
    check_no_shape,
    check_shape_and_dtype,
    defaults_of,
    element_name_of,
    element_of,
    is_dtype,
    shape_of,
    size_of,
)
from .images import Image
from .partitions import partition_row
from .record_reader import Header, RecordReader
from .row import Row, feature_row

__all__ = [
    "FixedLen",
    "FixedLenSequence",
    "Ragged",
    "Sliced",
    "Sparse",
    "VarLen",
    "feature_of",
    "features_of_schema",
    "kept_features",
    "name_of_key",
    "parser_of",
    "parser_of_batches",
    "rows_of",
    "value_shape_of",
]


def _pictures_of(kind: str, dtype: Any) -> tuple[Any, ...] | None:
    """The description of the pictures in a list; None for other values."""
    if not isinstance(dtype, Image):
        return None
    if dtype.key is not None or dtype.default is not None:
        raise ValueError(
            f"give key= to the {kind}, not to its Image; a list of pictures has no default"
        )
    return dtype._spec


def value_shape_of(feature: Any) -> tuple[int | None, ...]:
    """The shape of a value of a list; of pictures, with their pixels."""
    shape: tuple[int | None, ...] = shape_of(getattr(feature, "shape", ()))
    return (*shape, *feature.dtype._row_shape()) if isinstance(feature.dtype, Image) else shape


class _Checked(CallRepr):
    """A feature that refuses arguments in the wrong order, misspelt dtypes, and values that the
    dtype cannot hold, where it is made.

    Other arguments are checked with the name of the feature, which is not known here.
    """

    def __post_init__(self) -> None:
        given: Any = self
        kind = type(self).__name__
        for name in _FLAGS:
            true_or_false(name, getattr(self, name, False))
        has_dtype = given.dtype is not NO_DTYPE
        _pictures_of(kind, given.dtype)
        if not has_dtype:  # as in 0.2.0
            object.__setattr__(self, "dtype", "int64")
        if hasattr(self, "shape"):
            check_shape_and_dtype(kind, given.shape, given.dtype)
        else:
            check_no_shape(kind, given.dtype, getattr(self, "key", None))
        check_key(kind, getattr(self, "key", None))
        if not has_dtype:
            warn_without_dtype(kind, getattr(self, "shape", None))
        element = element_of(given.dtype)
        if getattr(self, "default", None) is not None:
            _check_values("default", given.default, element)


def _check_values(name: str, values: Any, element: str) -> None:
    """Refuses values of this argument that the dtype cannot hold."""
    try:
        defaults_of(values, element)
    except UnicodeEncodeError:
        return  # refused with the name of the feature
    except (TypeError, ValueError) as error:
        what = "the default" if name == "default" else f"the value of {name}"
        message = str(error).replace("the default", what, 1)
        raise type(error)(message) from None


Raw: TypeAlias = "bool | Literal['zlib']"


_FLAGS = "copy", "little_endian", "ragged", "already_sorted"


def _raw_of(raw: Raw, little_endian: bool) -> int:
    """The value of recmap_raw."""
    if isinstance(raw, str) and raw != "zlib":
        raise ValueError(f'raw is True, or "zlib" for values that are compressed, not {raw!r}')
    if raw != "zlib":
        true_or_false("raw", raw)
    if not little_endian and (not raw or raw == "zlib"):
        raise ValueError("little_endian=False needs raw=True: other values have no byte order")
    if raw == "zlib":
        return 3
    return 0 if not raw else 1 if little_endian else 2


def _length_of(name: str, length: int | None) -> int:
    if length is None:
        return 0
    number = natural(name, length, 63)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, not {length}")
    return number


def _check_fixed_length(length: int, raw: Raw, shape: tuple[int, ...], element: str) -> None:
    if not raw or raw == "zlib":
        raise ValueError("fixed_length= needs raw=True")
    size = math.prod(shape) * size_of(element)
    if length != size:
        raise ValueError(f"fixed_length must be {size}, the size of the shape, not {length}")


def name_of_key(key: str | int | None) -> str | None:
    """Refuses the position of a field, which `Csv` replaces before it asks for the row."""
    if isinstance(key, int):
        raise TypeError(f"key={key} is the position of a field: it is for recmap.Csv")
    return key


@suggest_arguments
@dataclass(frozen=True, repr=False)
class FixedLen(_Checked):
    """The same number of values in every record: a NumPy array [rows, *shape].

    Args:
        shape: the shape of a record's values: () for a scalar, an int, or dimensions.
        dtype: the dtype of the array: "int64", "float32", bytes (which gives a `BytesColumn`), or
            another one ("int32", "uint8", "bool", "float16", "bfloat16", ...). A value that does
            not fit is an error; "uint64_bits" is "uint64" from the 64 bits of each int64, negative
            or not. Required: without it, 0.2.0's "int64" holds until recmap 2.0, with a
            DeprecationWarning. Or an `Image`: each value is a picture, and its pixels are further
            dimensions. All pictures of a record have the same crop and flip.
        default: for records without the feature: one value, or as many as the shape has. None: a
            record without the feature is an error.
        key: the name of the feature in the record, if it differs from the column's. In `Csv`, also
            the position of the field, from 0.
        raw: the feature is bytes that contain the elements, as tf.io.decode_raw reads them: one
            value, or several with equally many elements. "zlib": each value is compressed, as
            zlib.compress does.
        copy: copy bytes into one buffer, instead of giving views.
        little_endian: the byte order of a raw feature; False: big-endian.
        fixed_length: truncate raw bytes to this size or pad them with zeros; it must be the size of
            the shape. None: another size is an error.
    """

    if TYPE_CHECKING:
        shape: Any
        dtype: Any
    else:
        shape: Any = ()
        dtype: Any = NO_DTYPE
    default: Any = None
    key: str | int | None = None
    raw: Raw = False
    copy: bool = False
    little_endian: bool = True
    fixed_length: int | None = None

    def _row(self, name: str) -> Row:
        element, shape = element_of(self.dtype), shape_of(self.shape)
        if self.fixed_length is not None:
            _check_fixed_length(self.fixed_length, self.raw, shape, element)
        return feature_row(
            1,
            name,
            name_of_key(self.key),
            element,
            shape=shape,
            default=self.default,
            raw=_raw_of(self.raw, self.little_endian),
            raw_resize=self.fixed_length is not None,
            copy=self.copy,
            image=_pictures_of("FixedLen", self.dtype),
        )


@suggest_arguments
@dataclass(frozen=True, repr=False)
class VarLen(_Checked):
    """Any number of values per record: a `RaggedColumn`. For the arguments see `FixedLen`."""

    if TYPE_CHECKING:
        dtype: Any
    else:
        dtype: Any = NO_DTYPE
    key: str | int | None = None
    raw: Raw = False
    copy: bool = False
    little_endian: bool = True

    def _row(self, name: str) -> Row:
        raw = _raw_of(self.raw, self.little_endian)
        image = _pictures_of("VarLen", self.dtype)
        element = element_of(self.dtype)
        return feature_row(
            2, name, name_of_key(self.key), element, raw=raw, copy=self.copy, image=image
        )


@suggest_arguments
@dataclass(frozen=True, repr=False)
class FixedLenSequence(_Checked):
    """Any number of steps of `shape` each: an array [rows, longest, *shape], padded with `default`.

    With ``ragged=True``: a `RaggedColumn` of steps. For the other arguments see `FixedLen`.

    Args:
        max_length: keep the first steps of each row, at most this many. None: keep all.
        pad_to: pad rows to a multiple of this: the smallest one that holds the longest row of the
            batch, and at least this. So batches have few different shapes, and with the same
            ``max_length=`` only one, as `jax.jit` and `torch.compile` need. None: pad to the
            longest row.

    >>> pixels = recmap.FixedLenSequence((), "uint8", raw=True, max_length=50, pad_to=32)
    >>> digits().parse([0, 1], {"image": pixels})["image"].shape
    (2, 64)
    """

    if TYPE_CHECKING:
        shape: Any
        dtype: Any
    else:
        shape: Any = ()
        dtype: Any = NO_DTYPE
    default: Any = None
    ragged: bool = False
    key: str | None = None
    raw: Raw = False
    copy: bool = False
    little_endian: bool = True
    max_length: int | None = None
    pad_to: int | None = None

    def _row(self, name: str) -> Row:
        return feature_row(
            3,
            name,
            self.key,
            element_of(self.dtype),
            shape=shape_of(self.shape),
            default=self.default,
            ragged=self.ragged,
            raw=_raw_of(self.raw, self.little_endian),
            copy=self.copy,
            max_length=_length_of("max_length", self.max_length),
            pad_to=_length_of("pad_to", self.pad_to),
            image=_pictures_of("FixedLenSequence", self.dtype),
        )


@suggest_arguments
@dataclass(frozen=True, repr=False)
class Ragged(_Checked):
    """Values divided into nested rows by other features: nested `RaggedColumn`.

    Args:
        partitions: `RowSplits`, `RowLengths`, ..., from the outermost to the innermost.
    """

    dtype: Any
    partitions: Sequence[Any]
    key: str | None = None
    copy: bool = False

    def _row(self, name: str) -> Row:
        partitions = tuple(partition_row(partition) for partition in self.partitions)
        element = element_of(self.dtype)
        return feature_row(4, name, self.key, element, partitions=partitions, copy=self.copy)


@suggest_arguments
@dataclass(frozen=True, repr=False)
class Sparse(_Checked):
    """Values with coordinates from other features: a `SparseColumn`.

    Args:
        index_key: an int64 feature with the coordinate of each value; a list with several
            dimensions.
        value_key: the feature with the values.
        size: the size of the dimension; a list with several dimensions.
        already_sorted: the values are in the order of their coordinates. This is not checked.
    """

    index_key: str | Sequence[str]
    value_key: str
    dtype: Any
    size: int | Sequence[int]
    already_sorted: bool = False

    def _row(self, name: str) -> Row:
        keys = (self.index_key,) if isinstance(self.index_key, str) else tuple(self.index_key)
        return feature_row(
            5,
            name,
            self.value_key,
            element_of(self.dtype),
            index_keys=keys,
            sizes=shape_of(self.size),
            already_sorted=self.already_sorted,
        )


@suggest_arguments
@dataclass(frozen=True, repr=False)
class Sliced(_Checked):
    """Elements that a row order cuts into rows: an array [rows, width, *shape].

    Only for loaders with `Chunked`, `Packed` or `Windows`. Every record must have as many elements
    as the order's counts say.

    Args:
        shape: the shape of one element: () for tokens.
        dtype: as for `FixedLen`. With bytes, a `BytesColumn`. With an `Image`, only the pictures of
            the rows are decoded, and one that several rows of a batch share only once, unless its
            crop or flip is random. All pictures of a row have the same crop and flip.
        pad: the value of places in a row that hold no element; "edge" repeats the nearest element
            instead. Pictures: 0 or "edge".
        prepend, append: elements that are put before and after the elements of each document,
            such as tokens for its beginning and end: together as many as `add` of the order. Not
            for pictures.

    For the other arguments see `FixedLen`.
    """

    if TYPE_CHECKING:
        shape: Any
        dtype: Any
    else:
        shape: Any = ()
        dtype: Any = NO_DTYPE
    pad: Any = 0
    prepend: Sequence[Any] = ()
    append: Sequence[Any] = ()
    key: str | None = None
    raw: Raw = False
    copy: bool = False
    little_endian: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.dtype, Image):
            self._check_pictures()
            return
        element = element_of(self.dtype)
        for name in ("prepend", "append"):
            values = getattr(self, name)
            if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
                raise TypeError(f"{name} must be a list of elements, such as [0], not {values!r}")
            _check_values(name, list(values) or None, element)
        if self.pad != "edge" if isinstance(self.pad, str) else element != "bytes" or self.pad != 0:
            _check_values("pad", self.pad, element)

    def _check_pictures(self) -> None:
        if self.pad != "edge" if isinstance(self.pad, str) else self.pad != 0:
            raise ValueError(
                f'pictures are padded with zeros (pad=0) or the nearest one (pad="edge"), not '
                f"{self.pad!r}"
            )
        if len(self.prepend) or len(self.append):
            raise ValueError("pictures cannot be prepended or appended")

    def _row(self, name: str) -> Row:
        element, image = element_of(self.dtype), _pictures_of("Sliced", self.dtype)
        is_edge = isinstance(self.pad, str) and self.pad == "edge"
        has_no_pad = is_edge or image is not None or (element == "bytes" and self.pad == 0)
        return feature_row(
            6,
            name,
            self.key,
            element,
            shape=shape_of(self.shape),
            default=None if has_no_pad else self.pad,
            raw=_raw_of(self.raw, self.little_endian),
            copy=self.copy,
            prepend=defaults_of(list(self.prepend) or None, element),
            append=defaults_of(list(self.append) or None, element),
            pad_edge=is_edge,
            image=image,
        )


def _sequence_of_tensorflow(feature: Any) -> FixedLenSequence:
    if not feature.allow_missing:
        raise ValueError(
            "FixedLenSequenceFeature is only supported with allow_missing=True: records without "
            "the feature give no steps"
        )
    default = feature.default_value
    if default is not None and np.size(default) != 1:
        raise ValueError(f"default_value must be one value, which pads, not {default!r}")
    return FixedLenSequence(feature.shape, feature.dtype, default)


def _of_tensorflow(feature: Any) -> Any:
    """Converts a feature of tf.io, recognised by its class name: TensorFlow is not imported."""
    kind = type(feature).__name__
    if kind == "FixedLenFeature":
        return FixedLen(feature.shape, feature.dtype, feature.default_value)
    if kind == "VarLenFeature":
        return VarLen(feature.dtype)
    if kind == "FixedLenSequenceFeature":
        return _sequence_of_tensorflow(feature)
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
    raise TypeError(f"{feature!r} is not a feature: {_meant_feature(feature)}")


def _meant_feature(given: Any) -> str:
    """What to write instead of an object that is not a feature."""
    if isinstance(given, type) and is_dataclass(given):
        return f"give it a shape or a dtype, as in {given.__name__}(...)"
    if is_dtype(given):
        name = element_name_of(given)
        return f"write FixedLen((), {name!r}) for one value, or VarLen({name!r}) for any number"
    return "use FixedLen, VarLen, ... or a feature of tf.io"


Feature: TypeAlias = FixedLen | VarLen | FixedLenSequence | Ragged | Sparse | Sliced | Image | Boxes
_KINDS = (FixedLen, VarLen, FixedLenSequence, Ragged, Sparse, Sliced, Image, Boxes)
Features: TypeAlias = Mapping[str, Any]


def feature_of(given: Any) -> Feature:
    """The feature itself, or the equivalent of a feature of tf.io."""
    feature: Feature = given if isinstance(given, _KINDS) else _of_tensorflow(given)
    return feature


def _rows_of(feature: Feature, name: str) -> tuple[Row, ...]:
    dtype = getattr(feature, "dtype", None)
    as_bits = isinstance(dtype, str) and dtype == "uint64_bits"
    rows = feature._rows(name) if isinstance(feature, Boxes) else (feature._row(name),)
    return tuple((*row, as_bits) for row in rows)


def rows_of(features: Features) -> tuple[Row, ...]:
    """The features as the extension expects them."""
    if isinstance(features, RecordReader):
        return features._rows()
    rows: list[Row] = []
    for name, feature in features.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a feature must be a str, not {name!r}")
        try:
            rows += _rows_of(feature_of(feature), name)
        except (TypeError, ValueError, OverflowError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"feature {name!r}: {error}") from error
    return tuple(rows)


class _Parsers:
    """Parsers that were compiled lately.

    A batch keeps its memory for the next one only if both have the same parser; memory from the
    kernel costs more than parsing into it. So calls with the same features get the same parser.
    """

    LIMIT = 64

    def __init__(self) -> None:
        self._of_objects: dict[object, tuple[object, _recmap.Parser]] = {}
        self._of_rows: dict[object, _recmap.Parser] = {}

    def find(self, features: Features, lists: Features | None, reader: Any) -> _recmap.Parser:
        """The cached parser for these features, or for equal ones."""
        objects = (*features.values(), None, *(lists or {}).values())
        names = tuple(features), lists if lists is None else tuple(lists)
        key = (*names, reader, *map(id, objects))
        found = self._of_objects.get(key)
        if found:
            return found[1]
        parser = self._of_equal(features, lists, reader)
        if _is_hashable(objects):  # immutable, so the parser stays right
            self._limit(self._of_objects)
            self._of_objects[key] = objects, parser  # keeps the objects: no other has their ids
        return parser

    def _of_equal(self, features: Features, lists: Features | None, reader: Any) -> _recmap.Parser:
        rows = rows_of(features), None if lists is None else rows_of(lists)
        key = repr(rows), reader  # repr, unlike ==, tells 0.0 from -0.0
        parser = self._of_rows.get(key)
        if parser is None:
            parser = _recmap.Parser(*rows, reader)
            self._limit(self._of_rows)
            self._of_rows[key] = parser
        return parser

    def _limit(self, parsers: dict[Any, Any]) -> None:
        if len(parsers) >= self.LIMIT:
            parsers.clear()


def _is_hashable(objects: tuple[object, ...]) -> bool:
    try:
        hash(objects)
    except TypeError:
        return False
    return True


_parsers = _Parsers()


def kept_features(features: Features | None) -> Features | None:
    """A copy of a dict of features, which the caller may change later."""
    return dict(features) if isinstance(features, dict) else features


def parser_of(
    features: Features, lists: Features | None = None, header: Header | None = None
) -> _recmap.Parser:
    """Compiles features, and `lists`, if given, for the feature lists of SequenceExample. `header`
    is the data set's, which names the fields of `Csv`."""
    for given in (features, {} if lists is None else lists):
        if not isinstance(given, Mapping):
            raise TypeError("features must be a dict: {name: recmap.FixedLen(...), ...}")
    readers = [given for given in (features, lists) if isinstance(given, RecordReader)]
    if readers and lists is not None:
        kind = type(readers[0]).__name__
        raise TypeError(f"{kind} cannot read feature lists, which only tf.SequenceExample has")
    reader = features._reader(header) if isinstance(features, RecordReader) else None
    return _parsers.find(features, lists, reader)


def parser_of_batches(
    features: Features | None, lists: Features | None, header: Header | None = None
) -> _recmap.Parser | None:
    """The parser of a loader or an adapter; None if the records are not parsed.

    Raises:
        ValueError: nothing is requested, so that batches would be empty.
    """
    if features is None and lists is None:
        return None
    if not features and not lists:
        empty = "features is" if lists is None else "features and feature_lists are"
        raise ValueError(
            f"{empty} empty, so batches would have no columns: ds.features() returns the features "
            "of the records, and None gives the records' bytes"
        )
    return parser_of({} if features is None else features, lists, header)


_DTYPES = {"int64": "int64", "float": "float32", "bytes": "bytes", "bool": "bool"}


def check_column_of_numbers(numbers: bool, features: Features | None) -> None:
    """Refuses a feature whose name an adapter gives to the column of the records' numbers."""
    if numbers and "number" in (features or {}):
        raise ValueError(
            'numbers=True adds a column "number", but that is the name of a feature too: give the '
            'feature another name, such as {"count": FixedLen(key="number")}'
        )


def _feature_of_schema(entry: Mapping[str, Any], is_list: bool) -> Feature:
    dtype, shape = _DTYPES[entry["kind"]], entry["shape"]
    if entry.get("image_share") == 1 and shape == [] and not is_list:
        is_wide = entry["image_bits"] == 16  # which become no pixels of 8 bits
        return Image(mode="L", dtype="uint16") if is_wide else Image()
    if shape is None:
        return VarLen(dtype)
    return (FixedLenSequence if is_list else FixedLen)(tuple(shape), dtype)


def features_of_schema(
    schema: Mapping[str, Mapping[str, Any]], is_list: bool
) -> tuple[dict[str, Feature], list[str]]:
    """The features of a schema, or its feature lists, and the names that no parser can read."""
    features: dict[str, Feature] = {}
    omitted = []
    for name, members in schema.items():
        entry = members.get("list") if is_list else members
        if not entry or "kind" not in entry:
            continue
        if entry["kind"] in _DTYPES and "\0" not in name:
            features[name] = _feature_of_schema(entry, is_list)
        else:
            omitted.append(name)
    return features, omitted
