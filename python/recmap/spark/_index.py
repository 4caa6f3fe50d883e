"""Building indexes on a cluster."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from .._errors import Error
from .._index import build
from .._options.options import (
    Compression,
    Count,
    Lift,
    MissingLift,
    OnCorrupt,
    Path,
    Source,
    StorageOptions,
    absolute,
    counted_of,
    expanded,
    lifts_of,
    load_framing,
    names_of,
    path_of,
    storage_pairs,
    with_signed_urls,
)

__all__ = ["index"]


def index(
    spark: Any,
    source: Source,
    path: Path | None = None,
    *,
    id: str | None = None,
    lift: Lift = (),
    missing: MissingLift = "error",
    count: Count = (),
    on_corrupt: OnCorrupt = "raise",
    framing: Path = "auto",
    compression: Compression = "auto",
    from_idx: Path | None = None,
    threads: int = 1,
    memory_limit: int | str | None = None,
    storage_options: StorageOptions | None = None,
) -> str:
    """Builds an index on the cluster, one task per shard, and returns its path.

    The result equals what `recmap.index` builds, byte for byte. The tasks write partial indexes
    next to it, and this process merges them, so all nodes must be able to write to that folder.

    Args:
        spark: the session.
        source, path, id, lift, missing, count, on_corrupt, framing, compression, from_idx,
            memory_limit, storage_options: see `recmap.index`.
        threads: threads per task.
    """
    name, framing_path = load_framing(framing)  # the merge in this process needs it too
    pairs = storage_pairs(storage_options)
    shards, default_path, all_pairs = expanded(names_of(source), pairs, None)
    storage_options = with_signed_urls(storage_options, all_pairs)
    target = os.path.abspath(path if path is not None else default_path)
    arguments = {
        "id": id,
        "lift": dict(lifts_of(lift)),
        "missing": missing,
        "count": dict(counted_of(count)),
        "on_corrupt": on_corrupt,
        "framing": framing_path or name,
        "compression": compression,
        "from_idx": path_of(from_idx),
        "threads": threads,
        "memory_limit": memory_limit,
        "progress": None,
        "storage_options": storage_options,
    }
    prefix = f".{os.path.basename(target)}.parts-"
    folder = tempfile.mkdtemp(prefix=prefix, dir=os.path.dirname(target))
    try:
        names = [absolute(shard) for shard in shards]
        build.merge(target, _run_tasks(spark, names, folder, arguments), progress=None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def _run_tasks(
    spark: Any, shards: Sequence[str], folder: str, arguments: dict[str, Any]
) -> list[str]:
    """Indexes each shard in a task of its own. Returns the paths of the partial indexes."""

    def index_shards(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            errors: list[bytes | None] = []
            for number in batch.column(0).to_pylist():
                part = os.path.join(folder, f"{number:08d}.rmx")
                try:
                    build.index(shards[number], part, **arguments)
                    errors.append(None)
                except Error as error:  # with its own type, rather than one of Spark
                    errors.append(pickle.dumps(error))
            yield pa.RecordBatch.from_arrays([pa.array(errors, pa.binary())], names=["error"])

    numbers = spark.range(0, len(shards), 1, len(shards))
    rows = numbers.mapInArrow(index_shards, "error binary").collect()
    for row in rows:
        if row["error"] is not None:
            raise pickle.loads(row["error"])
    return [os.path.join(folder, f"{i:08d}.rmx") for i in range(len(shards))]
