"""The options of the data source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from .._base.errors import InvalidError, redacted
from .._base.renamed import current_arguments
from .._dataset.dataset import Dataset
from .._index.open import open_with
from .._options.options import MissingLift, Sets, is_url
from .._options.reading import Reading
from .._options.storage import Storage
from ._advice import Place, option, spark_errors

__all__ = ["Settings"]

_Choice = TypeVar("_Choice", bound=str)

_RECORD_TYPES = ("Example", "SequenceExample", "ByteArray")

_OPTIONS = {
    "path", "paths", "recordtype", "id", "lift", "count", "index", "partitions", "sample",
    "missing_values", "compression", "where", "allow_absolute_paths", "allow_urls", "split", "sets"
}  # fmt: skip
_MISSING: tuple[MissingLift, ...] = ("error", "null")
_SETS: tuple[Sets, ...] = ("error", "all")
_STORAGE = "storage."
_PERMISSIONS = ("allow_absolute_paths", "allow_urls")


class Settings:
    """The options of a data source. Their names are not case-sensitive."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {name.lower(): value for name, value in options.items()}
        self.values = current_arguments("option", given, _OPTIONS)
        self.storage = {
            name.removeprefix(_STORAGE): self.values.pop(name)
            for name in list(self.values)
            if name.startswith(_STORAGE)
        }
        unknown = sorted(self.values.keys() - _OPTIONS)
        if unknown:
            raise ValueError(
                f"there is no option {unknown[0]!r}; options are {_names_of_options()}"
            )
        self.paths = [_local(path) for path in self._given_paths()]
        self.record_type = self._choice("recordtype", _RECORD_TYPES, "Example")
        self.missing_values: MissingLift = self._choice("missing_values", _MISSING, "error")
        self.is_gzip = self._choice("compression", ("none", "gzip"), "none") == "gzip"
        self.id = self.values.get("id")
        self.lift = dict(_parted(name, "=") for name in self._list("lift"))
        self.count = dict(_parted(name, ":") for name in self._list("count"))
        self.index = self.values.get("index")
        self.split = self.values.get("split")
        self.sets: Sets = self._choice("sets", _SETS, "error")
        self.where = self.values.get("where")
        self.partitions = self._number("partitions", 0)
        self.sample = self._number("sample", 1000)
        self.allow_absolute_paths = self._is_true("allow_absolute_paths")
        self.allow_urls = self._is_true("allow_urls")

    def _given_paths(self) -> list[str]:
        paths = [self.values["path"]] if "path" in self.values else []
        paths += json.loads(self.values.get("paths", "[]"))
        if not paths:
            raise ValueError("pass a path: load(PATH) or save(PATH)")
        return paths

    def _choice(self, name: str, choices: Sequence[_Choice], default: _Choice) -> _Choice:
        given = self.values.get(name, default)
        for choice in choices:
            if choice.lower() == given.lower():
                return choice
        raise ValueError(f"the option {name} must be one of {', '.join(choices)}, not {given!r}")

    def _number(self, name: str, default: int) -> int:
        text = self.values.get(name, str(default))
        if not text.isdecimal():
            raise ValueError(f"the option {name} must be a number, not {text!r}")
        return int(text)

    def _is_true(self, name: str) -> bool:
        return self._choice(name, ("true", "false"), "false") == "true"

    def _list(self, name: str) -> list[str]:
        return [part.strip() for part in self.values.get(name, "").split(",") if part.strip()]

    def open(self) -> Dataset:
        """Opens the data set. Permissions are needed only for an ``.rmx`` or ``.rmv``: the index of
        shards that the path names is refused if it has other shards."""
        with spark_errors(self.place()):
            try:
                return open_with(
                    self.paths,
                    id=self.id,
                    lift=self.lift,
                    missing_values=self.missing_values,
                    count=self.count,
                    index=self.index,
                    split=self.split,
                    sets=self.sets,
                    progress=None,
                    access=Reading("read", allow_absolute_paths=self.allow_absolute_paths),
                    storage=Storage(options=self.storage, allow_urls=self.allow_urls),
                )
            except InvalidError as error:
                raise _with_option(error, self.paths[0]) from None

    def place(self, is_append: bool = False) -> Place:
        """The data set, for advice."""
        source = self.paths[0] if len(self.paths) == 1 else self.paths
        missing_values = "null" if self.missing_values == "null" else None
        given = {
            "id": self.id,
            "lift": self.lift,
            "missing_values": missing_values,
            "count": self.count,
        }
        chosen = {"split": self.split, "sets": "all" if self.sets == "all" else None}
        return Place(source, self.index, _arguments(given), is_append, _arguments(chosen))


def _arguments(given: Mapping[str, object]) -> str:
    return "".join(f"{name}={value!r}, " for name, value in given.items() if value)


def _with_option(error: InvalidError, path: str) -> InvalidError:
    """The error, whose advice names the option of Spark if a permission is missing for `path`."""
    permission = next((name for name in _PERMISSIONS if name in error.advice), None)
    if permission is None:
        return error
    kind = "servers" if permission == "allow_urls" else "files"
    # The shards of a selection have more records than it, and the option index is a local file.
    is_local_index = path.endswith(".rmx") and not is_url(path)
    by_name = "load the shards by name, with the index as the option index; or, "
    first = by_name if is_local_index else ""
    return InvalidError(
        error.message,
        error.path,
        advice=f"{first}if you trust everyone who can write to the file that you load, because it "
        f"decides which {kind} the driver and the executors read, set "
        f"{option(permission, 'true')}",
    )


def _local(path: str) -> str:
    """The path of a file that Spark names by a URL. Other URLs name remote objects."""
    if re.match("file://[^/]", path):
        raise ValueError(
            f"{redacted(path)}: names a host: write file:///PATH for a path that all nodes see"
        )
    if path.startswith("file:"):
        return re.sub("^file:(//(?=/))?", "", path)
    if re.match("[a-z0-9]+:/(?!/)", path):
        raise ValueError(
            f"{path}: pass a path that all nodes see, or a URL that begins with s3://, gs://, "
            "az://, hdfs:// or webhdfs://"
        )
    return path


def _parted(name: str, separator: str) -> tuple[str, str | None]:
    """A name, and what follows it after the separator: None without one."""
    first, found, rest = name.partition(separator)
    return first, rest if found else None


def _names_of_options() -> str:
    names = sorted(_OPTIONS - {"path", "paths", "recordtype"})
    return f"recordType, {', '.join(names)}, {_STORAGE}NAME"
