"""The dashboard in a real browser: what it shows, and what it does when things go wrong."""

from __future__ import annotations

import time
from typing import Any

import pytest
from live_service import LiveService
from visits import Visit, expect, fact, row


def bar_width(page: Any, item: str) -> float:
    return float(row(page, "levels", item).locator(".level").get_attribute("width").removesuffix("%"))


def test_a_key_is_asked_for_and_kept_in_the_tab(visit: Visit, service: LiveService) -> None:
    """It survives a reload, can be forgotten, and never stands in an address."""
    service.create("kept", 3)
    page = visit.enter()
    expect(page.get_by_role("link", name="kept", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="kept", exact=True)).to_be_visible()
    assert page.evaluate("() => [localStorage.length, document.cookie]") == [0, ""]
    page.get_by_role("button", name="Forget key").click()
    expect(page.get_by_label("API key")).to_be_empty()
    expect(page.get_by_role("heading", name="Key needed")).to_be_focused()
    assert page.evaluate("() => sessionStorage.length") == 0
    assert page.locator("#list tbody tr").count() == 0


def test_a_wrong_key_gets_a_message(visit: Visit) -> None:
    """Also one that does not look like a key, which is not sent."""
    visit.failures_expected = True
    page = visit.enter(key="discreet_0123456789abcdef_" + "0" * 64)
    expect(page.get_by_role("alert")).to_contain_text("does not know this key")
    expect(page.get_by_label("API key")).to_be_focused()
    asked = len(visit.addresses)
    page.get_by_label("API key").fill("schlüssel ☃")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This is not a key")
    assert len(visit.addresses) == asked


def test_a_revoked_key_locks_the_page(visit: Visit, service: LiveService) -> None:
    """At the next update, without anything left on the screen."""
    visit.failures_expected = True
    service.create("revoking", 3)
    made = service.call("POST", "/v1/keys", {"role": "read"})
    page = visit.enter("#/learner/revoking", made["key"])
    expect(page.get_by_role("heading", name="revoking")).to_be_visible()
    service.call("DELETE", f"/v1/keys/{made['id']}")
    expect(page.get_by_role("alert")).to_contain_text("revoked")
    expect(page.locator("#view-learner")).to_be_hidden()
    assert page.locator("#levels tbody tr").count() == 0


def test_the_list_shows_each_learner(visit: Visit, service: LiveService) -> None:
    """Name, kind, status, rounds, epsilon and open decisions, as the API gives them."""
    service.create("listed", ["tea", "milk"], epsilon=1.5)
    for _ in range(3):
        service.play("listed", "tea", 400)
    service.call("POST", "/v1/learners/listed/ask", {"count": 3})
    page = visit.enter()
    expect(row(page, "list", "listed").locator("td")).to_have_text(["bandit", "active", "1,200", "1.5", "3"])
    service.call("POST", "/v1/learners/listed/archive")
    expect(row(page, "list", "listed").locator("td").nth(1)).to_have_text("archived")


def test_an_empty_list_says_who_creates_learners(visit: Visit) -> None:
    """There is nothing to search."""
    page = visit.go()
    page.route("**/v1/learners?*", lambda route: route.fulfill(json={"learners": []}))
    visit.enter()
    expect(page.get_by_text("Whoever has an admin key creates them")).to_be_visible()
    expect(page.get_by_label("Search by name")).to_be_hidden()


def test_nothing_is_changed(visit: Visit, service: LiveService) -> None:
    """Not by an admin key either: all requests read."""
    service.create("looked-at", 2)
    methods: list[str] = []
    visit.page.on("request", lambda request: methods.append(request.method))
    page = visit.enter("#/learner/looked-at", service.admin)
    expect(page.get_by_role("heading", name="looked-at")).to_be_visible()
    page.get_by_role("link", name="Populations").click()
    expect(page.get_by_role("heading", name="Populations")).to_be_focused()
    expect(page.locator("main").get_by_role("button").locator("visible=true")).to_have_count(0)
    assert set(methods) == {"GET"}


def test_a_narrow_list_is_whole(browser: Any, service: LiveService) -> None:
    """At 380 pixels all columns are visible; on narrower screens a shadow shows that there is more."""
    visit = Visit(browser, service, viewport={"width": 380, "height": 640})
    service.create("narrow", 2)
    shown = service.call("GET", "/v1/learners/narrow") | {"rounds": 123456, "epsilon": 0.25}
    plan = shown | {"name": "opening-hours", "feedback": "full_information", "status": "archived"}
    page = visit.go()
    page.route("**/v1/learners?*", lambda route: route.fulfill(json={"learners": [shown, plan]}))
    visit.enter()
    expect(row(page, "list", "narrow")).to_be_visible()
    wide, seen = page.locator("#list-box").evaluate("(box) => [box.scrollWidth, box.clientWidth]")
    assert wide <= seen
    shadow = page.locator("#list-box").evaluate("(box) => getComputedStyle(box).backgroundImage")
    assert "linear-gradient" in shadow
    visit.end()


def test_a_learner_is_seen_learning(visit: Visit, service: LiveService) -> None:
    """The good item's bar grows by itself, and all figures are those of the API."""
    service.call("PUT", "/v1/populations/guests", {"limit": 9})
    service.create("menu", ["soup", "salad", "stew"], maximize=True, population="guests")
    page = visit.enter("#/learner/menu")
    expect(row(page, "levels", "salad").locator("td").first).to_have_text("0.500")
    expect(page.get_by_text("Nothing has been released yet")).to_be_visible()
    expect(page.get_by_text("This is not measured")).to_be_visible()
    assert bar_width(page, "salad") == 50
    for _ in range(10):
        service.play("menu", "salad", 200)
    service.call("POST", "/v1/learners/menu/ask", {"count": 4})
    expect(fact(page, "Rounds learned from")).to_have_text("2,000")
    expect(fact(page, "Pending decisions")).to_have_text("4")
    shown = service.call("GET", "/v1/learners/menu")
    levels = page.locator("#levels tbody td.number").all_text_contents()
    assert levels == [f"{level:.3f}" for level in shown["point"]]
    assert bar_width(page, "salad") > 75  # 300 of 300 runs had 100
    assert float(fact(page, "Mean reward, noisy").inner_text().split(" ± ")[0]) == pytest.approx(
        shown["mean"], abs=5e-4
    )
    expect(page.locator("#guarantee")).to_have_text(
        service.call("GET", "/v1/learners/menu/guarantee")["text"]
    )
    error = 1.96 * (shown["noise_variance"] / 2000) ** 0.5
    margin = fact(page, "Mean reward, noisy").inner_text().split(" ± ")[1]
    assert float(margin) == pytest.approx(error, rel=0.1)
    expect(page.get_by_role("heading", name="Reward since the start")).to_be_visible()
    assert [fact(page, term).inner_text() for term in ("Mode", "Method", "Deadline")] == [
        "local",
        "worst-case",
        "7 days",
    ]
    expect(page.locator("#best li")).to_have_text(shown["best"])
    expect(page.locator("#ledger")).to_contain_text("epsilon = 2 in total. The limit is 9.")
    expect(page.get_by_text("not hidden", exact=True)).to_be_visible()


def test_whole_functions_have_no_mean(visit: Visit, service: LiveService) -> None:
    """The page shows what was released, and why there is no more."""
    service.create("plan", ["a", "b"], feedback="full_information", method="blocks", deadline_seconds=1)
    asked = service.call("POST", "/v1/learners/plan/ask", {"count": 100})["decisions"]
    function = {"kind": "Modular", "weights": [0.5, 0.1]}
    service.call(
        "POST", "/v1/learners/plan/tell", [{"decision": each["id"], "function": function} for each in asked]
    )
    page = visit.enter("#/learner/plan")
    expect(page.get_by_text("There is no mean to show")).to_be_visible()
    expect(page.locator("#mean-chart")).to_be_hidden()
    shown = service.call("GET", "/v1/learners/plan")
    while shown["rounds"] < 99 or fact(page, "Rounds learned from").inner_text() != str(shown["rounds"]):
        page.wait_for_timeout(100)  # until what was queued is applied, and shown
        shown = service.call("GET", "/v1/learners/plan")
    assert 0 < shown["releases"] < shown["rounds"] <= 100
    expect(fact(page, "Blocks released")).to_have_text(str(shown["releases"]))


def test_of_many_items_the_highest_are_shown_first(visit: Visit, service: LiveService) -> None:
    """Eight of them, in their order, with their past; more on wish."""
    service.create("large", 40)
    service.play("large", "39", 50)
    while (large := service.call("GET", "/v1/learners/large"))["rounds"] < 50:
        time.sleep(0.05)
    order = sorted(range(40), key=lambda k: (-large["point"][k], k))
    page = visit.enter("#/learner/large")
    for shown in (8, 32, 40):
        expect(page.locator("#levels tbody th")).to_have_text([str(k) for k in sorted(order[:shown])])
        if shown < 40:
            page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_names_are_shown_as_text(visit: Visit, service: LiveService) -> None:
    """Markup in the names of items is not markup on the page."""
    names = ["<img src=x onerror=window.hacked=1>", "</table><script>window.hacked=1</script>", "&amp;"]
    service.create("markup", names)
    service.call("POST", "/v1/learners/markup/ask", {"count": 20})
    page = visit.enter("#/learner/markup")
    expect(page.locator("#levels tbody th")).to_have_text(names)
    assert page.evaluate("() => document.querySelectorAll('img, main script').length") == 0
    assert page.evaluate("() => window.hacked") is None


def test_unknown_learners_get_a_message(visit: Visit, service: LiveService) -> None:
    """Whatever stands in the address; from there the list can be reached."""
    visit.failures_expected = True
    service.create("known", 2)
    page = visit.enter()
    for place in ("nobody", "..%2Fkeys", "%", "<b>x</b>"):
        page.evaluate("(place) => { location.hash = `#/learner/${place}`; }", place)
        expect(page.get_by_role("heading", name="No such learner")).to_be_focused()
        page.get_by_role("link", name="All learners").click()
        expect(page.get_by_role("link", name="known", exact=True)).to_be_visible()


def test_it_survives_a_restart_of_the_server(visit: Visit, service: LiveService) -> None:
    """It says that the connection is lost, and reconnects without being reloaded."""
    visit.failures_expected = True
    service.create("restarted", ["tea", "milk"])
    service.play("restarted", "tea", 100)
    page = visit.enter("#/learner/restarted")
    expect(fact(page, "Rounds learned from")).to_have_text("100")
    page.evaluate("() => { window.stayed = true; }")
    service.stop()
    expect(page.get_by_role("status")).to_have_text("Connection lost, trying again.")
    expect(fact(page, "Rounds learned from")).to_have_text("100")
    service.start()
    service.play("restarted", "tea", 100)
    expect(fact(page, "Rounds learned from")).to_have_text("200", timeout=20_000)
    expect(page.get_by_role("status")).not_to_contain_text("lost")
    assert page.evaluate("() => window.stayed")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "Too many requests with this key"),
        (503, "cannot answer now, trying again. Come back later."),
        (403, "no role that allows reading learners"),
    ],
)
def test_errors_get_a_message(visit: Visit, status: int, words: str) -> None:
    """Too many requests, a server that cannot, and a key that may not."""
    visit.failures_expected = True
    page = visit.go()
    error_for = {"error": {"code": "some", "message": "Come back later."}}
    page.route(
        "**/v1/learners?*",
        lambda route: route.fulfill(status=status, headers={"retry-after": "1"}, json=error_for),
    )
    visit.enter()
    expect(page.locator("#banner, #key-problem").filter(has_text=words)).to_be_visible()
    if status != 403:
        page.unroute("**/v1/learners?*")
        expect(page.get_by_role("heading", name="Learners")).to_be_visible()
        expect(page.get_by_role("status")).not_to_contain_text("trying")


def test_a_hidden_tab_sends_no_requests(visit: Visit) -> None:
    """It asks for nothing until it is seen again."""
    page = visit.enter()
    expect(page.get_by_role("heading", name="Learners")).to_be_visible()
    page.evaluate(
        """() => {
            Object.defineProperty(document, "hidden", { get: () => window.away, configurable: true });
            window.away = true;
            document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    asked = len(visit.addresses)
    page.wait_for_timeout(2500)
    assert len(visit.addresses) == asked
    with page.expect_request("**/v1/learners?*"):
        page.evaluate("() => { window.away = false; document.dispatchEvent(new Event('visibilitychange')); }")
