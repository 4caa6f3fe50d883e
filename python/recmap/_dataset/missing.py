"""Features that no record has: a typo in a name would otherwise give an empty column in silence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._errors import Error, FeatureError
from .._example.features import Feature, FixedLen, Sparse, feature_of
from .._numbers import UInt64s
from .._warn import warn_caller

if TYPE_CHECKING:
    from .._columns.record_batch import RecordBatch
    from .selectable import Selectable

__all__ = [
    "FeatureNames",
    "FirstBatchCheck",
    "Missing",
    "advise_names",
    "check_batch",
    "similar_names",
]

Missing: TypeAlias = Literal["warn", "error", "ignore"]

_SAMPLE_COUNT = 100  # records read to learn the names of the data set's features
_BATCH_COUNT = 1024  # records of a batch that are read again to learn the names of its features
_LISTED_COUNT = 20  # names listed in a message


def _validate(missing: str) -> None:
    if missing not in ("warn", "error", "ignore"):
        raise ValueError(f'missing must be "warn", "error" or "ignore", not {missing!r}')


class _Names(NamedTuple):
    """The names that features have in some records."""

    context: frozenset[str]
    lists: frozenset[str]

    def of(self, is_list: bool) -> frozenset[str]:
        return self.lists if is_list else self.context


def _names_in(dataset: Selectable, numbers: UInt64s) -> _Names:
    """The names in these records; no names if a record cannot be read."""
    try:
        text, _ = dataset._schema(numbers)
    except Error:
        return _Names(frozenset(), frozenset())
    schema: dict[str, dict[str, Any]] = json.loads(text)
    context = frozenset(name for name, members in schema.items() if "kind" in members)
    return _Names(context, frozenset(name for name, members in schema.items() if "list" in members))


class FeatureNames:
    """What is known about the names of a data set's features; all its views share it."""

    def __init__(self) -> None:
        self._sampled: _Names | None = None
        self.warned: set[tuple[str, bool]] = set()  # by parse: (name, whether it is a list)
        self.found: set[str] = set()  # features with a default that some record has

    def sampled(self, dataset: Selectable) -> _Names:
        """The names in a sample of records of the whole data set."""
        if self._sampled is None:
            count = dataset._record_count()
            chosen = min(count, _SAMPLE_COUNT)
            numbers = np.array([i * count // chosen for i in range(chosen)], np.uint64)
            self._sampled = _names_in(dataset, numbers)
        return self._sampled


class _Request(NamedTuple):
    """A requested feature."""

    name: str  # in the records
    is_list: bool
    has_default: bool


def _name_of(column: str, feature: Feature) -> str:
    if isinstance(feature, Sparse):
        return feature.value_key
    return column if feature.key is None else feature.key


def _requests_of(features: Mapping[str, Any], is_list: bool) -> list[_Request]:
    requests = []
    for column, given in features.items():
        feature = feature_of(given)
        has_default = isinstance(feature, FixedLen) and feature.default is not None
        requests.append(_Request(_name_of(column, feature), is_list, has_default))
    return requests


class _Check:
    """Looks for requested features that no record of a parsed batch has.

    "error" raises if no record of the batch has a feature. "warn" warns if, in addition, none of a
    sample of the data set's records has it, since a rare feature is not a mistake. A feature with a
    default may be missing: for such features, both need the sample, too.

    Args:
        dataset: the data set that the batches come from.
        features, feature_lists: what was requested.
        missing: what to do.
        warned: the features that no longer need a warning.
        always_samples: "error" needs the sample for all features.
    """

    def __init__(
        self,
        dataset: Selectable,
        features: Mapping[str, Any],
        feature_lists: Mapping[str, Any] | None,
        missing: Missing,
        warned: set[tuple[str, bool]],
        always_samples: bool = False,
    ) -> None:
        self._dataset = dataset
        self._missing = missing
        self._warned = warned
        self._always_samples = always_samples or missing == "warn"
        self._requests = _requests_of(features, False)
        if feature_lists is not None:
            self._requests += _requests_of(feature_lists, True)
        self._with_default = [request for request in self._requests if request.has_default]

    def check(self, batch: RecordBatch) -> None:
        """Warns, or raises FeatureError."""
        suspects = [self._requests[index] for index in batch._null_columns()]
        if self._with_default:
            suspects += self._null_defaults(batch)
        for request in suspects:
            self._report(request)

    def _null_defaults(self, batch: RecordBatch) -> list[_Request]:
        """The features with a default that no record has. Columns do not show where it was used."""
        found = self._dataset._feature_names.found
        unknown = [request for request in self._with_default if request.name not in found]
        if unknown and len(batch):
            numbers = batch.numbers[:_BATCH_COUNT].astype(np.uint64)
            found |= _names_in(self._dataset, numbers).context
        return [request for request in unknown if len(batch) and request.name not in found]

    def _report(self, request: _Request) -> None:
        name, is_list, has_default = request
        if self._missing == "warn" and (name, is_list) in self._warned:
            return
        names = self._dataset._feature_names.sampled(self._dataset)
        if name in names.of(is_list) and (has_default or self._always_samples):
            return
        kind = "feature list" if is_list else "feature"
        message = f"no record of the batch has the {kind} {name!r}"
        advice = _advice(request, names)
        if self._missing == "error":
            raise FeatureError(message, self._dataset.index_path, advice=advice)
        self._warned.add((name, is_list))
        warn_caller(f'{message}. {advice} (missing="ignore" silences this.)')


def _has_default(given: Any) -> bool:
    """Whether a feature, which may be one of tf.io, has a default."""
    value = getattr(given, "default", None)
    return value is not None or getattr(given, "default_value", None) is not None


def check_batch(
    batch: RecordBatch,
    dataset: Selectable,
    features: Mapping[str, Any],
    feature_lists: Mapping[str, Any] | None,
    missing: Missing,
) -> None:
    """Checks a batch that was parsed by one call. Warns once for each feature of a data set."""
    _validate(missing)
    if missing == "ignore":
        return
    if batch._null_columns() or any(map(_has_default, features.values())):
        warned = dataset._feature_names.warned
        _Check(dataset, features, feature_lists, missing, warned).check(batch)


class FirstBatchCheck:
    """A check of the first batch only, for loaders, and data sets of other frameworks.

    An error is raised for every batch until one passes.

    Args:
        always_samples: for data sets whose batches may be single samples: "error" looks at a sample
            of the data set, too.
    """

    def __init__(
        self,
        dataset: Selectable,
        features: Mapping[str, Any] | None,
        feature_lists: Mapping[str, Any] | None,
        missing: Missing,
        *,
        always_samples: bool = False,
    ) -> None:
        _validate(missing)
        self._check: _Check | None = None
        if missing != "ignore" and (features is not None or feature_lists is not None):
            self._check = _Check(
                dataset, features or {}, feature_lists, missing, set(), always_samples
            )

    def check(self, batch: RecordBatch) -> None:
        """Warns, or raises FeatureError. Does nothing after a batch with records has passed."""
        check = self._check
        if check is not None and len(batch):
            check.check(batch)
            self._check = None


def _advice(request: _Request, names: _Names) -> str:
    name, is_list, _ = request
    if name in names.of(is_list):
        return "Other records of the data set have it."
    if name in names.of(not is_list):
        return (
            "It is a feature of the context: request it there."
            if is_list
            else "It is a feature list: request it in feature_lists of parse_sequence or a loader."
        )
    near = _near_names(name, names.of(is_list))
    if near:
        return f"Did you mean {_quoted(near)}?"
    if not names.of(is_list):
        return f"The records have no {'feature lists' if is_list else 'features'}."
    return f"The records have {_quoted(sorted(names.of(is_list)))}."


def similar_names(name: str, dataset: Selectable) -> str:
    """Advice about a name that no record of a sample has; "" if some record has it."""
    names = dataset._feature_names.sampled(dataset)
    if name in names.context | names.lists or not names.context:
        return ""
    return _advice(_Request(name, False, False), names)


def advise_names(
    error: FeatureError,
    dataset: Selectable,
    features: Mapping[str, Any],
    feature_lists: Mapping[str, Any] | None,
) -> None:
    """Adds names like a missing feature's to the advice, unless some record has that feature."""
    names = dataset._feature_names.sampled(dataset)
    requests = _requests_of(features, False) + _requests_of(feature_lists or {}, True)
    for request in requests:
        known = names.of(request.is_list)
        is_unknown = bool(known) and request.name not in known
        if is_unknown and f"'{request.name}' is missing and has no default" in error.message:
            error.advice = f"{_advice(request, names)} If the name is right, give a default."


def _quoted(names: Iterable[str]) -> str:
    listed = list(names)
    more = ", ..." if len(listed) > _LISTED_COUNT else ""
    return ", ".join(map(repr, listed[:_LISTED_COUNT])) + more


def _near_names(name: str, names: Iterable[str]) -> list[str]:
    """Names that `name` may be a misspelling or a part of, the most similar first."""
    by_lower: dict[str, list[str]] = {}
    for other in sorted(names):
        by_lower.setdefault(other.lower(), []).append(other)
    import difflib  # only for messages

    near = difflib.get_close_matches(name.lower(), by_lower, n=5)
    near += [other for other in by_lower if other not in near and _is_part(name.lower(), other)]
    return [other for lower in near for other in by_lower[lower]][:5]


def _is_part(a: str, b: str) -> bool:
    return min(len(a), len(b)) > 2 and (a in b or b in a)
