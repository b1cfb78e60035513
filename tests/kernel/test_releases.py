"""Releases: the right noise for the right norm, drawn once, and nothing left behind."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.kernel import Bits, ChainGradient, CostOfSet, Discard, Exact, Laplace, OnePoint, Release, Tree
from discreet.kernel.releases import arrive, close, close_many
from discreet.learners import Learner
from discreet.policies import Fixed
from discreet.prefix_sums import BinaryTree
from discreet.privacy import VectorBound, noise
from discreet.privacy.budget import Budget
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers import OneBit
from discreet.randomness import BitSource

COST = CostOfSet(-1.0, 1.0)
GRADIENT = ChainGradient.of(-1.0, 1.0)
ONE = Budget(epsilon=1.0)
N = 3


def bits(seed: int, count: int = 4000) -> Any:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)


def learner(query: Any, release: Release) -> Learner:
    return Learner(N, Fixed(np.ones(N, dtype=np.bool_)), query, release)


@pytest.mark.parametrize("people", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [1.0, 0.3, Fraction(1, 3)])
@pytest.mark.parametrize(
    "query", [COST, GRADIENT, OnePoint.of(-1.0, 1.0, N, 0.5)], ids=lambda q: type(q).__name__
)
def test_laplace_has_the_scale_of_the_l1_distance(query: Any, epsilon: Any, people: int) -> None:
    """Scale k D / epsilon exactly, with D = 2 l1; the guarantee states the whole epsilon and k."""
    budget = Budget(epsilon=epsilon, rounds_per_person=people)
    release = Laplace(query.bound, budget)
    scale = Fraction(query.bound.l1_distance()) * people / Fraction(epsilon)
    assert release.mechanism(query.dimension(N)).law == noise.laplace(scale)
    assert Fraction(query.bound.l1_distance()) == 2 * query.bound.l1
    promise = release.guarantee
    assert (promise.rounds_per_person, promise.private, promise.local) == (people, True, False)
    assert 0 <= promise.epsilon - float(epsilon) < 1e-12
    assert release.noise_variance == pytest.approx(2 * float(scale) ** 2, rel=1e-6)


@pytest.mark.parametrize("people", [1, 4])
def test_bits_have_the_exact_probabilities(people: int) -> None:
    """Both extremes, from the 2^63 uniform integers at the edge: ratios of at most exp(epsilon / k)."""
    budget = Budget(epsilon=0.9, rounds_per_person=people)
    release = Bits(budget, (-1.0, 1.0))
    mechanism, randomizer = release.mechanism(1), OneBit(Fraction(0.9) / people)
    assert (mechanism.slope, mechanism.magnitude) == (randomizer.slope, round(randomizer.magnitude))
    for units in (-COST.units, -5, 0, COST.units):
        share = randomizer.probability_of_one(units)
        edge = int(share * 2**63)
        assert share * 2**63 == edge
        for uniform, one in ((0, True), (edge - 1, True), (edge, False), (2**63 - 1, False)):
            number = np.array([units])
            arrive(mechanism, number, np.array([2 * uniform], dtype=np.uint64), 0)
            assert number[0] == (mechanism.magnitude if one else -mechanism.magnitude)
    top, low = (randomizer.probability_of_one(sign * COST.units) for sign in (1, -1))
    assert float(top / low) <= np.exp(0.9 / people) * (1 + 1e-12)
    assert float(top / low) > np.exp(0.9 / people) * (1 - 1e-5)
    assert release.guarantee.local


@pytest.mark.parametrize(
    ("query", "release"),
    [
        (GRADIENT, Laplace(COST.bound, ONE)),
        (CostOfSet(-1.0, 1.0, units=1 << 21), Laplace(COST.bound, ONE)),
        (GRADIENT, Laplace(VectorBound(coordinate=GRADIENT.l1, l1=GRADIENT.l1 - 1), ONE)),
        (GRADIENT, Bits(ONE, (-1.0, 1.0))),
        (CostOfSet(-1.0, 1.0, units=1 << 21), Bits(ONE, (-1.0, 1.0))),
        (CostOfSet(0.0, 1.0), Bits(ONE, (-1.0, 1.0))),
        (GRADIENT, Tree(BinaryTree(N, 8, COST.bound, ONE))),
        (GRADIENT, Tree(BinaryTree(N + 1, 8, GRADIENT.bound, ONE))),
    ],
    ids=repr,
)
def test_a_release_refuses_a_query_that_it_does_not_cover(query: Any, release: Release) -> None:
    """Whose reports are larger in the norm of its noise, or have too many numbers."""
    with pytest.raises(InvalidArgument, match="does not hide"):
        learner(query, release)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5), st.integers(0, 10**6))
def test_a_released_sum_is_the_sum_and_noise_of_the_law(sums: list[int], seed: int) -> None:
    """Sample by sample the noise that `privacy.noise` draws from the same bits."""
    release = Laplace(COST.bound, ONE)
    mechanism = release.mechanism(1)
    out = np.zeros((len(sums), 1), dtype=np.int64)
    note, rows = np.zeros((len(sums), 0)), np.array(sums).reshape(-1, 1)
    done, _ = close_many(mechanism, note, rows, out, 0, bits(seed), 0)
    assert done == len(sums)
    source = BitSource(fresh=lambda: lambda count: bits(seed))
    drawn = noise.sample(mechanism.law, len(sums), source)
    assert (out[:, 0] - sums).tolist() == drawn.tolist()
    assert not mechanism.fresh.any()


@pytest.mark.parametrize(
    "release",
    [
        Laplace(GRADIENT.bound, ONE),
        Tree(BinaryTree(N, 50, GRADIENT.bound, ONE)),
        Laplace(GRADIENT.bound, ONE, local=True),
    ],
    ids=["laplace", "tree", "local"],
)
def test_noise_is_drawn_once_however_bits_are_cut(release: Release) -> None:
    """A slot whose bits run out is replayed with the same bits, and changes nothing before."""
    whole, cut = release.mechanism(N), release.mechanism(N)
    many = bits(3)
    cursor = 0
    for t in range(20):
        sums = np.array([t, -t, 7])
        one, other = (np.zeros(N, dtype=np.int64) for _ in range(2))
        report, again = sums.copy(), sums.copy()
        start = cursor
        cursor = arrive(whole, report, many, cursor)
        cursor = close(whole, report, one, many, cursor)
        for length in range(start, many.size):
            again[:] = sums
            after = arrive(cut, again, many[:length], start)
            if after != NEED_MORE_BITS:
                after = close(cut, again, other, many[:length], after)
            if after != NEED_MORE_BITS:
                break
            assert not other.any()
        assert after == cursor
        assert one.tolist() == other.tolist() != sums.tolist()


@pytest.mark.parametrize("tree", [BinaryTree])
def test_what_a_tree_releases_adds_up_to_its_prefix_sums(tree: Any) -> None:
    """From the same bits; the pattern is never used itself."""
    made = tree(N, 30, GRADIENT.bound, ONE)
    release = Tree(made)
    mechanism, source = release.mechanism(N), BitSource(4)
    same = tree(N, 30, GRADIENT.bound, ONE, source=BitSource(4))
    total = np.zeros(N, dtype=np.int64)
    rng = np.random.default_rng(0)
    for _ in range(30):
        vector = rng.integers(-1000, 1000, N)
        out = np.zeros(N, dtype=np.int64)
        source.feed_one(lambda b, c, v=vector, o=out: close(mechanism, v, o, b, c))
        total += out
        np.testing.assert_allclose(same.add(vector).values, total * GRADIENT.step, rtol=1e-12)
    assert made.round == 0
    assert release.horizon == 30
    assert not any(array.any() for array in made.steps.state)


def test_a_tree_takes_only_what_is_new() -> None:
    """The noise of one in use would be shared."""
    bound, budget = VectorBound.for_costs(-1, 1, units=1000), Budget(epsilon=1.0)
    used = BinaryTree(1, 9, bound, budget)
    used.add(np.zeros(1))
    with pytest.raises(InvalidArgument, match="A Tree needs a new"):
        Tree(used)


def test_a_local_report_is_noised_before_it_is_kept() -> None:
    """Closing then adds nothing; the central release leaves reports as they are until then."""
    local, central = Laplace(GRADIENT.bound, ONE, local=True), Laplace(GRADIENT.bound, ONE)
    assert local.mechanism(N).law == central.mechanism(N).law
    report, out = np.array([1, 2, 3]), np.zeros(N, dtype=np.int64)
    mechanism = local.mechanism(N)
    cursor = arrive(mechanism, report, bits(1), 0)
    assert cursor > 0
    assert (abs(report) > 1000).all()
    assert close(mechanism, report, out, bits(1), cursor) == cursor
    assert out.tolist() == report.tolist()
    assert not mechanism.fresh.any()
    exact = np.array([1, 2, 3])
    assert arrive(central.mechanism(N), exact, bits(1), 0) == 0
    assert exact.tolist() == [1, 2, 3]


def test_exact_sums_promise_nothing_and_nothing_costs_nothing() -> None:
    """One is marked as not private; the other releases zeros."""
    assert not Exact().guarantee.private
    assert Discard().guarantee.epsilon == 0
    for release, wanted in ((Exact(), [5, -6]), (Discard(), [0, 0])):
        mechanism, vector, out = release.mechanism(2), np.array([5, -6]), np.zeros(2, dtype=np.int64)
        assert close(mechanism, vector, out, bits(1), arrive(mechanism, vector, bits(1), 0)) == 0
        assert out.tolist() == wanted
        assert release.noise_variance == 0
