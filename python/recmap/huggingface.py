"""recmap in Hugging Face's datasets: an iterable of rows, without a copy of the data on disk.

    rows = recmap.huggingface.dataset(ds, features, order=recmap.Shuffled(len(ds), seed=7))
    for row in rows: ...                       # {"label": 3, ...}

Needs the package datasets (``pip install recmap[huggingface]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import datasets

from . import arrow
from ._dataset import Dataset
from ._features import Features, parser_of
from ._numbers import cuts_of
from ._orders import Order, check_fits

__all__ = ["dataset"]

_ROWS = 256  # that are read at once


def dataset(
    dataset: Dataset,
    features: Features | None = None,
    *,
    order: Order | None = None,
    epoch: int = 0,
    shards: int = 64,
    numbers: bool = False,
) -> Any:
    """A ``datasets.IterableDataset`` of the rows of a data set or view.

    Rows are what Arrow makes of the columns: Python's numbers, bytes and lists; without features
    {"bytes": record}. Nothing is copied to a cache, as ``Dataset.from_generator`` would. An order
    costs no shuffle buffer: leave ``shuffle()`` out.

    Its shards are ranges of positions: ``datasets.distributed.split_dataset_by_node`` and the
    workers of a DataLoader share them, and each row comes once. A state (``state_dict()``,
    ``load_state_dict()``) is resumed at the beginning of its shard, and what came of that is read
    again and left out; so more shards resume faster.

    Each row costs Python and Arrow: `recmap.Loader` gives batches many times faster.

    Args:
        dataset: a data set or a view.
        features: {name: FixedLen(...), ...}, or of tf.io's.
        order: of as many records; None: from first to last.
        epoch: of the order.
        shards: at most; as many as positions where those are fewer.
        numbers: a column "number" has the records' numbers in the whole data set.

    >>> rows = recmap.huggingface.dataset(digits(), {"label": recmap.FixedLen()})
    >>> next(iter(rows)), rows.num_shards
    ({'label': 0}, 64)
    """
    if order is not None:
        check_fits(order, len(dataset))
    if features is not None:
        parser_of(features)
    count = len(dataset) if order is None else len(order)
    cuts = cuts_of(count, min(shards, max(count, 1)))
    return datasets.IterableDataset.from_generator(
        _rows,
        gen_kwargs={
            "dataset": dataset,
            "features": None if features is None else dict(features),
            "order": order,
            "epoch": epoch,
            "numbers": numbers,
            "parts": list(zip(cuts[:-1], cuts[1:], strict=True)),  # a list: what is split
        },
    )


def _rows(
    dataset: Dataset,
    features: Features | None,
    order: Order | None,
    epoch: int,
    numbers: bool,
    parts: list[tuple[int, int]],
) -> Iterator[dict[str, Any]]:
    for first, end in parts:
        for at in range(first, end, _ROWS):
            positions = range(at, min(at + _ROWS, end))
            items = positions if order is None else order.at(epoch, positions)
            batch: Any
            batch = dataset.gather(items) if features is None else dataset.parse(items, features)
            own = batch.numbers.tolist() if numbers else [None] * len(positions)
            rows = arrow.table(batch, tensor=arrow.lists).to_pylist()
            for row, number in zip(rows, own, strict=True):
                yield {**row, "number": number} if numbers else row
