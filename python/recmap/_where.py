"""Expressions over lifted columns, for `Dataset.where`. They are parsed but never run as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError

__all__ = ["mask_of"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_MAX_LENGTH = 100_000
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ADVICE = (
    "Write comparisons of columns with values, such as `label == 3 and lang in ('de', 'fr')`; "
    "`columns['a/b']` is a column whose name is not a Python name."
)


def mask_of(expression: str, columns: Mapping[str, npt.NDArray[Any]]) -> Mask:
    """Which records the expression is true for."""
    if not isinstance(expression, str):
        raise TypeError(f"the expression must be a str, not {type(expression).__name__}")
    if len(expression) > _MAX_LENGTH:
        raise _invalid(f"the expression has more than {_MAX_LENGTH} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return _Evaluation(columns).mask(tree.body)
    except SyntaxError as error:
        raise _invalid(f"the expression cannot be parsed: {error.msg}", error.offset) from None
    except (RecursionError, MemoryError):
        raise _invalid("the expression is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, InvalidError):
            raise
        raise _invalid(f"the expression cannot be parsed: {error}") from None


def _invalid(message: str, character: int | None = None) -> InvalidError:
    where = "" if character is None else f"character {character}: "
    return InvalidError(f"{where}{message}", advice=_ADVICE)


def _refuse(node: ast.expr, message: str) -> InvalidError:
    return _invalid(message, node.col_offset + 1)


class _Evaluation:
    """Evaluates the nodes of an expression. Every other kind of node is refused."""

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns = columns

    def mask(self, node: ast.expr) -> Mask:
        """The value of a condition."""
        if isinstance(node, ast.BoolOp):
            combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            result = self.mask(node.values[0])
            for value in node.values[1:]:
                result = combine(result, self.mask(value))
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return np.logical_not(self.mask(node.operand))
        if isinstance(node, ast.Compare):
            return self._chain(node)
        raise _refuse(node, f"{_shown(node)} is not a condition")

    def _chain(self, node: ast.Compare) -> Mask:
        """``a < b < c`` is ``a < b and b < c``."""
        result: Mask | None = None
        left = node.left
        for comparison, right in zip(node.ops, node.comparators, strict=True):
            mask = self._compare(left, comparison, right)
            result = mask if result is None else np.logical_and(result, mask)
            left = right
        assert result is not None
        return result

    def _compare(self, left: ast.expr, comparison: ast.cmpop, right: ast.expr) -> Mask:
        if isinstance(comparison, (ast.In, ast.NotIn)):
            found = self._is_in(left, right)
            return found if isinstance(comparison, ast.In) else np.logical_not(found)
        if type(comparison) not in _COMPARISONS:
            raise _refuse(left, "`is` is not supported: use `==`")
        values = self._operand(left), self._operand(right)
        if not any(isinstance(value, np.ndarray) for value in values):
            raise _refuse(left, f"{_shown(left)} and {_shown(right)} are both not columns")
        _check_kinds(left, *values)
        result = _COMPARISONS[type(comparison)](*values)
        return np.asarray(result, np.bool_)

    def _is_in(self, left: ast.expr, right: ast.expr) -> Mask:
        values = self._operand(left)
        if not isinstance(values, np.ndarray):
            raise _refuse(left, f"{_shown(left)} is not a column")
        if not isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            raise _refuse(right, f"{_shown(right)} is not a list of values")
        items = [_constant(item) for item in right.elts]
        for item in items:
            _check_kinds(left, values, item)
        if values.dtype == object:
            wanted = set(items)
            return np.fromiter((value in wanted for value in values), np.bool_, len(values))
        result = np.zeros(len(values), np.bool_)
        for item in items:
            result |= values == item
        return result

    def _operand(self, node: ast.expr) -> Any:
        """A column, or a constant."""
        if isinstance(node, ast.Name):
            return self._column(node.id)
        if isinstance(node, ast.Subscript):
            is_columns = isinstance(node.value, ast.Name) and node.value.id == "columns"
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if is_columns and isinstance(key, str):
                return self._columns[key]
            raise _refuse(node, f"{_shown(node)} is not a column")
        return _constant(node)

    def _column(self, name: str) -> npt.NDArray[Any]:
        if name == "length" and name not in self._columns:
            name = "@length"
        return self._columns[name]


def _constant(node: ast.expr) -> int | float | bytes:
    """A number, or the bytes of a value of text."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, (int, float, bytes)):
            return value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _constant(node.operand)
        if not isinstance(value, bytes):
            return -value if isinstance(node.op, ast.USub) else value
    raise _refuse(node, f"{_shown(node)} is not a column or a value")


def _check_kinds(node: ast.expr, left: Any, right: Any) -> None:
    """Refuses comparisons of text with numbers, which would select nothing."""
    if _is_text(left) != _is_text(right):
        raise _refuse(node, f"{_shown(node)}: text and numbers cannot be compared")


def _is_text(value: Any) -> bool:
    return value.dtype == object if isinstance(value, np.ndarray) else isinstance(value, bytes)


def _shown(node: ast.expr) -> str:
    """The source of a node, shortened."""
    text = ast.unparse(node)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"
