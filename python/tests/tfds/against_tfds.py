"""Writes a data set with TFDS, reads it with TFDS and with recmap.tfds, and compares all values.

    python against_tfds.py FOLDER SEED

A program of its own, because TFDS imports TensorFlow. It prints how many values it compared.
"""

import io
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import PIL.Image
import recmap
import tensorflow_datasets as tfds

import tensorflow as tf

F = tfds.features
BYTE = {"dtype": np.uint8, "low": 0, "high": 256}
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = [*INTEGERS, "float32", "float64"]
ENCODINGS = ["none", "bytes", "zlib"]
SPLITS = ["train", "train[:50%]", "train[3:-4]", "test+train[1shard]", "all"]


class Values:
    """Random values for connectors."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def count(self, most=4):
        return int(self.random.integers(0, most))

    def tensor(self, dtype, shape):
        kind = np.dtype(dtype)
        if kind.kind == "b":
            return self.random.integers(0, 2, shape).astype(bool)
        if kind.kind == "f":  # that float32 holds, as records do
            return self.random.random(shape).astype(np.float16).astype(kind)
        limits = np.iinfo(kind)
        return self.random.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)

    def pixels(self, *shape, dtype=np.uint8):
        return self.tensor(dtype, shape)

    def text(self):
        return "".join(chr(self.random.integers(32, 600)) for _ in range(self.count(8)))


def known_features(values):
    """{name: (connector, function that makes a value)}: every connector."""
    v = values
    steps = {
        "observation": {
            "image": F.Image(shape=(6, 5, 3), encoding_format="png"),
            "state": F.Tensor(shape=(7,), dtype=np.float32),
            "depth": F.Tensor(shape=(2, 3), dtype=np.uint16, encoding="zlib"),
        },
        "is_first": np.bool_,
        "action": F.Tensor(shape=(2,), dtype=np.float64),
        "instruction": F.Text(),
        "ragged": F.Sequence(np.int64),
    }

    def step(i):
        return {
            "observation": {
                "image": v.pixels(6, 5, 3),
                "state": v.tensor("float32", 7),
                "depth": v.tensor("uint16", (2, 3)),
            },
            "is_first": i == 0,
            "action": v.tensor("float64", 2),
            "instruction": v.text(),
            "ragged": [*range(v.count())],
        }

    def box():
        low = v.random.random(2) / 2
        return F.BBox(*map(float, low), *map(float, low + 0.5))

    return {
        "label": (F.ClassLabel(names=["a", "b", "c"]), lambda: v.count(3)),
        "image": (F.Image(shape=(8, 9, 3), encoding_format="png"), lambda: v.pixels(8, 9, 3)),
        "any_image": (
            F.Image(shape=(None, None, 1), encoding_format="png"),
            lambda: v.pixels(1 + v.count(), 1 + v.count(), 1),
        ),
        "image16": (
            F.Image(shape=(4, 5, 1), dtype=np.uint16, encoding_format="png"),
            lambda: v.pixels(4, 5, 1, dtype=np.uint16),
        ),
        "rgba": (F.Image(shape=(4, 5, 4), encoding_format="png"), lambda: v.pixels(4, 5, 4)),
        "mask": (
            F.LabeledImage(labels=["x", "y"], shape=(4, 4, 1), encoding_format="png"),
            lambda: v.pixels(4, 4, 1),
        ),
        "video": (F.Video(shape=(None, 4, 4, 3)), lambda: v.pixels(1 + v.count(), 4, 4, 3)),
        "text": (F.Text(), v.text),
        "flag": (np.bool_, lambda: bool(v.count(2))),
        "half": (F.Scalar(np.float16), lambda: np.float16(v.count())),
        "variable": (
            F.Tensor(shape=(None, 2), dtype=np.float32),
            lambda: v.tensor("float32", (v.count(), 2)),
        ),
        **{
            f"{encoding}_{dtype}": (
                F.Tensor(shape=(2, 3), dtype=np.dtype(dtype), encoding=encoding),
                lambda dtype=dtype: v.tensor(dtype, (2, 3)),
            )
            for encoding in ENCODINGS[1:]
            for dtype in ("bool", "uint8", "uint64", "float16", "float64")
        },
        "zlib_rows": (
            F.Tensor(shape=(None, 2), dtype=np.int32, encoding="zlib"),
            lambda: v.tensor("int32", (v.count(), 2)),
        ),
        "list_of_bytes": (
            F.Sequence(F.Tensor(shape=(2, 2), dtype=np.int16, encoding="bytes")),
            lambda: [v.tensor("int16", (2, 2)) for _ in range(v.count())],
        ),
        "three_of_zlib": (
            F.Sequence(F.Tensor(shape=(2,), dtype=np.float32, encoding="zlib"), length=3),
            lambda: [v.tensor("float32", 2) for _ in range(3)],
        ),
        "dynamic": (
            F.Tensor(shape=(None, None), dtype=np.uint8, encoding="bytes"),
            lambda: v.tensor("uint8", (1 + v.count(), 1 + v.count())),
        ),
        **{
            f"wide_{encoding}": (
                F.Tensor(shape=(2, None, 3), dtype=np.float32, encoding=encoding),
                lambda: v.tensor("float32", (2, v.count(), 3)),
            )
            for encoding in ENCODINGS
        },
        **{
            f"empty_{encoding}": (
                F.Tensor(shape=shape, dtype=np.int16, encoding=encoding),
                lambda shape=shape: np.zeros(shape, np.int16),
            )
            for encoding, shape in zip(ENCODINGS, [(0, 3), (2, 0), (0,)], strict=True)
        },
        "empty_text": (F.Tensor(shape=(2, 0), dtype=np.object_), lambda: np.zeros((2, 0), object)),
        "empty_sequence": (F.Sequence(np.uint64, length=0), list),
        "wide_text": (
            F.Tensor(shape=(2, None), dtype=np.object_),
            lambda: np.array([[v.text() for _ in range(2)] for _ in range(2)], object),
        ),
        "three_rows": (
            F.Sequence(F.Tensor(shape=(None, 2), dtype=np.int32), length=3),
            lambda: v.tensor("int32", (3, 2, 2)),
        ),
        "box": (F.BBoxFeature(), box),
        "objects": (
            F.Sequence({"box": F.BBoxFeature(), "label": F.ClassLabel(num_classes=5)}),
            lambda: [{"box": box(), "label": v.count(5)} for _ in range(v.count())],
        ),
        "fixed": (F.Sequence(np.int64, length=3), lambda: v.tensor("int64", 3)),
        "audio": (F.Audio(shape=(None,)), lambda: v.tensor("int64", v.count())),
        "pair": (F.Translation(["en", "fr"]), lambda: {"en": v.text(), "fr": v.text()}),
        "pairs": (
            F.TranslationVariableLanguages(),
            lambda: {"en": v.text(), "de": [v.text() for _ in range(1 + v.count())]},
        ),
        "optional": (F.Scalar(np.int32, optional=True), lambda: [None, 5][v.count(2)]),
        "optional_text": (F.Scalar(np.object_, optional=True), lambda: [None, "q"][v.count(2)]),
        "optional_pair": (
            F.Tensor(shape=(2,), dtype=np.float32, optional=True),
            lambda: [None, v.tensor("float32", 2)][v.count(2)],
        ),
        "steps": (F.Dataset(steps), lambda: [step(i) for i in range(1 + v.count())]),
        **{
            f"scalar_{dtype}": (
                F.Scalar(np.dtype(dtype)),
                lambda dtype=dtype: v.tensor(dtype, ())[()],
            )
            for dtype in DTYPES
        },
    }


def pictures_with_boxes(values, shape):
    """A picture and boxes in it, which become `recmap.Boxes`."""
    v = values

    def box():
        low = v.random.random(2) / 2
        return F.BBox(*map(float, low), *map(float, low + 0.5))

    def pixels():
        return v.pixels(*(side or 1 + v.count() for side in shape[:2]), 3)

    members = {"bbox": F.BBoxFeature(), "label": F.ClassLabel(num_classes=5)}
    return {
        "image": (F.Image(shape=shape, encoding_format="png"), pixels),
        "objects": (
            F.Sequence(members),
            lambda: [{"bbox": box(), "label": v.count(5)} for _ in range(v.count())],
        ),
    }


def random_feature(values, depth=0):
    """A random connector, made of others, and a function that makes a value."""
    v, kind = values, values.count(6 if depth < 3 else 3)
    if kind == 0:
        dtype = DTYPES[v.count(len(DTYPES))]
        shape = tuple(1 + v.count(3) for _ in range(v.count(3)))
        can_be_encoded = depth < 2 and dtype != "uint32"  # which TensorFlow does not decode
        encoding = ENCODINGS[v.count(3)] if can_be_encoded else "none"
        connector = F.Tensor(shape=shape, dtype=np.dtype(dtype), encoding=encoding)
        return connector, lambda: v.tensor(dtype, shape)
    if kind == 1:
        return F.Text(), v.text
    if kind == 2:
        return F.Scalar(np.bool_), lambda: bool(v.count(2))
    if kind == 3:
        members = {f"m{i}": random_feature(v, depth + 1) for i in range(1 + v.count(3))}
        connector = F.FeaturesDict({name: member[0] for name, member in members.items()})
        return connector, lambda: {name: member[1]() for name, member in members.items()}
    connector, make = random_feature(v, depth + 1)
    return F.Sequence(connector), lambda: [make() for _ in range(v.count())]


def write(folder, features, count):
    connectors = F.FeaturesDict({name: connector for name, (connector, _) in features.items()})

    with tfds.core.registered.skip_registration():  # of two data sets with the same name

        class Made(tfds.core.GeneratorBasedBuilder):
            VERSION = tfds.core.Version("1.0.0")

            def _info(self):
                return tfds.core.DatasetInfo(
                    builder=self, features=connectors, disable_shuffling=True
                )

            def _split_generators(self, _):
                return {"train": self._generate_examples(count), "test": self._generate_examples(7)}

            def _generate_examples(self, wanted):
                for i in range(wanted):
                    yield i, {name: make() for name, (_, make) in features.items()}

    builder = Made(data_dir=folder)
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=3))
    return builder


def listed(value):
    """A value as lists and plain numbers."""
    if isinstance(value, dict):
        return {name: listed(member) for name, member in value.items()}
    if isinstance(value, recmap.BytesColumn) or (
        isinstance(value, np.ndarray) and value.dtype == object
    ):
        return [
            bytes(item) if isinstance(item, bytes | memoryview) else listed(item) for item in value
        ]
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if type(value).__name__ == "RaggedTensorValue":
        return tf.RaggedTensor.from_nested_row_splits(
            value.flat_values, value.nested_row_splits
        ).to_list()
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    if isinstance(value, np.ndarray | np.generic):
        return (
            value.astype(np.float32)
            if value.dtype.kind == "V" or value.dtype.name == "bfloat16"
            else value
        ).tolist()
    if isinstance(value, str | int | float | bool):
        return value
    items = [listed(item) for item in value]
    if items and isinstance(items[0], dict):  # the steps of a nested data set
        return merged(items)
    return items


def merged(dicts):
    """A list of dicts as a dict of lists."""
    first = dicts[0]
    return {
        name: merged([item[name] for item in dicts])
        if isinstance(first[name], dict)
        else [item[name] for item in dicts]
        for name in first
    }


def compare(path, ours, theirs):
    """Compares row `i` of columns with TFDS's value, and returns the number of leaves."""
    if isinstance(theirs, dict):
        return sum(compare(f"{path}/{name}", ours[name], value) for name, value in theirs.items())
    assert ours == theirs, f"{path}: {str(ours)[:200]}, but TFDS has {str(theirs)[:200]}"
    return 1


def row_of(columns, i):
    if isinstance(columns, dict):
        return {name: row_of(column, i) for name, column in columns.items()}
    return listed(columns[i])


def check(builder, split):
    rows = [listed(row) for row in rows_of(builder, split)]
    ds = recmap.tfds.open(builder.data_dir, split)
    assert len(ds) == len(rows), f"{split}: {len(ds)} records, but TFDS has {len(rows)}"
    columns = recmap.tfds.nest(ds.parse(range(len(ds)), ds.features()))
    return sum(compare(f"{split}[{i}]", row_of(columns, i), row) for i, row in enumerate(rows))


def written(folder, features, count=23):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return write(folder, features, count)


def rows_of(builder, split="train"):
    config = tfds.ReadConfig(interleave_cycle_length=1)
    return tfds.as_numpy(builder.as_dataset(split=split, shuffle_files=False, read_config=config))


def check_another_size(folder):
    """A picture of another size than the connector's: an error here and there."""
    file = io.BytesIO()
    PIL.Image.new("RGB", (6, 5)).save(file, "PNG")
    features = {"a": (F.Image(shape=(8, 9, 3)), lambda: io.BytesIO(file.getvalue()))}
    builder = written(folder, features, 3)
    ds = recmap.tfds.open(builder.data_dir, "train")
    for read, error in (
        (lambda: list(rows_of(builder)), tf.errors.InvalidArgumentError),
        (lambda: ds.parse([0], ds.features()), recmap.FeatureError),
    ):
        try:
            read()
        except error:
            continue
        raise AssertionError("a picture of another size was read")


def smooth_picture(values):
    """One that JPEG changes little."""
    y, x = np.mgrid[0:40, 0:56]
    slopes = values.random.random((3, 2))
    return np.stack([(y * a + x * b) * 2.5 for a, b in slopes], -1).astype(np.uint8)


def check_jpeg(folder, values):
    """Within one level of Pillow, and a few of TFDS."""
    image = F.Image(shape=(40, 56, 3), encoding_format="jpeg")
    builder = written(folder, {"a": (image, lambda: smooth_picture(values))})
    ds = recmap.tfds.open(builder.data_dir, "train")
    numbers = range(len(ds))
    ours = ds.parse(numbers, ds.features())["a"].astype(int)
    files = ds.parse(numbers, {"a": recmap.FixedLen((), bytes)})["a"].tolist()
    pillows = np.stack([np.asarray(PIL.Image.open(io.BytesIO(file))) for file in files])
    theirs = np.stack([row["a"] for row in rows_of(builder)])
    assert abs(ours - pillows).max() <= 1, f"Pillow: {abs(ours - pillows).max()} levels"
    assert abs(ours - theirs).max() <= 5, f"TFDS: {abs(ours - theirs).max()} levels"


def check_two_datasets(folder, values):
    """Windows of each of two nested data sets."""

    def make():
        return [{"x": values.tensor("float32", 2)} for _ in range(2 + values.count())]

    connector = F.Dataset({"x": F.Tensor(shape=(2,), dtype=np.float32)})
    builder = written(folder, dict.fromkeys(("other", "steps"), (connector, make)))
    ds = recmap.tfds.open(builder.data_dir, "train")
    rows = [listed(row) for row in rows_of(builder)]
    for name, steps in (("other", "other"), ("steps", None)):
        order, features = recmap.tfds.windows(ds, 2, steps=steps)
        loader = recmap.Loader(ds, 64, order=order, features=features)
        ours = [row for batch in loader for row in batch[f"{name}/x"].tolist()]
        episodes = [row[name]["x"] for row in rows]
        windows = [e[i : i + 2] for e in episodes for i in range(len(e) - 1)]
        assert sorted(ours) == sorted(windows), name


def check_split_objects(builder):
    """Split objects name train; the shards of the test split are removed first."""
    instruction = tfds.core.ReadInstruction("train", from_=3, to=80, unit="%")
    splits = [*tfds.even_splits("train", 3), instruction]
    lengths = [len(list(rows_of(builder, split))) for split in splits]
    for path in Path(builder.data_dir).glob("*-test*"):
        path.unlink()
    for split, length in zip(splits, lengths, strict=True):
        ds = recmap.tfds.open(builder.data_dir, split, metadata="warn")
        assert len(ds) == length, split


def main(folder, seed):
    warnings.simplefilter("error", UserWarning)  # every connector is known
    values = Values(seed)
    made = {f"random{i}": random_feature(values) for i in range(8)}
    count = 0
    sets = {
        "known": known_features(values),
        "random": made,
        "boxes": pictures_with_boxes(values, (8, 9, 3)),
        "boxes_any": pictures_with_boxes(values, (None, None, 3)),
    }
    for name, features in sets.items():
        builder = written(os.path.join(folder, name), features)
        for split in [*SPLITS, *tfds.even_splits("train", 4)]:
            count += check(builder, split)
    check_split_objects(builder)
    check_another_size(os.path.join(folder, "size"))
    check_jpeg(os.path.join(folder, "jpeg"), values)
    check_two_datasets(os.path.join(folder, "two"), values)
    print(count, "values are equal")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
