"""Damage in compressed streams, at random bits: what is delivered, and what is listed as lost, is
what Python's zlib and docs/formats/index-format.md lead to, however the file is read."""

import gzip
import itertools
import random
import re
import warnings
import zlib

import pytest
import recmap
from conftest import write

BITS = {"gzip": 31, "zlib": 15}
TRIED = 64 << 10  # bytes of a member that make it credible; bytes before damage that are searched
TRAILER = {"incorrect data check": 5, "incorrect length check": 1}  # bytes left with the last one
BLOCK_MAX, SYMBOL_MAX = 330, 7  # bytes of a block's header, and of a symbol


class Stretch:
    """What a file inflates to, from a member on, up to damage or to its end.

    If an invalid symbol follows a byte, zlib keeps that byte to itself: `may_miss` is true if there
    can be one byte more. zlib tells the byte at which damage is certain; the block or symbol begins
    at one of `places`."""

    def __init__(self, data, kind, member):
        self.data, self.kind, self.member = data, kind, member
        self.image, self.verified, self.places = bytearray(), 0, None
        self.wrong_sums, self.may_miss, self.is_cut = 0, False, False
        while self._read_member():
            pass

    def _read_member(self):
        """Returns true if another one follows."""
        inflater, at = zlib.decompressobj(BITS[self.kind]), self.member
        try:
            while not inflater.eof and at < len(self.data):
                self._read_byte(inflater, self.data[at : at + 1])
                at += 1
        except zlib.error as error:
            message = re.sub(".*: ", "", str(error))
            size = 1 if self.kind == "zlib" else TRAILER.get(message)
            if message not in TRAILER or at + size > len(self.data):
                return self._fail(message, at)
            self.wrong_sums += 1
            at += size
        else:
            if not inflater.eof:
                self.is_cut = True
                return self._end(range(at, at + 1))
            self.verified = self.verified if self.wrong_sums else len(self.image)
        if self.kind == "gzip" and begins_member(self.data, at):
            self.member = at
            return True
        return self._end(range(at, at + 1) if self.data[at:].strip(b"\0") else None)

    def _read_byte(self, inflater, piece):
        more = piece
        while more is not None:
            byte = inflater.decompress(more, 1)
            self.image += byte
            more = inflater.unconsumed_tail
            if not more and (not byte or inflater.eof):
                more = None

    def _end(self, places):
        self.places = places
        return False

    def _fail(self, message, at):
        if message in TRAILER:  # the file ends inside the trailer
            self.is_cut = True
            return self._end(range(len(self.data), len(self.data) + 1))
        if re.search("header|method|window", message):
            return self._end(range(self.member, self.member + 1))
        self.may_miss = True
        is_block = re.search("block|set|repeat|symbols|missing", message)
        return self._end(range(max(0, at - (BLOCK_MAX if is_block else SYMBOL_MAX)), at + 1))


def begins_member(data, at):
    return data[at : at + 3] == b"\x1f\x8b\x08" and at + 3 < len(data) and data[at + 3] < 32


def is_member(data, at):
    """Returns true if a member begins here that inflates for 64 KiB or to a good end."""
    if not begins_member(data, at):
        return False
    inflater = zlib.decompressobj(31)
    try:
        return len(inflater.decompress(data[at:], TRIED)) == TRIED or inflater.eof
    except zlib.error:
        return False


def find_member(stretch, place):
    """The member after damage at this byte of the file, or None."""
    if stretch.kind == "zlib":
        return None
    first = max(place - TRIED, stretch.member + 1)
    members = (at for at in range(first, len(stretch.data)) if is_member(stretch.data, at))
    return next(members, None)


def frame_size(image, at):
    """Returns the size of the good frame here: 0 if there is none."""
    size = int.from_bytes(image[at : at + 8], "little")
    end = at + 16 + size
    if end > len(image) or crc(image[at : at + 8]) != image[at + 8 : at + 12]:
        return 0
    return end - at if crc(image[at + 12 : end - 4]) == image[end - 4 : end] else 0


def bad_frame_size(image, at):
    """Returns the size of a frame here of which only the payload is bad: 0 if there is none."""
    size = int.from_bytes(image[at : at + 8], "little")
    end = at + 16 + size
    if end > len(image) or crc(image[at : at + 8]) != image[at + 8 : at + 12]:
        return 0
    is_header = crc(image[end : end + 8]) == image[end + 8 : end + 12]
    return end - at if end == len(image) or is_header else 0


def table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        yield value


TABLE = list(table())


def crc(data):
    """The masked CRC-32C, as it is stored."""
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 255]
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


class Scan:
    """The records and the damage of a file, by the specification."""

    def __init__(self):
        self.records, self.damage, self.wrong_sums = [], [], 0
        self.origin = 0  # of the bytes of the image that follow
        self.lost = None  # where the current damage begins

    def copy(self):
        scan = Scan()
        scan.__dict__ |= self.__dict__
        scan.records, scan.damage = [*self.records], [*self.damage]
        return scan

    def read(self, image):
        at = 0
        while at < len(image):
            size = frame_size(image, at)
            if size:
                self.close(self.origin + at)
                self.records.append(bytes(image[at + 12 : at + size - 4]))
            elif self.lost is None:
                self.lost = self.origin + at
                size = bad_frame_size(image, at)
                if size:
                    self.close(self.origin + at + size)
            at += size or 1
        self.origin += len(image)
        self.close(self.origin)

    def lose(self, size):
        self.lost = self.origin if self.lost is None else self.lost
        self.origin += size

    def close(self, end):
        if self.lost is not None:
            self.damage.append((self.lost, end - self.lost))
        self.lost = None

    def end(self):
        self.close(self.origin)
        if self.wrong_sums and not self.damage:
            self.damage.append((self.origin, 0))
        return self


def last_bytes(image):
    """What zlib may keep to itself: nothing, a byte that completes a frame, or another one."""
    wanted = (image + bytes([byte]) for byte in range(256))
    at = 0
    while size := frame_size(image, at):
        at += size
    if int.from_bytes(image[at : at + 8], "little") + 16 == len(image) - at + 1:
        yield from (more[-1:] for more in wanted if frame_size(more, at))
    yield from (b"", b"\0")


def outcomes(data, kind, named, scan=None, member=0):
    """All scans that zlib leaves possible, given the bad bytes of the file that are `named`."""
    scan = scan or Scan()
    stretch = Stretch(data, kind, member)
    scan.wrong_sums += stretch.wrong_sums
    if not stretch.places:
        scan.read(stretch.image)
        yield scan.end()
        return
    for byte in last_bytes(stretch.image) if stretch.may_miss else [b""]:
        for place in [place for place in stretch.places if place in named] or stretch.places:
            other = scan.copy()
            other.read(stretch.image + byte)
            found = find_member(stretch, place)
            other.lose(max((len(data) if found is None else found) - place, 1))
            if found is None:
                yield other.end()
            else:
                yield from outcomes(data, kind, named, other, found)


# ---- the library ----


def make_file(tmp_path, kind, chance):
    """Some members, of records whose bytes give blocks of all kinds."""
    payloads = [
        chance.choice(
            [chance.randbytes(60), b"ab" * 70, chance.randbytes(3) * chance.randrange(90)]
        )
        for _ in range(chance.randrange(1, 120))
    ]
    with open(write(tmp_path, payloads)[0], "rb") as file:
        image = file.read()
    cuts = sorted(chance.randrange(len(image)) for _ in range(chance.randrange(3)))
    parts = [image[a:b] for a, b in itertools.pairwise([0, *cuts, len(image)])]
    if kind == "zlib":
        return zlib.compress(image, chance.randrange(10))
    return b"".join(gzip.compress(part, chance.randrange(10), mtime=0) for part in parts)


def damage(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2])):
        at = chance.randrange(4, len(data))
        way = chance.randrange(10)
        if way == 0:
            del data[at:]
        elif way == 1:
            data[at : at + 8] = chance.randbytes(len(data[at : at + 8]))
        else:
            data[at] ^= 1 << chance.randrange(8)
        if len(data) < 30:
            break
    return bytes(data)


def open_damaged(path, access="map"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return recmap.open(path, access=access, on_bad_record="skip", compression=path.suffix[1:])


def result_of(ds):
    listed = ds.info["damage"]
    return [bytes(record) for record in ds], [(item["offset"], item["length"]) for item in listed]


def compare(path, kind, data):
    path.write_bytes(data)
    with open_damaged(path) as ds:
        result = result_of(ds)
        assert ds.verify(progress=None)["records_good"] == len(ds)
        reasons = " ".join(item["reason"] for item in ds.info["damage"])
    named = {int(place) for place in re.findall(r"damaged at its byte (\d+)", reasons)}
    possible = [(scan.records, scan.damage) for scan in outcomes(data, kind, named)]
    assert result in possible
    with open_damaged(path, "read") as ds:
        assert result_of(ds) == result
    return result[1]


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("seed", range(4))
def test_what_precedes_damage_is_delivered(tmp_path, kind, seed):
    chance = random.Random(seed)
    damaged = 0
    for number in range(15):
        data = damage(make_file(tmp_path, kind, chance), chance)
        damaged += bool(compare(tmp_path / f"{number}.{kind}", kind, data))
    assert damaged > 6
