import json
import time
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from discreet import errors
from discreet.client import Client, Feedback, Pinned, ServiceError, Unreachable, retrying
from flaky_proxy import FlakyProxy
from running_service import RunningService

Shop = Callable[..., str]
_EACH = (0.15, 0.15, 0.1)


def busy(status: str, headers: str = "", code: str = "busy") -> bytes:
    body = json.dumps({"error": {"code": code, "message": "cost 0.123456 of discreet_"}})
    return f"HTTP/1.1 {status}\r\n{headers}content-length: {len(body)}\r\n\r\n{body}".encode()


def test_nothing_is_lost_and_nothing_is_doubled(
    connect: Callable[..., Any], service: RunningService, shop: Shop
) -> None:
    """Two of five requests lose their question or their answer; counts are as if none had."""
    name = shop()
    with FlakyProxy(service.port, seed=1, lost=_EACH) as proxy:
        client = connect(proxy.url)
        told = set()
        for number in range(40):
            some = client.ask(name, 2)
            told |= {each.id for each in some}
            client.tell(name, some[0], 0.25, person=f"p{number}")
            assert client.tell_many(name, [(some[1], 0.5), (some[0], 1.0)]) == ["accepted", "accepted"]
        assert min(proxy.dropped) > 2
        found = client.learner(name)
    assert len(told) == 80
    assert (found.counts.asked, found.counts.told, found.rounds) == (80, 80, 80)


def test_a_learner_is_made_once(connect: Callable[..., Any], service: RunningService) -> None:
    """Although the first answer is lost; one that was there before is still in the way."""
    kind = "sync" if "Client" in type(connect()).__name__ else "async"
    with FlakyProxy(service.port, lost=(0, 1, 0)) as proxy:
        client = connect(proxy.url, timeout=2)
        settings = {"epsilon": 1.0, "cost_range": (0, 1), "deadline_seconds": 60.0}
        with pytest.raises(Unreachable):
            connect(proxy.url, deadline=0.3).create_learner(f"once-{kind}", "bandit", ["a", "b"], **settings)
        proxy._lost = (0, 0, 0)
        proxy.answers = [b""]  # an empty answer: the connection is left hanging until the timeout
        made = client.create_learner(f"once-{kind}", "bandit", ["a", "b"], **settings)
        assert made.items == ("a", "b")
        proxy.answers = [b""]
        with pytest.raises(errors.AlreadyExists):
            client.create_learner(f"once-{kind}", "bandit", ["a", "c"], **settings)
        with pytest.raises(errors.AlreadyExists):
            client.create_learner(f"once-{kind}", "bandit", ["a", "b"], **settings)


def test_answers_that_say_later(connect: Callable[..., Any], service: RunningService, shop: Shop) -> None:
    """Are tried again, as late as they say."""
    name = shop()
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url)
        proxy.answers = [busy("429 Slow", "retry-after: 0.4\r\n"), busy("502 Bad"), busy("504 Late")]
        began = time.monotonic()
        client.ask(name)
        assert time.monotonic() - began > 0.4
        assert proxy.requests == 4


def test_other_answers_are_final(connect: Callable[..., Any], service: RunningService) -> None:
    """Nothing is gained by sending the same again."""
    final = ["400 Bad", "404 No", "408 Late", "409 No", "418 Teapot", "500 Oh", "301 Gone"]
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url)
        for count, status in enumerate(final, 1):
            proxy.answers = [busy(status, "location: http://elsewhere.example/\r\n", "odd") for _ in range(3)]
            with pytest.raises(ServiceError) as caught:
                client.ask("shop")
            assert caught.value.code == "odd"
            assert proxy.requests == count


def test_the_longest_attempt_gives_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one only has what is left of the deadline, so its timeout says little."""
    now: float = 0
    given: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def request(*_: str, extensions: Any, **__: Any) -> None:
        given.append(extensions["timeout"].get("read"))
        sleep(given[-1])
        raise httpx2.ReadTimeout("") if given[-1] < 10 else httpx2.ReadError("")

    monkeypatch.setattr(retrying, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    with Client("http://localhost", "key", timeout=10, deadline=25) as client:
        monkeypatch.setattr(client._http, "request", request)
        with pytest.raises(Unreachable, match="the connection broke"):
            client.ask("shop")
    assert given[:2] == [10, 10]
    assert 4 < given[2] < 5


def test_no_pause_beyond_the_deadline(connect: Callable[..., Any], service: RunningService) -> None:
    """The call fails at once."""
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url, deadline=60)
        proxy.answers = [busy("503 Busy", "retry-after: 3600\r\n")]
        began = time.monotonic()
        with pytest.raises(errors.Busy) as caught:
            client.ask("shop")
        assert time.monotonic() - began < 30
        assert caught.value.code == "busy"


def test_responses_of_something_else(connect: Callable[..., Any], service: RunningService) -> None:
    """A page of a proxy is not a decision."""
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url)
        for answer in (b"<html>", b"[1]", b'{"decisions": 7}', b'{"decisions": []}', b"[" * 90_000):
            proxy.answers = [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(answer), answer)]
            with pytest.raises(ServiceError) as caught:
                client.ask("shop")
            assert caught.value.code == "bad_answer"


def test_errors_hold_nothing_private(
    connect: Callable[..., Any], service: RunningService, shop: Shop
) -> None:
    """Neither what was told, nor the key, nor what an answer repeats of it; nor do causes and contexts."""
    name = shop()
    cost, person = 0.123456, "person-of-the-test"
    with FlakyProxy(service.port) as proxy:
        decision = connect(proxy.url).ask(name)
        client = connect(proxy.url, deadline=0.5, timeout=0.2)
        caught = []
        for answers in (
            [busy("400 Bad"), busy("400 Bad")],
            [busy("503 Busy", "retry-after: 60\r\n")],
            [b"" for _ in range(50)],
            [b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n0.123456"],
            [b"rubbish\r\n\r\n0.123456" for _ in range(50)],
        ):
            proxy.answers = answers
            with pytest.raises(ServiceError) as error:
                client.tell(name, decision, cost, person=person)
            caught.append(error.value)
        proxy.answers = []
    for each in caught:
        assert each.__cause__ is None
        assert each.__context__ is None
        shown = f"{each} {each!r} {each.args} {vars(each)} " + "".join(traceback.format_exception(each))
        for secret in (str(cost), person, service.key):
            assert secret not in shown
    feedback = Feedback(decision, cost=cost, person=person)
    assert str(cost) not in repr(feedback)
    assert person not in repr(feedback)


def test_the_search_would_find_them() -> None:
    """An error with a value in it would be seen by the test above."""
    each = ServiceError("odd", "cost 0.123456")
    assert "0.123456" in f"{each}"
    assert "0.123456" in repr(each)


def test_the_same_bit_is_sent_again(connect: Callable[..., Any], service: RunningService, shop: Shop) -> None:
    """By retries, and by a caller who tells again after an error, whatever the cost is then.

    New bits for 12 decisions, each with costs 1 and 0, would all agree with probability 1e-6 at most.
    """
    name = shop()
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url, randomize=Pinned(1.0, (0, 1)))
        bits: list[set[bytes]] = []
        for decision in client.ask(name, 12):
            client.tell(name, client.ask(name), 0.0)  # asks for the learner's figures, once
            before = len(proxy.sent)
            proxy.answers = [b"rubbish\r\n\r\n", busy("502 Bad"), busy("400 Bad")]
            with pytest.raises(ServiceError):
                client.tell(name, decision, 1.0)
            proxy.answers = []
            client.tell(name, decision, 0.0)
            client.tell_many(name, [(decision, 0.0)])
            sent = proxy.sent[before:]
            bits.append({sent[k + 6 : k + 7] for k in range(len(sent)) if sent[k : k + 6] == b'"bit":'})
            assert sent.count(b'"bit":') == 5
    assert all(len(each) == 1 for each in bits)
