"""The table "Rounds until it learns" of docs/choosing.md, simulated.

``python -m benchmarks.rounds_to_learn | python -m benchmarks.pages docs/choosing.md rounds``
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.bench_plan import Make, modular, shop, simulated_rounds, usual_and_effect
from discreet import BanditLearner, FullInformationLearner
from discreet.planning import two_digits

ITEMS, MOST, SEEDS = (4, 8, 12, 20, 50), 2**20, range(5)
#: A tenth of the range is the effect.
SHARE = 10
LEARNERS: dict[str, Callable[..., Any]] = {
    "bandit, local": partial(BanditLearner, mode="local"),
    "bandit, central": BanditLearner,
    "full information": FullInformationLearner,
}
STREAMS: dict[str, Callable[[int], Make]] = {"modular": lambda n: modular(n, 2 / SHARE), "shop": shop}
ABOUT = """Epsilon is 1. In `modular` every item matters alike (`environments.modular` with a gap of 0.2,
costs in [-1, 1]); `shop` has the customers of `environments.checkout(n, shop=1)`, in a range around 0 so wide
that the effect is a tenth of it. Means over the seeds 0 to 4, for up to 2^20 rounds. Made by
`python -m benchmarks.rounds_to_learn | python -m benchmarks.pages docs/choosing.md rounds`."""


def simulated(learner: str, n: int, make: Make, usual: float, effect: float) -> str:
    """How many rounds it takes, in words."""
    half = effect * SHARE / 2
    made = partial(LEARNERS[learner], n, epsilon=1.0, cost_range=(-half, half))
    rounds = simulated_rounds(made, make, usual, effect, MOST, SEEDS)
    return two_digits(rounds) if math.isfinite(rounds) else "> 1,000,000"


def main() -> None:
    """Print it, and what it shows."""
    print("| items | stream | " + " | ".join(LEARNERS) + " |")
    print("|---" * (2 + len(LEARNERS)) + "|")
    for n in ITEMS:
        for name, maker in STREAMS.items():
            make = maker(n)
            usual, effect = (0.0, 2 / SHARE) if name == "modular" else usual_and_effect(make, n)
            cells = [simulated(learner, n, make, usual, effect) for learner in LEARNERS]
            print(f"| {n} | {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{ABOUT}")


if __name__ == "__main__":
    main()
