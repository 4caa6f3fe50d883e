"""The features that TFDS describes in features.json, as a flat list of fields.

Source of the format: tensorflow_datasets 4.9, core/proto/feature.proto, as JSON; older files have
{"type": CLASS, "content": ARGUMENTS} instead, or {"type": CLASS, "content": MESSAGE, "proto_cls":
NAME} with a message of that file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .._base.errors import InvalidError
from .metadata import json_of, natural_of

__all__ = ["Field", "Kind", "Leaf", "fields_of"]

Kind: TypeAlias = Literal["tensor", "text", "image", "box", "unknown"]
Shape: TypeAlias = "tuple[int | None, ...]"
Content: TypeAlias = "Mapping[str, Any]"

_DEPTH_MAX = 64
_FIELDS_MAX = 1 << 16
_ANY_PICTURE: Shape = (None, None, 3)


@dataclass(frozen=True)
class Leaf:
    """A feature that is not made of others."""

    kind: Kind
    dtype: str = "string"
    shape: Shape = ()
    encoding: str = "none"  # of a tensor: "none", "bytes" or "zlib"
    is_optional: bool = False
    class_count: int | None = None  # of a label
    what: str = ""  # the connector, for messages


@dataclass(frozen=True)
class Field:
    """A leaf with its place in the record."""

    path: str  # the name of its tf.Example feature
    lengths: tuple[int | None, ...]  # of the sequences around it, from the outermost
    leaf: Leaf
    dataset: str | None = None  # the path of the nested data set that it is part of
    label_file: str = ""  # without ".labels.txt"


@dataclass(frozen=True)
class _Place:
    """Where in the tree of features a connector is."""

    file: str  # features.json
    path: str = ""
    lengths: tuple[int | None, ...] = ()
    dataset: str | None = None
    label_file: str = ""
    depth: int = 0

    def child(self, name: str) -> _Place:
        joined = f"{self.path}/{name}" if self.path else name
        file_name = name.replace("/", ".")
        label_file = f"{self.label_file}-{file_name}" if self.label_file else file_name
        return self._deeper(path=joined, label_file=label_file)

    def inside(self, length: int | None, *, is_dataset: bool) -> _Place:
        dataset = self.path if is_dataset and self.dataset is None else self.dataset
        return self._deeper(lengths=(*self.lengths, length), dataset=dataset)

    def _deeper(self, **changes: Any) -> _Place:
        if self.depth >= _DEPTH_MAX:
            raise InvalidError(
                f"the features are nested more than {_DEPTH_MAX} levels deep", self.file
            )
        return _Place(**{**vars(self), "depth": self.depth + 1, **changes})

    def field(self, leaf: Leaf) -> Iterator[Field]:
        yield Field(self.path, self.lengths, leaf, self.dataset, self.label_file)

    def wrong(self, what: str) -> InvalidError:
        where = f"feature {self.path!r}" if self.path else "the features"
        return InvalidError(f"{where} of this metadata of TFDS: {what}", self.file)


def fields_of(text: bytes, path: str) -> list[Field]:
    """The fields of a features.json, in its order.

    Raises:
        InvalidError: it is damaged.
    """
    fields: list[Field] = []
    for field in _fields(json_of(text, path), _Place(path)):
        fields.append(field)
        if len(fields) > _FIELDS_MAX:
            raise InvalidError(f"there are more than {_FIELDS_MAX} features", path)
    names = [field.path for field in fields]
    if not names or "" in names:
        raise InvalidError("this metadata of TFDS names no features", path)
    if any("\0" in name for name in names):
        raise InvalidError("the name of a feature of this metadata of TFDS has a zero byte", path)
    if len(set(names)) < len(names):
        raise InvalidError("two features of this metadata of TFDS have the same name", path)
    return fields


def _fields(given: Any, place: _Place) -> Iterator[Field]:
    """The fields of a connector."""
    if not isinstance(given, dict):
        raise place.wrong(f"{str(given)[:60]!r} is not a feature")
    name, content = _named_content(given, place)
    kind = name.rpartition(".")[2]
    made = _CONNECTORS.get(kind)
    if made is None:
        made = _by_content(given)
    if made is None:
        return place.field(Leaf("unknown", what=kind or "a connector without a name"))
    return made(content, place)


def _named_content(given: Content, place: _Place) -> tuple[str, Content]:
    """The class of a connector and its arguments, in either form of the file."""
    if "type" in given:
        content = given.get("content", {})
        if isinstance(content, str):  # JSON inside JSON
            content = json_of(content.encode(), place.file)
        name = str(given["type"])
        if name.endswith("FeaturesDict") and not given.get("proto_cls"):
            content = {"features": content}  # else it is as in newer files
    else:
        name = str(given.get("pythonClassName", ""))
        members = [value for key, value in given.items() if key in _MEMBERS]
        content = members[0] if members else {}
    if not isinstance(content, dict):
        raise place.wrong(f"{str(content)[:60]!r} describes no feature")
    return name, content


_MEMBERS = {
    *("featuresDict", "tensor", "image", "audio", "video", "text", "classLabel", "sequence"),
    *("boundingBox", "translation", "dataset"),
}


def _by_content(given: Content) -> Callable[[Content, _Place], Iterator[Field]] | None:
    """What a class of the user's own is, by its base class."""
    made = [_CONNECTORS[name] for key, name in _BASES.items() if key in given]
    return made[0] if made else None


def _member(content: Content, *names: str) -> Any:
    """The first of these members that is there: older files spell them as Python does."""
    return next((content[name] for name in names if content.get(name) is not None), None)


def _length_of(content: Content, place: _Place) -> int | None:
    length = content.get("length")
    if length in (None, -1, "-1"):
        return None
    return natural_of(length, f"the length of {place.path!r}", place.file)


def _shape_of(content: Content, place: _Place, default: Shape = ()) -> Shape:
    shape = content.get("shape")
    dimensions = shape.get("dimensions", []) if isinstance(shape, dict) else shape
    if dimensions is None:
        return default
    if not isinstance(dimensions, list) or len(dimensions) > 32:
        raise place.wrong(f"{str(dimensions)[:60]} is not a shape")
    what = f"a dimension of {place.path!r}"
    return tuple(
        None if side in (None, -1, "-1") else natural_of(side, what, place.file)
        for side in dimensions
    )


def _dtype_of(content: Content, default: str) -> str:
    dtype = str(content.get("dtype", default))
    return {"object": "string", "str": "string", "bytes": "string"}.get(dtype, dtype)


# ---- Connectors. Each yields the fields that it stores in a record.


def _dict(content: Content, place: _Place) -> Iterator[Field]:
    members = content.get("features", {})  # which messages without features leave out
    if not isinstance(members, dict):
        raise place.wrong(f"its features are {str(members)[:60]!r}")
    for name, member in members.items():
        yield from _fields(member, place.child(name))


def _sequence(content: Content, place: _Place, *, is_dataset: bool = False) -> Iterator[Field]:
    inner = content.get("feature")
    if not isinstance(inner, dict):
        raise place.wrong("it is a sequence of nothing")
    yield from _fields(inner, place.inside(_length_of(content, place), is_dataset=is_dataset))


def _dataset(content: Content, place: _Place) -> Iterator[Field]:
    return _sequence(content, place, is_dataset=True)


def _tensor(content: Content, place: _Place) -> Iterator[Field]:
    encoding = str(content.get("encoding") or "none").lower()
    is_optional = content.get("optional") is True
    shape, dtype = _shape_of(content, place), _dtype_of(content, "float32")
    return place.field(Leaf("tensor", dtype, shape, encoding, is_optional, what="Tensor"))


def _scalar(content: Content, place: _Place) -> Iterator[Field]:
    return _tensor({**content, "shape": []}, place)


def _text(content: Content, place: _Place) -> Iterator[Field]:
    if _member(content, "use_encoder", "useEncoder"):
        return place.field(Leaf("unknown", "int64", (None,), what="Text with an encoder"))
    return place.field(Leaf("text"))


def _label(content: Content, place: _Place) -> Iterator[Field]:
    count = _member(content, "numClasses", "num_classes")
    classes = None if count is None else natural_of(count, "numClasses", place.file)
    return place.field(Leaf("tensor", "int64", class_count=classes, what="ClassLabel"))


def _box(content: Content, place: _Place) -> Iterator[Field]:
    return place.field(Leaf("box", "float32", (4,), what="BBox"))


def _image(content: Content, place: _Place) -> Iterator[Field]:
    label = content.get("label")
    count = _member(label, "numClasses") if isinstance(label, dict) else None
    classes = None if count is None else natural_of(count, "numClasses", place.file)
    shape = _shape_of(content, place, _ANY_PICTURE)
    if len(shape) < 3:
        raise place.wrong(f"the shape of a picture has {len(shape)} dimensions")
    leaf = Leaf("image", _dtype_of(content, "uint8"), shape, class_count=classes, what="Image")
    return place.field(leaf)


def _video(content: Content, place: _Place) -> Iterator[Field]:
    shape = _shape_of(content, place, (None, *_ANY_PICTURE))
    if len(shape) != 4:
        raise place.wrong(f"the shape of a video has {len(shape)} dimensions")
    frame = {"dtype": content.get("dtype", "uint8"), "shape": [*shape[1:]]}
    return _image(frame, place.inside(shape[0], is_dataset=False))


def _audio(content: Content, place: _Place) -> Iterator[Field]:
    if _member(content, "lazyDecode", "lazy_decode"):
        return place.field(Leaf("unknown", what="Audio that is stored as a file"))
    encoding = str(content.get("encoding") or "none").lower()
    shape, dtype = _shape_of(content, place, (None,)), _dtype_of(content, "int64")
    return place.field(Leaf("tensor", dtype, shape, encoding, what="Audio"))


def _translation(content: Content, place: _Place) -> Iterator[Field]:
    languages = content.get("languages")
    if not isinstance(languages, list) or not languages:
        raise place.wrong("it is a translation without languages")
    for language in languages:
        yield from place.child(str(language)).field(Leaf("text"))


def _translations(content: Content, place: _Place) -> Iterator[Field]:
    for name in ("language", "translation"):
        yield from place.inside(None, is_dataset=False).child(name).field(Leaf("text"))


_CONNECTORS: dict[str, Callable[[Content, _Place], Iterator[Field]]] = {
    "FeaturesDict": _dict,
    "Sequence": _sequence,
    "Dataset": _dataset,
    "Tensor": _tensor,
    "Scalar": _scalar,
    "Text": _text,
    "ClassLabel": _label,
    "BBoxFeature": _box,
    "BBox": _box,
    "Image": _image,
    "LabeledImage": _image,
    "Video": _video,
    "Audio": _audio,
    "Translation": _translation,
    "TranslationVariableLanguages": _translations,
}

_BASES = {
    "featuresDict": "FeaturesDict",
    "sequence": "Sequence",
    "tensor": "Tensor",
    "text": "Text",
    "classLabel": "ClassLabel",
    "boundingBox": "BBox",
    "image": "Image",
    "video": "Video",
    "audio": "Audio",
}
