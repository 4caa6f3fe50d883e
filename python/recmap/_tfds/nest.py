"""Columns of TFDS's features as nested dicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .specs import SHAPE

__all__ = ["nest"]


def nest(batch: Any) -> dict[str, Any]:
    """The columns of a batch as a nested dict: "observation/image" is
    ``nest(batch)["observation"]["image"]``, as ``tfds.as_numpy`` has it.

    Takes a batch or a dict of columns. Tensors with several unknown dimensions become lists of
    arrays.
    """
    nested: dict[str, Any] = {}
    for name in batch:
        if name.endswith(SHAPE) and name.removesuffix(SHAPE) in batch:
            continue
        value = batch[name]
        if f"{name}{SHAPE}" in batch:
            value = _shaped(value, batch[f"{name}{SHAPE}"])
        *parents, last = name.split("/")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ValueError(f"column {name!r} is inside of another column, {parent!r}")
        place[last] = value
    return nested


def _shaped(values: Any, shapes: Any) -> list[Any]:
    """The values of each row in its shape."""
    return [np.asarray(row).reshape(shape) for row, shape in zip(values, shapes, strict=True)]
