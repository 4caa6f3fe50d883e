"""Writing TFRecord files, and tf.Example out of plain values."""

from __future__ import annotations

import contextlib
import os
import reprlib
import threading
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from . import _recmap
from ._errors import Error
from ._open import Lift, Path, _lifts, merge

__all__ = ["Writer", "encode_example", "encode_sequence_example"]

Bytes: TypeAlias = "bytes | bytearray | memoryview"
Features: TypeAlias = "Mapping[str, Any]"


def _add(builder: _recmap.ExampleBuilder, name: str | None, value: Any) -> None:
    """Adds a feature: the kind of list follows from the values."""
    if value is None:
        builder.add_unset(name)
    elif isinstance(value, (bytes, bytearray, memoryview, str)):
        builder.add_bytes(name, [value])
    elif isinstance(value, (list, tuple)) and not value:
        builder.add_unset(name)
    elif isinstance(value, (list, tuple)) and isinstance(
        value[0], (bytes, bytearray, memoryview, str)
    ):
        builder.add_bytes(name, list(value))
    else:
        array = np.asarray(value)
        if array is not value and array.dtype.kind in "SUO":
            raise TypeError(f"{reprlib.repr(value)} makes no list of tf.Example")
        _add_array(builder, name, array)


def _add_array(builder: _recmap.ExampleBuilder, name: str | None, array: Any) -> None:
    kind = array.dtype.kind
    if kind in "ib" or (kind == "u" and (array.dtype.itemsize < 8 or not (array >> 63).any())):
        builder.add_int64(name, np.ascontiguousarray(array, dtype=np.int64))
    elif kind == "f" or array.dtype.name == "bfloat16":
        builder.add_float(name, np.ascontiguousarray(array, dtype=np.float32))
    elif kind in "SUO" and array.size:
        builder.add_bytes(name, array.ravel().tolist())
    else:
        raise TypeError(f"values of {array.dtype} make no list of tf.Example")


def _named(what: str, error: Exception) -> Exception:
    """The error with what it is about before it."""
    if isinstance(error, Error):
        return error
    return (ValueError if isinstance(error, ValueError) else TypeError)(f"{what}: {error}")


def _add_all(builder: _recmap.ExampleBuilder, features: Features) -> None:
    if not isinstance(features, Mapping):
        raise TypeError(f"features are a dict {{name: value}}, not {reprlib.repr(features)}")
    for name, value in features.items():
        try:
            _add(builder, name, value)
        except (TypeError, ValueError, BufferError) as error:
            raise _named(f"feature {name!r}", error) from error


def _add_list(builder: _recmap.ExampleBuilder, name: str, steps: Iterable[Any]) -> None:
    if isinstance(steps, (str, bytes, bytearray, memoryview)) or not isinstance(steps, Iterable):
        raise TypeError(f"feature list {name!r}: {reprlib.repr(steps)} is no list of steps")
    builder.begin_list(name)
    for number, step in enumerate(steps):
        try:
            _add(builder, None, step)
        except (TypeError, ValueError, BufferError) as error:
            raise _named(f"feature list {name!r}, step {number}", error) from error
    builder.end_list()


def encode_example(features: Features) -> bytes:
    """A tf.Example of these features, serialised deterministically.

    Args:
        features: by name. bytes and str (as UTF-8) make a bytes list, int and bool an int64 list,
            float a float list (32 bits); lists, tuples and arrays of such one of several values, in
            C order. None, and a list of nothing, make a feature without a kind; an array of nothing
            an empty list of its kind.

    Raises:
        TypeError, ValueError: a value makes no such list; the text names the feature.

    >>> encode_example({"label": 3}).hex()
    '0a100a0e0a056c6162656c12051a030a0103'
    """
    builder = _recmap.ExampleBuilder()
    builder.begin(False)
    _add_all(builder, features)
    return builder.finish()


def encode_sequence_example(context: Features, feature_lists: Mapping[str, Iterable[Any]]) -> bytes:
    """A tf.SequenceExample, serialised deterministically.

    Args:
        context: features by name, as of `encode_example`.
        feature_lists: by name the steps of each list; a step is a value as of `encode_example`.

    Raises:
        TypeError, ValueError: a value makes no such list; the text names feature and step.

    >>> len(encode_sequence_example({"id": 3}, {"frames": [[0.5, 1.5], [2.5]]}))
    53
    """
    if not isinstance(feature_lists, Mapping):
        kind = type(feature_lists).__name__
        raise TypeError(f"feature lists are a dict {{name: steps}}, not a {kind}")
    builder = _recmap.ExampleBuilder()
    builder.begin(True)
    _add_all(builder, context)
    for name, steps in feature_lists.items():
        _add_list(builder, name, steps)
    return builder.finish()


class Writer:
    """Writes records into TFRecord files, in turn: record i goes into shard i modulo `shards`.

    The files are written under temporary names and appear whole when the writer is closed; after an
    exception in its ``with`` they vanish. Safe among threads, but which record comes first is then
    theirs to say. After a fork it stays the parent's: a child cannot close it, and does it no harm.

    Args:
        pattern: the files' names, ``{shard}`` and ``{shards}`` standing for numbers, as in
            ``"out-{shard:05d}-of-{shards:05d}.tfrecord"``.
        shards: how many files.
        index: an index to be made with no second pass: its path.
        id, lift: of that index, as of `recmap.open`.

    >>> with Writer(str(folder / "out-{shard}.tfrecord"), shards=2) as writer:
    ...     for word in "one", "two", "three":
    ...         writer.write({"word": word})
    >>> len(recmap.open(folder / "out-*.tfrecord"))
    3
    """

    def __init__(
        self,
        pattern: Path,
        shards: int = 1,
        *,
        index: Path | None = None,
        id: str | None = None,
        lift: Lift = (),
    ) -> None:
        if shards < 1:
            raise ValueError(f"{shards} shards")
        text = os.fsdecode(pattern)
        self.paths = [text.format(shard=i, shards=shards) for i in range(shards)]
        if len(set(self.paths)) < shards:
            raise ValueError(f"{text!r} gives one name to several shards: say {{shard}} in it")
        if index is None and (id is not None or lift):
            raise ValueError("id and lift are of an index: say index= too")
        self._index = None if index is None else os.path.abspath(index)
        self._parts = [f"{path}.tmp-part.rmx" for path in self.paths] if index else []
        self._count = 0
        self._lock = threading.Lock()
        self._owner = os.getpid()
        lifts = _lifts(lift)
        self._writers = [
            _recmap.Writer(os.path.abspath(path), self._parts[i] if index else None, id, lifts)
            for i, path in enumerate(self.paths)
        ]

    def write(self, record: Bytes | Features) -> None:
        """Appends a record: its bytes, or a tf.Example of features as `encode_example` takes them.

        Raises:
            TypeError, ValueError: a feature has a value that cannot be; the writer stays good.
            FeatureError: its id or a lifted feature is not as asked; the writer is then of no use.
            OSError: the file cannot be written; the same.
        """
        bytes_ = memoryview(encode_example(record) if isinstance(record, Mapping) else record)
        if not bytes_.c_contiguous:
            raise ValueError("the bytes of a record lie side by side")
        with self._lock:
            writers = self._writers  # another thread may close the writer
            if not writers:
                raise ValueError("the writer is closed")
            number = self._count
            self._count += 1
        writers[number % len(writers)].write(bytes_)

    def __len__(self) -> int:
        """Records written so far."""
        return self._count

    def close(self) -> None:
        """Syncs the files and gives them their names; then the index. Twice does nothing."""
        writers, self._writers = self._writers, []
        if not writers:
            return
        try:
            for writer in writers:
                writer.close()
            if self._index is not None:
                merge(self._index, self._parts, progress=None)
        finally:
            self._abandon(writers)

    def abandon(self) -> None:
        """Ends the writer; what it wrote vanishes."""
        writers, self._writers = self._writers, []
        self._abandon(writers)

    def _abandon(self, writers: list[_recmap.Writer]) -> None:
        for writer in writers:
            writer.abandon()
        for part in self._parts if os.getpid() == self._owner else ():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()
