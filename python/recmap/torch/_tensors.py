"""Converting batches to tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

import torch
from torch.utils import dlpack

from .._columns import (
    BytesColumn,
    ColumnBatch,
    ImageColumn,
    RaggedColumn,
    RowBatch,
    SparseColumn,
    name_of_lengths,
)
from .._columns.record_batch import RecordBatch

Adopt: TypeAlias = Callable[[torch.Tensor], torch.Tensor]

# What a value is depends on its feature: a tensor, a Ragged, or a list of bytes.
Tensors: TypeAlias = dict[str, Any]


class Ragged(NamedTuple):
    """Rows of any length: row i is ``values[offsets[i]:offsets[i + 1]]``.

    ``torch.nested.nested_tensor_from_jagged(*ragged)`` gives a nested tensor if `values` is a
    tensor. PyTorch has no nested tensors with several ragged levels: see `flat`.

    Attributes:
        values: the values of all rows, concatenated: a tensor, a list of bytes, or a Ragged if the
            rows are nested.
        offsets: int64 tensor with one more item than there are rows.
    """

    values: Any
    offsets: torch.Tensor

    def row(self, index: int) -> Any:
        """Row `index`: a tensor, a list of bytes, or a Ragged."""
        first, end = self.offsets[index : index + 2].tolist()
        if not isinstance(self.values, Ragged):
            return self.values[first:end]
        inner = self.values.offsets[first : end + 1]
        low, high = inner[[0, -1]].tolist()
        return Ragged(self.values.values[low:high], inner - low)

    @property
    def flat(self) -> Ragged:
        """The rows without their inner levels, for ``nested_tensor_from_jagged(*ragged.flat)``.

        Row i has the values of all inner rows of row i.
        """
        flat = self
        while isinstance(flat.values, Ragged):
            flat = Ragged(flat.values.values, flat.values.offsets[flat.offsets])
        return flat


def check_name_of_numbers(numbers: object) -> None:
    """Refuses what is not the name of an item, such as True, which another adapter takes."""
    if numbers is not None and not isinstance(numbers, str):
        raise TypeError(
            f'numbers must be the name of an item of the batch, such as "number", not {numbers!r}'
        )


if TYPE_CHECKING:

    @overload
    def tensors(
        batch: RecordBatch, numbers: str | None = None, *, seeds: Sequence[str] = ()
    ) -> list[bytes]: ...
    @overload
    def tensors(
        batch: ColumnBatch, numbers: str | None = None, *, seeds: Sequence[str] = ()
    ) -> Tensors: ...
    @overload
    def tensors(
        batch: tuple[ColumnBatch, ColumnBatch],
        numbers: str | None = None,
        *,
        seeds: Sequence[str] = (),
    ) -> tuple[Tensors, Tensors]: ...
    @overload
    def tensors(batch: Any, numbers: str | None = None, *, seeds: Sequence[str] = ()) -> Any: ...


def tensors(batch: Any, numbers: str | None = None, *, seeds: Sequence[str] = ()) -> Any:
    """Converts a batch to tensors over its own memory: {name: tensor}. Copies only bytes.

    A padded sequence has an additional item ``name + "/length"`` with the number of steps of each
    row. Rows of any length become `Ragged`, coordinates a sparse tensor, and bytes a list; bytes
    with ``copy=True`` in their feature become `Ragged` of uint8. A `RecordBatch` becomes a list of
    bytes, and a pair of batches, as of SequenceExample, a pair; {name: batch}, as of a
    `recmap.JoinedLoader`, becomes {name: tensors}. Rows have the additional items
    "segment_ids", "positions" and "mask", or only "mask" for windows; `sequences` gives their
    cu_seqlens. Anything else, such as the result of a transform, is returned unchanged.

    Args:
        numbers: the name of an additional item with the records' numbers. Of rows that `Chunked`
            or `Packed` make, it is a `Ragged` with the record of every piece.
        seeds: names of random numbers, each an additional item of that name: the numbers of
            ``batch.seeds(name)`` as int64, of the same bits, for ``torch.Generator.manual_seed``.

    >>> image = recmap.FixedLen(64, "uint8", raw=True)
    >>> features = {"label": recmap.FixedLen((), "int64"), "image": image}
    >>> batch = recmap.torch.tensors(digits().parse(range(4), features))
    >>> batch["label"], batch["image"].shape
    (tensor([0, 1, 2, 3]), torch.Size([4, 64]))
    """
    return convert(batch, Extras.of(numbers, seeds))


class Extras(NamedTuple):
    """Items of a batch that are not columns."""

    numbers: str | None = None
    seeds: tuple[str, ...] = ()

    @classmethod
    def of(cls, numbers: str | None, seeds: Sequence[str]) -> Extras:
        check_name_of_numbers(numbers)
        if isinstance(seeds, str) or not all(isinstance(name, str) for name in seeds):
            raise TypeError(f'seeds must be names of items, such as ("noise",), not {seeds!r}')
        return cls(numbers, tuple(seeds))

    def add(self, made: Tensors, batch: ColumnBatch) -> None:
        if self.numbers is not None:
            self._add(made, "numbers", self.numbers, _numbers(batch))
        for name in self.seeds:
            seeds = torch.from_numpy(batch.seeds(name).view(np.int64).copy())
            self._add(made, "seeds", name, seeds)

    def _add(self, made: Tensors, argument: str, name: str, item: Any) -> None:
        if name in made:
            raise ValueError(
                f"{argument}={name!r} is already the name of an item of the batch: give it another "
                "name"
            )
        made[name] = item


def convert(batch: Any, extras: Extras, adopt: Adopt | None = None) -> Any:
    """As `tensors`; `adopt` replaces each tensor over the batch's memory."""
    if isinstance(batch, RecordBatch):
        return [bytes(record) for record in batch]
    if _is_of_join(batch):
        return {name: convert(part, extras, adopt) for name, part in batch.items()}
    if isinstance(batch, tuple) and all(isinstance(part, ColumnBatch) for part in batch):
        return tuple(convert(part, extras, adopt) for part in batch)
    if not isinstance(batch, ColumnBatch):
        return batch
    source = _Source(batch, adopt)
    made = {name: _tensor(source, name, column) for name, column in batch.items()}
    for name in batch.lengths:
        made[name_of_lengths(name, batch)] = source.tensor(name, "lengths")
    if isinstance(batch, RowBatch):
        made.update((name, torch.from_numpy(array)) for name, array in batch.layout.items())
    extras.add(made, batch)
    return made


def _is_of_join(batch: Any) -> bool:
    """Returns true if this is the batch of a JoinedLoader: {name: batch}."""
    return isinstance(batch, dict) and any(
        isinstance(part, (RecordBatch, ColumnBatch)) for part in batch.values()
    )


def sequences(batch: Tensors, width: int | None = None) -> tuple[torch.Tensor, int]:
    """Offsets of sequences that attend only to themselves, and the length of the longest.

    ``cu_seqlens`` and ``max_seqlen`` of attention kernels, for a batch of rows of tensors, as from
    `Loader` with `Chunked` or `Packed`: the same as ``RowBatch.sequences`` gives for columns. Call
    it before the tensors are moved to a device, because the length is a number of Python.

    Args:
        batch: {name: tensor} with "segment_ids".
        width: the first elements of each row that the model sees; None: all.

    Returns:
        An int32 tensor: sequence i is ``[offsets[i], offsets[i + 1])`` of
        ``tokens[:, :width].reshape(-1)``, a piece or the padding of a row. And the longest length.

    >>> sequences({"segment_ids": torch.tensor([[1, 1, 2, 0], [1, 1, 1, 1]])})
    (tensor([0, 2, 3, 4, 8], dtype=torch.int32), 4)
    """
    if not isinstance(batch, dict) or "segment_ids" not in batch:
        raise TypeError(
            'sequences takes a batch of rows of tensors, {name: tensor} with "segment_ids", as '
            "recmap.torch.Loader gives with Chunked or Packed; a RowBatch has cu_seqlens itself"
        )
    segments = batch["segment_ids"][:, :width]
    begins = torch.ones_like(segments, dtype=torch.bool)
    begins[:, 1:] = segments[:, 1:] != segments[:, :-1]
    starts = begins.reshape(-1).nonzero().reshape(-1)
    offsets = torch.cat([starts, starts.new_tensor([segments.numel()])])
    longest = int(offsets.diff().max()) if len(starts) else 0
    return offsets.to(torch.int32), longest


def _numbers(batch: ColumnBatch) -> torch.Tensor | Ragged:
    """The number of each row's record; if rows may have several pieces, the numbers of all
    pieces."""
    if not isinstance(batch, RowBatch) or batch.has_windows:
        return torch.from_numpy(batch.numbers)
    items, splits = batch.pieces
    return Ragged(torch.from_numpy(items[:, 0].copy()), torch.from_numpy(splits))


class _Source(NamedTuple):
    """The tensors over a batch's memory."""

    batch: ColumnBatch
    adopt: Adopt | None

    def tensor(self, name: str, what: Any = "values", level: int = 0) -> torch.Tensor:
        made = dlpack.from_dlpack(self.batch.tensor(name, what, level))
        return made if self.adopt is None else self.adopt(made)


def _pictures(values: torch.Tensor, column: ImageColumn) -> list[torch.Tensor]:
    ends, shapes = column.offsets.tolist(), column.shapes.tolist()
    return [
        values[first:end].view(shape)
        for first, end, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
    ]


def _tensor(source: _Source, name: str, column: Any, level: int = 0) -> Any:
    if isinstance(column, RaggedColumn):
        values = _tensor(source, name, column.values, level + 1)
        return Ragged(values, source.tensor(name, "offsets", level))
    if isinstance(column, SparseColumn):
        if isinstance(column.values, BytesColumn):
            raise TypeError(
                f"feature {name!r}: sparse tensors cannot contain bytes; use VarLen instead"
            )
        places, values = source.tensor(name, "indices").t(), source.tensor(name)
        return torch.sparse_coo_tensor(places, values, column.dense_shape, check_invariants=False)
    if isinstance(column, ImageColumn):
        return _pictures(source.tensor(name), column)
    if isinstance(column, BytesColumn):
        if column.copied is None or len(column.shape) > 1 or level:
            return column.tolist()
        return Ragged(source.tensor(name), source.tensor(name, "bytes_offsets"))
    return source.tensor(name)
