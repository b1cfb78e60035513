"""Noisy pictures of one shape, to be segmented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.environments.exact_numbers import towards_zero
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.set_functions import Cut, SetFunction
from discreet.set_functions.cut import cut_chain, cut_value

#: Where the middle of the shape is, as parts of width and height: a little off the centre.
MIDDLE = (0.45, 0.4)


class PictureRounds(NamedTuple):
    """The compiled form: the edges, one row of prices per picture, the empty set's cost, rounds' pictures."""

    tails: IntArray
    heads: IntArray
    weights: FloatArray
    prices: FloatArray
    empty: float
    choice: IntArray


class NoisyPictures(Stream):
    """A cut over neighbouring pixels plus a price per pixel, from a noisy picture drawn each round.

    The pixels of a round shape, half of all, have mean price -1 and the others +1, and each picture adds
    normal noise to every pixel. A set of pixels pays `smooth` for every pair of neighbours, side by side or
    one above the other, of which it holds just one. Then all is scaled alike so that costs lie in [-1, 1].
    Pixels are numbered row by row. Iterating gives the functions round by round.

    Args:
        width: Pixels in a row.
        height: Pixels in a column; there must be two pixels or more.
        rounds: How many rounds to draw.
        noise: The standard deviation of the noise.
        smooth: What it costs to part two neighbours.
        pictures: How many pictures there are; every round has one of them.
        seed: Of the pictures and the rounds.
        owner: Whose arguments these are, for messages.

    Attributes:
        shape: The pixels of the shape.

    Examples:
        >>> stream = NoisyPictures(4, 4, rounds=1000, seed=0)
        >>> sorted(stream.shape)
        [1, 2, 4, 5, 6, 8, 9, 10]
        >>> from discreet import minimize
        >>> best = minimize(stream.total)
        >>> best.set == stream.shape, best.method
        (True, 'max-flow')
    """

    def __init__(
        self,
        width: int,
        height: int,
        rounds: int,
        *,
        noise: float = 1.0,
        smooth: float = 0.25,
        pictures: int = 256,
        seed: int = 0,
        owner: str = "NoisyPictures",
    ) -> None:
        width, height = checks.integer(owner, "width", width, 1), checks.integer(owner, "height", height, 1)
        self.n = checks.integer(owner, "number of pixels", width * height, 2)
        self.rounds = checks.integer(owner, "rounds", rounds, 1)
        for name, number in (("noise", noise), ("smooth", smooth)):
            if checks.finite_number(owner, name, number) < 0:
                raise checks.invalid_argument(owner, name, "a nonnegative number", number)
        count = checks.integer(owner, "pictures", pictures, 1)
        rng = np.random.default_rng(checks.integer(owner, "seed", seed, 0))
        self.shape = frozenset(_round_shape(width, height).tolist())
        means = np.where([pixel in self.shape for pixel in range(self.n)], -1.0, 1.0)
        drawn = means + noise * rng.normal(size=(count, self.n))
        tails, heads = _neighbours(width, height)
        low, high = _range(drawn, smooth * tails.size)
        half = (high - low) / 2
        prices, weight = towards_zero(drawn / half), float(towards_zero(np.array(smooth / half)))
        # Rounding towards zero has made the range no wider, and from here on all is exact.
        low, high = _range(prices, weight * tails.size)
        self.cost_range = (-(high - low) / 2, (high - low) / 2)
        edges = Cut.from_edges(self.n, tails, heads, np.full(tails.size, weight), directed=False).edges
        choice = rng.integers(count, size=self.rounds)
        self.compiled = PictureRounds(*edges, prices, -(low + high) / 2, choice)

    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first so many rounds."""
        return self._sum(self.compiled.choice[:rounds])

    def __iter__(self) -> Iterator[SetFunction]:
        return (self._sum(self.compiled.choice[t : t + 1]) for t in range(self.rounds))

    def _sum(self, choice: IntArray) -> SetFunction:
        counts = np.bincount(choice, minlength=len(self.compiled.prices)).astype(np.float64)
        tails, heads, weights = self.compiled[:3]
        cut = Cut.from_edges(self.n, tails, heads, choice.size * weights, counts @ self.compiled.prices)
        return cut.shift(choice.size * self.compiled.empty)


def _round_shape(width: int, height: int) -> IntArray:
    """The half of the pixels that is nearest to the middle of the shape."""
    rows, columns = np.divmod(np.arange(width * height), width)
    across, down = columns + 0.5 - MIDDLE[0] * width, rows + 0.5 - MIDDLE[1] * height
    distances = across**2 + (down * width / height) ** 2
    return np.argsort(distances, kind="stable")[: width * height // 2]


def _neighbours(width: int, height: int) -> tuple[IntArray, IntArray]:
    """Each pair of neighbours once: to the right, then below."""
    pixels = np.arange(width * height).reshape(height, width)
    tails = np.concatenate((pixels[:, :-1].ravel(), pixels[:-1].ravel()))
    return tails, np.concatenate((pixels[:, 1:].ravel(), pixels[1:].ravel()))


def _range(prices: FloatArray, edges: float) -> tuple[float, float]:
    """No set of any picture costs less than all negative prices or more than all others and all edges."""
    low = np.minimum(prices, 0).sum(axis=1).min()
    return float(low), float(np.maximum(prices, 0).sum(axis=1).max() + edges)


@chain_costs.register(PictureRounds)
@lean_kernel
def _picture_chain(stream: PictureRounds, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    cut_chain(stream.tails, stream.heads, stream.weights, stream.prices[stream.choice[t]], order, costs)
    for k in range(costs.size):
        costs[k] += stream.empty


@prefix_cost.register(PictureRounds)
@kernel
def _picture_prefix(stream: PictureRounds, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    mask = np.zeros(order.size, dtype=np.bool_)
    for k in range(size):
        mask[order[k]] = True
    prices = stream.prices[stream.choice[t]]
    return stream.empty + cut_value(stream.tails, stream.heads, stream.weights, prices, mask)
