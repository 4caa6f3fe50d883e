"""Samples by number: the map-style data set."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from torch.utils import data

from .._columns import columns_of
from .._dataset import Dataset
from .._features import Features, parser_of
from ._sampler import mismatch
from ._tensors import Ragged, tensors


class _Rows(Sequence[Any]):
    """Samples of one parse: `collate` takes their columns whole, others see a list of dicts."""

    def __init__(self, columns: dict[str, Any], count: int, lengths: dict[str, Any]) -> None:
        self.columns = columns
        self._count = count
        self._lengths = lengths

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        row = range(self._count)[index]
        return {name: self._value(name, row) for name in self._lengths}

    def _value(self, name: str, row: int) -> Any:
        column, steps = self.columns[name], self._lengths[name]
        if isinstance(column, Ragged):
            return column.row(row)
        return column[row] if steps is None else column[row][: int(steps[row])]


class MapDataset(data.Dataset[Any]):
    """Records by number, for ``torch.utils.data.DataLoader``.

    A sample is a dict {name: tensor}, parsed in C: scalars have no dimension, sequences are as long
    as the record's, bytes are bytes. Without features it is the record's bytes. A DataLoader asks
    for a batch at once, which is read and parsed as one; give it ``collate_fn=recmap.torch.collate``,
    and it stays one.

    Its state is the fingerprint of the data set, so that a StatefulDataLoader cannot go on with
    another one. It pickles as the data set does.

    Args:
        dataset: a data set or view.
        features: {name: FixedLen(...), ...}, or of tf.io's.

    >>> dataset = recmap.torch.MapDataset(digits(), {"label": recmap.FixedLen()})
    >>> len(dataset), dataset[5]
    (1797, {'label': tensor(5)})
    """

    def __init__(self, dataset: Dataset, features: Features | None = None) -> None:
        self.dataset = dataset
        self._features = None if features is None else dict(features)
        self._parser = None if features is None else parser_of(features)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: SupportsIndex) -> Any:
        if self._parser is None:
            return bytes(self.dataset[index])
        return self.__getitems__([operator.index(index)])[0]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Many samples at once."""
        if self._parser is None:
            return [bytes(record) for record in self.dataset.gather(indices)]
        batch = columns_of(self.dataset._parsed(indices, self._parser, "raise"))
        return _Rows(
            tensors(batch), len(indices), {name: batch.lengths.get(name) for name in batch}
        )

    def state_dict(self) -> dict[str, Any]:
        """The data set's fingerprint."""
        return {"fingerprint": self.dataset.fingerprint, "record_count": len(self)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raises StateMismatchError where the state is of another data set."""
        for name, here in self.state_dict().items():
            if state[name] != here:
                raise mismatch(name, state[name], here)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dataset, self._features)


def collate(samples: Any) -> Any:
    """The ``collate_fn`` for `MapDataset`: the batch as it was parsed, {name: tensor}.

    Padded sequences, `Ragged` rows, and batches of no records are good. Samples of other data sets
    go to PyTorch's own.
    """
    if isinstance(samples, _Rows):
        return samples.columns
    if not len(samples):
        return []
    return data.default_collate(samples)
