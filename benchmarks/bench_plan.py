"""Rounds until a learner has learned, predicted by `discreet.plan` and simulated.

To learn means that, over all rounds so far, half of the effect is gained. The effect is how much better the
best set is than the best of the empty, the full and random ones. The constants of the predictions were fitted
to some of the streams with seeds from 100 (`python -m benchmarks.bench_plan` does it again). They are checked
here on seeds 0 to 4, and on other streams. Each stream is also played with a range three times as wide as its
costs need, so that the effect is a smaller part of it. 4, 8 and 16 items (worst case: 4 and 8; choose: 4 and
10; leader: 20 and 40); epsilon 1/2 and 2; predictions of up to 20,000 rounds. Where items help only in groups
of four nothing is promised: with many items the model and the leader then take far longer. Those counted as
"longer" had not learned after 16 times the predicted rounds.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

import discreet
from benchmarks.measure import Row
from discreet import BanditLearner, FullInformationLearner, environments
from discreet.environments import Customers, CustomerStream, Environment, Pool, Stream
from discreet.planning import LAWS, WITHIN, predicted_rounds
from discreet.simulation import play

SEEDS, TUNING_SEEDS = range(5), range(100, 105)
EPSILONS, HALVES = (0.5, 2.0), (1.0, 3.0)
#: Predictions beyond this many rounds are not simulated; others are, for so many times the prediction.
MOST_ROUNDS, LONGER = 20_000, 16
#: Pools of functions hold no more items.
MOST_IN_POOL = 16
#: How to make the learners that each law is for, and with how many items.
LEARNERS: dict[str, tuple[Any, dict[str, str], tuple[int, ...]]] = {
    "model, central": (BanditLearner, {"mode": "central", "method": "model"}, (4, 8, 16)),
    "model, local": (BanditLearner, {"mode": "local", "method": "model"}, (4, 8, 16)),
    "worst-case, central": (BanditLearner, {"mode": "central", "method": "worst-case"}, (4, 8)),
    "worst-case, local": (BanditLearner, {"mode": "local", "method": "worst-case"}, (4, 8)),
    "choose": (FullInformationLearner, {"method": "choose"}, (4, 10)),
    "leader": (FullInformationLearner, {"method": "leader"}, (20, 40)),
}
#: From a number of rounds and a seed to a stream.
Make = Callable[[int, int], Stream]


def modular(n: int, gap: float) -> Make:
    """Every item matters alike."""
    return environments.modular(n, gap).stream


def pool(environment: Environment) -> Make:
    """One pool of 32 random functions, from which all seeds draw."""
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
    "modular, gap 0.2": (True, lambda n: modular(n, 0.2)),
    "modular, gap 0.05": (True, lambda n: modular(n, 0.05)),
    "cuts with prices": (True, lambda n: pool(environments.priced_cuts(n))),
    "shop": (True, shop),
    "coverage with prices": (False, lambda n: pool(environments.coverage(n))),
    "groups of four": (False, lambda n: groups(n, 4)),
}
POOLS, GROUPS = ("cuts with prices", "coverage with prices"), "groups of four"


def usual_and_effect(make: Make, n: int) -> tuple[float, float]:
    """The mean cost of the best of the empty, the full and random sets; how much better the best set is."""
    stream = make(2**18, 12345)
    total, some = stream.total, np.random.default_rng(12345).random((1000, n)) < 0.5
    random = np.mean([total(np.flatnonzero(chosen).tolist()) for chosen in some])
    usual = min(total([]), total(range(n)), float(random)) / stream.rounds
    return usual, usual - discreet.minimize(total).value / stream.rounds


def simulated_rounds(
    made: Callable[..., Any], make: Make, usual: float, effect: float, most: float, seeds: Sequence[int]
) -> float:
    """Until when the mean cost so far is not below the usual one by half of the effect; infinite if too long.

    Learners are `made` with each `seed`. Noise alone moves the point far, and for long: luck looks like
    learning. So it is simulated until the gain is more than half of the effect by three standard errors, as
    the seeds differ, or for `most` rounds.
    """
    learners = [made(seed=seed) for seed in seeds]
    totals, done, last, chunk = np.zeros(len(seeds)), 0, 0, 256
    while done < most:
        streams = [make(chunk, 1000 * done.bit_length() + seed) for seed in seeds]
        paid = np.array([play(*pair) for pair in zip(learners, streams, strict=True)])
        means = (totals.mean() + np.cumsum(paid.mean(axis=0))) / np.arange(done + 1, done + chunk + 1)
        above = np.flatnonzero(means > usual - effect / 2)
        last = done + int(above[-1]) + 1 if above.size else last
        totals += paid.sum(axis=1)
        done, chunk = done + chunk, done + chunk
        gains = usual - totals / done
        if gains.mean() - 3 * gains.std(ddof=1) / math.sqrt(len(seeds)) > effect / 2:
            return float(max(last, 1))
    return math.inf


class Measured(NamedTuple):
    """One learner on one stream; `rounds` are those simulated."""

    learner: str
    stream: str
    made: Any
    half: float
    effect: float
    predicted: float
    rounds: float


def measured(seeds: Sequence[int], streams: Sequence[str] = tuple(STREAMS)) -> Iterator[Measured]:
    """All learners on these streams, in ranges as wide as they need and three times as wide."""
    sizes = sorted({n for _, _, some in LEARNERS.values() for n in some})
    for name, n in ((name, n) for name in streams for n in sizes):
        if (name in POOLS and n > MOST_IN_POOL) or (name == GROUPS and n == 4):
            continue  # with one group, the best set is that of all items
        make = STREAMS[name][1](n)
        usual, effect = usual_and_effect(make, n)
        for learner, (kind, arguments, some) in LEARNERS.items():
            for half, epsilon in ((half, epsilon) for half in HALVES for epsilon in EPSILONS if n in some):
                given = {"epsilon": epsilon, "cost_range": (-half, half), **arguments}
                made = kind(n, **given)
                predicted = predicted_rounds(made, half, effect)
                if predicted <= MOST_ROUNDS:
                    again = partial(kind, n, **given)
                    rounds = simulated_rounds(again, make, usual, effect, LONGER * predicted + 1024, seeds)
                    yield Measured(learner, name, made, half, effect, predicted, rounds)


def fitted(these: Sequence[Measured], builtin: Sequence[float]) -> list[float]:
    """The constants whose errors, in logarithms, have the least sum of fourth powers."""
    known = [one for one in these if math.isfinite(one.rounds)]

    def errors(logarithms: Any) -> Any:
        constants = list(np.exp(logarithms))
        predicted = [predicted_rounds(one.made, one.half, one.effect, constants) for one in known]
        apart = np.log(predicted) - np.log([one.rounds for one in known])
        return apart * abs(apart)

    return [float(constant) for constant in np.exp(least_squares(errors, np.log(builtin)).x)]


def rows() -> Iterator[Row]:
    found = list(measured(SEEDS))
    for learner in LEARNERS:
        for name, (was_fitted, _) in STREAMS.items():
            these = [one for one in found if (one.learner, one.stream) == (learner, name)]
            if not these:  # all of them would take too long
                continue
            longest = [min(one.rounds, LONGER * one.predicted) for one in these]
            ratios = [one.predicted / rounds for one, rounds in zip(these, longest, strict=True)]
            missed = sum(math.isinf(one.rounds) for one in these)
            cases = f"{min(ratios):.2g} to {max(ratios):.2g} in {len(ratios)} cases"
            yield Row(
                f"{learner}, {name}: predicted over simulated",
                max(max(ratio, 1 / ratio) for ratio in ratios),
                None if name == GROUPS else WITHIN,
                note=cases + (", fitted" if was_fitted else "") + (f", {missed} longer" if missed else ""),
                unit="largest factor",
            )


def main() -> None:
    """Print the constants, fitted again."""
    found = list(measured(TUNING_SEEDS, [name for name, (fit, _) in STREAMS.items() if fit]))
    for law, builtin in LAWS.items():
        constants = fitted([one for one in found if one.learner.startswith(law)], builtin)
        print(f"{law}: {', '.join(f'{c:.2g}' for c in constants)}; built in {', '.join(map(str, builtin))}")


if __name__ == "__main__":
    main()
