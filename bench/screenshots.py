"""Takes the pictures of docs/guide/data.md in Chromium: a report, and the table of recmap view.

usage: screenshots.py RECMAP DIGITS.rmx FOLDER     RECMAP: the command; needs selenium, chromedriver
"""

import base64
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
    picture = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture["data"]))


def main(command, index, folder):
    with tempfile.TemporaryDirectory() as work:
        report = os.path.join(work, "digits.html")
        subprocess.run([command, "report", "--shuffle", index, "-o", report], check=True)
        server = subprocess.Popen(
            [command, "view", "--no-browser", index], stdout=subprocess.PIPE, text=True
        )
        driver = start_browser(os.path.join(work, "profile"))
        try:
            place = os.path.join(folder, "report.png")
            take_picture(driver, f"file://{report}", place, 1500, "true")
            address = f"{server.stdout.readline().strip()}#filter=label == 3"
            ready = "document.querySelectorAll('#lines .row .number').length > 20"
            take_picture(driver, address, os.path.join(folder, "view.png"), 640, ready)
        finally:
            driver.quit()
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
