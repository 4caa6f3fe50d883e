"""`recmap import` of tables: CSV and Parquet files into TFRecord shards with an index.

JSON lines are imported by the program that the command starts; this module runs before it, for
files that it cannot read.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from .._base.errors import Error, InvalidError, UnsupportedError
from .._base.imports import import_library, is_installed
from .._base.plural import counted
from .._base.values import BeyondFloatError
from .._example.features import FixedLen
from .._example.tables import Csv
from .._example.text_kinds import TEXT, header_names, widest_kind
from .open import open as open_dataset
from .writer import Writer

__all__ = ["import_tables"]

_TABLES = re.compile(r"\.(csv|tsv|parquet)(\.gz)?$", re.IGNORECASE)
_BATCH = 4096  # records that are converted together

Row = dict[str, Any]


def import_tables(arguments: list[str]) -> int | None:
    """Runs `recmap import` if its files are tables. Returns the exit status, or None if the
    arguments are for the program."""
    if not arguments or arguments[0] != "import" or not any(map(_TABLES.search, arguments[1:])):
        return None
    parser = argparse.ArgumentParser(prog="recmap import", allow_abbrev=False)
    parser.add_argument("-o", "--output", metavar="OUT[@N]", required=True)
    parser.add_argument("files", metavar="FILE", nargs="+")
    given = parser.parse_args(arguments[1:])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always")
            count = _import(given.files, given.output)
    except Error as error:
        return _fail(str(error), error)
    except (OSError, TypeError, ValueError) as error:
        return _fail(str(error), error)
    print(f"recmap: {given.output}: {counted(count, 'record')}", file=sys.stderr)
    return 0


def _fail(text: str, error: Exception) -> int:
    """Prints an error as the program does. Statuses are those of the program."""
    print(f"recmap: {text}", file=sys.stderr)
    statuses = {"InvalidError": 2, "CorruptRecordError": 3, "FeatureError": 3}
    return statuses.get(type(error).__name__, 4 if isinstance(error, OSError) else 2)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print(f"recmap: {message}", file=sys.stderr)


def _import(files: list[str], output: str) -> int:
    others = [name for name in files if not _TABLES.search(name)]
    if others:
        raise InvalidError(
            "is not a CSV or Parquet file, but the other files are",
            others[0],
            advice="import JSON lines apart",
        )
    count = 0
    with Writer(output, index=_index_of(output)) as writer:
        for name in files:
            rows = _parquet_rows(name) if ".parquet" in name.lower() else _csv_rows(name)
            count += _write_all(writer, rows, name)
    return count


def _write_all(writer: Writer, rows: Iterable[Row], name: str) -> int:
    count = 0
    try:
        for row in rows:
            _write(writer, row, name, count)
            count += 1
    except BeyondFloatError as error:
        raise _refused(error, name, count) from None
    return count


def _write(writer: Writer, row: Row, name: str, number: int) -> None:
    """Writes the row. An error about one of its values names the file and the row."""
    try:
        writer.write(row)
    except Error:
        raise
    except (OverflowError, TypeError, ValueError) as error:
        raise _refused(error, name, number) from None


def _refused(error: Exception, name: str, number: int) -> InvalidError:
    return InvalidError(f"row {number}: {error}", name, advice="cast the column, or leave it out")


def _index_of(output: str) -> str:
    """The index of the files: NAME.rmx for NAME@N and NAME.tfrecord."""
    folder, name = os.path.split(output)
    name = re.sub(r"(\.tfrecords?)?(\.gz|\.zlib)?$", "", re.sub(r"@[0-9]+", "", name), count=1)
    return os.path.join(folder, f"{name}.rmx")


# ---- CSV.


def _csv_rows(name: str) -> Iterator[Row]:
    """The rows, whose values are integers, floats or texts by what the whole column reads like. An
    empty field is a missing feature."""
    delimiter, kind = ("\t", "csv:tab") if ".tsv" in name.lower() else (",", "csv")
    with (
        tempfile.TemporaryDirectory(prefix="recmap-import-") as folder,
        open_dataset(name, framing=kind, index=os.path.join(folder, "table.rmx")) as ds,
    ):
        header = ds._header()
        names = header_names(header[0] if header else b"", delimiter)
        features = {
            text: FixedLen((), bytes, default=b"", key=place) for place, text in enumerate(names)
        }
        table = Csv(features, delimiter=delimiter)

        def batches() -> Iterator[dict[str, list[bytes]]]:
            for first in range(0, len(ds), _BATCH):
                batch = ds.parse(range(first, min(first + _BATCH, len(ds))), table)
                yield {text: batch[text].tolist() for text in names}

        converters = _converters_of(names, batches())
        for batch in batches():
            columns = [map(converters[text], batch[text]) for text in names]
            for values in zip(*columns, strict=True):
                yield {
                    text: value
                    for text, value in zip(names, values, strict=True)
                    if value is not None
                }


def _converters_of(names: list[str], batches: Iterable[dict[str, list[bytes]]]) -> dict[str, Any]:
    """How to convert the texts of each column, by all of them."""
    kinds = dict.fromkeys(names, 0)
    for batch in batches:
        for name, values in batch.items():
            if kinds[name] < TEXT:
                kinds[name] = max(kinds[name], widest_kind(values))
    return {name: (_integer, _float, _text)[kind] for name, kind in kinds.items()}


def _integer(text: bytes) -> int | None:
    return int(text) if text.strip() else None


def _float(text: bytes) -> float | None:
    text = text.strip()
    if not text:
        return None
    value = float(text)
    if math.isinf(value) and not text.lower().endswith(b"inf"):
        raise BeyondFloatError(f"{text[:40].decode()}..." if len(text) > 40 else text.decode(), 0)
    return value


def _text(text: bytes) -> bytes | None:
    return text or None


# ---- Parquet.


def _parquet_rows(name: str) -> Iterator[Row]:
    """The rows; a null is a missing feature. Times are integers, in the unit of the column."""
    if not is_installed("pyarrow"):
        raise UnsupportedError(
            "pyarrow, which reads Parquet, is not installed", name, advice="pip install pyarrow"
        )
    arrow, parquet = import_library("pyarrow"), import_library("pyarrow.parquet")
    try:
        with parquet.ParquetFile(name) as file:
            for batch in file.iter_batches(_BATCH):
                yield from _rows_of_batch(batch, arrow, name)
    except arrow.ArrowInvalid as error:
        raise InvalidError(f"is not a Parquet file, or is damaged: {error}", name) from None


def _rows_of_batch(batch: Any, arrow: Any, name: str) -> Iterator[Row]:
    names = batch.schema.names
    columns = [
        _values_of(column, arrow, text, name)
        for text, column in zip(names, batch.columns, strict=True)
    ]
    for values in zip(*columns, strict=True):
        yield {t: value for t, value in zip(names, values, strict=True) if value is not None}


def _values_of(column: Any, arrow: Any, text: str, name: str) -> list[Any]:
    types = arrow.types
    kind = column.type
    if types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if types.is_temporal(kind):
        width = arrow.int32() if kind.bit_width == 32 else arrow.int64()
        return list(column.cast(width).to_pylist())
    is_list = _is_list(kind, types)
    item = kind.value_type if is_list else kind
    if not _is_known(item, types):
        raise UnsupportedError(
            f"the column {text!r} is of type {kind}, which a tf.Example cannot hold",
            name,
            advice="cast it to numbers, texts or lists of them, or leave it out",
        )
    values = list(column.to_pylist())
    if is_list and any(v is not None and None in v for v in values):
        raise UnsupportedError(
            f"the column {text!r} has lists with nulls in them, which a tf.Example cannot hold",
            name,
            advice="replace the nulls, for example by NaN or -1, or leave the column out",
        )
    return _without_decimals(values, item, is_list) if types.is_decimal(item) else values


def _is_any(kind: Any, types: Any, names: Iterable[str]) -> bool:
    """Returns true if a type is one of these, some of which an older pyarrow does not have."""
    return any(getattr(types, f"is_{name}", lambda _: False)(kind) for name in names)


def _is_list(kind: Any, types: Any) -> bool:
    names = "list", "large_list", "fixed_size_list", "list_view", "large_list_view"
    return _is_any(kind, types, names)


def _is_known(item: Any, types: Any) -> bool:
    numbers = "integer", "floating", "decimal", "boolean", "null"
    texts = "string", "large_string", "string_view"
    binary = "binary", "large_binary", "binary_view", "fixed_size_binary"
    return _is_any(item, types, (*numbers, *texts, *binary))


def _without_decimals(values: list[Any], item: Any, is_list: bool) -> list[Any]:
    """Decimals as the numbers that CSV would give: integers, or floats if there is a fraction."""
    convert = float if item.scale > 0 else int
    if is_list:
        return [None if row is None else [convert(value) for value in row] for row in values]
    return [None if value is None else convert(value) for value in values]
