"""One step of a private prefix sum at n=1000, beside OpenDP's noise and a float tree in numpy."""

from collections.abc import Callable, Iterator

import numpy as np
import opendp.prelude as dp

from benchmarks.measure import Row, versus
from discreet.checks import FloatArray
from discreet.prefix_sums import BinaryTree, PrefixSum
from discreet.privacy import Budget, VectorBound

_N = 1000
_HORIZON = 1 << 20
_STEPS = 96


class NumpyFloatTree:
    """The textbook binary tree with floats and numpy's generator: fast, neither exact nor cryptographic."""

    def __init__(self, n: int, levels: int, scale: float) -> None:
        self._generator = np.random.default_rng()
        self._scale = scale
        self._noise = np.zeros((levels, n))
        self._total = np.zeros(n)
        self._round = 0

    def add(self, vector: FloatArray) -> FloatArray:
        """One round."""
        self._round += 1
        level = (self._round & -self._round).bit_length() - 1
        self._noise[:level] = 0.0
        self._noise[level] = self._generator.laplace(scale=self._scale, size=vector.size)
        self._total += vector
        released: FloatArray = self._total + self._noise.sum(axis=0)
        return released


def _steps(sums: PrefixSum | NumpyFloatTree, vector: FloatArray) -> Callable[[], None]:
    def work() -> None:
        for _ in range(_STEPS):
            sums.add(vector)

    return work


def rows() -> Iterator[Row]:
    dp.enable_features("contrib")
    vector = np.linspace(-0.001, 0.001, _N)
    bound = VectorBound.for_costs(-1.0, 1.0)
    epsilon, rho = Budget(epsilon=1.0), Budget(rho=0.02)
    noise = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(40 << 20)
    )
    zeros = [0] * _N

    def row(name: str, sums: PrefixSum, peer: str, other: Callable[[], object], per: int, limit: bool) -> Row:
        mine, theirs = versus(_steps(sums, vector), other)
        seconds = mine / _STEPS
        return Row(
            f"{name}, n=1000, mean step",
            seconds,
            limit=250e-6 if limit else None,
            peer=peer,
            ratio=theirs / per / seconds,
        )

    floats = NumpyFloatTree(_N, 21, 21 * 8.0)
    binary = BinaryTree(_N, _HORIZON, bound, epsilon)
    yield row("binary tree", binary, "OpenDP vector noise alone", lambda: noise(zeros), 1, True)
    yield row("binary tree", binary, "numpy float tree", _steps(floats, vector), _STEPS, True)
    gaussian = BinaryTree(_N, _HORIZON, bound, rho)
    yield row("binary tree, Gaussian", gaussian, "numpy float tree", _steps(floats, vector), _STEPS, False)
