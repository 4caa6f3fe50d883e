"""The options of the data source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._dataset.dataset import Dataset
from .._index import open as opening

__all__ = ["Settings"]

_RECORD_TYPES = ("Example", "SequenceExample", "ByteArray")

_OPTIONS = {
    "path", "recordtype", "id", "lift", "count", "index", "partitions", "sample", "compression"
}  # fmt: skip


class Settings:
    """The options of a data source. Their names are not case-sensitive."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.values = {name.lower(): value for name, value in options.items()}
        unknown = sorted(self.values.keys() - _OPTIONS)
        if unknown:
            raise ValueError(
                f"there is no option {unknown[0]!r}; options are {_names_of_options()}"
            )
        if "path" not in self.values:
            raise ValueError("pass a path: load(PATH) or save(PATH)")
        self.path = self.values["path"].removeprefix("file://")
        self.record_type = self._choice("recordtype", _RECORD_TYPES, "Example")
        self.is_gzip = self._choice("compression", ("none", "gzip"), "none") == "gzip"
        self.id = self.values.get("id")
        self.lift = self._list("lift")
        self.count = self._list("count")
        self.index = self.values.get("index")
        self.partitions = self._number("partitions", 0)
        self.sample = self._number("sample", 1000)

    def _choice(self, name: str, choices: Sequence[str], default: str) -> str:
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

    def _list(self, name: str) -> list[str]:
        return [part.strip() for part in self.values.get(name, "").split(",") if part.strip()]

    def open(self) -> Dataset:
        return opening.open(
            self.path,
            id=self.id,
            lift=self.lift,
            count=self.count,
            index=self.index,
            progress=None,
            access="read",
            allow_absolute_paths=True,
        )


def _names_of_options() -> str:
    return "recordType, " + ", ".join(sorted(_OPTIONS - {"path", "recordtype"}))
