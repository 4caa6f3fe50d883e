"""Element types of columns, and values of them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .._base.names import near_names
from .._base.numbers import natural

__all__ = [
    "check_key",
    "check_no_shape",
    "check_shape_and_dtype",
    "defaults_of",
    "element_name_of",
    "element_of",
    "is_dtype",
    "shape_of",
    "size_of",
]

_ELEMENTS = (
    "bool",
    "bytes",
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)
_PYTHON_TYPES = {bytes: "bytes", str: "bytes", int: "int64", float: "float32", bool: "bool"}
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int64",
    "uint64_bits": "uint64",  # stored as int64 with the same bits: see FixedLen
}
_FLOAT_MAX = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": math.inf,
}
# Half of the smallest positive value: it is rounded to 0.
_FLOAT_ZERO = {"float16": 2.0**-25, "bfloat16": 2.0**-134, "float32": 2.0**-150, "float64": 0.0}


def element_of(dtype: Any) -> str:
    """The library's name of an element type: of a name, a Python type or any framework's dtype.

    Raises:
        ValueError: it is not an element type.
    """
    name = element_name_of(dtype)
    if name in _ELEMENTS:
        return name
    known = f"it must be one of {', '.join(_ELEMENTS)}"
    near = near_names(name, _ELEMENTS, 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"the dtype {dtype!r} is unknown: {guess}{known}")


def check_shape_and_dtype(kind: str, shape: Any, dtype: Any) -> None:
    """Refuses a shape and a dtype in the place of each other, which are the arguments of a feature,
    and a shape whose size differs between records.

    Raises:
        ValueError: what was given, and what was probably meant.
    """
    if not is_dtype(shape):
        _check_sizes(kind, shape, dtype)
        return
    meant = f"{dtype!r}, {shape!r}" if not is_dtype(dtype) else f"(), {shape!r}"
    raise ValueError(
        f"{kind} takes the shape first, but {shape!r} is a dtype: did you mean {kind}({meant})?"
    )


def _check_sizes(kind: str, shape: Any, dtype: Any) -> None:
    """Refuses None and -1 as a shape or a size, which other libraries have for any number."""
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if not any(size is None or (isinstance(size, int) and size < 0) for size in sizes):
        return
    name = repr(element_name_of(dtype)) if is_dtype(dtype) else "dtype"
    rest = tuple(sizes[1:])
    meant = f"VarLen({name}) for any number of values in a record"
    if rest and all(isinstance(size, int) and size >= 0 for size in rest):
        meant = f"FixedLenSequence({rest!r}, {name}) for any number of steps in a record"
    raise ValueError(
        f"the shape of a {kind} is the same in all records, so it cannot be {shape!r}: write "
        f"{meant}, or the sizes"
    )


def check_no_shape(kind: str, dtype: Any, key: Any) -> None:
    """Refuses a shape as the dtype of a feature that has none.

    Raises:
        ValueError: what was given, and what was probably meant.
    """
    if not isinstance(dtype, (tuple, list, int)):
        return
    meant = f"{kind}({key!r})" if is_dtype(key) else f'{kind}("int64")'
    raise ValueError(f"{kind} has no shape, but its dtype is {dtype!r}: did you mean {meant}?")


def check_key(kind: str, key: Any) -> None:
    """Refuses what is neither the name of a feature nor the position of a field of CSV, such as a
    shape in its place.

    Raises:
        TypeError: what was given.
    """
    is_position = isinstance(key, int) and not isinstance(key, bool) and key >= 0
    if key is not None and not isinstance(key, str) and not is_position:
        raise TypeError(
            f"key is the name of a feature in the record, not {key!r}: write "
            f'{kind}(..., key="name")'
        )


def is_dtype(value: Any) -> bool:
    return element_name_of(value) in _ELEMENTS


def element_name_of(dtype: Any) -> str:
    """As `element_of`, but does not check whether the library knows the type."""
    if hasattr(dtype, "max_pixels"):  # an Image: its pixels
        dtype = dtype.dtype
    if isinstance(dtype, type) and dtype in _PYTHON_TYPES:
        return _PYTHON_TYPES[dtype]
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None and isinstance(dtype, type) and issubclass(dtype, np.generic):
        name = np.dtype(dtype).name
    name = (str(dtype) if name is None else name).removeprefix("torch.")
    if re.fullmatch("[<=|]?[biuf][1248]", name):  # a code of NumPy
        name = np.dtype(name).name
    if name in ("string", "object") or name.startswith(("bytes", "str")):
        return "bytes"
    return _ALIASES.get(name, name)


def shape_of(shape: Any) -> tuple[int, ...]:
    """The shape as a tuple, from an int, a sequence or a tf.TensorShape."""
    is_one = hasattr(shape, "__index__") or not hasattr(shape, "__iter__")
    sizes = (shape,) if is_one and not getattr(shape, "ndim", 0) else tuple(shape)
    try:
        return tuple(natural("a size", size, 63) for size in sizes)
    except (TypeError, ValueError):
        raise ValueError(
            f"the shape {shape!r} must consist of non-negative integers below 2**63"
        ) from None


def size_of(element: str) -> int:
    """The size of an element in bytes."""
    return 2 if element == "bfloat16" else np.dtype(element).itemsize


def defaults_of(default: Any, element: str) -> tuple[Any, ...]:
    """The values of a default, in C order. Refuses values that the element type cannot hold."""
    if default is None:
        return ()
    if element == "bytes":
        values = [default] if isinstance(default, (bytes, str)) else np.ravel(default).tolist()
        return tuple(_bytes(value) for value in values)
    convert = _float if element in _FLOAT_MAX else _integer
    return tuple(convert(value, element) for value in np.ravel(np.asarray(default)).tolist())


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, str)):
        raise TypeError(f"the default {value!r} is not bytes, but the dtype is bytes")
    return value.encode() if isinstance(value, str) else value


def _float(value: Any, element: str) -> float:
    if not isinstance(value, (int, float)):
        raise TypeError(f"the default {value!r} is not a number, but the dtype is {element}")
    number = float(value)
    if math.isfinite(number) and abs(number) > _FLOAT_MAX[element]:
        raise ValueError(f"the default {value!r} is out of range for {element}")
    if number and abs(number) <= _FLOAT_ZERO[element]:
        raise ValueError(f"the default {value!r} is too small for {element}: it would become 0")
    return number


def _integer(value: Any, element: str) -> int:
    if not isinstance(value, (int, float)):
        raise TypeError(f"the default {value!r} is not a number, but the dtype is {element}")
    low, high = _integer_range(element)
    if not low <= value <= high:
        raise ValueError(f"the default {value!r} is out of range for {element}: {low} to {high}")
    if value != int(value):
        raise ValueError(f"the default {value!r} is not an integer, but the dtype is {element}")
    return int(value)


def _integer_range(element: str) -> tuple[int, int]:
    if element == "bool":
        return 0, 1
    limits = np.iinfo(element)
    return int(limits.min), min(int(limits.max), (1 << 63) - 1)  # records have int64 values
