"""Data sets that TensorFlow Datasets (TFDS) prepared, without TensorFlow or TFDS.

    import recmap

    ds = recmap.tfds.open("bridge/1.0.0", split="train[:80%]")
    loader = recmap.Loader(ds, 256, shuffle=True, features=ds.features())
    for batch in loader:
        nested = recmap.tfds.nest(batch)   # nested["observation"]["image"]

Robot data sets in RLDS's form, whose records are episodes, give windows of steps: see `windows`.
docs/guide/tfds.md says more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._base.names import suggest_arguments
from ._base.warn import warn_caller
from ._dataset.dataset import Dataset
from ._options.reading import check_choice
from ._options.storage import Path, Storage
from ._order.row_orders import Windows
from ._tfds.episodes import chosen_steps
from ._tfds.files import files_at
from ._tfds.folder import prepared_at
from ._tfds.nest import nest as nest
from ._tfds.opening import Differences, Splits, description_of, open_split
from ._tfds.splits import EvenSplit as EvenSplit
from ._tfds.splits import even_splits as even_splits

__all__ = ["even_splits", "nest", "open", "windows"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


@suggest_arguments
def open(
    path: Path,
    split: Any = None,
    *,
    metadata: Differences = "error",
    id: str | None = None,
    lift: Any = (),
    count: Any = (),
    index: Path | None = None,
    on_bad_record: Any = "error",
    access: Any = "map",
    check: Any = "data",
    rebuild: bool = False,
    storage: Storage | None = None,
) -> Dataset:
    """Opens a split of a data set that TFDS prepared as TFRecord files.

    Args:
        path: the folder of a version, with dataset_info.json and features.json, or a folder above
            it: then the newest version is opened. Or its URL, such as
            "gs://gresearch/robotics/bridge"; web servers (https) need the version.
        split: as for ``tfds.load``: "train", "train[:80%]", "train[100:-50]", "train[2shard:]",
            "train+test", "all", one of `even_splits`, or a split object of TFDS. May be left out if
            there is one split.
        metadata: what to do if the files are not those that the metadata describes: "error" (the
            default), or "warn", to open those that are there. Percentages then refer to these. With
            "error", a shard that is removed after the index was built is an error when it is read.

    For the other arguments see `recmap.open`. Each split has an index beside its shards, or, of a
    URL, in the current folder (NAME-SPLIT.rmx), also if only a slice of it is opened; a slice is a
    view. If the records have
    steps, they are counted for `windows`.

    ``ds.features()`` are the features that the metadata describes, and ``ds.labels`` the names of
    classes. Pictures are decoded as TFDS does, without regard to their orientation in EXIF, and
    those of another size than the metadata says are errors: an `Image` in place of the one in
    ``ds.features()`` scales them. Those in JPEG differ from TFDS's by a few levels, because
    TensorFlow decodes them with a fast approximation. A tensor with an unknown dimension
    other than the first is two columns, its values and, with "@shape" after its name, its shapes;
    `nest` joins them. What recmap does not decode is delivered as bytes or left out, and a warning
    names it.

    Raises:
        FileMissingError: there is no metadata, or there are no shards.
        InvalidError: the metadata is damaged, or the files differ from it.
        ValueError: there is no such split.
    """
    check_choice("metadata", metadata, {"error": 0, "warn": 1})
    prepared = prepared_at(files_at(path, storage))
    description, specs = description_of(prepared)
    if split is None:
        split = _only_split(list(prepared.info.splits))
    for name, reason in {**specs.raw, **specs.omitted}.items():
        how = "delivered as bytes" if name in specs.raw else "left out"
        warn_caller(f"feature {name!r} is {how}: {reason}")
    options = {
        "id": id,
        "lift": lift,
        "count": _with_steps(count, [steps.counted for steps in description.steps]),
        "index": index,
        "on_bad_record": on_bad_record,
        "access": access,
        "check": check,
        "rebuild": rebuild,
    }
    return open_split(Splits(prepared, metadata, options), split, description)


def _only_split(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    listed = ", ".join(map(repr, names)) or "none"
    raise ValueError(
        f"name a split, such as split={names[0] if names else 'train'!r}: there are {listed}"
    )


def _with_steps(count: Any, steps: list[str]) -> Any:
    """What to count: also the steps of each record, if it has any."""
    added = [name for name in steps if name and name not in count]
    if not added:
        return count
    more: dict[str, Any] = dict.fromkeys(added)
    return {**count, **more} if isinstance(count, Mapping) else [*count, *added]


@suggest_arguments
def windows(
    ds: Dataset,
    size: int,
    *,
    steps: str | None = None,
    stride: int = 1,
    pad: tuple[int, int] = (0, 0),
    seed: int = 0,
) -> tuple[Windows, dict[str, Any]]:
    """Windows of `size` consecutive steps of each episode, for a data set whose records are
    episodes, as RLDS has them: an order and the features of its rows.

        order, features = recmap.tfds.windows(ds, 16, pad=(1, 0), seed=7)
        loader = recmap.Loader(ds, 32, order=order, features=features)

    The features of a step have the window as their first axis, pictures too: only the frames of a
    window are decoded. Those of the episode have their value in each row. Where a window reaches
    past the episode, the nearest step is repeated. Left out are features whose steps differ in
    shape, such as pictures of unknown size and sequences within a step, and those of other nested
    data sets.

    Args:
        ds: a data set of `open`, or a view of it.
        steps: which nested data set has the steps. May be left out if it is called "steps", or if
            there is only one.
        stride, pad, seed: see `recmap.Windows`.

    Raises:
        ValueError: the records have no such steps.
    """
    description = ds._options.description
    chosen = chosen_steps(() if description is None else description.steps, steps)
    counts = ds.counts[chosen.counted]
    if chosen.values_per_step > 1:
        counts = np.asarray(counts) // chosen.values_per_step
    order = Windows(counts, size, stride=stride, pad=pad, seed=seed)
    return order, dict(chosen.window_features)
