"""Draws the pictures of the documents from figures: what bench/peers/run measured, and real orders.

usage: pictures.py ROWS FOLDER     ROWS: of bench/peers/run

Writes shuffle.svg, epoch.svg (parsed) and records.svg (as they are) to FOLDER.
"""

import json
import os
import random
import statistics
import sys
from html import escape

import recmap

OURS, THEIRS, INK, PALE = "#1b6ca8", "#b8b8b8", "#333333", "#dddddd"
RECORDS, BUFFER, POINTS = 100_000, 10_000, 4_000
SIZES = {"small": "240 B", "medium": "2.6 KB", "large": "50 KB"}
PARSED = {
    "tf.data, shuffle(10k) + parse": "tf.data",
    "DALI, CPU, buffer of 10k": "DALI",
}
RAW = {
    "DataLoader, 0 workers, over bagz": "bagz",
    "DataLoader, 0 workers, over py-lmdb": "py-lmdb",
    "SPDL, threads, over bagz": "SPDL, bagz",
    "LitData, windows of 256": "LitData",
    "MosaicML Streaming": "Streaming",
    "WebDataset, buffer of 10k": "WebDataset",
    "Grain over ArrayRecord": "Grain",
}


class Picture:
    """Lines of SVG."""

    def __init__(self, width, height, title):
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]

    def text(self, x, y, words, anchor="start", weight="normal", fill=INK):
        self.lines.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{fill}">{escape(words)}</text>'
        )

    def box(self, x, y, width, height, fill, stroke="none"):
        self.lines.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}" stroke="{stroke}"/>'
        )

    def dots(self, places, fill):
        path = "".join(f"M{x:.1f} {y:.1f}h1" for x, y in places)
        self.lines.append(f'<path d="{path}" stroke="{fill}" stroke-width="1.4" fill="none"/>')

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*self.lines, "</svg>", ""]))


def buffered(count, size, seed):
    """The order that a shuffle buffer makes: fill it, then hand out any and put the next there."""
    draw, buffer = random.Random(seed), []
    for number in range(count):
        if len(buffer) < size:
            buffer.append(number)
            continue
        place = draw.randrange(size)
        yield buffer[place]
        buffer[place] = number
    draw.shuffle(buffer)
    yield from buffer


def draw_order(picture, left, title, numbers, fill):
    top, side = 48, 300
    picture.text(left, 34, title, weight="bold")
    picture.box(left, top, side, side, "none", PALE)
    step = RECORDS // POINTS
    places = [
        (left + side * at / RECORDS, top + side * (1 - numbers[at] / RECORDS))
        for at in range(0, RECORDS, step)
    ]
    picture.dots(places, fill)
    picture.text(left, top + side + 20, "first position")
    picture.text(left + side, top + side + 20, "last position", "end")


def draw_shuffles(path):
    picture = Picture(690, 400, "The order of a shuffle buffer and of a true shuffle")
    theirs = list(buffered(RECORDS, BUFFER, seed=7))
    ours = recmap.Shuffled(RECORDS, seed=7).at(0, range(RECORDS)).tolist()
    draw_order(picture, 20, "A shuffle buffer of 10,000", theirs, "#8a8a8a")
    draw_order(picture, 370, "recmap, shuffle=True", ours, OURS)
    note = "100,000 records. Horizontal: position in the epoch. Vertical: position in the files."
    picture.text(20, 392, note)
    picture.write(path)


def shown_rows(rows, asked, shown):
    """{set: [(name, records a second and core, whether it is ours)]}"""
    found = {}
    for size in SIZES:
        chosen = [row for row in rows if row.get("set") == size and row["question"] == asked]
        chosen = {row["name"]: row for row in chosen if "absent" not in row}
        names = [name for name in shown if name in chosen]
        if names:
            ours = 1e9 / statistics.median(chosen[name]["ours_cpu"] for name in names)
            bars = [(shown[name], 1e9 / chosen[name]["theirs_cpu"], False) for name in names]
            found[size] = [("recmap", ours, True), *bars]
    return found


def draw_rates(found, path, title, note):
    height = 60 + sum(34 + 24 * len(bars) for bars in found.values())
    picture = Picture(690, height, title)
    picture.text(20, 24, title, weight="bold")
    picture.text(20, 42, note)
    y = 66
    for size, bars in found.items():
        maximum = max(rate for _, rate, _ in bars)
        picture.text(20, y + 4, f"records of {SIZES[size]}", weight="bold")
        y += 12
        for name, rate, is_ours in bars:
            width = 470 * rate / maximum
            picture.text(92, y + 14, name, "end")
            picture.box(100, y, width, 18, OURS if is_ours else THEIRS)
            picture.text(106 + width, y + 14, f"{rate:,.0f}")
            y += 24
        y += 22
    picture.write(path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    draw_shuffles(os.path.join(sys.argv[2], "shuffle.svg"))
    rows = [row for row in rows if "question" in row]
    draw_rates(
        shown_rows(rows, "a shuffled epoch to NumPy columns", PARSED),
        os.path.join(sys.argv[2], "epoch.svg"),
        "Records per second and core, shuffled and parsed to NumPy columns",
        "recmap and tf.data verify every CRC, DALI none. recmap does not copy bytes values.",
    )
    draw_rates(
        shown_rows(rows, "a shuffled epoch of records", RAW),
        os.path.join(sys.argv[2], "records.svg"),
        "Records per second and core, shuffled, not parsed",
        "recmap verifies every CRC, Grain those of its blocks, the others none.",
    )


if __name__ == "__main__":
    main()
