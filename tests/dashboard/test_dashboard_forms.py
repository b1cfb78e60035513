"""What admins do on the dashboard: create and end learners, set limits."""

from __future__ import annotations

from typing import Any

from live_service import LiveService

from visits import Visit, expect, fact, row


def test_readers_see_no_forms(visit: Visit, service: LiveService) -> None:
    """Neither links nor buttons; an address that was typed in says what is needed."""
    service.create("readable", 2)
    page = visit.enter("#/new")
    expect(page.get_by_text("This needs an admin key.")).to_be_visible()
    expect(page.get_by_role("link", name="New learner")).to_be_hidden()
    for place in ("#/populations", "#/learner/readable"):
        page.evaluate("(place) => { location.hash = place; }", place)
        expect(page.locator("#view-populations h1, #learner-title").locator("visible=true")).to_be_focused()
    expect(page.locator(".for-admin").locator("visible=true")).to_have_count(0)


def test_forms_go_with_the_key(visit: Visit) -> None:
    """Who comes after an admin, in the same tab, sees none, nor what was typed."""
    page = visit.enter("#/new", visit._service.admin)
    page.get_by_label("Name", exact=True).fill("typed")
    page.get_by_role("button", name="Forget key").click()
    page.get_by_label("API key").fill(visit._service.reader)
    page.keyboard.press("Enter")
    expect(page.get_by_text("This needs an admin key.")).to_be_visible()
    assert page.locator("#new input[name=name]").input_value() == ""


def test_a_learner_is_created(visit: Visit, service: LiveService) -> None:
    """With all its settings, by keyboard alone if need be; errors of the API stand in the form."""
    visit.failures_expected = True
    service.call("PUT", "/v1/populations/creators", {"limit": 1.5})
    page = visit.enter("#/new", service.admin)
    page.get_by_label("Name", exact=True).fill("formed")
    page.get_by_label("Items, one per line").fill("tea\n milk \n\nrice")
    page.get_by_label("Epsilon, the loss").fill("2")
    page.get_by_label("Highest").fill("3.5")
    page.get_by_label("these are rewards").check()
    page.get_by_label("Population, or nothing").fill("creators")
    page.get_by_text("How it learns").press("Enter")
    page.locator("[name=method]").select_option("worst-case")
    page.get_by_label("Minutes that feedback is waited for").fill("90")
    page.locator("[name=mode]").select_option("local")
    page.get_by_label("To measure what learning earns").fill("tea\nmilk")
    page.get_by_label("of 100 rounds").fill("20")
    page.get_by_label("Name", exact=True).press("Enter")
    expect(page.locator("#new .problem")).to_contain_text("The limit of the population 'creators' is 1.5.")
    page.get_by_label("Epsilon, the loss").fill("1.25")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="formed", exact=True)).to_be_focused()
    made = service.call("GET", "/v1/learners/formed")
    wanted = {
        "items": ["tea", "milk", "rice"],
        "epsilon": 1.25,
        "cost_range": [0, 3.5],
        "maximize": True,
        "population": "creators",
        "method": "worst-case",
        "deadline_seconds": 5400,
        "mode": "local",
    }
    assert {name: made[name] for name in wanted} == wanted
    assert (made["holdout"]["set"], made["holdout"]["share"]) == (["tea", "milk"], 0.2)


def test_what_is_only_for_costs_is_not_sent_with_functions(visit: Visit, service: LiveService) -> None:
    """Defaults are left to the service, and the methods offered are those of the feedback."""
    page = visit.enter("#/new", service.admin)
    page.get_by_text("How it learns").click()
    page.locator("[name=method]").select_option("model")
    page.get_by_label("Learns from").select_option("full_information")
    expect(page.locator("[name=mode]")).to_be_disabled()
    expect(page.locator("[name=method]")).to_have_value("")
    page.locator("[name=method]").select_option("blocks")
    page.get_by_label("Name", exact=True).fill("functions")
    page.get_by_label("Items, one per line").fill("a\nb")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="functions", exact=True)).to_be_focused()
    made = service.call("GET", "/v1/learners/functions")
    assert (made["feedback"], made["method"]) == ("full_information", "blocks")


def test_restart_and_archive_say_what_they_cost(visit: Visit, service: LiveService) -> None:
    """Epsilon once more; nothing happens before it is confirmed, and a refusal is shown beside the button."""
    visit.failures_expected = True
    service.call("PUT", "/v1/populations/ending", {"limit": 5})
    service.create("ending", 2, population="ending")
    page = visit.enter("#/learner/ending", service.admin)
    restart, sure = page.get_by_role("button", name="Restart…"), page.get_by_role("dialog")
    restart.click()
    expect(sure).to_contain_text("This costs its epsilon again")
    expect(sure).to_contain_text("The population ending has spent 2, and then 4, of a limit of 5.")
    page.keyboard.press("Escape")
    expect(sure).to_be_hidden()
    expect(restart).to_be_focused()
    assert service.call("GET", "/v1/learners/ending")["epoch"] == 1
    restart.click()
    sure.get_by_role("button", name="Restart ending").click()
    expect(sure).to_be_hidden()
    expect(fact(page, "Epoch")).to_have_text("2")
    expect(page.locator("#ledger")).to_contain_text("epsilon = 4 in total")
    restart.click()
    sure.get_by_role("button", name="Restart ending").click()
    expect(sure.get_by_role("alert")).to_contain_text("Its learners add up to 4")
    sure.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Archive…").click()
    expect(sure).to_contain_text("Its epsilon of 2 stays spent.")
    sure.get_by_role("button", name="Archive ending").click()
    expect(page.locator("#status")).to_contain_text("It has ended")
    expect(restart).to_be_disabled()
    assert service.call("GET", "/v1/learners/ending")["status"] == "archived"


def test_a_lost_answer_is_not_taken_for_a_failure(visit: Visit, service: LiveService) -> None:
    """A restart whose answer is lost may have happened: the page says so, and does not send it again."""
    visit.failures_expected = True
    service.create("lost", 2)
    page = visit.enter("#/learner/lost", service.admin)
    sent: list[Any] = []

    def lose(route: Any) -> None:
        sent.append(service.call("POST", "/v1/learners/lost/restart"))
        route.abort()

    page.route("**/v1/learners/lost/restart", lose)
    page.get_by_role("button", name="Restart…").click()
    page.get_by_role("button", name="Restart lost").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("look whether it was done")
    expect(fact(page, "Epoch")).to_have_text("2")
    assert len(sent) == 1


def test_populations_and_their_limits(visit: Visit, service: LiveService) -> None:
    """What is spent of each limit, by learner; limits are set, and lifted only on purpose."""
    visit.failures_expected = True
    page = visit.go()
    page.route("**/v1/populations", lambda route: route.fulfill(json={"populations": []}))
    visit.enter("#/populations", service.admin)
    expect(page.get_by_text("There are none yet.").locator("visible=true")).to_have_count(1)
    page.unroute("**/v1/populations")
    form = page.locator("#limit")
    form.get_by_label("Population").fill("fresh")
    form.get_by_label("Limit of its epsilon").fill("8")
    form.get_by_role("button").click()
    mine = row(page, "populations", "fresh")
    expect(mine.locator("td").first).to_have_text("0 of 8")
    service.create("first", 2, population="fresh")
    service.create("second", 2, population="fresh", epsilon=4)
    expect(mine.locator("td").first).to_have_text("6 of 8")
    expect(mine.locator(".level")).to_have_attribute("width", "75.0%")
    expect(mine.locator(".chips li")).to_have_text(["first: 2", "second: 4"])
    form.get_by_label("Population").fill("fresh")
    form.get_by_role("button").click()  # without a limit, the browser sends nothing
    form.get_by_label("No limit").check()
    form.get_by_role("button").click()
    expect(mine.locator("td").first).to_have_text("6, no limit")
    form.get_by_label("Population").fill("no such name/")
    form.get_by_label("Limit of its epsilon").fill("1")
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).not_to_be_empty()
