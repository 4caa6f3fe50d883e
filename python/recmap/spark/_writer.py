"""Writing: shards and indexes of tasks, and their commit."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark import TaskContext
from pyspark.sql import datasource as sources
from pyspark.sql import types

from .. import _recmap
from .._base.errors import Error, InvalidError, StaleIndexError
from .._base.values import Rounding
from .._dataset.dataset import Dataset
from .._index import build
from .._index.contents import open_contents
from .._index.match import check_contents, check_shards
from .._options.options import (
    IndexOptions,
    check_missing_is_used,
    compression_code,
    counted_of,
    expanded,
    is_url,
    lifts_of,
)
from .._options.storage import Storage
from ._advice import SPARK_TYPES, spark_errors
from ._encode import encoded
from ._settings import Settings
from ._types import Column, columns_of

__all__ = ["ShardWriter"]


@dataclass
class _Part(sources.WriterCommitMessage):
    """The result of a task: its number, its shard, or "" if it had no rows, and columns with values
    that floats do not hold closely."""

    partition: int
    shard: str
    roundings: dict[str, Rounding] = field(default_factory=dict)


def _next_sequence(folder: str) -> int:
    """One more than the number in the names of the shards that are there: shards that are appended
    must come after them."""
    matches = [re.match(r"part-(\d+)", name) for name in os.listdir(folder)]
    return max((int(match[1]) + 1 for match in matches if match), default=0)


def _order_of(name: str) -> list[tuple[int, int, int]]:
    """A key that sorts names as the shards of a folder are sorted: digits count as numbers."""
    parts = re.findall(rb"[0-9]+|[^0-9]", os.fsencode(name), re.DOTALL)
    return [(0x30, int(p), len(p)) if p.isdigit() else (p[0], 0, 0) for p in parts]


def _check_new_names_are_last(folder: str, shards: list[str], new_name: str) -> None:
    """The shards of a folder match an index only in the same order."""
    last = os.path.basename(shards[-1]) if shards else ""
    if shards and _order_of(new_name) < _order_of(last):
        raise ValueError(
            f"{folder}: cannot append here: names of new shards begin with {new_name}, which is "
            f"sorted before {last}. Write to a new folder, and load both folders"
        )


def _check_types(dataset: Dataset, columns: list[Column]) -> None:
    """Refuses columns whose values are of another type than in the index. If no record has a value,
    the type of a column with a default is only the default's, and may change."""
    table = dataset._column_table()[1:]
    kinds = {name: kind for name, kind, default, _ in table if default is None}
    for column in columns:
        kind = kinds.get(column.name)
        if kind is not None and kind != column.kind:
            raise TypeError(
                f"column {column.name!r} has values of type {column.kind}, but the index has "
                f"{kind}: cast it to {SPARK_TYPES[kind]}"
            )


def _index_of(shard: str) -> str:
    return f"{shard}.rmx"


def _nullable_columns(dataset: Dataset) -> frozenset[str]:
    """The columns of an index in which shards that are appended can have nulls."""
    nulls = (name for name, _, _, null_count in dataset._column_table() if null_count)
    return frozenset(nulls).union(dataset._annotated_columns())


def _check_names(contents: IndexOptions, optional: frozenset[str], columns: list[str]) -> None:
    """Refuses an index of columns that the table lacks, unless they have a default or are
    optional."""
    named = [("id", contents.id)] if contents.id is not None else []
    named += [
        ("lift", name)
        for name, default in contents.lifts
        if default is None and name not in optional
    ]
    named += [("count", name) for name, _ in contents.counted]
    for option, name in named:
        if name not in columns:
            found = ", ".join(map(repr, columns))
            raise ValueError(
                f"the index needs the column {name!r} (option {option}); the columns are {found}"
            )


def _warn_of_rounding(parts: list[_Part]) -> None:
    roundings: dict[str, Rounding] = {}
    for part in parts:
        roundings = {**part.roundings, **roundings}
    for place, (before, after) in roundings.items():
        warnings.warn(
            f"{place}: {before} is rounded to {after}, because floats have 32 bits: cast it to "
            "bigint or string, or to float if this is meant",
            stacklevel=2,
        )


class ShardWriter(sources.DataSourceArrowWriter):
    """Each attempt of a task writes a shard and its index into a folder of its own. The commit
    moves the files of successful attempts, and merges the indexes."""

    def __init__(self, schema: types.StructType, settings: Settings, overwrite: bool) -> None:
        if len(settings.paths) > 1 or is_url(settings.paths[0]):
            raise ValueError(
                f"{settings.paths[-1]}: cannot write here: pass one folder that all nodes can "
                "reach, not a URL or several paths"
            )
        self.columns = columns_of(schema, settings.record_type)
        self.settings = settings
        self.overwrite = overwrite
        self.job = uuid.uuid4().hex[:12]
        self.folder = os.path.abspath(settings.paths[0])
        shards, index = ([], None) if overwrite else self._existing()
        self.place = settings.place(is_append=index is not None)
        self.nullable: frozenset[str] = frozenset()
        with spark_errors(self.place):
            self.contents = self._contents(shards, index)
        self.sequence = _next_sequence(self.folder) if os.path.isdir(self.folder) else 0
        _check_new_names_are_last(self.folder, shards, f"part-{self.sequence:04d}-")
        self.attempts = os.path.join(self.folder, f".recmap-{self.job}")
        os.makedirs(self.attempts)

    def _contents(self, shards: list[str], index: str | None) -> IndexOptions:
        """What the index contains. Appended shards get the ids, columns and counts of the index;
        anything else would fail only after all tasks have run."""
        settings = self.settings
        contents = IndexOptions(
            id=settings.id, lifts=lifts_of(settings.lift), counted=counted_of(settings.count)
        )
        nullable: frozenset[str] = frozenset()  # according to the index
        if index is not None:
            with open_contents(index, contents) as dataset:
                self._check_index(dataset, shards, contents)
                nullable = _nullable_columns(dataset)
                contents = IndexOptions(
                    id=dataset._id_name(), lifts=dataset._lifts(), counted=dataset._counted()
                )
        check_missing_is_used(settings.missing_values, contents.lifts, index)
        if settings.missing_values == "null":
            self.nullable = frozenset(name for name, _ in contents.lifts)
        else:
            self.nullable = nullable
        if settings.record_type != "ByteArray":
            # A new index has no column that may be absent: its name is likely to be misspelt.
            optional = self.nullable if index is not None else nullable
            _check_names(contents, optional, [column.name for column in self.columns])
        return contents

    def _check_index(self, dataset: Dataset, shards: list[str], contents: IndexOptions) -> None:
        """Checks the index that is appended to: first its shards, because other checks may read
        records, and anyone who can write to the folder decides what the index names."""
        again = self.place.open_call("rebuild=True")
        try:
            grown, new = check_shards(dataset, shards, is_list=False)
        except Error as error:
            if not dataset._annotated_columns():
                error.advice = (
                    f"index the folder again with `{again}`, or write with mode overwrite"
                )
            raise
        if lacking := [*grown, *new]:
            raise StaleIndexError(
                f"the index lacks records of the shard {lacking[0]} of the folder",
                dataset.index_path,
                advice=f"add it with `{self.place.open_call('progress=None')}`",
            )
        try:
            check_contents(dataset, contents)
        except StaleIndexError as error:
            addition = f"; {error.advice}" if ".lift(" in error.advice else ""
            error.advice = (
                "leave out the options id, lift and count: shards that are appended get what the "
                f"index has{addition}"
            )
            raise
        if self.settings.record_type != "ByteArray":
            _check_types(dataset, self.columns)

    # On an executor.

    def write(self, iterator: Iterator[Any]) -> _Part:
        context: Any = TaskContext.get()
        partition = context.partitionId()
        attempt = self._new_attempt(context.taskAttemptId())
        try:
            return self._write_part(iterator, partition, attempt)
        except BaseException:
            shutil.rmtree(attempt, ignore_errors=True)
            raise

    def _new_attempt(self, number: int) -> str:
        """Makes the folder of an attempt."""
        attempt = os.path.join(self.attempts, f"{number}-{uuid.uuid4().hex[:8]}")
        try:
            os.mkdir(attempt)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.attempts}: this node has no such folder: all nodes must see {self.folder} "
                "under the same path (or the job has ended, and this task is superfluous)"
            ) from None
        return attempt

    def _write_part(self, batches: Iterator[Any], partition: int, attempt: str) -> _Part:
        shard, count = os.path.join(attempt, self._name_of(partition)), 0
        roundings: dict[str, Rounding] = {}
        record_type, warn = self.settings.record_type, roundings.setdefault
        with spark_errors(self.place), self._written(shard) as writer:
            for batch in batches:
                for record in encoded(batch, self.columns, record_type, warn):
                    writer.write(record)
                    count += 1
        if not count:
            shutil.rmtree(attempt)
            return _Part(partition, "")
        return _Part(partition, shard, roundings)

    def _name_of(self, partition: int) -> str:
        end = ".gz" if self.settings.is_gzip else ""
        return f"part-{self.sequence:04d}-{partition:05d}-{self.job}.tfrecord{end}"

    @contextlib.contextmanager
    def _written(self, shard: str) -> Iterator[_recmap.Writer]:
        """Writes a shard and its index: with `recmap.Writer`, all columns could have nulls, or
        none."""
        contents = self.contents
        lifts = [(name, default, name in self.nullable) for name, default in contents.lifts]
        compression = compression_code("auto")  # by the end of the name
        index = _index_of(shard)
        # The name is new, so nothing is left of an earlier writer.
        writer = _recmap.Writer(
            shard, index, contents.id, lifts, contents.counted, compression, 1, True
        )
        try:
            yield writer
            writer.close()
        finally:
            writer.abandon()

    # On the driver.

    def commit(self, messages: list[Any]) -> None:
        """Publishes the shards, then the index. The old shards are removed last."""
        parts = sorted((m for m in messages if m is not None), key=lambda part: part.partition)
        _warn_of_rounding(parts)
        try:
            with spark_errors(self.place):
                old, old_index = self._existing()
                gone = self._replaced(old, old_index)
                shards = [self._published(part.shard) for part in parts if part.shard]
                if not shards and (self.overwrite or not old):
                    shards = [self._empty_shard()]
                path = self._publish_index(shards, old, old_index) if shards else old_index
        except BaseException:
            self.abort(messages)
            raise
        # From here on, the new shards are the data set.
        for name in [*map(self._part_index, shards), *gone]:
            if name == path:
                continue
            with contextlib.suppress(OSError):
                os.unlink(name)
        shutil.rmtree(self.attempts, ignore_errors=True)

    def _replaced(self, shards: list[str], index: str | None) -> list[str]:
        """The files that the new index replaces: those of the old data set."""
        files = [index] if index is not None else []
        if self.overwrite and shards:
            files += [
                *shards,
                expanded(shards, Storage(), sets="all")[1],
            ]  # also an index by default
        return files

    def _existing(self) -> tuple[list[str], str | None]:
        """The shards that the folder has, and their index."""
        shards, path = self._shards()
        if not shards:
            self._check_no_index()
            return [], None
        path = os.path.abspath(self.settings.index or path)
        if not self.overwrite and not os.path.exists(path):
            raise FileNotFoundError(
                f"{self.folder} has shards without an index at {path}: index them first with "
                f"`recmap index`, or write with mode overwrite"
            )
        return shards, path if os.path.exists(path) else None

    def _shards(self) -> tuple[list[str], str]:
        """The shards that the folder has, if any, and the path of their index by default."""
        if not os.path.isdir(self.folder):
            return [], ""
        try:
            sets = "all" if self.overwrite else self.settings.sets
            shards, path, *_ = expanded([self.folder], Storage(), sets=sets)
        except InvalidError as error:
            if error.message.startswith("the folder contains no shards"):
                return [], ""
            raise
        return shards, path

    def _check_no_index(self) -> None:
        """Refuses to append to the index of a folder that has no shards: it has others."""
        index = self.settings.index
        if index is not None and not self.overwrite and os.path.lexists(index):
            raise FileExistsError(
                f"{os.path.abspath(index)}: is the index of other shards, because {self.folder} "
                "has none: name another index, or write with mode overwrite"
            )

    def _published(self, shard: str) -> str:
        """Moves a shard and its index into the folder. Returns the shard's new path."""
        target = os.path.join(self.folder, os.path.basename(shard))
        os.rename(_index_of(shard), self._part_index(target))
        os.rename(shard, target)
        return target

    def _part_index(self, shard: str) -> str:
        return os.path.join(self.folder, f".{os.path.basename(shard)}.part.rmx")

    def _empty_shard(self) -> str:
        shard = os.path.join(self.attempts, self._name_of(0))
        with self._written(shard):
            pass
        return self._published(shard)

    def _publish_index(self, shards: list[str], old: list[str], old_index: str | None) -> str:
        """Merges the indexes of the new shards, and the old index unless it is replaced."""
        kept = [] if self.overwrite or old_index is None else [old_index]
        names = shards if self.overwrite else [*old, *shards]
        default = expanded(sorted(names), Storage(), sets="all")[1]
        path = os.path.abspath(self.settings.index or default)
        build.merge(path, [*kept, *map(self._part_index, shards)], progress=None)
        return path

    def abort(self, messages: list[Any]) -> None:
        """Removes what the job has written."""
        shutil.rmtree(self.attempts, ignore_errors=True)
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        for name in names:
            if f"-{self.job}.tfrecord" in name:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self.folder, name))
