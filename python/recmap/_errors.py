"""The exceptions of recmap, and the one place where a status of the C library becomes one."""

from __future__ import annotations

import errno
import re
from typing import Any

__all__ = [
    "CancelledError",
    "CorruptIndexError",
    "CorruptRecordError",
    "Error",
    "FeatureError",
    "FileMissingError",
    "FilePermissionError",
    "IdNotFoundError",
    "InvalidError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "StaleIndexError",
    "StateMismatchError",
    "StorageError",
    "UnsupportedError",
]


class Error(Exception):
    """What every exception of recmap derives from.

    Each is also the built-in exception that fits, so that ``except ValueError`` works as well.
    Wrong arguments are TypeError and ValueError, as everywhere; those that the library finds are
    `InvalidError`, a ValueError, too.

    Attributes:
        message: what was found and what was expected, one line.
        path: the file it is about, or None. A shard's is as its index names it: absolute, or
            relative to the index's folder.
        record: the record's number in the data set, or None.
        offset: the byte in that file (in what it inflates to, where it is compressed), or None.
            Of a record that cannot be parsed, the byte in the record.
        advice: what to do, one line, or "".
    """

    message: str
    path: str | None
    record: int | None
    offset: int | None
    advice: str

    def __init__(
        self,
        message: str = "",
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        advice: str = "",
        error_number: int = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.record = record
        self.offset = offset
        self.advice = advice
        self._error_number = error_number

    def __str__(self) -> str:
        where = [] if self.path is None else [self.path]
        if self.record is not None:
            at = "" if self.offset is None else f" at byte {self.offset}"
            where.append(f"record {self.record}{at}")
        elif self.offset is not None:
            where.append(f"byte {self.offset}")
        line = ": ".join([*where, self.message])
        return f"{line}\n  {self.advice}" if self.advice else line

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.message, self.path, self.record, self.offset, self.advice)
        return type(self), (*fields, self._error_number)


class CorruptRecordError(Error, ValueError):
    """A record's bytes do not fit their checksum, or are no message of the kind asked for; or a
    shard as a whole cannot be indexed."""


class CorruptIndexError(Error, ValueError):
    """An index or a saved state is damaged."""


class StaleIndexError(Error, ValueError):
    """The shards are others than those that were indexed."""


class StateMismatchError(Error, ValueError):
    """A saved state, or a part of an index, belongs to another data set or order."""


class FeatureError(Error, ValueError):
    """A record's features are not as asked."""


class IdNotFoundError(Error, KeyError):
    """No record has this id; or there is no column, no position, of this name or number."""


class InvalidError(Error, ValueError):
    """An argument that cannot be."""


class OutOfRangeError(Error, IndexError):
    """There is no such record, position or row."""


class UnsupportedError(Error, ValueError):
    """A format that this version does not know."""


class StorageError(Error, OSError):
    """A file could not be opened, read or written; ``errno`` says why."""

    def __init__(self, *fields: Any, **named: Any) -> None:
        super().__init__(*fields, **named)
        self.errno = self._error_number or None
        self.filename = self.path


class FileMissingError(StorageError, FileNotFoundError):
    """A file is not there."""


class FilePermissionError(StorageError, PermissionError):
    """A file may not be opened or written."""


class OutOfMemoryError(Error, MemoryError):
    """There was not enough memory."""


class CancelledError(Error):
    """A long operation was stopped."""


for _name in __all__:
    globals()[_name].__module__ = "recmap"  # where they are found, and what tracebacks print


_CLASSES: dict[str, type[Error]] = {
    "NOT_FOUND": IdNotFoundError,
    "INVALID": InvalidError,
    "STALE": StaleIndexError,
    "MISMATCH": StateMismatchError,
    "FEATURE": FeatureError,
    "UNSUPPORTED": UnsupportedError,
    "NO_MEMORY": OutOfMemoryError,
    "CANCELLED": CancelledError,
}
_BY_ERRNO: dict[int, type[Error]] = {
    errno.ENOENT: FileMissingError,
    errno.ENOTDIR: FileMissingError,
    errno.EACCES: FilePermissionError,
    errno.EPERM: FilePermissionError,
    errno.EROFS: FilePermissionError,
}


def _code(code: str) -> str:
    """What ``--on-corrupt skip`` and ``recmap index --lift label`` are in Python."""
    command, dashes, option = code.partition("--")
    if command not in ("", "recmap index", "recmap index "):
        return code  # that is for the shell, here too
    call = "recmap.index" if command else ""
    if not dashes:
        return call or code
    name, _, value = option.partition(" ")
    feature = value.removesuffix("=DEFAULT")
    if name == "lift":
        given = f'["{value}"]' if feature == value else f'{{"{feature}": DEFAULT}}'
    else:
        given = f'"{value}"'
    keyword = f"{name.replace('-', '_')}={given}"
    return f"{call}(..., {keyword})" if call else keyword


def in_python(advice: str) -> str:
    """Advice of the library, which names options as the command has them, in Python's words."""
    parts = advice.split("`")  # every other one is code
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = _code(part)
        else:
            words = re.sub(r"(?<= )--([a-z-]+)", lambda at: f"{at[1].replace('-', '_')}=", part)
            parts[i] = words.replace("(-o NAME.rmx)", '(index="NAME.rmx")')
    return "`".join(parts)


def exception_of_status(
    status: str,
    message: str,
    path: str | None,
    record: int | None,
    offset: int | None,
    advice: str,
    error_number: int,
) -> Error:
    """The exception for a failed call of the C library."""
    if status == "IO" or error_number == errno.ENOENT:  # also of a name that nothing has
        kind = _BY_ERRNO.get(error_number, StorageError)
    elif status == "CORRUPT":
        kind = CorruptIndexError if record is None else CorruptRecordError
    else:
        kind = _CLASSES.get(status, Error)
    return kind(message, path, record, offset, in_python(advice), error_number)
