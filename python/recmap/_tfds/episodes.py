"""Episodes: records with a nested data set of steps, as RLDS has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from .._base.names import near_names
from .._dataset.description import Steps
from .._example.features import Sliced
from .connectors import Field, Leaf
from .specs import DTYPES, SHAPE, dtype_of, picture_of, raw_of

__all__ = ["chosen_steps", "steps_of"]


def steps_of(fields: Iterable[Field], features: Mapping[str, Any]) -> tuple[Steps, ...]:
    """The nested data sets of each record.

    Args:
        features: of the records, by name.
    """
    fields = list(fields)
    names = dict.fromkeys(field.dataset for field in fields if field.dataset is not None)
    inner = {field.path for field in fields if field.dataset is not None}
    of_episodes = {
        name: feature for name, feature in features.items() if name.removesuffix(SHAPE) not in inner
    }
    return tuple(_steps(name, fields, of_episodes) for name in names)


def _steps(name: str, fields: Iterable[Field], of_episodes: Mapping[str, Any]) -> Steps:
    """The steps of one nested data set. Those of others are left out of its windows."""
    own = [field for field in fields if field.dataset == name and len(field.lengths) == 1]
    sizes = {field.path: _values_per_step(field.leaf) for field in own}
    counted = min(filter(sizes.get, sizes), key=sizes.__getitem__, default="")
    cut = {field.path: _sliced(field.leaf) for field in own}
    sliced = [(path, feature) for path, feature in cut.items() if feature is not None]
    return Steps(name, counted, sizes.get(counted, 1), (*sliced, *of_episodes.items()))


def _values_per_step(leaf: Leaf) -> int:
    """How many values a record has for each step; 0 if that is not known."""
    if leaf.kind in ("image", "unknown"):
        return int(leaf.kind == "image")
    if None in leaf.shape:
        return 0
    return math.prod(leaf.shape) if leaf.encoding == "none" else 1  # type: ignore[arg-type]


def _sliced(leaf: Leaf) -> Sliced | None:
    """The values of the steps of a window; None if they cannot be cut."""
    if leaf.kind == "image":
        picture = picture_of(leaf)
        return None if picture is None or picture.size is None else Sliced((), picture, pad="edge")
    if leaf.kind == "unknown" or leaf.dtype not in DTYPES or None in leaf.shape:
        return None
    if leaf.encoding == "none":
        return Sliced(leaf.shape, dtype_of(leaf), pad="edge")
    if leaf.dtype == "string":
        return Sliced((), bytes, pad="edge")
    return Sliced(leaf.shape, leaf.dtype, pad="edge", raw=raw_of(leaf))


def chosen_steps(steps: Iterable[Steps], name: str | None) -> Steps:
    """The nested data set of this name; without one, "steps" or the only one.

    Raises:
        ValueError: there is none, or a choice is needed.
    """
    known = {one.name: one for one in steps}
    if not known:
        raise ValueError("windows needs records with steps, of a data set of recmap.tfds.open")
    if name is None and ("steps" in known or len(known) == 1):
        name = "steps" if "steps" in known else next(iter(known))
    listed = ", ".join(map(repr, known))
    if name is None:
        raise ValueError(
            f"name one of the nested data sets, such as steps={next(iter(known))!r}: "
            f"there are {listed}"
        )
    if name not in known:
        near = near_names(name, known, 1)
        meant = f". Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no nested data set {name!r}, only {listed}{meant}")
    if not known[name].counted:
        raise ValueError(
            f"the steps of {name!r} cannot be counted: none of its features has a "
            "known number of values for each step. Make an order of recmap.Windows from counts of "
            "your own"
        )
    return known[name]
