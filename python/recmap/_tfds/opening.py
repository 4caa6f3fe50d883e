"""Opening the splits of a data set that TFDS prepared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from .._base.errors import Error, FileMissingError, InvalidError
from .._base.plural import counted
from .._base.warn import warn_caller
from .._dataset.concat import concat
from .._dataset.dataset import Dataset
from .._dataset.description import Description
from .._index.open import open as open_shards
from .._options.options import ConcatOptions
from .episodes import steps_of
from .folder import Prepared
from .specs import Specs, specs_of
from .splits import Range, Split, ranges_of

__all__ = ["Differences", "description_of", "open_split"]

Differences: TypeAlias = Literal["error", "warn"]
_Table: TypeAlias = list[tuple[str, int, int, int]]  # the shards of an index


def description_of(prepared: Prepared) -> tuple[Description, Specs]:
    """What the metadata says about the records."""
    specs = specs_of(prepared.fields)
    steps = steps_of(prepared.fields, specs.features)
    labels = tuple(prepared.labels.items())
    description = Description(tuple(specs.features.items()), labels, steps)
    return description, specs


class Splits(Mapping[str, Split]):
    """The splits of a data set; a split is opened when it is first used.

    With ``metadata="error"`` they have the lengths that the metadata says, which are those of the
    files; else those of the files that are there.
    """

    def __init__(
        self, prepared: Prepared, metadata: Differences, options: Mapping[str, Any]
    ) -> None:
        self._prepared = prepared
        self._metadata = metadata
        self._options = options
        self._opened: dict[str, Dataset] = {}

    def __len__(self) -> int:
        return len(self._prepared.info.splits)

    def __iter__(self) -> Iterator[str]:
        return iter(self._prepared.info.splits)

    def __getitem__(self, name: str) -> Split:
        split = self._prepared.info.splits[name]
        if self._metadata == "error":
            return split
        return Split(name, [shard["records"] for shard in self.dataset(name).shards])

    def dataset(self, name: str) -> Dataset:
        """The data set of all shards of a split."""
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _report(self, text: str, path: str, advice: str) -> None:
        if self._metadata == "error":
            raise InvalidError(text, path, advice=advice)
        warn_caller(f"{path}: {text}")

    def _open(self, name: str) -> Dataset:
        """An index with the shards of the metadata proves that they were there: they are not listed
        again, and a shard that was removed since is an error when it is read. With
        ``metadata="warn"`` shards may be missing on purpose."""
        files = self._prepared.info.files(name)
        options = self._options_of(name)
        opened = self._indexed(files, options) if self._metadata == "error" else None
        if opened is None:
            opened = self._open_listed(name, files, options)
        self._check_lengths(name, files, *opened)
        return opened[0]

    def _options_of(self, name: str) -> dict[str, Any]:
        prepared, options = self._prepared, dict(self._options)
        index = prepared.files.index_of(prepared.folder, f"{prepared.info.name}-{name}.rmx")
        options["index"] = options["index"] or index
        return options

    def _open_listed(
        self, name: str, files: list[str], options: dict[str, Any]
    ) -> tuple[Dataset, _Table]:
        """The data set of those files that are there."""
        prepared = self._prepared
        missing = prepared.files.missing(prepared.folder, files)
        there = [file for file in files if file not in set(missing)] if missing else files
        if missing:
            self._report(
                f"{counted(len(missing), 'shard')} of {len(files)} of split {name!r} "
                f"{'is' if len(missing) == 1 else 'are'} missing",
                f"{prepared.folder}/{missing[0]}",
                'Copy the missing shards there, or pass metadata="warn" to use those that are '
                "there: percentages then refer to these.",
            )
        if not there:
            raise FileMissingError(
                f"split {name!r} has no shards", prepared.info_path, advice="Copy them there."
            )
        opened = self._indexed(there, options) if self._metadata == "warn" else None
        if opened is not None:
            return opened
        paths = [f"{prepared.folder}/{file}" for file in there]
        dataset = open_shards(paths, storage=prepared.files.storage, **options)
        return dataset, dataset._shard_table()

    def _indexed(
        self, files: list[str], options: Mapping[str, Any]
    ) -> tuple[Dataset, _Table] | None:
        """The data set of an index that has these shards, and all that is asked for. It is then not
        compared with each file, which takes longer than all else: reading tells what changed."""
        is_local = self._prepared.files.storage is None
        if not is_local or options["rebuild"] or not os.path.isfile(options["index"]):
            return None
        opening = {name: options[name] for name in options if name not in ("index", "rebuild")}
        try:
            dataset = open_shards(options["index"], **opening)
        except (Error, ValueError):
            return None
        table = dataset._shard_table()
        names = [row[0] for row in table]
        if names == files or [*map(_last, names)] == [*map(_last, files)]:
            return dataset, table
        dataset.close()
        return None

    def _check_lengths(self, name: str, files: list[str], dataset: Dataset, table: _Table) -> None:
        """Compares the numbers of records with those in the metadata."""
        lengths = self._prepared.info.splits[name].shard_lengths
        if [row[3] for row in table] == list(lengths):
            return
        expected = dict(zip(map(_last, files), lengths, strict=True))
        for shard in dataset.shards:
            wanted = expected.get(_last(shard["path"]))
            if wanted is not None and wanted != shard["records"]:
                self._report(
                    f"the shard has {counted(shard['records'], 'record')}, but the metadata says "
                    f"{wanted}",
                    f"{self._prepared.folder}/{_last(shard['path'])}",
                    'Copy the shard and the metadata again, or pass metadata="warn" to go by the '
                    "shards.",
                )
                return


def _last(path: str) -> str:
    """The name of a file without its folders. Faster than os.path.basename, for many shards."""
    return path.rpartition("/")[2]


def open_split(splits: Splits, split: Any, description: Description) -> Dataset:
    """The data set of a split, a slice, or a sum of them."""
    views = [_view(splits.dataset(range_.split), range_) for range_ in ranges_of(split, splits)]
    dataset = views[0] if len(views) == 1 else concat(views)
    _describe(dataset, description)
    return dataset


def _view(dataset: Dataset, range_: Range) -> Dataset:
    is_whole = not range_.first and range_.end == len(dataset)
    return dataset if is_whole else dataset[range_.first : range_.end]


def _describe(dataset: Dataset, description: Description) -> None:
    """Lets the data set, its views and its pickled forms have the description."""
    options = dataset._options
    if isinstance(options, ConcatOptions):
        parts = tuple(replace(part, description=description) for part in options.parts)
        dataset._options = replace(options, parts=parts)
    else:
        dataset._options = replace(options, description=description)
