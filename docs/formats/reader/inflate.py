"""The images of compressed shards, inflated from their seek points."""

import struct
import zlib
from bisect import bisect_right
from functools import lru_cache
from itertools import islice, pairwise

from . import FormatError, check
from .crc32c import crc32c

GZIP, ZLIB = 1, 2
TRAILERS = {GZIP: 8, ZLIB: 4}
POINT, PART, PIECE = 24, 16 << 20, 1 << 16


class InflatedImage:
    """What a compressed file inflates to, read span by span: `image[begin:end]`.

    `offsets` are those of the spans, and the image's end; each but the first begins at a point."""

    def __init__(self, data, kind, values, size):
        self.data, self.kind, checks = data, kind, []
        self.bits, self.offsets, self.windows = [], [0], []
        for value in values:
            count, check_count = struct.unpack_from("<II", value)
            points, begin = value[8 : 8 + POINT * count], 0
            checks += struct.unpack_from(f"<{check_count}I", value, 8 + POINT * count)
            windows = value[8 + POINT * count + 4 * check_count :]
            for bit, offset, _, end in struct.iter_unpack("<QQII", points):
                self.bits.append(bit)
                self.offsets.append(offset)
                self.windows.append(windows[begin:end])
                begin = end
        self.offsets.append(size)
        counts = [max(1, -(-(end - begin) // PART)) for begin, end in pairwise(self.offsets)]
        check(sum(counts) == len(checks), "a wrong number of checks")
        rest = iter(checks)
        self.checks = [list(islice(rest, count)) for count in counts]
        self.span = lru_cache(1)(self.span)

    def __getitem__(self, places):
        begin, read = places.start, b""
        while begin < places.stop:
            span = bisect_right(self.offsets, begin, hi=len(self.offsets) - 1) - 1
            first = self.offsets[span]
            piece = self.span(span)[begin - first : places.stop - first]
            check(piece, "the compressed stream is damaged")
            read, begin = read + piece, begin + len(piece)
        return read

    def span(self, number):
        """The bytes of a span: fewer than its size if the stream was damaged when indexed."""
        size, read = self.offsets[number + 1] - self.offsets[number], bytearray()
        try:
            for piece in _inflate(*self._start(number), self.data, self.kind):
                read += piece
                if len(read) >= size:
                    break
        except zlib.error:
            raise FormatError("the compressed stream is damaged") from None
        parts = [read[begin : min(begin + PART, size)] for begin in range(0, max(1, size), PART)]
        right = list(map(crc32c, parts)) == self.checks[number]
        check(right, "the compressed stream is damaged: a check is wrong")
        return bytes(read[:size])

    def _start(self, span):
        """An inflater at the beginning of a span, and the byte of the file to continue with."""
        if span == 0:
            return zlib.decompressobj(-15), _skip_header(self.data, 0, self.kind)
        bit, window = self.bits[span - 1], self.windows[span - 1]
        inflater = zlib.decompressobj(-15, zdict=window and zlib.decompress(window, -15))
        inflater.decompress(_lead_in(self.data, bit))
        return inflater, bit // 8 + 1


def _inflate(inflater, at, data, kind):
    """Yields what a file inflates to from a byte on, through all members, until its end or damage.

    zlib keeps to itself what it inflated of a piece before damage, so the piece is read again by
    single bytes. Only symbols that end in the damaged byte itself are lost."""
    step = PIECE
    while at < len(data):
        saved, piece = inflater.copy(), data[at : at + step]
        try:
            read = inflater.decompress(piece)
        except zlib.error:
            if step == 1:
                return
            inflater, step = saved, 1
            continue
        yield read
        at += len(piece) - len(inflater.unused_data)
        if inflater.eof:
            at = _skip_header(data, at + TRAILERS[kind], kind)
            inflater = zlib.decompressobj(-15)


def _skip_header(data, at, kind):
    """Where the first block of a member begins; the end of the file if no member begins here."""
    header = data[at : at + 10]
    if kind == ZLIB:
        right = len(header) > 1 and header[0] & 15 == 8 and header[0] < 128 and not header[1] & 32
        return at + 2 if right and int.from_bytes(header[:2], "big") % 31 == 0 else len(data)
    if len(header) < 10 or header[:3] != b"\x1f\x8b\x08" or header[3] >= 32:
        return len(data)
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
