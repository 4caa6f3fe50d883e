"""The moves of a loader: who is asked before a move, and notified after it."""

from __future__ import annotations

import weakref
from typing import Protocol

__all__ = ["Follower", "Moves"]


class Follower(Protocol):
    """An adapter that may have read batches ahead of the loop, in worker processes for example."""

    def refuse_move(self) -> None:
        """Raises if a running `for` would still give batches that were read before the move."""

    def note_move(self) -> None:
        """Called after each move of the loader."""


class Ahead(Protocol):
    """A `for` of an adapter that has read ahead and does not know which batches were delivered."""

    @property
    def epoch(self) -> int:
        """The epoch in which the `for` began."""
        ...


class Moves:
    """Counts the moves of a loader by `load_state_dict` and `seek`, and knows its followers."""

    def __init__(self) -> None:
        self.count = 0
        self.ahead: Ahead | None = None  # has not ended, and no move followed
        self.has_warned = False  # of a `for` that was left while it was ahead
        self._followers: list[weakref.ref[Follower]] = []

    def add(self, follower: Follower) -> None:
        """Adds a follower. It is referenced weakly: adding it does not keep it alive."""
        self._followers = [known for known in self._followers if known() is not None]
        self._followers.append(weakref.ref(follower))

    def _alive(self) -> list[Follower]:
        return [follower for known in self._followers if (follower := known()) is not None]

    def check(self) -> None:
        for follower in self._alive():
            follower.refuse_move()

    def note(self) -> None:
        self.count += 1
        self.ahead = None
        for follower in self._alive():
            follower.note_move()
