"""The features of a data set of CSV files, found in its header and its values."""

from __future__ import annotations

from typing import Any

from .._base.numbers import natural
from .._example.features import FixedLen
from .._example.tables import Csv
from .._example.text_kinds import TEXT, delimiter_of, header_names, widest_kind
from .sample import sample_of

__all__ = ["text_features_of"]

_DTYPES = ("int64", "float64", "bytes")


def text_features_of(dataset: Any, sample: int | None) -> Csv | None:
    """A `Csv` of all fields; None if the records are not rows of files with a header.

    Fields are of int64, float64 or bytes, by what the records of the sample have. A field that one
    of them lacks has the default 0, NaN or b"".
    """
    header = dataset._header()
    if header is None:
        return None
    framing = dataset._formats()[0][0]
    delimiter, has_quotes = delimiter_of(framing), "noquotes" not in framing
    quote = '"' if has_quotes else None
    names = header_names(header[0], delimiter, has_quotes=has_quotes)
    texts = {name: FixedLen((), bytes, default=b"", key=i) for i, name in enumerate(names)}
    rows = Csv(texts, delimiter=delimiter, quote=quote)
    count = len(dataset)
    numbers = sample_of(count, count if sample is None else natural("sample", sample))
    batch = dataset.parse(numbers, rows, on_bad_record="collect")
    features = {name: _feature_of(batch[name].tolist()) for name in names}
    return Csv(features, delimiter=delimiter, quote=quote)


def _feature_of(texts: list[bytes]) -> FixedLen:
    kind = TEXT if not any(texts) else widest_kind(texts)
    default = (0, float("nan"), b"")[kind] if not all(texts) else None
    return FixedLen((), _DTYPES[kind], default)
