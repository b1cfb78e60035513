"""What learners released since the start, and what learning earns, as the dashboard shows it."""

from __future__ import annotations

from typing import Any

import pytest
from live_service import LiveService
from visits import Visit, expect, fact, row

MINUTE = 60_000


def rows(page: Any, table: str) -> list[list[str]]:
    found: list[list[str]] = page.locator(f"#{table} tbody").evaluate(
        "(body) => [...body.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def moment(at: int, rounds: int, mean: float, level: float, held: int = 0) -> dict[str, Any]:
    held_mean = 0.25 if held else None
    return {
        "at": at,
        "rounds": rounds,
        "mean": mean,
        "held_rounds": held,
        "held_mean": held_mean,
        "point": [level, 0.5],
    }


def test_a_central_learner_is_seen_since_the_start(visit: Visit, service: LiveService) -> None:
    """Means of what was released, the levels of its items, and what learning earns, as the API gives them."""
    holdout = {"set": ["milk"], "share": 0.2}
    service.create(
        "shop",
        ["tea", "milk"],
        mode="central",
        method="model",
        deadline_seconds=1,
        maximize=True,
        holdout=holdout,
    )
    page = visit.enter("#/learner/shop")
    expect(page.get_by_text("Nothing has been released yet")).to_be_visible()
    expect(page.locator("#uplift-text")).to_contain_text("There is nothing to compare yet")
    expect(page.get_by_text("exact sums are kept sealed until they are released with noise")).to_be_visible()
    held: dict[str, Any] = {"uplift": None}
    for _ in range(40):  # until both kinds of rounds have been released
        service.play("shop", "tea", 100)
        page.wait_for_timeout(500)
        held = service.call("GET", "/v1/learners/shop")["holdout"]
        if held["uplift"] is not None and held["low"] > 0:
            break
    page.wait_for_timeout(3000)  # until no phase is left to close
    held = service.call("GET", "/v1/learners/shop")["holdout"]
    expect(page.locator("#uplift-text")).to_contain_text("per round than always showing milk (95%: ")
    expect(page.locator("#uplift-text")).to_contain_text("Learned sets earn ")
    while page.locator("#uplift-rounds").inner_text().partition(" ")[0] != str(held["rounds"]):
        page.wait_for_timeout(100)  # until what was queued is applied, and shown
        held = service.call("GET", "/v1/learners/shop")["holdout"]
    text = page.locator("#uplift-text").inner_text()
    assert f"earn {held['uplift']:.2g} more" in text
    assert f"{held['low']:.2g} to {held['high']:.2g}" in text
    expect(page.get_by_role("img", name=text)).to_be_visible()
    page.get_by_text("Means as a table").click()
    shown = rows(page, "means")
    for kind, count, mean in (
        ("learned", held["learned_rounds"], held["learned_mean"]),
        ("held out", held["rounds"], held["mean"]),
    ):
        mine = [(float(value), int(n.replace(",", ""))) for _, what, value, n in shown if what == kind]
        assert sum(n for _, n in mine) == count
        assert sum(value * n for value, n in mine) / count == pytest.approx(mean, abs=2e-3)
    expect(page.locator("#mean-chart .line")).to_have_count(2)
    expect(page.locator("#mean-chart .band")).to_have_count(0)  # how many sums there were is not shown
    expect(page.locator("#multiples figcaption")).to_have_text(["tea", "milk"])
    expect(page.locator("#multiples .line")).to_have_count(2)


def test_means_between_moments_follow_from_totals(visit: Visit, service: LiveService) -> None:
    """Four days of moments: each period has the mean of what was released in it, and levels are steps."""
    service.create("days", ["tea", "milk"])
    page = visit.go()
    real = service.call("GET", "/v1/learners/days")
    start = real["created_at"] - 4 * 1440 * MINUTE
    history = [
        moment(start + 1440 * MINUTE, 100, 0.8, 0.25),
        moment(start + 2880 * MINUTE, 300, 0.6, 1.0),
        moment(start + 4200 * MINUTE, 400, 0.5, 0.75),
    ]
    days = real | {"created_at": start, "rounds": 400, "mean": 0.5, "point": [0.75, 0.5]}
    page.route("**/v1/learners/days", lambda route: route.fulfill(json=days))
    page.route("**/v1/learners/days/history", lambda route: route.fulfill(json={"history": history}))
    visit.enter("#/learner/days")
    page.get_by_text("Means as a table").click()
    error = 1.96 * real["noise_variance"] ** 0.5
    means = [(mean.split(" ± "), count) for _, _, mean, count in rows(page, "means")]
    assert [(float(value), int(count)) for (value, _), count in means] == [
        (pytest.approx(value), count) for value, count in ((0.2, 100), (0.5, 200), (0.8, 100))
    ]
    for (_, margin), count in means:
        assert float(margin) == pytest.approx(error / int(count) ** 0.5, rel=0.05)
    expect(page.locator("#mean-chart .band")).to_have_count(1)
    expect(page.get_by_text("computed only from the bits (post-processing)")).to_be_visible()
    points = page.locator("#multiples .line").first.get_attribute("points").split()
    heights = [float(point.partition(",")[2]) for point in points]
    levels = (0.25, 0.25, 1.0, 1.0, 0.75, 0.75)
    wanted = [(1.05 - level) / 1.1 * 72 for level in levels]  # 1.05 is at the top, -0.05 at the bottom
    assert heights[:6] == pytest.approx(wanted, abs=0.1)
    described = "Level of tea since the start: 0.25 at first, now 0.75."
    expect(page.get_by_role("img", name=described)).to_be_visible()


@pytest.mark.parametrize(
    ("maximize", "uplift", "words"),
    [
        (False, (0.05, 0.12, 0.19), "cost 0.12 less per round than always showing tea (95%: 0.05 to 0.19)."),
        (True, (0.05, 0.12, 0.19), "earn 0.12 more per round than always showing tea (95%: 0.05 to 0.19)."),
        (True, (-0.3, -0.2, -0.1), "earn 0.2 less per round than always showing tea (95%: 0.1 to 0.3)."),
        (
            False,
            (-0.02, 0.01, 0.04),
            (
                "cost 0.01 less per round than always showing tea (95%: 0.02 more to 0.04 less). "
                "The difference may still be chance."
            ),
        ),
    ],
)
def test_what_learning_earns_is_said_in_words(
    visit: Visit, service: LiveService, maximize: bool, uplift: tuple[float, float, float], words: str
) -> None:
    """More or less, of costs or rewards, and whether it may be chance."""
    name = f"words{maximize}{uplift[0]}"
    service.create(name, ["tea", "milk"], maximize=maximize, holdout={"set": ["tea"], "share": 0.1})
    real = service.call("GET", f"/v1/learners/{name}")
    low, middle, high = uplift
    held = {"rounds": 10, "mean": 0.5, "learned_rounds": 90, "learned_mean": 0.4}
    known = real["holdout"] | held | {"low": low, "uplift": middle, "high": high}
    page = visit.go()
    page.route(f"**/v1/learners/{name}", lambda route: route.fulfill(json=real | {"holdout": known}))
    visit.enter(f"#/learner/{name}")
    expect(page.locator("#uplift-text")).to_have_text(f"Learned sets {words}")
    expect(page.locator("#uplift-rounds")).to_contain_text("10 rounds were held out (a share of 10%)")


def test_items_that_came_later_and_those_that_are_retired(visit: Visit, service: LiveService) -> None:
    """A level is drawn from when its item was there; retired items are named, and have no level."""
    service.create("offer", ["tea", "milk"], mode="central", method="model")
    service.call("POST", "/v1/learners/offer/items", {"add": ["soy"], "retire": ["milk"]})
    real = service.call("GET", "/v1/learners/offer")
    early, late = (moment(real["created_at"] + k * MINUTE, k, 0.25, 0.75) for k in (1, 2))
    known = {"history": [early, late | {"point": [0.75, 0.0, 0.25]}]}
    page = visit.go()
    page.route("**/v1/learners/offer", lambda route: route.fulfill(json=real | {"point": [0.75, 0.0, 0.25]}))
    page.route("**/v1/learners/offer/history*", lambda route: route.fulfill(json=known))
    visit.enter("#/learner/offer")
    expect(fact(page, "Retired items")).to_have_text("milk")
    assert [cells[0] for cells in rows(page, "levels")] == ["tea", "soy"]
    expect(page.locator("#multiples figcaption")).to_have_text(["tea", "soy"])
    expect(
        page.get_by_role("img", name="Level of soy since the start: 0.25 at first, now 0.25.")
    ).to_be_visible()


def test_many_learners_are_turned_and_searched(visit: Visit, service: LiveService) -> None:
    """Pages by the name that the API gives; a search begins at the first page."""
    service.create("search-me", 2)
    real = service.call("GET", "/v1/learners/search-me")

    def answer(route: Any) -> None:
        url = route.request.url
        if "after=search-me" in url:
            route.fulfill(json={"learners": [real | {"name": "search-next"}]})
        else:
            route.fulfill(json={"learners": [real], "next": "search-me"})

    page = visit.go()
    page.route("**/v1/learners?*", answer)
    visit.enter()
    expect(row(page, "list", "search-me")).to_be_visible()
    expect(page.get_by_role("button", name="First page")).to_be_hidden()
    page.get_by_role("button", name="Next page").click()
    expect(row(page, "list", "search-next")).to_be_visible()
    expect(page.get_by_role("button", name="Next page")).to_be_hidden()
    page.get_by_role("button", name="First page").click()
    expect(row(page, "list", "search-me")).to_be_visible()
    page.unroute("**/v1/learners?*")
    page.get_by_label("Search by name").fill("search-m")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    page.get_by_label("Search by name").fill("nobody is called this")
    expect(page.get_by_text("No learner's name contains this.")).to_be_visible()
    expect(page.get_by_label("Search by name")).to_be_focused()


def test_a_key_for_other_learners_sees_a_message(visit: Visit, service: LiveService) -> None:
    """It is not locked out; and a ledger that it may not see is left out."""
    visit.failures_expected = True
    service.call("PUT", "/v1/populations/hidden", {"limit": None})
    service.create("limited", 2, population="hidden")
    page = visit.go()
    forbidden = {"error": {"code": "forbidden", "message": "This key is limited."}}
    page.route("**/v1/populations/hidden", lambda route: route.fulfill(status=403, json=forbidden))
    visit.enter("#/learner/limited")
    expect(fact(page, "Epoch")).to_be_visible()
    expect(page.locator("#ledger")).to_be_hidden()
    page.route("**/v1/learners/limited", lambda route: route.fulfill(status=403, json=forbidden))
    expect(page.get_by_role("heading", name="Not for this key")).to_be_visible()
    page.route("**/v1/populations", lambda route: route.fulfill(status=403, json=forbidden))
    page.get_by_role("link", name="Populations").click()
    expect(page.get_by_role("heading", name="Not for this key")).to_be_focused()
    page.get_by_role("link", name="All learners").click()
    expect(row(page, "list", "limited")).to_be_visible()
