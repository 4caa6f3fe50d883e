"""Options: how an index is opened, and what a new index contains."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import _recmap
from .._base.errors import InvalidError, in_python, redacted
from .._base.warn import warn_caller
from .._display.progress import Progress
from .._example.elements import element_name_of, element_of
from .._example.features import Feature
from .._example.message import Extraction
from .filesystem import urls_of
from .reading import ACCESS, Reading, check_choice
from .storage import Path, Storage, add_found_credentials, created_storage, size_of

__all__ = [
    "Check",
    "Compression",
    "ConcatOptions",
    "Count",
    "Counted",
    "Id",
    "IndexOptions",
    "Lift",
    "MissingLift",
    "OnBadRecordIndexing",
    "OpenOptions",
    "Sets",
    "Source",
    "absolute",
    "check_missing",
    "check_missing_is_used",
    "check_query",
    "counted_of",
    "default_text",
    "expanded",
    "field_name",
    "is_url",
    "lift_types",
    "lifts_of",
    "load_framing",
    "local_path",
    "names_of",
    "new_lifts_of",
    "path_of",
    "without_query",
]

Source: TypeAlias = "Path | Iterable[Path]"
OnBadRecordIndexing: TypeAlias = Literal["error", "skip"]
MissingLift: TypeAlias = Literal["error", "null"]
Check: TypeAlias = Literal["data", "header"]
Compression: TypeAlias = Literal["auto", "none", "gzip", "zlib"]
Sets: TypeAlias = Literal["error", "all"]
Id: TypeAlias = "str | Feature | None"
Lift: TypeAlias = "Iterable[str | Feature] | Mapping[str, object]"
Lifts: TypeAlias = "tuple[tuple[str, str | None], ...]"  # (name, default)
Count: TypeAlias = "Iterable[str] | Mapping[str, object]"
Counted: TypeAlias = "tuple[tuple[str, str | None], ...]"  # (name, dtype)

_COUNTED_TYPES = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
}
_CHECK = {"data": 0, "header": 1}
_COMPRESSION = {"auto": 0, "none": 1, "gzip": 2, "zlib": 3}
_ON_BAD_RECORD = {"error": 0, "skip": 1}
_MISSING = {"error": 0, "null": 1}
_SETS = {"error": 0, "all": 1}


@dataclass(frozen=True, kw_only=True)
class OpenOptions:
    """How an index is opened. A pickled data set contains these options."""

    path: str
    check: Check = "data"
    reading: Reading = field(default_factory=Reading)
    shards: str | None = None  # the folder or URL of the shards, if the index was moved
    storage: Storage = field(default_factory=Storage)
    framing_path: str | None = None  # the shared object of a custom framing
    extraction: Extraction | None = field(default=None, repr=False)  # of ids of messages
    description: Any = field(default=None, repr=False)  # a Description, if there is metadata

    def __post_init__(self) -> None:
        check_choice("check", self.check, _CHECK)

    def open_handle(self) -> _recmap.Handle:
        if self.framing_path is not None:
            _recmap.framing_load(self.framing_path)
        reading, storage = self.reading, self.storage
        created = created_storage(storage, (self.path, self.shards))
        handle = _recmap.Handle(
            self.path,
            access=ACCESS[reading.access],
            header_only=self.check == "header",
            check_index=reading.check_index,
            index_in_memory=reading.index_in_memory,
            guard=reading.guard,
            shard_limit=reading.shard_limit,
            allow_absolute_paths=reading.allow_absolute_paths,
            span_keep_size=reading.span_keep_size,
            shards=self.shards,
            allow_urls=storage.allow_urls,
            storage=created,
            cache=path_of(storage.cache),
            cache_size=size_of(storage.cache_size),
            allow_missing_shards=reading.allow_missing_shards,
            extraction=None if self.extraction is None else self.extraction.for_ids(),
        )
        may_have_urls = storage.allow_urls or storage.options
        if may_have_urls and not is_url(self.shards or self.path):
            # Opening an index requests no shard: a library that fails prevents nothing yet.
            add_found_credentials(created, storage, handle.schemes(), fails=False)
        return handle

    def opened(self) -> tuple[OpenOptions, ...]:
        """The options of each index that is opened."""
        return (self,)


@dataclass(frozen=True)
class ConcatOptions:
    """How the parts of a concatenation are opened."""

    parts: tuple[OpenOptions, ...]

    @property
    def description(self) -> Any:
        """The description of the parts, if they have the same one."""
        first = self.parts[0].description if self.parts else None
        return first if all(part.description == first for part in self.parts) else None

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

    id: Any = None  # the name; at first maybe a feature, which has it
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
    progress: Progress = "auto"
    reading: Reading = field(default_factory=Reading)
    storage: Storage = field(default_factory=Storage)
    may_lack_ids: bool = field(default=False, repr=False)  # else an error if no record has the id
    sets: Sets = field(default="error", repr=False)
    is_named_file: bool = field(default=False, repr=False)  # one shard, meant to be alone
    extraction: Extraction | None = field(default=None, repr=False)  # of fields of messages

    def __post_init__(self) -> None:
        if hasattr(self.id, "_row"):
            object.__setattr__(self, "id", field_name("id", self.id))
        if self.id is not None and not isinstance(self.id, str):
            raise TypeError(f"id must be the name of one feature, not {self.id!r}")
        compression_code(self.compression)
        check_choice("on_bad_record", self.on_bad_record, _ON_BAD_RECORD)
        check_missing(self.missing_values)
        check_choice("sets", self.sets, _SETS)

    @property
    def compression_code(self) -> int:
        return compression_code(self.compression)


def compression_code(compression: str) -> int:
    """The value of recmap_compression."""
    check_choice("compression", compression, _COMPRESSION)
    return _COMPRESSION[compression]


def check_missing(missing: str) -> None:
    """Refuses what is neither "error" nor "null"."""
    check_choice("missing_values", missing, _MISSING)


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


class TypedName(str):
    """The name of a column that is lifted from text, with the number of its recmap_type."""

    type: int

    def __new__(cls, name: str, dtype: Any) -> TypedName:
        typed = super().__new__(cls, name)
        element = element_of(dtype)
        typed.type = _TYPES.get(element, 2 if "float" in element else 1)
        return typed

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), next((name for name, type in _NAMED if type == self.type), "int64")


_TYPES = {"bytes": 3, "float64": 4}
_NAMED = (("bytes", 3), ("float64", 4), ("float32", 2))


def field_name(use: str, feature: Any) -> str:
    """The field or member that a feature of `Csv` or `JsonLines` reads one value of."""
    if getattr(feature, "shape", None) != () or not isinstance(feature.key, str):
        raise TypeError(
            f"{use} must be a name, or a FixedLen of shape () from a recmap.Csv or "
            f"recmap.JsonLines: fields[name], not {feature!r}"
        )
    return str(feature.key)


def _lift_of(name: str, value: Any) -> tuple[str, str | None]:
    """The name, which has a type if `value` is a feature, and the default."""
    if not hasattr(value, "_row"):
        return name, default_text(name, value)
    if field_name(f"the column {name!r}", value) != name:
        raise ValueError(
            f"the column {name!r} must have the name of its field: {{{value.key!r}: ...}}"
        )
    return TypedName(name, value.dtype), default_text(name, value.default)


def lift_types(lifts: Lifts) -> tuple[int, ...]:
    return tuple(getattr(name, "type", 0) for name, _ in lifts)


def lifts_of(lift: Lift) -> Lifts:
    """Names and defaults of the columns that ``lift=`` asks for."""
    if not isinstance(lift, (str, Mapping)) and isinstance(lift, Iterable):
        features: list[Any] = list(lift)
        names = [field_name("lift", f) if hasattr(f, "_row") else f for f in features]
        if names != features:
            pairs = zip(names, features, strict=True)
            return tuple((n, None) if isinstance(f, str) else _lift_of(n, f) for n, f in pairs)
        lift = features
    _check_names("lift", lift)
    if isinstance(lift, Mapping):
        columns: Mapping[Any, Any] = lift
        return tuple(_lift_of(name, value) for name, value in columns.items())
    plain: Iterable[Any] = lift
    return tuple((name, None) for name in plain)


def new_lifts_of(lift: Lift) -> Lifts:
    """The same for columns that an index gets later, which have the type of their values.

    Raises:
        TypeError: they are features, whose fields or dtype only building an index takes.
    """
    if isinstance(lift, Iterable) and not isinstance(lift, (str, Mapping)):
        lift = list(lift)
    values: Any = lift.values() if isinstance(lift, Mapping) else lift
    if isinstance(values, Iterable) and any(hasattr(value, "_row") for value in values):
        raise TypeError(
            "name the columns: features give them only when an index is built, by "
            "recmap.open(shards, lift={name: fields[name]}, rebuild=True)"
        )
    return lifts_of(lift)


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
        return re.sub("^csv:comma", "csv", text), None
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


def without_query(name: str) -> str:
    """A presigned URL without its query; any other name as it is."""
    is_presigned = name.startswith(("http://", "https://")) and "?" in name
    return name.partition("?")[0] if is_presigned else name


def path_of(path: Path | None) -> str | None:
    return None if path is None else absolute(os.fsdecode(path))


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


def check_query(storage: Storage) -> None:
    """Raises if a filesystem would read a URL with a query."""
    if storage.fs is not None:
        raise ValueError("a URL with a query cannot be read with fs: leave out one of them")


def expanded(
    names: list[str],
    storage: Storage,
    *,
    split: str | None = None,
    sets: Sets = "error",
    framing: str = "auto",
    finds_index: bool = True,
) -> tuple[list[str], str, Storage, bool]:
    """The shards that names mean, the path of their index if the caller names none, and the
    storage that reads them: presigned URLs among the names become options, and shards are named
    without queries. Last, whether there is one shard and it is meant to be alone, by its name or
    its number.
    Warns of patterns that match several sets, and of files left out that may have been meant.
    """
    check_choice("sets", sets, _SETS)
    if split is not None and not isinstance(split, str):
        raise TypeError(f"split must be the name of a split, not {split!r}")
    created = created_storage(storage, names)
    paths, path, urls, warned, notes, is_named = _recmap.shards_expand(
        urls_of(names, storage.fs), created, split, sets == "all", framing, finds_index
    )
    if urls:
        check_query(storage)
        storage = storage.with_urls(urls)
    for text in warned + notes:
        warn_caller(in_python(text))
    return paths, path, storage, is_named
