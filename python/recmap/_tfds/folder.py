"""The folder of a data set that TFDS prepared: which version, and its metadata."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .._base.errors import FileMissingError, InvalidError
from .connectors import Field, fields_of
from .metadata import Info, info_of

__all__ = ["Prepared", "prepared_in"]

_INFO, _FEATURES = "dataset_info.json", "features.json"
_SIZE_MAX = 64 << 20  # bytes of a file of metadata
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)", re.ASCII)
_CLASSES_MAX = 1 << 20


@dataclass(frozen=True)
class Prepared:
    """A data set that TFDS prepared."""

    folder: str
    info: Info
    fields: tuple[Field, ...]
    labels: Mapping[str, tuple[str, ...]]  # names of the classes of each label

    @property
    def info_path(self) -> str:
        return os.path.join(self.folder, _INFO)


def prepared_in(path: str) -> Prepared:
    """What is in the folder of a version, or in that of the newest version below a folder.

    Raises:
        FileMissingError: there is no metadata of TFDS.
        InvalidError: the metadata is damaged, or there are several configurations.
    """
    folder = _version_in(path)
    info_path, features_path = (os.path.join(folder, name) for name in (_INFO, _FEATURES))
    info = info_of(_read(info_path), info_path)
    fields = tuple(fields_of(_read(features_path), features_path))
    labels = {}
    for field in fields:
        names = _label_names(folder, field)
        if names is not None:
            labels[field.path] = names
    return Prepared(folder, info, fields, labels)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            text = file.read(_SIZE_MAX + 1)
    except FileNotFoundError as error:
        raise FileMissingError(
            "this metadata of TFDS is missing",
            path,
            advice="Copy it from the source of the data set, beside its shards; or open the shards "
            "with recmap.open, which needs none.",
            error_number=error.errno,
        ) from None
    if len(text) > _SIZE_MAX:
        raise InvalidError(f"a file of metadata has at most {_SIZE_MAX >> 20} MiB", path)
    return text


def _version_in(path: str) -> str:
    """The folder itself if it has metadata, else the newest version in it."""
    if os.path.lexists(os.path.join(path, _INFO)):
        return path
    names = sorted(entry.name for entry in os.scandir(path) if entry.is_dir())
    versions = [name for name in names if _VERSION.fullmatch(name)]
    if versions:
        return os.path.join(path, max(versions, key=_number_of))
    with_versions = [name for name in names if _has_version(os.path.join(path, name))]
    if len(with_versions) == 1:
        return _version_in(os.path.join(path, with_versions[0]))
    if with_versions:
        raise InvalidError(
            f"there are {len(with_versions)} data sets or configurations: "
            f"{', '.join(map(repr, with_versions[:10]))}",
            path,
            advice=f"Name one: recmap.tfds.open({os.path.join(path, with_versions[0])!r}).",
        )
    raise FileMissingError(
        f"there is no {_INFO}, and no folder of a version such as 1.0.0",
        path,
        advice="Name the folder of a version. recmap.open opens shards without metadata.",
    )


def _number_of(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _has_version(path: str) -> bool:
    try:
        return any(_VERSION.fullmatch(entry.name) for entry in os.scandir(path))
    except OSError:
        return False


def _label_names(folder: str, field: Field) -> tuple[str, ...] | None:
    """The names of a label's classes: those in its file, else their numbers."""
    if field.leaf.class_count is None:
        return None
    path = os.path.join(folder, f"{field.label_file}.labels.txt")
    if os.path.lexists(path):
        lines = _read(path).decode("utf-8", "replace").split("\n")
        return tuple(line.strip() for line in lines if line.strip())
    if field.leaf.class_count > _CLASSES_MAX:
        return None
    return tuple(map(str, range(field.leaf.class_count)))
