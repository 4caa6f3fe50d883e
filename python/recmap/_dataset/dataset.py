"""Data sets, and views of them."""

from __future__ import annotations

import json
import operator
import os
from collections import abc
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, cast, overload

import numpy as np
import numpy.typing as npt

from .. import _recmap
from .._columns import ColumnBatch, columns_of, sequence_columns_of
from .._columns.record_batch import RecordBatch, register_sequence
from .._display.progress import Progress, shown
from .._display.text import joined, size_text
from .._errors import IdNotFoundError, StaleIndexError
from .._example.features import Feature, Features, features_of_schema, parser_of
from .._numbers import Int64s, Numbers, UInt64s, as_items, as_mask_or_items, cuts_of, ids_to_find
from .._options.options import ConcatOptions, Counted, Lifts, OpenOptions, Path, size_of
from .._order.orders import Shuffled
from .._warn import warn_caller
from .annotate import Key, changes_of
from .counts import Counts, ElementCounts
from .lifted import Columns
from .missing import FeatureNames, Missing, check_batch
from .partition import masks_of
from .selection import Selection
from .view import fingerprint_of, info_of, verify_records

if TYPE_CHECKING:
    from .._display.tables import Table

__all__ = ["Columns", "Dataset", "RecordBatch"]


class Dataset(_recmap.Dataset):
    """Random access to records by number or by id. Created by `recmap.open`.

    ``data_set[i]`` is a read-only memoryview into the mapped shard, with its CRC checked and
    without a copy. The view keeps the shard mapped, even after the data set is closed or collected.
    Slices, lists of positions and `select` give views, which are data sets too.

    Safe to use from many threads, and in a child process after a fork. Pickling stores the path and
    the options: unpickling opens the index again, so it must be reachable there.
    """

    _options: OpenOptions | ConcatOptions
    _selection: Selection
    _whole: bool  # the items are all records, in order
    _columns_read: dict[str, npt.NDArray[Any]]  # shared by all views
    _feature_names: FeatureNames  # shared by all views
    _counts_read: dict[str, ElementCounts]  # shared by all views

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        @overload
        def __getitem__(self, index: SupportsIndex) -> memoryview: ...  # type: ignore[overload-overlap]
        @overload
        def __getitem__(self, index: slice | list[int] | range | npt.NDArray[Any]) -> Dataset: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[memoryview]: ...
        @property
        def closed(self) -> bool:
            """Whether close() was called."""
            ...

    @classmethod
    def _open(cls, options: OpenOptions | ConcatOptions) -> Dataset:
        handle = options.open_handle()
        count = _recmap.Dataset(handle, 0, 0, 1, None)._record_count()
        return cls._create(handle, options, Selection(0, count, 1, None), {}, FeatureNames(), {})

    @classmethod
    def _create(
        cls,
        handle: _recmap.Handle,
        options: OpenOptions | ConcatOptions,
        selection: Selection,
        columns_read: dict[str, npt.NDArray[Any]],
        feature_names: FeatureNames,
        counts_read: dict[str, ElementCounts],
    ) -> Dataset:
        dataset = cls(handle, *selection)
        dataset._options = options
        dataset._selection = selection
        dataset._whole = selection.is_whole(dataset._record_count())
        dataset._columns_read = columns_read
        dataset._feature_names = feature_names
        dataset._counts_read = counts_read
        return dataset

    # ---- Views.

    def _view(self, key: object) -> Dataset:
        """``data_set[key]`` if the key is not an integer. The extension calls this."""
        if isinstance(key, slice):
            return self._select(self._selection.slice(key))
        if isinstance(key, (list, range, np.ndarray)):
            return self.select(key)
        raise TypeError(
            "an index must be an integer, a slice, a list or array of integers, or a mask, not "
            f"{type(key).__name__}"
        )

    def _select(self, selection: Selection) -> Dataset:
        shared = self._columns_read, self._feature_names, self._counts_read
        return type(self)._create(self._handle, self._options, selection, *shared)

    def _is_whole(self) -> bool:
        return self._whole

    def select(self, items: Numbers | npt.ArrayLike) -> Dataset:
        """A view of some records: by their numbers in this data set, or by a mask of its length.

        >>> ds = digits()
        >>> threes = ds.select(ds.columns["label"] == 3)
        >>> set(threes.columns["label"].tolist())
        {3}
        """
        numbers = self._selection.records_at(as_mask_or_items(items, len(self)))
        numbers.flags.writeable = False
        return self._select(Selection(0, len(numbers), 1, numbers))

    def where(self, expression: str) -> Dataset:
        """A view of the records for which an expression over lifted columns is true.

        Args:
            expression: comparisons (``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not
                in``) of columns with values or with each other, combined with ``and``, ``or`` and
                ``not``. ``length`` is the size of a record in bytes; ``columns["a/b"]`` is a column
                whose name is not a Python name. A str is compared as UTF-8. The expression is never
                run as code; docs/select.md specifies it.

        Raises:
            ValueError: the expression is invalid, or compares text with numbers.
            KeyError: the index has no such column.

        >>> set(digits().where("label in (3, 4) and length < 1000").columns["label"].tolist())
        {3, 4}
        """
        if not isinstance(expression, str):
            raise TypeError(f"the expression must be a str, not {type(expression).__name__}")
        mask = np.empty(self._record_count(), np.bool_)
        self._match(expression, mask)
        return self.select(self._selection.take(mask))

    def annotate(
        self,
        columns: Any = MappingProxyType({}),
        on: Key | None = None,
        *,
        default: Mapping[str, object] = MappingProxyType({}),
        drop: Iterable[str] = (),
        rename: Mapping[str, str] = MappingProxyType({}),
        progress: Progress = "auto",
    ) -> Dataset:
        """Adds columns to the index, without reading a shard, and returns this data set.

        The index is rewritten and replaced. This data set has the new columns at once; others that
        are open, also views of this one, keep reading the index as it was.

        Args:
            columns: {name: values}. The values are a mapping from keys to values; a tuple of keys
                and values; an array or a list with one value for each record, in their order; or
                the path of a CSV, TSV, JSON lines or NumPy file. With another column named as `on`,
                all columns are arrays, and that one has the keys. Tables of pandas, polars and
                Arrow are such columns. None is a missing value.
            on: what a key is: the "id" or the "number" of a record. By default a number, and for a
                file its field id, if it has one.
            default: {name: value} for records without a value. Without it, such a record is an
                error.
            drop: names of columns to remove first.
            rename: {old name: new name}, after that.

        A column is of type int64, float32 or bytes (texts are stored as UTF-8, at most 255 bytes).

        Raises:
            ValueError: a key occurs twice, or no record has it; a record has no value and there is
                no default; or the data set is a view or a concatenation.
            KeyError: there is no column to drop or rename.

        >>> ds = recmap.open("data/digits", id="id", index=folder / "labelled.rmx")
        >>> ds = ds.annotate({"score": {"digit-00042": 0.5}}, on="id", default={"score": 0})
        >>> ds.where("score > 0").numbers
        array([42])
        """
        if not self._whole:
            raise ValueError("a view has no index of its own: annotate the whole data set")
        changes = changes_of(columns, on, default, drop, rename, len(self))
        with shown(progress, "annotating") as call:
            self._annotate(changes, call)
        self._use_handle(self._options.open_handle())
        self._columns_read = {}
        return self

    def save(self, path: Path) -> None:
        """Writes which records this view has, and in which order, to a small file (NAME.rmv).

        ``recmap.open(path)`` opens the view again, and every ``recmap`` command takes the file in
        place of an index. It stays valid when shards are appended, and is refused for another or a
        changed data set. docs/selection-format.md specifies it.

        Raises:
            InvalidError: this is a view of a concatenation, which has no index of its own; or the
                path does not end in ``.rmv``.

        >>> digits().where("label == 3").save(folder / "threes.rmv")
        >>> len(recmap.open(folder / "threes.rmv", allow_absolute_paths=True))
        183
        """
        numbers = np.ascontiguousarray(self._selection.records().view(np.uint64))
        self._save_selection(os.fspath(path), numbers)

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """A view of n random records, each at most once, in their order in this data set.

        >>> len(digits().sample(100, seed=7))
        100
        """
        if not 0 <= operator.index(n) <= len(self):
            raise ValueError(f"cannot sample {n} records: there are {len(self)}")
        return self.select(np.sort(Shuffled(len(self), seed).at(0, range(n))))

    @property
    def numbers(self) -> Int64s:
        """The number of each item in the whole data set: int64 array."""
        return self._selection.records()

    @overload
    def split(self, n: int) -> list[Dataset]: ...
    @overload
    def split(self, n: Mapping[str, float], seed: int = 0) -> dict[str, Dataset]: ...
    def split(self, n: int | Mapping[str, float], seed: int = 0) -> Any:
        """Splits the data set into n consecutive views, as equal as possible.

        With shares instead of a number, the same as `partition`: named random views.

        >>> [len(part) for part in digits()[:9].split(2)]
        [5, 4]
        >>> list(digits().split({"train": 0.9, "validation": 0.1}, seed=0))
        ['train', 'validation']
        """
        if isinstance(n, Mapping):
            return self.partition(n, seed)
        cuts = cuts_of(len(self), n)
        return [self[cuts[i] : cuts[i + 1]] for i in range(n)]

    def partition(self, shares: Mapping[str, float], seed: int = 0) -> dict[str, Dataset]:
        """Splits the data set by hash into named views: training, validation, ...

        The hash of its id decides where a record goes, or of its number if it has no id. Records
        with the same id therefore stay together, and appending shards moves no record to another
        part. docs/partition.md specifies the hash. Each part has its share of the records only
        approximately.

        Args:
            shares: the share of each part, adding up to 1.
            seed: a different seed gives a different partition.

        >>> parts = digits().partition({"train": 0.9, "validation": 0.1}, seed=0)
        >>> sum(map(len, parts.values())) == len(digits())
        True
        """
        id_hashes = None
        if self._id_name() is not None:
            id_hashes = np.empty(self._record_count(), np.uint64)
            self._read_id_hashes(id_hashes)
        masks = masks_of(shares, seed, self._selection, id_hashes)
        del id_hashes
        return {name: self.select(masks.pop(name)) for name in list(masks)}

    # ---- Records.

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
        return cast(RecordBatch, self._gather(self._record_numbers(items), threads))

    def __getitems__(self, items: list[int]) -> list[bytes]:
        """The records as bytes, for ``DataLoader(ds, ...)`` of PyTorch, whose batches are lists."""
        return [bytes(record) for record in self.gather(items)]

    def parse(
        self,
        items: Numbers,
        features: Features,
        *,
        on_error: Literal["raise", "collect"] = "raise",
        missing: Missing = "warn",
        threads: int = 0,
    ) -> ColumnBatch:
        """Reads many records and parses their features into columns, in C: {name: column}.

        Args:
            items: see `gather`.
            features: {name: FixedLen(...), VarLen(...), ...}, or features of tf.io. Other features
                of the records are skipped without being decoded.
            on_error: "collect" leaves the rows of unreadable records null and lists them in
                ``failures``.
            missing: what to do about a feature that no record of the batch has, which is usually a
                misspelt name. "warn" warns once per data set, with similar names, unless a sample
                of 100 other records has the feature; "error" raises FeatureError; "ignore" gives an
                empty column. A feature with a default counts as missing only if the sample does not
                have it either.
            threads: how many threads read and parse. 0: one per core for 1,024 records or about
                1 MiB and more, else one. The result is the same for any number.

        Raises:
            FeatureError: a record's features do not match, or ``missing="error"`` found a feature
                missing.
            CorruptRecordError: a record is damaged, or is not a tf.Example.

        >>> digits().parse([5, 1], {"label": recmap.FixedLen((), "int32")})["label"]
        array([5, 1], dtype=int32)
        """
        batch = self._parsed(items, parser_of(features), on_error, threads)
        check_batch(batch, self, features, None, missing)
        return columns_of(batch)

    def parse_sequence(
        self,
        items: Numbers,
        context: Features,
        feature_lists: Features,
        *,
        on_error: Literal["raise", "collect"] = "raise",
        missing: Missing = "warn",
        threads: int = 0,
    ) -> tuple[ColumnBatch, ColumnBatch]:
        """Parses records of tf.SequenceExample: the columns of the context and the feature lists.

        In feature lists, ``FixedLenSequence`` takes one step from each feature of a list, and
        ``VarLen`` gives rows of steps of values. A step whose feature has no kind is an empty step,
        not null. `missing` and the other arguments are those of `parse`.
        """
        parser = parser_of(context, feature_lists)
        batch = self._parsed(items, parser, on_error, threads)
        check_batch(batch, self, context, feature_lists, missing)
        return sequence_columns_of(batch, parser.context_count())

    def _parsed(
        self, items: Numbers, parser: _recmap.Parser, on_error: str, threads: int = 1
    ) -> RecordBatch:
        if on_error not in ("raise", "collect"):
            raise ValueError(f'on_error must be "raise" or "collect", not {on_error!r}')
        numbers = self._record_numbers(items)
        return cast(RecordBatch, self._parse(parser, numbers, on_error == "collect", threads))

    def _record_numbers(self, items: Numbers) -> UInt64s:
        """The record numbers of items; negative ones count from the end."""
        if isinstance(items, slice):
            items = range(*items.indices(len(self)))
        return self._selection.records_at(as_items(items, len(self)))

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
        if self._whole:
            return self._find(id)
        number = self._find(id)  # raises if no record has the id
        positions = self.find_all(id)
        if not positions:
            raise IdNotFoundError(
                f"this view does not contain the id {id!r}: it is the id of record {number}",
                self.index_path,
                advice="Search the whole data set instead of the view.",
            )
        return positions[0]

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
        stops it. It takes 60 bytes of memory an id, for half a million ids at a time; a view by
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

    def _positions_of_records(self, source: Dataset) -> Int64s:
        """The position of the record with the id of each item of another data set; -1 if absent."""
        numbers = np.ascontiguousarray(source.numbers)
        out = np.empty(len(numbers), np.int64)
        table = self._selection.position_table(self._record_count())
        self._find_records(source, numbers, out, table)
        return out

    def duplicates(self, by: str = "content", *, progress: Progress = "auto") -> Int64s:
        """Which records equal an earlier one, as ``recmap duplicates`` prints: int64 array [n, 2].

        A row has the position of a record and that of the first record that it equals. 128-bit
        hashes are compared, in one pass over the records that takes 24 bytes of memory for each.

        Args:
            by: what is compared: "content", the whole records; "id", their ids, for which only
                records whose ids may repeat are read; or the name of a feature. Records without the
                feature equal none.
            progress: see `recmap.open`.

        Raises:
            ValueError: the index has no ids.
            FeatureError: no record has the feature.

        >>> ds = recmap.concat([digits(), digits()[:2]])
        >>> ds.duplicates()
        array([[1797,    0],
               [1798,    1]])
        >>> kept = np.ones(len(ds), bool)
        >>> kept[ds.duplicates()[:, 0]] = False
        >>> len(ds.select(kept))
        1797
        """
        if not isinstance(by, str):
            raise TypeError(f"by must be a str, not {type(by).__name__}")
        feature = None if by in ("content", "id") else by
        numbers = np.ascontiguousarray(self._selection.records().view(np.uint64))
        firsts = np.empty(len(self), np.int64)
        with shown(progress, "comparing") as call:
            self._find_duplicates(firsts, numbers, feature, by == "id", call)
        positions = np.flatnonzero(firsts != np.arange(len(self)))
        return np.stack([positions, firsts[positions]], axis=1)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """The position of the first record that equals `value`. Reads record by record."""
        return abc.Sequence.index(cast(Any, self), value, start, cast(int, stop))

    def count(self, value: object) -> int:
        """The number of records that equal `value`. Reads all records."""
        return sum(record == value for record in self)

    # ---- The index.

    @property
    def columns(self) -> Columns:
        """The lifted columns: a mapping of the arrays that were copied into the index."""
        return Columns(self)

    @property
    def counts(self) -> Counts:
        """How many elements each record has of the counted features: a mapping of int64 arrays.

        >>> recmap.index("data/digits", folder / "counted.rmx", count={"image": "uint8"})[-11:]
        'counted.rmx'
        >>> recmap.open(folder / "counted.rmx", allow_absolute_paths=True).counts["image"].max()
        np.int64(64)
        """
        return Counts(self)

    def _counted(self) -> Counted:
        """Names and dtypes of the counted features."""
        return tuple(self._counted_table())

    def _lifts(self) -> Lifts:
        """Names and defaults of the lifted columns, without "@length"."""
        return tuple((name, default) for name, _, default in self._column_table()[1:])

    @property
    def info(self) -> dict[str, Any]:
        """What ``recmap info --json`` prints: records, shards, bytes, ids, columns, counts, ...

        In a view, "records" is the number of its items, "total_records" that of the whole data set,
        "ordered" whether its items are in another order than that of their numbers, and
        "fingerprint" that of the view. The other values describe the whole data set.

        >>> view = digits()[40:50]
        >>> view.info["records"], view.info["total_records"], view.info["ordered"]
        (10, 1797, False)
        """
        info = cast("dict[str, Any]", json.loads(self._info_json(False)))
        return info if self._whole else info_of(self, info)

    @property
    def shards(self) -> list[dict[str, Any]]:
        """The shards of the whole data set, as ``recmap info --json --shards`` prints them.

        >>> [shard["records"] for shard in digits().shards]
        [449, 449, 449, 450]
        """
        info = json.loads(self._info_json(True))
        return cast("list[dict[str, Any]]", info["shard_table"])

    def _formats(self) -> list[tuple[str, str]]:
        """(framing, compression) of each shard."""
        return [(shard["framing"], shard["compression"]) for shard in self.shards]

    @property
    def fingerprint(self) -> str:
        """A hash of the data (128 bits as 32 hex digits), independent of where the files are.

        That of a view depends on the whole data set, and on which of its records the view has, in
        which order.
        """
        return self._fingerprint().hex() if self._whole else fingerprint_of(self)

    @property
    def index_path(self) -> str:
        """The path of the index; of a concatenation, the paths of all indexes, joined by " + "."""
        return self._options.path

    def schema(self, sample: int | None = 1000) -> dict[str, dict[str, Any]]:
        """The features found in the records, as ``recmap schema --json`` prints them.

        Args:
            sample: how many records to read, evenly spaced; None: all of them.

        Warns if some of these records are neither a tf.Example nor a tf.SequenceExample.

        >>> digits().schema()["label"]["kind"]
        'int64'
        """
        if sample is not None and sample < 0:
            raise ValueError(f"sample must not be negative, but is {sample}")
        count = len(self)
        chosen = count if sample is None else min(sample, count)
        if chosen == count:
            items = np.arange(count, dtype=np.uint64)
        else:
            items = np.array([i * count // chosen for i in range(chosen)], np.uint64)
        text, other_count = self._schema(self._selection.records_at(items))
        if other_count:
            warn_caller(
                f"{other_count} of {chosen} records are neither a tf.Example nor a "
                "tf.SequenceExample; the schema does not describe them"
            )
        return cast("dict[str, dict[str, Any]]", json.loads(text))

    def features(
        self, sample: int | None = 1000, *, feature_lists: bool = False
    ) -> dict[str, Feature]:
        """The features found in the records, ready for `parse` or a loader: {name: feature}.

        A feature that every record read has with the same number of values is a `FixedLen`; others
        are a `VarLen`. ``recmap schema --features python`` prints the same as code.

        Args:
            sample: see `schema`. Use None to be sure that the result fits all records.
            feature_lists: the feature lists of tf.SequenceExample instead of the features of the
                context: a `FixedLenSequence` or a `VarLen` each.

        Warns about features that have no values, or values of several kinds: they are left out.

        >>> spec = digits().features()["label"]
        >>> spec == recmap.FixedLen((), "int64")
        True
        """
        features, omitted = features_of_schema(self.schema(sample), feature_lists)
        if omitted:
            warn_caller(
                f"these features have no values, or values of several kinds, or a NUL in their "
                f"name, and are left out: {', '.join(map(repr, omitted))}"
            )
        return features

    def verify(
        self,
        *,
        index_only: bool = False,
        threads: int = 0,
        progress: Progress = "auto",
        memory_limit: int | str | None = None,
    ) -> dict[str, Any]:
        """Checks every byte: of the whole data set, or of the index and of a view's records.

        Args:
            index_only: read no shard.
            threads: 0 means one per core.
            progress: see `open`.
            memory_limit: an upper bound, in bytes or as "64MiB", on the memory for one compressed
                shard, and on that for the list of damage. More is an error. By default, a shard
                that takes more than indexing it may (docs/reliability.md) counts as damaged.

        Returns:
            A dict: "records", the number of records in the index; "records_good", the number found
            good; "damage", a list of all damage that the index does not list, each a dict with
            "path", "record", "offset", "length" and "reason". In a view, they count its items, and
            "length" is None.

        Raises:
            CorruptIndexError: the index itself is damaged.
        """
        with shown(progress, "verifying") as call:
            report = json.loads(
                self._verify(index_only or not self._whole, threads, call, size_of(memory_limit))
            )
        if self._whole or index_only:
            return cast("dict[str, Any]", report)
        return verify_records(self, progress)

    # ---- Lifecycle.

    def close(self) -> None:
        """Closes the data set. Views of records stay valid. Closing twice does nothing."""
        self._close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        selection = None if self._whole else tuple(self._selection)
        return _reopen, (self._options, self._fingerprint().hex(), selection)

    def show(self, limit: int = 20) -> None:
        """Shows the first records with their features as a table: ``ds[5:20].show()``.

        Prints plain text, and displays HTML in a notebook, with small pictures (PNG, JPEG, GIF and
        WebP). Long values are cut, and what does not print is shown as escapes.

        >>> digits()[5:7].select([0]).show()  # doctest: +ELLIPSIS
        <recmap.Dataset '...digits.rmx': 1 records of 1797>
        number  size       id           image                           label
        5       120 bytes  digit-00005  b'...  5
        """
        # Here, because most programs never show records.
        from .._display.tables import show_table

        show_table(self._table(limit))

    def _table(self, limit: int) -> Table:
        from .._columns.record_tables import record_table

        count = min(max(operator.index(limit), 0), len(self))
        numbers = self._record_numbers(range(count)).tolist()
        return record_table(repr(self), numbers, self.__getitem__, len(self))

    def _repr_html_(self) -> str:
        from .._display.tables import facts_html

        if self.closed:
            return facts_html(repr(self), {})
        return facts_html("recmap.Dataset", self._facts())

    def _facts(self) -> dict[str, object]:
        """What a notebook shows; the records are not read."""
        info = json.loads(self._info_json(False))
        total = "" if self._whole else f" of {info['records']}"
        columns = [f"{column['name']} ({column['type']})" for column in info["columns"][1:]]
        return {
            "records": f"{len(self)}{total}",
            "shards": info["shards"],
            "size": size_text(info["bytes"]),
            "index": self.index_path,
            "ids": self._id_name() or "none",
            "lifted columns": joined(columns, len(columns), 20) or "none",
            "element counts": joined(self.counts, len(self.counts), 20) or "none",
            "damaged": size_text(info["damaged_bytes"]),
        }

    def __repr__(self) -> str:
        if self.closed:
            return "<recmap.Dataset, closed>"
        total = "" if self._whole else f" of {self._record_count()}"
        return f"<recmap.Dataset {self.index_path!r}: {len(self)} records{total}>"


register_sequence(Dataset)


def _reopen(
    options: OpenOptions | ConcatOptions, fingerprint: str, selection: tuple[Any, ...] | None
) -> Dataset:
    dataset = Dataset._open(options)
    if dataset.fingerprint != fingerprint:
        raise StaleIndexError(
            f"this is not the data set that was pickled: its fingerprint is {dataset.fingerprint}, "
            f"not {fingerprint}",
            options.path,
            advice="Pickle the data set again after indexing it again.",
        )
    return dataset if selection is None else dataset._select(Selection(*selection))
