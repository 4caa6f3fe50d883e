"""What metadata beside the shards says about the records."""

from __future__ import annotations

from dataclasses import dataclass

from .._example.features import Feature

__all__ = ["Description", "Steps"]

Features = tuple[tuple[str, Feature], ...]


@dataclass(frozen=True)
class Steps:
    """A data set within each record: the steps of an episode."""

    name: str
    counted: str  # the feature whose values are counted; "": they cannot be
    values_per_step: int  # of that feature
    window_features: Features


@dataclass(frozen=True)
class Description:
    """The features of the records, from metadata. It is pickled with the data set.

    Features are tuples of pairs instead of dicts, so that descriptions can be compared and are not
    changed by whoever has one.
    """

    features: Features
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the names of classes
    steps: tuple[Steps, ...] = ()  # if records are episodes
