"""Names of 0.2.0 that have changed. They work throughout 1.x, with a DeprecationWarning."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ._warn import warn_caller

__all__ = ["ARGUMENTS", "METHODS", "VALUES", "current_arguments", "current_method"]

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

# Methods of data sets and views.
METHODS = {"partition": "split"}


def _warn(old: str, new: str) -> None:
    warn_caller(f"{old} is now {new}; the old name works until recmap 2.0", DeprecationWarning)


def current_arguments(
    function: str, named: dict[str, Any], accepted: Collection[str]
) -> dict[str, Any]:
    """The keyword arguments of a call under their names and with their values of today."""
    current = {}
    for name, value in named.items():
        new = name if name in accepted else ARGUMENTS.get(name, name)
        if new != name and new in accepted:
            if new in named:
                raise TypeError(f"{function}: {name} is the old name of {new}: pass {new} only")
            _warn(f"{function}({name}=...)", f"{new}=...")
            name = new
        if isinstance(value, str) and value in VALUES.get(name, ()):
            _warn(f"{function}({name}={value!r})", f"{name}={VALUES[name][value]!r}")
            value = VALUES[name][value]
        current[name] = value
    return current


def current_method(owner: Any, name: str) -> Any:
    """The method that is called `name` in 0.2.0."""
    new = METHODS.get(name)
    if new is None:
        raise AttributeError(
            f"{type(owner).__name__!r} object has no attribute {name!r}", name=name, obj=owner
        )
    _warn(f"{name}()", f"{new}()")
    return getattr(owner, new)
