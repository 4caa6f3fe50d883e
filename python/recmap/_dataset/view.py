"""What describes a view rather than the whole data set: info, fingerprint, verify."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.errors import CorruptRecordError, Error, StaleIndexError
from .._display.progress import Progress, shown
from .._options.options import is_url

if TYPE_CHECKING:
    from .records import Records
    from .selectable import Selectable

__all__ = ["fingerprint_of", "info_of", "verify_records"]

_GROUP = 1024  # records that are read at a time


def info_of(view: Selectable, whole: dict[str, Any]) -> dict[str, Any]:
    """The info of the whole data set, with the records of the view."""
    numbers = view.numbers
    is_set = bool((numbers[1:] > numbers[:-1]).all())
    own = {"records": len(view), "total_records": whole["records"], "ordered": not is_set}
    return {**whole, **own, "fingerprint": view.fingerprint}


def fingerprint_of(view: Selectable) -> str:
    """A hash of the whole data set's fingerprint and of the numbers of the view's records."""
    digest = hashlib.blake2b(view._fingerprint(), digest_size=16)
    for first in range(0, len(view), 1 << 20):
        items = np.arange(first, min(first + (1 << 20), len(view)), dtype=np.uint64)
        digest.update(view._selection.records_at(items).astype("<u8").tobytes())
    return digest.hexdigest()


def verify_records(view: Records, progress: Progress) -> dict[str, Any]:
    """Reads and checks the records of the view. Returns a report as `Dataset.verify` does."""
    damage: list[dict[str, Any]] = []
    good = done = 0
    with shown(progress, "verifying") as call:
        for first in range(0, len(view), _GROUP):
            items = range(first, min(first + _GROUP, len(view)))
            try:
                done += view.gather(items).nbytes
                good += len(items)
            except (CorruptRecordError, StaleIndexError, OSError):
                found = [place for item in items if (place := _damage_at(view, item))]
                damage += found
                good += len(items) - len(found)
            if call is not None:
                call(done, done * len(view) // items.stop, items.stop, view.index_path)
    return {"records": len(view), "records_good": good, "damage": damage}


def _is_out_of_reach(error: Error) -> bool:
    """Returns true if a store, the network or the credentials failed, so that nothing is known
    about the records. A missing object is damage."""
    is_remote = error.path is not None and is_url(error.path)
    return is_remote and isinstance(error, OSError) and not isinstance(error, FileNotFoundError)


def _damage_at(view: Records, item: int) -> dict[str, Any] | None:
    """What is wrong with one record, if anything is."""
    try:
        view.gather([item])
    except (CorruptRecordError, StaleIndexError, OSError) as error:
        if not isinstance(error, Error) or _is_out_of_reach(error):
            raise
        return {
            "path": error.path,
            "record": error.record,
            "offset": error.offset,
            "length": None,
            "reason": error.message,
        }
    return None
