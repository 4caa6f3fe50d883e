"""Progress of long operations: tqdm in a notebook, a bar on a terminal, otherwise nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, TypeAlias

Progress: TypeAlias = "Callable[[int, int, int, str], object] | Literal['auto'] | None"
"""Called with bytes done, bytes in total, records so far, and the path of the current shard."""


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    return type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _in_units(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


class _Bar:
    """One line on a terminal that is redrawn."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._start = time.monotonic()
        self._drawn = self._start  # operations that finish at once show nothing
        self._width = 0

    def __call__(self, done: int, total: int, records: int, path: str) -> None:
        now = time.monotonic()
        if not total or now - self._drawn < 0.2:  # a merge reads no shards
            return
        self._drawn = now
        share = done / total
        rate = done / (now - self._start)
        left = (total - done) / rate if rate else 0.0
        filled = int(20 * share)
        line = (
            f"{self._title} [{'#' * filled}{'.' * (20 - filled)}] {share:4.0%}  "
            f"{records} records  {_in_units(rate)}/s  {left:.0f} s left"
        )
        self._show(line)

    def _show(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        if self._width:
            self._show("")
            sys.stderr.write("\r")


class _Notebook:
    """A progress bar of tqdm."""

    def __init__(self, title: str, bar: Any) -> None:
        self._bar = bar(desc=title, unit="B", unit_scale=True)

    def __call__(self, done: int, total: int, records: int, path: str) -> None:
        self._bar.total = total
        self._bar.n = done
        self._bar.set_postfix(records=records, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class shown:
    """``with shown("auto", "indexing") as call:`` gives the callable for the library, or None."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._bar: _Bar | _Notebook | None = None
        self._call: Callable[[int, int, int, str], object] | None = None
        if callable(progress):
            self._call = progress
        elif progress == "auto":
            self._call = self._bar = self._choose(title)
        elif progress is not None:
            raise ValueError(f'progress must be "auto", None or a callable, not {progress!r}')

    @staticmethod
    def _choose(title: str) -> _Bar | _Notebook | None:
        if _is_notebook():
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return None
            return _Notebook(title, tqdm)
        return _Bar(title) if sys.stderr is not None and sys.stderr.isatty() else None

    def __enter__(self) -> Callable[[int, int, int, str], object] | None:
        return self._call

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
