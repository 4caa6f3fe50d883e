"""The arguments of loaders: their types and checks."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._columns import Positions
from .._dataset.missing import Missing
from .._order.orders import Order

__all__ = [
    "LAST",
    "ON_BAD_RECORD",
    "READAHEAD",
    "Last",
    "LoaderOptions",
    "OnBadRecord",
    "Readahead",
    "one_of",
]

Last: TypeAlias = Literal["keep", "drop", "pad"]
OnBadRecord: TypeAlias = Literal["error", "skip", "substitute"]
Readahead: TypeAlias = Literal["auto", "on", "off"]

LAST = {"keep": 0, "drop": 1, "pad": 2}
ON_BAD_RECORD = {"error": 0, "skip": 1, "substitute": 2}
READAHEAD = {"auto": 0, "off": 1, "on": 2}


def one_of(name: str, value: Any, table: dict[str, int]) -> int:
    if value not in table:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, table))}, not {value!r}")
    return table[value]


class LoaderOptions(TypedDict, total=False):
    """Arguments of `Loader` that do not change what a batch is."""

    shuffle: bool
    seed: int
    order: Order | None
    rank: int | Literal["auto"] | None
    world_size: int | None
    epochs: float | None
    last: Last
    threads: int
    batches_ahead: int
    on_bad_record: OnBadRecord
    missing: Missing
    row_positions: Positions
    readahead: Readahead
    transform_threads: int | None
