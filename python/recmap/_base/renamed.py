"""Names of 0.2.0 that have changed. They work throughout 1.x, with a DeprecationWarning."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from .warn import warn_caller

__all__ = [
    "ARGUMENTS",
    "INDEXING",
    "METHODS",
    "MOVED",
    "MOVED_TO",
    "NO_DTYPE",
    "VALUES",
    "current_arguments",
    "current_method",
    "warn_of_indexing",
    "warn_without_dtype",
]

# Arguments: the old name and the new one, in every function that takes the new one only.
ARGUMENTS = {
    "missing": "missing_values",
    "on": "by",
    "on_corrupt": "on_bad_record",
    "on_error": "on_bad_record",
    "positions": "row_positions",
    "shares": "n",  # of partition
}

# Values of an argument, by its new name: the old value and the new one.
VALUES = {
    "access": {"pread": "read"},
    "on_bad_record": {"raise": "error"},
}

# Arguments that are fields of an object now: the argument that takes it, its class and the field.
MOVED = {
    "allow_absolute_paths": ("access", "Reading", "allow_absolute_paths"),
    "allow_missing_shards": ("access", "Reading", "allow_missing_shards"),
    "allow_urls": ("storage", "Storage", "allow_urls"),
    "cache": ("storage", "Storage", "cache"),
    "cache_size": ("storage", "Storage", "cache_size"),
    "check_index": ("access", "Reading", "check_index"),
    "credentials": ("storage", "Storage", "credentials"),
    "fs": ("storage", "Storage", "fs"),
    "guard": ("access", "Reading", "guard"),
    "index_in_memory": ("access", "Reading", "index_in_memory"),
    "shard_limit": ("access", "Reading", "shard_limit"),
    "span_keep_size": ("access", "Reading", "span_keep_size"),
    "storage_options": ("storage", "Storage", "options"),
}

# The class of the object by the argument that takes it. The modules of these classes add them.
MOVED_TO: dict[str, Any] = {}

# Arguments of `open` that say how to build an index: `index` has them.
INDEXING = ("compression", "from_idx", "memory_limit", "missing_values", "progress", "threads")

# Methods of data sets and views.
METHODS = {"partition": "split"}


NO_DTYPE = object()  # of features that were made without a dtype, which was "int64"


def warn_without_dtype(kind: str, shape: Any) -> None:
    given = "'int64'" if shape is None else f"{shape!r}, 'int64'"
    warn_caller(
        f"{kind} without a dtype means int64 until recmap 2.0: name the dtype: {kind}({given}), or "
        "'float32', bytes, ...",
        DeprecationWarning,
    )


def _warn(old: str, new: str) -> None:
    warn_caller(f"{old} is now {new}; the old name works until recmap 2.0", DeprecationWarning)


def _call(function: str, *words: str) -> str:
    return f"{function}({', '.join(words)})"


def warn_of_indexing(
    arguments: Collection[str],
    index: str | None,
    contents: Collection[str],
    reading: Collection[str],
    *,
    is_index: bool,
    is_built: bool,
    is_rebuilt: bool = False,
) -> None:
    """Warns of arguments of `open` that say how to build an index: it is built once, by a call of
    `index`.

    Args:
        arguments: the given arguments that are in `INDEXING`, by their new names.
        index: the path of the index, if the caller gave it.
        contents: the arguments that were given and say what the index contains.
        reading: the arguments that were given and say what is read, and how.
        is_index: the source is an index.
        is_built: the index exists, and is used.
        is_rebuilt: the index exists, and the caller asked to build it again.
    """
    if not arguments:
        return
    words, it = [f"{name}=..." for name in arguments], "it" if len(arguments) == 1 else "them"
    place = [] if index is None else [repr(index)]
    kept = [f"{name}=..." for name in reading]
    has = [f"{name}=..." for name in contents]
    build = _call("recmap.index", "shards", *place, *kept, *has, *words)
    reopen = _call("recmap.open", "shards", *(f"index={text}" for text in place), *kept)
    if is_index:
        advice = f"and this is one: leave {it} out"
    elif is_built:
        advice = f"which exists: leave {it} out"
    elif is_rebuilt:
        advice = (
            f"which rebuild=True does by itself: leave {it} out. If you need {it}, replace "
            f"rebuild=True by {build}, which keeps only the ids, columns and counts that it "
            f"names, and then {reopen}"
        )
    else:
        advice = f"which is done once: {build}. Then open the shards without {it}: {reopen}"
    warn_caller(
        f"{_call('open', *words)} is about building an index, {advice}; the old way works until "
        "recmap 2.0",
        DeprecationWarning,
    )


def current_arguments(
    function: str, named: dict[str, Any], accepted: Collection[str], former: Collection[str] = ()
) -> dict[str, Any]:
    """The keyword arguments of a call under their names and with their values of today.

    `former`: arguments in `INDEXING` that the function no longer has, but still obeys with a
    warning.
    """
    current: dict[str, Any] = {}
    for name, value in named.items():
        new = name if name in accepted else ARGUMENTS.get(name, name)
        if new != name and (new in accepted or new in former):
            if new in named:
                raise TypeError(f"{function}: {name} is the old name of {new}: pass {new} only")
            if new in accepted:
                _warn(f"{function}({name}=...)", f"{new}=...")
            name = new
        if isinstance(value, str) and value in VALUES.get(name, ()):
            _warn(f"{function}({name}={value!r})", f"{name}={VALUES[name][value]!r}")
            value = VALUES[name][value]
        current[name] = value
    moved = [name for name in current if name in MOVED and name not in accepted]
    for argument in dict.fromkeys(MOVED[name][0] for name in moved):
        if argument in accepted:
            _move(function, argument, current, [n for n in moved if MOVED[n][0] == argument])
    return current


def _move(function: str, argument: str, current: dict[str, Any], names: Collection[str]) -> None:
    """Replaces arguments by fields of the object that `argument` takes now, all at once: the object
    may refuse one without another."""
    type_, fields = MOVED_TO[argument], {}
    for name in names:
        _, owner, field = MOVED[name]
        _warn(f"{function}({name}=...)", f"{argument}=recmap.{owner}({field}=...)")
        fields[field] = current.pop(name)
    given: Any = current.get(argument)
    if isinstance(given, type_):
        current[argument] = replace(given, **fields)
    elif isinstance(given, str) and argument == "access":
        current[argument] = type_(given, **fields)
    elif argument not in current or (given is None and argument == "storage"):
        current[argument] = type_(**fields)  # else it has a wrong type, which the function reports


def current_method(owner: Any, name: str) -> Any:
    """The method that is called `name` in 0.2.0."""
    new = METHODS.get(name)
    if new is None:
        raise AttributeError(
            f"{type(owner).__name__!r} object has no attribute {name!r}", name=name, obj=owner
        )
    _warn(f"{name}()", f"{new}()")
    return getattr(owner, new)
