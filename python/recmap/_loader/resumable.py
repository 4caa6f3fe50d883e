"""The states of a loader, and its moves to other places."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from typing import Any

from .. import _recmap
from .._dataset.missing import FirstBatchCheck
from .epoch_orders import EpochOrders
from .grown import OldRecords
from .moves import Moves

__all__ = ["CHANGED", "CONTINUED", "SAME", "Resumable"]

SAME, CONTINUED, CHANGED = range(3)  # which states are loaded


class Resumable(EpochOrders):
    """The part of a loader that makes states of its places, and moves to others."""

    _first_batch: FirstBatchCheck
    _identity: tuple[bytes, int]
    _moves: Moves
    _restarts: bool
    _state_seed: int | None

    def _state_at(self, epoch: int, position: int) -> dict[str, Any]:
        old, inner = self._old_of(epoch), self._inner_of(epoch)
        identity = self._identity if old is None else old.identity
        text = _recmap.state_create(
            *identity, inner.count(), epoch, position, inner.describe(), self._state_seed
        )
        state: dict[str, Any] = json.loads(text)
        return state

    def _load_old(self, state: Mapping[str, Any], old: OldRecords) -> None:
        """Loads a state of old records. The loader finishes the state's epoch over them."""
        self._moves.check()
        text = json.dumps(state, default=operator.index)
        self._loader.load(text, SAME, old.inner)
        self._old = old if state["position"] else None
        self._note_load()

    def _return_to(self, state: Mapping[str, Any], old: OldRecords | None, was_moved: bool) -> None:
        """Returns to the former state of the loader, after a state of a join was refused."""
        current = old if old is not None and state["epoch"] <= old.last_epoch else None
        self._loader.load(json.dumps(state), SAME, None if current is None else current.inner)
        self._old = old
        self._note_move()
        self._loader.set_moved(was_moved)

    def _adopt_old(self, old: OldRecords) -> None:
        """Uses the old records of another loader. The caller then moves this one to a position."""
        count = old.inner.count()
        text = _recmap.state_create(
            *old.identity, count, old.last_epoch, count, old.inner.describe(), None
        )
        self._loader.load(text, SAME, old.inner)
        self._old = old

    def _go_to(self, epoch: int, position: int) -> None:
        """Moves to another position of the present run, whose steps continue to be counted."""
        self._loader.go_back(epoch, position)
        self._note_move()

    def _note_move(self) -> None:
        """A run that has begun is only warned of a feature that its next batch lacks."""
        self._moves.note()
        if self._loader.tell() != (0, 0):
            self._first_batch.warn_only()

    def _note_load(self) -> None:
        """After its last batch, a `for` that began at the start has nothing to continue with."""
        self._note_move()
        epoch, position = self._loader.tell()
        end = 1 if self._epochs is None else self._epochs
        if self._restarts and epoch >= end and not position:
            self._loader.set_moved(False)

    def _is_at_end(self) -> bool:
        """Returns true if an epoch's last step was delivered, but not the end of its ``for``."""
        return self._loader.is_end_next()
