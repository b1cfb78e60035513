"""The dashboard for everybody: keyboard, screen readers, small screens, dark rooms, paper."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from live_service import LiveService
from visits import Visit, expect

import discreet

#: Finds the faults of a page; hidden parts do not count.
_FAULTS = """() => {
    const faults = [];
    const seen = (node) => node.checkVisibility() && !node.closest("[aria-hidden=true]");
    const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
    const words = (id) => document.getElementById(id)?.textContent;
    const named = (node) => node.getAttribute("aria-label") || words(node.getAttribute("aria-labelledby"));
    for (const field of all("input, select, textarea"))
        if (!field.labels.length) faults.push(`no label: ${field.id}`);
    for (const node of all("a, button")) if (!node.textContent.trim()) faults.push(`no words: ${node.id}`);
    for (const node of all("svg:not([role=img], svg svg)")) faults.push(`no role: ${node.outerHTML}`);
    for (const node of all("[role=img], [role=meter], [role=region], nav, section, article"))
        if (!named(node)) faults.push(`no name: ${node.tagName} ${node.id}`);
    for (const table of all("table")) {
        if (!table.caption?.textContent.trim()) faults.push(`no caption: ${table.id}`);
        if (table.querySelector("th:not([scope])")) faults.push(`no scope: ${table.id}`);
    }
    const levels = all("h1, h2, h3, h4").map((node) => Number(node.tagName[1]));
    if (levels[0] !== 1 || levels.filter((level) => level === 1).length !== 1) faults.push("not one h1");
    if (levels.some((level, k) => k && level > levels[k - 1] + 1)) faults.push(`skipped a level: ${levels}`);
    for (const mark of ["header", "nav", "main", "footer"]) if (all(mark).length !== 1) faults.push(mark);
    const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
    if (new Set(ids).size !== ids.length) faults.push("an id twice");
    if (document.documentElement.lang !== "en" || !document.title) faults.push("no language or title");
    return faults;
}"""
_TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
_BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="session")
def learner(service: LiveService) -> str:
    """A learner with long names and a ledger."""
    service.call("PUT", "/v1/populations/everybody", {"limit": 100})
    names = ["tea", "x" * 150, "a name of many words " * 5]
    holdout = {"set": names, "share": 0.2}
    service.create("access", names, population="everybody", holdout=holdout)
    service.play("access", "tea", 300)
    return "access"


def views(visit: Visit, learner: str) -> Iterator[tuple[str, Any]]:
    """Each kind of page in turn, with all its parts open."""
    page = visit.go()
    expect(page.get_by_role("heading", name="Key needed")).to_be_visible()
    yield "key", page
    visit.enter(key=visit._service.admin)
    expect(page.get_by_role("link", name=learner, exact=True)).to_be_visible()
    yield "list", page
    page.get_by_role("link", name=learner, exact=True).click()
    expect(page.get_by_role("heading", name=learner, exact=True)).to_be_visible()
    for summary in page.locator("#view-learner summary").all():
        summary.click()
    yield "learner", page
    page.get_by_role("link", name="Populations").click()
    expect(page.get_by_role("heading", name="Populations")).to_be_focused()
    yield "populations", page


def test_everything_has_a_name_and_a_place(visit: Visit, learner: str) -> None:
    """Fields are labelled, headings in order, charts and tables described, landmarks there."""
    for name, page in views(visit, learner):
        assert (name, page.evaluate(_FAULTS)) == (name, [])


def test_the_keyboard_is_enough(visit: Visit, learner: str) -> None:
    """From the skip link through the key to the learner, with a visible focus; headings take the focus."""
    page = visit.go()
    expect(page.get_by_label("API key")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.insert_text(visit._service.reader)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Learners")).to_be_focused()
    link = page.get_by_role("link", name=learner, exact=True)
    for _ in range(40):
        page.keyboard.press("Tab")
        if link.evaluate("(node) => node === document.activeElement"):
            break
    assert link.evaluate("(node) => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=learner, exact=True)).to_be_focused()
    expect(page).to_have_title(f"{learner} - discreet")


def test_updates_keep_focus_and_selection(visit: Visit, learner: str) -> None:
    """The focus stays, what was opened stays open, and only changes of state are announced."""
    page = visit.enter()
    link = page.get_by_role("link", name=learner, exact=True)
    link.focus()
    before = page.locator("#updated").inner_text()
    expect(page.locator("#updated")).not_to_have_text(before)
    expect(link).to_be_focused()
    link.press("Enter")
    page.get_by_text("Means as a table").click()
    before = page.locator("#updated").inner_text()
    expect(page.locator("#updated")).not_to_have_text(before)
    expect(page.locator("#means")).to_be_visible()
    assert page.locator("[aria-live]").count() == 1
    expect(page.get_by_role("status")).to_be_empty()


def test_a_phone_needs_no_sideways_scrolling(browser: Any, service: LiveService, learner: str) -> None:
    """At 320 pixels, with names that are long."""
    visit = Visit(browser, service, viewport={"width": 320, "height": 640})
    for name, page in views(visit, learner):
        assert (name, page.evaluate(_TOO_WIDE)) == (name, False)
    visit.end()


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(15, 20, 25)")])
def test_light_and_dark(browser: Any, service: LiveService, learner: str, scheme: str, paper: str) -> None:
    """The page follows the system, and is light on paper."""
    visit = Visit(browser, service, color_scheme=scheme, reduced_motion="reduce")
    page = visit.enter(f"#/learner/{learner}")
    expect(page.locator("#mean-chart svg").first).to_be_visible()
    assert page.evaluate(_BACKGROUND) == paper
    assert (
        page.locator(".level").first.evaluate("(node) => getComputedStyle(node).transitionDuration") == "0s"
    )
    page.emulate_media(media="print")
    assert page.evaluate(_BACKGROUND) == "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Forget key")).to_be_hidden()
    visit.end()


def palettes(name: str) -> list[dict[str, str]]:
    style = pathlib.Path(discreet.__file__).parent.joinpath(name).read_text(encoding="utf-8")
    return [dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in style.split("@media")[:2]]


def test_colours_have_contrast() -> None:
    """Text has a contrast of at least 4.5 to 1, lines and borders of 3."""
    for ours in palettes("base.css"):
        for text in ("ink", "muted", "s0"):
            assert contrast(ours[text], ours["paper"]) >= 4.5
            assert contrast(ours[text], ours["box"]) >= 4.5
        assert contrast(ours["bad"], ours["bad-box"]) >= 4.5
        assert contrast(ours["s1"], ours["paper"]) >= 3


def contrast(first: str, second: str) -> float:
    """As the web's accessibility guidelines define it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
