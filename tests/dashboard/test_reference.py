"""The reference at /docs, where each route can be tried."""

import json
from typing import Any

import pytest
from live_service import LiveService

from visits import Visit, expect

pytestmark = [pytest.mark.browser, pytest.mark.process]


def form(page: Any, method: str, path: str) -> Any:
    return page.locator(f'form[data-method="{method}"][data-path="{path}"]')


def test_routes_are_tried_with_a_pasted_key(service: LiveService, visit: Visit) -> None:
    """Create a learner from the example, ask, tell; the key goes to this server and is kept nowhere."""
    page = visit.go("docs")
    page.get_by_label("API key").fill(service.admin)
    one = "/v1/learners/{name}"
    create, ask, tell = (form(page, "POST", path) for path in ("/v1/learners", f"{one}/ask", f"{one}/tell"))
    body = json.loads(create.get_by_label("Body").input_value()) | {"name": "tried/not"}
    create.get_by_label("Body").fill(json.dumps(body))
    visit.failures_expected = True
    create.get_by_role("button", name="Send").click()
    expect(create.locator("output")).to_contain_text("400")
    create.get_by_label("Body").fill(json.dumps(body | {"name": "tried", "population": None}))
    create.get_by_role("button", name="Send").click()
    expect(create.locator("output")).to_contain_text("201")
    for each in (ask, tell):
        each.get_by_label("name").fill("tried")
    ask.get_by_label("Body").fill('{"count": 1}')
    ask.get_by_role("button", name="Send").click()
    expect(ask.locator("output")).to_contain_text("decisions")
    (decision,) = json.loads(ask.locator("output").text_content().partition("\n")[2])["decisions"]
    tell.get_by_label("Body").fill(json.dumps({"decision": decision["id"], "cost": 0.5}))
    tell.get_by_role("button", name="Send").click()
    expect(tell.locator("output")).to_contain_text("accepted")
    history = form(page, "GET", f"{one}/history")
    history.get_by_label("name").fill("tried")
    history.get_by_label("since").fill("5")
    history.get_by_role("button", name="Send").click()
    expect(history.locator("output")).to_contain_text("200")
    assert any(address.endswith("/history?since=5") for address in visit.addresses)
    assert all(address.startswith(service.address) for address in visit.addresses)
    assert page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
    page.reload()
    assert page.get_by_label("API key").input_value() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_on_a_phone(browser: Any, service: LiveService, scheme: str) -> None:
    """Nothing is wider than the screen."""
    phone = Visit(browser, service, viewport={"width": 360, "height": 700}, color_scheme=scheme)
    page = phone.go("docs")
    expect(page.get_by_label("API key")).to_be_visible()
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    phone.end()
