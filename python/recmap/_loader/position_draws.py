"""Random images of the positions of an epoch, for frameworks whose tasks read any of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._dataset.dataset import Dataset
from .._example.draws import Draws, SourceDraws
from .._example.features import Features
from .._order.orders import Order, Sequential
from .view_order import order_over

__all__ = ["PositionDraws"]


@dataclass(frozen=True)
class PositionDraws:
    """The draws that a loader with the same seed and order has at positions of one epoch."""

    seed: int
    epoch: int
    are_counted: bool  # whether the order may hold a record twice, so that positions count

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        features: Features | None,
        order: Order | None,
        epoch: int | None,
        seed: int,
    ) -> PositionDraws | None:
        """Returns None if no image is random. Raises InvalidError if one is, and the epoch is
        None."""
        advice = "give epoch= and the seed= of the run, and make this again for each epoch"
        source = SourceDraws.of(seed, epoch, advice, features)
        source.warn_of_seed()
        draws = source.at()
        if draws is None:
            return None
        inner = order_over(dataset, order or Sequential(len(dataset)))
        return cls(draws.seed, draws.epoch, inner.repeats())

    def at(self, first: int, end: int) -> Draws:
        places = np.arange(first, end, dtype=np.uint64) if self.are_counted else None
        return Draws(self.seed, self.epoch, places)
