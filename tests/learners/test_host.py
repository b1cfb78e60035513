"""Hosts keep no decisions: tickets and reports come from elsewhere, and a state goes in and out."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pytest
from examples.gallery.own_policy import OneByOne
from scipy import stats

from discreet.errors import DiscreetError, InvalidArgument
from discreet.learners import BanditLearner
from discreet.learners import host as hosting
from discreet.learners.host import Host, HostState, OpenSums
from discreet.learners.tickets import INLINE, Dealt, Plan, StoredTicket
from discreet.policies.choose import NUMBER
from discreet.randomness import BitSource
from discreet.set_functions import Modular
from discreet.state import arrays_in
from every_learner import worst_case_bandit

N = 4


#: Arguments of learners that learn from every round by itself, and of those with phases.
BY_ROUNDS: dict[str, Any] = {"mode": "local", "method": "worst-case"}
PHASED: list[tuple[str, dict[str, Any]]] = [
    ("bandit", {"mode": "central"}),
    ("bandit", {"mode": "local"}),
    ("bandit", {"mode": "central", "method": "worst-case"}),
    ("bandit", {"mode": "central", "holdout": [["a"], 0.3]}),
    ("bandit", {"mode": "central", "item_total": 1.0}),
    ("full_information", {"method": "choose"}),
    ("full_information", {"method": "leader"}),
    ("full_information", {"method": "blocks"}),
]


def made(kind: str = "bandit", **arguments: Any) -> Host:
    given = {"epsilon": 1.0, "cost_range": [-1, 1]} | (arguments or BY_ROUNDS)
    return Host({"kind": kind, "items": ["a", "b", "c", "d"], "arguments": given})


def dealt(host: Host, state: HostState, count: int = 1, available: Any = None) -> list[Dealt]:
    """Rounds that are phases by themselves."""
    plans = [host.plan(state, available) for _ in range(count)]
    assert all(host.is_inline(plan) for plan in plans)
    return [host.dealt(plan, INLINE, 0, available) for plan in plans]


def reports(host: Host, tickets: list[bytes], rng: np.random.Generator) -> list[bytes]:
    if host.local:
        return [bytes([bit]) for bit in rng.integers(0, 2, len(tickets)).tolist()]
    if not host.whole:
        brought = [dict(zip(host.items, rng.uniform(-0.5, 0.5, N), strict=True)) for _ in tickets]
        return [host.cost_report(sum(each.values()), each) for each in brought]
    return [host.function_report(ticket, Modular(rng.uniform(-0.2, 0.2, N))) for ticket in tickets]


def advanced(host: Host, rounds: int, seed: int = 0) -> HostState:
    rng, state = np.random.default_rng(seed), host.start()
    for _ in range(rounds // 10):
        tickets = [each.ticket for each in dealt(host, state, 10)]
        state, _ = host.apply(state, tickets, reports(host, tickets, rng))
    return state


@pytest.mark.parametrize("maximize", [False, True])
def test_a_hosted_bandit_learns_what_a_session_learns(maximize: bool) -> None:
    """The same coins and the same bits: the same sets, the same point and mean, bit for bit."""
    host = made(maximize=maximize, **BY_ROUNDS)
    session = worst_case_bandit(["a", "b", "c", "d"], 1.0, (-1, 1), maximize=maximize)
    host._session._coins, session._coins = BitSource(3), BitSource(3)
    state, rng = host.start(), np.random.default_rng(1)
    for _ in range(60):
        (each,) = dealt(host, state)
        decision = session.ask()
        session._coins.bits64()  # where a host draws a seed, which phases of one round do not need
        members = np.unpackbits(np.frombuffer(each.subset, dtype=np.uint8), bitorder="little")[:N]
        assert {host.items[i] for i in np.flatnonzero(members)} == decision.subset
        bit = int(rng.integers(0, 2))
        state, _ = host.apply(state, [each.ticket], [bytes([bit])])
        session.tell(decision, released=bit)
    summary = host.summary(state)
    assert summary.point == tuple(session.point.tolist())
    assert (summary.rounds, summary.releases, summary.mean) == (60, 60, session.mean_cost)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_hosted_bandit_learns_from_items_what_a_session_learns(maximize: bool) -> None:
    """The same coins, costs and noise, phase by phase: the same state; items are named as JSON has them."""
    arguments = {"epsilon": 4.0, "cost_range": [-1, 1], "item_total": 1.0, "maximize": maximize}
    host = Host({"kind": "bandit", "items": [7, "b", "c", "d"], "arguments": arguments})
    session = BanditLearner([7, "b", "c", "d"], 4.0, (-1, 1), item_total=1.0, maximize=maximize, seed=1)
    host._session._source, session._source = BitSource(5), BitSource(5)
    state = host.start()
    for number in range(8):
        host._session._coins, session._coins = BitSource(number), BitSource(number)
        plan = host.plan(state)
        dealt_now = [host.dealt(plan, number, place, None) for place in range(plan.total)]
        told = []
        for each in dealt_now:
            chosen = {item for k, item in enumerate(host.items) if each.subset[0] >> k & 1}
            cost, items = brought_by(chosen)
            told.append(host.cost_report(cost, {str(item): value for item, value in items.items()}))
        tickets = [each.ticket for each in dealt_now]
        _, sums = host.apply(state, tickets, told, {number: plan})
        state = host.closed(state, plan, sums[number])
        for decision in session.ask(count=plan.total):
            cost, items = brought_by(decision.subset)
            session.tell(decision, cost, items=items)
    session.ask()
    mine, theirs = arrays_in(state.policy), arrays_in(session._learned_state())
    assert mine.keys() == theirs.keys()
    assert all((mine[name] == theirs[name]).all() for name in mine)
    assert host.summary(state).point == tuple(session.point.tolist())


def brought_by(chosen: Collection[Any]) -> tuple[float, dict[Any, Any]]:
    """A cost, and what items brought: some are not in the set, unknown, or bring what is not a number."""
    worth = {7: -0.3, "b": 0.4, "c": 0.1, "d": float("nan"), "z": 0.9}
    return sum(worth[item] for item in chosen if item != "d"), {**worth, "c": 0.1 if 7 in chosen else "x"}


class Failing(dict[Any, Any]):
    """A mapping that cannot be read."""

    def items(self) -> Any:
        raise ZeroDivisionError


def test_reports_of_items_have_one_length_whatever_is_told() -> None:
    """And what is not a mapping, or names nothing that was shown, counts as nothing."""
    host = made(epsilon=1.0, cost_range=[-1, 1], item_total=1.0)
    plan = host.plan(host.start())
    tickets = [host.dealt(plan, 0, place, None).ticket for place in range(plan.total)]
    shown = next(ticket for ticket in tickets if StoredTicket.decode(ticket, N).size)
    item = host.items[StoredTicket.decode(shown, N).order[0]]
    given: list[Any] = [
        None,
        {},
        [0.5],
        "x",
        7.5,
        {item: None},
        {item: "?"},
        {"z": 0.5},
        {item: {}},
        Failing({item: 0.5}),
        {item: 0.5},
    ]
    told = [host.cost_report(0.25, each) for each in given]
    assert {len(report) for report in [*told, host.neutral(shown)]} == {8 * (N + 1)}
    found = [host.apply(host.start(), [shown], [report], {0: plan})[1][0].sums for report in told]
    assert all((sums == found[0]).all() for sums in found[:-1])
    assert (found[0] != found[-1]).any()


@pytest.mark.parametrize(
    ("items", "arguments", "problem"),
    [
        (["a", "b"], {"mode": "local"}, "needs mode='central'"),
        ([1, "1"], {}, "written alike"),
    ],
)
def test_learners_by_item_that_a_service_cannot_have(
    items: list[Any], arguments: dict[str, Any], problem: str
) -> None:
    """With the reason."""
    given = {"epsilon": 1.0, "cost_range": [-1, 1], "item_total": 1.0} | arguments
    with pytest.raises(InvalidArgument, match=problem):
        Host({"kind": "bandit", "items": items, "arguments": given})


def test_a_state_is_a_value() -> None:
    """Applying changes no state that was given; bytes give it back; those of another learner are refused."""
    host = made()
    state = advanced(host, 200)
    before = host.encode(state)
    tickets = [each.ticket for each in dealt(host, state, 30)]
    after, _ = host.apply(state, tickets, reports(host, tickets, np.random.default_rng(5)))
    assert host.encode(state) == before != host.encode(after)
    assert host.encode(host.decode(before)) == before
    again = Host(host.settings)
    assert again.summary(again.decode(before)).point == host.summary(state).point
    with pytest.raises(DiscreetError):
        Host({**host.settings, "items": ["a", "b"]}).decode(before)
    with pytest.raises(DiscreetError, match="other constants"):
        Host({**host.settings, "arguments": host.settings["arguments"] | {"epsilon": 2.0}})


def test_silence_gets_the_bit_of_the_middle() -> None:
    """Seed 9, 20,000 neutral bits, alpha = 1e-6: a fair coin fits, that of 0.6 in [0, 1] does not."""
    host = made(mode="local", cost_range=[0, 1])
    host._session._source = BitSource(9)
    ones = sum(host.neutral(b"")[0] for _ in range(20_000))
    randomizer = host.randomizer
    assert randomizer is not None
    for value, fits in ((0.5, True), (0.6, False)):
        chance = float(randomizer.probability_of_one(randomizer.grid.of(value)))
        assert bool(stats.binomtest(ones, 20_000, chance).pvalue > 1e-6) is fits


def test_bits_of_values_of_any_kind() -> None:
    """Nothing is raised; what is not a number counts as the middle; the law is that of the randomizer."""
    host = made()
    assert set(host.bits([0.3, None, "x", float("nan"), object(), 1e300, -5])) <= {0, 1}
    host._session._source = BitSource(4)
    ones = sum(host.bits([7.0] * 20_000))  # far outside: the end of the range
    assert host.randomizer is not None
    chance = float(host.randomizer.probability_of_one(host.randomizer.grid.units))
    assert stats.binomtest(ones, 20_000, chance).pvalue > 1e-6


@pytest.mark.parametrize(("kind", "arguments"), PHASED, ids=str)
def test_a_phase_is_released_once_when_all_its_reports_are_there(
    kind: str, arguments: dict[str, Any]
) -> None:
    """Dealt as planned, whatever order reports come in; not before; the policy has learned afterwards."""
    host = made(kind, **{"epsilon": 1.0, "cost_range": [-1, 1], **arguments})
    state, rng = host.start(), np.random.default_rng(1)
    for number in range(3):
        plan = Plan.decode(host.plan(state).encode(), N)  # as a store gives it back
        tickets = [host.dealt(plan, number, place, None).ticket for place in range(plan.total)]
        slots = [StoredTicket.decode(ticket, N).slot for ticket in tickets]
        assert np.bincount(slots).tolist() == plan.phase.rounds.tolist()
        told = reports(host, tickets, rng)
        told[0] = host.neutral(tickets[0])
        assert len(set(map(len, told))) == 1
        order = rng.permutation(plan.total)
        half = np.array_split(order, 2)
        sums: dict[int, OpenSums] = {}
        for part in half:
            assert number not in sums or not host.is_complete(plan, sums[number])
            if number in sums:
                with pytest.raises(InvalidArgument):
                    host.closed(state, plan, sums[number])
                sums[number] = host.decode_sums(sums[number].encode(), sums[number].applied, plan)
            same, sums = host.apply(
                state, [tickets[k] for k in part], [told[k] for k in part], {number: plan}, sums
            )
            assert same is state  # nothing has been released
        whole = host.apply(state, tickets, told, {number: plan})[1][number]
        if not host.local:
            assert (whole.sums == sums[number].sums).all()
        before = host.encode(state)
        after = host.closed(state, plan, sums[number])
        assert host.encode(state) == before
        assert host.rounds(after) == host.rounds(state) + plan.total
        assert host.releases(after) == host.releases(state) + (plan.total if host.local else 1)
        state = host.decode(host.encode(after))
    assert host.summary(state).rounds == host.rounds(state)
    assert (host.summary(state).held is not None) is ("holdout" in arguments)


@pytest.mark.parametrize(("kind", "arguments"), PHASED, ids=str)
def test_a_restart_goes_on_with_what_was_learned(kind: str, arguments: dict[str, Any]) -> None:
    """With a release that has no secrets; phases are planned, closed and learned from as before."""
    host = made(kind, **{"epsilon": 8.0, "cost_range": [-1, 1], **arguments})
    state, rng = host.start(), np.random.default_rng(1)
    for number in range(6):
        if number == 4:
            restarted = host.restarted(state)
            assert host.summary(restarted).point == host.summary(state).point
            assert (host.rounds(restarted), host.releases(restarted)) == (host.rounds(state), 0)
            fresh, secrets = arrays_in(host.learner.mechanism()), arrays_in(restarted.mechanism)
            assert all((secrets[name] == fresh[name]).all() for name in fresh)
            state = host.decode(host.encode(restarted))
        plan = host.plan(state)
        tickets = [host.dealt(plan, number, place, None).ticket for place in range(plan.total)]
        _, sums = host.apply(state, tickets, reports(host, tickets, rng), {number: plan})
        before, state = state, host.closed(state, plan, sums[number])
        if kind == "full_information" and arguments["method"] == "choose":
            assert state.policy.counts[NUMBER] == before.policy.counts[NUMBER] + 1  # a set was chosen
    assert 0 < host.releases(state) < host.rounds(state)


def test_sums_of_a_central_phase_are_exact_until_they_are_released() -> None:
    """They are the costs on their grid, missing ones in the middle; the release adds noise."""
    host = made(mode="central", cost_range=[0, 1], epsilon=1.0)
    plan = host.plan(host.start())
    tickets = [host.dealt(plan, 0, place, None).ticket for place in range(plan.total)]
    slots = np.array([StoredTicket.decode(ticket, N).slot for ticket in tickets])
    costs = np.random.default_rng(3).uniform(-0.2, 1.2, plan.total)
    told = [host.cost_report(cost) for cost in costs]
    told[0], costs[0] = host.neutral(tickets[0]), 0.5
    told[1], costs[1] = host.cost_report("?"), 0.5
    (sums,) = host.apply(host.start(), tickets, told, {0: plan})[1].values()
    step = host.learner.query.bound.step
    exact = np.bincount(slots, np.clip(costs, 0, 1) - 0.5)
    np.testing.assert_allclose(sums.sums[:, 0] * step, exact, atol=plan.total * step)
    released = {host.encode(host.closed(host.start(), plan, sums)) for _ in range(5)}
    assert len(released) == 5


def test_what_was_released_is_final_even_if_the_policy_fails_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise noise would be drawn again until the policy likes it, which is another law."""

    class Picky(OneByOne):
        def learn(self, state: Any, released: Any) -> Any:
            raise ValueError("not this one")

    monkeypatch.setattr(hosting, "KINDS", dict(hosting.KINDS))
    hosting.register("picky", Picky)
    arguments = {"epsilon": 1.0, "cost_range": [0, 1]}
    host = Host({"kind": "picky", "items": 2, "arguments": arguments})
    state = host.start()
    plan = host.plan(state)
    tickets = [host.dealt(plan, 0, place, None).ticket for place in range(plan.total)]
    _, sums = host.apply(state, tickets, [host.cost_report(0.3)] * plan.total, {0: plan})
    after = host.closed(state, plan, sums[0])
    assert (host.releases(after), host.rounds(after)) == (1, plan.total)
    assert all((after.policy[name] == state.policy[name]).all() for name in state.policy)


def test_reports_of_functions_have_one_length_whatever_they_are() -> None:
    """Evaluated when they are told; those that fail or are too long to evaluate count as constant."""
    host = made("full_information", method="choose", epsilon=1.0, cost_range=[0, 1])
    ticket = host.dealt(host.plan(host.start()), 0, 0, None).ticket
    short = {"kind": "Modular", "weights": [0.5, 0, 0, 0]}
    long = {"kind": "Sum", "parts": [short] * (host.longest_description // 40)}
    given: list[Any] = [short, Modular([0.1] * N), lambda chosen: 0.7, {"kind": "?"}, 3, long, None]
    told = [host.function_report(ticket, each) for each in given]
    assert {len(report) for report in [*told, host.neutral(ticket)]} == {8 << N}
    constant = [bool(np.isnan(np.frombuffer(report)).all()) for report in told]
    assert constant == [False, False, False, True, True, True, True]
    assert np.frombuffer(told[0])[1] == 0.5
    with pytest.raises(InvalidArgument, match="use 'leader'"):
        Host(host.settings | {"items": 17, "constants": host.settings["constants"]})


def test_absence_is_not_hidden_where_phases_close_by_arrival() -> None:
    """The guarantee says so; that of the same learner in a session says that it is."""
    host = made("full_information", epsilon=1.0, cost_range=[-1, 1])
    assert host._session.guarantee.absence_hidden
    assert not host.guarantee.absence_hidden
    assert "Who has reported is public" in str(host.guarantee)


def test_a_registered_policy_is_hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In plain Python, on bits; it learns which item costs something. Built-in kinds are not replaced."""
    monkeypatch.setattr(hosting, "KINDS", dict(hosting.KINDS))
    hosting.register("one-by-one", OneByOne)
    arguments = {"epsilon": 8.0, "cost_range": [0, 1], "mode": "local"}
    host = Host({"kind": "one-by-one", "items": [0, 1], "arguments": arguments})
    host._session._coins, host._session._source = BitSource(1), BitSource(2)
    state = host.start()
    for number in range(6):
        plan = host.plan(state)
        made = [host.dealt(plan, number, place, None) for place in range(plan.total)]
        costs = [0.2 + 0.6 * (each.subset[0] & 1) - 0.1 * (each.subset[0] >> 1 & 1) for each in made]
        told = [bytes([bit]) for bit in host.bits(costs)]
        _, sums = host.apply(state, [each.ticket for each in made], told, {number: plan})
        state = host.closed(state, plan, sums[number])
    assert host.summary(Host(host.settings).decode(host.encode(state))).point == (0.0, 1.0)
    with pytest.raises(InvalidArgument, match="built-in"):
        hosting.register("bandit", OneByOne)


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "other", "items": 2, "arguments": {}},
        {"kind": "bandit", "items": 2, "arguments": {"epsilon": 1.0}},
        {"kind": "bandit", "items": 2, "arguments": {"epsilon": 1.0, "cost_range": [0, 1], "seed": 1}},
        {
            "kind": "bandit",
            "items": 2,
            "arguments": {"epsilon": 1.0, "cost_range": [0, 1], "expire_after": 3},
        },
        {"kind": "bandit", "items": 2, "arguments": {"epsilon": 1.0, "cost_range": 7}},
        {"kind": "bandit", "items": [1.5, 2.5], "arguments": {"epsilon": 1.0, "cost_range": [0, 1]}},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    """As errors of this package, whatever is misshapen."""
    with pytest.raises(DiscreetError):
        Host(settings)
