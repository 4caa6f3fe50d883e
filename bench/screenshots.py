"""Takes the pictures of docs/guide/data.md in Chromium: a report, and both forms of recmap view.

usage: screenshots.py RECMAP DIGITS.rmx PHOTOS.tfrecord FOLDER

RECMAP is the command, and PHOTOS.tfrecord is what bench/image/photos.py writes. Needs selenium and
chromedriver.
"""

import base64
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait


def start_browser(profile):
    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-sandbox", "hide-scrollbars", f"user-data-dir={profile}"):
        options.add_argument(f"--{argument}")
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def take_picture(driver, address, path, height, is_ready):
    metrics = {"width": 1000, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.get(address)
    WebDriverWait(driver, 60).until(lambda _: driver.execute_script(f"return {is_ready}"))
    kind = {"format": "jpeg", "quality": 80} if path.endswith(".jpg") else {"format": "png"}
    picture = driver.execute_cdp_cmd("Page.captureScreenshot", kind)
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture["data"]))


@contextlib.contextmanager
def viewer(command, source):
    """The address of a running `recmap view`."""
    server = subprocess.Popen(
        [command, "view", "--no-browser", source], stdout=subprocess.PIPE, text=True
    )
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def take_report(command, driver, index, work, path):
    report = os.path.join(work, "digits.html")
    subprocess.run([command, "report", "--shuffle", index, "-o", report], check=True)
    take_picture(driver, f"file://{report}", path, 1500, "true")


def take_table(command, driver, index, path):
    ready = "document.querySelectorAll('#lines .row .number').length > 20"
    with viewer(command, index) as address:
        take_picture(driver, f"{address}#filter=label == 3", path, 640, ready)


def take_gallery(command, driver, photos, path):
    ready = "[...document.querySelectorAll('#lines img')].filter((i) => i.naturalWidth).length > 9"
    with viewer(command, photos) as address:
        take_picture(driver, f"{address}#show=gallery", path, 420, ready)


def main(command, index, photos, folder):
    with tempfile.TemporaryDirectory() as work:
        driver = start_browser(os.path.join(work, "profile"))
        try:
            take_report(command, driver, index, work, os.path.join(folder, "report.png"))
            take_table(command, driver, index, os.path.join(folder, "view.png"))
            take_gallery(command, driver, photos, os.path.join(folder, "gallery.jpg"))
        finally:
            driver.quit()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
