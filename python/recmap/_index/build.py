"""Building indexes."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from .. import _recmap
from .._base.errors import CorruptIndexError, CorruptRecordError, Error, FeatureError
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.plural import counted
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._dataset.missing import similar_names
from .._display.progress import Progress, shown
from .._example.message import extraction_of
from .._options.hadoop import with_hadoop
from .._options.options import (
    Compression,
    Count,
    Id,
    IndexOptions,
    Lift,
    MissingLift,
    OnBadRecordIndexing,
    Sets,
    Source,
    absolute,
    check_missing_is_used,
    counted_of,
    expanded,
    lift_types,
    lifts_of,
    load_framing,
    local_path,
    names_of,
    path_of,
)
from .._options.reading import Access, Reading, reading_of
from .._options.storage import Path, Storage, created_storage, size_of, storage_of
from .annotated import check_annotated, check_replaced
from .contents import open_contents
from .counted import warn_of_counts

__all__ = [
    "IndexArguments",
    "Plan",
    "advice_on_name",
    "build_index",
    "index",
    "merge",
    "plan_of",
    "warn_of_empty_lifts",
    "warn_of_repeated_ids",
    "write_index",
]


@dataclass(frozen=True)
class Plan:
    """An index to build: its path, its shards, and what it contains."""

    path: str
    shards: list[str]
    options: IndexOptions


class IndexArguments(TypedDict, total=False):
    """The arguments of `index`, which builds on a cluster take as well, without `threads`."""

    id: Id
    lift: Lift
    missing_values: MissingLift
    count: Count
    split: str | None
    sets: Sets
    framing: Path
    on_bad_record: OnBadRecordIndexing
    access: Access | Reading
    compression: Compression
    from_idx: Path | None
    memory_limit: int | str | None
    progress: Progress
    storage: Storage | None


def plan_of(
    source: Source,
    path: Path | None,
    *,
    threads: int,
    split: str | None = None,
    sets: Sets = "error",
    lift: Lift = (),
    count: Count = (),
    framing: Path = "auto",
    from_idx: Path | None = None,
    memory_limit: int | str | None = None,
    access: Access | Reading = "map",
    storage: Storage | None = None,
    id: Id = None,
    **others: Any,
) -> Plan:
    """The index that the arguments of `index` ask for. An index that may not be replaced is an
    error here, before anything is read."""
    names = names_of(source)
    id, lift, extraction = extraction_of(id, lift)
    storage = with_hadoop(names, storage_of(storage))
    framing_name, framing_path = load_framing(framing)
    shards, default_path, storage, is_named = expanded(
        names,
        storage,
        split=split,
        sets=sets,
        framing=framing_name,
        finds_index=path is None,
    )
    options = IndexOptions(
        id=id,
        lifts=lifts_of(lift),
        counted=counted_of(count),
        framing=framing_name,
        framing_path=framing_path,
        from_idx=path_of(from_idx),
        threads=threads,
        memory_limit=size_of(memory_limit),
        reading=reading_of(access),
        storage=storage,
        sets=sets,
        is_named_file=is_named,
        extraction=extraction,
        **others,
    )
    check_missing_is_used(options.missing_values, options.lifts)
    target = local_path(path if path is not None else default_path)
    if os.path.lexists(target):
        check_replaced(target, options)
    return Plan(target, shards, options)


@dataclass(frozen=True)
class Built:
    """An index that was built: counts of its contents, and the features without any value."""

    counts: dict[str, int]
    empty_lifts: frozenset[str]  # lifted features that no record of the new shards has
    empty_counts: frozenset[str]  # counted features that no record has elements of


def build_index(
    path: str, shards: Sequence[str], options: IndexOptions, *, parts: Sequence[str] = ()
) -> dict[str, int]:
    """Builds the index of the shards of the indexes `parts`, then of `shards`. Returns counts.

    Warns of likely mistakes."""
    built = write_index(path, shards, options, parts=parts)
    if built.counts["records"] and options.counted:
        warn_of_counts(path, options, _named(options.counted, built.empty_counts))
    if built.counts["records"] and not parts:
        warn_of_empty_lifts(options, built.empty_lifts)
    _warn_of_gaps(path, options, built.counts, parts)
    if repeated := built.counts.pop("repeated_ids"):
        _warn_of_old_ids(path, options, repeated)
    return built.counts


def write_index(
    path: str,
    shards: Sequence[str],
    options: IndexOptions,
    *,
    parts: Sequence[str] = (),
) -> Built:
    """As `build_index`, with only its warnings about the contents of single shards."""
    try:
        with shown(options.progress, "indexing") as progress:
            counts = _recmap.index_build(
                path,
                parts,
                shards,
                id=options.id,
                lift=options.lifts,
                count=options.counted,
                skip_corrupt=options.on_bad_record == "skip",
                threads=natural("threads", options.threads),
                guard=options.reading.guard,
                progress=progress,
                framing=options.framing,
                compression=options.compression_code,
                text_index_folder=options.from_idx,
                storage=created_storage(options.storage, shards),
                memory_limit=options.memory_limit,
                nullable=options.missing_values == "null",
                reads_shards=options.reading.access in ("read", "direct"),
                inherits=path in parts,
                is_part=options.may_lack_ids,
                joins_sets=options.sets == "all",
                lift_types=lift_types(options.lifts),
                extraction=options.extraction
                and options.extraction.for_index(options.id, options.lifts),
            )
    except CorruptIndexError as error:
        if error.path is None or error.path in (path, *parts):
            raise
        # The library has one status for damage. Here it is a shard that is damaged as a whole.
        fields = error.message, error.path, error.record, error.offset, error.advice
        raise CorruptRecordError(*fields) from None
    for notice in ("repeated", "empty_shard", "open_shard"):
        if text := counts.pop(notice):
            warn_caller(text)
    empty_lifts = _chosen(options.lifts, counts.pop("empty_lifts"))
    empty_counts = _chosen(options.counted, counts.pop("empty_counts"))
    return Built(counts, empty_lifts, empty_counts)


def _chosen(features: tuple[tuple[str, str | None], ...], bits: int) -> frozenset[str]:
    return frozenset(name for i, (name, _) in enumerate(features) if bits >> i & 1)


def _named(features: tuple[tuple[str, str | None], ...], names: Container[str]) -> list[str]:
    """These of the names, in the order of the features."""
    return [name for name, _ in features if name in names]


def warn_of_empty_lifts(options: IndexOptions, names: Container[str]) -> None:
    """Warns of lifted features that no record has, which are often misspelt."""
    for name, default in options.lifts:
        if name in names:
            value = "null" if default is None else f"its default, {default!r}"
            warn_caller(f"no record has the feature {name!r}: all have {value}")


def _warn_of_gaps(
    path: str, options: IndexOptions, counts: dict[str, int], parts: Sequence[str]
) -> None:
    """Warns of missing and empty shards, of records without ids and of skipped damage; of repeated
    ids only if nothing was appended to an index, which has them on purpose."""
    _warn_of_no_records(path, counts)
    with open_contents(path, options) as dataset:
        _warn_of_missing_shards(path, dataset, options)
        id_name = options.id if counts["records"] and not counts["ids"] else None
        if id_name is not None:
            _warn_without_ids(dataset, id_name)
        if options.id is not None and path not in parts:
            warn_of_repeated_ids(dataset)
        if counts["damage"]:
            _warn_of_damage(dataset.info["damage"], counts["damaged_bytes"])


def _warn_of_old_ids(path: str, options: IndexOptions, count: int) -> None:
    """Warns of appended records that the index may have already, under other names of shards."""
    have = "has" if count == 1 else "have"
    warn_caller(
        f"{path}: {counted(count, 'appended record')} {have} the id ({options.id!r}) of a record "
        "that the index had. If the shards are an older or newer set of the same records, "
        "remove those, and open the others with rebuild=True"
    )


def _warn_of_no_records(path: str, counts: dict[str, int]) -> None:
    """Warns of empty shards, such as a download that failed, if there are no others."""
    count = counts["shards"]
    if counts["records"] or not count or counts["damage"]:
        return
    what = "without records" if counts["bytes"] else "empty (0 bytes)"
    if count == 1:
        text = f"its shard is {what}; check that it was written"
    else:
        text = f"its {count} shards are {what}; check that they were written"
    warn_caller(f"{path}: the index has no records: {text}")


def _warn_of_missing_shards(path: str, dataset: Dataset, options: IndexOptions) -> None:
    """Warns if the names of shards say that there are more, or fewer: `train-00000-of-00004` is one
    of 4. One that the caller named itself is meant to be alone."""
    count, first, surplus_count, surplus = dataset._missing_shards()
    is_alone = options.is_named_file and dataset.info["shards"] == 1
    if count == 1 and not is_alone:
        warn_caller(f"{path}: the shard {first} is missing; restore it and index again")
    elif count and not is_alone:
        warn_caller(
            f"{path}: {count} shards are missing, the first is {first}; "
            f"restore them and index again"
        )
    if surplus_count == 1:
        warn_caller(
            f"{path}: the shard {surplus} is surplus by its name; remove it if it is of another "
            "run, and index again"
        )
    elif surplus_count:
        warn_caller(
            f"{path}: {surplus_count} shards are surplus by their names, the first is {surplus}; "
            "remove them if they are of another run, and index again"
        )


def _warn_of_damage(damage: list[dict[str, Any]], byte_count: int) -> None:
    first = damage[0]
    places = counted(len(damage), "place")
    warn_caller(
        f"skipped damage in {places}, {counted(byte_count, 'byte')}; the first is in "
        f"{first['path']} at byte {first['offset']}: {first['reason']}. "
        f'ds.info["damage"] lists all of it.'
    )


def warn_of_repeated_ids(dataset: Dataset) -> None:
    """Warns of ids that repeat so often that they are more likely to be labels."""
    ids = dataset.info["ids"]
    if ids is not None and ids.get("repeat"):
        warn_caller(
            f"the ids of {ids['name']!r} repeat: {counted(ids['distinct'], 'different one')} in "
            f"{counted(ids['count'], 'record')}; name a feature that tells records apart with id="
        )


def _advise_id(error: FeatureError, part: str, options: IndexOptions) -> None:
    """Adds names similar to the id to the error that no part has it, which the library cannot,
    because merging reads no records."""
    if options.id is not None and "should be the id" in error.message:
        with open_contents(part, options) as dataset:
            error.advice = advice_on_name(dataset, options.id) or error.advice


def advice_on_name(dataset: Dataset, name: str) -> str:
    """Advice about a feature that no record has; "" if there is none."""
    try:
        return similar_names(name, dataset)
    except (Error, OSError):  # the records cannot be read from here
        return ""


def _warn_without_ids(dataset: Dataset, name: str) -> None:
    """Warns that no record has the feature that ids are read from: the index is one
    that the caller named, which may be a part, or that an older version built."""
    message = f"no record has an id: no record has the feature {name!r}"
    advice = advice_on_name(dataset, name)
    warn_caller(f"{message}. {advice}" if advice else message)


@suggest_arguments
def index(
    source: Source,
    path: Path | None = None,
    *,
    id: Id = None,
    lift: Lift = (),
    missing_values: MissingLift = "error",
    count: Count = (),
    split: str | None = None,
    sets: Sets = "error",
    framing: Path = "auto",
    on_bad_record: OnBadRecordIndexing = "error",
    access: Access | Reading = "map",
    compression: Compression = "auto",
    from_idx: Path | None = None,
    threads: int = 0,
    memory_limit: int | str | None = None,
    progress: Progress = "auto",
    storage: Storage | None = None,
) -> str:
    """Builds an index of shards and returns its path. An existing index is replaced.

    The index contains exactly what you ask for here, whatever the replaced one had. Only an index
    with annotated columns, whose values would be lost, is not replaced (FeatureError;
    StaleIndexError if they are added while this call runs), unless `lift` has their names. Warns if
    the replaced index has ids, lifted columns or counts that the new one lacks.

    Args:
        path: the path of the index, whose name should end in ``.rmx`` and must not end in ``.rmv``
            (InvalidError); None: next to the first shard, or in the current folder if that is a
            URL. An index with a path may be a part (see `merge`), so that an `id` that no record
            has is only a warning.
        source, id, lift, count, split, sets, framing, on_bad_record, access, storage: see `open`.
        missing_values: "null" lets records lack a lifted feature that has no default: the column
            then has nulls. "null" without a lifted column is an error.
        compression: "none", "gzip" or "zlib"; "auto" looks at the first bytes of each shard.
        from_idx: a folder with a text index for each shard (NAME.idx with lines ``OFFSET SIZE``, as
            DALI's tfrecord2idx writes). New shards are then indexed without reading all their data:
            record headers are checked against the text index, data are not.
        threads: 0: one per core; for remote shards, at least four.
        memory_limit: an upper bound, in bytes or as "64MiB", on the memory that indexing one
            compressed shard may take, of those that as many threads index at once; a shard over it
            is an error. None: a limit that follows the size of the shard
            (docs/reference/reliability.md).
        progress: "auto" (tqdm in a notebook, a bar on a terminal, otherwise nothing), None, or a
            callable with the arguments (bytes done, bytes in total, records, path of the shard).

    >>> recmap.index("data/digits", folder / "ids.rmx", id="id") == str(folder / "ids.rmx")
    True
    """
    plan = plan_of(
        source,
        path,
        id=id,
        lift=lift,
        missing_values=missing_values,
        count=count,
        split=split,
        sets=sets,
        framing=framing,
        on_bad_record=on_bad_record,
        access=access,
        compression=compression,
        from_idx=from_idx,
        threads=threads,
        memory_limit=memory_limit,
        progress=progress,
        storage=storage,
    )
    # An index that the caller names may be a part of a data set whose other parts have the id.
    options = replace(plan.options, may_lack_ids=path is not None)
    build_index(plan.path, plan.shards, options)
    return plan.path


@suggest_arguments
def merge(
    path: Path,
    parts: Iterable[Path],
    *,
    sets: Sets = "error",
    progress: Progress = "auto",
    storage: Storage | None = None,
) -> dict[str, int]:
    """Merges indexes into one, byte for byte the index that a single build would give.

    Args:
        path: the path of the merged index.
        parts: the indexes to merge, in the order in which their shards follow each other. Some may
            lack the ids that others have.
        sets: "error" refuses parts that have copies of one set, such as ``x.tfrecord`` and
            ``x.tfrecord.gz``, or ``x@2`` and ``x@4``; "all" joins them.
        progress: as for `index`.
        storage: what the parts were built with, if their shards are remote (see `open`).

    Returns:
        Counts of what the index has: "records", "shards", "bytes", "ids", "damage",
        "damaged_bytes".

    Raises:
        FeatureError: no part has a record with the id; or `path` is an index with annotated columns
            that the parts lack: their values would be lost.
        InvalidError: the name of the merged index ends in ``.rmv``, the suffix of selections.
        FileNotFoundError: a part does not exist.
        StateMismatchError: the parts differ in ids, columns or counts.
    """
    target = local_path(path)
    names = names_of(parts)
    storage = with_hadoop((), storage_of(storage), index=absolute(names[0]))
    with open_contents(absolute(names[0]), IndexOptions(storage=storage)) as dataset:
        options = IndexOptions(
            id=dataset._id_name(),
            lifts=dataset._lifts(),
            counted=dataset._counted(),
            sets=sets,
            progress=progress,
            storage=storage,
        )
    check_annotated(target, options)
    try:
        return build_index(target, [], options, parts=names)
    except FeatureError as error:
        _advise_id(error, absolute(names[0]), options)
        raise
