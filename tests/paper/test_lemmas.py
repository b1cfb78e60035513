"""The paper's lemmas that can be checked, on all subsets or on random instances of every family.

Unbiasedness, second moments and the cost of exploring are in tests/kernel/test_one_point.py.
"""

import itertools

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import families
from discreet import lovasz, minimize
from discreet.set_functions import SetFunction, Sum, Table, is_submodular

N = 4
seeds = st.integers(0, 10**6)
points = arrays(float, N, elements=st.floats(0, 1))


def random_stream(seed: int, rounds: int) -> list[SetFunction]:
    rng = np.random.default_rng(seed)
    makers = [families.cut, families.coverage, families.bundles, families.log_determinant]
    return [families.in_unit_range(makers[k](N, rng)[0]) for k in rng.integers(0, 4, size=rounds)]


def regularised(f: SetFunction, x: np.ndarray, H: float) -> float:
    return lovasz.value(f, x) + H / 2 * float(x @ x)


def convex_minimum(total: SetFunction, H: float, rounds: int) -> float:
    """An upper bound, close to it, on the minimum over the cube of f^(x) + rounds * H/2 |x|^2: by descent."""
    x = np.full(N, 0.5)
    best = np.inf
    for k in range(1, 800):
        best = min(best, lovasz.value(total, x) + rounds * H / 2 * float(x @ x))
        g = lovasz.subgradient(total, x) + rounds * H * x
        x = np.clip(x - g / (rounds * max(H, 0.05) * (k + 10)), 0, 1)
    return best


@settings(max_examples=50)
@given(seeds, points)
def test_subgradients_have_l1_norm_at_most_4m(seed: int, x: np.ndarray) -> None:
    """Lemma: |g|_2 <= |g|_1 <= 4M; and, sharper, |g|_2 <= 2 sqrt(2) M and |g_i| <= 2M."""
    (f,) = random_stream(seed, 1)
    g = lovasz.subgradient(f, x)
    assert np.abs(g).sum() <= 4 + 1e-9
    assert np.linalg.norm(g) <= 2 * np.sqrt(2) + 1e-9
    assert np.abs(g).max() <= 2 + 1e-9


@settings(max_examples=10)
@given(seeds, st.integers(1, 5), st.sampled_from([0.1, 0.5, 2.0]))
def test_regularising_costs_at_most_half_t_h_d_squared(seed: int, rounds: int, H: float) -> None:
    """Regularisation lemma: regret of f^ <= regret of f^ + H/2 |x|^2, plus T H D^2 / 2 with D^2 = n."""
    stream = random_stream(seed, rounds)
    xs = np.random.default_rng(seed).random((rounds, N))
    total = Sum(stream)
    plain = sum(lovasz.value(f, x) for f, x in zip(stream, xs, strict=True)) - minimize(total).value
    # An upper bound on the regularised minimum makes the right side smaller: the test is stricter.
    regular = sum(regularised(f, x, H) for f, x in zip(stream, xs, strict=True))
    regular -= convex_minimum(total, H, rounds)
    assert plain <= regular + rounds * H * N / 2 + 1e-6


@settings(max_examples=50)
@given(seeds, points, points, st.sampled_from([0.1, 1.0, 5.0]))
def test_h_is_a_quadratic_lower_bound(seed: int, x: np.ndarray, y: np.ndarray, H: float) -> None:
    """h(y) = f^H(x) + grad.(y - x) + H/2 |y - x|^2 <= f^H(y), with equality at y = x."""
    (f,) = random_stream(seed, 1)

    def h(z: np.ndarray) -> float:
        g = lovasz.subgradient(f, x) + H * x
        return regularised(f, x, H) + float(g @ (z - x)) + H / 2 * float((z - x) @ (z - x))

    assert h(y) <= regularised(f, y, H) + 1e-8
    assert h(x) == pytest.approx(regularised(f, x, H))


def test_a_function_that_is_not_submodular_breaks_the_lower_bound() -> None:
    """The lemma needs submodularity: without it the 'lower bound' exceeds the function."""
    f = Table([0, 0, 0, 1])  # supermodular
    grid = [np.array(p) for p in itertools.product([0, 0.5, 1], repeat=2)]
    assert any(
        lovasz.value(f, x) + lovasz.subgradient(f, x) @ (y - x) > lovasz.value(f, y) + 1e-9
        for x in grid
        for y in grid
    )


#: The extreme points of the set of chain gradients (erratum E3), in units of 2M.
def extreme_gradients(n: int) -> list[np.ndarray]:
    unit = np.eye(n)
    return [s * unit[i] for i in range(n) for s in (1, -1)] + [
        unit[i] - unit[j] for i in range(n) for j in range(i + 1, n)
    ]


@given(seeds, st.integers(1, 4))
def test_chain_gradients_lie_in_the_stated_polytope(seed: int, n: int) -> None:
    """E3: for submodular f in [-M, M], g along the chain is in 2M conv{+-e_i, e_i - e_j (i < j)}."""
    rng = np.random.default_rng(seed)
    maker = [families.cut, families.coverage, families.bundles, families.iwata][rng.integers(4)]
    f = families.in_unit_range(maker(n, rng)[0])
    g = np.diff(f.chain_values(range(n)))
    corners = np.array(extreme_gradients(n)) * 2
    # Is g a convex combination of the corners? A linear feasibility problem.
    found = scipy.optimize.linprog(
        np.zeros(len(corners)),
        A_eq=np.vstack((corners.T, np.ones(len(corners)))),
        b_eq=np.append(g, 1.0),
    )
    assert found.status == 0


@pytest.mark.parametrize(
    ("n", "l1", "l2"), [(1, 4, 4), (2, 6, 2 * 5**0.5), (3, 8, 2 * 6**0.5), (5, 8, 2 * 6**0.5)]
)
def test_distances_between_chain_gradients(n: int, l1: float, l2: float) -> None:
    """E3: the largest |g - g'|_1 is 4M, 6M, 8M for n = 1, 2, >= 3; the largest |g - g'|_2 is 2 sqrt(6) M."""
    pairs = list(itertools.product(extreme_gradients(n), repeat=2))
    assert max(2 * np.abs(a - b).sum() for a, b in pairs) == pytest.approx(l1)
    assert max(2 * np.linalg.norm(a - b) for a, b in pairs) == pytest.approx(l2)


def test_the_worst_pair_is_attained_by_submodular_functions() -> None:
    """(0, 2M, -2M) and (2M, -2M, 0) are chain gradients of submodular functions within [-M, M]."""
    worst = []
    for g in ([0, 2, -2], [2, -2, 0]):
        chain = np.concatenate(([-1.0], -1 + np.cumsum(g)))
        f = submodular_with_chain(chain)
        assert is_submodular(f)
        assert f.range() == (-1.0, 1.0)
        worst.append(lovasz.subgradient(f, [0.9, 0.5, 0.1]))
    assert np.abs(worst[0] - worst[1]).sum() == pytest.approx(8)
    assert np.linalg.norm(worst[0] - worst[1]) == pytest.approx(2 * 6**0.5)


def submodular_with_chain(chain: np.ndarray) -> Table:
    """Some submodular table in [-1, 1] with the given values on {}, {0}, {0,1}, {0,1,2}: a linear program."""
    n, size = 3, 8
    rows, limits = [], []
    for s in range(size):
        for i in range(n):
            for j in range(i + 1, n):
                if not s & (1 << i | 1 << j):
                    row = np.zeros(size)
                    row[s] += 1
                    row[s | 1 << i | 1 << j] += 1
                    row[s | 1 << i] -= 1
                    row[s | 1 << j] -= 1
                    rows.append(row)
                    limits.append(0.0)
    fixed = np.zeros((4, size))
    for k, code in enumerate((0, 1, 3, 7)):
        fixed[k, code] = 1
    found = scipy.optimize.linprog(
        np.zeros(size), A_ub=rows, b_ub=limits, A_eq=fixed, b_eq=chain, bounds=[(-1, 1)] * size
    )
    assert found.status == 0
    return Table(np.round(found.x, 9))
