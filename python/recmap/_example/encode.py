"""Encoding plain values as tf.Example and tf.SequenceExample."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .. import _recmap
from .._base.errors import Error
from .._base.values import Rounding, known, typed
from .._base.warn import warn_caller

__all__ = ["encode_example", "encode_sequence_example", "encoded", "rounding_text"]

Features: TypeAlias = "Mapping[str, Any]"

_FILL = (
    "choose a value with `.filled(value)` (NumPy), `.fillna(value)` (pandas) or "
    "`.fill_null(value)` (Arrow, polars)"
)
_TEXTS = {bytes, bytearray, memoryview, str}


def _are_texts(values: Sequence[Any]) -> bool:
    """Returns true if all values are texts. The first one says so of most lists."""
    return type(values[0]) in _TEXTS and set(map(type, values)) <= _TEXTS


def _add(builder: _recmap.ExampleBuilder, name: str | None, value: Any) -> Rounding | None:
    """Adds a feature. The type of the values determines the kind of list. Returns what rounding
    changed."""
    if value is None:
        builder.add_unset(name)
    elif isinstance(value, (bytes, bytearray, memoryview, str)):
        builder.add_bytes(name, [value])
    elif builder.add_numbers(name, value):
        return None
    elif isinstance(value, (list, tuple)) and not value:
        builder.add_unset(name)
    elif isinstance(value, (list, tuple)) and _are_texts(value):
        builder.add_bytes(name, list(value))
    else:
        return _add_values(builder, name, value)
    return None


def _add_values(builder: _recmap.ExampleBuilder, name: str | None, value: Any) -> Rounding | None:
    array, kept = known(value)
    if kept is not None:
        is_list = isinstance(value, (list, tuple))
        choose = "leave it out, or give another value" if is_list else _FILL
        raise ValueError(
            f"it has a null (a missing value): {choose}, or give None for a feature without values"
        )
    try:
        kind, items, rounding = typed(array)
    except TypeError as error:
        raise TypeError(
            f"{reprlib.repr(value)} cannot be stored in a tf.Example: {error}"
        ) from error
    if kind == "int64":
        builder.add_int64(name, items)
    elif kind == "float":
        builder.add_float(name, items)
    else:
        builder.add_bytes(name, list(items))
    return rounding


def _with_name(name: str, error: Exception) -> Exception:
    """The error with the name of the feature in front."""
    if isinstance(error, Error):
        return error
    return (ValueError if isinstance(error, ValueError) else TypeError)(f"{name}: {error}")


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {what} must be a str, not {name!r}")


def _add_all(builder: _recmap.ExampleBuilder, features: Features) -> dict[str, Rounding]:
    """Adds features. Returns what rounding changed, by the name of the feature."""
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a dict {{name: value}}, not {reprlib.repr(features)}")
    roundings: dict[str, Rounding] = {}
    for name, value in features.items():
        _check_name("feature", name)
        try:
            rounding = _add(builder, name, value)
        except (TypeError, ValueError, BufferError) as error:
            raise _with_name(f"feature {name!r}", error) from error
        if rounding is not None:
            roundings[f"feature {name!r}"] = rounding
    return roundings


def _add_list(
    builder: _recmap.ExampleBuilder, name: str, steps: Iterable[Any]
) -> dict[str, Rounding]:
    if isinstance(steps, (str, bytes, bytearray, memoryview)) or not isinstance(steps, Iterable):
        raise TypeError(f"feature list {name!r}: {reprlib.repr(steps)} is not a list of steps")
    _check_name("feature list", name)
    builder.begin_list(name)
    roundings: dict[str, Rounding] = {}
    for number, step in enumerate(steps):
        try:
            rounding = _add(builder, None, step)
        except (TypeError, ValueError, BufferError) as error:
            raise _with_name(f"feature list {name!r}, step {number}", error) from error
        if rounding is not None:
            roundings.setdefault(f"feature list {name!r}", rounding)
    builder.end_list()
    return roundings


def encoded(features: Features) -> tuple[bytes, dict[str, Rounding]]:
    """The tf.Example, and what rounding changed, by the place in it."""
    builder = _recmap.ExampleBuilder()
    builder.begin(False)
    roundings = _add_all(builder, features)
    return builder.finish(), roundings


def rounding_text(place: str, change: str) -> str:
    """The warning that values of `place` are rounded, with an example of the change."""
    return (
        f"{place}: {change}, because floats have 32 bits. Give integers (of a time, milliseconds), "
        "or a text. Values of float32 are written without this warning"
    )


def _warn_of_rounding(roundings: Mapping[str, Rounding]) -> None:
    """Warns without the values, so that Python shows the warning once for each line and feature."""
    for place in roundings:
        warn_caller(rounding_text(place, "a value is rounded"))


def encode_example(features: Features) -> bytes:
    """Encodes features as a tf.Example, deterministically.

    Args:
        features: {name: value}. bytes and str (as UTF-8) become a bytes list, int and bool an int64
            list, float a float list (32 bits; finite values beyond them are errors). Lists, tuples
            and arrays of these become a list of several values, in C order: arrays and series of
            NumPy, Arrow, pandas, polars and frameworks, without nulls. None and the empty list
            become a feature without a kind; an empty array becomes an empty list of its kind.

    Warns (UserWarning) of a value that 32 bits do not hold closely: one beyond 2^24 that changes,
    such as a timestamp, or one that becomes 0.

    Raises:
        TypeError, ValueError: a value cannot be encoded; the message names the feature.

    >>> encode_example({"label": 3}).hex()
    '0a100a0e0a056c6162656c12051a030a0103'
    """
    record, roundings = encoded(features)
    if roundings:
        _warn_of_rounding(roundings)
    return record


def encode_sequence_example(context: Features, feature_lists: Mapping[str, Iterable[Any]]) -> bytes:
    """Encodes a tf.SequenceExample, deterministically.

    Args:
        context: {name: value}; see `encode_example`.
        feature_lists: {name: steps}. Each step is a value; see `encode_example`.

    Warns (UserWarning) as `encode_example`, and of a feature list whose steps have several kinds.

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
    roundings = _add_all(builder, context)
    for name, steps in feature_lists.items():
        roundings |= _add_list(builder, name, steps)
    record = builder.finish()
    _warn_of_rounding(roundings)
    for finding in _recmap.KindCheck().add(record) or ():
        warn_caller(f"{finding.message}: {finding.advice}")
    return record
