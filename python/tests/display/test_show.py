"""Tables of records in a terminal and in a notebook, whatever the records contain."""

import base64
import struct
import sys
import types
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
import recmap
from conftest import ROOT
from recmap._display.tables import cell_of

TAGS = {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "img", "progress"}
DRAWING = {"svg", "path"}
ATTRIBUTES = {"style", "src", "alt", "title", "value", "max", "role", "aria-label", "width"}
ATTRIBUTES |= {"height", "viewbox", "d", "stroke", "stroke-width", "fill"}
LABEL = {"label": recmap.FixedLen((), "int32"), "id": recmap.FixedLen((), "bytes")}


class Page(HTMLParser):
    """Collects text and pictures, and fails on any tag that tables do not use."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.pictures = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS | DRAWING and {name for name, _ in attrs} <= ATTRIBUTES, (tag, attrs)
        if tag == "img":
            self.pictures.append(dict(attrs)["src"])

    def handle_data(self, data):
        self.texts.append(data)


def page_of(shown):
    return Page(shown._repr_html_())


def chunk(kind, data):
    sum_ = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + sum_


def png(width=1, height=1, padding=0, rows=b"\0\0"):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"teXt", b"\0" * padding)


def gray_png(pixels):
    height, width = pixels.shape
    return png(width, height, rows=b"".join(b"\0" + row.tobytes() for row in pixels))


def written(folder, *records):
    with recmap.Writer(folder / "made.tfrecord") as writer:
        for record in records:
            writer.write(record)
    return recmap.open(folder / "made.tfrecord")


def test_a_view_in_a_terminal(tmp_path, capsys):
    ds = written(tmp_path, {"label": 3, "x": [0.5, 1, 2, 3, 4, 5]}, {"name": [b"a", b"b"]}, b"\xff")
    ds[:3].show()
    assert capsys.readouterr().out == (
        f"{ds!r}\n"
        "number  size      label  x                         name    record\n"
        "0       53 bytes  3      6 values: 0.5, 1, 2, ...\n"
        "1       20 bytes                                   [a, b]\n"
        "2       1 byte                                             b'\\xff' (1 byte)\n"
    )


def test_few_records_are_shown(digits, capsys):
    digits.show()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 23 and lines[-1] == "1777 more records"
    digits[40:50].show(limit=2)
    lines = capsys.readouterr().out.splitlines()
    assert "10 records of 1797" in lines[0] and lines[2].startswith("40 ")
    assert lines[-1] == "8 more records" and len(lines) == 5
    digits[:0].show()
    assert capsys.readouterr().out.splitlines()[1:] == ["number  size"]


def test_a_notebook_gets_the_table(digits, capsys, monkeypatch):
    shown = []
    shell = types.SimpleNamespace(
        get_ipython=object, display=types.SimpleNamespace(display=shown.append)
    )
    monkeypatch.setitem(sys.modules, "IPython", shell)
    digits[:2].show()
    assert capsys.readouterr().out == ""
    assert "digit-00001" in page_of(shown[0]).texts


def test_hostile_records_stay_text(tmp_path):
    script = "<script>alert(1)</script>"
    ds = written(
        tmp_path,
        {f"{script}&\"'": f"<img src=x onerror=alert(1)>\u202e{script}"},
        {"url": b"\x1b]0;<b>", "picture": b"\x89PNG\r\n\x1a\n" + script.encode()},
        {"url": "javascript:alert(1)", "picture": b"GIF89a" + b"\0" * 20},
        script.encode(),
    )
    table = ds._table(20)
    page = page_of(table)
    assert not page.pictures
    assert script + "&\"'" in page.texts
    cut = r"<img src=x onerror=alert(1)>\u202e<script>alert(1)</script>"
    assert cut in page.texts
    assert r"b'\x1b]0;<b>' (7 bytes)" in page.texts
    assert all(line.isprintable() for line in repr(table).splitlines())
    parsed = ds.parse([0, 1], {script: recmap.VarLen("bytes")}, missing="ignore")
    for shown in ds.gather([0, 1, 2, 3]), parsed:
        assert script in " ".join(page_of(shown).texts)


def picture(name):
    return (ROOT / "tests" / "images" / name).read_bytes()


def shown(page):
    """The bytes of the pictures of a page, and the format that each claims."""
    for url in page.pictures:
        kind, data = url.split(";base64,")
        yield kind.removeprefix("data:image/"), base64.b64decode(data)


def test_small_pictures_are_shown_as_they_are(tmp_path):
    names = {"rgb.png": "png", "plain-420.jpg": "jpeg", "lossy.webp": "webp"}
    ds = written(tmp_path, *({"image": picture(name)} for name in names))
    table = ds._table(20)
    expected = [(kind, picture(name)) for name, kind in names.items()]
    assert list(shown(page_of(table))) == expected
    for text in ("PNG 96x64, 10.9 kB", "JPEG 96x64, 2375 bytes", "WEBP 96x64, 600 bytes"):
        assert text in repr(table)


def test_large_pictures_are_shown_reduced(tmp_path):
    """In bytes or in pixels: what the page has is what the decoder gives."""
    large = picture("plain-420.jpg")
    large = large[:2] + 3 * (b"\xff\xfe\xff\xff" + bytes(65533)) + large[2:]
    profile = picture("turned-6.jpg") + bytes(70_000)
    wide = picture("gray-16.png")
    ds = written(tmp_path, *({"image": data} for data in (large, profile, wide, png(3000, 2000))))
    table = ds._table(20)
    (first, second, third) = shown(page_of(table))  # the rows of the last are missing
    assert [kind for kind, _ in (first, second, third)] == ["png"] * 3
    assert (recmap.decode_image(first[1]) == recmap.decode_image(picture("plain-420.jpg"))).all()
    assert recmap.decode_image(second[1]).shape == (24, 16, 3)  # upright
    levels = recmap.decode_image(third[1], mode="L")
    assert (levels.min(), levels.max()) == (0, 255)
    assert "JPEG 96x64, 199.0 kB" in repr(table) and "JPEG 16x24, 70.8 kB" in repr(table)
    assert "PNG 3000x2000, " in " ".join(page_of(table).texts)


def test_pictures_of_any_size_are_recognised(tmp_path):
    """Also those that cannot be decoded: they are text."""
    pictures = [
        (png(20000, 10000, padding=6 << 20), "PNG 20000x10000, 6.3 MB"),
        (picture("rgb.png")[:20], "b'\\x89PNG"),
        (b"GIF89a\3\0\2\0" + bytes(9), "b'GIF89a"),
        (b"\xff\xd8" + b"\xff" * 5000, "b'"),  # no end of fill bytes
    ]
    ds = written(tmp_path, *({"image": data, "label": i} for i, (data, _) in enumerate(pictures)))
    table = ds._table(20)
    for (_, text), line in zip(pictures, repr(table).splitlines()[2:], strict=True):
        assert text in line
    assert not page_of(table).pictures and len(table._repr_html_()) < 5000


def test_a_table_has_bounded_bytes(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (256, 256), np.uint8)
    record = {"a picture": gray_png(noise), **{f"f{i:03}": b"x" * 10_000 for i in range(50)}}
    ds = written(tmp_path, *[record] * 60)
    text = ds._table(60)._repr_html_()
    pages = Page(text)
    assert 20 < len(pages.pictures) < 40 and len(text) < 2_000_000
    assert "39 more features" in pages.texts[-1]


def test_values_are_shown_as_short_text():
    assert [cell_of(value).text for value in (None, [], [b"a"], np.array([1.5]), True, 2.0)] == [
        "",
        "[]",
        "a",
        "1.5",
        "True",
        "2",
    ]
    assert cell_of(np.arange(9).reshape(3, 3)).text == "9 values: 0, 1, 2, ..."


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values_that_are_nan_are_marked(tmp_path, dtype):
    values = np.array([0.5, 1, 2, np.nan, 4, np.nan], dtype)
    assert cell_of(values).text == "6 values (2 NaN): 0.5, 1, 2, ..."
    assert cell_of(values[2:4]).text == "[2, NaN]"
    assert cell_of(values[3]).text == cell_of(values[3:4]).text == "NaN"
    ds = written(tmp_path, {"x": values.astype("float32")})
    assert "6 values (2 NaN): 0.5, ..." in repr(ds._table(1)) or "(2 NaN)" in repr(ds._table(1))
    assert "(2 NaN)" in page_of(ds.parse([0], {"x": recmap.VarLen(dtype)})).texts[-1]


@pytest.mark.parametrize(
    ("items", "numbers"),
    [
        ([3, 17], [3, 17]),
        ([17, 3, 3], [17, 3, 3]),
        (range(40, 30, -5), [40, 35]),
        (slice(5, 8), [5, 6, 7]),
        (np.array([2, 1]), [2, 1]),
        ([-1], [1796]),
        ([], []),
    ],
)
def test_records_are_chosen_by_number(digits, capsys, items, numbers):
    digits.show(items)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == repr(digits)
    assert [int(line.split()[0]) for line in lines[2:]] == numbers
    for line, number in zip(lines[2:], numbers, strict=True):
        assert f"digit-{number:05d}" in line
    digits[100:].show([0])
    assert capsys.readouterr().out.splitlines()[2].startswith("100 ")
    with pytest.raises(IndexError):
        digits.show([1797])


def test_damaged_records_say_so(copied_digits, capsys):
    path = sorted(copied_digits.glob("*.tfrecord"))[0]
    ds = recmap.open(copied_digits)
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(data)
    ds[:2].show()
    lines = capsys.readouterr().out.splitlines()
    assert "error" in lines[1] and lines[2].startswith("0 ") and "digit-00001" in lines[3]


def test_batches_as_html(digits):
    page = page_of(digits.gather(range(30)))
    assert "recmap.RecordBatch of 30 records, 3600 bytes" in page.texts
    assert "digit-00019" in page.texts and "digit-00020" not in page.texts
    assert page.texts[-1] == "10 more records"
    page = page_of(digits.parse([5, 1], LABEL))
    assert page.texts[:4] == ["recmap.ColumnBatch of 2 rows", "number", "label", "id"]
    assert page.texts[4:] == ["5", "5", "digit-00005", "1", "1", "digit-00001"]


def test_data_sets_orders_and_loaders_as_html(digits):
    texts = page_of(digits[:5]).texts
    assert "recmap.Dataset" in texts and "5 of 1797" in texts and "label (int64)" in texts
    texts = page_of(recmap.Shuffled(10, seed=7)).texts
    assert texts[:3] == ["recmap.Shuffled", "positions", "10"] and "seed" in texts
    loader = recmap.Loader(digits, 256, shuffle=True)
    next(iter(loader))
    texts = page_of(loader).texts
    assert texts[0] == "recmap.Loader" and "256 of 1797" in texts and "0 of 1" in texts
    digits.close()
    assert "closed" in page_of(digits).texts[0]
