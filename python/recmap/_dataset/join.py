"""Records of several data sets, matched by their ids."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from .._base.errors import Error, IdNotFoundError
from .._base.names import suggest_arguments
from .._base.numbers import Int64s, Numbers, UInt64s, as_mask_or_items, row_of
from .._base.plural import counted
from .._base.warn import warn_caller
from .._columns import ColumnBatch
from .._example.decode import decode_example
from .._example.draws import draws_of
from .._example.features import Features
from .._options.options import ConcatOptions
from .collation import refuse_own_collation
from .dataset import Dataset
from .missing import Missing

__all__ = ["Joined", "check_joined", "features_of_sides", "join", "warn_of_bytes"]

JoinMissing: TypeAlias = Literal["drop", "null", "error"]


class Joined:
    """Rows of records with the same id, one of each data set. Created by `recmap.join`.

    ``joined[i]`` is row i: {name: record}. Slices, lists and masks give fewer or other rows.
    """

    def __init__(
        self, datasets: Mapping[str, Dataset], positions: Mapping[str, Int64s | None]
    ) -> None:
        self._datasets = dict(datasets)
        # None if row i has item i of the data set, for all items: such an array is made only when
        # somebody asks for it.
        self._positions = dict(positions)

    @property
    def positions(self) -> dict[str, Int64s]:
        """{name: the position in that data set of each row's record, -1 if it has none}."""
        return {name: self._positions_in(name) for name in self._datasets}

    def _positions_in(self, name: str) -> Int64s:
        positions = self._positions[name]
        if positions is None:
            positions = np.arange(len(self), dtype=np.int64)
            self._positions[name] = positions
        return positions

    @property
    def views(self) -> dict[str, Dataset]:
        """{name: a view of that data set with the record of each row}: views of equal length.

        Loaders over them with the same order give batches of the same rows.

        Raises:
            ValueError: a row lacks a record, which only ``missing="null"`` allows.
        """
        return {name: self._view(name) for name in self._datasets}

    def _view(self, name: str) -> Dataset:
        positions = self._positions_in(name)
        if (positions < 0).any():
            raise ValueError(
                f"rows without a record of {name!r} have no view: join with missing='drop', or "
                f"select the rows first, as in joined[joined.positions[{name!r}] >= 0]"
            )
        return self._datasets[name].select(positions)

    def __len__(self) -> int:
        name, positions = next(iter(self._positions.items()))
        return len(self._datasets[name] if positions is None else positions)

    @overload
    def __getitem__(self, index: SupportsIndex) -> dict[str, memoryview | None]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: slice | list[int] | range | npt.NDArray[Any]) -> Joined: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (slice, list, range)) or getattr(index, "ndim", None):
            return self._rows(index)
        return {name: self._record(name, index) for name in self._datasets}

    def __getitems__(self, rows: list[int]) -> list[dict[str, bytes | None]]:
        """The rows as bytes, for ``DataLoader(joined, collate_fn=...)`` of PyTorch.

        Raises:
            TypeError: the DataLoader has PyTorch's own collation, which does not parse records.
        """
        refuse_own_collation(
            sys._getframe(1),
            "`for batch in recmap.torch.JoinedLoader(joined, batch_size, features=features)`",
        )
        chosen = self._rows(rows)
        sides = {name: chosen._records_of(name) for name in self._datasets}
        return [dict(zip(sides, row, strict=True)) for row in zip(*sides.values(), strict=True)]

    def _records_of(self, name: str) -> list[bytes | None]:
        """The record of each row in that data set, read at once."""
        positions = self._positions_in(name)
        rows = np.flatnonzero(positions >= 0)
        records: list[bytes | None] = [None] * len(positions)
        for row, record in zip(rows, self._datasets[name].gather(positions[rows]), strict=True):
            records[row] = bytes(record)
        return records

    def _rows(self, index: Any) -> Joined:
        if not isinstance(index, slice):
            index = as_mask_or_items(index, len(self))
        rows = {name: self._chosen_positions(name, index) for name in self._datasets}
        return Joined(self._datasets, rows)

    def _chosen_positions(self, name: str, index: Any) -> Int64s:
        positions = self._positions[name]
        if positions is not None:
            chosen: Int64s = positions[index]
            return chosen
        if isinstance(index, slice):
            return np.arange(*index.indices(len(self)), dtype=np.int64)
        return np.array(index, np.int64)

    def _record(self, name: str, index: SupportsIndex) -> memoryview | None:
        positions = self._positions[name]
        row = row_of(index, len(self))
        position = row if positions is None else int(positions[row])
        return None if position < 0 else self._datasets[name][position]

    def __iter__(self) -> Iterator[dict[str, memoryview | None]]:
        return (self[i] for i in range(len(self)))

    @suggest_arguments
    def parse(
        self,
        rows: Numbers,
        features: Mapping[str, Features],
        *,
        on_bad_record: Literal["error", "collect"] = "error",
        missing: Missing = "warn",
        threads: int = 0,
        seed: int | None = None,
        epoch: int | None = None,
        positions: Numbers | None = None,
    ) -> dict[str, ColumnBatch]:
        """Reads rows and parses them: {name: {feature: column}}.

        Args:
            rows: as the items of `Dataset.parse`.
            features: {name: features} for each data set to read.
            on_bad_record, missing, threads: as for `Dataset.parse`.
            seed, epoch, positions: as for `Dataset.parse`. Random images of all data sets depend on
                the record of the first one, as in a `JoinedLoader`.
        """
        wanted, chosen = features_of_sides(self, features), self._rows(rows)
        draws = draws_of(seed, epoch, positions)
        if draws is not None:
            draws = draws._replace(numbers=chosen._draw_numbers())
        rest = draws, on_bad_record, missing, threads
        return {
            name: chosen._view(name)._parse_columns(slice(None), of_side, *rest)
            for name, of_side in wanted.items()
        }

    def _draw_numbers(self) -> UInt64s:
        """What random images of each row depend on: the number of the first data set's record."""
        first = next(iter(self._datasets))
        return self._datasets[first]._record_numbers(self._positions_in(first))

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._datasets))
        return f"<recmap.Joined of {names}: {counted(len(self), 'row')}>"


@suggest_arguments
def join(
    datasets: Mapping[str, Dataset], by: Literal["id"] = "id", missing: JoinMissing = "drop"
) -> Joined:
    """Matches the records of several data sets by their ids. No data is copied.

    The rows are in the order of the first data set, and have one record of each. If an id is
    repeated in another data set, its first record is taken; if it is repeated in the first one,
    each of its records is a row. Ids are matched by their hashes in the indexes; then the ids of
    all rows are read and compared, on all cores. Of a damaged record, the hash alone is compared,
    so that its row is there for ``JoinedLoader(on_bad_record=...)`` to judge. Warns if a data set
    has no record that matches. The result takes 8 bytes a row and data set; for
    the first data set none, as long as no row is left out and nobody asks for its positions. The
    work takes 1 to 3 bytes a row, and 40 MB; for another data set that is a view by numbers, also
    8 bytes for each record of the whole data set.

    Args:
        datasets: {name: data set or view}, at least two, whose indexes have ids.
        by: only "id".
        missing: what to do about an id of the first data set that another one lacks. "drop" leaves
            the row out, "null" keeps it without that record, "error" raises IdNotFoundError.

    Raises:
        IdNotFoundError: with ``missing="error"``, a record has no match.
        ValueError: an index has no ids, or has ids that a callback in C read.

    >>> ds = digits()
    >>> joined = recmap.join({"all": ds, "threes": ds.where("label == 3")})
    >>> len(joined), bytes(joined[0]["all"]) == bytes(joined[0]["threes"])
    (183, True)
    >>> joined.parse([0, 1], {"threes": {"label": recmap.FixedLen((), "int64")}})["threes"]["label"]
    array([3, 3])
    """
    _check_arguments(datasets, by, missing)
    (first_name, first), *others = datasets.items()
    found = {name: other._positions_of_records(first) for name, other in others}
    joined = Joined(datasets, {first_name: None, **found})
    for name, positions in found.items():
        if missing != "error" and not (positions >= 0).any():
            _warn_of_nothing(first_name, first, name, datasets[name])
    if missing == "null":
        return joined
    complete = functools.reduce(np.logical_and, (positions >= 0 for positions in found.values()))
    if complete.all():
        return joined
    if missing == "error":
        raise _unmatched(first_name, first, int(np.argmin(complete)), found)
    return joined._rows(complete)


def _warn_of_nothing(first_name: str, first: Dataset, name: str, other: Dataset) -> None:
    """Ids of another type or form are the usual reason, and an example of each shows it."""
    if not len(first) or not len(other):
        return
    examples = [
        f"{side!r} has ids such as {example}"
        for side, dataset in ((first_name, first), (name, other))
        if (example := _example_of_id(dataset))
    ]
    warn_caller(
        "; ".join([f"no id of {first_name!r} is in {name!r}, so no row has both", *examples])
    )


def _example_of_id(dataset: Dataset) -> str:
    """The id of the first record; "" if that is not known."""
    try:
        values = decode_example(dataset[0])[str(dataset._id_name())]
    except (Error, KeyError):
        return ""
    value = values[0] if len(values) else ""
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else value
    return repr(text if isinstance(text, str) else int(text))


def _without_ids(name: str, dataset: Dataset) -> str:
    if isinstance(dataset._options, ConcatOptions):
        return (
            f"the parts of {name!r} do not all have ids of one feature: open the shards of each "
            f"with the same id="
        )
    return f"the index of {name!r} has no ids: open its shards with id="


def _check_arguments(datasets: Mapping[str, Dataset], by: str, missing: str) -> None:
    if not isinstance(datasets, Mapping) or len(datasets) < 2:
        raise TypeError(
            "join needs a dict of at least two data sets, such as "
            'recmap.join({"images": images, "captions": captions}, by="id")'
        )
    for name, dataset in datasets.items():
        if not isinstance(dataset, Dataset):
            raise TypeError(f"{name!r} is not a data set; see recmap.open")
        if dataset._id_name() is None:
            raise ValueError(_without_ids(name, dataset))
        dataset._find_all("")  # raises if a callback in C read the ids, which are unknown here
    if by != "id":
        raise ValueError(f'by must be "id", not {by!r}')
    if missing not in ("drop", "null", "error"):
        raise ValueError(f'missing must be "drop", "null" or "error", not {missing!r}')


def _unmatched(name: str, first: Dataset, row: int, found: Mapping[str, Int64s]) -> IdNotFoundError:
    lacking = next(other for other, positions in found.items() if positions[row] < 0)
    return IdNotFoundError(
        f"{lacking!r} has no record with the id of record {first.numbers[row]} of {name!r}",
        first.index_path,
        advice="Pass missing='drop' to leave such records out, or missing='null' to keep them.",
    )


def check_joined(joined: object) -> None:
    """Raises unless `joined` is the result of `recmap.join`."""
    if not isinstance(joined, Joined):
        raise TypeError(f"joined must be what recmap.join returned, not {joined!r}")


def features_of_sides(
    joined: Joined, features: Mapping[str, Features | None] | None
) -> dict[str, Features]:
    """{name: features} of those data sets of the join whose records are parsed."""
    if unknown := [name for name in features or {} if name not in joined._datasets]:
        names = ", ".join(joined._datasets)
        raise ValueError(f"features has {unknown[0]!r}, but the join has {names}")
    return {name: given for name, given in (features or {}).items() if given is not None}


def warn_of_bytes(joined: Joined, features: Mapping[str, Features | None] | None) -> None:
    """Warns if features are given, but not for all data sets, so that a batch has both."""
    lacking = [name for name in joined._datasets if name not in features] if features else []
    if lacking:
        warn_caller(
            f"features lacks {lacking[0]!r}, so its records are given as bytes: pass its features, "
            f"or {{{lacking[0]!r}: None}} if that is intended"
        )
