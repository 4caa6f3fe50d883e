"""Warnings about element counts that are likely mistakes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from .._base.errors import Error
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._dataset.missing import similar_names
from .._options.options import IndexOptions
from .contents import open_contents

__all__ = ["warn_of_counts"]

_SAMPLE_COUNT = 10  # records read to learn the type of a feature


def warn_of_counts(path: str, options: IndexOptions, empty: Sequence[str]) -> None:
    """Warns of counts that are all 0, and of values of bytes that count 1 whatever their length.

    Args:
        path: the index, just built.
        empty: the features whose counts are all 0.
    """
    plain = [name for name, dtype in options.counted if dtype is None and name not in empty]
    if not empty and not plain:
        return
    with open_contents(path, options) as dataset:
        for name in empty:
            message = f"all counts are 0: no record has elements of the feature {name!r}"
            advice = similar_names(name, dataset)
            warn_caller(f"{message}. {advice}" if advice else message)
        for name in plain:
            if dataset._read_counts(name).longest() == 1 and _is_bytes(dataset, name):
                warn_caller(
                    f"no count of {name!r} exceeds 1: the feature has values of bytes, and each "
                    f"counts once, whatever its length. To count the numbers in them, give their "
                    f'type, as in count={{{name!r}: "uint8"}}'
                )


def _is_bytes(dataset: Dataset, name: str) -> bool:
    """Returns true if the first records can be read and the feature is of bytes in them."""
    numbers = np.arange(min(_SAMPLE_COUNT, len(dataset)), dtype=np.uint64)
    try:
        text, _ = dataset._schema(numbers)
    except (Error, OSError):
        return False
    return bool(json.loads(text).get(name, {}).get("kind") == "bytes")
