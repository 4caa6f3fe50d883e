"""Ways to get a random part of a JPEG, scaled, mirrored or not, as an array of uint8.

Each way is a function that prepares a job and returns a function, which decodes all photos.
What cannot be imported is left out and named.
"""

import ctypes
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


class Part(NamedTuple):
    """What is taken of a photo. DALI draws its own; all others are given the same."""

    x: int
    y: int
    width: int
    height: int
    is_mirrored: bool


class Job(NamedTuple):
    photos: list[bytes]
    parts: list[Part]
    size: int
    seed: int  # of recmap's draws, which give the parts


Way = Callable[[Job], Callable[[], None]]


def huffman(library: str) -> Way:
    """Only Huffman decoding, down to the end of the part: the limit of all that use libjpeg."""
    decode = ctypes.CDLL(library).huffman_decode
    decode.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint]

    def way(job: Job) -> Callable[[], None]:
        def run() -> None:
            for data, part in zip(job.photos, job.parts):
                assert decode(data, len(data), part.y + part.height) == 0

        return run

    return way


def recmap_way(job: Job) -> Callable[[], None]:
    import recmap

    crop = recmap.RandomResizedCrop()

    def run() -> None:
        for number, data in enumerate(job.photos):
            recmap.decode_image(
                data, job.size, crop=crop, flip=0.5, seed=job.seed, epoch=0, number=number
            )

    return run


def pillow(job: Job) -> Callable[[], None]:
    from PIL import Image

    def run() -> None:
        for data, part in zip(job.photos, job.parts):
            photo = Image.open(io.BytesIO(data)).convert("RGB")
            photo = photo.crop((part.x, part.y, part.x + part.width, part.y + part.height))
            photo = photo.resize((job.size, job.size), Image.Resampling.BILINEAR)
            if part.is_mirrored:
                photo = photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            np.asarray(photo)

    return run


def pillow_torchvision(job: Job) -> Callable[[], None]:
    from PIL import Image
    from torchvision.transforms.v2 import functional

    def run() -> None:
        for data, part in zip(job.photos, job.parts):
            photo = Image.open(io.BytesIO(data)).convert("RGB")
            corner = part.y, part.x, part.height, part.width
            photo = functional.resized_crop(photo, *corner, [job.size, job.size])
            if part.is_mirrored:
                photo = functional.horizontal_flip(photo)
            functional.pil_to_tensor(photo)

    return run


def simplejpeg_torchvision(job: Job) -> Callable[[], None]:
    import simplejpeg
    from torchvision.transforms.v2 import functional

    import torch

    torch.set_num_threads(1)

    def run() -> None:
        for data, part in zip(job.photos, job.parts):
            photo = torch.from_numpy(simplejpeg.decode_jpeg(data)).permute(2, 0, 1)
            corner = part.y, part.x, part.height, part.width
            photo = functional.resized_crop(photo, *corner, [job.size, job.size], antialias=True)
            if part.is_mirrored:
                photo = functional.horizontal_flip(photo)
            photo.permute(1, 2, 0).contiguous()

    return run


def tensorflow(antialias: bool) -> Way:
    def way(job: Job) -> Callable[[], None]:
        import tensorflow as tf

        if tf.config.threading.get_intra_op_parallelism_threads() != 1:
            tf.config.threading.set_intra_op_parallelism_threads(1)
            tf.config.threading.set_inter_op_parallelism_threads(1)

        @tf.function(
            input_signature=[
                tf.TensorSpec((), tf.string),
                tf.TensorSpec((4,), tf.int32),
                tf.TensorSpec((), tf.bool),
            ]
        )
        def decode(data, corner, is_mirrored):
            photo = tf.io.decode_and_crop_jpeg(data, corner, channels=3)
            photo = tf.image.resize(photo, (job.size, job.size), antialias=antialias)
            photo = tf.cast(tf.round(photo), tf.uint8)
            return tf.cond(is_mirrored, lambda: tf.image.flip_left_right(photo), lambda: photo)

        def run() -> None:
            for data, part in zip(job.photos, job.parts):
                decode(data, (part.y, part.x, part.height, part.width), part.is_mirrored)

        return run

    return way


def dali(job: Job) -> Callable[[], None]:
    from nvidia.dali import fn, pipeline_def

    arrays = [np.frombuffer(data, np.uint8) for data in job.photos]

    # Without reading ahead, because the time of a round must be the time of its photos.
    @pipeline_def(
        batch_size=len(arrays), num_threads=1, device_id=None, seed=job.seed,
        prefetch_queue_depth=1, exec_async=False, exec_pipelined=False,
    )  # fmt: skip
    def pipeline():
        photos = fn.external_source(lambda: arrays, batch=True)
        photos = fn.decoders.image_random_crop(
            photos, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
        )
        photos = fn.resize(photos, size=(job.size, job.size))
        return fn.flip(photos, horizontal=fn.random.coin_flip())

    made = pipeline()
    made.build()
    return lambda: made.run() and None


def opencv(interpolation: str) -> Way:
    def way(job: Job) -> Callable[[], None]:
        import cv2

        cv2.setNumThreads(1)
        how = getattr(cv2, interpolation)

        def run() -> None:
            for data, part in zip(job.photos, job.parts):
                photo = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)
                photo = photo[part.y : part.y + part.height, part.x : part.x + part.width]
                photo = cv2.resize(photo, (job.size, job.size), interpolation=how)
                if part.is_mirrored:
                    cv2.flip(photo, 1)

        return run

    return way


def simplejpeg_alone(job: Job) -> Callable[[], None]:
    import simplejpeg

    def run() -> None:
        for data in job.photos:
            simplejpeg.decode_jpeg(data)

    return run


def ways(library: Path | None) -> dict[str, Way]:
    """By name. Those that do not filter what they scale down say so."""
    limit = {} if library is None else {"Huffman decoding alone": huffman(str(library))}
    return {
        "recmap": recmap_way,
        **limit,
        "simplejpeg + torchvision v2": simplejpeg_torchvision,
        "TensorFlow decode_and_crop_jpeg": tensorflow(True),
        "DALI, CPU": dali,
        "OpenCV, INTER_AREA": opencv("INTER_AREA"),
        "Pillow": pillow,
        "Pillow + torchvision v2": pillow_torchvision,
        "TensorFlow, no antialias": tensorflow(False),
        "OpenCV, INTER_LINEAR, no antialias": opencv("INTER_LINEAR"),
        "simplejpeg, decoding alone": simplejpeg_alone,
    }
