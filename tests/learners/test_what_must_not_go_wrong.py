"""What must not go wrong between policy and kernel, line by line."""

import copy
import functools
import gc
import os
import pickle
import stat
import types
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import load
from discreet.errors import AlreadyTold, Expired, InvalidArgument, InvalidType, NotCopyable, StaleState
from discreet.kernel import Bits, ChainGradient, CostOfSet, Exact, Laplace, Phase, Released, Report
from discreet.kernel.phase import Secret, Ticket
from discreet.learners import BanditLearner, FullInformationLearner, Learner, PolicyLearner
from discreet.learners.packing import OpenPhase
from discreet.policies import ChainBandit, Model
from discreet.policies.model_state import Noise
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.grid import DEFAULT_UNITS
from discreet.randomness import BitSource
from discreet.set_functions import Modular
from discreet.state import decode
from every_learner import LEARNERS, N, Pairs, is_bandit, some_functions, state_of, worst_case_bandit

CENTRAL = [
    "BanditLearner",
    "BanditLearner worst case",
    "FullInformationLearner",
    "FullInformationLearner blocks",
    "PolicyLearner",
]
central = pytest.mark.parametrize("name", CENTRAL)


def middle(learner: Any) -> Any:
    """Feedback that says as much as none."""
    return float("nan") if is_bandit(learner) else Modular(np.zeros(N))


def some(learner: Any, t: int) -> Any:
    function = some_functions()[t % 6]
    return 0.1 * (t % 7) if is_bandit(learner) else function


def shown(learner: Any, decision: Any) -> list[Any]:
    """All that anybody can see after a round."""
    counts = [learner.rounds, learner.pending, learner.generation]
    return [decision, learner.point.tolist(), learner.best, *counts, repr(learner)]


@central
def test_absence(name: str) -> None:
    """Neighbours differ in one round's record: a value or nothing.

    Who never tells leaves the same output, to the last bit, as who tells the middle of the range.
    """
    silent, neutral = LEARNERS[name](3), LEARNERS[name](3)
    for t in range(60):
        for learner in (silent, neutral):
            decision = learner.ask()
            if t % 5 == 2:
                if learner is neutral:
                    learner.tell(decision, middle(learner))
            else:
                learner.tell(decision, some(learner, t))
            shown(learner, decision)
        assert shown(silent, decision) == shown(neutral, decision)
    kept = [
        {key: part for key, part in state_of(each).items() if "tickets" not in key}
        for each in (silent, neutral)
    ]
    assert kept[0] == kept[1]


@central
@pytest.mark.parametrize("expire_after", [0, 2])
def test_closing(name: str, expire_after: int) -> None:
    """A phase closes at a public moment, whoever has told.

    How many rounds were learned from, and how many are open, is the same whoever tells: nobody, everybody,
    some. The counts of a slot are of rounds dealt.
    """
    runs = []
    for share in (0.0, 0.4, 1.0):
        learner, rng = LEARNERS[name](3), np.random.default_rng(1)
        learner.expire_after = expire_after
        counts = []
        for _ in range(40):
            decision = learner.ask()
            if rng.random() < share:
                learner.tell(decision, middle(learner))
            counts.append((learner.rounds, learner.pending))
        runs.append(counts)
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][-1][0] > 0


@pytest.mark.parametrize("name", ["BanditLearner", "BanditLearner worst case"])
def test_tickets(name: str) -> None:
    """A ticket fixes its phase, slot and query when it is dealt and takes one report; repeats are refused."""
    learner = LEARNERS[name](1)
    decision, other = learner.ask(), learner.ask()
    learner.tell(decision, 0.5)
    before = state_of(learner)
    for again in (0.5, -1.0, float("nan")):
        for told in (decision, decision.id):
            with pytest.raises(AlreadyTold):
                learner.tell(told, again)
    with pytest.raises(AlreadyTold):
        learner.tell_many([(other, 0.1), (other, 0.1)])
    assert state_of(learner) == before
    learner.ask(count=learner._phases[0].total - 2)
    learner.ask()  # the phase closes here
    for late in (decision, other):
        with pytest.raises(Expired):
            learner.tell(late, 0.5)


class Sums(Pairs):
    """Notes what it is given."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.seen: list[tuple[Any, ...]] = []

    def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
        self.seen.append(("plan", state, coins, available))
        return super().plan(state, coins, available)

    def learn(self, state: Any, released: Released) -> Any:
        self.seen.append(("learn", state, released))
        return super().learn(state, released)

    def released(self) -> list[Released]:
        return [given_[2] for given_ in self.seen if given_[0] == "learn"]


def hosted(policy: Any, release: Any = None, **options: Any) -> PolicyLearner:
    """A session of a policy; with a release of its own."""
    made = PolicyLearner(N, policy, 1.0, (-1, 1), **options)
    if release is not None:
        made.learner = Learner(N, policy, made.learner.query, release)
        made._mechanism = made.learner.mechanism()
    return made


@settings(max_examples=20)
@given(st.lists(st.one_of(st.none(), st.floats(-1, 1)), min_size=5, max_size=5), st.permutations(range(5)))
def test_missing_records(costs: list[float | None], order: list[int]) -> None:
    """A missing record counts as the neutral value, and C is the number of rounds dealt."""
    policy = Sums(N)
    session = hosted(policy, Exact(), seed=1)
    decisions = session.ask(count=5)
    slots = [session._tickets[decision.id].slot for decision in decisions]
    for k in order:
        if costs[k] is not None:
            session.tell(decisions[k], costs[k])
    session.ask()
    (released,) = policy.released()
    assert released.rounds.tolist() == [2, 3]
    wanted = [0, 0]
    for slot, cost in zip(slots, costs, strict=True):
        wanted[slot] += 0 if cost is None else int(np.floor(cost * DEFAULT_UNITS + 0.5))
    assert released.values[:, 0].tolist() == wanted


def test_noise_is_drawn_once_and_fresh_per_phase() -> None:
    """One draw per slot, when its phase closes, and never again for the same sum."""
    policy = Sums(N)
    session = hosted(policy, seed=4)
    law, same = session._mechanism.law, BitSource(4)
    for phase in range(6):
        start = session._source.saved()
        for decision in session.ask(count=5) if phase == 0 else [session.ask() for _ in range(5)]:
            session.tell(decision, 0.0)
        if phase == 0:
            assert session._source.saved() == start
        closing = session._source.saved()
        for _ in range(3):
            session.point, session.best, session.rounds, session._arrays(), repr(session)
        assert session._source.saved() == closing
    session.ask()
    seen = [number for released in policy.released() for number in released.values[:, 0].tolist()]
    assert seen == noise.sample(law, len(seen), same).tolist()
    assert len(seen) == 12


@central
def test_a_phase_that_did_not_close_is_never_released(name: str, tmp_path: Path) -> None:
    """Neither by reading, nor by saving and loading, nor in any text."""
    learner, other = LEARNERS[name](None), LEARNERS[name](None)
    learner.ask(), other.ask()
    public = [learner.point.tolist(), learner.best, learner.rounds, repr(learner)]
    learner.tell(1, some(learner, 4))
    other.tell(1, middle(other))
    assert [learner.point.tolist(), learner.best, learner.rounds, repr(learner)] == public
    assert repr(other) == repr(learner)
    learner.save(tmp_path / "learner")
    assert [learner.point.tolist(), learner.best, learner.rounds, repr(learner)] == public
    loaded = load(tmp_path / "learner")
    assert [loaded.point.tolist(), loaded.best, loaded.rounds, repr(loaded)] == public


@central
def test_phases_overlap(name: str) -> None:
    """Asking never waits: the next phase is planned from what has been released so far."""
    learner = LEARNERS[name](2)
    decisions = learner.ask(count=70)
    assert (len(decisions), learner.pending, learner.rounds) == (70, 70, 0)
    learner.ask(count=0)
    assert learner.rounds + learner.pending == 70
    assert learner.rounds > 35 if name != "FullInformationLearner" else learner.rounds > 0


@central
def test_secret_state_is_single_use(name: str, tmp_path: Path) -> None:
    """Saving hands over, loading takes, copies and pickles are refused, a file goes on once."""
    learner = LEARNERS[name](None)
    decision = learner.ask()
    learner.tell(decision, some(learner, 1))
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            copying(learner)
    learner.save(tmp_path / "learner")
    for going_on in (learner.ask, lambda: learner.tell(1, some(learner, 1)), learner.to_bytes):
        with pytest.raises(StaleState):
            going_on()
    backup = (tmp_path / "learner").read_bytes()
    loaded = load(tmp_path / "learner")
    with pytest.raises(StaleState):
        load(tmp_path / "learner")
    with pytest.raises(StaleState):  # a store that knows the generation refuses what was loaded before
        type(loaded).from_bytes(backup, generation=loaded.generation)
    assert loaded.ask().id == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@central
def test_a_forked_child_cannot_go_on(name: str) -> None:
    """Two processes would release the same sums with different noise."""
    learner = LEARNERS[name](None)
    learner.ask()
    child = os.fork()
    if child == 0:
        try:
            learner.ask()
        except StaleState:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    learner.ask()


def test_open_sums_are_in_secret_files_only(tmp_path: Path) -> None:
    """A file with sums is for its owner alone, and what loading leaves holds none. Local files hold bits."""
    session = worst_case_bandit(N, 1.0, (-1, 1), mode="central")
    session.tell(session.ask(), 0.71923)
    session.save(tmp_path / "central")
    data = (tmp_path / "central").read_bytes()
    assert stat.S_IMODE((tmp_path / "central").stat().st_mode) == 0o600
    exact = np.array([round(0.71923 * DEFAULT_UNITS)]).tobytes()
    assert exact in data
    load(tmp_path / "central")
    assert exact not in (tmp_path / "central.taken").read_bytes()
    local = worst_case_bandit(N, 1.0, (-1, 1))
    local.tell(local.ask(), 0.71923)
    sums = decode(local.to_bytes())[1]["phases.sums.0"]
    assert abs(sums).tolist() == [[local._mechanism.magnitude]]


@pytest.mark.parametrize("people", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [1.0, Fraction(1, 3)])
def test_rounds_per_person(people: int, epsilon: Any) -> None:
    """`rounds_per_person=k` divides epsilon by k exactly, whatever slots and phases the rounds are in."""
    options: Any = {"rounds_per_person": people}
    share = Fraction(epsilon) / people
    bandit = BanditLearner(N, epsilon, (-1, 1), **options)
    full = FullInformationLearner(N, epsilon, (-1, 1), method="blocks", **options)
    own = PolicyLearner(N, Pairs, epsilon, (-1, 1), **options)
    assert bandit._mechanism.law == own._mechanism.law == noise.laplace(2 * DEFAULT_UNITS / share)
    assert full._mechanism.law == noise.laplace(2 * ChainGradient.of(-1.0, 1.0).l1 / share)
    local = BanditLearner(N, epsilon, (-1, 1), mode="local", **options)
    assert local.randomizer().epsilon == share
    for session in (bandit, full, own, local):
        promise = session.guarantee
        assert (promise.epsilon, promise.rounds_per_person) == (pytest.approx(float(epsilon)), people)


@pytest.mark.parametrize("make", [BanditLearner, functools.partial(PolicyLearner, policy=Pairs)])
def test_a_delta_is_for_local_rounds(make: Any) -> None:
    """Each bit then gets more than epsilon / k, and the guarantee says so; sums of costs refuse it."""
    options: Any = {"epsilon": 1.0, "cost_range": (-1, 1), "rounds_per_person": 86, "delta": 1e-6}
    local = make(N, mode="local", **options)
    assert local.randomizer().epsilon == Budget(1.0, rounds_per_person=86, delta=1e-6).per_round > 2.2 / 86
    local.tell(local.ask(), released=local.randomizer().release(0.3))
    promise = local.guarantee
    assert (promise.epsilon, promise.delta, promise.rounds_per_person) == (1.0, 1e-6, 86)
    assert "up to an added probability of 1e-06" in str(promise)
    with pytest.raises(InvalidArgument, match="'delta' needs mode='local'"):
        make(N, mode="central", **options)


def test_the_model_is_given_no_more_than_sums() -> None:
    """What the model learns from a phase is its released sums: costs that add up alike leave the same state.

    Also with late feedback, where phases overlap, and whoever tells first.
    """
    one, other = (BanditLearner(N, 8.0, (-1, 1), expire_after=50, seed=6) for _ in range(2))
    for _ in range(6):
        first, second = one.ask(count=40), other.ask(count=40)
        assert first == second
        slots: dict[tuple[int, int], list[Any]] = {}
        for decision in first:
            ticket = one._tickets[decision.id]
            slots.setdefault((ticket.phase, ticket.slot), []).append(decision)
        for decisions in slots.values():
            costs = [0.25 * (k % 5) - 0.5 for k in range(len(decisions))]
            one.tell_many(zip(decisions, costs, strict=True))
            other.tell_many((d.id, c) for d, c in zip(reversed(decisions), costs, strict=True))
    assert one.rounds > 100
    assert state_of(one) == state_of(other)


def test_local_bits() -> None:
    """Local bits: one per ticket, made on arrival; a ticket that nobody tells about gets a fair one."""
    told, silent = (worst_case_bandit(N, 1.0, (-1, 1), expire_after=1, seed=5) for _ in range(2))
    for _ in range(50):
        told.tell(told.ask(), float("nan"))
        silent.ask()
    decision = told.ask()
    silent.ask(), silent.ask()
    assert silent._state.counts.tolist() == told._state.counts.tolist()
    assert silent._state.counts[0] == 50
    told.tell(decision, 0.5)
    made = told._source.saved()
    for again in (0.5, -0.5):
        with pytest.raises(AlreadyTold):
            told.tell(decision, again)
    assert told._source.saved() == made


def test_sensitivity_carries_its_norm() -> None:
    """A release refuses a query whose norm it does not bound."""
    gradient, cost = ChainGradient.of(-1.0, 1.0), CostOfSet(-1.0, 1.0)
    policy = ChainBandit(np.full(N, 0.5), units=1, rounds=1, exploration=1.0, step=1.0, prior=1.0)
    for query, release in (
        (gradient, Laplace(cost.bound, Budget(epsilon=1.0))),
        (gradient, Bits(Budget(epsilon=1.0), (-1.0, 1.0))),
    ):
        with pytest.raises(InvalidArgument, match="does not hide"):
            Learner(N, policy, query, release)


@settings(max_examples=20)
@given(st.permutations(range(10)), st.lists(st.floats(-1, 1), min_size=10, max_size=10))
def test_order_of_arrival(order: list[int], costs: list[float]) -> None:
    """A policy gets no ids, times, told-counts or order of arrival: shuffled tells leave the same state."""
    policies = [Sums(N), Sums(N)]
    sessions = [hosted(policy, seed=9) for policy in policies]
    for session, sequence in zip(sessions, (range(10), order), strict=True):
        decisions = session.ask(count=10)
        for k in sequence:
            session.tell(decisions[k], costs[k])
        session.ask()
    kept = [{name: part.tolist() for name, part in session._arrays().items()} for session in sessions]
    assert kept[0] == kept[1]
    for one, other in zip(*(policy.released() for policy in policies), strict=True):
        assert (one.values.tolist(), one.rounds.tolist()) == (other.values.tolist(), other.rounds.tolist())


def reachable(roots: Any) -> list[Any]:
    """All objects that can be got at from some, without modules, classes and functions."""
    found, left = {}, list(roots)
    while left:
        each = left.pop()
        if id(each) in found or isinstance(each, types.ModuleType | type | types.FunctionType):
            continue
        found[id(each)] = each
        left += gc.get_referents(each)
        if isinstance(each, np.ndarray):
            left.append(each.base)
    return list(found.values())


def test_nothing_that_a_policy_is_given_leads_to_a_report() -> None:
    """Not through its arguments, whatever it follows from them; what is released is read-only."""
    policy = Sums(N)
    session = hosted(policy)
    for _ in range(12):
        session.tell(session.ask(), 0.7)
    assert {given_[0] for given_ in policy.seen} == {"plan", "learn"}
    own = {id(policy), id(policy.seen)}
    objects = [
        each for each in reachable(part for given_ in policy.seen for part in given_) if id(each) not in own
    ]
    kinds = (Report, Secret, Ticket, OpenPhase, PolicyLearner, Learner)
    assert not [each for each in objects if isinstance(each, kinds)]
    assert not any(each is session._source for each in objects)
    secrets = [each.sums for each in session._phases.values()] + [session._mechanism.fresh]
    arrays = [each for each in objects if isinstance(each, np.ndarray)]
    assert not any(np.shares_memory(array, secret) for array in arrays for secret in secrets)
    for released in policy.released():
        with pytest.raises(ValueError, match="read-only"):
            released.values[0] = 0


@pytest.mark.parametrize("report", [Secret(np.array([5])), Report(None, Secret(np.array([5])))])  # type: ignore[arg-type]
def test_a_policy_cannot_be_given_a_report(report: Any) -> None:
    """Secret and public values have different types: learners and our policies refuse a report."""
    chain = ChainBandit(np.full(N, 0.5), units=1, rounds=1, exploration=1.0, step=1.0, prior=1.0)
    query = CostOfSet(-1.0, 1.0)
    for policy in (chain, Model(chain, Noise(0.0, 1.0), unit=1.0, epsilon=1.0)):
        learner = Learner(N, policy, query, Laplace(query.bound, Budget(epsilon=1.0)))
        for learning in (policy.learn, learner.learn):
            with pytest.raises(InvalidType):
                learning(policy.start(), report)
    with pytest.raises((InvalidType, AttributeError)):
        Released(np.zeros((1, 4)), np.ones(1, dtype=np.int64), report)


def test_coins_are_keyed_apart_from_noise() -> None:
    """However many coins a policy takes, the noise of the same seed does not move; nor coins with noise."""

    class Greedy(Sums):
        def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
            for _ in range(100):
                coins.bits64()
            return super().plan(state, coins, available)

    policies = [Sums(N), Greedy(N)]
    for policy in policies:
        session = hosted(policy, seed=11)
        for _ in range(26):
            session.tell(session.ask(), 0.25)
    seen = [[released.values.tolist() for released in policy.released()] for policy in policies]
    assert seen[0] == seen[1]
    assert len(seen[0]) == 5
    sets = []
    for cost in (1.0, -1.0):
        fixed = worst_case_bandit(N, 1.0, (-1, 1), seed=11)
        fixed.learner.policy.constants = fixed.learner.policy.constants._replace(exploration=1e9, step=1e-9)
        sets.append([])
        for _ in range(50):
            decision = fixed.ask()
            sets[-1].append(len(decision.subset))
            fixed.tell(decision, cost)
    assert sets[0] == sets[1]


@pytest.mark.parametrize("mode", ["central", "local"])
def test_learning_at_public_moments(mode: Any) -> None:
    """`learn` runs at an `ask` (in local mode also where somebody reads), never while a tell is answered."""
    policy = Sums(N)
    session = hosted(policy, mode=mode)
    for decision in session.ask(count=5):
        session.tell(decision, 0.3)
        assert not policy.released()
    assert session.rounds == (5 if mode == "local" else 0)
    session.ask()
    assert len(policy.released()) == 1


@pytest.mark.parametrize(
    "change", [{"size": np.array([9, 9])}, {"rounds": np.array([0, 0])}, {"order": None}]
)
def test_every_phase_is_checked(change: dict[str, Any]) -> None:
    """The kernel deals nothing from a phase that makes no sense, and goes on with the next that does."""

    class Wrong(Pairs):
        broken = True

        def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
            phase = super().plan(state, coins, available)
            return phase._replace(**change) if self.broken else phase

    policy = Wrong(N)
    session = hosted(policy)
    with pytest.raises(InvalidArgument, match="cannot be dealt"):
        session.ask()
    assert (session.pending, session._phases) == (0, {})
    policy.broken = False
    assert session.ask().id == 1


def test_probabilities_are_the_slots_share_of_the_phase() -> None:
    """Whatever a policy says; equal sets in several slots are dealt with the sum of their shares."""

    class Repeated(Pairs):
        def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
            return Phase.of_sets(self.n, [[0], [1, 2], [0], []], rounds=[1, 2, 3, 4])

        def learn(self, state: Any, released: Released) -> Any:
            return state

    session = hosted(Repeated(N))
    dealt = session.ask(count=10)
    assert {(decision.subset, decision.probability) for decision in dealt} == {
        (frozenset({0}), 0.4),
        (frozenset({1, 2}), 0.2),
        (frozenset(), 0.4),
    }
    assert sum(decision.subset == {0} for decision in dealt) == 4
