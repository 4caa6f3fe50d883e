"""Files of HDFS, which fsspec reads: hdfs:// with PyArrow and Hadoop's own library, webhdfs:// and
swebhdfs:// over HTTP. Both know Kerberos. The C library reads none of these URLs itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .. import _recmap
from .._base.errors import InvalidError
from .filesystem import HadoopClient, is_hadoop
from .storage import Storage

__all__ = ["with_hadoop"]

_NEEDS = {"hdfs": "fsspec pyarrow", "webhdfs": "fsspec requests"}


def with_hadoop(names: Iterable[object], storage: Storage, *, index: str | None = None) -> Storage:
    """The storage that reads the names: another than the given one if a name is a URL of HDFS. The
    URLs in the local index `index` also count."""
    if storage.fs is not None:
        return storage
    url = next(_urls_in(names), None)
    if url is None and index is not None:
        url = _url_in_index(index)
    if url is None:
        return storage
    _check_is_installed("webhdfs" if "web" in url.partition(":")[0] else "hdfs")
    if storage.credentials is not None:
        raise ValueError(
            f"{url.partition('://')[0]}:// is read with fsspec, which takes no credentials: pass "
            "its own options, such as kerberos=True or token="
        )
    options = {name: _value_of(value) for name, value in (storage.options or {}).items()}
    return replace(storage, options=None, fs=HadoopClient(options))


def _urls_in(names: Iterable[object]) -> Iterator[str]:
    """The names that are URLs of HDFS, also in lists (@FILE)."""
    for name in names:
        if not isinstance(name, (str, bytes, os.PathLike)):
            continue
        text = os.fsdecode(name)
        if text.startswith("@"):
            yield from filter(is_hadoop, _lines_of(text[1:]))
        elif is_hadoop(text):
            yield text


def _lines_of(path: str) -> Sequence[str]:
    """The C library reports a list that cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file]
    except OSError:
        return []


def _url_in_index(path: str) -> str | None:
    """The first URL of HDFS among the shards of an index: the C library refuses to open it then,
    and says why not with the URL. Other errors come again when the index is opened."""
    try:
        _recmap.Handle(
            path, access=1, header_only=True, allow_absolute_paths=True, allow_urls=True,
            allow_missing_shards=True,
        )  # fmt: skip
    except InvalidError as error:
        return error.path if error.path is not None and is_hadoop(error.path) else None
    except Exception:
        return None
    return None


def _check_is_installed(protocol: str) -> None:
    try:
        from fsspec import get_filesystem_class

        get_filesystem_class(protocol)
    except ImportError as error:
        raise ImportError(
            f"recmap reads {protocol}:// with fsspec, and {error.name or 'a package'} is not "
            f"installed: pip install {_NEEDS[protocol]}; or pass a filesystem as fs; or mount the "
            "folder"
        ) from error


def _value_of(value: object) -> object:
    """Spark knows texts only."""
    if value in ("true", "false"):
        return value == "true"
    return value
