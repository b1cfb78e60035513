"""Regret of the default learners beside the worst-case ones, other private ones, and the best not private.

Means over ten seeds; seed s gives stream s and bits s, for all learners alike. Costs are in [-1, 1]. Where
the peer's regret is negative (it beats every fixed set) the limit is 0.02 above it: 0.01 of the range. A
bandit that misses its limit on a hard stream is played again, with forty seeds, beside its peer. Real baskets
are those of the folder that DISCREET_DATA names, in the order of the file: seeds differ in the noise.
"""

import math
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

import joblib
import numpy as np

from benchmarks.bench_worst_case import FIVE
from benchmarks.measure import Row
from discreet import BanditLearner, FullInformationLearner, baselines, environments, minimize
from discreet.environments import Environment
from discreet.simulation import play, regret

SEEDS, MORE_SEEDS = 10, 40
UNIT = "regret per round"
#: How much of what the best fixed set saves is not saved.
MISSED = "of the saving is missed"
SLACK = 0.02

Make = Callable[[int], Any]
Mode = Literal["central", "local"]
MODES: tuple[Mode, ...] = ("central", "local")

#: Streams by name; those of the first kind stay as they are.
SHOPS: dict[str, Callable[[int], Environment]] = {
    "shop": environments.checkout,
    "coverage": environments.coverage,
    "cuts with prices": lambda n: environments.priced_cuts(n, edge=min(0.2, 1.6 / n)),
}
HARD: dict[str, Callable[[int], Environment]] = {
    "groups of four": environments.groups_of_four,
    "drifting": environments.drifting,
    "switching": environments.switching,
    "flipping": environments.flipping,
    "adaptive adversary": environments.adaptive_adversary,
}
#: What is played in Python round by round, after the change-over, is not played for long.
SLOW = {"adaptive adversary": 2**16}


def mean_regret(environment: Environment, rounds: int, make: Make, seeds: int = SEEDS) -> float:
    """Per round, over the seeds."""

    def one(seed: int) -> float:
        return regret(make(seed), environment.stream(rounds, seed)) / rounds

    return float(np.mean(joblib.Parallel(n_jobs=-1)(joblib.delayed(one)(seed) for seed in range(seeds))))


def beside(name: str, ours: float, peer: str, theirs: float, wanted: float = 1 / 1.2, note: str = "") -> Row:
    """Our regret beside a peer's; what is wanted is a ratio, or that it is not much above a negative one."""
    if theirs <= 0:
        return Row(name, ours, theirs + SLACK, peer, note=f"{peer}: {theirs:.3g}", unit=UNIT)
    if ours <= 0:
        return Row(name, ours, theirs, peer, note=f"{peer}: {theirs:.3g}", unit=UNIT)
    return Row(name, ours, None, peer, theirs / ours, wanted, note, UNIT)


def bandit(n: int, epsilon: float, **options: Any) -> Make:
    return lambda seed: BanditLearner(n, epsilon, (-1, 1), seed=seed, **options)


def product(n: int, epsilon: float) -> Make:
    return lambda seed: baselines.ProductSampling(n, epsilon, (-1, 1), mode="central", seed=seed)


def full(n: int, **options: Any) -> Make:
    return lambda seed: FullInformationLearner(n, 1.0, (-1, 1), seed=seed, **options)


def bandit_rows(n: int, epsilon: float, rounds: dict[Mode, int]) -> Iterator[Row]:
    """The model beside the worst case, in both modes."""
    for label in SHOPS | HARD:
        for mode in MODES:
            T = min(rounds[mode], SLOW.get(label, rounds[mode]))
            row = bandit_row(label, n, epsilon, mode, T)
            if label in HARD and not row.reached:
                row = bandit_row(label, n, epsilon, mode, T, MORE_SEEDS, f"{MORE_SEEDS} seeds")
            yield row


def bandit_row(
    label: str, n: int, epsilon: float, mode: Mode, T: int, seeds: int = SEEDS, note: str = ""
) -> Row:
    environment = (SHOPS | HARD)[label](n)
    ours, worst = (
        mean_regret(environment, T, bandit(n, epsilon, mode=mode, method=method), seeds)
        for method in ("model", "worst-case")
    )
    wanted = _wanted(label, n, mode) if label in SHOPS and epsilon == 1 else 1 / 1.2
    name = f"bandit, {mode}, {label}, n={n}, epsilon={epsilon:g}, T={power(T)}"
    return beside(name, ours, "worst-case", worst, wanted, note)


def _wanted(label: str, n: int, mode: Mode) -> float:
    if mode == "local":
        return 2.0 if n == 20 else 2.5
    return 4.0 if label == "coverage" and n == 20 else 5.0


def without_privacy_rows(n: int, T: int) -> Iterator[Row]:
    """The model beside the better of two learners that know the exact costs, and a simpler private one."""
    free: dict[str, Make] = {
        "model": bandit(n, math.inf),
        "product": product(n, math.inf),
    }
    for label, make in SHOPS.items():
        environment = make(n)
        name = f"bandit, central, {label}, n={n}, T={power(T)}"
        ours = mean_regret(environment, T, bandit(n, 1.0))
        found = {peer: mean_regret(environment, T, learner) for peer, learner in free.items()}
        best = min(found, key=lambda peer: found[peer])
        wanted = 1 / 3.5 if label == "cuts with prices" else 1 / 2
        yield beside(name, ours, f"{best}, not private", found[best], wanted)
        yield beside(name, ours, "product, central", mean_regret(environment, T, product(n, 1.0)), 1.0)


def choose_rows(n: int, T: int) -> Iterator[Row]:
    """Choosing beside blocks, for full information; the leader of exact totals has no noise."""
    ratios = []
    for label, make in (SHOPS | HARD).items():
        environment = make(n) if label != "flipping" else environments.flipping(n, period=1024)
        ours, blocks = (
            mean_regret(environment, T, full(n, method=method)) for method in ("choose", "blocks")
        )
        drawn_alike = label in SHOPS or label == "groups of four"
        if drawn_alike:
            ratios.append(blocks / ours)
        name = f"full information, {label}, n={n}, T={power(T)}"
        yield beside(name, ours, "blocks", blocks, 2.0 if drawn_alike else 1 / 1.2)
    mean = math.exp(np.mean(np.log(ratios)))
    name = f"full information, n={n}, T={power(T)}: geometric mean of shop, coverage, cuts, groups"
    yield Row(name, 1 / mean, 0.25, "blocks", mean, 4.0, "", "ratio")


def leader_rows(n: int, T: int) -> Iterator[Row]:
    """The leader, for many items, beside blocks."""
    for label, make in FIVE.items():
        name = f"leader, {label}, n={n}, T={power(T)}"

        def stream(rounds: int, seed: int, make: Callable[[int, int, int], Any] = make) -> Any:
            return make(n, rounds, seed)

        environment = Environment(label, stream, tuple(range(n)))
        ours, blocks = (
            mean_regret(environment, T, full(n, method=method)) for method in ("leader", "blocks")
        )
        yield beside(name, ours, "blocks", blocks)


def basket_rows() -> Iterator[Row]:
    """Real baskets: how much is missed of what the best fixed set saves."""
    path = pathlib.Path(os.environ.get("DISCREET_DATA", ""), "groceries.csv")
    if not path.is_file():
        yield Row("real baskets", math.nan, note="no groceries.csv in the folder DISCREET_DATA", unit=MISSED)
        return

    def missed(n: int, make: Callable[..., Any], **options: Any) -> float:
        shop = environments.baskets(path, n=n)
        rounds = shop.most_rounds or 0
        best = minimize(shop.stream(rounds, 0).total).value

        def one(seed: int) -> float:
            learner = make(n, 1.0, shop.cost_range, seed=seed, **options)
            return float(play(learner, shop.stream(rounds, seed)).sum() / best)

        return 1 - float(np.mean(joblib.Parallel(n_jobs=-1)(joblib.delayed(one)(k) for k in range(SEEDS))))

    for n, central, local in ((10, 0.5, 0.8), (20, 0.5, None), (50, 0.75, None)):
        for mode, limit in zip(MODES, (central, local), strict=True):
            worst = missed(n, BanditLearner, mode=mode, method="worst-case")
            product = missed(n, baselines.ProductSampling, mode=mode)
            note = f"worst-case {worst:.2f}, product sampling {product:.2f}"
            ours = missed(n, BanditLearner, mode=mode)
            yield Row(f"bandit, {mode}, groceries, n={n}", ours, limit, note=note, unit=MISSED)
    for n in (10, 20, 30, 50):
        ours, blocks = (missed(n, FullInformationLearner, method=method) for method in (None, "blocks"))
        simple = missed(n, baselines.NoisyLeader)
        note = f"blocks {blocks:.2f}, noisy leader {simple:.2f}"
        name = f"full information, groceries, n={n}"
        yield Row(name, ours, 0.12 if n == 10 else simple, note=note, unit=MISSED)


def power(T: int) -> str:
    return f"2^{T.bit_length() - 1}"


def rows() -> Iterator[Row]:
    yield from basket_rows()
    yield from bandit_rows(8, 1.0, {"central": 2**16, "local": 2**18})
    for n in (12, 20):
        yield from bandit_rows(n, 1.0, {"central": 2**18, "local": 2**18})
    for epsilon in (0.25, 4.0):
        for n in (8, 12, 20):
            yield from bandit_rows(n, epsilon, {"central": 2**16, "local": 2**16})
    yield from without_privacy_rows(8, 2**20)
    yield from choose_rows(8, 2**14)
    yield from choose_rows(12, 2**14)
    yield from leader_rows(6, 2**16)
    yield from leader_rows(24, 2**15)
