"""What admins do: learners page by page, their history, next epochs, and API keys."""

from collections.abc import Callable
from typing import Any

import pytest
from small_server import SmallServer

from discreet import errors
from discreet.client import ApiKey, HeldOut, History, Learner, ServiceError

Connect = Callable[..., Any]
SHOP = {
    "name": "shop",
    "epoch": 1,
    "feedback": "bandit",
    "items": ["tea", "milk"],
    "epsilon": 1.0,
    "cost_range": [0, 1],
    "maximize": False,
    "rounds_per_person": 1,
    "population": None,
    "deadline_seconds": 60.0,
    "status": "active",
    "point": [0.9, 0.2],
    "rounds": 7,
    "mean": None,
    "noise_variance": 1.0,
    "counts": {"asked": 0, "told": 0, "expired": 0, "pending": 0, "lost": 0},
}
HELD_OUT = {"share": 0.1, "set": ["milk"], "rounds": 3, "uplift": 0.2, "low": -0.1, "high": 0.5}


def test_the_next_epoch(client: Any, shop: Callable[..., str]) -> None:
    """A restart begins it; decisions of the earlier one are foreign."""
    name = shop()
    decision = client.ask(name)
    assert client.restart(name).epoch == client.learner(name).epoch == 2
    with pytest.raises(errors.InvalidArgument, match="foreign_decision"):
        client.tell(name, decision, 0.5)


def test_items_come_and_go(client: Any, shop: Callable[..., str]) -> None:
    """The learner stays in its epoch, and its open decisions count."""
    name = shop(mode="central", method="model")
    decision = client.ask(name)
    before = client.learner(name)
    after = client.change_items(name, add=["soy", "rum"], retire=[before.items[0]])
    assert after.items == (*before.items, "soy", "rum")
    assert (after.retired, after.epoch) == ((before.items[0],), before.epoch)
    assert before.items[0] not in client.ask(name).subset
    client.tell(name, decision, 0.5)
    with pytest.raises(errors.InvalidArgument, match="items that it offers"):
        client.change_items(name, retire=[before.items[0]])


def test_a_lost_answer_to_a_change_of_items(connect: Connect) -> None:
    """Whether an attempt has changed them is seen from the learner."""
    shown = SHOP | {"items": ["tea", "milk", "soy"], "retired": ["milk"]}
    posts = []

    def answer(method: str, path: str, body: Any) -> Any:
        if method == "GET":
            return shown
        posts.append(body)
        refused = {
            "error": {"code": "invalid_request", "message": "The 'add' must be items it does not offer."}
        }
        return 503 if len(posts) % 2 else (400, refused)

    with SmallServer(answer) as server:
        client = connect(server.url)
        assert client.change_items("shop", add=["soy"], retire=["milk"]).retired == ("milk",)
        assert posts == 2 * [{"add": ["soy"], "retire": ["milk"]}]
        assert server.requests[-1] == ("GET", "/v1/learners/shop")
        with pytest.raises(errors.InvalidArgument, match="does not offer"):
            client.change_items("shop", add=["soy"], retire=["tea"])


def test_keys_are_made_and_revoked(client: Any, connect: Connect) -> None:
    """A key works until it is revoked, and is shown when it is made only."""
    made = client.create_key("read", "reports")
    assert (made.role, made.label, made.learners) == ("read", "reports", None)
    assert made.key not in f"{made} {made!r}"
    assert connect(key=made.key).learners() is not None
    listed = client.keys()
    assert [each.key for each in listed if each.id == made.id] == [None]
    client.revoke_key(made.id)
    with pytest.raises(PermissionError):
        connect(key=made.key).learners()
    with pytest.raises(errors.UnknownName):
        client.revoke_key(made.id)


def test_keys_have_limits(connect: Connect) -> None:
    """Learners and expiry are sent if they are given."""
    asked = []

    def answer(method: str, path: str, body: Any) -> Any:
        asked.append((method, path, body))
        return {"id": "1", "role": "ask_tell", "key": "new", **(body or {}), "more": 1}

    with SmallServer(answer) as server:
        client = connect(server.url)
        made = client.create_key("ask_tell", "tills", learners=("shop",), expires_at=1_800_000_000_000)
    assert made == ApiKey("1", "ask_tell", "tills", None, 1_800_000_000_000, learners=("shop",), key="new")
    assert asked[0][2] == {
        "role": "ask_tell",
        "label": "tills",
        "learners": ["shop"],
        "expires_at": 1_800_000_000_000,
    }


@pytest.mark.parametrize(
    "call",
    [lambda c: c.restart("shop"), lambda c: c.create_key("read")],
    ids=["restart", "create_key"],
)
def test_what_would_happen_twice_is_tried_once(connect: Connect, call: Callable[[Any], Any]) -> None:
    """A lost answer does not mean that nothing was done."""
    with SmallServer(lambda *_: 503) as server:
        with pytest.raises(ServiceError) as caught:
            call(connect(server.url))
        assert (caught.value.attempts, len(server.requests)) == (1, 1)


def test_a_lost_answer_of_a_revocation(connect: Connect) -> None:
    """The next attempt finds the key gone: it was revoked."""
    answers = [503, (404, {"error": {"code": "not_found", "message": "No key has this id."}})]
    with SmallServer(lambda *_: answers.pop(0)) as server:
        connect(server.url).revoke_key("1")
        assert server.requests == 2 * [("DELETE", "/v1/keys/1")]


def test_learners_come_page_by_page(connect: Connect) -> None:
    """Each page begins after the last name of the one before; the search is part of every request."""
    pages = {"": ["a", "b"], "&after=b": ["c d"], "&after=c+d": []}

    def answer(method: str, path: str, body: Any) -> Any:
        found = pages[path.partition("search=x")[2]]
        return {"learners": [SHOP | {"name": name} for name in found], "next": found[-1] if found else None}

    with SmallServer(answer) as server:
        assert [each.name for each in connect(server.url).learners(search="x")] == ["a", "b", "c d"]
        assert len(server.requests) == 3


def test_fields_come_and_go(connect: Connect) -> None:
    """Those that a service does not send have defaults, and others are ignored."""
    shown: dict[str, Any] = dict(SHOP)
    with SmallServer(lambda *_: shown) as server:
        client = connect(server.url)
        found = client.learner("shop")
        assert (found.mode, found.method, found.best, found.holdout) == ("local", None, (), None)
        shown |= {"mode": "central", "method": "model", "best": ["tea"], "novel": 1}
        shown |= {"holdout": HELD_OUT | {"novel": 2}}
        found = client.learner("shop")
    assert (found.mode, found.method, found.best) == ("central", "model", ("tea",))
    assert found.holdout == HeldOut(0.1, frozenset({"milk"}), rounds=3, uplift=0.2, low=-0.1, high=0.5)
    assert isinstance(found, Learner)


def test_the_history_of_a_learner(connect: Connect) -> None:
    """What it was like, moment by moment."""
    moments = [{"at": 5, "rounds": 7, "mean": None, "point": [0.5, 0.25], "held_rounds": 1, "held_mean": 0.5}]
    with SmallServer(lambda *_: {"history": moments}) as server:
        assert connect(server.url).history("shop") == [History(5, 7, None, (0.5, 0.25), 1, 0.5)]
        assert server.requests == [("GET", "/v1/learners/shop/history")]


def test_a_learner_with_a_share_held_out_is_made_once(connect: Connect) -> None:
    """Its settings pass as they are, sets as lists; after a lost answer they are compared."""
    sent = []

    def answer(method: str, path: str, body: Any) -> Any:
        if method == "GET":
            return SHOP | {"mode": "central", "holdout": HELD_OUT}
        sent.append(body)
        return 503 if len(sent) % 2 else (409, {"error": {"code": "already_exists", "message": "taken"}})

    settings = {"epsilon": 1.0, "cost_range": (0, 1), "mode": "central"}
    with SmallServer(answer) as server:
        client = connect(server.url)
        held = {"share": 0.1, "set": frozenset({"milk"})}
        made = client.create_learner("shop", "bandit", ["tea", "milk"], holdout=held, **settings)
        assert made.holdout.share == 0.1
        for other in ({"share": 0.2, "set": ["milk"]}, {"share": 0.1, "set": ["tea"]}):
            with pytest.raises(errors.AlreadyExists):
                client.create_learner("shop", "bandit", ["tea", "milk"], holdout=other, **settings)
    assert sent[0] == {
        "name": "shop",
        "feedback": "bandit",
        "items": ["tea", "milk"],
        "epsilon": 1.0,
        "cost_range": [0, 1],
        "mode": "central",
        "holdout": {"share": 0.1, "set": ["milk"]},
    }
