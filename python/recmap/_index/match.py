"""Checks that an existing index matches what a call to open asks for.

Each check raises StaleIndexError with what differs. `path` is the path of the index.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Sequence

from .._base.errors import CorruptRecordError, FeatureError, StaleIndexError
from .._base.plural import counted
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._options.options import IndexOptions, is_url
from .build import advice_on_name, warn_of_repeated_ids

__all__ = [
    "check_contents",
    "check_damage",
    "check_framing",
    "check_ids",
    "check_shards",
    "folder_of",
    "has_useless_ids",
    "kept_id",
    "resolved",
]

_ANOTHER = "Open the shards (not the .rmx) with index=PATH to build another index"
_FRAMINGS = ("tfrecord", "ofrecord", "lines", "tar")


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
    """The feature of ids that the index has. None if no record has that one."""
    ids = dataset.info["ids"]
    is_useless = ids is not None and dataset._record_count() and not ids["count"]
    return None if is_useless else dataset._id_name()


def check_contents(dataset: Dataset, options: IndexOptions) -> None:
    """Checks that the index has the ids, lifted columns and element counts asked for."""
    name = dataset._id_name()
    if options.id is not None and name != options.id:
        found = "no ids" if name is None else f"ids of the feature {name!r}"
        raise _stale(dataset, f"the index has {found}, but ids of {options.id!r} are needed")
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
    if framing in _FRAMINGS or framing.startswith("fixed:"):
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
            advice='To read the good records, pass on_bad_record="skip" or open the .rmx by name.',
        )


def folder_of(path: str, dataset: Dataset) -> str:
    """The folder from which relative names in the index start, as the library finds it: through a
    link to the index, that of the link if it has the shards."""
    own = os.path.dirname(os.path.abspath(path))
    names = (name for name, *_ in dataset._shard_table() if not os.path.isabs(name))
    name = next((name for name in names if not is_url(name)), None)
    is_own = os.path.islink(path) and name is not None and os.path.lexists(os.path.join(own, name))
    return os.path.realpath(own) if is_own else os.path.dirname(os.path.realpath(path))


def resolved(folder: str, name: str) -> str:
    """The path of a shard that an index or a caller names, without links; or its URL."""
    return name if is_url(name) else os.path.realpath(os.path.join(folder, name))


def check_shards(dataset: Dataset, shards: Sequence[str], *, is_list: bool) -> list[str]:
    """Returns the shards whose records the index lacks: those that grew, and new ones.

    All shards of the index must be among `shards`, otherwise unchanged. The order of a list was
    chosen by the caller, so it must begin with them, in their order."""
    folder = folder_of(dataset.index_path, dataset)
    sizes = _sizes(dataset)
    if len(sizes) > len(shards):
        given = {resolved("", shard) for shard in shards}
        missing = [name for name in sizes if resolved(folder, name) not in given]
        if len(missing) == len(sizes):
            raise _other_shard(dataset, 0, list(sizes), shards)
        rebuild = "" if dataset._annotated_columns() else "rebuild=True, or with "
        raise _stale(
            dataset,
            f"the index has {counted(len(sizes), 'shard')}, but only {len(shards)} were given; the "
            f"first that is missing is {missing[0] if missing else list(sizes)[len(shards)]}",
            "Restore it, or name it too. To continue without its records, open the shards with "
            f"{rebuild}index=PATH to build another index.",
        )
    grown = []
    for i, ((name, size), shard) in enumerate(zip(sizes.items(), shards, strict=False)):
        # Following links takes long for many shards, and is not needed for equal paths. They are
        # not normalized, because `a/..` may be another folder if `a` is a link.
        path = shard if os.path.isabs(shard) else os.path.join(os.getcwd(), shard)
        is_equal = os.path.join(folder, name) == path
        if not is_equal and resolved(folder, name) != resolved("", shard):
            ordered = shards if is_list else _in_order_of(list(sizes), folder, shards)
            if ordered != shards:
                return _check_ordered(dataset, ordered, shards)
            raise _other_shard(dataset, i, list(sizes), shards)
        if is_url(shard):
            continue  # every read compares the object with the index
        now = os.stat(shard).st_size
        if now < size:
            message = f"the shard has {counted(now, 'byte')}, but had {size} when it was indexed"
            raise _stale(dataset, message, path=shard)
        if now > size:
            grown.append(shard)  # appending compares it with the index
    _check_rewritten(dataset, shards, grown)
    return [*grown, *shards[len(sizes) :]]


def _in_order_of(names: Sequence[str], folder: str, shards: Sequence[str]) -> Sequence[str]:
    """The shards that the index has, in its order, and then the others."""
    places = {resolved(folder, name): i for i, name in enumerate(names)}
    return sorted(shards, key=lambda shard: places.get(resolved("", shard), len(places)))


def _check_ordered(dataset: Dataset, ordered: Sequence[str], shards: Sequence[str]) -> list[str]:
    """As `check_shards`, with a warning if new shards are among those that the index has."""
    lacking = check_shards(dataset, ordered, is_list=True)
    count = len(_sizes(dataset))
    new = set(ordered[count:])
    first = next((shard for shard in shards[:count] if shard in new), None)
    if first is not None:
        warn_caller(
            f"{dataset.index_path}: the records of {first} follow those of all other shards, "
            "because the index had shards after it"
        )
    return lacking


def _sizes(dataset: Dataset) -> dict[str, int]:
    """The files of the index, in order, and their sizes. One that grew is several shards of it."""
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
    """The advice for other shards than those of the index. Shards of the same names are taken for
    copies: the index serves them as it is. An index without any of the shards is that of another
    set, such as another generation of it, so it must not be built again from these."""
    pairs = list(zip(names, shards, strict=False))
    if any(os.path.basename(name) != os.path.basename(shard) for name, shard in pairs):
        if _has_all(dataset, names, shards):
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


def _has_all(dataset: Dataset, names: Sequence[str], shards: Sequence[str]) -> bool:
    folder = folder_of(dataset.index_path, dataset)
    given = {resolved("", shard) for shard in shards}
    return given.issuperset(resolved(folder, name) for name in names)


def _check_rewritten(dataset: Dataset, shards: Sequence[str], grown: Container[str]) -> None:
    """Reads a record of every shard that is newer than the index, to compare it with the index.

    A damaged record is left to the policy of what reads it.
    """
    built = os.stat(dataset.index_path).st_mtime_ns
    paths = dict(zip(_sizes(dataset), shards, strict=False))
    for name, _, first, count in dataset._shard_table():
        shard = paths[name]
        if not count or is_url(shard) or shard in grown:
            continue
        if os.stat(shard).st_mtime_ns > built:
            with contextlib.suppress(CorruptRecordError):
                dataset[first]
