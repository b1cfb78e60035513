"""The table "People who come back" of docs/choosing.md: what caps earn on the visits of a real shop.

``python -m benchmarks.visits online_retail.csv.gz | python -m benchmarks.pages docs/choosing.md visits``
"""

import collections
import csv
import gzip
import pathlib
import sys
from typing import Any, NamedTuple

import numpy as np

import discreet
from discreet import BanditLearner, FullInformationLearner, Plan
from discreet.checks import FloatArray
from discreet.environments.purchases import customers_from_baskets

N, SEEDS, CAPS = 8, range(12), (1, 2, 3, 5, 10, 86, 210)
#: What is played: a name, the class, and epsilon.
PLAYED: list[tuple[str, Any, float]] = [
    ("bandit, central, epsilon 1", BanditLearner, 1.0),
    ("bandit, central, epsilon 4", BanditLearner, 4.0),
    ("full information, epsilon 1", FullInformationLearner, 1.0),
]
ABOUT = """What was earned of what was possible with 8 items, in percent, by rounds per person. Below 0 a
fixed choice would have been better. Bold: what `plan` takes. Means over the seeds 0 to 11, with standard
errors. Made by
`python -m benchmarks.visits online_retail.csv.gz | python -m benchmarks.pages docs/choosing.md visits`."""


class Shop(NamedTuple):
    """Rounds in order: who came, and what every set would have cost."""

    who: list[str]
    functions: list[Any]
    costs: FloatArray
    cost_range: tuple[float, float]

    @classmethod
    def of(cls, path: pathlib.Path, n: int) -> "Shop":
        """The invoices that have a customer and are not cancelled; the n items that are on most of them."""
        invoices: dict[str, tuple[str, dict[str, None]]] = {}
        with gzip.open(path, "rt", encoding="utf-8-sig") as file:
            for line in csv.DictReader(file):
                if line["CustomerID"] and not line["InvoiceNo"].startswith("C"):
                    items = invoices.setdefault(line["InvoiceNo"], (line["CustomerID"], {}))[1]
                    items[line["StockCode"]] = None
        _, people = customers_from_baskets([tuple(items) for _, items in invoices.values()], n)
        functions = [people.function(k) for k in range(len(people))]
        costs = np.array([function._all_values() for function in functions])
        return cls([who for who, _ in invoices.values()], functions, costs, people.cost_range)

    @property
    def usual_and_effect(self) -> tuple[float, float]:
        """The mean cost of the better of nothing and everything, and by how much the best set is better."""
        means = self.costs.mean(axis=0)
        return min(means[0], means[-1]), min(means[0], means[-1]) - means.min()

    def plan(self, **arguments: Any) -> Plan:
        """With the real numbers of visits."""
        visits = collections.Counter(self.who).values()
        arguments |= {"cost_range": self.cost_range, "effect": self.usual_and_effect[1]}
        return discreet.plan(n=self.functions[0].n, rounds=len(self.who), visits=visits, **arguments)

    def earned(self, learner: Any) -> float:
        """The share of the effect."""
        usual, effect = self.usual_and_effect
        whole, spent = isinstance(learner, FullInformationLearner), 0.0
        for who, function, costs in zip(self.who, self.functions, self.costs, strict=True):
            decision = learner.ask(person=who)
            cost = float(costs[sum(1 << item for item in decision.subset)])
            learner.tell(decision, function if whole else cost)
            spent += cost
        return float((usual - spent / len(self.who)) / effect)


def main() -> None:
    """Print it."""
    shop = Shop.of(pathlib.Path(sys.argv[1]), N)
    print("| learner | " + " | ".join(map(str, CAPS)) + " |")
    print("|---" * (1 + len(CAPS)) + "|")
    for name, kind, epsilon in PLAYED:
        feedback = "full information" if kind is FullInformationLearner else "bandit"
        best = shop.plan(epsilon=epsilon, feedback=feedback).best.rounds_per_person
        cells = []
        for cap in CAPS:
            shares = [
                100 * shop.earned(kind(N, epsilon, shop.cost_range, rounds_per_person=cap, seed=seed))
                for seed in SEEDS
            ]
            cell = f"{np.mean(shares):.0f} ± {np.std(shares) / len(shares) ** 0.5:.0f}"
            cells.append(f"**{cell}**" if cap == best else cell)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{ABOUT}")


if __name__ == "__main__":
    main()
