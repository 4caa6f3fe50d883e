"""Where a prepared data set is: a local folder, or one in a remote store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from .. import _recmap
from .._base.errors import FileMissingError, InvalidError
from .._options.filesystem import urls_of
from .._options.hadoop import with_hadoop
from .._options.options import is_url
from .._options.storage import Path, Storage, created_storage

__all__ = ["INFO", "METADATA_MAX", "Files", "files_at"]

METADATA_MAX = 64 << 20  # bytes of a file of metadata
INFO = "dataset_info.json"


class Files(Protocol):
    """Files of one place. Their names are paths or URLs, joined by slashes."""

    folder: str  # the one that was asked for
    storage: Storage | None

    def read(self, name: str) -> bytes:
        """All bytes of a file.

        Raises:
            FileMissingError: there is none.
            InvalidError: it has more than METADATA_MAX.
        """
        ...

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder that may have a data set."""
        ...

    def missing(self, folder: str, names: Sequence[str]) -> list[str]:
        """Those of these files of a folder that are known to be missing.

        Args:
            names: relative to the folder.
        """
        ...

    def index_of(self, folder: str, name: str) -> str:
        """The path of the index of a split of the data set in a folder."""
        ...


def files_at(path: Path, storage: Storage | None) -> Files:
    """The files of a path or URL."""
    name = os.fsdecode(path)
    if storage is not None:
        name = urls_of([name], storage.fs)[0]
    return _Remote(name.rstrip("/"), storage or Storage()) if is_url(name) else _Local(name)


class _Local:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.storage: Storage | None = None

    def read(self, name: str) -> bytes:
        try:
            with open(name, "rb") as file:
                text = file.read(METADATA_MAX + 1)
        except FileNotFoundError as error:
            raise FileMissingError("it is missing", name, error_number=error.errno) from None
        if len(text) > METADATA_MAX:
            raise InvalidError(f"a file of metadata has at most {METADATA_MAX >> 20} MiB", name)
        return text

    def folders(self, folder: str) -> list[str]:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())

    def missing(self, folder: str, names: Sequence[str]) -> list[str]:
        listed: set[str] = set()
        for below in _folders_of(names):
            found = _listed(_joined(folder, below))
            listed.update(found if not below else (f"{below}/{name}" for name in found))
        return [name for name in names if name not in listed]

    def index_of(self, folder: str, name: str) -> str:
        return os.path.join(folder, name)


class _Remote:
    """A remote store has no folders, only names of objects."""

    def __init__(self, folder: str, storage: Storage) -> None:
        self.folder = folder
        self.storage: Storage | None = storage
        self._opened = created_storage(with_hadoop([folder], storage), [folder])

    def read(self, name: str) -> bytes:
        text: bytes = _recmap.storage_read(self._opened, name, METADATA_MAX)
        return text

    def folders(self, folder: str) -> list[str]:
        infos = [
            url
            for levels in ("*", "*/*")
            for url in _recmap.storage_list(self._opened, f"{_escaped(folder)}/{levels}/{INFO}")
        ]
        return sorted({url[len(folder) + 1 :].split("/")[0] for url in infos})

    def missing(self, folder: str, names: Sequence[str]) -> list[str]:
        """Web servers have no lists: their shards are found to be missing when they are read."""
        if self.folder.startswith(("http://", "https://")):
            return []
        listed = {
            url.removeprefix(f"{folder}/")
            for below in _folders_of(names)
            for url in _recmap.storage_list(self._opened, f"{_joined(folder, below)}/")
        }
        return [name for name in names if name not in listed]

    def index_of(self, folder: str, name: str) -> str:
        """Indexes are built in the current folder."""
        return name


def _folders_of(names: Sequence[str]) -> set[str]:
    """The folders that relative names are in: "" is the one that they are relative to."""
    return {name.rpartition("/")[0] if "/" in name else "" for name in names}


def _joined(folder: str, below: str) -> str:
    return f"{folder}/{below}" if below else folder


def _listed(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _escaped(url: str) -> str:
    """The URL as a pattern that matches only itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in url)
