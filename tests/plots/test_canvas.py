"""Figures on paper: panels, and files that are the same for the same numbers."""

import pathlib

import pytest
from matplotlib.axes import Axes

from discreet.errors import InvalidArgument
from discreet.plots.canvas import KINDS, drawing, figure_of, new_panels, picture, save

pytestmark = pytest.mark.seconds


def two_panels(height: float = 3.0) -> Axes:
    with drawing():
        first, second = new_panels(1, 2, (6.0, height), sharey=True)
        first.plot([1, 2, 3], label="one")
        second.fill_between([1, 2, 3], [1, 2, 1], [2, 3, 2])
        first.legend()
    return first


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_numbers_give_the_same_file(kind: str, tmp_path: pathlib.Path) -> None:
    """Byte for byte, without the time; and another figure gives another file."""
    save(two_panels(), tmp_path / f"a.{kind}")
    save(two_panels(), tmp_path / f"b.{kind}")
    save(two_panels(height=3.5), tmp_path / f"c.{kind.upper()}")
    first, again, other = (path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert first == again != other
    assert b"date" not in first.lower()


def test_the_text_of_an_svg_is_paths_or_text() -> None:
    """Paths look alike everywhere, text can be searched and takes the font of a page."""
    figure = figure_of(two_panels())
    assert b"<text" not in picture(figure, "svg")
    assert b">one</text>" in picture(figure, "svg", {"svg.fonttype": "none"})


def test_other_endings_are_refused(tmp_path: pathlib.Path) -> None:
    """Before anything is written; no ending means SVG."""
    with pytest.raises(InvalidArgument, match="svg, png or pdf"):
        save(two_panels(), tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []
    save(two_panels(), tmp_path / "a")
    assert b"<svg" in (tmp_path / "a").read_bytes()
