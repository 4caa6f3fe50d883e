"""An index whose contents are read, wherever its shards are."""

from __future__ import annotations

from dataclasses import replace

from .._dataset.dataset import Dataset
from .._options.options import IndexOptions, OpenOptions
from .._options.reading import Reading

__all__ = ["open_contents"]


def open_contents(path: str, indexing: IndexOptions) -> Dataset:
    """Opens an index with the storage that its shards are indexed with. They may be missing, or
    named by URLs or absolute paths. Its records may not be readable."""
    reading = Reading(
        "read",  # of the records, a few at most
        allow_absolute_paths=True,
        allow_missing_shards=True,
    )
    storage = replace(indexing.storage, cache=None, cache_size=None, allow_urls=True)
    return Dataset._open(OpenOptions(path=path, reading=reading, storage=storage))
