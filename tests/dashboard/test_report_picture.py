"""The picture of the README can be made again; it is here because it needs the browser."""

import pathlib
from typing import Any

from PIL import Image

from benchmarks import report_picture

REPORT = """<!doctype html>
<style>figure { margin: 0; background: #0072b2 } figcaption { height: 40px }</style>
<figure>Another</figure>
<figure><svg viewBox="0 0 60 30" width="100%"></svg><figcaption>Words</figcaption></figure>
"""


def test_the_second_figure_is_taken_without_its_caption(browser: Any, tmp_path: pathlib.Path) -> None:
    """Half as high as wide, as the drawing; of the figure's colour."""
    (tmp_path / "report.html").write_text(REPORT)
    report_picture.take(browser, tmp_path / "report.html", tmp_path / "figure.png")
    with Image.open(tmp_path / "figure.png") as taken:
        assert abs(taken.width - 2 * taken.height) <= 24  # a line's descent below the drawing
        assert taken.convert("RGB").getpixel((10, 10)) == (0, 0x72, 0xB2)
