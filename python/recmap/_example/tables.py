"""Features of records that are text: rows of CSV, and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .._base.names import suggest_arguments
from .features import FixedLen, Sliced, VarLen, feature_of, rows_of
from .record_reader import Header, RecordReader, refuse_bits
from .row import Row

__all__ = ["Csv", "JsonLines", "TextFeatures"]

_ENDS = ("", '"', "\r", "\n", "\0")


def _checked(kind: str, name: object, given: Any) -> FixedLen | VarLen:
    """The feature, with its own name as the key if it has none."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a feature must be a str, not {name!r}")
    feature = feature_of(given)
    if isinstance(feature, Sliced):
        raise TypeError(
            f"feature {name!r}: rows and windows are cut only from tf.Examples: read whole records "
            "with VarLen, or convert the table with `recmap import`"
        )
    if not isinstance(feature, (FixedLen, VarLen)) or hasattr(feature.dtype, "max_pixels"):
        raise TypeError(
            f"feature {name!r}: {kind} takes FixedLen and VarLen of numbers or bytes, not {given!r}"
        )
    refuse_bits(name, feature.dtype)
    if feature.raw:
        raise ValueError(f"feature {name!r}: raw=True is for tf.Example: {kind} holds text")
    return feature if feature.key is not None else replace(feature, key=name)


def _character(argument: str, text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be one character, not {text!r}")
    if len(text.encode()) != 1 or text in _ENDS:
        raise ValueError(f"{argument} must be one ASCII character, not {text!r}")
    return text


class TextFeatures(RecordReader):
    """Features with the format of the records that they are read from."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        kind = type(self).__name__
        if not isinstance(features, Mapping):
            raise TypeError(f"{kind} takes a dict: {{name: recmap.FixedLen(...), ...}}")
        self._features = {name: _checked(kind, name, given) for name, given in features.items()}

    def __getitem__(self, name: str) -> FixedLen | VarLen:
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def _rows(self) -> tuple[Row, ...]:
        return rows_of(self._features)


@suggest_arguments
class Csv(TextFeatures):
    """Features of rows of CSV, for ``features=``, ``id=`` and ``lift=``: see `open`'s framing.

    A feature is the field of the same name in the header line, or of ``key="name"``, or, also
    without a header, of ``key=3``, which counts from 0. Every dtype works, and spaces around
    numbers are ignored. A field that is empty or `na` takes the feature's default, and is an error
    without one; a `VarLen` is then empty. A `FixedLen` with a shape and a `VarLen` split the field
    at `separator`. A row with another number of fields than the header is an error.

    Args:
        features: {name: FixedLen(...) or VarLen(...)}. Other fields are not converted.
        delimiter: between fields.
        quote: around fields that contain a delimiter, a quote or a line feed. None: quotes are
            ordinary characters.
        na: the text of a field without a value, besides the empty text.
        separator: between the values of one field. Several spaces are one.

    >>> rows = recmap.Csv({"city": recmap.FixedLen((), bytes), "size": recmap.VarLen("int32")})
    >>> (folder / "cities.csv").write_text('city,size\\n"Rome, Italy",1 2\\nOslo,\\n')
    34
    >>> ds = recmap.open(folder / "cities.csv", framing="csv", index=folder / "cities.rmx")
    >>> batch = ds.parse([0, 1], rows)
    >>> batch["city"].tolist(), batch["size"].tolist()
    ([b'Rome, Italy', b'Oslo'], [[1, 2], []])
    """

    def __init__(
        self,
        features: Mapping[str, Any],
        *,
        delimiter: str = ",",
        quote: str | None = '"',
        na: str = "",
        separator: str = " ",
    ) -> None:
        super().__init__(features)
        if quote not in ('"', None):
            raise ValueError(f"quote must be '\"' or None, not {quote!r}")
        if not isinstance(na, str) or "\0" in na:
            raise TypeError(f"na must be a str without NUL, not {na!r}")
        self._format = (
            _character("delimiter", delimiter),
            quote is not None,
            na,
            _character("separator", separator),
        )

    def __repr__(self) -> str:
        delimiter, has_quotes, na, separator = self._format
        quote = '"' if has_quotes else None
        return (
            f"Csv({self._features!r}, delimiter={delimiter!r}, quote={quote!r}, na={na!r}, "
            f"separator={separator!r})"
        )

    def _reader(self, header: Header | None) -> tuple[Any, ...]:
        return ("csv", *self._format, *(header or (None, None)))

    def _rows(self) -> tuple[Row, ...]:
        return rows_of(
            {
                name: replace(feature, key=f"#{feature.key}")
                if isinstance(feature.key, int)
                else feature
                for name, feature in self._features.items()
            }
        )


@suggest_arguments
class JsonLines(TextFeatures):
    """Features of JSON objects, one on each line, for ``features=``, ``id=`` and ``lift=``.

    A feature is the member of the same name, or of ``key="name"``; ``key="a.b"`` is the member b of
    the member a. Numbers, strings (as bytes) and, for "bool", true and false are read as they are
    written: "1" and 1.5 are not integers. null counts as absent: it takes the feature's default,
    and is an error without one. A `FixedLen` with a shape is an array, nested if it has several
    dimensions; a `VarLen` is an array of any length. If a in "a.b" is an array of objects, the
    feature is the array of their members b, which all must have. Of equal names, the last one
    counts.

    >>> points = recmap.JsonLines({"at": recmap.FixedLen((2,), "float32", key="place.at")})
    >>> (folder / "points.jsonl").write_text('{"place": {"at": [0.5, 2]}}\\n')
    28
    >>> ds = recmap.open(folder / "points.jsonl", framing="lines", index=folder / "points.rmx")
    >>> ds.parse([0], points)["at"]
    array([[0.5, 2. ]], dtype=float32)
    """

    def __init__(self, features: Mapping[str, Any]) -> None:
        super().__init__(features)
        for name, feature in self._features.items():
            if not isinstance(feature.key, str):
                raise TypeError(
                    f"feature {name!r}: key is the name of a member, not {feature.key!r}"
                )

    def __repr__(self) -> str:
        return f"JsonLines({self._features!r})"

    def _reader(self, header: Header | None) -> tuple[Any, ...]:
        return ("json",)
