"""recmap get --pixels: what training sees, as Netpbm files."""

import json
import os
import struct
import unittest
import zlib

from support import (
    DECODER,
    QOI,
    QOI_PIXELS,
    ROOT,
    CliTest,
    example,
    needs_decoder,
    needs_images,
    sequence_example,
    tfrecord,
)

PICTURES = os.path.join(ROOT, "tests", "images")
VECTORS = os.path.join(ROOT, "docs", "formats", "vectors", "images.txt")
CROPS = {"none": "none", "center": "center", "resized": "random", "random": "padded"}


def picture(name):
    with open(os.path.join(PICTURES, name), "rb") as file:
        return file.read()


def vectors(kind):
    """The cases of the specification whose names start with `kind`, as dicts."""
    with open(VECTORS, encoding="utf-8") as file:
        for case in file.read().split("\n\n"):
            if case.startswith(f"case {kind}-"):
                yield dict(line.split(" ", 1) for line in case.splitlines())


def read_netpbm(data):
    """(kind, height, width, maximum, pixels) of each file."""
    files = []
    while data:
        kind, size, maximum, data = data.split(b"\n", 3)
        width, height = map(int, size.split())
        depth = 2 if int(maximum) > 255 else 1
        end = height * width * depth * (3 if kind == b"P6" else 1)
        assert len(data) >= end
        files.append((kind.decode(), height, width, int(maximum), data[:end]))
        data = data[end:]
    return files


@needs_images
class Pixels(CliTest):
    def records(self, *records):
        self.write("a.tfrecord", tfrecord(records))
        self.index("-o", "a.rmx", "a.tfrecord")

    def pictures(self, *names):
        self.records(*(example(image=picture(name), label=3) for name in names))

    def pixels(self, *words):
        result = self.run_recmap("get", "a.rmx", *words, "--feature", "image", "--pixels")
        self.assertEqual((result.status, result.err), (0, b""), result)
        return read_netpbm(result.out)

    def check_failure(self, number, what, *options):
        self.check("get", "a.rmx", number, "--feature", "image", "--pixels", *options,
                   status=3, err=f"recmap: a.tfrecord: {what}\n")  # fmt: skip

    def test_vectors_of_the_specification(self):
        """The record's number, the seed and the epoch make the pixels."""
        cases = list(vectors("pixels"))
        self.pictures(*(case["file"] for case in cases))
        options = ("--resize=64", "--padding=4", "--fill=9", "--seed=7", "--epoch=3")
        compared = 0
        for case in cases:
            if case["mode"] == "RGBA":
                continue
            flip = "0.5" if case["crop"] in ("resized", "random") else "0"
            found = self.pixels(
                case["number"], *options, f"--size={case['height']}x{case['width']}",
                f"--crop={CROPS[case['crop']]}", f"--flip={flip}", f"--mode={case['mode']}",
                f"--interpolation={case['interpolation']}",
            )  # fmt: skip
            kind = "P5" if case["mode"] == "L" else "P6"
            ((*shape, pixels),) = found
            self.assertEqual(shape, [kind, int(case["height"]), int(case["width"]), 255], case)
            self.assertEqual(zlib.crc32(pixels), int(case["crc"]), case)
            compared += 1
        self.assertGreater(compared, 100)

    def test_a_padded_crop_is_padded_by_default_as_in_python(self):
        self.pictures("plain-444.jpg")
        crop = ("--size=16", "--crop=padded", "--fill=9", "--seed=3")
        by_default = [self.pixels("0", *crop, f"--epoch={epoch}") for epoch in range(9)]
        for padding in ("0", "4"):
            given = [
                self.pixels("0", *crop, f"--epoch={epoch}", f"--padding={padding}")
                for epoch in range(9)
            ]
            self.assertEqual(given == by_default, padding == "4")

    def test_pictures_are_turned_upright(self):
        for case in vectors("turned"):
            self.pictures(case["file"])
            ((_, height, width, _, pixels),) = self.pixels("0")
            self.assertEqual((height, width), (int(case["height"]), int(case["width"])))
            self.assertEqual(zlib.crc32(pixels), int(case["crc"]))

    def test_draws_depend_on_all_that_is_given(self):
        self.pictures(*["plain-444.jpg"] * 2)
        crop = ("--size=16", "--crop=random", "--flip=0.5")
        base = self.pixels("0", *crop)
        self.assertEqual(self.pixels("0", *crop, "--seed=0", "--epoch=0", "--draw="), base)
        others = [
            ("0", "--seed=1"),
            ("0", "--epoch=1"),
            ("0", "--draw=mask"),
            ("0", "--position=0"),
            ("1",),
            ("0", "--scale=0.5,1"),
            ("0", "--ratio=1,1"),
        ]
        shown = [self.pixels(*words, *crop)[0] for words in others]
        self.assertEqual(len({base[0], *shown}), len(others) + 1)

    def test_a_record_of_a_selection_has_its_own_number(self):
        self.write("a.tfrecord", tfrecord([example(image=picture("rgb.png"), n=i) for i in (0, 1)]))
        self.index("-o", "a.rmx", "--lift", "n", "a.tfrecord")
        self.run_recmap("select", "a.rmx", "--where", "n == 1", "-o", "a.rmv")
        options = ("--feature=image", "--pixels", "--size=16", "--crop=random")
        whole = self.run_recmap("get", "a.rmx", "1", *options).out
        self.check("get", "a.rmv", "0", *options, out=whole)
        self.assertNotEqual(self.run_recmap("get", "a.rmx", "0", *options).out, whole)

    def test_without_pixels_the_file_is_written(self):
        self.pictures("plain-420.jpg")
        self.check("get", "a.rmx", "0", "--feature", "image", out=picture("plain-420.jpg"))

    def test_options_of_an_image(self):
        """EXIF, the filter and the limit, as recmap.Image has them."""
        self.pictures("turned-6.jpg", "plain-444.jpg")
        ((_, *upright, _, turned),) = self.pixels("0")
        ((_, *stored, _, pixels),) = self.pixels("0", "--no-exif")
        self.assertEqual(stored, upright[::-1])
        self.assertNotEqual(pixels, turned)
        small = ("--size=8", "--interpolation=bicubic")
        self.assertNotEqual(self.pixels("1", *small), self.pixels("1", *small, "--no-antialias"))
        self.assertEqual(len(self.pixels("1", "--max-pixels=6144")), 1)
        _, second, *_ = self.read_places()
        self.check_failure(
            "1",
            f"record 1 at byte {second}: feature 'image': the picture has 64 x 96 pixels, more "
            "than the limit of 6143\n  if it is not damaged, raise max_pixels",
            "--max-pixels=6143",
        )
        self.assertEqual(self.pixels("1", "--size=64x96", "--crop=exact"), self.pixels("1"))
        self.check_failure(
            "1",
            f"record 1 at byte {second}: feature 'image': the picture has 64 x 96 pixels, not "
            "96 x 64 as described\n  find out which size is right; an image without the crop "
            '"exact" scales pictures to its size',
            "--size=96x64",
            "--crop=exact",
        )

    def read_places(self):
        """The byte at which each record begins."""
        data, places = self.read("a.tfrecord"), [0]
        while places[-1] < len(data):
            (size,) = struct.unpack_from("<Q", data, places[-1])
            places.append(places[-1] + 16 + size)
        return places

    @needs_decoder
    def test_a_decoder_of_another_format(self):
        self.records(example(image=QOI), example(image=picture("rgb.png")))
        decoder = f"--decoder={DECODER}"
        self.assertEqual(self.pixels("0", decoder), [("P6", 2, 3, 255, QOI_PIXELS)])
        self.assertEqual(self.pixels("1", decoder), self.pixels("1"))
        self.check_failure(
            "0",
            "record 0 at byte 0: feature 'image': the bytes are QOI, not JPEG, PNG or WebP\n"
            "  give the image a decoder of this format, or read the feature as bytes",
        )
        for options, what in (
            ([decoder], "--decoder needs --pixels"),
            (
                ["--pixels", "--decoder=qoi.so"],
                "--decoder must be the path of a shared object (./qoi.so), not 'qoi.so'",
            ),
            (["--pixels", *[decoder] * 17], "--decoder can be given 16 times at most"),
        ):
            self.check_wrong("get", "a.rmx", "0", "--feature", "image", *options, what=what)
        words = ("get", "a.rmx", "0", "--feature=image", "--pixels", "--decoder=./none.so")
        result = self.run_recmap(*words)
        self.assertEqual(result.status, 4)
        self.assertTrue(result.err.startswith(b"recmap: ./none.so: cannot load"), result)

    def test_several_records_and_values(self):
        gray, colour = picture("gray.png"), picture("rgb.png")
        self.records(
            example(image=[gray, colour]), sequence_example({}, {"image": [gray, gray, colour]})
        )
        self.check("get", "a.rmx", "0:2", "--feature=image", "--pixels", "-o", "a.ppm")
        files = read_netpbm(self.read("a.ppm"))
        shapes = [("P6", 32, 48, 255), ("P6", 64, 96, 255)]
        self.assertEqual([file[:4] for file in files], [*shapes, shapes[0], *shapes])
        self.assertEqual(files[2:], [files[0], *files[:2]])

    def test_sixteen_bits(self):
        self.pictures("gray-16.png")
        self.check_failure(
            "0",
            "record 0 at byte 0: feature 'image': the picture is gray with 16 bits, which are not "
            "reduced to 8\n  such values are usually depths or labels: read them as uint16",
        )
        ((*shape, pixels),) = self.pixels("0", "--dtype=uint16", "--mode=L")
        height, width = struct.unpack_from(">2I", picture("gray-16.png"), 16)[::-1]
        self.assertEqual(shape, ["P5", height, width, 65535])
        # Bytes in Netpbm's order, the high one first: neighbours differ little.
        values = struct.unpack(f">{height * width}H", pixels)
        self.assertGreater(max(values), 255)
        self.assertLess(abs(values[1] - values[0]), 4096)

    def test_a_schema_recognises_pictures(self):
        """One picture in each record is an Image, with the most frequent size as a comment."""
        names = ("rgb.png", "plain-420.jpg", "lossy.webp", "gray.png")
        cut = picture("plain-420.jpg")[:10]
        self.records(
            *(
                example(
                    all=picture(names[i % 4]),
                    bits=picture("gray-16.png"),
                    list=[picture("gray.png")] * (1 + i % 2),
                    some=picture("gray.png") if i else b"text",
                    text="text",
                    turned=picture(f"turned-{i + 1}.jpg"),
                    **({"half": cut} if i % 2 else {}),
                )
                for i in range(8)
            )
        )
        self.check(
            "schema", "a.rmx", "--features", "python",
            out="# The features of 8 records.\n"
            "features = {\n"
            '    "all": recmap.Image(),  # mostly (64, 96)\n'
            '    "bits": recmap.Image(mode="L", dtype="uint16"),  # mostly (64, 96)\n'
            '    "half": recmap.VarLen("bytes"),  # in 50.00 %, pictures\n'
            '    "list": recmap.VarLen("bytes"),  # pictures, mostly (32, 48)\n'
            '    "some": recmap.FixedLen((), "bytes"),  # some pictures, mostly (32, 48)\n'
            '    "text": recmap.FixedLen((), "bytes"),\n'
            '    "turned": recmap.Image(),  # mostly (16, 24), 7 turned by EXIF\n'
            "}\n",
        )  # fmt: skip
        tf = self.run_recmap("schema", "a.rmx", "--features", "tf").out.decode()
        self.assertIn(
            '"all": tf.io.FixedLenFeature([], tf.string),  # pictures, mostly (64, 96)', tf
        )
        self.assertIn("tf.string),  # pictures, mostly (16, 24), 7 turned by EXIF", tf)
        c = self.run_recmap("schema", "a.rmx", "--features", "c").out.decode()
        self.assertIn("RECMAP_ELEMENT_BYTES}, /* pictures, mostly (64, 96) */", c)
        table = self.run_recmap("schema", "a.rmx").out.decode().splitlines()
        self.assertRegex(table[1], r" 600\.\.10865 bytes, pictures +all$")
        self.assertRegex(table[5], r" 4\.\.1176 bytes, some pictures +some$")
        self.assertRegex(table[6], r" 4 bytes +text$")
        schema = json.loads(self.run_recmap("schema", "a.rmx", "--json").out)
        found = {key: schema["some"][key] for key in schema["some"] if key.startswith("image")}
        expected = {"image_share": 0.875, "image_height": 32, "image_width": 48, "image_bits": 8}
        expected["image_turned_share"] = 0
        self.assertEqual(found, expected)
        self.assertEqual(schema["bits"]["image_bits"], 16)
        self.assertEqual(schema["turned"]["image_turned_share"], 0.875)
        self.assertNotIn("image_share", schema["text"])

    def test_bad_pictures_are_named(self):
        cut = picture("plain-420.jpg")[:1500]
        first = example(image=picture("gray.png"))
        self.records(
            first,
            example(image=cut),
            example(image=[picture("gray.png"), b"text"]),
            sequence_example({}, {"image": [picture("gray.png"), cut]}),
            example(image=3),
        )
        places = [0]
        for record in (first, example(image=cut)):
            places.append(places[-1] + 16 + len(record))
        self.check_failure(
            "1", f"record 1 at byte {places[1]}: feature 'image': the JPEG ends at row 16 of 64"
        )
        self.check_failure(
            "2",
            f"record 2 at byte {places[2]}: feature 'image', value 1: the bytes are not a JPEG, "
            "PNG or WebP picture\n  if they are raw pixels, read the feature with their dtype and "
            "shape",
            "-o",
            "out.ppm",
        )
        self.assertNotIn("out.ppm", self.files())
        for number, what in (
            ("3", b"feature 'image', step 1: the JPEG ends"),
            ("4", b"feature 'image' has no bytes, and so no pictures\n  leave out --pixels"),
        ):
            words = ("get", "a.rmx", number, "--feature=image", "--pixels", "-o", "out.ppm")
            result = self.run_recmap(*words)
            self.assertEqual(result.status, 3)
            self.assertRegex(result.err, rb"recmap: a.tfrecord: record \d at byte \d+: " + what)

    def test_wrong_usage(self):
        self.pictures("gray.png")
        words = ("a.rmx", "0", "--feature", "image")
        for options, what in (
            (["--size=3"], "--size needs --pixels"),
            (["--epoch=3"], "--epoch needs --pixels"),
            (["--no-exif"], "--no-exif needs --pixels"),
            (["--pixels", "--max-pixels=0"], "--max-pixels must be at least 1"),
            (["--pixels", "--crop=center"], "a crop needs the size of the image"),
            (["--pixels", "--size=0"], "--size must be at least 1"),
            (["--pixels", "--size=0x3"], "--size must be at least 1"),
            (["--pixels", "--size=3xy"], "--size must be a whole number, not 'y'"),
            (["--pixels", "--mode=RGBA"], "invalid --mode 'RGBA': use RGB or L"),
            (["--pixels", "--flip=2"], "invalid probability of a flip: 2 is not 0 to 1"),
            (["--pixels", "--flip=x"], "--flip must be a number from 0 to 1, not 'x'"),
            (["--pixels", "--scale=1"], "--scale must be two numbers, MIN,MAX, not '1'"),
            (["--pixels", "--ratio=1,x"], "--ratio must be two numbers, MIN,MAX, not '1,x'"),
            (
                ["--pixels", "--scale=1,2"],
                "invalid scale 1 to 2: above 0, at most 1, the smaller first",
            ),
            (
                ["--pixels", "--size=64", "--crop=center", "--resize=32"],
                "a central crop of 64 x 64 pixels does not fit in a picture whose shorter side is "
                "scaled to 32",
            ),
            (
                ["--pixels", "--crop=left"],
                "invalid --crop 'left': use none, random, center, padded or exact",
            ),
            (
                ["--pixels", "--format=json"],
                "--feature writes values: it can only have --format raw",
            ),
        ):
            self.check_wrong("get", *words, *options, what=what)
        self.check_wrong(
            "get", "a.rmx", "0", "--pixels",
            what="--pixels needs --feature, the name of the pictures",
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
