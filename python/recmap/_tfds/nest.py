"""Columns of TFDS's features as nested dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._columns.bytes import BytesColumn
from .._example.boxes import visible_name_of
from .specs import SHAPE

__all__ = ["nest"]


def nest(batch: Any) -> dict[str, Any]:
    """The columns of a batch as a nested dict: "observation/image" is
    ``nest(batch)["observation"]["image"]``, as ``tfds.as_numpy`` has it.

    Takes a batch or a dict of columns. Tensors with an unknown dimension other than the first are
    lists of arrays. The visible shares of `recmap.Boxes`, which TFDS does not have, are left out.
    """
    nested: dict[str, Any] = {}
    for name in batch:
        if _describes_another(name, batch):
            continue
        value = batch[name]
        if f"{name}{SHAPE}" in batch:
            value = _shaped(name, value, batch[f"{name}{SHAPE}"])
        *parents, last = name.split("/")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ValueError(f"column {name!r} is inside of another column, {parent!r}")
        place[last] = value
    return nested


def _describes_another(name: str, batch: Any) -> bool:
    """Returns true if a column has the shapes of another one, or its boxes' visible shares."""
    ends = (SHAPE, visible_name_of(""))
    return any(name.endswith(end) and name.removesuffix(end) in batch for end in ends)


def _shaped(name: str, values: Any, shapes: Any) -> list[Any]:
    """The values of each row in its shape."""
    try:
        return [_array(row).reshape(shape) for row, shape in zip(values, shapes, strict=True)]
    except ValueError as error:
        raise ValueError(f"the values of {name!r} do not have their shape: {error}") from None


def _array(row: Any) -> npt.NDArray[Any]:
    """Strings as objects: numpy's own would lose the zeros at their ends."""
    if not isinstance(row, BytesColumn):
        return np.asarray(row)
    array = np.empty(len(row), object)
    array[:] = row.tolist()
    return array
