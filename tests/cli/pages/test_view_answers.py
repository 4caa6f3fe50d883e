"""recmap view: what its server answers about records."""

import json
import os
import unittest

from pages.test_report import picture, png, png_size, wav
from pages.view_server import ELSEWHERE, ViewTest
from support import DECODER, QOI, example, needs_decoder, needs_images, sequence_example, tfrecord


class Answers(ViewTest):
    def test_info_describes_the_view(self):
        self.view(
            example(id="x", label=1, score=0.5),
            options=["--id", "id", "--lift", "label", "--lift", "score"],
        )
        info = self.ask("info")
        self.assertEqual(
            {key: info[key] for key in ("path", "index", "count", "records", "shards", "damage")},
            {"path": "a.rmx", "index": "a.rmx", "count": 1, "records": 1, "shards": 1, "damage": 0},
        )
        self.assertEqual(info["ids"], "id")
        self.assertEqual(
            info["columns"],
            [{"name": "label", "type": "int64"}, {"name": "score", "type": "float"}],
        )

    def test_a_column_of_float64(self):
        self.write("a.tfrecord", tfrecord([b"a", b"b", b"c", b"d"]))
        self.index("-o", "a.rmx", "a.tfrecord")
        self.write("t.csv", b"number,time\n0,1732752000.123456\n1,0.1\n2,-1e300\n")
        self.assertEqual(self.run_recmap("annotate", "a.rmx", "--column=time=t.csv").status, 0)
        self.start(count=4)
        self.assertEqual(self.ask("info")["columns"], [{"name": "time", "type": "float64"}])
        rows = self.ask("rows", first=0, count=4)["rows"]
        values = [row["values"][0] for row in rows]
        self.assertEqual(values, ["1732752000.123456", "0.1", "-1e+300", None])

    def test_rows_of_csv_and_objects_have_their_fields(self):
        self.write("t.csv", b'id,"a ""b""",x\nu1,"c, ""d""",\nu2,-3,0.5\nu3,1\n')
        self.index("--framing", "csv", "-o", "a.rmx", "t.csv")
        self.start(count=3)
        rows = self.ask("rows", first=0, count=3)["rows"]
        self.assertEqual(
            [row["preview"] for row in rows],
            ['id: u1 · a "b": c, "d" · x: -', 'id: u2 · a "b": -3 · x: 0.5', "u3,1"],
        )
        parts = self.ask("record", number=1)["parts"]
        self.assertEqual([part["type"] for part in parts], ["bytes", "int64", "float"])
        self.assertEqual(parts[1]["numbers"], ["-3"])

    def test_lines_of_objects_have_their_members(self):
        members = (
            r'"s": "\u00e9\n", "n": 2, "list": [1, 2.5], "o": {"k": []}, "null": null, "t": true'
        )
        self.write("t.jsonl", f"{{{members}}}\nplain\n".encode())
        self.index("--framing", "lines", "-o", "a.rmx", "t.jsonl")
        self.start(count=2)
        parts = {part["name"]: part for part in self.ask("record", number=0)["parts"]}
        self.assertEqual([*parts], ["s", "n", "list", "o", "null", "t"])
        self.assertEqual(parts["s"]["bytes"], [{"size": 3, "text": "é\n"}])
        self.assertEqual(parts["list"]["numbers"], ["1", "2.5"])
        self.assertEqual(parts["o"]["bytes"], [{"size": 9, "text": '{"k": []}'}])
        self.assertEqual((parts["null"]["type"], parts["null"]["count"]), ("unset", 0))
        self.assertEqual(self.ask("rows", first=1, count=1)["rows"][0]["preview"], "plain")

    def test_rows_are_served_in_parts(self):
        records = [example(id=f"id-{i}", label=i % 3) for i in range(10)]
        self.view(*records, options=["--lift", "label"])
        answer = self.ask("rows", first=8, count=5)
        self.assertEqual((answer["count"], answer["first"], len(answer["rows"])), (10, 8, 2))
        self.assertEqual(
            answer["rows"][0],
            {
                "number": 8,
                "shard": 0,
                "size": len(records[8]),
                "values": ["2"],
                "preview": "id: id-8 · label: 2",
            },
        )
        self.assertEqual(self.ask("rows", first=99, count=5)["rows"], [])

    def numbers(self, **fields):
        return [row["number"] for row in self.ask("rows", count=500, **fields)["rows"]]

    def test_filters_choose_rows(self):
        count = 10_000
        records = [example(label=i % 7) for i in range(count)]
        self.view(*records, options=["--lift", "label"])
        matches = [i for i in range(count) if i % 7 in (0, 3)]
        expression = "label in (0, 3)"
        answer = self.ask("rows", first=1000, count=500, filter=expression)
        self.assertEqual(answer["count"], len(matches))
        self.assertEqual([row["number"] for row in answer["rows"]], matches[1000:1500])
        tail = len(matches) - 20
        self.assertEqual(self.numbers(first=tail, filter=expression), matches[tail:])
        for number in (0, 3, 5_001, 9_999):
            match = {"number": number, "row": None}
            if number in matches:
                match["row"] = matches.index(number)
            found = self.ask("find", number=number, filter=expression)
            self.assertEqual(found, {"matches": [match]})
        # More filters than are kept.
        for label in (0, 1, 2, 3, 4, 5, 0, 1):
            numbers = self.numbers(first=0, filter=f"label == {label}")
            self.assertEqual(numbers, list(range(label, count, 7))[:500])
        self.assertEqual(self.ask("rows", first=0, count=9, filter="label == 9")["count"], 0)
        self.assertEqual(
            self.ask("rows", status=404, first=0, count=1, filter="lable == 1"),
            {
                "error": "character 1: the index has no column 'lable'",
                "advice": "did you mean 'label'? the columns are @length, label",
            },
        )
        code = self.ask("rows", status=400, first=0, count=1, filter="__import__('os')")
        self.assertIn("character", code["error"])

    def finish(self, **fields):
        """Asks until the search has ended. Returns the last answer."""
        searched = 0
        while "search" in (answer := self.ask("rows", first=0, count=9, **fields)):
            search = answer["search"]
            self.assertGreaterEqual(search["searched"], searched)
            self.assertGreater(search["total"], search["searched"])
            searched = search["searched"]
        return answer

    def test_long_searches_continue_in_slices(self):
        # A slice is 262,144 records. Other requests are answered between slices.
        count, slice_size = 900_000, 1 << 18
        self.write("a.txt", b"a\nbb\nccc\n" * (count // 3))
        self.index("--framing", "lines", "-o", "a.rmx", "a.txt")
        self.start(count=count)
        expression = "length == 2"
        answer = self.ask("rows", first=0, count=2, filter=expression)
        found = slice_size // 3
        self.assertEqual(answer["search"], {"searched": slice_size, "total": count, "found": found})
        self.assertEqual(answer["count"], found)
        self.assertEqual([row["number"] for row in answer["rows"]], [1, 4])
        self.assertEqual(self.numbers(first=899_990), list(range(899_990, count)))
        self.assertEqual(self.finish(filter=expression)["count"], count // 3)
        self.assertEqual(self.numbers(first=299_999, filter=expression), [count - 2])
        found = self.ask("find", number=899_998, filter=expression)
        self.assertEqual(found, {"matches": [{"number": 899_998, "row": 299_999}]})
        # Matches that are not found yet have no row, and an epoch waits for all of them.
        match = {"number": 899_997, "row": None}
        found = self.ask("find", number=899_997, filter="length == 1")
        self.assertEqual((found["matches"], found["search"]["total"]), ([match], count))
        shuffled = self.ask("rows", first=0, count=9, filter="length < 3", seed=1)
        self.assertEqual((shuffled["count"], shuffled["rows"]), (0, []))
        self.assertEqual(self.finish(filter="length < 3", seed=1)["count"], count * 2 // 3)
        # The filter that was not used longest is forgotten.
        for limit in (4, 5, 6):
            self.assertEqual(self.finish(filter=f"length < {limit}")["count"], count)
        self.assertEqual(self.ask("find", number=1, filter=expression)["search"]["total"], count)

    def test_long_searches_in_selections(self):
        count = 300_000
        self.write("a.txt", b"a\nbb\nccc\n" * (count // 3))
        self.index("--framing", "lines", "-o", "a.rmx", "a.txt")
        self.run_recmap("select", "a.rmx", "--where", "length > 1", "-o", "a.rmv")
        self.start("a.rmv", count=200_000)
        answer = self.ask("rows", first=0, count=1, filter="length == 3")
        self.assertEqual(
            answer["search"], {"searched": 262_144, "total": count + 200_000, "found": 0}
        )
        answer = self.finish(filter="length == 3")
        self.assertEqual(answer["count"], 100_000)
        self.assertEqual([row["number"] for row in answer["rows"]], list(range(2, 29, 3)))
        self.assertEqual(self.numbers(first=99_999, filter="length == 3"), [count - 1])

    def test_rows_follow_an_order(self):
        self.view(*(example(label=i % 2) for i in range(100)), options=["--lift", "label"])
        for seed, epoch in ((2**64 - 1, 2**64 - 1), (7, 2)):
            words = (f"--seed={seed}", f"--epoch={epoch}")
            order = self.run_recmap("order", "a.rmx", "--shuffle", *words).out
            expected = [int(line) for line in order.split()]
            self.assertEqual(self.numbers(first=0, seed=seed, epoch=epoch), expected)
        self.assertEqual(self.numbers(first=90, seed=7, epoch=2), expected[90:])
        found = self.ask("find", number=expected[42], seed=7, epoch=2)
        self.assertEqual(found, {"matches": [{"number": expected[42], "row": 42}]})
        filtered = {"filter": "label == 1", "seed": 7, "epoch": 2}
        numbers = self.numbers(first=0, **filtered)
        self.assertEqual(sorted(numbers), list(range(1, 100, 2)))
        self.assertNotEqual(numbers, sorted(numbers))
        found = self.ask("find", number=numbers[9], **filtered)
        self.assertEqual(found, {"matches": [{"number": numbers[9], "row": 9}]})

    def test_ids_find_rows(self):
        records = [example(id=name) for name in ("a", "b", "a", "<i>")]
        self.view(*records, options=["--id", "id"])
        self.assertEqual(
            self.ask("find", id="a"),
            {"matches": [{"number": 0, "row": 0}, {"number": 2, "row": 2}]},
        )
        self.assertEqual(self.ask("find", id="<i>"), {"matches": [{"number": 3, "row": 3}]})
        error = self.ask("find", status=404, id="c")["error"]
        self.assertEqual(error, "no record has the id 'c'")

    def test_selections_are_shown(self):
        records = [example(id=f"id-{i}", label=i) for i in range(20)]
        self.write("a.tfrecord", tfrecord(records))
        self.index("--id", "id", "--lift", "label", "-o", "a.rmx", "a.tfrecord")
        self.run_recmap("select", "a.rmx", "--where", "label in (3, 5, 7)", "-o", "some.rmv")
        self.start("some.rmv", count=3)
        info = self.ask("info")
        self.assertEqual((info["count"], info["records"]), (3, 20))
        self.assertEqual(self.numbers(first=0), [3, 5, 7])
        self.assertEqual(self.numbers(first=0, filter="label > 4"), [5, 7])
        self.assertEqual(
            self.ask("find", id="id-7", filter="label > 4"), {"matches": [{"number": 7, "row": 1}]}
        )
        self.assertEqual(self.ask("find", number=4), {"matches": [{"number": 4, "row": None}]})

    def test_a_record_has_all_its_values(self):
        record = sequence_example(
            {"label": [3, -(2**63)], "score": [0.5, float("nan")], "none": [], "text": "a\nb"},
            {"frames": [b"\xff\0", b"x"]},
        )
        self.view(record)
        answer = self.ask("record", number=0)
        self.assertEqual(
            {key: answer[key] for key in ("number", "shard", "index", "offset", "size", "values")},
            {
                "number": 0,
                "shard": "a.tfrecord",
                "index": 0,
                "offset": 0,
                "size": len(record),
                "values": [],
            },
        )
        parts = {part["name"]: part for part in answer["parts"] if part["kind"] != "step"}
        self.assertEqual(parts["label"]["numbers"], ["3", str(-(2**63))])
        self.assertEqual(parts["score"]["numbers"], ["0.5", "nan"])
        self.assertEqual((parts["none"]["type"], parts["none"]["count"]), ("bytes", 0))
        self.assertEqual(parts["text"]["bytes"], [{"size": 3, "text": "a\nb"}])
        self.assertEqual((parts["frames"]["kind"], parts["frames"]["count"]), ("list", 2))
        steps = [part["bytes"] for part in answer["parts"] if part["kind"] == "step"]
        self.assertEqual(steps, [[{"size": 2, "hex": "ff00"}], [{"size": 1, "text": "x"}]])
        self.assertEqual(
            self.ask("hex", number=0), {"size": len(record), "first": 0, "hex": record.hex()}
        )
        self.assertEqual(
            self.ask("hex", number=0, first=10),
            {"size": len(record), "first": 10, "hex": record[10:].hex()},
        )

    @needs_images
    def test_pictures_and_sounds_are_served(self):
        picture, sound, pixels = png(40, 30), wav(b"\x80" * 800), bytes(range(64))
        self.view(
            example(picture=[b"x", picture], sound=sound, pixels=pixels, shape=[8, 8]),
            png(3, 2),
            example(huge=png(20_000, 20_000), broken=b"\x89PNG\r\n\x1a\n", text="<svg onload=1>"),
        )
        previews = [row["preview"] for row in self.ask("rows", first=0, count=3)["rows"]]
        self.assertEqual(
            previews,
            [
                "picture: x, … (2 values) · pixels: array 8 x 8 · shape: 8, 8 · "
                f"sound: WAV, {len(sound)} bytes",
                "PNG 3 x 2",
                "broken: picture, 8 bytes · huge: PNG 20000 x 20000 · text: <svg onload=1>",
            ],
        )
        found = [row.get("picture") for row in self.ask("rows", first=0, count=3)["rows"]]
        self.assertEqual(found, [{"part": 1}, {}, None])
        parts = {part["name"]: part for part in self.ask("record", number=0)["parts"]}
        self.assertEqual(
            parts["picture"]["bytes"][1],
            {
                "size": len(picture),
                "format": "PNG",
                "width": 40,
                "height": 30,
                "picture": "image/png",
            },
        )
        self.assertEqual(parts["sound"]["bytes"][0]["sound"], "audio/wav")
        self.assertEqual(parts["pixels"]["bytes"][0]["array"], "image/png")
        for name, value, kind, data in (
            ("picture", 1, "image/png", picture),
            ("sound", 0, "audio/wav", sound),
            ("pixels", 0, "image/png", None),
        ):
            part = parts[name]["part"]
            status, headers, body = self.get(f"api/media?number=0&part={part}&value={value}")
            self.assertEqual((status, headers["Content-Type"]), (200, kind))
            self.assertEqual(headers["Content-Security-Policy"], ELSEWHERE)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(body, data or body)
        self.assertEqual(self.get("api/media?number=1")[2], png(3, 2))
        parts = self.ask("record", number=2)["parts"]
        hidden = {part["name"]: part["bytes"][0].get("hidden") for part in parts}
        self.assertEqual(
            hidden,
            {
                "broken": "the PNG ends at its byte 8, inside its header",
                "huge": "more than 67108864 pixels",
                "text": None,
            },
        )
        for query in ("part=2", "part=2&value=9", "part=99", ""):
            status, headers, _ = self.get(f"api/media?number=2&{query}")
            self.assertEqual((status, headers["Content-Type"]), (404, "application/json"))
        for part, reason in (
            (0, "the PNG ends at its byte 8, inside its header"),
            (1, "more than 67108864 pixels"),
        ):
            status, headers, body = self.get(f"api/media?number=2&part={part}")
            self.assertEqual((status, headers["Content-Type"]), (500, "application/json"))
            self.assertEqual(json.loads(body)["error"], reason)

    @needs_images
    @needs_decoder
    def test_pictures_of_a_decoder_are_served(self):
        self.write("a.tfrecord", tfrecord([example(a=QOI)]))
        self.index("-o", "a.rmx", "a.tfrecord")
        self.start("--decoder", DECODER, "a.rmx")
        (row,) = self.ask("rows", first=0, count=1)["rows"]
        self.assertEqual((row["preview"], row["picture"]), ("a: picture 3 x 2", {"part": 0}))
        status, headers, body = self.get("api/media?number=0&part=0")
        self.assertEqual((status, headers["Content-Type"]), (200, "image/png"))
        self.assertEqual(png_size(body), (3, 2, 3))

    @needs_images
    def test_thumbnails_are_served(self):
        """A small file is sent as it is, any other as a PNG that is small enough."""
        large = png(3000, 300) + bytes(100_000)
        padded = picture("rgba.png") + bytes(20_000)
        huge = png(4000, 5000)
        steps = sequence_example({"label": 3}, {"frames": [large, b"x"]})
        self.view(example(a=b"x", b=large), example(b=padded), example(b=huge), steps)
        found = [row.get("picture") for row in self.ask("rows", first=0, count=4)["rows"]]
        self.assertEqual(found, [{"part": 1}, {"part": 0}, {"part": 0}, {"part": 2}])
        for query, size in (
            ("number=0&part=1&side=64", (64, 6, 1)),
            ("number=0&part=1&side=1024", (1024, 102, 1)),
            ("number=1&part=0&side=24", (24, 16, 4)),
            ("number=3&part=2&side=320", (320, 32, 1)),
        ):
            status, headers, body = self.get(f"api/media?{query}")
            self.assertEqual((status, headers["Content-Type"]), (200, "image/png"), query)
            self.assertEqual(png_size(body), size)
        self.assertEqual(self.get("api/media?number=0&part=1")[2], large)
        # A large picture is decoded, and the error says what is wrong with it.
        for query in ("number=2&part=0", "number=2&part=0&side=64"):
            status, _, body = self.get(f"api/media?{query}")
            error = json.loads(body)["error"]
            self.assertEqual(status, 500)
            self.assertIn("the PNG is damaged at row 0 of 5000", error)
        status, _, body = self.get("api/media?number=0&part=1&side=1025")
        self.assertEqual(
            (status, json.loads(body)["error"]), (400, "the field 'side' must be at most 1024")
        )

    def test_markup_in_records_is_text(self):
        texts = [
            "<script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "\x1b[31mred\x07",
            "\u202etxt.exe",
            b"\xff\xfe invalid",
            "\\ \" '",
            "\r\nX-Header: y",
            "\ud7ff\U0010ffff",
        ]
        self.view(
            *(example(**{"<b>": text}) for text in texts),
            *(text if isinstance(text, bytes) else text.encode() for text in texts),
            b"\x0a\xff\xff\xff\xff\xff",
            b"",
        )
        _, _, body = self.get(f"api/rows?first=0&count={2 * len(texts) + 2}")
        for forbidden in (b"<", b">", b"\x1b", b"\x07", "\u202e".encode(), b"\xff"):
            self.assertNotIn(forbidden, body)
        rows = json.loads(body)["rows"]
        shown = [row["preview"] for row in rows]
        self.assertEqual(shown[0], "<b>: " + texts[0])
        self.assertEqual(shown[1], "<b>: " + texts[1])
        self.assertEqual(shown[2], "<b>: 1b 5b 33 31 6d 72 65 64 07")
        self.assertEqual(shown[3], "<b>: \\u202etxt.exe")
        self.assertEqual(shown[5], "<b>: \\ \" '")
        self.assertEqual(shown[6], "<b>: \\r\nX-Header: y")
        self.assertEqual(shown[7], "<b>: \ud7ff\\U0010ffff")
        self.assertEqual(shown[len(texts)], texts[0])
        self.assertEqual(shown[-2:], ["0a ff ff ff ff ff", ""])
        for number in range(len(rows)):
            self.assertNotIn("error", self.ask("record", number=number))

    def test_large_records_are_cut(self):
        names = {f"feature{i:04}": i for i in range(1200)}
        self.view(
            bytes(9 << 20),
            example(**names),
            example(numbers=list(range(5000)), texts=["x" * 50_000] * 30),
        )
        rows = self.ask("rows", first=0, count=3)["rows"]
        self.assertNotIn("preview", rows[0])
        self.assertTrue(rows[1]["preview"].endswith("… (1200 features)"), rows[1])
        answer = self.ask("record", number=0)
        self.assertEqual(answer["bytes"], {"size": 9 << 20, "hex": "00" * 256})
        self.assertEqual(len(self.ask("hex", number=0, first=5000)["hex"]), 2 * 4096)
        answer = self.ask("record", number=1)
        self.assertEqual((len(answer["parts"]), answer["part_count"]), (1000, 1200))
        numbers, texts = self.ask("record", number=2)["parts"]
        self.assertEqual((len(numbers["numbers"]), numbers["count"]), (1000, 5000))
        line = [int(number) for number in numbers["line"]]
        self.assertEqual((len(line), line[0], line[-1]), (120, 0, 4999))
        self.assertEqual(line, sorted(line))
        self.assertEqual((len(texts["bytes"]), texts["count"]), (16, 30))
        self.assertEqual(texts["bytes"][0]["text"], "x" * 20_000 + "…")

    def test_damaged_and_missing_shards(self):
        for name in ("a", "b", "c"):
            self.write(f"{name}.tfrecord", tfrecord([example(label=i) for i in range(3)]))
        self.index("--lift", "label", "-o", "a.rmx", *(f"{name}.tfrecord" for name in "abc"))
        data = bytearray(self.read("a.tfrecord"))
        data[len(data) // 3 + 20] ^= 1
        times = os.stat(self.path("a.tfrecord"))
        self.write("a.tfrecord", bytes(data))
        os.utime(self.path("a.tfrecord"), ns=(times.st_atime_ns, times.st_mtime_ns))
        os.unlink(self.path("b.tfrecord"))
        self.start(count=9)
        rows = self.ask("rows", first=0, count=9)["rows"]
        self.assertEqual([row["values"] for row in rows], [["0"], ["1"], ["2"]] * 3)
        readable = [row["number"] for row in rows if "preview" in row]
        self.assertEqual(readable, [0, 2, 6, 7, 8])
        self.assertIn("data CRC", rows[1]["error"])
        self.assertIn("No such file", rows[3]["error"])
        advice = self.ask("record", number=1)["advice"]
        self.assertRegex(
            advice, "^run `recmap verify a.rmx` to list all damage; to leave bad records"
        )
        record = self.ask("record", number=3)
        self.assertIn("No such file", record["error"])
        self.assertTrue(record["advice"])
        self.assertEqual(record["shard"], "b.tfrecord")
        self.assertEqual(self.get("api/hex?number=3")[0], 500)

    def test_damage_of_the_index(self):
        shard = bytearray(tfrecord([example(label=i) for i in range(9)]))
        shard[len(shard) // 2] ^= 1
        self.write("a<b>.tfrecord", bytes(shard))
        self.run_recmap("index", "--on-bad-record", "skip", "-o", "a.rmx", "a<b>.tfrecord")
        self.start(count=8)
        answer = self.ask("damage")
        (place,) = answer["places"]
        self.assertEqual((answer["count"], place["shard"]), (1, "a<b>.tfrecord"))
        self.assertGreater(place["length"], 0)
        self.assertTrue(place["reason"])

    def test_empty_views_are_served(self):
        self.view()
        self.assertEqual(self.ask("rows", first=0, count=9)["count"], 0)
        self.assertEqual(self.ask("rows", first=0, count=9, seed=1)["count"], 0)
        self.assertEqual(self.ask("rows", first=0, count=9, filter="length > 1")["count"], 0)
        self.assertEqual(self.ask("damage"), {"count": 0, "places": []})


if __name__ == "__main__":
    unittest.main()
