"""A shard: the payloads of its frames, and its hash."""

import re
import struct

from . import check
from .crc32c import masked
from .xxh3 import xxh3_64, xxh3_128

SAMPLES_MAX = 32
FRAMINGS = ("tfrecord", "ofrecord", "lines", "fixed", "csv", "tar")


def kind_of(framing):
    """The name of a framing, without its parameters."""
    kind = re.split("[:,]", framing)[0]
    check(kind in FRAMINGS, f"unsupported: framing {framing}")
    return kind


def read_payload(kind, frame):
    """The payload of a frame, after checking what the frame says of it."""
    if kind == "tfrecord":
        check(len(frame) >= 16, "the frame is too short")
        payload = frame[12:-4]
        right = struct.pack("<QI", len(payload), masked(frame[:8])) == frame[:12]
        check(right, "the length of the frame or its CRC is wrong")
        check(frame[-4:] == struct.pack("<I", masked(payload)), "the CRC of the payload is wrong")
        return payload
    if kind == "ofrecord":
        right = frame[:8] == struct.pack("<Q", max(0, len(frame) - 8))
        check(right, "the size of the frame is wrong")
        return frame[8:]
    if kind == "csv":
        frame = frame.removeprefix(b"\xef\xbb\xbf")
    if kind in ("csv", "lines") and frame.endswith(b"\n"):
        return frame[:-1].removesuffix(b"\r")
    return frame


def check_of(kind, frame, payload):
    """The check of a payload: its CRC as stored, or a hash."""
    if kind == "tfrecord":
        return struct.unpack("<I", frame[-4:])[0]
    return xxh3_64(payload) & 0xFFFFFFFF


def identity(frames, image_size):
    """The hash, the samples and their step of a shard with (offset, size, check) of its records."""
    data = b"".join(struct.pack("<QQI", *frame) for frame in frames)
    step = 1
    while len(frames) > SAMPLES_MAX * step:
        step *= 2
    samples = [check for *_, check in frames[::step]]
    return xxh3_128(data + struct.pack("<Q", image_size)), samples, step
