"""Orders from their descriptions, which are JSON."""

import json

from . import FormatError, batches, check, mixture, orders, rows
from .xxh3 import digest_of

KINDS = {
    "sequential": orders.Sequential, "shuffled": orders.Shuffled, "windowed": orders.Windowed,
    "with_replacement": orders.WithReplacement, "weighted": orders.Weighted,
    "range": orders.range_of, "list": orders.list_of, "mixture": mixture.Mixture,
    "grouped": batches.Grouped, "bucketed": batches.Bucketed, "stratified": batches.Stratified,
    "chunked": rows.Chunked, "packed": rows.Packed, "windows": rows.Windows,
}  # fmt: skip
DIGESTS = {"weights", "labels", "lengths", "bounds", "numbers", "counts"}


def order_of(text, arrays=()):
    """The order of a description. `arrays` has what it has digests of: weights, labels, lengths,
    bounds, numbers and counts, in any sequence."""
    return _make(json.loads(text), arrays)


def _make(described, arrays):
    arguments = {name: _argument(name, x, arrays) for name, x in described.items()}
    kind = arguments.pop("kind")
    check(kind in KINDS, f"unsupported: orders of kind {kind!r}")
    return KINDS[kind](**arguments)


def _argument(name, value, arrays):
    if name == "of":
        return _make(value, arrays)
    if name == "sources":
        return [_make(source, arrays) for source in value]
    return _find(name, value, arrays) if name in DIGESTS else value


def _find(name, digest, arrays):
    for array in arrays:
        try:
            if digest_of(orders.areas_of(array) if name == "weights" else array) == digest:
                return array
        except (FormatError, TypeError):  # other arrays are not weights
            continue
    raise FormatError(f"the {name} with the digest {digest} are needed")
