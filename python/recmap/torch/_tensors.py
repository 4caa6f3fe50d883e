"""Batches as tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.utils import dlpack

from .._columns import BytesColumn, ColumnBatch, RaggedColumn, SparseColumn
from .._dataset import RecordBatch


class Ragged(NamedTuple):
    """Rows of any length: row i is ``values[offsets[i]:offsets[i + 1]]``.

    ``torch.nested.nested_tensor_from_jagged(*ragged)`` is the same as a nested tensor.

    Attributes:
        values: of all rows, one behind the other: a tensor, a list of bytes, or a Ragged where rows
            are nested.
        offsets: tensor of int64, one more than rows.
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


def tensors(batch: Any, numbers: str | None = None) -> Any:
    """A batch as tensors over its own memory: {name: tensor}, nothing copied but bytes.

    A padded sequence has its rows' steps beside it as ``name + "/length"``. Rows of any length
    are `Ragged`, coordinates a sparse tensor, bytes a list; bytes with ``copy=True`` in their
    feature are `Ragged` of uint8. Of a `RecordBatch` a list of bytes, of a pair of batches, as of
    SequenceExample, a pair. Anything else, as a transform makes it, stays what it is.

    Args:
        numbers: a name under which the records' numbers come, too.

    >>> features = {"label": recmap.FixedLen(), "image": recmap.FixedLen(64, "uint8", raw=True)}
    >>> batch = recmap.torch.tensors(digits().parse(range(4), features))
    >>> batch["label"], batch["image"].shape
    (tensor([0, 1, 2, 3]), torch.Size([4, 64]))
    """
    if isinstance(batch, RecordBatch):
        return [bytes(record) for record in batch]
    if isinstance(batch, tuple) and all(isinstance(part, ColumnBatch) for part in batch):
        return tuple(tensors(part, numbers) for part in batch)
    if not isinstance(batch, ColumnBatch):
        return batch
    made = {name: _tensor(batch, name, column) for name, column in batch.items()}
    for name in batch.lengths:
        made.setdefault(f"{name}/length", _shared(batch, name, "lengths"))
    if numbers is not None:
        made[numbers] = torch.from_numpy(batch.numbers)
    return made


def _shared(batch: ColumnBatch, name: str, what: Any = "values", level: int = 0) -> torch.Tensor:
    return dlpack.from_dlpack(batch.tensor(name, what, level))


def _tensor(batch: ColumnBatch, name: str, column: Any, level: int = 0) -> Any:
    if isinstance(column, RaggedColumn):
        values = _tensor(batch, name, column.values, level + 1)
        return Ragged(values, _shared(batch, name, "offsets", level))
    if isinstance(column, SparseColumn):
        if isinstance(column.values, BytesColumn):
            raise TypeError(f"feature {name!r}: a sparse tensor has no bytes; take VarLen")
        places, values = _shared(batch, name, "indices").t(), _shared(batch, name)
        return torch.sparse_coo_tensor(places, values, column.dense_shape, check_invariants=False)
    if isinstance(column, BytesColumn):
        if column.copied is None or len(column.shape) > 1 or level:
            return column.tolist()
        return Ragged(_shared(batch, name), _shared(batch, name, "bytes_offsets"))
    return _shared(batch, name)
