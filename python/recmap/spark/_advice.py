"""Advice of errors in the words of Spark: options of the data source instead of arguments."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .._base.errors import Error

__all__ = ["SPARK_TYPES", "Place", "option", "spark_errors"]

SPARK_TYPES = {"int64": "bigint", "float32": "float", "bytes": "binary"}

_INDEXING = ("on_bad_record", "framing", "compression", "from_idx", "memory_limit")  # not in Spark
_CONTENTS = ("id", "lift", "count")
_OTHERS = ("missing_values", "split", "sets")  # other options with the names of arguments


@dataclass(frozen=True)
class Place:
    """The data set that a job reads or writes: for calls in advice."""

    source: str | list[str]
    index: str | None
    contents: str = ""  # arguments that tell what the index contains
    is_append: bool = False  # an existing index tells it
    chosen: str = ""  # arguments that choose sets of shards

    def dataset_call(self) -> str:
        """A call of `recmap.open` with these shards."""
        index = "" if self.index is None else f", index={self.index!r}"
        chosen = f", {self.chosen[:-2]}" if self.chosen else ""
        return f"recmap.open({self.source!r}{index}{chosen})"

    def open_call(self, argument: str) -> str:
        """A call of `recmap.open` with these shards and an argument."""
        index = "" if self.index is None else f"index={self.index!r}, "
        return f"recmap.open({self.source!r}, {index}{self.chosen}{argument})"

    def index_call(self, argument: str) -> str:
        """A call that builds the index of these shards, with another argument."""
        index = "" if self.index is None else f"{self.index!r}, "
        return f"recmap.index({self.source!r}, {index}{self.contents}{self.chosen}{argument})"


def option(name: str, value: str) -> str:
    """Code that sets an option."""
    return f".option({json.dumps(name)}, {json.dumps(value, ensure_ascii=False)})"


@contextlib.contextmanager
def spark_errors(place: Place) -> Iterator[None]:
    """Translates the advice of errors about a data set."""
    try:
        yield
    except Error as error:
        error.advice = _in_spark(error.advice, place)
        if (
            "has no value of lifted feature" in error.message
            and "missing_values" not in error.advice
        ):
            error.advice += f"; or let such records be null: `{option('missing_values', 'null')}`"
        raise


def _in_spark(advice: str, place: Place) -> str:
    advice = re.sub(", pass `shards=.*?, or ", " or ", advice)  # there are no such options
    advice = re.sub(r"`VarLen\([^`]*` if it holds raw \w+ values, or ", "", advice)
    parts = advice.split("`")  # every second part is code
    for i, part in enumerate(parts):
        parts[i] = _code(part, place) if i % 2 else _words(part, place)
    return "`".join(parts)


def _code(code: str, place: Place) -> str:
    """An argument as an option, or, if there is none, as one of the call that builds the index
    that Spark then reads. Calls and commands remain, because they run elsewhere."""
    if code.startswith("ds."):
        return place.dataset_call() + code.removeprefix("ds")
    name, equals, value = code.partition("=")
    if not equals or not name.isidentifier():
        return code
    if name == "dtype":
        return SPARK_TYPES.get(value.strip('"'), value)
    if name in _INDEXING:
        return place.index_call(code if value else f"{name}=...")
    if name in _CONTENTS and place.is_append:
        return place.open_call(f"{code}, rebuild=True")
    return option(name, _text_of(value)) if name in (*_CONTENTS, *_OTHERS) else code


def _text_of(value: str) -> str:
    """The value of an option: ``x=DEFAULT`` for ``{"x": DEFAULT}``, and x for ``["x"]``."""
    entry = re.fullmatch(r'\{"(.*)": (DEFAULT|DTYPE)\}', value)
    if entry:
        return f"{entry[1]}{'=' if entry[2] == 'DEFAULT' else ':'}{entry[2]}"
    return re.sub(r'^\[?"(.*)"\]?$', r"\1", value)


_WORDS = {
    r"\b(id|lift|count)=(?=[\s,;.]|$)": r"the option \1",
    r"\bframing=(?=[\s,;.]|$)": "the argument framing of recmap.index",
    r"\bstorage option (?=\w)": "option storage.",
    r"\bstorage options (\w+) and (\w+)": r"options storage.\1 and storage.\2",
    r"\ba token from a callable \(credentials=\), or ": "",
    r'\bpass on_bad_record="skip" or open the \.rmx by name': "load the .rmx by its path",
}


def _words(words: str, place: Place) -> str:
    for pattern, replacement in _WORDS.items():
        words = re.sub(pattern, replacement, words)
    words = words.replace(
        "Open the shards (not the .rmx) with index=PATH to build another index",
        "Load the shards (not the .rmx) with another path as the option index to build another "
        "index",
    )
    rebuild = f"`{place.open_call('rebuild=True')}`"
    words = words.replace("pass rebuild=True to index it again", f"index it again with {rebuild}")
    return words.replace(
        "or with rebuild=True to build this one again", f"or build this one again with {rebuild}"
    )
