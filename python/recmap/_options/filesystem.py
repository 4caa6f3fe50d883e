"""Filesystems of fsspec and stores of obstore, from which shards are read.

The C library calls a client on any thread: see storage_set_client in the extension. URLs name the
objects. A path in a filesystem whose URLs are not known has the URL fs:///PATH.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _recmap
from .._base.numbers import natural

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["HadoopClient", "is_hadoop", "set_filesystem", "urls_of"]

Range: TypeAlias = "tuple[str, int, int]"  # URL, offset, size
Stat: TypeAlias = "tuple[int, int, str]"  # size, time in ns since 1970 or 0, ETag or ""

_PLAIN = "fs:///"
_THREADS = 32  # that read from a store of obstore, one object each
_TIME_MAX = 2.0**33  # seconds, whose nanoseconds fit 64 bits
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_ETAGS = ("ETag", "etag", "e_tag")


def _scheme_of(url: str) -> str:
    match = re.match("([a-z0-9]+)://", url)
    return "" if match is None else match[1]


def _nanoseconds_of(time: Any) -> int:
    if isinstance(time, str):
        time = datetime.fromisoformat(time)
    if isinstance(time, datetime):
        time = (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        return 0
    is_known = abs(time) < _TIME_MAX  # not if it is NaN
    return round(time * 1_000_000_000) if is_known else 0


def _stat_of(info: Any, fs: Any) -> Stat:
    """What identifies a file, from the spellings of various filesystems."""
    size = info.get("size")
    if size is None:
        raise OSError("the size of the file is not known")
    size = natural(f"the size that {type(fs).__name__} returned", size, 63)
    times = [info[name] for name in _TIMES if info.get(name) is not None]
    etags = [info[name] for name in _ETAGS if info.get(name)]
    return size, _nanoseconds_of(times[0]) if times else 0, str(etags[0]) if etags else ""


class _FsspecClient:
    """Reads with a filesystem of fsspec. A forked process makes a copy of it: event loops and
    connections do not survive a fork."""

    def __init__(self, fs: Any) -> None:
        self.fs = fs
        self.process = os.getpid()

    def own(self) -> Any:
        if self.process != os.getpid():
            import pickle

            self.fs = pickle.loads(pickle.dumps(self.fs))
            self.process = os.getpid()
        return self.fs

    def url_of(self, name: str) -> str:
        fs = self.fs
        path: str = fs._strip_protocol(name)
        url = fs.unstrip_protocol(path)
        is_known = isinstance(url, str) and _scheme_of(url) in self.schemes()
        if not is_known or fs._strip_protocol(url) != path:
            url = _PLAIN + path.lstrip("/")
        # The slash that marks a folder: fsspec strips it.
        return f"{url.rstrip('/')}/" if name.endswith("/") else str(url)

    def schemes(self) -> list[str]:
        protocol = self.fs.protocol
        return [protocol] if isinstance(protocol, str) else list(protocol)

    def path_of(self, url: str) -> str:
        if url.startswith(_PLAIN):
            return url[len(_PLAIN) :]
        if _scheme_of(url) not in self.schemes():
            schemes = ", ".join(f"{scheme}://" for scheme in self.schemes())
            raise ValueError(f"{type(self.fs).__name__} reads {schemes}")
        path: str = self.fs._strip_protocol(url)
        return path

    def stat(self, url: str) -> Stat:
        fs, path = self.own(), self.path_of(url)
        fs.invalidate_cache(path)
        info = fs.info(path)
        if info.get("type") == "directory":
            raise IsADirectoryError("it is a folder: end its name with a slash")
        return _stat_of(info, fs)

    def read(self, ranges: Sequence[Range]) -> Sequence[Any]:
        fs = self.own()
        paths = [self.path_of(url) for url, _, _ in ranges]
        starts = [offset for _, offset, _ in ranges]
        ends = [offset + size for _, offset, size in ranges]
        if len(ranges) == 1:
            return [fs.cat_file(paths[0], start=starts[0], end=ends[0])]
        parts: Sequence[Any] = fs.cat_ranges(paths, starts, ends, on_error="return")
        return parts

    def find(self, folder: str, is_deep: bool) -> list[str]:
        fs, path = self.own(), self.path_of(folder)
        fs.invalidate_cache(path)
        names = fs.find(path, maxdepth=None if is_deep else 1)
        base = path.rstrip("/") + "/" if path else ""
        return [folder + name[len(base) :] for name in names if name.startswith(base)]


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_THREADS, thread_name_prefix="recmap-obstore")


class _ObstoreClient:
    """Reads with a store of obstore. In a URL, the key follows the bucket: s3://BUCKET/KEY."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.process = os.getpid()

    def own(self) -> Any:
        if self.process != os.getpid():
            raise RuntimeError(
                "a store of obstore cannot be used in a forked process: start processes with "
                "spawn or forkserver"
            )
        return self.store

    def url_of(self, name: str) -> str:
        return _PLAIN + name.lstrip("/")

    def path_of(self, url: str) -> str:
        return url.split("://", 1)[1].partition("/")[2]

    def stat(self, url: str) -> Stat:
        store = self.own()
        return _stat_of(store.head(self.path_of(url)), store)

    def read(self, ranges: Sequence[Range]) -> Sequence[Any]:
        """All ranges of an object are one call, and objects are read at the same time. recmap has
        already joined ranges that are close; by default, obstore would also read what lies between
        ranges that are up to 1 MiB apart."""
        store = self.own()
        results: list[Any] = [None] * len(ranges)
        objects: dict[str, list[int]] = {}
        for i, (url, _, _) in enumerate(ranges):
            objects.setdefault(url, []).append(i)

        def read_object(url: str) -> None:
            numbers = objects[url]
            starts = [ranges[i][1] for i in numbers]
            lengths = [ranges[i][2] for i in numbers]
            try:
                path = self.path_of(url)
                parts = store.get_ranges(path, starts=starts, lengths=lengths, coalesce=0)
            except Exception as error:
                parts = [error] * len(numbers)
            for i, part in zip(numbers, parts, strict=True):
                results[i] = part

        if len(objects) == 1:
            read_object(ranges[0][0])
        else:
            list(_threads(os.getpid()).map(read_object, objects))
        return results

    def find(self, folder: str, is_deep: bool) -> list[str]:
        prefix = self.path_of(folder)
        return [folder + name[len(prefix) :] for name in self._names(prefix, is_deep)]

    def _names(self, prefix: str, is_deep: bool) -> Iterator[str]:
        store, folder = self.own(), prefix.rstrip("/") or None
        if is_deep:
            for page in store.list(folder):
                yield from (entry["path"] for entry in page)
        else:
            yield from (entry["path"] for entry in store.list_with_delimiter(folder)["objects"])


def is_hadoop(name: str) -> bool:
    """Returns true if the name is a URL of HDFS."""
    return name.startswith(("hdfs://", "webhdfs://", "swebhdfs://"))


@contextmanager
def _without_queries() -> Iterator[None]:
    """Hides the queries of URLs in messages: WebHDFS has the token there."""
    try:
        yield
    except Exception as error:
        text = str(error)
        shown = re.sub(r"(/webhdfs/v1[^\s?]*)\?[^\s)'\"]*", r"\1?...", text)
        if shown == text:
            raise
        raise OSError(f"{type(error).__name__}: {shown}") from None


class _ClusterClient(_FsspecClient):
    """Reads from one cluster of Hadoop. Its filesystem gets paths instead of URLs, so that `?` and
    `#` are part of names."""

    def path_of(self, url: str) -> str:
        return "/" + url.split("://", 1)[1].partition("/")[2]

    def stat(self, url: str) -> Stat:
        with _without_queries():
            info = self.own().info(self.path_of(url))
        if info.get("type") == "directory":
            raise IsADirectoryError("it is a folder: end its name with a slash")
        if "modificationTime" in info:  # of WebHDFS, in milliseconds
            info["modified"] = info["modificationTime"] / 1000
        return _stat_of(info, self.fs)

    def read(self, ranges: Sequence[Range]) -> Sequence[Any]:
        """All ranges at the same time. A block of one byte: fsspec would read 5 MiB ahead."""
        fs = self.own()

        def read_range(range: Range) -> Any:
            url, offset, size = range
            try:
                with _without_queries():
                    path, end = self.path_of(url), offset + size
                    return fs.cat_file(path, start=offset, end=end, block_size=1)
            except Exception as error:
                return error

        if len(ranges) == 1:
            return [read_range(ranges[0])]
        return list(_threads(os.getpid()).map(read_range, ranges))

    def find(self, folder: str, is_deep: bool) -> list[str]:
        """An error of the server raises. Without this, fsspec would find no files."""
        fs, path = self.own(), self.path_of(folder)
        with _without_queries():
            names = fs.find(path, maxdepth=None if is_deep else 1, on_error="raise")
        base = path.rstrip("/") + "/"
        return [folder + name[len(base) :] for name in names if name.startswith(base)]


class HadoopClient:
    """Reads URLs of HDFS with a filesystem of fsspec for each cluster that they name. It is
    pickled as its options."""

    def __init__(self, options: Mapping[str, object]) -> None:
        self.options = options
        self.clusters: dict[str, _ClusterClient] = {}

    def __reduce__(self) -> tuple[type[HadoopClient], tuple[Mapping[str, object]]]:
        return HadoopClient, (self.options,)

    def cluster_of(self, url: str) -> _ClusterClient:
        scheme, _, rest = url.partition("://")
        if not is_hadoop(url):
            raise ValueError("files of HDFS cannot be read together with those of another store")
        name = f"{scheme}://{rest.partition('/')[0]}"
        if name not in self.clusters:
            self.clusters[name] = _ClusterClient(self._filesystem_of(name))
        return self.clusters[name]

    def _filesystem_of(self, name: str) -> Any:
        from fsspec.core import url_to_fs

        options = dict(self.options)
        if name.startswith("swebhdfs"):
            name, options["use_https"] = name[1:], True
        if name.startswith("webhdfs"):
            token = options.pop("delegation", os.environ.get("HADOOP_TOKEN") or None)
            user = os.environ.get("HADOOP_USER_NAME") or None
            if token is not None:
                options.setdefault("token", token)
            elif user is not None and not options.keys() & {"token", "kerberos"}:
                options.setdefault("user", user)
        return url_to_fs(name + "/", **options)[0]

    def url_of(self, name: str) -> str:
        """A name without a scheme is a local file."""
        return name

    def stat(self, url: str) -> Stat:
        return self.cluster_of(url).stat(url)

    def read(self, ranges: Sequence[Range]) -> Sequence[Any]:
        """Almost every call has ranges of a single cluster."""
        clusters = [self.cluster_of(url) for url, _, _ in ranges]
        if all(cluster is clusters[0] for cluster in clusters):
            return clusters[0].read(ranges)
        return [c.read([r])[0] for c, r in zip(clusters, ranges, strict=True)]

    def find(self, folder: str, is_deep: bool) -> list[str]:
        return self.cluster_of(folder).find(folder, is_deep)


def _client_of(fs: Any) -> _FsspecClient | _ObstoreClient | HadoopClient:
    if isinstance(fs, HadoopClient):
        return fs
    if hasattr(fs, "cat_ranges") and hasattr(fs, "info"):
        return _FsspecClient(fs)
    if hasattr(fs, "get_ranges") and hasattr(fs, "head"):
        return _ObstoreClient(fs)
    raise TypeError(
        f"fs must be a filesystem of fsspec or a store of obstore, not {type(fs).__name__}"
    )


def urls_of(names: Sequence[str], fs: object) -> list[str]:
    """The names of shards. Names without a scheme become paths in the filesystem."""
    if fs is None:
        return list(names)
    client = _client_of(fs)
    return [n if n.startswith("@") else _url_of(n, client) for n in names]


def _url_of(name: str, client: _FsspecClient | _ObstoreClient | HadoopClient) -> str:
    if not _scheme_of(name):
        return client.url_of(name)
    is_bucket = "/" not in name.partition("://")[2]
    return name + "/" if is_bucket else name


@cache
def _stop_at_exit() -> None:
    atexit.register(_recmap.clients_stop)
    os.register_at_fork(after_in_child=_recmap.clients_start)


def set_filesystem(storage: Any, fs: object) -> Any:
    """Lets a storage read with the filesystem."""
    _stop_at_exit()
    _recmap.storage_set_client(storage, _client_of(fs))
    return storage
