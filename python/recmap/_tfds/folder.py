"""The folder of a data set that TFDS prepared: which version, and its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .._base.errors import FileMissingError, InvalidError
from .connectors import Field, fields_of
from .files import INFO, Files
from .metadata import Info, info_of

__all__ = ["Prepared", "prepared_at"]

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)", re.ASCII)
_CLASSES_MAX = 1 << 20


@dataclass(frozen=True)
class Prepared:
    """A data set that TFDS prepared."""

    files: Files
    folder: str
    info: Info
    fields: tuple[Field, ...]
    labels: Mapping[str, tuple[str, ...]]  # names of the classes of each label

    @property
    def info_path(self) -> str:
        return f"{self.folder}/{INFO}"


def prepared_at(files: Files) -> Prepared:
    """What is in the folder of a version, or in that of the newest version below a folder.

    Raises:
        FileMissingError: there is no metadata of TFDS.
        InvalidError: the metadata is damaged, or there are several configurations.
    """
    folder, text = _with_info(files, files.folder)
    info = info_of(text, f"{folder}/{INFO}")
    features_path = f"{folder}/features.json"
    fields = tuple(fields_of(_read_metadata(files, features_path), features_path))
    labels = {}
    for field in fields:
        names = _label_names(files, folder, field)
        if names is not None:
            labels[field.path] = names
    return Prepared(files, folder, info, fields, labels)


def _read_metadata(files: Files, name: str) -> bytes:
    try:
        return files.read(name)
    except FileMissingError as error:
        raise FileMissingError(
            "this metadata of TFDS is missing",
            name,
            advice="Copy it from the source of the data set, beside its shards; or open the shards "
            "with recmap.open, which needs none.",
            error_number=error.errno,
        ) from None


def _with_info(files: Files, folder: str) -> tuple[str, bytes]:
    """The folder itself if it has metadata, else the newest version in it; and the metadata."""
    try:
        return folder, files.read(f"{folder}/{INFO}")
    except FileMissingError:
        pass
    below = _newest_in(files, folder)
    return below, _read_metadata(files, f"{below}/{INFO}")


def _newest_in(files: Files, folder: str) -> str:
    names = files.folders(folder)
    versions = [name for name in names if _VERSION.fullmatch(name)]
    if versions:
        return f"{folder}/{max(versions, key=_number_of)}"
    with_versions = [name for name in names if _has_version(files, f"{folder}/{name}")]
    if len(with_versions) == 1:
        return _newest_in(files, f"{folder}/{with_versions[0]}")
    if with_versions:
        raise InvalidError(
            f"there are {len(with_versions)} data sets or configurations: "
            f"{', '.join(map(repr, with_versions[:10]))}",
            folder,
            advice=f"Name one: recmap.tfds.open('{folder}/{with_versions[0]}').",
        )
    raise FileMissingError(
        f"there is no {INFO}, and no folder of a version such as 1.0.0",
        folder,
        advice="Name the folder of a version. recmap.open opens shards without metadata.",
    )


def _number_of(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _has_version(files: Files, folder: str) -> bool:
    try:
        return any(_VERSION.fullmatch(name) for name in files.folders(folder))
    except OSError:
        return False


def _label_names(files: Files, folder: str, field: Field) -> tuple[str, ...] | None:
    """The names of a label's classes: those in its file, else their numbers."""
    if field.leaf.class_count is None:
        return None
    try:
        text = files.read(f"{folder}/{field.label_file}.labels.txt")
    except FileMissingError:
        if field.leaf.class_count > _CLASSES_MAX:
            return None
        return tuple(map(str, range(field.leaf.class_count)))
    lines = text.decode("utf-8", "replace").split("\n")
    return tuple(line.strip() for line in lines if line.strip())
