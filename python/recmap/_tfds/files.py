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

    def missing(self, names: Sequence[str]) -> list[str]:
        """Those of these files that are known to be missing."""
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

    def missing(self, names: Sequence[str]) -> list[str]:
        places = [name.rpartition("/") for name in names]
        listed = {
            folder: set(os.listdir(folder)) if os.path.isdir(folder) else set()
            for folder in {folder for folder, _, _ in places}
        }
        return [
            "/".join((folder, name)) for folder, _, name in places if name not in listed[folder]
        ]

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

    def missing(self, names: Sequence[str]) -> list[str]:
        """Web servers have no lists: their shards are found to be missing when they are read."""
        if self.folder.startswith(("http://", "https://")):
            return []
        folders = {name.rpartition("/")[0] for name in names}
        listed = {
            url for folder in folders for url in _recmap.storage_list(self._opened, f"{folder}/")
        }
        return [name for name in names if name not in listed]

    def index_of(self, folder: str, name: str) -> str:
        """Indexes are built in the current folder."""
        return name


def _escaped(url: str) -> str:
    """The URL as a pattern that matches only itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in url)
