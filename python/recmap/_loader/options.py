"""The arguments of loaders: their types and checks."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal, TypeAlias, TypedDict

from .._columns import Positions
from .._dataset.missing import Missing
from .._order.orders import Order

__all__ = [
    "EPOCH_END",
    "LAST",
    "ON_BAD_RECORD",
    "READAHEAD",
    "WARM",
    "EpochEnd",
    "Epochs",
    "Last",
    "LoaderOptions",
    "OnBadRecord",
    "Readahead",
    "Warm",
    "epochs_of",
    "one_of",
]

EpochEnd: TypeAlias = Literal["next", "end"]
Epochs: TypeAlias = float | Literal["forever"] | None
Last: TypeAlias = Literal["keep", "drop", "pad"]
OnBadRecord: TypeAlias = Literal["error", "skip", "substitute"]
Readahead: TypeAlias = Literal["auto", "on", "off"]
Warm: TypeAlias = Literal["auto", "on", "off"]

EPOCH_END = {"next": 0, "end": 1}
LAST = {"keep": 0, "drop": 1, "pad": 2}
ON_BAD_RECORD = {"error": 0, "skip": 1, "substitute": 2}
READAHEAD = {"auto": 0, "off": 1, "on": 2}
WARM = {"off": 0, "on": 1, "auto": 2}


def one_of(name: str, value: Any, table: dict[str, int]) -> int:
    if value not in table:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, table))}, not {value!r}")
    return table[value]


def epochs_of(epochs: Epochs) -> float | None:
    """The number of epochs of a run, `math.inf` for "forever"; None: each ``for`` is one epoch."""
    if epochs is None or epochs == "forever":
        return math.inf if epochs else None
    if isinstance(epochs, bool) or not isinstance(epochs, Real):
        raise TypeError(f'epochs must be None, an integer or "forever", not {epochs!r}')
    if not epochs >= 0:  # or no number
        raise ValueError(f"epochs must not be negative, but is {epochs}")
    if epochs != math.inf and epochs != int(epochs):
        raise ValueError(f'epochs must be None, an integer or "forever", not {epochs}')
    return epochs


class LoaderOptions(TypedDict, total=False):
    """Arguments of `Loader` that do not change what a batch is."""

    shuffle: bool
    seed: int
    order: Order | None
    rank: int | Literal["auto"] | None
    world_size: int | None
    epochs: Epochs
    epoch_end: EpochEnd
    restart: bool
    last: Last
    threads: int
    batches_ahead: int
    on_bad_record: OnBadRecord
    missing: Missing
    row_positions: Positions
    readahead: Readahead
    transform_threads: int | None
    stall: float | None
    warm: Warm
