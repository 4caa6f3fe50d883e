"""Writing TFRecord files."""

from __future__ import annotations

import contextlib
import os
import re
import string
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .. import _recmap
from .._base.context import Closing
from .._base.errors import Error, FileMissingError, InvalidError
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.plural import counted
from .._base.values import Rounding
from .._base.warn import warn_caller
from .._display.text import joined
from .._example.encode import Features, encoded, rounding_text
from .._options.options import (
    Compression,
    Count,
    IndexOptions,
    Lift,
    MissingLift,
    check_missing,
    check_missing_is_used,
    compression_code,
    counted_of,
    lifts_of,
    local_path,
)
from .._options.storage import Path
from .annotated import check_annotated
from .build import merge

__all__ = ["Writer"]

Bytes: TypeAlias = "bytes | bytearray | memoryview"


class Writer(Closing):
    """Writes records into TFRecord files in turn: record i goes into shard i modulo `shards`.

    The index numbers the records shard by shard, so with several shards, record i of the index is
    not the i-th record written.

    The files have temporary names until the writer is closed, so that only complete files appear
    under their final names. They then replace files of these names: a warning says so at once if
    these have an index beside them. An exception inside ``with``, or while the files are closed,
    removes all of them. If only the index fails, the files are complete and remain without it. A
    writer that is neither closed nor abandoned loses its records, with a RuntimeWarning.

    The files are compressed if their names end in .gz or .zlib (or .GZ), or with `compression`. The
    compressed bytes do not depend on the number of threads.

    Safe to use from many threads, but the order of the records is then undefined. After a fork, the
    writer belongs to the parent: a child can neither write to it nor close it, and does not affect
    it.

    Args:
        pattern: the names of the files: ``"out@16.tfrecord"`` for 16 files
            ``out-00000-of-00016.tfrecord`` and so on, which `recmap.open` also accepts; or a
            pattern in which ``{shard}`` and ``{shards}`` are replaced by numbers.
        shards: the number of files, for a pattern; 1 by default.
        index: the path of an index to build while writing, without reading the data again. An
            existing index with annotated columns is not replaced (FeatureError), as in
            `recmap.index`.
        id, lift, count: what the index contains; see `recmap.open`.
        missing_values: "null" lets records lack a lifted feature that has no default: the column
            then has nulls. With "error", writing such a record fails. A feature whose value is None
            is one that the record lacks.
        compression: "none", "gzip" or "zlib"; "auto" goes by the end of the names. TensorFlow
            must be told how a file is compressed; recmap sees it.
        threads: number of threads that compress; 0: one per core. Each needs 4 MiB a shard.

    >>> with Writer(folder / "out@2.tfrecord", index=folder / "out.rmx", id="word") as writer:
    ...     for word in "one", "two", "three":
    ...         writer.write({"word": word})
    >>> [os.path.basename(path) for path in writer.paths]
    ['out-00000-of-00002.tfrecord', 'out-00001-of-00002.tfrecord']
    >>> recmap.open(folder / "out.rmx").find("two")
    2
    """

    @suggest_arguments
    def __init__(
        self,
        pattern: Path,
        shards: int | None = None,
        *,
        index: Path | None = None,
        id: str | None = None,
        lift: Lift = (),
        missing_values: MissingLift = "error",
        count: Count = (),
        compression: Compression = "auto",
        threads: int = 0,
    ) -> None:
        check_missing(missing_values)
        self._pattern = local_path(pattern)
        self.paths: list[str] = _paths_of(os.fsdecode(pattern), shards)
        if index is None and (id is not None or lift or count):
            raise ValueError("id=, lift= and count= need index=: they say what the index contains")
        named = lifts_of(lift)
        check_missing_is_used(missing_values, named)
        self._index = None if index is None else local_path(index)
        self._absolute = [local_path(path) for path in self.paths]
        if self._index is not None:  # before anything is written
            _check_index(self._index, self._absolute)
            check_annotated(self._index, IndexOptions(lifts=named))
        _warn_of_replaced(self._absolute, self._index)
        self._parts = [f"{path}.tmp-part.rmx" for path in self._absolute] if index else []
        self._count = 0
        self._lock = threading.Lock()
        self._kinds = _recmap.KindCheck()
        self._rounded: set[str] = set()  # places that were warned of
        self._owner = os.getpid()
        lifts = [(name, default, missing_values == "null") for name, default in named]
        counted, code = counted_of(count), compression_code(compression)
        each = _threads_of(threads, len(self._absolute))
        if self._index is not None:
            _check_replaceable(self._index, self._absolute[0], code)
        _recmap.remove_leftovers(self._absolute + self._parts)
        self._writers = [
            _recmap.Writer(
                path, self._parts[i] if index else None, id, lifts, counted, code, each, True
            )
            for i, path in enumerate(self._absolute)
        ]

    def write(self, record: Bytes | Features) -> None:
        """Appends a record: bytes, or features to encode as a tf.Example (see `encode_example`).

        Warns (UserWarning), once for each feature, if its kind is another than in the records
        before, such as 3 and then 3.5, or a text and then NaN; and of values that 32 bits do not
        hold closely (see `encode_example`).

        Raises:
            TypeError, ValueError: a feature has an invalid value. You can continue writing.
            InvalidError: this process was forked from the one that created the writer.
            FeatureError: the id or a lifted feature does not match. The writer cannot continue.
            OSError: the file cannot be written. The writer cannot continue.
        """
        bytes_, roundings = _bytes_of(record)
        if not bytes_.c_contiguous:
            raise ValueError("the bytes of a record must be contiguous in memory")
        self._check_process()  # in a forked child, the lock may be held forever
        with self._lock:
            writers = self._writers  # another thread may close the writer
            if not writers:
                raise ValueError("the writer is closed")
            number = self._count
            self._count += 1
            findings = self._kinds.add(bytes_)
        writers[number % len(writers)].write(bytes_)
        if findings or roundings:
            self._warn(number, findings or [], roundings)

    def _warn(
        self, number: int, findings: Sequence[Error], roundings: Mapping[str, Rounding]
    ) -> None:
        """Warns of features whose kind changed, and once of each whose values are rounded."""
        for finding in findings:
            warn_caller(f"record {finding.record}: {finding.message}: {finding.advice}")
        for place, (before, after) in roundings.items():
            if place not in self._rounded:
                self._rounded.add(place)
                change = f"{before} is rounded to {after}"
                warn_caller(rounding_text(f"record {number}: {place}", change))

    def __len__(self) -> int:
        """The number of records written so far."""
        return self._count

    def close(self) -> None:
        """Syncs the files, gives them their final names, then builds the index.

        If no record has the id, that is a FeatureError: the files remain without an index.

        Warns (UserWarning) of files of the same pattern that remain from a set of more shards.
        Closing twice does nothing.
        """
        writers, self._writers = self._writers, []
        if not writers:
            return
        self._check_process()
        try:
            self._publish(writers)
            self._warn_of_others()
            if self._index is not None:
                merge(self._index, self._parts, progress=None)
        finally:
            self._abandon(writers)

    def _publish(self, writers: list[_recmap.Writer]) -> None:
        """Gives the files their names. After an error or an interrupt, those that have theirs are
        removed: a part of a set would be taken for a whole one."""
        published: list[str] = []
        try:
            for path, writer in zip(self._absolute, writers, strict=True):
                writer.close()
                published.append(path)
        except BaseException:
            for path in published:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            raise

    def _warn_of_others(self) -> None:
        """Warns of other files of the pattern, which opening the folder would take for shards, and
        of other copies of the set, such as NAME@4 beside NAME@2."""
        others = _others_of(self._pattern, self._absolute)
        if others:
            warn_caller(
                f"{self._pattern}: {counted(len(others), 'file')} of this pattern "
                f"{'is' if len(others) == 1 else 'are'} not of this set of {len(self.paths)}: "
                f"{joined(others, len(others), 3)}. Remove what an older set of more shards left: "
                "recmap.open of the folder would take it for shards that were added"
            )
            return
        copies = _copies_of(self._absolute)
        if copies is not None:
            warn_caller(
                f"{self._pattern}: {copies}. Remove the older one, or write to another folder: "
                "recmap.open of this folder is an error until one of them is named"
            )

    def abandon(self) -> None:
        """Stops writing and removes the files written so far."""
        writers, self._writers = self._writers, []
        self._abandon(writers)

    def _check_process(self) -> None:
        if os.getpid() != self._owner:
            raise InvalidError(
                "the writer belongs to the process that forked this one",
                self._absolute[0],
                advice="write another file in each process",
            )

    def _abandon(self, writers: list[_recmap.Writer]) -> None:
        if os.getpid() != self._owner:
            return
        for writer in writers:
            writer.abandon()
        for part in self._parts:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)

    def __del__(self) -> None:
        """The files of a writer that was not closed are lost, which nothing else would say."""
        if getattr(self, "_writers", None) and os.getpid() == self._owner:
            first = repr(self.paths[0])
            more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
            lost = f"{counted(len(self), 'record')} {'is' if len(self) == 1 else 'are'} lost"
            warnings.warn(
                f"a recmap.Writer of {first}{more} was not closed: {lost}; write inside `with`, "
                "or call close()",
                RuntimeWarning,  # unlike a ResourceWarning, shown without -W
                stacklevel=2,
                source=self,
            )

    def __repr__(self) -> str:
        state = "" if self._writers else ", closed"
        paths = joined(map(repr, self.paths), len(self.paths), 2)
        return f"<recmap.Writer of {paths}: {counted(len(self), 'record')}{state}>"

    def _leave(self, has_failed: bool) -> None:
        if has_failed:
            self.abandon()
        else:
            self.close()


def _place_of(path: str) -> tuple[str, str]:
    """Equal for all names of a file to create. A link with its name is replaced, not followed."""
    return os.path.realpath(os.path.dirname(path)), os.path.basename(path)


def _check_replaceable(path: str, shard: str, compression: int) -> None:
    """Refuses an index that the library would not write, such as one in place of another file.

    The indexes of the shards have names of their own, so only building the index at the end would
    check its path. A writer of a shard with this index checks it now."""
    _recmap.Writer(shard, path, None, [], [], compression, 1, True).abandon()


def _check_index(path: str, shards: Sequence[str]) -> None:
    """Refuses an index that could not be built after all records were written."""
    place = _place_of(path)
    for shard in shards:  # there may be many, and following links takes long
        if os.path.basename(shard) == place[1] and _place_of(shard) == place:
            raise ValueError(f"the index would replace the file {shard!r}: rename one")
    if not os.path.isdir(place[0]):
        raise FileMissingError(
            "the folder of the index does not exist", path, advice="create it, or name another"
        )


def _warn_of_replaced(shards: list[str], index: str | None) -> None:
    """Warns before shards are replaced of which an index is beside them: its columns and ids are of
    the old records. The index that the writer builds is replaced with them."""
    replaced = [path for path in shards if os.path.isfile(path)]
    if not replaced:
        return
    try:
        beside: str = _recmap.shards_expand(replaced, None, None, True, "auto", True)[1]
    except Error:  # the names are patterns, for example
        return
    if os.path.lexists(beside) and (index is None or _place_of(index) != _place_of(beside)):
        warn_caller(
            f"{replaced[0]} exists and has the index {beside}: closing the writer replaces "
            f"{counted(len(replaced), 'file')}, after which the index does not fit. Write another "
            "name to keep both, or build the index again with recmap.open(..., rebuild=True)"
        )


_BUFFERING_THREADS = 512  # each has 2 MiB in a shard: 1 GiB in all


def _threads_of(threads: int, shards: int) -> int:
    """The number of threads for each shard."""
    count = natural("threads", threads) or len(os.sched_getaffinity(0))
    return max(1, min(count, _BUFFERING_THREADS // shards))


def _bytes_of(record: Bytes | Features) -> tuple[memoryview, Mapping[str, Rounding]]:
    """The bytes of a record, and what rounding changed in its features."""
    if isinstance(record, Mapping):
        example, roundings = encoded(record)
        return memoryview(example), roundings
    try:
        return memoryview(record), {}
    except TypeError:
        raise TypeError(
            f"a record must be bytes, or a dict of features, not {type(record).__name__}"
        ) from None


def _others_of(pattern: str, paths: Sequence[str]) -> list[str]:
    """The names of other files that a pattern could have named, with other numbers."""
    folder, name = os.path.split(pattern)
    if "{" in folder or _recmap.shards_planned(name) != [name]:
        return []
    parts = list(string.Formatter().parse(name))
    if not any(field for _, field, _, _ in parts):
        return []
    texts = (re.escape(text) + (r"\d+" if field else "") for text, field, _, _ in parts)
    expression = re.compile("".join(texts))
    own = set(map(os.path.basename, paths))
    return sorted(
        name for name in os.listdir(folder) if expression.fullmatch(name) and name not in own
    )


_NUMBER = re.compile(r"\d+")


def _copies_of(paths: Sequence[str]) -> str | None:
    """Says which other copy of the set the folder has: with another number of shards, or compressed
    in another way. None if it has none."""
    folder, name = os.path.split(paths[0])
    own, form = set(map(os.path.basename, paths)), _NUMBER.sub("0", name)
    seen = set()
    for other in os.listdir(folder):
        like = _NUMBER.sub("0", other)
        key = re.sub(r"\d+(?=-of-\d)", "", other)  # equal for the shards of one set
        is_alike = like.startswith(form) or form.startswith(like)
        if other in own or key in seen or not is_alike:
            continue
        seen.add(key)
        try:  # the names decide, by the rules for all lists of shards
            both = [paths[0], os.path.join(folder, other)]
            _recmap.shards_expand(both, None, None, False, "auto", False)
        except InvalidError as error:
            return error.message
        except Error:
            continue
    return None


def _paths_of(text: str, shards: int | None) -> list[str]:
    """The names of the files that a set (NAME@N) or a pattern names."""
    planned = _recmap.shards_planned(text)
    if planned != [text]:
        if shards is not None and shards != len(planned):
            found = counted(len(planned), "shard")
            raise ValueError(f"{text!r} means {found}, but shards is {shards}")
        return planned
    count = 1 if shards is None else shards
    if count < 1:
        raise ValueError(f"shards must be at least 1, not {shards}")
    try:
        paths = [text.format(shard=i, shards=count) for i in range(count)]
    except (KeyError, IndexError, ValueError, AttributeError):
        raise ValueError(
            f"{text!r} is not a pattern: braces are for {{shard}} and {{shards}}; double others, "
            "as in {{x}}"
        ) from None
    if len(set(paths)) < count:
        raise ValueError(
            f"{text!r} gives several shards the same name: put {{shard}} in it, or write NAME@N"
        )
    return paths
