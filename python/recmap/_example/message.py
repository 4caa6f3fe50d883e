"""Messages: what to parse from records that are protobuf messages of any type."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .. import _recmap
from .._base.names import suggest_arguments
from .features import (
    Feature,
    FixedLen,
    Ragged,
    Sliced,
    VarLen,
    feature_of,
    name_of_key,
    parser_of,
    rows_of,
)
from .images import Image
from .partitions import RowLengths
from .record_reader import Header, RecordReader, refuse_bits
from .row import Row

__all__ = ["Extraction", "Message", "extraction_of"]

DescriptorSet: TypeAlias = "str | os.PathLike[str] | bytes | None"


def _bytes_of(descriptor_set: Any) -> bytes | None:
    """The bytes of a descriptor set that is given as a file, as bytes, or as a message."""
    if descriptor_set is None or isinstance(descriptor_set, bytes):
        return descriptor_set
    if hasattr(descriptor_set, "SerializeToString"):
        data: bytes = descriptor_set.SerializeToString()
        return data
    with open(os.fspath(descriptor_set), "rb") as file:
        return file.read()


@suggest_arguments
class Message(RecordReader):
    """Features of records that are protobuf messages: pass it as ``features=``.

    It is a mapping of the columns to what is read for them. A path names a field by the names of
    the fields that lead to it ("tracks.states.center_x"), or by their numbers ("2.3.2"). The
    entries of a map have the fields ``key`` and ``value``. Values are those that protobuf gives: an
    absent field has its default, of several values the last counts, and submessages that are there
    several times are merged. See docs/guide/messages.md.

    Args:
        descriptor_set: the file that ``protoc --include_imports --descriptor_set_out=FILE`` writes,
            or its bytes. None: fields are named by numbers, and each column needs a feature, whose
            dtype says what the field holds. Values that a writer left out because they are defaults
            are then missing.
        type: the message type of the records: its full name, or the last part of it if no other
            type of the set has that. None without a descriptor set.
        fields: {column: path} or {column: feature}. A path gives one value per record, or one level
            of rows for each repeated field on it, in the dtype of the field. A feature chooses
            more: `FixedLen`, `VarLen`, `FixedLenSequence`, `Ragged`, `Sparse`, `Image` or `Boxes`,
            whose `key` is the path (default: the name of the column). `VarLen` of a field that is
            not repeated gives no value if the record does not contain it. ``Ragged(dtype, [])`` has
            the rows of the message.

    Raises:
        InvalidError: the descriptor set is malformed or lacks a file or a type, or the type has no
            such field.

    >>> fields = recmap.Message(None, None, {"id": recmap.FixedLen((), bytes, key="5.3")})
    >>> fields["id"]
    FixedLen((), <class 'bytes'>, key='5.3')
    """

    def __init__(
        self, descriptor_set: DescriptorSet, type: str | None, fields: Mapping[str, Any]
    ) -> None:
        if not isinstance(fields, Mapping):
            raise TypeError('fields must be a dict: {"id": "scenario_id", ...}')
        self._descriptor_set = _bytes_of(descriptor_set)
        self._type = _recmap.MessageType(self._descriptor_set, type)
        self._given = {name: _plain(name, given) for name, given in fields.items()}
        self._fields = {name: self._field(name, given) for name, given in self._given.items()}
        parser_of(self)  # checks the fields

    @property
    def type(self) -> str | None:
        """The full name of the message type; None without a descriptor set."""
        return self._type.name() or None

    def __getitem__(self, name: str) -> Feature:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Message({self.type!r}, {self._fields!r})"

    # A mapping would equal another type's mapping of the same features.
    __eq__ = object.__eq__

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __reduce__(self) -> Any:
        return Message, (self._descriptor_set, self.type, self._given)

    def json(self, record: Any, number: int = 0) -> str:
        """One record as JSON: protobuf's mapping of the message. Bytes that are not such a message
        give {"number": N, "base64": ...}."""
        return self._type.record(record, number)

    def fields(self) -> list[dict[str, Any]]:
        """All fields of the type that are not messages: "path", "kind" and "levels", which is the
        number of repeated fields on the path."""
        listed: list[dict[str, Any]] = json.loads(self._type.fields())
        return listed

    def _reader(self, header: Header | None) -> _recmap.MessageType:
        return self._type

    def _rows(self) -> tuple[Row, ...]:
        return rows_of(self._fields)

    def _field(self, name: str, given: Any) -> Feature:
        """The feature that reads a column. It knows its message, to be an id or a lifted column."""
        field = self._of_path(given) if isinstance(given, str) else self._of_feature(name, given)
        own = replace(field)
        object.__setattr__(own, "_source", (self, name))  # not a part of its value
        return own

    def _of_path(self, path: str) -> Feature:
        if self.type is None:
            raise ValueError(
                f"without a descriptor set, {path!r} needs a dtype: FixedLen((), bytes, "
                f"key={path!r})"
            )
        kind, dtype, levels = self._type.find(path)
        if dtype is None:
            raise ValueError(f"{path!r} is a {kind}: name a field of it")
        given = bytes if dtype == "bytes" else dtype
        if not levels:
            return FixedLen((), given, key=path)
        return self._nested(VarLen(given, key=path), path, levels)

    def _of_feature(self, name: str, given: Any) -> Feature:
        feature: Feature = feature_of(given)
        refuse_bits(name, getattr(feature, "dtype", None))
        if isinstance(feature, Sliced):
            raise ValueError(
                f"feature {name!r}: rows and windows are cut only from tf.Examples: read whole "
                "records with VarLen, or write the values as tf.Examples with recmap.Writer"
            )
        if not isinstance(feature, (VarLen, Ragged)) or self.type is None:
            return feature
        is_ragged = isinstance(feature, Ragged)
        key = name_of_key(feature.key)
        path = name if key is None else key
        # Such features are read as they are; # is the number of elements of a repeated field.
        has_own = feature.partitions if isinstance(feature, Ragged) else feature.raw
        if has_own or isinstance(feature.dtype, Image) or path.endswith("#"):
            return feature
        levels = self._type.find(path)[2]
        if is_ragged and not levels:
            raise ValueError(f"feature {name!r}: the path {path!r} has no repeated field")
        return self._nested(feature, path, levels)

    def _nested(self, feature: Any, path: str, levels: int) -> Feature:
        """The outermost repeated field gives the rows of a record, the others partition them."""
        if levels < 2:
            return VarLen(feature.dtype, key=feature.key, copy=feature.copy)
        parts = path.split(".")
        prefixes = [".".join(parts[: i + 1]) for i in range(len(parts))]
        depths = [self._type.find(prefix)[2] for prefix in prefixes]
        lengths = [RowLengths(prefixes[depths.index(k)] + "#") for k in range(2, levels + 1)]
        return Ragged(feature.dtype, lengths, key=feature.key, copy=feature.copy)


def _plain(name: str, given: Any) -> Any:
    """The feature without the message that it may come from, so that messages can be pickled."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a column must be a str, not {name!r}")
    return replace(given) if hasattr(given, "_source") else given


@dataclass(frozen=True)
class Extraction:
    """Which fields of messages are the ids and the lifted columns of an index."""

    message: Message
    id: str | None  # names of the message's columns
    columns: tuple[tuple[str, str], ...]  # (column of the index, column of the message)

    def _rows(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        return rows_of({name: self.message[name] for name in names})

    def id_name(self) -> str | None:
        """The name of the ids in the index."""
        return self._lift(())[1]

    def for_ids(self) -> Any:
        """What reads the ids of an open data set; None if it has none."""
        return None if self.id is None else self._lift(())[0]

    def for_index(self, id: str | None, lifts: tuple[tuple[str, str | None], ...]) -> Any:
        """What reads the ids and columns of an index.

        Raises:
            ValueError: the index has ids or a column of which the field is not known.
        """
        known = dict(self.columns)
        unknown = [name for name, _ in lifts if name not in known]
        if id is not None and self.id is None:
            raise ValueError(f"the index has ids of {id!r}: give their field as id= too")
        if unknown:
            raise ValueError(f"the index has a column {unknown[0]!r}: give its field in lift= too")
        return self._lift(tuple(known[name] for name, _ in lifts))[0]

    def _lift(self, columns: tuple[str, ...]) -> tuple[Any, str | None]:
        id = () if self.id is None else (self.id,)
        rows = tuple(row for name in columns for row in self._rows((name,)))
        return self.message._type.lift(self._rows(id), rows)


def _source_of(given: Any) -> tuple[Message, str] | None:
    source: tuple[Message, str] | None = getattr(given, "_source", None)
    return source


def _lifted(lift: Any) -> dict[str, tuple[Message, str]]:
    """The fields of messages among the columns to lift, by the names of the columns."""
    if isinstance(lift, Mapping):
        found = {name: _source_of(given) for name, given in lift.items()}
    elif isinstance(lift, (list, tuple)):
        sources = [_source_of(given) for given in lift]
        found = {source[1]: source for source in sources if source is not None}
    else:
        found = {}
    return {name: source for name, source in found.items() if source is not None}


def extraction_of(id: Any, lift: Any) -> tuple[str | None, Any, Extraction | None]:
    """The arguments ``id=`` and ``lift=`` as names, and the fields of messages that they are.

    Raises:
        TypeError: some are fields of messages, and others are features of tf.Example.
        ValueError: they are fields of different messages.
    """
    source, lifted = _source_of(id), _lifted(lift)
    if source is None and not lifted:
        return id, lift, None
    if (id is not None and source is None) or len(lifted) != len(lift):
        raise TypeError("id and lift must all be fields of one recmap.Message, or none of them")
    sources = [*([] if source is None else [source]), *lifted.values()]
    message = sources[0][0]
    if any(other.__reduce__()[1][:2] != message.__reduce__()[1][:2] for other, _ in sources):
        raise ValueError("id and lift must be fields of messages of one type")
    merged = Message(message._descriptor_set, message.type, _by_column(source, lifted))
    columns = tuple((name, f"lift {name}") for name in lifted)
    extraction = Extraction(merged, None if source is None else "id", columns)
    return extraction.id_name(), dict.fromkeys(lifted), extraction


def _by_column(
    id: tuple[Message, str] | None, lifted: dict[str, tuple[Message, str]]
) -> dict[str, Any]:
    """The fields that an index reads, which may be of several objects of one type."""
    fields = {f"lift {column}": _keyed(*source) for column, source in lifted.items()}
    return fields if id is None else {"id": _keyed(*id), **fields}


def _keyed(message: Message, name: str) -> Any:
    field: Any = message[name]
    return replace(field, key=name if field.key is None else field.key)
