"""recmap report: the HTML is well formed, loads nothing, and shows hostile records as text."""

import base64
import html.parser
import os
import re
import signal
import struct
import subprocess
import unittest
import zlib

from support import (
    COMMAND,
    DECODER,
    DIGITS,
    QOI,
    ROOT,
    CliTest,
    example,
    needs_decoder,
    needs_images,
    no_records,
    sequence_example,
    signals_as_usual,
    tfrecord,
)

VOID = {"meta", "img"}
# Everything that a report may contain. No element here runs or loads anything.
ALLOWED = {
    "html": {"lang"},
    "head": set(),
    "meta": {"charset", "http-equiv", "content", "name"},
    "title": set(),
    "style": set(),
    "body": set(),
    "h1": set(),
    "h2": set(),
    "h3": set(),
    "section": {"id", "class"},
    "div": {"class"},
    "span": {"class"},
    "p": {"class"},
    "b": set(),
    "i": set(),
    "code": set(),
    "pre": set(),
    "table": {"class"},
    "thead": set(),
    "tr": set(),
    "th": {"class"},
    "td": {"class"},
    "details": {"open", "class"},
    "summary": set(),
    "img": {"alt", "src", "class"},
    "audio": {"controls", "src"},
    "svg": {"class", "viewbox", "preserveaspectratio", "role", "aria-label"},
    "path": {"class", "d"},
    "polyline": {"class", "points"},
}


class Page(html.parser.HTMLParser):
    """Parses a report strictly. Collects text, pictures and sounds."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.media, self.sections = [], [], [], {}
        self.feed(source)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        for name, value in attrs:
            assert name in ALLOWED[tag], (tag, name)
            if name == "src":
                match = re.fullmatch(r"data:([a-z/]+);base64,([A-Za-z0-9+/]*=*)", value)
                assert match, value[:100]
                self.media.append((match[1], base64.b64decode(match[2], validate=True)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = dict(attrs)["id"]
            self.sections[self.section] = ""

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.open, tag)
        self.open.pop()

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)
            if "section" in self.open:
                self.sections[self.section] += data

    def handle_comment(self, data):
        raise AssertionError("a comment")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height):
    """A black picture. A large one is a few bytes: its rows are missing."""
    rows = b"\0" * (width + 1) * height if width * height < 10**6 else b""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def wav(samples):
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(samples))
        + b"WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
        + b"data"
        + struct.pack("<I", len(samples))
        + samples
    )


def picture(name):
    with open(os.path.join(ROOT, "tests", "images", name), "rb") as file:
        return file.read()


def png_size(data):
    """(width, height, channels) of a PNG of 8 bits."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack_from(">IIBB", data, 16)
    assert depth == 8
    return width, height, {0: 1, 2: 3, 6: 4}[kind]


def png_rows(data):
    """The rows of a PNG of 8 bits without interlacing, as bytes."""
    width, _, channels = png_size(data)
    at, packed = 8, b""
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    stored, row, rows = zlib.decompress(packed), bytes(width * channels), []
    for start in range(0, len(stored), width * channels + 1):
        row = unfiltered(stored[start : start + width * channels + 1], row, channels)
        rows.append(row)
    return rows


def unfiltered(line, above, channels):
    """One row, whose first byte is the filter: none, left, up, mean of both, or Paeth's."""
    row = bytearray()
    for i, value in enumerate(line[1:]):
        left = row[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        guess = left + above[i] - corner
        near = min((left, above[i], corner), key=lambda one: abs(guess - one))
        row.append((value + [0, left, above[i], (left + above[i]) // 2, near][line[0]]) & 0xFF)
    return bytes(row)


JPEG = picture("plain-420.jpg")
WEBP = picture("lossy.webp")
MP3_FRAME = b"\xff\xfb\x90\0" + b"\0" * 413


class ReportTest(CliTest):
    def report(self, *records, err="", options=(), status=0, lost=""):
        self.write("a.tfrecord", tfrecord(records))
        note = "" if records else no_records("a.rmx")
        self.index("-o", "a.rmx", "a.tfrecord", err=note, lost=lost)
        return self.page("a.rmx", *options, count=len(records))

    def page(self, *words, count, err=""):
        noun = "record" if count == 1 else "records"
        self.check(
            "report", *words, "-o", "a.html", err=f"{err}recmap: a.html: report of {count} {noun}\n"
        )
        source = self.read("a.html").decode("utf-8")
        self.assertIn("default-src 'none'; img-src data:; media-src data:;", source)
        self.assertFalse(re.search(r"https?:|url\(|@import|javascript:", source))
        self.assertFalse(re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", source))
        return Page(source)


class Report(ReportTest):
    def test_totals_and_features(self):
        self.index("-o", "d.rmx", "--id", "id", "--lift", "label", DIGITS)
        page = self.page("d.rmx", "--sample=0", count=1797)
        self.assertEqual(
            list(page.sections),
            ["totals", "sizes", "shards", "damage", "ids", "features", "records"],
        )
        for text in ("records1797\n", "shards4\n", "damaged places0\n", "idsid, of 1797 records"):
            self.assertIn(text, page.sections["totals"])
        self.assertIn("The index lists no damage.", page.sections["damage"])
        self.assertIn("No two records have the same id.", page.sections["ids"])
        features = page.sections["features"]
        self.assertIn("Of 1797 of 1797 records.", features)
        for text in (
            "image bytes, in 100.00 % of the sampled records",
            "bytes per value64",
            "int640 to 9",
            "318310.2 %",
            "10 different values among 1797",
        ):
            self.assertIn(text, features)
        records = page.sections["records"]
        self.assertIn("record 0 (first), 120 bytes", records)
        self.assertEqual(records.count("(random)"), 6)
        self.assertIn("digit-00000", records)
        # Standard output gets the same bytes.
        out = self.run_recmap("report", "--sample=0", "d.rmx").out
        self.assertEqual(out, self.read("a.html"))

    def test_rows_of_csv(self):
        self.write("t.csv", b"city,size\nOslo,1\nRome,\nParis,3\nx\n")
        self.index("--framing", "csv", "-o", "t.rmx", "t.csv")
        page = self.page("t.rmx", count=4)
        features = page.sections["features"]
        for text in (
            "city bytes, in 75.00 % of the sampled records",
            "size int64, in 50.00 % of the sampled records",
            "int641 to 3",
            "1 of them is not a row with the fields of the header.",
        ):
            self.assertIn(text, features)
        self.assertIn("unset", page.sections["records"])

    def test_a_sample_covers_all_parts(self):
        page = self.report(*(example(n=i) for i in range(5000)))
        self.assertIn("Of 1000 of 5000 records, from all parts.", page.sections["features"])
        self.assertIn("int640 to 4999", page.sections["features"])

    def test_a_report_is_as_private_as_the_shards(self):
        self.write("a.tfrecord", tfrecord([example(name="secret")]))
        self.run_recmap("index", "a.tfrecord")
        for mode in (0o600, 0o640, 0o644):
            os.chmod(os.path.join(self.folder, "a.tfrecord"), mode)
            self.assertEqual(self.run_recmap("report", "-o", "r.html", "a.rmx").status, 0)
            path = os.path.join(self.folder, "r.html")
            self.assertEqual(os.stat(path).st_mode & 0o777, mode & 0o644)
            os.remove(path)

    def test_only_the_first_of_many_features_are_open(self):
        """Only the first are open."""
        page = self.report(example(**{f"f{i:02}": i for i in range(40)}))
        self.assertIn("int640\n", page.sections["features"])
        self.assertNotIn("int640 to 0", page.sections["features"])
        source = self.read("a.html").decode()
        features = source[source.index('id="features"') : source.index('id="records"')]
        self.assertEqual(features.count("<details open "), 24)
        self.assertEqual(features.count("<details "), 40)

    def test_sizes_of_many_records(self):
        self.write("a.txt", b"".join(b"a" * (i % 10) + b"\n" for i in range(1_200_000)))
        self.index("-o", "a.rmx", "--framing", "lines", "a.txt")
        text = self.page("a.rmx", count=1_200_000).sections["sizes"]
        self.assertIn("Of 1048576 of 1200000 records, in evenly spaced runs.", text)
        self.assertRegex(text, r"0045?894\.5")

    def test_hostile_names_and_values(self):
        hostile = [
            "<script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "'-alert(1)-'",
            "</style></title><script>",
            "<!-- x",
            "]]>",
            "&lt;",
            "javascript:alert(1)",
        ]
        hostile = [text.replace("javascript:", "java script:") for text in hostile]
        records = [example(**{text: [text, text]}) for text in hostile]
        page = self.report(*records, *(text.encode() for text in hostile))
        text = "".join(page.text)
        for value in hostile:
            self.assertIn(value, page.sections["features"])
            self.assertIn(f'"{value}"', page.sections["features"])
        self.assertIn("<script>alert(1)</script>", page.sections["records"])
        self.assertNotIn("<script", self.read("a.html").decode())
        self.assertIn("8 of them are not", text)

    def test_bytes_that_are_not_characters(self):
        values = [
            b"\xff\xfe<b>",
            b"\x1b[2J\x1b]0;title\x07",
            b"\xed\xa0\x80",
            b"a\xe2\x80\xaeb",
            b"\xc0\xbc",
            b"\xf4\x90\x80\x80",
            b"nul\0",
        ]
        page = self.report(*(example(v=[value, value]) for value in values), *values)
        features = page.sections["features"]
        for text in (
            r"\xff\xfe<b>",
            r"\u001b[2J\u001b]0;title\u0007",
            r"\xed\xa0\x80",
            r"a\u202eb",
            r"\xc0\xbc",
            r"\xf4\x90\x80\x80",
            r"nul\u0000",
        ):
            self.assertIn(text, features)
        self.assertIn("ff fe 3c 62 3e", page.sections["records"])

    def test_hostile_file_names(self):
        name = "<script>x" + chr(0x202E) + "'\"&.tfrecord"
        self.write(name, tfrecord([b"a"]))
        self.index("-o", "<b>.rmx", name)
        page = self.page("<b>.rmx", count=1)
        self.assertIn("<script>x\\u202e'\"&.tfrecord", page.sections["shards"])
        self.assertEqual(page.text.count("<b>.rmx"), 2)

    def test_pictures_and_sounds_are_shown(self):
        media = [
            ("image/png", png(4, 3), "PNG, 4 x 3"),
            ("image/jpeg", JPEG, "JPEG, 96 x 64"),
            ("image/jpeg", picture("turned-6.jpg"), "JPEG, 16 x 24"),
            ("image/webp", WEBP, "WebP, 96 x 64"),
            ("audio/wav", wav(b"\x80" * 100), "WAV"),
            ("audio/flac", b"fLaC\0", "FLAC"),
            ("audio/ogg", b"OggS\0", "Ogg"),
            ("audio/mpeg", MP3_FRAME * 2, "MP3"),
            ("audio/mpeg", b"ID3" + b"\0" * 20, "MP3"),
        ]
        for kind, data, caption in media:
            for record in (example(x=data), data):
                page = self.report(record)
                self.assertEqual(set(page.media), {(kind, data)}, caption)
                self.assertIn(f"{caption}, {len(data)} bytes", page.sections["records"])

    @needs_images
    def test_media_that_is_not_shown(self):
        many = "not shown: more than 67108864 pixels"
        for data, caption in (
            (png(60000, 60000), many),
            (png(16000, 16000), many),
            (png(5000, 5000), "65 bytes; not shown: the PNG is damaged at row 0 of 5000"),
            (png(4, 3)[:20], "picture, 20 bytes; not shown: the PNG"),
            (png(0, 5), "not shown: the PNG"),
            (b"\xff\xd8\xff" + b"\xff" * 50, "not shown: the JPEG"),
            (JPEG[:12], "not shown: the JPEG"),
            (b"\xff\xd8\xff", "not shown: the JPEG"),
            (WEBP[:20], "not shown: the WebP"),
            (wav(b"\x80" * 500_000), "WAV, 500044 bytes; not shown: too large for the report"),
        ):
            page = self.report(example(x=data))
            self.assertEqual(page.media, [], caption)
            self.assertIn(caption, page.sections["records"])
        page = self.report(example(x=b"GIF89a\0\0"))  # is not decoded, and so only bytes
        self.assertIn("47 49 46 38 39 61", page.sections["records"])
        page = self.report(example(x=b"\xff\xfb\x90\0 one header proves little"))
        self.assertEqual(page.media, [])

    @needs_images
    @needs_decoder
    def test_pictures_of_a_decoder_are_shown(self):
        """Browsers do not know their format, so the page has a PNG."""
        page = self.report(example(x=QOI), options=("--decoder", DECODER))
        ((kind, shown), *_) = page.media
        self.assertEqual((kind, png_size(shown)), ("image/png", (3, 2, 3)))
        self.assertIn(f"picture, 3 x 2, {len(QOI)} bytes; shown as PNG", page.sections["records"])
        self.assertEqual(self.report(example(x=QOI)).media, [])

    @needs_images
    def test_large_pictures_are_shown_reduced(self):
        """In bytes or in pixels: the page has a PNG of what the decoder gives."""
        wide = picture("gray-16.png")
        for data, caption, size in (
            (
                JPEG[:2] + b"\xff\xfe\xff\xff" + bytes(65533) + JPEG[2:],
                "JPEG, 96 x 64",
                (96, 64, 3),
            ),
            (png(4000, 200), "PNG, 4000 x 200", (4000, 200, 1)),
            (png(3000, 300) + bytes(70_000), "PNG, 3000 x 300", (256, 26, 1)),
            (wide, f"PNG, {struct.unpack_from('>I', wide, 16)[0]} x ", None),
        ):
            page = self.report(example(x=data))
            ((kind, shown), *_) = page.media
            self.assertEqual(kind, "image/png")
            self.assertIn(caption, page.sections["records"])
            is_reduced = shown != data
            self.assertEqual("; shown reduced" in page.sections["records"], is_reduced)
            if size is not None:
                self.assertEqual(png_size(shown), size)
        self.assertTrue(is_reduced)
        levels = [level for row in png_rows(shown) for level in row]
        self.assertEqual((min(levels), max(levels)), (0, 255))

    @needs_images
    def test_arrays_of_pixels_are_shown(self):
        pixels = bytes(range(6)) * 3
        shown = {"height": 2, "width": 3, "channels": 3}
        for features in (shown, {"shape": [2, 3, 3]}, {f"image/{k}": v for k, v in shown.items()}):
            page = self.report(example(image=pixels, **features))
            ((kind, data), *_) = page.media
            self.assertEqual((kind, png_size(data)), ("image/png", (3, 2, 3)))
            self.assertEqual(b"".join(png_rows(data)), pixels)
            self.assertIn("uint8 array, 2 x 3 x 3", page.sections["records"])
        # A large array is reduced.
        page = self.report(example(image=b"\7" * 600 * 300, height=600, width=300))
        self.assertEqual(png_size(page.media[0][1]), (100, 200, 1))
        self.assertEqual(set(b"".join(png_rows(page.media[0][1]))), {7})
        for shape in ([2, 3, 2], [-2, -9], [2**20, 2**20, 2**20], [2, 3], [2, 9, 1, 1]):
            self.assertEqual(self.report(example(image=pixels, shape=shape)).media, [], shape)

    @needs_images
    def test_arrays_with_channels_first(self):
        """Known by the shape, or else by what makes the columns smooth."""
        height, width = 6, 5
        last = bytes(8 * y + 90 * c for y in range(height) for x in range(width) for c in range(3))
        first = bytes(8 * y + 90 * c for c in range(3) for y in range(height) for x in range(width))
        sides = {"height": height, "width": width, "channels": 3}
        note = "uint8 array, 3 x 6 x 5, channels first"
        for pixels, features, text in (
            (first, {"shape": [3, height, width]}, note),
            (first, sides, note),
            (last, sides, "uint8 array, 6 x 5 x 3"),
            (last, {"shape": [height, width, 3]}, "uint8 array, 6 x 5 x 3"),
        ):
            page = self.report(example(image=pixels, **features))
            self.assertIn(text, page.sections["records"])
            self.assertEqual(b"".join(png_rows(page.media[0][1])), last, text)

    def test_numbers_and_sequences(self):
        page = self.report(
            example(f=[0.5, float("nan"), float("inf")], n=list(range(40)), none=[b""] * 5),
            sequence_example({"c": 1}, {"steps": [[i] for i in range(9)]}),
            b"",
        )
        records = page.sections["records"]
        self.assertIn("0.5, nan, inf", records)
        self.assertIn("14, 15, … (40 values)", records)
        self.assertIn("(5 values)", records)
        self.assertIn("9 steps", records)
        self.assertIn("steps[2]", records)
        self.assertNotIn("steps[3]", records)
        self.assertIn("empty", records)
        self.assertIn("NaN1 value", page.sections["features"])
        self.assertIn("steps int64 list", page.sections["features"])

    def lines(self):
        """The points (x, y) of each small line through numbers; y is 2 at the top."""
        source = self.read("a.html").decode()
        records = source[source.index('id="records"') :]
        found = re.findall(r'<polyline class="line" points="([^"]*)"', records)
        return [
            [tuple(map(float, point.split(","))) for point in points.split()] for points in found
        ]

    def test_lines_through_many_numbers(self):
        """They show all extremes, wherever these are."""
        note = "line: minimum and maximum of each of 60 equal parts"
        for count, place in ((8191, 8000), (10_000, 4500), (121, 120), (100_003, 99_999)):
            numbers = [5] * count
            numbers[place] = 2**62
            floats = [float("nan") if i % 2 else 0.5 for i in range(count)]
            floats[place & ~1] = -3.0
            page = self.report(example(f=floats, n=numbers))
            self.assertEqual(page.sections["records"].count(note), len(self.lines()))
            self.assertGreater(len(self.lines()), 1)
            x = place * 60 // count * 2
            for line in self.lines():
                self.assertEqual([point[0] for point in line], list(range(120)))
                low = [point[0] for point in line if point[1] == 98]
                high = [point[0] for point in line if point[1] == 2]
                (place_shown,) = low if len(low) < len(high) else high
                self.assertIn(place_shown, (x, x + 1))
        page = self.report(example(n=list(range(120))))
        self.assertNotIn("line:", page.sections["records"])
        self.assertEqual(len(self.lines()[0]), 120)

    def test_extreme_numbers_are_printed_exactly(self):
        page = self.report(example(n=[-(2**63), 2**63 - 1], f=[-3.4e38, 3.4e38]))
        self.assertIn("-9223372036854775808 to 9223372036854775807", page.sections["features"])

    def test_an_empty_set_is_reported(self):
        page = self.report()
        self.assertIn("There are no records.", page.sections["sizes"])
        self.assertIn("There are no records.", page.sections["records"])
        self.assertIn("The sampled records have no features.", page.sections["features"])

    def test_a_selection_is_reported(self):
        self.write("a.tfrecord", tfrecord([example(n=i, id=f"x{i}") for i in range(50)]))
        self.index("-o", "a.rmx", "--id", "id", "--lift", "n", "a.tfrecord")
        self.run_recmap("select", "a.rmx", "--where", "n >= 40", "-o", "a.rmv")
        page = self.page("a.rmv", count=10)
        self.assertIn("selected records10\n", page.sections["totals"])
        self.assertIn("int6440 to 49", page.sections["features"])
        self.assertIn("record 40 (first)", page.sections["records"])

    def points(self):
        """The points of the plot of the order, as (x, y) with y upwards."""
        svg = re.search(rb'<svg class="points".*?</svg>', self.read("a.html"))[0]
        found = re.findall(rb"M([\d.e+-]+) ([\d.e+-]+)h3v1h-3z", svg)
        return [(float(x), 99 - float(y)) for x, y in found]

    def test_the_order_is_drawn(self):
        count = 5000
        self.write("a.txt", b"x\n" * count)
        self.index("--framing", "lines", "-o", "a.rmx", "a.txt")
        self.assertNotIn("order", self.page("a.rmx", count=count).sections)
        page = self.page("a.rmx", "--shuffle", "--seed=7", "--epoch=2", count=count)
        text = page.sections["order"]
        self.assertIn("Shuffled with seed 7, epoch 2.", text)
        self.assertIn("record 4999", text)
        self.assertIn("position 4999", text)
        self.assertIn("2000 evenly spaced of 5000 positions are shown.", text)
        words = ["--shuffle", "--seed=7", "--epoch=2"]
        order = [int(line) for line in self.run_recmap("order", "a.rmx", *words).out.split()]
        points = self.points()
        self.assertEqual(len(points), 2000)
        for i, (x, y) in enumerate(points):
            number = order[i * 4999 // 1999]
            self.assertAlmostEqual(x, 997 * i / 1999, delta=0.6)
            self.assertAlmostEqual(y, 99 * number / 4999, delta=0.06)

    def test_order_of_a_selection(self):
        self.write("a.tfrecord", tfrecord([example(n=i) for i in range(100)]))
        self.index("-o", "a.rmx", "--lift", "n", "a.tfrecord")
        self.run_recmap("select", "a.rmx", "--where", "n in (20, 99)", "-o", "a.rmv")
        page = self.page("a.rmv", count=2)
        self.assertIn("The order of the selection.", page.sections["order"])
        self.assertEqual(self.points(), [(0, 20), (997, 99)])
        self.run_recmap("select", "a.rmx", "--where", "n < 0", "-o", "none.rmv")
        self.assertNotIn("order", self.page("none.rmv", count=0).sections)

    def test_order_of_rows(self):
        """Against the pieces that recmap order prints."""
        records = [example(tokens=list(range(1 + i % 9))) for i in range(400)]
        self.write("a.tfrecord", tfrecord(records))
        self.index("-o", "a.rmx", "--count", "tokens", "a.tfrecord")
        for rows in ["--chunked=16"], ["--packed=16", "--long=drop"], ["--windows=3", "--stride=2"]:
            words = [*rows, "--seed=5", "--epoch=1"]
            page = self.page("a.rmx", *words, count=400)
            printed = self.run_recmap("order", "a.rmx", *words).out.decode().split("\n")[:-1]
            firsts = [int(line.split(":")[0]) for line in printed]
            text = page.sections["order"]
            width = rows[0].partition("=")[2]
            self.assertIn(f"Rows of {width} elements with seed 5, epoch 1.", text)
            self.assertIn("Each point is the record with which a row begins", text)
            self.assertIn(f"position {len(firsts) - 1}", text)
            points = self.points()
            self.assertEqual(len(points), len(firsts))
            for number, (_, y) in zip(firsts, points):
                self.assertAlmostEqual(y, 99 * number / 399, delta=0.06)

    def test_options_of_rows(self):
        for words, what in [
            (["--chunked=4", "--shuffle"], "rows are always shuffled: omit --shuffle"),
            (["--chunked=4", "--packed=4"], None),
            (["--stride=2"], None),
        ]:
            result = self.run_recmap("report", *words, "-o", "x.html", "a.rmx")
            self.assertEqual(result.status, 2)
            if what:
                self.assertIn(what.encode(), result.err)
        self.write("a.tfrecord", tfrecord([example(tokens=[1, 2]), example(tokens=[3])]))
        self.index("-o", "a.rmx", "a.tfrecord")
        result = self.run_recmap("report", "--chunked=4", "-o", "x.html", "a.rmx")
        self.assertNotEqual(result.status, 0)  # nothing is counted
        self.run_recmap("sample", "a.rmx", "1", "-o", "a.rmv")
        self.check_wrong(
            "report",
            "--chunked=4",
            "-o",
            "x.html",
            "a.rmv",
            what="rows need a whole index, not a selection",
        )
        self.assertEqual(self.files(), ["a.rmv", "a.rmx", "a.tfrecord"])

    def test_options_of_the_order(self):
        for option in "--seed", "--epoch":
            self.check_wrong(
                "report", option, "1", "-o", "x.html", "a.rmx", what=f"{option} requires --shuffle"
            )

    def test_duplicate_ids_are_counted(self):
        ids = ["a", "b", "a", "c", "b", "a"]
        self.write("a.tfrecord", tfrecord([example(id=name) for name in ids]))
        self.index("-o", "a.rmx", "--id", "id", "a.tfrecord")
        text = self.page("a.rmx", count=6).sections["ids"]
        self.assertIn("3 records have the id of an earlier record.", text)
        self.assertIn("20\n41\n50\n", text)
        ids = [f"x{i // 2}" for i in range(5000)]
        self.write("a.tfrecord", tfrecord([example(id=name) for name in ids]))
        self.index("-o", "a.rmx", "--id", "id", "a.tfrecord")
        text = self.page("a.rmx", count=5000).sections["ids"]
        self.assertIn("About 2500 records have the id of an earlier record", text)
        text = self.report(b"x", lost="--id id").sections["ids"]
        self.assertIn("The index has no ids.", text)

    def test_damage_in_the_index(self):
        data = bytearray(tfrecord([example(n=i) for i in range(20)]))
        data[20] ^= 1
        self.write("a.tfrecord", bytes(data))
        result = self.run_recmap("index", "-o", "a.rmx", "--on-bad-record", "skip", "a.tfrecord")
        self.assertEqual(result.status, 0, result)
        page = self.page("a.rmx", count=19)
        self.assertIn("damaged places1\n", page.sections["totals"])
        self.assertIn("a.tfrecord0", page.sections["damage"])
        self.assertIn(b'<path class="bad" d="M0 0h', self.read("a.html"))
        # Many damaged places: the marks stay few.
        for i in range(20):
            data[i * len(data) // 20 + 12] ^= 1
        self.write("a.tfrecord", bytes(data) * 200)
        self.run_recmap("index", "-o", "a.rmx", "--on-bad-record", "skip", "a.tfrecord")
        source = self.run_recmap("report", "a.rmx").out
        marks = re.search(rb'<path class="bad" d="([^"]*)"', source)[1]
        self.assertLessEqual(marks.count(b"M"), 1000)
        self.assertGreater(marks.count(b"M"), 100)

    def test_damage_since_the_index(self):
        self.write("a.tfrecord", tfrecord([example(n=i) for i in range(20)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        times = os.stat(self.path("a.tfrecord"))
        data = bytearray(self.read("a.tfrecord"))
        data[20] ^= 1
        self.write("a.tfrecord", bytes(data))
        os.utime(self.path("a.tfrecord"), ns=(times.st_atime_ns, times.st_mtime_ns))
        advice = "cannot be read; 'recmap verify' finds all damage\n"
        page = self.page("a.rmx", count=20, err=f"recmap: 1 of 20 sampled records {advice}")
        self.assertIn("1 of 20 sampled records cannot be read", page.sections["damage"])
        self.assertIn("cannot be read: ", page.sections["records"])
        os.unlink(self.path("a.tfrecord"))
        page = self.page("a.rmx", count=20, err=f"recmap: 20 of 20 sampled records {advice}")
        self.assertIn("20 of 20", page.sections["damage"])

    def test_file_stays_small(self):
        noise = "".join(f"<{i}>" for i in range(3_000)).encode()
        features = {f"{'<' * 190}{i}": [noise, noise, noise] for i in range(100)}
        self.report(*([example(**features)] * 3))
        self.assertLess(len(self.read("a.html")), 5_000_000)
        pictures = {f"picture{i}": png(900, 900) + noise for i in range(60)}
        page = self.report(*([example(**pictures)] * 3))
        self.assertIn("not shown: too large for the report", page.sections["records"])
        self.assertLess(sum(len(data) for _, data in page.media), 2 << 20)
        self.assertLess(len(self.read("a.html")), 5_000_000)
        texts = {f"text{i}": ["\u200b" * 700] * 3 for i in range(64)}
        page = self.report(*([example(**texts)] * 7))
        self.assertIn("Some records are left out", page.sections["records"])
        self.assertLess(len(self.read("a.html")), 5_000_000)
        names = {f"{'<' * 250}{i}": i for i in range(400)}
        page = self.report(*([example(**names)] * 2))
        self.assertIn("The first 256 of 400 features.", page.sections["features"])
        self.assertLess(len(self.read("a.html")), 5_000_000)

    def test_wrong_usage_is_explained(self):
        self.write("a.tfrecord", tfrecord([b"a"]))
        self.index("-o", "a.rmx", "a.tfrecord")
        self.check_wrong("report", "a.rmx", "b.rmx", what="only one index can be given")
        self.check_wrong("report", "a.rmx", "-o", "", what="-o needs a file name")
        for name in ("b.rmv", "b.rmx"):
            what = f"-o needs the name of an HTML file, not '{name}'"
            self.check_wrong("report", "a.rmx", "-o", name, what=what)
        before = self.files()
        for name, what in (
            ("a.rmx", "is the index itself"),
            ("a.tfrecord", "is one of the shards"),
        ):
            self.check(
                "report",
                "a.rmx",
                "-o",
                name,
                status=2,
                err=(
                    f"recmap: {name}: {what} and would be overwritten\n"
                    "  name another file with -o\n"
                ),
            )
        self.check(
            "report",
            "a.rmx",
            "-o",
            "no/a.html",
            status=4,
            err=(
                "recmap: no/a.html: cannot create the file: No such file or directory\n"
                "  check the path; relative paths start at the current folder\n"
            ),
        )
        self.check(
            "report",
            "a.rmx",
            "-o",
            "/dev/full",
            status=4,
            err=(
                "recmap: /dev/full: cannot write: No space left on device\n"
                "  free some space on that file system, or write elsewhere with -o\n"
            ),
        )
        self.assertEqual(self.files(), before)

    def test_a_signal_leaves_no_unfinished_file(self):
        self.write("a.tfrecord", tfrecord([b"a" * 100] * 1000))
        self.index("-o", "a.rmx", "a.tfrecord")
        before = self.files()
        process = subprocess.Popen(
            [COMMAND, "report", "a.rmx", "--sample=0", "-o", "a.html"],
            cwd=self.folder,
            preexec_fn=signals_as_usual,
            stderr=subprocess.DEVNULL,
        )
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        self.assertIn(process.returncode, (0, -signal.SIGTERM))
        # The signal may arrive when the file is complete.
        if "a.html" in self.files():
            self.assertTrue(self.read("a.html").endswith(b"</html>\n"))
            os.unlink(self.path("a.html"))
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
