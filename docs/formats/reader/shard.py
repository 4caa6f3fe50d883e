"""A shard: its path, its image, and the payloads of frames."""

import mmap
import os
import re
import struct
import zlib
from bisect import bisect_right

from .crc32c import crc32c, masked
from .errors import FormatError, check
from .xxh3 import xxh3_64, xxh3_128

PLAIN, GZIP, ZLIB = range(3)
POINT, PART, WINDOW_MAX, PIECE, SAMPLES_MAX = 24, 16 << 20, 1 << 15, 1 << 16, 32
FRAMING = re.compile(
    r"tfrecord|ofrecord|lines|tar|csv(:(comma|tab|semicolon|pipe))?(,noquotes)?(,noheader)?"
    r"|fixed:(0|[1-9]\d*),[1-9]\d*,(0|[1-9]\d*)",
    re.ASCII,
)


def find_path(folder, path, allow_absolute=False):
    """Where a file is that another in `folder` names."""
    check(path and b"\0" not in path, "a path is empty or has a NUL")
    check(not re.match(rb"[a-z0-9]+://", path), f"unsupported: the file is remote: {path!r}")
    if path.startswith(b"/"):
        check(allow_absolute, f"the path is absolute, and may name any file: {path!r}")
        return path
    parts = path.split(b"/")
    check(not {b"", b".", b".."} & set(parts), f"the path leaves its folder: {path!r}")
    for i in range(1, len(parts)):
        is_link = os.path.islink(os.path.join(folder, *parts[:i]))
        check(not is_link, f"a folder of the path is a symbolic link: {path!r}")
    full = os.path.join(folder, path)
    if os.path.islink(full):
        owners = {0, os.getuid(), os.stat(full).st_uid}
        check(os.lstat(full).st_uid in owners, f"the link is someone else's: {path!r}")
    return full


def read_payload(framing, frame):
    """The payload of a frame, after checking what the frame says of it."""
    kind = re.split("[:,]", framing)[0]
    if kind == "tfrecord":
        check(len(frame) >= 16, "the frame is too short")
        size, size_check = struct.unpack_from("<QI", frame)
        check(size == len(frame) - 16, f"the length is {size}, but the frame has {len(frame)}")
        check(size_check == masked(frame[:8]), "the CRC of the length is wrong")
        payload = frame[12:-4]
        check(struct.unpack("<I", frame[-4:])[0] == masked(payload), "the payload's CRC is wrong")
        return payload
    if kind == "ofrecord":
        check(
            len(frame) >= 8 and struct.unpack_from("<Q", frame)[0] == len(frame) - 8, "wrong size"
        )
        return frame[8:]
    if kind == "csv":
        frame = frame.removeprefix(b"\xef\xbb\xbf")
    if kind in ("lines", "csv") and frame.endswith(b"\n"):
        return frame[:-2] if frame.endswith(b"\r\n") else frame[:-1]
    return frame


class Points:
    """The seek points of a shard, and the checks of its spans, from the values that hold them."""

    def __init__(self, values, image_size, file_size):
        self.bits, self.offsets, self.windows, self.checks = [], [0], [], []
        for value in values:
            self._read(value)
        self.offsets.append(image_size)
        check(_ascends(self.bits, 8 * file_size), "bits of seek points are wrong")
        check(_ascends(self.offsets[1:-1], image_size + 1), "offsets of seek points are wrong")
        spans = zip(self.offsets, self.offsets[1:])
        counts = [max(1, -(-(end - begin) // PART)) for begin, end in spans]
        check(sum(counts) == len(self.checks), "a wrong number of checks")
        self.first_checks = [sum(counts[:i]) for i in range(len(counts))]

    def _read(self, value):
        check(len(value) >= 8, "seek points are cut off")
        count, check_count = struct.unpack_from("<II", value)
        begin = 8 + POINT * count + 4 * check_count
        check(begin <= len(value), "seek points are cut off")
        self.checks += struct.unpack_from(f"<{check_count}I", value, 8 + POINT * count)
        for bit, offset, size, end in struct.iter_unpack("<QQII", value[8 : 8 + POINT * count]):
            end += 8 + POINT * count + 4 * check_count
            check(begin <= end <= len(value) and size <= WINDOW_MAX, "a window is outside")
            self.bits.append(bit)
            self.offsets.append(offset)
            self.windows.append((value[begin:end], size))
            begin = end
        check(begin == len(value), "seek points have bytes after the windows")

    def window(self, i):
        data, size = self.windows[i]
        inflater = zlib.decompressobj(-15)
        try:
            window = inflater.decompress(data, size + 1) if size else data
        except zlib.error:
            raise FormatError("a window cannot be inflated") from None
        check(len(window) == size, "a window has another size than its seek point says")
        return window


def _ascends(numbers, limit):
    return all(a < b for a, b in zip(numbers, [*numbers[1:], limit]))


class InflatedImage:
    """What a compressed file inflates to, read span by span: `image[begin:end]`."""

    def __init__(self, data, kind, points):
        self.data, self.kind, self.points = data, kind, points
        self.last, self.last_span = None, b""

    def __getitem__(self, places):
        begin, end, read = places.start, places.stop, bytearray()
        while begin < end:
            span = bisect_right(self.points.offsets, begin, 0, len(self.points.offsets) - 1) - 1
            first, limit = self.points.offsets[span : span + 2]
            piece = self._span(span)[begin - first : min(end, limit) - first]
            check(len(piece) == min(end, limit) - begin, "the compressed stream is damaged")
            self._check_parts(span, begin - first, begin - first + len(piece))
            read += piece
            begin += len(piece)
        return bytes(read)

    def _span(self, span):
        if self.last != span:
            size = self.points.offsets[span + 1] - self.points.offsets[span]
            self.last, self.last_span, self.checked = span, self._inflate(span, size), set()
        return self.last_span

    def _check_parts(self, span, begin, end):
        for part in set(range(begin // PART, -(-end // PART))) - self.checked:
            data = self.last_span[PART * part : PART * (part + 1)]
            right = self.points.checks[self.points.first_checks[span] + part] == crc32c(data)
            check(right, "the compressed stream is damaged: a check is wrong")
            self.checked.add(part)

    def _inflate(self, span, size):
        """Up to `size` bytes of a span; fewer if the stream is damaged or cut off."""
        if span:
            bit = self.points.bits[span - 1]
            inflater = zlib.decompressobj(-15, zdict=self.points.window(span - 1))
            try:
                inflater.decompress(_lead_in(self.data, bit))
            except zlib.error:
                return b""
            at = bit // 8 + 1
        else:
            inflater, at = zlib.decompressobj(-15), _skip_header(self.data, 0, self.kind)
        read = bytearray()
        while at is not None and len(read) < size:
            at = _inflate_member(inflater, self.data, at, size, read)
            if at is not None:
                at = _skip_header(self.data, at + (8 if self.kind == GZIP else 4), self.kind)
                inflater = zlib.decompressobj(-15)
        return bytes(read)


def _inflate_member(inflater, data, at, size, read):
    """Adds what a member inflates to. Returns where its trailer is, or None if that is not reached.

    zlib keeps to itself what it inflated of a piece before damage, so the piece is read again by
    single bytes. Only symbols that end in the damaged byte itself are lost."""
    step = PIECE
    while not inflater.eof and len(read) < size and at < len(data):
        saved, piece = inflater.copy(), data[at : at + step]
        try:
            read += inflater.decompress(piece, size - len(read))
        except zlib.error:
            if step == 1:
                return None
            inflater, step = saved, 1
            continue
        at += len(piece) - len(inflater.unconsumed_tail) - len(inflater.unused_data)
    return at if inflater.eof else None


def _skip_header(data, at, kind):
    """Where the first block of a member begins, or None if no member begins here."""
    if kind == ZLIB:
        header = data[at : at + 2]
        right = len(header) == 2 and header[0] & 15 == 8 and header[0] >> 4 <= 7
        right = right and int.from_bytes(header, "big") % 31 == 0 and not header[1] & 32
        return at + 2 if right else None
    header = data[at : at + 10]
    if len(header) < 10 or header[:3] != b"\x1f\x8b\x08" or header[3] >= 32:
        return None
    flags, at = header[3], at + 10
    if flags & 4:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (8, 16):
        if flags & flag:
            at = data.find(b"\0", at) + 1 or len(data)
    return at + (2 if flags & 2 else 0)


# Blocks of deflate without output, as (bits, their number): of fixed codes, and with codes of
# its own, which has an odd number of bits.
_FIXED = (0b010, 10)
_OWN = (0x35FFC10000000000081E004, 93)


def _lead_in(data, bit):
    """Bytes that end with the bits of a file from a bit on, to the end of its byte: zlib starts at
    bytes, so empty blocks precede them."""
    value, count = _OWN if bit % 2 else (0, 0)
    while count % 8 != bit % 8:
        value, count = value | _FIXED[0] << count, count + _FIXED[1]
    value |= data[bit // 8] >> bit % 8 << count
    return value.to_bytes(count // 8 + 1, "little")


def open_image(path, shard, points):
    """The image of a shard, whose file must have at least its size, to be cut like bytes."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        check(size >= shard.file_size, f"{os.fsdecode(path)} is shorter than it was")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    return InflatedImage(data, shard.compression, points) if points else data


def identity(frames, image_size):
    """The hash, the samples and their step of a shard with (offset, size, check) of its records."""
    data = b"".join(struct.pack("<QQI", *frame) for frame in frames)
    step = 1
    while len(frames) > SAMPLES_MAX * step:
        step *= 2
    samples = [check for *_, check in frames[::step]]
    return xxh3_128(data + struct.pack("<Q", image_size)), samples, step


def check_of(framing, frame, payload):
    """The check of a payload: its CRC as stored, or a hash."""
    if framing == "tfrecord":
        return struct.unpack("<I", frame[-4:])[0]
    return xxh3_64(payload) & 0xFFFFFFFF
