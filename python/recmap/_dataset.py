"""Data sets, views of them, and batches of records."""

from __future__ import annotations

import json
import operator
from collections import abc
from collections.abc import Iterator, Mapping
from fractions import Fraction
from numbers import Rational
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, cast, overload

import numpy as np
import numpy.typing as npt

from . import _recmap
from ._columns import ColumnBatch, columns_of, sequence_columns_of
from ._errors import IdNotFoundError, StaleIndexError
from ._features import Features, parser_of
from ._numbers import Int64s, Numbers, UInt64s, as_items, as_mask_or_items, cuts_of
from ._progress import Progress, shown

if TYPE_CHECKING:
    from ._open import Options

__all__ = ["Columns", "Dataset", "RecordBatch"]


def _register_sequence(kind: type) -> None:
    """Makes it a Sequence for isinstance, as which type checkers know it by its methods."""
    cast(Any, abc.Sequence).register(kind)


class RecordBatch(_recmap.RecordBatch):
    """Records of one gather, or of one step of a loader, in the order asked.

    A sequence of read-only memoryviews into the mapped shards; a slice is a list of them. The batch
    keeps what its views need, and they keep the batch. It never changes and is safe among threads.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        @overload
        def __getitem__(self, index: SupportsIndex) -> memoryview: ...
        @overload
        def __getitem__(self, index: slice) -> list[memoryview]: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[memoryview]: ...
        @property
        def nbytes(self) -> int: ...

    def _read(self) -> tuple[Int64s, Int64s]:
        numbers, sizes = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        self._read_numbers(numbers, sizes)
        return numbers, sizes

    @property
    def numbers(self) -> Int64s:
        """The records' numbers in the data set: array of int64, one a record."""
        return self._read()[0]

    @property
    def sizes(self) -> Int64s:
        """The records' sizes in bytes: array of int64, one a record."""
        return self._read()[1]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """An array of binary views into the records, by the Arrow PyCapsule interface."""
        return self._arrow_array(-1)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A stream of this one array, by the Arrow PyCapsule interface."""
        return self._arrow_stream()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a RecordBatch cannot be pickled: it is views; list(map(bytes, batch)) can")

    def __repr__(self) -> str:
        return f"<recmap.RecordBatch of {len(self)} records, {self.nbytes} bytes>"


_register_sequence(RecordBatch)
_recmap.batch_set_class(RecordBatch)


class Columns(Mapping[str, "npt.NDArray[Any]"]):
    """The columns of an index by name, read when first used: ``columns["label"]``.

    An array with a value for each record of the data set or view: int64, float32, or object for
    bytes. Read-only. "@length" is always there: the sizes of the records in bytes.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._types = {
            name: (index, kind) for index, (name, kind, _) in enumerate(dataset._column_table())
        }

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._types:
            raise IdNotFoundError(
                f"the index has no column {name!r}",
                self._dataset.index_path,
                advice=f"it has {', '.join(self._types)}; lift others with open(..., lift=[...])",
            )
        root = self._dataset._columns_read
        if name not in root:
            root[name] = self._read(*self._types[name])
        return self._dataset._of_view(root[name])

    def _read(self, index: int, kind: str) -> npt.NDArray[Any]:
        count = self._dataset._record_count()
        values: npt.NDArray[Any]
        if kind == "bytes":
            values = np.empty(count, object)
            values[:] = self._dataset._read_bytes(index, 0, count)
        else:
            values = np.empty(count, kind)
            self._dataset._read_numbers(index, 0, values)
        values.flags.writeable = False
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {kind}" for name, (_, kind) in self._types.items())
        return f"<recmap.Columns {{{kinds}}}>"


class Dataset(_recmap.Dataset):
    """Any record by number or by id. Made by `recmap.open`.

    ``data_set[i]`` is a read-only memoryview into the mapped shard, its CRC checked: no copy. It
    keeps the shard mapped, also after the data set was closed or collected. Slices and `select`
    give views, which are data sets too.

    Safe among threads. A child may use it after a fork. It pickles as its path and options, and is
    opened anew where it is unpickled: the index must be reachable there.
    """

    _options: Options
    _columns_read: dict[str, npt.NDArray[Any]]

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        @overload
        def __getitem__(self, index: SupportsIndex) -> memoryview: ...
        @overload
        def __getitem__(self, index: slice) -> Dataset: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[memoryview]: ...
        @property
        def closed(self) -> bool:
            """Whether close() was called."""
            ...

    @classmethod
    def _make(
        cls,
        handle: _recmap.Handle,
        options: Options,
        view: tuple[int, int, int, UInt64s | None],
        columns_read: dict[str, npt.NDArray[Any]],
    ) -> Dataset:
        made = cls(handle, *view)
        made._options = options
        made._columns_read = columns_read
        return made

    # ---- Views.

    def _view(self, key: object) -> Dataset:
        """What data_set[key] is where the key is no number; called by the extension."""
        if not isinstance(key, slice):
            raise TypeError(
                f"a record's number or a slice, not {type(key).__name__}; "
                "many numbers or a mask go to gather() or select()"
            )
        items = range(*key.indices(len(self)))
        first, _, step, numbers = self._range
        if numbers is not None:
            return self._with((0, 0, 1, np.ascontiguousarray(cast(UInt64s, numbers)[key])))
        if not items:
            return self._with((0, 0, 1, None))
        return self._with((first + items.start * step, len(items), step * items.step, None))

    def _with(self, view: tuple[int, int, int, UInt64s | None]) -> Dataset:
        return type(self)._make(self._handle, self._options, view, self._columns_read)

    def _of_view(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of values for all records those of this view."""
        first, count, step, numbers = self._range
        if numbers is not None:
            taken = values[numbers]
        elif step == 1:
            taken = values[first : first + count]
        else:
            taken = values[self.numbers]
        taken.flags.writeable = False
        return taken

    def _numbers_of(self, items: UInt64s) -> UInt64s:
        first, count, step, numbers = self._range
        if numbers is not None:
            return cast(UInt64s, numbers)[items]
        if first == 0 and step == 1:
            return items
        return (np.int64(first) + items.view(np.int64) * np.int64(step)).view(np.uint64)

    def _is_whole(self) -> bool:
        first, count, step, numbers = self._range
        whole = first == 0 and step == 1 and count == self._record_count()
        return numbers is None and whole

    def select(self, items: Numbers | npt.ArrayLike) -> Dataset:
        """A view of some records: by a mask as long as the data set, or by numbers (of its items).

        >>> ds = digits()
        >>> threes = ds.select(ds.columns["label"] == 3)
        >>> set(threes.columns["label"].tolist())
        {3}
        """
        chosen = self._numbers_of(as_mask_or_items(items, len(self)))
        chosen.flags.writeable = False
        return self._with((0, 0, 1, chosen))

    @property
    def numbers(self) -> Int64s:
        """The numbers that the items have in the whole data set: array of int64, one an item."""
        first, count, step, numbers = self._range
        if numbers is not None:
            return cast(UInt64s, numbers).view(np.int64)
        return np.int64(first) + np.arange(count, dtype=np.int64) * np.int64(step)

    def split(self, n: int) -> list[Dataset]:
        """n views side by side, as even as can be: the first ones have one record more.

        >>> [len(part) for part in digits()[:9].split(2)]
        [5, 4]
        """
        cuts = cuts_of(len(self), n)
        return [self[cuts[i] : cuts[i + 1]] for i in range(n)]

    def partition(self, shares: Mapping[str, float], seed: int = 0) -> dict[str, Dataset]:
        """Views by name, each with about its share of the records: training, validation, ...

        A record goes where the hash of its id falls, or of its number where it has no id. So
        records of one id stay together, and when shards are appended every record stays where it
        was. docs/partition.md specifies the hash.

        Args:
            shares: the share of each part; together they are 1.
            seed: another one deals in another way.

        >>> parts = digits().partition({"train": 0.9, "validation": 0.1}, seed=0)
        >>> sum(map(len, parts.values())) == len(digits())
        True
        """
        limits = _limits(shares)
        places = self._hashes(seed)
        below, parts = np.zeros(len(places), bool), {}
        for name, limit in limits.items():
            inside = np.ones(len(places), bool) if limit >> 64 else places < np.uint64(limit)
            parts[name] = self.select(inside & ~below)
            below = inside
        return parts

    def _hashes(self, seed: int) -> UInt64s:
        seed = operator.index(seed)
        if not 0 <= seed < 1 << 64:
            raise ValueError(f"seed {seed} is not in 0 to 2**64 - 1")
        number = self.numbers.view(np.uint64)
        hashes = number | np.uint64(1 << 63)
        if self._id_name() is not None:
            of_ids = np.empty(self._record_count(), np.uint64)
            self._read_id_hashes(of_ids)
            of_ids = of_ids[number]
            hashes = np.where(of_ids == np.uint64((1 << 64) - 1), hashes, of_ids)
        key = _mix(np.array([seed], np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        return _mix(hashes ^ key)

    # ---- Records.

    def gather(self, items: Numbers) -> RecordBatch:
        """Many records at once, in the order asked; numbers may repeat.

        Args:
            items: a list, range or array of integers; negative ones count from the end.

        Raises:
            IndexError: there is no such record.
            CorruptRecordError: of a record a CRC does not hold.

        Cost: several times less than as many ``data_set[i]``.

        >>> [len(record) for record in digits().gather([5, 1, 5])]
        [120, 120, 120]
        """
        if isinstance(items, slice):
            items = range(*items.indices(len(self)))
        batch = self._gather(self._numbers_of(as_items(items, len(self))))
        return cast(RecordBatch, batch)

    def parse(
        self,
        items: Numbers,
        features: Features,
        *,
        on_error: Literal["raise", "collect"] = "raise",
    ) -> ColumnBatch:
        """Columns of many records: {name: column}, decoded in C.

        Args:
            items: as of `gather`.
            features: {name: FixedLen(...), VarLen(...), ...}, or of tf.io's. What is not asked for
                is not looked into.
            on_error: "collect" leaves rows null whose records cannot be read, and lists them in
                ``failures``.

        Raises:
            FeatureError: a record's features are not as asked.
            CorruptRecordError: a record is damaged, or is no tf.Example.

        >>> digits().parse([5, 1], {"label": recmap.FixedLen((), "int32")})["label"]
        array([5, 1], dtype=int32)
        """
        return columns_of(self._parsed(items, parser_of(features), on_error))

    def parse_sequence(
        self,
        items: Numbers,
        context: Features,
        feature_lists: Features,
        *,
        on_error: Literal["raise", "collect"] = "raise",
    ) -> tuple[ColumnBatch, ColumnBatch]:
        """Columns of records of tf.SequenceExample: of the context, and of the feature lists.

        In feature lists ``FixedLenSequence`` takes a step from each feature of a list, and
        ``VarLen`` makes rows of steps of values.
        """
        parser = parser_of(context, feature_lists)
        return sequence_columns_of(self._parsed(items, parser, on_error), parser.context_count())

    def _parsed(self, items: Numbers, parser: _recmap.Parser, on_error: str) -> RecordBatch:
        if on_error not in ("raise", "collect"):
            raise ValueError(f'on_error is "raise" or "collect", not {on_error!r}')
        if isinstance(items, slice):
            items = range(*items.indices(len(self)))
        numbers = self._numbers_of(as_items(items, len(self)))
        return cast(RecordBatch, self._parse(parser, numbers, on_error == "collect"))

    def find(self, id: str | bytes | int) -> int:
        """The number of the record with this id in the whole data set, the first of repeated ones.

        Raises:
            KeyError: no record has it.
            ValueError: the index has no ids.

        >>> digits().find("digit-00042")
        42
        """
        return self._find(id)

    def find_all(self, id: str | bytes | int) -> list[int]:
        """The numbers of all records with this id, ascending; [] where there is none."""
        return self._find_all(id)

    # ---- The index.

    @property
    def columns(self) -> Columns:
        """What was lifted out of the records when they were indexed: a mapping of arrays."""
        return Columns(self)

    @property
    def info(self) -> dict[str, Any]:
        """What ``recmap info --json`` prints: records, shards, bytes, ids, columns, damage, ..."""
        return cast("dict[str, Any]", json.loads(self._info_json(False)))

    @property
    def shards(self) -> list[dict[str, Any]]:
        """The shards of the whole data set, as ``recmap info --json --shards`` prints them.

        >>> [shard["records"] for shard in digits().shards]
        [449, 449, 449, 450]
        """
        info = json.loads(self._info_json(True))
        return cast("list[dict[str, Any]]", info["shard_table"])

    @property
    def fingerprint(self) -> str:
        """128 bits that tell data sets apart, as 32 hex digits: the same wherever the files lie."""
        return self._fingerprint().hex()

    @property
    def index_path(self) -> str:
        """The path of the index."""
        return self._options.path

    def schema(self, sample: int | None = 1000) -> dict[str, dict[str, Any]]:
        """The features found in records of tf.Example, as ``recmap schema --json`` prints them.

        Args:
            sample: how many records are looked at, spread evenly; None: all of them.

        >>> digits().schema()["label"]["kind"]
        'int64'
        """
        if sample is not None and sample < 0:
            raise ValueError(f"a sample of {sample} records")
        count = len(self)
        taken = count if sample is None else min(sample, count)
        if taken == count:
            spread = np.arange(count, dtype=np.uint64)
        else:
            spread = np.array([i * count // taken for i in range(taken)], np.uint64)
        numbers = self._numbers_of(spread)
        return cast("dict[str, dict[str, Any]]", json.loads(self._schema(numbers)))

    def verify(
        self, *, index_only: bool = False, threads: int = 0, progress: Progress = "auto"
    ) -> dict[str, Any]:
        """Checks every byte of the whole data set.

        Returns:
            {"records": of the index, "records_good": that were found good, "damage": what the index
            does not list of damage, dicts of "path", "record", "offset", "length", "reason"}.

        Raises:
            CorruptIndexError: the index itself is damaged.
        """
        with shown(progress, "verifying") as call:
            report = json.loads(self._verify(index_only, threads, call))
        return cast("dict[str, Any]", report)

    # ---- Its life.

    def close(self) -> None:
        """Lets go of the data set; views that were handed out stay good. Twice does nothing."""
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
        view = None if self._is_whole() else self._range
        return _reopen, (self._options, self.fingerprint, view)

    def __repr__(self) -> str:
        if self.closed:
            return "<recmap.Dataset, closed>"
        of = "" if self._is_whole() else f" of {self._record_count()}"
        return f"<recmap.Dataset {self.index_path!r}: {len(self)} records{of}>"


_register_sequence(Dataset)


def _reopen(options: Options, fingerprint: str, view: tuple[Any, ...] | None) -> Dataset:
    opened = options.open()
    if opened.fingerprint != fingerprint:
        raise StaleIndexError(
            f"the data set is another one than was pickled: its fingerprint is "
            f"{opened.fingerprint}, expected {fingerprint}",
            options.path,
            advice="pickle the data set again after it was indexed again",
        )
    return opened if view is None else opened._with(cast(Any, view))


def _limits(shares: Mapping[str, float]) -> dict[str, int]:
    """Below which 64-bit hash each part ends."""
    if not isinstance(shares, Mapping):
        raise TypeError(f"shares are a dict {{name: share}}, not {shares!r}")
    if not shares or not all(0 <= share <= 2 for share in shares.values()):
        raise ValueError("shares of parts are numbers from 0 to 1")
    exact = {name: _fraction(share) for name, share in shares.items()}
    total = sum(exact.values(), Fraction(0))
    if abs(total - 1) > Fraction(1, 10**9):
        raise ValueError(f"the shares are {float(total)} together, not 1")
    limits, end = {}, Fraction(0)
    for name, share in exact.items():
        end += share
        limits[name] = min(int(end * (1 << 64)), 1 << 64)
    return {**limits, list(limits)[-1]: 1 << 64}


def _fraction(share: float) -> Fraction:
    return Fraction(share if isinstance(share, Rational) else float(share))


def _mix(values: UInt64s) -> UInt64s:
    """The finaliser of SplitMix64: every bit of a word into every other."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
