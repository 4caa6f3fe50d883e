"""Canonical descriptions of orders: JSON, from which orders are made again."""

import json

from .batches import Bucketed, Grouped, Stratified
from .errors import FormatError, check
from .mixture import Mixture
from .orders import (
    Sequential,
    Shuffled,
    Weighted,
    Windowed,
    WithReplacement,
    areas_of,
    list_of,
    range_of,
)
from .rows import Chunked, Packed, Windows
from .xxh3 import digest_of

KINDS = {
    "sequential": Sequential, "shuffled": Shuffled, "windowed": Windowed,
    "with_replacement": WithReplacement, "weighted": Weighted, "mixture": Mixture,
    "grouped": Grouped, "bucketed": Bucketed, "stratified": Stratified, "range": range_of,
    "list": list_of, "chunked": Chunked, "packed": Packed, "windows": Windows,
}  # fmt: skip
DIGESTS = {"weights", "labels", "lengths", "bounds", "numbers", "counts"}


def _unique(pairs):
    members = dict(pairs)
    check(len(members) == len(pairs), "a member occurs twice")
    return members


def _integer(text):
    check(not text.startswith("-0"), "a number is -0")
    return int(text)


def _refuse(text):
    raise FormatError(f"{text} is not an integer")


def parse(text):
    """JSON in which all numbers are integers, and no member occurs twice."""
    hooks = {"parse_int": _integer, "parse_float": _refuse, "parse_constant": _refuse}
    try:
        return json.loads(text, object_pairs_hook=_unique, **hooks)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not JSON of an order or a state: {error}") from None


def describe(order):
    return json.dumps(order.described, separators=(",", ":"), ensure_ascii=False)


def order_of(text, arrays=()):
    """The order of a description. `arrays` has what it has digests of: weights, labels, lengths,
    bounds, numbers and counts, in any sequence."""
    try:
        return _make(parse(text), arrays)
    except (TypeError, AttributeError, KeyError, RecursionError):
        raise FormatError("members of a description are missing, or of a wrong type") from None


def _make(described, arrays):
    arguments = {name: _argument(name, x, arrays) for name, x in described.items()}
    kind = arguments.pop("kind")
    check(kind in KINDS, f"unsupported: orders of kind {kind!r}")
    if kind == "mixture":
        later = [(change["position"], change["shares"]) for change in arguments.pop("changes", [])]
        arguments["changes"] = [(0, arguments.pop("shares")), *later]
    order = KINDS[kind](**arguments)
    # States leave out what follows from the counts.
    is_rows = "counts" in described
    made = {name: x for name, x in order.described.items() if name in described or not is_rows}
    check(described == made, f"{kind}: members that contradict each other, or are unknown")
    return order


def _argument(name, value, arrays):
    if name in DIGESTS:
        return _find(arrays, value, areas_of if name == "weights" else list)
    if name == "of":
        return _make(value, arrays)
    if name == "sources":
        return [_make(source, arrays) for source in value]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    check(not is_number or -(1 << 63) <= value < 1 << 64, f"{name}: {value} is out of range")
    check(not is_number or value >= 0 or name == "step", f"{name}: {value} is negative")
    return value


def _find(arrays, digest, items_of):
    for array in arrays:
        try:
            if digest_of(items_of(array)) == digest:
                return array
        except (FormatError, TypeError):  # other arrays are not weights
            continue
    raise FormatError(f"an array with digest {digest} is needed")
