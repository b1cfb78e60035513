"""The drawn pictures of docs/concepts.md show what the page says and what the code does."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from code_blocks import ROOT
from discreet import lovasz

PAGE = (ROOT / "docs" / "concepts.md").read_text()
SVG = "{http://www.w3.org/2000/svg}"


def drawn(name: str) -> ET.Element:
    return ET.fromstring((ROOT / "docs" / "pictures" / f"{name}.svg").read_text())


def texts(picture: ET.Element) -> list[str]:
    return ["".join(element.itertext()) for element in picture.iter(f"{SVG}text")]


def section(name: str) -> str:
    """The part of the page in which a picture stands."""
    (found,) = (part for part in PAGE.split("\n## ") if f"(pictures/{name}.svg)" in part)
    return found


@pytest.mark.parametrize("name", ["round", "chain"])
def test_a_picture_has_the_title_of_its_section(name: str) -> None:
    """Both are read by those who cannot see it, so it has a description, too."""
    picture = drawn(name)
    assert picture.findtext(f"{SVG}title") == section(name).splitlines()[0]
    assert picture.findtext(f"{SVG}desc")


def test_the_round_names_what_the_page_names() -> None:
    """Its boxes and arrows, in the order of the steps."""
    shown = " ".join(texts(drawn("round")))
    steps = section("round").split("\n\n", 1)[1]
    words = ("ask", "set", "cost", "tell", "one random bit", "gradient")
    for text in (shown, steps):
        places = [re.search(rf"\b{word}\b", text) for word in words]
        assert all(places), text
        starts = [place.start() for place in places if place]
        assert starts == sorted(starts)
    assert "point" in shown
    assert "noisy sum" in shown


def test_the_chain_is_that_of_its_levels() -> None:
    """Bars are as high as their numbers, the sets and their chances are those of the extension's chain."""
    picture = drawn("chain")
    shown = texts(picture)
    items = shown[:8:2]
    levels = np.array([float(text) for text in shown[1:8:2]])
    bars = [bar for bar in picture.iter(f"{SVG}rect") if bar.get("class") in ("bar", "in")]
    heights = np.array([float(bar.get("height", "0")) for bar in bars])
    unit = heights.sum() / levels.sum()
    np.testing.assert_allclose(heights, levels * unit, atol=1)
    threshold = float(re.findall(r"threshold (\S+)", " ".join(shown))[0])
    (line,) = (line for line in picture.iter(f"{SVG}line") if line.get("class") == "line")
    assert 200 - float(line.get("y1", "0")) == pytest.approx(threshold * unit, abs=2)
    chosen = lovasz.level_set(levels, threshold)
    assert {k for k, bar in enumerate(bars) if bar.get("class") == "in"} == chosen
    rows = [re.fullmatch(r"\{([^}]*)\}(.*?)\s+([\d.]+)", text) for text in shown if text.startswith("{")]
    chain = lovasz.chain(levels)
    for row, expected, weight in zip(rows, chain.sets, chain.weights, strict=True):
        assert row is not None
        assert set(re.findall(r"\w+", row[1])) == {items[k] for k in expected}
        assert float(row[3]) == pytest.approx(weight)
        assert (row[2].strip() == "chosen") == (expected == chosen)
