"""Names that do not exist: what they probably mean."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from .renamed import INDEXING, VALUES, current_arguments

__all__ = ["SuggestsMethods", "near_names", "suggest_arguments"]

Function = TypeVar("Function", bound=Callable[..., Any])

_HAS_KEYWORDS = 0x08  # the flag of a function that takes any keywords

# The similarity of a name and an argument of another function that it means: "shufle", "shuffle".
_ALMOST_EQUAL = 0.8

_NO_PROCESSES = "threads=...: recmap reads in threads, not in worker processes"

# What arguments of other libraries are called here, and how to write them.
_FOREIGN = {
    "batch_sampler": ("order", "order=..."),
    "buffer_size": ("shuffle", "shuffle=True, which shuffles a whole epoch without a buffer"),
    "cache_dir": ("cache", "cache=..."),
    "collate_fn": ("transform", "transform=..."),
    "columns": ("lift", "lift=[...]"),
    "description": ("features", "features={name: recmap.FixedLen(...), ...}"),
    "drop_last": ("last", 'last="drop"'),
    "drop_remainder": ("last", 'last="drop"'),
    "generator": ("seed", "seed=..."),
    "index": ("path", "path=..."),
    "index_path": ("index", "index=..."),
    "map_fn": ("transform", "transform=..."),
    "num_epochs": ("epochs", "epochs=..."),
    "num_parallel_calls": ("threads", "threads=..."),
    "num_parallel_reads": ("threads", "threads=..."),
    "num_replicas": ("world_size", "world_size=..."),
    "num_shards": ("world_size", "world_size=..."),
    "num_threads": ("threads", "threads=..."),
    "multiprocessing_context": ("threads", _NO_PROCESSES),
    "num_workers": ("threads", _NO_PROCESSES),
    "persistent_workers": ("threads", _NO_PROCESSES),
    "prefetch": ("batches_ahead", "batches_ahead=..."),
    "prefetch_factor": ("batches_ahead", "batches_ahead=..."),
    "repeat": ("epochs", "epochs=..."),
    "replacement": ("order", "order=recmap.WithReplacement(len(ds), seed)"),
    "sampler": ("order", "order=..."),
    "shard_id": ("rank", "rank=..."),
    "shard_index": ("rank", "rank=..."),
    "shuffle_buffer_size": ("shuffle", "shuffle=True, which shuffles a whole epoch"),
    "worker_init_fn": ("threads", _NO_PROCESSES),
    "workers": ("threads", _NO_PROCESSES),
}

# Arguments that only one of these takes.
OWNERS = {
    "recmap.Loader": (
        *("batch_size", "batches_ahead", "epoch_end", "epochs", "feature_lists", "features"),
        *(
            "last",
            "order",
            "rank",
            "readahead",
            "seed",
            "shuffle",
            "transform",
            "transform_threads",
            "world_size",
        ),
    ),
    "recmap.torch.Loader": ("numbers", "pin_memory"),
    "recmap.open": ("access", "count", "framing", "id", "index", "lift", "rebuild", "shards"),
    "recmap.Storage": ("cache", "credentials", "fs"),
    "recmap.index": tuple(name for name in INDEXING if name != "threads"),
}


def near_names(name: str, names: Iterable[str], limit: int = 5) -> list[str]:
    """Names that `name` may be a misspelling or a part of, the most similar first."""
    by_lower: dict[str, list[str]] = {}
    for other in sorted(names):
        by_lower.setdefault(other.lower(), []).append(other)
    import difflib  # only for messages

    near = difflib.get_close_matches(name.lower(), by_lower, n=limit)
    near += [other for other in by_lower if other not in near and _is_part(name.lower(), other)]
    return [other for lower in near for other in by_lower[lower]][:limit]


def _is_part(a: str, b: str) -> bool:
    return min(len(a), len(b)) > 2 and (a in b or b in a)


@overload
def suggest_arguments(function: Function) -> Function: ...
@overload
def suggest_arguments(
    *,
    options: Iterable[str] = (),
    otherwise: str = "",
    former: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]: ...
def suggest_arguments(
    function: Any = None,
    *,
    options: Iterable[str] = (),
    otherwise: str = "",
    former: Callable[..., Any] | None = None,
) -> Any:
    """Decorates a function, or a class of data, whose unknown keyword arguments are errors that
    suggest others.

    `options`: what its ``**options`` take. The function keeps its signature. `otherwise`:
    the advice for names that resemble none of the arguments. `former`: the same function, which
    also takes the arguments that this one had in 0.2.0 (`INDEXING`).
    """
    if function is None:
        return functools.partial(
            _suggesting, options=frozenset(options), otherwise=otherwise, former=former
        )
    if isinstance(function, type):
        setattr(function, "__init__", _suggesting(vars(function)["__init__"]))  # noqa: B010
        return function
    return _suggesting(function)


def _suggesting(
    function: Callable[..., Any],
    options: frozenset[str] = frozenset(),
    otherwise: str = "",
    former: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    accepted = options | frozenset(names[code.co_posonlyargcount :])
    assert options or not code.co_flags & _HAS_KEYWORDS
    obeyed = INDEXING if former is not None else ()

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        if not accepted.issuperset(named) or not VALUES.keys().isdisjoint(named):
            named = current_arguments(_name_of(function), named, accepted, obeyed)
            if former is not None and accepted.union(obeyed).issuperset(named):
                return former(*values, **named)
        if not accepted.issuperset(named):
            called = type(values[0]) if function.__name__ == "__init__" else function
            name = next(name for name in named if name not in accepted and name not in obeyed)
            raise _unknown(called, name, accepted, otherwise)
        return function(*values, **named)

    return call


def _name_of(function: Callable[..., Any]) -> str:
    """What callers write: the class of a constructor, else the function."""
    owner, _, name = function.__qualname__.rpartition(".")
    return owner if name == "__init__" else function.__qualname__


def _unknown(called: Any, name: str, accepted: frozenset[str], otherwise: str) -> TypeError:
    """The error of Python, and an advice."""
    advice = _advice(name, accepted - {"self"}, otherwise)
    return TypeError(f"{called.__qualname__}() got an unexpected keyword argument {name!r}{advice}")


def _advice(name: str, accepted: frozenset[str], otherwise: str) -> str:
    import difflib  # only for messages

    meant, code = _FOREIGN.get(name, (name, f"{name}=..."))
    if meant in accepted:
        return f": write {code}"
    if _owner_of(name):  # it is foreign to this function only
        meant, code = name, f"{name}=..."
    owner = _owner_of(meant) or ("recmap.Loader" if name in _FOREIGN else "")
    if owner:
        return f": {owner} takes {code}"
    near = near_names(name, accepted, 1)
    if near or otherwise:
        return f". Did you mean {near[0]!r}?" if near else f": {otherwise}"
    owned = {known for names in OWNERS.values() for known in names}
    elsewhere = difflib.get_close_matches(name.lower(), owned, 1, _ALMOST_EQUAL)
    return f": {_owner_of(elsewhere[0])} takes {elsewhere[0]}=..." if elsewhere else ""


def _owner_of(name: str) -> str:
    return next((owner for owner, names in OWNERS.items() if name in names), "")


class SuggestsMethods:
    """A class whose unknown attributes are errors that suggest what other libraries' methods of the
    name are called here: `_meant` has them."""

    _meant: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            advice = type(self)._meant.get(name)
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{message}: {advice}" if advice else message, name=name, obj=self)
