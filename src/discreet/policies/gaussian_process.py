"""A Gaussian process on sets: what is known of their mean costs, and functions drawn from that knowledge.

Sets are rows of signs, +1 for the items in them. The covariance of two sets depends on how many items they
differ in: a constant, a part for single items, one for pairs, and one for all orders. Libraries for Gaussian
processes have no such kernel, and descend real vectors, not sets.

Where there are segments, each has a function of its own. Those of two have the same covariance as one with
itself, times how much is `shared`: each is the sum of a common function and an own one.
"""

from __future__ import annotations

import contextlib
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import threadpoolctl
from scipy.linalg import cho_solve, cholesky, solve_triangular

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.constraints import Constraints
from discreet.policies.climbing import climbed
from discreet.policies.parts import Parts, at_sets, quadratic_in_signs

#: The variance of the constant part; costs are in [-1, 1].
CONSTANT = 0.25
#: How many random products of items stand for the part of all orders in a drawn function.
FEATURES = 256
#: By how much a change must make a set better.
_BETTER = 1e-12


@functools.cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def one_thread() -> contextlib.AbstractContextManager[object]:
    """Matrices are small here: several threads would only wait for each other, for long on a busy machine."""
    limited: contextlib.AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


class Scales(NamedTuple):
    """The size of single items, of pairs and of all orders relative to it, and the variance of a cost.

    And how much segments share, if there are such: the correlation of a set's mean costs in two of them.
    """

    items: float
    pairs: float
    orders: float
    variance: float
    shared: float = 0.8


#: The first scales, and those that are tried.
FIRST = Scales(0.1, 0.25, 1.0, 0.25)
GRIDS = (
    np.geomspace(0.01, 0.6, 9),
    np.array([0.02, 0.1, 0.25, 0.5, 1.0]),
    np.array([1.0, 2.0, 4.0]),
    np.array([0.03, 0.1, 0.25, 0.5, 1.0]),
    np.array([0.05, 0.2, 0.5, 0.8, 0.95, 0.99]),
)
#: In place of a grid: the scale stays as it is.
_FIXED = np.ones(1)


class Covariance:
    """The covariance of the mean costs of two sets of n items, by the number of items they differ in."""

    def __init__(self, n: int) -> None:
        self.n = n
        #: With which probability an item is in one of the random products.
        self.share = min(0.25, 3 / n)
        apart = np.arange(n + 1)
        agree = n - 2.0 * apart
        self._parts = np.array([agree, (agree**2 - n) / 2, (1 - 2 * self.share) ** apart])

    def by_distance(self, scales: Scales) -> FloatArray:
        weights = (scales.items * np.array([1.0, scales.pairs, scales.orders])) ** 2
        return np.asarray(CONSTANT + weights @ self._parts)

    def distances(self, signs: FloatArray, others: FloatArray) -> IntArray:
        return _rounded((self.n - signs @ others.T) / 2)


class Means(NamedTuple):
    """Observed means of sets, and what multiplies the variance of a cost in their variance, and the rest."""

    signs: FloatArray
    means: FloatArray
    per_cost: FloatArray
    noise: FloatArray
    segments: IntArray | None = None  # in which each was observed, where there are such

    def heaviest(self, most: int) -> Means:
        """Those of least noise."""
        if self.means.size <= most:
            return self
        chosen = np.argpartition(self.noise + self.per_cost, most)[:most]
        parts: list[Any] = [part if part is None else part[chosen] for part in self]
        return Means(*parts)

    def covariance(self, by_distance: FloatArray, distance: IntArray, shared: float) -> FloatArray:
        """Of the mean costs that were observed, without the noise."""
        matrix = by_distance[distance]
        if self.segments is not None:
            matrix *= shared + (1 - shared) * (self.segments[:, None] == self.segments)
        return matrix


def fitted(
    covariance: Covariance,
    observed: Means,
    scales: Scales,
    variance: bool,
    parts: Parts | None = None,
) -> Scales:
    """The scales of largest evidence that steps along the grids lead to; the `variance` may stay as it is."""
    distance = covariance.distances(observed.signs, observed.signs)
    known = _Known.of(observed.signs, parts)

    def evidence(tried: tuple[float, ...]) -> float:
        return _evidence(covariance, observed, distance, Scales(*tried), known)

    items, pairs, orders, variances, shared = GRIDS
    grids = [items, pairs, orders, variances if variance else _FIXED]
    if observed.segments is not None:
        grids.append(shared)
    return Scales(*climbed(evidence, scales, grids))


def _evidence(
    covariance: Covariance, observed: Means, distance: IntArray, scales: Scales, known: _Known | None = None
) -> float:
    matrix = observed.covariance(covariance.by_distance(scales), distance, scales.shared)
    means = observed.means
    if known is not None:
        matrix += known.covariance
        means = means - known.means
    matrix.flat[:: len(matrix) + 1] += observed.per_cost * scales.variance + observed.noise
    root = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    scaled = solve_triangular(root, means, lower=True, check_finite=False)
    return float(-0.5 * scaled @ scaled - np.log(root.diagonal()).sum())


class _Known(NamedTuple):
    """What parts say about some sets: the expected means, and features whose products are covariances."""

    means: FloatArray
    features: FloatArray

    @classmethod
    def of(cls, signs: FloatArray, parts: Parts | None) -> _Known | None:
        if parts is None:
            return None
        members = (signs + 1) / 2
        return cls(at_sets(parts.means[None], members)[0], parts.features(members))

    @property
    def covariance(self) -> FloatArray:
        return np.asarray(self.features @ self.features.T)


class Posterior:
    """What the observed means say about all sets, and the parts that their items bring, if these are known.

    The mean cost of a set is then the sum of its parts, and a rest that the process is about.

    Where there are segments, it says something about the mean over some of them: `aims` has their weights, a
    row for each such mean. Variances and drawn functions are of the first, which is one segment.
    """

    def __init__(
        self,
        covariance: Covariance,
        observed: Means,
        scales: Scales,
        parts: Parts | None = None,
        aims: FloatArray | None = None,
    ) -> None:
        self.covariance, self.observed, self.scales, self.parts = covariance, observed, scales, parts
        self._table = covariance.by_distance(scales)
        self._variance = observed.per_cost * scales.variance + observed.noise
        self._aims = aims
        #: What the covariance of each aim with each observed mean is multiplied by.
        self._likeness = np.ones((1, 1))
        if aims is not None and observed.segments is not None:
            self._likeness = scales.shared + (1 - scales.shared) * aims[:, observed.segments]
        distance = covariance.distances(observed.signs, observed.signs)
        matrix = observed.covariance(self._table, distance, scales.shared)
        self._known, means = _Known.of(observed.signs, parts), observed.means
        if self._known is not None:
            matrix += self._known.covariance
            means = means - self._known.means
        matrix.flat[:: len(matrix) + 1] += self._variance
        self._root = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        self._weights = self._solve(means)

    def _solve(self, right: FloatArray) -> FloatArray:
        return np.asarray(cho_solve((self._root, True), right, check_finite=False))

    def expected(self, signs: FloatArray) -> FloatArray:
        """The expected mean costs of sets, a row for each aim."""
        across = self._table[self.covariance.distances(signs, self.observed.signs)]
        means, known = np.zeros(len(signs)), _Known.of(signs, self.parts)
        if known is not None and self._known is not None:
            across = across + known.features @ self._known.features.T
            means = known.means
        return np.array([means + across @ weights for weights in self._weights * self._likeness])

    def predicted(self, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The expected mean costs of sets, and their variances."""
        across = self._table[self.covariance.distances(signs, self.observed.signs)] * self._likeness[0]
        means, variances = np.zeros(len(signs)), self._table[0]
        known = _Known.of(signs, self.parts)
        if known is not None and self._known is not None:
            across = across + known.features @ self._known.features.T
            means, variances = known.means, variances + (known.features**2).sum(axis=1)
        half = solve_triangular(self._root, across.T, lower=True, check_finite=False)
        return means + across @ self._weights, np.maximum(variances - (half**2).sum(axis=0), 0.0)

    def mean(self) -> Functions:
        """The expected mean cost as a function of the set, for each aim."""
        weights, prior = self._weights * self._likeness, None
        if self.parts is not None:
            prior = Prior.nothing(1, self.covariance.n).plus(self._coefficients(weights, self.parts.means))
        return Functions(self._table, self.observed.signs, weights, prior)

    def drawn(self, factors: FloatArray, rng: np.random.Generator) -> Functions:
        """Functions of the set, drawn at random; a factor says how far each is from the expected one."""
        count, observed, share = len(factors), self.observed, factors[:, None]
        prior, at_observed = self._prior(count, rng)
        error = rng.standard_normal((count, observed.means.size)) * np.sqrt(self._variance)
        left = observed.means - error - at_observed
        parts = None
        if self.parts is not None:
            parts = self.parts.drawn(count, rng)
            left = left - at_sets(parts, (observed.signs + 1) / 2)
        weights = (1 - share) * self._weights + share * self._solve(left.T).T
        prior = prior.scaled(factors)
        if self.parts is not None and parts is not None:
            parts = self.parts.means + share[:, None] * (parts - self.parts.means)
            prior = prior.plus(self._coefficients(weights, parts))
        return Functions(self._table, observed.signs, weights * self._likeness[0], prior)

    def _prior(self, count: int, rng: np.random.Generator) -> tuple[Prior, FloatArray]:
        """Functions drawn before anything was observed, and their values where something was."""
        signs, segments = self.observed.signs, self.observed.segments
        if self._aims is None or segments is None:
            prior = Prior.drawn(self.covariance, self.scales, count, rng)
            return prior, prior.at_all(signs)
        aim, common, own = self._aims[0], math.sqrt(self.scales.shared), math.sqrt(1 - self.scales.shared)
        drawn = Prior.drawn(self.covariance, self.scales, count * (1 + aim.size), rng)
        numbers = np.arange(count * (1 + aim.size)).reshape(-1, count)  # the common ones come first
        values = common * drawn.rows(numbers[0]).at_all(signs)
        for segment in np.unique(segments).tolist():
            of_it = segments == segment
            values[:, of_it] += own * drawn.rows(numbers[1 + segment]).at_all(signs[of_it])
        return drawn.mixed(np.append(common, own * aim)), values

    def _coefficients(self, weights: FloatArray, parts: FloatArray) -> FloatArray:
        """Those of parts, with what the weighed observations of whole sets say about them."""
        assert self.parts is not None
        return parts + self.parts.across((self.observed.signs + 1) / 2, weights)


class Prior(NamedTuple):
    """Functions drawn before anything was observed: a constant, items, pairs and products of items."""

    constant: FloatArray  # one per function
    items: FloatArray
    pairs: FloatArray
    products: FloatArray
    members: FloatArray  # which items are in each product: the same for all functions

    @classmethod
    def drawn(cls, covariance: Covariance, scales: Scales, count: int, rng: np.random.Generator) -> Prior:
        n = covariance.n
        pairs = np.triu(rng.standard_normal((count, n, n)) * (scales.items * scales.pairs), 1)
        size = scales.items * scales.orders / math.sqrt(FEATURES)
        return cls(
            math.sqrt(CONSTANT) * rng.standard_normal(count),
            scales.items * rng.standard_normal((count, n)),
            pairs + pairs.transpose(0, 2, 1),
            size * rng.standard_normal((count, FEATURES)),
            (rng.random((FEATURES, n)) < covariance.share).astype(np.float64),
        )

    @classmethod
    def nothing(cls, count: int, n: int) -> Prior:
        """Functions that are zero."""
        zeros = np.zeros((count, n))
        return cls(zeros[:, 0], zeros, np.zeros((count, n, n)), zeros[:, :0], zeros[:0])

    def plus(self, coefficients: FloatArray) -> Prior:
        """With the quadratic functions of these coefficients added (`policies.parts`)."""
        constant, items, pairs = quadratic_in_signs(coefficients)
        return self._replace(
            constant=self.constant + constant, items=self.items + items, pairs=self.pairs + pairs
        )

    def mixed(self, weights: FloatArray) -> Prior:
        """Sums of functions with these weights: the first of so many equal groups, and so on."""
        groups = [part.reshape(weights.size, -1, *part.shape[1:]) for part in self[:4]]
        constant, items, pairs, products = (np.tensordot(weights, group, 1) for group in groups)
        return Prior(constant, items, pairs, products, self.members)

    def scaled(self, factors: FloatArray) -> Prior:
        column = factors[:, None]
        return Prior(
            self.constant * factors,
            self.items * column,
            self.pairs * column[:, None],
            self.products * column,
            self.members,
        )

    def rows(self, rows: IntArray) -> Prior:
        constant, items, pairs, products = (part[rows] for part in self[:4])
        return Prior(constant, items, pairs, products, self.members)

    def signs_of_products(self, signs: FloatArray) -> FloatArray:
        return 1.0 - 2.0 * (((signs < 0) @ self.members.T) % 2)

    def at_all(self, signs: FloatArray) -> FloatArray:
        """The values of each function at all of these sets."""
        quadratic = 0.5 * np.einsum("mi,bij,mj->bm", signs, self.pairs, signs, optimize=True)
        single = self.items @ signs.T + self.products @ self.signs_of_products(signs).T
        return np.asarray(self.constant[:, None] + single + quadratic)


class Functions:
    """Some functions of a set, each evaluated at sets of its own."""

    def __init__(
        self, table: FloatArray, centres: FloatArray, weights: FloatArray, prior: Prior | None
    ) -> None:
        self._table, self._centres, self._weights, self._prior = table, centres, weights, prior
        self._up = np.append(table[1:], table[-1]) - table
        self._down = np.append(table[0], table[:-1]) - table

    def __len__(self) -> int:
        return len(self._weights)

    def rows(self, rows: IntArray) -> Functions:
        """The functions with these numbers, in this order."""
        prior = None if self._prior is None else self._prior.rows(rows)
        return Functions(self._table, self._centres, self._weights[rows], prior)

    def _distances(self, signs: FloatArray) -> IntArray:
        return _rounded((signs.shape[1] - signs @ self._centres.T) / 2)

    def values(self, signs: FloatArray) -> FloatArray:
        """The value of each function at its row of signs."""
        total: FloatArray = (self._weights * self._table[self._distances(signs)]).sum(axis=1)
        if self._prior is not None:
            prior = self._prior
            slopes = prior.items + 0.5 * np.einsum("bij,bj->bi", prior.pairs, signs)
            total = total + prior.constant + (slopes * signs).sum(axis=1)
            total = total + (prior.products * prior.signs_of_products(signs)).sum(axis=1)
        return total

    def flips(self, signs: FloatArray) -> FloatArray:
        """By how much each value changes when one item is put in or taken out."""
        distance = self._distances(signs)
        up, down = self._weights * self._up[distance], self._weights * self._down[distance]
        change = 0.5 * ((up + down).sum(axis=1)[:, None] + signs * ((up - down) @ self._centres))
        if self._prior is not None:
            prior = self._prior
            change -= 2 * signs * (prior.items + np.einsum("bij,bj->bi", prior.pairs, signs))
            change -= 2 * (prior.products * prior.signs_of_products(signs)) @ prior.members
        return np.asarray(change)

    def descended(self, signs: FloatArray, among: Constraints | None = None) -> FloatArray:
        """Sets that no allowed change makes better: of one item, or of one that leaves for another."""
        signs = signs.copy()
        for _ in range(4 * signs.shape[1]):
            change = self.flips(signs)
            if among is not None:
                change[~among.may_flip(signs > 0)] = np.inf
            item = change.argmin(axis=1)
            rows = np.flatnonzero(change[np.arange(len(signs)), item] < -_BETTER)
            signs[rows, item[rows]] *= -1
            if rows.size == 0 and not (
                among is not None and among.competing and self._exchange(signs, among)
            ):
                break
        return signs

    def _exchange(self, signs: FloatArray, among: Constraints) -> bool:
        """Let an item leave for another in each set that this makes better; whether it did in any."""
        rows, leaving = np.nonzero((signs > 0) & ~among.fixed)
        if rows.size == 0:
            return False
        less = signs[rows]
        removed = np.array(self.rows(rows).flips(less)[np.arange(rows.size), leaving])
        less[np.arange(rows.size), leaving] = -1.0
        change = self.rows(rows).flips(less)
        change[~among.may_enter(less > 0)] = np.inf
        entering = change.argmin(axis=1)
        total = removed + change[np.arange(rows.size), entering]
        any_better = False
        for row in np.unique(rows):
            of_row = np.flatnonzero(rows == row)
            best = of_row[total[of_row].argmin()]
            if total[best] < -_BETTER:
                signs[row, [leaving[best], entering[best]]] *= -1
                any_better = True
        return any_better

    def least(self, starts: FloatArray, among: Constraints | None = None) -> FloatArray:
        """The best set that descents from these starts find, for each function; one row per function.

        The starts are the same for all, or those of each function come along a first axis.
        """
        count, times = len(self), starts.shape[-2]
        every = self.rows(np.repeat(np.arange(count), times))
        starts = np.broadcast_to(starts, (count, *starts.shape[-2:]))
        ends = every.descended(starts.reshape(count * times, -1), among)
        best = every.values(ends).reshape(count, times).argmin(axis=1)
        return np.asarray(ends.reshape(count, times, -1)[np.arange(count), best])

    def walked(
        self, start: FloatArray, free: BoolArray, shortest: int, among: Constraints | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The best set that each function meets on a walk from the start, and how much better it is.

        Every step makes the best allowed change of a free item that was not changed before (free has a row
        for each function). Sets nearer than `shortest` changes do not count.
        """
        signs, left = np.tile(start, (len(self), 1)), free.copy()
        rows = np.arange(len(self))
        change, least, best = np.zeros(len(self)), np.full(len(self), np.inf), signs.copy()
        for step in range(1, int(free.sum(axis=1).max(initial=0)) + 1):
            possible = left if among is None else left & among.may_flip(signs > 0)
            steps = np.where(possible, self.flips(signs), np.inf)
            item = steps.argmin(axis=1)
            moved = possible[rows, item]
            signs[rows[moved], item[moved]] *= -1
            left[rows, item] = False
            change[moved] += steps[rows, item][moved]
            better = moved & (change < least) & (step >= shortest)
            best[better], least[better] = signs[better], change[better]
        return best, least


def _rounded(numbers: FloatArray) -> IntArray:
    return np.asarray(np.rint(numbers).astype(np.int64))
