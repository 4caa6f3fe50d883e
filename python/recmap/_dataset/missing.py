"""Features that no record has: a typo in a name would otherwise give an empty column in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from .._base.errors import Error, FeatureError
from .._base.names import near_names
from .._base.warn import warn_caller
from .._columns.record_batch import RecordBatch
from .._example.boxes import Boxes, visible_name_of
from .._example.features import (
    Feature,
    FixedLen,
    Ragged,
    Sliced,
    Sparse,
    feature_of,
)
from .._example.partitions import partition_row
from .._example.record_reader import RecordReader
from .feature_names import NO_NAMES, Names
from .selectable import Dataset as Selectable

__all__ = [
    "FirstBatchCheck",
    "Missing",
    "advise_names",
    "check_batch",
    "similar_names",
    "softened",
    "validate_missing",
]

Missing: TypeAlias = Literal["error", "warn", "ignore"]

_LISTED_COUNT = 20  # names listed in a message


def validate_missing(missing: str) -> None:
    if missing not in ("error", "warn", "ignore"):
        raise ValueError(f'missing must be "error", "warn" or "ignore", not {missing!r}')


def softened(missing: Missing, has_begun: bool) -> Missing:
    """What to do if the run may have begun: a rare feature must not stop it."""
    return "warn" if has_begun and missing == "error" else missing


class _Name(NamedTuple):
    """The name of a feature in the records."""

    text: str
    is_list: bool

    def is_in(self, names: Names) -> bool:
        return self.text in names.of(self.is_list)

    def __str__(self) -> str:
        return f"the feature {'list ' if self.is_list else ''}{self.text!r}"


class _Request(NamedTuple):
    """A requested feature."""

    column: str
    values: _Name
    others: tuple[_Name, ...]  # of coordinates and partitions
    is_required: bool  # a record without it is an error


def _requests_of_feature(column: str, feature: Feature, is_list: bool) -> list[_Request]:
    """One for each column of the feature."""
    if not isinstance(feature, Boxes):
        return [_request_of(column, feature, is_list)]
    first, *others = (_Name(key, is_list) for key in feature.keys)
    names = column, visible_name_of(column)
    return [_Request(name, first, tuple(others), is_required=False) for name in names]


def _request_of(column: str, feature: Any, is_list: bool) -> _Request:
    others: list[str] = []
    if isinstance(feature, Sparse):
        name = feature.value_key
        others = [feature.index_key] if isinstance(feature.index_key, str) else [*feature.index_key]
    else:
        name = column if feature.key is None else feature.key
    if isinstance(feature, Ragged):
        keys = [partition_row(partition)[1] for partition in feature.partitions]
        others = [key for key in keys if key is not None]
    has_default = isinstance(feature, FixedLen) and feature.default is not None
    is_required = isinstance(feature, (FixedLen, Sliced)) and not has_default
    more = tuple(_Name(other, is_list) for other in others)
    return _Request(column, _Name(name, is_list), more, is_required)


def _requests_of(
    features: Mapping[str, Any] | None, feature_lists: Mapping[str, Any] | None
) -> list[_Request]:
    return [
        request
        for part, is_list in ((features, False), (feature_lists, True))
        for column, given in (part or {}).items()
        for request in _requests_of_feature(column, feature_of(given), is_list)
    ]


class _Check:
    """Looks for requested features that no record of a parsed batch has.

    A feature that other records of the data set are known to have is only rare, and not reported.
    Nor is one with a default, which says that it may be missing.

    Args:
        dataset: the data set or view that the batches come from.
        features, feature_lists: what was requested.
        missing: whether to warn or to raise an error.
        warned: the features that no longer need a warning.
    """

    def __init__(
        self,
        dataset: Selectable,
        features: Mapping[str, Any] | None,
        feature_lists: Mapping[str, Any] | None,
        missing: Missing,
        warned: set[tuple[str, bool]],
    ) -> None:
        self.missing = missing
        self._dataset = dataset
        self._names = dataset._feature_names
        self._warned = warned
        self._requests = _requests_of(features, feature_lists)

    def check(self, batch: RecordBatch) -> bool:
        """Warns, or raises FeatureError. Returns whether rows of the batch were parsed."""
        has_rows = len(batch._failures()) < len(batch)
        try:
            found = self._missing_in(batch) if has_rows else self._missing_everywhere()
        except Error:  # records that nobody asked for cannot be read
            if self.missing == "error":
                raise
            return has_rows
        if found and self.missing == "error":
            self._raise(found)
        for name in found:
            self._warn(name)
        return has_rows

    def _missing_in(self, batch: RecordBatch) -> list[_Name]:
        """Features that neither a row of the batch nor another record is known to have."""
        suspects = [self._requests[index].values for index in batch._null_columns()]
        return [name for name in suspects if not self._is_known(name)]

    def _missing_everywhere(self) -> list[_Name]:
        """What a record needs, but none is known to have: perhaps why no row was parsed."""
        if self._names.sampled(self._dataset) == NO_NAMES:
            return []  # the records are something else
        needed = [request for request in self._requests if request.is_required or request.others]
        names = [name for request in needed for name in (request.values, *request.others)]
        return [name for name in names if not self._is_known(name)]

    def _is_known(self, name: _Name) -> bool:
        """Returns true if other records are known to have the feature, or it was warned of."""
        if self.missing == "warn" and name in self._warned:
            return True
        return self._names.has(self._dataset, name.text, name.is_list)

    def _raise(self, found: list[_Name]) -> NoReturn:
        names = self._names.sampled(self._dataset)
        message = f"no record of the batch has {' or '.join(map(str, found))}"
        advice = _advice(found[0], names, self._dataset)
        if len(found) > 1:
            advice = " ".join(
                f"{name.text!r}: {_advice(name, names, self._dataset)}" for name in found
            )
        advice += ' If the name is right, pass missing="ignore".'
        raise FeatureError(message, self._dataset.index_path, advice=advice)

    def _warn(self, name: _Name) -> None:
        self._warned.add(name)
        advice = _advice(name, self._names.sampled(self._dataset), self._dataset)
        warn_caller(
            f'no record of the batch has {name}. {advice} (missing="ignore" silences this.)'
        )


def check_batch(
    batch: RecordBatch,
    dataset: Selectable,
    features: Mapping[str, Any],
    feature_lists: Mapping[str, Any] | None,
    missing: Missing,
) -> None:
    """Checks a batch that was parsed by one call. Warns once for each feature of a data set."""
    validate_missing(missing)
    if missing == "ignore" or isinstance(features, RecordReader):
        return
    if batch._null_columns() or (len(batch) and len(batch._failures()) == len(batch)):
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
        validate_missing(missing)
        self._check: _Check | None = None
        has_features = features is not None or feature_lists is not None
        if missing != "ignore" and has_features and not isinstance(features, RecordReader):
            self._check = _Check(dataset, features, feature_lists, missing, set())

    def warn_only(self) -> None:
        """Warns where it would raise: a rare feature must not stop a run that is resumed."""
        if self._check is not None:
            self._check.missing = "warn"

    def check(self, batch: RecordBatch) -> None:
        """Warns, or raises FeatureError. Does nothing after a batch with parsed rows has passed."""
        check = self._check
        if check is not None and check.check(batch):
            self._check = None


def _guess(name: _Name, names: Names) -> str:
    """Advice that says what the name should perhaps be; "" if no other name is like it."""
    if _Name(name.text, not name.is_list).is_in(names):
        if name.is_list:
            return "It is not a feature list: request it in features, or in the context."
        return "It is a feature list: request it in feature_lists of parse_sequence or a loader."
    near = near_names(name.text, names.of(name.is_list))
    return f"Did you mean {_quoted(near)}?" if near else ""


def _advice(name: _Name, names: Names, dataset: Selectable) -> str:
    guess, known = _guess(name, names), names.of(name.is_list)
    if guess:
        return guess
    if not known:
        return f"The records have no {'feature lists' if name.is_list else 'features'}."
    listed, total = _quoted(sorted(known)), dataset._record_count()
    read_count = dataset._feature_names.read_count
    if read_count >= total:
        return f"The records have {listed}."
    return (
        f"A sample of {read_count} of the {total} records has {listed}; "
        "ds.schema(sample=None) reads all."
    )


def similar_names(text: str, dataset: Selectable) -> str:
    """Advice about a name that no record of a sample has; "" if some record has it."""
    names = _sampled_or_none(dataset)
    if text in names.context | names.lists or not names.context:
        return ""
    return _advice(_Name(text, False), names, dataset)


def advise_names(
    error: FeatureError,
    dataset: Selectable,
    features: Mapping[str, Any] | None,
    feature_lists: Mapping[str, Any] | None,
) -> None:
    """Advises similar names if the error is about a feature that no record of a sample has."""
    names = _sampled_or_none(dataset)
    for request in _requests_of(features, feature_lists):
        if not any(f"'{text}'" in error.message for text in (request.column, request.values.text)):
            continue
        for name in (request.values, *request.others):
            if names.of(name.is_list) and not name.is_in(names):
                _advise(error, name, names, dataset, len(request.others) > 0)
                return


def _advise(
    error: FeatureError, name: _Name, names: Names, dataset: Selectable, is_one_of_several: bool
) -> None:
    if "has no default" in error.message:
        error.advice = f"{_advice(name, names, dataset)} If the name is right, give a default."
        return
    guess = _guess(name, names)
    if guess:
        error.advice = f"{name.text!r}: {guess}" if is_one_of_several else guess


def _sampled_or_none(dataset: Selectable) -> Names:
    """The names in a sample; none if it cannot be read, so that the first error is still raised."""
    try:
        return dataset._feature_names.sampled(dataset)
    except Error:
        return NO_NAMES


def _quoted(names: Iterable[str]) -> str:
    listed = list(names)
    more = ", ..." if len(listed) > _LISTED_COUNT else ""
    return ", ".join(map(repr, listed[:_LISTED_COUNT])) + more
