"""Images: what pixels to make of encoded pictures."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _recmap
from .._base.bfloat16 import viewed_as
from .._base.flags import true_or_false
from .._base.names import suggest_arguments
from .._base.numbers import natural, seed_of, uint64_of
from .call_repr import CallRepr
from .elements import check_key, element_of
from .row import Row, feature_row

__all__ = [
    "CenterCrop",
    "Image",
    "ImageInfo",
    "RandomCrop",
    "RandomResizedCrop",
    "decode_image",
    "draw_seed_of",
    "has_random_images",
    "image_info",
    "random_image_of",
    "state_seed_of",
]

Mode: TypeAlias = Literal["RGB", "L", "RGBA"]
Interpolation: TypeAlias = Literal["bilinear", "bicubic", "nearest"]
Layout: TypeAlias = Literal["HWC", "CHW"]

_MODES = {"RGB": (0, 3), "L": (1, 1), "RGBA": (2, 4)}
_INTERPOLATIONS = {"bilinear": 0, "bicubic": 1, "nearest": 2}
_LAYOUTS = {"HWC": 0, "CHW": 1}
_DTYPES = ("uint8", "uint16", "float32", "float16", "bfloat16")
_KIND = 7


@suggest_arguments
@dataclass(frozen=True, repr=False)
class RandomResizedCrop(CallRepr):
    """A random rectangle, scaled to the size of the image, as torchvision's.

    Args:
        scale: the least and the largest share of the picture's area.
        ratio: the least and the largest width by height, before the scaling.
    """

    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)


@suggest_arguments
@dataclass(frozen=True, repr=False)
class CenterCrop(CallRepr):
    """The centre of the picture, whose shorter side is first scaled to `resize` pixels."""

    resize: int = 256


@suggest_arguments
@dataclass(frozen=True, repr=False)
class RandomCrop(CallRepr):
    """A random rectangle of the image's size, without scaling.

    Args:
        padding: pixels that are added at each side of the picture before the cut.
        fill: the value of all channels of the padding, 0 to 255.
    """

    padding: int = 4
    fill: int = 0


Crop: TypeAlias = RandomResizedCrop | CenterCrop | RandomCrop | Literal["exact"]


@suggest_arguments
@dataclass(frozen=True, repr=False)
class Image(CallRepr):
    """Pixels of a feature that holds a JPEG, PNG or WebP picture, or one of a format that
    `decoders` know: an array [rows, height, width, channels].

    The pixels are a function of the picture, these arguments, and, if something is random, of the
    loader's seed, the epoch and the record's number (in rows, the row's): neither the batch size,
    nor the number of threads or ranks, nor a resume changes them.

    Args:
        size: (height, width), or one number for both. None: each picture keeps its size, and the
            column is an `ImageColumn` of arrays [height, width, channels].
        mode: "RGB", "L" for one channel of luma, or "RGBA".
        crop: a `RandomResizedCrop`, `CenterCrop` or `RandomCrop`. None: the whole picture is scaled
            to the size. "exact": a picture of another size is an error.
        flip: the probability of a horizontal flip.
        interpolation: "bilinear", "bicubic", or "nearest" for masks of labels.
        antialias: widen the filter where a picture is made smaller.
        dtype: "uint8"; "uint16" for PNG with 16 bits; "float32", "float16" or "bfloat16" for values
            of 0 to 1.
        mean, std: of each channel, with a dtype of floats: (pixel - mean) / std.
        layout: "HWC", or "CHW" for arrays [rows, channels, height, width]. Both have the same
            memory: "CHW" is a view of it with other strides, which PyTorch calls `channels_last`.
        exif: turn the picture upright as its EXIF data says, before the crop is drawn.
        draw: the name of the random draws. Images with the same name have the same crops and flips
            if their pictures have the same size, as a picture and its mask. Two columns that would
            be equal, such as two views of one picture, are refused: they need different names.
        max_pixels: larger pictures are refused.
        decoders: paths of shared objects that decode other formats, with a slash each
            ("./qoi.so"): see docs/guide/images.md. They are asked in order, before recmap's own
            formats. Their code runs in this process. Absolute paths are pickled.
        key: the name of the feature in the record, if it differs from the column's.
        default: the colour, one number or one for each channel, of records without the feature.
            None: such a record is an error.
    """

    size: int | tuple[int, int] | None = None
    mode: Mode = "RGB"
    crop: Crop | None = None
    flip: float = 0.0
    interpolation: Interpolation = "bilinear"
    antialias: bool = True
    dtype: Any = "uint8"
    mean: Sequence[float] | float | None = None
    std: Sequence[float] | float | None = None
    layout: Layout = "HWC"
    exif: bool = True
    draw: str = ""
    max_pixels: int = 1 << 26
    decoders: Sequence[str | os.PathLike[str]] = ()
    key: str | None = None
    default: Any = None

    def __post_init__(self) -> None:
        check_key("Image", self.key)
        object.__setattr__(self, "decoders", _paths_of(self.decoders))
        _ = self._spec  # which checks all arguments

    @functools.cached_property
    def _element(self) -> str:
        element = element_of(self.dtype)
        if element not in _DTYPES:
            raise ValueError(f"the dtype of an image is one of {', '.join(_DTYPES)}, not {element}")
        return element

    def _row_shape(self) -> tuple[int | None, ...]:
        """The shape of a picture's pixels; None for sides that differ."""
        height, width = _size_of(self.size)
        channels = _MODES[self.mode][1]
        sides = height or None, width or None
        return (channels, *sides) if self.layout == "CHW" else (*sides, channels)

    def _is_random(self) -> bool:
        return isinstance(self.crop, (RandomResizedCrop, RandomCrop)) or 0 < self.flip < 1

    @functools.cached_property
    def _spec(self) -> tuple[Any, ...]:
        """The description as the extension expects it."""
        _ = self._element
        kind, scale, ratio, resize, padding, fill = _crop_of(self.crop)
        mode, channels = _one_of("mode", self.mode, _MODES)
        numbers = (kind, scale, ratio, resize, padding, fill, float(self.flip))
        interpolation = _one_of("interpolation", self.interpolation, _INTERPOLATIONS)
        limit = natural("max_pixels", self.max_pixels, 63)
        if not limit:
            raise ValueError("max_pixels must be at least 1")
        if not isinstance(self.draw, str):
            raise TypeError(f"draw must be a str, not {self.draw!r}")
        levels = _levels_of("mean", self.mean, channels), _levels_of("std", self.std, channels)
        return (
            *_size_of(self.size),
            mode,
            _one_of("layout", self.layout, _LAYOUTS),
            *numbers,
            interpolation,
            not true_or_false("antialias", self.antialias),
            not true_or_false("exif", self.exif),
            self.draw,
            limit,
            *levels,
            self.decoders,
        )

    def _row(self, name: str) -> Row:
        return feature_row(
            _KIND, name, self.key, self._element, default=self.default, image=self._spec
        )


def _one_of(name: str, value: Any, known: dict[str, Any]) -> Any:
    if value in known:
        return known[value]
    raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")


def _size_of(size: Any) -> tuple[int, int]:
    if size is None:
        return 0, 0
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    if len(sizes) != 2:
        raise ValueError(f"size is (height, width), or one number for both, not {size!r}")
    height, width = (natural("size", side, 16) for side in sizes)
    if not height or not width:
        raise ValueError(f"size must be at least 1, not {size!r}")
    return height, width


def _crop_of(crop: Any) -> tuple[int, tuple[float, float], tuple[float, float], int, int, int]:
    none = (0.0, 0.0)
    if crop is None:
        return 0, none, none, 0, 0, 0
    if isinstance(crop, RandomResizedCrop):
        return 1, _range_of("scale", crop.scale), _range_of("ratio", crop.ratio), 0, 0, 0
    if isinstance(crop, CenterCrop):
        resize = natural("resize", crop.resize, 16)
        if not resize:
            raise ValueError("resize must be at least 1")
        return 2, none, none, resize, 0, 0
    if isinstance(crop, RandomCrop):
        return 3, none, none, 0, natural("padding", crop.padding, 16), natural("fill", crop.fill, 8)
    if crop == "exact":
        return 4, none, none, 0, 0, 0
    raise TypeError(
        f'crop must be a RandomResizedCrop, CenterCrop, RandomCrop or "exact", not {crop!r}'
    )


def _range_of(name: str, values: Any) -> tuple[float, float]:
    try:
        least, most = (float(value) for value in values)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is two numbers, not {values!r}") from None
    if not 0 < least <= most < math.inf:
        raise ValueError(f"{name} is two numbers above 0 in order, not {values!r}")
    return least, most


def _levels_of(name: str, values: Any, channels: int) -> tuple[float, ...] | None:
    if values is None:
        return None
    numbers = np.ravel(np.asarray(values, dtype=float)).tolist()
    if len(numbers) not in (1, channels):
        raise ValueError(f"{name} has one number, or one for each of {channels} channels")
    return tuple(numbers * channels if len(numbers) == 1 else numbers)


def _paths_of(decoders: Any) -> tuple[str, ...]:
    """The absolute paths of decoders."""
    if isinstance(decoders, (str, bytes, os.PathLike)) or not isinstance(decoders, Iterable):
        raise TypeError(f"decoders is a list of paths of shared objects, not {decoders!r}")
    paths = [os.fspath(path) for path in decoders]
    for path in paths:
        if not isinstance(path, str) or "/" not in path:
            raise ValueError(f'the path of a decoder needs a slash ("./qoi.so"), not {path!r}')
    return tuple(os.path.abspath(path) for path in paths)


class ImageInfo(NamedTuple):
    """What the header of a picture says. Height and width are upright: see `orientation`."""

    format: str  #: "jpeg", "png" or "webp"
    height: int
    width: int
    mode: str  #: "L", "LA", "RGB", "RGBA", "CMYK" or "P"
    bits: int  #: of a channel
    orientation: int  #: of EXIF, 1 to 8; above 4, the stored picture is turned by a quarter


@suggest_arguments
def image_info(data: Any) -> ImageInfo:
    """Reads the header of a JPEG, PNG or WebP picture.

    Raises:
        UnsupportedError: it is another format.
        FeatureError: the header is damaged.
    """
    return ImageInfo(*_recmap.image_info(data))


@suggest_arguments
def decode_image(
    data: Any,
    size: int | tuple[int, int] | None = None,
    *,
    mode: Mode = "RGB",
    crop: Crop | None = None,
    flip: float = 0.0,
    interpolation: Interpolation = "bilinear",
    antialias: bool = True,
    dtype: Any = "uint8",
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
    layout: Layout = "HWC",
    exif: bool = True,
    draw: str = "",
    max_pixels: int = 1 << 26,
    decoders: Sequence[str | os.PathLike[str]] = (),
    seed: int | None = None,
    epoch: int | None = None,
    number: int | None = None,
    position: int | None = None,
) -> npt.NDArray[Any]:
    """Decodes one picture: an array [height, width, channels]; with ``layout="CHW"``, a view of it
    as [channels, height, width].

    Args:
        data: the bytes of a JPEG, PNG or WebP picture, or one that `decoders` know.
        seed, epoch, number: what the crop and the flip of a loader depend on: its seed, the epoch
            and the number of the record. Needed if something is random.
        position: of the record in the epoch, for orders that may repeat records.

    For the other arguments see `Image`.

    Raises:
        FeatureError: the picture is damaged, cut off, or too large.
        UnsupportedError: it is another format.
    """
    image = Image(
        size,
        mode,
        crop,
        flip,
        interpolation,
        antialias,
        dtype,
        mean,
        std,
        layout,
        exif,
        draw,
        max_pixels,
        decoders,
    )
    drawn = (seed, epoch, number)
    if any(value is not None for value in drawn) and any(value is None for value in drawn):
        raise ValueError("seed, epoch and number belong together: give all of them, or none")
    pixels = _decoded(data, image, _draw_of(seed, epoch, number, position))
    return pixels.transpose(2, 0, 1) if layout == "CHW" else pixels


def _decoded(data: Any, image: Image, draw: Any) -> npt.NDArray[Any]:
    spec, element = image._spec, image._element
    height, width = _recmap.image_size(data, element, spec)
    stored = "uint16" if element == "bfloat16" else element
    pixels = np.empty((height, width, _MODES[image.mode][1]), stored)
    _recmap.image_decode(pixels, data, element, spec, draw)
    return viewed_as(element, pixels)


def random_image_of(*features: Mapping[str, Any] | None) -> str | None:
    """The name in the records of the first feature with a random crop or flip; None if there is
    none."""
    for mapping in features:
        if not isinstance(mapping, Mapping):  # which is refused with other words
            continue
        for name, feature in mapping.items():
            for image in (feature, getattr(feature, "dtype", None)):
                if isinstance(image, Image) and image._is_random():
                    return getattr(feature, "key", None) or name
    return None


def has_random_images(*features: Mapping[str, Any] | None) -> bool:
    """Returns true if a crop or a flip of these features is random."""
    return random_image_of(*features) is not None


def draw_seed_of(seed: int, *features: Mapping[str, Any] | None) -> int | None:
    """The seed of a loader's random images; None if there are none. Checks the seed in any case."""
    checked = seed_of(seed)
    return checked if has_random_images(*features) else None


def state_seed_of(draw_seed: int | None, seed: int, shuffle: bool) -> int | None:
    """The seed that a loader's state has besides its order; None: it has none.

    Random images use it, and so may `batch.seeds`. The order of ``shuffle=True`` has the same seed.
    """
    return draw_seed if draw_seed is not None or shuffle else seed_of(seed) or None


def _draw_of(
    seed: int | None, epoch: int | None, number: int | None, position: int | None
) -> tuple[int, int, int, int | None] | None:
    if seed is None or epoch is None or number is None:
        return None
    first = uint64_of("seed", seed), uint64_of("epoch", epoch), uint64_of("number", number)
    return (*first, None if position is None else uint64_of("position", position))
