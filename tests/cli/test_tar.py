"""WebDataset's tar files: one record per sample.

Archives are made by the module tarfile, and what is a sample is worked out from its answers by the
pattern that WebDataset uses; nothing of recmap is asked.
"""

import gzip
import io
import json
import os
import random
import re
import shutil
import subprocess
import tarfile
import unittest

from support import (
    CliTest,
    no_records,
)
from test_framings import ChangesTest, FramingTest

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
BLOCK = 512

CUT = "; the file may still be written, or its writer was not closed"


def archive(files, kind=tarfile.USTAR_FORMAT, **options):
    """Members are (name, data) or (name, data, attributes of TarInfo)."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=kind, **options) as tar:
        for name, data, *more in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            for key, value in (more[0] if more else {}).items():
                setattr(entry, key, value)
            tar.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def end_of(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.getmembers()
        return tar.offset


def samples(data):
    """The bytes of each sample."""
    begins, key = [], None
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for entry in tar:
            match = re.match(r"^((?:.*/|)[^.]+)[.]([^/]*)$", entry.name)
            if not entry.isreg() or not match or re.match("__[^/]*__($|/)", entry.name):
                continue
            if match[1] != key:
                key = match[1]
                begins.append(entry.offset if begins else 0)
    return [data[a:b] for a, b in zip(begins, [*begins[1:], end_of(data)])]


def resum(data, at):
    """Corrects the checksum of a header."""
    block = data[at : at + 148] + b" " * 8 + data[at + 156 : at + BLOCK]
    data[at + 148 : at + 156] = b"%06o\0 " % sum(block)


def pairs(count, draw):
    for i in range(count):
        yield f"set/{i:05}.jpg", draw.randbytes(draw.choice([0, 1, 511, 512, 513, 5000]))
        yield f"set/{i:05}.seg.png", b"%d" % i


class Changes(ChangesTest):
    def test_changed_archives_are_stale_or_damaged(self):
        for count in (self.SAMPLED, self.SEVERAL):
            data = archive(pairs(count, random.Random(4)))
            frames = samples(data)
            padding = data[sum(map(len, frames)) :]
            self.check_changes("tar", frames, padding=padding, shared=1)


class Samples(FramingTest):
    def test_three_formats_of_archives_are_read(self):
        long, umlauts = "folder.with.dots/" * 12, "\u00fc" * 40
        odd = {
            "ustar": ["d" * 90 + "/" + "n" * 60 + ".a", "d" * 90 + "/" + "n" * 60 + ".b"],
            "gnu": [
                long + "one.a",
                long + "one.b",
                long + "two.a",
                umlauts + ".x",
                "l" * 99 + ".x",
            ],
            "pax": [long + "one.a", long + "one.b", long + "two.a", umlauts + ".x", umlauts + ".y"],
        }
        for name, kind in FORMATS.items():
            files = [*pairs(300, random.Random(1)), *((name, b"odd") for name in odd[name])]
            data = archive(files, kind)
            due = samples(data)
            self.assertEqual(len(due), 300 + {"ustar": 1, "gnu": 4, "pax": 3}[name])
            self.write("a.tar", data)
            self.check_records("tar", due, "a.tar")

    def test_a_key_that_returns_is_noticed(self):
        advice = (
            "Adjacent files of the same name up to the first dot form a sample: write the archive "
            "in the order of names (tar --sort=name), each name once\n"
        )
        names = ["0.jpg", "1.jpg", "2.jpg", "0.cls", "1.cls", "2.cls"]
        self.write("a.tar", archive([(name, b"x") for name in names]))
        self.index(
            "--framing",
            "tar",
            "a.tar",
            err='recmap: a.tar: record 3 at byte 3072: its key "0" is that of record 0, so one '
            f"sample may be in parts (and 2 more such records). {advice}",
        )
        self.write("b.tar", archive([(name, b"x") for name in ("0.jpg", "1.jpg", "1.JPG")]))
        self.index(
            "--framing",
            "tar",
            "b.tar",
            err='recmap: b.tar: record 1 at byte 1024: the sample "1" has a file twice, at byte '
            f"2048. {advice}",
        )

    def test_a_key_that_returns_under_another_name_is_noticed(self):
        names = ["./0.jpg", "./1.jpg", "0.cls", ".//./1.cls"]
        self.write("a.tar", archive([(name, b"x") for name in names]))
        result = self.run_recmap("index", "--framing", "tar", "a.tar")
        self.assertEqual(result.status, 0, result)
        self.assertIn(
            'a.tar: record 2 at byte 2048: its key "0" is that of record 0, so one sample may be '
            "in parts (and 1 more such record). ",
            result.err.decode(),
        )

    def test_a_file_that_a_large_sample_has_twice_is_noticed(self):
        names = [f"v.{i}.jpg" for i in range(1000)]
        self.write("a.tar", archive([(name, b"x") for name in [*names, names[990], names[700]]]))
        result = self.run_recmap("index", "--framing", "tar", "a.tar")
        self.assertEqual(result.status, 0, result)
        self.assertIn(
            f'record 0 at byte 0: the sample "v" has a file twice, at byte {1000 * 1024}. ',
            result.err.decode(),
        )

    def test_entries_that_are_not_of_a_sample(self):
        link = {"type": tarfile.SYMTYPE, "linkname": "a.x"}
        hard = {"type": tarfile.LNKTYPE, "linkname": "b.y"}
        folder = {"type": tarfile.DIRTYPE}
        for kind in FORMATS.values():
            data = archive(
                [
                    ("d.x", b"", folder),
                    ("README", b"text"),
                    ("__meta__/a.b", b"{}"),
                    ("a.x", b"1"),
                    ("e.x", b"", folder),
                    ("a.y", b"2"),
                    ("l.x", b"", link),
                    ("a.z", b"3"),
                    ("b.y", b"4"),
                    ("h.y", b"", hard),
                    (".hidden", b""),
                    ("p.x", b"", {"type": tarfile.FIFOTYPE}),
                    ("b.z", b"5"),
                    ("d/.hidden", b"6"),
                    ("d.d/.hidden", b"7"),
                    ("__m__", b""),
                ],
                kind,
            )
            due = samples(data)
            self.assertEqual(len(due), 3)
            self.write("a.tar", data)
            self.check_records("tar", due, "a.tar")

    def test_headers_of_others(self):
        data = bytearray(archive(pairs(3, random.Random(2))))
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            base256, signed, no_magic, *_ = ((entry.offset, entry.size) for entry in tar)
        at, size = base256
        data[at + 124 : at + 136] = b"\x80" + size.to_bytes(11, "big")
        at, _ = no_magic
        data[at + 257 : at + 265] = bytes(8)
        at, _ = signed
        data[at + 265] = 0xFF  # in the owner's name
        for at, _ in (base256, no_magic, signed):
            resum(data, at)
        at, _ = signed
        data[at + 148 : at + 156] = b"%06o\0 " % (int(data[at + 148 : at + 154], 8) - 256)
        self.write("a.tar", bytes(data))
        extra = archive(
            [
                ("a.x", b"1", {"pax_headers": {"comment": "\u00e9" * 999}}),
                ("a.y", b"2", {"mtime": 1.5}),
            ],
            tarfile.PAX_FORMAT,
            pax_headers={"comment": "for all"},
        )
        self.write("b.tar", extra)
        self.check_records("tar", samples(bytes(data)) + samples(extra), "a.tar", "b.tar")

    def test_archives_without_an_end_warn(self):
        data = archive(pairs(5, random.Random(3)))
        end, due = end_of(data), samples(data)
        at = end - len(due[-1])
        cut_notice = (
            f"recmap: a.tar: record 4 at byte {at}: no zeros that end an archive after the last "
            f'record, so the sample "set/00004" may be incomplete{CUT}\n'
        )
        for tail in (b"", bytes(BLOCK), bytes(2 * BLOCK), bytes(700)):
            self.write("a.tar", data[:end] + tail)
            self.check_records("tar", due, "a.tar", err="" if tail else cut_notice)
        # The padding of the last member is missing.
        cut = data[: end - BLOCK + 1]
        self.write("a.tar", cut)
        self.check_records("tar", [*due[:-1], due[-1][: 1 - BLOCK]], "a.tar", err=cut_notice)
        for empty in (b"", bytes(1024), bytes(10240)):
            self.write("a.tar", empty)
            what = "without records" if empty else "empty (0 bytes)"
            note = no_records("a.rmx", what=what)
            self.index("--framing", "tar", "-o", "a.rmx", "a.tar", err=note)
            said = "recmap: 1 of 1 shard is empty (0 bytes), which leaves nothing to verify; "
            self.check(
                "verify",
                "a.rmx",
                out="a.rmx: 0 of 0 records are good\n",
                err=b"" if empty else said.encode() + b"the first is a.tar\n",
            )

    def test_an_archive_that_ends_within_a_sample(self):
        data = archive([(f"{i}.{end}", b"x") for i in range(3) for end in ("cls", "jpg")])
        cut = data[: 5 * 2 * BLOCK]
        for name, file in (("a.tar", cut), ("a.tar.gz", gzip.compress(cut))):
            self.write(name, file)
            self.index(
                *("--framing", "tar", name),
                err=f"recmap: {name}: record 2 at byte {4 * 2 * BLOCK}: no zeros that end an "
                f'archive after the last record, so the sample "2" may be incomplete{CUT}\n',
            )

    def test_an_archive_without_files_beside_others(self):
        full = archive([("a.x", b"1")])
        names = ["d/0.tar", "d/1.tar", "d/2.tar", "d/3.tar"]
        for empty, size in ((bytes(1024), 1024), (gzip.compress(bytes(1024), mtime=0), 29)):
            for name, file in zip(names, (full, empty, b"", empty)):
                self.write(name, file)
            self.index(
                *("--framing", "tar", "d", "-o", "a.rmx"),
                err=f"recmap: d/1.tar: the shard has no records ({size} bytes); check that it was "
                "written (and 1 more such shard)\n",
            )
        self.write("s/x-00000-of-00002.tar", full)
        self.write("s/x-00001-of-00002.tar", bytes(512))
        self.index(
            *("--framing", "tar", "s", "-o", "a.rmx"),
            err="recmap: s/x-00001-of-00002.tar: the shard of a set has no records (512 bytes); "
            "check that it was written\n",
        )
        self.write("s/x-00001-of-00002.tar", bytes(512) + b"damage")
        self.index(
            *("--framing", "tar", "--on-bad-record", "skip", "s", "-o", "a.rmx"),
            err="recmap: 1 damaged place skipped, 518 bytes; 'recmap info a.rmx' lists them\n",
        )

    def test_compressed_archives_are_read(self):
        data = archive(pairs(1000, random.Random(4)), tarfile.PAX_FORMAT)
        due = samples(data)
        self.write("a.tar.gz", gzip.compress(data, 1))
        self.check_records("tar", due, "a.tar.gz")
        cut = len(data) // 2
        self.write("b.tar.gz", gzip.compress(data[:cut], 1) + gzip.compress(data[cut:], 1))
        self.check_records("tar", due, "b.tar.gz")
        prints = set()
        self.write("c.tar", data)
        for name in ("a.tar.gz", "b.tar.gz", "c.tar"):
            self.index("--framing", "tar", "-o", "x.rmx", name)
            prints.add(json.loads(self.run_recmap("info", "--json", "x.rmx").out)["fingerprint"])
        self.assertEqual(len(prints), 1)

    def test_many_threads_in_a_large_archive(self):
        inner = archive(pairs(300, random.Random(5)))  # an archive as a file of a sample
        files = [
            (f"{i:04}.{end}", data)
            for i in range(12)
            for end, data in (("a", b"a" * 99), ("tar", inner), ("z", b""))
        ]
        data = archive(files, tarfile.GNU_FORMAT)
        self.assertGreater(len(data), 8 << 20)
        self.write("a.tar", data)
        self.check_records("tar", samples(data), "a.tar")

    @unittest.skipUnless(shutil.which("tar"), "skipped: there is no tar")
    def test_tar_unpacks_a_record(self):
        for kind in FORMATS.values():
            files = list(pairs(9, random.Random(6))) + [("x" * 120 + ".a", b"long"), ("z.a", b"")]
            kept = [file for file in files if kind != tarfile.USTAR_FORMAT or len(file[0]) < 100]
            self.write("a.tar", archive(kept, kind))
            self.index("--framing", "tar", "-o", "a.rmx", "a.tar")
            for number in range(len(samples(self.read("a.tar")))):
                record = self.run_recmap("get", "a.rmx", str(number)).out
                for tail in (b"", bytes(2 * BLOCK)):
                    folder = self.path(f"out-{kind}-{number}-{len(tail)}")
                    os.mkdir(folder)
                    subprocess.run(
                        ["tar", "-xf", "-", "-C", folder], input=record + tail, check=True
                    )
            for name, data in kept:
                found = [
                    f
                    for f in os.listdir(self.path("."))
                    if f.startswith(f"out-{kind}-") and os.path.exists(self.path(f"{f}/{name}"))
                ]
                self.assertEqual(len(found), 2, name)
                for folder in found:
                    self.assertEqual(self.read(f"{folder}/{name}"), data)


class Damage(CliTest):
    def setUp(self):
        super().setUp()
        self.data = archive(pairs(40, random.Random(7)))
        self.due = samples(self.data)

    def check_damage(self, data, good, reason, at=None):
        """The first `good` samples are numbered; everything after them is damage."""
        at = sum(map(len, self.due[:good])) if at is None else at
        self.write("a.tar", data)
        self.check(
            "index",
            "--framing",
            "tar",
            "-o",
            "a.rmx",
            "a.tar",
            status=3,
            err=f"recmap: a.tar: record {good} at byte {at}: {reason}\n  restore the file, or "
            "index with `--on-bad-record skip` to number the good records and list the damage\n",
        )
        for threads in ("1", "3"):
            self.index(
                "--framing",
                "tar",
                "--on-bad-record",
                "skip",
                "--threads",
                threads,
                "-o",
                "a.rmx",
                "a.tar",
                err=f"recmap: 1 damaged place skipped, {len(data) - at} "
                "bytes; 'recmap info a.rmx' lists them\n",
            )
            self.assertEqual(self.payloads("a.rmx"), self.due[:good])
        self.assertEqual(self.run_recmap("verify", "a.rmx").status, 0)

    def header(self, number):
        """Offsets of the sample's second header, in the sample and in the file."""
        with tarfile.open(fileobj=io.BytesIO(self.due[number])) as tar:
            inside = tar.getmembers()[1].offset
        return inside, sum(map(len, self.due[:number])) + inside

    def test_a_changed_header(self):
        inside, at = self.header(20)
        for byte in (0, 124, 511):
            data = bytearray(self.data)
            data[at + byte] ^= 1
            sums = [
                sum(d[at : at + 148]) + 256 + sum(d[at + 156 : at + BLOCK])
                for d in (self.data, data)
            ]
            self.check_damage(
                bytes(data),
                20,
                f"the checksum of a header is 0{sums[0]:o}, expected "
                f"0{sums[1]:o} (member at byte {inside} of it)",
            )

    def changed(self, at, field, value):
        data = bytearray(self.data)
        data[at + field : at + field + len(value)] = value
        resum(data, at)
        return bytes(data)

    def test_hostile_headers_are_refused(self):
        inside, at = self.header(20)
        left, where = len(self.data) - at - BLOCK, f" (member at byte {inside} of it)"
        cut = "the archive ends in a member of {} bytes, after {}" + CUT + where
        number = "the size of a member is not a number below 2^63" + where
        for size, reason in {
            b"77777777777\0": cut.format(0o77777777777, left),
            b"777777777777": cut.format(0o777777777777, left),
            b"\x80" + bytes(3) + b"\x7f" + b"\xff" * 7: cut.format(2**63 - 1, left),
            b"\x80" + bytes(3) + b"\x80" + bytes(7): number,
            b"\x80" + b"\xff" * 11: number,
            b"\xff" * 12: number,
            b"00000000009\0": number,
            b"-0000000001\0": number,
            b"\xb0" + b"0" * 11: number,
        }.items():
            self.check_damage(self.changed(at, 124, size), 20, reason)
        sparse = "it is a sparse file, whose data is not contiguous" + where
        self.check_damage(self.changed(at, 156, b"S"), 20, sparse)
        self.check_damage(self.changed(at, 156, b"x"), 20, "its pax header is malformed" + where)

    def test_hostile_pax_headers(self):
        first = sum(map(len, self.due[:5]))
        for text, reason in {
            "30 path=a": "its pax header is malformed",
            "9 path=a\n\n": "its pax header is malformed",
            "0 path=a\n": "its pax header is malformed",
            "99999999999999999999 path=a\n": "its pax header is malformed",
            "7 path\n": "its pax header is malformed",
            " path=a\n": "its pax header is malformed",
            "10 size=x\n": "the size in its pax header is not a number",
            "12 size=-10\n": "the size in its pax header is not a number",
            "28 size=9999999999999999999\n": "the size in its pax header is not a number",
            "22 GNU.sparse.major=1\n": "it is a sparse file, whose data is not contiguous",
        }.items():
            extra = archive([("h", text.encode(), {"type": b"x"}), ("n.x", b"")])[: 3 * BLOCK]
            data = self.data[:first] + extra + self.data[first:]
            # The end of the preceding sample is unknown, so it is lost too.
            inside = len(self.due[4])
            self.check_damage(data, 4, f"{reason} (member at byte {inside} of it)")
        for text in ("9 path=a\n", "10 size=1\n"):
            extra = archive([("h", text.encode(), {"type": b"g"})])[: 2 * BLOCK]
            self.check_damage(
                extra + self.data,
                0,
                "a pax header for the whole archive is "
                "malformed, or has a name or size (member at byte 0 of it)",
                at=0,
            )

    def test_a_cut_archive_loses_its_last_sample(self):
        at, good, size = 0, 0, 0
        while good < 20 or size < 2:
            at += len(self.due[good])
            good += 1
            size = int(self.data[at + 124 : at + 135], 8)
        # In data: the preceding sample is complete.
        self.check_damage(
            self.data[: at + BLOCK + size - 1],
            good,
            f"the archive ends in a member of {size} bytes, after {size - 1}{CUT} "
            "(member at byte 0 of it)",
        )
        # In a header: it is unknown whether the preceding sample is complete.
        inside = len(self.due[good - 1])
        self.check_damage(
            self.data[: at + 100],
            good - 1,
            f"100 bytes are left, too few for a header of 512{CUT} (member at byte {inside} of it)",
        )
        # Between two samples: only the zeros at the end are missing.
        self.write("a.tar", self.data[:at])
        self.index(
            "--framing",
            "tar",
            "-o",
            "a.rmx",
            "a.tar",
            err=f"recmap: a.tar: record {good - 1} at byte {at - len(self.due[good - 1])}: no "
            "zeros that end an archive after the last record, so the sample "
            f'"set/{good - 1:05}" may be incomplete{CUT}\n',
        )
        self.assertEqual(self.payloads("a.rmx"), self.due[:good])

    def test_damage_after_the_end(self):
        for file in (gzip.compress(self.data) + b"x", gzip.compress(self.data) + b"\x1f\x8b"):
            self.write("a.tar", file)
            self.run_recmap(
                "index", "--framing", "tar", "--on-bad-record", "skip", "-o", "a.rmx", "a.tar"
            )
            self.assertEqual(self.payloads("a.rmx"), self.due)
            self.check(
                "verify",
                "a.rmx",
                out="a.rmx: 40 of 40 records are good; 1 damaged place in the index\n",
            )

    def test_a_hole_and_a_second_archive(self):
        reason = "the archive ends in zeros here, but other bytes follow them"
        at = sum(map(len, self.due[:20]))
        hole = self.data[:at] + bytes(4096) + self.data[at + 4096 :]
        self.check_damage(hole, 20, reason)
        self.check_damage(self.data + self.data, 40, reason)

    def test_an_archive_without_samples(self):
        self.write("a.tar", archive([("README", b"text"), ("Makefile", b"all:")]))
        result = self.run_recmap("index", "--framing", "tar", "a.tar")
        self.assertEqual(result.status, 3)
        self.assertIn(
            b"a.tar: record 0 at byte 0: no member is part of a sample: a file whose name "
            b"has a dot\n",
            result.err,
        )

    def test_verify_finds_what_changed(self):
        self.write("a.tar", self.data)
        self.index("--framing", "tar", "-o", "a.rmx", "a.tar")
        stamp = os.stat(self.path("a.tar"))
        data = bytearray(self.data)
        data[self.header(20)[1] + BLOCK] ^= 1
        self.write("a.tar", bytes(data))
        os.utime(self.path("a.tar"), ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        result = self.run_recmap("verify", "a.rmx")
        self.assertEqual(result.status, 1)
        self.assertIn(b"the shard is not the one that was indexed", result.out)
        data[self.header(20)[1]] ^= 1
        self.write("a.tar", bytes(data))
        os.utime(self.path("a.tar"), ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        result = self.run_recmap("get", "a.rmx", "20")
        self.assertEqual(result.status, 3)
        self.assertIn(b"record 20 at byte", result.err)
        self.assertIn(b"the shard changed since it was indexed", result.err)

    def test_advice_names_the_framing(self):
        for data in (self.data, gzip.compress(self.data)):
            self.write("a.tar", data)
            self.check(
                "index",
                "a.tar",
                status=3,
                err="recmap: a.tar: byte 0: is not a TFRecord file: it is a tar archive\n  index "
                "it with `--framing tar`, one WebDataset sample per record, or unpack it\n",
            )


if __name__ == "__main__":
    unittest.main()
