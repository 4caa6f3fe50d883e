"""Chosen records: all records of an index, or some of them in a view."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from .. import _recmap
from .._base.names import suggest_arguments
from .._base.numbers import (
    Int64s,
    Numbers,
    UInt64s,
    as_items,
    as_mask_or_items,
    cuts_of,
    is_integer,
)
from .._base.plural import counted
from .._base.renamed import current_method
from .._options.options import ConcatOptions, OpenOptions
from .._order.orders import Shuffled
from .collation import watch_collation
from .element_counts import ElementCounts
from .feature_names import FeatureNames
from .partition import masks_of
from .selection import Selection

__all__ = ["Dataset"]

_AS_DICT = 'pass the shares as a dict, such as {"train": 0.9, "validation": 0.1}'


class Dataset(_recmap.Dataset):
    """Records of an open index, and the views that have some of them.

    A view shares the handle of the index and what was read from it.

    The modules `records` and `described` derive from this class, and `recmap.Dataset` from theirs.
    All have its name, because Python's errors about arguments name the class of the method.
    """

    _options: OpenOptions | ConcatOptions
    _selection: Selection
    _whole: bool  # the items are all records, in order
    _columns_read: dict[str, npt.NDArray[Any]]  # shared by all views
    _feature_names: FeatureNames  # shared by all views
    _counts_read: dict[str, ElementCounts]  # shared by all views
    _part_lengths: tuple[int, ...] = ()  # of what `concat` returned

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return current_method(self, name)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> memoryview: ...  # type: ignore[overload-overlap]
        @overload
        def __getitem__(self, index: slice | list[int] | range | npt.NDArray[Any]) -> Self: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[memoryview]: ...
        @property
        def closed(self) -> bool:
            """Returns true if close() was called."""
            ...

    @classmethod
    def _open(cls, options: OpenOptions | ConcatOptions) -> Self:
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
    ) -> Self:
        watch_collation()
        dataset = cls(handle, *selection)
        dataset._options = options
        dataset._selection = selection
        dataset._whole = selection.is_whole(dataset._record_count())
        dataset._columns_read = columns_read
        dataset._feature_names = feature_names
        dataset._counts_read = counts_read
        return dataset

    def __len__(self) -> int:
        """The number of records. PyTorch asks for it before it reads any."""
        watch_collation()
        return super().__len__()

    def _view(self, key: Any) -> Self:
        """``data_set[key]`` if the key is not an integer. The extension calls this."""
        if isinstance(key, slice):
            return self._select(self._selection.slice(key))
        if isinstance(key, (list, range, np.ndarray)) or getattr(key, "ndim", None):  # of a tensor
            return self.select(key)
        find = f"; for an id, ds[ds.find({key!r})]" if isinstance(key, (str, bytes)) else ""
        raise TypeError(
            "an index must be an integer, a slice, a list or array of integers, or a mask, not "
            f"{type(key).__name__}{find}"
        )

    def _select(self, selection: Selection) -> Self:
        shared = self._columns_read, self._feature_names, self._counts_read
        return type(self)._create(self._handle, self._options, selection, *shared)

    def _is_whole(self) -> bool:
        return self._whole

    def _record_numbers(self, items: Numbers) -> UInt64s:
        """The record numbers of items; negative ones count from the end."""
        if isinstance(items, slice):
            items = range(*items.indices(len(self)))
        return self._selection.records_at(as_items(items, len(self)))

    def select(self, items: Numbers | npt.ArrayLike) -> Self:
        """A view of some records: by their numbers in this data set, or by a mask of its length.

        >>> ds = digits()
        >>> threes = ds.select(ds.columns["label"] == 3)
        >>> set(threes.columns["label"].tolist())
        {3}
        """
        if isinstance(items, str):
            raise TypeError(
                f"select takes record numbers or a mask; for an expression, use ds.where({items!r})"
            )
        numbers = self._selection.records_at(as_mask_or_items(items, len(self)))
        if isinstance(items, np.ndarray) and np.may_share_memory(numbers, items):
            numbers = numbers.copy()  # the caller may change the array
        numbers.flags.writeable = False
        return self._select(Selection(0, len(numbers), 1, numbers))

    def where(self, expression: str) -> Self:
        """A view of the records for which an expression over lifted columns is true.

        Args:
            expression: comparisons (``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not
                in``) of columns with values or with each other, combined with ``and``, ``or`` and
                ``not``. ``length`` is the size of a record in bytes; ``columns["a/b"]`` is a column
                whose name is not a Python name. A str is compared as UTF-8. The expression is never
                run as code; docs/reference/select.md specifies it.

        Raises:
            ValueError: the expression is invalid, or compares text with numbers.
            ColumnNotFoundError: the index has no such column.

        >>> set(digits().where("label in (3, 4) and length < 1000").columns["label"].tolist())
        {3, 4}
        """
        return self.select(self._mask_of(expression))

    def _mask_of(self, expression: str) -> npt.NDArray[np.bool_]:
        """For each item, whether the expression is true."""
        if not isinstance(expression, str):
            raise TypeError(f"the expression must be a str, not {type(expression).__name__}")
        mask = np.empty(self._record_count(), np.bool_)
        self._match(expression, mask)
        return self._selection.take(mask)

    @suggest_arguments
    def sample(self, n: int, seed: int = 0) -> Self:
        """A view of n random records, each at most once, in their order in this data set.

        >>> len(digits().sample(100, seed=7))
        100
        """
        if not is_integer(n):
            raise TypeError(f"n must be the number of records to sample, an integer, not {n!r}")
        if not 0 <= operator.index(n) <= len(self):
            raise ValueError(f"cannot sample {counted(n, 'record')}: there are {len(self)}")
        return self.select(np.sort(Shuffled(len(self), seed).at(0, range(n))))

    @property
    def numbers(self) -> Int64s:
        """The number of each item in the whole data set: int64 array."""
        return self._selection.records()

    def _partition(self, shares: Mapping[str, float], seed: int) -> dict[str, Self]:
        """Views of the records whose hash falls into each share."""
        id_hashes = None
        if self._id_name() is not None:
            id_hashes = np.empty(self._record_count(), np.uint64)
            self._read_id_hashes(id_hashes)
        masks = masks_of(shares, seed, self._selection, id_hashes)
        del id_hashes
        return {name: self.select(masks.pop(name)) for name in list(masks)}

    @overload
    def split(self, n: int) -> list[Self]: ...
    @overload
    def split(self, n: Mapping[str, float], seed: int = 0) -> dict[str, Self]: ...
    @suggest_arguments(otherwise=_AS_DICT)
    def split(self, n: int | Mapping[str, float], seed: int = 0) -> Any:
        """Splits the data set into n consecutive views, as equal as possible.

        With shares instead of a number, into named views: training, validation, ... The hash of its
        id decides where a record goes, or of its number if it has no id. Records with the same id
        therefore stay together, and appending shards moves no record to another part.
        docs/reference/partition.md specifies the hash. Each part has its share of the records only
        approximately.

        Args:
            n: the number of views, or the share of each part, adding up to 1.
            seed: a different seed gives other parts.

        >>> [len(part) for part in digits()[:9].split(2)]
        [5, 4]
        >>> list(digits().split({"train": 0.9, "validation": 0.1}, seed=0))
        ['train', 'validation']
        """
        if isinstance(n, Mapping):
            return self._partition(n, seed)
        if not hasattr(n, "__index__"):
            raise TypeError(
                "n must be the number of views, or a dict of shares such as "
                f'{{"train": 0.9, "validation": 0.1}}, not {n!r}'
            )
        cuts = cuts_of(len(self), n)
        return [self[cuts[i] : cuts[i + 1]] for i in range(n)]

    @property
    def fingerprint(self) -> str:
        """A hash of the data (128 bits as 32 hex digits), independent of where the files are.

        The hash of a view depends on the whole data set, and on the view's records and their order.
        """
        if self._whole:
            return self._fingerprint().hex()
        digest = hashlib.blake2b(self._fingerprint(), digest_size=16)
        for first in range(0, len(self), 1 << 20):
            items = np.arange(first, min(first + (1 << 20), len(self)), dtype=np.uint64)
            digest.update(self._selection.records_at(items).astype("<u8").tobytes())
        return digest.hexdigest()

    @property
    def index_path(self) -> str:
        """The path of the index; of a concatenation, the paths of all indexes, joined by " + "."""
        return self._options.path
