"""Exact discrete noise with cryptographic bits, beside OpenDP's exact noise."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from benchmarks.measure import Row, median_seconds, versus
from discreet.privacy.noise import fill, gaussian, laplace
from discreet.randomness import BitSource

_N = 1000
_CALLS = 50  # vectors per measurement of ours: one alone takes less time than a clock is good for
_SCALE = 40 << 20  # five nodes, a distance of 8 on a grid of 2^20 units, epsilon 1


def rows() -> Iterator[Row]:
    dp.enable_features("contrib")
    vector = dp.vector_domain(dp.atom_domain(T=int))
    zeros = [0] * _N
    out = np.empty(_N, dtype=np.int64)
    source = BitSource()

    opendp_laplace = dp.m.make_laplace(vector, dp.l1_distance(T=int), scale=float(_SCALE))
    law = laplace(Fraction(_SCALE))

    def ours() -> None:
        for _ in range(_CALLS):
            source.feed(lambda done, bits, cursor: fill(law, out, done, bits, cursor), _N)

    mine, theirs = versus(ours, lambda: opendp_laplace(zeros), repeats=15)
    yield Row(
        "exact discrete Laplace, n=1000, per sample",
        mine / _CALLS / _N,
        limit=60e-9,
        peer="OpenDP integer Laplace",
        ratio=theirs / (mine / _CALLS),
        least_ratio=120.0,
    )

    small = laplace(Fraction(4))

    def ours_small() -> None:
        for _ in range(_CALLS):
            source.feed(lambda done, bits, cursor: fill(small, out, done, bits, cursor), _N)

    yield Row(
        "exact discrete Laplace of scale 4, n=1000, per sample",
        median_seconds(ours_small, items=_CALLS * _N),
    )

    opendp_gaussian = dp.m.make_gaussian(vector, dp.l2_distance(T=float), scale=float(_SCALE))
    normal = gaussian(Fraction(_SCALE))

    def ours_gaussian() -> None:
        for _ in range(_CALLS):
            source.feed(lambda done, bits, cursor: fill(normal, out, done, bits, cursor), _N)

    mine, theirs = versus(ours_gaussian, lambda: opendp_gaussian(zeros))
    yield Row(
        "exact discrete Gaussian, n=1000, per sample",
        mine / _CALLS / _N,
        peer="OpenDP integer Gaussian",
        ratio=theirs / (mine / _CALLS),
    )

    yield Row(
        "ChaCha20, per 64 bits",
        median_seconds(lambda: source._draw(8192), items=8192),
        note="a Laplace sample takes about 4.3 times 64 bits",
    )
