"""recmap with Hugging Face datasets: an iterable of rows, without a copy of the data on disk.

    rows = recmap.huggingface.dataset(ds, features, order=recmap.Shuffled(len(ds), seed=7))
    for row in rows: ...                       # {"label": 3, ...}

Needs the package datasets (``pip install recmap[huggingface]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import datasets

from . import arrow
from ._base.names import suggest_arguments
from ._base.numbers import cuts_of
from ._dataset.dataset import Dataset, check_dataset
from ._dataset.missing import Missing, softened, validate_missing
from ._example.draws import Draws
from ._example.features import Features, check_column_of_numbers, parser_of_batches
from ._loader.epoch_draws import draws_of_epoch
from ._order.orders import Order, check_fits

__all__ = ["dataset"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


_ROWS = 256  # rows read at once


@suggest_arguments
def dataset(
    dataset: Dataset,
    features: Features | None = None,
    *,
    order: Order | None = None,
    epoch: int | None = None,
    shards: int = 64,
    numbers: bool = False,
    missing: Missing = "error",
    seed: int = 0,
) -> Any:
    """A ``datasets.IterableDataset`` of the rows of a data set or view.

    Rows have Python numbers, bytes and lists, as Arrow converts the columns; without features they
    are {"bytes": record}. Unlike ``Dataset.from_generator``, nothing is copied to a cache. An order
    needs no shuffle buffer: do not call ``shuffle()``.

    Its shards are ranges of positions, which ``datasets.distributed.split_dataset_by_node`` and the
    workers of a DataLoader divide, so that each row is used once. To resume a state
    (``state_dict()``, ``load_state_dict()``), datasets reads the current shard from its start and
    skips the rows already used, so more shards resume faster.

    Each row costs time in Python and Arrow: `recmap.Loader` gives batches many times faster.

    Args:
        dataset: a data set or a view.
        features: {name: FixedLen(...), ...}, or features of tf.io.
        order: an order of as many records; None: from first to last.
        epoch: the epoch of the order, and of random crops and flips of `recmap.Image`, which need
            it; default: 0. Create the rows again for each epoch: ``set_epoch`` does not change it.
        shards: the number of shards; at most one per position.
        numbers: add a column "number" with the records' numbers in the whole data set.
        missing: what to do about a feature that none of the first rows has, at most 256, as in
            `recmap.Dataset.parse`. Later epochs, and other shards than the first, only warn.
        seed: of random images, as of a loader. With the same order and epoch, the pixels are those
            of a `recmap.Loader`.

    >>> rows = recmap.huggingface.dataset(digits(), {"label": recmap.FixedLen((), "int64")})
    >>> next(iter(rows)), rows.num_shards
    ({'label': 0}, 64)
    """
    check_dataset(dataset)
    validate_missing(missing)
    if order is not None:
        check_fits(order, len(dataset))
    parser_of_batches(features, None, dataset._header())
    check_column_of_numbers(numbers, features)
    draws = draws_of_epoch(dataset, features, order, epoch, seed)
    count = len(dataset) if order is None else len(order)
    cuts = cuts_of(count, min(shards, max(count, 1)))
    return datasets.IterableDataset.from_generator(
        _rows,
        gen_kwargs={
            "dataset": dataset,
            "features": None if features is None else dict(features),
            "order": order,
            "epoch": epoch or 0,
            "draws": draws,
            "numbers": numbers,
            "missing": missing,
            "parts": list(pairwise(cuts)),  # datasets splits the lists among the shards
        },
    )


def _rows(
    dataset: Dataset,
    features: Features | None,
    order: Order | None,
    epoch: int,
    draws: Draws | None,
    numbers: bool,
    missing: Missing,
    parts: list[tuple[int, int]],
) -> Iterator[dict[str, Any]]:
    checked = softened(missing, bool(epoch or (parts and parts[0][0])))
    for first, end in parts:
        for start in range(first, end, _ROWS):
            stop = min(start + _ROWS, end)
            positions = range(start, stop)
            items = positions if order is None else order.at(epoch, positions)
            batch: Any
            if features is None:
                batch = dataset.gather(items)
            else:
                drawn = None if draws is None else draws.run(start, stop)
                batch = dataset._parse_columns(items, features, drawn, missing=checked)
                checked = "ignore"
            row_numbers = batch.numbers.tolist() if numbers else [None] * len(positions)
            rows = arrow.table(batch, tensor=arrow.lists).to_pylist()
            for row, number in zip(rows, row_numbers, strict=True):
                yield {**row, "number": number} if numbers else row
