"""recmap's features for the fields of TFDS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._example.features import FixedLen, FixedLenSequence, Ragged, Sliced, VarLen
from .._example.images import Image
from .._example.partitions import RowLengths, UniformRowLength
from .connectors import Field, Leaf

__all__ = ["SHAPE", "Specs", "specs_of", "steps_of", "window_features_of"]

SHAPE = "@shape"  # what follows the name of a tensor in the name of the column with its shapes
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_DTYPES = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "string"),
}


class Specs(NamedTuple):
    """Features by name, and what is left of a field when recmap has decoded it."""

    features: dict[str, Any]
    raw: dict[str, str]  # {field: why it is delivered as bytes}
    omitted: dict[str, str]  # {field: why it is left out}


def specs_of(fields: Iterable[Field]) -> Specs:
    """The features that read these fields."""
    specs = Specs({}, {}, {})
    for field in fields:
        leaf = field.leaf
        if leaf.kind == "unknown":
            _add_unknown(specs, field)
        elif leaf.kind == "image":
            _add_image(specs, field)
        elif leaf.dtype not in _DTYPES:
            specs.omitted[field.path] = f"its dtype is {leaf.dtype[:40]}"
        elif leaf.encoding == "none":
            specs.features[field.path] = _tensor(field)
        else:
            _add_encoded(specs, field)
    return specs


def _dtype_of(leaf: Leaf) -> Any:
    return bytes if leaf.dtype == "string" else leaf.dtype


def _unknown_count(leaf: Leaf) -> int:
    return leaf.shape.count(None)


def _row_lengths(field: Field) -> list[RowLengths]:
    keys = (f"{field.path}/ragged_row_lengths_{i}" for i in range(len(field.lengths) - 1))
    return [RowLengths(key) for key in keys]


def _ragged(field: Field, dtype: Any, shape: Iterable[int | None]) -> Ragged:
    """Sequences of sequences: TFDS stores their values and the lengths of each level but the
    outermost. The dimensions of a value are further levels."""
    inner = [UniformRowLength(side) for side in shape if side is not None]
    return Ragged(dtype, [*_row_lengths(field), *inner], key=f"{field.path}/ragged_flat_values")


def _tensor(field: Field) -> Any:
    """The feature of values that are stored one by one."""
    leaf, dtype = field.leaf, _dtype_of(field.leaf)
    if len(field.lengths) > 1:
        return _ragged(field, dtype, leaf.shape)
    shape = (*field.lengths, *leaf.shape)
    known = tuple(side for side in shape if side is not None)
    if len(known) == len(shape):
        default = None if field.lengths else _default_of(leaf)
        return FixedLen(known, dtype, default=default)
    if shape == (None,) or shape[0] is not None or len(known) < len(shape) - 1:
        return VarLen(dtype)  # flat, if a dimension other than the first is not known
    return FixedLenSequence(known, dtype, ragged=True)


def _default_of(leaf: Leaf) -> Any:
    """What TFDS gives for an optional feature that is absent."""
    if not leaf.is_optional:
        return None
    if leaf.dtype == "string":
        value: Any = b""
    elif leaf.dtype == "bool":
        value = False
    elif leaf.dtype == "bfloat16":
        value = -3.3895313892515355e38
    else:
        kind = np.dtype(leaf.dtype)
        value = np.iinfo(kind).min if kind.kind in "iu" else float(np.finfo(kind).min)
    return [value] * math.prod(leaf.shape) if leaf.shape else value  # type: ignore[arg-type]


def _add_encoded(specs: Specs, field: Field) -> None:
    """A tensor that is stored as the bytes of its elements, maybe compressed by zlib."""
    leaf, path = field.leaf, field.path
    unknown = _unknown_count(leaf)
    is_plain = leaf.encoding == "bytes" and leaf.dtype != "string"
    value_key = path if unknown < 2 else f"{path}/value"
    if unknown > 1:
        shape_key = f"{path}/shape"
        shape_field = Field(shape_key, field.lengths, Leaf("tensor", "int64", (len(leaf.shape),)))
        specs.features[f"{path}{SHAPE}"] = _with_key(_tensor(shape_field), shape_key)
    if field.lengths or not is_plain:
        bytes_field = Field(value_key, field.lengths, Leaf("tensor"))
        specs.features[path] = _with_key(_tensor(bytes_field), value_key)
        specs.raw[path] = f"each value is a tensor encoded as {leaf.encoding}"
    elif not unknown:
        specs.features[path] = FixedLen(leaf.shape, leaf.dtype, raw=True)
    elif unknown == 1 and leaf.shape[0] is None and len(leaf.shape) > 1:
        specs.features[path] = FixedLenSequence(leaf.shape[1:], leaf.dtype, ragged=True, raw=True)
    else:
        specs.features[path] = VarLen(leaf.dtype, key=value_key, raw=True)


def _with_key(feature: Any, key: str) -> Any:
    """The feature under a name that may not be its key. Ragged ones have theirs."""
    from dataclasses import replace

    return feature if isinstance(feature, Ragged) else replace(feature, key=key)


def _picture_of(leaf: Leaf) -> Image | None:
    """The pixels of a picture, or None if recmap does not make them."""
    if len(leaf.shape) != 3 or leaf.dtype not in ("uint8", "uint16"):
        return None
    height, width, channels = leaf.shape
    if channels not in _MODES:
        return None
    size = (height, width) if height and width else None
    return Image(size, mode=_MODES[channels], dtype=leaf.dtype, exif=False)  # type: ignore[arg-type]


def _add_image(specs: Specs, field: Field) -> None:
    picture = _picture_of(field.leaf)
    if picture is not None and not field.lengths:
        specs.features[field.path] = picture
    elif picture is not None and picture.size is not None and len(field.lengths) == 1:
        length = field.lengths[0]
        list_of = VarLen(picture) if length is None else FixedLen((length,), picture)
        specs.features[field.path] = list_of
    else:
        specs.features[field.path] = _tensor(Field(field.path, field.lengths, Leaf("tensor")))
        what = f"{field.leaf.dtype} {'x'.join(str(side or '?') for side in field.leaf.shape)}"
        is_list = "in sequences, " if field.lengths else ""
        specs.raw[field.path] = f"pictures {is_list}of {what}"


def _add_unknown(specs: Specs, field: Field) -> None:
    """Files of audio are bytes. What other connectors store is not known."""
    if field.leaf.what.startswith("Audio"):
        specs.features[field.path] = _tensor(Field(field.path, field.lengths, Leaf("tensor")))
        specs.raw[field.path] = field.leaf.what
    elif field.leaf.what.startswith("Text"):
        specs.features[field.path] = VarLen("int64")
    else:
        specs.omitted[field.path] = f"recmap does not know {field.leaf.what[:60]}"


# ---- Episodes: records with a nested data set of steps.


def steps_of(fields: Iterable[Field]) -> tuple[str, int] | None:
    """The field whose values tell how many steps a record has, and how many it has for each step;
    None if the records have no steps."""
    sizes = {
        field.path: math.prod(side for side in field.leaf.shape if side is not None)
        for field in _step_fields(fields)
        if field.leaf.encoding == "none"
        and field.leaf.kind in ("tensor", "text", "box")
        and not _unknown_count(field.leaf)
    }
    usable = {path: size for path, size in sizes.items() if size}
    return min(usable.items(), key=lambda item: item[1]) if usable else None


def _step_fields(fields: Iterable[Field]) -> Iterator[Field]:
    """Fields with one value for each step."""
    for field in fields:
        if field.dataset is not None and len(field.lengths) == 1:
            yield field


def window_features_of(fields: Iterable[Field], features: dict[str, Any]) -> dict[str, Any]:
    """Features for windows of steps: those of a step with the window as first axis, and those of
    the episode that have the same number of values in all records."""
    windows = {}
    for field in fields:
        feature = features.get(field.path)
        if field.dataset is not None:
            sliced = _sliced(field) if len(field.lengths) == 1 else None
            if sliced is not None:
                windows[field.path] = sliced
        elif isinstance(feature, FixedLen) or (isinstance(feature, Image) and feature.size):
            windows[field.path] = feature
    return windows


def _sliced(field: Field) -> Sliced | None:
    leaf = field.leaf
    if leaf.kind == "image":
        picture = _picture_of(leaf)
        return None if picture is None or picture.size is None else Sliced((), picture, pad="edge")
    if leaf.kind == "unknown" or leaf.dtype not in _DTYPES or _unknown_count(leaf):
        return None
    is_stored = leaf.encoding == "none"
    dtype, shape = (_dtype_of(leaf), leaf.shape) if is_stored else (bytes, ())
    return Sliced(shape, dtype, pad="edge")
