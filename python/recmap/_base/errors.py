"""Exceptions, and the conversion of a status of the C library into one."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
from typing import Any

__all__ = [
    "CancelledError",
    "ColumnNotFoundError",
    "CorruptIndexError",
    "CorruptRecordError",
    "CorruptStateError",
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


# What messages of the library escape: src/base/words/printable.c has the same table.
_UNPRINTABLE = (
    *((0x0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C)),
    *((0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E)),
    *((0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0)),
    *((0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
_ESCAPES = {
    code: chr(code).encode("unicode_escape").decode()
    for first, last in _UNPRINTABLE
    for code in range(first, last + 1)
}


def escaped(text: str) -> str:
    """The text with escapes for control characters and for characters that are invisible or change
    the direction of text, as in messages of the library: names of files and records are untrusted,
    and must not control a terminal, or look like others."""
    return text.translate(_ESCAPES)


def redacted(name: str) -> str:
    """The name of a file; of a URL, without what may be a secret, as in errors of the library: user
    information, query and fragment."""
    scheme, mark, rest = name.partition("://")
    if not mark or not re.fullmatch(r"[A-Za-z0-9+.-]+", scheme):
        return name
    plain = re.split(r"[?#]", rest)[0]
    authority, slash, path = plain.partition("/")
    end = rest[len(plain) : len(plain) + 1]
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}{end}{'...' if end else ''}"


class Error(Exception):
    """The base class of all exceptions of recmap.

    Each subclass also derives from the matching built-in exception, so ``except ValueError`` works
    too. Wrong arguments raise TypeError or ValueError, as usual. If the C library finds them, they
    raise `InvalidError`, which is a ValueError.

    Attributes:
        message: what was found and what was expected, in one line.
        path: the file, or None. Paths of shards are as in the index: absolute, or relative to the
            folder of the index.
        record: the number of the record in the data set, or None.
        offset: the byte in the file, or None. In compressed files, the byte in the inflated data.
            If a record cannot be parsed, the byte in the record.
        advice: what to do next, in one line, or "".
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
            byte = "" if self.offset is None else f" at byte {self.offset}"
            where.append(f"record {self.record}{byte}")
        elif self.offset is not None:
            where.append(f"byte {self.offset}")
        line = escaped(": ".join([*where, self.message]))
        return f"{line}\n  {escaped(self.advice)}" if self.advice else line

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.message, self.path, self.record, self.offset, self.advice)
        return type(self), (*fields, self._error_number)


class CorruptRecordError(Error, ValueError):
    """A record does not match its checksum or is not a message of the expected kind, or a shard
    cannot be indexed at all."""


class CorruptIndexError(Error, ValueError):
    """An index is damaged."""


class CorruptStateError(CorruptIndexError):
    """A saved state is damaged, or is not a state."""


class StaleIndexError(Error, ValueError):
    """The shards have changed since they were indexed."""


class StateMismatchError(Error, ValueError):
    """A saved state or a partial index belongs to another data set or order."""


class FeatureError(Error, ValueError):
    """A record's features do not match those asked for."""


class IdNotFoundError(Error, KeyError):
    """No record has this id, or it does not occur in this epoch."""


class ColumnNotFoundError(Error, KeyError):
    """The index has no column, or no element counts, of this name."""


class InvalidError(Error, ValueError):
    """An argument is invalid."""


class OutOfRangeError(Error, IndexError):
    """A record, position or row is out of range."""


class UnsupportedError(Error, ValueError):
    """The format is not supported by this version."""


class StorageError(Error, OSError):
    """A file could not be opened, read or written; ``errno`` has the reason."""

    def __init__(self, *fields: Any, **named: Any) -> None:
        super().__init__(*fields, **named)
        self.errno: int | None = self._error_number or None
        self.filename: Any = self.path


class FileMissingError(StorageError, FileNotFoundError):
    """A file does not exist."""


class FilePermissionError(StorageError, PermissionError):
    """The permissions of a file do not allow opening or writing it."""


class OutOfMemoryError(Error, MemoryError):
    """Memory is exhausted."""


class CancelledError(Error):
    """A long operation was cancelled."""


for _name in __all__:
    globals()[_name].__module__ = "recmap"  # as tracebacks print it


_CLASSES: dict[str, type[Error]] = {
    "NOT_FOUND": IdNotFoundError,
    "NO_COLUMN": ColumnNotFoundError,
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


_KINDS = {
    "FIXED_LEN": "FixedLen",
    "VAR_LEN": "VarLen",
    "FIXED_LEN_SEQUENCE": "FixedLenSequence",
    "SLICED": "Sliced",
}


def _feature_code(code: str) -> str:
    """Translates members of recmap_feature, or all of one between braces, to Python."""
    element = re.search(r"\.element = RECMAP_ELEMENT_(\w+)", code)
    kind = re.search(r"\.kind = RECMAP_FEATURE_(\w+)", code)
    if not element:
        return code
    dtype = f'"{element[1].lower()}"'
    if not kind:
        return f"dtype={dtype}"
    shape = re.search(r"\.shape = \(const uint64_t\[\]\){([^}]*)}", code)
    sizes = shape[1] if shape else ""
    given = [f"({sizes},)" if sizes.isdigit() else f"({sizes})", dtype, "raw=True"]
    if kind[1] == "VAR_LEN":
        del given[0]
    return f"{_KINDS[kind[1]]}({', '.join(given)})"


def _rebuild_call(words: list[str]) -> str:
    """Translates the command that builds an index of certain shards to a call of `recmap.open`.
    `words` follow ``recmap index``."""
    options, shards = [], []
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            options.append((word.lstrip("-"), words.pop(0)))
        else:
            shards.append(word)
    given = [_quoted(shards[0]) if len(shards) == 1 else _quoted(shards)]
    given += [f"index={_quoted(value)}" for name, value in options if name == "o"]
    given += [f"id={_quoted(value)}" for name, value in options if name == "id"]
    parts = [value.partition("=") for name, value in options if name == "lift"]
    lifts = {feature: default for feature, _, default in parts}
    if lifts:
        defaults = {name: value or None for name, value in lifts.items()}
        given.append(f"lift={_quoted(defaults if any(lifts.values()) else list(lifts))}")
    texts = (value if ":" in value else f"{value}:" for name, value in options if name == "count")
    counts = {feature: dtype for feature, _, dtype in (text.rpartition(":") for text in texts)}
    if counts:
        dtypes = {name: value or None for name, value in counts.items()}
        given.append(f"count={_quoted(dtypes if any(counts.values()) else list(counts))}")
    rest = (
        (name, value)
        for name, value in options
        if name in ("missing-values", "framing", "on-bad-record")
    )
    given += [f"{name.replace('-', '_')}={_quoted(value)}" for name, value in rest]
    return f"recmap.open({', '.join(given)}, rebuild=True)"


def _quoted(value: Any) -> str:
    """A literal with the quotes that code usually has."""
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)}: {_quoted(item)}' for key, item in value.items())}}}"
    if value is None:
        return "None"
    is_text = value.isprintable()  # a name of a file may have bytes that are not UTF-8
    return json.dumps(value, ensure_ascii=False) if is_text else repr(value)


# Fields of C that are arguments of `open` in Python.
_FIELDS = {
    r"\ballow_absolute_paths(=True)?": "access=recmap.Reading(allow_absolute_paths=True)",
    r"\ballow_urls": "storage=recmap.Storage(allow_urls=True)",
    r"\((credentials=|fs=)\)": r"(storage=recmap.Storage(\1...))",
    r"\bwith fs=": "with storage=recmap.Storage(fs=...)",
}

_NAMES = {
    ".as_bits = 1": 'dtype="uint64_bits"',
    ".raw": "raw=True",
    ".raw = RECMAP_RAW_LITTLE_ENDIAN": "raw=True",
    "RECMAP_ON_BAD_RECORD_SKIP": 'Loader(on_bad_record="skip")',
    "recmap annotate": "ds.annotate",
    "recmap cat -o NAME@N": 'recmap.Writer("NAME@N")',
    "recmap duplicates -o NAME.rmv": "ds.duplicates()",
    "recmap info --json": 'ds.info["damage"]',
    "recmap_batch_set_draws": "ds.parse(numbers, features, epoch=..., seed=...)",
    "recmap_image.draw": "draw=",
    "recmap_loader_load_grown": 'load_state_dict(state, grown="finish")',
    "recmap_order_blended": "Mixture.continued",
    "recmap doctor": "ds.doctor()",
    "recmap schema": "ds.features()",
    "recmap schema --sample 0": "ds.features(sample=None)",
    "recmap schema --json --sample 0": "ds.schema(sample=None)",
}


def _words(command: str) -> list[str]:
    """The words of a command of a shell; none if its quotes do not match."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _code(code: str) -> str:
    """Translates ``--on-bad-record skip`` or ``recmap index --lift label`` to Python."""
    if code in _NAMES:
        return _NAMES[code]
    if code.startswith((".element", "{.kind")):
        return _feature_code(code)
    words = _words(code)
    if words[:4] == ["recmap", "index", "--append", "-o"] and words[5:] == ["SHARDS"]:
        return f"recmap.open(..., index={words[4]!r})"
    if words[:3] == ["recmap", "merge", "-o"]:
        return f"recmap.merge({_quoted(words[3])}, {_quoted(words[4:])})"
    if words[:2] == ["recmap", "index"] and "-o" in words:
        return _rebuild_call(words[2:])
    if words[:3] == ["recmap", "index", "--lift"] and len(words) == 5:
        return f"ds.lift([{_quoted(words[3])}])"
    call = "recmap.index" if words[:2] == ["recmap", "index"] else ""
    options = words[2:] if call else words
    if call and not options:
        return call
    if not options or not options[0].startswith("--"):
        return code  # a command to run in a shell
    name, values = options[0][2:], options[1:]
    keyword = _keyword(name, " ".join(values)) if values else f"{name.replace('-', '_')}="
    return f"{call}(..., {keyword})" if call else keyword


def _keyword(name: str, value: str) -> str:
    """An option of a command as an argument of a call."""
    feature = value.removesuffix("=DEFAULT")
    if name == "count":
        name_of, _, dtype = value.rpartition(":")
        given = f"{{{_quoted(name_of)}: {dtype}}}" if name_of else f"[{_quoted(value)}]"
    elif name == "lift":
        given = f"[{_quoted(value)}]" if feature == value else f"{{{_quoted(feature)}: DEFAULT}}"
    elif name == "default":
        given = f"{{{_quoted(value.removesuffix('=VALUE'))}: VALUE}}"
    else:
        given = _quoted(value)
    return f"{name.replace('-', '_')}={given}"


def in_python(advice: str) -> str:
    """Translates advice of the library, which names command-line options, to Python."""
    parts = advice.split("`")  # every second part is code
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = _code(part)
        else:
            words = re.sub(
                r"(?<= )--([a-z-]+)", lambda match: f"{match[1].replace('-', '_')}=", part
            )
            parts[i] = _words_in_python(words)
    return _printable("`".join(parts))


def _words_in_python(words: str) -> str:
    words = words.replace("(-o NAME.rmx)", '(index="NAME.rmx", of recmap.index path="NAME.rmx")')
    for pattern, argument in _FIELDS.items():
        words = re.sub(pattern, argument, words)
    return words


def _printable(text: str) -> str:
    """The text with escapes for bytes that are not UTF-8, which `os.fsdecode` made surrogates."""
    return os.fsencode(text).decode(errors="backslashreplace")


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
    if status == "IO" or error_number == errno.ENOENT:  # also if a name matches nothing
        kind = _BY_ERRNO.get(error_number, StorageError)
    elif status == "CORRUPT_STATE":
        kind = CorruptStateError
    elif status == "CORRUPT":
        kind = CorruptIndexError if record is None else CorruptRecordError
    else:
        kind = _CLASSES.get(status, Error)
    return kind(message, path, record, offset, in_python(advice), error_number)
