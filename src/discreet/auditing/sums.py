"""Audits of private prefix sums: of whole transcripts, or of a single node."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.auditing.as_shipped import is_as_shipped
from discreet.auditing.densities import log_density, telling_rounds
from discreet.auditing.target import Score
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel, rewind, snapshot
from discreet.errors import InvalidArgument
from discreet.prefix_sums.base import CompiledPrefixSum, PrefixSum
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.sensitivity import VectorBound
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray, BitSource, Seed

#: Rounds that are watched where nothing else is asked for, and at most.
SHOWN_ROUNDS, LONGEST = 16, 1 << 20


class Sums:
    """The sums that a mechanism releases round after round.

    Args:
        mechanism: Before its first round; it is not changed, and it is audited as it is, whatever it claims.
            One whose rounds are not compiled, or not this package's own, is made anew for each run.
        rounds: How many to watch; 16 by default.
        changed: The round, from 0, in which neighbours differ. Likelihoods are known for the first.
        claim: What is claimed, if not the mechanism's own guarantee.

    The data of an audit are arrays with one vector (in grid units) per round.

    Examples:
        >>> from discreet import audit
        >>> from discreet.prefix_sums import BinaryTree
        >>> from discreet.privacy import Budget
        >>> tree = BinaryTree(1, 8, VectorBound(coordinate=1, l1=1), Budget(epsilon=1.0))
        >>> audit(Sums(tree, rounds=4), runs=2_000, seed=1).passed
        True
    """

    def __init__(
        self,
        mechanism: PrefixSum,
        rounds: int | None = None,
        *,
        changed: int = 0,
        claim: Guarantee | None = None,
    ) -> None:
        if mechanism.round:
            raise InvalidArgument(
                f"An audit needs a {type(mechanism).__name__} before its first round. Got one that has taken "
                f"{mechanism.round}."
            )
        longest = mechanism.horizon or LONGEST
        wanted = min(longest, SHOWN_ROUNDS) if rounds is None else rounds
        self._mechanism = mechanism
        self._claim = mechanism.guarantee if claim is None else claim
        self._rounds = checks.integer("audit", "rounds", wanted, 1, longest)
        self._changed = checks.integer("audit", "changed", changed, 0, self._rounds - 1)

    def claim(self) -> Guarantee:
        return self._claim

    def neighbours(self) -> tuple[IntArray, IntArray]:
        """As much as fits the bound, in as few coordinates as it needs, against its opposite (or zero)."""
        largest = largest_vector(self._mechanism.bound, self._mechanism.dimension)
        replaced = self._claim.neighbours is Neighbours.REPLACE_ONE_ROUND
        return self._histories(largest, -largest if replaced else 0 * largest)

    def random_neighbours(self, seed: Seed) -> tuple[IntArray, IntArray]:
        generator, bound = np.random.default_rng(seed), self._mechanism.bound
        shape = (2, self._mechanism.dimension)
        first, second = (
            bound.enforce(row) for row in generator.integers(-bound.coordinate, bound.coordinate + 1, shape)
        )
        replaced = self._claim.neighbours is Neighbours.REPLACE_ONE_ROUND
        return self._histories(first, second if replaced else 0 * second)

    def _histories(self, *firsts: IntArray) -> tuple[IntArray, IntArray]:
        """Histories that differ in as many rounds as one person may have."""
        first, second = np.zeros((2, self._rounds, self._mechanism.dimension), dtype=np.int64)
        last = self._changed + self._claim.rounds_per_person
        first[self._changed : last], second[self._changed : last] = firsts
        return first, second

    def observe(self, data: IntArray, runs: int, seed: Seed | None) -> FloatArray:
        vectors = np.array([self._mechanism.bound.enforce(vector) for vector in np.asarray(data)])
        if isinstance(self._mechanism, CompiledPrefixSum) and is_as_shipped(self._mechanism):
            seen = _compiled_runs(self._mechanism.steps, vectors, runs, seed)
        else:
            seen = self._plain_runs(vectors, runs, seed)
        return seen.reshape(runs, -1)

    def _plain_runs(self, vectors: IntArray, runs: int, seed: Seed | None) -> FloatArray:
        source, kind, settings = BitSource(seed), type(self._mechanism), self._mechanism._settings()
        seen = np.empty((runs, *vectors.shape))
        if getattr(kind._from_settings(settings, source), "_law", None) != getattr(
            self._mechanism, "_law", None
        ):
            raise InvalidArgument(
                f"The noise of this {kind.__name__} was changed after it was made, and a new one made like "
                "it would not have that change: give its class the change instead."
            )
        for run in range(runs):
            mechanism = kind._from_settings(settings, source)
            for t, vector in enumerate(vectors):
                seen[run, t] = mechanism.add(vector).values / mechanism.bound.step
        return seen

    def log_ratio(self, first: IntArray, second: IntArray) -> Score | None:
        rounds, dimension = np.shape(first)
        steps: Any = getattr(self._mechanism, "steps", None)
        telling = telling_rounds(steps, rounds)
        if telling is None or np.array_equal(first[0], second[0]):
            return None
        ours, theirs = (
            np.cumsum(np.asarray(data, dtype=np.float64), axis=0)[telling] for data in (first, second)
        )

        def score(seen: FloatArray) -> FloatArray:
            sums = seen.reshape(len(seen), rounds, dimension)[:, telling]
            return log_density(steps, sums - ours) - log_density(steps, sums - theirs)

        return score


class FirstNode(Sums):
    """Only the first sum, which is one node of the tree: it may lose its share of epsilon and no more.

    An audit of single nodes has far more power than one of transcripts, in which the loss is spread over
    many nodes that have to be at their worst all at once.

    Examples:
        >>> from discreet.prefix_sums import BinaryTree
        >>> from discreet.privacy import Budget
        >>> tree = BinaryTree(1, 8, VectorBound(coordinate=1, l1=1), Budget(epsilon=1.0))
        >>> FirstNode(tree, nodes=4).claim().epsilon
        0.25
    """

    def __init__(self, mechanism: PrefixSum, nodes: int) -> None:
        share, whole = checks.integer("audit", "nodes", nodes, 1), mechanism.guarantee
        epsilon = None if whole.epsilon is None else whole.epsilon / share
        rho = None if whole.rho is None else whole.rho / share
        super().__init__(mechanism, 1, claim=dataclasses.replace(whole, epsilon=epsilon, rho=rho))


def largest_vector(bound: VectorBound, dimension: int) -> IntArray:
    """A vector at a corner of the bound: signs alternate, so it is a gradient as far as may be."""
    vector = np.zeros(dimension, dtype=np.int64)
    left = bound.l1
    for i in range(dimension):
        vector[i] = min(bound.coordinate, left) * (1 if i % 2 == 0 else -1)
        left -= abs(int(vector[i]))
    return bound.enforce(vector)


def _compiled_runs(steps: Any, vectors: IntArray, runs: int, seed: Seed | None) -> FloatArray:
    start, mine = snapshot(steps), snapshot(steps)  # other threads have copies of their own
    seen = np.empty((runs, *vectors.shape))
    released = np.empty_like(mine.state.noise)
    BitSource(seed).feed(
        lambda done, bits, cursor: _run_sums(mine, start, vectors, released, seen, done, bits, cursor), runs
    )
    return seen


@lean_kernel
def _run_sums(
    mechanism: Any,
    start: Any,
    vectors: IntArray,
    released: npt.NDArray[Any],
    seen: FloatArray,
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    while done < seen.shape[0]:
        rewind(mechanism, start)
        after = cursor
        for t in range(vectors.shape[0]):
            drawn, after = draw_noise(mechanism, 0, bits, after)
            if drawn < samples_needed(mechanism):
                after = NEED_MORE_BITS
                break
            add_secret(mechanism, vectors[t], released)
            for i in range(released.size):
                seen[done, t, i] = released[i]
        if after == NEED_MORE_BITS:
            break
        cursor = after
        done += 1
    return done, cursor
