"""Building indexes on a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from .._display.progress import Progress
from .._errors import Error
from .._index.build import plan_of
from .._index.parts import BuiltPart, Part, build_in_parts
from .._options.credentials import Credentials
from .._options.options import (
    Access,
    Compression,
    Count,
    Lift,
    MissingLift,
    OnBadRecordIndexing,
    Path,
    Sets,
    Source,
    StorageOptions,
)

__all__ = ["index"]


def index(
    spark: Any,
    source: Source,
    path: Path | None = None,
    *,
    id: str | None = None,
    lift: Lift = (),
    missing_values: MissingLift = "error",
    count: Count = (),
    split: str | None = None,
    sets: Sets = "error",
    on_bad_record: OnBadRecordIndexing = "error",
    framing: Path = "auto",
    compression: Compression = "auto",
    from_idx: Path | None = None,
    threads: int = 1,
    memory_limit: int | str | None = None,
    guard: bool = False,
    access: Access = "map",
    progress: Progress = "auto",
    storage_options: StorageOptions | None = None,
    credentials: Credentials | None = None,
    fs: Any = None,
) -> str:
    """Builds an index on the cluster, one task per shard, and returns its path.

    The result equals what `recmap.index` builds, byte for byte. The tasks write partial indexes
    next to it, and this process merges them, so all nodes must be able to write to that folder. A
    custom framing and text indexes must be readable on all nodes.

    Args:
        spark: the session.
        source, path, id, lift, missing_values, count, split, sets, on_bad_record, framing,
            compression, from_idx, memory_limit, guard, access, storage_options: see
            `recmap.index`.
        credentials: see `recmap.index`; every task calls it, so it must be picklable.
        fs: see `recmap.index`; every task reads with a copy of it, so it must be picklable.
        threads: threads per task; set ``spark.task.cpus`` to as many.
        progress: reports the progress of the merge. Spark shows that of the tasks.
    """
    plan = plan_of(
        source,
        path,
        id=id,
        lift=lift,
        missing_values=missing_values,
        count=count,
        split=split,
        sets=sets,
        on_bad_record=on_bad_record,
        framing=framing,
        compression=compression,
        from_idx=from_idx,
        threads=threads,
        memory_limit=memory_limit,
        guard=guard,
        access=access,
        progress=progress,
        storage_options=storage_options,
        credentials=credentials,
        fs=fs,
    )
    return build_in_parts(plan, lambda parts: _run_tasks(spark, parts))


def _run_tasks(spark: Any, parts: list[Part]) -> list[BuiltPart]:
    """Builds each part in a task of its own, and returns what the tasks tell."""

    # Every task gets these. Lists of texts are unpickled much faster than as many parts.
    paths, shards = [part.path for part in parts], [part.shard for part in parts]
    options = parts[0].options

    def build_parts(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            results = [_result_of(Part(paths[i], shards[i], options)) for i in numbers]
            yield pa.RecordBatch.from_arrays([pa.array(results, pa.binary())], names=["result"])

    numbers = spark.range(0, len(parts), 1, len(parts))
    rows = numbers.mapInArrow(build_parts, "result binary").collect()
    results = [pickle.loads(row["result"]) for row in rows]
    for result in results:
        if isinstance(result, Error):
            raise result
    return results


def _result_of(part: Part) -> bytes:
    """Builds a part. An error of recmap is returned, to be raised with its own type rather than one
    of Spark. Others are raised, so that Spark repeats the task."""
    try:
        return pickle.dumps(part.build())
    except Error as error:
        return pickle.dumps(error)
