"""Options: how an index is opened, and what a new index contains."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import _recmap
from .._display.progress import Progress
from .._errors import InvalidError, in_python, redacted
from .._example.elements import element_name_of
from .._numbers import natural
from .._warn import warn_caller
from .clouds import add_found
from .credentials import Credentials, renewed_storage
from .filesystem import set_filesystem, urls_of

__all__ = [
    "Access",
    "Check",
    "Compression",
    "ConcatOptions",
    "Count",
    "Counted",
    "Credentials",
    "IndexOptions",
    "Lift",
    "MissingLift",
    "OnBadRecordIndexing",
    "OpenOptions",
    "Path",
    "Sets",
    "Source",
    "StorageOptions",
    "absolute",
    "check_missing",
    "check_missing_is_used",
    "counted_of",
    "default_text",
    "expanded",
    "is_url",
    "lifts_of",
    "load_framing",
    "local_path",
    "names_of",
    "path_of",
    "size_of",
    "storage_of",
    "storage_pairs",
    "without_query",
]

Path: TypeAlias = "str | os.PathLike[str]"
Source: TypeAlias = "Path | Iterable[Path]"
OnBadRecordIndexing: TypeAlias = Literal["error", "skip"]
MissingLift: TypeAlias = Literal["error", "null"]
Access: TypeAlias = Literal["map", "read", "direct", "auto"]
Check: TypeAlias = Literal["data", "header"]
Compression: TypeAlias = Literal["auto", "none", "gzip", "zlib"]
Sets: TypeAlias = Literal["error", "all"]
Lift: TypeAlias = "Iterable[str] | Mapping[str, object]"
StorageOptions: TypeAlias = "Mapping[str, object]"
StoragePairs: TypeAlias = "tuple[tuple[str, str], ...]"
Lifts: TypeAlias = "tuple[tuple[str, str | None], ...]"  # (name, default)
Count: TypeAlias = "Iterable[str] | Mapping[str, object]"
Counted: TypeAlias = "tuple[tuple[str, str | None], ...]"  # (name, dtype)

_COUNTED_TYPES = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
}
_ACCESS = {"map": 0, "read": 1, "direct": 2, "auto": 3}
_CHECK = {"data": 0, "header": 1}
_COMPRESSION = {"auto": 0, "none": 1, "gzip": 2, "zlib": 3}
_ON_BAD_RECORD = {"error": 0, "skip": 1}
_MISSING = {"error": 0, "null": 1}
_SETS = {"error": 0, "all": 1}


def _check_choice(name: str, value: str, choices: Mapping[str, int]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


@dataclass(frozen=True, kw_only=True)
class OpenOptions:
    """How an index is opened. A pickled data set contains these options."""

    path: str
    access: Access = "map"
    check: Check = "data"
    check_index: bool = False
    index_in_memory: bool = False
    guard: bool = False
    shard_limit: int = 0
    allow_absolute_paths: bool = False
    span_keep_size: int = 0
    shards: str | None = None  # the folder or URL of the shards, if the index was moved
    allow_urls: bool = False
    storage: StoragePairs = field(default=(), repr=False)  # may contain credentials
    credentials: Credentials | None = field(default=None, repr=False)
    fs: Any = field(default=None, repr=False)  # a filesystem of fsspec or a store of obstore
    cache: str | None = None  # the folder that keeps what is read from remote stores
    cache_size: int = 0
    allow_missing_shards: bool = False
    framing_path: str | None = None  # the shared object of a custom framing

    def __post_init__(self) -> None:
        _check_choice("access", self.access, _ACCESS)
        _check_choice("check", self.check, _CHECK)
        natural("shard_limit", self.shard_limit)
        natural("span_keep_size", self.span_keep_size)

    def open_handle(self) -> _recmap.Handle:
        if self.framing_path is not None:
            _recmap.framing_load(self.framing_path)
        storage = storage_of(self.storage, self.credentials, self.fs, (self.path, self.shards))
        handle = _recmap.Handle(
            self.path,
            access=_ACCESS[self.access],
            header_only=self.check == "header",
            check_index=self.check_index,
            index_in_memory=self.index_in_memory,
            guard=self.guard,
            shard_limit=self.shard_limit,
            allow_absolute_paths=self.allow_absolute_paths,
            span_keep_size=self.span_keep_size,
            shards=self.shards,
            allow_urls=self.allow_urls,
            storage=storage,
            cache=self.cache,
            cache_size=self.cache_size,
            allow_missing_shards=self.allow_missing_shards,
        )
        if self.credentials is None and self.fs is None and not is_url(self.shards or self.path):
            # Opening an index requests no shard: a library that fails prevents nothing yet.
            add_found(storage, handle.schemes(), self.storage, fails=False)
        return handle

    def opened(self) -> tuple[OpenOptions, ...]:
        """The options of each index that is opened."""
        return (self,)


@dataclass(frozen=True)
class ConcatOptions:
    """How the parts of a concatenation are opened."""

    parts: tuple[OpenOptions, ...]

    @property
    def path(self) -> str:
        """The paths of the indexes, for messages."""
        return " + ".join(part.path for part in self.parts)

    def open_handle(self) -> _recmap.Handle:
        return _recmap.Handle.concat(tuple(part.open_handle() for part in self.parts))

    def opened(self) -> tuple[OpenOptions, ...]:
        return self.parts


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """What a new index contains, and how it is built."""

    id: str | None = None
    lifts: Lifts = ()
    missing_values: MissingLift = "error"
    counted: Counted = ()
    on_bad_record: OnBadRecordIndexing = "error"
    framing: str = "auto"
    framing_path: str | None = None  # the shared object of a custom framing
    compression: Compression = "auto"
    from_idx: Path | None = None
    threads: int = 0
    memory_limit: int = 0
    guard: bool = False
    progress: Progress = "auto"
    access: Access = "map"
    storage: StoragePairs = field(default=(), repr=False)  # may contain credentials
    credentials: Credentials | None = field(default=None, repr=False)
    fs: Any = field(default=None, repr=False)  # a filesystem of fsspec or a store of obstore
    is_named_file: bool = field(default=False, repr=False)  # one shard, meant to be alone

    def __post_init__(self) -> None:
        if self.id is not None and not isinstance(self.id, str):
            raise TypeError(f"id must be the name of one feature, not {self.id!r}")
        compression_code(self.compression)
        _check_choice("on_bad_record", self.on_bad_record, _ON_BAD_RECORD)
        _check_choice("access", self.access, _ACCESS)
        check_missing(self.missing_values)

    @property
    def compression_code(self) -> int:
        return compression_code(self.compression)


def compression_code(compression: str) -> int:
    """The value of recmap_compression."""
    _check_choice("compression", compression, _COMPRESSION)
    return _COMPRESSION[compression]


def check_missing(missing: str) -> None:
    """Refuses what is neither "error" nor "null"."""
    _check_choice("missing_values", missing, _MISSING)


def check_missing_is_used(missing: str, lifts: Lifts, index: str | None = None) -> None:
    """Refuses nulls for columns if there are none. `index` is the path of an index that is there
    already, and whose columns they are."""
    if missing != "null" or lifts:
        return
    if index is None:
        raise ValueError(
            'missing_values is "null", which is about lifted columns: name some with lift'
        )
    raise InvalidError('missing_values is "null", but the index has no lifted columns', index)


def lifts_of(lift: Lift) -> Lifts:
    """Names and defaults of the columns that ``lift=`` asks for."""
    _check_names("lift", lift)
    if isinstance(lift, Mapping):
        return tuple((name, default_text(name, value)) for name, value in lift.items())
    return tuple((name, None) for name in lift)


def default_text(name: str, value: object) -> str | None:
    """The default of a column as the index has it."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return _decoded(name, value)
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (str, int, float, np.integer, np.floating)):
        return str(value)
    raise TypeError(
        f"the default of column {name!r} must be int, float, str or bytes, not {value!r}"
    )


def _decoded(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the default of column {name!r} must be UTF-8, not {value!r}") from None


def counted_of(count: Count) -> Counted:
    """Names and dtypes of the features that ``count=`` asks for."""
    _check_names("count", count)
    if isinstance(count, Mapping):
        return tuple((name, _dtype_of(name, dtype)) for name, dtype in count.items())
    return tuple((name, None) for name in count)


def _check_names(argument: str, names: object) -> None:
    """Refuses what is not a list of names, or a mapping of names."""
    if isinstance(names, str):
        raise TypeError(f"{argument} must be a list of names: [{names!r}]")
    if not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a list of names, not {names!r}")
    if isinstance(names, (Mapping, Sequence)):
        wrong = [name for name in names if not isinstance(name, str)]
        if wrong:
            raise TypeError(f"{argument} must be a list of names, and {wrong[0]!r} is not one")


def _dtype_of(name: str, dtype: Any) -> str | None:
    """The element type of a counted feature. It is checked here, too, because an existing index is
    only compared with it."""
    element = None if dtype is None else element_name_of(dtype)
    if element is None or element in _COUNTED_TYPES:
        return element
    raise ValueError(
        f"the dtype {element!r} of the counted feature {name!r} is not a type of numbers, such as "
        "uint16"
    )


def load_framing(framing: Path) -> tuple[str, str | None]:
    """The name of a framing. A path to a shared object is loaded, and also returned."""
    text = os.fspath(framing)
    if "/" not in text:
        return text, None
    path = os.path.abspath(text)
    return _recmap.framing_load(path), path


def names_of(source: Source) -> list[str]:
    """The names that a source lists."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return [os.fsdecode(source)]
    if isinstance(source, _recmap.Dataset):
        raise TypeError(
            "the source must be a path or a list of paths, not a data set, which is open"
        )
    if hasattr(source, "read"):
        raise TypeError(
            "the source must be a path or a list of paths, not an open file: pass its name, "
            f"{getattr(source, 'name', '')!r}"
        )
    if not isinstance(source, Iterable):
        raise TypeError(f"the source must be a path or a list of paths, not {source!r}")
    names = [_name_of(name) for name in source]
    if not names:
        raise ValueError("the list of files is empty")
    return names


def _name_of(name: object) -> str:
    if not isinstance(name, (str, bytes, os.PathLike)):
        raise TypeError(f"the source must be a path or a list of paths, and {name!r} is not one")
    return os.fsdecode(name)


def is_url(name: str) -> bool:
    return re.match("[a-z0-9]+://", name) is not None


def without_query(name: str, pairs: StoragePairs) -> tuple[str, StoragePairs]:
    """A presigned URL without its query, and the storage options with it."""
    if not name.startswith(("http://", "https://")) or "?" not in name:
        return name, pairs
    return name.partition("?")[0], (*pairs, ("urls", name))


def path_of(path: Path | None) -> str | None:
    return None if path is None else absolute(os.fspath(path))


def absolute(name: str) -> str:
    """The absolute path of a file, or the URL as it is."""
    return name if is_url(name) else os.path.abspath(name)


def local_path(name: Path) -> str:
    """The absolute path of a file to write."""
    text = os.fsdecode(name)
    if is_url(text):
        raise ValueError(
            f"{redacted(text)}: recmap writes only local files: write one, then copy it there"
        )
    return os.path.abspath(text)


def size_of(size: int | str | None) -> int:
    """The bytes that a size such as "200GB" or "64 MiB" names; 0 for None."""
    if size is None:
        return 0
    count = _parse_size(size) if isinstance(size, str) else natural("a size", size)
    if count == 0:
        raise ValueError(f"a size must be positive, not {size}")
    return count


def _parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*(?:([kKMGT])(i?)B|B)?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size: write it as '200GB' or '64MiB'")
    number, unit, binary = match.groups()
    power = " kMGT".index((unit or " ").replace("K", "k"))
    return int(number) * math.prod([1024 if binary else 1000] * power)


def storage_pairs(options: StorageOptions | None) -> StoragePairs:
    """Storage options as names and texts. Options of an fsspec client are taken from their dict."""
    if options is not None and not isinstance(options, Mapping):
        kind = type(options).__name__  # the value may be a secret
        raise TypeError(f"storage_options must be a dict such as {{'region': ...}}, not {kind}")
    pairs: list[tuple[str, str]] = []
    for name, value in (options or {}).items():
        if name == "client_kwargs" and isinstance(value, Mapping):
            pairs += storage_pairs(value)
        elif name == "urls" and not isinstance(value, str) and isinstance(value, Iterable):
            pairs += [(name, str(url)) for url in value]
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        elif value is not None:
            pairs.append((name, str(value)))
    return tuple(pairs)


def expanded(
    names: list[str],
    pairs: StoragePairs,
    credentials: Credentials | None = None,
    fs: object = None,
    *,
    split: str | None = None,
    sets: Sets = "error",
    framing: str = "auto",
) -> tuple[list[str], str, StoragePairs, bool]:
    """The shards that names mean, the default path of their index, and the storage options that
    read them: presigned URLs among the names become options, and shards are named without queries.
    Last, whether there is one shard and it is meant to be alone, by its name or its number.
    Warns of patterns that match several sets, and of files left out that may have been meant.
    """
    _check_choice("sets", sets, _SETS)
    if split is not None and not isinstance(split, str):
        raise TypeError(f"split must be the name of a split, not {split!r}")
    storage = storage_of(pairs, credentials, fs, names)
    paths, path, urls, warned, notes, is_named = _recmap.shards_expand(
        urls_of(names, fs), storage, split, sets == "all", framing
    )
    if fs is not None and urls:
        raise ValueError("a URL with a query cannot be read with fs=: leave out one of them")
    for text in warned + notes:
        warn_caller(in_python(text))
    return paths, path, pairs + tuple(("urls", url) for url in urls), is_named


def storage_of(
    pairs: StoragePairs,
    credentials: Credentials | None = None,
    fs: object = None,
    names: Iterable[str | None] = (),
) -> Any:
    """The storage with these options. Without credentials, those that are found for the buckets
    among the names."""
    if fs is not None:
        if pairs or credentials is not None:
            raise ValueError(
                "fs= reads with a filesystem, which has its own options and credentials: leave out "
                "storage_options= and credentials="
            )
        return set_filesystem(_recmap.storage_create(()), fs)
    if credentials is None:
        storage = _recmap.storage_create(pairs)
        add_found(storage, names, pairs, fails=True)
        return storage
    if not callable(credentials):
        raise TypeError("credentials must be a callable; pass a mapping as storage_options")
    return renewed_storage(_recmap.storage_create(pairs), credentials)
