"""Batches of records."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, overload

import numpy as np

from .. import _recmap
from .._base.numbers import Int64s, UInt64s
from .._base.plural import counted
from .._display.text import size_text

__all__ = ["RecordBatch", "register_sequence"]


def register_sequence(kind: type) -> None:
    """Makes isinstance(kind(...), collections.abc.Sequence) true."""
    cast(Any, abc.Sequence).register(kind)


class RecordBatch(_recmap.RecordBatch):
    """The records of one gather, or of one step of a loader, in the order asked for.

    A sequence of read-only memoryviews into the mapped shards; a slice or a list of positions gives
    a list of them. The batch owns what its views need, and every view keeps the batch alive.
    Immutable, and safe to use from many threads.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        @overload
        def __getitem__(self, index: SupportsIndex) -> memoryview: ...
        @overload
        def __getitem__(self, index: slice | list[int]) -> list[memoryview]: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[memoryview]: ...
        @property
        def nbytes(self) -> int: ...

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """The position of the first record that equals `value`."""
        return abc.Sequence.index(cast(Any, self), value, start, cast(int, stop))

    def count(self, value: object) -> int:
        """The number of records that equal `value`."""
        return sum(record == value for record in self)

    def _numbers_and_sizes(self) -> tuple[Int64s, Int64s]:
        numbers, sizes = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        self._read_numbers(numbers, sizes)
        return numbers, sizes

    @property
    def numbers(self) -> Int64s:
        """The number of each record in the whole data set: int64 array."""
        return self._numbers_and_sizes()[0]

    @property
    def sizes(self) -> Int64s:
        """The size of each record in bytes: int64 array."""
        return self._numbers_and_sizes()[1]

    @property
    def epoch(self) -> int:
        """The epoch of a loader's batch, or the one that `Dataset.parse` was given.

        Raises:
            ValueError: the batch is not of a loader, and no epoch was given.
        """
        return int(self._place()[0])

    @property
    def step(self) -> int:
        """The step of a loader's batch, counted from 0 over the epochs of its present run.

        The run begins where the loader was created, or moved to by `seek` or `load_state_dict`.
        ``loader.numbers_at(step)`` gives the record numbers of a step.

        Raises:
            ValueError: the batch is not of a loader, or a worker process of a DataLoader made it,
                which knows only its own steps.
        """
        step = self._step()
        if step is None:
            raise ValueError(
                "the batch has no step: a loader counts its steps, except in worker processes"
            )
        return step

    @property
    def positions(self) -> UInt64s:
        """The position in the epoch of each record, or row, of a loader's batch: uint64 array.

        `Dataset.parse` needs them for the random images of orders that may repeat records. Its
        results have those that it was given.

        Raises:
            ValueError: they are not known.
        """
        places = self._place()[1]
        if places is None:
            raise ValueError(
                "the positions of the records are not known: give them to ds.parse(..., positions=)"
            )
        return np.frombuffer(places, np.uint64)

    def seeds(self, name: str = "") -> UInt64s:
        """A random number for each record, or row, of a loader's batch: uint64 array.

        They depend on the loader's ``seed=``, the epoch, the record's or row's number (in a
        `JoinedLoader`, of the record in the first data set) and `name`, and in orders that may
        repeat records on the position. So an augmentation that is seeded with them is the same
        after any resume, and on other ranks. ``ds.parse(numbers, features, epoch=, seed=)`` gives
        the same for these records.

        Raises:
            ValueError: the batch is not of a loader, and no epoch was given.
        """
        return np.frombuffer(self._seeds(name), np.uint64)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """Exports binary views into the records through the Arrow PyCapsule interface."""
        return self._arrow_array(-1)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Exports a stream of this one array through the Arrow PyCapsule interface."""
        return self._arrow_stream()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "a RecordBatch cannot be copied or pickled, because its items are views: use "
            "list(map(bytes, batch))"
        )

    def _repr_html_(self) -> str:
        from .record_table import record_table

        numbers = self.numbers[:20].tolist()
        table = record_table(repr(self).strip("<>"), numbers, self.__getitem__, len(self))
        return table._repr_html_()

    def __repr__(self) -> str:
        return f"<recmap.RecordBatch of {counted(len(self), 'record')}, {size_text(self.nbytes)}>"


register_sequence(RecordBatch)
_recmap.batch_set_class(RecordBatch)
