"""Decoding one tf.Example or tf.SequenceExample into plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _recmap
from .._base.errors import CorruptIndexError, CorruptRecordError

__all__ = ["decode_example", "decoded_features"]


def _value(raw: Any) -> Any:
    """The array of a pair (dtype, memory). Lists of bytes and None stay as they are."""
    return np.frombuffer(raw[1], raw[0]) if isinstance(raw, tuple) else raw


def decode_example(record: Any) -> dict[str, Any]:
    """Decodes a tf.Example or tf.SequenceExample into a dict. The inverse of `encode_example`.

    For many records, `Dataset.parse` is several times faster and checks the features.

    Args:
        record: bytes, or another object with a buffer, such as ``data_set[number]``.

    Returns:
        {name: value}, sorted by name. A value is an array of int64, an array of float32, or a list
        of bytes; None for a feature without a kind. Arrays and bytes are copies. For a
        tf.SequenceExample: {"context": {name: value}, "feature_lists": {name: [value per step]}}.

    Raises:
        CorruptRecordError: the record is neither, such as an event of TensorBoard; ``offset`` is
            the byte in the record at which it is malformed, or None.

    >>> decode_example(digits()[42])["label"]
    array([1])
    """
    values, lists = decoded_features(record)
    return values if lists is None else {"context": values, "feature_lists": lists}


def decoded_features(record: Any) -> tuple[dict[str, Any], dict[str, list[Any]] | None]:
    """The features of an Example, or of the context, and the feature lists if there are any."""
    try:
        features, lists = _recmap.example_decode(record)
    except CorruptIndexError as error:  # the status of a record without a number
        raise CorruptRecordError(
            error.message,
            offset=error.offset,
            advice=error.advice
            or "Pass the bytes of one serialized tf.Example or tf.SequenceExample.",
        ) from None
    values = {name: _value(raw) for name, raw in features.items()}
    if lists is None:
        return values, None
    return values, {name: [_value(raw) for raw in rows] for name, rows in lists.items()}
