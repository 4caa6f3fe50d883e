"""recmap's features for the fields of TFDS."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._example.boxes import Boxes
from .._example.features import FixedLen, FixedLenSequence, Ragged, VarLen
from .._example.images import Image
from .._example.partitions import RowLengths, UniformRowLength
from .connectors import Field, Leaf

__all__ = ["DTYPES", "SHAPE", "Specs", "dtype_of", "picture_of", "raw_of", "specs_of"]

SHAPE = "@shape"  # what follows the name of a tensor in the name of the column with its shapes
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
DTYPES = {
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
    fields = list(fields)
    specs = Specs({}, {}, {})
    picture = _only_picture(fields)
    for field in fields:
        leaf = field.leaf
        if leaf.kind == "unknown":
            _add_unknown(specs, field)
        elif leaf.kind == "image":
            _add_image(specs, field)
        elif leaf.dtype not in DTYPES:
            specs.omitted[field.path] = f"its dtype is {leaf.dtype[:40]}"
        elif 0 in (*field.lengths, *leaf.shape):
            _add_empty(specs, field)
        elif picture and leaf.kind == "box" and field.lengths == (None,) and not field.dataset:
            specs.features[field.path] = Boxes(picture, (field.path,))
        elif leaf.encoding == "none":
            specs.features[field.path] = _tensor(field)
            _add_shape(specs, field)
        else:
            _add_encoded(specs, field)
    return specs


def _only_picture(fields: Iterable[Field]) -> str:
    """The picture of the record, in which boxes lie; "" if it has none or several."""
    pictures = [field for field in fields if field.leaf.kind == "image"]
    is_one = len(pictures) == 1 and not pictures[0].lengths
    return pictures[0].path if is_one and picture_of(pictures[0].leaf) is not None else ""


def dtype_of(leaf: Leaf) -> Any:
    """The dtype of values that are stored one by one: TFDS stores uint64 as int64."""
    return {"string": bytes, "uint64": "uint64_bits"}.get(leaf.dtype, leaf.dtype)


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
    leaf, dtype = field.leaf, dtype_of(field.leaf)
    if len(field.lengths) > 1:
        return _ragged(field, dtype, leaf.shape)
    shape = (*field.lengths, *leaf.shape)
    known = tuple(side for side in shape if side is not None)
    if len(known) == len(shape):
        default = None if field.lengths else _default_of(leaf)
        return FixedLen(known, dtype, default=default)
    if shape == (None,) or shape[0] is not None or len(known) < len(shape) - 1:
        return VarLen(dtype)  # flat: see _add_shape
    return FixedLenSequence(known, dtype, ragged=True)


def _add_shape(specs: Specs, field: Field) -> None:
    """The shape of values that are flat, because a dimension other than the first is not known. It
    is not in the records: each takes the default, with -1 for as many as there are."""
    shape = (*field.lengths, *field.leaf.shape)
    if len(field.lengths) > 1 or shape.count(None) != 1 or shape[0] is None:
        return
    sides = [-1 if side is None else side for side in shape]
    key = f"{field.path}/shape"
    feature = FixedLen((len(sides),), "int64", key=key, default=sides)
    specs.features[f"{field.path}{SHAPE}"] = feature


def _add_empty(specs: Specs, field: Field) -> None:
    """A tensor with a dimension of 0. Its feature has no values, or they have no bytes, so that its
    shape says all."""
    leaf, shape = field.leaf, (*field.lengths, *field.leaf.shape)
    is_encoded = leaf.encoding != "none"
    if None in shape or len(field.lengths) > 1 or (is_encoded and leaf.dtype == "string"):
        specs.omitted[field.path] = "its shape has no values"
        return
    specs.features[field.path] = VarLen(
        leaf.dtype if is_encoded else dtype_of(leaf), raw=raw_of(leaf) if is_encoded else False
    )
    key = f"{field.path}/shape"
    feature = FixedLen((len(shape),), "int64", key=key, default=[*shape])
    specs.features[f"{field.path}{SHAPE}"] = feature


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
    value_key = path if unknown < 2 else f"{path}/value"
    shape_key = f"{path}/shape"
    if leaf.dtype == "string" or len(field.lengths) > 1 or (field.lengths and unknown):
        bytes_field = Field(value_key, field.lengths, Leaf("tensor"))
        specs.features[path] = _with_key(_tensor(bytes_field), value_key)
        shapes = f", whose shape is in {shape_key!r}" if unknown > 1 else ""
        specs.raw[path] = f"each value is a tensor encoded as {leaf.encoding}{shapes}"
        return
    specs.features[path] = _encoded(field, value_key)
    if unknown > 1:
        shape_feature = FixedLen((len(leaf.shape),), "int64", key=shape_key)
        specs.features[f"{path}{SHAPE}"] = shape_feature
    else:
        _add_shape(specs, field)


def raw_of(leaf: Leaf) -> Any:
    return "zlib" if leaf.encoding == "zlib" else True


def _encoded(field: Field, key: str) -> Any:
    """The feature of values whose bytes hold the elements: one value, or one for each step."""
    leaf, raw = field.leaf, raw_of(field.leaf)
    shape = (*field.lengths, *leaf.shape)
    if None not in shape:
        default = None if field.lengths else _default_of(leaf)
        return FixedLen(shape, leaf.dtype, default=default, raw=raw)
    if shape[0] is None and len(shape) > 1 and None not in shape[1:]:
        return FixedLenSequence(shape[1:], leaf.dtype, ragged=True, raw=raw)
    return VarLen(leaf.dtype, key=None if key == field.path else key, raw=raw)


def _with_key(feature: Any, key: str) -> Any:
    """The feature under a name that may not be its key. Ragged ones have theirs."""
    return feature if isinstance(feature, Ragged) else replace(feature, key=key)


def picture_of(leaf: Leaf) -> Image | None:
    """The pixels of a picture, or None if recmap does not make them."""
    if len(leaf.shape) != 3 or leaf.dtype not in ("uint8", "uint16"):
        return None
    height, width, channels = leaf.shape
    if channels not in _MODES:
        return None
    look: Any = {"mode": _MODES[channels], "dtype": leaf.dtype, "exif": False}
    if not height or not width:
        return Image(**look)
    return Image((height, width), crop="exact", **look)


def _add_image(specs: Specs, field: Field) -> None:
    picture = picture_of(field.leaf)
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
