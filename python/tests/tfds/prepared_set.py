"""A data set as TFDS prepares it, written without TFDS."""

import json

import recmap

CORE = "tensorflow_datasets.core.features"


def tensor(dtype, shape=(), **more):
    content = {"dtype": dtype, "shape": {"dimensions": [str(side) for side in shape]}, **more}
    return {"pythonClassName": f"{CORE}.tensor_feature.Tensor", "tensor": content}


def picture(height, width, channels=3, dtype="uint8"):
    content = {"dtype": dtype, "shape": {"dimensions": [str(height), str(width), str(channels)]}}
    return {"pythonClassName": f"{CORE}.image_feature.Image", "image": content}


def label(count):
    content = {"numClasses": str(count)}
    return {"pythonClassName": f"{CORE}.class_label_feature.ClassLabel", "classLabel": content}


def sequence(feature, length=-1, kind="sequence_feature.Sequence"):
    content = {"feature": feature, "length": str(length)}
    return {"pythonClassName": f"{CORE}.{kind}", "sequence": content}


def steps(**features):
    return sequence(group(**features), kind="dataset_feature.Dataset")


def group(**features):
    name = f"{CORE}.features_dict.FeaturesDict"
    return {"pythonClassName": name, "featuresDict": {"features": features}}


def info_of(name, splits, **more):
    entries = [
        {"name": split, "shardLengths": [str(len(records)) for records in shards]}
        for split, shards in splits.items()
    ]
    return {"name": name, "version": "1.0.0", "fileFormat": "tfrecord", "splits": entries, **more}


def prepare(folder, features, splits, name="made", **more):
    """Writes {split: [records of a shard, ...]} and the metadata, and returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, shards in splits.items():
        for i, records in enumerate(shards):
            file = f"{name}-{split}.tfrecord-{i:05}-of-{len(shards):05}"
            with recmap.Writer(folder / file, index=None) as writer:
                for record in records:
                    writer.write(record)
    (folder / "features.json").write_text(json.dumps(features))
    (folder / "dataset_info.json").write_text(json.dumps(info_of(name, splits, **more)))
    return folder
