"""Made-up robot data, as TFDS prepares it: episodes with a camera, actions and an instruction.

Used by tfds.py and lerobot.py. Needs recmap, NumPy and Pillow.
"""

import io
import json

import numpy as np
import recmap
from PIL import Image

EPISODES, STEPS, SIDE = 24, 64, 256
CORE = "tensorflow_datasets.core.features"


def tensor(dtype, *shape):
    content = {"dtype": dtype, "shape": {"dimensions": [str(side) for side in shape]}}
    return {"pythonClassName": f"{CORE}.tensor_feature.Tensor", "tensor": content}


def group(**features):
    name = f"{CORE}.features_dict.FeaturesDict"
    return {"pythonClassName": name, "featuresDict": {"features": features}}


def write_metadata(folder, name, features, lengths):
    split = {"name": "train", "shardLengths": [str(length) for length in lengths]}
    split["filepathTemplate"] = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
    info = {"name": name, "version": "1.0.0", "fileFormat": "tfrecord", "splits": [split]}
    (folder / "dataset_info.json").write_text(json.dumps(info))
    (folder / "features.json").write_text(json.dumps(features))
    return folder


def frame(random):
    """The JPEG of a frame that compresses about as a photo does: smooth, with noise."""
    small = Image.fromarray(random.integers(0, 256, (9, 9, 3), np.uint8))
    smooth = np.asarray(small.resize((SIDE, SIDE), Image.Resampling.BILINEAR))
    noisy = (smooth + random.normal(0, 6, smooth.shape)).clip(0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(noisy).save(file, "JPEG", quality=90)
    return file.getvalue()


def write_episodes(folder):
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    with recmap.Writer(folder / "arm-train.tfrecord-00000-of-00001", index=None) as writer:
        for number in range(EPISODES):
            writer.write(
                {
                    "steps/observation/image": [frame(random) for _ in range(STEPS)],
                    "steps/action": random.normal(size=STEPS * 7).astype(np.float32),
                    "language_instruction": f"task {number}",
                }
            )
    content = {"dtype": "uint8", "shape": {"dimensions": [str(SIDE), str(SIDE), "3"]}}
    image = {
        "pythonClassName": f"{CORE}.image_feature.Image",
        "image": {**content, "encodingFormat": "jpeg"},
    }
    step = group(action=tensor("float32", 7), observation=group(image=image))
    steps = {"pythonClassName": f"{CORE}.dataset_feature.Dataset"}
    steps["sequence"] = {"feature": step, "length": "-1"}
    text = {"pythonClassName": f"{CORE}.text_feature.Text", "text": {}}
    features = group(steps=steps, language_instruction=text)
    return write_metadata(folder, "arm", features, [EPISODES])
