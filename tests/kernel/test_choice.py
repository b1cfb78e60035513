"""Choices: noisy minima of the right law, what is released of which slot, and whose reports it hides."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.errors import InvalidArgument
from discreet.kernel import Bits, ChainGradient, Choice, CostOfSet, CostsOfSets, Laplace, Tree
from discreet.kernel.choice import noisy_minimum
from discreet.kernel.queries import GRADIENT
from discreet.kernel.releases import announce, close
from discreet.learners import Learner
from discreet.policies import Uniform
from discreet.prefix_sums import BinaryTree
from discreet.privacy import VectorBound, noise
from discreet.privacy.budget import Budget
from discreet.privacy.noise import geometric
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitSource

N = 2
QUERY = CostsOfSets.of(N, -1.0, 1.0)
W = 2 * QUERY.units
ONE = Budget(epsilon=1.0)
#: Noise that is zero, but for one time in exp(100).
NONE = noise.laplace(Fraction(1, 100))


def bits(seed: int, count: int) -> Any:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)


def drawn(scale: int, count: int, seed: int) -> Any:
    given, cursor, found = bits(seed, 40 * count), 0, []
    for _ in range(count):
        whole, part, cursor = geometric(scale, given, cursor)
        found.append(whole * scale + part)
    return np.array(found)


@pytest.mark.parametrize("scale", [1, 3, 40])
def test_geometric_noise_has_its_law(scale: int) -> None:
    """Seed 1, 20,000 draws, alpha 1e-6; scales of 2/3 and 3/2 are rejected."""
    found, width = drawn(scale, 20_000, 1), max(1, scale // 4)
    cells = np.minimum(found // width, 5 * scale // width)
    observed = np.bincount(cells)

    def fit(other: float) -> float:
        tail = np.exp(-width * np.arange(observed.size + 1) / other)
        tail[-1] = 0.0
        return float(stats.chisquare(observed, -np.diff(tail) * found.size).pvalue)

    assert fit(scale) > 1e-6
    assert fit(scale * 2 / 3) < 1e-6
    assert fit(scale * 3 / 2) < 1e-6


def chances(totals: list[int], scale: int) -> list[float]:
    """The probability of each place to be the first least of totals minus geometric noise, by summation."""
    reach = 60 * scale + max(totals) - min(totals)
    at_least = lambda k: math.exp(-max(k, 0) / scale)  # noqa: E731
    result = []
    for i, own in enumerate(totals):
        terms = []
        for g in range(reach):
            mine = (at_least(g) - at_least(g + 1)) * math.prod(
                # the other's noise is at most g + other - own, and less where a tie is lost
                1.0 - at_least(g + other - own + (j > i))
                for j, other in enumerate(totals)
                if j != i
            )
            terms.append(mine)
        result.append(math.fsum(terms))
    return result


def minima(totals: list[int], scale: int, count: int, seed: int) -> Any:
    given, cursor, found = bits(seed, 200 * count), 0, []
    sums = np.array(totals)
    for _ in range(count):
        place, cursor = noisy_minimum(scale, np.zeros_like(sums), sums, given, cursor)
        assert cursor != NEED_MORE_BITS
        found.append(place)
    return np.bincount(found, minlength=len(totals))


def test_minima_have_their_law() -> None:
    """Seed 2, 20,000 minima of four numbers, alpha 1e-6; 2/3 and 3/2 of the scale are rejected."""
    totals, scale = [3, -4, 0, 0], 6
    expected = chances(totals, scale)
    assert sum(expected) == pytest.approx(1)
    observed = minima(totals, scale, 20_000, 2)
    assert stats.chisquare(observed, np.array(expected) * 20_000).pvalue > 1e-6
    for other in (4, 9):
        wrong = np.array(chances(totals, other))
        assert stats.chisquare(observed, wrong / wrong.sum() * 20_000).pvalue < 1e-6


def test_the_loss_of_a_minimum_is_epsilon_and_nearly_attained() -> None:
    """By summation: totals that move by up to W either way, at scale 2 W / epsilon."""
    width, epsilon = 6, 0.8
    scale = round(2 * width / epsilon)
    worst = 0.0
    rng = np.random.default_rng(3)
    pairs = [([0, width] * 4, [width, 0] * 4), ([width, *[0] * 7], [0, *[width] * 7])]
    for _ in range(10):
        before = rng.integers(-20, 20, 8)
        moves = [rng.integers(0, width + 1, 8) for _ in range(2)]
        pairs.append(((before + moves[0]).tolist(), (before + moves[1]).tolist()))
    for one, other in pairs:
        for p, q in zip(chances(one, scale), chances(other, scale), strict=True):
            worst = max(worst, abs(math.log(p / q)))
    assert 0.9 * epsilon < worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1, 7, 2**26, 2**52])
def test_minima_are_those_of_unbounded_integers(scale: int) -> None:
    """The same draws, added up in Python."""
    rng, given, cursor, again = np.random.default_rng(4), bits(5, 200_000), 0, 0
    for _ in range(200):
        totals, sums = (rng.integers(-(2**58), 2**58, 8) // (2**52 // scale) for _ in range(2))
        noisy = []
        for known in (totals + sums).tolist():
            whole, part, again = geometric(scale, given, again)
            noisy.append(known - whole * scale - part)
        place, cursor = noisy_minimum(scale, totals, sums, given, cursor)
        assert (place, cursor) == (noisy.index(min(noisy)), again)


@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize("epsilon", [1.0, Fraction(1, 3)])
def test_each_share_of_epsilon_has_its_scale(epsilon: Any, people: int) -> None:
    """2 W over four fifths for the set, over one fifth for the difference; gradients get all of it."""
    budget = Budget(epsilon=epsilon, rounds_per_person=people)
    loss = Fraction(epsilon) / people
    made = Choice(QUERY, budget).mechanism(4)
    assert made.scale == math.ceil(2 * W / (loss * Fraction(4, 5)))
    assert made.difference == noise.laplace(2 * W / (loss / 5))
    assert made.gradient == noise.laplace(2 * QUERY.gradient.l1 / loss)
    promise = Choice(QUERY, budget).guarantee
    assert (promise.rounds_per_person, promise.local, promise.absence_hidden) == (people, False, True)
    assert 0 <= promise.epsilon - float(epsilon) < 1e-12


class Slots:
    """A mechanism, and what it releases of slots in turn."""

    def __init__(self) -> None:
        made = Choice(QUERY, ONE).mechanism(4)
        self.mechanism = made._replace(scale=1, difference=NONE, gradient=NONE)
        self.source = BitSource(1)

    def close(self, sums: list[int], *note: float) -> list[int]:
        out = np.zeros(2, dtype=np.int64)
        announce(self.mechanism, np.array(note))
        units = np.array(sums)
        self.source.feed_one(lambda b, c: close(self.mechanism, units, out, b, c))
        return out.tolist()


def test_a_phase_is_the_sum_of_its_slots() -> None:
    """Differences are of one slot, the chosen set of all slots of the phase, and nothing is left of them."""
    slots, unit = Slots(), 1 << 20
    first, second = np.array([5, 0, 9, 9]) * unit, np.array([0, 6, 9, 9]) * unit
    assert slots.close(first.tolist(), 0, 2, 0, 0) == [9 * unit, -1]
    assert slots.mechanism.totals.tolist() == first.tolist()
    assert slots.close(second.tolist(), 0, 1, 1, 0) == [6 * unit, 0]  # 5 against 6
    assert not slots.mechanism.totals.any()
    # Planned before that phase ended: part of the next one, which it does not end.
    assert slots.close(second.tolist(), 0, 1, 1, 0) == [6 * unit, -1]
    assert slots.close(first.tolist(), 0, 0, 1, 1) == [5 * unit, 0]


def test_slots_of_gradients_leave_the_phase_alone() -> None:
    """Their sum is released, and enters no totals; a set that does not exist is the empty one."""
    slots = Slots()
    slots.close([1, 2, 3, 4], 0, 1e300, 0, 0)
    assert slots.close([7, -8, 0, 0], GRADIENT, 0, 1, 0) == [7, -8]
    assert slots.mechanism.totals.tolist() == [1, 2, 3, 4]
    assert not slots.mechanism.fresh.any()


def test_bits_that_run_out_change_nothing() -> None:
    """Cut anywhere, what is released is the same in the end."""
    many = bits(6, 400)
    sums, note = np.array([9, 3, 5, 7]) << 24, np.array([0.0, 2.0, 1.0, 0.0])
    whole = Choice(QUERY, ONE).mechanism(4)
    announce(whole, note)
    expected = np.zeros(2, dtype=np.int64)
    end = close(whole, sums, expected, many, 0)
    cut = Choice(QUERY, ONE).mechanism(4)
    out = np.zeros(2, dtype=np.int64)
    for length in range(end):
        announce(cut, note)
        assert close(cut, sums, out, many[:length], 0) == NEED_MORE_BITS
        assert not cut.totals.any()
        assert cut.slot[3] == 0
    assert close(cut, sums, out, many, 0) == end
    assert out.tolist() == expected.tolist()


def test_releases_and_queries_of_other_norms_refuse_each_other() -> None:
    """Laplace noise, trees and bits do not hide the costs of all sets; a choice hides nothing else."""
    policy, gradient, cost = Uniform(N), ChainGradient.of(-1.0, 1.0), CostOfSet(-1.0, 1.0)
    wide = VectorBound(coordinate=1 << 29, l1=1 << 30)
    for release in (
        Laplace(gradient.bound, ONE),
        Laplace(wide, ONE),
        Tree(BinaryTree(4, 8, wide, ONE)),
        Bits(ONE, (-1.0, 1.0)),
    ):
        with pytest.raises(InvalidArgument, match="does not hide"):
            Learner(N, policy, QUERY, release)
    for query in (gradient, cost, CostsOfSets.of(N, -2.0, 1.0), CostsOfSets.of(3, -1.0, 1.0)):
        with pytest.raises(InvalidArgument, match="does not hide"):
            Learner(N, policy, query, Choice(QUERY, ONE))


def test_a_choice_has_no_gaussian_noise() -> None:
    """A budget of rho is refused: it would be taken for an epsilon."""
    with pytest.raises(InvalidArgument, match="'epsilon'"):
        Choice(QUERY, Budget(rho=0.5))
