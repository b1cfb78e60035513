"""BanditLearner with its model, in both modes: what it learns, when, and from what."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import environments, load
from discreet.errors import AlreadyTold, DiscreetError, Expired, InvalidArgument
from discreet.learners import BanditLearner
from discreet.policies.model import PLANNER, WORST_CASE
from discreet.policies.model_state import FAILED, RESTARTS
from discreet.randomness import BitSource
from discreet.simulation import regret
from every_learner import state_of, worst_case_bandit

N = 4
MODES = pytest.mark.parametrize("mode", ["central", "local"])
#: The best set is {0, 1}, though 1 alone is bad.
MEANS = {frozenset({0, 1}): -0.6, frozenset({0}): -0.1, frozenset({1}): 0.2}


def bandit(**options: Any) -> BanditLearner[Any]:
    return BanditLearner(**({"items": N, "epsilon": 4.0, "cost_range": (-1, 1), "seed": 3} | options))


def mean(chosen: frozenset[int], sign: float = 1.0) -> float:
    """Of a cost; items 2 and 3 cost something."""
    return sign * (MEANS.get(chosen & {0, 1}, 0.0) + 0.2 * len(chosen & {2, 3}))


def played(learner: BanditLearner[Any], rounds: int, sign: float = 1.0, seed: int = 0) -> list[float]:
    """The mean costs of the sets of some rounds, in each of which the cost is -1 or 1."""
    rng, means = np.random.default_rng(seed), []
    for _ in range(rounds):
        decision = learner.ask()
        means.append(mean(decision.subset, sign))
        learner.tell(decision, 1.0 if rng.random() < 0.5 + means[-1] / 2 else -1.0)
    return means


def counts(learner: BanditLearner[Any]) -> Any:
    return learner._learned_state().counts


@MODES
def test_it_learns(mode: Any) -> None:
    """It ends with the best set, and plays it in most of the last rounds; it says what it is."""
    learner = bandit(mode=mode)
    costs = played(learner, 4000)
    assert learner.best == {0, 1}
    assert np.mean(costs[-1000:]) < -0.5 < np.mean(costs[:100])
    assert (learner.method, learner.mode, learner.guarantee.local) == ("model", mode, mode == "local")
    assert learner.mean_cost == pytest.approx(np.mean(costs), abs=0.1)
    assert learner.rounds + sum(phase.dealt for phase in learner._phases.values()) == 4000
    with pytest.raises(InvalidArgument, match="no regret bound"):
        learner.regret_bound(100)


@MODES
def test_it_is_far_better_than_the_worst_case(mode: Any) -> None:
    """Seeds 0 to 2, cuts with prices, 2^13 rounds; whoever does not learn would be no better."""
    environment, paid = environments.priced_cuts(6), {}
    for method in ("model", "worst-case"):
        made = [BanditLearner(6, 2.0, (-1, 1), mode=mode, method=method, seed=seed) for seed in range(3)]
        streams = [environment.stream(2**13, seed) for seed in range(3)]
        paid[method] = np.mean([regret(*pair) for pair in zip(made, streams, strict=True)])
    assert 0 < paid["model"] < 0.55 * paid["worst-case"]


@MODES
def test_it_needs_no_horizon(mode: Any) -> None:
    """The same seed plays the same sets however many rounds follow, asked for in batches or not."""
    short, long, batches = (bandit(mode=mode, expire_after=100) for _ in range(3))
    assert played(long, 900)[:300] == played(short, 300)
    sets = [decision.subset for _ in range(3) for decision in batches.ask(count=100)]
    assert len(sets) == 300
    assert long.horizon >= 2**32


# Late and missing feedback


def test_asking_never_waits() -> None:
    """Phases overlap: others are planned while feedback of the first is awaited, which is taken till then."""
    learner = bandit(expire_after=500)
    decisions = learner.ask(count=400)
    assert len(learner._phases) > 5
    assert (learner.rounds, learner.pending) == (0, 400)
    rng = np.random.default_rng(1)
    for k in rng.permutation(400):
        if k % 7:  # some never tell
            learner.tell(decisions[k], mean(decisions[k].subset))
    learner.ask(count=500)
    learner.ask(count=0)
    assert learner.rounds >= 350
    assert learner.best == {0, 1}
    with pytest.raises(Expired):
        learner.tell(decisions[0], 0.5)
    decision = learner.ask()
    learner.tell(decision, 0.5)
    with pytest.raises(AlreadyTold):
        learner.tell(decision, 0.5)


def test_late_bits() -> None:
    """Local phases close when all bits are there; those that never come count as fair ones, in time."""
    learner = bandit(mode="local", expire_after=50)
    waiting: list[Any] = []
    for t in range(3000):
        waiting.append(learner.ask())
        if t >= 30:
            decision = waiting.pop(0)
            if t % 5:
                learner.tell(decision, mean(decision.subset))
    assert learner.best == {0, 1}
    assert learner.pending < 50 + 2 * max(phase.total for phase in learner._phases.values())
    assert bandit(mode="local").expire_after == 1000
    assert bandit().expire_after == 0


def test_who_tells_nothing_says_the_middle() -> None:
    """Silence is not seen in when a phase closes, nor in what is released."""
    silent, told = (bandit(expire_after=1) for _ in range(2))
    for _ in range(300):
        silent.ask()
        told.tell(told.ask(), None)
    silent.ask()
    told.ask()
    assert silent._planned == told._planned
    assert [part.tolist() for part in silent._state.seen] == [part.tolist() for part in told._state.seen]


# Items that are switched off


@MODES
def test_items_are_switched_off_in_the_middle_of_a_phase(mode: Any, tmp_path: Path) -> None:
    """Sets that fit are brought forward; where none does, one round is planned beside; files go on."""
    learner = bandit(mode=mode, expire_after=20)
    rng, beside = np.random.default_rng(4), 0
    for t in range(500):
        available = [[0, 1, 2, 3], [1, 2], [3], [], [0, 1, 3]][int(rng.integers(5))]
        current = learner._current[0]
        decision = learner.ask(available=available)
        assert decision.subset <= set(available)
        assert 0 < decision.probability <= 1
        phase = learner._phases[learner._tickets[decision.id].phase]
        if learner._tickets[decision.id].phase != learner._current[0]:
            beside += 1
            assert (phase.total, learner._current[0]) == (1, current)
        if t % 6:
            learner.tell(decision, mean(decision.subset))
        if t in (233, 234, 235):
            learner.save(tmp_path / f"{t}")
            loaded = load(tmp_path / f"{t}")
            assert state_of(loaded) == state_of(learner)
            learner = loaded  # type: ignore[assignment]
    assert beside > 10
    assert len(learner._phases) < 60
    assert learner.best == {0, 1}
    assert learner.ask().subset <= set(range(N))


# Declared beforehand


@MODES
def test_rounds_per_person(mode: Any) -> None:
    """It is as private as with a smaller epsilon: the same noise, the same plans."""
    shared, alone = (bandit(mode=mode, **options) for options in ({"rounds_per_person": 4}, {"epsilon": 1.0}))
    assert played(shared, 300) == played(alone, 300)
    assert shared.noise_variance == alone.noise_variance
    assert (shared.guarantee.epsilon, alone.guarantee.epsilon) == (4.0, 1.0)


@MODES
def test_a_prior_helps_early(mode: Any) -> None:
    """Sets, their means and weights, in the user's words; rewards as rewards."""
    names = ["a", "b", "c", "d"]
    known = [(["a", "b"], 0.5, 50), ([], -0.1, 50), (("c",), -0.4, 50), ("d", -0.4, 20)]
    options = {"items": names, "maximize": True, "mode": mode, "epsilon": 1.0}
    helped, plain = bandit(prior=known, **options), bandit(**options)
    assert helped.best == {"a", "b"}
    assert helped.mean_cost is None
    sums = []
    for learner in (helped, plain):
        sums.append(0.0)
        for _ in range(400):
            decision = learner.ask()
            worth = -mean(frozenset(names.index(item) for item in decision.subset))
            sums[-1] += worth
            learner.tell(decision, worth)
    assert sums[0] > sums[1] + 30


@pytest.mark.parametrize(
    "prior",
    [
        [],
        [({0}, 0.5)],
        [({0}, 0.5, 0)],
        [({0}, 0.5, -1.0)],
        [({0}, float("nan"), 1)],
        [({0}, 0.5, float("inf"))],
        [({9}, 0.5, 1)],
        [7],
        [({0}, "x", 1)],
        [({0}, 0.5, 1)] * 401,
    ],
    ids=lambda prior: str(prior[:1]),
)
def test_wrong_priors_are_refused(prior: Any) -> None:
    """By name."""
    with pytest.raises(DiscreetError, match=r"'prior'"):
        bandit(prior=prior)


def test_what_is_for_the_other_method_is_refused() -> None:
    """By name, as are values that make no sense."""
    for name, value in {"prior": [({0}, 0.5, 1)], "forget": 100, "item_total": 0.1}.items():
        with pytest.raises(InvalidArgument, match=f"'{name}'.*'model'"):
            worst_case_bandit(N, 1.0, (-1, 1), **{name: value})
    for wrong in ({"forget": 0}, {"forget": "x"}):
        with pytest.raises(DiscreetError, match=f"'{next(iter(wrong))}'"):
            bandit(**wrong)
    with pytest.raises(DiscreetError, match="'number of items'"):
        bandit(items=65, method="model")
    assert (bandit(items=64).method, bandit(items=65).method) == ("model", "worst-case")


@MODES
def test_rewards_are_costs_with_the_other_sign(mode: Any) -> None:
    """With one seed, maximising r over [-1, 0.5] is minimising -r over [-0.5, 1], to the last bit."""
    rewards = bandit(mode=mode, cost_range=(-1, 0.5), maximize=True)
    costs = bandit(mode=mode, cost_range=(-0.5, 1))
    for _ in range(200):
        decision, other = rewards.ask(), costs.ask()
        assert decision == other
        rewards.tell(decision, -mean(decision.subset))
        costs.tell(other, mean(other.subset))
    assert rewards.mean_cost == -costs.mean_cost  # type: ignore[operator]
    assert rewards.point.tolist() == costs.point.tolist()


# Forgetting


@MODES
@pytest.mark.parametrize("options", [{}, {"forget": 1000}], ids=["test", "forget"])
def test_a_world_that_is_turned_around(mode: Any, options: Any) -> None:
    """Both the test for a change and forgetting lead to what is good now; one that kept all would not."""
    learner = bandit(mode=mode, **options)
    assert np.mean(played(learner, 3000)[-300:]) < -0.5
    before = counts(learner)[RESTARTS]
    after = played(learner, 4000, sign=-1.0, seed=1)
    assert np.mean(after[:30]) > 0.3
    assert np.mean(after[-300:]) < -0.1
    assert (counts(learner)[RESTARTS] > before) == (not options)
    assert counts(learner)[FAILED] == 0


def test_devices_make_bits() -> None:
    """What is told as bits is learned like costs: the best set is found, and wrong bits are refused."""
    learner = bandit(mode="local", epsilon=6.0)
    randomizer = learner.randomizer(source=BitSource(5))
    for _ in range(1500):
        decision = learner.ask()
        learner.tell(decision, released=randomizer.release(mean(decision.subset)))
    assert learner.best == {0, 1}
    with pytest.raises(InvalidArgument, match="'released'"):
        learner.tell(learner.ask(), released=2)


# Where no model fits


def test_an_adversary_makes_the_worst_case_take_over() -> None:
    """It punishes what is played: after some restarts the worst case goes on, and phases of it are dealt.

    Its regret is then little more than that of the worst case from the beginning. Late feedback on phases of
    the model does no harm, and a file goes on.
    """
    rounds, paid = 1 << 14, {}
    for method in ("model", "worst-case"):
        learner = BanditLearner(6, 4.0, (-1, 1), method=method, seed=0)
        stream = environments.adaptive_adversary(6).stream(rounds, seed=0)
        paid[method] = regret(learner, stream)
        if method == "model":
            assert counts(learner)[FAILED] == 1
            learner.ask()
            (phase,) = learner._phases.values()
            assert phase.phase.note[0, PLANNER] == WORST_CASE
            assert phase.total == learner.block
            assert learner.ask(available=[0, 1]).subset <= {0, 1}
    assert paid["model"] < 1.5 * paid["worst-case"] + 500
