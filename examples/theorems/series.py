"""Which sweeps are run, and what the theorems say about them."""

import dataclasses
from typing import Any

from discreet.simulation.sweep import Sweep


@dataclasses.dataclass(frozen=True)
class Series:
    """One quantity is varied, the others are fixed.

    Attributes:
        quantity: "rounds", "n" or "epsilon".
        feedback: Which learners.
        sweep: All cells.
    """

    quantity: str
    feedback: str
    sweep: Sweep


BANDIT = [
    "bandit-worst-case-local",
    "bandit-worst-case",
    "paper-bandit",
    "paper-bandit-published",
    "worst-case-without-noise",
]
FULL = ["full-blocks", "paper-full", "paper-full-published", "full-without-noise", "hazan-kale"]

#: The theorems' exponents in rounds, n and epsilon; None where the bound has no single power.
RATES: dict[str, tuple[float | None, float | None, float | None]] = {
    "bandit-worst-case-local": (2 / 3, 1.0, -2 / 3),
    "bandit-worst-case": (2 / 3, 1.0, -1 / 3),
    "paper-bandit": (3 / 4, 1.0, None),
    "paper-bandit-published": (3 / 4, 3 / 2, None),
    "worst-case-without-noise": (2 / 3, 1.0, 0.0),
    "full-blocks": (1 / 2, 3 / 4, -1 / 2),
    "paper-full": (1 / 2, 1.0, -1 / 2),
    "paper-full-published": (1 / 2, 3 / 2, -1.0),
    "full-without-noise": (1 / 2, 1 / 2, 0.0),
    "hazan-kale": (1 / 2, 1 / 2, 0.0),
}


def all_series(seeds: int) -> list[Series]:
    """For both kinds of feedback: rounds, then items, then epsilon."""
    found = []
    for feedback, learners, rounds, n, epsilon in (
        ("bandit", BANDIT, [2**k for k in range(12, 21, 2)], [2, 3, 4, 6, 8], [0.125, 0.25, 0.5, 1.0]),
        ("full information", FULL, [2**k for k in range(12, 19)], [2, 4, 8, 16], [0.125, 0.25, 0.5, 1.0]),
    ):
        streams = ["lower-bound", "cuts", "modular"]
        largest = rounds[-1] if feedback == "full information" else 2**18
        plan: list[tuple[str, dict[str, Any]]] = [
            ("rounds", {"rounds": rounds, "n": [4], "epsilon": [1.0]}),
            ("n", {"rounds": [largest], "n": n, "epsilon": [1.0]}),
            ("epsilon", {"rounds": [largest], "n": [4], "epsilon": epsilon}),
        ]
        for quantity, values in plan:
            given = {"streams": streams, "learners": learners, "seeds": seeds, "checkpoints": 1} | values
            found.append(Series(quantity, feedback, Sweep.from_mapping(given)))
    return found
