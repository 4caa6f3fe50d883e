"""Random images of the positions of an epoch, for frameworks whose tasks read any of them."""

from __future__ import annotations

from .._dataset.dataset import Dataset
from .._example.draws import Draws, SourceDraws
from .._example.features import Features
from .._order.orders import Order, Sequential
from .view_order import order_over

__all__ = ["draws_of_epoch"]


def draws_of_epoch(
    dataset: Dataset,
    features: Features | None,
    order: Order | None,
    epoch: int | None,
    seed: int,
) -> Draws | None:
    """The draws that a loader with the same seed and order has in an epoch; `Draws.run` gives those
    of positions. None if no image is random.

    Raises:
        InvalidError: an image is random, and the epoch is None.
    """
    advice = "give epoch= and the seed= of the run, and make this again for each epoch"
    source = SourceDraws.of(seed, epoch, advice, features)
    source.warn_of_seed()
    draws = source.at()
    if draws is None:
        return None
    inner = order_over(dataset, order or Sequential(len(dataset)))
    return draws._replace(repeats=inner.repeats())
