"""Tables of records in a terminal and in a notebook, whatever the records contain."""

import struct
import sys
import types
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
import recmap
from recmap._display.pictures import picture_of
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


def png(width=1, height=1, padding=0):
    def chunk(kind, data):
        sum_ = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + sum_

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"teXt", b"\0" * padding)


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


def test_pictures_are_shown(tmp_path):
    data = png()
    ds = written(
        tmp_path, {"image": data}, {"image": png(padding=70_000)}, {"image": png(9999, 9999)}
    )
    table = ds._table(20)
    page = page_of(table)
    assert len(page.pictures) == 1 and page.pictures[0].startswith("data:image/png;base64,")
    assert f"PNG 1x1, {len(data)} bytes" in repr(table)
    # Others are too large to be drawn, in bytes or in pixels, and are recognised all the same.
    assert "PNG 1x1, 70.1 kB" in repr(table) and "PNG 9999x9999, " in repr(table)
    assert "PNG 9999x9999, " in " ".join(page.texts)


def test_pictures_of_any_size_are_recognised(tmp_path):
    profile = b"\xff\xe2\xff\xff" + bytes(65533)  # segments of a JPEG before its size
    frame = b"\xff\xc0\0\x0b\x08\x0f\xa0\x17\x70" + bytes(9)
    pictures = [
        (b"\xff\xd8" + 40 * profile + frame, "JPEG 6000x4000, 2.6 MB"),
        (png(20000, 10000, padding=6 << 20), "PNG 20000x10000, 6.3 MB"),
        (b"\xff\xd8" + b"\xff" * 5000 + frame, "b'"),  # no end of fill bytes
    ]
    ds = written(tmp_path, *({"image": data, "label": i} for i, (data, _) in enumerate(pictures)))
    table = ds._table(20)
    for (_, text), line in zip(pictures, repr(table).splitlines()[2:], strict=True):
        assert text in line
    assert not page_of(table).pictures and len(table._repr_html_()) < 5000


def test_a_table_has_bounded_bytes(tmp_path):
    record = {"a picture": png(padding=60_000), **{f"f{i:03}": b"x" * 10_000 for i in range(50)}}
    ds = written(tmp_path, *[record] * 40)
    text = ds._table(40)._repr_html_()
    pages = Page(text)
    assert len(pages.pictures) == 17 and len(text) < 2_000_000
    assert "39 more features" in pages.texts[-1]


@pytest.mark.parametrize(
    ("format_", "size", "data"),
    [
        ("png", (3, 2), png(3, 2)),
        ("gif", (3, 2), b"GIF89a\3\0\2\0" + bytes(9)),
        ("jpeg", (3, 2), b"\xff\xd8\xff\xe0\0\4ab\xff\xff\xc0\0\x0b\x08\0\2\0\3" + bytes(9)),
        ("webp", (3, 2), b"RIFF\0\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0\2\0\0\1\0\0" + bytes(9)),
        ("webp", (3, 2), b"RIFF\0\0\0\0WEBPVP8L\n\0\0\0\x2f\x02\x40\0\0" + bytes(9)),
        ("webp", (3, 2), b"RIFF\0\0\0\0WEBPVP8 \n\0\0\0\0\0\0\x9d\x01\x2a\3\0\2\0" + bytes(9)),
    ],
)
def test_formats_of_pictures(format_, size, data):
    picture = picture_of(data)
    assert picture is not None and (picture.format, picture[1:3]) == (format_, size)
    assert picture_of(data[:15]) is None and picture_of(b"x" + data) is None
    for end in range(len(data)):
        picture_of(data[:end])
        picture_of(data[:end] + b"\xff" * 40)


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
