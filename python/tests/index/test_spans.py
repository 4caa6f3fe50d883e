"""Damage in compressed shards that no checksum of a record notices."""

import gzip
import os
import random
import re
import zlib

import pytest
import recmap
from conftest import write

SIZE = 48  # of a frame: 16 more than its payload


def payload(number):
    return bytes([number]) * (SIZE - 16)


def frames_of(image):
    return [image[at : at + SIZE] for at in range(0, len(image), SIZE)]


def make_image(tmp_path, framing, numbers):
    if framing == "lines":
        return b"".join(payload(ord("a") + n)[:-1] + b"\n" for n in numbers)
    (path,) = write(tmp_path, [payload(n) for n in numbers])
    with open(path, "rb") as file:
        return file.read()


def replace(path, data):
    """Damage on the medium: the file keeps its size and modification time."""
    stat = os.stat(path)
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def shifted(file, image, size):
    """Files with one other bit that inflate, as far as the image reaches, to whole records of the
    same image in another order."""
    known = {image[at : at + size] for at in range(0, len(image), size)}
    for bit in range(80, 8 * len(file) - 64):
        damaged = bytearray(file)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            found = zlib.decompressobj(-15).decompress(bytes(damaged[10:]), len(image))
        except zlib.error:
            continue
        frames = [found[at : at + size] for at in range(0, len(found), size)]
        if found != image and len(found) == len(image) and known.issuperset(frames):
            yield bytes(damaged)


def number_of_wrong(ds, due):
    """Reads all records: how many raise an error. None may be another record."""
    wrong = 0
    for i, record in enumerate(due):
        try:
            assert ds[i] == record
        except recmap.CorruptRecordError as error:
            assert error.record == i and error.path.endswith("a.gz") and error.offset is not None
            assert "inflate to other data than when they were indexed" in str(error)
            wrong += 1
    return wrong


@pytest.mark.parametrize("framing", ["tfrecord", "lines"])
@pytest.mark.parametrize("access", ["map", "read"])
def test_records_that_damage_moved_are_not_returned(tmp_path, framing, access):
    draw = random.Random(1)
    image = make_image(tmp_path, framing, draw.choices(range(20), k=400))
    size = SIZE if framing == "tfrecord" else SIZE - 16
    shard = tmp_path / "a.gz"
    whole = gzip.compress(image, mtime=0)
    shard.write_bytes(whole)
    with recmap.open(shard, framing=framing) as ds:
        due = [bytes(record) for record in ds]
    assert len(due) == 400
    count = 0
    for damaged in shifted(whole, image, size):
        replace(shard, damaged)
        with recmap.open(shard, framing=framing, access=access) as ds:
            assert number_of_wrong(ds, due) == len(due)
            report = ds.verify()
            assert report["records_good"] == 0
            assert re.search("other data|does not match", report["damage"][0]["reason"])
            with pytest.raises(recmap.CorruptRecordError):
                next(iter(recmap.Loader(ds, 32)))
            loader = recmap.Loader(ds, 32, on_bad_record="skip")
            assert sum(len(batch) for batch in loader) == 0
        count += 1
        if count == 10:
            break
    assert count == 10


def test_other_spans_stay_readable(tmp_path):
    """Of a shard with several spans, what a reader returns is what `verify` finds good."""
    draw = random.Random(2)
    payloads = [draw.randbytes(700) + bytes(300) for _ in range(6000)]
    (plain,) = write(tmp_path, payloads)
    with open(plain, "rb") as file:
        whole = gzip.compress(file.read(), 1, mtime=0)
    shard = tmp_path / "a.gz"
    shard.write_bytes(whole)
    recmap.open(shard).close()
    for at in range(100, len(whole), len(whole) // 9):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << draw.randrange(8)
        replace(shard, bytes(damaged))
        with recmap.open(shard) as ds:
            good = 0
            for i, record in enumerate(payloads):
                try:
                    assert ds[i] == record
                    good += 1
                except recmap.CorruptRecordError as error:
                    assert error.record == i
            report = ds.verify()
            assert report["records_good"] == good
            assert 0 < good < len(payloads)
            assert report["damage"]
