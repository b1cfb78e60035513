"""Several releases about one person: against exact fractions, every outcome of the worst case enumerated."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.kernel import Bits, Choice, CostOfSet, CostsOfSets, Laplace
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget
from discreet.privacy.composition import MOST_ROUNDS, loss_of_each
from discreet.privacy.rational import exponential_below

COST = CostOfSet(-1.0, 1.0)
#: Epsilon, delta, rounds.
BUDGETS = [
    (1.0, 1e-6, 86),
    (1.0, 1e-6, 12),
    (0.3, 1e-9, 40),
    (4.0, 1e-5, 25),
    (1.0, 0.01, 3),
    (8.0, 1e-6, 200),
]


def needed(ratio: Fraction, rounds: int, limit: Fraction) -> Fraction:
    """Exactly the delta of so many bits, each told right with odds of `ratio`, where ratios reach `limit`."""
    right = ratio / (1 + ratio)
    wrong = 1 - right
    total = Fraction(0)
    for k in range(rounds + 1):
        under, other = right ** (rounds - k) * wrong**k, right**k * wrong ** (rounds - k)
        total += math.comb(rounds, k) * max(Fraction(0), under - limit * other)
    return total


def exponential(exponent: float | Fraction) -> Fraction:
    with mpmath.workdps(60):
        exact = Fraction(exponent)
        return Fraction(str(mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator)))


@pytest.mark.parametrize(("epsilon", "delta", "rounds"), BUDGETS)
def test_the_bits_that_are_made_keep_the_budget_and_hardly_more(
    epsilon: float, delta: float, rounds: int
) -> None:
    """The exact odds of the shipped bit, all outcomes of k of them. With a loss 1% larger they would not."""
    budget = Budget(epsilon=epsilon, delta=delta, rounds_per_person=rounds)
    bit = Bits(budget, (-1.0, 1.0)).randomizer
    limit = exponential_below(Fraction(epsilon))  # below: asks for more delta
    odds = bit.probability_of_one(bit.grid.units) / bit.probability_of_one(-bit.grid.units)
    assert needed(odds, rounds, limit) <= Fraction(delta)
    assert needed(exponential(budget.per_round * Fraction(101, 100)), rounds, limit) > Fraction(delta)
    assert budget.per_round >= Fraction(epsilon) / rounds


@given(st.floats(0.01, 8.0), st.integers(1, 60), st.floats(1e-12, 1e-3))
@settings(max_examples=25, deadline=None)
def test_no_budget_is_overspent(epsilon: float, rounds: int, delta: float) -> None:
    """In exact fractions; and what one round gets is no more than all of it, no less than an equal part."""
    each = loss_of_each(Fraction(epsilon), delta, rounds)
    assert Fraction(epsilon) / rounds <= each <= Fraction(epsilon)
    above = exponential_below(each) * (1 + Fraction(1, 2**120))
    assert needed(above, rounds, exponential_below(Fraction(epsilon))) <= Fraction(delta)


def test_what_delta_gains() -> None:
    """Next to nothing for a few rounds, about twice the loss per round for 86."""
    gained = {k: float(loss_of_each(Fraction(1), 1e-6, k) * k) for k in (1, 5, 20, 86)}
    assert gained == pytest.approx({1: 1.0, 5: 1.00002, 20: 1.139, 86: 2.2327}, rel=1e-4)


def delta_of(first: dict[object, Fraction], second: dict[object, Fraction], limit: Fraction) -> Fraction:
    return sum((max(Fraction(0), first[o] - limit * second.get(o, Fraction(0))) for o in first), Fraction(0))


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_no_adaptive_mechanisms_need_more(seed: int) -> None:
    """Three releases of four outcomes, each of a law that depends on the outcomes before: all transcripts.

    The worst laws of a loss that is a tenth larger would need more.
    """
    rng = np.random.default_rng(seed)
    ratio = Fraction(int(rng.integers(11, 40)), 10)

    def laws() -> tuple[list[Fraction], list[Fraction]]:
        """Two laws with ratios of at most `ratio`: those of mixtures of the worst pair."""
        right = ratio / (1 + ratio)
        mixtures = [[Fraction(int(w)) for w in rng.integers(0, 4, 4)] for _ in range(2)]
        mixed = [
            [w / sum(each, Fraction(0)) if sum(each) else Fraction(1, 4) for w in each] for each in mixtures
        ]
        one = [right * a + (1 - right) * b for a, b in zip(*mixed, strict=True)]
        other = [(1 - right) * a + right * b for a, b in zip(*mixed, strict=True)]
        return one, other

    worlds: list[dict[object, Fraction]] = [{(): Fraction(1)}, {(): Fraction(1)}]
    for _ in range(3):
        grown: list[dict[object, Fraction]] = [{}, {}]
        for past in worlds[0]:
            assert isinstance(past, tuple)
            pair = laws()
            for world, law, out in zip(worlds, pair, grown, strict=True):
                out |= {(*past, o): world[past] * law[o] for o in range(4) if pair[0][o] or pair[1][o]}
        worlds = grown
    for limit in (Fraction(11, 10), ratio, ratio**2):
        assert delta_of(*worlds, limit) <= needed(ratio, 3, limit)
        assert needed(ratio * Fraction(11, 10), 3, limit) > needed(ratio, 3, limit)


@pytest.mark.parametrize(
    "make",
    [
        lambda budget: Laplace(COST.bound, budget),
        lambda budget: Choice(CostsOfSets.of(2, -1.0, 1.0), budget),
        lambda budget: BinaryTree(1, 8, COST.bound, budget),
    ],
    ids=["sums", "choices", "binary tree"],
)
def test_sums_take_no_delta(make: object) -> None:
    """Rounds of one person may be in one sum, which is moved by all of them: what a delta bought would fail.

    With 30 rounds in one sum, and Laplace noise for the loss of each, far more than delta would be needed.
    """
    budget = Budget(epsilon=1.0, delta=1e-6, rounds_per_person=30)
    with pytest.raises(InvalidArgument, match="mode='local'"):
        make(budget)  # type: ignore[operator]
    each = float(budget.per_round)
    beyond = 1 - math.exp(
        (1.0 - 30 * each) / 2
    )  # exactly, of Laplace noise that is moved by 30 * each scales
    assert beyond > 1e-2 > budget.delta


def test_local_reports_take_a_delta() -> None:
    """Noise on each report has the scale for the loss of one round."""
    budget = Budget(epsilon=1.0, delta=1e-6, rounds_per_person=86)
    release = Laplace(COST.bound, budget, local=True)
    alone = Laplace(COST.bound, Budget(epsilon=budget.per_round), local=True)
    assert release.mechanism(1).law == alone.mechanism(1).law
    promise = release.guarantee
    assert (promise.epsilon, promise.delta, promise.rounds_per_person) == (1.0, 1e-6, 86)
    assert promise.proof.endswith("#with-a-delta")
    assert Budget.restored(budget.saved()) == budget


@pytest.mark.parametrize("wrong", [-1e-9, 1.0, float("nan"), "1e-6", True, None])
def test_bad_deltas_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match="'delta' of Owner must"):
        Budget.of("Owner", 1.0, 2, wrong)  # type: ignore[arg-type]


def test_a_delta_is_for_epsilon_and_not_too_many_rounds() -> None:
    with pytest.raises(InvalidArgument, match="'rho' has no 'delta'"):
        Budget(rho=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="rounds_per_person"):
        Budget(epsilon=1.0, delta=1e-6, rounds_per_person=MOST_ROUNDS + 1)
