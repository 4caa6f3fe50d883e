"""Opening data sets."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _recmap
from .._base.errors import FileMissingError, InvalidError, StaleIndexError, StateMismatchError
from .._base.names import suggest_arguments
from .._base.renamed import INDEXING, warn_of_indexing
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._example.message import extraction_of
from .._options.hadoop import with_hadoop
from .._options.options import (
    Check,
    Count,
    Id,
    IndexOptions,
    Lift,
    OnBadRecordIndexing,
    OpenOptions,
    Sets,
    Source,
    absolute,
    check_missing_is_used,
    check_query,
    counted_of,
    expanded,
    is_url,
    lifts_of,
    load_framing,
    names_of,
    path_of,
    without_query,
)
from .._options.reading import Access, Reading, reading_of
from .._options.storage import Path, Storage, size_of, storage_of
from .annotated import check_rebuilt, open_replaced
from .build import build_index
from .match import (
    advise_rebuild,
    check_contents,
    check_damage,
    check_framing,
    check_ids,
    check_shards,
    folder_of,
    has_useless_ids,
    kept_id,
    resolved,
    warn_of_order,
)

__all__ = ["open", "open_with"]


def _is_index(names: list[str]) -> bool:
    name = without_query(names[0])
    return len(names) == 1 and name.endswith(".rmx") and not os.path.isdir(name)


def _is_selection(names: list[str]) -> bool:
    return len(names) == 1 and names[0].endswith(".rmv") and not os.path.isdir(names[0])


def _view_of(selection: str, dataset: Dataset) -> Dataset:
    """The view of the data set that is saved in a selection file."""
    numbers = np.frombuffer(dataset._read_selection(selection), np.uint64)
    return dataset.select(numbers)


def _open_index(opening: OpenOptions, indexing: IndexOptions, *, rebuild: bool) -> Dataset:
    """The data set of an index that the caller named. Only ids, columns and counts are checked."""
    if rebuild:
        raise ValueError("rebuild=True needs the shards: open them instead of the .rmx")
    is_custom = opening.framing_path is not None
    if (indexing.framing != "auto" and not is_custom) or indexing.compression != "auto":
        raise ValueError(
            "an .rmx contains the framing and compression of its shards: leave them out, or open "
            "the shards"
        )
    for name in ("from_idx", "threads", "memory_limit"):
        if getattr(indexing, name):
            raise ValueError(f"{name}= is for indexing: leave it out, because an .rmx is an index")
    dataset = Dataset._open(opening)
    check_contents(dataset, indexing)
    check_missing_is_used(indexing.missing_values, dataset._lifts(), opening.path)
    return dataset


def _open_or_append(
    opening: OpenOptions, indexing: IndexOptions, shards: Sequence[str], *, is_list: bool
) -> Dataset:
    """The data set of an existing index. Records that it lacks are appended first, from shards that
    grew and from new shards."""
    dataset = Dataset._open(opening)
    # First, because others may read a record, or advise it.
    grown, new = check_shards(dataset, shards, is_list=is_list)
    if has_useless_ids(dataset, indexing):
        dataset.close()
        build_index(opening.path, shards, _keep_contents(opening.path, indexing, shards))
        return Dataset._open(opening)
    check_contents(dataset, indexing)
    check_missing_is_used(indexing.missing_values, dataset._lifts(), opening.path)
    check_framing(dataset, indexing)
    check_damage(dataset, indexing)
    if not grown and not new:
        return dataset
    indexing = replace(
        indexing,
        id=dataset._id_name(),
        may_lack_ids=indexing.id is None,
        lifts=dataset._lifts(),
        counted=dataset._counted(),
    )
    if dataset._formats() and indexing.framing == "auto":
        indexing = replace(indexing, framing=dataset._formats()[-1][0])
    dataset.close()
    try:
        build_index(opening.path, [*grown, *new], indexing, parts=[opening.path])
    except (InvalidError, StateMismatchError):
        dataset = Dataset._open(opening)
        if any(check_shards(dataset, shards, is_list=is_list)):
            dataset.close()
            raise
        return dataset  # another process appended the same meanwhile
    except StaleIndexError as error:
        if new:
            advise_rebuild(error, opening.path, shards, skips=indexing.on_bad_record == "skip")
        raise
    warn_of_order(opening.path, new, shards)
    return Dataset._open(opening)


def _keep_contents(path: str, indexing: IndexOptions, shards: Sequence[str]) -> IndexOptions:
    """Adds the ids, lifted columns, counts and framing that the index to be rebuilt has."""
    dataset = open_replaced(path, indexing)
    if dataset is None:
        return indexing
    with dataset:
        folder = folder_of(path, dataset)
        known = [resolved(folder, row[0]) for row in dataset._shard_table()]
        given = {resolved("", shard) for shard in shards}
        kept = dict(dataset._lifts())
        unasked = [name for name in kept if name not in dict(indexing.lifts)]
        check_rebuilt(dataset, unasked, [name in given for name in known])
        lifts = {**kept, **dict(indexing.lifts)}
        counted = {**dict(dataset._counted()), **dict(indexing.counted)}
        id = kept_id(dataset) if indexing.id is None else indexing.id
        framings = {framing for framing, _ in dataset._formats()}
        missing_values = "null" if dataset._has_lifted_nulls() else indexing.missing_values
    framing = indexing.framing
    if framing == "auto" and len(framings) == 1 and resolved("", shards[0]) in known:
        framing = framings.pop()
    return replace(
        indexing,
        id=id,
        may_lack_ids=indexing.id is None,
        lifts=tuple(lifts.items()),
        missing_values=missing_values,
        counted=tuple(counted.items()),
        framing=framing,
    )


def _selected_index(selection: str, index: Path | None, *, allow_absolute_paths: bool) -> str:
    """The index that a selection names, or the one that the caller gave in its place."""
    if index is not None:
        return os.fspath(index)
    path: str = _recmap.selection_index_path(selection, allow_absolute_paths)
    if not os.path.lexists(path):
        raise FileMissingError(
            f"cannot open the index of the selection: {os.strerror(errno.ENOENT)}",
            os.path.abspath(path),
            advice=f"{selection} expects its index there, by a path that starts at the "
            'selection\'s own folder unless it is absolute. Pass index="NAME.rmx" if the index '
            'was moved, and shards="FOLDER" if its shards were moved.',
            error_number=errno.ENOENT,
        )
    return path


def _check_names(
    index: Path | None, shards: Path | None, split: str | None, sets: str, *, is_index: bool
) -> None:
    """Raises if one of the arguments does not fit the kind of source."""
    if is_index and (split is not None or sets != "error"):
        raise ValueError(
            "split= and sets= choose shards: an .rmx or .rmv has its own, so leave them out"
        )
    if shards is not None and not is_index:
        raise ValueError("shards= is for opening an .rmx or .rmv: the shards are already named")
    if index is not None and is_url(os.fspath(index)):
        raise ValueError(
            "index= must be a local file: open an .rmx in a remote store by its URL alone"
        )
    if is_index and index is not None:
        raise ValueError("index= is for shards: an .rmx is an index itself, so leave index= out")


@dataclass(frozen=True)
class _Place:
    """What the source of a data set names: an index, maybe by a selection, or shards."""

    names: list[str]
    index_path: str  # of the index, or where that of shards is by default
    reading: Reading
    storage: Storage
    is_index: bool
    selection: str | None = None
    shards: Sequence[str] = ()  # those found; an index has its own
    is_named_file: bool = False


def _place_of_index(
    names: list[str],
    selection: str | None,
    index: Path | None,
    shards: Path | None,
    reading: Reading,
    storage: Storage,
) -> _Place:
    if selection is not None:
        allowed = reading.allow_absolute_paths
        names = [_selected_index(selection, index, allow_absolute_paths=allowed)]
    name = names[0]
    may_have_urls = storage.allow_urls or bool(storage.options)
    storage = with_hadoop(
        [name, None, shards],
        storage,
        index=name if may_have_urls and not is_url(name) else None,
    )
    path = without_query(name)
    if path != name:
        check_query(storage)
        storage = storage.with_urls(names)
    return _Place(names, path, reading, storage, is_index=True, selection=selection)


def _place_of_shards(
    names: list[str],
    index: Path | None,
    split: str | None,
    sets: Sets,
    framing: str,
    reading: Reading,
    storage: Storage,
) -> _Place:
    shards, path, storage, is_named = expanded(
        names,
        with_hadoop([*names, index, None], storage, index=None),
        split=split,
        sets=sets,
        framing=framing,
        finds_index=index is None,
    )
    # Naming shards allows them. They were found, and a difference is a stale index.
    reading = replace(reading, allow_absolute_paths=True, allow_missing_shards=True)
    storage = replace(storage, allow_urls=True)
    return _Place(
        names, path, reading, storage, is_index=False, shards=shards, is_named_file=is_named
    )


def _warn_of_indexing(
    old: list[str], arguments: dict[str, Any], path: str, *, is_built: bool
) -> None:
    """Warns of arguments of `index` in a call of `open_with`, with the calls to make instead."""
    index = arguments["index"]
    bad = arguments["building"].get("on_bad_record", "error") != "error"
    contents = {**{name: arguments[name] for name in ("id", "lift", "count")}, "on_bad_record": bad}
    source = {
        "split": arguments["split"],
        "sets": arguments["sets"] != "error",
        "framing": arguments["framing"] != "auto",
        "access": arguments["access"] != "map",
        "storage": arguments["storage"] is not None,
    }
    warn_of_indexing(
        old,
        None if index is None else os.fspath(index),
        [name for name, is_given in contents.items() if is_given],
        [name for name, is_given in source.items() if is_given],
        is_index=False,
        is_built=is_built,
        is_rebuilt=os.path.lexists(path),
    )


def _open_named(
    opening: OpenOptions,
    indexing: IndexOptions,
    selection: str | None,
    old: list[str],
    *,
    rebuild: bool,
) -> Dataset:
    """The data set of an index or selection that the caller named."""
    dataset = _open_index(opening, indexing, rebuild=rebuild)
    check_ids(dataset, indexing)
    warn_of_indexing(old, None, (), (), is_index=True, is_built=True)
    return dataset if selection is None else _view_of(selection, dataset)


def _warn_of_metadata(dataset: Dataset, names: list[str]) -> None:
    """Warns if the metadata of TFDS in the folder that was opened disagrees with its files."""
    if len(names) > 1 or not os.path.lexists(os.path.join(names[0], "dataset_info.json")):
        return
    for finding in dataset.doctor(index_only=True, progress=None)["findings"]:
        if finding["check"] == "metadata":
            warn_caller(f"{finding['shard']}: {finding['message']}")


def _open_shards(
    opening: OpenOptions, indexing: IndexOptions, place: _Place, *, is_built: bool
) -> Dataset:
    """The data set of shards that the caller named, by their index, which is built if need be."""
    if is_built:
        is_list = len(place.names) > 1 or place.names[0].startswith("@")
        dataset = _open_or_append(opening, indexing, place.shards, is_list=is_list)
        check_ids(dataset, indexing)
        _warn_of_metadata(dataset, place.names)
        return dataset
    if os.path.lexists(opening.path):
        indexing = _keep_contents(opening.path, indexing, place.shards)
    check_missing_is_used(indexing.missing_values, indexing.lifts)
    build_index(opening.path, place.shards, indexing)
    dataset = Dataset._open(opening)
    _warn_of_metadata(dataset, place.names)
    return dataset


def _contents_of(id: Id, lift: Lift, count: Count) -> dict[str, Any]:
    """What an index contains, as arguments of `IndexOptions`."""
    name, lifted, extraction = extraction_of(id, lift)
    counted = counted_of(count)
    return {"id": name, "lifts": lifts_of(lifted), "counted": counted, "extraction": extraction}


def open_with(
    source: Source,
    *,
    id: Id = None,
    lift: Lift = (),
    count: Count = (),
    index: Path | None = None,
    shards: Path | None = None,
    split: str | None = None,
    sets: Sets = "error",
    framing: Path = "auto",
    access: Access | Reading = "map",
    check: Check = "data",
    rebuild: bool = False,
    storage: Storage | None = None,
    **building: Any,
) -> Dataset:
    """`open`, with the arguments of `index` for a new index: 0.2.0 has them in `open`."""
    arguments = dict(locals())
    contents = _contents_of(id, lift, count)
    old = [name for name in INDEXING if name in building]
    names = names_of(source)
    selection = names[0] if _is_selection(names) else None
    # What a selection names is only opened, never indexed, whatever its name: the selection may be
    # from elsewhere.
    is_index = selection is not None or _is_index(names)
    other = None if selection is not None else index  # a selection's place has its index
    _check_names(other, shards, split, sets, is_index=is_index)
    framing_name, framing_path = load_framing(framing)
    options = reading_of(access), storage_of(storage)
    place = (
        _place_of_index(names, selection, index, shards, *options)
        if is_index
        else _place_of_shards(names, index, split, sets, framing_name, *options)
    )
    opening = OpenOptions(
        path=absolute(place.index_path if other is None else os.fspath(other)),
        check=check,
        reading=place.reading,
        shards=path_of(shards),
        storage=place.storage,
        framing_path=framing_path,
        extraction=contents["extraction"],
    )
    indexing = IndexOptions(
        **contents,
        framing=framing_name,
        reading=place.reading,
        storage=place.storage,
        sets=sets,
        is_named_file=place.is_named_file,
        **{**building, "memory_limit": size_of(building.get("memory_limit"))},
    )
    if is_index:
        return _open_named(opening, indexing, selection, old, rebuild=rebuild)
    is_built = os.path.lexists(opening.path) and not rebuild
    _warn_of_indexing(old, arguments, opening.path, is_built=is_built)
    return _open_shards(opening, indexing, place, is_built=is_built)


@suggest_arguments(former=open_with)
def open(
    source: Source,
    *,
    id: Id = None,
    lift: Lift = (),
    count: Count = (),
    index: Path | None = None,
    shards: Path | None = None,
    split: str | None = None,
    sets: Sets = "error",
    framing: Path = "auto",
    on_bad_record: OnBadRecordIndexing = "error",
    access: Access | Reading = "map",
    check: Check = "data",
    rebuild: bool = False,
    storage: Storage | None = None,
) -> Dataset:
    """Opens TFRecord files as a data set. The first use indexes them.

    The index is stored next to the first shard, or in the current folder if that is a URL, and is
    named after the set of shards (``train@8.tfrecord``: train.rmx); pass ``index=`` for another
    place, such as when the folder is read-only. An existing index is used if it has the same
    shards. The records of new shards, and those that were added at the end of shards that are not
    compressed, are appended to it, after all records that it has; a list must name new shards
    last. Any other difference raises StaleIndexError, unless ``rebuild=True``. An index of
    0.2.0 whose `id` no record has, because it was misspelt, is built again for another one. How a
    new index is built, such as with columns that have nulls or a progress bar of your own, is a
    matter of `index`: call it once, then open the shards.

    Args:
        source: a file, a glob (``**`` means any number of folders), a folder, ``@listfile``, a URL
            (``s3://bucket/train-*.tfrecord``), a list of these, an ``.rmx``, or a selection
            (``.rmv``, see `Dataset.save`), which gives a view. An ``.rmx`` is opened as it is: only
            the ids, columns and counts asked for are checked. Naming a shard twice is an error.
        id: a bytes or int64 feature by which records can be found. A name that no record has is an
            error, and no index is written; some records may lack it. (`recmap.index` with a path
            only warns: the index may be a part, see `recmap.merge`.) Of CSV a field of the header,
            of JSON lines a member; or ``fields[name]`` of a `Csv` or `JsonLines`. So is `lift`. Of
            other messages ``fields[name]`` of a `Message`, which finding records needs each time.
        lift: features with one value per record to copy into the index as columns;
            {name: default} if records may lack one. Of text and messages, {name: fields[name]}
            gives the column's dtype and default.
        count: features whose elements to count in each record, for rows of tokens and windows of
            episodes: values of a feature, or steps of a feature list. {name: dtype} counts the
            numbers in a value of bytes. A record without the feature counts 0. See ``ds.counts``.
        on_bad_record: "skip" indexes the good records, warns about damage, and lists it in
            ``ds.info["damage"]``. "error" also rejects an existing index with skipped records,
            unless you open that .rmx by name.
        index: the path of the index; for an ``.rmv``, of an index that was moved.
        split: take only the shards of this split: of sets and files whose names are "train", say,
            or end in -train, _train or .train. A source without them is an error.
        sets: what to do if a folder has several sets of shards, such as train and test, or two
            copies of one: "error" lists them, "all" joins them. A pattern that matches several
            sets warns unless it is "all". A list may name several sets, but not two copies of one.
            "all" also switches off the warnings about two names of one file and equal shards.
            See docs/reference/framings.md.
        framing: how records are stored in the shards: "tfrecord" (what "auto" means for new
            indexes), "ofrecord", "lines", "csv" with options such as "csv:tab,noheader", "tar"
            (WebDataset), "fixed:HEADER,RECORD,FOOTER" in bytes, or the path of a shared object with
            a custom framing, which must contain a slash (docs/reference/framings.md). With an
            ``.rmx``, only such a path is accepted.
        rebuild: build the index again, even if a matching one exists. It keeps the ids, lifted
            columns, counts and framing of the existing index, and adds what you ask for;
            `recmap.index` builds an index with nothing else. Annotated columns cannot be built
            again from the records: an index with such columns is refused.
        access: how records are read: "map" gives views into the mapped shards, "read" copies each
            record, "direct" bypasses the page cache, "auto" chooses between the first and the last;
            or all of this and more as a `Reading`.
        check: "header" skips the CRC of the data.
        shards: the folder of the shards, or its URL, if an ``.rmx``, also an ``.rmv``'s, was moved
            without them. Relative names are looked up in it, and so are absolute names and URLs,
            without the path that all of them have in common; if no shard is found so, all are
            looked up by their names without folders, unless two have the same name. No shard is
            read from elsewhere.
        storage: how shards in remote stores are read, if not by the environment alone, and a folder
            that keeps what is read from there: a `Storage`.

    Raises:
        FileNotFoundError: nothing has that name or split, or an ``.rmx`` was copied away from its
            shards.
        InvalidError: a folder has several sets; or an ``.rmx`` names shards outside its own folder,
            or, with ``shards=``, in a way that could leave that folder. Without ``shards=``, pass
            ``shards=`` or, if you trust the index, ``Reading(allow_absolute_paths=True)``; for
            URLs, ``Storage(allow_urls=True)``.
        StorageError: a remote store cannot be reached, or refuses access.
        StaleIndexError: the index is of other shards, or has other ids, columns or counts; or a
            text index does not match its shard.
        CorruptRecordError, CorruptIndexError: a shard or the index is damaged.
        FeatureError: no record has the id; a record lacks the feature of a column; or
            ``rebuild=True`` would lose annotated columns.

    >>> ds = recmap.open("data/digits", id="id", lift=["label"], index=folder / "digits.rmx")
    >>> len(ds), type(ds[12])
    (1797, <class 'memoryview'>)
    """
    return open_with(
        source,
        id=id,
        lift=lift,
        count=count,
        index=index,
        shards=shards,
        split=split,
        sets=sets,
        framing=framing,
        on_bad_record=on_bad_record,
        access=access,
        check=check,
        rebuild=rebuild,
        storage=storage,
    )
