"""The data source "recmap"."""

from __future__ import annotations

from pyspark.sql import datasource as sources
from pyspark.sql import types

from ._advice import spark_errors
from ._reader import Reader
from ._settings import Settings
from ._types import inferred_schema
from ._writer import ShardWriter

__all__ = ["TFRecord"]


class TFRecord(sources.DataSource):
    """The data source "recmap": ``spark.dataSource.register(recmap.spark.TFRecord)``.

    Reading: ``spark.read.format("recmap").load(PATH)``, where PATH is what `recmap.open` takes: an
    ``.rmx``, a folder, a glob, a file. Each task reads a range of record numbers, so that tasks
    have equal work whatever the sizes of the shards. Pass a schema with ``.schema(...)`` to read
    fewer columns; otherwise a sample of the records suggests one. The option where chooses the
    records that are read; Spark applies the filters of a query afterwards.

    Writing: ``df.write.format("recmap").mode("append").save(FOLDER)``, or mode "overwrite". Each
    task writes a shard, and the shards appear together with their index when all tasks are done. A
    task that failed or was repeated leaves nothing.

    Options:
        recordType: "Example", "SequenceExample" (arrays of arrays become feature lists) or
            "ByteArray" (one column of records).
        id, lift, missing_values, count, index: see `recmap.open`; lift and count are names with
            commas between, as for the command: "age=0,score", "tokens:uint16". Shards that are
            appended get what the index has.
        split, sets: the sets of shards to read; see `recmap.open`.
        storage.NAME: a storage option of `recmap.open`, as "storage.endpoint", for reading.
        allow_absolute_paths, allow_urls: "true" lets an ``.rmx`` name shards outside its own folder
            by absolute paths, or by URLs, when it is read; see `recmap.open`. Set them only for an
            index that you trust, because it decides what the executors read. Shards that are named
            by the path need neither.
        compression: of what is written: "none" or "gzip".
        partitions: the number of tasks that read; by default one for every 64 MiB.
        sample: the number of records to infer the schema from; 1000 by default, 0: all.
        where: the records to read, as an expression over lifted columns: see `Dataset.where`. The
            driver evaluates it, and the tasks read only the records for which it is true.
    """

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "recmap"

    def schema(self) -> types.StructType:
        """The schema that a sample of the records suggests."""
        settings = Settings(self.options)
        with spark_errors(settings.place()), settings.open() as dataset:
            return inferred_schema(dataset, settings.sample or None, settings.record_type)

    def reader(self, schema: types.StructType) -> sources.DataSourceReader:
        """The reader of a query."""
        settings = Settings(self.options)
        return Reader(settings.open(), schema, settings)

    def writer(self, schema: types.StructType, overwrite: bool) -> sources.DataSourceWriter:
        """The writer of a job.

        Raises:
            ValueError: an option is only for reading.
        """
        given = {name.lower() for name in self.options}
        if "where" in given:
            raise ValueError("the option where is for reading: filter the DataFrame instead")
        if "split" in given:
            raise ValueError("the option split is for reading: write each split to its own folder")
        return ShardWriter(schema, Settings(self.options), overwrite)
