"""Orders from their descriptions, which are JSON."""

import json

from . import FormatError, check
from .batches import Bucketed, Grouped, Stratified
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
            if digest_of(areas_of(array) if name == "weights" else array) == digest:
                return array
        except (FormatError, TypeError):  # other arrays are not weights
            continue
    raise FormatError(f"the {name} with the digest {digest} are needed")
