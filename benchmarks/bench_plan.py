"""Rounds until a learner has learnt, predicted by `discreet.plan` and simulated.

To learn means that, over all rounds so far, half of the effect is gained. The effect is how much better
the best set is than the best of the empty, the full and random ones. The constants of the predictions are
fitted to some of the streams, and checked on the others. Each stream is also played with a range three times
as wide as its costs need, so that the effect is a smaller part of it. 4, 8 and 12 items; epsilon 1/2, 1
and 4; means over eight seeds; predictions of up to 400,000 rounds.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from benchmarks.measure import Row
from discreet import BanditLearner, FullInformationLearner, environments, plan
from discreet.environments import Customers, CustomerStream, Environment, Pool, Stream
from discreet.planning import BANDIT, FULL_INFORMATION, WITHIN, Option, predicted_rounds
from discreet.simulation import play

SEEDS = 8
#: Predictions beyond this many rounds are not simulated.
MOST_ROUNDS = 400_000
LEARNERS = {"BanditLearner": BanditLearner, "FullInformationLearner": FullInformationLearner}
#: From a number of rounds and a seed to a stream.
Make = Callable[[int, int], Stream]


def modular(n: int, gap: float) -> Make:
    """Every item matters alike."""
    return environments.modular(n, gap).stream


def pool(environment: Environment) -> Make:
    """One pool of 32 random functions, from which every seed draws."""
    drawn = environment.stream(1, seed=1)
    assert isinstance(drawn, Pool)
    return lambda rounds, seed: Pool(drawn.functions, rounds, seed=seed)


def shop(n: int) -> Make:
    """One shop and its customers."""
    stream = environments.checkout(n, shop=1).stream(1, seed=0)
    assert isinstance(stream, CustomerStream)
    return customers(stream.customers)


def customers(people: Customers, weights: Sequence[float] | None = None) -> Make:
    """Customers who come at random."""

    def stream(rounds: int, seed: int) -> Stream:
        who = np.random.default_rng(seed).choice(len(people), size=rounds, p=weights)
        return CustomerStream(people, who)

    return stream


def groups(n: int, size: int) -> Make:
    """Items are worth something in whole groups only; every other group is wanted ten times as often."""
    whole = [range(first, min(first + size, n)) for first in range(0, n, size)]
    people = Customers(np.full(n, 1 / n), whole, [{place: 1.0} for place in range(len(whole))])
    wanted = np.where(np.arange(len(whole)) % 2 == 0, 1.0, 0.1)
    return customers(people, wanted / wanted.sum())


#: By name, whether the laws are fitted to it, and how it is made for n items; costs lie in [-1, 1].
STREAMS: dict[str, tuple[bool, Callable[[int], Make]]] = {
    "modular, gap 0.5": (True, lambda n: modular(n, 0.5)),
    "modular, gap 0.1": (True, lambda n: modular(n, 0.1)),
    "modular, gap 0.03": (True, lambda n: modular(n, 0.03)),
    "cuts with prices": (True, lambda n: pool(environments.priced_cuts(n))),
    "shop": (True, shop),
    "coverage with prices": (False, lambda n: pool(environments.coverage(n))),
    "concave with prices": (False, lambda n: pool(environments.concave(n))),
    "groups of four": (False, lambda n: groups(n, 4)),
}


def usual_and_effect(make: Make) -> tuple[float, float]:
    """The mean cost of the best of the empty, the full and random sets; how much better the best set is."""
    stream = make(2**22, 12345)
    costs = stream.total.table().values / stream.rounds
    usual = min(costs[0], costs[-1], costs.mean())
    return float(usual), float(usual - costs.min())


def simulated_rounds(
    option: Option, n: int, make: Make, usual: float, effect: float, seeds: int = SEEDS
) -> float:
    """Until when the mean cost so far is not below the usual one by half of the effect; infinite if too long.

    Noise alone moves the point far, and for long: luck looks like learning. So it is simulated until the gain
    is more than half of the effect by three standard errors, as the seeds differ.
    """
    learners: list[Any] = [LEARNERS[option.learner](n, **option.arguments, seed=s) for s in range(seeds)]
    totals, done, last, chunk = np.zeros(seeds), 0, 0, 256
    while done < 32 * option.rounds_to_learn + 1024:
        streams = [make(chunk, 1000 * done.bit_length() + seed) for seed in range(seeds)]
        paid = np.array([play(*pair) for pair in zip(learners, streams, strict=True)])
        means = (totals.mean() + np.cumsum(paid.mean(axis=0))) / np.arange(done + 1, done + chunk + 1)
        above = np.flatnonzero(means > usual - effect / 2)
        last = done + int(above[-1]) + 1 if above.size else last
        totals += paid.sum(axis=1)
        done, chunk = done + chunk, done + chunk
        gains = usual - totals / done
        if gains.mean() - 3 * gains.std(ddof=1) / math.sqrt(seeds) > effect / 2:
            return float(max(last, 1))
    return math.inf


class Measured(NamedTuple):
    """One option on one stream."""

    stream: str
    option: Option
    n: int
    effect: float
    rounds: float


def measured(
    sizes: Sequence[int] = (4, 8, 12), losses: Sequence[float] = (0.5, 1.0, 4.0)
) -> Iterator[Measured]:
    """All streams, in ranges as wide as they need and three times as wide, with all learners."""
    for name, (_, maker) in STREAMS.items():
        for n in sizes:
            if (
                name == "groups of four" and n == 4
            ):  # there all items are one group, and all of them the best set
                continue
            make = maker(n)
            usual, effect = usual_and_effect(make)
            for half in (1.0, 3.0):
                for epsilon in losses:
                    for feedback in ("bandit", "full information"):
                        made = plan(
                            n=n,
                            epsilon=epsilon,
                            rounds=1,
                            cost_range=(-half, half),
                            feedback=feedback,
                            effect=effect,
                        )
                        for option in made.options:
                            if option.rounds_to_learn <= MOST_ROUNDS:
                                rounds = simulated_rounds(option, n, make, usual, effect)
                                yield Measured(name, option, n, effect, rounds)


def fitted_again(these: Sequence[Measured], builtin: Sequence[float]) -> list[float]:
    """The constants of least squared error in logarithms."""
    learners = [LEARNERS[one.option.learner](one.n, **one.option.arguments) for one in these]
    halves = [one.option.arguments["cost_range"][1] for one in these]

    def errors(logarithms: Any) -> Any:
        predicted = [
            predicted_rounds(learner, half, one.effect, list(np.exp(logarithms)))
            for learner, half, one in zip(learners, halves, these, strict=True)
        ]
        return np.log(predicted) - np.log([one.rounds for one in these])

    return [float(constant) for constant in np.exp(least_squares(errors, np.log(builtin)).x)]


def rows() -> Iterator[Row]:
    found = list(measured())
    for learner, builtin in (("BanditLearner", BANDIT), ("FullInformationLearner", FULL_INFORMATION)):
        these = [one for one in found if one.option.learner == learner]
        constants = fitted_again([one for one in these if STREAMS[one.stream][0]], builtin)
        apart = max(max(a / b, b / a) for a, b in zip(constants, builtin, strict=True))
        note = f"fitted {', '.join(f'{c:.2g}' for c in constants)}; built in {', '.join(map(str, builtin))}"
        yield Row(f"{learner}: constants, fitted again", apart, note=note, unit="largest factor")
        for name, (fitted, _) in STREAMS.items():
            ratios = [one.option.rounds_to_learn / one.rounds for one in these if one.stream == name]
            if not ratios:  # all of them would take too long
                continue
            worst = max(max(ratio, 1 / ratio) for ratio in ratios)
            cases = f"{min(ratios):.2g} to {max(ratios):.2g} in {len(ratios)} cases"
            yield Row(
                f"{learner}, {name}: predicted over simulated",
                worst,
                WITHIN,
                note=cases + (", fitted" if fitted else ""),
                unit="largest factor",
            )
