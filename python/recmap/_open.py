"""Opening data sets, and building their indexes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from . import _recmap
from ._dataset import Dataset
from ._errors import CorruptIndexError, CorruptRecordError, StaleIndexError
from ._progress import Progress, shown

__all__ = ["index", "merge", "open"]

Path: TypeAlias = "str | os.PathLike[str]"
Source: TypeAlias = "Path | Iterable[Path]"
OnCorrupt: TypeAlias = Literal["raise", "skip"]
Access: TypeAlias = Literal["map", "read", "direct"]
Compression: TypeAlias = Literal["auto", "none", "gzip", "zlib"]
Lift: TypeAlias = "Iterable[str] | Mapping[str, object]"

_ACCESS = {"map": 0, "read": 1, "direct": 2}
_COMPRESSION = {"auto": 0, "none": 1, "gzip": 2, "zlib": 3}
REBUILD = "rebuild=True builds the index again, where the shards are named"


@dataclass(frozen=True)
class Options:
    """How an index is opened: what a data set is pickled as."""

    path: str
    access: Access = "map"
    check: Literal["data", "header"] = "data"
    check_index: bool = False
    index_in_memory: bool = False
    guard: bool = False
    shard_limit: int = 0
    allow_absolute_paths: bool = False
    span_keep_size: int = 0
    framing_path: str | None = None  # of a shared object, where the framing is the user's own

    def open(self) -> Dataset:
        if self.framing_path is not None:
            _recmap.framing_load(self.framing_path)
        if self.access not in _ACCESS:
            raise ValueError(f"access is one of {', '.join(_ACCESS)}, not {self.access!r}")
        if self.check not in ("data", "header"):
            raise ValueError(f'check is "data" or "header", not {self.check!r}')
        handle = _recmap.Handle(
            self.path,
            access=_ACCESS[self.access],
            header_only=self.check == "header",
            check_index=self.check_index,
            index_in_memory=self.index_in_memory,
            guard=self.guard,
            shard_limit=self.shard_limit,
            allow_absolute_paths=self.allow_absolute_paths,
            span_keep_size=self.span_keep_size,
        )
        probe = _recmap.Dataset(handle, 0, 0, 1, None)
        return Dataset._make(handle, self, (0, probe._record_count(), 1, None), {})


@dataclass(frozen=True)
class _Plan:
    """What an index is to hold."""

    path: str
    shards: list[str]
    id: str | None = None
    lift: Sequence[tuple[str, str | None]] = ()
    on_corrupt: OnCorrupt = "raise"
    framing: str = "auto"
    compression: Compression = "auto"
    from_idx: Path | None = None
    threads: int = 0
    guard: bool = False
    progress: Progress = "auto"

    def __post_init__(self) -> None:
        if self.compression not in _COMPRESSION:
            has = ", ".join(_COMPRESSION)
            raise ValueError(f"compression is one of {has}, not {self.compression!r}")
        if self.on_corrupt not in ("raise", "skip"):
            raise ValueError(f'on_corrupt is "raise" or "skip", not {self.on_corrupt!r}')

    def build(self, behind: Iterable[str] = (), shards: list[str] | None = None) -> dict[str, int]:
        """Builds the index of these shards, behind those of older indexes, and returns counts."""
        parts = list(behind)
        try:
            counts = self._build(parts, shards)
        except CorruptIndexError as error:
            if error.path is None or error.path in (self.path, *parts):
                raise
            fields = error.message, error.path, error.record, error.offset, error.advice
            raise CorruptRecordError(*fields) from None  # a shard as a whole
        self._warn(counts, stack_level=5 if parts else 4)  # where open or index was called
        return counts

    def _warn(self, counts: dict[str, int], stack_level: int) -> None:
        """Says what a build passed over, which is no error."""
        if self.id is not None and counts["records"] and not counts["ids"]:
            message = f"no record has an id: there is no feature {self.id!r}"
            warnings.warn(message, stacklevel=stack_level)
        if not counts["damage"]:
            return
        damage = Options(self.path).open().info["damage"]
        first = damage[0]
        warnings.warn(
            f"damage was left out in {len(damage)} place{'s' * (len(damage) > 1)}, "
            f"{counts['damaged_bytes']} bytes, the first in {first['path']} at byte "
            f'{first["offset"]}: {first["reason"]}; ds.info["damage"] lists all',
            stacklevel=stack_level,
        )

    def _build(self, parts: list[str], shards: list[str] | None) -> dict[str, int]:
        with shown(self.progress, "indexing") as call:
            return _recmap.index_build(
                self.path,
                parts,
                self.shards if shards is None else shards,
                id=self.id,
                lift=self.lift,
                skip_corrupt=self.on_corrupt == "skip",
                threads=self.threads,
                guard=self.guard,
                progress=call,
                framing=self.framing,
                compression=_COMPRESSION[self.compression],
                idx_folder=self.from_idx,
            )


def _names(source: Source) -> list[str]:
    if isinstance(source, (str, bytes, os.PathLike)):
        return [os.fsdecode(source)]
    names = [os.fsdecode(name) for name in source]
    if not names:
        raise ValueError("a list of no files")
    return names


def _is_index(names: list[str]) -> bool:
    return len(names) == 1 and names[0].endswith(".rmx") and not os.path.isdir(names[0])


def _lifts(lift: Lift) -> list[tuple[str, str | None]]:
    if isinstance(lift, str):
        raise TypeError(f"lift is a list of names: [{lift!r}]")
    if isinstance(lift, Mapping):
        return [(name, None if value is None else str(value)) for name, value in lift.items()]
    return [(name, None) for name in lift]


def _framing_of(framing: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Its name, and the path of the shared object that it was loaded from, if it was."""
    text = os.fspath(framing)
    if "/" not in text:
        return text, None
    path = os.path.abspath(text)
    return _recmap.framing_load(path), path


def _absolute(path: str, folder: str = "") -> str:
    return os.path.realpath(os.path.join(folder, path))


def _stale(path: str, message: str) -> StaleIndexError:
    return StaleIndexError(message, path, advice=REBUILD)


def _check_options(dataset: Dataset, plan: _Plan) -> None:
    if plan.id is not None and dataset._id_name() != plan.id:
        has = "no ids" if dataset._id_name() is None else f"ids of feature {dataset._id_name()!r}"
        raise _stale(plan.path, f"the index has {has}, asked for is {plan.id!r}")
    defaults = {name: default for name, _, default in dataset._column_table()}
    for name, default in plan.lift:
        if name not in defaults:
            raise _stale(plan.path, f"the index has no column {name!r}")
        if default is not None and default != defaults[name]:
            has = "no default" if defaults[name] is None else f"the default {defaults[name]!r}"
            raise _stale(plan.path, f"column {name!r} has {has}, asked for is {default!r}")


def _lies(dataset: Dataset) -> list[tuple[str, str]]:
    """(framing, compression) of each shard."""
    return [(shard["framing"], shard["compression"]) for shard in dataset.shards]


def _check_framing(dataset: Dataset, plan: _Plan) -> None:
    """What "auto" asks for is what is there."""
    if plan.framing == plan.compression == "auto":
        return
    for framing, compression in _lies(dataset):
        if plan.framing not in ("auto", framing):
            raise _stale(plan.path, f"the index is of {framing}, asked for is {plan.framing}")
        if plan.compression not in ("auto", compression):
            asked = f"asked for is {plan.compression}"
            raise _stale(plan.path, f"the index is of compression {compression}, {asked}")


def _check_damage(dataset: Dataset, plan: _Plan) -> None:
    """What building the index would raise: one of on_corrupt="skip" is not used unasked."""
    damage = dataset.info["damage"] if plan.on_corrupt == "raise" else []
    if damage:
        first = damage[0]
        raise CorruptRecordError(
            f"{first['reason']}; the index leaves out {len(damage)} damaged stretches of bytes",
            first["path"],
            offset=first["offset"],
            advice='on_corrupt="skip" goes on without what is damaged; so does naming the index',
        )


def _check_shards(dataset: Dataset, plan: _Plan) -> int:
    """How many of the shards the index has: the first ones, or StaleIndexError."""
    folder = os.path.dirname(os.path.realpath(plan.path))
    table = dataset._shard_table()
    if len(table) > len(plan.shards):
        raise _stale(plan.path, f"the index has {len(table)} shards, given are {len(plan.shards)}")
    for (name, size, _, _), shard in zip(table, plan.shards, strict=False):
        if _absolute(name, folder) != _absolute(shard):
            raise _stale(plan.path, f"the index has the shard {name} where {shard} is given")
        now = os.stat(shard).st_size
        if now != size:
            raise _stale(shard, f"the shard has {now} bytes, indexed were {size}")
    return len(table)


def _check_contents(dataset: Dataset, plan: _Plan) -> None:
    """Shards that were written after the index are compared with it, by a look at a record."""
    built = os.stat(plan.path).st_mtime_ns
    for (_, _, first, count), shard in zip(dataset._shard_table(), plan.shards, strict=False):
        if count and os.stat(shard).st_mtime_ns > built:
            dataset[first]


def _as_it_is(plan: _Plan, options: Options) -> Dataset:
    """The data set of an index that was named itself, if it has what is asked for."""
    dataset = options.open()
    _check_options(dataset, plan)
    return dataset


def _opened(plan: _Plan, options: Options) -> Dataset:
    """The data set, if its index has the shards; those behind them are appended first."""
    dataset = options.open()
    _check_options(dataset, plan)
    _check_framing(dataset, plan)
    known = _check_shards(dataset, plan)
    _check_contents(dataset, plan)
    _check_damage(dataset, plan)
    if known == len(plan.shards):
        return dataset
    columns = [(name, default) for name, _, default in dataset._column_table()[1:]]
    plan = replace(plan, id=dataset._id_name(), lift=columns)
    if known and plan.framing == "auto":
        plan = replace(plan, framing=_lies(dataset)[-1][0])
    dataset.close()
    plan.build([plan.path], plan.shards[known:])
    return options.open()


def open(
    source: Source,
    *,
    id: str | None = None,
    lift: Lift = (),
    on_corrupt: OnCorrupt = "raise",
    index: Path | None = None,
    framing: Path = "auto",
    compression: Compression = "auto",
    from_idx: Path | None = None,
    rebuild: bool = False,
    threads: int = 0,
    progress: Progress = "auto",
    access: Access = "map",
    check: Literal["data", "header"] = "data",
    check_index: bool = False,
    index_in_memory: bool = False,
    guard: bool = False,
    shard_limit: int = 0,
    allow_absolute_paths: bool = False,
    span_keep_size: int = 0,
) -> Dataset:
    """Opens TFRecord files as a data set; indexes them when they are used for the first time.

    The index lies beside the first shard. When it is there already: the same shards use it; more
    shards behind them are appended to it; anything else is a StaleIndexError, or is built again
    with ``rebuild=True``. On a folder that cannot be written, say ``index=``.

    Args:
        source: a file, a glob, a folder, ``@listfile``, a list of such, or an ``.rmx``, which is
            opened as it is: only checked for the ids and columns asked for.
        id: a bytes or int64 feature by which records can be found.
        lift: features with one value, kept in the index as columns; {name: default} where records
            may lack one.
        on_corrupt: "skip" leaves damaged records out, warns when it does, and lists them in
            ``ds.info["damage"]``. "raise" takes no index that leaves some out, but one that was
            named itself.
        index: the path of the index.
        framing: how records lie in the shards: "tfrecord", which "auto" is for new indexes,
            "ofrecord", "lines", "tar" (WebDataset's), "fixed:HEADER,RECORD,FOOTER" in bytes, or,
            with a slash, the path of a shared object with a framing of your own, which is loaded
            (docs/framings.md). An ``.rmx`` knows its framings, and only takes such a path.
        compression: "none", "gzip" or "zlib"; "auto" goes by each shard's first bytes.
        from_idx: a folder with a text index for each shard (NAME.idx: ``OFFSET SIZE`` a line, as
            DALI's tfrecord2idx writes): new shards are indexed by them, without a pass over the
            data. Headers are checked against them, the data are not.
        rebuild: build the index anew, whatever is there.
        threads: for indexing; 0: one a core.
        progress: "auto" (tqdm in a notebook, a bar on a terminal, else silence), None, or a
            callable of (bytes done, bytes in all, records, path of the shard).
        access: "map" views records where they lie; "read" copies each instead of mapping the shards;
            "direct" has a loader read past the page cache: for large records of data that do not
            fit into memory (docs/python/records.md).
        check: "header" leaves the CRC of the data unchecked.
        check_index: hash the whole index on opening.
        index_in_memory: copy the index to memory.
        guard: turn the signal for a shard that is cut short while it is mapped into an error.
        shard_limit: the most shards mapped at once; 0: as many as fit.
        allow_absolute_paths: an ``.rmx`` may name shards outside its own folder.
        span_keep_size: most bytes kept of what compressed shards inflate to, in each process, for
            all its threads; 0: 1 GiB. What is being read comes on top, some MiB a thread. Any
            value gives the same records; where a true shuffle needs more than is kept it inflates
            again, some MiB for each record or batch (``ds.info["compressed"]`` has the sizes).

    Raises:
        FileNotFoundError: there is nothing of that name.
        StaleIndexError: the index is one of other shards, or with other ids or columns; or a text
            index is.
        CorruptRecordError, CorruptIndexError: a shard or the index is damaged.

    >>> ds = recmap.open("data/digits", id="id", lift=["label"], index=folder / "digits.rmx")
    >>> len(ds), type(ds[12])
    (1797, <class 'memoryview'>)
    """
    names = _names(source)
    given = index if index is not None else names[0] if _is_index(names) else None
    paths: list[str] = []
    if not _is_index(names):
        paths, beside = _recmap.shards_expand(names)
        given = given if given is not None else beside
    assert given is not None
    name, framing_path = _framing_of(framing)
    options = Options(
        os.path.abspath(given),
        access,
        check,
        check_index,
        index_in_memory,
        guard,
        shard_limit,
        allow_absolute_paths or not _is_index(names),  # who names the shards allows them
        span_keep_size,
        framing_path,
    )
    plan = _Plan(
        options.path,
        paths,
        id,
        _lifts(lift),
        on_corrupt,
        name,
        compression,
        from_idx,
        threads,
        guard,
        progress,
    )
    if _is_index(names):
        if rebuild:
            raise ValueError("rebuild=True needs the shards, not an index")
        if (name != "auto" and framing_path is None) or compression != "auto":
            raise ValueError("an index knows how its shards lie: name the shards to say it")
        if from_idx is not None:
            raise ValueError("from_idx= is for indexing: name the shards")
        return _as_it_is(plan, options)
    if not rebuild and os.path.lexists(options.path):
        return _opened(plan, options)
    plan.build()
    return options.open()


def index(
    source: Source,
    path: Path | None = None,
    *,
    id: str | None = None,
    lift: Lift = (),
    on_corrupt: OnCorrupt = "raise",
    framing: Path = "auto",
    compression: Compression = "auto",
    from_idx: Path | None = None,
    threads: int = 0,
    guard: bool = False,
    progress: Progress = "auto",
) -> str:
    """Builds an index of shards, whatever is there, and returns its path; arguments as of `open`.

    >>> recmap.index("data/digits", folder / "ids.rmx", id="id") == str(folder / "ids.rmx")
    True
    """
    name = _framing_of(framing)[0]
    shards, beside = _recmap.shards_expand(_names(source))
    at = os.path.abspath(path if path is not None else beside)
    _Plan(
        at,
        shards,
        id,
        _lifts(lift),
        on_corrupt,
        name,
        compression,
        from_idx,
        threads,
        guard,
        progress,
    ).build()
    return at


def merge(path: Path, parts: Iterable[Path], *, progress: Progress = "auto") -> dict[str, int]:
    """One index of the shards of several, byte for byte as if it had been built at once.

    Args:
        path: of the index that is made.
        parts: indexes, in the order in which their shards follow each other.

    Returns:
        Counts of what it holds: "records", "shards", "bytes", "ids", "damage", "damaged_bytes".

    Raises:
        FileNotFoundError: a part is not there.
        StateMismatchError: the parts differ in ids or columns.
    """
    names = _names(parts)
    first = Options(os.path.abspath(names[0])).open()
    columns = [(name, default) for name, _, default in first._column_table()[1:]]
    at = os.path.abspath(path)
    return _Plan(at, [], first._id_name(), columns, progress=progress).build(names)
