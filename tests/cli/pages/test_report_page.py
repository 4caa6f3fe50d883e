"""recmap report: its page in a real browser, on phones, in dark mode and on paper."""

import base64
import re
import unittest

from pages.browser import BrowserTest
from pages.test_report import ReportTest, png, wav
from support import example, tfrecord


class ReportPage(BrowserTest):
    def setUp(self):
        super().setUp()
        records = [
            example(
                **{"x" * 150: "y" * 3000},
                label=i % 10,
                score=i / 7,
                picture=png(500, 30),
                sound=wav(b"\x80" * 800),
                numbers=list(range(10**12, 10**12 + 60)),
            )
            for i in range(100)
        ]
        data = bytearray(tfrecord(records))
        data[len(data) // 2] ^= 1
        self.write("a.tfrecord", data)
        self.index(
            "--on-bad-record", "skip", "--lift", "label", "-o", "a.rmx", "a.tfrecord",
            err="recmap: 1 damaged place skipped, 4574 bytes; 'recmap info a.rmx' lists them\n",
        )  # fmt: skip
        self.check(
            "report", "a.rmx", "--shuffle", "-o", "a.html",
            err="recmap: a.html: report of 99 records\n",
        )  # fmt: skip
        self.driver.get(f"file://{self.path('a.html')}")

    def test_phones_and_dark_mode(self):
        for width in (360, 390, 1200):
            self.resize(width)
            self.check_width(width)
        self.check_contrast()
        # Tables that do not fit scroll by themselves. The table of sizes fits.
        self.resize(390)
        hidden = "const box = document.querySelector('#sizes .wide');"
        self.assertLessEqual(
            self.run_script(f"{hidden} return box.scrollWidth - box.clientWidth"), 0
        )
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_a_printed_page_is_complete(self):
        """Nothing is folded or cut off, and what cannot be used on paper is left out."""
        self.check_printed_colors()
        height = "document.documentElement.scrollHeight"
        unfolded = self.run_script(f"return {height}")
        self.run_script("document.querySelectorAll('details').forEach((part) => part.open = false)")
        self.assertEqual(self.run_script(f"return {height}"), unfolded)
        players = "[...document.querySelectorAll('audio')]"
        self.assertGreater(self.run_script(f"return {players}.length"), 0)
        shown = f"{players}.filter((player) => player.checkVisibility()).length"
        self.assertEqual(self.run_script(f"return {shown}"), 0)
        self.emulate()
        printed = self.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
        pages = re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed))
        self.assertGreater(len(pages), 3)


class Samples(BrowserTest, ReportTest):
    """Sample records, which may be hostile."""

    def test_markup_in_samples_is_text(self):
        script = "<script>document.title = 'changed'</script>"
        handler = '"><img src=x onerror="document.title = \'changed\'">'
        shown = example(
            picture=png(40, 30),
            sound=wav(b"\x80" * 800),
            text="x" * 3000,
            pixels=bytes(64),
            shape=[8, 8],
            numbers=list(range(100)),
        )
        self.report(shown, *(example(**{text: text}) for text in (script, handler)))
        driver = self.driver
        driver.get("file://" + self.path("a.html"))
        self.assertEqual(driver.title, "a.rmx")
        widths = driver.execute_script(
            "return [...document.images].map(image => image.naturalWidth)"
        )
        self.assertEqual(set(widths), {8, 40})
        sounds = driver.execute_script(
            "return [...document.querySelectorAll('audio')].map(sound => sound.error)"
        )
        self.assertEqual(set(sounds), {None})
        for width in (360, 1200):
            self.resize(width)
            self.check_width(width)
        color = "getComputedStyle(document.body).color"
        for scheme, expected in (("light", "rgb(27, 31, 36)"), ("dark", "rgb(230, 237, 243)")):
            self.emulate(scheme=scheme)
            self.wait_for(color, expected)
        self.emulate("print")
        self.wait_for(color, "rgb(0, 0, 0)")


if __name__ == "__main__":
    unittest.main()
