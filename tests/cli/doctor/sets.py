"""Data sets with one fault each, and sound ones, for the tests of `recmap doctor`."""

import json
import os
import random
import re
import struct
import zlib

from support import ROOT, example, sequence_example, tfrecord

PICTURES = os.path.join(ROOT, "tests", "images")


def picture(name):
    with open(os.path.join(PICTURES, name), "rb") as file:
        return file.read()


def sound(number, **changes):
    """A record without faults. A change of None removes a feature."""
    features = {
        "id": f"record-{number:03}",
        "label": number % 7,
        "values": [float(number), number / 3],
        **changes,
    }
    return example(**{name: value for name, value in features.items() if value is not None})


def with_pictures(count, changes=()):
    """Records with a picture each, in several formats, whose names are right."""
    names = ["plain-420.jpg", "rgb.png", "lossy.webp"]
    records = []
    for number in range(count):
        name = dict(changes).get(number, names[number % len(names)])
        data = name if isinstance(name, bytes) else picture(name)
        # Bytes after the end of a picture are not part of it, and make each record another one.
        records.append(sound(number, image=data))
    return records


def episode(number, steps, **changes):
    """An episode in the form of RLDS."""
    draw = random.Random(number)
    features = {
        "episode_id": f"episode-{number}",
        "steps/action": [draw.random() for _ in range(2 * steps)],
        "steps/is_first": [int(step == 0) for step in range(steps)],
        "steps/is_last": [int(step == steps - 1) for step in range(steps)],
        "steps/is_terminal": [int(step == steps - 1 and number % 2) for step in range(steps)],
        **changes,
    }
    return example(**features)


def episodes(changes=()):
    """Sound episodes, but for those that `changes` has by their numbers."""
    changed = dict(changes)
    return [changed.get(number) or episode(number, 3 + number % 4) for number in range(12)]


def sequence(number, steps, tokens=None):
    draw = random.Random(number)
    lists = {
        "frames": [[draw.random()] for _ in range(steps)],
        "tokens": [[draw.randrange(1000)] for _ in range(steps if tokens is None else tokens)],
    }
    return sequence_example({"id": f"video-{number}"}, lists)


def shards(records, count, name="set", suffix=".tfrecord"):
    """The records in shards of equal size."""
    size = -(-len(records) // count)
    return {
        f"{name}-{shard:05}-of-{count:05}{suffix}": tfrecord(
            records[shard * size : (shard + 1) * size]
        )
        for shard in range(count)
    }


def prepared(files, **changes):
    """The files of a split "train" and what TFDS writes beside them."""
    lengths, size = [], 0
    for data in files.values():
        count, at = 0, 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            size, count, at = size + length, count + 1, at + length + 16
        lengths.append(str(count))
    split = {"name": "train", "shardLengths": lengths, "numBytes": str(size), **changes}
    info = {"name": "robot", "version": "1.0.0", "fileFormat": "tfrecord", "splits": [split]}
    return {**files, "dataset_info.json": json.dumps(info).encode()}


ROBOT = shards([sound(i) for i in range(30)], 3, "robot-train.tfrecord", "")
RECORDS = [sound(i) for i in range(30)]


def one_block(data):
    """GZIP with a single deflate block, in which nothing but its start can be a seek point: fixed
    codes, with runs of zeros as matches of 258 bytes."""
    bits, at = ["1", "10"], 0  # the last block; fixed codes, the low bit first

    def literals(part):
        for byte in part:
            bits.append(f"{byte + 0x30:08b}" if byte < 144 else f"{byte + 0x100:09b}")

    for run in re.finditer(rb"\0{259,}", data):
        count = (len(run[0]) - 1) // 258
        literals(data[at : run.start() + 1])
        bits.append(f"{0xC5:08b}00000" * count)
        at = run.start() + 1 + 258 * count
    literals(data[at:])
    stream = "".join(bits) + "0000000"
    stream += "0" * (-len(stream) % 8)
    deflated = int(stream[::-1], 2).to_bytes(len(stream) // 8, "little")
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return head + deflated + struct.pack("<II", zlib.crc32(data), len(data))


def changed(number, **changes):
    """The records of which one has other features."""
    return [sound(i, **changes) if i == number else record for i, record in enumerate(RECORDS)]


def one(records):
    return {"set.tfrecord": tfrecord(records)}


def damaged():
    data = bytearray(tfrecord(RECORDS))
    data[len(data) // 2] ^= 1
    return {"set.tfrecord": bytes(data)}


def large_record():
    noise = random.Random(0).randbytes(200_000)
    return one([sound(i, blob=noise if i == 7 else noise[i : i + 9]) for i in range(30)])


def shard_sizes():
    records = [sound(i) for i in range(124)]
    parts = [records[:8], records[8:108], records[108:116], records[116:]]
    return {f"set-{i:05}-of-00004.tfrecord": tfrecord(part) for i, part in enumerate(parts)}


def across():
    train = shards(RECORDS, 2, "robot-train.tfrecord", "")
    test = shards([RECORDS[11], *[sound(i) for i in range(50, 60)]], 1, "robot-test.tfrecord", "")
    both = {**train, **test}
    info = json.loads(prepared(train)["dataset_info.json"])
    split = json.loads(prepared(test)["dataset_info.json"])["splits"][0]
    info["splits"].append({**split, "name": "test"})
    return {**both, "dataset_info.json": json.dumps(info).encode()}


# Each set: its files, and the finding that alone it has: check, severity, record.
FAULTS = {
    "missing shard": (
        {k: v for k, v in shards(RECORDS, 3).items() if "00001-of" not in k},
        ("missing_shards", "error", None),
    ),
    "surplus shard": (
        {**shards(RECORDS, 3), "set-00003-of-00003.tfrecord": tfrecord([sound(90)])},
        ("missing_shards", "error", None),
    ),
    "two sets": (
        {
            **shards(RECORDS, 2, "robot-train"),
            **shards([sound(i) for i in range(40, 60)], 2, "robot-test"),
        },
        ("several_sets", "warning", None),
    ),
    "two generations": (
        {**shards(RECORDS, 2), **shards([sound(i) for i in range(40, 60)], 3)},
        ("several_sets", "error", None),
    ),
    "metadata: another length": (
        prepared(ROBOT, shardLengths=["10", "9", "10"]),
        ("metadata", "error", None),
    ),
    "metadata: other bytes": (prepared(ROBOT, numBytes="7"), ("metadata", "warning", None)),
    "metadata: not JSON": (
        {**prepared(ROBOT), "dataset_info.json": b'{"name": '},
        ("metadata", "error", None),
    ),
    "metadata: another number of shards": (
        prepared(ROBOT, shardLengths=["10", "20"]),
        ("metadata", "error", None),
    ),
    "damage": (damaged(), ("damage", "error", None)),
    "no records": (one([]), ("no_records", "warning", None)),
    "no records in several shards": (shards([], 3), ("no_records", "warning", None)),
    "shard sizes": (shard_sizes(), ("shard_sizes", "warning", None)),
    "large record": (large_record(), ("record_sizes", "warning", 7)),
    "other record": (
        one([*RECORDS[:12], b"\x0a\x01", *RECORDS[12:]]),
        ("other_records", "error", 12),
    ),
    "sequences among examples": (
        one([*RECORDS, sequence(0, 3)]),
        ("other_records", "error", 30),
    ),
    "missing feature": (
        one([sound(i, label=None) if i % 5 == 3 else RECORDS[i] for i in range(30)]),
        ("missing_features", "warning", 3),
    ),
    "few miss a feature": (one(changed(4, label=None)), ("missing_features", "note", 4)),
    "empty feature": (
        one([sound(i, values=[]) if i % 5 == 2 else RECORDS[i] for i in range(30)]),
        ("empty_features", "warning", 2),
    ),
    "kinds": (one(changed(9, label=0.5)), ("feature_kinds", "error", 9)),
    "first kind": (one(changed(0, label="three")), ("feature_kinds", "error", 0)),
    "length": (one(changed(5, values=[0.5, 1.5, 2.5])), ("feature_lengths", "warning", 5)),
    "ragged": (
        one([sound(i, values=[0.25 + i] * (1 + i % 3)) for i in range(30)]),
        ("feature_lengths", "note", 1),
    ),
    "nan": (one(changed(8, values=[1.5, float("nan")])), ("not_finite", "warning", 8)),
    "infinity": (one(changed(8, values=[1.5, float("inf")])), ("not_finite", "warning", 8)),
    "constant": (one([sound(i, kind="photo") for i in range(30)]), ("constants", "warning", 0)),
    "float integers": (
        one(changed(6, values=[1.5, 123456789.0])),
        ("float_integers", "warning", 6),
    ),
    "damaged picture": (
        one(with_pictures(12, {5: picture("plain-420.jpg")[:-200]})),
        ("image_damage", "error", 5),
    ),
    "damaged header": (
        one(with_pictures(12, {5: picture("rgb.png")[:20]})),
        ("image_damage", "error", 5),
    ),
    "no picture": (
        one(with_pictures(12, {5: b"<html>not found</html>"})),
        ("image_damage", "error", 5),
    ),
    "cmyk": (one(with_pictures(12, {5: "cmyk.jpg"})), ("image_cmyk", "warning", 5)),
    "turned": (one(with_pictures(12, {5: "turned-6.jpg"})), ("image_orientation", "warning", 5)),
    "16 bits": (one(with_pictures(12, {5: "gray-16.png"})), ("image_depth", "warning", 5)),
    "misnamed": (
        one(
            [
                sound(i, image=picture("rgb.png"), filename=f"{i}.{'jpg' if i == 4 else 'png'}")
                for i in range(9)
            ]
        ),
        ("image_names", "warning", 4),
    ),
    "lists of an episode": (
        one(episodes({3: episode(3, 4, **{"steps/action": [0.5] * 7})})),
        ("episode_lists", "error", 3),
    ),
    "lists of a sequence": (
        one([sequence(i, 3 + i % 3, 2 if i == 5 else None) for i in range(12)]),
        ("episode_lists", "error", 5),
    ),
    "empty episode": (one(episodes({3: episode(3, 0)})), ("episode_lengths", "warning", 3)),
    "one step": (one(episodes({3: episode(3, 1)})), ("episode_lengths", "warning", 3)),
    "one step of a sequence": (
        one([sequence(i, 1 if i == 5 else 4) for i in range(12)]),
        ("episode_lengths", "warning", 5),
    ),
    "is_first": (
        one(episodes({3: episode(3, 4, **{"steps/is_first": [0, 1, 0, 0]})})),
        ("episode_flags", "warning", 3),
    ),
    "is_last": (
        one(episodes({3: episode(3, 4, **{"steps/is_last": [0, 0, 0, 0]})})),
        ("episode_flags", "warning", 3),
    ),
    "is_terminal": (
        one(episodes({3: episode(3, 4, **{"steps/is_terminal": [0, 1, 0, 1]})})),
        ("episode_flags", "warning", 3),
    ),
    "equal records": (one([*RECORDS, RECORDS[3]]), ("equal_records", "warning", 30)),
    "equal records of two sets": (across(), ("equal_records", "error", 11)),
}

SOUND = {
    "records": one(RECORDS),
    "shards": shards(RECORDS, 3),
    "prepared": prepared(ROBOT),
    "pictures": one(with_pictures(12)),
    "episodes": one(episodes()),
    "sequences": one([sequence(i, 4) for i in range(12)]),
    "steps": one([sound(i, is_first=int(i % 5 == 0), is_last=int(i % 5 == 4)) for i in range(30)]),
}
