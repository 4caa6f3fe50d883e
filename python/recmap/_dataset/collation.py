"""Refuses PyTorch's own collation of records, which would make integers of their bytes."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from .. import _recmap

__all__ = ["refuse_own_collation", "watch_collation"]

_TORCH = "torch.utils.data"
_is_watched = False


def refuse_own_collation(caller: FrameType, advice: str) -> None:
    """Raises if a DataLoader would collate records by itself: it would stack their bytes."""
    collate = getattr(caller.f_locals.get("self"), "collate_fn", None)
    if getattr(collate, "__module__", "") == "torch.utils.data._utils.collate":
        raise TypeError(f"PyTorch does not parse records: write {advice}")


def watch_collation() -> None:
    """Registers a collation of records with PyTorch, if that is loaded.

    A DataLoader asks a data set inside another one, such as a ConcatDataset, for single records, so
    nothing but their collation can tell. PyTorch documents the table of collations as the place to
    add other types.
    """
    global _is_watched
    if _is_watched or _TORCH not in sys.modules:
        return
    from torch.utils.data._utils.collate import default_collate_fn_map

    default_collate_fn_map.setdefault(memoryview, _collate)
    _is_watched = True


def _collate(views: list[memoryview], *, collate_fn_map: Any = None) -> Any:
    """Views of other objects become what they become without this function."""
    from torch.utils.data._utils.collate import collate

    if isinstance(views[0].obj, _recmap.Handle):
        raise TypeError(
            "PyTorch does not parse records: put recmap.torch.MapDataset(ds, features) into the "
            "ConcatDataset or data set of your own, or write "
            "recmap.torch.MapDataset(recmap.concat([ds, ...]), features)"
        )
    return collate([list(view) for view in views], collate_fn_map=collate_fn_map)
