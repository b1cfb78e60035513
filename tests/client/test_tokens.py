"""Devices that tell about one decision, with a token instead of a key."""

from collections.abc import Callable
from typing import Any

from small_server import SmallServer

from discreet.client import Decision

Connect = Callable[..., Any]


def answer(method: str, path: str, body: Any) -> Any:
    """Of a service that gives tokens to those who want them."""
    if path.endswith("/tell"):
        return {"code": "accepted"}
    more = {"probability": 0.25} | ({"token": "discreet_token"} if body.get("tokens") else {})
    return {"decisions": [{"id": "d-1", "subset": ["tea"], "novel": 1} | more] * body["count"]}


def test_a_token_tells(connect: Connect) -> None:
    """It is the key of a client that tells about its decision, on whatever machine."""
    with SmallServer(answer) as server:
        decision = connect(server.url, "key").ask("shop", tokens=True)
        device = connect(server.url, decision.token)
        device.tell("shop", decision.id, 0.3)
        device.tell("shop", decision.id, released=1)
    assert server.keys == {"key": 1, "discreet_token": 2}


def test_tokens_are_not_shown(connect: Connect) -> None:
    """And nobody gets one unasked; a decision is the same with and without."""
    with SmallServer(answer) as server:
        client = connect(server.url, "key")
        (one,), (other,) = client.ask("shop", 1, tokens=True), client.ask("shop", 1)
    assert (one.token, other.token) == ("discreet_token", None)
    assert "discreet_token" not in f"{one} {one!r}"
    assert one == other == Decision("d-1", frozenset({"tea"}), "shop", probability=0.25)
