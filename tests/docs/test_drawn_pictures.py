"""The picture of a chain in docs/concepts.md shows what the code does."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from code_blocks import ROOT
from discreet import lovasz

SVG = "{http://www.w3.org/2000/svg}"


def drawn(name: str) -> ET.Element:
    return ET.fromstring((ROOT / "docs" / "pictures" / f"{name}.svg").read_text())


def texts(picture: ET.Element) -> list[str]:
    return ["".join(element.itertext()) for element in picture.iter(f"{SVG}text")]


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
