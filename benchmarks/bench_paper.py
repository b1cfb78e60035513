"""The paper's algorithms in compiled loops, with cryptographic bits, on one core."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, median_seconds
from discreet.environments import Pool
from discreet.paper import BanditSubmodPFTAL, SubmodPFTAL
from discreet.set_functions import Cut
from discreet.simulation import play


def cuts(n: int, rounds: int) -> Pool:
    """Sixteen random cuts with prices, scaled into [-1, 1]."""
    rng = np.random.default_rng(0)
    functions = []
    for _ in range(16):
        f = Cut(rng.random((n, n)) * (rng.random((n, n)) < 0.4), rng.normal(size=n))
        values = f.table().values
        half = (values.max() - values.min()) / 2
        functions.append((1 / half) * f.shift(-(values.max() + values.min()) / 2))
    return Pool(functions, rounds, seed=1)


def rows() -> Iterator[Row]:
    T = 2**20
    pool = cuts(8, T)
    yield Row(
        "BanditSubmodPFTAL, n=8, T=2^20",
        median_seconds(lambda: play(BanditSubmodPFTAL(8, T, 1.0), pool), 3),
        limit=4.0,
    )
    T = 2**16
    pool = cuts(10, T)
    yield Row(
        "SubmodPFTAL, cut, n=10, T=2^16",
        median_seconds(lambda: play(SubmodPFTAL(10, T, 1.0), pool), 3),
        limit=1.0,
    )
