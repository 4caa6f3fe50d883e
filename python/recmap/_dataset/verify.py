"""The check of the records of a view."""

from __future__ import annotations

from typing import Any

from .._base.errors import CorruptRecordError, Error, StaleIndexError
from .._display.progress import Progress, shown
from .._options.options import is_url
from .records import Dataset as Records

__all__ = ["verify_records"]

_GROUP = 1024  # records that are read at a time


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
