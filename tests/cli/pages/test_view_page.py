"""recmap view: its page in a real browser."""

import base64
import re
import unittest

from pages.browser import BrowserTest, Keys
from pages.test_report import picture, png, wav
from pages.view_server import ViewTest
from support import example, needs_images, tfrecord


class Browser(BrowserTest, ViewTest):
    """The page in a real browser."""

    def wait_for_selected(self, number):
        self.wait_for(
            "document.querySelector('#lines .selected .number')?.textContent", str(number)
        )

    def fill(self, name, text):
        field = self.driver.find_element("id", name)
        field.clear()
        field.send_keys(text, Keys.ENTER)

    def check_log(self):
        """The page broke no policy and threw nothing. The icon that browsers ask for is refused."""
        log = [entry["message"] for entry in self.driver.get_log("browser")]
        self.assertEqual([line for line in log if "/favicon.ico" not in line], [])

    def test_the_table_loads_rows_as_it_scrolls(self):
        count = 3_000
        records = [example(id=f"id-{i}", label=i % 10) for i in range(count)]
        self.view(*records, options=["--id", "id", "--lift", "label"])
        self.driver.get(self.url)
        self.wait_for_selected(0)
        self.wait_for("document.getElementById('title').textContent", "a.rmx")
        self.press("j", "j", "j", "k")
        self.wait_for_selected(2)
        self.press(Keys.END)
        self.wait_for_selected(count - 1)
        self.press(Keys.HOME)
        self.wait_for_selected(0)
        self.press("g")
        self.press("1234", Keys.ENTER)
        self.wait_for_selected(1234)
        self.run_script("document.getElementById('find-kind').value = 'id'")
        self.fill("find-text", "id-2718")
        self.wait_for_selected(2718)
        address = self.driver.current_url
        self.press("/")
        self.press("label == 3", Keys.ENTER)
        self.wait_for_selected(3)
        self.wait_for("document.getElementById('status').textContent", "300 records match")
        self.press(Keys.END)
        self.wait_for_selected(count - 7)
        self.press(Keys.ENTER)
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 7}")
        self.press("k")
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 17}")
        record = self.driver.current_url
        # Keys also work with the focus on a button.
        buttons = self.driver.find_elements("css selector", "#record button")
        next(button for button in buttons if button.text == "Next").click()
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 7}")
        self.press("k")
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 17}")
        self.press(Keys.ESCAPE)
        self.wait_for_selected(count - 17)
        self.check_a_typo()
        # Addresses can be opened again.
        self.driver.get("about:blank")
        self.driver.get(address)
        self.wait_for_selected(2718)
        self.driver.get("about:blank")
        self.driver.get(record)
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 17}")
        self.assertEqual(
            self.run_script("return document.getElementById('filter-text').value"), "label == 3"
        )
        self.press("j")
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 7}")
        for entry in self.driver.get_log("browser"):
            # The filter and the number that are wrong.
            self.assertRegex(entry["message"], "/favicon.ico|lable|99999")

    def check_a_typo(self):
        """It can be corrected at once, and the message names the column."""
        self.fill("filter-text", "lable == 3")
        self.wait_for("document.getElementById('status').className", "bad")
        status = "document.getElementById('status').textContent"
        self.assertIn("no column 'lable'", self.run_script(f"return {status}"))
        self.assertIn("did you mean 'label'", self.run_script(f"return {status}"))
        self.wait_for("document.activeElement.id", "filter-text")
        field = self.driver.find_element("id", "filter-text")
        self.assertEqual(field.get_attribute("value"), "lable == 3")
        self.assertEqual(field.get_attribute("aria-invalid"), "true")
        self.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.press(Keys.DELETE, Keys.DELETE, Keys.DELETE, "bel", Keys.ENTER)
        self.wait_for(status, "300 records match")
        self.assertEqual(field.get_attribute("value"), "label == 3")
        self.assertIsNone(field.get_attribute("aria-invalid"))
        self.assertNotEqual(self.run_script("return document.activeElement.id"), "filter-text")
        self.fill("find-text", "99999")
        self.wait_for("document.getElementById('status').className", "bad")
        self.wait_for("document.activeElement.id", "find-text")

    def test_matches_appear_while_the_search_runs(self):
        """Matches are shown while the filter is compared with the other records."""
        count = 3_000_000
        self.write("a.txt", b"a\nbb\nccc\n" * (count // 3))
        self.index("--framing", "lines", "-o", "a.rmx", "a.txt")
        self.start(count=count)
        self.driver.get(self.url)
        self.wait_for_selected(0)
        self.run_script(
            "window.said = [];"
            "new MutationObserver(() => said.push(document.getElementById('status').textContent))"
            ".observe(document.getElementById('status'), { childList: true });"
        )
        self.fill("filter-text", "length == 3")
        # Another filter ends the search.
        self.fill("filter-text", "length == 2 or length == 77")
        self.wait_for("document.getElementById('status').textContent", "1,000,000 records match")
        self.wait_for_selected(1)
        progress = self.run_script("return said.filter((text) => text.includes('%'))")
        self.assertTrue(progress)
        for text in progress:
            self.assertRegex(text, r"^searching… \d+ %, [\d,]+ found$")
        self.press(Keys.END)
        self.wait_for_selected(count - 2)
        self.check_log()

    def test_orders_and_scrolling(self):
        count = 2_000
        self.view(*(example(label=i) for i in range(count)))
        order = self.run_recmap("order", "a.rmx", "--shuffle", "--seed=7", "--epoch=2").out.split()
        self.driver.get(f"{self.url}#seed=7&epoch=2&row=99")
        self.wait_for_selected(int(order[99]))
        self.run_script("document.getElementById('find-kind').value = 'row'")
        self.fill("find-text", "1500")
        self.wait_for_selected(int(order[1500]))
        self.run_script(
            "const kind = document.getElementById('order-kind'); kind.value = 'stored';"
            "kind.dispatchEvent(new Event('change'))"
        )
        self.wait_for_selected(0)
        first = "Number(document.querySelector('#lines .number').textContent)"
        self.run_script(
            "document.getElementById('lines').dispatchEvent("
            "new WheelEvent('wheel', {deltaY: 2800, cancelable: true}))"
        )
        self.wait_for(first, 100)
        self.run_script(
            "const track = document.getElementById('track'), box = track.getBoundingClientRect();"
            "track.setPointerCapture = () => {};"
            "track.dispatchEvent(new PointerEvent('pointerdown',"
            "{buttons: 1, clientX: box.left + 5, clientY: box.bottom}))"
        )
        self.wait_for(
            "document.getElementById('lines').lastChild.firstChild.textContent", str(count - 1)
        )
        self.check_log()

    def test_seeds_and_epochs_of_64_bits(self):
        self.view(*(example(label=i) for i in range(200)))
        status = "document.getElementById('status').textContent"
        for seed, epoch in ((2**64 - 1, 2**64 - 2), (2**53 + 1, 10**15)):
            words = (f"--seed={seed}", f"--epoch={epoch}")
            order = self.run_recmap("order", "a.rmx", "--shuffle", *words).out.split()
            self.driver.get("about:blank")
            self.driver.get(f"{self.url}#seed={seed}&epoch={epoch}&row=99")
            self.wait_for_selected(int(order[99]))
            self.assertTrue(self.driver.current_url.endswith(f"&seed={seed}&epoch={epoch}"))
            self.fill("seed", "7")
            order = self.run_recmap("order", "a.rmx", "--shuffle", "--seed=7", words[1]).out.split()
            self.wait_for_selected(int(order[0]))
        limits = f"seed and epoch are whole numbers up to {2**64 - 1}"
        self.fill("seed", str(2**64))
        self.wait_for(status, limits)
        for fields in (f"seed={2**64}", "seed=x&epoch=1", "seed=1&epoch=-1", "seed="):
            self.driver.get("about:blank")
            self.driver.get(f"{self.url}#{fields}&row=5")
            self.wait_for(status, f"the order of the address is not shown: {limits}")
            self.wait_for_selected(5)
        self.check_log()

    @needs_images
    def test_markup_in_records_is_not_run(self):
        change = "document.title = 'changed'"
        texts = (f"<script>{change}</script>", f'"><img src=x onerror="{change}">')
        shown = example(
            picture=png(40, 30),
            sound=wav(b"\x80" * 800),
            broken=png(9, 9)[:40],
            pixels=bytes(64),
            shape=[8, 8],
            numbers=list(range(100)),
        )
        self.view(shown, *(example(**{text: text}) for text in texts), *map(str.encode, texts))
        driver = self.driver
        driver.get(f"{self.url}#page=record&number=0")
        pictures = "[...document.images].map(image => image.naturalWidth).sort()"
        self.wait_for(pictures, [40, 8])
        self.wait_for("document.querySelector('audio').error", None)
        self.wait_for("document.querySelectorAll('svg').length", 1)
        self.wait_for("document.body.textContent.includes('PNG that cannot be decoded')", True)
        driver.find_element("id", "show-bytes").click()
        self.wait_for("document.querySelectorAll('pre.hex').length > 0", True)
        for number, text in enumerate(texts * 2, 1):
            driver.get(f"{self.url}#page=record&number={number}")
            self.wait_for("document.querySelector('#record h1').textContent", f"Record {number}")
            found = "[...document.querySelectorAll('#record pre')].map(pre => pre.textContent)"
            self.wait_for(found, [text])
            self.assertEqual(self.run_script("return document.images.length"), 0)
        driver.get(f"{self.url}#page=rows&row=1")
        self.wait_for_selected(1)
        self.assertEqual(driver.title, "a.rmx - recmap view")
        # The first picture of record 0 is damaged.
        self.wait_for("document.querySelector('#lines .bad').textContent", "not shown ")
        self.wait_for("document.querySelectorAll('#lines img').length", 0)
        self.check_log()

    @needs_images
    def test_pictures_in_the_table_and_in_the_gallery(self):
        names = ("rgb.png", "plain-420.jpg", "lossy.webp", "gray-16.png")
        records = [example(image=picture(names[i % 4]), label=i % 7) for i in range(100)]
        records[2] = example(label=2)
        records[3] = example(image=png(5000, 5000))
        self.view(*records, options=["--lift", "label=-1"])
        self.driver.get(self.url)
        self.wait_for_selected(0)
        shown = "[...document.querySelectorAll('#lines img')].slice(0, 2).map(i => i.naturalWidth)"
        self.wait_for(shown, [96, 96])
        button = self.driver.find_element("id", "gallery-button")
        self.assertEqual(button.text, "Gallery")
        button.click()
        self.wait_for("document.querySelectorAll('#lines .card').length > 10", True)
        self.wait_for(shown, [96, 96])
        cards = "[...document.querySelectorAll('#lines .card')].slice(0, 4).map(c => c.textContent)"
        self.wait_for(cards, ["0 0", "1 1", "label: 22 2", "not shown 3 -1"])
        # Arrows move in both directions, by keys and by the wheel, and cards open records.
        columns = self.run_script(
            "const tops = [...document.querySelectorAll('.card')].map((card) => card.offsetTop);"
            "return tops.filter((top) => top === tops[0]).length"
        )
        self.assertGreater(columns, 3)
        self.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        self.wait_for_selected(1 + columns)
        self.press(Keys.END)
        self.wait_for_selected(99)
        self.assertIn("show=gallery", self.driver.current_url)
        self.press(Keys.ENTER)
        self.wait_for("document.querySelector('#record h1')?.textContent", "Record 99")
        self.press(Keys.ESCAPE)
        self.wait_for_selected(99)
        address = self.driver.current_url
        self.driver.get("about:blank")
        self.driver.get(address)
        self.wait_for("document.querySelectorAll('#lines .card').length > 3", True)
        self.wait_for_selected(99)
        self.press("v")
        self.wait_for("document.querySelectorAll('#lines .card').length", 0)
        self.wait_for_selected(99)
        self.driver.get(f"{self.url}#page=record&number=3")
        self.wait_for(
            "document.body.textContent.includes('PNG that cannot be decoded: the PNG')", True
        )

    def test_the_gallery_on_phones_and_in_dark_mode(self):
        self.view(*(example(image=picture("rgb.png"), label=i) for i in range(20)))
        self.driver.get(f"{self.url}#page=rows&show=gallery")
        self.wait_for("document.querySelectorAll('#lines .card').length > 10", True)
        self.check_contrast()
        self.resize(360)
        self.wait_for("document.querySelectorAll('#lines .card').length < 10", True)
        self.check_width(360)

    def test_phones_and_dark_mode(self):
        self.view(example(**{"x" * 300: "y" * 3000, "label": 3}), options=["--lift", "label"])
        for width in (360, 1200):
            self.resize(width)
            for page in ("rows", "record"):
                self.show(page)
                self.check_width(width)
        for page in ("rows", "record"):
            self.show(page)
            self.check_contrast()
        for scheme, color in (("light", "rgb(27, 31, 36)"), ("dark", "rgb(230, 237, 243)")):
            self.emulate(scheme=scheme)
            self.wait_for("getComputedStyle(document.body).color", color)
        self.check_log()

    def test_numbers_of_damage_stay_in_one_line(self):
        """Numbers stay in one line, also on a phone."""
        records = [example(text="t" * 4000) for _ in range(300)]
        data = bytearray(tfrecord(records))
        data[1_100_000] ^= 1
        self.write("a.tfrecord", data)
        self.index(
            "--on-bad-record", "skip", "-o", "a.rmx", "a.tfrecord",
            err="recmap: 1 damaged place skipped, 4037 bytes; 'recmap info a.rmx' lists them\n",
        )  # fmt: skip
        self.start(count=299)
        self.resize(360)
        self.driver.get(f"{self.url}#page=damage")
        self.wait_for("document.querySelectorAll('#damage td').length", 5)
        cells = "[...document.querySelectorAll('#damage td.whole')]"
        heights = f"{cells}.filter((cell) => {{ const range = document.createRange();"
        heights += "range.selectNodeContents(cell); return range.getClientRects().length > 1 })"
        self.assertEqual(self.run_script(f"return {heights}.length"), 0)
        self.check_width(360)
        self.check_contrast()

    def test_keys_scroll_a_long_record(self):
        """Keys scroll a record that is longer than the window."""
        self.view(*(example(**{f"x{i:03}": [i] * 9 for i in range(100)}) for _ in range(3)))
        self.driver.get(self.url)
        self.wait_for_selected(0)
        self.press(Keys.ENTER)
        self.wait_for("document.querySelector('#record h1')?.textContent", "Record 0")
        place = "document.getElementById('record').scrollTop"
        for key in (Keys.PAGE_DOWN, Keys.ARROW_DOWN, Keys.SPACE):
            before = self.run_script(f"return {place}")
            self.press(key)
            self.wait_for(f"{place} > {before}", True)
        self.press(Keys.END)
        self.wait_for(
            f"{place} + document.getElementById('record').clientHeight >= "
            "document.getElementById('record').scrollHeight - 1",
            True,
        )
        self.press("j")
        self.wait_for("document.querySelector('#record h1')?.textContent", "Record 1")
        self.wait_for(place, 0)
        self.press(Keys.ESCAPE)
        self.wait_for_selected(1)

    def test_the_tabulator_key_visits_all_controls(self):
        """The tabulator key visits everything that can be used, in the order of the page."""
        self.view(example(sound=wav(b"\x80" * 800)), example(label=1))
        self.driver.get(f"{self.url}#page=record&number=0")
        self.wait_for("document.activeElement.id", "record")
        visited = []
        for _ in range(4):
            self.press(Keys.TAB)
            visited.append(self.run_script("return document.activeElement.textContent"))
        self.assertEqual(visited, ["← Table", "Previous", "Next", ""])
        self.assertEqual(self.run_script("return document.activeElement.tagName"), "AUDIO")
        self.press(Keys.SHIFT, Keys.TAB)
        self.driver.get("about:blank")
        self.driver.get(self.url)
        self.wait_for_selected(0)
        visited = []
        for _ in range(8):
            self.press(Keys.TAB)
            visited.append(
                self.run_script(
                    "const { id, textContent } = document.activeElement; return id || textContent"
                )
            )
        expected = ["find-kind", "find-text", "Go", "filter-text", "Apply", "order-kind"]
        self.assertEqual(visited, [*expected, "help-button", "grid"])

    def nodes(self):
        """What Chromium tells screen readers: (role, name, properties) of each node."""
        tree = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [
            (
                node["role"]["value"],
                node.get("name", {}).get("value", ""),
                {item["name"]: item["value"].get("value") for item in node.get("properties", [])},
            )
            for node in tree
            if not node["ignored"]
        ]

    def active(self):
        """The text of the cell that screen readers read, and the index of its row."""
        return self.run_script(
            "const { activeElement } = document;"
            "const id = activeElement.getAttribute('aria-activedescendant');"
            "const cell = id && document.getElementById(id);"
            "return cell && [cell.textContent, cell.parentNode.getAttribute('aria-rowindex'),"
            " cell.parentNode.getAttribute('aria-selected')]"
        )

    def test_the_table_tells_its_number_of_rows(self):
        """The table is a grid that tells how many rows there are, although few are in the page."""
        count = 2_000
        self.view(*(example(label=i % 7) for i in range(count)), options=["--lift", "label"])
        self.driver.get(self.url)
        self.wait_for_selected(0)
        self.wait_for("document.querySelectorAll('#lines .selected > *').length", 4)
        roles = [role for role, _, _ in self.nodes()]
        self.assertEqual(roles.count("grid"), 1)
        self.assertEqual(roles.count("columnheader"), 4)
        rows = self.run_script("return document.getElementById('lines').children.length")
        self.assertEqual(roles.count("row"), rows + 1)
        self.assertEqual(roles.count("gridcell"), 4 * rows)
        counted = self.run_script("return document.querySelector('[role=grid]').ariaRowCount")
        self.assertEqual(counted, str(count + 1))
        for _ in range(8):
            self.press(Keys.TAB)
        self.assertEqual(self.active(), ["0", "2", "true"])
        self.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertEqual(self.active(), ["2", "4", "true"])  # the label
        self.press(Keys.END)
        self.wait_for("document.getElementById('active').textContent", str((count - 1) % 7))
        self.assertEqual(self.active()[1], str(count + 1))
        self.press(*[Keys.ARROW_LEFT] * 5)
        self.assertEqual(self.active()[0], str(count - 1))
        self.press(Keys.ENTER)
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 1}")
        self.press(Keys.ESCAPE)
        self.wait_for("document.activeElement.id", "grid")
        self.assertEqual(self.active()[0], str(count - 1))
        self.press("/")
        self.press("label == 3 and length < 0", Keys.ENTER)
        self.wait_for("document.getElementById('grid').ariaRowCount", "1")
        self.assertIsNone(self.active())
        self.check_log()

    def test_a_printed_record_is_complete(self):
        """A printed record is complete and dark on white, without what could be clicked."""
        self.view(example(sound=wav(b"\x80" * 800), **{f"x{i:03}": [i] * 9 for i in range(100)}))
        for page in ("rows", "record"):
            self.show(page, "x0")
            self.check_printed_colors()
            clickable = "form, button, audio, #track"
            shown = (
                f"[...document.querySelectorAll('{clickable}')].filter(n => n.checkVisibility())"
            )
            self.assertEqual(self.run_script(f"return {shown}.length"), 0)
            self.emulate()
        printed = self.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
        pages = re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed))
        self.assertGreater(len(pages), 2)

    def show(self, page, text="yyy"):
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}#page={page}&number=0")
        self.wait_for(f"document.getElementById('{page}').hidden", False)
        self.wait_for(f"document.getElementById('{page}').textContent.includes('{text}')", True)


if __name__ == "__main__":
    unittest.main()
