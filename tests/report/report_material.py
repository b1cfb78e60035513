"""Made-up traces and frames, and a reader of pages: what the tests of reports share."""

from __future__ import annotations

import html.parser
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl

from discreet.privacy.guarantee import Guarantee
from discreet.simulation import Trace

MARKS = np.array([1, 3, 10, 30, 100, 300, 1000, 3000, 10000])
OPEN = Guarantee(epsilon=float("inf")).void("it adds no noise")
VOID = {"meta", "br"}


def trace(learner: str = "BanditLearner (local, epsilon=1)", level: float = 0.5, **changes: Any) -> Trace:
    """Regret that falls like t^(-1/2) from a level, a little different for each seed."""
    seeds = changes.pop("seeds", (0, 1, 2))
    items = changes.pop("items", ("tea", "milk", "sugar"))
    n, count = len(items), len(seeds)
    wobble = 1 + 0.1 * np.arange(count)[:, np.newaxis]
    best = np.tile(-0.8 * MARKS, (count, 1)).astype(float)
    regret = wobble * level * np.sqrt(MARKS)
    kept = {
        "environment": "town",
        "learner": learner,
        "items": items,
        "cost_range": (-1.0, 1.0),
        "seeds": tuple(seeds),
        "checkpoints": MARKS,
        "cost": best + regret,
        "best": best,
        "best_lower_bound": best,
        "final_points": np.full((count, n), 0.75),
        "best_sets": np.tile([1.0] + [0.0] * (n - 1), (count, 1)),
        "guarantee": Guarantee(epsilon=1.0),
        "about": "A made-up town.",
        "parameters": {"size": 3},
        "arguments": {"epsilon": 1.0},
    }
    return Trace(**(kept | changes))


def references() -> list[Trace]:
    """A random set and an empty one, whose regret does not fall."""
    made = []
    for learner, point in (("RandomSet", 0.5), ("FixedSet", 0.0)):
        flat = trace(learner, guarantee=Guarantee(epsilon=0.0), final_points=np.full((3, 3), point))
        cost = flat.best + 0.6 * MARKS * (1 + 0.1 * np.arange(3)[:, np.newaxis])
        made.append(trace(learner, guarantee=flat.guarantee, final_points=flat.final_points, cost=cost))
    return made


def sweep_rows(
    learner: str = "BanditLearner",
    *,
    environment: str = "town",
    n: int = 4,
    epsilon: float | None = 1.0,
    rounds: int = 1000,
    level: float = 1.0,
    seeds: int = 3,
    private: bool = True,
    bound: float | None = None,
) -> list[dict[str, Any]]:
    """The rows of one configuration."""
    rows = []
    for seed in range(seeds):
        for mark in (1, 10, 100, rounds):
            regret = level * (1 + 0.1 * seed) * mark**0.5
            rows.append(
                {
                    "environment": environment,
                    "learner": learner,
                    "n": n,
                    "epsilon": epsilon,
                    "rounds": rounds,
                    "seed": seed,
                    "round": mark,
                    "cost": regret - mark,
                    "best": -float(mark),
                    "best_lower_bound": -float(mark),
                    "regret": regret,
                    "bound": None if bound is None else bound * mark**0.5,
                    "would_be_private": private,
                }
            )
    return rows


def frame(*parts: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([row for part in parts for row in part], infer_schema_length=None)


class Page(html.parser.HTMLParser):
    """A page taken apart; complains if a tag is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.raw = text
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.legend: list[str] = []
        self._open: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, dict(attrs).get("class") or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"closed but never opened: {tag}"
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        inside = [tag for tag, _ in self._open]
        if "style" not in inside:
            self.text += data
        if ("ul", "legend") in self._open and inside[-1] == "span":
            self.legend.append(data)

    @property
    def svgs(self) -> list[ElementTree.Element]:
        """The figures, as strict XML."""
        return [ElementTree.fromstring(part) for part in re.findall(r"<svg .*?</svg>", self.raw, re.DOTALL)]

    @property
    def figure_text(self) -> str:
        """All text inside figures."""
        return "\n".join("".join(node.itertext()) for svg in self.svgs for node in svg.iter())


def check_page(text: str) -> Page:
    """What holds for every page: well-formed, self-contained, what refers to an id finds just one.

    matplotlib numbers the groups of each figure anew, and nothing refers to these.
    """
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    page = Page(text)
    without = re.sub(r'xmlns(:xlink)?="http://www.w3.org/[^"]*"', "", text)
    assert "http://" not in without
    assert "https://" not in without
    names = [tag for tag, _ in page.tags]
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(names)
    assert names.count("h1") == names.count("title")
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    for _, attrs in page.tags:
        assert "src" not in attrs
        assert not any(name.startswith("on") for name in attrs)
        links = [attrs[name] or "" for name in ("href", "xlink:href") if name in attrs]
        assert all(link.startswith("#") for link in links)
        targets = [link.removeprefix("#") for link in links]
        targets += re.findall(r"url\(#([^)]*)\)", " ".join(value or "" for value in attrs.values()))
        targets += (attrs.get("aria-labelledby") or "").split()
        assert [ids.count(target) for target in targets] == [1] * len(targets)
    for svg in page.svgs:
        assert svg.get("viewBox")
    around = [attrs for tag, attrs in page.tags if tag == "span" and {"role", "aria-hidden"} & attrs.keys()]
    assert len(around) == len(page.svgs)
    assert all(bool(attrs.get("aria-label")) != ("aria-hidden" in attrs) for attrs in around)
    return page
