"""Logs of made-up worlds, whose truth is known."""

from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray

N = 3
SETS = [frozenset(i for i in range(N) if code >> i & 1) for code in range(2**N)]


class World(NamedTuple):
    """The mean cost of each set, and with which probabilities sets are shown."""

    mean: FloatArray
    shown: FloatArray

    @classmethod
    def drawn(cls, seed: int, floor: float = 0.03) -> "World":
        rng = np.random.default_rng(seed)
        shown = (1 - floor * len(SETS)) * rng.dirichlet(np.ones(len(SETS))) + floor
        return cls(rng.uniform(0, 1, len(SETS)), shown)

    def log(self, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
        """Costs are 0 or 1."""
        codes = rng.choice(len(SETS), size=rounds, p=self.shown)
        costs = (rng.random(rounds) < self.mean[codes]).astype(float)
        return {"set": [SETS[k] for k in codes], "probability": self.shown[codes], "cost": costs}

    def adaptive_log(self, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
        """The set that did best so far is shown more often than the others."""
        sums, counts = np.zeros(len(SETS)), np.full(len(SETS), 1e-9)
        sets, chances, costs = [], [], []
        for _ in range(rounds):
            chance = np.full(len(SETS), 0.4 / len(SETS))
            chance[np.argmin(sums / counts)] += 0.6
            code = rng.choice(len(SETS), p=chance)
            cost = float(rng.random() < self.mean[code])
            sums[code], counts[code] = sums[code] + cost, counts[code] + 1
            sets.append(SETS[code])
            chances.append(chance[code])
            costs.append(cost)
        return {"set": sets, "probability": chances, "cost": costs}

    def value(self, plan: dict[frozenset[int], float]) -> float:
        return sum(chance * float(self.mean[SETS.index(taken)]) for taken, chance in plan.items())
