import json
from collections.abc import Callable
from typing import Any

import pytest
import scipy.stats

from discreet import BanditLearner, errors
from discreet.client import Client, Pinned
from discreet.client.pinned import Bits
from discreet.randomizers import OneBit
from discreet.set_functions import Modular
from flaky_proxy import FlakyProxy
from running_service import RunningService

Shop = Callable[..., str]
PINNED = Pinned(epsilon=1.0, cost_range=(0, 1))


def test_the_cost_never_leaves(connect: Callable[..., Any], service: RunningService, shop: Shop) -> None:
    """The bytes on the wire hold bits and no cost, in whatever way it is told; the service learns."""
    name = shop()
    with FlakyProxy(service.port, seed=3, lost=(0.05, 0.05, 0.05)) as proxy:
        client = connect(proxy.url, randomize=PINNED)
        for number in range(20):
            client.tell(name, client.ask(name), 0.7654321 + number / 1e9)
        costs = [0.6543219 + number / 1e9 for number in range(500)]
        codes = client.tell_many(name, zip(client.ask(name, 500), costs, strict=True))
        assert codes == 500 * ["accepted"]
        found = client.learner(name)
    assert b".76543" not in proxy.sent
    assert b".65432" not in proxy.sent
    assert b'"cost"' not in proxy.sent
    assert proxy.sent.count(b'"bit":') >= 520
    assert found.rounds == found.counts.told == 520


def test_the_search_would_find_it(connect: Callable[..., Any], service: RunningService, shop: Shop) -> None:
    """Without randomising, the cost is among the bytes."""
    name = shop()
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url)
        client.tell(name, client.ask(name), 0.7654321)
    assert b'"cost":0.7654321' in proxy.sent


@pytest.mark.parametrize(
    ("pinned", "named"),
    [
        (Pinned(0.5, (0, 1)), "epsilon"),
        (Pinned(1.0, (0, 2)), "cost_range"),
        (Pinned(1.0, (0, 1), rounds_per_person=2), "rounds_per_person"),
        (Pinned(1.0, (0, 1), delta=1e-6), "delta"),
    ],
    ids=["epsilon", "range", "rounds", "delta"],
)
def test_other_settings_are_refused(
    connect: Callable[..., Any], service: RunningService, shop: Shop, pinned: Pinned, named: str
) -> None:
    """Before anything is sent, each time it is tried."""
    name = shop()
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url, randomize=pinned)
        decision = client.ask(name)
        for _ in range(2):
            with pytest.raises(errors.InvalidArgument, match=named):
                client.tell(name, decision, 0.25)
        assert b"/tell" not in proxy.sent


def test_a_server_cannot_lower_what_is_pinned(
    connect: Callable[..., Any], service: RunningService, shop: Shop
) -> None:
    """One that declares a larger epsilon, or a narrower range, gets nothing at all."""
    name = shop()
    with FlakyProxy(service.port) as proxy:
        client = connect(proxy.url, randomize=PINNED)
        honest = json.loads(_get(service, f"/v1/learners/{name}"))
        decision = client.ask(name)
        for lie in (
            {"epsilon": 50.0},
            {"cost_range": [0.2, 0.3]},
            {"feedback": "full_information"},
            {"mode": "central"},
        ):
            body = json.dumps(honest | lie).encode()
            proxy.answers = [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)]
            with pytest.raises(errors.InvalidArgument):
                client.tell(name, decision, 0.25)
        assert b"/tell" not in proxy.sent
        client.tell(name, decision, 0.25)


def _get(service: RunningService, path: str) -> bytes:
    with Client(service.url, service.key) as client:
        answer: bytes = client._http.get(path).content
        return answer


def test_learners_can_be_pinned_by_name(connect: Callable[..., Any], shop: Shop) -> None:
    """Those that are left out are refused; functions are, too; bits of the caller's own are sent."""
    name, other = shop(epsilon=2.0, rounds_per_person=4), shop()
    client = connect(randomize={name: Pinned(2.0, (0, 1), rounds_per_person=4)})
    client.tell(name, client.ask(name), 0.1)
    with pytest.raises(errors.InvalidArgument, match="pinned"):
        client.tell(other, client.ask(other), 0.1)
    with pytest.raises(errors.InvalidArgument, match="functions"):
        client.tell(name, client.ask(name), function=Modular([0, 0, 0]))
    with pytest.raises(errors.InvalidArgument, match="not what items brought"):
        client.tell(name, client.ask(name), 0.1, items={"tea": 0.1})
    client.tell(other, client.ask(other), released=1)
    with pytest.raises(errors.InvalidArgument, match="another epsilon or range than is pinned"):
        client.tell(name, client.ask(name), released=OneBit(50.0, (0, 1)).release(0.1))


def test_a_delta_is_pinned_as_declared(service: RunningService, shop: Shop) -> None:
    """Both sides make a bit of the same loss out of it, larger than epsilon / rounds_per_person."""
    name = shop(rounds_per_person=86, delta=1e-6)
    pinned = Pinned(1.0, (0, 1), rounds_per_person=86, delta=1e-6)
    with Client(service.url, service.key, randomize=pinned) as client:
        client.tell(name, client.ask(name), 0.25)
        assert client.learner(name).delta == client.guarantee(name).delta == 1e-6
    twin = BanditLearner(2, 1.0, (0, 1), mode="local", rounds_per_person=86, delta=1e-6)
    assert pinned.randomizer().slope == twin.randomizer().slope > OneBit(2.2 / 86, (0, 1)).slope


@pytest.mark.parametrize("maximize", [False, True], ids=["costs", "rewards"])
def test_learning_goes_the_right_way(service: RunningService, shop: Shop, maximize: bool) -> None:
    """Bits are of the value as it is told; the service knows whether large is good.

    Tea lowers the value and milk raises it by 0.4. After 6,000 bits at epsilon 4 the wrong set is many
    standard deviations away.
    """
    name = shop(items=["tea", "milk"], epsilon=4.0, maximize=maximize)
    with Client(service.url, service.key, randomize=Pinned(4.0, (0, 1))) as client:
        for _ in range(12):
            decisions = client.ask(name, 500)
            values = [0.5 - 0.4 * ("tea" in d.subset) + 0.4 * ("milk" in d.subset) for d in decisions]
            assert set(client.tell_many(name, zip(decisions, values, strict=True))) == {"accepted"}
        found = client.learner(name)
    tea, milk = found.point
    assert (tea < 0.5 < milk) if maximize else (milk < 0.5 < tea)
    assert found.mean is not None
    assert (found.mean > 0.5) == maximize


def test_bits_have_the_law_of_the_pinned_loss() -> None:
    """Of one round: epsilon / rounds_per_person; another loss is rejected.

    10,000 bits of the largest cost, false-alarm rate 1e-6.
    """
    bits = Bits(Pinned(epsilon=4.0, cost_range=(0, 1), rounds_per_person=4), most=20_000)
    ones = sum(bits.bit("shop", f"{k}", 1.0) for k in range(10_000))
    right, wrong = (float(OneBit(loss, (0, 1)).probability_of_one(1 << 20)) for loss in (1.0, 1.25))
    assert scipy.stats.binomtest(ones, 10_000, right).pvalue > 1e-6
    assert scipy.stats.binomtest(ones, 10_000, wrong).pvalue < 1e-6


def test_bits_are_remembered_for_each_decision_and_forgotten_later() -> None:
    """The first value counts; memory is bounded."""
    bits = Bits(Pinned(epsilon=0.1, cost_range=(0, 1)), most=1000)
    first = [bits.bit("shop", str(k), 0.5) for k in range(1000)]
    assert [bits.bit("shop", str(k), 1.0) for k in range(1000)] == first
    others = [bits.bit("other", str(k), 0.5) for k in range(1000)]
    assert others != first
    assert len(bits._made) == 1000


@pytest.mark.parametrize(
    "arguments",
    [(0, (0, 1)), (-1.0, (0, 1)), (1.0, (1, 0)), (1.0, (0, 1), 0), (1.0, (0, 1), 2, 1.0)],
    ids=str,
)
def test_invalid_pins_are_refused(arguments: tuple[Any, ...]) -> None:
    """When they are made, not when a cost comes."""
    with pytest.raises(errors.InvalidArgument):
        Pinned(*arguments)
