"""Objects that `with` closes."""

from __future__ import annotations

from types import TracebackType
from typing import Self

__all__ = ["Closing"]


class Closing:
    """A context manager that is closed at the end of ``with``, also after an exception."""

    __slots__ = ()

    def close(self) -> None:
        raise NotImplementedError

    def _leave(self, has_failed: bool) -> None:
        """Ends the ``with``; has_failed: by an exception."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave(kind is not None)
