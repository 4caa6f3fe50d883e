"""Building indexes on a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, Unpack

import pyarrow as pa

from .._base.errors import Error
from .._base.names import suggest_arguments
from .._index.build import IndexArguments, plan_of
from .._index.parts import BuiltPart, Part, build_in_parts
from .._options.options import Source
from .._options.storage import Path

__all__ = ["index"]


@suggest_arguments(options=IndexArguments.__annotations__)
def index(
    spark: Any,
    source: Source,
    path: Path | None = None,
    *,
    threads: int = 1,
    **arguments: Unpack[IndexArguments],
) -> str:
    """Builds an index on the cluster, one task per shard, and returns its path.

    The result equals what `recmap.index` builds, byte for byte. The tasks write partial indexes
    next to it, and this process merges them, so all nodes must be able to write to that folder. A
    custom framing and text indexes must be readable on all nodes.

    Args:
        spark: the session.
        source, path, arguments: see `recmap.index`. Every task calls the credentials of `storage`
            and reads with a copy of its filesystem, so both must be picklable. `progress` shows the
            merge; Spark shows the tasks.
        threads: threads per task; set ``spark.task.cpus`` to as many.
    """
    plan = plan_of(source, path, threads=threads, **arguments)
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
