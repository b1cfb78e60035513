"""One client of the soak: ``python -m benchmarks.soak_client URL LEARNER ROUNDS BATCH SEED``.

Its key is in the environment variable DISCREET_CLIENT_KEY.

Costs are modular with a planted optimum: items of even number lower the cost, others raise it, and a uniform
number hides it. Every tenth tell is sent twice.
"""

import os
import random
import sys

from discreet.client import Client, Decision

#: How much one item changes the cost, and how much chance does.
EFFECT, SPREAD = 0.48, 0.1


def cost(decision: Decision, items: int, chance: random.Random) -> float:
    """From 0 to 1 nearly always: what exceeds that is clipped."""
    step = EFFECT / items
    change = sum(-step if int(str(item)) % 2 == 0 else step for item in decision.subset)
    return 0.5 + 2 * change + chance.uniform(-SPREAD, SPREAD)


def main() -> None:
    url, learner, rounds, batch, seed = sys.argv[1:]
    chance = random.Random(seed)
    with Client(url, os.environ["DISCREET_CLIENT_KEY"]) as client:
        items = len(client.learner(learner).items)
        for _ in range(int(rounds) // int(batch)):
            decisions = client.ask(learner, int(batch))
            told = [(decision, cost(decision, items, chance)) for decision in decisions]
            for _ in range(2 if chance.random() < 0.1 else 1):
                codes = client.tell_many(learner, told)
            assert set(codes) == {"accepted"}


if __name__ == "__main__":
    main()
