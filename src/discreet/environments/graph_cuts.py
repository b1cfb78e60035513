"""Environments of cuts: one directed edge per round, and noisy pictures of one shape to be segmented."""

import itertools
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.environments.customers import towards_zero
from discreet.environments.stream import Environment, Stream, chain_costs, named, prefix_cost
from discreet.set_functions import Cut, SetFunction
from discreet.set_functions.graphs import cut_chain, cut_value


class Edges(NamedTuple):
    """The compiled form: where each round's edge starts and ends."""

    tails: IntArray
    heads: IntArray


class EdgeStream(Stream):
    """A stream of f(S) = 2 [i in S and j not in S] - 1, with an edge (i, j) per round."""

    def __init__(self, n: int, tails: IntArray, heads: IntArray) -> None:
        self.n, self.rounds, self.compiled = n, tails.size, Edges(tails, heads)

    def sum_of(self, rounds: slice) -> SetFunction:
        tails, heads = self.compiled.tails[rounds], self.compiled.heads[rounds]
        return Cut.from_edges(self.n, tails, heads, np.full(tails.size, 2.0)).shift(-tails.size)


@named
def cuts(n: int = 8, favoured: float = 0.0) -> Environment:
    """Each round one directed edge must not be cut; taking nothing and taking all are best.

    The function of a round is 2 [i in S and j not in S] - 1. The edge (i, j) is uniform over the ordered
    pairs of different items, or with probability `favoured` it is (0, 1).

    Examples:
        >>> stream = cuts(n=3, favoured=1.0).stream(100)
        >>> stream.total([0]), stream.total([1]), stream.total([])
        (100.0, -100.0, -100.0)
    """
    n = checks.integer("cuts", "n", n, 2)
    favoured = checks.unit_number("cuts", "favoured", favoured)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        tails, heads = rng.integers(n, size=rounds), rng.integers(n - 1, size=rounds)
        heads += heads >= tails  # skips the tail itself
        given = rng.random(rounds) < favoured
        tails[given], heads[given] = 0, 1
        return EdgeStream(n, tails, heads)

    return Environment("cuts", make, tuple(range(n)))


class PictureRounds(NamedTuple):
    """The compiled form: edges, prices per picture, the cost of the empty set, the picture of each round."""

    tails: IntArray
    heads: IntArray
    weights: FloatArray
    prices: FloatArray
    empty: float
    choice: IntArray


class PictureStream(Stream):
    """Pictures that share their edges and differ in their prices; `shape` has the pixels of the shape."""

    def __init__(self, shape: IntArray, compiled: PictureRounds, most: float) -> None:
        self.n, self.rounds, self.cost_range = compiled.prices.shape[1], compiled.choice.size, (-most, most)
        self.shape, self.compiled = frozenset(shape.tolist()), compiled

    def sum_of(self, rounds: slice) -> SetFunction:
        choice = self.compiled.choice[rounds]
        counts = np.bincount(choice, minlength=len(self.compiled.prices)).astype(np.float64)
        tails, heads, weights = self.compiled[:3]
        cut = Cut.from_edges(self.n, tails, heads, choice.size * weights, counts @ self.compiled.prices)
        return cut.shift(choice.size * self.compiled.empty)


@named
def image_cuts(
    width: int = 6, height: int = 6, noise: float = 1.0, smooth: float = 0.25, pictures: int = 256
) -> Environment:
    """Noisy pictures of one shape; pixels have prices, and parting neighbours costs.

    The pixels of a round shape, half of all, have mean price -1 and the others +1. Each picture adds normal
    noise to every pixel. Of two neighbours, side by side or one above the other, taking just one costs
    `smooth`. Then everything is scaled alike so that costs lie in [-1, 1]. Items are (row, column).

    Args:
        width: Pixels in a row.
        height: Pixels in a column; there must be two pixels or more.
        noise: The standard deviation of the noise.
        smooth: The cost of parting two neighbours, before scaling.
        pictures: The number of pictures; every round draws one of them.

    Examples:
        >>> from discreet import minimize
        >>> stream = image_cuts(4, 4).stream(1000)
        >>> minimize(stream.total).set == stream.shape
        True
    """
    width = checks.integer("image-cuts", "width", width, 1)
    height = checks.integer("image-cuts", "height", height, 1)
    n = checks.integer("image-cuts", "number of pixels", width * height, 2)
    noise = checks.nonnegative_number("image-cuts", "noise", noise)
    smooth = checks.nonnegative_number("image-cuts", "smooth", smooth)
    pictures = checks.integer("image-cuts", "pictures", pictures, 1)
    shape, (tails, heads) = _round_shape(width, height), _neighbours(width, height)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        means = np.where(np.isin(np.arange(n), shape), -1.0, 1.0)
        drawn = means + noise * rng.normal(size=(pictures, n))
        low, high = _range(drawn, smooth * tails.size)
        half = (high - low) / 2
        prices, weight = towards_zero(drawn / half), float(towards_zero(np.array(smooth / half)))
        # Rounding towards zero has made the range no wider, and from here on all sums are exact.
        low, high = _range(prices, weight * tails.size)
        edges = Cut.from_edges(n, tails, heads, np.full(tails.size, weight), directed=False).edges
        compiled = PictureRounds(*edges, prices, -(low + high) / 2, rng.integers(pictures, size=rounds))
        return PictureStream(shape, compiled, (high - low) / 2)

    return Environment("image-cuts", make, tuple(itertools.product(range(height), range(width))))


def _round_shape(width: int, height: int) -> IntArray:
    """The half of the pixels that is nearest to the middle of the shape."""
    rows, columns = np.divmod(np.arange(width * height), width)
    across, down = columns + 0.5 - 0.45 * width, rows + 0.5 - 0.4 * height
    distances = across**2 + (down * width / height) ** 2
    return np.argsort(distances, kind="stable")[: width * height // 2]


def _neighbours(width: int, height: int) -> tuple[IntArray, IntArray]:
    """Each pair of neighbours once: to the right, then below."""
    pixels = np.arange(width * height).reshape(height, width)
    tails = np.concatenate((pixels[:, :-1].ravel(), pixels[:-1].ravel()))
    return tails, np.concatenate((pixels[:, 1:].ravel(), pixels[1:].ravel()))


def _range(prices: FloatArray, edges: float) -> tuple[float, float]:
    """Bounds on the costs of all pictures: all negative prices, and all others with all edges."""
    low = np.minimum(prices, 0).sum(axis=1).min()
    return float(low), float(np.maximum(prices, 0).sum(axis=1).max() + edges)


@chain_costs.register(Edges)
@lean_kernel
def _edge_chain(stream: Edges, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    tail, head = stream.tails[t], stream.heads[t]
    tail_in = head_in = False
    costs[0] = -1.0
    for k in range(order.size):
        tail_in |= order[k] == tail
        head_in |= order[k] == head
        costs[k + 1] = 1.0 if tail_in and not head_in else -1.0


@prefix_cost.register(Edges)
@lean_kernel
def _edge_prefix(stream: Edges, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    tail_in = False
    for k in range(size):
        if order[k] == stream.heads[t]:
            return -1.0
        tail_in |= order[k] == stream.tails[t]
    return 1.0 if tail_in else -1.0


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
