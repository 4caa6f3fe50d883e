"""The map-style data set: samples by number."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, SupportsIndex

from torch.utils import data

from .._base.errors import StateMismatchError
from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.plural import counted
from .._columns import ColumnBatch, columns_of, sequence_columns_of
from .._dataset.dataset import Dataset, check_dataset
from .._dataset.missing import FirstBatchCheck, Missing
from .._display.text import joined, printable
from .._example.draws import Draws, SourceDraws
from .._example.features import Features, kept_features, parser_of_batches
from .._loader.grown import Grown, check_grown
from .._loader.joined import JoinedLoader
from .._loader.loader import Loader
from ._epoch import SharedEpoch
from ._tensors import Ragged, tensors

_ADVICE = (
    "call dataset.set_epoch(epoch) before each `for`, or give epoch=; or use recmap.torch.Loader "
    "or IterableDataset, which know the epoch"
)


class _Rows(Sequence[Any]):
    """Samples parsed together: `collate` uses their columns, other code sees a list of dicts."""

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


class _Pairs(Sequence[Any]):
    """Samples of SequenceExample: pairs of the samples of the context and the feature lists."""

    def __init__(self, context: _Rows, lists: _Rows) -> None:
        self._parts = context, lists

    @property
    def columns(self) -> Any:
        return tuple(part.columns for part in self._parts)

    def __len__(self) -> int:
        return len(self._parts[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return tuple(part[index] for part in self._parts)


def _rows_of(batch: ColumnBatch) -> _Rows:
    lengths = {name: batch.lengths.get(name) for name in batch}
    return _Rows(tensors(batch), batch.row_count, lengths)


class MapDataset(data.Dataset[Any]):
    """Records by number, for ``torch.utils.data.DataLoader``.

    A sample is a dict {name: tensor}, parsed in C. Scalars have no dimension, sequences have the
    length of the record's, and bytes are bytes objects. Without features, a sample is the record's
    bytes. A DataLoader requests a whole batch, which is read and parsed at once. With
    ``collate_fn=recmap.torch.collate`` the batch stays together.

    Its state is the fingerprint of the data set, and the seed of random images, so that a
    StatefulDataLoader cannot resume with others. Pickled by path, like the data set.

    Random crops and flips of `recmap.Image` need the epoch, which a DataLoader does not tell: give
    `epoch`, or call `set_epoch` before each ``for``. They are those of a `recmap.Loader` with the
    same seed, unless its order may hold a record twice in an epoch, or its data set is a view by a
    list that does not ascend: such a loader also uses the position, which is not known here.

    Args:
        dataset: a data set or view.
        features: {name: FixedLen(...), ...}, or features of tf.io.
        feature_lists: the records are tf.SequenceExample: `features` describe the context, and a
            sample is a pair of dicts, for the context and the feature lists.
        missing: what to do about a feature that no record has, as in `recmap.Dataset.parse`. The
            first samples read are checked.
        epoch: the epoch of random images, until `set_epoch` sets another.
        seed: of random images, as of a loader.

    >>> dataset = recmap.torch.MapDataset(digits(), {"label": recmap.FixedLen((), "int64")})
    >>> len(dataset), dataset[5]
    (1797, {'label': tensor(5)})
    """

    @suggest_arguments
    def __init__(
        self,
        dataset: Dataset,
        features: Features | None = None,
        feature_lists: Features | None = None,
        *,
        missing: Missing = "error",
        epoch: int | None = None,
        seed: int = 0,
    ) -> None:
        if isinstance(dataset, (Loader, JoinedLoader)):
            raise TypeError(
                f"dataset must be a recmap.Dataset, not {dataset!r}, which makes batches: pass its "
                "data set, or the loader to recmap.torch.IterableDataset"
            )
        check_dataset(dataset)
        self.dataset = dataset
        self._missing: Missing = missing
        self._seed = seed
        self._set_up(features, feature_lists)
        self._draws.warn_of_seed()
        self._epoch = None if self._draws.feature is None else SharedEpoch()
        if epoch is not None:
            self.set_epoch(epoch)
        self._features = kept_features(features)
        self._feature_lists = kept_features(feature_lists)

    def _set_up(self, features: Features | None, lists: Features | None) -> None:
        self._parser = parser_of_batches(features, lists, self.dataset._header())
        self._first_batch = FirstBatchCheck(self.dataset, features, lists, self._missing)
        self._draws = SourceDraws.of(self._seed, None, _ADVICE, features, lists)

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of random crops and flips, before the ``for`` over a DataLoader.

        Worker processes see it, also persistent ones. Nothing happens if no image is random.

            for epoch in range(first_epoch, 90):
                dataset.set_epoch(epoch)
                for batch in dataloader: ...
        """
        number = natural("epoch", epoch, 63)
        if self._epoch is not None:
            self._epoch.set(number)

    def _draws_now(self) -> Draws | None:
        return None if self._epoch is None else self._draws.at(self._epoch.get())

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: SupportsIndex | list[int]) -> Any:
        """One sample, or a list of samples, which a DataLoader with ``batch_size=None`` asks
        for."""
        if isinstance(index, list):
            return self.__getitems__(index)
        if self._parser is None:
            return bytes(self.dataset[index])
        return self.__getitems__([operator.index(index)])[0]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Several samples at once."""
        _check_list(indices)
        if self._parser is None:
            return [bytes(record) for record in self.dataset.gather(indices)]
        with self.dataset._advised(self._features or {}, self._feature_lists):
            batch = self.dataset._parsed(indices, self._parser, "error", 1, self._draws_now())
        info = data.get_worker_info()
        if info is None or not info.id:
            self._first_batch.check(batch)
        if self._feature_lists is None:
            return _rows_of(columns_of(batch))
        context, lists = sequence_columns_of(batch, self._parser.context_count())
        return _Pairs(_rows_of(context), _rows_of(lists))

    def state_dict(self) -> dict[str, Any]:
        """The fingerprint of the data set or view, and the seed of random images."""
        state = {"record_count": len(self), "fingerprint": self._fingerprint}
        return state if self._draws.feature is None else {**state, "draws": {"seed": self._seed}}

    @cached_property
    def _fingerprint(self) -> str:
        return self.dataset.fingerprint

    def load_state_dict(self, state: Mapping[str, Any], *, grown: Grown | None = None) -> None:
        """Raises StateMismatchError if the state belongs to another data set or seed.

        With ``grown="finish"``, the data set may have grown since, because the numbers of its
        records are the same. The state of a view is not accepted then.
        """
        check_grown(grown)
        here = self.state_dict()
        _check_seed(state, here.pop("draws", None))
        theirs = {name: state[name] for name in here}
        if grown is not None and self.dataset._begins_with(
            bytes.fromhex(theirs["fingerprint"]), theirs["record_count"]
        ):
            return
        if theirs != here:
            raise StateMismatchError(
                "another data set: the state has "
                f"{counted(theirs['record_count'], 'record')} and the fingerprint "
                f"{theirs['fingerprint']}, this one {here['record_count']} and "
                f"{here['fingerprint']}",
                advice="Open the data set or view with which the state was saved.",
            )

    def __repr__(self) -> str:
        names = [*(self._features or ()), *(self._feature_lists or ())]
        what = "bytes" if self._parser is None else joined(map(printable, names), len(names), 20)
        return f"<recmap.torch.MapDataset of {self.dataset!r}: {what}>"

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, also of subclasses, except the parser and the check of a batch."""
        made = "_parser", "_first_batch", "_draws"
        return {name: value for name, value in vars(self).items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_up(self._features, self._feature_lists)


def _check_seed(state: Mapping[str, Any], draws: dict[str, int] | None) -> None:
    """Raises if the random images of a state have another seed. A state may have none."""
    theirs = state.get("draws")
    if draws is None or theirs is None or theirs == draws:
        return
    seed = theirs["seed"]
    raise StateMismatchError(
        f"another seed of random images: the state has {seed}, the data set {draws['seed']}",
        advice=f"create the data set with seed={seed}",
    )


def _check_list(indices: Any) -> None:
    """Raises if a DataLoader makes lists of a sampler's lists, or takes its numbers for lists."""
    if isinstance(indices, int):
        raise ValueError(
            "the sampler gives single record numbers, but a batch_sampler gives lists: write "
            "Sampler(order, batch_size), or DataLoader(dataset, batch_size, sampler=sampler)"
        )
    if isinstance(indices, list) and indices and isinstance(indices[0], list):
        raise ValueError(
            "the sampler gives lists of record numbers, and the DataLoader would make lists of "
            "them: write DataLoader(dataset, batch_sampler=sampler), or Sampler(order) without a "
            "batch_size"
        )


def collate(samples: Any) -> Any:
    """The ``collate_fn`` for `MapDataset`: the batch as it was parsed, {name: tensor}.

    Supports padded sequences, `Ragged` rows and empty batches. Passes samples of other data sets to
    PyTorch's own collation.
    """
    if isinstance(samples, (_Rows, _Pairs)):
        return samples.columns
    if not len(samples):
        return []
    return data.default_collate(samples)
