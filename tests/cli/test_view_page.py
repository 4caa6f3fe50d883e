"""recmap view: its page in a real browser."""

import shutil
import unittest

from support import example
from test_report import png, wav
from view_server import ViewTest

try:
    from selenium import webdriver
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None


@unittest.skipUnless(webdriver and shutil.which("chromedriver"), "no selenium with Chromium")
class Browser(ViewTest):
    """The page in a real browser. Few tests, because a browser takes seconds to start."""

    def setUp(self):
        super().setUp()
        options = webdriver.ChromeOptions()
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--window-size=1200,800",
            f"--user-data-dir={self.path('profile')}",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options, service)
        self.addCleanup(self.driver.quit)

    def run_script(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait_for(self, script, expected):
        """Waits until a script returns a value."""
        found = []

        def has_value(_):
            found[:] = [self.run_script(f"return {script}")]
            return found[0] == expected

        try:
            WebDriverWait(self.driver, 60).until(has_value)
        except Exception:
            self.assertEqual(found[0], expected, script)

    def wait_for_selected(self, number):
        self.wait_for(
            "document.querySelector('#lines .selected .number')?.textContent", str(number)
        )

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def fill(self, name, text):
        field = self.driver.find_element("id", name)
        field.clear()
        field.send_keys(text, Keys.ENTER)

    def check_log(self):
        """The page broke no policy and threw nothing. The icon that browsers ask for is refused."""
        log = [entry["message"] for entry in self.driver.get_log("browser")]
        self.assertEqual([line for line in log if "/favicon.ico" not in line], [])

    def test_table(self):
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
        # Keys work with the focus on a button, too.
        buttons = self.driver.find_elements("css selector", "#record button")
        next(button for button in buttons if button.text == "Next").click()
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 7}")
        self.press("k")
        self.wait_for("document.querySelector('#record h1')?.textContent", f"Record {count - 17}")
        self.press(Keys.ESCAPE)
        self.wait_for_selected(count - 17)
        self.fill("filter-text", "lable == 3")
        self.wait_for("document.getElementById('status').className", "bad")
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
            # The filter that is wrong.
            self.assertRegex(entry["message"], "/favicon.ico|lable")

    def test_long_search(self):
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

    def test_hostile_records(self):
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
        self.assertEqual(
            self.run_script("return document.querySelectorAll('#lines img').length"), 0
        )
        self.check_log()

    def test_phones_and_dark_mode(self):
        self.view(example(**{"x" * 300: "y" * 3000, "label": 3}), options=["--lift", "label"])
        driver = self.driver
        for width in (360, 1200):
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True},
            )
            for page in ("rows", "record"):
                driver.get("about:blank")
                driver.get(f"{self.url}#page={page}&number=0")
                self.wait_for(f"document.getElementById('{page}').hidden", False)
                self.wait_for_text(page)
                needed = self.run_script("return document.documentElement.scrollWidth")
                self.assertLessEqual(needed, width)
        for scheme, color in (("light", "rgb(27, 31, 36)"), ("dark", "rgb(230, 237, 243)")):
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
            )
            self.wait_for("getComputedStyle(document.body).color", color)
        self.check_log()

    def wait_for_text(self, page):
        self.wait_for(f"document.getElementById('{page}').textContent.includes('yyy')", True)


if __name__ == "__main__":
    unittest.main()
