"""Shows a dataclass as the call that makes it."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any

__all__ = ["CallRepr"]

# Fields that are shown without their names, even at their defaults.
_POSITIONAL = ("shape", "dtype")
# A first field that is shown without its name, unless it is at its default.
_FIRST = "size"


class CallRepr:
    """A `repr` without arguments at their defaults, for dataclasses with ``repr=False``.

    >>> recmap.FixedLen((28, 28), "uint8", raw=True)
    FixedLen((28, 28), 'uint8', raw=True)
    """

    def __repr__(self) -> str:
        arguments: list[str] = []
        for i, field in enumerate(fields(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            is_shown = i < len(_POSITIONAL) and field.name in _POSITIONAL
            if is_shown or field.default is MISSING:
                arguments.append(repr(value))
            elif not _is_default(field, value):
                is_first = i == 0 and field.name == _FIRST
                arguments.append(repr(value) if is_first else f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"


def _is_default(field: Field[Any], value: Any) -> bool:
    # Arrays compare element by element, so only values of the default's type are compared.
    return value is field.default or (type(value) is type(field.default) and value == field.default)
