"""Rewards: learners that maximise take the numbers of a stream for rewards, wherever they are simulated."""

import numpy as np
import pytest

from discreet import BanditLearner, DiscreetError, FullInformationLearner, environments
from discreet.baselines import FixedSet, RandomSet
from discreet.environments import Environment, FunctionStream, Pool, Stream
from discreet.learners import Session
from discreet.set_functions import Bundles, Coverage, FromCallable, Modular, SetFunction
from discreet.simulation import play, regret, simulate
from every_learner import worst_case_bandit

N, T = 3, 600
LEARNERS = {
    "full": lambda maximize: FullInformationLearner(N, 1.0, (-1, 1), maximize=maximize),
    "bandit": lambda maximize: BanditLearner(N, 4.0, (-1, 1), maximize=maximize),
    "local": lambda maximize: BanditLearner(N, 4.0, (-1, 1), mode="local", maximize=maximize),
    "worst case": lambda maximize: BanditLearner(N, 4.0, (-1, 1), method="worst-case", maximize=maximize),
    "worst case, local": lambda maximize: worst_case_bandit(N, 4.0, (-1, 1), maximize=maximize),
    "fixed": lambda maximize: FixedSet(N, [1], maximize=maximize),
    "random": lambda maximize: RandomSet(N, maximize=maximize),
}
#: Items 0 and 1 are worth having together, item 2 is not worth its price.
REWARD = -Bundles(N, [[0], [0, 1]], values=[0.2, 0.5], costs=[0.1, 0.1, 0.2])


def pool(*functions: SetFunction) -> Pool:
    return Pool(functions, T, seed=1)


def plain(*functions: SetFunction) -> FunctionStream:
    return FunctionStream(pool(*functions))


def by_hand(learner: Session, stream: Stream) -> tuple[Session, float]:
    """A learner that was asked and told round by round, and what its sets were worth."""
    total = 0.0
    for function in stream:
        decision = learner.ask()
        worth = function(decision.subset)
        learner.tell(decision, function if isinstance(learner, FullInformationLearner) else worth)
        total += worth
    return learner, total


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("stream", [pool, plain])
@pytest.mark.parametrize("name", ["full", "bandit", "local", "worst case", "worst case, local"])
def test_a_simulation_learns_what_ask_and_tell_learn(name: str, stream, maximize: bool) -> None:
    """The same points for the same seed, the same totals; regret is against the best or the worst set."""
    learner, played = LEARNERS[name](maximize), stream(REWARD, -Modular([0.1, 0.0, 0.3]))
    trace = simulate(played, learner, seeds=[3])
    expected, total = by_hand(learner.fresh([3, 1]), played)
    np.testing.assert_array_equal(trace.final_points[0], expected.point)
    assert trace.cost[0, -1] == pytest.approx(total)
    values = sum(function.table().values for function in played)
    best = values.max() if maximize else values.min()
    assert (trace.best[0, -1], trace.best_lower_bound[0, -1]) == pytest.approx((best, best))
    assert trace.regret[0, -1] == pytest.approx(abs(best - total))
    assert trace.regret_upper_bound[0, -1] == pytest.approx(abs(best - total))
    assert (trace.maximize, trace.kind) == (maximize, "reward" if maximize else "cost")
    assert played.total(trace.best_sets[0] > 0) == pytest.approx(best)
    assert regret(learner.fresh([3, 1]), played) == pytest.approx(abs(best - total))
    assert play(learner.fresh([3, 1]), played).sum() == pytest.approx(total)


def test_rewards_are_costs_with_the_other_sign() -> None:
    """Also of an adversary, which looks at the learner's point."""
    for name in ("full", "bandit", "worst case, local"):
        stream, negated = pool(REWARD), pool(-REWARD)
        rewards, costs = simulate(stream, LEARNERS[name](True)), simulate(negated, LEARNERS[name](False))
        np.testing.assert_allclose(rewards.regret, costs.regret, atol=1e-9)
        np.testing.assert_array_equal(rewards.cost, -costs.cost)
        np.testing.assert_array_equal(rewards.final_points, costs.final_points)
    friend = environments.adaptive_adversary(N).stream(50, seed=2)  # what it makes dear is worth taking
    trace = simulate(friend, FixedSet(N, [0], maximize=True), seeds=1)
    assert trace.cost[0, -1] == 50.0
    assert trace.regret[0, -1] == 0.0


def test_an_environment_says_whether_it_has_rewards() -> None:
    """Named ones have costs; a learner of the other kind is refused, whichever it is."""
    with pytest.raises(DiscreetError, match=r"modular has costs, .* takes rewards.*maximize=False"):
        simulate(environments.modular(N), LEARNERS["bandit"](True), rounds=10)
    own = Environment("own", lambda rounds, seed: Pool([REWARD], rounds), (0, 1, 2), (-1, 1), rewards=True)
    assert simulate(own, LEARNERS["bandit"](True), rounds=10).maximize
    with pytest.raises(DiscreetError, match=r"own has rewards, and the learner takes costs"):
        simulate(own, LEARNERS["random"](False), rounds=10)


def test_the_best_set_of_supermodular_rewards_is_exact_however_many_items() -> None:
    """Twenty items: the negated rewards have a minimum cut."""
    n = 20
    reward = -Bundles(n, [[k, k + 1] for k in range(0, n, 2)], costs=[0.4, 0.4] * (n // 4) + [0.6] * (n // 2))
    trace = simulate([2 * reward, reward + Modular(np.zeros(n))], RandomSet(n, maximize=True), seeds=1)
    assert trace.best_sets[0].tolist() == [1.0] * (n // 2) + [0.0] * (n // 2)
    assert trace.best[0].tolist() == pytest.approx([2.0, 3.0])
    assert trace.best_lower_bound[0].tolist() == pytest.approx([2.0, 3.0])


def test_nothing_is_called_proved_that_is_assumed() -> None:
    """Of Python functions of many items the best set found is real, but no bound on it is known."""
    n = 13

    def reward(chosen: frozenset[int]) -> float:
        return len(chosen) ** 2 / n**2

    functions = [FromCallable(reward, n, value_range=(0, 1))]
    trace = simulate(functions, RandomSet(n, maximize=True), seeds=1)
    assert (trace.best[0, 0], trace.best_lower_bound[0, 0]) == (1.0, np.inf)
    costs = simulate([FromCallable(len, n, value_range=(0, n))], RandomSet(n), seeds=1)
    assert (costs.best[0, 0], costs.best_lower_bound[0, 0]) == (0.0, -np.inf)
    few = simulate([FromCallable(lambda s: -reward(s), 12)], RandomSet(12, maximize=True), seeds=1)
    assert few.best[0, 0] == few.best_lower_bound[0, 0] == 0.0


def test_the_best_set_of_other_rewards_is_exact_for_few_items() -> None:
    """Of rewards that are not supermodular all sets of up to 20 items are tried; of more, no bound holds."""
    ring = {n: Coverage([[i, (i + 1) % n] for i in range(n)]) + Modular([-1.5] * n) for n in (14, 22)}
    few, many = (simulate([f], RandomSet(n, maximize=True), seeds=1) for n, f in ring.items())
    assert few.best[0, 0] == few.best_lower_bound[0, 0] == ring[14].table().values.max()
    assert 0 < many.best[0, 0] < many.best_lower_bound[0, 0] == np.inf


def test_rewards_outside_the_range_are_warned_of() -> None:
    """In the numbers that were declared."""
    stream = pool(Modular([0.5, -0.25, 0.0]))
    with pytest.warns(
        UserWarning, match=r"Rewards of Pool may lie in \[-0.25, 0.5\].*made for \[-0.5, 0.25\]"
    ):
        simulate(stream, BanditLearner(N, 1.0, (-0.5, 0.25), maximize=True), seeds=1)
    simulate(stream, BanditLearner(N, 1.0, (-0.25, 0.5), maximize=True), seeds=1)  # a warning would fail it


def test_a_frame_of_rewards_says_so() -> None:
    """Its columns are called by what they hold."""
    frame = simulate(pool(REWARD), LEARNERS["fixed"](True), seeds=1).to_frame()
    assert {"reward", "best_upper_bound"} < set(frame.columns)
    assert not {"cost", "best_lower_bound"} & set(frame.columns)
    assert np.all(frame["best"].to_numpy() >= frame["reward"].to_numpy())
