"""A real browser, for the tests of pages."""

import shutil
import unittest

from support import CliTest

try:
    from selenium import webdriver
    from selenium.common.exceptions import JavascriptException
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = Keys = WebDriverWait = None

# Texts whose colour is too close to their background: 4.5 is the minimum of WCAG.
PALE_TEXTS = """
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const lightness = (color) => parse(color).slice(0, 3).reduce((sum, value, i) => {
  const share = value / 255;
  const linear = share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  return sum + linear * [0.2126, 0.7152, 0.0722][i];
}, 0);
function background(node) {
  for (; node; node = node.parentElement) {
    const color = getComputedStyle(node).backgroundColor;
    if ((parse(color)[3] ?? 1) === 1) return color;
  }
  return "rgb(255, 255, 255)";
}
function contrast(style, node) {
  const light = [lightness(style.color), lightness(background(node))].sort((a, b) => b - a);
  return (light[0] + 0.05) / (light[1] + 0.05);
}
const found = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let count = 0;
while (texts.nextNode()) {
  const node = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || !node.checkVisibility()) continue;
  const ratio = contrast(getComputedStyle(node), node);
  count += 1;
  if (ratio < 4.5) found.add(`${texts.currentNode.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
}
for (const node of document.querySelectorAll("input")) {
  const ratio = contrast(getComputedStyle(node, "::placeholder"), node);
  if (ratio < 4.5) found.add(`placeholder of ${node.id}: ${ratio.toFixed(2)}`);
}
return [count, ...found];
"""


@unittest.skipUnless(webdriver and shutil.which("chromedriver"), "no selenium with Chromium")
class BrowserTest(CliTest):
    """Few tests use a browser, because it takes seconds to start."""

    def setUp(self):
        super().setUp()
        options = webdriver.ChromeOptions()
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--disable-smooth-scrolling",  # a key pressed during a scroll can be lost
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
            try:
                found[:] = [self.run_script(f"return {script}")]
            except JavascriptException as error:  # what it looks at is not there yet
                found[:] = [error.msg]
            return found[0] == expected

        try:
            WebDriverWait(self.driver, 60).until(has_value)
        except Exception:
            self.assertEqual(found[0], expected, script)

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def resize(self, width, height=800):
        """Shows the page as a phone of this width does."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def emulate(self, medium="", scheme="light"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": medium, "features": features}
        )

    def check_width(self, width):
        """Nothing is cut off at the right."""
        needed = self.run_script("return document.documentElement.scrollWidth")
        self.assertLessEqual(needed, width)

    def check_contrast(self):
        """All texts can be read, in daylight and in dark mode."""
        for scheme in ("light", "dark"):
            self.emulate(scheme=scheme)
            count, *pale = self.run_script(PALE_TEXTS)
            self.assertEqual(pale, [], scheme)
            self.assertGreater(count, 10)
        self.emulate()

    def check_printed_colors(self):
        """Printers leave out the background, so the texts of dark mode would be too pale."""
        self.emulate("print", "dark")
        self.wait_for("getComputedStyle(document.body).color", "rgb(0, 0, 0)")
        self.assertEqual(self.run_script(PALE_TEXTS)[1:], [])
