import asyncio
import concurrent.futures
import gc
import logging
import os
import pickle
import socket
import ssl
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

import discreet
from discreet import AsyncClient, Client, errors
from discreet.client import Decision, Feedback, Learner, ServiceError, Unreachable
from discreet.client.retrying import failure
from discreet.set_functions import Modular
from flaky_proxy import FlakyProxy
from running_service import RunningService, free_port

Shop = Callable[..., str]


def test_asks_and_tells(client: Any, shop: Shop) -> None:
    """One decision or a list; what was told is learned from and counted."""
    name = shop()
    one = client.ask(name)
    assert isinstance(one, Decision)
    assert one.subset <= {"tea", "milk", "rice"}
    assert one.learner == name
    client.tell(name, one, 0.3)
    many = client.ask(name, 5)
    assert len({each.id for each in many}) == 5
    assert client.tell_many(name, [(many[0], 0.2), *(Feedback(d.id, cost=1) for d in many[1:4])]) == 4 * [
        "accepted"
    ]
    client.tell(name, many[4].id, released=1)
    found = client.learner(name)
    assert found.rounds == found.counts.told == 6
    assert found.counts.pending == 0
    assert [each for each in client.learners() if each.name == name] == [found]


def test_items_can_be_switched_off(client: Any, shop: Shop) -> None:
    """Sets are among those that are available."""
    name = shop()
    assert all(each.subset <= {"tea"} for each in client.ask(name, 20, {"tea"}))
    assert all(each.subset <= {"milk"} for each in client.ask(name, 20, available=["milk"]))


def test_a_request_id_gets_the_same_answer(client: Any, shop: Shop) -> None:
    """Whoever sends it; without a name every ask is another."""
    name = shop()
    first = client.ask(name, 3, request_id="order-17")
    assert client.ask(name, 3, request_id="order-17") == first
    assert client.ask(name, 3) != first
    with pytest.raises(errors.InvalidArgument):
        client.ask(name, 4, request_id="order-17")


def test_functions_can_be_told(client: Any, shop: Shop) -> None:
    """As objects and as JSON; anything else counts as neutral, and nothing is refused."""
    name = shop(feedback="full_information", items=3)
    told = [Modular([0.1, 0.2, -0.1]), {"kind": "Modular", "weights": [0, 1, 0]}, object(), None]
    for function in told:
        client.tell(name, client.ask(name), function=function)
    assert client.learner(name).counts.told == len(told)


def test_items_can_be_told(client: Any, shop: Shop) -> None:
    """Beside the cost, alone and in lists; whatever they are called, and whatever is told of them."""
    name = shop(mode="central", method="model", item_total=1.0)
    one, *many = client.ask(name, 4)
    client.tell(name, one, 0.3, items=dict.fromkeys(one.subset, 0.1))
    odd = {"tea": float("nan"), "milk": object(), 7: 1, (1, 2): 0.5, None: 3, "\ud800": 10**400}
    told = [(many[0], 0.2), (many[1], 0.2, {"tea": 0.2}), Feedback(many[2], None, items=odd)]
    assert client.tell_many(name, told) == 3 * ["accepted"]
    assert client.learner(name).counts.told == 4
    other = shop()
    with pytest.raises(errors.InvalidArgument, match="item_total") as caught:
        client.tell(other, client.ask(other), 0.3, items={"tea": 0.31})
    assert "0.31" not in str(caught.value)


def test_costs_of_any_kind_are_accepted(client: Any, shop: Shop) -> None:
    """Costs are private: none is refused."""
    name = shop()
    odd = [float("nan"), float("inf"), None, "lots", 10**400, object()]
    assert client.tell_many(name, zip(client.ask(name, len(odd)), odd, strict=True)) == len(odd) * [
        "accepted"
    ]


@pytest.mark.parametrize("first", [0.7319, 7319, None])
def test_swapped_arguments_are_refused_before_anything_is_sent(client: Any, shop: Shop, first: Any) -> None:
    """A cost in the place of the decision would be sent as it is, and land in logs."""
    name = shop()
    decision = client.ask(name)
    for attempt in (
        lambda: client.tell(name, first, decision),
        lambda: client.tell(name, first, 0.5),
        lambda: client.tell(name, decision, decision),
        lambda: client.tell_many(name, [(first, decision)]),
    ):
        with pytest.raises(TypeError) as refused:
            attempt()
        assert "7319" not in f"{refused.value!r}"
    assert client.learner(name).counts.told == 0


def test_many_things_are_told_in_several_requests(client: Any, shop: Shop) -> None:
    """More than one request takes; codes come in order."""
    name = shop()
    decisions = [each for _ in range(11) for each in client.ask(name, 1000)]
    told: list[Any] = [(each, 0.5) for each in decisions]
    told.insert(10_500, ("00" * 16, 0.5))
    codes = client.tell_many(name, told)
    assert codes.pop(10_500) == "unknown_decision"
    assert codes == 11_000 * ["accepted"]
    assert client.learner(name).rounds == 11_000
    assert client.tell_many(name, []) == []


def test_learners_and_populations(client: Any) -> None:
    """All that an admin needs; the ledger adds up and refuses."""
    people = type(client).__name__
    name = f"{people}-1"
    client.set_population(people, 1.5)
    made = client.create_learner(
        name, "bandit", 4, epsilon=1.0, cost_range=(0, 2), maximize=True, population=people
    )
    assert isinstance(made, Learner)
    assert (made.items, made.cost_range, made.maximize) == ((0, 1, 2, 3), (0.0, 2.0), True)
    assert (made.mode, len(made.point)) == ("central", 4)
    with pytest.raises(errors.BudgetExceeded):
        client.create_learner(f"{name}-2", "bandit", 2, epsilon=1.0, cost_range=(0, 1), population=people)
    assert client.population(people).spent == 1.0
    assert client.population(people) in client.populations()
    promise = client.guarantee(name)
    assert (promise.epsilon, promise.local, promise.private) == (1.0, False, True)
    assert client.archive(name).status == "archived"
    assert client.archive(name).status == "archived"
    with pytest.raises(errors.Archived):
        client.ask(name)


def test_errors_have_codes(client: Any, connect: Callable[..., Any], shop: Shop) -> None:
    """Each is also the error that the library has for it."""
    name, other = shop(), shop()
    decision = client.ask(name)
    cases: list[tuple[Callable[[], Any], str, type[Exception]]] = [
        (lambda: client.ask("nobody"), "not_found", errors.UnknownName),
        (lambda: client.learner("nobody"), "not_found", KeyError),
        (lambda: client.tell(name, "ab" * 16, 0.5), "unknown_decision", errors.UnknownDecision),
        (lambda: client.tell(other, decision, 0.5), "foreign_decision", ValueError),
        (lambda: client.tell(name, decision, function=Modular([0, 0, 0])), "invalid_feedback", ValueError),
        (lambda: client.ask(name, 10_000), "invalid_request", errors.InvalidArgument),
        (
            lambda: client.create_learner(name, "bandit", 2, epsilon=1, cost_range=(0, 1)),
            "already_exists",
            errors.AlreadyExists,
        ),
        (
            lambda: client.create_learner("odd", "bandit", 2, epsilon=-1, cost_range=(0, 1)),
            "invalid_request",
            errors.InvalidArgument,
        ),
        (lambda: connect(key="discreet_wrong").ask(name), "unauthorized", PermissionError),
    ]
    for call, code, kind in cases:
        with pytest.raises(ServiceError) as caught:
            call()
        assert caught.value.code == code
        assert isinstance(caught.value, kind)
        assert caught.value.attempts == 1
        assert code in str(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.code, again.status) == (str(caught.value), code, caught.value.status)


def test_feedback_of_no_shape_is_refused_here(client: Any, shop: Shop) -> None:
    """Without quoting any of it."""
    name = shop()
    decision = client.ask(name)
    shapeless: list[dict[str, Any]] = [
        {},
        {"cost": 0.31, "released": 1},
        {"released": 2},
        {"released": 0.31},
        {"cost": 0.31, "person": 7},
        {"released": 1, "items": {"tea": 0.31}},
        {"items": {"tea": 0.31}},
    ]
    for told in shapeless:
        with pytest.raises(errors.InvalidArgument) as caught:
            client.tell(name, decision, **told)
        assert "0.31" not in str(caught.value)
    with pytest.raises(errors.InvalidType):
        client.tell_many(name, [0.31])
    with pytest.raises(errors.InvalidType, match="mapping from items") as unfit:
        client.tell(name, decision, 0.5, items=[0.31])
    assert "0.31" not in str(unfit.value)


def test_an_unreachable_service(connect: Callable[..., Any]) -> None:
    """Tried until the deadline, and not longer; the error says where, and what went wrong."""
    url = f"http://127.0.0.1:{free_port()}"
    client = connect(url, deadline=2)
    with pytest.raises(Unreachable) as caught:
        client.ask("shop")
    assert caught.value.attempts > 1
    assert isinstance(caught.value, ConnectionError)
    assert f"The service did not answer ({url}: connection refused); tried " in str(caught.value)


def test_failures_have_reasons(connect: Callable[..., Any], service: RunningService) -> None:
    """No answer in time, or a connection that breaks."""
    with FlakyProxy(service.port) as proxy:
        proxy.answers = [b"" for _ in range(50)]
        with pytest.raises(Unreachable, match="no answer in time"):
            connect(proxy.url, deadline=2).ask("shop")
    with FlakyProxy(service.port, lost=(1, 0, 0)) as proxy, pytest.raises(Unreachable, match="broke"):
        connect(proxy.url, deadline=2).ask("shop")


@pytest.mark.parametrize(
    ("led_to", "words"),
    [
        (socket.gaierror("discreet_secret"), "unknown host"),
        (ssl.SSLCertVerificationError("discreet_secret"), "untrusted certificate"),
        (OSError("discreet_secret"), "no connection"),
    ],
)
def test_failures_have_reasons_without_their_messages(led_to: Exception, words: str) -> None:
    """By what led to them, however deep."""
    error, between = httpx2.ConnectError("discreet_secret"), OSError("discreet_secret")
    error.__cause__, between.__context__ = between, led_to
    assert failure(error) == (words, False)


def test_the_services_message_about_a_name_is_repeated(client: Any) -> None:
    """An ask holds nothing private."""
    with pytest.raises(errors.UnknownName, match="No learner is named 'tll'"):
        client.ask("tll")


@pytest.mark.parametrize(
    "url",
    ["http://shop.example", "http://192.0.2.7:8710", "ftp://localhost", "localhost:8710", "https://", 7],
)
def test_keys_do_not_travel_in_the_clear(url: Any) -> None:
    """Plain HTTP is for this very machine, unless it is allowed."""
    for kind in (Client, AsyncClient):
        with pytest.raises(errors.InvalidArgument):
            kind(url, "discreet_secret")


def test_plain_http_can_be_allowed() -> None:
    """By somebody who knows that the network is encrypted; loopback needs no permission."""
    with Client("http://192.0.2.7:8710", "k", allow_insecure=True) as client:
        assert client.url == "http://192.0.2.7:8710"
    for url in ("http://localhost:1", "http://127.0.0.2", "http://[::1]:8", "https://shop.example/discreet"):
        with Client(url + "/", "k") as client:
            assert client.url == url


@pytest.mark.parametrize("key", ["", "with space", "line\nbreak", "ключ", None, b"bytes"])
def test_keys_that_do_not_fit_a_header_are_refused(key: Any) -> None:
    """And not quoted."""
    with pytest.raises(errors.InvalidArgument) as caught:
        Client("http://localhost", key)
    assert not key or str(key) not in str(caught.value)


def test_passwords_in_addresses_are_refused() -> None:
    """And not quoted."""
    with pytest.raises(errors.InvalidArgument) as caught:
        Client("https://me:hunter2@shop.example", "k")
    assert "hunter2" not in str(caught.value)


def test_a_client_shows_no_key(service: RunningService) -> None:
    """Neither printed nor pickled."""
    client = Client(service.url, service.key)
    assert service.key not in repr(client)
    with pytest.raises(errors.NotCopyable):
        pickle.dumps(client)
    client.close()


def test_clients_are_contexts(service: RunningService, shop: Shop) -> None:
    """Both kinds close their connections."""
    name = shop()
    with Client(service.url, service.key) as client:
        client.ask(name)

    async def both() -> None:
        async with discreet.AsyncClient(service.url, service.key) as client:
            decisions = await asyncio.gather(*(client.ask(name) for _ in range(20)))
            assert len({each.id for each in decisions}) == 20

    asyncio.run(both())
    gc.collect()  # a connection left open would be a warning, which is an error here


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_its_own_connections(service: RunningService, shop: Shop) -> None:
    """Parent and child go on with one client; each gets its own answers."""
    name = shop()
    with Client(service.url, service.key) as client:
        client.ask(name)
        child = os.fork()
        if child == 0:
            try:
                fine = all(client.ask(name, 3, request_id=f"child{k}") for k in range(30))
            finally:
                os._exit(0 if fine else 1)
        mine = [client.ask(name, 2, request_id=f"parent{k}") for k in range(30)]
        assert os.waitpid(child, 0)[1] == 0
        assert [client.ask(name, 2, request_id=f"parent{k}") for k in range(30)] == mine
        assert all(len(client.ask(name, 3, request_id=f"child{k}")) == 3 for k in range(30))
        assert client.learner(name).counts.asked == 1 + 30 * 2 + 30 * 3


def test_threads_share_a_client(service: RunningService, shop: Shop) -> None:
    """Each gets answers to its own questions."""
    name = shop()
    with Client(service.url, service.key, randomize=discreet.Pinned(1.0, (0, 1))) as client:

        def work(number: int) -> list[Decision]:
            decisions = [client.ask(name, request_id=f"{number}-{k}") for k in range(20)]
            for decision in decisions:
                client.tell(name, decision, 0.25)
            return decisions

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(work, range(8)))
        for number, decisions in enumerate(answers):
            assert [client.ask(name, request_id=f"{number}-{k}") for k in range(20)] == decisions
        assert client.learner(name).rounds == 160


def test_libraries_below_log_nothing_private(
    client: Any, shop: Shop, service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """At their most talkative: no cost, no person, no key."""
    name = shop()
    with caplog.at_level(logging.DEBUG):
        client.tell(name, client.ask(name), 0.1234567, person="somebody")
    assert "/tell" in caplog.text
    for secret in ("1234567", "somebody", service.key):
        assert secret not in caplog.text
