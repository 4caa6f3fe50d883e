"""Compressed shards of all makes, good and bad. What they inflate to is what Python's zlib and gzip
say; nothing of recmap is asked.
"""

import functools
import gzip
import json
import random
import struct
import unittest
import zlib

from support import (
    STEP,
    CliTest,
    frame,
    no_records,
)

# Computed once: CRCs in Python are slow.
framed = functools.lru_cache(maxsize=None)(frame)

EMPTY = gzip.compress(b"", mtime=0)


def tfrecord(due):
    return b"".join(map(framed, due))


def member(data, flags=0, extra=None, level=6, crc=None, size=None):
    """A GZIP member with these optional header fields."""
    header = bytes([31, 139, 8, flags, 1, 2, 3, 4, 0, 255])
    if flags & 4:
        header += struct.pack("<H", len(extra)) + extra
    header += b"a name\x00" if flags & 8 else b""
    header += b"a comment\x00" if flags & 16 else b""
    header += struct.pack("<H", zlib.crc32(header) & 0xFFFF) if flags & 2 else b""
    deflater = zlib.compressobj(level, wbits=-15)
    crc = zlib.crc32(data) if crc is None else crc
    size = len(data) if size is None else size
    return header + deflater.compress(data) + deflater.flush() + struct.pack("<II", crc, size)


def bgzf(data, block=65280):
    """Blocks with their size in the header, as written by bgzip, and an empty one at the end."""
    out = []
    for at in [*range(0, len(data), block), None]:
        made = member(data[at : at + block] if at is not None else b"", 4, b"BC\x02\x00\x00\x00")
        out.append(made[:16] + struct.pack("<H", len(made) - 1) + made[18:])
    return b"".join(out)


def inflate(file):
    """Inflates concatenated streams with zlib. Zeros after the last one are padding."""
    image = b""
    while file.strip(b"\x00"):
        inflater = zlib.decompressobj(47)
        image += inflater.decompress(file)
        assert inflater.eof
        file = inflater.unused_data
    return image


def make_payloads(seed, count, sizes=(0, 1, 9, 100)):
    draw = random.Random(seed)
    words = [draw.randbytes(draw.randrange(1, 9)).replace(b"\n", b"") for _ in range(99)]
    return [b"%d " % i + b" ".join(draw.choices(words, k=draw.choice(sizes))) for i in range(count)]


class GzipTest(CliTest):
    framings = {"tfrecord": tfrecord, "lines": lambda due: b"".join(p + b"\n" for p in due)}

    def options(self, framing, file):
        zlib_lines = framing == "lines" and file[:1] == b"\x78"
        return ["--framing", framing, *(["--compression", "zlib"] if zlib_lines else [])]

    def check_reads(self, due, index="x.rmx", is_damaged=False):
        everything = self.run_recmap("cat", "--format", "tfrecord", index)
        self.assertTrue(everything.out == tfrecord(due))
        some = random.Random(1).sample(range(len(due)), min(len(due), 9))
        for access in ("map", "read") if some else ():
            got = self.run_recmap(
                "get", index, *map(str, some), "--format", "tfrecord", "--access", access
            )
            self.assertTrue(got.out == tfrecord([due[i] for i in some]), got.err)
        verified = self.run_recmap("verify", index)
        self.assertEqual(verified.status, 0, verified)
        self.assertTrue(verified.out.startswith(f"{index}: {len(due)} of {len(due)} ".encode()))
        self.assertEqual(b"damaged" in verified.out, is_damaged)

    def check_good(self, name, make, due, framings=("tfrecord", "lines")):
        """Indexes what `make` compressed, with one and many threads, with raise and skip."""
        for framing in framings:
            image = self.framings[framing](due)
            file = make(image)
            self.assertTrue(inflate(file) == image, name)
            self.write("a", file)
            self.write("b", file)
            with self.subTest(name, framing=framing):
                for options in (["--threads", "1"], ["--threads", "3", "--on-bad-record", "skip"]):
                    words = [*self.options(framing, file), "-o", "x.rmx", *options, "a", "b"]
                    what = "without records" if file else "empty (0 bytes)"
                    self.index(*words, err="" if due else no_records("x.rmx", 2, what))
                    self.check_reads(due + due)

    def check_bad(self, name, file, error, kept, framing="tfrecord", exact=True):
        """Indexing must fail with `error`; with --on-bad-record skip, these records are kept."""
        self.write("a", file)
        with self.subTest(name, framing=framing):
            strict = self.run_recmap("index", *self.options(framing, file), "-o", "x.rmx", "a")
            self.assertEqual(strict.status, 3, strict)
            self.assertIn(error.encode(), strict.err)
            found = []
            for threads in ("1", "3"):
                self.run_recmap(
                    "index",
                    *self.options(framing, file),
                    "-o",
                    "x.rmx",
                    "--threads",
                    threads,
                    "--on-bad-record",
                    "skip",
                    "a",
                )
                found.append(self.payloads("x.rmx"))
                info = json.loads(self.run_recmap("info", "--json", "x.rmx").out)
                self.assertEqual(info["records"], len(found[-1]))
            self.assertEqual(found[0], found[1])
            self.check_reads(found[-1], is_damaged=bool(info["damage"]))
            if exact:
                self.assertEqual(found[0], kept)
            else:
                rest = iter(kept)
                self.assertTrue(all(record in rest for record in found[0]))


class Good(GzipTest):
    def test_members_are_read_as_one_file(self):
        due = make_payloads(1, 300)

        def cut(image, at):
            cuts = [0, *at, len(image)]
            return [image[a:b] for a, b in zip(cuts, cuts[1:])]

        makes = {
            "one": lambda image: member(image),
            "empty first": lambda image: EMPTY + member(image),
            "empty last": lambda image: member(image) + EMPTY,
            "many empty": lambda image: (
                EMPTY * 9 + b"".join(member(part) + EMPTY * 3 for part in cut(image, [100, 2000]))
            ),
            "in a header": lambda image: b"".join(map(member, cut(image, [3, 9, 11]))),
            "in data": lambda image: b"".join(map(member, cut(image, [len(image) // 2 + 5]))),
            "between records": lambda image: b"".join(
                map(member, cut(image, [len(tfrecord(due[:100])), len(tfrecord(due[:200]))]))
            ),
            "a byte each": lambda image: (
                b"".join(member(image[i : i + 1]) for i in range(400)) + member(image[400:])
            ),
            "zeros at the end": lambda image: member(image) + bytes(1000),
            "many zeros at the end": lambda image: member(image) + bytes(600_000),
            "all fields": lambda image: b"".join(
                member(part, 2 | 4 | 8 | 16, b"xy\x01\x00z") for part in cut(image, [777, 778])
            ),
            "each field": lambda image: b"".join(
                member(part, flags, b"")
                for part, flags in zip(cut(image, [9, 99, 999, 9999]), [1, 2, 4, 8, 16])
            ),
            "a long field": lambda image: b"".join(
                member(part, 4, bytes(65535)) for part in cut(image, range(99, 2000, 99))
            ),
            "stored": lambda image: member(image, level=0),
            "bgzf": bgzf,
            "zlib": zlib.compress,
            "zlib, many": lambda image: b"".join(
                zlib.compress(part, level % 10)
                for level, part in enumerate(cut(image, range(0, len(image), 1000)))
            ),
            "zlib, zeros at the end": lambda image: zlib.compress(image) + bytes(9),
        }
        for name, make in makes.items():
            self.check_good(name, make, due)

    def test_large_members_are_read_in_spans(self):
        # Headers and trailers are at any offset of a read, and seek points between members.
        due = make_payloads(2, 600, (9, 100, 1000))
        noise = [random.Random(i).randbytes(4000).replace(b"\n", b"") for i in range(300)]
        due = [record for pair in zip(due, noise * 2) for record in pair]
        self.check_good("bgzf", bgzf, due)
        self.check_good(
            "empty members between",
            lambda image: b"".join(
                member(image[at : at + 700_001]) + EMPTY for at in range(0, len(image), 700_001)
            ),
            due,
        )

    def test_empty_files_have_no_records(self):
        for name, file in {
            "empty file": b"",
            "empty member": EMPTY,
            "empty members": EMPTY * 5,
            "empty zlib": zlib.compress(b""),
            "empty bgzf": bgzf(b""),
        }.items():
            self.check_good(name, lambda image, file=file: file, [])

    def test_plain_for_all_their_names(self):
        due = make_payloads(3, 20)
        for framing, make in self.framings.items():
            self.write("a.gz", make(due))
            self.write("b", gzip.compress(make(due)))
            self.index("--framing", framing, "-o", "x.rmx", "a.gz", "b")
            self.check_reads(due + due)
        for byte in (b"\x1f", b"\x78", b"x", b"\x00"):
            self.write("a.gz", byte + b"\n")
            self.index("--framing", "lines", "-o", "x.rmx", "a.gz")
            self.check_reads([byte])


class Bad(GzipTest):
    due = make_payloads(4, 200)
    parts = [due[:80], due[80:120], due[120:]]

    def members(self, framing, **change):
        """Three members; the second one is `change`d."""
        make = self.framings[framing]
        first, second, third = map(make, self.parts)
        return [member(first), member(second, **change), member(third)]

    def test_bytes_after_the_last_member_are_damage(self):
        for rest in (b"garbage", b"\x00\x00garbage", b"\x1f", b"\x1f\x8b\x07" + bytes(20)):
            for framing in self.framings:
                file = b"".join(self.members(framing)) + rest
                self.check_bad(
                    "rest",
                    file,
                    "the gzip stream is damaged: other bytes follow the compressed stream",
                    self.due,
                    framing,
                )
        file = zlib.compress(tfrecord(self.due)) + b"garbage"
        self.check_bad("zlib", file, "other bytes follow the compressed stream", self.due)

    def test_zeros_between_members(self):
        first, second, third = self.members("tfrecord")
        self.check_bad(
            "zeros",
            first + bytes(600) + second + third,
            "the gzip stream is damaged: other bytes follow the compressed stream",
            self.due,
        )

    def test_zeros_in_place_of_the_last_blocks(self):
        """Zeros inflate to other bytes, up to the end of the file. So what precedes them in their
        member is not trusted, as it is in a file that was only cut."""
        first, second, _ = self.members("lines")
        half = len(second) // 2
        error = "the file ends inside the compressed stream"
        self.check_bad("zeros", first + second[:half] + bytes(half), error, self.parts[0], "lines")

    def test_an_empty_file_is_not_a_stream(self):
        self.write("a", b"")
        for compression in ("gzip", "zlib"):
            found = self.run_recmap("index", "--compression", compression, "-o", "x.rmx", "a")
            self.assertEqual(found.status, 3, found)
            self.assertIn(b"the file ends inside the compressed stream", found.err)

    def test_wrong_sums_are_damage(self):
        wrong = {"crc": {"crc": 1}, "size": {"size": 1}}
        for name, change in wrong.items():
            # Records with their own checksums are kept.
            file = b"".join(self.members("tfrecord", **change))
            with self.assertRaises(gzip.BadGzipFile):
                gzip.decompress(file)
            self.check_bad(
                name, file, "the gzip stream is damaged: its checksum is wrong", self.due
            )
            # Others are lost with their member, and with them all that follow.
            file = b"".join(self.members("lines", **change))
            self.check_bad(name, file, "its checksum is wrong", self.parts[0], "lines")
        file = bytearray(zlib.compress(tfrecord(self.due)))
        file[-1] ^= 1
        self.check_bad(
            "adler", bytes(file), "the zlib stream is damaged: its checksum is wrong", self.due
        )

    def test_wrong_headers_are_damage(self):
        first, second, third = self.members("tfrecord", flags=2)
        broken = bytearray(second)
        broken[10] ^= 1
        kept = self.parts[0] + self.parts[2]
        self.check_bad(
            "header's sum",
            first + bytes(broken) + third,
            "the checksum of a header is wrong",
            kept,
            exact=False,
        )
        broken = bytearray(second)
        broken[2] = 7
        self.check_bad("method", first + bytes(broken) + third, "other bytes follow", kept)

    def test_reserved_flags_are_refused(self):
        for framing in self.framings:
            whole = b"".join(self.members(framing))
            for bit in (0x20, 0x40, 0x80):
                broken = bytearray(whole)
                broken[3] |= bit
                self.check_bad(
                    "first",
                    bytes(broken),
                    "recmap: a: byte 0: the gzip stream is "
                    "damaged: a header has flags that are reserved",
                    self.due,
                    framing,
                    exact=False,
                )
                kept = self.payloads("x.rmx")
                if framing == "tfrecord":
                    self.assertEqual(kept[-79:], self.due[-79:])
                else:
                    self.assertEqual(kept, [])
        result = self.run_recmap("index", "--framing", "lines", "-o", "y.rmx", "a")
        self.assertIn(
            b"if only its first bytes look compressed, use `--compression none`", result.err
        )
        result = self.run_recmap(
            "index", "--framing", "lines", "--compression", "none", "-o", "y.rmx", "a"
        )
        self.assertEqual(result.status, 0, result)
        self.assertTrue(self.payloads("y.rmx")[0].startswith(broken[:9]))

    def test_every_cut_is_damage(self):
        due = make_payloads(5, 6, (0, 1, 9))
        for framing, make in self.framings.items():
            whole = member(make(due[:3]), 2 | 8) + member(make(due[3:]))
            first = len(member(make(due[:3]), 2 | 8))
            for cut in range(4, len(whole), 19 * STEP):
                if cut == first:
                    continue
                self.check_bad(
                    f"cut at {cut}",
                    whole[:cut],
                    "the gzip stream is damaged: ",
                    due,
                    framing,
                    exact=False,
                )
        self.write("a", whole[:first])
        self.index("--framing", "lines", "a", "-o", "x.rmx")
        self.check_reads(due[:3])

    def test_complete_lines_before_a_cut_are_kept(self):
        first, second = (member(self.framings["lines"](part)) for part in self.parts[:2])
        for left in range(100, len(second), 211 * STEP):
            inflated = zlib.decompressobj(wbits=31).decompress(second[:left])
            kept = self.parts[0] + self.parts[1][: inflated.count(b"\n")]
            self.check_bad(
                f"{left} bytes left",
                first + second[:left],
                "the gzip stream is damaged: the file ends",
                kept,
                "lines",
            )

    def test_a_member_lost_in_between(self):
        for framing in self.framings:
            first, second, third = self.members(framing)
            broken = bytearray(second)
            broken[len(second) // 2 : len(second) // 2 + 40] = b"\xff" * 40
            kept = self.due if framing == "tfrecord" else self.parts[0]
            # The records' own checks may come first.
            self.check_bad(
                "lost", first + bytes(broken) + third, "recmap: a: ", kept, framing, exact=False
            )
            found = self.payloads("x.rmx")
            self.assertEqual(found[:80], self.parts[0])
            if framing == "tfrecord":
                self.assertEqual(found[-79:], self.parts[2][1:])

    def test_one_byte_files(self):
        for byte in (b"\x1f", b"\x78", b"x"):
            self.write("a", byte)
            result = self.run_recmap("index", "a")
            self.assertEqual(result.status, 3)
            self.assertIn(b"a: ", result.err)


if __name__ == "__main__":
    unittest.main()
