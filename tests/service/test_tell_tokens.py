"""Tokens with which a device tells a single decision."""

import base64
import pathlib
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from http_helpers import BANDIT, Service, client, code_of, service
from service_helpers import Clock

from discreet.service.sealing import PREFIX
from discreet.service.web import authentication

TELL = "/v1/learners/shop/tell"


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[Service]:
    with service(tmp_path / "shop.db") as found:
        yield found


def tell(served: Service, token: str, path: str = TELL, **told: Any) -> httpx2.Response:
    return served.nobody.post(path, json=told, headers={"authorization": f"Bearer {token}"})


def test_a_token_tells_its_decision_and_nothing_else(served: Service) -> None:
    """One piece, a cost or a bit; telling again is answered the same, and changes nothing."""
    one, two, three = served.ask(count=3, tokens=True)
    assert one["token"].startswith(PREFIX)
    assert "token" not in served.ask()[0]
    for cost in (0.3, 0.9):
        answer = tell(served, one["token"], decision=one["id"], cost=cost)
        assert (answer.status_code, answer.json()) == (200, {"code": "accepted"})
    assert tell(served, two["token"], bit=1).status_code == 200  # the token says which decision
    assert code_of(tell(served, three["token"], decision=two["id"], cost=1)) == "unauthorized"
    for wrong in ({"cost": 1, "person": "me"}, {"function": {}}, {"cost": 1, "bit": 1}):
        assert code_of(tell(served, three["token"], **wrong)) == "invalid_request"
    headers = {"authorization": f"Bearer {three['token']}"}
    listed = served.nobody.post(TELL, json=[{"decision": three["id"], "cost": 1}], headers=headers)
    assert code_of(listed) == "invalid_request"
    assert served.nobody.post(TELL, content=b" " * 5_000, headers=headers).status_code == 413
    with client(served.address, three["token"]) as holder:
        for path in ("/v1/learners", "/v1/learners/shop", "/metrics"):
            assert code_of(holder.get(path)) == "unauthorized"
        assert code_of(holder.post("/v1/learners/shop/ask")) == "unauthorized"
    assert served.reader.get("/v1/learners/shop").json()["counts"]["told"] == 2
    assert tell(served, three["token"], cost=0.5).status_code == 200


def test_tokens_cannot_be_made_up(served: Service) -> None:
    """Any change of a token makes it wrong; so does another learner, whose decisions it does not know."""
    assert served.admin.post("/v1/learners", json=BANDIT | {"name": "other"}).status_code == 201
    (decision,) = served.ask(tokens=True)
    token = decision["token"]
    parts = base64.urlsafe_b64decode(token.removeprefix(PREFIX))
    for place in range(len(parts)):
        forged = bytearray(parts)
        forged[place] ^= 1
        text = PREFIX + base64.urlsafe_b64encode(forged).decode()
        assert code_of(tell(served, text, decision=decision["id"], cost=1)) == "unauthorized"
    for text in (PREFIX, token[:-1], token + "A", token.upper(), PREFIX + "!" * 64):
        assert code_of(tell(served, text, cost=1)) == "unauthorized"
    assert code_of(tell(served, token, "/v1/learners/other/tell", cost=1)) == "unauthorized"
    assert served.reader.get("/v1/learners/shop").json()["counts"]["told"] == 0


@pytest.mark.parametrize("end", ["restart", "archive"])
def test_a_token_ends_with_its_epoch(served: Service, end: str) -> None:
    """After a restart it is of an earlier epoch; an archived learner takes no feedback from anybody."""
    (decision,) = served.ask(tokens=True)
    assert served.admin.post(f"/v1/learners/shop/{end}").status_code == 200
    expected = "unauthorized" if end == "restart" else "archived"
    assert code_of(tell(served, decision["token"], cost=1)) == expected


def test_a_token_ends_with_its_decision(served: Service) -> None:
    """At the deadline the decision is closed, and what the token tells then is late."""
    clock = Clock()
    clock.now = served.learner_service._clock() + 8 * 86_400_000
    (decision,) = served.ask(tokens=True)
    served.learner_service.maintenance._clock = clock
    assert served.learner_service.maintenance.expire() == 1
    assert code_of(tell(served, decision["token"], cost=1)) == "expired"


def test_a_retry_of_an_ask_gets_the_same_tokens(served: Service) -> None:
    """They follow from the decisions; full-information learners have none."""
    first, second = (served.ask(count=2, request_id="r", tokens=True) for _ in range(2))
    assert first == second
    answer = served.worker.post("/v1/learners/plan/ask", json={"tokens": True})
    assert code_of(answer) == "invalid_request"
    assert code_of(served.worker.post("/v1/learners/shop/ask", json={"tokens": 1})) == "invalid_request"


def test_tokens_have_a_rate_limit(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each its own, and what is remembered of them does not grow without bound."""
    monkeypatch.setattr(authentication, "_MOST_TOKENS", 50)
    guard = served.app._authentication
    guard._token_rates._clock = lambda: 0.0
    one, *others = served.ask(count=40, tokens=True)
    codes = [tell(served, one["token"], cost=1).status_code for _ in range(11)]
    assert codes == [200] * 10 + [429]
    assert {tell(served, each["token"], cost=1).status_code for each in others} == {200}
    assert len(guard._token_rates._buckets) <= 50
    assert tell(served, one["token"], cost=1).status_code == 200  # all counts have started again
