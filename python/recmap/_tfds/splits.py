"""Splits of TFDS, such as "train[:80%]+test", as ranges of records.

The grammar and the rounding are those of tensorflow_datasets 4.9 (core/splits.py,
core/subsplits_utils.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from .._base.names import near_names
from .._base.numbers import natural
from .._base.plural import counted

__all__ = ["EvenSplit", "Range", "Split", "SplitSum", "even_splits", "ranges_of"]

_PART = re.compile(r"(?P<name>[\w-]+)(\[(?P<bounds>[\w%:.-]+)\])?", re.ASCII)
_BOUND = re.compile(r"((?P<number>-?[\d_.]+)(?P<unit>%|shard)?)?", re.ASCII)
_GRAMMAR = 'a split is "train", "train[:80%]", "train[100:-50]", "train[2shard:]" or "train+test"'


class Range(NamedTuple):
    """The records of a split that are wanted: [first, end)."""

    split: str
    first: int
    end: int


@dataclass(frozen=True)
class Split:
    """A split as TFDS's own objects expect it."""

    name: str
    shard_lengths: Sequence[int]

    @property
    def num_examples(self) -> int:
        return sum(self.shard_lengths)


class _Term:
    """What can be added to a split: ``part + "test"``."""

    def __add__(self, other: Any) -> SplitSum:
        return SplitSum((self, other)) if _is_split(other) else NotImplemented

    def __radd__(self, other: Any) -> SplitSum:
        return SplitSum((other, self)) if _is_split(other) else NotImplemented


@dataclass(frozen=True)
class SplitSum(_Term):
    """The records of splits, one split after the other."""

    terms: tuple[Any, ...]


@dataclass(frozen=True)
class EvenSplit(_Term):
    """One of `count` parts of a split, which differ by at most one record."""

    split: Any
    index: int
    count: int
    drop_remainder: bool

    def of(self, range_: Range) -> Range:
        """This part of a range."""
        size, rest = divmod(range_.end - range_.first, self.count)
        spare = 0 if self.drop_remainder else rest
        first = range_.first + size * self.index + min(self.index, spare)
        end = range_.first + size * (self.index + 1) + min(self.index + 1, spare)
        return Range(range_.split, first, end)


def even_splits(split: Any, n: int, *, drop_remainder: bool = False) -> list[EvenSplit]:
    """`n` parts of a split that together are all of it, for `open`: ``even_splits("train", 4)``.
    Parts and splits can be added: ``part + "test"``.

    Args:
        split: what `open` takes as a split, also one of these parts.
        n: how many parts.
        drop_remainder: leave out the last records of each split that do not divide evenly. Else the
            first parts have one more.
    """
    count = natural("n", n)
    if not count:
        raise ValueError("n must be at least 1")
    return [EvenSplit(split, index, count, drop_remainder) for index in range(count)]


def _is_split(value: Any) -> bool:
    return isinstance(value, (str, _Term)) or hasattr(value, "to_absolute")


def ranges_of(split: Any, splits: Mapping[str, Split]) -> list[Range]:
    """The ranges of records that a split means, in its order.

    Args:
        split: a text, an `EvenSplit`, a sum, or an object of tensorflow_datasets.

    Raises:
        ValueError: the text is not a split, names one that does not exist, or exceeds it.
    """
    if isinstance(split, EvenSplit):
        return [split.of(range_) for range_ in ranges_of(split.split, splits)]
    if isinstance(split, SplitSum):
        return [range_ for term in split.terms for range_ in ranges_of(term, splits)]
    if isinstance(split, str):
        return [range_ for part in re.split(r"\s*\+\s*", split) for range_ in _of(part, splits)]
    if not hasattr(split, "to_absolute"):
        raise TypeError(f"{_GRAMMAR}, or a split of tensorflow_datasets; not {split!r}")
    return [
        _bounded(range_.splitname, range_.from_ or 0, range_.to, splits)
        for range_ in split.to_absolute(splits)
    ]


def _bounded(name: str, first: int, end: int | None, splits: Mapping[str, Split]) -> Range:
    count = splits[name].num_examples
    last = count if end is None else end
    return Range(name, first, max(first, last))


def _unknown(name: str, splits: Mapping[str, Split]) -> str:
    names = ", ".join(map(repr, splits)) or "none"
    near = near_names(name, splits, 1)
    meant = f". Did you mean {near[0]!r}?" if near else ""
    return f"there is no split {name!r}: the splits are {names}{meant}"


def _of(part: str, splits: Mapping[str, Split]) -> list[Range]:
    """The ranges of one term of a sum."""
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not a split: {_GRAMMAR}")
    name, bounds = match["name"], match["bounds"]
    if name == "all" and name not in splits:
        if bounds:
            raise ValueError(f"{part!r}: all splits together have no slices; slice each of them")
        return [Range(name, 0, split.num_examples) for name, split in splits.items()]
    if name not in splits:
        raise ValueError(_unknown(name, splits))
    if bounds is None:
        return [Range(name, 0, splits[name].num_examples)]
    return [_slice(part, splits[name], bounds)]


def _slice(part: str, split: Split, text: str) -> Range:
    bounds = [_BOUND.fullmatch(bound) for bound in text.split(":")]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds) or len(bounds) > 2 or not any(bound[0] for bound in known):
        raise ValueError(f"{part!r} is not a split: {_GRAMMAR}")
    if len(known) == 1:  # of the form train[2shard]
        if known[0]["unit"] != "shard":
            raise ValueError(f'{part!r}: only shards have a single number; write "[3:4]"')
        first = _number(part, known[0]["number"], "shard")
        return _in_range(part, split, first, first + 1, "shard")
    numbers = [bound["number"] for bound in known]
    unit = known[0]["unit"] or known[1]["unit"] or ""
    first, end = (None if number is None else _number(part, number, unit) for number in numbers)
    return _in_range(part, split, first, end, unit)


def _number(part: str, text: str, unit: str) -> Any:
    """A bound: a whole number, or with "%" any number from -100 to 100."""
    try:
        number = float(text) if unit == "%" else int(text)
    except ValueError:
        raise ValueError(f"{part!r}: {text!r} is not a number of {unit or 'records'}") from None
    if unit == "%" and abs(number) > 100:
        raise ValueError(f"{part!r}: percentages are -100 to 100, not {text}")
    return number


def _in_range(part: str, split: Split, first: Any, end: Any, unit: str) -> Range:
    count = split.num_examples
    if unit == "%":
        first, end = (
            None if bound is None else round(bound * count / 100) for bound in (first, end)
        )
    elif unit == "shard":
        first, end = _shard_bounds(split, first, end)
    first, end = 0 if first is None else first, count if end is None else end
    if abs(first) > count or abs(end) > count:
        raise ValueError(f"{part!r}: the split has only {counted(count, 'record')}")
    first, end = (bound + count if bound < 0 else bound for bound in (first, end))
    return Range(split.name, first, max(first, end))


def _shard_bounds(split: Split, first: int | None, end: int | None) -> tuple[int, int | None]:
    """Bounds in records; negative ones count from the last shard."""
    starts = list(accumulate(split.shard_lengths, initial=0))
    shards = range(len(split.shard_lengths))
    first_shard = len(shards[:first]) if first is not None else 0
    if end is not None and end <= 0:
        end += len(shards)
    return starts[first_shard], None if end is None else starts[len(shards[:end])]
