"""Encoding plain values as tf.Example and tf.SequenceExample."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .. import _recmap
from .._errors import Error

__all__ = ["encode_example", "encode_sequence_example"]

Features: TypeAlias = "Mapping[str, Any]"


def _add(builder: _recmap.ExampleBuilder, name: str | None, value: Any) -> None:
    """Adds a feature. The type of the values determines the kind of list."""
    if value is None:
        builder.add_unset(name)
    elif isinstance(value, (bytes, bytearray, memoryview, str)):
        builder.add_bytes(name, [value])
    elif isinstance(value, (list, tuple)) and not value:
        builder.add_unset(name)
    elif isinstance(value, (list, tuple)) and isinstance(
        value[0], (bytes, bytearray, memoryview, str)
    ):
        _check_not_null(value)
        builder.add_bytes(name, list(value))
    else:
        _check_not_null(value)
        array = np.asarray(value)
        if not isinstance(value, np.ndarray) and (
            array.dtype.kind in "SUO" or (array.dtype.kind == "f" and _has_only_ints(value))
        ):
            raise TypeError(f"{reprlib.repr(value)} cannot be stored in a tf.Example")
        _add_array(builder, name, array)


def _has_only_ints(value: Any) -> bool:
    """Whether it is a list of integers, or of such lists: NumPy makes floats of integers that do
    not fit 64 bits."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_has_only_ints, value))
    return isinstance(value, (int, np.integer))


def _check_not_null(value: Any) -> None:
    """Refuses masked values, also in a list, which would become 0 or NaN."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, items))):
        return
    if any(np.ma.is_masked(item) for item in items):
        raise ValueError(
            "it has a null (a masked value): choose a value with `.filled(value)`, or give None "
            "for a feature without values"
        )


def _add_array(builder: _recmap.ExampleBuilder, name: str | None, array: Any) -> None:
    kind = array.dtype.kind
    if kind in "ib" or (kind == "u" and (array.dtype.itemsize < 8 or not (array >> 63).any())):
        builder.add_int64(name, np.ascontiguousarray(array, dtype=np.int64))
    elif kind == "f" or array.dtype.name == "bfloat16":
        builder.add_float(name, _float32(array))
    elif kind in "SUO":
        builder.add_bytes(name, array.ravel().tolist())
    else:
        raise TypeError(f"values of type {array.dtype} cannot be stored in a tf.Example")


def _float32(array: Any) -> Any:
    """The values as floats of 32 bits. One that is finite does not become infinite."""
    if array.dtype.itemsize <= 4:
        return np.ascontiguousarray(array, dtype=np.float32)
    try:
        with np.errstate(over="raise"):
            return np.ascontiguousarray(array, dtype=np.float32)
    except FloatingPointError:
        raise ValueError("a value is beyond a float of 32 bits") from None


def _with_name(name: str, error: Exception) -> Exception:
    """The error with the name of the feature in front."""
    if isinstance(error, Error):
        return error
    return (ValueError if isinstance(error, ValueError) else TypeError)(f"{name}: {error}")


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {what} must be a str, not {name!r}")


def _add_all(builder: _recmap.ExampleBuilder, features: Features) -> None:
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a dict {{name: value}}, not {reprlib.repr(features)}")
    for name, value in features.items():
        _check_name("feature", name)
        try:
            _add(builder, name, value)
        except (TypeError, ValueError, BufferError) as error:
            raise _with_name(f"feature {name!r}", error) from error


def _add_list(builder: _recmap.ExampleBuilder, name: str, steps: Iterable[Any]) -> None:
    if isinstance(steps, (str, bytes, bytearray, memoryview)) or not isinstance(steps, Iterable):
        raise TypeError(f"feature list {name!r}: {reprlib.repr(steps)} is not a list of steps")
    _check_name("feature list", name)
    builder.begin_list(name)
    for number, step in enumerate(steps):
        try:
            _add(builder, None, step)
        except (TypeError, ValueError, BufferError) as error:
            raise _with_name(f"feature list {name!r}, step {number}", error) from error
    builder.end_list()


def encode_example(features: Features) -> bytes:
    """Encodes features as a tf.Example, deterministically.

    Args:
        features: {name: value}. bytes and str (as UTF-8) become a bytes list, int and bool an int64
            list, float a float list (32 bits; finite values beyond them are errors). Lists, tuples
            and arrays of these become a list of several values, in C order. None and the empty list
            become a feature without a kind; an empty array becomes an empty list of its kind.

    Raises:
        TypeError, ValueError: a value cannot be encoded; the message names the feature.

    >>> encode_example({"label": 3}).hex()
    '0a100a0e0a056c6162656c12051a030a0103'
    """
    builder = _recmap.ExampleBuilder()
    builder.begin(False)
    _add_all(builder, features)
    return builder.finish()


def encode_sequence_example(context: Features, feature_lists: Mapping[str, Iterable[Any]]) -> bytes:
    """Encodes a tf.SequenceExample, deterministically.

    Args:
        context: {name: value}; see `encode_example`.
        feature_lists: {name: steps}. Each step is a value; see `encode_example`.

    Raises:
        TypeError, ValueError: a value cannot be encoded; the message names feature and step.

    >>> len(encode_sequence_example({"id": 3}, {"frames": [[0.5, 1.5], [2.5]]}))
    53
    """
    if not isinstance(feature_lists, Mapping):
        kind = type(feature_lists).__name__
        raise TypeError(f"feature lists must be a dict {{name: steps}}, not {kind}")
    builder = _recmap.ExampleBuilder()
    builder.begin(True)
    _add_all(builder, context)
    for name, steps in feature_lists.items():
        _add_list(builder, name, steps)
    return builder.finish()
