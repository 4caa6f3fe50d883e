"""How shards in remote stores are read."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from .. import _recmap
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.renamed import MOVED_TO
from .clouds import add_found
from .credentials import Credentials, renewed_storage
from .filesystem import set_filesystem

__all__ = [
    "Path",
    "Storage",
    "add_found_credentials",
    "created_storage",
    "size_of",
    "storage_of",
]

Path: TypeAlias = "str | os.PathLike[str]"
Pairs: TypeAlias = "list[tuple[str, str]]"


@suggest_arguments
@dataclass(frozen=True, kw_only=True)
class Storage:
    """How shards in remote stores are read, for `storage=` of `open` and `index`.

    Args:
        options: how to reach them: "endpoint", "region", "key", "secret", "token", "anonymous",
            "urls" (presigned URLs) and others (docs/reference/remote.md), also in the spellings of
            fsspec. Environment variables (AWS_ACCESS_KEY_ID and so on) are the defaults.
        credentials: a callable without arguments that returns credentials which expire: a mapping
            with "key", "secret" and "token", or "token", or "sas", or "urls",
            presigned URLs; and "expires", a datetime, an ISO text or seconds since 1970. It is
            called again five minutes before that, in a thread of its own, once for all data sets of
            a process. To pickle the data set, it must be picklable. `recmap.storage` has some that
            ask the libraries of Amazon, Google and Microsoft.
        fs: a filesystem of fsspec, or a store of obstore, that reads the shards instead of recmap,
            for stores that recmap does not know (docs/reference/remote.md). A name without a scheme
            is a path in it, except an ``.rmx``, which is a local file. Slower than recmap's own
            requests. To pickle the data set, it must be picklable. URLs of HDFS need none: fsspec
            reads them, with `options` of its own.
        cache: a folder on the local disk that keeps what is read from remote stores, and what
            compressed shards inflate to, also local ones, so that the next epoch requests and
            inflates less. All processes of one user may share it. It has no effect, and is not
            created, if all shards are plain files on this machine
            (docs/guide/compressed.md, docs/reference/remote.md).
        cache_size: the maximum size of the cache, in bytes or as "200GB" or "64MiB"; None: until a
            tenth of the disk is left.
        gap: how much that nobody needs may be downloaded to save a request, from 0 to 8 MiB, in
            bytes or as "64KiB": records that are so close to each other share a request. None: it
            is measured while running, and is latency times rate of recent requests (256 KiB at
            first, then 4 KiB to 1 MiB).
        allow_urls: allow an ``.rmx`` to name shards in remote stores.

    Raises:
        TypeError, ValueError: an argument has another type, or does not go with the others.

    >>> recmap.Storage(options={"region": "eu-west-1"}, cache="/scratch/recmap", cache_size="200GB")
    Storage(cache='/scratch/recmap', cache_size='200GB', gap=None, allow_urls=False)
    """

    options: Mapping[str, object] | None = field(default=None, repr=False)  # may have credentials
    credentials: Credentials | None = field(default=None, repr=False)
    fs: Any = field(default=None, repr=False)
    cache: Path | None = None
    cache_size: int | str | None = None
    gap: int | str | None = None
    allow_urls: bool = False

    def __post_init__(self) -> None:
        if self.options is not None and not isinstance(self.options, Mapping):
            kind = type(self.options).__name__  # the value may be a secret
            raise TypeError(f"options must be a dict such as {{'region': ...}}, not {kind}")
        if self.options is not None:  # the caller may change it, and it may not be picklable
            object.__setattr__(self, "options", _copied(self.options))
        if self.credentials is not None and not callable(self.credentials):
            raise TypeError("credentials must be a callable; pass a mapping as options")
        if self.fs is not None and (self.options or self.credentials is not None):
            raise ValueError(
                "fs reads with a filesystem, which has its own options and credentials: leave out "
                "options and credentials"
            )
        if self.cache is None and self.cache_size is not None:
            raise ValueError("cache_size is for a cache: pass cache=FOLDER as well")
        size_of(self.cache_size)
        if self.gap is not None:
            self._check_gap(bytes_of(self.gap))
        if self.cache is not None and not os.fspath(self.cache):
            raise ValueError("cache is empty: name a folder, or leave cache out")
        if self.cache is not None:  # another process may have another current folder
            object.__setattr__(self, "cache", os.path.abspath(self.cache))

    def _check_gap(self, size: int) -> None:
        if size > _GAP_MAX:
            raise ValueError(f"gap must be from 0 to {_GAP_MAX} bytes (8 MiB), not {self.gap!r}")
        if "gap" in (self.options or {}):
            raise ValueError("gap is given twice: leave it out of options")

    def with_urls(self, urls: Iterable[str]) -> Storage:
        """The same with these presigned URLs."""
        options = dict(self.options or {})
        before = options.get("urls")
        if isinstance(before, str) or not isinstance(before, Iterable):
            before = [] if before is None else [before]
        return replace(self, options={**options, "urls": [*before, *urls]})


MOVED_TO["storage"] = Storage


def _copied(options: Mapping[str, object]) -> dict[str, object]:
    """The options as a dict of their own, with lists of URLs as lists."""
    copy = dict(options)
    for name, value in options.items():
        if isinstance(value, Mapping):
            copy[name] = _copied(value)
        elif name == "urls" and isinstance(value, Iterable) and not isinstance(value, str):
            copy[name] = list(value)
    return copy


def storage_of(storage: Storage | None) -> Storage:
    """What `storage=` says."""
    if storage is not None and not isinstance(storage, Storage):
        kind = type(storage).__name__  # the value may be a secret
        raise TypeError(f"storage must be recmap.Storage(options=...), not {kind}")
    return storage or _DEFAULTS


def created_storage(storage: Storage, names: Iterable[str | None] = ()) -> Any:
    """A storage of the C library. Without credentials, it has those that are found for the buckets
    among the names."""
    created = _recmap.storage_create(option_pairs(storage.options or {}) + _gap_pairs(storage))
    if storage.fs is not None:
        return set_filesystem(created, storage.fs)
    if storage.credentials is not None:
        return renewed_storage(created, storage.credentials)
    add_found_credentials(created, storage, names, fails=True)
    return created


def _gap_pairs(storage: Storage) -> Pairs:
    return [] if storage.gap is None else [("gap", str(bytes_of(storage.gap)))]


def add_found_credentials(
    created: Any, storage: Storage, names: Iterable[str | None], *, fails: bool
) -> None:
    """Adds the credentials that are found for the buckets among the names, unless the caller gave
    some. `fails`: a library that fails raises an error instead of a warning."""
    if storage.fs is None and storage.credentials is None:
        add_found(created, names, option_pairs(storage.options or {}), fails=fails)


def option_pairs(options: Mapping[str, object]) -> Pairs:
    """Options as names and texts. Options of an fsspec client are taken from their dict."""
    pairs: Pairs = []
    for name, value in options.items():
        if name == "client_kwargs" and isinstance(value, Mapping):
            pairs += option_pairs(value)
        elif name == "urls" and not isinstance(value, str) and isinstance(value, Iterable):
            pairs += [(name, str(url)) for url in value]
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        elif value is not None:
            pairs.append((name, str(value)))
    return pairs


def size_of(size: int | str | None) -> int:
    """The bytes that a size such as "200GB" or "64 MiB" names; 0 for None."""
    if size is None:
        return 0
    count = bytes_of(size)
    if count == 0:
        raise ValueError(f"a size must be positive, not {size}")
    return count


def bytes_of(size: int | str) -> int:
    """The same for sizes that may be 0."""
    return _parse_size(size) if isinstance(size, str) else natural("a size", size)


def _parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*(?:([kKMGT])(i?)B|B)?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size: write it as '200GB' or '64MiB'")
    number, unit, binary = match.groups()
    power = " kMGT".index((unit or " ").replace("K", "k"))
    return int(number) * math.prod([1024 if binary else 1000] * power)


_GAP_MAX = 8 << 20  # of the C library
_DEFAULTS = Storage()
