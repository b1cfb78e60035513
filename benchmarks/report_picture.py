"""The picture of the README: what was earned, from the demo's report, with its legend, as a browser shows it.

``python -m benchmarks.report_picture REPORT PICTURE`` needs Chromium.
"""

import io
import os
import pathlib
import sys

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from benchmarks import chromium
from discreet.atomic_files import write_atomically

#: A window as narrow as the picture is shown, so that its letters are as large as those beside it.
WIDTH, SCALE, COLOURS = 450, 1.5, 64


def take(browser: Browser, report: str | os.PathLike[str], picture: str | os.PathLike[str]) -> None:
    """Write the second figure of a page, that of costs or rewards, to a PNG, without its caption."""
    size = ViewportSize(width=WIDTH, height=900)
    page = browser.new_page(viewport=size, device_scale_factor=SCALE, color_scheme="light")
    page.goto(pathlib.Path(report).resolve().as_uri())
    page.add_style_tag(content="figcaption { display: none }")
    shown = Image.open(io.BytesIO(page.locator("figure").nth(1).screenshot()))
    page.close()
    file = io.BytesIO()
    shown.convert("RGB").quantize(COLOURS).save(file, "PNG", optimize=True)
    write_atomically(picture, file.getvalue())


def main() -> int:
    """From the report to the picture."""
    report, picture = sys.argv[1:]
    program = chromium.program()
    if program is None:
        print(f"no Chromium is installed: {picture} stays as it is", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(chromium.FLAGS))
        take(browser, report, picture)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
