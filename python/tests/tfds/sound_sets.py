"""Writes sound data sets with TFDS, and prints what Dataset.doctor() finds in them, as JSON.

    python sound_sets.py FOLDER COUNT

A program of its own, because TFDS imports TensorFlow.
"""

import glob
import json
import os
import sys

import against_tfds
import numpy as np
import recmap
import tensorflow_datasets as tfds

F = tfds.features


def episode_of(v):
    steps = {
        "observation": {
            "image": F.Image(shape=(6, 5, 3), encoding_format="png"),
            "state": F.Tensor(shape=(7,), dtype=np.float32),
        },
        "action": F.Tensor(shape=(2,), dtype=np.float32),
        "is_first": np.bool_,
        "is_last": np.bool_,
        "is_terminal": np.bool_,
    }

    def make():
        count = 3 + v.count()
        return [
            {
                "observation": {"image": v.pixels(6, 5, 3), "state": v.tensor("float32", 7)},
                "action": v.tensor("float32", 2),
                "is_first": step == 0,
                "is_last": step == count - 1,
                "is_terminal": step == count - 1,
            }
            for step in range(count)
        ]

    return F.Dataset(steps), make


def features_of(v):
    """Some connectors, of which the values of no two records are equal."""
    known = against_tfds.known_features(v)
    names = ["label", "image", "any_image", "rgba", "mask", "video", "text", "variable"]
    names += [
        "bytes_float64",
        "box",
        "objects",
        "fixed",
        "pair",
        "scalar_int64",
        "scalar_float32",
        "audio",
    ]
    chosen = [name for name in names if v.random.random() < 0.6] or ["label"]
    features = {name: known[name] for name in chosen}
    features["state"] = (F.Tensor(shape=(4,), dtype=np.float32), lambda: v.tensor("float32", 4))
    if v.random.random() < 0.5:
        features["steps"] = episode_of(v)
    return features


def main(folder, count):
    findings = []
    for seed in range(count):
        path = os.path.join(folder, str(seed))
        builder = against_tfds.write(path, features_of(against_tfds.Values(seed)), 41)
        shards = sorted(glob.glob(os.path.join(builder.data_dir, "*.tfrecord-*")))
        with recmap.open(shards, sets="all", index=os.path.join(path, "all.rmx")) as ds:
            findings.append(ds.doctor(progress=None)["findings"])
    print(json.dumps(findings))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
