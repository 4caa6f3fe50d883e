"""What random images depend on, besides the number of the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._base.errors import InvalidError
from .._base.numbers import uint64_of
from .._base.warn import warn_caller
from .images import random_image_of

__all__ = ["Draws", "SourceDraws", "draws_of"]


class Draws(NamedTuple):
    """The draws of the records of a parse, as the extension expects them."""

    seed: int
    epoch: int
    positions: Any = None  # in the epoch, of each record; None: they are not known
    numbers: Any = None  # of each record, instead of its own, as in a join
    repeats: bool = False  # positions count, because the order may hold a record twice

    def run(self, first: int, end: int) -> Draws:
        """The draws of the records at these positions."""
        return self._replace(positions=np.arange(first, end, dtype=np.uint64))


def draws_of(seed: int | None, epoch: int | None, positions: Any) -> Draws | None:
    """The draws that the arguments of a parse describe; None: nothing random can be drawn."""
    if (seed is None) != (epoch is None) or (seed is None and positions is not None):
        raise ValueError("seed and epoch belong together: give both, or neither")
    if seed is None or epoch is None:
        return None
    places = None if positions is None else np.ascontiguousarray(positions, np.uint64)
    drawn = uint64_of("seed", seed), uint64_of("epoch", epoch)
    return Draws(*drawn, places, repeats=places is not None)


@dataclass(frozen=True)
class SourceDraws:
    """The draws of a source of a framework, which may not know the epoch of what it reads."""

    seed: int  # as a loader's
    epoch: int | None  # of all that is read; None: it is not known
    feature: str | None  # a random image, by its name in the records; None: there is none
    advice: str  # how to give the epoch

    @classmethod
    def of(
        cls, seed: int, epoch: int | None, advice: str, *features: Mapping[str, Any] | None
    ) -> SourceDraws:
        feature = random_image_of(*features)
        first = uint64_of("seed", seed), None if epoch is None else uint64_of("epoch", epoch)
        return cls(*first, feature, advice)

    def warn_of_seed(self) -> None:
        """Warns of a seed that nothing uses, as of a shuffle that somebody expects from it."""
        if self.seed and self.feature is None:
            warn_caller(
                f"seed={self.seed} has no effect: no crop or flip of the features is random"
            )

    def at(
        self, epoch: int | None = None, *, positions: Any = None, numbers: Any = None
    ) -> Draws | None:
        """The draws of some records; None if nothing is random. `epoch` is used if the source was
        given none.

        Raises:
            InvalidError: the epoch is not known.
        """
        if self.feature is None:
            return None
        known = epoch if self.epoch is None else self.epoch
        if known is None:
            raise InvalidError(
                f"feature {self.feature!r} is random, but the epoch is not known",
                advice=self.advice,
            )
        return Draws(self.seed, known, positions, numbers, positions is not None)
