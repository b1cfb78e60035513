"""Every route: what it takes, gives and refuses."""

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from http_helpers import BANDIT, FULL, MODULAR, Service, code_of, service


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that the tests of this module share; each makes learners of its own where that matters."""
    with service(tmp_path_factory.mktemp("store") / "shop.db") as found:
        yield found


def test_learners_are_made_listed_and_shown(served: Service) -> None:
    """With all that is public about them."""
    wanted = BANDIT | {"name": "till", "maximize": True, "rounds_per_person": 2}
    made = served.admin.post("/v1/learners", json=wanted | {"deadline_seconds": 60})
    assert made.status_code == 201
    shown = made.json()
    assert served.reader.get("/v1/learners/till").json() == shown
    assert shown in served.reader.get("/v1/learners").json()["learners"]
    brief = {key: value for key, value in shown.items() if key not in ("items", "retired", "point", "best")}
    assert brief in served.reader.get("/v1/learners?items=false").json()["learners"]
    answer = served.reader.get("/v1/learners?items=some")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
    assert {key: shown[key] for key in ("name", "feedback", "items", "epsilon", "maximize")} == {
        key: wanted[key] for key in ("name", "feedback", "items", "epsilon", "maximize")
    }
    assert (shown["cost_range"], shown["rounds_per_person"], shown["deadline_seconds"]) == ([0, 1], 2, 60)
    assert shown["point"] == [0.5, 0.5, 0.5]
    assert (shown["epoch"], shown["status"], shown["rounds"]) == (1, "active", 0)
    counted = ("asked", "told", "expired", "pending", "released", "ones")
    assert shown["counts"] == dict.fromkeys(counted, 0)


def test_full_information_learners_have_settings_of_their_own(served: Service) -> None:
    """Method and horizon. What runs by default is said."""
    other = served.admin.post("/v1/learners", json=FULL | {"name": "other"}).json()
    assert (other["method"], other["horizon"]) == ("blocks", None)
    shown = served.admin.post("/v1/learners", json=FULL | {"name": "short", "horizon": 20}).json()
    assert (shown["method"], shown["horizon"]) == ("blocks", 20)


def test_senseless_learners_are_refused(served: Service) -> None:
    """With the code of an invalid request, whichever setting makes no sense for a bandit."""
    changes: list[dict[str, Any]] = [
        {"name": "not a name"},
        {"epsilon": -1},
        {"epsilon": "1"},
        {"epsilon": None},
        {"epsilon": 1e-300},
        {"items": 0},
        {"items": []},
        {"items": ["a", "a"]},
        {"items": 10**9},
        {"items": ["x" * 201, "b", "c"]},
        {"cost_range": [1, 0]},
        {"cost_range": [0, 1, 2]},
        {"feedback": "other"},
        {"start": [1, 0, 0]},
        {"horizon": 7},
        {"method": "tree"},
        {"deadline_seconds": 0},
        {"rounds_per_person": 1.5},
        {"seed": 1},
        {"mode": "elsewhere"},
        {"method": "choose"},
        {"window": 0.1, "mode": "central"},
        {"holdout": {"set": ["coffee"], "share": 0.1}},
        {"holdout": {"set": ["tea"], "share": 1.0}},
        {"close": "told"},
        {"unheard": "of"},
    ]
    for change in changes:
        answer = served.admin.post("/v1/learners", json=BANDIT | {"name": "new"} | change)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_request"), change
        assert served.reader.get("/v1/learners/new").status_code == 404


def test_a_name_is_given_once(served: Service) -> None:
    """Also if everything else is the same."""
    answer = served.admin.post("/v1/learners", json=BANDIT)
    assert (answer.status_code, code_of(answer)) == (409, "already_exists")


def test_bodies_that_are_not_json(served: Service) -> None:
    """Are told apart from JSON of the wrong shape."""
    headers = {"content-type": "application/json"}
    for path in ("/v1/learners", "/v1/learners/shop/ask", "/v1/learners/shop/tell"):
        for body in (b"{", b"\xff", b"nonsense"):
            answer = served.admin.post(path, content=body, headers=headers)
            assert (answer.status_code, code_of(answer)) == (400, "invalid_json")
        answer = served.admin.post(path, content=b"7", headers=headers)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_request")


def test_unknown_addresses_and_methods(served: Service) -> None:
    """Are answered like other errors; Allow lists all methods that an address takes."""
    assert code_of(served.admin.get("/nowhere")) == "not_found"
    assert code_of(served.admin.get("/v1/learners/nobody")) == "not_found"
    assert code_of(served.admin.post("/v1/learners/nobody/ask")) == "not_found"
    for method, path, allowed in (
        ("PATCH", "/v1/learners", "GET, POST"),
        ("GET", "/v1/learners/shop/tell", "POST"),
        ("POST", "/livez", "GET"),
    ):
        answer = served.admin.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
        assert code_of(answer) == "method_not_allowed"


def test_ask_gives_sets_of_items(served: Service) -> None:
    """As many as wanted, among the items that are available."""
    (one,) = served.ask()
    assert set(one) == {"id", "subset", "probability"}
    assert 0 < one["probability"] <= 1
    assert set(one["subset"]) <= set(BANDIT["items"])  # type: ignore[call-overload]
    many = served.ask(count=40, available=["tea", "rice"])
    assert len({decision["id"] for decision in many}) == 40
    assert {item for decision in many for item in decision["subset"]} == {"tea", "rice"}


def test_senseless_asks_are_refused(served: Service) -> None:
    """All arguments of an ask are public, so they may be complained about."""
    senseless: list[Any] = [
        {"count": 0},
        {"count": 10_001},
        {"count": 1.0},
        {"count": True},
        {"count": "1"},
        {"request_id": ""},
        {"request_id": "\x00"},
        {"request_id": 7},
        {"request_id": "x" * 201},
        {"available": "tea"},
        {"available": ["coffee"]},
        {"available": [["tea"]]},
        {"available": [None]},
        {"more": 1},
        [],
    ]
    for wanted in senseless:
        answer = served.worker.post("/v1/learners/shop/ask", json=wanted)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_request"), wanted


def test_tells_that_are_refused(served: Service) -> None:
    """A single one is an error with a code; in a list each has its code, and the others count."""
    (mine,), (foreign,) = served.ask(), served.ask("plan")
    tell = "/v1/learners/shop/tell"
    for decision, status, code in (
        ("0" * 32, 404, "unknown_decision"),
        ("not an id", 404, "unknown_decision"),
        (foreign["id"], 409, "foreign_decision"),
    ):
        answer = served.worker.post(tell, json={"decision": decision, "cost": 0.5})
        assert (answer.status_code, code_of(answer)) == (status, code)
    answer = served.worker.post(tell, json={"decision": mine["id"], "function": MODULAR})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_feedback")
    listed = [
        {"decision": "0" * 32, "cost": 1},
        {"decision": foreign["id"], "bit": 1},
        {"decision": mine["id"], "function": MODULAR},
        {"decision": mine["id"], "cost": 0.5, "person": "somebody"},
        {"decision": mine["id"], "bit": 0},
    ]
    answer = served.worker.post(tell, json=listed)
    assert answer.status_code == 200
    assert answer.json() == {
        "codes": ["unknown_decision", "foreign_decision", "invalid_feedback", "accepted", "accepted"]
    }
    assert served.worker.post(tell, json=[]).json() == {"codes": []}


def test_feedback_of_the_wrong_shape_is_refused(served: Service) -> None:
    """Fields that are missing, unknown, or do not go together: never because of a value."""
    wrong: list[Any] = [
        {},
        {"cost": 1},
        {"decision": 7, "cost": 1},
        {"decision": "0" * 32, "cost": 1, "costs": 1},
        {"decision": "0" * 32, "person": 7},
        {"decision": "0" * 32, "person": "x" * 1001},
        {"decision": "0" * 32, "cost": 1, "bit": 1},
        [{"decision": "0" * 32, "cost": 1}, 7],
        [{"decision": "0" * 32}] * 10_001,
    ]
    for told in wrong:
        answer = served.worker.post("/v1/learners/shop/tell", json=told)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_request")


def test_functions_are_told_as_json(served: Service) -> None:
    """To learners of full information, and to no others; a cost is not for them."""
    first, second = served.ask("plan", count=2)
    tell = "/v1/learners/plan/tell"
    answer = served.worker.post(tell, json={"decision": first["id"], "function": MODULAR})
    assert (answer.status_code, answer.json()) == (200, {"code": "accepted"})
    answer = served.worker.post(tell, json={"decision": second["id"], "cost": 1})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_feedback")


def test_expired_decisions_are_gone(served: Service) -> None:
    """The deadline is the learner's, and what comes later is told so."""
    served.admin.post("/v1/learners", json=BANDIT | {"name": "brief", "deadline_seconds": 1e-3})
    (decision,) = served.ask("brief")
    while not served.learner_service.maintenance.expire():
        pass
    answer = served.worker.post("/v1/learners/brief/tell", json={"decision": decision["id"], "cost": 1})
    assert (answer.status_code, code_of(answer)) == (410, "expired")


def test_archived_learners_can_only_be_read(served: Service) -> None:
    """Neither asked nor told nor restarted; their names stay taken."""
    served.admin.post("/v1/learners", json=BANDIT | {"name": "old"})
    (decision,) = served.ask("old")
    assert served.admin.post("/v1/learners/old/archive").json()["status"] == "archived"
    for path, body in (
        ("ask", {}),
        ("tell", {"decision": decision["id"], "cost": 1}),
        ("restart", {}),
    ):
        answer = served.admin.post(f"/v1/learners/old/{path}", json=body)
        assert (answer.status_code, code_of(answer)) == (409, "archived")
    assert served.reader.get("/v1/learners/old").json()["counts"]["asked"] == 1
    assert served.admin.post("/v1/learners", json=BANDIT | {"name": "old"}).status_code == 409


def test_a_restarted_learner_is_a_new_epoch(served: Service) -> None:
    """Under the same name; it answers at once."""
    served.admin.post("/v1/learners", json=BANDIT | {"name": "again"})
    served.ask("again")
    assert served.admin.post("/v1/learners/again/restart").json()["epoch"] == 2
    assert len(served.ask("again")) == 1


def test_items_are_added_and_retired(served: Service) -> None:
    """In the same epoch; what cannot be changed is refused with the reason."""
    model = BANDIT | {"name": "offer", "method": "model", "mode": "central"}
    served.admin.post("/v1/learners", json=model)
    served.ask("offer", count=4)
    changed = served.admin.post("/v1/learners/offer/items", json={"add": ["soy", 7], "retire": ["milk"]})
    assert changed.status_code == 200, changed.text
    shown = served.reader.get("/v1/learners/offer").json()
    assert shown == changed.json()
    assert (shown["items"], shown["retired"]) == (["tea", "milk", "rice", "soy", 7], ["milk"])
    assert (shown["epoch"], shown["counts"]["asked"], len(shown["point"])) == (1, 4, 5)
    decisions = served.ask("offer", count=20)
    assert all("milk" not in each["subset"] for each in decisions)
    assert served.ask("offer", available=["soy", 7, "milk"])
    refused = {
        "does not offer": {"add": ["tea"]},
        "items that it offers": {"retire": ["milk"]},
        "field 'add'": {"add": "soy"},
        "no field 'remove'": {"remove": ["tea"]},
    }
    for problem, body in refused.items():
        answer = served.admin.post("/v1/learners/offer/items", json=body)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
        assert problem in answer.text
    answer = served.admin.post("/v1/learners/shop/items", json={"add": ["soy"]})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
    assert "'worst-case' cannot change its items" in answer.text
    assert served.worker.post("/v1/learners/offer/items", json={"add": ["jam"]}).status_code == 403


def test_the_guarantee(served: Service) -> None:
    """Of either kind of learner."""
    found = served.reader.get("/v1/learners/shop/guarantee").json()
    assert (found["epsilon"], found["local"], found["private"]) == (1.0, True, True)
    assert "epsilon = 1" in found["text"]
    assert served.reader.get("/v1/learners/plan/guarantee").json()["local"] is False


def test_a_time_that_is_none_is_refused(served: Service) -> None:
    """Of a history."""
    answer = served.reader.get("/v1/learners/shop/history?since=x")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")


def test_populations_add_up(served: Service) -> None:
    """What learners on the same people may cost them; beyond the limit none is made."""
    assert served.admin.put("/v1/populations/town", json={"limit": 2.5}).json() == {
        "name": "town",
        "limit": 2.5,
        "spent": 0,
        "learners": [],
        "delta": 0,
    }
    for name in ("first", "second"):
        wanted = BANDIT | {"name": name, "population": "town"}
        assert served.admin.post("/v1/learners", json=wanted).status_code == 201
    answer = served.admin.post("/v1/learners", json=BANDIT | {"name": "third", "population": "town"})
    assert (answer.status_code, code_of(answer)) == (409, "budget_exceeded")
    shown = served.reader.get("/v1/populations/town").json()
    assert shown["spent"] == 2.0
    assert shown in served.reader.get("/v1/populations").json()["populations"]
    assert code_of(served.reader.get("/v1/populations/nowhere")) == "not_found"
    answer = served.admin.post("/v1/learners", json=BANDIT | {"name": "third", "population": "nowhere"})
    assert (answer.status_code, code_of(answer)) == (404, "not_found")
    assert served.admin.put("/v1/populations/town", json={"limit": -1}).status_code == 400
    assert served.admin.put("/v1/populations/no name", json={}).status_code == 400


def test_health_and_metrics(served: Service) -> None:
    """Health needs no key; metrics are for Prometheus."""
    assert served.nobody.get("/livez").json() == {"status": "ok"}
    served.ask()
    page = served.reader.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    assert 'discreet_decisions_total{learner="shop"}' in page.text


def test_a_limit_is_lifted_only_by_saying_so(tmp_path: pathlib.Path) -> None:
    """An empty body changes nothing; null lifts the limit."""
    with service(tmp_path / "shop.db") as served:
        path = "/v1/populations/town"
        served.admin.put(path, json={"limit": 2.0})
        refused = served.admin.put(path, json={})
        assert (refused.status_code, code_of(refused)) == (400, "invalid_request")
        assert "'limit' is missing" in refused.json()["error"]["message"]
        assert served.reader.get(path).json()["limit"] == 2.0
        assert served.admin.put(path, json={"limit": None}).json()["limit"] is None


def test_a_page_of_the_list_over_http(tmp_path: pathlib.Path) -> None:
    """`next` is the `after` of the next page, and is absent at the end."""
    with service(tmp_path / "shop.db") as served:
        first = served.reader.get("/v1/learners?limit=1&items=false").json()
        assert [each["name"] for each in first["learners"]] == ["plan"]
        second = served.reader.get(f"/v1/learners?limit=1&after={first['next']}").json()
        assert [each["name"] for each in second["learners"]] == ["shop"]
        assert "next" not in second
        assert served.reader.get("/v1/learners?search=no%20name%25").json()["learners"] == []
        found = served.reader.get("/v1/learners?search=HO").json()["learners"]
        assert [each["name"] for each in found] == ["shop"]
        for wrong in ("limit=0", "limit=1001", "after=%00"):
            assert code_of(served.reader.get(f"/v1/learners?{wrong}")) == "invalid_request"
