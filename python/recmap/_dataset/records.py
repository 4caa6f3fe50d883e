"""The records: reading, parsing, finding and comparing them."""

from __future__ import annotations

import contextlib
import sys
from collections import abc
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from .. import _recmap
from .._base.errors import CorruptRecordError, Error, FeatureError, IdNotFoundError
from .._base.names import suggest_arguments
from .._base.numbers import Int64s, Numbers, ids_to_find, natural
from .._columns import ColumnBatch, columns_of, sequence_columns_of
from .._columns.record_batch import RecordBatch
from .._display.progress import Progress, shown
from .._example.draws import Draws, draws_of
from .._example.features import Features, parser_of
from .collation import refuse_own_collation
from .id_hashes import HashMatch
from .lifted import Columns
from .missing import Missing, advise_names, check_batch
from .selectable import Dataset as Selectable

__all__ = ["Dataset"]

# A join matches this many rows at a time, or an eighth of them if that is more.
_BLOCK_ROWS = 1 << 21


class Dataset(Selectable):
    """The records of a data set or view, many at a time."""

    @suggest_arguments
    def gather(self, items: Numbers, *, threads: int = 0) -> RecordBatch:
        """Reads many records at once, in the order given. Numbers may repeat.

        Several times faster than reading them one by one.

        Args:
            items: a list, range, slice or array of integers; negative ones count from the end.
            threads: how many threads read the records. 0: one per core for 1,024 records or about
                1 MiB and more, else one. The result is the same for any number.

        Raises:
            IndexError: a number is out of range.
            CorruptRecordError: the CRC of a record does not match.

        >>> [len(record) for record in digits().gather([5, 1, 5])]
        [120, 120, 120]
        """
        threads = natural("threads", threads)
        return cast(RecordBatch, self._gather(self._record_numbers(items), threads))

    def __getitems__(self, items: list[int]) -> list[bytes]:
        """The records as bytes, for ``DataLoader(ds, collate_fn=...)`` of PyTorch.

        Raises:
            TypeError: the DataLoader has PyTorch's own collation, which does not parse records.
        """
        refuse_own_collation(
            sys._getframe(1),
            "`for batch in recmap.torch.Loader(ds, batch_size, features=features)`, or "
            "DataLoader(recmap.torch.MapDataset(ds, features), batch_size, "
            "collate_fn=recmap.torch.collate). Without features, MapDataset gives bytes",
        )
        return [bytes(record) for record in self.gather(items)]

    @suggest_arguments
    def parse(
        self,
        items: Numbers,
        features: Features,
        *,
        on_bad_record: Literal["error", "collect"] = "error",
        missing: Missing = "warn",
        threads: int = 0,
        seed: int | None = None,
        epoch: int | None = None,
        positions: Numbers | None = None,
    ) -> ColumnBatch:
        """Reads many records and parses their features into columns, in C: {name: column}.

        Args:
            items: see `gather`.
            features: {name: FixedLen(...), VarLen(...), ...}, or features of tf.io. Other features
                of the records are skipped without being decoded.
            on_bad_record: "collect" leaves the rows of records that are damaged or cannot be parsed
                null and lists them in ``failures``.
            missing: what to do about a feature that no record of the batch has, which is usually a
                misspelt name: "warn" warns once per data set and "error" raises FeatureError, both
                with similar names; "ignore" gives an empty column. Neither happens if the feature
                has a default, or if a sample of up to 1,000 records of the whole data set has it.
            threads: how many threads read and parse. 0: one per core for 1,024 records or about
                1 MiB and more, else one. The result is the same for any number.
            seed, epoch: of a run, to get the same crops and flips of `Image` as its loader.
            positions: of the records in the epoch, for orders that may repeat records.

        Raises:
            FeatureError: a record's features do not match, or ``missing="error"`` found a feature
                missing.
            CorruptRecordError: a record is damaged, or is not a tf.Example.

        >>> digits().parse([5, 1], {"label": recmap.FixedLen((), "int32")})["label"]
        array([5, 1], dtype=int32)
        """
        if isinstance(items, Mapping):
            raise TypeError("parse takes the numbers of records first: ds.parse([0, 1], features)")
        draws = draws_of(seed, epoch, positions)
        return self._parse_columns(items, features, draws, on_bad_record, missing, threads)

    def _parse_columns(
        self,
        items: Numbers,
        features: Features,
        draws: Draws | None,
        on_bad_record: str = "error",
        missing: Missing = "warn",
        threads: int = 0,
    ) -> ColumnBatch:
        with self._advised(features):
            batch = self._parsed(
                items, parser_of(features, None, self._header()), on_bad_record, threads, draws
            )
        check_batch(batch, self, features, None, missing)
        return columns_of(batch)

    @suggest_arguments
    def parse_sequence(
        self,
        items: Numbers,
        context: Features,
        feature_lists: Features,
        *,
        on_bad_record: Literal["error", "collect"] = "error",
        missing: Missing = "warn",
        threads: int = 0,
        seed: int | None = None,
        epoch: int | None = None,
        positions: Numbers | None = None,
    ) -> tuple[ColumnBatch, ColumnBatch]:
        """Parses records of tf.SequenceExample: the columns of the context and the feature lists.

        In feature lists, ``FixedLenSequence`` takes one step from each feature of a list, and
        ``VarLen`` gives rows of steps of values. A step whose feature has no kind is an empty step,
        not null. `missing`, `seed` and the other arguments are as for `parse`.
        """
        parser, draws = parser_of(context, feature_lists), draws_of(seed, epoch, positions)
        with self._advised(context, feature_lists):
            batch = self._parsed(items, parser, on_bad_record, threads, draws)
        check_batch(batch, self, context, feature_lists, missing)
        return sequence_columns_of(batch, parser.context_count())

    @contextlib.contextmanager
    def _advised(self, features: Features, feature_lists: Features | None = None) -> Iterator[None]:
        """Lets errors about missing features advise similar names."""
        try:
            yield
        except FeatureError as error:
            advise_names(error, self, features, feature_lists)
            raise

    def _parsed(
        self,
        items: Numbers,
        parser: _recmap.Parser,
        on_bad_record: str,
        threads: int = 1,
        draws: Draws | None = None,
    ) -> RecordBatch:
        if on_bad_record not in ("error", "collect"):
            raise ValueError(f'on_bad_record must be "error" or "collect", not {on_bad_record!r}')
        numbers, threads = self._record_numbers(items), natural("threads", threads)
        collects = on_bad_record == "collect"
        return cast(RecordBatch, self._parse(parser, numbers, collects, threads, draws))

    def find(self, id: str | bytes | int) -> int:
        """The position of the record with this id: ``data_set[data_set.find(id)]`` is that record.

        The first one if the id is repeated. In the whole data set, positions are record numbers. In
        a view, they are positions in the view, and ``view.numbers`` maps them to record numbers.

        Raises:
            KeyError: no record of the data set or view has this id.
            ValueError: the index has no ids.

        >>> digits().find("digit-00042"), digits()[40:].find("digit-00042")
        (42, 2)
        """
        number = self._find_number(id)
        if self._whole:
            return number
        positions = self.find_all(id)
        if not positions:
            raise IdNotFoundError(
                f"this view does not contain the id {id!r}: it is the id of record {number}",
                self.index_path,
                advice="Search the whole data set instead of the view.",
            )
        return positions[0]

    def _find_number(self, id: str | bytes | int) -> int:
        """The number of the first record with this id. The error also names a record that has the
        id as the other type, integer or text."""
        try:
            return self._find(id)
        except IdNotFoundError as error:
            is_integer = not isinstance(id, (str, bytes))
            with contextlib.suppress(Error, ValueError, OverflowError):
                other: str | int = str(id) if is_integer else int(id)
                self._find(other)
                kind = "text" if is_integer else "integer"
                error.advice = f"a record has this id as {kind}: pass {other!r}"
            raise

    def find_all(self, id: str | bytes | int) -> list[int]:
        """The positions of all records with this id, ascending; [] if there are none."""
        numbers = self._find_all(id)
        if self._whole:
            return numbers
        return self._selection.positions_of(numbers)

    def find_many(self, ids: Iterable[str | bytes | int] | npt.NDArray[Any]) -> Int64s:
        """The position of the record with each of these ids; -1 for ids that are absent.

        Like `find` for each id, but many times faster: the ids are sorted, and their records, in
        which they are compared, are read in file order, on all cores. An array of integers is
        faster than a list, which becomes Python objects. The call releases the GIL, and Ctrl-C
        stops it. It takes 56 bytes of memory an id, for a million ids at a time; a view by
        numbers takes 8 more per record of the whole data set.

        Raises:
            TypeError: an id is not a str, bytes or int.
            ValueError: the index has no ids.

        >>> digits().find_many(["digit-00042", b"digit-00007", "unknown"])
        array([42,  7, -1])
        """
        if isinstance(ids, (str, bytes)):
            raise TypeError(f"ids must be a list or array of ids, not {type(ids).__name__}")
        items = ids_to_find(ids)
        out = np.empty(len(items), np.int64)
        self._find_many(items, out, self._selection.position_table(self._record_count()))
        return out

    def _positions_of_records(self, source: Selectable) -> Int64s:
        """The position of the record with the id of each item of another data set; -1 if absent.

        Of damaged records, only the hashes of their ids are compared.
        """
        count = len(source)
        out = np.empty(count, np.int64)
        table = self._selection.position_table(self._record_count())
        block = max(_BLOCK_ROWS, count // 8)
        hashes = HashMatch(self, source)
        for first in range(0, count, block):
            rows = slice(first, min(first + block, count))
            numbers = source._selection.slice(rows).records()
            self._match_records(source, numbers, out[rows], table, hashes)
        return out

    def _match_records(
        self,
        source: Selectable,
        numbers: Int64s,
        out: Int64s,
        table: Int64s | None,
        hashes: HashMatch,
    ) -> None:
        """Writes the positions of these records of the source to `out`.

        A damaged record has no id that could be compared. So rows are halved until it is alone.
        """
        try:
            self._find_records(source, numbers, out, table)
        except CorruptRecordError:
            if len(numbers) == 1:
                out[0] = hashes.position_of(int(numbers[0]))
                return
            for half in np.array_split(np.arange(len(numbers)), 2):
                rows = slice(half[0], half[-1] + 1)
                self._match_records(source, numbers[rows], out[rows], table, hashes)

    @suggest_arguments
    def duplicates(self, by: str = "content", *, progress: Progress = "auto") -> Int64s:
        """Which records equal an earlier one, as ``recmap duplicates`` prints: int64 array [n, 2].

        A row has the positions of a record and of the first record that it equals. 128-bit
        hashes are compared, in one pass over the records that takes 64 bytes of memory for each.

        Args:
            by: what is compared: "content", the whole records; "id", their ids, for which only
                records whose ids may repeat are read; or the name of a feature or of an annotated
                column. Records without the value equal none.
            progress: see `recmap.open`.

        Raises:
            ValueError: `by` is "id", and the index has no ids, or the parts of a concatenation do
                not all have ids of one feature.
            FeatureError: no record has the feature.

        >>> ds = recmap.concat([digits(), digits()[:2]])
        >>> ds.duplicates()
        array([[1797,    0],
               [1798,    1]])
        """
        firsts = self._firsts(by, progress)
        positions = np.flatnonzero(firsts != np.arange(len(self)))
        return np.stack([positions, firsts[positions]], axis=1)

    @suggest_arguments
    def without_duplicates(self, by: str = "content", *, progress: Progress = "auto") -> Self:
        """A view without the records that equal an earlier one: the first of equal ones is kept.

        Args:
            by: what is compared, as for `duplicates`: "content" or "bytes", the whole records;
                "id", their ids; or the name of a feature or of an annotated column. Records
                without the value equal none, so all of them are kept.
            progress: see `recmap.open`.

        Raises:
            ValueError: `by` is "id", and the index has no ids, or the parts of a concatenation do
                not all have ids of one feature.
            FeatureError: no record has the feature.

        >>> len(recmap.concat([digits(), digits()[:2]]).without_duplicates())
        1797
        """
        firsts = self._firsts("content" if by == "bytes" else by, progress)
        return self.select(firsts == np.arange(len(self)))

    def _firsts(self, by: str, progress: Progress) -> Int64s:
        """For each record, the position of the first one that equals it."""
        if not isinstance(by, str):
            raise TypeError(f"by must be a str, not {type(by).__name__}")
        if by in self._annotated_columns():
            return _first_equal(Columns(self)[by])
        feature = None if by in ("content", "id") else by
        numbers = np.ascontiguousarray(self._selection.records().view(np.uint64))
        firsts = np.empty(len(self), np.int64)
        with shown(progress, "comparing") as call:
            self._find_duplicates(firsts, numbers, feature, by == "id", call)
        return firsts

    def __contains__(self, value: object) -> bool:
        """Returns true if a record equals `value`. Reads record by record.

        Raises:
            TypeError: `value` is a str, which no record equals.
        """
        if isinstance(value, str):
            raise TypeError("records are bytes; to look for an id, use ds.find(id)")
        return any(record == value for record in self)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """The position of the first record that equals `value`. Reads record by record."""
        return abc.Sequence.index(cast(Any, self), value, start, cast(int, stop))

    def count(self, value: object) -> int:
        """The number of records that equal `value`. Reads all records."""
        return sum(record == value for record in self)


def _first_equal(values: npt.NDArray[Any]) -> Int64s:
    """For each value, the position of the first equal one. Nulls and NaN equal none."""
    firsts = np.arange(len(values), dtype=np.int64)
    valid = np.flatnonzero(~np.ma.getmaskarray(values))
    data = np.ma.getdata(values)[valid]
    _, first, inverse = np.unique(data, return_index=True, return_inverse=True, equal_nan=False)
    firsts[valid] = valid[first[inverse]]
    return firsts
