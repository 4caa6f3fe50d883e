"""Checks that an existing index matches what a call to open asks for.

Each check raises StaleIndexError with what differs. `path` is the path of the index.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache, partial

from .._base.errors import CorruptRecordError, FeatureError, InvalidError, StaleIndexError
from .._base.names import near_names
from .._base.plural import counted
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._options.options import IndexOptions, is_url
from .build import advice_on_name, warn_of_repeated_ids

__all__ = [
    "advise_rebuild",
    "check_contents",
    "check_damage",
    "check_framing",
    "check_ids",
    "check_shards",
    "folder_of",
    "has_useless_ids",
    "kept_id",
    "resolved",
    "warn_of_order",
]

_ANOTHER = "Open the shards (not the .rmx) with index=PATH to build another index"
_LISTED_MAX = 10  # shards in a call that is advised
_FRAMINGS = ("tfrecord", "ofrecord", "lines", "tar", "csv")


def _stale(
    dataset: Dataset, message: str, advice: str | None = None, path: str | None = None
) -> StaleIndexError:
    return StaleIndexError(message, path or dataset.index_path, advice=advice or _advice(dataset))


def _advice(dataset: Dataset) -> str:
    """Building an index with annotated columns again would lose them."""
    if dataset._annotated_columns():
        return f"{_ANOTHER}: the annotated columns of this one are in no record."
    return f"{_ANOTHER}, or with rebuild=True to build this one again."


def _lift_advice(dataset: Dataset, name: str, default: str | None, options: IndexOptions) -> str:
    """Code that adds a lifted column to the index."""
    paths = [row[0] for row in dataset._shard_table()]
    opening, lifting = [repr(dataset.index_path)], repr([name])
    if any(os.path.isabs(path) for path in paths):
        opening.append("access=recmap.Reading(allow_absolute_paths=True)")
    if any(is_url(path) for path in paths):
        opening.append("storage=recmap.Storage(allow_urls=True)")
    if default is not None:
        lifting = repr({name: default})
    elif options.missing_values == "null":
        lifting = f'{[name]!r}, missing_values="null"'
    guess = advice_on_name(dataset, name)
    guess = f"{guess} If the name is right, " if guess.startswith("Did you mean") else ""
    return f"{guess}to add it, and keep all else: recmap.open({', '.join(opening)}).lift({lifting})"


def has_useless_ids(dataset: Dataset, options: IndexOptions) -> bool:
    """Returns true if the index has ids of another feature than is asked for, but no record has
    that one: its name was misspelt. Nothing is lost if the index is built again."""
    name = dataset._id_name()
    if options.id is None or name in (None, options.id) or dataset.info["ids"]["count"]:
        return False
    has_parts = len(_sizes(dataset)) < len(dataset._shard_table())
    return not has_parts and not dataset._annotated_columns()


def kept_id(dataset: Dataset) -> str | None:
    """The feature whose values are the ids of the index. None if no record has it."""
    ids = dataset.info["ids"]
    is_useless = ids is not None and dataset._record_count() and not ids["count"]
    return None if is_useless else dataset._id_name()


def check_contents(dataset: Dataset, options: IndexOptions) -> None:
    """Checks that the index has the ids, lifted columns and element counts asked for."""
    name = dataset._id_name()
    if options.id is not None and name != options.id:
        found = "no ids" if name is None else f"ids of the feature {name!r}"
        is_near = name is not None and near_names(options.id, [name])
        guess = f"; did you mean id={name!r}?" if is_near else ""
        raise _stale(dataset, f"the index has {found}, but ids of {options.id!r} are needed{guess}")
    if options.id is not None:
        warn_of_repeated_ids(dataset)
    defaults = dict(dataset._lifts())
    for name, default in options.lifts:
        if name not in defaults:
            raise _stale(
                dataset,
                f"the index has no column {name!r}",
                _lift_advice(dataset, name, default, options),
            )
        if default is not None and default != defaults[name]:
            found = "no default" if defaults[name] is None else f"the default {defaults[name]!r}"
            raise _stale(dataset, f"the column {name!r} has {found}, but {default!r} is needed")

    _check_counts(dataset, options)


def check_ids(dataset: Dataset, options: IndexOptions) -> None:
    """Checks that some record has the id asked for: the index may be of a misspelt one."""
    if options.id is None or not dataset._record_count() or dataset.info["ids"]["count"]:
        return
    part = "To open a part of a data set, whose records lack the id, leave id= out."
    raise FeatureError(
        f'no record has the feature "{options.id}", which should be the id',
        dataset.index_path,
        advice=f"{advice_on_name(dataset, options.id)} {part}".lstrip(),
    )


def _check_counts(dataset: Dataset, options: IndexOptions) -> None:
    dtypes = dict(dataset._counted())
    for name, dtype in options.counted:
        if name not in dtypes:
            raise _stale(dataset, f"the index has no element counts of {name!r}")
        if dtype != dtypes[name]:
            found, wanted = (d or "values" for d in (dtypes[name], dtype))
            raise _stale(dataset, f"the index counts {found} of {name!r}, but {wanted} are needed")


def check_framing(dataset: Dataset, options: IndexOptions) -> None:
    """The value "auto" matches every framing and compression."""
    if options.framing == options.compression == "auto":
        return
    for framing, compression in dataset._formats():
        if options.framing not in ("auto", framing):
            message = f"the shards are indexed as {framing}, but {options.framing} is needed"
            raise _stale(dataset, message, _framing_advice(dataset, options.framing))
        if options.compression not in ("auto", compression):
            message = (
                f"the index has compression {compression}, but {options.compression} is needed"
            )
            raise _stale(dataset, message)


def _framing_advice(dataset: Dataset, framing: str) -> str:
    """The advice for another framing, whose name may be misspelt: it was not looked up yet."""
    if framing in _FRAMINGS or framing.startswith(("fixed:", "csv")):
        return _advice(dataset)
    names = f"auto, {', '.join(_FRAMINGS)}, fixed:HEADER,RECORD,FOOTER or the path of a custom one"
    return f"Check the name: framings are {names}. {_advice(dataset)}"


def check_damage(dataset: Dataset, options: IndexOptions) -> None:
    """Raises what building the index would raise, unless skipping damage was asked for."""
    damage = dataset.info["damage"] if options.on_bad_record == "error" else []
    if damage:
        first = damage[0]
        places = counted(len(damage), "place")
        raise CorruptRecordError(
            f"{first['reason']}; the index skips damage in {places}",
            first["path"],
            offset=first["offset"],
            advice='To read the good records, pass on_bad_record="skip" or open the .rmx by name. '
            "If the shard has been restored, pass rebuild=True to index it again.",
        )


def folder_of(path: str, dataset: Dataset) -> str:
    """The folder from which relative names in the index start, as the library finds it: for a link
    to the index, the link's folder if it has the shards."""
    own = os.path.dirname(os.path.abspath(path))
    names = (name for name, *_ in dataset._shard_table() if not os.path.isabs(name))
    name = next((name for name in names if not is_url(name)), None)
    is_own = os.path.islink(path) and name is not None and os.path.lexists(os.path.join(own, name))
    return os.path.realpath(own) if is_own else os.path.dirname(os.path.realpath(path))


def resolved(folder: str, name: str) -> str:
    """The path of a shard that an index or a caller names, without links; or its URL."""
    return name if is_url(name) else os.path.realpath(os.path.join(folder, name))


def _exists(shard: str) -> bool:
    return not is_url(shard) and os.path.exists(shard)


def _real_path(path: str) -> str:
    return os.path.realpath(path)


def _entry(folder: str, name: str, real_path: Callable[[str], str]) -> str:
    """As `resolved`, but the file may be a link: its own path is the name of the shard."""
    if is_url(name):
        return name
    parent, base = os.path.split(os.path.join(folder, name))
    return os.path.join(real_path(parent), base)


def _matched(names: Sequence[str], folder: str, shards: Sequence[str]) -> dict[str, str]:
    """The shard for each name in an index that is among `shards`. Several links may lead to one
    file, so an equal path takes precedence over an equal target, and each shard is found once."""
    found: dict[str, str] = {}
    entry = partial(_entry, real_path=cache(_real_path))
    for path_of in entry, resolved:
        indexed = set(found.values())
        places: dict[str, list[str]] = {}
        for shard in reversed(shards):
            if shard not in indexed:
                places.setdefault(path_of("", shard), []).append(shard)
        twice = [same[0] for same in places.values() if len(same) > 1 and path_of is entry]
        if twice:
            raise InvalidError("the shard is named twice", twice[0], advice="name each shard once")
        for name in names:
            if name not in found and (same := places.get(path_of(folder, name))):
                found[name] = same.pop()
        if len(found) == len(names):
            break
    return found


def _fewer_shards(
    dataset: Dataset,
    names: list[str],
    found: dict[str, str],
    shards: Sequence[str],
    folder: str,
) -> StaleIndexError:
    """The error for a call that names fewer shards than the index has."""
    missing = [name for name in names if name not in found]
    if len(missing) == len(names):
        return _other_shard(dataset, 0, names, shards)
    were = "was" if len(shards) == 1 else "were"
    given = f"the index has {counted(len(names), 'shard')}, but only {len(shards)} {were} given"
    has_annotated = dataset._annotated_columns()
    if _exists(resolved(folder, missing[0])):
        replaced = "" if has_annotated else "; rebuild=True replaces this one"
        return _stale(
            dataset,
            f"{given}: it is also of {missing[0]}",
            "Name all of its shards, or pass index=PATH to build an index of these alone"
            f"{replaced}.",
        )
    rebuild = "" if has_annotated else "rebuild=True, or with "
    return _stale(
        dataset,
        f"{given}; the first that is missing is {missing[0]}",
        "Restore it, or name it too. To continue without its records, open the shards with "
        f"{rebuild}index=PATH to build another index.",
    )


def _grown_shards(dataset: Dataset, found: dict[str, str], sizes: dict[str, int]) -> list[str]:
    """The local shards that have more bytes than when they were indexed. Raises if one has fewer.
    Every read compares an object in a store with the index."""
    grown = []
    for name, size in sizes.items():
        shard = found[name]
        if is_url(shard):
            continue
        now = os.stat(shard).st_size
        if now < size:
            had = f"had {size} when it was indexed"
            raise _stale(dataset, f"the shard has {counted(now, 'byte')}, but {had}", path=shard)
        if now > size:
            grown.append(shard)  # appending compares it with the index
    return grown


def check_shards(
    dataset: Dataset, shards: Sequence[str], *, is_list: bool
) -> tuple[list[str], list[str]]:
    """Returns the shards that grew since they were indexed, and those that the index lacks.

    All shards of the index must be among `shards`, otherwise unchanged. The order of a list was
    chosen by the caller, so it must begin with them, in their order."""
    folder = folder_of(dataset.index_path, dataset)
    sizes = _sizes(dataset)
    names = list(sizes)
    found = _matched(names, folder, shards)
    if len(names) > len(shards):
        raise _fewer_shards(dataset, names, found, shards, folder)
    indexed = set(found.values())
    new = [shard for shard in shards if shard not in indexed]
    others = iter(new)
    ordered = shards if is_list else [found.get(name) or next(others) for name in names]
    for i, name in enumerate(names):
        if found.get(name) != ordered[i]:
            raise _other_shard(dataset, i, names, ordered)
    grown = _grown_shards(dataset, found, sizes)
    try:
        _check_rewritten(dataset, found, grown)
    except StaleIndexError as error:
        if new:
            skips = bool(dataset.info["damage"])
            advise_rebuild(error, dataset.index_path, shards, skips=skips)
        raise
    return grown, new


def advise_rebuild(
    error: StaleIndexError, path: str, shards: Sequence[str], *, skips: bool
) -> None:
    """Lets the advice to build the index again name all shards: the library knows only those that
    the index has. The call keeps what else the index has."""
    given = ["shards" if len(shards) > _LISTED_MAX else f"[{', '.join(map(repr, shards))}]"]
    given.append(f"index={path!r}")
    if skips:
        given.append('on_bad_record="skip"')
    call = f"`recmap.open({', '.join(given)}, rebuild=True)`"
    error.advice = re.sub(
        r"`recmap\.(index|open\(.*rebuild=True\))`", lambda _: call, error.advice or ""
    )


def warn_of_order(path: str, new: Sequence[str], shards: Sequence[str]) -> None:
    """Warns if shards that were appended are between those that the index had."""
    others = set(new)
    first = next((shard for shard in shards[: len(shards) - len(new)] if shard in others), None)
    if first is not None:
        warn_caller(
            f"{path}: the records of {first} follow those of all other shards, because the index "
            "had shards after it"
        )


def _sizes(dataset: Dataset) -> dict[str, int]:
    """The files of the index, in order, and their sizes. A file that grew is several shards of the
    index."""
    return {name: size for name, size, _, _ in dataset._shard_table()}


def _other_shard(
    dataset: Dataset, i: int, names: Sequence[str], shards: Sequence[str]
) -> StaleIndexError:
    """The error for an index that has another shard i."""
    return _stale(
        dataset,
        f"the index has the shard {names[i]}, but {shards[i]} was given in its place",
        _other_advice(dataset, names, shards),
    )


def _other_advice(dataset: Dataset, names: Sequence[str], shards: Sequence[str]) -> str:
    """The advice if the shards are not the index's. Shards with the same names are treated as
    copies, which the index serves as it is. An index with none of the shards belongs to another
    set, such as another generation of it, so it must not be built again from these."""
    pairs = list(zip(names, shards, strict=False))
    if any(os.path.basename(name) != os.path.basename(shard) for name, shard in pairs):
        if len(_matched(names, folder_of(dataset.index_path, dataset), shards)) == len(names):
            order = f"recmap.open({dataset.index_path!r}).shards"
            return f"List the shards in the order of {order}, and new ones last. {_advice(dataset)}"
        known = {os.path.basename(name) for name in names}
        if known.isdisjoint(map(os.path.basename, shards)):
            return f"{_ANOTHER}: this one is of other shards."
        return _advice(dataset)
    name, shard = pairs[0]
    is_below = not os.path.isabs(name) and not is_url(name) and shard.endswith(f"/{name}")
    copies = shard[: -len(name) - 1] if is_below else os.path.dirname(shard)
    call = f"recmap.open({dataset.index_path!r}, shards={copies!r})"
    return f"If these are copies of the shards: {call}. {_advice(dataset)}"


def _check_rewritten(dataset: Dataset, paths: Mapping[str, str], grown: Container[str]) -> None:
    """Reads a record of every shard that is newer than the index, to compare it with the index.
    `paths` has the path of each shard by its name in the index.

    A damaged record is left to the policy of what reads it.
    """
    built = os.stat(dataset.index_path).st_mtime_ns
    for name, _, first, count in dataset._shard_table():
        shard = paths[name]
        if not count or is_url(shard) or shard in grown:
            continue
        if os.stat(shard).st_mtime_ns > built:
            with contextlib.suppress(CorruptRecordError):
                dataset[first]
