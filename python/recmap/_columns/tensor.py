"""The memory of a column through DLPack."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from .export import Source

__all__ = ["Part", "Tensor"]

Part: TypeAlias = Literal["values", "offsets", "lengths", "indices", "bytes_offsets"]
_PARTS = {"values": 1, "offsets": 2, "lengths": 3, "indices": 4, "bytes_offsets": 5}


class Tensor:
    """Memory of a column for the ``from_dlpack`` function of any framework; shared, not copied.

    It keeps the column's memory alive. The batch and the data set may be closed.
    """

    __slots__ = ("_level", "_part", "_source")

    def __init__(self, source: Source, part: Part, level: int) -> None:
        self._source = source
        self._part = _PARTS[part]
        self._level = level

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != (1, 0)):
            raise BufferError("the tensor is in CPU memory and can only be shared, not copied")
        batch, index = self._source
        is_versioned = max_version is not None and max_version[0] >= 1
        return batch._dlpack(index, self._part, self._level, is_versioned)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0
