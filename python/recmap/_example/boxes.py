"""Boxes of objects in pictures, which move with the pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._base.names import suggest_arguments
from .call_repr import CallRepr
from .row import Row, feature_row

__all__ = ["Boxes", "visible_name_of"]

_KIND = 8


def visible_name_of(name: str) -> str:
    """The name of the column with the visible share of each box."""
    return f"{name}/visible"


@suggest_arguments
@dataclass(frozen=True, repr=False)
class Boxes(CallRepr):
    """Boxes of a picture: a `RaggedColumn` of float32 values [n, 4] in the order of the keys.

    Boxes are shares of the height and width, 0 to 1: in the records, of the picture as it is
    stored; in the batch, of the pixels of the column `image`. A box may reach over the edges. Boxes
    that are stored in pixels lie outside: divide them by the height and width when the records are
    written. Boxes are cut, scaled, flipped and turned (EXIF) as the pixels are. No box is removed,
    so that labels stay aligned. The batch has another column, `name + "/visible"`: the share of
    each box's area that is left, 0 for a box that lies outside or has no area.

    Args:
        image: the name of the column with the pixels, an `Image` of the same features.
        keys: the features of the record with ymin, xmin, ymax and xmax, each with one number for
            each box; or one feature that has these four numbers for each box.
    """

    image: str
    keys: Sequence[str]

    def __post_init__(self) -> None:
        if not isinstance(self.image, str):
            raise TypeError(f"image must be the name of a column, not {self.image!r}")
        is_list = isinstance(self.keys, Sequence) and not isinstance(self.keys, str)
        if is_list and len(self.keys) in (1, 4) and all(isinstance(k, str) for k in self.keys):
            return
        raise ValueError(
            "keys must be the names of four features, (ymin, xmin, ymax, xmax), or of one that has "
            f"all four numbers, such as ('bbox',); not {self.keys!r}"
        )

    def _rows(self, name: str) -> tuple[Row, Row]:
        """The boxes and their visible shares, which are two columns."""
        keys = (*self.keys, None, None, None)[:4]
        return (
            feature_row(_KIND, name, None, "float32", boxes=(self.image, keys, False)),
            feature_row(
                _KIND, visible_name_of(name), None, "float32", boxes=(self.image, keys, True)
            ),
        )
