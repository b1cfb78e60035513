"""The parts of a page: elements, files, the style sheet."""

from __future__ import annotations

import os
import pathlib
import re
from importlib import resources

import pytest

from discreet.atomic_files import write_atomically
from discreet.report.html import Html, element, joined


def test_text_is_escaped_and_markup_is_not() -> None:
    """In children and in attributes."""
    assert element("p", "<&>", Html("<b>x</b>"), title='"') == '<p title="&quot;">&lt;&amp;&gt;<b>x</b></p>'
    assert joined("<", element("i", "y")) == "&lt;<i>y</i>"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_cannot_be_finished_leaves_the_old_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: type[BaseException]
) -> None:
    """A full disk or Ctrl-C at any point: nothing half-written, nothing left over."""

    def fail(*_: object) -> None:
        raise error

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(error):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_has_the_permissions_of_any_file(tmp_path: pathlib.Path) -> None:
    """It is to be read by others; one that replaces another keeps that one's permissions."""
    plain = tmp_path / "plain"
    plain.touch()
    path = tmp_path / "report.html"
    write_atomically(path, b"new")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o600)
    write_atomically(path, b"newer")
    assert path.stat().st_mode & 0o777 == 0o600


def test_colours_can_be_seen_on_their_background() -> None:
    """Lines have a contrast of at least 3 to 1, text of at least 4.5, in light and in dark."""
    style = resources.files("discreet.report").joinpath("style.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in style.split("@media")[:2])
    assert light.keys() == dark.keys()
    for colours in (light, dark):
        for name, colour in colours.items():
            least = {"s": 3.0, "i": 4.5, "m": 4.5}.get(name[0])
            assert least is None or contrast(colour, colours["paper"]) >= least
        assert contrast(colours["good"], colours["good-box"]) >= 4.5
        assert contrast(colours["bad"], colours["bad-box"]) >= 4.5


def contrast(first: str, second: str) -> float:
    """As the web's accessibility guidelines define it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dim = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)
