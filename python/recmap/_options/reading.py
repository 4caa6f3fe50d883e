"""How the records of an open data set are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.renamed import MOVED_TO

__all__ = ["ACCESS", "Access", "Reading", "check_choice", "reading_of"]

Access: TypeAlias = Literal["map", "read", "direct", "auto"]

ACCESS = {"map": 0, "read": 1, "direct": 2, "auto": 3}


@suggest_arguments
@dataclass(frozen=True)
class Reading:
    """How records are read, for `access=` of `open` and `index`.

    Args:
        access: "map" gives views into the mapped shards; "read" copies each record instead of
            mapping, also for indexing and `Dataset.verify`, as some file systems do not map files
            (recmap then reads them anyway, and warns); "direct" lets loaders bypass the page cache,
            for data that do not fit in memory (docs/frameworks/records.md; rows are read as by
            "read"); "auto" is "direct" if the shards are larger than the memory and direct reads
            are possible, otherwise "map".
        check_index: verify the hash of the whole index when opening it.
        index_in_memory: copy the index to memory.
        guard: raise an error instead of a fatal SIGBUS if a mapped shard is truncated.
        shard_limit: the maximum number of shards mapped at once; 0: as many as possible.
        span_keep_size: the maximum number of inflated bytes of compressed shards that this process
            keeps, over all threads; 0: 1 GiB. Data being read needs a few MiB per thread on top.
            Any value gives the same records. A true shuffle that needs more than this inflates
            again, a few MiB for each record or batch, unless ``Storage(cache=FOLDER)`` keeps them;
            ``ds.info["compressed"]`` has the sizes.
        allow_absolute_paths: allow an ``.rmx`` to name shards outside its own folder, and an
            ``.rmv`` to name such an index. Links that other users made in the folder are then
            followed as well.
        allow_missing_shards: open an ``.rmx`` even if none of its shards is found, for its ids,
            columns and ``ds.info``. Otherwise that is an error; shards in remote stores are not
            looked for.

    >>> reading = recmap.Reading("read", check_index=True)
    >>> len(recmap.open("data/digits", index=folder / "digits.rmx", access=reading))
    1797
    """

    access: Access = "map"
    _: KW_ONLY
    check_index: bool = False
    index_in_memory: bool = False
    guard: bool = False
    shard_limit: int = 0
    span_keep_size: int = 0
    allow_absolute_paths: bool = False
    allow_missing_shards: bool = False

    def __post_init__(self) -> None:
        check_choice("access", self.access, ACCESS)
        natural("shard_limit", self.shard_limit)
        natural("span_keep_size", self.span_keep_size)


MOVED_TO["access"] = Reading


def check_choice(name: str, value: str, choices: Mapping[str, int]) -> None:
    """Raises ValueError unless the argument has one of these values."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def reading_of(access: Access | Reading) -> Reading:
    """What `access=` says."""
    return access if isinstance(access, Reading) else Reading(access)
