"""recmap in Apache Spark: a data source that reads and writes indexed shards, and indexing on a
cluster.

    spark.dataSource.register(recmap.spark.TFRecord)
    df = spark.read.format("recmap").load("/data/train.rmx")
    df.write.format("recmap").mode("append").option("id", "user_id").save("/data/out")

All nodes must reach the shards and the index under the same paths. Needs Spark 4.1 or later
(``pip install 'pyspark>=4.1' pyarrow``), with recmap on all nodes. docs/frameworks/spark.md is a
guide with the table of types.
"""

from ._index import index
from ._source import TFRecord

__all__ = ["TFRecord", "index"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)
