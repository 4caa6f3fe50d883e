"""The warning that an epoch inflates each span of compressed shards many times."""

from __future__ import annotations

import json

from .._base.plural import counted
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._display.text import size_text
from .._order.orders import Order, Shuffled, Stratified, Weighted, WithReplacement

__all__ = ["warn_of_inflating"]

_TRUE_SHUFFLES = (Shuffled, Stratified, Weighted, WithReplacement)
_MIN = 2  # times in an epoch: below, the epoch is not slow


def warn_of_inflating(dataset: Dataset, order: Order, batch_size: int, world_size: int) -> None:
    """Warns if a true shuffle needs more inflated spans than are kept in memory, and no cache on
    the disk keeps them."""
    if not isinstance(order, _TRUE_SHUFFLES):
        return
    if any(opened.storage.cache is not None for opened in dataset._options.opened()):
        return
    spans = json.loads(dataset._info_json(False))["compressed"]
    if not spans or spans["inflated_bytes"] <= spans["kept_bytes"]:
        return
    times = _times(spans, len(order) / world_size, batch_size)
    if times < _MIN:
        return
    block = max(1, 4 * dataset._record_count() // spans["spans"])
    warn_caller(
        f"in this shuffle, an epoch inflates each of {counted(spans['spans'], 'span')} of the "
        f"compressed shards about {times:.0f} times, because {size_text(spans['kept_bytes'])} of "
        f"{size_text(spans['inflated_bytes'])} are kept in memory. Keep them on a local disk with "
        f"recmap.open(..., storage=recmap.Storage(cache=FOLDER)), shuffle with recmap.Windowed(n, "
        f"block={block}, window=...), or write plain shards with `recmap cat --decompress -o "
        f"out@N` (docs/guide/compressed.md)"
    )


def _times(spans: dict[str, int], record_count: float, batch_size: int) -> float:
    """How often this rank inflates a span in an epoch: the records of a batch that are in the same
    span share it, and of the others, as many are found in memory as it holds."""
    share = 1 - (1 - 1 / spans["spans"]) ** batch_size  # of the spans, that a batch needs
    missed = 1 - spans["kept_bytes"] / spans["inflated_bytes"]
    return record_count / batch_size * share * missed
