"""Loading states: their checks, and finishing an epoch that was begun before the data set grew."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import _recmap
from .._base.errors import CorruptStateError, UnsupportedError
from .._base.numbers import Int64s
from .._base.plural import counted
from .._dataset.dataset import Dataset
from .._display.text import joined
from .._order.orders import Order
from .view_order import order_over

__all__ = [
    "Grown",
    "OldRecords",
    "check_grown",
    "check_mapping",
    "check_state",
    "is_well_formed",
    "old_order",
    "old_records",
    "old_rows",
    "old_side",
    "plain_state",
]

Grown: TypeAlias = Literal["finish"]

_FINGERPRINT = re.compile("[0-9a-f]{32}")
_COUNT_LIMIT = 2**64


@dataclass(frozen=True)
class OldRecords:
    """The records that a data set had before it grew. Epochs up to `last_epoch` use them."""

    last_epoch: int
    dataset: Dataset  # a view of them
    order: Order
    is_whole: bool  # they were a whole data set, not a view
    identity: tuple[bytes, int]  # fingerprint and number of records of that data set

    @cached_property
    def inner(self) -> _recmap.Order:
        """The order, by numbers in the whole data set."""
        return self.order._order if self.is_whole else order_over(self.dataset, self.order)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.last_epoch, self.dataset, self.order, self.is_whole, self.identity
        return type(self), parts


def check_grown(grown: object, changed: bool = False) -> None:
    """Raises ValueError unless `grown` is a value of that argument, and allowed with `changed`."""
    if grown not in (None, "finish"):
        raise ValueError(f"grown must be None or 'finish', not {grown!r}")
    if grown is not None and changed:
        raise ValueError(
            'pass grown="finish" or changed=True, not both: with "finish" the state must match the '
            "first records; changed=True takes only the epoch and the position from it"
        )


def check_mapping(state: object) -> Mapping[str, Any]:
    """Returns `state`. Raises TypeError if it is not a dict."""
    if not isinstance(state, Mapping):
        kind = type(state).__name__
        raise TypeError(f"state must be a dict, as state_dict() returns, not {kind}")
    return state


def check_state(state: object) -> None:
    """Raises TypeError or CorruptStateError if `state` is not the state of a loader."""
    state = check_mapping(state)
    if "format_version" not in state:
        keys = joined(map(repr, state), len(state), 10) or "none"
        raise CorruptStateError(
            f"this is not the state of a loader: its keys are {keys}",
            advice="Pass the dict that state_dict() returned, not the one it was saved in.",
        )


def plain_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the state as plain JSON values: its integers may be NumPy's."""
    plain: dict[str, Any] = json.loads(json.dumps(state, default=operator.index))
    return plain


def is_well_formed(state: Mapping[str, Any]) -> bool:
    """Returns true if the members that are needed before a plain state is loaded can be used.

    If it returns false, loading the state raises an error that says what is wrong with it.
    """
    counts = [state.get(name) for name in ("record_count", "epoch", "position")]
    fingerprint = state.get("fingerprint")
    return (
        all(type(count) is int and 0 <= count < _COUNT_LIMIT for count in counts)
        and isinstance(fingerprint, str)
        and _FINGERPRINT.fullmatch(fingerprint) is not None
    )


def old_order(order: Order, count: int, given: Order | None, advice: str = "") -> Order:
    """Returns `given`, or without it the order as it was over the first `count` records."""
    found = order._of_first(count) if given is None else given
    if found is not None:
        return found
    raise UnsupportedError(
        f"what the order was before the data set grew does not follow from {order!r}",
        advice=advice
        or f"Make the order of the state, over its {counted(count, 'record')}, and pass it: "
        'load_state_dict(state, order=order, grown="finish").',
    )


def old_rows(views: Mapping[str, Dataset], states: Mapping[str, Any]) -> Int64s | None:
    """The rows of a join that it had when the states were saved; None if those are all.

    They are the rows whose records are all among the first ones of their data sets.
    """
    are_old = np.ones(len(next(iter(views.values()))), np.bool_)
    for name, view in views.items():
        are_old &= view._selection.records() < states[name]["record_count"]
    return None if are_old.all() else np.flatnonzero(are_old)


def old_side(view: Dataset, order: Order, state: Mapping[str, Any], rows: Int64s) -> OldRecords:
    """Returns the old records of one data set of a join that had `rows` when `state` was saved."""
    epoch = state["epoch"]
    advice = f"Continue with the next epoch instead: loader.seek({epoch + 1})."
    chosen = old_order(order, len(rows), None, advice)
    identity = bytes.fromhex(state["fingerprint"]), state["record_count"]
    return OldRecords(epoch, view.select(rows), chosen, False, identity)


def old_records(
    dataset: Dataset, order: Order, state: Mapping[str, Any], given: Order | None
) -> OldRecords | None:
    """Returns the records that the data set had when `state` was saved.

    Returns None if it has no more records now, and for a malformed state, whose loading fails.
    """
    if not is_well_formed(state) or state["record_count"] >= dataset._record_count():
        return None
    count = state["record_count"]
    view = _first(dataset, count)
    chosen = old_order(order, len(view), given)
    identity = bytes.fromhex(state["fingerprint"]), count
    return OldRecords(state["epoch"], view, chosen, dataset._is_whole(), identity)


def _first(dataset: Dataset, count: int) -> Dataset:
    """Returns a view of the items that are among the data set's first `count` records."""
    if dataset._is_whole():
        return dataset[:count]
    items = np.flatnonzero(dataset._selection.records() < count)
    if len(items) and items[-1] - items[0] + 1 == len(items):
        return dataset[int(items[0]) : int(items[-1]) + 1]
    return dataset.select(items)
