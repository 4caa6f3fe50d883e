"""Columns: the values of a batch of records by feature.

Numbers are NumPy arrays over the library's memory and bytes are views into the mapped shards, so
nothing is copied. A column is created when it is first used, and keeps its batch alive.
"""

from .batch import Column, ColumnBatch, columns_of, name_of_lengths, sequence_columns_of
from .bytes import BytesColumn
from .images import ImageColumn
from .ragged import RaggedColumn
from .row_batch import Positions, RowBatch, RowForm, rows_of_batch, sequence_rows_of_batch
from .sparse import SparseColumn

__all__ = [
    "BytesColumn",
    "Column",
    "ColumnBatch",
    "ImageColumn",
    "Positions",
    "RaggedColumn",
    "RowBatch",
    "RowForm",
    "SparseColumn",
    "columns_of",
    "name_of_lengths",
    "rows_of_batch",
    "sequence_columns_of",
    "sequence_rows_of_batch",
]
