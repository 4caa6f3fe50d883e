"""Features that no record has: a typo in a name would otherwise give an empty column in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._errors import Error, FeatureError
from .._example.features import Feature, FixedLen, Sparse, feature_of
from .._warn import warn_caller
from .feature_names import NO_NAMES, Names

if TYPE_CHECKING:
    from .._columns.record_batch import RecordBatch
    from .selectable import Selectable

__all__ = [
    "FirstBatchCheck",
    "Missing",
    "advise_names",
    "check_batch",
    "similar_names",
]

Missing: TypeAlias = Literal["error", "warn", "ignore"]

_LISTED_COUNT = 20  # names listed in a message


def _validate(missing: str) -> None:
    if missing not in ("error", "warn", "ignore"):
        raise ValueError(f'missing must be "error", "warn" or "ignore", not {missing!r}')


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

    A feature that other records of the data set are known to have is only rare, and not reported.

    Args:
        dataset: the data set or view that the batches come from.
        features, feature_lists: what was requested.
        missing: whether to warn or to raise an error.
        warned: the features that no longer need a warning.
    """

    def __init__(
        self,
        dataset: Selectable,
        features: Mapping[str, Any],
        feature_lists: Mapping[str, Any] | None,
        missing: Missing,
        warned: set[tuple[str, bool]],
    ) -> None:
        self.missing = missing
        self._dataset = dataset
        self._names = dataset._feature_names
        self._warned = warned
        self._requests = _requests_of(features, False)
        if feature_lists is not None:
            self._requests += _requests_of(feature_lists, True)
        self._with_default = [request for request in self._requests if request.has_default]

    def check(self, batch: RecordBatch) -> None:
        """Warns, or raises FeatureError."""
        for index in batch._null_columns():
            request = self._requests[index]
            if not self._is_settled(request) and not self._is_known(request):
                self._report(request)
        if self._with_default and len(batch._failures()) < len(batch):
            self._check_defaults(batch)

    def _check_defaults(self, batch: RecordBatch) -> None:
        """Columns do not show where a default was used: records are read again to see that."""
        numbers = None
        for request in self._with_default:
            if self._is_settled(request) or self._is_known(request):
                continue
            if numbers is None:
                numbers = batch.numbers.astype(np.uint64)
            if not self._names.has_in(self._dataset, numbers, request.name):
                self._report(request)

    def _is_settled(self, request: _Request) -> bool:
        return self.missing == "warn" and (request.name, request.is_list) in self._warned

    def _is_known(self, request: _Request) -> bool:
        return self._names.has(self._dataset, request.name, request.is_list)

    def _report(self, request: _Request) -> None:
        kind = "feature list" if request.is_list else "feature"
        message = f"no record of the batch has the {kind} {request.name!r}"
        advice = _advice(request, self._names.sampled(self._dataset))
        if self.missing == "error":
            advice += ' If the name is right, pass missing="ignore".'
            raise FeatureError(message, self._dataset.index_path, advice=advice)
        self._warned.add((request.name, request.is_list))
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
    """

    def __init__(
        self,
        dataset: Selectable,
        features: Mapping[str, Any] | None,
        feature_lists: Mapping[str, Any] | None,
        missing: Missing,
    ) -> None:
        _validate(missing)
        self._check: _Check | None = None
        if missing != "ignore" and (features is not None or feature_lists is not None):
            self._check = _Check(dataset, features or {}, feature_lists, missing, set())

    def warn_only(self) -> None:
        """Warns where it would raise: a rare feature must not stop a run that is resumed."""
        if self._check is not None:
            self._check.missing = "warn"

    def check(self, batch: RecordBatch) -> None:
        """Warns, or raises FeatureError. Does nothing after a batch with records has passed."""
        check = self._check
        if check is not None and len(batch):
            check.check(batch)
            self._check = None


def _advice(request: _Request, names: Names) -> str:
    name, is_list, _ = request
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
    names = _sampled_or_none(dataset)
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
    names = _sampled_or_none(dataset)
    requests = _requests_of(features, False) + _requests_of(feature_lists or {}, True)
    for request in requests:
        known = names.of(request.is_list)
        is_unknown = bool(known) and request.name not in known
        if is_unknown and f"'{request.name}' is missing and has no default" in error.message:
            error.advice = f"{_advice(request, names)} If the name is right, give a default."


def _sampled_or_none(dataset: Selectable) -> Names:
    """The names in a sample; none if it cannot be read, which must not hide the error at hand."""
    try:
        return dataset._feature_names.sampled(dataset)
    except Error:
        return NO_NAMES


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
