"""What TFDS writes beside the shards: dataset_info.json, with the splits.

Source of the format: tensorflow_datasets 4.9, core/proto/dataset_info.proto, as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._base.errors import InvalidError, UnsupportedError
from .splits import Split

__all__ = ["Info", "info_of", "json_of", "natural_of", "text_of"]

_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
_NAME = re.compile(r"[\w-]+")
_SHARDS_MAX = 1 << 20
_NUMBER = "\0"  # where the number of a shard is: no name has it


@dataclass(frozen=True)
class Info:
    """A prepared data set."""

    name: str
    version: str
    splits: Mapping[str, Split]
    templates: Mapping[str, str]  # of the files of each split
    sizes: Mapping[str, int]  # bytes of the examples of each split; 0: not known

    def files(self, split: str) -> list[str]:
        """The names of the shards of a split, relative to the folder."""
        count = len(self.splits[split].shard_lengths)
        values = {
            "DATASET": self.name,
            "SPLIT": split,
            "FILEFORMAT": "tfrecord",
            "SHARD_INDEX": _NUMBER,
            "NUM_SHARDS": f"{count:05}",
            "SHARD_X_OF_Y": f"{_NUMBER}-of-{count:05}",
        }
        name = re.sub(
            r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), self.templates[split]
        )
        parts = name.split(_NUMBER)
        return [f"{shard:05}".join(parts) for shard in range(count)]


def json_of(text: bytes, path: str) -> Any:
    """The value of a JSON file.

    Raises:
        InvalidError: it is not JSON, or too deeply nested.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = (
            "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
        )
        raise InvalidError(
            f"this metadata of TFDS {reason}", path, advice="Copy the file again from its source."
        ) from None


def _wrong(what: str, value: object, path: str) -> InvalidError:
    shown = repr(value)
    shown = shown if len(shown) < 100 else f"{shown[:100]}..."
    return InvalidError(f"this metadata of TFDS is wrong: {what} is {shown}", path)


def natural_of(value: Any, what: str, path: str) -> int:
    """A whole number, which protobuf's JSON writes as a text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 60:
        return int(value)
    raise _wrong(what, value, path)


def _naturals_of(values: Sequence[Any], what: str, path: str) -> Iterable[int]:
    """Whole numbers. Those of many shards are checked all at once, if they are as usual."""
    if all(isinstance(value, str) and 0 < len(value) <= 18 for value in values):
        digits = "".join(values)
        if digits.isascii() and digits.isdigit():
            return map(int, values)
    return [natural_of(value, what, path) for value in values]


def text_of(value: Any, what: str, path: str) -> str:
    """A text that can be part of a file name."""
    if isinstance(value, str) and value and not re.search(r"[/\0]", value) and value != "..":
        return value
    raise _wrong(what, value, path)


def _list_of(value: Any, what: str, path: str) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    raise _wrong(what, value, path)


def _dict_of(value: Any, what: str, path: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise _wrong(what, value, path)


def _template_of(value: Any, path: str) -> str:
    template = value or _TEMPLATE
    parts = template.split("/") if isinstance(template, str) else [".."]
    if ".." in parts or not all(parts) or "\0" in template:
        raise _wrong("filepathTemplate", value, path)
    return str(template)


def _split_of(given: Any, path: str) -> Split:
    split = _dict_of(given, "a split", path)
    name = split.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _wrong("the name of a split", name, path)
    lengths = _list_of(split.get("shardLengths", []), f"shardLengths of split {name!r}", path)
    if len(lengths) > _SHARDS_MAX:
        raise _wrong(f"the number of shards of split {name!r}", len(lengths), path)
    what = f"a shard length of split {name!r}"
    return Split(name, tuple(_naturals_of(lengths, what, path)))


def info_of(text: bytes, path: str) -> Info:
    """The content of a dataset_info.json.

    Raises:
        InvalidError: it is damaged.
        UnsupportedError: the shards are not TFRecord files.
    """
    given = _dict_of(json_of(text, path), "the file", path)
    format = given.get("fileFormat", "tfrecord")
    if format != "tfrecord":
        raise UnsupportedError(
            f"the data set was prepared as {str(format)[:40]!r}, not as TFRecord files",
            path,
            advice="Prepare it with file_format='tfrecord', or read it with TFDS.",
        )
    entries = [
        _dict_of(entry, "a split", path)
        for entry in _list_of(given.get("splits", []), "splits", path)
    ]
    splits = [_split_of(entry, path) for entry in entries]
    names = [split.name for split in splits]
    if len(set(names)) < len(names):
        raise _wrong("the list of splits", names, path)
    return Info(
        text_of(given.get("name"), "name", path),
        text_of(given.get("version", "?"), "version", path),
        dict(zip(names, splits, strict=True)),
        {
            name: _template_of(entry.get("filepathTemplate"), path)
            for name, entry in zip(names, entries, strict=True)
        },
        {
            name: natural_of(entry.get("numBytes", 0), "numBytes", path)
            for name, entry in zip(names, entries, strict=True)
        },
    )
